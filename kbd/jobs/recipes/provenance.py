"""Provenance of the literals of a job: each comes from the request, the language or a person.

Whatever comes from the files instead (a value, a count, a sum, the day of the run) is refused with
its place and what it is, and so is what nobody knows where it comes from.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

import msgspec

from kbd.jobs.recipes.facts import OFFSET, LearnedFacts
from kbd.jobs.recipes.literals import JobLiteral
from kbd.jobs.recipes.request_days import MONTH_NUMBERS
from kbd.jobs.recipes.request_numbers import numbers_written
from kbd.jobs.recipes.request_words import RequestWords, stands_in, words_folded

__all__ = ["Provenance", "RecipeRefusal", "trace_literals"]

_PERIOD_USES = ("year", "quarter", "month", "week", "day", "date_month", "date_day")

_UNIT = "a factor between units that the request speaks of"

_SUPERLATIVE_TEXT = """
most least best worst top first last one maximum minimum max min largest biggest greatest smallest
highest lowest longest shortest latest newest oldest earliest youngest cheapest fewest fastest
slowest größte kleinste höchste niedrigste längste kürzeste neueste älteste früheste späteste
jüngste teuerste billigste günstigste beste schlechteste meiste wenigste schnellste
langsamste erste letzte
"""
_SUPERLATIVE = (
    "|".join(f"{words_folded(word)}[nrsm]?" for word in _SUPERLATIVE_TEXT.split())
    + "|most expensive|am \\w+sten"
)
_WEEK = r"week(?:s|ly)?|woche\w*|wöchentlich\w*"
_QUARTER = r"quarter(?:s|ly)?|quartal\w*"
_YEAR = r"year(?:s|ly)?|annual\w*|jahr\w*|jährlich\w*"
_HOUR = r"hours?|minutes?|stunden?|minuten?"
_SHIFTS = {7: _WEEK, 3: _QUARTER, 12: _YEAR}
"""Days of a week and months, by the words that speak of them."""

_FACTORS = {
    7: _WEEK, 12: _YEAR, 24: r"days?|hours?|tage?|stunden?", 60: _HOUR,
    1_000: r"thousands?|k|tsd|tausend", 1_000_000: r"millions?|millionen|mio|m",
}  # fmt: skip
"""Factors between units, by the words that speak of one."""


class Provenance(msgspec.Struct, frozen=True):
    """Where a literal comes from.

    Args:
        place: Where it stands.
        value: Itself as expressions write it.
        origin: The request, the language, or a person who agreed.
        text: Why it stays, for people.
    """

    place: str
    value: str
    origin: Literal["request", "language", "agreed"]
    text: str


class RecipeRefusal(msgspec.Struct, frozen=True):
    """Why a job does not work for other files.

    Args:
        place: Where it stands.
        value: The literal as expressions write it; what else it is.
        reason: What is wrong, and what helps.
        may_agree: Whether a person may agree to it, by its value.
    """

    place: str
    value: str
    reason: str
    may_agree: bool = False


def trace_literals(
    literals: Iterable[JobLiteral],
    words: RequestWords,
    facts: LearnedFacts,
    agreed: Collection[str] = (),
    *,
    is_dated_by_run: bool = False,
) -> tuple[tuple[Provenance, ...], tuple[RecipeRefusal, ...]]:
    """Tell where each literal comes from, or why it may not stay.

    Args:
        literals: The literals.
        words: What the request says.
        facts: What was in the files.
        agreed: The values that a person agreed to, as refusals write them.
        is_dated_by_run: Whether the job works with the day of its run.
    """
    tracer = _LiteralTracer(words, facts, agreed, is_dated_by_run=is_dated_by_run)
    found = [tracer.trace(each) for each in literals]
    traced = [each for each in found if isinstance(each, Provenance)]
    refused = [each for each in found if isinstance(each, RecipeRefusal)]
    return _said_often_enough(traced, refused, words, facts, agreed)


def _said_often_enough(
    traced: Sequence[Provenance],
    refused: Sequence[RecipeRefusal],
    words: RequestWords,
    facts: LearnedFacts,
    agreed: Collection[str],
) -> tuple[tuple[Provenance, ...], tuple[RecipeRefusal, ...]]:
    """Refuse a number that is a figure of the data, and stands in more places than it is said."""
    uses = Counter(each.value for each in traced if each.origin == "request")
    kept: list[Provenance] = []
    more = list(refused)
    for each in traced:
        number = _number_text(each.value)
        figure = None if number is None else facts.figure(number)
        said = 0 if number is None else words.numbers.counts.get(abs(number), 0)
        if figure is None or uses[each.value] <= said or not said or each.value in agreed:
            kept.append(each)
            continue
        more.append(RecipeRefusal(
            each.place, each.value,
            f"{each.value} is {figure}, too, and the request says it"
            f" {'once' if said == 1 else f'{said} times'} for {uses[each.value]} places",
            may_agree=True,
        ))  # fmt: skip
    return tuple(kept), tuple(more)


def _number_text(written: str) -> Decimal | None:
    with suppress(ArithmeticError):
        return Decimal(written)
    return None


class _LiteralTracer:
    """Tracer of single literals; its parameters are those of `trace_literals`."""

    def __init__(
        self,
        words: RequestWords,
        facts: LearnedFacts,
        agreed: Collection[str],
        *,
        is_dated_by_run: bool,
    ) -> None:
        self._words = words
        self._facts = facts
        self._agreed = agreed
        self._relative = "" if is_dated_by_run else words.relative
        columns = [column.name for each in facts.inputs for column in each.columns]
        self._names = {_plain(name) for name in columns}
        self._texts = [
            (plain, value, where)
            for value, where in facts.texts()
            if len(plain := _plain(value)) > 1 and plain not in self._names
        ]

    def trace(self, literal: JobLiteral) -> Provenance | RecipeRefusal:
        """Tell where a literal comes from, or why it may not stay."""
        if literal.use in ("title", "file"):
            return self._trace_title(literal)
        if text := _language(literal, self._words):
            return self._of_language(literal, text)
        is_period = literal.use in _PERIOD_USES or _moment(literal.value) is not None
        if is_period and self._relative and literal.written not in self._agreed:
            is_said = self._says(literal)
            return RecipeRefusal(
                literal.place, literal.written,
                f'the request says "{self._relative}", which hangs on the day of the run, and'
                f" {_shown(literal)} is fixed; compare with today() instead",
                may_agree=is_said,
            )  # fmt: skip
        if self._says(literal):
            text = f"the request says {_shown(literal)}"
            return Provenance(literal.place, literal.written, "request", text)
        return self._untraced(literal)

    def _of_language(self, literal: JobLiteral, text: str) -> Provenance | RecipeRefusal:
        """Take a literal as one of the language, unless a factor may as well be a figure."""
        written = literal.written
        is_factor = text == _UNIT and literal.use == "sum"
        figure = self._facts.figure(Decimal(written)) if is_factor else None
        # What is one or two more than a count is an offset by chance: no factor is made of it.
        if figure is None or figure.startswith(OFFSET) or written in self._agreed:
            return Provenance(literal.place, written, "language", text)
        reason = f"{written} may be {text}, and is {figure}, which other files have differently"
        return RecipeRefusal(literal.place, written, reason, may_agree=True)

    def _untraced(self, literal: JobLiteral) -> Provenance | RecipeRefusal:
        written, shown = literal.written, _shown(literal)
        number = literal.value if isinstance(literal.value, int | Decimal) else None
        if number is not None and (figure := self._facts.figure(Decimal(number))):
            reason = f"{shown} is {figure}, which other files have differently; work it out instead"
            return RecipeRefusal(literal.place, written, reason)
        if written in self._agreed:
            return Provenance(literal.place, written, "agreed", f"a person agreed to {shown}")
        where = self._facts.value(_value_text(literal), literal.columns)
        reason = (
            f"{shown} is {where}, and the request does not name it"
            if where is not None
            else f"the request does not say {shown}, and where it comes from is not known"
        )
        return RecipeRefusal(literal.place, written, reason, may_agree=True)

    def _says(self, literal: JobLiteral) -> bool:
        """Tell whether the request says a literal."""
        words, days, value = self._words, self._words.days, literal.value
        moment = _moment(value)
        if moment is not None:
            return words.says_moment(moment) or words.says_text(str(value))
        if isinstance(value, str):
            if value in days.texts or words.says_text(value):
                return True
            number = _number_text(value)
            return number is not None and words.says_number(number)
        assert isinstance(value, int | Decimal)
        number = Decimal(value)
        match literal.use:
            case "year":
                return number in days.years
            case "quarter":
                return number in days.quarters
            case "month" | "date_month":
                is_counted = words.has(r"months?|monate?") and words.says_number(number)
                return number in days.months or is_counted
            case "weekday":
                return number in days.weekdays
            case "day" | "date_day":
                return words.says_number(number) or number in {day.day for day in days.days}
            case "sum" | "order" | "value" | "default":
                return words.says_number(number) or words.says_percent(number)
            case _:
                return words.says_number(number)

    def _trace_title(self, literal: JobLiteral) -> Provenance | RecipeRefusal:
        """Trace a name: the figures, months and values in it; other words are free."""
        text, written = str(literal.value), literal.written
        parts = list(self._title_parts(re.sub(r"\{[^{}]*\}", " ", text)))
        if not parts:
            words = "words alone, nothing of the data"
            return Provenance(literal.place, written, "language", words)
        whole = text in self._words.files if literal.use == "file" else self._words.says_text(text)
        unsaid = [what for what, is_said in parts if not is_said]
        if whole or not unsaid:
            said = f"the request says {_shown(literal) if whole else 'what is in it'}"
            return Provenance(literal.place, written, "request", said)
        if written in self._agreed:
            said = f"a person agreed to {_shown(literal)}"
            return Provenance(literal.place, written, "agreed", said)
        reason = f"{_shown(literal)} holds {unsaid[0]}, which the request does not say"
        return RecipeRefusal(literal.place, written, reason, may_agree=True)

    def _title_parts(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield what a name holds that may be of the data, and whether the request says it."""
        days, words = self._words.days, self._words
        rest = text.replace("_", " ")
        for period in sorted((*days.texts, *(f"{day}" for day in days.days)), key=len)[::-1]:
            found = re.compile(rf"(?<!\w){re.escape(period)}(?!\w)", re.IGNORECASE)
            if found.search(rest):
                yield period, True
            rest = found.sub(" ", rest)
        for number, readings in numbers_written(rest):
            is_said = any(each in words.numbers.counts for each in readings)
            if number.isdecimal() and not is_said:
                is_said = Decimal(number) in days.years | {day.day for day in days.days}
            if not is_said:
                around = re.search(rf"[\w.:-]*{re.escape(number)}[\w.:-]*", rest)
                is_said = around is not None and words.says_text(around[0].strip(".:-"))
            yield number, is_said
        plain = _plain(rest)
        for word in plain.split():
            if word in MONTH_NUMBERS:
                yield f"the month {word}", MONTH_NUMBERS[word] in days.months
        for value, shown, where in self._texts:
            if stands_in(value, plain):
                yield f'"{shown}", {where}', words.says_text(shown)


def _language(literal: JobLiteral, words: RequestWords) -> str | None:
    """Return why a literal belongs to the language itself, or None."""
    value = literal.value
    if value is None or isinstance(value, bool):
        return "true, false or nothing"
    if isinstance(value, str):
        if not value:
            return "an empty text"
        is_sign = literal.use in ("joint", "default", "result") and not re.search(r"\w", value)
        return "signs between texts" if is_sign else None
    if isinstance(value, int | Decimal):
        return _language_number(Decimal(value), literal, words)
    return None


def _language_number(number: Decimal, literal: JobLiteral, words: RequestWords) -> str | None:
    number = abs(number)
    units = {"shift": _SHIFTS, "sum": _FACTORS}.get(literal.use, {})
    for factor, unit in units.items():
        if number == factor and words.has(unit):
            return _UNIT
    match literal.use:
        case "places" if number in range(7):
            return "decimals of a rounding"
        case "length" | "shift" | "sum" if number in (0, 1):
            return "0 or 1 of a calculation"
        case "sum" if number == 100 and words.numbers.has_percent:
            return "the hundred of the percent that the request speaks of"
        case "order" | "default" | "result" if number == 0:
            return "zero, where a sign changes and where nothing is"
        case "date_month" | "date_day" if number == 1:
            return "the beginning of a period"
        case "count" if number == 1 and words.has(_SUPERLATIVE):
            return "the one that the request asks for"
        case _:
            return None


def _moment(value: object) -> date | None:
    """Return a literal as a day or a time, if it is one."""
    if isinstance(value, date):
        return value
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value):
        with suppress(ValueError):
            return date.fromisoformat(value)
        with suppress(ValueError):
            return datetime.fromisoformat(value)
    return None


def _value_text(literal: JobLiteral) -> str:
    return str(literal.value) if isinstance(literal.value, str | date) else literal.written


def _shown(literal: JobLiteral) -> str:
    """Return a literal as sentences write it."""
    value = literal.value
    return f'"{value}"' if isinstance(value, str) else literal.written


def _plain(text: str) -> str:
    """Return the words of a text, whatever stands between them."""
    return " ".join(re.sub(r"[\W_]+", " ", words_folded(text)).split())
