"""Features of a sheet: its islands of cells, and what it holds beside cells.

Islands are rectangles of cells with blank rows or blank columns around them. Rows are bit masks of
their filled columns, and rows that follow each other with the same mask are one run; so a table of
a million rows is a run or two. Runs are split at blank rows, then at blank columns, again and again
until nothing splits.

Panes, charts, comments and the like come from the XML around the cells and from the sheet's
relations.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.package import Package
from kbd_xlsx.reader.blocks import Stamp, Value, plain_text
from kbd_xlsx.references import Area, parse_area
from kbd_xlsx.workbook import SheetEntry

__all__ = [
    "SAMPLE_ROWS",
    "Features",
    "Island",
    "RowRun",
    "add_head",
    "add_related",
    "add_tail",
    "find_areas",
    "joined",
    "merged_areas",
    "names_columns",
]

MAX_COLUMN_NAMES = 50
"""Columns that a map names of each table."""

_TAG = rb"<(?:[\w.-]+:)?"
_PANE = re.compile(_TAG + rb"pane\s[^>]*>")
_SPLIT = {
    # The schema makes these numbers doubles, so 1.0 is valid for 1.
    "frozen_rows": re.compile(rb"\bySplit=[\"'](\d{1,7})(?:\.0)?[\"']"),
    "frozen_columns": re.compile(rb"\bxSplit=[\"'](\d{1,5})(?:\.0)?[\"']"),
}
_COLUMN = re.compile(_TAG + rb"col\s[^>]*>")
_HIDDEN = re.compile(rb"\shidden=[\"'](?:1|true)[\"']")
_SPAN = re.compile(rb"\s(min|max)=[\"'](\d{1,5})[\"']")
_MERGED = re.compile(_TAG + rb"mergeCell\s[^>]*?ref=[\"']([A-Za-z0-9:$]+)[\"']")
_CONDITIONAL = re.compile(_TAG + rb"conditionalFormatting[\s>]")
_VALIDATION = re.compile(_TAG + rb"dataValidation\s")
_SPARKLINE = re.compile(_TAG + rb"sparklineGroup[\s>]")
_PROTECTED = re.compile(_TAG + rb"sheetProtection\s[^>]*?\bsheet=[\"'](?:1|true)[\"']")
_FILTER = re.compile(_TAG + rb"autoFilter\s[^>]*?ref=[\"']([A-Za-z0-9:$]+)[\"']")
_CHARTS = ("chart", "chartEx")
_COMMENTS = ("comments", "threadedComment")


class Features(msgspec.Struct, frozen=True, omit_defaults=True):
    """Features of a sheet beside its values, with the names of the map.

    `hidden_columns` are ranges of column numbers. `formula_count` counts cells, `error_count`
    those whose value is an error. `filled_areas` are where the styles of tables give cells a
    ground that is not white.
    """

    formula_count: int = 0
    error_count: int = 0
    merged_count: int = 0
    conditional_format_count: int = 0
    data_validation_count: int = 0
    sparkline_count: int = 0
    chart_count: int = 0
    pivot_count: int = 0
    image_count: int = 0
    frozen_rows: int = 0
    frozen_columns: int = 0
    hidden_columns: tuple[tuple[int, int], ...] = ()
    has_comments: bool = False
    has_slicers: bool = False
    is_protected: bool = False
    auto_filter: str = ""
    tables: tuple[dict[str, Any], ...] = ()
    filled_areas: tuple[Area, ...] = ()


def add_head(found: Features, head: bytes) -> Features:
    """Add what stands before the cells: panes and columns."""
    pane = _PANE.search(head)
    # The state may also be frozenSplit, for a pane that was split before it was frozen.
    frozen = {
        field: int(split[1])
        for field, pattern in _SPLIT.items()
        if pane and b"frozen" in pane[0] and (split := pattern.search(pane[0]))
    }
    hidden = []
    for column in _COLUMN.findall(head):
        span = dict(_SPAN.findall(column))
        if _HIDDEN.search(column) and len(span) == 2:
            hidden.append((int(span[b"min"]), int(span[b"max"])))
    return msgspec.structs.replace(found, **frozen, hidden_columns=tuple(sorted(hidden)))


def add_tail(found: Features, tail: bytes) -> Features:
    """Add what follows the cells, extensions of later versions included."""
    auto_filter = _FILTER.search(tail)
    return msgspec.structs.replace(
        found,
        merged_count=len(_MERGED.findall(tail)),
        conditional_format_count=len(_CONDITIONAL.findall(tail)),
        data_validation_count=len(_VALIDATION.findall(tail)),
        sparkline_count=len(_SPARKLINE.findall(tail)),
        is_protected=_PROTECTED.search(tail) is not None,
        auto_filter=auto_filter[1].decode() if auto_filter else "",
    )


def merged_areas(tail: bytes) -> list[Area]:
    """Return the merged ranges from top to bottom; what is none is left out."""
    nothing = Area(1, 1, 1, 1)
    found = []
    for reference in _MERGED.findall(tail):
        try:
            found.append(parse_area(reference.decode(), nothing))
        except ValidationFailed:
            continue
    return sorted(found, key=lambda area: (area.top, area.left))


def add_related(
    found: Features, package: Package, sheet: SheetEntry, table_styles: Mapping[str, bool]
) -> Features:
    """Add what the sheet's relations lead to.

    Args:
        found: What was found so far.
        package: The workbook.
        sheet: The sheet.
        table_styles: The workbook's own styles of tables, and whether each puts anything behind
            cells.

    Raises:
        FileReadFailed: A part is damaged.
    """
    kinds: list[str] = []
    tables, filled = [], list[Area]()
    for relation in package.relations(sheet.part):
        if relation.external or relation.target not in package:
            continue
        kinds.append(relation.kind)
        if relation.kind == "drawing":
            kinds.extend(inner.kind for inner in package.relations(relation.target))
        elif relation.kind == "table":
            root = package.root(relation.target)
            tables.append(_table(root))
            filled.extend(_filled_areas(root, table_styles))
    return msgspec.structs.replace(
        found,
        chart_count=sum(map(kinds.count, _CHARTS)),
        pivot_count=kinds.count("pivotTable"),
        image_count=kinds.count("image"),
        has_comments=any(kind in kinds for kind in _COMMENTS),
        has_slicers=any(kind in kinds for kind in ("slicer", "timeline")),
        tables=tuple(tables),
        filled_areas=tuple(filled),
    )


def _table(root: etree._Element) -> dict[str, Any]:
    name = root.get("displayName") or root.get("name") or ""
    columns = [column.get("name", "") for column in root.iterfind("{*}tableColumns/{*}tableColumn")]
    found: dict[str, Any] = {"name": name, "range": root.get("ref", "")}
    if columns:
        found["columns"] = columns[:MAX_COLUMN_NAMES]
    return found


_LIGHT_STYLE = re.compile(r"TableStyle(?:Light|Medium)\d{1,2}")
"""Styles that come with programs and leave the rows of a table light."""

_PALE_STYLE = re.compile(r"TableStyleLight(?:[1-7]|1[5-9]|2[01])")
"""Those of them that leave its header light, too."""

_DARK_STYLE = re.compile(r"TableStyleDark\d{1,2}")


def _filled_areas(root: etree._Element, table_styles: Mapping[str, bool]) -> Iterator[Area]:
    """Yield where a table's style may put something dark behind its cells."""
    info = root.find("{*}tableStyleInfo")
    style = "" if info is None else info.get("name", "")
    nothing = Area(1, 1, 1, 1)
    try:
        area = parse_area(root.get("ref", ""), nothing)
    except ValidationFailed:
        return
    if info is None or not style or style == "None":
        return
    if _DARK_STYLE.fullmatch(style) or table_styles.get(style):
        yield area
        return
    # Of a name that nobody knows a program makes nothing.
    if not _LIGHT_STYLE.fullmatch(style) or _PALE_STYLE.fullmatch(style):
        return
    if root.get("headerRowCount", "1") != "0":
        yield Area(area.top, area.left, area.top, area.right)
    if root.get("totalsRowCount", "0") != "0":
        yield Area(area.bottom, area.left, area.bottom, area.right)
    if info.get("showFirstColumn") in ("1", "true"):
        yield Area(area.top, area.left, area.bottom, area.left)
    if info.get("showLastColumn") in ("1", "true"):
        yield Area(area.top, area.right, area.bottom, area.right)


SAMPLE_ROWS = 51
"""The rows of an island that show whether its first one is a header."""

MAX_WORK = 2_000_000
"""Runs that are looked at; past it, what is left is not split further. A sheet that is made to
split without end would take minutes."""

_FIRST_YEAR, _LAST_YEAR = 1900, 2100


class RowRun(msgspec.Struct, frozen=True):
    """Rows that follow each other and have the same cells filled: bit 0 of the mask is column A."""

    top: int
    bottom: int
    mask: int


class Island(msgspec.Struct, frozen=True):
    """An island, and its headers if its first row names its columns."""

    area: Area
    headers: tuple[str, ...] | None


def joined(runs: Iterable[RowRun]) -> Iterator[RowRun]:
    """Join runs that follow each other and are alike, and leave out the blank ones."""
    open_run: RowRun | None = None
    for run in runs:
        if open_run is not None:
            if run.mask == open_run.mask and run.top == open_run.bottom + 1:
                open_run = RowRun(open_run.top, run.bottom, run.mask)
                continue
            yield open_run
        open_run = run if run.mask else None
    if open_run is not None:
        yield open_run


def find_areas(runs: Sequence[RowRun]) -> list[Area]:
    """Find the islands of runs that go down the sheet, from top to bottom and left to right."""
    found: list[Area] = []
    # A list instead of recursion, because nested islands could exceed Python's limit.
    stack = [list(runs)] if runs else []
    work = 0
    while stack:
        group = stack.pop()
        work += len(group)
        parts = _split_rows(group)
        if len(parts) == 1:
            parts = _split_columns(group)
        if len(parts) == 1 or work > MAX_WORK:
            found.append(_around(group))
        else:
            stack.extend(reversed(parts))
    return sorted(found, key=lambda area: (area.top, area.left))


def _around(group: list[RowRun]) -> Area:
    union = _union(group)
    left = (union & -union).bit_length()
    return Area(group[0].top, left, group[-1].bottom, union.bit_length())


def _union(group: list[RowRun]) -> int:
    union = 0
    for run in group:
        union |= run.mask
    return union


def _split_rows(group: list[RowRun]) -> list[list[RowRun]]:
    parts, start = [], 0
    for place in range(1, len(group)):
        if group[place].top > group[place - 1].bottom + 1:
            parts.append(group[start:place])
            start = place
    return [*parts, group[start:]] if parts else [group]


def _split_columns(group: list[RowRun]) -> list[list[RowRun]]:
    union = _union(group)
    spans = []
    while union:
        low = union & -union
        # Adding the lowest bit carries over the ones beside it, and what changes is the span.
        span = union & ~(union + low)
        spans.append(span)
        union ^= span
    if len(spans) == 1:
        return [group]
    return [
        list(joined(RowRun(run.top, run.bottom, run.mask & span) for run in group))
        for span in spans
    ]


def names_columns(rows: Sequence[Sequence[Value]]) -> bool:
    """Tell whether the first of some rows is a header.

    It has a text, names are distinct or stand above figures, and no column goes on as it began: a
    number or date in the first row counts as a name only where what is below is of another kind, or
    if it is a year.
    """
    first, below = rows[0], rows[1:]
    filled = [plain_text(value) for value in first if value != ""]
    texts = sum(isinstance(value, str) and value != "" for value in first)
    # A row with half of its cells blank is more likely a title above the table.
    if not texts or len(filled) * 2 <= len(first):
        return False
    if len(set(filled)) < len(filled) and not _head_figures(first, below):
        return False
    # With nothing below to compare with, only a full row of several texts counts.
    if not below:
        return texts == len(first) > 1
    differs = False
    for place, value in enumerate(first):
        under = [row[place] for row in below if row[place] != ""]
        kinds = {_kind(found) for found in under}
        kind = _kind(value)
        if kind == "text":
            differs = differs or (bool(kinds) and "text" not in kinds)
        elif kind and kind in kinds and not _heads_as_year(value, under):
            return False
        elif kind:
            differs = differs or bool(kinds)
    return differs or (texts == len(filled) and len(first) > 1)


def _head_figures(first: Sequence[Value], below: Sequence[Sequence[Value]]) -> bool:
    """Tell whether names that are there twice are texts above numbers or dates, each of them."""
    texts = [plain_text(value) for value in first]
    for place, text in enumerate(texts):
        if text and texts.count(text) > 1:
            kinds = {_kind(row[place]) for row in below} - {""}
            if _kind(first[place]) != "text" or not kinds or "text" in kinds:
                return False
    return True


def _kind(value: Value) -> str:
    match value:
        case "":
            return ""
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case Stamp():
            return "date" if value.kind in ("date", "datetime") else "time"


def _heads_as_year(value: Value, under: list[Value]) -> bool:
    """Tell whether a number is a year above numbers that are not all years."""
    return _is_year(value) and not all(map(_is_year, under))


def _is_year(value: Value) -> bool:
    return isinstance(value, int | float) and _FIRST_YEAR <= value <= _LAST_YEAR and value % 1 == 0
