"""Operations on whole sheets, their rows, columns and panes."""

from typing import Annotated, Any

import msgspec

from kbd_xlsx.operations.base import TEXT, LenientNumber, OperationPart, XlsxOperation

__all__ = [
    "ColumnWidth",
    "DeleteSheet",
    "EnsureSheet",
    "FreezePanes",
    "Recalculate",
    "RowHeight",
    "SetColumnWidths",
    "SetRowHeights",
]


class EnsureSheet(XlsxOperation, frozen=True, tag="ensure_sheet"):
    """Make a sheet if there is none of that name."""

    sheet: str


class DeleteSheet(XlsxOperation, frozen=True, tag="delete_sheet"):
    """Delete a sheet that no formula, name, chart or pivot table of other sheets refers to."""

    sheet: str


class ColumnWidth(OperationPart, frozen=True):
    """The width of a column ("A"), in characters, 0 to 255."""

    column: Annotated[Any, msgspec.Meta(extra_json_schema=TEXT)]
    width: LenientNumber


class RowHeight(OperationPart, frozen=True):
    """The height of a row (from 1), in points, 0 to 409."""

    row: Annotated[Any, msgspec.Meta(extra_json_schema={"type": "integer"})]
    height: LenientNumber


class SetColumnWidths(XlsxOperation, frozen=True, tag="set_column_widths"):
    """Set widths of columns."""

    sheet: str
    columns: tuple[ColumnWidth, ...]


class SetRowHeights(XlsxOperation, frozen=True, tag="set_row_heights"):
    """Set heights of rows."""

    sheet: str
    rows: tuple[RowHeight, ...]


class FreezePanes(XlsxOperation, frozen=True, tag="freeze_panes"):
    """Keep rows at the top and columns at the left in view: how many of each; 0 and 0 unfreezes."""

    sheet: str
    row: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0
    column: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0


class Recalculate(XlsxOperation, frozen=True, tag="recalculate"):
    """Work out all formulas of a sheet anew, or without `sheet` of the workbook."""

    sheet: str | None = None
