"""Pieces of a document made ready to stand in another one: checked, cleaned, looking as before.

What reaches out is told; what would bring another program's object or code along is refused.
"""

import re
from collections.abc import Iterator

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.assets.copy_styles import ListCopier, StyleCopier
from kbd_docx.assets.target import Target
from kbd_docx.document import MC, PARAGRAPH, WP, W, local_name
from kbd_docx.styles.properties import Properties, difference, given, put, put_child, remove
from kbd_docx.styles.stylesheet import StyleFormatting, StyleType, value_of
from kbd_docx.styles.theme import DocxTheme, drawn_plain, made_plain

__all__ = ["Excerpts"]

_REFUSED = {
    "object": "an object of another program",
    "control": "an ActiveX control",
    "altChunk": "a document in the document",
    "subDoc": "a part of a master document",
    "contentPart": "ink or another foreign part",
}
_LEFT_BEHIND = frozenset(
    ("bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd", "commentReference")
) | {"permStart", "permEnd", "proofErr", "dataBinding", "placeholder", "footnoteReference",
     "endnoteReference", "sectPr"}  # fmt: skip
"""What leads to another place of the same document."""

_RUNS_CODE = re.compile(r"\s*(DDE|DDEAUTO|LINK|EMBED|CONTROL|HTMLCONTROL)\b", re.IGNORECASE)
_FETCHES = re.compile(
    r"\s*(INCLUDEPICTURE|INCLUDETEXT|INCLUDE|IMPORT|DATABASE|RD)\b", re.IGNORECASE
)
_NAMED_ANYWHERE = re.compile(r"\b(DDE|DDEAUTO)\b", re.IGNORECASE)
_DOC_PR = f"{WP}docPr"
_STYLED: dict[str, StyleType] = {
    "pStyle": "paragraph",
    "rStyle": "character",
    "tblStyle": "table",
}


class Excerpts:
    """Makes pieces ready.

    Args:
        target: Where they go.
        styles: What takes their styles along.
        lists: What takes their lists along.
        theme: The source's theme where it differs from the target's, else None.
    """

    def __init__(
        self, target: Target, styles: StyleCopier, lists: ListCopier, theme: DocxTheme | None
    ) -> None:
        self._target, self._styles, self._lists, self._theme = target, styles, lists, theme
        self._shifts: dict[tuple[StyleType, str], StyleFormatting] = {}

    def prepare(self, root: etree._Element, place: str) -> None:
        """Make a copied element ready; the relations that it names are not looked at.

        Args:
            root: The element, already a copy.
            place: What is being copied, for messages.

        Raises:
            ValidationFailed: It holds what cannot be copied.
        """
        self._check(root, place)
        for each in list(root.iter(*(f"{W}{name}" for name in _LEFT_BEHIND))):
            remove(each)
        for each in list(root.iter(f"{W}sdtPr")):
            for child in each.findall(f"{W}id"):
                each.remove(child)
        if self._theme is not None:
            made_plain(root, self._theme)
            drawn_plain(root, self._theme)
        # The looks of the source's styles are asked for before the names are the target's.
        for paragraph in list(root.iter(PARAGRAPH)):
            self._keep_looks(paragraph)
        self._rename(root)
        for each in root.iter(f"{W}numId"):
            number = each.get(f"{W}val", "")
            if number != "0":
                each.set(f"{W}val", self._lists.carried(number) or "0")

    def number_drawings(self, root: etree._Element) -> None:
        """Give drawings numbers that the document does not have yet."""
        body = self._target.root(self._target.main)
        taken = [each.get("id", "") for each in body.iter(_DOC_PR)]
        number = 1 + max((int(each) for each in taken if re.fullmatch(r"[0-9]{1,8}", each)),
                         default=0)  # fmt: skip
        for each in root.iter(_DOC_PR):
            each.set("id", str(number))
            number += 1

    def _check(self, root: etree._Element, place: str) -> None:
        for each in root.iter(*(f"{W}{name}" for name in _REFUSED)):
            raise ValidationFailed(
                f"{place} holds {_REFUSED[local_name(each)]}, which cannot be copied; take it out "
                "in the source first."
            )
        older = (each for each in root.iter(f"{W}pict")
                 if next(each.iterancestors(f"{MC}Fallback"), None) is None)  # fmt: skip
        if self._target.rewriting.is_strict and next(older, None) is not None:
            raise ValidationFailed(
                f"{place} holds a drawing of the older form, which a strict document may not have."
            )
        for instruction in _instructions(root):
            if found := _RUNS_CODE.match(instruction) or _NAMED_ANYWHERE.search(instruction):
                raise ValidationFailed(
                    f"{place} holds the field {found[1].upper()}, which runs another program; take "
                    "it out in the source first."
                )
            if _FETCHES.match(instruction):
                told = " ".join(instruction.split())[:300]
                self._target.warnings.note_external(f"{place}: field {told}")

    def _keep_looks(self, paragraph: etree._Element) -> None:
        """Say in a paragraph and its runs what the target's styles would make different."""
        own = paragraph.find(f"{W}pPr")
        name = value_of(own, "pStyle") if own is not None else ""
        shift = self._shift("paragraph", name)
        _added(paragraph, "pPr", shift.paragraph, self._said(own, "p"))
        if shift.run:
            # The mark at its end has a height, too.
            own = put_child(paragraph, "pPr") if own is None else own
            mark = self._said(own.find(f"{W}rPr"), "r")
            wanted = {key: value for key, value in shift.run.items() if key not in mark}
            if wanted:
                put(put_child(own, "rPr"), wanted)
        for run in paragraph.iter(f"{W}r"):
            if next(run.iterancestors(PARAGRAPH), None) is not paragraph:
                continue
            look = run.find(f"{W}rPr")
            style = value_of(look, "rStyle") if look is not None else ""
            said = self._said(look, "r")
            theirs = self._styles.theirs.get("character", style)
            by_style = self._styles.theirs.looks(theirs, "character").run if theirs else {}
            more = {key: value for key, value in shift.run.items() if key not in by_style}
            more |= self._shift("character", style).run if theirs else {}
            _added(run, "rPr", more, said)

    def _said(self, container: etree._Element | None, kind: str) -> set[str]:
        return set(given(container, "p" if kind == "p" else "r", self._styles.theirs.theme))

    def _shift(self, type_: StyleType, id_: str) -> StyleFormatting:
        """Return what makes the target's style look as the source's of an id, "" the default."""
        key = (type_, id_)
        if key not in self._shifts:
            theirs = self._styles.theirs.get(type_, id_) or self._styles.theirs.default(type_)
            mine = self._styles.carried(type_, theirs.id) if theirs else ""
            ours = self._styles.ours.get(type_, mine) or self._styles.ours.default(type_)
            wanted = self._styles.theirs.looks(theirs, type_)
            there = self._styles.ours.looks(ours, type_)
            self._shifts[key] = StyleFormatting(
                difference(wanted.paragraph, there.paragraph), difference(wanted.run, there.run)
            )
        return self._shifts[key]

    def _rename(self, root: etree._Element) -> None:
        """Have what is copied name styles by the ids that they have in the target."""
        for each in list(root.iter(*(f"{W}{name}" for name in _STYLED))):
            made = self._styles.carried(_STYLED[local_name(each)], each.get(f"{W}val", ""))
            if made:
                each.set(f"{W}val", made)
            else:
                remove(each)


def _added(owner: etree._Element, name: str, more: Properties, said: set[str]) -> None:
    """Say properties in an owner's element that it does not say itself."""
    wanted = {key: value for key, value in more.items() if key not in said}
    if wanted:
        put(put_child(owner, name), wanted)


def _instructions(root: etree._Element) -> Iterator[str]:
    """Yield what fields are told to do; what is spread over several runs is put together."""
    open_: list[list[str]] = []
    for each in root.iter(f"{W}fldSimple", f"{W}fldChar", f"{W}instrText"):
        if each.tag == f"{W}fldSimple":
            yield each.get(f"{W}instr", "")
        elif each.tag == f"{W}instrText":
            if open_:
                open_[-1].append(each.text or "")
            else:
                yield each.text or ""
        elif each.get(f"{W}fldCharType") == "begin":
            open_.append([])
        elif each.get(f"{W}fldCharType") == "end" and open_:
            yield "".join(open_.pop())
    for left in open_:
        yield "".join(left)
