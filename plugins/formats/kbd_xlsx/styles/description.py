"""Description of the formatting of cells as style objects, which operations take as they are."""

from collections.abc import Mapping
from typing import Any

import msgspec
from lxml import etree

from kbd_xlsx.parts.numberformats import BUILTIN_CODES, LANGUAGE_CODES
from kbd_xlsx.parts.pool import local_name
from kbd_xlsx.parts.styletables import StyleTables, number_of
from kbd_xlsx.styles.theme import XlsxTheme

__all__ = ["StyleDescription", "describe_difference", "describe_format"]

_SIDES = {
    "left": "border_left",
    "start": "border_left",
    "right": "border_right",
    "end": "border_right",
    "top": "border_top",
    "bottom": "border_bottom",
}
_FALSE = ("0", "false")


class StyleDescription(msgspec.Struct, frozen=True):
    """A look in words.

    Args:
        style: A style object as operations take it; what is as usual is left out.
        theme_colors: Which of its colors are slots of the theme, by the same keys.
        beside: What the look has and a style object cannot say ("gradient fill").
    """

    style: Mapping[str, Any]
    theme_colors: Mapping[str, str]
    beside: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return it as plain values, without what is empty."""
        found: dict[str, Any] = {"style": dict(self.style)}
        if self.theme_colors:
            found["theme_colors"] = dict(self.theme_colors)
        if self.beside:
            found["also"] = list(self.beside)
        return found


class _Words:
    """The words of one look while they are gathered."""

    def __init__(self, theme: XlsxTheme) -> None:
        self.style: dict[str, Any] = {}
        self.slots: dict[str, str] = {}
        self.beside: list[str] = []
        self._theme = theme

    def add_color(self, key: str, element: etree._Element | None) -> None:
        color = self._theme.color(element)
        if color is not None:
            self.style[key] = color.rgb
            if color.slot:
                self.slots[key] = color.slot

    def add_font(self, font: etree._Element) -> None:
        for child in font:
            value = child.get("val")
            match local_name(child):
                case "name":
                    self.style["font_name"] = value
                case "sz":
                    self.style["font_size"] = _size(value)
                case "b" if value not in _FALSE:
                    self.style["font_bold"] = True
                case "i" if value not in _FALSE:
                    self.style["font_italic"] = True
                case "u" if value != "none":
                    self.style["font_underline"] = value or "single"
                case "color":
                    self.add_color("font_color", child)
                case "strike" | "outline" | "shadow" as name if value not in _FALSE:
                    self.beside.append(name)
                case "vertAlign" if value and value != "baseline":
                    self.beside.append(value)

    def add_fill(self, fill: etree._Element, *, is_difference: bool) -> None:
        pattern = fill.find("{*}patternFill")
        if pattern is None:
            if fill.find("{*}gradientFill") is not None:
                self.beside.append("gradient fill")
            return
        front, back = pattern.find("{*}fgColor"), pattern.find("{*}bgColor")
        kind = pattern.get("patternType", "solid" if is_difference else "none")
        if kind == "none":
            return
        if kind != "solid":
            self.style["fill_pattern"] = kind
        elif is_difference and back is not None:
            # In a differential format it is the back that shows of a solid fill.
            front = back
        self.add_color("fill_color", front)

    def add_border(self, border: etree._Element) -> None:
        for child in border:
            key = _SIDES.get(local_name(child))
            style = child.get("style", "none")
            if key is None or style == "none":
                if style != "none":
                    self.beside.append(f"{local_name(child)} border")
                continue
            color = self._theme.color(child.find("{*}color"))
            self.style[key] = {"style": style, "color": color.rgb if color else "000000"}
            if color and color.slot:
                self.slots[key] = color.slot

    def add_alignment(self, alignment: etree._Element) -> None:
        for name, key, usual in (
            ("horizontal", "h_align", "general"),
            ("vertical", "v_align", "bottom"),
        ):
            value = alignment.get(name, usual)
            if value != usual:
                self.style[key] = value
        if alignment.get("wrapText", "0") not in _FALSE:
            self.style["wrap_text"] = True
        for name in ("textRotation", "indent", "shrinkToFit"):
            value = alignment.get(name, "0")
            if value not in _FALSE:
                self.beside.append(name if value in ("1", "true") else f"{name} {value}")

    def add_protection(self, protection: etree._Element) -> None:
        if protection.get("locked", "1") in _FALSE:
            self.beside.append("unlocked")
        if protection.get("hidden", "0") not in _FALSE:
            self.beside.append("formula hidden")

    def described(self) -> StyleDescription:
        return StyleDescription(self.style, self.slots, tuple(self.beside))


def describe_format(
    tables: StyleTables, theme: XlsxTheme, index: int, *, section: str = "cellXfs"
) -> StyleDescription:
    """Describe a cell format, or with section `cellStyleXfs` that of a named style."""
    xf = tables.entry(section, index)
    words = _Words(theme)
    words.add_font(tables.entry("fonts", number_of(xf, "fontId")))
    words.add_fill(tables.entry("fills", number_of(xf, "fillId")), is_difference=False)
    number = number_of(xf, "numFmtId")
    code = tables.custom_codes().get(number) or BUILTIN_CODES.get(number)
    if code is None:
        code = LANGUAGE_CODES.get(number, "General")
        words.beside.append(f"number format {number} is that of the user's language")
    if code.casefold() != "general":
        words.style["number_format"] = code
    for child in xf:
        match local_name(child):
            case "alignment":
                words.add_alignment(child)
            case "protection":
                words.add_protection(child)
    words.add_border(tables.entry("borders", number_of(xf, "borderId")))
    return words.described()


def describe_difference(theme: XlsxTheme, dxf: etree._Element) -> StyleDescription:
    """Describe a differential format: what a rule or a table changes in the look of a cell."""
    words = _Words(theme)
    for child in dxf:
        match local_name(child):
            case "font":
                words.add_font(child)
            case "fill":
                words.add_fill(child, is_difference=True)
            case "border":
                words.add_border(child)
            case "alignment":
                words.add_alignment(child)
            case "numFmt":
                words.style["number_format"] = child.get("formatCode", "")
            case "protection":
                words.add_protection(child)
    return words.described()


def _size(text: str | None) -> float | None:
    try:
        size = float(text or "")
    except ValueError:
        return None
    return int(size) if size == int(size) else size
