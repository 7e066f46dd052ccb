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


_Totals = Annotated[
    tuple[TableTotal, ...], msgspec.Meta(description="Adds a row below, which must be empty.")
]
_Meaning = Annotated[
    str, msgspec.Meta(description='As "Data!$A$2:$A$9", "0.19" or "=SUM(Data!$A:$A)".')
]


class AddSheetTable(XlsxOperation, frozen=True, tag="add_table"):
    """Make a range a table; its first row must hold a text of its own for each column."""

    sheet: str
    range: str
    name: str
    style: str = "TableStyleMedium2"
    totals: Annotated[
        tuple[TableTotal, ...], msgspec.Meta(description="Adds a row below, which must be empty.")
    ] = ()


class ResizeSheetTable(XlsxOperation, frozen=True, tag="resize_table"):
    """Have a table cover another range; the header stays in its row, with a text in each column."""

    table: str
    range: str


class DefineName(XlsxOperation, frozen=True, tag="define_name"):
    """Name a range, value or formula, or change what a name means."""

    name: str
    refers_to: Annotated[
        str, msgspec.Meta(description='As "Data!$A$2:$A$9", "0.19" or "=SUM(Data!$A:$A)".')
    ]
    sheet: Annotated[str | None, msgspec.Meta(description="Where alone it is known.")] = None


class DeleteName(XlsxOperation, frozen=True, tag="delete_name"):
    """Delete a name that nothing uses."""

    name: str
    sheet: str | None = None


class SetHyperlink(XlsxOperation, frozen=True, tag="set_hyperlink"):
    """Link a cell to an address (target) or to a place in the workbook (location)."""

    sheet: str
    cell: str
    target: str | None = None
    location: Annotated[str | None, msgspec.Meta(description='As "Data!A1", or a name.')] = None
    text: Annotated[str | None, msgspec.Meta(description="Is put into the cell.")] = None
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


_Pages = Annotated[
    int, msgspec.Meta(ge=0, le=32767, description="Pages; 0 for as many as it takes.")
]


class PrintMargins(OperationPart, frozen=True):
    """Margins of printed pages, in inches; what is not named stays."""

    left: _Inches | None = None
    right: _Inches | None = None
    top: _Inches | None = None
    bottom: _Inches | None = None
    header: _Inches | None = None
    footer: _Inches | None = None


class SetPrint(XlsxOperation, frozen=True, tag="set_print"):
    """Set how a sheet is printed; what is not named stays, and "" takes area or titles away."""

    sheet: str
    area: str | None = None
    title_rows: Annotated[str | None, msgspec.Meta(description='As "1:2".')] = None
    title_columns: Annotated[str | None, msgspec.Meta(description='As "A:B".')] = None
    orientation: Literal["portrait", "landscape"] | None = None
    paper: Literal["letter", "legal", "a3", "a4", "a5"] | None = None
    fit_to_width: _Pages | None = None
    fit_to_height: _Pages | None = None
    scale: Annotated[int | None, msgspec.Meta(description="Percent, 10 to 400.")] = None
    margins: PrintMargins | None = None
    center_horizontally: bool | None = None
    center_vertically: bool | None = None
    gridlines: bool | None = None


class ProtectSheet(XlsxOperation, frozen=True, tag="protect_sheet"):
    """Keep people from changing locked cells, without a password, but as allowed; or lift that."""

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
