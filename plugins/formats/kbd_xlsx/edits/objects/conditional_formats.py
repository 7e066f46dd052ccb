"""Conditional formats: rules added to a range, and taken off cells.

A new rule goes behind those that a sheet has, so that no priority of another one changes.
"""

import re
from collections.abc import Sequence
from typing import Any, assert_never
from xml.sax.saxutils import escape

from kbd.errors import ValidationFailed
from kbd.office.formatting import parse_color
from kbd.sheets.areas import Area, cell_name
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.objects.formulas import checked_object_formula, sheets_of
from kbd_xlsx.edits.objects.ranges import (
    attribute_text,
    cut_element,
    cut_extension,
    parse_ranges,
    unquoted,
    written_ranges,
)
from kbd_xlsx.operations import (
    AverageRule,
    CellIsRule,
    ColorScaleRule,
    DataBarRule,
    DuplicatesRule,
    FormatRule,
    FormulaRule,
    IconSetRule,
    Scalar,
    SetConditionalFormat,
    TextRule,
    TopRule,
)
from kbd_xlsx.parts.markup import attribute, opened
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stylesheet import XlsxStyleSheet

__all__ = [
    "COMPARING",
    "add_rule",
    "next_priority",
    "rule_formula",
    "take_rules",
    "written_operand",
]

COMPARING = {
    "between": "between", "not_between": "notBetween", "equal": "equal", "not_equal": "notEqual",
    "greater_than": "greaterThan", "less_than": "lessThan",
    "greater_or_equal": "greaterThanOrEqual", "less_or_equal": "lessThanOrEqual",
}  # fmt: skip
"""Operators as files have them."""

_TEXTS = {
    "contains": ("containsText", "containsText", "NOT(ISERROR(SEARCH({text},{cell})))"),
    "not_contains": ("notContainsText", "notContains", "ISERROR(SEARCH({text},{cell}))"),
    "begins_with": ("beginsWith", "beginsWith", "LEFT({cell},LEN({text}))={text}"),
    "ends_with": ("endsWith", "endsWith", "RIGHT({cell},LEN({text}))={text}"),
}
"""Types, operators and formulas of rules about texts (ECMA-376 part 1, 18.18.12)."""

_POINTS = {
    "min": "min", "max": "max", "number": "num", "num": "num", "percent": "percent",
    "percentile": "percentile", "formula": "formula",
}  # fmt: skip
_SHARES = {
    "3": ("0", "33", "67"),
    "4": ("0", "25", "50", "75"),
    "5": ("0", "20", "40", "60", "80"),
}
_PRIORITY = re.compile(rb"<(?:[\w.-]+:)?cfRule\s[^<>]*?\bpriority=[\"'](\d{1,9})[\"']")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?")


def add_rule(book: BookEdit, operation: SetConditionalFormat) -> str:
    """Add a rule to a range and say which; raises ValidationFailed."""
    sheet = book.sheet(operation.sheet)
    areas = parse_ranges(operation.range)
    writer = _RuleWriter(book, sheet, areas, next_priority(sheet))
    text = writer.written(operation.rule, operation.style, stop=operation.stop_if_true)
    taken = take_rules(sheet, areas) if operation.replace else 0
    name = f"{sheet.prefix}conditionalFormatting"
    block = f'<{name} sqref="{written_ranges(areas)}">{text}</{name}>'
    known = sheet.elements.texts("conditionalFormatting")
    sheet.elements.put_all("conditionalFormatting", [*known, block.encode()])
    kind = str(operation.rule.__struct_config__.tag)
    instead = f" instead of {taken} range(s) of rules" if taken else ""
    return f"{sheet.name}!{written_ranges(areas)}: conditional format {kind}{instead}"


def next_priority(sheet: SheetPart) -> int:
    """Return the priority of a rule behind all those that a sheet has."""
    return max((int(each) for each in _PRIORITY.findall(_all_rules(sheet))), default=0) + 1


def _all_rules(sheet: SheetPart) -> bytes:
    return b"".join(sheet.elements.texts("conditionalFormatting")) + sheet.elements.seen("extLst")


def take_rules(sheet: SheetPart, areas: Sequence[Area]) -> int:
    """Take the rules off some cells, and return of how many ranges; raises ValidationFailed."""
    known = sheet.elements.texts("conditionalFormatting")
    left = []
    for text in known:
        cut = cut_element(text, areas, "a conditional format") if text else text
        if cut != text and attribute(opened(text).attributes, b"pivot") in ("1", "true"):
            raise ValidationFailed(
                f"{sheet.name}: {attribute(opened(text).attributes, b'sqref')} has a rule of a "
                "pivot table, which changes with it alone"
            )
        left.append(cut)
    count = sum(one != two for one, two in zip(known, left, strict=True))
    if count:
        sheet.elements.put_all("conditionalFormatting", left)
    extended = 0

    def change(text: bytes) -> bytes:
        nonlocal extended
        made = cut_element(text, areas, "a conditional format")
        extended += made != text
        return made

    cut_extension(sheet, "conditionalFormattings", "conditionalFormatting", change)
    return count or extended


def rule_formula(book: BookEdit, sheet: str, text: str, place: str) -> str:
    """Return a formula of a rule or validation as files have it; raises ValidationFailed."""
    formula = checked_object_formula(book, text, place, sheet)
    if "[" in unquoted(formula):
        raise ValidationFailed(
            f"{place}: {formula[:60]} names a table's column, which is possible in cells alone; "
            "name its cells, or a name for them"
        )
    return formula


def written_operand(book: BookEdit, sheet: str, value: Scalar, place: str) -> str:
    """Return a value that is compared with, as formulas have it; raises ValidationFailed."""
    match value:
        case None:
            raise ValidationFailed(f"{place}: it needs a value to compare with")
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return repr(value)
        case str() if value.startswith("="):
            return rule_formula(book, sheet, value, place)
        case str() if _DATE.fullmatch(value):
            year, month, day = (int(part) for part in re.findall(r"\d+", value)[:3])
            raise ValidationFailed(
                f"{place}: {value!r} would be compared as a text; write the date as "
                f"=DATE({year},{month},{day})"
            )
        case str():
            return _in_quotes(value)
        case _:
            assert_never(value)


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


class _RuleWriter:
    """Writer of one rule.

    Args:
        book: The workbook.
        sheet: The sheet that it is for.
        areas: Its ranges.
        priority: Its place among the sheet's rules.
    """

    def __init__(self, book: BookEdit, sheet: SheetPart, areas: list[Area], priority: int) -> None:
        self._book, self._sheet, self._priority = book, sheet, priority
        self._prefix = sheet.prefix
        # As programs read it: the first cell of the smallest range around all of them.
        self._first = cell_name(min(a.top for a in areas), min(a.left for a in areas))
        corner = areas[0].top, areas[0].left
        self._is_clear = cell_name(*corner) == self._first
        self._place = f"{sheet.name}!{written_ranges(areas)[:60]}: the rule"

    def written(self, rule: FormatRule, style: dict[str, Any] | None, *, stop: bool) -> str:
        """Return the rule as the part has it; raises ValidationFailed."""
        is_shown = isinstance(rule, ColorScaleRule | DataBarRule | IconSetRule)
        if is_shown and style is not None:
            raise ValidationFailed(f"{self._place} shows values by itself and has no style")
        match rule:
            case ColorScaleRule():
                kind, attributes, inner = "colorScale", "", self._color_scale(rule)
            case DataBarRule():
                kind, attributes, inner = "dataBar", "", self._data_bar(rule)
            case IconSetRule():
                kind, attributes, inner = "iconSet", "", self._icon_set(rule)
            case _:
                kind, attributes, inner = self._compared(rule)
                attributes = f' dxfId="{self._format(style or {})}"{attributes}'
        stopping = ' stopIfTrue="1"' if stop else ""
        head = f'{self._prefix}cfRule type="{kind}" priority="{self._priority}"'
        if not inner:
            return f"<{head}{attributes}{stopping}/>"
        return f"<{head}{attributes}{stopping}>{inner}</{self._prefix}cfRule>"

    def _format(self, style: dict[str, Any]) -> int:
        styles: XlsxStyleSheet = self._book.styles
        index = styles.differential(style)
        if not len(styles.tables.entry("dxfs", index)):
            raise ValidationFailed(
                f"{self._place} changes nothing: its style needs a font_color, font_bold, "
                "fill_color, border or number_format"
            )
        return index

    def _compared(
        self, rule: CellIsRule | FormulaRule | TextRule | TopRule | AverageRule | DuplicatesRule
    ) -> tuple[str, str, str]:
        """Return the type, the attributes and what is inside of a rule with a format."""
        match rule:
            case CellIsRule():
                return "cellIs", f' operator="{COMPARING[rule.operator]}"', self._operands(rule)
            case FormulaRule():
                return "expression", "", self._formula(self._own(rule.formula))
            case TextRule():
                kind, operator, pattern = _TEXTS[rule.operator]
                self._check_first()
                formula = pattern.format(text=_in_quotes(rule.text), cell=self._first)
                attributes = f' operator="{operator}" text="{attribute_text(rule.text)}"'
                return kind, attributes, self._formula(formula)
            case TopRule():
                flags = ' percent="1"' * rule.percent + ' bottom="1"' * rule.bottom
                return "top10", f'{flags} rank="{rule.count}"', ""
            case AverageRule():
                return "aboveAverage", ' aboveAverage="0"' * rule.below, ""
            case DuplicatesRule():
                return "uniqueValues" if rule.unique else "duplicateValues", "", ""
            case _:
                assert_never(rule)

    def _operands(self, rule: CellIsRule) -> str:
        values = [rule.value]
        if rule.operator in ("between", "not_between"):
            values.append(rule.value2)
        elif rule.value2 is not None:
            raise ValidationFailed(f"{self._place}: only between and not_between take a value2")
        return "".join(self._formula(self._operand(value)) for value in values)

    def _operand(self, value: Scalar) -> str:
        if isinstance(value, str) and value.startswith("="):
            return self._own(value)
        return written_operand(self._book, self._sheet.name, value, self._place)

    def _own(self, text: str) -> str:
        """Return a formula that names cells of the rule's own sheet alone."""
        formula = rule_formula(self._book, self._sheet.name, text, self._place)
        self._check_first()
        for written in sheets_of(formula):
            bare = written.strip("'").replace("''", "'")
            if bare.casefold() != self._sheet.name.casefold():
                raise ValidationFailed(
                    f"{self._place} names cells of sheet {bare}, which older programs refuse; "
                    "define a name for them and use that"
                )
        return formula

    def _check_first(self) -> None:
        if not self._is_clear:
            raise ValidationFailed(
                f"{self._place} has a formula that is written for its first cell: begin with the "
                f"range that holds {self._first}, or use one operation a range"
            )

    def _formula(self, formula: str) -> str:
        return f"<{self._prefix}formula>{escape(formula)}</{self._prefix}formula>"

    def _color(self, text: str) -> str:
        color = parse_color(text)
        if color is None:
            raise ValidationFailed(f"{self._place}: {text[:40]!r} is no color; write it as #FFAA00")
        return f'<{self._prefix}color rgb="FF{color}"/>'

    def _points(self, points: Sequence[str]) -> str:
        return "".join(map(self._point, points))

    def _point(self, point: str) -> str:
        word, _, value = point.strip().partition(" ")
        if point.strip().startswith("="):
            word, value = "formula", point.strip()
        kind = _POINTS.get(word.lower())
        if kind in ("min", "max") and not value:
            return f'<{self._prefix}cfvo type="{kind}"/>'
        if kind == "formula":
            value = self._own(value)
        elif kind in ("min", "max", None) or not _NUMBER.fullmatch(value.strip()):
            raise ValidationFailed(
                f"{self._place}: {point[:40]!r} is no point; write min, max, number 5, percent 33, "
                "percentile 50 or =$A$1"
            )
        elif kind != "num" and not 0 <= float(value) <= 100:
            raise ValidationFailed(f"{self._place}: {kind} goes from 0 to 100, not {value}")
        return f'<{self._prefix}cfvo type="{kind}" val="{attribute_text(value.strip())}"/>'

    def _color_scale(self, rule: ColorScaleRule) -> str:
        usual = ["min", "percentile 50", "max"]
        if len(rule.colors) == 2:
            del usual[1]
        points = rule.points or usual
        if len(points) != len(rule.colors):
            raise ValidationFailed(
                f"{self._place}: {len(rule.colors)} colors need as many points, not {len(points)}"
            )
        inner = self._points(points) + "".join(map(self._color, rule.colors))
        return f"<{self._prefix}colorScale>{inner}</{self._prefix}colorScale>"

    def _data_bar(self, rule: DataBarRule) -> str:
        points = rule.points or ("min", "max")
        if len(points) != 2:
            raise ValidationFailed(f"{self._place}: a data bar has two points, where it is empty "
                                   "and where it is full")  # fmt: skip
        shown = "" if rule.show_value else ' showValue="0"'
        inner = self._points(points) + self._color(rule.color)
        return f"<{self._prefix}dataBar{shown}>{inner}</{self._prefix}dataBar>"

    def _icon_set(self, rule: IconSetRule) -> str:
        shares = _SHARES[rule.icons[0]]
        points = rule.points or tuple(f"percent {share}" for share in shares)
        if len(points) == len(shares) - 1:
            # Below where the second icon begins there is the first one.
            points = ("percent 0", *points)
        if len(points) != len(shares) or any(
            each.strip().lower() in ("min", "max") for each in points
        ):
            raise ValidationFailed(
                f"{self._place}: {rule.icons} needs {len(shares)} points, where each icon begins, "
                "none of them min or max"
            )
        flags = ' showValue="0"' * (not rule.show_value) + ' reverse="1"' * rule.reverse
        inner = self._points(points)
        return (
            f'<{self._prefix}iconSet iconSet="{rule.icons}"{flags}>{inner}</{self._prefix}iconSet>'
        )
