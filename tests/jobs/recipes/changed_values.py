"""Changes of how the values of a table are written, and of what stands beside it.

Programs and people write amounts and dates in ways of their own, and put more into a file than one
table. As of `changed_tables`, each returns the rows that are meant and what is written.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from random import Random

import msgspec

from jobs.recipes.made_tables import Cell, MadeColumn, MadeTable

__all__ = ["VALUE_CHANGES"]

_Change = Callable[[MadeTable, Sequence[str], Random], MadeTable | None]
_change = msgspec.structs.replace


def _styled(table: MadeTable, **style: object) -> MadeTable:
    return _change(table, style=_change(table.style, **style))


def _is_book(table: MadeTable) -> bool:
    return table.style.suffix == "xlsx"


def _rewritten(table: MadeTable, holds: str, write: Callable[[int, Cell], Cell]) -> MadeTable:
    """Return a table whose values of a kind are written otherwise."""
    rows = tuple(
        tuple(
            write(number, value) if column.holds == holds and value is not None else value
            for value, column in zip(row, table.columns, strict=True)
        )
        for number, row in enumerate(table.rows)
    )
    return _change(table, written=rows)


def _numbers(write: Callable[[int, str], str], *, books: bool = False) -> _Change:
    """Amounts are written as a function says, of their text with two decimals."""

    def change(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
        is_meant = any(each.holds == "number" for each in table.columns)
        if not is_meant or _is_book(table) != books:
            return None

        def text(number: int, value: Cell) -> str:
            plain = f"{Decimal(str(value)):.2f}"
            return write(number, plain.replace(".", "." if books else table.style.decimal))

        return _rewritten(table, "number", text)

    return change


def _without_sign(text: str) -> tuple[str, bool]:
    return text.removeprefix("-"), text.startswith("-")


def in_brackets(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Negative amounts stand in brackets, as in books of accounts."""

    def write(_: int, text: str) -> str:
        plain, is_negative = _without_sign(text)
        return f"({plain})" if is_negative else plain

    return _numbers(write)(_negative(table), used, rng)


def minus_behind(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """The minus of negative amounts stands behind them, as large programs write it."""

    def write(_: int, text: str) -> str:
        plain, is_negative = _without_sign(text)
        return f"{plain}-" if is_negative else plain

    return _numbers(write)(_negative(table), used, rng)


def _negative(table: MadeTable) -> MadeTable:
    """Return a table of which every third amount is negative."""
    rows = tuple(
        tuple(-abs(v) if isinstance(v, Decimal) and number % 3 == 1 else v for v in row)
        for number, row in enumerate(table.rows)
    )
    return _change(table, rows=rows)


def mixed_currencies(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Amounts are of two currencies, of which there is no sum."""
    signs = ("€", "$")
    return _numbers(lambda n, text: f"{signs[n % 2]}{text}")(table, used, rng)


def formulas(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Amounts of a workbook are formulas that no program has computed yet."""
    return _numbers(lambda _, text: f"={text}+0", books=True)(table, used, rng)


def faulty_cells(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Some amounts of a workbook are errors: #N/A."""
    places = [n for n, each in enumerate(table.columns) if each.holds == "number"]
    if not places or not _is_book(table):
        return None

    def rows(fault: str | None) -> tuple[tuple[Cell, ...], ...]:
        return tuple(
            (*row[: places[0]], fault, *row[places[0] + 1 :]) if number % 7 == 3 else row
            for number, row in enumerate(table.rows)
        )

    return _change(table, rows=rows(None), written=rows("#N/A"))


def serial_dates(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Dates are the numbers that spreadsheets store."""
    if not any(each.holds == "date" for each in table.columns):
        return None

    def serial(_: int, value: Cell) -> Cell:
        return str((value - date(1899, 12, 30)).days) if isinstance(value, date) else value

    return _rewritten(table, "date", serial)


def dates_with_times(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Dates have the time of midnight with them."""
    if _is_book(table) or not any(each.holds == "date" for each in table.columns):
        return None
    form = table.style.dates
    return _rewritten(table, "date", lambda _, v: f"{v:{form}} 00:00:00")


def merged_keys(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Cells of a category that are alike are merged."""
    places = [
        n
        for n, each in enumerate(table.columns)
        if each.pool and not each.is_key and each.name in used
    ]
    if not places or not _is_book(table):
        return None
    rows = tuple(sorted(table.rows, key=lambda row: str(row[places[0]])))
    return _styled(_change(table, rows=rows), merged=table.columns[places[0]].name)


def keys_once(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A line with sums by category stands below, as a table of its own."""
    named = [each.name for each in table.columns if each.pool and not each.is_key]
    if not named:
        return None
    lines = ((named[0], "Sum", "Share"), ("North", "1200", "0.6"), ("South", "800", "0.4"))
    return _styled(table, below=lines)


def same_table_below(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """The same headings and some rows more stand below an empty line: they are rows, too."""
    names = tuple(each.name for each in table.columns)
    more = table.rows[:3]
    made = _styled(table, below=(names, *(tuple(map(_plain, row)) for row in more)))
    return _change(made, rows=(*table.rows, *more), written=table.rows)


def _plain(value: Cell) -> Cell:
    return str(value) if isinstance(value, Decimal | date) else value


def currency_column(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A column tells the currency of each row, and there are two."""
    if not any(each.holds == "number" for each in table.columns):
        return None
    rows = tuple((*row, ("EUR", "USD")[n % 2]) for n, row in enumerate(table.rows))
    return _change(table, columns=(*table.columns, MadeColumn("Currency")), rows=rows)


def lines_in_texts(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Texts that are not needed have line ends, quotes and delimiters."""
    places = [n for n, each in enumerate(table.columns) if each.pool and each.name not in used]
    if not places:
        return None
    odd = 'two\nlines, "quoted"; here'
    rows = tuple((*row[: places[0]], odd, *row[places[0] + 1 :]) for row in table.rows)
    return _change(table, rows=rows)


def _style(**style: object) -> _Change:
    return lambda table, used, rng: _styled(table, **style)


VALUE_CHANGES: Mapping[str, _Change] = {
    "amounts in brackets": in_brackets, "a minus behind amounts": minus_behind,
    "a currency behind amounts": _numbers(lambda _, text: f"{text} EUR"),
    "blanks between thousands": _numbers(
        lambda _, text: f"{text[:-6]}\u00a0{text[-6:]}" if len(text.strip("-")) > 6 else text),
    "mixed currencies": mixed_currencies,
    "a column of currencies": currency_column, "formulas not computed": formulas,
    "errors among amounts": faulty_cells, "dates as numbers": serial_dates,
    "dates with times": dates_with_times, "merged keys": merged_keys,
    "a summary below": keys_once, "the same table below": same_table_below,
    "lines in texts": lines_in_texts, "Summe in the source": _style(total="Summe"),
    "averages in the source": _style(total="Average"), "a total without a label": _style(total=" "),
    "two files that fit": _style(twin_file=True), "another file beside": _style(other_file=True),
}  # fmt: skip
"""Changes by what they are called in the counts."""
