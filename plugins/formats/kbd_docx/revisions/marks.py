"""Markup of tracked changes: content, paragraphs, rows and properties marked as changed.

An insertion and a deletion wrap runs; a paragraph's end, a row and a change of properties are
marked inside of the properties (ECMA-376, part 1, 17.13.5; the order of elements is that of the
schemas of 17.3.1.26, 17.4.82 and A.1).
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Literal

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import PARAGRAPH, SECTION, TABLE, M, W

__all__ = [
    "CHANGES_OF_PROPERTIES",
    "INLINE_HOLDERS",
    "Marker",
    "Side",
    "comparable",
    "is_sign",
    "mark_properties",
    "paragraph_properties",
    "remove_if_empty",
    "restore_texts",
    "revisions",
]

Side = Literal["ins", "del"]
"""What is marked: an insertion or a deletion, as the element is called."""

INLINE_HOLDERS = frozenset(
    f"{W}{name}"
    for name in (
        "hyperlink", "smartTag", "sdt", "sdtContent", "customXml", "fldSimple", "bdo", "dir",
        "ins", "moveTo",
    )
)  # fmt: skip
"""What holds runs in a paragraph, in which these are marked one by one."""

_BLOCK_HOLDERS = frozenset(f"{W}{name}" for name in ("sdt", "sdtContent", "customXml"))
_INSERTED = frozenset((f"{W}ins", f"{W}moveTo"))
_DELETED = frozenset((f"{W}del", f"{W}moveFrom"))
_NOTES = frozenset((f"{W}footnote", f"{W}endnote"))
_MATH = frozenset((f"{M}oMath", f"{M}oMathPara"))
_RUN, _ROW, _CELL = f"{W}r", f"{W}tr", f"{W}tc"
_RUN_PROPERTIES = f"{W}rPr"
_UNMARKED = frozenset((f"{W}subDoc", f"{W}altChunk"))
_SIGN = f"{W}commentReference"

CHANGES_OF_PROPERTIES = {
    f"{W}rPr": f"{W}rPrChange",
    f"{W}pPr": f"{W}pPrChange",
    f"{W}sectPr": f"{W}sectPrChange",
    f"{W}tblPr": f"{W}tblPrChange",
    f"{W}tblPrEx": f"{W}tblPrExChange",
    f"{W}trPr": f"{W}trPrChange",
    f"{W}tcPr": f"{W}tcPrChange",
}
"""Properties, and the element in them that says what they were."""

_NOT_PROPERTIES = frozenset(
    f"{W}{name}"
    for name in (
        "ins", "del", "moveFrom", "moveTo", "headerReference", "footerReference",
        *(name.removeprefix(W) for name in CHANGES_OF_PROPERTIES.values()),
    )
)  # fmt: skip
"""What stands in properties and is not said of how they were."""

_DELETED_TEXTS = {f"{W}t": f"{W}delText", f"{W}instrText": f"{W}delInstrText"}
_PLAIN_TEXTS = {deleted: plain for plain, deleted in _DELETED_TEXTS.items()}


def revisions(root: etree._Element) -> Iterator[etree._Element]:
    """Yield all elements that have an author and an id: tracked changes, and comments."""
    author = f"{W}author"
    return (each for each in root.iter(f"{W}*") if each.get(author) is not None)


def is_sign(run: etree._Element) -> bool:
    """Tell whether a run holds nothing but the signs of comments."""
    held = [child.tag for child in run if child.tag != _RUN_PROPERTIES]
    return run.tag == _RUN and bool(held) and all(tag == _SIGN for tag in held)


def paragraph_properties(paragraph: etree._Element) -> etree._Element:
    """Return a paragraph's properties, made if it has none."""
    return _first(paragraph, f"{W}pPr", 0)


def mark_properties(paragraph: etree._Element) -> etree._Element:
    """Return the properties of a paragraph's end, made if it has none."""
    properties = paragraph_properties(paragraph)
    found = properties.find(_RUN_PROPERTIES)
    if found is None:
        found = etree.SubElement(properties, _RUN_PROPERTIES)
        for later in (SECTION, f"{W}pPrChange"):
            if (behind := properties.find(later)) is not None:
                behind.addprevious(found)
                break
    return found


def comparable(properties: etree._Element | None, name: str) -> etree._Element:
    """Return a copy of properties without what is not said of how they were.

    Args:
        properties: The properties, None for none.
        name: What they are called.
    """
    if properties is None:
        return etree.Element(name)
    copied = deepcopy(properties)
    copied.tail = None
    for child in list(copied):
        inner = name == f"{W}pPr" and child.tag in (_RUN_PROPERTIES, SECTION)
        if child.tag in _NOT_PROPERTIES or inner:
            copied.remove(child)
    return copied


class Marker:
    """Marker of changes by one author.

    Args:
        author: Who made the changes.
        date: When, as ISO 8601 in UTC; None says nothing.
        first_id: The first number that no other tracked change of the document has.

    Attributes:
        next_id: The number of the next change.
        joined: Others whose changes of a look were undecided where this author changed it, too.
    """

    def __init__(self, author: str, date: str | None, first_id: int) -> None:
        self.author, self.date, self.next_id = author, date, first_id
        self.joined: set[str] = set()

    def element(self, name: str) -> etree._Element:
        """Return an element that names the author, with a number of its own."""
        made = etree.Element(name)
        made.set(f"{W}id", str(self.next_id))
        made.set(f"{W}author", self.author)
        if self.date is not None:
            made.set(f"{W}date", self.date)
        self.next_id += 1
        return made

    def is_own(self, element: etree._Element) -> bool:
        """Tell whether a tracked change is of the same author at the same time."""
        return element.get(f"{W}author") == self.author and element.get(f"{W}date") == self.date

    def mark_inline(
        self,
        elements: list[etree._Element],
        side: Side,
        is_kept: Callable[[etree._Element], bool] = is_sign,
    ) -> None:
        """Mark the content of a paragraph: runs and equations, those in links and controls, too.

        Args:
            elements: Some children of one parent, in order.
            side: What they are.
            is_kept: Tells of a run whether it is left unmarked.
        """
        wrapper: etree._Element | None = None
        for element in elements:
            _check_markable(element, side)
            if element.tag in _MATH or (element.tag == _RUN and not is_kept(element)):
                if wrapper is None or wrapper.getnext() is not element:
                    wrapper = self.element(f"{W}{side}")
                    element.addprevious(wrapper)
                wrapper.append(element)
                if side == "del":
                    _rename_texts(element, _DELETED_TEXTS)
                continue
            wrapper = None
            # What somebody else has deleted is so, and what another has inserted is no insertion
            # of this author.
            skipped = _INSERTED if side == "ins" else frozenset()
            if element.tag in INLINE_HOLDERS - skipped:
                self.mark_inline(list(element), side, is_kept)

    def mark_block(
        self,
        block: etree._Element,
        side: Side,
        is_kept: Callable[[etree._Element], bool] = is_sign,
    ) -> None:
        """Mark a whole block: a paragraph with its end, a row, a table row by row, a control.

        Of a note the last end stays as long as the note does.
        """
        _check_markable(block, side)
        if block.tag == PARAGRAPH:
            self.mark_inline([each for each in block if each.tag != f"{W}pPr"], side, is_kept)
            self.mark_end(block, side)
        elif block.tag in (TABLE, _CELL) or block.tag in _BLOCK_HOLDERS:
            for child in list(block):
                self.mark_block(child, side, is_kept)
        elif block.tag == _ROW:
            for child in list(block):
                self.mark_block(child, side, is_kept)
            self._mark_row(block, side)
        elif block.tag in _NOTES:
            for child in list(block):
                self.mark_block(child, side, is_kept)
            if len(block) and block[-1].tag == PARAGRAPH:
                self.unmark_end(block[-1], side)

    def mark_end(self, paragraph: etree._Element, side: Side) -> None:
        """Mark the end of a paragraph; one that is marked so stays as it is."""
        properties = mark_properties(paragraph)
        names = _INSERTED if side == "ins" else _DELETED
        if any(properties.find(name) is not None for name in names):
            return
        # What was inserted may be deleted, in this order (ECMA-376, part 1, 17.3.1.30).
        place = sum(child.tag in _INSERTED for child in properties) if side == "del" else 0
        properties.insert(place, self.element(f"{W}{side}"))

    def unmark_end(self, paragraph: etree._Element, side: Side) -> None:
        """Remove the author's mark from the end of a paragraph."""
        properties = mark_properties(paragraph)
        for mark in properties.findall(f"{W}{side}"):
            if self.is_own(mark):
                properties.remove(mark)
        remove_if_empty(properties)

    def record_properties(
        self, holder: etree._Element, before: etree._Element | None, name: str
    ) -> None:
        """Record in an element's properties what they were, if they differ.

        Args:
            holder: The element, whose properties are the new ones.
            before: The properties as they were, None if there were none.
            name: What they are called.
        """
        found = holder.find(name)
        was, now = comparable(before, name), comparable(found, name)
        if etree.tostring(was, method="c14n") == etree.tostring(now, method="c14n"):
            return
        if found is None:
            found = _made_properties(holder, name)
        change = CHANGES_OF_PROPERTIES[name]
        # An earlier change that nobody has decided on yet says what the properties were before
        # both, and there is room for one.
        pending = found.find(change)
        if pending is None:
            noted = self.element(change)
            noted.append(was)
            found.append(noted)
        elif not self.is_own(pending):
            self.joined.add(pending.get(f"{W}author", ""))

    def _mark_row(self, row: etree._Element, side: Side) -> None:
        properties = row.find(f"{W}trPr")
        if properties is None:
            properties = _made_properties(row, f"{W}trPr")
        if properties.find(f"{W}{side}") is None:
            mark = self.element(f"{W}{side}")
            behind = properties.find(f"{W}trPrChange")
            if side == "ins" and behind is None:
                behind = properties.find(f"{W}del")
            if behind is not None:
                behind.addprevious(mark)
            else:
                properties.append(mark)


def restore_texts(run: etree._Element) -> None:
    """Turn the deleted text of a run into text again."""
    _rename_texts(run, _PLAIN_TEXTS)


def remove_if_empty(properties: etree._Element) -> None:
    """Remove properties of a paragraph's end that say nothing, and those around if they do not."""
    if len(properties):
        return
    parent = properties.getparent()
    if parent is not None:
        parent.remove(properties)
        if parent.tag == f"{W}pPr":
            remove_if_empty(parent)


def _check_markable(element: etree._Element, side: Side) -> None:
    if side == "del" and element.tag in _UNMARKED:
        raise ValidationFailed(
            "what would go holds another document, for whose deletion there is no mark; make this "
            "change without track_changes"
        )


def _rename_texts(run: etree._Element, names: dict[str, str]) -> None:
    for child in run:
        if child.tag in names:
            child.tag = names[child.tag]


def _made_properties(holder: etree._Element, name: str) -> etree._Element:
    """Return new properties where the schema has them: first, but behind exceptions of a row."""
    place = 0
    if name == f"{W}trPr":
        place = sum(child.tag == f"{W}tblPrEx" for child in holder)
    made = etree.SubElement(holder, name)
    holder.insert(place, made)
    return made


def _first(holder: etree._Element, name: str, place: int) -> etree._Element:
    found = holder.find(name)
    if found is None:
        found = etree.SubElement(holder, name)
        holder.insert(place, found)
    return found
