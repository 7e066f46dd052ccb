"""Requests tried: each job is compiled and run, and its figures compared with those of Python."""

import csv
import io
from collections import defaultdict
from typing import Any

import pytest

from kbd_offline.request import Declined, Question
from providers.offline.trials import Bench

SALES = """\
Order ID,Order Date,Customer,Region,Product,Status,Unit Price,Quantity,Revenue
1001,2023-11-03,Alice Smith,North,Laptop,Paid,900.00,1,900.00
1002,2023-12-15,Bob Jones,South,Mouse,Cancelled,20.00,3,60.00
1003,2024-01-10,Alice Smith,North,Monitor,Paid,300.00,2,600.00
1004,2024-03-05,Carla Diaz,West,Laptop,Paid,900.00,2,1800.00
1005,2024-03-22,Bob Jones,South,Mouse,Open,20.00,5,100.00
1006,2024-04-11,Dan Wu,,Keyboard,Paid,50.00,4,200.00
1007,2024-05-30,Carla Diaz,West,Monitor,cancelled,300.00,1,300.00
1008,2024-07-01,Eve Long,South,Laptop,Paid,900.00,1,900.00
"""
PEOPLE = """\
Customer,City,Email
Alice Smith,Berlin,a@x.de
Bob Jones,Bonn,
Carla Diaz,Madrid,c@x.es
Dan Wu,Berlin,d@x.de
Eve Long,London,e@x.uk
"""
ROWS = list(csv.DictReader(io.StringIO(SALES)))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("sales"), {"sales.csv": SALES})


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    files = {"sales.csv": SALES, "customers.csv": PEOPLE}
    return Bench(tmp_path_factory.mktemp("both"), files)


def sums(key: str, of: str = "Revenue", **only: str) -> dict[Any, float]:
    """Return the sums of a column by another one, as Python makes them."""
    found: dict[Any, float] = defaultdict(float)
    for row in ROWS:
        if all(row[name].startswith(value) for name, value in only.items()):
            found[row[key] or None] += float(row[of])
    return dict(found)


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("revenue by region", sums("Region")),
        ("total revenue per product", sums("Product")),
        ("Umsatz je Kunde", sums("Customer")),
        ("quantity by product", sums("Product", "Quantity")),
        ("paid revenue by region", sums("Region", Status="Paid")),
        ("revenue by region in March", sums("Region", **{"Order Date": "2024-03"})),
        ("averge revenu by regoin", {"North": 750, "South": 1060 / 3, "West": 1050, None: 200}),
        ("number of orders per customer", {"Alice Smith": 2, "Bob Jones": 2, "Carla Diaz": 2,
                                           "Dan Wu": 1, "Eve Long": 1}),
        ("customers with more than 1 order", {"Alice Smith": 2, "Bob Jones": 2, "Carla Diaz": 2}),
        ("top 2 customers by revenue", {"Carla Diaz": 2100, "Alice Smith": 1500}),
        ("which region has the most orders?", {"South": 3}),
    ],
)  # fmt: skip
def test_groups(bench: Bench, request_text: str, expected: dict[Any, float]) -> None:
    """Figures by a column are those that Python works out."""
    names, *rows = bench.ask(request_text).rows
    assert len(names) == 2
    assert {key: float(value) for key, value in rows} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("what is the total revenue?", 4860),
        ("how many orders are cancelled?", 2),
        ("how much did Alice Smith spend?", 1500),
        ("average order value", 607.5),
        ("how many different customers are there?", 5),
        ("Gesamtumsatz", 4860),
        ("how much revenue did we make in march?", 1900),
        ("highest revenue", 1800),
        ("median revenue", 450),
    ],
)
def test_single_figures(bench: Bench, request_text: str, expected: float) -> None:
    """One figure is told in words."""
    (_, (value,)) = bench.ask(request_text).rows
    assert float(value) == pytest.approx(expected)


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("request_text", "numbers"),
    [
        ("cancelled orders", [1002, 1007]),
        ("stornierte Bestellungen", [1002, 1007]),
        ("all but cancelled", [1001, 1003, 1004, 1005, 1006, 1008]),
        ("only 2024", [1003, 1004, 1005, 1006, 1007, 1008]),
        ("orders in March", [1004, 1005]),
        ("from march to may 2024", [1004, 1005, 1006, 1007]),
        ("Q1 2024", [1003, 1004, 1005]),
        ("orders since April 2024", [1006, 1007, 1008]),
        ("orders before 2024", [1001, 1002]),
        ("orders over 500", [1001, 1003, 1004, 1008]),
        ("revenue > 500 and < 1000", [1001, 1003, 1008]),
        ("revenue between 100 and 300", [1005, 1006, 1007]),
        ("orders without region", [1006]),
        ("Region is not South", [1001, 1003, 1004, 1006, 1007]),
        ("paid orders from the west", [1004]),
        ("laptops or monitors", [1001, 1003, 1004, 1007, 1008]),
        ("customer contains smith", [1001, 1003]),
        ("quantity more than 2 or revenue over 1000", [1002, 1004, 1005, 1006]),
        ("the 2 largest orders", [1004, 1001]),
        ("newest 2 orders", [1008, 1007]),
        ("nur 2024, absteigend nach Umsatz sortiert", [1004, 1008, 1003, 1007, 1006, 1005]),
    ],
)
def test_rows(bench: Bench, request_text: str, numbers: list[int]) -> None:
    """The rows that are meant, in the order that is asked for."""
    names, *rows = bench.ask(request_text).rows
    assert names[0] == "Order ID"
    assert [row[0] for row in rows] == numbers


def test_shares_running_totals_and_columns_across(bench: Bench) -> None:
    """Shares add up to one, a running total ends at the sum, columns across hold each sum once."""
    rows = bench.ask("share of revenue by region").rows[1:]
    assert sum(row[-1] for row in rows) == pytest.approx(1)
    assert {row[0]: row[-1] for row in rows}["West"] == pytest.approx(2100 / 4860)
    assert bench.ask("percentage of cancelled orders").rows[1][-1] == pytest.approx(2 / 8)
    assert bench.ask("cumulative revenue by month").rows[-1][-1] == pytest.approx(4860)
    names, *rows = bench.ask("revenue by region 2023 vs 2024").rows
    assert names == ["Region", "2023", "2024"]
    assert ["North", 900.0, 600.0] in rows


def test_changed_columns(bench: Bench) -> None:
    """Computed, dropped, renamed and chosen."""
    names, first, *_ = bench.ask("add a column total = quantity * unit price").rows
    assert (names[-1], float(first[-1])) == ("total", 900)
    names, first, *_ = bench.ask("unit price with 19 % VAT").rows
    assert float(first[-1]) == pytest.approx(1071)
    assert "Status" not in bench.ask("without the status column").rows[0]
    assert "Client" in bench.ask("rename Customer to Client").rows[0]
    assert bench.ask("only customer and revenue").rows[0] == ["Customer", "Revenue"]


def test_joined_tables(both: Bench) -> None:
    """A column of another table is found by the key that both have."""
    expected = {"Berlin": 1700, "Bonn": 160, "Madrid": 2100, "London": 900}
    for request in (
        "revenue by city",
        "join sales and customers on customer, total revenue by city",
    ):
        assert dict(both.ask(request).rows[1:]) == expected
    assert len(both.ask("add the city from customers.csv to sales.csv").rows) == 9
    assert [row[0] for row in both.ask("customers without email").rows[1:]] == ["Bob Jones"]


@pytest.mark.parametrize(
    "request_text",
    ["how many customers?", "orders after 2024", "best customers", "the 3 most expensive products"],
)
def test_asked(bench: Bench, request_text: str) -> None:
    """What has two readings is asked about, with requests that have one or ask on."""
    reading = bench.read(request_text)
    assert isinstance(reading, Question)
    assert all(not isinstance(bench.read(option), Declined) for option in reading.options)


@pytest.mark.parametrize(
    ("request_text", "why"),
    [
        ("revenue in berlin", "berlin"), ("status is payed", 'did you mean "Paid"'),
        ("out of stock products", "out"),
        ("revenue growth by month", "growth"),
    ],
)  # fmt: skip
def test_declined(bench: Bench, request_text: str, why: str) -> None:
    """What is not understood is named."""
    reading = bench.read(request_text)
    assert isinstance(reading, Declined), reading
    assert why in reading.reason
