"""Fields: their runs, and tables of contents with entries of the headings that there are.

A field is a mark, its instruction, a mark, its result and a mark (ECMA-376, part 1, 17.16.18). What
programs do not compute by themselves is marked as dirty, so that they do.
"""

from collections.abc import Iterator

from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml.parser import OxmlElement
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import VAL, W
from kbd_docx.edits.bookmarks import bookmark_text, check_bookmark
from kbd_docx.edits.builtin_styles import ensure_style
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.document_settings import switch_on
from kbd_docx.edits.inline import insert_inline
from kbd_docx.edits.replacement import BARRIER, read_flow
from kbd_docx.edits.texts import clean_text, text_nodes
from kbd_docx.operations import AddField
from kbd_docx.reader.styles import StyleIndex, heading_level

__all__ = ["add_field", "field_runs"]

_LIVE = frozenset(("PAGE", "NUMPAGES", "SECTIONPAGES", "DATE", "TIME"))
"""What programs compute whenever they lay a page out."""

_DATES = frozenset(("DATE", "TIME", "CREATEDATE", "SAVEDATE"))
_BOOKMARKED = frozenset(("REF", "PAGEREF"))
_LEVELS = 3
_STYLE, _OUTLINE = f"{W}pPr/{W}pStyle", f"{W}pPr/{W}outlineLvl"
_UNQUOTED = str.maketrans('"\\', "''")


def add_field(edit: DocumentEdit, operation: AddField) -> str:
    """Add a field to a paragraph, or a table of contents after it.

    Raises:
        ValidationFailed: There is no such paragraph or bookmark, or a part of the field is missing.
    """
    paragraph = edit.body.paragraph(operation.paragraph)
    _check(operation)
    if operation.field == "TOC":
        return _add_contents(edit, operation)
    text = operation.text
    if operation.bookmark is not None:
        check_bookmark(edit, operation.bookmark)
        if text is None and operation.field == "REF":
            text = bookmark_text(edit, operation.bookmark)
    if text is None:
        text = "1" if operation.field in ("PAGE", "NUMPAGES", "SECTIONPAGES", "SEQ") else ""
    if not text and operation.field not in _LIVE:
        edit.warnings.warn(
            f"The field {operation.field} shows nothing until a program computes it; give text for "
            "what it shows until then."
        )
    runs = field_runs(
        _instruction(operation),
        clean_text(text, edit.warnings.warn),
        is_dirty=operation.field not in _LIVE,
    )
    insert_inline(edit, paragraph, operation.search, runs)
    edit.body.note_field()
    return f"paragraph {operation.paragraph}: field {operation.field}"


def field_runs(instruction: str, text: str, *, is_dirty: bool = False) -> list[etree._Element]:
    """Return the runs of a field with the text that it shows."""
    return [*_beginning(instruction, is_dirty=is_dirty), _text_run(text), _mark("end")]


def _check(operation: AddField) -> None:
    field = operation.field
    for given, name, fields in (
        (operation.bookmark, "bookmark", _BOOKMARKED),
        (operation.label, "label", {"SEQ"}),
    ):
        if (given is not None) != (field in fields):
            word = "needs" if given is None else "takes no"
            raise ValidationFailed(f"the field {field} {word} {name}")
    if operation.levels is not None and field != "TOC":
        raise ValidationFailed(f"the field {field} takes no levels")
    if field == "TOC" and (operation.search is not None or operation.text is not None):
        raise ValidationFailed("a table of contents is paragraphs of its own; leave search and "
                               "text out")  # fmt: skip


def _instruction(operation: AddField) -> str:
    words: list[str] = [operation.field]
    words += [word for word in (operation.bookmark, operation.label) if word]
    if operation.format is not None:
        form = operation.format.translate(_UNQUOTED)
        words.append(f'\\@ "{form}"' if operation.field in _DATES else f"\\* {form}")
    if operation.field in _BOOKMARKED:
        words.append("\\h")
    return f" {' '.join(words)} "


def _add_contents(edit: DocumentEdit, operation: AddField) -> str:
    levels = operation.levels or _LEVELS
    entries = list(_headings(edit, levels)) or [(1, "(there are no headings yet)")]
    made = []
    for level, text in entries:
        paragraph = OxmlElement("w:p")
        style = ensure_style(edit.styles, f"toc {level}", edit.warnings.warn)
        etree.SubElement(etree.SubElement(paragraph, f"{W}pPr"), f"{W}pStyle", {VAL: style})
        paragraph.append(_text_run(text))
        made.append(paragraph)
    instruction = f' TOC \\o "1-{levels}" \\h \\z \\u '
    for place, run in enumerate(_beginning(instruction, is_dirty=True)):
        made[0].insert(1 + place, run)
    made[-1].append(_mark("end"))
    for place, paragraph in enumerate(made, 1):
        edit.body.insert(operation.paragraph + place, paragraph)
    edit.warn_if_in_field(made[0])
    edit.body.note_field()
    if not edit.is_strict:
        # In a strict document the mark of the field alone has to do; see `notes`.
        switch_on(edit, "updateFields")
    edit.warnings.warn(
        "The table of contents has its page numbers when a program updates it; programs ask for "
        "that, or do it, when they open the document."
    )
    first, last = operation.paragraph + 1, operation.paragraph + len(made)
    return f"paragraphs {first}-{last}: table of contents"


def _headings(edit: DocumentEdit, levels: int) -> Iterator[tuple[int, str]]:
    """Yield the headings of the body down to a level, each with its level."""
    styles = StyleIndex(edit.parts.root(RT.STYLES))
    for paragraph in edit.body.paragraphs:
        named, own = paragraph.find(_STYLE), paragraph.find(_OUTLINE)
        style = styles.default if named is None else styles.style(named.get(VAL, ""))
        level = style.level if own is None else heading_level(own) or 0
        if 1 <= level <= levels:
            text = " ".join(read_flow(paragraph, ())[0].replace(BARRIER, " ").split())
            if text:
                yield level, text


def _beginning(instruction: str, *, is_dirty: bool) -> list[etree._Element]:
    begin = _mark("begin")
    if is_dirty:
        begin[0].set(f"{W}dirty", "true")
    told = OxmlElement("w:r")
    node = etree.SubElement(told, f"{W}instrText")
    node.text = instruction
    node.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return [begin, told, _mark("separate")]


def _mark(kind: str) -> etree._Element:
    run: etree._Element = OxmlElement("w:r")
    etree.SubElement(run, f"{W}fldChar", {f"{W}fldCharType": kind})
    return run


def _text_run(text: str) -> etree._Element:
    run: etree._Element = OxmlElement("w:r")
    run.extend(text_nodes(text))
    return run
