"""Changed inputs for trials of a recipe: what the next file of the same shape may be like.

A change is deterministic by its seed. Where it adds rows or takes some away, the parts are told of
which the whole table is made, to be judged by `kbd.jobs.recipes.trial_checks`.
"""

import random
from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

import msgspec

from kbd.jobs.columns import ShapeColumn

__all__ = ["Change", "ChangedTable", "TableRow", "TableValue", "TrialTable", "changed_inputs"]

TableValue = None | bool | int | float | Decimal | str | date
"""A value of a row; a date may be one with a time."""

TableRow = tuple[TableValue, ...]

Change = Literal[
    "shuffled", "removed", "added", "new category", "other amounts", "many rows", "empty fields",
]  # fmt: skip

_TIMES = 10
"""As many times the rows are there of `many rows`."""

_LATER = 31
"""Days by which dates of added rows are moved."""


class TrialTable(msgspec.Struct, frozen=True):
    """A table to try a recipe with: its columns and its rows as plain values."""

    columns: tuple[ShapeColumn, ...]
    rows: tuple[TableRow, ...]

    def place(self, name: str) -> int:
        """Return where a column stands, counted from 0."""
        return [column.name for column in self.columns].index(name)


class ChangedTable(msgspec.Struct, frozen=True):
    """A table as another file may have it.

    Args:
        change: What was changed.
        text: The same in words.
        table: The changed table.
        whole: The rows that are the sum of the parts: the changed ones, or those before a removal.
        parts: Rows that together are the whole; none where nothing is known of figures.
        column: The column that was changed; "" for rows.
        value: The category that is new; None for none.
    """

    change: Change
    text: str
    table: TrialTable
    whole: tuple[TableRow, ...] = ()
    parts: tuple[tuple[TableRow, ...], ...] = ()
    column: str = ""
    value: TableValue = None


def changed_inputs(
    table: TrialTable,
    used: Collection[str],
    categories: Collection[str] = (),
    keys: Collection[str] = (),
    seed: int = 0,
) -> tuple[ChangedTable, ...]:
    """Return changed copies of a table; none of an empty one.

    Args:
        table: The table.
        used: The columns that the recipe names.
        categories: Those of them by whose values rows are parted.
        keys: Those of them that tell rows apart; where they do, rows that are added have others.
        seed: Of what is chosen.
    """
    if not table.rows:
        return ()
    return tuple(_Changes(table, used, categories, keys, random.Random(seed)).all())


class _Changes:
    """Changes of one table; its parameters are those of `changed_inputs`."""

    def __init__(
        self,
        table: TrialTable,
        used: Collection[str],
        categories: Collection[str],
        keys: Collection[str],
        chance: random.Random,
    ) -> None:
        self._table = table
        self._used = [place for place, each in enumerate(table.columns) if each.name in used]
        self._categories = [
            place for place, each in enumerate(table.columns) if each.name in categories
        ]
        self._chance = chance
        self._keys = [
            place
            for place, each in enumerate(table.columns)
            if each.name in keys and _is_key(table, place)
        ]
        self._made = 0

    def all(self) -> Iterator[ChangedTable]:
        """Yield the changes."""
        rows = self._table.rows
        shuffled = self._chance.sample(rows, len(rows))
        yield self._changed("shuffled", "rows in another order", tuple(shuffled))
        if len(rows) > 1:
            yield self._removed()
        added = self._copies(self._some())
        text = f"{len(added)} rows added, with other amounts and later dates"
        yield self._changed("added", text, (*rows, *added), (rows, added))
        yield from self._new_categories()
        amounts = self._other_amounts()
        if amounts is not None:
            yield amounts
        more = tuple(row for _ in range(_TIMES - 1) for row in self._copies(rows, is_same=True))
        text = f"each row {_TIMES} times"
        yield self._changed("many rows", text, (*rows, *more), (rows, more))
        yield from self._empty_fields()

    def _changed(
        self,
        change: Change,
        text: str,
        rows: tuple[TableRow, ...],
        parts: tuple[tuple[TableRow, ...], ...] = (),
        column: str = "",
        value: TableValue = None,
    ) -> ChangedTable:
        table = TrialTable(self._table.columns, rows)
        return ChangedTable(change, text, table, rows, parts, column, value)

    def _some(self) -> tuple[TableRow, ...]:
        """Return some rows, in their order: a third, at least one."""
        places = range(len(self._table.rows))
        chosen = self._chance.sample(places, max(1, len(places) // 3))
        return tuple(self._table.rows[place] for place in sorted(chosen))

    def _removed(self) -> ChangedTable:
        rows = self._table.rows
        count = max(1, len(rows) // 3)
        gone = set(self._chance.sample(range(len(rows)), count))
        kept = tuple(row for place, row in enumerate(rows) if place not in gone)
        removed = tuple(row for place, row in enumerate(rows) if place in gone)
        table = TrialTable(self._table.columns, kept)
        return ChangedTable("removed", f"{count} rows removed", table, rows, (kept, removed))

    def _copies(self, rows: Sequence[TableRow], *, is_same: bool = False) -> tuple[TableRow, ...]:
        """Return copies of rows with keys of their own; unless they are the same, later ones."""
        return tuple(self._copy(row, is_same=is_same) for row in rows)

    def _copy(self, row: TableRow, *, is_same: bool) -> TableRow:
        self._made += 1
        values = list(row)
        for place, column in enumerate(self._table.columns):
            value = values[place]
            if place in self._keys:
                values[place] = self._other_key(place)
            elif is_same or place in self._categories:
                continue
            elif column.type in ("integer", "float"):
                values[place] = _other_amount(value, self._chance)
            elif isinstance(value, date):
                values[place] = value + timedelta(_LATER)
        return tuple(values)

    def _other_key(self, place: int) -> TableValue:
        """Return a value that no row has in a column whose values are all different."""
        values = [row[place] for row in self._table.rows]
        if isinstance(values[0], str):
            return f"{max(map(str, values))}-{self._made}"
        return max(each for each in values if isinstance(each, int)) + self._made

    def _new_categories(self) -> Iterator[ChangedTable]:
        for place in self._categories:
            column = self._table.columns[place]
            value = _new_value([row[place] for row in self._table.rows], column.name)
            if value is None:
                continue
            copies = self._copies(self._some())
            added = tuple((*row[:place], value, *row[place + 1 :]) for row in copies)
            text = f'{len(added)} rows added with the {column.name} "{value}", which is new'
            rows = self._table.rows
            yield self._changed(
                "new category", text, (*rows, *added), (rows, added), column.name, value
            )

    def _other_amounts(self) -> ChangedTable | None:
        places = [
            place
            for place in self._used
            if self._table.columns[place].type in ("integer", "float")
            and place not in (*self._keys, *self._categories)
        ]
        if not places:
            return None
        rows = []
        for number, row in enumerate(self._table.rows):
            values = list(row)
            for place in places:
                # The first is turned round and the second is nothing, wherever they stood.
                amount = _other_amount(row[place], self._chance)
                values[place] = -amount if number == 0 and amount is not None else amount
                values[place] = 0 if number == 1 else values[place]
            rows.append(tuple(values))
        first, rest = tuple(rows[:1]), tuple(rows[1:])
        names = ", ".join(self._table.columns[place].name for place in places)
        text = f"other amounts in {names}, one of them negative"
        return self._changed("other amounts", text, tuple(rows), (first, rest) if rest else ())

    def _empty_fields(self) -> Iterator[ChangedTable]:
        for place in self._used:
            number = self._chance.randrange(len(self._table.rows))
            rows = list(self._table.rows)
            rows[number] = (*rows[number][:place], None, *rows[number][place + 1 :])
            one, rest = (rows[number],), (*rows[:number], *rows[number + 1 :])
            name = self._table.columns[place].name
            yield self._changed(
                "empty fields", f"a row without {name}", tuple(rows),
                (one, tuple(rest)) if rest else (), name,
            )  # fmt: skip


def _is_key(table: TrialTable, place: int) -> bool:
    """Tell whether the values of a column are all different texts or whole numbers."""
    values = [row[place] for row in table.rows]
    kinds = {type(value) for value in values}
    is_kind = kinds in ({str}, {int})
    return is_kind and len(set(values)) == len(values) > 1


def _other_amount(value: TableValue, chance: random.Random) -> int | float | Decimal | None:
    """Return another amount of the same kind, with two decimals at most."""
    match value:
        case bool() | None:
            return None
        case Decimal():
            return value * chance.randint(2, 5) + Decimal(chance.randint(1, 999)) / 100
        case float():
            return round(value * chance.randint(2, 5) + chance.randint(1, 999) / 100, 2)
        case int():
            return value * chance.randint(2, 5) + chance.randint(1, 9)
        case _:
            return None


def _new_value(values: Sequence[TableValue], name: str) -> TableValue:
    """Return a value that a column has not; None where there can be none."""
    filled = [value for value in values if value is not None]
    if not filled:
        return None
    match filled[0]:
        case bool():
            return None
        case str():
            taken = {str(value).casefold() for value in filled}
            number = 1
            while (made := f"New {name} {number}").casefold() in taken:
                number += 1
            return made
        case int():
            return max(value for value in filled if isinstance(value, int)) + 1
        case date():
            return max(value for value in filled if isinstance(value, date)) + timedelta(_LATER)
        case _:
            return None
