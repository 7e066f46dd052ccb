"""Rows that must come of a job: what the SQL of a case gives over the rows that were made."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import duckdb
import msgspec

from jobs.recipes.made_tables import MadeTable
from jobs.recipes.recipe_cases import RecipeCase

__all__ = ["ANSWER", "WantedRows", "wanted_rows"]

ANSWER = "answer"
"""The place of the rows that a report tells."""

_SQL_TYPES = {"text": "VARCHAR", "number": "DECIMAL(18, 2)", "integer": "BIGINT", "date": "DATE"}
_BATCH = 500
_CONNECTION = duckdb.connect(config={"threads": 1})


class WantedRows(msgspec.Struct, frozen=True):
    """Rows that must stand somewhere.

    Args:
        file: The file; `ANSWER` for what is told.
        sheet: Its sheet; "" for the first one, or a file without any.
        names: The headings.
        types: Their types in SQL.
        rows: The rows.
        is_ordered: Whether in this order.
        is_text: Whether they are texts of a document.
    """

    file: str
    sheet: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_ordered: bool = False
    is_text: bool = False


def wanted_rows(
    case: RecipeCase, tables: Mapping[str, MadeTable], ledgers: Mapping[str, MadeTable]
) -> list[WantedRows]:
    """Return all that must come of a case on some tables."""
    named = {**tables, **{PurePosixPath(file).stem: each for file, each in ledgers.items()}}
    for name, table in named.items():
        _load(name, table)
    return [
        wanted for place, sql in case.sql.items() for wanted in _wanted(_stems(place, tables), sql)
    ]


def _load(name: str, table: MadeTable) -> None:
    """Make a table of the rows as they are meant, `_n` their number."""
    heads: list[str] = []
    for each in table.columns:
        # Of two columns of one name the first one is meant.
        heads.append(each.name if each.name not in heads else f"{each.name}_2")
    types = [_SQL_TYPES[each.holds] for each in table.columns]
    columns = ", ".join(f'"{head}" {kind}' for head, kind in zip(heads, types, strict=True))
    _CONNECTION.execute(f'CREATE OR REPLACE TABLE "{name}" ({columns}, _n INTEGER)')
    rows = [(*row, number) for number, row in enumerate(table.rows)]
    for start in range(0, len(rows), _BATCH):
        some = rows[start : start + _BATCH]
        marks = ", ".join([f"({', '.join('?' * (len(heads) + 1))})"] * len(some))
        values = [value for row in some for value in row]
        _CONNECTION.execute(f'INSERT INTO "{name}" VALUES {marks}', values)
    _CONNECTION.execute(f"SET VARIABLE {name}_file = '{table.file}'")


def _stems(place: str, tables: Mapping[str, MadeTable]) -> str:
    for name, table in tables.items():
        place = place.replace(f"{{{name}}}", PurePosixPath(table.file).stem)
    return place


def _wanted(place: str, sql: str) -> Iterator[WantedRows]:
    """Yield the rows of one statement, by the files and sheets that they are for."""
    answer = _CONNECTION.execute(sql)
    # A pivot sorts its headings; what has a ~ before it comes last.
    names = tuple(each[0].removeprefix("~") for each in answer.description or ())
    types = tuple(str(each[1]) for each in answer.description or ())
    rows = tuple(answer.fetchall())
    is_ordered = "order by" in sql.lower().rpartition(")")[2]
    file, _, sheet = place.partition("|")
    if sheet != "*" and "{value}" not in file:
        is_text = sheet == "text"
        yield WantedRows(file, sheet, names, types, rows, is_ordered, is_text)
        return
    for value in dict.fromkeys(row[0] for row in rows):
        some = tuple(row[1:] for row in rows if row[0] == value)
        yield WantedRows(
            file.replace("{value}", _name_of(value)), str(value) if sheet == "*" else sheet,
            names[1:], types[1:], some, is_ordered, sheet == "text",
        )  # fmt: skip


def _name_of(value: object) -> str:
    """Return what a value is in the name of a file."""
    signs = "".join(" " if sign in '/\\:*?"<>|' else sign for sign in str(value))
    return " ".join(signs.split()).lstrip(".") or "_"
