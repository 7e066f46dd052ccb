"""What workers run: each function is the door to a module that needs DuckDB.

The daemon names these functions and must not import DuckDB to do so; in a worker it is there
already, imported by the zygote before the fork.
"""

from typing import Any

__all__ = ["describe", "export", "export_plain", "load", "query", "rows", "stats"]


def load(**arguments: Any) -> Any:
    """Type a plain table and write it as Parquet: `kbd_tables.loader.load`."""
    from kbd_tables import loader as loading  # noqa: PLC0415 - 90 ms of DuckDB that the daemon need not spend

    return loading.load(**arguments)


def describe(**arguments: Any) -> Any:
    """Describe the columns: `kbd_tables.facts.describe`."""
    from kbd_tables import facts  # noqa: PLC0415 - as in `load`

    return facts.describe(**arguments)


def stats(**arguments: Any) -> Any:
    """Compute statistics: `kbd_tables.facts.stats`."""
    from kbd_tables import facts  # noqa: PLC0415 - as in `load`

    return facts.stats(**arguments)


def rows(**arguments: Any) -> Any:
    """Read rows by number: `kbd_tables.facts.rows`."""
    from kbd_tables import facts  # noqa: PLC0415 - as in `load`

    return facts.rows(**arguments)


def query(**arguments: Any) -> Any:
    """Run a statement and return a window of its rows: `kbd_tables.box.query`."""
    from kbd_tables import box  # noqa: PLC0415 - as in `load`

    return box.query(**arguments)


def export(**arguments: Any) -> Any:
    """Write typed rows for a format to take: `kbd_tables.row_stream.export`."""
    from kbd_tables import row_stream as rowstream  # noqa: PLC0415 - as in `load`

    return rowstream.export(**arguments)


def export_plain(**arguments: Any) -> Any:
    """Write rows with numbers in their own text form: `kbd_tables.row_stream.export_plain`."""
    from kbd_tables import row_stream as rowstream  # noqa: PLC0415 - as in `load`

    return rowstream.export_plain(**arguments)
