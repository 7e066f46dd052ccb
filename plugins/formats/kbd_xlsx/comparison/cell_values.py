"""Values of raw cells: as keys that are equal for equal contents, and as readings show them."""

import math
from html import unescape

from kbd.formats import CellValue
from kbd.sheets.values import plain_value
from kbd_xlsx.calculation import result_state
from kbd_xlsx.comparison.formula_texts import FormulaText
from kbd_xlsx.comparison.raw_cells import RawCell
from kbd_xlsx.comparison.shared_texts import CellText, SharedTexts, read_text
from kbd_xlsx.reader.blocks import stamped
from kbd_xlsx.reader.fallback_parser import Meaning, moment, of_iso, without_escapes
from kbd_xlsx.stored_formulas import shown as as_shown

__all__ = ["CellContent", "CellValues", "decode_text", "is_recalculated"]

CellContent = float | str | tuple[str, str] | None
"""What a cell holds, formulas aside: a number, a text, or another kind with its text."""

_FALSE = ("0", "false")
_DAYS_TO_1904 = 1462


class CellValues:
    """Reads the values of a workbook's cells.

    Args:
        texts: The texts that cells share.
        meanings: What cell formats make of numbers.
        from_1904: Whether days are counted from 1904.

    Attributes:
        counts_from_1900: Whether days that are counted from 1904 are told as if they were counted
            from 1900, so that equal days of two workbooks are equal numbers.
    """

    def __init__(
        self, texts: SharedTexts, meanings: list[Meaning], *, from_1904: bool = False
    ) -> None:
        self.texts = texts
        self._meanings = meanings
        self.from_1904 = from_1904
        self.counts_from_1900 = False
        self._numbers: dict[bytes, float | str] = {}

    def content(self, cell: RawCell) -> CellContent:
        """Return what is stored in a cell, which is equal for equal contents; None for nothing."""
        value = cell.value
        if value is None:
            return None
        match cell.kind:
            case "":
                number = self._number(value)
                if not (self.counts_from_1900 and self.from_1904) or isinstance(number, str):
                    return number
                return number + _DAYS_TO_1904 if self._meaning(cell) == "moment" else number
            case "s" | "str" | "inlineStr":
                return self.text(cell)[0]
            case "b":
                text = decode_text(value).strip().lower()
                return "b", "0" if text in _FALSE else "1"
            case kind:
                return kind, decode_text(value)

    def text(self, cell: RawCell) -> CellText:
        """Return the text of a cell that holds one, with the markup of its runs."""
        value = cell.value or b""
        match cell.kind:
            case "s":
                return self.shared(value)
            case "inlineStr":
                return read_text(value)
            case _:
                return without_escapes(decode_text(value)), b""

    def shared(self, value: bytes) -> CellText:
        """Return the shared text of the number that a cell stores."""
        digits = value.strip()
        is_number = digits.isdigit() and len(digits) < 10
        return self.texts.get(int(digits) if is_number else -1)

    def shown(self, cell: RawCell) -> CellValue:
        """Return what is stored in a cell as `Reading.rows` has it."""
        content = self.content(cell)
        match content:
            case None:
                return None
            case float():
                from_1904 = self.from_1904 and not self.counts_from_1900
                raw = moment(content, self._meaning(cell), from_1904=from_1904)
                return plain_value(stamped(raw))
            case ("b", text):
                return text == "1"
            case ("e", text):
                return {"error": text}
            case ("d", text):
                return plain_value(stamped(of_iso(text)))
            case (_, text):
                return text or None
            case _:
                return content or None

    def shown_formula(self, cell: RawCell, formula: FormulaText, row: int) -> CellValue:
        """Return a formula with its stored result as `Reading.rows` has it."""
        text = formula.written(row, cell.column)
        state = result_state(text, is_stored=cell.value is not None)
        is_current = state == "current" and not is_recalculated(cell)
        value = self.shown(cell)
        return {"formula": as_shown(text), "value": value, "current": is_current}

    def _meaning(self, cell: RawCell) -> Meaning:
        return self._meanings[cell.style] if cell.style < len(self._meanings) else "number"

    def _number(self, value: bytes) -> float | str:
        try:
            number = float(value)
        except ValueError:
            return decode_text(value)
        # What no number equals would differ from itself.
        return number if math.isfinite(number) else decode_text(value)


def is_recalculated(cell: RawCell) -> bool:
    """Tell whether the file says to calculate a formula every time."""
    return b'ca="1"' in cell.details or b'ca="true"' in cell.details


def decode_text(markup: bytes) -> str:
    """Return the text that markup without elements stands for."""
    text = markup.decode("utf-8", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unescape(text) if "&" in text else text
