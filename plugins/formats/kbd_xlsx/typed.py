"""What a cell holds for a value of a typed column, and how it is shown."""

import re
from collections.abc import Mapping
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import ColumnType
from kbd_xlsx.values import CellValue, cell_value, stored_text

__all__ = ["BOLD", "Style", "TypedRows"]

Style = Mapping[str, Any]
BOLD: Style = {"font_bold": True}

_DECIMAL = re.compile(r"[-+]?\d+\.(\d{1,9})")
_EXACT_DIGITS = 15
"""Significant digits that a number of a sheet keeps."""

# By the number of decimals; made once, for styles are told apart by identity first.
_DECIMAL_STYLES = tuple({"number_format": f"0.{'0' * places}"} for places in range(10))


class TypedRows:
    """Types the values of a table's rows.

    Attributes:
        as_text: How many dates were left as text: before 1900 or with a zone, a sheet has no such.
    """

    def __init__(self) -> None:
        self.as_text = 0

    def held(
        self, kind: ColumnType | None, value: Any, where: str
    ) -> tuple[CellValue, Style | None]:
        """Return what a cell holds and its style.

        Raises:
            ValidationFailed: No cell can hold it.
        """
        match kind:
            case "date" | "datetime":
                try:
                    return cell_value(value, kind, where), None
                except ValidationFailed:
                    self.as_text += 1
                    return _text(str(value), where), None
            case "float" if isinstance(value, str):
                return _decimal(value, where)
            case _ if isinstance(value, str):
                return _text(value, where), None
            case _:
                if isinstance(value, int) and len(str(abs(value))) > _EXACT_DIGITS:
                    # A sheet's numbers have 15 digits; as text it stays what it is.
                    return _text(str(value), where), None
                return cell_value(value, None, where), None


def _text(text: str, where: str) -> CellValue:
    return CellValue(stored_text(text, where), "s")


def _decimal(text: str, where: str) -> tuple[CellValue, Style | None]:
    """Return an exact decimal as a number that shows all its decimals, or as text if too long."""
    found = _DECIMAL.fullmatch(text)
    if len(re.sub(r"\D", "", text).lstrip("0")) > _EXACT_DIGITS and found:
        return _text(text, where), None
    style = _DECIMAL_STYLES[len(found[1])] if found else None
    return cell_value(text, "number", where), style
