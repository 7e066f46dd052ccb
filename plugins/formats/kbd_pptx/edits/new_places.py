"""Places of new tables, charts and pictures: a placeholder that they take over, or free room."""

from collections.abc import Iterator, Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.found_shapes import SlideEdit
from kbd_pptx.edits.placeholders import (
    FOOTERS,
    PlaceholderBox,
    SlidePlaceholder,
    add_shape,
    box_of,
    free_id,
    overlaps_others,
    placeholders,
    title_placeholder,
    tree_of,
)
from kbd_pptx.edits.textbody import paragraphs_of, text_of
from kbd_pptx.operations import ParagraphedPlacedOperation, PlacedOperation
from kbd_pptx.presentation import A, P
from kbd_pptx.reader.boxes import EMU_PER_INCH

__all__ = [
    "NewPlace",
    "emu",
    "free_room",
    "graphic_frame",
    "inches",
    "named_element",
    "place_element",
    "place_for",
    "transform",
]

_MARGIN = 0.07
"""Of a slide's width and height, on each side."""
_ROOM = 0.22
"""Of a slide's height: less than this below all else is no room for a table or a chart."""
_GAP = 91_440
"""A tenth of an inch between what stands there and what is new."""
_LARGE = 0.15
"""Of a slide: a place for text this large is given to a table where there is none for it."""


class NewPlace(msgspec.Struct, frozen=True):
    """Where something new goes.

    Args:
        box: Its box.
        placeholder: What it takes over of a placeholder (`p:ph`), None if it takes none.
        gone: The empty placeholder of the slide that goes for it.
        is_given: Whether the operation says it.
    """

    box: PlaceholderBox
    placeholder: etree._Element | None = None
    gone: etree._Element | None = None
    is_given: bool = False


def emu(inches_: float) -> int:
    """Return inches as the format counts lengths."""
    return round(inches_ * EMU_PER_INCH)


def inches(length: int) -> str:
    """Return a length in inches, as messages tell it."""
    return f"{length / EMU_PER_INCH:.2f}".rstrip("0").rstrip(".")


def place_for(
    deck: DeckEdit,
    slide: SlideEdit,
    operation: PlacedOperation | ParagraphedPlacedOperation,
    kind: str,
) -> NewPlace:
    """Return where something new goes.

    It is what the operation says; else an empty placeholder for such, of the slide or of its
    layout; else free room.

    Args:
        deck: The deck.
        slide: The slide.
        operation: Says where, or not.
        kind: The type of placeholder that is for it alone ("tbl", "chart", "pic"); "" takes none.
    """
    given = (operation.left, operation.top, operation.width, operation.height)
    if kind and all(each is None for each in given):
        found = _empty_placeholder(deck, slide, kind)
        if found is not None:
            return found
    return NewPlace(
        _given_box(operation, free_room(deck, slide)),
        is_given=any(each is not None for each in given),
    )


def _given_box(
    operation: PlacedOperation | ParagraphedPlacedOperation, room: PlaceholderBox
) -> PlaceholderBox:
    left = room.x if operation.left is None else emu(operation.left)
    top = room.y if operation.top is None else emu(operation.top)
    # Up to where the room ends; half of it where it begins so late that nothing is left.
    width = room.x + room.width - left
    height = room.y + room.height - top
    if operation.width is not None:
        width = emu(operation.width)
    if operation.height is not None:
        height = emu(operation.height)
    return PlaceholderBox(
        left,
        top,
        width if width > 0 else max(1, room.width // 2),
        height if height > 0 else max(1, room.height // 2),
    )


def _empty_placeholder(deck: DeckEdit, slide: SlideEdit, kind: str) -> NewPlace | None:
    """Return the place of an empty placeholder, the slide's before the layout's, the largest."""
    width, height = deck.size
    for types, is_taken_over in (((kind,), True), (("obj",), True), (("body", "subTitle"), False)):
        for found, is_own in ((_own_empty(slide), True), (_of_layout(slide), False)):
            boxes = [
                (each, box)
                for each in found
                if each.type in types
                for box in (box_of(each.shape, *slide.parents),)
                if box is not None and (is_taken_over or box.area >= _LARGE * width * height)
            ]
            if not boxes:
                continue
            placeholder, box = max(
                boxes, key=lambda each: (each[1].area // 1_000_000_000, -each[1].x, -each[1].y)
            )
            ph = deepcopy(placeholder.shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph"))
            if ph is not None:
                ph.tail = None
                ph.attrib.pop("hasCustomPrompt", "")
            return NewPlace(
                box, ph if is_taken_over else None, placeholder.shape if is_own else None
            )
    return None


def _own_empty(slide: SlideEdit) -> list[SlidePlaceholder]:
    return [
        each
        for each in placeholders(slide.root)
        if each.type not in FOOTERS
        and not any(
            text_of(paragraph).strip()
            for body in each.shape.iterchildren(f"{P}txBody")
            for paragraph in paragraphs_of(body)
        )
        and each.shape.find(f"{P}spPr/{A}blipFill") is None
    ]


def _of_layout(slide: SlideEdit) -> list[SlidePlaceholder]:
    """Return the placeholders of a slide's layout that the slide does not have."""
    if not slide.parents:
        return []
    taken = {ph.get("idx", "0") for ph in slide.root.iter(f"{P}ph")}
    return [each for each in placeholders(slide.parents[0]) if each.idx not in taken]


def free_room(deck: DeckEdit, slide: SlideEdit) -> PlaceholderBox:
    """Return the room below what stands on a slide, else that below its title."""
    width, height = deck.size
    across, down = round(width * _MARGIN), round(height * _MARGIN)
    bottom = height - down
    title = title_placeholder(slide.root)
    boxes = list(_boxes(slide))
    bottoms = [box.y + box.height for box in boxes]
    footers = [
        box.y
        for each in placeholders(slide.root)
        if each.type in FOOTERS
        for box in (box_of(each.shape, *slide.parents),)
        if box is not None and box.y > height // 2
    ]
    bottom = min((bottom, *(top - _GAP for top in footers)))
    below = max((each for each in bottoms if each <= height), default=0)
    title_box = None if title is None else box_of(title.shape, *slide.parents)
    under = 0 if title_box is None else title_box.y + title_box.height
    top = next((each for each in (below, under) if 0 < each < bottom - _ROOM * height), 0)
    top = top + _GAP if top else down
    return PlaceholderBox(across, top, width - 2 * across, max(1, bottom - top))


def _boxes(slide: SlideEdit) -> Iterator[PlaceholderBox]:
    """Yield the boxes of what stands on a slide, but for footers and empty placeholders."""
    skipped = [each.shape for each in placeholders(slide.root) if each.type in FOOTERS]
    skipped += [each.shape for each in _own_empty(slide)]
    for shape in tree_of(slide.root):
        if not any(shape is each for each in skipped):
            box = box_of(shape, *slide.parents)
            if box is not None:
                yield box


def named_element(
    slide: SlideEdit, holder: str, base: str, description: str | None, marks: Sequence[str] = ()
) -> etree._Element:
    """Return what tells the id, the name and the alternative text of a new shape (`p:nv…Pr`).

    Args:
        slide: The slide that it goes to.
        holder: The local name of the element, as "nvPicPr".
        base: What the shape is called before its number.
        description: The alternative text.
        marks: The locks of the shape, as "noGrp".
    """
    number = free_id(tree_of(slide.root))
    about = etree.Element(f"{P}{holder}")
    names = etree.SubElement(
        about, f"{P}cNvPr", {"id": str(number), "name": f"{base} {number - 1}"}
    )
    if description:
        names.set("descr", description)
    kind = holder.removeprefix("nv").removesuffix("Pr")
    properties = etree.SubElement(about, f"{P}cNv{kind}Pr")
    if marks:
        lock = {"GraphicFrame": "graphicFrameLocks", "Pic": "picLocks"}.get(kind, "spLocks")
        etree.SubElement(properties, f"{A}{lock}", dict.fromkeys(marks, "1"))
    etree.SubElement(about, f"{P}nvPr")
    return about


def transform(tag: str, box: PlaceholderBox) -> etree._Element:
    """Return where a shape is, as an element of a name."""
    made = etree.Element(tag)
    etree.SubElement(made, f"{A}off", {"x": str(box.x), "y": str(box.y)})
    etree.SubElement(made, f"{A}ext", {"cx": str(box.width), "cy": str(box.height)})
    return made


def graphic_frame(
    slide: SlideEdit, base: str, description: str | None, place: NewPlace, data: etree._Element
) -> etree._Element:
    """Return a frame with a table or a chart, whose data says what it is (`a:graphicData`)."""
    frame = etree.Element(f"{P}graphicFrame")
    frame.append(named_element(slide, "nvGraphicFramePr", base, description, ("noGrp",)))
    frame.append(transform(f"{P}xfrm", place.box))
    etree.SubElement(frame, f"{A}graphic").append(data)
    return frame


def place_element(
    deck: DeckEdit, slide: SlideEdit, place: NewPlace, shape: etree._Element, what: str
) -> None:
    """Put a new shape onto a slide, in the place of the placeholder that it takes over.

    It is told where it covers what else is there.
    """
    if place.placeholder is not None:
        for more in shape[0].iterchildren(f"{P}nvPr"):
            more.insert(0, place.placeholder)
    parent = None if place.gone is None else place.gone.getparent()
    if parent is not None and place.gone is not None:
        parent.replace(place.gone, shape)
    else:
        add_shape(shape, slide.root)
    if not place.is_given and overlaps_others(shape, slide.root, slide.parents):
        deck.warnings.warn(
            f"Slide {slide.index}: the {what} was put where other things stand; look at the slide."
        )
    width, height = deck.size
    box = place.box
    # How high a table is to be is told by what its texts need.
    is_low = box.y + box.height > height and what != "table"
    if box.x < 0 or box.y < 0 or box.x + box.width > width or is_low:
        deck.warnings.warn(
            f"Slide {slide.index}: the {what} reaches over the slide, which is {inches(width)} by "
            f"{inches(height)} inches."
        )
