"""Copies of cells in charts, brought up to date in the bytes of the part.

A point whose cell holds something else gets it, one whose cell holds nothing goes; all other points
keep their bytes, as does the rest of the chart: texts of numbers, for one, are stored as the
program that wrote them showed them. Where a range has another number of cells than its copy, all
points are made anew. What cannot be found in the workbook (another one's cells, computed names)
stays.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.drawings.cell_ranges import CellRange, RangeReader, ReadCell
from kbd_xlsx.drawings.point_caches import number_code, shown_text
from kbd_xlsx.parts.cells import AreaIndex, escaped
from kbd_xlsx.parts.markup import masked, may_have_marks, plain, without_mark
from kbd_xlsx.shifting.markup_tree import MarkupTree, Node

__all__ = ["refreshed_points"]

_CACHES = {
    "numRef": "numCache", "strRef": "strCache", "multiLvlStrRef": "multiLvlStrCache",
    "datalabelsRange": "dlblRangeCache",
}  # fmt: skip
"""Elements that name cells, with those that hold the copy of these."""

_MAX_CELLS = 200_000
"""Cells of a range whose copy is brought up to date; programs draw fewer."""

_REFERENCE = re.compile(
    rb"<((?:[\w.-]+:)?(?:numRef|strRef|multiLvlStrRef|datalabelsRange))(?:\s[^<>]*)?>.*?</\1\s*>",
    re.DOTALL,
)
_CACHE = re.compile(rb"<(?:[\w.-]+:)?(?:(?:num|str|multiLvlStr)Cache|dlblRangeCache)[\s/>]")
_NAMED = re.compile(rb"<(?:[\w.-]+:)?f(?:\s[^<>]*)?>([^<]*)<")
_PIVOT = re.compile(rb"<(?:[\w.-]+:)?pivotSource[\s/>]")
_SHOWS_HIDDEN = re.compile(rb"<(?:[\w.-]+:)?plotVisOnly\s[^<>]*\bval\s*=\s*[\"'](?:0|false)[\"']")
_TAG = re.compile(rb"<((?:[\w.-]+:)?)[\w.-]+")
# Ranges that are named together stand in brackets; a comma in a quoted title parts none.
_UNITED = re.compile(r"(?:'(?:[^']|'')*'|[^,'])+")

_Place = tuple[str, int, int]
_Line = Sequence[_Place]


def refreshed_points(
    data: bytes,
    reader: RangeReader,
    changed: Mapping[str, AreaIndex],
    formulas: AbstractSet[str] | None = frozenset(),
    *,
    makes: bool = False,
) -> bytes:
    """Return a chart's part with what its cells hold by now.

    Args:
        data: The part.
        reader: Of the workbook as it will be.
        changed: The cells that hold something else, by the titles of their sheets.
        formulas: Ranges, as the chart names them, whose points are all made anew; None for all.
        makes: Whether ranges without any copy get one.

    Raises:
        ValidationFailed, FileReadFailed: The cells cannot be read.
    """
    scan = masked(data) if may_have_marks(data) else data
    if _PIVOT.search(scan):
        # It draws the rows of a pivot table but for subtotals, which the range does not tell.
        return data
    refresh = _Refresh(reader, leaves_out=_SHOWS_HIDDEN.search(scan) is None)
    pieces: list[bytes] = []
    place = 0
    # A chart may hold a hundred thousand points: only those of changed cells are looked into.
    for found in _REFERENCE.finditer(scan):
        formula = _formula(data, scan, found)
        is_all = formulas is None or formula in formulas
        is_bare = _CACHE.search(scan, *found.span()) is None
        ranges = refresh.ranges(formula)
        if not ranges or (is_bare and not (is_all or makes)):
            continue
        if not (is_all or is_bare or _is_reached(ranges, changed)):
            continue
        tree = MarkupTree(data, scan, *found.span())
        refresh.renew(tree, ranges, changed, is_all=is_all)
        for start, end, text in tree.splices():
            pieces += (data[place:start], text)
            place = end
    return b"".join((*pieces, data[place:])) if pieces else data


def _formula(data: bytes, scan: bytes, found: re.Match[bytes]) -> str:
    named = _NAMED.search(scan, *found.span())
    text = b"" if named is None else data[named.start(1) : named.end(1)]
    return plain(without_mark(text)).strip()


def _is_reached(ranges: Sequence[CellRange], changed: Mapping[str, AreaIndex]) -> bool:
    return any(
        index.overlapping(each.area)
        for each in ranges
        if (index := changed.get(each.sheet)) is not None
    )


class _Refresh:
    """Changes the copies of one part.

    Args:
        reader: Of the workbook.
        leaves_out: Whether the chart draws no cells of hidden rows and columns.
    """

    def __init__(self, reader: RangeReader, *, leaves_out: bool) -> None:
        self._reader, self._leaves_out = reader, leaves_out

    def ranges(self, formula: str) -> list[CellRange]:
        """Return the ranges that a chart names, none where they cannot be found."""
        try:
            found = [self._reader.find(each, "") for each in _united(formula)]
        except ValidationFailed:
            return []
        return found if sum(each.count for each in found) <= _MAX_CELLS else []

    def renew(
        self,
        tree: MarkupTree,
        ranges: Sequence[CellRange],
        changed: Mapping[str, AreaIndex],
        *,
        is_all: bool,
    ) -> None:
        """Bring the copy of the cells that an element names up to date.

        Args:
            tree: The element alone.
            ranges: The cells.
            changed: Those that hold something else.
            is_all: Whether all points are made anew.
        """
        reference = tree.top.children[0]
        named, cache = reference.child("f"), reference.child(_CACHES[reference.name])
        lines, is_whole = self._lines(reference.name, ranges, cache)
        if not lines or named is None:
            return
        writer = _PointWriter(tree, self._reader, is_text=reference.name != "numRef")
        if is_all or not is_whole or cache is None or _has_empty_level(cache):
            made = writer.anew(_prefixed(tree, reference), cache, lines)
        else:
            made = writer.changed(cache, lines, changed)
        if cache is None:
            tree.add_after(named, made)
        elif made != tree.source(cache):
            tree.replace(cache, made)

    def _lines(
        self, kind: str, ranges: Sequence[CellRange], cache: Node | None
    ) -> tuple[list[_Line], bool]:
        """Return the cells of a copy, and whether it has as many.

        Names of several levels are a line for each, the nearest first.
        """
        count = None if cache is None else _count(cache)
        if kind != "multiLvlStrRef":
            line = [(each.sheet, *place) for each in ranges for place in each.places()]
            if count == len(line):
                return [line], True
            (drawn,) = self._drawn([line])
            return [drawn], count == len(drawn)
        if len(ranges) != 1:
            return [], False
        (found,) = ranges
        area, sheet = found.area, found.sheet
        columns, rows = range(area.left, area.right + 1), range(area.top, area.bottom + 1)
        upright: list[_Line] = [
            [(sheet, row, column) for row in rows] for column in reversed(columns)
        ]
        flat: list[_Line] = [[(sheet, row, column) for column in columns] for row in reversed(rows)]
        levels = 0 if cache is None else sum(each.name == "lvl" for each in cache.children)
        for lines in (upright, flat):
            for chosen in (lines, self._drawn(lines)):
                # Levels without a text are left out, and which these were nobody tells.
                if levels == len(chosen) and count == len(chosen[0]):
                    return chosen, True
        if levels not in (0, len(upright), len(flat)):
            return [], False
        return self._drawn(flat if len(flat) < len(upright) else upright), False

    def _drawn(self, lines: Iterable[_Line]) -> list[_Line]:
        return [[each for each in line if self._is_drawn(each)] for line in lines]

    def _is_drawn(self, place: _Place) -> bool:
        if not self._leaves_out:
            return True
        return not self._reader.hidden(place[0]).has(place[1], place[2])


class _PointWriter:
    """Writes the points of a copy.

    Args:
        tree: The elements of the part.
        reader: Of the workbook.
        is_text: Whether the copy is of texts.
    """

    def __init__(self, tree: MarkupTree, reader: RangeReader, *, is_text: bool) -> None:
        self._tree, self._reader, self._is_text = tree, reader, is_text
        self._cells: dict[_Place, ReadCell] = {}

    def _read(self, places: Sequence[_Place]) -> None:
        """Read the cells of some places, with what lies between them."""
        for sheet in {place[0] for place in places}:
            rows = [row for title, row, _ in places if title == sheet]
            columns = [column for title, _, column in places if title == sheet]
            area = Area(min(rows), min(columns), max(rows), max(columns))
            for cell in self._reader.cells(CellRange(sheet, area)):
                self._cells[sheet, cell.row, cell.column] = cell

    def anew(self, names: tuple[bytes, bytes], cache: Node | None, lines: Sequence[_Line]) -> bytes:
        """Return a copy made of the cells alone, with what it has besides points."""
        prefix, name = names
        self._read([place for line in lines for place in line])
        inner = b'<%bptCount val="%d"/>' % (prefix, len(lines[0]))
        if not self._is_text:
            cells = [self._cells[each] for each in lines[0] if each in self._cells]
            sheet = lines[0][0][0] if lines[0] else ""
            code = escaped(number_code(self._reader, sheet, cells)).encode()
            inner = b"<%bformatCode>%b</%bformatCode>" % (prefix, code, prefix) + inner
        is_levels = name.endswith(b"multiLvlStrCache")
        for line in lines:
            points = self._points(prefix, line)
            level = b"<%blvl>%b</%blvl>" % (prefix, points, prefix)
            inner += level if is_levels else points
        rest = [] if cache is None else [e for e in cache.children if e.name == "extLst"]
        inner += b"".join(map(self._tree.source, rest))
        return b"<%b>%b</%b>" % (name, inner, name)

    def changed(
        self, cache: Node, lines: Sequence[_Line], changed: Mapping[str, AreaIndex]
    ) -> bytes:
        """Return a copy in which the points of changed cells alone are others."""
        levels = [each for each in cache.children if each.name == "lvl"] or [cache]
        source, start = self._tree.source(cache), cache.start
        pieces: list[bytes] = []
        place = start
        for holder, line in zip(levels, lines, strict=True):
            head = source[place - start : holder.inner - start]
            pieces += (head, self._renewed(holder, line, changed))
            place = holder.inner_end
        return b"".join((*pieces, source[place - start :]))

    def _renewed(self, holder: Node, line: _Line, changed: Mapping[str, AreaIndex]) -> bytes:
        """Return what an element with points holds."""
        sources = {_index(each): each for each in holder.children if each.name == "pt"}
        was = {index: self._tree.source(each) for index, each in sources.items()}
        now = dict(was)
        prefix = _TAG.match(self._tree.source(holder.children[0])) if holder.children else None
        reached = [
            (index, place)
            for index, place in enumerate(line)
            if (areas := changed.get(place[0])) is not None and areas.at(*place[1:]) is not None
        ]
        self._read([place for _, place in reached])
        for index, place in reached:
            text = self._text(place)
            if text is None:
                now.pop(index, None)
            elif index not in sources:
                own = prefix or _TAG.match(self._tree.source(holder))
                now[index] = _point(own[1] if own else b"", index, text)
            elif not self._is_same(sources[index].child("v"), text):
                now[index] = self._with_text(sources[index], text)
        source = self._tree.source(holder)[
            holder.inner - holder.start : holder.inner_end - holder.start
        ]
        if now == was:
            return source
        rest = [each for each in holder.children if each.name != "pt"]
        before = [self._tree.source(each) for each in rest if each.name != "extLst"]
        after = [self._tree.source(each) for each in rest if each.name == "extLst"]
        return b"".join((*before, *(now[index] for index in sorted(now)), *after))

    def _with_text(self, point: Node, text: str) -> bytes:
        source, value = self._tree.source(point), point.child("v")
        if value is None or value.inner == value.inner_end:
            found = _TAG.match(source)
            return _point(found[1] if found else b"", _index(point), text)
        first, last = value.inner - point.start, value.inner_end - point.start
        return source[:first] + escaped(text).encode() + source[last:]

    def _points(self, prefix: bytes, line: _Line) -> bytes:
        texts = ((index, self._text(place)) for index, place in enumerate(line))
        return b"".join(_point(prefix, index, text) for index, text in texts if text is not None)

    def _text(self, place: _Place) -> str | None:
        cell = self._cells.get(place)
        if cell is None:
            return None
        return shown_text(self._reader, place[0], cell, as_text=self._is_text)

    def _is_same(self, value: Node | None, new: str) -> bool:
        old = "" if value is None else self._tree.text(value)
        if self._is_text:
            return old == new
        try:
            return float(old) == float(new)
        except ValueError:
            return False


def _has_empty_level(cache: Node) -> bool:
    """Tell whether a level is one closed tag, into which no point can be put."""
    return any(each.inner == each.end for each in cache.children if each.name == "lvl")


def _prefixed(tree: MarkupTree, reference: Node) -> tuple[bytes, bytes]:
    """Return the prefix of charts' elements, and the name of the copy with its own."""
    found = _TAG.match(tree.source(reference))
    prefix = found[1] if found is not None else b""
    return prefix, prefix + _CACHES[reference.name].encode()


def _point(prefix: bytes, index: int, text: str) -> bytes:
    value = escaped(text).encode()
    return b'<%bpt idx="%d"><%bv>%b</%bv></%bpt>' % (prefix, index, prefix, value, prefix, prefix)


def _united(formula: str) -> Iterable[str]:
    """Return the ranges that a chart names together."""
    if not (formula.startswith("(") and formula.endswith(")")):
        return [formula]
    return [each.strip() for each in _UNITED.findall(formula[1:-1])]


def _index(point: Node) -> int:
    text = point.get("idx") or ""
    return int(text) if text.isdecimal() and len(text) < 8 else -1


def _count(cache: Node) -> int | None:
    found = cache.child("ptCount")
    text = found.get("val") or "" if found is not None else ""
    return int(text) if text.isdecimal() else None
