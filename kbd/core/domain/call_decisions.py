"""Decisions about tool calls: those of a run, which start and end, and a client's own."""

import msgspec

from kbd.core.domain.commands import FinishCall, RecordCall, StartCall
from kbd.core.domain.decision import Decision, refuse_while_running, require_ongoing_run
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import ValidationFailed
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import ToolCalled
from kbd.events.vocabulary import Event

__all__ = ["CHANGED_MEANWHILE", "finish", "record", "refuse_client", "start"]

CHANGED_MEANWHILE = "was changed by somebody else during this call; read it again"
"""How the error ends that a call gets whose file is not what it saw any more."""


def start(state: WorkbenchState, command: StartCall) -> Decision:
    """Record that a run's tool starts.

    Raises:
        ValidationFailed: That run is not under way.
        UserCanceled: It was asked to stop.
    """
    run = require_ongoing_run(state, command.run)
    turns = run.chain.turns
    entry_id = turns[-1].entries.get(command.call_id) if turns else None
    called = ToolCalled(
        call_id=command.call_id,
        entry_id=entry_id or state.next_entry,
        tool=command.tool,
        plugin=command.plugin,
        plugin_sha256=command.plugin_sha256,
    )
    return Decision((called,), run=command.run)


def finish(state: WorkbenchState, command: FinishCall) -> Decision:
    """Record the result of a run's tool together with what it wrote.

    Raises:
        ValidationFailed: That run is not under way, or a file changed since the call saw it.
        UserCanceled: It was asked to stop: nothing lands.
    """
    require_ongoing_run(state, command.run)
    written = _written(state, command.changes, command.draft_id)
    return Decision((*written, command.returned), run=command.run)


def record(state: WorkbenchState, command: RecordCall) -> Decision:
    """Record a client's own call, whole.

    Raises:
        ValidationFailed: A run or a publish is under way, or a file changed since the call saw it.
    """
    refuse_client(state)
    entry_id = state.next_entry
    called = msgspec.structs.replace(command.called, entry_id=entry_id)
    returned = msgspec.structs.replace(command.returned, entry_id=entry_id)
    written = _written(state, command.changes, command.draft_id)
    return Decision((called, *written, returned))


def refuse_client(state: WorkbenchState) -> None:
    """Refuse what a client wants to write while others work on the draft.

    A run plans on what it has read, and the rollback of a failed attempt must know whose every
    change is: a person's edit in between would be overlooked or undone. So it waits.

    Raises:
        ValidationFailed: A run or a publish is under way.
    """
    refuse_while_running(state)
    if state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)


def _written(
    state: WorkbenchState, changes: tuple[FileChanged, ...], draft_id: str
) -> tuple[Event, ...]:
    """Return the changes, after the opening of a draft if none is open.

    Raises:
        ValidationFailed: A file changed since the call saw it.
    """
    for change in changes:
        seen = state.seen(change.name)
        if (seen.blob if seen else None) != change.before:
            msg = f"{change.name!r} {CHANGED_MEANWHILE}"
            raise ValidationFailed(msg, retryable=True)
    if changes and state.draft is None:
        return (DraftOpened(draft_id), *changes)
    return changes
