"""Operations on comments: made, replied to, resolved and deleted.

A comment has its text in a part of its own; in the body marks stand where what it is about begins
and ends, and a sign behind that (ECMA-376, part 1, 17.13.4). Replies have the same marks as what
they reply to; that they are replies is said in another part (see `comment_threads`).
"""

import hashlib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml.parser import OxmlElement, parse_xml
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_part
from kbd.opc.rewriter import xml_bytes
from kbd_docx.comment_threads import (
    W14,
    W15,
    CommentState,
    comment_states,
    last_paragraph_id,
)
from kbd_docx.document import MC, PARAGRAPH, VAL, W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.ranges import RunRange, find_range, next_id
from kbd_docx.edits.texts import T, clean_text, text_nodes, written_date
from kbd_docx.ignorable import with_ignorable
from kbd_docx.operations import AddComment, DeleteComment, ReplyComment, ResolveComment

__all__ = ["add_comment", "delete_comment", "reply_comment", "resolve_comment"]

_START, _END, _SIGN = f"{W}commentRangeStart", f"{W}commentRangeEnd", f"{W}commentReference"
_ID, _RUN, _LOOK = f"{W}id", f"{W}r", f"{W}rPr"
_PARAGRAPH_ID = f"{W14}paraId"
_NOTES = ("", RT.FOOTNOTES, RT.ENDNOTES)
"""Where comments are cited: the main part, and notes."""

_THREADS = "http://schemas.microsoft.com/office/2011/relationships/commentsExtended"
_THREADS_TYPE = f"{CT.WML_COMMENTS.removesuffix('comments+xml')}commentsExtended+xml"
_IDS = (
    "http://schemas.microsoft.com/office/2016/09/relationships/commentsIds",
    "http://schemas.microsoft.com/office/2018/08/relationships/commentsExtensible",
)
_GONE = (f"{W}del", f"{W}moveFrom", f"{MC}Fallback")
_SPACES = {W14.strip("{}"): "w14"}
_EMPTY = f'<w:comments xmlns:w="{W.strip("{}")}"/>'.encode()
_NO_THREADS = (
    f'<w15:commentsEx xmlns:w15="{W15.strip("{}")}" xmlns:mc="{MC.strip("{}")}" '
    'mc:Ignorable="w15"/>'
).encode()
_MAX_PARAGRAPH_ID = 0x7FFFFFFF
"""Ids of paragraphs are below 0x80000000 (MS-DOCX, 2.2.3)."""


def add_comment(edit: DocumentEdit, operation: AddComment) -> str:
    """Comment on a paragraph, or on words of it.

    Raises:
        ValidationFailed: There is no such paragraph, it does not have the words, or the date is
            none.
    """
    paragraph = edit.body.paragraph(operation.paragraph)
    marked = None
    if operation.search is not None:
        marked = find_range(paragraph, operation.search, edit.warnings.warn)
    comments = _Comments(edit)
    made = comments.add(operation.text, operation.author, operation.date)
    key = made.get(_ID, "")
    start, end, sign = _marks(edit, key)
    if marked is None:
        marked = _whole(paragraph)
    if marked is None:
        paragraph.extend((start, end, sign))
    else:
        marked.first.addprevious(start)
        marked.last.addnext(end)
        end.addnext(sign)
    comments.store()
    return f"comment {comments.number(key)}: new on paragraph {operation.paragraph}"


def reply_comment(edit: DocumentEdit, operation: ReplyComment) -> str:
    """Reply to a comment.

    Raises:
        ValidationFailed: There is no such comment, or it stands nowhere in the body.
    """
    comments = _Comments(edit)
    parent = comments.find(operation.comment)
    # A reply to a reply is one to the comment that began the thread.
    state = comments.states().get(parent.get(_ID, ""))
    if state is not None and state.reply_to:
        parent = comments.by_id(state.reply_to)
    told = parent.get(_ID, "")
    anchors = [each for each in comments.body_marks() if each.get(_ID) == told]
    if not any(each.tag == _SIGN for each in anchors):
        raise ValidationFailed(
            f"comment {operation.comment} stands in a note or nowhere in the text; it cannot be "
            "replied to"
        )
    made = comments.add(operation.text, operation.author, operation.date)
    comments.thread(made, parent)
    marks = dict(zip((_START, _END, _SIGN), _marks(edit, made.get(_ID, "")), strict=True))
    for anchor in anchors:
        beside = anchor
        if anchor.tag == _SIGN:
            beside = next(anchor.iterancestors(_RUN), anchor)
        beside.addnext(marks[str(anchor.tag)])
    comments.store()
    return f"comment {comments.number(made.get(_ID, ''))}: new, to comment {operation.comment}"


def resolve_comment(edit: DocumentEdit, operation: ResolveComment) -> str:
    """Mark a comment as resolved, or as open; raises ValidationFailed if there is none."""
    comments = _Comments(edit)
    comment = comments.find(operation.comment)
    said = "resolved" if operation.resolved else "open"
    comments.resolve(comment, is_resolved=operation.resolved)
    comments.store()
    return f"comment {operation.comment}: {said}"


def delete_comment(edit: DocumentEdit, operation: DeleteComment) -> str:
    """Delete a comment and the replies to it; raises ValidationFailed if there is none."""
    comments = _Comments(edit)
    count = comments.delete(comments.find(operation.comment)) - 1
    comments.store()
    more = f" with {count} {'reply' if count == 1 else 'replies'}" if count else ""
    return f"comment {operation.comment}: deleted{more}"


class _Comments:
    """The comments of a document while they are edited; nothing is in it before `store`."""

    def __init__(self, edit: DocumentEdit) -> None:
        self._edit = edit
        self._root = edit.parts.root(RT.COMMENTS)
        self._threads = edit.parts.root(_THREADS)

    def find(self, number: int) -> etree._Element:
        """Return a comment by its number from 1; raises ValidationFailed."""
        order = self._order()
        if number > len(order):
            there = f"there are {len(order)}, counted from 1" if order else "there is none"
            raise ValidationFailed(f"there is no comment {number}; {there}")
        return self.by_id(order[number - 1])

    def by_id(self, key: str) -> etree._Element:
        """Return a comment that there is."""
        return next(each for each in self._all() if each.get(_ID) == key)

    def number(self, key: str) -> int:
        """Return the number of a comment that there is."""
        return self._order().index(key) + 1

    def states(self) -> Mapping[str, CommentState]:
        """Return what is said of comments by their ids."""
        return comment_states(self._root, self._threads)

    def body_marks(self) -> list[etree._Element]:
        """Return all marks of comments in the main part, in order."""
        return list(self._edit.document.element.iter(_START, _END, _SIGN))

    def add(self, text: str, author: str, date: str | None) -> etree._Element:
        """Add a comment without a place and return it."""
        if self._root is None:
            self._root = parse_xml(_EMPTY)
            self._edit.parts.add(RT.COMMENTS, CT.WML_COMMENTS, "comments", self._root)
        taken = next_id(self._edit.document.element, _START, _END, _SIGN)
        key = max(taken, next_id(self._root, f"{W}comment"))
        made = etree.SubElement(self._root, f"{W}comment", {_ID: str(key), f"{W}author": author})
        if date is not None:
            made.set(f"{W}date", written_date(date))
        made.set(f"{W}initials", "".join(word[0] for word in author.split()).upper()[:4])
        for number, line in enumerate(clean_text(text, self._edit.warnings.warn).split("\n")):
            made.append(self._paragraph(line, is_first=number == 0))
        if self._threads is not None:
            self._entry(made)
        return made

    def thread(self, reply: etree._Element, parent: etree._Element) -> None:
        """Say that a comment is a reply to another one."""
        above = self._entry(parent)
        entry = self._entry(reply)
        entry.set(f"{W15}paraIdParent", above.get(f"{W15}paraId", ""))
        # Programs show the replies of what is resolved as resolved.
        entry.set(f"{W15}done", above.get(f"{W15}done", "0"))

    def resolve(self, comment: etree._Element, *, is_resolved: bool) -> None:
        """Say whether a comment, with the replies to it, is resolved."""
        for each in self._with_replies(comment):
            self._entry(each).set(f"{W15}done", "1" if is_resolved else "0")

    def delete(self, comment: etree._Element) -> int:
        """Delete a comment with its replies and return how many these are."""
        gone = self._with_replies(comment)
        keys = {each.get(_ID) for each in gone}
        names = {last_paragraph_id(each) for each in gone} - {""}
        for kind in _NOTES:
            self._remove_marks(kind, keys)
        for each in gone:
            _remove(each)
        if self._threads is not None:
            for entry in list(self._threads):
                if entry.get(f"{W15}paraId", "").upper() in names:
                    self._threads.remove(entry)
        self._forget_ids(names)
        return len(gone)

    def store(self) -> None:
        """Write the comments into the document; without any the parts go."""
        parts = self._edit.parts
        if self._root is None:
            return
        if not self._all():
            for kind in (RT.COMMENTS, _THREADS, *_IDS):
                parts.drop(kind)
            return
        if any(each.get(_PARAGRAPH_ID) for each in self._root.iter(PARAGRAPH)):
            named = with_ignorable(self._root, _SPACES)
            if named is not self._root:
                self._root = parse_xml(xml_bytes(named))
        parts.store(RT.COMMENTS, self._root)
        if self._threads is not None:
            parts.store(_THREADS, self._threads)

    def _all(self) -> list[etree._Element]:
        return [] if self._root is None else list(self._root.iterchildren(f"{W}comment"))

    def _order(self) -> list[str]:
        """Return the ids of comments as readings number them: by the text, then by the part."""
        known = {each.get(_ID, ""): None for each in self._all()}
        cited: dict[str, None] = {}
        for kind in _NOTES:
            root = self._note_root(kind)
            for sign in root.iter(_SIGN) if root is not None else ():
                key = sign.get(_ID, "")
                if key in known and next(sign.iterancestors(*_GONE), None) is None:
                    cited[key] = None
        return list(cited | known)

    def _note_root(self, kind: str) -> etree._Element | None:
        return self._edit.parts.root(kind) if kind else self._edit.document.element

    def _remove_marks(self, kind: str, keys: AbstractSet[str | None]) -> None:
        """Remove the marks of comments from the main part or from notes."""
        root = self._note_root(kind)
        marks = [] if root is None else list(root.iter(_START, _END, _SIGN))
        found = [each for each in marks if each.get(_ID) in keys]
        for mark in found:
            run = mark.getparent()
            _remove(mark)
            if run is not None and run.tag == _RUN and all(each.tag == _LOOK for each in run):
                _remove(run)
        if found and kind and root is not None:
            self._edit.parts.store(kind, root)
            self._edit.stories.forget_all()

    def _forget_ids(self, names: AbstractSet[str]) -> None:
        """Remove what newer programs say of deleted comments in parts of their own."""
        gone: set[str] = set()
        for kind in _IDS:
            root = self._edit.parts.root(kind)
            entries = list(root) if root is not None else []
            for entry in entries:
                told = {local_part(str(name)): str(value) for name, value in entry.attrib.items()}
                durable = told.get("durableId", "")
                if told.get("paraId", "").upper() in names or durable in gone - {""}:
                    gone.add(durable)
                    _remove(entry)
            if root is not None and len(root) < len(entries):
                self._edit.parts.store(kind, root)

    def _with_replies(self, comment: etree._Element) -> list[etree._Element]:
        key = comment.get(_ID, "")
        states = self.states()
        replies = [
            each for each in self._all()
            if (state := states.get(each.get(_ID, ""))) is not None and state.reply_to == key
        ]  # fmt: skip
        return [comment, *replies]

    def _entry(self, comment: etree._Element) -> etree._Element:
        """Return what is said of a comment, which is made if nothing is."""
        if self._threads is None:
            self._threads = parse_xml(_NO_THREADS)
            self._edit.parts.add(_THREADS, _THREADS_TYPE, "commentsExtended", self._threads)
        name = last_paragraph_id(comment) or self._name_paragraph(comment)
        for entry in self._threads.iterchildren(f"{W15}commentEx"):
            if entry.get(f"{W15}paraId", "").upper() == name:
                return entry
        made = etree.SubElement(self._threads, f"{W15}commentEx", {f"{W15}paraId": name})
        made.set(f"{W15}done", "0")
        return made

    def _name_paragraph(self, comment: etree._Element) -> str:
        """Give the last paragraph of a comment an id that no paragraph has."""
        last = next(comment.iterchildren(PARAGRAPH, reversed=True), None)
        if last is None:
            last = etree.SubElement(comment, PARAGRAPH)
        roots = [self._edit.document.element, *([] if self._root is None else [self._root])]
        taken = {each.get(_PARAGRAPH_ID) for root in roots for each in root.iter(PARAGRAPH)}
        # By what the comment is, not by chance: the same edit makes the same bytes.
        told = f"{comment.get(_ID)} {''.join(each.text or '' for each in comment.iter(T))}"
        digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest) % _MAX_PARAGRAPH_ID
        while f"{number + 1:08X}" in taken:
            number = (number + 1) % _MAX_PARAGRAPH_ID
        last.set(_PARAGRAPH_ID, f"{number + 1:08X}")
        return f"{number + 1:08X}"

    def _paragraph(self, line: str, *, is_first: bool) -> etree._Element:
        styles = self._edit.styles
        made: etree._Element = OxmlElement("w:p")
        if style := styles.known("paragraph", "annotation text"):
            etree.SubElement(etree.SubElement(made, f"{W}pPr"), f"{W}pStyle", {VAL: style})
        if is_first:
            run = _sign_run(self._edit)
            etree.SubElement(run, f"{W}annotationRef")
            made.append(run)
        run = etree.SubElement(made, _RUN)
        run.extend(text_nodes(line))
        return made


def _marks(edit: DocumentEdit, key: str) -> tuple[etree._Element, etree._Element, etree._Element]:
    """Return the marks of a comment: where it begins and ends, and its sign."""
    start, end = OxmlElement("w:commentRangeStart"), OxmlElement("w:commentRangeEnd")
    run = _sign_run(edit)
    for mark in (start, end, etree.SubElement(run, _SIGN)):
        mark.set(_ID, key)
    return start, end, run


def _sign_run(edit: DocumentEdit) -> etree._Element:
    run: etree._Element = OxmlElement("w:r")
    if style := edit.styles.known("character", "annotation reference"):
        etree.SubElement(etree.SubElement(run, _LOOK), f"{W}rStyle", {VAL: style})
    return run


def _whole(paragraph: etree._Element) -> RunRange | None:
    """Return all that a paragraph holds, None if that is nothing."""
    found = [each for each in paragraph if each.tag != f"{W}pPr"]
    return RunRange(found[0], found[-1]) if found else None


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
