"""How a check tells that a promise is broken."""

from collections.abc import Callable
from typing import Any

import msgspec

__all__ = ["check_plain", "expect"]


def expect(promise: str, *, kept: bool) -> None:
    """Raise an AssertionError that names the promise, unless it is kept."""
    if not kept:
        raise AssertionError(promise)


def check_plain(what: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Check that a value is plain (JSON gives it back) and the same each time; return it."""
    found = make()
    again = msgspec.json.decode(msgspec.json.encode(found))
    expect(f"{what} holds plain values only", kept=again == found)
    expect(f"{what} is the same each time", kept=make() == found)
    return found
