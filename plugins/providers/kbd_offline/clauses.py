"""Clauses of a request: what was understood of it, piece by piece, before steps are made of it."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.facts import KnownColumn
from kbd_offline.terminals import Number

__all__ = [
    "Clauses",
    "ConditionClause",
    "DeriveClause",
    "FieldClause",
    "FigureClause",
    "HavingClause",
    "KeyClause",
    "LooseClause",
    "NounClause",
    "OrderClause",
    "Part",
    "RankClause",
    "condition_on",
    "count_of_rows",
    "sum_of",
]  # fmt: skip

Part = Literal["", "year", "quarter", "month", "week", "day", "weekday"]


class KeyClause(msgspec.Struct, frozen=True):
    """A column to group by, or a part of its dates; without a column the only one of dates."""

    column: KnownColumn | None
    part: Part = ""
    place: int = 0


class FigureClause(msgspec.Struct, frozen=True):
    """A figure: its function, and its column; without one that of the rows, or the one that fits.

    Args:
        function: What is worked out.
        column: Of which column.
        of_rows: Whether rows are counted.
        place: Where it stands.
        subject: The column whose things are counted: rows or different values, if these differ.
    """

    function: Aggregate
    column: KnownColumn | None = None
    of_rows: bool = False
    place: int = 0
    subject: KnownColumn | None = None


def count_of_rows(place: int = 0, subject: KnownColumn | None = None) -> FigureClause:
    """Return the number of rows as a figure.

    Args:
        place: Where it stands.
        subject: The column that numbers what is counted, if there is one.
    """
    return FigureClause("count", of_rows=True, place=place, subject=subject)


def sum_of(column: KnownColumn, place: int = 0) -> FigureClause:
    """Return the sum of a column as a figure."""
    return FigureClause("sum", column, place=place)


class ConditionClause(msgspec.Struct, frozen=True):
    """A condition on rows, or on the figures of groups.

    Args:
        expression: It.
        text: It in words.
        columns: The columns it is on.
        joint: How it goes with the one before.
        slug: It as a part of a file's name.
        values: The texts that a column equals, where it is that.
        is_negative: Whether these are left out.
        notes: What must be said beside the result.
        is_bare: Whether it names no column, as "over 100".
    """

    expression: str
    text: str
    columns: tuple[KnownColumn, ...] = ()
    joint: Literal["and", "or"] = "and"
    slug: str = ""
    values: tuple[str, ...] = ()
    is_negative: bool = False
    notes: tuple[str, ...] = ()
    is_bare: bool = False


def condition_on(
    column: KnownColumn, expression: str, text: str, slug: str = ""
) -> ConditionClause:
    """Return a condition on one column: it, and what it says of the column in words."""
    return ConditionClause(expression, f"{column.name} {text}", (column,), slug=slug)


class HavingClause(msgspec.Struct, frozen=True):
    """A condition on the figures of groups."""

    figure: FigureClause
    operator: str
    number: Number


class LooseClause(msgspec.Struct, frozen=True):
    """A column that stands alone; a weak one is only meant where a figure is asked for."""

    column: KnownColumn
    place: int
    is_weak: bool = False


class NounClause(msgspec.Struct, frozen=True):
    """A word for the rows, and where it stands."""

    place: int


class OrderClause(msgspec.Struct, frozen=True):
    """A column to sort by, or the figure, and the way if it is said."""

    column: KnownColumn | None = None
    descending: bool | None = None
    figure: FigureClause | None = None
    part: Part = ""


class RankClause(msgspec.Struct, frozen=True):
    """The first ones of an order: "top 10 customers by revenue".

    Args:
        count: How many.
        descending: Whether the largest come first.
        subject: The column whose values are ranked; None for rows.
        by: What tells the order: a column, or a figure.
        is_plain: Whether only a number of rows was said, as in "the first 10".
    """

    count: int
    descending: bool
    subject: KnownColumn | None = None
    by: KnownColumn | None = None
    figure: FigureClause | None = None
    place: int = 0
    is_plain: bool = False


class DeriveClause(msgspec.Struct, frozen=True):
    """A column that is computed; `text` is what of."""

    name: str
    expression: str
    text: str


class FieldClause(msgspec.Struct, frozen=True):
    """Whatever else is said: a field of `Clauses`, and its value or what is added to it."""

    field: str
    value: Any = True


_FIELDS: Mapping[type, str] = {
    FigureClause: "figures", HavingClause: "having", OrderClause: "order", RankClause: "rank",
    DeriveClause: "derived", LooseClause: "loose",
}  # fmt: skip
"""Where clauses go."""


class Clauses(msgspec.Struct):
    """All clauses of a request, as they are found.

    Args:
        across: Keys whose values are columns.
        share, running: Where it asks for shares of a sum, or for one added up row by row.
        runs: The column that is added up row by row.
        alike: Columns by which rows are alike that are there more than once.
        deduplicates: Whether all of these but one are taken out, and which one stays.
        duplicates: Columns by which such rows are listed.
        into: What rows are split into, as often as it is said.
        in_place: Whether the file itself is to be changed.
        is_sorted: Whether it only says that there is an order.
        converts: Whether it asks for another kind of file.
        unknown: Places of words that nothing is known of.
    """

    figures: list[FigureClause] = []
    keys: list[KeyClause] = []
    across: list[KeyClause] = []
    conditions: list[ConditionClause] = []
    having: list[HavingClause] = []
    order: list[OrderClause] = []
    rank: RankClause | None = None
    selected: list[KnownColumn] = []
    loose: list[LooseClause] = []
    dropped: list[KnownColumn] = []
    derived: list[DeriveClause] = []
    renamed: list[tuple[str, str]] = []
    share: int | None = None
    running: int | None = None
    runs: list[KnownColumn] = []
    deduplicates: bool = False
    keep: Literal["first", "last", "latest"] = "first"
    alike: list[KnownColumn] = []
    duplicates: tuple[KnownColumn, ...] | None = None
    into: list[Literal["sheets", "files"]] = []
    split_keys: list[KeyClause] = []
    has_totals: bool = False
    is_pivot: bool = False
    is_question: bool = False
    is_who: bool = False
    converts: bool = False
    unique_list: list[KnownColumn] = []
    nouns: list[int] = []
    notes: list[str] = []
    in_place: bool = False
    is_sorted: bool = False
    suffix: str = ""
    unknown: list[int] = []
    condition_places: set[int] = set()

    @property
    def split(self) -> Literal["", "sheets", "files"]:
        """What rows are split into: files if it says so anywhere."""
        return "files" if "files" in self.into else "sheets" if self.into else ""

    @property
    def alone(self) -> list[KnownColumn]:
        """The columns that stand alone and are meant whatever is asked."""
        return [one.column for one in self.loose if not one.is_weak]

    @property
    def amounts(self) -> list[LooseClause]:
        """What stands alone and may be worked out: numbers."""
        return [one for one in self.loose if one.column.is_number and one.column.role != "id"]

    def add(self, value: Any, places: range) -> None:
        """Add a clause that stands at some places."""
        match value:
            case KeyClause():
                self._add_key(value)
            case NounClause():
                self.nouns.append(value.place)
            case ConditionClause():
                self.conditions.append(value)
                self.notes += value.notes
                self.condition_places.update(places)
            case FieldClause():
                self._set(value.field, value.value)
            case _:
                self._set(_FIELDS[type(value)], (value,))

    def _set(self, field: str, value: Any) -> None:
        known = getattr(self, field)
        if isinstance(known, list):
            known += [one for one in value if one not in known]
        else:
            setattr(self, field, value[0] if field in _FIELDS.values() else value)

    def _add_key(self, key: KeyClause) -> None:
        """Add a key, or which date the month before is of: "per month … by due date"."""
        column = key.column
        if column is not None and column.is_moment and not key.part:
            parts = [one for one in self.keys if one.part and one.column in (None, column)]
            if len(parts) == 1:
                at = self.keys.index(parts[0])
                self.keys[at] = msgspec.structs.replace(parts[0], column=column)
                return
        if not any((one.column, one.part) == (column, key.part) for one in self.keys):
            self.keys.append(key)
