"""Fragments of a document adapted to another one: checked, cleaned, with the same formatting.

External references are noted; objects and code of other programs are refused.
"""

import re
from collections.abc import Iterator

from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.opc.element_names import local_name
from kbd_docx.assets.copy_styles import ListCopier, StyleCopier
from kbd_docx.assets.target import Target
from kbd_docx.document import MC, PARAGRAPH, WP, W
from kbd_docx.edits.reach import field_instructions, field_text
from kbd_docx.styles.properties import (
    Properties,
    difference,
    ensure_child,
    read_properties,
    remove_element,
    write_properties,
)
from kbd_docx.styles.stylesheet import StyleFormatting, StyleType, value_of
from kbd_docx.styles.theme import DocxTheme, resolve_drawing_theme, resolve_theme

__all__ = ["FragmentImporter"]


_REFUSED = {
    "object": "an object of another program",
    "control": "an ActiveX control",
    "altChunk": "a document in the document",
    "subDoc": "a part of a master document",
    "contentPart": "ink or another foreign part",
}
_DROPPED = frozenset(
    ("bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd", "commentReference")
) | {"permStart", "permEnd", "proofErr", "dataBinding", "placeholder", "footnoteReference",
     "endnoteReference", "sectPr"}  # fmt: skip
"""What leads to another place of the same document."""

_RUNS_CODE = re.compile(r"\s*(DDE|DDEAUTO|LINK|EMBED|CONTROL|HTMLCONTROL)\b", re.IGNORECASE)
_FETCHES = re.compile(
    r"\s*(INCLUDEPICTURE|INCLUDETEXT|INCLUDE|IMPORT|DATABASE|RD)\b", re.IGNORECASE
)
_DDE_ANYWHERE = re.compile(r"\b(DDE|DDEAUTO)\b", re.IGNORECASE)
_DOC_PR = f"{WP}docPr"
_STORIES = frozenset(("header", "footer", "footnotes", "endnotes", "comments"))
_STYLE_REFERENCES: dict[str, StyleType] = {
    "pStyle": "paragraph",
    "rStyle": "character",
    "tblStyle": "table",
}


class FragmentImporter:
    """Adapts copied content to the target: styles, lists, theme, drawing numbers.

    Args:
        target: Where they go.
        styles: Copies their styles.
        lists: Copies their lists.
        theme: The source's theme where it differs from the target's, else None.
    """

    def __init__(
        self, target: Target, styles: StyleCopier, lists: ListCopier, theme: DocxTheme | None
    ) -> None:
        self._target, self._styles, self._lists, self._theme = target, styles, lists, theme
        self._style_differences: dict[tuple[StyleType, str], StyleFormatting] = {}
        self._last_drawing: int | None = None

    def prepare(self, root: etree._Element, place: str) -> None:
        """Adapt a copied element to the target; its relations are left to the part copier.

        Args:
            root: The element, already a copy.
            place: What is being copied, for messages.

        Raises:
            ValidationFailed: It holds what cannot be copied.
        """
        self._check(root, place)
        for each in list(root.iter(*(f"{W}{name}" for name in _DROPPED))):
            remove_element(each)
        for each in list(root.iter(f"{W}sdtPr")):
            # Two controls of one id may not stand in a document.
            for child in each.findall(f"{W}id"):
                each.remove(child)
        if self._theme is not None:
            resolve_theme(root, self._theme)
            resolve_drawing_theme(root, self._theme)
        # The formatting of the source's styles is read before the names are the target's.
        for paragraph in list(root.iter(PARAGRAPH)):
            self._preserve_formatting(paragraph)
        self._rename_styles(root)
        for each in root.iter(f"{W}numId"):
            number = each.get(f"{W}val", "")
            if number != "0":
                # The number 0 stands for no list.
                each.set(f"{W}val", self._lists.copied_id(number) or "0")

    def number_drawings(self, root: etree._Element) -> None:
        """Renumber drawings with ids that the document does not have yet."""
        if self._last_drawing is None:
            # Once, since from then on no drawing comes in but with an id from here.
            self._last_drawing = max(self._drawing_ids(), default=0)
        for each in root.iter(_DOC_PR):
            self._last_drawing += 1
            each.set("id", str(self._last_drawing))

    def _drawing_ids(self) -> Iterator[int]:
        """Yield the ids that drawings have in the parts of the target that hold text."""
        target = self._target
        stories = [each.target for each in target.rewriting.relations(target.main)
                   if each.kind in _STORIES and not each.external]  # fmt: skip
        for part in (target.main, *stories):
            try:
                root = target.root(part)
            except FileReadFailed:
                # Missing or damaged ones are no reason to refuse a copy that does not touch them.
                continue
            ids = (each.get("id", "") for each in root.iter(_DOC_PR))
            yield from (int(each) for each in ids if re.fullmatch(r"[0-9]{1,8}", each))

    def _check(self, root: etree._Element, place: str) -> None:
        for each in root.iter(*(f"{W}{name}" for name in _REFUSED)):
            raise ValidationFailed(
                f"{place} holds {_REFUSED[local_name(each)]}, which cannot be copied; take it out "
                "in the source first"
            )
        # Within a Fallback it is the copy of a newer drawing, for older programs.
        older = (each for each in root.iter(f"{W}pict")
                 if next(each.iterancestors(f"{MC}Fallback"), None) is None)  # fmt: skip
        if self._target.rewriting.is_strict and next(older, None) is not None:
            raise ValidationFailed(
                f"{place} holds a drawing of the older form, which a strict document may not have"
            )
        for instruction in field_instructions(root):
            if found := _RUNS_CODE.match(instruction) or _DDE_ANYWHERE.search(instruction):
                raise ValidationFailed(
                    f"{place} holds the field {found[1].upper()}, which runs another program; take "
                    "it out in the source first"
                )
            if _FETCHES.match(instruction):
                self._target.warnings.note_external(f"{place}: {field_text(instruction)}")

    def _preserve_formatting(self, paragraph: etree._Element) -> None:
        """Write into a paragraph and its runs what the target's styles would change."""
        own = paragraph.find(f"{W}pPr")
        name = value_of(own, "pStyle") if own is not None else ""
        shift = self._style_difference("paragraph", name)
        _add_missing(paragraph, "pPr", shift.paragraph, self._own_properties(own, "p"))
        if shift.run:
            # The mark at its end has a height, too.
            own = ensure_child(paragraph, "pPr") if own is None else own
            mark = self._own_properties(own.find(f"{W}rPr"), "r")
            wanted = {key: value for key, value in shift.run.items() if key not in mark}
            if wanted:
                write_properties(ensure_child(own, "rPr"), wanted)
        for run in paragraph.iter(f"{W}r"):
            # Runs of a text box in this paragraph belong to the paragraphs in the box.
            if next(run.iterancestors(PARAGRAPH), None) is not paragraph:
                continue
            properties = run.find(f"{W}rPr")
            style = value_of(properties, "rStyle") if properties is not None else ""
            present = self._own_properties(properties, "r")
            theirs = self._styles.theirs.get("character", style)
            by_style = self._styles.theirs.formatting(theirs, "character").run if theirs else {}
            # The run's own style lies over that of its paragraph, so what it says need not be set.
            more = {key: value for key, value in shift.run.items() if key not in by_style}
            more |= self._style_difference("character", style).run if theirs else {}
            _add_missing(run, "rPr", more, present)

    def _own_properties(self, container: etree._Element | None, kind: str) -> set[str]:
        return set(
            read_properties(container, "p" if kind == "p" else "r", self._styles.theirs.theme)
        )

    def _style_difference(self, type_: StyleType, id_: str) -> StyleFormatting:
        """Return the properties in which the source's style of an id differs from the target's."""
        key = (type_, id_)
        if key not in self._style_differences:
            # What names no style, or an undefined one, looks as the default of its type.
            theirs = self._styles.theirs.get(type_, id_) or self._styles.theirs.default(type_)
            # The style is copied now if it comes along, so that its final form is compared.
            mine = self._styles.copied_id(type_, theirs.id) if theirs else ""
            ours = self._styles.ours.get(type_, mine) or self._styles.ours.default(type_)
            wanted = self._styles.theirs.formatting(theirs, type_)
            there = self._styles.ours.formatting(ours, type_)
            self._style_differences[key] = StyleFormatting(
                difference(wanted.paragraph, there.paragraph), difference(wanted.run, there.run)
            )
        return self._style_differences[key]

    def _rename_styles(self, root: etree._Element) -> None:
        """Rename style references to the ids in the target."""
        for each in list(root.iter(*(f"{W}{name}" for name in _STYLE_REFERENCES))):
            made = self._styles.copied_id(
                _STYLE_REFERENCES[local_name(each)], each.get(f"{W}val", "")
            )
            if made:
                each.set(f"{W}val", made)
            else:
                remove_element(each)


def _add_missing(owner: etree._Element, name: str, more: Properties, present: set[str]) -> None:
    """Write properties into an owner's element that it does not set itself."""
    wanted = {key: value for key, value in more.items() if key not in present}
    if wanted:
        write_properties(ensure_child(owner, name), wanted)
