"""Formatting of cells as style objects of operations give it, and the built-in number formats.

The keys of style objects are those of the contract, section 4. Sizes are points, colors RRGGBB.

The codes of number formats are those of ECMA-376 part 1, 18.8.30. Where a program shows them as its
user's language has it (14 to 22, 37 to 49), that is meant; other built-in numbers differ by
language and are never written here, only preserved.
"""

import re
from collections.abc import Callable, Mapping
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

__all__ = [
    "BUILTIN_CODES",
    "BUILTIN_IDS",
    "FIRST_CUSTOM_ID",
    "LANGUAGE_CODES",
    "STYLE_KEYS",
    "STYLE_WORDS",
    "BorderSide",
    "CellFormatting",
    "StyleWords",
    "read_cell_formatting",
    "shows_date",
]

FIRST_CUSTOM_ID = 164
"""Below it the numbers belong to the programs."""

BUILTIN_CODES: Mapping[int, str] = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "mm-dd-yy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "m/d/yy h:mm",
    37: "#,##0 ;(#,##0)",
    38: "#,##0 ;[Red](#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;[Red](#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mmss.0",
    48: "##0.0E+0",
    49: "@",
}
LANGUAGE_CODES: Mapping[int, str] = {
    5: '"$"#,##0_);\\("$"#,##0\\)',
    6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
    7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
    8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
    41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
    42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
}
"""Formats that each program shows in its user's language and currency, as in the United States."""

BUILTIN_IDS: Mapping[str, int] = {code: number for number, code in BUILTIN_CODES.items()}

# Dates in the languages of East Asia, whose codes differ by language.
_OTHER_DATE_IDS = frozenset((*range(27, 37), *range(50, 59)))

# What is not part of the format proper: quoted text, a character that is escaped, repeated or left
# room for, and brackets with a color, a condition or a language, but not elapsed time.
_LITERAL = re.compile(r'"[^"]*"?|[\\_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE | re.DOTALL)
_DATE_LETTER = re.compile(r"[dmhys]", re.IGNORECASE)
# Standard, the German General, holds letters that stand for parts of dates.
_NOT_DATES = re.compile(r"general|standard", re.IGNORECASE)
_SEARCHED_CHARACTERS = 1_000


def shows_date(number: int, code: str | None) -> bool:
    """Tell whether a format shows a date or a time.

    Args:
        number: The format's number.
        code: Its code as the file gives it, None where it gives none.
    """
    if code is None:
        if number in _OTHER_DATE_IDS:
            return True
        code = BUILTIN_CODES.get(number, "General")
    # A code may be of any length, and brackets that nothing closes are each searched to its end.
    code = code[:_SEARCHED_CHARACTERS]
    # The first section formats positive numbers; the later ones negative numbers and text.
    first = _NOT_DATES.sub("", _LITERAL.sub("", code).partition(";")[0])
    return _DATE_LETTER.search(first) is not None


MAX_FORMAT_CHARACTERS = 255
"""Of a number format's code, as in Excel."""

MAX_FONT_NAME_CHARACTERS = 31
"""Of a font's name, as in Excel."""

MAX_FONT_SIZE = 409
"""In points, as in Excel."""

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
    """Formatting that a style object sets; None leaves it as it is.

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
    """Return the formatting of a style object, and a warning for each field that was skipped."""
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


class StyleWords(msgspec.Struct, frozen=True):
    """The words that a key takes.

    Args:
        words: The format's own.
        parse: Returns what a word means, None for one that cannot be understood.
    """

    words: tuple[str, ...]
    parse: Callable[[Any], Any]


STYLE_KEYS = tuple(_FIELDS)
"""The keys of style objects."""

STYLE_WORDS: Mapping[str, StyleWords] = {
    key: StyleWords(words, _FIELDS[key].parse)
    for key, words in (
        ("font_underline", _UNDERLINES),
        ("fill_pattern", _FILL_PATTERNS),
        ("h_align", _H_ALIGN),
        ("v_align", _V_ALIGN),
    )
}
"""The words of those keys that take one of a few."""
