"""Progress of a run: how long it may still take, and signs of life while nothing is heard."""

import io
import sys
from typing import Any

import pytest

from kbd.cli.progress import BarProgress, ItemTimer, LineProgress, SparseProgress, render_left

Captured = pytest.CaptureFixture[str]

RUNNING: dict[str, Any] = {"status": "running", "usage": {"input_tokens": 1200}, "cost": 0}


class _Clock:
    """A clock that goes on when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    """A clock."""
    return _Clock()


def _item(progress: LineProgress, item: int, of: int, label: str = "One") -> None:
    params = {"current_item": item, "total_items": of, "item_label": label}
    progress.on_notification("WorkshopImplementProgress", params)


def _phase(progress: LineProgress, phase: str) -> None:
    progress.on_notification("WorkshopPhaseStarted", {"phase": phase})


def test_what_is_left_is_the_mean_of_what_was_timed(clock: _Clock) -> None:
    """Before the first item has ended nobody knows; an attempt goes on with the one before."""
    timer = ItemTimer(clock)
    assert timer.end() is timer.left_s is None
    timer.begin(1, 4)
    clock.now += 20
    timer.begin(1, 4)
    assert timer.left_s is None
    clock.now += 10
    assert timer.end() == 30
    assert timer.left_s == 90

    timer.begin(2, 4)
    assert timer.left_s == 90
    clock.now += 10
    assert timer.left_s == 80
    clock.now += 40
    # It takes longer than the mean: that much is left of the others.
    assert timer.left_s == 60
    assert timer.end() == 50
    assert timer.left_s == 80
    # Items that were added count, those that another process did do not.
    timer.begin(4, 5)
    assert timer.left_s == 80
    timer.begin(5, 5)
    clock.now += 100
    assert timer.left_s is None
    timer.end()
    assert timer.left_s is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, ""), (0.2, "about 1 s left"), (9.4, "about 9 s left"), (41, "about 40 s left"),
        (58, "about 1 min left"), (200, "about 3 min left"), (3590, "about 1 h left"),
        (5000, "about 1 h 25 min left"),
    ],
)  # fmt: skip
def test_what_is_left_is_told_no_finer_than_it_is_known(seconds: float | None, shown: str) -> None:
    """To seconds, to five of them, to minutes, to five of them."""
    assert render_left(seconds) == shown


@pytest.mark.parametrize("kind", [LineProgress, SparseProgress])
def test_items_are_told_with_their_time_and_what_is_left(
    clock: _Clock, capsys: Captured, kind: type[LineProgress]
) -> None:
    """In a pipe and beside JSON: a line where an item begins, and one where it has ended."""
    progress = kind(clock)
    _phase(progress, "implement")
    _item(progress, 1, 3)
    clock.now += 21
    _item(progress, 2, 3, "Two")
    clock.now += 5
    _item(progress, 2, 3, "Two")
    clock.now += 14
    _item(progress, 3, 3, "Three")
    clock.now += 2
    _phase(progress, "summary")
    progress.finish()

    assert capsys.readouterr().err.splitlines() == [
        "Working on the plan…",
        "Working on item 1 of 3: One",
        "  item 1 of 3 took 21.0 s, about 40 s left",
        "Working on item 2 of 3: Two",
        "Working on item 2 of 3: Two",
        "  item 2 of 3 took 19.0 s, about 20 s left",
        "Working on item 3 of 3: Three",
        "  item 3 of 3 took 2.0 s",
        "Summarizing results…",
    ]


@pytest.mark.parametrize("kind", [LineProgress, SparseProgress])
def test_a_sign_of_life_every_ten_seconds(
    clock: _Clock, capsys: Captured, kind: type[LineProgress]
) -> None:
    """While nothing else is printed, and not more often, however often the status is asked."""
    progress = kind(clock)
    _phase(progress, "research")
    for _ in range(25):
        clock.now += 1
        progress.on_status(RUNNING)
    _item(progress, 1, 2)
    clock.now += 30
    _item(progress, 2, 2, "Two")
    executing = {"tool_name": "table_export", "path": "a.xlsx"}
    progress.on_notification("WorkshopToolExecuting", executing)
    clock.now += 12
    progress.on_status(RUNNING)
    progress.on_status(RUNNING | {"status": "finished"})

    lines = [line for line in capsys.readouterr().err.splitlines() if "·" not in line]
    assert lines == [
        "Analyzing files…",
        "  … analyzing files for 10 s",
        "  … analyzing files for 20 s",
        "Working on item 1 of 2: One",
        "  item 1 of 2 took 30.0 s, about 30 s left",
        "Working on item 2 of 2: Two",
        "  … item 2 of 2 for 10 s, table_export a.xlsx, about 20 s left",
    ]


def test_who_watches_a_run_is_told_that_it_waits(clock: _Clock, capsys: Captured) -> None:
    """For what, how that is decided, and what was."""
    progress = LineProgress(clock)
    asked = {"title": "send the files of this workbench to a\x1b[31m", "approval_id": "b-a1"}
    progress.on_notification("ApprovalRequested", asked)
    progress.on_notification("ApprovalDecided", {"approval_id": "b-a1", "decision": "decline"})
    assert capsys.readouterr().err.splitlines() == [
        "  waits for a person: send the files of this workbench to a",
        "    kbd approve b-a1",
        "  declined",
    ]


@pytest.mark.parametrize(("timed", "shown"), [(False, False), (True, True)])
def test_the_bar_shows_what_is_left(
    clock: _Clock, monkeypatch: pytest.MonkeyPatch, timed: bool, shown: bool
) -> None:
    """Beside the time, from the first timed item on; no line is printed for it."""
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    progress = BarProgress(clock)
    _item(progress, 1, 3)
    clock.now += 120
    if timed:
        _item(progress, 2, 3)
    progress.on_status(RUNNING)
    progress.finish()

    assert ("about 4 min left" in screen.getvalue()) is shown
    assert "took" not in screen.getvalue()
