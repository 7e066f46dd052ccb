"""Ages as arguments of commands: `90d`, `12h`, `4w`."""

import re
from argparse import ArgumentTypeError

__all__ = ["days", "seconds"]

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DAY_S = _UNITS_S["d"]
MAX_DAYS = 36_500


def seconds(text: str) -> int:
    """Parse an age as seconds; a number alone is days.

    Raises:
        ArgumentTypeError: It is none.
    """
    found = re.fullmatch(r"([0-9]{1,10})([smhdw]?)", text)
    age_s = int(found[1]) * _UNITS_S[found[2] or "d"] if found else -1
    if not 0 <= age_s <= MAX_DAYS * _DAY_S:
        msg = f"{text} is no age up to a hundred years, as 90d or 12h"
        raise ArgumentTypeError(msg)
    return age_s


def days(text: str) -> int:
    """Parse an age as whole days; a number alone is days.

    Raises:
        ArgumentTypeError: It is none.
    """
    age_s = seconds(text)
    if age_s % _DAY_S:
        raise ArgumentTypeError(f"{text} is no number of whole days, as 30d")
    return age_s // _DAY_S
