"""Boxes of shapes on a slide, in English metric units, 914,400 to the inch.

A group has coordinates of its own for what is inside of it. Rotation is not applied: a box is that
of the thing before it is turned, as office programs show it in their size dialogs.
"""

import math
import re

import msgspec
from lxml import etree

from kbd_pptx.presentation import A

__all__ = [
    "EMU_PER_INCH",
    "IDENTITY",
    "Box",
    "BoxTurn",
    "Transform2D",
    "box_in_inches",
    "group_transform",
    "parse_length",
    "parse_turn",
    "read_box",
    "turned",
]

EMU_PER_INCH = 914_400

_MAX_EMU = 1e13
"""Farther than this, in units, nothing is: ten thousand kilometers."""

# The digits are bounded because a file decides how many there are.
_NUMBER = re.compile(r"\s*([-+]?\d{1,15}(?:\.\d{1,15})?)(mm|cm|in|pt|pc|pi)?\s*")
_UNITS = {"mm": 36_000, "cm": 360_000, "in": EMU_PER_INCH, "pt": 12_700, "pc": 152_400}
"""Strict files may give lengths with units (ISO 29500-1, 22.9.2.15)."""


class Box(msgspec.Struct, frozen=True):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


class Transform2D(msgspec.Struct, frozen=True):
    """Transform from the coordinates inside of a group to those of the slide."""

    scale_x: float
    scale_y: float
    shift_x: float
    shift_y: float

    def apply(self, box: Box) -> Box | None:
        """Return a box on the slide; None if it is farther away than anything can be."""
        x0, x1 = (self.scale_x * x + self.shift_x for x in (box.x, box.x + box.width))
        y0, y1 = (self.scale_y * y + self.shift_y for y in (box.y, box.y + box.height))
        # A mirrored group has a negative scale, which swaps the two ends.
        found = Box(min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0))
        sides = (found.x, found.y, found.width, found.height)
        # The scales of nested groups multiply and may reach infinity.
        return (
            found if all(math.isfinite(side) and abs(side) < _MAX_EMU for side in sides) else None
        )


class BoxTurn(msgspec.Struct, frozen=True):
    """A turn clockwise by degrees, about a place on the slide."""

    degrees: float
    x: float
    y: float


_TURN_UNITS = 60_000
"""Of an angle, to the degree (ECMA-376, part 1, 20.1.10.3)."""


def parse_turn(xfrm: etree._Element) -> float:
    """Return by how many degrees a transform turns what it is of, from 0 up to 360."""
    return (parse_length(xfrm.get("rot")) or 0.0) / _TURN_UNITS % 360


def turned(box: Box, degrees: float, turns: tuple[BoxTurn, ...]) -> Box:
    """Return the box around a box that is turned about its middle, then by other turns."""
    own = BoxTurn(degrees, box.x + box.width / 2, box.y + box.height / 2)
    corners = [(x, y) for x in (box.x, box.x + box.width) for y in (box.y, box.y + box.height)]
    for turn in (own, *turns):
        angle = math.radians(turn.degrees)
        cosine, sine = math.cos(angle), math.sin(angle)
        corners = [
            (
                turn.x + (x - turn.x) * cosine - (y - turn.y) * sine,
                turn.y + (x - turn.x) * sine + (y - turn.y) * cosine,
            )
            for x, y in corners
        ]
    # Whole units: an exact half turn must not end beside where it began.
    xs, ys = ([round(place) for place in side] for side in zip(*corners, strict=True))
    return Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))


IDENTITY = Transform2D(1.0, 1.0, 0.0, 0.0)


def parse_length(text: str | None) -> float | None:
    """Return a length, None if it is none."""
    found = _NUMBER.fullmatch(text or "")
    if found is None:
        return None
    # The unit that is not in the table is `pi`: a pica, like `pc`.
    return float(found[1]) * _UNITS.get(found[2] or "", 152_400 if found[2] else 1)


def read_box(xfrm: etree._Element | None, place: str = "off", size: str = "ext") -> Box | None:
    """Return the box of a transform, None if it has none."""
    if xfrm is None:
        return None
    off, ext = xfrm.find(f"{A}{place}"), xfrm.find(f"{A}{size}")
    if off is None or ext is None:
        return None
    x, y = parse_length(off.get("x")), parse_length(off.get("y"))
    width, height = parse_length(ext.get("cx")), parse_length(ext.get("cy"))
    if x is None or y is None or width is None or height is None:
        return None
    return Box(x, y, width, height)


def group_transform(xfrm: etree._Element | None, outer: Transform2D) -> Transform2D:
    """Return the transform from the coordinates inside of a group to the slide's.

    Args:
        xfrm: The group's transform.
        outer: How the coordinates around the group do.
    """
    box, inner = read_box(xfrm), read_box(xfrm, "chOff", "chExt")
    if xfrm is None or box is None or inner is None:
        return outer
    # A group around a straight line has no extent in one direction, and no scale there.
    scale_x = box.width / inner.width if inner.width else 1.0
    scale_y = box.height / inner.height if inner.height else 1.0
    shift_x, shift_y = box.x - inner.x * scale_x, box.y - inner.y * scale_y
    # A flip mirrors about the middle of the group's own box.
    if xfrm.get("flipH") in ("1", "true"):
        scale_x, shift_x = -scale_x, 2 * box.x + box.width - shift_x
    if xfrm.get("flipV") in ("1", "true"):
        scale_y, shift_y = -scale_y, 2 * box.y + box.height - shift_y
    return Transform2D(
        outer.scale_x * scale_x,
        outer.scale_y * scale_y,
        outer.scale_x * shift_x + outer.shift_x,
        outer.scale_y * shift_y + outer.shift_y,
    )


def box_in_inches(box: Box) -> dict[str, float]:
    """Return a box in inches, as clients get it."""
    return {
        "x": _inches(box.x),
        "y": _inches(box.y),
        "width": _inches(box.width),
        "height": _inches(box.height),
    }


def _inches(units: float) -> float:
    # Without the sum a small negative number would be rounded to -0.0.
    return round(units / EMU_PER_INCH, 4) + 0.0
