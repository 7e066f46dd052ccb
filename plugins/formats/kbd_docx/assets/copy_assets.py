"""Copying of assets into another document: styles, lists, headers, pictures, page setup, theme."""

from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import assert_never

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Applied, AssetPick, Source
from kbd.opc import suffix_mismatch
from kbd.opc.rewriter import Rewriting
from kbd_docx.assets.copy_headers import HeaderFooterCopier, chosen_sections
from kbd_docx.assets.copy_pictures import PictureCopier
from kbd_docx.assets.copy_styles import ListCopier, StyleCopier
from kbd_docx.assets.fragments import FragmentImporter
from kbd_docx.assets.target import (
    DocumentPartCopier,
    DocxAssetRef,
    Target,
    missing_asset,
    parse_ref,
)
from kbd_docx.document import FAMILY, SUFFIXES, DocxParts, W, open_document
from kbd_docx.edits.blank import TEMPLATE, strip_template, update_settings
from kbd_docx.edits.reach import reach_after
from kbd_docx.styles.properties import ensure_child, insert_child
from kbd_docx.styles.sections import page_sections
from kbd_docx.styles.stylesheet import DocxStyleSheet, Style, StyleType
from kbd_docx.styles.theme import read_document_theme

__all__ = ["copy_assets"]

_STYLES: dict[str, StyleType] = {
    "paragraph_style": "paragraph",
    "character_style": "character",
    "table_style": "table",
    "numbering_style": "numbering",
}


def copy_assets(
    source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
) -> Applied:
    """Write the document that results from copying assets, all or nothing.

    Args:
        source: The document that has them.
        into: The document that gets them, None for a new one.
        picks: What to copy, in order.
        target: A path that does not exist yet.

    Raises:
        ValidationFailed: There is no such asset or place, or it cannot be copied without a loss.
        FileReadFailed: A file cannot be read.
    """
    wanted = [parse_ref(pick) for pick in picks]
    with ExitStack() as stack:
        package, identity = stack.enter_context(open_document(source))
        theirs = DocxParts(package, identity.part)
        if into is None:
            SUFFIXES.type_of_new(target.name)
        receiving, received = stack.enter_context(open_document(into or TEMPLATE))
        rewriting = Rewriting(receiving)
        if into is None:
            strip_template(rewriting, received.part)
        if into is None or PurePath(into.name).suffix.lower() != target.suffix.lower():
            SUFFIXES.fit(rewriting, received.part, target.name)
        made = Target(rewriting, received.part)
        if into is not None and (warning := suffix_mismatch(received, FAMILY, into.name)):
            made.warnings.warn(warning)
        copier = DocumentPartCopier(package, made)
        if into is None:
            update_settings(made.ensure_part("settings", "settings"))
        # Before all other assets: where both themes are alike, references to the theme are kept.
        if into is None or any(pick.kind == "theme" for pick in wanted):
            _copy_theme(theirs, made, copier)
        copying = _Copying(theirs, made, copier, wanted)
        changed = tuple(copying.copy(pick) for pick in wanted)
        copying.finish()
        rewriting.save(target)
        reach = reach_after(rewriting, made.warnings.external, into)
    return Applied(len(changed), changed, made.warnings.texts, *reach)


def _copy_theme(theirs: DocxParts, made: Target, copier: DocumentPartCopier) -> None:
    """Copy the source's theme in place of the target's; a source without one changes nothing."""
    if not theirs.part("theme"):
        return
    copier.begin_asset("theme:theme")
    part = copier.copy(theirs.part("theme"))
    for relation in made.rewriting.relations(made.main):
        if relation.kind == "theme":
            made.rewriting.unrelate(made.main, relation.id)
            if relation.target in made.rewriting:
                made.drop_part(relation.target)
    made.rewriting.relate(made.main, "theme", part)
    made.replace_one("theme", part)


class _Copying:
    """Copies the assets that one call names."""

    def __init__(
        self, theirs: DocxParts, made: Target, copier: DocumentPartCopier, picks: list[DocxAssetRef]
    ) -> None:
        self._theirs, self._made = theirs, made
        theme = read_document_theme(theirs)
        differing = theme if theme != read_document_theme(made) else None
        self._sheet = DocxStyleSheet(theirs.part_root("styles"), theme)
        # Known before any style is copied: one that comes along with another takes the place of the
        # target's only if it is picked itself.
        requested = [self._source_style(pick) for pick in picks if pick.kind in _STYLES]
        self._lists = ListCopier(theirs, made, copier, differing)
        self._styles = StyleCopier(
            self._sheet, made, self._lists, differing, [(each.type, each.id) for each in requested]
        )
        fragments = FragmentImporter(made, self._styles, self._lists, differing)
        self._headers = HeaderFooterCopier(theirs, made, copier, fragments)
        self._pictures = PictureCopier(theirs, made, copier, fragments, differing)

    def copy(self, pick: DocxAssetRef) -> str:
        """Copy one asset and return in words what changed."""
        match pick.kind:
            case "paragraph_style" | "character_style" | "table_style" | "numbering_style":
                return self._copy_style(pick)
            case "list":
                return self._copy_list(pick)
            case "header" | "footer":
                return self._headers.copy(pick.kind, pick.name, pick.target)
            case "image":
                return self._pictures.copy(pick.name, pick.target)
            case "page_setup":
                return self._copy_page_setup(pick)
            case "theme":
                if not self._theirs.part("theme"):
                    raise ValidationFailed("the source has no theme")
                self._made.warnings.warn(
                    "What follows the fonts and colours of the theme looks different now."
                )
                return "theme:theme: replaced"
            case other:
                assert_never(other)

    def finish(self) -> None:
        """Write the styles, lists and parts that were collected."""
        # First, since it still changes the lists, whose part is written with all others.
        self._styles.finish()
        self._made.finish()

    def _source_style(self, pick: DocxAssetRef) -> Style:
        """Return the source's style that a reference names; raises ValidationFailed."""
        type_ = _STYLES[pick.kind]
        style = self._sheet.find(type_, pick.name)
        if style is None:
            known = [each.id for each in self._sheet if each.type == type_]
            raise missing_asset(pick.kind, pick.name, known)
        if style.is_default and type_ != "paragraph":
            raise ValidationFailed(f"{pick.asset_id} is a style that every document has its own")
        return style

    def _copy_style(self, pick: DocxAssetRef) -> str:
        style = self._source_style(pick)
        words = self._styles.copy(style)
        made = self._styles.copied_id(style.type, style.id)
        if pick.target is None:
            return words
        first, last = pick.target.first, pick.target.last
        if style.type == "table":
            for table in self._made.tables(first, last):
                ensure_child(ensure_child(table, "tblPr"), "tblStyle").set(f"{W}val", made)
        else:
            for paragraph in self._made.paragraphs(first, last):
                ensure_child(ensure_child(paragraph, "pPr"), "pStyle").set(f"{W}val", made)
        return f"{words}; put on {pick.target.kind} {_range_text(first, last)}"

    def _copy_list(self, pick: DocxAssetRef) -> str:
        if pick.target is None:
            raise ValidationFailed(
                f"{pick.asset_id} needs a target: the paragraphs that become its items, as "
                "paragraph:3-7"
            )
        if pick.name not in self._lists.theirs.numbers:
            raise missing_asset("list", pick.name, self._lists.theirs.numbers)
        number = self._lists.copied_id(pick.name)
        if not number:
            raise ValidationFailed(f"{pick.asset_id} is damaged: it does not say how it is built")
        for paragraph in self._made.paragraphs(pick.target.first, pick.target.last):
            entry = ensure_child(ensure_child(paragraph, "pPr"), "numPr")
            if entry.find(f"{W}ilvl") is None:
                ensure_child(entry, "ilvl").set(f"{W}val", "0")
            ensure_child(entry, "numId").set(f"{W}val", number)
        items = _range_text(pick.target.first, pick.target.last)
        return f"{pick.asset_id}: put on paragraph {items}"

    def _copy_page_setup(self, pick: DocxAssetRef) -> str:
        """Copy paper size, orientation and margins from a section of the source into sections."""
        found = page_sections(self._theirs.root(self._theirs.main))
        known = {f"section{index}": each for index, each in enumerate(found)}
        theirs = known.get("".join(pick.name.split()).lower())
        if theirs is None:
            raise missing_asset("page_setup", pick.name, known)
        chosen = chosen_sections(self._made, pick.target)
        sections = page_sections(self._made.body)
        for section in (sections[index] for index in chosen):
            for name in ("pgSz", "pgMar"):
                setting = theirs.find(f"{W}{name}")
                for old in section.findall(f"{W}{name}") if setting is not None else ():
                    section.remove(old)
                if setting is not None:
                    made = etree.SubElement(section, f"{W}{name}")
                    made.attrib.update(setting.attrib)
                    insert_child(section, made)
        where = (
            "all sections"
            if pick.target is None
            else f"section {_range_text(chosen[0], chosen[-1])}"
        )
        return f"{pick.asset_id}: set in {where}"


def _range_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
