"""Terminals of the grammar: columns, values, numbers, names and days in a request. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from kbd_offline.day_ranges import is_day_before_month
from kbd_offline.facts import KnownColumn
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import COMPOUND, PART, STEM, SYNONYM, ValueMention
from kbd_offline.patterns import Terminal
from kbd_offline.periods import Period, count_at, period_at
from kbd_offline.scan import RequestScan, SeveralError, UnclearError

__all__ = ["TERMINALS", "UNITS", "NamedColumn", "Number", "Valued"]

_MAX_NAME = 6
"""Words of a new name that does not stand in quotes."""

_UNITS_TEXT = "eur euro euros usd dollar dollars chf gbp pound pounds € $ £ ¥ franken yen kr"
UNITS = frozenset(_UNITS_TEXT.split())

# With either decimal mark, the other one between thousands.
_MARKED = {
    ".": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?"),
    ",": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?"),
}

_OTHER = {".": ",", ",": "."}


class NamedColumn(msgspec.Struct, frozen=True):
    """A column that is named, where, and how near to its name."""

    column: KnownColumn
    start: int
    end: int
    level: int = 0


Valued = ValueMention
"""A value that is named: the columns that have it, each with its spellings."""


class Number(msgspec.Struct, frozen=True):
    """A number, which is read by the marks of the column that it is compared with.

    Args:
        place, end: Where it stands.
        is_percent: Whether it is one of hundred.
        value: It, where it is a word.
    """

    place: int
    end: int
    is_percent: bool = False
    value: str = ""

    def of(self, scan: RequestScan, column: KnownColumn | None) -> str:
        """Return it as expressions have it.

        Raises:
            UnclearError: It has two readings, or none.
        """
        if self.value:
            return self.value
        at = self.place + (scan.word(self.place) in UNITS)
        sign = scan.word(at) if scan.is_sign(at, "-+") else ""
        at += bool(sign)
        if not sign and is_day_before_month(scan.tokens, at):
            raise UnclearError(f'"{scan.text(self.place, self.end)}" is no number that I read')
        value = _value_of(scan, at, column)
        if self.is_percent and column and column.maximum and abs(float(column.maximum)) <= 1:
            value = f"{float(value) / 100:.12g}"
        return f"-{value}" if sign == "-" else value


def _value_of(scan: RequestScan, place: int, column: KnownColumn | None) -> str:
    """Return a number as an expression has it.

    Where both marks give a number and nothing says which is meant, that is a question: "1.500" is
    one and a half or fifteen hundred.
    """
    text = scan.tokens[place].text
    if text.endswith(("k", "K")):
        return f"{float(text[:-1].replace(',', '.')) * 1000:.12g}"
    mark = "" if column is None else column.decimal
    name = "it" if column is None else f'"{column.name}"'
    found = {
        one: text.replace(_OTHER[one], "").replace(one, ".")
        for one, pattern in _MARKED.items()
        if pattern.fullmatch(text)
    }
    if len(set(found.values())) > 1:
        # A point before three digits is a decimal one only where the file has such.
        if mark == "," or ("," not in text and mark != "."):
            either = [_shortest(value) for value in found.values()]
            raise SeveralError(
                f"{name} is compared with {text}: say {' or '.join(either)}",
                [scan.rewritten(place, place + 1, value) for value in either],
            )
        return found["."]
    if found and ("." in found or "." in text or mark == ","):
        return next(iter(found.values()))
    raise UnclearError(f"{name} is compared with {text}, which may be one number or two")


def _shortest(value: str) -> str:
    return value.rstrip("0").rstrip(".") if "." in value else value


_Fits = Callable[[KnownColumn, int], bool]


def _column(*fits: _Fits, is_key: bool = False, most: int = SYNONYM) -> Terminal:
    """Return the terminal of columns that fit: by the first test that any of them passes."""

    def read(scan: RequestScan, place: int) -> Iterator[tuple[int, NamedColumn | UnclearError]]:
        mention = scan.column(place)
        if mention is None or mention.level > most:
            return
        for test in fits:
            found = tuple(one for one in mention.columns if test(one, mention.level))
            if found:
                break
        else:
            return
        try:
            only = scan.only(msgspec.structs.replace(mention, columns=found), is_key=is_key)
            yield mention.end, NamedColumn(only, mention.start, mention.end, mention.level)
        except SeveralError as several:
            yield mention.end, several

    return read


def _number(column: KnownColumn, level: int) -> bool:
    return column.is_number and (column.role not in ("id", "year", "period") or level < PART)


def _adds_up(column: KnownColumn, _: int) -> bool:
    return column.adds_up


def _key(column: KnownColumn, level: int) -> bool:
    return not column.adds_up or level <= PART


def _text(column: KnownColumn, _: int) -> bool:
    return (not column.is_number or column.role == "id") and not column.is_moment


def _value(scan: RequestScan, place: int) -> Iterator[tuple[int, Valued]]:
    found = scan.value(place)
    if found is not None:
        yield found.end, found


def _number_at(scan: RequestScan, place: int) -> Iterator[tuple[int, Number]]:
    at = place + (scan.word(place) in UNITS)
    at += scan.is_sign(at, "-+")
    if scan.kind(at) == "word" and scan.word(at) in LEXICON.numerals:
        yield at + 1, Number(place, at + 1, value=str(LEXICON.numerals[scan.word(at)]))
    if scan.kind(at) != "number":
        return
    end = at + 1
    is_percent = scan.is_sign(end, "%")
    end += is_percent
    yield end + (scan.word(end) in UNITS), Number(place, end, is_percent)


def _count(scan: RequestScan, place: int) -> Iterator[tuple[int, int]]:
    count = count_at(scan, place)
    if count is not None:
        yield place + 1, count


def _noun(scan: RequestScan, place: int) -> Iterator[tuple[int, int]]:
    if scan.is_noun(place):
        yield max(scan.at(place, "row_noun"), place + 1), place


def _period(scan: RequestScan, place: int) -> Iterator[tuple[int, Period | UnclearError]]:
    try:
        found = period_at(scan, place)
    except UnclearError as unclear:
        yield place + 1, unclear
        return
    if found is not None:
        yield found.end_token, found


def _day_verb(scan: RequestScan, place: int) -> Iterator[tuple[int, NamedColumn]]:
    column = scan.dated_by(place)
    if column is not None:
        yield place + 1, NamedColumn(column, place, place + 1)


def _quoted(scan: RequestScan, place: int) -> Iterator[tuple[int, str]]:
    if scan.kind(place) == "quoted":
        yield place + 1, scan.tokens[place].text


def _name(scan: RequestScan, place: int) -> Iterator[tuple[int, str]]:
    """Yield names of new columns: in quotes, or some words."""
    yield from _quoted(scan, place)
    end = place
    while end < len(scan) and end - place < _MAX_NAME and scan.kind(end) in ("word", "number"):
        if end > place and scan.at(end, "and", "sort", "where", "renamed"):
            return
        end += 1
        yield end, scan.text(place, end)


def _raw(scan: RequestScan, place: int) -> Iterator[tuple[int, str]]:
    """Yield the text in quotes, or from a place on to the end of its clause."""
    if scan.kind(place) in ("quoted", "file"):
        yield place + 1, scan.tokens[place].text
        return
    end = place
    while end < len(scan) and not scan.is_sign(end, ",;.?!") and not (
        end > place and scan.at(end, "and", "or", "sort", "by", "into_name")
    ):  # fmt: skip
        end += 1
    if end > place:
        yield end, scan.text(place, end)


def _word(scan: RequestScan, place: int) -> Iterator[tuple[int, str]]:
    if scan.kind(place) == "word":
        yield place + 1, scan.word(place)


def _end(scan: RequestScan, place: int) -> Iterator[tuple[int, bool]]:
    at = place
    while scan.is_sign(at, ".?!"):
        at += 1
    if at == len(scan):
        yield place, True


TERMINALS: Mapping[str, Terminal] = {
    "AMOUNT": _column(_adds_up, _number),
    "NUMERIC": _column(_number, most=COMPOUND),
    "ANYNUMBER": _column(_number),
    "KEY": _column(_text, _key, is_key=True),
    "DAYS": _column(lambda one, _: one.is_moment, most=COMPOUND),
    "TEXTS": _column(lambda one, _: one.is_text, most=COMPOUND),
    "THING": _column(_text, is_key=True),
    "COLUMN": _column(lambda *_: True, is_key=True),
    "NEAR": _column(lambda *_: True, most=PART),
    "EXACT": _column(lambda *_: True, most=STEM),
    "YESNO": _column(lambda one, _: one.yes is not None, most=STEM),
    "VALUE": _value,
    "NUMBER": _number_at,
    "COUNT": _count,
    "NOUN": _noun,
    "PERIOD": _period,
    "DAYVERB": _day_verb,
    "QUOTED": _quoted,
    "NAME": _name,
    "RAW": _raw,
    "WORD": _word,
    "END": _end,
}
"""Terminals by name."""
