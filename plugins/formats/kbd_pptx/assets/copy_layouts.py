"""Layouts copied into another deck, with the master and the theme that make their looks."""

import hashlib
from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_pptx.assets.asset_refs import DeckPlace
from kbd_pptx.assets.deckedit import TargetDeck
from kbd_pptx.assets.part_copier import DeckPartCopier
from kbd_pptx.assets.sourcedeck import SourceDeck, find_master
from kbd_pptx.reader.boxes import EMU_PER_INCH
from kbd_pptx.slides import P, R
from kbd_pptx.styles.deck import DeckLayout, DeckParts, Master, short
from kbd_pptx.styles.levels import local

__all__ = ["LayoutCopier"]

_LOOKS = ("cSld", "clrMap", "clrMapOvr", "txStyles")
"""The children of a master or layout that make its looks."""

_BEFORE_LAYOUTS = ("cSld", "clrMap")
_NOT_CARRIED = frozenset(("slideLayout", "slideMaster", "theme"))


class LayoutCopier:
    """Copies layouts.

    A layout goes to the master of the target that looks as its own does, or that is named; else
    its own master and theme come along, without their other layouts.

    Args:
        source: The deck that has them.
        edit: The deck that gets them.
        copier: What carries parts.
    """

    def __init__(self, source: SourceDeck, edit: TargetDeck, copier: DeckPartCopier) -> None:
        self._source, self._edit, self._copier = source, edit, copier

    def copy(self, name: str, target: DeckPlace | None) -> str:
        """Copy a layout and return what changed.

        Args:
            name: The layout's, as `get_styles` lists it.
            target: The master that it goes to; None finds or brings one.

        Raises:
            ValidationFailed: There is no such layout or master, or it cannot be carried.
        """
        layout, master = self._source.layout(name)
        if target is not None and (target.kind != "master" or target.name):
            raise ValidationFailed(
                f"A layout goes to a master, not to {target}; write master:0 or leave target out."
            )
        self._copier.begin_asset()
        try:
            return self._copied(layout, master, target)
        except ValidationFailed as error:
            raise ValidationFailed(
                f"The layout {layout.label} cannot be copied. {error.message}"
            ) from error

    def _copied(self, layout: DeckLayout, master: Master, target: DeckPlace | None) -> str:
        came = ""
        if target is not None:
            goal = find_master(self._edit.deck(), target.index, "target").part
        else:
            goal = self._alike(master)
            if not goal:
                goal, came = self._bring(master), f" with its master {master.name}"
        there = self._there(layout, goal)
        if there:
            return f"layout {there} is there already"
        shown = self._add(layout, goal)
        self._warn_of_size(shown)
        return f"layout {shown}{came}"

    def _alike(self, master: Master) -> str:
        """Return the master of the target that looks as one of the source does, "" if none does."""
        wanted = self._looks(self._source.parts, master)
        for each in self._edit.deck().masters:
            if each.name == master.name and self._looks(self._edit, each) == wanted:
                return each.part
        return ""

    def _looks(self, parts: DeckParts, master: Master) -> tuple[bytes, bytes]:
        theme = parts.root(master.theme) if master.theme else None
        elements = theme.find("{*}themeElements") if theme is not None else None
        themed = _canonical(elements) if elements is not None else b""
        return looks_of(parts, master.part), themed

    def _there(self, layout: DeckLayout, master: str) -> str:
        """Return the layout of a master of the target that is the same, "" if none is."""
        wanted = looks_of(self._source.parts, layout.part)
        for each in self._edit.deck().masters:
            for other in each.layouts if each.part == master else ():
                if looks_of(self._edit, other.part) == wanted:
                    return other.name
        return ""

    def _bring(self, master: Master) -> str:
        """Bring a master with its theme, without layouts, and return its part."""
        source = self._source.parts
        relations = source.relations(master.part)
        instead = {each.id: "" for each in relations.values() if each.kind in _NOT_CARRIED}
        for each in relations.values():
            if each.kind == "theme" and each.target == master.theme:
                instead[each.id] = self._copier.copy(master.theme, {})
        number = self._edit.free_id()
        part = self._copier.copy(master.part, instead)
        root = self._edit.fresh(part)
        for entry in root.findall(f"{P}sldLayoutIdLst"):
            root.remove(entry)
        self._edit.put(part, root)
        rewriting = self._edit.rewriting
        relation_id = rewriting.relate(self._edit.main, "slideMaster", part)
        presentation = self._edit.fresh(self._edit.main)
        masters = presentation.find(f"{P}sldMasterIdLst")
        if masters is None:
            masters = presentation.makeelement(f"{P}sldMasterIdLst")
            presentation.insert(0, masters)
        entry = etree.SubElement(masters, f"{P}sldMasterId", {"id": number})
        entry.set(f"{R}id", relation_id)
        self._edit.put(self._edit.main, presentation)
        return part

    def _add(self, layout: DeckLayout, master: str) -> str:
        """Carry a layout to a master of the target and return its name there."""
        taken = {each.name.casefold() for each in self._edit.deck().layouts}
        name, count = layout.name, 1
        while name.casefold() in taken:
            count += 1
            name = f"{layout.name} ({count})"
        relations = self._source.parts.relations(layout.part)
        instead = {each.id: "" for each in relations.values() if each.kind in _NOT_CARRIED}
        for each in relations.values():
            if each.kind == "slideMaster":
                instead[each.id] = master
        number = self._edit.free_id()
        part = self._copier.copy(layout.part, instead)
        root = self._edit.fresh(part)
        data = root.find(f"{P}cSld")
        if data is not None and short(data.get("name")) != name:
            data.set("name", name)
            self._edit.put(part, root)
        if name != layout.name:
            self._edit.warnings.warn(
                f"The target has another layout {layout.name}; the copied one is {name}."
            )
        self._list(master, part, number)
        return name

    def _list(self, master: str, layout: str, number: str) -> None:
        """Enter a layout in the list of its master."""
        relation_id = self._edit.rewriting.relate(master, "slideLayout", layout)
        root = self._edit.fresh(master)
        layouts = root.find(f"{P}sldLayoutIdLst")
        if layouts is None:
            layouts = root.makeelement(f"{P}sldLayoutIdLst")
            before = [child for child in root if local(child) in _BEFORE_LAYOUTS]
            root.insert(root.index(before[-1]) + 1 if before else 0, layouts)
        entry = etree.SubElement(layouts, f"{P}sldLayoutId", {"id": number})
        entry.set(f"{R}id", relation_id)
        self._edit.put(master, root)

    def _warn_of_size(self, name: str) -> None:
        ours, theirs = self._edit.deck(), self._source.deck
        if (ours.width, ours.height) != (theirs.width, theirs.height):
            sizes = [
                f"{deck.width / EMU_PER_INCH:.4g} x {deck.height / EMU_PER_INCH:.4g} inches"
                for deck in (theirs, ours)
            ]
            self._edit.warnings.warn(
                f"Layout {name} was made for slides of {sizes[0]} and keeps its measures; those "
                f"of the target have {sizes[1]}."
            )


def looks_of(parts: DeckParts, part: str) -> bytes:
    """Return what makes the looks of a master or layout, the same for the same looks.

    Its name and its place among others do not count; of pictures their bytes do.
    """
    relations = parts.relations(part)
    found = []
    for child in parts.root(part):
        if local(child) not in _LOOKS:
            continue
        copied = deepcopy(child)
        if local(child) == "cSld":
            copied.attrib.pop("name", "")
        for element in copied.iter():
            for key, value in element.attrib.items():
                relation = relations.get(str(value)) if str(key).startswith(R) else None
                if relation is not None and relation.external:
                    element.set(key, relation.target)
                elif relation is not None and relation.target in parts:
                    element.set(key, hashlib.sha256(parts.read(relation.target)).hexdigest())
        found.append(_canonical(copied))
    return b"".join(found)


def _canonical(element: etree._Element) -> bytes:
    copied = deepcopy(element)
    copied.tail = None
    return etree.tostring(copied, method="c14n", exclusive=True)
