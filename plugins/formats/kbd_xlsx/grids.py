"""The values of a workbook's sheets as rectangles, and how a value is shown.

Values come from calamine: numbers, text, booleans, dates; "" is no value. It knows neither
formulas nor errors, both of which it shows as no value unless a result was stored.
"""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from python_calamine import CalamineError, CalamineWorkbook

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import Package
from kbd_xlsx.references import Area

__all__ = ["Grid", "GridBook", "Value", "open_grids", "plain_text", "shown"]

Value = int | float | str | bool | dt.date | dt.datetime | dt.time | dt.timedelta
"""What a cell may hold; "" is nothing."""

_ALSO_UNPACKED = ("xl/sharedStrings.xml", "xl/styles.xml")
"""What calamine unpacks of a package beside its sheets, into memory."""


class Grid(msgspec.Struct, frozen=True):
    """The rectangle around a sheet's values; `area` is None if there are none."""

    area: Area | None
    rows: list[list[Value]]

    def row(self, number: int, left: int, right: int) -> list[Value]:
        """Return the values of a row of the sheet between two columns, "" outside the rectangle."""
        area = self.area
        if area is None or not area.top <= number <= area.bottom:
            return [""] * (right - left + 1)
        values = self.rows[number - area.top]
        before = [""] * max(0, min(area.left, right + 1) - left)
        inside = values[max(0, left - area.left) : max(0, right - area.left + 1)]
        return [*before, *inside, *[""] * (right - left + 1 - len(before) - len(inside))]

    def widened(self, places: Collection[tuple[int, int]]) -> "Grid":
        """Return the grid with its rectangle grown so that cells at some places are in it."""
        if not places:
            return self
        rows, columns = {row for row, _ in places}, {column for _, column in places}
        old = self.area
        if old is not None:
            rows |= {old.top, old.bottom}
            columns |= {old.left, old.right}
        area = Area(min(rows), min(columns), max(rows), max(columns))
        if area == old:
            return self
        return Grid(
            area,
            [
                self.row(number, area.left, area.right)
                for number in range(area.top, area.bottom + 1)
            ],
        )

    def filled(self, texts: Mapping[tuple[int, int], str]) -> "Grid":
        """Return the widened grid with texts where it holds nothing."""
        grid = self.widened(texts.keys())
        if not texts or grid.area is None:
            return grid
        rows = [list(row) for row in grid.rows]
        for (number, column), text in texts.items():
            row = rows[number - grid.area.top]
            if row[column - grid.area.left] == "":
                row[column - grid.area.left] = text
        return Grid(grid.area, rows)


class GridBook:
    """A workbook opened for its values."""

    def __init__(self, name: str, book: CalamineWorkbook) -> None:
        self._name = name
        self._book = book

    def grid(self, sheet: str) -> Grid:
        """Return a sheet's values; a sheet without cells, as of a chart, has none.

        Raises:
            FileReadFailed: The sheet is damaged.
        """
        if sheet not in self._book.sheet_names:
            return Grid(None, [])
        with _calamine_errors(self._name):
            found = self._book.get_sheet_by_name(sheet)
            start, end = found.start, found.end
            if start is None or end is None:
                return Grid(None, [])
            area = Area(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)
            return Grid(area, found.to_python(skip_empty_area=True))


@contextmanager
def open_grids(source: Source, package: Package) -> Iterator[GridBook]:
    """Open a workbook whose sheets were looked through before; raises FileReadFailed."""
    package.prove(*_ALSO_UNPACKED)
    with source.path.open("rb") as file:
        with _calamine_errors(source.name):
            # By its bytes, not by its path, whose name means nothing.
            book = CalamineWorkbook.from_filelike(file)
        with book:
            yield GridBook(source.name, book)


@contextmanager
def _calamine_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (CalamineError, OSError, ValueError, OverflowError) as error:
        raise FileReadFailed(f"{name} is damaged: its cells cannot be read.") from error
    except BaseException as error:
        # A panic of the Rust code derives from BaseException; nothing else here may be swallowed.
        if type(error).__name__ == "PanicException":
            raise FileReadFailed(f"{name} is damaged: its cells cannot be read.") from error
        raise


def plain_text(value: Value) -> str:
    """Return a value as the plain form of tables has it: 1234.5, true, 2024-01-31, text."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            # Whole numbers are stored as floats; past 2**53 they are not exact anyway.
            return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            seconds = round(value.total_seconds())
            return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        case _:
            return str(value)


def shown(value: Value) -> str:
    """Return a value as readings show it: on one line, text that looks typed in quotes."""
    text = plain_text(value)
    if not isinstance(value, str):
        return text
    line = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\r", "\\r").replace("\n", "\\n")
    return f'"{line}"' if _looks_typed(line) else line


def _looks_typed(text: str) -> bool:
    """Tell whether a text could be taken for a number, a boolean, a date or a formula."""
    if not text:
        return False
    if text[0] in "0123456789.+-" and text[-1].isdigit():
        return True
    return text[0] == "=" or text.lower() in ("true", "false") or text != text.strip()
