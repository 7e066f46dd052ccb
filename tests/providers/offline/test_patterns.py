"""Patterns of the grammar: what they find, what they tell, and what a fault in one rule does."""

import inspect
from collections.abc import Iterator
from datetime import date

import pytest

from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import LEXICON
from kbd_offline.patterns import Grammar, Production, RequestChart, RequestSpan
from kbd_offline.reading import GRAMMAR
from kbd_offline.request import Declined, Question, Understood, read_request
from kbd_offline.request_tokens import tokenize
from kbd_offline.scan import RequestScan, SeveralError, UnclearError

TABLE = KnownTable("t.csv", columns=(KnownColumn("Amount", "float"), KnownColumn("Town")), rows=3)


def digits(scan: RequestScan, place: int) -> Iterator[tuple[int, int]]:
    """Yield the number at a place."""
    if scan.kind(place) == "number":
        yield place + 1, int(scan.word(place))


def found(pattern: str, text: str) -> list[tuple[str, object]]:
    """Return what a pattern finds at the beginning of a text: the text, and what it tells."""

    def make(span: RequestSpan, *values: object) -> tuple[str, object]:
        return span.text, values

    grammar = Grammar((Production("it", pattern, make),), {"N": digits})
    scan = RequestScan(text, tokenize(text, ()), TABLE, date(2026, 1, 1))
    return [parse.value for parse in RequestChart(grammar, scan).parses("it", 0)]


@pytest.mark.parametrize(
    ("pattern", "text", "value"),
    [
        ("N", "7", ("7", (7,))),
        ("more N", "more than 7", ("more than 7", (7,))),
        (":(more|less) N", "less than 7", ("less than 7", ("less", 7))),
        ("N 'of'? N", "7 of 8", ("7 of 8", (7, 8))),
        ("N 'of'? N", "7 8", ("7 8", (7, 8))),
        ("N (more N)? 'x'", "7 x", ("7 x", (7, None))),
        ("N+ 'x'", "1, 2 and 3 x", ("1, 2 and 3 x", ((1, 2, 3),))),
        ("N~ 'x'", "1 or 2 x", ("1 or 2 x", ((1, 2),))),
        ("'a'* N", "a a 7", ("a a 7", (7,))),
        ("'a'+ N", "a 7", ("a 7", (7,))),
        ("more N", "more than the 7", ("more than the 7", (7,))),
    ],
)
def test_a_pattern_tells_its_values(pattern: str, text: str, value: object) -> None:
    """Each symbol of the small language finds what it says, and tells it in order."""
    assert value in found(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("N", "x"), ("'a'+ N", "7"), ("N+ 'x'", "1 or 2 x"), (":(more|less) N", "7"), ("more N", "7")],
)
def test_a_pattern_finds_nothing_else(pattern: str, text: str) -> None:
    """What is not there is not found."""
    assert found(pattern, text) == []


def test_an_error_is_the_value_of_its_reading() -> None:
    """A rule that asks ends its own reading, and another one that costs less goes before it."""

    def asks(_: RequestSpan, _number: int) -> None:
        raise SeveralError("which?", [])

    def plain(_: RequestSpan, number: int) -> int:
        return number

    rules = (Production("it", "N", asks), Production("it", "N", plain, 0.1))
    scan = RequestScan("7", tokenize("7", ()), TABLE, date(2026, 1, 1))
    first, second = RequestChart(Grammar(rules, {"N": digits}), scan).parses("it", 0)

    assert first.value == 7
    assert isinstance(second.value, UnclearError)


def test_every_rule_takes_what_its_pattern_tells() -> None:
    """The function of each production has a parameter for each value of its pattern."""
    for rows in GRAMMAR.rules.values():
        for row, rule in rows:
            told = sum(
                0 if not item.told or item.often == "*" else 1 if item.often in ("+", "~")
                else item.told for item in row
            )  # fmt: skip
            inspect.signature(rule.make).bind(None, *range(told))


def test_no_rule_is_called_like_a_concept() -> None:
    """A symbol of a pattern is a phrase of the lexicon or a rule, and never both."""
    concepts = {phrase.concept for phrase in LEXICON.phrases}
    assert not GRAMMAR.names & concepts


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text",
    [
        "add x = " + "( " * 70 + "amount" + " )" * 70,
        "add x = " + " + ".join(["amount"] * 70),
        "where " + " and ".join(["amount over 5"] * 35),
        "total " + ", ".join(["amount"] * 70),
        "sort by " + ", then by ".join(["amount"] * 35),
        "please " * 140,
        "the " * 140,
        "rename town to " + "a b c d " * 30,
    ],
)  # fmt: skip
def test_a_hostile_request_has_a_reading_or_none(text: str) -> None:
    """However deep its brackets and long its lists are, no stack overflows."""
    found = read_request(text, (TABLE,), ["t.csv"], date(2026, 1, 1))

    assert isinstance(found, Understood | Question | Declined)


def test_a_request_of_very_many_words_is_declined() -> None:
    """At each word all rules are tried, so there is a limit to them."""
    found = read_request("total amount " * 100, (TABLE,), ["t.csv"], date(2026, 1, 1))

    assert isinstance(found, Declined)
    assert found.reason == "it is too long to be read by rules"
