"""What operations on documents are made of: the base of their records, and shared fields."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

__all__ = [
    "Alignment",
    "Cell",
    "CellLookFields",
    "Color",
    "DocxOperation",
    "DocxRecord",
    "Flag",
    "Inches",
    "ListKind",
    "Number",
    "ParagraphFields",
    "ParagraphLook",
    "Place",
    "Points",
    "Runs",
    "TrackChanges",
    "TrackedOperation",
    "Tracking",
    "Underline",
    "Word",
]

Cell = str | int | float | bool | None
"""What a cell of a table is given: it is shown as text, null as nothing."""

Number = Annotated[int, Meta(ge=1)]
Place = Annotated[int, Meta(ge=0)]
ListKind = Literal["bullet", "number"]
ListLevel = Annotated[int, Meta(ge=0, le=8)]

# What a model is told that these are; whatever else one is given is skipped with a warning.
_TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
_UNSAID: dict[str, Any] = {"default": None}

Points = Annotated[Any, Meta(description="Points.", extra_json_schema=_NUMBER)]
Inches = Annotated[Any, Meta(description="Inches.", extra_json_schema=_NUMBER)]
Style = Annotated[
    str | None,
    Meta(description='A paragraph style by id or name ("Heading 1", "List Bullet").'),
]
Word = Annotated[Any, Meta(extra_json_schema=_TEXT)]
"""A word or a color: lenient, for what is none is skipped with a warning."""

Flag = Annotated[Any, Meta(extra_json_schema=_FLAG)]
Alignment = Annotated[
    Any, Meta(description="left, center, right or justify.", extra_json_schema=_TEXT)
]
Underline = Annotated[
    Any,
    Meta(
        description="True, or single, double, dotted …",
        extra_json_schema={"anyOf": [_FLAG, _TEXT]},
    ),
]
Color = Annotated[Any, Meta(description="#RRGGBB", extra_json_schema=_TEXT)]
Text = Annotated[str | None, Meta(description="A line break is a line break inside the paragraph.")]


class DocxRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of an operation; a misspelt field is refused."""


_Run = Annotated[
    dict[str, Any],
    Meta(
        description="A stretch of text that looks alike; what is not given is as the style has it.",
        extra_json_schema={
            "title": "Run",
            "properties": {
                "text": _TEXT,
                "font_name": _TEXT | _UNSAID,
                "font_size": _NUMBER | {"description": "Points."} | _UNSAID,
                "bold": _FLAG | _UNSAID,
                "italic": _FLAG | _UNSAID,
                "underline": {
                    "anyOf": [_FLAG, _TEXT],
                    "description": "True, or single, double, dotted, wave …",
                }
                | _UNSAID,
                "font_color": _TEXT | {"description": "#RRGGBB"} | _UNSAID,
                "highlight_color": _TEXT
                | {"description": 'A marker\'s name ("yellow") or #RRGGBB, for the nearest one.'}
                | _UNSAID,
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    ),
]
Runs = Annotated[
    tuple[_Run, ...] | None, Meta(description="In place of text, where its parts look different.")
]


class ParagraphLook(DocxRecord, frozen=True):
    """How a paragraph looks; what is not given stays as it is, or as the style has it."""

    style: Style = None
    alignment: Alignment = None
    space_before: Points = None
    space_after: Points = None
    line_spacing: Annotated[
        Any, Meta(description="In lines, as 1.15.", extra_json_schema=_NUMBER)
    ] = None
    indent_left: Inches = None
    indent_right: Inches = None
    indent_first_line: Annotated[
        Any, Meta(description="Inches; negative hangs.", extra_json_schema=_NUMBER)
    ] = None


class CellLookFields(DocxRecord, frozen=True):
    """How a cell of a table looks; what is not given stays as it is."""

    style: Style = None
    alignment: Alignment = None
    vertical_alignment: Annotated[
        Any, Meta(description="top, center or bottom.", extra_json_schema=_TEXT)
    ] = None
    shading: Annotated[
        Any, Meta(description="#RRGGBB behind the cell, or none.", extra_json_schema=_TEXT)
    ] = None
    bold: Flag = None
    italic: Flag = None
    font_size: Points = None
    font_color: Color = None


class ParagraphFields(DocxRecord, frozen=True):
    """What a paragraph holds, as `text` or as `runs`, and how it looks."""

    text: Text = None
    runs: Runs = None
    style: Annotated[
        str | None,
        Meta(
            description='A paragraph style by id or name ("Heading 1", "List Bullet"); else Normal.'
        ),
    ] = None
    like: Annotated[
        Number | None,
        Meta(description="The number of a paragraph that it looks like, but for what is given."),
    ] = None
    alignment: Alignment = None
    space_before: Points = None
    space_after: Points = None
    line_spacing: Annotated[
        Any, Meta(description="In lines, as 1.15.", extra_json_schema=_NUMBER)
    ] = None
    indent_left: Inches = None
    indent_right: Inches = None
    indent_first_line: Annotated[
        Any, Meta(description="Inches; negative hangs.", extra_json_schema=_NUMBER)
    ] = None
    list: Annotated[
        ListKind | None,
        Meta(description="An item, of the list right before it or of a new one."),
    ] = None
    level: Annotated[ListLevel | None, Meta(description="Of an item, from 0.")] = None
    restart: Annotated[bool, Meta(description="Begins a list anew, from 1.")] = False


class Tracking(DocxRecord, frozen=True):
    """By whom and when changes were made."""

    author: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    date: Annotated[str | None, Meta(description="As 2026-05-31T09:00:00Z.")] = None


TrackChanges = Annotated[
    bool | Literal["on", "off"] | Tracking | None,
    Meta(description="Mark what is changed for people to accept or reject."),
]
"""A short description, since each operation has it in the schema that a model is given."""


class DocxOperation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="op"
):
    """An operation on a document; the field `op` tells which."""


class TrackedOperation(DocxOperation, frozen=True, kw_only=True):
    """An operation whose changes may be tracked."""

    track_changes: TrackChanges = None
