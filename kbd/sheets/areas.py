"""Cells and ranges in A1 style, within the bounds of a worksheet (XFD1048576)."""

import re

import msgspec

from kbd.errors import ValidationFailed

__all__ = [
    "MAX_COLUMN",
    "MAX_ROW",
    "Area",
    "cell_name",
    "column_letters",
    "column_number",
    "overlaps",
    "parse_area",
    "parse_cell",
    "whole_number",
]

MAX_ROW = 1_048_576
MAX_COLUMN = 16_384

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9]\d{0,6})")
_COLUMN = re.compile(r"\$?([A-Za-z]{1,3})")
_ROW = re.compile(r"\$?([1-9]\d{0,6})")


class Area(msgspec.Struct, frozen=True):
    """A rectangle of cells, both ends included, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int

    def __str__(self) -> str:
        first = cell_name(self.top, self.left)
        last = cell_name(self.bottom, self.right)
        return first if first == last else f"{first}:{last}"


def overlaps(one: Area, other: Area) -> bool:
    """Tell whether two ranges have a cell in common."""
    return (
        one.top <= other.bottom
        and other.top <= one.bottom
        and one.left <= other.right
        and other.left <= one.right
    )


def column_letters(number: int) -> str:
    """Return a column's letters: 1 is A, 27 is AA."""
    letters = ""
    while number:
        # There is no letter for zero: A to Z stand for 1 to 26.
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """Return a column's number; raises ValidationFailed past XFD."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    if not 1 <= number <= MAX_COLUMN:
        raise ValidationFailed(f"there is no column {letters}; the last one is XFD")
    return number


def whole_number(digits: str) -> int:
    """Return a number that a file holds as digits: 0 for anything else.

    One that is larger than all that files count is 10**9: Python refuses to make numbers of
    thousands of digits.
    """
    # isdigit() alone is also true for superscripts, which int() refuses.
    if not (digits.isascii() and digits.isdigit()):
        return 0
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < 10 else 10**9


def cell_name(row: int, column: int) -> str:
    """Return a cell's name: (3, 2) is B3."""
    return f"{column_letters(column)}{row}"


def parse_cell(text: str) -> tuple[int, int]:
    """Return the row and column of a cell's name; raises ValidationFailed if it is none."""
    found = _CELL.fullmatch(text.strip())
    if found is None:
        raise ValidationFailed(f"{text[:40]!r} is not a cell; write it as B3")
    row = int(found[2])
    if row > MAX_ROW:
        raise ValidationFailed(f"there is no row {row}; the last one is {MAX_ROW}")
    return row, column_number(found[1])


def parse_area(text: str, used: Area) -> Area:
    """Return a range: A1:E50, A1, columns A:C or rows 1:50, the latter two within `used`.

    Raises:
        ValidationFailed: It is no range.
    """
    first, colon, last = text.strip().partition(":")
    last = last if colon else first
    columns = _COLUMN.fullmatch(first), _COLUMN.fullmatch(last)
    rows = _ROW.fullmatch(first), _ROW.fullmatch(last)
    # Letters alone may be a sheet's name, so columns need the colon.
    if columns[0] and columns[1] and colon:
        ends = sorted((column_number(columns[0][1]), column_number(columns[1][1])))
        return Area(used.top, ends[0], used.bottom, ends[1])
    if rows[0] and rows[1]:
        ends = sorted((int(rows[0][1]), int(rows[1][1])))
        if ends[1] > MAX_ROW:
            raise ValidationFailed(f"there is no row {ends[1]}; the last one is {MAX_ROW}")
        return Area(ends[0], used.left, ends[1], used.right)
    (top, left), (bottom, right) = parse_cell(first), parse_cell(last)
    return Area(min(top, bottom), min(left, right), max(top, bottom), max(left, right))
