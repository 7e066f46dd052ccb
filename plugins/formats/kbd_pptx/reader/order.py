"""The order in which a reader goes over the shapes of a slide.

The title comes first, footers last. Between them a slide is cut where nothing stands: along the
widest gap, be it between what is above and below or between columns, and each half again; what
cannot be cut is read from its top, then from its left. So a column is read down before the next
one, and a heading before what it heads. The order in a file is only that of painting; it counts
for shapes that have no place, and for those that say nothing, which lie behind others as cards and
backgrounds: each follows the one before it. Groups are read as one.
"""

import math
from collections.abc import Sequence

from kbd_pptx.reader.boxes import EMU_PER_INCH, Box
from kbd_pptx.reader.names import A
from kbd_pptx.reader.shapes import SlideShape

__all__ = ["FOOTERS", "reading_order"]

FOOTERS = ("dt", "ftr", "sldNum")
"""Placeholders whose text is the same on all slides."""

_TOUCHING = 0.1 * EMU_PER_INCH
"""By how much boxes may overlap and still count as apart: they are drawn by hand."""

_MOST_CUT = 200
"""More shapes than this beside each other are no layout that a person made."""

_Placed = tuple[Box, int]
"""A box and where its shape stands in the file."""


def reading_order(shapes: Sequence[SlideShape]) -> list[int]:
    """Return where the shapes of a slide stand in the sequence, in the order of a reader."""
    inside: dict[int, list[int]] = {}
    for place, shape in enumerate(shapes):
        inside.setdefault(shape.parent, []).append(place)
    found: list[int] = []
    waiting = _sorted(inside.get(-1, []), shapes)[::-1]
    while waiting:
        place = waiting.pop()
        found.append(place)
        waiting.extend(_sorted(inside.get(place, []), shapes)[::-1])
    return found


def _sorted(places: list[int], shapes: Sequence[SlideShape]) -> list[int]:
    titles = [place for place in places if shapes[place].is_title]
    footers = [place for place in places if shapes[place].placeholder in FOOTERS]
    apart = {*titles, *footers}
    others = [place for place in places if place not in apart]
    unplaced: dict[int, list[int]] = {}
    placed: list[_Placed] = []
    for place in others:
        box = None if _is_mute(shapes[place]) else shapes[place].box
        if box is None:
            unplaced.setdefault(placed[-1][1] if placed else -1, []).append(place)
        else:
            placed.append((box, place))
    found = [*titles, *unplaced.get(-1, [])]
    for place in _cut(placed):
        found += [place, *unplaced.get(place, [])]
    return found + footers


def _is_mute(shape: SlideShape) -> bool:
    """Tell whether a shape says nothing, so that where it lies orders nothing."""
    if shape.kind not in ("shape", "text_box", "connector") or shape.alt_text:
        return False
    body = shape.body
    return body is None or not any((text.text or "").strip() for text in body.iter(f"{A}t"))


def _cut(boxes: list[_Placed]) -> list[int]:
    """Return places in the order of a reader, cutting along the widest gap first."""
    found: list[int] = []
    waiting = [boxes]
    while waiting:
        part = waiting.pop()
        if len(part) < 2 or len(part) > _MOST_CUT:
            found.extend(place for _, place in sorted(part, key=_from_top))
            continue
        rows = sorted(part, key=_from_top)
        columns = sorted(part, key=_from_left)
        row_gap, row = _widest_gap([(box.y, box.height) for box, _ in rows])
        column_gap, column = _widest_gap([(box.x, box.width) for box, _ in columns])
        if max(row_gap, column_gap) <= -_TOUCHING:
            found.extend(place for _, place in rows)
        elif row_gap >= column_gap:
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
        end = max(end, start + size)
    return widest, behind
