"""`backup.json`: what a backup holds and what it does not.

    {"sha256": "<64 hex digits>", "inventory": {...}}

The hash is that of the bytes of `inventory` as they stand there. The segments of each log are known
by their sizes, for their frames, chain and anchor prove the rest; blobs by their names; every other
file by its hash.
"""

import hashlib
from pathlib import Path

import msgspec

from kbd.errors import FileReadFailed
from kbd.events.disk import Disk
from kbd.types import BlobHash, Seq

__all__ = [
    "FORMAT",
    "INVENTORY_NAME",
    "Inventory",
    "InventoryFile",
    "InventoryLog",
    "read_inventory",
]

INVENTORY_NAME = "backup.json"
"""The file's name, in the backup's folder."""

FORMAT = 1
"""The version of a backup that is written, and the newest that is understood."""


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


class InventoryFile(msgspec.Struct, frozen=True, kw_only=True):
    """Entry of a file that no log vouches for; its path is within the backup's folder."""

    path: str
    size_bytes: int
    sha256: str


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """Inventory of a backup: its logs, its other files, and what is left out.

    Args:
        format: `FORMAT`.
        kbd: The version that wrote it.
        created_at: When the daemon's log was at the event that it ends with; ISO 8601, UTC.
        logs: The daemon's own first.
        files: What else there is.
        left_out: What there is not, and why, one line each.
    """

    format: int
    kbd: str
    created_at: str
    logs: tuple[InventoryLog, ...]
    files: tuple[InventoryFile, ...]
    left_out: tuple[str, ...]

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
    try:
        data = (folder / INVENTORY_NAME).read_bytes()
    except OSError as error:
        raise FileReadFailed(f"there is no {INVENTORY_NAME}, so this is no backup") from error
    try:
        framed = msgspec.json.decode(data, type=_SealedInventory)
        # Byte for byte: not even a blank may differ.
        if _inventory_bytes(bytes(framed.inventory)) != data:
            raise FileReadFailed(f"{INVENTORY_NAME} was changed: it is not what its hash says")
        inventory = msgspec.json.decode(framed.inventory, type=Inventory)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FileReadFailed(f"{INVENTORY_NAME} was changed: it cannot be read") from error
    # Asked only when the hash is right: a number that somebody changed must not pass for a newer
    # kbd.
    if inventory.format > FORMAT:
        msg = f"the backup was written by kbd {inventory.kbd}, and needs one as new to be read"
        raise FileReadFailed(msg)
    return inventory


def _inventory_bytes(inventory: bytes) -> bytes:
    digest = hashlib.sha256(inventory).hexdigest().encode()
    return b'{"sha256": "' + digest + b'", "inventory": ' + inventory + b"}\n"
