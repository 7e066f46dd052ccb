"""The operations on workbooks, as records; their fields are the tool's schema.

`style` objects are lenient by contract: they are plain objects here, and what is wrong in one is
skipped and told in the warnings. The same goes for widths and heights.
"""

from typing import Annotated, Any, Literal

import msgspec

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

ValueType = Literal["string", "number", "boolean", "date", "datetime", "formula", "blank"]
Scalar = str | int | float | bool | None

_TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
_BORDER = {
    "type": "object",
    "properties": {"style": _TEXT, "color": _TEXT},
    "additionalProperties": False,
}

Style = Annotated[
    dict[str, Any],
    msgspec.Meta(
        description=(
            'How cells look; colours #RRGGBB, borders {"style": "thin", "color": "#RRGGBB"}.'
        ),
        # What a model is told; what else is in one is skipped and told in the warnings.
        extra_json_schema={
            "properties": {
                "font_name": _TEXT, "font_size": _NUMBER, "font_bold": _FLAG, "font_italic": _FLAG,
                "font_underline": _TEXT, "font_color": _TEXT, "fill_color": _TEXT,
                "fill_pattern": _TEXT, "number_format": _TEXT, "h_align": _TEXT, "v_align": _TEXT,
                "wrap_text": _FLAG, "border_top": _BORDER, "border_bottom": _BORDER,
                "border_left": _BORDER, "border_right": _BORDER,
            },
            "additionalProperties": False,
        },
    ),
]  # fmt: skip

_Number = Annotated[Any, msgspec.Meta(extra_json_schema=_NUMBER)]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of an operation; a misspelt field is refused."""


class CellSetting(_Record, frozen=True):
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


class TypedValue(_Record, frozen=True):
    """A value inside `set_range` that needs a type (a date, a text that begins with "=")."""

    value: Scalar
    type: ValueType | None = None
    style: Style | None = None


class ColumnWidth(_Record, frozen=True):
    """The width of a column ("A"), in characters, 0 to 255."""

    column: Annotated[Any, msgspec.Meta(extra_json_schema=_TEXT)]
    width: _Number


class RowHeight(_Record, frozen=True):
    """The height of a row (from 1), in points, 0 to 409."""

    row: Annotated[Any, msgspec.Meta(extra_json_schema={"type": "integer"})]
    height: _Number


class XlsxOperation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="op"
):
    """An operation on a workbook; the field `op` tells which."""


class EnsureSheet(XlsxOperation, frozen=True, tag="ensure_sheet"):
    """Make a sheet if there is none of that name."""

    sheet: str


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


class MergeCells(XlsxOperation, frozen=True, tag="merge_cells"):
    """Merge a range into one cell; cells of it but the first must be empty."""

    sheet: str
    range: str


class UnmergeCells(XlsxOperation, frozen=True, tag="unmerge_cells"):
    """Take merged cells within a range apart."""

    sheet: str
    range: str


class ClearRange(XlsxOperation, frozen=True, tag="clear_range"):
    """Empty the cells of a range; how they look stays."""

    sheet: str
    range: str


class AutoFilter(XlsxOperation, frozen=True, tag="auto_filter"):
    """Give the rows of a range filter buttons; its first row holds the names."""

    sheet: str
    range: str


class DeleteSheet(XlsxOperation, frozen=True, tag="delete_sheet"):
    """Delete a sheet that no formula, name, chart or pivot table of other sheets refers to."""

    sheet: str


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
)
