"""What `copy_assets` does: looks, headers and pictures carried into another document."""

from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import assert_never

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Applied, AssetPick, Source
from kbd.opc import suffix_mismatch
from kbd.opc.rewriter import Rewriting
from kbd_docx.assets.asset_refs import DocxAssetRef, missing, parse_ref
from kbd_docx.assets.copy_banners import BannerCopier, chosen_sections
from kbd_docx.assets.copy_lists import ListCopier
from kbd_docx.assets.copy_pictures import PictureCopier
from kbd_docx.assets.copy_styles import StyleCopier
from kbd_docx.assets.excerpts import Excerpts
from kbd_docx.assets.part_copier import DocumentPartCopier
from kbd_docx.assets.target import Target
from kbd_docx.blocks import W
from kbd_docx.edits.blank import TEMPLATE, cleaned, modernized
from kbd_docx.family import FAMILY, SUFFIXES, opened
from kbd_docx.styles.document import DocxParts
from kbd_docx.styles.element_order import inserted, put_child
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
        package, identity = stack.enter_context(opened(source))
        theirs = DocxParts(package, identity.part)
        if into is None:
            SUFFIXES.type_of_new(target.name)
        receiving, received = stack.enter_context(opened(into or TEMPLATE))
        rewriting = Rewriting(receiving)
        if into is None:
            cleaned(rewriting, received.part)
        if into is None or PurePath(into.name).suffix.lower() != target.suffix.lower():
            SUFFIXES.fit(rewriting, received.part, target.name)
        made = Target(rewriting, received.part)
        if into is not None and (told := suffix_mismatch(received, FAMILY, into.name)):
            made.warnings.warn(told)
        copier = DocumentPartCopier(package, made)
        if into is None:
            modernized(made.ensured("settings", "settings"))
        if into is None or any(pick.kind == "theme" for pick in wanted):
            _put_theme(theirs, made, copier)
        copying = _Copying(theirs, made, copier, wanted)
        changed = tuple(copying.copied(pick) for pick in wanted)
        copying.finish()
        rewriting.save(target)
    return Applied(len(changed), changed, made.warnings.texts, made.warnings.external)


def _put_theme(theirs: DocxParts, made: Target, copier: DocumentPartCopier) -> None:
    """Give the target the source's theme in place of its own; a source without has none to give."""
    if not theirs.part("theme"):
        return
    copier.begin_asset("theme:theme")
    part = copier.copy(theirs.part("theme"))
    for relation in made.rewriting.relations(made.main):
        if relation.kind == "theme":
            made.rewriting.unrelate(made.main, relation.id)
            if relation.target in made.rewriting:
                made.dropped(relation.target)
    made.rewriting.relate(made.main, "theme", part)
    made.replace_one("theme", part)


class _Copying:
    """Copies the picks of one call."""

    def __init__(
        self, theirs: DocxParts, made: Target, copier: DocumentPartCopier, picks: list[DocxAssetRef]
    ) -> None:
        self._theirs, self._made = theirs, made
        theme = read_document_theme(theirs)
        differing = theme if theme != read_document_theme(made) else None
        self._sheet = DocxStyleSheet(theirs.one("styles"), theme)
        picked = [self._style(pick) for pick in picks if pick.kind in _STYLES]
        self._lists = ListCopier(theirs, made, copier, differing)
        self._styles = StyleCopier(
            self._sheet, made, self._lists, differing, [(each.type, each.id) for each in picked]
        )
        excerpts = Excerpts(made, self._styles, self._lists, differing)
        self._banners = BannerCopier(theirs, made, copier, excerpts)
        self._pictures = PictureCopier(theirs, made, copier, excerpts, differing)

    def copied(self, pick: DocxAssetRef) -> str:
        """Copy one pick and return in words what changed."""
        match pick.kind:
            case "paragraph_style" | "character_style" | "table_style" | "numbering_style":
                return self._styled(pick)
            case "list":
                return self._listed(pick)
            case "header" | "footer":
                return self._banners.copy(pick.kind, pick.name, pick.target)
            case "image":
                return self._pictures.copy(pick.name, pick.target)
            case "page_setup":
                return self._page_setup(pick)
            case "theme":
                if not self._theirs.part("theme"):
                    raise ValidationFailed("The source has no theme.")
                self._made.warnings.warn(
                    "What follows the fonts and colours of the theme looks different now."
                )
                return "theme:theme: replaced"
            case other:
                assert_never(other)

    def finish(self) -> None:
        """Write what was gathered."""
        self._styles.finish()
        self._made.finish()

    def _style(self, pick: DocxAssetRef) -> Style:
        """Return the style of the source that is picked; raises ValidationFailed."""
        type_ = _STYLES[pick.kind]
        style = self._sheet.find(type_, pick.name)
        if style is None:
            known = [each.id for each in self._sheet if each.type == type_]
            raise missing(pick.kind, pick.name, known)
        if style.is_default and type_ != "paragraph":
            raise ValidationFailed(f"{pick.asset_id} is a style that every document has its own.")
        return style

    def _styled(self, pick: DocxAssetRef) -> str:
        style = self._style(pick)
        words = self._styles.picked(style)
        made = self._styles.carried(style.type, style.id)
        if pick.target is None:
            return words
        first, last = pick.target.first, pick.target.last
        if style.type == "table":
            for table in self._made.tables(first, last):
                put_child(put_child(table, "tblPr"), "tblStyle").set(f"{W}val", made)
        else:
            for paragraph in self._made.paragraphs(first, last):
                put_child(put_child(paragraph, "pPr"), "pStyle").set(f"{W}val", made)
        return f"{words}; put on {pick.target.kind} {_span(first, last)}"

    def _listed(self, pick: DocxAssetRef) -> str:
        if pick.target is None:
            raise ValidationFailed(
                f"{pick.asset_id} needs a target: the paragraphs that become its items, as "
                "paragraph:3-7."
            )
        if pick.name not in self._lists.theirs.numbers:
            raise missing("list", pick.name, self._lists.theirs.numbers)
        number = self._lists.carried(pick.name)
        if not number:
            raise ValidationFailed(f"{pick.asset_id} is damaged: it does not say how it is built.")
        for paragraph in self._made.paragraphs(pick.target.first, pick.target.last):
            entry = put_child(put_child(paragraph, "pPr"), "numPr")
            if entry.find(f"{W}ilvl") is None:
                put_child(entry, "ilvl").set(f"{W}val", "0")
            put_child(entry, "numId").set(f"{W}val", number)
        return f"{pick.asset_id}: put on paragraph {_span(pick.target.first, pick.target.last)}"

    def _page_setup(self, pick: DocxAssetRef) -> str:
        """Give sections the paper, its orientation and the margins of a section of the source."""
        found = page_sections(self._theirs.root(self._theirs.main))
        known = {f"section{index}": each for index, each in enumerate(found)}
        theirs = known.get("".join(pick.name.split()).lower())
        if theirs is None:
            raise missing("page_setup", pick.name, known)
        chosen = chosen_sections(self._made, pick.target)
        sections = page_sections(self._made.body)
        for section in (sections[index] for index in chosen):
            for name in ("pgSz", "pgMar"):
                told = theirs.find(f"{W}{name}")
                for old in section.findall(f"{W}{name}") if told is not None else ():
                    section.remove(old)
                if told is not None:
                    made = etree.SubElement(section, f"{W}{name}")
                    made.attrib.update(told.attrib)
                    inserted(section, made)
        where = "all sections" if pick.target is None else f"section {_span(chosen[0], chosen[-1])}"
        return f"{pick.asset_id}: set in {where}"


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
