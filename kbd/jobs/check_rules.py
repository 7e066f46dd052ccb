"""Rules of checks: the questions that one asks, each a SELECT of one value, and what they must be.

Texts have places for the answers: `{0}` is the first one, `{have}` fits a verb to it. Names of
columns are put in with `named`.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, assert_never

import msgspec

__all__ = [
    "AgreeRule",
    "BalanceRule",
    "CheckRule",
    "NoneRule",
    "NoteRule",
    "Outcome",
    "RangeRule",
    "judged",
    "named",
]

Outcome = Literal["passed", "failed", "told"]
"""What came of a check: it held, it did not, or people must know something; both may go on."""

_ROUNDED = 1e-6
"""By how much a sum that was rounded may differ: to six places from a thousand on."""

_LOST = 1e-12
"""Of what was added up, without signs: as much a sum of binary fractions may lose by its order."""


class _Rule(msgspec.Struct, frozen=True):
    """Base of rules.

    Args:
        asked: The questions, each a SELECT of one value.
        reads: The tables that they read, as SQL names them.
    """

    asked: tuple[str, ...]
    reads: tuple[str, ...]


class BalanceRule(_Rule, frozen=True, tag=True):
    """The first answer is the sum of the others."""

    held: str
    broken: str


class AgreeRule(_Rule, frozen=True, tag=True):
    """The first two answers are the same sum.

    The third is the sum of the same without signs, the fourth how many rounded figures were added.
    """

    held: str
    broken: str
    tolerance: float = 0.0


class NoneRule(_Rule, frozen=True, tag=True):
    """The first answer is 0; the others are told with it."""

    held: str
    broken: str
    otherwise: Literal["failed", "told"] = "failed"


class NoteRule(_Rule, frozen=True, tag=True):
    """The first answer is told with the others, unless it is 0.

    `alike` is the column of which it is told that several spellings count as one.
    """

    text: str
    alike: str = ""


class RangeRule(_Rule, frozen=True, tag=True):
    """The first answer lies between two numbers, or is what the second one is."""

    held: str
    broken: str
    minimum: int = 0
    maximum: int | None = None


CheckRule = BalanceRule | AgreeRule | NoneRule | NoteRule | RangeRule


def named(name: str) -> str:
    """Return a name as the texts of rules have it."""
    return name.replace("{", "{{").replace("}", "}}")


def judged(rule: CheckRule, answers: Sequence[str | None]) -> tuple[Outcome, str] | None:
    """Return what answers to a rule's questions mean, in a sentence; None where nothing is told.

    Args:
        rule: The rule.
        answers: One to each question; numbers as text, None for no value.
    """
    match rule:
        case BalanceRule():
            first, *rest = map(_number, answers)
            is_right = first == sum(rest)
        case AgreeRule():
            one, other, sizes, count = map(_number, answers)
            allowed = rule.tolerance + _LOST * float(sizes) + _ROUNDED * float(count)
            is_right = abs(one - other) <= Decimal(allowed)
        case NoneRule():
            is_right = _number(answers[0]) == 0
        case NoteRule():
            if _number(answers[0]) == 0:
                return None
            return "told", _told(rule.text, answers)
        case RangeRule():
            found, *same = map(_number, answers)
            if same:
                is_right = found == same[0]
            else:
                is_right = rule.minimum <= found and (rule.maximum is None or found <= rule.maximum)
        case _:
            assert_never(rule)
    if is_right:
        return "passed", _told(rule.held, answers)
    outcome: Outcome = rule.otherwise if isinstance(rule, NoneRule) else "failed"
    return outcome, _told(rule.broken, answers)


def _number(answer: str | None) -> Decimal:
    """Return an answer as a number; a sum of nothing is 0."""
    return Decimal(0 if answer is None else answer)


def _told(text: str, answers: Sequence[str | None]) -> str:
    is_one = bool(answers) and answers[0] == "1"
    words = [_figure(answer) for answer in answers]
    return text.format(
        *words, have="has" if is_one else "have", are="is" if is_one else "are",
        their="its" if is_one else "their", stay="stays" if is_one else "all stay",
        s="" if is_one else "s",
    )  # fmt: skip


def _figure(answer: str | None) -> str:
    """Return an answer as people read it: a number with its thousands apart."""
    if answer is None:
        return "nothing"
    try:
        number = Decimal(answer)
    except ArithmeticError:
        return answer
    if not number.is_finite():
        return answer
    return f"{number:,f}" if number == number.to_integral() else f"{float(number):,.15g}"
