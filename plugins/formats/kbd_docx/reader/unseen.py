"""Unseen text of a document: in the color of what is behind it, too small, squeezed, off the page.

A run's letters and what is behind them are told by the run, by its style, by its paragraph and that
one's style, and behind them by the cell, its table's style, the box or the page. The nearest that
says something counts. So white letters in a dark header are no unseen text. What is on the color of
the page where drawings may lie between may be hidden. ECMA-376, part 1, 17.3.2 and 17.7.
"""

import re
from collections.abc import Mapping

import msgspec
from lxml import etree

from kbd.office.paint import UNKNOWN, Paint, Paints, Verdict, contrast
from kbd.office.theme import look_alike, parse_rgb
from kbd_docx.document import PARAGRAPH, VAL, W, is_on, number
from kbd_docx.reader.boxes import TWIP, BoxLook, DocumentPages, place_verdict
from kbd_docx.reader.table_styles import TableStyles
from kbd_docx.styles.theme import DocxTheme

__all__ = ["UnseenText", "paper_color"]

_LOOK, _SETTINGS = f"{W}rPr", f"{W}pPr"
_COLOR, _SIZE, _SHADE, _MARKED = f"{W}color", f"{W}sz", f"{W}shd", f"{W}highlight"
_CELL, _ROW, _TABLE, _BOX, _STYLE = (
    f"{W}tc", f"{W}tr", f"{W}tbl", "{*}txbxContent", f"{W}style",
)  # fmt: skip
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_TEXT_FILL = f"{_W14}textFill"
_NO_INK = "none"
_CLEAR = 95_000
"""Thousandths of a percent that letters let through, at which nobody sees them."""

_WHITE = "FFFFFF"
_TINY = 4
"""A size in half points that nobody reads."""

_AUTOMATIC = "auto"
"""A color that programs choose so that it is seen on what is behind it."""

_UNKNOWN = "?"
_USUAL = {
    "background1": _WHITE, "light1": _WHITE, "bg1": _WHITE, "lt1": _WHITE,
    "text1": "000000", "dark1": "000000", "tx1": "000000", "dk1": "000000",
}  # fmt: skip
"""What programs take where a document has no theme."""

_MARKERS = {
    "white": _WHITE, "black": "000000", "yellow": "FFFF00", "green": "00FF00", "cyan": "00FFFF",
    "magenta": "FF00FF", "blue": "0000FF", "red": "FF0000", "lightGray": "C0C0C0",
    "darkGray": "808080", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000",
}  # fmt: skip
"""The colors of a marker (17.18.40)."""

_MAY_HIDE = tuple(map(re.compile, (
    # Each begins with a word that is searched for as such, which takes a tenth of the time.
    rb"anish", rb"shd\s", rb"highlight\s", rb"framePr\s", rb"tblpPr\s", rb"txbxContent",
    rb"textFill",
    rb"exact[\"']", rb"sz\s[^>]*=\s*[\"']0*[1-4][\"'.]", rb"position\s[^>]*=\s*[\"'][-+]?\d{3}",
    rb"spacing\s[^>]*=\s*[\"']-\d\d", rb"nd\s[^>]*=\s*[\"']\+?\d{5}",
    rb":w\s[^>]*=\s*[\"']0*(?:\d|10)%?[\"'.]", rb"<w\s[^>]*=\s*[\"']0*(?:\d|10)%?[\"'.]",
    rb"themeColor\s*=\s*[\"'](?:background|light|bg|lt)", rb"themeTint\s*=\s*[\"'][01]",
    rb"color\s[^>]*[\"'](?:[Ff][0-9A-Fa-f]){3}[\"']",
    # A letter of a value may be written as its number.
    rb"&#",
)))  # fmt: skip
_WIDE = (b"\xff\xfe", b"\xfe\xff")

_NARROW = 10
"""A scale of letters, in percent, at which nobody reads them."""

_SQUEEZED = 0.6
"""Letters that stand closer by this share of their size lie on each other."""

_USUAL_SIZE = 20
"""In half points (17.3.2.38)."""

_RAISED = 400
"""In half points: letters that are moved by this much are on another line, or on no page."""

_FLAT = 40
"""A height of lines or rows, in twentieths of a point, that shows nothing of letters."""


class _Look(msgspec.Struct, frozen=True):
    """Look of a style, with what it inherits; "" and None for what it does not say.

    Args:
        ink: The color of its letters, or `_AUTOMATIC`.
        size: Their size in half points.
        ground: What is behind its letters.
        paragraph_ground: What is behind its paragraphs.
        scale: The width of its letters in percent.
        spacing: What is added between them, in twentieths of a point.
        raised: By how much they are moved up or down, in half points.
        filled: What fills its letters where a program knows more than their color: a color, or
            `_NO_INK`.
        flat: Whether its lines are too low for letters, "1" or "0".
        indent: Where its paragraphs begin, in twentieths of a point.
        frame: The frame of its paragraphs.
    """

    ink: str = ""
    size: str = ""
    ground: str = ""
    paragraph_ground: str = ""
    scale: str = ""
    spacing: str = ""
    raised: str = ""
    filled: str = ""
    flat: str = ""
    indent: str = ""
    frame: etree._Element | None = None


_PLAIN = _Look()


class _Around(msgspec.Struct):
    """What is around the runs of a paragraph.

    Args:
        paragraph: The paragraph.
        look: The look that its style gives.
        style_ink: The color of letters that its table or box gives, "" for none.
        ground: Its shading, "" for none.
        layers: What is behind it, from above; and whether that is behind all of it.
        is_doubtful: Whether drawings may lie between it and the page.
        place: Whether all of it is not seen.
    """

    paragraph: etree._Element | None
    look: _Look
    style_ink: str
    ground: str
    layers: tuple[tuple[Paints, bool], ...]
    is_doubtful: bool
    place: Verdict


class UnseenText:
    """What tells unseen text of a document.

    Args:
        styles: The root of its styles, if it has any.
        theme: Its theme.
        paper: The color of its pages, white unless the document is shown with another; "?" if it
            cannot be told.
        page: What is known of its pages.
        theme_root: The root of the part with the theme, for the fills of shapes.
    """

    def __init__(
        self,
        styles: etree._Element | None,
        theme: DocxTheme,
        paper: str = _WHITE,
        *,
        page: DocumentPages,
        theme_root: etree._Element | None = None,
    ) -> None:
        self._theme, self._paper, self._page = theme, paper, page
        self._theme_root = theme_root
        self._last: _Around | None = None
        self._elements: dict[str, etree._Element] = {}
        self._looks: dict[str, _Look] = {}
        self._default = self._base = _PLAIN
        default_id = ""
        for element in styles.iterchildren(_STYLE) if styles is not None else ():
            key = element.get(f"{W}styleId", "")
            if not key:
                continue  # Nothing can name it.
            self._elements.setdefault(key, element)
            if element.get(f"{W}type") == "paragraph" and element.get(f"{W}default") in _TRUE:
                # The last one counts (17.7.4.17).
                default_id = key
        if styles is not None:
            usual = styles.find(f"{W}docDefaults/{W}rPrDefault/{_LOOK}")
            self._base = self._derived(_PLAIN, usual, None)
        self._default = self.style(default_id) if default_id else self._base
        self._tables = TableStyles(self._elements, self._look_ink, self._fill)

    def may_hide(self, data: bytes) -> bool:
        """Tell by one search whether a part may hold text that people do not see."""
        return (
            self._paper != _WHITE
            or any(each.search(data) is not None for each in _MAY_HIDE)
            # In UTF-16 a search would not find the words.
            or data.startswith(_WIDE)
            or any(map(self._is_odd, self._elements))
            or any(map(self._is_pale, self._tables.inks()))
        )

    def verdict(self, run: etree._Element) -> Verdict:
        """Return whether people see the text of a run, though it is not called hidden."""
        look = run.find(_LOOK)
        around = self._surroundings(run)
        if around.place:
            return around.place
        own = _PLAIN if look is None else self._derived(_PLAIN, look, None)
        style = self._named(look, f"{W}rStyle", _PLAIN)
        if shape := _shape_verdict(own, style, around.look):
            return shape
        ink = own.ink or style.ink or self._inherited_ink(around)
        filled = own.filled or style.filled or around.look.filled
        if filled == _NO_INK:
            return "hidden"
        # Programs that know it take it before the color.
        ink = filled or ink
        if ink in ("", _AUTOMATIC):
            return ""
        ground = own.ground or style.ground or around.ground
        return self._on(ink, ground, around)

    def _inherited_ink(self, around: _Around) -> str:
        """Return the color of letters that say nothing: a style's, a table's, or that of all."""
        if around.style_ink and around.look.ink in ("", _AUTOMATIC, self._default.ink):
            # A table's style comes before what all paragraphs have.
            return around.style_ink
        return around.look.ink

    def _on(self, ink: str, ground: str, around: _Around) -> Verdict:
        """Return whether letters are seen on what is behind them."""
        is_doubtful = False
        first: tuple[tuple[Paints, bool], ...] = ((_paints(ground), True),) if ground else ()
        for paints, is_whole in (*first, *around.layers):
            if not paints:
                continue
            match contrast(ink, paints):
                case "unlike" if is_whole:
                    return ""
                case "alike" if is_whole:
                    return "maybe hidden" if is_doubtful else "hidden"
                case "alike":
                    pass
                case "unlike" | "doubtful":
                    is_doubtful = True
        if not self._is_pale(ink):
            return ""
        is_doubtful = is_doubtful or around.is_doubtful or self._paper == _UNKNOWN
        return "maybe hidden" if is_doubtful else "hidden"

    def _surroundings(self, run: etree._Element) -> _Around:
        """Return what is around a run; that of the last paragraph is at hand."""
        paragraph = run.getparent()
        if paragraph is None or paragraph.tag != PARAGRAPH:
            paragraph = next(run.iterancestors(PARAGRAPH), None)
        if paragraph is None or self._last is None or self._last.paragraph is not paragraph:
            self._last = self._look_around(run, paragraph)
        return self._last

    def _look_around(self, run: etree._Element, paragraph: etree._Element | None) -> _Around:
        settings = None if paragraph is None else paragraph.find(_SETTINGS)
        look = self._named(settings, f"{W}pStyle", self._default)
        own = look if settings is None else self._derived(look, None, settings)
        place = self._paragraph_place(own)
        shade = None if settings is None else settings.find(_SHADE)
        ground = self._fill(shade) or look.ground or look.paragraph_ground
        layers: list[tuple[Paints, bool]] = []
        style_ink, is_doubtful = "", False
        cell: etree._Element | None = None
        for around in run.iterancestors(_CELL, _ROW, _TABLE, _BOX):
            if around.tag == _CELL:
                cell = around
                layers.append((_paints(self._fill(around.find(f"{W}tcPr/{_SHADE}"))), True))
            elif around.tag == _ROW:
                place = place or _row_place(around)
            elif around.tag == _TABLE:
                place = place or self._table_place(around)
                if cell is not None:
                    look_of = self._tables.look(cell, around)
                    style_ink = style_ink or look_of.ink
                    layers.append((_choice(look_of.fills), look_of.is_sure))
                layers.append((_paints(self._fill(around.find(f"{W}tblPr/{_SHADE}"))), True))
            else:
                box = BoxLook(around, self._theme_root, self._scheme)
                place = place or box.place(self._page)
                style_ink = style_ink or box.ink
                layers += box.layers()
                is_doubtful = self._page.has_several_drawings
                # What the box stands in is not behind it.
                break
        is_doubtful = is_doubtful or self._page.has_drawn_behind
        return _Around(paragraph, own, style_ink, ground, tuple(layers), is_doubtful, place)

    def _paragraph_place(self, look: _Look) -> Verdict:
        if look.flat == "1":
            return "hidden"
        width, _ = self._page.size if look.indent or look.frame is not None else (0, 0)
        if look.indent and number(look.indent, 0, -_FAR, _FAR) * TWIP >= width:
            return "maybe hidden"
        return "" if look.frame is None else self._frame_place(look.frame)

    def _frame_place(self, frame: etree._Element) -> Verdict:
        if frame.get(f"{W}hRule") == "exact" and _twips(frame, "h") <= _FLAT:
            return "hidden"
        return self._floating_place(frame, "x", "y", "hAnchor", "vAnchor")

    def _table_place(self, table: etree._Element) -> Verdict:
        floating = table.find(f"{W}tblPr/{W}tblpPr")
        if floating is not None:
            return self._floating_place(floating, "tblpX", "tblpY", "horzAnchor", "vertAnchor")
        indent = table.find(f"{W}tblPr/{W}tblInd")
        if indent is not None and _twips(indent, "w") * TWIP >= self._page.size[0]:
            return "maybe hidden"
        return ""

    def _floating_place(
        self, element: etree._Element, x: str, y: str, horizontal: str, vertical: str
    ) -> Verdict:
        """Return whether a frame or a floating table is outside of the page."""
        width, height = self._page.size
        # One that does not say how large it is, is taken for as large as a page.
        wide, high = (_twips(element, name) * TWIP for name in ("w", "h"))
        return place_verdict(
            self._page,
            (_twips(element, x) * TWIP, wide or width, element.get(f"{W}{horizontal}", "text")),
            (_twips(element, y) * TWIP, high or height, element.get(f"{W}{vertical}", "text")),
        )

    def _text_fill(self, fill: etree._Element) -> str:
        """Return the color that letters are filled with, `_NO_INK` for none; "" if untold."""
        if fill.find("{*}noFill") is not None:
            return _NO_INK
        for color in fill.iterfind("{*}solidFill/*"):
            clear = color.find("{*}alpha")
            # Here it is the share that is let through.
            share = "" if clear is None else clear.get(f"{_W14}val", "")
            if number(share, 0, 0, 100_000) >= _CLEAR:
                return _NO_INK
            if len(color) > (clear is not None):
                return ""
            value = color.get(f"{_W14}val", "")
            return parse_rgb(value) or self._scheme(value)
        return ""

    def _scheme(self, name: str) -> str:
        return self._theme.color(name) or _USUAL.get(name, "")

    def style(self, key: str) -> _Look:
        """Return the look of a style with what it inherits."""
        chain, seen, at = list[str](), set[str](), key
        # A loop, no recursion: files chain styles by the thousand, or in a circle.
        while at in self._elements and at not in self._looks and at not in seen:
            seen.add(at)
            chain.append(at)
            based = self._elements[at].find(f"{W}basedOn")
            at = "" if based is None else based.get(VAL, "")
        is_own = bool(chain) and self._elements[chain[-1]].get(f"{W}type") == "character"
        look = self._looks.get(at, _PLAIN if is_own else self._base)
        for name in reversed(chain):
            element = self._elements[name]
            look = self._derived(look, element.find(_LOOK), element.find(_SETTINGS))
            self._looks[name] = look
        return self._looks.get(key, look)

    def _named(self, settings: etree._Element | None, kind: str, otherwise: _Look) -> _Look:
        found = None if settings is None else settings.find(kind)
        key = "" if found is None else found.get(VAL, "")
        return self.style(key) if key in self._elements else otherwise

    def _derived(
        self, base: _Look, look: etree._Element | None, settings: etree._Element | None
    ) -> _Look:
        """Return a look with what an element of it says."""
        found: dict[str, str] = {}
        for child in () if look is None else look:
            tag = child.tag
            if tag in _LETTERS:
                found[_LETTERS[tag]] = child.get(VAL, "")
            elif tag == _COLOR:
                found["ink"] = self._ink(child)
            elif tag == _MARKED:
                name = child.get(VAL, "none")
                marked = _MARKERS.get(name, "" if name == "none" else _UNKNOWN)
                found["ground"] = marked or found.get("ground", "")
            elif tag == _SHADE:
                found["ground"] = found.get("ground") or self._fill(child)
            elif tag == _TEXT_FILL:
                found["filled"] = self._text_fill(child)
        frame = None
        if settings is not None:
            found["paragraph_ground"] = self._fill(settings.find(_SHADE))
            frame = settings.find(f"{W}framePr")
            found["flat"] = _flatness(settings.find(f"{W}spacing"))
            indent = settings.find(f"{W}ind")
            if indent is not None:
                found["indent"] = indent.get(f"{W}left", "") or indent.get(f"{W}start", "")
        told = {key: value for key, value in found.items() if value}
        if frame is None:
            return msgspec.structs.replace(base, **told) if told else base
        return msgspec.structs.replace(base, frame=frame, **told)

    def _look_ink(self, look: etree._Element | None) -> str:
        found = "" if look is None else self._ink(look.find(_COLOR))
        return "" if found == _AUTOMATIC else found

    def _ink(self, color: etree._Element | None) -> str:
        if color is None:
            return ""
        # A color of the theme counts before the one that stands beside it.
        return self._themed(color, "theme", "themeColor") or _plain(color.get(VAL))

    def _fill(self, shade: etree._Element | None) -> str:
        """Return the color of a shading; "" where it is none."""
        if shade is None:
            return ""
        kind = shade.get(VAL, "clear")
        if kind == "solid":
            found = self._themed(shade, "theme", "themeColor") or _plain(shade.get(f"{W}color"))
            return _UNKNOWN if found == _AUTOMATIC else found
        found = self._themed(shade, "themeFill", "themeFill") or _plain(shade.get(f"{W}fill"))
        if kind.startswith("pct"):
            ink = self._themed(shade, "theme", "themeColor") or _plain(shade.get(f"{W}color"))
            return _mixed(found, ink, number(kind[3:], 50, 0, 100) / 100)
        if found in ("", _AUTOMATIC):
            return "" if kind in ("clear", "nil") else _UNKNOWN
        # Lines of another color: whether they leave letters seen depends on them.
        return found if kind in ("clear", "nil") else _UNKNOWN

    def _themed(self, element: etree._Element, prefix: str, name: str) -> str:
        named = element.get(f"{W}{name}", "")
        if not named or named == "none":
            return ""
        tint, shade = element.get(f"{W}{prefix}Tint", ""), element.get(f"{W}{prefix}Shade", "")
        return self._theme.color(named, tint, shade) or _USUAL.get(named, "")

    def _is_odd(self, key: str) -> bool:
        """Return whether a style may make text unseen where nothing else is said."""
        if self._elements[key].get(f"{W}type") not in ("paragraph", "character"):
            return False
        look = self.style(key)
        return bool(
            (look.size and number(look.size, 0, 0, 4_000) <= _TINY)
            or look.flat == "1"
            or look.frame is not None
            or look.scale
            or look.spacing.startswith("-")
            or look.raised
            or look.filled
            or self._is_pale(look.ink)
        )

    def _is_pale(self, ink: str) -> bool:
        """Return whether letters of a color may not be seen on the page."""
        return ink not in ("", _AUTOMATIC) and look_alike(
            ink, _WHITE if self._paper == _UNKNOWN else self._paper
        )


_FAR = 1 << 31
_LETTERS = {
    _SIZE: "size", f"{W}w": "scale", f"{W}spacing": "spacing", f"{W}position": "raised",
}  # fmt: skip


def _shape_verdict(own: _Look, style: _Look, around: _Look) -> Verdict:
    """Return whether letters are too small, too narrow, on each other, or far from their line."""
    size = own.size or style.size or around.size
    # Most sizes have two digits, and are not looked at any closer.
    is_odd = size and (len(size) == 1 or not size.isdecimal() or size.startswith("0"))
    if is_odd and 0 < number(size, _USUAL_SIZE, 0, 4_000) <= _TINY:
        return "hidden"
    scale = own.scale or style.scale or around.scale
    if scale and number(scale.removesuffix("%"), 100, 0, 600) <= _NARROW:
        return "hidden"
    spacing = own.spacing or style.spacing or around.spacing
    if spacing.startswith("-"):
        # A size is in half points, of ten twentieths each.
        least = _SQUEEZED * 10 * number(size, _USUAL_SIZE, 1, 4_000)
        if number(spacing, 0, -_FAR, _FAR) <= -least:
            return "hidden"
    raised = own.raised or style.raised or around.raised
    if raised and abs(number(raised, 0, -_FAR, _FAR)) >= _RAISED:
        return "maybe hidden"
    return ""


def _flatness(spacing: etree._Element | None) -> str:
    if spacing is None or spacing.get(f"{W}line") is None:
        return ""
    is_exact = spacing.get(f"{W}lineRule") == "exact"
    return "1" if is_exact and _twips(spacing, "line") <= _FLAT else "0"


def _row_place(row: etree._Element) -> Verdict:
    height = row.find(f"{W}trPr/{W}trHeight")
    if height is None or height.get(f"{W}hRule") != "exact":
        return ""
    return "hidden" if _twips(height, "val") <= _FLAT else ""


def _twips(element: etree._Element, name: str) -> int:
    return number(element.get(f"{W}{name}"), 0, -_FAR, _FAR)


def _paints(ground: str) -> Paints:
    """Return what a shading is made of, for the text on it."""
    if ground == _UNKNOWN:
        return UNKNOWN
    return (Paint(ground),) if ground else ()


def _choice(fills: tuple[str, ...]) -> Paints:
    """Return what may be behind a cell; "" among it lets through what is below."""
    if fills == ("",):
        return ()
    return tuple(Paint(fill if fill != _UNKNOWN else "") if fill else Paint("") for fill in fills)


_TRUE = ("1", "true", "on")


def _mixed(fill: str, ink: str, share: float) -> str:
    """Return the color of dots of one color on another one; automatic is black on white."""
    below = bytes.fromhex(_WHITE if fill in ("", _AUTOMATIC) else fill)
    dots = bytes.fromhex("000000" if ink in ("", _AUTOMATIC) else ink)
    mixed = (round(a * (1 - share) + b * share) for a, b in zip(below, dots, strict=True))
    return bytes(mixed).hex().upper()


def _plain(text: str | None) -> str:
    return _AUTOMATIC if text == _AUTOMATIC else parse_rgb(text)


def paper_color(document: bytes, settings: etree._Element | None, theme: DocxTheme) -> str:
    """Return the color of a document's pages; "?" if it cannot be told.

    Args:
        document: The main part, in which it stands before the text.
        settings: The root of the settings, which say whether it is shown.
        theme: The theme.
    """
    shown = None if settings is None else settings.find(f"{W}displayBackgroundShape")
    if shown is None or not is_on(shown):
        return _WHITE
    found = _PAPER.search(document)
    if found is None:
        return _WHITE
    attributes: Mapping[str, str] = {
        key.decode(): value.decode("utf-8", "replace")
        for key, value in _ATTRIBUTE.findall(found[1])
    }
    if "themeColor" in attributes:
        tint, shade = attributes.get("themeTint", ""), attributes.get("themeShade", "")
        return theme.color(attributes["themeColor"], tint, shade) or _UNKNOWN
    return parse_rgb(attributes.get("color")) or _UNKNOWN


_PAPER = re.compile(rb"<(?:\w+:)?background\s([^>]*)>")
_ATTRIBUTE = re.compile(rb"(?:\w+:)?(\w+)\s*=\s*[\"']([^\"']*)[\"']")
