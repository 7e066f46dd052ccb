"""Methods of approvals: what waits for a person, and the person's decision.

They are methods of the socket alone. No tool reaches them, so no model can decide anything.
"""

from collections.abc import Iterator

import msgspec

from kbd.core.domain.approval_decisions import waiting_approval
from kbd.core.domain.commands import DecideApproval
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.approvals import request_publish
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.approval_rows import approval_rows
from kbd.core.workbench.publish import publish
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import NotFound
from kbd.requests import approvals as wire
from kbd.requests.base import UNSET, Request
from kbd.requests.drafts import DraftPublished
from kbd.requests.notifications import DraftPublishProgress, PublishPhase

__all__ = ["ApprovalMethods"]


class ApprovalMethods:
    """Handlers of approvals: list, request, decide."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.ApprovalList: self.list,
            wire.ApprovalRequest: self.request,
            wire.ApprovalDecide: self.decide,
        }

    async def list(self, request: wire.ApprovalList, session: Session) -> wire.ApprovalsFound:
        """List what waits for a person."""
        del session
        one = request.workbench_id
        if not isinstance(one, msgspec.UnsetType):
            workbench = await self._workbenches.open(one)
            is_damaged = workbench.damage is not None
            return wire.ApprovalsFound(
                approvals=tuple(self._rows(workbench)),
                unread=(workbench.id,) if is_damaged else UNSET,
            )
        found, unread = await self._context.index.approvals()
        rows = (msgspec.json.decode(row, type=wire.ApprovalRow) for row in found)
        return wire.ApprovalsFound(
            approvals=tuple(row for row in rows if self._is_asked(row)), unread=unread or UNSET
        )

    def _rows(self, workbench: OpenWorkbench) -> Iterator[wire.ApprovalRow]:
        return filter(self._is_asked, approval_rows(workbench.state))

    def _is_asked(self, row: wire.ApprovalRow) -> bool:
        # Where everything is allowed by now, nobody has to agree to what was asked before.
        return self._context.egress.mode == "ask" or row.kind not in ("consent", "call")

    async def request(self, request: wire.ApprovalRequest, session: Session) -> wire.ApprovalsFound:
        """Ask a person to publish the draft.

        Raises:
            KbdError: As for `request_publish`.
        """
        opened = await self._workbenches.open(request.workbench_id)
        names = None
        if not isinstance(request.paths, msgspec.UnsetType):
            names = tuple(file_name(path) for path in request.paths)
        await request_publish(self._context, opened.acting(session.actor), names)
        wanted = None if names is None else set(names)
        rows = (
            row
            for row in approval_rows(opened.state)
            if row.files and (wanted is None or {file.path for file in row.files} <= wanted)
        )
        return wire.ApprovalsFound(approvals=tuple(rows))

    async def decide(self, request: wire.ApprovalDecide, session: Session) -> wire.ApprovalDone:
        """Decide what waits for a person, and carry out what was accepted.

        Raises:
            NotFound: There is no such approval.
            ValidationFailed: Somebody decided it before, or it waits no more; or a deletion or
                external references of the same files are not decided yet.
            KbdError: As for `publish`. It is decided then only if the publish had begun: one that
                the disk refuses later is brought back, and the decision stands.
        """
        # The id of a workbench is hexadecimal, so the first hyphen is the one behind it.
        workbench_id, hyphen, _ = request.approval_id.partition("-")
        if not hyphen:
            msg = f"there is no approval {request.approval_id!r}"
            raise NotFound(msg)
        opened = await self._workbenches.open(workbench_id)
        workbench = opened.acting(session.actor)
        asked = waiting_approval(workbench.state, request.approval_id)
        published: DraftPublished | msgspec.UnsetType = UNSET
        if asked.kind == "publish" and request.decision == "accept":

            def progress(phase: PublishPhase) -> None:
                self._context.notify(DraftPublishProgress(workbench_id=opened.id, phase=phase))

            published = await publish(
                workbench,
                self._context.clock,
                names=tuple(file.name for file in asked.files),
                keep_both=False,
                accept_external=False,
                progress=progress,
                approval_id=request.approval_id,
            )
        else:
            await workbench.submit(DecideApproval(request.approval_id, request.decision))
        return wire.ApprovalDone(
            approval_id=request.approval_id, decision=request.decision, published=published
        )
