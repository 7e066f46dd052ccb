"""Snapshots of folded state: the state from one and the log's rest is the state from the log."""

import shutil
from pathlib import Path

import anyio
import msgspec
import pytest

from events.logs import Unsynced
from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.log_outline import LogOutline
from kbd.core.domain.long_lists import copy_state, encode_state
from kbd.core.runtime.clock import SystemClock
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.store.log_reader import LogReader
from kbd.core.store.snapshot_files import load_snapshot
from kbd.core.store.snapshots import (
    CLOSED_EVENTS,
    LogFold,
    Snapshots,
    daemon_snapshots,
    workbench_snapshots,
)
from kbd.core.store.snapshotting import SnapshotScheduler
from kbd.events import EventLog, codec
from kbd.events.base import Recorded
from kbd.events.watches import FileLanded, WatchAdded, WatchRule, WatchRunFinished, WatchRunStarted
from kbd.events.workbenches import DaemonStarted
from kbd.types import RunId, Seq, WatchId, WorkbenchId
from logs.make_histories import HISTORIES, History, plain, states

WATCH = WatchId("ffeeddccbbaa9988")
BENCH = WorkbenchId("00112233445566ff")
encoded = encode_state


def landings(first: int, count: int) -> list[Recorded]:
    """A watch at the beginning of a log, files that land, and runs on every second of them."""
    events: list[Recorded] = []

    def add(event: WatchAdded | FileLanded | WatchRunStarted | WatchRunFinished) -> Seq:
        events.append(codec.wrap_event(event, 1_700_000_000_000_000 + first + len(events)))
        return Seq(first + len(events) - 1)

    if first == 1:
        add(WatchAdded(WATCH, WatchRule("inbox", "/srv/in", "sum it up")))
    while len(events) < count:
        n = first + len(events)
        landed = (add(FileLanded(WATCH, f"file{n}.csv", f"{n:064x}", 12, f"12:17:{n}:13")),)
        if n % 2:
            add(WatchRunStarted(WATCH, landed, BENCH))
            add(WatchRunFinished(WATCH, landed, BENCH, "published", RunId("1")))
    return events[:count]


def grown(log: EventLog, count: int) -> DaemonState:
    """Append so many events in commits of up to 100; return the state of the whole log."""
    for done in range(0, count, 100):
        log.append(landings(log.seq + 1, min(100, count - done)))
    state = DaemonState()
    log.replay(lambda seq, record: fold_daemon(state, seq, record))
    return state


def in_folder(folder: Path) -> Snapshots[DaemonState]:
    """The snapshots of a daemon's log in a folder."""
    return daemon_snapshots(folder / "log", folder / "snap")


def names(folder: Path) -> list[str]:
    """The snapshots that are there."""
    return sorted(path.name for path in (folder / "snap").glob("*"))


def restored(folder: Path) -> DaemonState:
    """The state that a start begins with, folded on to the log's end."""
    log, fold = in_folder(folder).open()
    state = fold.state if fold is not None else DaemonState()
    log.replay(lambda seq, record: fold_daemon(state, seq, record), state.seq)
    log.close()
    return state


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)
def test_every_state_goes_on_from_its_snapshot(history: History) -> None:
    """At every event of either sort of log: encoded, decoded and folded on it is the same."""
    records = [record for commit in history.commits for record in commit]
    expected = states(history)
    state = history.shape()
    for seq, record in enumerate(records, 1):
        state = copy_state(state, history.shape)
        history.fold(state, Seq(seq), record)
        assert plain(state) == expected[seq - 1]


def test_the_snapshot_of_a_closed_log_is_used_and_not_needed(tmp_path: Path) -> None:
    """After much happened one is kept; with all of them deleted the state is equal to the byte."""
    kept = in_folder(tmp_path)
    log, fold = kept.open()
    assert fold is None
    outline = LogReader(log).outline
    state = grown(log, CLOSED_EVENTS - 10)
    kept.save_last(state, outline, log.head)
    assert names(tmp_path) == []
    state = grown(log, 10)
    kept.save_last(state, outline, log.head)
    assert names(tmp_path) == [f"{CLOSED_EVENTS:020}.snap"]
    kept.save_last(state, outline, log.head)
    state = grown(log, 20)
    log.close()

    assert encoded(restored(tmp_path)) == encoded(state)
    _, fold = in_folder(tmp_path).open()
    assert fold is not None
    assert fold.state.seq == CLOSED_EVENTS
    shutil.rmtree(tmp_path / "snap")
    assert encoded(restored(tmp_path)) == encoded(state)


def test_a_snapshot_is_renewed_from_the_one_before_while_the_log_is_written(tmp_path: Path) -> None:
    """It is the state at the event that was asked for, whatever is appended behind it."""
    log = EventLog.open(tmp_path / "log", segment_bytes=20_000, disk=Unsynced())
    state, head = DaemonState(), b""
    for _ in range(3):
        state = grown(log, 150)
        until, head = log.seq, log.head
        log.append(landings(until + 1, 7))
        assert in_folder(tmp_path).renew(until)
        found = load_snapshot(tmp_path / "snap", in_folder(tmp_path)._schema())
        assert found is not None
        assert found[:2] == (until, head)
        shown, fold = in_folder(tmp_path).open()
        shown.close()
        assert fold is not None
        assert encoded(fold.state) == encoded(state)
    assert len(list((tmp_path / "log").glob("*.kbl"))) > 2
    # From the one before: what that alone says is in the next.
    marked = msgspec.structs.replace(state, model_id="from the snapshot")
    in_folder(tmp_path).save(LogFold(marked, LogReader(log).outline()), head)
    assert in_folder(tmp_path).renew(log.seq)
    log.close()
    assert restored(tmp_path).model_id == "from the snapshot"


def test_a_snapshot_of_another_log_is_not_built_on(tmp_path: Path) -> None:
    """It is folded from the beginning then; and what the log does not reach is not kept."""
    log = EventLog.open(tmp_path / "log", disk=Unsynced())
    grown(log, 50)
    wrong = DaemonState(seq=Seq(30), model_id="of another log")
    assert in_folder(tmp_path).save(LogFold(wrong, LogOutline(seq=Seq(30))), b"?" * 32)
    state = grown(log, 50)
    assert in_folder(tmp_path).renew(log.seq)
    log.close()
    assert encoded(restored(tmp_path)) == encoded(state)
    before = names(tmp_path)
    assert not in_folder(tmp_path).renew(Seq(200))
    assert not in_folder(tmp_path / "nowhere").renew(Seq(1))
    assert names(tmp_path) == before


@pytest.mark.anyio
async def test_a_log_that_grows_has_snapshots_before_it_is_closed(tmp_path: Path) -> None:
    """A process of its own makes them; who is killed then starts with the newest."""
    kept = in_folder(tmp_path)
    log, _ = kept.open()
    keeper: Keeper[DaemonState, DaemonCommand] = Keeper(
        Journal(log), blank=DaemonState, fold=fold_daemon, decide=decide_daemon, clock=SystemClock()
    )
    await keeper.load()
    renewal = SnapshotScheduler(kept, log, after=20)
    keeper.observe(renewal.observe)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        tasks.start_soon(renewal.run)
        for n in range(19):
            await keeper.submit(RecordDaemon((DaemonStarted(n, 1, "v", "asyncio"),)))
        assert kept.since == 0
        await keeper.submit(RecordDaemon((DaemonStarted(20, 1, "v", "asyncio"),)))
        with anyio.fail_after(30):
            while not kept.since:  # noqa: ASYNC110 - what is waited for is another process
                await anyio.sleep(0.02)
        assert kept.since == 20
        tasks.cancel_scope.cancel()
    state = encoded(keeper.state)
    await keeper.journal.aclose()

    assert names(tmp_path) == [f"{20:020}.snap"]
    _, fold = in_folder(tmp_path).open()
    assert fold is not None
    assert encoded(fold.state) == state


def test_workbenches_and_the_daemon_have_shapes_of_their_own(tmp_path: Path) -> None:
    """A snapshot of one is never taken for one of the other."""
    places = (tmp_path / "log", tmp_path / "snap")
    assert daemon_snapshots(*places)._schema() != workbench_snapshots(*places)._schema()
