"""Features of a sheet: what it holds beside cells.

Panes, charts, comments and the like come from the XML around the cells and from the sheet's
relations.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.package import Package
from kbd.sheets.areas import Area, parse_area
from kbd_xlsx.drawings.chart_facts import chart_facts
from kbd_xlsx.workbook import SheetEntry

__all__ = [
    "Features",
    "add_head",
    "add_related",
    "add_tail",
    "merged_areas",
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
    charts: tuple[dict[str, Any], ...] = ()
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
        charts=chart_facts(package, sheet.part) if "chart" in kinds or "chartEx" in kinds else (),
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
