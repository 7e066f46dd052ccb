"""ComposedJob jobs on one table: steps, words and what the result is; orders of rows. Pure."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from kbd.formats.records import SheetForm
from kbd.jobs.records import (
    SortKey,
    TableStep,
)
from kbd_offline.clauses import (
    Clauses,
    FigureClause,
    KeyClause,
    OrderClause,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.group_composer import (
    default_number,
)
from kbd_offline.scan import RequestScan, SeveralError, UnclearError
from kbd_offline.time_rules import moment_of

__all__ = [
    "MAX_SPELT",
    "ComposedJob",
    "SplitPart",
    "keys_from",
    "not_summed",
    "order_keys_of_rows",
    "order_text",
    "resolved",
]


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


def keys_from(columns: Sequence[KnownColumn]) -> list[KeyClause]:
    """Return keys of columns."""
    return [KeyClause(column) for column in columns]


def resolved(scan: RequestScan, figure: FigureClause) -> FigureClause:
    """Return a figure with its column."""
    if figure.of_rows or figure.column is not None:
        return figure
    if figure.function == "count" and figure.subject is not None:
        if figure.subject.distinct == scan.table.rows:
            return msgspec.structs.replace(figure, of_rows=True)
        raise SeveralError(
            f'it may be of rows, or of different values of "{figure.subject.name}"', []
        )
    if figure.function == "count":
        return msgspec.structs.replace(figure, of_rows=True)
    return msgspec.structs.replace(
        figure, column=default_number(scan, figure.function, figure.place)
    )


def order_keys_of_rows(scan: RequestScan, clauses: Clauses) -> tuple[SortKey, ...]:
    """Return the order of rows.

    Raises:
        UnclearError: It sorts by a figure, or does not say by what.
    """
    found = []
    for one in clauses.order:
        column = one.column or _row_order(scan, one)
        found.append(SortKey(column.name, bool(one.descending)))
    return tuple(found)


def _row_order(scan: RequestScan, order: OrderClause) -> KnownColumn:
    if order.part:
        return moment_of(scan)
    if order.figure is not None and order.figure.column is not None:
        return order.figure.column
    if order.figure is not None:
        raise UnclearError("it sorts by a figure, and asks for none")
    columns = [column for column in scan.table.columns if column.adds_up]
    if len(columns) != 1:
        raise UnclearError("it does not say what to sort by")
    return columns[0]


def order_text(order: Sequence[SortKey]) -> str:
    """Return an order in words."""
    ways = (f"{one.column}{' descending' if one.descending else ''}" for one in order)
    return f"sorted by {', '.join(ways)}"


_MAX_TEXTS = 5


MAX_SPELT = 3
"""Values of which it is told that their spellings count as one."""


def not_summed(columns: Sequence[KnownColumn]) -> list[str]:
    """Return the notes on numbers that totals were not made of: no figures, or not all of them."""
    notes = []
    if left := [column for column in columns if column.is_number and column.role]:
        named = ", ".join(f"{column.name} ({column.role})" for column in left)
        same = f'say "total {left[0].name}" to have its sum all the same'
        notes.append(f"Not summed: {named}; {same}")
    texts = [c for c in columns if not c.is_number and "number" in c.why_text]
    notes += [f"Not summed: {column.name}: {column.why_text}" for column in texts[:_MAX_TEXTS]]
    if (more := len(texts) - _MAX_TEXTS) > 0:
        notes.append(f"Not summed, as they hold texts among numbers: {more} more columns")
    return notes
