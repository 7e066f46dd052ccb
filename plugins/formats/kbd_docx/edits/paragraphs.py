"""Operations on the paragraphs of a body."""

from copy import deepcopy

from docx.oxml.parser import OxmlElement
from docx.oxml.text.paragraph import CT_P
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import SECTION, TABLE, W, blocks
from kbd_docx.edits.document import Body, DocumentEdit
from kbd_docx.edits.formatting import read_paragraph, read_run_look
from kbd_docx.edits.looks import format_paragraph, format_text, make_alike, put_style
from kbd_docx.edits.removal import (
    check_deletable,
    describe_losses,
    is_range_mark,
    remove_content,
)
from kbd_docx.operations import (
    AppendParagraph,
    DeleteParagraphs,
    FormatParagraphs,
    InsertParagraph,
    SetParagraphs,
)

__all__ = [
    "append_paragraph",
    "delete_paragraphs",
    "format_paragraphs",
    "insert_paragraph",
    "set_paragraphs",
]

_REFERENCES = (f"{W}headerReference", f"{W}footerReference")


def set_paragraphs(edit: DocumentEdit, operation: SetParagraphs) -> str:
    """Replace the body and tell what went with it.

    The settings of the last section stay, with the headers and footers that it shows, also where
    they come down to it from sections before it.

    Raises:
        ValidationFailed: A paragraph cannot be made.
    """
    body = edit.body
    section = _last_section(body)
    deleted = [each for each in body.element if each is not section]
    if lost := describe_losses(deleted):
        edit.warnings.warn(f"The old body is gone, and with it {lost}.")
    edit.let_go(deleted)
    made: list[etree._Element] = [
        edit.writer.paragraph(paragraph, edit.model(paragraph.like))
        for paragraph in operation.paragraphs
    ]
    for element in deleted:
        body.element.remove(element)
    body.count()
    for paragraph in made or [OxmlElement("w:p")]:
        body.append(paragraph)
    # When the old ones are gone, so that the lists are those of the new ones.
    before = None
    for paragraph, given in zip(made, operation.paragraphs, strict=True):
        edit.lists.apply(paragraph, given, before)
        before = paragraph
    count = len(made)
    return f"body: {count} paragraph{'' if count == 1 else 's'}"


def append_paragraph(edit: DocumentEdit, operation: AppendParagraph) -> str:
    """Add a paragraph at the end."""
    paragraph = edit.writer.paragraph(operation, edit.model(operation.like))
    edit.lists.apply(paragraph, operation, edit.body.blocks[-1] if edit.body.blocks else None)
    edit.body.append(paragraph)
    return f"paragraph {len(edit.body.paragraphs)}: new"


def insert_paragraph(edit: DocumentEdit, operation: InsertParagraph) -> str:
    """Insert a paragraph before another one.

    Raises:
        ValidationFailed: There are not so many paragraphs.
    """
    paragraph = edit.writer.paragraph(operation, edit.model(operation.like))
    edit.body.insert(operation.at, paragraph)
    place = edit.body.blocks.index(paragraph)
    edit.lists.apply(paragraph, operation, edit.body.blocks[place - 1] if place else None)
    edit.warn_if_in_field(paragraph)
    return f"paragraph {operation.at}: new"


def format_paragraphs(edit: DocumentEdit, operation: FormatParagraphs) -> str:
    """Change how paragraphs and the text in them look.

    Raises:
        ValidationFailed: There are not so many paragraphs, or there is no such style.
    """
    first, last = operation.first, operation.first + operation.count - 1
    edit.body.paragraph(first)
    edit.body.paragraph(last)
    model = edit.model(operation.like)
    style = edit.writer.paragraph_style(operation.style)
    formatting = read_paragraph(operation, edit.warnings.warn)
    text = read_run_look(operation, edit.warnings.warn)
    for paragraph in edit.body.paragraphs[first - 1 : last]:
        if model is not None and paragraph is not model:
            make_alike(paragraph, model)
        if style is not None:
            put_style(paragraph, style)
        format_paragraph(paragraph, formatting, is_strict=edit.writer.is_strict)
        format_text(paragraph, text)
    return f"paragraph{f' {first}' if first == last else f's {first}-{last}'}: look"


def delete_paragraphs(edit: DocumentEdit, operation: DeleteParagraphs) -> str:
    """Delete paragraphs and tell what went with them.

    The end of a section moves up to the paragraph before; content controls that are left without
    content go.

    Raises:
        ValidationFailed: There are not so many, or something would break with them.
    """
    first, last = operation.first, operation.first + operation.count - 1
    body = edit.body
    # Both calls are for the refusal alone: they raise on a number that no paragraph has.
    body.paragraph(first)
    body.paragraph(last)
    deleted = body.paragraphs[first - 1 : last]
    check_deletable(deleted, "paragraphs")
    around = body.with_neighbors(first, last)
    _move_sections(around, set(deleted))
    if lost := describe_losses(deleted):
        edit.warnings.warn(f"With the deleted text went {lost}.")
    edit.let_go(deleted)
    parents = [parent for each in deleted if (parent := each.getparent()) is not None]
    # The nearest paragraph that stays keeps what belongs to more than what goes.
    # Before the first paragraph there is none: the slice -1:0 is empty.
    staying = body.paragraphs[first - 2 : first - 1] or body.paragraphs[last : last + 1]
    remove_content(deleted, staying[0] if staying else None)
    for parent in parents:
        _remove_empty_controls(edit, parent)
    body.discard(first, last)
    if not body.blocks:
        body.append(OxmlElement("w:p"))
        edit.warnings.warn("A document needs a paragraph; one without text is left.")
    _warn_of_adjacent_tables(edit, around, set(deleted))
    if first == last:
        return f"paragraph {first}: deleted"
    return f"paragraphs {first}-{last}: deleted"


def _last_section(body: Body) -> etree._Element | None:
    """Return the settings of the last section, with the headers and footers that it shows."""
    section = body.section
    inherited: dict[tuple[str, str | None], etree._Element] = {}
    sections = [each for block in body.blocks for each in block.findall(f"{W}pPr/{SECTION}")]
    for each in (*sections, *([section] if section is not None else [])):
        for reference in each.iterchildren(*_REFERENCES):
            inherited[reference.tag, reference.get(f"{W}type")] = reference
    if section is None and inherited:
        section = OxmlElement("w:sectPr")
        body.element.append(section)
    if section is not None:
        for place, reference in enumerate(inherited.values()):
            if reference.getparent() is not section:
                # References stand first in a section's settings (ECMA-376, CT_SectPr).
                section.insert(place, deepcopy(reference))
    return section


def _move_sections(around: list[etree._Element], deleted: set[etree._Element]) -> None:
    """Move the ends of sections from deleted paragraphs to the paragraphs before them.

    Raises:
        ValidationFailed: There is none, or another section ends there.
    """
    previous = None
    for block in around:
        if block not in deleted:
            previous = block
            continue
        section = block.find(f"{W}pPr/{SECTION}")
        if section is None:
            continue
        if (
            previous is None
            or previous.tag == TABLE
            or previous.find(f"{W}pPr/{SECTION}") is not None
        ):
            raise ValidationFailed(
                "one of the paragraphs holds the settings of a section and there is no other in "
                "the section to hold them; leave the section's last paragraph"
            )
        assert isinstance(previous, CT_P), "the library has classes for paragraphs"
        previous.set_sectPr(section)  # type: ignore[arg-type] # it is one by its name


def _remove_empty_controls(edit: DocumentEdit, parent: etree._Element) -> None:
    """Remove content controls that are left without content."""
    element = parent
    while element is not edit.body.element and next(blocks(element), None) is None:
        holder = element.getparent()
        # It is gone already, with another paragraph that it held.
        if holder is None:
            return
        if element.tag == f"{W}sdt":
            edit.warnings.warn("With the deleted text went a content control.")
        for mark in filter(is_range_mark, list(element)):
            element.addprevious(mark)
        holder.remove(element)
        element = holder


def _warn_of_adjacent_tables(
    edit: DocumentEdit, around: list[etree._Element], deleted: set[etree._Element]
) -> None:
    previous = None
    is_between = False
    for block in around:
        if block in deleted:
            is_between = True
            continue
        if is_between and previous is not None and previous.tag == block.tag == TABLE:
            edit.warnings.warn(
                "Two tables stand next to each other now, and programs show them as one; insert a "
                "paragraph between them to keep them apart."
            )
        previous, is_between = block, False
