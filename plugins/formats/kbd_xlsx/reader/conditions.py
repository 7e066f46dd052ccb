"""Conditional formats that may hide what cells hold, and whether one surely applies to a cell.

Conditions are evaluated where that is cheap and sure: constants, comparisons of a cell with
constants and with other cells, texts. Of all others it stays open whether they apply. ECMA-376
part 1, 18.3.1.10 and 18.18.12.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, parse_area, parse_cell
from kbd.sheets.values import Value
from kbd_xlsx.reader.cell_looks import (
    USUAL_LOOK,
    CellLook,
    LookChange,
    Sight,
    WorkbookLooks,
    is_same_color,
    may_hide,
    read_change,
    sight,
    with_change,
)

__all__ = [
    "OPEN_CONDITION",
    "ConditionRule",
    "LookUp",
    "add_up",
    "applies",
    "marked_hiding",
    "read_conditions",
    "unlike_usual",
    "within_all",
]

MAX_CONDITIONS = 1_000
"""Conditions of a sheet that are looked at one by one; the rest may hide, wherever they are."""

_MAX_AREAS = 5_000
"""Ranges of all of them together."""

_MAX_COMPARED = 20_000
_MAX_COLORS = 500
_EVERYWHERE = Area(1, 1, MAX_ROW, MAX_COLUMN)


class ConditionRule(msgspec.Struct, frozen=True, array_like=True):
    """A rule of a conditional format.

    Args:
        areas: Where it is.
        kind: Its type, as "cellIs".
        sign: Its operator, as "greaterThan".
        operands: Its formulas, without "="; of a rule about texts, the text.
        change: What it does to a look.
        is_last: Whether rules behind it are left out where it applies.
        is_hiding: Whether it may hide a cell of some look, alone or with another one.
    """

    areas: tuple[Area, ...]
    kind: str
    sign: str
    operands: tuple[str, ...]
    change: LookChange
    is_last: bool = False
    is_hiding: bool = False

    def holds(self, row: int, column: int) -> bool:
        """Tell whether a cell is in its range."""
        return any(
            area.top <= row <= area.bottom and area.left <= column <= area.right
            for area in self.areas
        )


OPEN_CONDITION = ConditionRule((_EVERYWHERE,), "", "", (), LookChange(code=";;;"))
"""A rule that may hide any cell; it stands for those that are not looked at one by one."""

_FORMAT = re.compile(rb"<(?:[\w.-]+:)?conditionalFormatting[\s>]")
_END = b"conditionalFormatting>"
_TEXTS = ("containsText", "notContainsText", "beginsWith", "endsWith")


def read_conditions(tail: bytes, looks: WorkbookLooks) -> list[ConditionRule]:
    """Read the rules that change a look, the first one first, from what follows a sheet's cells."""
    first, end = _FORMAT.search(tail), tail.rfind(_END)
    if first is None or end < 0:
        return []
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    # Those of later versions are in an extension, behind other elements.
    data = b"<x>" + tail[first.start() : end + len(_END)] + b"</x>"
    root = etree.fromstring(data, parser)
    found: list[tuple[int, ConditionRule]] = []
    for block in root.iter() if root is not None else ():
        if _name(block) == "conditionalFormatting":
            found += _of_block(block, looks)
    # Python sorts stably: rules of one priority stay as the file has them.
    ordered = [rule for _, rule in sorted(found, key=lambda pair: pair[0])]
    kept, areas = 0, 0
    for rule in ordered[:MAX_CONDITIONS]:
        areas += len(rule.areas)
        if areas > _MAX_AREAS:
            break
        kept += 1
    if all(rule.change == LookChange() for rule in ordered[kept:]):
        return ordered[:kept]
    return [*ordered[:kept], OPEN_CONDITION]


def _of_block(block: etree._Element, looks: WorkbookLooks) -> Iterator[tuple[int, ConditionRule]]:
    areas = _areas(block.get("sqref") or _text_of(block, "sqref"))
    for rule in block:
        if _name(rule) != "cfRule":
            continue
        change = _change(rule, looks)
        is_last = rule.get("stopIfTrue") in ("1", "true")
        if change == LookChange() and not is_last:
            continue
        kind, text = rule.get("type", ""), rule.get("text")
        operands = tuple(
            (each.text or "").strip().removeprefix("=")
            for each in rule
            if _name(each) in ("formula", "f")
        )
        if kind in _TEXTS:
            operands = () if text is None else (text,)
        priority = rule.get("priority", "")
        place = int(priority) if priority.isascii() and priority.isdigit() else 1 << 31
        yield (
            place,
            ConditionRule(areas, kind, rule.get("operator", ""), operands[:2], change, is_last),
        )


def _change(rule: etree._Element, looks: WorkbookLooks) -> LookChange:
    for child in rule:
        if _name(child) == "dxf":
            return read_change(child, looks.theme)
    place = rule.get("dxfId", "")
    if place.isascii() and place.isdigit() and int(place[:9]) < len(looks.changes):
        return looks.changes[int(place[:9])]
    return LookChange()


def _areas(written: str) -> tuple[Area, ...]:
    found = []
    for each in written.split():
        try:
            found.append(parse_area(each, _EVERYWHERE))
        except ValidationFailed:
            continue
    return tuple(found)


def _text_of(block: etree._Element, name: str) -> str:
    return next((each.text or "" for each in block if _name(each) == name), "")


def _name(element: etree._Element) -> str:
    # Their prefixes are declared at the head of the sheet.
    return local_name(element).rpartition(":")[2]


def marked_hiding(conditions: list[ConditionRule], looks: WorkbookLooks) -> list[ConditionRule]:
    """Return rules with what tells whether they may hide a cell of some look of the workbook."""
    inks = {"000000", *(look.ink for look in looks.looks if look.ink)}
    grounds = {"FFFFFF", *(look.ground for look in looks.looks if look.ground)}
    changes = dict.fromkeys(rule.change for rule in conditions)
    # Of several rules one may give the color and another one what is behind it.
    inks |= {change.ink for change in changes if change.ink and change.ground is None}
    grounds |= {change.ground for change in changes if change.ground and change.ink is None}
    hides = {change: _hides(change, inks, grounds) for change in changes}
    return [msgspec.structs.replace(rule, is_hiding=hides[rule.change]) for rule in conditions]


def _hides(change: LookChange, inks: set[str], grounds: set[str]) -> bool:
    letters = inks if change.ink is None else {change.ink}
    behind = grounds if change.ground is None else {change.ground}
    is_colored = change.ink is not None or change.ground is not None
    if len(letters) > _MAX_COLORS or len(behind) > _MAX_COLORS:
        # So many are not worth comparing: each text in its range is looked at.
        return True
    if is_colored and any(is_same_color(ink, each) for ink in letters for each in behind):
        return True
    # Letters in a color that none has, so that the number format alone tells.
    return bool(change.code) and any(
        may_hide(CellLook("7F8183", each, change.code or "")) for each in behind
    )


def unlike_usual(conditions: Iterable[ConditionRule], looks: WorkbookLooks) -> dict[int, int]:
    """Return the cell formats with which rules hide other texts than with the usual one.

    All other cells are taken for black on white.
    """
    changes = list(dict.fromkeys(rule.change for rule in conditions))

    def hidden(look: CellLook) -> list[Sight]:
        return [sight(with_change(look, change), "x") for change in (LookChange(), *changes)]

    usual = hidden(USUAL_LOOK)
    # So many are not worth comparing: each cell is looked at with its own.
    is_known = len(changes) * len(looks.looks) <= _MAX_COMPARED
    is_like = [is_known and hidden(look) == usual for look in looks.looks]
    return {number: place for number, place in enumerate(looks.of_format) if not is_like[place]}


def within_all(conditions: Iterable[ConditionRule]) -> Area:
    """Return the area that holds all cells of some rules."""
    areas = [area for rule in conditions for area in rule.areas] or [Area(1, 1, 1, 1)]
    return Area(
        min(area.top for area in areas), min(area.left for area in areas),
        max(area.bottom for area in areas), max(area.right for area in areas),
    )  # fmt: skip


def add_up(look: CellLook, value: Value, rules: list[tuple[ConditionRule, bool | None]]) -> Sight:
    """Return whether a value is seen in a cell with some rules.

    Args:
        look: The cell's own look.
        value: What it holds.
        rules: Those of its range, the first one first, and whether each applies, None for open.
    """
    surely = sight(_looked(look, (rule for rule, applied in rules if applied)), value)
    for open_rule in [rule for rule, applied in rules if applied is None]:
        taken = (rule for rule, applied in rules if applied or rule is open_rule)
        if sight(_looked(look, taken), value) != surely:
            return Sight.MAYBE
    return surely


def _looked(look: CellLook, rules: Iterable[ConditionRule]) -> CellLook:
    """Return a look with the changes of some rules; of each property the first one counts."""
    ink = ground = code = None
    for rule in rules:
        ink = rule.change.ink if ink is None else ink
        ground = rule.change.ground if ground is None else ground
        code = rule.change.code if code is None else code
        if rule.is_last:
            break
    return with_change(look, LookChange(ink, ground, code))


LookUp = Callable[[int, int], Value | None]
"""Returns the value of a cell, "" for a blank one, None where it is not known."""

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "equal": operator.eq, "notEqual": operator.ne, "lessThan": operator.lt,
    "greaterThan": operator.gt, "lessThanOrEqual": operator.le, "greaterThanOrEqual": operator.ge,
}  # fmt: skip


def applies(
    rule: ConditionRule, row: int, column: int, value: Value, look_up: LookUp
) -> bool | None:
    """Tell whether a rule applies to a cell of its range; None where that is not sure.

    Args:
        rule: The rule.
        row: The cell's row.
        column: Its column.
        value: What it holds; "" is a formula without a result.
        look_up: What tells the values of other cells.
    """
    cell = _Cell(rule, row, column, look_up)
    match rule.kind:
        case "expression" if rule.operands:
            return cell.truth(rule.operands[0])
        case "cellIs" if rule.operands and value != "":
            return _compared(rule.sign, value, list(map(cell.operand, rule.operands)))
        case "containsBlanks" if value != "":
            return isinstance(value, str) and not value.strip()
        case "notContainsBlanks" if value != "":
            return not (isinstance(value, str) and not value.strip())
        case "containsErrors" if value != "":
            return False
        case "notContainsErrors" if value != "":
            return True
        case kind if kind in _TEXTS and rule.operands and isinstance(value, str) and value:
            return _found(kind, value.casefold(), rule.operands[0].casefold())
        case _:
            return None


def _found(kind: str, text: str, wanted: str) -> bool | None:
    if not wanted or any(sign in wanted for sign in "*?~"):
        return None
    match kind:
        case "beginsWith":
            return text.startswith(wanted)
        case "endsWith":
            return text.endswith(wanted)
        case "notContainsText":
            return wanted not in text
        case _:
            return wanted in text


def _compared(sign: str, value: Value, operands: list[Value | None]) -> bool | None:
    if sign in ("between", "notBetween"):
        if len(operands) < 2:
            return None
        ends = [_is_true(">=", value, operands[0]), _is_true("<=", value, operands[1])]
        swapped = [_is_true("<=", value, operands[0]), _is_true(">=", value, operands[1])]
        if None in ends or None in swapped:
            return None
        is_between = all(ends) or all(swapped)
        return is_between is (sign == "between")
    return _is_true(sign, value, operands[0])


def _is_true(sign: str, one: Value | None, other: Value | None) -> bool | None:
    """Compare as programs do: numbers come before texts, those before truths; None if not sure."""
    ranks = _rank(one), _rank(other)
    compare = _ORDER.get(sign)
    if compare is None or None in ranks:
        return None
    if ranks[0] != ranks[1]:
        # A blank cell is 0 beside a number, an empty text is not.
        return None if "" in (one, other) else compare(ranks[0], ranks[1])
    if isinstance(one, str) and isinstance(other, str):
        is_equality = compare in (operator.eq, operator.ne)
        # In which order texts are, the language of the program tells.
        return compare(one.casefold(), other.casefold()) if is_equality else None
    return compare(one, other)


def _rank(value: Value | None) -> int | None:
    match value:
        case None:
            return None
        case bool():
            return 2
        case int() | float():
            return 0
        case str():
            return 1
        case _:
            # A date: the number behind it is not at hand.
            return None


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_REFERENCE = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d{0,6})")
_COMPARISON = re.compile(r"(.+?)(<=|>=|<>|=|<|>)(.+)", re.DOTALL)
_CALL = re.compile(
    r"(ISBLANK|ISTEXT|ISNUMBER|ISERROR|ISERR|ISNA|NOT|LEN|TRIM)\((.*)\)", re.IGNORECASE | re.DOTALL
)
_MAX_FORMULA = 200


class _Cell:
    """A cell for which formulas of a rule are evaluated."""

    def __init__(self, rule: ConditionRule, row: int, column: int, look_up: LookUp) -> None:
        self._rule = rule
        self._row = row
        self._column = column
        self._look_up = look_up

    def truth(self, formula: str) -> bool | None:
        """Return what a formula comes to as a condition, None where that is not sure."""
        formula = formula.strip()
        if len(formula) > _MAX_FORMULA:
            return None
        found = _COMPARISON.fullmatch(formula)
        if found is not None:
            return _is_true(found[2], self.operand(found[1]), self.operand(found[3]))
        match self.operand(formula):
            case bool() | int() | float() as value:
                return bool(value)
            case "":
                return False
            case _:
                # A text is no condition; what programs make of it differs.
                return None

    def operand(self, formula: str) -> Value | None:
        """Return the value of a constant, a cell or a simple call, None where that is not sure."""
        formula = formula.strip()
        if _NUMBER.fullmatch(formula):
            return float(formula)
        if quoted := _QUOTED.fullmatch(formula):
            return quoted[1].replace('""', '"')
        if formula.upper() in ("TRUE", "FALSE", "TRUE()", "FALSE()"):
            return formula.upper().startswith("TRUE")
        if reference := _REFERENCE.fullmatch(formula):
            return self._at(reference)
        call = _CALL.fullmatch(formula)
        return self._called(call[1].upper(), call[2]) if call else None

    def _called(self, name: str, inner: str) -> Value | None:
        value = self.operand(inner)
        if value is None:
            return None
        match name, value:
            case "NOT", bool() | int() | float():
                return not value
            case "NOT", _:
                return None
            case "ISERROR" | "ISERR" | "ISNA", _:
                # The value of an error is not known, so that this one is none.
                return False
            case "ISBLANK", _:
                return value == ""
            case "ISTEXT", _:
                return isinstance(value, str) and value != ""
            case "ISNUMBER", _:
                return not isinstance(value, str | bool)
            case "LEN", str():
                return len(value)
            case "TRIM", str():
                return " ".join(value.split())
            case _:
                return None

    def _at(self, reference: re.Match[str]) -> Value | None:
        """Return the value that a reference means in this cell; the rule is that of its first."""
        areas = self._rule.areas
        is_moving = not (reference[1] and reference[3])
        if not areas or (len(areas) > 1 and is_moving):
            return None
        try:
            row, column = parse_cell(reference[2] + reference[4])
        except ValidationFailed:
            return None
        row += 0 if reference[3] else self._row - areas[0].top
        column += 0 if reference[1] else self._column - areas[0].left
        if not (1 <= row <= MAX_ROW and 1 <= column <= MAX_COLUMN):
            return None
        return self._look_up(row, column)
