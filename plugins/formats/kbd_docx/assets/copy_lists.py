"""Lists taken along: how they are built, under numbers that the target does not have yet.

Lists that share a build share their counters, so a build that the target has already from an
earlier copy is used again. A build may name the styles that its levels belong to; those names stay
only where the style comes along, since else the target's own style would begin to be numbered.
"""

import hashlib
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.assets.part_copier import DocumentPartCopier
from kbd_docx.assets.target import Target
from kbd_docx.blocks import W
from kbd_docx.edits.variants import respell
from kbd_docx.styles.document import DocxParts
from kbd_docx.styles.element_order import remove
from kbd_docx.styles.lists import ListDefinitions
from kbd_docx.styles.stylesheet import StyleType, value_of
from kbd_docx.styles.theme import DocxTheme, made_plain

__all__ = ["ListCopier"]

_ORDER = ("numPicBullet", "abstractNum", "num", "numIdMacAtCleanup")
_MOST_LISTS = 100


class _Build(msgspec.Struct, frozen=True):
    """A build in the target, and the one of the source that it was made from."""

    element: etree._Element
    source: etree._Element
    id: str


class ListCopier:
    """Copies lists of one document into another, each once.

    Args:
        source: Where they are.
        target: Where they go.
        copier: What takes pictures of bullets along.
        theme: The source's theme where it differs from the target's, else None.
    """

    def __init__(
        self, source: DocxParts, target: Target, copier: DocumentPartCopier, theme: DocxTheme | None
    ) -> None:
        self._source, self._target, self._copier, self._theme = source, target, copier, theme
        self.theirs = ListDefinitions(source.one("numbering"))
        self._numbers: dict[str, str] = {}
        self._builds: dict[str, _Build] = {}
        self._bullets: dict[str, str] = {}

    def carried(self, number: str) -> str:
        """Return the number that a list of the source has in the target, "" if there is no list.

        Raises:
            ValidationFailed: It cannot be copied.
        """
        if number in self._numbers:
            return self._numbers[number]
        element, build = self.theirs.numbers.get(number), self.theirs.build(number)
        if element is None or build is None:
            return ""
        if len(self._numbers) >= _MOST_LISTS:
            raise ValidationFailed(f"More than {_MOST_LISTS} lists would come along; copy less.")
        ours = self._target.ensured("numbering", "numbering")
        made = self._build(ours, build)
        known = self._known_number(ours, element, made)
        if not known:
            known = _free_id(ours, "num", "numId")
            copied = self._copied(element)
            copied.set(f"{W}numId", known)
            for child in copied.iterchildren(f"{W}abstractNumId"):
                child.set(f"{W}val", made.id)
            for style in list(copied.iter(f"{W}pStyle")):
                remove(style)
            self._insert(ours, copied)
        self._numbers[number] = known
        return known

    def finish(self, styles: dict[tuple[StyleType, str], str]) -> None:
        """Have builds name the styles that came along, by the ids that they have now."""
        for build in self._builds.values():
            ours = {each.get(f"{W}ilvl"): each for each in build.element.iterchildren(f"{W}lvl")}
            for level in build.source.iterchildren(f"{W}lvl"):
                style = styles.get(("paragraph", value_of(level, "pStyle")))
                mine = ours.get(level.get(f"{W}ilvl"))
                if style and mine is not None and not value_of(mine, "pStyle"):
                    _after(mine, "pStyle", style, ("start", "numFmt", "lvlRestart"))
            link = styles.get(("numbering", value_of(build.source, "styleLink")))
            if link and not value_of(build.element, "styleLink"):
                _after(build.element, "styleLink", link, ("nsid", "multiLevelType", "tmpl", "name"))

    def _build(self, ours: etree._Element, build: etree._Element) -> _Build:
        """Return the build of the target that stands for one of the source."""
        key = build.get(f"{W}abstractNumId", "")
        if key in self._builds:
            return self._builds[key]
        copied = self._copied(build)
        for name in ("pStyle", "styleLink", "numStyleLink"):
            for child in list(copied.iter(f"{W}{name}")):
                remove(child)
        taken: dict[str, etree._Element] = {}
        for each in ours.iterchildren(f"{W}abstractNum"):
            taken.setdefault(value_of(each, "nsid"), each)
        nsid = value_of(copied, "nsid")
        twin = taken.get(nsid) if nsid else None
        if twin is not None and _fingerprint(twin) == _fingerprint(copied):
            made = _Build(twin, build, twin.get(f"{W}abstractNumId", ""))
        else:
            made = _Build(copied, build, _free_id(ours, "abstractNum", "abstractNumId"))
            copied.set(f"{W}abstractNumId", made.id)
            number = copied.find(f"{W}nsid")
            if nsid in taken and number is not None:
                # Two builds of one nsid are one list to programs.
                told = hashlib.sha256(f"{nsid} {made.id}".encode()).hexdigest()
                number.set(f"{W}val", told[:8].upper())
            self._insert(ours, copied)
        self._builds[key] = made
        return made

    def _known_number(self, ours: etree._Element, element: etree._Element, made: _Build) -> str:
        """Return a plain list of the target that a plain list can be, "" if there is none."""
        if element.find(f"{W}lvlOverride") is not None:
            return ""
        for each in ours.iterchildren(f"{W}num"):
            is_plain = each.find(f"{W}lvlOverride") is None
            if is_plain and value_of(each, "abstractNumId") == made.id:
                return each.get(f"{W}numId", "")
        return ""

    def _copied(self, element: etree._Element) -> etree._Element:
        """Return a copy that looks in the target as it does in the source."""
        copied = deepcopy(element)
        copied.tail = None
        for bullet in list(copied.iter(f"{W}lvlPicBulletId")):
            made = self._bullet(bullet.get(f"{W}val", ""))
            if made:
                bullet.set(f"{W}val", made)
            else:
                remove(bullet)
        if self._theme is not None:
            made_plain(copied, self._theme)
        respell(copied, is_strict=self._target.rewriting.is_strict)
        return copied

    def _bullet(self, number: str) -> str:
        """Take the picture of a bullet along; return its number, "" where that cannot be."""
        if number in self._bullets:
            return self._bullets[number]
        root = self.theirs.root
        found = next((each for each in root.iterchildren(f"{W}numPicBullet")
                      if each.get(f"{W}numPicBulletId") == number),
                     None) if root is not None else None  # fmt: skip
        if found is None or self._target.rewriting.is_strict:
            if found is not None:
                self._target.warnings.warn("A list's picture of a bullet became a sign.")
            self._bullets[number] = ""
            return ""
        ours = self._target.ensured("numbering", "numbering")
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
        self._target.welcome(self._target.part("numbering"), element)
        rank = _ORDER.index(etree.QName(element).localname)
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


def _fingerprint(build: etree._Element) -> bytes:
    """Return what two builds have in common that number alike, whatever styles they name."""
    plain = deepcopy(build)
    plain.tail = None
    plain.attrib.clear()
    for name in ("nsid", "pStyle", "styleLink"):
        for child in list(plain.iter(f"{W}{name}")):
            remove(child)
    return etree.tostring(plain, method="c14n", exclusive=True)


def _after(parent: etree._Element, name: str, value: str, before: tuple[str, ...]) -> None:
    """Put a child with a value after those that the schema has before it."""
    made = parent.makeelement(f"{W}{name}")
    made.set(f"{W}val", value)
    ranks = {f"{W}{each}" for each in before}
    at = max((at + 1 for at, each in enumerate(parent) if each.tag in ranks), default=0)
    parent.insert(at, made)
