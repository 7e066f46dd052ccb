"""A deck's presentation, masters and layouts: which parts they are, and what people call them."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc import Package, Relation, Rewriting, reading_errors, transitional, xml_root
from kbd_pptx.slides import P, R

__all__ = ["Deck", "DeckParts", "Layout", "Master", "flag", "read_deck", "short", "unique"]

_MOST_BYTES = 12 << 20
"""Of one part that is taken apart here; its tree takes up to forty times as much."""

_MOST_KEPT_BYTES = 24 << 20
"""Of all parts whose trees are kept."""

_MOST_LETTERS = 100
"""Of a name that is shown."""

T = TypeVar("T")


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
        self._kept_bytes = 0

    def __contains__(self, part: str) -> bool:
        return part in self._parts

    @property
    def name(self) -> str:
        """The file's name."""
        return self._parts.name

    def read(self, part: str) -> bytes:
        """Return a part's bytes as they lie there; raises FileReadFailed."""
        return self._parts.read(part)

    def root(self, part: str) -> etree._Element:
        """Return a part's tree, which is parsed once and kept.

        Raises:
            FileReadFailed: It is missing, damaged or too large.
        """
        key = part.casefold()
        if key not in self._roots:
            data = self._data(part)
            self._kept_bytes += len(data)
            if self._kept_bytes > _MOST_KEPT_BYTES:
                raise FileReadFailed(f"{self.name} has masters and layouts too large to look at.")
            self._roots[key] = (self._parsed(data), len(data))
        return self._roots[key][0]

    def fresh(self, part: str) -> etree._Element:
        """Return a part's tree for whoever looks at it once or changes it; raises as `root`."""
        return self._parsed(self._data(part))

    def forget(self, part: str) -> None:
        """Have a part be parsed anew: it is not what it was."""
        _, size_bytes = self._roots.pop(part.casefold(), (None, 0))
        self._kept_bytes -= size_bytes

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

    def _data(self, part: str) -> bytes:
        data = transitional(self._parts.read(part))
        if len(data) > _MOST_BYTES:
            raise FileReadFailed(f"{self.name}: {part} is too large to look at.")
        return data

    def _parsed(self, data: bytes) -> etree._Element:
        with reading_errors(self.name):
            return xml_root(data, self.name)


class Layout(msgspec.Struct, frozen=True):
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
    layouts: tuple[Layout, ...]


class Deck(msgspec.Struct, frozen=True):
    """What a deck has: the size of its slides in EMU, masters, and the parts of slides in order.

    A slide whose part is missing is "".
    """

    width: int
    height: int
    masters: tuple[Master, ...]
    slides: tuple[str, ...]

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """All layouts, master by master."""
        return tuple(layout for master in self.masters for layout in master.layouts)

    def master_of(self, layout: str) -> Master | None:
        """Return the master that has a layout (its part), None if none has."""
        for master in self.masters:
            if any(each.part.casefold() == layout.casefold() for each in master.layouts):
                return master
        return None


def read_deck(parts: DeckParts) -> Deck:
    """Read what a deck has.

    Raises:
        FileReadFailed: The presentation, a master or a layout is damaged.
    """
    root = parts.root(parts.main)
    size = root.find(f"{P}sldSz")
    found = _listed(parts, parts.main, root, "sldMasterIdLst/sldMasterId")
    names = [_master_name(parts, part) for part in found]
    labels = unique(names)
    several = len(found) > 1
    used: dict[str, None] = {}
    masters = [
        _read_master(parts, part, name, label, f"{label}/" if several else "", used)
        for part, name, label in zip(found, names, labels, strict=True)
    ]
    return Deck(
        width=_measure(size, "cx", 9144000),
        height=_measure(size, "cy", 6858000),
        masters=tuple(masters),
        slides=tuple(_slides(parts, root)),
    )


def short(name: str | None) -> str:
    """Return a name on one line, not longer than what is shown."""
    text = " ".join((name or "").split())
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def unique(names: Sequence[str]) -> list[str]:
    """Return names that differ, blanks and case ignored: the second "Blank" is "Blank#2"."""
    taken: set[str] = set()
    found = []
    counts: dict[str, int] = {}
    for name in names:
        made, folded = name, name.casefold()
        while made.casefold() in taken:
            counts[folded] = counts.get(folded, 1) + 1
            made = f"{name}#{counts[folded]}"
        taken.add(made.casefold())
        found.append(made)
    return found


def flag(text: str | None) -> bool | None:
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


def _read_master(
    parts: DeckParts, part: str, name: str, label: str, prefix: str, used: dict[str, None]
) -> Master:
    found = _listed(parts, part, parts.root(part), "sldLayoutIdLst/sldLayoutId")
    names = [_own_name(parts.root(each)) or f"Layout {count}" for count, each in enumerate(found)]
    layouts = []
    for index, (layout, own) in enumerate(zip(found, names, strict=True)):
        made = _free(f"{prefix}{own}", used)
        layouts.append(Layout(layout, own, made, short(parts.root(layout).get("type")), index))
    return Master(part, name, label, parts.related(part, "theme"), tuple(layouts))


def _free(label: str, used: dict[str, None]) -> str:
    made, count = label, 1
    while made.casefold() in used:
        count += 1
        made = f"{label}#{count}"
    used.setdefault(made.casefold())
    return made


def _master_name(parts: DeckParts, part: str) -> str:
    """Return a master's own name, or that of its theme, as programs show it."""
    theme = parts.related(part, "theme")
    named = short(parts.root(theme).get("name")) if theme else ""
    return _own_name(parts.root(part)) or named or "Master"


def _own_name(root: etree._Element) -> str:
    data = root.find(f"{P}cSld")
    return short(data.get("name")) if data is not None else ""


def _measure(element: etree._Element | None, name: str, fallback: int) -> int:
    text = element.get(name, "") if element is not None else ""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 11 else fallback
