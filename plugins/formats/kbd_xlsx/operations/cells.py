"""Operations on cells and ranges: their values, how they look, summaries."""

from typing import Annotated

import msgspec

from kbd_xlsx.operations.base import OperationPart, Scalar, Style, ValueType, XlsxOperation

__all__ = [
    "AutoFilter",
    "CellSetting",
    "ClearRange",
    "MergeCells",
    "SetCells",
    "SetRange",
    "SummarizeByCategory",
    "TypedValue",
    "UnmergeCells",
]


class CellSetting(OperationPart, frozen=True):
    """One cell of `set_cells`.

    Args:
        cell: As "B3".
        value: Without `type`: a number stays a number, text that begins with "=" is a formula,
            other text stays text, null empties the cell. Without a value the cell keeps what it
            holds, and only its look changes.
        type: What the value is; date and datetime are ISO texts. Text of type string stays text
            whatever it begins with.
        style: How the cell looks; what is not named stays as it is.
    """

    cell: str
    value: Scalar | msgspec.UnsetType = msgspec.UNSET
    type: ValueType | None = None
    style: Style | None = None


class TypedValue(OperationPart, frozen=True):
    """A value inside `set_range` that needs a type (a date, a text that begins with "=")."""

    value: Scalar
    type: ValueType | None = None
    style: Style | None = None


class SetCells(XlsxOperation, frozen=True, tag="set_cells"):
    """Set single cells."""

    sheet: str
    cells: tuple[CellSetting, ...]


class SetRange(XlsxOperation, frozen=True, tag="set_range"):
    """Set a block of values, row by row, from the cell `start` on; `style` is for all of it.

    Dates go in as `{"value": "2024-01-31", "type": "date"}`.
    """

    sheet: str
    start: str
    values: tuple[tuple[Scalar | TypedValue, ...], ...]
    style: Style | None = None


class ClearRange(XlsxOperation, frozen=True, tag="clear_range"):
    """Empty the cells of a range; how they look stays."""

    sheet: str
    range: str


class MergeCells(XlsxOperation, frozen=True, tag="merge_cells"):
    """Merge a range into one cell; cells of it but the first must be empty."""

    sheet: str
    range: str


class UnmergeCells(XlsxOperation, frozen=True, tag="unmerge_cells"):
    """Take merged cells within a range apart."""

    sheet: str
    range: str


class AutoFilter(XlsxOperation, frozen=True, tag="auto_filter"):
    """Give the rows of a range filter buttons; its first row holds the names."""

    sheet: str
    range: str


class SummarizeByCategory(XlsxOperation, frozen=True, tag="summarize_by_category"):
    """Add up amounts by category: a row a category, a column a source sheet, a total at the end.

    The total is a formula. `category_col` and `amount_col` are column names of the sheets' headers,
    or letters. The sheet is made if missing; it must be empty from A1 on where the summary goes.
    """

    sheet: str
    source_sheets: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=200)]
    category_col: str
    amount_col: str
    category_header: str = "Category"
