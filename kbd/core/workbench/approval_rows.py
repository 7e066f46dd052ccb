"""Answers that show approvals: what waits for a person in a workbench."""

from kbd.core.domain.approval_decisions import pending_approvals
from kbd.core.domain.approval_text import approval_title, change_type
from kbd.core.domain.workbench_state import Approval, WorkbenchState
from kbd.events.codec import format_time
from kbd.requests.approvals import ApprovalFile, ApprovalRow, AskedBy
from kbd.requests.base import UNSET

__all__ = ["approval_row", "approval_rows"]


def approval_rows(state: WorkbenchState) -> tuple[ApprovalRow, ...]:
    """Return what waits for a person, oldest first."""
    return tuple(approval_row(state, each) for each in pending_approvals(state))


def approval_row(state: WorkbenchState, approval: Approval) -> ApprovalRow:
    """Return one approval as clients see it."""
    request, actor = approval.request, approval.actor
    return ApprovalRow(
        approval_id=request.approval_id,
        workbench_id=state.workbench_id,
        workbench_name=state.name,
        kind=request.kind,
        title=approval_title(request),
        asked_at=format_time(approval.asked_at_us),
        run_id=state.run_id(approval.run) if approval.run else UNSET,
        files=tuple(
            ApprovalFile(path=file.name, change_type=change_type(file), references=file.references)
            for file in request.files
        ),
        provider_id=request.provider_id or UNSET,
        model_id=request.model_id or UNSET,
        endpoint=request.endpoint or UNSET,
        tool=request.tool or UNSET,
        asked_by=UNSET
        if actor is None
        else AskedBy(
            client=actor.client,
            connection=actor.connection,
            version=actor.version,
            host=actor.host,
        ),
    )
