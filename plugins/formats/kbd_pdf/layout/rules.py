"""Rules of a page: the straight lines that are drawn on it, and the edges of what is filled.

A rule may be a line that is stroked, a rectangle that is so thin that it is one, or the edge of a
rectangle that is stroked or filled, as rows are that differ in color.
"""

import ctypes
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2 as pdfium
from pypdfium2 import raw

from kbd_pdf.layout.words import PageView

__all__ = ["Rule", "Rules", "covered", "rules_of"]

MAX_OBJECTS = 20_000
"""Things of a page that are looked at, as where its text is read."""

MAX_POINTS = 200_000
"""Points of paths that are looked at: drawings have many, tables few."""

_DEPTH = 4
_THIN_PT = 3.0
"""A filled rectangle that is not higher is a line."""
_LEAST_PT = 4.0
"""Shorter lines are parts of drawings and letters."""
_STRAIGHT_PT = 0.7
"""By how much a line may lean."""
_SNAP_PT = 2.0
"""Lines that are nearer to each other are one: borders of neighboring cells are drawn twice."""
_JOIN_PT = 3.0
"""Pieces of a line with such gaps are one."""
_PAPER = 250
"""A fill with all parts of its color above this is not seen on paper."""


class Rule(NamedTuple):
    """A line: where it is across its direction, and from where to where it goes along it."""

    at: float
    start: float
    end: float


class Rules(NamedTuple):
    """The lines of a page: those from left to right, and those from top to bottom."""

    across: tuple[Rule, ...]
    down: tuple[Rule, ...]


_Matrix = tuple[float, float, float, float, float, float]
_Points = list[tuple[float, float]]
_IDENTITY: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def rules_of(page: pdfium.PdfPage, view: PageView) -> Rules:
    """Return the lines of a page, joined where they touch; of what is not straight nothing."""
    across: list[Rule] = []
    down: list[Rule] = []
    left = MAX_POINTS
    width, height = page.get_size()
    for path, matrix in _paths(page):
        left -= max(0, raw.FPDFPath_CountSegments(path))
        if left < 0:
            break
        for one, other in _edges(path, matrix, view, width * height):
            wide, high = abs(one[0] - other[0]), abs(one[1] - other[1])
            if wide >= _LEAST_PT and high <= _STRAIGHT_PT:
                at = (one[1] + other[1]) / 2
                across.append(Rule(at, min(one[0], other[0]), max(one[0], other[0])))
            elif high >= _LEAST_PT and wide <= _STRAIGHT_PT:
                at = (one[0] + other[0]) / 2
                down.append(Rule(at, min(one[1], other[1]), max(one[1], other[1])))
    return Rules(tuple(_joined(across)), tuple(_joined(down)))


def _joined(rules: list[Rule]) -> Iterator[Rule]:
    """Yield lines with those that lie on each other, or go on from each other, as one."""
    rules.sort()
    begin = 0
    for place in range(1, len(rules) + 1):
        # A group is what lies within reach of its first, so that it cannot creep over the page.
        if place < len(rules) and rules[place].at - rules[begin].at <= _SNAP_PT:
            continue
        group = sorted(rules[begin:place], key=lambda each: each.start)
        at = sum(each.at for each in group) / len(group)
        start, end = group[0].start, group[0].end
        for each in group[1:]:
            if each.start > end + _JOIN_PT:
                yield Rule(at, start, end)
                start = each.start
            end = max(end, each.end)
        yield Rule(at, start, end)
        begin = place


def _paths(page: pdfium.PdfPage) -> Iterator[tuple[Any, _Matrix]]:
    """Yield the paths of a page and of forms on it, with what places them on the page."""
    left = MAX_OBJECTS
    waiting: list[tuple[Any, Any, int, int, _Matrix]] = [
        (raw.FPDFPage_GetObject, page.raw, raw.FPDFPage_CountObjects(page), 0, _IDENTITY)
    ]
    while waiting:
        get, holder, count, depth, outer = waiting.pop()
        count = min(count, left)
        left -= count
        for place in range(count):
            item = get(holder, place)
            kind = raw.FPDFPageObj_GetType(item)
            if kind == raw.FPDF_PAGEOBJ_PATH:
                yield item, _times(_matrix(item), outer)
            elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEPTH:
                inside = raw.FPDFFormObj_CountObjects(item)
                inner = _times(_matrix(item), outer)
                waiting.append((raw.FPDFFormObj_GetObject, item, inside, depth + 1, inner))


def _matrix(item: Any) -> _Matrix:
    found = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, found):
        return _IDENTITY
    return found.a, found.b, found.c, found.d, found.e, found.f


def _times(inner: _Matrix, outer: _Matrix) -> _Matrix:
    """Return what applies one matrix and then the other (ISO 32000-1, 8.3.4)."""
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (
        a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s,
        e * p + f * r + t, e * q + f * s + u,
    )  # fmt: skip


def _edges(
    path: Any, matrix: _Matrix, view: PageView, page_area: float
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the straight pieces of a path that are seen, by their ends."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(path, fill, stroke):
        return
    is_filled = bool(fill.value) and _is_inked(path)
    if not stroke.value and not is_filled:
        return
    for points, is_closed in _figures(path, matrix, view):
        xs, ys = [x for x, _ in points], [y for _, y in points]
        left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
        if is_filled and min(right - left, bottom - top) <= _THIN_PT:
            if right - left > bottom - top:
                yield (left, (top + bottom) / 2), (right, (top + bottom) / 2)
            else:
                yield ((left + right) / 2, top), ((left + right) / 2, bottom)
            continue
        # A background of the whole page is no table.
        if not stroke.value and (right - left) * (bottom - top) > 0.8 * page_area:
            continue
        if is_closed or (is_filled and not stroke.value):
            points = [*points, points[0]]
        yield from pairwise(points)


def _figures(path: Any, matrix: _Matrix, view: PageView) -> Iterator[tuple[_Points, bool]]:
    """Yield the figures of a path, each as its corners and whether it is closed."""
    a, b, c, d, e, f = matrix
    x, y = ctypes.c_float(), ctypes.c_float()
    points: _Points = []
    for place in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, place)
        if not raw.FPDFPathSegment_GetPoint(segment, x, y):
            continue
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_MOVETO and points:
            yield points, False
            points = []
        at = view.point(a * x.value + c * y.value + e, b * x.value + d * y.value + f)
        points.append(at)
        if raw.FPDFPathSegment_GetClose(segment):
            yield points, True
            points = []
    if points:
        yield points, False


def _is_inked(path: Any) -> bool:
    """Tell whether a fill is seen on paper."""
    parts = tuple(ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(path, *parts):
        return True
    return parts[3].value > 0 and min(part.value for part in parts[:3]) < _PAPER


def covered(rules: Sequence[Rule], start: float, end: float) -> float:
    """Return which part of a stretch lines cover that all lie on it, from 0 to 1."""
    total = sum(max(0.0, min(rule.end, end) - max(rule.start, start)) for rule in rules)
    return total / max(end - start, 0.01)
