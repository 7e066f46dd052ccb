"""All workbenches: opened once, closed in order, deleted for good, told of as they change."""

import gc
import shutil
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

import anyio
import msgspec
import pytest

from kbd.core.api.daemon import handler_table
from kbd.core.api.logs import LogMethods
from kbd.core.domain.daemon_decisions import DeleteWorkbench
from kbd.core.server.dispatch import Stream, Synced
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.keeper import Observer
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, KbdError, NotFound, ValidationFailed
from kbd.events.base import Recorded
from kbd.requests import notifications as wire
from kbd.requests.workbenches import WorkbenchList, WorkbenchRow
from kbd.requests.workshop import RunList
from kbd.types import FileName, Seq, WorkbenchId
from quiet import Quiet
from supervised import add, crashed, draft, supervised

pytestmark = pytest.mark.anyio

A = FileName("a.txt")


async def test_workbenches_that_open_together_open_once(tmp_path: Path) -> None:
    """Whoever asks first or meanwhile gets the same one."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
    found: list[OpenWorkbench] = []

    async def ask(benches: Workbenches) -> None:
        found.append(await benches.open(bench.id))

    async with supervised(tmp_path / "h") as again:
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(ask, again.benches)
        assert len(found) == 8
        assert all(one is found[0] for one in found)
        assert again.benches.running() == (found[0],)


async def test_a_client_that_goes_away_leaves_no_half_opened_workbench(tmp_path: Path) -> None:
    """Cancelled at any step of the opening, the next one to ask gets it whole."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
    for steps in range(12):
        async with supervised(tmp_path / "h") as again:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(again.benches.open, bench.id)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            with anyio.fail_after(10):
                assert sorted((await again.benches.open(bench.id)).state.files) == [A]


async def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """An unknown id is not found; what is no id never reaches a path."""
    async with supervised(tmp_path / "h") as running:
        with pytest.raises(NotFound):
            await running.benches.open("0" * 16)
        for ill_formed in ("", ".", "..", "x" * 16, "0" * 17, "../" + "0" * 13, "0" * 15 + "\n"):
            with pytest.raises(ValidationFailed):
                await running.benches.open(ill_formed)
            with pytest.raises(ValidationFailed):
                await running.benches.delete(ill_formed)
        assert running.home.workbenches.is_dir()


def _locks() -> int:
    gc.collect()
    return sum(isinstance(each, anyio.Lock) for each in gc.get_objects())


@pytest.mark.full
async def test_an_id_that_was_asked_for_leaves_nothing(tmp_path: Path) -> None:
    """A lock is there while it is needed, not for each id that anybody ever names."""
    async with supervised(tmp_path / "h") as running:
        before = _locks()
        for number in range(20):
            unknown = WorkbenchId(f"{number:016x}")
            with pytest.raises(NotFound):
                await running.benches.open(unknown)
            assert await running.benches.end_of(unknown) is None
        for _ in range(3):
            deleted = (await running.bench(a__txt="x")).id
            await running.benches.delete(deleted)
            with pytest.raises(NotFound):
                await running.benches.open(deleted)

        assert _locks() == before


async def test_a_deleted_workbench_is_gone(tmp_path: Path) -> None:
    """With its folder, for good, once; the others stay."""
    async with supervised(tmp_path / "h") as running:
        kept, gone = await running.bench(a__txt="x"), await running.bench(a__txt="x")
        await running.benches.delete(gone.id)
        assert not running.folders(gone).root.exists()
        for ask in (running.benches.open, running.benches.delete):
            with pytest.raises(NotFound):
                await ask(gone.id)

    async with supervised(tmp_path / "h") as again:
        assert again.benches.ids() == (kept.id,)
        with pytest.raises(NotFound):
            await again.benches.open(gone.id)


async def test_two_who_delete_together_delete_once(tmp_path: Path) -> None:
    """One is answered, the other hears that there is no such workbench."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        heard: list[str] = []

        async def delete() -> None:
            try:
                await running.benches.delete(bench.id)
                heard.append("deleted")
            except NotFound:
                heard.append("not found")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(delete)
            tasks.start_soon(delete)
        assert sorted(heard) == ["deleted", "not found"]


async def test_a_draft_holds_its_workbench(tmp_path: Path) -> None:
    """What waits for review is not deleted in passing."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await draft(bench, a__txt="changed")
        with pytest.raises(ValidationFailed, match="draft is open"):
            await running.benches.delete(bench.id)
        assert running.folders(bench).root.is_dir()


async def test_what_a_crash_left_of_a_deleted_workbench_goes(tmp_path: Path) -> None:
    """The start after it removes the folder; one that the log does not know is somebody's."""
    async with supervised(tmp_path / "h") as running:
        kept, gone = await running.bench(a__txt="x"), await running.bench(a__txt="x")
        await running.benches.daemon.submit(DeleteWorkbench(gone.id))
        home = crashed(running.home, tmp_path / "crashed")
    unknown = home / "workbenches" / ("f" * 16)
    shutil.copytree(home / "workbenches" / kept.id, unknown)

    async with supervised(home) as again:
        left = sorted(path.name for path in again.home.workbenches.iterdir())
        assert left == sorted([kept.id, unknown.name])


async def test_only_what_was_open_is_opened_at_a_start(tmp_path: Path) -> None:
    """A workbench that was closed in order waits until it is asked for."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        home = crashed(running.home, tmp_path / "crashed")

    async with supervised(tmp_path / "h") as again:
        assert again.benches.running() == ()
    async with supervised(home) as after_crash:
        assert [opened.id for opened in after_crash.benches.running()] == [bench.id]


async def test_clients_are_told_after_the_fact(tmp_path: Path) -> None:
    """Each notification has the number of the event that it tells of, in order."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await draft(bench, a__txt="changed", b__txt="made")
        await add(bench, "c.txt", "y")
        told = [notice for notice in running.told if notice.workbench_id == bench.id]

        assert [type(notice) for notice in told] == [
            wire.WorkbenchFilesChanged,
            wire.DraftStateChanged,
            wire.WorkbenchDraftStateChanged,
            *[wire.DraftStateChanged] * 2,
            wire.WorkbenchFilesChanged,
        ]
        assert [notice.seq for notice in told] == [2, 3, 3, 4, 5, 6]


async def test_who_follows_all_logs_is_told_which_change(tmp_path: Path) -> None:
    """By whatever is recorded in any, also before it comes to wait; each once."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        with running.context.index.followed() as changed:
            await add(bench, "a.txt", "x")
            await add(bench, "b.txt", "x")
            assert await changed.take() == (bench.id,)
            other = await running.bench()
            assert set(await changed.take()) == {"daemon", other.id}


async def test_observers_see_recovery(tmp_path: Path) -> None:
    """What watches a workbench is there before the first event of its recovery."""
    async with supervised(tmp_path / "h") as running:
        seen: list[Seq] = []

        def watch(bench: OpenWorkbench) -> Observer:
            def observe(seq: Seq, record: Recorded) -> None:
                seen.append(seq)

            return observe

        running.benches._watch = watch
        await running.bench(a__txt="x")
        assert seen == [1, 2]


async def test_a_workbench_that_cannot_be_made_is_not_there(tmp_path: Path) -> None:
    """Nobody was told of it: neither the list nor the disk keeps half of one."""
    async with supervised(tmp_path / "h") as running:
        kept = await running.bench(a__txt="x")
        running.benches._watch = _failing
        with pytest.raises(DiskFull):
            await running.benches.create("never")

        assert running.benches.ids() == (kept.id,)
        assert [path.name for path in running.home.workbenches.iterdir()] == [kept.id]


class _Nobody(Quiet):
    """A connection that nobody listens at."""

    def subscribe(self, subscription: str, stream: Stream, cursors: Mapping[str, Seq]) -> None:
        """Send nothing."""


def _failing(bench: OpenWorkbench) -> Observer:
    raise DiskFull("no space is left")


async def test_one_that_cannot_be_opened_does_not_hide_the_others(tmp_path: Path) -> None:
    """Once it was tried, the list has it with the reason; who follows all reads its log as well."""
    async with supervised(tmp_path / "h") as running:
        broken, whole = await running.bench(), await running.bench(a__txt="x")
    folder = running.folders(broken).draft
    folder.symlink_to(tmp_path)

    async with supervised(tmp_path / "h") as again:
        table = handler_table(
            again.context, again.benches, again.runs, again.watcher, again.retention
        )
        with pytest.raises(KbdError):
            await again.benches.open(broken.id)
        found = (await table[WorkbenchList](WorkbenchList(), _Nobody())).workbenches
        rows = [msgspec.json.decode(row, type=WorkbenchRow) for row in found]
        told = {row.id: (row.name, row.files, row.reason) for row in rows}
        assert told[whole.id] == ("test", 1, msgspec.UNSET)
        assert told[broken.id][:2] == ("test", 0)
        assert str(tmp_path) not in str(told[broken.id][2])
        assert (await table[RunList](RunList(), _Nobody())).runs == ()
        async with aclosing(
            await LogMethods(again.context, again.benches).follow("*", {})
        ) as stream:
            async for item in stream:
                if isinstance(item, Synced):
                    assert set(item.cursors) == {"daemon", broken.id, whole.id}
                    break


async def test_a_log_that_is_deleted_while_it_is_read_ends_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who follows all logs goes on with the others."""
    async with supervised(tmp_path / "h") as running:
        gone, stays = await running.bench(), await running.bench()
        events = await running.benches.event_rows(gone.id)
        read = events.rows

        async def read_when_deleted(after: Seq, limit: int) -> tuple[bytes, ...]:
            await running.benches.delete(gone.id)
            return await read(after, limit)

        monkeypatch.setattr(events, "rows", read_when_deleted)
        heard = set()
        async with aclosing(
            await LogMethods(running.context, running.benches).follow("*", {})
        ) as stream:
            async for item in stream:
                if isinstance(item, Synced):
                    break
                heard.add(item.workbench_id)

    assert heard == {"daemon", stays.id}
