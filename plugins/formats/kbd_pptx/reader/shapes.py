"""Shapes of a slide, with those inside of groups, and their reading order.

The title comes first, footers last. Between them a slide is cut where nothing stands: along the
widest gap, be it between what is above and below or between columns, and each half again; what
cannot be cut is read from its top, then from its left. So a column is read down before the next
one, and a heading before what it heads. The order in a file is only that of painting; it counts
for shapes that have no place, and for those that say nothing, which lie behind others as cards and
backgrounds: each follows the one before it. Groups are read as one.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from lxml import etree

from kbd_pptx.presentation import MC, P14, SHAPE_TAGS, A, P
from kbd_pptx.reader.boxes import (
    EMU_PER_INCH,
    IDENTITY,
    Box,
    BoxTurn,
    Transform2D,
    group_transform,
    parse_turn,
    read_box,
    turned,
)
from kbd_pptx.reader.deck import SlideLayout

__all__ = [
    "FOOTERS",
    "SHAPE_TAGS",
    "Kind",
    "SlideShape",
    "direct_shapes",
    "is_image",
    "parse_id",
    "picture_of",
    "reading_order",
    "shape_transform",
    "shapes_of",
]


Kind = Literal[
    "shape", "text_box", "picture", "media", "chart", "table", "diagram", "ole_object", "model3d",
    "group", "connector", "ink", "graphic",
]  # fmt: skip
"""What a shape is; "graphic" is a frame with something that is not known here."""

# By position: the order is that of SHAPE_TAGS.
_SHAPE, _PICTURE, _FRAME, _GROUP, _CONNECTOR, _INK = SHAPE_TAGS
_ALTERNATE = f"{MC}AlternateContent"

_FRAMED: dict[str, Kind] = {
    "http://schemas.openxmlformats.org/drawingml/2006/chart": "chart",
    "http://schemas.microsoft.com/office/drawing/2014/chartex": "chart",
    "http://schemas.openxmlformats.org/drawingml/2006/table": "table",
    "http://schemas.openxmlformats.org/drawingml/2006/diagram": "diagram",
    "http://schemas.openxmlformats.org/presentationml/2006/ole": "ole_object",
    "http://schemas.microsoft.com/office/drawing/2017/model3d": "model3d",
}
_MORE, _MARKS = f"{P}nvPr", f"{P}cNvSpPr"
# Ink (p:contentPart) has its names and its transform in PowerPoint's namespace of 2010.
_NAMES = (f"{P}cNvPr", f"{P14}cNvPr")
_TURNED_ON = ("1", "true")
_MEDIA = frozenset(f"{A}{name}" for name in (
    "audioCd", "audioFile", "quickTimeFile", "videoFile", "wavAudioFile",
))  # fmt: skip


class SlideShape(msgspec.Struct, frozen=True):
    """A shape; what is seldom asked for is looked up when it is.

    Args:
        element: Its element.
        kind: What it is.
        placeholder: The type of the placeholder that it fills, "object" for one that takes any
            content, "" if it fills none.
        index: The index of that placeholder, "" if it fills none.
        parent: Where the group that it is in stands among the slide's shapes, -1 if in none.
        layout: The layout of its slide.
        transform: How the coordinates that it is given in become the slide's.
        names: What holds its id and name, if anything does.
        turns: How the groups around it are turned, the innermost first.
        is_in_hidden: Whether a group around it is not shown.
    """

    element: etree._Element
    kind: Kind
    placeholder: str
    index: str
    parent: int
    layout: SlideLayout
    transform: Transform2D
    names: etree._Element | None
    turns: tuple[BoxTurn, ...] = ()
    is_in_hidden: bool = False

    @property
    def id(self) -> str:
        """Its id on the slide, "" if it has none."""
        return "" if self.names is None else self.names.get("id", "")

    @property
    def name(self) -> str:
        """Its name."""
        return "" if self.names is None else self.names.get("name", "")

    @property
    def alt_text(self) -> str:
        """Its alternative text."""
        if self.names is None:
            return ""
        return (self.names.get("descr") or self.names.get("title") or "").strip()

    @property
    def is_hidden(self) -> bool:
        """Whether it says itself that it is not shown."""
        return self.names is not None and self.names.get("hidden") in _TURNED_ON

    @property
    def is_shown(self) -> bool:
        """Whether it is shown: neither it nor a group that it is in is hidden."""
        return not (self.is_hidden or self.is_in_hidden)

    @property
    def body(self) -> etree._Element | None:
        """Its text body, if it has one."""
        return self.element.find(f"{P}txBody")

    @property
    def is_title(self) -> bool:
        """Whether it is the title of the slide."""
        return self.placeholder in ("title", "ctrTitle")

    @property
    def box(self) -> Box | None:
        """Its box on the slide, its own or one inherited from layout or master."""
        box = read_box(shape_transform(self.element))
        if box is None and self.placeholder:
            box = self.layout.box(self.placeholder, self.index)
        return None if box is None else self.transform.apply(box)

    @property
    def drawn_box(self) -> Box | None:
        """The box that it takes on the slide when it and the groups around it are turned."""
        box, xfrm = self.box, shape_transform(self.element)
        turn = 0.0 if xfrm is None else parse_turn(xfrm)
        if box is None or not (turn or self.turns):
            return box
        return turned(box, turn, self.turns)

    @property
    def is_beyond(self) -> bool:
        """Whether it is farther away than anything can be, so that it has no box."""
        return read_box(shape_transform(self.element)) is not None and self.box is None


def parse_id(text: str) -> int:
    """Return the id of a shape as a number, -1 if it is none."""
    return int(text) if text.isdecimal() and len(text) < 16 else -1


def direct_shapes(tree: etree._Element) -> Iterator[etree._Element]:
    """Yield the shapes that stand directly in a slide's tree or in a group.

    Of alternatives the first that holds shapes that are known here.
    """
    for child in tree:
        if child.tag in SHAPE_TAGS:
            yield child
        elif child.tag == _ALTERNATE:
            for choice in child:
                known = [each for each in choice if each.tag in SHAPE_TAGS]
                if known:
                    yield from known
                    break


def picture_of(element: etree._Element) -> etree._Element | None:
    """Return the blip of a picture, or of a shape filled with one; None if there is none."""
    if element.tag == _PICTURE:
        return element.find(f"{P}blipFill/{A}blip")
    if element.tag == _SHAPE:
        return element.find(f"{P}spPr/{A}blipFill/{A}blip")
    return None


def is_image(shape: SlideShape) -> bool:
    """Tell whether a shape is a picture, or filled with one; the first picture of a film is not."""
    if shape.kind == "picture":
        return True
    return shape.kind != "media" and picture_of(shape.element) is not None


def shapes_of(tree: etree._Element, layout: SlideLayout) -> tuple[SlideShape, ...]:
    """Return the shapes of a slide in the order of its file, a group before what is in it.

    Args:
        tree: The slide's tree of shapes.
        layout: What its placeholders take from.
    """
    found: list[SlideShape] = []
    # Groups may be nested deeper than functions may be.
    waiting = [(direct_shapes(tree), IDENTITY, -1, _NO_TURNS)]
    while waiting:
        elements, transform, parent, turns = waiting[-1]
        element = next(elements, None)
        if element is None:
            waiting.pop()
            continue
        is_in_hidden = parent >= 0 and not found[parent].is_shown
        shape = _shape(element, layout, transform, parent, turns, is_in_hidden=is_in_hidden)
        found.append(shape)
        if element.tag == _GROUP:
            inner = group_transform(shape_transform(element), transform)
            around = (*_turns(shape), *turns)
            waiting.append((direct_shapes(element), inner, len(found) - 1, around))
    return tuple(found)


_NO_TURNS: tuple[BoxTurn, ...] = ()


def _turns(group: SlideShape) -> tuple[BoxTurn, ...]:
    """Return how a group turns what is in it, none if it does not."""
    xfrm, box = shape_transform(group.element), group.box
    degrees = 0.0 if xfrm is None else parse_turn(xfrm)
    if not degrees or box is None or len(group.turns) >= _MAX_TURNS:
        return _NO_TURNS
    return (BoxTurn(degrees, box.x + box.width / 2, box.y + box.height / 2),)


_MAX_TURNS = 20
"""Of groups within each other that are turned; deeper ones are taken for straight."""


def _shape(
    element: etree._Element,
    layout: SlideLayout,
    transform: Transform2D,
    parent: int,
    turns: tuple[BoxTurn, ...],
    *,
    is_in_hidden: bool,
) -> SlideShape:
    names = marks = more = mark = None
    # By position: the first child names the shape, under another tag in each kind of shape.
    for child in element[0] if len(element) else ():
        tag = child.tag
        if tag in _NAMES:
            names = child
        elif tag == _MORE:
            more = child
        elif tag == _MARKS:
            marks = child
    if more is not None and len(more):
        mark = more.find(f"{P}ph")
    type_ = index = ""
    if mark is not None:
        index = mark.get("idx", "0")
        type_ = mark.get("type", "") or layout.type(index) or "object"
    kind = _kind(element, marks, more)
    return SlideShape(
        element, kind, type_, index, parent, layout, transform, names, turns, is_in_hidden
    )


def _kind(
    element: etree._Element, marks: etree._Element | None, more: etree._Element | None
) -> Kind:
    """Tell what a shape is, by what its names stand beside."""
    tag = element.tag
    if tag == _SHAPE:
        is_box = marks is not None and marks.get("txBox") in _TURNED_ON
        return "text_box" if is_box else "shape"
    if tag == _PICTURE:
        is_media = more is not None and any(child.tag in _MEDIA for child in more)
        return "media" if is_media else "picture"
    if tag == _FRAME:
        data = element.find(f"{A}graphic/{A}graphicData")
        return _FRAMED.get(data.get("uri", "") if data is not None else "", "graphic")
    if tag == _GROUP:
        return "group"
    return "connector" if tag == _CONNECTOR else "ink"


def shape_transform(element: etree._Element) -> etree._Element | None:
    """Return the element that says where a shape is, if there is one."""
    tag = element.tag
    if tag == _FRAME:
        return element.find(f"{P}xfrm")
    if tag == _GROUP:
        return element.find(f"{P}grpSpPr/{A}xfrm")
    return element.find("{*}xfrm" if tag == _INK else f"{P}spPr/{A}xfrm")


FOOTERS = ("dt", "ftr", "sldNum")
"""Placeholders whose text is the same on all slides."""

_TOUCHING = 0.1 * EMU_PER_INCH
"""By how much boxes may overlap and still count as apart: they are drawn by hand."""

_MAX_CUT = 200
"""More shapes than this beside each other are no layout that a person made."""

_Placed = tuple[Box, int]
"""A box and where its shape stands in the file."""


def reading_order(shapes: Sequence[SlideShape]) -> list[int]:
    """Return the indices of a slide's shapes in reading order."""
    children: dict[int, list[int]] = {}
    for place, shape in enumerate(shapes):
        children.setdefault(shape.parent, []).append(place)
    found: list[int] = []
    # Reversed, because the stack hands out the last one first.
    waiting = _group_order(children.get(-1, []), shapes)[::-1]
    while waiting:
        place = waiting.pop()
        found.append(place)
        waiting.extend(_group_order(children.get(place, []), shapes)[::-1])
    return found


def _group_order(places: list[int], shapes: Sequence[SlideShape]) -> list[int]:
    titles = [place for place in places if shapes[place].is_title]
    footers = [place for place in places if shapes[place].placeholder in FOOTERS]
    apart = {*titles, *footers}
    others = [place for place in places if place not in apart]
    unplaced: dict[int, list[int]] = {}
    placed: list[_Placed] = []
    for place in others:
        box = None if _has_no_text(shapes[place]) else shapes[place].box
        if box is None:
            unplaced.setdefault(placed[-1][1] if placed else -1, []).append(place)
        else:
            placed.append((box, place))
    found = [*titles, *unplaced.get(-1, [])]
    for place in _cut_order(placed):
        found += [place, *unplaced.get(place, [])]
    return found + footers


def _has_no_text(shape: SlideShape) -> bool:
    """Tell whether a shape says nothing, so that where it lies orders nothing."""
    if shape.kind not in ("shape", "text_box", "connector") or shape.alt_text:
        return False
    body = shape.body
    return body is None or not any((text.text or "").strip() for text in body.iter(f"{A}t"))


def _cut_order(boxes: list[_Placed]) -> list[int]:
    """Return places in reading order, cutting along the widest gap first."""
    found: list[int] = []
    waiting = [boxes]
    while waiting:
        part = waiting.pop()
        if len(part) < 2 or len(part) > _MAX_CUT:
            found.extend(place for _, place in sorted(part, key=_from_top))
            continue
        rows = sorted(part, key=_from_top)
        columns = sorted(part, key=_from_left)
        row_gap, row = _widest_gap([(box.y, box.height) for box, _ in rows])
        column_gap, column = _widest_gap([(box.x, box.width) for box, _ in columns])
        if max(row_gap, column_gap) <= -_TOUCHING:
            found.extend(place for _, place in rows)
        elif row_gap >= column_gap:
            # Also for equal gaps, for a grid is read by rows. The first half goes on top of the
            # stack.
            waiting += [rows[row:], rows[:row]]
        else:
            waiting += [columns[column:], columns[:column]]
    return found


def _from_top(entry: _Placed) -> tuple[float, float, int]:
    box, place = entry
    return box.y, box.x, place


def _from_left(entry: _Placed) -> tuple[float, float, int]:
    box, place = entry
    return box.x, box.y, place


def _widest_gap(spans: Sequence[tuple[float, float]]) -> tuple[float, int]:
    """Return the widest gap between spans, and which of them is the first behind it.

    Args:
        spans: Where each begins, in order, and how long it is. What overlaps has a gap below 0.
    """
    widest, behind = -math.inf, 0
    end = spans[0][0] + spans[0][1]
    for place, (start, size) in enumerate(spans[1:], 1):
        if start - end > widest:
            widest, behind = start - end, place
        # The farthest end so far: a wide shape may reach past several that begin after it.
        end = max(end, start + size)
    return widest, behind
