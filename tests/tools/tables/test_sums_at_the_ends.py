"""Sums whose label counts rows, in a row without a name, and below groups that nothing labels."""

import pytest

from tools.tables.loading import Loading

ORDERS = {
    "Day": ["2024-01-01", "2024-01-02", "2024-01-03"],
    "Customer": ["Anna", "Bert", "Cleo"],
    "City": ["Ulm", "Bonn", "Kiel"],
    "Amount": ["20.00", "25.00", "35.00"],
}


def _ended(last: list[str]) -> dict[str, list[str]]:
    """Return orders with a last row."""
    return {name: [*ORDERS[name], each] for name, each in zip(ORDERS, last, strict=True)}


@pytest.mark.parametrize("label", ["Items: 3", "Orders (3)", "3 rows", "(3 Zeilen)", "Anzahl = 3"])
def test_a_count_that_is_right_beside_a_sum_that_is_proves_it(loading: Loading, label: str) -> None:
    """A row with a label that says how many rows there are, and with their sum, is none of them."""
    table = loading(_ended([label, "", "", "80.00"]))
    assert table.reading.questions == ()
    assert [(each.what, each.rows) for each in table.reading.left_out] == [
        ("total of the rows above", (4,))
    ]
    assert sum(table.values["Amount"]) == 80


@pytest.mark.parametrize(
    "last",
    [
        ["Items: 4", "", "", "80.00"],
        ["Items: 3", "", "", "81.00"],
        ["Items:", "3", "", "80.00"],
        ["Alles zusammengezählt", "", "", "80.00"],
    ],
    ids=["another count", "another sum", "count beside it", "no count"],
)
def test_one_of_both_is_asked_about(loading: Loading, last: list[str]) -> None:
    """A sum below a gap, or a count that is right, tell of a row that may be none like others."""
    table = loading(_ended(last))
    (question,) = table.reading.questions
    assert question.about == "totals"
    assert "Amount adds up to 80 in 3 rows" in question.options[0].meaning


PLAIN = {
    "a series of such labels": (["Level: 1", "Level: 2", "Level: 3"], ["5", "7", "12"]),
    "a place with a number": (["Ulm", "Bonn", "Kiel", "3 Oaks"], ["5", "7", "9", "8"]),
    "a room": (["Hall", "Attic", "Bath", "Room (3)"], ["50", "70", "90", "80"]),
    "by chance": (["a", "b", "c"], ["1", "2", "3"]),
}


@pytest.mark.parametrize("name", PLAIN)
def test_rows_with_numbers_in_their_names_are_rows(loading: Loading, name: str) -> None:
    """Nothing is asked where the figures do not tell, or where all rows are called so."""
    names, figures = PLAIN[name]
    table = loading({"Name": names, "n": figures})
    assert table.reading.questions == ()
    assert len(table.values["n"]) == len(figures)


ADS = {
    "Campaign": ["", "A", "B", "C"],
    "Results": ["", "120", "", "7"],
    "Reach": ["5100", "4500", "300", "880"],
    "Frequency": ["1.40", "1.52", "1.00", "1.10"],
    "Spent": ["136.60", "99.60", "12.00", "25.00"],
    "Starts": ["2024-03-01"] * 4,
}


@pytest.mark.parametrize("is_last", [False, True])
def test_a_row_without_a_name_is_asked_about_beside_rates(
    loading: Loading, *, is_last: bool
) -> None:
    """Its sum is no chance; rates and people are none, and stay between what they may be."""
    step = -1 if is_last else 1
    table = loading({name: values[::step] for name, values in ADS.items()})
    (question,) = table.reading.questions
    assert question.about == "totals"
    out = loading({name: values[::step] for name, values in ADS.items()}, totals="leave_out")
    assert str(sum(out.values["Spent"])) == "136.60"


def test_a_row_without_a_name_and_with_figures_of_its_own_is_a_row(loading: Loading) -> None:
    """A gap tells nothing: a campaign may have lost its name."""
    table = loading({**ADS, "Spent": ["36.60", "99.60", "12.00", "25.00"]})
    assert table.reading.questions == ()


BELOW = {
    "large": ["10", "20", "30", "15", "30", "45"],
    "small, of three groups": ["1", "2", "3", "2", "4", "6", "1", "3", "4"],
    "with all of them": ["10", "20", "30", "15", "30", "45", "75"],
}


@pytest.mark.parametrize("name", BELOW)
def test_sums_below_their_groups_are_asked_about(loading: Loading, name: str) -> None:
    """Nothing labels them, but each row is in a group or its sum."""
    figures = BELOW[name]
    table = loading({"Shop": [f"s{n}" for n in range(len(figures))], "n": figures})
    (question,) = table.reading.questions
    groups = len(figures) // 3 + len(figures) % 3
    assert f"{groups} rows may sum others up" in question.text


@pytest.mark.parametrize("is_below", [False, True])
def test_many_groups_are_found_from_either_end(loading: Loading, *, is_below: bool) -> None:
    """A long table is looked at as a short one is, and one without groups has none."""
    figures = [part for n in range(1, 301) for part in (5 * n, 2 * n, 3 * n)]
    step = -1 if is_below else 1
    names = [f"s{n}" for n in range(len(figures))]
    table = loading({"Shop": names, "n": [*map(str, figures[::step])]})
    assert "300 rows may sum others up" in table.reading.questions[0].text
    plain = loading({"Shop": names, "n": [str(n + 7) for n in range(len(figures))]})
    assert plain.reading.questions == ()


def test_too_few_small_sums_are_chance(loading: Loading) -> None:
    """Of two groups of small numbers the sums may be rows as well."""
    table = loading({"Shop": list("abcdef"), "n": ["1", "2", "3", "2", "4", "6"]})
    assert table.reading.questions == ()
