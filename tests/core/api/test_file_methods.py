"""Adding and removing files where the disk fails to sync, or a link is in the way."""

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
from kbd.types import FileName
from supervised import files_in, supervised

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


async def test_a_link_in_the_place_of_one_file_hinders_no_other(tmp_path: Path) -> None:
    """What is recorded as added or removed is answered so, and theirs stays as they put it."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        files = FileMethods(running.context, running.benches)
        place = bench.folders.published / "a.txt"
        place.symlink_to("elsewhere")
        sources = str(tmp_path / "a.txt"), str(tmp_path / "b.txt")
        added = await files.add(WorkbenchFilesAdd(bench.id, sources), NOBODY)
        assert [each.status for each in added.add_results] == ["added", "added"]
        assert files_in(bench.folders.published)["b.txt"] == "b.txt"

        names = FileName("a.txt"), FileName("b.txt")
        removed = await files.remove(WorkbenchFilesRemove(bench.id, names), NOBODY)
        assert removed.removed == names
        assert bench.state.files == {}
        assert [path.name for path in bench.folders.published.iterdir()] == ["a.txt"]
        assert place.is_symlink()


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
