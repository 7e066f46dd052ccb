"""Changes of a table by which the next file may differ from the one that was learned from.

Each returns the table with the rows that are meant, and with what is written instead where that
differs; None where it cannot be made of this table.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from random import Random

import msgspec

from jobs.recipes.changed_values import VALUE_CHANGES
from jobs.recipes.made_tables import Cell, FileStyle, MadeColumn, MadeTable

__all__ = ["CHANGES", "MUST_BE_REFUSED", "Change"]

Change = Callable[[MadeTable, Sequence[str], Random], MadeTable | None]
"""Of a table, the columns that the recipe names, and what is drawn from."""

_Row = tuple[Cell, ...]
_change = msgspec.structs.replace


def _styled(table: MadeTable, **style: object) -> MadeTable:
    return _change(table, style=_change(table.style, **style))


def _is_book(table: MadeTable) -> bool:
    return table.style.suffix == "xlsx"


def _places(table: MadeTable, *holds: str) -> list[int]:
    return [n for n, each in enumerate(table.columns) if each.holds in holds]


def _categories(table: MadeTable, used: Sequence[str]) -> list[int]:
    """Where the columns of categories are, those that the recipe names first."""
    found = [n for n, each in enumerate(table.columns) if each.pool and not each.is_key]
    return sorted(found, key=lambda n: table.columns[n].name not in used)


def _mapped(table: MadeTable, place: int, change: Callable[[int, Cell], Cell]) -> tuple[_Row, ...]:
    """Return rows with other values in one column."""
    return tuple(
        (*row[:place], change(number, row[place]), *row[place + 1 :])
        for number, row in enumerate(table.rows)
    )


def _repicked(table: MadeTable, order: Sequence[int]) -> MadeTable:
    """Return a table with some of its columns, in an order."""
    columns = tuple(table.columns[n] for n in order)
    rows = tuple(tuple(row[n] for n in order) for row in table.rows)
    return _change(table, columns=columns, rows=rows)


def _renamed(table: MadeTable, place: int, name: str) -> MadeTable:
    columns = [*table.columns]
    columns[place] = _change(columns[place], name=name)
    return _change(table, columns=tuple(columns))


def _with_column(table: MadeTable, column: MadeColumn, values: Sequence[Cell]) -> MadeTable:
    rows = tuple((*row, value) for row, value in zip(table.rows, values, strict=True))
    return _change(table, columns=(*table.columns, column), rows=rows)


def shuffled_columns(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """The columns stand in another order."""
    order = [*range(len(table.columns))]
    rng.shuffle(order)
    return _repicked(table, order)


def shuffled_rows(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """The rows stand in another order."""
    return _change(table, rows=tuple(rng.sample(table.rows, len(table.rows))))


def renamed_used_column(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A column that the recipe needs is called otherwise."""
    named = [n for n, each in enumerate(table.columns) if each.name in used]
    return _renamed(table, rng.choice(named), "Something") if named else None


def renamed_other_column(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A column that it does not need is called otherwise."""
    others = [n for n, each in enumerate(table.columns) if each.name not in used]
    return _renamed(table, rng.choice(others), "Something") if others else None


def near_name(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A column that it needs is called nearly so, and is another thing: Amount net."""
    named = [n for n in _places(table, "number") if table.columns[n].name in used]
    return _renamed(table, named[0], f"{table.columns[named[0]].name} net") if named else None


def capital_headings(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """The headings are in capitals."""
    columns = tuple(_change(each, name=each.name.upper()) for each in table.columns)
    as_text = frozenset(name.upper() for name in table.style.as_text)
    return _styled(_change(table, columns=columns), as_text=as_text)


def column_missing(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A column that it needs is not there."""
    named = [n for n, each in enumerate(table.columns) if each.name in used]
    if not named:
        return None
    gone = rng.choice(named)
    return _repicked(table, [n for n in range(len(table.columns)) if n != gone])


def other_column_missing(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A column that it does not need is not there."""
    others = [n for n, each in enumerate(table.columns) if each.name not in used]
    if not others or len(table.columns) < 3:
        return None
    gone = rng.choice(others)
    return _repicked(table, [n for n in range(len(table.columns)) if n != gone])


def extra_text(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """A column of texts is there that was not."""
    return _with_column(table, MadeColumn("Remark"), ["checked"] * len(table.rows))


def extra_numbers(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """A column of numbers is there that was not."""
    values = [Decimal(rng.randint(100, 99999)) / 100 for _ in table.rows]
    return _with_column(table, MadeColumn("Discount", "number"), values)


def numbers_as_text(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """The numbers of a workbook are texts."""
    names = [table.columns[n].name for n in _places(table, "number", "integer")]
    return _styled(table, as_text=frozenset(names)) if _is_book(table) and names else None


def some_numbers_as_text(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A few numbers of a workbook are texts."""
    places = _places(table, "number")
    if not _is_book(table) or not places:
        return None
    rows = _mapped(table, places[0], lambda n, v: f"{v}" if n % 9 == 4 and v is not None else v)
    return _change(table, written=rows)


def dates_as_text(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """The dates of a workbook are texts, the day first."""
    names = [table.columns[n].name for n in _places(table, "date")]
    if not names or not _is_book(table):
        return None
    return _styled(table, as_text=frozenset(names), dates="%d.%m.%Y")


def _other_dates(form: str) -> Change:
    def change(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
        names = [table.columns[n].name for n in _places(table, "date")]
        if not names or table.style.dates == form:
            return None
        return _styled(table, dates=form, as_text=table.style.as_text | frozenset(names))

    return change


def unclear_dates(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """The dates are written with the month first, and none of them shows it."""
    places = _places(table, "date")
    if not places:
        return None
    for place in places:
        rows = _mapped(table, place, lambda n, v: date(2024, n % 11 + 1, n % 12 + 1) if v else v)
        table = _change(table, rows=rows)
    names = frozenset(table.columns[n].name for n in places)
    return _styled(table, dates="%m/%d/%Y", as_text=names)


def new_category(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """A value is there that there was not."""
    places = _categories(table, used)
    if not places:
        return None
    return _change(table, rows=_mapped(table, places[0], lambda n, v: "Ganz neu" if n % 5 else v))


def one_category(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """There is but one value."""
    places = _categories(table, used)
    if not places:
        return None
    first = table.rows[0][places[0]]
    return _change(table, rows=_mapped(table, places[0], lambda n, v: first))


def odd_categories(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Values have signs that sheets, files and statements have a meaning for."""
    places = _categories(table, used)
    odd = ("O'Neil & Co", 'a/b "c"', "50% [x]; drop", "=1+1", "Überraschung")
    if not places:
        return None
    return _change(table, rows=_mapped(table, places[0], lambda n, v: odd[n % 5]))


def spellings(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Values are written in capitals here and there."""
    places = _categories(table, used)
    if not places:
        return None
    rows = _mapped(table, places[0], lambda n, v: v.upper() if n % 4 == 3 and v else v)  # type: ignore[union-attr]
    return _change(table, written=rows)


def blank_keys(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Fields of a category are empty."""
    places = _categories(table, used)
    if not places:
        return None
    return _change(table, rows=_mapped(table, places[0], lambda n, v: None if n % 6 == 2 else v))


def blank_amounts(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Amounts are empty."""
    places = _places(table, "number", "integer")
    for place in places:
        rows = _mapped(table, place, lambda n, v: None if n % 7 == 3 else v)
        table = _change(table, rows=rows)
    return table if places else None


def blank_dates(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Dates are empty."""
    places = _places(table, "date")
    for place in places:
        rows = _mapped(table, place, lambda n, v: None if n % 5 == 1 else v)
        table = _change(table, rows=rows)
    return table if places else None


def no_amounts(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """No amount is there at all."""
    places = _places(table, "number")
    for place in places:
        table = _change(table, rows=_mapped(table, place, lambda n, v: None))
    return table if places else None


def negative_amounts(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Half of the amounts are negative."""
    places = _places(table, "number")
    for place in places:
        rows = _mapped(
            table, place, lambda n, v: -abs(v) if n % 2 and isinstance(v, Decimal) else v
        )
        table = _change(table, rows=rows)
    return table if places else None


def large_amounts(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Amounts are of millions."""
    places = _places(table, "number")
    for place in places:
        rows = _mapped(table, place, lambda n, v: v * 12347 if v is not None else v)  # type: ignore[operator]
        table = _change(table, rows=rows)
    return table if places else None


def whole_amounts(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Amounts have no decimals."""
    places = _places(table, "number")
    for place in places:
        rows = _mapped(table, place, lambda n, v: None if v is None else int(v))  # type: ignore[arg-type]
        columns = [*table.columns]
        columns[place] = _change(columns[place], holds="integer")
        table = _change(table, rows=rows, columns=tuple(columns))
    return table if places else None


def rows_hundredfold(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """There are a hundred times as many rows; what counts up counts on."""
    rows = tuple(
        tuple(
            f"{value}-{turn}" if column.is_key and value is not None and turn else
            value + turn if isinstance(value, Decimal) else value
            for value, column in zip(row, table.columns, strict=True)
        )
        for turn in range(100)
        for row in table.rows
    )  # fmt: skip
    return _change(table, rows=rows)


def one_row(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """There is one row."""
    return _change(table, rows=table.rows[:1])


def duplicates(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """Rows are there twice, behind all others."""
    return _change(table, rows=(*table.rows, *table.rows[::3]))


def headings_only(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable:
    """There are headings and no row."""
    return _change(_styled(table, total=""), rows=())


def _style(**style: object) -> Change:
    def change(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
        made = _styled(table, **style)
        return None if made.style == table.style else made

    return change


def _of_text(**style: object) -> Change:
    def change(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
        made = _styled(table, **style)
        return None if _is_book(table) or made.style == table.style else made

    return change


def _of_books(**style: object) -> Change:
    def change(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
        return _styled(table, **style) if _is_book(table) else None

    return change


def _with_subtotals(**style: object) -> Change:
    """Rows that sum others up stand behind each value, by which the rows are sorted then."""

    def change(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
        places = [n for n, each in enumerate(table.columns) if each.pool and not each.is_key]
        if not places:
            return None
        order = list(dict.fromkeys(row[places[0]] for row in table.rows))
        rows = sorted(table.rows, key=lambda row: order.index(row[places[0]]))
        return _styled(_change(table, rows=tuple(rows)), subtotals=True, **style)

    return change


def thousands(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Amounts of a text file have signs between thousands."""
    if _is_book(table):
        return None
    large = large_amounts(table, used, rng)
    return None if large is None else _styled(
        large, thousands="." if table.style.decimal == "," else ",")  # fmt: skip


def other_decimal(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """The decimal mark of a text file is the other one."""
    if _is_book(table) or not _places(table, "number"):
        return None
    other = FileStyle(delimiter=";", decimal="," if table.style.decimal == "." else ".")
    return _styled(table, delimiter=other.delimiter, decimal=other.decimal)


def words_for_amounts(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Some amounts are words: n/a."""
    places = _places(table, "number")
    if not places:
        return None
    rows = _mapped(table, places[0], lambda n, v: None if n % 8 == 5 else v)
    written = _mapped(table, places[0], lambda n, v: "n/a" if n % 8 == 5 else v)
    return _change(table, rows=rows, written=written)


def words_for_dates(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Some dates are words: soon."""
    places = _places(table, "date")
    if not places:
        return None
    rows = _mapped(table, places[0], lambda n, v: None if n % 8 == 5 else v)
    written = _mapped(table, places[0], lambda n, v: "soon" if n % 8 == 5 else v)
    return _change(table, rows=rows, written=written)


def mixed_dates(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Some dates are texts of another form, the day first."""
    places = _places(table, "date")
    if not places:
        return None

    def other(number: int, value: Cell) -> Cell:
        return f"{value:%d.%m.%Y}" if number % 8 == 5 and isinstance(value, date) else value

    return _change(table, written=_mapped(table, places[0], other))


def later_dates(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """All dates are a year later."""
    places = _places(table, "date")
    for place in places:
        rows = _mapped(table, place, lambda n, v: v + timedelta(366) if v is not None else v)  # type: ignore[operator]
        table = _change(table, rows=rows)
    return table if places else None


def doubled_heading(table: MadeTable, used: Sequence[str], rng: Random) -> MadeTable | None:
    """Two columns are called alike, and hold other amounts."""
    places = [n for n in _places(table, "number") if table.columns[n].name in used]
    if not places:
        return None
    column = table.columns[places[0]]
    return _with_column(table, column, [Decimal(7) for _ in table.rows])


CHANGES: Mapping[str, Change] = {
    "columns shuffled": shuffled_columns, "rows shuffled": shuffled_rows,
    "a needed column renamed": renamed_used_column, "another column renamed": renamed_other_column,
    "a needed column called nearly so": near_name, "headings in capitals": capital_headings,
    "a needed column missing": column_missing, "another column missing": other_column_missing,
    "a column of texts more": extra_text, "a column of numbers more": extra_numbers,
    "numbers as text": numbers_as_text, "some numbers as text": some_numbers_as_text,
    "dates as text": dates_as_text, "dates: the month first": _other_dates("%m/%d/%Y"),
    "dates: the day first": _other_dates("%d/%m/%Y"), "dates: ISO": _other_dates("%Y-%m-%d"),
    "dates: with names": _other_dates("%d %b %Y"), "dates: unclear": unclear_dates,
    "dates: mixed": mixed_dates, "dates: a year later": later_dates,
    "a new category": new_category, "one category": one_category,
    "odd categories": odd_categories, "spellings": spellings, "blanks in keys": blank_keys,
    "blanks in amounts": blank_amounts, "blanks in dates": blank_dates,
    "no amount at all": no_amounts, "negative amounts": negative_amounts,
    "large amounts": large_amounts, "whole amounts": whole_amounts, "thousands": thousands,
    "rows x 100": rows_hundredfold, "one row": one_row, "duplicates": duplicates,
    "headings only": headings_only, "0 bytes": _style(data=b""),
    "no table": _style(data=b"%PDF-1.4\x00\x01\x02 nothing \xff\xfe"),
    "a sheet missing": _of_books(is_gone=True),
    "a sheet of the same columns": _of_books(twin="Copy"),
    "a sheet added": _of_books(decoys=("Lookup", "Old")),
    "totals in the source": _style(total="Total"), "subtotals in the source": _with_subtotals(),
    "grand total in the source": _style(total="Grand total"),
    "subtotals and a total": _with_subtotals(total="Total"),
    "a line below": _style(footer="Exported on 1 July 2024 by Kim"),
    "headings further down": _style(titles=("Report", "for internal use", "")),
    "headings again in the middle": _style(repeat=True), "empty lines": _style(blanks=True),
    "blanks around texts": _style(padded=True), "a currency sign": _of_text(sign="€"),
    "semicolons": _of_text(delimiter=";"), "tabs": _of_text(delimiter="\t"),
    "UTF-8 with a mark": _of_text(encoding="utf-8-sig"), "UTF-16": _of_text(encoding="utf-16"),
    "Windows-1252": _of_text(encoding="cp1252"), "the other decimal mark": other_decimal,
    "words for amounts": words_for_amounts, "words for dates": words_for_dates,
    "two columns of one name": doubled_heading, **VALUE_CHANGES,
}  # fmt: skip
"""All changes by what they are called in the counts."""

MUST_BE_REFUSED = frozenset((
    "a needed column renamed", "a needed column called nearly so", "a needed column missing",
    "headings only", "0 bytes", "no table", "a sheet missing", "a sheet of the same columns",
    "two files that fit",
))  # fmt: skip
"""Those of which nothing may be written, whatever it is."""
