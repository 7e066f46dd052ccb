"""Columns that a job names: those of its inputs, and those that only a value of the data called so.

A pivot makes a column of each value. A step behind it that names one names a value.
"""

from collections.abc import Iterator, Mapping
from typing import assert_never

import msgspec

from kbd.formats.records import SheetForm
from kbd.jobs.columns import ShapeColumn, column_named, folded
from kbd.jobs.expressions import parse_expression
from kbd.jobs.output_shapes import REPORTED
from kbd.jobs.recipes.literals import JobLiteral, step_expressions
from kbd.jobs.records import (
    Check,
    CompareStep,
    DeduplicateStep,
    DeriveStep,
    FillStep,
    GroupStep,
    HoldsCheck,
    Job,
    JoinStep,
    KnownValuesCheck,
    OutputStep,
    PivotStep,
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
from kbd.jobs.shapes import GivenTable, JobShapes, shapes_of, tables_read
from kbd.jobs.terms import BinaryTerm, CallTerm, Term, children_of, columns_of

__all__ = ["ColumnUse", "InputColumn", "column_doubts", "column_use"]


class InputColumn(msgspec.Struct, frozen=True):
    """A column of an input."""

    input: str
    column: ShapeColumn


class ColumnUse(msgspec.Struct, frozen=True):
    """Which columns a job names.

    Args:
        used: Those of inputs, each once, in the order in which they are named.
        categories: Those of them whose values part the rows: of groups, pivots and splits.
        sums: Those of them of which one step makes figures, or that one expression adds.
        keys: Those of them by which rows are told apart or find a partner.
        values: Names that are no column but of a value of the data.
        names: Names of sheets that are called like their table.
    """

    used: tuple[InputColumn, ...]
    categories: tuple[InputColumn, ...]
    sums: tuple[frozenset[InputColumn], ...]
    keys: tuple[InputColumn, ...]
    values: tuple[JobLiteral, ...]
    names: tuple[JobLiteral, ...]


def column_use(job: Job, given: Mapping[str, GivenTable]) -> ColumnUse:
    """Return the columns that a job names.

    Args:
        job: The job.
        given: The tables of its inputs by name.

    Raises:
        ValidationFailed: A step cannot work.
    """
    use = _Use(job, shapes_of(job, given), given)
    for number, step in enumerate(job.steps):
        use.add(number, step)
    for number, check in enumerate(job.checks):
        for path, table, name in _check_columns(check):
            origins = use.name(table, f"checks[{number}].{path}", name)
            if isinstance(check, UniqueCheck):
                use.keys.update(dict.fromkeys(origins))
    return ColumnUse(
        tuple(use.used), tuple(use.categories), tuple(use.sums), tuple(use.keys),
        tuple(use.values), tuple(use.names),
    )  # fmt: skip


def column_doubts(job: Job, given: Mapping[str, GivenTable]) -> tuple[str, ...]:
    """Return why figures of a job are doubtful, of the inputs that refuse such, a text each.

    A table whose rows are doubtful is where a step reads it. A value is where a step names its
    column, or a result shows it; one that may be shown is where a step names its column, and not
    the one that tells the values apart.

    Args:
        job: The job.
        given: The tables of its inputs by name.

    Raises:
        ValidationFailed: A step cannot work.
    """
    asked = {
        each.name: given[each.name].doubts
        for each in job.inputs
        if each.doubts == "refuse" and each.name in given
    }
    if not any(asked.values()):
        return ()
    use, shapes = column_use(job, given), shapes_of(job, given)
    named = {(each.input, folded(each.column.name)) for each in use.used}
    shown = {
        folded(column.name)
        for step, source in zip(job.steps, shapes.sources, strict=True)
        if isinstance(step, OutputStep) and source is not None
        for column in shapes.tables[source].columns
    }
    read = tables_read(job, shapes)
    found = []
    for name, doubts in asked.items():
        for doubt in doubts:
            if not doubt.column:
                found += [f"{name}: {doubt.text}"] if name in read else []
                continue
            place = (name, folded(doubt.column))
            is_shown = folded(doubt.column) in shown and not doubt.is_of_figures
            is_known = (name, folded(doubt.by)) in named
            if (place in named or is_shown) and not is_known:
                found.append(f'column "{doubt.column}" of {name}: {doubt.text}')
    return tuple(found)


_Origins = dict[str, tuple[InputColumn, ...]]
"""Columns of a table by their folded names, each with the inputs' columns that it is made of."""


class _Use:
    """Columns while the steps of a job are gone through."""

    def __init__(self, job: Job, shapes: JobShapes, given: Mapping[str, GivenTable]) -> None:
        self.used: dict[InputColumn, None] = {}
        self.categories: dict[InputColumn, None] = {}
        self.sums: list[frozenset[InputColumn]] = []
        self.keys: dict[InputColumn, None] = {}
        self.values: list[JobLiteral] = []
        self.names: list[JobLiteral] = []
        self._job = job
        self._shapes = shapes
        self._pivoted: dict[str, tuple[str, ...]] = {}
        self._origins: dict[str, _Origins] = {
            name: {folded(each.name): (InputColumn(name, each),) for each in table.columns}
            for name, table in given.items()
        }

    def name(self, table: str, place: str, name: str) -> tuple[InputColumn, ...]:
        """Take in that a column of a table is named; return which of the inputs it is."""
        if column_named(name, self._shapes.tables[table].columns) is None:
            if self._shapes.tables[table].is_open:
                columns = self._pivoted.get(table, ())
                self.values.append(JobLiteral(place, name, "value", columns))
            return ()
        origins = self._origins[table].get(folded(name), ())
        self.used.update(dict.fromkeys(origins))
        return origins

    def add(self, number: int, step: Step) -> None:
        """Take in a step."""
        source, made = self._shapes.sources[number], self._shapes.made[number]
        place = f"steps[{number}]"
        summed: dict[InputColumn, None] = {}
        for path, table, name in _step_columns(step, source):
            origins = dict.fromkeys(self.name(table, f"{place}.{path}", name))
            if path.partition("[")[0] in _CATEGORY_FIELDS.get(type(step), ()):
                self.categories.update(origins)
            if path.startswith(("figure", "form.totals")):
                summed.update(origins)
            if path.startswith(("on", "by")) and isinstance(step, _KEYED):
                self.keys.update(origins)
        if summed:
            self.sums.append(frozenset(summed))
        if source is not None:
            self._expressions(step, source, place)
        if isinstance(step, WriteStep) and step.sheet is None and " " not in (source or " "):
            # The sheet is called like the table.
            self.names.append(JobLiteral(f"{place}.sheet", source, "title"))
        if made is not None and not isinstance(step, OutputStep):
            self._origins[made] = self._made(step, source)
            reads = step.tables if isinstance(step, UnionStep) else (source or "",)
            before = [column for name in reads for column in self._pivoted.get(name, ())]
            if isinstance(step, PivotStep):
                before.append(step.column)
            if isinstance(step, JoinStep):
                before += self._pivoted.get(step.other, ())
            self._pivoted[made] = tuple(before)

    def _expressions(self, step: Step, source: str, place: str) -> None:
        derived: set[str] = set()
        for path, text in step_expressions(step).items():
            term = parse_expression(text)
            origins = [
                origin
                for name in columns_of(term)
                # A later column of a step may be made of an earlier one.
                if folded(name) not in derived
                for origin in self.name(source, f"{place}.{path}", name)
            ]
            if _adds(term):
                self.sums.append(frozenset(origins))
            if isinstance(step, DeriveStep):
                derived.add(folded(path.removeprefix("columns.")))

    def _made(self, step: Step, source: str | None) -> _Origins:
        """Return the origins of the columns that a step makes."""
        if isinstance(step, UnionStep):
            united: _Origins = {}
            for table in step.tables:
                for key, origins in self._origins[table].items():
                    united[key] = (*united.get(key, ()), *origins)
            return united
        assert source is not None
        before = self._origins[source]
        match step:
            case SelectStep():
                renamed = {folded(old): folded(new) for old, new in step.rename.items()}
                gone = {folded(name) for name in step.without}
                kept = {folded(name) for name in step.columns} or before.keys() - gone
                return {renamed.get(key, key): each for key, each in before.items() if key in kept}
            case DeriveStep():
                new = {folded(name) for name in step.columns}
                return {key: each for key, each in before.items() if key not in new}
            case GroupStep():
                return _some(before, step.by)
            case PivotStep():
                return _some(before, step.rows)
            case CompareStep():
                return _some(before, step.on)
            case JoinStep() if step.kind != "missing":
                others = self._origins[step.other]
                keys = {folded(name) for name in step.on.values()}
                added = {folded(name) for name in step.columns} or others.keys() - keys
                return {**{key: others[key] for key in added if key in others}, **before}
            case _:
                return dict(before)


_CATEGORY_FIELDS: Mapping[type[Step], tuple[str, ...]] = {
    GroupStep: ("by",), PivotStep: ("rows", "column"), SplitStep: ("by",),
}  # fmt: skip


def _adds(term: Term) -> bool:
    """Tell whether a term adds, or takes the least or greatest of values."""
    is_sum = isinstance(term, BinaryTerm) and term.operator == "+"
    is_choice = isinstance(term, CallTerm) and term.function in ("min_of", "max_of", "coalesce")
    return is_sum or is_choice or any(map(_adds, children_of(term)))


_KEYED = (JoinStep, DeduplicateStep, CompareStep)


def _some(origins: _Origins, names: tuple[str, ...]) -> _Origins:
    keys = [folded(name) for name in names]
    return {key: origins[key] for key in keys if key in origins}


_Named = Iterator[tuple[str, str, str]]
"""Path of a field, a table, and a name of its columns."""


def _step_columns(step: Step, source: str | None) -> _Named:
    """Yield the columns that a step names outside of expressions."""
    if source is None:
        return
    for path, name in _own_columns(step):
        yield path, source, name
    if isinstance(step, JoinStep):
        for mine, theirs in step.on.items():
            yield f"on.{mine}", step.other, theirs
        for place, name in enumerate(step.columns):
            yield f"columns[{place}]", step.other, name
    if isinstance(step, CompareStep):
        for place, name in enumerate((*step.on, *step.columns)):
            yield f"on[{place}]", step.other, name


def _own_columns(step: Step) -> Iterator[tuple[str, str]]:  # noqa: C901 - a case a step
    """Yield the columns that a step names of the table that it reads."""
    match step:
        case SortStep() | TopStep() | RunningStep():
            for place, key in enumerate(step.by):
                yield f"by[{place}].column", key.column
            rest = step.per if isinstance(step, TopStep) else ()
            rest = (*step.within, step.column) if isinstance(step, RunningStep) else rest
            yield from (("per", name) for name in rest)
        case SelectStep():
            for place, name in enumerate((*step.columns, *step.without, *step.rename)):
                yield f"columns[{place}]", name
        case GroupStep():
            for place, name in enumerate(step.by):
                yield f"by[{place}]", name
            for place, figure in enumerate(step.figures):
                if figure.column is not None:
                    yield f"figures[{place}].column", figure.column
        case PivotStep():
            for place, name in enumerate(step.rows):
                yield f"rows[{place}]", name
            yield "column", step.column
            if step.figure.column is not None:
                yield "figure.column", step.figure.column
        case JoinStep():
            yield from (("on", name) for name in step.on)
        case DeduplicateStep():
            yield from ((f"by[{place}]", name) for place, name in enumerate(step.by))
        case ShareStep():
            yield from (("column", name) for name in (step.column, *step.within))
        case CompareStep():
            yield from (("on", name) for name in (*step.on, *step.columns))
        case WriteStep():
            yield from _form_columns(step.form)
        case SplitStep():
            yield "by", step.by
            yield from _form_columns(step.form)
        case FillStep():
            if step.each is not None:
                yield "each", step.each
        case ReportStep():
            yield from (("text", name) for name in REPORTED.findall(step.text))
        case _:
            pass


def _form_columns(form: SheetForm) -> Iterator[tuple[str, str]]:
    for field, names in (
        ("totals", form.totals),
        ("formats", form.formats),
        ("widths", form.widths),
    ):
        yield from ((f"form.{field}.{name}", name) for name in names)
    if form.chart is not None:
        for name in (form.chart.category, *form.chart.values):
            yield "form.chart", name


def _check_columns(check: Check) -> _Named:
    match check:
        case SumsAgreeCheck():
            yield "column", check.table, check.column
            yield "other_column", check.other_table, check.other_column
        case HoldsCheck():
            for name in columns_of(parse_expression(check.condition)):
                yield "condition", check.table, name
        case UniqueCheck():
            yield from (("columns", check.table, name) for name in check.columns)
        case KnownValuesCheck():
            yield "column", check.table, check.column
        case RowCountCheck():
            pass
        case _:
            assert_never(check)
