"""The sections of a document's pages, and the headers and footers that they have.

A section is what one `sectPr` describes; sections of pages have nothing to do with the sections
under headings. One without a header of a type has that of the section before.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec
from lxml import etree

from kbd_docx.document import PARAGRAPH, DocxParts, R, W, is_on

__all__ = [
    "HEADER_FOOTER_TYPES",
    "HeaderFooter",
    "HeaderFooterKind",
    "has_title_page",
    "header_reference",
    "header_text",
    "headers_footers",
    "page_sections",
]

HeaderFooterKind = Literal["header", "footer"]

HEADER_FOOTER_TYPES = ("default", "first", "even")
_BREAKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n"}


class HeaderFooter(msgspec.Struct, frozen=True):
    """A header or footer.

    Args:
        kind: Which of both.
        type: "default", "first" (page) or "even" (pages).
        sections: The sections that name it, from 0.
        part: Its part.
        is_shown: Whether the settings have it shown at all.
    """

    kind: HeaderFooterKind
    type: str
    sections: tuple[int, ...]
    part: str
    is_shown: bool

    @property
    def name(self) -> str:
        """Its name among the assets, after its kind."""
        return f"section{self.sections[0]}/{self.type}"


def page_sections(body: etree._Element) -> list[etree._Element]:
    """Return the sections of a document's pages, in order: the elements that describe them."""
    # A tracked change holds a former description.
    owners = (f"{W}pPr", f"{W}body")
    found = []
    for section in body.iter(f"{W}sectPr"):
        parent = section.getparent()
        if parent is not None and parent.tag in owners:
            found.append(section)
    return found


def has_title_page(section: etree._Element) -> bool:
    """Tell whether a section's first page has a header of its own."""
    return is_on(section.find(f"{W}titlePg"))


def header_reference(
    section: etree._Element, kind: HeaderFooterKind, type_: str
) -> etree._Element | None:
    """Return the element by which a section names a header or footer of a type, if it does."""
    for each in section.iterchildren(f"{W}{kind}Reference"):
        if each.get(f"{W}type", "default") == type_:
            return each
    return None


def headers_footers(document: DocxParts) -> Iterator[HeaderFooter]:
    """Yield the headers and footers that sections name, each part once a type."""
    sections = page_sections(document.root(document.main))
    relations = document.relations(document.main)
    settings = document.part_root("settings")
    evens = settings is not None and is_on(settings.find(f"{W}evenAndOddHeaders"))
    users: dict[tuple[HeaderFooterKind, str, str], list[int]] = {}
    shown: set[tuple[HeaderFooterKind, str, str]] = set()
    kinds: tuple[HeaderFooterKind, ...] = ("header", "footer")
    for index, section in enumerate(sections):
        for kind in kinds:
            for type_ in HEADER_FOOTER_TYPES:
                found = header_reference(section, kind, type_)
                relation = relations.get(found.get(f"{R}id", "")) if found is not None else None
                if relation is None or relation.external or relation.target not in document.parts:
                    continue
                key = (kind, type_, relation.target)
                users.setdefault(key, []).append(index)
                if type_ == "default" or (evens if type_ == "even" else has_title_page(section)):
                    shown.add(key)
    for (kind, type_, part), indices in users.items():
        yield HeaderFooter(kind, type_, tuple(indices), part, (kind, type_, part) in shown)


def header_text(element: etree._Element) -> str:
    """Return the text of an element, its paragraphs as lines."""
    pieces: list[str] = []
    for each in element.iter(PARAGRAPH, f"{W}t", *_BREAKS):
        if each.tag == PARAGRAPH:
            pieces.append("\n")
        elif _is_in_run(each):
            # Tab stops have the name of tabs.
            pieces.append(_BREAKS.get(str(each.tag)) or each.text or "")
    return "".join(pieces).strip("\n")


def _is_in_run(element: etree._Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag == f"{W}r"
