"""Errors of statements, for whoever mends them: what is unknown, what is near, what there is.

Words only, and so apart from `sandbox`, whose subject is what a statement may do.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

import duckdb

from kbd.errors import ValidationFailed
from kbd_tables.duck import duckdb_message, quoted_name
from kbd_tables.table_names import TableCatalog, nearest

__all__ = ["refused"]

_COLUMN = re.compile(
    r'Referenced column "(?P<name>.*?)" not found in FROM clause'
    r'|Table "(?P<table>.*?)" does not have a column named "(?P<field>.*?)"'
    r'|Column "(?P<listed>.*?)" in (?:EXCLUDE|REPLACE|RENAME) list not found'
    r'|Column "(?P<joined>.*?)" does not exist on (?:left|right) side of join',
    re.DOTALL,
)
_ALIAS = re.compile(r'Referenced table "(?P<name>.*?)" not found', re.DOTALL)
_FUNCTION = re.compile(
    r'Function with name (?P<name>\S+) does not exist!(?:\s*Did you mean "(?P<near>[^"]+)")?'
)
_SHOWN_COLUMNS = 60


class HasColumns(Protocol):
    """A table with columns: name, reported type and SQL type of each."""

    @property
    def columns(self) -> tuple[tuple[str, str, str], ...]:
        """The columns."""


def refused(
    error: duckdb.Error,
    named: Mapping[tuple[str, ...], HasColumns],
    catalog: TableCatalog,
) -> ValidationFailed:
    """Return DuckDB's error about a statement as one of kbd.

    Args:
        error: What DuckDB says; where it knows a name no better than kbd, kbd's words go first.
        named: The tables that the statement names.
        catalog: The tables that there are.
    """
    # Lines are counted in the statement that this one was nested in.
    message = duckdb_message(error).split("\n\nLINE ")[0]
    columns = [name for table in named.values() for name, _, _ in table.columns]
    if found := _COLUMN.search(message):
        name = found["name"] or found["field"] or found["listed"] or found["joined"]
        where = found["table"] or " or ".join(sorted({".".join(path) for path in named}))
        near = _hint(name, columns)
        message = f"there is no column {name} in {where or 'the statement'}{near}"
    elif found := _ALIAS.search(message):
        near = _hint(found["name"], [path[-1] for path in named])
        message = f"the statement has no table called {found['name']} in its FROM{near}"
    elif found := _FUNCTION.search(message):
        # DuckDB knows its functions, and after an error its transaction answers nothing more.
        near = f"; did you mean {found['near']}?" if found["near"] else ""
        message = f"there is no function {found['name']}{near}"
    return ValidationFailed(f"{message}\n{_described(named, catalog)}")


def _hint(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def _described(named: Mapping[tuple[str, ...], HasColumns], catalog: TableCatalog) -> str:
    """Return sentences that say which columns the named tables have, and which tables there are."""
    lines = []
    for path, table in named.items():
        shown = ", ".join(
            f"{quoted_name(name)} {kind}" for name, kind, _ in table.columns[:_SHOWN_COLUMNS]
        )
        left = len(table.columns) - _SHOWN_COLUMNS
        more = f" and {left} more" if left > 0 else ""
        lines.append(f"the columns of {'.'.join(path)} are {shown}{more}")
    return "\n".join(lines or [catalog.described()])
