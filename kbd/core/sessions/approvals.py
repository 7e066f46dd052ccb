"""Approvals as runs, calls and handlers need them: asked for, waited for, within a limit.

What is asked is recorded before anybody waits, so it is still there after a restart; what waited
for it is then resumed, and finds what was decided meanwhile.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import anyio

from kbd.core.domain.approval_decisions import pending_approvals, publish_requests
from kbd.core.domain.commands import RequestApprovals
from kbd.core.sessions.api_context import ApiContext
from kbd.core.workbench.workbench import OpenWorkbench, draft_view
from kbd.errors import EgressConsentRequired, ValidationFailed
from kbd.events.approvals import ApprovalRequested
from kbd.types import FileName

__all__ = ["consented_call", "request_consent", "request_publish"]

LOOK_AGAIN_S = 1.0
"""How often a waiting call looks whether all is allowed by now, which is no event of its log."""

ASK_TRIES = 5
"""How often it is asked anew where the files change while it is asked."""

R = TypeVar("R")


async def request_publish(
    context: ApiContext, workbench: OpenWorkbench, names: Iterable[FileName] | None
) -> None:
    """Ask a person to publish the draft, or some of its files; what is asked is not asked again.

    Raises:
        ValidationFailed: There is no draft, a run or a publish is working on it, or it changed at
            this moment.
        NotFound: The draft does not change a file.
    """
    state = workbench.state
    draft = state.draft
    if draft is None or not draft_view(state):
        msg = "draft not found: there is nothing to publish"
        raise ValidationFailed(msg)
    if state.active_run() is not None or state.publish is not None:
        msg = "a run or a publish is working on the draft: wait for it"
        raise ValidationFailed(msg, retryable=True)
    asked_id = _fresh_id(context, workbench)
    wanted = publish_requests(draft, draft.files if names is None else set(names), asked_id)
    await workbench.submit(RequestApprovals(wanted))


async def request_consent(
    context: ApiContext,
    workbench: OpenWorkbench,
    refused: EgressConsentRequired,
    *,
    embeds: bool = False,
    run: int = 0,
    tool: str = "",
) -> str:
    """Ask a person for the consent that a refusal is about; the refusal then says how to give it.

    Args:
        context: The daemon's.
        workbench: The workbench.
        refused: What was refused; its detail and actions name the approval afterwards.
        embeds: Whether the model is an embedder's.
        run: The run that needs it, or 0.
        tool: The tool whose call needs it, or "" for a turn of a run.

    Returns:
        The approval's id; "" where nothing waits: it was agreed to at this moment, or the files
        change without a pause.
    """
    for _ in range(ASK_TRIES):
        consent = context.egress.consent_to(
            workbench.state, str(refused.detail["model_id"]), persist=not tool, embeds=embeds
        )
        wanted = ApprovalRequested(
            approval_id=_fresh_id(context, workbench),
            kind="call" if tool else "consent",
            provider_id=consent.provider_id,
            model_id=consent.model_id,
            scope_hash=consent.scope_hash,
            endpoint=consent.endpoint,
            tool=tool,
        )
        await workbench.submit(RequestApprovals((wanted,), run))
        approval_id = _find_waiting(workbench, wanted)
        if approval_id:
            refused.detail["approval_id"] = approval_id
            refused.actions = (*refused.actions, f"or decide it with kbd approve {approval_id}")
            return approval_id
        # Commands of others are recorded with ours: a file came, or a person agreed.
        if context.egress.consented(workbench.state, consent.model_id, embeds=embeds):
            break
    return ""


def _find_waiting(workbench: OpenWorkbench, wanted: ApprovalRequested) -> str:
    """Return the id of the approval that waits for the same, whoever asked; "" if none does."""
    subject = (wanted.kind, wanted.model_id, wanted.endpoint, wanted.tool)
    for each in pending_approvals(workbench.state):
        request = each.request
        if (request.kind, request.model_id, request.endpoint, request.tool) == subject:
            return request.approval_id
    return ""


async def consented_call(
    context: ApiContext,
    workbench: OpenWorkbench,
    work: Callable[[], Awaitable[R]],
    *,
    run: int,
    limit_s: float,
    tool: str = "",
) -> R:
    """Make a call that may need consent; where it does, ask a person and wait for the answer.

    Args:
        context: The daemon's.
        workbench: The workbench.
        work: The call; it is refused before anything is sent.
        run: The run that makes it, or 0.
        limit_s: The longest wait for a person, in seconds.
        tool: The tool that makes it, or "" for a turn of a run.

    Raises:
        EgressConsentRequired: A person declined, or did not decide in time.
        KbdError: As the call says.
    """
    until_s = context.clock.monotonic_s() + limit_s
    while True:
        try:
            return await work()
        except EgressConsentRequired as refused:
            approval_id = await request_consent(context, workbench, refused, run=run, tool=tool)
            left_s = until_s - context.clock.monotonic_s()
            # Looked at here, too: where nothing waits the call is made again at once.
            if left_s <= 0 or not await _is_accepted(
                context, workbench, approval_id, refused, left_s
            ):
                raise


async def _is_accepted(
    context: ApiContext,
    workbench: OpenWorkbench,
    approval_id: str,
    refused: EgressConsentRequired,
    limit_s: float,
) -> bool:
    """Wait for a decision; return whether what was refused is allowed now, or has changed."""
    model_id = str(refused.detail["model_id"])
    with anyio.move_on_after(limit_s):
        while True:
            rings, state = workbench.changed.rings, workbench.state
            decided = state.decided.get(approval_id)
            if decided is not None:
                if decided.decision == "decline":
                    refused.message = f"{refused.message} (a person declined)"
                return decided.decision == "accept"
            # Given in another way; or the files are others by now, and it is asked about those.
            if context.egress.consented(state, model_id) or all(
                each.request.approval_id != approval_id for each in pending_approvals(state)
            ):
                return True
            with anyio.move_on_after(LOOK_AGAIN_S):
                await workbench.changed.wait(rings)
    return False


def _fresh_id(context: ApiContext, workbench: OpenWorkbench) -> str:
    """Return an id that names the workbench, as ids of runs do."""
    return f"{workbench.id}-a{context.clock.new_id()[:8]}"
