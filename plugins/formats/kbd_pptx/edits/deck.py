"""A deck on its way to becoming another one: its slides and its layouts."""

from typing import Any

from lxml import etree
from pptx.opc.constants import CONTENT_TYPE as CT
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.packuri import PackURI
from pptx.oxml.slide import CT_Slide
from pptx.parts.slide import (
    BaseSlidePart,
    NotesSlidePart,
    SlideLayoutPart,
    SlideMasterPart,
    SlidePart,
)
from pptx.presentation import Presentation

from kbd.errors import ValidationFailed
from kbd_pptx.edits.layouts import Layout
from kbd_pptx.edits.placeholders import emu
from kbd_pptx.edits.warnings import DeckWarnings
from kbd_pptx.slides import P, R

__all__ = ["DeckEdit", "notes_of", "parents_of", "related"]

_FIRST_SLIDE_ID = 256
_LAST_SLIDE_ID = 2_147_483_647
"""ECMA-376, part 1, 19.7.13."""


class DeckEdit:
    """The deck as python-pptx has it. Slides are counted from 0.

    Attributes:
        presentation: The deck.
        notices: What the reader of the result must know.
        is_strict: Whether it is of the variant that writes percentages otherwise.
    """

    def __init__(
        self, presentation: Presentation, notices: DeckWarnings, *, is_strict: bool
    ) -> None:
        self.presentation = presentation
        self.notices = notices
        self.is_strict = is_strict
        self.main: Any = presentation.part
        self._names = {str(part.partname) for part in self.main.package.iter_parts()}

    @property
    def root(self) -> etree._Element:
        """The root of the main part."""
        root: etree._Element = self.presentation.element
        return root

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the slides in EMU."""
        found = self.root.find(f"{P}sldSz")
        if found is None:
            return 9_144_000, 6_858_000
        return emu(found.get("cx", "")), emu(found.get("cy", ""))

    @property
    def entries(self) -> list[etree._Element]:
        """The entries of the slides, in order; each has its id and that of its relation."""
        return self.root.findall(f"{P}sldIdLst/{P}sldId")

    def entry(self, index: int) -> etree._Element:
        """Return the entry of a slide; raises ValidationFailed if there is none."""
        entries = self.entries
        if index < len(entries):
            return entries[index]
        count = len(entries)
        have = f"has {count} slides" if count != 1 else "has 1 slide"
        raise ValidationFailed(f"There is no slide {index}: the deck {have}, counted from 0.")

    def slide(self, index: int) -> SlidePart:
        """Return the part of a slide.

        Raises:
            ValidationFailed: There is none, or it is damaged.
        """
        part = self.part_of(self.entry(index))
        if part is None:
            raise ValidationFailed(f"Slide {index} cannot be changed: its part is missing.")
        return part

    def part_of(self, entry: etree._Element) -> SlidePart | None:
        """Return the part of a slide's entry, None if that is no slide."""
        relation = self.main.rels.get(entry.get(f"{R}id", ""))
        part = relation.target_part if relation is not None and not relation.is_external else None
        return part if isinstance(part, SlidePart) else None

    def layouts(self, near: BaseSlidePart | None) -> list[Layout]:
        """Return the layouts: those of the master that a slide has in front, if one is given."""
        own = related(near, RT.SLIDE_LAYOUT) if near is not None else None
        mine = related(own, RT.SLIDE_MASTER) if own is not None else None
        masters = []
        for entry in self.root.iterfind(f"{P}sldMasterIdLst/{P}sldMasterId"):
            relation = self.main.rels.get(entry.get(f"{R}id", ""))
            part = relation.target_part if relation and not relation.is_external else None
            if isinstance(part, SlideMasterPart):
                masters.append(part)
        masters.sort(key=lambda part: part is not mine)
        return [layout for master in masters for layout in _layouts_of(master)]

    def add(self, layout: Layout, index: int) -> SlidePart:
        """Add an empty slide at an index, or behind the last one."""
        name = self.free_name("/ppt/slides/slide{}.xml")
        root = CT_Slide.new()
        part = SlidePart(PackURI(name), CT.PML_SLIDE, self.main.package, root)
        part.relate_to(layout.part, RT.SLIDE_LAYOUT)
        relation_id = self.main.relate_to(part, RT.SLIDE)
        taken = {entry.get("id", "") for entry in self.entries}
        highest = max((int(each) for each in taken if each.isdecimal()), default=0)
        number = max(highest + 1, _FIRST_SLIDE_ID)
        if number > _LAST_SLIDE_ID:
            number = next(i for i in range(_FIRST_SLIDE_ID, _LAST_SLIDE_ID) if str(i) not in taken)
        slides = self.presentation.element.get_or_add_sldIdLst()
        entry = slides.makeelement(f"{P}sldId", {"id": str(number), f"{R}id": relation_id})
        entries = self.entries
        if index < len(entries):
            entries[index].addprevious(entry)
        elif entries:
            entries[-1].addnext(entry)
        else:
            slides.insert(0, entry)
        return part

    def free_name(self, pattern: str) -> str:
        """Return a name for a new part that no part has; `pattern` has a {} for a number."""
        number = 1
        while pattern.format(number) in self._names:
            number += 1
        name = pattern.format(number)
        self._names.add(name)
        return name


def parents_of(part: BaseSlidePart) -> tuple[etree._Element, ...]:
    """Return the roots of a slide's layout and master, as far as they are there."""
    found = []
    layout = related(part, RT.SLIDE_LAYOUT)
    if isinstance(layout, SlideLayoutPart):
        found.append(layout.slide_layout.element)
        master = related(layout, RT.SLIDE_MASTER)
        if isinstance(master, SlideMasterPart):
            found.append(master.slide_master.element)
    return tuple(found)


def notes_of(part: SlidePart) -> NotesSlidePart | None:
    """Return the part of a slide's notes, None if it has none."""
    found = related(part, RT.NOTES_SLIDE)
    return found if isinstance(found, NotesSlidePart) else None


def related(part: BaseSlidePart, kind: str) -> Any:
    """Return the part that one is related to by a type of relation, None if there is none."""
    for relation in part.rels.values():
        if relation.reltype == kind and not relation.is_external:
            return relation.target_part
    return None


def _layouts_of(master: SlideMasterPart) -> list[Layout]:
    root = master.slide_master.element
    found = []
    for entry in root.iterfind(f"{P}sldLayoutIdLst/{P}sldLayoutId"):
        relation = master.rels.get(entry.get(f"{R}id", ""))
        part = relation.target_part if relation and not relation.is_external else None
        if isinstance(part, SlideLayoutPart):
            layout = part.slide_layout.element
            data = layout.find(f"{P}cSld")
            name = data.get("name", "") if data is not None else ""
            found.append(Layout(name, layout, root, part))
    return found
