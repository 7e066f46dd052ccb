"""Who refers to a sheet."""

from collections.abc import Iterator

from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.calculation.operand_ranges import OperandRanges
from kbd_xlsx.calculation.operands import NameUse, Operands, TableUse, read_operands
from kbd_xlsx.references import cell_name

__all__ = ["MAX_PLACES", "mentions"]

MAX_PLACES = 20
"""Places that are listed; the others are counted."""


def mentions(book: FormulaBook, title: str) -> list[str]:
    """Return the places that refer to a sheet, but for its own cells and the names of its own.

    A cell is given as "Sheet1!B2" or "'My Sheet'!B2", a name as "the name Total". Places whose
    text only holds the title, where a function makes a reference of it, are marked as possible.
    After MAX_PLACES comes how many more there are. Raises FileReadFailed for a damaged sheet.
    """
    found = list(_mentions(book, title))
    more = len(found) - MAX_PLACES
    return found if more <= 0 else [*found[:MAX_PLACES], f"and {more} more"]


def _mentions(book: FormulaBook, title: str) -> Iterator[str]:
    reader = _Reader(book, title)
    if reader.number < 0:
        return
    for name in book.names:
        if name.scope is None or name.scope.casefold() != title.casefold():
            how = reader.how(name.text)
            if how is not None:
                yield f"the name {name.name}{how}"
    for number, (other, data) in enumerate(book.sheets):
        if number == reader.number:
            continue
        sharing: dict[str, str] = {}
        for cell in formula_cells(data, other):
            if cell.group is not None and not cell.text:
                how = sharing.get(cell.group)
            else:
                how = reader.how(cell.text)
                if cell.group is not None and how is not None:
                    sharing[cell.group] = how
            if how is not None:
                yield f"{_quoted(other)}!{cell_name(cell.row, cell.column)}{how}"


class _Reader:
    """Tells of formulas whether they refer to one sheet."""

    def __init__(self, book: FormulaBook, title: str) -> None:
        titles = [each.casefold() for each in book.titles]
        self._title = title.casefold()
        self.number = titles.index(self._title) if self._title in titles else -1
        self._meanings = OperandRanges(book.titles, (), ())
        self._tables = {
            table.name.casefold() for table in book.tables if table.sheet.casefold() == self._title
        }

    def how(self, text: str) -> str | None:
        """Return None for no mention, "" for a reference, else a remark on the mention."""
        if "!" not in text and '"' not in text and not self._tables:
            return None
        operands = read_operands(text)
        if self._refers(operands):
            return ""
        if '"' in text and self._title in text.casefold() and _makes_references(operands):
            return " (possibly, in a text)"
        return None

    def _refers(self, operands: Operands) -> bool:
        for reference in (*operands.references, *operands.others):
            match reference:
                case TableUse():
                    if reference.name.casefold() in self._tables:
                        return True
                case NameUse() if reference.sheet is None:
                    if reference.name.casefold() in self._tables:
                        return True
                case _:
                    sheets = self._meanings.sheets(reference.sheet or "", -1)
                    if sheets is not None and self.number in sheets:
                        return True
        return False


def _makes_references(operands: Operands) -> bool:
    """Tell whether a formula calls a function that may take a text for a reference."""
    return any(call.upper() in ("INDIRECT", "HYPERLINK", "GETPIVOTDATA") for call in operands.calls)


def _quoted(title: str) -> str:
    plain = title.isidentifier() and title.isascii()
    return title if plain else "'" + title.replace("'", "''") + "'"
