"""Words for what waits for a person, from what is recorded alone: a model has no say in them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kbd.events.approvals import ApprovalDecided, ApprovalRequested, AskedFile
from kbd.lookalikes import mark_hidden

__all__ = ["APPROVAL_TEXTS", "approval_title", "change_type"]


def change_type(file: AskedFile) -> str:
    """Return how a file would change: "added", "modified" or "deleted"."""
    if file.blob is None:
        return "deleted"
    return "modified" if file.base else "added"


def approval_title(request: ApprovalRequested) -> str:
    """Return what is asked, in one line; what nobody would see in it is written by its number.

    References and names of models are other people's texts: they must not redraw a terminal, or
    read as others than they are.
    """
    shown = mark_hidden(_title(request))
    return shown.replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")


def _title(request: ApprovalRequested) -> str:
    names = [file.name for file in request.files]
    match request.kind:
        case "publish":
            listed = ", ".join(f"{file.name} ({change_type(file)})" for file in request.files)
            count = "1 file" if len(names) == 1 else f"{len(names)} files"
            return f"publish {count}: {listed}"
        case "deletion":
            return f"delete {', '.join(names)}"
        case "external":
            found = [reference for file in request.files for reference in file.references]
            what = "new active content"
            return f"publish {', '.join(names)} with {what}: {', '.join(found)}"
        case "consent":
            return f"send the files of this workbench to {_party(request)}"
        case "call":
            # All that accepting it allows: the consent is not for this call alone.
            which = f"{request.tool}, and the run under way or else the next one,"
            return f"send to {_party(request)} what {which} read"


def _party(request: ApprovalRequested) -> str:
    place = request.endpoint or request.provider_id
    return f"{place} (model {request.model_id})"


APPROVAL_TEXTS: Mapping[type, Callable[[Any, Any], str]] = MappingProxyType(
    {
        # The id first: what is asked may be cut, and it is decided by its id.
        ApprovalRequested: lambda e, _: f"waits for a person, {e.approval_id}: {approval_title(e)}",
        ApprovalDecided: lambda e, _: (
            f"approval {e.approval_id} {'accepted' if e.decision == 'accept' else 'declined'}"
        ),
    }
)
"""What each event of approvals tells."""
