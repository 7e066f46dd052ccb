"""Cells and ranges as texts and as numbers, both counted from 1."""

import re
from functools import cache
from typing import NamedTuple

__all__ = ["MAX_COLUMN", "MAX_ROW", "Box", "Place", "box", "name", "place"]

_PLACE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})$")
MAX_ROW, MAX_COLUMN = 1_048_576, 16_384


class Place(NamedTuple):
    """A cell of a sheet."""

    row: int
    column: int


class Box(NamedTuple):
    """A range of cells, its edges within."""

    top: int
    left: int
    bottom: int
    right: int

    def holds(self, cell: Place) -> bool:
        """Whether a cell lies within."""
        return self.top <= cell.row <= self.bottom and self.left <= cell.column <= self.right

    def meets(self, other: "Box") -> bool:
        """Whether a cell lies within both."""
        rows = self.top <= other.bottom and other.top <= self.bottom
        return rows and self.left <= other.right and other.left <= self.right


@cache
def letters(column: int) -> str:
    """A column's name."""
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def number(text: str) -> int:
    """A column's number."""
    found = 0
    for letter in text.upper():
        found = found * 26 + ord(letter) - 64
    return found


def place(text: str) -> Place:
    """Read "B3" or "$B$3"; ValueError if it is none."""
    if not (match := _PLACE.match(text)):
        raise ValueError(f"{text!r} is no cell")
    found = Place(int(match[2]), number(match[1]))
    if not (1 <= found.row <= MAX_ROW and found.column <= MAX_COLUMN):
        raise ValueError(f"{text!r} is beyond the sheet")
    return found


def name(cell: Place) -> str:
    """Write "B3"."""
    return f"{letters(cell.column)}{cell.row}"


def box(text: str) -> Box:
    """Read "A1", "A1:B3", "A:C" or "2:4"; ValueError if it is none."""
    first, colon, last = text.replace("$", "").partition(":")
    last = last or first
    if colon and first.isalpha() and last.isalpha() and len(first) <= 3 >= len(last):
        left, right = sorted((number(first), number(last)))
        return Box(1, left, MAX_ROW, right)
    if colon and first.isdigit() and last.isdigit():
        top, bottom = sorted((int(first), int(last)))
        return Box(top, 1, bottom, MAX_COLUMN)
    (top, left), (bottom, right) = place(first), place(last)
    return Box(min(top, bottom), min(left, right), max(top, bottom), max(left, right))
