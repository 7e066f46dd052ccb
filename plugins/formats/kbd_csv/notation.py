"""Notation of a file's fields: how its numbers, dates and truths are written, for rows to go on so.

Each column is looked at as a whole while the rows pass by. What a value cannot be written in is
refused, not written in another way.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import ReadAs

__all__ = ["ColumnNotation", "NotationTaker"]

_NUMBER = re.compile(
    r"(?P<before>[^\d.,+\-−–()]*)(?P<sign>[-−–+]?)(?P<before2>[^\d.,+\-−–()]*)"
    r"(?P<core>\d[\d.,'’\s]*\d|\d)(?P<after>[^\d.,+\-−–()]*)"
)
_DATE = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})"
    r"(?P<gap>[T ])?(?P<time>\d{1,2}:\d{2}(?P<seconds>:\d{2})?)?"
)
_TRUTHS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("ja", "nein"), ("j", "n"), ("oui", "non"),
    ("si", "no"), ("sí", "no"), ("wahr", "falsch"), ("vrai", "faux"), ("1", "0"),
)  # fmt: skip
_MAX_ROWS = 100_000
"""So many rows show how a column is written."""
_MAX_KINDS = 200
"""Ways of writing that are counted in a column; one of more is none of numbers or dates."""


class _Number(msgspec.Struct, frozen=True):
    """How a number is written.

    Args:
        before: What stands before it.
        after: What stands behind it.
        marks: The marks in it, each once, in order.
        decimals: The digits behind the last mark.
        is_long: Whether it has more than three digits before the decimals, as far as can be told.
    """

    before: str
    after: str
    marks: str
    decimals: int
    is_long: bool


class _Day(msgspec.Struct, frozen=True):
    """How a date is written: its mark, the digits of its parts, what is between it and a time."""

    mark: str
    digits: tuple[int, int, int]
    gap: str
    has_time: bool
    has_seconds: bool


class ColumnNotation:
    """Ways in which the fields of one column are written.

    Attributes:
        example: Its first field that is filled.
    """

    def __init__(self) -> None:
        self.example = ""
        self._numbers: Counter[_Number] = Counter()
        self._days: Counter[_Day] = Counter()
        self._texts: Counter[str] = Counter()
        self._others = 0

    def see(self, field: str) -> None:
        """Take a field into account."""
        text = field.strip()
        if not text:
            return
        self.example = self.example or text
        if len(text) <= 5 and len(self._texts) < _MAX_KINDS:
            self._texts[text] += 1
        if found := _DATE.fullmatch(text):
            self._count(self._days, _day(found))
        elif found := _NUMBER.fullmatch(text):
            self._count(self._numbers, _number(found))
        else:
            self._others += 1

    def _count(self, kinds: Counter[Any], kind: Any) -> None:
        if len(kinds) < _MAX_KINDS or kind in kinds:
            kinds[kind] += 1

    @property
    def is_of_numbers(self) -> bool:
        """Whether its fields are numbers, but for some that are missing."""
        return sum(self._numbers.values()) > self._others and not self._days

    def number(self, value: float | str, read_as: ReadAs) -> str:
        """Return a number as the column has them; the text itself where it is none.

        Args:
            value: It, with a point before its decimals if it is text.
            read_as: How the file is read.
        """
        try:
            exact = Decimal(str(value))
        except InvalidOperation:
            return str(value)
        if not exact.is_finite():
            return ""
        decimal = self._decimal(read_as)
        if self.example and not self.is_of_numbers:
            return format(exact, "f").replace(".", decimal)
        percent = bool(self._numbers) and all("%" in kind.after for kind in self._numbers)
        plain = format(exact * 100 if percent else exact, "f")
        whole, _, fraction = plain.lstrip("-").partition(".")
        places, group = self._places(decimal), self._group(decimal)
        if percent or places:
            fraction = fraction.rstrip("0").ljust(places, "0")
        if len(fraction) == 3 and len(whole) <= 3 and not self._has_decimals(decimal, read_as):
            # Else it could be read as thousands.
            fraction += "0"
        if group:
            whole = f"{int(whole):,}".replace(",", group)
        written = f"{whole}{decimal}{fraction}" if fraction else whole
        before, after = self._around()
        sign = "-" if plain.startswith("-") else ""
        return f"{sign}{before}{written}{after}"

    def _decimal(self, read_as: ReadAs) -> str:
        """Return the decimal mark: that of the column where it shows, else that of the file."""
        for kind in self._numbers:
            if len(kind.marks) == 2 or (len(kind.marks) == 1 and kind.decimals != 3):
                mark = kind.marks[-1]
                if mark in ".,":
                    return mark
        return read_as.decimal or "."

    def _has_decimals(self, decimal: str, read_as: ReadAs) -> bool:
        """Tell whether the file shows its decimal mark."""
        return read_as.decimal is not None or any(decimal in each.marks for each in self._numbers)

    def _places(self, decimal: str) -> int:
        """Return how many decimals every field has, 0 where they differ."""
        found = {
            kind.decimals if kind.marks[-1:] == decimal else 0
            for kind in self._numbers
            if kind.marks or kind.decimals
        } or {0}
        has_whole = any(not kind.marks for kind in self._numbers)
        return found.pop() if len(found) == 1 and not has_whole else 0

    def _group(self, decimal: str) -> str:
        """Return the mark between thousands, "" where long numbers have none."""
        marks = {kind.marks[0] for kind in self._numbers if kind.marks and kind.marks[0] != decimal}
        long = [kind for kind in self._numbers if kind.is_long]
        if len(marks) != 1 or any(kind.marks in ("", decimal) for kind in long):
            return ""
        return marks.pop()

    def _around(self) -> tuple[str, str]:
        """Return what stands before and behind each number, nothing where they differ."""
        found = {(kind.before, kind.after) for kind in self._numbers}
        return found.pop() if len(found) == 1 else ("", "")

    def moment(self, value: str, name: str, read_as: ReadAs) -> str:
        """Return a date or time, given as ISO text, as the column has them.

        Raises:
            ValidationFailed: They are written in words, or in several ways.
        """
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return value
        if parsed.tzinfo is not None:
            return value
        if not self._days:
            if self._others and self.example:
                raise ValidationFailed(
                    f'the dates of column {name} are written as "{self.example}", which rows '
                    "cannot be added in: make them texts of that form in the query (strftime)"
                )
            return value
        (day, count), *others = self._days.most_common()
        if others and count * 2 < sum(self._days.values()):
            raise ValidationFailed(f"the dates of column {name} are written in several ways")
        return _dated(parsed, day, read_as)

    def truth(self, *, value: bool) -> str:
        """Return true or false in the words of the column."""
        words = set(self._texts)
        for yes, no in _TRUTHS:
            if words and {word.casefold() for word in words} <= {yes, no}:
                word = yes if value else no
                shown = next(iter(words))
                if shown.isupper():
                    return word.upper()
                return word.capitalize() if shown[:1].isupper() else word
        return "true" if value else "false"


def _number(found: re.Match[str]) -> _Number:
    core = re.sub(r"\s", " ", found["core"])
    marks = "".join(dict.fromkeys(re.findall(r"[.,'’ ]", core)))
    last = re.split(r"[.,'’ ]", core)[-1] if marks else ""
    digits = len(re.sub(r"\D", "", core))
    has_decimals = bool(marks) and (len(last) != 3 or len(marks) > 1)
    before = f"{found['before']}{found['before2']}"
    whole = digits - (len(last) if has_decimals else 0)
    return _Number(before, found["after"], marks, len(last), whole > 3)


def _day(found: re.Match[str]) -> _Day:
    digits = (len(found["a"]), len(found["b"]), len(found["c"]))
    has_time = found["time"] is not None
    return _Day(found["mark"], digits, found["gap"] or " ", has_time, bool(found["seconds"]))


def _dated(value: datetime, day: _Day, read_as: ReadAs) -> str:
    first = day.digits[0]
    order = "ymd" if first == 4 else read_as.date_order or ("dmy" if day.mark == "." else "ymd")
    parts = {"y": value.year, "m": value.month, "d": value.day}
    written = []
    for letter, digits in zip(order, day.digits, strict=True):
        if letter == "y" and digits == 2:
            written.append(f"{value.year % 100:02d}")
        elif letter == "y":
            written.append(f"{value.year:04d}")
        else:
            # One digit somewhere: no zero before it anywhere.
            written.append(str(parts[letter]) if digits == 1 else f"{parts[letter]:02d}")
    text = day.mark.join(written)
    if not day.has_time and value.time() == datetime.min.time():
        return text
    seconds = ":%S" if day.has_seconds or value.second or not day.has_time else ""
    return f"{text}{day.gap}{value.strftime(f'%H:%M{seconds}')}"


class NotationTaker:
    """Taker of a table's rows that learns how each column is written, and keeps the last row.

    Attributes:
        last: The fields of the last row.
        columns: What is known of each column.
    """

    def __init__(self) -> None:
        self.last: tuple[str, ...] = ()
        self.columns: list[ColumnNotation] = []
        self._rows = 0

    def write(self, row: Sequence[str]) -> None:
        """Take a row."""
        self.last = tuple(row)
        self._rows += 1
        if self._rows > _MAX_ROWS:
            return
        while len(self.columns) < len(row):
            self.columns.append(ColumnNotation())
        for column, field in zip(self.columns, row, strict=False):
            column.see(field)
