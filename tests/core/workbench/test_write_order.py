"""Order of writes of a publish, an undo and a restore, read from what a disk was asked to do.

What a power cut leaves shows most of these rules only in some states, and a few in none as long as
the store has all bytes again (`test_crash_states`). Here each is looked for by itself.
"""

import errno
import os
from pathlib import Path

import msgspec
import pytest

from crash_works import WORKS, opened
from kbd.events.disk import Disk

pytestmark = pytest.mark.anyio


class _Note(msgspec.Struct, frozen=True):
    """A call: what it was, which paths it was about, what it wrote."""

    kind: str
    paths: tuple[str, ...]
    data: bytes = b""


class _NotedDisk(Disk):
    """A disk that notes what it is asked to do, in order."""

    def __init__(self) -> None:
        self.notes: list[_Note] = []

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write."""
        self.notes.append(_Note("write", (_path(fd),), bytes(data)))
        return super().pwrite(fd, data, offset)

    def copy_range(self, source: int, fd: int, offset: int, size: int) -> int:
        """Say that it cannot, so that what is copied is written."""
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    def fsync(self, fd: int) -> None:
        """Sync."""
        super().fsync(fd)
        self.notes.append(_Note("sync", (_path(fd),)))

    def fdatasync(self, fd: int) -> None:
        """Sync."""
        self.fsync(fd)

    def create(self, name: str, folder: int, mode: int = 0o600) -> int:
        """Create."""
        self.notes.append(_Note("create", (f"{_path(folder)}/{name}",)))
        return super().create(name, folder, mode)

    def move(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move."""
        self._note_change(source, target)
        super().move(source, target)

    def move_new(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move."""
        self._note_change(source, target)
        super().move_new(source, target)

    def exchange(self, one: tuple[int, str], other: tuple[int, str]) -> bool:
        """Exchange."""
        self._note_change(one, other)
        return super().exchange(one, other)

    def unlink(self, name: str, folder: int, *, is_folder: bool = False) -> None:
        """Unlink."""
        self._note_change((folder, name))
        super().unlink(name, folder, is_folder=is_folder)

    def _note_change(self, *places: tuple[int, str]) -> None:
        paths = tuple(f"{_path(folder)}/{name}" for folder, name in places)
        self.notes.append(_Note("change", paths))


def _path(fd: int) -> str:
    return os.readlink(f"/proc/self/fd/{fd}")


class _Order:
    """What was done, by its numbers in the order that it was done in.

    Args:
        notes: The calls.
        root: The workbench's folder.
    """

    def __init__(self, notes: list[_Note], root: Path) -> None:
        self._notes, self._root = notes, str(root)

    def of(self, kind: str, *path: str) -> list[int]:
        """Return the numbers of calls about a path, or about what is below it."""
        wanted = "/".join((self._root, *path))
        return [
            number
            for number, note in enumerate(self._notes)
            if note.kind == kind
            and any(each == wanted or each.startswith(f"{wanted}/") for each in note.paths)
        ]

    def syncs(self, path: str) -> list[int]:
        """Return the numbers of the syncs of just this path."""
        return [n for n in self.of("sync") if self._notes[n].paths == (path,)]

    def recorded(self, event: str) -> tuple[int, int]:
        """Return when the log was given an event, and when that was durable."""
        (written,) = (n for n in self.of("write", "log") if event.encode() in self._notes[n].data)
        (path,) = self._notes[written].paths
        return written, next(number for number in self.syncs(path) if number > written)

    def paths(self, number: int) -> tuple[str, ...]:
        """Return the paths of a call."""
        return self._notes[number].paths


@pytest.mark.parametrize("name", ["publish", "undo", "restore"])
async def test_what_is_written_first(tmp_path: Path, name: str) -> None:
    """Staged and durable, intended and durable, in place and durable, then recorded."""
    made, (work,) = WORKS[name]
    root, disk = tmp_path / "root", _NotedDisk()
    await made(root)
    async with opened(root, disk) as bench:
        disk.notes.clear()
        await work(bench)
        order = _Order(list(disk.notes), root)
    intent, intended = order.recorded("PublishIntended")
    outcome, _ = order.recorded("PublishCompleted")
    changes = order.of("change", "published")
    slots = order.of("create", "stage")

    assert (len(changes), len(slots)) == (20, 16)
    # No file is written where people see it (R5), and none changes before the intent (R2).
    assert order.of("write", "published") == order.of("create", "published") == []
    assert intended < min(changes)
    for slot in slots:
        # Each slot's bytes and its name are durable before the intent (R3).
        (path,) = order.paths(slot)
        written = max(n for n in order.of("write", "stage") if order.paths(n) == (path,))
        assert any(slot < written < number < intent for number in order.syncs(path))
        assert any(written < number < intent for number in order.syncs(os.path.dirname(path)))
    folders = {os.path.dirname(path) for number in changes for path in order.paths(number)}
    assert len(folders) == 4
    for folder in folders:
        # The folders that names came to and went from are durable before the outcome (R6).
        last = max(
            n for n in changes if any(os.path.dirname(each) == folder for each in order.paths(n))
        )
        assert any(last < number < outcome for number in order.syncs(folder))
