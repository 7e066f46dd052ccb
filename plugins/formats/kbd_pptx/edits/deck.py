"""Deck being edited: its slides and its layouts, and the layout that a label means in it.

A label is the name of a layout, or one of six kinds, which are found by the layout's type in decks
of any language, else by the placeholders that it has (ECMA-376, part 1, 19.7.15).
"""

import difflib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
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
from kbd.formats import Source
from kbd_pptx.edits.placeholders import (
    FOOTERS,
    body_placeholders,
    parse_emu,
    placeholders,
    title_placeholder,
)
from kbd_pptx.edits.warnings import DeckWarnings, quoted_list, shorten
from kbd_pptx.presentation import P, R

__all__ = ["DeckEdit", "Layout", "choose_layout", "notes_of", "parents_of", "related_part"]


_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "title_slide": ("title",),
    "title_and_content": ("obj", "tx"),
    "section_header": ("secHead",),
    "title_only": ("titleOnly",),
    "blank": ("blank",),
    "two_content": ("twoObj", "twoColTx", "objAndTx", "txAndObj"),
})  # fmt: skip

_DEFAULT = "title_and_content"
_NEXT_BEST = ("two_content", "section_header", "title_slide", "title_only")
"""What comes nearest to the default where a deck has no layout of its kind."""


class Layout(msgspec.Struct, frozen=True):
    """A layout of a deck: its name, its root and its master's, its part as python-pptx has it."""

    name: str
    root: etree._Element
    master: etree._Element
    part: Any


def choose_layout(layouts: Sequence[Layout], wanted: str) -> tuple[Layout, str]:
    """Choose the layout that a label means; return it and a warning, "" for an exact match.

    Only the default kind, which counts where an operation names none, may become another one.

    Args:
        layouts: All of them, those that are to be taken first in front.
        wanted: The label.

    Raises:
        ValidationFailed: There is no such layout, or none at all.
    """
    if not layouts:
        raise ValidationFailed("the deck has no layouts, so no slide can be added to it")
    # Names before kinds: a layout that is called just so is meant, whatever its type is.
    exact = next((layout for layout in layouts if layout.name == wanted), None)
    if exact is not None:
        return exact, ""
    plain = _fold_name(wanted)
    named = next((layout for layout in layouts if _fold_name(layout.name) == plain), None)
    if named is not None:
        return named, ""
    label = next((label for label in _TYPES if _fold_name(label) == plain), "")
    meant = _of_kind(layouts, label) if label else None
    if meant is not None:
        return meant, ""
    if label == _DEFAULT:
        # What is taken where an operation names none: the nearest that the deck has.
        for next_best in _NEXT_BEST:
            found = _of_kind(layouts, next_best)
            if found is not None:
                return found, _fallback_warning(label, found)
        return layouts[0], _fallback_warning(label, layouts[0])
    names = list(dict.fromkeys(layout.name for layout in layouts))
    if label:
        msg = f"the deck has no layout for {label}; there are: {quoted_list(names)}"
        raise ValidationFailed(msg)
    folded = {_fold_name(name): name for name in names}
    near = [folded[each] for each in difflib.get_close_matches(plain, list(folded))]
    hint = f"near it: {quoted_list(near)}; " if near else ""
    msg = f"there is no layout {shorten(wanted)!r}; {hint}there are: {quoted_list(names)}"
    raise ValidationFailed(msg)


def _fallback_warning(label: str, taken: Layout) -> str:
    return f'The deck has no layout for {label}; "{shorten(taken.name)}" was taken.'


def _of_kind(layouts: Sequence[Layout], label: str) -> Layout | None:
    """Return the layout of a kind: by its type, else by what it has room for."""
    # The types in the outer loop: an earlier one is nearer to the kind, whichever layout has it.
    for type_ in _TYPES[label]:
        for layout in layouts:
            if layout.root.get("type") == type_:
                return layout
    for layout in layouts:
        # A type says more than what can be seen, and it is none of this kind's.
        if layout.root.get("type", "cust") in {"cust", ""} and _has_placeholders_of(layout, label):
            return layout
    return None


def _has_placeholders_of(layout: Layout, label: str) -> bool:
    root = layout.root
    title, bodies = title_placeholder(root), body_placeholders(root, layout.master)
    is_opening = any(each.type in {"ctrTitle", "subTitle"} for each in placeholders(root))
    if label == "title_slide":
        return is_opening
    if label == "blank":
        return all(each.type in FOOTERS for each in placeholders(root))
    if title is None or is_opening:
        return False
    if label == "title_only":
        return not bodies
    if label == "two_content":
        return len(bodies) == 2
    # A section header is never told by its places: they are a title and a text.
    return label == "title_and_content" and len(bodies) == 1


def _fold_name(name: str) -> str:
    """Fold a name for comparison: case, blanks, dashes, widths of characters."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(each for each in folded if each.isalnum())


_FIRST_SLIDE_ID = 256
_LAST_SLIDE_ID = 2_147_483_647
"""ECMA-376, part 1, 19.7.13."""


class DeckEdit:
    """The deck as python-pptx has it. Slides are counted from 0.

    Attributes:
        presentation: The deck.
        warnings: What the reader of the result must know.
        is_strict: Whether it is of the variant that writes percentages otherwise.
        files: Other files that operations name, by their paths.
        contents: Returns the bytes of a part; python-pptx was lent the names of most instead.
    """

    def __init__(
        self,
        presentation: Presentation,
        warnings: DeckWarnings,
        *,
        is_strict: bool,
        files: Mapping[str, Source] = MappingProxyType({}),
        contents: Callable[[Any], bytes] | None = None,
    ) -> None:
        self.presentation = presentation
        self.warnings = warnings
        self.is_strict = is_strict
        self.files = files
        self.contents = contents or _blob
        self.main: Any = presentation.part
        # Asked once: python-pptx walks all relations of the deck to list its parts.
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
        return parse_emu(found.get("cx", "")), parse_emu(found.get("cy", ""))

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
        raise ValidationFailed(f"there is no slide {index}: the deck {have}, counted from 0")

    def slide(self, index: int) -> SlidePart:
        """Return the part of a slide.

        Raises:
            ValidationFailed: There is none, or it is damaged.
        """
        part = self.part_of(self.entry(index))
        if part is None:
            raise ValidationFailed(f"slide {index} cannot be changed: its part is missing")
        return part

    def part_of(self, entry: etree._Element) -> SlidePart | None:
        """Return the part of a slide's entry, None if that is no slide."""
        relation = self.main.rels.get(entry.get(f"{R}id", ""))
        part = relation.target_part if relation is not None and not relation.is_external else None
        return part if isinstance(part, SlidePart) else None

    def layouts(self, near: BaseSlidePart | None) -> list[Layout]:
        """Return the layouts: those of the master that a slide has in front, if one is given."""
        own = related_part(near, RT.SLIDE_LAYOUT) if near is not None else None
        mine = related_part(own, RT.SLIDE_MASTER) if own is not None else None
        masters = []
        for entry in self.root.iterfind(f"{P}sldMasterIdLst/{P}sldMasterId"):
            relation = self.main.rels.get(entry.get(f"{R}id", ""))
            part = relation.target_part if relation and not relation.is_external else None
            if isinstance(part, SlideMasterPart):
                masters.append(part)
        # The sort is stable: the other masters keep the order of the deck.
        masters.sort(key=lambda part: part is not mine)
        return [layout for master in masters for layout in _layouts_of(master)]

    def add(self, layout: Layout, index: int) -> SlidePart:
        """Add an empty slide at an index, or behind the last one."""
        # By hand: python-pptx adds slides at the end only, and gives them all placeholders.
        name = self.free_name("/ppt/slides/slide{}.xml")
        root = CT_Slide.new()
        part = SlidePart(PackURI(name), CT.PML_SLIDE, self.main.package, root)
        part.relate_to(layout.part, RT.SLIDE_LAYOUT)
        self.list_slide(part, index)
        return part

    def list_slide(self, part: SlidePart, index: int) -> None:
        """List a new slide in the deck at an index, or behind the last one."""
        relation_id = self.main.relate_to(part, RT.SLIDE)
        taken = {entry.get("id", "") for entry in self.entries}
        highest = max((int(each) for each in taken if each.isdecimal()), default=0)
        number = max(highest + 1, _FIRST_SLIDE_ID)
        if number > _LAST_SLIDE_ID:
            # The highest id is in use, which leaves the gaps below it.
            number = next(i for i in range(_FIRST_SLIDE_ID, _LAST_SLIDE_ID) if str(i) not in taken)
        # By python-pptx, which knows the list's place among its siblings in the schema.
        slides = self.presentation.element.get_or_add_sldIdLst()
        entry = slides.makeelement(f"{P}sldId", {"id": str(number), f"{R}id": relation_id})
        entries = self.entries
        if index < len(entries):
            entries[index].addprevious(entry)
        elif entries:
            entries[-1].addnext(entry)
        else:
            slides.insert(0, entry)

    def release(self, part: BaseSlidePart, removed: Sequence[etree._Element]) -> bool:
        """Drop the relations that only removed elements of a slide named.

        Args:
            part: The slide.
            removed: What was taken out of it.

        Returns:
            Whether there were any.
        """
        gone = {value for each in removed for value in _ids_in(each)} - set(
            _ids_in(part._element)  # noqa: SLF001 - python-pptx has no other way
        )
        dropped = [each for each in gone if each in part.rels]
        for relation_id in dropped:
            part.rels.pop(relation_id)
        return bool(dropped)

    def free_name(self, pattern: str) -> str:
        """Return a name for a new part that no part has; `pattern` has a {} for a number."""
        number = 1
        while pattern.format(number) in self._names:
            number += 1
        name = pattern.format(number)
        self._names.add(name)
        return name


def _blob(part: Any) -> bytes:
    blob: bytes = part.blob
    return blob


def _ids_in(root: etree._Element) -> Iterator[str]:
    """Yield the ids of relations that elements name."""
    for element in root.iter():
        for key, value in element.attrib.items():
            if str(key).startswith(R):
                yield str(value)


def parents_of(part: BaseSlidePart) -> tuple[etree._Element, ...]:
    """Return the roots of a slide's layout and master, as far as they are there."""
    found = []
    layout = related_part(part, RT.SLIDE_LAYOUT)
    if isinstance(layout, SlideLayoutPart):
        found.append(layout.slide_layout.element)
        master = related_part(layout, RT.SLIDE_MASTER)
        if isinstance(master, SlideMasterPart):
            found.append(master.slide_master.element)
    return tuple(found)


def notes_of(part: SlidePart) -> NotesSlidePart | None:
    """Return the part of a slide's notes, None if it has none."""
    found = related_part(part, RT.NOTES_SLIDE)
    return found if isinstance(found, NotesSlidePart) else None


def related_part(part: BaseSlidePart, kind: str) -> Any:
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
