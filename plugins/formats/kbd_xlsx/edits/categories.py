"""Amounts of several sheets added up by category: a row a category, a column a sheet, a total.

Sources are read as they are at this point of the call. A formula counts with its stored result; one
that has none would silently be left out of the sum, so it is refused. A row that sums up those
above it is no category, and is left out. The totals are formulas, with what they come to stored.
"""

import contextlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import NumberFacts, Source, additivity, sum_sentence, total_label
from kbd.sheets.areas import Area, cell_name, column_number, overlaps
from kbd.sheets.values import Value, plain_text
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import SummarizeByCategory
from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.reader.book import SheetReader, WorkbookReader
from kbd_xlsx.values import checked_text

__all__ = ["summarize_by_category"]

_TOTAL = "Total"
_MAX_NAMED = 10
_BOLD = {"font_bold": True}
_TWO_DECIMALS = {"number_format": "#,##0.00"}


class _Amounts(msgspec.Struct):
    """A sheet's sums by folded category, their spellings, and what became of other rows.

    Args:
        sums: The sum of each category.
        names: How each is spelled first.
        header: The name of the column of amounts.
        numbers: The amounts.
        skipped: How many rows had none.
        totals: The rows that are totals of those above them, with their labels.
        doubtful: The rows that are called totals, but do not agree with those above them.
    """

    sums: dict[str, Decimal]
    names: dict[str, str]
    header: str = ""
    numbers: list[Decimal] = []
    skipped: int = 0
    totals: list[str] = []
    doubtful: list[str] = []

    def add(self, label: str, number: Decimal, row: int) -> None:
        """Add a row, unless it is a total of those above it."""
        found = total_label(label)
        if found is not None and found.kind == "sum" and self.numbers:
            if self._is_total(number):
                self.totals.append(f"row {row} ({label})")
                return
            if found.is_whole:
                self.doubtful.append(f"row {row} ({label})")
        key = label.casefold()
        self.names.setdefault(key, label)
        # Decimals, so that amounts of money add up exactly.
        self.sums[key] = self.sums.get(key, Decimal(0)) + number
        self.numbers.append(number)

    def _is_total(self, number: Decimal) -> bool:
        """Tell whether a number is what those above it come to, all or the last ones of them."""
        come_to = Decimal(0)
        for each in reversed(self.numbers):
            come_to += each
            if come_to == number:
                return True
        return False


def summarize_by_category(book: BookEdit, operation: SummarizeByCategory, target: Path) -> str:
    """Write the summary and say where it is.

    Args:
        book: The workbook.
        operation: What to add up.
        target: Where the workbook will be written; beside it, the sources are written first.

    Raises:
        ValidationFailed: A sheet or column is missing, an amount has no stored result, or there
            is no room.
    """
    sources = [book.title(name) for name in operation.source_sheets]
    found = _read_all(book, sources, operation, target)
    names: dict[str, str] = {}
    for amounts in found:
        for key, name in amounts.names.items():
            names.setdefault(key, name)
    rows = [
        (names[key], [amounts.sums.get(key, Decimal(0)) for amounts in found])
        for key in sorted(names)
    ]
    skipped = sum(amounts.skipped for amounts in found)
    if skipped:
        book.notices.warn(f"{skipped} row(s) with a category had no number as amount.")
    for title, amounts in zip(sources, found, strict=True):
        _tell(book, title, amounts)
    book.ensure(operation.sheet)
    return _write(book, book.title(operation.sheet), operation.category_header, sources, rows)


def _tell(book: BookEdit, title: str, amounts: _Amounts) -> None:
    """Tell what was left out of a sheet's sums, and whether they are sums at all."""
    if amounts.totals:
        named = ", ".join(amounts.totals[:_MAX_NAMED])
        book.notices.tell(f"{title}: left out as totals of the rows above: {named}.")
    if amounts.doubtful:
        named = ", ".join(amounts.doubtful[:_MAX_NAMED])
        book.notices.tell(
            f"{title}: may be totals, but do not agree with the rows above; kept: {named}."
        )
    numbers = amounts.numbers
    if all(number % 1 == 0 for number in numbers):
        whole = [int(number) for number in numbers]
        low, high = min(whole, default=None), max(whole, default=None)
        facts = NumberFacts(len(whole), low, high, sum(whole))
        role = additivity(amounts.header, "integer", facts)
    else:
        role = additivity(amounts.header, "float", NumberFacts())
    if role.role != "additive":
        book.notices.tell(f"{title}: {sum_sentence(amounts.header, role)}.")


def _write(
    book: BookEdit,
    title: str,
    header: str,
    sources: list[str],
    rows: list[tuple[str, list[Decimal]]],
) -> str:
    sheet = book.sheet(title)
    area = Area(1, 1, len(rows) + 1, len(sources) + 2)
    used = sheet.used()
    if used is not None and overlaps(used, area):
        raise ValidationFailed(f"{title} holds values in {used}; the summary needs {area} empty")
    for column, name in enumerate((header, *sources, _TOTAL), 1):
        text = checked_text(name, f"{title}!{cell_name(1, column)}")
        sheet.set(1, column, CellEdit(Content("text", text), (_BOLD,)))
    broken = any(amount % 1 for _, amounts in rows for amount in amounts)
    styles = (_TWO_DECIMALS,) if broken else ()
    for row, (name, amounts) in enumerate(rows, 2):
        place = f"{title}!{cell_name(row, 1)}"
        sheet.set(row, 1, CellEdit(Content("text", checked_text(name, place))))
        for column, amount in enumerate(amounts, 2):
            sheet.set(row, column, CellEdit(Content("number", _plain(amount)), styles))
        # A formula, so that an amount that is changed later counts.
        last = len(amounts) + 1
        formula = f"SUM({cell_name(row, 2)}:{cell_name(row, last)})"
        total = Content("formula", formula, result=_plain(sum(amounts, Decimal(0))))
        sheet.set(row, last + 1, CellEdit(total, styles))
        book.results.formulas_set.setdefault(title, set()).add((row, last + 1))
    return f"{title}!{area}"


def _plain(amount: Decimal) -> str:
    # normalize() turns 100 into 1E+2; the format "f" writes it out again.
    return format(amount.normalize(), "f")


def _read_all(
    book: BookEdit, sources: list[str], operation: SummarizeByCategory, target: Path
) -> list[_Amounts]:
    with _as_edited(book, target) as source, WorkbookReader(source) as found:
        return [_read(found, name, operation) for name in sources]


@contextlib.contextmanager
def _as_edited(book: BookEdit, target: Path) -> Iterator[Source]:
    """Write the workbook as it is so far beside its target, for as long as it is read."""
    # The reader takes only files, and what this call has written so far must count as well.
    path = target.with_name(f"{target.name}.so-far")
    try:
        book.save(path)
        yield Source(path, book.rewriting.name)
    finally:
        path.unlink(missing_ok=True)


def _read(book: WorkbookReader, name: str, operation: SummarizeByCategory) -> _Amounts:
    found = _Amounts({}, {}, numbers=[], totals=[], doubtful=[])
    with book.sheet(book.find(name)) as sheet:
        used = sheet.area
        if used is None:
            return found
        header = _header_row(sheet, used)
        category = _column(sheet, used, header, operation.category_col)
        amount = _column(sheet, used, header, operation.amount_col)
        found.header = plain_text(sheet.row(header, amount, amount)[0]).strip()
        below = Area(header + 1, amount, used.bottom, amount)
        formulas = {facts.row for facts, _ in sheet.facts(below)}
        for row, values in sheet.rows(Area(header + 1, used.left, used.bottom, used.right)):
            label = " ".join(plain_text(values[category - used.left]).split())
            if not label:
                continue
            value = values[amount - used.left]
            if value == "" and row in formulas:
                raise ValidationFailed(
                    f"{name}!{cell_name(row, amount)} is a formula without a stored result; open "
                    "and save the workbook in a spreadsheet program first"
                )
            number = _number(value)
            if number is None:
                found.skipped += 1
                continue
            found.add(label, number, row)
    return found


def _header_row(sheet: SheetReader, used: Area) -> int:
    """Return the row that names the columns: of the largest island that has one."""
    named = [island for island in sheet.islands()[0] if island.headers]
    if not named:
        return used.top
    largest = max(named, key=lambda island: island.area.bottom - island.area.top)
    return largest.area.top


def _column(sheet: SheetReader, used: Area, header: int, wanted: str) -> int:
    """Return the column of a name in the header row, or of its letters."""
    left, right = used.left, used.right
    names = [plain_text(value).strip() for value in sheet.row(header, left, right)]
    folded = [name.casefold() for name in names]
    if wanted.strip().casefold() in folded:
        return left + folded.index(wanted.strip().casefold())
    if wanted.isascii() and wanted.isalpha() and len(wanted) <= 3:
        column = column_number(wanted)
        if left <= column <= right:
            return column
    listed = ", ".join(name for name in names if name)
    title = sheet.part.name
    raise ValidationFailed(f"sheet {title} has no column {wanted!r}; it has: {listed[:300]}")


def _number(value: Value) -> Decimal | None:
    # TRUE is no amount, though bool is a kind of int.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # By way of repr(), as Decimal(0.1) would have all 55 digits of the binary fraction.
    return Decimal(repr(value))
