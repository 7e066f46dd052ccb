"""Layouts copied into another deck, with the master and the theme of their formatting."""

import hashlib
from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd_pptx.assets.asset_refs import DeckPlace, SourceDeck, find_master
from kbd_pptx.assets.target import DeckPartCopier, TargetDeck
from kbd_pptx.presentation import P, R
from kbd_pptx.reader.boxes import EMU_PER_INCH
from kbd_pptx.styles.deck import DeckLayout, DeckParts, Master, shorten

__all__ = ["LayoutCopier"]

_FORMATTING_CHILDREN = ("cSld", "clrMap", "clrMapOvr", "txStyles")
"""The children of a master or layout that make its looks."""

_BEFORE_LAYOUTS = ("cSld", "clrMap")
_NOT_COPIED = frozenset(("slideLayout", "slideMaster", "theme"))


class LayoutCopier:
    """Copier of layouts, with masters and themes.

    A layout goes to the master of the target with its own one's formatting, or that is named; else
    its own master and theme are copied too, without their other layouts.

    Args:
        source: The deck that has them.
        edit: The deck that gets them.
        copier: Copies parts.
    """

    def __init__(self, source: SourceDeck, edit: TargetDeck, copier: DeckPartCopier) -> None:
        self._source, self._edit, self._copier = source, edit, copier

    def copy(self, name: str, target: DeckPlace | None) -> str:
        """Copy a layout and return what changed.

        Args:
            name: The layout's, as `get_styles` lists it.
            target: The master that it goes to; None finds or brings one.

        Raises:
            ValidationFailed: There is no such layout or master, or it cannot be copied.
        """
        layout, master = self._source.layout(name)
        if target is not None and (target.kind != "master" or target.name):
            raise ValidationFailed(
                f"a layout goes to a master, not to {target}; write master:0 or leave target out"
            )
        self._copier.begin_asset()
        try:
            return self._copy_layout(layout, master, target)
        except ValidationFailed as error:
            raise ValidationFailed(
                f"the layout {layout.label} cannot be copied: {error.message}"
            ) from error

    def _copy_layout(self, layout: DeckLayout, master: Master, target: DeckPlace | None) -> str:
        origin = ""
        if target is not None:
            goal = find_master(self._edit.deck(), target.index, "target").part
        else:
            goal = self._matching_master(master)
            if not goal:
                goal, origin = self._copy_master(master), f" with its master {master.name}"
        there = self._matching_layout(layout, goal)
        if there:
            return f"layout {there} is there already"
        shown = self._add(layout, goal)
        self._warn_of_size(shown)
        return f"layout {shown}{origin}"

    def _matching_master(self, master: Master) -> str:
        """Return the target's master with the formatting of the source's, "" if none has it."""
        wanted = self._master_formatting(self._source.parts, master)
        for each in self._edit.deck().masters:
            if each.name == master.name and self._master_formatting(self._edit, each) == wanted:
                return each.part
        return ""

    def _master_formatting(self, parts: DeckParts, master: Master) -> tuple[bytes, bytes]:
        theme = parts.root(master.theme) if master.theme else None
        elements = theme.find("{*}themeElements") if theme is not None else None
        themed = _canonical(elements) if elements is not None else b""
        return canonical_formatting(parts, master.part), themed

    def _matching_layout(self, layout: DeckLayout, master: str) -> str:
        """Return the layout of a master of the target that is the same, "" if none is."""
        wanted = canonical_formatting(self._source.parts, layout.part)
        for each in self._edit.deck().masters:
            for other in each.layouts if each.part == master else ():
                if canonical_formatting(self._edit, other.part) == wanted:
                    return other.name
        return ""

    def _copy_master(self, master: Master) -> str:
        """Copy a master with its theme, without layouts, and return its part."""
        source = self._source.parts
        relations = source.relations(master.part)
        replacements = {each.id: "" for each in relations.values() if each.kind in _NOT_COPIED}
        for each in relations.values():
            if each.kind == "theme" and each.target == master.theme:
                replacements[each.id] = self._copier.copy(master.theme, {})
        number = self._edit.free_id()
        part = self._copier.copy(master.part, replacements)
        root = self._edit.parse(part)
        # Its layouts stay behind, and the list would name relations that are gone.
        for entry in root.findall(f"{P}sldLayoutIdLst"):
            root.remove(entry)
        self._edit.put(part, root)
        rewriting = self._edit.rewriting
        relation_id = rewriting.relate(self._edit.main, "slideMaster", part)
        presentation = self._edit.parse(self._edit.main)
        masters = presentation.find(f"{P}sldMasterIdLst")
        if masters is None:
            masters = presentation.makeelement(f"{P}sldMasterIdLst")
            # First of all in the schema (CT_Presentation).
            presentation.insert(0, masters)
        entry = etree.SubElement(masters, f"{P}sldMasterId", {"id": number})
        entry.set(f"{R}id", relation_id)
        self._edit.put(self._edit.main, presentation)
        return part

    def _add(self, layout: DeckLayout, master: str) -> str:
        """Copy a layout to a master of the target and return its name there."""
        taken = {each.name.casefold() for each in self._edit.deck().layouts}
        name, count = layout.name, 1
        while name.casefold() in taken:
            count += 1
            name = f"{layout.name} ({count})"
        relations = self._source.parts.relations(layout.part)
        replacements = {each.id: "" for each in relations.values() if each.kind in _NOT_COPIED}
        for each in relations.values():
            if each.kind == "slideMaster":
                replacements[each.id] = master
        number = self._edit.free_id()
        part = self._copier.copy(layout.part, replacements)
        root = self._edit.parse(part)
        data = root.find(f"{P}cSld")
        if data is not None and shorten(data.get("name")) != name:
            data.set("name", name)
            self._edit.put(part, root)
        if name != layout.name:
            self._edit.warnings.warn(
                f"The target has another layout {layout.name}; the copied one is {name}."
            )
        self._add_to_master(master, part, number)
        return name

    def _add_to_master(self, master: str, layout: str, number: str) -> None:
        """Add a layout to the list of its master."""
        relation_id = self._edit.rewriting.relate(master, "slideLayout", layout)
        root = self._edit.parse(master)
        layouts = root.find(f"{P}sldLayoutIdLst")
        if layouts is None:
            layouts = root.makeelement(f"{P}sldLayoutIdLst")
            before = [child for child in root if local_name(child) in _BEFORE_LAYOUTS]
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


def canonical_formatting(parts: DeckParts, part: str) -> bytes:
    """Return the canonical form of a master's or layout's formatting, for comparison.

    Its name and its place among others do not count; of pictures their bytes do.
    """
    relations = parts.relations(part)
    found = []
    for child in parts.root(part):
        if local_name(child) not in _FORMATTING_CHILDREN:
            continue
        copied = deepcopy(child)
        if local_name(child) == "cSld":
            copied.attrib.pop("name", "")
        for element in copied.iter():
            for key, value in element.attrib.items():
                # Ids of relations are each part's own: what they lead to is compared.
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
    # Exclusive: a namespace that is declared but not used makes no difference.
    return etree.tostring(copied, method="c14n", exclusive=True)
