"""Operations on ranges as a whole: their look, formulas, order, copies, texts."""

from typing import Annotated, Literal

import msgspec

from kbd_xlsx.operations.base import OperationPart, Style, XlsxOperation

__all__ = ["CopyRange", "FillFormula", "FormatRange", "ReplaceCellText", "SortColumn", "SortRange"]


class FormatRange(XlsxOperation, frozen=True, tag="format_range"):
    """Change how a range looks, not what it holds; whole columns ("A:C") and rows ("1:1") too."""

    sheet: str
    range: str
    style: Style


class FillFormula(XlsxOperation, frozen=True, tag="fill_formula"):
    """Fill a range with one formula, written as of its first cell; references move as in Excel.

    `=B2*$F$1` over D2:D191 is `=B191*$F$1` in D191.
    """

    sheet: str
    range: str
    formula: str


class CopyRange(XlsxOperation, frozen=True, tag="copy_range"):
    """Copy a range to another place, whose first cell is `to`; formulas move as in Excel.

    A larger range as `to` is filled with copies. `what` formulas and values keep the look there;
    values are results in the place of formulas.
    """

    sheet: str
    source: str = msgspec.field(name="from")
    to: str
    to_sheet: str | None = None
    what: Literal["all", "values", "formulas", "formats"] = "all"


class SortColumn(OperationPart, frozen=True):
    """A column of `sort_range`, by its letters or its header."""

    column: str
    descending: bool = False


class SortRange(XlsxOperation, frozen=True, tag="sort_range"):
    """Sort the rows of a range: numbers, texts without case, false, true, errors, blanks last.

    `header` tells whether its first row holds names and stays. Name all columns of the rows, as
    cells beside the range stay.
    """

    sheet: str
    range: str
    header: bool
    by: Annotated[tuple[SortColumn, ...], msgspec.Meta(min_length=1, max_length=64)]


class ReplaceCellText(XlsxOperation, frozen=True, tag="replace_text"):
    """Replace a text in the cells of a sheet, or of all, and count the hits.

    Formulas and what they come to stay, unless `in_formulas`.
    """

    search: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
    replace: str
    sheet: str | None = None
    match_case: bool = False
    whole_cell: bool = False
    in_formulas: bool = False
