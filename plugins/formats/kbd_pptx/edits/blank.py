"""Blank deck: 16:9, nine layouts of the usual kinds, no slide, nothing of who made it.

It begins as python-pptx's template, which is 4:3: widths grow by a third, the layouts that decks
are made of get places and sizes of their own, those for vertical text go, and so does what tells of
the template's past. The same call gives the same deck, to the byte once it is written.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pptx
from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.presentation import Presentation

from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd_pptx.presentation import A, P

__all__ = ["HEIGHT", "WIDTH", "blank_deck", "new_package"]

WIDTH = 12_192_000
HEIGHT = 6_858_000
"""13.333 by 7.5 inches in EMU, of which an inch has 914,400."""

_LEFT, _ACROSS = 838_200, 10_515_600
"""Where contents begin and how wide they are: margins of 0.917 inches."""

_TITLE = (_LEFT, 420_000, _ACROSS, 1_030_000)
_UNDER = (_LEFT + 91_440, 1_475_000, 1_371_600, 38_100)
_CONTENT = (_LEFT, 1_760_000, _ACROSS, 4_420_000)
_HALF = 5_181_600
_RIGHT = _LEFT + _ACROSS - _HALF
_BIG_TITLE = (_LEFT, 1_240_000, _ACROSS, 2_300_000)
_SUBTITLE = (_LEFT, 3_860_000, _ACROSS, 1_500_000)
_BIG_UNDER = (_LEFT + 91_440, 3_640_000, 1_828_800, 50_800)
_CAPTION = (_LEFT, 457_200, 3_932_237, 1_600_200)
_CAPTION_TEXT = (_LEFT, 2_057_400, 3_932_237, 3_811_588)
_CAPTIONED = (5_183_188, 987_425, 6_172_200, 4_873_625)

_PLACES: Mapping[str, Mapping[str, tuple[int, int, int, int]]] = MappingProxyType({
    "title": {"ctrTitle": _BIG_TITLE, "1": _SUBTITLE, "line": _BIG_UNDER},
    "obj": {"title": _TITLE, "1": _CONTENT, "line": _UNDER},
    "secHead": {"title": _BIG_TITLE, "1": _SUBTITLE, "line": _BIG_UNDER},
    "twoObj": {
        "title": _TITLE,
        "1": (_LEFT, _CONTENT[1], _HALF, _CONTENT[3]),
        "2": (_RIGHT, _CONTENT[1], _HALF, _CONTENT[3]),
        "line": _UNDER,
    },
    "twoTxTwoObj": {
        "title": _TITLE,
        "1": (_LEFT, _CONTENT[1], _HALF, 680_000),
        "2": (_LEFT, _CONTENT[1] + 720_000, _HALF, _CONTENT[3] - 720_000),
        "3": (_RIGHT, _CONTENT[1], _HALF, 680_000),
        "4": (_RIGHT, _CONTENT[1] + 720_000, _HALF, _CONTENT[3] - 720_000),
        "line": _UNDER,
    },
    "titleOnly": {"title": _TITLE, "line": _UNDER},
    "objTx": {"title": _CAPTION, "1": _CAPTIONED, "2": _CAPTION_TEXT},
    "picTx": {"title": _CAPTION, "1": _CAPTIONED, "2": _CAPTION_TEXT},
})  # fmt: skip
"""Left, top, width and height of placeholders by their type or idx, and of the line under the
title, by the layout's type (ECMA-376, part 1, 19.7.15)."""

_VERTICAL = frozenset(("vertTx", "vertTitleAndTx"))
"""Layouts for scripts that run downwards, which no call asks for."""

_SIZES = (2800, 2400, 2000, 1800, 1800, 1800, 1800, 1800, 1800)
"""Of text on content slides by level, in hundredths of a point: what projected slides need."""

_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_RELATIONS_TYPE = "application/vnd.openxmlformats-package.relationships+xml"

_COLORS = MappingProxyType({
    "dk2": "1F3A5F", "lt2": "EEF1F5", "accent1": "2F6DB5", "accent2": "E07B39", "accent3": "7F8C99",
    "accent4": "E5B33B", "accent5": "3A9B8F", "accent6": "6DA544", "hlink": "0B5CAD",
    "folHlink": "7A4E8C",
})  # fmt: skip


def blank_deck() -> Presentation:
    """Return a new deck without slides."""
    deck = pptx.Presentation()
    _drop_template_metadata(deck)
    size = deck.element.find(f"{P}sldSz")
    # The template's type names another size.
    size.attrib.pop("type", None)
    size.set("cx", str(WIDTH))
    size.set("cy", str(HEIGHT))
    master = deck.slide_master
    for layout in list(master.slide_layouts):
        if layout.element.get("type", "") in _VERTICAL:
            master.slide_layouts.remove(layout)
    _recolor(master.part.part_related_by(RT.THEME))
    # Widened first: the positions set below are for the new width already.
    _widen(master.element)
    _position(master.element, {"title": _TITLE, "1": _CONTENT})
    _set_text_styles(master.element)
    for layout in master.slide_layouts:
        _widen(layout.element)
        places = _PLACES.get(layout.element.get("type", ""), {})
        _position(layout.element, places)
        if "line" in places:
            _draw_line(layout.element, places["line"])
        _reset_titles(layout.element)
    return deck


def new_package(deck: Presentation, name: str, main_type: str) -> Rewriting:
    """Return a new deck as a package to write.

    Args:
        deck: What `blank_deck` gave, changed or not.
        name: The file's name, for messages.
        main_type: The content type of its main part.
    """
    # By hand: saved by python-pptx, a deck has the time of saving in its archive, and two of the
    # same call would differ.
    rewriting = Rewriting(None, name)
    package = deck.part.package
    types = rewriting.root("[Content_Types].xml")
    for suffix, type_ in (("rels", _RELATIONS_TYPE), ("xml", "application/xml")):
        etree.SubElement(types, f"{_TYPES}Default", Extension=suffix, ContentType=type_)
    rewriting.put("_rels/.rels", package._rels.xml)  # noqa: SLF001 - python-pptx has no other way
    for part in package.iter_parts():
        type_ = main_type if part is deck.part else part.content_type
        etree.SubElement(types, f"{_TYPES}Override", PartName=part.partname, ContentType=type_)
        rewriting.put(part.partname.lstrip("/"), part.blob)
        if len(part.rels):
            rewriting.put(part.partname.rels_uri.lstrip("/"), part.rels.xml)
    rewriting.put("[Content_Types].xml", xml_bytes(types))
    return rewriting


def _drop_template_metadata(deck: Presentation) -> None:
    """Drop the picture, the properties and the printer's settings of the template."""
    package = deck.part.package
    # Only parts that a relation leads to are written, so removing the relations is enough.
    for relations, kinds in (
        (package._rels, (RT.THUMBNAIL, RT.CORE_PROPERTIES, RT.EXTENDED_PROPERTIES)),  # noqa: SLF001
        (deck.part.rels, (RT.PRINTER_SETTINGS,)),
    ):
        for relation_id, relation in list(relations.items()):
            if relation.reltype in kinds:
                relations.pop(relation_id)


def _recolor(theme: Any) -> None:
    """Replace the theme's colors by quieter ones; the part is bytes to python-pptx."""
    root = etree.fromstring(theme.blob)
    for name, value in _COLORS.items():
        for color in root.iterfind(f".//{A}clrScheme/{A}{name}/{A}srgbClr"):
            color.set("val", value)
    theme.blob = xml_bytes(root)


def _widen(root: etree._Element) -> None:
    for name, keys in ((f"{A}off", ("x",)), (f"{A}ext", ("cx",))):
        for element in root.iter(name):
            for key in keys:
                # `a:ext` is the name of extensions, too, which have no width.
                if key in element.attrib:
                    element.set(key, str(int(element.get(key, "0")) * WIDTH // 9_144_000))


def _position(root: etree._Element, places: Mapping[str, tuple[int, int, int, int]]) -> None:
    """Position placeholders by their type or idx."""
    for shape in root.iter(f"{P}sp"):
        ph = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        if ph is None:
            continue
        place = places.get(ph.get("type", "")) or places.get(ph.get("idx", "0"))
        if place is None or ph.get("type") in {"dt", "ftr", "sldNum"}:
            continue
        properties = _find(shape, f"{P}spPr")
        for old in properties.findall(f"{A}xfrm"):
            properties.remove(old)
        # The schema has the transform first (CT_ShapeProperties).
        properties.insert(0, _frame(place))


def _frame(place: tuple[int, int, int, int]) -> etree._Element:
    frame = etree.Element(f"{A}xfrm")
    x, y, width, height = (str(each) for each in place)
    etree.SubElement(frame, f"{A}off", {"x": x, "y": y})
    etree.SubElement(frame, f"{A}ext", {"cx": width, "cy": height})
    return frame


def _draw_line(root: etree._Element, place: tuple[int, int, int, int]) -> None:
    """Draw the thin bar of the theme's first accent under the title."""
    tree = _find(root, f"{P}cSld/{P}spTree")
    ids = {int(each.get("id", "0")) for each in tree.iter(f"{P}cNvPr")}
    shape = etree.Element(f"{P}sp")
    names = etree.SubElement(shape, f"{P}nvSpPr")
    etree.SubElement(names, f"{P}cNvPr", {"id": str(max(ids) + 1), "name": "Accent"})
    etree.SubElement(names, f"{P}cNvSpPr")
    etree.SubElement(names, f"{P}nvPr", {"userDrawn": "1"})
    properties = etree.SubElement(shape, f"{P}spPr")
    properties.append(_frame(place))
    outline = etree.SubElement(properties, f"{A}prstGeom", {"prst": "rect"})
    etree.SubElement(outline, f"{A}avLst")
    fill = etree.SubElement(properties, f"{A}solidFill")
    etree.SubElement(fill, f"{A}schemeClr", {"val": "accent1"})
    etree.SubElement(etree.SubElement(properties, f"{A}ln"), f"{A}noFill")
    # Behind the placeholders; the first two children say what the tree itself is.
    tree.insert(2, shape)


def _set_text_styles(master: etree._Element) -> None:
    title = _find(master, f"{P}txStyles/{P}titleStyle/{A}lvl1pPr")
    title.set("algn", "l")
    _find(title, f"{A}defRPr").set("sz", "3600")
    _find(title, f"{A}defRPr").set("b", "1")
    _find(title, f"{A}defRPr/{A}solidFill/{A}schemeClr").set("val", "tx2")
    for level, size in enumerate(_SIZES, 1):
        _find(master, f"{P}txStyles/{P}bodyStyle/{A}lvl{level}pPr/{A}defRPr").set("sz", str(size))
    for shape in master.iter(f"{P}sp"):
        ph = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        if ph is not None and ph.get("type") == "title":
            _find(shape, f"{P}txBody/{A}bodyPr").set("anchor", "b")


def _reset_titles(layout: etree._Element) -> None:
    """Reset what single layouts set for titles: capitals, sizes, places of the text."""
    kind = layout.get("type", "")
    for shape in layout.iter(f"{P}sp"):
        ph = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        if ph is None or ph.get("type") in {"dt", "ftr", "sldNum"}:
            continue
        body = _find(shape, f"{P}txBody/{A}bodyPr")
        styles = _find(shape, f"{P}txBody/{A}lstStyle")
        is_title = ph.get("type") in {"title", "ctrTitle"}
        if is_title:
            del styles[:]
        match kind:
            case "title" | "secHead" if is_title:
                body.set("anchor", "b")
                _size(styles, (4800,))
            case "title" | "secHead":
                body.set("anchor", "t")
                for level in styles:
                    level.set("algn", "l")
                _find(styles, f"{A}lvl1pPr/{A}defRPr").set("sz", "2400")
            case "twoObj" | "objTx" if not is_title and ph.get("type") != "body":
                del styles[:]
                _size(styles, (2400, 2000, 1800, 1600, 1600))
            case "objTx" | "picTx":
                _size(styles, (2800,) if is_title else ())
                if not is_title:
                    _find(styles, f"{A}lvl1pPr/{A}defRPr").set("sz", "1600")


def _find(root: etree._Element, path: str) -> etree._Element:
    """Return the first element at a path, which the template has."""
    return next(root.iterfind(path))


def _size(styles: etree._Element, sizes: tuple[int, ...]) -> None:
    for number, size in enumerate(sizes, 1):
        level = etree.SubElement(styles, f"{A}lvl{number}pPr")
        etree.SubElement(level, f"{A}defRPr", {"sz": str(size)})
