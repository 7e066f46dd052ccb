"""Compares cells: what they hold, what they show, how they look."""

import math
import re
from collections.abc import Callable, Iterator

from judging.book import Sheet
from judging.cells import Cell, Value
from judging.dependents import Affected
from judging.differences import Difference, Edit, Formula
from judging.looks import Look
from judging.package import children, flag
from judging.places import Place, box, letters, name

__all__ = ["Grid", "compare_cells", "holds", "plain"]

_TOTAL = re.compile(r"(?i)(SUM|MIN|MAX|COUNT|AVERAGE)\((\$?[A-Z]+\$?\d+:\$?[A-Z]+\$?\d+)\)")
_WORK: dict[str, Callable[[list[float]], float]] = {
    "SUM": math.fsum,
    "MIN": lambda numbers: min(numbers, default=0.0),
    "MAX": lambda numbers: max(numbers, default=0.0),
    "COUNT": lambda numbers: float(len(numbers)),
    "AVERAGE": lambda numbers: math.fsum(numbers) / len(numbers) if numbers else math.nan,
}
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def plain(value: Value) -> Value:
    """A value as people see it: runs joined, escapes (ECMA-376 part 1, 22.9.2.19) resolved."""
    if isinstance(value, tuple):
        value = "".join(text for text, _ in value)
    if isinstance(value, str):
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value)
    return value


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-15)
    return type(one) is type(other) and one == other


def holds(cell: Cell | None, meant: float | str | bool | Formula | None) -> bool:
    """Whether a cell holds what was meant."""
    if meant is None or meant == "":
        return cell is None or (cell.formula is None and plain(cell.value) in (None, ""))
    if cell is None:
        return False
    if isinstance(meant, Formula):
        return cell.formula == meant.text
    value = plain(cell.value)
    if cell.formula is not None or value is None:
        return False
    if isinstance(meant, bool) or isinstance(value, bool):
        return meant is value
    if isinstance(meant, str):
        return cell.kind == "text" and value == meant
    return cell.kind == "number" and float(meant) == value


class Grid:
    """A sheet with what its rows and columns say of how cells look."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet, self.cells = sheet, sheet.cells
        self.rows = {row.number: row.attributes for row in sheet.rows}
        self.columns: dict[int, dict[str, str]] = {}
        for group in children(sheet.root, "cols"):
            for record in children(group, "col"):
                said = {str(k): str(v) for k, v in record.attrib.items()}
                first, last = int(said.pop("min", "1")), int(said.pop("max", "1"))
                for column in range(first, min(last, 16_384) + 1):
                    self.columns[column] = said

    def look(self, at: Place) -> Look:
        """How a cell looks: by its own style, else its row's, else its column's."""
        looks = self.sheet.book.looks.look
        if at in self.cells:
            return looks(self.cells[at].style)
        row = self.rows.get(at.row, {})
        if flag(row.get("customFormat")):
            return looks(int(row.get("s", "0")))
        return looks(int(self.columns.get(at.column, {}).get("style", "0")))


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return "no cell"
    said = repr(cell.value)[:80]
    return said if cell.formula is None else f"={cell.formula[:80]} ({said})"


class _Cells:
    """The comparison of one sheet's cells."""

    def __init__(self, before: Grid, after: Grid, edit: Edit, affected: Affected) -> None:
        self.before, self.after, self.edit, self.affected = before, after, edit, affected
        self.title = before.sheet.title
        self.meant = edit.on(self.title)
        self.arrays = [box(cell.array) for cell in before.cells.values() if cell.array]
        self.merges = before.sheet.merges

    def differences(self) -> Iterator[Difference]:
        same_looks = self.before.sheet.book.looks.root is None
        for at in self.before.cells.keys() | self.after.cells.keys() | self.meant.keys():
            old, new = self.before.cells.get(at), self.after.cells.get(at)
            if at in self.meant:
                if not holds(new, self.meant[at]):
                    wanted = repr(self.meant[at])[:80]
                    yield Difference("cell not as meant", self._at(at), wanted, _shown(new))
            else:
                yield from self._kept(at, old, new)
            if not (same_looks and old and new and old.style == new.style):
                yield from self._looks(at)

    def _at(self, at: Place) -> str:
        return f"{self.title}!{name(at)}"

    def _kept(self, at: Place, old: Cell | None, new: Cell | None) -> Iterator[Difference]:
        spot = (self.title.lower(), at)
        where = self._at(at)
        empty = Cell(at, "blank", None, None, "", "", 0)
        was, now = old or empty, new or empty
        if was.formula != now.formula:
            yield Difference("formula", where, _shown(old), _shown(new))
            return
        if now.value is None and was.value is not None:
            # What is said of a stored result (vm) goes with it.
            was = was._replace(extra=re.sub(r"vm=\d+ ?", "", was.extra).strip())
        if was.array != now.array or was.extra.strip() != now.extra.strip():
            was_extra, now_extra = f"{was.array} {was.extra}", f"{now.array} {now.extra}"
            yield Difference("formula or cell metadata", where, was_extra, now_extra)
        result = was.formula is not None or any(area.holds(at) for area in self.arrays)
        if not result:
            if not _same(was.value, now.value):
                yield Difference("cell value", where, _shown(old), _shown(new))
        elif now.value is None and was.value is not None:
            if spot not in self.affected.may:
                yield Difference("stored result lost", where, _shown(old), _shown(new))
        elif self._is_added_up(spot, now):
            return
        elif not _same(was.value, now.value):
            yield Difference("stored result changed", where, _shown(old), _shown(new))
        elif spot in self.affected.must and was.value is not None:
            yield Difference("stale result", where, _shown(old), _shown(new))

    def _is_added_up(self, spot: tuple[str, Place], now: Cell) -> bool:
        """Whether a plain total that the edit reaches shows what its numbers come to now."""
        found = _TOTAL.fullmatch(now.formula or "")
        if found is None or spot not in self.affected.may or not isinstance(now.value, float):
            return False
        area = box(found[2].replace("$", "").upper())
        inside = [cell for at, cell in self.after.cells.items() if area.holds(at)]
        if any(cell.formula is not None or cell.array for cell in inside):
            return False
        numbers = [float(cell.value) for cell in inside if isinstance(cell.value, float)]
        work = _WORK[found[1].upper()]
        return math.isclose(work(numbers), now.value, rel_tol=1e-12, abs_tol=1e-9)

    def _looks(self, at: Place) -> Iterator[Difference]:
        if self.edit.may_look(self.title, at):
            return
        was, now = self.before.look(at), self.after.look(at)
        if was is now or was == now:
            return
        inside = any(area.holds(at) and at != (area.top, area.left) for area in self.merges)
        for aspect in sorted(was.keys() & now.keys()):
            one, other = was.get(aspect, ""), now.get(aspect, "")
            if one != other:
                yield Difference(f"look: {aspect}", self._at(at), one, other, not inside)


_SIZES = ("ht", "customHeight", "hidden", "outlineLevel", "collapsed")
_NOTHING = ("", "0", "false")


def _rows(before: Grid, after: Grid, edit: Edit) -> Iterator[Difference]:
    title = before.sheet.title
    for row in sorted(before.rows.keys() | after.rows.keys()):
        if (title, row) in edit.heights:
            continue
        was, now = before.rows.get(row, {}), after.rows.get(row, {})
        for size in _SIZES:
            one, other = was.get(size, ""), now.get(size, "")
            if one != other and not (one in _NOTHING and other in _NOTHING):
                if flag(one) and flag(other):
                    continue
                if size == "ht" and one and other and float(one) == float(other):
                    continue
                material = size not in ("customHeight", "collapsed")
                yield Difference(f"row {size}", f"{title}!{row}:{row}", one, other, material)


def _columns(before: Grid, after: Grid, edit: Edit) -> Iterator[Difference]:
    title = before.sheet.title
    for column in sorted(before.columns.keys() | after.columns.keys()):
        if (title, letters(column)) in edit.widths:
            continue
        was, now = before.columns.get(column, {}), after.columns.get(column, {})
        for size in ("width", "hidden", "outlineLevel", "collapsed"):
            one, other = was.get(size, ""), now.get(size, "")
            if (
                one == other
                or (one in _NOTHING and other in _NOTHING)
                or (flag(one) and flag(other))
            ):
                continue
            if size == "width" and one and other and abs(float(one) - float(other)) < 1e-9:
                continue
            place = f"{title}!{letters(column)}:{letters(column)}"
            yield Difference(f"column {size}", place, one, other, size != "collapsed")
        one_look = before.sheet.book.looks.look(int(was.get("style", "0")))
        other_look = after.sheet.book.looks.look(int(now.get("style", "0")))
        for aspect in sorted(one_look.keys() & other_look.keys()):
            one, other = one_look.get(aspect, ""), other_look.get(aspect, "")
            if one != other:
                place = f"{title}!{letters(column)}:{letters(column)}"
                yield Difference(f"column look: {aspect}", place, one, other)


def compare_cells(
    before: Sheet, after: Sheet, edit: Edit, affected: Affected
) -> Iterator[Difference]:
    """Compare the cells, rows and columns of a sheet."""
    old, new = Grid(before), Grid(after)
    yield from _Cells(old, new, edit, affected).differences()
    yield from _rows(old, new, edit)
    yield from _columns(old, new, edit)
