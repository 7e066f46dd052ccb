"""Headers and footers taken along, and set in the target's sections.

A section without a header of a type has that of the section before; the settings of a section
(titlePg) or of the document (evenAndOddHeaders) say whether its other types are shown. So that no
other section and no other page comes to look different, what they inherited is named in them.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import get_args

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.assets.asset_refs import DocxPlace, missing
from kbd_docx.assets.excerpts import Excerpts
from kbd_docx.assets.part_copier import DocumentPartCopier
from kbd_docx.assets.target import Target
from kbd_docx.blocks import W
from kbd_docx.edits.variants import respell
from kbd_docx.styles.document import DocxParts, R
from kbd_docx.styles.element_order import inserted
from kbd_docx.styles.sections import (
    BANNER_TYPES,
    Banner,
    BannerKind,
    banners,
    is_on,
    page_sections,
    reference,
    section_titles,
)
from kbd_docx.styles.stylesheet import folded

__all__ = ["BannerCopier", "chosen_sections"]

_Shown = dict[tuple[str, str], str]
"""The relation of the header of a section by its kind and type."""

_ROOTS = {"header": "hdr", "footer": "ftr"}
_MOST_ELEMENTS = 50_000
"""More than fits on any page."""


class BannerCopier:
    """Copies headers and footers of one document into another.

    Args:
        source: Where they are.
        target: Where they go.
        copier: What takes their pictures along.
        excerpts: What makes them ready.
    """

    def __init__(
        self, source: DocxParts, target: Target, copier: DocumentPartCopier, excerpts: Excerpts
    ) -> None:
        self._source, self._target = source, target
        self._copier, self._excerpts = copier, excerpts
        self._empties: dict[BannerKind, str] = {}

    def copy(self, kind: BannerKind, name: str, place: DocxPlace | None) -> str:
        """Copy a header or footer, and return in words what changed.

        Args:
            kind: Which of both.
            name: As "section0/default".
            place: In which section it is set; None for all.

        Raises:
            ValidationFailed: There is none of that name, or it cannot be copied.
        """
        banner = self._find(kind, name)
        part = self._carried(banner)
        body = self._target.body
        chosen = chosen_sections(self._target, place)
        relation = self._target.rewriting.relate(self._target.main, kind, part)
        named = _named(body)
        sections = page_sections(body)
        shown = _shown(sections)
        if banner.type == "even":
            self._show_even(sections)
            shown = _shown(sections)
        self._settle(sections, shown, chosen, banner)
        for index in chosen:
            if banner.type == "first" and not section_titles(sections[index]):
                self._show_first(sections[index], shown[index])
            _name(sections[index], kind, banner.type, relation)
        self._drop_unnamed(named)
        where = "all sections" if place is None else f"section {place.first}"
        return f"{kind}:{banner.name}: set in {where}"

    def _find(self, kind: BannerKind, name: str) -> Banner:
        known = [each for each in banners(self._source) if each.kind == kind]
        for each in known:
            if any(folded(f"section{index}/{each.type}") == folded(name)
                   for index in each.sections):  # fmt: skip
                return each
        raise missing(kind, name, [each.name for each in known])

    def _carried(self, banner: Banner) -> str:
        """Put a copy of a header's part into the target and return its name."""
        what = f"{banner.kind}:{banner.name}"
        root = deepcopy(self._source.root(banner.part))
        if root.tag != f"{W}{_ROOTS[banner.kind]}":
            raise ValidationFailed(f"{what} is damaged: its part is no {banner.kind}.")
        if sum(1 for _ in root.iter()) > _MOST_ELEMENTS:
            raise ValidationFailed(f"{what} is too large to be copied.")
        self._excerpts.prepare(root, what)
        self._excerpts.number_drawings(root)
        part = self._target.free_part(banner.kind)
        self._target.added(part, root, banner.kind)
        self._copier.begin_asset(what)
        self._copier.relate_named([root], self._source.relations(banner.part), part)
        respell(root, is_strict=self._target.rewriting.is_strict)
        return part

    def _settle(
        self,
        sections: list[etree._Element],
        shown: list[_Shown],
        chosen: Sequence[int],
        banner: Banner,
    ) -> None:
        """Have the sections after those that change name what they inherited by now."""
        for index in sorted({each + 1 for each in chosen} - set(chosen)):
            if index >= len(sections):
                continue
            section = sections[index]
            for kind in get_args(BannerKind):
                had = shown[index].get((kind, banner.type), "")
                is_shown = banner.type != "first" or section_titles(section)
                if had:
                    _name(section, kind, banner.type, had)
                elif kind == banner.kind and is_shown:
                    _name(section, kind, banner.type, self._empty(kind))

    def _show_first(self, section: etree._Element, shown: _Shown) -> None:
        """Have a section's first page differ; what it showed by now it shows by name."""
        for kind in get_args(BannerKind):
            had = shown.get((kind, "default"), "")
            if had:
                _name(section, kind, "first", had)
            elif shown.get((kind, "first")):
                _name(section, kind, "first", self._empty(kind))
        for old in section.findall(f"{W}titlePg"):
            section.remove(old)
        inserted(section, section.makeelement(f"{W}titlePg"))

    def _show_even(self, sections: list[etree._Element]) -> None:
        """Have even pages differ; what they showed by now they show by name."""
        settings = self._target.ensured("settings", "settings")
        switch = settings.find(f"{W}evenAndOddHeaders")
        if is_on(switch):
            return
        if switch is not None:
            settings.remove(switch)
        inserted(settings, settings.makeelement(f"{W}evenAndOddHeaders"))
        for section in sections:
            for kind in get_args(BannerKind):
                default = reference(section, kind, "default")
                if default is not None:
                    _name(section, kind, "even", default.get(f"{R}id", ""))

    def _empty(self, kind: BannerKind) -> str:
        """Return the relation of a header with nothing in it, which is made once."""
        if kind in self._empties:
            return self._empties[kind]
        root = etree.Element(f"{W}{_ROOTS[kind]}", nsmap={"w": W.strip("{}")})
        etree.SubElement(root, f"{W}p")
        part = self._target.free_part(kind)
        self._target.added(part, root, kind)
        self._empties[kind] = self._target.rewriting.relate(self._target.main, kind, part)
        return self._empties[kind]

    def _drop_unnamed(self, before: set[str]) -> None:
        """Take away the headers that sections named before and none names now."""
        now = _named(self._target.body)
        rewriting = self._target.rewriting
        gone = {each.id: each.target for each in rewriting.relations(self._target.main)
                if each.id in before - now and not each.external}  # fmt: skip
        for relation_id, part in gone.items():
            rewriting.unrelate(self._target.main, relation_id)
            if all(each.target != part for each in rewriting.relations(self._target.main)):
                self._target.dropped(part)


def chosen_sections(target: Target, place: DocxPlace | None) -> list[int]:
    """Return the sections that a place means, all for None; a body without gets one.

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
            f"The target has no section {place.last} of pages; it has {count:,}, counted from 0."
        )
    return list(range(place.first, place.last + 1))


def _name(section: etree._Element, kind: BannerKind, type_: str, relation: str) -> None:
    """Have a section name a header by its relation."""
    found = reference(section, kind, type_)
    if found is None:
        found = section.makeelement(f"{W}{kind}Reference")
        found.set(f"{W}type", type_)
        inserted(section, found)
    found.set(f"{R}id", relation)


def _shown(sections: list[etree._Element]) -> list[_Shown]:
    """Return, for each section, the relations of the headers that it has or inherits."""
    found: list[_Shown] = []
    last: _Shown = {}
    for section in sections:
        last = dict(last)
        for kind in get_args(BannerKind):
            for type_ in BANNER_TYPES:
                own = reference(section, kind, type_)
                if own is not None:
                    last[kind, type_] = own.get(f"{R}id", "")
        found.append(last)
    return found


def _named(body: etree._Element) -> set[str]:
    """Return the relations that sections name."""
    kinds = (f"{W}headerReference", f"{W}footerReference")
    return {each.get(f"{R}id", "") for each in body.iter(*kinds)}
