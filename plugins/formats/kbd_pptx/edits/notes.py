"""Speaker notes: on the notes page that a slide has, or on a new one.

A deck without a notes master gets python-pptx's, which it then also lists; programs that look for
it there find it.
"""

from typing import Any

from lxml import etree
from pptx.opc.constants import CONTENT_TYPE as CT
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.package import XmlPart
from pptx.opc.packuri import PackURI
from pptx.oxml.slide import CT_NotesMaster, CT_NotesSlide
from pptx.oxml.theme import CT_OfficeStyleSheet
from pptx.parts.slide import NotesMasterPart, NotesSlidePart, SlidePart

from kbd_pptx.edits.deck import DeckEdit, notes_of, related_part
from kbd_pptx.edits.formatting import SlideTextPiece, write_strict_percentages
from kbd_pptx.edits.placeholders import copy_placeholder, placeholders, text_body
from kbd_pptx.edits.textbody import rewrite, split_lines
from kbd_pptx.operations import SetNotes
from kbd_pptx.presentation import P, R

__all__ = ["set_notes", "write_notes"]

_COPIED = ("sldImg", "body", "sldNum")
"""What a notes page shows of its master: the slide, the notes, the number."""


def set_notes(deck: DeckEdit, operation: SetNotes) -> str:
    """Replace a slide's notes, and return what changed."""
    write_notes(deck, deck.slide(operation.index), operation.text)
    return f"slide {operation.index}: notes"


def write_notes(deck: DeckEdit, part: SlidePart, text: str) -> None:
    """Write a text as the notes of a slide."""
    page = notes_of(part)
    if page is None:
        if not text:
            return
        page = _new_page(deck, part)
    root = page.notes_slide.element
    placeholder = next((each for each in placeholders(root) if each.type == "body"), None)
    if placeholder is None:
        master = related_part(page, RT.NOTES_MASTER)
        found = placeholders(master.notes_master.element) if master is not None else iter(())
        wanted = next((each for each in found if each.type == "body"), None)
        if wanted is None:
            deck.warnings.warn("The notes page has no place for notes; nothing was written on it.")
            return
        shape = copy_placeholder(wanted, root)
    else:
        shape = placeholder.shape
    rewrite(
        text_body(shape),
        split_lines((SlideTextPiece(deck.warnings.clean_text(text)),), levels=True),
    )


def _new_page(deck: DeckEdit, slide: SlidePart) -> NotesSlidePart:
    master = related_part(deck.main, RT.NOTES_MASTER)
    if not isinstance(master, NotesMasterPart):
        master = _new_master(deck)
    name = PackURI(deck.free_name("/ppt/notesSlides/notesSlide{}.xml"))
    page = NotesSlidePart(name, CT.PML_NOTES_SLIDE, deck.main.package, _new(CT_NotesSlide.new))
    page.relate_to(master, RT.NOTES_MASTER)
    page.relate_to(slide, RT.SLIDE)
    slide.relate_to(page, RT.NOTES_SLIDE)
    root = page.notes_slide.element
    for placeholder in placeholders(master.notes_master.element):
        if placeholder.type in _COPIED:
            shape = copy_placeholder(placeholder, root)
            body = shape.find(f"{P}txBody")
            if placeholder.type == "sldImg" and body is not None:
                # The picture of the slide takes no text.
                shape.remove(body)
    return page


def _new_master(deck: DeckEdit) -> NotesMasterPart:
    # By hand: python-pptx relates a new notes master to the deck and does not list it there.
    package = deck.main.package
    name = PackURI(deck.free_name("/ppt/notesMasters/notesMaster{}.xml"))
    root = _new(CT_NotesMaster.new_default)
    theme = _new(CT_OfficeStyleSheet.new_default)
    # The templates have the usual percentages, and on the way back only names are converted.
    if deck.is_strict:
        write_strict_percentages(root)
        write_strict_percentages(theme)
    master = NotesMasterPart(name, CT.PML_NOTES_MASTER, package, root)
    theme_name = PackURI(deck.free_name("/ppt/theme/theme{}.xml"))
    master.relate_to(XmlPart(theme_name, CT.OFC_THEME, package, theme), RT.THEME)
    relation_id = deck.main.relate_to(master, RT.NOTES_MASTER)
    listing = etree.Element(f"{P}notesMasterIdLst")
    etree.SubElement(listing, f"{P}notesMasterId", {f"{R}id": relation_id})
    # The list of notes masters stands behind that of masters.
    masters = deck.root.find(f"{P}sldMasterIdLst")
    if masters is None:
        deck.root.insert(0, listing)
    else:
        masters.addnext(listing)
    return master


def _new(make: Any) -> Any:
    # python-pptx has types, but not for what makes its templates.
    return make()
