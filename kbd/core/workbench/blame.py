"""Blame of a place: the steps of its file's lineage that touched it, newest first.

It goes back until the place came to be: with a call that added it, or with a file that a person
added. What was there before and after a step is what the comparison of that step says of the place.
"""

from typing import Any

import msgspec

from kbd.core.domain.lineage import LineageStep, walk_steps
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.attribution import (
    StepFormats,
    item_text,
    message_text,
    same_place,
    step_reason,
)
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import NotFound, ValidationFailed
from kbd.events.codec import format_time
from kbd.formats import Change, Comparison, Place, Trace
from kbd.requests import reviews as wire
from kbd.requests.base import UNSET

__all__ = ["answer_blame"]

_LAST_SAFE_INTEGER = 2**53 - 1


async def answer_blame(
    workbench: OpenWorkbench, formats: FormatCalls, request: wire.ReviewGetBlame
) -> wire.Blame:
    """Answer who touched a place of a file's current version; of a deleted file, its last one.

    Raises:
        ValidationFailed: The file has no such place, or its format tells none.
        NotFound: There is no such file.
        FileReadFailed: The current version cannot be read.
        SandboxViolation: The path would leave the workbench.
    """
    name = file_name(request.path)
    lineage = await workbench.lineages.read(workbench.keeper.journal, name)
    head = lineage.current
    if head is None:
        msg = f"there is no file {name!r} in this workbench"
        raise NotFound(msg)
    steps = StepFormats(formats, workbench.blobs)
    held = next((step for step in walk_steps(head) if step.after is not None), None)
    if held is None:
        msg = f"what {name!r} was before it was deleted is not in the log"
        raise NotFound(msg)
    place = await _find_place(formats, steps, held, request.place)
    walk = _Walk(workbench.state, steps, request.limit)
    complete = await walk.go(head, place)
    return wire.Blame(
        path=name, place=_render_place(place), chain=tuple(walk.render()), complete=complete
    )


async def _find_place(
    formats: FormatCalls, steps: StepFormats, held: LineageStep, asked: str | wire.ChangePlace
) -> Place:
    """Return the place that is meant; a text is for the format to read."""
    if isinstance(asked, str):
        return await formats.locate(steps.version(held), asked)
    given = msgspec.to_builtins(asked)
    numbers = [value for value in given.values() if isinstance(value, int)]
    if any(not 0 <= number <= _LAST_SAFE_INTEGER for number in numbers):
        raise ValidationFailed("place: a coordinate is out of range")
    place = msgspec.convert(given, Place)
    if same_place(place, Place(title="")):
        return await formats.locate(steps.version(held), place.title)
    return place


def _render_place(place: Place) -> wire.ChangePlace:
    return msgspec.convert(msgspec.to_builtins(place), wire.ChangePlace)


class _Touch(msgspec.Struct):
    """A step that touched the place: where that was then, and its values if they are known."""

    step: LineageStep
    place: Place
    moved_from: Place | None = None
    before: Any = UNSET
    after: Any = UNSET


class _Walk:
    """Walk along a lineage, back to where a place came from.

    Args:
        state: The workbench, for what runs were about.
        steps: What the file's format tells of the steps.
        limit: The most that are wanted.
    """

    def __init__(self, state: WorkbenchState, steps: StepFormats, limit: int) -> None:
        self._state, self._steps, self._limit = state, steps, limit
        self._touches: list[_Touch] = []

    async def go(self, head: LineageStep, place: Place) -> bool:
        """Walk; return whether the begin was reached with no step in doubt."""
        newest: LineageStep | None = None
        for step in walk_steps(head):
            if len(self._touches) == self._limit or step.kind == "unknown":
                return False
            if step.after is None:
                self._touches.append(_Touch(step, place))
                continue
            newest = newest or step
            older = step.older
            if older is None or older.after is None:
                return newest is step and await self._begin(step, place)
            found = await self._steps.trace(older, newest, (place,), forward=False)
            if found is None:
                # The version between cannot be read: this step and the next are looked at as one.
                continue
            trace = found[0]
            is_touched = trace.place is None or trace.is_changed
            if is_touched or _has_shifted(trace, place):
                if newest is step:
                    await self._look(step, older, place, trace)
                elif is_touched:
                    return False
            if trace.place is None:
                return True
            newest, place = None, trace.place
        return False

    async def _begin(self, step: LineageStep, place: Place) -> bool:
        """Add the step with which the place came to be, with the file."""
        touch = _Touch(step, place)
        newer = self._touches[-1] if self._touches else None
        # The newer step has told it already; a comparison with nothing may be a long list.
        if newer is None or newer.before is UNSET:
            found = _at_place(await self._steps.compare(None, step), place)
            touch.after = found.after if found is not None else UNSET
        self._touches.append(touch)
        return True

    async def _look(
        self, step: LineageStep, older: LineageStep, place: Place, trace: Trace
    ) -> None:
        """Add a step across which the place differs or has moved, with its values."""
        found = _at_place(await self._steps.compare(older, step), place)
        if trace.place is None or trace.is_changed:
            touch = _Touch(step, place)
            if found is not None and found.kind != "moved":
                touch.after = found.after
                touch.before = found.before if found.kind != "added" else UNSET
            self._touches.append(touch)
        elif found is not None and found.kind == "moved":
            self._touches.append(_Touch(step, place, trace.place))

    def render(self) -> list[wire.BlameStep]:
        """Return the chain; what one step left there, the next newer one found."""
        for newer, older in zip(self._touches, self._touches[1:], strict=False):
            if older.after is UNSET and newer.step.after is not None:
                older.after = newer.before
        return [self._render(touch) for touch in self._touches]

    def _render(self, touch: _Touch) -> wire.BlameStep:
        # Of an edit that a rebase applied again, what made it: the call that was first made.
        step, state = touch.step.original, self._state
        assert step.kind != "unknown"
        run = state.run(step.run) if 0 < step.run <= len(state.runs) else None
        return wire.BlameStep(
            seq=touch.step.seq,
            ts=format_time(touch.step.ts_us),
            kind=step.kind,
            place=_render_place(touch.place),
            run_id=state.run_id(step.run) if step.run else UNSET,
            message=message_text(state, step) or UNSET,
            message_id=run.message_id if run is not None else UNSET,
            item=step.item or UNSET,
            item_text=item_text(state, step) or UNSET,
            tool=step.tool or UNSET,
            call_id=step.call_id or UNSET,
            entry_id=step.entry_id or UNSET,
            moved_from=_render_place(touch.moved_from) if touch.moved_from else UNSET,
            before=touch.before,
            after=touch.after,
            reason=step_reason(state, step) or UNSET,
        )


def _has_shifted(trace: Trace, place: Place) -> bool:
    return trace.place is not None and not same_place(trace.place, place)


def _at_place(found: Comparison | None, place: Place) -> Change | None:
    """Return the change that a comparison names at a place of the version after."""
    for change in found.changes if found is not None else ():
        if change.kind != "removed" and same_place(change.place, place):
            return change
    return None
