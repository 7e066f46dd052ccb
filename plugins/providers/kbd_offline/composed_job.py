"""Composed jobs on one table, and what any of them has: computed columns, chosen rows, orders."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from kbd.formats.records import SheetForm
from kbd.jobs import records
from kbd.jobs.records import SortKey, TableStep
from kbd_offline import expressions
from kbd_offline.clauses import Clauses, ConditionClause, OrderClause, RankClause
from kbd_offline.facts import KnownColumn
from kbd_offline.scan import RequestScan, UnclearError
from kbd_offline.time_rules import moment_of

__all__ = ["ComposedJob", "RowComposer", "SplitPart", "order_text", "way_of"]

_MAX_TEXTS = 5
_MAX_SPELT = 3
"""Values of which it is told that their spellings count as one."""


class SplitPart(msgspec.Struct, frozen=True):
    """A split: its column, into what, and the steps of its sheet of totals."""

    by: str
    into: Literal["sheets", "files"]
    keeps_column: bool
    summary: tuple[TableStep, ...] = ()
    form: SheetForm = SheetForm()


class ComposedJob(msgspec.Struct, frozen=True):
    """A job on one table but for its files.

    Args:
        steps: What makes the result.
        words: It in words.
        slug: What the result is, as a part of a file's name.
        is_figures: Whether it is figures, which go into a workbook unless something else is said.
        is_answer: Whether it may be told in words: one figure, or an answer to a question.
        form: What its sheet has beside the rows.
        split: How it is split, if it is.
        notes: What must be said beside it.
    """

    steps: tuple[TableStep, ...]
    words: str
    slug: str
    is_figures: bool = False
    is_answer: bool = False
    form: SheetForm = SheetForm()
    split: SplitPart | None = None
    notes: tuple[str, ...] = ()


def way_of(rank: RankClause) -> str:
    """Return whether a ranking is of the first ones or the last."""
    return "top" if rank.descending else "bottom"


class RowComposer:
    """Steps of a job on one table, as they are put together."""

    def __init__(self, scan: RequestScan, clauses: Clauses) -> None:
        self._scan = scan
        self._clauses = clauses
        self._steps: list[TableStep] = []
        self._words: list[str] = []
        self._slugs: list[str] = []
        self._form = SheetForm()
        self._notes = list(clauses.notes)
        self._where = ""
        self._where_slugs: list[str] = []

    def _add(self, *steps: TableStep, words: str = "", name: str = "") -> None:
        """Add steps, and what they do in words and as a part of a file's name."""
        self._steps += steps
        self._words.append(words)
        self._slugs.append(name)

    def _made(self, *, is_figures: bool, is_answer: bool | None = None) -> ComposedJob:
        """Return the job; without another word a question is answered in words."""
        is_answer = self._clauses.is_question if is_answer is None else is_answer
        return ComposedJob(
            tuple(self._steps), " ".join(filter(None, self._words)),
            "-".join(filter(None, self._slugs)), is_figures, is_answer, self._form, None,
            tuple(dict.fromkeys(self._notes)),
        )  # fmt: skip

    def _derive(self) -> None:
        made: dict[str, str] = {}
        for one in self._clauses.derived:
            if one.name in made:
                self._add(records.DeriveStep(dict(made)))
                made.clear()
            made[one.name] = one.expression
        if made:
            self._add(records.DeriveStep(made))

    def _filter(self, conditions: Sequence[ConditionClause]) -> None:
        if not conditions:
            return
        joints = {one.joint for one in conditions[1:]}
        if len(joints) > 1:
            raise UnclearError(
                "it has conditions with and, and others with or: ask for one after the other"
            )
        conditions = [one for at, one in enumerate(conditions) if one not in conditions[:at]]
        texts = [one.expression for one in conditions]
        is_any = joints == {"or"}
        where = expressions.alternatives(texts) if is_any else expressions.both(texts)
        self._add(records.FilterStep(where, make="chosen"))
        joined = (" or " if is_any else " and ").join(one.text for one in conditions)
        self._where = f"where {joined}"
        self._where_slugs = [one.slug for one in conditions]

    def _end_words(self) -> None:
        """Say which rows are chosen."""
        self._words.append(self._where)
        self._slugs += self._where_slugs

    def _deduplicate(self) -> None:
        clauses = self._clauses
        if not clauses.deduplicates:
            return
        if clauses.keep == "latest":
            self._add(records.SortStep((SortKey(moment_of(self._scan).name),)))
        names = tuple(column.name for column in clauses.alike)
        self._note_spellings(clauses.alike or self._scan.table.columns)
        keep: Literal["first", "last"] = "first" if clauses.keep == "first" else "last"
        self._add(records.DeduplicateStep(names, keep, exact=self._scan.is_exact))

    def _note_spellings(self, columns: Iterable[KnownColumn]) -> None:
        """Note which values count as one although they differ in capitals."""
        for column in () if self._scan.is_exact else columns:
            spellings: dict[str, list[str]] = {}
            for value in column.values if column.is_text else ():
                spellings.setdefault(value.casefold(), []).append(value)
            several = [sorted(one) for one in spellings.values() if len(one) > 1]
            for spelt in several[:_MAX_SPELT]:
                shown = max(spelt, key=lambda one: column.values[one])
                self._notes.append(expressions.spellings_note(column.name, spelt, shown))

    def _note_unsummed(self, columns: Sequence[KnownColumn]) -> None:
        """Note which numbers totals were not made of: no figures, or not all of them."""
        if left := [column for column in columns if column.is_number and column.role]:
            named = ", ".join(f"{column.name} ({column.role})" for column in left)
            same = f'say "total {left[0].name}" to have its sum all the same'
            self._notes.append(f"Not summed: {named}; {same}")
        texts = [c for c in columns if not c.is_number and "number" in c.why_text]
        self._notes += [f"Not summed: {one.name}: {one.why_text}" for one in texts[:_MAX_TEXTS]]
        if (more := len(texts) - _MAX_TEXTS) > 0:
            self._notes.append(f"Not summed, as they hold texts among numbers: {more} more columns")

    def _row_order(self, order: Sequence[OrderClause]) -> tuple[SortKey, ...]:
        """Return the order of rows.

        Raises:
            UnclearError: It sorts by a figure, or does not say by what.
        """
        return tuple(SortKey(self._ordered(one).name, bool(one.descending)) for one in order)

    def _ordered(self, order: OrderClause) -> KnownColumn:
        if order.part:
            return moment_of(self._scan)
        column = order.column or (order.figure.column if order.figure else None)
        if column is not None:
            return column
        if order.figure is not None:
            raise UnclearError("it sorts by a figure, and asks for none")
        if len(self._scan.table.sums) != 1:
            raise UnclearError("it does not say what to sort by")
        return self._scan.table.sums[0]

    def _sort(self, order: Sequence[SortKey], words: str = "") -> None:
        if order:
            self._add(records.SortStep(tuple(order)), words=words)


def order_text(order: Sequence[SortKey]) -> str:
    """Return an order in words, "" for none."""
    ways = (f"{one.column}{' descending' if one.descending else ''}" for one in order)
    return f"sorted by {', '.join(ways)}" if order else ""
