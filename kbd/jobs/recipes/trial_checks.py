"""Checks of trials: what must hold between the result of a file and that of a changed one.

Figures are not worked out a second time. A table that is in two parts has the sums and counts of
both, group by group; so its job is run on each part, too, and the three results are compared. Of
rows in another order the results are the same.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

import msgspec

from kbd.jobs.columns import folded
from kbd.jobs.recipes.trial_tables import TableRow, TableValue
from kbd.jobs.records import (
    CompareStep,
    DeduplicateStep,
    DeriveStep,
    FilterStep,
    GroupStep,
    Job,
    JoinStep,
    OutputStep,
    PivotStep,
    RunningStep,
    SelectStep,
    SortStep,
    TopStep,
    UnionStep,
)
from kbd.jobs.shapes import JobShapes

__all__ = [
    "AdditiveTable",
    "ResultTable",
    "additive_tables",
    "order_free_tables",
    "parts_faults",
    "same_faults",
]

_NEAR = 1e-9


class ResultTable(msgspec.Struct, frozen=True):
    """A table that a job made: its headings and its rows."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


class AdditiveTable(msgspec.Struct, frozen=True):
    """A table whose figures of two parts add up to those of the whole.

    Args:
        keys: The columns of its groups; figures are all others. None for one whose rows are rows of
            the input.
        exact: Whether groups differ by capitals.
    """

    keys: tuple[str, ...] | None = None
    exact: bool = False


def additive_tables(job: Job, shapes: JobShapes, input_name: str) -> dict[str, AdditiveTable]:
    """Return the tables of a job that add up where the rows of an input do.

    Args:
        job: The job.
        shapes: Its tables.
        input_name: The input that is in parts; other inputs stay whole.
    """
    found: dict[str, AdditiveTable] = {input_name: AdditiveTable()}
    for step, source, made in zip(job.steps, shapes.sources, shapes.made, strict=True):
        if isinstance(step, OutputStep) or made is None or source not in found:
            continue
        before = found[source]
        is_rows = before.keys is None
        match step:
            case SortStep():
                found[made] = before
            case FilterStep() | DeriveStep() | SelectStep() if is_rows:
                found[made] = before
            case JoinStep() if is_rows and step.other not in found and step.kind != "full":
                found[made] = before
            case GroupStep() if is_rows:
                if all(each.function in ("sum", "count") for each in step.figures):
                    found[made] = AdditiveTable(step.by, step.exact)
            case PivotStep() if is_rows and step.figure.function in ("sum", "count"):
                found[made] = AdditiveTable(step.rows)
            case _:
                pass
    return found


def order_free_tables(job: Job, shapes: JobShapes) -> frozenset[str]:
    """Return the tables of a job whose rows are the same whatever the order of the inputs' rows."""
    bound: set[str] = set()
    free: set[str] = {each.name for each in job.inputs if each.kind == "table"}
    for step, source, made in zip(job.steps, shapes.sources, shapes.made, strict=True):
        if isinstance(step, OutputStep) or made is None:
            continue
        reads = set(step.tables) if isinstance(step, UnionStep) else {source or ""}
        if isinstance(step, JoinStep | CompareStep):
            reads.add(step.other)
        hangs = isinstance(step, RunningStep) or (
            isinstance(step, DeduplicateStep) and bool(step.by)
        ) or (isinstance(step, TopStep) and not step.ties)  # fmt: skip
        (bound if hangs or reads & bound else free).add(made)
    return frozenset(free)


def same_faults(one: ResultTable, other: ResultTable) -> tuple[str, ...]:
    """Tell in what two results differ that have the same rows in any order, a text each."""
    if one.columns != other.columns:
        return (f"the columns were {_listed(one.columns)}, and are {_listed(other.columns)}",)
    left = sorted(one.rows, key=_order)
    right = sorted(other.rows, key=_order)
    if len(left) != len(right):
        return (f"there were {len(left)} rows, and are {len(right)}",)
    return tuple(
        f"a row was {_listed(mine)}, and is {_listed(theirs)}"
        for mine, theirs in zip(left, right, strict=True)
        if not all(map(_is_alike, mine, theirs))
    )


def parts_faults(
    whole: ResultTable, parts: Sequence[ResultTable], additive: AdditiveTable
) -> tuple[str, ...]:
    """Tell in what the result of a whole table is not that of its parts, a text each.

    A group or a column that a part has and the whole has not is told, too: a category was missed.

    Args:
        whole: Of the whole.
        parts: Of its parts.
        additive: What adds up.
    """
    if additive.keys is None:
        rows = tuple(row for part in parts for row in part.rows)
        columns = parts[0].columns if parts else whole.columns
        return same_faults(ResultTable(columns, rows), whole)
    mine = _cells(whole, additive)
    theirs: dict[tuple[tuple[str, ...], str], Decimal] = defaultdict(Decimal)
    for part in parts:
        for cell, figure in _cells(part, additive).items():
            theirs[cell] += figure
    return tuple(
        f"{heading} of {_listed(key) or 'all rows'} is {_figure(mine.get((key, heading)))}, and of"
        f" its parts {_figure(theirs.get((key, heading)))}"
        for key, heading in sorted({*mine, *theirs})
        if not _is_sum(mine.get((key, heading)), theirs.get((key, heading)))
    )


def _is_sum(one: Decimal | None, other: Decimal | None) -> bool:
    # Where nothing is filled there is no figure, which adds nothing.
    return math.isclose(float(one or 0), float(other or 0), rel_tol=_NEAR, abs_tol=1e-6)


def _cells(
    result: ResultTable, additive: AdditiveTable
) -> Mapping[tuple[tuple[str, ...], str], Decimal]:
    """Return the figures of a result by their group and heading, empty ones left out."""
    assert additive.keys is not None
    names = {folded(name) for name in additive.keys}
    keys = [place for place, name in enumerate(result.columns) if folded(name) in names]
    found: dict[tuple[tuple[str, ...], str], Decimal] = {}
    for row in result.rows:
        group = tuple(_key(row[place], exact=additive.exact) for place in keys)
        for place, heading in enumerate(result.columns):
            if place not in keys and row[place] is not None:
                found[group, folded(heading)] = Decimal(str(row[place]))
    return found


def _key(value: TableValue, *, exact: bool) -> str:
    text = "" if value is None else str(value)
    return text if exact else folded(text)


def _order(row: Collection[TableValue]) -> tuple[tuple[bool, str], ...]:
    """Return what rows are put into one order by; sums that differ in the last digit are alike."""
    return tuple(
        (value is None, f"{value:.6g}" if isinstance(value, float | Decimal) else str(value))
        for value in row
    )


def _is_alike(one: TableValue, other: TableValue) -> bool:
    numbers = (int, float, Decimal)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return math.isclose(float(one), float(other), rel_tol=_NEAR, abs_tol=1e-9)
    return one == other


def _figure(figure: Decimal | None) -> str:
    return "not there" if figure is None else f"{figure}"


def _listed(values: Collection[TableValue]) -> str:
    return ", ".join("nothing" if value is None else str(value) for value in values)
