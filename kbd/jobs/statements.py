"""Statements of a job: its table steps compiled to SQL of DuckDB, one SELECT for whatever is asked.

Each input is a table under its name, each step a CTE. A pivot's columns are the values of a column,
so it takes two turns: as long as `wanted` names queries, their answers are given to the next one.

    turn = compile_job(job, given, today)
    while turn.wanted:
        pivots |= {want.step: pivot_values(rows of want.sql) for want in turn.wanted}
        turn = compile_job(job, given, today, pivots)
    turn.rows("step 3")
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.columns import ShapeType, free_name
from kbd.jobs.expression_sql import TypedSql, expression_sql
from kbd.jobs.figure_sql import part_condition, values_sql
from kbd.jobs.records import (
    CompareStep,
    FillStep,
    Job,
    JoinStep,
    OutputStep,
    PivotStep,
    SplitStep,
    TableStep,
    UnionStep,
)
from kbd.jobs.shapes import GivenTable, JobShapes, shapes_of
from kbd.jobs.sql_text import identifier
from kbd.jobs.step_shapes import PivotValues, TableShape, found_column
from kbd.jobs.step_sql import SqlTable, StepContext, step_sql

__all__ = [
    "MAX_PIVOT_VALUES",
    "CompiledJob",
    "SplitValue",
    "WantedValues",
    "compile_job",
    "pivot_values",
    "split_values",
    "valueless_sql",
]

MAX_PIVOT_VALUES = 200
"""Of a pivot's column: a table of more columns is read by nobody."""

_MAX_VALUE_CHARACTERS = 1_000
"""Of a value that names a column, a sheet or a file."""


class WantedValues(msgspec.Struct, frozen=True):
    """Query for the values of a pivot's column.

    Args:
        step: The pivot's number.
        column: The column.
        sql: The query: each value as text, and its number of rows.
    """

    step: int
    column: str
    sql: str


class SplitValue(msgspec.Struct, frozen=True):
    """Value by which rows are split, as text; None for rows without one. And how many they are."""

    value: str | None
    rows: int


class CompiledJob(msgspec.Struct, frozen=True):
    """A job as SQL.

    Args:
        job: The job.
        shapes: Its tables.
        relations: What SQL calls each table; a table behind a pivot whose values are wanted is
            not there.
        ctes: The SELECT of each table in SQL, in order.
        order: The hidden column of places, quoted.
        hidden: One more name that no column has, quoted.
        today: The day of `today()`.
        pivots: The values of pivots' columns by the step's number.
        wanted: Queries for values that are needed to compile the rest.
    """

    job: Job
    shapes: JobShapes
    relations: Mapping[str, SqlTable]
    ctes: Mapping[str, "CommonTable"]
    order: str
    hidden: str
    today: date
    pivots: Mapping[int, PivotValues]
    wanted: tuple[WantedValues, ...] = ()

    def rows(self, table: str, *, for_sheet: bool = False) -> str:
        """Return the query for a table's rows, in their order.

        Args:
            table: Its name; of a step without `make` see `shapes.made`.
            for_sheet: Whether fractions are given as a sheet's numbers are; else they keep the
                decimals that they came with.
        """
        relation = self.relations[table]
        shown = _shown(relation.shape, for_sheet=for_sheet)
        return self.statement(
            f"SELECT {shown} FROM {relation.name} ORDER BY {self.order}", [relation.name]
        )

    def values(self, step: int) -> str:
        """Return the query for the values by which a split step splits, each with its rows."""
        split, relation = self._split(step)
        column = found_column(relation.shape, split.by)
        return self.statement(values_sql(column, relation.name, exact=split.exact), [relation.name])

    def part(self, step: int, value: str | None, *, for_sheet: bool = False) -> str:
        """Return the query for the rows of one value of a split step, in their order.

        Args:
            step: Its number.
            value: The value, as `values` tells it; None for rows without one.
            for_sheet: As of `rows`.
        """
        split, relation = self._split(step)
        column = found_column(relation.shape, split.by)
        kept = tuple(each for each in relation.shape.columns if split.keep_column or each != column)
        condition = part_condition(column, value, exact=split.exact)
        return self.statement(
            f"SELECT {_shown(TableShape(kept), for_sheet=for_sheet)} FROM {relation.name}"
            f" WHERE {condition} ORDER BY {self.order}",
            [relation.name],
        )

    def filled_types(self, step: int) -> tuple[ShapeType, ...]:
        """Return the types of the values of a fill step, in their order."""
        fill, source = self.job.steps[step - 1], self.shapes.sources[step - 1]
        assert isinstance(fill, FillStep)
        if source is None:
            return ()
        return tuple(each.type for each in self._filled_values(fill, source))

    def _filled_values(self, fill: FillStep, source: str) -> list[TypedSql]:
        columns = self.relations[source].shape.columns
        return [expression_sql(text, columns, self.today) for text in fill.values.values()]

    def filled(self, step: int) -> str | None:
        """Return the query for the texts of a fill step: a row for each file, in their order.

        Its columns are the step's values, then the one that names each file, if one does; None
        where the step reads nothing of a table.
        """
        fill, source = self.job.steps[step - 1], self.shapes.sources[step - 1]
        assert isinstance(fill, FillStep)
        if source is None or not (fill.values or fill.each):
            return None
        relation = self.relations[source]
        shown = [each.sql for each in self._filled_values(fill, source)]
        if fill.each is not None:
            shown.append(identifier(found_column(relation.shape, fill.each).name))
        named = ", ".join(f"{sql} AS {identifier(str(n))}" for n, sql in enumerate(shown))
        return self.statement(
            f"SELECT {named} FROM {relation.name} ORDER BY {self.order}", [relation.name]
        )

    def _split(self, step: int) -> tuple[SplitStep, SqlTable]:
        split, source = self.job.steps[step - 1], self.shapes.sources[step - 1]
        assert isinstance(split, SplitStep)
        assert source is not None
        return split, self.relations[source]

    def context(self, step: int) -> StepContext:
        """Return what the SQL of a step hangs on."""
        return StepContext(
            self.order, self.hidden, self.today, self.relations, self.pivots.get(step, ())
        )

    def statement(self, select: str, names: Sequence[str]) -> str:
        """Return a query with the CTEs that it needs before it.

        Args:
            select: The query.
            names: The tables that it reads, as `relations` names them.
        """
        return _with_ctes(self.ctes, select, names)


class CommonTable(msgspec.Struct, frozen=True):
    """The SELECT of a table, and the tables that it reads, in SQL's names."""

    sql: str
    reads: tuple[str, ...]


def compile_job(
    job: Job,
    given: Mapping[str, GivenTable],
    today: date,
    pivots: Mapping[int, PivotValues] | None = None,
) -> CompiledJob:
    """Compile the table steps of a job.

    Args:
        job: The job.
        given: The tables of its inputs, by name.
        today: The day of `today()`.
        pivots: The values of pivots' columns by the step's number, as far as they are known.

    Raises:
        ValidationFailed: A step cannot work.
    """
    known = pivots or {}
    shapes = shapes_of(job, given, known)
    names = {column.name for shape in shapes.tables.values() for column in shape.columns}
    order = identifier(free_name("row of the file", names))
    part = identifier(free_name("part of the step", names))
    relations: dict[str, SqlTable] = {}
    ctes: dict[str, CommonTable] = {}
    for each in job.inputs:
        if each.kind == "table":
            shape = shapes.tables[each.name]
            relation = SqlTable(identifier(f"{each.name}, rows"), shape, shapes.files[each.name])
            relations[each.name] = relation
            ctes[relation.name] = CommonTable(
                f"SELECT {_read_sql(given[each.name])}, row_number() OVER () AS {order}"
                f" FROM {identifier(each.name)}{_with_a_value(shape)}",
                (),
            )
    wanted: list[WantedValues] = []
    for number, step in enumerate(job.steps, 1):
        made = shapes.made[number - 1]
        if isinstance(step, OutputStep) or made is None:
            continue
        reads = _reads(step, shapes.sources[number - 1])
        if any(name not in relations for name in reads):
            continue
        source = relations[reads[0]]
        if isinstance(step, PivotStep) and number not in known:
            column = found_column(source.shape, step.column)
            query = values_sql(column, source.name, limit=MAX_PIVOT_VALUES + 1)
            wanted.append(WantedValues(number, column.name, _with_ctes(ctes, query, [source.name])))
            continue
        context = StepContext(order, part, today, relations, known.get(number, ()))
        sql = step_sql(step, source, shapes.tables[made], context)
        relations[made] = SqlTable(identifier(made), shapes.tables[made], shapes.files[made])
        ctes[identifier(made)] = CommonTable(sql, tuple(relations[name].name for name in reads))
    return CompiledJob(job, shapes, relations, ctes, order, part, today, known, tuple(wanted))


_BLANK_TYPES: dict[ShapeType, str] = {
    "integer": "BIGINT",
    "float": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}


def _read_sql(given: GivenTable) -> str:
    """Return the columns of an input; one without a value has the type that is due."""
    return ", ".join(
        f"CAST(NULL AS {_BLANK_TYPES[column.type]}) AS {identifier(column.name)}"
        if column.name in given.blank and column.type in _BLANK_TYPES
        else identifier(column.name)
        for column in given.columns
    )


def valueless_sql(shape: TableShape) -> str | None:
    """Return the condition of rows without any value, which a job leaves out; None for none.

    Programs write such rows below a table and between its rows. In a table of one column an empty
    field is a value that is missing.
    """
    if len(shape.columns) < 2:
        return None
    return " AND ".join(f"{identifier(column.name)} IS NULL" for column in shape.columns)


def _with_a_value(shape: TableShape) -> str:
    valueless = valueless_sql(shape)
    return "" if valueless is None else f" WHERE NOT ({valueless})"


def _reads(step: TableStep, source: str | None) -> tuple[str, ...]:
    """Return the tables that a table step reads, by the job's names."""
    if isinstance(step, UnionStep):
        return step.tables
    assert source is not None
    return (source, step.other) if isinstance(step, JoinStep | CompareStep) else (source,)


def _with_ctes(ctes: Mapping[str, CommonTable], select: str, names: Sequence[str]) -> str:
    needed: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in needed:
            needed.add(name)
            left += ctes[name].reads
    parts = [f"{name} AS ({cte.sql})" for name, cte in ctes.items() if name in needed]
    return f"WITH {', '.join(parts)} {select}" if parts else select


def _shown(shape: TableShape, *, for_sheet: bool) -> str:
    return ", ".join(
        f"CAST({name} AS DOUBLE) AS {name}" if for_sheet and kind == "float" else name
        for name, kind in ((identifier(column.name), column.type) for column in shape.columns)
    )


def split_values(rows: Sequence[Sequence[Any]]) -> tuple[SplitValue, ...]:
    """Return the answer to a query for values.

    Args:
        rows: Its rows: a text or null, and a count.

    Raises:
        ValidationFailed: A value is too long to name anything.
    """
    found = tuple(SplitValue(value, int(count)) for value, count in rows)
    for part in found:
        if part.value is not None and len(part.value) > _MAX_VALUE_CHARACTERS:
            raise ValidationFailed(
                f"a value that begins with {part.value[:40]!r} has {len(part.value)} characters;"
                f" names have at most {_MAX_VALUE_CHARACTERS}"
            )
    return found


def pivot_values(want: WantedValues, rows: Sequence[Sequence[Any]]) -> PivotValues:
    """Return the values of a pivot's column from the answer to the query for them.

    Args:
        want: The query.
        rows: Its rows: a text or null, and a count.

    Raises:
        ValidationFailed: They are too many, or one is too long.
    """
    if len(rows) > MAX_PIVOT_VALUES:
        raise ValidationFailed(
            f'step {want.step} (pivot): column "{want.column}" has more than {MAX_PIVOT_VALUES}'
            " values, each of which would be a column; group by it instead, or filter it first"
        )
    return tuple(part.value for part in split_values(rows))
