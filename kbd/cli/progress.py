"""Progress display of a run: line by line, with a bar, or by signs of life alone.

A run is told in notifications; their names and fields are the contract's. `LineProgress` turns each
into lines; `BarProgress` adds the bar and the words that are being written; `SparseProgress` tells
phases and items, for who asked for JSON. Everything goes to stderr, so that stdout is the result.

How long a run will still take is estimated from the items that it has done: the mean of their times
for each that is left. Before the first one has ended nothing is said.
"""

import time
from collections.abc import Callable
from typing import Any, Protocol

from kbd.cli.terminal import can_draw, clean, duration, line, money, note

__all__ = [
    "BarProgress",
    "ItemTimer",
    "LineProgress",
    "Progress",
    "SparseProgress",
    "choose_progress",
    "render_left",
    "render_usage",
]

PHASES = {
    "research": "Analyzing files…",
    "plan": "Planning approach…",
    "implement": "Working on the plan…",
    "summary": "Summarizing results…",
}

INTERRUPT_HINT = "Press Ctrl-C again to stop waiting."

LINE_CHARACTERS = 120
"""How much is shown of a line that the model writes; all of it is in the log."""

TAIL_CHARACTERS = 48
"""How much of the sentence that is being written stands beside the bar."""

QUIET_S = 10.0
"""After so long without a line a sign of life is printed."""

Clock = Callable[[], float]
"""Tells the seconds of a clock that never goes back."""


class Progress(Protocol):
    """Progress display of a run."""

    def on_notification(self, method: str, params: dict[str, Any]) -> None:
        """Handle a notification; unknown ones are ignored."""

    def on_status(self, run: dict[str, Any]) -> None:
        """Handle the run's status, as `RunGet` answers it, every second or so."""

    def interrupted(self) -> None:
        """Handle a first Ctrl-C: the run is canceled, and waited for until a second one."""

    def finish(self) -> None:
        """Finish the display: the run has ended."""


class ItemTimer:
    """Timer of a plan's items, which estimates how long those that are left will take.

    Args:
        clock: Tells the time.

    Attributes:
        item: The item that is under way, or ended last; 0 before the first.
        of: How many there are.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self.item = self.of = 0
        self._began_s: float | None = None
        self._spent_s = 0.0
        self._timed = 0

    def begin(self, item: int, of: int) -> None:
        """Note that work on an item began; a further attempt at it goes on with it."""
        self.of = of
        if item != self.item or self._began_s is None:
            self.item, self._began_s = item, self._clock()

    def end(self) -> float | None:
        """Note that the item has ended; return how long it took, None if none was under way."""
        if self._began_s is None:
            return None
        took = self._clock() - self._began_s
        self._began_s = None
        self._spent_s += took
        self._timed += 1
        return took

    @property
    def left_s(self) -> float | None:
        """How long the rest will take; None where nobody can know, or nothing is left."""
        rest = self.of - self.item
        if not self._timed or (not rest and self._began_s is None):
            return None
        mean = self._spent_s / self._timed
        if self._began_s is None:
            return mean * rest
        # An item that takes longer than the mean does not make the others shorter; of the last one
        # nobody knows then how long it will be.
        left = mean * rest + max(0.0, mean - (self._clock() - self._began_s))
        return left or None


class LineProgress:
    """Line-by-line progress display, for logs, pipes and terminals without drawing.

    The words of the summary are left out, because they are the result, which follows on stdout;
    fenced blocks are, too, because they are for programs. While a model thinks for long, a line
    every ten seconds says what is under way.

    Args:
        clock: Tells the time.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._timer = ItemTimer(clock)
        self._told_s = self._step_s = clock()
        self._subject, self._tool = "waiting for the run to begin", ""
        self._phase = ""
        self._sentence = ""
        self._is_fenced = False

    def on_notification(self, method: str, params: dict[str, Any]) -> None:
        """Print what the notification says, if a person wants to know it."""
        match method:
            case "WorkshopPhaseStarted":
                self.phase(str(params["phase"]))
            case "WorkshopImplementProgress":
                item, of = int(params["current_item"]), int(params["total_items"])
                self.item(item, of, line(str(params.get("item_label", "")), 80))
            case "WorkshopToolExecuting":
                path = f" {params['path']}" if params.get("path") else ""
                self.tool(line(f"{params['tool_name']}{path}"))
            case "WorkshopToolComplete" if not params.get("success", True):
                self.tool_failed(line(str(params["tool_name"])))
            case "WorkshopAssistantStreamDelta":
                self.text(clean(str(params.get("token_delta", ""))))
            case "WorkshopAssistantMessageComplete" | "WorkshopPhaseCompleted":
                self.end_sentence()
            case "WorkshopRateLimitWarning":
                self.write(f"  {line(str(params.get('warning_message', 'waiting')))}")
            case "WorkshopAgentLoopWarning":
                self.write(f"  the model repeats itself: {line(str(params['tool_name']))}")
            case "WorkshopNotice":
                self.write(f"  {line(str(params.get('message', '')))}")
            case "ApprovalRequested" | "ApprovalDecided":
                self.approval(params)
            case "WorkshopRunCancelRequested":
                self.write("Cancelling…")
            case _:
                pass

    def on_status(self, run: dict[str, Any]) -> None:
        """Print a sign of life if nothing was printed for long; usage is printed at the end."""
        if run["status"] == "running" and self._clock() - self._told_s >= QUIET_S:
            what = f"{self._subject} for {_render_rough(self._clock() - self._step_s)}"
            parts = (what, self._tool, render_left(self._timer.left_s))
            self.write(f"  … {', '.join(part for part in parts if part)}")

    def interrupted(self) -> None:
        """Say how to stop waiting."""
        self.end_sentence()
        self.write(INTERRUPT_HINT)

    def approval(self, params: dict[str, Any]) -> None:
        """Tell that the run waits for a person, and what the person decided."""
        self.end_sentence()
        if "decision" in params:
            self.write(f"  {'accepted' if params['decision'] == 'accept' else 'declined'}")
            return
        self.write(f"  waits for a person: {line(str(params['title']))}")
        self.write(f"    kbd approve {line(str(params['approval_id']))}")

    def finish(self) -> None:
        """Print what is left of an unfinished sentence."""
        self.end_sentence()

    def phase(self, phase: str) -> None:
        """Tell that a phase began."""
        self.end_sentence()
        self._end_item()
        self._phase, self._is_fenced = phase, False
        title = PHASES.get(phase, line(phase))
        self._begin_step(title.rstrip("…").lower())
        self.step(title)

    def item(self, item: int, of: int, label: str) -> None:
        """Tell that work on an item began."""
        self.end_sentence()
        if item != self._timer.item:
            self._end_item()
        self._timer.begin(item, of)
        self._begin_step(f"item {item} of {of}")
        self.step(f"Working on item {item} of {of}: {label}")

    def item_ended(self, item: int, of: int, took_s: float) -> None:
        """Tell that work on an item ended, and how long the others may take."""
        left = render_left(self._timer.left_s)
        self.step(f"  item {item} of {of} took {duration(took_s)}{left and f', {left}'}")

    def tool(self, name: str) -> None:
        """Tell that a tool starts."""
        self.end_sentence()
        self._tool = name
        self.step(f"  · {name}")

    def tool_failed(self, name: str) -> None:
        """Tell that a tool failed."""
        self.write(f"    {name} failed")

    def text(self, delta: str) -> None:
        """Take a piece of what the model writes; whole lines are printed."""
        *lines, self._sentence = (self._sentence + delta).split("\n")
        for each in lines:
            self._print(each)

    def end_sentence(self) -> None:
        """Print what was written without an end of line."""
        self._print(self._sentence)
        self._sentence = ""

    @property
    def sentence(self) -> str:
        """The sentence that is being streamed, up to its newline."""
        return self._sentence

    def step(self, text: str) -> None:
        """Print a line of progress; warnings are printed elsewhere."""
        self.write(text)

    def write(self, text: str) -> None:
        """Print a line."""
        self._told_s = self._clock()
        note(text)

    def _begin_step(self, subject: str) -> None:
        self._subject, self._tool, self._step_s = subject, "", self._clock()

    def _end_item(self) -> None:
        took_s = self._timer.end()
        if took_s is not None:
            self.item_ended(self._timer.item, self._timer.of, took_s)

    def _print(self, text: str) -> None:
        if text.lstrip().startswith("```"):
            self._is_fenced = not self._is_fenced
        elif text.strip() and not self._is_fenced and self._phase != "summary":
            self.step(f"  | {line(text, LINE_CHARACTERS)}")


class SparseProgress(LineProgress):
    """Progress display of phases, items and signs of life, for who reads JSON from stdout."""

    def tool(self, name: str) -> None:
        """Remember it for the next sign of life."""
        self._tool = name

    def tool_failed(self, name: str) -> None:
        """Leave it out: the model is told, and the log has it."""

    def text(self, delta: str) -> None:
        """Leave it out."""


class BarProgress(LineProgress):
    """Progress display with a bar below the lines.

    Beside it stand the phase or item, the time, how long it may still take, what was consumed, and
    the tool that works or the words as they come.

    Args:
        clock: Tells the time.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._items = 0
        # Only what is drawn pays for it.
        from rich.console import Console  # noqa: PLC0415 - 49 ms
        from rich.progress import (  # noqa: PLC0415 - 13 ms
            BarColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as Bars  # noqa: PLC0415 - with it

        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            TextColumn("{task.fields[consumed]}", markup=False),
            TextColumn("{task.fields[tail]}", markup=False, style="dim"),
            console=Console(stderr=True, highlight=False),
            transient=True,
        )
        self._bar = self._bars.add_task("Starting…", total=None, tail="", consumed="", left="")
        self._bars.start()

    def phase(self, phase: str) -> None:
        """Tell it, and name it beside the bar."""
        super().phase(phase)
        self._bars.update(self._bar, description=PHASES.get(phase, line(phase)), tail="")
        # An item moves the bar when it begins, so the last one is counted here.
        if phase == "summary":
            self._bars.update(self._bar, completed=self._items)

    def item(self, item: int, of: int, label: str) -> None:
        """Tell it, and move the bar."""
        super().item(item, of, label)
        self._items = of
        self._bars.update(
            self._bar,
            description=line(f"Item {item} of {of}: {label}", 40),
            total=of,
            completed=item - 1,
            tail="",
        )
        self.show_left()

    def item_ended(self, item: int, of: int, took_s: float) -> None:
        """Print nothing: the bar moves."""
        del item, of, took_s
        self.show_left()

    def show_left(self) -> None:
        """Show how long the items may still take."""
        self._bars.update(self._bar, left=render_left(self._timer.left_s))

    def tool(self, name: str) -> None:
        """Tell it, and name it beside the bar."""
        super().tool(name)
        self.tail(name)

    def tail(self, text: str) -> None:
        """Show a few words beside the bar."""
        self._bars.update(self._bar, tail=line(text, TAIL_CHARACTERS))

    def on_status(self, run: dict[str, Any]) -> None:
        """Show what the run has consumed so far, and how long it may still take."""
        self._bars.update(self._bar, consumed=render_usage(run))
        self.show_left()

    def text(self, delta: str) -> None:
        """Tell whole lines, and show the rest beside the bar."""
        super().text(delta)
        self.tail(self.sentence[-TAIL_CHARACTERS:])

    def write(self, text: str) -> None:
        """Print a line above the bar."""
        # Without markup: brackets in names and in what a model writes are no commands to rich.
        self._bars.console.print(clean(text), markup=False, highlight=False)

    def finish(self) -> None:
        """Remove the bar."""
        super().finish()
        self._bars.stop()


def render_usage(run: dict[str, Any]) -> str:
    """Render a run's usage: tokens, and US dollars if known."""
    usage = run.get("usage", {})
    tokens = int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
    cost = float(run.get("cost", 0))
    if not tokens:
        return "no tokens"
    return f"{tokens:,} tokens, {money(cost)}" if cost else f"{tokens:,} tokens, no price known"


def render_left(seconds: float | None) -> str:
    """Render how long something may still take; "" where that is not known."""
    return "" if seconds is None else f"about {_render_rough(seconds)} left"


def _render_rough(seconds: float) -> str:
    """Render a length of time no finer than anybody can rely on."""
    whole = round(seconds)
    if whole < 10:
        return f"{max(whole, 1)} s"
    if seconds < 57.5:
        return f"{round(seconds / 5) * 5} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(round(seconds / 300) * 5, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def choose_progress(*, sparse: bool) -> Progress:
    """Choose how a run is shown here.

    Args:
        sparse: Whether phases, items and signs of life are enough.
    """
    if sparse:
        return SparseProgress()
    return BarProgress() if can_draw() else LineProgress()
