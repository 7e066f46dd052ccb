"""Terminals of the grammar: columns, values, numbers, names and days in a request. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from kbd_offline.facts import KnownColumn
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import COMPOUND, PART, STEM, SYNONYM, ColumnMention
from kbd_offline.numerals import UNITS, number_at
from kbd_offline.patterns import Terminal
from kbd_offline.periods import Period, period_at
from kbd_offline.scan import RequestScan, SeveralError, UnclearError

__all__ = ["TERMINALS", "NamedColumn", "Number", "Valued"]

_MAX_NAME = 6
"""Words of a new name that does not stand in quotes."""


class NamedColumn(msgspec.Struct, frozen=True):
    """A column that is named, where, and how near to its name."""

    column: KnownColumn
    start: int
    end: int
    level: int = 0


class Valued(msgspec.Struct, frozen=True):
    """A value that is named: the columns that have it, each with its spellings.

    Args:
        found: They.
        start, end: Where it stands.
        is_plain: Whether its words mean nothing else.
    """

    found: tuple[tuple[KnownColumn, tuple[str, ...]], ...]
    start: int
    end: int
    is_plain: bool


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
        found = number_at(scan, self.place, column)
        if found is None:
            raise UnclearError(f'"{scan.text(self.place, self.end)}" is no number that I read')
        return found[0]


_Fits = Callable[[KnownColumn, int], bool]


def _column(*fits: _Fits, is_key: bool = False, most: int = SYNONYM) -> Terminal:
    """Return the terminal of columns that fit: by the first test that any of them passes."""

    def read(scan: RequestScan, place: int) -> Iterator[tuple[int, NamedColumn | UnclearError]]:
        for mention in _mentions(scan, place):
            if mention.level > most:
                continue
            for test in fits:
                found = tuple(one for one in mention.columns if test(one, mention.level))
                if found:
                    narrowed = msgspec.structs.replace(mention, columns=found)
                    try:
                        only = scan.only(narrowed, is_key=is_key)
                        yield (
                            mention.end,
                            NamedColumn(only, mention.start, mention.end, mention.level),
                        )
                    except SeveralError as several:
                        yield mention.end, several
                    break

    return read


def _mentions(scan: RequestScan, place: int) -> Iterable[ColumnMention]:
    mention = scan.column(place)
    return () if mention is None else (mention,)


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
        yield found.end, Valued(found.found, found.start, found.end, found.is_plain)


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
    word = scan.word(place)
    if scan.kind(place) == "number" and word.isdigit():
        yield place + 1, int(word)
    elif scan.kind(place) == "word" and word in LEXICON.numerals:
        yield place + 1, LEXICON.numerals[word]


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
    if scan.kind(place) == "quoted":
        yield place + 1, scan.tokens[place].text
        return
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
