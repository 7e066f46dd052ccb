"""Removal of content without breaking what goes on around it, and what goes with it, in words.

Ranges (bookmarks, comments, permissions, moves) begin and end with marks of their own. Where one
end of a range goes and the other stays, the mark is kept and put where its content was. A field
that is only partly in what goes is refused. Pictures and links that nothing shows any more go from
the package.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.document import MC, SECTION, M, O, R, V, W

__all__ = [
    "check_deletable",
    "describe_losses",
    "drop_relations",
    "is_range_mark",
    "named_relations",
    "paragraph_texts",
    "remove_content",
]


_COMMENT = f"{W}commentReference"
_COMMENT_START, _COMMENT_END = f"{W}commentRangeStart", f"{W}commentRangeEnd"
_ID, _FIELD = f"{W}id", f"{W}fldChar"


def remove_content(elements: Sequence[etree._Element], anchor: etree._Element | None) -> None:
    """Remove elements, but preserve the ends of ranges that go on outside.

    Args:
        elements: Blocks, or contents of one paragraph, in order.
        anchor: A paragraph that stays, before or behind them, for the signs of comments whose
            text stays in part; None if there is none.

    Raises:
        ValidationFailed: A field is only partly in them.
    """
    _check_fields(elements)
    inside = [each for element in elements for each in element.iter(tag=etree.Element)]
    # A range that loses one of its ends is broken, so an end whose other one stays does, too.
    split = _split_ranges(inside)
    # Membership is by identity: an element keeps its object in lxml only while something holds it,
    # as the caller does here.
    own = set(elements)
    retained: set[etree._Element] = set()
    for mark in split:
        if mark in own:
            retained.add(mark)
        else:
            next(each for each in mark.iterancestors() if each in own).addprevious(mark)
    if anchor is not None:
        ends = {mark.get(_ID): mark for mark in split if mark.tag == _COMMENT_END}
        signs = _retained_comments(inside, elements)
        for sign, run in signs.items():
            # The sign of a comment stands right behind the end of its text.
            if sign.get(_ID) in ends:
                anchor.append(ends[sign.get(_ID)])
            anchor.append(run)
            retained.add(run)
        for run in set(signs.values()):
            # The text and whatever else stands in the run of a sign is to go, too.
            for child in [each for each in run if each not in signs and each.tag != f"{W}rPr"]:
                run.remove(child)
    _drop_ranges(inside, retained)
    for element in elements:
        parent = element.getparent()
        if parent is not None and element not in retained:
            parent.remove(element)


def _drop_ranges(inside: Sequence[etree._Element], retained: set[etree._Element]) -> None:
    """Drop the ranges of comments whose signs go, wherever their ends are."""
    gone = {
        each.get(_ID)
        for each in inside
        if each.tag == _COMMENT and each.getparent() not in retained
    }
    if not gone:
        return
    root = inside[0].getroottree().getroot()
    for mark in list(root.iter(_COMMENT_START, _COMMENT_END)):
        parent = mark.getparent()
        if mark.get(_ID) in gone and parent is not None:
            parent.remove(mark)


_LOCKS = frozenset(("sdtLocked", "sdtContentLocked"))


def check_deletable(elements: Iterable[etree._Element], what: str) -> None:
    """Check that elements can be deleted.

    Args:
        elements: Paragraphs, rows or cells.
        what: What they are, for the message.

    Raises:
        ValidationFailed: One is an alternative, or is locked.
    """
    for element in elements:
        for around in element.iterancestors(f"{MC}AlternateContent", f"{W}sdt"):
            if around.tag != f"{W}sdt":
                raise ValidationFailed(
                    f"one of the {what} is one of several alternatives that programs choose "
                    "from; it cannot be deleted"
                )
            lock = around.find(f"{W}sdtPr/{W}lock")
            if lock is not None and lock.get(f"{W}val") in _LOCKS:
                raise ValidationFailed(
                    f"one of the {what} is in a content control that is locked against being "
                    "deleted; leave it, or replace its text"
                )


def is_range_mark(element: etree._Element) -> bool:
    """Tell whether an element begins or ends a range."""
    return isinstance(element.tag, str) and bool(_range_kind(element.tag))


def named_relations(elements: Iterable[etree._Element]) -> set[str]:
    """Return the ids of the relations that elements name."""
    return {
        str(value)
        for element in elements
        for each in element.iter(tag=etree.Element)
        for name, value in each.items()
        if str(name).startswith((R, O))
    }


def paragraph_texts(element: etree._Element) -> Iterator[str]:
    """Yield the texts in an element, a paragraph each, deleted ones too."""
    texts = (f"{W}t", f"{W}delText")
    paragraphs = list(element.iter(f"{W}p"))
    if not paragraphs:
        yield "".join(each.text or "" for each in element.iter(*texts))
    for paragraph in paragraphs:
        yield "".join(each.text or "" for each in paragraph.iter(*texts))


def drop_relations(document: Document, named: set[str]) -> int:
    """Drop relations that removed content referenced, if nothing references them any more.

    Returns how many of them led to headers and footers.
    """
    # By hand: `drop_rel` of python-docx counts r:id only, not the r:embed by which another picture
    # may still show the same file.
    relations = document.part.rels
    candidates = {each for each in named if each in relations}
    count = 0
    unnamed = candidates - named_relations([document.element]) if candidates else set()
    for relation_id in sorted(unnamed):
        count += relations[relation_id].reltype in (RT.HEADER, RT.FOOTER)
        del relations[relation_id]
    return count


def _check_fields(elements: Iterable[etree._Element]) -> None:
    depth = 0
    for element in elements:
        for sign in element.iter(_FIELD):
            depth += {"begin": 1, "end": -1}.get(sign.get(f"{W}fldCharType", ""), 0)
            if depth < 0:
                raise _split_field_error()
    if depth:
        raise _split_field_error()


def _split_field_error() -> ValidationFailed:
    return ValidationFailed(
        "a field (such as a table of contents) lies only partly in what would go; take out all the "
        "paragraphs that it goes over, or none of them"
    )


def _split_ranges(inside: Sequence[etree._Element]) -> list[etree._Element]:
    """Return the marks of ranges that are split: the other end is outside."""
    ends: dict[tuple[str, str | None], list[etree._Element]] = {}
    for each in inside:
        kind = _range_kind(each.tag)
        if kind:
            ends.setdefault((kind, each.get(_ID)), []).append(each)
    return [marks[0] for marks in ends.values() if len(marks) == 1]


def _range_kind(tag: str) -> str:
    """Return what kind of range a mark begins or ends, "" if it is no mark."""
    if not tag.startswith(W):
        return ""
    for end in ("RangeStart", "RangeEnd", "bookmarkStart", "bookmarkEnd", "permStart", "permEnd"):
        if tag.endswith(end):
            return tag.removesuffix("Start").removesuffix("End")
    return ""


def _retained_comments(
    inside: Sequence[etree._Element], elements: Sequence[etree._Element]
) -> dict[etree._Element, etree._Element]:
    """Return the signs of comments whose text begins outside, and the runs that hold them."""
    begun = {each.get(_ID) for each in inside if each.tag == _COMMENT_START}
    signs = [each for each in inside if each.tag == _COMMENT and each.get(_ID) not in begun]
    if not signs:
        return {}
    whole = elements[0].getroottree().getroot()
    outside = {each.get(_ID) for each in whole.iter(_COMMENT_START)}
    runs = [(sign, sign.getparent()) for sign in signs if sign.get(_ID) in outside]
    return {sign: run for sign, run in runs if run is not None and run.tag == f"{W}r"}


_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/"
_MICROSOFT = "{http://schemas.microsoft.com/office/"
_HOLDERS = frozenset((f"{W}drawing", f"{W}pict"))
"""What holds a drawing, of whatever kind: one that no other name fits is told as a drawing."""

_HIDDEN = "_GoBack"
"""A bookmark of where the cursor was."""

_KINDS = {
    f"{W}tbl": "table",
    SECTION: "section break",
    f"{W}object": "embedded object",
    f"{W}footnoteReference": "footnote",
    f"{W}endnoteReference": "endnote",
    f"{W}commentReference": "comment",
    f"{W}hyperlink": "link",
    f"{W}fldSimple": "field",
    f"{W}sdt": "content control",
    f"{W}altChunk": "imported file",
    f"{W}subDoc": "linked document",
    f"{W}ins": "tracked change",
    f"{W}del": "tracked change",
    f"{W}moveFrom": "tracked change",
    f"{W}moveTo": "tracked change",
    f"{M}oMath": "equation",
    f"{_DRAWN}chart}}chart": "chart",
    f"{_DRAWN}picture}}pic": "image",
    f"{V}imagedata": "image",
    f"{_MICROSOFT}drawing/2014/chartex}}chart": "chart",
    f"{_MICROSOFT}drawing/2017/model3d}}model3d": "3D model",
    f"{_MICROSOFT}word/2010/wordml}}contentPart": "ink drawing",
    f"{_DRAWN}diagram}}relIds": "diagram",
    f"{W}txbxContent": "text box",
}
"""What is told by its number, by the element that it is."""

_DRAWN_KINDS = (f"{W}txbxContent", *(tag for tag in _KINDS if not tag.startswith((W, M))))


def describe_losses(elements: Iterable[etree._Element]) -> str:
    """Describe what elements hold beside text ("2 tables, 1 image"), "" for nothing."""
    found: Counter[str] = Counter()
    bookmarks: list[str] = []
    for element in elements:
        for each in _countable(element):
            tag = each.tag
            if tag == f"{W}fldChar" and each.get(f"{W}fldCharType") == "begin":
                found["field"] += 1
            elif tag == f"{W}bookmarkStart" and each.get(f"{W}name") != _HIDDEN:
                bookmarks.append(each.get(f"{W}name", ""))
            elif tag in _HOLDERS:
                found["drawing"] += next(each.iter(*_DRAWN_KINDS), None) is None
            elif tag in _KINDS and not _is_mark_of_change(each):
                found[_KINDS[tag]] += 1
    parts = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in found.items() if count]
    if bookmarks:
        parts.append(f"bookmark{'' if len(bookmarks) == 1 else 's'} {listed(bookmarks)}")
    return ", ".join(parts)


def _countable(element: etree._Element) -> Iterator[etree._Element]:
    """Yield elements, of alternatives that programs choose from only the first."""
    has_alternatives = next(element.iter(f"{MC}Fallback"), None) is not None
    for each in element.iter(*_KINDS, *_HOLDERS, f"{W}fldChar", f"{W}bookmarkStart"):
        if not has_alternatives or next(each.iterancestors(f"{MC}Fallback"), None) is None:
            yield each


def _is_mark_of_change(element: etree._Element) -> bool:
    """Tell whether an element only says that a paragraph's or a row's end was changed."""
    parent = element.getparent()
    return parent is not None and parent.tag in (f"{W}rPr", f"{W}trPr", f"{W}sectPrChange")
