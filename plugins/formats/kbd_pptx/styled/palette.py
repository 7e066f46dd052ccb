"""A theme's colours and fonts, and what the colours of a deck come to.

A colour is RGB, or a slot of the theme by way of the master's map, with changes of lightness and
the like (ECMA-376 part 1, 20.1.2.3 and 19.3.1.6). People and models want RRGGBB.
"""

import colorsys
from collections.abc import Mapping
from itertools import islice

import msgspec
from lxml import etree

from kbd_pptx.slides import A
from kbd_pptx.styled.deck import short

__all__ = ["SLOTS", "Palette", "number", "read_palette"]

SLOTS: Mapping[str, str] = {
    "dk1": "dark1",
    "lt1": "light1",
    "dk2": "dark2",
    "lt2": "light2",
    **{f"accent{count}": f"accent{count}" for count in range(1, 7)},
    "hlink": "hyperlink",
    "folHlink": "followed_hyperlink",
}
"""The slots of a theme with what they are called in answers."""

_PLAIN_MAP: Mapping[str, str] = {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}
_NAMED = {
    "black": "000000", "white": "FFFFFF", "red": "FF0000", "lime": "00FF00", "green": "008000",
    "blue": "0000FF", "yellow": "FFFF00", "cyan": "00FFFF", "magenta": "FF00FF", "gray": "808080",
    "orange": "FFA500", "purple": "800080", "navy": "000080", "maroon": "800000",
    "silver": "C0C0C0", "teal": "008080",
}  # fmt: skip
"""The commonest of the colours with names; others are left out of answers."""

_SYSTEM = {"windowText": "000000", "window": "FFFFFF"}
_MOST_CHANGES = 20
"""Of one colour; programs write three at most."""

_HEX = frozenset("0123456789abcdefABCDEF")


class Palette(msgspec.Struct, frozen=True):
    """A theme as a master uses it.

    Args:
        name: The theme's name.
        colours: RRGGBB by slot.
        fonts: The typefaces by the names that texts have for them ("+mj-lt": headings, Latin).
        mapping: The slot by the name that texts have for it ("tx1").
    """

    name: str = ""
    colours: Mapping[str, str] = {}
    fonts: Mapping[str, str] = {}
    mapping: Mapping[str, str] = msgspec.field(default_factory=lambda: _PLAIN_MAP)

    def rgb(self, element: etree._Element | None) -> str:
        """Return what a colour, or the fill that holds one, comes to; "" if that is untold."""
        if element is None:
            return ""
        if _name(element).endswith("Clr"):
            return _changed(self._base(element), element)
        for child in element:
            if isinstance(child.tag, str) and _name(child).endswith("Clr"):
                return self.rgb(child)
        return ""

    def slot(self, element: etree._Element | None) -> str:
        """Return the slot of the theme that a fill names, in words; "" if it names none."""
        scheme = element.find("{*}schemeClr") if element is not None else None
        return SLOTS.get(self._slot(scheme.get("val", "")), "") if scheme is not None else ""

    def font(self, typeface: str) -> str:
        """Return the typeface that a name stands for; "" if the theme leaves it open."""
        return self.fonts.get(typeface, "") if typeface.startswith("+m") else typeface

    def mapped(self, override: etree._Element | None) -> "Palette":
        """Return the palette as a layout or slide maps it (its clrMapOvr, or None)."""
        own = override.find("{*}overrideClrMapping") if override is not None else None
        return self if own is None else msgspec.structs.replace(self, mapping=_mapping(own))

    def _base(self, colour: etree._Element) -> str:
        value = colour.get("val", "")
        match _name(colour):
            case "srgbClr":
                return value.upper() if _is_rgb(value) else ""
            case "schemeClr":
                return self.colours.get(self._slot(value), "")
            case "sysClr":
                last = colour.get("lastClr", "")
                return last.upper() if _is_rgb(last) else _SYSTEM.get(value, "")
            case "prstClr":
                return _NAMED.get(value, "")
            case "scrgbClr":
                return _hexed(*(_shown(number(colour.get(name, "0"))) for name in "rgb"))
            case _:
                return ""

    def _slot(self, value: str) -> str:
        return self.mapping.get(value, value)


def read_palette(theme: etree._Element | None, clr_map: etree._Element | None) -> Palette:
    """Read a palette.

    Args:
        theme: The root of the theme, None without one.
        clr_map: The master's map of colours.
    """
    mapping = _mapping(clr_map) if clr_map is not None else _PLAIN_MAP
    if theme is None:
        return Palette(mapping=mapping)
    plain = Palette()
    scheme = theme.find(f"{A}themeElements/{A}clrScheme")
    entries = scheme if scheme is not None else ()
    colours = {_name(entry): plain.rgb(entry) for entry in entries if _name(entry) in SLOTS}
    fonts = {}
    for mark, kind in (("mj", "majorFont"), ("mn", "minorFont")):
        for script, name in (("lt", "latin"), ("ea", "ea"), ("cs", "cs")):
            entry = theme.find(f"{A}themeElements/{A}fontScheme/{A}{kind}/{A}{name}")
            fonts[f"+{mark}-{script}"] = short(entry.get("typeface")) if entry is not None else ""
    return Palette(short(theme.get("name")), colours, fonts, mapping)


def number(text: str | None) -> float:
    """Return a share as a fraction, written as 75000 or as 75%; 0 for what is neither."""
    text = (text or "").strip()
    scale = 100.0 if text.endswith("%") else 100000.0
    try:
        found = float(text.removesuffix("%")) / scale
    except ValueError:
        return 0.0
    return found if -1e6 < found < 1e6 else 0.0


def _mapping(element: etree._Element) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.attrib.items() if value in SLOTS}


def _name(element: etree._Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _changed(rgb: str, colour: etree._Element) -> str:
    """Return a colour with the changes that stand inside of it, in their order."""
    if not rgb:
        return ""
    parts = [int(rgb[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    for change in islice(colour, _MOST_CHANGES):
        name, share = _name(change), number(change.get("val"))
        if name in ("tint", "shade"):
            # These mix light, not what stands for it in the file.
            white = 1 - share if name == "tint" else 0.0
            parts = [_shown(_light(part) * share + white) for part in parts]
        elif name[:3] in ("lum", "sat"):
            hue, light, saturation = colorsys.rgb_to_hls(*parts)
            values = {"lum": light, "sat": saturation}
            values[name[:3]] = _adjusted(values[name[:3]], name[3:], share)
            parts = list(colorsys.hls_to_rgb(hue, values["lum"], values["sat"]))
    return _hexed(*parts)


def _adjusted(value: float, how: str, share: float) -> float:
    changed = {"Mod": value * share, "Off": value + share, "": share}.get(how, value)
    return max(0.0, min(1.0, changed))


def _light(part: float) -> float:
    """Return the light of a part of a colour (the curve of sRGB)."""
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _shown(light: float) -> float:
    light = max(0.0, min(1.0, light))
    return light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055


def _hexed(*parts: float) -> str:
    return "".join(f"{round(255 * max(0.0, min(1.0, part))):02X}" for part in parts)


def _is_rgb(text: str) -> bool:
    return len(text) == 6 and set(text) <= _HEX
