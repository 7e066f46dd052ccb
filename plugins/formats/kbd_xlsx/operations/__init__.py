"""The operations on workbooks, as records; their fields are the tool's schema.

base    what they share: the base of records, values, styles
cells   of cells and ranges
lines   of rows and columns that are put in or taken out
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
from kbd_xlsx.operations.lines import (
    ConditionOp,
    DeleteColumns,
    DeleteRows,
    DeleteRowsWhere,
    InsertColumns,
    InsertRows,
    RowCondition,
)
from kbd_xlsx.operations.sheets import (
    ColumnWidth,
    DeleteSheet,
    EnsureSheet,
    FreezePanes,
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
    "ConditionOp",
    "DeleteColumns",
    "DeleteRows",
    "DeleteRowsWhere",
    "DeleteSheet",
    "EnsureSheet",
    "FreezePanes",
    "InsertColumns",
    "InsertRows",
    "MergeCells",
    "RowCondition",
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
    InsertRows,
    DeleteRows,
    InsertColumns,
    DeleteColumns,
    DeleteRowsWhere,
    DeleteSheet,
    SummarizeByCategory,
)
