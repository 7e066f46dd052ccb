"""Bookmarks: made, found by name, and the text that they go over."""

import re
from difflib import get_close_matches

from docx.oxml.parser import OxmlElement
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.document import PARAGRAPH, W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.ranges import RunRange, find_range, next_id
from kbd_docx.operations import AddBookmark

__all__ = ["add_bookmark", "bookmark_text", "check_bookmark"]

_START, _END, _NAME = f"{W}bookmarkStart", f"{W}bookmarkEnd", f"{W}name"
_VALID = re.compile(r"[^\W\d]\w{0,39}")
_HIDDEN = "_"
_SHOWN = 60


def add_bookmark(edit: DocumentEdit, operation: AddBookmark) -> str:
    """Give a paragraph, or words of it, a name.

    Raises:
        ValidationFailed: There is no such paragraph or words, or the name is taken or none.
    """
    name = operation.name
    if _VALID.fullmatch(name) is None:
        raise ValidationFailed(
            f"{name[:_SHOWN]!r} cannot be the name of a bookmark; it begins with a letter and has "
            "letters, digits and _, up to 40"
        )
    if name.casefold() in {each.casefold() for each in _names(edit)}:
        raise ValidationFailed(f"there is a bookmark {name!r} already; choose another name")
    paragraph = edit.body.paragraph(operation.paragraph)
    root = edit.document.element
    start, end = OxmlElement("w:bookmarkStart"), OxmlElement("w:bookmarkEnd")
    key = str(next_id(root, _START, _END))
    start.set(f"{W}id", key)
    start.set(_NAME, name)
    end.set(f"{W}id", key)
    held = [each for each in paragraph if each.tag != f"{W}pPr"]
    found = RunRange(held[0], held[-1]) if held else None
    if operation.search is not None:
        found = find_range(paragraph, operation.search, edit.warnings.warn)
    if found is None:
        paragraph.extend((start, end))
    else:
        found.first.addprevious(start)
        found.last.addnext(end)
    return f"paragraph {operation.paragraph}: bookmark {name}"


def check_bookmark(edit: DocumentEdit, name: str) -> None:
    """See that there is a bookmark.

    Raises:
        ValidationFailed: There is none; the names near it are told.
    """
    names = _names(edit)
    if name in names:
        return
    shown = [each for each in names if not each.startswith(_HIDDEN)]
    near = get_close_matches(name, shown, 3, 0.5)
    if near:
        hint = f"is it {' or '.join(near)}?"
    else:
        hint = f"there are {listed(shown)}" if shown else "the document has none"
    raise ValidationFailed(f"there is no bookmark {name[:_SHOWN]!r}; {hint}")


def bookmark_text(edit: DocumentEdit, name: str) -> str:
    """Return the text that a bookmark goes over within its paragraph, "" for none."""
    start = next(each for each in edit.document.element.iter(_START) if each.get(_NAME) == name)
    around = next(start.iterancestors(PARAGRAPH), None)
    if around is None:
        return ""
    pieces: list[str] = []
    is_inside = False
    for each in around.iter(_START, _END, f"{W}t"):
        if each is start:
            is_inside = True
        elif each.tag == _END and each.get(f"{W}id") == start.get(f"{W}id"):
            break
        elif each.tag == f"{W}t" and is_inside:
            pieces.append(each.text or "")
    return "".join(pieces)


def _names(edit: DocumentEdit) -> list[str]:
    found: list[etree._Element] = list(edit.document.element.iter(_START))
    return [each.get(_NAME, "") for each in found]
