"""Headers and footers copied, and set in the target's sections; see `styles.header_references`."""

from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.assets.fragments import FragmentImporter
from kbd_docx.assets.target import DocumentPartCopier, DocxPlace, Target, missing_asset
from kbd_docx.document import DocxParts, W
from kbd_docx.edits.texts import apply_variant
from kbd_docx.styles.header_references import (
    HeaderReferences,
    effective_headers,
    referenced_headers,
    set_reference,
)
from kbd_docx.styles.sections import (
    HeaderFooter,
    HeaderFooterKind,
    has_title_page,
    headers_footers,
    page_sections,
)
from kbd_docx.styles.stylesheet import folded

__all__ = ["HeaderFooterCopier", "chosen_sections"]


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
        named = referenced_headers(body)
        sections = page_sections(body)
        references = HeaderReferences(sections, self._empty_part)
        shown = effective_headers(sections)
        if source_header.type == "even":
            references.show_even(self._target.ensure_part("settings", "settings"))
            # Read again: the sections name headers of even pages now.
            shown = effective_headers(sections)
        # Before the new one is set: sections without a header show that of the one before them.
        references.name_inherited(chosen, {kind}, source_header.type, shown)
        for index in chosen:
            if source_header.type == "first" and not has_title_page(sections[index]):
                references.show_first(sections[index], shown[index])
            set_reference(sections[index], kind, source_header.type, relation)
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
        now = referenced_headers(self._target.body)
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
