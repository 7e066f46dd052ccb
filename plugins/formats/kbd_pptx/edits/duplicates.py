"""Slides duplicated: with their notes, and with parts of their own where a copy is edited alone.

Pictures, sounds and films are shared by both, as programs do; charts, diagrams and embedded files
are copied, for whoever changes one means that one. Comments stay with the slide they were made on.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.package import Part, XmlPart
from pptx.opc.packuri import PackURI
from pptx.parts.slide import NotesSlidePart, SlidePart

from kbd.errors import ValidationFailed
from kbd.opc.package import xml_root
from kbd_pptx.edits.deck import DeckEdit, notes_of
from kbd_pptx.edits.slides import add_to_section
from kbd_pptx.operations import DuplicateSlide
from kbd_pptx.presentation import P14, R

__all__ = ["duplicate_slide"]

_SHARED = frozenset((
    "slideLayout", "slide", "notesMaster", "image", "media", "video", "audio", "hdphoto", "theme",
    "slideMaster", "themeOverride",
))  # fmt: skip
"""Kinds of relations whose target both slides may have."""
_LEFT = frozenset(("comments", "notesSlide"))
"""Kinds that do not go along by themselves."""
_MAX_DEPTH = 8
"""Parts that lead to each other; a chart with its workbook and colors are two."""


def duplicate_slide(deck: DeckEdit, operation: DuplicateSlide) -> str:
    """Duplicate a slide, and return what changed.

    Raises:
        ValidationFailed: There is no such slide, or no such place for the copy.
    """
    part = deck.slide(operation.index)
    count = len(deck.entries)
    to = operation.index + 1 if operation.to is None else operation.to
    if to > count:
        raise ValidationFailed(
            f"the copy cannot be slide {to}: with it the deck has {count + 1}, counted from 0"
        )
    copied = _copy(deck, part, 0, {})
    if not isinstance(copied, SlidePart):
        raise ValidationFailed(f"slide {operation.index} cannot be copied: it is no slide")
    _forget_identity(copied.slide.element)
    deck.list_slide(copied, to)
    add_to_section(deck, to)
    notes = notes_of(part)
    if notes is not None:
        _copy_notes(deck, notes, copied)
    if any(_kind(relation) == "comments" for relation in part.rels.values()):
        deck.warnings.warn(f"Comments on slide {operation.index} were not copied.")
    return f"slide {operation.index}: copied as slide {to}"


def _kind(relation: Any) -> str:
    return str(relation.reltype).rpartition("/")[2]


def _copy(deck: DeckEdit, part: Any, depth: int, made: dict[int, Any]) -> Any:
    """Return a copy of a part with copies of what only it should have."""
    if id(part) in made:
        return made[id(part)]
    name = PackURI(deck.free_name(_pattern(str(part.partname))))
    package = deck.main.package
    if isinstance(part, XmlPart):
        # Its class has the constructor of parts with a tree.
        copy: Any = type(part)(name, part.content_type, package, deepcopy(part._element))  # noqa: SLF001 - python-pptx has no other way
    else:
        copy = Part(name, part.content_type, package, deck.contents(part))
    made[id(part)] = copy
    _relate(deck, part, copy, depth, made)
    return copy


def _relate(deck: DeckEdit, part: Any, copy: Any, depth: int, made: dict[int, Any]) -> None:
    """Give a copy the relations of a part, under ids that its tree then names."""
    renamed: dict[str, str] = {}
    for relation_id, relation in part.rels.items():
        kind = _kind(relation)
        if kind in _LEFT:
            continue
        if relation.is_external:
            new = copy.rels.get_or_add_ext_rel(relation.reltype, relation.target_ref)
        else:
            goal = relation.target_part
            is_shared = kind in _SHARED or isinstance(goal, SlidePart) or depth >= _MAX_DEPTH
            target = goal if is_shared else _copy(deck, goal, depth + 1, made)
            new = copy.relate_to(target, relation.reltype)
        renamed[relation_id] = new
    _rename(copy, renamed)


def _rename(copy: Any, renamed: Mapping[str, str]) -> None:
    """Have the tree of a copy name its relations by their new ids."""
    if all(old == new for old, new in renamed.items()):
        return
    is_tree = isinstance(copy, XmlPart)
    if not is_tree and not str(copy.content_type).endswith(("+xml", "/xml")):
        return
    root = copy._element if is_tree else xml_root(copy.blob, str(copy.partname))  # noqa: SLF001 - no other way
    for element in root.iter():
        for key, value in element.attrib.items():
            if str(key).startswith(R) and str(value) in renamed:
                element.set(key, renamed[str(value)])
    if not is_tree:
        copy.blob = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def _pattern(name: str) -> str:
    """Return a part's name with a {} for its number."""
    stem, dot, suffix = name.replace("{", "").replace("}", "").rpartition(".")
    return f"{stem.rstrip('0123456789')}{{}}{dot}{suffix}"


def _forget_identity(root: etree._Element) -> None:
    """Take off what names a slide for good ([MS-PPTX] 2.3.6): two must not have the same."""
    for mark in list(root.iter(f"{P14}creationId")):
        extension = mark.getparent()
        around = None if extension is None else extension.getparent()
        if extension is not None and around is not None:
            around.remove(extension)
            outer = around.getparent()
            if not len(around) and outer is not None:
                outer.remove(around)


def _copy_notes(deck: DeckEdit, notes: NotesSlidePart, slide: SlidePart) -> None:
    name = PackURI(deck.free_name("/ppt/notesSlides/notesSlide{}.xml"))
    copy: Any = NotesSlidePart(
        name, notes.content_type, deck.main.package, deepcopy(notes.notes_slide.element)
    )
    renamed: dict[str, str] = {}
    for relation_id, relation in notes.rels.items():
        if relation.is_external:
            new = copy.rels.get_or_add_ext_rel(relation.reltype, relation.target_ref)
        else:
            goal = relation.target_part
            new = copy.relate_to(slide if relation.reltype == RT.SLIDE else goal, relation.reltype)
        renamed[relation_id] = new
    _rename(copy, renamed)
    slide.relate_to(copy, RT.NOTES_SLIDE)
