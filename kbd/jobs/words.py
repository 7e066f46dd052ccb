"""Words of a job: what it does, in plain English, for people to agree to before it runs.

Everything that decides about a row or a figure is said: each condition, order, key, name, and what
happens to rows without a value or a partner.

    Of sales.csv, keep rows where Status is neither empty nor cancelled, total Amount by Region as
    Revenue, sort by Revenue, largest first, and write sales-revenue-by-region.xlsx.
"""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from kbd.figures import counted
from kbd.jobs.columns import folded
from kbd.jobs.expression_words import condition_words, listed, value_words
from kbd.jobs.output_words import output_words
from kbd.jobs.records import (
    Check,
    CompareStep,
    ConvertStep,
    DeduplicateStep,
    DeriveStep,
    Figure,
    FilterStep,
    GroupStep,
    HoldsCheck,
    Input,
    Job,
    JoinStep,
    KnownValuesCheck,
    OutputStep,
    PivotStep,
    ReplaceStep,
    RowCountCheck,
    RunningStep,
    SelectStep,
    ShareStep,
    SortKey,
    SortStep,
    Step,
    SumsAgreeCheck,
    TopStep,
    UnionStep,
    UniqueCheck,
)

__all__ = ["check_lines", "input_lines", "job_sentence", "step_lines"]


def job_sentence(job: Job) -> str:
    """Return a job as one sentence.

    Raises:
        ValidationFailed: A condition is no expression.
    """
    lines = step_lines(job)
    checks = check_lines(job)
    sources = listed([_source_words(each) for each in job.inputs])
    said = f"Of {sources}, {lines[0]}"
    if len(lines) > 1:
        said = f"Of {sources}, {', '.join(lines[:-1])}, and {lines[-1]}"
    if checks:
        said += f"; it stops unless {listed(checks)}"
    if job.assumptions:
        said += f"; taken for granted: {'; '.join(job.assumptions)}"
    return f"{said}."


def _source_words(each: Input) -> str:
    return each.file if each.sheet is None else f"sheet {each.sheet} of {each.file}"


def input_lines(job: Job) -> tuple[str, ...]:
    """Return a line for each input: its file, what it is called, and how it is read."""
    lines = []
    for each in job.inputs:
        line = f"{each.name}: {_source_words(each)}"
        if each.kind == "file":
            line += ", as a whole"
        if each.columns:
            line += f", with {listed([f'{name} ({kind})' for name, kind in each.columns.items()])}"
        if not each.others:
            line += " and no other columns"
        if each.doubts == "refuse":
            line += "; what makes its figures doubtful stops it"
        said = [
            f"{field.replace('_', ' ')} {value}"
            for field, value in msgspec.structs.asdict(each.read_as).items()
            if value is not None
        ]
        lines.append(f"{line}; read with {listed(said)}" if said else line)
    return tuple(lines)


def step_lines(job: Job) -> tuple[str, ...]:
    """Return a line for each step.

    Raises:
        ValidationFailed: A condition is no expression.
    """
    lines: list[str] = []
    last = next((each.name for each in job.inputs if each.kind == "table"), None)
    figures: set[str] = set()
    for step in job.steps:
        of = None if isinstance(step, UnionStep | ReplaceStep | ConvertStep) else step.of
        line = _step_words(step, figures)
        if of is not None and of != last:
            line = f"of {of}, {line}"
        if not isinstance(step, OutputStep):
            last = step.make
            if step.make is not None:
                line += f" (called {step.make})"
        lines.append(line)
    return tuple(lines)


def _step_words(step: Step, numbers: set[str]) -> str:  # noqa: C901 - a case a step
    """Return a step in words.

    Args:
        step: The step.
        numbers: The columns that are numbers by what made them, folded; it may gain some.
    """
    match step:
        case FilterStep():
            return f"keep rows where {condition_words(step.where)}"
        case SortStep():
            return f"sort {_order_words(step.by, numbers)}"
        case SelectStep():
            return _selected(step)
        case DeriveStep():
            parts = [f"{name} as {value_words(value)}" for name, value in step.columns.items()]
            return f"work out {listed(parts)}"
        case GroupStep():
            numbers.update(folded(figure.name) for figure in step.figures if _is_number(figure))
            figures = listed([_figure_words(figure) for figure in step.figures])
            return f"{figures}{_by(step.by, 'by')}{_exact(exact=step.exact)}"
        case PivotStep():
            total = "" if step.total is None else f", and {step.total} over all of them"
            figure = _figure_words(step.figure, is_named=False)
            return f"{figure}{_by(step.rows, 'by')}, with a column for each {step.column}{total}"
        case JoinStep():
            return _joined(step)
        case UnionStep():
            return _united(step)
        case DeduplicateStep():
            if not step.by:
                alike = f"alike in all columns{_exact(exact=step.exact)}"
                return f"keep the {step.keep} of the rows that are {alike}"
            rest = f"; rows without {listed(step.by, 'or')} all stay"
            exact = _exact(exact=step.exact)
            return f"keep the {step.keep} row of each {listed(step.by)}{exact}{rest}"
        case TopStep():
            rows = "row" if step.count == 1 else f"{step.count} rows"
            ties = ", and those that are alike with the last one" if step.ties else ""
            per = _by(step.per, "of each")
            return f"keep the first {rows}{per} {_order_words(step.by, numbers)}{ties}"
        case ShareStep():
            numbers.add(folded(step.name))
            within = _by(step.within, "within each")
            return f"work out {step.name} as the share of each row in all {step.column}{within}"
        case RunningStep():
            numbers.add(folded(step.name))
            within = _by(step.within, "within each")
            order = _order_words(step.by, numbers)
            return f"work out {step.name} as the running total of {step.column}{within} {order}"
        case CompareStep():
            what = listed(step.columns) if step.columns else "any column that both have"
            return (
                f"list what was added, removed or changed against {step.other} by"
                f" {listed(step.on)}, comparing {what}"
            )
        case _:
            return output_words(step)


def _is_number(figure: Figure) -> bool:
    return figure.function not in ("minimum", "maximum")


def _by(names: Sequence[str], word: str) -> str:
    return f" {word} {listed(names)}" if names else ""


def _exact(*, exact: bool) -> str:
    return ", capitals counting" if exact else ""


def _order_words(keys: Sequence[SortKey], numbers: set[str]) -> str:
    parts = []
    for key in keys:
        word = "largest first" if folded(key.column) in numbers else "in descending order"
        parts.append(f"{key.column}, {word}" if key.descending else key.column)
    return f"by {', then '.join(parts)}"


def _figure_words(figure: Figure, *, is_named: bool = True) -> str:
    column = figure.column
    match figure.function:
        case "count":
            words = "count rows" if column is None else f"count rows with {column}"
        case "distinct":
            words = f"count different {column}"
        case "sum":
            words = f"total {column}"
        case "average":
            words = f"average {column}"
        case "median":
            words = f"take the median of {column}"
        case "minimum":
            words = f"take the least {column}"
        case "maximum":
            words = f"take the greatest {column}"
        case _:
            assert_never(figure.function)
    is_plain = column is not None and folded(figure.name) == folded(column)
    return words if is_plain or not is_named else f"{words} as {figure.name}"


def _selected(step: SelectStep) -> str:
    parts = []
    if step.columns:
        parts.append(f"keep the {_column_words(step.columns)}")
    if step.without:
        parts.append(f"leave out the {_column_words(step.without)}")
    if step.rename:
        renamed = [f"{old} as {new}" for old, new in step.rename.items()]
        parts.append(f"name {listed(renamed)}")
    return listed(parts) or "keep all columns"


def _column_words(names: Sequence[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {listed(names)}"


def _joined(step: JoinStep) -> str:
    keys = listed([
        mine if folded(mine) == folded(theirs) else f"{mine} (there {theirs})"
        for mine, theirs in step.on.items()
    ])  # fmt: skip
    if step.kind == "missing":
        return f"keep rows that have no partner in {step.other} by {keys}"
    what = listed(step.columns) if step.columns else "all columns"
    match step.kind:
        case "left":
            rest = "rows without a partner stay"
        case "inner":
            rest = "rows without a partner are left out"
        case "full":
            rest = f"rows without a partner stay, those of {step.other} too"
        case _:
            assert_never(step.kind)
    many = ", and rows with several are repeated" if step.many else ""
    return f"add {what} of {step.other} by {keys} ({rest}{many})"


def _united(step: UnionStep) -> str:
    line = f"put {listed(step.tables)} below each other"
    if step.origin is not None:
        line += f", with the file of each row as {step.origin}"
    return f"{line}, empty where one lacks a column" if step.missing == "empty" else line


def check_lines(job: Job) -> tuple[str, ...]:
    """Return a line for each check that the job says.

    Raises:
        ValidationFailed: A condition is no expression.
    """
    return tuple(map(_check_words, job.checks))


def _check_words(check: Check) -> str:
    match check:
        case UniqueCheck():
            return f"no two rows of {check.table} have the same {listed(check.columns)}"
        case KnownValuesCheck():
            values = listed(check.values, "or") if check.values else "empty"
            end = " (others are only told)" if check.otherwise == "tell" else ""
            return f"each {check.column} of {check.table} is {values}{end}"
        case SumsAgreeCheck():
            line = (
                f"the sums of {check.column} of {check.table} and of {check.other_column} of"
                f" {check.other_table} agree"
            )
            return f"{line} up to {check.tolerance:.15g}" if check.tolerance else line
        case RowCountCheck():
            if check.same_as is not None:
                return f"{check.table} has as many rows as {check.same_as}"
            most = "" if check.maximum is None else f" and at most {check.maximum}"
            return f"{check.table} has at least {counted(check.minimum, 'row')}{most}"
        case HoldsCheck():
            words = condition_words(check.condition)
            return f"in each row of {check.table} {words}" + (
                f" ({check.text})" if check.text else ""
            )
        case _:
            assert_never(check)
