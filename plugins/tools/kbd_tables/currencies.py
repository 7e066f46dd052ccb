"""Currencies in a column of their own, beside amounts: what must not be added up unsaid.

Euros and dollars have no sum. A column of codes tells that amounts beside it are of several; a
statement that groups by it, or chooses one, has named it.
"""

from collections.abc import Iterable, Sequence

import duckdb

from kbd.formats import is_quantity_name
from kbd_tables.column_types import Aggregates, TypedColumn
from kbd_tables.duck import quoted_name, quoted_text
from kbd_tables.numbers import CURRENCIES, SAME_CURRENCY
from kbd_tables.reading_text import AmountCurrencies

__all__ = ["find_currencies"]

_SAMPLE_ROWS = 100
_MAX_SHOWN = 4


def find_currencies(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    names: Sequence[str],
    columns: Sequence[TypedColumn],
    others: Iterable[str],
) -> AmountCurrencies | None:
    """Return the currencies of a table whose rows have several, None for one or none.

    Args:
        connection: A database.
        source: The typed relation.
        names: Of its columns.
        columns: Their types.
        others: Columns of numbers that do not add up anyway.
    """
    typed = list(zip(names, columns, strict=True))
    texts = [name for name, column in typed if column.type == "string"]
    amounts = tuple(
        name
        for name, column in typed
        if column.type in ("integer", "float")
        and name not in set(others)
        and not column.is_percent
        and not is_quantity_name(name)
    )
    if not texts or not amounts:
        return None
    # The first rows rule nearly all columns out.
    sample = f"(SELECT * FROM {source} LIMIT {_SAMPLE_ROWS})"
    for name in _of_codes(connection, sample, texts):
        if not _of_codes(connection, source, [name]):
            continue
        code = _code_sql(name)
        found = connection.execute(
            f"SELECT {code}, min({quoted_name(name)}) FROM {source}"
            f" WHERE {quoted_name(name)} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1"
        ).fetchall()
        if len(found) > 1:
            more = len(found) - _MAX_SHOWN
            shown = [str(value) for _, value in found[:_MAX_SHOWN]]
            values = (*shown, *([f"and {more:,} more"] if more > 0 else []))
            return AmountCurrencies(name, values, amounts)
    return None


def _code_sql(name: str) -> str:
    """Return the SQL of a currency's code; a sign and its code are one."""
    value = f"upper(trim({quoted_name(name)}))"
    pairs = " ".join(
        f"WHEN {quoted_text(sign.upper())} THEN {quoted_text(code)}"
        for sign, code in SAME_CURRENCY.items()
    )
    return f"CASE {value} {pairs} ELSE {value} END"


def _of_codes(
    connection: duckdb.DuckDBPyConnection, source: str, names: Sequence[str]
) -> list[str]:
    """Return the columns that hold nothing but currencies."""
    known = ", ".join(quoted_text(one.upper()) for one in CURRENCIES)
    asked = [f"bool_and(upper(trim({quoted_name(name)})) IN ({known}))" for name in names]
    answers = Aggregates(connection, source).ask(asked)
    return [name for name, answer in zip(names, answers, strict=True) if answer]
