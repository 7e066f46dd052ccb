"""Attribution of changes: which step of a file's lineage last touched each place that differs.

The steps between the two versions are walked, and at each the file's format tells whether a place
differs across it and where it is on the other side. What no newer step touched, the oldest one
made: that the versions differ is certain. A version that cannot be read joins the steps around it;
what such a group of steps changed has no single maker, and none is named. No wrong one ever is.
"""

from collections.abc import Iterable, Sequence

import msgspec
from anyio import current_time

from kbd.core.domain.lineage import FileLineage, LineageStep, walk_steps
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.file_store import Blobs
from kbd.errors import FileReadFailed, NotFound, ToolTimeout, ToolWorkerUnavailable
from kbd.formats import Change, CompareOptions, Comparison, Place, Trace
from kbd.requests import reviews as wire
from kbd.requests.base import UNSET
from kbd.tools import FileRef
from kbd.types import BlobHash

__all__ = [
    "Attribution",
    "StepFormats",
    "place_key",
    "render_maker",
    "same_place",
    "step_reason",
    "steps_of_draft",
]

MAX_TRACED_STEPS = 200
"""Steps that are looked into for one answer; each takes a worker's call, 20 ms and more."""

MAX_TRACE_S = 30.0
"""Seconds after which no more steps of a large file are looked into for one answer."""

MAX_REASON_CHARACTERS = 500
"""As much of an item or message is told as the reason of each change."""

_UNREADABLE = (FileReadFailed, NotFound, ToolTimeout, ToolWorkerUnavailable)


def place_key(place: Place) -> tuple[object, ...]:
    """Return a place's coordinates, which are equal for equal places of one version."""
    assert place.__struct_fields__[0] == "title"
    return msgspec.structs.astuple(place)[1:]


def same_place(one: Place, other: Place) -> bool:
    """Return whether two places of one version are the same one, whatever they are titled."""
    return place_key(one) == place_key(other)


def steps_of_draft(lineage: FileLineage) -> tuple[tuple[LineageStep, ...], bool]:
    """Return what made the draft's version of its base, newest first, and whether that is all."""
    steps: list[LineageStep] = []
    for step in walk_steps(lineage.drafted):
        if step is lineage.base:
            return tuple(steps), True
        if step.kind == "unknown":
            return tuple(steps), False
        steps.append(step)
    return tuple(steps), lineage.base is None


class StepFormats:
    """What a file's format tells of the steps between its versions.

    Args:
        formats: The formats.
        blobs: Where the versions lie.
    """

    def __init__(self, formats: FormatCalls, blobs: Blobs) -> None:
        self._formats, self._blobs = formats, blobs
        self._left = MAX_TRACED_STEPS
        self._deadline_s = current_time() + MAX_TRACE_S

    def version(self, step: LineageStep) -> FileRef:
        """Return the version that a step made; it made one."""
        assert step.after is not None
        return self._file(step, step.after)

    async def trace(
        self, older: LineageStep, newer: LineageStep, places: Sequence[Place], *, forward: bool
    ) -> tuple[Trace, ...] | None:
        """Trace places between the versions that two steps made; None where that cannot be told."""
        if self._left <= 0 or current_time() > self._deadline_s:
            return None
        self._left -= 1
        before, after = self.version(older), self.version(newer)
        try:
            found = await self._formats.trace(before, after, places, forward=forward)
        except _UNREADABLE:
            return None
        return found if len(found) == len(places) else None

    async def compare(self, older: LineageStep | None, newer: LineageStep) -> Comparison | None:
        """Compare the versions that two steps made; None where that cannot be told."""
        before = self.version(older) if older is not None else None
        try:
            return await self._formats.compare(before, self.version(newer), CompareOptions())
        except _UNREADABLE:
            return None

    def _file(self, step: LineageStep, blob: BlobHash) -> FileRef:
        return FileRef(step.name, blob, step.size_bytes, self._blobs.path(blob))


class _Group(msgspec.Struct, frozen=True):
    """Neighboring steps that no readable version parts; mostly one.

    Args:
        newest: The newest of them.
        oldest: The oldest of them.
    """

    newest: LineageStep
    oldest: LineageStep

    @property
    def maker(self) -> LineageStep | None:
        """The step that made what changed across the group, if that is certain."""
        return self.newest if self.newest is self.oldest else None


class Attribution:
    """Attribution of the changes between the two versions of a draft's file.

    Args:
        steps: What is between them, newest first.
        formats: What the file's format tells of them.
        is_whole: Whether the changes are all that the steps made, and nothing else: they lead from
            the one version to the other, and both were compared.
    """

    def __init__(
        self, steps: Sequence[LineageStep], formats: StepFormats, *, is_whole: bool
    ) -> None:
        self._steps, self._formats, self._is_whole = tuple(steps), formats, is_whole
        self._found: dict[int, LineageStep] = {}

    async def find_makers(self, changes: Sequence[Change]) -> list[LineageStep | None]:
        """Return for each change the step that last touched its place; None if not certain."""
        self._found = {}
        if not self._steps:
            return [None] * len(changes)
        if self._is_whole and len(self._steps) == 1:
            return [self._steps[0]] * len(changes)
        backward: dict[int, Place] = {}
        forward: dict[int, Place] = {}
        moved: set[int] = set()
        for number, change in enumerate(changes):
            # A file that is told by its bytes: each step changes them.
            if change.what == "file" and not any(place_key(change.place)):
                self._found[number] = self._steps[0]
            elif change.kind == "removed":
                forward[number] = change.place
            else:
                backward[number] = change.place
                if change.kind == "moved":
                    moved.add(number)
        if backward:
            await self._walk_back(backward, moved)
        if forward:
            await self._walk_forward(forward)
        return [self._found.get(number) for number in range(len(changes))]

    async def _walk_back(self, places: dict[int, Place], moved: set[int]) -> None:
        """Look for the newest step across which each place differs."""
        orders = _Reordering(self._formats)
        newest = self._steps[0]
        for step in self._steps:
            group, older = _Group(newest, step), step.older
            if older is None or older.after is None:
                # The file came to be here, with all that it held.
                self._settle(group, places)
                break
            is_last = self._is_whole and step is self._steps[-1]
            if is_last:
                self._settle(group, {n: p for n, p in places.items() if n not in moved})
                places = {n: p for n, p in places.items() if n in moved}
                if places and orders.is_blank:
                    self._settle(group, places)
                    places = {}
            if not places:
                break
            traces = await self._formats.trace(older, newest, [*places.values()], forward=False)
            if traces is None:
                orders.skip()
                continue
            touched = {n for n, t in zip(places, traces, strict=True) if _is_touched(t)}
            if moved & places.keys() - touched:
                touched |= await orders.moved_in(group, older, places, moved - touched)
            self._settle(group, {number: places[number] for number in touched})
            places = {
                number: trace.place
                for number, trace in zip(places, traces, strict=True)
                if trace.place is not None and number not in touched
            }
            newest = older
        orders.settle(self._found, {number for number in places if number in moved})

    async def _walk_forward(self, places: dict[int, Place]) -> None:
        """Look for the step across which each place goes; else for the last that changed it."""
        oldest = self._steps[-1]
        changed: dict[int, LineageStep | None] = {}
        for place in range(len(self._steps) - 1, -1, -1):
            step = self._steps[place]
            group = _Group(step, oldest)
            if step.after is None:
                self._settle(group, places)
                return
            if self._is_whole and not place:
                self._settle(group, {n: p for n, p in places.items() if n not in changed})
                places = {n: p for n, p in places.items() if n in changed}
            older = oldest.older
            if not places or older is None or older.after is None:
                break
            traces = await self._formats.trace(older, step, [*places.values()], forward=True)
            if traces is None:
                continue
            gone = {n: places[n] for n, t in zip(places, traces, strict=True) if t.place is None}
            self._settle(group, gone)
            left: dict[int, Place] = {}
            for number, trace in zip(places, traces, strict=True):
                if trace.place is not None:
                    left[number] = trace.place
                    if trace.is_changed:
                        changed[number] = group.maker
            places = left
            if not place:
                # Each version still had it, differing: what the last change left is something else.
                self._found.update({n: m for n in places if (m := changed.get(n)) is not None})
                return
            oldest = self._steps[place - 1]

    def _settle(self, group: _Group, numbers: Iterable[int]) -> None:
        if group.maker is not None:
            self._found.update(dict.fromkeys(numbers, group.maker))


def _is_touched(trace: Trace) -> bool:
    return trace.place is None or trace.is_changed


class _Reordering:
    """Search for the step that moved something: only a comparison of a step tells.

    Which of two that changed places has moved is a matter of view, and may differ between a step
    and all of them. So a step that moved others only is remembered, and is the one if it stays the
    only one.

    Args:
        formats: What the file's format tells.
    """

    def __init__(self, formats: StepFormats) -> None:
        self._formats = formats
        self._movers: list[LineageStep | None] = []

    @property
    def is_blank(self) -> bool:
        """Whether no step so far may have moved anything."""
        return not self._movers

    def skip(self) -> None:
        """Take note of a step of which nothing can be told."""
        self._movers.append(None)

    async def moved_in(
        self, group: _Group, older: LineageStep, places: dict[int, Place], wanted: set[int]
    ) -> set[int]:
        """Return which of the wanted places were moved across a group of steps."""
        found = await self._formats.compare(older, group.newest)
        if found is None or found.total > len(found.changes):
            self.skip()
            return set()
        moved = {place_key(each.place) for each in found.changes if each.kind == "moved"}
        if moved:
            self._movers.append(group.maker)
        return {n for n, place in places.items() if n in wanted and place_key(place) in moved}

    def settle(self, found: dict[int, LineageStep], left: set[int]) -> None:
        """Name the only step that moved anything for what no step was seen to move."""
        if len(self._movers) == 1 and (maker := self._movers[0]) is not None:
            found.update(dict.fromkeys(left - found.keys(), maker))


def step_reason(state: WorkbenchState, step: LineageStep) -> str:
    """Return why a call was made: the item's text, or the message that the run answers; or ""."""
    return item_text(state, step) or message_text(state, step)


def item_text(state: WorkbenchState, step: LineageStep) -> str:
    """Return the text of the item that a step's run worked on, or ""."""
    step = step.original
    run = state.run(step.run) if 0 < step.run <= len(state.runs) else None
    items = run.plan.items if run is not None and run.plan is not None else []
    return _cut(items[step.item - 1].text) if 0 < step.item <= len(items) else ""


def message_text(state: WorkbenchState, step: LineageStep) -> str:
    """Return the message that a step's run answers, or ""."""
    step = step.original
    run = state.run(step.run) if 0 < step.run <= len(state.runs) else None
    message = state.request_of(run) if run is not None else None
    return _cut(message.text) if message is not None else ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REASON_CHARACTERS else f"{text[:MAX_REASON_CHARACTERS]}…"


def render_maker(state: WorkbenchState, step: LineageStep) -> wire.ChangeMaker:
    """Return a step as the maker of a change; who made one that was rebased is told, too."""
    made = step.original
    return wire.ChangeMaker(
        seq=step.seq,
        tool=made.tool,
        run_id=state.run_id(made.run) if made.run else UNSET,
        item=made.item or UNSET,
        reason=step_reason(state, made) or UNSET,
        call_id=made.call_id or UNSET,
    )
