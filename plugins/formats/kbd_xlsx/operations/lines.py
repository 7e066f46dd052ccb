"""Operations on whole rows and columns of a sheet."""

from typing import Annotated, Literal

import msgspec

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW
from kbd_xlsx.operations.base import OperationPart, Scalar, XlsxOperation

__all__ = [
    "ConditionOp",
    "DeleteColumns",
    "DeleteRows",
    "DeleteRowsWhere",
    "InsertColumns",
    "InsertRows",
    "RowCondition",
]

_RowNumber = Annotated[int, msgspec.Meta(ge=1, le=MAX_ROW)]
_RowCount = Annotated[int, msgspec.Meta(ge=1, le=MAX_ROW)]
_ColumnCount = Annotated[int, msgspec.Meta(ge=1, le=MAX_COLUMN)]

ConditionOp = Literal[
    "=", "!=", ">", "<", ">=", "<=", "contains", "not_contains", "empty", "not_empty"
]


class InsertRows(XlsxOperation, frozen=True, tag="insert_rows"):
    """Put empty rows in before a row (from 1); formulas and all that names cells follow.

    New rows look as the row above.
    """

    sheet: str
    row: _RowNumber
    count: _RowCount = 1


class DeleteRows(XlsxOperation, frozen=True, tag="delete_rows"):
    """Delete whole rows from a row (from 1) on; what lies below moves up."""

    sheet: str
    row: _RowNumber
    count: _RowCount = 1


class InsertColumns(XlsxOperation, frozen=True, tag="insert_columns"):
    """Put empty columns in before a column ("C"); formulas and all that names cells follow."""

    sheet: str
    column: str
    count: _ColumnCount = 1


class DeleteColumns(XlsxOperation, frozen=True, tag="delete_columns"):
    """Delete whole columns from a column ("C") on; what lies to the right moves left."""

    sheet: str
    column: str
    count: _ColumnCount = 1


class RowCondition(OperationPart, frozen=True):
    """What a row's cell must be: {"op": ">", "value": 100}.

    Args:
        op: How it compares; texts compare without regard to capitals.
        value: A number for numbers, text for text, an ISO date for dates; none for empty and
            not_empty.
    """

    op: ConditionOp
    value: Scalar = None


class DeleteRowsWhere(XlsxOperation, frozen=True, tag="delete_rows_where"):
    """Delete the rows of a range whose cell in a column meets a condition.

    The first row of the range is its header and stays. `column` is a name of the header, or a
    letter.
    """

    sheet: str
    range: str
    column: str
    condition: RowCondition
