"""Jobs of the worker, each calling a module that needs DuckDB, and the limits of statements.

The daemon names these functions and must not import DuckDB to do so; in a worker it is there
already, imported by the zygote before the fork.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kbd.errors import ValidationFailed
from kbd.tools import CallLimits

__all__ = [
    "WORK_LIMITS",
    "QueryLimits",
    "describe",
    "export",
    "export_plain",
    "export_queries",
    "export_query",
    "load",
    "lost_figures_note",
    "query",
    "query_limits",
    "rows",
    "stats",
    "worker_limits",
]


def load(**arguments: Any) -> Any:
    """Type a plain table and write it as Parquet: `kbd_tables.loader.load`."""
    from kbd_tables import loader  # noqa: PLC0415 - 90 ms of DuckDB that the daemon need not spend

    return loader.load(**arguments)


def describe(**arguments: Any) -> Any:
    """Describe the columns: `kbd_tables.results.describe`."""
    from kbd_tables import results  # noqa: PLC0415 - as in `load`

    return results.describe(**arguments)


def stats(**arguments: Any) -> Any:
    """Compute statistics: `kbd_tables.results.stats`."""
    from kbd_tables import results  # noqa: PLC0415 - as in `load`

    return results.stats(**arguments)


def rows(**arguments: Any) -> Any:
    """Read rows by number: `kbd_tables.results.rows`."""
    from kbd_tables import results  # noqa: PLC0415 - as in `load`

    return results.rows(**arguments)


def query(**arguments: Any) -> Any:
    """Run a statement and return a window of its rows: `kbd_tables.sandbox.query`."""
    from kbd_tables import sandbox  # noqa: PLC0415 - as in `load`

    return sandbox.query(**arguments)


def export(**arguments: Any) -> Any:
    """Write typed rows for a format to take: `kbd_tables.results.export`."""
    from kbd_tables import results  # noqa: PLC0415 - as in `load`

    return results.export(**arguments)


def export_query(**arguments: Any) -> Any:
    """Write what a statement makes of tables: `kbd_tables.results.export_query`."""
    from kbd_tables import results  # noqa: PLC0415 - as in `load`

    return results.export_query(**arguments)


def export_queries(**arguments: Any) -> Any:
    """Write what several statements make of tables: `kbd_tables.results.export_queries`."""
    from kbd_tables import results  # noqa: PLC0415 - as in `load`

    return results.export_queries(**arguments)


def export_plain(**arguments: Any) -> Any:
    """Write rows with numbers in their own text form: `kbd_tables.results.export_plain`."""
    from kbd_tables import results  # noqa: PLC0415 - as in `load`

    return results.export_plain(**arguments)


def lost_figures_note(count: int) -> str:
    """Return the note on figures that came out as NaN or infinite."""
    return f"{count} figure(s) are NaN or infinite: they are empty here, and no number"


_GIB = 1024 * 1024 * 1024
_LOAD_BYTES_PER_S = 20_000_000
"""A third of what loading Parquet into memory was measured to do on two cores."""

_MOST_SLOW = 12
"""Statements of one call that may all take the whole of their time."""

WORK_LIMITS = CallLimits(memory_bytes=3 * _GIB, cpu_s=60)
"""For work whose SQL is this plugin's own. DuckDB reserves far more address space than it uses."""


class QueryLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of one statement (contract, section 7), and of the cache.

    Args:
        query_seconds: Seconds, the loading of the table not counted.
        query_memory_mb: Memory in MiB, the table itself not counted.
        query_threads: Threads that load a large table, or run a statement that answers the same in
            several; any other statement has one.
        query_rows: The most rows of a window.
        cache_mb: The most MiB of typed tables that are kept for a workbench; the least recently
            used ones go.
    """

    query_seconds: Annotated[float, Meta(gt=0)] = 5.0
    query_memory_mb: Annotated[int, Meta(ge=1)] = 512
    query_threads: Annotated[int, Meta(ge=1)] = 2
    query_rows: Annotated[int, Meta(ge=1)] = 10_000
    cache_mb: Annotated[int, Meta(ge=1)] = 2048


def query_limits(settings: Mapping[str, Any]) -> QueryLimits:
    """Read the limits from the plugin's settings.

    Raises:
        ValidationFailed: A setting is unknown or of the wrong type.
    """
    try:
        return msgspec.convert(dict(settings), QueryLimits)
    except msgspec.ValidationError as error:
        raise ValidationFailed(f"settings of the tables plugin: {error}") from None


def worker_limits(limits: QueryLimits, table_bytes: int, statements: int = 1) -> CallLimits:
    """Return the limits of a worker that loads tables and runs statements on them.

    Each statement is interrupted by its own clock; this wall is for what cannot be interrupted (one
    huge scalar) and leaves room for the loading. Of many statements it bounds what all of them
    take: most need a hundredth of their time.
    """
    taken = limits.query_seconds * min(statements, _MOST_SLOW)
    wall = taken + 2.0 + table_bytes / _LOAD_BYTES_PER_S
    cpu = int(wall * limits.query_threads) + 1
    # DuckDB takes twice its memory limit of address space: with 512 MB it failed within 1 GiB.
    return CallLimits(wall_s=wall, cpu_s=cpu, memory_bytes=3 * _GIB)
