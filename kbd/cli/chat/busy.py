"""Spinner, and a terminal without echo, while a person waits."""

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from kbd.cli.terminal import can_draw

__all__ = ["READING", "show_busy", "without_echo"]

READING = "Reading the documents…"
"""The first time it takes as long as reading all of them does; later it is done at once."""


@contextmanager
def without_echo() -> Iterator[None]:
    """Have the terminal not show what is typed meanwhile; it is there at the next prompt."""
    if not sys.stdin.isatty():
        yield
        return
    # By hand: the raw mode of prompt_toolkit takes Ctrl-C as a key, which here must interrupt.
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


@contextmanager
def show_busy(what: str) -> Iterator[None]:
    """Show what is waited for, where something may be drawn, until it is done."""
    if not can_draw():
        yield
        return
    # Only what is drawn pays for it.
    from rich.console import Console  # noqa: PLC0415 - 49 ms

    with without_echo(), Console(stderr=True, highlight=False).status(what):
        yield
