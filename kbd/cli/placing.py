"""Where an event belongs: its run, phase and item, its tool, and what it ends took.

An event names its run; the rest is told by the events before it. Give a `Tracker` all events of a
log from the first one on, in order, and it says so of each. It keeps what is open, not the log.
"""

from datetime import datetime
from typing import Any, NamedTuple

__all__ = ["Place", "Spent", "Tracker"]


class Spent(NamedTuple):
    """What something took until it ended: seconds of work, turns, calls, tokens."""

    seconds: float = 0.0
    turns: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Place(NamedTuple):
    """Where an event belongs.

    Attributes:
        run: The number of its run, or 0.
        phase: The phase that was open, or "".
        item: The item that was worked on, from 1, or 0.
        attempt: The attempt at it, from 1, or 0.
        items: How many items the plan has.
        label: The item's text.
        tools: The tools that it is about: asked for, called, refused, returned, or having written.
        plugin: The plugin that brings the tool of its call.
        arguments: What the call was given, as JSON text.
        spent: What came to an end with it; None if nothing did.
    """

    run: int = 0
    phase: str = ""
    item: int = 0
    attempt: int = 0
    items: int = 0
    label: str = ""
    tools: tuple[str, ...] = ()
    plugin: str = ""
    arguments: str = ""
    spent: Spent | None = None


class Tracker:
    """Follows a log from its first event."""

    def __init__(self) -> None:
        self._runs: dict[str, _Course] = {}
        self._loose = _Course(0)

    def place(self, event: dict[str, Any]) -> Place:
        """Return where the next event belongs.

        Args:
            event: As `EventsRead` tells it.
        """
        kind, data = str(event["type"]), event.get("data")
        data = data if isinstance(data, dict) else {}
        at = str(event["ts"])
        course = self._course(event.get("run_id"), kind)
        course.begin(kind, data, at)
        place = course.place(kind, data, at)
        course.end(kind, data, at)
        if kind == "RunFinished":
            self._runs.pop(str(event.get("run_id")), None)
        return place

    def _course(self, run_id: str | None, kind: str) -> "_Course":
        """Return what is open in a run; clients' own calls belong to none."""
        if not run_id:
            return self._loose
        if kind == "RunStarted" or run_id not in self._runs:
            number = run_id.rpartition("-")[2]
            self._runs[run_id] = _Course(int(number) if number.isdecimal() else 0)
        return self._runs[run_id]


class _Stretch:
    """Work since a moment: of a run, a phase, an attempt at an item."""

    def __init__(self, since: str) -> None:
        self.since = _seconds(since)
        self.turns = self.calls = self.input_tokens = self.output_tokens = 0

    def spent(self, until: str) -> Spent:
        """Return what it took until a moment."""
        seconds = max(_seconds(until) - self.since, 0.0)
        return Spent(seconds, self.turns, self.calls, self.input_tokens, self.output_tokens)


def _seconds(ts: str) -> float:
    return datetime.fromisoformat(ts).timestamp() if ts else 0.0


class _Call(NamedTuple):
    """A call that has not ended."""

    tool: str
    arguments: str = ""
    plugin: str = ""


_NO_CALL = _Call("")

_ENDS = {
    "RunFinished": "run",
    "RunFailed": "run",
    "RunCancelled": "run",
    "RunInterrupted": "run",
    "PhaseCompleted": "phase",
    "ItemCompleted": "item",
    "ItemRetried": "item",
    "ItemFailed": "item",
}
"""What comes to an end with an event, for good or for now."""


class _Course:
    """What is open in a run.

    `worked_at` is when it was last heard of: a daemon that was killed says that the run was
    interrupted when it starts again, and the time between was no work.
    """

    def __init__(self, run: int) -> None:
        self.run, self.phase, self.item, self.attempt = run, "", 0, 0
        self.items: list[str] = []
        self.calls: dict[str, _Call] = {}
        self.stretches: dict[str, _Stretch] = {}
        self.asked_at = self.tried_at = 0.0
        self.worked_at = ""

    def begin(self, kind: str, data: dict[str, Any], at: str) -> None:
        """Take what an event begins."""
        match kind:
            case "RunStarted":
                self.stretches["run"] = _Stretch(at)
            case "RunResumed":
                for stretch in self.stretches.values():
                    stretch.since += _seconds(at) - _seconds(self.worked_at)
            case "PhaseStarted":
                self.phase, self.item = str(data.get("phase", "")), 0
                self.stretches["phase"] = _Stretch(at)
            case "PlanWritten":
                self.items = [str(text) for text in data.get("items", ())]
            case "ItemsAdded":
                self.items += [str(text) for text in data.get("items", ())]
            case "ItemStarted":
                self.item, self.attempt = int(data.get("item", 0)), int(data.get("attempt", 1))
                self.stretches["item"] = _Stretch(at)
            case "ModelRequested":
                self.asked_at = self.tried_at = _seconds(at)
                self.calls.clear()
            case "ModelReplied":
                self._replied(data)
            case "ToolCalled":
                self._called(data)

    def _replied(self, data: dict[str, Any]) -> None:
        usage = data.get("usage") or {}
        for stretch in self.stretches.values():
            stretch.turns += 1
            stretch.input_tokens += int(usage.get("input_tokens", 0))
            stretch.output_tokens += int(usage.get("output_tokens", 0))
        for call in data.get("calls", ()):
            self.calls[str(call.get("id"))] = _Call(
                str(call.get("name", "")), str(call.get("arguments", ""))
            )

    def _called(self, data: dict[str, Any]) -> None:
        for stretch in self.stretches.values():
            stretch.calls += 1
        call_id = str(data.get("call_id"))
        arguments = str(data.get("arguments", "")) or self.calls.get(call_id, _NO_CALL).arguments
        self.calls[call_id] = _Call(
            str(data.get("tool", "")), arguments, str(data.get("plugin", ""))
        )

    def place(self, kind: str, data: dict[str, Any], at: str) -> Place:
        """Say where an event belongs, between what it begins and what it ends."""
        call = self.calls.get(str(data.get("call_id")), _NO_CALL)
        if kind == "ModelReplied":
            tools = tuple(dict.fromkeys(str(each.get("name")) for each in data.get("calls", ())))
        else:
            tool = call.tool or str(data.get("tool", ""))
            tools = (tool,) if tool else ()
        label = self.items[self.item - 1] if 0 < self.item <= len(self.items) else ""
        return Place(
            self.run, self.phase, self.item, self.attempt if self.item else 0, len(self.items),
            label, tools, call.plugin, call.arguments, self._spent(kind, data, at),
        )  # fmt: skip

    def _spent(self, kind: str, data: dict[str, Any], at: str) -> Spent | None:
        match kind:
            case "ModelReplied" if self.asked_at:
                usage = data.get("usage") or {}
                tokens = int(usage.get("input_tokens", 0)), int(usage.get("output_tokens", 0))
                return Spent(max(_seconds(at) - self.asked_at, 0.0), 0, 0, *tokens)
            case "ModelFailed" if self.tried_at:
                return Spent(max(_seconds(at) - self.tried_at, 0.0))
            case _ if kind in _ENDS and _ENDS[kind] in self.stretches:
                until = self.worked_at if kind == "RunInterrupted" else at
                return self.stretches[_ENDS[kind]].spent(until)
            case _:
                return None

    def end(self, kind: str, data: dict[str, Any], at: str) -> None:
        """Take what an event ends."""
        if kind != "RunInterrupted":
            self.worked_at = at
        match kind:
            case "ModelFailed":
                self.tried_at = _seconds(at) + int(data.get("wait_ms", 0)) / 1000
            case "ToolReturned" | "ToolRefused":
                self.calls.pop(str(data.get("call_id")), None)
            case "PhaseCompleted":
                self.phase, self.item = "", 0
                self.stretches.pop("phase", None)
                self.stretches.pop("item", None)
            case "ItemCompleted" | "ItemRetried" | "ItemFailed":
                self.item = 0
                self.stretches.pop("item", None)
