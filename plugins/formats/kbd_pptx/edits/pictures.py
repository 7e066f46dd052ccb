"""Pictures of the workbench put onto slides, and put in the place of others."""

from copy import deepcopy
from typing import Any

from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.office.pictures import MAX_PICTURE_BYTES, PictureFacts, picture_facts
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.formatting import percent
from kbd_pptx.edits.found_shapes import (
    SlideEdit,
    find_shape,
    is_picture,
    names_of,
    slide_at,
)
from kbd_pptx.edits.new_places import (
    NewPlace,
    emu,
    named_element,
    place_element,
    place_for,
    transform,
)
from kbd_pptx.edits.placeholders import PlaceholderBox, box_of
from kbd_pptx.edits.warnings import shorten
from kbd_pptx.operations import AddSlideImage, ReplaceImage
from kbd_pptx.presentation import A, P, R
from kbd_pptx.reader.shapes import picture_of

__all__ = ["add_image", "put_picture", "replace_image"]

_KINDS = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "BMP": "bmp"}
"""Kinds of pictures that programs show."""
_SKEW = 0.01
"""By how much the proportions of a picture may be off before it is told."""
_CROPPED = 0.005
"""Of a side: less than this is no crop that anybody sees."""


def add_image(deck: DeckEdit, operation: AddSlideImage) -> str:
    """Put a picture onto a slide, and return what changed.

    Raises:
        ValidationFailed: There is no such slide, or the file is no picture.
        FileReadFailed: The file cannot be read.
    """
    slide = slide_at(deck, operation.index)
    data, facts, name = _read(deck, operation.image)
    place = place_for(deck, slide, operation, "pic")
    holder = place.placeholder
    crops = holder is not None and holder.get("type") == "pic"
    if not crops:
        place = _sized(deck, slide, operation, place, facts)
    picture = _picture(deck, slide, data, facts, place.box, operation.description or "")
    fill = picture.find(f"{P}blipFill")
    if crops and fill is not None:
        _crop(deck, fill, place.box, facts)
    place_element(deck, slide, place, picture, "picture")
    return f"slide {slide.index}: {picture[0][0].get('name', '')} of {name}"


def put_picture(deck: DeckEdit, slide: SlideEdit, shape: etree._Element, image: str) -> None:
    """Put a picture into the place of a shape, as large as that, its proportions kept.

    Args:
        deck: The deck.
        slide: The slide.
        shape: The shape, which goes.
        image: The picture, by its path.

    Raises:
        ValidationFailed: The file is no picture, or nothing tells where the shape is.
        FileReadFailed: The file cannot be read.
    """
    data, facts, _ = _read(deck, image)
    box = box_of(shape, *slide.parents)
    parent = shape.getparent()
    if box is None or parent is None or not box.width or not box.height:
        raise ValidationFailed(f"slide {slide.index}: the shape for {image} has no place or size")
    scale = min(box.width / facts.width, box.height / facts.height)
    width = max(1, round(facts.width * scale))
    height = max(1, round(facts.height * scale))
    left, top = box.x + (box.width - width) // 2, box.y + (box.height - height) // 2
    placed = PlaceholderBox(left, top, width, height)
    parent.replace(shape, _picture(deck, slide, data, facts, placed, ""))
    deck.release(slide.part, [shape])


def _picture(
    deck: DeckEdit,
    slide: SlideEdit,
    data: bytes,
    facts: PictureFacts,
    box: PlaceholderBox,
    description: str,
) -> etree._Element:
    """Return a picture as an element, its part related to the slide."""
    part = _media(deck, data, facts)
    relation_id = slide.part.relate_to(part, RT.IMAGE)
    picture = etree.Element(f"{P}pic")
    described = deck.warnings.clean_text(description)
    picture.append(named_element(slide, "nvPicPr", "Picture", described, ("noChangeAspect",)))
    fill = etree.SubElement(picture, f"{P}blipFill")
    etree.SubElement(fill, f"{A}blip").set(f"{R}embed", relation_id)
    etree.SubElement(etree.SubElement(fill, f"{A}stretch"), f"{A}fillRect")
    properties = etree.SubElement(picture, f"{P}spPr")
    properties.append(transform(f"{A}xfrm", box))
    outline = etree.SubElement(properties, f"{A}prstGeom", {"prst": "rect"})
    etree.SubElement(outline, f"{A}avLst")
    return picture


def replace_image(deck: DeckEdit, operation: ReplaceImage) -> str:
    """Put another picture in the place of one, and return what changed.

    Raises:
        ValidationFailed: There is no such slide or picture, or the file is none.
        FileReadFailed: The file cannot be read.
    """
    slide = slide_at(deck, operation.index)
    shape = find_shape(slide, operation.shape, "picture", is_picture)
    blip = picture_of(shape.element)
    fill = None if blip is None else blip.getparent()
    if blip is None or fill is None:
        raise ValidationFailed(f"{shape.name} shows no picture")
    data, facts, name = _read(deck, operation.image)
    part = _media(deck, data, facts)
    old = deepcopy(blip)
    # Drawings and effects that are stored beside the picture are of the old one.
    for extensions in blip.findall(f"{A}extLst"):
        blip.remove(extensions)
    blip.attrib.pop(f"{R}link", "")
    blip.set(f"{R}embed", slide.part.relate_to(part, RT.IMAGE))
    deck.release(slide.part, [old])
    for cut in fill.findall(f"{A}srcRect"):
        fill.remove(cut)
    box = box_of(shape.element, *slide.parents)
    cropped = _crop(deck, fill, box, facts) if box is not None else ""
    if cropped:
        deck.warnings.warn(f"Slide {slide.index}: {name} was cropped at its {cropped} to fit.")
    names = names_of(shape.element)
    if names is not None and operation.description is not None:
        names.set("descr", deck.warnings.clean_text(operation.description))
    elif names is not None and names.get("descr"):
        deck.warnings.warn(
            f"Slide {slide.index}: the description of {shape.name} is still "
            f'"{shorten(names.get("descr", ""))}"; give one if it shows something else now.'
        )
    return f"slide {slide.index}: {shape.name} shows {name}"


def _read(deck: DeckEdit, path: str) -> tuple[bytes, PictureFacts, str]:
    source = deck.files.get(path)
    if source is None:
        raise ValidationFailed(f"the picture {path!r} was not given with the operations")
    try:
        with source.path.open("rb") as file:
            data = file.read(MAX_PICTURE_BYTES + 1)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be read") from error
    return data, picture_facts(data, source.name, _KINDS), source.name


def _media(deck: DeckEdit, data: bytes, facts: PictureFacts) -> Any:
    """Return the part of a picture; one that is there already is not stored again."""
    for part in deck.main.package.iter_parts():
        is_alike = str(part.partname).startswith("/ppt/media/")
        if is_alike and part.content_type == facts.mime_type and deck.contents(part) == data:
            return part
    name = PackURI(deck.free_name(f"/ppt/media/image{{}}.{facts.suffix}"))
    return Part(name, facts.mime_type, deck.main.package, data)


def _sized(
    deck: DeckEdit,
    slide: SlideEdit,
    operation: AddSlideImage,
    place: NewPlace,
    facts: PictureFacts,
) -> NewPlace:
    """Return a place with the proportions of a picture: with one side given, the other follows."""
    box = place.box
    given = operation.width, operation.height
    if operation.width is not None and operation.height is not None:
        width, height = emu(operation.width), emu(operation.height)
        if abs(width * facts.height / (height * facts.width) - 1) > _SKEW:
            deck.warnings.warn(
                f"Slide {slide.index}: width and height are not as the picture's, which is shown "
                "distorted; give one of them."
            )
    elif operation.width is not None:
        width = emu(operation.width)
        height = max(1, round(width * facts.height / facts.width))
    elif operation.height is not None:
        height = emu(operation.height)
        width = max(1, round(height * facts.width / facts.height))
    else:
        scale = min(box.width / facts.width, box.height / facts.height)
        # A small picture is not blown up, but where a placeholder says how large it is to be.
        scale = scale if place.placeholder is not None else min(scale, 1)
        width = max(1, round(facts.width * scale))
        height = max(1, round(facts.height * scale))
    x, y = box.x, box.y
    if operation.left is None and given == (None, None):
        x += (box.width - width) // 2
    if operation.top is None and given == (None, None) and place.placeholder is not None:
        y += (box.height - height) // 2
    return NewPlace(
        PlaceholderBox(x, y, width, height), place.placeholder, place.gone, place.is_given
    )


def _crop(deck: DeckEdit, fill: etree._Element, box: PlaceholderBox, facts: PictureFacts) -> str:
    """Crop a picture so that it fills a box, and return at which sides; "" if it need not be."""
    if not box.width or not box.height:
        return ""
    ratio = facts.width * box.height / (facts.height * box.width)
    if abs(ratio - 1) <= _CROPPED:
        return ""
    over = 1 - 1 / ratio if ratio > 1 else 1 - ratio
    share = percent(round(over * 50_000), strict=deck.is_strict)
    sides = ("l", "r") if ratio > 1 else ("t", "b")
    cut = etree.Element(f"{A}srcRect", dict.fromkeys(sides, share))
    blip = fill.find(f"{A}blip")
    if blip is None:
        fill.insert(0, cut)
    else:
        blip.addnext(cut)
    return "left and right" if ratio > 1 else "top and bottom"
