"""Slides moved and deleted, with what the deck says of them elsewhere."""

from collections.abc import Sequence
from typing import Any

from lxml import etree
from pptx.opc.package import XmlPart
from pptx.parts.slide import SlidePart

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import xml_bytes
from kbd_pptx.edits.deck import DeckEdit, notes_of
from kbd_pptx.edits.sections import join_section, leave_section, section_of
from kbd_pptx.operations import DeleteSlide, MoveSlide
from kbd_pptx.slides import A, P, R

__all__ = ["delete_slide", "move_slide"]

_LINKS = frozenset((f"{A}hlinkClick", f"{A}hlinkMouseOver", f"{A}hlinkHover"))


def move_slide(deck: DeckEdit, operation: MoveSlide) -> str:
    """Move a slide, and return what changed."""
    entry = deck.entry(operation.index)
    deck.entry(operation.to)
    if operation.to == operation.index:
        return f"slide {operation.index}: stays where it is"
    home = section_of(deck, entry.get("id", ""))
    leave_section(deck, entry.get("id", ""))
    target = deck.entries[operation.to]
    if operation.to > operation.index:
        target.addnext(entry)
    else:
        target.addprevious(entry)
    join_section(deck, operation.to, home=home)
    return f"slide {operation.index}: moved to {operation.to}"


def delete_slide(deck: DeckEdit, operation: DeleteSlide) -> str:
    """Delete a slide, and return what changed.

    Raises:
        ValidationFailed: There is no such slide, or something needs it that cannot do without.
    """
    entry = deck.entry(operation.index)
    part = deck.part_of(entry)
    entries = deck.entries
    if part is not None and sum(deck.part_of(each) is part for each in entries) == 1:
        _unlink(deck, operation.index, part)
    leave_section(deck, entry.get("id", ""))
    relation_id = entry.get(f"{R}id", "")
    for listing in deck.root.iterfind(f"{P}sldIdLst"):
        listing.remove(entry)
    if all(each.get(f"{R}id") != relation_id for each in deck.entries):
        deck.main.rels.pop(relation_id)
    if any(each is part for each in deck.main.package.iter_parts()):
        msg = f"Slide {operation.index} cannot be deleted: another part of the deck needs it."
        raise ValidationFailed(msg)
    return f"slide {operation.index}: deleted"


def _unlink(deck: DeckEdit, index: int, part: SlidePart) -> None:
    """Take away what leads to a slide from parts that stay, but its entry in the deck."""
    notes = notes_of(part)
    shown = {id(deck.part_of(entry)): place for place, entry in enumerate(deck.entries)}
    for source in list(deck.main.package.iter_parts()):
        relations = [] if source in (part, notes) else _leading(source, part)
        if not relations:
            continue
        root = source._element if isinstance(source, XmlPart) else etree.fromstring(source.blob)  # noqa: SLF001 - python-pptx has no other way
        place = f"slide {shown[id(source)]}" if id(source) in shown else str(source.partname)
        for element in [each for each in root.iter() if _names(each, relations)]:
            if element.tag == f"{P}sldId":
                continue
            _take_off(deck, index, element, place)
        if not isinstance(source, XmlPart):
            source.blob = xml_bytes(root)
        for relation_id in relations:
            if source is not deck.main:
                source.rels.pop(relation_id)


def _take_off(deck: DeckEdit, index: int, element: etree._Element, place: str) -> None:
    """Take an element off that leads to a slide."""
    parent = element.getparent()
    if element.tag in _LINKS:
        deck.notices.warn(f"A link on {place} led to slide {index}; it was taken off.")
    elif element.tag == f"{P}sld":
        if any(each.tag == f"{P}custShow" for each in element.iterancestors()):
            deck.notices.warn(f"Slide {index} was taken out of a custom show.")
    else:
        raise ValidationFailed(f"Slide {index} cannot be deleted: {place} needs it.")
    if parent is not None:
        parent.remove(element)


def _leading(source: Any, part: SlidePart) -> list[str]:
    """Return the ids of a part's relations that lead to a slide."""
    return [
        relation_id
        for relation_id, relation in source.rels.items()
        if not relation.is_external and relation.target_part is part
    ]


def _names(element: etree._Element, relations: Sequence[str]) -> bool:
    return any(
        value in relations and str(key).startswith(R) for key, value in element.attrib.items()
    )
