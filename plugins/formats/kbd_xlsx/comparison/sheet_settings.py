"""Changes of what a sheet has around its cells: sizes, merged ranges, rules, links, settings."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from lxml import etree

from kbd.formats import Change, ChangeList
from kbd.opc.element_names import local_name
from kbd.sheets.areas import MAX_COLUMN
from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.item_changes import (
    SheetItem,
    add_item_changes,
    add_rank_changes,
    as_followed,
    attribute_changes,
    content_of,
)
from kbd_xlsx.comparison.line_maps import NO_SHIFT, BookMaps, SheetMap, Shift
from kbd_xlsx.comparison.places import columns_place, range_place, rows_place, sheet_place
from kbd_xlsx.comparison.raw_cells import RowLook
from kbd_xlsx.parts.markup import area_of
from kbd_xlsx.parts.stylesheet import number_of
from kbd_xlsx.styles.style_list import describe_rules

__all__ = ["compare_settings", "tab_color"]

_PAGE = frozenset((
    "printOptions", "pageMargins", "pageSetup", "headerFooter",
))  # fmt: skip
_PROTECTION = frozenset(("sheetProtection", "protectedRanges"))
_ELSEWHERE = frozenset((
    "sheetData", "dimension", "sheetPr", "sheetViews", "sheetFormatPr", "cols", "mergeCells",
    "conditionalFormatting", "dataValidations", "hyperlinks", "autoFilter", "sortState", "drawing",
    "legacyDrawing", "legacyDrawingHF", "picture", "tableParts", "customProperties", "extLst",
    "sheetCalcPr", "customSheetViews", "ignoredErrors", "smartTags", "phoneticPr",
    "AlternateContent", "drawingHF", "cellWatches", "rowBreaks", "colBreaks",
))  # fmt: skip
"""Elements that are compared by themselves, or that nobody sees."""

_VIEW = (
    "showGridLines", "showRowColHeaders", "showFormulas", "showZeros", "rightToLeft", "zoomScale",
    "view", "showRuler", "showOutlineSymbols",
)  # fmt: skip
_TRUE = ("1", "true")
_DEFAULTS = {
    "showGridLines": "1", "showRowColHeaders": "1", "showFormulas": "0", "showZeros": "1",
    "rightToLeft": "0", "zoomScale": "100", "view": "normal", "showRuler": "1",
    "showOutlineSymbols": "1",
}  # fmt: skip


class _ColumnLook(NamedTuple):
    """What a column has: its width in characters, None for the usual one."""

    width: float | None = None
    is_hidden: bool = False
    level: int = 0
    style: int = 0


def compare_settings(
    sides: tuple[SheetSide, SheetSide],
    maps: BookMaps,
    sheet: SheetMap,
    changes: ChangeList,
    *,
    has_equal_rows: bool,
) -> None:
    """Add the changes of all that is around a sheet's cells.

    Args:
        sides: Both versions of the sheet.
        maps: Which cells are which.
        sheet: The same for this sheet.
        changes: Where the changes go.
        has_equal_rows: Whether the rows are known to be equal, looks and all.

    Raises:
        FileReadFailed: A sheet is damaged.
    """
    settings = _Settings(*sides, maps, sheet, changes)
    if not has_equal_rows:
        settings.compare_lines()
    settings.compare_rest()


def tab_color(side: SheetSide) -> str | None:
    """Return the color of a sheet's tab as RRGGBB; raises FileReadFailed."""
    found = side.book.looks.theme.color(side.skeleton.find("{*}sheetPr/{*}tabColor"))
    return found.rgb if found is not None else None


class _Settings:
    """The comparison of what is around the cells of one sheet."""

    def __init__(
        self,
        before: SheetSide,
        after: SheetSide,
        maps: BookMaps,
        sheet: SheetMap,
        changes: ChangeList,
    ) -> None:
        self._before = before
        self._after = after
        self._maps = maps
        self._sheet = sheet
        self._changes = changes
        self._shift = Shift(maps, sheet)
        self._roots = before.skeleton, after.skeleton

    def compare_lines(self) -> None:
        """Add the changes of columns and rows as such."""
        self._compare_columns()
        self._compare_rows()

    def compare_rest(self) -> None:
        """Add all other changes."""
        self._compare_views()
        self._compare_items("merged range", _merged)
        self._compare_items("link", self._links)
        self._compare_items("validation", self._validations)
        self._compare_items("conditional format", self._rules)
        self._compare_items("filter", _filters)
        self._compare_items("sort order", _sort_orders)
        self._compare_items("sparkline", self._extensions)
        self._compare_items("page break", _breaks)
        self._compare_others()

    def _compare_items(self, what: str, read: Any) -> None:
        new = list(read(self._after, NO_SHIFT))
        gone = as_followed(
            list(read(self._before, self._shift)), list(read(self._before, NO_SHIFT)), new
        )
        # What stood in rows or columns that are gone went with them.
        gone = [item for item in gone if item.name != "#REF!"]
        add_item_changes(what, gone, new, self._changes)
        add_rank_changes(what, gone, new, self._changes)

    def _compare_columns(self) -> None:
        ours, theirs = _columns(self._before), _columns(self._after)
        if not ours and not theirs:
            return
        back = self._sheet.columns.inverted()
        nothing = _ColumnLook()
        runs: list[tuple[int, int, tuple[_ColumnLook, _ColumnLook]]] = []
        for column in range(1, MAX_COLUMN + 1):
            here = back.get(column)
            if here is None:
                continue
            pair = ours.get(here, nothing), theirs.get(column, nothing)
            if pair[0] == pair[1]:
                continue
            if runs and runs[-1][1] == column - 1 and runs[-1][2] == pair:
                runs[-1] = runs[-1][0], column, pair
            else:
                runs.append((column, column, pair))
        for first, last, (one, two) in runs:
            self._add_column_look(first, last, one, two)

    def _add_column_look(self, first: int, last: int, one: _ColumnLook, two: _ColumnLook) -> None:
        place = columns_place(self._after.name, first, last)
        if one.width != two.width:
            self._changes.add(
                Change(place=place, kind="changed", what="width", before=one.width, after=two.width)
            )
        details: dict[str, tuple[Any, Any]] = {}
        if one.is_hidden != two.is_hidden:
            details["hidden"] = one.is_hidden, two.is_hidden
        if one.level != two.level:
            details["outline_level"] = one.level, two.level
        if details:
            self._changes.add(Change(place=place, kind="changed", what="column", details=details))
        self._add_look(place, one.style, two.style)

    def _add_look(self, place: Any, one: int, two: int) -> None:
        ours, theirs = self._before.book.looks, self._after.book.looks
        if ours.key(one) == theirs.key(two):
            return
        details = ours.change(one, theirs, two)
        if details is not None:
            self._changes.add(Change(place=place, kind="changed", what="format", details=details))

    def _compare_rows(self) -> None:
        ours, theirs = self._before.looks, self._after.looks
        nothing = RowLook()
        pairs: dict[int, tuple[RowLook, RowLook]] = {}
        rows = self._sheet.rows
        for row, look in ours.items():
            there = rows.get(row)
            if there is not None and look != theirs.get(there):
                pairs[there] = look, theirs.get(there, nothing)
        back = rows.inverted()
        for row, look in theirs.items():
            here = back.get(row)
            if row not in pairs and here is not None and here not in ours:
                pairs[row] = nothing, look
        runs: list[tuple[int, int, tuple[RowLook, RowLook]]] = []
        for row in sorted(pairs):
            if runs and runs[-1][1] == row - 1 and runs[-1][2] == pairs[row]:
                runs[-1] = runs[-1][0], row, pairs[row]
            else:
                runs.append((row, row, pairs[row]))
        for first, last, (one, two) in runs:
            self._add_row_look(first, last, one, two)

    def _add_row_look(self, first: int, last: int, one: RowLook, two: RowLook) -> None:
        place = rows_place(self._after.name, first, last)
        heights = _height(one), _height(two)
        # A height that nobody set is that of the contents, as a program measured it.
        if heights[0] != heights[1] and (one.is_fixed or two.is_fixed):
            self._changes.add(
                Change(
                    place=place, kind="changed", what="height", before=heights[0], after=heights[1]
                )
            )
        details: dict[str, tuple[Any, Any]] = {}
        if one.is_hidden != two.is_hidden:
            details["hidden"] = one.is_hidden, two.is_hidden
        if one.level != two.level:
            details["outline_level"] = one.level, two.level
        if details:
            self._changes.add(Change(place=place, kind="changed", what="row", details=details))
        self._add_look(place, one.style or 0, two.style or 0)

    def _compare_views(self) -> None:
        one, two = (_view(root) for root in self._roots)
        frozen = one.pop("frozen"), two.pop("frozen")
        place = sheet_place(self._after.name)
        if frozen[0] != frozen[1]:
            names = ("rows", "columns")
            details = {
                name: pair
                for name, pair in zip(names, zip(*frozen, strict=True), strict=True)
                if pair[0] != pair[1]
            }
            self._changes.add(
                Change(place=place, kind="changed", what="frozen panes", details=details)
            )
        details = {name: (one[name], two[name]) for name in one if one[name] != two[name]}
        if details:
            self._changes.add(Change(place=place, kind="changed", what="view", details=details))
        usual = [_usual_sizes(root) for root in self._roots]
        details = {name: (usual[0][name], usual[1][name]) for name in usual[0]}
        details = {name: pair for name, pair in details.items() if pair[0] != pair[1]}
        if details:
            self._changes.add(Change(place=place, kind="changed", what="setting", details=details))

    def _links(self, side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
        relations = {}
        if side.book.package is not None and side.part:
            relations = {each.id: each for each in side.book.package.relations(side.part)}
        for link in side.skeleton.iterfind("{*}hyperlinks/{*}hyperlink"):
            ref = link.get("ref", "")
            there = shift.ranges(ref)
            key = next((v for k, v in link.attrib.items() if str(k).endswith("}id")), "")
            relation = relations.get(str(key))
            target = relation.target if relation is not None else ""
            location = link.get("location", "")
            location = shift.formula(location)
            address = f"{target}#{location}" if location else target
            content = address, link.get("tooltip", "")
            yield SheetItem(there, content, range_place(side.name, ref), address)

    def _validations(self, side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
        paths = "{*}dataValidations/{*}dataValidation", "{*}extLst/{*}ext/{*}dataValidations/*"
        for path in paths:
            for element in side.skeleton.iterfind(path):
                content = content_of(element, shift)
                ranges = element.get("sqref") or element.findtext("{*}sqref") or ""
                value = dict(attribute_changes(None, element))
                shown = {name: pair[1] for name, pair in value.items() if name != "sqref"}
                formulas = [
                    (each.text or each.findtext("{*}f") or "")
                    for each in element
                    if local_name(each) in ("formula1", "formula2")
                ]
                if any(formulas):
                    shown["formulas"] = formulas
                name = shift.ranges(ranges)
                yield SheetItem(name, content, range_place(side.name, ranges), shown, shown)

    def _rules(self, side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
        looks = side.book.looks
        found = [(block, False) for block in side.skeleton.iterfind("{*}conditionalFormatting")]
        found += [
            (block, True)
            for block in side.skeleton.iterfind(
                "{*}extLst/{*}ext/{*}conditionalFormattings/{*}conditionalFormatting"
            )
        ]
        for block, extended in found:
            ranges = block.get("sqref") or block.findtext("{*}sqref") or ""
            name = shift.ranges(ranges)
            rules = block.iterfind("{*}cfRule")
            described = describe_rules(block, looks.tables, looks.theme, extended=extended)
            for rule, value in zip(rules, described, strict=False):
                look = looks.difference(rule.get("dxfId"))
                value.pop("priority", None)
                value.pop("ranges", None)
                content = name, content_of(rule, shift), repr(look)
                place = range_place(side.name, ranges)
                # Of rules without a rank the one that is written first comes first.
                rank = number_of(rule, "priority")
                yield SheetItem(name, content, place, value, value, rank)

    def _extensions(self, side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
        for group in side.skeleton.iterfind("{*}extLst/{*}ext/{*}sparklineGroups/*"):
            kind = group.get("type", "line")
            for number, line in enumerate(group.iterfind("{*}sparklines/{*}sparkline")):
                ranges = line.findtext("{*}sqref") or ""
                data = line.findtext("{*}f") or ""
                name = shift.ranges(ranges)
                content: list[Any] = [kind, shift.formula(data)]
                if not number:
                    content.extend(
                        content_of(child, shift)
                        for child in group
                        if local_name(child) != "sparklines"
                    )
                    content.append(content_of(group)[1])
                place = range_place(side.name, ranges)
                yield SheetItem(name, tuple(content), place, {"kind": kind, "data": data})

    def _compare_others(self) -> None:
        """Compare elements that are told by the names of what differs in them."""
        one, two = (_rest(root) for root in self._roots)
        place = sheet_place(self._after.name)
        for name in sorted({*one, *two}):
            ours, theirs = one.get(name), two.get(name)
            mine = None if ours is None else content_of(ours, self._shift)
            other = None if theirs is None else content_of(theirs)
            nothing = None, (name, (), "", ())
            if mine == other or (mine in nothing and other in nothing):
                continue
            what = "page" if name in _PAGE else "protection" if name in _PROTECTION else "setting"
            kind = "added" if ours is None else "removed" if theirs is None else "changed"
            details = attribute_changes(ours, theirs)
            details.pop("count", None)
            self._changes.add(
                Change(
                    place=place,
                    kind=kind,  # type: ignore[arg-type]
                    what=what,
                    details=details,
                    note=name,
                )
            )


def _height(look: RowLook) -> float | None:
    try:
        return round(float(look.height), 2) if look.height else None
    except ValueError:
        return None


def _columns(side: SheetSide) -> dict[int, _ColumnLook]:
    found: dict[int, _ColumnLook] = {}
    for col in side.skeleton.iterfind("{*}cols/{*}col"):
        try:
            width = round(float(col.get("width", "")), 2)
        except ValueError:
            width = None
        look = _ColumnLook(
            width,
            col.get("hidden") in _TRUE,
            number_of(col, "outlineLevel"),
            number_of(col, "style"),
        )
        first, last = number_of(col, "min"), min(number_of(col, "max"), MAX_COLUMN)
        for column in range(first, last + 1):
            found[column] = look
    return found


def _view(root: etree._Element) -> dict[str, Any]:
    view = root.find("{*}sheetViews/{*}sheetView")
    found: dict[str, Any] = {"frozen": (0, 0)}
    for name in _VIEW:
        value = view.get(name) if view is not None else None
        found[name] = {"true": "1", "false": "0"}.get(str(value), value) or _DEFAULTS[name]
    pane = view.find("{*}pane") if view is not None else None
    if pane is not None and "frozen" in pane.get("state", ""):
        found["frozen"] = tuple(_whole(pane.get(name, "0")) for name in ("ySplit", "xSplit"))
    return found


def _usual_sizes(root: etree._Element) -> dict[str, Any]:
    """Return the sizes of rows and columns that have none, and how the page fits."""
    sizes = root.find("{*}sheetFormatPr")
    fit = root.find("{*}sheetPr/{*}pageSetUpPr")
    outline = root.find("{*}sheetPr/{*}outlinePr")
    is_fixed = sizes is not None and sizes.get("customHeight") in _TRUE
    return {
        "usual_width": _number(sizes, "defaultColWidth") or _number(sizes, "baseColWidth") or 8,
        "usual_height": _number(sizes, "defaultRowHeight") if is_fixed else None,
        "hides_rows": sizes is not None and sizes.get("zeroHeight") in _TRUE,
        "fits_page": fit is not None and fit.get("fitToPage") in _TRUE,
        "summary_below": outline is None or outline.get("summaryBelow", "1") in _TRUE,
        "summary_right": outline is None or outline.get("summaryRight", "1") in _TRUE,
    }


def _number(element: etree._Element | None, name: str) -> float | None:
    try:
        return round(float(element.get(name, "")), 2) if element is not None else None
    except ValueError:
        return None


def _whole(text: str) -> int:
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return 0


def _merged(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    for element in side.skeleton.iterfind("{*}mergeCells/{*}mergeCell"):
        ref = element.get("ref", "")
        there = shift.ranges(ref)
        # Merged cells of which one is left are a cell as any other.
        yield SheetItem(there if ":" in there else "#REF!", (), range_place(side.name, ref), ref)


def _breaks(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    for path in ("rowBreaks", "colBreaks"):
        lines = None
        if shift.sheet is not None:
            lines = shift.sheet.rows if path == "rowBreaks" else shift.sheet.columns
        for element in side.skeleton.iterfind(f"{{*}}{path}/{{*}}brk"):
            # It is named by what stands before it.
            line = number_of(element, "id") + 1
            there = line if lines is None else lines.first(line)
            place = rows_place if path == "rowBreaks" else columns_place
            is_manual = element.get("man") in _TRUE
            value = {"before": path.removesuffix("Breaks").replace("col", "column"),
                     "manual": is_manual}  # fmt: skip
            yield SheetItem((path, there), is_manual, place(side.name, line, line), value, value)


def _sort_orders(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    element = side.skeleton.find("{*}sortState")
    if element is not None:
        ref = element.get("ref", "")
        keys = [
            {"range": each.get("ref", ""), "descending": each.get("descending") in _TRUE}
            for each in element.iterfind("{*}sortCondition")
        ]
        content = content_of(element, shift), side.book.looks.pointed(element)
        value = {"range": ref, "keys": keys}
        yield SheetItem("", content, range_place(side.name, ref), value, value)


def _filters(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    element = side.skeleton.find("{*}autoFilter")
    if element is not None:
        ref = element.get("ref", "")
        element = deepcopy(element)
        columns = list(element.iterfind("{*}filterColumn"))
        area = area_of(ref)
        # Columns are counted from the filter's first one, which other columns move along.
        left = area.left if area is not None else 1
        for each in columns:
            column = left + number_of(each, "colId")
            if shift.sheet is not None:
                column = shift.sheet.columns.first(column)
            each.set("colId", str(column))
        value = {"range": ref, "filtered_columns": len(columns)}
        content = content_of(element, shift), side.book.looks.pointed(element)
        yield SheetItem("", content, range_place(side.name, ref), value, value)


def _rest(root: etree._Element) -> dict[str, etree._Element]:
    """Return the elements that are compared as they are, by name."""
    return {name: child for child in root if (name := local_name(child)) and name not in _ELSEWHERE}
