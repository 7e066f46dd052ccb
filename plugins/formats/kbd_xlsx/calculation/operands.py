"""Operands of a formula's text: cells, names, tables and functions.

The text is scanned, not parsed: whatever stands between operands is passed over, but for the
colon, which makes a range of what stands around it ("A1:INDEX(A:A,5)"). Text that cannot be
scanned is said to be unclear. Places are those of the text: formulas that share one move it.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW

__all__ = [
    "BOTTOM",
    "LEFT",
    "RIGHT",
    "TOP",
    "LocatedOperands",
    "LocatedReference",
    "NameUse",
    "Operand",
    "Operands",
    "Reference",
    "ReferenceKind",
    "TableUse",
    "locate_references",
    "read_operands",
]

MAX_FORMULA_CHARS = 65_536
"""Longer texts are not scanned; a program takes 8,192 characters of a formula."""

TOP, LEFT, BOTTOM, RIGHT = 1, 2, 4, 8
"""Sides of a reference that are relative, as bits."""


class Reference(msgspec.Struct, frozen=True, gc=False):
    """Cells that a formula names.

    Args:
        sheet: As it is written before "!", quotes included; None for the formula's own sheet.
        top: Of the rectangle as written, like the others; ends may be swapped.
        moves: Which sides are relative, as a sum of TOP, LEFT, BOTTOM and RIGHT.
    """

    sheet: str | None
    top: int
    left: int
    bottom: int
    right: int
    moves: int


class NameUse(msgspec.Struct, frozen=True):
    """A word that may be a defined name or a table; `sheet` as in Reference."""

    sheet: str | None
    name: str


class TableUse(msgspec.Struct, frozen=True):
    """A structured reference: a table's name ("" inside of it) and what stands in brackets."""

    name: str
    inside: str


Operand = Reference | NameUse | TableUse

ReferenceKind = Literal["cell", "area", "columns", "rows"]
"""How a reference is written: B3, B3:C5, B:C, 3:5."""


class Operands(msgspec.Struct):
    """Operands of one formula.

    Args:
        references: Cells that it names.
        others: Names and tables.
        spans: Operands with a colon between them: what lies between may be meant, too.
        calls: The functions that it calls, as written.
        is_clear: Whether all of the text could be scanned.
    """

    references: list[Reference]
    others: list[NameUse | TableUse]
    spans: list[list[Operand]]
    calls: list[str]
    is_clear: bool


# Beyond ASCII any character may belong to a name: letters of all scripts with their marks.
_LETTER = r"[A-Za-z0-9_.\\?\u0080-\U0010ffff]"
# What goes on as a name, call, sheet or table is no cell: A1B, LOG10(, Q1!B2, T1[Tax].
_END = rf"(?!{_LETTER}|[(!\[])"
_SHEET = (
    r"(?:('(?:[^']|'')*'|\$?(?:\[[^\[\]]*\])?"
    rf"(?:(?>{_LETTER}+)(?::\$?(?>{_LETTER}+))?)?|\#REF)!)?"
)
_CELL = r"(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7})"
# The order decides: calls before cells (LOG10 looks like one), ranges before single cells, words
# last. Atomic groups keep a long word from being tried at each of its lengths.
_OPERAND = rf"""(?:
  (?P<call>(?>{_LETTER}+)(?=\())
| (?P<area>{_CELL}:{_CELL}{_END})
| (?P<cell>{_CELL}{_END})
| (?P<columns>(\$?)([A-Za-z]{{1,3}}):(\$?)([A-Za-z]{{1,3}}){_END})
| (?P<rows>(\$?)([0-9]{{1,7}}):(\$?)([0-9]{{1,7}}){_END})
| (?P<table>(?>{_LETTER}*)\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*\])*\])
| (?P<word>(?>{_LETTER}+))
| \#(?:REF!|DIV/0!|N/A|NAME\?|NULL!|NUM!|VALUE!|[A-Z_]+[!?])
)"""
_REST = r"""| "[^"]*" | (?P<colon>:) | (?P<stray>["'\[\]])"""
_FLAGS = re.VERBOSE | re.DOTALL
# Marks between operands are passed over in one go; what fits nowhere is passed over one by one.
_TOKEN = re.compile(rf"[-\s(),;+*/^&=<>%{{}}]*+(?:{_SHEET}{_OPERAND}{_REST}|.|$)", _FLAGS)
_ANY_TOKEN = re.compile(_SHEET + _OPERAND + _REST + r"| (?P<mark>\S)", _FLAGS)

_SHEET_GROUP = 1
_GROUPS = _TOKEN.groupindex
_CALL, _COLON, _STRAY = _GROUPS["call"], _GROUPS["colon"], _GROUPS["stray"]
_CELL_GROUP, _AREA, _COLUMNS = _GROUPS["cell"], _GROUPS["area"], _GROUPS["columns"]
_ROWS, _TABLE, _WORD = _GROUPS["rows"], _GROUPS["table"], _GROUPS["word"]
_CELL_ENDS = tuple(range(_CELL_GROUP + 1, _CELL_GROUP + 5))
_AREA_ENDS = tuple(range(_AREA + 1, _AREA + 9))
_COLUMNS_ENDS = tuple(range(_COLUMNS + 1, _COLUMNS + 5))
_ROWS_ENDS = tuple(range(_ROWS + 1, _ROWS + 5))

_KINDS: Mapping[int, ReferenceKind] = MappingProxyType(
    {_CELL_GROUP: "cell", _AREA: "area", _COLUMNS: "columns", _ROWS: "rows"}
)

# CELL without a reference tells of the cell that was changed last, but for the file's name.
_ABOUT_A_CELL = re.compile(r'\(\s*"[^"]*"\s*,|\(\s*"filename"\s*\)', re.IGNORECASE)


def read_operands(text: str) -> Operands:
    """Return what a formula refers to, whether or not its text begins with "="."""
    if len(text) > MAX_FORMULA_CHARS:
        return Operands([], [], [], [], is_clear=False)
    references: list[Reference] = []
    others: list[NameUse | TableUse] = []
    calls: list[str] = []
    has_colon, is_clear = False, True
    for token in _TOKEN.finditer(text):
        # The group that closed last is that of the whole operand; the groups inside close earlier.
        kind = token.lastindex
        if kind == _CALL:
            sheet = token[_SHEET_GROUP]
            if not (token[_CALL].upper() == "CELL" and _ABOUT_A_CELL.match(text, token.end())):
                # A function of another workbook, or of a module, is none that is known.
                calls.append(token[_CALL] if sheet is None else f"{sheet}!{token[_CALL]}")
        elif kind == _COLON:
            has_colon = True
        elif kind == _STRAY:
            is_clear = False
        # A sheet alone stands before an error (Sheet1!#REF!), which reads no cell.
        elif kind is not None and kind > _SHEET_GROUP:
            operand = _operand(token, kind)
            if isinstance(operand, Reference):
                references.append(operand)
            elif operand is not None:
                others.append(operand)
    # The second scan is slower and needed only for a colon that no plain range took in.
    spans = list(_spans(text)) if has_colon and is_clear else []
    return Operands(references, others, spans, calls, is_clear)


def _operand(token: re.Match[str], kind: int) -> Operand | None:
    sheet = token[_SHEET_GROUP]
    if kind == _CELL_GROUP:
        return _cell(token, sheet)
    if kind == _AREA:
        return _area(token, sheet)
    if kind == _WORD:
        word = token[_WORD]
        # No name begins with a digit or a dot, so this is a number.
        return None if word[0] in "0123456789." else NameUse(sheet, word)
    if kind == _COLUMNS:
        return _columns(token, sheet)
    if kind == _ROWS:
        return _rows(token, sheet)
    name, _, inside = token[_TABLE].partition("[")
    # Of another workbook, if a sheet or a book stands before it.
    return TableUse(name, inside[:-1]) if sheet is None else NameUse(sheet, name)


def _cell(token: re.Match[str], sheet: str | None) -> Operand:
    fixed_column, letters, fixed_row, digits = token.group(*_CELL_ENDS)
    row, column = int(digits), _number(letters)
    # What lies past the end of a sheet may be a name: column XYZ of XYZ2024 does not exist.
    if column > MAX_COLUMN or not 0 < row <= MAX_ROW:
        return NameUse(sheet, token[_CELL_GROUP])
    moves = (0 if fixed_row else TOP + BOTTOM) + (0 if fixed_column else LEFT + RIGHT)
    return Reference(sheet, row, column, row, column, moves)


def _area(token: re.Match[str], sheet: str | None) -> Operand:
    (fixed_left, first, fixed_top, top_digits, fixed_right, last, fixed_bottom, bottom_digits) = (
        token.group(*_AREA_ENDS)
    )
    left, top, right, bottom = _number(first), int(top_digits), _number(last), int(bottom_digits)
    if not (left <= MAX_COLUMN >= right and 0 < top <= MAX_ROW >= bottom > 0):
        return NameUse(sheet, token[_AREA])
    moves = (0 if fixed_top else TOP) + (0 if fixed_left else LEFT)
    moves += (0 if fixed_bottom else BOTTOM) + (0 if fixed_right else RIGHT)
    return Reference(sheet, top, left, bottom, right, moves)


def _columns(token: re.Match[str], sheet: str | None) -> Operand:
    fixed_left, first, fixed_right, last = token.group(*_COLUMNS_ENDS)
    left, right = _number(first), _number(last)
    if max(left, right) > MAX_COLUMN:
        return NameUse(sheet, token[_COLUMNS])
    moves = (0 if fixed_left else LEFT) + (0 if fixed_right else RIGHT)
    return Reference(sheet, 1, left, MAX_ROW, right, moves)


def _rows(token: re.Match[str], sheet: str | None) -> Operand:
    fixed_top, first, fixed_bottom, last = token.group(*_ROWS_ENDS)
    top, bottom = int(first), int(last)
    if not (0 < top <= MAX_ROW >= bottom > 0):
        return NameUse(sheet, token[_ROWS])
    moves = (0 if fixed_top else TOP) + (0 if fixed_bottom else BOTTOM)
    return Reference(sheet, top, 1, bottom, MAX_COLUMN, moves)


def _number(letters: str) -> int:
    if len(letters) == 1:
        # In base 36, letters are the digits from 10 on, in either case.
        return int(letters, 36) - 9
    number = 0
    for letter in letters:
        number = number * 26 + int(letter, 36) - 9
    return number


class _Brackets(msgspec.Struct):
    """An open bracket of a formula: of which call, the argument's place, what a range may end at.

    `before` are the operands before the colon that stands before the call.
    """

    call: str
    before: list[Operand] | None
    argument: int = 0
    held: list[Operand] = msgspec.field(default_factory=list)


def _spans(text: str) -> Iterator[list[Operand]]:
    """Yield operands that have a colon between them, with what calls among them may return.

    INDEX returns a part of its first argument; any other call, any of its arguments.
    """
    open_brackets = [_Brackets("", None)]
    call = ""
    last: list[Operand] | None = None
    before: list[Operand] | None = None
    for token in _ANY_TOKEN.finditer(text):
        kind, mark = token.lastindex, token[0]
        found: list[Operand] | None = None
        if kind == _CALL:
            call = mark.upper()
        elif kind == _COLON:
            before = last
        elif mark == "(":
            open_brackets.append(_Brackets(call, before))
            call, last, before = "", None, None
        # A closing bracket too many must not remove the level of the formula itself.
        elif mark == ")" and len(open_brackets) > 1:
            closed = open_brackets.pop()
            found, before = closed.held, closed.before
        elif kind is None or not _SHEET_GROUP < kind < _COLON:
            last = before = None
            open_brackets[-1].argument += mark == ","
        else:
            operand = _operand(token, kind)
            found = [operand] if operand is not None else None
        if found is not None:
            if before is not None:
                found = [*before, *found]
                yield found
            holder = open_brackets[-1]
            if holder.call != "INDEX" or holder.argument == 0:
                holder.held.extend(found)
            last, before = found, None


class LocatedReference(NamedTuple):
    """A reference of a formula's text and where its coordinates stand, without their sheet."""

    start: int
    end: int
    reference: Reference
    kind: ReferenceKind


class LocatedOperands(NamedTuple):
    """References in the order of the text; `is_clear` as in Operands."""

    references: list[LocatedReference]
    is_clear: bool


def locate_references(text: str) -> LocatedOperands:
    """Return the cells that a formula names, and where in its text it does."""
    found: list[LocatedReference] = []
    if len(text) > MAX_FORMULA_CHARS:
        return LocatedOperands(found, is_clear=False)
    is_clear = True
    for token in _TOKEN.finditer(text):
        kind = token.lastindex
        if kind == _STRAY:
            is_clear = False
        name = _KINDS.get(kind or 0)
        if kind is None or name is None:
            continue
        operand = _operand(token, kind)
        if isinstance(operand, Reference):
            found.append(LocatedReference(token.start(kind), token.end(kind), operand, name))
    return LocatedOperands(found, is_clear)
