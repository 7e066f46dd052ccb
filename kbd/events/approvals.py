"""Events of approvals: what waits for a person, and what the person decided."""

from typing import Literal

import msgspec

from kbd.events.base import Fact
from kbd.types import BlobHash, CallId, FileName

__all__ = [
    "ApprovalDecided",
    "ApprovalEvent",
    "ApprovalKind",
    "ApprovalRequested",
    "AskedFile",
    "Decision",
]

ApprovalKind = Literal["publish", "deletion", "external", "consent", "call"]
"""What is asked: whether files may be published, one may be deleted, one may go with its new
external references, files may be sent to a provider, or a tool's call may send them there."""

Decision = Literal["accept", "decline"]


class AskedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of the draft that an approval is about, in just these bytes.

    Args:
        name: The file.
        base: What the draft started from, or None for a new file.
        blob: What would be published, or None for a deletion.
        references: Its new active content, external references among it.
    """

    name: FileName
    base: BlobHash | None = None
    blob: BlobHash | None = None
    references: tuple[str, ...] = ()


class ApprovalRequested(Fact):
    """Something waits for a person; it waits no more when what it is about has changed.

    Args:
        approval_id: Its id, `workbench-a…`.
        kind: What is asked.
        files: Of a publish, a deletion and external references: the files.
        provider_id: Of a consent and a call: who would be sent the files.
        model_id: The model, `provider:model`.
        scope_hash: What would be sent, as in ConsentGranted.
        endpoint: Where it would go.
        tool: Of a call: the tool that waits.
        call_id: Of a call in a run: the call.
    """

    approval_id: str
    kind: ApprovalKind
    files: tuple[AskedFile, ...] = ()
    provider_id: str = ""
    model_id: str = ""
    scope_hash: str = ""
    endpoint: str = ""
    tool: str = ""
    call_id: CallId = CallId("")


class ApprovalDecided(Fact):
    """A person decided; what it led to stands in the same frame.

    Args:
        approval_id: What was decided.
        decision: "accept" or "decline".
    """

    approval_id: str
    decision: Decision


ApprovalEvent = ApprovalRequested | ApprovalDecided
