"""Layouts and masters: what the placeholders of slides take from them.

A placeholder of a slide is that of its layout with the same index, else of the same type; that of a
layout is the master's of the type it goes back to (ECMA-376, part 1, 19.3.1.36). What a slide does
not say of place and bullets is theirs.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec
from lxml import etree

from kbd_pptx.reader.boxes import Box, box_of
from kbd_pptx.reader.names import A, P, R

__all__ = ["NO_LAYOUT", "SlideLayout", "Slot", "bullets_of", "layout_of"]

_ROOTS = {"ctrTitle": "title", "title": "title", "dt": "dt", "ftr": "ftr", "sldNum": "sldNum"}
"""The master's placeholder that a layout's goes back to; all others go back to its body."""

_LEVELS = tuple(f"{A}lvl{level}pPr" for level in range(1, 10))

_MOST_SLOTS = 200
"""Of a layout; the fullest of real ones have some 30. Each shape of a slide may look at all."""

Bullets = Mapping[int, str]
"""By level, from 0: "" no bullet, "-" a bullet, "1" a number; a level that says nothing is left."""


class Slot(msgspec.Struct, frozen=True):
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
        slots: Its placeholders.
        master: The master of a layout.
        title_bullets: What a master's text styles say of titles.
        body_bullets: The same of all other placeholders.
        listed: The ids of the relations to a master's layouts, in order.
    """

    name: str = ""
    slots: tuple[Slot, ...] = ()
    master: "SlideLayout | None" = None
    title_bullets: Bullets = {}
    body_bullets: Bullets = {}
    listed: tuple[str, ...] = ()

    def slot(self, type_: str, index: str) -> Slot | None:
        """Return the placeholder that one of a slide with this layout takes after."""
        found = next((slot for slot in self.slots if slot.index == index), None)
        if found is not None and _root(found.type) == _root(type_):
            return found
        same = next((slot for slot in self.slots if slot.type == type_), None)
        return same or found

    def above(self, type_: str) -> Slot | None:
        """Return the master's placeholder that one of a type goes back to."""
        if self.master is None:
            return None
        return next((slot for slot in self.master.slots if slot.type == _root(type_)), None)

    def type(self, index: str) -> str:
        """Return the type of the placeholder of an index, "" if it takes any content."""
        return next((slot.type for slot in self.slots if slot.index == index), "")

    def box(self, type_: str, index: str) -> Box | None:
        """Return where a placeholder is, where the slide does not say; None if nothing does."""
        for slot in (self.slot(type_, index), self.above(type_)):
            if slot is not None and slot.box is not None:
                return slot.box
        return None

    def bullet(self, type_: str, index: str, level: int) -> str:
        """Return what stands before a paragraph of a placeholder, where the slide does not say."""
        slot, above = self.slot(type_, index), self.above(type_)
        master = self.master or self
        styles = master.title_bullets if _root(type_) == "title" else master.body_bullets
        for bullets in (slot.bullets if slot else {}, above.bullets if above else {}, styles):
            if level in bullets:
                return bullets[level]
        return ""


NO_LAYOUT = SlideLayout()


def layout_of(root: etree._Element, master: SlideLayout | None = None) -> SlideLayout:
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
        tuple(islice(_slots(root), _MOST_SLOTS)),
        master,
        bullets_of(title),
        bullets_of(body),
        tuple(e.get(f"{R}id", "") for e in root.iterfind(f"{P}sldLayoutIdLst/{P}sldLayoutId")),
    )


def bullets_of(styles: etree._Element | None) -> Bullets:
    """Return what list styles say of bullets."""
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


def _slots(root: etree._Element) -> Iterator[Slot]:
    return (_slot(shape) for shape in root.iter(f"{P}sp") if _mark(shape) is not None)


def _root(type_: str) -> str:
    return _ROOTS.get(type_, "body")


def _mark(shape: etree._Element) -> etree._Element | None:
    return shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")


def _slot(shape: etree._Element) -> Slot:
    mark = _mark(shape)
    assert mark is not None
    return Slot(
        mark.get("type", ""),
        mark.get("idx", "0"),
        box_of(shape.find(f"{P}spPr/{A}xfrm")),
        bullets_of(shape.find(f"{P}txBody/{A}lstStyle")),
    )
