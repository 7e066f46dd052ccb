"""Unseen text of a slide: letters in the color of what is behind them, and transparent ones.

The color of letters is that of the run, else of its shape's own list styles; colors of the theme
are resolved as the master maps them. Behind them is the fill of their shape, or what lies below it:
another shape, one of the layout or the master, at last the background. Where that cannot be told (a
picture, a gradient, a fill that is inherited), text is taken for seen.
"""

from collections.abc import Iterator
from functools import cached_property

from lxml import etree

from kbd.office.theme import look_alike, parse_share
from kbd_pptx.presentation import A, P
from kbd_pptx.reader.boxes import Box
from kbd_pptx.reader.deck import NO_LAYOUT, DeckReader
from kbd_pptx.reader.shapes import SlideShape, shapes_of
from kbd_pptx.reader.text import IsUnseen, table_of
from kbd_pptx.styles.deck import PptxTheme, read_deck_theme

__all__ = ["SlideGround"]

_WHITE = "FFFFFF"
_UNKNOWN = ""
_NOTHING = "none"
_SEEN_SHARE = 0.05
"""Letters that are less opaque than this nobody sees."""

_FILLS = frozenset(
    f"{A}{name}" for name in ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
)
_FIRST_GROUND = 1001
"""The number of the first background of a theme (ECMA-376, part 1, 20.1.4.1.7)."""

_MAX_BELOW = 500
"""Shapes below one that are looked at; more are taken for something that is not known."""


class SlideGround:
    """What is behind the text of a slide.

    Args:
        deck: The deck.
        part: The slide's part.
        root: Its root.
        shapes: Its shapes in the order of the file, from below.
    """

    def __init__(
        self, deck: DeckReader, part: str, root: etree._Element, shapes: tuple[SlideShape, ...]
    ) -> None:
        self._deck, self._root, self._shapes = deck, root, shapes
        self._layout = deck.parts.target(part, "slideLayout")
        self._master = deck.parts.target(self._layout, "slideMaster") if self._layout else ""

    def unseen_in(self, shape: SlideShape) -> IsUnseen:
        """Return what tells of the runs of a shape whether people do not see them."""
        fills: dict[etree._Element | None, str] = {}

        def is_unseen(run: etree._Element) -> bool:
            look = run.find(f"{A}rPr")
            holder = self._ink_of(run, look, shape)
            if holder is None:
                return False
            if holder.tag == f"{A}noFill" or _is_transparent(holder):
                return look is None or look.find(f"{A}ln") is None
            ink = self._palette.rgb(holder) if holder.tag == f"{A}solidFill" else ""
            if not ink:
                return False
            cell = next(run.iterancestors(f"{A}tc"), None)
            if cell not in fills:
                fills[cell] = self._fill_of(cell, shape)
            return self._is_on(ink, fills[cell], shape)

        return is_unseen

    @cached_property
    def _palette(self) -> PptxTheme:
        parts = self._deck.parts
        if not self._master:
            return PptxTheme()
        theme = parts.target(self._master, "theme")
        found = read_deck_theme(
            parts.root(theme) if theme else None, parts.root(self._master).find(f"{P}clrMap")
        )
        found = found.mapped(parts.root(self._layout).find(f"{P}clrMapOvr"))
        return found.mapped(self._root.find(f"{P}clrMapOvr"))

    def _ink_of(
        self, run: etree._Element, look: etree._Element | None, shape: SlideShape
    ) -> etree._Element | None:
        """Return what fills the letters of a run, None where only what is inherited tells."""
        own = _filling(look)
        if own is not None:
            return own
        paragraph = run.getparent()
        settings = None if paragraph is None else paragraph.find(f"{A}pPr")
        level = "0" if settings is None else settings.get("lvl", "0")
        body = shape.body
        if body is not None and level.isdecimal() and len(level) < 3:
            styles = body.find(f"{A}lstStyle/{A}lvl{int(level) + 1}pPr/{A}defRPr")
            return _filling(styles)
        return None

    def _fill_of(self, cell: etree._Element | None, shape: SlideShape) -> str:
        """Return the color of a shape or a cell: "none" for what lets through what is below."""
        if cell is not None:
            own = self._color(cell.find(f"{A}tcPr"))
            if own is not None:
                return own
            table = table_of(shape.element)
            style = None if table is None else table.find(f"{A}tblPr/{A}tableStyleId")
            return _NOTHING if style is None else _UNKNOWN
        own = self._color(shape.element.find(f"{P}spPr"))
        if own is not None:
            return own
        reference = shape.element.find(f"{P}style/{A}fillRef")
        if reference is not None and reference.get("idx", "0") != "0":
            return _UNKNOWN
        if shape.placeholder and self._inherits_fill(shape):
            return _UNKNOWN
        return _NOTHING

    def _color(self, holder: etree._Element | None) -> str | None:
        """Return the color that a fill has; None where there is no fill."""
        found = _filling(holder)
        if found is None:
            return None
        if found.tag == f"{A}noFill":
            return _NOTHING
        if found.tag != f"{A}solidFill" or next(found.iter(f"{A}alpha"), None) is not None:
            return _UNKNOWN
        return self._palette.rgb(found)

    def _inherits_fill(self, shape: SlideShape) -> bool:
        for part in filter(None, (self._layout, self._master)):
            for each in self._deck.parts.root(part).iter(f"{P}sp"):
                mark = each.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
                if mark is None or self._color(each.find(f"{P}spPr")) in (None, _NOTHING):
                    continue
                if mark.get("idx", "0") == shape.index or mark.get("type") == shape.placeholder:
                    return True
        return False

    def _is_on(self, ink: str, fill: str, shape: SlideShape) -> bool:
        """Return whether letters are of the color of what is behind them."""
        if fill != _NOTHING:
            return fill != _UNKNOWN and look_alike(ink, fill)
        box = shape.box
        for count, (below, color) in enumerate(self._below(shape)):
            if count == _MAX_BELOW:
                return False
            if color == _NOTHING or not _meet(box, below):
                continue
            if color == _UNKNOWN or not look_alike(ink, color):
                return False
            if _holds(below, box):
                return True
        return bool(self._background) and look_alike(ink, self._background)

    def _below(self, shape: SlideShape) -> Iterator[tuple[Box | None, str]]:
        """Yield what lies below a shape, from above: boxes, and the colors that they have."""
        place = next(at for at, each in enumerate(self._shapes) if each is shape)
        layers = [self._shapes[:place]]
        if self._root.get("showMasterSp") not in ("0", "false"):
            parts = [part for part in (self._layout, self._master) if part]
            layers += [self._drawn_on(part) for part in parts]
        for layer in layers:
            for each in reversed(layer):
                yield each.box, self._cover(each)

    def _drawn_on(self, part: str) -> tuple[SlideShape, ...]:
        tree = self._deck.parts.root(part).find(f"{P}cSld/{P}spTree")
        found = () if tree is None else shapes_of(tree, NO_LAYOUT)
        # Placeholders of layouts are not drawn on slides.
        return tuple(each for each in found if not each.placeholder)

    def _cover(self, shape: SlideShape) -> str:
        """Return the color by which a shape covers what is below; "none" if it covers nothing."""
        match shape.kind:
            case "group" | "connector" | "ink":
                return _NOTHING
            case "shape" | "text_box":
                return _NOTHING if shape.is_hidden else self._fill_of(None, shape)
            case _:
                return _UNKNOWN

    @cached_property
    def _background(self) -> str:
        """The color of the background; "" if it cannot be told."""
        parts = self._deck.parts
        roots = [self._root, *(parts.root(part) for part in (self._layout, self._master) if part)]
        for root in roots:
            ground = root.find(f"{P}cSld/{P}bg")
            if ground is None:
                continue
            own = ground.find(f"{P}bgPr")
            if own is not None:
                color = self._color(own)
                return "" if color in (None, _NOTHING) else color or ""
            reference = ground.find(f"{P}bgRef")
            return "" if reference is None else self._theme_ground(reference)
        return _WHITE

    def _theme_ground(self, reference: etree._Element) -> str:
        number = reference.get("idx", "")
        theme = self._deck.parts.target(self._master, "theme") if self._master else ""
        if not theme or not number.isdecimal() or len(number) > 5:
            return ""
        fills = self._deck.parts.root(theme).find(f".//{A}fmtScheme/{A}bgFillStyleLst")
        place = int(number) - _FIRST_GROUND
        if fills is None or not 0 <= place < len(fills) or fills[place].tag != f"{A}solidFill":
            return ""
        # What the theme does to the color (a tint, say) is not told by the reference.
        is_plain = len(fills[place]) == 1 and not len(fills[place][0])
        return self._palette.rgb(reference) if is_plain else ""


def _filling(holder: etree._Element | None) -> etree._Element | None:
    """Return the fill in some properties, `noFill` included."""
    for child in () if holder is None else holder:
        if child.tag in _FILLS or child.tag == f"{A}noFill":
            return child
    return None


def _is_transparent(fill: etree._Element) -> bool:
    alpha = next(fill.iter(f"{A}alpha"), None)
    return alpha is not None and parse_share(alpha.get("val")) < _SEEN_SHARE


def _meet(one: Box | None, other: Box | None) -> bool:
    """Return whether two boxes have something in common; one that is not known may."""
    if one is None or other is None:
        return True
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def _holds(outer: Box | None, inner: Box | None) -> bool:
    if outer is None or inner is None:
        return False
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.y + inner.height <= outer.y + outer.height
    )
