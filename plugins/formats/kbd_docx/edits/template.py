"""Filling of templates: placeholders by their values, rows and paragraphs repeated for records.

A placeholder is `{{name}}` in the text that people see, however many runs, links or tracked
insertions it goes over, or the result of a merge field. A value is text and is not looked at for
placeholders again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from difflib import get_close_matches

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.document import PARAGRAPH, SECTION, TABLE, W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.removal import is_range_mark, remove_content
from kbd_docx.edits.replacement import Filling, FlowPiece, computing_field, read_flow
from kbd_docx.edits.texts import cell_text, clean_text
from kbd_docx.operations import Cell, FillTemplate, TemplateList

__all__ = ["fill_template"]

_PLACEHOLDER = re.compile(r"\{\{[ \t]*([^{}\n]{1,200}?)[ \t]*\}\}")
_MERGED = re.compile(r"«([^«»\n]{1,200})»")
"""What Word shows for a merge field (ECMA-376, part 1, 17.16.5.35) that has not been merged."""

_ROW = f"{W}tr"
_MERGE_FIELD = "MERGEFIELD"
MAX_REPEATED = 20_000
"""Rows and paragraphs that one operation makes; programs become unusable long before."""


class _Hit(msgspec.Struct, frozen=True):
    """A placeholder in a text: where it begins and ends, and its name."""

    start: int
    end: int
    name: str


def fill_template(edit: DocumentEdit, operation: FillTemplate) -> str:
    """Fill the placeholders of a document.

    Raises:
        ValidationFailed: A placeholder has no value and none may be missing, a list is asked for
            outside of what can be repeated, or there is nothing to be filled.
    """
    filler = _Filler(edit, operation)
    edit.stories.forget(edit.stories.roots())
    changed = [root for root in edit.stories.roots() if filler.repeat_in(root)]
    edit.recount(changed)
    count = edit.stories.fill(filler.fillings)
    filler.check(count)
    edit.body.count()
    repeated = f", {filler.repeated} repeated" if filler.repeated else ""
    return f"{count} placeholder{'' if count == 1 else 's'} filled{repeated}"


class _Filler:
    """Filler of one document.

    Args:
        edit: The document.
        operation: The values.

    Attributes:
        repeated: How many rows and paragraphs were made for records.
    """

    def __init__(self, edit: DocumentEdit, operation: FillTemplate) -> None:
        self._edit, self._missing = edit, operation.missing
        self._values = {each.name: each.value for each in operation.values}
        self._lists = {each.name: _records(each) for each in operation.lists}
        # The record of what stands in a row or paragraph that was repeated, by the paragraph.
        self._records: dict[etree._Element, tuple[str, Mapping[str, Cell]]] = {}
        self._unknown: dict[str, None] = {}
        self._used: set[str] = set()
        self.repeated = 0

    def repeat_in(self, root: etree._Element) -> bool:
        """Repeat what has placeholders of a list, once for each record; tell whether any has."""
        if not self._lists:
            return False
        groups = list(self._groups(root))
        for name, blocks in groups:
            self._used.add(name)
            self._repeat(name, blocks)
        return bool(groups)

    def fillings(
        self, paragraph: etree._Element, text: str, pieces: Sequence[FlowPiece]
    ) -> list[Filling]:
        """Return what the placeholders of a paragraph are filled with, from the left."""
        found = []
        for hit in _hits(text, pieces):
            value = self._value(paragraph, hit.name)
            if value is not None:
                found.append(Filling(hit.start, hit.end, value))
        return found

    def check(self, count: int) -> None:
        """Refuse what has no value; warn of values that nothing asked for."""
        if self._unknown and self._missing == "refuse":
            names = list(self._unknown)
            known = [*self._values, *self._lists]
            near = get_close_matches(names[0], known, 1, 0.7)
            hint = f"; {near[0]!r} is near {names[0]!r}" if near else ""
            raise ValidationFailed(
                f"no value was given for {listed([f'{{{{{name}}}}}' for name in names])}{hint}; "
                "give all, or say with missing whether they are kept or left blank"
            )
        if not count and not self._used:
            raise ValidationFailed(
                "there is no placeholder; one is written {{name}} in the text, or is a merge field"
            )
        unused = [name for name in (*self._values, *self._lists) if name not in self._used]
        if unused:
            self._edit.warnings.warn(f"Nothing in the document asks for {listed(unused)}.")
        if self._unknown:
            done = "kept" if self._missing == "keep" else "left blank"
            self._edit.warnings.warn(f"Without a value, {listed(list(self._unknown))}: {done}.")

    def _value(self, paragraph: etree._Element, name: str) -> str | None:
        """Return the text of a placeholder, None to leave it."""
        record = self._records.get(paragraph)
        if record is not None and name.startswith(record[0] + "."):
            field = name[len(record[0]) + 1 :]
            if field in record[1]:
                return self._text(record[1][field])
        elif name in self._values:
            self._used.add(name)
            return self._text(self._values[name])
        if (head := name.partition(".")[0]) in self._lists and record is None:
            raise ValidationFailed(
                f"{{{{{name}}}}} stands where nothing can be repeated for {head}; it belongs into "
                "a row of a table or a paragraph of its own"
            )
        self._unknown.setdefault(name)
        return "" if self._missing == "blank" else None

    def _text(self, value: Cell) -> str:
        return clean_text(cell_text(value), self._edit.warnings.warn)

    def _groups(self, root: etree._Element) -> list[tuple[str, list[etree._Element]]]:
        """Return the runs of neighboring rows or paragraphs that ask for the same list."""
        found: list[tuple[str, list[etree._Element]]] = []
        seen: set[etree._Element] = set()
        for paragraph in root.iter(PARAGRAPH):
            text, pieces, _ = read_flow(paragraph, ())
            names = [hit.name.partition(".") for hit in _hits(text, pieces)]
            asked = [head for head, dot, _ in names if dot and head in self._lists]
            if not asked:
                continue
            block = next(paragraph.iterancestors(_ROW), paragraph)
            if block in seen:
                continue
            seen.add(block)
            last = found[-1] if found else None
            if last is not None and last[0] == asked[0] and _previous(block) is last[1][-1]:
                last[1].append(block)
            else:
                found.append((asked[0], [block]))
        return found

    def _repeat(self, name: str, blocks: list[etree._Element]) -> None:
        records = self._lists[name]
        self.repeated += len(records) * len(blocks)
        if self.repeated > MAX_REPEATED:
            raise ValidationFailed(
                f"{name} would make more than {MAX_REPEATED} rows or paragraphs in a document"
            )
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
                    self._records[paragraph] = name, record

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


def _records(given: TemplateList) -> list[dict[str, Cell]]:
    """Return the records of a list: its rows by the names of its columns.

    Raises:
        ValidationFailed: A row has more or fewer values than there are columns.
    """
    records = []
    for number, row in enumerate(given.rows):
        if len(row) != len(given.columns):
            raise ValidationFailed(
                f"row {number} of {given.name} has {len(row)} values for "
                f"{len(given.columns)} columns; give null where there is none"
            )
        records.append(dict(zip(given.columns, row, strict=True)))
    return records


def _hits(text: str, pieces: Sequence[FlowPiece]) -> list[_Hit]:
    """Return the placeholders of a text, from the left."""
    found = [_Hit(hit.start(), hit.end(), hit[1]) for hit in _PLACEHOLDER.finditer(text)]
    for hit in _MERGED.finditer(text):
        piece = next((each for each in reversed(pieces) if each.start <= hit.start()), None)
        if piece is not None and computing_field(piece) == _MERGE_FIELD:
            found.append(_Hit(hit.start(), hit.end(), hit[1]))
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
