"""Backgrounds of slides: what a slide and its master are painted with, and what hides either.

A slide that says nothing of its own is painted as its master is, a master that says nothing is
white. OpenDocument 1.3, part 3: 16.36 (styles of slides), 20.241 (what of a master is shown).
"""

import msgspec
from lxml import etree

from kbd.office.open_document import STYLE
from kbd.office.open_text.looks import PLAIN, OpenLook, read_backing
from kbd_odp.boxes import SlideBox
from kbd_odp.packages import PRESENTATION

__all__ = ["DeckMaster", "SlideStyle", "read_slide_style"]


class SlideStyle(msgspec.Struct, frozen=True):
    """What a style of slides says.

    Args:
        look: What they are painted with.
        is_hidden: Whether a show skips them.
        shown: Which of the master's are shown: "footer", "date-time", "page-number", "objects".
    """

    look: OpenLook = PLAIN
    is_hidden: bool = False
    shown: frozenset[str] = frozenset()


class DeckMaster(msgspec.Struct, frozen=True):
    """A master of slides.

    Args:
        name: What people call it.
        size: The width and height of its slides, in inches.
        style: How they are painted.
        boxes: Where something of its own is drawn on each of them.
        is_doubtful: Whether something is drawn at a place that is not known.
    """

    name: str
    size: tuple[float, float]
    style: SlideStyle
    boxes: tuple[SlideBox, ...] = ()
    is_doubtful: bool = False


_PARTS = ("footer", "date-time", "page-number")


def read_slide_style(element: etree._Element) -> SlideStyle:
    """Return what a style of the family "drawing-page" says."""
    told = element.find(f"{STYLE}drawing-page-properties")
    if told is None:
        return SlideStyle(shown=frozenset(("objects",)))
    shown = {part for part in _PARTS if told.get(f"{PRESENTATION}display-{part}") == "true"}
    if told.get(f"{PRESENTATION}background-objects-visible") != "false":
        shown.add("objects")
    hidden = told.get(f"{PRESENTATION}visibility") == "hidden"
    return SlideStyle(read_backing(None, told), hidden, frozenset(shown))
