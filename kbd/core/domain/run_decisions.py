"""Decisions about runs: messages, the life of a run, its tool calls."""

import msgspec

from kbd.core.domain.commands import (
    EndRun,
    FailAttempt,
    FinishCall,
    InterruptRun,
    RecordCall,
    RecordRun,
    SendMessage,
    StartCall,
    StartRun,
)
from kbd.core.domain.decision import (
    Decision,
    order_changes,
    refuse_while_rewinding,
    refuse_while_running,
    require_active_run,
    require_ongoing_run,
)
from kbd.core.domain.run_state import Run
from kbd.core.domain.state_text import one_line
from kbd.core.domain.workbench_state import FROM_BACKUP, WorkbenchState
from kbd.errors import NotFound, ValidationFailed
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import (
    ItemFailed,
    ItemRetried,
    RunCancelled,
    RunCancelRequested,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    ToolCalled,
)
from kbd.events.vocabulary import Event
from kbd.events.workbenches import UserMessageAdded
from kbd.messages import Decline
from kbd.types import BlobHash, FileName, Phase

__all__ = [
    "CHANGED_MEANWHILE",
    "end_run",
    "fail_attempt",
    "finish_call",
    "interrupt_run",
    "record_call",
    "record_run",
    "refuse_client",
    "request_cancel",
    "run_refusal",
    "send_message",
    "start_call",
    "start_run",
]


def send_message(state: WorkbenchState, command: SendMessage) -> Decision:
    """Record a user message; refused while a run is under way, which would not see it.

    Raises:
        ValidationFailed: The text is blank, or a run or an undo is under way.
    """
    refuse_while_running(state)
    refuse_while_rewinding(state)
    if not command.text.strip():
        msg = "the message is empty"
        raise ValidationFailed(msg)
    said = UserMessageAdded(
        command.message_id, command.text, model_id=command.model_id, document=command.document
    )
    return Decision((said,))


def start_run(state: WorkbenchState, command: StartRun) -> Decision:
    """Start a run on a message, or resume the one that stopped on it.

    A message whose run is finished leads to no event: the caller answers with that run.

    Raises:
        NotFound: There is no such message.
        ValidationFailed: A run or a publish is under way, there is no message, or it is an old one.
    """
    refuse_while_running(state)
    if state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)
    newest = state.last_request()
    if newest is None:
        msg = "there is no message to work on: send one first"
        raise ValidationFailed(msg)
    message_id = command.message_id or newest.message_id
    if message_id != newest.message_id:
        if not any(message.message_id == message_id for message in reversed(state.said)):
            msg = f"there is no message {message_id!r} in this workbench"
            raise NotFound(msg)
        msg = "only the newest message can be worked on: send it again"
        raise ValidationFailed(msg)
    last = state.run(state.current) if state.current else None
    if last is None:
        started = RunStarted(message_id, command.model_id, command.regenerates)
        return Decision((started,), run=len(state.runs) + 1)
    if last.status.is_final:
        return Decision(run=last.number)
    return Decision((RunResumed(command.model_id),), run=last.number)


def request_cancel(state: WorkbenchState) -> Decision:
    """Ask the active run to stop, once."""
    run = state.active_run()
    if run is None or run.cancel_requested:
        return Decision(run=run.number if run else 0)
    return Decision((RunCancelRequested(),), run=run.number)


def interrupt_run(state: WorkbenchState, command: InterruptRun) -> Decision:
    """Close the active run: as canceled if that was requested, else as interrupted."""
    run = state.active_run()
    if run is None:
        return Decision()
    ended = RunCancelled() if run.cancel_requested else RunInterrupted(command.reason)
    return Decision((ended,), run=run.number)


def record_run(state: WorkbenchState, command: RecordRun) -> Decision:
    """Record facts of the active run.

    Raises:
        ValidationFailed: That run is not under way.
        UserCanceled: It was asked to stop.
    """
    require_ongoing_run(state, command.run)
    return Decision(command.facts, run=command.run)


def end_run(state: WorkbenchState, command: EndRun) -> Decision:
    """Record the outcome of the active run; one that was asked to stop can only be canceled.

    A run none of whose calls worked, for a fault of the machine, has failed by that and has not
    finished, whatever its model made of it.

    Raises:
        ValidationFailed: That run is not under way.
    """
    run = require_active_run(state, command.run)
    # The facts fall away with the outcome: an answer that comes after the cancel is not given.
    if run.cancel_requested:
        return Decision((RunCancelled(),), run=command.run)
    fault = run.in_vain
    if fault is not None and isinstance(command.outcome, RunFinished):
        subphase = f"rpi_{(run.phase or Phase.SUMMARY).value}"
        failed = RunFailed(fault.code, fault.message, subphase, retryable=True)
        return Decision((failed,), run=command.run)
    return Decision((*command.facts, command.outcome), run=command.run)


REASON_CHARACTERS = 500
"""Of why a run declined, where only its answer tells; all of that is in the conversation."""


def run_refusal(state: WorkbenchState, run: Run) -> Decline | None:
    """Return why a run did nothing of what was asked, or None if it did some of it.

    It declined if it did so with every item of its plan, and nothing in the draft is its own.
    """
    items = run.plan.items if run.plan is not None else []
    is_author = state.draft is not None and run.number in state.draft.authors()
    if is_author or not items or not all(item.declined for item in items):
        return None
    told = [item.refusal for item in items if item.refusal is not None]
    first = told[0] if told else Decline()
    suggestions = dict.fromkeys(text for refusal in told for text in refusal.suggestions)
    reason = first.reason or one_line(items[0].answer, REASON_CHARACTERS)
    return Decline(reason, first.understood, tuple(suggestions))


def fail_attempt(state: WorkbenchState, command: FailAttempt) -> Decision:
    """Undo what the open attempt wrote and record that it failed.

    Raises:
        ValidationFailed: That run is not under way or works on no item.
        UserCanceled: It was asked to stop.
    """
    run = require_ongoing_run(state, command.run)
    if not run.item:
        msg = "no item is being worked on"
        raise ValidationFailed(msg)
    failure: Event
    if command.final:
        failure = ItemFailed(run.item, command.code, command.reason)
    else:
        failure = ItemRetried(run.item, command.code, command.reason)
    return Decision((*_rollback(state, run), failure), run=command.run)


def _warnings_before(first: FileChanged, now: tuple[str, ...]) -> tuple[str, ...]:
    """Return the warnings of a file before an attempt, which a restore may have cut in two."""
    is_unknown = first.before is not None and FROM_BACKUP in now
    left = (FROM_BACKUP,) if is_unknown else ()
    return tuple(dict.fromkeys((*first.before_warnings, *left)))


def _rollback(state: WorkbenchState, run: Run) -> tuple[Event, ...]:
    """Return the changes that restore every file to what it was before the attempt."""
    original: dict[FileName, FileChanged] = {}
    written: dict[FileName, BlobHash | None] = {}
    for change in run.attempt_changes:
        # The first change of a file tells what was there before the attempt, the last what it left.
        original.setdefault(change.name, change)
        written[change.name] = change.after
    undone: list[FileChanged] = []
    for name, first in original.items():
        now = state.current_file(name)
        current: BlobHash | None = now.blob if now else None
        # What a person did to the file since, while the run stood still, is not the attempt's.
        if current == first.before or current != written[name]:
            continue
        undone.append(
            FileChanged(
                name=name,
                before=current,
                after=first.before,
                size_bytes=first.before_size_bytes,
                before_size_bytes=now.size_bytes if now else 0,
                cause="rollback",
                warnings=_warnings_before(first, now.warnings if now else ()),
                before_warnings=now.warnings if now else (),
                notes=first.before_notes,
                before_notes=now.notes if now else (),
                focus=first.before_focus,
                before_focus=now.focus if now else None,
            )
        )
    # The attempt may have brought a file back to what is published, which closed the draft.
    ordered = order_changes(state, undone)
    if undone and state.draft is None:
        return (DraftOpened(f"rollback-{run.number}-{run.item}"), *ordered)
    return ordered


CHANGED_MEANWHILE = "was changed by somebody else during this call; read it again"
"""How the error ends that a call gets whose file is not what it saw any more."""


def start_call(state: WorkbenchState, command: StartCall) -> Decision:
    """Record that a run's tool starts.

    Raises:
        ValidationFailed: That run is not under way.
        UserCanceled: It was asked to stop.
    """
    run = require_ongoing_run(state, command.run)
    turns = run.chain.turns
    # A call that was cut off begins again under the number that it had, so the tool log has no gap.
    entry_id = turns[-1].entries.get(command.call_id) if turns else None
    called = ToolCalled(
        call_id=command.call_id,
        entry_id=entry_id or state.next_entry,
        tool=command.tool,
        plugin=command.plugin,
        plugin_sha256=command.plugin_sha256,
    )
    return Decision((called,), run=command.run)


def finish_call(state: WorkbenchState, command: FinishCall) -> Decision:
    """Record the result of a run's tool together with what it wrote.

    Raises:
        ValidationFailed: That run is not under way, or a file changed since the call saw it.
        UserCanceled: It was asked to stop: nothing lands.
    """
    require_ongoing_run(state, command.run)
    # One frame: no change is in the log without the call that made it, or the other way round.
    written = _written(state, command.changes, command.draft_id)
    return Decision((*written, command.returned), run=command.run)


def record_call(state: WorkbenchState, command: RecordCall) -> Decision:
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
        seen = state.current_file(change.name)
        # Compared where commands are decided one after the other: nothing lands on what its call
        # did not see (reliability, R8).
        if (seen.blob if seen else None) != change.before:
            msg = f"{change.name!r} {CHANGED_MEANWHILE}"
            raise ValidationFailed(msg, retryable=True)
    ordered = order_changes(state, changes)
    if changes and state.draft is None:
        return (DraftOpened(draft_id), *ordered)
    return ordered
