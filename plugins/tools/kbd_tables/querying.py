"""The tool that runs SQL."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.tools import CallLimits, Tool, ToolContext, ToolResult
from kbd.types import Effect
from kbd_tables import jobs
from kbd_tables.cache import ask, open_table
from kbd_tables.limits import QueryLimits, worker_limits
from kbd_tables.looking import SourceSheet, TablePath

__all__ = ["QueryArguments", "TableQuery"]

_MOST_WINDOW_ROWS = 10_000


class QueryArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement about a table, and which window of its rows to return."""

    path: TablePath
    query: Annotated[str, Meta(description="One reading SQL statement (DuckDB); FROM data.")]
    window_rows: Annotated[
        int, Meta(description="How many rows to return.", ge=1, le=_MOST_WINDOW_ROWS)
    ] = 100
    window_offset: Annotated[int, Meta(description="Rows to skip before them.", ge=0)] = 0
    source_sheet: SourceSheet = None


class TableQuery(Tool):
    """`table_query`: one read-only statement over a table.

    Args:
        limits: What a statement may use.
    """

    name: ClassVar[str] = "table_query"
    description = (
        "Run one read-only SQL statement (DuckDB: SELECT, WITH, FROM, DESCRIBE, SUMMARIZE) on a "
        "table; it is called data. Column names as in table_get_map, in double quotes where they "
        "hold blanks. Count first (SELECT count(*) FROM data), then fetch windows with "
        "window_rows and window_offset and an ORDER BY. Let SQL compute sums and groups; do not "
        "add up rows yourself. No other file can be reached."
    )
    arguments = QueryArguments
    effect: ClassVar[Effect] = Effect.READ
    preload: ClassVar[tuple[str, ...]] = ("kbd_tables.box",)

    def __init__(self, limits: QueryLimits) -> None:
        self._limits = limits

    async def run(self, context: ToolContext, arguments: QueryArguments) -> ToolResult:
        """Return a window of the rows, and how many there are.

        Raises:
            ValidationFailed: The statement is refused; the message names the columns.
            ToolTimeout: It needs more time or memory than it may use.
        """
        opened = await open_table(context, arguments.path, arguments.source_sheet)
        request = {
            "row_count": opened.record.row_count,
            "sql": arguments.query,
            "limits": msgspec.to_builtins(self._limits),
            "now_us": context.now_us,
            "window_rows": arguments.window_rows,
            "window_offset": arguments.window_offset,
        }

        def limits(table: Any) -> CallLimits:
            return worker_limits(self._limits, table.size_bytes)

        table, found = await ask(
            context, arguments.path, arguments.source_sheet, jobs.query, request, limits
        )
        return _result(arguments, found, table.record.warnings)


def _result(
    arguments: QueryArguments, found: dict[str, Any], table_warnings: tuple[str, ...]
) -> ToolResult:
    """Return the window as the contract's section 4 names its parts."""
    rows, total = found["rows"], found["total_row_count"]
    value: dict[str, Any] = {
        "columns": found["columns"],
        "column_types": found["column_types"],
        "rows": rows,
        "row_count": len(rows),
        "total_row_count": total,
        "window_rows": arguments.window_rows,
        "window_offset": arguments.window_offset,
        "has_more": bool(rows) and arguments.window_offset + len(rows) < total,
        "query_elapsed_ms": found["elapsed_ms"],
    }
    warnings = list(table_warnings)
    if not found["is_ordered"] and (value["has_more"] or arguments.window_offset):
        warnings.append("no ORDER BY: the windows of this query may overlap or miss rows")
    if found["is_cut"]:
        warnings.append("the window is too large and was cut; go on at a higher window_offset")
    if warnings:
        value["warnings"] = warnings
    return ToolResult(value, measured=("query_elapsed_ms",))
