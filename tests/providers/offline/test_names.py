"""Names compare without capitals and accents; stems, distances and parts of file names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.jobs.expressions import parse_expression
from kbd.jobs.terms import render
from kbd_offline import english, expressions, german
from kbd_offline.facts import KnownColumn
from kbd_offline.names import distance, fold, slug, stem


@given(st.text())
def test_folding_keeps_places(text: str) -> None:
    """A folded text has the length of the original, so that places are the same."""
    assert len(fold(text)) == len(text)


@pytest.mark.parametrize(
    ("first", "second", "far"),
    [("region", "regoin", 1), ("revenue", "revenu", 1), ("tea", "tea", 0), ("cup", "tea", 3)],
)
def test_distances(first: str, second: str, far: int) -> None:
    """Two letters that are swapped are one mistake."""
    assert distance(first, second) == far


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("customers", "customer"),
        ("kunden", "kunde"),
        ("categories", "category"),
        ("lander", "land"),
    ],
)
def test_plurals_have_the_stem_of_their_singular(one: str, other: str) -> None:
    """In English and in German."""
    assert stem(one) == stem(other)


def test_slugs() -> None:
    """Small letters and digits with hyphens, whatever stands between."""
    assert slug("Net Amount (EUR) / Month") == "net-amount-eur-month"


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_quoting_cannot_be_left(name: str, value: str) -> None:
    """Names and values with quotes stay names and values of one comparison."""
    text = expressions.one_of(KnownColumn(name), [value], exact=True)
    if "\x00" in text or any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in text):
        return
    assert render(parse_expression(text)).count(" = ") >= 1


def test_both_languages_name_the_same_things() -> None:
    """A concept of the German words is one of the English ones, but for what only German has."""
    only_german = {"renamed", "converted", "added_suffix", "union_suffix"}
    assert set(german.PHRASES) - set(english.PHRASES) == only_german
    assert set(german.MEANINGS) <= set(english.MEANINGS)
