"""Styles and lists copied, with the formatting that they have in the source.

A requested style is added, or takes the place of the target's style of that name, whose id it
gets: so what uses that style follows. A style's bases, its other half and the one that follows it
are copied where the target has none of their names; where it has, its own stay as they are, and
what they or the document's defaults make different is said in the copied style itself.

A list gets a number that the target does not have yet. Lists that share an abstract
definition share their counters, so one that the target has already from an earlier copy is used
again. It may name the styles that its levels belong to; those names stay only where the style is
copied, since else the target's own style would begin to be numbered.
"""

import hashlib
from collections.abc import Iterable
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd.opc.element_names import local_name
from kbd_docx.assets.target import DocumentPartCopier, Target
from kbd_docx.document import DocxParts, W
from kbd_docx.edits.texts import apply_variant
from kbd_docx.styles.properties import (
    Properties,
    difference,
    ensure_child,
    merge_missing,
    read_properties,
    remove_element,
    write_properties,
)
from kbd_docx.styles.stylesheet import DocxStyleSheet, ListDefinitions, Style, StyleType, value_of
from kbd_docx.styles.theme import DocxTheme, read_document_theme, resolve_theme

__all__ = ["ListCopier", "StyleCopier"]


_ORDER = ("numPicBullet", "abstractNum", "num", "numIdMacAtCleanup")
_MAX_LISTS = 100


class _AbstractNumbering(msgspec.Struct, frozen=True):
    """Abstract numbering definition in the target, and the source's that it was made from."""

    element: etree._Element
    source: etree._Element
    id: str


class ListCopier:
    """Copies lists of one document into another, each once.

    Args:
        source: Where they are.
        target: Where they go.
        copier: Copies pictures of bullets.
        theme: The source's theme where it differs from the target's, else None.
    """

    def __init__(
        self, source: DocxParts, target: Target, copier: DocumentPartCopier, theme: DocxTheme | None
    ) -> None:
        self._source, self._target, self._copier, self._theme = source, target, copier, theme
        self.theirs = ListDefinitions(source.part_root("numbering"))
        self._numbers: dict[str, str] = {}
        self._abstracts: dict[str, _AbstractNumbering] = {}
        self._bullets: dict[str, str] = {}

    def copied_id(self, number: str) -> str:
        """Return the number that a list of the source has in the target, "" if there is no list.

        Raises:
            ValidationFailed: It cannot be copied.
        """
        if number in self._numbers:
            return self._numbers[number]
        element, abstract = self.theirs.numbers.get(number), self.theirs.abstract_numbering(number)
        if element is None or abstract is None:
            return ""
        if len(self._numbers) >= _MAX_LISTS:
            raise ValidationFailed(f"more than {_MAX_LISTS} lists would come along; copy less")
        ours = self._target.ensure_part("numbering", "numbering")
        made = self._copy_abstract(ours, abstract)
        known = self._reusable_number(ours, element, made)
        if not known:
            known = _free_id(ours, "num", "numId")
            copied = self._copy_element(element)
            copied.set(f"{W}numId", known)
            for child in copied.iterchildren(f"{W}abstractNumId"):
                child.set(f"{W}val", made.id)
            # These are ids of the source, under which the target may have another style.
            for style in list(copied.iter(f"{W}pStyle")):
                remove_element(style)
            self._insert(ours, copied)
        self._numbers[number] = known
        return known

    def finish(self, styles: dict[tuple[StyleType, str], str]) -> None:
        """Link abstract definitions to the styles that were copied, by their ids in the target."""
        for abstract in self._abstracts.values():
            ours = {each.get(f"{W}ilvl"): each for each in abstract.element.iterchildren(f"{W}lvl")}
            for level in abstract.source.iterchildren(f"{W}lvl"):
                style = styles.get(("paragraph", value_of(level, "pStyle")))
                mine = ours.get(level.get(f"{W}ilvl"))
                if style and mine is not None and not value_of(mine, "pStyle"):
                    _insert_after(mine, "pStyle", style, ("start", "numFmt", "lvlRestart"))
            link = styles.get(("numbering", value_of(abstract.source, "styleLink")))
            if link and not value_of(abstract.element, "styleLink"):
                _insert_after(
                    abstract.element, "styleLink", link, ("nsid", "multiLevelType", "tmpl", "name")
                )

    def _copy_abstract(self, ours: etree._Element, abstract: etree._Element) -> _AbstractNumbering:
        """Return the target's abstract definition for one of the source, copied if need be."""
        key = abstract.get(f"{W}abstractNumId", "")
        if key in self._abstracts:
            return self._abstracts[key]
        copied = self._copy_element(abstract)
        # `finish` writes the links to styles again, for those styles only that were copied.
        for name in ("pStyle", "styleLink", "numStyleLink"):
            for child in list(copied.iter(f"{W}{name}")):
                remove_element(child)
        taken: dict[str, etree._Element] = {}
        for each in ours.iterchildren(f"{W}abstractNum"):
            taken.setdefault(value_of(each, "nsid"), each)
        nsid = value_of(copied, "nsid")
        counterpart = taken.get(nsid) if nsid else None
        if counterpart is not None and _fingerprint(counterpart) == _fingerprint(copied):
            made = _AbstractNumbering(
                counterpart, abstract, counterpart.get(f"{W}abstractNumId", "")
            )
        else:
            made = _AbstractNumbering(
                copied, abstract, _free_id(ours, "abstractNum", "abstractNumId")
            )
            copied.set(f"{W}abstractNumId", made.id)
            number = copied.find(f"{W}nsid")
            if nsid in taken and number is not None:
                # Two abstract definitions of one nsid are one list to programs.
                digest = hashlib.sha256(f"{nsid} {made.id}".encode()).hexdigest()
                number.set(f"{W}val", digest[:8].upper())
            self._insert(ours, copied)
        self._abstracts[key] = made
        return made

    def _reusable_number(
        self, ours: etree._Element, element: etree._Element, made: _AbstractNumbering
    ) -> str:
        """Return a list of the target without overrides that can be used again, "" if none is."""
        # A list that overrides levels counts or starts for itself, so its number is not shared.
        if element.find(f"{W}lvlOverride") is not None:
            return ""
        for each in ours.iterchildren(f"{W}num"):
            is_plain = each.find(f"{W}lvlOverride") is None
            if is_plain and value_of(each, "abstractNumId") == made.id:
                return each.get(f"{W}numId", "")
        return ""

    def _copy_element(self, element: etree._Element) -> etree._Element:
        """Return a copy that looks in the target as it does in the source."""
        copied = deepcopy(element)
        # lxml copies the text behind an element with it.
        copied.tail = None
        for bullet in list(copied.iter(f"{W}lvlPicBulletId")):
            made = self._copy_bullet(bullet.get(f"{W}val", ""))
            if made:
                bullet.set(f"{W}val", made)
            else:
                remove_element(bullet)
        if self._theme is not None:
            resolve_theme(copied, self._theme)
        apply_variant(copied, is_strict=self._target.rewriting.is_strict)
        return copied

    def _copy_bullet(self, number: str) -> str:
        """Copy the picture of a bullet; return its number, "" where that cannot be."""
        if number in self._bullets:
            return self._bullets[number]
        root = self.theirs.root
        found = next((each for each in root.iterchildren(f"{W}numPicBullet")
                      if each.get(f"{W}numPicBulletId") == number),
                     None) if root is not None else None  # fmt: skip
        # Such a picture is VML as a rule, which a strict document may not have.
        if found is None or self._target.rewriting.is_strict:
            if found is not None:
                self._target.warnings.warn("A list's picture of a bullet became a sign.")
            self._bullets[number] = ""
            return ""
        ours = self._target.ensure_part("numbering", "numbering")
        copied = deepcopy(found)
        copied.tail = None
        made = _free_id(ours, "numPicBullet", "numPicBulletId")
        copied.set(f"{W}numPicBulletId", made)
        mine, part = self._source.part("numbering"), self._target.part("numbering")
        self._copier.begin_asset("a list's bullet")
        self._copier.relate_named([copied], self._source.relations(mine), part)
        self._insert(ours, copied)
        self._bullets[number] = made
        return made

    def _insert(self, ours: etree._Element, element: etree._Element) -> None:
        self._target.declare_ignorable(self._target.part("numbering"), element)
        # The schema has these kinds in this order (ECMA-376, CT_Numbering).
        rank = _ORDER.index(local_name(element))
        later = {f"{W}{name}" for name in _ORDER[rank + 1 :]}
        at = next((at for at, each in enumerate(ours) if each.tag in later), len(ours))
        ours.insert(at, element)


def _free_id(root: etree._Element, name: str, key: str) -> str:
    """Return a number from 1 that no element of a name has."""
    taken = {each.get(f"{W}{key}") for each in root.iterchildren(f"{W}{name}")}
    number = len(taken) + 1
    while str(number) in taken:
        number += 1
    return str(number)


def _fingerprint(abstract: etree._Element) -> bytes:
    """Return a canonical form that abstract definitions share if they number alike."""
    plain = deepcopy(abstract)
    plain.tail = None
    # What differs from file to file without a change in how the list counts is left out.
    plain.attrib.clear()
    for name in ("nsid", "pStyle", "styleLink"):
        for child in list(plain.iter(f"{W}{name}")):
            remove_element(child)
    return etree.tostring(plain, method="c14n", exclusive=True)


def _insert_after(parent: etree._Element, name: str, value: str, before: tuple[str, ...]) -> None:
    """Insert a child with a value after those that the schema has before it."""
    made = parent.makeelement(f"{W}{name}")
    made.set(f"{W}val", value)
    ranks = {f"{W}{each}" for each in before}
    at = max((at + 1 for at, each in enumerate(parent) if each.tag in ranks), default=0)
    parent.insert(at, made)


_MAX_STYLES = 500
_MAX_ELEMENTS = 5_000
"""Of one style; those of tables have some hundred. To move many takes very long."""
_LINKED_TYPE: dict[StyleType, StyleType] = {"paragraph": "character", "character": "paragraph"}

Key = tuple[StyleType, str]


class StyleCopier:
    """Copies styles of one document into another, each once.

    Args:
        theirs: The styles of the source.
        target: Where they go.
        lists: Copies their numbering.
        theme: The source's theme where it differs from the target's, else None.
        requested: Those that take the place of the target's, by type and id.
    """

    def __init__(
        self,
        theirs: DocxStyleSheet,
        target: Target,
        lists: ListCopier,
        theme: DocxTheme | None,
        requested: Iterable[Key],
    ) -> None:
        self._target, self._lists, self._theme = target, lists, theme
        self.theirs = theirs
        self.ours = DocxStyleSheet(target.part_root("styles"), read_document_theme(target))
        self.ids: dict[Key, str] = {}
        self._written: dict[Key, Style] = {}
        self._replaced: dict[Key, str] = {}
        self._copies: set[Key] = set()
        self._reserved_ids: set[str] = set()
        self._pending: dict[Key, Style] = {}
        self._requested = set(requested)
        for type_, id_ in list(self._requested):
            style = self.theirs.get(type_, id_)
            linked = self._linked_style(style) if style else None
            if linked is not None:
                # A paragraph style and its character style are one to people: both are replaced.
                self._requested.add((linked.type, linked.id))

    def avoid(self, ids: Iterable[str]) -> None:
        """Give no copied style one of some ids: texts name them, and no style has them."""
        self._reserved_ids.update(ids)

    def copied_id(self, type_: StyleType, id_: str) -> str:
        """Return the id that a style of the source has in the target, "" if it has none there.

        Raises:
            ValidationFailed: It cannot be copied.
        """
        style = self.theirs.get(type_, id_) if id_ else None
        if style is None:
            return ""
        made = self._reserve_id(style)
        # Writing a style reserves more of them: the one that follows it and its other half.
        while self._pending:
            # Bases first: what a copied style must set itself depends on the bases that are in
            # place.
            bases = self.theirs.base_chain(next(iter(self._pending.values())))
            for base in reversed(bases):
                self._reserve_id(base)
            for base in reversed(bases):
                if self._pending.pop((base.type, base.id), None):
                    self._write_style(base)
        return made

    def copy(self, style: Style) -> str:
        """Copy a requested style, and return in words what changed."""
        before = set(self._written)
        made = self.copied_id(style.type, style.id)
        # It may have been copied with a style that was requested before it.
        counterpart = self._replaced.get((style.type, style.id), "")
        words = f"replaced {counterpart}" if counterpart else f"added as {style.name}"
        others = [each.name for key, each in self._written.items()
                  if key not in before and each.id != style.id]  # fmt: skip
        if others:
            words += f", with {listed(others)}"
        fonts = self.fonts(style)
        if fonts:
            words += f"; fonts: {listed(fonts)}"
        rest = self._dependent_styles(style.type, made) if counterpart else []
        if rest:
            self._target.warnings.warn(
                f"Styles of the target that are based on {counterpart} change with it: "
                f"{listed(rest)}."
            )
        return f"{style.type}_style:{style.id}: {words}"

    def fonts(self, style: Style) -> list[str]:
        """Return the fonts that a style asks for."""
        run = self.theirs.formatting(style, style.type).run
        found = {run[key][0][1]: None for key in ("rFonts/ascii", "rFonts/hAnsi") if key in run}
        return list(found)

    def finish(self) -> None:
        """Link copied lists to the styles that were copied."""
        self._lists.finish({key: self.ids[key] for key in self._written})

    def _dependent_styles(self, type_: StyleType, id_: str) -> list[str]:
        """Return the target's styles based on one of its styles, copied ones left out."""
        based: dict[str, list[Style]] = {}
        for style in self.ours:
            if style.type == type_:
                based.setdefault(style.named("basedOn"), []).append(style)
        copied = {made for key, made in self.ids.items() if key[0] == type_}
        found: dict[str, str] = {}
        pending = [id_]
        while pending:
            # Taken out of the table, so that styles based on each other in a circle end.
            for style in based.pop(pending.pop(), ()):
                pending.append(style.id)
                if style.id not in copied:
                    found[style.id] = style.name
        return list(found.values())

    def _counterpart(self, style: Style) -> Style | None:
        """Return the target's style that is the same by name, or by being the default."""
        found = self.ours.default(style.type) if style.is_default else None
        found = found or self.ours.named(style.type, style.name)
        return None if found is None or (found.type, found.id) in self._copies else found

    def _reserve_id(self, style: Style) -> str:
        """Return the id that a style will have; it is written later if it is to come along."""
        key = (style.type, style.id)
        if key not in self.ids:
            counterpart = self._counterpart(style)
            if key not in self._requested and (counterpart is not None or style.is_default):
                # A default that is copied would change whatever names no style.
                self.ids[key] = counterpart.id if counterpart else ""
                return self.ids[key]
            if len(self.ids) >= _MAX_STYLES:
                msg = f"more than {_MAX_STYLES} styles would come along; copy fewer"
                raise ValidationFailed(msg)
            # Reserved before it is written, for styles may name each other in a circle.
            self._pending[key] = style
            self.ids[key] = counterpart.id if counterpart else self._free_id(style.id)
        return self.ids[key]

    def _free_id(self, wanted: str) -> str:
        made, number = wanted, 0
        while self.ours.has_id(made) or made in self._reserved_ids:
            number += 1
            made = f"{wanted}{number}"
        self._reserved_ids.add(made)
        return made

    def _write_style(self, style: Style) -> None:
        """Copy one style into the target."""
        key = (style.type, style.id)
        counterpart, made = self._counterpart(style), self.ids[key]
        for each in (style, counterpart):
            if each is not None and sum(1 for _ in each.element.iter()) > _MAX_ELEMENTS:
                raise ValidationFailed(f"the style {each.name} is too large to be copied")
        self._written[key] = style
        self._copies.add((style.type, made))
        copied = deepcopy(style.element)
        copied.tail = None
        copied.set(f"{W}styleId", made)
        if counterpart is not None and counterpart.is_default:
            # Without a default style of the type, what names no style would lose its look.
            copied.set(f"{W}default", "1")
        elif counterpart is not None:
            copied.attrib.pop(f"{W}default", "")
        self._rename_related(style, copied, made)
        root = self._target.ensure_part("styles", "styles")
        # The part may be new, and the sheet reads the document's defaults from its root.
        self.ours.root = root
        if counterpart is not None:
            self._replaced[key] = counterpart.name
            copied.tail = counterpart.element.tail
            root.replace(counterpart.element, copied)
            self.ours.discard(counterpart)
        else:
            root.append(copied)
        if self._theme is not None:
            resolve_theme(copied, self._theme)
        self._copy_numbering(style, copied)
        # `formatting` knows paragraphs and runs only; a table style also sets the parts of a table.
        if style.type == "table":
            self._merge_bases(style, copied)
        else:
            self._write_differences(style, copied)
        apply_variant(copied, is_strict=self._target.rewriting.is_strict)
        self._target.declare_ignorable(self._target.part("styles"), copied)
        self.ours.add(copied)

    def _rename_related(self, style: Style, copied: etree._Element, made: str) -> None:
        """Set basedOn, next and link of a copy to the ids in the target."""
        linked = self._linked_style(style)
        ids = {"basedOn": "", "next": "", "link": ""}
        base = self.theirs.base_chain(style)[1:2]
        if base:
            ids["basedOn"] = self.ids.get((base[0].type, base[0].id), "")
        follower = self.theirs.get(style.type, style.named("next"))
        if follower is not None:
            ids["next"] = self._reserve_id(follower)
        if linked is not None:
            ids["link"] = self._reserve_id(linked)
            existing = self.ours.get(linked.type, ids["link"])
            if existing is not None and existing.named("link") != made:
                # The target's half belongs to another style, or to none.
                ids["link"] = ""
        for name, id_ in ids.items():
            # These ids are the source's; in the target they may be those of other styles.
            for old in copied.findall(f"{W}{name}"):
                copied.remove(old)
            if id_:
                ensure_child(copied, name).set(f"{W}val", id_)

    def _linked_style(self, style: Style) -> Style | None:
        """Return the character style that goes with a paragraph style, or the other way round."""
        other = _LINKED_TYPE.get(style.type)
        return self.theirs.get(other, style.named("link")) if other else None

    def _copy_numbering(self, style: Style, copied: etree._Element) -> None:
        """Copy the numbering of a style."""
        number, level = self.theirs.numbering(style)
        wanted = number
        if number not in ("", "0"):
            wanted = self._lists.copied_id(number)
        for old in copied.findall(f"{W}pPr/{W}numPr/{W}numId"):
            remove_element(old)
        if style.type in ("table", "character"):
            return
        base = self.ours.get(style.type, value_of(copied, "basedOn"))
        there = self.ours.numbering(base)[0]
        if wanted in ("", "0") and there in ("", "0"):
            return
        if wanted == there and copied.find(f"{W}pPr/{W}numPr") is None:
            return
        entry = ensure_child(ensure_child(copied, "pPr"), "numPr")
        if level and entry.find(f"{W}ilvl") is None:
            ensure_child(entry, "ilvl").set(f"{W}val", level)
        # The number 0 keeps it out of the list that its base in the target has.
        ensure_child(entry, "numId").set(f"{W}val", wanted or "0")

    def _write_differences(self, style: Style, copied: etree._Element) -> None:
        """Write into a copy the properties that the target's bases and defaults would change."""
        wanted = self.theirs.formatting(style, style.type)
        # For a moment, so that its formatting on top of the target's bases can be read.
        self.ours.add(copied)
        mine = self.ours.get(style.type, copied.get(f"{W}styleId", ""))
        there = self.ours.formatting(mine, style.type)
        # The sheet has cached this formatting, which what is written below outdates.
        if mine is not None:
            self.ours.discard(mine)
        indents = self._list_indents(style)
        for name, more in (
            # The list's indents hold only where no style sets any; a base in the target may.
            ("pPr", difference(indents | wanted.paragraph, indents | there.paragraph)),
            ("rPr", difference(wanted.run, there.run)),
        ):
            if more and (name == "rPr" or style.type == "paragraph"):
                write_properties(ensure_child(copied, name), more)

    def _list_indents(self, style: Style) -> Properties:
        """Return the indents that a style has from its list, which hold where it says none."""
        level = self._lists.theirs.level(*self.theirs.numbering(style))
        own = level.find(f"{W}pPr") if level is not None else None
        found = read_properties(own, "p", self.theirs.theme)
        return {key: value for key, value in found.items() if key.startswith("ind/")}

    def _merge_bases(self, style: Style, copied: etree._Element) -> None:
        """Merge into a copy of a table style what its bases say, if a base is the target's own."""
        bases = [each for each in self.theirs.base_chain(style)[1:] if not each.is_default]
        if all((each.type, each.id) in self._written for each in bases):
            return
        for base in bases:
            element = deepcopy(base.element)
            if self._theme is not None:
                resolve_theme(element, self._theme)
            merge_missing(copied, element)
