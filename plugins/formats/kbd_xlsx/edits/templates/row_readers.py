"""Formulas that a repetition of rows would have read the wrong rows: refused, or told."""

from collections.abc import Iterable, Sequence

import msgspec

from kbd.errors import ValidationFailed
from kbd.sheets.areas import cell_name
from kbd_xlsx.comparison.formula_texts import FormulaReference, parse_formula
from kbd_xlsx.edits.book import BookEdit

__all__ = ["RowGroup", "SheetFormulas", "check_formulas", "warn_of_readers"]


class RowGroup(msgspec.Struct, frozen=True):
    """Adjacent rows of a sheet that are repeated for the records of a list."""

    title: str
    first: int
    last: int
    name: str

    @property
    def height(self) -> int:
        """How many rows they are."""
        return self.last - self.first + 1


SheetFormulas = dict[str, dict[tuple[int, int], str]]
"""The formulas of a workbook, without "=", by sheet, row and column."""


def check_formulas(groups: Sequence[RowGroup], formulas: SheetFormulas) -> None:
    """Refuse a formula of repeated rows that names another row without saying which copy means it.

    A copy of a formula moves what is not absolute. That is meant of its own row and of the record
    before; of a rate above or a total below it would read another cell for each record.

    Raises:
        ValidationFailed: It names the first one.
    """
    for group in groups:
        for place, text in formulas.get(group.title, {}).items():
            if not group.first <= place[0] <= group.last:
                continue
            for reference in parse_formula(text).references:
                wrong = _strange_row(reference, group, groups)
                if wrong:
                    raise ValidationFailed(
                        f"{group.title}!{cell_name(*place)} is in a row that is repeated and has "
                        f"={text}, which would name another row than {wrong} in each copy; write "
                        f"${wrong} if all of them mean that row"
                    )


def _strange_row(
    reference: FormulaReference, group: RowGroup, groups: Sequence[RowGroup]
) -> int | None:
    """Return a relative row of a reference that is no row of a record, None for none."""
    ends = ((reference.top, reference.fixed[0]), (reference.bottom, reference.fixed[2]))
    rows = [row for row, is_fixed in ends if row and not is_fixed]
    if _is_of(reference, group.title, group.title):
        spans = [(group.first - group.height, group.last)]
    else:
        spans = [
            (each.first, each.last)
            for each in groups
            if each.name == group.name and _is_of(reference, each.title, group.title)
        ]
    return next((row for row in rows if not any(a <= row <= b for a, b in spans)), None)


def _is_of(reference: FormulaReference, title: str, own: str) -> bool:
    sheet = reference.sheet
    if not sheet:
        return title == own
    bare = sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet
    return bare.casefold() == title.casefold()


def warn_of_readers(book: BookEdit, groups: Iterable[RowGroup], formulas: SheetFormulas) -> None:
    """Warn of formulas that read a part of rows which get copies: they read the first record."""
    for group in groups:
        for title, texts in formulas.items():
            for place, text in texts.items():
                is_own = title == group.title and group.first <= place[0] <= group.last
                if is_own or not any(
                    _reads_part(each, group, title) for each in parse_formula(text).references
                ):
                    continue
                book.notices.gather(
                    "Reads a part of a repeated row, so the first record alone (as the template "
                    "has it)",
                    f"{title}!{cell_name(*place)}",
                )


def _reads_part(reference: FormulaReference, group: RowGroup, own: str) -> bool:
    if not reference.top or not _is_of(reference, group.title, own):
        return False
    top, bottom = sorted((reference.top, reference.bottom))
    if bottom < group.first or top > group.last:
        return False
    return not reference.is_area or not (top <= group.first and group.last <= bottom)
