"""Crash states: what a disk may hold after the power went, from a trace of what was written to it.

A `TracedDisk` does what it is asked and writes it down. `CrashStates` then builds, for any moment
of the trace, a folder as a power cut might have left it, under one of two models:

* ordered: as a journaling file system in its usual mode. Names change in the order of the calls,
  and whatever is synced brings all earlier names with it; of what was written to a file since it
  was synced a part may be there, the last of it torn.
* weak: no more than POSIX promises. A name is durable when its folder is synced, bytes when their
  file is; of the rest anything may be there or not, each on its own.

A change of a name is all or nothing, as it is in every journal.
"""

import errno
import os
import random
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from kbd.events.disk import Disk

__all__ = ["CrashStates", "Model", "TracedDisk"]

Model = Literal["ordered", "weak"]

_SECTOR_BYTES = 512

Lie = Callable[[str, str], bool]
"""Tells of a sync ("file" or "folder") of a path whether it does nothing: a rule taken out."""


class _Write(msgspec.Struct, frozen=True):
    """Bytes at an offset of a file; None cuts or stretches it to the offset."""

    inode: int
    offset: int
    data: bytes | None


class _Names(msgspec.Struct, frozen=True):
    """Names that change together: (folder, name, inode), 0 for none."""

    entries: tuple[tuple[int, str, int], ...]


class _Folder(msgspec.Struct, frozen=True):
    """A new folder."""

    inode: int


class _Sync(msgspec.Struct, frozen=True):
    """A sync of a file or a folder."""

    inode: int


_Op = _Write | _Names | _Folder | _Sync


class TracedDisk(Disk):
    """A disk that writes down what is done to it.

    Args:
        lie: Which syncs do nothing.
    """

    def __init__(self, lie: Lie = lambda kind, path: False) -> None:
        self.trace: list[_Op] = []
        self._lie, self._known = lie, set[int]()

    def note_tree(self, root: Path) -> None:
        """Take what is below a folder for known."""
        for folder, _, names in os.walk(root):
            self._known.add(os.stat(folder).st_ino)
            self._known.update(os.stat(Path(folder, name)).st_ino for name in names)

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write."""
        inode = self._meet(fd)
        written = super().pwrite(fd, data, offset)
        self.trace.append(_Write(inode, offset, bytes(data[:written])))
        return written

    def truncate(self, fd: int, size: int) -> None:
        """Cut."""
        inode = self._meet(fd)
        super().truncate(fd, size)
        self.trace.append(_Write(inode, size, None))

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve."""
        inode = self._meet(fd)
        super().reserve(fd, offset, size)
        self.trace.append(_Write(inode, os.fstat(fd).st_size, None))

    def copy_range(self, source: int, fd: int, offset: int, size: int) -> int:
        """Say that it cannot, so that what is copied is written."""
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    def fsync(self, fd: int) -> None:
        """Sync."""
        found = os.fstat(fd)
        kind = "folder" if stat.S_ISDIR(found.st_mode) else "file"
        if not self._lie(kind, _path(fd)):
            self._meet(fd)
            self.trace.append(_Sync(found.st_ino))

    def fdatasync(self, fd: int) -> None:
        """Sync."""
        self.fsync(fd)

    def rename(self, source: Path, target: Path) -> None:
        """Rename."""
        inode = source.stat().st_ino
        self._meet_at(source.parent.stat().st_ino, source, inode)
        super().rename(source, target)
        self._move(
            (source.parent.stat().st_ino, source.name),
            (target.parent.stat().st_ino, target.name),
            inode,
        )

    def create(self, name: str, folder: int, mode: int = 0o600) -> int:
        """Create."""
        fd = super().create(name, folder, mode)
        self._meet(fd)
        return fd

    def make_directory(self, directory: Path) -> None:
        """Make folders."""
        missing = [place for place in (directory, *directory.parents) if not place.exists()]
        for place in reversed(missing):
            held = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                self.make_folder(place.name, held)
            finally:
                os.close(held)

    def make_folder(self, name: str, folder: int) -> None:
        """Make a folder."""
        is_new = name not in os.listdir(folder)
        if is_new:
            os.mkdir(name, 0o700, dir_fd=folder)
            inode = os.stat(name, dir_fd=folder).st_ino
            self._known.add(inode)
            self.trace += (_Folder(inode), _Names(((os.fstat(folder).st_ino, name, inode),)))
            self.sync(folder)

    def move(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move."""
        inode = os.stat(source[1], dir_fd=source[0]).st_ino
        ends = (_inode(source[0]), source[1]), (_inode(target[0]), target[1])
        self._meet_at(ends[0][0], Path(_path(source[0]), source[1]), inode)
        self._meet(target[0])
        super().move(source, target)
        self._move(*ends, inode)

    def move_new(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move to a free name."""
        inode = os.stat(source[1], dir_fd=source[0]).st_ino
        super().move_new(source, target)
        self._move((_inode(source[0]), source[1]), (_inode(target[0]), target[1]), inode)

    def exchange(self, one: tuple[int, str], other: tuple[int, str]) -> bool:
        """Exchange."""
        inodes = [os.stat(name, dir_fd=folder).st_ino for folder, name in (one, other)]
        done = super().exchange(one, other)
        if done:
            self.trace.append(
                _Names(
                    (
                        (_inode(one[0]), one[1], inodes[1]),
                        (_inode(other[0]), other[1], inodes[0]),
                    )
                )
            )
        return done

    def unlink(self, name: str, folder: int, *, is_folder: bool = False) -> None:
        """Unlink."""
        super().unlink(name, folder, is_folder=is_folder)
        self.trace.append(_Names(((_inode(folder), name, 0),)))

    def _move(self, source: tuple[int, str], target: tuple[int, str], inode: int) -> None:
        self.trace.append(_Names(((*source, 0), (*target, inode))))

    def _meet(self, fd: int) -> int:
        """Write down that a file was created, if it is new here: not all are made by a disk."""
        inode, path = _inode(fd), Path(_path(fd))
        if inode not in self._known and path.parent.exists():
            self._meet_at(path.parent.stat().st_ino, path, inode)
        return inode

    def _meet_at(self, folder: int, path: Path, inode: int) -> None:
        if inode not in self._known:
            # Nor are all folders.
            if path.parent != path.parent.parent:
                self._meet_at(path.parent.parent.stat().st_ino, path.parent, folder)
            self._known.add(inode)
            if path.is_dir():
                self.trace.append(_Folder(inode))
            self.trace.append(_Names(((folder, path.name, inode),)))
            # What a worker wrote: it is as loose as any write until the file is synced.
            if path.is_file() and (data := path.read_bytes()):
                self.trace.append(_Write(inode, 0, data))


class CrashStates:
    """Crash states of one trace.

    Args:
        root: The folder as it lies before the trace begins; all of it is durable.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.stat().st_ino
        self._folders: dict[int, dict[str, int]] = {}
        self._files: dict[int, bytes] = {}
        for place, folders, names in os.walk(root):
            inside = self._folders.setdefault(os.stat(place).st_ino, {})
            for name in (*folders, *names):
                path = Path(place, name)
                inside[name] = path.stat().st_ino
                if name in names:
                    self._files[inside[name]] = path.read_bytes()

    def build(
        self, trace: list[_Op], moment: int, model: Model, coin: random.Random, target: Path
    ) -> None:
        """Write what a power cut after so many calls may have left to a new folder."""
        done = trace[:moment]
        folders = {inode: dict(names) for inode, names in self._folders.items()}
        folders |= {op.inode: {} for op in done if isinstance(op, _Folder)}
        for op in _surviving_names(done, model, coin):
            for folder, name, inode in op.entries:
                if folder not in folders:
                    continue
                if inode:
                    folders[folder][name] = inode
                else:
                    folders[folder].pop(name, None)
        contents = self._surviving_bytes(done, model, coin)
        self._write(folders, contents, self._root, target)

    def _surviving_bytes(
        self, done: list[_Op], model: Model, coin: random.Random
    ) -> dict[int, bytes]:
        synced = {op.inode: place for place, op in enumerate(done) if isinstance(op, _Sync)}
        contents: dict[int, bytearray] = {}
        loose: dict[int, list[_Write]] = {}
        for place, op in enumerate(done):
            if isinstance(op, _Write):
                content = contents.setdefault(op.inode, bytearray(self._files.get(op.inode, b"")))
                if place < synced.get(op.inode, -1):
                    _apply(content, op)
                else:
                    loose.setdefault(op.inode, []).append(op)
        for inode, writes in loose.items():
            for op in _torn(writes, model, coin):
                _apply(contents[inode], op)
        return {**self._files, **{inode: bytes(content) for inode, content in contents.items()}}

    def _write(
        self, folders: dict[int, dict[str, int]], contents: dict[int, bytes], at: int, target: Path
    ) -> None:
        target.mkdir()
        for name, inode in folders[at].items():
            if inode in folders:
                self._write(folders, contents, inode, target / name)
            else:
                (target / name).write_bytes(contents.get(inode, b""))


def _surviving_names(done: list[_Op], model: Model, coin: random.Random) -> Iterator[_Names]:
    """Yield the changes of names that a power cut leaves, in order."""
    syncs = [(place, op.inode) for place, op in enumerate(done) if isinstance(op, _Sync)]
    if model == "ordered":
        last = syncs[-1][0] if syncs else 0
        end = coin.randint(last, len(done))
        yield from (op for op in done[:end] if isinstance(op, _Names))
        return
    synced = {inode: place for place, inode in syncs}
    for place, op in enumerate(done):
        if isinstance(op, _Names):
            # Of a move, the folder that it leads to; of an exchange both; of a removal the one.
            led = [folder for folder, _, inode in op.entries if inode]
            folders = led or [folder for folder, _, _ in op.entries]
            durable = all(synced.get(folder, -1) > place for folder in folders)
            if durable or coin.random() < 0.5:
                yield op


def _torn(writes: list[_Write], model: Model, coin: random.Random) -> Iterator[_Write]:
    """Yield what is left of writes that were not synced."""
    if model == "ordered":
        last = coin.randint(0, len(writes))
        yield from writes[:last]
        if last < len(writes):
            yield from _sectors(writes[last], lambda sector: sector == 0)
        return
    for op in writes:
        match coin.randrange(4):
            case 0:
                yield op
            case 1:
                # The size came through, and the bytes did not.
                yield _Write(op.inode, op.offset, b"\0" * len(op.data or b""))
            case 2:
                yield from _sectors(op, lambda _: coin.random() < 0.5)
            case _:
                pass


def _sectors(op: _Write, keeps: Callable[[int], bool]) -> Iterator[_Write]:
    """Yield the parts of a write that lie in the sectors that came through."""
    if op.data is None:
        return
    for start in range(0, len(op.data), _SECTOR_BYTES):
        if keeps(start // _SECTOR_BYTES):
            yield _Write(op.inode, op.offset + start, op.data[start : start + _SECTOR_BYTES])


def _apply(content: bytearray, op: _Write) -> None:
    if op.data is None:
        del content[op.offset :]
        content.extend(b"\0" * (op.offset - len(content)))
        return
    content.extend(b"\0" * (op.offset - len(content)))
    content[op.offset : op.offset + len(op.data)] = op.data


def _inode(fd: int) -> int:
    return os.fstat(fd).st_ino


def _path(fd: int) -> str:
    return os.readlink(f"/proc/self/fd/{fd}")
