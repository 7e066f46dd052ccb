"""Time and chance of a statement, pinned: a call that is done again must answer what it answered.

The clock that SQL sees is the call's, chance begins from a seed of the call's, times are told in
UTC, and one thread works: with two, sums of floats and the order of groups were found to change
from run to run.

Every database has clock functions of ours in place of DuckDB's (`CLOCK_MACROS`). They read
variables, which `pin_clock` sets: to set these takes a tenth of making the functions.
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

_NOW, _DAY, _TIME, _LOCAL_TIME, _LOCAL_NOW, _MIDNIGHT, _STAMP = (
    f"getvariable('kbd_{name}')"
    for name in ("now", "day", "time", "local_time", "local_now", "midnight", "stamp")
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
    f"CREATE MACRO age(a) AS system.main.age({_MIDNIGHT}, a), (a, b) AS system.main.age(a, b);"
    # RFC 9562, 5.7: 48 bits of milliseconds, the version, and chance.
    f"CREATE MACRO uuidv7() AS CAST({_STAMP} || substr(CAST(uuid() AS VARCHAR), 16) AS UUID);"
)
"""The SQL that makes the clock functions of a database."""


def pin_clock(connection: duckdb.DuckDBPyConnection, now_us: int, sql: str) -> None:
    """Pin the clock and the random seed of a connection, so that a statement is repeatable.

    Args:
        connection: A connection that has `CLOCK_MACROS`, before its configuration is locked.
        now_us: The time of the call in microseconds since 1970 UTC.
        sql: The statement; each has its own seed.
    """
    now = _EPOCH + timedelta(microseconds=now_us)
    day, time = f"{now:%Y-%m-%d}", f"{now:%H:%M:%S.%f}"
    stamp = f"{now_us // 1000:012x}"
    connection.execute(
        # One thread only now, for several may load the table.
        "SET threads = 1; SET TimeZone = 'UTC';"
        f"SET VARIABLE kbd_now = TIMESTAMPTZ '{day} {time}+00';"
        f"SET VARIABLE kbd_day = DATE '{day}';"
        f"SET VARIABLE kbd_time = TIMETZ '{time}+00';"
        f"SET VARIABLE kbd_local_time = TIME '{time}';"
        f"SET VARIABLE kbd_local_now = TIMESTAMP '{day} {time}';"
        f"SET VARIABLE kbd_midnight = TIMESTAMP '{day}';"
        f"SET VARIABLE kbd_stamp = '{stamp[:8]}-{stamp[8:]}-7'"
    )
    digest = hashlib.sha256(f"{now_us}\0{sql}".encode(errors="surrogatepass")).digest()
    # A seed of SQL lies between -1 and 1, hence the quotient.
    connection.execute("SELECT setseed(?)", [int.from_bytes(digest[:4]) / _SEEDS]).fetchall()
