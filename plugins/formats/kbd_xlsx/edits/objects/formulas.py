"""Checks of formulas that stand outside of cells: in names, rules and validations.

Such a formula shows no result that would give a mistake away, so what it names has to be there.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from kbd.errors import ValidationFailed
from kbd_xlsx.calculation.operand_ranges import OperandRanges
from kbd_xlsx.calculation.operands import NameUse, Operands, TableUse, read_operands
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.values import checked_formula, reach_of

__all__ = ["checked_object_formula", "quoted_sheet", "sheets_of"]

_WORDS = frozenset(("true", "false"))
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE_CELL = re.compile(r"[A-Z]{1,3}\d+|R\d*(?:C\d*)?|C\d*|TRUE|FALSE", re.IGNORECASE)


def quoted_sheet(title: str) -> str:
    """Return a sheet's title as formulas write it before "!", in quotes where it needs them."""
    if _PLAIN.fullmatch(title) and not _LIKE_CELL.fullmatch(title):
        return title
    return "'" + title.replace("'", "''") + "'"


def checked_object_formula(book: BookEdit, text: str, place: str, sheet: str | None) -> str:
    """Return a formula as files spell it, without its equals sign.

    Args:
        book: The workbook, whose sheets, names and tables it may name.
        text: With or without "=" at its beginning.
        place: What it is of, for messages.
        sheet: The title of the sheet that it belongs to, None for the workbook.

    Raises:
        ValidationFailed: It is malformed, reaches out of the workbook, or names a sheet, name or
            table that is not there.
    """
    formula = checked_formula(text, place)
    if (found := reach_of(formula)) is not None:
        raise ValidationFailed(
            f"{place}: {found} reaches out of the workbook, which only formulas in cells may do"
        )
    operands = read_operands(formula)
    if not operands.is_clear:
        raise ValidationFailed(f"{place}: quotes or brackets of {formula[:80]} do not close")
    _check_sheets(book, operands, place)
    _check_names(book, operands, place, sheet)
    return formula


def sheets_of(formula: str) -> set[str]:
    """Return the sheets that a formula names, as they are written before "!"."""
    return set(_written_sheets(read_operands(formula)))


def _written_sheets(operands: Operands) -> Iterator[str]:
    for each in (*operands.references, *operands.others):
        if not isinstance(each, TableUse) and each.sheet is not None:
            yield each.sheet


def _check_sheets(book: BookEdit, operands: Operands, place: str) -> None:
    meanings = OperandRanges(book.titles, (), ())
    for written in _written_sheets(operands):
        if meanings.sheets(written, 0) == ():
            near = get_close_matches(written.strip("'"), book.titles, 1, 0.5)
            hint = f"; there is {near[0]!r}" if near else ""
            raise ValidationFailed(f"{place}: there is no sheet {written}{hint}")


def _check_names(book: BookEdit, operands: Operands, place: str, sheet: str | None) -> None:
    titles = book.titles
    own = None if sheet is None else titles.index(sheet)
    known = {name.name.casefold() for name in book.book.names if name.tab in (None, own)}
    tables = {table.name.casefold() for title in titles for table in book.tables(title)}
    for other in operands.others:
        match other:
            case NameUse(name=name) if name.casefold().startswith("_xlpm."):
                continue  # A parameter of LET or LAMBDA.
            case TableUse(name=name) if name and name.casefold() not in tables:
                raise ValidationFailed(f"{place}: there is no table {name}")
            case NameUse(sheet=None, name=name) if name.casefold() not in known | tables | _WORDS:
                near = get_close_matches(name.casefold(), sorted(known), 1, 0.6)
                hint = f"; there is {near[0]}" if near else "; a text stands in double quotes"
                raise ValidationFailed(f"{place}: there is no name {name}{hint}")
            case _:
                continue
