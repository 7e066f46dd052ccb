"""The theme: fonts and colours by name, which styles refer to.

Names: ECMA-376, part 1, 17.18.96 (ST_Theme), 17.18.97 (ST_ThemeColor) and 17.15.1.20
(clrSchemeMapping); how tint and shade change a colour: 17.3.2.6.
"""

import colorsys
import re
from collections.abc import Mapping

import msgspec
from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.styled.document import Document, local_name

__all__ = ["SLOTS", "Theme", "drawn_plain", "made_plain", "read_theme"]

SLOTS = (
    "dk1", "lt1", "dk2", "lt2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6",
    "hlink", "folHlink",
)  # fmt: skip
"""A theme's colours, in its order."""

_MAPPED = {
    "bg1": "light1", "t1": "dark1", "bg2": "light2", "t2": "dark2",
    "hyperlink": "hyperlink", "followedHyperlink": "followedHyperlink",
}  # fmt: skip
"""Which colour of the theme a name means, unless the settings map it otherwise."""

_ALIASES = {
    "background1": "bg1", "text1": "t1", "background2": "bg2", "text2": "t2",
    "tx1": "t1", "tx2": "t2",
}  # fmt: skip
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLOT_OF = {
    "dark1": "dk1", "light1": "lt1", "dark2": "dk2", "light2": "lt2",
    "hyperlink": "hlink", "followedHyperlink": "folHlink",
}  # fmt: skip
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_FONT = re.compile(r"(major|minor)(HAnsi|Ascii|EastAsia|Bidi)", re.IGNORECASE)
_SCRIPTS = {"hansi": "latin", "ascii": "latin", "eastasia": "ea", "bidi": "cs"}
_FONT_SLOTS = {
    "asciiTheme": "ascii", "hAnsiTheme": "hAnsi", "eastAsiaTheme": "eastAsia", "cstheme": "cs",
}  # fmt: skip


class Theme(msgspec.Struct, frozen=True):
    """A theme; two are equal if nothing looks different with the one than with the other.

    Args:
        fonts: By "major-latin", "minor-ea" and so on; those that are not named are not there.
        colors: As RRGGBB, by their slots.
        mapping: Which slot a document's own name of a colour means, where that is unusual.
    """

    fonts: Mapping[str, str] = {}
    colors: Mapping[str, str] = {}
    mapping: Mapping[str, str] = {}

    def font(self, reference: str) -> str:
        """Return the font that a reference as "minorHAnsi" means, "" if the theme has none."""
        found = _FONT.fullmatch(reference)
        if found is None:
            return ""
        return self.fonts.get(f"{found[1].lower()}-{_SCRIPTS[found[2].lower()]}", "")

    def color(self, name: str, tint: str = "", shade: str = "") -> str:
        """Return the colour that a reference means as RRGGBB, "" if the theme has none."""
        key = _ALIASES.get(name, name)
        meant = self.mapping.get(key) or _MAPPED.get(key, name)
        plain = self.colors.get(_SLOT_OF.get(meant, meant), "")
        return _shifted(plain, tint, shade) if plain else ""


def read_theme(document: Document) -> Theme:
    """Return a document's theme, an empty one if it has none."""
    root = document.one("theme")
    settings = document.one("settings")
    mapping = {}
    found = settings.find(f"{W}clrSchemeMapping") if settings is not None else None
    for key, value in found.attrib.items() if found is not None else ():
        name = etree.QName(str(key)).localname
        if str(value) != _MAPPED.get(name, name):
            mapping[name] = str(value)
    if root is None:
        return Theme(mapping=mapping)
    colors = {}
    for slot in SLOTS:
        entry = root.find(f"{{*}}themeElements/{{*}}clrScheme/{{*}}{slot}")
        if entry is not None and len(entry):
            value = str(entry[0].get("lastClr") or entry[0].get("val", ""))
            if _HEX.fullmatch(value):
                colors[slot] = value.upper()
    fonts = {}
    for group in ("major", "minor"):
        for script in ("latin", "ea", "cs"):
            entry = root.find(f"{{*}}themeElements/{{*}}fontScheme/{{*}}{group}Font/{{*}}{script}")
            if entry is not None and entry.get("typeface"):
                fonts[f"{group}-{script}"] = entry.get("typeface", "")
    return Theme(fonts, colors, mapping)


def made_plain(element: etree._Element, theme: Theme) -> None:
    """Put fonts and colours in the place of references to a theme, in an element and all in it."""
    for each in element.iter(f"{W}*"):
        for reference, slot in _FONT_SLOTS.items():
            font = theme.font(str(each.attrib.pop(f"{W}{reference}", "")))
            if font:
                each.set(f"{W}{slot}", font)
        _plain_color(each, theme, "theme", "val" if local_name(each) == "color" else "color")
        _plain_color(each, theme, "themeFill", "fill")


def drawn_plain(element: etree._Element, theme: Theme) -> None:
    """Put colours in the place of references to a theme, in drawings in an element."""
    for each in element.iter(f"{_A}schemeClr"):
        color = theme.color(each.get("val", ""))
        if color:
            each.tag = f"{_A}srgbClr"
            each.set("val", color)


def _plain_color(element: etree._Element, theme: Theme, prefix: str, key: str) -> None:
    """Resolve one reference to a colour: its name, tint and shade begin with a prefix."""
    name = str(element.attrib.pop(f"{W}themeFill" if key == "fill" else f"{W}themeColor", ""))
    tint = str(element.attrib.pop(f"{W}{prefix}Tint", ""))
    shade = str(element.attrib.pop(f"{W}{prefix}Shade", ""))
    color = theme.color(name, tint, shade)
    if color:
        element.set(f"{W}{key}", color)


def _shifted(color: str, tint: str, shade: str) -> str:
    """Make a colour lighter or darker; both are two hexadecimal digits."""
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (0, 2, 4))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    if _is_byte(tint):
        share = int(tint, 16) / 255
        light = light * share + 1 - share
    elif _is_byte(shade):
        light *= int(shade, 16) / 255
    else:
        return color
    made = colorsys.hls_to_rgb(hue, light, saturation)
    return "".join(f"{round(part * 255):02X}" for part in made)


def _is_byte(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9A-Fa-f]{2}", text))
