"""Text in the columns of a terminal: cut, filled, wrapped; wide characters take two."""

import unicodedata

from kbd.cli.terminal import clean

__all__ = ["cut", "width_of", "wrapped"]

TAB = "    "


def width_of(text: str) -> int:
    """Return how many columns a text takes (Unicode Standard Annex 11)."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, width: int) -> str:
    """Return a clean line, cut to at most `width` columns, with a mark where it was cut."""
    one = clean(text).replace("\n", " ").replace("\t", " ")
    if len(one) <= width and width_of(one) <= width:
        return one
    return one[: _fitting(one, width - 1)] + "…" if width > 0 else ""


def wrapped(text: str, width: int) -> list[str]:
    """Return a text as clean lines of at most `width` columns, broken at spaces if there are some.

    A line that is broken goes on as far in as it began, so that what is indented stays so.
    """
    lines: list[str] = []
    for one in clean(text).expandtabs(len(TAB)).split("\n"):
        if len(one) <= width and width_of(one) <= width:
            lines.append(one)
        else:
            lines.extend(_broken(one, width))
    return lines


def _broken(one: str, width: int) -> list[str]:
    lines: list[str] = []
    indent = one[: len(one) - len(one.lstrip())][: width // 2]
    while len(one) > width or width_of(one) > width:
        at = max(_fitting(one, width), len(indent) + 1)
        space = one.rfind(" ", len(indent) + 1, at + 1)
        # A space far to the left would leave half of the line empty.
        if space > len(indent) + (at - len(indent)) // 2:
            at = space
        lines.append(one[:at].rstrip())
        one = indent + one[at:].lstrip()
    return [*lines, one]


def _fitting(text: str, width: int) -> int:
    """Return how many characters of a text fit into so many columns."""
    if text.isascii():
        return min(width, len(text))
    used = 0
    for place, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return place
    return len(text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
