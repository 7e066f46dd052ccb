"""Slides added in one of the deck's layouts, moved and deleted, with the sections that list them.

PowerPoint keeps sections in an extension of the main part, by the slides' ids ([MS-PPTX] 2.6.3).
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from lxml import etree
from pptx.opc.package import XmlPart
from pptx.parts.slide import SlidePart

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import xml_bytes
from kbd_pptx.edits.deck import DeckEdit, choose_layout, notes_of, parents_of
from kbd_pptx.edits.notes import write_notes
from kbd_pptx.edits.placeholders import FOOTERS, copy_placeholder, placeholders, text_body
from kbd_pptx.edits.text_writer import SlideTexts, read_texts, write_texts
from kbd_pptx.edits.textbody import Line
from kbd_pptx.operations import AddSlide, DeleteSlide, MoveSlide
from kbd_pptx.presentation import P14, A, P, R

__all__ = ["add_slide", "add_to_section", "delete_slide", "move_slide", "remove_from_section"]


def add_slide(deck: DeckEdit, operation: AddSlide) -> str:
    """Add a slide with its texts, and return what changed.

    Placeholders that get no text are left out: programs would ask people to click into them. Date,
    footer and number are copied if the slide before, or else the one behind, has them.
    """
    entries = deck.entries
    index = len(entries) if operation.index is None else operation.index
    if index > len(entries):
        deck.entry(index)  # raises, as there is none
    given = read_texts(operation, deck)
    texts = SlideTexts(_or_none(given.title), _or_none(given.body), given.formatting)
    near = [deck.part_of(entry) for entry in entries[max(index - 1, 0) : index + 1]]
    neighbor = next((part for part in near if part is not None), None)
    layout, warning = choose_layout(deck.layouts(neighbor), operation.layout)
    if warning:
        deck.warnings.warn(warning)
    part = deck.add(layout, index)
    add_to_section(deck, index)
    changed = write_texts(deck, index, part, texts)
    if neighbor is not None:
        _copy_footers(part, neighbor, index)
    if operation.notes:
        write_notes(deck, part, operation.notes)
        changed.append("notes")
    holding = f" with {', '.join(changed)}" if changed else ""
    return f'slide {index}: new, layout "{layout.name}"{holding}'


def _or_none(lines: tuple[Line, ...] | None) -> tuple[Line, ...] | None:
    """Return a text that has any, else None."""
    return lines if lines and any(line.pieces for line in lines) else None


def _copy_footers(part: SlidePart, neighbor: SlidePart, index: int) -> None:
    """Copy the date, footer and number of a neighboring slide to a new one."""
    layout = {each.type: each for each in placeholders(parents_of(part)[0])}
    for placeholder in placeholders(neighbor.slide.element):
        if placeholder.type in FOOTERS and placeholder.type in layout:
            made = text_body(copy_placeholder(layout[placeholder.type], part.slide.element))
            for old in made.findall(f"{A}p"):
                made.remove(old)
            for paragraph in text_body(placeholder.shape).findall(f"{A}p"):
                # Links of the neighbor mean nothing in another part.
                if not any("hlink" in str(each.tag) for each in paragraph.iter()):
                    made.append(deepcopy(paragraph))
            for field in made.iter(f"{A}fld"):
                text = field.find(f"{A}t")
                if field.get("type") == "slidenum" and text is not None:
                    text.text = str(index + 1)
            # A text body has at least one paragraph (CT_TextBody).
            if made.find(f"{A}p") is None:
                made.append(made.makeelement(f"{A}p"))


_LINKS = frozenset((f"{A}hlinkClick", f"{A}hlinkMouseOver", f"{A}hlinkHover"))


def move_slide(deck: DeckEdit, operation: MoveSlide) -> str:
    """Move a slide, and return what changed."""
    entry = deck.entry(operation.index)
    deck.entry(operation.to)  # raises if there is none
    if operation.to == operation.index:
        return f"slide {operation.index}: stays where it is"
    origin = section_of(deck, entry.get("id", ""))
    remove_from_section(deck, entry.get("id", ""))
    target = deck.entries[operation.to]
    # Towards the end the slides between move up by one, so that it goes behind its target.
    if operation.to > operation.index:
        target.addnext(entry)
    else:
        target.addprevious(entry)
    add_to_section(deck, operation.to, origin=origin)
    return f"slide {operation.index}: moved to {operation.to}"


def delete_slide(deck: DeckEdit, operation: DeleteSlide) -> str:
    """Delete a slide, and return what changed.

    Raises:
        ValidationFailed: There is no such slide, or something needs it that cannot do without.
    """
    entry = deck.entry(operation.index)
    part = deck.part_of(entry)
    entries = deck.entries
    # A deck may list one slide several times; its part goes with the last entry.
    is_last = part is not None and sum(deck.part_of(each) is part for each in entries) == 1
    if part is not None and is_last:
        _unlink(deck, operation.index, part)
    remove_from_section(deck, entry.get("id", ""))
    relation_id = entry.get(f"{R}id", "")
    for listing in deck.root.iterfind(f"{P}sldIdLst"):
        listing.remove(entry)
    # A custom show may go on naming a slide that another entry keeps.
    if not any(_names(each, [relation_id]) for each in deck.root.iter()):
        deck.main.rels.pop(relation_id)
    # python-pptx writes every part that a relation still leads to, listed or not.
    if is_last and any(each is part for each in deck.main.package.iter_parts()):
        msg = f"slide {operation.index} cannot be deleted: another part of the deck needs it"
        raise ValidationFailed(msg)
    return f"slide {operation.index}: deleted"


def _unlink(deck: DeckEdit, index: int, part: SlidePart) -> None:
    """Remove references to a slide from other parts, except its entry in the deck."""
    notes = notes_of(part)
    shown = {id(deck.part_of(entry)): place for place, entry in enumerate(deck.entries)}
    for source in list(deck.main.package.iter_parts()):
        # Slide and notes page go together: what they say of each other goes with them.
        relations = [] if source in (part, notes) else _relations_to(source, part)
        if not relations:
            continue
        root = source._element if isinstance(source, XmlPart) else etree.fromstring(source.blob)  # noqa: SLF001 - python-pptx has no other way
        place = f"slide {shown[id(source)]}" if id(source) in shown else str(source.partname)
        for element in [each for each in root.iter() if _names(each, relations)]:
            if element.tag == f"{P}sldId":
                continue
            _remove_reference(deck, index, element, place)
        if not isinstance(source, XmlPart):
            source.blob = xml_bytes(root)
        for relation_id in relations:
            # The deck's own relation goes later, together with the entry that names it.
            if source is not deck.main:
                source.rels.pop(relation_id)


def _remove_reference(deck: DeckEdit, index: int, element: etree._Element, place: str) -> None:
    """Remove an element that refers to a slide."""
    parent = element.getparent()
    if element.tag in _LINKS:
        deck.warnings.warn(f"A link on {place} led to slide {index}; it was taken off.")
    elif element.tag == f"{P}sld":
        # Views list slides under the same tag (viewProps); nobody needs to be told of those.
        if any(each.tag == f"{P}custShow" for each in element.iterancestors()):
            deck.warnings.warn(f"Slide {index} was taken out of a custom show.")
    else:
        raise ValidationFailed(f"slide {index} cannot be deleted: {place} needs it")
    if parent is not None:
        parent.remove(element)


def _relations_to(source: Any, part: SlidePart) -> list[str]:
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


def remove_from_section(deck: DeckEdit, slide_id: str) -> None:
    """Remove a slide from the section that lists it."""
    for listed in list(deck.root.iter(f"{P14}sldId")):
        parent = listed.getparent()
        if parent is not None and listed.get("id") == slide_id:
            parent.remove(listed)


def add_to_section(deck: DeckEdit, index: int, *, origin: etree._Element | None = None) -> None:
    """List a slide in the section of the slide before it, or of the one behind it.

    Args:
        deck: The deck, in which the slide is in its place.
        index: The slide.
        origin: The section's list that it comes from; it stays in it if a neighbor is of it.
    """
    lists = list(deck.root.iter(f"{P14}sldIdLst"))
    if not lists:
        return
    entries = deck.entries
    made = etree.Element(f"{P14}sldId", {"id": entries[index].get("id", "")})
    places = {each.get("id"): each for one in lists for each in one}
    before = places.get(entries[index - 1].get("id")) if index else None
    behind = places.get(entries[index + 1].get("id")) if index + 1 < len(entries) else None
    stays = origin is not None and behind is not None and behind.getparent() is origin
    if before is not None and not (stays and before.getparent() is not origin):
        before.addnext(made)
    elif behind is not None:
        behind.addprevious(made)
    else:
        (lists[0] if origin is None else origin).insert(0, made)


def section_of(deck: DeckEdit, slide_id: str) -> etree._Element | None:
    """Return the list of the section that a slide is in."""
    for listed in deck.root.iter(f"{P14}sldId"):
        if listed.get("id") == slide_id:
            return listed.getparent()
    return None
