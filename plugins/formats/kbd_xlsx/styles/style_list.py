"""Answer of `get_styles`: the formatting of a workbook in words, and what of it can be copied.

It is for a model to read, so it is bounded everywhere; `left_out` says what there is more of.
Cells are described as style objects, which operations take as they are; conditional formats with
the formatting that they give.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from lxml import etree

from kbd.formats import Source
from kbd.formats.styled import Answer
from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd.sheets.areas import cell_name, column_letters
from kbd_xlsx.parts.book import BookPart
from kbd_xlsx.parts.formatting import BUILTIN_CODES, LANGUAGE_CODES
from kbd_xlsx.parts.stylesheet import StyleTables, number_of
from kbd_xlsx.styles.drawings import drawing_of, drawn_objects, why_not_copied
from kbd_xlsx.styles.object_list import OBJECT_LIMITS, sheet_objects
from kbd_xlsx.styles.sheet_formatting import SheetFormatting, read_sheet_formatting
from kbd_xlsx.styles.theme import (
    SLOT_NAMES,
    XlsxTheme,
    read_workbook_theme,
    style_tables,
    workbook_parts,
)
from kbd_xlsx.workbook import SheetEntry, Workbook, find_sheet, read_workbook

__all__ = [
    "StyleDescription",
    "describe_difference",
    "describe_format",
    "describe_rules",
    "get_styles",
]

_SIDES = {
    "left": "border_left",
    "start": "border_left",
    "right": "border_right",
    "end": "border_right",
    "top": "border_top",
    "bottom": "border_bottom",
}
_FALSE = ("0", "false")


class StyleDescription(msgspec.Struct, frozen=True):
    """A look in words.

    Args:
        style: A style object as operations take it; what is as usual is left out.
        theme_colors: Which of its colors are slots of the theme, by the same keys.
        beside: What the look has and a style object cannot say ("gradient fill").
    """

    style: Mapping[str, Any]
    theme_colors: Mapping[str, str]
    beside: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return it as plain values, without what is empty."""
        found: dict[str, Any] = {"style": dict(self.style)}
        if self.theme_colors:
            found["theme_colors"] = dict(self.theme_colors)
        if self.beside:
            found["also"] = list(self.beside)
        return found


class _Words:
    """The words of one look while they are gathered."""

    def __init__(self, theme: XlsxTheme) -> None:
        self.style: dict[str, Any] = {}
        self.slots: dict[str, str] = {}
        self.beside: list[str] = []
        self._theme = theme

    def add_color(self, key: str, element: etree._Element | None) -> None:
        color = self._theme.color(element)
        if color is not None:
            self.style[key] = color.rgb
            if color.slot:
                self.slots[key] = color.slot

    def add_font(self, font: etree._Element) -> None:
        for child in font:
            value = child.get("val")
            match local_name(child):
                case "name":
                    self.style["font_name"] = value
                case "sz":
                    self.style["font_size"] = _size(value)
                case "b" if value not in _FALSE:
                    self.style["font_bold"] = True
                case "i" if value not in _FALSE:
                    self.style["font_italic"] = True
                case "u" if value != "none":
                    self.style["font_underline"] = value or "single"
                case "color":
                    self.add_color("font_color", child)
                case "strike" | "outline" | "shadow" as name if value not in _FALSE:
                    self.beside.append(name)
                case "vertAlign" if value and value != "baseline":
                    self.beside.append(value)

    def add_fill(self, fill: etree._Element, *, is_difference: bool) -> None:
        pattern = fill.find("{*}patternFill")
        if pattern is None:
            if fill.find("{*}gradientFill") is not None:
                self.beside.append("gradient fill")
            return
        front, back = pattern.find("{*}fgColor"), pattern.find("{*}bgColor")
        # In a differential format, a fill without a pattern type is solid.
        kind = pattern.get("patternType", "solid" if is_difference else "none")
        if kind == "none":
            return
        if kind != "solid":
            self.style["fill_pattern"] = kind
        elif is_difference and back is not None:
            # In a differential format it is the back that shows of a solid fill.
            front = back
        self.add_color("fill_color", front)

    def add_border(self, border: etree._Element) -> None:
        for child in border:
            key = _SIDES.get(local_name(child))
            style = child.get("style", "none")
            if key is None or style == "none":
                if style != "none":
                    self.beside.append(f"{local_name(child)} border")
                continue
            color = self._theme.color(child.find("{*}color"))
            self.style[key] = {"style": style, "color": color.rgb if color else "000000"}
            if color and color.slot:
                self.slots[key] = color.slot

    def add_alignment(self, alignment: etree._Element) -> None:
        for name, key, usual in (
            ("horizontal", "h_align", "general"),
            ("vertical", "v_align", "bottom"),
        ):
            value = alignment.get(name, usual)
            if value != usual:
                self.style[key] = value
        if alignment.get("wrapText", "0") not in _FALSE:
            self.style["wrap_text"] = True
        for name in (
            "textRotation", "indent", "shrinkToFit", "readingOrder", "justifyLastLine",
            "relativeIndent",
        ):  # fmt: skip
            value = alignment.get(name, "0")
            if value not in _FALSE:
                self.beside.append(name if value in ("1", "true") else f"{name} {value}")

    def add_protection(self, protection: etree._Element) -> None:
        if protection.get("locked", "1") in _FALSE:
            self.beside.append("unlocked")
        if protection.get("hidden", "0") not in _FALSE:
            self.beside.append("formula hidden")

    def described(self) -> StyleDescription:
        return StyleDescription(self.style, self.slots, tuple(self.beside))


def describe_format(
    tables: StyleTables, theme: XlsxTheme, index: int, *, section: str = "cellXfs"
) -> StyleDescription:
    """Describe a cell format, or with section `cellStyleXfs` that of a named style."""
    xf = tables.entry(section, index)
    words = _Words(theme)
    words.add_font(tables.entry("fonts", number_of(xf, "fontId")))
    words.add_fill(tables.entry("fills", number_of(xf, "fillId")), is_difference=False)
    number = number_of(xf, "numFmtId")
    code = tables.custom_codes().get(number) or BUILTIN_CODES.get(number)
    if code is None:
        code = LANGUAGE_CODES.get(number, "General")
        words.beside.append(f"number format {number} is that of the user's language")
    if code.casefold() != "general":
        words.style["number_format"] = code
    for child in xf:
        match local_name(child):
            case "alignment":
                words.add_alignment(child)
            case "protection":
                words.add_protection(child)
    words.add_border(tables.entry("borders", number_of(xf, "borderId")))
    if xf.get("quotePrefix", "0") not in _FALSE:
        words.beside.append("shown as it is typed")
    return words.described()


def describe_difference(theme: XlsxTheme, dxf: etree._Element) -> StyleDescription:
    """Describe a differential format: what a rule or a table changes in the look of a cell."""
    words = _Words(theme)
    for child in dxf:
        match local_name(child):
            case "font":
                words.add_font(child)
            case "fill":
                words.add_fill(child, is_difference=True)
            case "border":
                words.add_border(child)
            case "alignment":
                words.add_alignment(child)
            case "numFmt":
                words.style["number_format"] = child.get("formatCode", "")
            case "protection":
                words.add_protection(child)
    return words.described()


def _size(text: str | None) -> float | None:
    try:
        size = float(text or "")
    except ValueError:
        return None
    # Python reads "nan" and "inf" as numbers, too, but neither becomes a whole one.
    if not math.isfinite(size):
        return None
    return int(size) if size == int(size) else size


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
        tables: The style sheet, for the formatting that rules name by position.
        theme: The workbook's colors.
        extended: Whether it is of the extension of 2009, whose rules hold their own formatting.
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
        look = _style_of_rule(rule, tables)
        if look is not None:
            found.update(describe_difference(theme, look).plain())
        if extended:
            found["extended"] = True
        yield found


def _style_of_rule(rule: etree._Element, tables: StyleTables | None) -> etree._Element | None:
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
    **OBJECT_LIMITS,
    "assets": 200,
}
_FEW_FORMATS = 6
"""A sheet's most frequent formats, which are listed even if there are many sheets."""


def get_styles(source: Source, sheet: str | None) -> dict[str, Any]:
    """Return a workbook's styles as plain values.

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
        listing = _Listing(package, workbook)
        for entry in workbook.defined_names:
            listing.answer.add("defined_names", entry)
        return listing.listed(chosen)


class _Listing:
    """Styles of a workbook while they are gathered."""

    def __init__(self, package: Package, workbook: Workbook) -> None:
        self.answer = Answer(_LIMITS)
        self._package = package
        self._tabs = workbook.sheets
        self._names = BookPart(package.root(workbook.identity.part)).names
        parts = workbook_parts(package)
        self._tables = style_tables(package, parts.get("styles", ""))
        root = self._tables.root if self._tables else None
        self._theme = read_workbook_theme(package, parts.get("theme", ""), root)
        self._codes: dict[str, None] = {}
        if self._tables is None and "styles" in parts:
            self.answer.note("cell_formats: the styles are of an unknown form")

    def listed(self, sheets: Sequence[SheetEntry]) -> dict[str, Any]:
        """Return the styles of sheets and of the workbook."""
        shown = sheets[: _LIMITS["sheets"]]
        self.answer.leave_out("sheets", len(sheets) - len(shown))
        for sheet in shown:
            self.answer.add("sheets", sheet.name)
        # Pictures and charts come first among the assets: there are few, and nothing else names
        # them.
        for sheet in shown:
            self._add_drawn(sheet)
        self._add_named()
        # The limit is shared out, so that a sheet of many formats leaves room for the others.
        many = max(_FEW_FORMATS, _LIMITS["cell_formats"] // max(1, len(shown)))
        for sheet in shown:
            if sheet.kind == "worksheet" and sheet.part:
                formatting = read_sheet_formatting(self._package, sheet.part)
                self._add_formats(sheet.name, formatting, many)
                self._add_measures(sheet.name, formatting)
                self._add_rules(sheet.name, formatting)
                self._add_tables(sheet)
                self._add_objects(sheet, formatting)
        for code in self._codes:
            self._add_asset("number_format", code)
        return {"theme": _theme(self._theme), **self.answer.plain()}

    def _add_asset(self, kind: str, name: str, **beside: str) -> None:
        self.answer.add_asset(kind, name, name=name, **beside)

    def _add_formats(self, sheet: str, formatting: SheetFormatting, many: int) -> None:
        if formatting.unread_from:
            self.answer.note(f"cell_formats: {sheet} from row {formatting.unread_from:,} on")
        if self._tables is None:
            return
        found = sorted(formatting.cells.by_style.items(), key=lambda entry: -entry[1].cells)
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

    def _add_measures(self, sheet: str, formatting: SheetFormatting) -> None:
        """Note widths, heights and what stays in view."""
        for span in formatting.columns:
            if span.width is None and not span.hidden:
                continue
            columns = _span(column_letters(span.first), column_letters(span.last))
            entry = {"sheet": sheet, "columns": columns, "width": span.width}
            self.answer.add("column_widths", entry | _hidden(is_hidden=span.hidden))
        for row in formatting.rows:
            rows = _span(str(row.first), str(row.last))
            entry = {"sheet": sheet, "rows": rows, "height": row.height}
            self.answer.add("row_heights", entry | _hidden(is_hidden=row.hidden))
        if any(formatting.frozen):
            row_count, column_count = formatting.frozen
            entry = {"sheet": sheet, "row": row_count, "column": column_count}
            self.answer.add("frozen", entry)
        if any(span.width is not None for span in formatting.columns):
            self._add_asset("column_widths", sheet, sheet=sheet)

    def _add_rules(self, sheet: str, formatting: SheetFormatting) -> None:
        for blocks, extended in ((formatting.rules, False), (formatting.extended_rules, True)):
            for block in blocks:
                for rule in describe_rules(block, self._tables, self._theme, extended=extended):
                    self.answer.add("conditional_formats", {"sheet": sheet, **rule})
        # Copying refuses sheets with extended rules, so their rules are not offered.
        if formatting.rules and not formatting.extended_rules:
            self._add_asset("conditional_formats", sheet, sheet=sheet)

    def _add_tables(self, sheet: SheetEntry) -> None:
        for relation in self._package.relations(sheet.part):
            if relation.kind != "table" or relation.target not in self._package:
                continue
            root = self._package.root(relation.target)
            entry: dict[str, Any] = {
                "sheet": sheet.name,
                "name": root.get("displayName") or root.get("name") or "",
                "range": root.get("ref", ""),
            }
            style = root.find("{*}tableStyleInfo")
            if style is not None:
                entry["style"] = style.get("name", "")
            if root.get("totalsRowCount", "0") != "0":
                entry["has_totals"] = True
            self.answer.add("tables", entry)

    def _add_objects(self, sheet: SheetEntry, formatting: SheetFormatting) -> None:
        names = [
            name
            for name in self._names
            if name.tab is not None and name.tab < len(self._tabs) and self._tabs[name.tab] is sheet
        ]
        found = sheet_objects(self._package, sheet.part, sheet.name, formatting.objects, names)
        for key, entry in found:
            self.answer.add(key, entry)
        for name, key in (("dataValidation", "validations"), ("hyperlink", "links")):
            self.answer.leave_out(key, formatting.more_objects.get(name, 0))

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
