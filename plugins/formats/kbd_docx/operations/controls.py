"""Operations on content controls."""

from typing import Annotated

from msgspec import Meta

from kbd_docx.operations.base import TrackedOperation

__all__ = ["SetContentControl"]

_Name = Annotated[str, Meta(min_length=1, max_length=400)]
_Text = Annotated[str, Meta(max_length=100_000)]


class SetContentControl(TrackedOperation, frozen=True, kw_only=True, tag="set_content_control"):
    """Fill in content controls, found by tag or title; all that have it are filled alike."""

    tag: Annotated[_Name | None, Meta(description="As the map lists it.")] = None
    title: Annotated[_Name | None, Meta(description="In place of tag.")] = None
    text: Annotated[
        _Text | None, Meta(description="Of a text or combo box; of a date in ISO form.")
    ] = None
    checked: Annotated[bool | None, Meta(description="Of a checkbox.")] = None
    choice: Annotated[_Name | None, Meta(description="Of a dropdown: one of its items.")] = None
