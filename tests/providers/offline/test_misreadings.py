"""Requests that are easily misread: each has the right figures, or is asked about or declined."""

from datetime import date

import msgspec
import pytest

from kbd.jobs.records import (
    DeriveStep,
    FilterStep,
    GroupStep,
    Job,
    ShareStep,
    TopStep,
)
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.request import Declined, Question, Understood, read_request

TODAY = date(2026, 11, 29)
ROWS = 20


def text(name: str, *values: str, distinct: int = 0) -> KnownColumn:
    """Return a column of texts."""
    counts = dict.fromkeys(values, 3)
    return KnownColumn(
        name, "string", "", ROWS, distinct or len(values), counts, is_listed=bool(values)
    )


def number(name: str, role: str = "", kind: str = "float") -> KnownColumn:
    """Return a column of numbers; one of numbers of things has each once."""
    distinct = ROWS if role == "id" else 15
    return KnownColumn(name, kind, role, ROWS, distinct, minimum="1", maximum="900")


def day(name: str) -> KnownColumn:
    """Return a column of days in 2024."""
    return KnownColumn(name, "date", "", ROWS, 15, minimum="2024-01-02", maximum="2024-12-20")


ID = number("Ride ID", "id", "integer")
RIDES = KnownTable("rides.csv", "", (ID, day("Ride Date"), text("Rider", "Ann"), number("Km")), 20)
FAHRTEN = KnownTable(
    "fahrten.csv", "",
    (number("Fahrt-Nr", "id", "integer"), day("Datum"), text("Fahrer", "Anna"),
     number("Kilometer")), 20,
)  # fmt: skip
VISITS = KnownTable(
    "vet.csv", "",
    (day("Visit Date"), text("Pet", "Rex", "Mia"), number("Fee"), number("Minutes")), 20,
)  # fmt: skip
CONTROLS = msgspec.structs.replace(VISITS, columns=(*VISITS.columns, day("Control Date")))
BESUCHE = KnownTable(
    "tierarzt.csv", "", (day("Besuchsdatum"), text("Tier", "Rex", "Mia"), number("Kosten")), 20
)
BOOKINGS = KnownTable(
    "hotel.csv", "", (text("Booking", distinct=20), text("Room Type", "Single"), number("Price")),
    20,
)  # fmt: skip
BUCHUNGEN = KnownTable(
    "hotel.csv", "",
    (number("Buchung", "id", "integer"), text("Zimmertyp", "Einzel"), number("Preis")), 20,
)  # fmt: skip
PRODUCTS = KnownTable(
    "items.csv", "", (text("Product", distinct=20), text("Group", "A", "B"), number("Revenue")), 20
)
RUNS = KnownTable(
    "results.csv", "",
    (text("Runner", distinct=6), text("Category", "M40", "W40"), number("Minutes"),
     number("Marks"), number("Revenue"), number("Price", "unit price")), 20,
)  # fmt: skip
LAUF = KnownTable(
    "ergebnisse.csv", "", (text("Name", distinct=18), text("Klasse", "M40"), number("Zeit")), 20
)
PURCHASES = KnownTable(
    "purchases.csv", "",
    (text("Vendor Country", "DE", "US"), text("Item", distinct=12),
     number("Qty", kind="integer"), number("Unit Price", "unit price")), 20,
)  # fmt: skip
EINKAUF = KnownTable(
    "einkauf.csv", "",
    (text("Land", "DE", "US"), text("Artikel", distinct=12), number("Menge", kind="integer"),
     number("Einzelpreis", "unit price")), 20,
)  # fmt: skip
PAYMENTS = KnownTable(
    "payments.csv", "",
    (day("Date"), text("Department", "Lab"), text("Supplier", "Acme"), number("Amount")), 20,
)  # fmt: skip
ZAHLUNGEN = KnownTable(
    "zahlungen.csv", "", (day("Datum"), text("Abteilung", "Labor"), number("Betrag")), 20
)
TWO_AMOUNTS = msgspec.structs.replace(PAYMENTS, columns=(*PAYMENTS.columns, number("Tax")))
PEOPLE = KnownTable(
    "teilnehmer.csv", "",
    (number("TN-Nr", "id", "integer"), text("Name", distinct=20), text("Kurs-ID", "K1", "K2"),
     text("Bezahlt", "ja", "nein")), 20,
)  # fmt: skip
COURSES = KnownTable(
    "kurse.csv", "", (text("Kurs-ID", "K1", "K2"), text("Kurs", "Yoga", "Tanz"), number("Gebühr")),
    2,
)  # fmt: skip


def reading(request: str, *tables: KnownTable) -> Understood | Question | Declined:
    """Return the reading of a request about some tables."""
    return read_request(request, tables, [table.path for table in tables], TODAY)


def job(request: str, *tables: KnownTable) -> Job:
    """Return the job of a request that has one reading."""
    found = reading(request, *tables)
    assert isinstance(found, Understood), found
    return found.job


def where(found: Job) -> str:
    """Return the condition of a job, "" for none."""
    return " / ".join(step.where for step in found.steps if isinstance(step, FilterStep))


def groups(found: Job) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """Return the figures of a job, each its function, its column and its groups."""
    return [
        (one.function, one.column, step.by)
        for step in found.steps if isinstance(step, GroupStep) for one in step.figures
    ]  # fmt: skip


def tops(found: Job) -> list[tuple[int, str, bool, tuple[str, ...]]]:
    """Return the rankings of a job: how many, by what, whether descending, of each what."""
    return [
        (step.count, step.by[0].column, step.by[0].descending, step.per)
        for step in found.steps if isinstance(step, TopStep)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("request_text", "first", "behind"),
    [
        ("rides from 1 to 15 July 2024", "07-01", "07-16"),
        ("total km from 1 to 15 July 2024", "07-01", "07-16"),
        ("rides between the 3rd and the 9th of May", "05-03", "05-10"),
        ("km between 3 and 9 May", "05-03", "05-10"),
        ("rides 1-15 July 2024", "07-01", "07-16"),
        ("rides July 1-15, 2024", "07-01", "07-16"),
        ("total km from July 1 to 15 2024", "07-01", "07-16"),
        ("ride id between 3 and 9 May", "05-03", "05-10"),
        ("rides from 28 June to 3 July 2024", "06-28", "07-04"),
    ],
)
def test_days_of_a_month(request_text: str, first: str, behind: str) -> None:
    """Two numbers before a month are its days, and no amounts or numbers of things."""
    found = where(job(request_text, RIDES))
    assert found == f"\"Ride Date\" >= date '2024-{first}' and \"Ride Date\" < date '2024-{behind}'"


@pytest.mark.parametrize(
    ("request_text", "first", "behind"),
    [
        ("Fahrten vom 1. bis 15. Juli 2024", "07-01", "07-16"),
        ("Kilometer 1.-15. Juli 2024", "07-01", "07-16"),
        ("Fahrten 1. - 15. Juli", "07-01", "07-16"),
        ("Summe Kilometer vom 1. bis zum 15. Juli", "07-01", "07-16"),
        ("Fahrten zwischen dem 3. und dem 9. Mai", "05-03", "05-10"),
        ("Kilometer zwischen 3. und 9. Mai 2024", "05-03", "05-10"),
    ],
)
def test_tage_eines_monats(request_text: str, first: str, behind: str) -> None:
    """The same in German, where a point stands behind each day."""
    found = where(job(request_text, FAHRTEN))
    assert found == f"Datum >= date '2024-{first}' and Datum < date '2024-{behind}'"


def test_numbers_that_are_no_days() -> None:
    """A range with its unit, or its column and a month said apart, stays one of amounts."""
    assert where(job("rides between 5 and 10 km in July 2024", RIDES)).startswith(
        "Km >= 5 and Km <= 10 and "
    )
    for unread in ("rides from 28 to 3 July 2024", "rides with km 3 to 9 in May"):
        assert isinstance(reading(unread, RIDES), Declined)


@pytest.mark.parametrize(
    ("request_text", "table", "top"),
    [
        ("3 most expensive visits", VISITS, (3, "Fee", True, ())),
        ("the 3 most expensive visits per pet", VISITS, (3, "Fee", True, ("Pet",))),
        ("top 3 visits by minutes", VISITS, (3, "Minutes", True, ())),
        ("most expensive visit", VISITS, (1, "Fee", True, ())),
        ("die 3 teuersten Besuche", BESUCHE, (3, "Kosten", True, ())),
        ("3 most expensive bookings", BOOKINGS, (3, "Price", True, ())),
        ("die 3 teuersten Buchungen", BUCHUNGEN, (3, "Preis", True, ())),
        ("which visit was the most expensive?", VISITS, (1, "Fee", True, ())),
        ("the visit with the lowest fee", VISITS, (1, "Fee", False, ())),
        ("Buchung mit dem höchsten Preis", BUCHUNGEN, (1, "Preis", True, ())),
    ],
)
def test_things_of_the_rows_are_ranked(
    request_text: str, table: KnownTable, top: tuple[int, str, bool, tuple[str, ...]]
) -> None:
    """What rows are called by their day or number means rows, and no groups of these."""
    found = job(request_text, table)
    assert tops(found) == [top]
    assert not groups(found)


@pytest.mark.parametrize(
    ("request_text", "table", "key", "is_share"),
    [
        ("percentage of bookings by room type", BOOKINGS, "Room Type", True),
        ("Anteil der Buchungen je Zimmertyp", BUCHUNGEN, "Zimmertyp", True),
        ("Prozent der Buchungen nach Zimmertyp", BUCHUNGEN, "Zimmertyp", True),
        ("percentage of products by group", PRODUCTS, "Group", True),
        ("percentage of visits by pet", VISITS, "Pet", True),
        ("number of visits per pet", VISITS, "Pet", False),
        ("Anzahl Besuche je Tier", BESUCHE, "Tier", False),
    ],
)
def test_things_of_the_rows_are_counted(
    request_text: str, table: KnownTable, key: str, is_share: bool
) -> None:
    """A percentage or number of them is of rows, by the one key that is named."""
    found = job(request_text, table)
    assert groups(found) == [("count", None, (key,))]
    assert any(isinstance(step, ShareStep) for step in found.steps) == is_share


def test_a_share_of_an_amount_has_its_groups() -> None:
    """Where it says what the share is in, each thing is a group."""
    found = job("share of each product in total revenue", PRODUCTS)
    assert groups(found) == [("sum", "Revenue", ("Product",))]


def test_days_are_ranked_where_they_are_named() -> None:
    """A column of days is what is ranked only where days are spoken of."""
    assert groups(job("top 3 days by total fee", VISITS)) == [("sum", "Fee", ("Visit Date",))]
    assert isinstance(reading("3 most expensive visits", CONTROLS), Declined)


@pytest.mark.parametrize(
    ("request_text", "table"),
    [
        ("best runner of each category by minutes", RUNS),
        ("best runner of each category", RUNS),
        ("best 3 runners by marks", RUNS),
        ("worst runner per category by price", RUNS),
        ("best minutes of each category", RUNS),
        ("bester Name je Klasse nach Zeit", LAUF),
        ("die besten 3 nach Zeit", LAUF),
        ("beste Zeit je Klasse", LAUF),
        ("longest visit", VISITS),
        ("which visit was the longest?", VISITS),
        ("welcher Besuch war der letzte?", BESUCHE),
        ("which Besuch was the latest?", BESUCHE),
        ("highest fee visits", VISITS),
        ("total fee first 15 days of July 2024", VISITS),
        ("first 3 days of July by total fee", VISITS),
        ("average price per booking", BOOKINGS),
        ("durchschnittlicher Preis pro Buchung", BUCHUNGEN),
        ("which rides had a rider?", RIDES),
        ("total revenue by category, top 1", RUNS),
        ("revenue by category, top 1", RUNS),
    ],
)
def test_two_ways_of_a_rank(request_text: str, table: KnownTable) -> None:
    """What may be the highest or the lowest, rows or groups, is asked about or declined."""
    found = reading(request_text, table)
    if isinstance(found, Understood):
        assert groups(found.job) == [("sum", "Revenue", ("Category",))]
        assert tops(found.job) == [(1, "Total Revenue", True, ())]


@pytest.mark.parametrize("request_text", ["rides per Rider, top 1", "rides per Rider, bottom 2"])
def test_what_is_counted_is_not_ranked_by_an_amount(request_text: str) -> None:
    """Things of a group and a number of them are no rows by the only amount; both are offered."""
    found = reading(request_text, RIDES)
    assert isinstance(found, Question), found
    for option in found.options:
        assert isinstance(reading(option, RIDES), Understood), option
    (counted,) = (option for option in found.options if option.endswith("by count of rows"))
    assert groups(job(counted, RIDES)) == [("count", None, ("Rider",))]


@pytest.mark.parametrize("way", ["top", "bottom"])
def test_what_does_not_add_up_is_offered_in_the_way_that_was_asked(way: str) -> None:
    """Of the lowest ones by a price, the lowest are offered."""
    found = reading(f"{way} 2 category by price", RUNS)
    assert isinstance(found, Question), found
    assert all(option.startswith(f"{way} 2 ") for option in found.options)


def test_rows_without_a_value_are_left_out_by_one_word() -> None:
    """What has no value and is left out is told as what has one, as its file is called."""
    found = reading("remove rows where Fee is empty", VISITS)
    assert isinstance(found, Understood)
    assert found.words.startswith("Rows where Fee is not empty, in vet-with-fee.csv")


def test_the_first_groups_are_told_with_their_order() -> None:
    """What the first ones are first by stands in the sentence."""
    found = reading("total revenue by category, top 1", RUNS)
    assert isinstance(found, Understood)
    assert "Total Revenue by Category the top 1 by Total Revenue" in found.words


def test_the_best_by_money_earned() -> None:
    """Of what is earned the most is the best."""
    found = job("best runner of each category by revenue", RUNS)
    assert tops(found) == [(1, "Total Revenue", True, ("Category",))]


@pytest.mark.parametrize("word", ["highest", "lowest"])
def test_answers_to_which_way(word: str) -> None:
    """Either way that the question offers can be read."""
    found = reading("best runner of each category by minutes", RUNS)
    assert isinstance(found, Question)
    assert any(word in option for option in found.options)


@pytest.mark.parametrize(
    ("request_text", "table", "function", "keys"),
    [
        ("spend per vendor country (qty * unit price)", PURCHASES, "sum", ("Vendor Country",)),
        ("total spend per vendor country (qty * unit price)", PURCHASES, "sum",
         ("Vendor Country",)),
        ("average spend per vendor country (qty * unit price)", PURCHASES, "average",
         ("Vendor Country",)),
        ("spend per item and vendor country (qty x unit price)", PURCHASES, "sum",
         ("Item", "Vendor Country")),
        ("total spend (qty * unit price) per vendor country", PURCHASES, "sum",
         ("Vendor Country",)),
        ("add a column item value (qty * unit price)", PURCHASES, "", ()),
        ("Wert pro Artikel und Land (Menge x Einzelpreis)", EINKAUF, "sum", ("Artikel", "Land")),
        ("durchschnittlicher Wert je Land (Menge x Einzelpreis)", EINKAUF, "average", ("Land",)),
    ],
)  # fmt: skip
def test_a_formula_beside_groups(
    request_text: str, table: KnownTable, function: str, keys: tuple[str, ...]
) -> None:
    """What brackets compute is grouped by the words beside them, which are no part of its name."""
    found = job(request_text, table)
    (made,) = [name for step in found.steps if isinstance(step, DeriveStep)
               for name in step.columns]  # fmt: skip
    assert made in ("spend", "Wert", "item value")
    assert groups(found) == ([(function, made, keys)] if keys else [])


@pytest.mark.parametrize(
    "request_text",
    [
        "spend per supplier country (qty * unit price)",
        "spend in vendor country (qty * unit price)",
        "vendor country spend (qty * unit price)",
    ],
)
def test_a_name_takes_no_groups(request_text: str) -> None:
    """A new column is not called by words for groups or by a column that is there."""
    assert isinstance(reading(request_text, PURCHASES), Declined)


@pytest.mark.parametrize(
    ("request_text", "table", "column"),
    [
        ("what did we pay for the Lab in 2024?", PAYMENTS, "Amount"),
        ("what did we pay Acme?", PAYMENTS, "Amount"),
        ("how much did we pay for the Lab?", PAYMENTS, "Amount"),
        ("Was haben wir 2024 für das Labor ausgegeben?", ZAHLUNGEN, "Betrag"),
        ("Wie viel haben wir für das Labor ausgegeben?", ZAHLUNGEN, "Betrag"),
        ("wieviel haben wir 2024 ausgegeben", ZAHLUNGEN, "Betrag"),
    ],
)
def test_what_was_paid_is_one_sum(request_text: str, table: KnownTable, column: str) -> None:
    """What was paid is the sum of the only amounts, and no list of rows."""
    assert groups(job(request_text, table)) == [("sum", column, ())]


@pytest.mark.parametrize(
    ("request_text", "table"),
    [
        ("what did we pay for the Lab in 2024?", TWO_AMOUNTS),
        ("wie viel haben wir für Labor bezahlt", ZAHLUNGEN),
        ("what has not been paid yet?", PAYMENTS),
        ("what did we pay for?", PAYMENTS),
        ("wie viel hat Labor?", ZAHLUNGEN),
        ("wieviel Fahrten hat Anna", FAHRTEN),
        ("what do we spend most on?", PAYMENTS),
        ("what did we pay Acme and when?", PAYMENTS),
    ],
)
def test_what_was_paid_may_be_open(request_text: str, table: KnownTable) -> None:
    """Of several amounts, or of words that no column has, no figure is told."""
    assert not isinstance(reading(request_text, table), Understood)


@pytest.mark.parametrize(
    "request_text",
    [
        "wer hat noch nicht bezahlt? mit Kurs",
        "wer hat noch nicht bezahlt, mit Kurs und Gebühr",
        "wer hat nicht bezahlt? mit Kurs-ID",
        "wer ist im Kurs K1?",
    ],
)
def test_columns_of_another_table_are_not_dropped(request_text: str) -> None:
    """What another table's column is asked for is not answered with a column like it."""
    assert isinstance(reading(request_text, PEOPLE, COURSES), Declined)


def test_who_wants_persons() -> None:
    """The rows are told, and of one other column alone nothing."""
    found = job("wer hat noch nicht bezahlt?", PEOPLE)
    assert [type(step).__name__ for step in found.steps] == ["FilterStep", "ReportStep"]
    assert isinstance(reading("wer hat noch nicht bezahlt? mit Kurs-ID", PEOPLE), Declined)


ORDERS = KnownTable(
    "orders.csv", "",
    (number("Order ID", "id", "integer"), day("Order Date"), day("Ship Date"),
     text("Customer", distinct=9), text("Country", "Germany", "France"),
     text("Status", "Open", "Paid", "Cancelled"), number("Unit Price", "unit price"),
     number("Amount"), number("Discount", "rate")), 20,
)  # fmt: skip
STAFF = KnownTable(
    "staff.csv", "",
    (text("Name", distinct=20), text("Department", "Sales", "IT"), number("Age", kind="integer"),
     number("Salary")), 20,
)  # fmt: skip
MEMBERS = KnownTable(
    "members.csv", "",
    (text("Member", distinct=20), day("Birthday"), day("Joined"), number("Fee"),
     number("Visits", kind="integer")), 20,
)  # fmt: skip
FILMS = KnownTable(
    "films.csv", "", (text("Title", distinct=20), number("Price"), number("Length")), 20
)


@pytest.mark.parametrize(
    ("request_text", "table"),
    [
        # A part of a name is no group of prices.
        ("amount per unit", ORDERS),
        # Which date, which price, which number is not said.
        ("latest order of each customer", ORDERS),
        ("oldest member", MEMBERS),
        ("newest member", MEMBERS),
        ("5 cheapest orders", ORDERS),
        ("people over 30", STAFF),
        ("members without visits", MEMBERS),
        ("members longer than 3", MEMBERS),
        # A word of the language is a value, too.
        ("average salary of sales and it", STAFF),
        ("salary over 50000 or sales", STAFF),
        ("names with A", STAFF),
        ("customers called Smith", ORDERS),
        # What is taken off is not passed over.
        ("total amount excluding discount", ORDERS),
        # What has no such row is no choice of other rows.
        ("which countries have no open orders", ORDERS),
        ("rank customers by amount", ORDERS),
        ("orders with amount = discount * unit price", ORDERS),
        ("number the rows", ORDERS),
        ("who approved the most?", ORDERS),
    ],
)
def test_what_may_mean_another_thing(request_text: str, table: KnownTable) -> None:
    """It is asked about or declined, and no figure is made of the other reading."""
    assert not isinstance(reading(request_text, table), Understood)


@pytest.mark.parametrize(
    ("request_text", "table", "condition"),
    [
        ("paid and cancelled orders", ORDERS, "same(Status, 'Paid') or same(Status, 'Cancelled')"),
        ("how many people in sales earn more than 50000", STAFF, "Department"),
        ("films longer than 180", FILMS, "Length > 180"),
        ("older than 50 in sales", STAFF, "Age > 50"),
    ],
)
def test_words_that_are_values(request_text: str, table: KnownTable, condition: str) -> None:
    """Where its place tells that a word is a value, or a length, it is one."""
    assert condition in where(job(request_text, table))


REASONS = """\
rank customers by amount | say by which figure it is ranked
which customers have no open orders | it asks for what has no such row
first 10 orders | in which order the first rows are meant
top 5 customers by unit price | does not add up, and "Customer" has several rows each
one sheet per | it does not say by which column to split
one sheet per customer by status | a sheet is made for each value of one column
one sheet per status as csv | sheets need a workbook
customers with amount over 5 | or for the different values of "Customer"
status customer | I do not see how "Status" and "Customer" go together
status, total amount | I do not see what "Status" is for
share of amount | it does not say what shares are of
average amount share by customer | shares are of a sum or of a count
average amount over 5 | it has a condition on a figure
total amount by customer sorted by status | the result has no "Status" to sort by
pivot total amount and average amount by customer and status | shows one figure
average customer | "Customer" holds no numbers
amount over 5 and status is open or amount under 3 | conditions with and, and others with or
amount over 5 and amount over 5 or amount over 5 | conditions with and, and others with or
sort by count | it sorts by a figure, and asks for none
top 3 longest orders | it does not say by which column "longest" is meant
amount by customer, top 3 | may be of "Customer", or rows of each
orders per customer, top 3 | it does not say what the top 3 are ranked by
average amount per order id | each row has a "Order ID" of its own
who paid more than 100 | of single rows, or of the sum of "Amount" of each
orders over 5, total amount by customer | of single rows, or of the figures of groups
what did we pay and when | it asks for more than what was paid
which order was the latest | it does not say by which column "latest" is
draw a chart of amount | I cannot draw charts
amount contains a | "Amount" holds no texts
fill empty customer with 0 | "Customer" holds other values
top 10 percent by amount | not by a percentage of them
most expensive | what costs most may be that by "Unit Price" or "Amount"
make customer uniform | "Customer" has more values than I look at one by one
number the rows | it may ask for a number on each row
select customer, total amount | it chooses the columns "Customer" and asks for figures
total amount without the status column | it leaves out "Status" and asks for figures
How many orders? Add a column x = amount * 2 | it asks something and adds a column
one sheet per status and running total of amount over time | it asks for running totals beside
share of amount by status and top 3 customers by amount | it asks for shares beside
one sheet per status and top 3 orders by amount | it asks for first ones of an order beside
average amount by country and top 3 by status | the top 3 may be by "Status", or of its groups
total amount by country and rename Amount to Worth | I do not see what "Worth" is for
top 3 by amount and bottom 3 by amount | it asks for the first ones of two orders
"""


@pytest.mark.parametrize("line", REASONS.splitlines())
def test_why_nothing_is_guessed(line: str) -> None:
    """The reason or the question names what the words leave open."""
    request_text, reason = line.split(" | ")
    found = reading(request_text, ORDERS)

    assert isinstance(found, Declined | Question), found
    assert reason in (found.reason if isinstance(found, Declined) else found.text)


def test_what_is_said_twice_is_one_condition() -> None:
    """A condition that stands there twice is one, in the job and in the name of its file."""
    found = job("amount over 5 and amount over 5", ORDERS)

    assert where(found) == "Amount > 5"
    assert "orders-amount-over-5.csv" in found.title


def test_what_is_there_once_is_no_row_of_a_pivot() -> None:
    """A column that tells each row apart is not laid out against another one."""
    columns = (text("Variety", distinct=ROWS), text("Organic", "yes", "no"), text("Supplier", "A"))
    seeds = KnownTable("seeds.csv", "", columns, ROWS)

    assert isinstance(reading("share of organic varieties per supplier", seeds), Declined)
    assert "across" in job("status per country", ORDERS).title


@pytest.mark.parametrize("month", ["Mrz 2024", "März 2024", "March 2024", "2024-03"])
def test_a_month_by_any_of_its_names(month: str) -> None:
    """The names and abbreviations that recipes know are those of requests."""
    assert where(job(f"rides in {month}", RIDES)) == where(job("rides in March 2024", RIDES))
