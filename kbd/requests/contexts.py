"""Requests about what every run shall know: four texts that a person sets once."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset, WorkbenchParam

__all__ = [
    "ContextDelete",
    "ContextDeleted",
    "ContextFound",
    "ContextGet",
    "ContextKept",
    "ContextList",
    "ContextRequest",
    "ContextRow",
    "ContextSet",
    "ContextWeight",
    "ContextsFound",
]


class _ContextRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "context"


class ContextRow(msgspec.Struct, frozen=True, kw_only=True):
    """One of the four categories.

    Args:
        category: "company-context", "department-context", "situation" or "document-style".
        status: Whether there is a text.
        characters: How long it is.
        source_name: The name of the file that it was read from.
        updated_at: When it was set; ISO 8601, UTC.
    """

    category: str
    status: Literal["empty", "set"]
    characters: int = 0
    source_name: str | Unset = UNSET
    updated_at: str | Unset = UNSET


class ContextWeight(msgspec.Struct, frozen=True, kw_only=True):
    """What the texts take of each request to the model.

    Args:
        estimated_tokens: All of them together.
        warning: Whether that is much: 0.35 of the window or more.
        model_id: The workbench's model, whose window it is; absent while none is named.
        context_tokens: The size of that window.
        share: The part of it that they take.
    """

    estimated_tokens: int
    warning: bool = False
    model_id: str | Unset = UNSET
    context_tokens: int | Unset = UNSET
    share: float | Unset = UNSET


class ContextsFound(Answer):
    """All four categories, always in the same order, and what they weigh."""

    items: tuple[ContextRow, ...]
    weight: ContextWeight


class ContextList(_ContextRequest):
    """List what every run is told."""

    answer: ClassVar[type[Any]] = ContextsFound

    workbench_id: WorkbenchParam


class ContextFound(Answer):
    """One category with its text; `text` is "" while the status is empty."""

    item: ContextRow
    text: str


class ContextGet(_ContextRequest):
    """Read one category."""

    answer: ClassVar[type[Any]] = ContextFound

    workbench_id: WorkbenchParam
    category: str


class ContextKept(Answer):
    """The category as it is now, and what all of them weigh."""

    item: ContextRow
    weight: ContextWeight


class ContextSet(_ContextRequest):
    """Tell every run from now on a text, or the text of a local file; just one of the two."""

    answer: ClassVar[type[Any]] = ContextKept

    workbench_id: WorkbenchParam
    category: str
    text: str | Unset = UNSET
    source_path: Annotated[str, msgspec.Meta(max_length=4096)] | Unset = UNSET


class ContextDeleted(Answer):
    """The category as it is now; `deleted` says whether there was a text."""

    item: ContextRow
    deleted: bool


class ContextDelete(_ContextRequest):
    """Tell runs one category no more."""

    answer: ClassVar[type[Any]] = ContextDeleted

    workbench_id: WorkbenchParam
    category: str


ContextRequest = ContextList | ContextGet | ContextSet | ContextDelete
"""The requests of this subject."""
