"""What a cell holds for a value of a typed column, and the number format that it wants.

Dates are dates, exact decimals keep their decimals, text is text whatever it begins with.
"""

import re
from typing import Any, Literal

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import ColumnType
from kbd_xlsx.contents import content_of
from kbd_xlsx.formulatext import looks_like_formula
from kbd_xlsx.parts.cells import Content
from kbd_xlsx.values import CellValue, cell_value, stored_text

__all__ = ["HeldTypes", "TypedRows"]

_DECIMAL = re.compile(r"[-+]?\d+\.(\d{1,9})")
_EXACT_DIGITS = 15
"""Significant digits that a number of a sheet keeps."""


class HeldTypes(msgspec.Struct, frozen=True):
    """What a cell holds; `code` is the number format that shows it as it came, "" if any does."""

    content: Content
    code: str = ""


class TypedRows:
    """Types the values of a table's rows.

    Args:
        from_1904: Whether the workbook counts its days from 1904.
    """

    def __init__(self, *, from_1904: bool = False) -> None:
        self._from_1904 = from_1904
        self._dates_as_text = 0
        self._like_formulas = 0

    def held(self, kind: ColumnType | None, value: Any, place: str) -> HeldTypes:
        """Return what a cell holds.

        Args:
            kind: The type of its column.
            value: What is to be written, not None.
            place: The cell, for messages.

        Raises:
            ValidationFailed: No cell can hold it.
        """
        match kind:
            case "date" | "datetime":
                return self._moment(kind, value, place)
            case "float" if isinstance(value, str):
                return self._decimal(value, place)
            case _ if isinstance(value, str):
                return self._text(value, place)
            case _:
                if isinstance(value, int) and len(str(abs(value))) > _EXACT_DIGITS:
                    # As text it stays what it is.
                    return _text(str(value), place)
                return self._plain(cell_value(value, None, place))

    def name(self, text: str, place: str) -> Content:
        """Return what a header's cell holds; raises ValidationFailed if no cell can hold it."""
        return _text(text, place).content

    def warnings(self) -> list[str]:
        """Tell what was written otherwise than a reader may expect."""
        found = []
        if self._dates_as_text:
            found.append(
                f"{self._dates_as_text} date(s) that a sheet cannot hold were written as text."
            )
        if self._like_formulas:
            found.append(
                f"{self._like_formulas} text(s) look like a formula (beginning with =, +, - or @): "
                "written as text."
            )
        return found

    def _plain(self, value: CellValue) -> HeldTypes:
        return HeldTypes(content_of(value, from_1904=self._from_1904))

    def _text(self, text: str, place: str) -> HeldTypes:
        self._like_formulas += looks_like_formula(text)
        return _text(text, place)

    def _moment(self, kind: Literal["date", "datetime"], value: Any, place: str) -> HeldTypes:
        try:
            held = self._plain(cell_value(value, kind, place))
        except ValidationFailed:
            held = None
        if held is None or held.content.text.startswith("-"):
            # It has a zone, or is before the first day that the workbook counts.
            self._dates_as_text += 1
            return _text(str(value), place)
        return held

    def _decimal(self, text: str, place: str) -> HeldTypes:
        """Return an exact decimal as a number that shows all its decimals, or as text if long."""
        found = _DECIMAL.fullmatch(text)
        if len(re.sub(r"\D", "", text).lstrip("0")) > _EXACT_DIGITS and found:
            return _text(text, place)
        content = content_of(cell_value(text, "number", place))
        return HeldTypes(content, f"0.{'0' * len(found[1])}" if found else "")


def _text(text: str, place: str) -> HeldTypes:
    return HeldTypes(Content("text", stored_text(text, place)))
