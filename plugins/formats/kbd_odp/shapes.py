"""Shapes of a slide, with those inside of groups, in the order of the file, which is of painting.

OpenDocument 1.3, part 3: 10.2 to 10.7 (drawings), 10.10 (slides), 19.389 (presentation:class).
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec
from lxml import etree

from kbd.office.open_document import DRAW, OFFICE, SVG, TABLE, TEXT, XLINK, XML
from kbd.office.open_text.renderer import OpenTextRenderer
from kbd_odp.boxes import SlideBox, box_around, box_of
from kbd_odp.charts import ChartShown, EmbeddedObjects
from kbd_odp.packages import PRESENTATION

__all__ = [
    "FOOTERS",
    "DeckShape",
    "PlacedElement",
    "ShapeKind",
    "alternative_text",
    "content_of",
    "element_digest",
    "place_elements",
    "read_shape",
]

ShapeKind = Literal[
    "shape", "text_box", "picture", "media", "chart", "table", "ole_object", "group", "connector",
    "graphic",
]  # fmt: skip
"""What a shape is, in the words of other decks; "graphic" is something that is not known here."""

FOOTERS = ("footer", "date-time", "page-number", "header")
"""Classes of placeholders whose text is the same on all slides."""

_SCENE = "{urn:oasis:names:tc:opendocument:xmlns:dr3d:1.0}scene"
_GROUP, _LINK, _FRAME = f"{DRAW}g", f"{DRAW}a", f"{DRAW}frame"
_SHAPES = frozenset(
    f"{DRAW}{name}"
    for name in (
        "custom-shape", "rect", "ellipse", "circle", "polygon", "polyline", "path", "caption",
        "regular-polygon", "line", "connector", "measure", "frame", "g", "control",
    )
) | {_SCENE}  # fmt: skip
_LINES = (f"{DRAW}line", f"{DRAW}connector", f"{DRAW}measure")
_FRAMED: dict[str, ShapeKind] = {
    f"{DRAW}text-box": "text_box",
    f"{TABLE}table": "table",
    f"{DRAW}image": "picture",
    f"{DRAW}object": "ole_object",
    f"{DRAW}object-ole": "ole_object",
    f"{DRAW}plugin": "media",
}
_GRAPHIC: ShapeKind = "graphic"


class PlacedElement(msgspec.Struct, frozen=True):
    """A shape's element: where the group that it is in stands among the slide's, -1 if in none."""

    element: etree._Element
    parent: int
    box: SlideBox | None


class DeckShape(msgspec.Struct, frozen=True):
    """A shape.

    Args:
        index: Its index on the slide, from 0.
        kind: What it is.
        name: Its name.
        placeholder: The class of the placeholder that it fills, "" if none.
        group: The index of the group that it is in, -1 if in none.
        box: Where it is.
        text: Its text: a line a paragraph, with bullets and levels.
        rows: The texts of the cells of a table.
        chart: What a chart shows.
        alt_text: What it is said to show.
        file: The part or address of a picture.
        is_hidden: Whether it is not shown.
        digest: Equal for those that are made alike; "" if not wanted.
    """

    index: int
    kind: ShapeKind
    name: str
    placeholder: str
    group: int
    box: SlideBox | None
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    chart: ChartShown | None = None
    alt_text: str = ""
    file: str = ""
    is_hidden: bool = False
    digest: str = ""

    @property
    def is_title(self) -> bool:
        """Whether it is the title of the slide."""
        return self.placeholder == "title"


def place_elements(page: etree._Element) -> list[PlacedElement]:
    """Return the shapes of a slide, a group before what is in it, each with its place."""
    found: list[tuple[etree._Element, int]] = []
    # Groups may be nested deeper than functions may be.
    waiting: list[tuple[Iterator[etree._Element], int]] = [(iter(page), -1)]
    while waiting:
        children, parent = waiting[-1]
        child = next(children, None)
        if child is None:
            waiting.pop()
        elif child.tag == _LINK:
            waiting.append((iter(child), parent))
        elif child.tag in _SHAPES:
            found.append((child, parent))
            if child.tag == _GROUP:
                waiting.append((iter(child), len(found) - 1))
    return _with_boxes(found)


def _with_boxes(found: list[tuple[etree._Element, int]]) -> list[PlacedElement]:
    """Find the boxes; that of a group is around all that is in it, which stands behind it."""
    boxes = [None if element.tag == _GROUP else box_of(element) for element, _ in found]
    inside: dict[int, list[SlideBox]] = {}
    for place in range(len(found) - 1, -1, -1):
        element, parent = found[place]
        if element.tag == _GROUP:
            boxes[place] = box_around(inside.pop(place, []))
        box = boxes[place]
        if parent >= 0 and box is not None:
            inside.setdefault(parent, []).append(box)
    return [
        PlacedElement(element, parent, box)
        for (element, parent), box in zip(found, boxes, strict=True)
    ]


def content_of(element: etree._Element) -> etree._Element | None:
    """Return what a frame holds: the first of what may be shown in it."""
    if element.tag != _FRAME:
        return None
    children = element.iterchildren(f"{DRAW}*", f"{TABLE}table")
    return next((child for child in children if child.tag not in _NO_CONTENT), None)


_NO_CONTENT = (f"{DRAW}glue-point", f"{DRAW}image-map", f"{DRAW}contour-polygon")


def alternative_text(element: etree._Element) -> str:
    """Return what the author says that a shape shows: the description, else the title."""
    told = (" ".join(element.findtext(f"{SVG}{name}", "").split()) for name in ("desc", "title"))
    return next(filter(None, told), "")


def read_shape(
    index: int,
    placed: PlacedElement,
    renderer: OpenTextRenderer,
    objects: EmbeddedObjects,
    styles: Mapping[str, str] | None,
) -> DeckShape:
    """Return a shape of a slide.

    Args:
        index: Its index on the slide.
        placed: Its element and place.
        renderer: For its texts.
        objects: The objects of the deck.
        styles: What automatic styles say, by their names; None if no digest is wanted.

    Raises:
        FileReadFailed: The chart in it cannot be read.
    """
    element = placed.element
    content = content_of(element)
    kind = _kind(element, content)
    text, chart, file = "", None, ""
    rows: tuple[tuple[str, ...], ...] = ()
    is_empty = element.get(f"{PRESENTATION}placeholder") == "true"
    if is_empty or kind == "group":
        # What a placeholder without contents asks for is no text of the slide.
        pass
    elif content is None:
        text = renderer.text(element)
    elif kind == "text_box":
        text = renderer.text(content)
    elif kind == "table":
        rows = _even(renderer.table(content).rows)
    elif kind in ("picture", "media"):
        file = content.get(f"{XLINK}href", "").removeprefix("./")
    elif content.tag == f"{DRAW}object":
        chart = objects.chart(content, renderer)
        kind = "chart" if chart is not None else kind
    renderer.drawn.clear()
    return DeckShape(
        index, kind, element.get(f"{DRAW}name", ""), element.get(f"{PRESENTATION}class", ""),
        placed.parent, placed.box, text.strip("\n"), rows, chart, alternative_text(element), file,
        element.get(f"{DRAW}display", "always") in ("none", "printer"),
        "" if styles is None else element_digest(element, styles, is_whole=kind != "group"),
    )  # fmt: skip


def _kind(element: etree._Element, content: etree._Element | None) -> ShapeKind:
    tag = element.tag
    if tag == _GROUP:
        return "group"
    if tag == _FRAME:
        return _GRAPHIC if content is None else _FRAMED.get(str(content.tag), _GRAPHIC)
    if tag in _LINES:
        return "connector"
    return _GRAPHIC if tag in (_SCENE, f"{DRAW}control") else "shape"


def _even(rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Return rows of one width: blank cells at their ends were left out."""
    width = max(map(len, rows), default=0)
    return tuple(row + ("",) * (width - len(row)) for row in rows)


_STYLE_NAME = "style-name"
_PASSED = (f"{TEXT}soft-page-break", f"{OFFICE}annotation", f"{PRESENTATION}notes")
_SET_ANEW = (f"{XML}id", f"{DRAW}id", f"{TEXT}id")


def element_digest(element: etree._Element, styles: Mapping[str, str], *, is_whole: bool) -> str:
    """Return what is equal for elements that are made alike, whatever their styles are called.

    Args:
        element: A shape, or a slide.
        styles: What automatic styles say, by their names.
        is_whole: Whether what is in it counts as well. Shapes in a slide or in a group do not:
            they are told by themselves.
    """
    digest = hashlib.sha256()
    for each in element.iter() if is_whole else _without_shapes(element):
        if not isinstance(each.tag, str) or each.tag in _PASSED:
            continue
        facts = sorted(
            f"{key}={styles.get(value, value) if key.endswith(_STYLE_NAME) else value}"
            for key, value in _facts(each)
            if key not in _SET_ANEW
        )
        digest.update("\0".join((each.tag, *facts, each.text or "", each.tail or "")).encode())
    return digest.hexdigest()


def _facts(element: etree._Element) -> Iterator[tuple[str, str]]:
    yield from ((str(key), str(value)) for key, value in element.items())


def _without_shapes(element: etree._Element) -> Iterator[etree._Element]:
    yield element
    for child in element.iterchildren("{*}*"):
        if child.tag not in _SHAPES and child.tag not in (_LINK, *_PASSED):
            yield from child.iter("{*}*")
