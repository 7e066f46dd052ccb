"""Formatting of cells as style objects of operations give it, in the words of the style sheet.

The keys are those of the contract, section 4. Sizes are points, colors RRGGBB.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kbd.office.formatting import (
    COLOR,
    FLAG,
    FormattingField,
    choice,
    font_name,
    number,
    parse_color,
    read_formatting,
    underline,
)

__all__ = ["BorderSide", "CellFormatting", "read_cell_formatting"]

MAX_FORMAT_CHARACTERS = 255
"""Of a number format's code, as in Excel."""

MAX_FONT_NAME_CHARACTERS = 31
"""As in Excel."""

MAX_FONT_SIZE = 409
"""As in Excel."""

_BORDER_STYLES = (
    "none", "thin", "medium", "thick", "dashed", "dotted", "double", "hair", "mediumDashed",
    "dashDot", "mediumDashDot", "dashDotDot", "mediumDashDotDot", "slantDashDot",
)  # fmt: skip
_FILL_PATTERNS = (
    "none", "solid", "darkDown", "darkGray", "darkGrid", "darkHorizontal", "darkTrellis", "darkUp",
    "darkVertical", "gray0625", "gray125", "lightDown", "lightGray", "lightGrid", "mediumGray",
    "lightHorizontal", "lightTrellis", "lightUp", "lightVertical",
)  # fmt: skip
_UNDERLINES = ("none", "single", "double", "singleAccounting", "doubleAccounting")
_H_ALIGN = (
    "general", "left", "center", "right", "fill", "justify", "centerContinuous", "distributed",
)  # fmt: skip
_V_ALIGN = ("top", "center", "bottom", "justify", "distributed")


class BorderSide(msgspec.Struct, frozen=True):
    """One side of a border; without a style there is no line."""

    style: str = ""
    color: str = "000000"


class CellFormatting(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a style object changes; None leaves it as it is.

    The words are those of the file format: `font_underline` and `fill_pattern` may be "none".
    """

    font_name: str | None = None
    font_size: float | None = None
    font_bold: bool | None = None
    font_italic: bool | None = None
    font_underline: str | None = None
    font_color: str | None = None
    fill_color: str | None = None
    fill_pattern: str | None = None
    number_format: str | None = None
    h_align: str | None = None
    v_align: str | None = None
    wrap_text: bool | None = None
    border_top: BorderSide | None = None
    border_bottom: BorderSide | None = None
    border_left: BorderSide | None = None
    border_right: BorderSide | None = None


def read_cell_formatting(style: Mapping[str, Any]) -> tuple[CellFormatting, tuple[str, ...]]:
    """Return what a style object says, and a warning for each thing that was skipped."""
    warnings: list[str] = []
    fields = read_formatting(style, _FIELDS, warnings.append, "style ")
    return CellFormatting(**fields), tuple(warnings)


def _number_format(value: Any) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_FORMAT_CHARACTERS:
        return None
    return value if value.isprintable() else None


def _side(value: Any) -> BorderSide | None:
    """Return a border's side from {style, color}, or from its style alone."""
    if isinstance(value, str):
        value = {"style": value}
    if not isinstance(value, Mapping) or set(value) - {"style", "color"}:
        return None
    style = _BORDER_STYLE.parse("thin" if value.get("style") is None else value["style"])
    if style == "none":
        return BorderSide()
    color = "000000" if value.get("color") is None else parse_color(value["color"])
    return None if style is None or color is None else BorderSide(style, color)


def _words(*words: str) -> dict[str, str]:
    """Return words that are in the file as they are in an operation."""
    return {word: word for word in words}


_BORDER_STYLE = choice(_words(*_BORDER_STYLES))
_SIDE = FormattingField(
    _side, f'{{"style": ..., "color": "#RRGGBB"}} with {_BORDER_STYLE.wanted} as its style'
)
_FIELDS: Mapping[str, FormattingField] = {
    "font_name": font_name(MAX_FONT_NAME_CHARACTERS),
    "font_size": number(1, MAX_FONT_SIZE, "pt"),
    "font_bold": FLAG,
    "font_italic": FLAG,
    "font_underline": underline(_words(*_UNDERLINES)),
    "font_color": COLOR,
    "fill_color": COLOR,
    "fill_pattern": choice(_words(*_FILL_PATTERNS)),
    "number_format": FormattingField(
        _number_format, f"the code of a number format, at most {MAX_FORMAT_CHARACTERS} characters"
    ),
    "h_align": choice(_words(*_H_ALIGN)),
    "v_align": choice(_words(*_V_ALIGN) | {"middle": "center"}),
    "wrap_text": FLAG,
    "border_top": _SIDE,
    "border_bottom": _SIDE,
    "border_left": _SIDE,
    "border_right": _SIDE,
}
