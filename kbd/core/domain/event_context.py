"""Context of an event: its phase, item and call, its place in the run, what it brought to an end.

An event names only its run; the rest follows from the events before it. A `ContextFold` that was
given all events of a log from the first one on, in order, returns it for each. It keeps what is
open, not the log.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.core.domain.run_state import item_label
from kbd.events import damages, drafts, runs, watches, workbenches
from kbd.events.base import Recorded, ReplyCall
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.messages import Usage
from kbd.requests.events import EventPlace
from kbd.types import BlobHash, CallId, Phase

__all__ = ["ContextFold", "EventCall", "EventContext", "WorkTotals", "event_place"]


class WorkTotals(msgspec.Struct, frozen=True):
    """Totals of what has ended: microseconds of work, turns, calls, tokens."""

    took_us: int = 0
    turns: int = 0
    calls: int = 0
    usage: Usage = Usage()


class EventCall(msgspec.Struct, frozen=True):
    """Tool call that was requested or has begun.

    Args:
        tool: The tool.
        arguments: What it was given, as JSON text; empty if that is in `blob`.
        blob: Arguments that are too long for the log.
        plugin: The plugin that brings the tool; empty before the call begins.
    """

    tool: str = ""
    arguments: str = ""
    blob: BlobHash | None = None
    plugin: str = ""


_NO_CALL = EventCall()


class EventContext(msgspec.Struct, frozen=True):
    """Context of an event, as the events before it give it.

    Args:
        run: The number of its run, or 0.
        phase: The phase that was open.
        item: The item that was worked on, from 1, or 0.
        attempt: The attempt at it, from 1, or 0.
        items: How many items the plan has.
        text: The item's text.
        call: The call that it is about.
        spent: What came to an end with it; None if nothing did.
        rolled_back: How many files it brought back to what they were, where that is known.
    """

    run: int = 0
    phase: Phase | None = None
    item: int = 0
    attempt: int = 0
    items: int = 0
    text: str = ""
    call: EventCall = _NO_CALL
    spent: WorkTotals | None = None
    rolled_back: int = 0


class _WorkSpan(msgspec.Struct):
    """Work since a moment: of a run, a phase, an attempt at an item."""

    since_us: int
    turns: int = 0
    calls: int = 0
    usage: Usage = Usage()

    def spent(self, until_us: int) -> WorkTotals:
        """Return what it took until a moment; a clock that went back makes it nothing."""
        took_us = max(until_us - self.since_us, 0)
        return WorkTotals(took_us, self.turns, self.calls, self.usage)


_ENDS: Mapping[type, str] = MappingProxyType(
    {
        RunFinished: "run",
        RunFailed: "run",
        RunCancelled: "run",
        RunInterrupted: "run",
        PhaseCompleted: "phase",
        ItemCompleted: "item",
        ItemRetried: "item",
        ItemFailed: "item",
    }
)
"""What comes to an end with an event, for good or for now."""


class _OpenRun(msgspec.Struct):
    """The open phase, items, turn and calls of a run.

    `worked_us` is when it was last heard of: a daemon that was killed says that the run was
    interrupted when it starts again, and the time between was no work.
    """

    run: int
    item: int = 0
    attempt: int = 0
    phase: Phase | None = None
    items: list[str] = []
    calls: dict[CallId, EventCall] = {}
    stretches: dict[str, _WorkSpan] = {}
    asked_us: int = 0
    tried_us: int = 0
    worked_us: int = 0

    def run_started(self, _data: RunStarted, ts_us: int) -> None:
        """Begin the run."""
        self.stretches["run"] = _WorkSpan(ts_us)

    def run_resumed(self, _data: RunResumed, ts_us: int) -> None:
        """Go on: the time in which the run stood counts for nothing."""
        for stretch in self.stretches.values():
            stretch.since_us += ts_us - self.worked_us

    def phase_started(self, data: PhaseStarted, ts_us: int) -> None:
        """Begin a phase."""
        self.phase, self.item = data.phase, 0
        self.stretches["phase"] = _WorkSpan(ts_us)

    def planned(self, data: PlanWritten, _ts_us: int) -> None:
        """Take the plan."""
        self.items = list(data.items)

    def items_added(self, data: ItemsAdded, _ts_us: int) -> None:
        """Take more items."""
        self.items += data.items

    def item_started(self, data: ItemStarted, ts_us: int) -> None:
        """Begin an attempt at an item."""
        self.item, self.attempt = data.item, data.attempt
        self.stretches["item"] = _WorkSpan(ts_us)

    def asked(self, _data: ModelRequested, ts_us: int) -> None:
        """Begin a turn; calls of the turn before have all ended."""
        self.asked_us = self.tried_us = ts_us
        self.calls.clear()

    def replied(self, data: ModelReplied, _ts_us: int) -> None:
        """Count a turn, and note the calls that it requests."""
        for stretch in self.stretches.values():
            stretch.turns += 1
            stretch.usage += data.usage
        self.calls.update({call.id: _requested_call(call) for call in data.calls})

    def called(self, data: ToolCalled, _ts_us: int) -> None:
        """Count a call, and note its arguments; a client's own call brings them along."""
        for stretch in self.stretches.values():
            stretch.calls += 1
        asked = self.calls.get(data.call_id, _NO_CALL)
        given, blob = data.arguments or asked.arguments, data.arguments_blob or asked.blob
        self.calls[data.call_id] = EventCall(data.tool, given, blob, data.plugin)

    def context(self, kind: type, data: Any, ts_us: int) -> EventContext:
        """Return the context of an event, between what it begins and what it ends."""
        return EventContext(
            self.run,
            self.phase,
            self.item,
            self.attempt if self.item else 0,
            len(self.items),
            self.items[self.item - 1] if 0 < self.item <= len(self.items) else "",
            self._call(kind, data),
            self._spent(kind, data, ts_us),
        )

    def _call(self, kind: type, data: Any) -> EventCall:
        if kind not in _ABOUT_CALLS or data.call_id is None:
            return _NO_CALL
        return self.calls.get(data.call_id, _NO_CALL)

    def _spent(self, kind: type, data: Any, ts_us: int) -> WorkTotals | None:
        # A reply took as long as the turn did, failed tries included; a failure only its own try.
        if kind is ModelReplied and self.asked_us:
            return WorkTotals(max(ts_us - self.asked_us, 0), usage=data.usage)
        if kind is ModelFailed and self.tried_us:
            return WorkTotals(max(ts_us - self.tried_us, 0))
        stretch = self.stretches.get(_ENDS.get(kind, ""))
        if stretch is None:
            return None
        return stretch.spent(self.worked_us if kind is RunInterrupted else ts_us)

    def end(self, kind: type, data: Any, ts_us: int) -> None:
        """Take what an event ends."""
        if kind is not RunInterrupted:
            self.worked_us = ts_us
        if kind is ModelFailed:
            # The pause before the next try is nobody's work.
            self.tried_us = ts_us + data.wait_ms * 1000
        elif kind is ToolReturned or kind is ToolRefused:
            self.calls.pop(data.call_id, None)
        elif kind is PhaseCompleted:
            self.phase, self.item = None, 0
            self.stretches.pop("phase", None)
            self.stretches.pop("item", None)
        elif _ENDS.get(kind) == "item":
            self.item = 0
            self.stretches.pop("item", None)


UNFINISHED_RUNS = 16
"""Of so many runs that did not finish the open parts are kept. Only the one on the newest message
can be resumed, and an undo brings an earlier one back; of one that was given up long before,
nothing is told beside its events."""


class ContextFold(msgspec.Struct):
    """Fold of a log, from its first event on, into the context of each event.

    Args:
        runs: The open parts of runs that are under way, or may be resumed.
        loose: Those of clients' own calls, which belong to no run.
    """

    runs: dict[int, _OpenRun] = {}
    loose: _OpenRun = msgspec.field(default_factory=lambda: _OpenRun(0))

    def add(self, record: Recorded) -> EventContext:
        """Return the context of the next event."""
        kind = type(record.data)
        course = self._course(record.run, kind)
        if begin := _BEGINS.get(kind):
            begin(course, record.data, record.ts_us)
        context = course.context(kind, record.data, record.ts_us)
        course.end(kind, record.data, record.ts_us)
        # A run that ended in another way may be resumed, and its open parts are then needed again.
        if kind is RunFinished:
            self.runs.pop(record.run, None)
        return context

    def copy(self) -> "ContextFold":
        """Return an independent copy of the fold."""
        return msgspec.msgpack.decode(msgspec.msgpack.encode(self), type=ContextFold)

    def _course(self, run: int, kind: type) -> _OpenRun:
        if not run:
            return self.loose
        if kind is RunStarted or run not in self.runs:
            self.runs.pop(run, None)
            self.runs[run] = _OpenRun(run)
            if len(self.runs) > UNFINISHED_RUNS:
                del self.runs[next(iter(self.runs))]
        return self.runs[run]


def _requested_call(call: ReplyCall) -> EventCall:
    return EventCall(call.name, call.arguments, call.blob)


_ABOUT_CALLS = frozenset({ToolCalled, ToolReturned, ToolRefused, FileChanged})

_BEGINS: Mapping[type, Callable[[_OpenRun, Any, int], None]] = MappingProxyType(
    {
        RunStarted: _OpenRun.run_started,
        RunResumed: _OpenRun.run_resumed,
        PhaseStarted: _OpenRun.phase_started,
        PlanWritten: _OpenRun.planned,
        ItemsAdded: _OpenRun.items_added,
        ItemStarted: _OpenRun.item_started,
        ModelRequested: _OpenRun.asked,
        ModelReplied: _OpenRun.replied,
        ToolCalled: _OpenRun.called,
    }
)
"""What an event begins; by type, for every event of a log is asked about."""


_NO_PLACE = EventPlace()

_AROUND_ITEMS = frozenset({runs.ItemStarted, runs.ItemCompleted, runs.ItemRetried, runs.ItemFailed})
"""What stands around the events of an item, less far in than they."""

_FAILURES = frozenset(
    {
        damages.DamageFound,
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
        workbenches.PluginEndedDaemon,
        workbenches.PluginLeftOut,
    }
)
"""What tells of something that did not go as it should, whatever it holds."""

_OUTCOMES: Mapping[type, Callable[[Any], bool]] = MappingProxyType(
    {
        runs.RunFinished: lambda e: e.refusal is not None,
        runs.ToolReturned: lambda e: not e.ok,
        watches.FileLanded: lambda e: e.outcome == "failed",
        watches.WatchRunFinished: lambda e: e.outcome == "failed",
    }
)
"""What may tell of such a thing."""


def event_place(data: Any, context: EventContext) -> EventPlace:
    """Return an event's place in its run, and whether it reports a failure."""
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
