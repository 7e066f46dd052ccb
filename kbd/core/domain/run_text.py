"""Text of the events of runs, and of several of them together: a turn, a call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kbd.core.domain.event_context import EventContext, WorkTotals
from kbd.core.domain.event_phrases import (
    FIELD_CHARACTERS,
    argument_list,
    count_repeats,
    labeled_text,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    NoticeGiven,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    ResearchWritten,
    RunCancelled,
    RunCancelRequested,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    SummaryWritten,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.figures import counted, duration, size
from kbd.messages import Usage

__all__ = ["RUN_TEXTS", "call_text", "turn_text"]


def turn_text(
    turn: int, failures: Sequence[str], reply: tuple[str, Iterable[str], str] | None
) -> str:
    """Render a turn, of which several events tell.

    Args:
        turn: Which.
        failures: The attempts that failed.
        reply: What the model said, the tools that it asked for, and why it stopped; None if no
            reply is recorded.
    """
    after = f" after {counted(len(failures), 'failure')}" if failures else ""
    if reply is None:
        return f"turn {turn}, no reply{after}{f': {failures[-1]}' if failures else ''}"
    return f"turn {turn}{after}{_reply(*reply)}"


def call_text(tool: str, arguments: str, how: str = "", *, by_client: bool = False) -> str:
    """Render a call with its arguments, of which several events tell.

    Args:
        tool: The tool.
        arguments: JSON text.
        how: What became of it, to stand behind the tool.
        by_client: Whether a client called, and no model.
    """
    return _with_arguments(f"client called {tool}{how}" if by_client else f"{tool}{how}", arguments)


def _with_arguments(called: str, arguments: str) -> str:
    given = argument_list(arguments)
    return f"{called}: {given}" if given else called


def _reply(text: str, calls: Iterable[str], finish_reason: str, comma: str = "") -> str:
    """Return what a model asked for and said, and why it stopped if that is unusual."""
    unusual = f" [{finish_reason}]" if finish_reason not in ("stop", "tool_calls", "") else ""
    names = count_repeats(calls)
    asks = f"{comma} asks for {names}" if names else "" if text else f"{comma} says nothing"
    return f"{unusual}{asks}{f': {text[:FIELD_CHARACTERS]}' if text else ''}"


def _of_items(context: EventContext) -> str:
    return f" of {context.items}" if context.items else ""


def _elapsed(took_us: int) -> str:
    return duration(took_us / 1_000_000)


def _tokens(usage: Usage, about: str = "") -> list[str]:
    if usage == Usage():
        return []
    return [f"{about}{usage.input_tokens:,} in", f"{about}{usage.output_tokens:,} out"]


def _in_totals(spent: WorkTotals | None, about: str = "") -> str:
    """Return how long what ends here took, and its turns, calls and tokens."""
    if spent is None:
        return ""
    counts = ((spent.turns, "turn"), (spent.calls, "call"))
    parts = [counted(count, noun) for count, noun in counts if count]
    told = ", ".join([*parts, *_tokens(spent.usage, about)])
    return f" in {_elapsed(spent.took_us)}{f' ({told})' if told else ''}"


def _after(context: EventContext) -> str:
    return f" after {_elapsed(context.spent.took_us)}" if context.spent else ""


def _with_code(code: str, text: str) -> str:
    """Return an error of a call as `CODE: text`; what models are shown begins so itself."""
    told = text.removeprefix("Error: ")
    return told if not code or told.startswith(code) else f"{code}: {told}" if told else code


def _run(context: EventContext) -> str:
    return f"run {context.run}" if context.run else "run"


def _run_finished(data: RunFinished, context: EventContext) -> str:
    left = "with a draft to review" if data.has_draft else "without a draft"
    return f"run finished{_in_totals(context.spent)}, {left}"


def _item_started(data: ItemStarted, context: EventContext) -> str:
    again = f", attempt {data.attempt}" if data.attempt > 1 else ""
    text = context.text[:FIELD_CHARACTERS]
    return f"item {data.item}{_of_items(context)} started{again}{f': {text}' if text else ''}"


def _item_failed(data: ItemRetried | ItemFailed, context: EventContext, then: str = "") -> str:
    undone = f", {counted(context.rolled_back, 'file')} rolled back" if context.rolled_back else ""
    return f"item {data.item} failed{_after(context)}{undone}{then}: {data.code}: {data.reason}"


def _model_replied(data: ModelReplied, context: EventContext) -> str:
    spent = _in_totals(context.spent, "~" if data.usage_is_estimate else "")
    said = _reply(data.text, (call.name for call in data.calls), data.finish_reason, ",")
    return f"model replied{spent}{said}"


def _model_failed(data: ModelFailed, context: EventContext) -> str:
    """Say whether a failed turn is asked for again, and when."""
    if data.option:
        again = f", asked again without {data.option}"
    elif data.retry_attempt:
        again = f", retry {data.retry_attempt} in {duration(data.wait_ms / 1000)}"
    else:
        again = ", no retry"
    return f"model failed{_after(context)}{again}: {data.code}: {data.message}"


def _tool_called(data: ToolCalled, context: EventContext) -> str:
    called = f"tool {data.tool} called" if context.run else f"client called {data.tool}"
    return _with_arguments(
        f"{called}, entry {data.entry_id}", context.call.arguments or data.arguments
    )


def _tool_returned(data: ToolReturned, context: EventContext) -> str:
    tool, took = context.call.tool or "tool", duration(data.duration_ms / 1000)
    worked = ", ".join(used.package for used in data.worked) or context.call.plugin
    by = f", entry {data.entry_id}{f' ({worked})' if worked else ''}"
    if not data.ok:
        return f"{tool} failed in {took}{by}: {_with_code(data.error_code or '', data.shown)}"
    receipt = " as a receipt" if data.result or data.blob else ""
    return f"{tool} returned {size(data.size_bytes)}{receipt} in {took}{by}"


RUN_TEXTS: Mapping[type, Callable[[Any, EventContext], str]] = MappingProxyType(
    {
        RunStarted: lambda e, at: f"{_run(at)} started with {e.model_id}",
        RunResumed: lambda e, at: f"{_run(at)} resumed with {e.model_id}",
        RunInterrupted: lambda e, at: f"run interrupted{_after(at)}: {e.reason}",
        RunCancelRequested: lambda _e, _: "cancel was requested",
        RunCancelled: lambda _, at: f"run cancelled{_after(at)}",
        RunFailed: lambda e, at: f"run failed in {e.subphase}{_after(at)}: {e.code}: {e.message}",
        RunFinished: _run_finished,
        PhaseStarted: lambda e, _: f"phase {e.phase.value} started",
        PhaseCompleted: lambda e, at: f"phase {e.phase.value} completed{_in_totals(at.spent)}",
        ResearchWritten: lambda e, _: (
            f"research, {counted(len(e.text), 'character')}: {e.text[:FIELD_CHARACTERS]}"
        ),
        PlanWritten: lambda e, _: f"plan of {counted(len(e.items), 'item')}: {'; '.join(e.items)}",
        ItemStarted: _item_started,
        ItemCompleted: lambda e, at: (
            f"item {e.item} completed{_in_totals(at.spent)}{f': {e.text}' if e.text else ''}"
        ),
        ItemRetried: lambda e, at: _item_failed(e, at, ", to be tried again"),
        ItemFailed: _item_failed,
        ItemsAdded: lambda e, _: f"{counted(len(e.items), 'item')} added: {'; '.join(e.items)}",
        ItemsRefused: lambda e, _: (
            f"{counted(len(e.items), 'item')} refused ({e.reason}): {'; '.join(e.items)}"
        ),
        SummaryWritten: labeled_text("summary"),
        ModelRequested: lambda e, _: f"asked {e.model_id}, turn {e.turn}",
        ModelReplied: _model_replied,
        ModelFailed: _model_failed,
        NoticeGiven: lambda e, _: f"notice: {e.code}: {e.message}",
        ToolCalled: _tool_called,
        ToolReturned: _tool_returned,
        ToolRefused: lambda e, _: f"tool {e.tool} refused: {_with_code(e.code, e.shown)}",
    }
)
"""What each event of a run tells."""
