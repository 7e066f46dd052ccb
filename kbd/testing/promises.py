"""Assertions of the contract checks: report a broken promise, and ask again elsewhere."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["ZONE", "check_plain", "elsewhere", "expect"]

ZONE = "Asia/Kathmandu"
"""A time zone that is a quarter of an hour off."""


def expect(promise: str, *, kept: bool) -> None:
    """Raise an AssertionError that names the promise, unless it is kept."""
    if not kept:
        raise AssertionError(promise)


def check_plain(what: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Check that a value is plain (JSON gives it back) and the same each time; return it."""
    found = make()
    again = msgspec.json.decode(msgspec.json.encode(found))
    expect(f"{what} holds plain values only", kept=again == found)
    with elsewhere():
        expect(f"{what} is the same each time", kept=make() == found)
    return found


@contextmanager
def elsewhere() -> Iterator[None]:
    """Be in another time zone and folder, with another file mask, until the block is left."""
    zone, here, mask = os.environ.get("TZ"), Path.cwd(), os.umask(0o007)
    os.environ["TZ"] = ZONE
    time.tzset()
    os.chdir("/")
    try:
        yield
    finally:
        os.chdir(here)
        os.umask(mask)
        if zone is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = zone
        time.tzset()
