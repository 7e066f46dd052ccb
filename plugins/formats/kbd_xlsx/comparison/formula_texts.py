"""Formulas as pieces of text and references, so that they can be compared across shifts.

A formula that many cells share is the text of its first cell, moved.
"""

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

from openpyxl.formula.translate import TranslatorError

from kbd.sheets.areas import cell_name
from kbd_xlsx.translator import FormulaTranslator

__all__ = [
    "FormulaReference",
    "FormulaText",
    "ParsedFormula",
    "SharedText",
    "parse_formula",
    "shape_of",
]

_UNKNOWN_TEXT = "= …"
"""As readings show a formula that has no text: of a data table, say."""

_END = r"\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}"
_TOKEN = re.compile(
    r'"(?:[^"]|"")*"'
    r"|((?:'(?:[^']|'')+'|(?:\[\d+\])?[\w.]+(?::[\w.]+)?)!)?"
    rf"(?:({_END})(?::({_END}))?|(\$?[A-Za-z]{{1,3}}):(\$?[A-Za-z]{{1,3}})"
    r"|(\$?[1-9]\d{0,6}):(\$?[1-9]\d{0,6}))(?![\w.(!\[])"
    r"|'(?:[^']|'')*'!?|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|[\w.\\?]+"
)
_PARTS = re.compile(r"(\$?)([A-Za-z]{1,3})?(\$?)(\d+)?")
_DIGITS = b"0123456789$"


class FormulaReference(NamedTuple):
    """Cells that a formula names; 0 for sides that whole rows or columns do not have.

    Args:
        sheet: As written before "!", quotes included, "" for the formula's own.
        top: Counted from 1.
        left: Counted from 1.
        bottom: As `top`, for a single cell too.
        right: As `left`.
        fixed: Which of top, left, bottom and right are absolute.
        is_area: Whether it is written with a colon.
    """

    sheet: str
    top: int
    left: int
    bottom: int
    right: int
    fixed: tuple[bool, bool, bool, bool]
    is_area: bool

    def moved(self, rows: int, columns: int) -> "FormulaReference":
        """Return the same as of another cell: what is not absolute moves along."""
        top, left, bottom, right = self.fixed
        return self._replace(
            top=self.top if top or not self.top else self.top + rows,
            left=self.left if left or not self.left else self.left + columns,
            bottom=self.bottom if bottom or not self.bottom else self.bottom + rows,
            right=self.right if right or not self.right else self.right + columns,
        )


class ParsedFormula(NamedTuple):
    """A formula's references, and the texts before, between and after them."""

    pieces: tuple[str, ...]
    references: tuple[FormulaReference, ...]


class FormulaText(NamedTuple):
    """A formula without "=", and how far the cell is from the one that the text is of."""

    text: str
    rows: int = 0
    columns: int = 0

    @property
    def is_moved(self) -> bool:
        """Whether the text is that of another cell."""
        return bool(self.rows or self.columns)

    def parsed(self) -> ParsedFormula:
        """Return the formula of the cell itself taken apart."""
        found = parse_formula(self.text)
        if not self.is_moved:
            return found
        moved = tuple(each.moved(self.rows, self.columns) for each in found.references)
        return found._replace(references=moved)

    def written(self, row: int, column: int) -> str:
        """Return the formula as the cell at a place has it, with "="."""
        return SharedText(self.text, row - self.rows, column - self.columns).at(row, column)


class SharedText:
    """Text of a formula that cells share, taken apart once for all of them.

    Args:
        text: Without "=".
        row: Of the cell that it is written for, as is the column.
    """

    def __init__(self, text: str, row: int, column: int) -> None:
        self._text, self._row, self._column = text, row, column

    def at(self, row: int, column: int) -> str:
        """Return the formula as the cell at a place has it, with "="."""
        if not self._text:
            return _UNKNOWN_TEXT
        rows, columns = row - self._row, column - self._column
        if not rows and not columns:
            return f"={self._text}"
        try:
            return str(self._translator.translate_formula(None, rows, columns))
        except (TranslatorError, ValueError):
            return _UNKNOWN_TEXT

    @cached_property
    def _translator(self) -> FormulaTranslator:
        return FormulaTranslator(f"={self._text}", cell_name(self._row, self._column))


def shape_of(markup: bytes) -> bytes:
    """Return a formula without what changes when rows shift: its digits."""
    return markup.translate(None, _DIGITS)


@lru_cache(maxsize=8192)
def parse_formula(text: str) -> ParsedFormula:
    """Take a formula apart."""
    pieces: list[str] = []
    references: list[FormulaReference] = []
    start = 0
    for found in _TOKEN.finditer(text):
        if found.lastindex is None:
            continue
        sheet, one, two, first, last, above, below = found.groups("")
        pieces.append(text[start : found.start()])
        start = found.end()
        ends = (one, two or one) if one else (first, last) if first else (above, below)
        references.append(_reference(sheet.removesuffix("!"), *ends, is_area=not one or bool(two)))
    pieces.append(text[start:])
    return ParsedFormula(tuple(pieces), tuple(references))


def _reference(sheet: str, first: str, last: str, *, is_area: bool) -> FormulaReference:
    left_fixed, left, top_fixed, top = _end(first)
    right_fixed, right, bottom_fixed, bottom = _end(last)
    fixed = top_fixed, left_fixed, bottom_fixed, right_fixed
    return FormulaReference(sheet, top, left, bottom, right, fixed, is_area)


def _end(text: str) -> tuple[bool, int, bool, int]:
    """Return a corner: whether its column is absolute, its column, the same of its row."""
    found = _PARTS.fullmatch(text)
    assert found is not None
    letters, digits = found[2] or "", found[4]
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    if not letters:
        # Of a whole row the one sign stands before its number.
        return False, 0, bool(found[1] or found[3]), int(digits)
    return bool(found[1]), number, bool(found[3]), int(digits or 0)
