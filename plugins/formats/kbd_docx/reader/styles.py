"""Styles and lists of a document as far as reading needs them: headings, hidden text, list labels.

A style inherits from the one that it is based on. Names of built-in styles are English in every
language of the program; other programs tell headings by an outline level alone.

Labels are counted as the program shows them. A paragraph names a list (`w:num`) and a level of it;
the list says by which scheme (`w:abstractNum`) it counts, and lists of one scheme count on together
unless one says that it starts anew. ECMA-376, part 1, 17.9.
"""

import re
from collections.abc import Callable, Iterator

import msgspec
from lxml import etree

from kbd_docx.document import VAL, W, is_on, number

__all__ = [
    "BULLET",
    "NO_HEADING",
    "ListLabels",
    "StyleFacts",
    "StyleIndex",
    "heading_level",
    "numeral",
]


NO_HEADING = 0
"""The level of what is no heading."""

_BODY_LEVEL = 9
"""The outline level, counted from 0, that says "body text"."""

# Names have a blank before the number ("heading 1"), ids have none ("Heading1").
_HEADING_NAME = re.compile(r"heading ?([1-9])", re.IGNORECASE)


class StyleFacts(msgspec.Struct, frozen=True):
    """Style as far as reading needs it, with what it inherits.

    Args:
        name: As people see it.
        level: Of headings from 1 to 9; NO_HEADING.
        list_id: The list that its paragraphs belong to, "" for none.
        list_level: Which level of it, None where the list tells.
        is_hidden: Whether its text is not shown.
    """

    name: str = ""
    level: int = NO_HEADING
    list_id: str = ""
    list_level: int | None = None
    is_hidden: bool = False


_PLAIN = StyleFacts()
_USUAL_VANISH = f"{W}docDefaults/{W}rPrDefault/{W}rPr/{W}vanish"
"""What says that text is not shown where nothing else is said."""


class StyleIndex:
    """The styles of a document by id.

    Args:
        root: The root of the part with the styles; None if there is none.
    """

    def __init__(self, root: etree._Element | None) -> None:
        self._elements: dict[str, etree._Element] = {}
        self._found: dict[str, StyleFacts] = {}
        usual = None if root is None else root.find(_USUAL_VANISH)
        self._usual = StyleFacts(is_hidden=usual is not None and is_on(usual))
        self.default = self._usual
        default_id = ""
        for element in root.iterchildren(f"{W}style") if root is not None else ():
            key = element.get(f"{W}styleId", "")
            self._elements.setdefault(key, element)
            if element.get(f"{W}type") == "paragraph" and element.get(f"{W}default") in _TRUE:
                default_id = default_id or key
        if default_id:
            self.default = self.style(default_id)
        self.may_hide = root is not None and next(root.iter(f"{W}vanish"), None) is not None

    def style(self, key: str) -> StyleFacts:
        """Return a style; if there is none of that id, what the id alone tells."""
        found = self._found.get(key)
        if found is not None:
            return found
        # A loop, no recursion: files chain styles by the thousand, or in a circle.
        chain = list(self._chain(key))
        # The chain ends at a base that is known already, at one that is missing, or in a circle.
        style = self._found.get(self._base(chain[-1]), self._first(chain[-1])) if chain else None
        style = style or msgspec.structs.replace(_missing(key), is_hidden=self._usual.is_hidden)
        for name in reversed(chain):
            style = self._found[name] = _derive(self._elements[name], style)
        # Ids that no style has are remembered, too: every paragraph may name the same one.
        self._found.setdefault(key, style)
        return style

    def _first(self, key: str) -> StyleFacts:
        """Return what a style begins with that is based on none."""
        is_paragraph = self._elements[key].get(f"{W}type", "paragraph") == "paragraph"
        return self._usual if is_paragraph else _PLAIN

    def _chain(self, key: str) -> Iterator[str]:
        """Yield the ids of a style and of those that it is based on, as far as they are new."""
        seen: set[str] = set()
        while key in self._elements and key not in self._found and key not in seen:
            seen.add(key)
            yield key
            key = self._base(key)

    def _base(self, key: str) -> str:
        based = self._elements[key].find(f"{W}basedOn")
        return "" if based is None else based.get(VAL, "")


_TRUE = ("1", "true", "on")


def heading_level(outline: etree._Element) -> int:
    """Return the heading level that an outline level stands for."""
    level = number(outline.get(VAL), _BODY_LEVEL, 0, _BODY_LEVEL)
    return NO_HEADING if level == _BODY_LEVEL else level + 1


def _missing(key: str) -> StyleFacts:
    """Return what is known of a style that the document uses and does not define.

    Programs that write documents without styles name headings by the built-in ids all the same.
    """
    heading = _HEADING_NAME.fullmatch(key)
    return StyleFacts(key, int(heading[1])) if heading else _PLAIN


def _derive(element: etree._Element, base: StyleFacts) -> StyleFacts:
    """Return a style from its element and from what it is based on."""
    named = element.find(f"{W}name")
    name = named.get(VAL, "") if named is not None else element.get(f"{W}styleId", "")
    level, list_id, list_level = base.level, base.list_id, base.list_level
    properties = element.find(f"{W}pPr")
    if properties is not None:
        outline = properties.find(f"{W}outlineLvl")
        if outline is not None:
            level = heading_level(outline)
        found = properties.find(f"{W}numPr/{W}numId")
        list_id = list_id if found is None else found.get(VAL, "")
        depth = properties.find(f"{W}numPr/{W}ilvl")
        list_level = list_level if depth is None else number(depth.get(VAL), 0, 0, 8)
    heading = _HEADING_NAME.fullmatch(name)
    if heading and element.get(f"{W}type", "paragraph") == "paragraph":
        level = int(heading[1])
    hidden = element.find(f"{W}rPr/{W}vanish")
    hidden = element.find(f"{W}rPr/{W}specVanish") if hidden is None else hidden
    is_hidden = base.is_hidden if hidden is None else is_on(hidden)
    return StyleFacts(name, level, list_id, list_level, is_hidden)


BULLET = "-"
"""The label of what is not counted."""

_DIGITS = ("decimal", "decimalZero")
_LEVELS = 9
_MAX_LABEL_CHARS = 100
_MAX_COUNT = 1 << 31
_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_MAX_ROMAN = 3999
_LETTERS = 26
_MAX_LETTERS = 30
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
    """Labels of a document's lists, counted on with each one asked for.

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
        """Advance a list, and return a paragraph's label and level; "" if it has none.

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
                starts[place] = number(start.get(VAL), 1, 0, _MAX_COUNT)
        key = element.get(f"{W}numId", "")
        self._lists[key] = _List("" if scheme is None else scheme.get(VAL, ""), levels, starts)

    def _scheme(self, key: str) -> _Scheme | None:
        """Return a scheme, or the one that a style stands for in its place."""
        # Bounded, since links from style to style may lead in a circle.
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
            # An override starts the level anew once, at the list's first label there.
            start = found.starts.pop(place, None)
            count = scheme.counts[place]
            if start is not None:
                scheme.counts[place] = start
            elif count is None:
                # A level that is skipped counts as used: below "1.1.1" the next is "1.2".
                scheme.counts[place] = _level_of(found, scheme, place).start
            elif place == level:
                scheme.counts[place] = count + 1
        for below in range(level + 1, _LEVELS):
            restart = _level_of(found, scheme, below).restart
            # `restart` counts from 1 and `level` from 0, so this is that level and those above it;
            # none if it is 0.
            if restart is None or level < restart:
                scheme.counts[below] = None

    def _shown(self, found: _List, scheme: _Scheme, level: int) -> str:
        own = _level_of(found, scheme, level)
        if own.format == "bullet":
            return BULLET
        if own.format == "none":
            return _PLACE.sub("", own.text).strip()

        def place(match: re.Match[str]) -> str:
            which = int(match[1]) - 1
            at = _level_of(found, scheme, which)
            # A label may show a level below its own, which has not counted yet.
            count = scheme.counts[which]
            form = at.format if not own.is_legal or at.format in _DIGITS else _DIGITS[0]
            return numeral(at.start if count is None else count, form)

        return _PLACE.sub(place, own.text)[:_MAX_LABEL_CHARS].strip()


_ANY_LEVEL = _Level()


def _level_of(found: _List, scheme: _Scheme, level: int) -> _Level:
    return found.levels.get(level) or scheme.levels.get(level, _ANY_LEVEL)


def _level(element: etree._Element) -> tuple[int, _Level]:
    def value(name: str) -> str | None:
        child = element.find(f"{W}{name}")
        return None if child is None else child.get(VAL, "")

    restart = value("lvlRestart")
    return number(element.get(f"{W}ilvl"), 0, 0, _LEVELS - 1), _Level(
        # A level that tells no start begins at 0 (ECMA-376, part 1, 17.9).
        start=number(value("start"), 0, 0, _MAX_COUNT),
        format=value("numFmt") or "decimal",
        text=(value("lvlText") or "")[:_MAX_LABEL_CHARS],
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
            return f"{count}{_ordinal_suffix(count)}"
        case "none":
            return ""
        case _:
            return str(count)
    return text.upper() if form.startswith("upper") else text.lower()


def _letters(count: int) -> str:
    if not 1 <= count <= _LETTERS * _MAX_LETTERS:
        return str(count)
    times, place = divmod(count - 1, _LETTERS)
    return chr(ord("a") + place) * (times + 1)


def _roman(count: int) -> str:
    if not 1 <= count <= _MAX_ROMAN:
        return str(count)
    text = ""
    for value, letters in _ROMAN:
        times, count = divmod(count, value)
        text += letters * times
    return text


def _ordinal_suffix(count: int) -> str:
    if count % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
