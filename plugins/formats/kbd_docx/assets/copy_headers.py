"""Headers and footers copied, and set in the target's sections.

A section without a header of a type has that of the section before; the settings of a section
(titlePg) or of the document (evenAndOddHeaders) say whether its other types are shown. So that no
other section and no other page changes, what they inherited is referenced in them.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import get_args

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.assets.fragments import FragmentImporter
from kbd_docx.assets.target import DocumentPartCopier, DocxPlace, Target, missing_asset
from kbd_docx.document import DocxParts, R, W, is_on
from kbd_docx.edits.texts import apply_variant
from kbd_docx.styles.properties import insert_child
from kbd_docx.styles.sections import (
    HEADER_FOOTER_TYPES,
    HeaderFooter,
    HeaderFooterKind,
    has_title_page,
    header_reference,
    headers_footers,
    page_sections,
)
from kbd_docx.styles.stylesheet import folded

__all__ = ["HeaderFooterCopier", "chosen_sections"]


_EffectiveHeaders = dict[tuple[str, str], str]
"""The relation of the header of a section by its kind and type."""

_ROOTS = {"header": "hdr", "footer": "ftr"}
_MAX_ELEMENTS = 50_000
"""More than fits on any page."""


class HeaderFooterCopier:
    """Copies headers and footers of one document into another.

    Args:
        source: Where they are.
        target: Where they go.
        copier: Copies their pictures.
        fragments: Adapts them to the target.
    """

    def __init__(
        self,
        source: DocxParts,
        target: Target,
        copier: DocumentPartCopier,
        fragments: FragmentImporter,
    ) -> None:
        self._source, self._target = source, target
        self._copier, self._fragments = copier, fragments
        self._empty_parts: dict[HeaderFooterKind, str] = {}

    def copy(self, kind: HeaderFooterKind, name: str, place: DocxPlace | None) -> str:
        """Copy a header or footer, and return in words what changed.

        Args:
            kind: Which of both.
            name: As "section0/default".
            place: In which section it is set; None for all.

        Raises:
            ValidationFailed: There is none of that name, or it cannot be copied.
        """
        source_header = self._find(kind, name)
        part = self._copy_part(source_header)
        body = self._target.body
        chosen = chosen_sections(self._target, place)
        relation = self._target.rewriting.relate(self._target.main, kind, part)
        named = _referenced(body)
        sections = page_sections(body)
        shown = _effective_headers(sections)
        if source_header.type == "even":
            self._show_even(sections)
            # Read again: the sections name headers of even pages now.
            shown = _effective_headers(sections)
        # Before the new one is set: sections without a header show that of the one before them.
        self._name_inherited(sections, shown, chosen, source_header)
        for index in chosen:
            if source_header.type == "first" and not has_title_page(sections[index]):
                self._show_first(sections[index], shown[index])
            _set_reference(sections[index], kind, source_header.type, relation)
        self._drop_unreferenced(named)
        where = "all sections" if place is None else f"section {place.first}"
        return f"{kind}:{source_header.name}: set in {where}"

    def _find(self, kind: HeaderFooterKind, name: str) -> HeaderFooter:
        known = [each for each in headers_footers(self._source) if each.kind == kind]
        for each in known:
            # Listed under its first section only, it is found by any other one that names it.
            if any(folded(f"section{index}/{each.type}") == folded(name)
                   for index in each.sections):  # fmt: skip
                return each
        raise missing_asset(kind, name, [each.name for each in known])

    def _copy_part(self, source_header: HeaderFooter) -> str:
        """Copy a header's part into the target and return its name."""
        what = f"{source_header.kind}:{source_header.name}"
        root = deepcopy(self._source.root(source_header.part))
        if root.tag != f"{W}{_ROOTS[source_header.kind]}":
            raise ValidationFailed(f"{what} is damaged: its part is no {source_header.kind}")
        if sum(1 for _ in root.iter()) > _MAX_ELEMENTS:
            raise ValidationFailed(f"{what} is too large to be copied")
        self._fragments.prepare(root, what)
        self._fragments.number_drawings(root)
        part = self._target.free_part_name(source_header.kind)
        self._target.add_part(part, root, source_header.kind)
        self._copier.begin_asset(what)
        self._copier.relate_named([root], self._source.relations(source_header.part), part)
        apply_variant(root, is_strict=self._target.rewriting.is_strict)
        return part

    def _name_inherited(
        self,
        sections: list[etree._Element],
        shown: list[_EffectiveHeaders],
        chosen: Sequence[int],
        source_header: HeaderFooter,
    ) -> None:
        """Write into the sections after changed ones the headers that they inherited so far."""
        # Only the section right after a changed one: those behind it go on to inherit from it.
        for index in sorted({each + 1 for each in chosen} - set(chosen)):
            if index >= len(sections):
                continue
            section = sections[index]
            is_first = source_header.type == "first"
            is_shown = not is_first or any(map(has_title_page, sections[index:]))
            is_switched_on = is_first and not has_title_page(sections[index - 1])
            for kind in get_args(HeaderFooterKind):
                # Of both kinds: `_show_first` has a changed section name a header and a footer.
                had = shown[index].get((kind, source_header.type), "")
                is_new = kind == source_header.kind or (
                    is_switched_on and (kind, "default") in shown[index - 1]
                )
                if had:
                    _set_reference(section, kind, source_header.type, had)
                elif is_new and is_shown:
                    # It had none so far; without an empty one it would inherit the new one.
                    _set_reference(section, kind, source_header.type, self._empty_part(kind))

    def _show_first(self, section: etree._Element, shown: _EffectiveHeaders) -> None:
        """Turn a section's first-page header on; what it showed so far is referenced explicitly."""
        for kind in get_args(HeaderFooterKind):
            had = shown.get((kind, "default"), "")
            if had:
                # Its first page looked like its other pages, so it names what those show.
                _set_reference(section, kind, "first", had)
            elif shown.get((kind, "first")):
                # One was there that the section did not show; it must not appear with the switch.
                _set_reference(section, kind, "first", self._empty_part(kind))
        # One that is there says off; the new one has no value, which means on.
        for old in section.findall(f"{W}titlePg"):
            section.remove(old)
        insert_child(section, section.makeelement(f"{W}titlePg"))

    def _show_even(self, sections: list[etree._Element]) -> None:
        """Turn even-page headers on; what pages showed so far is referenced explicitly."""
        settings = self._target.ensure_part("settings", "settings")
        switch = settings.find(f"{W}evenAndOddHeaders")
        if is_on(switch):
            return
        if switch is not None:
            settings.remove(switch)
        insert_child(settings, settings.makeelement(f"{W}evenAndOddHeaders"))
        for section in sections:
            for kind in get_args(HeaderFooterKind):
                # A section that names none of its own inherits those of odd and even pages alike;
                # one that names one for even pages only did not show it so far.
                default = header_reference(section, kind, "default")
                unused = header_reference(section, kind, "even")
                if default is not None:
                    _set_reference(section, kind, "even", default.get(f"{R}id", ""))
                elif unused is not None:
                    section.remove(unused)

    def _empty_part(self, kind: HeaderFooterKind) -> str:
        """Return the relation of an empty header, which is made once."""
        if kind in self._empty_parts:
            return self._empty_parts[kind]
        root = etree.Element(f"{W}{_ROOTS[kind]}", nsmap={"w": W.strip("{}")})
        # A header has at least one block (ECMA-376, CT_HdrFtr).
        etree.SubElement(root, f"{W}p")
        part = self._target.free_part_name(kind)
        self._target.add_part(part, root, kind)
        self._empty_parts[kind] = self._target.rewriting.relate(self._target.main, kind, part)
        return self._empty_parts[kind]

    def _drop_unreferenced(self, before: set[str]) -> None:
        """Drop the headers that sections referenced before and none references now."""
        now = _referenced(self._target.body)
        rewriting = self._target.rewriting
        gone = {each.id: each.target for each in rewriting.relations(self._target.main)
                if each.id in before - now and not each.external}  # fmt: skip
        for relation_id, part in gone.items():
            rewriting.unrelate(self._target.main, relation_id)
            # Two relations may lead to one part.
            if all(each.target != part for each in rewriting.relations(self._target.main)):
                self._target.drop_part(part)


def chosen_sections(target: Target, place: DocxPlace | None) -> list[int]:
    """Return the indices of the sections of a place, all for None; a body without gets one.

    Raises:
        ValidationFailed: There is no such section.
    """
    count = len(page_sections(target.body))
    if not count:
        target.body.append(target.body.makeelement(f"{W}sectPr"))
        count = 1
    if place is None:
        return list(range(count))
    if place.last >= count:
        raise ValidationFailed(
            f"the target has no section {place.last} of pages; it has {count:,}, counted from 0"
        )
    return list(range(place.first, place.last + 1))


def _set_reference(
    section: etree._Element, kind: HeaderFooterKind, type_: str, relation: str
) -> None:
    """Set a section's reference to a header."""
    found = header_reference(section, kind, type_)
    if found is None:
        found = section.makeelement(f"{W}{kind}Reference")
        found.set(f"{W}type", type_)
        insert_child(section, found)
    found.set(f"{R}id", relation)


def _effective_headers(sections: list[etree._Element]) -> list[_EffectiveHeaders]:
    """Return, for each section, the relations of the headers that it has or inherits."""
    found: list[_EffectiveHeaders] = []
    last: _EffectiveHeaders = {}
    for section in sections:
        # A copy, since the list holds what the section before has.
        last = dict(last)
        for kind in get_args(HeaderFooterKind):
            for type_ in HEADER_FOOTER_TYPES:
                own = header_reference(section, kind, type_)
                if own is not None:
                    last[kind, type_] = own.get(f"{R}id", "")
        found.append(last)
    return found


def _referenced(body: etree._Element) -> set[str]:
    """Return the relations that sections name."""
    kinds = (f"{W}headerReference", f"{W}footerReference")
    return {each.get(f"{R}id", "") for each in body.iter(*kinds)}
