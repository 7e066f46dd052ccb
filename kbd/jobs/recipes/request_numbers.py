"""Numbers that the words of a request say, in any notation, in English and German.

    1,000   1.000   1 000   1'000   1000.50   1.000,50   10k   2 million   twelve   zwölf

A notation that may be two numbers says both: "1.000" is a thousand, or one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal

import msgspec

__all__ = ["NamedNumbers", "numbers_named", "numbers_written"]

_UNITS_TEXT = """
zero null 0, one ein eins eine einen einer einem 1, two zwei 2, three drei 3, four vier 4,
five fünf fuenf 5, six sechs 6, seven sieben 7, eight acht 8, nine neun 9, ten zehn 10,
eleven elf 11, twelve zwölf zwoelf dozen dutzend 12, thirteen dreizehn 13, fourteen vierzehn 14,
fifteen fünfzehn 15, sixteen sechzehn 16, seventeen siebzehn 17, eighteen achtzehn 18,
nineteen neunzehn 19, twenty zwanzig 20, thirty dreißig dreissig 30, forty vierzig 40,
fifty fünfzig 50, sixty sechzig 60, seventy siebzig 70, eighty achtzig 80, ninety neunzig 90,
hundred hundert 100, thousand tausend 1000, million 1000000
"""
_WORDS = {
    word: int(line.split()[-1]) for line in _UNITS_TEXT.split(",") for word in line.split()[:-1]
}
_ARTICLES = frozenset(("ein", "eine", "einen", "einer", "einem"))
"""Words that say 1 and are mostly articles."""

_SCALES = {
    "k": 1_000, "tsd": 1_000, "thousand": 1_000, "tausend": 1_000, "hundred": 100, "hundert": 100,
    "m": 1_000_000, "mio": 1_000_000, "mn": 1_000_000, "million": 1_000_000,
    "millions": 1_000_000, "millionen": 1_000_000, "bn": 10**9, "billion": 10**9, "mrd": 10**9,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\w.,])-?(\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*)"
    r"(?:\s?(k|tsd|thousand|tausend|hundred|hundert|mio|mn|millionen|millions|million|m|bn|billion|mrd)"
    r"(?!\w))?(\s*(?:%|percent|per cent|prozent)(?!\w))?"
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PERCENT = re.compile(r"%|(?<!\w)(?:percent|per cent|percentages?|prozent\w*|prozentual\w*)(?!\w)")


class NamedNumbers(msgspec.Struct, frozen=True):
    """Numbers of a request.

    Args:
        counts: Each with how often it is said.
        percents: Those that are percent.
        has_percent: Whether it speaks of percent at all.
    """

    counts: Mapping[Decimal, int]
    percents: frozenset[Decimal]
    has_percent: bool


def numbers_named(text: str) -> NamedNumbers:
    """Return the numbers that a text says; it is in small letters and names no days any more."""
    counts: Counter[Decimal] = Counter()
    percents: set[Decimal] = set()
    for found in _NUMBER.finditer(text):
        scale = _SCALES.get(found[2] or "", 1)
        readings = {reading * scale for reading in _readings(found[1])}
        counts.update(readings)
        if found[3]:
            percents |= readings
    for number in _numbers_in_words(text):
        counts[Decimal(number)] += 1
    return NamedNumbers(dict(counts), frozenset(percents), _PERCENT.search(text) is not None)


def numbers_written(text: str) -> tuple[tuple[str, frozenset[Decimal]], ...]:
    """Return the numbers that stand in a text with figures, each with what it may be."""
    return tuple(
        (found[0], frozenset(_readings(found[0])))
        for found in re.finditer(r"\d+(?:[.,]\d+)*", text)
    )


def _readings(written: str) -> set[Decimal]:
    plain = re.sub(r"[ \u00a0\u202f'’]", "", written)
    parts = re.split(r"[.,]", plain)
    signs = re.findall(r"[.,]", plain)
    are_thousands = len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
    if not signs:
        return {Decimal(plain)}
    if len(set(signs)) == 2:
        # The last one is the decimal mark, if it stands there once and the others part thousands.
        is_number = signs.count(signs[-1]) == 1 and all(len(each) == 3 for each in parts[1:-1])
        return {Decimal("".join(parts[:-1]) + "." + parts[-1])} if is_number else set()
    found = {Decimal("".join(parts))} if are_thousands else set()
    return found | {Decimal(".".join(parts))} if len(signs) == 1 else found


def _numbers_in_words(text: str) -> Iterator[int]:
    for found in _WORD.finditer(text):
        word = found[0]
        if word in _WORDS and word not in _ARTICLES:
            yield _WORDS[word]
        elif "-" in word:
            tens, _, ones = word.partition("-")
            if _WORDS.get(tens, 0) in range(20, 100, 10) and 0 < _WORDS.get(ones, 0) < 10:
                yield _WORDS[tens] + _WORDS[ones]
        elif compound := re.fullmatch(r"(\w+)und(\w+)", word):
            # Fünfundzwanzig.
            ones, tens = compound.groups()
            if _WORDS.get(tens, 0) in range(20, 100, 10) and 0 < _WORDS.get(ones, 0) < 10:
                yield _WORDS[tens] + _WORDS[ones]
