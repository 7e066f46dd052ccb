"""The rows of a walk's frame: what they are, and how a step stands in the list."""

from typing import Any, NamedTuple

from kbd.cli.layout import cut, width_of
from kbd.cli.terminal import duration

__all__ = ["HINTS", "LIST_ROWS", "Row", "filled", "listed_as"]

LIST_ROWS = 12
"""How many steps are listed at most, a third of the screen if that is less."""

HINTS = (
    "j/k step  space read  p plan  f files  m model  r result  d changes  / find  ? keys  q quit",
    "j/k step  space read  p f m r t d look  / find  ? keys  q quit",
    "j/k step  ? keys  q quit",
)
"""What the last row says of the keys: the longest of these that fits."""

_DEPTHS = {"asked": 0, "run": 0, "phase": 0, "other": 0}


class Row(NamedTuple):
    """A row of the screen.

    Attributes:
        text: Clean, and no wider than the screen.
        style: "", "bar" for a rule or a heading, "chosen" for the current step, "found" for a line
            that matches the search.
    """

    text: str
    style: str = ""


def filled(text: str, width: int) -> str:
    """Return a line that takes all columns."""
    shown = cut(text, width)
    return shown + " " * (width - width_of(shown))


def listed_as(step: dict[str, Any], width: int, *, is_here: bool) -> str:
    """Return a step as a row of the list; what it is part of sets it in."""
    depth = _DEPTHS.get(step["kind"], 2 if step.get("item") else 1)
    time = f"{step['ts'][11:19]} " if width >= 60 else ""
    kind = f"{step['kind']:<8} " if width >= 48 else ""
    took = duration(step["duration_ms"] / 1000) if step.get("duration_ms") else ""
    tail = f" {took:>9}" if width >= 72 else ""
    head = f"{'>' if is_here else ' '}{step['index']:>4} {time}{kind}{'  ' * depth}"
    title = cut(f"{head}{step['title']}", width - len(tail))
    return title + " " * (width - len(tail) - width_of(title)) + tail
