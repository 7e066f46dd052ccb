"""Texts that differ in capitals or blanks alone are one value, and a value must be there."""

import csv
import io
from pathlib import Path
from typing import Any

import anyio
import openpyxl
import pytest

from providers.offline.playing import Outcome, Player

SPENT = "Status,Category,Amount\npaid,Food,1\nPaid ,food,2\nopen,FOOD,4\npaid,Food,8\nPAID,Car,16\n"
TOTALED = "Category,Amount\nfood,1\nFood,2\nTotal,3\n"


def play(root: Path, request: str, text: str = SPENT) -> tuple[Player, Outcome]:
    """Run a request on spent.csv and return the player and the outcome."""
    player = Player(root, {"spent.csv": text})
    return player, anyio.run(player.run, request)


def rows(player: Player, name: str) -> list[list[str]]:
    """Return the rows of a text table."""
    return list(csv.reader(io.StringIO(player.workbench.content(name).decode(), newline="")))


def values(player: Player, name: str, sheet: str) -> list[list[Any]]:
    """Return the stored values of a sheet."""
    data = io.BytesIO(player.workbench.content(name))
    return [list(row) for row in openpyxl.load_workbook(data, data_only=True)[sheet].values]


def test_groups(tmp_path: Path) -> None:
    """One group under its most frequent spelling, and it is said."""
    _, outcome = play(tmp_path, "what is the total amount per category?")
    assert "- Car: Total Amount 16\n- Food: Total Amount 15" in outcome.summary
    assert '"FOOD", "Food" and "food" count as one Category ("Food")' in outcome.summary
    assert "(row 3: 'Paid '): blanks around texts taken off" in outcome.summary


@pytest.mark.full
def test_groups_told_apart(tmp_path: Path) -> None:
    """The word "exactly" keeps the spellings apart, and nothing is said of them."""
    for word in ("exactly", "case-sensitively"):
        _, outcome = play(tmp_path / word, f"what is the total amount per category, {word}?")
        assert "- FOOD: Total Amount 4" in outcome.summary
        assert "- Food: Total Amount 9" in outcome.summary
        assert "count as one" not in outcome.summary


@pytest.mark.full
def test_filters(tmp_path: Path) -> None:
    """A value is found in capitals or not, blanks around it or not, unless "exactly" is said."""
    player, _ = play(tmp_path / "a", "only rows where status is PAID, sorted by amount, as csv")
    assert [row[2] for row in rows(player, player.made)[1:]] == ["1", "2", "8", "16"]
    player, _ = play(tmp_path / "b", "only rows where status is exactly paid, as csv")
    assert [row[2] for row in rows(player, player.made)[1:]] == ["1", "8"]


def test_spellings_of_a_filter_are_said(tmp_path: Path) -> None:
    """Of the value that is asked for, not of others; none of one spelling, or told exactly."""
    told = '"PAID", "Paid" and "paid" count as one Status ("paid"); say "exactly" to tell them'
    for number, (request, is_told) in enumerate(
        (
            ("only rows where status is PAID, as csv", True),
            ("what is the total amount where status is not paid?", True),
            ("what is the total amount per status where status is paid?", True),
            ("only rows where status is open, as csv", False),
            ("only rows where status is exactly paid, as csv", False),
        )
    ):
        _, outcome = play(tmp_path / str(number), request)
        assert outcome.summary.count(told) == is_told, request


@pytest.mark.full
def test_sheets(tmp_path: Path) -> None:
    """One sheet for all spellings of a value, with the rows as the file has them."""
    player, _ = play(tmp_path, "one sheet per category with category and amount, and totals")
    assert values(player, player.made, "Food")[1:] == [
        ["Food", 1], ["food", 2], ["FOOD", 4], ["Food", 8],
    ]  # fmt: skip
    assert values(player, player.made, "Summary")[1:] == [
        ["Car", 1, 16], ["Food", 4, 15], ["Total", 5, 31],
    ]  # fmt: skip


@pytest.mark.full
def test_duplicates(tmp_path: Path) -> None:
    """Rows alike but for capitals are duplicates, which is said; "exactly" keeps them."""
    player, outcome = play(tmp_path / "a", "remove duplicates by status and category, as csv")
    assert [row[2] for row in rows(player, player.made)[1:]] == ["1", "4", "16"]
    assert (
        '"PAID", "Paid" and "paid" count as one Status ("paid"); say "exactly"' in outcome.summary
    )
    player, outcome = play(
        tmp_path / "b", "dedupe by status and category, case-sensitively, as csv"
    )
    assert [row[2] for row in rows(player, player.made)[1:]] == ["1", "2", "4", "16"]
    assert "count as one" not in outcome.summary


def test_a_value_that_no_row_has(tmp_path: Path) -> None:
    """No file is made; the values that there are and the near one are told."""
    player, outcome = play(tmp_path, "only rows where status is payed, as csv")
    assert player.workbench.files.names() == ["spent.csv"]
    assert 'no row has "payed" as Status; Status is one of paid, open (5 rows)' in outcome.summary
    assert 'did you mean "paid"?' in outcome.summary


@pytest.mark.full
@pytest.mark.parametrize(
    ("request_text", "reason"),
    [
        ("rows where status is not payed, as csv", 'no row has "payed" as Status'),
        ("rows where category contains foot", 'in no row Category contains "foot"'),
        ("rows where amount > 100, as csv", "no row is left: Rows where Amount is over 100"),
        ("rows where status is exactly PAD, as csv", 'no row has "PAD" as Status'),
        ("total amount per category where status is payed", 'did you mean "paid"?'),
        ("one sheet per category with amount where status is payed", 'did you mean "paid"?'),
        (
            "rows where status is open and category is car, as csv",
            "no row is left: Rows where Status is open and Category is Car",
        ),
    ],
)
def test_nothing_is_left(tmp_path: Path, request_text: str, reason: str) -> None:
    """A choice of no rows is declined with its reason, whatever the job."""
    player, outcome = play(tmp_path, request_text)
    assert player.workbench.files.names() == ["spent.csv"]
    assert reason in outcome.summary


def test_words_for_exactness(tmp_path: Path) -> None:
    """What stands in quotes is a value."""
    player, _ = play(
        tmp_path, 'rows where category is "exactly", as csv', "Category\nexactly\nExactly\n"
    )
    assert len(rows(player, player.made)) == 3


@pytest.mark.full
def test_totals_of_a_source(tmp_path: Path) -> None:
    """Groups leave them out and say so; a copy of the whole keeps them."""
    _, outcome = play(tmp_path / "a", "what is the total amount?", TOTALED)
    assert "Total Amount 3" in outcome.summary
    told = "spent.csv: 1 row left out (row 4: Total | 3): total of the rows above"
    assert outcome.summary.count(told) == 1
    assert outcome.summary.count("left out") == 1
    player, outcome = play(tmp_path / "b", "convert it to xlsx", TOTALED)
    assert values(player, "spent.xlsx", "Sheet1")[-1] == ["Total", 3]
    assert "is a formula (B4 =SUM(B2:B3))" in outcome.summary
    assert "left out" not in outcome.summary


@pytest.mark.full
def test_an_open_question(tmp_path: Path) -> None:
    """A figure that hangs on an unanswered question is not told; the question is."""
    _, outcome = play(tmp_path, "what is the total amount?", TOTALED.replace("Total,3", "Total,4"))
    assert "may sum others up" in outcome.summary
    assert "Amount adds up to 3 in 2 rows" in outcome.summary
    assert "Total Amount" not in outcome.summary


@pytest.mark.full
def test_totals_are_formulas(tmp_path: Path) -> None:
    """A row of totals is worked out by the sheet, and its values are stored with the formulas."""
    request = "total amount and number of rows per category, as xlsx"
    player, _ = play(tmp_path, request)
    data = player.workbench.content(player.made)
    sheet = openpyxl.load_workbook(io.BytesIO(data))["Summary"]
    assert [cell.value for cell in sheet[4]] == ["Total", "=SUM(B2:B3)", "=SUM(C2:C3)"]
    assert values(player, player.made, "Summary")[1:] == [
        ["Car", 16, 1], ["Food", 15, 4], ["Total", 31, 5],
    ]  # fmt: skip


ORDERS = (
    "Kind,Qty,Einzel,Amount,Month\nfood,2,1.50,3.00,1\nfood,3,2.00,6.00,2\ncar,5,4.10,20.50,3\n"
)


@pytest.mark.full
def test_what_does_not_add_up_is_not_summed_unasked(tmp_path: Path) -> None:
    """Totals are of quantities and amounts; a price, which the columns prove, is left out by name.

    Asked for by name its sum is made: that is told by whoever sums it.
    """
    player, outcome = play(tmp_path / "a", "one sheet per kind, and a summary with totals", ORDERS)
    found = values(player, player.made, "Summary")
    assert found[0] == ["Kind", "Count", "Total Qty", "Total Amount"]
    assert found[-1] == ["Total", 3, 10, 29.5]
    note = 'Not summed: Einzel (unit price), Month (period); say "total Einzel"'
    assert note in outcome.summary
    _, outcome = play(tmp_path / "b", "what is the total einzel per kind?", ORDERS)
    assert "- food: Total Einzel 3.5" in outcome.summary
    prices = "Kind,Price\nfood,1.50\ncar,2\n"
    _, outcome = play(tmp_path / "c", "what is the total per kind?", prices)
    assert '"Price" (unit price) does not add up; name the column' in outcome.summary
    _, outcome = play(tmp_path / "d", "what is the average per kind?", f"{prices}food,2.50\n")
    assert "- car: Average Price 2" in outcome.summary


SOLD = (
    "Customer,Region,Amount\nAnn,North,12.50\nBob,South,7.25\nann,North,3.10\nCid,,9.90\n"
    "Ann,South,19.90\n"
)


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("how many customers are there?", "the 5 rows, or of the 3 different values of"),
        ("number of customers by Region", 'say "count rows" or "count different Customer"'),
        ("one sheet per Region with number of customers", "the 3 different values of"),
        ("how many rows?", "Count 5"),
        ("total number of rows", "Count 5"),
        ("how many different customers are there?", "Different Customer 3"),
        ("number of distinct Customers, exactly", "Different Customer 4"),
        ("count unique customers by Region", "Different Customer by Region, in spent-different-"),
        ("total and count by Customer", "Total Amount, Count by Customer, in spent-amount-count"),
        ("average number of rows per Customer", "I do not make the average of a count"),
    ],
)
def test_what_is_counted(tmp_path: Path, request_text: str, told: str) -> None:
    """Rows, or the different values of a column: where these are not as many, it is asked."""
    _, outcome = play(tmp_path, request_text, SOLD)
    assert told in outcome.summary


def test_a_count_of_what_is_there_once_each_is_that_of_the_rows(tmp_path: Path) -> None:
    """Nothing is asked then; what is not counted by a column's name is counted by rows."""
    _, outcome = play(tmp_path, "how many customers?", "Customer,Count\nAnn,4\nBob,5\n")
    assert "Count 2" in outcome.summary
    _, outcome = play(tmp_path / "b", "count rows by Customer", "Customer,Count\nAnn,4\nAnn,5\n")
    assert "Count by Customer, in spent-count-by-customer.xlsx" in outcome.summary


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("total Amount per Customer, largest first, as csv", "Ann,35.5"),
        ("total Amount per Customer (lowest first) as csv", "Bob,7.25"),
        ("count and total Amount per Region, highest first, as csv", "North,2,15.6"),
    ],
)
def test_groups_by_their_figure(tmp_path: Path, request_text: str, first: str) -> None:
    """The first figure is meant, the largest or the smallest of it first."""
    player, _ = play(tmp_path, request_text, SOLD)
    written = player.workbench.content(player.made).decode().splitlines()
    assert written[1].startswith(first)


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("total Amount where Region is not North", "Total Amount 37.05"),
        ("total Amount where Region != South and Customer is not Ann", "Total Amount 9.90"),
        ("total Amount where Region is North", "Total Amount 15.60"),
    ],
)
def test_an_empty_field_is_no_value(tmp_path: Path, request_text: str, told: str) -> None:
    """Rows without a value are among those that do not have the one that is named."""
    _, outcome = play(tmp_path, request_text, SOLD)
    assert told in outcome.summary
