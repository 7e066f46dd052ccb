"""Settlement of tracked changes: accepted, or rejected, all or those of an author or a place.

Accepting makes the document what it would be if the changes had been made directly; rejecting makes
it what it was. A paragraph whose end goes joins the next one, whose properties stay; without text
of its own it is gone (ECMA-376, part 1, 17.13.5).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

from lxml import etree

from kbd_docx.document import PARAGRAPH, SECTION, TABLE, M, W
from kbd_docx.edits.removal import is_range_mark, remove_content
from kbd_docx.revisions.marks import (
    CHANGES_OF_PROPERTIES,
    INLINE_HOLDERS,
    is_sign,
    paragraph_properties,
    remove_if_empty,
    restore_texts,
)

__all__ = ["Settlement"]

_ROW, _CELL, _RUN = f"{W}tr", f"{W}tc", f"{W}r"
_INSERTIONS = (f"{W}ins", f"{W}moveTo")
_DELETIONS = (f"{W}del", f"{W}moveFrom")
_WRAPPERS = (*_INSERTIONS, *_DELETIONS)
_MOVES = tuple(f"{W}move{side}Range{end}" for side in ("From", "To") for end in ("Start", "End"))
_CELL_MARKS = (f"{W}cellIns", f"{W}cellDel", f"{W}cellMerge")
_PROPERTIES = {change: name for name, change in CHANGES_OF_PROPERTIES.items()}
_RETAINED = frozenset(
    f"{W}{name}"
    for name in ("ins", "del", "moveFrom", "moveTo", "headerReference", "footerReference")
)
"""What stands in properties that are put back, and is not said of how they were."""

_LINKED = {f"{W}commentReference": (f"{W}commentRangeStart", f"{W}commentRangeEnd")}
_CONTROLS = frozenset((f"{W}sdt", f"{W}sdtContent", f"{W}customXml"))
_RANGES = tuple(f"{W}{kind}{end}" for kind in ("bookmark", "perm") for end in ("Start", "End"))
_CONTENT = (_RUN, f"{M}oMath", PARAGRAPH)


class Settlement:
    """Settlement of the tracked changes of one document.

    Args:
        accept: Accept them, else reject them.
        is_chosen: Tells of a tracked change whether it is meant.

    Attributes:
        count: How many changes were settled.
        removed: Blocks and contents of paragraphs that went.
    """

    def __init__(self, *, accept: bool, is_chosen: Callable[[etree._Element], bool]) -> None:
        self._is_chosen = is_chosen
        self._accept = accept
        self._going = _DELETIONS if accept else _INSERTIONS
        self.count = 0
        self.removed: list[etree._Element] = []

    def settle(self, root: etree._Element) -> None:
        """Settle the changes in a tree.

        Raises:
            ValidationFailed: A field would go in part.
        """
        filled = _filled_ranges(root)
        self._settle_properties(root)
        self._settle_rows(root)
        self._settle_inline(root)
        self._settle_ends(root)
        self._settle_moves(root)
        # A bookmark goes with all its text, as it would if the text had been deleted directly.
        for mark in filled - _filled_ranges(root):
            _drop(mark)

    def _chosen(self, root: etree._Element, *tags: str) -> list[etree._Element]:
        return [each for each in root.iter(*tags) if self._is_chosen(each)]

    def _settle_properties(self, root: etree._Element) -> None:
        """Settle changes of properties: what they were goes, or comes back."""
        for change in self._chosen(root, *_PROPERTIES):
            holder = change.getparent()
            if holder is None:
                continue
            self.count += 1
            holder.remove(change)
            if not self._accept:
                before = change.find(_PROPERTIES[str(change.tag)])
                _restore_properties(holder, before)
            if holder.tag == f"{W}rPr":
                remove_if_empty(holder)
        for numbering in self._chosen(root, f"{W}numberingChange"):
            self.count += 1
            _drop(numbering)

    def _settle_rows(self, root: etree._Element) -> None:
        for mark in self._chosen(root, *_INSERTIONS, *_DELETIONS):
            properties = mark.getparent()
            if properties is None or properties.tag != f"{W}trPr":
                continue
            self.count += 1
            row = properties.getparent()
            properties.remove(mark)
            if row is None or mark.tag not in self._going:
                continue
            table = next(row.iterancestors(TABLE))
            self.removed.append(row)
            remove_content([row], None)
            if next(table.iter(_ROW), None) is None:
                self._remove_table(table)
        for mark in self._chosen(root, *_CELL_MARKS):
            self._settle_cell(mark)

    def _remove_table(self, table: etree._Element) -> None:
        holder = table.getparent()
        assert holder is not None, "it stands in a body"
        if not any(_is_block(each) and each is not table for each in holder) and (
            holder.tag not in _CONTROLS or _is_alone(holder)
        ):
            etree.SubElement(holder, PARAGRAPH)
        self.removed.append(table)
        remove_content([table], None)
        _drop_emptied_controls(holder)

    def _settle_cell(self, mark: etree._Element) -> None:
        """Settle a cell that came or went; the cell beside it takes its place."""
        self.count += 1
        cell = next(mark.iterancestors(_CELL), None)
        goes = mark.tag == (f"{W}cellDel" if self._accept else f"{W}cellIns")
        _drop(mark)
        row = cell.getparent() if cell is not None else None
        if not goes or cell is None or row is None or len(row.findall(_CELL)) == 1:
            return
        self.removed.append(cell)
        remove_content([cell], None)

    def _settle_inline(self, root: etree._Element) -> None:
        """Settle what wraps contents of paragraphs: the wrapper goes, or all that is in it."""
        emptied: set[etree._Element] = set()
        for wrapper in self._chosen(root, *_WRAPPERS):
            parent = wrapper.getparent()
            if parent is None or parent.tag == f"{W}rPr":
                continue
            self.count += 1
            if parent.tag == f"{W}numPr":
                # A paragraph that was made one of a list.
                _drop(wrapper if self._accept else parent)
                continue
            if wrapper.tag in self._going:
                self.removed.append(wrapper)
                self._remove(root, wrapper)
                emptied.add(parent)
                continue
            if wrapper.tag in _DELETIONS and not any(wrapper.iterancestors(*_DELETIONS)):
                for run in wrapper.iter(_RUN):
                    restore_texts(run)
            for child in list(wrapper):
                wrapper.addprevious(child)
            parent.remove(wrapper)
        for holder in emptied:
            _drop_emptied(holder)

    def _remove(self, root: etree._Element, wrapper: etree._Element) -> None:
        """Remove the content of a paragraph; ends of ranges in it stay in its place."""
        for sign in wrapper.iter(*_LINKED):
            # With the sign of a comment the range goes that it is about.
            wanted = sign.get(f"{W}id")
            for end in list(root.iter(*_LINKED[str(sign.tag)])):
                if end.get(f"{W}id") == wanted:
                    _drop(end)
        for mark in [each for each in wrapper.iter(tag=etree.Element) if is_range_mark(each)]:
            wrapper.addprevious(mark)
        _drop(wrapper)

    def _settle_ends(self, root: etree._Element) -> None:
        """Settle the ends of paragraphs: one that goes joins its paragraph to the next one."""
        going: dict[etree._Element, None] = {}
        for mark in self._chosen(root, *_WRAPPERS):
            properties = mark.getparent()
            if properties is None or properties.tag != f"{W}rPr":
                continue
            self.count += 1
            around = properties.getparent()
            paragraph = around.getparent() if around is not None else None
            # Signs of equations are marked so, too; these end nothing.
            is_end = around is not None and around.tag == f"{W}pPr"
            if is_end and mark.tag in self._going and paragraph is not None:
                going[paragraph] = None
            properties.remove(mark)
            remove_if_empty(properties)
        for group in _groups(going):
            self._join(group)

    def _join(self, group: list[etree._Element]) -> None:
        """Join paragraphs that stand one behind the other, each to the next one."""
        empty: list[etree._Element] = []
        for paragraph in group:
            following, before = _next_block(paragraph), _previous_block(paragraph)
            content = _content(paragraph)
            if not content and not (
                not self._accept and _has_marks(paragraph) and _is_paragraph(following)
            ):
                empty.append(paragraph)
            elif self._accept and before is not None and _holds_signs(content, before):
                # The comment is on text before; its sign stays at the end of that.
                before.extend([each for each in paragraph if each.tag != f"{W}pPr"])
                empty.append(paragraph)
            elif following is not None and following.tag == PARAGRAPH:
                # The ends of ranges in a paragraph that was left go on where they stood in it.
                _move_content(paragraph, following)
                empty.append(paragraph)
        if empty and _is_needed(empty[-1], set(empty)):
            empty.pop()
        if not empty:
            return
        previous = _previous_block(empty[0])
        # A section that ends with an inserted paragraph came with it.
        for paragraph in empty if self._accept else ():
            _move_section(paragraph, previous)
        self.removed += empty
        anchors = (previous, _next_block(empty[-1]))
        holder = empty[0].getparent()
        remove_content(
            empty,
            next((each for each in anchors if each is not None and each.tag == PARAGRAPH), None),
        )
        if holder is not None:
            _drop_emptied_controls(holder)

    def _settle_moves(self, root: etree._Element) -> None:
        """Drop the ends of ranges that were moved, where no moved text is left."""
        if next(root.iter(f"{W}moveFrom", f"{W}moveTo"), None) is None:
            for mark in list(root.iter(*_MOVES)):
                _drop(mark)


def _drop(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _restore_properties(holder: etree._Element, before: etree._Element | None) -> None:
    """Give properties what they were; marks, and what is not said of how they were, stay."""
    inner = (f"{W}rPr", SECTION) if holder.tag == f"{W}pPr" else ()
    stays = [each for each in holder if each.tag in _RETAINED or each.tag in inner]
    behind = holder.tag == f"{W}pPr"
    for child in list(holder):
        holder.remove(child)
    was = list(before) if before is not None else []
    # Marks and references stand first in properties; those of a paragraph's end stand last.
    for child in (*was, *stays) if behind else (*stays, *was):
        holder.append(child)
    # A table has settings, empty or not (ECMA-376, part 1, CT_Tbl).
    if not len(holder) and holder.tag not in (f"{W}tblPr", SECTION):
        _drop(holder)


def _drop_emptied(holder: etree._Element) -> None:
    """Drop links, controls and fields that nothing is left in."""
    while holder.tag in INLINE_HOLDERS and next(holder.iter(*_CONTENT), None) is None:
        parent = holder.getparent()
        if parent is None:
            return
        for mark in [each for each in holder.iter(tag=etree.Element) if is_range_mark(each)]:
            holder.addprevious(mark)
        parent.remove(holder)
        holder = parent


def _holds_signs(content: list[etree._Element], before: etree._Element) -> bool:
    """Tell whether content is signs of comments alone, and a paragraph can hold them."""
    return before.tag == PARAGRAPH and all(is_sign(each) for each in content)


def _content(paragraph: etree._Element) -> list[etree._Element]:
    """Return what a paragraph holds beside properties and ends of ranges."""
    return [
        child
        for child in paragraph.iterchildren(tag=etree.Element)
        if child.tag not in (f"{W}pPr", f"{W}proofErr") and not is_range_mark(child)
    ]


def _has_marks(paragraph: etree._Element) -> bool:
    return any(is_range_mark(each) for each in paragraph)


def _is_paragraph(block: etree._Element | None) -> bool:
    return block is not None and block.tag == PARAGRAPH


def _filled_ranges(root: etree._Element) -> set[etree._Element]:
    """Return both ends of each range, such as a bookmark, that has something in it."""
    begun: dict[tuple[str, str | None], tuple[etree._Element, int]] = {}
    filled: set[etree._Element] = set()
    content = 0
    for each in root.iter(*_RANGES, *_CONTENT):
        if each.tag not in _RANGES:
            content += 1
            continue
        name = str(each.tag)
        key = name.removesuffix("Start").removesuffix("End"), each.get(f"{W}id")
        if name.endswith("Start"):
            begun[key] = each, content
        elif key in begun and begun[key][1] < content:
            filled |= {begun[key][0], each}
    return filled


def _groups(paragraphs: Iterable[etree._Element]) -> Iterator[list[etree._Element]]:
    """Yield runs of paragraphs each of which stands right behind the one before."""
    group: list[etree._Element] = []
    for paragraph in paragraphs:
        if group and _next_block(group[-1]) is not paragraph:
            yield group
            group = []
        group.append(paragraph)
    if group:
        yield group


def _next_block(block: etree._Element) -> etree._Element | None:
    return next((each for each in block.itersiblings() if _is_block(each)), None)


def _previous_block(block: etree._Element) -> etree._Element | None:
    return next((each for each in block.itersiblings(preceding=True) if _is_block(each)), None)


def _is_block(element: etree._Element) -> bool:
    return element.tag in (PARAGRAPH, TABLE, f"{W}sdt", f"{W}customXml")


def _move_content(paragraph: etree._Element, following: etree._Element) -> None:
    """Move the content of a paragraph to the beginning of another one."""
    properties = following.find(f"{W}pPr")
    place = 0 if properties is None else following.index(properties) + 1
    between = list(takewhile(lambda each: each is not following, paragraph.itersiblings()))
    behind = following if _content(following) else None
    for child in [each for each in paragraph if each.tag != f"{W}pPr"]:
        following.insert(place, child)
        place += 1
    # What stands between them, such as the end of a bookmark, stays between their texts.
    for mark in between if behind is not None else reversed(between):
        if behind is None:
            following.addnext(mark)
        else:
            following.insert(place, mark)
            place += 1


def _move_section(paragraph: etree._Element, previous: etree._Element | None) -> None:
    """Have the paragraph before end the section that a paragraph ends.

    Without one, or where that ends a section itself, the text is part of the next section.
    """
    section = paragraph.find(f"{W}pPr/{SECTION}")
    if section is None or previous is None or previous.tag != PARAGRAPH:
        return
    if previous.find(f"{W}pPr/{SECTION}") is None:
        properties = paragraph_properties(previous)
        behind = properties.find(f"{W}pPrChange")
        if behind is None:
            properties.append(section)
        else:
            behind.addprevious(section)


def _is_needed(paragraph: etree._Element, gone: set[etree._Element]) -> bool:
    """Tell whether a paragraph must stay, since it is all that a cell or body is left with."""
    holder = paragraph.getparent()
    if holder is None:
        return False
    left = [each for each in holder if _is_block(each) and each not in gone]
    if not left and holder.tag in _CONTROLS:
        # The control goes, too, if something is left around it.
        return _is_alone(holder)
    # A cell ends in a paragraph (ECMA-376, part 1, 17.4.65).
    return not left or (holder.tag == _CELL and left[-1].tag == TABLE)


def _is_alone(control: etree._Element) -> bool:
    """Tell whether a content control is all that a cell or body has."""
    holder = control.getparent()
    if holder is None:
        return True
    if any(_is_block(each) and each is not control for each in holder):
        return False
    return holder.tag not in _CONTROLS or _is_alone(holder)


def _drop_emptied_controls(holder: etree._Element) -> None:
    """Drop content controls that are left without a block."""
    while holder.tag in _CONTROLS and not any(_is_block(each) for each in holder):
        parent = holder.getparent()
        if parent is None:
            return
        for mark in [each for each in holder.iter(tag=etree.Element) if is_range_mark(each)]:
            holder.addprevious(mark)
        parent.remove(holder)
        holder = parent
