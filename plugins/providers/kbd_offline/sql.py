"""Intents as SQL over `data`. Names are quoted, values are literals: nothing is pasted in."""

from collections.abc import Sequence

import msgspec

from kbd_offline.intents import (
    ColumnIntent,
    Condition,
    Deduped,
    Grouped,
    Key,
    Measure,
    RowSelection,
    SortOrder,
)
from kbd_offline.names import free_name

__all__ = [
    "count_each", "count_of", "count_rows", "filled_rows", "grouped", "identifier", "key_of",
    "merged", "overall", "rows", "spellings", "unique", "values_of", "widths",
]  # fmt: skip

_AGGREGATES = {"total": "sum", "average": "avg", "minimum": "min", "maximum": "max"}
# These stand beside the columns of the file, so they are called what no column is called.
_PLACE = "row of the file"
_TIME = "time that it is there"
_NUMBERED = f'(SELECT *, row_number() OVER () AS "{_PLACE}" FROM data)'
"""Rows that sort alike stay in the file's order, so that a query gives the same each time."""

_ROUNDED = (
    "CASE WHEN abs({0}) < 0.001 THEN {0}"
    " WHEN abs({0}) < 1000 THEN {0} - ({0} - round({0}, 10))"
    " ELSE {0} - ({0} - round({0}, 6)) END"
)
"""Sums of binary fractions are rounded here, far below what anybody reads of a figure so large: a
dose of 0.0000012 must not become one of 0.000001.

Each branch is of the type of the sum, hence the differences: of decimals with six places and with
seven DuckDB would make ones with six. A difference of two numbers so near is exact.
"""


def identifier(name: str) -> str:
    """Quote a name."""
    # Doubled: the name comes from a file, and must not end the identifier.
    return '"' + name.replace('"', '""') + '"'


def key_of(key: Key) -> str:
    """Return the expression of a key."""
    column = identifier(key.column.name)
    match key.part:
        case None:
            return column
        case "month":
            # Year first: in the order of text it is the order of time.
            return f"strftime({column}, '%Y-%m')"
        case "year":
            return f"year({column})"
        case "quarter":
            return f"year({column}) || '-Q' || quarter({column})"


def rows(
    selection: RowSelection,
    columns: Sequence[ColumnIntent],
    order: Sequence[SortOrder],
    part: tuple[Key, str | None] | None = None,
    *,
    for_sheet: bool = False,
) -> str:
    """Return the query for rows, of one part of a split if it is given.

    For a sheet, fractions are given as its numbers are, so that the sheet's style shows them; else
    they keep the decimals that they came with.
    """
    shown = ", ".join(_shown(column, for_sheet=for_sheet) for column in columns)
    conditions = [_where(selection)]
    if part is not None:
        key, value = part
        # As text, which is how `values_of` told the values, whatever their type.
        expression = f"CAST({key_of(key)} AS VARCHAR)"
        if value is None:
            conditions.append(f"{expression} IS NULL")
        elif key.part is None and key.column.name in selection.respelt:
            conditions.append(f"{_folded(expression)} = {_folded(_text(value))}")
        else:
            conditions.append(f"{expression} = {_text(value)}")
    ways = _ways([*order, SortOrder(_PLACE)])
    return f"SELECT {shown} FROM {_NUMBERED}{_all_of(conditions)} ORDER BY {ways}"


def _shown(column: ColumnIntent, *, for_sheet: bool) -> str:
    name = identifier(column.name)
    is_fraction = for_sheet and column.type == "float"
    return f"CAST({name} AS DOUBLE) AS {name}" if is_fraction else name


def _folded(expression: str) -> str:
    """Return a text without regard to capitals: what all comparisons of texts go by."""
    return f"lower(nfc_normalize({expression}))"


def _alike(column: ColumnIntent, *, exact: bool) -> str:
    """Return the expression that values which count as one have in common."""
    name = identifier(column.name)
    return name if exact or column.type != "string" else _folded(name)


def _spelt(selection: RowSelection) -> str:
    """Return the table, each value in the spelling that it has most often."""
    if not selection.respelt:
        return "data"
    replaced = ", ".join(
        f"mode({identifier(name)}) OVER (PARTITION BY {_folded(identifier(name))})"
        f" AS {identifier(name)}"
        for name in selection.respelt
    )
    return f"(SELECT * REPLACE ({replaced}) FROM data)"


def spellings(column: ColumnIntent, *, several: bool = False, of: str | None = None) -> str:
    """Return the query for a column's values: the most frequent spelling, rows, and all spellings.

    With `several` only for those that have more than one spelling, with `of` only for that value.
    """
    name = identifier(column.name)
    only = "" if of is None else f" AND {_folded(name)} = {_folded(_text(of.strip()))}"
    having = f" HAVING count(DISTINCT {name}) > 1" if several else ""
    return (
        f"SELECT mode({name}) AS value, count(*) AS n, list_sort(list(DISTINCT {name})) AS spelt"
        f" FROM data WHERE {name} IS NOT NULL{only} GROUP BY {_folded(name)}{having}"
        " ORDER BY 2 DESC, 1"
    )


def count_each(selection: RowSelection, conditions: Sequence[Condition]) -> str:
    """Return the query for how many rows a selection has, and how many have each of some values."""
    counts = []
    for condition in conditions:
        # Of "is not paid", how many are paid.
        same = msgspec.structs.replace(condition, operator="=") if (
            condition.operator == "!="
        ) else condition  # fmt: skip
        counts.append(f"count(*) FILTER (WHERE {_condition(same, exact=selection.exact)})")
    chosen = f"count(*) FILTER (WHERE {_where(selection)})"
    return f"SELECT {', '.join([chosen, *counts])} FROM data"


def count_rows(selection: RowSelection) -> str:
    """Return the query for the number of rows."""
    return f"SELECT count(*) AS n FROM data{_all_of([_where(selection)])}"


def values_of(selection: RowSelection, key: Key) -> str:
    """Return the query for the values of a key, as text, each with its number of rows."""
    expression = f"CAST({key_of(key)} AS VARCHAR)"
    where = _all_of([_where(selection)])
    return (
        f"SELECT {expression} AS value, count(*) AS n FROM {_spelt(selection)}{where}"
        " GROUP BY 1 ORDER BY 1 NULLS LAST"
    )


def unique(intent: Deduped, *, for_sheet: bool = False) -> str:
    """Return the query for the rows that stay when those alike are taken out.

    Rows without any value in the keys are not alike: nobody knows what they are. They all stay.
    """
    keys = intent.keys or intent.columns
    way = " DESC" if intent.keeps_last else ""
    shown = ", ".join(_shown(column, for_sheet=for_sheet) for column in intent.columns)
    place = identifier(_PLACE)
    # A file may come with any name; a column of its own would be compared in the place of ours.
    taken = {column.name.casefold() for column in intent.columns}
    time = identifier(free_name(_TIME, taken))
    alike = ", ".join(_alike(column, exact=intent.selection.exact) for column in keys)
    blank = " AND ".join(f"{identifier(column.name)} IS NULL" for column in intent.keys)
    condition = f"{time} = 1 OR ({blank})" if blank else f"{time} = 1"
    return (
        f"SELECT {shown} FROM (SELECT *, row_number() OVER (PARTITION BY {alike}"
        f" ORDER BY {place}{way}) AS {time} FROM {_NUMBERED}) WHERE {condition} ORDER BY {place}"
    )


def count_of(query: str) -> str:
    """Return the query for the number of rows of a query."""
    return f"SELECT count(*) AS n FROM ({query})"


def widths(columns: Sequence[ColumnIntent], rows_of: str = "data") -> str:
    """Return the query for the longest text of each column, of all rows or of a query's."""
    lengths = (f"max(length(CAST({identifier(c.name)} AS VARCHAR)))" for c in columns)
    return f"SELECT {', '.join(lengths)} FROM {rows_of}"


def filled_rows(query: str, columns: Sequence[ColumnIntent]) -> str:
    """Return the query for the number of a query's rows that hold any value."""
    filled = " OR ".join(f"{identifier(column.name)} IS NOT NULL" for column in columns)
    return f"SELECT count(*) AS n FROM ({query}) WHERE {filled}"


def grouped(intent: Grouped, *, for_sheet: bool = False) -> str:
    """Return the query for figures by keys; of `for_sheet` see `rows`."""
    if not intent.keys:
        return overall(intent.selection, intent.measures)
    keys = [f"{key_of(key)} AS {identifier(key.label)}" for key in intent.keys]
    exact = intent.selection.exact
    shown = ", ".join([*keys, *_figures(intent.measures, exact=exact, for_sheet=for_sheet)])
    # By place: a label such as "Month" may also be the name of a column.
    numbers = ", ".join(str(place) for place in range(1, len(keys) + 1))
    where = _all_of([_where(intent.selection)])
    # The keys come last, so that rows that sort alike have one order.
    ways = f"{_ways(intent.order)}, {numbers}" if intent.order else numbers
    source = _spelt(intent.selection)
    return f"SELECT {shown} FROM {source}{where} GROUP BY {numbers} ORDER BY {ways}"


def overall(selection: RowSelection, measures: Sequence[Measure]) -> str:
    """Return the query for figures of all rows."""
    figures = ", ".join(_figures(measures, exact=selection.exact))
    return f"SELECT {figures} FROM data{_all_of([_where(selection)])}"


def counts(selection: RowSelection, columns: Sequence[ColumnIntent]) -> str:
    """Return the query for the number of rows, and of the different values of columns."""
    return overall(
        selection, [Measure("count"), *(Measure("distinct", column) for column in columns)]
    )


def _figures(measures: Sequence[Measure], *, exact: bool, for_sheet: bool = False) -> list[str]:
    figures = []
    for measure in measures:
        value = _figure(measure, exact=exact)
        if for_sheet and _is_fraction(measure):
            value = f"CAST({value} AS DOUBLE)"
        figures.append(f"{value} AS {identifier(measure.label)}")
    return figures


def _figure(measure: Measure, *, exact: bool) -> str:
    if measure.column is None:
        return "count(*)"
    column = identifier(measure.column.name)
    if measure.function == "count":
        return f"count({column})"
    if measure.function == "distinct":
        is_folded = measure.column.type == "string" and not exact
        return f"count(DISTINCT {_folded(column) if is_folded else column})"
    value = f"{_AGGREGATES[measure.function]}({column})"
    # The least and the greatest value are values of the file.
    is_made = measure.function in ("total", "average") and _is_fraction(measure)
    return _ROUNDED.format(value) if is_made else value


def _is_fraction(measure: Measure) -> bool:
    if measure.column is None or measure.function in ("count", "distinct"):
        return False
    return measure.function == "average" or measure.column.type == "float"


def _ways(order: Sequence[SortOrder]) -> str:
    ways = (f"{identifier(o.column)}{' DESC' if o.descending else ''} NULLS LAST" for o in order)
    return ", ".join(ways)


def _all_of(conditions: Sequence[str]) -> str:
    given = [f"({condition})" for condition in conditions if condition]
    return f" WHERE {' AND '.join(given)}" if given else ""


def _where(selection: RowSelection) -> str:
    joint = " OR " if selection.any_of else " AND "
    return joint.join(
        f"({_condition(condition, exact=selection.exact)})" for condition in selection.conditions
    )


def _condition(condition: Condition, *, exact: bool) -> str:
    column = identifier(condition.column.name)
    value = condition.value
    text, sought = f"CAST({column} AS VARCHAR)", _text(value.strip())
    if not exact:
        text, sought = _folded(text), _folded(sought)
    match condition.operator:
        case "empty":
            return f"{column} IS NULL"
        case "not empty":
            return f"{column} IS NOT NULL"
        case "contains":
            return f"contains({text}, {sought})"
        case "starts with":
            return f"starts_with({text}, {sought})"
        case "ends with":
            return f"ends_with({text}, {sought})"
        case sign:
            left, right = _sides(condition.column, column, value) or (text, sought)
            # An empty field is none of the others: "not North" has the rows without a region.
            sign_sql = "IS DISTINCT FROM" if sign == "!=" else sign
            return f"{left} {sign_sql} {right}"


def _sides(column: ColumnIntent, name: str, value: str) -> tuple[str, str] | None:
    """Return both sides of a comparison of numbers or days, None for texts."""
    # Bare, for `clauses` lets nothing but a sign, digits and a point through as a number.
    if column.is_number:
        return name, value
    # By day: a time of day is compared with a date that has none.
    if column.is_moment:
        return f"CAST({name} AS DATE)", f"DATE {_text(value)}"
    return None


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def merged(
    columns: Sequence[ColumnIntent], names: Sequence[str | None], origin: tuple[str, str] | None
) -> str:
    """Return the query for a table's rows under the columns of a merge, in the file's order.

    Args:
        columns: Those of the result.
        names: What the table calls each; None where it has none.
        origin: The name of the column that tells where a row is from, and what it tells.
    """
    shown = [
        f"{'NULL' if name is None else identifier(name)} AS {identifier(column.name)}"
        for column, name in zip(columns, names, strict=True)
    ]
    if origin is not None:
        shown.append(f"{_text(origin[1])} AS {identifier(origin[0])}")
    return f"SELECT {', '.join(shown)} FROM {_NUMBERED} ORDER BY {identifier(_PLACE)}"
