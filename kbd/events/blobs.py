"""Blob store: the bytes of files, stored once under their own hash.

A blob lies at `<directory>/<64 digits>`, mode 0400, and is never changed. It is durable before any
method returns its hash, so an event that names it can be recorded at once: bytes are written
beside, synced, renamed, and the directory synced. Half-made files are called `incoming-*` and mean
nothing; `kept/` is that of `KeptBlobs`. Blocking I/O; every method may be called from any thread.

An older kbd put a blob at `<directory>/<first two digits>/<64 digits>`, and a backup has it there
to this day. Such a blob is read, and written anew if it is damaged, where it lies. Most stores have
a dozen blobs, and a folder for each took more of the disk than they; of a folder of a hundred
thousand names today's file systems find one as fast.
"""

import errno
import hashlib
import os
import re
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import groupby
from pathlib import Path

import msgspec

from kbd.errors import (
    DiskFull,
    FileReadFailed,
    FileWriteFailed,
    KbdError,
    NotFound,
    SandboxViolation,
    ValidationFailed,
)
from kbd.events.checked_blobs import BlobDamaged, CheckedBlobs, name_read_failures, open_blob
from kbd.events.disk import DISK, Disk, LogPoisoned, SyncError, is_full
from kbd.events.shortages import raise_shortage
from kbd.events.stored_blobs import KeptBlobs, StoredBlob
from kbd.types import BlobHash

__all__ = ["BlobStore", "BlobVerification"]

_HASH = re.compile(r"[0-9a-f]{64}")
_CHUNK_BYTES = 1024 * 1024
_INCOMING = "incoming-"
_KEPT = "kept"


class BlobVerification(msgspec.Struct, frozen=True):
    """Result of verifying all blobs.

    Args:
        checked: How many were read.
        damaged: Those whose bytes are not what their name says.
        missing: Those that were asked for and are not there.
    """

    checked: int
    damaged: tuple[BlobHash, ...]
    missing: tuple[BlobHash, ...]


class BlobStore:
    """The blobs of one workbench. After a sync that failed it keeps no more; it can be read.

    Args:
        directory: Where they lie; made with the first blob.
        disk: What writes.

    Attributes:
        kept: Those that no event names and that are kept for good.
    """

    def __init__(self, directory: Path, disk: Disk = DISK) -> None:
        self._directory = directory
        self.kept = KeptBlobs(directory / _KEPT, disk)
        self._disk = disk
        self._checked = CheckedBlobs()
        # Why nothing is kept any more: a sync of this store has failed.
        self._lost: str | None = None
        self._explain: Callable[[BlobHash], KbdError | None] = lambda _: None

    def explain_missing(self, explain: Callable[[BlobHash], KbdError | None]) -> None:
        """Set what tells why a blob is not there, as the error that is raised; None if it cannot.

        It is called in whatever thread asks for the blob.
        """
        self._explain = explain

    def put_bytes(self, data: bytes) -> BlobHash:
        """Keep bytes. Keeping the same again costs next to nothing.

        Raises:
            DiskFull: No space is left; nothing was kept.
            LogPoisoned: The disk does not make it durable.
        """
        blob = BlobHash(hashlib.sha256(data).hexdigest())
        with self._failures_named():
            if not self._is_stored(blob, len(data)):
                self._write_chunks([data])
        return blob

    def put_file(self, path: Path) -> tuple[BlobHash, int]:
        """Copy a file in and hash what is copied, so that a change meanwhile cannot split them.

        Returns:
            Its hash and its size in bytes.

        Raises:
            NotFound: It is not there.
            SandboxViolation: It is a link or no regular file.
            FileReadFailed: It cannot be read.
            DiskFull: No space is left; nothing was kept.
            LogPoisoned: The disk does not make it durable.
        """
        fd = _open_source(path)
        try:
            return self.put_open(fd, path.name)
        finally:
            os.close(fd)

    def put_open(self, fd: int, name: str, size_bytes: int = sys.maxsize) -> tuple[BlobHash, int]:
        """Copy an open file in from its beginning, and hash what is copied.

        Args:
            fd: A descriptor of it that can be read; it stays open, and where it stands is kept.
            name: Names it in messages.
            size_bytes: No more than so many bytes are copied, however fast it grows.

        Returns:
            The hash and the size in bytes of what was copied.

        Raises:
            FileReadFailed: It cannot be read; its cause says why.
            DiskFull: No space is left; nothing was kept.
            LogPoisoned: The disk does not make it durable.
        """
        with self._failures_named():
            return self._write_chunks(_read_chunks(fd, name, size_bytes))

    def adopt(self, staged: Path) -> tuple[BlobHash, int]:
        """Move a file into the store: it becomes the blob, so nothing may write to it any more.

        Args:
            staged: On the same file system; it is gone afterwards.

        Returns:
            Its hash and its size in bytes.

        Raises:
            NotFound: It is not there.
            SandboxViolation: It is a link, has a second name, or is no regular file.
            FileReadFailed: It cannot be read.
            DiskFull: No space is left; it is still where it was.
            LogPoisoned: The disk does not make it durable.
        """
        fd = _open_source(staged)
        try:
            if os.fstat(fd).st_nlink != 1:
                raise SandboxViolation(f"{staged.name} has a second name, by which it could change")
            hasher, size = hashlib.sha256(), 0
            for chunk in _read_chunks(fd, staged.name):
                hasher.update(chunk)
                size += len(chunk)
            blob = BlobHash(hasher.hexdigest())
            with self._failures_named():
                if self._is_stored(blob, size):
                    staged.unlink()
                else:
                    self._install(fd, staged, blob)
        finally:
            os.close(fd)
        return blob, size

    def path(self, blob: BlobHash) -> Path:
        """Path of a blob, stored or not; it says nothing about the file's name.

        Raises:
            ValidationFailed: This is no hash.
        """
        # Hashes come from clients, too: with "/" or ".." in one the path would lead elsewhere.
        if not _HASH.fullmatch(blob):
            raise ValidationFailed("a blob is named by 64 lower-case hex digits")
        # One path made of one text: a listing of many files makes many.
        older = f"{self._directory}/{blob[:2]}/{blob}"
        # The names of folders are in memory: this is a call of a microsecond, and no read.
        return Path(older if os.path.lexists(older) else f"{self._directory}/{blob}")

    def has(self, blob: BlobHash) -> bool:
        """Return whether a blob is stored."""
        return self.path(blob).is_file()

    def read(self, blob: BlobHash, offset: int = 0, limit: int | None = None) -> bytes:
        """Read bytes of a blob that is what its name says.

        Args:
            blob: Which.
            offset: Where to begin, in bytes.
            limit: How many bytes at most; all if None.

        Raises:
            NotFound: It is not kept.
            BlobDamaged: It is not what its name says.
        """
        with self._opened(blob) as file:
            if offset == 0 and limit is None:
                with name_read_failures(blob):
                    data = file.read()
                if hashlib.sha256(data).hexdigest() != blob:
                    raise BlobDamaged(blob)
                return data
            self._checked.check_open(blob, file)
            with name_read_failures(blob):
                file.seek(offset)
                return file.read(-1 if limit is None else limit)

    def size(self, blob: BlobHash) -> int:
        """Return how many bytes are stored of a blob, right or wrong.

        Raises:
            NotFound: It is not kept.
            BlobDamaged: It cannot be opened, or is no regular file.
        """
        with self._opened(blob) as file:
            return os.fstat(file.fileno()).st_size

    def check(self, blob: BlobHash) -> None:
        """Check that a blob is stored and is what its name says.

        A blob that this process has checked is not read again while the file system says that
        nobody has touched it.

        Raises:
            NotFound: It is not kept.
            BlobDamaged: It is not what its name says.
        """
        with self._opened(blob) as file:
            self._checked.check_open(blob, file)

    def copy_to(self, blob: BlobHash, fd: int) -> int:
        """Copy a blob to the beginning of an open file, hashing what is copied.

        Returns:
            Its size in bytes.

        Raises:
            NotFound: It is not kept.
            BlobDamaged: It is not what its name says; what was written is of no use.
            OSError: The file cannot be written.
        """
        hasher, size = hashlib.sha256(), 0
        with self._opened(blob) as file:
            while chunk := _read_chunk(file, blob):
                hasher.update(chunk)
                self._disk.write_all(fd, chunk, size)
                size += len(chunk)
        if hasher.hexdigest() != blob:
            raise BlobDamaged(blob)
        return size

    def verify(self, named: Iterable[BlobHash] | None = None) -> BlobVerification:
        """Read blobs again and compare them with their names. Changes nothing.

        Args:
            named: Those that must be there; if None, all that are.
        """
        wanted = self.stored() if named is None else sorted(set(named))
        checked, damaged, missing = 0, [], []
        for blob in wanted:
            try:
                with self._opened(blob) as file, name_read_failures(blob):
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except NotFound:
                missing.append(blob)
                continue
            except FileReadFailed:
                digest = ""  # What cannot be read is as good as damaged.
            checked += 1
            if digest != blob:
                damaged.append(blob)
        return BlobVerification(checked, tuple(damaged), tuple(missing))

    def sweep(self) -> int:
        """Remove the partial files of a process that died. Only while nothing else is being stored.

        Returns:
            How many files were removed.
        """
        leftovers = list(self._directory.glob(f"{_INCOMING}*"))
        for leftover in leftovers:
            leftover.unlink()
        return len(leftovers)

    def stored(self) -> list[BlobHash]:
        """Return the blobs that are stored, in order, with whatever lies in the place of one."""
        return sorted(BlobHash(path.name) for path in self._paths() if self._is_place(path))

    def strangers(self) -> list[str]:
        """Return the names of what lies in the store and is neither a blob nor the store's own."""
        return sorted(
            path.name
            for path in self._paths()
            if not path.name.startswith(_INCOMING)
            and (not self._is_place(path) or self.look(BlobHash(path.name)) is None)
        )

    def _is_place(self, path: Path) -> bool:
        """Return whether a blob is looked for at a path in the store."""
        return _HASH.fullmatch(path.name) is not None and path == self.path(BlobHash(path.name))

    def look(self, blob: BlobHash) -> StoredBlob | None:
        """Return a blob as the file system has it; None if there is no regular file of it."""
        try:
            found = self.path(blob).lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return StoredBlob(blob, found.st_size, found.st_ctime)

    def remove(self, blobs: Iterable[BlobHash]) -> tuple[int, int]:
        """Remove blobs that nothing needs any more; durable on return. One not there is no error.

        Only while nobody stores anything here: who stores what is there is told that it is stored.

        Returns:
            How many were removed, and how many bytes they held.

        Raises:
            FileWriteFailed: One cannot be removed; those before it are.
            LogPoisoned: The disk does not make it durable.
        """
        found = [each for blob in sorted(set(blobs)) if (each := self.look(blob)) is not None]
        with self._failures_named("stored bytes cannot be removed"):
            for folder, group in groupby(found, lambda each: self.path(each.blob).parent):
                held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                try:
                    for each in group:
                        self._disk.unlink(each.blob, held)
                    self._disk.sync(held)
                finally:
                    os.close(held)
        return len(found), sum(each.size_bytes for each in found)

    def _paths(self) -> Iterator[Path]:
        """Yield the paths of all that lies in the store, but its own folders."""
        for path in self._directory.glob("*"):
            if re.fullmatch(r"[0-9a-f]{2}", path.name):
                yield from path.glob("*")
            elif path.name != _KEPT:
                yield path

    @contextmanager
    def _opened(self, blob: BlobHash) -> Iterator[BufferedReader]:
        """Hold a blob open for reading.

        Raises:
            NotFound: It is not kept.
            BlobDamaged: It cannot be opened, or is no regular file.
            FileReadFailed: It cannot be opened just now.
        """
        try:
            file = open_blob(self.path(blob), blob)
        except FileNotFoundError as error:
            msg = f"the stored bytes {blob[:12]}… are missing"
            raise self._explain(blob) or NotFound(msg, detail={"blob": blob}) from error
        with file:
            yield file

    def _is_stored(self, blob: BlobHash, size: int) -> bool:
        """Whether the blob is there in full; if so, durably, whoever put it there."""
        path = self.path(blob)
        try:
            # Damage, however it came to be, is written over: here are the bytes that it lost.
            if self.size(blob) != size:
                return False
            self.check(blob)
        except (NotFound, BlobDamaged):
            return False
        # Whoever put it may have died after the rename and before it was durable.
        for folder in dict.fromkeys((path.parent, self._directory)):
            self._disk.sync_directory(folder)
        return True

    def _write_chunks(self, chunks: Iterable[bytes]) -> tuple[BlobHash, int]:
        """Write bytes to a new file while hashing them, and settle it."""
        self._disk.make_directory(self._directory)
        # In the store itself, for a rename is atomic only within one file system.
        fd, name = tempfile.mkstemp(prefix=_INCOMING, dir=self._directory)
        incoming = Path(name)
        try:
            hasher, size = hashlib.sha256(), 0
            for chunk in chunks:
                hasher.update(chunk)
                self._disk.write_all(fd, chunk, size)
                size += len(chunk)
            blob = BlobHash(hasher.hexdigest())
            self._install(fd, incoming, blob)
        finally:
            os.close(fd)
            incoming.unlink(missing_ok=True)
        return blob, size

    def _install(self, fd: int, path: Path, blob: BlobHash) -> None:
        """Make a file durable and give it its name, over whatever has it."""
        target = self.path(blob)
        # Bytes and mode before the name, the name before the return: an event may name it then.
        os.fchmod(fd, 0o400)
        self._disk.sync(fd)
        self._disk.make_directory(target.parent)
        try:
            self._disk.rename(path, target)
        except IsADirectoryError:
            # Whoever made a folder there may miss what it holds: it stays, under another name.
            aside = target.with_name(f"{blob}.{secrets.token_hex(4)}")
            self._disk.rename(target, aside)
            self._disk.rename(path, target)
        self._disk.sync_directory(target.parent)

    @contextmanager
    def _failures_named(self, what: str = "a file's bytes cannot be stored") -> Iterator[None]:
        """Give the disk's failures their names; after a failed sync all is refused."""
        # The next sync would say that all is well, also of what was lost (reliability R11).
        if self._lost is not None:
            raise LogPoisoned(self._lost)
        try:
            yield
        except SyncError as error:
            self._lost = "the disk does not make a file's bytes durable"
            raise LogPoisoned(self._lost) from error
        except OSError as error:
            if is_full(error):
                raise DiskFull(
                    "no space is left on the device: the file was not kept",
                    actions=("free some space, then try again",),
                ) from error
            raise_shortage(error)
            reason = os.strerror(error.errno or 0)
            raise FileWriteFailed(f"{what}: {reason}") from error


def _open_source(path: Path) -> int:
    """Open a regular file for reading; neither a link nor a pipe can lead elsewhere or block."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise NotFound(f"there is no file {path.name}") from error
        # open(2): a link under O_NOFOLLOW, and a socket or a device that nothing serves.
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise SandboxViolation(f"{path.name} is a link or no regular file") from error
        raise_shortage(error)
        raise FileReadFailed(f"{path.name} cannot be opened: {error.strerror}") from error
    # Asked of the open file: its path may lead to another one by now.
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise SandboxViolation(f"{path.name} is a link or no regular file")
    return fd


def _read_chunk(file: BufferedReader, blob: BlobHash) -> bytes:
    with name_read_failures(blob):
        return file.read(_CHUNK_BYTES)


def _read_chunks(fd: int, name: str, size_bytes: int = sys.maxsize) -> Iterator[bytes]:
    """Yield the bytes of an open file, from its beginning, at most so many."""
    offset = 0
    try:
        while chunk := os.pread(fd, min(_CHUNK_BYTES, size_bytes - offset), offset):
            yield chunk
            offset += len(chunk)
    except OSError as error:
        raise_shortage(error)
        raise FileReadFailed(f"{name} cannot be read: {error.strerror}") from error
