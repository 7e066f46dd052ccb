"""What a person sees of a run in a conversation: a line of status while it works, then the answer.

The status is the bar of `kbd run` without the lines above it; `/verbose` brings those back, with
tool calls in full. Where nothing may be drawn the same is told line by line.
"""

import sys
from typing import Any

from kbd.cli.chat.flowing import Flow
from kbd.cli.chat.tracing import Trace
from kbd.cli.progress import Drawn, Told, consumed
from kbd.cli.terminal import columns, draws, say

__all__ = ["Working"]


class _Status(Drawn):
    """The bar; of what it tells in lines only warnings, unless all is asked for."""

    def __init__(self, *, is_verbose: bool) -> None:
        super().__init__()
        self._is_verbose = is_verbose

    def stands(self, run: dict[str, Any]) -> None:
        """Show the tokens beside the bar; that no price is known is told at the end."""
        self._bars.update(self._bar, consumed=consumed(run).partition(", no")[0])

    def step(self, text: str) -> None:
        """Print a line only if all is asked for."""
        if self._is_verbose:
            super().step(text)

    def tool(self, name: str) -> None:
        """Name it beside the bar; the trace has the call."""
        self.end_sentence()
        self.tail(name)


class _Lines(Told):
    """Lines: what is done; where all is asked for, what is written, and the trace for tools."""

    def __init__(self, *, is_verbose: bool) -> None:
        super().__init__()
        self._is_verbose = is_verbose

    def tool(self, name: str) -> None:
        """Tell it, unless the trace does."""
        if self._is_verbose:
            self.end_sentence()
        else:
            super().tool(name)

    def text(self, delta: str) -> None:
        """Take a piece of what the model writes on its way to the answer."""
        if self._is_verbose:
            super().text(delta)


class Working:
    """Shows one run: a `kbd.cli.progress.Progress`.

    Args:
        trace: Tells of tool calls in full, where everything is to be told.
    """

    def __init__(self, trace: Trace | None) -> None:
        # Who reads a pipe wants the answer, not an answer that turned out to be begun twice.
        # While the bar is drawn `sys.stdout` is not the terminal, but what draws above the bar.
        self._flow = Flow(sys.stdout, lambda: columns(80)) if sys.stdout.isatty() else None
        self._shown = (_Status if draws() else _Lines)(is_verbose=trace is not None)
        self._trace = trace
        self._has_begun = self._is_interrupted = False

    def told(self, method: str, params: dict[str, Any]) -> None:
        """Take one notification."""
        match method:
            case "WorkshopAssistantStreamDelta" if self._flow and params["phase"] == "summary":
                # What still comes of an answer that is not wanted any more is not written.
                if not self._is_interrupted:
                    self._begin_answer()
                    self._flow.write(str(params["token_delta"]))
            case "WorkshopRateLimitWarning" | "WorkshopPhaseStarted" if self._has_begun:
                # What was written so far comes again.
                self._end_answer()
                self._shown.told(method, params)
            case "EventsAppended":
                self._tell_of(params["events"])
            case _:
                self._shown.told(method, params)

    def stands(self, run: dict[str, Any]) -> None:
        """Take how the run stands."""
        self._shown.stands(run)

    def interrupted(self) -> None:
        """Take a first Ctrl-C: nothing more of the answer is written."""
        self._is_interrupted = True
        if self._flow:
            self._flow.again()
        self._shown.interrupted()

    def done(self) -> None:
        """Draw nothing more."""
        self._shown.done()
        if self._flow and self._has_begun:
            self._flow.close()

    def answered(self, text: str) -> None:
        """Print the answer: of what was written as it came only what is missing."""
        if self._flow is None:
            say(text)
        else:
            self._flow.end(text)

    def _begin_answer(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._shown.done()

    def _end_answer(self) -> None:
        if self._flow:
            self._flow.again()

    def _tell_of(self, events: list[dict[str, Any]]) -> None:
        for text in self._trace.lines(events) if self._trace else ():
            if not self._has_begun:
                self._shown.write(text)
