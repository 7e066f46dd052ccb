"""Theme of a document: fonts and colors by the names that styles have for them.

Names: ECMA-376, part 1, 17.18.96 (ST_Theme), 17.18.97 (ST_ThemeColor) and 17.15.1.20
(clrSchemeMapping); how tint and shade change a color: 17.3.2.6.
"""

import re
from collections.abc import Mapping

import msgspec
from lxml import etree

from kbd.office.theme import read_theme, with_lightness
from kbd.opc.element_names import local_name, local_part
from kbd_docx.document import A, DocxParts, W

__all__ = ["DocxTheme", "read_document_theme", "resolve_drawing_theme", "resolve_theme", "theme_of"]

_MAPPED = {
    "bg1": "light1", "t1": "dark1", "bg2": "light2", "t2": "dark2",
    "hyperlink": "hyperlink", "followedHyperlink": "followedHyperlink",
}  # fmt: skip
"""Which color of the theme a name means, unless the settings map it otherwise."""

_ALIASES = {
    "background1": "bg1", "text1": "t1", "background2": "bg2", "text2": "t2",
    "tx1": "t1", "tx2": "t2",
}  # fmt: skip
_SLOT_OF = {
    "dark1": "dk1", "light1": "lt1", "dark2": "dk2", "light2": "lt2",
    "hyperlink": "hlink", "followedHyperlink": "folHlink",
}  # fmt: skip
_FONT = re.compile(r"(major|minor)(HAnsi|Ascii|EastAsia|Bidi)", re.IGNORECASE)
_SCRIPTS = {"hansi": "latin", "ascii": "latin", "eastasia": "ea", "bidi": "cs"}
_FONT_SLOTS = {
    "asciiTheme": "ascii", "hAnsiTheme": "hAnsi", "eastAsiaTheme": "eastAsia", "cstheme": "cs",
}  # fmt: skip


class DocxTheme(msgspec.Struct, frozen=True):
    """A theme; two are equal if nothing looks different with the one than with the other.

    Args:
        fonts: By "major-latin", "minor-ea" and so on; those that are not named are not there.
        colors: As RRGGBB, by their slots.
        mapping: Which slot a document's own name of a color means, where that is unusual.
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
        """Return the color that a reference means as RRGGBB, "" if the theme has none."""
        key = _ALIASES.get(name, name)
        meant = self.mapping.get(key) or _MAPPED.get(key, name)
        plain = self.colors.get(_SLOT_OF.get(meant, meant), "")
        return _tinted(plain, tint, shade) if plain else ""


def read_document_theme(document: DocxParts) -> DocxTheme:
    """Return a document's theme, an empty one if it has none."""
    return theme_of(document.part_root("theme"), document.part_root("settings"))


def theme_of(root: etree._Element | None, settings: etree._Element | None) -> DocxTheme:
    """Return the theme of two parts: its own, and the settings that map names to its colors."""
    mapping = {}
    found = settings.find(f"{W}clrSchemeMapping") if settings is not None else None
    for key, value in found.attrib.items() if found is not None else ():
        name = local_part(str(key))
        # Only unusual mappings are held, so that themes of the same effect are equal.
        if str(value) != _MAPPED.get(name, name):
            mapping[name] = str(value)
    theme = read_theme(root)
    return DocxTheme(theme.fonts, theme.colors, mapping)


def resolve_theme(element: etree._Element, theme: DocxTheme) -> None:
    """Resolve references to a theme into fonts and colors, in an element and all in it."""
    for each in element.iter(f"{W}*"):
        for reference, slot in _FONT_SLOTS.items():
            # Taken out in any case: with another theme it would mean another font.
            font = theme.font(str(each.attrib.pop(f"{W}{reference}", "")))
            if font:
                each.set(f"{W}{slot}", font)
        # `w:color` has the color as its value; borders, underlines and shading beside it.
        _resolve_color(each, theme, "theme", "val" if local_name(each) == "color" else "color")
        _resolve_color(each, theme, "themeFill", "fill")


def resolve_drawing_theme(element: etree._Element, theme: DocxTheme) -> None:
    """Resolve references to a theme's colors in drawings in an element."""
    for each in element.iter(f"{A}schemeClr"):
        color = theme.color(each.get("val", ""))
        if color:
            # What is inside, such as `lumMod`, changes a plain color as it does a theme's.
            each.tag = f"{A}srgbClr"
            each.set("val", color)


def _resolve_color(element: etree._Element, theme: DocxTheme, prefix: str, key: str) -> None:
    """Resolve one reference to a color: its name, tint and shade begin with a prefix."""
    name = str(element.attrib.pop(f"{W}themeFill" if key == "fill" else f"{W}themeColor", ""))
    tint = str(element.attrib.pop(f"{W}{prefix}Tint", ""))
    shade = str(element.attrib.pop(f"{W}{prefix}Shade", ""))
    color = theme.color(name, tint, shade)
    if color:
        element.set(f"{W}{key}", color)


def _tinted(color: str, tint: str, shade: str) -> str:
    """Make a color lighter or darker; both are two hexadecimal digits."""
    if _is_byte(tint):
        share = int(tint, 16) / 255
        return with_lightness(color, lambda light: light * share + 1 - share)
    if _is_byte(shade):
        return with_lightness(color, lambda light: light * (int(shade, 16) / 255))
    return color


def _is_byte(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9A-Fa-f]{2}", text))
