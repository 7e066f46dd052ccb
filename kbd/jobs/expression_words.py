"""Expressions in plain words: conditions as sentences, values as people call them.

What has no plain words is told as it is written, so that nothing is left unsaid. A condition that
empty fields do not meet says so where that is easily missed: "is neither empty nor cancelled".
"""

from collections.abc import Sequence
from datetime import date
from typing import assert_never

import msgspec

from kbd.jobs.expressions import parse_expression
from kbd.jobs.terms import (
    BetweenTerm,
    BinaryTerm,
    CallTerm,
    CaseTerm,
    ColumnTerm,
    EmptyTerm,
    InTerm,
    JunctionTerm,
    LiteralTerm,
    LiteralValue,
    Term,
    UnaryTerm,
    render,
)

__all__ = ["condition_words", "listed", "value_words"]

_COMPARED = {
    "<": "is less than", "<=": "is at most", ">": "is more than", ">=": "is at least",
}  # fmt: skip
_COMPARED_DATES = {
    "<": "is before", "<=": "is on or before", ">": "is after", ">=": "is on or after",
}  # fmt: skip
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
_SIGNS = {"*": "×", "/": "÷", "+": "+", "-": "-"}

_VALUES = {
    "year": "the year of {0}",
    "quarter": "the quarter of {0}",
    "month": "the month of {0} as a number",
    "week": "the week of {0} as a number",
    "day": "the day of the month of {0}",
    "weekday": "the day of the week of {0} as a number",
    "hour": "the hour of {0}",
    "month_of": "the month of {0}",
    "quarter_of": "the quarter of {0} with its year",
    "week_of": "the week of {0} with its year",
    "month_name": "the name of the month of {0}",
    "weekday_name": "the day of the week of {0}",
    "fiscal_year": "the fiscal year of {0} that begins in month {1}",
    "start_of_month": "the first day of the month of {0}",
    "end_of_month": "the last day of the month of {0}",
    "days_between": "the days from {0} to {1}",
    "months_between": "the whole months from {0} to {1}",
    "years_between": "the whole years from {0} to {1}",
    "today": "the day of the run",
    "length": "the length of {0}",
    "lower": "{0} in small letters",
    "upper": "{0} in capitals",
    "trim": "{0} without blanks around it",
    "fold": "{0} in any capitals",
    "abs": "{0} without its sign",
}
"""Functions of simple values in words."""

_TESTS = {"contains": "contains", "starts_with": "begins with", "ends_with": "ends with"}
_NEGATED = {
    "contains": "is filled and does not contain",
    "starts_with": "is filled and does not begin with",
    "ends_with": "is filled and does not end with",
}  # fmt: skip


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as a list in a sentence."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def value_words(expression: str | Term) -> str:
    """Return what a value is in words, or as it is written where that is shorter than any words.

    Raises:
        ValidationFailed: A text that is no expression.
    """
    term = parse_expression(expression) if isinstance(expression, str) else expression
    return _simple(term) or render(term)


def condition_words(expression: str | Term) -> str:
    """Return a condition in words.

    Raises:
        ValidationFailed: A text that is no expression.
    """
    term = parse_expression(expression) if isinstance(expression, str) else expression
    match term:
        case JunctionTerm():
            parts = [
                f"({condition_words(part)})"
                if isinstance(part, JunctionTerm)
                else condition_words(part)
                for part in term.operands
            ]
            if term.operator == "or" and isinstance(term.operands[0], EmptyTerm):
                # A row without a value is "not North" to most people, and then it is written so.
                one = value_words(term.operands[0].operand)
                if len(parts) == 2 and parts[0] == f"{one} is empty":
                    parts[1] = parts[1].removeprefix(f"{one} is neither empty nor ")
                    is_short = parts[1] != condition_words(term.operands[1])
                    return f"{one} is empty or {'not ' * is_short}{parts[1]}"
            return f" {term.operator} ".join(parts)
        case UnaryTerm(operator="not"):
            return _negated(term.operand)
        case BinaryTerm(operator="=" | "<>" | "<" | "<=" | ">" | ">="):
            return _comparison(term)
        case InTerm():
            words = "is neither empty nor one of" if term.negated else "is one of"
            return f"{value_words(term.operand)} {words} {_choices(term)}"
        case BetweenTerm():
            words = "is neither empty nor between" if term.negated else "is between"
            low, high = value_words(term.low), value_words(term.high)
            return f"{value_words(term.operand)} {words} {low} and {high}, both included"
        case EmptyTerm():
            return f"{value_words(term.operand)} is {'filled' if term.negated else 'empty'}"
        case CallTerm():
            return _call(term, _TESTS, "is")
        case ColumnTerm():
            return f"{term.name} is true"
        case LiteralTerm() | UnaryTerm() | BinaryTerm() | CaseTerm():
            return render(term)
        case _:
            assert_never(term)


def _negated(term: Term) -> str:
    match term:
        case InTerm() | BetweenTerm() | EmptyTerm():
            return condition_words(msgspec.structs.replace(term, negated=not term.negated))
        case BinaryTerm() if term.operator in _OPPOSITE:
            return _comparison(msgspec.structs.replace(term, operator=_OPPOSITE[term.operator]))
        case CallTerm():
            return _call(term, _NEGATED, "is neither empty nor")
        case ColumnTerm():
            return f"{term.name} is false"
        case _:
            return f"it is not so that ({condition_words(term)})"


def _choices(term: InTerm) -> str:
    exactly = "exactly " if _has_text(term.choices) else ""
    return exactly + listed([value_words(choice) for choice in term.choices], "or")


def _has_text(terms: Sequence[Term]) -> bool:
    """Tell whether a text is written out that is no date: in whose comparison capitals count."""
    return any(
        isinstance(term, LiteralTerm) and isinstance(term.value, str) and not _is_day(term.value)
        for term in terms
    )


def _is_day(value: LiteralValue) -> bool:
    if isinstance(value, date):
        return True
    if not isinstance(value, str):
        return False
    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return True


def _comparison(term: BinaryTerm) -> str:
    left, right, operator = term.left, term.right, str(term.operator)
    if isinstance(left, LiteralTerm):
        left, right, operator = right, left, _TURNED[operator]
    one, other = value_words(left), value_words(right)
    exactly = "exactly " if _has_text((right,)) else ""
    if isinstance(right, ColumnTerm) and operator in ("=", "<>"):
        exactly = "the same as "
    match operator:
        case "=":
            return f"{one} is {exactly}{other}"
        case "<>":
            return f"{one} is neither empty nor {exactly}{other}"
        case _:
            is_day = isinstance(right, LiteralTerm) and _is_day(right.value)
            words = _COMPARED_DATES if is_day else _COMPARED
            return f"{one} {words[operator]} {other}"


def _call(term: CallTerm, tests: dict[str, str], is_same: str) -> str:
    if term.function == "same":
        one, other = term.arguments
        words = "the same in any capitals as " if not isinstance(other, LiteralTerm) else ""
        return f"{value_words(one)} {is_same} {words}{value_words(other)}"
    if term.function not in tests:
        return f"{render(term)} is {'true' if is_same == 'is' else 'false'}"
    text, part = term.arguments
    words, rest = tests[term.function], value_words(part)
    match text:
        case CallTerm(function="fold", arguments=(inner,)):
            return f"{value_words(inner)} {words} {rest}"
        case _:
            return f"{value_words(text)} {words} exactly {rest}"


def _simple(term: Term) -> str | None:
    """Return a value in words, or None where it has none."""
    match term:
        case LiteralTerm():
            return _literal(term.value)
        case ColumnTerm():
            return term.name
        case CallTerm() if term.function in _VALUES:
            parts = [_simple(each) for each in term.arguments]
            words = [part for part in parts if part is not None]
            return _VALUES[term.function].format(*words) if len(words) == len(parts) else None
        case BinaryTerm() if term.operator in _SIGNS:
            left, right = _operand(term.left), _operand(term.right)
            return f"{left} {_SIGNS[term.operator]} {right}" if left and right else None
        case _:
            return None


def _operand(term: Term) -> str | None:
    """Return a side of a calculation in words: a column or a number alone."""
    is_alone = isinstance(term, ColumnTerm | LiteralTerm)
    return _simple(term) if is_alone else None


def _literal(value: LiteralValue) -> str:
    if isinstance(value, str):
        # A word stands for itself, anything else shows where it begins and ends.
        return value if value.isalnum() or _is_day(value) else f"“{value}”"
    return render(LiteralTerm(value)).removeprefix("date ").removeprefix("datetime ").strip("'")
