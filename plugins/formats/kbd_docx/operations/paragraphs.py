"""Operations on paragraphs and their text."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kbd_docx.operations.base import (
    Color,
    Flag,
    Number,
    ParagraphFields,
    ParagraphLook,
    Points,
    TrackChanges,
    TrackedOperation,
    Underline,
    Word,
)

__all__ = [
    "AppendParagraph",
    "DeleteParagraphs",
    "FormatParagraphs",
    "InsertParagraph",
    "Paragraph",
    "ReplaceText",
    "SetParagraphs",
]


class Paragraph(ParagraphFields, frozen=True):
    """A paragraph of `set_paragraphs`."""


class SetParagraphs(TrackedOperation, frozen=True, tag="set_paragraphs"):
    """Replace the whole body by paragraphs."""

    paragraphs: Annotated[
        tuple[Paragraph, ...],
        Meta(
            description="Styles, headers, footers and the settings of the last section stay; "
            "tables, images and all else in the old body goes, and is told in warnings.",
            max_length=50_000,
        ),
    ]


class AppendParagraph(ParagraphFields, frozen=True, tag_field="op", tag="append_paragraph"):
    """Add a paragraph at the end of the body."""

    track_changes: TrackChanges = None


class InsertParagraph(
    ParagraphFields, frozen=True, kw_only=True, tag_field="op", tag="insert_paragraph"
):
    """Put a paragraph before another one, or at the end."""

    at: Annotated[
        Number,
        Meta(
            description="The number that the new paragraph will have, from 1, as the map counts: "
            "it goes right before the paragraph that has it now; one more than there are: at the "
            "end."
        ),
    ]
    track_changes: TrackChanges = None


class DeleteParagraphs(TrackedOperation, frozen=True, tag="delete_paragraphs"):
    """Delete paragraphs; tables between them stay."""

    first: Annotated[
        Number, Meta(description="The first one's number, from 1, as the map counts.")
    ] = msgspec.field(name="from")
    count: Annotated[Number, Meta(description="How many, counted as the map does.")] = 1


class FormatParagraphs(
    ParagraphLook, frozen=True, kw_only=True, tag_field="op", tag="format_paragraphs"
):
    """Change how paragraphs look; their text stays."""

    first: Annotated[
        Number, Meta(description="The first one's number, from 1, as the map counts.")
    ] = msgspec.field(name="from")
    count: Annotated[Number, Meta(description="How many, counted as the map does.")] = 1
    like: Annotated[
        Number | None,
        Meta(description="The number of a paragraph that they look like, but for what is given."),
    ] = None
    font_name: Word = None
    font_size: Points = None
    bold: Flag = None
    italic: Flag = None
    underline: Underline = None
    font_color: Color = None
    highlight_color: Annotated[Word, Meta(description="A marker's name or #RRGGBB.")] = None
    track_changes: TrackChanges = None


class ReplaceText(TrackedOperation, frozen=True, tag="replace_text"):
    """Replace text everywhere: body, tables, headers, footers, text boxes and notes."""

    search: Annotated[
        str,
        Meta(
            description="Found across changes of formatting, but not over the end of a paragraph; "
            "deleted text and equations are left alone, and comments, with a warning.",
            min_length=1,
            max_length=10_000,
        ),
    ]
    replace: Annotated[
        str,
        Meta(
            description="Each hit is replaced once and keeps the formatting of its first "
            "character; `changed` tells how many.",
            max_length=100_000,
        ),
    ]
    match_case: bool = False
