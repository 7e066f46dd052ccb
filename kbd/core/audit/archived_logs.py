"""Archived workbenches, looked at and verified without being opened.

An archive is what the daemon's log says by its hash. What is in it is read out of a copy, made for
that and removed again: of the log alone, for file versions are hashed on the way. Blocks.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path, PurePosixPath

import msgspec

from kbd.core.audit.backup_contents import hash_file
from kbd.core.audit.log_inspection import event_objection
from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.runtime.folder_trees import remove_tree
from kbd.core.store.archive_file import unpack_folder
from kbd.errors import DiskFull, FileReadFailed, LogCorrupt
from kbd.events.anchor import Anchor
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore, BlobVerification
from kbd.events.disk import SCRATCH_DISK, is_full
from kbd.events.scan import read_log
from kbd.events.shortages import raise_shortage
from kbd.events.verification import LogDamage, Verification, verify_log
from kbd.events.workbenches import WorkbenchCreated
from kbd.requests.daemon import LogFault, LogVerified
from kbd.types import BlobHash, Seq, WorkbenchId

__all__ = [
    "ArchiveContents",
    "quick_archive_damage",
    "read_contents",
    "render_verification",
    "unpacked_archive",
    "verify_archive",
]


class ArchiveContents(msgspec.Struct, frozen=True):
    """What an archive says of itself.

    Args:
        copy: It, as the daemon's log would name it; made when its file was written.
        first: The first event of its log, which says whose it is (`WorkbenchCreated`); None if that
            cannot be read, or it is another workbench's.
    """

    copy: ArchivedCopy
    first: Recorded | None


class _HashedBlobs(BlobStore):
    """Blob store of what was hashed while it was passed over: nothing of it is on the disk."""

    def __init__(self, found: set[str]) -> None:
        super().__init__(Path())
        self._found = found

    def verify(self, named: Iterable[BlobHash] | None = None) -> BlobVerification:
        """Tell which are missing: one whose bytes are others has not its name."""
        wanted = set(named or ())
        missing = tuple(sorted(wanted - self._found))
        return BlobVerification(len(wanted) - len(missing), (), missing)


@contextmanager
def unpacked_archive(
    source: Path,
    sha256: str | None,
    scratch: Path | None,
    parts: tuple[str, ...] = ("log",),
    take: Callable[[PurePosixPath, BufferedReader], bool] = lambda _path, _data: True,
) -> Iterator[Path]:
    """Unpack parts of an archive to a folder of their own, which is removed behind.

    Args:
        source: The archive.
        sha256: The hash that it must have; None if it is not known.
        scratch: Where, made if it is not there; None for the folder of temporary files (`TMPDIR`).
        parts: What is wanted of it.
        take: As for `unpack_folder`.

    Yields:
        The folder, with those of the parts that there are.

    Raises:
        FileReadFailed: The archive is missing, damaged or cannot be read.
        DiskFull: There is no space for the copy.
        OSError: It cannot be written.
    """
    if scratch is not None:
        SCRATCH_DISK.make_directory(scratch)
    folder = Path(tempfile.mkdtemp(prefix="kbd-archive-", dir=scratch))
    try:
        try:
            unpack_folder(source, sha256, folder / "copy", parts, take, SCRATCH_DISK)
        except OSError as error:
            if is_full(error):
                where = "TMPDIR names another place" if scratch is None else "free some space"
                msg = f"no space is left for a temporary copy of an archived log: {where}"
                raise DiskFull(msg) from error
            raise_shortage(error)
            raise
        yield folder / "copy"
    finally:
        remove_tree(folder)


def quick_archive_damage(archive: Path, copy: ArchivedCopy) -> str:
    """Return the damage that a look at an archive from outside shows; "" if it shows none."""
    try:
        found = os.lstat(archive)
    except FileNotFoundError:
        return "the archive of the workbench is missing"
    except OSError as error:
        raise_shortage(error)
        return f"the archive cannot be read: {error.strerror}"
    if not stat.S_ISREG(found.st_mode):
        return "the archive of the workbench is no regular file"
    if found.st_size != copy.size_bytes:
        return f"the archive has {found.st_size} bytes, and {copy.size_bytes} were packed"
    return ""


def verify_archive(
    archive: Path,
    workbench_id: str,
    copy: ArchivedCopy,
    *,
    scratch: Path | None = None,
    expected_head: Anchor | None = None,
) -> LogVerified:
    """Verify an archive by its hash, then the log and the file versions in it.

    Args:
        archive: The file.
        workbench_id: Whose it is.
        copy: What it must be, by the daemon's log or a backup's list.
        scratch: Where the log is unpacked; None for the folder of temporary files.
        expected_head: A head of the log from earlier, which somebody kept elsewhere.

    Raises:
        DiskFull: There is no space for the copy.
        FileReadFailed: It cannot be written or read.
    """
    within, found = f"archives/{workbench_id}.tar.gz", set[str]()
    if reason := quick_archive_damage(archive, copy):
        # Not read at all if its size is another: that may be a terabyte of holes.
        return _unreadable(within, reason, is_missing=not os.path.lexists(archive))

    def take(path: PurePosixPath, data: BufferedReader) -> bool:
        if path.parts[0] == "blobs":
            found.add(hashlib.file_digest(data, "sha256").hexdigest())
        return path.parts[0] == "log"

    try:
        with unpacked_archive(archive, copy.sha256, scratch, ("log", "blobs"), take) as folder:
            verified = verify_log(
                folder / "log",
                _HashedBlobs(found),
                expected_head=expected_head,
                objection=partial(event_objection, workbench_id),
            )
    except FileReadFailed as error:
        return _unreadable(within, error.message, is_missing=not os.path.lexists(archive))
    except OSError as error:
        raise_shortage(error)
        reason = os.strerror(error.errno or 0)
        raise FileReadFailed(f"the archived log cannot be read: {reason}") from error
    return render_verification(_as_recorded(verified, copy), within)


def read_contents(
    archive: Path, workbench_id: WorkbenchId, scratch: Path | None = None
) -> ArchiveContents:
    """Return what an archive says of itself, where no log does.

    Args:
        archive: The file.
        workbench_id: Whose it is by its name.
        scratch: As for `unpacked_archive`.

    Raises:
        FileReadFailed: It cannot be read.
        DiskFull: There is no space for a copy of its log.
    """
    first: list[Recorded] = []

    def note(seq: Seq, record: Recorded) -> None:
        if seq == 1:
            first.append(record)

    try:
        found, digest = os.lstat(archive), hash_file(archive)
    except OSError as error:
        raise_shortage(error)
        raise FileReadFailed(f"the archive cannot be read: {error.strerror}") from error
    made_us = found.st_mtime_ns // 1000
    # No log vouches for it: facts alone are taken from it.
    blank = ArchivedCopy(digest, found.st_size, Seq(0), made_us, restored=True)
    try:
        with unpacked_archive(archive, digest, scratch) as folder:
            whole = read_log(folder / "log", note)
    except (FileReadFailed, FileNotFoundError, LogCorrupt):
        return ArchiveContents(blank, None)
    data = first[0].data if first else None
    is_own = isinstance(data, WorkbenchCreated) and data.workbench_id == workbench_id
    copy = msgspec.structs.replace(blank, seq=whole.seq)
    return ArchiveContents(copy, first[0] if is_own and whole.fault is None else None)


def _unreadable(within: str, reason: str, *, is_missing: bool) -> LogVerified:
    kind = "archive missing" if is_missing else "archive damaged"
    fault = LogFault(kind=kind, file=within, offset=0, message=reason)
    return LogVerified(
        ok=False, seq=Seq(0), frames=0, segments=0, blobs=0, head="", faults=(fault,)
    )


def render_verification(found: Verification, within: str = "") -> LogVerified:
    """Return what a verification found as it is answered.

    Args:
        found: What it found.
        within: The file that the log is packed in; "" for none.
    """
    return LogVerified(
        ok=found.is_whole,
        seq=found.seq,
        frames=found.frames,
        segments=found.segments,
        blobs=found.blobs_checked,
        head=found.head,
        collected=found.blobs_collected,
        faults=tuple(
            LogFault(
                kind=fault.kind,
                file="/".join(part for part in (within, fault.file) if part),
                offset=fault.offset,
                message=fault.reason,
                seq=fault.seq,
            )
            for fault in found.faults
        ),
    )


def _as_recorded(found: Verification, copy: ArchivedCopy) -> Verification:
    """Return what was found: a whole log that ends otherwise than was recorded is damage, too."""
    if found.seq == copy.seq or not found.is_whole:
        return found
    reason = f"its log ends with event {found.seq}, and event {copy.seq} was recorded"
    fault = LogDamage("archive damaged", "", 0, found.seq, reason)
    return msgspec.structs.replace(found, faults=(fault,))
