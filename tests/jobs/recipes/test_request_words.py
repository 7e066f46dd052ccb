"""Words of a request: which numbers, days and texts it says, and which it does not."""

from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.jobs.recipes.facts import LearnedFacts
from kbd.jobs.recipes.literals import JobLiteral
from kbd.jobs.recipes.provenance import trace_literals
from kbd.jobs.recipes.request_words import request_words

PIECES = st.sampled_from(
    ["0001-01-01", "9999-12-31", "31/31/2024", "2024-13", "30 February 2024", "9" * 5000, "1.2.3,4",
     "December 2099", "Q4", "H2", "last", "half", "5%", "k", "-", "to", "2024", "März", "fünfund",
     ".", "\x00", "zero-zero", "und", "1'000.000"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=8), st.text(max_size=5))
def test_any_request_has_words(pieces: list[str], text: str) -> None:
    """Whatever is written, its words are found, and asked for any text, number and day."""
    words = request_words(" ".join(pieces), [text], [text])

    assert isinstance(words.says_text(text), bool)
    assert not words.says_moment(date(1, 2, 3))
    literal = JobLiteral("title", " ".join(pieces) + text, "title")
    traced, refused = trace_literals([literal], words, LearnedFacts())
    assert len(traced) + len(refused) == 1


@pytest.mark.parametrize(
    ("request_text", "number"),
    [
        ("top 5 shops", "5"), ("orders over 1,000", "1000"), ("Bestellungen über 1.000", "1000"),
        ("over 1 000", "1000"), ("über 1'000 Franken", "1000"), ("over 1,250.50", "1250.50"),
        ("über 1.250,50 €", "1250.5"), ("over 12,5", "12.5"), ("over $10k", "10000"),
        ("more than 2 million", "2000000"), ("mehr als 1,5 Mio", "1500000"),
        ("the ten largest", "10"), ("die zwölf größten", "12"), ("twenty-five rows", "25"),
        ("fünfundzwanzig Zeilen", "25"), ("the 3rd column", "3"), ("less than -20", "20"),
        ("older than 30 days", "30"), ("a discount of .5 or 0.5", "0.5"),
    ],
)  # fmt: skip
def test_numbers_are_said_in_any_notation(request_text: str, number: str) -> None:
    """A number is said whether with figures, with marks between them or in words."""
    assert request_words(request_text).says_number(Decimal(number))


@pytest.mark.parametrize(
    ("request_text", "number"),
    [
        ("sort by Q1 and A4", "4"),
        ("total sales-2024.csv", "2024"),
        ("eine Tabelle je Monat", "1"),
        ("orders of 2024-03-05", "5"),
        ("orders of 03.04.2024", "3"),
        ("sales of 3 March 2024", "3"),
        ("10,000 rows", "5"),
        ("over 10k", "10"),
        ("sum of Level 2", "2"),
    ],
)
def test_figures_in_names_and_days_are_no_numbers(request_text: str, number: str) -> None:
    """Figures of files, columns, quarters and days are not said as numbers, nor are articles."""
    words = request_words(request_text, ["sales-2024.csv"], ["Level 2"])

    assert not words.says_number(Decimal(number))


@pytest.mark.parametrize("number", ["19", "0.19", "1.19", "0.81", "119", "81"])
def test_percent_is_said_as_a_factor(number: str) -> None:
    """Of 19 % the shares and factors are said, too; of a plain 19 they are not."""
    said = request_words("add 19 % VAT")

    assert said.says_number(Decimal(number)) or said.says_percent(Decimal(number))
    assert not request_words("the first 19").says_percent(Decimal(number))


@pytest.mark.parametrize(
    ("request_text", "days"),
    [
        ("only 2024", ["2024-01-01", "2024-12-31", "2025-01-01"]),
        ("March 2024", ["2024-03-01", "2024-03-31", "2024-04-01"]),
        ("im März 2024", ["2024-03-01", "2024-04-01"]),
        ("March to May 2024", ["2024-03-01", "2024-04-01", "2024-06-01"]),
        ("2022 to 2024", ["2023-01-01", "2025-01-01"]),
        ("between 2022 and 2024", ["2023-01-01", "2023-12-31"]),
        ("Q2 2024", ["2024-04-01", "2024-06-30", "2024-07-01"]),
        ("second quarter of 2024", ["2024-04-01", "2024-07-01"]),
        ("erstes Halbjahr 2024", ["2024-01-01", "2024-07-01"]),
        ("since 3 March 2024", ["2024-03-03", "2024-03-04"]),
        ("since March 3rd, 2024", ["2024-03-03"]),
        ("seit 03.04.2024", ["2024-04-03"]), ("since 2024-03-03", ["2024-03-02", "2024-03-03"]),
        ("in 2024-03", ["2024-03-01", "2024-04-01"]), ("December 2024", ["2025-01-01"]),
    ],
)  # fmt: skip
def test_days_of_periods_are_said(request_text: str, days: list[str]) -> None:
    """Of a period the first day, the last one and the one behind it are said."""
    words = request_words(request_text)

    assert [day for day in days if not words.says_moment(date.fromisoformat(day))] == []


@pytest.mark.parametrize(
    ("request_text", "day"),
    [
        ("only March", "2024-03-01"), ("last month", "2026-10-01"), ("March 2024", "2024-05-01"),
        ("2022 and 2024", "2023-12-31"), ("the first 2024 rows of 2025", "2026-03-01"),
        ("total of orders-2024-05.csv", "2024-05-01"),
    ],
)  # fmt: skip
def test_other_days_are_not_said(request_text: str, day: str) -> None:
    """Neither a month without its year nor a period before today says a day."""
    words = request_words(request_text, ["orders-2024-05.csv"])

    assert not words.says_moment(date.fromisoformat(day))


def test_times_of_days_are_said() -> None:
    """The beginning and the end of a day are said with it, another time only if it is written."""
    words = request_words("since 3 March 2024, 10:30")

    assert words.says_moment(datetime.fromisoformat("2024-03-03T10:30"))
    assert words.says_moment(datetime.fromisoformat("2024-03-03"))
    assert words.says_moment(datetime.fromisoformat("2024-03-03T23:59:59"))
    assert not words.says_moment(datetime.fromisoformat("2024-03-03T11:00"))


@pytest.mark.parametrize(
    ("request_text", "period"),
    [
        ("orders of last month", "last month"), ("the past 3 months", "past 3 months"),
        ("nur letzter Monat", "letzter monat"), ("this year by region", "this year"),
        ("Umsatz im Vormonat", "vormonat"), ("since yesterday", "yesterday"),
        ("the last 10 rows", ""), ("show this by month", ""), ("orders of March 2024", ""),
    ],
)  # fmt: skip
def test_relative_periods_are_known(request_text: str, period: str) -> None:
    """Words that hang on the day of the run are told from others that begin like them."""
    assert request_words(request_text).relative == period


@pytest.mark.parametrize(
    ("request_text", "text", "is_said"),
    [
        ("all but Cancelled", "cancelled", True),
        ("only paid ones", "paid", True),
        ("only unpaid ones", "paid", False),
        ("sales of New  York", "new york", True),
        ("a summary by shop", "A", False),
        ("only category A", "A", True),
        ("only 'a'", "a", True),
        ("A total by shop", "A", False),
        ("names like No", "no", True),
        ("orders in no order", "NO", False),
        ("only NO", "NO", True),
        ("all customers", "All", False),
        ("Größe", "größe", True),
        ("total north.csv", "north", False),
        ("only ***", "***", False),
    ],
)
def test_texts_are_said_as_words(request_text: str, text: str, is_said: bool) -> None:
    """A text is said by whole words; what is called like an article has to be pointed out."""
    assert request_words(request_text).says_text(text) is is_said
