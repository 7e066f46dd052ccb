"""Files of people on a disk that fails to sync: what may be lost is not said to be kept."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kbd.core.api.files import FileMethods
from kbd.core.server.dispatch import Session
from kbd.errors import KbdError
from kbd.events.disk import Disk, LogPoisoned
from kbd.requests.workbenches import WorkbenchFilesAdd, WorkbenchFilesRemove
from supervised import supervised

pytestmark = pytest.mark.anyio

NOBODY = cast("Session", SimpleNamespace(actor=None))


class _Loss:
    """What a disk fails to make durable.

    Attributes:
        of: What stands in the paths, or "".
    """

    of = ""


@pytest.fixture
def loss(monkeypatch: pytest.MonkeyPatch) -> _Loss:
    """The disk of all."""
    loses, sync = _Loss(), Disk.fsync

    def fsync(disk: Disk, fd: int) -> None:
        if loses.of and loses.of in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(disk, fd)

    monkeypatch.setattr(Disk, "fsync", fsync)
    return loses


@pytest.mark.parametrize("of", ["/blobs", "/published", "/stage"])
async def test_a_file_that_may_be_lost_is_not_added(tmp_path: Path, loss: _Loss, of: str) -> None:
    """Once more would find the same bytes there and say that all is well: the daemon ends."""
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(BaseExceptionGroup) as ended:
        await _add_twice(tmp_path, loss, of)
    assert ended.group_contains(LogPoisoned)


async def test_a_file_that_may_come_back_is_not_removed(tmp_path: Path, loss: _Loss) -> None:
    """Its name is gone, and may be there again after a power cut: the daemon ends."""
    with pytest.raises(BaseExceptionGroup) as ended:
        await _remove_twice(tmp_path, loss)
    assert ended.group_contains(LogPoisoned)


async def _add_twice(folder: Path, loss: _Loss, of: str) -> None:
    async with supervised(folder / "h") as running:
        bench = await running.bench()
        files = FileMethods(running.context, running.benches)
        request = WorkbenchFilesAdd(bench.id, (str(folder / "a.txt"),))
        # The second time nothing fails any more.
        for loss.of in (of, ""):
            with pytest.raises(KbdError):
                await files.add(request, NOBODY)


async def _remove_twice(folder: Path, loss: _Loss) -> None:
    async with supervised(folder / "h") as running:
        bench = await running.bench(a__txt="a", b__txt="b")
        files = FileMethods(running.context, running.benches)
        for loss.of, name in (("/published", "a.txt"), ("", "b.txt")):
            with pytest.raises(KbdError):
                await files.remove(WorkbenchFilesRemove(bench.id, (name,)), NOBODY)
