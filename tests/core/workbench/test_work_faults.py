"""Faults of the disk at each call of a publish, an undo, a restore, a recovery and a rebase.

The n-th call fails, once or from then on, for each n until none is left to fail (the method of
SQLite's tests). What is answered then is true, what is not is whole or not there, and nothing is
answered after a sync that failed.

What a disk holds does not hang on the event loop: in the second tier each call that fails does so
on one of the loops.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from backends import WHOLE, Stride, share_of
from crash_works import WORKS, View, named_blobs, opened, view
from kbd.errors import KbdError
from kbd.events.disk import Disk

Fault = Literal["EIO", "EDQUOT", "short"]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, where that is to be had."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kbd-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class _FaultyDisk(Disk):
    """A disk of which the n-th call fails.

    Args:
        after: How many calls succeed before.
        fault: An error of the system, or "short": a write that writes less than it was given.
        is_lasting: Whether all calls fail from then on.

    Attributes:
        is_armed: Whether calls count.
        has_failed: Whether one has failed.
        has_lost: Whether a sync was among them.
    """

    def __init__(self, after: int, fault: Fault, *, is_lasting: bool) -> None:
        self._left, self._fault, self._is_lasting = after, fault, is_lasting
        self.is_armed = self.has_failed = self.has_lost = False

    def _is_due(self) -> bool:
        if not self.is_armed:
            return False
        self._left -= 1
        is_due = self._left == -1 or (self._left < 0 and self._is_lasting)
        self.has_failed |= is_due
        return is_due

    def _tick(self) -> None:
        if self._fault != "short" and self._is_due():
            number = getattr(errno, self._fault)
            raise OSError(number, os.strerror(number))

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write, or fail, or write a part."""
        self._tick()
        is_short = self._fault == "short" and len(data) > 1 and self._is_due()
        return super().pwrite(fd, data[: len(data) // 2] if is_short else data, offset)

    def fsync(self, fd: int) -> None:
        """Sync, or fail."""
        self._sync()
        super().fsync(fd)

    def fdatasync(self, fd: int) -> None:
        """Sync, or fail."""
        self._sync()
        super().fdatasync(fd)

    def _sync(self) -> None:
        try:
            self._tick()
        except OSError:
            self.has_lost = True
            raise

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve, or fail."""
        self._tick()
        super().reserve(fd, offset, size)

    def truncate(self, fd: int, size: int) -> None:
        """Cut, or fail."""
        self._tick()
        super().truncate(fd, size)

    def create(self, name: str, folder: int, mode: int = 0o600) -> int:
        """Create, or fail."""
        self._tick()
        return super().create(name, folder, mode)

    def make_folder(self, name: str, folder: int) -> None:
        """Make a folder, or fail."""
        self._tick()
        super().make_folder(name, folder)

    def rename(self, source: Path, target: Path) -> None:
        """Rename, or fail."""
        self._tick()
        super().rename(source, target)

    def move(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move, or fail."""
        self._tick()
        super().move(source, target)

    def move_new(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move to a free name, or fail."""
        self._tick()
        super().move_new(source, target)

    def exchange(self, one: tuple[int, str], other: tuple[int, str]) -> bool:
        """Exchange, or fail."""
        self._tick()
        return super().exchange(one, other)

    def unlink(self, name: str, folder: int, *, is_folder: bool = False) -> None:
        """Unlink, or fail."""
        self._tick()
        super().unlink(name, folder, is_folder=is_folder)


async def _fail_at(place: Path, name: str, disk: _FaultyDisk) -> bool:
    """Take a work's last step on a disk, start again as after a kill; False if none failed."""
    made, (*firsts, last) = WORKS[name]
    root, later = place / "root", place / "later"
    await made(root)
    views: list[View] = []
    is_answered = False
    try:
        async with opened(root, disk) as bench:
            for first in firsts:
                await first(bench)
            views.append(view(bench))
            disk.is_armed = True
            await last(bench)
            disk.is_armed, is_answered = False, True
            views.append(view(bench))
    except* KbdError:
        disk.is_armed = False
    # In another folder, for nothing of the process that was there is put in order.
    shutil.copytree(root, later, symlinks=True)
    shutil.rmtree(root)
    async with opened(later) as bench:
        found = view(bench)
        assert (bench.damage, bench.state.publish) == (None, None)
        # Before a rebase somebody has changed published/ beside kbd.
        assert found.published == found.stated or found == views[0]
        assert list((later / "stage").iterdir()) == []
        looked = bench.blobs.store.verify(await named_blobs(bench))
        assert (looked.damaged, looked.missing) == ((), ())
        assert not (is_answered and disk.has_lost)
        if is_answered:
            assert found == views[-1]
        elif found != views[0]:
            # All of it, then: made once more there is nothing left of it to do.
            assert _is_after(name, views[0], found)
    shutil.rmtree(later)
    return disk.has_failed


def _is_after(name: str, before: View, found: View) -> bool:
    """Return whether what a work makes is there: no file is left as it was before it."""
    if name in ("publish", "edit and publish", "fail and publish"):
        return found.draft is None and not set(before.stated.items()) & set(found.stated.items())
    if name in ("undo", "restore"):
        old = {text.partition(" ")[0] for text in found.published.values()}
        return old == {"old"} and len(found.published) == 16
    # The draft is another one; what is published is not.
    bare = msgspec.structs.replace(found, draft=None, ended=0, stated={})
    return found.draft is not None and bare.published == before.published


async def _sweep(place: Path, name: str, fault: Fault, *, is_lasting: bool, stride: Stride) -> int:
    """Have calls fail in turn; return at how many they can, rounded up to a step."""
    after = stride.start
    while await _fail_at(place, name, _FaultyDisk(after, fault, is_lasting=is_lasting)):
        after += stride.step
    return after


FAULTS: list[tuple[Fault, bool]] = [
    ("EIO", False), ("EIO", True), ("EDQUOT", False), ("EDQUOT", True), ("short", True),
]  # fmt: skip

SOME = [
    ("publish", "EIO", False, 29), ("undo", "EDQUOT", True, 29), ("rebase", "EIO", True, 10),
    ("discard and recover", "short", True, 1),
]  # fmt: skip
"""Works for the first tier, with a fault and at which calls."""


@pytest.mark.sampled(3)
@pytest.mark.anyio
@pytest.mark.parametrize(("name", "fault", "is_lasting", "step"), SOME)
async def test_a_fault_leaves_all_or_nothing(
    place: Path, name: str, fault: Fault, is_lasting: bool, step: int
) -> None:
    """At some calls of some works; `make test-full` has more fail of all, `make soak` each."""
    stride = Stride(0, step)
    assert await _sweep(place, name, fault, is_lasting=is_lasting, stride=stride) >= 1


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize(("fault", "is_lasting"), FAULTS)
@pytest.mark.parametrize("name", WORKS)
async def test_a_fault_at_many_calls_leaves_all_or_nothing(
    place: Path, anyio_backend: str, name: str, fault: Fault, is_lasting: bool
) -> None:
    """Each error of the system at other ones, so that together they meet each.

    Writes are few, as are the calls of a short work: there each fault is met at each.
    """
    stride = share_of(anyio_backend)
    if fault != "short" and name != "discard and recover":
        stride = stride.wider(4, FAULTS.index((fault, is_lasting)))
    assert await _sweep(place, name, fault, is_lasting=is_lasting, stride=stride) >= 1


@pytest.mark.soak
@pytest.mark.anyio
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("fault", "is_lasting"), FAULTS)
@pytest.mark.parametrize("name", WORKS)
async def test_a_fault_at_each_call_leaves_all_or_nothing(
    place: Path, name: str, fault: Fault, is_lasting: bool
) -> None:
    """Write, sync, creation, rename, exchange, removal, reservation: whichever it is."""
    assert await _sweep(place, name, fault, is_lasting=is_lasting, stride=WHOLE) >= 1
