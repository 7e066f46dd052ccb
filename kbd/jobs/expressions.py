"""Expressions: values and conditions over the columns of a row, written much as in SQL.

    "Net amount" * 1.19
    year(Date) = 2024 and not same(Status, 'cancelled')
    case when Amount >= 1000 then 'large' when Amount is empty then null else 'small' end

A word is a column unless a bracket follows it; other names stand in double quotes, texts in single
ones. Comparisons are those of SQL: with an empty value they are neither true nor false.

Text from a model may be anything: length, nesting and the number of digits are bounded, and the
parser is a loop over tokens with one call a level (V. Pratt, "Top Down Operator Precedence", 1973).
"""

import difflib
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, get_args

from kbd.errors import ValidationFailed
from kbd.jobs.functions import FUNCTIONS
from kbd.jobs.terms import (
    KEYWORDS,
    BetweenTerm,
    BinaryTerm,
    CallTerm,
    CaseTerm,
    ColumnTerm,
    EmptyTerm,
    InTerm,
    JunctionTerm,
    LiteralTerm,
    Operator,
    Term,
    UnaryTerm,
    children_of,
)
from kbd.jobs.tokens import ExpressionToken, expression_fault, tokens_of

__all__ = ["MAX_DEPTH", "parse_expression"]

MAX_DEPTH = 50
"""Levels of brackets and operators; what people write has five."""

_OR, _AND, _NOT, _COMPARING, _JOINING, _ADDING, _TIMES, _SIGN = range(1, 9)

_LEVELS: dict[str, int] = {
    "or": _OR, "and": _AND,
    "=": _COMPARING, "<>": _COMPARING, "<": _COMPARING, "<=": _COMPARING, ">": _COMPARING,
    ">=": _COMPARING, "in": _COMPARING, "between": _COMPARING, "is": _COMPARING, "not": _COMPARING,
    "||": _JOINING, "+": _ADDING, "-": _ADDING, "*": _TIMES, "/": _TIMES, "%": _TIMES,
}  # fmt: skip
"""How tightly operators between two terms bind."""

_OPERATORS: dict[str, Operator] = {str(each): each for each in get_args(Operator)}

_ELSEWHERE = {
    "like": "use contains(text, part), starts_with or ends_with, with fold(text) where capitals do"
    " not matter",
    "ilike": "use contains(fold(text), 'part')",
    "cast": "use number(text), text(value) or date_of(value)",
    "select": "an expression is of one row; other tables are joined in a step",
    "extract": "use year(date), month(date), day(date)",
    "nullif": "use if(a = b, null, a)",
    "ifnull": "use coalesce(value, other)",
    "isnull": "use value is empty",
    "len": "use length(text)",
    "strftime": "use month_of(date), quarter_of(date), year(date)",
    "mod": "use a % b",
    "now": "use today()",
}
"""Words of SQL and of spreadsheets that are not there, and what is."""

_AGGREGATES = ("sum", "avg", "average", "count", "min", "max", "median", "countif", "sumif")


def parse_expression(text: str) -> Term:
    """Return an expression as a term.

    Raises:
        ValidationFailed: It is none; the message has the place, what was expected and what is near.
    """
    parser = _Parser(text)
    term = parser.whole()
    # Chains of operators nest without a bracket.
    level, depth = [term], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _too_deep(text, level[0])
        level = [child for parent in level for child in children_of(parent)]
    return term


def _too_deep(text: str, at: Term | ExpressionToken) -> ValidationFailed:
    return expression_fault(
        text, at.start, f"it is nested more than {MAX_DEPTH} levels deep; derive columns of parts"
    )


class _Parser:
    """Parser of one expression.

    Args:
        text: The expression.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._place = 0
        self._depth = 0

    def whole(self) -> Term:
        """Return the term of all tokens."""
        term = self._term(0)
        if self._now.kind != "end":
            raise self._fault(self._unexpected("an operator or the end"))
        return term

    @property
    def _now(self) -> ExpressionToken:
        return self._tokens[self._place]

    def _take(self) -> ExpressionToken:
        token = self._now
        if token.kind != "end":
            self._place += 1
        return token

    def _is(self, *written: str) -> bool:
        return self._now.kind in ("word", "sign") and self._now.text in written

    def _took(self, written: str) -> bool:
        """Take a word or a sign if it stands here."""
        if self._is(written):
            self._place += 1
            return True
        return False

    def _need(self, written: str) -> ExpressionToken:
        if not self._is(written):
            raise self._fault(self._unexpected(repr(written)))
        return self._take()

    def _fault(self, what: str, at: ExpressionToken | None = None) -> ValidationFailed:
        return expression_fault(self._text, (at or self._now).start, what)

    def _unexpected(self, expected: str) -> str:
        found, before = self._now, self._tokens[self._place - 1]
        if found.kind == "word" and found.text in _ELSEWHERE:
            return f"{found.written} is not known; {_ELSEWHERE[found.text]}"
        said = f"expected {expected}, found {found.written[:40]}"
        if found.text == "," and before.kind == "number":
            return f"{said}; the decimal mark of expressions is a point"
        if found.kind in ("word", "name") and self._place and before.kind == "word":
            return f'{said}; a name of several words has double quotes: "{before.written} …"'
        return said

    def _term(self, level: int) -> Term:
        """Return the term that stands here, with the operators that bind tighter than a level."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _too_deep(self._text, self._now)
        left = self._first()
        while (binding := self._binding()) > level:
            left = self._rest(left, binding)
            if binding == _COMPARING and self._binding() == _COMPARING:
                raise self._fault("a comparison has two sides; join two of them with and")
        self._depth -= 1
        return left

    def _binding(self) -> int:
        """Return how tightly the operator binds that stands here; 0 where there is none."""
        if self._now.kind not in ("word", "sign"):
            return 0
        if self._is("not"):
            behind = self._tokens[self._place + 1]
            is_test = behind.kind == "word" and behind.text in ("in", "between")
            return _COMPARING if is_test else 0
        return _LEVELS.get(self._now.text, 0)

    def _first(self) -> Term:
        """Return the term that begins here, without operators behind it."""
        token = self._take()
        match token.kind:
            case "text":
                return LiteralTerm(token.text, token.start, token.end)
            case "number":
                return LiteralTerm(_number(token.text), token.start, token.end)
            case "name":
                return ColumnTerm(token.text, token.start, token.end)
            case "sign" if token.text == "(":
                inner = self._term(0)
                self._need(")")
                return inner
            case "sign" if token.text == "-":
                return self._negative(token)
            case "word":
                return self._word(token)
            case _:
                self._place -= token.kind != "end"
                raise self._fault(self._unexpected("a value"))

    def _negative(self, sign: ExpressionToken) -> Term:
        if self._now.kind == "number":
            token = self._take()
            return LiteralTerm(-_number(token.text), sign.start, token.end)
        return UnaryTerm("-", self._term(_SIGN), sign.start)

    def _word(self, token: ExpressionToken) -> Term:
        match token.text:
            case "null":
                return LiteralTerm(None, token.start, token.end)
            case "true" | "false":
                return LiteralTerm(token.text == "true", token.start, token.end)
            case "not":
                return UnaryTerm("not", self._term(_NOT), token.start)
            case "case":
                return self._case(token)
            case "date" | "datetime" if self._now.kind == "text":
                return self._moment(token.text, token.start)
            case word if word in KEYWORDS:
                self._place -= 1
                raise self._fault(
                    f"expected a value, found {token.written}; a column of that name has double"
                    " quotes"
                )
        if self._is("("):
            return self._call(token)
        return ColumnTerm(token.written, token.start, token.end)

    def _moment(self, kind: Literal["date", "datetime"], start: int) -> Term:
        token = self._take()
        form = "2024-01-31" if kind == "date" else "2024-01-31 10:30"
        try:
            value = (
                date.fromisoformat(token.text)
                if kind == "date"
                else datetime.fromisoformat(token.text)
            )
        except ValueError:
            value = None
        if value is None or (isinstance(value, datetime) and value.tzinfo is not None):
            raise self._fault(f"{token.written[:40]} is no {kind} such as {kind} '{form}'", token)
        return LiteralTerm(value, start, token.end)

    def _case(self, token: ExpressionToken) -> Term:
        branches: list[tuple[Term, Term]] = []
        if not self._is("when"):
            raise self._fault(self._unexpected("when"))
        while self._took("when"):
            test = self._term(0)
            self._need("then")
            branches.append((test, self._term(0)))
        otherwise = self._term(0) if self._took("else") else None
        self._need("end")
        return CaseTerm(tuple(branches), otherwise, token.start)

    def _call(self, token: ExpressionToken) -> Term:
        spec = FUNCTIONS.get(token.text)
        if spec is None:
            raise self._fault(_unknown_function(token.text), token)
        self._need("(")
        arguments = () if self._is(")") else self._list()
        self._need(")")
        count = len(arguments)
        if count < spec.least or (spec.most is not None and count > spec.most):
            raise self._fault(f"it is written {spec.signature}, not with {count} values", token)
        return CallTerm(token.text, arguments, token.start)

    def _list(self) -> tuple[Term, ...]:
        found = [self._term(0)]
        while self._took(","):
            found.append(self._term(0))
        return tuple(found)

    def _rest(self, left: Term, binding: int) -> Term:
        """Return the term that an operator makes of the one before it and what follows."""
        token = self._take()
        match token.text:
            case "and" | "or" as written:
                right = self._term(binding)
                word: Literal["and", "or"] = "and" if written == "and" else "or"
                # A long list of conditions is one level, not one each.
                if isinstance(left, JunctionTerm) and left.operator == word:
                    return JunctionTerm(word, (*left.operands, right), left.start)
                return JunctionTerm(word, (left, right), token.start)
            case "is":
                negated = self._took("not")
                if not self._is("null", "empty"):
                    raise self._fault(self._unexpected("empty or null"))
                return EmptyTerm(left, self._take().text == "empty", negated, token.start)
            case "not":
                test = self._take().text
                return self._test(left, test, token, negated=True)
            case "in" | "between":
                return self._test(left, token.text, token, negated=False)
            case written:
                return BinaryTerm(_OPERATORS[written], left, self._term(binding), token.start)

    def _test(self, left: Term, word: str, token: ExpressionToken, *, negated: bool) -> Term:
        if word == "in":
            self._need("(")
            choices = self._list()
            self._need(")")
            return InTerm(left, choices, negated, token.start)
        low = self._term(_COMPARING)
        self._need("and")
        return BetweenTerm(left, low, self._term(_COMPARING), negated, token.start)


def _number(written: str) -> int | Decimal:
    return Decimal(written) if "." in written else int(written)


def _unknown_function(name: str) -> str:
    if name in _ELSEWHERE:
        return f"{name} is not known; {_ELSEWHERE[name]}"
    if name in _AGGREGATES:
        return (
            f"{name} is of several rows, and an expression of one; group and pivot steps have such"
            " figures"
        )
    if near := difflib.get_close_matches(name[:40], FUNCTIONS, 1):
        return f"there is no function {name[:40]}; did you mean {FUNCTIONS[near[0]].signature}?"
    return f"there is no function {name[:40]}; there are: {', '.join(FUNCTIONS)}"
