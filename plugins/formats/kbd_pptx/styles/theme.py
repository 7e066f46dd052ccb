"""Theme of a deck as a master uses it: what its colors and fonts come to.

A color names a slot of the theme by way of the master's map, which a layout or slide may override
(ECMA-376 part 1, 19.3.1.6 and 19.3.1.7).
"""

from collections.abc import Mapping

import msgspec
from lxml import etree

from kbd.office.theme import SLOTS, Theme, drawing_color, read_theme
from kbd_pptx.styles.deck import short

__all__ = ["PptxTheme", "read_deck_theme"]

_PLAIN_MAP: Mapping[str, str] = {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}
_FAMILIES = {"+mj-": "major", "+mn-": "minor"}
_SCRIPTS = {"lt": "latin", "ea": "ea", "cs": "cs"}


class PptxTheme(msgspec.Struct, frozen=True):
    """A theme as a master uses it.

    Args:
        theme: The theme.
        mapping: The slot by the name that texts have for it ("tx1").
    """

    theme: Theme = Theme()
    mapping: Mapping[str, str] = msgspec.field(default_factory=lambda: _PLAIN_MAP)

    def rgb(self, element: etree._Element | None) -> str:
        """Return what a color, or the fill that holds one, comes to; "" if that is untold."""
        return drawing_color(element, self.color)

    def color(self, name: str) -> str:
        """Return RRGGBB for the name that texts have for a color, "" for none."""
        return self.theme.colors.get(self.mapping.get(name, name), "")

    def slot(self, element: etree._Element | None) -> str:
        """Return the slot of the theme that a fill names, in words; "" if it names none."""
        scheme = element.find("{*}schemeClr") if element is not None else None
        name = scheme.get("val", "") if scheme is not None else ""
        return SLOTS.get(self.mapping.get(name, name), "")

    def font(self, typeface: str) -> str:
        """Return the typeface that a name stands for ("+mj-lt": headings, Latin); "" for none."""
        if not typeface.startswith("+m"):
            return typeface
        key = f"{_FAMILIES.get(typeface[:4])}-{_SCRIPTS.get(typeface[4:])}"
        return short(self.theme.fonts.get(key))

    def mapped(self, override: etree._Element | None) -> "PptxTheme":
        """Return the theme as a layout or slide maps it (its clrMapOvr, or None)."""
        own = override.find("{*}overrideClrMapping") if override is not None else None
        return self if own is None else PptxTheme(self.theme, _mapping(own))


def read_deck_theme(theme: etree._Element | None, clr_map: etree._Element | None) -> PptxTheme:
    """Read a theme as a master uses it.

    Args:
        theme: The root of the theme, None without one.
        clr_map: The master's map of colors.
    """
    return PptxTheme(read_theme(theme), _PLAIN_MAP if clr_map is None else _mapping(clr_map))


def _mapping(element: etree._Element) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.attrib.items() if value in SLOTS}
