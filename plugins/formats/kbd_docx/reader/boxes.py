"""Boxes of a document that hold text: what is behind the text, and whether they are on the page.

Shapes of DrawingML (`wps:wsp`) stand in a frame, alone or in groups; those of VML say by their
style where they are. Lengths are in English Metric Units. ECMA-376, part 1, 20.4; part 4, 19.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import msgspec
from lxml import etree

from kbd.office.paint import (
    CLEAR,
    UNKNOWN,
    Paint,
    Paints,
    Verdict,
    fill_of,
    fill_paints,
    reference_paints,
)
from kbd.office.theme import drawing_color, parse_rgb
from kbd_docx.document import PIC, WP, A, V, number, vector_size

__all__ = ["TWIP", "BoxLook", "DocumentPages", "place_verdict"]

TWIP = 635
"""English Metric Units to the twentieth of a point."""

_POINT = 12_700
_FAR = 1 << 48
_LETTER = (12_240 * TWIP, 15_840 * TWIP)
_USUAL_MARGIN = 1_440 * TWIP
_DRAWN_BEHIND = re.compile(rb"\bbehindDoc=[\"'](?:1|true|on)[\"']|z-index:\s*-")
_ANCHOR = re.compile(rb"<wp:anchor\b")
_VECTOR = re.compile(rb"<v:(?:shape|rect|roundrect|oval)\b")
_SIZE = re.compile(rb"<w:pgSz\b[^>]*>")
_MARGIN = re.compile(rb"<w:pgMar\b[^>]*>")
_VALUE = re.compile(rb"\bw:(w|h|left|top)=[\"'](\d{1,6})")
_MAX_LAYERS = 30
"""Shapes below a box in its group that are looked at; more may be of any color."""

_MOST = 0.8
# By their own names alone: strict files have shapes and groups in other namespaces.
_SHAPE, _WHOLE_GROUP, _GROUP = "}wsp", "}wgp", ("}wgp", "}grpSp")
_VECTORS = tuple(f"{V}{name}" for name in ("shape", "rect", "roundrect", "oval"))
_FRAMES = (f"{WP}anchor", f"{WP}inline")
_ON = ("1", "true", "on", "t")
_OFF = ("0", "false", "off", "f")
_NAMED = {
    "white": "FFFFFF", "window": "FFFFFF", "black": "000000", "windowtext": "000000",
    "red": "FF0000", "yellow": "FFFF00", "lime": "00FF00", "green": "008000", "blue": "0000FF",
    "navy": "000080", "gray": "808080", "silver": "C0C0C0", "teal": "008080", "maroon": "800000",
    "purple": "800080", "olive": "808000", "aqua": "00FFFF", "fuchsia": "FF00FF",
}  # fmt: skip
"""The colors that VML has names for."""


class DocumentPages:
    """What the parts of a document say of its pages as a whole; found once, when asked for.

    Args:
        main: The main part.
        around: Returns the headers and footers.
    """

    def __init__(self, main: bytes, around: Callable[[], Iterable[bytes]] = tuple) -> None:
        self._main, self._around = main, around

    @cached_property
    def size(self) -> tuple[int, int]:
        """The width and the height that no page goes beyond."""
        found = self._extremes(_SIZE, max)
        return found.get(b"w", _LETTER[0]), found.get(b"h", _LETTER[1])

    @cached_property
    def least_size(self) -> tuple[int, int]:
        """The width and the height of the smallest page."""
        found = self._extremes(_SIZE, min)
        return found.get(b"w", _LETTER[0]), found.get(b"h", _LETTER[1])

    @cached_property
    def margins(self) -> tuple[int, int]:
        """The widest margins on the left and at the top."""
        found = self._extremes(_MARGIN, max)
        return found.get(b"left", _USUAL_MARGIN), found.get(b"top", _USUAL_MARGIN)

    @cached_property
    def has_drawn_behind(self) -> bool:
        """Whether drawings lie behind the text of pages."""
        parts = (self._main, *self._around())
        return any(_DRAWN_BEHIND.search(part) is not None for part in parts)

    @cached_property
    def has_several_drawings(self) -> bool:
        """Whether one drawing may lie below another one."""
        found = len(_ANCHOR.findall(self._main)) or len(_VECTOR.findall(self._main))
        return found > 1 or self.has_drawn_behind

    def _extremes(
        self, kind: re.Pattern[bytes], choose: Callable[[int, int], int]
    ) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for tag in kind.findall(self._main):
            for name, value in _VALUE.findall(tag):
                length = int(value) * TWIP
                found[name] = choose(found.get(name, length), length)
        return found


class _Spot(msgspec.Struct, frozen=True):
    """Where something is: its begin and length one way, and from where that is counted."""

    start: int
    length: int
    origin: str


def place_verdict(
    page: DocumentPages, across: tuple[int, int, str], down: tuple[int, int, str]
) -> Verdict:
    """Return whether something lies outside of the page.

    Args:
        page: The page.
        across: Where it begins from the left, how wide it is, and from where that is counted:
            "page", "margin" or something else.
        down: The same from above.
    """
    found = {
        _outside(_Spot(*each), size, least, margin)
        for each, size, least, margin in zip(
            (across, down), page.size, page.least_size, page.margins, strict=True
        )
    }
    return next((each for each in _VERDICTS if each in found), "")


_VERDICTS: tuple[Verdict, ...] = ("hidden", "maybe hidden")


def _outside(spot: _Spot, size: int, least: int, margin: int) -> Verdict:
    # Of what does not say how long it is, its place counts.
    end = spot.start + max(spot.length, 1)
    if spot.start >= size:
        return "hidden"
    if spot.start >= least:
        return "maybe hidden"
    if spot.origin == "page":
        return "hidden" if end <= 0 else ""
    # Counted from a place on the page that is not known but for its bounds.
    if end <= -size:
        return "hidden"
    return "maybe hidden" if end <= -margin else ""


class BoxLook:
    """What is around the text of a box.

    Args:
        content: What holds the text (`w:txbxContent`).
        theme: The root of the theme.
        scheme: Returns RRGGBB for the name of a color of the theme, "" for none.
    """

    def __init__(
        self,
        content: etree._Element,
        theme: etree._Element | None,
        scheme: Callable[[str], str],
    ) -> None:
        self._theme, self._scheme = theme, scheme
        self._shape = next(content.iterancestors("{*}wsp", *_VECTORS), None)

    @property
    def ink(self) -> str:
        """The color that the look of the shape gives to its letters, "" for none."""
        style = None if self._shape is None else self._shape.find(f"{{*}}style/{A}fontRef")
        return drawing_color(style, self._scheme)

    def layers(self) -> Iterator[tuple[Paints, bool]]:
        """Yield what is behind the text from above, and whether it is behind all of it."""
        shape = self._shape
        if shape is None:
            yield UNKNOWN, True
            return
        yield self._paints(shape), True
        if not shape.tag.endswith(_SHAPE):
            if next(shape.iterancestors(f"{V}group"), None) is not None:
                yield UNKNOWN, False
            return
        box = _box(shape)
        for count, below in enumerate(shape.itersiblings(preceding=True)):
            if count == _MAX_LAYERS:
                yield UNKNOWN, False
                return
            paints, share = self._paints(below), _share(_box(below), box)
            if paints and share:
                yield paints, share >= _MOST

    def place(self, page: DocumentPages) -> Verdict:
        """Return whether the box is hidden, has no room for text, or lies outside of the page."""
        shape = self._shape
        if shape is None:
            return ""
        frame = next(shape.iterancestors(*_FRAMES), None)
        if not shape.tag.endswith(_SHAPE) or frame is None:
            return _vector_place(shape, page)
        named = frame.find(f"{WP}docPr")
        own = shape.find("{*}cNvPr")
        if any(each is not None and each.get("hidden") in _ON for each in (named, own)):
            return "hidden"
        if _is_flat(shape, frame):
            return "hidden"
        return "" if frame.tag != f"{WP}anchor" else _anchor_place(frame, shape, page)

    def _paints(self, shape: etree._Element) -> Paints:
        if shape.tag in _VECTORS:
            return _vector_paints(shape)
        if shape.tag == f"{PIC}pic":
            return UNKNOWN
        if not shape.tag.endswith(_SHAPE):
            # What is in a group below is not looked into.
            return UNKNOWN if shape.tag.endswith(_GROUP) else CLEAR
        fill = fill_of(shape.find("{*}spPr"))
        around = shape.getparent()
        while fill is not None and fill.tag == f"{A}grpFill" and around is not None:
            fill = fill_of(around.find("{*}grpSpPr"))
            around = around.getparent()
        if fill is not None:
            return fill_paints(fill, self._scheme)
        return reference_paints(shape.find(f"{{*}}style/{A}fillRef"), self._theme, self._scheme)


_Sides = tuple[int, int, int, int]


def _box(element: etree._Element) -> _Sides | None:
    """Return where a shape of a group is in it: left, top, width, height; None if untold."""
    xfrm = element.find(f"./*/{A}xfrm")
    return None if xfrm is None else _sides(xfrm, "off", "ext")


def _sides(xfrm: etree._Element, place: str, size: str) -> _Sides | None:
    off, ext = xfrm.find(f"{A}{place}"), xfrm.find(f"{A}{size}")
    if off is None or ext is None:
        return None
    x, y = (number(off.get(name), 0, -_FAR, _FAR) for name in ("x", "y"))
    width, height = (number(ext.get(name), 0, 0, _FAR) for name in ("cx", "cy"))
    return x, y, width, height


def _share(outer: _Sides | None, inner: _Sides | None) -> float:
    """Return which share of a box another one covers; a half if that is not known."""
    if outer is None or inner is None:
        return 0.5
    share = 1.0
    for way in (0, 1):
        start, end = max(outer[way], inner[way]), outer[way] + outer[way + 2]
        covered = min(end, inner[way] + inner[way + 2]) - start
        share *= max(0.0, covered / inner[way + 2] if inner[way + 2] else 1.0)
    return share


def _is_flat(shape: etree._Element, frame: etree._Element) -> bool:
    """Return whether a box has no room for text, and does not grow with it."""
    extent = frame.find(f"{WP}extent")
    own = _box(shape)
    widths = [] if own is None else [own[2]]
    heights = [] if own is None else [own[3]]
    if extent is not None:
        widths.append(number(extent.get("cx"), _FAR, 0, _FAR))
        heights.append(number(extent.get("cy"), _FAR, 0, _FAR))
    grows = shape.find(f"{{*}}bodyPr/{A}spAutoFit") is not None
    return min(widths, default=_FAR) < _POINT or (not grows and min(heights, default=_FAR) < _POINT)


def _anchor_place(frame: etree._Element, shape: etree._Element, page: DocumentPages) -> Verdict:
    extent, inner = frame.find(f"{WP}extent"), _in_group(shape)
    spots = []
    for way, (name, side) in enumerate((("positionH", "cx"), ("positionV", "cy"))):
        length = 0 if extent is None else number(extent.get(side), 0, 0, _FAR)
        start, origin = _start(frame, name, "xy"[way], page.size[way])
        if inner is not None:
            start, length = start + inner[way], inner[way + 2]
        spots.append((start, length, origin))
    return place_verdict(page, spots[0], spots[1])


def _start(frame: etree._Element, name: str, side: str, size: int) -> tuple[int, str]:
    """Return where an anchored frame begins, and from where that is counted."""
    if frame.get("simplePos") in _ON:
        simple = frame.find(f"{WP}simplePos")
        return number(None if simple is None else simple.get(side), 0, -_FAR, _FAR), "page"
    # Anywhere inside: shares of the page stand in alternatives to lengths.
    found = next(frame.iter(f"{WP}{name}"), None)
    if found is None:
        return 0, "margin"
    origin = found.get("relativeFrom", "")
    for child in found.iter("{*}posOffset", "{*}pctPosHOffset", "{*}pctPosVOffset"):
        value = number(child.text, 0, -_FAR, _FAR)
        is_share = not child.tag.endswith("posOffset")
        # Shares are in thousandths of a percent.
        return (value * size // 100_000 if is_share else value), origin
    return 0, "page"


def _in_group(shape: etree._Element) -> _Sides | None:
    """Return where a shape of a group is in its frame; None for one that is in no group."""
    box, group = _box(shape), shape.getparent()
    if box is None or group is None or not group.tag.endswith(_GROUP):
        return None
    x, y, width, height = map(float, box)
    while group is not None and group.tag.endswith(_GROUP):
        xfrm = group.find(f"{{*}}grpSpPr/{A}xfrm")
        outer = None if xfrm is None else _sides(xfrm, "off", "ext")
        inner = None if xfrm is None else _sides(xfrm, "chOff", "chExt")
        if outer is not None and inner is not None:
            scale_x = outer[2] / inner[2] if inner[2] else 1.0
            scale_y = outer[3] / inner[3] if inner[3] else 1.0
            x, y = (x - inner[0]) * scale_x, (y - inner[1]) * scale_y
            width, height = width * scale_x, height * scale_y
            if not group.tag.endswith(_WHOLE_GROUP):
                x, y = x + outer[0], y + outer[1]
        group = group.getparent()
    # Scales multiply; farther than this nothing is.
    return _bounded(x), _bounded(y), _bounded(width), _bounded(height)


def _bounded(value: float) -> int:
    return round(max(-_FAR, min(_FAR, value)))


_EMU = {"pt": 12_700, "pc": 152_400, "in": 914_400, "cm": 360_000, "mm": 36_000, "px": 9_525}
_STYLE = re.compile(r"(?:^|;)\s*([a-z-]{1,40})\s*:\s*([^;]{1,60})")
_LENGTH = re.compile(r"(-?\d{0,7}\.?\d{0,6})(pt|pc|in|cm|mm|px)?")
_STYLE_CHARS = 4_000


def _vector_style(shape: etree._Element) -> dict[str, str]:
    found = _STYLE.findall(shape.get("style", "")[:_STYLE_CHARS])
    return {name: value.strip() for name, value in found}


def _vector_place(shape: etree._Element, page: DocumentPages) -> Verdict:
    """Return whether a shape of VML is hidden, or outside of the page."""
    style = _vector_style(shape)
    if style.get("visibility") == "hidden" or style.get("display") == "none":
        return "hidden"
    if next(shape.iterancestors(f"{V}group"), None) is not None:
        return ""
    if style.get("position") != "absolute":
        return ""
    width, height = vector_size(shape)
    return place_verdict(
        page,
        _vector_spot(style, "left", "horizontal", width, page.size[0]),
        _vector_spot(style, "top", "vertical", height, page.size[1]),
    )


def _vector_spot(
    style: dict[str, str], side: str, way: str, length: int, size: int
) -> tuple[int, int, str]:
    origin = style.get(f"mso-position-{way}-relative", "text")
    if style.get(f"mso-position-{way}", "absolute") != "absolute":
        # It is aligned; where it was before is written beside that.
        return 0, length, "page"
    share = style.get(f"mso-{side}-percent", "")
    if share:
        return number(share, 0, -_FAR, _FAR) * size // 1_000, length, origin
    return _vector_length(style, side, f"margin-{side}"), length, origin


def _vector_length(style: dict[str, str], *names: str) -> int:
    found = 0
    for name in names:
        length = _LENGTH.fullmatch(style.get(name, ""))
        if length is not None and length[1].strip("-."):
            found += round(float(length[1]) * _EMU[length[2] or "px"])
    return found


def _vector_paints(shape: etree._Element) -> Paints:
    """Return the paint of a shape of VML; it is white where it does not say."""
    if shape.get("filled") in _OFF:
        return CLEAR
    fill = shape.find(f"{V}fill")
    if fill is not None:
        if fill.get("on") in _OFF:
            return CLEAR
        if fill.get("type", "solid") != "solid":
            return UNKNOWN
    # A name may have the place in the palette behind it: "white [3212]".
    text = shape.get("fillcolor", "white").split(" ")[0].lower()
    digits = text.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(each * 2 for each in digits)
    rgb = _NAMED.get(text, "") or parse_rgb(digits)
    return (Paint(rgb, _vector_opacity(fill)),)


def _vector_opacity(fill: etree._Element | None) -> float:
    """Return how opaque a fill is: a share, or with an "f" behind it 65,536ths."""
    text = "1" if fill is None else fill.get("opacity", "1")
    scale, digits = (65_536, text[:-1]) if text.endswith("f") else (1, text)
    if text.endswith("%"):
        scale, digits = 100, text[:-1]
    found = _LENGTH.fullmatch(digits)
    if found is None or not found[1].strip("-."):
        return 1.0
    return max(0.0, min(1.0, float(found[1]) / scale))
