"""Place of an event in its run, in words and figures, and whether it tells of a failure."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from kbd.core.domain.event_context import EventCall, EventContext
from kbd.core.domain.run_state import item_label
from kbd.events import drafts, runs, watches, workbenches
from kbd.requests.events import EventPlace
from kbd.types import Phase

__all__ = ["event_place"]

_NO_PLACE = EventPlace()

_AROUND_ITEMS = frozenset({runs.ItemStarted, runs.ItemCompleted, runs.ItemRetried, runs.ItemFailed})
"""What stands around the events of an item, less far in than they."""

_FAILURES = frozenset(
    {
        drafts.EffectAborted,
        drafts.PublishAborted,
        runs.ItemFailed,
        runs.ItemRetried,
        runs.ItemsRefused,
        runs.ModelFailed,
        runs.NoticeGiven,
        runs.RunFailed,
        runs.RunInterrupted,
        runs.ToolRefused,
        watches.LandingsParked,
        watches.WatchSuspended,
        workbenches.LogRepaired,
        workbenches.PluginLeftOut,
    }
)
"""What tells of something that did not go as it should, whatever it holds."""

_OUTCOMES: Mapping[type, Callable[[Any], bool]] = MappingProxyType(
    {
        runs.ToolReturned: lambda e: not e.ok,
        watches.FileLanded: lambda e: e.outcome == "failed",
        watches.WatchRunFinished: lambda e: e.outcome == "failed",
    }
)
"""What may tell of such a thing."""


def event_place(data: Any, context: EventContext) -> EventPlace:
    """Return where an event stands, and whether it tells of a failure."""
    kind = type(data)
    tools = _tools(data, context.call)
    is_failure = kind in _FAILURES or (kind in _OUTCOMES and _OUTCOMES[kind](data))
    if context.phase is None and not context.item and not tools and not is_failure:
        return _NO_PLACE
    label = item_label(context.text) if context.text else ""
    level = _level(kind, context)
    at = (context.phase, context.item, context.items, context.attempt)
    return _place(*at, label, tools, level, is_failure)


@lru_cache(maxsize=256)
def _place(
    phase: Phase | None,
    item: int,
    items: int,
    attempt: int,
    label: str,
    tools: tuple[str, ...],
    level: int,
    is_failure: bool,  # noqa: FBT001
) -> EventPlace:
    """Make a place; events that are read together mostly stand in few of them."""
    text = [f"phase {phase.value}"] if phase else []
    if item:
        text.append(f"item {item} of {items}" if items else f"item {item}")
    if attempt > 1:
        text.append(f"attempt {attempt}")
    return EventPlace(
        text=", ".join(text),
        phase=phase,
        item=item,
        items=items,
        attempt=attempt,
        label=label,
        tools=tools,
        level=level,
        is_failure=is_failure,
    )


def _tools(data: Any, call: EventCall) -> tuple[str, ...]:
    if call.tool:
        return (call.tool,)
    if isinstance(data, runs.ModelReplied):
        return tuple(dict.fromkeys(asked.name for asked in data.calls))
    if isinstance(data, runs.ToolCalled | runs.ToolRefused):
        return (data.tool,)
    return ()


def _level(kind: type, context: EventContext) -> int:
    if context.phase is None or kind.__name__.startswith("Run"):
        return 0
    if kind is runs.PhaseStarted or kind is runs.PhaseCompleted:
        return 1
    return 3 if context.item and kind not in _AROUND_ITEMS else 2
