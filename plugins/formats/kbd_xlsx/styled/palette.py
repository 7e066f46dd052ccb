"""The colours and fonts of a workbook's theme, and what its colours come to.

A colour in a workbook is RGB, a slot of the theme with a tint, or a number of a fixed or custom
list (ECMA-376 part 1, 18.8.3, 18.8.19 and 18.8.27). People and models want RRGGBB.
"""

import colorsys
import math
from collections.abc import Sequence

import msgspec
from lxml import etree

from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting

__all__ = ["SLOTS", "Colour", "Palette", "fix_colours", "read_palette"]

SLOTS = (
    *("light1", "dark1", "light2", "dark2", "accent1", "accent2", "accent3", "accent4"),
    *("accent5", "accent6", "hyperlink", "followed_hyperlink"),
)
"""The slots of a theme in the order in which a workbook numbers them."""

_SLOT_ELEMENTS = (
    *("lt1", "dk1", "lt2", "dk2", "accent1", "accent2", "accent3", "accent4"),
    *("accent5", "accent6", "hlink", "folHlink"),
)
# What programs take where a workbook has no theme: the theme of Office 2007.
_OFFICE = (
    *("FFFFFF", "000000", "EEECE1", "1F497D", "4F81BD", "C0504D", "9BBB59", "8064A2"),
    *("4BACC6", "F79646", "0000FF", "800080"),
)
_FIRST_EIGHT = ("000000", "FFFFFF", "FF0000", "00FF00", "0000FF", "FFFF00", "FF00FF", "00FFFF")
_INDEXED = (
    *_FIRST_EIGHT,
    *_FIRST_EIGHT,
    *("800000", "008000", "000080", "808000", "800080", "008080", "C0C0C0", "808080"),
    *("9999FF", "993366", "FFFFCC", "CCFFFF", "660066", "FF8080", "0066CC", "CCCCFF"),
    *("000080", "FF00FF", "FFFF00", "00FFFF", "800080", "800000", "008080", "0000FF"),
    *("00CCFF", "CCFFFF", "CCFFCC", "FFFF99", "99CCFF", "FF99CC", "CC99FF", "FFCC99"),
    *("3366FF", "33CCCC", "99CC00", "FFCC00", "FF9900", "FF6600", "666699", "969696"),
    *("003366", "339966", "003300", "333300", "993300", "993366", "333399", "333333"),
)
_SYSTEM = {64: "000000", 65: "FFFFFF"}
"""The colours of text and window of the system, which nearly all have so."""

_HEX = frozenset("0123456789abcdefABCDEF")


class Colour(msgspec.Struct, frozen=True):
    """What a colour comes to: RRGGBB, and the theme's slot if it names one ("accent1 +40%")."""

    rgb: str
    slot: str = ""


class Palette(msgspec.Struct, frozen=True):
    """A workbook's theme and list of colours.

    Args:
        name: The theme's name, "" without a theme.
        theme: RRGGBB by slot, in the order of `SLOTS`.
        major: The font of headings, "" where there is no theme.
        minor: The font of other text.
        indexed: RRGGBB by number.
    """

    name: str = ""
    theme: tuple[str, ...] = _OFFICE
    major: str = ""
    minor: str = ""
    indexed: tuple[str, ...] = _INDEXED

    def colour(self, element: etree._Element | None) -> Colour | None:
        """Return what a colour element comes to; None for an automatic or a broken one."""
        if element is None:
            return None
        slot = ""
        rgb: str | None = None
        if _is_number(element.get("theme")):
            index = int(element.get("theme", ""))
            if index < len(self.theme):
                slot, rgb = SLOTS[index], self.theme[index]
        elif _is_rgb(element.get("rgb")):
            rgb = element.get("rgb", "")[-6:].upper()
        elif _is_number(element.get("indexed")):
            index = int(element.get("indexed", ""))
            rgb = self.indexed[index] if index < len(self.indexed) else _SYSTEM.get(index)
        if rgb is None:
            return None
        tint = _tint(element.get("tint"))
        if slot and tint:
            slot = f"{slot} {tint:+.0%}"
        return Colour(tinted(rgb, tint), slot)


def read_palette(
    package: Package | Rewriting, theme: str, styles: etree._Element | None
) -> Palette:
    """Read a workbook's palette.

    Args:
        package: The workbook.
        theme: The part that holds its theme, "" if there is none.
        styles: The root of its style sheet, if it has one.

    Raises:
        FileReadFailed: The theme is damaged.
    """
    indexed = list(_INDEXED)
    if styles is not None:
        custom = styles.findall("{*}colors/{*}indexedColors/{*}rgbColor")
        for index, entry in enumerate(custom[: len(indexed)]):
            if _is_rgb(entry.get("rgb")):
                indexed[index] = entry.get("rgb", "")[-6:].upper()
    if theme not in package:
        return Palette(indexed=tuple(indexed))
    root = package.root(theme)
    scheme = root.find(".//{*}clrScheme")
    fonts = root.find(".//{*}fontScheme")
    return Palette(
        name=root.get("name", ""),
        theme=_theme_colours(scheme),
        major=_latin(fonts, "majorFont"),
        minor=_latin(fonts, "minorFont"),
        indexed=tuple(indexed),
    )


def tinted(rgb: str, tint: float) -> str:
    """Return a colour made lighter (to 1) or darker (to -1), by the rule of 18.8.19."""
    if not tint:
        return rgb
    red, green, blue = (int(rgb[place : place + 2], 16) / 255 for place in (0, 2, 4))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    parts: Sequence[float] = colorsys.hls_to_rgb(hue, light, saturation)
    return "".join(f"{round(255 * part):02X}" for part in parts)


def fix_colours(styles: etree._Element, old: Palette, new: Palette) -> None:
    """Have the colours and fonts of a style sheet look in another workbook as they do in theirs.

    What both palettes have alike stays a slot of the theme; the rest becomes RGB, in place.

    Args:
        styles: The root of the style sheet.
        old: The palette of its own workbook.
        new: The palette of the other one.
    """
    for element in styles.iter():
        names_theme = element.get("theme") is not None and old.theme != new.theme
        names_list = element.get("indexed") is not None and old.indexed != new.indexed
        colour = old.colour(element) if names_theme or names_list else None
        if colour is not None:
            for name in ("theme", "indexed", "tint"):
                element.attrib.pop(name, "")
            element.set("rgb", f"FF{colour.rgb}")
    if (old.major, old.minor) != (new.major, new.minor):
        for font in styles.iter("{*}font"):
            for scheme in font.findall("{*}scheme"):
                font.remove(scheme)


def _theme_colours(scheme: etree._Element | None) -> tuple[str, ...]:
    found = []
    for slot, fallback in zip(_SLOT_ELEMENTS, _OFFICE, strict=True):
        entry = scheme.find(f"{{*}}{slot}") if scheme is not None else None
        colour = entry[0] if entry is not None and len(entry) else None
        text = colour.get("lastClr", colour.get("val", "")) if colour is not None else ""
        found.append(text[-6:].upper() if _is_rgb(text) else fallback)
    return tuple(found)


def _latin(fonts: etree._Element | None, name: str) -> str:
    latin = fonts.find(f"{{*}}{name}/{{*}}latin") if fonts is not None else None
    return latin.get("typeface", "") if latin is not None else ""


def _tint(text: str | None) -> float:
    try:
        tint = float(text or 0)
    except ValueError:
        return 0.0
    return max(-1.0, min(1.0, tint)) if math.isfinite(tint) else 0.0


def _is_number(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) < 6


def _is_rgb(text: str | None) -> bool:
    return text is not None and len(text) in (6, 8) and set(text) <= _HEX
