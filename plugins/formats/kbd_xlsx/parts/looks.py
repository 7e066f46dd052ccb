"""Style objects as operations give them, read leniently: what is wrong in one is skipped.

The keys are those of the contract, section 4. Sizes are points, colours RRGGBB.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

__all__ = [
    "BORDER_STYLES",
    "FILL_PATTERNS",
    "MAX_FORMAT_CHARACTERS",
    "UNDERLINES",
    "Look",
    "Side",
    "read_look",
]

MAX_FORMAT_CHARACTERS = 255
"""Of a number format's code, as in Excel."""

MAX_FONT_NAME_CHARACTERS = 31
"""As in Excel."""

MAX_FONT_SIZE = 409
"""As in Excel."""

BORDER_STYLES = frozenset(
    ("thin", "medium", "thick", "dashed", "dotted", "double", "hair", "mediumDashed", "dashDot")
) | {"mediumDashDot", "dashDotDot", "mediumDashDotDot", "slantDashDot"}
FILL_PATTERNS = (
    frozenset(
        ("solid", "darkDown", "darkGray", "darkGrid", "darkHorizontal", "darkTrellis", "darkUp")
    )
    | {"darkVertical", "gray0625", "gray125", "lightDown", "lightGray", "lightGrid", "mediumGray"}
    | {
        "lightHorizontal",
        "lightTrellis",
        "lightUp",
        "lightVertical",
    }
)
UNDERLINES = frozenset(("single", "double", "singleAccounting", "doubleAccounting"))

_COLOUR = re.compile(r"#?([0-9A-Fa-f]{6})")
_H_ALIGN = frozenset(
    ("general", "left", "center", "right", "fill", "justify", "centerContinuous", "distributed")
)
_V_ALIGN = frozenset(("top", "center", "bottom", "justify", "distributed"))
_BRIEF_CHARACTERS = 60


class Side(msgspec.Struct, frozen=True):
    """One side of a border; without a style there is no line."""

    style: str = ""
    color: str = "000000"


class Look(msgspec.Struct, frozen=True, omit_defaults=True):
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
    border_top: Side | None = None
    border_bottom: Side | None = None
    border_left: Side | None = None
    border_right: Side | None = None


def read_look(style: Mapping[str, Any]) -> tuple[Look, tuple[str, ...]]:
    """Return what a style object says, and a warning for each thing that was skipped."""
    fields: dict[str, Any] = {}
    warnings = []
    for key, value in style.items():
        parse = _READERS.get(key)
        if value is None and parse is not None:
            continue  # so a model that must write every field says that it leaves one out
        if parse is None:
            warnings.append(f"style {str(key)[:_BRIEF_CHARACTERS]} is unknown and was skipped")
            continue
        parsed = parse(value)
        if parsed is None:
            warnings.append(f"style {key} cannot be {_brief(value)} and was skipped")
        else:
            fields[key] = parsed
    return Look(**fields), tuple(warnings)


def _brief(value: Any) -> str:
    return json.dumps(value, default=str)[:_BRIEF_CHARACTERS]


def _colour(value: Any) -> str | None:
    found = _COLOUR.fullmatch(value.strip()) if isinstance(value, str) else None
    return found[1].upper() if found else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _font_name(value: Any) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_FONT_NAME_CHARACTERS:
        return None
    return value if value.isprintable() else None


def _font_size(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 1 <= value <= MAX_FONT_SIZE else None


def _underline(value: Any) -> str | None:
    if isinstance(value, bool):
        return "single" if value else "none"
    return value if isinstance(value, str) and value in UNDERLINES | {"none"} else None


def _number_format(value: Any) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_FORMAT_CHARACTERS:
        return None
    return value if value.isprintable() else None


def _one_of(words: frozenset[str]) -> Callable[[Any], str | None]:
    folded = {word.casefold(): word for word in words}
    if "center" in words:
        folded["centre"] = "center"

    def parse(value: Any) -> str | None:
        return folded.get(value.strip().casefold()) if isinstance(value, str) else None

    return parse


def _side(value: Any) -> Side | None:
    """Return a border's side from {style, color}, or from its style alone."""
    if isinstance(value, str):
        value = {"style": value}
    if not isinstance(value, Mapping) or set(value) - {"style", "color"}:
        return None
    style = "thin" if value.get("style") is None else value["style"]
    if style == "none":
        return Side()
    colour = "000000" if value.get("color") is None else _colour(value["color"])
    if not isinstance(style, str) or style not in BORDER_STYLES or colour is None:
        return None
    return Side(style, colour)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "font_name": _font_name,
    "font_size": _font_size,
    "font_bold": _flag,
    "font_italic": _flag,
    "font_underline": _underline,
    "font_color": _colour,
    "fill_color": _colour,
    "fill_pattern": _one_of(FILL_PATTERNS | {"none"}),
    "number_format": _number_format,
    "h_align": _one_of(_H_ALIGN),
    "v_align": _one_of(_V_ALIGN),
    "wrap_text": _flag,
    "border_top": _side,
    "border_bottom": _side,
    "border_left": _side,
    "border_right": _side,
}
