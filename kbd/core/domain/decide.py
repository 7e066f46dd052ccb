"""Dispatch of a workbench's commands to their decisions: the one `match` over them."""

from typing import assert_never

from kbd.core.domain import (
    call_decisions,
    context_decisions,
    draft_decisions,
    file_decisions,
    rewind_decisions,
    run_decisions,
)
from kbd.core.domain.commands import (
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
    RecordCall,
    RecordFacts,
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
from kbd.core.domain.decision import Decision
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.events.workbenches import ModelChosen

__all__ = ["decide"]


def decide(state: WorkbenchState, command: Command) -> Decision:  # noqa: C901 - a case a command
    """Decide a workbench's command on its state.

    Raises:
        KbdError: The command is refused; nothing happened.
    """
    match command:
        case AddFiles():
            return file_decisions.add_files(state, command)
        case RemoveFiles():
            return file_decisions.remove_files(state, command)
        case ChooseModel(model_id=model_id):
            return Decision((ModelChosen(model_id),))
        case GrantConsent():
            return file_decisions.grant_consent(command)
        case SendMessage():
            return run_decisions.send(state, command)
        case StartRun():
            return run_decisions.start(state, command)
        case RequestCancel():
            return run_decisions.request_cancel(state)
        case InterruptRun():
            return run_decisions.interrupt(state, command)
        case RecordRun():
            return run_decisions.record(state, command)
        case EndRun():
            return run_decisions.end(state, command)
        case StartCall():
            return call_decisions.start(state, command)
        case FinishCall():
            return call_decisions.finish(state, command)
        case RecordCall():
            return call_decisions.record(state, command)
        case FailAttempt():
            return run_decisions.fail_attempt(state, command)
        case SetContext():
            return context_decisions.set_item(state, command)
        case RemoveContext():
            return context_decisions.remove_item(state, command)
        case DiscardDraft():
            return draft_decisions.discard(state)
        case ConfirmDeletions():
            return draft_decisions.confirm(state, command)
        case IntendPublish():
            return draft_decisions.intend(state, command)
        case CompletePublish():
            return draft_decisions.complete(state, command)
        case AbortPublish():
            return draft_decisions.abort(state, command)
        case Rewind():
            return rewind_decisions.rewind(state, command)
        case RestoreCheckpoint():
            return rewind_decisions.restore_checkpoint(state, command)
        case CreateCheckpoint():
            return rewind_decisions.create_checkpoint(state, command)
        case RecordFacts(facts=facts):
            return Decision(facts)
        case _:
            assert_never(command)
