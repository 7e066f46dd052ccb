"""An answer that comes later, told to a callback or waited for in a task."""

from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Deferred", "Settle"]

T = TypeVar("T")

Settle = Callable[[T | Exception], None]
"""Takes an answer, or the error in its place; returns at once and never raises."""


class Deferred(NamedTuple, Generic[T]):
    """An answer that comes later; nothing is done for it before one of the two is called, once.

    A command waits for nothing but the disk; a task of its own would cost more than all the rest.
    So what `begin` can do needs none.

    Args:
        wait: Does the work and returns the answer, or raises; may be cancelled where it waits.
        begin: Begins the work and returns, or raises; settles once, when the answer or its error is
            there, and not before it has returned. None if only a task can do the work.
    """

    wait: Callable[[], Awaitable[T]]
    begin: Callable[[Settle[T]], None] | None = None
