"""Ranges that charts name: found in the workbook, written as charts have them, and read.

A column of a table is written as the cells that it has: charts know no structured references, and
programs let a chart of a whole column grow with its table.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, cell_name, column_letters, parse_area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.book import TablePart
from kbd_xlsx.parts.formatting import BUILTIN_CODES, LANGUAGE_CODES
from kbd_xlsx.parts.markup import attribute
from kbd_xlsx.parts.stored_cells import StoredCell, StoredCells
from kbd_xlsx.parts.stylesheet import number_of
from kbd_xlsx.reader.fallback_parser import moment, text_of_item

__all__ = [
    "MAX_POINTS",
    "SAMPLED_ROWS",
    "CellRange",
    "HiddenLines",
    "RangeReader",
    "ReadCell",
    "cell_range",
    "data_rows",
    "name_of",
]

MAX_POINTS = 32_000
"""Cells that a series may have: programs draw no more, and a chart holds a copy of each."""

SAMPLED_ROWS = 1_000
"""Rows of a sheet that tell what a column holds, where nobody has named it."""

_NOWHERE = Area(0, 0, 0, 0)
_SHEET = re.compile(r"(?:'((?:[^']|'')+)'|([^'!]+))!(.+)", re.DOTALL)
_COLUMN = re.compile(r"\s*([^\[\]!']+)\[\s*\[?([^\[\]]+)\]?\s*\]\s*")
_PLAIN = re.compile(r"[A-Za-z_\u0080-\uffff][\w.\u0080-\uffff]*")
_CELL_LIKE = re.compile(r"[A-Za-z]{1,3}\d{1,7}|[RrCc]|[Rr]\d+[Cc]\d+")
_COLUMNS = re.compile(rb"<(?:[\w.-]+:)?col(\s[^<>]*)/?>")
_DEPTH = 3
"""How many names may stand for one another."""


class CellRange(msgspec.Struct, frozen=True):
    """Cells of a sheet, by its title."""

    sheet: str
    area: Area

    def __str__(self) -> str:
        return f"{_quoted(self.sheet)}!{self.area}"

    @property
    def formula(self) -> str:
        """The range as charts name it: all absolute."""
        area = self.area
        first = f"${column_letters(area.left)}${area.top}"
        last = f"${column_letters(area.right)}${area.bottom}"
        return f"{_quoted(self.sheet)}!{first if first == last else f'{first}:{last}'}"

    @property
    def is_column(self) -> bool:
        """Whether it is one column; one cell is a column, too."""
        return self.area.left == self.area.right

    @property
    def is_line(self) -> bool:
        """Whether it is one column or one row."""
        return self.is_column or self.area.top == self.area.bottom

    @property
    def count(self) -> int:
        """How many cells it has."""
        area = self.area
        return (area.bottom - area.top + 1) * (area.right - area.left + 1)

    def places(self) -> list[tuple[int, int]]:
        """List its cells by row and column."""
        area = self.area
        return [
            (row, column)
            for row in range(area.top, area.bottom + 1)
            for column in range(area.left, area.right + 1)
        ]


class ReadCell(msgspec.Struct, frozen=True):
    """A cell as a chart shows it.

    Args:
        row: Counted from 1, as is the column.
        kind: "pending" is a formula whose result is not known, "other" an error or a boolean.
        text: The number or text as it is stored.
    """

    row: int
    column: int
    kind: Literal["number", "text", "pending", "other"]
    text: str = ""


class HiddenLines(msgspec.Struct, frozen=True):
    """Rows and columns of a sheet that are hidden; columns as the first and last of each run."""

    rows: frozenset[int] = frozenset()
    columns: tuple[tuple[int, int], ...] = ()

    def has(self, row: int, column: int) -> bool:
        """Tell whether a cell is hidden."""
        return row in self.rows or any(first <= column <= last for first, last in self.columns)


class RangeReader:
    """Finds ranges in a workbook that is edited, and reads their cells.

    It reads what is written so far; make a new one after further edits.

    Args:
        book: The workbook.
    """

    def __init__(self, book: BookEdit) -> None:
        book.flush()
        self._book = book
        self._sheets: dict[str, StoredCells] = {}
        self._known: dict[CellRange, list[ReadCell]] = {}
        self._hidden: dict[str, HiddenLines] = {}
        self._texts: list[str] | None = None

    def find(self, text: str, sheet: str, *, depth: int = _DEPTH) -> CellRange:
        """Return the range that a text means.

        Args:
            text: "B2:B9", "Data!B2:B9", "Table1[Amount]" or a defined name.
            sheet: The title of the sheet that is meant where it names none.
            depth: How many names may stand for one another.

        Raises:
            ValidationFailed: There is no such range.
        """
        written = text.strip().removeprefix("=").strip()
        if column := _COLUMN.fullmatch(written):
            return self._column(column[1].strip(), column[2].strip())
        named = _SHEET.fullmatch(written)
        if named is not None:
            title = (named[1] or "").replace("''", "'") or (named[2] or "").strip()
            if "[" in title:
                raise ValidationFailed(
                    f"{text[:60]!r} is of another workbook; copy its cells first"
                )
            sheet, written = self._book.title(title), named[3].strip()
        # A name of the workbook may stand behind a sheet, too, as spreadsheet programs write it.
        if _PLAIN.fullmatch(written) and not _CELL_LIKE.fullmatch(written):
            return self._named(written, sheet, depth)
        if "," in written or " " in written.strip():
            raise ValidationFailed(f"{text[:60]!r} is not one range; write it as Sheet1!B2:B9")
        try:
            area = parse_area(written, _NOWHERE)
            if not area.top or not area.left:
                # Whole columns or rows; only they need to know what the sheet holds.
                area = parse_area(written, self._used(sheet))
            return CellRange(sheet, area)
        except ValidationFailed as error:
            raise ValidationFailed(f"{text[:60]!r} is no range of cells: {error.message}") from None

    def table_at(self, sheet: str, area: Area) -> TablePart | None:
        """Return the table of a sheet whose rows of data a range lies in."""
        for table in self._book.tables(sheet):
            within = table.area
            is_across = within.left <= area.left and area.right <= within.right
            if is_across and within.top <= area.top and area.bottom <= within.bottom:
                return table
        return None

    def table(self, name: str) -> tuple[str, TablePart] | None:
        """Return a table by its name, and the title of its sheet."""
        for title, _ in self._book.worksheets():
            for table in self._book.tables(title):
                if table.name.casefold() == name.casefold():
                    return title, table
        return None

    def cells(self, found: CellRange) -> list[ReadCell]:
        """Return the cells of a range that hold something, row by row.

        Raises:
            ValidationFailed, FileReadFailed: The sheet's part cannot be read so.
        """
        known = self._known.get(found)
        if known is None:
            stored = self._stored(found.sheet)
            known = [self._read(cell) for cell in stored.of(found.area)] if stored else []
            self._known[found] = known
        return known

    def first_cells(self, found: CellRange) -> list[ReadCell]:
        """Return those of the first rows of a range; they tell what it holds."""
        area = found.area
        bottom = min(area.bottom, area.top + SAMPLED_ROWS - 1)
        return self.cells(CellRange(found.sheet, Area(area.top, area.left, bottom, area.right)))

    def right_edge(self, sheet: str) -> int:
        """Return the last column that the first rows of a sheet fill, 0 for none."""
        first = CellRange(sheet, Area(1, 1, SAMPLED_ROWS, MAX_COLUMN))
        return max((cell.column for cell in self.cells(first)), default=0)

    def hidden(self, sheet: str) -> HiddenLines:
        """Return the rows and columns of a sheet that are hidden; raises as `cells`."""
        if sheet not in self._hidden:
            stored = self._stored(sheet)
            data = self._book.rewriting.read(self._book.part(sheet)) if stored else b""
            found = HiddenLines()
            if stored is not None and b"hidden" in data:
                found = HiddenLines(stored.hidden_rows(), tuple(_hidden_columns(data)))
            self._hidden[sheet] = found
        return self._hidden[sheet]

    def moment(self, number: str) -> str:
        """Return the day or time that a number stands for, as people write it without a locale."""
        return str(moment(float(number), "moment", from_1904=self._book.book.from_1904))

    def number_code(self, sheet: str, row: int, column: int) -> str:
        """Return the number format that a cell shows its value in."""
        book = self._book
        # Asking for the styles of a workbook that has none would give it some.
        if not any(each.kind == "styles" for each in book.rewriting.relations(book.main)):
            return "General"
        tables = book.styles.tables
        index = book.sheet(sheet).style_at(row, column)
        number = number_of(tables.entry("cellXfs", index), "numFmtId")
        codes = tables.custom_codes()
        return (
            codes.get(number)
            or BUILTIN_CODES.get(number)
            or LANGUAGE_CODES.get(number)
            or ("General")
        )

    def is_date(self, sheet: str, row: int, column: int) -> bool:
        """Tell whether a cell shows its number as a date or time."""
        if self.number_code(sheet, row, column) == "General":
            return False
        return self._book.styles.is_date(self._book.sheet(sheet).style_at(row, column))

    def _column(self, name: str, column: str) -> CellRange:
        found = self.table(name)
        if found is None:
            names = [
                t.name for title, _ in self._book.worksheets() for t in self._book.tables(title)
            ]
            there = f"; there are: {', '.join(names[:20])}" if names else "; the workbook has none"
            raise ValidationFailed(f"there is no table {name!r}{there}")
        title, table = found
        folded = [each.casefold() for each in table.columns]
        if column.casefold() not in folded:
            raise ValidationFailed(
                f"table {table.name} has no column {column!r}; it has: "
                f"{', '.join(table.columns)[:300]}"
            )
        place = table.area.left + folded.index(column.casefold())
        top, bottom = data_rows(table)
        return CellRange(title, Area(top, place, bottom, place))

    def _named(self, name: str, sheet: str, depth: int) -> CellRange:
        """Return the range of a defined name, one of the sheet before one of the workbook."""
        titles = self._book.titles
        tab = titles.index(sheet)
        found = {
            each.tab: each.text
            for each in self._book.book.names
            if each.name.casefold() == name.casefold() and each.tab in (None, tab)
        }
        text = found.get(tab) or found.get(None)
        if text is None or not depth:
            raise ValidationFailed(
                f"{name!r} is no range and no name; write ranges as Sheet1!B2:B9 or Table1[Amount]"
            )
        return self.find(text, sheet, depth=depth - 1)

    def _used(self, sheet: str) -> Area:
        """Return the cells of a sheet that hold something; they bound whole rows and columns."""
        part = self._book.part(sheet)
        used = self._book.sheet(sheet).used() if part else None
        return used or Area(1, 1, MAX_ROW, MAX_COLUMN)

    def _stored(self, sheet: str) -> StoredCells | None:
        if sheet not in self._sheets:
            part = self._book.part(sheet)
            if part not in [each for _, each in self._book.worksheets()]:
                return None
            self._sheets[sheet] = StoredCells(self._book.rewriting.read(part), sheet)
        return self._sheets[sheet]

    def _read(self, cell: StoredCell) -> ReadCell:
        kind: Literal["number", "text", "pending", "other"]
        text = cell.value
        match cell.kind:
            case "shared":
                kind, text = "text", self._shared(text)
            case "text":
                kind = "text"
            case "number":
                kind = "number" if _is_number(text) else "other"
            case _:
                kind = "other"
        if not cell.value and cell.formula is not None:
            kind, text = "pending", ""
        return ReadCell(cell.row, cell.column, kind, text)

    def _shared(self, number: str) -> str:
        if self._texts is None:
            rewriting, main = self._book.rewriting, self._book.main
            parts = [r.target for r in rewriting.relations(main) if r.kind == "sharedStrings"]
            items = rewriting.root(parts[0]).iterfind("{*}si") if parts else ()
            self._texts = [text_of_item(item) for item in items]
        place = int(number) if number.isdecimal() and len(number) < 10 else len(self._texts)
        return self._texts[place] if place < len(self._texts) else ""


def data_rows(table: TablePart) -> tuple[int, int]:
    """Return the first and last row of a table's data."""
    area = table.area
    top = area.top + table.header_rows
    return top, max(top, area.bottom - table.totals_rows)


def _hidden_columns(data: bytes) -> Iterator[tuple[int, int]]:
    for found in _COLUMNS.finditer(data):
        if attribute(found[1], b"hidden") in ("1", "true"):
            ends = (attribute(found[1], name) or "" for name in (b"min", b"max"))
            first, last = (int(each) if each.isdecimal() else 0 for each in ends)
            yield first, last


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _quoted(sheet: str) -> str:
    """Return a sheet's title as formulas write it."""
    plain = _PLAIN.fullmatch(sheet) and not _CELL_LIKE.fullmatch(sheet) and sheet.isascii()
    return sheet if plain else "'" + sheet.replace("'", "''") + "'"


def cell_range(sheet: str, row: int, column: int) -> CellRange:
    """Return one cell as a range."""
    return CellRange(sheet, Area(row, column, row, column))


def name_of(found: CellRange, cell: ReadCell) -> str:
    """Return a cell of a range for a message ("Data!B5")."""
    return f"{_quoted(found.sheet)}!{cell_name(cell.row, cell.column)}"
