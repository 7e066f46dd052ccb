"""What goes with a piece of a document beside its text, in words."""

from collections import Counter
from collections.abc import Iterable, Iterator

from lxml import etree

from kbd.office.operations import listed
from kbd_docx.blocks import W
from kbd_docx.edits.body import SECTION
from kbd_docx.edits.flow import MC

__all__ = ["losses"]

_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/"
_VML = "{urn:schemas-microsoft-com:vml}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
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
    f"{W}ins": "tracked change",
    f"{W}del": "tracked change",
    f"{W}moveFrom": "tracked change",
    f"{W}moveTo": "tracked change",
    f"{_MATH}oMath": "equation",
    f"{_DRAWN}chart}}chart": "chart",
    f"{_DRAWN}picture}}pic": "image",
    f"{_VML}imagedata": "image",
    f"{_DRAWN}diagram}}relIds": "diagram",
    f"{W}txbxContent": "text box",
}
"""What is told by its number, by the element that it is."""


def losses(elements: Iterable[etree._Element]) -> str:
    """Tell what stands in elements beside text ("2 tables, 1 image"), "" if nothing does."""
    found: Counter[str] = Counter()
    bookmarks: list[str] = []
    for element in elements:
        for each in _shown(element):
            tag = each.tag
            if tag == f"{W}fldChar" and each.get(f"{W}fldCharType") == "begin":
                found["field"] += 1
            elif tag == f"{W}bookmarkStart" and each.get(f"{W}name") != _HIDDEN:
                bookmarks.append(each.get(f"{W}name", ""))
            elif tag in _KINDS and not _is_mark_of_change(each):
                found[_KINDS[tag]] += 1
    told = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in found.items()]
    if bookmarks:
        told.append(f"bookmark{'' if len(bookmarks) == 1 else 's'} {listed(bookmarks)}")
    return ", ".join(told)


def _shown(element: etree._Element) -> Iterator[etree._Element]:
    """Yield elements, of alternatives that programs choose from only the first."""
    has_alternatives = next(element.iter(f"{MC}Fallback"), None) is not None
    for each in element.iter(*_KINDS, f"{W}fldChar", f"{W}bookmarkStart"):
        if not has_alternatives or next(each.iterancestors(f"{MC}Fallback"), None) is None:
            yield each


def _is_mark_of_change(element: etree._Element) -> bool:
    """Tell whether an element only says that a paragraph's or a row's end was changed."""
    parent = element.getparent()
    return parent is not None and parent.tag in (f"{W}rPr", f"{W}trPr", f"{W}sectPrChange")
