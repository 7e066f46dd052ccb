"""Sums that no label tells: a year below its months, a trailer below its details."""

import pytest

from tools.tables.loading import Loading

MONTHS = ["Jan", "Feb", "Mar", "Apr"]


def test_a_year_below_its_months_is_asked_about(loading: Loading) -> None:
    """Each year's sum is, where it agrees; in what way the years are written does not count."""
    columns = {
        "Month": [*MONTHS, "2022", *MONTHS, "2023"],
        "Amount": ["10", "20", "30", "40", "100", "11", "21", "31", "41", "104"],
    }
    (question,) = loading(columns).reading.questions
    assert question.about == "totals"
    assert "2 rows" in question.text
    assert "Amount adds up to 204 in 8 rows" in question.options[0].meaning
    table = loading(columns, totals="leave_out")
    assert sum(table.values["Amount"][:8]) == 204


@pytest.mark.parametrize("with_all", [False, True])
def test_years_without_a_month_are_asked_about(loading: Loading, *, with_all: bool) -> None:
    """Rows that say the year and no month sum its months up; so may a last one that says none."""
    years = ["2022"] * 4 + ["2023"] * 4
    months = ["1", "2", "3", ""] * 2
    amounts = ["10", "20", "30", "60", "11", "21", "31", "63"]
    if with_all:
        years, months, amounts = [*years, ""], [*months, ""], [*amounts, "123"]
    table = loading({"Year": years, "Month": months, "Amount": amounts})
    (question,) = table.reading.questions
    assert question.about == "totals"
    assert f"{2 + with_all} rows" in question.text
    assert "Amount adds up to 123 in 6 rows" in question.options[0].meaning


def test_years_among_years_are_rows(loading: Loading) -> None:
    """A list of years has a word beside them, and figures that come to others by chance."""
    table = loading({"Year": ["2020", "2021", "2022", "n/a (prov.)"], "n": ["1", "2", "3", "9"]})
    assert table.reading.questions == ()
    gaps = loading({"Year": ["2022"] * 3 + ["2023"] * 3, "Month": ["1", "2", ""] * 2,
                    "n": ["1", "2", "7", "3", "4", "5"]})  # fmt: skip
    assert gaps.reading.questions == ()


TRAILERS = {
    "a count and a sum": ("3", "60", True),
    "a sum alone": ("", "60", True),
    "another sum": ("3", "61", False),
}


@pytest.mark.parametrize("name", TRAILERS)
def test_a_trailer_of_another_code_is_asked_about(loading: Loading, name: str) -> None:
    """Its code is that of no other row, and its figures are their sum and how many they are."""
    number, amount, is_asked = TRAILERS[name]
    table = loading(
        {"Typ": ["D", "D", "D", "T"], "Menge": ["7", "8", "9", number],
         "Betrag": ["10", "20", "30", amount]}
    )  # fmt: skip
    assert [each.about for each in table.reading.questions] == ["totals"] * is_asked
    plain = loading({"Typ": ["A", "B", "B", "T"], "Betrag": ["10", "20", "30", "60"]})
    assert plain.reading.questions == ()
