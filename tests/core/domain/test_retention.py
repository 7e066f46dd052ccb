"""Retention, decided on paper: what holds a workbench, whose word counts, when what is due."""

from collections.abc import Callable

import msgspec
import pytest

from folding import BENCH, Folded, blob
from kbd.core.domain.daemon_state import (
    CLOCK_GAP_US,
    CLOCK_SLIP_US,
    DaemonState,
    KnownWorkbench,
    fold_daemon,
)
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.retention import (
    DAY_US,
    Hold,
    Policies,
    Settling,
    due_at_us,
    find_hold,
    hold_of_known,
    landing_holds,
    may_be_dismissed,
    settling_of,
    why_archived,
    why_removed,
)
from kbd.core.domain.watch_state import Watch
from kbd.events.approvals import ApprovalRequested, AskedFile
from kbd.events.base import Actor, FileVersion
from kbd.events.codec import wrap_event
from kbd.events.drafts import (
    CheckpointCreated,
    DraftDiscarded,
    DraftOpened,
    EffectIntended,
    FileChanged,
    PlannedFile,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.runs import (
    RunCancelled,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
)
from kbd.events.vocabulary import Event
from kbd.events.watches import (
    FileLanded,
    LandingsDismissed,
    LandingsRetried,
    RuleRetention,
    WatchAdded,
    WatchRemoved,
    WatchRule,
    WatchRunFinished,
    WatchRunStarted,
)
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ConversationRewound,
    FileAdded,
    RetentionPlanned,
    RunsThen,
    UserMessageAdded,
    WorkbenchCreated,
)
from kbd.types import FileName, Seq, WatchId, WorkbenchId

PERSON = Actor("kbd", 1)
WATCH = WatchId("ffeeddccbbaa9988")
OUT = FileName("out.txt")


class Bench(Folded):
    """A workbench whose events may be asked for by a person."""

    def by(self, actor: Actor | None, *events: Event, run: int = 0) -> None:
        """Fold events that a client asked for, or nobody."""
        for event in events:
            self.time_us += 1
            record = wrap_event(event, self.time_us, run, 0, actor)
            fold_workbench(self.state, Seq(self.state.seq + 1), record)

    def ran(self, end: Event, number: int = 1) -> None:
        """Have a run come to an end."""
        self.apply(UserMessageAdded(f"u{number}", "do it"))
        self.apply(RunStarted(f"u{number}", "p:m"), run=number)
        if isinstance(end, RunFinished):
            self.apply(AssistantMessageAdded(f"a{number}", "done"), run=number)
        self.apply(end, run=number)

    def drafted(self) -> None:
        """Have a run finish and leave a draft."""
        self.ran(RunFinished(has_draft=True))
        self.apply(DraftOpened("d1"), FileChanged(OUT, None, blob("b"), 5), run=1)

    def publish(self, actor: Actor | None, completed_by: Actor | None = None) -> None:
        """Publish the draft; whoever completes it may be another than who asked for it."""
        self.by(actor, PublishIntended("p1", (PlannedFile(OUT, None, blob("b"), 5),)))
        self.by(
            completed_by,
            CheckpointCreated("c1", "publish", "before", ()),
            PublishCompleted("p1", "c1", ()),
        )


def seen_publish(bench: Bench) -> None:
    """A person published."""
    bench.drafted()
    bench.publish(PERSON)


def seen_crash(bench: Bench) -> None:
    """A person published; after a crash the daemon completed it."""
    bench.drafted()
    bench.publish(PERSON, None)


def seen_discard(bench: Bench) -> None:
    """A person threw the draft away."""
    bench.drafted()
    bench.by(PERSON, DraftDiscarded("d1"))


def seen_undo(bench: Bench) -> None:
    """A person undid the run."""
    bench.ran(RunFailed("PROVIDER_UNAVAILABLE", "no", "", retryable=True))
    bench.by(PERSON, ConversationRewound("", to_seq=1, runs=RunsThen(0)))


def seen_rule(bench: Bench) -> None:
    """A rule published; that it may go, only a retention of its own says."""
    bench.drafted()
    bench.publish(None)


def own_edit(bench: Bench) -> None:
    """A person published what they edited by hand, without any run."""
    bench.apply(DraftOpened("d1"), FileChanged(OUT, None, blob("b"), 5))
    bench.publish(PERSON)


@pytest.mark.parametrize(
    ("work", "seen_by"),
    [
        (seen_publish, "person"),
        (seen_crash, "person"),
        (seen_discard, "person"),
        (seen_undo, "person"),
        (own_edit, "person"),
        (seen_rule, "rule"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_is_seen_is_settled(work: Callable[[Bench], None], seen_by: str) -> None:
    """A result that somebody looked at holds nothing, and since its last event it rests."""
    bench = Bench()
    work(bench)
    settling = settling_of(bench.state)
    assert settling == Settling(None, bench.time_us, seen_by)  # type: ignore[arg-type]
    bench.add("new.txt", "e")
    assert find_hold(bench.state) is Hold.NEW_FILES
    assert settling_of(bench.state, "a byte is wrong").hold is Hold.DAMAGED


def running(bench: Bench) -> None:
    """A run is under way."""
    bench.apply(UserMessageAdded("u1", "do it"))
    bench.apply(RunStarted("u1", "p:m"), run=1)


def publishing(bench: Bench) -> None:
    """A publish is under way."""
    bench.drafted()
    bench.by(PERSON, PublishIntended("p1", (PlannedFile(OUT, None, blob("b"), 5),)))


def delivering(bench: Bench) -> None:
    """A copy is under way."""
    seen_publish(bench)
    bench.apply(EffectIntended("e1", "deliver", "/out", FileVersion(OUT, blob("b"), 5)))


def asked(bench: Bench) -> None:
    """A draft waits, and somebody asked about it."""
    bench.drafted()
    bench.apply(ApprovalRequested("x", "publish", files=(AskedFile(OUT, None, blob("b")),)))


def added(bench: Bench) -> None:
    """Files were added, and nothing more."""
    bench.add("a.txt", "a")


def unanswered(bench: Bench) -> None:
    """What a person wrote has no answer."""
    seen_publish(bench)
    bench.apply(UserMessageAdded("u2", "and now?"))


def failed(bench: Bench) -> None:
    """A later run failed."""
    seen_publish(bench)
    bench.ran(RunFailed("PROVIDER_UNAVAILABLE", "no", "", retryable=True), 2)


def retried(bench: Bench) -> None:
    """A failed run was resumed, and finished; nobody looked at what it came to."""
    failed(bench)
    bench.apply(RunResumed("p:m"), RunFinished(has_draft=False), run=2)
    bench.apply(AssistantMessageAdded("a2", "done"), run=2)


def answered(bench: Bench) -> None:
    """A run changed nothing."""
    bench.ran(RunFinished(has_draft=False))


def discarded_by_retry(bench: Bench) -> None:
    """A watch's retry discarded the draft for the next attempt."""
    bench.drafted()
    bench.by(None, DraftDiscarded("d1"))


HELD = {
    running: Hold.RUN,
    publishing: Hold.PUBLISH,
    delivering: Hold.PUBLISH,
    Bench.drafted: Hold.DRAFT,
    asked: Hold.DRAFT,
    added: Hold.NO_RESULT,
    unanswered: Hold.MESSAGE,
    failed: Hold.FAILED,
    lambda bench: bench.ran(RunCancelled()): Hold.CANCELED,
    lambda bench: bench.ran(RunInterrupted("stopped")): Hold.INTERRUPTED,
    retried: Hold.UNSEEN,
    answered: Hold.UNSEEN,
    discarded_by_retry: Hold.UNSEEN,
    lambda bench: None: Hold.NO_RESULT,
}


@pytest.mark.parametrize(("work", "hold"), HELD.items(), ids=map(str, HELD.values()))
def test_what_nobody_saw_to_its_end_is_held(work: Callable[[Bench], None], hold: Hold) -> None:
    """The first thing that is open is the reason; each has its words."""
    bench = Bench()
    work(bench)
    assert find_hold(bench.state) is hold
    assert all(each.reason for each in Hold)


def policies(retention: RuleRetention | None, *, restored: bool = False) -> Policies:
    """Return what counts where `[retention]` says 30 and 365, and one watch says something."""
    watch = Watch(WATCH, WatchRule("in", "/in", "do it"), 1, restored=restored, retention=retention)
    return Policies(30, 365, {WATCH: watch})


def test_a_watchs_own_word_wins() -> None:
    """Both numbers are its own; for what others made `[retention]` counts."""
    own = policies(RuleRetention(7, 0))
    assert own.scopes() == ("", WATCH)
    assert [own.scope(each) for each in (WATCH, WatchId("0" * 16))] == [WATCH, ""]
    assert (own.archive_days(WATCH), own.remove_days(WATCH)) == (7, 0)
    none = policies(None)
    assert none.scopes() == ("",)
    assert (none.archive_days(none.scope(WATCH)), none.remove_days(WatchId(""))) == (30, 365)


def test_nothing_of_a_restored_rule_is_in_force() -> None:
    """Neither what it says of its own, nor what `[retention]` would say instead."""
    restored = policies(RuleRetention(7, 7), restored=True)
    scope = restored.scope(WATCH)
    assert (restored.archive_days(scope), restored.remove_days(scope)) == (0, 0)
    known, by_rule = KnownWorkbench(BENCH, "w", 1), Settling(None, 5, "rule")
    assert hold_of_known(known, by_rule, restored, WATCH) is Hold.RULE


def test_what_a_rule_published_counts_as_seen_by_its_own_word_alone() -> None:
    """A person who says after how long it goes has said so of this folder."""
    known, by_rule = KnownWorkbench(BENCH, "w", 1), Settling(None, 5, "rule")
    assert hold_of_known(known, by_rule, policies(None), WATCH) is Hold.RULE
    assert hold_of_known(known, by_rule, policies(RuleRetention(1)), WatchId("")) is Hold.RULE
    assert hold_of_known(known, by_rule, policies(RuleRetention(1)), WATCH) is None
    by_person = Settling(None, 5, "person")
    assert hold_of_known(known, by_person, policies(None), WATCH) is None


def test_who_dismisses_a_failure_lets_go_of_it() -> None:
    """Of nothing that came later, and never of a draft."""
    own = policies(RuleRetention(1))
    dismissed = KnownWorkbench(BENCH, "w", 1, dismissed_at_us=10)
    for hold in Hold:
        found = hold_of_known(dismissed, Settling(hold, 10, ""), own, WATCH)
        held = Hold.REVIEW if hold is Hold.DRAFT else hold
        assert found is (None if may_be_dismissed(hold) else held)
        assert hold_of_known(dismissed, Settling(hold, 11, ""), own, WATCH) is held
    assert not any(map(may_be_dismissed, (Hold.DRAFT, Hold.RUN, Hold.DECISION, Hold.UNSEEN)))
    doubtful = msgspec.structs.replace(dismissed, doubt="the daemon's log is damaged")
    assert hold_of_known(doubtful, Settling(None, 5, "person"), own, WATCH) is Hold.DAMAGED


def test_reasons_name_whose_word_it_is() -> None:
    """With the number that was set, and the day since when."""
    own, since_us = policies(RuleRetention(7, 8)), 1_790_000_000_000_000
    settling = Settling(None, since_us, "person")
    assert why_archived(own, WatchId(""), settling) == (
        "[retention] archive_after_days = 30: seen by a person, unchanged since 2026-09-21"
    )
    removed = why_removed(own, WATCH, since_us)
    assert removed == "watch 'in' remove_after_days = 8: archived on 2026-09-21"
    assert due_at_us(since_us, 7) == since_us + 7 * DAY_US
    assert due_at_us(since_us, 0) == 0


class Log:
    """The daemon's log, folded."""

    def __init__(self) -> None:
        self.state, self.at_us = DaemonState(), DAY_US

    def apply(self, *events: Event, after_us: int = 1) -> None:
        """Fold events, each so long after the one before."""
        for event in events:
            self.at_us += after_us
            fold_daemon(self.state, Seq(self.state.seq + 1), wrap_event(event, self.at_us))


def landed(log: Log) -> Seq:
    """Have a file land, and its run fail; return its number."""
    log.apply(WatchAdded(WATCH, WatchRule("in", "/in", "do it")), WorkbenchCreated(BENCH, "w"))
    log.apply(FileLanded(WATCH, "a.txt", "a" * 64, 1, "s"))
    number = log.state.seq
    log.apply(WatchRunStarted(WATCH, (number,), BENCH))
    assert landing_holds(log.state) == {BENCH: Hold.LANDING_RUNNING}
    log.apply(WatchRunFinished(WATCH, (number,), BENCH, "failed", code="X", message="no"))
    return number


def test_a_failed_file_holds_its_workbench_until_it_is_dismissed() -> None:
    """The dismissal is noted where the workbench is known."""
    log = Log()
    number = landed(log)
    assert landing_holds(log.state) == {BENCH: Hold.LANDING_PARKED}
    log.apply(LandingsDismissed(WATCH, (number,)))
    assert landing_holds(log.state) == {}
    assert log.state.workbenches[BENCH].dismissed_at_us == log.at_us


def test_a_file_that_is_not_done_says_how_far_it_is() -> None:
    """It is tried again, failed, waits because a person asked, is worked on; and then is done."""
    log = Log()
    number = landed(log)
    log.apply(LandingsRetried(WATCH, (number,)))
    assert landing_holds(log.state) == {BENCH: Hold.LANDING_WAITING}
    log.apply(WatchRunStarted(WATCH, (number,), BENCH, attempt=2))
    again = WatchRunFinished(WATCH, (number,), BENCH, "failed", code="X", retry_at_us=1 << 60)
    log.apply(again)
    assert landing_holds(log.state) == {BENCH: Hold.LANDING_RETRYING}
    log.apply(WatchRunStarted(WATCH, (number,), BENCH, attempt=3))
    assert landing_holds(log.state) == {BENCH: Hold.LANDING_RUNNING}
    log.apply(WatchRunFinished(WATCH, (number,), BENCH, "review"))
    assert landing_holds(log.state) == {}


def test_of_files_of_one_workbench_that_counts_which_is_furthest() -> None:
    """What is worked on is told, though another one failed."""
    log = Log()
    first = landed(log)
    log.apply(FileLanded(WATCH, "b.txt", "b" * 64, 1, "s"))
    log.apply(WatchRunStarted(WATCH, (log.state.seq,), BENCH))
    assert landing_holds(log.state) == {BENCH: Hold.LANDING_RUNNING}
    log.apply(LandingsDismissed(WATCH, (first,)))
    assert landing_holds(log.state) == {BENCH: Hold.LANDING_RUNNING}


def test_a_draft_of_what_landed_waits_for_its_review() -> None:
    """A draft of anything else is just open."""
    known, drafted = KnownWorkbench(BENCH, "w", 1), Settling(Hold.DRAFT, 5, "")
    assert hold_of_known(known, drafted, policies(None), WATCH) is Hold.REVIEW
    assert hold_of_known(known, drafted, policies(None), WatchId("")) is Hold.DRAFT


def test_with_its_watch_a_failed_file_is_not_dismissed() -> None:
    """Who removes a watch has not said anything of what failed in it."""
    log = Log()
    landed(log)
    log.apply(RetentionPlanned(WATCH, 3), WatchRemoved(WATCH))
    assert log.state.workbenches[BENCH].dismissed_at_us == 0
    assert log.state.removals == {}


def test_a_time_that_the_log_does_not_know_is_noted() -> None:
    """Whether it was too long, or the clock went back."""
    log = Log()
    log.apply(WorkbenchCreated(BENCH, "w"))
    log.apply(WorkbenchCreated(WorkbenchId("1" * 16), "w"), after_us=CLOCK_GAP_US)
    log.apply(WorkbenchCreated(WorkbenchId("2" * 16), "w"), after_us=-CLOCK_SLIP_US)
    assert log.state.gap_at_us == 0
    for after_us in (CLOCK_GAP_US + 1, -CLOCK_SLIP_US - 1):
        log.apply(WorkbenchCreated(WorkbenchId("3" * 16), "w"), after_us=after_us)
        assert log.state.gap_at_us == log.at_us


def test_a_removal_that_was_announced_is_known_until_nothing_is_removed() -> None:
    """With what was told; what is not removed any more is announced anew one day."""
    log = Log()
    log.apply(RetentionPlanned("", 365, 2, 10, "first"), RetentionPlanned(WATCH, 7))
    assert [each.remove_after_days for each in log.state.removals.values()] == [365, 7]
    assert log.state.removals[""].count == 2
    log.apply(RetentionPlanned("", 0))
    assert set(log.state.removals) == {WATCH}


def test_files_that_a_run_was_given_are_no_news() -> None:
    """They were there when it began."""
    bench = Bench()
    bench.apply(FileAdded(FileName("a.txt"), blob("a"), 5))
    bench.drafted()
    bench.publish(PERSON)
    assert find_hold(bench.state) is None
