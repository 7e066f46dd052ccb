"""What operations on decks are made of: the base of their records, and fields that they share.

Looks of runs and paragraphs are lenient by contract: they are plain values here, and what is wrong
in one is skipped and told in the warnings.
"""

from typing import Annotated, Any

import msgspec

__all__ = [
    "MAX_PARTS",
    "Body",
    "Layout",
    "ParagraphedOperation",
    "ParagraphedPlacedOperation",
    "PlacedOperation",
    "PptxOperation",
    "PptxRecord",
    "Runs",
    "ShapeName",
    "SlideIndex",
    "TableCell",
]

# Not imported from `presentation`: that needs lxml, and the daemon imports this module.
_MAX_SLIDES = 10_000
MAX_PARTS = 2_000

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

Layout = Annotated[
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
        max_length=MAX_PARTS,
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


class PptxRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of an operation; a misspelt field is refused."""


class ParagraphedOperation(PptxOperation, frozen=True, kw_only=True):
    """How the paragraphs that an operation writes are set; None leaves it as it is."""

    alignment: _Alignment = None
    space_before: _Points = None
    space_after: _Points = None
    line_spacing: _Lines = None


TableCell = str | int | float | bool | None
"""What a cell of a table is given: it is shown as text, null as nothing."""

ShapeName = Annotated[
    int | str, msgspec.Meta(description="Its id or name, as the map and read objects tell them.")
]

_Inches = Annotated[float, msgspec.Meta(ge=-56, le=56)]
"""A slide is at most 56 inches wide (ECMA-376, part 1, 19.2.1.39)."""
_Side = Annotated[float, msgspec.Meta(gt=0, le=56)]


class PlacedOperation(PptxOperation, frozen=True, kw_only=True):
    """Where something goes on its slide, in inches; what is not given is chosen."""

    left: _Inches | None = None
    top: _Inches | None = None
    width: _Side | None = None
    height: _Side | None = None


class ParagraphedPlacedOperation(ParagraphedOperation, frozen=True, kw_only=True):
    """Where something with a text goes on its slide, in inches; what is not given is chosen."""

    left: _Inches | None = None
    top: _Inches | None = None
    width: _Side | None = None
    height: _Side | None = None
