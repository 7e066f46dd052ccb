"""Progress display of a run: line by line, with a bar, or none.

A run is told in notifications; their names and fields are the contract's. `LineProgress` turns each
into lines; `BarProgress` adds the bar and the words that are being written. Everything goes to
stderr, so that stdout is the result.
"""

from typing import Any, Protocol

from kbd.cli.terminal import can_draw, clean, line, money, note

__all__ = [
    "BarProgress",
    "LineProgress",
    "Progress",
    "SilentProgress",
    "choose_progress",
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


class SilentProgress:
    """Silent progress display, for scripts."""

    def on_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore it."""

    def on_status(self, run: dict[str, Any]) -> None:
        """Ignore it."""

    def interrupted(self) -> None:
        """Say how to stop waiting, for that a person wants to know."""
        note(INTERRUPT_HINT)

    def finish(self) -> None:
        """Do nothing."""


class LineProgress:
    """Line-by-line progress display, for logs, pipes and terminals without drawing.

    The words of the summary are left out, because they are the result, which follows on stdout;
    fenced blocks are, too, because they are for programs.
    """

    def __init__(self) -> None:
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
                self.write(f"    {line(str(params['tool_name']))} failed")
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
            case "WorkshopRunCancelRequested":
                self.write("Cancelling…")
            case _:
                pass

    def on_status(self, run: dict[str, Any]) -> None:
        """Print nothing: usage is printed at the end."""

    def interrupted(self) -> None:
        """Say how to stop waiting."""
        self.end_sentence()
        self.write(INTERRUPT_HINT)

    def finish(self) -> None:
        """Print what is left of an unfinished sentence."""
        self.end_sentence()

    def phase(self, phase: str) -> None:
        """Tell that a phase began."""
        self.end_sentence()
        self._phase, self._is_fenced = phase, False
        self.step(PHASES.get(phase, line(phase)))

    def item(self, item: int, of: int, label: str) -> None:
        """Tell that work on an item began."""
        self.end_sentence()
        self.step(f"Working on item {item} of {of}: {label}")

    def tool(self, name: str) -> None:
        """Tell that a tool starts."""
        self.end_sentence()
        self.step(f"  · {name}")

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
        note(text)

    def _print(self, text: str) -> None:
        if text.lstrip().startswith("```"):
            self._is_fenced = not self._is_fenced
        elif text.strip() and not self._is_fenced and self._phase != "summary":
            self.step(f"  | {line(text, LINE_CHARACTERS)}")


class BarProgress(LineProgress):
    """Progress display with a bar below the lines.

    Beside it stand the phase or item, the time, what was consumed, and the tool that works or the
    words as they come.
    """

    def __init__(self) -> None:
        super().__init__()
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
            TextColumn("{task.fields[consumed]}", markup=False),
            TextColumn("{task.fields[tail]}", markup=False, style="dim"),
            console=Console(stderr=True, highlight=False),
            transient=True,
        )
        self._bar = self._bars.add_task("Starting…", total=None, tail="", consumed="")
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

    def tool(self, name: str) -> None:
        """Tell it, and name it beside the bar."""
        super().tool(name)
        self.tail(name)

    def tail(self, text: str) -> None:
        """Show a few words beside the bar."""
        self._bars.update(self._bar, tail=line(text, TAIL_CHARACTERS))

    def on_status(self, run: dict[str, Any]) -> None:
        """Show what the run has consumed so far."""
        self._bars.update(self._bar, consumed=render_usage(run))

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


def choose_progress(*, silent: bool) -> Progress:
    """Choose how a run is shown here."""
    if silent:
        return SilentProgress()
    return BarProgress() if can_draw() else LineProgress()
