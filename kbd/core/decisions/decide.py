"""The one `match` over the commands."""

from typing import assert_never

from kbd.core.decisions import calls, context, drafts, files, rewinds, runs
from kbd.core.decisions.commands import (
    AbortPublish,
    AddFiles,
    ChooseModel,
    Command,
    CompletePublish,
    ConfirmDeletions,
    CreateCheckpoint,
    DiscardDraft,
    EndRun,
    FailAttempt,
    FinishCall,
    GrantConsent,
    IntendPublish,
    InterruptRun,
    Record,
    RecordCall,
    RecordRun,
    RemoveContext,
    RemoveFiles,
    RequestCancel,
    RestoreCheckpoint,
    Rewind,
    SendMessage,
    SetContext,
    StartCall,
    StartRun,
)
from kbd.core.decisions.decision import Decision
from kbd.core.state import WorkbenchState
from kbd.events.workbenches import ModelChosen

__all__ = ["decide"]


def decide(state: WorkbenchState, command: Command) -> Decision:  # noqa: C901 - a case a command
    """Return what a command leads to, given what is true now.

    Raises:
        KbdError: The command is refused; nothing happened.
    """
    match command:
        case AddFiles():
            return files.add(state, command)
        case RemoveFiles():
            return files.remove(state, command)
        case ChooseModel(model_id=model_id):
            return Decision((ModelChosen(model_id),))
        case GrantConsent():
            return files.grant(command)
        case SendMessage():
            return runs.send(state, command)
        case StartRun():
            return runs.start(state, command)
        case RequestCancel():
            return runs.request_cancel(state)
        case InterruptRun():
            return runs.interrupt(state, command)
        case RecordRun():
            return runs.record(state, command)
        case EndRun():
            return runs.end(state, command)
        case StartCall():
            return calls.start(state, command)
        case FinishCall():
            return calls.finish(state, command)
        case RecordCall():
            return calls.record(state, command)
        case FailAttempt():
            return runs.fail_attempt(state, command)
        case SetContext():
            return context.set_item(state, command)
        case RemoveContext():
            return context.remove(state, command)
        case DiscardDraft():
            return drafts.discard(state)
        case ConfirmDeletions():
            return drafts.confirm(state, command)
        case IntendPublish():
            return drafts.intend(state, command)
        case CompletePublish():
            return drafts.complete(state, command)
        case AbortPublish():
            return drafts.abort(state, command)
        case Rewind():
            return rewinds.rewind(state, command)
        case RestoreCheckpoint():
            return rewinds.restore(state, command)
        case CreateCheckpoint():
            return rewinds.checkpoint(state, command)
        case Record(facts=facts):
            return Decision(facts)
        case _:
            assert_never(command)
