"""Requests about approvals: what waits for a person."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.events.approvals import ApprovalKind, Decision
from kbd.requests.base import UNSET, Answer, Request, Unset, WorkbenchParam
from kbd.requests.drafts import DraftPublished
from kbd.types import RunId, WorkbenchId

__all__ = [
    "ApprovalDecide",
    "ApprovalDone",
    "ApprovalFile",
    "ApprovalList",
    "ApprovalRequest",
    "ApprovalRequests",
    "ApprovalRow",
    "ApprovalsFound",
    "AskedBy",
]


_PathText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class ApprovalFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that an approval is about.

    Args:
        path: The file.
        change_type: "added", "modified" or "deleted".
        references: Its new active content: external references, scripts, formulas.
    """

    path: str
    change_type: str
    references: tuple[str, ...] = ()


class AskedBy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The client that asked for an approval, as it named itself."""

    client: str
    connection: int
    version: str = ""
    host: str = ""


class ApprovalRow(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for a person.

    Args:
        approval_id: Its id.
        workbench_id: The workbench.
        workbench_name: Its name.
        kind: "publish", "deletion", "external", "consent" or "call".
        title: What is asked, in one line; kbd writes it from what is recorded, never a model.
        asked_at: When.
        run_id: The run that asked for it; it waits, or ended since.
        files: The files that it is about.
        provider_id: Who would be sent files.
        model_id: The model that would be.
        endpoint: Where they would go.
        tool: The tool whose call waits.
        asked_by: The client that asked.
    """

    approval_id: str
    workbench_id: str
    workbench_name: str
    kind: ApprovalKind
    title: str
    asked_at: str
    run_id: RunId | Unset = UNSET
    files: tuple[ApprovalFile, ...] = ()
    provider_id: str | Unset = UNSET
    model_id: str | Unset = UNSET
    endpoint: str | Unset = UNSET
    tool: str | Unset = UNSET
    asked_by: AskedBy | Unset = UNSET


class ApprovalsFound(Answer):
    """What waits for a person, oldest first in each workbench.

    Args:
        approvals: What waits.
        unread: The workbenches that cannot be read to the end, if there are any: what waits in
            them is not listed, or not as it was left.
    """

    approvals: tuple[ApprovalRow, ...]
    unread: tuple[WorkbenchId, ...] | Unset = UNSET


class ApprovalList(Request):
    """List what waits for a person: in a workbench, or in all."""

    subject: ClassVar[str] = "approvals"
    answer: ClassVar[type[Any]] = ApprovalsFound

    workbench_id: WorkbenchParam | Unset = UNSET


class ApprovalRequest(Request):
    """Ask a person to publish the draft, or some of its files; nothing is published by it.

    Deletions and files with new active content are asked about one by one. What is asked
    already is not asked again. The answer is what waits for a person now about these files.

    Args:
        paths: Which files of the draft; all if it is left out.
    """

    subject: ClassVar[str] = "approvals"
    answer: ClassVar[type[Any]] = ApprovalsFound

    workbench_id: WorkbenchParam
    paths: Annotated[tuple[_PathText, ...], msgspec.Meta(min_length=1)] | Unset = UNSET


class ApprovalDone(Answer):
    """A decision that counts.

    Args:
        approval_id: What was decided.
        decision: "accept" or "decline".
        published: What was published by it.
    """

    approval_id: str
    decision: Decision
    published: DraftPublished | Unset = UNSET


class ApprovalDecide(Request):
    """Decide something that waits for a person; the first decision counts.

    Args:
        approval_id: Its id.
        decision: "accept" or "decline".
    """

    subject: ClassVar[str] = "approvals"
    answer: ClassVar[type[Any]] = ApprovalDone

    approval_id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    decision: Decision


ApprovalRequests = ApprovalList | ApprovalRequest | ApprovalDecide
"""The requests of this subject."""
