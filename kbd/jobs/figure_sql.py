"""Figures of groups as SQL: sums, averages and counts of a group, and the cells of a pivot."""

from typing import assert_never

from kbd.jobs.columns import ShapeColumn
from kbd.jobs.records import Figure, GroupStep, PivotStep
from kbd.jobs.sql_text import (
    alike_sql,
    filled,
    identifier,
    order_sql,
    rounded,
    rounded_sum,
    text_literal,
    text_of,
)
from kbd.jobs.step_shapes import PivotValues, TableShape, found_column, pivot_columns

__all__ = ["figure_sql", "grouped_sql", "part_condition", "pivoted_sql", "values_sql"]


def figure_sql(figure: Figure, shape: TableShape, *, exact: bool, column: str = "") -> str:
    """Return the SQL of a figure over the rows of a group.

    Args:
        figure: The figure.
        shape: The columns of the table.
        exact: Whether texts that differ in capitals alone are different ones.
        column: What its column is called in SQL, if not as in the table.
    """
    if figure.column is None:
        return "count(*)"
    found = found_column(shape, figure.column)
    value, kind = column or identifier(found.name), found.type
    if kind == "any" and figure.function in ("sum", "average", "median"):
        # A column without a value may be held as one of texts.
        value = f"CAST({value} AS DOUBLE)"
    match figure.function:
        case "count":
            return f"count({filled(value) if kind == 'string' else value})"
        case "distinct":
            return f"count(DISTINCT {alike_sql(value, kind, exact=exact)})"
        case "sum":
            total = f"sum({value})"
            return total if kind == "integer" else rounded_sum(total, f"sum(abs({value}))")
        case "average":
            return rounded(f"CAST(avg({value}) AS DOUBLE)")
        case "median":
            return rounded(f"median(CAST({value} AS DOUBLE))")
        case "minimum" | "maximum":
            least = figure.function == "minimum"
            if kind != "string":
                return f"{'min' if least else 'max'}({value})"
            key = f"strip_accents({alike_sql(value, kind)})"
            return f"{'arg_min' if least else 'arg_max'}({value}, {key})"
        case _:
            assert_never(figure.function)


def _spelled(column: ShapeColumn, *, exact: bool, name: str = "") -> str:
    """Return the value that stands for those of a group that are alike in a column.

    Of texts it is the one that is there most often, of several the first by its letters: that is
    the same in whatever order the rows are.
    """
    value = name or identifier(column.name)
    if column.type != "string":
        return f"any_value({value})"
    text = filled(value)
    return f"any_value({text})" if exact else f"mode({text} ORDER BY {text})"


def _key_order(keys: tuple[ShapeColumn, ...]) -> str:
    """Return the place of a group's row: in the order of the keys."""
    # The names last: keys that are exact may differ in capitals alone.
    ways = [order_sql(identifier(key.name), key.type) for key in keys]
    ways += [identifier(key.name) for key in keys if key.type == "string"]
    return f"row_number() OVER (ORDER BY {', '.join(ways)})"


def grouped_sql(step: GroupStep, source: str, shape: TableShape, order: str) -> str:
    """Return the SELECT of a group step.

    Args:
        step: The step.
        source: The table in SQL.
        shape: Its columns.
        order: The hidden column of places.
    """
    keys = tuple(found_column(shape, name) for name in step.by)
    shown = [f"{_spelled(key, exact=step.exact)} AS {identifier(key.name)}" for key in keys]
    shown += [
        f"{figure_sql(figure, shape, exact=step.exact)} AS {identifier(figure.name)}"
        for figure in step.figures
    ]
    if not keys:
        return f"SELECT {', '.join(shown)}, 1 AS {order} FROM {source}"
    alike = ", ".join(alike_sql(identifier(key.name), key.type, exact=step.exact) for key in keys)
    names = ", ".join(identifier(name) for name in [
        *(key.name for key in keys), *(figure.name for figure in step.figures)
    ])  # fmt: skip
    return (
        f"SELECT {names}, {_key_order(keys)} AS {order}"
        f" FROM (SELECT {', '.join(shown)} FROM {source} GROUP BY {alike})"
    )


def _part_key(column: ShapeColumn, *, exact: bool) -> str:
    """Return what values of a column have in common that go into one part; a text."""
    name = identifier(column.name)
    if column.type == "string":
        return alike_sql(name, column.type, exact=exact)
    return text_of(name, column.type)


def part_condition(column: ShapeColumn, value: str | None, *, exact: bool) -> str:
    """Return the condition that a row belongs to a value of a column, as `values_sql` tells it."""
    key = _part_key(column, exact=exact)
    return (
        f"({key}) IS NULL"
        if value is None
        else f"({key}) = {_part_value(column, value, exact=exact)}"
    )


def _part_value(column: ShapeColumn, value: str, *, exact: bool) -> str:
    literal = text_literal(value)
    if column.type == "string" and not exact:
        return f"lower(nfc_normalize({literal}))"
    return literal


def values_sql(
    column: ShapeColumn, source: str, *, exact: bool = False, limit: int | None = None
) -> str:
    """Return the SELECT of a column's values as text, each with its number of rows, in their order.

    Args:
        column: The column.
        source: The table in SQL.
        exact: Whether texts that differ in capitals alone are different ones.
        limit: The most that are told; None for all.
    """
    shown = _spelled(column, exact=exact)
    told = shown if column.type == "string" else text_of(shown, column.type)
    ways = order_sql("v", column.type)
    return (
        f"SELECT value, n FROM (SELECT {told} AS value, count(*) AS n, {shown} AS v"
        f" FROM {source} GROUP BY {_part_key(column, exact=exact)})"
        f" ORDER BY {ways}, value{'' if limit is None else f' LIMIT {limit}'}"
    )


def pivoted_sql(
    step: PivotStep, source: str, shape: TableShape, values: PivotValues, order: str
) -> str:
    """Return the SELECT of a pivot: figures by group and value, then each value's in its column.

    Args:
        step: The step.
        source: The table in SQL.
        shape: Its columns.
        values: The values of its column.
        order: The hidden column of places.
    """
    keys = tuple(found_column(shape, name) for name in step.rows)
    column = found_column(shape, step.column)
    # Names of our own within: of three SELECTs only the outermost has the table's.
    alike = [f"{alike_sql(identifier(key.name), key.type)} AS g{n}" for n, key in enumerate(keys)]
    raw = [f"{identifier(key.name)} AS k{n}" for n, key in enumerate(keys)]
    figured = [] if step.figure.column is None else [
        f"{identifier(found_column(shape, step.figure.column).name)} AS x"
    ]  # fmt: skip
    base = ", ".join([*alike, *raw, f"{_part_key(column, exact=False)} AS v", *figured])
    groups = ", ".join(f"g{n}" for n in range(len(keys)))
    spelled = [f"{_spelled(key, exact=False, name=f'k{n}')} AS k{n}" for n, key in enumerate(keys)]
    figure = figure_sql(step.figure, shape, exact=False, column="x")
    cells = (
        f"SELECT {groups}, v, grouping(v) AS whole, {', '.join(spelled)}, {figure} AS f"
        f" FROM (SELECT {base} FROM {source}) GROUP BY GROUPING SETS (({groups}, v), ({groups}))"
    )
    shown = [
        f"any_value(k{n}) FILTER (WHERE whole = 1) AS {identifier(key.name)}"
        for n, key in enumerate(keys)
    ]
    names = [key.name for key in keys]
    is_count = step.figure.function in ("count", "distinct")
    for value, heading in zip(values, pivot_columns(step, keys, values), strict=True):
        test = "v IS NULL" if value is None else f"v = {_part_value(column, value, exact=False)}"
        cell = f"any_value(f) FILTER (WHERE whole = 0 AND {test})"
        names.append(heading)
        shown.append(f"{f'coalesce({cell}, 0)' if is_count else cell} AS {identifier(heading)}")
    if step.total is not None:
        names.append(step.total)
        shown.append(f"any_value(f) FILTER (WHERE whole = 1) AS {identifier(step.total)}")
    return (
        f"SELECT {', '.join(map(identifier, names))}, {_key_order(keys)} AS {order}"
        f" FROM (SELECT {', '.join(shown)} FROM ({cells}) GROUP BY {groups})"
    )
