"""Boxes of shapes on a slide, in inches, before they are turned.

A shape that is turned says by a list of transforms where it lies: its box is that of the same size
about the same middle. OpenDocument 1.3, part 3, 19.227 (draw:transform), 18.3.22 (lengths).
"""

import math
import re

import msgspec
from lxml import etree

from kbd.office.open_document import DRAW, SVG

__all__ = ["SlideBox", "box_around", "box_of", "length"]

# The digits are bounded because a file decides how many there are.
_NUMBER = r"[-+]?(?:\d{1,15}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?"
_LENGTH = re.compile(rf"\s*({_NUMBER})(cm|mm|in|pt|pc|px)?\s*")
_PER_INCH = {"cm": 2.54, "mm": 25.4, "in": 1.0, "pt": 72.0, "pc": 6.0, "px": 96.0}
_TRANSFORM = re.compile(r"(rotate|translate|scale|matrix|skewX|skewY)\s*\(([^()]{0,300})\)")
_MAX_TRANSFORMS = 20
_MAX_INCHES = 1e7
"""Farther than this nothing is: some two hundred kilometers."""

_ENDS = (f"{DRAW}line", f"{DRAW}connector", f"{DRAW}measure")


class SlideBox(msgspec.Struct, frozen=True):
    """A rectangle, in inches."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: "SlideBox") -> bool:
        """Tell whether another one has a part of this one's area."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )

    def rounded(self) -> dict[str, float]:
        """Return it as plain values."""
        return {
            "x": round(self.x, 4), "y": round(self.y, 4),
            "width": round(self.width, 4), "height": round(self.height, 4),
        }  # fmt: skip


def length(text: str | None) -> float | None:
    """Return a length in inches; None for what is none, or is farther than anything can be."""
    found = _LENGTH.fullmatch(text) if text else None
    if found is None:
        return None
    inches = float(found[1]) / _PER_INCH[found[2] or "in"]
    return inches if abs(inches) < _MAX_INCHES else None


def box_of(element: etree._Element) -> SlideBox | None:
    """Return where a shape says that it is; None where it does not."""
    if element.tag in _ENDS:
        ends = [length(element.get(f"{SVG}{side}")) for side in ("x1", "y1", "x2", "y2")]
        x1, y1, x2, y2 = ends
        if x1 is None or y1 is None or x2 is None or y2 is None:
            return None
        return SlideBox(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1))
    width, height = (length(element.get(f"{SVG}{side}")) for side in ("width", "height"))
    if width is None or height is None or width < 0 or height < 0:
        return None
    x, y = (length(element.get(f"{SVG}{side}")) for side in ("x", "y"))
    told = element.get(f"{DRAW}transform")
    if told is None:
        return None if x is None or y is None else SlideBox(x, y, width, height)
    middle = _moved((x or 0.0) + width / 2, (y or 0.0) + height / 2, told)
    if middle is None:
        return None
    return SlideBox(middle[0] - width / 2, middle[1] - height / 2, width, height)


def box_around(boxes: list[SlideBox]) -> SlideBox | None:
    """Return the box of a group, by those of what is in it."""
    if not boxes:
        return None
    left, top = min(each.x for each in boxes), min(each.y for each in boxes)
    right = max(each.x + each.width for each in boxes)
    bottom = max(each.y + each.height for each in boxes)
    return SlideBox(left, top, right - left, bottom - top)


def _moved(x: float, y: float, transforms: str) -> tuple[float, float] | None:
    """Return where a place comes to lie, None if that is nowhere."""
    for name, told in _TRANSFORM.findall(transforms)[:_MAX_TRANSFORMS]:
        given = [length(each) for each in re.split(r"[\s,]+", told.strip()) if each]
        values = [each for each in given if each is not None]
        match name, values:
            case "rotate", [angle]:
                # Against the clock, in radians; the vertical axis points down.
                cosine, sine = math.cos(angle), math.sin(angle)
                x, y = x * cosine + y * sine, y * cosine - x * sine
            case "translate", [across, *down]:
                x, y = x + across, y + (down[0] if down else 0.0)
            case "scale", [across, *down]:
                x, y = x * across, y * (down[0] if down else across)
            case "matrix", [a, b, c, d, e, f]:
                x, y = a * x + c * y + e, b * x + d * y + f
            case _:
                # Slants move the middle of nothing that programs write.
                continue
    return (x, y) if max(abs(x), abs(y)) < _MAX_INCHES else None
