"""Unseen text of a slide: in the color of what is behind it, transparent, covered, or too small.

The color of letters is that of the run, else what the run inherits. Behind them is the highlight,
the fill of their cell and shape, then whatever lies below, at last the background. Where something
lies between that is not looked into (a picture, an end of a gradient, a shape that covers the text
in part), a text that would be hidden without it may be hidden. A text that lies wholly below
something opaque is hidden as well.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain

import msgspec
from lxml import etree

from kbd.office.paint import (
    UNKNOWN,
    Paint,
    Paints,
    Verdict,
    contrast,
    fill_of,
    fill_paints,
)
from kbd.office.theme import parse_share
from kbd_pptx.presentation import A, P
from kbd_pptx.reader.boxes import Box
from kbd_pptx.reader.deck import DeckReader
from kbd_pptx.reader.layout_look import NO_LAYER, Layer, LayoutLook
from kbd_pptx.reader.shapes import SlideShape
from kbd_pptx.reader.table_look import TableLook, read_table_styles
from kbd_pptx.reader.text import Judge, table_of
from kbd_pptx.styles.deck import PptxTheme

__all__ = ["SlideGround", "SlideLooks"]

_WHITE = "FFFFFF"
_SEEN_SHARE = 0.05
"""Letters that are less opaque than this nobody sees."""

_MAX_LAYERS = 500
"""Layers around a shape that are looked at; more are taken for something that is not known."""

_MAX_STEPS = 500_000
"""Colors of one shape's text, times what they stand on, that are looked at; more may be hidden."""

_MAX_LOOKS = 8
"""Layouts that are kept at once."""

_TINY = 200
"""A size in hundredths of a point that nobody reads."""

_USUAL_SIZE = 1800
_SQUEEZED = 0.6
"""Letters that stand closer by this share of their size lie on each other."""

_POINT = 12_700
_USUAL_LINE, _LINE = 9_525, 3_175
"""The width of an outline that tells none, and below which it is no line that people see."""

_MOST = 0.8
"""The share of a text's box that something must cover for the text to stand on it."""

_ALL = 0.99
_ON = ("1", "true")
_OFF = ("0", "false")


class SlideLooks:
    """The looks of a deck's layouts and tables, each read once while it is needed.

    Args:
        deck: The deck.
    """

    def __init__(self, deck: DeckReader) -> None:
        self._deck = deck
        self._layouts: dict[str, LayoutLook] = {}

    def layout(self, part: str) -> LayoutLook:
        """Return the look of a layout's part."""
        found = self._layouts.pop(part, None) or LayoutLook(self._deck, part)
        # The one that was asked for last is dropped last: a deck may have a thousand.
        self._layouts[part] = found
        if len(self._layouts) > _MAX_LOOKS:
            del self._layouts[next(iter(self._layouts))]
        return found

    @cached_property
    def tables(self) -> Mapping[str, etree._Element]:
        """The styles of tables by id."""
        return read_table_styles(self._deck)


class _Letters(msgspec.Struct, frozen=True):
    """Letters of a run.

    Args:
        colors: The colors that are seen of them, "?" for one that cannot be told.
        outline: Those of their outline.
        is_told: Whether anything says what color they have.
        has_effects: Whether they have shadows or the like.
        size: In hundredths of a point.
        spacing: What is added between them, in hundredths of a point.
    """

    colors: tuple[str, ...]
    outline: tuple[str, ...]
    is_told: bool
    has_effects: bool
    size: float
    spacing: float


class SlideGround:
    """What is around the text of a slide.

    Args:
        looks: The looks of the deck.
        layout: The part of the slide's layout.
        root: The slide's root.
        shapes: Its shapes in the order of the file, from below.
    """

    def __init__(
        self, looks: SlideLooks, layout: str, root: etree._Element, shapes: tuple[SlideShape, ...]
    ) -> None:
        self._looks, self._root, self._shapes = looks, root, shapes
        self._look = looks.layout(layout)
        self._met: dict[str, bool] = {}
        self._is_animated = root.find(f"{P}timing") is not None

    def judge(self, place: int) -> Judge:
        """Return what tells of the runs of a shape, by its place, whether people see them."""
        return _ShapeJudge(self, place).verdict

    @cached_property
    def palette(self) -> PptxTheme:
        """The colors of the theme as the slide maps them."""
        return self._look.palette.mapped(self._root.find(f"{P}clrMapOvr"))

    @cached_property
    def background(self) -> Paints:
        """What is behind all."""
        own = self._look.background_of(self._root, self.palette)
        found = self._look.background if own is None else own
        return (Paint(_WHITE),) if found is None else found

    def shape(self, place: int) -> SlideShape:
        """Return a shape by its place."""
        return self._shapes[place]

    def formats(self, shape: SlideShape, level: int) -> Iterator[etree._Element]:
        """Yield what a level of a shape's text inherits for its letters."""
        return self._look.text_formats(shape.placeholder, shape.index, level)

    def table(self, table: etree._Element) -> TableLook:
        """Return the look of a table."""
        return TableLook(table, self._looks.tables, self.palette, self._look.theme)

    def behind(self, place: int) -> tuple[Layer, Iterator[Layer]]:
        """Return a shape's own fill, and what lies below it, from above."""
        is_area = self._shapes[place].kind in ("shape", "text_box")
        below = (self._drawn[each] for each in range(place - 1, -1, -1))
        return self._drawn[place] if is_area else NO_LAYER, chain(below, self._inherited)

    def may_hide(self, color: str) -> bool:
        """Return whether anything on the slide is of a color, so that letters may not be seen."""
        if color not in self._met:
            self._met[color] = contrast(color, self.background) != "unlike" or any(
                contrast(color, paints) == "alike" for paints in self._fills
            )
        return self._met[color]

    def cover(self, place: int) -> Verdict:
        """Return whether a shape's text lies below something that covers it whole."""
        found: Verdict = ""
        for above in range(place + 1, min(len(self._shapes), place + _MAX_LAYERS)):
            layer = self._drawn[above]
            if not layer.paints or layer.box is None or not layer.is_solid:
                continue
            box = self._shapes[place].drawn_box
            if box is None or _share(layer.box, box) < _ALL:
                continue
            if all(each.rgb and each.opacity >= _ALL for each in layer.paints):
                # What comes and goes in a show may lie below for a while.
                if not self._is_animated:
                    return "hidden"
                found = "maybe hidden"
            elif self._shapes[above].kind in ("picture", "media"):
                found = "maybe hidden"
        return found

    @cached_property
    def _drawn(self) -> tuple[Layer, ...]:
        """What each shape of the slide draws."""
        return tuple(map(self._own, self._shapes))

    @cached_property
    def _fills(self) -> frozenset[Paints]:
        """The fills of all that is drawn."""
        return frozenset(each.paints for each in (*self._drawn, *self._inherited) if each.paints)

    @cached_property
    def _inherited(self) -> tuple[Layer, ...]:
        """What layout and master draw below."""
        return () if self._root.get("showMasterSp") in _OFF else self._look.layers

    def _own(self, shape: SlideShape) -> Layer:
        if shape.element.get("useBgFill") in _ON and shape.is_shown:
            return Layer(shape.drawn_box, self.background, is_solid=True)
        return self._look.layer(shape, self.palette)


class _ShapeJudge:
    """Judge of the runs of one shape; what they have in common is found once."""

    def __init__(self, ground: SlideGround, place: int) -> None:
        self._ground, self._place = ground, place
        self._shape = ground.shape(place)
        table = table_of(self._shape.element)
        self._table = None if table is None else ground.table(table)
        body = self._shape.body
        self._styles = None if body is None else body.find(f"{A}lstStyle")
        self._scale = _letter_scale(body)
        self._inherited: dict[tuple[int, etree._Element | None], _Inherited] = {}
        self._found: dict[tuple[str, etree._Element | None], Verdict] = {}
        self._cells: dict[etree._Element, Paints] = {}
        self._steps = 0

    def verdict(self, piece: etree._Element) -> Verdict:
        """Return how a piece of a paragraph (a run, a field, a formula) is labeled."""
        if self._around:
            return self._around
        look = piece.find(f"{A}rPr")
        if look is None and piece.tag not in _LETTERS:
            # A formula has its looks in its own runs.
            look = next(piece.iter(f"{A}rPr"), None)
        cell = next(piece.iterancestors(f"{A}tc"), None) if self._table is not None else None
        letters = self._letters(piece, look, cell)
        if letters.size <= _TINY:
            return "tiny"
        if letters.spacing <= -_SQUEEZED * letters.size:
            return "hidden"
        if not letters.colors:
            return "hidden" if letters.is_told and not letters.outline else ""
        marker = None if look is None else look.find(f"{A}highlight")
        found = {self._on(color, cell, marker) for color in letters.colors}
        if "" in found:
            return ""
        lined = {self._on(color, cell, marker) for color in letters.outline}
        # Not all programs show outlines and effects.
        doubtful = letters.has_effects or "maybe hidden" in found or "" in lined
        return "maybe hidden" if doubtful else "hidden"

    @cached_property
    def _around(self) -> Verdict:
        """Whether all of the shape's text is not seen: it is covered, or cut off."""
        body, box = self._shape.body, self._shape.box
        settings = None if body is None else body.find(f"{A}bodyPr")
        if settings is not None and box is not None:
            is_flat = box.height < _POINT and settings.get("vertOverflow") in _CUT
            if is_flat or (box.width < _POINT and settings.get("horzOverflow") in _CUT):
                return "hidden"
        return self._ground.cover(self._place)

    def _letters(
        self, piece: etree._Element, look: etree._Element | None, cell: etree._Element | None
    ) -> _Letters:
        paragraph = next(piece.iterancestors(f"{A}p"), None)
        settings = None if paragraph is None else paragraph.find(f"{A}pPr")
        level = _number("0" if settings is None else settings.get("lvl"), 0)
        inherited = self._inherit(min(level, 8), cell)
        own = look if look is not None else _NOTHING
        size = _number(own.get("sz"), 0) or inherited.size
        spacing = _number(own.get("spc"), 0)
        fill, line = fill_of(look), own.find(f"{A}ln")
        effects = own.find(f"{A}effectLst")
        has_effects = effects is not None and len(effects) > 0
        if fill is None and own.find(f"{A}hlinkClick") is not None:
            colors = tuple(filter(None, (self._ground.palette.color("hlink"),)))
            is_told = bool(colors)
        elif fill is None:
            colors, is_told = inherited.colors, inherited.is_told
        else:
            colors, is_told = self._colors(fill), True
        drawn = None if line is None or _number(line.get("w"), _USUAL_LINE) < _LINE else line
        outline = fill_of(drawn)
        lined = () if outline is None else self._colors(outline)
        scale = self._scale
        return _Letters(colors, lined, is_told, has_effects, size * scale, spacing * scale)

    def _inherit(self, level: int, cell: etree._Element | None) -> "_Inherited":
        key = (level, cell)
        if key not in self._inherited:
            self._inherited[key] = self._look_up(level, cell)
        return self._inherited[key]

    def _look_up(self, level: int, cell: etree._Element | None) -> "_Inherited":
        """Return what the letters of a level inherit, the nearest that says something first."""
        own = None if self._styles is None else self._styles.find(f"{A}lvl{level + 1}pPr/{A}defRPr")
        above = list(self._ground.formats(self._shape, level))
        sizes = (_number(each.get("sz"), 0) for each in (own, *above) if each is not None)
        size = next(filter(None, sizes), _USUAL_SIZE)
        fill = fill_of(own)
        named = self._shape.element.find(f"{P}style/{A}fontRef")
        plain = self._ground.palette.rgb(named)
        if fill is None and cell is not None and self._table is not None:
            plain = self._table.ink(cell)
        if fill is None and plain:
            return _Inherited((plain,), size)
        fill = fill if fill is not None else next(filter(_is_there, map(fill_of, above)), None)
        if fill is None:
            return _Inherited((), size, is_told=False)
        return _Inherited(self._colors(fill), size)

    def _colors(self, fill: etree._Element) -> tuple[str, ...]:
        """Return the colors of a fill that can be seen, "?" for one that cannot be told."""
        paints = fill_paints(fill, self._ground.palette.color)
        return tuple(each.rgb or "?" for each in paints if each.opacity >= _SEEN_SHARE)

    def _on(
        self, color: str, cell: etree._Element | None, marker: etree._Element | None
    ) -> Verdict:
        """Return whether letters of a color are seen on what is behind them."""
        if color == "?":
            return "maybe hidden" if self._shape.kind == "picture" else ""
        if marker is not None:
            rgb = self._ground.palette.rgb(marker)
            if rgb and (found := contrast(color, (Paint(rgb),))) != "doubtful":
                return "hidden" if found == "alike" else ""
        key = (color, cell)
        known = self._found.get(key)
        if known is None:
            self._steps += 1 + len(self._standing)
            if self._steps > _MAX_STEPS:
                return "maybe hidden"
            known = self._found[key] = self._on_layers(color, cell)
        return known

    def _on_layers(self, color: str, cell: etree._Element | None) -> Verdict:
        if cell is None and not self._ground.may_hide(color):
            return ""
        is_doubtful, seen_on = False, 0.0
        for layer, share in (*self._cell_layer(cell), *self._standing):
            match contrast(color, layer.paints):
                case "unlike":
                    seen_on += share * layer.is_solid
                    if seen_on >= _MOST:
                        return ""
                    is_doubtful = True
                case "alike" if layer.is_solid and share >= _ALL:
                    return "maybe hidden" if is_doubtful else "hidden"
                case "alike":
                    pass
                case "doubtful":
                    is_doubtful = True
        return self._on_background(color, is_doubtful=is_doubtful)

    @cached_property
    def _standing(self) -> list[tuple[Layer, float]]:
        """What the shape's text stands on, from above, and how much of it each covers."""
        own, layers = self._ground.behind(self._place)
        box = self._shape.drawn_box
        found = [(own, 1.0)] if own.paints else []
        for count, layer in enumerate(layers):
            if count == _MAX_LAYERS:
                return [*found, (Layer(None, UNKNOWN, is_solid=True), 1.0)]
            share = _share(layer.box, box) if layer.paints else 0.0
            if share > 0:
                found.append((layer, share))
        return found

    def _on_background(self, color: str, *, is_doubtful: bool) -> Verdict:
        found = contrast(color, self._ground.background)
        if found == "doubtful":
            # Below a picture is what slides have without one.
            paper = self._ground.palette.color("bg1") or _WHITE
            found, is_doubtful = contrast(color, (Paint(paper),)), True
        if found == "unlike":
            return ""
        return "maybe hidden" if is_doubtful else "hidden"

    def _cell_layer(self, cell: etree._Element | None) -> list[tuple[Layer, float]]:
        if cell is None or self._table is None:
            return []
        if cell not in self._cells:
            self._cells[cell] = self._table.paints(cell)
        paints = self._cells[cell]
        return [(Layer(None, paints, is_solid=True), 1.0)] if paints else []


class _Inherited(msgspec.Struct, frozen=True):
    """What letters inherit: their colors, their size, and whether the colors are told."""

    colors: tuple[str, ...]
    size: float
    is_told: bool = True


_NOTHING = etree.Element("nothing")
_LETTERS = (f"{A}r", f"{A}fld")
_CUT = ("clip", "ellipsis")


def _is_there(element: etree._Element | None) -> bool:
    return element is not None


def _number(text: str | None, otherwise: int) -> int:
    text = text or ""
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 8 else otherwise


def _letter_scale(body: etree._Element | None) -> float:
    """Return by how much the letters of a text are made smaller so that it fits."""
    fit = None if body is None else body.find(f"{A}bodyPr/{A}normAutofit")
    scale = None if fit is None else fit.get("fontScale")
    return 1.0 if scale is None else parse_share(scale)


def _share(outer: Box | None, inner: Box | None) -> float:
    """Return which share of a box another one covers; a half if one of them is not known."""
    if outer is None or inner is None:
        return 0.5
    width = min(outer.x + outer.width, inner.x + inner.width) - max(outer.x, inner.x)
    height = min(outer.y + outer.height, inner.y + inner.height) - max(outer.y, inner.y)
    if width < 0 or height < 0:
        return 0.0
    across = width / inner.width if inner.width else 1.0
    return across * (height / inner.height if inner.height else 1.0)
