"""Rows whose cell in one column meets a condition, and their deletion.

A comparison is typed: numbers are compared with numbers, dates with dates, text with text. Where
cells and value are of different types by mistake (numbers stored as text) nothing is deleted.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd.sheets.areas import (
    MAX_COLUMN,
    Area,
    cell_name,
    column_letters,
    column_number,
    parse_area,
)
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.lines import delete_lines
from kbd_xlsx.operations import ConditionOp, DeleteRowsWhere, RowCondition, Scalar
from kbd_xlsx.parts.stored_cells import StoredCell, StoredCells
from kbd_xlsx.values import cell_value, content_of

__all__ = ["delete_rows_where"]

_NUMBER = re.compile(r"\s*[-+(]?[$€£¥]?\s*\d[\d., ]*(?:[eE][-+]?\d+)?\s*[%)]?\s*")
_WITHOUT_VALUE = ("empty", "not_empty")


def delete_rows_where(book: BookEdit, operation: DeleteRowsWhere) -> str:
    """Delete the rows that meet a condition and say how many; raises ValidationFailed."""
    sheet = book.sheet(operation.sheet)
    title = sheet.name
    used = sheet.used()
    if used is None:
        raise ValidationFailed(f"{title} is empty; there is nothing to delete")
    area = parse_area(operation.range, Area(used.top, used.left, used.bottom, used.right))
    area = msgspec.structs.replace(area, bottom=min(area.bottom, used.bottom))
    if area.bottom <= area.top:
        raise ValidationFailed(
            f"{operation.range} has no row below its header, which is its first row"
        )
    book.flush()
    cells = _Column(book, title, area, operation.column)
    rows, blanks = cells.matching(operation.condition)
    if not rows:
        return f"{title}: no row of {area} is so; nothing deleted"
    spans = _spans(rows)
    _check_beside(cells.stored, title, area, spans)
    delete_lines(book, title, "rows", spans)
    count = area.bottom - area.top
    note = f", {blanks} of them without a value there" if blanks else ""
    return f"{title}: {len(rows)} of {count} rows deleted{note}; {count - len(rows)} left"


def _spans(rows: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and found[-1][1] == row - 1:
            found[-1] = found[-1][0], row
        else:
            found.append((row, row))
    return found


def _check_beside(
    cells: StoredCells, title: str, area: Area, spans: Sequence[tuple[int, int]]
) -> None:
    """Refuse to delete rows that hold more than the range."""
    for first, last in spans:
        for cell in cells.of(Area(first, 1, last, MAX_COLUMN)):
            if not area.left <= cell.column <= area.right:
                raise ValidationFailed(
                    f"whole rows are deleted, and {title}!{cell_name(cell.row, cell.column)} "
                    f"beside {area} holds something: take a range with all columns, or move it "
                    "first"
                )


class _Column:
    """The column of a range that is searched.

    Attributes:
        stored: The cells of the sheet.
    """

    def __init__(self, book: BookEdit, title: str, area: Area, name: str) -> None:
        self._book, self._title, self._area = book, title, area
        self.stored = StoredCells(book.rewriting.read(book.part(title)), title)
        self._from_1904 = book.book.from_1904
        header = list(self.stored.of(Area(area.top, area.left, area.top, area.right)))
        self._column = self._named(name, header)
        body = Area(area.top + 1, self._column, area.bottom, self._column)
        self._cells = {cell.row: cell for cell in self.stored.of(body)}
        self._texts = self._shared([*self._cells.values()])

    def _named(self, name: str, header: Sequence[StoredCell]) -> int:
        texts = self._shared(header)
        names = [(_folded(self._text(cell, texts)), cell.column) for cell in header]
        found = [column for text, column in names if text == _folded(name)]
        if len(found) > 1:
            raise ValidationFailed(
                f"{len(found)} columns of {self._area} are called {name!r}; give a letter "
                f"({', '.join(map(column_letters, found))})"
            )
        if found:
            return found[0]
        if re.fullmatch(r"[A-Za-z]{1,3}", name.strip()):
            column = column_number(name.strip())
            if self._area.left <= column <= self._area.right:
                return column
        known = [self._text(cell, texts) for cell in header]
        near = get_close_matches(name, known, 3, 0.4) or known
        raise ValidationFailed(
            f"{self._area} has no column {name[:60]!r}; its header has {listed(near)}"
        )

    def matching(self, condition: RowCondition) -> tuple[list[int], int]:
        """Return the rows that meet a condition, and how many of them have no value there."""
        rows = range(self._area.top + 1, self._area.bottom + 1)
        if condition.op in _WITHOUT_VALUE:
            if condition.value is not None:
                raise ValidationFailed(f"{condition.op} takes no value; leave it out")
            held = {row for row, cell in self._cells.items() if self._holds(cell)}
            if condition.op == "empty":
                return [row for row in rows if row not in held], 0
            return sorted(held), 0
        if condition.value is None:
            raise ValidationFailed(
                f"{condition.op} needs a value; for cells without one use empty or not_empty"
            )
        self._check_results()
        wanted, is_date = self._wanted(condition)
        found, blanks = [], 0
        for row in rows:
            cell = self._cells.get(row)
            if cell is None or not self._holds(cell):
                # No value is another one than any.
                if condition.op in ("!=", "not_contains"):
                    found.append(row)
                    blanks += 1
                continue
            if self._meets(cell, condition.op, wanted, is_date=is_date):
                found.append(row)
        return found, blanks

    def _holds(self, cell: StoredCell) -> bool:
        return cell.formula is not None or bool(self._text(cell, self._texts).strip())

    def _check_results(self) -> None:
        missing = [
            cell_name(cell.row, cell.column)
            for cell in self._cells.values()
            if cell.formula is not None and not cell.value and cell.kind == "number"
        ]
        if missing:
            raise ValidationFailed(
                f"formulas of {self._title} have no result yet ({listed(missing)}), so that "
                "nothing can be compared with it; calculate the workbook first"
            )

    def _wanted(self, condition: RowCondition) -> tuple[Scalar, bool]:
        """Return the value to compare with, of the type of the cells, and whether it is a date."""
        value = condition.value
        kinds = {cell.row: self._kind(cell) for cell in self._cells.values()}
        numbers = [row for row, kind in kinds.items() if kind == "number"]
        texts = [row for row, kind in kinds.items() if kind == "text"]
        if isinstance(value, bool):
            if condition.op not in ("=", "!="):
                raise ValidationFailed("true and false are compared with = or !=")
            return value, False
        is_search = condition.op in ("contains", "not_contains")
        if isinstance(value, int | float):
            if is_search:
                raise ValidationFailed(f"{condition.op} looks for text; give the value as text")
            self._check_numbers(texts)
            return float(value), False
        assert isinstance(value, str)
        if not numbers or is_search:
            if is_search and numbers and not texts:
                raise ValidationFailed(
                    f"column {column_letters(self._column)} holds numbers, no text to search; "
                    "compare it with =, <, > and a number"
                )
            return value, False
        sheet = self._book.sheet(self._title)
        dates = [
            row for row in numbers if self._book.styles.is_date(sheet.style_at(row, self._column))
        ]
        serial = self._serial(value)
        if dates and serial is not None:
            return serial, True
        if dates:
            raise ValidationFailed(
                f"column {column_letters(self._column)} holds dates; give the value as 2024-01-31"
            )
        if not texts or _NUMBER.fullmatch(value) or condition.op not in ("=", "!="):
            raise ValidationFailed(
                f"column {column_letters(self._column)} holds numbers, and {value[:40]!r} is text; "
                "give a number"
            )
        return value, False

    def _check_numbers(self, texts: Sequence[int]) -> None:
        like = [
            cell_name(row, self._column)
            for row in texts
            if _NUMBER.fullmatch(self._text(self._cells[row], self._texts))
        ]
        if like:
            raise ValidationFailed(
                f"{self._title} has numbers stored as text, which no number is compared with: "
                f"{listed(like)}; write them as numbers first, or compare with a text"
            )

    def _serial(self, value: str) -> float | None:
        """Return a date or a time of a day as a file stores it, None if it is none."""
        for kind in ("date", "datetime"):
            try:
                checked = cell_value(value.strip(), kind, "")
                return float(content_of(checked, from_1904=self._from_1904).text)
            except (ValidationFailed, ValueError):
                continue
        return None

    def _kind(self, cell: StoredCell) -> str:
        match cell.kind:
            case "number":
                return "number" if cell.value else ""
            case "shared" | "text":
                return "text"
            case "boolean" | "error" | "date" as kind:
                return kind
            case other:
                assert_never(other)

    def _meets(self, cell: StoredCell, op: ConditionOp, wanted: Scalar, *, is_date: bool) -> bool:
        kind = self._kind(cell)
        if kind == "error":
            return False
        if isinstance(wanted, bool):
            is_equal = kind == "boolean" and (cell.value == "1") == wanted
            return is_equal if op == "=" else not is_equal
        if isinstance(wanted, float):
            own = _float(cell.value) if kind == "number" else None
            if kind == "date":
                own = self._serial(cell.value)
            if own is None:
                return op == "!="
            return _compared(_day_of(own, wanted) if is_date else own, op, wanted)
        text, other = _folded(self._text(cell, self._texts)), _folded(str(wanted))
        if kind != "text":
            return op in ("!=", "not_contains")
        if op in ("contains", "not_contains"):
            return (other in text) == (op == "contains")
        return _compared(text, op, other)

    def _text(self, cell: StoredCell, texts: dict[str, str]) -> str:
        return texts.get(cell.value, "") if cell.kind == "shared" else cell.value

    def _shared(self, cells: Sequence[StoredCell]) -> dict[str, str]:
        """Return the texts that cells share, by their numbers."""
        wanted = {cell.value for cell in cells if cell.kind == "shared"}
        rewriting = self._book.rewriting
        relations = rewriting.relations(self._book.main)
        part = next((r.target for r in relations if r.kind == "sharedStrings"), "")
        if not wanted or part not in rewriting:
            return {}
        found = {}
        for number, item in enumerate(rewriting.root(part).iterfind("{*}si")):
            if str(number) in wanted:
                runs = [*item.iterfind("{*}t"), *item.iterfind("{*}r/{*}t")]
                found[str(number)] = "".join(run.text or "" for run in runs)
        return found


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _day_of(own: float, wanted: float) -> float:
    """Return a time as a day where a day was asked for."""
    return float(int(own)) if wanted == int(wanted) else own


def _compared(one: float | str, op: ConditionOp, other: float | str) -> bool:
    """Compare two values of one type."""
    match op:
        case "=":
            return one == other
        case "!=":
            return one != other
        case ">":
            return one > other  # type: ignore[operator]
        case "<":
            return one < other  # type: ignore[operator]
        case ">=":
            return one >= other  # type: ignore[operator]
        case "<=":
            return one <= other  # type: ignore[operator]
        case _:
            raise AssertionError(op)
