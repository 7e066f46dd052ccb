"""The folds: every event has one, and the state they give is what the log says."""

import msgspec

from folding import Folded, blob
from kbd.core.domain.daemon_state import DAEMON_FOLDS, DaemonState, fold_daemon
from kbd.core.domain.fold import FOLDS, fold_workbench
from kbd.core.domain.long_lists import copy_state
from kbd.core.domain.run_state import ItemState, RunStatus, item_label
from kbd.core.domain.watch_state import WATCH_FOLDS, WatchStatus
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.events import watches
from kbd.events.base import ReplyCall
from kbd.events.codec import wrap_event
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.restores import HomeRestored
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemsAdded,
    ItemStarted,
    ModelReplied,
    ModelRequested,
    PhaseStarted,
    PlanWritten,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from kbd.events.vocabulary import VERSIONS
from kbd.events.workbenches import DaemonStarted, DaemonStopped, WorkbenchCreated
from kbd.messages import Usage
from kbd.types import CallId, FileName, Phase, Seq
from logs.make_golden import ADDED, commits

CALL = CallId("c1")


def test_every_event_has_a_fold() -> None:
    """No type of the vocabulary is forgotten, and no fold is of a type outside it."""
    assert set(FOLDS) == set(VERSIONS)
    assert set(DAEMON_FOLDS) <= set(VERSIONS)


def test_every_event_of_the_daemons_log_has_one_fold() -> None:
    """All that watches record changes the daemon's state in one way, and so do starts and stops."""
    of_watches = {kind for kind in VERSIONS if kind.__module__ == watches.__name__}

    assert set(WATCH_FOLDS) == of_watches
    assert not set(WATCH_FOLDS) & set(DAEMON_FOLDS)
    assert {DaemonStarted, DaemonStopped, WorkbenchCreated} <= set(DAEMON_FOLDS)


def test_no_event_of_a_watch_changes_a_workbench() -> None:
    """The log of a workbench has none of them; one that it had would change nothing."""
    for commit in ADDED:
        for event in commit:
            if type(event) in WATCH_FOLDS:
                state, blank = WorkbenchState(), WorkbenchState(updated_at_us=1)
                fold_workbench(state, Seq(1), wrap_event(event, 1))
                blank.seq = Seq(1)
                assert blank == state


def test_the_daemons_log_reads_what_is_golden() -> None:
    """Every golden event can be folded by the daemon, those of other logs to no change."""
    state = DaemonState()
    for number, record in enumerate((each for commit in commits() for each in commit), 1):
        before = msgspec.msgpack.encode(state.watching)
        fold_daemon(state, Seq(number), record)
        changed = before != msgspec.msgpack.encode(state.watching)
        assert not changed or type(record.data) in {*WATCH_FOLDS, HomeRestored}

    assert state.seq == len([record for commit in commits() for record in commit])
    # One was removed, with an outcome still to be told: it went with the restore.
    statuses = [watch.status for watch in state.watching.watches.values()]
    assert statuses == [WatchStatus.ACTIVE] * 4
    assert len(state.watching.written) == 2


def _in_item() -> Folded:
    folded = Folded()
    folded.add("a.csv", "a")
    folded.apply(
        RunStarted("u1", "p:m"),
        PlanWritten("task", ("one", "two")),
        PhaseStarted(Phase.IMPLEMENT),
        ItemStarted(1),
        run=1,
    )
    return folded


def test_a_call_is_open_until_it_returns() -> None:
    """A call that started and did not return is still to be run; its entry id is kept."""
    folded = _in_item()
    replied = ModelReplied(calls=(ReplyCall(CALL, "t", "{}"),), usage=Usage(3, 4))
    folded.apply(ModelRequested("p:m", 1, blob("b")), replied, ToolCalled(CALL, 1, "t"), run=1)

    turn = folded.state.run(1).chain.turns[0]
    assert (replied.calls, {CALL: 1}) == (turn.open_calls(), turn.entries)

    folded.apply(ToolReturned(CALL, 1, ok=True, shown="{}", fingerprint="f"), run=1)

    assert turn.open_calls() == ()
    assert {1: folded.state.seq} == folded.state.entries
    assert (["f"], Usage(3, 4)) == (
        folded.state.run(1).chain.fingerprints,
        folded.state.run(1).usage,
    )


def test_a_change_undone_closes_the_draft() -> None:
    """There is no draft without a difference."""
    folded = _in_item()
    name = FileName("a.csv")
    folded.apply(DraftOpened("d"), FileChanged(name, blob("a"), blob("b"), 5), run=1)

    assert folded.state.draft is not None
    assert ([1], blob("a")) == (
        folded.state.draft.files[name].items,
        folded.state.draft.files[name].base,
    )

    folded.apply(FileChanged(name, blob("b"), blob("a"), 10, cause="rollback"), run=1)

    assert folded.state.draft is None


def test_items_end_done_or_failed() -> None:
    """Items keep their answer or their reason, and additions come after the last one."""
    folded = _in_item()
    folded.apply(
        ItemCompleted(1, "did it"), ItemStarted(2), ItemFailed(2, "TURN_LIMIT", "no"), run=1
    )
    folded.apply(ItemsAdded(("three",)), run=1)

    plan = folded.state.run(1).plan
    assert plan is not None
    assert [item.state for item in plan.items] == [ItemState.DONE, ItemState.FAILED, ItemState.OPEN]
    assert (
        plan.items[0].answer,
        plan.items[1].reason,
        plan.items[1].failures,
        plan.original_count,
    ) == ("did it", "no", 1, 2)


def test_a_failed_run_can_go_on() -> None:
    """Resuming clears the error but keeps what it ended on, for its chain is a dead end."""
    folded = _in_item()
    folded.apply(RunFailed("TURN_LIMIT", "no", "rpi_implement"), run=1)

    assert folded.state.run(1).status == RunStatus.FAILED

    folded.apply(RunResumed("p:m2"), run=1)

    run = folded.state.run(1)
    assert (
        run.status,
        run.error,
        run.dead_end,
        run.model_id,
    ) == (RunStatus.RUNNING, None, "TURN_LIMIT", "p:m2")

    folded.apply(ItemStarted(1), RunFinished(has_draft=False), run=1)

    assert (run.dead_end, run.status) == ("", RunStatus.FINISHED)


def test_state_survives_a_snapshot() -> None:
    """A state encoded and decoded is the same state: snapshots are caches of it."""
    folded = _in_item()
    folded.apply(DraftOpened("d"), FileChanged(FileName("n"), None, blob("b"), 5), run=1)

    copy = copy_state(folded.state, WorkbenchState)

    assert folded.state == copy


def test_labels_are_short_names() -> None:
    """Progress shows an item's text up to the dash, without its kind, at most 80 characters."""
    assert item_label("Entity: Groceries — make the sheet") == "Groceries"
    assert item_label("Final: summary") == "summary"
    assert len(item_label("x" * 200)) == 80
