"""An object that is nearly JSON: what can mean only one thing is taken as that. Pure.

Beside JSON: strings in single quotes and line breaks in strings, `True`, `False` and `None`, a
comma before a closing bracket. Whatever could mean two things is refused, with where and why.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

__all__ = ["MOST_NESTING", "NotObject", "Refused", "lenient_object", "unique"]

MOST_NESTING = 64
"""As deep as values may be nested; the same as for a client's messages."""

MOST_VALUES = 20_000
"""What has more has to be JSON proper: tolerant reading is fifty times slower."""

_BLANK = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"' + r"|'(?:[^'\\]++|\\.)*+'", re.DOTALL)
_NUMBER = re.compile(
    r"-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,3})?(?![\w.])", re.ASCII
)
_WORD = re.compile(r"\w{1,20}", re.ASCII)
_QUOTED = re.compile(r'\\.|"', re.DOTALL)
_WORDS = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip


class NotObject(Exception):
    """There is no object where one was expected.

    Args:
        position: Where in the text it goes wrong.
        reason: What was expected there.
        is_cut: Whether it goes wrong only because the text ends.
    """

    def __init__(self, position: int, reason: str, *, is_cut: bool = False) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason
        self.is_cut = is_cut


class Refused(ValueError):
    """What is JSON, and could mean two things, or nothing."""


def lenient_object(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Return the object that begins at a place of a text, and where it ends.

    Raises:
        NotObject: There is none.
    """
    reading = _Reading(text, start)
    return reading.object(0), reading.at


def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of an object.

    Raises:
        Refused: A name stands there twice: which value is meant would be a guess.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        msg = f'"{twice[:40]}" stands twice in one object'
        raise Refused(msg)
    return made


class _Reading:
    """Reads one object."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.at = start
        self._values = 0

    def object(self, depth: int) -> dict[str, Any]:
        """Read an object; its bracket is next."""
        begins = self.at
        self.at += 1
        pairs: list[tuple[str, Any]] = []
        while self._peek() != "}":
            name = self._string("a name in double quotes or } was")
            if self._peek() != ":":
                self._fail("a colon was expected")
            self.at += 1
            pairs.append((name, self._value(depth + 1)))
            self._separate("}")
        self.at += 1
        try:
            return unique(pairs)
        except Refused as fault:
            raise NotObject(begins, str(fault)) from None

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        while self._peek() != "]":
            values.append(self._value(depth + 1))
            self._separate("]")
        self.at += 1
        return values

    def _value(self, depth: int) -> Any:
        self._values += 1
        if self._values > MOST_VALUES:
            self._fail(f"more than {MOST_VALUES:,} values have to be JSON proper, and this is not")
        if depth > MOST_NESTING:
            self._fail(f"it is nested deeper than {MOST_NESTING}")
        match self._peek():
            case "{":
                return self.object(depth)
            case "[":
                return self._list(depth)
            case '"' | "'":
                return self._string("a value was")
        if found := _NUMBER.match(self._text, self.at):
            self.at = found.end()
            return self._number(found[0])
        word = _WORD.match(self._text, self.at)
        if word is None or word[0] not in _WORDS:
            self._fail("a value was expected")
        self.at = word.end()
        return _WORDS[word[0]]

    def _number(self, written: str) -> int | float:
        number = int(written) if written.lstrip("-").isdigit() else float(written)
        if not math.isfinite(number):
            self._fail("a number in range was expected before this")
        return number

    def _string(self, wanted: str) -> str:
        quote = self._peek()
        if quote not in ("'", '"'):
            self._fail(f"{wanted} expected")
        found = _STRING.match(self._text, self.at)
        if found is None:
            raise NotObject(self.at, "the string that begins here does not end", is_cut=True)
        inner = _QUOTED.sub(_requoted, found[0][1:-1])
        try:
            value: str = json.loads(f'"{inner}"', strict=False)
        except json.JSONDecodeError as fault:
            reason = "a backslash in this string begins no escape of JSON; write \\\\ for one"
            raise NotObject(self.at + fault.pos, reason) from None
        self.at = found.end()
        return value

    def _separate(self, closing: str) -> None:
        """Go past a comma, which may also stand before the closing bracket."""
        following = self._peek()
        if following == ",":
            self.at += 1
        elif following != closing:
            self._fail(f"a comma or {closing} was expected")

    def _peek(self) -> str:
        """Return the next character that is no blank; "" at the end."""
        blank = _BLANK.match(self._text, self.at)
        if blank is not None:
            self.at = blank.end()
        return self._text[self.at : self.at + 1]

    def _fail(self, reason: str) -> NoReturn:
        raise NotObject(self.at, reason, is_cut=self.at >= len(self._text))


def _requoted(found: re.Match[str]) -> str:
    """Write a quotation mark or an escape of a string as JSON writes it."""
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])
