"""Steps as SQL: each a SELECT over the tables before it.

Rows carry a hidden column with their place, so that they stay in the file's order unless they are
sorted, and a job gives the same each time. Texts count as one without regard to capitals, in the
spelling that is there most often, unless a step is exact.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import assert_never

import msgspec

from kbd.jobs.columns import ShapeColumn, ShapeType, column_named, folded
from kbd.jobs.expression_sql import condition_sql, expression_sql
from kbd.jobs.expressions import parse_expression
from kbd.jobs.figure_sql import grouped_sql, pivoted_sql
from kbd.jobs.records import (
    CompareStep,
    DeduplicateStep,
    DeriveStep,
    FilterStep,
    GroupStep,
    JoinStep,
    PivotStep,
    RunningStep,
    SelectStep,
    ShareStep,
    SortKey,
    SortStep,
    TableStep,
    TopStep,
    UnionStep,
)
from kbd.jobs.sql_text import (
    SQL_TYPES,
    alike_sql,
    filled,
    held_as,
    identifier,
    order_sql,
    rounded_sum,
    text_literal,
    text_of,
)
from kbd.jobs.step_shapes import (
    CHANGE,
    PivotValues,
    TableShape,
    compared_columns,
    found_column,
    joined_columns,
)
from kbd.jobs.terms import columns_of

__all__ = ["SqlTable", "StepContext", "alike_keys", "columns_sql", "key_match", "step_sql"]


class SqlTable(msgspec.Struct, frozen=True):
    """A table that SQL may read.

    Args:
        name: What SQL calls it, quoted.
        shape: Its columns, beside the hidden one.
        file: The file that its rows are from; None where they are from several.
    """

    name: str
    shape: TableShape
    file: str | None = None


class StepContext(msgspec.Struct, frozen=True):
    """What the SQL of a step hangs on beside the step.

    Args:
        order: The hidden column of places, quoted.
        part: A name for one more column that is gone after the step, quoted.
        today: The day of `today()`.
        tables: All tables that there are, by the job's names.
        values: The values of a pivot's column.
    """

    order: str
    part: str
    today: date
    tables: Mapping[str, SqlTable]
    values: PivotValues = ()


def step_sql(  # noqa: C901 - a case a step
    step: TableStep, source: SqlTable, made: TableShape, context: StepContext
) -> str:
    """Return the SELECT of a step's table, with its hidden column.

    Args:
        step: The step; its shape is checked.
        source: The table that it reads; of a union its first one.
        made: The shape of its table.
        context: What it hangs on.
    """
    order, shape = context.order, source.shape
    shown = columns_sql(shape)
    match step:
        case FilterStep():
            where = condition_sql(step.where, shape.columns, context.today)
            return f"SELECT {shown}, {order} FROM {source.name} WHERE {where}"
        case SortStep():
            place = f"row_number() OVER (ORDER BY {_ways(shape, step.by)}, {order})"
            return f"SELECT {shown}, {place} AS {order} FROM {source.name}"
        case SelectStep():
            return _selected(step, source, made, order)
        case DeriveStep():
            return _derived(step, source, context)
        case GroupStep():
            return grouped_sql(step, source.name, shape, order)
        case PivotStep():
            return pivoted_sql(step, source.name, shape, context.values, order)
        case JoinStep():
            return _joined(step, source, context.tables[step.other], order)
        case UnionStep():
            return _united(step, made, context)
        case DeduplicateStep():
            return _deduplicated(step, source, context)
        case TopStep():
            return _top(step, source, context)
        case ShareStep():
            return _share(step, source, order)
        case RunningStep():
            return _running(step, source, context)
        case CompareStep():
            return _compared(step, source, context.tables[step.other], made, order)
        case _:
            assert_never(step)


def columns_sql(shape: TableShape, alias: str = "") -> str:
    """Return the columns of a shape as SQL lists them."""
    return ", ".join(f"{alias}{identifier(column.name)}" for column in shape.columns)


def alike_keys(
    shape: TableShape, names: Sequence[str], *, exact: bool = False, alias: str = ""
) -> list[str]:
    """Return of each column what its values have in common that count as one."""
    found = (found_column(shape, name) for name in names)
    return [
        alike_sql(f"{alias}{identifier(column.name)}", column.type, exact=exact) for column in found
    ]


def key_match(pairs: Sequence[tuple[ShapeColumn, ShapeColumn]]) -> str:
    """Return the condition that rows `m` and `o` have one key."""
    parts = []
    for mine, theirs in pairs:
        one = held_as(f"m.{identifier(mine.name)}", mine.type, theirs.type)
        other = held_as(f"o.{identifier(theirs.name)}", theirs.type, mine.type)
        kind = theirs.type if mine.type == "any" else mine.type
        parts.append(f"{alike_sql(one, kind)} = {alike_sql(other, kind)}")
    return " AND ".join(parts)


def _ways(shape: TableShape, keys: Sequence[SortKey], alias: str = "") -> str:
    found = ((found_column(shape, key.column), key.descending) for key in keys)
    return ", ".join(
        order_sql(f"{alias}{identifier(column.name)}", column.type, descending=descending)
        for column, descending in found
    )


def _partition(shape: TableShape, names: Sequence[str]) -> str:
    keys = alike_keys(shape, names)
    return f"PARTITION BY {', '.join(keys)} " if keys else ""


def _selected(step: SelectStep, source: SqlTable, made: TableShape, order: str) -> str:
    renamed = {
        folded(new): found_column(source.shape, old).name for old, new in step.rename.items()
    }
    parts = []
    for column in made.columns:
        old, new = renamed.get(folded(column.name), column.name), column.name
        parts.append(identifier(old) + (f" AS {identifier(new)}" if old != new else ""))
    return f"SELECT {', '.join(parts)}, {order} FROM {source.name}"


def _derived(step: DeriveStep, source: SqlTable, context: StepContext) -> str:
    """Return a SELECT for each run of columns that need none of each other, one in the other."""
    columns = list(source.shape.columns)
    sql = source.name
    layer: dict[str, str] = {}
    for name, expression in step.columns.items():
        term = parse_expression(expression)
        if {folded(each) for each in columns_of(term)} & {folded(each) for each in layer}:
            sql, layer = f"({_layer(columns, layer, sql, context.order)})", {}
        found = expression_sql(term, columns, context.today)
        before = column_named(name, columns)
        kind = "string" if found.type == "any" else found.type
        value = f"CAST({found.sql} AS VARCHAR)" if found.type == "any" else found.sql
        # The types of this layer's source stay as they are: nothing of the layer reads these.
        if before is None:
            columns.append(ShapeColumn(name, kind))
            layer[name] = value
        else:
            columns[columns.index(before)] = ShapeColumn(before.name, kind)
            layer[before.name] = value
    return _layer(columns, layer, sql, context.order)


def _layer(columns: Sequence[ShapeColumn], layer: Mapping[str, str], sql: str, order: str) -> str:
    parts = [
        f"{layer[column.name]} AS {identifier(column.name)}"
        if column.name in layer
        else identifier(column.name)
        for column in columns
    ]
    return f"SELECT {', '.join(parts)}, {order} FROM {sql}"


def _joined(step: JoinStep, source: SqlTable, other: SqlTable, order: str) -> str:
    pairs = joined_columns(step, source.shape, other.shape)
    match_sql = key_match(pairs)
    if step.kind == "missing":
        partner = f"SELECT 1 FROM {other.name} AS o WHERE {match_sql}"
        return (
            f"SELECT {columns_sql(source.shape, 'm.')}, m.{order} FROM {source.name} AS m"
            f" WHERE NOT EXISTS ({partner})"
        )
    theirs_by_mine = {mine.name: theirs for mine, theirs in pairs}
    shown = []
    for column in source.shape.columns:
        name = identifier(column.name)
        if step.kind == "full" and column.name in theirs_by_mine:
            theirs = theirs_by_mine[column.name]
            value = held_as(f"o.{identifier(theirs.name)}", theirs.type, column.type)
            shown.append(f"coalesce(m.{name}, {value}) AS {name}")
        else:
            shown.append(f"m.{name}")
    keys = {theirs.name for _, theirs in pairs}
    added = [found_column(other.shape, name) for name in step.columns] or [
        column for column in other.shape.columns if column.name not in keys
    ]
    shown += [f"o.{identifier(column.name)}" for column in added]
    place = f"row_number() OVER (ORDER BY m.{order} NULLS LAST, o.{order}) AS {order}"
    return (
        f"SELECT {', '.join([*shown, place])} FROM {source.name} AS m"
        f" {step.kind.upper()} JOIN {other.name} AS o ON {match_sql}"
    )


def _united(step: UnionStep, made: TableShape, context: StepContext) -> str:
    columns = made.columns if step.origin is None else made.columns[:-1]
    parts = []
    for place, name in enumerate(step.tables):
        table = context.tables[name]
        shown = []
        for column in columns:
            found = column_named(column.name, table.shape.columns)
            sql = "NULL" if found is None else identifier(found.name)
            if found is None or (found.type == "any" and column.type != "any"):
                sql = f"CAST({sql} AS {SQL_TYPES[column.type]})"
            shown.append(f"{sql} AS {identifier(column.name)}")
        if step.origin is not None:
            shown.append(f"{text_literal(table.file or '')} AS {identifier(step.origin)}")
        shown += [f"{place} AS {context.part}", context.order]
        parts.append(f"SELECT {', '.join(shown)} FROM {table.name}")
    place_sql = f"row_number() OVER (ORDER BY {context.part}, {context.order}) AS {context.order}"
    return f"SELECT {columns_sql(made)}, {place_sql} FROM ({' UNION ALL '.join(parts)})"


def _deduplicated(step: DeduplicateStep, source: SqlTable, context: StepContext) -> str:
    names = step.by or [column.name for column in source.shape.columns]
    alike = alike_keys(source.shape, names, exact=step.exact)
    way = " DESC" if step.keep == "last" else ""
    time = f"row_number() OVER (PARTITION BY {', '.join(alike)} ORDER BY {context.order}{way})"
    blank = " AND ".join(f"({key}) IS NULL" for key in alike)
    shown = f"{columns_sql(source.shape)}, {context.order}"
    return (
        f"SELECT {shown} FROM (SELECT {shown}, {time} = 1 OR ({blank}) AS {context.part}"
        f" FROM {source.name}) WHERE {context.part}"
    )


def _top(step: TopStep, source: SqlTable, context: StepContext) -> str:
    shape, order = source.shape, context.order
    ways = _ways(shape, step.by)
    counted = "rank()" if step.ties else "row_number()"
    last = "" if step.ties else f", {order}"
    rank = f"{counted} OVER ({_partition(shape, step.per)}ORDER BY {ways}{last})"
    groups = [SortKey(name) for name in step.per]
    place = f"row_number() OVER (ORDER BY {_ways(shape, [*groups, *step.by])}, {order})"
    shown = columns_sql(shape)
    return (
        f"SELECT {shown}, {place} AS {order} FROM (SELECT {shown}, {order},"
        f" {rank} AS {context.part} FROM {source.name}) WHERE {context.part} <= {step.count}"
    )


def _share(step: ShareStep, source: SqlTable, order: str) -> str:
    value = f"CAST({identifier(found_column(source.shape, step.column).name)} AS DOUBLE)"
    window = f"OVER ({_partition(source.shape, step.within).rstrip()})"
    whole, sizes = f"sum({value}) {window}", f"sum(abs({value})) {window}"
    # Where the whole is 0, or only what binary fractions lost, there are no shares of it.
    share = f"CASE WHEN abs({whole}) > 1e-15 * {sizes} THEN {value} / {whole} END"
    return (
        f"SELECT {columns_sql(source.shape)}, {share} AS {identifier(step.name)}, {order}"
        f" FROM {source.name}"
    )


def _running(step: RunningStep, source: SqlTable, context: StepContext) -> str:
    shape, order = source.shape, context.order
    column = found_column(shape, step.column)
    name = identifier(column.name)
    value = f"coalesce({f'CAST({name} AS DOUBLE)' if column.type == 'any' else name}, 0)"
    ways = f"ORDER BY {_ways(shape, step.by)}, {order}"
    window = f"({_partition(shape, step.within)}{ways} ROWS UNBOUNDED PRECEDING)"
    name, sizes = identifier(step.name), context.part
    shown = columns_sql(shape)
    total = name if column.type == "integer" else f"{rounded_sum(name, sizes)} AS {name}"
    return (
        f"SELECT {shown}, {total}, {order} FROM (SELECT {shown}, sum({value}) OVER {window}"
        f" AS {name}, sum(abs({value})) OVER {window} AS {sizes},"
        f" row_number() OVER ({ways}) AS {order} FROM {source.name})"
    )


def _compared(
    step: CompareStep, source: SqlTable, other: SqlTable, made: TableShape, order: str
) -> str:
    keys = [(found_column(source.shape, name), found_column(other.shape, name)) for name in step.on]
    pairs = compared_columns(step, source.shape, other.shape)
    shown = []
    for (mine, theirs), key in zip(keys, made.columns, strict=False):
        one = held_as(f"m.{identifier(mine.name)}", mine.type, theirs.type)
        later = held_as(f"o.{identifier(theirs.name)}", theirs.type, mine.type)
        shown.append(f"coalesce({one}, {later}) AS {identifier(key.name)}")
    shown.append(
        f"CASE WHEN o.{order} IS NULL THEN 'removed' WHEN m.{order} IS NULL THEN 'added'"
        f" ELSE 'changed' END AS {identifier(CHANGE)}"
    )
    differs = [f"m.{order} IS NULL", f"o.{order} IS NULL"]
    headings = iter(made.columns[len(keys) + 1 :])
    for mine, theirs in pairs:
        before = held_as(f"m.{identifier(mine.name)}", mine.type, theirs.type)
        after = held_as(f"o.{identifier(theirs.name)}", theirs.type, mine.type)
        shown.append(f"{before} AS {identifier(next(headings).name)}")
        shown.append(f"{after} AS {identifier(next(headings).name)}")
        # Of two types that are compared one is any, or both are numbers.
        kinds = {mine.type, theirs.type} - {"any"}
        kind: ShapeType = "float" if len(kinds) > 1 else next(iter(kinds), "any")
        differs.append(f"{_told(before, kind)} IS DISTINCT FROM {_told(after, kind)}")
    place = f"row_number() OVER (ORDER BY m.{order} NULLS LAST, o.{order}) AS {order}"
    return (
        f"SELECT {', '.join([*shown, place])} FROM {source.name} AS m"
        f" FULL JOIN {other.name} AS o ON {key_match(keys)} WHERE {' OR '.join(differs)}"
    )


def _told(sql: str, kind: ShapeType) -> str:
    """Return a value as text that says all that people see of it."""
    return f"nfc_normalize({filled(sql)})" if kind == "string" else text_of(sql, kind)
