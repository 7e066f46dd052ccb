"""Sections of pages: paper, margins, columns, page numbers, headers and footers.

ECMA-376, part 1, 17.6 (sections) and 17.10 (headers). A header that is set gets a part of its own,
so that sections which share the one before keep it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy

from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.part import XmlPart
from docx.oxml.parser import OxmlElement, parse_xml
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import PARAGRAPH, SECTION, VAL, W, number
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.document_settings import settings_root
from kbd_docx.edits.fields import field_runs
from kbd_docx.edits.removal import describe_losses
from kbd_docx.edits.texts import apply_variant, clean_text, text_nodes
from kbd_docx.operations import InsertSectionBreak, SetSection
from kbd_docx.revisions.tracker import tracking_of
from kbd_docx.styles.header_references import (
    HeaderReferences,
    effective_headers,
    referenced_headers,
    set_reference,
)
from kbd_docx.styles.properties import ensure_child, insert_child
from kbd_docx.styles.sections import HeaderFooterKind, has_title_page, page_sections
from kbd_docx.styles.stylesheet import value_of

__all__ = ["insert_section_break", "set_section"]

_PAPERS: Mapping[str, tuple[int, int]] = {
    "a3": (16838, 23811), "a4": (11906, 16838), "a5": (8391, 11906), "b5": (9979, 14175),
    "letter": (12240, 15840), "legal": (12240, 20160), "executive": (10440, 15120),
    "tabloid": (15840, 24480),
}  # fmt: skip
"""Widths and heights in twips, as programs write them."""

_INCHES = re.compile(r"\s*(\d{1,2}(?:\.\d{1,4})?)\s*(?:x|×|\*|by)\s*(\d{1,2}(?:\.\d{1,4})?)\s*")
_TWIPS = 1440
_MAX_SIDE = 22
_LETTER = _PAPERS["letter"]
_MARGINS = {"top": 1440, "bottom": 1440, "left": 1440, "right": 1440, "header": 720, "footer": 720,
            "gutter": 0}  # fmt: skip
_ROOTS: Mapping[HeaderFooterKind, str] = {"header": "hdr", "footer": "ftr"}
_RELATIONS: Mapping[HeaderFooterKind, tuple[str, str]] = {
    "header": (RT.HEADER, CT.WML_HEADER),
    "footer": (RT.FOOTER, CT.WML_FOOTER),
}
_FIELDS = {"page": "PAGE", "pages": "NUMPAGES", "date": "DATE"}
_PIECES = re.compile(r"(\{(?:page|pages|date)\})")
_BREAKS = {"next_page": "nextPage", "continuous": "continuous", "even_page": "evenPage",
           "odd_page": "oddPage"}  # fmt: skip
_ASIDE = ("section", "track_changes")
"""What an operation says beside how pages are set up."""

_MIN_TEXT_TWIPS = 720
_MAX_TWIPS = 31_680


def set_section(edit: DocumentEdit, operation: SetSection) -> str:
    """Set up the pages of one section, or of all.

    Raises:
        ValidationFailed: There is no such section or paper, or no room for text is left.
    """
    if tracking_of(operation) is not None and (given := list(_given(operation))):
        raise ValidationFailed(
            f"which {given[0][0]} a section shows has no mark of a change: set it without "
            "track_changes, or change the text of the one that is there by replace_text"
        )
    sections = page_sections(edit.body.element)
    if not sections:
        sections = [etree.SubElement(edit.body.element, SECTION)]
    if operation.section is not None and operation.section >= len(sections):
        raise ValidationFailed(
            f"there is no section {operation.section} of pages; there are {len(sections)}, counted "
            "from 0"
        )
    chosen = range(len(sections)) if operation.section is None else [operation.section]
    for index in chosen:
        _set_paper(sections[index], operation)
        _set_margins(sections[index], operation)
        _set_columns(sections[index], operation)
        _set_numbers(sections[index], operation)
        _check_room(sections[index])
        apply_variant(sections[index], is_strict=edit.is_strict)
    _HeaderEdit(edit, sections).write(operation, chosen)
    edit.body.count()
    edit.stories.forget_all()
    where = "all sections" if operation.section is None else f"section {operation.section}"
    told = [each for each in operation.__struct_fields__
            if each not in _ASIDE and getattr(operation, each) is not None]  # fmt: skip
    if not told:
        raise ValidationFailed("set_section needs something to set")
    return f"{where}: {', '.join(told)}"


def insert_section_break(edit: DocumentEdit, operation: InsertSectionBreak) -> str:
    """End a section after a paragraph.

    Raises:
        ValidationFailed: There is no such paragraph, or a section ends there already.
    """
    paragraph = edit.body.paragraph(operation.after)
    settings = ensure_child(paragraph, "pPr")
    if settings.find(SECTION) is not None:
        raise ValidationFailed(f"a section ends after paragraph {operation.after} already")
    sections = page_sections(edit.body.element)
    if not sections or edit.body.section is None:
        sections.append(etree.SubElement(edit.body.element, SECTION))
    following = _section_of(edit, paragraph, sections)
    first = deepcopy(following)
    for change in first.findall(f"{W}sectPrChange"):
        first.remove(change)
    insert_child(settings, first)
    # How a section begins is said by itself (17.6.22).
    kind = ensure_child(following, "type")
    kind.set(VAL, _BREAKS[operation.kind])
    # Its first page is not that of the section, which goes on, nor do its numbers begin anew.
    for each in following.findall(f"{W}titlePg"):
        following.remove(each)
    numbers = following.find(f"{W}pgNumType")
    if numbers is not None:
        numbers.attrib.pop(f"{W}start", "")
    edit.body.count()
    index = page_sections(edit.body.element).index(first)
    return f"paragraph {operation.after}: end of section {index}"


def _section_of(
    edit: DocumentEdit, paragraph: etree._Element, sections: Sequence[etree._Element]
) -> etree._Element:
    """Return the settings of the section that a paragraph is in."""
    is_behind = False
    for each in edit.body.element.iter(PARAGRAPH, SECTION):
        if each is paragraph:
            is_behind = True
        elif is_behind and each in sections:
            return each
    return sections[-1]


def _set_paper(section: etree._Element, operation: SetSection) -> None:
    if operation.page_size is None and operation.orientation is None:
        return
    paper = ensure_child(section, "pgSz")
    width, height = (
        number(paper.get(f"{W}{name}"), usual, 1, _MAX_TWIPS)
        for name, usual in zip(("w", "h"), _LETTER, strict=True)
    )
    is_wide = width > height
    if operation.page_size is not None:
        width, height = _paper(operation.page_size)
        is_wide = (is_wide and operation.page_size.strip().casefold() in _PAPERS) or width > height
        # The number that a printer knows the paper by is of the old one.
        paper.attrib.pop(f"{W}code", "")
    if operation.orientation is not None:
        is_wide = operation.orientation == "landscape"
    short, long = sorted((width, height))
    width, height = (long, short) if is_wide else (short, long)
    paper.set(f"{W}w", str(width))
    paper.set(f"{W}h", str(height))
    if is_wide:
        paper.set(f"{W}orient", "landscape")
    else:
        paper.attrib.pop(f"{W}orient", "")


def _paper(name: str) -> tuple[int, int]:
    if found := _PAPERS.get(name.strip().casefold()):
        return found
    inches = _INCHES.fullmatch(name)
    if inches is None or not all(1 <= float(each) <= _MAX_SIDE for each in inches.groups()):
        names = ", ".join(each.capitalize() for each in _PAPERS)
        raise ValidationFailed(
            f'{name[:40]!r} is no paper; there are {names}, or a size in inches such as "8.5x11"'
        )
    return round(float(inches[1]) * _TWIPS), round(float(inches[2]) * _TWIPS)


def _set_margins(section: etree._Element, operation: SetSection) -> None:
    if operation.margins is None:
        return
    margins = ensure_child(section, "pgMar")
    for name, usual in _MARGINS.items():
        value = getattr(operation.margins, name)
        if value is not None:
            margins.set(f"{W}{name}", str(round(value * _TWIPS)))
        elif margins.get(f"{W}{name}") is None:
            # All are required (CT_PageMar).
            margins.set(f"{W}{name}", str(usual))


def _set_columns(section: etree._Element, operation: SetSection) -> None:
    if operation.columns is None and operation.column_spacing is None:
        return
    columns = ensure_child(section, "cols")
    if operation.columns is not None:
        columns.set(f"{W}num", str(operation.columns))
        columns.attrib.pop(f"{W}equalWidth", "")
        for each in columns.findall(f"{W}col"):
            columns.remove(each)
    if operation.column_spacing is not None:
        columns.set(f"{W}space", str(round(operation.column_spacing * _TWIPS)))


def _set_numbers(section: etree._Element, operation: SetSection) -> None:
    for name, value in (
        ("start", operation.page_number_start),
        ("fmt", operation.page_number_format),
    ):
        if value is not None:
            ensure_child(section, "pgNumType").set(f"{W}{name}", str(value))


def _check_room(section: etree._Element) -> None:
    if _text_width(section) < _MIN_TEXT_TWIPS:
        raise ValidationFailed("these margins leave no room for text on the page")


def _text_width(section: etree._Element) -> int:
    paper, margins = section.find(f"{W}pgSz"), section.find(f"{W}pgMar")
    width = _LETTER[0] if paper is None else number(paper.get(f"{W}w"), _LETTER[0], 1, _MAX_TWIPS)
    if margins is None:
        return width - 2 * _TWIPS
    sides = (number(margins.get(f"{W}{name}"), _TWIPS, 0, _MAX_TWIPS) for name in ("left", "right"))
    return width - sum(sides)


class _HeaderEdit:
    """The headers and footers of a document while those of some sections are set."""

    def __init__(self, edit: DocumentEdit, sections: Sequence[etree._Element]) -> None:
        self._edit, self._sections = edit, sections
        self._empty: dict[HeaderFooterKind, str] = {}
        self._references = HeaderReferences(sections, self._empty_part)

    def write(self, operation: SetSection, chosen: Sequence[int]) -> None:
        """Set what an operation gives in sections; headers that nothing shows any more go."""
        named = referenced_headers(self._edit.body.element)
        for kind, type_, text in _given(operation):
            if type_ == "even":
                self._references.show_even(settings_root(self._edit))
            shown = effective_headers(self._sections)
            self._references.name_inherited(chosen, {kind}, type_, shown)
            relation = self._new_part(kind, text, operation, chosen)
            for index in chosen:
                section = self._sections[index]
                if type_ == "first" and not has_title_page(section):
                    self._references.show_first(section, shown[index])
                set_reference(section, kind, type_, relation)
        self._drop_unreferenced(named)

    def _new_part(
        self,
        kind: HeaderFooterKind,
        text: str,
        operation: SetSection,
        chosen: Sequence[int],
    ) -> str:
        align = operation.header_alignment if kind == "header" else operation.footer_alignment
        width = _text_width(self._sections[chosen[0]])
        root = self._root(kind)
        for line in clean_text(text, self._edit.warnings.warn).split("\n"):
            root.append(self._paragraph(kind, line, align, width))
        return self._add(kind, root)

    def _paragraph(
        self, kind: HeaderFooterKind, line: str, align: str | None, width: int
    ) -> etree._Element:
        made: etree._Element = OxmlElement("w:p")
        settings = ensure_child(made, "pPr")
        style = self._edit.styles.known("paragraph", kind)
        if style:
            ensure_child(settings, "pStyle").set(VAL, style)
        if "\t" in line:
            stops = dict.fromkeys(self._style_stops(style), "clear")
            # Stops of the style count on, unless they are cleared (17.3.1.38).
            stops |= {width // 2: "center", width: "right"}
            tabs = ensure_child(settings, "tabs")
            for place, side in sorted(stops.items()):
                etree.SubElement(tabs, f"{W}tab", {VAL: side, f"{W}pos": str(place)})
        if align is not None:
            ensure_child(settings, "jc").set(VAL, align)
        for piece in _PIECES.split(line):
            if _PIECES.fullmatch(piece):
                made.extend(field_runs(f" {_FIELDS[piece[1:-1]]} ", "1" if "page" in piece else ""))
            elif piece:
                run = etree.SubElement(made, f"{W}r")
                run.extend(text_nodes(piece))
        if not len(settings):
            made.remove(settings)
        return made

    def _style_stops(self, style: str) -> set[int]:
        """Return the places of the tab stops that a style has, with those that it is based on."""
        root = self._edit.parts.root(RT.STYLES)
        named = {
            each.get(f"{W}styleId", ""): each
            for each in (root.iterchildren(f"{W}style") if root is not None else ())
        }
        found: set[int] = set()
        # Each style once, for bases may lead in a circle.
        while (element := named.pop(style, None)) is not None:
            for tab in element.iterfind(f"{W}pPr/{W}tabs/{W}tab"):
                found.add(number(tab.get(f"{W}pos"), 0, -_MAX_TWIPS, _MAX_TWIPS))
            style = value_of(element, "basedOn")
        return found

    def _empty_part(self, kind: HeaderFooterKind) -> str:
        if kind not in self._empty:
            root = self._root(kind)
            # A header has at least one block (ECMA-376, CT_HdrFtr).
            etree.SubElement(root, f"{W}p")
            self._empty[kind] = self._add(kind, root)
        return self._empty[kind]

    def _root(self, kind: HeaderFooterKind) -> etree._Element:
        root: etree._Element = parse_xml(f'<w:{_ROOTS[kind]} xmlns:w="{W.strip("{}")}"/>')
        return root

    def _add(self, kind: HeaderFooterKind, root: etree._Element) -> str:
        apply_variant(root, is_strict=self._edit.is_strict)
        relation, content_type = _RELATIONS[kind]
        return self._edit.parts.add(relation, content_type, kind, root)

    def _drop_unreferenced(self, before: set[str]) -> None:
        relations = self._edit.document.part.rels
        for key in sorted(before - referenced_headers(self._edit.body.element)):
            if key not in relations:
                continue
            part = relations[key].target_part
            if isinstance(part, XmlPart) and (lost := describe_losses(part.element)):
                self._edit.warnings.warn(f"With an old header or footer went {lost}.")
            del relations[key]


def _given(operation: SetSection) -> Iterator[tuple[HeaderFooterKind, str, str]]:
    """Yield the headers and footers that an operation gives: kind, type and text."""
    texts: tuple[tuple[HeaderFooterKind, str, str | None], ...] = (
        ("header", "default", operation.header),
        ("footer", "default", operation.footer),
        ("header", "first", operation.first_header),
        ("footer", "first", operation.first_footer),
        ("header", "even", operation.even_header),
        ("footer", "even", operation.even_footer),
    )
    yield from ((kind, type_, text) for kind, type_, text in texts if text is not None)
