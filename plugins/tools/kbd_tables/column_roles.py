"""Roles of a table's columns of numbers: which of them add up, by name, values and each other.

Columns prove what each other is: where quantity times a number is an amount in every row, the
number is a price for one piece; where a balance goes up in each row by another column, it is a
running one. The first rows rule most out, so that all rows are gone through for what is left.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import duckdb
import msgspec

from kbd.formats import (
    Additivity,
    NumberFacts,
    additivity,
    is_balance_name,
    is_quantity_name,
)
from kbd_tables.column_types import Aggregates, TypedColumn
from kbd_tables.duck import quoted_name

__all__ = ["find_roles"]

_SAMPLE_ROWS = 100
_MAX_COLUMNS = 24
"""Columns that are compared with each other; of more each pair would be looked at in vain."""
_TELLING_ROWS = 3
"""So many products that are none by chance: both factors are neither 0 nor 1."""
_RELATIVE_ERROR = 1e-9


class _Numbers(msgspec.Struct, frozen=True):
    """A column of numbers: its name, its SQL as a double, half a unit of its last decimal."""

    name: str
    sql: str
    half: float


class _Product(msgspec.Struct, frozen=True):
    """Two columns whose product, or a hundredth of it, is a third one."""

    one: int
    other: int
    product: int
    is_percent: bool = False


def find_roles(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    names: Sequence[str],
    columns: Sequence[TypedColumn],
) -> dict[str, Additivity]:
    """Return what the numbers are of each column that is not additive, by its name.

    Args:
        connection: A database.
        source: The relation of typed values, in the order of the file.
        names: The columns' names.
        columns: What they were found to be.
    """
    numeric = [
        (name, column)
        for name, column in zip(names, columns, strict=True)
        if column.type in ("integer", "float")
    ]
    facts = _facts(connection, source, numeric)
    roles = {name: additivity(name, column.type, facts[name]) for name, column in numeric}
    compared = [
        _Numbers(name, f"CAST({quoted_name(name)} AS DOUBLE)", _half_unit(column))
        for name, column in numeric[:_MAX_COLUMNS]
    ]
    roles |= _proven(connection, source, compared, roles)
    return {name: found for name, found in roles.items() if found.role != "additive"}


def _facts(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    numeric: Sequence[tuple[str, TypedColumn]],
) -> dict[str, NumberFacts]:
    whole = [(name, column) for name, column in numeric if column.type == "integer"]
    # Only whole numbers are judged by their values.
    parts = ("count", "min", "max", "sum")
    asked = [f"{part}({quoted_name(name)})" for name, _ in whole for part in parts]
    answers = iter(Aggregates(connection, source).ask(asked))
    facts = {
        name: NumberFacts(next(answers), next(answers), next(answers), next(answers))
        for name, _ in whole
    }
    return {
        name: msgspec.structs.replace(facts.get(name, NumberFacts()), is_percent=column.is_percent)
        for name, column in numeric
    }


def _half_unit(column: TypedColumn) -> float:
    """Return half a unit of a column's last decimal: what a rounded product may be off by."""
    if column.type == "integer":
        return 0.5
    inside = column.sql_type.partition("(")[2].rstrip(")")
    scale = inside.rpartition(",")[2].strip()
    return 0.5 * 10.0 ** -int(scale) if scale.isdigit() else 0.005


def _proven(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    numbers: Sequence[_Numbers],
    by_name: dict[str, Additivity],
) -> dict[str, Additivity]:
    """Return what columns prove each other to be."""
    if len(numbers) < 2:
        return {}
    selected = ", ".join(each.sql for each in numbers)
    sample = connection.execute(f"SELECT {selected} FROM {source} LIMIT {_SAMPLE_ROWS}").fetchall()
    proven: dict[str, Additivity] = {}
    found = list(_sampled_products(numbers, sample))
    for product in _holding(connection, source, numbers, found):
        proven |= _of_product(product, numbers, sample, by_name)
    for place, each in enumerate(numbers):
        if not is_balance_name(each.name) or each.name in proven:
            continue
        for other in range(len(numbers)):
            if other != place and _is_balance(connection, source, numbers, place, other, sample):
                reason = f"it changes by {numbers[other].name} in each row"
                proven[each.name] = Additivity("balance", reason)
                break
    return proven


def _sampled_products(
    numbers: Sequence[_Numbers], sample: Sequence[Sequence[float | None]]
) -> Iterator[_Product]:
    """Yield the products that the first rows do not rule out."""
    for one, other in combinations(range(len(numbers)), 2):
        rows = [row for row in sample if row[one] is not None and row[other] is not None]
        if sum(_is_telling(row[one], row[other]) for row in rows) < _TELLING_ROWS:
            continue
        for product in range(len(numbers)):
            if product in (one, other):
                continue
            half = numbers[product].half
            for is_percent in (False, True):
                if _all_products(rows, one, other, product, half, is_percent=is_percent):
                    yield _Product(one, other, product, is_percent)


def _is_telling(one: float | None, other: float | None) -> bool:
    return one not in (None, 0, 1) and other not in (None, 0, 1) and one != other


def _all_products(
    rows: Sequence[Sequence[Any]],
    one: int,
    other: int,
    product: int,
    half: float,
    *,
    is_percent: bool,
) -> bool:
    telling = 0
    for row in rows:
        found = row[product]
        if found is None:
            continue
        wanted = row[one] * row[other] / (100 if is_percent else 1)
        if abs(wanted - found) > half + _RELATIVE_ERROR * abs(wanted):
            return False
        # A product that rounds to 0 agrees with anything.
        telling += _is_telling(row[one], row[other]) and abs(found) > 2 * half
    return telling >= _TELLING_ROWS


def _holding(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    numbers: Sequence[_Numbers],
    found: Sequence[_Product],
) -> list[_Product]:
    """Return the products that hold in every row."""
    asked = []
    for each in found:
        wanted = f"{numbers[each.one].sql} * {numbers[each.other].sql}"
        wanted = f"{wanted} / 100" if each.is_percent else wanted
        product = numbers[each.product]
        bound = f"{product.half!r} + {_RELATIVE_ERROR!r} * abs({wanted})"
        asked.append(f"bool_and(coalesce(abs({wanted} - {product.sql}) <= {bound}, true))")
    answers = Aggregates(connection, source).ask(asked)
    return [each for each, holds in zip(found, answers, strict=True) if holds]


def _of_product(
    product: _Product,
    numbers: Sequence[_Numbers],
    sample: Sequence[Sequence[float | None]],
    by_name: dict[str, Additivity],
) -> dict[str, Additivity]:
    """Return what a product proves its factors, and itself, to be."""
    amount = numbers[product.product].name
    for factor, count in ((product.one, product.other), (product.other, product.one)):
        name, times = numbers[factor].name, numbers[count].name
        known, of_times = by_name[name].role, by_name[times].role
        if is_quantity_name(times) and not is_quantity_name(name) and not product.is_percent:
            reason = f"{times} x {name} is {amount} in every row"
            is_settled = known not in ("additive", "unit price")
            proven = {} if is_settled else {name: Additivity("unit price", reason)}
            # "Price" is what was paid where it is quantity times unit price.
            if by_name[amount].role == "unit price" and by_name[amount].reason == "by its name":
                proven[amount] = Additivity("additive")
            return proven
        if _is_fraction(product, factor, sample) and not _is_fraction(product, count, sample):
            named = is_quantity_name(name) or is_quantity_name(times) or of_times == "unit price"
            if known == "additive" and not named:
                hundredth = " / 100" if product.is_percent else ""
                reason = f"{times} x {name}{hundredth} is {amount} in every row"
                return {name: Additivity("rate", reason)}
    return {}


def _is_fraction(product: _Product, place: int, sample: Sequence[Sequence[float | None]]) -> bool:
    """Tell whether a factor's values are at most 1, or 100 where they are percent."""
    most = 100 if product.is_percent else 1
    return all(abs(row[place] or 0) <= most for row in sample)


def _is_balance(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    numbers: Sequence[_Numbers],
    place: int,
    other: int,
    sample: Sequence[Sequence[float | None]],
) -> bool:
    """Tell whether a column goes up, or the rows read upwards, by another one in each row."""
    column, step = numbers[place], numbers[other]
    bound = 2 * column.half * 1e-3
    for sign, is_upwards in ((1, False), (-1, False), (1, True), (-1, True)):
        if not _steps(sample, place, other, sign, bound, is_upwards=is_upwards):
            continue
        by = f"lag({step.sql}) OVER ()" if is_upwards else step.sql
        change = f"({column.sql} - lag({column.sql}) OVER ())"
        change = f"-{change}" if is_upwards else change
        differing = f"abs({change} - ({sign}) * ({by})) > {bound!r} + 1e-9 * abs({column.sql})"
        row = connection.execute(
            f"SELECT count(*) FROM (SELECT coalesce({differing}, false) AS d FROM {source}) WHERE d"
        ).fetchone()
        if row is not None and not row[0]:
            return True
    return False


def _steps(
    sample: Sequence[Sequence[float | None]],
    place: int,
    other: int,
    sign: int,
    bound: float,
    *,
    is_upwards: bool,
) -> bool:
    telling = 0
    for before, after in pairwise(sample):
        low, high = before[place], after[place]
        step = before[other] if is_upwards else after[other]
        if low is None or high is None or step is None:
            continue
        change = low - high if is_upwards else high - low
        if abs(change - sign * step) > bound + _RELATIVE_ERROR * abs(high):
            return False
        telling += step != 0
    return telling >= _TELLING_ROWS
