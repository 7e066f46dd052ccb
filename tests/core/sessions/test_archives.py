"""Archives of workbenches: as they were when they are asked for, and never at anybody's expense."""

import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio import from_thread

from kbd.core.api.logs import LogMethods
from kbd.core.api.workbenches import WorkbenchMethods
from kbd.core.domain.commands import SendMessage
from kbd.core.sessions import archives
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.archive_shelf import ArchiveShelf, Kept
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import FileReadFailed, NotFound, ValidationFailed
from kbd.events.workbenches import WorkbenchArchived, WorkbenchDeleted, WorkbenchUnarchived
from kbd.requests.events import EventsRead
from kbd.requests.workbenches import (
    WorkbenchArchive,
    WorkbenchDelete,
    WorkbenchList,
    WorkbenchRow,
    WorkbenchUnarchive,
)
from kbd.types import Seq, WorkbenchId
from quiet import Quiet
from supervised import Supervised, draft, files_in, supervised

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
"""What is refused does not hang on the loop."""


async def _archived(running: Supervised, **files: str) -> OpenWorkbench:
    """Make a workbench, ask for it, and archive it."""
    bench = await running.bench(**files or {"a__txt": "x" * 5000})
    await bench.keeper.submit(SendMessage("u1", "hello"))
    await running.benches.archives.archive(bench.id, "for a test")
    return bench


async def _row(running: Supervised) -> WorkbenchRow:
    methods = WorkbenchMethods(running.context, running.benches)
    found = await methods.list(WorkbenchList(), Quiet())
    (row,) = found.workbenches
    return msgspec.convert(msgspec.json.decode(msgspec.json.encode(row)), WorkbenchRow)


async def _types(running: Supervised) -> list[type]:
    kinds: list[type] = []
    note = lambda _, record: kinds.append(type(record.data))  # noqa: E731 - one line is enough
    await running.benches.daemon.journal.replay(note, Seq(0))
    wanted = WorkbenchArchived, WorkbenchUnarchived, WorkbenchDeleted
    return [kind for kind in kinds if kind in wanted]


async def test_an_archived_workbench_is_as_it_was(tmp_path: Path) -> None:
    """Its folder is gone; whoever asks for it, now or after a start, has all of it again."""
    async with supervised(tmp_path / "h") as running:
        bench = await _archived(running, a__txt="x" * 5000, b__txt="y")
        folders, state = running.folders(bench), bench.state
        assert not folders.root.exists()
        assert running.home.archive(bench.id).is_file()
        row = await _row(running)
        assert (row.status, row.files, row.last_seq) == ("archived", 2, state.seq)
        assert row.archived_at

    async with supervised(tmp_path / "h") as again:
        assert (await _row(again)).status == "archived"
        assert again.benches.running() == ()
        opened = await again.benches.open(bench.id)
        assert opened.state.seq == state.seq
        assert opened.state.files == state.files
        assert files_in(folders.published) == {"a.txt": "x" * 5000, "b.txt": "y"}
        assert opened.blobs.store.verify().damaged == ()
        assert not again.home.archive(bench.id).exists()
        assert (await _row(again)).status == "idle"
        assert await _types(again) == [WorkbenchArchived, WorkbenchUnarchived]


async def test_its_log_is_read_where_it_lies(tmp_path: Path) -> None:
    """Who looks back at an archived workbench does not unpack it."""
    async with supervised(tmp_path / "h") as running:
        bench = await _archived(running)
        methods = LogMethods(running.context, running.benches)
        for _ in range(2):
            found = await methods.read(EventsRead(workbench_id=bench.id, after=Seq(0)), Quiet())
            assert found.last_seq == bench.state.seq
            assert len(found.events) == bench.state.seq
        assert running.home.archive(bench.id).is_file()
        assert (await _row(running)).status == "archived"


async def test_the_index_is_made_anew_of_archives(tmp_path: Path) -> None:
    """Without the index's file: the row is as before, read out of the archive."""
    async with supervised(tmp_path / "h") as running:
        await _archived(running)
        row = await _row(running)
    (tmp_path / "h" / "daemon" / "index.sqlite3").unlink()

    async with supervised(tmp_path / "h") as again:
        assert await _row(again) == row


@on_asyncio
async def test_what_is_in_use_is_not_archived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft, somebody who reads or works on it: it stays, and the reason is told."""
    monkeypatch.setattr(archives, "SHUT_TRY_S", 0.0)
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        archive = running.benches.archives.archive
        with running.benches.held(bench.id), pytest.raises(ValidationFailed, match="in use"):
            await archive(bench.id, "")
        async with running.benches.reading(bench.id):
            with pytest.raises(ValidationFailed, match="in use"):
                await archive(bench.id, "")
        await draft(bench, a__txt="changed")
        with pytest.raises(ValidationFailed, match="draft is open"):
            await archive(bench.id, "")
        with pytest.raises(NotFound):
            await archive(WorkbenchId("0" * 16), "")
        assert await _types(running) == []
        assert (await running.benches.open(bench.id)).state.draft is not None


def _meanwhile(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> None:
    """Have something happen right before a step of the archiving."""
    step = getattr(archives, name)

    def stepped(*given: Any, **named: Any) -> Any:
        act()
        return step(*given, **named)

    monkeypatch.setattr(archives, name, stepped)


@on_asyncio
@pytest.mark.parametrize("how", ["opened", "written"])
async def test_what_is_used_while_it_is_packed_is_not_archived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Whoever asks for it meanwhile gets it; a file that is put there by hand is not lost."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        own = running.folders(bench).published / "own.txt"
        if how == "opened":
            open_it = lambda: from_thread.run(running.benches.open, bench.id)  # noqa: E731
            _meanwhile(monkeypatch, "verify_log", open_it)
        else:
            _meanwhile(monkeypatch, "stamps_of", lambda: own.write_text("mine"))

        with pytest.raises(ValidationFailed, match=r"in use|used meanwhile"):
            await running.benches.archives.archive(bench.id, "")

        assert await _types(running) == []
        assert not running.home.archive(bench.id).exists()
        assert os.listdir(running.home.archives / "stage") == []
        assert (await running.benches.open(bench.id)).state.seq == bench.state.seq
        if how == "written":
            assert own.read_text() == "mine"


@on_asyncio
async def test_a_damaged_one_is_not_archived(tmp_path: Path) -> None:
    """Damage is to be seen to, and not to be packed away."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x" * 100)
        (blob,) = [entry.blob for entry in bench.state.files.values()]
        path = bench.blobs.path(blob)
        path.chmod(0o600)
        path.write_bytes(b"y" * 100)

        with pytest.raises(ValidationFailed, match="damaged"):
            await running.benches.archives.archive(bench.id, "")

        assert running.folders(bench).root.is_dir()


async def test_a_damaged_archive_is_told_and_stays(tmp_path: Path) -> None:
    """It can be deleted, and nothing else is done with it; others go on."""
    async with supervised(tmp_path / "h") as running:
        bench = await _archived(running)
        archive = running.home.archive(bench.id)
        archive.write_bytes(archive.read_bytes()[:-20])

        with pytest.raises(FileReadFailed, match="archive of the workbench is damaged"):
            await running.benches.open(bench.id)

        assert archive.is_file()
        row = await _row(running)
        assert (row.status, "archive" in str(row.reason)) == ("damaged", True)
        methods = WorkbenchMethods(running.context, running.benches)
        await methods.delete(WorkbenchDelete(workbench_id=bench.id), Quiet())
        assert not archive.exists()
        assert running.benches.ids() == ()


class _Failing:
    """A step of the shelf that fails once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._settle, self.left = ArchiveShelf.settle, 1

        def fail(shelf: ArchiveShelf, workbench_id: WorkbenchId, kept: Kept) -> None:
            if self.left:
                self.left -= 1
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            self._settle(shelf, workbench_id, kept)

        monkeypatch.setattr(ArchiveShelf, "settle", fail)


@pytest.mark.parametrize("is_restarted", [True, False], ids=["restarted", "asked for"])
async def test_what_was_cut_off_behind_its_event_is_done_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_restarted: bool
) -> None:
    """The event counts: the next start, or whoever asks for the workbench, does the rest."""
    async with supervised(tmp_path / "h") as running:
        _Failing(monkeypatch)
        bench = await _archived(running)
        assert running.folders(bench).root.is_dir()
        assert not running.home.archive(bench.id).exists()
        if not is_restarted:
            opened = await running.benches.open(bench.id)
            assert opened.state.seq == bench.state.seq
            return
    async with supervised(tmp_path / "h") as again:
        assert not again.folders(bench).root.exists()
        assert again.home.archive(bench.id).is_file()
        assert (await again.benches.open(bench.id)).state.seq == bench.state.seq


_Act = Callable[[WorkbenchId, str], Awaitable[object]]


async def _act(act: _Act, workbench_id: WorkbenchId) -> None:
    await act(workbench_id, "")


@pytest.mark.parametrize("what", ["archive", "unarchive", "remove"])
async def test_whoever_goes_away_leaves_nothing_half_done(tmp_path: Path, what: str) -> None:
    """Canceled at any step, the workbench is whole in its folder, or in its archive, or gone."""
    for steps in range(0, 40, 3):
        async with supervised(tmp_path / f"{steps}") as running:
            bench = await running.bench(a__txt="x" * 5000)
            shelf = running.benches.archives
            if what != "archive":
                await shelf.archive(bench.id, "")
            acts: dict[str, _Act] = {
                "archive": shelf.archive, "unarchive": shelf.unarchive, "remove": shelf.remove
            }  # fmt: skip
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_act, acts[what], bench.id)
                for _ in range(steps):
                    await anyio.sleep(0.001)
                tasks.cancel_scope.cancel()
            kept = [
                running.folders(bench).root.exists(), running.home.archive(bench.id).exists()
            ]  # fmt: skip
            if bench.id not in running.benches.ids():
                assert (what, kept) == ("remove", [False, False])
                continue
            is_archived = shelf.archived(bench.id) is not None
            assert kept == [not is_archived, is_archived]
            assert not ArchiveShelf(running.home).unsettled()
            assert (await running.benches.open(bench.id)).state.files == bench.state.files


@on_asyncio
async def test_a_client_archives_and_unpacks(tmp_path: Path) -> None:
    """Each answers with what it did, and a second time is refused."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x" * 5000)
        methods, named = (
            WorkbenchMethods(running.context, running.benches),
            {"workbench_id": bench.id},
        )
        packed = await methods.archive(WorkbenchArchive(**named), Quiet())
        assert packed.size_bytes == running.home.archive(bench.id).stat().st_size
        with pytest.raises(ValidationFailed, match="archived"):
            await methods.archive(WorkbenchArchive(**named), Quiet())
        await methods.unarchive(WorkbenchUnarchive(**named), Quiet())
        with pytest.raises(ValidationFailed, match="not archived"):
            await methods.unarchive(WorkbenchUnarchive(**named), Quiet())
        assert _open(running.benches) == [bench.id]


def _open(benches: Workbenches) -> list[str]:
    return [bench.id for bench in benches.running()]
