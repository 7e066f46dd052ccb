"""The operations on workbooks, as records; their fields are the tool's schema.

base    what they share: the base of records, values, styles
cells   of cells and ranges
ranges  of ranges as a whole: look, formulas, order, copies, texts
sheets  of whole sheets, their rows, columns and panes
tabs    of sheets among the others: names, order, copies
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
from kbd_xlsx.operations.ranges import (
    CopyRange,
    FillFormula,
    FormatRange,
    ReplaceCellText,
    SortKey,
    SortRange,
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
from kbd_xlsx.operations.tabs import CopySheet, HideSheet, MoveSheet, RenameSheet

__all__ = [
    "OPERATIONS",
    "AutoFilter",
    "CellSetting",
    "ClearRange",
    "ColumnWidth",
    "CopyRange",
    "CopySheet",
    "DeleteSheet",
    "EnsureSheet",
    "FillFormula",
    "FormatRange",
    "FreezePanes",
    "HideSheet",
    "MergeCells",
    "MoveSheet",
    "Recalculate",
    "RenameSheet",
    "ReplaceCellText",
    "RowHeight",
    "Scalar",
    "SetCells",
    "SetColumnWidths",
    "SetRange",
    "SetRowHeights",
    "SortKey",
    "SortRange",
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
    FormatRange,
    FillFormula,
    CopyRange,
    SortRange,
    ReplaceCellText,
    RenameSheet,
    MoveSheet,
    CopySheet,
    HideSheet,
)
