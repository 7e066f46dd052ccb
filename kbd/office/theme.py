"""Themes of office files: their colors and fonts, and the resolution of drawing colors.

A theme names twelve colors and two families of fonts (ECMA-376 part 1, 20.1.6). What refers to
them, and by which names, is each format's own; people and models want RRGGBB.
"""

import colorsys
from collections.abc import Callable, Mapping
from itertools import islice

import msgspec
from lxml import etree

__all__ = [
    "SLOTS",
    "Theme",
    "drawing_color",
    "look_alike",
    "parse_rgb",
    "parse_share",
    "read_theme",
    "with_lightness",
]

SLOTS: Mapping[str, str] = {
    "dk1": "dark1",
    "lt1": "light1",
    "dk2": "dark2",
    "lt2": "light2",
    **{f"accent{count}": f"accent{count}" for count in range(1, 7)},
    "hlink": "hyperlink",
    "folHlink": "followed_hyperlink",
}
"""The slots of a theme's colors, in its order, with what they are called in answers."""

_PRESET = {
    "black": "000000", "white": "FFFFFF", "red": "FF0000", "lime": "00FF00", "green": "008000",
    "blue": "0000FF", "yellow": "FFFF00", "cyan": "00FFFF", "magenta": "FF00FF", "gray": "808080",
    "orange": "FFA500", "purple": "800080", "navy": "000080", "maroon": "800000",
    "silver": "C0C0C0", "teal": "008080", "snow": "FFFAFA", "ghostWhite": "F8F8FF",
    "ivory": "FFFFF0", "floralWhite": "FFFAF0", "mintCream": "F5FFFA", "azure": "F0FFFF",
    "aliceBlue": "F0F8FF", "whiteSmoke": "F5F5F5", "honeydew": "F0FFF0", "lavenderBlush": "FFF0F5",
    "seaShell": "FFF5EE", "oldLace": "FDF5E6", "ltYellow": "FFFFE0", "lightYellow": "FFFFE0",
    "ltCyan": "E0FFFF", "lightCyan": "E0FFFF",
}  # fmt: skip
"""The commonest of the preset colors (20.1.10.48), and those that are nearly white; others are left
out of answers."""

_SYSTEM = {"windowText": "000000", "window": "FFFFFF"}
_LIGHTS = ("red", "green", "blue")
_MAX_CHANGES = 20
"""Of one color; programs write three at most."""

_HEX = frozenset("0123456789abcdefABCDEF")


class Theme(msgspec.Struct, frozen=True):
    """Colors and fonts of a theme.

    Args:
        name: Its name, "" without one.
        colors: RRGGBB by slot ("dk1"); a slot that is missing or cannot be told is left out.
        fonts: Typefaces by family and script ("major-latin", "minor-ea"); major is that of
            headings.
    """

    name: str = ""
    colors: Mapping[str, str] = {}
    fonts: Mapping[str, str] = {}


def read_theme(root: etree._Element | None) -> Theme:
    """Read a theme from the root of its part; None gives an empty one."""
    if root is None:
        return Theme()
    colors, fonts = {}, {}
    # Files from before the standard hold both in an element of another name.
    for slot in SLOTS:
        entry = root.find(f"./*/{{*}}clrScheme/{{*}}{slot}")
        # A slot that names another one is not followed: two of them could name each other.
        if rgb := drawing_color(entry, lambda _: ""):
            colors[slot] = rgb
    for group in ("major", "minor"):
        for script in ("latin", "ea", "cs"):
            font = root.find(f"./*/{{*}}fontScheme/{{*}}{group}Font/{{*}}{script}")
            typeface = font.get("typeface") if font is not None else None
            if typeface:
                fonts[f"{group}-{script}"] = typeface
    return Theme(root.get("name", ""), colors, fonts)


def drawing_color(element: etree._Element | None, scheme: Callable[[str], str]) -> str:
    """Resolve a color of a drawing to RRGGBB, "" if it cannot be resolved.

    Args:
        element: A color (`srgbClr`, `schemeClr` and so on, 20.1.2.3), or what holds one.
        scheme: Returns RRGGBB for the name of a color of the theme, "" for none.
    """
    if element is None:
        return ""
    if _name(element).endswith("Clr"):
        return _changed(_base(element, scheme), element)
    for child in element:
        if _name(child).endswith("Clr"):
            return drawing_color(child, scheme)
    return ""


NEAR = 15
"""By how much each part of two colors may differ, of 255, that nobody tells them apart."""


def look_alike(one: str, other: str) -> bool:
    """Return whether nobody tells letters of one color (RRGGBB) from what is of the other."""
    pairs = zip(bytes.fromhex(one), bytes.fromhex(other), strict=True)
    return all(abs(a - b) <= NEAR for a, b in pairs)


def with_lightness(rgb: str, change: Callable[[float], float]) -> str:
    """Return a color with another lightness.

    Args:
        rgb: RRGGBB.
        change: Returns the new lightness for the old one; both are from 0 to 1.
    """
    hue, light, saturation = colorsys.rgb_to_hls(*_parts(rgb))
    return _hexed(*colorsys.hls_to_rgb(hue, change(light), saturation))


def parse_rgb(text: str | None, *, alpha: bool = False) -> str:
    """Return RRGGBB in capitals, "" for what is no color.

    Args:
        text: RRGGBB.
        alpha: Whether AARRGGBB will do; its first two digits are left out.
    """
    text = text or ""
    if len(text) != 6 and not (alpha and len(text) == 8):
        return ""
    return text[-6:].upper() if set(text) <= _HEX else ""


def parse_share(text: str | None) -> float:
    """Return a share as a fraction, written as 75000 or as 75%; 0 for what is neither."""
    text = (text or "").strip()
    scale = 100.0 if text.endswith("%") else 100000.0
    try:
        found = float(text.removesuffix("%")) / scale
    except ValueError:
        return 0.0
    # `float` takes "nan" and "inf", too; of the former no comparison is true.
    return found if -1e6 < found < 1e6 else 0.0


def _base(color: etree._Element, scheme: Callable[[str], str]) -> str:
    value = color.get("val", "")
    match _name(color):
        case "srgbClr":
            return parse_rgb(value)
        case "schemeClr":
            return scheme(value)
        case "sysClr":
            # The color that the writing program last saw; the reader's system is not known here.
            return parse_rgb(color.get("lastClr")) or _SYSTEM.get(value, "")
        case "prstClr":
            return _PRESET.get(value, "")
        case "scrgbClr":
            # The parts are amounts of light; those of RRGGBB follow the curve of sRGB.
            return _hexed(*(_gamma_encoded(parse_share(color.get(name, "0"))) for name in "rgb"))
        case "hslClr":
            # The hue is an angle in 60,000ths of a degree (20.1.2.3.13).
            hue = parse_share(color.get("hue")) / 216 % 1
            light, saturation = (parse_share(color.get(name)) for name in ("lum", "sat"))
            return _hexed(*colorsys.hls_to_rgb(hue, _part(light), _part(saturation)))
        case _:
            return ""


def _part(value: float) -> float:
    return max(0.0, min(1.0, value))


def _changed(rgb: str, color: etree._Element) -> str:
    """Return a color with the changes that stand inside of it, in their order."""
    if not rgb:
        return ""
    parts = _parts(rgb)
    for change in islice(color, _MAX_CHANGES):
        name, share = _name(change), parse_share(change.get("val"))
        if name in ("tint", "shade"):
            # These mix light, not what stands for it in the file.
            white = 1 - share if name == "tint" else 0.0
            parts = [_gamma_encoded(_light(part) * share + white) for part in parts]
        elif name[:3] in ("lum", "sat"):
            # Lightness and saturation are those of the written parts, not of their light.
            hue, light, saturation = colorsys.rgb_to_hls(*parts)
            values = {"lum": light, "sat": saturation}
            values[name[:3]] = _adjusted(values[name[:3]], name[3:], share)
            parts = list(colorsys.hls_to_rgb(hue, values["lum"], values["sat"]))
        elif name == "inv":
            parts = [1 - part for part in parts]
        elif name in _LIGHTS:
            place = _LIGHTS.index(name)
            parts[place] = _gamma_encoded(share)
    return _hexed(*parts)


def _adjusted(value: float, how: str, share: float) -> float:
    changed = {"Mod": value * share, "Off": value + share, "": share}.get(how, value)
    return max(0.0, min(1.0, changed))


def _light(part: float) -> float:
    """Return the light of a part of a color (the curve of sRGB)."""
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _gamma_encoded(light: float) -> float:
    light = max(0.0, min(1.0, light))
    # The transfer curve of sRGB (IEC 61966-2-1).
    return light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055


def _parts(rgb: str) -> list[float]:
    return [int(rgb[place : place + 2], 16) / 255 for place in (0, 2, 4)]


def _hexed(*parts: float) -> str:
    return "".join(f"{round(255 * max(0.0, min(1.0, part))):02X}" for part in parts)


def _name(element: etree._Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
