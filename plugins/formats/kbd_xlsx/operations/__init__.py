"""The operations on workbooks, as records; their fields are the tool's schema.

base      what they share: the base of records, values, styles
cells     of cells and ranges
drawings  of charts and pictures
sheets    of whole sheets, their rows, columns and panes
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
from kbd_xlsx.operations.drawings import (
    AddChart,
    AddImage,
    ChartSeries,
    ChartType,
    DeleteChart,
    DeleteImage,
    DrawingSize,
    LegendPlace,
    Length,
    PointLabels,
    SeriesChange,
    SetChart,
    Stacking,
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
    "AddChart",
    "AddImage",
    "AutoFilter",
    "CellSetting",
    "ChartSeries",
    "ChartType",
    "ClearRange",
    "ColumnWidth",
    "DeleteChart",
    "DeleteImage",
    "DeleteSheet",
    "DrawingSize",
    "EnsureSheet",
    "FreezePanes",
    "LegendPlace",
    "Length",
    "MergeCells",
    "PointLabels",
    "RowHeight",
    "Scalar",
    "SeriesChange",
    "SetCells",
    "SetChart",
    "SetColumnWidths",
    "SetRange",
    "SetRowHeights",
    "Stacking",
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
    AddChart,
    SetChart,
    DeleteChart,
    AddImage,
    DeleteImage,
)
