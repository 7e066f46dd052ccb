"""Styles as operations give them, made into openpyxl's and applied fast.

openpyxl interns a style's parts each time one is set on a cell, which costs 0.2 ms; so a style is
set once, and the other cells with the same look get a copy of the resulting array of indices.
"""

import json
import re
from array import array
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

__all__ = ["StyleBook"]

_COLOUR = re.compile(r"#?([0-9A-Fa-f]{6})")
_H_ALIGN = frozenset(
    ("general", "left", "center", "right", "fill", "justify", "centerContinuous", "distributed")
)
_V_ALIGN = frozenset(("top", "center", "bottom", "justify", "distributed"))
_BORDERS = frozenset(
    ("thin", "medium", "thick", "dashed", "dotted", "double", "hair", "mediumDashed", "dashDot")
) | {"mediumDashDot", "dashDotDot", "mediumDashDotDot", "slantDashDot"}
_PATTERNS = frozenset(
    ("solid", "darkDown", "darkGray", "darkGrid", "darkHorizontal", "darkTrellis", "darkUp")
) | {"darkVertical", "gray0625", "gray125", "lightDown", "lightGray", "lightGrid", "mediumGray"}
_MAX_FORMAT = 255
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    Alignment: tuple(Alignment.__attrs__),
    Border: ("left", "right", "top", "bottom", "diagonal"),
    Font: tuple(Font.__elements__),
}


class StyleBook:
    """Applies the styles of one call and remembers what was wrong with them.

    Cells are openpyxl's; its stubs lack what makes this fast, so they are untyped here.

    Attributes:
        warnings: What was skipped, each once, in order.
    """

    def __init__(self) -> None:
        self.warnings: dict[str, None] = {}
        self._keys: dict[int, tuple[Any, str]] = {}
        self._arrays: dict[tuple[bytes, str], array[int]] = {}

    def apply(self, cell: Any, style: Mapping[str, Any]) -> None:
        """Change a cell's look in what the style names."""
        key = self._key(style)
        # The index array is openpyxl's own attribute; its public setters are 50 times as slow.
        before = b"" if cell._style is None else cell._style.tobytes()  # noqa: SLF001
        known = self._arrays.get((before, key))
        if known is None:
            self._set(cell, style)
            self._arrays[before, key] = copy(cell._style)  # noqa: SLF001
        else:
            cell._style = copy(known)  # noqa: SLF001

    def _key(self, style: Mapping[str, Any]) -> str:
        """Return a text for a style; the object is kept, so that its id stays its own."""
        known = self._keys.get(id(style))
        if known is None:
            known = style, json.dumps(style, sort_keys=True, default=str)
            self._keys[id(style)] = known
        return known[1]

    def _set(self, cell: Any, style: Mapping[str, Any]) -> None:
        font: dict[str, Any] = {}
        fill: dict[str, Any] = {}
        alignment: dict[str, Any] = {}
        border: dict[str, Any] = {}
        for key, value in style.items():
            read = _READERS.get(key)
            if read is None:
                self._warn(f"style {key} is unknown and was skipped")
                continue
            part, name, parse = read
            parsed = parse(value)
            if parsed is None:
                self._warn(f"style {key} cannot be {_brief(value)} and was skipped")
            elif part == "number_format":
                cell.number_format = parsed
            else:
                {"font": font, "fill": fill, "alignment": alignment, "border": border}[part][
                    name
                ] = parsed
        if font:
            cell.font = _changed(cell.font, Font, font)
        if fill:
            cell.fill = _fill(cell, fill)
        if alignment:
            cell.alignment = _changed(cell.alignment, Alignment, alignment)
        if border:
            cell.border = _changed(cell.border, Border, border)

    def _warn(self, text: str) -> None:
        self.warnings.setdefault(text)


def _changed(old: Any, kind: type[Any], changes: dict[str, Any]) -> Any:
    """Return a style part with some of its fields changed."""
    names = _FIELDS[kind]
    fields = {name: copy(getattr(old, name)) for name in names}
    if kind is Font:
        # A scheme would win over the name, and a colour of a theme over the colour.
        fields["scheme"] = None if "name" in changes else fields.get("scheme")
    return kind(**{**fields, **changes})


def _fill(cell: Any, changes: dict[str, Any]) -> PatternFill:
    old = cell.fill
    pattern = changes.get("pattern") or (old.fill_type or None)
    colour = changes.get("color")
    if pattern is None and colour is not None:
        pattern = "solid"
    return PatternFill(
        fill_type=None if pattern == "none" else pattern,
        fgColor=colour if colour is not None else copy(old.fgColor),
        bgColor=copy(old.bgColor),
    )


def _brief(value: Any) -> str:
    return json.dumps(value, default=str)[:60]


def _colour(value: Any) -> str | None:
    found = _COLOUR.fullmatch(value.strip()) if isinstance(value, str) else None
    return f"FF{found[1].upper()}" if found else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _font_name(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) < 32 and value.isprintable() else None


def _font_size(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 409:
        return None
    return value


def _underline(value: Any) -> str | None:
    if isinstance(value, bool):
        return "single" if value else "none"
    return value if value in ("single", "double", "none") else None


def _number_format(value: Any) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_FORMAT or not value.isprintable():
        return None
    return value


def _one_of(words: frozenset[str]) -> Callable[[Any], str | None]:
    folded = {word.casefold(): word for word in words} | {"centre": "center"}

    def parse(value: Any) -> str | None:
        found = folded.get(value.strip().casefold()) if isinstance(value, str) else None
        return found if found in words else None

    return parse


def _side(value: Any) -> Side | None:
    """Return a border's side from {style, color}, or from its style alone."""
    if isinstance(value, str):
        value = {"style": value}
    if not isinstance(value, Mapping) or set(value) - {"style", "color"}:
        return None
    style = value.get("style", "thin")
    if style == "none":
        return Side()
    colour = _colour(value.get("color", "000000"))
    return Side(style=style, color=colour) if style in _BORDERS and colour else None


_READERS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "font_name": ("font", "name", _font_name),
    "font_size": ("font", "sz", _font_size),
    "font_bold": ("font", "b", _flag),
    "font_italic": ("font", "i", _flag),
    "font_underline": ("font", "u", _underline),
    "font_color": ("font", "color", _colour),
    "fill_color": ("fill", "color", _colour),
    "fill_pattern": ("fill", "pattern", _one_of(_PATTERNS | {"none"})),
    "number_format": ("number_format", "", _number_format),
    "h_align": ("alignment", "horizontal", _one_of(_H_ALIGN)),
    "v_align": ("alignment", "vertical", _one_of(_V_ALIGN)),
    "wrap_text": ("alignment", "wrapText", _flag),
    "border_top": ("border", "top", _side),
    "border_bottom": ("border", "bottom", _side),
    "border_left": ("border", "left", _side),
    "border_right": ("border", "right", _side),
}
