"""Unseen text of a document: in the color of what is behind it, or too small to be read.

A run's letters and what is behind them are told by the run, by its style, by its paragraph and that
one's style, and behind them by the cell or the page. The nearest that says something counts; what
is behind a table of a style that shades, or in a box, is not known, and then text is taken for
seen. So white letters in a dark header are no unseen text. ECMA-376, part 1, 17.3.2 and 17.7.
"""

import re
from collections.abc import Mapping

import msgspec
from lxml import etree

from kbd.office.theme import look_alike, parse_rgb
from kbd_docx.document import PARAGRAPH, VAL, W, is_on
from kbd_docx.styles.theme import DocxTheme

__all__ = ["UnseenText", "has_drawn_behind", "paper_color"]

_LOOK, _SETTINGS = f"{W}rPr", f"{W}pPr"
_COLOR, _SIZE, _SHADE, _MARKED = f"{W}color", f"{W}sz", f"{W}shd", f"{W}highlight"
_CELL, _TABLE, _BOX, _STYLE = f"{W}tc", f"{W}tbl", "{*}txbxContent", f"{W}style"
_WHITE = "FFFFFF"
_TINY = frozenset("1234")
"""Sizes in half points that nobody reads."""

_AUTOMATIC = "auto"
"""A color that programs choose so that it is seen on what is behind it."""

_UNKNOWN = "?"
_USUAL = {"background1": _WHITE, "light1": _WHITE, "text1": "000000", "dark1": "000000"}
"""What programs take where a document has no theme."""

_MARKERS = {
    "white": _WHITE, "black": "000000", "yellow": "FFFF00", "green": "00FF00", "cyan": "00FFFF",
    "magenta": "FF00FF", "blue": "0000FF", "red": "FF0000", "lightGray": "C0C0C0",
    "darkGray": "808080", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000",
}  # fmt: skip
"""The colors of a marker (17.18.40)."""

_MAY_HIDE = re.compile(
    rb"vanish|=[\"'](?:[Ff][A-Fa-f]){3}[\"']|:sz [^>]*=[\"'][1-4][\"']|:shd\s|:highlight\s"
    rb"|themeColor=[\"'](?:background|light|bg)"
)
_WIDE = (b"\xff\xfe", b"\xfe\xff")


class _Look(msgspec.Struct, frozen=True):
    """Look of a style, with what it inherits; "" for what it does not say.

    Args:
        ink: The color of its letters, or `_AUTOMATIC`.
        size: Their size in half points.
        ground: What is behind its letters.
        paragraph_ground: What is behind its paragraphs.
    """

    ink: str = ""
    size: str = ""
    ground: str = ""
    paragraph_ground: str = ""


_PLAIN = _Look()


class UnseenText:
    """What tells unseen text of a document.

    Args:
        styles: The root of its styles, if it has any.
        theme: Its theme.
        paper: The color of its pages, white unless the document is shown with another; "?" if it
            cannot be told.
        has_drawn: Whether drawings lie behind its text. What is behind a table that shades nothing
            is then taken for one of them, for many forms are made so.
    """

    def __init__(
        self,
        styles: etree._Element | None,
        theme: DocxTheme,
        paper: str = _WHITE,
        *,
        has_drawn: bool = False,
    ) -> None:
        self._theme, self._paper, self._has_drawn = theme, paper, has_drawn
        self._elements: dict[str, etree._Element] = {}
        self._looks: dict[str, _Look] = {}
        self._default = self._base = _PLAIN
        self._shading: dict[str, bool] = {}
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

    def may_hide(self, data: bytes) -> bool:
        """Tell by one search whether a part may hold text that people do not see."""
        return (
            self._paper != _WHITE
            or _MAY_HIDE.search(data) is not None
            # In UTF-16 a search would not find the words.
            or data.startswith(_WIDE)
            or any(map(self._is_odd, self._elements))
        )

    def is_unseen(self, run: etree._Element) -> bool:
        """Return whether people do not see the text of a run, though it is not called hidden."""
        look = run.find(_LOOK)
        paragraph = next(run.iterancestors(PARAGRAPH), None)
        settings = None if paragraph is None else paragraph.find(_SETTINGS)
        own = self._derived(_PLAIN, look, None)
        style = self._named(look, f"{W}rStyle", _PLAIN)
        around = self._named(settings, f"{W}pStyle", self._default)
        if (own.size or style.size or around.size) in _TINY:
            return True
        ink = own.ink or style.ink or around.ink
        if ink in ("", _AUTOMATIC):
            return False
        shade = None if settings is None else settings.find(_SHADE)
        ground = (
            own.ground
            or style.ground
            or self._fill(shade)
            or around.ground
            or around.paragraph_ground
            or self._behind(run)
        )
        return ground != _UNKNOWN and look_alike(ink, ground)

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
        ink, size, ground, paragraph_ground = "", "", "", ""
        if look is not None:
            ink = self._ink(look.find(_COLOR))
            found = look.find(_SIZE)
            size = "" if found is None else found.get(VAL, "")
            marker = look.find(_MARKED)
            name = "none" if marker is None else marker.get(VAL, "none")
            ground = _MARKERS.get(name, "" if name == "none" else _UNKNOWN)
            ground = ground or self._fill(look.find(_SHADE))
        if settings is not None:
            paragraph_ground = self._fill(settings.find(_SHADE))
        return _Look(
            ink or base.ink,
            size or base.size,
            ground or base.ground,
            paragraph_ground or base.paragraph_ground,
        )

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
        if found in ("", _AUTOMATIC):
            return "" if kind in ("clear", "nil") else _UNKNOWN
        # Dots and lines of another color: whether they leave letters seen depends on them.
        return found if kind in ("clear", "nil") else _UNKNOWN

    def _themed(self, element: etree._Element, prefix: str, name: str) -> str:
        named = element.get(f"{W}{name}", "")
        if not named or named == "none":
            return ""
        tint, shade = element.get(f"{W}{prefix}Tint", ""), element.get(f"{W}{prefix}Shade", "")
        return self._theme.color(named, tint, shade) or _USUAL.get(named, "")

    def _behind(self, run: etree._Element) -> str:
        """Return what is behind a paragraph: a cell, a table's style, or the page."""
        in_table = False
        for around in run.iterancestors(_CELL, _TABLE, _BOX):
            if around.tag not in (_CELL, _TABLE):
                return _UNKNOWN
            in_table = True
            if around.tag == _CELL:
                fill = self._fill(around.find(f"{W}tcPr/{_SHADE}"))
            else:
                fill = self._fill(around.find(f"{W}tblPr/{_SHADE}"))
                style = around.find(f"{W}tblPr/{W}tblStyle")
                if not fill and style is not None and self._shades(style.get(VAL, "")):
                    return _UNKNOWN
            if fill:
                return fill
        return _UNKNOWN if in_table and self._has_drawn else self._paper

    def _shades(self, key: str) -> bool:
        """Return whether a table's style, or one that it is based on, shades any of its cells."""
        seen: set[str] = set()
        while key in self._elements and key not in seen:
            seen.add(key)
            element = self._elements[key]
            if key not in self._shading:
                self._shading[key] = any(map(self._fill, element.iter(_SHADE)))
            if self._shading[key]:
                return True
            based = element.find(f"{W}basedOn")
            key = "" if based is None else based.get(VAL, "")
        return False

    def _is_odd(self, key: str) -> bool:
        """Return whether a style may make text unseen where nothing else is said."""
        if self._elements[key].get(f"{W}type") not in ("paragraph", "character"):
            return False
        look = self.style(key)
        if look.size in _TINY:
            return True
        return look.ink not in ("", _AUTOMATIC) and look_alike(look.ink, self._paper)


_TRUE = ("1", "true", "on")
_DRAWN_BEHIND = re.compile(rb"\bbehindDoc=[\"'](?:1|true|on)[\"']|z-index:\s*-")


def has_drawn_behind(document: bytes) -> bool:
    """Tell whether drawings of a part lie behind its text."""
    return _DRAWN_BEHIND.search(document) is not None


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
