"""Footnotes and endnotes: their parts, with the lines above notes, and their marks in the text.

ECMA-376, part 1, 17.11.
"""

import msgspec
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml.parser import OxmlElement, parse_xml
from lxml import etree

from kbd_docx.document import VAL, W
from kbd_docx.edits.builtin_styles import ensure_style
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.document_settings import settings_root
from kbd_docx.edits.inline import insert_inline
from kbd_docx.edits.note_lines import note_lines, note_settings
from kbd_docx.edits.ranges import next_id
from kbd_docx.edits.texts import clean_text, text_nodes
from kbd_docx.operations import AddEndnote, AddFootnote

__all__ = ["add_endnote", "add_footnote"]


class _NoteKind(msgspec.Struct, frozen=True):
    """Footnotes or endnotes: the word for one, the relation to the part, and its type."""

    word: str
    relation: str
    content_type: str


_FOOTNOTES = _NoteKind("footnote", RT.FOOTNOTES, CT.WML_FOOTNOTES)
_ENDNOTES = _NoteKind("endnote", RT.ENDNOTES, CT.WML_ENDNOTES)


def add_footnote(edit: DocumentEdit, operation: AddFootnote) -> str:
    """Add a footnote; raises ValidationFailed if its place is not there."""
    return _add(edit, operation, _FOOTNOTES)


def add_endnote(edit: DocumentEdit, operation: AddEndnote) -> str:
    """Add an endnote; raises ValidationFailed if its place is not there."""
    return _add(edit, operation, _ENDNOTES)


def _add(edit: DocumentEdit, operation: AddFootnote | AddEndnote, kind: _NoteKind) -> str:
    paragraph = edit.body.paragraph(operation.paragraph)
    warn = edit.warnings.warn
    reference = ensure_style(edit.styles, f"{kind.word} reference", warn)
    sign = _run(reference, f"{kind.word}Reference")
    insert_inline(edit, paragraph, operation.search, [sign])
    root = edit.parts.root(kind.relation)
    if root is None:
        root = _new_part(edit, kind)
    key = str(max(1, next_id(root, f"{W}{kind.word}")))
    sign[-1].set(f"{W}id", key)
    note = etree.SubElement(root, f"{W}{kind.word}", {f"{W}id": key})
    style = ensure_style(edit.styles, f"{kind.word} text", warn)
    for number, line in enumerate(clean_text(operation.text, warn).split("\n")):
        own = etree.SubElement(note, f"{W}p")
        etree.SubElement(etree.SubElement(own, f"{W}pPr"), f"{W}pStyle", {VAL: style})
        if number == 0:
            own.append(_run(reference, f"{kind.word}Ref"))
        run = etree.SubElement(own, f"{W}r")
        # A blank keeps the text apart from its number.
        run.extend(text_nodes(f" {line}" if number == 0 else line))
    _order(edit, root, sign[-1], note)
    edit.parts.store(kind.relation, root)
    edit.stories.forget_all()
    return f"paragraph {operation.paragraph}: {kind.word}"


def _order(
    edit: DocumentEdit, root: etree._Element, mark: etree._Element, note: etree._Element
) -> None:
    """Move a note before that of the next mark in the text, and number notes in their order.

    Programs write notes in the order of citing, with rising ids, and some read them by that.
    """
    notes = {each.get(f"{W}id"): each for each in root.iterchildren(str(note.tag))}
    marks = list(edit.document.element.iter(str(mark.tag)))
    for later in marks[marks.index(mark) + 1 :]:
        following = notes.get(later.get(f"{W}id"))
        if following is None:
            continue
        following.addprevious(note)
        every = list(root.iterchildren(str(note.tag)))
        plain = [each for each in every if each.get(f"{W}type", "normal") == "normal"]
        # Lines above notes have ids, too, which the settings name.
        lines = [each.get(f"{W}id", "") for each in every if each not in plain]
        first = max((int(each) for each in lines if each.isdecimal()), default=0) + 1
        renamed = {each.get(f"{W}id"): str(number) for number, each in enumerate(plain, first)}
        for each in (*plain, *marks):
            each.set(f"{W}id", renamed.get(each.get(f"{W}id"), each.get(f"{W}id", "")))
        # That another note has another number now is no change of the text.
        edit.tracker.renumber((str(note.tag), str(mark.tag)), renamed)
        return


def _run(style: str, name: str) -> etree._Element:
    """Return a run of one element in a character style."""
    run: etree._Element = OxmlElement("w:r")
    etree.SubElement(etree.SubElement(run, f"{W}rPr"), f"{W}rStyle", {VAL: style})
    etree.SubElement(run, f"{W}{name}")
    return run


def _new_part(edit: DocumentEdit, kind: _NoteKind) -> etree._Element:
    """Return the root of a new part of notes, with the lines above notes."""
    root: etree._Element = parse_xml(f'<w:{kind.word}s xmlns:w="{W.strip("{}")}"/>')
    root.extend(note_lines(kind.word))
    edit.parts.add(kind.relation, kind.content_type, f"{kind.word}s", root)
    if not edit.is_strict:
        # Optional (17.11.9); settings of strict documents often mix the names of both variants,
        # and such a part cannot be rewritten.
        note_settings(settings_root(edit), kind.word)
    return root
