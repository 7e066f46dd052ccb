"""Parts of a step: records of its call, its turn and its files, and the plan as it stood."""

from typing import Any

import msgspec

from kbd.core.domain.event_context import EventCall
from kbd.core.domain.event_text import draft_change
from kbd.core.domain.fold_runs import RUN_FOLDS
from kbd.core.domain.long_lists import PagedList
from kbd.core.domain.run_state import ItemState, Run
from kbd.core.domain.state_text import plan_markdown
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.events.base import Recorded, ReplyCall
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ModelReplied,
    ModelRequested,
    ResearchWritten,
    RunFailed,
    RunInterrupted,
    RunStarted,
    SummaryWritten,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.events.workbenches import AssistantMessageAdded, UserMessageAdded
from kbd.requests.replays import CallStep, FileStep, ItemStep, ModelStep, NestedStep, StepCall
from kbd.types import CallId, Seq

__all__ = [
    "PlanFold",
    "call_opened",
    "call_refused",
    "call_returned",
    "file_step",
    "full_text",
    "nameless",
    "turn_failed",
    "turn_opened",
    "turn_replied",
]


class PlanFold:
    """Plan of a run, folded from the run's own events alone.

    Args:
        number: The run's.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._state: WorkbenchState | None = None

    def take(self, seq: Seq, record: Recorded) -> None:
        """Fold an event of the run; events of others are ignored."""
        if record.run != self._number:
            return
        fold = RUN_FOLDS.get(type(record.data))
        is_start = isinstance(record.data, RunStarted)
        if self._state is None and is_start:
            # Placeholders: a state finds a run by its place in this list.
            earlier = [Run(0, "", "", 0)] * (self._number - 1)
            self._state = WorkbenchState(runs=PagedList(earlier))
        elif is_start:
            return
        if self._state is not None and fold is not None:
            fold(self._state, seq, record)

    def items(self) -> tuple[ItemStep, ...]:
        """Return the plan as it stands."""
        run = self._run
        if run is None or run.plan is None:
            return ()
        return tuple(
            ItemStep(
                index=index,
                text=item.text,
                state="active"
                if index == run.item and item.state is ItemState.OPEN
                else item.state.value,
                reason=f"{item.code}: {item.reason}" if item.reason else "",
            )
            for index, item in enumerate(run.plan.items, 1)
        )

    def markdown(self) -> str:
        """Return plan.md as it stands."""
        run = self._run
        return plan_markdown(run.plan) if run and run.plan else ""

    @property
    def _run(self) -> Run | None:
        return self._state.runs[-1] if self._state is not None else None


def turn_opened(data: ModelRequested) -> ModelStep:
    """Return the record of a turn that is requested."""
    return ModelStep(
        model_id=data.model_id,
        turn=data.turn,
        opening=data.opening,
        tools=data.tools,
        tool_choice=data.tool_choice,
        is_open=True,
    )


def turn_failed(turn: ModelStep, failure: str) -> ModelStep:
    """Return the record of an attempt at a turn that failed."""
    return msgspec.structs.replace(turn, failures=(*turn.failures, failure))


def turn_replied(turn: ModelStep, data: ModelReplied) -> ModelStep:
    """Return the record of a turn's reply."""
    return msgspec.structs.replace(
        turn,
        text=data.text,
        calls=tuple(_step_call(call) for call in data.calls),
        finish_reason=data.finish_reason,
        usage=data.usage,
        is_open=False,
    )


def _step_call(call: ReplyCall) -> StepCall:
    return StepCall(
        call_id=call.id, tool=call.name, arguments=call.arguments, blob=call.blob, fault=call.fault
    )


def file_step(change: FileChanged) -> FileStep:
    """Return the record of a file's change."""
    return FileStep(
        path=change.name,
        change=draft_change(change),
        before=change.before,
        after=change.after,
        size_bytes=change.size_bytes,
        before_size_bytes=change.before_size_bytes,
        warnings=change.warnings,
    )


def call_opened(data: ToolCalled, call: EventCall) -> CallStep:
    """Return the record of a call that starts."""
    return CallStep(
        call_id=data.call_id,
        entry_id=data.entry_id,
        tool=data.tool,
        arguments=call.arguments,
        arguments_blob=call.blob,
        plugins=(f"{data.plugin} {data.plugin_sha256}".strip(),) if data.plugin else (),
        is_open=True,
    )


def call_returned(call: CallStep, data: ToolReturned) -> CallStep:
    """Return the record of a call that ended."""
    worked = tuple(f"{one.package} {one.version} {one.sha256}".strip() for one in data.worked)
    return msgspec.structs.replace(
        call,
        ok=data.ok,
        error_code=data.error_code,
        shown=data.shown,
        result=data.result,
        blob=data.blob,
        size_bytes=data.size_bytes,
        plugins=worked or call.plugins,
        is_open=False,
        nested=_nested_steps(data),
    )


def _nested_steps(data: ToolReturned) -> tuple[NestedStep, ...]:
    made = () if data.noted is None else data.noted.nested
    return tuple(
        NestedStep(tool=one.tool, arguments=one.arguments, job=one.job, error_code=one.error_code)
        for one in made
    )


def call_refused(data: ToolRefused, call: EventCall) -> CallStep:
    """Return the record of a call that was refused."""
    return CallStep(
        call_id=data.call_id,
        entry_id=0,
        tool=data.tool,
        arguments=call.arguments,
        arguments_blob=call.blob,
        error_code=data.code,
        shown=data.shown,
        size_bytes=len(data.shown.encode()),
    )


def nameless(call_id: CallId, entry_id: int) -> CallStep:
    """Return the record of a call whose beginning the log does not hold."""
    return CallStep(call_id=call_id, entry_id=entry_id, tool="?", is_open=True)


def full_text(data: Any) -> str:
    """Return the full text of an event whose title only names it."""
    match data:
        case (
            UserMessageAdded(text=text)
            | AssistantMessageAdded(text=text)
            | ResearchWritten(text=text)
            | SummaryWritten(text=text)
            | ItemCompleted(text=text)
            | RunFailed(message=text)
            | RunInterrupted(reason=text)
        ):
            return text
        case ItemsAdded(items=items):
            return "\n".join(items)
        case ItemsRefused(items=items, reason=reason):
            return "\n".join((reason, *items))
        case ItemRetried(code=code, reason=text) | ItemFailed(code=code, reason=text):
            return f"{code}: {text}"
        case _:
            return ""
