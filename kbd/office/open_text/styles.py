"""Styles that a reader must know of: hidden and unseen text, and the labels of lists.

Labels are counted as the program shows them.
"""

import msgspec
from lxml import etree

from kbd.office.open_document import DRAW, STYLE, TEXT, XML, count
from kbd.office.open_text.looks import (
    PLAIN,
    Layer,
    OpenLook,
    Seat,
    derived,
    gradient_paints,
    is_drawn_behind,
    may_hide,
    read_look,
    seats_around,
    sight,
)
from kbd.office.open_text.pages import OpenPages
from kbd.office.paint import UNKNOWN, Paints, Verdict

__all__ = ["GRADIENT", "ListLevel", "ListNumbering", "OpenStyles", "label"]

_MAX_PARENTS = 50
_LEVELS = 10
_MAX_COUNT = 1_000_000
_MAX_ROMAN = 4_000
_ALPHABET = 26

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


_STYLE_NAME = f"{TEXT}style-name"
_PARAGRAPHS = (f"{TEXT}p", f"{TEXT}h")
_LOOKED_AT = (
    "text", "paragraph", "table-cell", "table-row", "table", "section", "graphic", "presentation",
)  # fmt: skip
GRADIENT = f"{DRAW}gradient"
_MASTER, _LAYOUT = f"{STYLE}master-page", f"{STYLE}page-layout"


class ListLevel(msgspec.Struct, frozen=True):
    """Label of a list's level; `format` is "" for no number, "-" for a bullet."""

    format: str = "-"
    prefix: str = ""
    suffix: str = ""
    start: int = 1
    shown_levels: int = 1


class _Around(msgspec.Struct, frozen=True):
    """What is around the letters of a paragraph.

    Args:
        letters: The look that the drawing in which it stands gives them.
        layers: What is behind it, from above.
        papers: What its page may be painted with; None if nobody knows what is behind it.
        is_doubtful: Whether something may lie before the page.
    """

    letters: OpenLook = PLAIN
    layers: tuple[Layer, ...] = ()
    papers: frozenset[Paints] | None = None
    is_doubtful: bool = False


class OpenStyles:
    """Styles met so far; one of a part goes before the common one of its name."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._hidden: dict[str, bool] = {}
        self._lists: dict[str, dict[int, ListLevel]] = {}
        self._looks: dict[str, OpenLook] = {}
        self._known: dict[tuple[str | None, ...], OpenLook] = {}
        self._pages = OpenPages()
        self._gradients: dict[str, Paints] = {}
        self._has_drawn_behind = False
        self._last: tuple[etree._Element | None, _Around] = (None, _Around())
        self._may_hide: bool | None = None
        self._ground: frozenset[Paints] | None = None
        self._grounds: set[Paints] = set()

    def place_on(self, papers: frozenset[Paints]) -> None:
        """Say what is behind the drawings that come next, where these stand on no page of a text.

        Args:
            papers: What it may be painted with; none for what is not known, and taken for such
                that letters are seen on it.
        """
        if not papers <= self._grounds:
            self._grounds |= papers
            self._may_hide = None
        self._ground = papers
        self._last = (None, _Around())

    def paints(self, look: OpenLook) -> Paints:
        """Return what something of a look is painted with."""
        return look.backing(self._gradients)

    def drawn_paints(self, family: str, name: str) -> Paints:
        """Return what a drawing of a style is painted with."""
        return self._look(family, name).backing(self._gradients)

    def add(self, element: etree._Element) -> None:
        """Add a style: of texts, of drawings, lists, pages; a default one, a gradient."""
        if element.tag in (_MASTER, _LAYOUT):
            self._may_hide = None
            if element.tag == _MASTER:
                self._pages.add_master(element)
            else:
                self._pages.add_layout(element)
            return
        if element.tag == GRADIENT:
            self._may_hide = None
            gradient = element.get(f"{DRAW}name", "")
            # Which one of two of a name counts is not known.
            known = gradient in self._gradients
            self._gradients[gradient] = UNKNOWN if known else gradient_paints(element)
            return
        name = element.get(f"{STYLE}name", "")
        family = element.get(f"{STYLE}family", "")
        if family == "graphic":
            self._has_drawn_behind = self._has_drawn_behind or is_drawn_behind(element)
        if element.tag == f"{TEXT}list-style":
            self._lists[name] = dict(map(_level, element.iterchildren("{*}*")))
            return
        # Styles of paragraphs and of texts have names of their own each.
        key = f"{family} {name}"
        if family in _LOOKED_AT:
            self._looks[key] = read_look(element)
            self._may_hide = None
        self._parents[key] = element.get(f"{STYLE}parent-style-name", "")
        text_properties = element.find(f"{STYLE}text-properties")
        shown = None if text_properties is None else text_properties.get(f"{TEXT}display")
        # A style of a part replaces the common one of its name, also where it says nothing of this.
        self._hidden.pop(key, None)
        if shown is not None:
            self._hidden[key] = shown == "none"

    def is_hidden(self, family: str, name: str | None) -> bool:
        """Whether a style of a family ("paragraph", "text") hides its text."""
        # Bounded, for styles may be each other's parents.
        for _ in range(_MAX_PARENTS):
            if not name:
                break
            key = f"{family} {name}"
            if key in self._hidden:
                return self._hidden[key]
            name = self._parents.get(key)
        return False

    def verdict(self, element: etree._Element) -> Verdict:
        """Return whether people see the text of a paragraph or a span, if nothing hides it."""
        if self._may_hide is None:
            # Most texts say nothing of colors and sizes that could hide any of it.
            paints = self._pages.paints().union(self._gradients.values(), self._grounds)
            self._may_hide = may_hide(self._looks.values(), paints)
            self._known.clear()
            self._last = (None, _Around())
        if not self._may_hide:
            return ""
        names, at = [element.get(_STYLE_NAME)], element
        while at.tag not in _PARAGRAPHS:
            parent = at.getparent()
            if parent is None:
                return ""
            # Spans, and the links and fields in which they stand.
            names.append(parent.get(_STYLE_NAME))
            at = parent
        key = tuple(names)
        look = self._known.get(key)
        if look is None:
            look = self._known[key] = self._nested(key)
        around = self._surroundings(at)
        for base in (around.letters, self._looks.get("paragraph ", PLAIN)):
            look = derived(look, base)
        if around.papers is None:
            return "hidden" if look.has_no_letters else ""
        layers = ((look.backing(self._gradients), True), *around.layers)
        return sight(look, layers, around.papers, is_doubtful=around.is_doubtful)

    def _nested(self, names: tuple[str | None, ...]) -> OpenLook:
        """Return the look of a text by the styles around it; the last is that of its paragraph."""
        look = PLAIN
        for name in names[:-1]:
            look = derived(look, self._look("text", name))
        return derived(look, self._look("paragraph", names[-1]))

    def _surroundings(self, paragraph: etree._Element) -> _Around:
        """Return what is around a paragraph; that of the last one is at hand."""
        if self._last[0] is not paragraph:
            self._last = (paragraph, self._look_around(paragraph))
        return self._last[1]

    def _look_around(self, paragraph: etree._Element) -> _Around:
        found = seats_around(paragraph)
        if found is None:
            return _Around()
        seats, end = found
        layers = tuple((self._backing(seat), seat.is_whole) for seat in seats)
        letters = self._letters(seats[-1]) if seats else PLAIN
        tag = str(end.tag)
        if tag.startswith(DRAW):
            if self._ground is not None:
                # Outlines, shadows and the like are not looked into.
                return _Around(letters, layers, self._ground, is_doubtful=True)
            # It is not looked into what else lies there.
            return _Around(letters, layers, self._pages.papers(), is_doubtful=True)
        if tag.startswith(STYLE):
            # What is drawn behind the text is known only when its part is read.
            paint, papers = self._pages.margin(end)
            return _Around(letters, (*layers, (paint, True)), papers, is_doubtful=True)
        return _Around(letters, layers, self._pages.papers(), self._has_drawn_behind)

    def _backing(self, seat: Seat) -> Paints:
        """Return what something in which paragraphs stand is painted with."""
        look = self._look(seat.family, seat.name)
        return look.backing(self._gradients) if seat.family else UNKNOWN

    def _letters(self, seat: Seat) -> OpenLook:
        """Return the look that a drawing gives to its letters, and nothing of what it is on."""
        if not seat.has_letters:
            return PLAIN
        look = self._look("paragraph", seat.text_name)
        look = derived(look, self._look(seat.family, seat.name))
        look = derived(look, self._looks.get("graphic ", PLAIN))
        return OpenLook(look.ink, look.size_pt)

    def _look(self, family: str, name: str | None) -> OpenLook:
        """Return the look of a style with what it inherits from those that it names."""
        look = PLAIN
        for _ in range(_MAX_PARENTS):
            if not name:
                break
            key = f"{family} {name}"
            look = derived(look, self._looks.get(key, PLAIN))
            name = self._parents.get(key)
        return look

    def level(self, list_style: str, depth: int) -> ListLevel:
        """Return how a list of a style labels its items at a depth from 1."""
        return self._lists.get(list_style, {}).get(depth, ListLevel())


def _level(element: etree._Element) -> tuple[int, ListLevel]:
    depth = count(element.get(f"{TEXT}level"), _LEVELS)
    if element.tag != f"{TEXT}list-level-style-number":
        # An image for a label is shown as a bullet is.
        return depth, ListLevel()
    return depth, ListLevel(
        element.get(f"{STYLE}num-format", ""),
        element.get(f"{STYLE}num-prefix", ""),
        element.get(f"{STYLE}num-suffix", ""),
        count(element.get(f"{TEXT}start-value"), _MAX_COUNT),
        count(element.get(f"{TEXT}display-levels"), _LEVELS),
    )


def label(levels: list[ListLevel], numbers: list[int]) -> str:
    """Return the label of an item, by how its level and those above are labeled and counted."""
    own = levels[-1]
    if own.format == "-":
        return "-"
    if not own.format:
        return f"{own.prefix}{own.suffix}".strip()
    # The item's own level is one of the levels shown.
    first = max(0, len(levels) - own.shown_levels)
    shown = [
        _numeral(number, level.format)
        for level, number in zip(levels[first:], numbers[first:], strict=True)
        if level.format not in ("", "-")
    ]
    return f"{own.prefix}{'.'.join(shown)}{own.suffix}".strip()


def _numeral(number: int, format_: str) -> str:
    match format_:
        case "a" | "A" if number > 0:
            # After z comes aa, then bb.
            times, letter = divmod(number - 1, _ALPHABET)
            # Bounded: the label of item 1,000,000 would have 38,462 letters.
            text = chr(ord("a") + letter) * min(times + 1, _LEVELS)
        case "i" | "I" if 0 < number < _MAX_ROMAN:
            text = ""
            for value, signs in _ROMAN:
                text += signs * (number // value)
                number %= value
        case _:
            return str(number)
    return text.upper() if format_.isupper() else text


_INDENT = "  "
_MAX_INDENTED = 10


class ListNumbering:
    """Numbering of lists: those that are open, nested, and how far closed ones have counted.

    Use: `open_list`, `begin_item` for each of its items, `label` for each paragraph, `close_list`.
    """

    def __init__(self, styles: OpenStyles) -> None:
        self._styles = styles
        self._open: list[tuple[str, str]] = []
        self._levels: list[ListLevel] = []
        self._numbers: list[int] = []
        self._is_due = False
        self._counted: dict[str, int] = {}

    def open_list(self, element: etree._Element) -> None:
        """Begin a list, which may go on counting where another one ended."""
        around = self._open[-1][0] if self._open else ""
        # A list in another one has the style of that one, unless it names its own.
        style = element.get(f"{TEXT}style-name", around)
        self._open.append((style, element.get(f"{XML}id", "")))
        level = self._styles.level(style, len(self._open))
        continued = element.get(f"{TEXT}continue-list", "")
        if not continued and element.get(f"{TEXT}continue-numbering") == "true":
            continued = f"style {style}"
        self._levels.append(level)
        # One less than the first number: `begin_item` counts on before a label is asked for.
        self._numbers.append(self._counted.get(continued, level.start - 1))
        self._is_due = False

    def begin_item(self, element: etree._Element) -> None:
        """Begin an item; a header of a list is none."""
        if not self._numbers or element.tag != f"{TEXT}list-item":
            self._is_due = False
            return
        start = element.get(f"{TEXT}start-value")
        number = self._numbers[-1] + 1
        self._numbers[-1] = number if start is None else count(start, _MAX_COUNT, number)
        self._is_due = True

    def close_list(self) -> None:
        """End the innermost list."""
        if not self._open:
            return
        style, identity = self._open.pop()
        number = self._numbers.pop()
        self._levels.pop()
        # Lists inside of it were closed before, so that of one style the outermost count stays.
        self._counted[f"style {style}"] = number
        if identity:
            self._counted[identity] = number
        self._is_due = False

    def label(self) -> str:
        """Return what stands before the next paragraph: indent, label and a blank; "" for none."""
        if not self._open:
            return ""
        indent = _INDENT * (min(len(self._open), _MAX_INDENTED) - 1)
        if not self._is_due:
            # A further paragraph of an item has no label, and stands under the item's text.
            return f"{indent}{_INDENT}"
        self._is_due = False
        shown = label(self._levels, self._numbers)
        return f"{indent}{shown} " if shown else f"{indent}{_INDENT}"
