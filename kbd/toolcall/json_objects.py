"""JSON objects as models write them: strict parsing, then tolerant. Pure.

JSON proper is read at the speed of the standard library, in time linear to what is read. What is
nearly JSON is read once more, tolerantly (`lenient_object`): what can mean only one thing is taken
as that.

Tolerated beside JSON: strings in single quotes and line breaks in strings, `True`, `False` and
`None`, a comma before a closing bracket. Whatever could mean two things is refused, with where and
why.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

__all__ = [
    "MAX_NESTING",
    "AmbiguousJson",
    "NotObject",
    "lenient_object",
    "nesting_of",
    "parts_of_call",
    "read_object",
    "unique_pairs",
]

MAX_NESTING = 64
"""As deep as values may be nested; the same as for a client's messages."""

MAX_VALUES = 20_000
"""What has more has to be JSON proper: tolerant reading is fifty times slower."""

_BLANK = re.compile(r"[ \t\r\n]*+")
# Possessive throughout: of a string that does not end nothing is tried a second time. A group is so
# by `(?>…)`: `)*+` matches what it should not before Python 3.11.5 (CPython issue 106052).
_STRING = re.compile(r'"(?>(?:[^"\\]++|\\.)*)"' + r"|'(?>(?:[^'\\]++|\\.)*)'", re.DOTALL)
# Bounded, for Python takes quadratic time to make a number of many digits.
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


class AmbiguousJson(ValueError):
    """JSON that could mean two things, or nothing."""


def lenient_object(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Return the object that begins at a place of a text, and where it ends.

    Raises:
        NotObject: There is none.
    """
    reading = _TolerantReader(text, start)
    return reading.object(0), reading.at


def unique_pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of an object.

    Raises:
        AmbiguousJson: A name stands there twice: which value is meant would be a guess.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        msg = f'"{twice[:40]}" stands twice in one object'
        raise AmbiguousJson(msg)
    return made


class _TolerantReader:
    """Tolerant reader of one object."""

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
            return unique_pairs(pairs)
        except AmbiguousJson as fault:
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
        if self._values > MAX_VALUES:
            self._fail(f"more than {MAX_VALUES:,} values have to be JSON proper, and this is not")
        if depth > MAX_NESTING:
            self._fail(f"it is nested deeper than {MAX_NESTING}")
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


WINDOW_CHARACTERS = 64 * 1024
OUT_OF_RANGE = "a number in it is out of range"

ARGUMENT_KEYS = ("arguments", "parameters", "args")
"""Under which names models put the arguments that the protocol has beside the tool's name."""


def read_object(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Return the object that begins at a place of a text, and where it ends.

    Raises:
        NotObject: There is none; it says where and why.
    """
    if not text.startswith("{", start):
        raise NotObject(start, "a JSON object was expected")
    try:
        # JSONDecodeError and AmbiguousJson are ValueErrors, so that one is caught last.
        value, end = _strict(text, start)
    except json.JSONDecodeError:
        value, end = lenient_object(text, start)
    except RecursionError:
        raise NotObject(start, f"it is nested deeper than {MAX_NESTING}") from None
    except AmbiguousJson as fault:
        raise NotObject(start, str(fault)) from None
    except ValueError:  # Python's own limit of the digits of a number.
        raise NotObject(start, OUT_OF_RANGE) from None
    if nesting_of(value) > MAX_NESTING:
        raise NotObject(start, f"it is nested deeper than {MAX_NESTING}")
    return value, end


def parts_of_call(written: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments of a call, or None for an object that is none."""
    name = written.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    arguments = {key: value for key, value in written.items() if key != "name"}
    # Beside other fields, "arguments" is an argument that is called so.
    if len(arguments) == 1:
        key, below = next(iter(arguments.items()))
        if key in ARGUMENT_KEYS and isinstance(below, str):
            below = _object_in(below)
        if key in ARGUMENT_KEYS and isinstance(below, dict):
            arguments = below
    return name.strip(), arguments


def nesting_of(value: Any) -> int:
    """Return how deep a value of JSON is nested: 0 for one that holds none; counted to a bound."""
    # Level by level: what the library read may be nested deeper than Python recurses.
    level, depth = [value], 0
    while depth <= MAX_NESTING:
        holding = [each for each in level if each and isinstance(each, _HOLDING)]
        if not holding:
            break
        level = [
            inner
            for outer in holding
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        depth += 1
    return depth


def _strict(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Read JSON proper, in windows: an error of the library counts all lines before it.

    An error at the end of a window, or of a string without end, may be one of the window.
    """
    size = WINDOW_CHARACTERS
    while True:
        try:
            value, length = _STRICT.raw_decode(text[start : start + size])
            return value, start + length
        except json.JSONDecodeError as fault:
            # Near the end of the window a word or a number that it cuts looks wrong, too.
            is_inner = fault.pos < size - 16 and not fault.msg.startswith("Unterminated")
            if is_inner or start + size >= len(text):
                raise
        # By a factor, so that all windows together cost little more than the last one.
        size *= 8


def _object_in(text: str) -> Any:
    """Return the object that a text is as a whole, or None."""
    stripped = text.strip()
    try:
        value, end = read_object(stripped, 0)
    except NotObject:
        return None
    return value if end == len(stripped) else None


_HOLDING = (dict, list, tuple)


def _refused(constant: str) -> Any:
    msg = f"{constant} is no number"
    raise AmbiguousJson(msg)


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise AmbiguousJson(OUT_OF_RANGE)
    return number


_STRICT = json.JSONDecoder(
    strict=False,
    object_pairs_hook=unique_pairs,
    parse_constant=_refused,
    parse_float=_finite,
)
"""JSON with line breaks in strings, which mean what they are."""
