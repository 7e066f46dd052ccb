"""Pictures and charts on sheets: where they are anchored and what they are called."""

import msgspec
from lxml import etree

from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, cell_name

__all__ = [
    "RELATION_SPACES",
    "DrawnObject",
    "anchored_range",
    "drawing_of",
    "drawn_objects",
    "relation_ids",
    "why_not_copied",
]

_ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
_OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_OFFICE = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"
RELATION_SPACES = (_OFFICE, _STRICT_OFFICE)


class DrawnObject(msgspec.Struct, frozen=True):
    """A picture or chart.

    Args:
        kind: "image" or "chart".
        name: What it is called on its sheet, made unique by "#2" where another has that name.
        range: The cells that it covers, "" where it is not tied to cells.
        anchor: The element that holds it and its place.
        element: The picture or the frame of the chart itself.
        is_grouped: Whether it is one of a group of shapes.
    """

    kind: str
    name: str
    range: str
    anchor: etree._Element
    element: etree._Element
    is_grouped: bool


def drawing_of(package: Package, sheet: str) -> str:
    """Return the part that holds a sheet's drawing, "" if there is none."""
    for relation in package.relations(sheet):
        if relation.kind == "drawing" and not relation.external and relation.target in package:
            return relation.target
    return ""


def drawn_objects(root: etree._Element) -> list[DrawnObject]:
    """List the pictures and charts of a drawing in order."""
    found: list[DrawnObject] = []
    names: dict[tuple[str, str], int] = {}
    for anchor in root:
        if local_name(anchor) not in _ANCHORS:
            continue
        # Pictures may be nested in groups and alternative contents, so all depths are searched.
        for element in anchor.iter("{*}pic", "{*}graphicFrame"):
            kind = _kind(element)
            if not kind or _is_fallback(element):
                continue
            grouped = any(local_name(each) == "grpSp" for each in element.iterancestors())
            name = _name(element) or kind.capitalize()
            count = names[kind, name] = names.get((kind, name), 0) + 1
            shown = f"{name}#{count}" if count > 1 else name
            found.append(DrawnObject(kind, shown, anchored_range(anchor), anchor, element, grouped))
    return found


def relation_ids(drawn: DrawnObject) -> list[str]:
    """Return the ids of the relations by which a chart or picture names its part."""
    names = "{*}chart" if drawn.kind == "chart" else "{*}blip"
    return [
        str(value)
        for element in drawn.element.iter(names)
        for key, value in element.attrib.items()
        if str(key).startswith(RELATION_SPACES)
    ]


def why_not_copied(drawn: DrawnObject) -> str:
    """Return why an object cannot be copied by itself, "" if it can."""
    if drawn.is_grouped:
        return "which is part of a group of shapes"
    return ""


def _kind(element: etree._Element) -> str:
    if local_name(element) == "pic":
        return "image"
    return "chart" if element.find(".//{*}graphicData/{*}chart") is not None else ""


def _is_fallback(element: etree._Element) -> bool:
    # Of alternative contents a fallback repeats what the choice before it draws.
    return any(local_name(each) == "Fallback" for each in element.iterancestors())


def _name(element: etree._Element) -> str:
    properties = element.find("./*/{*}cNvPr")
    return properties.get("name", "") if properties is not None else ""


def anchored_range(anchor: etree._Element) -> str:
    """Return the cells that an anchor covers, "" where it is not tied to cells."""
    first, last = (_corner(anchor.find(f"{{*}}{name}")) for name in ("from", "to"))
    return f"{first}:{last}" if first and last and first != last else first


def _corner(element: etree._Element | None) -> str:
    """Return the cell of an anchor's corner."""
    if element is None:
        return ""
    texts = [(element.findtext(f"{{*}}{part}") or "").strip() for part in ("row", "col")]
    if not all(text.isdecimal() and len(text) < 10 for text in texts):
        return ""
    # Anchors count rows and columns from 0 (ECMA-376 part 1, 20.5.2).
    row, column = (int(text) + 1 for text in texts)
    return cell_name(row, column) if row <= MAX_ROW and column <= MAX_COLUMN else ""
