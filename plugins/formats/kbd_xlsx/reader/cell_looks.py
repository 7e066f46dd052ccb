"""Looks of cells: the color of letters, what is behind them, the number format; what they hide.

A cell's format tells its look, and a conditional format changes it. Letters in the color of what is
behind them, letters too small to be read, and a number format that shows nothing are not seen.
"""

import re
from collections.abc import Sequence
from enum import IntEnum

import msgspec
from lxml import etree

from kbd.office.theme import look_alike
from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd.sheets.values import Value
from kbd_xlsx.reader.fallback_parser import Meaning, format_meanings, related_part
from kbd_xlsx.styles.theme import XlsxTheme, read_workbook_theme

__all__ = [
    "USUAL_LOOK",
    "CellLook",
    "LookChange",
    "Sight",
    "WorkbookLooks",
    "is_same_color",
    "letters_color",
    "may_hide",
    "read_change",
    "read_looks",
    "section_shows_nothing",
    "sight",
    "with_change",
]

MAX_TINY_POINTS = 2.0
"""A size that nobody reads; the same as in documents and decks."""

_BLACK, _WHITE = "000000", "FFFFFF"


class Sight(IntEnum):
    """Whether people see what a cell holds."""

    SEEN = 0
    MAYBE = 1
    HIDDEN = 2


class CellLook(msgspec.Struct, frozen=True, array_like=True):
    """Look of a cell.

    Args:
        ink: The color of its letters as RRGGBB; "" where they are too small for any.
        ground: The color behind them; "" where it is of several, or cannot be told.
        code: Its number format, "" for the general one.
    """

    ink: str
    ground: str
    code: str = ""


USUAL_LOOK = CellLook(_BLACK, _WHITE)


class LookChange(msgspec.Struct, frozen=True, array_like=True):
    """Change of a look by a condition; None is left as it is, the rest as in `CellLook`."""

    ink: str | None = None
    ground: str | None = None
    code: str | None = None


class WorkbookLooks(msgspec.Struct, frozen=True):
    """The looks of a workbook.

    Args:
        looks: Each once.
        of_format: The place in `looks` of each cell format.
        changes: What each format for conditions (dxf) changes.
        styled_tables: The styles of tables of its own, and whether each puts anything behind cells.
        theme: Its colors.
        meanings: What each cell format makes of numbers.
    """

    looks: tuple[CellLook, ...] = ()
    of_format: tuple[int, ...] = ()
    changes: tuple[LookChange, ...] = ()
    styled_tables: dict[str, bool] = {}
    theme: XlsxTheme = XlsxTheme()
    meanings: tuple[Meaning, ...] = ()

    @property
    def moments(self) -> frozenset[int]:
        """The cell formats that show a date or a time."""
        meanings = enumerate(self.meanings)
        return frozenset(number for number, meaning in meanings if meaning == "moment")

    def hiding(self) -> dict[int, int]:
        """Return the cell formats that may hide what cells hold, with the places of their looks."""
        hides = [may_hide(look) for look in self.looks]
        return {number: place for number, place in enumerate(self.of_format) if hides[place]}


def read_looks(package: Package) -> WorkbookLooks:
    """Read the looks of a workbook.

    Raises:
        FileReadFailed: The style sheet is damaged.
    """
    main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
    part = related_part(package, main, "styles")
    if not part:
        return WorkbookLooks()
    root = package.root(part)
    theme = read_workbook_theme(package, related_part(package, main, "theme"), root)
    fonts = [letters_color(font, theme) for font in root.iterfind("{*}fonts/{*}font")]
    grounds = [_ground(fill, theme) for fill in root.iterfind("{*}fills/{*}fill")]
    codes = {
        element.get("numFmtId", ""): element.get("formatCode", "")
        for element in root.iterfind("{*}numFmts/{*}numFmt")
    }
    places: dict[CellLook, int] = {}
    of_format = []
    for form in root.iterfind("{*}cellXfs/{*}xf"):
        look = CellLook(
            _entry(fonts, form.get("fontId"), _BLACK),
            _entry(grounds, form.get("fillId"), _WHITE),
            codes.get(form.get("numFmtId", "0"), "")[:_MAX_CODE],
        )
        of_format.append(places.setdefault(look, len(places)))
    changes = tuple(read_change(each, theme) for each in root.iterfind("{*}dxfs/{*}dxf"))
    tables, meanings = _styled_tables(root, changes), tuple(format_meanings(root))
    return WorkbookLooks(tuple(places), tuple(of_format), changes, tables, theme, meanings)


def _styled_tables(root: etree._Element, changes: Sequence[LookChange]) -> dict[str, bool]:
    return {
        style.get("name", ""): any(
            place.isdecimal() and int(place[:6]) < len(changes)
            and changes[int(place[:6])].ground is not None
            for element in style.iterfind("{*}tableStyleElement")
            for place in (element.get("dxfId", ""),)
        )
        for style in root.iterfind("{*}tableStyles/{*}tableStyle")
    }  # fmt: skip


def _entry(entries: list[str], place: str | None, usual: str) -> str:
    number = int(place) if place and place.isdecimal() and len(place) < 7 else 0
    return entries[number] if number < len(entries) else usual


def letters_color(font: etree._Element, theme: XlsxTheme) -> str:
    """Return the color of a font's letters; "" where they are too small for any."""
    size = font.find("{*}sz")
    try:
        if size is not None and float(size.get("val", "11")) <= MAX_TINY_POINTS:
            return ""
    except ValueError:
        pass  # No program takes it for a size.
    color = theme.color(font.find("{*}color"))
    return _BLACK if color is None else color.rgb


_LIGHT_PATTERNS = ("gray125", "gray0625")
"""Patterns with so few dots that letters in the color around them are not seen."""


def _ground(fill: etree._Element, theme: XlsxTheme) -> str:
    """Return the color behind letters; "" where it is of several, or cannot be told."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        stops = [theme.color(each) for each in fill.iterfind("{*}gradientFill/{*}stop/{*}color")]
        colors = [stop.rgb for stop in stops if stop is not None]
        if not len(fill):
            return _WHITE
        one = bool(colors) and len(colors) == len(stops)
        return colors[0] if one and all(look_alike(colors[0], each) for each in colors) else ""
    kind = pattern.get("patternType", "none")
    if kind == "none":
        return _WHITE
    color = theme.color(pattern.find("{*}fgColor"))
    if kind == "solid":
        return "" if color is None else color.rgb
    back = theme.color(pattern.find("{*}bgColor"))
    dots, around = color.rgb if color else _BLACK, back.rgb if back else _WHITE
    return around if kind in _LIGHT_PATTERNS or look_alike(dots, around) else ""


def read_change(form: etree._Element, theme: XlsxTheme) -> LookChange:
    """Return what a format for conditions changes (ECMA-376 part 1, 18.8.14)."""
    children = {local_name(child): child for child in form if isinstance(child.tag, str)}
    ink = ground = code = None
    if (font := children.get("font")) is not None:
        color = theme.color(font.find("{*}color"))
        ink = None if color is None else color.rgb
    if (fill := children.get("fill")) is not None:
        ground = _changed_ground(fill, theme)
    if (number := children.get("numFmt")) is not None:
        code = number.get("formatCode", "")[:_MAX_CODE]
    return LookChange(ink, ground, code)


def _changed_ground(fill: etree._Element, theme: XlsxTheme) -> str | None:
    """Return what a fill puts behind letters: there the background of a solid one is its color."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        return _ground(fill, theme) if len(fill) else None
    kind = pattern.get("patternType", "solid")
    if kind not in ("solid", "none"):
        return _ground(fill, theme)
    color = theme.color(pattern.find("{*}bgColor"))
    if color is None and kind == "solid":
        color = theme.color(pattern.find("{*}fgColor"))
    return None if color is None else color.rgb


def with_change(look: CellLook, change: LookChange) -> CellLook:
    """Return a look with a change; letters that are too small stay so."""
    return CellLook(
        look.ink if change.ink is None or not look.ink else change.ink,
        look.ground if change.ground is None else change.ground,
        look.code if change.code is None else change.code,
    )


_SECTION = re.compile(r'"[^"]*"?|\\.|\[[^\]]*\]|[^;"\\\[]|[\\\[]|(;)', re.DOTALL)
_UNSHOWN = re.compile(r'\[(?!\$|[hms]+\])[^\]]*\]|_.|\*.|"\s*"|\\\s|\s', re.DOTALL | re.IGNORECASE)
_COLORS = {
    "black": "000000", "white": "FFFFFF", "red": "FF0000", "green": "00FF00", "blue": "0000FF",
    "yellow": "FFFF00", "magenta": "FF00FF", "cyan": "00FFFF",
}  # fmt: skip
_COLOR = re.compile(rf"\[(?:({'|'.join(_COLORS)})|color\s?(\d{{1,2}}))\]", re.IGNORECASE)
_FIRST_LISTED = 7
"""The colors of number formats count from 1; the first is the eighth of the list (18.8.27)."""

_COMPARED = re.compile(r"\[\s*(<=|>=|<>|<|>|=)\s*([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*\]")
_GENERAL = re.compile(r"\bgeneral\b", re.IGNORECASE)
_MAX_CODE = 1_000


class _Section(msgspec.Struct, frozen=True):
    """A section of a number format: whether it hides, and the numbers that it is for."""

    text: str
    is_hiding: bool
    compared: tuple[str, float] | None


def section_shows_nothing(section: str) -> bool:
    """Tell whether a section of a number format shows nothing, or only one sign over and over.

    Colors, conditions, blanks and what only takes room are nothing (ECMA-376 part 1, 18.8.31).
    """
    return not _UNSHOWN.sub("", section)


def is_same_color(ink: str, ground: str) -> bool:
    """Tell whether letters of a color are not seen on a ground, which is "" if nobody can tell."""
    return not ink or (ground != "" and look_alike(ink, ground))


def may_hide(look: CellLook) -> bool:
    """Tell whether a look hides any value."""
    if is_same_color(look.ink, look.ground):
        return True
    sections = _sections(look)
    if any(each.compared for each in sections):
        return any(each.is_hiding for each in sections)
    return any(sight(look, value) for value in (1.0, -1.0, "x"))


def sight(look: CellLook, value: Value) -> Sight:
    """Return whether people see a value; a zero that is not shown tells nobody much.

    Args:
        look: The look of its cell.
        value: What the cell holds; "" is a formula without a result.
    """
    is_same = is_same_color(look.ink, look.ground)
    if not look.ink or not look.code.strip():
        return Sight.HIDDEN if is_same else Sight.SEEN
    sections = _sections(look)
    if is_same and not any(_section_ink(each.text) for each in sections):
        return Sight.HIDDEN
    if value == "":
        return Sight.HIDDEN if is_same or may_hide(look) else Sight.SEEN
    match value:
        case bool():
            return Sight.SEEN
        case str():
            return _sight_of_text(sections, is_same=is_same)
        case int() | float():
            return Sight.SEEN if value == 0 else _common(_for_number(_of_numbers(sections), value))
        case _:
            # Dates are numbers for a format; none is below zero.
            numbers = _of_numbers(sections)
            is_compared = any(each.compared for each in numbers)
            return _common(numbers if is_compared else numbers[:1])


def _sections(look: CellLook) -> list[_Section]:
    """Cut a number format at its semicolons, those in quotes left alone."""
    texts, start = [], 0
    for match in _SECTION.finditer(look.code):
        if match[1]:
            texts.append(look.code[start : match.start()])
            start = match.end()
    texts.append(look.code[start:])
    found = []
    for text in texts[:4]:
        ink = _section_ink(text) or look.ink
        hides = bool(look.code.strip()) and section_shows_nothing(text)
        compared = _COMPARED.search(text)
        found.append(
            _Section(
                text,
                hides or is_same_color(ink, look.ground),
                (compared[1], float(compared[2])) if compared else None,
            )
        )
    return found


def _sight_of_text(sections: list[_Section], *, is_same: bool) -> Sight:
    """Text has the fourth section, else a last one with a place for it, else the general look."""
    if len(sections) == 4 or "@" in sections[-1].text:
        return Sight.HIDDEN if sections[-1].is_hiding else Sight.SEEN
    if is_same:
        return Sight.HIDDEN
    # Programs differ in whether a section that is all there is colors text, too.
    alone = len(sections) == 1 and sections[0].is_hiding and _GENERAL.search(sections[0].text)
    return Sight.MAYBE if alone else Sight.SEEN


def _of_numbers(sections: list[_Section]) -> list[_Section]:
    is_last_text = len(sections) == 4 or (len(sections) > 1 and "@" in sections[-1].text)
    return sections[:-1] if is_last_text else sections


def _for_number(sections: list[_Section], value: float) -> list[_Section]:
    """Return the sections that may be the one for a number; none where no section is."""
    first, *rest = sections
    second = rest[0].compared if rest else None
    if first.compared is None and second is None:
        return [sections[min(1, len(sections) - 1)] if value < 0 else first]
    if _is_met(first.compared or (">", 0.0), value):
        return [first]
    if len(rest) < 2:
        return rest if second is None or _is_met(second, value) else []
    if second is not None:
        return rest[:1] if _is_met(second, value) else rest[1:2]
    # The second of three that says nothing is for negative numbers, in some programs for all.
    return rest[:1] if value < 0 else rest[:2]


def _is_met(compared: tuple[str, float], value: float) -> bool:
    sign, bound = compared
    match sign:
        case "<":
            return value < bound
        case ">":
            return value > bound
        case "<=":
            return value <= bound
        case ">=":
            return value >= bound
        case "<>":
            return value != bound
        case _:
            return value == bound


def _common(sections: Sequence[_Section]) -> Sight:
    hiding = [section.is_hiding for section in sections]
    if not any(hiding):
        return Sight.SEEN
    return Sight.HIDDEN if all(hiding) else Sight.MAYBE


def _section_ink(section: str) -> str:
    """Return the color that a section of a number format names, "" if it names none."""
    found = _COLOR.search(section)
    if found is None:
        return ""
    if found[2]:
        place = int(found[2]) + _FIRST_LISTED
        return XlsxTheme().indexed[place] if place < len(XlsxTheme().indexed) else ""
    return _COLORS[found[1].casefold()]
