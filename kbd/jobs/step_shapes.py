"""Shapes that steps make: of each step the columns of its table, or what is wrong with it."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.columns import (
    TYPE_WORDS,
    ShapeColumn,
    ShapeType,
    column_named,
    folded,
    free_name,
    near_name,
)
from kbd.jobs.expression_sql import condition_sql, expression_sql
from kbd.jobs.records import (
    CompareStep,
    DeduplicateStep,
    DeriveStep,
    Figure,
    FilterStep,
    GroupStep,
    JoinStep,
    PivotStep,
    RunningStep,
    SelectStep,
    ShareStep,
    SortStep,
    TableStep,
    TopStep,
    UnionStep,
)
from kbd.jobs.sql_text import NUMBERS

__all__ = [
    "CHANGE",
    "EMPTY",
    "PivotValues",
    "TableShape",
    "compared_columns",
    "figure_type",
    "found_column",
    "joined_columns",
    "pivot_columns",
    "shape_of",
]

PivotValues = Sequence[str | None]
"""The values of a pivot's column as text, in their order; None for rows without one."""

CHANGE = "Change"
"""The heading of what happened to a row, of compared tables."""

EMPTY = "(empty)"
"""The heading of a pivot's column for rows without a value."""

_ANY_DAY = date(2000, 1, 1)
"""What day it is does not change a type."""


class TableShape(msgspec.Struct, frozen=True):
    """The columns of a table; with `is_open` it may have others, which a pivot makes."""

    columns: tuple[ShapeColumn, ...]
    is_open: bool = False


def shape_of(  # noqa: C901 - a case a step
    step: TableStep,
    source: TableShape,
    others: Mapping[str, TableShape],
    values: PivotValues | None = None,
) -> TableShape:
    """Return the shape of the table that a step makes.

    Args:
        step: The step.
        source: The shape of the table that it reads; of a union, of its first one.
        others: The shapes of all tables that there are.
        values: The values of a pivot's column; None where they are not known yet.

    Raises:
        ValidationFailed: The step cannot work.
    """
    match step:
        case FilterStep():
            condition_sql(step.where, source.columns, _ANY_DAY, is_open=source.is_open)
            return source
        case SortStep():
            _check_columns(source, [key.column for key in step.by])
            return source
        case DeduplicateStep():
            _check_columns(source, step.by)
            return source
        case TopStep():
            _check_columns(source, [*step.per, *(key.column for key in step.by)])
            return source
        case SelectStep():
            return _selected(step, source)
        case DeriveStep():
            return _derived(step, source)
        case GroupStep():
            keys = [found_column(source, name) for name in step.by]
            figures = [figure_column(figure, source) for figure in step.figures]
            return TableShape(_apart([*keys, *figures]))
        case PivotStep():
            return _pivoted(step, source, values)
        case JoinStep():
            return _joined(step, source, others[step.other])
        case UnionStep():
            return _united(step, [(name, others[name]) for name in step.tables])
        case ShareStep() | RunningStep():
            if isinstance(step, RunningStep):
                _check_columns(source, [key.column for key in step.by])
            _check_columns(source, step.within)
            column = _number_column(source, step.column, "share" if (
                isinstance(step, ShareStep)) else "running total")  # fmt: skip
            kind: ShapeType = "float" if isinstance(step, ShareStep) else column.type
            return _with(source, ShapeColumn(step.name, kind))
        case CompareStep():
            return _compared(step, source, others[step.other])
        case _:
            assert_never(step)


def found_column(shape: TableShape, name: str) -> ShapeColumn:
    """Return a column by its name.

    Raises:
        ValidationFailed: There is none.
    """
    found = column_named(name, shape.columns)
    if found is not None:
        return found
    if shape.is_open:
        return ShapeColumn(name)
    names = [column.name for column in shape.columns]
    raise ValidationFailed(f'there is no column "{name}"{near_name(name, names)}')


def _check_columns(shape: TableShape, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        column = found_column(shape, name).name
        if column in seen:
            raise ValidationFailed(f'column "{column}" is named twice')
        seen.add(column)


def _number_column(shape: TableShape, name: str, what: str) -> ShapeColumn:
    column = found_column(shape, name)
    if column.type in NUMBERS or column.type == "any":
        return column
    helps = "; derive a column with number(text) first" if column.type == "string" else ""
    raise ValidationFailed(
        f'column "{column.name}" is {TYPE_WORDS[column.type]}, of which there is no {what}{helps}'
    )


def _apart(columns: Sequence[ShapeColumn]) -> tuple[ShapeColumn, ...]:
    """Return columns that have names of their own each.

    Raises:
        ValidationFailed: Two are called alike.
    """
    seen: set[str] = set()
    for column in columns:
        if folded(column.name) in seen:
            raise ValidationFailed(
                f'two columns would be called "{column.name}"; give one another name'
            )
        seen.add(folded(column.name))
    return tuple(columns)


def _with(shape: TableShape, column: ShapeColumn) -> TableShape:
    return TableShape(_apart([*shape.columns, column]), shape.is_open)


def _selected(step: SelectStep, source: TableShape) -> TableShape:
    if step.columns and step.without:
        raise ValidationFailed("name the columns that stay or those that go, not both")
    chosen = [found_column(source, name) for name in step.columns or ()]
    gone = {found_column(source, name).name for name in step.without}
    if not chosen:
        chosen = [column for column in source.columns if column.name not in gone]
    if not chosen:
        raise ValidationFailed("no column is left")
    renamed: dict[str, str] = {}
    for old, new in step.rename.items():
        column = found_column(source, old)
        if column.name not in {each.name for each in chosen}:
            raise ValidationFailed(f'column "{old}" is renamed, and is not there any more')
        renamed[column.name] = new
    columns = [ShapeColumn(renamed.get(each.name, each.name), each.type) for each in chosen]
    # All columns of an open table are those known and those that are not.
    return TableShape(_apart(columns), source.is_open and not step.columns)


def _derived(step: DeriveStep, source: TableShape) -> TableShape:
    columns = list(source.columns)
    named: set[str] = set()
    for name, expression in step.columns.items():
        if folded(name) in named:
            raise ValidationFailed(f'column "{name}" is derived twice')
        named.add(folded(name))
        try:
            kind = expression_sql(expression, columns, _ANY_DAY, is_open=source.is_open).type
        except ValidationFailed as fault:
            raise ValidationFailed(f'column "{name}": {fault.message}') from None
        if kind == "any" and not source.is_open:
            # Of `null` alone: a column of texts that has none.
            kind = "string"
        before = column_named(name, columns)
        if before is None:
            columns.append(ShapeColumn(name, kind))
        else:
            columns[columns.index(before)] = ShapeColumn(before.name, kind)
    return TableShape(tuple(columns), source.is_open)


def figure_type(figure: Figure, source: TableShape) -> ShapeType:
    """Return the type of a figure.

    Raises:
        ValidationFailed: It cannot be made of its column.
    """
    if figure.column is None:
        if figure.function != "count":
            raise ValidationFailed(
                f'figure "{figure.name}": name the column of the {figure.function}'
            )
        return "integer"
    column = found_column(source, figure.column)
    match figure.function:
        case "count" | "distinct":
            return "integer"
        case "minimum" | "maximum":
            if column.type == "boolean":
                raise ValidationFailed(
                    f'column "{column.name}" is true or false, of which there is no'
                    f" {figure.function}"
                )
            return column.type
        case "sum" | "average" | "median":
            found = _number_column(source, figure.column, figure.function)
            return found.type if figure.function == "sum" else "float"
        case _:
            assert_never(figure.function)


def figure_column(figure: Figure, source: TableShape) -> ShapeColumn:
    """Return the column of a figure.

    Raises:
        ValidationFailed: As for `figure_type`.
    """
    return ShapeColumn(figure.name, figure_type(figure, source))


def _pivoted(step: PivotStep, source: TableShape, values: PivotValues | None) -> TableShape:
    keys = [found_column(source, name) for name in step.rows]
    column = found_column(source, step.column)
    if column in keys:
        raise ValidationFailed(f'column "{column.name}" is both of the rows and of the columns')
    kind = figure_type(step.figure, source)
    total = [] if step.total is None else [ShapeColumn(step.total, kind)]
    if values is None:
        return TableShape(_apart([*keys, *total]), is_open=True)
    made = [ShapeColumn(name, kind) for name in pivot_columns(step, keys, values)]
    return TableShape(_apart([*keys, *made, *total]))


def pivot_columns(
    step: PivotStep, keys: Sequence[ShapeColumn], values: PivotValues
) -> tuple[str, ...]:
    """Return the headings of a pivot's values; one that is taken gets a number behind it."""
    taken = [key.name for key in keys] + ([] if step.total is None else [step.total])
    found: list[str] = []
    for value in values:
        found.append(free_name(EMPTY if value is None else value, [*taken, *found]))
    return tuple(found)


def joined_columns(
    step: JoinStep, source: TableShape, other: TableShape
) -> tuple[tuple[ShapeColumn, ShapeColumn], ...]:
    """Return the pairs of columns that are the key of a join, mine and theirs.

    Raises:
        ValidationFailed: One is not there, or their types differ.
    """
    pairs = []
    for mine, theirs in step.on.items():
        pair = found_column(source, mine), found_column(other, theirs)
        _check_alike(*pair, step.other)
        pairs.append(pair)
    return tuple(pairs)


def _check_alike(mine: ShapeColumn, theirs: ShapeColumn, other: str) -> None:
    kinds = {"integer" if kind == "float" else kind for kind in (mine.type, theirs.type)} - {"any"}
    if len(kinds) > 1:
        helps = "date_of(value)" if "string" not in kinds else "text(value) or number(text)"
        raise ValidationFailed(
            f'column "{mine.name}" is {TYPE_WORDS[mine.type]}, and "{theirs.name}" of {other} is'
            f" {TYPE_WORDS[theirs.type]}; derive a column with {helps} first"
        )


def _joined(step: JoinStep, source: TableShape, other: TableShape) -> TableShape:
    pairs = joined_columns(step, source, other)
    if step.kind == "missing":
        return source
    keys = {theirs.name for _, theirs in pairs}
    added = [found_column(other, name) for name in step.columns] or [
        column for column in other.columns if column.name not in keys
    ]
    names = {folded(column.name) for column in source.columns}
    if twice := [f'"{column.name}"' for column in added if folded(column.name) in names]:
        raise ValidationFailed(
            f"both tables have {', '.join(twice)}; name the columns that are added, or rename them"
            " in a select step before"
        )
    is_open = source.is_open or (other.is_open and not step.columns)
    return TableShape(_apart([*source.columns, *added]), is_open)


def _united(step: UnionStep, tables: Sequence[tuple[str, TableShape]]) -> TableShape:
    if twice := [name for name in step.tables if step.tables.count(name) > 1]:
        raise ValidationFailed(f'table "{twice[0]}" is there twice, and its rows would be')
    columns: dict[str, ShapeColumn] = {}
    for name, shape in tables:
        for column in shape.columns:
            before = columns.get(folded(column.name))
            columns[folded(column.name)] = (
                column if before is None else ShapeColumn(before.name, _wider(before, column, name))
            )
    for name, shape in tables:
        lacking = [
            f'"{column.name}"'
            for key, column in columns.items()
            if key not in {folded(each.name) for each in shape.columns}
        ]
        if lacking and step.missing == "refuse" and not any(each.is_open for _, each in tables):
            known = [column.name for column in shape.columns]
            near = near_name(lacking[0].strip('"'), known) if len(lacking) == 1 else ""
            raise ValidationFailed(
                f'table {name} has no {", ".join(lacking)}{near}; with missing = "empty" it stays'
                " empty there"
            )
    made = list(columns.values())
    if step.origin is not None:
        made.append(ShapeColumn(step.origin, "string"))
    return TableShape(_apart(made), any(shape.is_open for _, shape in tables))


def _wider(one: ShapeColumn, other: ShapeColumn, table: str) -> ShapeType:
    """Return the type that holds the values of both columns."""
    kinds = {one.type, other.type}
    if len(kinds - {"any"}) <= 1:
        return next(iter(kinds - {"any"}), "any")
    if kinds == {"integer", "float"}:
        return "float"
    if kinds == {"date", "datetime"}:
        return "datetime"
    raise ValidationFailed(
        f'column "{other.name}" of {table} is {TYPE_WORDS[other.type]}, and {TYPE_WORDS[one.type]}'
        " before; derive it with text(value), number(text) or date_of(value) first"
    )


def compared_columns(
    step: CompareStep, source: TableShape, other: TableShape
) -> tuple[tuple[ShapeColumn, ShapeColumn], ...]:
    """Return the pairs of columns that are compared, of the earlier and of the later table.

    Raises:
        ValidationFailed: One is not there, or their types differ.
    """
    keys = {found_column(source, name).name for name in step.on}
    pairs = []
    if step.columns:
        pairs = [(found_column(source, name), found_column(other, name)) for name in step.columns]
    else:
        for column in source.columns:
            later = column_named(column.name, other.columns)
            if column.name not in keys and later is not None:
                pairs.append((column, later))
    for mine, theirs in pairs:
        _check_alike(mine, theirs, step.other)
    return tuple(pairs)


def _compared(step: CompareStep, source: TableShape, other: TableShape) -> TableShape:
    keys = []
    for name in step.on:
        mine, theirs = found_column(source, name), found_column(other, name)
        _check_alike(mine, theirs, step.other)
        keys.append(ShapeColumn(mine.name, theirs.type if mine.type == "any" else mine.type))
    made = [*keys, ShapeColumn(CHANGE, "string")]
    for mine, theirs in compared_columns(step, source, other):
        kind = mine.type if theirs.type in (mine.type, "any") else theirs.type
        kind = "float" if {mine.type, theirs.type} == {"integer", "float"} else kind
        made += [ShapeColumn(f"{mine.name} {word}", kind) for word in ("before", "after")]
    is_open = not step.columns and (source.is_open or other.is_open)
    return TableShape(_apart(made), is_open)
