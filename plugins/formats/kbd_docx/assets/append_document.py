"""Body of one document appended to another: with styles, lists, pictures, notes and links.

What is one thing in two files keeps its look: a style of the same name that looks otherwise comes
along under another name, or the difference is written into the paragraphs (see `fragments`). What
belongs to pages stays behind and is told: headers, paper, comments.
"""

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.office.operations import listed
from kbd.opc.element_names import local_name
from kbd_docx.assets.copy_styles import ListCopier, StyleCopier
from kbd_docx.assets.fragments import FragmentImporter
from kbd_docx.assets.target import DocumentPartCopier, Target
from kbd_docx.document import PARAGRAPH, SECTION, TABLE, VAL, DocxParts, W, blocks, open_document
from kbd_docx.edits.note_lines import note_lines, note_settings
from kbd_docx.edits.texts import apply_variant
from kbd_docx.operations import AppendDocument
from kbd_docx.revisions.marks import revisions
from kbd_docx.revisions.tracker import tracking_of
from kbd_docx.styles.properties import ensure_child, insert_child
from kbd_docx.styles.sections import page_sections
from kbd_docx.styles.stylesheet import DocxStyleSheet, ListDefinitions, value_of
from kbd_docx.styles.theme import DocxTheme, read_document_theme

__all__ = ["append_document"]

_ASIDE = "{urn:aside}"
"""The namespace of marks while a copy is adapted, which drops them under their own names."""

_KEPT = ("bookmarkStart", "bookmarkEnd", "footnoteReference", "endnoteReference")
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}
_LEFT = {
    "commentReference": "comment",
    "permStart": "permission",
    "dataBinding": "binding of a content control to data",
}
"""What is left behind and told."""

_STYLED = (f"{W}pStyle", f"{W}rStyle", f"{W}tblStyle")
_ID, _NAME = f"{W}id", f"{W}name"
_CURSOR = "_GoBack"
_FIELD_NAME = re.compile(r"(\b(?:REF|PAGEREF|NOTEREF|HYPERLINK\s+\\l)\s+\"?)([^\s\"\\]+)")
_MAX_NAME = 40
_MAX_ELEMENTS = 2_000_000


def append_document(made: Target, source: Source, operation: AppendDocument) -> str:
    """Append the body of a document, and return in words what changed.

    Args:
        made: The document that it is appended to.
        source: The other one.
        operation: How.

    Raises:
        ValidationFailed: It holds what cannot be copied.
        FileReadFailed: It is no document, is encrypted or damaged.
    """
    with open_document(source) as (package, identity):
        theirs = DocxParts(package, identity.part)
        copier = DocumentPartCopier(package, made)
        return _Appending(theirs, made, copier, source.name).append(operation)


class _Appending:
    """A document while it is appended to another one."""

    def __init__(
        self, theirs: DocxParts, made: Target, copier: DocumentPartCopier, name: str
    ) -> None:
        self._theirs, self._made, self._copier, self._name = theirs, made, copier, name
        theme = read_document_theme(theirs)
        differing = theme if theme != read_document_theme(made) else None
        sheet = DocxStyleSheet(theirs.part_root("styles"), theme)
        self._sheet = sheet
        # As it is before anything comes along.
        self._ours = DocxStyleSheet(deepcopy(made.part_root("styles")), read_document_theme(made))
        self._known_lists = set(self._list_ids())
        self._lists = ListCopier(theirs, made, copier, differing)
        self._styles = StyleCopier(sheet, made, self._lists, differing, [])
        self._styles.avoid(self._undefined())
        self._fragments = FragmentImporter(made, self._styles, self._lists, differing)
        self._strict = made.rewriting.is_strict

    def append(self, operation: AppendDocument) -> str:
        """Append all blocks and return how many."""
        self._copier.begin_asset(self._name)
        body = self._theirs.root(self._theirs.main).find(f"{W}body")
        if body is None:
            raise ValidationFailed(f"{self._name} has no body")
        if sum(1 for _ in body.iter()) > _MAX_ELEMENTS:
            raise ValidationFailed(f"{self._name} is too large to be appended")
        if tracking_of(operation) is not None and next(self._revisions(body), None) is not None:
            raise ValidationFailed(
                f"{self._name} has tracked changes of its own, which would be changes in a change: "
                "accept or reject them there first, or append it without track_changes"
            )
        copied = deepcopy(body)
        for section in copied.findall(SECTION):
            copied.remove(section)
        self._tell_left(body)
        self._adapt(copied, self._theirs.main, self._made.main)
        self._add_notes(copied)
        self._name_bookmarks(copied)
        count = self._place(copied, operation)
        self._styles.finish()
        self._unlink_levels()
        return f"{self._name}: {count} paragraphs and tables appended"

    def _revisions(self, body: etree._Element) -> Iterator[etree._Element]:
        """Yield the tracked changes in the other document and its notes."""
        yield from revisions(body)
        for kind in _NOTES.values():
            root = self._theirs.part_root(f"{kind}s")
            yield from revisions(root) if root is not None else ()

    def _number(self, copied: etree._Element) -> None:
        """Write into paragraphs the list that their styles put them into.

        In the document the style of that name may be in no list, or in another one.
        """
        for paragraph in copied.iter(PARAGRAPH):
            settings = paragraph.find(f"{W}pPr")
            if settings is not None and settings.find(f"{W}numPr") is not None:
                continue
            name = "" if settings is None else value_of(settings, "pStyle")
            theirs = self._sheet.get("paragraph", name) or self._sheet.default("paragraph")
            number, level = self._sheet.numbering(theirs)
            ours = None if theirs is None else self._ours.find("paragraph", theirs.name)
            if not number and (ours is None or not self._ours.numbering(ours)[0]):
                continue
            if number and theirs is not None:
                level = level or self._linked_level(number, theirs.id)
            listed = ensure_child(ensure_child(paragraph, "pPr"), "numPr")
            ensure_child(listed, "ilvl").set(VAL, level or "0")
            ensure_child(listed, "numId").set(VAL, number or "0")

    def _undefined(self) -> Iterator[str]:
        """Yield the ids of styles that the document names and does not define."""
        # A style of that id would give a look to what has none.
        stories = [self._made.part(kind) for kind in ("footnotes", "endnotes", "comments")]
        related = self._made.relations(self._made.main).values()
        stories += [each.target for each in related if each.kind in ("header", "footer")]
        for part in dict.fromkeys((self._made.main, *filter(None, stories))):
            if part in self._made.parts:
                names = self._made.root(part).iter(*_STYLED)
                yield from (id_ for each in names
                            if not self._ours.has_id(id_ := each.get(VAL, "")))  # fmt: skip

    def _list_ids(self) -> list[str]:
        root = self._made.part_root("numbering")
        kinds = [] if root is None else root.findall(f"{W}abstractNum")
        return [each.get(f"{W}abstractNumId", "") for each in kinds]

    def _unlink_levels(self) -> None:
        """Take new lists off styles that are not in them, whose paragraphs some programs number."""
        if set(self._list_ids()) <= self._known_lists:
            return
        root = self._made.ensure_part("numbering", "numbering")
        styles = self._made.part_root("styles")
        sheet, lists = DocxStyleSheet(styles, DocxTheme()), ListDefinitions(root)
        for abstract in root.iterchildren(f"{W}abstractNum"):
            if abstract.get(f"{W}abstractNumId", "") in self._known_lists:
                continue
            for link in list(abstract.iter(f"{W}pStyle")):
                style = sheet.get("paragraph", link.get(VAL, ""))
                number, _ = sheet.numbering(style)
                if not number or lists.abstract_numbering(number) is not abstract:
                    _remove(link)

    def _linked_level(self, number: str, style: str) -> str:
        """Return the level of a list that a style is linked to (17.9.23)."""
        abstract = self._lists.theirs.abstract_numbering(number)
        for each in abstract.iterchildren(f"{W}lvl") if abstract is not None else ():
            if value_of(each, "pStyle") == style:
                return each.get(f"{W}ilvl", "0")
        return ""

    def _adapt(self, copied: etree._Element, part: str, into: str) -> None:
        """Adapt a copy to the document: styles, lists, drawings, relations, spelling."""
        for name in _KEPT:
            for each in list(copied.iter(f"{W}{name}")):
                each.tag = f"{_ASIDE}{name}"
        self._number(copied)
        self._fragments.prepare(copied, self._name)
        for each in list(copied.iter(f"{_ASIDE}*")):
            each.tag = f"{W}{local_name(each)}"
        self._fragments.number_drawings(copied)
        self._copier.relate_named([copied], self._theirs.relations(part), into)
        apply_variant(copied, is_strict=self._strict)
        self._made.declare_ignorable(into, copied)

    def _add_notes(self, copied: etree._Element) -> None:
        """Copy the notes that the copy cites, which get new ids."""
        for reference, kind in _NOTES.items():
            cited = list(copied.iter(f"{W}{reference}"))
            part = self._theirs.part(f"{kind}s")
            notes = {} if not part else {
                each.get(_ID, ""): each
                for each in self._theirs.root(part).iterchildren(f"{W}{kind}")
            }  # fmt: skip
            for mark in cited:
                note = notes.get(mark.get(_ID, ""))
                if note is None:
                    _remove(mark)
                    continue
                root = self._notes_root(kind)
                made = deepcopy(note)
                made.tail = None
                self._adapt(made, part, self._made.part(f"{kind}s"))
                taken = [each.get(_ID, "") for each in root.iterchildren(f"{W}{kind}")]
                key = str(max((int(each) for each in taken if each.isdecimal()), default=0) + 1)
                made.set(_ID, key)
                mark.set(_ID, key)
                root.append(made)

    def _notes_root(self, kind: str) -> etree._Element:
        made = self._made
        is_new = not made.part(f"{kind}s")
        root = made.ensure_part(f"{kind}s", f"{kind}s")
        if is_new:
            root.extend(note_lines(kind))
            note_settings(made.ensure_part("settings", "settings"), kind)
        return root

    def _name_bookmarks(self, copied: etree._Element) -> None:
        """Give bookmarks ids and names that the document does not have; what names them follows."""
        ours = list(self._made.body.iter(f"{W}bookmarkStart"))
        taken = {each.get(_NAME, "").casefold() for each in ours}
        number = max((int(each.get(_ID, "")) for each in ours if each.get(_ID, "").isdecimal()),
                     default=0)  # fmt: skip
        renamed: dict[str, str] = {}
        ids: dict[str, str] = {}
        for start in list(copied.iter(f"{W}bookmarkStart")):
            name = start.get(_NAME, "")
            if name == _CURSOR:
                continue
            number += 1
            ids[start.get(_ID, "")] = str(number)
            start.set(_ID, str(number))
            free, count = name, 1
            while free.casefold() in taken:
                count += 1
                free = f"{name[: _MAX_NAME - len(str(count)) - 1]}_{count}"
            taken.add(free.casefold())
            if free != name:
                renamed[name] = free
                start.set(_NAME, free)
        for end in list(copied.iter(f"{W}bookmarkEnd")):
            key = ids.get(end.get(_ID, ""))
            if key is None:
                _remove(end)
            else:
                end.set(_ID, key)
        for start in [each for each in copied.iter(f"{W}bookmarkStart")
                      if each.get(_NAME) == _CURSOR]:  # fmt: skip
            _remove(start)
        _follow(copied, renamed)
        shown = [each for each in renamed if not each.startswith("_")]
        if shown:
            self._made.warnings.warn(
                f"Bookmarks of {self._name} have other names now, since the document has some of "
                f"these: {listed(shown)}."
            )

    def _place(self, copied: etree._Element, operation: AppendDocument) -> int:
        """Put the blocks of a copy behind the last one and return how many there are."""
        body = self._made.body
        last = next(iter(list(blocks(body))[-1:]), None)
        first = next(blocks(copied), None)
        count = sum(1 for _ in blocks(copied))
        if first is None:
            return 0
        apart = last is not None and last.tag == first.tag == TABLE
        if operation.new_page and first.tag == PARAGRAPH:
            settings = ensure_child(first, "pPr")
            for old in settings.findall(f"{W}pageBreakBefore"):
                settings.remove(old)
            insert_child(settings, settings.makeelement(f"{W}pageBreakBefore"))
        elif operation.new_page or apart:
            # Programs show two tables that touch as one.
            between = copied.makeelement(PARAGRAPH)
            if operation.new_page:
                ensure_child(ensure_child(between, "pPr"), "pageBreakBefore")
            copied.insert(0, between)
        section = next(body.iterchildren(SECTION, reversed=True), None)
        if list(copied)[-1].tag == TABLE:
            # A document ends with a paragraph.
            copied.append(copied.makeelement(PARAGRAPH))
        for child in list(copied):
            if section is None:
                body.append(child)
            else:
                section.addprevious(child)
        return count

    def _tell_left(self, body: etree._Element) -> None:
        """Warn of what does not come along."""
        found: Counter[str] = Counter()
        for name, word in _LEFT.items():
            found[word] += sum(1 for _ in body.iter(f"{W}{name}"))
        sections = page_sections(body)
        parts = [f"{count} {word}{'' if count == 1 else 's'}"
                 for word, count in found.items() if count]  # fmt: skip
        if any(each.find(f"{W}{kind}Reference") is not None
               for each in sections for kind in ("header", "footer")):  # fmt: skip
            parts.append("its headers and footers")
        if len(sections) > 1:
            parts.append(f"the page setup of its {len(sections)} sections")
        if parts:
            self._made.warnings.warn(f"Of {self._name} stayed behind: {', '.join(parts)}.")


def _follow(copied: etree._Element, renamed: dict[str, str]) -> None:
    """Have links and fields of a copy name bookmarks by their new names."""
    if not renamed:
        return
    anchor = f"{W}anchor"
    for link in copied.iter(f"{W}hyperlink"):
        if link.get(anchor) in renamed:
            link.set(anchor, renamed[link.get(anchor, "")])
    for node in copied.iter(f"{W}instrText"):
        node.text = _FIELD_NAME.sub(
            lambda found: found[1] + renamed.get(found[2], found[2]), node.text or ""
        )
    for simple in copied.iter(f"{W}fldSimple"):
        told = simple.get(f"{W}instr", "")
        simple.set(
            f"{W}instr",
            _FIELD_NAME.sub(lambda found: found[1] + renamed.get(found[2], found[2]), told),
        )


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
