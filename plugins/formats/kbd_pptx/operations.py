"""The operations on decks, as records; their fields are the tool's schema.

Looks of runs and paragraphs are lenient by contract: they are plain values here, and what is wrong
in one is skipped and told in the warnings.
"""

from typing import Annotated, Any

import msgspec

__all__ = [
    "OPERATIONS",
    "AddSlide",
    "AppendBullets",
    "DeleteSlide",
    "MoveSlide",
    "PptxOperation",
    "ReplaceText",
    "Runs",
    "SetNotes",
    "SetSlideText",
    "SlideIndex",
]

# Not imported from `presentation`: that needs lxml, and the daemon imports this module.
_MAX_SLIDES = 10_000
_MAX_PARTS = 2_000

SlideIndex = Annotated[
    int, msgspec.Meta(ge=0, le=_MAX_SLIDES, description="The slide, counted from 0.")
]

Body = Annotated[
    str,
    msgspec.Meta(
        description=(
            "A line is a paragraph (the layout draws the bullets); a tab before a line puts it a "
            "level deeper. On two_content an empty line parts left from right."
        ),
    ),
]

_Layout = Annotated[
    str,
    msgspec.Meta(
        description=(
            "A name from the map's layouts, or title_slide, title_and_content, section_header, "
            "title_only, blank, two_content."
        )
    ),
]

# What a model is told that these are; whatever else one is given is skipped with a warning.
_TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}

_Run = Annotated[
    dict[str, Any],
    msgspec.Meta(
        extra_json_schema={
            "properties": {
                "text": _TEXT, "font_name": _TEXT, "font_size": _NUMBER, "bold": _FLAG,
                "italic": _FLAG, "underline": _FLAG, "font_color": _TEXT,
                "highlight_color": _TEXT,
            },
            "required": ["text"],
            "additionalProperties": False,
        }
    ),
]  # fmt: skip

Runs = Annotated[
    tuple[_Run, ...],
    msgspec.Meta(
        max_length=_MAX_PARTS,
        description=(
            "In place of the plain text; sizes in points, colours #RRGGBB; \\n in a text begins a "
            "paragraph"
        ),
    ),
]

_Alignment = Annotated[
    Any, msgspec.Meta(description="left, center, right, justify", extra_json_schema=_TEXT)
]
_Points = Annotated[Any, msgspec.Meta(description="Points.", extra_json_schema=_NUMBER)]
_Lines = Annotated[
    Any, msgspec.Meta(description="In lines: 1.0 is single.", extra_json_schema=_NUMBER)
]


class PptxOperation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="op"
):
    """An operation on a deck; the field `op` tells which."""


class _Paragraphed(PptxOperation, frozen=True, kw_only=True):
    """How the paragraphs that an operation writes are set; None leaves it as it is."""

    alignment: _Alignment = None
    space_before: _Points = None
    space_after: _Points = None
    line_spacing: _Lines = None


class AddSlide(_Paragraphed, frozen=True, tag="add_slide"):
    """Add a slide in one of the deck's layouts, at `index` or at the end.

    Placeholders that get no text are left out; a later set_slide_text or append_bullets brings
    them back.
    """

    layout: _Layout = "title_and_content"
    title: str | None = None
    body: Body | None = None
    title_runs: Runs | None = None
    body_runs: Runs | None = None
    index: SlideIndex | None = None
    notes: str | None = None


class SetSlideText(_Paragraphed, frozen=True, tag="set_slide_text"):
    """Replace the title or the body of a slide, or both; its formatting stays.

    Other text of the slide (tables, text boxes) is reached by replace_text.
    """

    index: SlideIndex
    title: str | None = None
    body: Body | None = None
    title_runs: Runs | None = None
    body_runs: Runs | None = None


class AppendBullets(_Paragraphed, frozen=True, tag="append_bullets"):
    """Add paragraphs to the end of a slide's body; they look like its last one of that level."""

    index: SlideIndex
    bullets: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=_MAX_PARTS)]
    level: Annotated[int, msgspec.Meta(ge=0, le=8, description="0 is the outermost.")] | None = None


class ReplaceText(PptxOperation, frozen=True, tag="replace_text"):
    """Replace a text on slides (tables, groups, text boxes too) and in notes, and count the hits.

    Each hit keeps the formatting of its first character. Charts, SmartArt, comments and what
    layouts show are not reached, but told.
    """

    search: Annotated[str, msgspec.Meta(min_length=1)]
    replace: str
    match_case: bool = False
    index: SlideIndex | None = None


class SetNotes(PptxOperation, frozen=True, tag="set_notes"):
    """Replace the speaker notes of a slide."""

    index: SlideIndex
    text: str


class DeleteSlide(PptxOperation, frozen=True, tag="delete_slide"):
    """Delete a slide with its notes; links of other slides to it are taken off their texts."""

    index: SlideIndex


class MoveSlide(PptxOperation, frozen=True, tag="move_slide"):
    """Move a slide; `to` is its index afterwards."""

    index: SlideIndex
    to: SlideIndex


OPERATIONS: tuple[type[msgspec.Struct], ...] = (
    AddSlide,
    SetSlideText,
    AppendBullets,
    ReplaceText,
    SetNotes,
    DeleteSlide,
    MoveSlide,
)
