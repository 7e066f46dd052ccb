"""Deck as it is read: its size, its slides and sections, its masters with their layouts.

A placeholder of a slide is that of its layout with the same index, else of the same type; that of a
layout is the master's of the type it goes back to (ECMA-376, part 1, 19.3.1.36). What a slide does
not say of place and bullets is theirs.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import Identity, suffix_mismatch
from kbd.opc.package import Package
from kbd_pptx.presentation import (
    FAMILY,
    P14,
    A,
    P,
    ParsedParts,
    R,
    SlidePart,
    open_presentation,
    read_slide_list,
)
from kbd_pptx.reader.boxes import EMU_PER_INCH, Box, parse_length, read_box

__all__ = [
    "NO_LAYOUT",
    "DeckReader",
    "LayoutPlaceholder",
    "MasterNames",
    "SlideLayout",
    "open_deck",
    "read_bullets",
    "read_layout",
]


_ROOTS = {"ctrTitle": "title", "title": "title", "dt": "dt", "ftr": "ftr", "sldNum": "sldNum"}
"""The master's placeholder that a layout's goes back to; all others go back to its body."""

_LEVELS = tuple(f"{A}lvl{level}pPr" for level in range(1, 10))

_MAX_PLACEHOLDERS = 200
"""Of a layout; the fullest of real ones have some 30. Each shape of a slide may look at all."""

Bullets = Mapping[int, str]
"""By level, from 0: "" no bullet, "-" a bullet, "1" a number; a level that says nothing is left."""


class LayoutPlaceholder(msgspec.Struct, frozen=True):
    """A placeholder of a layout or a master.

    Args:
        type: Its type, "" for one that takes any content.
        index: Its index, "0" if it has none.
        box: Where it is, None if that is not said.
        bullets: What its own list styles say.
    """

    type: str
    index: str
    box: Box | None
    bullets: Bullets


class SlideLayout(msgspec.Struct, frozen=True):
    """A layout, or a master, which has no other above it.

    Args:
        name: Its name, "" if it has none.
        placeholders: Its placeholders.
        master: The master of a layout.
        title_bullets: What a master's text styles say of titles.
        body_bullets: The same of all other placeholders.
        listed: The ids of the relations to a master's layouts, in order.
    """

    name: str = ""
    placeholders: tuple[LayoutPlaceholder, ...] = ()
    master: "SlideLayout | None" = None
    title_bullets: Bullets = {}
    body_bullets: Bullets = {}
    listed: tuple[str, ...] = ()

    def placeholder_like(self, type_: str, index: str) -> LayoutPlaceholder | None:
        """Return the placeholder that one of a slide with this layout inherits from."""
        found = next((each for each in self.placeholders if each.index == index), None)
        # What has no index counts as 0, as a title does, so that the type must fit as well.
        if found is not None and _root(found.type) == _root(type_):
            return found
        same = next((each for each in self.placeholders if each.type == type_), None)
        return same or found

    def master_placeholder(self, type_: str) -> LayoutPlaceholder | None:
        """Return the master's placeholder that one of a type goes back to."""
        if self.master is None:
            return None
        return next(
            (each for each in self.master.placeholders if each.type == _root(type_)),
            None,
        )

    def type(self, index: str) -> str:
        """Return the type of the placeholder of an index, "" if it takes any content."""
        return next(
            (each.type for each in self.placeholders if each.index == index),
            "",
        )

    def box(self, type_: str, index: str) -> Box | None:
        """Return the inherited box of a placeholder, None if there is none."""
        for placeholder in (self.placeholder_like(type_, index), self.master_placeholder(type_)):
            if placeholder is not None and placeholder.box is not None:
                return placeholder.box
        return None

    def bullet(self, type_: str, index: str, level: int) -> str:
        """Return the inherited bullet of a paragraph in a placeholder."""
        placeholder, above = self.placeholder_like(type_, index), self.master_placeholder(type_)
        master = self.master or self
        styles = master.title_bullets if _root(type_) == "title" else master.body_bullets
        for bullets in (
            placeholder.bullets if placeholder else {},
            above.bullets if above else {},
            styles,
        ):
            # "" ends the search as well: it says that a bullet was taken away.
            if level in bullets:
                return bullets[level]
        return ""


NO_LAYOUT = SlideLayout()


def read_layout(root: etree._Element, master: SlideLayout | None = None) -> SlideLayout:
    """Read a layout or a master from its root.

    Args:
        root: The root of its part.
        master: Of a layout, its master.
    """
    data = root.find(f"{P}cSld")
    styles = root.find(f"{P}txStyles")
    title = body = None
    if styles is not None:
        title, body = styles.find(f"{P}titleStyle"), styles.find(f"{P}bodyStyle")
    return SlideLayout(
        data.get("name", "") if data is not None else "",
        tuple(islice(_placeholders(root), _MAX_PLACEHOLDERS)),
        master,
        read_bullets(title),
        read_bullets(body),
        tuple(e.get(f"{R}id", "") for e in root.iterfind(f"{P}sldLayoutIdLst/{P}sldLayoutId")),
    )


def read_bullets(styles: etree._Element | None) -> Bullets:
    """Read the bullets of list styles, by level."""
    found: dict[int, str] = {}
    if styles is None:
        return found
    for level, tag in enumerate(_LEVELS):
        properties = styles.find(tag)
        if properties is None:
            continue
        for child in properties:
            if child.tag == f"{A}buNone":
                found[level] = ""
            elif child.tag == f"{A}buAutoNum":
                found[level] = "1"
            elif child.tag in (f"{A}buChar", f"{A}buBlip"):
                found[level] = "-"
    return found


def _placeholders(root: etree._Element) -> Iterator[LayoutPlaceholder]:
    return (_placeholder(shape) for shape in root.iter(f"{P}sp") if _mark(shape) is not None)


def _root(type_: str) -> str:
    return _ROOTS.get(type_, "body")


def _mark(shape: etree._Element) -> etree._Element | None:
    return shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")


def _placeholder(shape: etree._Element) -> LayoutPlaceholder:
    mark = _mark(shape)
    assert mark is not None
    return LayoutPlaceholder(
        mark.get("type", ""),
        mark.get("idx", "0"),
        read_box(shape.find(f"{P}spPr/{A}xfrm")),
        read_bullets(shape.find(f"{P}txBody/{A}lstStyle")),
    )


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
        self.slides: tuple[SlidePart, ...] = read_slide_list(package, self._root, relations)
        self.numbers: Mapping[str, int] = {
            slide.part: index for index, slide in enumerate(self.slides) if slide.part
        }
        self._layouts: dict[str, SlideLayout] = {}

    @property
    def text_style(self) -> etree._Element | None:
        """What the presentation says of texts where nothing else does."""
        return self._root.find(f"{P}defaultTextStyle")

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of its slides, in English metric units."""
        size = self._root.find(f"{P}sldSz")
        if size is None:
            return _DEFAULT_SIZE
        width, height = parse_length(size.get("cx")), parse_length(size.get("cy"))
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
                with self.skip_unreadable("A master"):
                    found.append(self._master_names(relation.target))
        return found

    def layout(self, part: str) -> SlideLayout:
        """Return a layout with its master; an empty one if it cannot be read."""
        if part not in self._layouts:
            # Entered first: a layout that cannot be read warns once, not with each slide.
            self._layouts[part] = NO_LAYOUT
            with self.skip_unreadable("A layout"):
                if part:
                    master = self._master(self.parts.target(part, "slideMaster"))
                    self._layouts[part] = read_layout(self.parts.shared_root(part), master)
        return self._layouts[part]

    @contextmanager
    def skip_unreadable(self, what: str) -> Iterator[None]:
        """Skip what cannot be read, with a warning that names it."""
        try:
            yield
        except FileReadFailed as error:
            self.warnings.append(f"{what} is not shown: {error.message}")

    def _master(self, part: str) -> SlideLayout | None:
        if part and part not in self._layouts:
            # Entered first here, too. The table is shared with layouts, so that one which names
            # itself as its master ends here.
            self._layouts[part] = NO_LAYOUT
            # Here, not in the caller: else the layout that asks first would be lost with it.
            with self.skip_unreadable("A master"):
                self._layouts[part] = read_layout(self.parts.shared_root(part))
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
def open_deck(source: Source) -> Iterator[DeckReader]:
    """Open a deck for reading.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    with open_presentation(source) as (package, identity):
        yield DeckReader(package, identity)
