"""Operations on tracked changes."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kbd_docx.operations.base import Number

__all__ = ["AcceptChanges", "RejectChanges", "SettledChanges"]


class SettledChanges(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which tracked changes are meant: all, or those of an author, or in some paragraphs."""

    author: Annotated[
        str | None, Meta(description="Only those of this author, as the map names them.")
    ] = None
    first: Annotated[
        Number | None,
        Meta(description="Only those in paragraphs from this one, and tables between them."),
    ] = msgspec.field(name="from", default=None)
    count: Annotated[Number, Meta(description="How many paragraphs, as the map counts.")] = 1


class AcceptChanges(SettledChanges, frozen=True, tag_field="op", tag="accept_changes"):
    """Accept tracked changes: insertions become text, deletions go."""


class RejectChanges(SettledChanges, frozen=True, tag_field="op", tag="reject_changes"):
    """Reject tracked changes: what was changed is as it was before."""
