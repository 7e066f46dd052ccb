"""Deck whose formatting is read: its presentation, masters, layouts and themes, and their names.

A color names a slot of the theme by way of the master's map, which a layout or slide may override
(ECMA-376 part 1, 19.3.1.6 and 19.3.1.7).
"""

from collections.abc import Mapping, Sequence

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.theme import SLOTS, Theme, drawing_color, read_theme
from kbd.opc import transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd.opc.rewriter import Rewriting
from kbd_pptx.presentation import MAX_DECK_MARKS, MAX_PART_MARKS, P, R

__all__ = [
    "Deck",
    "DeckLayout",
    "DeckParts",
    "Master",
    "PptxTheme",
    "parse_flag",
    "read_deck",
    "read_deck_theme",
    "shorten",
    "unique_names",
]


_MAX_MARKS = 100_000
"""Angle brackets in a presentation, master, layout or theme, whose trees are kept; the largest of
266 real ones has 3,800. What looks through a tree for every placeholder counts on it."""

_MAX_KEPT_MARKS = 1_000_000
"""In all trees that are kept; a parsed element takes some 100 bytes and up."""

_MAX_LETTERS = 100
"""Of a name that is shown."""


class DeckParts:
    """The parts of a deck by the usual names of namespaces, whatever its own variant.

    Args:
        parts: A package, or one that is being rewritten.
        main: The part of the presentation.
    """

    def __init__(self, parts: Package | Rewriting, main: str) -> None:
        self.main = main
        self._parts = parts
        self._roots: dict[str, tuple[etree._Element, int]] = {}
        self._kept_marks = 0
        self._marks_left = MAX_DECK_MARKS

    def __contains__(self, part: str) -> bool:
        return part in self._parts

    @property
    def name(self) -> str:
        """The file's name."""
        return self._parts.name

    def read(self, part: str) -> bytes:
        """Return a part's bytes, unconverted; raises FileReadFailed."""
        return self._parts.read(part)

    def root(self, part: str) -> etree._Element:
        """Return a part's tree, which is parsed once and cached.

        Raises:
            FileReadFailed: It is missing, damaged or too large.
        """
        # Part names that differ in case only name the same part (ECMA-376 part 2).
        key = part.casefold()
        if key not in self._roots:
            data = transitional(self._parts.read(part))
            marks = self._checked(part, data, _MAX_MARKS)
            self._kept_marks += marks
            if self._kept_marks > _MAX_KEPT_MARKS:
                raise FileReadFailed(f"{self.name} has masters and layouts too large to look at")
            self._roots[key] = (self._parsed(data), marks)
        return self._roots[key][0]

    def parse(self, part: str) -> etree._Element:
        """Parse a part anew, for a single look or for changing it; raises as `root`."""
        data = transitional(self._parts.read(part))
        self._marks_left -= self._checked(part, data, MAX_PART_MARKS)
        if self._marks_left < 0:
            raise FileReadFailed(f"{self.name} is too large to be looked at as a whole")
        return self._parsed(data)

    def invalidate(self, part: str) -> None:
        """Invalidate a part's cached tree: the part was changed."""
        _, marks = self._roots.pop(part.casefold(), (None, 0))
        self._kept_marks -= marks

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return a part's relations by their ids."""
        return {relation.id: relation for relation in self._parts.relations(part)}

    def related(self, part: str, kind: str) -> str:
        """Return the part that a part is related to in a way, "" if there is none."""
        for relation in self._parts.relations(part):
            there = not relation.external and relation.target in self._parts
            if relation.kind == kind and there:
                return relation.target
        return ""

    def content_type(self, part: str) -> str:
        """Return a part's type."""
        return self._parts.content_type(part)

    def _checked(self, part: str, data: bytes, most: int) -> int:
        marks = data.count(b"<")
        if marks > most:
            raise FileReadFailed(
                f"{self.name}: {part} has {marks // 2:,} elements or more, too many to look at"
            )
        return marks

    def _parsed(self, data: bytes) -> etree._Element:
        with reading_errors(self.name):
            return xml_root(data, self.name)


class DeckLayout(msgspec.Struct, frozen=True):
    """A layout.

    Args:
        part: The part that holds it.
        name: What people call it.
        label: What tells it from all others of the deck: "Title Slide", or with several masters
            "Office Theme/Title Slide".
        type: What it is for ("title", "obj", "blank" …), "" if it does not say.
        index: Its place among those of its master, from 0.
    """

    part: str
    name: str
    label: str
    type: str
    index: int


class Master(msgspec.Struct, frozen=True):
    """A master, its theme's part ("" without one) and its layouts in order.

    `name` is its own, or its theme's, by which programs show it; `label` tells it from others.
    """

    part: str
    name: str
    label: str
    theme: str
    layouts: tuple[DeckLayout, ...]


class Deck(msgspec.Struct, frozen=True):
    """Structure of a deck: slide size in EMU, masters, and the parts of slides in order.

    A slide whose part is missing is "".
    """

    width: int
    height: int
    masters: tuple[Master, ...]
    slides: tuple[str, ...]

    @property
    def layouts(self) -> tuple[DeckLayout, ...]:
        """All layouts, master by master."""
        return tuple(layout for master in self.masters for layout in master.layouts)

    def master_of(self, layout: str) -> Master | None:
        """Return the master that has a layout (its part), None if none has."""
        for master in self.masters:
            if any(each.part.casefold() == layout.casefold() for each in master.layouts):
                return master
        return None


def read_deck(parts: DeckParts) -> Deck:
    """Read the structure of a deck.

    Raises:
        FileReadFailed: The presentation, a master or a layout is damaged.
    """
    root = parts.root(parts.main)
    size = root.find(f"{P}sldSz")
    found = _listed(parts, parts.main, root, "sldMasterIdLst/sldMasterId")
    names = [_master_name(parts, part) for part in found]
    labels = unique_names(names)
    several = len(found) > 1
    layouts = [
        (part, label, index, layout)
        for part, label in zip(found, labels, strict=True)
        for index, layout in enumerate(
            _listed(parts, part, parts.root(part), "sldLayoutIdLst/sldLayoutId")
        )
    ]
    own = [_own_name(parts.root(part)) or f"Layout {index}" for _, _, index, part in layouts]
    whole = [
        f"{label}/{name}" if several else name
        for (_, label, _, _), name in zip(layouts, own, strict=True)
    ]
    made: dict[str, list[DeckLayout]] = {part: [] for part in found}
    for (master, _, index, part), name, label in zip(
        layouts, own, unique_names(whole), strict=True
    ):
        kind = shorten(parts.root(part).get("type"))
        made[master].append(DeckLayout(part, name, label, kind, index))
    return Deck(
        width=_measure(size, "cx", 9144000),
        height=_measure(size, "cy", 6858000),
        masters=tuple(
            Master(part, name, label, parts.related(part, "theme"), tuple(made[part]))
            for part, name, label in zip(found, names, labels, strict=True)
        ),
        slides=tuple(_slides(parts, root)),
    )


def shorten(name: str | None) -> str:
    """Return a name on one line, not longer than what is shown."""
    text = " ".join((name or "").split())
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names that differ, case ignored: the second "Blank" is "Blank#2"."""
    taken: set[str] = set()
    found = []
    counts: dict[str, int] = {}
    for name in names:
        made, folded = name, name.casefold()
        while made.casefold() in taken:
            # Counts go on, or a thousand layouts of one name would each be counted from 2.
            counts[folded] = counts.get(folded, 1) + 1
            made = f"{name}#{counts[folded]}"
        taken.add(made.casefold())
        found.append(made)
    return found


def parse_flag(text: str | None) -> bool | None:
    """Return an XML truth value, None for no or a broken one."""
    return {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}.get(
        text or ""
    )


def _listed(parts: DeckParts, part: str, root: etree._Element, path: str) -> list[str]:
    """Return the parts that a list of ids names, each once, those that are missing left out."""
    relations = parts.relations(part)
    found: dict[str, str] = {}
    for entry in root.iterfind("/".join(f"{P}{step}" for step in path.split("/"))):
        relation = relations.get(entry.get(f"{R}id", ""))
        if relation is not None and not relation.external and relation.target in parts:
            found.setdefault(relation.target.casefold(), relation.target)
    return list(found.values())


def _slides(parts: DeckParts, root: etree._Element) -> list[str]:
    relations = parts.relations(parts.main)
    found = []
    for entry in root.iterfind(f"{P}sldIdLst/{P}sldId"):
        relation = relations.get(entry.get(f"{R}id", ""))
        there = relation is not None and not relation.external and relation.target in parts
        found.append(relation.target if relation is not None and there else "")
    return found


def _master_name(parts: DeckParts, part: str) -> str:
    """Return a master's own name, or that of its theme, as programs show it."""
    theme = parts.related(part, "theme")
    named = shorten(parts.root(theme).get("name")) if theme else ""
    return _own_name(parts.root(part)) or named or "Master"


def _own_name(root: etree._Element) -> str:
    data = root.find(f"{P}cSld")
    return shorten(data.get("name")) if data is not None else ""


def _measure(element: etree._Element | None, name: str, fallback: int) -> int:
    text = element.get(name, "") if element is not None else ""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 11 else fallback


_DEFAULT_MAP: Mapping[str, str] = {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}
_FAMILIES = {"+mj-": "major", "+mn-": "minor"}
_SCRIPTS = {"lt": "latin", "ea": "ea", "cs": "cs"}


class PptxTheme(msgspec.Struct, frozen=True):
    """A theme as a master uses it.

    Args:
        theme: The theme.
        mapping: The slot by the name that texts have for it ("tx1").
    """

    theme: Theme = Theme()
    mapping: Mapping[str, str] = msgspec.field(default_factory=lambda: _DEFAULT_MAP)

    def rgb(self, element: etree._Element | None) -> str:
        """Resolve a color, or a fill that holds one, to RRGGBB; "" if that cannot be."""
        return drawing_color(element, self.color)

    def color(self, name: str) -> str:
        """Return RRGGBB for the name that texts have for a color, "" for none."""
        # A color may name a slot itself ("dk1"), which no map lists.
        return self.theme.colors.get(self.mapping.get(name, name), "")

    def slot(self, element: etree._Element | None) -> str:
        """Return the slot of the theme that a fill names, in words; "" if it names none."""
        scheme = element.find("{*}schemeClr") if element is not None else None
        name = scheme.get("val", "") if scheme is not None else ""
        return SLOTS.get(self.mapping.get(name, name), "")

    def font(self, typeface: str) -> str:
        """Return the typeface that a name stands for ("+mj-lt": headings, Latin); "" for none."""
        if not typeface.startswith("+m"):
            return typeface
        key = f"{_FAMILIES.get(typeface[:4])}-{_SCRIPTS.get(typeface[4:])}"
        return shorten(self.theme.fonts.get(key))

    def mapped(self, override: etree._Element | None) -> "PptxTheme":
        """Return the theme as a layout or slide maps it (its clrMapOvr, or None)."""
        own = override.find("{*}overrideClrMapping") if override is not None else None
        return self if own is None else PptxTheme(self.theme, _mapping(own))


def read_deck_theme(theme: etree._Element | None, clr_map: etree._Element | None) -> PptxTheme:
    """Read a theme as a master uses it.

    Args:
        theme: The root of the theme, None without one.
        clr_map: The master's map of colors.
    """
    return PptxTheme(read_theme(theme), _DEFAULT_MAP if clr_map is None else _mapping(clr_map))


def _mapping(element: etree._Element) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.attrib.items() if value in SLOTS}
