"""Decisions about forks: what a new workbench takes over. Pure; no bytes are copied here."""

from collections.abc import Iterator

from kbd.core.domain.rewind_decisions import find_message
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import ValidationFailed
from kbd.events.drafts import CheckpointCreated
from kbd.events.vocabulary import Event
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ContextSet,
    FileAdded,
    ModelChosen,
    UserMessageAdded,
    WorkbenchForked,
)
from kbd.types import Seq

__all__ = ["check_forkable", "fork_events", "fork_point"]

_WITH_CONTEXT = ("clone_all", "clone_files_and_context_no_chat")


def check_forkable(state: WorkbenchState) -> None:
    """Refuse to fork a workbench that somebody is at work in.

    Raises:
        ValidationFailed: A draft is open, or a run or a publish is under way.
    """
    run = state.active_run()
    if run is not None:
        msg = "a run is under way in this workbench: wait for it, or cancel it"
        raise ValidationFailed(msg, retryable=True, detail={"run_id": state.run_id(run.number)})
    if state.draft is not None:
        msg = "a draft is open in this workbench: publish or discard it first"
        raise ValidationFailed(msg)
    if state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)


def fork_point(state: WorkbenchState, message_id: str | None, seq: Seq | None) -> Seq:
    """Return the event up to which a fork takes a workbench over; the last one if none is named.

    Raises:
        NotFound: There is no such message.
        ValidationFailed: Both are named, it is no message, or there is no such event.
    """
    if message_id is not None and seq is not None:
        msg = "name from_message_id or from_seq, not both"
        raise ValidationFailed(msg)
    if message_id is not None:
        return find_message(state, message_id).seq
    if seq is None:
        return state.seq
    if not 1 <= seq <= state.seq:
        msg = f"from_seq must be 1 to {state.seq}, the last event that can be read"
        raise ValidationFailed(msg, detail={"last_seq": state.seq})
    return seq


def fork_events(then: WorkbenchState, forked: WorkbenchForked) -> tuple[Event, ...]:
    """Return the events of a fork: that it is one, then what it holds from the start.

    Neither draft nor consent nor runs are taken over.

    Args:
        then: The other workbench, at the event up to which it is taken over.
        forked: From which, and how much.
    """
    facts: list[Event] = [forked]
    facts += (
        FileAdded(name, entry.blob, entry.size_bytes, modified_at_us=entry.modified_at_us)
        for name, entry in sorted(then.files.items())
    )
    if forked.mode in _WITH_CONTEXT:
        facts += (
            ContextSet(category, item.text, item.source_name)
            for category, item in sorted(then.context.items())
        )
    if forked.mode == "clone_all":
        facts += _conversation(then)
    return tuple(facts)


def _conversation(then: WorkbenchState) -> Iterator[Event]:
    if then.model_id is not None:
        yield ModelChosen(then.model_id)
    for said in then.said:
        kind = UserMessageAdded if said.role == "user" else AssistantMessageAdded
        yield kind(said.message_id, said.text, said.created_at_us)
    for each in then.checkpoints:
        yield CheckpointCreated(
            each.checkpoint_id, each.reason, each.description, each.files, each.created_at_us
        )
