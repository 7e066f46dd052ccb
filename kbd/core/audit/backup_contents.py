"""Contents of a backup: logs up to an event, the blobs that they name, other files.

Everything here blocks and reads the home from outside: nobody is asked to hold still. A log is
copied up to an event that is durable, and behind that it may grow. Files are copied one at a time,
by the kernel where it can (on some file systems both then share the bytes until one changes), and
never linked: a second name for the same file would share every change and every fault of the first.
"""

import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from kbd.core.audit.backup_inventory import InventoryArchive, InventoryFile, InventoryLog
from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.errors import FileWriteFailed, KbdError, LogCorrupt, SandboxViolation
from kbd.events.anchor import ANCHOR_NAME
from kbd.events.blobs import BlobStore, BlobVerification
from kbd.events.disk import Disk
from kbd.events.log_copy import Extent, copy_log, find_extent
from kbd.events.segment import segment_names
from kbd.events.verification import Objection, Verification, verify_log
from kbd.types import BlobHash, FileName, Seq

__all__ = [
    "BackupCopier",
    "check_name",
    "copy_file",
    "hash_file",
    "is_unreadable",
    "make_private_folder",
    "verify_and_list_blobs",
    "walk_files",
]


class _RecordingBlobStore(BlobStore):
    """Blob store that records which blobs are asked for: verifying a log asks for all it names."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.named: tuple[BlobHash, ...] = ()

    def verify(self, named: Iterable[BlobHash] | None = None) -> BlobVerification:
        """Remember what was asked for."""
        self.named = tuple(named or ())
        return BlobVerification(0, (), ())


def verify_and_list_blobs(
    log_dir: Path,
    on_progress: Callable[[int], object] = lambda _: None,
    objection: Objection | None = None,
) -> tuple[Verification, tuple[BlobHash, ...]]:
    """Verify a log and return the blobs that it names, in order: it is read once for both.

    Args:
        log_dir: The log's.
        on_progress: Called now and then with the last event that was read.
        objection: Looks at each event beside.

    Raises:
        OSError: It cannot be read.
    """
    learning = _RecordingBlobStore()
    return verify_log(log_dir, learning, on_progress, objection=objection), learning.named


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a regular file, in hex; raises OSError for all else."""
    # O_NONBLOCK: opening a FIFO that somebody put there must not hang (reliability, A20).
    held = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        # Before a file is made of it: one of a folder's descriptor would refuse, and not close it.
        if not stat.S_ISREG(os.fstat(held).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        with open(held, "rb", closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    finally:
        os.close(held)


def make_private_folder(folder: Path) -> None:
    """Make a folder with its parents, each 0700; it is not synced yet."""
    # One by one: with `parents=True` the mode would hold for the last folder alone.
    for place in reversed((folder, *folder.parents)):
        if not place.exists():
            place.mkdir(mode=0o700)


def copy_file(source: int, target: Path, disk: Disk, mode: int = 0o600) -> int:
    """Copy an open file to a new one and return its size; it is not synced yet.

    Raises:
        OSError: It cannot be read, or not be written.
    """
    # O_EXCL: a name that somebody took meanwhile, with a link say, is never written through.
    given = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        size = disk.copy(source, given, 0, os.fstat(source).st_size)
        os.fchmod(given, mode)
    finally:
        os.close(given)
    return size


def check_name(name: str) -> None:
    """Check that a name is valid UTF-8.

    Raises:
        SandboxViolation: It cannot.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise SandboxViolation("its name is no text") from None


def is_unreadable(path: Path) -> bool:
    """Return whether a file cannot be copied: it cannot be read, or is a link or no file at all."""
    try:
        hash_file(path)
    except OSError:
        return True
    return path.is_symlink()


def walk_files(folder: Path, on_skipped: Callable[[str], None]) -> Iterator[str]:
    """Yield the paths of all that is no folder, sorted; links to folders are not followed.

    Args:
        folder: Below which.
        on_skipped: Told of each folder that cannot be read.
    """

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            within = os.path.relpath(str(error.filename), folder.parent)
            on_skipped(f"{within}/ is left out: {error.strerror}")

    for root, folders, names in os.walk(folder, onerror=unreadable):
        # `os.walk` goes on in the order of this very list.
        folders.sort()
        # It counts a link to a folder among the folders, and then does not enter it.
        links = [name for name in folders if os.path.islink(os.path.join(root, name))]
        for name in sorted((*names, *links)):
            yield os.path.relpath(os.path.join(root, name), folder)


_MAX_TRIES = 3
"""How often a file that somebody is writing is read again, before it is left out."""


_READ_PAUSE_S = 0.001
"""How long the reading of a log rests after each block of it, which takes about 5 ms."""


class BackupCopier:
    """Copies logs, blobs and other files into one folder, laid out as a home is.

    Args:
        folder: Where the copies go.
        disk: What writes.
        tick: Called between two files; what it raises ends the work.

    The methods raise what the disk raises (`OSError`), and `FileNotFoundError` where a workbench is
    removed meanwhile.
    """

    def __init__(self, folder: Path, disk: Disk, tick: Callable[[], None]) -> None:
        self._folder, self._disk, self._tick = folder, disk, tick
        self._logs: dict[Path, InventoryLog] = {}
        self._archives: dict[Path, InventoryArchive] = {}
        self._files: dict[Path, list[InventoryFile]] = {}
        self._notes: dict[Path, list[str]] = {}

    @property
    def logs(self) -> tuple[InventoryLog, ...]:
        """Inventory entries of the copied logs, in the order of copying."""
        return tuple(self._logs.values())

    @property
    def archives(self) -> tuple[InventoryArchive, ...]:
        """Inventory entries of the archives, in the order of copying."""
        return tuple(self._archives.values())

    @property
    def files(self) -> tuple[InventoryFile, ...]:
        """Inventory entries of the files that no log vouches for."""
        return tuple(file for files in self._files.values() for file in files)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about what is left out or not whole, one line each."""
        return tuple(line for lines in self._notes.values() for line in lines)

    def drop(self, place: Path) -> None:
        """Forget what was taken from a place below the home, and remove the copies."""
        for known in (self._logs, self._archives, self._files, self._notes):
            for each in [each for each in known if each.is_relative_to(place)]:
                del known[each]
        _remove(self._folder / place)

    def pass_over(self, place: Path, line: str) -> None:
        """Note why there is nothing of a place below the home."""
        self.drop(place)
        self._notes[place] = [line]

    def take(self, home: Path, place: Path, entry: InventoryLog, until: Seq | None) -> None:
        """Copy a log up to an event, with its blobs and the other files beside it.

        What was taken of it before is gone on with: only what came since is copied.

        Args:
            home: The home.
            place: The folder that has `log/`, within it.
            entry: Whose log it is and what it is called; the rest of it is found out here.
            until: The event, which is durable; None for all there is, if nobody writes.

        Raises:
            LogCorrupt: The log is damaged.
        """
        source, target = home / place, self._folder / place
        self._files[place], self._notes[place] = [], []
        make_private_folder(target)
        extent = _find_extent(source / "log", until)
        # The log first: what its events name was durable before they were, so the blobs are there.
        copy_log(source / "log", extent, target / "log", self._disk)
        self._tick()
        # The copy is verified, not its source: it is the copy that the inventory vouches for.
        found, named = verify_and_list_blobs(target / "log", self._pause)
        if found.fault is not None or (found.seq, found.head) != (extent.seq, extent.head.hex()):
            _compare_copy(source / "log", target / "log", extent)
            reason = found.fault.reason if found.fault is not None else "its end is another one"
            raise LogCorrupt(reason)
        self._tick()
        unsound = self._take_blobs(BlobStore(source / "blobs"), target / "blobs", named, entry.name)
        self._note_file(place, place / "log" / ANCHOR_NAME)
        self._take_repairs(source, place)
        self._take_unknown_published(source, place, frozenset(named))
        self._logs[place] = InventoryLog(
            workbench_id=entry.workbench_id,
            name=entry.name,
            segments=extent.files,
            seq=extent.seq,
            head=extent.head.hex(),
            blobs=len(named) - sum(not (target / _blob_path(blob)).exists() for blob in unsound),
            unsound=unsound,
        )

    def take_raw(self, home: Path, place: Path, entry: InventoryLog, reason: str) -> None:
        """Copy a damaged log and the files beside it file by file, as they are."""
        self.drop(place)
        source, target = home / place, self._folder / place
        self._files[place], self._notes[place] = [], []
        make_private_folder(target / "log")
        for part in ("log", "blobs", "published"):
            self._take_tree(source, place, part)
        found = verify_log(target / "log")
        blobs = f"{(place / 'blobs').as_posix()}/"
        self._logs[place] = InventoryLog(
            workbench_id=entry.workbench_id,
            name=entry.name,
            segments=(),
            seq=found.seq,
            head=found.head,
            blobs=sum(file.path.startswith(blobs) for file in self._files[place]),
            damage=reason,
        )
        self._add_note(
            place, f"{_describe_log(entry)} is damaged and was copied as it is: {reason}"
        )

    def take_archive(self, source: Path, place: Path, entry: InventoryArchive) -> None:
        """Copy an archive, and compare the copy with its hash.

        One that is another file than the daemon's log names is copied as it is, with a note.

        Args:
            source: The archive.
            place: Its path below the home.
            entry: What it must be.

        Raises:
            FileNotFoundError: It is not there.
        """
        self.drop(place)
        self._tick()
        self._files[place], self._notes[place] = [], []
        try:
            self._copy_to(source, place)
        except FileNotFoundError:
            raise
        except OSError as error:
            if not is_unreadable(source):
                raise
            self.miss_archive(place, entry, f"cannot be read: {error.strerror}")
            return
        self._tick()
        damage = ""
        if hash_file(self._folder / place) != entry.sha256:
            # The source is sound, so it is the copy that is at fault.
            if hash_file(source) == entry.sha256:
                raise FileWriteFailed("what was written does not read back as it was")
            damage = "the archive is not what was packed"
            self._note_file(place, place)
            line = f"{entry.name} (workbench) is damaged and was copied as it is: {damage}"
            self._add_note(place, line)
        self._archives[place] = msgspec.structs.replace(entry, damage=damage)

    def miss_archive(self, place: Path, entry: InventoryArchive, reason: str) -> None:
        """Note why there is nothing of an archive.

        Args:
            place: Its path below the home.
            entry: What it should be.
            reason: What is wrong with it, behind "the archive".
        """
        self.pass_over(place, f"{entry.name} (workbench) is damaged: the archive {reason}")
        self._archives[place] = msgspec.structs.replace(entry, damage=f"the archive {reason}")

    def take_landed(self, home: Path, place: Path, needed: Mapping[BlobHash, str]) -> None:
        """Copy the stored copies of files that landed in a watched folder.

        Args:
            home: The home.
            place: The folder of the copies, within it.
            needed: Which, each with its path in the watched folder.
        """
        self._files[place], self._notes[place] = [], []
        store = BlobStore(home / place)
        for blob, path in needed.items():
            self._tick()
            try:
                self._copy_to(store.path(blob), place / _blob_path(blob, ""), 0o400)
            except OSError as error:
                # A fault of the target ends the backup; one of the source is noted, and the rest is
                # copied.
                if not is_unreadable(store.path(blob)):
                    raise
                self._add_note(
                    place, f"{path} landed and its copy cannot be read: {error.strerror}"
                )
                continue
            self._note_file(place, place / _blob_path(blob, ""))
            if self._files[place][-1].sha256 != blob:
                self._add_note(
                    place, f"{path} landed, and its copy is damaged: it was taken as it is"
                )

    def _pause(self, seq: int) -> None:
        """Yield the interpreter: reading a log computes, and others wait for an answer."""
        del seq
        self._tick()
        time.sleep(_READ_PAUSE_S)

    def _take_blobs(
        self, source: BlobStore, target: Path, named: Sequence[BlobHash], name: str
    ) -> tuple[BlobHash, ...]:
        """Copy blobs; return those that are missing or damaged at their source."""
        for blob in named:
            # Taken in a round before: a blob never changes.
            if (target / blob[:2] / blob).exists():
                continue
            self._tick()
            # What is missing is found, and told, by the verification of all of them below.
            with suppress(FileNotFoundError):
                self._copy_blob(source.path(blob), target, blob)
        found = BlobStore(target).verify(named)
        unsound: list[BlobHash] = []
        place = target.relative_to(self._folder).parent
        for blob in (*found.missing, *found.damaged):
            original = source.path(blob)
            # The source is sound, so it is the copy that is at fault.
            if not is_unreadable(original) and hash_file(original) == blob:
                raise FileWriteFailed("what was written does not read back as it was")
            unsound.append(blob)
            what = "missing" if blob in found.missing else "damaged"
            self._add_note(place, f"{name}: the file version {blob} is {what}")
        for blob in found.damaged:
            self._note_file(place, place / _blob_path(blob))
        return tuple(sorted(unsound))

    def _copy_blob(self, source: Path, target: Path, blob: BlobHash) -> None:
        make_private_folder(target / blob[:2])
        try:
            self._copy_to(source, (target / blob[:2] / blob).relative_to(self._folder), 0o400)
        except OSError:
            if not is_unreadable(source):
                raise

    def _copy_to(self, source: Path, path: Path, mode: int = 0o600) -> None:
        """Copy a regular file to a path within the folder."""
        target = self._folder / path
        make_private_folder(target.parent)
        # O_NONBLOCK: opening a FIFO that somebody put there must not hang (reliability, A20).
        held = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            copy_file(held, target, self._disk, mode)
        except OSError:
            target.unlink(missing_ok=True)
            raise
        finally:
            os.close(held)

    def _take_repairs(self, source: Path, place: Path) -> None:
        """Copy the files that repairs and cuts of the log put aside."""
        for pattern in ("*.torn-*", "*.cut-*"):
            for path in sorted((source / "log").glob(pattern)):
                copy = place / "log" / path.name
                if not (self._folder / copy).exists():
                    self._copy_to(path, copy)
                self._note_file(place, copy)

    def _take_unknown_published(self, source: Path, place: Path, named: AbstractSet[str]) -> None:
        """Copy the files in published/ whose bytes the log does not know: they are somebody's."""
        published = source / "published"
        # Unlike blobs these files change, so a round takes them anew.
        _remove(self._folder / place / "published")
        if published.is_symlink() or not published.is_dir():
            if os.path.lexists(published):
                self._add_note(place, "published/ is left out: it is a link or no folder")
            return
        root = ConfinedRoot(published)
        try:
            for name in walk_files(published, partial(self._add_note, place)):
                self._tick()
                try:
                    check_name(name)
                    with root.open(FileName(name)) as held:
                        self._take_published(held, place, name, named)
                except KbdError as error:
                    self._add_note(place, f"published/{name} is left out: {error.message}")
        finally:
            root.close()

    def _take_published(self, held: int, place: Path, name: str, named: AbstractSet[str]) -> None:
        """Copy a published file, unless the log knows its bytes or it changes all the time."""
        copy = place / "published" / name
        for _ in range(_MAX_TRIES):
            # Compared before and after the copy: a file that somebody writes is not whole.
            before = os.fstat(held)
            os.lseek(held, 0, os.SEEK_SET)
            with os.fdopen(os.dup(held), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest in named:
                return
            make_private_folder((self._folder / copy).parent)
            # What the try before left: the copy is made anew, never written over.
            (self._folder / copy).unlink(missing_ok=True)
            copy_file(held, self._folder / copy, self._disk)
            after = os.fstat(held)
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                self._note_file(place, copy)
                return
        (self._folder / copy).unlink()
        self._add_note(place, f"published/{name} is left out: somebody is writing it")

    def _take_tree(self, source: Path, place: Path, part: str) -> None:
        """Copy all regular files below a folder, as they are."""
        for name in walk_files(source / part, partial(self._add_note, place)):
            self._tick()
            path = source / part / name
            try:
                check_name(name)
                if not stat.S_ISREG(path.lstat().st_mode):
                    raise SandboxViolation("it is a link or no regular file")
                self._copy_to(path, place / part / name)
            except KbdError as error:
                self._add_note(place, f"{part}/{name} is left out: {error.message}")
                continue
            except OSError as error:
                if not is_unreadable(path):
                    raise
                self._add_note(place, f"{part}/{name} is left out: {error.strerror}")
                continue
            self._note_file(place, place / part / name)

    def _note_file(self, place: Path, path: Path) -> None:
        """Note a copy that no log vouches for."""
        copy = self._folder / path
        self._files[place].append(
            InventoryFile(
                path=path.as_posix(), size_bytes=copy.stat().st_size, sha256=hash_file(copy)
            )
        )

    def _add_note(self, place: Path, line: str) -> None:
        # A name that is no UTF-8 comes as surrogates, which the inventory's JSON cannot hold.
        self._notes[place].append(line.encode("utf-8", "replace").decode())


def _describe_log(entry: InventoryLog) -> str:
    return "the daemon's own log" if entry.workbench_id == "daemon" else f"{entry.name} (workbench)"


def _blob_path(blob: BlobHash, folder: str = "blobs") -> Path:
    return Path(folder, blob[:2], blob)


def _find_extent(log_dir: Path, until: Seq | None) -> Extent:
    """Find what of a log is to be taken.

    Raises:
        LogCorrupt: It is damaged before, or a part of it cannot be read.
    """
    try:
        return find_extent(log_dir, until)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LogCorrupt(f"it cannot be read: {error.strerror}") from error


def _compare_copy(source: Path, target: Path, extent: Extent) -> None:
    """See that a copy which is no whole log is what was copied.

    Raises:
        FileWriteFailed: The copy is at fault.
    """
    for name, size in extent.files:
        with (source / name).open("rb") as one, (target / name).open("rb") as other:
            if one.read(size) != other.read():
                raise FileWriteFailed("what was written does not read back as it was")
    if segment_names(target) != [name for name, _ in extent.files]:
        raise FileWriteFailed("what was written does not read back as it was")


def _remove(place: Path) -> None:
    """Remove a folder of copies, or an archive's, if it is there."""
    with suppress(FileNotFoundError):
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
