"""Dates and percents that operations give as texts without a type: typed by the column's look.

"2024-01-31" and "12%" are figures, and a text of them neither adds up nor sorts. What the cell or
its column shows tells what is meant. Where nothing tells, the text's own form does, as the cell
then shows what was written. A column of plain numbers contradicts that form, so it is asked.
"""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import msgspec

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd.sheets.areas import MAX_ROW, Area, cell_name
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import ValueType
from kbd_xlsx.parts.formatting import BUILTIN_CODES, shows_date
from kbd_xlsx.parts.shared_items import SharedItems
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stored_cells import StoredCell, StoredCells
from kbd_xlsx.parts.stylesheet import number_of

__all__ = ["FigureTexts", "TypedFigure", "may_be_figure"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")
_PERCENT = re.compile(r"([-+]?\d{1,15}(?:\.(\d{1,10}))?) ?%")
_LITERAL = re.compile(r'"[^"]*"?|[\\_*].|\[[^\]]*\]', re.DOTALL)
_NEAR = 20
"""Rows above and below that are looked at."""

_COLUMN_OF_TEXTS = 2
"""Texts that make a column one of texts; one alone may be its header."""

Look = Literal["date", "percent", "text", "number", "untold"]
"""What a cell or a column shows."""


class TypedFigure(msgspec.Struct, frozen=True):
    """A figure: its value, its type, and the look that it is given beneath that of operations."""

    value: str | int | float
    type: ValueType
    style: Mapping[str, Any] | None = None


def may_be_figure(text: str) -> bool:
    """Tell whether a text may be a date or a percent; quick, as it is asked of every text."""
    return text[-1:] == "%" or (text[4:5] == "-" and text[:4].isdigit())


class FigureTexts:
    """Types the figures of one workbook.

    Args:
        book: The workbook.
    """

    def __init__(self, book: BookEdit) -> None:
        self._book = book
        self._stored: dict[str, tuple[SheetPart, StoredCells]] = {}
        self._shared: SharedItems | None = None
        self._typed: list[str] = []
        self._kept: list[str] = []

    def typed(
        self, text: str, sheet: str, place: tuple[int, int], styles: Sequence[Mapping[str, Any]]
    ) -> TypedFigure | None:
        """Return the figure that a text is, None for one that is a text.

        Args:
            text: The text as given, without a type.
            sheet: The sheet's title.
            place: The cell, by row and column.
            styles: What the operation itself has the cell look like.

        Raises:
            ValidationFailed: The column holds plain numbers, so that it is unclear what is meant.
        """
        form = _form(text)
        if form is None:
            return None
        own = self._own_look(sheet, place, styles)
        look, code = (own, "") if own != "untold" else self._column_look(sheet, place)
        name = f"{sheet}!{cell_name(*place)}"
        if look == "text":
            self._kept.append(name)
            return None
        if look not in ("untold", form):
            raise ValidationFailed(f"{name}: {_question(text, form, look)}")
        if look == "untold":
            self._typed.append(name)
        return _figure(text, form, code, is_styled=own != "untold")

    def warn(self) -> None:
        """Warn of what was typed by its own form, and of what stayed a text."""
        notices = self._book.notices
        if self._typed:
            notices.warn(
                f"Texts of dates or percents were written as such figures: {listed(self._typed)}; "
                "type string keeps a text."
            )
        if self._kept:
            notices.warn(
                f"Dates or percents stayed texts, as their column holds texts: "
                f"{listed(self._kept)}; type date, or a number, makes them figures."
            )

    def _own_look(
        self, sheet: str, place: tuple[int, int], styles: Sequence[Mapping[str, Any]]
    ) -> Look:
        for style in reversed(styles):
            code = style.get("number_format")
            if isinstance(code, str):
                look = _look_of(0, code)
                return "untold" if look == "number" and _is_general(code) else look
        part = self._book.sheet(sheet)
        number, code = self._format(part.style_at(*place))
        look = _look_of(number, code)
        # A plain format tells nothing: the cell's neighbors may.
        return "untold" if look == "number" else look

    def _column_look(self, sheet: str, place: tuple[int, int]) -> tuple[Look, str]:
        """Return what the nearest cells of a column show, and the code of their format."""
        row, column = place
        area = Area(max(1, row - _NEAR), column, min(MAX_ROW, row + _NEAR), column)
        near = sorted(
            (cell for cell in self._cells(sheet).of(area) if cell.row != row),
            key=lambda cell: (abs(cell.row - row), cell.row),
        )
        texts = 0
        for cell in near:
            if cell.kind == "number":
                number, code = self._format(self._book.sheet(sheet).style_at(cell.row, column))
                look = _look_of(number, code)
                return look, code or BUILTIN_CODES.get(number, "")
            if cell.kind in ("text", "shared"):
                if _form(self._text(cell)):
                    return "text", ""
                texts += 1
        return ("text" if texts >= _COLUMN_OF_TEXTS else "untold"), ""

    def _cells(self, sheet: str) -> StoredCells:
        part = self._book.sheet(sheet)
        known = self._stored.get(sheet)
        # A part that was written since is read anew, and so is a sheet's record of it.
        if known is None or known[0] is not part:
            data = self._book.rewriting.read(self._book.part(sheet))
            known = self._stored[sheet] = part, StoredCells(data, sheet)
        return known[1]

    def _text(self, cell: StoredCell) -> str:
        if cell.kind == "text":
            return cell.value
        if self._shared is None:
            self._shared = SharedItems(self._book.rewriting, self._book.main)
        return self._shared.text(cell.value)

    def _format(self, index: int) -> tuple[int, str]:
        tables = self._book.styles.tables
        number = number_of(tables.entry("cellXfs", index), "numFmtId")
        return number, tables.custom_codes().get(number, "")


def _form(text: str) -> Literal["date", "percent"] | None:
    """Return what a text has the form of, None for neither."""
    word = text.strip()
    if _PERCENT.fullmatch(word):
        return "percent"
    if not _DATE.fullmatch(word):
        return None
    try:
        return "date" if dt.datetime.fromisoformat(word).year >= 1900 else None
    except ValueError:
        return None


def _look_of(number: int, code: str) -> Look:
    if shows_date(number, code or None):
        return "date"
    plain = _LITERAL.sub("", code or BUILTIN_CODES.get(number, "General"))
    if "%" in plain:
        return "percent"
    return "text" if plain.strip() == "@" else "number"


def _is_general(code: str) -> bool:
    return code.casefold() == "general"


def _figure(text: str, form: str, code: str, *, is_styled: bool) -> TypedFigure:
    word = text.strip()
    style = {"number_format": code} if code else None
    if form == "date":
        return TypedFigure(word, "datetime" if ":" in word else "date", style)
    found = _PERCENT.fullmatch(word)
    assert found is not None
    if style is None and not is_styled:
        style = {"number_format": f"0.{'0' * len(found[2])}%" if found[2] else "0%"}
    return TypedFigure(float(Decimal(found[1]).scaleb(-2)), "number", style)


def _question(text: str, form: str, look: Look) -> str:
    word = text.strip()
    figure = float(Decimal(word.rstrip(" %")).scaleb(-2)) if form == "percent" else 0
    wanted = (
        f'{figure:g} with number_format "0%"'
        if form == "percent"
        else f'{{"value": "{word}", "type": "{"datetime" if ":" in word else "date"}"}}'
    )
    shown = "plain numbers" if look == "number" else f"{look}s"
    return (
        f"{text!r} is unclear, as the column shows {shown}; write {wanted}, a plain number, or "
        f'{{"value": "{word}", "type": "string"}} for a text'
    )
