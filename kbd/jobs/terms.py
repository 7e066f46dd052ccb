"""Terms: what an expression is made of, as a tree, and its text.

    literal     'text', 12.5, date '2024-01-31', datetime '2024-01-31 10:30', true, false, null
    column      "Net amount", or bare where it is one word
    call        year(Date)
    operators   - not, * / %, + -, ||, = <> < <= > >=, in, between, is empty, and, or
    case        case when … then … else … end

Terms are records; only literals and columns know where they end, for who traces them.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, assert_never

import msgspec

__all__ = [
    "KEYWORDS",
    "BetweenTerm",
    "BinaryTerm",
    "CallTerm",
    "CaseTerm",
    "ColumnTerm",
    "EmptyTerm",
    "InTerm",
    "JunctionTerm",
    "LiteralTerm",
    "LiteralValue",
    "Term",
    "UnaryTerm",
    "children_of",
    "columns_of",
    "literals_of",
    "render",
]

KEYWORDS = frozenset((
    "and", "or", "not", "in", "between", "is", "null", "empty", "true", "false",
    "case", "when", "then", "else", "end",
))  # fmt: skip
"""Words that are no column unless quoted."""

LiteralValue = None | bool | int | Decimal | str | date | datetime
"""A value that is written out; a Decimal has the places that were written."""

Operator = Literal["=", "<>", "<", "<=", ">", ">=", "||", "+", "-", "*", "/", "%"]

_BARE = re.compile(r"[^\W\d]\w*")


class LiteralTerm(msgspec.Struct, frozen=True):
    """A value, and where it stands in the text: from `start`, before `end`."""

    value: LiteralValue
    start: int = 0
    end: int = 0


class ColumnTerm(msgspec.Struct, frozen=True):
    """A column by its name, as written."""

    name: str
    start: int = 0
    end: int = 0


class CallTerm(msgspec.Struct, frozen=True):
    """A function of arguments; its name in lower case."""

    function: str
    arguments: tuple["Term", ...]
    start: int = 0


class UnaryTerm(msgspec.Struct, frozen=True):
    """A negative, of a number or of a condition."""

    operator: Literal["-", "not"]
    operand: "Term"
    start: int = 0


class BinaryTerm(msgspec.Struct, frozen=True):
    """An operator between two terms; `start` is where the operator stands."""

    operator: Operator
    left: "Term"
    right: "Term"
    start: int = 0


class JunctionTerm(msgspec.Struct, frozen=True):
    """Two or more conditions that must all hold, or one of them."""

    operator: Literal["and", "or"]
    operands: tuple["Term", ...]
    start: int = 0


class InTerm(msgspec.Struct, frozen=True):
    """Whether a value is one of some."""

    operand: "Term"
    choices: tuple["Term", ...]
    negated: bool = False
    start: int = 0


class BetweenTerm(msgspec.Struct, frozen=True):
    """Whether a value lies between two, both included."""

    operand: "Term"
    low: "Term"
    high: "Term"
    negated: bool = False
    start: int = 0


class EmptyTerm(msgspec.Struct, frozen=True):
    """Whether a value is not there; with `blank` a text of blanks alone counts as none, too."""

    operand: "Term"
    blank: bool = True
    negated: bool = False
    start: int = 0


class CaseTerm(msgspec.Struct, frozen=True):
    """The value of the first condition that holds."""

    branches: tuple[tuple["Term", "Term"], ...]
    otherwise: "Term | None" = None
    start: int = 0


Term = (
    LiteralTerm | ColumnTerm | CallTerm | UnaryTerm | BinaryTerm | JunctionTerm | InTerm
    | BetweenTerm | EmptyTerm | CaseTerm
)  # fmt: skip


def children_of(term: Term) -> tuple[Term, ...]:
    """Return the terms that a term is made of, in the order of the text."""
    match term:
        case LiteralTerm() | ColumnTerm():
            return ()
        case CallTerm():
            return term.arguments
        case UnaryTerm() | EmptyTerm():
            return (term.operand,)
        case BinaryTerm():
            return (term.left, term.right)
        case JunctionTerm():
            return term.operands
        case InTerm():
            return (term.operand, *term.choices)
        case BetweenTerm():
            return (term.operand, term.low, term.high)
        case CaseTerm():
            parts = [part for branch in term.branches for part in branch]
            return (*parts, *(() if term.otherwise is None else (term.otherwise,)))
        case _:
            assert_never(term)


def _walk(term: Term) -> Iterator[Term]:
    """Yield a term and all that it is made of, in the order of the text."""
    stack = [term]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(children_of(part)))


def columns_of(term: Term) -> tuple[str, ...]:
    """Return the columns that a term names, as written, each once."""
    return tuple(dict.fromkeys(part.name for part in _walk(term) if isinstance(part, ColumnTerm)))


def literals_of(term: Term) -> tuple[LiteralTerm, ...]:
    """Return the values that are written out in a term, each with its place in the text."""
    return tuple(part for part in _walk(term) if isinstance(part, LiteralTerm))


_LEVELS = {
    "or": 1, "and": 2, "not": 3, "||": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7,
}  # fmt: skip
_COMPARISON = 4
_NEGATIVE = 8
_WHOLE = 9


def _level(term: Term) -> int:
    """Return how tightly a term holds together: the higher, the tighter."""
    match term:
        case UnaryTerm(operator="-"):
            return _NEGATIVE
        case UnaryTerm():
            return _LEVELS["not"]
        case JunctionTerm() | BinaryTerm():
            return _LEVELS.get(term.operator, _COMPARISON)
        case InTerm() | BetweenTerm() | EmptyTerm():
            return _COMPARISON
        case LiteralTerm() | ColumnTerm() | CallTerm() | CaseTerm():
            return _WHOLE
        case _:
            assert_never(term)


def render(term: Term) -> str:  # noqa: C901 - a case a term
    """Return a term as canonical text, which parses to the same term.

    Words are in lower case, columns bare where they are one word, brackets only where needed.
    """
    match term:
        case LiteralTerm():
            return _render_literal(term.value)
        case ColumnTerm():
            return _render_column(term.name)
        case CallTerm():
            return f"{term.function}({', '.join(map(render, term.arguments))})"
        case UnaryTerm(operator="-"):
            # Within brackets: a minus before a number would be that number's own.
            return f"-({render(term.operand)})"
        case UnaryTerm():
            return f"not {_within(term.operand, _LEVELS['not'])}"
        case BinaryTerm():
            level = _level(term)
            # Comparisons stand in no chain; of the others the left one is worked out first.
            left = _within(term.left, level + 1 if level == _COMPARISON else level)
            return f"{left} {term.operator} {_within(term.right, level + 1)}"
        case JunctionTerm():
            level = _level(term) + 1
            return f" {term.operator} ".join(_within(each, level) for each in term.operands)
        case InTerm():
            choices = ", ".join(map(render, term.choices))
            return f"{_side(term.operand)} {'not ' * term.negated}in ({choices})"
        case BetweenTerm():
            word = f"{'not ' * term.negated}between"
            return f"{_side(term.operand)} {word} {_side(term.low)} and {_side(term.high)}"
        case EmptyTerm():
            word = "empty" if term.blank else "null"
            return f"{_side(term.operand)} is {'not ' * term.negated}{word}"
        case CaseTerm():
            parts = [f"when {render(test)} then {render(value)}" for test, value in term.branches]
            if term.otherwise is not None:
                parts.append(f"else {render(term.otherwise)}")
            return f"case {' '.join(parts)} end"
        case _:
            assert_never(term)


def _side(term: Term) -> str:
    return _within(term, _COMPARISON + 1)


def _within(term: Term, level: int) -> str:
    """Render a term as a part of one that holds its parts together at a level."""
    text = render(term)
    return text if _level(term) >= level else f"({text})"


def _render_column(name: str) -> str:
    if _BARE.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _render_literal(value: LiteralValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            return f"{value:f}"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"datetime '{value.isoformat(' ')}'"
        case date():
            return f"date '{value.isoformat()}'"
        case _:
            assert_never(value)
