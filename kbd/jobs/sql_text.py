"""Pieces of SQL: quoted names and values, texts as they are compared, figures as they are told."""

from collections.abc import Mapping

from kbd.jobs.columns import ShapeType

__all__ = [
    "NUMBERS",
    "SQL_TYPES",
    "alike_sql",
    "filled",
    "fold_sql",
    "held_as",
    "identifier",
    "order_sql",
    "rounded",
    "rounded_sum",
    "text_literal",
    "text_of",
    "trimmed_sql",
]

NUMBERS = ("integer", "float")
"""The types of numbers."""

SQL_TYPES: Mapping[ShapeType, str] = {
    "string": "VARCHAR", "integer": "BIGINT", "float": "DOUBLE", "boolean": "BOOLEAN",
    "date": "DATE", "datetime": "TIMESTAMP", "any": "VARCHAR",
}  # fmt: skip
"""What values of a type are made where they may be held otherwise, or are none."""

_BLANKS = " \t\n\r\u00a0"
"""What is taken off around texts: what is left or made, for tables come without most blanks."""

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


def held_as(sql: str, kind: ShapeType, other: ShapeType) -> str:
    """Return a value so that it stands beside one of another type.

    A column without a value is of any type, and may be held as one of texts.
    """
    is_open = kind == "any" and other != "any" and sql != "NULL"
    return f"CAST({sql} AS {SQL_TYPES[other]})" if is_open else sql


def identifier(name: str) -> str:
    """Quote a name."""
    # Doubled: the name comes from a file, and must not end the identifier.
    return '"' + name.replace('"', '""') + '"'


def text_literal(value: str) -> str:
    """Quote a text."""
    return "'" + value.replace("'", "''") + "'"


def fold_sql(sql: str) -> str:
    """Return a text as the function `fold` gives it."""
    return f"lower(nfc_normalize({trimmed_sql(sql)}))"


def trimmed_sql(sql: str) -> str:
    """Return a text without blanks around it."""
    return f"trim({sql}, {text_literal(_BLANKS)})"


def alike_sql(sql: str, kind: ShapeType, *, exact: bool = False) -> str:
    """Return what values that count as one have in common; a blank text counts as none.

    Args:
        sql: The value.
        kind: Its type.
        exact: Whether capitals count.
    """
    if kind != "string":
        return sql
    return filled(sql) if exact else f"lower(nfc_normalize({filled(sql)}))"


def filled(sql: str) -> str:
    """Return a text, or NULL where it is blank."""
    return f"CASE WHEN trim({sql}) <> '' THEN {sql} END"


def order_sql(sql: str, kind: ShapeType, *, descending: bool = False) -> str:
    """Return the keys to sort by a value: empty ones last, texts as in a dictionary."""
    way = f"{' DESC' if descending else ''} NULLS LAST"
    if kind != "string":
        return f"{sql}{way}"
    key = alike_sql(sql, kind)
    return f"strip_accents({key}){way}, {key}{way}"


def rounded(sql: str) -> str:
    """Return a figure made of fractions, rounded where nobody reads it."""
    return _ROUNDED.format(sql)


def rounded_sum(sql: str, of_sizes: str) -> str:
    """Return a sum of fractions likewise, and 0 where only what they lost is left of it.

    Args:
        sql: The sum.
        of_sizes: The sum of the same without signs: 0.1 + 0.2 - 0.3 is 6e-17.
    """
    zero = f"CASE WHEN abs({sql}) <= 1e-15 * CAST({of_sizes} AS DOUBLE) THEN {sql} - {sql}"
    return zero + _ROUNDED.format(sql).removeprefix("CASE")


def text_of(sql: str, kind: ShapeType) -> str:
    """Return a value as people write it: a number without needless places, an ISO date."""
    if kind == "string":
        return sql
    if kind != "float":
        return f"CAST({sql} AS VARCHAR)"
    # 15 digits are those that a binary fraction keeps of what was written; a decimal keeps all.
    return (
        f"CASE WHEN typeof({sql}) = 'DOUBLE' THEN printf('%.15g', CAST({sql} AS DOUBLE)) ELSE"
        rf" regexp_replace(CAST({sql} AS VARCHAR), '[.]0+$|([.][0-9]*[1-9])0+$', '\1') END"
    )
