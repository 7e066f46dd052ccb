"""Requests about several tables, with figures that are worked out here by other means."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from kbd_offline.request import Declined, Question, Understood
from providers.offline.trials import Bench

CUSTOMERS = [
    ("K1", "Ann Lee", "Berlin", "Retail", 31), ("K2", "Bo Chan", "Rome", "Online", 44),
    ("K3", "Cy Park", "Berlin", "Online", 25), ("K4", "Di Moss", "Oslo", "Retail", 52),
]  # fmt: skip
ORDERS = [
    ("O1", "K1", "2024-01-05", 10.5), ("O2", "K2", "2024-01-09", 20.0),
    ("O3", "K1", "2024-02-11", 4.25), ("O4", "K3", "2024-02-12", 7.0),
    ("O5", "K2", "2024-03-01", 1.25), ("O6", "K2", "2024-03-03", 9.0),
]  # fmt: skip
OLD = [("A1", "Nut", 1.5), ("A2", "Bolt", 2.5), ("A3", "Nail", 0.5), ("A4", "Saw", 9.0)]
NEW = [("A1", "Nut", 1.75), ("A2", "Bolt", 2.5), ("A4", "Saw", 8.0), ("A5", "Drill", 40.0)]
MONTHS = {
    "january": [("2024-01-02", "Mill", 10.0), ("2024-01-03", "Dock", 5.5)],
    "february": [("2024-02-02", "Mill", 1.0), ("2024-02-09", "Dock", 2.25)],
    "march": [("2024-03-05", "Mill", 7.0), ("2024-03-06", "Mill", 0.5)],
}


def text(names: str, rows: list[Any]) -> str:
    """Return rows as a csv file."""
    return "\n".join([names, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bench]:
    """The sets of tables."""
    root: Path = tmp_path_factory.mktemp("tables")
    customers = text("Customer ID,Name,City,Segment,Age", CUSTOMERS)
    orders = text("Order ID,Customer ID,Date,Amount", ORDERS)
    prices = {
        "preise_alt.csv": text("Artikel,Bezeichnung,Preis", OLD),
        "preise_neu.csv": text("Artikel,Bezeichnung,Preis", NEW),
    }
    months = {f"{name}.csv": text("Date,Shop,Takings", rows) for name, rows in MONTHS.items()}
    return {
        "orders": Bench(root / "a", {"orders.csv": orders, "customers.csv": customers}),
        "prices": Bench(root / "b", prices),
        "months": Bench(root / "c", months),
    }


def by(column: int) -> dict[Any, float]:
    """Return the amounts of orders added up by a column of their customers."""
    of = {row[0]: row[column] for row in CUSTOMERS}
    sums: dict[Any, float] = defaultdict(float)
    for order in ORDERS:
        sums[of[order[1]]] += order[3]
    return dict(sums)


@pytest.mark.parametrize(
    ("request_text", "column"),
    [("total order amount per customer segment", 3), ("revenue by city", 2),
     ("total amount per customer name", 1)],
)  # fmt: skip
def test_figures_by_what_another_table_tells(
    pairs: dict[str, Bench], request_text: str, column: int
) -> None:
    """Amounts of one table are added up by columns of the other, matched by the evident key."""
    _, *rows = pairs["orders"].ask(request_text).rows

    assert dict(rows) == pytest.approx(by(column))


def test_the_best_with_their_names(pairs: dict[str, Bench]) -> None:
    """Who is ranked by a key is named by what stands beside that."""
    _, *rows = pairs["orders"].ask("top 2 customers by amount ordered, with their names").rows

    assert rows == [["K2", "Bo Chan", 30.25], ["K1", "Ann Lee", 14.75]]


@pytest.mark.parametrize(
    "request_text",
    ["which customers never ordered anything?", "customers without orders",
     "Kunden, die noch nie bestellt haben", "Kunden ohne Bestellung"],
)  # fmt: skip
def test_rows_without_a_partner(pairs: dict[str, Bench], request_text: str) -> None:
    """Those whose key is in no row of the other table are left."""
    _, *rows = pairs["orders"].ask(request_text).rows

    assert [row[0] for row in rows] == ["K4"]


def test_columns_beside_each_row(pairs: dict[str, Bench]) -> None:
    """Each order gets the columns of its customer, and none is lost or there twice."""
    names, *rows = pairs["orders"].ask("add the customer's name and city to each order").rows

    of = {row[0]: row[1:3] for row in CUSTOMERS}
    assert names[-2:] == ["Name", "City"]
    assert [(row[0], *row[-2:]) for row in rows] == [(o[0], *of[o[1]]) for o in ORDERS]


@pytest.mark.parametrize(
    "request_text",
    ["customers without orders in 2024", "average age by order date",
     "revenue by city and flavor", "which customers have 2 orders never"],
)  # fmt: skip
def test_what_is_not_understood_is_not_guessed(pairs: dict[str, Bench], request_text: str) -> None:
    """A condition on the other table, figures that would count twice, and unknown words."""
    assert isinstance(pairs["orders"].read(request_text), Declined | Question)


@pytest.mark.parametrize(
    ("request_text", "articles"),
    [
        ("welche Preise haben sich geändert?", ["A1", "A4"]),
        ("welche Artikel sind teurer geworden?", ["A1"]),
        ("which articles got cheaper?", ["A4"]),
        ("vergleiche die beiden Listen", ["A1", "A3", "A4", "A5"]),
        ("was fehlt in der neuen Liste?", ["A3"]),
        ("what's gone from the old list", ["A3"]),
        ("articles that are new in the second file", ["A5"]),
        ("articles missing in the old list", ["A5"]),
        ("which articles are only in the new list?", ["A5"]),
    ],
)
def test_two_lists_compared(
    pairs: dict[str, Bench], request_text: str, articles: list[str]
) -> None:
    """What changed, came and went, from the list that is called old to the new one."""
    _, *rows = pairs["prices"].ask(request_text).rows

    assert sorted(row[0] for row in rows) == articles


def test_rows_of_both_lists(pairs: dict[str, Bench]) -> None:
    """As the earlier list has them, once each, and with its columns alone."""
    for request_text in ("which articles are in both lists?", "Artikel, die in beiden Listen sind"):
        names, *rows = pairs["prices"].ask(request_text).rows

        assert names == ["Artikel", "Bezeichnung", "Preis"]
        assert [row[0] for row in rows] == ["A1", "A2", "A4"]


@pytest.mark.parametrize(
    ("request_text", "articles"),
    [
        ("which articles of 2024 are not in 2025?", ["A3"]),
        ("welche Artikel sind 2025 neu dazugekommen?", ["A5"]),
        ("which articles got cheaper in 2025?", ["A4"]),
    ],
)
def test_lists_called_by_their_years(
    tmp_path: Path, request_text: str, articles: list[str]
) -> None:
    """A year that is in the name of one file alone says which list is meant."""
    head = "Artikel,Bezeichnung,Preis"
    bench = Bench(tmp_path, {"stock_2024.csv": text(head, OLD), "stock_2025.csv": text(head, NEW)})
    _, *rows = bench.ask(request_text).rows

    assert sorted(row[0] for row in rows) == articles


@pytest.mark.parametrize(
    "request_text",
    ["um wie viel haben sich die Preise geändert?", "what is gone from the new list",
     "which prices changed by more than 1?", "neue Preise", "which prices went up or down?",
     "what is new in the old list"],
)  # fmt: skip
def test_comparisons_that_say_more(pairs: dict[str, Bench], request_text: str) -> None:
    """Words that are not of a comparison are not passed over."""
    assert isinstance(pairs["prices"].read(request_text), Declined | Question)


def test_lists_that_may_be_matched_in_two_ways(tmp_path: Path) -> None:
    """The key is asked for, and the answer names it; the day in a name tells the earlier list."""
    names = "Kind,Tag,Label,Weight"
    later = text(names, [("k", "a", "x", 1.5), ("k", "b", "y", 1.5), ("k", "c", "z", 3.5)])
    earlier = text(names, [("k", "a", "y", 2.5), ("k", "b", "x", 2.5), ("k", "c", "w", 1.5)])
    bench = Bench(tmp_path, {"list 2024-02.csv": later, "list 2024-01.csv": earlier})

    asked = bench.read("which weights changed?")
    assert isinstance(asked, Question)
    _, answer = asked.options
    _, *rows = bench.ask(answer).rows

    assert '"Tag" or "Label"' in asked.text
    assert sorted(row[0] for row in rows) == ["x", "y"]


def test_lists_are_not_matched_by_amounts(tmp_path: Path) -> None:
    """That no amount is there twice makes it no key."""
    lists = {
        f"{name}.csv": text("Shop,Takings", [("Mill", amount), ("Mill", 0.5)])
        for name, amount in (("a", 1.5), ("b", 2.5))
    }
    found = Bench(tmp_path, lists).read("compare a.csv and b.csv")

    assert isinstance(found, Declined)
    assert "no column that is unique in both" in found.reason


def test_columns_are_added_once(pairs: dict[str, Bench]) -> None:
    """However often one is named."""
    names, *_ = pairs["orders"].ask("add the city and the city to each order").rows

    assert names.count("City") == 1


def test_tables_below_each_other(pairs: dict[str, Bench]) -> None:
    """The months follow each other, with all rows."""
    _, *rows = pairs["months"].ask("put the three files in one").rows

    assert [str(row[0]) for row in rows] == [row[0] for some in MONTHS.values() for row in some]


@pytest.mark.parametrize(
    "request_text",
    ["merge all months and sum takings per shop", "total takings per shop over all three months",
     "alle drei Monate zusammenführen und Takings je Shop summieren", "total takings per shop"],
)  # fmt: skip
def test_figures_over_all_tables(pairs: dict[str, Bench], request_text: str) -> None:
    """Figures of tables together are those of all their rows, said to be so."""
    trial = pairs["months"].ask(request_text)

    assert dict(trial.rows[1:]) == {"Mill": 18.5, "Dock": 7.75}
    assert isinstance(trial.reading, Understood)
    assert "january.csv, february.csv, march.csv below each other" in trial.reading.words


def test_figures_of_each_file(pairs: dict[str, Bench]) -> None:
    """The file is what is grouped by where figures of each are asked for."""
    _, *rows = pairs["months"].ask("total takings per file").rows

    sums = {f"{name}.csv": sum(row[2] for row in some) for name, some in MONTHS.items()}
    assert dict(rows) == sums


def test_more_tables_than_there_are(pairs: dict[str, Bench]) -> None:
    """A number of tables that is not that of the files is not passed over."""
    assert isinstance(pairs["months"].read("put the two files together"), Declined)


def test_two_keys_are_asked_about(tmp_path: Path) -> None:
    """Where rows may belong together by either of two columns it asks which."""
    parts = text("Tag,Label,Weight", [("a", "x", 1), ("b", "y", 2)])
    uses = text("Tag,Label,Spent", [("a", "y", 3.5), ("b", "x", 4.5), ("a", "x", 1.5)])
    bench = Bench(tmp_path, {"uses.csv": uses, "parts.csv": parts})

    asked = bench.read("total spent by weight")

    assert isinstance(asked, Question)
    assert '"Tag" or "Label"' in asked.text
