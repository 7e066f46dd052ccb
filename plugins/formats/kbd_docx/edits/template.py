"""Filling of templates: placeholders by their values, rows and paragraphs repeated for records.

A placeholder is `{{name}}` in the text that people see, however many runs, links or tracked
insertions it goes over, or the result of a merge field. A value is text and is not looked at for
placeholders again. A picture takes the place of a placeholder that stands alone.
"""

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.templates import (
    ListRecord,
    PlaceholderHit,
    TemplateAnswers,
    find_placeholders,
    list_records,
)
from kbd_docx.document import PARAGRAPH, SECTION, TABLE, W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.images import put_picture
from kbd_docx.edits.removal import is_range_mark, remove_content
from kbd_docx.edits.replacement import Filling, FlowPiece, computing_field, read_flow
from kbd_docx.edits.texts import cell_text, clean_text
from kbd_docx.operations import Cell, FillTemplate

__all__ = ["fill_template"]

_MERGED = re.compile(r"«([^«»\n]{1,200})»")
"""What Word shows for a merge field (ECMA-376, part 1, 17.16.5.35) that has not been merged."""

_ROW = f"{W}tr"
_MERGE_FIELD = "MERGEFIELD"


def fill_template(edit: DocumentEdit, operation: FillTemplate) -> str:
    """Fill the placeholders of a document.

    Raises:
        ValidationFailed: A placeholder has no value and none may be missing, a list is asked for
            outside of what can be repeated, a picture where text stands, or there is nothing to
            be filled.
        FileReadFailed: A picture cannot be read.
    """
    filler = _Filler(edit, operation)
    edit.stories.forget(edit.stories.roots())
    changed = [root for root in edit.stories.roots() if filler.repeat_in(root)]
    edit.recount(changed)
    count = edit.stories.fill(filler.fillings)
    more = ", or is a merge field"
    filler.answers.check(count, edit.warnings.warn, "document", more)
    filler.draw()
    edit.body.count()
    return filler.answers.told(count)


class _Filler:
    """Filler of one document.

    Args:
        edit: The document.
        operation: The values.

    Attributes:
        answers: What placeholders are filled with.
    """

    def __init__(self, edit: DocumentEdit, operation: FillTemplate) -> None:
        self._edit = edit
        self.answers: TemplateAnswers[Cell] = TemplateAnswers(
            {each.name: each.value for each in operation.values},
            {each.name: list_records(each.name, each.columns, each.rows)
             for each in operation.lists},
            {each.name: each.image for each in operation.pictures},
            operation.missing,
        )  # fmt: skip
        # The record of what stands in a row or paragraph that was repeated, by the paragraph.
        self._records: dict[etree._Element, ListRecord[Cell]] = {}
        self._pictures: list[tuple[etree._Element, str]] = []

    def repeat_in(self, root: etree._Element) -> bool:
        """Repeat what has placeholders of a list, once for each record; tell whether any has."""
        if not self.answers.lists:
            return False
        groups = list(self._groups(root))
        for name, blocks in groups:
            self._repeat(name, blocks)
        return bool(groups)

    def fillings(
        self, paragraph: etree._Element, text: str, pieces: Sequence[FlowPiece]
    ) -> list[Filling]:
        """Return what the placeholders of a paragraph are filled with, from the left."""
        found = []
        for hit in _hits(text, pieces):
            picture = self.answers.picture(hit.name)
            if picture is not None:
                if text.strip() != text[hit.start : hit.end]:
                    raise ValidationFailed(
                        f"{{{{{hit.name}}}}} is a picture and needs a paragraph of its own"
                    )
                self._pictures.append((paragraph, picture))
                found.append(Filling(hit.start, hit.end, ""))
                continue
            answer = self.answers.answer(hit.name, self._records.get(paragraph))
            if answer is not None:
                found.append(Filling(hit.start, hit.end, self._text(answer.value)))
        return found

    def draw(self) -> None:
        """Put the pictures into the paragraphs that asked for them."""
        for paragraph, picture in self._pictures:
            put_picture(self._edit, paragraph, picture)

    def _text(self, value: Cell) -> str:
        return clean_text(cell_text(value), self._edit.warnings.warn)

    def _groups(self, root: etree._Element) -> list[tuple[str, list[etree._Element]]]:
        """Return the runs of neighboring rows or paragraphs that ask for the same list."""
        found: list[tuple[str, list[etree._Element]]] = []
        seen: set[etree._Element] = set()
        for paragraph in root.iter(PARAGRAPH):
            text, pieces, _ = read_flow(paragraph, ())
            asked = self.answers.list_in(hit.name for hit in _hits(text, pieces))
            if asked is None:
                continue
            block = next(paragraph.iterancestors(_ROW), paragraph)
            if block in seen:
                continue
            seen.add(block)
            last = found[-1] if found else None
            if last is not None and last[0] == asked and _previous(block) is last[1][-1]:
                last[1].append(block)
            else:
                found.append((asked, [block]))
        return found

    def _repeat(self, name: str, blocks: list[etree._Element]) -> None:
        records = self.answers.repeat(name, len(blocks))
        if not records:
            self._remove(name, blocks)
            return
        copies = [[deepcopy(block) for block in blocks] for _ in records[1:]]
        place = blocks[-1]
        for group in copies:
            for block in group:
                _make_own(block)
                place.addnext(block)
                place = block
        for record, group in zip(records, [blocks, *copies], strict=True):
            for block in group:
                for paragraph in block.iter(PARAGRAPH):
                    self._records[paragraph] = record

    def _remove(self, name: str, blocks: list[etree._Element]) -> None:
        """Remove what would be repeated for no record, with a table that is left without rows."""
        holder = blocks[0].getparent()
        if holder is not None and holder.tag == TABLE:
            rows = list(holder.iter(_ROW))
            if len(rows) == len(blocks):
                self._edit.warnings.warn(f"{name} is empty: the table that lists it is gone.")
                blocks, holder = [holder], holder.getparent()
        self._edit.let_go(blocks)
        anchor = blocks[0].getprevious()
        remove_content(blocks, anchor if anchor is not None and anchor.tag == PARAGRAPH else None)
        # A cell ends in a paragraph, and a body needs one (ECMA-376, part 1, 17.4.65).
        if holder is not None and holder.tag not in (TABLE, f"{W}sdtContent"):
            last = next((each for each in reversed(holder) if each.tag in (PARAGRAPH, TABLE)), None)
            if last is None or (last.tag == TABLE and holder.tag == f"{W}tc"):
                place = holder.find(SECTION)
                made = etree.SubElement(holder, PARAGRAPH)
                if place is not None:
                    place.addprevious(made)


def _hits(text: str, pieces: Sequence[FlowPiece]) -> list[PlaceholderHit]:
    """Return the placeholders of a text, from the left."""
    found = list(find_placeholders(text))
    for hit in _MERGED.finditer(text):
        piece = next((each for each in reversed(pieces) if each.start <= hit.start()), None)
        if piece is not None and computing_field(piece) == _MERGE_FIELD:
            found.append(PlaceholderHit(hit.start(), hit.end(), hit[1]))
    return sorted(found, key=lambda hit: hit.start)


def _previous(block: etree._Element) -> etree._Element | None:
    return next(block.itersiblings(block.tag, preceding=True), None)


def _make_own(block: etree._Element) -> None:
    """Take from a copy what may be in a document once: ends of ranges, and ids of paragraphs."""
    elements: Iterable[etree._Element] = list(block.iter(tag=etree.Element))
    for each in elements:
        parent = each.getparent()
        if parent is not None and (is_range_mark(each) or each.tag == f"{W}commentReference"):
            parent.remove(each)
        for name in [name for name in each.attrib if str(name).endswith(("}paraId", "}textId"))]:
            del each.attrib[name]
