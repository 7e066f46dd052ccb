"""Operations on tables: what their cells hold, and how they look."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kbd_docx.operations.base import (
    Cell,
    CellLookFields,
    Inches,
    Place,
    Runs,
    TrackChanges,
    TrackedOperation,
    Word,
)

__all__ = ["AddTable", "CellText", "FormatTableCells", "SetTable", "SetTableCells", "TableIndex"]

MAX_COLUMNS = 63
"""Of a table, as Word has it."""

TableIndex = Annotated[Place, Meta(description="The table's index, from 0, as the map has it.")]

_Widths = Annotated[
    Annotated[tuple[Inches, ...], Meta(max_length=MAX_COLUMNS)] | None,
    Meta(description="A width in inches for each column."),
]


class CellText(CellLookFields, frozen=True, kw_only=True):
    """The new text of one cell, or how it looks, or both."""

    row: Annotated[Place, Meta(description="From 0.")]
    col: Annotated[Place, Meta(description="From 0.")]
    text: Annotated[
        Cell | msgspec.UnsetType, Meta(description="Null empties it; without it the text stays.")
    ] = msgspec.UNSET
    runs: Runs = None


class AddTable(TrackedOperation, frozen=True, tag="add_table"):
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
    header: Annotated[
        bool,
        Meta(description="The first row names the columns: it stands out, on each page anew."),
    ] = False
    column_widths: _Widths = None
    alignments: Annotated[
        Annotated[tuple[Word, ...], Meta(max_length=MAX_COLUMNS)] | None,
        Meta(description='Of each column: left, center or right ("right" for figures), or null.'),
    ] = None


class SetTableCells(TrackedOperation, frozen=True, tag="set_table_cells"):
    """Set the texts of cells, and how they look; what is not given stays."""

    table: TableIndex
    cells: Annotated[tuple[CellText, ...], Meta(min_length=1, max_length=50_000)]


class FormatTableCells(
    CellLookFields, frozen=True, kw_only=True, tag_field="op", tag="format_table_cells"
):
    """Change how the cells of a range look; their text stays."""

    table: TableIndex
    row: Annotated[Place, Meta(description="The first row, from 0.")] = 0
    to_row: Annotated[Place | None, Meta(description="The last row; else the table's.")] = None
    col: Annotated[Place, Meta(description="The first column, from 0.")] = 0
    to_col: Annotated[Place | None, Meta(description="The last column; else the table's.")] = None
    track_changes: TrackChanges = None


class SetTable(TrackedOperation, frozen=True, tag="set_table"):
    """Change how a whole table looks; its text stays."""

    table: TableIndex
    style: Annotated[str | None, Meta(description="A table style by id or name.")] = None
    column_widths: _Widths = None
    width: Annotated[
        Any,
        Meta(
            description="Of the whole, in inches; its columns keep their shares.",
            extra_json_schema={"type": "number"},
        ),
    ] = None
    alignment: Annotated[
        Word, Meta(description="Where it stands between the margins: left, center or right.")
    ] = None
    header_rows: Annotated[
        Place | None,
        Meta(description="How many rows at the top come again on each page; 0: none."),
    ] = None
    borders: Annotated[
        Word, Meta(description="Which lines are drawn: all, outside, inside, horizontal or none.")
    ] = None
