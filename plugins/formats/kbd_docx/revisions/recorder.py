"""Differences of a document to what it was, written into it as tracked changes.

What the edit left as it was is not touched. A block that was taken out is put back and marked as
deleted, one that was put in is marked as inserted, and of one that differs what differs is. So a
document without the insertions is the old one, and without the deletions the new one, whatever the
operations were. The last end of a body or cell cannot be marked: there the end before takes the
mark, and the properties say what they were.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import takewhile

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import MC, PARAGRAPH, SECTION, TABLE, VAL, W
from kbd_docx.revisions.inline import InlineRecorder, same_bytes
from kbd_docx.revisions.marks import (
    CHANGES_OF_PROPERTIES,
    Marker,
    Side,
    comparable,
    mark_properties,
    paragraph_properties,
)
from kbd_docx.revisions.snapshot import DocxSnapshot

__all__ = ["Recorder"]

_ROW, _CELL, _COLUMN = f"{W}tr", f"{W}tc", f"{W}tblGrid/{W}gridCol"
_PARAGRAPH_PROPERTIES, _RUN_PROPERTIES = f"{W}pPr", f"{W}rPr"
_MARKED = frozenset((PARAGRAPH, TABLE, _ROW, _CELL, f"{W}sdt", f"{W}customXml"))
"""Blocks that are marked when they come or go; all else, such as the end of a bookmark, is as it
was before the edit where it was there before."""

_HOLDERS = frozenset(
    f"{W}{name}"
    for name in (
        "body", "hdr", "ftr", "footnotes", "footnote", "endnotes", "endnote", "tbl", "tr", "tc",
        "sdt", "sdtContent", "customXml", "txbxContent",
    )
) | {f"{MC}AlternateContent", f"{MC}Choice", f"{MC}Fallback"}  # fmt: skip
"""What holds blocks, or parts of tables."""

_DOCUMENTS = (f"{W}subDoc", f"{W}altChunk")
_SETTINGS = frozenset(CHANGES_OF_PROPERTIES) | {f"{W}tblGrid", f"{W}sdtPr", f"{W}sdtEndPr"}
"""What is said of a block; no part of its content."""

_PROPERTIES_OF_TABLES = (f"{W}tblPr", f"{W}tblPrEx", f"{W}trPr", f"{W}tcPr")
_SINGLE = tuple(
    f"{W}{name}"
    for name in (
        "commentReference", "commentRangeStart", "commentRangeEnd", "footnoteReference",
        "endnoteReference", "bookmarkStart", "bookmarkEnd", "permStart", "permEnd",
    )
)  # fmt: skip
_NOTES = (f"{W}footnote", f"{W}endnote")
_END_MARKS = tuple(f"{W}{name}" for name in ("ins", "del", "moveFrom", "moveTo"))
_MERGES = (f"{W}gridSpan", f"{W}vMerge", f"{W}hMerge")


class Recorder:
    """Recorder of what an edit did.

    Args:
        snapshot: The document as it was.
        marker: Marks what was changed.
    """

    def __init__(self, snapshot: DocxSnapshot, marker: Marker) -> None:
        self._snapshot, self._marker = snapshot, marker
        self._inline = InlineRecorder(snapshot, marker, self._record_blocks)

    def record(self) -> list[etree._Element]:
        """Write what differs into the document as tracked changes; return the roots that differ."""
        self._snapshot.compare()
        differing = [(root, was) for root, was in self._snapshot.roots if not same_bytes(root, was)]
        for root, was in differing:
            self._record_blocks(root, was)
        return [root for root, _ in differing]

    def record_new(self, root: etree._Element) -> None:
        """Record notes in a new part; what has a type is a line above them."""
        for note in root.iterchildren(*_NOTES):
            if note.get(f"{W}type", "normal") == "normal":
                self._marker.mark_block(note, "ins")

    def _record_blocks(self, holder: etree._Element, was: etree._Element) -> None:
        """Record the children of what holds blocks: a body, a table, a row, a cell, a control."""
        then = [each for each in was if each.tag not in _SETTINGS or each.tag == SECTION]
        self._pair_last(holder, then)
        children = [each for each in holder if each.tag not in _SETTINGS or each.tag == SECTION]
        places = {each: place for place, each in enumerate(then)}
        left = 0
        put_in: list[etree._Element] = []
        taken_out: list[etree._Element] = []
        for child in children:
            partner = self._snapshot.original(child)
            if partner is not None and self._snapshot.holder(partner) is was:
                place = places[partner]
                if place >= left:
                    taken_out += self._restore(then[left:place], child.addprevious)
                    left = place + 1
                self._record_child(child, partner)
                continue
            first = left
            while left < len(then) and self._snapshot.is_gone(then[left]):
                left += 1
            taken_out += self._restore(then[first:left], child.addprevious)
            if partner is not None and child.tag not in _MARKED:
                # It was only moved, such as the end of a bookmark: it comes back where it was.
                holder.remove(child)
            elif child.tag == SECTION:
                self._marker.record_properties(holder, None, SECTION)
            else:
                self._marker.mark_block(child, "ins")
                put_in.append(child)
        taken_out += self._restore(then[left:], holder.append)
        self._settle_last(holder, set(put_in), set(taken_out))

    def _restore(
        self, then: Iterable[etree._Element], put: Callable[[etree._Element], object]
    ) -> list[etree._Element]:
        """Put back, marked as deleted, what of some children was taken out, and return it."""
        gone = [each for each in then if self._snapshot.is_gone(each) and each.tag != SECTION]
        for element in gone:
            put(element)
            self._marker.mark_block(element, "del", self._snapshot.is_kept_sign)
        return gone

    def _record_child(self, child: etree._Element, was: etree._Element) -> None:
        if same_bytes(child, was):
            return
        if child.tag == PARAGRAPH:
            self._record_paragraph(child, was)
        elif child.tag == TABLE and self._has_other_columns(child, was):
            # Columns and merges have no marks that programs agree on: the whole table is replaced.
            _check_replaceable(was)
            child.addprevious(was)
            self._marker.mark_block(was, "del", self._snapshot.is_kept_sign)
            self._marker.mark_block(child, "ins")
        elif child.tag == SECTION:
            self._record_section(child, was)
        elif child.tag in _HOLDERS:
            for name in _PROPERTIES_OF_TABLES:
                self._marker.record_properties(child, was.find(name), name)
            self._record_blocks(child, was)

    def _record_section(self, section: etree._Element, was: etree._Element) -> None:
        holder = section.getparent()
        assert holder is not None, "it stands in a body or in a paragraph's properties"
        self._marker.record_properties(holder, was, SECTION)

    def _has_other_columns(self, table: etree._Element, was: etree._Element) -> bool:
        """Tell whether a table has other columns, or a row that was left has its cells merged."""
        if len(table.findall(_COLUMN)) != len(was.findall(_COLUMN)):
            return True
        for row in table.iter(_ROW):
            then = self._snapshot.original(row)
            if then is not None and _merges(row) != _merges(then):
                return True
        return False

    def _record_paragraph(self, paragraph: etree._Element, was: etree._Element) -> None:
        then = was.find(_PARAGRAPH_PROPERTIES)
        self._record_end(paragraph, then)
        section = then.find(SECTION) if then is not None else None
        now = paragraph.find(f"{_PARAGRAPH_PROPERTIES}/{SECTION}")
        if now is not None and section is not None:
            self._record_section(now, section)
        elif now is not None and self._snapshot.original(now) is not None:
            # The section ended in a paragraph that was taken out, and comes back with it.
            paragraph_properties(paragraph).remove(now)
        elif now is not None:
            self._record_break(paragraph, then)
        self._inline.record(paragraph, was)

    def _record_break(self, paragraph: etree._Element, then: etree._Element | None) -> None:
        """Record that a section ends with a paragraph: that end is new, and the old one goes.

        A paragraph's end is what ends a section (ECMA-376, part 1, 17.6.18), so that without the
        new end the text is before the old one again.
        """
        behind = etree.Element(PARAGRAPH)
        for name, value in paragraph.attrib.items():
            # Programs know a paragraph by these, so that no other may have them.
            if not str(name).endswith(("}paraId", "}textId")):
                behind.set(name, value)
        if then is not None:
            behind.append(deepcopy(then))
        paragraph.addnext(behind)
        marks = mark_properties(paragraph)
        # What others have done to the old end is not done to the new one.
        for mark in [each for each in marks if each.tag in _END_MARKS]:
            marks.remove(mark)
        self._marker.mark_end(paragraph, "ins")
        self._marker.mark_end(behind, "del")

    def _record_end(self, paragraph: etree._Element, then: etree._Element | None) -> None:
        """Record what the properties of a paragraph, and those of its end, were."""
        self._marker.record_properties(paragraph, then, _PARAGRAPH_PROPERTIES)
        marks = then.find(_RUN_PROPERTIES) if then is not None else None
        if marks is not None:
            mark_properties(paragraph)
        properties = paragraph.find(_PARAGRAPH_PROPERTIES)
        if properties is not None and properties.find(_RUN_PROPERTIES) is not None:
            self._marker.record_properties(properties, marks, _RUN_PROPERTIES)

    def _pair_last(self, holder: etree._Element, then: Sequence[etree._Element]) -> None:
        """Take the last paragraph for the last one before where that is gone: they share an end."""
        now, before = _last_block(holder), _last_block(then)
        if now is None or before is None or not now.tag == before.tag == PARAGRAPH:
            return
        if self._snapshot.original(now) is None and self._snapshot.is_gone(before):
            self._snapshot.pair(now, before)

    def _settle_last(
        self, holder: etree._Element, put_in: set[etree._Element], taken_out: set[etree._Element]
    ) -> None:
        """Move the mark from the end of the last paragraph, which always stays, to one before."""
        blocks = [child for child in holder if child.tag in _MARKED]
        self._settle_end(blocks, put_in, "ins")
        self._settle_end(blocks, taken_out, "del")

    def _settle_end(
        self, blocks: Sequence[etree._Element], changed: set[etree._Element], side: Side
    ) -> None:
        trailing = list(takewhile(changed.__contains__, reversed(blocks)))
        if not trailing or len(trailing) == len(blocks):
            return
        stays, last = blocks[-len(trailing) - 1], blocks[-1]
        was = self._snapshot.original(stays)
        if (
            was is None
            or any(block.tag != PARAGRAPH for block in (stays, *trailing))
            or any(
                block.find(f"{_PARAGRAPH_PROPERTIES}/{SECTION}") is not None
                for block in (stays, *trailing)
            )
        ):
            return
        self._marker.unmark_end(last, side)
        if side == "ins":
            self._record_end(last, was.find(_PARAGRAPH_PROPERTIES))
        else:
            own = last.find(_PARAGRAPH_PROPERTIES)
            then = deepcopy(own) if own is not None else None
            _take_properties(last, stays)
            self._record_end(last, then)
        self._marker.mark_end(stays, side)


def _check_replaceable(table: etree._Element) -> None:
    """Refuse to have a table twice that holds what may be in a document once."""
    if next(table.iter(*_SINGLE), None) is not None:
        raise ValidationFailed(
            "a change of columns or merged cells is tracked as a new table in place of the old "
            "one, and this table holds comments, notes or bookmarks, which cannot be in both; "
            "make this change without track_changes"
        )


def _last_block(children: Iterable[etree._Element]) -> etree._Element | None:
    """Return the last block among some children: a paragraph, a table, a control, a document."""
    found = [child for child in children if child.tag in _MARKED or child.tag in _DOCUMENTS]
    return found[-1] if found else None


def _take_properties(paragraph: etree._Element, other: etree._Element) -> None:
    """Give a paragraph the properties of another one, without that one's section."""
    own = paragraph.find(_PARAGRAPH_PROPERTIES)
    if own is not None:
        paragraph.remove(own)
    taken = other.find(_PARAGRAPH_PROPERTIES)
    if taken is not None:
        copied = deepcopy(taken)
        for name in (SECTION, f"{W}pPrChange"):
            for child in copied.findall(name):
                copied.remove(child)
        # The marks of its end are its own.
        if (marks := copied.find(_RUN_PROPERTIES)) is not None:
            copied.replace(marks, comparable(marks, _RUN_PROPERTIES))
        paragraph.insert(0, copied)


def _merges(row: etree._Element) -> list[tuple[str | None, ...]]:
    """Return how the cells of a row are merged."""
    merges = []
    for cell in row.iterchildren(_CELL):
        found = (cell.find(f"{W}tcPr/{name}") for name in _MERGES)
        merges.append(tuple(None if each is None else each.get(VAL, "") for each in found))
    return merges
