"""Clauses of a request: what was understood of it, piece by piece, before steps are made of it."""

from typing import Literal

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.expressions import PART_TITLES
from kbd_offline.facts import KnownColumn
from kbd_offline.terminals import NamedColumn, Number

__all__ = [
    "AcrossClause", "Clauses", "ConditionClause", "DedupeClause", "DeriveClause", "DropClause",
    "FigureClause", "Flag", "HavingClause", "KeyClause", "LooseClause",
    "NounClause", "OrderClause", "RankClause", "RenameClause", "RunningClause", "SelectClause",
    "ShareClause", "SplitClause", "SuffixClause", "UniqueClause",
]  # fmt: skip

FlagName = Literal[
    "pivot", "summary", "totals", "into_sheets", "into_files", "in_place", "copy", "converts"
]
Part = Literal["", "year", "quarter", "month", "week", "day", "weekday"]


class KeyClause(msgspec.Struct, frozen=True):
    """A column to group by, or a part of its dates; without a column the only one of dates."""

    column: KnownColumn | None
    part: Part = ""
    place: int = 0

    @property
    def title(self) -> str:
        """Its heading."""
        if self.part:
            return PART_TITLES[self.part]
        return "" if self.column is None else self.column.name


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


class HavingClause(msgspec.Struct, frozen=True):
    """A condition on the figures of groups."""

    figure: FigureClause
    operator: str
    number: Number


class AcrossClause(msgspec.Struct, frozen=True):
    """A key whose values are columns."""

    key: KeyClause


class LooseClause(msgspec.Struct, frozen=True):
    """A column that stands alone; a weak one is only meant where a figure is asked for."""

    named: NamedColumn
    is_weak: bool = False


class NounClause(msgspec.Struct, frozen=True):
    """A word for the rows, where it stands, and whether they are counted."""

    place: int
    is_counted: bool = False


class Flag(msgspec.Struct, frozen=True):
    """Something that is said or is not."""

    name: FlagName


class SelectClause(msgspec.Struct, frozen=True):
    """Columns that are chosen."""

    columns: tuple[KnownColumn, ...]


class DropClause(msgspec.Struct, frozen=True):
    """Columns that are left out."""

    columns: tuple[KnownColumn, ...]


class UniqueClause(msgspec.Struct, frozen=True):
    """Columns whose different values are listed."""

    columns: tuple[KnownColumn, ...]


class RenameClause(msgspec.Struct, frozen=True):
    """A column that is called otherwise."""

    column: KnownColumn
    name: str


class SuffixClause(msgspec.Struct, frozen=True):
    """The kind of file that the result is, by its suffix."""

    suffix: str


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
    ties: bool = False
    is_plain: bool = False


class DeriveClause(msgspec.Struct, frozen=True):
    """A column that is computed; `text` is what of."""

    name: str
    expression: str
    text: str


class ShareClause(msgspec.Struct, frozen=True):
    """How much of a sum each group is."""

    place: int


class RunningClause(msgspec.Struct, frozen=True):
    """A column added up row by row."""

    column: KnownColumn | None
    place: int


class DedupeClause(msgspec.Struct, frozen=True):
    """Rows that are there more than once, by columns or whole.

    Args:
        columns: By which they are alike.
        keep: Which of them stays.
        is_kept: Whether only that is said.
        is_listed: Whether they are listed, and not taken out.
    """

    columns: tuple[KnownColumn, ...] = ()
    keep: Literal["first", "last", "latest"] = "first"
    is_kept: bool = False
    is_listed: bool = False


class SplitClause(msgspec.Struct, frozen=True):
    """Into what rows are split, and by what."""

    into: Literal["sheets", "files"]
    keys: tuple[KeyClause, ...] = ()


class Clauses:
    """All clauses of a request, as they are found."""

    def __init__(self) -> None:
        self.figures: list[FigureClause] = []
        self.keys: list[KeyClause] = []
        self.across: list[KeyClause] = []
        self.conditions: list[ConditionClause] = []
        self.having: list[HavingClause] = []
        self.order: list[OrderClause] = []
        self.rank: RankClause | None = None
        self.selected: list[KnownColumn] = []
        self.loose: list[tuple[KnownColumn, int, bool]] = []
        self.dropped: list[KnownColumn] = []
        self.derived: list[DeriveClause] = []
        self.renamed: dict[str, str] = {}
        self.share: ShareClause | None = None
        self.running: RunningClause | None = None
        self.dedupe: DedupeClause | None = None
        self.duplicates: DedupeClause | None = None
        self.split: Literal["", "sheets", "files"] = ""
        self.split_keys: list[KeyClause] = []
        self.has_summary = False
        self.has_totals = False
        self.is_pivot = False
        self.exact = False
        self.is_question = False
        self.is_who = False
        self.converts = False
        self.unique_list: tuple[KnownColumn, ...] = ()
        self.nouns: set[int] = set()
        self.notes: list[str] = []
        self.in_place = False
        self.suffix = ""
        self.unknown: list[int] = []
        self.condition_places: set[int] = set()
