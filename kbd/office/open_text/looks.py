"""Looks of styles: the color and the size of letters and what is behind them; what is not seen.

The innermost that says something counts: a span, those around it, the paragraph, the default; and
behind them a cell, a row, a table, a section, a box, the page. Text on the color of the page may be
hidden where something may lie between that is not looked into: it stands in a box, a header or a
footer, or drawings lie behind the text. OpenDocument 1.3, part 3: 16.29 (text), 20.183 (fo:color),
20.195 (fo:font-size), 20.182 (fo:background-color), 20 (draw:fill and what goes with it).
"""

import re
from collections.abc import Iterable, Mapping

import msgspec
from lxml import etree

from kbd.office.open_document import DRAW, OFFICE, STYLE, SVG, TABLE, TEXT
from kbd.office.paint import CLEAR, UNKNOWN, Paint, Paints, Verdict, contrast
from kbd.office.theme import look_alike, parse_rgb

__all__ = [
    "PLAIN",
    "Layer",
    "OpenLook",
    "Seat",
    "derived",
    "gradient_paints",
    "is_drawn_behind",
    "may_hide",
    "read_backing",
    "read_look",
    "seats_around",
    "sight",
]

_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_LOEXT = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"

WHITE = "FFFFFF"
UNTOLD = "?"
CLEARED = "clear"
"""A background that is said to be none, whatever would be inherited."""

AUTOMATIC = "auto"
"""A color that programs choose so that it is seen on what is behind it."""

TRANSPARENT = "none"
"""The color of letters that nothing is drawn of."""

TINY_PT = 2.0
"""Letters of this size nobody reads, nor smaller ones; as in other documents."""

_LENGTH = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(pt|in|cm|mm|pc)")
_POINTS = {"pt": 1.0, "in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4, "pc": 12.0}
_CLEAR_PERCENT = 5.0


class OpenLook(msgspec.Struct, frozen=True):
    """Look of a style, without what it inherits; "" and 0 for what it does not say.

    Args:
        ink: The color of its letters, `AUTOMATIC` or `TRANSPARENT`.
        size_pt: Their size.
        ground: What is behind its letters: a color, `CLEARED` or `UNTOLD`.
        block_ground: What is behind its paragraphs, cells, rows, tables, sections or boxes.
        fill: The kind of fill that they have beside that ("solid", "none", …).
        fill_color: The color of a solid one.
        gradient: The name of a gradient.
        opacity: How opaque the fill is, in percent.
    """

    ink: str = ""
    size_pt: float = 0.0
    ground: str = ""
    block_ground: str = ""
    fill: str = ""
    fill_color: str = ""
    gradient: str = ""
    opacity: str = ""

    @property
    def has_color(self) -> bool:
        """Whether it says a color that could be that of what is behind it."""
        return self.ink not in ("", AUTOMATIC)

    @property
    def has_no_letters(self) -> bool:
        """Whether nobody sees its letters, whatever they are on."""
        return 0 < self.size_pt <= TINY_PT or self.ink == TRANSPARENT

    def backing(self, gradients: Mapping[str, Paints]) -> Paints:
        """Return what its paragraphs, cells and so on are painted with; gradients by name."""
        ground = self.block_ground
        if self.fill in ("", "none"):
            if ground in ("", CLEARED):
                return CLEAR
            # Two that contradict each other: it depends on the program which of them counts.
            return self._opaque(UNKNOWN if self.fill else _paints(ground))
        if self.fill == "gradient":
            return self._opaque(gradients.get(self.gradient, UNKNOWN))
        agree = ground in ("", CLEARED, self.fill_color)
        is_told = self.fill == "solid" and self.fill_color and agree
        return self._opaque(_paints(self.fill_color) if is_told else UNKNOWN)

    def _opaque(self, paints: Paints) -> Paints:
        if not self.opacity:
            return paints
        told = self.opacity.removesuffix("%")
        if len(told) > _MAX_DIGITS or not told.replace(".", "", 1).isdecimal():
            return UNKNOWN
        share = min(float(told), 100) / 100
        return tuple(Paint(paint.rgb, share) for paint in paints)


PLAIN = OpenLook()


def _paints(ground: str) -> Paints:
    return UNKNOWN if ground == UNTOLD else (Paint(ground),)


Layer = tuple[Paints, bool]
"""Paint behind a text, and whether it is behind all of it for sure."""


def sight(
    look: OpenLook, layers: Iterable[Layer], papers: frozenset[Paints], *, is_doubtful: bool
) -> Verdict:
    """Return whether people see a text.

    Args:
        look: Its look, with what it inherits.
        layers: What is behind its letters, from above.
        papers: What its page may be painted with; `CLEAR` is white. None of them: it is not known,
            and taken for such that the text is seen.
        is_doubtful: Whether something that is not known may lie before the page.
    """
    if look.has_no_letters:
        return "hidden"
    if not look.has_color:
        return ""
    between = False
    own: tuple[Layer, ...] = ()
    if look.ground not in ("", CLEARED):
        own = ((_paints(look.ground), True),)
    for paints, is_whole in (*own, *layers):
        if not paints:
            continue
        match contrast(look.ink, paints):
            case "unlike" if is_whole:
                return ""
            case "alike" if is_whole:
                return "maybe hidden" if between else "hidden"
            case "alike" | "unlike" | "doubtful":
                between = True
    found = {_on_paper(look.ink, paper) for paper in papers}
    if found <= {""}:
        return ""
    return "hidden" if found == {"hidden"} and not (between or is_doubtful) else "maybe hidden"


def _on_paper(ink: str, paper: Paints) -> Verdict:
    match contrast(ink, paper or (Paint(WHITE),)):
        case "alike":
            return "hidden"
        case "unlike":
            return ""
        case "doubtful":
            # Of all that it may be, it is white most often.
            return "maybe hidden" if look_alike(ink, WHITE) else ""


def may_hide(looks: Iterable[OpenLook], papers: Iterable[Paints]) -> bool:
    """Tell whether styles can make a text unseen, whichever of them meet in it."""
    distinct = set(looks)
    if any(look.has_no_letters for look in distinct):
        return True
    inks = {look.ink for look in distinct if look.has_color}
    grounds = {
        ground for look in distinct for ground in (look.ground, look.block_ground, look.fill_color)
    }
    grounds |= {paint.rgb for paper in papers for paint in paper} | {WHITE}
    grounds -= {"", UNTOLD, CLEARED}
    return any(look_alike(ink, ground) for ink in inks for ground in grounds)


def read_look(element: etree._Element) -> OpenLook:
    """Return the look of a style."""
    family = element.get(f"{STYLE}family", "")
    # Placeholders of slides have a family of their own, and the properties of drawings.
    family = "graphic" if family == "presentation" else family
    # What belongs to another family is not obeyed by programs.
    kind = f"{STYLE}{family}-properties" if family != "text" else ""
    texts, block = element.find(_TEXTS), element.find(kind) if kind else None
    drawn = block if family == "graphic" else element.find(_PAINTED)
    found = read_backing(block, drawn)
    if texts is None:
        return found
    return msgspec.structs.replace(
        found, ink=_ink(texts), size_pt=_points(texts.get(_SIZE)), ground=_fill(texts)
    )


def gradient_paints(element: etree._Element) -> Paints:
    """Return the colors of a gradient (`draw:gradient`)."""
    told = [element.get(f"{DRAW}{name}-color", "") for name in _ENDS]
    told += [each.get(_STOP_COLOR, "") for each in element.iterchildren(f"{_LOEXT}gradient-stop")]
    usual = all(element.get(f"{DRAW}{name}-intensity", "100%") == "100%" for name in _ENDS)
    colors = dict.fromkeys(map(_rgb, told))
    if not usual or "" in colors or len(colors) > _MAX_COLORS:
        return UNKNOWN
    return tuple(map(Paint, colors))


def read_backing(block: etree._Element | None, drawn: etree._Element | None) -> OpenLook:
    """Return the look of what some properties paint.

    Args:
        block: Those with a background, if there are any.
        drawn: Those with a fill, as drawings have it; may be the same.
    """
    ground = "" if block is None else _fill(block)
    if drawn is None:
        return OpenLook(block_ground=ground)
    opacity = "" if drawn.get(_GRADED) is None else UNTOLD
    return OpenLook(
        block_ground=ground,
        fill=drawn.get(f"{DRAW}fill", ""),
        fill_color=_rgb(drawn.get(f"{DRAW}fill-color", "")),
        gradient=drawn.get(f"{DRAW}fill-gradient-name", ""),
        opacity=opacity or drawn.get(f"{DRAW}opacity", ""),
    )


_TEXTS, _IMAGE = f"{STYLE}text-properties", f"{STYLE}background-image"
_COLOR, _SIZE, _BACKGROUND = f"{_FO}color", f"{_FO}font-size", f"{_FO}background-color"
_CHOSEN, _OPACITY = f"{STYLE}use-window-font-color", f"{_LOEXT}opacity"

_PAINTED = f"{_LOEXT}graphic-properties"
_GRADED = f"{DRAW}opacity-name"
_STOP_COLOR = f"{_LOEXT}color-value"
_ENDS = ("start", "end")
_MAX_DIGITS, _MAX_COLORS = 12, 20
"""Of an opacity; of one gradient."""


def derived(own: OpenLook, base: OpenLook) -> OpenLook:
    """Return a look with what it inherits."""
    return OpenLook(
        own.ink or base.ink,
        own.size_pt or base.size_pt,
        own.ground or base.ground,
        own.block_ground or base.block_ground,
        own.fill or base.fill,
        own.fill_color or base.fill_color,
        own.gradient or base.gradient,
        own.opacity or base.opacity,
    )


def _ink(properties: etree._Element) -> str:
    # First of all: LibreOffice writes an opacity of nothing beside it.
    if properties.get(_CHOSEN) == "true":
        return AUTOMATIC
    opacity = properties.get(_OPACITY, "100%").removesuffix("%")
    is_told = opacity != "100" and opacity.replace(".", "", 1).isdecimal()
    if is_told and float(opacity) <= _CLEAR_PERCENT:
        return TRANSPARENT
    return _rgb(properties.get(_COLOR, ""))


def _rgb(color: str) -> str:
    return parse_rgb(color[1:]) if color[:1] == "#" else ""


def _fill(properties: etree._Element) -> str:
    if len(properties):
        image = properties.find(_IMAGE)
        if image is not None and (image.keys() or len(image)):
            return UNTOLD
    color = properties.get(_BACKGROUND, "")
    return CLEARED if color == "transparent" else _rgb(color)


def _points(text: str | None) -> float:
    found = _LENGTH.fullmatch(text.strip()) if text else None
    return float(found[1]) * _POINTS[found[2]] if found else 0.0


def is_drawn_behind(element: etree._Element) -> bool:
    """Tell whether a style of drawings puts them behind the text."""
    return any(
        each.get(f"{STYLE}run-through") == "background"
        for each in element.iterchildren(f"{STYLE}graphic-properties")
    )


class Seat(msgspec.Struct, frozen=True):
    """Something in which a paragraph stands, by the family and the name of its style.

    Args:
        family: "" where the style is none of the file's.
        name: "" for none.
        text_name: The style of paragraphs that gives looks to the letters of a drawing.
        is_whole: Whether what it is painted with is behind all of its text.
        has_letters: Whether its style gives looks to letters.
    """

    family: str
    name: str = ""
    text_name: str = ""
    is_whole: bool = True
    has_letters: bool = False


_SEATS = {
    f"{TABLE}table-cell": "table-cell",
    f"{TABLE}covered-table-cell": "table-cell",
    f"{TABLE}table-row": "table-row",
    f"{TABLE}table": "table",
    f"{TEXT}section": "section",
}
_MARGINS = (f"{STYLE}header", f"{STYLE}footer")
_TEXT_BOX, _FRAME, _RECTANGLE = f"{DRAW}text-box", f"{DRAW}frame", f"{DRAW}rect"


def seats_around(paragraph: etree._Element) -> tuple[list[Seat], etree._Element] | None:
    """Return what a paragraph stands in, the nearest first, up to a box, and what it ends with.

    That is a drawing, a header, a footer, or the body. None if nobody knows what is behind it.
    """
    found: list[Seat] = []
    for around in paragraph.iterancestors():
        tag = str(around.tag)
        if tag == f"{OFFICE}annotation":
            return None
        if tag == f"{OFFICE}text" or tag.startswith(_MARGINS):
            return found, around
        if tag.startswith(DRAW) and tag != _TEXT_BOX:
            # What the box stands in is not behind it.
            name, text_name = (around.get(f"{DRAW}{kind}", "") for kind in _DRAWN_STYLES)
            is_shape = tag != _FRAME
            if placed := around.get(_PLACEHOLDER_STYLE, ""):
                found.append(Seat("presentation", placed, text_name, has_letters=True))
                return found, around
            is_whole = tag in (_FRAME, _RECTANGLE) or _is_rectangle(around)
            found.append(Seat("graphic", name, text_name if is_shape else "", is_whole, is_shape))
            return found, around
        if family := _SEATS.get(tag):
            name = around.get(f"{TEXT if family == 'section' else TABLE}style-name", "")
            is_untold = not name and around.get(f"{TABLE}template-name")
            found.append(Seat("" if is_untold else family, name))
    return None


_DRAWN_STYLES = ("style-name", "text-style-name")
_PLACEHOLDER_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}style-name"
_OUTLINES = ("M 0 0 L ?f3 0 ?f3 ?f2 0 ?f2 Z N", "M 0 0 L 21600 0 21600 21600 0 21600 0 0 Z N")
"""How LibreOffice draws a rectangle, from other programs' files and of its own."""

_EQUATIONS = {"f2": "logheight", "f3": "logwidth"}
_OWN_BOX = "0 0 21600 21600"


def _is_rectangle(shape: etree._Element) -> bool:
    """Tell whether a shape fills its box: one of another form may leave its text on the page."""
    geometry = shape.find(f"{DRAW}enhanced-geometry")
    if geometry is None:
        return False
    outline = geometry.get(f"{DRAW}enhanced-path", "")
    if outline == _OUTLINES[1]:
        return geometry.get(f"{SVG}viewBox") == _OWN_BOX
    meant = [
        (each.get(f"{DRAW}name"), each.get(f"{DRAW}formula"))
        for each in geometry.iterchildren(f"{DRAW}equation")
        if each.get(f"{DRAW}name") in _EQUATIONS
    ]
    return outline == _OUTLINES[0] and sorted(meant) == sorted(_EQUATIONS.items())
