"""Anchors of charts and pictures: made for a place, and moved to another one."""

from xml.sax.saxutils import quoteattr

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd.sheets.areas import Area, whole_number
from kbd_xlsx.drawings.drawing_part import CHART_SPACE, DRAWING_SPACE, MAIN_SPACE
from kbd_xlsx.drawings.geometry import Corner, SheetGeometry, Span
from kbd_xlsx.operations import DrawingSize
from kbd_xlsx.parts.stylesheet import number_of
from kbd_xlsx.styles.drawings import RELATION_SPACES, DrawnObject

__all__ = ["anchor_markup", "image_anchor", "next_drawn_id", "place_drawn"]


def next_drawn_id(root: etree._Element) -> int:
    """Return a number that no object of a drawing has."""
    return 1 + max((number_of(element, "id") for element in root.iter("{*}cNvPr")), default=1)


def anchor_markup(root: etree._Element, name: str, span: Span, *, chart: str) -> bytes:
    """Return an anchor that holds a chart and moves and grows with its cells.

    Args:
        root: The drawing that it is for.
        name: What the chart is called there.
        span: Where it lies.
        chart: The id of the relation to its part.
    """
    relations = RELATION_SPACES[0].strip("{}")
    text = (
        f'<xdr:twoCellAnchor xmlns:xdr="{DRAWING_SPACE}" xmlns:a="{MAIN_SPACE}">'
        f"<xdr:from>{_corner(span.start)}</xdr:from><xdr:to>{_corner(span.end)}</xdr:to>"
        f'<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="{next_drawn_id(root)}" '
        f"name={quoteattr(name)}/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm>"
        '<a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic><a:graphicData '
        f'uri="{CHART_SPACE}"><c:chart xmlns:c="{CHART_SPACE}" xmlns:r="{relations}" '
        f'r:id="{chart}"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/>'
        "</xdr:twoCellAnchor>"
    )
    return text.encode()


def image_anchor(
    root: etree._Element, name: str, description: str, span: Span, *, image: str
) -> bytes:
    """Return an anchor that holds a picture, which moves with its cells and keeps its size.

    Args:
        root: The drawing that it is for.
        name: What the picture is called there.
        description: What it shows, for people who do not see it.
        span: Where it lies.
        image: The id of the relation to its part.
    """
    relations = RELATION_SPACES[0].strip("{}")
    described = f" descr={quoteattr(description)}" if description else ""
    text = (
        f'<xdr:twoCellAnchor xmlns:xdr="{DRAWING_SPACE}" xmlns:a="{MAIN_SPACE}" editAs="oneCell">'
        f"<xdr:from>{_corner(span.start)}</xdr:from><xdr:to>{_corner(span.end)}</xdr:to><xdr:pic>"
        f'<xdr:nvPicPr><xdr:cNvPr id="{next_drawn_id(root)}" name={quoteattr(name)}{described}/>'
        '<xdr:cNvPicPr><a:picLocks noChangeAspect="1"/></xdr:cNvPicPr></xdr:nvPicPr><xdr:blipFill>'
        f'<a:blip xmlns:r="{relations}" r:embed="{image}"/><a:stretch><a:fillRect/></a:stretch>'
        '</xdr:blipFill><xdr:spPr><a:xfrm><a:off x="0" y="0"/>'
        f'<a:ext cx="{span.width}" cy="{span.height}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/>'
        "</a:prstGeom></xdr:spPr></xdr:pic><xdr:clientData/></xdr:twoCellAnchor>"
    )
    return text.encode()


def _corner(corner: Corner) -> str:
    # Anchors count from 0, and the schema wants the four elements in this order.
    return (
        f"<xdr:col>{corner.column - 1}</xdr:col><xdr:colOff>{corner.right}</xdr:colOff>"
        f"<xdr:row>{corner.row - 1}</xdr:row><xdr:rowOff>{corner.below}</xdr:rowOff>"
    )


def place_drawn(
    drawn: DrawnObject, geometry: SheetGeometry, area: Area | None, size: DrawingSize | None
) -> str:
    """Move an object, or give it another size, and return what was done.

    Args:
        drawn: The object, whose anchor is changed in place.
        geometry: The measures of its sheet.
        area: Where it goes: a cell for its top left corner, or the range that it is to cover.
        size: Its size; what that does not name stays.

    Raises:
        ValidationFailed: It is not tied to cells and only its size was given, or its place cannot
            be.
    """
    start = _read_corner(drawn.anchor.find("{*}from"))
    old = _size(drawn, geometry, start)
    if area is not None and (area.top, area.left) != (area.bottom, area.right):
        if size is not None:
            raise ValidationFailed("give a size, or a range as its place, not both")
        span = geometry.covering(area)
    elif area is not None:
        span = geometry.span(Corner(area.top, area.left), size, old)
    elif start is None:
        raise ValidationFailed("it is not tied to cells; give it a place, too")
    else:
        span = geometry.span(start, size, old)
    _write(drawn, span)
    return f"now at {span.area}"


def _read_corner(element: etree._Element | None) -> Corner | None:
    if element is None:
        return None
    found = {local_name(each): whole_number((each.text or "").strip()) for each in element}
    return Corner(
        found.get("row", 0) + 1, found.get("col", 0) + 1, found.get("rowOff", 0),
        found.get("colOff", 0),
    )  # fmt: skip


def _size(drawn: DrawnObject, geometry: SheetGeometry, start: Corner | None) -> tuple[int, int]:
    """Return the width and height that an object has."""
    extent, end = drawn.anchor.find("{*}ext"), _read_corner(drawn.anchor.find("{*}to"))
    if extent is not None:
        return number_of(extent, "cx"), number_of(extent, "cy")
    if start is None or end is None:
        raise ValidationFailed("its place is damaged; give it a range as its place")
    width = sum(map(geometry.column_width, range(start.column, end.column)))
    height = sum(map(geometry.row_height, range(start.row, end.row)))
    return max(1, width - start.right + end.right), max(1, height - start.below + end.below)


def _write(drawn: DrawnObject, span: Span) -> None:
    """Give an anchor its corners or its size, in the form that it has."""
    anchor = drawn.anchor
    kind, space = local_name(anchor), namespace_of(str(anchor.tag))
    if kind == "absoluteAnchor":
        # What is placed by a cell is tied to it from then on.
        anchor.tag = f"{{{space}}}oneCellAnchor"
        for place in anchor.findall("{*}pos"):
            anchor.remove(place)
    corners = {"from": span.start} | ({"to": span.end} if kind == "twoCellAnchor" else {})
    for number, (name, corner) in enumerate(corners.items()):
        found = anchor.find(f"{{*}}{name}")
        if found is None:
            found = etree.Element(f"{{{space}}}{name}")
            anchor.insert(number, found)
        values = {
            "col": corner.column - 1, "colOff": corner.right, "row": corner.row - 1,
            "rowOff": corner.below,
        }  # fmt: skip
        for child in list(found):
            found.remove(child)
        for part, value in values.items():
            etree.SubElement(found, f"{{{space}}}{part}").text = str(value)
    extents = [anchor.find("{*}ext")]
    if local_name(drawn.element) == "pic":
        # A picture repeats its size, and programs that read just one of both would show the old.
        extents.append(drawn.element.find("{*}spPr/{*}xfrm/{*}ext"))
    for extent in extents:
        if extent is not None:
            extent.set("cx", str(span.width))
            extent.set("cy", str(span.height))
