"""Looks of styles: the color and the size of letters and what is behind them; what is not seen.

The innermost that says something counts: a span, those around it, the paragraph, the default; and
behind them a cell, a row, a table, a section, the page. What is behind a text in a box, a drawing,
a comment, a header or a footer is not known, and then it is taken for seen. OpenDocument 1.3, part
3: 16.29 (text), 20.183 (fo:color), 20.195 (fo:font-size), 20.182 (fo:background-color).
"""

import re
from collections.abc import Iterable

import msgspec
from lxml import etree

from kbd.office.theme import look_alike, parse_rgb
from kbd_odt.packages import OFFICE, STYLE, TABLE, TEXT

__all__ = ["PLAIN", "OdtLook", "derived", "ground_around", "may_hide", "paper_of", "read_look"]

_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_LOEXT = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"

WHITE = "FFFFFF"
UNKNOWN = "?"
AUTOMATIC = "auto"
"""A color that programs choose so that it is seen on what is behind it."""

TRANSPARENT = "none"
"""The color of letters that nothing is drawn of."""

TINY_PT = 2.0
"""Letters of this size nobody reads, nor smaller ones; as in other documents."""

_LENGTH = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(pt|in|cm|mm|pc)")
_POINTS = {"pt": 1.0, "in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4, "pc": 12.0}
_CLEAR_PERCENT = 5.0


class OdtLook(msgspec.Struct, frozen=True):
    """Look of a style, without what it inherits; "" and 0 for what it does not say.

    Args:
        ink: The color of its letters, `AUTOMATIC` or `TRANSPARENT`.
        size_pt: Their size.
        ground: What is behind its letters.
        block_ground: What is behind its paragraphs, cells, rows, tables or sections.
    """

    ink: str = ""
    size_pt: float = 0.0
    ground: str = ""
    block_ground: str = ""

    @property
    def has_color(self) -> bool:
        """Whether it says a color that could be that of what is behind it."""
        return self.ink not in ("", AUTOMATIC)

    def is_unseen(self, around: str) -> bool:
        """Tell whether people do not see its letters, if that is behind its paragraphs."""
        if 0 < self.size_pt <= TINY_PT or self.ink == TRANSPARENT:
            return True
        ground = self.ground or self.block_ground or around
        if not self.has_color or ground in ("", UNKNOWN):
            return False
        return look_alike(self.ink, ground)


PLAIN = OdtLook()


def may_hide(looks: Iterable[OdtLook]) -> bool:
    """Tell whether styles can make a text unseen, whichever of them meet in it."""
    distinct = set(looks)
    if any(look.is_unseen("") for look in distinct):
        return True
    inks = {look.ink for look in distinct if look.has_color}
    grounds = {ground for look in distinct for ground in (look.ground, look.block_ground)}
    grounds = (grounds | {WHITE}) - {"", UNKNOWN}
    return any(look_alike(ink, ground) for ink in inks for ground in grounds)


def read_look(element: etree._Element) -> OdtLook:
    """Return the look of a style."""
    ink, size_pt, ground, block_ground = "", 0.0, "", ""
    for each in element:
        tag = each.tag
        if tag == _TEXTS:
            ink, size_pt, ground = _ink(each), _points(each.get(_SIZE)), _fill(each)
        elif tag in _BLOCKS:
            block_ground = _fill(each)
    return OdtLook(ink, size_pt, ground, block_ground)


_TEXTS, _IMAGE = f"{STYLE}text-properties", f"{STYLE}background-image"
_COLOR, _SIZE, _BACKGROUND = f"{_FO}color", f"{_FO}font-size", f"{_FO}background-color"
_CHOSEN, _OPACITY = f"{STYLE}use-window-font-color", f"{_LOEXT}opacity"

_BLOCKS = frozenset(
    f"{STYLE}{kind}-properties"
    for kind in ("paragraph", "table-cell", "table-row", "table", "section")
)


def derived(own: OdtLook, base: OdtLook) -> OdtLook:
    """Return a look with what it inherits."""
    return OdtLook(
        own.ink or base.ink,
        own.size_pt or base.size_pt,
        own.ground or base.ground,
        own.block_ground or base.block_ground,
    )


def _ink(properties: etree._Element) -> str:
    # First of all: LibreOffice writes an opacity of nothing beside it.
    if properties.get(_CHOSEN) == "true":
        return AUTOMATIC
    opacity = properties.get(_OPACITY, "100%").removesuffix("%")
    is_told = opacity != "100" and opacity.replace(".", "", 1).isdecimal()
    if is_told and float(opacity) <= _CLEAR_PERCENT:
        return TRANSPARENT
    color = properties.get(_COLOR, "")
    return parse_rgb(color[1:]) if color[:1] == "#" else ""


def _fill(properties: etree._Element) -> str:
    if len(properties):
        image = properties.find(_IMAGE)
        if image is not None and (image.keys() or len(image)):
            return UNKNOWN
    color = properties.get(_BACKGROUND, "")
    return parse_rgb(color[1:]) if color[:1] == "#" else ""


def _points(text: str | None) -> float:
    found = _LENGTH.fullmatch(text.strip()) if text else None
    return float(found[1]) * _POINTS[found[2]] if found else 0.0


def paper_of(element: etree._Element) -> str:
    """Return what a layout of pages, or a drawing's style, says of what is behind all text."""
    for each in element.iter(f"{STYLE}page-layout-properties"):
        fill = _fill(each)
        if fill or each.get(f"{_DRAW}fill", "none") != "none":
            return fill if fill == WHITE else UNKNOWN
    for each in element.iterchildren(f"{STYLE}graphic-properties"):
        if each.get(f"{STYLE}run-through") == "background":
            return UNKNOWN
    return WHITE


_SEATS = {
    f"{TABLE}table-cell": "table-cell",
    f"{TABLE}covered-table-cell": "table-cell",
    f"{TABLE}table-row": "table-row",
    f"{TABLE}table": "table",
    f"{TEXT}section": "section",
}


def ground_around(element: etree._Element) -> list[tuple[str, str]] | None:
    """Return the styles behind a paragraph, the nearest first: family and name of each.

    None if what is behind it cannot be told.
    """
    found: list[tuple[str, str]] = []
    for around in element.iterancestors():
        tag = str(around.tag)
        if tag == f"{OFFICE}text":
            return found
        if tag == f"{OFFICE}annotation" or tag.startswith((_DRAW, STYLE)):
            return None
        if family := _SEATS.get(tag):
            name = around.get(f"{TEXT if family == 'section' else TABLE}style-name", "")
            if not name and around.get(f"{TABLE}template-name"):
                return None
            found.append((family, name))
    return None
