"""Runs, the workshop's state and the conversation, as clients see them."""

from typing import Any

import msgspec

from kbd.core.bench import Bench
from kbd.core.state import ItemState, Run, RunStatus, WorkbenchState, item_label
from kbd.events.base import ReplyCall
from kbd.events.drafts import CheckpointCreated, DraftDiscarded, PublishCompleted
from kbd.events.runs import ModelReplied, ToolRefused, ToolReturned
from kbd.events.shown import shown_time
from kbd.events.workbenches import AssistantMessageAdded, UserMessageAdded
from kbd.requests import workshop as wire
from kbd.types import Phase, Seq

__all__ = ["conversation", "run_answer", "run_info", "workshop_state"]

REQUEST_CHARACTERS = 200
"""How much of a request stands in a list of runs; the conversation has all of it."""

_PAGE = 1000


def run_info(state: WorkbenchState, run: Run, cost: float) -> wire.RunInfo:
    """Return a run in full."""
    items = tuple(
        wire.RunItem(
            index=index,
            label=item_label(item.text),
            state="active"
            if index == run.item and item.state is ItemState.OPEN
            else item.state.value,
            reason=item.reason if item.state is ItemState.FAILED else msgspec.UNSET,
        )
        for index, item in enumerate(run.plan.items if run.plan else (), 1)
    )
    error: wire.RunError | msgspec.UnsetType = msgspec.UNSET
    if run.error is not None:
        error = wire.RunError(
            error_code=run.error.code,
            message=run.error.message,
            subphase=run.error.subphase,
            retryable=run.error.retryable,
        )
    return wire.RunInfo(
        run_id=state.run_id(run.number),
        workbench_id=state.workbench_id,
        request=_request(state, run.message_id),
        model_id=run.model_id,
        status=run.status.value,
        phase=run.phase,
        items=items,
        usage=run.usage,
        cost=cost,
        error=error,
        started_at=shown_time(run.started_at_us),
        ended_at=shown_time(run.ended_at_us) if run.ended_at_us else msgspec.UNSET,
    )


def _request(state: WorkbenchState, message_id: str) -> str:
    """Return the first line of a message that says something."""
    said = next((each.text for each in state.said if each.message_id == message_id), "")
    first = said.strip().partition("\n")[0].rstrip()
    too_long = len(first) > REQUEST_CHARACTERS
    return f"{first[: REQUEST_CHARACTERS - 1]}…" if too_long else first


def run_answer(state: WorkbenchState, run: Run) -> wire.RunAnswered:
    """Return what `WorkshopRunAgent` answers of a run."""
    return wire.RunAnswered(
        run_id=state.run_id(run.number),
        message_id=run.message_id,
        has_draft=state.draft is not None,
        completed=run.status is RunStatus.FINISHED,
        status=run.status.value,
    )


def workshop_state(
    state: WorkbenchState, active_model_id: str, default_model_id: str
) -> wire.WorkshopState:
    """Return how the workshop stands."""
    run = state.active_run()
    progress = None
    if run is not None and run.item and run.plan is not None and run.phase is Phase.IMPLEMENT:
        progress = wire.ImplementProgress(
            current=run.item,
            total=len(run.plan.items),
            label=item_label(run.plan.items[run.item - 1].text),
        )
    return wire.WorkshopState(
        active_model_id=active_model_id,
        default_model_id=default_model_id,
        has_draft=state.draft is not None,
        current_phase=run.phase if run and run.phase_open else None,
        implement_progress=progress,
        run_id=state.run_id(run.number) if run else None,
    )


async def conversation(bench: Bench) -> wire.Conversation:
    """Return the conversation with its tool traffic, from the log, oldest first.

    What clients call themselves, without a run, nobody said to anybody.
    """
    messages: list[wire.ConversationMessage] = []
    after = Seq(0)
    while page := await bench.keeper.journal.read(after, _PAGE):
        for seq, record in page:
            message = _message(seq, record.ts_us, record.data)
            is_said = bool(record.run) or not isinstance(record.data, ToolReturned)
            if message is not None and is_said:
                messages.append(message)
        after = page[-1][0]
    return wire.Conversation(messages=tuple(messages))


def _message(seq: Seq, ts_us: int, data: Any) -> wire.ConversationMessage | None:
    created = shown_time(ts_us)
    match data:
        case UserMessageAdded(message_id=message_id, text=text):
            return wire.ConversationMessage(
                type="user_message", message_id=message_id, role="user", text=text,
                created_at=created,
            )  # fmt: skip
        case AssistantMessageAdded(message_id=message_id, text=text):
            return wire.ConversationMessage(
                type="assistant_message", message_id=message_id, role="assistant", text=text,
                created_at=created,
            )  # fmt: skip
        case ModelReplied(text=text, calls=calls) if calls:
            return wire.ConversationMessage(
                type="assistant_message", message_id=f"m{seq}", role="assistant", text=text,
                created_at=created, tool_calls=tuple(_call(call) for call in calls),
            )  # fmt: skip
        case ToolReturned(call_id=call_id, shown=shown) | ToolRefused(call_id=call_id, shown=shown):
            return wire.ConversationMessage(
                type="tool_result", message_id=f"m{seq}", role="tool", text=shown,
                created_at=created, tool_call_id=call_id, content=shown,
            )  # fmt: skip
        case CheckpointCreated(checkpoint_id=checkpoint_id, reason=reason):
            return _system(seq, created, f"checkpoint_{reason}", {"checkpoint_id": checkpoint_id})
        case PublishCompleted(checkpoint_id=checkpoint_id):
            return _system(seq, created, "published", {"checkpoint_id": checkpoint_id})
        case DraftDiscarded(draft_id=draft_id):
            return _system(seq, created, "draft_discarded", {"draft_id": draft_id})
        case _:
            return None


def _call(call: ReplyCall) -> wire.ConversationCall:
    function = wire.ConversationFunction(name=call.name, arguments=call.arguments)
    return wire.ConversationCall(id=call.id, function=function)


def _system(
    seq: Seq, created: str, text: str, metadata: dict[str, Any]
) -> wire.ConversationMessage:
    return wire.ConversationMessage(
        type="system_event", message_id=f"m{seq}", role="system", text=text, created_at=created,
        metadata={"kind": text, **metadata},
    )  # fmt: skip
