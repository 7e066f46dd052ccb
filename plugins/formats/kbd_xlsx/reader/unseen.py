"""Unseen cells of a sheet: what they hold is there, and people do not see it.

A cell's format tells: letters in the color of what is behind them, letters too small to be read, a
number format that shows nothing. Only the few formats of a workbook that do so are looked for, so
that a sheet without such cells costs one search in its style sheet.

What conditional formats and the style of a table change is not in the cell's own format. White
letters in a table's header, which its style makes dark, are seen; such areas are left out by who
asks (`Features.filled_areas`).
"""

import re
from collections.abc import Mapping
from html import unescape

import msgspec
from lxml import etree

from kbd.office.theme import look_alike
from kbd.opc.package import Package
from kbd_xlsx.reader.blocks import Value
from kbd_xlsx.reader.fallback_parser import related_part
from kbd_xlsx.references import column_number
from kbd_xlsx.styles.theme import XlsxTheme, read_workbook_theme

__all__ = ["UnseenCells", "UnseenRun", "find_unseen_styles", "is_unseen", "section_shows_nothing"]

LOOK, POSITIVE, NEGATIVE, TEXT = 1, 2, 4, 8
"""What of a cell is not seen: anything, by color or size; numbers above or below zero; text."""

MAX_TINY_POINTS = 2.0
"""A size that nobody reads; the same as in documents and decks."""

MAX_RUNS = 50_000
"""Runs of rows that are told apart; below them, everything counts as unseen."""

_ALL_COLUMNS = (1 << 16_384) - 1
_LAST_ROW = 1_048_576
_BLACK, _WHITE = "000000", "FFFFFF"


class UnseenRun(msgspec.Struct, frozen=True, array_like=True):
    """Rows that follow each other whose cells in the same columns are unseen in the same way.

    Args:
        top: The first row.
        bottom: The last one.
        what: What of the cells is unseen: `LOOK`, `POSITIVE`, `NEGATIVE`, `TEXT` together.
        columns: Their columns as bits, bit 0 for A, in little-endian bytes.
    """

    top: int
    bottom: int
    what: int
    columns: bytes

    def in_row(self, left: int, right: int) -> list[int]:
        """Return the numbers of its columns between two."""
        bits = int.from_bytes(self.columns, "little") >> (left - 1)
        bits &= (1 << (right - left + 1)) - 1
        found = []
        while bits:
            low = bits & -bits
            found.append(left + low.bit_length() - 1)
            bits ^= low
        return found


def is_unseen(what: int, value: Value) -> bool:
    """Tell whether people do not see a cell's value; a zero that is not shown tells nobody much."""
    if what & LOOK or value == "":
        return bool(what)
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return bool(what & (POSITIVE if value > 0 else NEGATIVE)) and value != 0
    # Dates are numbers for a format; none is below zero.
    return bool(what & (TEXT if isinstance(value, str) else POSITIVE))


def find_unseen_styles(package: Package) -> Mapping[int, int]:
    """Return the cell formats that make cells unseen, by their numbers, with what they hide.

    Raises:
        FileReadFailed: The style sheet is damaged.
    """
    main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
    part = related_part(package, main, "styles")
    if not part:
        return {}
    root = package.root(part)
    theme = read_workbook_theme(package, related_part(package, main, "theme"), root)
    fonts = [_ink(font, theme) for font in root.iterfind("{*}fonts/{*}font")]
    grounds = [_ground(fill, theme) for fill in root.iterfind("{*}fills/{*}fill")]
    codes = {
        element.get("numFmtId", ""): element.get("formatCode", "")
        for element in root.iterfind("{*}numFmts/{*}numFmt")
    }
    found: dict[int, int] = {}
    for number, form in enumerate(root.iterfind("{*}cellXfs/{*}xf")):
        ink = _entry(fonts, form.get("fontId"), _BLACK)
        ground = _entry(grounds, form.get("fillId"), _WHITE)
        code = codes.get(form.get("numFmtId", "0"), "")
        if what := LOOK if ink is None else _hidden_kinds(code, ink, ground):
            found[number] = what
    return found


def _entry(entries: list[str | None], place: str | None, usual: str) -> str | None:
    number = int(place) if place and place.isdecimal() and len(place) < 7 else 0
    return entries[number] if number < len(entries) else usual


def _ink(font: etree._Element, theme: XlsxTheme) -> str | None:
    """Return the color of a font's letters; None where they are too small for any."""
    size = font.find("{*}sz")
    try:
        if size is not None and float(size.get("val", "11")) <= MAX_TINY_POINTS:
            return None
    except ValueError:
        pass  # No program takes it for a size.
    color = theme.color(font.find("{*}color"))
    return _BLACK if color is None else color.rgb


def _ground(fill: etree._Element, theme: XlsxTheme) -> str | None:
    """Return the color behind letters; None where it is of several, or cannot be told."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        return None if len(fill) else _WHITE
    kind = pattern.get("patternType", "none")
    if kind == "none":
        return _WHITE
    color = theme.color(pattern.find("{*}fgColor")) if kind == "solid" else None
    return None if color is None else color.rgb


_SECTION = re.compile(r'"[^"]*"?|\\.|\[[^\]]*\]|[^;"\\\[]|[\\\[]|(;)', re.DOTALL)
_UNSHOWN = re.compile(r'\[(?!\$|[hms]+\])[^\]]*\]|_.|\*.|"\s*"|\\\s|\s', re.DOTALL | re.IGNORECASE)
_COLORS = {
    "black": "000000", "white": "FFFFFF", "red": "FF0000", "green": "00FF00", "blue": "0000FF",
    "yellow": "FFFF00", "magenta": "FF00FF", "cyan": "00FFFF",
}  # fmt: skip
_COLOR = re.compile(rf"\[(?:({'|'.join(_COLORS)})|color\s?(\d{{1,2}}))\]", re.IGNORECASE)
_FIRST_LISTED = 7
"""The colors of number formats count from 1; the first is the eighth of the list (18.8.27)."""

_COMPARED = re.compile(r"\[\s*[<>=]")
_MAX_CODE = 1_000


def _sections(code: str) -> list[str]:
    """Cut a number format at its semicolons, those in quotes left alone."""
    found, start = [], 0
    for match in _SECTION.finditer(code):
        if match[1]:
            found.append(code[start : match.start()])
            start = match.end()
    return [*found, code[start:]]


def section_shows_nothing(section: str) -> bool:
    """Tell whether a section of a number format shows nothing, or only one sign over and over.

    Colors, conditions, blanks and what only takes room are nothing (ECMA-376 part 1, 18.8.31).
    """
    return not _UNSHOWN.sub("", section)


def _hidden_kinds(code: str, ink: str, ground: str | None) -> int:
    """Return of which values nothing is seen.

    Args:
        code: The number format, "" for the general one.
        ink: The color of the letters, where a section of the number format names none.
        ground: The color behind them, None if it cannot be told.
    """
    is_same = ground is not None and look_alike(ink, ground)
    if not code.strip():
        return LOOK if is_same else 0
    sections = _sections(code[:_MAX_CODE])[:4]
    inks = [_section_ink(each) for each in sections]
    if is_same and not any(inks):
        return LOOK
    hidden = [
        section_shows_nothing(section) or (ground is not None and look_alike(own or ink, ground))
        for section, own in zip(sections, inks, strict=True)
    ]
    numbers = hidden[:3]
    if any(map(_COMPARED.search, sections)):
        # Which numbers a section is for, its condition says.
        found = POSITIVE | NEGATIVE if all(numbers) else 0
    else:
        found = POSITIVE if numbers[0] else 0
        found |= NEGATIVE if numbers[min(1, len(numbers) - 1)] else 0
    # Text has the fourth section, else a last one that has a place for it, else the general look.
    texts = hidden[3:] or [hidden[-1] if "@" in sections[-1] else is_same]
    return found | (TEXT if texts[0] else 0)


def _section_ink(section: str) -> str:
    """Return the color that a section of a number format names, "" if it names none."""
    found = _COLOR.search(section)
    if found is None:
        return ""
    if found[2]:
        place = int(found[2]) + _FIRST_LISTED
        return XlsxTheme().indexed[place] if place < len(XlsxTheme().indexed) else ""
    return _COLORS[found[1].casefold()]


_TAG = re.compile(rb"<(?:[\w.-]+:)?(row|c)(?=[\s>/])([^>]*)>")
_PLACE = re.compile(rb"\br\s*=\s*[\"']\s*([A-Za-z]{0,3})(\d{1,7})\s*[\"']")
_STYLE = re.compile(rb"\bs\s*=\s*[\"']\s*([^\"']*?)\s*[\"']")
_ODD_STYLE = re.compile(rb"\ss\s*=\s*[\"'](?:0\d|\D)")
_ROW = re.compile(rb"<(?:[\w.-]+:)?row(?=[\s>/])([^>]*)>")


class UnseenCells:
    """Collector of the unseen cells of a sheet, from its rows as they come.

    Args:
        styles: What `find_unseen_styles` found.
    """

    def __init__(self, styles: Mapping[int, int]) -> None:
        self._styles = styles
        self._by_text = {str(number).encode(): what for number, what in styles.items()}
        numbers = b"|".join(self._by_text)
        self._wanted = re.compile(rb"\ss\s*=\s*[\"'](?:%s)[\"']" % (numbers or b"x"))
        self._runs: list[UnseenRun] = []
        self._row = 0
        self._open: dict[int, int] = {}
        self._last = 0

    def take(self, data: bytes) -> None:
        """Take whole rows."""
        if not self._styles:
            return
        is_odd = 0 in self._styles or _ODD_STYLE.search(data) is not None
        if not is_odd and self._wanted.search(data) is None:
            # Rows without numbers go on counting where the last row with one ended.
            self._last = self._count_rows(data)
            return
        row, column = self._last, 0
        for kind, attributes in _TAG.findall(data):
            place = _PLACE.search(attributes)
            if kind == b"row":
                row, column = (int(place[2]) if place else row + 1), 0
                continue
            column = column_number(place[1].decode().upper()) if place and place[1] else column + 1
            if not attributes.endswith(b"/"):
                self._add(row, column, attributes)
        self._last = row

    def _count_rows(self, data: bytes) -> int:
        row = self._last
        for attributes in _ROW.findall(data):
            place = _PLACE.search(attributes)
            row = int(place[2]) if place else row + 1
        return row

    def _add(self, row: int, column: int, attributes: bytes) -> None:
        found = _STYLE.search(attributes)
        text = found[1] if found else b"0"
        what = self._by_text.get(text)
        if what is None and not text.isdigit():
            text = unescape(text.decode("utf-8", "replace")).strip().encode()
        if what is None:
            what = self._styles.get(int(text)) if text.isdigit() and len(text) < 9 else None
        if what is None:
            return
        if row != self._row:
            self._close()
            self._row = row
        self._open[what] = self._open.get(what, 0) | 1 << (column - 1)

    def _close(self) -> None:
        runs = self._runs
        for what, columns in self._open.items():
            packed = columns.to_bytes((columns.bit_length() + 7) // 8, "little")
            last = runs[-1] if runs else None
            if len(self._open) == 1 and last is not None and last.bottom == self._row - 1 and (
                last.what, last.columns
            ) == (what, packed):  # fmt: skip
                runs[-1] = UnseenRun(last.top, self._row, what, packed)
            elif len(runs) < MAX_RUNS:
                runs.append(UnseenRun(self._row, self._row, what, packed))
            elif len(runs) == MAX_RUNS:
                everywhere = _ALL_COLUMNS.to_bytes(2048, "little")
                runs.append(UnseenRun(self._row, _LAST_ROW, LOOK, everywhere))
        self._open = {}

    def runs(self) -> list[UnseenRun]:
        """Return what was found, from top to bottom as the file has it."""
        self._close()
        return self._runs
