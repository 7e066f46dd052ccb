"""Text boxes for text that a slide's layout has no place for."""

from collections.abc import Sequence

from lxml import etree

from kbd_pptx.edits.placeholders import (
    PlaceholderBox,
    box_of,
    free_id,
    put,
    text_body,
    title_spot,
    tree_of,
)
from kbd_pptx.edits.textbody import paragraphs_of, text_of
from kbd_pptx.slides import A, P

__all__ = ["body_box", "is_crowded", "text_box", "title_box"]

_TITLE, _BODY = "Title Text", "Body Text"
"""What the boxes that are made here are named, so that they are found again."""

_TITLE_SIZE, _BODY_SIZE = "3200", "2000"
_MARGIN = 0.07
"""Of a slide's width and height, on each side."""
_CROWDED = 0.25
"""Of the smaller of two shapes."""
_LOWEST = 0.7
"""Of a slide's height: where a body may begin at the latest."""


def title_box(root: etree._Element, size: tuple[int, int]) -> etree._Element:
    """Return the text box of a slide's title, made at its top if there is none."""
    found = _named(root, _TITLE)
    if found is not None:
        return found
    width, height = size
    box = PlaceholderBox(
        round(width * _MARGIN), round(height * _MARGIN / 2),
        round(width * (1 - 2 * _MARGIN)), round(height * 0.14),
    )  # fmt: skip
    return _made(root, _TITLE, box, _TITLE_SIZE, anchor="b")


def body_box(
    root: etree._Element, parents: Sequence[etree._Element], size: tuple[int, int]
) -> etree._Element:
    """Return a new text box for a slide's body, below what stands on the slide.

    Where that leaves too little room it is below the title, over what else is there.
    """
    width, height = size
    tops = []
    for shapes in (list(tree_of(root)), _titles(root)):
        boxes = [box_of(shape, *parents) for shape in shapes]
        tops.append(max((box.y + box.height for box in boxes if box), default=0))
    margin = round(height * _MARGIN)
    top = next((top for top in tops if 0 < top <= height * _LOWEST), 0)
    top = top + margin // 2 if top else margin
    box = PlaceholderBox(
        round(width * _MARGIN), top, round(width * (1 - 2 * _MARGIN)), height - top - margin
    )
    return _made(root, _BODY, box, _BODY_SIZE, anchor="t")


def text_box(root: etree._Element, *, filled: bool) -> etree._Element | None:
    """Return the text box that takes a slide's body, None if there is none.

    It is one that was made for it, else the only one beside the title's.

    Args:
        root: The slide.
        filled: Whether that only one may have text.
    """
    own = _named(root, _BODY)
    if own is not None:
        return own
    found = []
    for shape in tree_of(root).iterchildren(f"{P}sp"):
        kind = shape.find(f"{P}nvSpPr/{P}cNvSpPr")
        is_box = kind is not None and kind.get("txBox") in {"1", "true"}
        if is_box and not _name(shape).startswith(_TITLE):
            found.append(shape)
    if len(found) != 1:
        return None
    has_text = any(map(text_of, paragraphs_of(text_body(found[0]))))
    return found[0] if filled or not has_text else None


def is_crowded(
    shape: etree._Element, root: etree._Element, parents: Sequence[etree._Element]
) -> bool:
    """Tell whether a shape and another one of the slide cover much of each other."""
    own = box_of(shape, *parents)
    others = [box_of(other, *parents) for other in tree_of(root) if other is not shape]
    return own is not None and any(_shared(own, other) for other in others if other is not None)


def _shared(one: PlaceholderBox, other: PlaceholderBox) -> bool:
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return min(width, height) > 0 and width * height > _CROWDED * min(one.area, other.area)


def _titles(root: etree._Element) -> list[etree._Element]:
    spot, box = title_spot(root), _named(root, _TITLE)
    return [shape for shape in (spot.shape if spot else None, box) if shape is not None]


def _name(shape: etree._Element) -> str:
    named = shape.find(f"{P}nvSpPr/{P}cNvPr")
    return named.get("name", "") if named is not None else ""


def _named(root: etree._Element, name: str) -> etree._Element | None:
    for shape in tree_of(root).iterchildren(f"{P}sp"):
        if _name(shape).rstrip("0123456789 ") == name:
            return shape
    return None


def _made(
    root: etree._Element, name: str, box: PlaceholderBox, font_size: str, *, anchor: str
) -> etree._Element:
    number = free_id(tree_of(root))
    shape = etree.Element(f"{P}sp")
    about = etree.SubElement(shape, f"{P}nvSpPr")
    etree.SubElement(about, f"{P}cNvPr", {"id": str(number), "name": f"{name} {number - 1}"})
    etree.SubElement(about, f"{P}cNvSpPr", {"txBox": "1"})
    etree.SubElement(about, f"{P}nvPr")
    properties = etree.SubElement(shape, f"{P}spPr")
    frame = etree.SubElement(properties, f"{A}xfrm")
    etree.SubElement(frame, f"{A}off", {"x": str(box.x), "y": str(box.y)})
    etree.SubElement(frame, f"{A}ext", {"cx": str(box.width), "cy": str(box.height)})
    outline = etree.SubElement(properties, f"{A}prstGeom", {"prst": "rect"})
    etree.SubElement(outline, f"{A}avLst")
    etree.SubElement(properties, f"{A}noFill")
    body = text_body(shape)
    for settings in body.iterchildren(f"{A}bodyPr"):
        settings.set("wrap", "square")
        settings.set("anchor", anchor)
        etree.SubElement(settings, f"{A}normAutofit")
    for paragraph in body.iterchildren(f"{A}p"):
        etree.SubElement(paragraph, f"{A}endParaRPr", {"sz": font_size})
    put(shape, root)
    return shape
