"""Runs on landed files: which is next, what passes a limit, what a failure leads to."""

import pytest

from folded_watches import WATCH, FoldedWatches, hash_of, rule
from kbd.core.domain.watch_decisions import RemoveWatch, ResumeWatch, RetryLandings
from kbd.core.domain.watch_state import LandingStage, WatchStatus
from kbd.events.watches import (
    FailurePolicy,
    LandingsParked,
    RuleLimits,
    WatchPaused,
    WatchRunFinished,
)
from kbd.types import WatchId

PARKED, RUNNING = LandingStage.PARKED, LandingStage.RUNNING


def test_runs_are_started_oldest_first() -> None:
    """One run a file, in the order of landing; each is named so that it is made once."""
    folded = FoldedWatches()
    for n in range(3):
        folded.land(f"{n}.csv", "same")

    first, second = folded.start(), folded.start()

    assert first is not None
    assert second is not None
    assert 1 == first.attempt == second.attempt
    assert first.workbench_id != second.workbench_id
    assert folded.paths(RUNNING) == ["0.csv", "1.csv"]
    assert folded.worked_on() == ["2.csv"]
    assert folded.start() is None


def test_too_many_runs_suspend_the_watch() -> None:
    """Past the limit of an hour nothing runs until a person resumes; then the hour is new."""
    folded = FoldedWatches(rule(RuleLimits(runs_per_hour=2)))
    for n in range(5):
        folded.land(f"{n}.csv", f"{n}")

    assert folded.worked_on() == ["0.csv", "1.csv"]
    assert (folded.watch.status, folded.watch.code) == (WatchStatus.SUSPENDED, "BUDGET_CAP_REACHED")
    assert "2 runs" in folded.watch.reason
    folded.pass_time(60)
    assert folded.start() is None
    assert folded.land("5.csv", "5") is not None
    folded.do(ResumeWatch(WATCH))
    assert (
        folded.watch.status,
        folded.watch.code,
        folded.watch.reason,
    ) == (WatchStatus.ACTIVE, "", "")
    assert folded.worked_on() == ["2.csv", "3.csv"]


def test_an_hour_passes() -> None:
    """Runs count for an hour: a watch that keeps its limit goes on and on."""
    folded = FoldedWatches(rule(RuleLimits(runs_per_hour=2)))
    for n in range(6):
        folded.land(f"{n}.csv", f"{n}")
        assert [f"{n}.csv"] == folded.worked_on()
        folded.pass_time(1800)

    assert WatchStatus.ACTIVE is folded.watch.status
    assert len(folded.watch.starts) <= 2


def test_retries_do_not_count_as_runs() -> None:
    """What is begun again was counted the first time."""
    limits, failing = RuleLimits(runs_per_hour=2), FailurePolicy(retries=5, wait_s=1)
    folded = FoldedWatches(rule(limits, on_failure=failing))
    folded.land("a.csv", "a")
    for _ in range(4):
        folded.finish(folded.start(), "failed")
        folded.pass_time(100)
    folded.finish(folded.start())
    folded.land("b.csv", "b")

    assert folded.worked_on() == ["b.csv"]


def test_a_path_that_changes_too_often_is_parked() -> None:
    """The newest content of such a path waits for a person; other paths go on."""
    folded = FoldedWatches(rule(RuleLimits(runs_per_path_hour=2)))
    for n in range(3):
        folded.land("a.csv", f"v{n}")
    folded.land("b.csv", "b")

    assert folded.start() is not None
    assert folded.start() is not None
    assert folded.start() is None
    parked = folded.records[-1].data
    assert isinstance(parked, LandingsParked)
    landing = folded.landing("a.csv")
    assert (landing.sha256, landing.stage) == (hash_of("v2"), PARKED)
    assert landing.code == parked.code == "BUDGET_CAP_REACHED"
    assert landing.message == parked.message
    assert folded.watch.ended == {"failed": 1}
    assert folded.worked_on() == ["b.csv"]
    folded.pass_time(3601)
    folded.do(RetryLandings(WATCH, parked.landings))
    assert folded.worked_on() == ["a.csv"]


def test_a_batch_waits_until_nothing_lands() -> None:
    """All that landed within a quiet window is one run; a full batch need not wait."""
    folded = FoldedWatches(rule(RuleLimits(batch_files=3), mode="batch"))
    folded.land("0.csv", "0")
    folded.land("1.csv", "1")

    assert folded.start(batch_closed=False) is None
    closed = folded.start()
    assert closed is not None
    assert len(closed.landings) == 2
    for n in range(4):
        folded.land(f"full {n}.csv", f"{n}")
    full = folded.start(batch_closed=False)
    assert full is not None
    assert len(full.landings) == 3
    assert folded.start(batch_closed=False) is None
    folded.land("4.csv", "4")
    folded.land("5.csv", "5")
    assert folded.start(batch_closed=False) is not None


def test_a_batch_has_one_file_of_a_name() -> None:
    """Two contents of a path, or of names that differ in case only, are for two runs."""
    folded = FoldedWatches(rule(mode="batch"))
    for path, mark in (("a.csv", "v1"), ("a.csv", "v2"), ("A.CSV", "v3"), ("b.csv", "b")):
        folded.land(path, mark)

    groups = []
    while (started := folded.start()) is not None:
        groups.append([folded.watch.landings[number].sha256 for number in started.landings])

    assert [
        [mark for mark in ("v1", "v2", "v3", "b") if hash_of(mark) in group] for group in groups
    ] == [["v1", "b"], ["v2"], ["v3"]]


def test_a_batch_stays_together() -> None:
    """A batch that failed is resumed whole, in its workbench, and not with what landed since."""
    folded = FoldedWatches(rule(mode="batch", on_failure=FailurePolicy(1, 60)))
    folded.land("a.csv", "a")
    folded.land("b.csv", "b")
    first = folded.start()
    assert first is not None
    folded.finish(first, "failed")
    folded.land("c.csv", "c")
    folded.pass_time(60)

    again, fresh = folded.start(), folded.start()

    assert again is not None
    assert (first.landings, first.workbench_id, 2) == (
        again.landings,
        again.workbench_id,
        again.attempt,
    )
    assert fresh is not None
    assert [folded.watch.landings[number].path for number in fresh.landings] == ["c.csv"]


def test_a_retry_does_not_wait_for_a_batch_to_close() -> None:
    """What is due again is begun though files land."""
    folded = FoldedWatches(rule(mode="batch"))
    folded.land("a.csv", "a")
    folded.finish(folded.start(), "failed")
    folded.land("b.csv", "b")
    folded.pass_time(3600)

    again = folded.start(batch_closed=False)

    assert again is not None
    assert folded.paths(RUNNING) == ["a.csv"]


def test_a_part_of_a_batch_is_another_run() -> None:
    """A person may retry some files of a batch: they run without the others, in a new workbench."""
    folded = FoldedWatches(rule(mode="batch"))
    for name in "abc":
        folded.land(f"{name}.csv", name)
    whole = folded.start()
    assert whole is not None
    folded.finish(whole, "failed", retryable=False)
    first, second, third = whole.landings

    folded.do(RetryLandings(WATCH, (first, third)))
    part = folded.start()
    assert part is not None
    assert [folded.watch.landings[each].run_id for each in whole.landings] == ["", "1", ""]
    folded.finish(part, "failed", retryable=False)
    folded.do(RetryLandings(WATCH, (second,)))
    folded.do(RetryLandings(WATCH, (first, third)))
    again = [folded.start(), folded.start(), folded.start()]

    assert ((first, third), 1) == (part.landings, part.attempt)
    assert part.workbench_id != whole.workbench_id
    assert [((first, third), 2), ((second,), 1)] == [
        (each.landings, each.attempt) for each in again if each is not None
    ]
    assert len({whole.workbench_id, *(x.workbench_id for x in again if x is not None)}) == 3


def test_failures_are_retried_with_doubled_waits() -> None:
    """So often and no more; each wait is twice the last, and nothing is begun before its time."""
    folded = FoldedWatches(rule(on_failure=FailurePolicy(retries=3, wait_s=10)))
    folded.land("a.csv", "a")
    started = folded.start()
    for attempt, wait_s in ((2, 10), (3, 20), (4, 40)):
        folded.finish(started, "failed")
        assert folded.paths(LandingStage.RETRYING) == ["a.csv"]
        folded.pass_time(wait_s - 0.001)
        assert folded.start() is None
        folded.pass_time(0.001)
        started = folded.start()
        assert started is not None
        assert attempt == started.attempt

    folded.finish(started, "failed")

    landing = folded.landing("a.csv")
    assert (
        landing.stage,
        landing.code,
        landing.message,
        landing.retry_at_us,
    ) == (PARKED, "NETWORK_UNAVAILABLE", "gone", 0)
    assert folded.watch.ended == {"failed": 1}


def test_a_failure_that_stays_is_parked_at_once() -> None:
    """Where a retry cannot help there is none; the next file runs."""
    folded = FoldedWatches()
    folded.land("a.csv", "a")
    folded.land("b.csv", "b")

    folded.finish(folded.start(), "failed", retryable=False)

    assert folded.paths(PARKED) == ["a.csv"]
    assert folded.worked_on() == ["b.csv"]


def test_a_wait_lets_others_by() -> None:
    """While one file waits for its retry the next ones run; then the older one is next."""
    folded = FoldedWatches(rule(on_failure=FailurePolicy(1, 60)))
    folded.land("a.csv", "a")
    folded.finish(folded.start(), "failed")
    folded.land("b.csv", "b")
    assert folded.worked_on() == ["b.csv"]
    folded.land("c.csv", "c")
    folded.pass_time(60)

    assert folded.worked_on() == ["a.csv", "c.csv"]


def test_a_person_may_ask_again() -> None:
    """A parked file runs on in its workbench, under a new number, with all retries before it."""
    folded = FoldedWatches(rule(on_failure=FailurePolicy(1, 10)))
    folded.land("a.csv", "a")
    first = folded.start()
    folded.finish(first, "failed")
    folded.pass_time(10)
    folded.finish(folded.start(), "failed")
    assert folded.start() is None

    folded.do(RetryLandings(WATCH, None))
    third = folded.start()
    folded.finish(third, "failed")

    assert first is not None
    assert third is not None
    assert (first.workbench_id, 3) == (third.workbench_id, third.attempt)
    assert LandingStage.RETRYING is folded.landing("a.csv").stage
    assert folded.now_us + 10_000_000 == folded.landing("a.csv").retry_at_us


def test_a_rule_may_pause_on_failure() -> None:
    """The failed file is parked and the watch stands still, saying why, until it is resumed."""
    folded = FoldedWatches(rule(on_failure=FailurePolicy(retries=1, wait_s=1, then="pause")))
    folded.land("a.csv", "a")
    folded.land("b.csv", "b")
    folded.finish(folded.start(), "failed")
    assert WatchStatus.ACTIVE is folded.watch.status
    folded.pass_time(1)

    finished, paused = folded.finish(folded.start(), "failed")

    assert isinstance(finished, WatchRunFinished)
    assert isinstance(paused, WatchPaused)
    assert (folded.watch.status, folded.watch.reason) == (WatchStatus.PAUSED, "a run failed: gone")
    assert folded.start() is None
    folded.do(ResumeWatch(WATCH))
    assert folded.worked_on() == ["b.csv"]


def test_a_run_ends_once() -> None:
    """The end of a run that is over, is unknown or was another's is not recorded."""
    folded = FoldedWatches()
    folded.land("a.csv", "a")
    folded.land("b.csv", "b")
    first = folded.start()
    second = folded.start()
    assert first is not None
    assert second is not None
    folded.finish(first)

    assert folded.finish(first) == ()
    mixed = WatchRunFinished(WATCH, second.landings, first.workbench_id, "published")
    assert mixed.workbench_id != second.workbench_id
    for strange in (
        mixed,
        WatchRunFinished(WATCH, (), second.workbench_id, "published"),
        WatchRunFinished(WatchId("x"), second.landings, second.workbench_id, "published"),
    ):
        started = type(second)(strange.watch_id, strange.landings, strange.workbench_id)
        assert folded.finish(started) == ()
    assert folded.paths(RUNNING) == ["b.csv"]


@pytest.mark.parametrize("outcome", ["published", "failed"])
def test_a_removed_watch_ends_its_runs(outcome: str) -> None:
    """What waits is let go of; the run under way comes to its end and is not retried."""
    folded = FoldedWatches()
    for name in "abc":
        folded.land(f"{name}.csv", name)
    folded.finish(folded.start(), "failed", retryable=False)
    started = folded.start()

    folded.do(RemoveWatch(WATCH))

    assert folded.paths(*LandingStage) == ["b.csv"]
    assert folded.start() is None
    assert len(folded.finish(started, outcome)) == 1
    assert folded.state.watching.watches == {}
