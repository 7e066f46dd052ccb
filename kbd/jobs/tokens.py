"""Tokens of expressions: words, names in quotes, texts, numbers and signs, with their places."""

import re
from typing import Literal

import msgspec

from kbd.errors import ValidationFailed

__all__ = ["MAX_CHARACTERS", "ExpressionToken", "expression_fault", "tokens_of"]

MAX_CHARACTERS = 4_000
"""Of an expression: as many as its field in a job takes."""

_MAX_DIGITS = 30
"""Of a number: more than any amount has, and few enough for every type of the database."""

_SHOWN_CHARACTERS = 40

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<text>'(?:[^']|'')*')
    |(?P<name>"(?:[^"]|"")*")
    |(?P<number>[0-9]+(?:\.[0-9]+)?(?![\w.])|\.[0-9]+(?![\w.]))
    |(?P<word>[^\W\d]\w*)
    |(?P<sign><=|>=|<>|!=|==|&&|\|\||[-+*/%=<>(),;!^&|\[\]{}:.])
    """,
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_INSTEAD = {"==": "=", "&&": "and", "!": "not", "^": "*", "|": "or", "&": "and", ";": "nothing"}


class ExpressionToken(msgspec.Struct, frozen=True):
    """A piece of an expression.

    Args:
        kind: What it is; `end` is behind the last one.
        text: Itself, without its quotes; a word in lower case.
        written: As it stands there.
        start, end: Its place in the text.
    """

    kind: Literal["text", "name", "number", "word", "sign", "end"]
    text: str
    written: str
    start: int
    end: int


def expression_fault(text: str, start: int, what: str) -> ValidationFailed:
    """Return the error of an expression: what is wrong, and where.

    Args:
        text: The expression; "" where only its terms are at hand.
        start: The place, counted from 0.
        what: What is wrong, and what helps.
    """
    shown = text[start : start + _SHOWN_CHARACTERS]
    before = f", at {shown!r}" if shown.strip() else ", at its end" if text else ""
    return ValidationFailed(f"character {start + 1} of the expression{before}: {what}")


def tokens_of(text: str) -> list[ExpressionToken]:
    """Return the tokens of an expression, with one of kind `end` behind them.

    Raises:
        ValidationFailed: It is too long or empty, or holds what no expression has.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValidationFailed(
            f"the expression has {len(text)} characters, more than {MAX_CHARACTERS}; derive columns"
            " of its parts first"
        )
    if control := _CONTROL.search(text):
        raise expression_fault(
            text, control.start(), f"{control[0]!r} is no character of expressions"
        )
    found: list[ExpressionToken] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise expression_fault(text, place, _unknown(text, place))
        place = match.end()
        if match.lastgroup != "space":
            found.append(_token(text, match))
    if not found:
        raise ValidationFailed("the expression is empty")
    return [*found, ExpressionToken("end", "", "the end", len(text), len(text))]


def _token(text: str, found: re.Match[str]) -> ExpressionToken:
    written, start, end = found[0], found.start(), found.end()
    match found.lastgroup:
        case "text":
            return ExpressionToken("text", written[1:-1].replace("''", "'"), written, start, end)
        case "name":
            name = written[1:-1].replace('""', '"')
            if not name:
                raise expression_fault(text, start, "a column's name stands between the quotes")
            return ExpressionToken("name", name, written, start, end)
        case "number":
            if sum(map(str.isdigit, written)) > _MAX_DIGITS:
                raise expression_fault(
                    text, start, f"a number has at most {_MAX_DIGITS} digits; a text has quotes"
                )
            return ExpressionToken("number", written, written, start, end)
        case "word":
            return ExpressionToken("word", written.lower(), written, start, end)
        case _:
            if written in _INSTEAD:
                raise expression_fault(
                    text, start, f"{written!r} is not known; write {_INSTEAD[written]} instead"
                )
            return ExpressionToken(
                "sign", "<>" if written == "!=" else written, written, start, end
            )


def _unknown(text: str, place: int) -> str:
    """Say what is wrong with a place where no token begins."""
    if text[place] == "'":
        return "the text has no second ' at its end; a ' within it is written twice"
    if text[place] == '"':
        return 'the name has no second " at its end; a " within it is written twice'
    if text[place].isdecimal():
        return "a number has figures and a point alone; a text or a date stands in quotes"
    return f"{text[place]!r} is no part of expressions; names of columns with it have double quotes"
