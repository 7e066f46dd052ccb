"""Mistakes in style objects whose right form is plain: a key of another library, a near miss.

They are refused with the right name, as a second call costs less than a look that nobody sees.
What has no plain meaning ("sparkle") is skipped with a warning by contract.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from kbd.errors import ValidationFailed
from kbd.office.formatting import folded
from kbd_xlsx.parts.formatting import STYLE_KEYS, STYLE_WORDS

__all__ = ["check_style"]

_SIDES = "border_top, border_bottom, border_left and border_right"
_KEYS: Mapping[str, str] = {
    "bold": "font_bold", "b": "font_bold", "fontweight": "font_bold",
    "italic": "font_italic", "italics": "font_italic", "i": "font_italic",
    "fontstyle": "font_italic", "underline": "font_underline", "underlined": "font_underline",
    "u": "font_underline", "size": "font_size", "sz": "font_size", "font": "font_name",
    "fontfamily": "font_name", "family": "font_name", "name": "font_name",
    "textcolor": "font_color", "foreground": "font_color", "foregroundcolor": "font_color",
    "fgcolor": "fill_color", "background": "fill_color", "backgroundcolor": "fill_color",
    "bgcolor": "fill_color", "bg": "fill_color", "fill": "fill_color", "cellcolor": "fill_color",
    "highlight": "fill_color", "pattern": "fill_pattern", "patterntype": "fill_pattern",
    "filltype": "fill_pattern", "numfmt": "number_format", "numberformatcode": "number_format",
    "numformat": "number_format", "format": "number_format", "formatcode": "number_format",
    "align": "h_align", "alignment": "h_align", "textalign": "h_align", "horizontal": "h_align",
    "halignment": "h_align", "horizontalalign": "h_align", "horizontalalignment": "h_align",
    "vertical": "v_align", "valignment": "v_align", "verticalalign": "v_align",
    "verticalalignment": "v_align", "wrap": "wrap_text", "textwrap": "wrap_text",
    "border": _SIDES, "borders": _SIDES, "top": "border_top", "bottom": "border_bottom",
    "topborder": "border_top", "bottomborder": "border_bottom", "leftborder": "border_left",
    "rightborder": "border_right", "bordercolor": _SIDES, "borderstyle": _SIDES,
}  # fmt: skip
"""Keys of other libraries and of style sheets of the web, folded, with the right one."""

_FORMATS: Mapping[str, str] = {
    "percent": "0%", "percentage": "0%", "currency": '"$"#,##0.00', "money": '"$"#,##0.00',
    "date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss", "time": "hh:mm:ss", "text": "@",
    "string": "@", "number": "#,##0.00", "integer": "0", "decimal": "0.00", "float": "0.00",
    "comma": "#,##0", "thousands": "#,##0", "scientific": "0.00E+00", "accounting": "#,##0.00",
}  # fmt: skip
"""Names of number formats as menus have them, with a code."""

_SHORT_COLOR = re.compile(r"#?([0-9A-Fa-f])([0-9A-Fa-f])([0-9A-Fa-f])")
_WITH_ALPHA = re.compile(r"#?[0-9A-Fa-f]{2}([0-9A-Fa-f]{6})")
_NEAR_KEY, _NEAR_WORD = 0.75, 0.8


def check_style(style: Mapping[str, Any], place: str) -> None:
    """Refuse a style object with mistakes whose right form is plain.

    Args:
        style: As an operation gives it.
        place: Where it goes, for the message.

    Raises:
        ValidationFailed: It names every such mistake with what to write instead.
    """
    found = [text for key, value in style.items() if (text := _mistake(key, value))]
    if found:
        raise ValidationFailed(f"{place}: {'; '.join(found)}")


def _mistake(key: str, value: Any) -> str:
    """Return what is wrong with a field and what to write instead, "" where that is not plain."""
    name = key.replace("colour", "color")
    if name == "color":
        name = "font_color"
    if name not in STYLE_KEYS:
        right = _KEYS.get(folded(name)) or _near(name, STYLE_KEYS, _NEAR_KEY)
        return f"style {key[:40]} is no key; write {right}" if right else ""
    right = _right_value(name, value) if isinstance(value, str) else ""
    return f'style {key} cannot be "{str(value)[:40]}"; write "{right}"' if right else ""


def _right_value(name: str, value: str) -> str:
    if name == "number_format":
        return _FORMATS.get(folded(value), "")
    if name.endswith("_color"):
        short, alpha = _SHORT_COLOR.fullmatch(value), _WITH_ALPHA.fullmatch(value)
        if short:
            return f"#{''.join(digit * 2 for digit in short.groups())}".upper()
        return f"#{alpha[1]}".upper() if alpha else ""
    words = STYLE_WORDS.get(name)
    if words is None or words.parse(value) is not None:
        return ""
    return _near(value, words.words, _NEAR_WORD)


def _near(word: str, words: tuple[str, ...], least: float) -> str:
    by_folded = {folded(each): each for each in words}
    near = get_close_matches(folded(word), by_folded, 1, least)
    return by_folded[near[0]] if near else ""
