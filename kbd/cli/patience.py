"""Patience: a word about what a command waits for, if the wait is longer than a moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from kbd.cli.terminal import can_draw, note

__all__ = ["PATIENCE_S", "told_if_slow"]

PATIENCE_S = 1.0
"""A wait of fewer seconds needs no word."""


@contextmanager
def told_if_slow(text: str) -> Iterator[None]:
    """Tell on stderr, once, what is waited for, if what stands in the `with` takes longer.

    Only where stderr is a terminal: in a pipe or a log nobody waits for it.

    Args:
        text: What is told.
    """
    if not can_draw():
        yield
        return
    timer = Timer(PATIENCE_S, note, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        # What is being told is told whole before anything else is printed.
        timer.join()
