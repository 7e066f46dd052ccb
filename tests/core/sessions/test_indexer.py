"""The index follows the logs: what a list says is what the states are, whatever happens between.

The rows are compared with those that are made of the states that the logs are folded to.
"""

import math
import shutil
import sqlite3
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec
import pytest

from kbd.core.api.daemon import handler_table
from kbd.core.api.logs import LogMethods
from kbd.core.api.runs import WorkshopMethods
from kbd.core.api.workbenches import WorkbenchMethods
from kbd.core.domain.commands import RecordFacts, SendMessage, StartRun
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.daemon_state import KnownWorkbench
from kbd.core.domain.found_damage import EndVerification, FoundDamage
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.home_index.database import HomeIndex
from kbd.core.home_index.reader import read_workbench
from kbd.core.home_index.reader_process import read_closed_logs
from kbd.core.home_index.rows import ChangedRuns, indexed_run, indexed_workbench
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import Settings, WatchSettings
from kbd.core.server.dispatch import EventBatch, Session, Synced
from kbd.core.sessions import indexer
from kbd.core.sessions.approvals import request_publish
from kbd.core.sessions.indexer import HomeIndexer
from kbd.errors import KbdError
from kbd.events.scan import read_log
from kbd.events.watches import WatchRunStarted
from kbd.events.workbenches import ConversationRewound, FileAdded, RunsThen
from kbd.requests.approvals import ApprovalList
from kbd.requests.workbenches import WorkbenchesFound, WorkbenchList, WorkbenchRow
from kbd.requests.workshop import RunList, RunRow, RunsFound
from kbd.types import FileName, Seq, WatchId, WorkbenchId
from logs.make_histories import HERE, HISTORIES
from supervised import Supervised, add, crashed, draft, supervised

pytestmark = pytest.mark.anyio

NOBODY = cast(Session, None)

OF_WORKBENCHES = [history for history in HISTORIES if history.shape is WorkbenchState]

FEW_OPEN = Settings(watch=WatchSettings(open_workbenches=1))


async def listed(running: Supervised, **asked: Any) -> list[WorkbenchRow]:
    """Return the rows of a list of workbenches."""
    found = await _list(running, **asked)
    return [_decoded(row, WorkbenchRow) for row in found.workbenches]


async def _list(running: Supervised, **asked: Any) -> WorkbenchesFound:
    methods = WorkbenchMethods(running.context, running.benches)
    return await methods.list(WorkbenchList(**asked), NOBODY)


async def runs_of(running: Supervised, **asked: Any) -> list[RunRow]:
    """Return the rows of a list of runs."""
    methods = WorkshopMethods(running.context, running.benches, running.runs)
    found: RunsFound = await methods.list(RunList(**asked), NOBODY)
    return [_decoded(row, RunRow) for row in found.runs]


def _decoded(row: Any, kind: type[Any]) -> Any:
    packed = row if isinstance(row, msgspec.Raw) else msgspec.json.encode(row)
    return msgspec.json.decode(packed, type=kind)


def true_rows(running: Supervised) -> list[WorkbenchRow]:
    """Return the rows that follow from the logs as they lie on disk."""
    return [
        msgspec.json.decode(read_workbench(running.home, known).row, type=WorkbenchRow)
        for known in running.benches.daemon.state.workbenches.values()
    ]


def _but_size(rows: list[WorkbenchRow]) -> list[WorkbenchRow]:
    return [msgspec.structs.replace(row, disk_bytes=0) for row in rows]


async def _until_listed(running: Supervised, files: list[int]) -> None:
    """Wait until the list says that the workbenches have so many files each."""
    with running.context.index.followed() as changed, anyio.fail_after(60):
        while [row.files for row in await listed(running)] != files:
            await changed.take()


async def _events_of_all(running: Supervised, until: int) -> list[tuple[str, int]]:
    """Return the first events that a follower of all is told of: log and number."""
    methods = LogMethods(running.context, running.benches)
    told: list[tuple[str, int]] = []
    async with aclosing(await methods.follow("*", {})) as stream:
        async for item in stream:
            if isinstance(item, EventBatch):
                told += [(item.workbench_id, item.first_seq + at) for at in range(len(item.events))]
            elif isinstance(item, Synced) and until == 0:
                return told
            if until and len(told) >= until:
                return told
    return told


async def test_a_list_says_what_the_states_are(tmp_path: Path) -> None:
    """At once after each change, while it is open, when it is closed, and at the next start."""
    async with supervised(tmp_path / "h") as running:
        first = await running.bench(a__txt="x")
        await running.bench()
        assert [row.status for row in await listed(running)] == ["idle", "idle"]
        await draft(first, a__txt="y", b__txt="new")
        assert [(row.status, row.files) for row in await listed(running)] == [
            ("draft", 2), ("idle", 0),
        ]  # fmt: skip
        await first.keeper.submit(SendMessage("u1", "please do"))
        await first.keeper.submit(StartRun("u1", "none:none"))
        assert (await listed(running))[0].runs == 1
        await running.runs.wait(first, 1)
        assert (await listed(running))[0].last_seq == first.state.seq
        assert _but_size(await listed(running)) == _but_size(true_rows(running))
    async with supervised(tmp_path / "h") as again:
        assert _but_size(await listed(again)) == _but_size(true_rows(again))
        assert again.benches.running() == ()


async def test_rows_of_runs_are_those_of_run_get(tmp_path: Path) -> None:
    """Of each run, in a workbench that is open or closed; what failed is found by its words."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        for number in (1, 2):
            await bench.keeper.submit(SendMessage(f"u{number}", f"request {number}"))
            await bench.keeper.submit(StartRun(f"u{number}", f"none:{number}"))
            await running.runs.wait(bench, number)
        rows = await runs_of(running)
        assert [row.run_id for row in rows] == [f"{bench.id}-1", f"{bench.id}-2"]
        assert [row.status for row in rows] == ["failed", "failed"]
        assert [row.request for row in await runs_of(running, query="TEST 2")] == ["request 2"]
        assert rows[0].workbench_name == "test"
        assert rows[0].budget is not msgspec.UNSET
    async with supervised(tmp_path / "h") as again:
        assert [row.run_id for row in await runs_of(again)] == [row.run_id for row in rows]
        assert again.benches.running() == ()


async def test_many_runs_are_written_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an undo, and where the index knows nothing of an open workbench, all rows are there."""
    monkeypatch.setattr(indexer, "MAX_RUN_ROWS", 3)
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        for number in range(1, 12):
            await bench.keeper.submit(SendMessage(f"u{number}", f"request {number}"))
            await bench.keeper.submit(StartRun(f"u{number}", "none:none"))
            await running.runs.wait(bench, number)
        assert [row.request for row in await runs_of(running)] == [
            f"request {number}" for number in range(1, 12)
        ]
        asked = bench.state.heard["u4"]
        rewound = ConversationRewound("u4", asked.seq, runs=RunsThen(count=3))
        await bench.keeper.submit(RecordFacts((rewound,)))
        assert [row.undone for row in await runs_of(running)] == [False] * 3 + [True] * 8
        await running.context.index._replace("a test")
        assert [row.undone for row in await runs_of(running)] == [False] * 3 + [True] * 8


@pytest.mark.parametrize("history", OF_WORKBENCHES, ids=lambda history: history.name)
def test_the_runs_that_an_event_changes_are_known(history: Any) -> None:
    """Rows that are only written where `ChangedRuns` says so are those of the state at the end."""
    state, rows, events = WorkbenchState(), {}, []
    read_log(HERE / history.name, lambda seq, record: events.append((seq, record)))
    for seq, record in events:
        changed = ChangedRuns()
        history.fold(state, seq, record)
        changed.note(record)
        for number in changed.numbers(state):
            rows[number] = indexed_run("w", state, state.run(number), "")
    assert rows == {run.number: indexed_run("w", state, run, "") for run in state.runs}


@pytest.mark.parametrize("history", OF_WORKBENCHES, ids=lambda history: history.name)
def test_a_closed_log_is_read_as_an_open_one(history: Any, tmp_path: Path) -> None:
    """The reader's row is that of the state; it writes nothing."""
    home = Home(folder=tmp_path, socket=tmp_path / "s")
    known = KnownWorkbench(WorkbenchId("1" * 16), "w", 5)
    shutil.copytree(HERE / history.name, home.workbench(known.workbench_id).log)
    before = sorted(path.name for path in home.workbench(known.workbench_id).log.iterdir())
    state = WorkbenchState()
    read_log(HERE / history.name, lambda seq, record: history.fold(state, seq, record))
    row = read_workbench(home, known)
    expected = indexed_workbench(known, state, "", row.sizes, state.runs, mark=row.mark)
    assert row == expected
    assert sorted(path.name for path in home.workbench(known.workbench_id).log.iterdir()) == before


async def test_a_search_looks_at_every_file_and_a_long_request(tmp_path: Path) -> None:
    """A name behind thousands of others is found, and a word far into what was asked."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        blob = await bench.blobs.put(b"x")
        names = [FileName(f"{'long ' * 20}{number:03}.txt") for number in range(300)]
        added = tuple(FileAdded(name, blob, 1) for name in (*names, FileName("zebra.txt")))
        await bench.keeper.submit(RecordFacts(added))
        assert [row.id for row in await listed(running, query="ZEBRA")] == [bench.id]
        assert await listed(running, query="zebras") == []
        await bench.keeper.submit(SendMessage("u1", f"{'very ' * 5000}much"))
        await bench.keeper.submit(StartRun("u1", "none:none"))
        await running.runs.wait(bench, 1)
        assert [row.run_id for row in await runs_of(running, query="much very")] == [
            f"{bench.id}-1"
        ]


async def test_an_index_that_is_lost_is_made_anew(tmp_path: Path) -> None:
    """Without the file a start lists the same: small homes are waited for."""
    async with supervised(tmp_path / "h") as running:
        for name in ("a", "b", "c"):
            await running.bench(**{f"{name}__txt": name})
        before = await listed(running)
    (tmp_path / "h" / "daemon" / "index.sqlite3").unlink()
    async with supervised(tmp_path / "h") as again:
        assert _but_size(await listed(again)) == _but_size(before)
        assert (await _list(again)).unread == 0
        assert again.benches.running() == ()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("harm", ["gone", "garbage", "dropped"])
async def test_an_index_that_fails_is_replaced_under_way(harm: str, tmp_path: Path) -> None:
    """Whatever becomes of its file while it is used: the next list is right."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        closed = await running.bench(b__txt="y")
        await listed(running)
        path = running.home.index_file
        if harm == "gone":
            path.unlink()
        elif harm == "garbage":
            path.write_bytes(b"garbage" * 4000)
        else:
            with sqlite3.connect(path) as beside:
                beside.execute("DROP TABLE workbenches")
            beside.close()
        await add(bench, "c.txt", "z")
        assert [row.files for row in await listed(running)] == [2, 1]
        assert [row.id for row in await listed(running)] == [bench.id, closed.id]
    async with supervised(tmp_path / "h") as again:
        assert [row.files for row in await listed(again)] == [2, 1]


async def test_an_index_of_another_day_is_mended(tmp_path: Path) -> None:
    """What a crash of the machine may leave: rows older than the logs, which their heads show."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        other = await running.bench()
    shutil.copy(tmp_path / "h" / "daemon" / "index.sqlite3", tmp_path / "old")
    async with supervised(tmp_path / "h") as running:
        await add(await running.benches.open(bench.id), "b.txt", "y")
    shutil.copy(tmp_path / "old", tmp_path / "h" / "daemon" / "index.sqlite3")
    async with supervised(tmp_path / "h") as again:
        await _until_listed(again, [2, 0])
        assert again.benches.running() == ()
        assert [row.id for row in await listed(again)] == [bench.id, other.id]


async def test_a_crash_leaves_no_row_behind_its_log(tmp_path: Path) -> None:
    """A home as a kill leaves it: rows that were not written yet are, after the start."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await listed(running)
        await draft(bench, a__txt="y")
        left = crashed(running.home, tmp_path / "left")
    async with supervised(left) as again:
        assert [row.status for row in await listed(again)] == ["draft"]


async def test_a_crash_leaves_each_workbench_to_its_watch(tmp_path: Path) -> None:
    """Also one that was open, whose log need not be read by the next daemon."""
    watch = WatchId("0123456789abcdef")
    async with supervised(tmp_path / "h") as running:
        await listed(running)
        bench = await running.bench(a__txt="x")
        started = WatchRunStarted(watch, (Seq(1),), bench.id)
        await running.benches.daemon.submit(RecordDaemon((started,)))
        left = crashed(running.home, tmp_path / "left")
        # As the next daemon has it, with the workbench open before the index is.
        later = HomeIndexer(Home(folder=left, socket=left / "s"), running.benches.daemon)
        later.observe(bench)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later.run)
            page, _ = await later.workbenches(WorkbenchList(watch_id=watch))
            assert page.total == 1
            tasks.cancel_scope.cancel()


async def test_who_hangs_up_takes_no_row_along(tmp_path: Path) -> None:
    """A list that is canceled at any point leaves the next one right."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        await listed(running)
        for steps in range(20):
            await add(bench, f"{steps}.txt", "x")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listed, running)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            assert [row.files for row in await listed(running)] == [steps + 1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["put", "mark", "marks", "assign", "reconcile"])
async def test_an_index_that_cannot_be_written_ends_nothing(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon works on, a list is refused with its code, and is right when it can be written."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await listed(running)

        def fail(*_arguments: Any, **_named: Any) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        with monkeypatch.context() as broken:
            broken.setattr(HomeIndex, method, fail)
            await add(bench, "b.txt", "y")
            if method in ("put", "reconcile"):
                with suppress(KbdError):
                    await listed(running)
            other = await running.bench(c__txt="z")
            await running.benches.release(other.id, math.inf)
        assert [row.files for row in await listed(running)] == [2, 1]


async def test_what_was_deleted_is_not_listed(tmp_path: Path) -> None:
    """Neither at once, nor after the rows of a workbench that was open are written."""
    async with supervised(tmp_path / "h") as running:
        gone, stays = [await running.bench(a__txt="x") for _ in range(2)]
        await running.benches.delete(gone.id)
        assert [row.id for row in await listed(running)] == [stays.id]
    async with supervised(tmp_path / "h") as again:
        assert [row.id for row in await listed(again)] == [stays.id]


async def test_a_damaged_workbench_is_listed_as_damaged(tmp_path: Path) -> None:
    """With the reason, without being opened; and none of its runs is under way for ever."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await bench.keeper.submit(SendMessage("u1", "go"))
        await bench.keeper.submit(StartRun("u1", "none:none"))
        left = crashed(running.home, tmp_path / "left")
    segment = next((left / "workbenches" / bench.id / "log").glob("*.seg*"), None) or next(
        path
        for path in (left / "workbenches" / bench.id / "log").iterdir()
        if path.name != "anchor"
    )
    data = bytearray(segment.read_bytes())
    data[300] ^= 1
    segment.write_bytes(data)
    (left / "workbenches" / bench.id / "open").unlink()
    async with supervised(left) as again:
        (row,) = await listed(again)
        assert (row.status, bool(row.reason)) == ("damaged", True)
        assert (await _list(again)).damaged == 1
        assert [run.status for run in await runs_of(again)] in ([], ["interrupted"])
        assert again.benches.running() == ()
        await again.benches.open(bench.id)
        assert [each.status for each in await listed(again)] == ["damaged"]


async def test_decisions_that_wait_show(tmp_path: Path) -> None:
    """In the status and in the list of approvals, which opens nothing, until they are decided."""

    async def asked(running: Supervised) -> list[str]:
        table = handler_table(
            running.context, running.benches, running.runs, running.watcher, running.retention
        )
        found = await table[ApprovalList](ApprovalList(), NOBODY)
        return [row.workbench_id for row in found.approvals]

    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await running.bench()
        await draft(bench, a__txt="y")
        assert await asked(running) == []
        await request_publish(running.context, bench, None)
        assert [row.status for row in await listed(running)] == ["waiting", "idle"]
        assert await asked(running) == [bench.id]
    async with supervised(tmp_path / "h") as again:
        assert await asked(again) == [bench.id]
        assert again.benches.running() == ()
        # What was asked is not there to be decided any more.
        await draft(await again.benches.open(bench.id), a__txt="z")
        assert await asked(again) == []
        assert [row.status for row in await listed(again)] == ["draft", "idle"]


async def test_following_all_opens_none(tmp_path: Path) -> None:
    """History of closed logs is read as it lies there; what is recorded later is told."""
    async with supervised(tmp_path / "h") as making:
        ids = [(await making.bench(a__txt="x")).id for _ in range(3)]
    async with supervised(tmp_path / "h", FEW_OPEN) as running:
        told = await _events_of_all(running, 0)
        assert {log_id for log_id, _ in told} == {"daemon", *ids}
        assert running.benches.running() == ()
        ends: dict[str, Seq] = {}
        for log_id, seq in told:
            ends[log_id] = Seq(max(seq, ends.get(log_id, 0)))
        methods = LogMethods(running.context, running.benches)
        stream = await methods.follow("*", ends)
        async with aclosing(stream):
            assert await anext(stream) == Synced(ends)
            bench = await running.benches.open(ids[1])
            await bench.keeper.submit(SendMessage("u1", "hello"))
            batch = await anext(stream)
            while isinstance(batch, EventBatch) and batch.workbench_id != ids[1]:
                batch = await anext(stream)
            assert isinstance(batch, EventBatch)
            assert batch.first_seq == ends[ids[1]] + 1


async def test_a_start_waits_for_no_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While logs are still to be read, a list of many says so, and has their names."""
    async with supervised(tmp_path / "h") as running:
        for _ in range(3):
            await running.bench(a__txt="x")
    (tmp_path / "h" / "daemon" / "index.sqlite3").unlink()
    reading, go_on = anyio.Event(), anyio.Event()
    read = read_closed_logs

    async def slow(*arguments: Any) -> bool:
        reading.set()
        await go_on.wait()
        return await read(*arguments)

    monkeypatch.setattr(indexer, "read_closed_logs", slow)
    monkeypatch.setattr(indexer, "PATIENT_UNREAD", 2)
    async with supervised(tmp_path / "h") as again:
        await reading.wait()
        found = await _list(again)
        assert found.unread == 3
        rows = [_decoded(row, WorkbenchRow) for row in found.workbenches]
        assert [(row.name, row.status) for row in rows] == [("test", "unread")] * 3
        # One that is opened meanwhile is as it is, whatever the reader says later.
        bench = await again.benches.open(rows[0].id)
        await add(bench, "b.txt", "y")
        assert [row.files for row in await listed(again)] == [2, 0, 0]
        table = handler_table(
            again.context, again.benches, again.runs, again.watcher, again.retention
        )
        approvals = await table[ApprovalList](ApprovalList(), NOBODY)
        assert approvals.unread == (rows[1].id, rows[2].id)
        assert await runs_of(again, workbench_id=rows[1].id) == []
        assert {each.id for each in again.benches.running()} == {rows[0].id, rows[1].id}
        go_on.set()
        await _until_listed(again, [2, 1, 1])


async def test_a_reader_that_dies_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists answer meanwhile, without what it did not read."""
    async with supervised(tmp_path / "h") as running:
        await running.bench(a__txt="x")
    (tmp_path / "h" / "daemon" / "index.sqlite3").unlink()
    read, tries = read_closed_logs, list[int]()

    async def dying(*arguments: Any) -> bool:
        tries.append(1)
        return False if len(tries) == 1 else await read(*arguments)

    monkeypatch.setattr(indexer, "read_closed_logs", dying)
    monkeypatch.setattr(indexer, "RETRY_S", 0.2)
    async with supervised(tmp_path / "h") as again:
        await _until_listed(again, [1])
        assert len(tries) >= 2


async def test_found_damage_is_listed_of_open_and_closed_ones(tmp_path: Path) -> None:
    """At once, and no more when it is mended; over a restart, and whatever a row said before."""
    fault = FoundDamage("blob missing", "aa/bb", 0, 2, "it is not there")

    async def find(running: Supervised, *faults: FoundDamage) -> None:
        for each in running.benches.ids():
            await running.benches.daemon.submit(EndVerification(each, faults))

    async with supervised(tmp_path / "h", FEW_OPEN) as running:
        await running.bench(a__txt="x")
        await running.bench()
        # One of them is closed again.
        await running.benches.close_idle()
        assert [row.status for row in await listed(running)] == ["idle", "idle"]
        await find(running, fault)
        for row in await listed(running):
            assert (row.status, row.is_read_only) == ("damaged", False)
            assert "blob missing" in str(row.reason)
        assert (await _list(running)).damaged == 2
    async with supervised(tmp_path / "h") as again:
        assert [row.status for row in await listed(again)] == ["damaged", "damaged"]
        await find(again)
        assert [row.status for row in await listed(again)] == ["idle", "idle"]
    async with supervised(tmp_path / "h") as last:
        assert [row.status for row in await listed(last)] == ["idle", "idle"]
        assert last.benches.running() == ()
