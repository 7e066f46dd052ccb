"""Slides given another layout: what fills a placeholder goes to one of its kind there.

Of a kind the placeholders are paired by their index first, then in their order. What the new layout
has no place for keeps its text, its place and its size, as programs do, and is told.
"""

from collections.abc import Sequence

import msgspec
from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT

from kbd_pptx.edits.deck import DeckEdit, Layout, choose_layout
from kbd_pptx.edits.found_shapes import SlideEdit, names_of, slide_at
from kbd_pptx.edits.new_places import transform
from kbd_pptx.edits.placeholders import (
    FOOTERS,
    TITLES,
    SlidePlaceholder,
    box_of,
    overlaps_others,
    placeholders,
    tree_of,
)
from kbd_pptx.edits.textbody import paragraphs_of, text_of
from kbd_pptx.edits.warnings import quoted_list
from kbd_pptx.operations import SetLayout
from kbd_pptx.presentation import A, P

__all__ = ["set_layout"]

_TEXTS = ("obj", "body", "subTitle")
"""Kinds that take a text, nearest last: one may stand for another."""


class _Held(msgspec.Struct, frozen=True):
    """A placeholder as a slide holds it, whatever fills it: its shape, its mark, type and index."""

    shape: etree._Element
    ph: etree._Element
    type: str
    idx: str


def set_layout(deck: DeckEdit, operation: SetLayout) -> str:
    """Give a slide another layout, and return what changed.

    Raises:
        ValidationFailed: There is no such slide or layout.
    """
    slide = slide_at(deck, operation.index)
    layout, warning = choose_layout(deck.layouts(slide.part), operation.layout)
    if warning:
        deck.warnings.warn(warning)
    if slide.parents and slide.parents[0] is layout.root:
        return f'slide {slide.index}: layout "{layout.name}" as it was'
    held = [each for each in _held(slide.root) if each.type not in FOOTERS]
    boxes = [box_of(each.shape, *slide.parents) for each in held]
    pairs = _paired(held, list(placeholders(layout.root)))
    left: list[str] = []
    for each, box in zip(held, boxes, strict=True):
        wanted = pairs.get(id(each.shape))
        if wanted is not None:
            _take(each, wanted)
        elif _is_empty(each.shape):
            tree_of(slide.root).remove(each.shape)
        else:
            names = names_of(each.shape)
            left.append("" if names is None else names.get("name", ""))
            if box is not None and each.shape.find(f"{P}spPr/{A}xfrm") is None:
                properties = each.shape.find(f"{P}spPr")
                if properties is not None:
                    # What the old layout gave it would else be lost.
                    properties.insert(0, transform(f"{A}xfrm", box))
    _relate(slide, layout)
    parents = (layout.root, layout.master)
    if any(
        overlaps_others(each.shape, slide.root, parents)
        for each in held
        if each.shape.getparent() is not None
    ):
        deck.warnings.warn(
            f"Slide {slide.index}: in the new layout things cover each other; look at the slide."
        )
    if left:
        deck.warnings.warn(
            f'The layout "{layout.name}" has no place for {quoted_list(left)} of slide '
            f"{slide.index}; they stay where they were. Look at the slide."
        )
    return f'slide {slide.index}: layout "{layout.name}"'


def _held(root: etree._Element) -> list[_Held]:
    found = []
    for shape in tree_of(root):
        for more in shape:
            ph = more.find(f"{P}nvPr/{P}ph") if isinstance(more.tag, str) else None
            if ph is not None:
                found.append(_Held(shape, ph, ph.get("type", "obj"), ph.get("idx", "0")))
    return found


def _paired(
    held: Sequence[_Held], there: Sequence[SlidePlaceholder]
) -> dict[int, SlidePlaceholder]:
    """Pair what a slide holds with the placeholders of a layout, by the ids of shapes."""
    found: dict[int, SlidePlaceholder] = {}
    free = [each for each in there if each.type not in FOOTERS]
    for is_same in (_is_same_place, _is_same_kind, _is_like):
        for each in held:
            # What is empty takes no place from what is not.
            if id(each.shape) in found or _is_empty(each.shape):
                continue
            wanted = next((one for one in free if is_same(each, one)), None)
            if wanted is not None:
                found[id(each.shape)] = wanted
                free.remove(wanted)
    for each in held:
        if id(each.shape) not in found:
            wanted = next((one for one in free if _is_same_kind(each, one)), None)
            if wanted is not None:
                found[id(each.shape)] = wanted
                free.remove(wanted)
    return found


def _is_same_place(held: _Held, there: SlidePlaceholder) -> bool:
    return held.idx == there.idx and _is_same_kind(held, there)


def _is_same_kind(held: _Held, there: SlidePlaceholder) -> bool:
    return held.type == there.type or (held.type in TITLES and there.type in TITLES)


def _is_like(held: _Held, there: SlidePlaceholder) -> bool:
    """Whether a placeholder of another kind may hold it: contents take all, texts take texts."""
    if held.type in TITLES or there.type in TITLES:
        return False
    if there.type == "obj":
        return True
    return held.shape.tag == f"{P}sp" and held.type in _TEXTS and there.type in _TEXTS


def _is_empty(shape: etree._Element) -> bool:
    if shape.tag != f"{P}sp" or shape.find(f"{P}spPr/{A}blipFill") is not None:
        return False
    bodies = shape.findall(f"{P}txBody")
    return not any(text_of(each).strip() for body in bodies for each in paragraphs_of(body))


def _take(held: _Held, wanted: SlidePlaceholder) -> None:
    """Have a shape fill another placeholder."""
    mark = wanted.shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    if mark is None:
        return
    for key in ("type", "idx", "sz", "orient"):
        value = mark.get(key)
        if value is None:
            held.ph.attrib.pop(key, "")
        else:
            held.ph.set(key, value)
    # How far its text was shrunk was for the old place.
    for shrunk in held.shape.iterfind(f"{P}txBody/{A}bodyPr/{A}normAutofit"):
        shrunk.attrib.clear()


def _relate(slide: SlideEdit, layout: Layout) -> None:
    """Relate a slide to its new layout in place of the old one."""
    for relation_id, relation in list(slide.part.rels.items()):
        if relation.reltype == RT.SLIDE_LAYOUT:
            slide.part.rels.pop(relation_id)
    slide.part.relate_to(layout.part, RT.SLIDE_LAYOUT)
