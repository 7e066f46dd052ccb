"""Literals of a job: every text, number and date that is written out in it, with its place and use.

value       compared with a column          order      on one side of < or >
year …      compared with a part of a date  date_…     a part that a date is made of
sum         in a calculation                places     decimals of a rounding
length      a number of characters          shift      days or months that are added
joint       between texts                   default    in the place of an empty value
result      a value that is made            count      how many rows of a top
rows        how many an answer tells        limit      of a check
title       a name or heading               file       a name of a file
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal, assert_never

import msgspec

from kbd.formats.records import SheetForm
from kbd.jobs.expressions import parse_expression
from kbd.jobs.records import (
    Check,
    CompareStep,
    ConvertStep,
    DeduplicateStep,
    DeriveStep,
    FillStep,
    FilterStep,
    GroupStep,
    HoldsCheck,
    Job,
    JoinStep,
    KnownValuesCheck,
    PivotStep,
    ReplaceStep,
    ReportStep,
    RowCountCheck,
    RunningStep,
    SelectStep,
    ShareStep,
    SortStep,
    SplitStep,
    Step,
    SumsAgreeCheck,
    TopStep,
    UnionStep,
    UniqueCheck,
    WriteStep,
)
from kbd.jobs.terms import (
    BetweenTerm,
    BinaryTerm,
    CallTerm,
    CaseTerm,
    ColumnTerm,
    EmptyTerm,
    InTerm,
    JunctionTerm,
    LiteralTerm,
    LiteralValue,
    Term,
    UnaryTerm,
    columns_of,
    render,
)

__all__ = ["JobLiteral", "LiteralUse", "job_literals", "step_expressions"]

LiteralUse = Literal[
    "value", "order", "year", "quarter", "month", "week", "day", "weekday", "hour", "date_month",
    "date_day", "sum", "places", "length", "shift", "joint", "default", "result", "count", "rows",
    "limit", "title", "file",
]  # fmt: skip

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_PARTS: Mapping[str, LiteralUse] = {
    "year": "year", "fiscal_year": "year", "quarter": "quarter", "month": "month", "week": "week",
    "day": "day", "weekday": "weekday", "hour": "hour",
}  # fmt: skip
_ARGUMENTS: Mapping[str, tuple[LiteralUse, ...]] = {
    "round": ("sum", "places"), "text": ("result", "places"),
    "left": ("joint", "length"), "right": ("joint", "length"),
    "substring": ("joint", "length", "length"),
    "add_days": ("order", "shift"), "add_months": ("order", "shift"),
    "fiscal_year": ("order", "month"), "replace": ("joint", "joint", "joint"),
    "contains": ("joint", "value"), "starts_with": ("joint", "value"),
    "ends_with": ("joint", "value"), "same": ("value", "value"), "concat": ("joint",),
}  # fmt: skip
"""What the arguments of functions are for; the last one for those behind it, too."""


class JobLiteral(msgspec.Struct, frozen=True):
    """A literal.

    Args:
        place: Where it stands, as the path in the job's document.
        value: Itself.
        use: What it is for.
        columns: The columns that it is compared with.
    """

    place: str
    value: LiteralValue
    use: LiteralUse
    columns: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        """Itself as expressions write it."""
        return render(LiteralTerm(self.value))


def job_literals(job: Job) -> Iterator[JobLiteral]:
    """Yield the literals of a job, those of steps first.

    Those that a field has if nothing is said, known values of checks, and how inputs are read are
    none.

    Raises:
        ValidationFailed: An expression is none.
    """
    for number, step in enumerate(job.steps):
        place = f"steps[{number}]"
        for name, text in step_expressions(step).items():
            yield from _expression_literals(text, f"{place}.{name}")
        yield from _step_literals(step, place)
    for number, check in enumerate(job.checks):
        yield from _check_literals(check, f"checks[{number}]")


def step_expressions(step: Step) -> dict[str, str]:
    """Return the expressions of a step by the paths of their fields."""
    match step:
        case FilterStep():
            return {"where": step.where}
        case DeriveStep():
            return {f"columns.{name}": text for name, text in step.columns.items()}
        case FillStep():
            return {f"values.{name}": text for name, text in step.values.items()}
        case _:
            return {}


def _expression_literals(text: str, place: str) -> Iterator[JobLiteral]:
    for value, use, columns in _walk(parse_expression(text), "result", ()):
        yield JobLiteral(place, value, use, columns)


_Found = Iterator[tuple[LiteralValue, LiteralUse, tuple[str, ...]]]


def _walk(term: Term, use: LiteralUse, columns: tuple[str, ...]) -> _Found:  # noqa: C901 - a case a term
    """Yield the literals of a term, which itself is of some use."""
    match term:
        case LiteralTerm():
            yield term.value, use, columns
        case ColumnTerm():
            pass
        case UnaryTerm() | EmptyTerm():
            yield from _walk(term.operand, use, columns)
        case BinaryTerm():
            yield from _binary(term)
        case JunctionTerm():
            for operand in term.operands:
                yield from _walk(operand, "result", ())
        case InTerm():
            yield from _walk(term.operand, "result", ())
            for choice in term.choices:
                yield from _walk(choice, *_against(term.operand, "value"))
        case BetweenTerm():
            yield from _walk(term.operand, "result", ())
            for side in (term.low, term.high):
                yield from _walk(side, *_against(term.operand, "order"))
        case CaseTerm():
            for test, value in term.branches:
                yield from _walk(test, "result", ())
                yield from _walk(value, use, columns)
            if term.otherwise is not None:
                yield from _walk(term.otherwise, use, columns)
        case CallTerm():
            yield from _call(term, use, columns)
        case _:
            assert_never(term)


def _binary(term: BinaryTerm) -> _Found:
    if term.operator in _COMPARISONS:
        use: LiteralUse = "value" if term.operator in ("=", "<>") else "order"
        yield from _walk(term.left, *_against(term.right, use))
        yield from _walk(term.right, *_against(term.left, use))
        return
    use = "joint" if term.operator == "||" else "sum"
    yield from _walk(term.left, use, ())
    yield from _walk(term.right, use, ())


def _against(other: Term, use: LiteralUse) -> tuple[LiteralUse, tuple[str, ...]]:
    """Return what a literal is for that is compared with a term, and that one's columns."""
    if isinstance(other, CallTerm):
        use = _PARTS.get(other.function, use)
    return use, columns_of(other)


def _call(term: CallTerm, use: LiteralUse, columns: tuple[str, ...]) -> _Found:
    arguments = term.arguments
    match term.function:
        case "if":
            yield from _walk(arguments[0], "result", ())
            for value in arguments[1:]:
                yield from _walk(value, use, columns)
        case "coalesce":
            yield from _walk(arguments[0], use, columns)
            for value in arguments[1:]:
                yield from _walk(value, "default", columns)
        case "date_of" if len(arguments) > 1:
            parts: tuple[LiteralUse, ...] = ("year", "date_month", "date_day")
            for value, part in zip(arguments, parts, strict=False):
                yield from _walk(value, part, ())
        case "min_of" | "max_of":
            for value in arguments:
                yield from _walk(value, "order", columns_of(term))
        case _:
            uses = _ARGUMENTS.get(term.function, (use,))
            for place, value in enumerate(arguments):
                named = uses[min(place, len(uses) - 1)]
                yield from _walk(value, named, columns_of(term) if named == "value" else columns)


def _step_literals(step: Step, place: str) -> Iterator[JobLiteral]:  # noqa: C901 - a case a step
    """Yield what steps write out beside expressions."""
    match step:
        case TopStep():
            yield JobLiteral(f"{place}.count", step.count, "count")
        case DeriveStep():
            yield from _titles(place, {f"columns.{name}": name for name in step.columns})
        case SelectStep():
            yield from _titles(place, {f"rename.{old}": new for old, new in step.rename.items()})
        case GroupStep():
            named = {f"figures[{n}].name": each.name for n, each in enumerate(step.figures)}
            yield from _titles(place, named)
        case PivotStep():
            yield from _titles(place, {"total": step.total or ""})
        case ShareStep() | RunningStep():
            yield from _titles(place, {"name": step.name})
        case UnionStep():
            yield from _titles(place, {"origin": step.origin or ""})
        case WriteStep():
            yield JobLiteral(f"{place}.file", step.file, "file")
            yield from _titles(place, {"sheet": step.sheet or "", **_form_titles(step.form)})
        case SplitStep():
            yield JobLiteral(f"{place}.file", step.file, "file")
            empty = "" if step.empty == SplitStep("-", "-").empty else step.empty
            titles = {"sheet": step.sheet, "empty": empty, **_form_titles(step.form)}
            yield from _titles(place, titles)
        case FillStep() | ConvertStep():
            yield JobLiteral(f"{place}.file", step.file, "file")
        case ReplaceStep():
            yield JobLiteral(f"{place}.search", step.search, "value")
            yield JobLiteral(f"{place}.replacement", step.replacement, "value")
            if step.file is not None:
                yield JobLiteral(f"{place}.file", step.file, "file")
        case ReportStep():
            yield from _titles(place, {"text": step.text})
            if step.rows != ReportStep().rows:
                yield JobLiteral(f"{place}.rows", step.rows, "rows")
        case FilterStep() | SortStep() | JoinStep() | DeduplicateStep() | CompareStep():
            pass
        case _:
            assert_never(step)


def _titles(place: str, named: Mapping[str, str]) -> Iterator[JobLiteral]:
    for path, text in named.items():
        if text:
            yield JobLiteral(f"{place}.{path}", text, "title")


def _form_titles(form: SheetForm) -> dict[str, str]:
    label = "" if form.totals_label == SheetForm().totals_label else form.totals_label
    chart = "" if form.chart is None else form.chart.title
    # What a number format shows as it stands is in quotes.
    formats = {
        f"form.formats.{name}": " ".join(re.findall(r'"([^"]*)"', code))
        for name, code in form.formats.items()
    }
    titles = {"form.title": form.title, "form.totals_label": label, "form.chart.title": chart}
    return {**titles, **formats}


def _check_literals(check: Check, place: str) -> Iterator[JobLiteral]:
    match check:
        case SumsAgreeCheck():
            if check.tolerance:
                yield JobLiteral(f"{place}.tolerance", Decimal(str(check.tolerance)), "limit")
        case RowCountCheck():
            if check.minimum > 1:
                yield JobLiteral(f"{place}.minimum", check.minimum, "limit")
            if check.maximum is not None:
                yield JobLiteral(f"{place}.maximum", check.maximum, "limit")
        case HoldsCheck():
            yield from _expression_literals(check.condition, f"{place}.condition")
            yield from _titles(place, {"text": check.text})
        case UniqueCheck() | KnownValuesCheck():
            pass
        case _:
            assert_never(check)
