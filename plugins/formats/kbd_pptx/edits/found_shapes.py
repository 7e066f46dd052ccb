"""Shapes of a slide as an edit finds them: by id or name, of one kind, also inside of groups.

What is not there is an error that names what comes near it, and what there is.
"""

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from lxml import etree
from pptx.parts.slide import SlidePart

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_pptx.edits.deck import DeckEdit, parents_of
from kbd_pptx.edits.placeholders import tree_of
from kbd_pptx.edits.warnings import shorten
from kbd_pptx.presentation import P14, SHAPE_TAGS, A, C, P
from kbd_pptx.reader.shapes import direct_shapes, picture_of

__all__ = [
    "FoundShape",
    "SlideEdit",
    "chart_of",
    "find_shape",
    "is_picture",
    "names_of",
    "near_names",
    "shapes_on",
    "slide_at",
    "table_of",
]

_GROUP = SHAPE_TAGS[3]
_MAX_LISTED = 12


class SlideEdit(msgspec.Struct, frozen=True):
    """A slide that is edited: its place in the deck, its part and root, its layout and master."""

    index: int
    part: SlidePart
    root: etree._Element
    parents: tuple[etree._Element, ...]


class FoundShape(msgspec.Struct, frozen=True):
    """A shape of a slide: its element, its id and name, and the name of the group it is in."""

    element: etree._Element
    id: str
    name: str
    group: str | None


def slide_at(deck: DeckEdit, index: int) -> SlideEdit:
    """Return a slide to edit; raises ValidationFailed if there is none."""
    part = deck.slide(index)
    return SlideEdit(index, part, part.slide.element, parents_of(part))


def names_of(shape: etree._Element) -> etree._Element | None:
    """Return what holds the id and the name of a shape."""
    for more in shape:
        for each in more.iterchildren(f"{P}cNvPr", f"{P14}cNvPr"):
            return each
    return None


def shapes_on(root: etree._Element) -> Iterator[FoundShape]:
    """Yield the shapes of a slide, a group before what is in it."""
    waiting: list[tuple[etree._Element, str | None]] = [
        (shape, None) for shape in direct_shapes(tree_of(root))
    ]
    waiting.reverse()
    while waiting:
        shape, group = waiting.pop()
        names = names_of(shape)
        name = "" if names is None else names.get("name", "")
        yield FoundShape(shape, "" if names is None else names.get("id", ""), name, group)
        if shape.tag == _GROUP:
            inner = [(each, name) for each in direct_shapes(shape)]
            waiting.extend(reversed(inner))


def table_of(shape: etree._Element) -> etree._Element | None:
    """Return the table in a frame, None if it holds none."""
    return shape.find(f"{A}graphic/{A}graphicData/{A}tbl")


def chart_of(shape: etree._Element) -> etree._Element | None:
    """Return what names the chart in a frame, None if it holds none."""
    return shape.find(f"{A}graphic/{A}graphicData/{C}chart")


def is_picture(shape: etree._Element) -> bool:
    """Tell whether a shape is a picture, or filled with one."""
    return picture_of(shape) is not None


def find_shape(
    slide: SlideEdit,
    wanted: str | int | None,
    what: str,
    is_one: Callable[[etree._Element], Any] | None = None,
    also: Callable[[etree._Element], str] | None = None,
) -> FoundShape:
    """Return the shape that an id or a name means; of those of one kind, if one is asked for.

    Args:
        slide: The slide.
        wanted: The id or the name; None for the only one.
        what: What it is called in messages ("table").
        is_one: Tells whether a shape is of the kind.
        also: Returns another name of a shape, as the title of a chart is.

    Raises:
        ValidationFailed: There is none, or it is not certain which one is meant.
    """
    every = list(shapes_on(slide.root))
    found = [each for each in every if is_one is None or is_one(each.element) not in (None, False)]
    if not found:
        msg = f"there is no {what} on slide {slide.index}{_there_are(every, 'shapes')}"
        raise ValidationFailed(msg)
    if wanted is None:
        if len(found) == 1:
            return found[0]
        msg = f"slide {slide.index} has several {what}s; name one{_there_are(found, what + 's')}"
        raise ValidationFailed(msg)
    plain = str(wanted).strip()
    ways: Sequence[Callable[[FoundShape], bool]] = (
        lambda each: each.name == wanted,
        lambda each: also is not None and also(each.element) == wanted,
        lambda each: each.name.strip().casefold() == plain.casefold(),
        lambda each: each.id == plain,
    )
    for is_meant in ways[3:] if isinstance(wanted, int) else ways:
        meant = [each for each in found if is_meant(each)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            ids = listed([each.id for each in meant], _MAX_LISTED)
            raise ValidationFailed(
                f"several shapes of slide {slide.index} are {shorten(plain)!r}; name one by its "
                f"id: {ids}"
            )
    near = near_names(plain, [each.name for each in found])
    hint = f"; near it: {near}" if near else ""
    msg = f"there is no {what} {shorten(plain)!r} on slide {slide.index}{hint}"
    raise ValidationFailed(f"{msg}{_there_are(found, what + 's')}")


def near_names(wanted: str, names: Sequence[str]) -> str:
    """Return the names that come near one, in quotes; "" if none does."""
    plain = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(wanted.casefold()[:100], list(plain), n=3, cutoff=0.6)
    return ", ".join(f'"{shorten(plain[each])}"' for each in near)


def _there_are(found: Sequence[FoundShape], what: str) -> str:
    if not found:
        return ""
    shown = listed([f'"{shorten(each.name)}" (id {each.id})' for each in found], _MAX_LISTED)
    return f"; {what} there: {shown}"
