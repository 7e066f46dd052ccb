"""Which notification tells of which event of a watched folder."""

from kbd.core.workbench.notifications import watch_notification
from kbd.events.codec import wrap_event
from kbd.events.watches import FileLanded, WatchPaused, WatchRunFinished
from kbd.requests import notifications as wire
from kbd.types import RunId, Seq, WatchId, WorkbenchId

WATCH, BENCH = WatchId("1" * 16), WorkbenchId("2" * 16)


def test_a_landed_file_is_told_with_its_number() -> None:
    """The number of its event names it; the log that has it is the daemon's."""
    landed = FileLanded(WATCH, "a/b", "3" * 64, 5, "s", outcome="moved", moved_from="c")
    assert watch_notification(Seq(7), wrap_event(landed, 1)) == wire.WatchFileLanded(
        workbench_id="daemon", seq=Seq(7), watch_id=WATCH, landing_id=Seq(7), path="a/b",
        size_bytes=5, outcome="moved",
    )  # fmt: skip


def test_the_end_of_a_run_is_told_with_what_came_of_it() -> None:
    """It says whether it is tried again, and where its log is; no run's id is the daemon's."""
    ended = WatchRunFinished(
        WATCH, (Seq(7),), BENCH, "failed", RunId("r"), "CODE", "why", ("out/a",), retry_at_us=9
    )
    assert watch_notification(Seq(8), wrap_event(ended, 1)) == wire.WatchRunFinished(
        workbench_id="daemon", seq=Seq(8), watch_id=WATCH, landing_ids=(Seq(7),), outcome="failed",
        run_workbench_id=BENCH, code="CODE", message="why", delivered=("out/a",), retry=True,
    )  # fmt: skip


def test_other_events_are_not_told() -> None:
    """Who wants them all follows the log."""
    assert watch_notification(Seq(9), wrap_event(WatchPaused(WATCH), 1)) is None
