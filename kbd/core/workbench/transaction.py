"""Transaction of a publish: its bytes staged before the intent, changed places with after it.

Each file of a publish has a slot in `stage/publish-<id>/`. Before the intent is recorded the slot
holds the new bytes, checked by their hash and durable, so what follows needs no space: a file and
its slot change places in one step, and the slot then holds what was published before. Going back is
the same step again. So a publish that cannot be completed leaves what it found, whatever is full.

The order is that of reliability 2.3 and 2.5: bytes before names, all slots before the intent, the
folders of what was renamed before the outcome. Immediately before each change the file is hashed;
one that somebody changed since is left as it is, and kbd's version is put beside it (R8).
"""

import errno
import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kbd.core.workbench.sandbox import MAX_COMPONENT_BYTES, ConfinedRoot, open_regular
from kbd.errors import (
    BlobCollected,
    DiskFull,
    FileReadFailed,
    FileWriteFailed,
    NotFound,
    SandboxViolation,
)
from kbd.events.blobs import BlobStore
from kbd.events.checked_blobs import BlobDamaged
from kbd.events.disk import DISK, Disk, LogPoisoned, SyncError
from kbd.events.drafts import PlannedFile
from kbd.events.shortages import raise_shortage
from kbd.types import BlobHash, FileName

__all__ = ["PublishTransaction", "conflict_name", "hash_file", "translate_write_errors"]

_READ_BYTES = 1 << 20

_PREFIX = "publish-"

_LABELS = ("user.", "system.posix_acl_access")
"""Extended attributes that are a person's: what programs noted of a file, and who else may use it.
Those that the system itself gives a file (`security.`) it gives the new one as well."""


_Signature = tuple[int, int, int]
"""What tells whether a file is another one, or was written to: inode, size, time of change. Not the
time of its inode, which a rename changes, too."""


def conflict_name(name: FileName, mark: str) -> FileName:
    """Return a name for a second version of a file: `a (kbd conflict 1f2e).txt`.

    It is one that a file may have; of a name that is too long already a hash tells the rest.
    """
    folder, _, last = name.rpartition("/")
    stem, suffix = os.path.splitext(last)
    appended = f" (kbd conflict {mark[:8]}){suffix}"
    if len(f"{stem}{appended}".encode()) > MAX_COMPONENT_BYTES:
        appended = f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}{appended}"
        room = max(0, MAX_COMPONENT_BYTES - len(appended.encode()))
        stem = stem.encode()[:room].decode(errors="ignore")
    renamed = f"{stem}{appended}"
    return FileName(f"{folder}/{renamed}" if folder else renamed)


def hash_file(held: int) -> BlobHash:
    """Return the hash of an open file, from where it stands."""
    digest = hashlib.sha256()
    while chunk := os.read(held, _READ_BYTES):
        digest.update(chunk)
    return BlobHash(digest.hexdigest())


@contextmanager
def translate_write_errors(what: str) -> Iterator[None]:
    """Translate the system's errors of a write to errors that clients know.

    Raises:
        DiskFull: No space is left.
        FileWriteFailed: It cannot be written.
        LogPoisoned: The disk does not make it durable.
    """
    try:
        yield
    except SyncError as error:
        # Never tried again: the next sync would say that all is well (reliability R11).
        raise LogPoisoned(f"the disk does not make {what} durable") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space is left to write {what}") from None
        raise_shortage(error)
        reason = os.strerror(error.errno or 0)
        raise FileWriteFailed(f"{what} cannot be written: {reason}") from None


class PublishTransaction:
    """Files of one publish, from the first staged byte to the last rename.

    `stage` comes before the intent is recorded; `carry_out` after it, as often as it takes, also in
    the next process; `roll_back` instead of it; `clear` when the outcome is recorded.

    Args:
        published: The folder of what is published.
        stage: The workbench's stage, on the same file system.
        blobs: The workbench's blobs.
        publish_id: The publish, which names its folder in the stage.
        files: What will be in published/, by name.
        disk: What writes.

    Attributes:
        folder: The folder of the slots.
    """

    def __init__(
        self,
        published: ConfinedRoot,
        stage: Path,
        blobs: BlobStore,
        publish_id: str,
        files: tuple[PlannedFile, ...],
        disk: Disk = DISK,
    ) -> None:
        self._published, self._blobs, self._disk = published, blobs, disk
        self.folder = stage / f"{_PREFIX}{publish_id}"
        self._mark, self._files = publish_id, files
        # What slots hold that this object filled: it need not be read again.
        self._filled: dict[str, BlobHash] = {}

    def stage(self) -> None:
        """Fill the slots with the new bytes, and make sure of the old ones; published/ is not read.

        Raises:
            BlobDamaged: The stored bytes of a file are damaged; nothing was staged.
            DiskFull: No space is left; nothing was staged.
            FileWriteFailed: The stage cannot be written; nothing was staged.
            LogPoisoned: The disk does not make it durable.
        """
        try:
            with translate_write_errors("the new versions of the files"):
                self._disk.make_directory(self.folder)
                with self._slots() as slots:
                    for index, planned in enumerate(self._files):
                        if planned.new is not None:
                            self._fill(slots, str(index), planned.name, planned.new)
                        if planned.old is not None:
                            self._secure(planned.name, planned.old)
                    # All slots before the intent: without this sync 14 to 22 of 100 crash states
                    # were bad (reliability 2.9).
                    self._disk.sync(slots)
        except BaseException:
            self.clear()
            raise

    def carry_out(self) -> tuple[tuple[FileName, FileName], ...]:
        """Put each file in its place, from wherever this stopped.

        Returns:
            The files that somebody had changed and that were left, each with the name of kbd's
            version (the same for a deletion).

        Raises:
            KbdError: It could not be completed; call again, or `roll_back`.
        """
        conflicted: list[tuple[FileName, FileName]] = []
        with self._slots() as slots:
            for index, planned in enumerate(self._files):
                with translate_write_errors(repr(planned.name)):
                    given = self._put(slots, str(index), planned)
                if given is not None:
                    conflicted.append((planned.name, given))
            with translate_write_errors("published/"):
                self._sync_folders(
                    (*(file.name for file in self._files), *(given for _, given in conflicted))
                )
                self._disk.sync(slots)
        return tuple(conflicted)

    def roll_back(self) -> None:
        """Bring back what was published before; what somebody changed since stays as it is.

        Raises:
            KbdError: It could not be completed; call again, or `carry_out`.
        """
        with self._slots() as slots:
            for index, planned in enumerate(self._files):
                with translate_write_errors(repr(planned.name)):
                    self._take_back(slots, str(index), planned)
            with translate_write_errors("published/"):
                self._sync_folders(tuple(file.name for file in self._files))
                # As in `carry_out`: two names that change places are durable with both folders.
                self._disk.sync(slots)

    def clear(self) -> None:
        """Empty the slots: what they hold is stored, or published."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def _slots(self) -> Iterator[int]:
        """Hold the slots' folder open, made if it is not there; yield its descriptor."""
        with translate_write_errors("the new versions of the files"):
            self._disk.make_directory(self.folder)
            held = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield held
        finally:
            os.close(held)

    def _fill(self, slots: int, slot: str, name: FileName, blob: BlobHash) -> None:
        """Write bytes to a slot, durably."""
        with suppress(FileNotFoundError):
            self._disk.unlink(slot, slots)
        # Open to all as far as the process's mask allows, unless the published file says otherwise.
        fd = self._disk.create(slot, slots, 0o666)
        try:
            self._liken(fd, name)
            # A copy and no link: who edits the published file in place would change the blob.
            try:
                self._blobs.copy_to(blob, fd)
            except BlobCollected:
                raise
            except (NotFound, BlobDamaged) as fault:
                msg = f"the stored bytes of {name!r} are damaged or missing"
                raise FileReadFailed(msg, actions=fault.actions, detail=fault.detail) from None
            # Bytes before the name: a crash after the rename must not leave an empty file.
            self._disk.sync(fd)
        finally:
            os.close(fd)
        self._filled[slot] = blob

    def _liken(self, fd: int, name: FileName) -> None:
        """Give a new version the permissions and the labels of the published file, if any is."""
        with suppress(NotFound, SandboxViolation), self._published.open(name) as held:
            # First: to a file that nobody may write, no label may be given either.
            _copy_labels(held, fd)
            os.fchmod(fd, stat.S_IMODE(os.fstat(held).st_mode) & 0o777)

    def _secure(self, name: FileName, old: BlobHash) -> None:
        """Make sure that what a file holds is stored, before anything takes its place (R4)."""
        try:
            self._blobs.check(old)
        except (NotFound, BlobDamaged):
            # The published file is the only good copy.
            with suppress(NotFound), self._published.open(name) as held:
                self._blobs.put_open(held, name)

    def _put(self, slots: int, slot: str, planned: PlannedFile) -> FileName | None:
        """Put one file in its place; return the name of kbd's version if that was taken."""
        try:
            with self._published.parent(planned.name, create=planned.new is not None) as place:
                found, seen = _look(place, planned.name)
                if found == planned.new:
                    is_done = self._settle(slots, slot, planned, place)
                else:
                    is_done = found == planned.old and self._swap(slots, slot, planned, place, seen)
        except NotFound:
            # Of a deletion: neither the file nor its folder is there.
            return None
        except SandboxViolation:
            # Somebody put a link there: that is theirs.
            is_done = False
        return None if is_done else self._put_beside(slots, slot, planned)

    def _swap(
        self,
        slots: int,
        slot: str,
        planned: PlannedFile,
        place: tuple[int, str],
        seen: _Signature,
    ) -> bool:
        """Let a file and its slot change places; False if somebody was faster."""
        held = (slots, slot)
        if planned.new is None:
            self._disk.move(place, held)
        else:
            self._hold(slots, slot, planned.name, planned.new)
            if planned.old is None:
                try:
                    self._disk.move_new(held, place)
                except FileExistsError:
                    return False
                return True
            if not self._disk.exchange(held, place):
                self._disk.move(held, place)
                return True
        self._filled.pop(slot, None)
        # What was taken away is looked at once more: somebody may have written to it, or put
        # another file, a link or a folder there, between the look and the change.
        if _signature(held) == seen or _holds(held, planned.name, (planned.old,)):
            return True
        self._swap_back(slots, slot, planned, place)
        return False

    def _swap_back(
        self, slots: int, slot: str, planned: PlannedFile, place: tuple[int, str]
    ) -> None:
        """Give somebody's file its place back."""
        if planned.new is not None:
            self._disk.exchange((slots, slot), place)
            return
        try:
            self._disk.move_new((slots, slot), place)
        except FileExistsError:
            # Its place was taken, too, within the same moment: what the slot holds is stored.
            with suppress(SandboxViolation):
                found, _ = _look((slots, slot), planned.name)
                if found is not None:
                    self._preserve(slots, slot, found)

    def _settle(self, slots: int, slot: str, planned: PlannedFile, place: tuple[int, str]) -> bool:
        """Look after the slot of a file that is in its place; False if it held somebody's bytes."""
        if slot in self._filled:
            return True
        if _holds((slots, slot), planned.name, (None, planned.old, planned.new)):
            return True
        # Written to in the moment before it changed places; then the process died.
        self._swap_back(slots, slot, planned, place)
        return False

    def _hold(self, slots: int, slot: str, name: FileName, blob: BlobHash) -> None:
        """Have a slot hold these bytes: filled by this process, by one before, or now."""
        if self._filled.get(slot) == blob:
            return
        found, _ = _look((slots, slot), name)
        if found != blob:
            if found is not None:
                self._preserve(slots, slot, found)
            self._fill(slots, slot, name, blob)
            self._disk.sync(slots)
        self._filled[slot] = blob

    def _preserve(self, slots: int, slot: str, found: BlobHash) -> None:
        """Store what a slot holds if it is nowhere else: nobody's bytes are dropped."""
        with translate_write_errors("somebody's bytes"):
            self._blobs.kept.add((found,))
        try:
            self._blobs.check(found)
        except (NotFound, BlobDamaged):
            with open_regular((slots, slot), slot) as held:
                self._blobs.put_open(held, slot)

    def _put_beside(self, slots: int, slot: str, planned: PlannedFile) -> FileName:
        """Put kbd's version beside a file that somebody changed; of a deletion there is none."""
        if planned.new is None:
            return planned.name
        given = conflict_name(planned.name, self._mark)
        with self._published.parent(given, create=True) as place:
            found, _ = _look(place, given)
            if found is None:
                self._hold(slots, slot, planned.name, planned.new)
                self._disk.move_new((slots, slot), place)
                self._filled.pop(slot, None)
        return given

    def _take_back(self, slots: int, slot: str, planned: PlannedFile) -> None:
        """Bring back what was there before one file of the publish."""
        self._take_from_beside(slots, slot, planned)
        try:
            with self._published.parent(planned.name, create=planned.old is not None) as place:
                found, _ = _look(place, planned.name)
                if found != planned.new:
                    return  # It was not changed yet, or is somebody's by now.
                if planned.old is None:
                    self._disk.move(place, (slots, slot))
                else:
                    self._hold(slots, slot, planned.name, planned.old)
                    if planned.new is None:
                        with suppress(FileExistsError):
                            self._disk.move_new((slots, slot), place)
                    elif not self._disk.exchange((slots, slot), place):
                        self._disk.move((slots, slot), place)
        except (NotFound, SandboxViolation):
            return  # Neither the file nor its folder, or somebody's link.
        finally:
            self._filled.pop(slot, None)

    def _take_from_beside(self, slots: int, slot: str, planned: PlannedFile) -> None:
        """Take kbd's version away from beside a file that somebody changed."""
        if planned.new is None:
            return
        given = conflict_name(planned.name, self._mark)
        with suppress(NotFound, SandboxViolation), self._published.parent(given) as place:
            if _look(place, given)[0] == planned.new:
                self._disk.move(place, (slots, slot))

    def _sync_folders(self, names: tuple[FileName, ...]) -> None:
        """Make the names in the folders of some files durable, each folder once."""
        folders = {name.rpartition("/")[0]: name for name in names}
        for name in folders.values():
            with suppress(NotFound), self._published.parent(name) as (folder, _):
                self._disk.sync(folder)


def _copy_labels(source: int, target: int) -> None:
    """Copy a person's labels of a file, each that there may be and that may be set."""
    if sys.platform != "linux":
        return
    labels: list[str] = []
    with suppress(OSError):  # Of a file system that knows none.
        labels = os.listxattr(source)
    for label in labels:
        if label.startswith(_LABELS):
            with suppress(OSError):
                os.setxattr(target, label, os.getxattr(source, label))


def _look(place: tuple[int, str], name: str) -> tuple[BlobHash | None, _Signature]:
    """Return the hash of the file at a place, None for no file, with its signature before."""
    try:
        with open_regular(place, name) as held:
            seen = _sign(os.fstat(held))
            return hash_file(held), seen
    except NotFound:
        return None, (0, 0, 0)


def _holds(place: tuple[int, str], name: str, versions: tuple[BlobHash | None, ...]) -> bool:
    """Tell whether a place holds one of these versions; a link or a folder is none."""
    try:
        return _look(place, name)[0] in versions
    except SandboxViolation:
        return False


def _signature(place: tuple[int, str]) -> _Signature:
    return _sign(os.stat(place[1], dir_fd=place[0], follow_symlinks=False))


def _sign(found: os.stat_result) -> _Signature:
    return found.st_ino, found.st_size, found.st_mtime_ns
