"""The labels that lists put before their paragraphs, counted as the program shows them.

A paragraph names a list (`w:num`) and a level of it; the list says by which scheme
(`w:abstractNum`) it counts, and lists of one scheme count on together unless one says that it
starts anew.
ECMA-376, part 1, 17.9.
"""

import re
from collections.abc import Callable

import msgspec
from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.reader.names import VAL, is_on, number

__all__ = ["BULLET", "ListLabels", "numeral"]

BULLET = "-"
"""The label of what is not counted."""

_DIGITS = ("decimal", "decimalZero")
_LEVELS = 9
_MOST_LABEL_CHARS = 100
_MOST_COUNT = 1 << 31
_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_MOST_ROMAN = 3999
_LETTERS = 26
_MOST_LETTERS = 30
"""After z comes aa, then bbb; nobody reads more."""


class _Level(msgspec.Struct, frozen=True):
    """One level of a scheme; `restart` is the level whose counting resets it, counted from 1."""

    start: int = 1
    format: str = "decimal"
    text: str = ""
    restart: int | None = None
    is_legal: bool = False
    style: str = ""


class _Scheme(msgspec.Struct):
    """A scheme and how far it has counted."""

    levels: dict[int, _Level]
    counts: list[int | None]


class _List(msgspec.Struct):
    """A list: its scheme, the levels that it has its own, and where it starts anew."""

    scheme: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class ListLabels:
    """The lists of a document, which count on with each label.

    Args:
        root: The root of the part that defines them; None if there is none.
        list_of_style: Returns the list that a style defines, by the id of the style.
    """

    def __init__(self, root: etree._Element | None, list_of_style: Callable[[str], str]) -> None:
        self._schemes: dict[str, _Scheme] = {}
        self._lists: dict[str, _List] = {}
        self._links: dict[str, str] = {}
        self._list_of_style = list_of_style
        for element in root if root is not None else ():
            if element.tag == f"{W}abstractNum":
                self._define(element)
            elif element.tag == f"{W}num":
                self._name(element)

    def label(self, list_id: str, level: int | None, style: str) -> tuple[str, int]:
        """Count on, and return a paragraph's label and its level; "" if it has none.

        Args:
            list_id: The list that it belongs to.
            level: Its level there, counted from 0; None if the list finds it by the style.
            style: The id of the paragraph's style.
        """
        found = self._lists.get(list_id)
        scheme = self._scheme(found.scheme) if found else None
        if found is None or scheme is None:
            return "", 0
        if level is None:
            level = next((n for n, each in scheme.levels.items() if style == each.style), 0)
        self._count(found, scheme, level)
        return self._shown(found, scheme, level), level

    def _define(self, element: etree._Element) -> None:
        key = element.get(f"{W}abstractNumId", "")
        link = element.find(f"{W}numStyleLink")
        if link is not None:
            self._links[key] = link.get(VAL, "")
        levels = dict(map(_level, element.iterchildren(f"{W}lvl")))
        self._schemes[key] = _Scheme(levels, [None] * _LEVELS)

    def _name(self, element: etree._Element) -> None:
        scheme = element.find(f"{W}abstractNumId")
        levels: dict[int, _Level] = {}
        starts: dict[int, int] = {}
        for override in element.iterchildren(f"{W}lvlOverride"):
            place = number(override.get(f"{W}ilvl"), 0, 0, _LEVELS - 1)
            own = override.find(f"{W}lvl")
            if own is not None:
                levels[place] = _level(own)[1]
            start = override.find(f"{W}startOverride")
            if start is not None:
                starts[place] = number(start.get(VAL), 1, 0, _MOST_COUNT)
        key = element.get(f"{W}numId", "")
        self._lists[key] = _List("" if scheme is None else scheme.get(VAL, ""), levels, starts)

    def _scheme(self, key: str) -> _Scheme | None:
        """Return a scheme, or the one that a style stands for in its place."""
        for _ in range(_LEVELS):
            if key not in self._links:
                break
            other = self._lists.get(self._list_of_style(self._links[key]))
            if other is None or other.scheme == key:
                break
            key = other.scheme
        return self._schemes.get(key)

    def _count(self, found: _List, scheme: _Scheme, level: int) -> None:
        for place in range(level + 1):
            start = found.starts.pop(place, None)
            count = scheme.counts[place]
            if start is not None:
                scheme.counts[place] = start
            elif count is None:
                # A level that is skipped counts as used: below "1.1.1" the next is "1.2".
                scheme.counts[place] = _of(found, scheme, place).start
            elif place == level:
                scheme.counts[place] = count + 1
        for below in range(level + 1, _LEVELS):
            restart = _of(found, scheme, below).restart
            if restart is None or level < restart:
                scheme.counts[below] = None

    def _shown(self, found: _List, scheme: _Scheme, level: int) -> str:
        own = _of(found, scheme, level)
        if own.format == "bullet":
            return BULLET
        if own.format == "none":
            return _PLACE.sub("", own.text).strip()

        def place(match: re.Match[str]) -> str:
            which = int(match[1]) - 1
            at = _of(found, scheme, which)
            count = scheme.counts[which]
            form = at.format if not own.is_legal or at.format in _DIGITS else _DIGITS[0]
            return numeral(at.start if count is None else count, form)

        return _PLACE.sub(place, own.text)[:_MOST_LABEL_CHARS].strip()


_ANY_LEVEL = _Level()


def _of(found: _List, scheme: _Scheme, level: int) -> _Level:
    return found.levels.get(level) or scheme.levels.get(level, _ANY_LEVEL)


def _level(element: etree._Element) -> tuple[int, _Level]:
    def value(name: str) -> str | None:
        child = element.find(f"{W}{name}")
        return None if child is None else child.get(VAL, "")

    restart = value("lvlRestart")
    return number(element.get(f"{W}ilvl"), 0, 0, _LEVELS - 1), _Level(
        start=number(value("start"), 0, 0, _MOST_COUNT),
        format=value("numFmt") or "decimal",
        text=(value("lvlText") or "")[:_MOST_LABEL_CHARS],
        restart=None if restart is None else number(restart, 0, 0, _LEVELS),
        is_legal=is_on(element.find(f"{W}isLgl")),
        style=value("pStyle") or "",
    )


def numeral(count: int, form: str) -> str:
    """Return a count in a form of ECMA-376, part 1, 17.18.59; in digits where that is not known."""
    match form:
        case "decimalZero":
            return f"{count:02}"
        case "lowerLetter" | "upperLetter":
            text = _letters(count)
        case "lowerRoman" | "upperRoman":
            text = _roman(count)
        case "ordinal":
            return f"{count}{_ending(count)}"
        case "none":
            return ""
        case _:
            return str(count)
    return text.upper() if form.startswith("upper") else text.lower()


def _letters(count: int) -> str:
    if not 1 <= count <= _LETTERS * _MOST_LETTERS:
        return str(count)
    times, place = divmod(count - 1, _LETTERS)
    return chr(ord("a") + place) * (times + 1)


def _roman(count: int) -> str:
    if not 1 <= count <= _MOST_ROMAN:
        return str(count)
    text = ""
    for value, letters in _ROMAN:
        times, count = divmod(count, value)
        text += letters * times
    return text


def _ending(count: int) -> str:
    if count % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
