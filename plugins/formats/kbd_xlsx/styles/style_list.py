"""Answer of `get_styles`: the formatting of a workbook in words, and what of it can be copied.

It is for a model to read, so it is bounded everywhere; `left_out` says what there is more of.

Conditional formats in words, with the looks that they give.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from lxml import etree

from kbd.formats import Source
from kbd.formats.styled import Answer
from kbd.opc.package import Package
from kbd_xlsx.parts.numberformats import BUILTIN_CODES
from kbd_xlsx.parts.pool import local_name
from kbd_xlsx.parts.styletables import StyleTables, number_of
from kbd_xlsx.references import cell_name, column_letters
from kbd_xlsx.styles.description import describe_difference, describe_format
from kbd_xlsx.styles.drawings import drawing_of, drawn_objects, why_not_copied
from kbd_xlsx.styles.sheet_formatting import SheetFormatting, read_sheet_looks
from kbd_xlsx.styles.sourcebook import style_tables, workbook_parts
from kbd_xlsx.styles.theme import SLOT_NAMES, XlsxTheme, read_workbook_theme
from kbd_xlsx.workbook import SheetEntry, find_sheet, read_workbook

__all__ = ["describe_rules", "get_styles"]

MAX_TEXT = 200
"""Characters of a formula or a list of ranges that are shown."""

_SETTINGS = ("operator", "text", "timePeriod", "rank")
_FLAGS = ("percent", "bottom", "equalAverage", "stopIfTrue")
_TRUE = ("1", "true")


def describe_rules(
    block: etree._Element, tables: StyleTables | None, theme: XlsxTheme, *, extended: bool
) -> Iterator[dict[str, Any]]:
    """Describe the rules of one `conditionalFormatting` element.

    Args:
        block: The element.
        tables: The style sheet, for the looks that rules name by position.
        theme: The workbook's colors.
        extended: Whether it is of the extension of 2009, whose rules hold their looks themselves.
    """
    ranges = block.get("sqref") or block.findtext("{*}sqref") or ""
    for rule in block.iterchildren("{*}cfRule"):
        found: dict[str, Any] = {"ranges": ranges[:MAX_TEXT], "type": rule.get("type", "")}
        found.update({name: rule.get(name) for name in _SETTINGS if rule.get(name)})
        found.update({name: True for name in _FLAGS if rule.get(name) in _TRUE})
        if rule.get("aboveAverage") in ("0", "false"):
            found["aboveAverage"] = False
        formulas = [
            (child.text or "")[:MAX_TEXT]
            for child in rule
            if local_name(child) in ("formula", "f") and child.text
        ]
        if formulas:
            found["formulas"] = formulas
        if rule.get("priority"):
            found["priority"] = number_of(rule, "priority")
        for child in rule:
            found.update(_scale(child, theme))
        look = _look(rule, tables)
        if look is not None:
            found.update(describe_difference(theme, look).plain())
        if extended:
            found["extended"] = True
        yield found


def _look(rule: etree._Element, tables: StyleTables | None) -> etree._Element | None:
    """Return the differential format of a rule."""
    own = rule.find("{*}dxf")
    if own is not None or rule.get("dxfId") is None or tables is None:
        return own
    entries = tables.pool("dxfs").entries
    index = number_of(rule, "dxfId")
    return entries[index] if index < len(entries) else None


def _scale(child: etree._Element, theme: XlsxTheme) -> dict[str, Any]:
    """Return what a color scale, a data bar or a set of icons shows."""
    name = local_name(child)
    if name not in ("colorScale", "dataBar", "iconSet"):
        return {}
    points = [_point(point) for point in child.iterchildren("{*}cfvo")]
    found: dict[str, Any] = {"points": points}
    colors = [
        theme.color(color)
        for color in child
        if local_name(color) in ("color", "fillColor", "negativeFillColor")
    ]
    if colors:
        found["colors"] = [color.rgb for color in colors if color]
    if name == "iconSet":
        found["icons"] = child.get("iconSet", "3TrafficLights1")
    return found


def _point(point: etree._Element) -> str:
    """Return where a color or icon begins, as "percent 33"."""
    value = point.get("val") or point.findtext("{*}f") or ""
    return f"{point.get('type', '')} {value}".strip()[:MAX_TEXT]


_LIMITS = {
    "sheets": 20,
    "cell_formats": 60,
    "named_styles": 30,
    "conditional_formats": 60,
    "defined_names": 50,
    "column_widths": 60,
    "row_heights": 60,
    "frozen": 20,
    "tables": 40,
    "assets": 200,
}
_FEW_FORMATS = 6
"""A sheet's most frequent formats, which are listed even if there are many sheets."""


def get_styles(source: Source, sheet: str | None) -> dict[str, Any]:
    """Return a workbook's looks as plain values.

    Args:
        source: The workbook.
        sheet: Of which sheet; None for all.

    Raises:
        FileReadFailed: The file cannot be read.
        ValidationFailed: There is no such sheet.
    """
    with Package(source) as package:
        workbook = read_workbook(package)
        chosen = (find_sheet(workbook, sheet),) if sheet is not None else workbook.sheets
        listing = _Listing(package)
        for entry in workbook.defined_names:
            listing.answer.add("defined_names", entry)
        return listing.listed(chosen)


class _Listing:
    """The looks of a workbook while they are gathered."""

    def __init__(self, package: Package) -> None:
        self.answer = Answer(_LIMITS)
        self._package = package
        parts = workbook_parts(package)
        self._tables = style_tables(package, parts.get("styles", ""))
        root = self._tables.root if self._tables else None
        self._theme = read_workbook_theme(package, parts.get("theme", ""), root)
        self._codes: dict[str, None] = {}
        if self._tables is None and "styles" in parts:
            self.answer.note("cell_formats: the styles are of an unknown form")

    def listed(self, sheets: Sequence[SheetEntry]) -> dict[str, Any]:
        """Return the looks of sheets and of the workbook."""
        shown = sheets[: _LIMITS["sheets"]]
        self.answer.leave_out("sheets", len(sheets) - len(shown))
        for sheet in shown:
            self.answer.add("sheets", sheet.name)
        # Pictures and charts come first among the assets: there are few, and nothing else names
        # them.
        for sheet in shown:
            self._add_drawn(sheet)
        self._add_named()
        many = max(_FEW_FORMATS, _LIMITS["cell_formats"] // max(1, len(shown)))
        for sheet in shown:
            if sheet.kind == "worksheet" and sheet.part:
                looks = read_sheet_looks(self._package, sheet.part)
                self._add_formats(sheet.name, looks, many)
                self._add_measures(sheet.name, looks)
                self._add_rules(sheet.name, looks)
                self._add_tables(sheet)
        for code in self._codes:
            self._add_asset("number_format", code)
        return {"theme": _theme(self._theme), **self.answer.plain()}

    def _add_asset(self, kind: str, name: str, **beside: str) -> None:
        self.answer.add_asset(kind, name, name=name, **beside)

    def _add_formats(self, sheet: str, looks: SheetFormatting, many: int) -> None:
        if looks.unread_from:
            self.answer.note(f"cell_formats: {sheet} from row {looks.unread_from:,} on")
        if self._tables is None:
            return
        found = sorted(looks.cells.by_style.items(), key=lambda entry: -entry[1].cells)
        self.answer.leave_out("cell_formats", max(0, len(found) - many))
        for index, where in found[:many]:
            place = f"{sheet}!{cell_name(*where.first)}"
            entry: dict[str, Any] = {"sheet": sheet, "ranges": where.ranges, "cells": where.cells}
            if where.more:
                entry["more_ranges"] = where.more
            entry |= describe_format(self._tables, self._theme, index).plain()
            xf = self._tables.entry("cellXfs", index)
            name = self._tables.name_of(number_of(xf, "xfId"))
            if name is not None:
                entry["named_style"] = name.get("name", "")
            self.answer.add("cell_formats", entry | {"asset_id": f"cell_style:{place}"})
            self._add_asset("cell_style", place, sheet=sheet, range=where.ranges[0])
            number = number_of(xf, "numFmtId")
            code = self._tables.custom_codes().get(number) or BUILTIN_CODES.get(number)
            if code and number:
                self._codes.setdefault(code)

    def _add_measures(self, sheet: str, looks: SheetFormatting) -> None:
        """Note widths, heights and what stays in view."""
        for span in looks.columns:
            if span.width is None and not span.hidden:
                continue
            columns = _span(column_letters(span.first), column_letters(span.last))
            entry = {"sheet": sheet, "columns": columns, "width": span.width}
            self.answer.add("column_widths", entry | _hidden(is_hidden=span.hidden))
        for row in looks.rows:
            rows = _span(str(row.first), str(row.last))
            entry = {"sheet": sheet, "rows": rows, "height": row.height}
            self.answer.add("row_heights", entry | _hidden(is_hidden=row.hidden))
        if any(looks.frozen):
            row_count, column_count = looks.frozen
            entry = {"sheet": sheet, "row": row_count, "column": column_count}
            self.answer.add("frozen", entry)
        if any(span.width is not None for span in looks.columns):
            self._add_asset("column_widths", sheet, sheet=sheet)

    def _add_rules(self, sheet: str, looks: SheetFormatting) -> None:
        for blocks, extended in ((looks.rules, False), (looks.extended_rules, True)):
            for block in blocks:
                for rule in describe_rules(block, self._tables, self._theme, extended=extended):
                    self.answer.add("conditional_formats", {"sheet": sheet, **rule})
        if looks.rules and not looks.extended_rules:
            self._add_asset("conditional_formats", sheet, sheet=sheet)

    def _add_tables(self, sheet: SheetEntry) -> None:
        for relation in self._package.relations(sheet.part):
            if relation.kind != "table" or relation.target not in self._package:
                continue
            root = self._package.root(relation.target)
            entry = {
                "sheet": sheet.name,
                "name": root.get("displayName") or root.get("name") or "",
                "range": root.get("ref", ""),
            }
            style = root.find("{*}tableStyleInfo")
            if style is not None:
                entry["style"] = style.get("name", "")
            self.answer.add("tables", entry)

    def _add_drawn(self, sheet: SheetEntry) -> None:
        part = drawing_of(self._package, sheet.part) if sheet.part else ""
        for drawn in drawn_objects(self._package.root(part)) if part else ():
            name = f"{sheet.name}/{drawn.name}"
            reason = why_not_copied(drawn)
            if reason:
                self.answer.note(f"assets: {drawn.kind}:{name}, {reason}")
            else:
                self._add_asset(drawn.kind, name, sheet=sheet.name, range=drawn.range)

    def _add_named(self) -> None:
        names = self._tables.pool("cellStyles").entries if self._tables else []
        for entry in names:
            if self._tables is None or not self.answer.room("named_styles"):
                self.answer.leave_out("named_styles", 1)
                continue
            index = number_of(entry, "xfId")
            words = describe_format(self._tables, self._theme, index, section="cellStyleXfs")
            name = entry.get("name", "")
            self.answer.add("named_styles", {"name": name, **words.plain()})
            if self._tables.name_of(index) is not None:
                # Normal is every workbook's own.
                self._add_asset("named_style", name)


def _theme(theme: XlsxTheme) -> dict[str, Any]:
    """Return the theme's name, fonts and colors."""
    return {
        "name": theme.name,
        "fonts": {"headings": theme.major, "body": theme.minor},
        "colors": dict(zip(SLOT_NAMES, theme.colors, strict=True)),
    }


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first}:{last}"


def _hidden(*, is_hidden: bool) -> dict[str, bool]:
    return {"hidden": True} if is_hidden else {}
