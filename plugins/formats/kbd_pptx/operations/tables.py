"""Operations on tables of slides."""

from typing import Annotated, Literal

import msgspec

from kbd_pptx.operations.base import (
    MAX_PARTS,
    PlacedOperation,
    PptxOperation,
    PptxRecord,
    SlideIndex,
    TableCell,
)

__all__ = [
    "AddSlideTable",
    "DeleteSlideRows",
    "InsertSlideRows",
    "SetSlideTableCells",
    "SlideTableCell",
]

_MAX_ROWS, _MAX_COLUMNS = 200, 100
"""Far more than a slide shows."""

_Rows = Annotated[
    tuple[Annotated[tuple[TableCell, ...], msgspec.Meta(max_length=_MAX_COLUMNS)], ...],
    msgspec.Meta(min_length=1, max_length=_MAX_ROWS),
]
_Table = Annotated[
    int | str | None, msgspec.Meta(description="Its id or name; not needed where it is the only.")
]
_Number = Annotated[int, msgspec.Meta(ge=0, le=10_000)]


class AddSlideTable(PlacedOperation, frozen=True, tag="add_table"):
    """Add a table; without a place it takes an empty placeholder, else free room.

    `column_widths` in inches share the table's width. Without `alignment` columns of figures are
    set right. `style` is a table style of the deck by name.
    """

    index: SlideIndex
    rows: _Rows
    header: Annotated[bool, msgspec.Meta(description="Whether the first row is one.")] = True
    column_widths: tuple[Annotated[float, msgspec.Meta(gt=0, le=56)], ...] = ()
    alignment: tuple[Literal["left", "center", "right"], ...] = ()
    font_size: Annotated[float, msgspec.Meta(ge=1, le=400)] | None = None
    style: str | None = None
    description: str | None = None


class SlideTableCell(PptxRecord, frozen=True):
    """A cell to set; rows and columns are counted from 0."""

    row: _Number
    column: _Number
    value: TableCell


class SetSlideTableCells(PptxOperation, frozen=True, tag="set_table_cells"):
    """Set the texts of cells of a table; how they look stays. Merged cells are set at their first.

    A row behind the last one is refused; insert_table_rows adds some.
    """

    index: SlideIndex
    cells: Annotated[tuple[SlideTableCell, ...], msgspec.Meta(min_length=1, max_length=MAX_PARTS)]
    table: _Table = None


class InsertSlideRows(PptxOperation, frozen=True, tag="insert_table_rows"):
    """Put rows into a table, before row `at` or at the end; they look like the row above."""

    index: SlideIndex
    rows: _Rows
    at: _Number | None = None
    table: _Table = None


class DeleteSlideRows(PptxOperation, frozen=True, tag="delete_table_rows"):
    """Delete rows of a table."""

    index: SlideIndex
    at: _Number
    count: Annotated[int, msgspec.Meta(ge=1, le=_MAX_ROWS)] = 1
    table: _Table = None
