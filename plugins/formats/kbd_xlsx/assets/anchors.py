"""Anchors of drawings: copied with all that they hold, and moved to other cells."""

from copy import deepcopy
from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_xlsx.parts.pool import local_name
from kbd_xlsx.parts.styletables import number_of
from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area

__all__ = ["copied_anchor", "like", "moved_anchor", "next_id"]


def copied_anchor(anchor: etree._Element) -> etree._Element:
    """Return a copy of an anchor that still declares every prefix that it uses.

    Prefixes are also used in values ("Requires"), which a plain copy does not see.
    """
    made = like(anchor, local_name(anchor))
    made.attrib.update(anchor.attrib)
    made.extend([deepcopy(child) for child in anchor])
    return made


def like(element: etree._Element, name: str) -> etree._Element:
    """Return an empty element that declares the prefixes of another one, in its namespace."""
    # The stubs do not know that the plain namespace's prefix is None.
    nsmap: Any = element.nsmap
    return etree.Element(f"{{{etree.QName(element).namespace}}}{name}", nsmap=nsmap)


def moved_anchor(anchor: etree._Element, picture: etree._Element, area: Area) -> etree._Element:
    """Return an anchor whose top left corner is at an area's, as large as before.

    A picture that is not to grow with the cells keeps its size in lengths, for the columns of
    another sheet are not as wide; so does what was not tied to cells.

    Args:
        anchor: The anchor, already a copy.
        picture: The picture or frame in it.
        area: Where it goes; only its first cell counts.

    Raises:
        ValidationFailed: It would go past the end of the sheet.
    """
    size = _size(anchor, picture)
    name = local_name(anchor)
    if name == "twoCellAnchor" and (anchor.get("editAs", "twoCell") == "twoCell" or size is None):
        return _shifted(anchor, area)
    if size is None:
        raise ValidationFailed("It has no size of its own and cannot be moved; copy it in place.")
    if name == "oneCellAnchor":
        return _shifted(anchor, area)
    space = etree.QName(anchor).namespace
    made = like(anchor, "oneCellAnchor")
    start = etree.SubElement(made, f"{{{space}}}from")
    corner = {"col": area.left - 1, "colOff": 0, "row": area.top - 1, "rowOff": 0}
    for part, value in corner.items():
        etree.SubElement(start, f"{{{space}}}{part}").text = str(value)
    extent = etree.SubElement(made, f"{{{space}}}ext")
    extent.set("cx", str(size[0]))
    extent.set("cy", str(size[1]))
    places = ("from", "to", "pos", "ext")
    made.extend([child for child in anchor if local_name(child) not in places])
    return made


def next_id(root: etree._Element) -> int:
    """Return a number that no object of a drawing has."""
    return 1 + max((number_of(element, "id") for element in root.iter("{*}cNvPr")), default=1)


def _shifted(anchor: etree._Element, area: Area) -> etree._Element:
    """Move an anchor's corners by as many rows and columns each."""
    corners = [child for child in anchor if local_name(child) in ("from", "to")]
    for part, first, last in (("row", area.top, MAX_ROW), ("col", area.left, MAX_COLUMN)):
        elements = [corner.find(f"{{*}}{part}") for corner in corners]
        texts = [(element.text or "").strip() for element in elements if element is not None]
        if not all(text.isdecimal() and len(text) < 10 for text in texts):
            raise ValidationFailed("Its place is damaged.")
        numbers = [int(text) for text in texts]
        shift = first - 1 - numbers[0] if numbers else 0
        if any(number + shift >= last for number in numbers):
            raise ValidationFailed("It would go past the end of the sheet.")
        for element, number in zip(elements, numbers, strict=False):
            if element is not None:
                element.text = str(number + shift)
    for corner in corners:
        if local_name(corner) == "from" and len(corners) == 1:
            for offset in corner.iterchildren("{*}colOff", "{*}rowOff"):
                offset.text = "0"
    return anchor


def _size(anchor: etree._Element, picture: etree._Element) -> tuple[int, int] | None:
    """Return a picture's width and height in English Metric Units, if they are told."""
    extent = anchor.find("{*}ext")
    if extent is None:
        extent = picture.find("./{*}spPr/{*}xfrm/{*}ext")
    if extent is None:
        return None
    size = number_of(extent, "cx"), number_of(extent, "cy")
    return size if all(size) else None
