"""Paint of drawings: the colors that a fill shows, how opaque they are, and what letters do on it.

A gradient or a pattern shows several colors, a picture any. Letters are hidden on paint of their
own color, seen on that of another one, and for the rest it is doubtful. ECMA-376, part 1, 20.1.8.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Literal

import msgspec
from lxml import etree

from kbd.office.theme import NEAR, drawing_color, look_alike, parse_share

__all__ = [
    "CLEAR",
    "UNKNOWN",
    "Contrast",
    "Paint",
    "Paints",
    "Verdict",
    "contrast",
    "fill_of",
    "fill_paints",
    "opacity",
    "reference_paints",
]

Verdict = Literal["", "hidden", "maybe hidden", "tiny"]
"""How a text is labeled: "" is seen, "maybe hidden" depends on what is not looked into."""

Contrast = Literal["alike", "unlike", "doubtful"]
"""Whether a color is told from paint, whatever lies below that."""


class Paint(msgspec.Struct, frozen=True):
    """One color of a fill: RRGGBB, "" if it cannot be told, and from 0 to 1 how opaque it is."""

    rgb: str
    opacity: float = 1.0


Paints = tuple[Paint, ...]
"""The colors of a fill, in any order; none if it lets all through."""

CLEAR: Paints = ()
UNKNOWN: Paints = (Paint(""),)

_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill", "noFill")
_FIRST_GROUND = 1000
"""Numbers above it are those of a theme's backgrounds, below it of its fills (20.1.4.1.7)."""

_OPAQUE = 0.99
_MAX_COLORS = 20
"""Of one fill; programs make ten at most."""


def fill_of(properties: etree._Element | None) -> etree._Element | None:
    """Return the fill in some properties, `noFill` and `grpFill` included; None without one."""
    for child in () if properties is None else properties:
        if isinstance(child.tag, str) and child.tag.rpartition("}")[2] in _FILLS:
            return child
    return None


def fill_paints(fill: etree._Element, scheme: Callable[[str], str]) -> Paints:
    """Return the colors of a fill; `UNKNOWN` for a picture and for one that is a group's.

    Args:
        fill: The fill (`a:solidFill` and so on).
        scheme: Returns RRGGBB for the name of a color of the theme, "" for none.
    """
    match etree.QName(fill).localname:
        case "noFill":
            return CLEAR
        case "solidFill":
            return _paints([fill], scheme)
        case "gradFill":
            return _paints(fill.iterfind("./{*}gsLst/{*}gs"), scheme) or UNKNOWN
        case "pattFill":
            return _paints(fill, scheme) or UNKNOWN
        case _:
            return UNKNOWN


def reference_paints(
    reference: etree._Element | None,
    theme: etree._Element | None,
    scheme: Callable[[str], str],
) -> Paints:
    """Return the paint of a fill of the theme.

    Args:
        reference: What names it (`a:fillRef`, `p:bgRef`); None for none.
        theme: The root of the theme.
        scheme: As of `fill_paints`.
    """
    number = "0" if reference is None else reference.get("idx", "0")
    place = int(number) if number.isdecimal() and len(number) < 6 else 0
    if reference is None or place in (0, _FIRST_GROUND):
        return CLEAR
    name = "fillStyleLst" if place < _FIRST_GROUND else "bgFillStyleLst"
    listed = None if theme is None else theme.find(f".//{{*}}fmtScheme/{{*}}{name}")
    if listed is None or place % _FIRST_GROUND > len(listed):
        return UNKNOWN
    meant = drawing_color(reference, scheme)
    return fill_paints(
        listed[place % _FIRST_GROUND - 1],
        lambda color: meant if color == "phClr" else scheme(color),
    )


def opacity(color: etree._Element) -> float:
    """Return from 0 to 1 how opaque a color (`a:srgbClr` and so on) is."""
    found = 1.0
    for change in islice(color, _MAX_COLORS):
        name = change.tag.rpartition("}")[2] if isinstance(change.tag, str) else ""
        share = parse_share(change.get("val"))
        if name == "alpha":
            found = share
        elif name == "alphaMod":
            found *= share
        elif name == "alphaOff":
            found += share
    return max(0.0, min(1.0, found))


def contrast(ink: str, paints: Paints) -> Contrast:
    """Return whether letters of a color (RRGGBB) are told from paint that is not clear."""
    found: set[Contrast] = {_contrast(ink, paint) for paint in paints}
    return found.pop() if len(found) == 1 else "doubtful"


def _contrast(ink: str, paint: Paint) -> Contrast:
    if not paint.rgb:
        return "doubtful"
    if paint.opacity >= _OPAQUE:
        return "alike" if look_alike(ink, paint.rgb) else "unlike"
    through = 255 * (1 - paint.opacity)
    for part, over in zip(bytes.fromhex(ink), bytes.fromhex(paint.rgb), strict=True):
        # Whatever lies below, the paint over it is between these two.
        least = over * paint.opacity
        if not least - NEAR <= part <= least + through + NEAR:
            return "unlike"
    return "doubtful"


def _paints(holders: Iterable[etree._Element], scheme: Callable[[str], str]) -> Paints:
    return tuple(_paint(holder, scheme) for holder in islice(holders, _MAX_COLORS))


def _paint(holder: etree._Element, scheme: Callable[[str], str]) -> Paint:
    color = next((e for e in holder if isinstance(e.tag, str) and e.tag.endswith("Clr")), None)
    if color is None:
        return Paint("")
    return Paint(drawing_color(color, scheme), opacity(color))
