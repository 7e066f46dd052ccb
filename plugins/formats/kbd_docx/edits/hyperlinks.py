"""Links: words that lead to an address or a bookmark (ECMA-376, part 1, 17.16.22)."""

import re

from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml.parser import OxmlElement
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import VAL, R, W
from kbd_docx.edits.bookmarks import check_bookmark
from kbd_docx.edits.builtin_styles import ensure_style
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.ranges import RunRange, find_range
from kbd_docx.edits.texts import clean_text, text_nodes
from kbd_docx.operations import AddHyperlink
from kbd_docx.styles.properties import ensure_child

__all__ = ["add_hyperlink"]

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20}):[^\s\x00-\x1f\"<>]+")
_REFUSED = frozenset(("javascript", "vbscript", "data"))
"""Schemes that run something."""

_SHOWN = 80
_LINK, _RUN = f"{W}hyperlink", f"{W}r"


def add_hyperlink(edit: DocumentEdit, operation: AddHyperlink) -> str:
    """Make words of a paragraph a link, or add one at its end.

    Raises:
        ValidationFailed: There is no such paragraph, words or bookmark, or it is no address.
    """
    if (operation.search is None) == (operation.text is None):
        raise ValidationFailed("a link is made of words that are there (search) or new ones (text)")
    if (operation.address is None) == (operation.bookmark is None):
        raise ValidationFailed("a link leads to an address or to a bookmark; give one of them")
    paragraph = edit.body.paragraph(operation.paragraph)
    link = OxmlElement("w:hyperlink")
    if operation.bookmark is not None:
        check_bookmark(edit, operation.bookmark)
        link.set(f"{W}anchor", operation.bookmark)
    else:
        address = _checked(operation.address or "")
        link.set(f"{R}id", edit.document.part.relate_to(address, RT.HYPERLINK, is_external=True))
    link.set(f"{W}history", "1")
    if operation.search is not None:
        _wrap(find_range(paragraph, operation.search, edit.warnings.warn), link)
    else:
        run = etree.SubElement(link, _RUN)
        run.extend(text_nodes(clean_text(operation.text or "", edit.warnings.warn)))
        paragraph.append(link)
    style = ensure_style(edit.styles, "Hyperlink", edit.warnings.warn)
    for run in link.iter(_RUN):
        look = ensure_child(run, "rPr")
        if look.find(f"{W}rStyle") is None:
            ensure_child(look, "rStyle").set(VAL, style)
    goal = operation.address or operation.bookmark
    return f"paragraph {operation.paragraph}: link to {goal}"


def _checked(address: str) -> str:
    found = _ADDRESS.fullmatch(address.strip())
    if found is None:
        raise ValidationFailed(
            f"{address[:_SHOWN]!r} is no address; it begins with https://, mailto: or the like and "
            "has no blanks"
        )
    if found[1].lower() in _REFUSED:
        raise ValidationFailed(f"an address of {found[1].lower()}: would run something")
    return address.strip()


def _wrap(found: RunRange, link: etree._Element) -> None:
    """Put a link around runs.

    Raises:
        ValidationFailed: They are not beside each other, or are in a link already.
    """
    parent = found.first.getparent()
    if (
        parent is None
        or parent is not found.last.getparent()
        or any(each.tag == _LINK for each in (parent, *parent.iterancestors(_LINK)))
    ):
        raise ValidationFailed(
            "these words are in a link already, or in part in something else; choose others"
        )
    children = list(parent)
    inside = children[children.index(found.first) : children.index(found.last) + 1]
    if any(next(each.iter(f"{W}fldChar", _LINK), None) is not None for each in inside):
        raise ValidationFailed("there is a field or a link among these words; choose others")
    found.first.addprevious(link)
    link.extend(inside)
