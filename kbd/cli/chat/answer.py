"""Answer to a message: consent, the run until its end shown live, its text, what it changed.

While the run works there is a status line: the bar of `kbd run` without the lines above it;
`/verbose` brings those back, with tool calls in full as the log records them: their arguments, and
how much came back. The answer is written as it comes, word by word, broken between words. Where
nothing may be drawn the same is told line by line.
"""

import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Self, TextIO

from kbd.cli.chat.session import ChatSession, without_echo
from kbd.cli.exits import CANCELLED, DECLINED, FAILED, UNREACHABLE, Stop
from kbd.cli.job import exit_code, print_usage, read_summary, run_until_ended
from kbd.cli.log_reader import event_title, read_events
from kbd.cli.progress import BarProgress, LineProgress, render_usage
from kbd.cli.review import render_changes
from kbd.cli.terminal import (
    can_draw,
    cell_width,
    clean,
    columns,
    graphemes,
    is_interactive,
    line,
    note,
    say,
)
from kbd.client.blocking import Client

__all__ = ["AnswerWriter", "RunView", "ToolTrace", "answer_message", "resume_run"]


MAX_COLUMNS = 100
"""Longer lines are tiring to read, however wide the terminal is."""

MAX_HELD_CHARACTERS = 64
"""How much of a control sequence that has not ended is waited for."""

_WORDS = re.compile(r"\n|[ \t]+|[^ \t\n]+")
_MARK = re.compile(r"[-*•+]|\d{1,3}[.)]")


# By hand: rich.live draws what comes anew with each word, so what has left the screen is lost; this
# writes each word once, and what a person selects or scrolls back to is the answer.
class AnswerWriter:
    """Writer of a streamed answer: wraps words, holds back the last one.

    Lines are broken at spaces; those of a list go on below their text. What stands between fences,
    and rows of tables, is left as it is: a terminal breaks them where it must.

    Attributes:
        text: What has been written, as it came.

    Args:
        out: The terminal.
        columns: Tells how wide it is now.
    """

    def __init__(self, out: TextIO, columns: Callable[[], int]) -> None:
        self.text = ""
        self._out, self._columns = out, columns
        self._rest = ""
        self._word = ""
        self._at, self._indent, self._goes_on = 0, 0, False
        self._is_fenced = self._is_plain = False

    def write(self, delta: str) -> None:
        """Write more of it; the last word waits until it is whole."""
        self.text += delta
        self._rest += delta
        # A sequence may come in two pieces, and only a whole one can be taken out.
        held = self._rest.rfind("\x1b", max(0, len(self._rest) - MAX_HELD_CHARACTERS))
        ready = self._rest if held < 0 else self._rest[:held]
        self._rest = self._rest[len(ready) :]
        self._write_text(clean(ready))
        self._out.flush()

    def end(self, whole: str) -> None:
        """End the answer, which is this as a whole: what is missing of it is written."""
        whole = whole.strip()
        # What was streamed is not its beginning: the answer was begun anew since.
        if not whole.startswith(self.text.strip()):
            self.restart()
        self.write(whole[len(self.text.strip()) :])
        self.close()

    def restart(self) -> None:
        """End a part that will be streamed again from its beginning."""
        if self.text:
            self.close()
            self._out.write("…\n")
            self.text = ""

    def close(self) -> None:
        """Write what waits, and end the line."""
        self._write_text(clean(self._rest))
        self._rest = ""
        self._write_word()
        if self._at:
            self._newline()
        self._is_fenced = False
        self._out.flush()

    def _write_text(self, text: str) -> None:
        for piece in _WORDS.findall(text):
            if piece == "\n":
                self._write_word()
                self._newline()
            elif piece[0] in " \t":
                self._write_word()
                self._space(piece)
            else:
                self._add(piece)

    def _add(self, piece: str) -> None:
        """Add to the word; a line may be broken before and after each wide sign."""
        if piece.isascii():
            self._word += piece
            return
        for sign, cells in graphemes(piece):
            if cells == 2:
                self._write_word()
                self._word = sign
                self._write_word()
            else:
                self._word += sign

    def _space(self, piece: str) -> None:
        if not self._goes_on:
            self._indent += len(piece.expandtabs(4))
        if self._at:
            self._at += len(piece)
            if self._is_plain or self._at < self._width:
                self._out.write(piece)
                return
            self._break()
        else:
            self._out.write(piece)
            self._at += len(piece)

    def _write_word(self) -> None:
        word, self._word = self._word, ""
        if not word:
            return
        wide = cell_width(word)
        if not self._goes_on:
            self._begin_line(word, wide)
        # A word that no line can hold is not put on a line of its own for nothing.
        elif not self._is_plain and self._at + wide > self._width and self._at > self._indent:
            self._break()
        self._out.write(word)
        self._at += wide
        self._goes_on = True

    def _begin_line(self, word: str, wide: int) -> None:
        is_fence = word.startswith("```")
        self._is_plain = self._is_fenced or is_fence or word.startswith("|")
        if is_fence:
            self._is_fenced = not self._is_fenced
        if _MARK.fullmatch(word):
            self._indent += wide + 1
        # Else a text that is set in far would be broken after each word.
        self._indent = min(self._indent, self._width // 2)

    def _break(self) -> None:
        self._out.write("\n" + " " * self._indent)
        self._at = self._indent

    def _newline(self) -> None:
        self._out.write("\n")
        self._at, self._indent, self._goes_on = 0, 0, False

    @property
    def _width(self) -> int:
        return max(min(self._columns(), MAX_COLUMNS), 8)


TITLE_COLUMNS = 200

_TRACED_EVENTS = frozenset({"ToolCalled", "ToolRefused", "ToolReturned"})


class ToolTrace:
    """Renders events of a run as lines, while inside.

    That there are events is heard on the session's connection, where the run's end is waited for;
    what they tell is asked for on another one, for an answer would be lost on that.

    Args:
        session: The conversation.
    """

    def __init__(self, session: ChatSession) -> None:
        self._session = session
        self._client: Client | None = None

    def __enter__(self) -> Self:
        self._session.ask("EventsSubscribe", after=self._session.ask("LogHead")["seq"])
        self._client = self._session.another_client()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if error is None:
            self._session.ask("EventsUnsubscribe")
        else:
            self._session.drop()  # and with it the subscription

    def lines(self, events: list[dict[str, Any]]) -> list[str]:
        """Render the tool calls of events, one after the other."""
        if self._client is None or not any(event["type"] in _TRACED_EVENTS for event in events):
            return []
        first, last = events[0]["seq"], events[-1]["seq"]
        try:
            rows = list(read_events(self._client, self._session.workbench_id, first - 1, last))
        except Stop:
            rows = events  # Their types are better than nothing; why is told elsewhere.
        traced = (row for row in rows if row["type"] in _TRACED_EVENTS)
        return [f"  {line(event_title(row), TITLE_COLUMNS)}" for row in traced]


class _StatusBar(BarProgress):
    """Progress bar that prints only warnings as lines, unless all is asked for."""

    def __init__(self, *, is_verbose: bool) -> None:
        super().__init__()
        self._is_verbose = is_verbose

    def on_status(self, run: dict[str, Any]) -> None:
        """Show the tokens beside the bar; a missing price is reported at the end."""
        self._bars.update(self._bar, consumed=render_usage(run).partition(", no")[0])
        self.show_left()

    def step(self, text: str) -> None:
        """Print a line of progress only if the display is verbose."""
        if self._is_verbose:
            super().step(text)

    def tool(self, name: str) -> None:
        """Name it beside the bar; the trace has the call."""
        self.end_sentence()
        self.tail(name)

    def tool_failed(self, name: str) -> None:
        """Tell it, unless the trace does, with the reason."""
        if not self._is_verbose:
            super().tool_failed(name)


class _StatusLines(LineProgress):
    """Line-by-line display; where all is asked for, with the text and the trace of tools."""

    def __init__(self, *, is_verbose: bool) -> None:
        super().__init__()
        self._is_verbose = is_verbose

    def tool(self, name: str) -> None:
        """Tell it, unless the trace does."""
        if self._is_verbose:
            self.end_sentence()
        else:
            super().tool(name)

    def tool_failed(self, name: str) -> None:
        """Tell it, unless the trace does, with the reason."""
        if not self._is_verbose:
            super().tool_failed(name)

    def text(self, delta: str) -> None:
        """Take a piece of what the model writes on its way to the answer."""
        if self._is_verbose:
            super().text(delta)


class RunView:
    """Live view of one run: a `kbd.cli.progress.Progress`.

    Args:
        trace: Tells of tool calls in full, where everything is to be told.
    """

    def __init__(self, trace: ToolTrace | None) -> None:
        # Who reads a pipe wants the answer, not an answer that turned out to be begun twice.
        # While the bar is drawn `sys.stdout` is not the terminal, but what draws above the bar.
        self._flow = AnswerWriter(sys.stdout, lambda: columns(80)) if sys.stdout.isatty() else None
        self._shown = (_StatusBar if can_draw() else _StatusLines)(is_verbose=trace is not None)
        self._trace = trace
        self._has_begun = self._is_interrupted = False

    def on_notification(self, method: str, params: dict[str, Any]) -> None:
        """Handle a notification."""
        match method:
            case "WorkshopAssistantStreamDelta" if self._flow and params["phase"] == "summary":
                # What still comes of an answer that is not wanted any more is not written.
                if not self._is_interrupted:
                    self._begin_answer()
                    self._flow.write(str(params["token_delta"]))
            case "WorkshopRateLimitWarning" | "WorkshopPhaseStarted" if self._has_begun:
                # What was written so far comes again.
                self._end_answer()
                self._shown.on_notification(method, params)
            case "EventsAppended":
                self._print_trace(params["events"])
            case _:
                self._shown.on_notification(method, params)

    def on_status(self, run: dict[str, Any]) -> None:
        """Handle the run's status."""
        self._shown.on_status(run)

    def interrupted(self) -> None:
        """Take a first Ctrl-C: nothing more of the answer is written."""
        self._is_interrupted = True
        if self._flow:
            self._flow.restart()
        self._shown.interrupted()

    def finish(self) -> None:
        """Finish the display."""
        self._shown.finish()
        if self._flow and self._has_begun:
            self._flow.close()

    def print_answer(self, text: str) -> None:
        """Print the answer, or what is missing of one that was streamed."""
        if self._flow is None:
            say(text)
        else:
            self._flow.end(text)

    def _begin_answer(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._shown.finish()

    def _end_answer(self) -> None:
        if self._flow:
            self._flow.restart()

    def _print_trace(self, events: list[dict[str, Any]]) -> None:
        for text in self._trace.lines(events) if self._trace else ():
            if not self._has_begun:
                self._shown.write(text)


def answer_message(session: ChatSession, text: str) -> int:
    """Send a message, show its answer, and return the code of how that went.

    Raises:
        Stop: It could not be sent: nobody consented, the daemon refused, or it is gone.
    """
    session.settle_readings(text)
    session.consent()
    message_id = str(session.ask("WorkshopSendUserMessage", text=text)["message_id"])
    return _run(session, message_id)


def resume_run(session: ChatSession) -> int:
    """Go on with the run that stopped, and return the code of how that went.

    Raises:
        Stop: As `answer_message` does, or there is nothing to go on with.
    """
    session.settle_readings()
    session.consent()
    return _run(session, None)


def _run(session: ChatSession, message_id: str | None) -> int:
    trace = ToolTrace(session) if session.is_verbose else None
    shown = RunView(trace)
    try:
        # What is typed meanwhile would stand in the middle of the answer.
        with without_echo(), trace or nullcontext():
            run = run_until_ended(session.client, session.workbench_id, message_id, shown)
    except KeyboardInterrupt:
        # The second Ctrl-C may come before the first was passed on.
        session.drop()
        session.ask("WorkshopCancelRun")
        raise
    except Stop as stop:
        if stop.code == UNREACHABLE:
            msg = "kbd ended while it worked; what was recorded is safe, and /resume goes on"
            raise Stop(msg, UNREACHABLE) from stop
        raise
    finally:
        shown.finish()
    session.runs.append(str(run["run_id"]))
    # What a declined run says is its answer: whoever talks with it reads on, or types it anew.
    if run["status"] not in {"finished", "declined"}:
        return _report_failure(run)
    answer = read_summary(session.client, session.workbench_id)
    shown.print_answer(answer)
    # Between what was asked for and what is told beside it; a pipe has them apart.
    if is_interactive():
        note("")
    code = DECLINED if run["status"] == "declined" else exit_code(run)
    _print_changes(session, str(run["run_id"]), answer)
    print_usage(run)
    return code


def _report_failure(run: dict[str, Any]) -> int:
    """Tell why a run did not finish and how to go on."""
    match run["status"]:
        case "cancelled":
            note("Cancelled; what was done is kept. /resume goes on, /undo takes it back.")
            return CANCELLED
        case "interrupted":
            note("The daemon stopped during the run. /resume goes on.")
        case _:
            error = run.get("error") or {"error_code": "FAILED", "message": "the run failed"}
            note(f"{line(error['error_code'])}: {error['message']}")
            if error.get("retryable"):
                note("/resume goes on where it stopped.")
    return FAILED


def _print_changes(session: ChatSession, run_id: str, answer: str) -> None:
    """Tell what this run changed in the draft."""
    changes = session.ask("ReviewGetChangeSet")["changes"]
    changed = [each for each in changes if each.get("run_id") == run_id]
    if changed:
        note(render_changes(changed, answer))
        note("In the draft: /review shows it, /publish takes it over, /undo takes it back.")
