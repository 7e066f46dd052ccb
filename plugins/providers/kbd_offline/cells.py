"""Cells of workbooks that the provider writes itself: letters of columns, looks of headings."""

from typing import Any

__all__ = ["HEADER", "column_letters", "typed_cell"]

HEADER = {
    "font_bold": True,
    "fill_color": "#D9E1F2",
    "border_bottom": {"style": "thin", "color": "#8EA9DB"},
}
"""Style of headings."""


def column_letters(number: int) -> str:
    """Return the letters of a column counted from 1: A, Z, AA."""
    text = ""
    while number:
        # No letter is a zero: AA follows Z.
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def typed_cell(value: Any) -> dict[str, Any]:
    """Return a value for a cell: counts are numbers, all else is text."""
    if isinstance(value, int):
        return {"value": value, "type": "number"}
    return {"value": value or None, "type": "string" if value else "blank"}
