"""Archive files: a closed workbench's folder in one compressed file, and back.

An archive is a gzipped tar, which any program for such files can list and unpack. It holds what
cannot be made again: the log, the blobs, and those published files whose bytes are no blob that the
log names. What an archive holds counts only by the hash of the file, which the daemon's log has.
Everything here blocks.
"""

import gzip
import hashlib
import io
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import cast

import msgspec

from kbd.errors import FileReadFailed, FileWriteFailed, ValidationFailed
from kbd.events.disk import DISK, Disk
from kbd.events.shortages import raise_shortage
from kbd.types import BlobHash, FileName

__all__ = ["PackedFolder", "pack_folder", "stamps_of", "unpack_folder"]

REMADE = frozenset({"cache", "draft", "meta", "open", "stage"})
"""What in a workbench's folder is made again when it is opened, so that no archive holds it.
Snapshots are, too, but with them a long log that is unpacked is opened at once."""

_CHUNK_BYTES = 1024 * 1024

_GZIP_LEVEL = 6
"""zlib's own middle: level 9 takes twice as long for a log and saves one in a hundred bytes."""

_DAMAGE = (tarfile.TarError, zlib.error, gzip.BadGzipFile, EOFError, ValueError, OverflowError)
"""What reading an archive that is no whole one leads to."""

_HELPS = ("bring it back from a backup: kbd repair --from BACKUP",)

Stamp = tuple[int, int, int, int, int]
"""What the file system says of a file, and what no write leaves as it is: device, inode, size,
times of change of its bytes and of the rest, in nanoseconds."""


class PackedFolder(msgspec.Struct, frozen=True):
    """A folder that was packed.

    Args:
        sha256: The hash of the archive.
        size_bytes: Its size.
        stamps: What the file system said of each file before it was read, by path; for `stamps_of`
            to compare.
    """

    sha256: str
    size_bytes: int
    stamps: Mapping[str, Stamp]


class _HashedOutput(io.RawIOBase):
    """A new file that hashes what is written to it."""

    def __init__(self, fd: int, disk: Disk) -> None:
        self._fd, self._disk = fd, disk
        self.hasher, self.size_bytes = hashlib.sha256(), 0

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def write(self, data: object) -> int:
        """Write bytes at the end."""
        taken = bytes(data)  # type: ignore[call-overload]
        self._disk.write_all(self._fd, taken, self.size_bytes)
        self.hasher.update(taken)
        self.size_bytes += len(taken)
        return len(taken)


class _HashedInput(io.RawIOBase):
    """An open file that hashes what is read of it, from its beginning on."""

    def __init__(self, fd: int) -> None:
        self._fd, self._at = fd, 0
        self.hasher = hashlib.sha256()

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read the next bytes."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = os.pread(self._fd, len(view), self._at)
        except OSError as error:
            raise _damage(error.strerror or "it cannot be read") from error
        view[: len(data)] = data
        self.hasher.update(data)
        self._at += len(data)
        return len(data)


def stamps_of(root: Path) -> dict[str, Stamp]:
    """Return what the file system says of each file that an archive of a folder holds.

    Raises:
        ValidationFailed: Something in it is neither a file nor a folder.
        OSError: It cannot be read.
    """
    return {
        path: _stamp(found) for path, found in _entries(root) if not stat.S_ISDIR(found.st_mode)
    }


def pack_folder(
    root: Path,
    target: Path,
    shown: Mapping[FileName, BlobHash],
    disk: Disk = DISK,
    tick: Callable[[], None] = lambda: None,
) -> PackedFolder:
    """Pack a workbench's folder into a new file, and read that back; it is durable but its name.

    Args:
        root: The folder; nobody has it open.
        target: The file; there is none.
        shown: What the log says is published, each with the blob of its bytes: a file that has
            them is left out, for it is written again when the workbench is opened.
        disk: What writes.
        tick: Called between two files; what it raises ends the work.

    Raises:
        ValidationFailed: Something in the folder is neither a file nor a folder.
        FileWriteFailed: What was written does not read back as it was.
        OSError: It cannot be read, or not be written; the file is gone.
    """
    stamps, hashes = {}, dict[str, str]()
    fd = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        output = _HashedOutput(fd, disk)
        buffered = io.BufferedWriter(output, _CHUNK_BYTES)
        with (
            gzip.GzipFile("", "wb", _GZIP_LEVEL, buffered, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            for path, found in _entries(root):
                tick()
                if stat.S_ISDIR(found.st_mode):
                    tar.addfile(_member(path, found))
                    continue
                stamps[path] = _stamp(found)
                if (digest := _pack_file(tar, root, path, shown)) is not None:
                    hashes[path] = digest
        buffered.flush()
        # Its bytes before its name: whoever renames it makes it the only copy.
        disk.sync(fd)
        _check_packed(fd, output.hasher.hexdigest(), hashes, tick)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
    return PackedFolder(output.hasher.hexdigest(), output.size_bytes, stamps)


def unpack_folder(
    source: Path,
    sha256: str | None,
    target: Path,
    parts: Collection[str] = (),
    take: Callable[[PurePosixPath, io.BufferedReader], bool] = lambda _path, _data: True,
    disk: Disk = DISK,
) -> None:
    """Unpack an archive to a new folder; all of it is durable but the folder's name.

    What no archive of kbd's holds (`REMADE`) is left out.

    Args:
        source: The archive.
        sha256: The hash that it must have; None if it is not known.
        target: The folder; there is none. After an error what was written is still there.
        parts: What is wanted of it, as `log`; all if there are none.
        take: Asked about each file of them; one for which it returns False is left out, and it may
            have read that.
        disk: What writes; `SCRATCH_DISK` for a copy that need not be durable.

    Raises:
        FileReadFailed: The archive is damaged or cannot be read.
        OSError: What it holds cannot be written.
    """
    disk.make_directory(target)
    modes = {target: 0o700}
    with _opened(source) as fd:
        reader = _HashedInput(fd)
        for member, data in _members(reader):
            path = _checked_path(member.name)
            if path.parts[0] in REMADE or (parts and path.parts[0] not in parts):
                continue
            place = target / path
            try:
                if data is None:
                    disk.make_directory(place)
                    modes[place] = member.mode & 0o777
                elif take(path, data):
                    disk.make_directory(place.parent)
                    _unpack_file(member, data, place, disk)
            except (FileExistsError, NotADirectoryError) as error:
                raise _damage("it holds one name twice") from error
        if sha256 is not None and reader.hasher.hexdigest() != sha256:
            raise _damage("it is not what was written")
    # Only now: a folder that may not be written can still be filled before.
    for folder, mode in modes.items():
        os.chmod(folder, mode)
        disk.sync_directory(folder)


def _entries(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield what an archive of a folder holds: folders before what is in them, sorted.

    Raises:
        ValidationFailed: Something in it is neither a file nor a folder.
    """
    folders = sorted(each for each in os.listdir(root) if each not in REMADE)
    while folders:
        path = folders.pop(0)
        found = os.lstat(root / path)
        if stat.S_ISDIR(found.st_mode):
            yield path, found
            folders[:0] = [f"{path}/{name}" for name in sorted(os.listdir(root / path))]
        elif stat.S_ISREG(found.st_mode):
            yield path, found
        else:
            shown = path.encode("utf-8", "replace").decode()
            raise ValidationFailed(f"{shown} in the workbench's folder is no regular file")


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _member(path: str, found: os.stat_result) -> tarfile.TarInfo:
    """Return the head of a file or folder in the archive: nothing of its owner is in it."""
    member = tarfile.TarInfo(path)
    member.mode = stat.S_IMODE(found.st_mode)
    member.mtime = found.st_mtime_ns // 1_000_000_000
    if stat.S_ISDIR(found.st_mode):
        member.type = tarfile.DIRTYPE
    else:
        member.size = found.st_size
    return member


def _pack_file(
    tar: tarfile.TarFile, root: Path, path: str, shown: Mapping[FileName, BlobHash]
) -> str | None:
    """Pack a file; return its hash, or None if it is left out."""
    head, _, name = path.partition("/")
    # O_NONBLOCK: a pipe that took the file's place must not hang it.
    held = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(held, "rb") as file:
        if head == "published" and (blob := shown.get(FileName(name))) is not None:
            if hashlib.file_digest(file, "sha256").hexdigest() == blob:
                return None
            file.seek(0)
        reader = _HashedInput(file.fileno())
        # It fails if there are fewer bytes than the head says; more are behind what was packed, and
        # the stamp says that there are.
        tar.addfile(_member(path, os.fstat(file.fileno())), io.BufferedReader(reader, _CHUNK_BYTES))
    return reader.hasher.hexdigest()


def _check_packed(
    fd: int, sha256: str, hashes: Mapping[str, str], tick: Callable[[], None]
) -> None:
    """Read an archive again, and compare it with what was packed.

    Raises:
        FileWriteFailed: It is something else.
    """
    reader, found = _HashedInput(fd), dict[str, str]()
    msg = "the archive does not read back as it was written"
    try:
        with _damage_named():
            for member, data in _members(reader):
                tick()
                if data is not None:
                    found[member.name] = hashlib.file_digest(data, "sha256").hexdigest()
    except FileReadFailed as error:
        raise FileWriteFailed(msg) from error
    if found != hashes or reader.hasher.hexdigest() != sha256:
        raise FileWriteFailed(msg)


@contextmanager
def _opened(source: Path) -> Iterator[int]:
    try:
        fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise FileReadFailed("the archive of the workbench is missing", actions=_HELPS) from error
    except OSError as error:
        raise_shortage(error)
        raise _damage(error.strerror or "it cannot be opened") from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _damage("it is no regular file")
        with _damage_named():
            yield fd
    finally:
        os.close(fd)


def _members(reader: _HashedInput) -> Iterator[tuple[tarfile.TarInfo, io.BufferedReader | None]]:
    """Yield what an archive holds, each file with its bytes; then all of the archive is read."""
    with (
        io.BufferedReader(reader, _CHUNK_BYTES) as buffered,
        gzip.GzipFile(fileobj=buffered, mode="rb") as packed,
    ):
        with tarfile.open(fileobj=packed, mode="r|") as tar:
            for member in tar:
                if not (member.isfile() or member.isdir()):
                    raise _damage("it holds what is neither a file nor a folder")
                yield member, cast("io.BufferedReader | None", tar.extractfile(member))
        # Behind the tar there is padding, and behind that the checksum.
        while packed.read(_CHUNK_BYTES):
            pass
        while buffered.read(_CHUNK_BYTES):
            pass


def _checked_path(name: str) -> PurePosixPath:
    """Return where in the folder a member belongs.

    Raises:
        FileReadFailed: That is nowhere in it.
    """
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise _damage("it names what lies outside of it")
    return path


def _unpack_file(member: tarfile.TarInfo, data: io.BufferedReader, place: Path, disk: Disk) -> None:
    # O_EXCL: the archive names each file once, and nothing else is there.
    fd = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        offset = 0
        while chunk := data.read(_CHUNK_BYTES):
            disk.write_all(fd, chunk, offset)
            offset += len(chunk)
        os.fchmod(fd, member.mode & 0o777)
        os.utime(fd, (member.mtime, member.mtime))
        disk.sync(fd)
    finally:
        os.close(fd)


@contextmanager
def _damage_named() -> Iterator[None]:
    """Give what reading an archive that is no whole one leads to its name.

    Raises:
        FileReadFailed: The archive is damaged.
    """
    try:
        yield
    except _DAMAGE as error:
        raise _damage("it is not what was written") from error


def _damage(reason: str) -> FileReadFailed:
    return FileReadFailed(f"the archive of the workbench is damaged: {reason}", actions=_HELPS)
