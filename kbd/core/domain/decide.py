"""Dispatch of a workbench's commands to their decisions: the one `match` over them."""

from typing import assert_never

from kbd.core.domain.approval_decisions import decide_approval, request_approvals
from kbd.core.domain.commands import (
    AbortPublish,
    AddFiles,
    ChooseModel,
    ChooseReading,
    Command,
    CompletePublish,
    ConfirmDeletions,
    CreateCheckpoint,
    DecideApproval,
    DiscardDraft,
    DraftCommand,
    EndRun,
    FailAttempt,
    FinishCall,
    GrantConsent,
    IntendPublish,
    InterruptRun,
    RecordCall,
    RecordFacts,
    RecordRebase,
    RecordRun,
    RecoverDraft,
    RemoveContext,
    RemoveFiles,
    RequestApprovals,
    RequestCancel,
    RestoreCheckpoint,
    Rewind,
    SendMessage,
    SetContext,
    StartCall,
    StartRun,
)
from kbd.core.domain.decision import Decision
from kbd.core.domain.rebase_decisions import record_rebase
from kbd.core.domain.recover_decisions import recover_draft
from kbd.core.domain.rewind_decisions import create_checkpoint, restore_checkpoint, rewind
from kbd.core.domain.run_decisions import (
    end_run,
    fail_attempt,
    finish_call,
    interrupt_run,
    record_call,
    record_run,
    request_cancel,
    send_message,
    start_call,
    start_run,
)
from kbd.core.domain.workbench_decisions import (
    abort_publish,
    add_files,
    choose_reading,
    complete_publish,
    confirm_deletions,
    discard_draft,
    grant_consent,
    intend_publish,
    remove_context,
    remove_files,
    set_context,
)
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
            return add_files(state, command)
        case RemoveFiles():
            return remove_files(state, command)
        case ChooseModel(model_id=model_id):
            return Decision((ModelChosen(model_id),))
        case GrantConsent():
            return grant_consent(state, command)
        case SendMessage():
            return send_message(state, command)
        case StartRun():
            return start_run(state, command)
        case RequestCancel():
            return request_cancel(state)
        case InterruptRun():
            return interrupt_run(state, command)
        case RecordRun():
            return record_run(state, command)
        case EndRun():
            return end_run(state, command)
        case StartCall():
            return start_call(state, command)
        case FinishCall():
            return finish_call(state, command)
        case RecordCall():
            return record_call(state, command)
        case FailAttempt():
            return fail_attempt(state, command)
        case ChooseReading():
            return choose_reading(state, command)
        case SetContext():
            return set_context(state, command)
        case RemoveContext():
            return remove_context(state, command)
        case RequestApprovals():
            return request_approvals(state, command)
        case DecideApproval():
            return decide_approval(state, command)
        case RecordFacts(facts=facts):
            return Decision(facts)
        case _:
            return _decide_draft(state, command)


def _decide_draft(state: WorkbenchState, command: DraftCommand) -> Decision:
    """Decide a command about the draft, what is published and its checkpoints."""
    match command:
        case DiscardDraft():
            return discard_draft(state)
        case RecordRebase():
            return record_rebase(state, command)
        case RecoverDraft():
            return recover_draft(state, command)
        case ConfirmDeletions():
            return confirm_deletions(state, command)
        case IntendPublish():
            return intend_publish(state, command)
        case CompletePublish():
            return complete_publish(state, command)
        case AbortPublish():
            return abort_publish(state, command)
        case Rewind():
            return rewind(state, command)
        case RestoreCheckpoint():
            return restore_checkpoint(state, command)
        case CreateCheckpoint():
            return create_checkpoint(state, command)
        case _:
            assert_never(command)
