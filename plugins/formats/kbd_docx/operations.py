"""The operations on documents, as records; their fields are the tool's schema.

Values that only say how something looks are lenient by contract: they are plain values here, and
what is wrong in one is skipped and told in the warnings.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

__all__ = [
    "OPERATIONS",
    "AddTable",
    "AppendParagraph",
    "Cell",
    "CellText",
    "DeleteParagraphs",
    "DocxOperation",
    "InsertParagraph",
    "Paragraph",
    "ParagraphFields",
    "ReplaceText",
    "Runs",
    "SetParagraphs",
    "SetTableCells",
]

MAX_COLUMNS = 63
"""Of a table, as Word has it."""

Cell = str | int | float | bool | None
"""What a cell of a table is given: it is shown as text, null as nothing."""

Number = Annotated[int, Meta(ge=1)]
Place = Annotated[int, Meta(ge=0)]

# What a model is told that these are; whatever else one is given is skipped with a warning.
_TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
_UNSAID: dict[str, Any] = {"default": None}

Points = Annotated[Any, Meta(description="Points.", extra_json_schema=_NUMBER)]
Inches = Annotated[Any, Meta(description="Inches.", extra_json_schema=_NUMBER)]
Style = Annotated[
    str | None,
    Meta(description='A paragraph style by id or name ("Heading 1", "List Bullet"); else Normal.'),
]
Text = Annotated[str | None, Meta(description="A line break is a line break inside the paragraph.")]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
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


class ParagraphFields(_Record, frozen=True):
    """What a paragraph holds, as `text` or as `runs`, and how it looks."""

    text: Text = None
    runs: Runs = None
    style: Style = None
    alignment: Annotated[
        Any, Meta(description="left, center, right or justify.", extra_json_schema=_TEXT)
    ] = None
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


class Paragraph(ParagraphFields, frozen=True):
    """A paragraph of `set_paragraphs`."""


class CellText(_Record, frozen=True):
    """The new text of one cell."""

    row: Annotated[Place, Meta(description="From 0.")]
    col: Annotated[Place, Meta(description="From 0.")]
    text: Cell


class DocxOperation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="op"
):
    """An operation on a document; the field `op` tells which."""


class SetParagraphs(DocxOperation, frozen=True, tag="set_paragraphs"):
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


class DeleteParagraphs(DocxOperation, frozen=True, tag="delete_paragraphs"):
    """Delete paragraphs; tables between them stay."""

    first: Annotated[
        Number, Meta(description="The first one's number, from 1, as the map counts.")
    ] = msgspec.field(name="from")
    count: Annotated[Number, Meta(description="How many, counted as the map does.")] = 1


class ReplaceText(DocxOperation, frozen=True, tag="replace_text"):
    """Replace text everywhere: body, tables, headers, footers, text boxes and notes."""

    search: Annotated[
        str,
        Meta(
            description="Found across changes of formatting, but not over the end of a paragraph; "
            "comments, deleted text and equations are left alone.",
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


class AddTable(DocxOperation, frozen=True, tag="add_table"):
    """Add a table, its texts row by row."""

    rows: Annotated[
        tuple[Annotated[tuple[Cell, ...], Meta(max_length=MAX_COLUMNS)], ...],
        Meta(min_length=1, max_length=5_000),
    ]
    style: Annotated[
        str | None, Meta(description="A table style by id or name; else Table Grid.")
    ] = None
    after: Annotated[
        Place | None,
        Meta(
            description="The number of the paragraph after which it comes, from 1, as the map "
            "counts; 0: at the beginning. Without it: at the end of the document."
        ),
    ] = None


class SetTableCells(DocxOperation, frozen=True, tag="set_table_cells"):
    """Set the texts of cells; how they look stays."""

    table: Annotated[Place, Meta(description="The table's index, from 0, as the map has it.")]
    cells: Annotated[tuple[CellText, ...], Meta(min_length=1, max_length=50_000)]


OPERATIONS: tuple[type[msgspec.Struct], ...] = (
    SetParagraphs,
    AppendParagraph,
    InsertParagraph,
    DeleteParagraphs,
    ReplaceText,
    AddTable,
    SetTableCells,
)
