"""Connections to DuckDB, and its errors in kbd's words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from kbd.errors import FileReadFailed, KbdError, ToolTimeout

__all__ = ["closing_connection", "ident", "said", "sql_text"]

_PATH = re.compile(r"(?<=')/[^']+(?=')|(?<=\")/[^\"]+(?=\")|(?:[A-Za-z]:)?(?:/[^\s/'\"]+){2,}")
"""A path in quotes goes as a whole: it may hold blanks."""
_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
    "temp_directory": "",
    # Their defaults tell the home folder to whoever asks for the settings.
    "secret_directory": "none",
    "extension_directory": "none",
}


@contextmanager
def closing_connection(
    memory_mb: int = 1024, threads: int = 2
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a private database in memory that loads no extension and spills nowhere.

    Errors of DuckDB that leave the block are translated: time and memory are TOOL_TIMEOUT, the
    rest FILE_READ_FAILED without paths, with the detail `stale_table`.
    """
    config = {**_OFFLINE, "memory_limit": f"{memory_mb}MiB", "threads": threads}
    connection = duckdb.connect(":memory:", config=config)
    try:
        # Not a connect option; without it a bar is drawn on stdout after two seconds.
        connection.execute("SET enable_progress_bar = false")
        yield connection
    except KbdError:
        raise
    except duckdb.InterruptException:
        raise ToolTimeout("the query passed its time limit and was stopped") from None
    except (duckdb.OutOfMemoryException, MemoryError):
        raise ToolTimeout(
            "the query needs more memory than it may use; select fewer columns or rows, "
            "or aggregate first"
        ) from None
    except duckdb.Error as error:
        # Statements from outside have their errors translated where they run; what comes here is
        # about the cached table itself.
        raise FileReadFailed(said(error), detail={"stale_table": True}) from None
    finally:
        connection.close()


def said(error: Exception) -> str:
    """Return DuckDB's own message without absolute paths and advice about settings."""
    message = str(error).split("\n\nPossible solutions")[0].strip()
    return _PATH.sub("(path)", message)


def ident(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str) -> str:
    """Return a text quoted for SQL."""
    return "'" + value.replace("'", "''") + "'"
