"""Queries of the index: what a list request says, as SQL."""

from collections.abc import Sequence
from typing import Any, assert_never

import msgspec

from kbd.core.domain.workbench_state import folded_name
from kbd.requests.base import Unset
from kbd.requests.pages import Place, decode_cursor
from kbd.requests.workbenches import WorkbenchList
from kbd.requests.workshop import RunList

__all__ = ["ListQuery", "run_query", "workbench_query"]


class ListQuery(msgspec.Struct, frozen=True):
    """Query of a page: the rows of a table that it wants, in which order, from where.

    Args:
        table: The table.
        key: The columns that it is sorted by; no two rows have the same values.
        where: The conditions of the filters, joined by AND; "1" for none.
        values: The values that they are compared with.
        descending: Whether the last row comes first.
        after: The place behind which the page begins; None for the first page.
        limit: How many rows at most; -1 is all.
        of: What tells the list from others, for its cursors.
    """

    table: str
    key: tuple[str, ...]
    where: str
    values: tuple[Any, ...]
    descending: bool
    after: Place | None
    limit: int
    of: tuple[Any, ...]

    def page_sql(self, columns: str) -> tuple[str, tuple[Any, ...]]:
        """Return the statement that reads the page and one row more, and its values."""
        where, values = self.where, self.values
        key = ", ".join(self.key)
        if self.after is not None:
            holes = ", ".join("?" * len(self.key))
            where += f" AND ({key}) {'<' if self.descending else '>'} ({holes})"
            values += self.after
        way = " DESC" if self.descending else ""
        order = ", ".join(f"{column}{way}" for column in self.key)
        # Every name in it is of this module.
        sql = f"SELECT {key}, {columns} FROM {self.table} WHERE {where} ORDER BY {order} LIMIT ?"
        return sql, (*values, self.limit + 1 if self.limit >= 0 else -1)

    def count_sql(self) -> tuple[str, tuple[Any, ...]]:
        """Return the statement that counts what matches the filters, and its values."""
        return f"SELECT COUNT(*) FROM {self.table} WHERE {self.where}", self.values


class _Filters:
    """Conditions that gather."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self._values: list[Any] = []

    def add(self, condition: str, *values: Any) -> None:
        self._conditions.append(condition)
        self._values += values

    def one_of(self, column: str, wanted: Sequence[str]) -> None:
        """Have a column be one of some values; of any if none are wanted."""
        if wanted:
            self.add(f"{column} IN ({', '.join('?' * len(wanted))})", *wanted)

    def words(self, column: str, query: str) -> None:
        """Have a column contain all words of a query."""
        for word in folded_name(query).split():
            # Not LIKE, in which a user's % and _ would stand for anything.
            self.add(f"instr({column}, ?)", word)

    def where(self) -> str:
        return " AND ".join(self._conditions) or "1"

    def values(self) -> tuple[Any, ...]:
        return tuple(self._values)


def workbench_query(request: WorkbenchList) -> ListQuery:
    """Return the query of a list of workbenches.

    Raises:
        ValidationFailed: The cursor is of another list.
    """
    filters = _Filters()
    filters.one_of("status", request.status)
    filters.words("text", request.query)
    if not isinstance(request.file, Unset):
        filters.add("id IN (SELECT workbench_id FROM files WHERE name = ?)", request.file)
    if not isinstance(request.watch_id, Unset):
        made = "id IN (SELECT workbench_id FROM origins WHERE watch_id = ?)"
        filters.add(made, request.watch_id)
    if not isinstance(request.named, Unset):
        # A whole id goes before a name, and a name before the beginning of an id.
        filters.add(
            "id IN (SELECT id FROM workbenches WHERE CASE"
            " WHEN EXISTS (SELECT 1 FROM workbenches WHERE id = ?1) THEN id = ?1"
            " WHEN EXISTS (SELECT 1 FROM workbenches WHERE name = ?1) THEN name = ?1"
            " ELSE substr(id, 1, length(?1)) = ?1 END)".replace("?1", "?"),
            *(request.named,) * 6,
        )
    key: dict[str, type]
    match request.order:
        case "created":
            key = {"created_at_us": int, "id": str}
        case "updated":
            key = {"updated_at_us": int, "id": str}
        case "name":
            key = {"folded_name": str, "id": str}
        case "size":
            key = {"disk_bytes": int, "id": str}
        case _:
            assert_never(request.order)
    return _query("workbenches", key, filters, request)


def run_query(request: RunList) -> ListQuery:
    """Return the query of a list of runs.

    Raises:
        ValidationFailed: The cursor is of another list.
    """
    filters = _Filters()
    filters.one_of("status", ("running",) if request.running else ())
    filters.one_of("status", request.status)
    filters.words("text", request.query)
    if not isinstance(request.workbench_id, Unset):
        filters.add("workbench_id = ?", request.workbench_id)
    key: dict[str, type] = {"started_at_us": int, "workbench_id": str, "number": int}
    match request.order:
        case "started":
            pass
        case "cost":
            key = {"cost": float, **key}
        case _:
            assert_never(request.order)
    return _query("runs", key, filters, request)


def _query(
    table: str, key: dict[str, type], filters: _Filters, request: WorkbenchList | RunList
) -> ListQuery:
    where, values = filters.where(), filters.values()
    of = (table, tuple(key), where, values, request.descending)
    cursor, limit = request.cursor, request.limit
    return ListQuery(
        table=table,
        key=tuple(key),
        where=where,
        values=values,
        descending=request.descending,
        after=None if isinstance(cursor, Unset) else decode_cursor(cursor, of, tuple(key.values())),
        limit=-1 if isinstance(limit, Unset) else limit,
        of=of,
    )
