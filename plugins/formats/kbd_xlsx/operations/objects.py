"""Operations on objects of a workbook: tables, names, links, comments, printing, protection."""

from typing import Annotated, Literal

import msgspec

from kbd_xlsx.operations.base import OperationPart, XlsxOperation

__all__ = [
    "AddSheetTable",
    "ClearObjects",
    "DefineName",
    "DeleteName",
    "PrintMargins",
    "ProtectSheet",
    "RefreshPivot",
    "ResizeSheetTable",
    "SetComment",
    "SetHyperlink",
    "SetPrint",
    "TableTotal",
    "TotalFunction",
]

TotalFunction = Literal["sum", "average", "count", "count_numbers", "min", "max", "std_dev", "var"]


class TableTotal(OperationPart, frozen=True):
    """The total of a table's column, under its header's name."""

    column: str
    function: TotalFunction = "sum"


class AddSheetTable(XlsxOperation, frozen=True, tag="add_table"):
    """Make a range a table; its first row must hold a text of its own for each column.

    `totals` adds a row below the range, which must be empty there. `style` is as
    "TableStyleMedium2", or "none".
    """

    sheet: str
    range: str
    name: str
    style: str = "TableStyleMedium2"
    totals: tuple[TableTotal, ...] = ()


class ResizeSheetTable(XlsxOperation, frozen=True, tag="resize_table"):
    """Have a table cover another range; its header stays in its row.

    Columns that come in need a text in the header's row.
    """

    table: str
    range: str


class DefineName(XlsxOperation, frozen=True, tag="define_name"):
    """Name a range, value or formula, or change what a name means.

    `refers_to` is as "Data!$A$2:$A$9", "0.19" or "=SUM(Data!$A:$A)". With a `sheet` the name is
    known on that sheet alone.
    """

    name: str
    refers_to: str
    sheet: str | None = None


class DeleteName(XlsxOperation, frozen=True, tag="delete_name"):
    """Delete a name that nothing uses."""

    name: str
    sheet: str | None = None


class SetHyperlink(XlsxOperation, frozen=True, tag="set_hyperlink"):
    """Link a cell to an address (`target`) or to a place in the workbook (`location`).

    A location is as "Data!A1", or a name. The cell is shown as a link; `text` is put into it.
    """

    sheet: str
    cell: str
    target: str | None = None
    location: str | None = None
    text: str | None = None
    tooltip: str | None = None


class SetComment(XlsxOperation, frozen=True, tag="set_comment"):
    """Put a comment on a cell, in the place of the one it has."""

    sheet: str
    cell: str
    text: str
    author: str | None = None


class ClearObjects(XlsxOperation, frozen=True, tag="clear_objects"):
    """Take comments, links, validations or conditional formats off the cells of a range."""

    sheet: str
    range: str
    what: Annotated[
        tuple[Literal["comments", "hyperlinks", "validations", "conditional_formats"], ...],
        msgspec.Meta(min_length=1),
    ]


_Inches = Annotated[float, msgspec.Meta(ge=0, le=20)]


class PrintMargins(OperationPart, frozen=True):
    """Margins of printed pages, in inches; what is not named stays."""

    left: _Inches | None = None
    right: _Inches | None = None
    top: _Inches | None = None
    bottom: _Inches | None = None
    header: _Inches | None = None
    footer: _Inches | None = None


class SetPrint(XlsxOperation, frozen=True, tag="set_print"):
    """Set how a sheet is printed; what is not named stays.

    `area` is as "A1:F40", `title_rows` as "1:2", `title_columns` as "A:B"; "" takes one away.
    `fit_to_width` and `fit_to_height` are numbers of pages, 0 for as many as it takes; `scale` is
    in percent and ends the fitting.
    """

    sheet: str
    area: str | None = None
    title_rows: str | None = None
    title_columns: str | None = None
    orientation: Literal["portrait", "landscape"] | None = None
    paper: Literal["letter", "legal", "a3", "a4", "a5"] | None = None
    fit_to_width: Annotated[int, msgspec.Meta(ge=0, le=32767)] | None = None
    fit_to_height: Annotated[int, msgspec.Meta(ge=0, le=32767)] | None = None
    scale: Annotated[int, msgspec.Meta(ge=10, le=400)] | None = None
    margins: PrintMargins | None = None
    center_horizontally: bool | None = None
    center_vertically: bool | None = None
    gridlines: bool | None = None


class ProtectSheet(XlsxOperation, frozen=True, tag="protect_sheet"):
    """Keep people from changing locked cells of a sheet, without a password; or lift that.

    `allow` names what stays possible, beside selecting cells.
    """

    sheet: str
    protect: bool = True
    allow: tuple[
        Literal[
            "format_cells", "format_columns", "format_rows", "insert_columns", "insert_rows",
            "insert_hyperlinks", "delete_columns", "delete_rows", "sort", "auto_filter",
            "pivot_tables", "objects", "scenarios",
        ],
        ...,
    ] = ()  # fmt: skip


class RefreshPivot(XlsxOperation, frozen=True, tag="refresh_pivot"):
    """Have programs bring a pivot table up to date when they open the workbook."""

    pivot: str
