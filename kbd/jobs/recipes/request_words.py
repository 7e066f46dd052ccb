"""Words of a request, to which the literals of its job are traced."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal

import msgspec

from kbd.jobs.recipes.request_days import NamedDays, days_named, relative_period, without_days
from kbd.jobs.recipes.request_numbers import NamedNumbers, numbers_named

__all__ = ["RequestWords", "request_words", "stands_in", "words_folded"]

_FILE = re.compile(r"[^\s\"'“”„‘’`,;:()]+\.[A-Za-z][A-Za-z0-9]{1,4}(?!\w)")
_COMMON_TEXT = """
a an the in on at of to by for from with and or not no all any each is are be it its as per into
i we my our us me you he she so if do does than then that this out up off only last first new
der die das den dem des ein eine in im am an auf von vom zu zum mit und oder nicht kein alle je ist
sind nach aus für bei als nur so ob es er sie wir
"""
_COMMON = frozenset(_COMMON_TEXT.split())
"""Words that stand in a request for themselves; a value that is called so has to be pointed out."""

_BEGINNING = re.compile(r"(?:\A|[.!?:]\s)\Z")

_DAY_ENDS = (time(0), time(23, 59), time(23, 59, 59), time(23, 59, 59, 999999))


class RequestWords(msgspec.Struct, frozen=True):
    """What a request says.

    Args:
        written: Its words, without the names of the files that it reads.
        spoken: The same without names of columns of several words, which name no value.
        files: The names of other files in it, which it has written.
        numbers: Its numbers.
        days: Its days and periods.
        relative: The words of a period that hangs on the day of the run; "" for none.
    """

    written: str
    spoken: str
    files: frozenset[str]
    numbers: NamedNumbers
    days: NamedDays
    relative: str

    def has(self, pattern: str) -> bool:
        """Tell whether a regular expression is found in the words, in small letters."""
        return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", words_folded(self.written)) is not None

    def says_text(self, text: str) -> bool:
        """Tell whether a text stands there as a word or several, without regard to capitals.

        One that is as short as an article, or is called like one, has to stand there in quotes, or
        with a capital that begins no sentence.
        """
        sought = words_folded(text)
        if not re.search(r"\w", sought):
            return False
        if len(sought) > 2 and sought not in _COMMON:
            return stands_in(sought, words_folded(self.spoken))
        if re.search(rf"[\"'“„‘`]{re.escape(text)}[\"'”“’`]", self.spoken):
            return True
        return any(
            found[0] != found[0].lower() and not _BEGINNING.search(self.spoken[: found.start()])
            for found in re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", self.spoken, re.IGNORECASE)
        )

    def names(self, column: str) -> bool:
        """Tell whether a column is named there, without regard to capitals."""
        return stands_in(words_folded(column), words_folded(self.written))

    def says_number(self, number: Decimal) -> bool:
        """Tell whether a number is said."""
        return abs(number) in self.numbers.counts

    def says_percent(self, number: Decimal) -> bool:
        """Tell whether a number is what makes a percentage that is said: 0.19, 1.19, 0.81, 119."""
        hundred = Decimal(100)
        return any(
            abs(number) in (each / 100, 1 + each / 100, 1 - each / 100, hundred + each,
                            hundred - each)
            for each in self.numbers.percents
        )  # fmt: skip

    def says_moment(self, moment: date) -> bool:
        """Tell whether a day is said, or is at an end of a period that is."""
        if isinstance(moment, datetime):
            is_end = moment.time() in _DAY_ENDS or self.says_text(f"{moment:%H:%M}")
            return is_end and moment.date() in self.days.days
        return moment in self.days.days


def request_words(
    request: str, files: Iterable[str] = (), names: Iterable[str] = ()
) -> RequestWords:
    """Return what a request says.

    Args:
        request: Its text.
        files: The files that it reads; what stands in their names are no words of the request.
        names: Names of columns; their figures and words are no numbers and values of the request.
    """
    text = " ".join(unicodedata.normalize("NFC", request).split())
    for file in sorted(files, key=len, reverse=True):
        base = file.rpartition("/")[2]
        stem = base.rpartition(".")[0] or base
        for name in (file, base, *((stem,) if any(map(str.isdigit, stem)) else ())):
            text = _without(name, text)
    written = frozenset(_FILE.findall(text))
    text = _FILE.sub(" ", text)
    figures = spoken = text
    for name in sorted(names, key=len, reverse=True):
        if any(map(str.isdigit, name)):
            figures = _without(name, figures)
        if len(name.split()) > 1:
            spoken = _without(name, spoken)
    folded = words_folded(figures)
    return RequestWords(
        text, spoken, written, numbers_named(without_days(folded)), days_named(folded),
        relative_period(words_folded(text)),
    )  # fmt: skip


def words_folded(text: str) -> str:
    """Return a text as the words of a request are compared."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().replace("’", "'").split())


def stands_in(part: str, text: str) -> bool:
    """Tell whether a text stands in another one, not as a part of a word."""
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _without(name: str, text: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
