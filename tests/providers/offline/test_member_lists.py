"""Lists of members: full names, days ahead, and what no choice of rows tells."""

from datetime import date

import msgspec
import pytest

from kbd.jobs.records import FilterStep, GroupStep, SelectStep, ShareStep, SortStep
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.request import Declined, Question, Understood, read_request

TODAY = date(2026, 11, 29)
ROWS = 20


NUMBER = KnownColumn("Member No", "integer", "id", ROWS, ROWS, minimum="1", maximum="900")
JOINED = KnownColumn("Joined", "date", "", ROWS, 15, minimum="2024-01-02", maximum="2024-12-20")
TOWN = KnownColumn("Town", "string", "", ROWS, 2, {"Ely": 9, "Ware": 11}, is_listed=True)
ACTIVE = KnownColumn("Active", "string", "", ROWS, 2, {"yes": 15, "no": 5}, is_listed=True)
MEMBERS = KnownTable(
    "members.csv", "",
    (NUMBER, KnownColumn("First Name", "string", "", ROWS, 18),
     KnownColumn("Last Name", "string", "", ROWS, 19), TOWN, JOINED, ACTIVE), ROWS,
)  # fmt: skip


@pytest.mark.parametrize(
    "request_text",
    ["just first and last name", "only their names", "nur Vor- und Nachname",
     "show first name and last name"],
)  # fmt: skip
def test_a_full_name_is_both_columns(request_text: str) -> None:
    """Where a list of columns says names, it is those of given and of family names."""
    found = read_request(request_text, [MEMBERS], ("members.csv",), TODAY)

    assert isinstance(found, Understood), found
    (chosen,) = [step for step in found.job.steps if isinstance(step, SelectStep)]
    assert chosen.columns == ("First Name", "Last Name")


def test_rows_are_not_sorted_by_a_guessed_name() -> None:
    """By which of both names is asked."""
    for request_text in ("sort by name", "count rows by name"):
        assert isinstance(read_request(request_text, [MEMBERS], ("members.csv",), TODAY), Question)


@pytest.mark.parametrize(
    ("request_text", "first", "behind"),
    [
        ("joined in the next 7 days", "2026-11-29", "2026-12-07"),
        ("joined next week", "2026-11-30", "2026-12-07"),
        ("Joined nächsten Monat", "2026-12-01", "2027-01-01"),
    ],
)
def test_days_ahead(request_text: str, first: str, behind: str) -> None:
    """So many days ahead begin today; a week or month is the one behind this one."""
    later = msgspec.structs.replace(JOINED, maximum="2027-06-01")
    table = msgspec.structs.replace(MEMBERS, columns=(*MEMBERS.columns[:4], later))
    found = read_request(request_text, [table], ("members.csv",), TODAY)

    assert isinstance(found, Understood), found
    (kept,) = [step for step in found.job.steps if isinstance(step, FilterStep)]
    assert kept.where == f"Joined >= date '{first}' and Joined < date '{behind}'"


@pytest.mark.parametrize(
    "request_text",
    ["how many members will join next year?", "joined in the next 3 months",
     "which towns have members who joined in March but not in April 2024",
     "what percentage of each town's members is active"],
)  # fmt: skip
def test_what_rows_do_not_tell_is_declined(request_text: str) -> None:
    """The future, days that may begin today or later, sets of rows, parts of each group."""
    found = read_request(request_text, [MEMBERS], ("members.csv",), TODAY)

    assert isinstance(found, Declined | Question), found


def test_a_condition_beside_shares_is_read() -> None:
    """What is chosen before shares are worked out is no part of them."""
    request_text = "share of members by town where Active is yes"
    found = read_request(request_text, [MEMBERS], ("members.csv",), TODAY)

    assert isinstance(found, Understood), found
    kinds = [type(step) for step in found.job.steps]
    assert kinds[:3] == [FilterStep, GroupStep, ShareStep]


def test_numbers_of_rows_are_not_added_up() -> None:
    """The number of "tickets" with a column of them may be their count, and is asked about."""
    rows = 40
    tickets = KnownColumn("Ticket", "integer", "", rows, rows, minimum="1001", maximum="1090")
    topic = KnownColumn("Topic", "string", "", rows, 3, {"a": 20, "b": 20}, is_listed=True)
    table = KnownTable("desk.csv", "", (tickets, topic), rows)

    found = read_request("number of tickets by topic", [table], ("desk.csv",), TODAY)
    assert isinstance(found, Question | Declined), found


@pytest.mark.parametrize(
    ("path", "number"),
    [("films.csv", "fid"), ("orders.csv", "Order ID"), ("bestellungen.csv", "Bestellnr")],
)
def test_things_with_several_rows_are_not_counted_by_rows(path: str, number: str) -> None:
    """A file of orders with a row for each item: "how many orders" is asked about."""
    noun = path.removesuffix(".csv")
    several = KnownColumn(number, "integer", "id", ROWS, 8, minimum="1", maximum="90")
    table = KnownTable(path, "", (several, TOWN), ROWS)
    once = KnownTable(path, "", (msgspec.structs.replace(several, distinct=ROWS), TOWN), ROWS)

    for request_text in (
        f"how many {noun} by Town", f"{noun} by Town", f"which Town has the most {noun}"
    ):  # fmt: skip
        asked = read_request(request_text, [table], (path,), TODAY)
        assert isinstance(asked, Question), asked
        assert len(asked.options) == 2
        assert isinstance(read_request(request_text, [once], (path,), TODAY), Understood)
    assert isinstance(read_request("count rows by Town", [table], (path,), TODAY), Understood)


def test_a_list_ends_where_only_begins() -> None:
    """Columns that are chosen behind an order are no more columns to sort by."""
    request_text = "sorted by Town, and only the columns Town, Last Name and Joined"
    found = read_request(request_text, [MEMBERS], ("members.csv",), TODAY)

    assert isinstance(found, Understood), found
    (ordered,) = [step for step in found.job.steps if isinstance(step, SortStep)]
    (chosen,) = [step for step in found.job.steps if isinstance(step, SelectStep)]
    assert [key.column for key in ordered.by] == ["Town"]
    assert chosen.columns == ("Town", "Last Name", "Joined")
