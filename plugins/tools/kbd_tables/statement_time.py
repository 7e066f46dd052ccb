"""Time and chance of a statement, pinned: a call that is done again must answer what it answered.

The clock that SQL sees is the call's, chance begins from a seed of the call's, times are told in
UTC, and one thread works: with two, sums of floats and the order of groups were found to change
from run to run.
"""

import hashlib
from datetime import UTC, datetime, timedelta

import duckdb

__all__ = ["CLOCKS", "pin_clock"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SEEDS = 2**32
"""DuckDB keeps 32 bits of a seed."""

_INSTANTS = (
    "now", "current_timestamp", "get_current_timestamp", "transaction_timestamp",
    "pg_postmaster_start_time", "pg_conf_load_time",
)  # fmt: skip
_DAYS = ("today", "current_date")
_TIMES = ("get_current_time", "current_time")
_LOCAL_TIMES = ("current_localtime", "localtime")
_LOCAL_INSTANTS = ("current_localtimestamp", "localtimestamp")

CLOCKS = frozenset((*_INSTANTS, *_DAYS, *_TIMES, *_LOCAL_TIMES, *_LOCAL_INSTANTS, "age", "uuidv7"))
"""The functions that read a clock; each is one of ours while a statement runs."""


def pin_clock(connection: duckdb.DuckDBPyConnection, now_us: int, sql: str) -> None:
    """Pin the clock and the random seed of a connection, so that a statement is repeatable.

    Args:
        connection: The connection, before its configuration is locked.
        now_us: The time of the call in microseconds since 1970 UTC.
        sql: The statement; each has its own seed.
    """
    # Only now, for several may load the table.
    connection.execute("SET threads = 1")
    connection.execute("SET TimeZone = 'UTC'")
    # A function of ours is found before DuckDB's own of that name, also inside views and macros.
    connection.execute(_clocks(now_us))
    digest = hashlib.sha256(f"{now_us}\0{sql}".encode(errors="surrogatepass")).digest()
    # A seed of SQL lies between -1 and 1, hence the quotient.
    connection.execute("SELECT setseed(?)", [int.from_bytes(digest[:4]) / _SEEDS]).fetchall()


def _clocks(now_us: int) -> str:
    """Return the SQL that makes our own clock functions."""
    now = _EPOCH + timedelta(microseconds=now_us)
    day, time = f"{now:%Y-%m-%d}", f"{now:%H:%M:%S.%f}"
    values = {
        _INSTANTS: f"TIMESTAMPTZ '{day} {time}+00'",
        _DAYS: f"DATE '{day}'",
        _TIMES: f"TIMETZ '{time}+00'",
        _LOCAL_TIMES: f"TIME '{time}'",
        _LOCAL_INSTANTS: f"TIMESTAMP '{day} {time}'",
    }
    made = [
        f"CREATE MACRO {name}() AS {value};" for names, value in values.items() for name in names
    ]
    # Of one argument it counts up to the beginning of the day.
    made.append(
        f"CREATE MACRO age(a) AS system.main.age(TIMESTAMP '{day}', a),"
        " (a, b) AS system.main.age(a, b);"
    )
    # RFC 9562, 5.7: 48 bits of milliseconds, the version, and chance.
    stamp = f"{now_us // 1000:012x}"
    made.append(
        f"CREATE MACRO uuidv7() AS CAST('{stamp[:8]}-{stamp[8:]}-7'"
        " || substr(CAST(uuid() AS VARCHAR), 16) AS UUID);"
    )
    return "".join(made)
