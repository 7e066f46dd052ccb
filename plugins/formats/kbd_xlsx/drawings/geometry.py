"""Places and sizes on a sheet: widths of columns and heights of rows, in units of drawings.

Units are English Metric Units: 914,400 an inch, 9,525 a point of a screen of 96 an inch.
"""

import math
import re
from collections.abc import Callable

import msgspec

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, cell_name, parse_area, whole_number
from kbd_xlsx.operations import DrawingSize, Length
from kbd_xlsx.parts.markup import attribute
from kbd_xlsx.parts.outline import Outline, Rows
from kbd_xlsx.parts.sheet_elements import SheetElements

__all__ = ["EMU_PER_PIXEL", "Corner", "SheetGeometry", "Span", "parse_place"]

EMU_PER_PIXEL = 9_525
_EMU = {"px": 9_525, "cm": 360_000, "mm": 36_000, "in": 914_400, "pt": 12_700}
_LENGTH = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(px|cm|mm|in|pt)?\s*", re.IGNORECASE)
_COLUMN = re.compile(rb"<(?:[\w.-]+:)?col\s([^>]*)>")
_FORMAT = re.compile(rb"<(?:[\w.-]+:)?sheetFormatPr\s([^>]*)>")
_HIDDEN = ("1", "true")
_USUAL_WIDTH = 64
"""Points of a screen that a column is wide, where a sheet says nothing (8.43 characters)."""

_USUAL_HEIGHT = 15.0
"""Height of a row in points, where a sheet says nothing."""

_DIGIT = 7
"""Width of a digit of the usual font in points of a screen; widths of columns count digits."""

MAX_LENGTH = 914_400 * 100
"""A hundred inches: what is larger was meant otherwise."""


class Corner(msgspec.Struct, frozen=True):
    """A point of a sheet: row and column, counted from 1, and how far into them it is."""

    row: int
    column: int
    below: int = 0
    right: int = 0


class Span(msgspec.Struct, frozen=True):
    """Where an object lies: its corners, and its width and height."""

    start: Corner
    end: Corner
    width: int
    height: int

    @property
    def area(self) -> Area:
        """The cells that it covers, also in part."""
        return Area(self.start.row, self.start.column, self.end.row, self.end.column)


def parse_place(text: str, what: str) -> Area:
    """Return the cell or range of a place; raises ValidationFailed if it is none."""
    try:
        area = parse_area(text, Area(0, 0, 0, 0))
    except ValidationFailed as error:
        raise ValidationFailed(f"place of the {what}: {error.message}") from None
    if not area.top or not area.left:
        raise ValidationFailed(f"place of the {what}: give a cell (D2) or a range (D2:K20)")
    return area


class SheetGeometry:
    """Measures of a sheet's columns and rows.

    Args:
        data: The sheet's part.
        title: The sheet's title, for messages.

    Raises:
        ValidationFailed, FileReadFailed: As `kbd_xlsx.parts.sheet.SheetPart`.
    """

    def __init__(self, data: bytes, title: str) -> None:
        outline = Outline(data, title)
        elements = SheetElements(outline)
        self._title = title
        self._rows = Rows(outline)
        self._columns: list[tuple[int, int, int]] = []
        for tag in _COLUMN.findall(elements.seen("cols")):
            first, last = (whole_number(attribute(tag, key) or "0") for key in (b"min", b"max"))
            hidden = attribute(tag, b"hidden") in _HIDDEN
            width = 0 if hidden else _pixels(attribute(tag, b"width"), _USUAL_WIDTH)
            self._columns.append((first, last, width))
        found = _FORMAT.search(elements.seen("sheetFormatPr"))
        usual = found[1] if found else b""
        self._width = _pixels(attribute(usual, b"defaultColWidth"), _USUAL_WIDTH)
        self._height = _number(attribute(usual, b"defaultRowHeight"), _USUAL_HEIGHT)

    def column_width(self, column: int) -> int:
        """Return the width of a column."""
        for first, last, width in self._columns:
            if first <= column <= last:
                return width * EMU_PER_PIXEL
        return self._width * EMU_PER_PIXEL

    def row_height(self, row: int) -> int:
        """Return the height of a row."""
        place = self._rows.place(row)
        points = self._height
        if place is not None:
            attributes = self._rows.at(place).attributes
            if attribute(attributes, b"hidden") in _HIDDEN:
                return 0
            points = _number(attribute(attributes, b"ht"), points)
        return round(points * 12_700)

    def covering(self, area: Area) -> Span:
        """Return where an object lies that covers a range."""
        width = sum(map(self.column_width, range(area.left, area.right + 1)))
        height = sum(map(self.row_height, range(area.top, area.bottom + 1)))
        # At the end of the last cell, not at the beginning of the next: that one is not covered.
        below, right = self.row_height(area.bottom), self.column_width(area.right)
        end = Corner(area.bottom, area.right, below, right)
        return self._checked(Span(Corner(area.top, area.left), end, width, height))

    def span(self, start: Corner, size: DrawingSize | None, usual: tuple[int, int]) -> Span:
        """Return where an object of a size lies.

        Args:
            start: Its top left corner.
            size: What is asked for; what it does not name is as `usual`.
            usual: Width and height.

        Raises:
            ValidationFailed: The size is none, or it goes past the end of the sheet.
        """
        size = size or DrawingSize()
        column, right, width = _extent(
            size.width, usual[0], (start.column, start.right), self.column_width, "width"
        )
        row, below, height = _extent(
            size.height, usual[1], (start.row, start.below), self.row_height, "height"
        )
        return self._checked(Span(start, Corner(row, column, below, right), width, height))

    def _checked(self, span: Span) -> Span:
        if span.end.row > MAX_ROW or span.end.column > MAX_COLUMN:
            raise ValidationFailed(
                f"at {cell_name(span.start.row, span.start.column)} it would go past the end of "
                f"sheet {self._title}"
            )
        if not span.width or not span.height:
            raise ValidationFailed("it would lie on hidden rows or columns only; choose a place")
        return span


def _extent(
    asked: Length | None,
    usual: int,
    start: tuple[int, int],
    size_of: Callable[[int], int],
    what: str,
) -> tuple[int, int, int]:
    """Return where an object ends in one direction, how far in that, and its length."""
    index, offset = start
    if isinstance(asked, int | float):
        if not 0 < asked <= 1_000:
            raise ValidationFailed(f"{what} {asked!r} counts cells: more than 0, up to 1000")
        last = index + math.ceil(asked) - 1
        rest = round((asked - math.ceil(asked) + 1) * size_of(last))
        length = sum(map(size_of, range(index, last))) - offset + rest
        return last, rest, length
    length = usual if asked is None else _length(asked, what)
    left = length + offset
    # Hidden rows and columns have no size, so the end of the sheet is what ends the walk.
    while left > (size := size_of(index)) and index < MAX_ROW:
        left -= size
        index += 1
    return index, left, length


def _length(text: str, what: str) -> int:
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise ValidationFailed(f"{what} {text[:20]!r} is none: give cells (8), or 12cm, 5in, 480px")
    unit = (found[2] or "px").lower()
    length = round(float(found[1]) * _EMU[unit])
    if not EMU_PER_PIXEL <= length <= MAX_LENGTH:
        raise ValidationFailed(f"{what} {text[:20]!r} is not between 1px and 100in")
    return length


def _pixels(width: str | None, otherwise: int) -> int:
    """Return a column's width, which counts digits of the usual font, in points of a screen."""
    digits = _number(width, -1.0)
    return otherwise if digits < 0 else int(digits * _DIGIT + 0.5)


def _number(text: str | None, otherwise: float) -> float:
    try:
        found = float(text or "")
    except ValueError:
        return otherwise
    return found if 0 <= found < 10_000 else otherwise
