"""Time and chance of a statement, pinned: a call that is done again must answer what it answered.

The clock that SQL sees is the call's, chance begins from a seed of the call's, times are told in
UTC, and one thread works: with two, sums of floats and the order of groups were found to change
from run to run.

Every database has clock functions of ours in place of DuckDB's (`CLOCK_MACROS`). They read one
variable, which `pin_clock` sets: to set it takes a tenth of making the functions.
"""

import hashlib
from datetime import UTC, datetime, timedelta

import duckdb

__all__ = ["CLOCKS", "CLOCK_MACROS", "pin_clock"]

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

_NOW = "getvariable('kbd_now')"
# Of an instant with a zone, in the session's zone, which is UTC.
_LOCAL_NOW = f"CAST({_NOW} AS TIMESTAMP)"
_DAY, _TIME, _LOCAL_TIME = (
    f"CAST({value} AS {kind})"
    for value, kind in ((_NOW, "DATE"), (_NOW, "TIMETZ"), (_LOCAL_NOW, "TIME"))
)
_VALUES = {
    _INSTANTS: _NOW,
    _DAYS: _DAY,
    _TIMES: _TIME,
    _LOCAL_TIMES: _LOCAL_TIME,
    _LOCAL_INSTANTS: _LOCAL_NOW,
}

# A function of ours is found before DuckDB's own of that name, also inside views and macros.
CLOCK_MACROS = "".join(
    f"CREATE MACRO {name}() AS {value};" for names, value in _VALUES.items() for name in names
) + (
    # Of one argument it counts up to the beginning of the day.
    f"CREATE MACRO age(a) AS system.main.age(CAST({_DAY} AS TIMESTAMP), a),"
    " (a, b) AS system.main.age(a, b);"
    # RFC 9562, 5.7: 48 bits of milliseconds, the version, and chance.
    f"CREATE MACRO uuidv7() AS CAST(printf('%012x7', epoch_ms({_NOW}))"
    " || substr(replace(CAST(uuid() AS VARCHAR), '-', ''), 14) AS UUID);"
)
"""The SQL that makes the clock functions of a database."""


def pin_clock(
    connection: duckdb.DuckDBPyConnection, now_us: int, sql: str, threads: int = 1
) -> None:
    """Pin the clock and the random seed of a connection, so that a statement is repeatable.

    Args:
        connection: A connection that has `CLOCK_MACROS`, before its configuration is locked.
        now_us: The time of the call in microseconds since 1970 UTC.
        sql: The statement; each has its own seed.
        threads: How many it runs in; more than one only where that cannot change its answer.
    """
    now = _EPOCH + timedelta(microseconds=now_us)
    digest = hashlib.sha256(f"{now_us}\0{sql}".encode(errors="surrogatepass")).digest()
    # A seed of SQL lies between -1 and 1, hence the quotient. A text, for a number written out
    # would be a decimal.
    seed = int.from_bytes(digest[:4]) / _SEEDS
    connection.execute(
        # The number of threads only now, for several may have loaded the table.
        f"SET threads = {threads};"
        f"SET VARIABLE kbd_now = TIMESTAMPTZ '{now:%Y-%m-%d %H:%M:%S.%f}+00';"
        f"SELECT setseed(CAST('{seed!r}' AS DOUBLE))"
    ).fetchall()
