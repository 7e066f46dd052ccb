"""Operations on the rows, columns and merged cells of tables.

Rows and columns are counted from 0; a merged cell has the column in which it begins.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from kbd_docx.operations.base import Cell, Number, Place, TrackedOperation
from kbd_docx.operations.tables import MAX_COLUMNS, TableIndex

__all__ = [
    "DeleteTableColumns",
    "DeleteTableRows",
    "InsertTableColumns",
    "InsertTableRows",
    "MergeTableCells",
    "SplitTableCell",
]

MAX_ROWS = 5_000
"""That one operation puts in."""

_Row = Annotated[Place, Meta(description="From 0.")]
_Column = Annotated[Place, Meta(description="From 0; of a merged cell its first one.")]


class InsertTableRows(TrackedOperation, frozen=True, tag="insert_table_rows"):
    """Put rows into a table; a merged cell that goes over that place takes them in."""

    table: TableIndex
    at: Annotated[
        Place,
        Meta(
            description="The index that the first of them will have; as many as there are: below "
            "the last one."
        ),
    ]
    rows: Annotated[
        tuple[Annotated[tuple[Cell, ...], Meta(max_length=MAX_COLUMNS)], ...],
        Meta(
            description="The texts of each by column; [] is a row without text.",
            min_length=1,
            max_length=MAX_ROWS,
        ),
    ]
    like: Annotated[
        Place | None, Meta(description="The row that they look like; else the one beside them.")
    ] = None


class DeleteTableRows(TrackedOperation, frozen=True, tag="delete_table_rows"):
    """Delete rows of a table."""

    table: TableIndex
    first: Annotated[Place, Meta(description="The first one's index, from 0.")] = msgspec.field(
        name="from"
    )
    count: Number = 1


class InsertTableColumns(TrackedOperation, frozen=True, tag="insert_table_columns"):
    """Put columns into a table; a merged cell that goes over that place becomes wider."""

    table: TableIndex
    at: Annotated[
        Place,
        Meta(
            description="The index that the first of them will have; as many as there are: behind "
            "the last one."
        ),
    ]
    columns: Annotated[
        tuple[Annotated[tuple[Cell, ...], Meta(max_length=MAX_ROWS)], ...],
        Meta(
            description="The texts of each from the first row down; [] is one without text.",
            min_length=1,
            max_length=MAX_COLUMNS,
        ),
    ]
    like: Annotated[
        Place | None, Meta(description="The column that they look like; else the one beside them.")
    ] = None


class DeleteTableColumns(TrackedOperation, frozen=True, tag="delete_table_columns"):
    """Delete columns of a table; a merged cell that goes beyond them becomes narrower."""

    table: TableIndex
    first: Annotated[Place, Meta(description="The first one's index, from 0.")] = msgspec.field(
        name="from"
    )
    count: Number = 1


class MergeTableCells(TrackedOperation, frozen=True, tag="merge_table_cells"):
    """Make one cell of several; it holds all of their texts."""

    table: TableIndex
    row: _Row
    col: _Column
    to_row: Annotated[Place, Meta(description="The last row.")]
    to_col: Annotated[Place, Meta(description="The last column.")]


class SplitTableCell(TrackedOperation, frozen=True, tag="split_table_cell"):
    """Make the cells of a merged one again; its text stays in the first."""

    table: TableIndex
    row: _Row
    col: _Column
