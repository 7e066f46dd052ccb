"""Look that slides take from their layout and master: colors, styles of text, fills, drawings.

What stands nearest to a text counts: its own shape's list styles, the placeholder of the layout,
that of the master, the master's style of such texts, at last the presentation's. ECMA-376, part 1,
19.3.1 and 20.1.4.
"""

from collections.abc import Iterator
from functools import cached_property

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.paint import CLEAR, UNKNOWN, Paints, fill_of, fill_paints, reference_paints
from kbd_pptx.presentation import A, P, ParsedParts
from kbd_pptx.reader.boxes import Box
from kbd_pptx.reader.deck import NO_LAYOUT, DeckReader, LayoutPlaceholder, SlideLayout
from kbd_pptx.reader.shapes import FOOTERS, SlideShape, shapes_of
from kbd_pptx.styles.deck import PptxTheme, read_deck_theme

__all__ = ["NO_LAYER", "Layer", "LayoutLook"]

_WHITE = "FFFFFF"
_OFF = ("0", "false")
_DEEPEST = 8
_HOLLOW = frozenset((
    "frame", "halfFrame", "donut", "blockArc", "arc", "chord", "pie", "noSmoking", "line",
    "lineInv", "leftBracket", "rightBracket", "leftBrace", "rightBrace", "bracketPair",
    "bracePair", "corner", "diagStripe", "plus", "mathMinus", "mathPlus", "mathMultiply",
    "mathEqual", "mathNotEqual", "mathDivide", "sun", "moon", "star4", "funnel", "gear6", "gear9",
    "smileyFace", "bentArrow", "uturnArrow", "circularArrow", "curvedRightArrow",
    "curvedLeftArrow", "curvedUpArrow", "curvedDownArrow", "irregularSeal1", "irregularSeal2",
    "cornerTabs", "squareTabs", "plaqueTabs", "chartPlus", "chartStar", "chartX",
))  # fmt: skip
"""Preset shapes whose box is not filled where a text may stand."""


class Layer(msgspec.Struct, frozen=True):
    """Something that is drawn: its box, its paint, and whether that fills the box."""

    box: Box | None
    paints: Paints
    is_solid: bool


NO_LAYER = Layer(None, CLEAR, is_solid=True)
"""What a shape draws that is not shown, or has no fill."""


def _is_solid(properties: etree._Element | None) -> bool:
    """Return whether the form of a shape fills its box, but for its edges."""
    if properties is None:
        return True
    preset = properties.find(f"{A}prstGeom")
    if preset is not None:
        return str(preset.get("prst", "rect")) not in _HOLLOW
    drawn = properties.find(f"{A}custGeom")
    return drawn is None or any(map(_fills_box, drawn.iterfind(f"{A}pathLst/{A}path")))


class LayoutLook:
    """What a layout and its master give to the slides on it.

    What of it cannot be read gives nothing.

    Args:
        deck: The deck.
        part: The layout's part, "" for none.
    """

    def __init__(self, deck: DeckReader, part: str) -> None:
        self._parts, self._default = deck.parts, deck.text_style
        self._layout = deck.layout(part)
        self._root = _root(self._parts, part)
        master = _target(self._parts, part, "slideMaster")
        self._master_root = _root(self._parts, master)
        self.theme = _root(self._parts, _target(self._parts, master, "theme"))
        styles = None if self._master_root is None else self._master_root.find(f"{P}txStyles")
        self._styles = styles
        self._followed: dict[tuple[str, str], tuple[etree._Element, ...]] = {}

    @cached_property
    def palette(self) -> PptxTheme:
        """The colors of the theme as the master and the layout map them."""
        if self._master_root is None:
            return PptxTheme()
        found = read_deck_theme(self.theme, self._master_root.find(f"{P}clrMap"))
        own = None if self._root is None else self._root.find(f"{P}clrMapOvr")
        return found.mapped(own)

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """What the layout and the master draw on its slides, from above; no placeholders."""
        found = list(self._drawn(self._root))
        if self._root is None or self._root.get("showMasterSp") not in _OFF:
            found += self._drawn(self._master_root)
        return tuple(found)

    def placeholders(self, type_: str, index: str) -> tuple[etree._Element, ...]:
        """Return the placeholders that one of a slide follows, the layout's before the master's."""
        key = (type_, index)
        if key not in self._followed:
            layout, master = self._layout, self._layout.master or NO_LAYOUT
            own, above = layout.placeholder_like(type_, index), layout.master_placeholder(type_)
            found = (*_like(own, layout, self._marked), *_like(above, master, self._master_marked))
            self._followed[key] = found
        return self._followed[key]

    def text_formats(self, type_: str, index: str, level: int) -> Iterator[etree._Element]:
        """Yield what a level of a text inherits for its letters (`a:defRPr`), the nearest first.

        Args:
            type_: The placeholder's type, "" for a text in none.
            index: The placeholder's index.
            level: The paragraph's level, from 0.
        """
        followed = self.placeholders(type_, index) if type_ else ()
        holders = [each.find(f"{P}txBody/{A}lstStyle") for each in followed]
        if self._styles is not None and type_:
            name = "title" if type_ in ("title", "ctrTitle") else "body"
            holders.append(self._styles.find(f"{P}{'other' if type_ in FOOTERS else name}Style"))
        holders.append(self._default)
        if self._styles is not None and not type_:
            holders.append(self._styles.find(f"{P}otherStyle"))
        step = f"{A}lvl{min(level, _DEEPEST) + 1}pPr/{A}defRPr"
        for holder in holders:
            found = None if holder is None else holder.find(step)
            if found is not None:
                yield found

    @cached_property
    def background(self) -> Paints | None:
        """The background of the layout, else of the master; None if neither has one."""
        for root in (self._root, self._master_root):
            found = None if root is None else self.background_of(root, self.palette)
            if found is not None:
                return found
        return None

    def background_of(self, root: etree._Element, palette: PptxTheme) -> Paints | None:
        """Return the background that a slide, a layout or a master has itself, None without one."""
        ground = root.find(f"{P}cSld/{P}bg")
        if ground is None:
            return None
        fill = fill_of(ground.find(f"{P}bgPr"))
        if fill is not None:
            return fill_paints(fill, palette.color)
        reference = ground.find(f"{P}bgRef")
        return (
            UNKNOWN if reference is None else reference_paints(reference, self.theme, palette.color)
        )

    def paints_of(self, shape: SlideShape, palette: PptxTheme) -> Paints:
        """Return the paint of a shape: its own, its theme's, or that of a placeholder above it.

        What a group gives to its shapes is told by the group's own properties.
        """
        own = self._own_paints(shape.element, palette)
        if own is not None or not shape.placeholder:
            return own or CLEAR
        followed = self.placeholders(shape.placeholder, shape.index)
        found = (self._own_paints(each, self.palette) for each in followed)
        return next((each for each in found if each is not None), CLEAR)

    def _own_paints(self, element: etree._Element, palette: PptxTheme) -> Paints | None:
        fill = fill_of(element.find(f"{P}spPr"))
        # A shape of a group may leave its fill to that, which may leave it to one around it.
        around = element.getparent()
        while fill is not None and fill.tag == f"{A}grpFill" and around is not None:
            fill = fill_of(around.find(f"{P}grpSpPr"))
            around = around.getparent()
        if fill is not None:
            return fill_paints(fill, palette.color)
        reference = element.find(f"{P}style/{A}fillRef")
        return None if reference is None else reference_paints(reference, self.theme, palette.color)

    @cached_property
    def _marked(self) -> list[etree._Element]:
        return _placeholders(self._root)

    @cached_property
    def _master_marked(self) -> list[etree._Element]:
        return _placeholders(self._master_root)

    def _drawn(self, root: etree._Element | None) -> Iterator[Layer]:
        tree = None if root is None else root.find(f"{P}cSld/{P}spTree")
        found = () if tree is None else shapes_of(tree, NO_LAYOUT)
        for shape in reversed(found):
            # Placeholders of layouts are not drawn on slides.
            if not shape.placeholder:
                yield self.layer(shape, self.palette)

    def layer(self, shape: SlideShape, palette: PptxTheme) -> Layer:
        """Return what a shape draws; nothing is drawn by what is hidden, or is no area."""
        match shape.kind:
            case "group" | "connector" | "ink":
                paints = CLEAR
            case "shape" | "text_box":
                paints = self.paints_of(shape, palette)
            case _:
                paints = UNKNOWN
        paints = tuple(each for each in paints if each.opacity > 0)
        if not (paints and shape.is_shown):
            return NO_LAYER
        return Layer(shape.drawn_box, paints, _is_solid(shape.element.find(f"{P}spPr")))


_FULL = 0.7
"""The part of its box that the points of a drawn path must reach over, each way."""


def _fills_box(path: etree._Element) -> bool:
    """Return whether one drawn path reaches over most of its shape's box."""
    if path.get("fill") == "none":
        return False
    width, height = (_whole(path.get(name)) for name in ("w", "h"))
    points = [(_whole(each.get("x")), _whole(each.get("y"))) for each in path.iter(f"{A}pt")]
    if width <= 0 or height <= 0 or not points:
        return False
    (left, right), (top, bottom) = ((min(side), max(side)) for side in zip(*points, strict=True))
    return bool(right - left >= _FULL * width and bottom - top >= _FULL * height)


def _placeholders(root: etree._Element | None) -> list[etree._Element]:
    """Return the elements of a layout's placeholders, in the order of its record."""
    found = () if root is None else root.iter(f"{P}sp")
    return [each for each in found if each.find(f"{P}nvSpPr/{P}nvPr/{P}ph") is not None]


def _like(
    place: LayoutPlaceholder | None, layout: SlideLayout, elements: list[etree._Element]
) -> Iterator[etree._Element]:
    """Yield the element of a placeholder of a layout, if there is one."""
    for each, element in zip(layout.placeholders, elements, strict=False):
        if each is place:
            yield element


def _whole(text: str | None) -> int:
    text = text or ""
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 16 else 0


def _root(parts: ParsedParts, part: str) -> etree._Element | None:
    try:
        return parts.shared_root(part) if part else None
    except FileReadFailed:
        # The layout itself was warned of when it was read; text is then taken for what it says.
        return None


def _target(parts: ParsedParts, part: str, kind: str) -> str:
    try:
        return parts.target(part, kind) if part else ""
    except FileReadFailed:
        return ""
