"""`backup.json`: what a backup holds and what it does not.

    {"sha256": "<64 hex digits>", "inventory": {...}}

The hash is that of the bytes of `inventory` as they stand there. The segments of each log are known
by their sizes, for their frames, chain and anchor prove the rest; blobs by their names; archives
and every other file by their hashes.
"""

import hashlib
import os
import re
import stat
from pathlib import Path

import msgspec

from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.runtime.paths import ARCHIVE_SUFFIX
from kbd.errors import FileReadFailed
from kbd.events.disk import Disk
from kbd.types import BlobHash, Seq

__all__ = [
    "FORMAT",
    "INVENTORY_NAME",
    "Inventory",
    "InventoryArchive",
    "InventoryFile",
    "InventoryLog",
    "read_inventory",
]

INVENTORY_NAME = "backup.json"
"""The file's name, in the backup's folder."""

_WORKBENCH_ID = re.compile(r"[0-9a-f]{16}")
_SEGMENT = re.compile(r"[0-9]{20}\.kbl")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{1,20}Z")
_HASH = re.compile(r"[0-9a-f]{64}")

MAX_INVENTORY_BYTES = 256 * 1024 * 1024
"""The largest list that is read: a log takes about 300 bytes, so this is one of 800,000."""

FORMAT = 2
"""The newest version of a backup that is understood. The second has archives; without any it is
the first that is written, which an older kbd restores."""

_ARCHIVE = re.compile(rf"[0-9a-f]{{16}}{re.escape(ARCHIVE_SUFFIX)}")


class InventoryLog(msgspec.Struct, frozen=True, kw_only=True):
    """Entry of a log in a backup's inventory.

    Args:
        workbench_id: Whose; "daemon" for the daemon's own.
        name: The workbench's name.
        segments: The names of its segments, each with its size in bytes.
        seq: The last event; of a damaged log the last one that can be read.
        head: The chain value there (64 hex digits).
        blobs: How many blobs are beside it.
        unsound: Blobs that it names, and that were missing or not their hash when it was copied.
        damage: Why it was copied file by file, as it lay there; empty if it is a whole log.
    """

    workbench_id: str
    name: str
    segments: tuple[tuple[str, int], ...] = ()
    seq: Seq = Seq(0)
    head: str = ""
    blobs: int = 0
    unsound: tuple[BlobHash, ...] = ()
    damage: str = ""


class InventoryArchive(msgspec.Struct, frozen=True, kw_only=True):
    """Entry of an archived workbench in a backup's inventory.

    Args:
        workbench_id: Whose.
        name: The workbench's name.
        seq: The last event of its log.
        size_bytes: The size of the archive, by the daemon's log.
        sha256: Its hash, by the same.
        damage: Why it is not that file; then it is listed among the other files, as it lay there,
            if it was there at all. Empty if it is.
    """

    workbench_id: str
    name: str
    seq: Seq
    size_bytes: int
    sha256: str
    damage: str = ""

    @property
    def copy(self) -> ArchivedCopy:
        """The archive as the daemon's log names it."""
        return ArchivedCopy(self.sha256, self.size_bytes, self.seq, 0)


class InventoryFile(msgspec.Struct, frozen=True, kw_only=True):
    """Entry of a file that no log vouches for; its path is within the backup's folder."""

    path: str
    size_bytes: int
    sha256: str


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """Inventory of a backup: its logs, its other files, and what is left out.

    Args:
        format: `FORMAT`, or an older one.
        kbd: The version that wrote it.
        created_at: When the daemon's log was at the event that it ends with; ISO 8601, UTC.
        logs: The daemon's own first.
        files: What else there is.
        left_out: What there is not, and why, one line each.
        archives: The workbenches that are packed.
    """

    format: int
    kbd: str
    created_at: str
    logs: tuple[InventoryLog, ...]
    files: tuple[InventoryFile, ...]
    left_out: tuple[str, ...]
    archives: tuple[InventoryArchive, ...] = ()

    def write(self, folder: Path, disk: Disk) -> None:
        """Write it into a backup's folder; durable on return.

        Raises:
            DiskFull: No space is left.
            OSError: It cannot be written.
        """
        encoded = msgspec.json.format(msgspec.json.encode(self), indent=1)
        disk.write_file(folder / INVENTORY_NAME, [_inventory_bytes(encoded)])


class _SealedInventory(msgspec.Struct, forbid_unknown_fields=True):
    sha256: str
    inventory: msgspec.Raw


def read_inventory(folder: Path) -> Inventory:
    """Read the inventory of a backup.

    Raises:
        FileReadFailed: This is no backup; or its list was changed, or a newer kbd must read it.
    """
    data = _read_list(folder / INVENTORY_NAME)
    try:
        framed = msgspec.json.decode(data, type=_SealedInventory)
        # Byte for byte: not even a blank may differ.
        if _inventory_bytes(bytes(framed.inventory)) != data:
            raise FileReadFailed(f"{INVENTORY_NAME} was changed: it is not what its hash says")
        inventory = msgspec.json.decode(framed.inventory, type=Inventory)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FileReadFailed(f"{INVENTORY_NAME} was changed: it cannot be read") from error
    # Asked only when the hash is right: a number that somebody changed must not pass for a newer
    # kbd.
    if inventory.format > FORMAT:
        msg = (
            f"the backup was written by kbd {inventory.kbd[:40]!r}, and needs one as new to be read"
        )
        raise FileReadFailed(msg)
    _check_names(inventory)
    return inventory


def _check_names(inventory: Inventory) -> None:
    """Check that the list names nothing but what a backup of kbd's may hold.

    Not even of a list that is whole: whoever made it may have meant to lead out of the folder, or
    to bring in a cache that says otherwise than the log.

    Raises:
        FileReadFailed: It does.
    """
    if not _TIME.fullmatch(inventory.created_at):
        raise FileReadFailed(f"the backup is of no time: {inventory.created_at[:40]!r}")
    for log in inventory.logs:
        if log.workbench_id != "daemon" and not _WORKBENCH_ID.fullmatch(log.workbench_id):
            raise FileReadFailed(f"the backup names a log that is none of a home: {log.name!r}")
        for name, _ in log.segments:
            if not _SEGMENT.fullmatch(name):
                msg = f"the backup names a segment that is none of a log: {name!r}"
                raise FileReadFailed(msg)
        if not all(map(_HASH.fullmatch, log.unsound)):
            raise FileReadFailed("the backup names a file version by what is no hash")
    for archive in inventory.archives:
        if not _WORKBENCH_ID.fullmatch(archive.workbench_id) or not _HASH.fullmatch(archive.sha256):
            msg = f"the backup names an archive that is none of a home: {archive.name!r}"
            raise FileReadFailed(msg)
    for file in inventory.files:
        if "\0" in file.path or not _may_hold(file.path.split("/")):
            msg = f"the backup names a file that is none of a home: {file.path!r}"
            raise FileReadFailed(msg)


def _may_hold(parts: list[str]) -> bool:
    """Return whether a backup may hold a file beside its logs and what they name, by its path."""
    if any(part in ("", ".", "..") for part in parts):
        return False
    match parts:
        case ["landed", _, folder, blob]:
            return bool(_HASH.fullmatch(blob)) and folder == blob[:2]
        case ["archives", name]:
            return bool(_ARCHIVE.fullmatch(name))
        case ["daemon", *within]:
            pass
        case ["workbenches", workbench_id, *within] if _WORKBENCH_ID.fullmatch(workbench_id):
            pass
        case _:
            return False
    match within:
        case ["log" | "blobs" | "published", _, *_]:
            return True
        case _:
            return False


def _read_list(path: Path) -> bytes:
    """Return the bytes of the list.

    Raises:
        FileReadFailed: It is not there, no regular file, or too large.
    """
    try:
        # A pipe in its place must not hang, nor a link bring in another file (reliability, A20).
        held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise FileReadFailed(f"there is no {INVENTORY_NAME}, so this is no backup") from error
    try:
        found = os.fstat(held)
        if not stat.S_ISREG(found.st_mode):
            raise FileReadFailed(f"{INVENTORY_NAME} is no regular file, so this is no backup")
        if found.st_size > MAX_INVENTORY_BYTES:
            msg = f"{INVENTORY_NAME} has {found.st_size:,} bytes: no list of a backup is so long"
            raise FileReadFailed(msg)
        with open(held, "rb", closefd=False) as file:
            return file.read(MAX_INVENTORY_BYTES)
    except OSError as error:
        raise FileReadFailed(f"{INVENTORY_NAME} cannot be read: {error.strerror}") from error
    finally:
        os.close(held)


def _inventory_bytes(inventory: bytes) -> bytes:
    digest = hashlib.sha256(inventory).hexdigest().encode()
    return b'{"sha256": "' + digest + b'", "inventory": ' + inventory + b"}\n"
