"""A deck: its size, its slides and sections, its masters with their layouts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import Identity, suffix_mismatch
from kbd.opc.package import Package
from kbd_pptx.family import FAMILY, opened
from kbd_pptx.reader.boxes import EMU_PER_INCH, length
from kbd_pptx.reader.layouts import NO_LAYOUT, SlideLayout, layout_of
from kbd_pptx.reader.names import P14, P, R
from kbd_pptx.reader.parts import ParsedParts
from kbd_pptx.slides import SlidePart, listed_slides

__all__ = ["DeckReader", "MasterNames", "opened_deck"]

_DEFAULT_SIZE = (10 * EMU_PER_INCH, 7.5 * EMU_PER_INCH)
"""ECMA-376, part 1, 19.2.1.39 names it as usual."""


class MasterNames(msgspec.Struct, frozen=True):
    """A master and its layouts.

    Args:
        name: The name of its theme.
        parts: Its part and those of its layouts.
        layouts: The names of its layouts in order.
    """

    name: str
    parts: tuple[str, ...]
    layouts: tuple[str, ...]


class DeckReader:
    """A deck, open for reading; what is asked for is parsed then, once.

    Args:
        package: The deck's package.
        identity: What it is.

    Attributes:
        slides: Its slides in order.
        numbers: The index of each slide by its part.
        warnings: What could not be read, but need not be; it grows.

    Raises:
        FileReadFailed: The deck's main part is damaged.
    """

    def __init__(self, package: Package, identity: Identity) -> None:
        self.name = package.name
        self.parts = ParsedParts(package)
        self.part = identity.part
        self.warnings: list[str] = []
        refused = suffix_mismatch(identity, FAMILY, package.name)
        if refused:
            self.warnings.append(refused)
        self._root = self.parts.root(identity.part)
        relations = self.parts.relations(identity.part)
        self.slides: tuple[SlidePart, ...] = listed_slides(package, self._root, relations)
        self.numbers: Mapping[str, int] = {
            slide.part: index for index, slide in enumerate(self.slides) if slide.part
        }
        self._layouts: dict[str, SlideLayout] = {}

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of its slides, in English metric units."""
        size = self._root.find(f"{P}sldSz")
        if size is None:
            return _DEFAULT_SIZE
        width, height = length(size.get("cx")), length(size.get("cy"))
        return (width or _DEFAULT_SIZE[0], height or _DEFAULT_SIZE[1])

    @property
    def first_number(self) -> int:
        """The number that is shown on its first slide."""
        text = self._root.get("firstSlideNum", "1")
        return int(text) if text.isdecimal() and len(text) < 6 else 1

    def sections(self) -> list[tuple[str, list[int]]]:
        """Return its sections: a name, and the indices of slides, as far as they are there."""
        places = {slide.slide_id: index for index, slide in enumerate(self.slides)}
        found = []
        for section in self._root.iterfind(f"{P}extLst/{P}ext/{P14}sectionLst/{P14}section"):
            ids = (entry.get("id", "") for entry in section.iterfind(f"{P14}sldIdLst/{P14}sldId"))
            found.append((section.get("name", ""), [places[id_] for id_ in ids if id_ in places]))
        return found

    def masters(self) -> list[MasterNames]:
        """Return its masters in order, with their layouts."""
        found = []
        for entry in self._root.iterfind(f"{P}sldMasterIdLst/{P}sldMasterId"):
            relation = self.parts.relations(self.part).get(entry.get(f"{R}id", ""))
            if relation is not None and self.parts.has(relation):
                with self.spared("A master"):
                    found.append(self._master_names(relation.target))
        return found

    def layout(self, part: str) -> SlideLayout:
        """Return a layout with its master; an empty one if it cannot be read."""
        if part not in self._layouts:
            self._layouts[part] = NO_LAYOUT
            with self.spared("A layout"):
                if part:
                    master = self._master(self.parts.target(part, "slideMaster"))
                    self._layouts[part] = layout_of(self.parts.root(part), master)
        return self._layouts[part]

    @contextmanager
    def spared(self, what: str) -> Iterator[None]:
        """Go on without something that cannot be read, with a warning that names it."""
        try:
            yield
        except FileReadFailed as error:
            self.warnings.append(f"{what} is not shown: {error.message}")

    def _master(self, part: str) -> SlideLayout | None:
        if part and part not in self._layouts:
            self._layouts[part] = NO_LAYOUT
            self._layouts[part] = layout_of(self.parts.root(part))
        return self._layouts.get(part)

    def _master_names(self, part: str) -> MasterNames:
        theme = self.parts.target(part, "theme")
        name = self.parts.root(theme).get("name", "") if theme else ""
        master = self._master(part) or NO_LAYOUT
        relations = self.parts.relations(part)
        listed = [relations[id_] for id_ in master.listed if id_ in relations]
        layouts = tuple(each.target for each in listed if self.parts.has(each))
        return MasterNames(
            name, (part, *layouts), tuple(self.layout(layout).name for layout in layouts)
        )


@contextmanager
def opened_deck(source: Source) -> Iterator[DeckReader]:
    """Open a deck for reading.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    with opened(source) as (package, identity):
        yield DeckReader(package, identity)
