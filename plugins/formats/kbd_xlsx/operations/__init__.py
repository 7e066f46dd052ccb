"""The operations on workbooks, as records; their fields are the tool's schema.

base    what they share: the base of records, values, styles
cells   of cells and ranges
sheets  of whole sheets, their rows, columns and panes
"""

import msgspec

from kbd_xlsx.operations.base import Scalar, Style, ValueType, XlsxOperation
from kbd_xlsx.operations.cells import (
    AutoFilter,
    CellSetting,
    ClearRange,
    MergeCells,
    SetCells,
    SetRange,
    SummarizeByCategory,
    TypedValue,
    UnmergeCells,
)
from kbd_xlsx.operations.sheets import (
    ColumnWidth,
    DeleteSheet,
    EnsureSheet,
    FreezePanes,
    Recalculate,
    RowHeight,
    SetColumnWidths,
    SetRowHeights,
)

__all__ = [
    "OPERATIONS",
    "AutoFilter",
    "CellSetting",
    "ClearRange",
    "ColumnWidth",
    "DeleteSheet",
    "EnsureSheet",
    "FreezePanes",
    "MergeCells",
    "Recalculate",
    "RowHeight",
    "Scalar",
    "SetCells",
    "SetColumnWidths",
    "SetRange",
    "SetRowHeights",
    "Style",
    "SummarizeByCategory",
    "TypedValue",
    "UnmergeCells",
    "ValueType",
    "XlsxOperation",
]

OPERATIONS: tuple[type[msgspec.Struct], ...] = (
    EnsureSheet,
    SetCells,
    SetRange,
    SetColumnWidths,
    SetRowHeights,
    FreezePanes,
    MergeCells,
    UnmergeCells,
    ClearRange,
    AutoFilter,
    DeleteSheet,
    SummarizeByCategory,
    Recalculate,
)
