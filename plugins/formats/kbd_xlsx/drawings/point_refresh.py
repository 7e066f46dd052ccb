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
from kbd_xlsx.drawings.cell_ranges import CellRange, RangeReader, ReadCell
from kbd_xlsx.drawings.point_caches import number_code, shown_text
from kbd_xlsx.parts.cells import AreaIndex, escaped
from kbd_xlsx.parts.markup import masked, may_have_marks
from kbd_xlsx.shifting.markup_tree import MarkupTree, Node

__all__ = ["refreshed_points"]

_CACHES = {
    "numRef": "numCache", "strRef": "strCache", "multiLvlStrRef": "multiLvlStrCache",
    "datalabelsRange": "dlblRangeCache",
}  # fmt: skip
"""Elements that name cells, with those that hold the copy of these."""

_MAX_CELLS = 200_000
"""Cells of a range whose copy is brought up to date; programs draw fewer."""

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
    tree = MarkupTree(data, masked(data) if may_have_marks(data) else data)
    elements = list(tree.elements())
    if any(each.name == "pivotSource" for each in elements):
        # It draws the rows of a pivot table but for subtotals, which the range does not tell.
        return data
    flags = [each.get("val") for each in elements if each.name == "plotVisOnly"]
    refresh = _Refresh(tree, reader, leaves_out=flags[:1] not in (["0"], ["false"]))
    for node in elements:
        cache = _CACHES.get(node.name)
        named = node.child("f") if cache else None
        if cache is None or named is None:
            continue
        formula = tree.text(named).strip()
        is_all = formulas is None or formula in formulas
        if node.child(cache) is not None or is_all or makes:
            refresh.renew(node, formula, changed, is_all=is_all)
    return tree.result()


class _Refresh:
    """Changes the copies of one part.

    Args:
        tree: Its elements.
        reader: Of the workbook.
        leaves_out: Whether the chart draws no cells of hidden rows and columns.
    """

    def __init__(self, tree: MarkupTree, reader: RangeReader, *, leaves_out: bool) -> None:
        self._tree, self._reader, self._leaves_out = tree, reader, leaves_out

    def renew(
        self, reference: Node, formula: str, changed: Mapping[str, AreaIndex], *, is_all: bool
    ) -> None:
        """Bring the copy of the cells that an element names up to date."""
        try:
            ranges = [self._reader.find(each, "") for each in _united(formula)]
        except ValidationFailed:
            return
        cache = reference.child(_CACHES[reference.name])
        is_reached = any(
            index.overlapping(each.area)
            for each in ranges
            if (index := changed.get(each.sheet)) is not None
        )
        if not (is_reached or is_all or cache is None):
            return
        if not ranges or sum(each.count for each in ranges) > _MAX_CELLS:
            return
        lines, is_whole = self._lines(reference.name, ranges, cache)
        if not lines:
            return
        cells = {
            (each.sheet, cell.row, cell.column): cell
            for each in ranges
            for cell in self._reader.cells(each)
        }
        writer = _PointWriter(self._tree, self._reader, cells, is_text=reference.name != "numRef")
        if is_all or not is_whole or cache is None or self._has_empty_level(cache):
            made = writer.anew(self._prefixed(reference), cache, lines)
        else:
            made = writer.changed(cache, lines, changed)
        if cache is None:
            named = reference.child("f")
            assert named is not None
            self._tree.add_after(named, made)
        elif made != self._tree.source(cache):
            self._tree.replace(cache, made)

    def _has_empty_level(self, cache: Node) -> bool:
        """Tell whether a level is one closed tag, into which no point can be put."""
        return any(each.inner == each.end for each in cache.children if each.name == "lvl")

    def _prefixed(self, reference: Node) -> tuple[bytes, bytes]:
        """Return the prefix of charts' elements, and the name of the copy with its own."""
        found = _TAG.match(self._tree.source(reference))
        prefix = found[1] if found is not None else b""
        return prefix, prefix + _CACHES[reference.name].encode()

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
        cells: What the cells hold that hold something.
        is_text: Whether the copy is of texts.
    """

    def __init__(
        self,
        tree: MarkupTree,
        reader: RangeReader,
        cells: Mapping[_Place, ReadCell],
        *,
        is_text: bool,
    ) -> None:
        self._tree, self._reader, self._cells, self._is_text = tree, reader, cells, is_text

    def anew(self, names: tuple[bytes, bytes], cache: Node | None, lines: Sequence[_Line]) -> bytes:
        """Return a copy made of the cells alone, with what it has besides points."""
        prefix, name = names
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
        for index, place in enumerate(line):
            areas = changed.get(place[0])
            if areas is None or areas.at(place[1], place[2]) is None:
                continue
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
