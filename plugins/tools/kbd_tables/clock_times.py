"""Times as clocks show them (7:30, 38:45:00): durations or times of day, which stay text.

No type of columns is one of durations, and nothing tells 7:30 in the morning from seven hours and a
half. But what they come to in seconds tells of a row below them whether it sums them up.
"""

import re

from kbd_tables.duck import quoted_text
from kbd_tables.shapes import Shape, trimmed_sql

__all__ = ["DAY_SECONDS", "clock_seconds_sql", "clock_text", "is_clock_time"]

DAY_SECONDS = 24 * 60 * 60
"""No time of day is so late; a duration may be as long."""

_SHAPE = re.compile("[-+−]?9{1,5}:99(:99)?")
_VALUE = "([-+−]?)([0-9]{1,5}):([0-5][0-9])(?::([0-5][0-9]))?"


def is_clock_time(shape: Shape) -> bool:
    """Tell whether values have the form of such a time."""
    return _SHAPE.fullmatch(shape.text) is not None


def clock_seconds_sql(column: str) -> str:
    """Return the SQL of a time's seconds, NULL for what is none."""
    value = trimmed_sql(column)
    sign, hours, minutes, seconds = (
        f"regexp_extract({value}, {quoted_text(f'^{_VALUE}$')}, {part})" for part in range(1, 5)
    )
    whole = (
        f"3600 * try_cast({hours} AS BIGINT) + 60 * try_cast({minutes} AS BIGINT)"
        f" + coalesce(try_cast({seconds} AS BIGINT), 0)"
    )
    return f"(CASE WHEN {sign} IN ('-', '−') THEN -1 ELSE 1 END * ({whole}))"


def clock_text(seconds: int) -> str:
    """Return seconds as a clock shows them, without those where there are none."""
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}"
    return f"{text}:{rest:02}" if rest else text
