"""Tables of the English prompts, made up with a seed; run as a module it writes them all."""

import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from providers.offline.prompts.made_tables_german import GERMAN
from providers.offline.prompts.raw_values import day, messy, people, usd, write_table

Made = tuple[list[str], list[list[Any]]]

FIRST = [
    "Ada",
    "Ben",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Gina",
    "Hugo",
    "Iris",
    "Jack",
    "Kara",
    "Liam",
    "Mona",
    "Nick",
    "Olga",
    "Paul",
]
LAST = [
    "Adams",
    "Baker",
    "Clark",
    "Davis",
    "Evans",
    "Foster",
    "Grant",
    "Hayes",
    "Irwin",
    "Jones",
    "Kelly",
    "Lewis",
]
PRODUCTS = {
    "Desk": 249.0, "Chair": 129.5, "Lamp": 39.9, "Shelf": 89.0, "Monitor": 310.0, "Keyboard": 45.5,
    "Mouse": 19.9, "Cable": 7.25,
}  # fmt: skip


def sales(rng: Random) -> Made:
    """Sales over two years; regions with blanks and other capitals."""
    rows = []
    sellers = people(rng, FIRST, LAST, 6)
    for _ in range(240):
        product = rng.choice(list(PRODUCTS))
        units, price = rng.randint(1, 40), PRODUCTS[product]
        region = messy(rng, rng.choice(["North", "South", "East", "West"]))
        when = day(rng, "2023-01-01", 731)
        rows.append([when, region, product, units, price, f"{units * price:.2f}",
                     rng.choice(sellers)])  # fmt: skip
    columns = ["Date", "Region", "Product", "Units", "Unit Price", "Revenue", "Salesperson"]
    return columns, rows


def orders(rng: Random) -> Made:
    """Orders of the customers, with two columns of dates."""
    rows = []
    for number in range(1, 201):
        ordered = day(rng, "2024-01-01", 366)
        status = rng.choice(["Open", "Shipped", "Shipped", "Shipped", "Cancelled", "Returned"])
        gone = (
            ordered + timedelta(days=rng.randint(1, 14))
            if status in {"Shipped", "Returned"}
            else None
        )
        rows.append([f"O-{number:04}", ordered, gone, f"C{rng.randint(1, 60):03}", status,
                     round(rng.uniform(15, 2400), 2), rng.choice(["Germany", "France", "Italy", "Spain", "Poland"])])  # fmt: skip
    return [
        "Order ID",
        "Order Date",
        "Ship Date",
        "Customer ID",
        "Status",
        "Amount",
        "Country",
    ], rows


def customers(rng: Random) -> Made:
    """Customers; some never ordered, some have no address."""
    rows = []
    for number, name in enumerate(people(rng, FIRST, LAST, 64), 1):
        mail = name.lower().replace(" ", ".") + "@example.com" if rng.random() < 0.8 else ""
        rows.append([f"C{number:03}", f" {name}" if number % 13 == 0 else name,
                     rng.choice(["Berlin", "Paris", "Rome", "Madrid", "Warsaw", "Lyon"]),
                     rng.choice(["Retail", "Wholesale", "Online"]), mail,
                     day(rng, "2018-01-01", 2300)])  # fmt: skip
    return ["Customer ID", "Name", "City", "Segment", "Email", "Since"], rows


def invoices(rng: Random) -> Made:
    """Invoices with two columns of dates and a total row at the end."""
    names = people(rng, FIRST, LAST, 15)
    rows: list[list[Any]] = []
    for number in range(1, 121):
        issued = day(rng, "2023-07-01", 540)
        net = round(rng.uniform(80, 5200), 2)
        rows.append([f"INV-{number:03}", rng.choice(names), datetime(issued.year, issued.month, issued.day),
                     datetime(issued.year, issued.month, issued.day) + timedelta(days=30), net,
                     round(net * 0.2, 2), round(net + round(net * 0.2, 2), 2), rng.choice(["yes", "yes", "no"])])  # fmt: skip
    totals = [round(sum(row[place] for row in rows), 2) for place in (4, 5, 6)]
    rows.append(["Total", None, None, None, *totals, None])
    return [
        "Invoice No",
        "Customer",
        "Invoice Date",
        "Due Date",
        "Net",
        "VAT",
        "Gross",
        "Paid",
    ], rows


def expenses(rng: Random) -> Made:
    """Expenses with dollar signs, and blanks around names."""
    names = people(rng, FIRST, LAST, 9)
    rows = [
        [day(rng, "2024-01-01", 366), messy(rng, rng.choice(names)),
         rng.choice(["Sales", "IT", "Marketing", "Finance"]),
         messy(rng, rng.choice(["Travel", "Meals", "Software", "Hotel", "Office"])),
         usd(round(rng.uniform(4, 1900), 2)), rng.choice(["Yes", "Yes", "No"])]
        for _ in range(150)
    ]  # fmt: skip
    return ["Date", "Employee", "Department", "Category", "Amount", "Approved"], rows


def bank(rng: Random) -> Made:
    """A bank account: signed amounts and the balance after each."""
    rows: list[list[Any]] = []
    balance = 2500.0
    days = sorted(day(rng, "2024-01-01", 366) for _ in range(160))
    for when in days:
        kind = rng.choice(["Groceries", "Rent", "Salary", "Insurance", "Leisure", "Transport", ""])
        amount = round(rng.uniform(1800, 2600) if kind == "Salary" else -rng.uniform(4, 320), 2)
        balance = round(balance + amount, 2)
        shop = {"Salary": "ACME payroll", "Rent": "Landlord"}.get(
            kind, rng.choice(["Tesco", "Shell", "Amazon", "Netflix"])
        )
        rows.append([when, shop, kind, f"{amount:.2f}", f"{balance:.2f}"])
    return ["Date", "Description", "Category", "Amount", "Balance"], rows


def payroll(rng: Random) -> Made:
    """Salaries, with the day that people began."""
    rows = []
    for number, name in enumerate(people(rng, FIRST, LAST, 45), 101):
        gross = rng.randint(28, 96) * 100.0
        rows.append([number, name, rng.choice(["Sales", "IT", "HR", "Finance", "Production"]), gross,
                     round(gross * 0.31, 2), round(gross - round(gross * 0.31, 2), 2),
                     day(rng, "2010-01-01", 5300)])  # fmt: skip
    return [
        "Employee No",
        "Name",
        "Department",
        "Gross Salary",
        "Tax",
        "Net Salary",
        "Start Date",
    ], rows


def timesheets(rng: Random) -> Made:
    """Hours by person and project; some not billable."""
    names = people(rng, FIRST, LAST, 8)
    rows = [
        [day(rng, "2024-01-01", 182), rng.choice(names), rng.choice(["Apollo", "Borealis", "Comet", "Internal"]),
         rng.randint(2, 18) / 2, rng.choice(["yes", "yes", "no"])]
        for _ in range(250)
    ]  # fmt: skip
    return ["Date", "Employee", "Project", "Hours", "Billable"], rows


def inventory(rng: Random) -> Made:
    """Stock with ids that begin with zeros."""
    things = [
        "Bolt",
        "Nut",
        "Screw",
        "Washer",
        "Bracket",
        "Hinge",
        "Handle",
        "Nail",
        "Hook",
        "Clamp",
    ]
    rows = [
        [f"{number * 37:05}", f"{rng.choice(things)} {number}", rng.choice(["Leeds", "Bristol", "Hull"]),
         rng.randint(0, 400), rng.randint(20, 120), f"{rng.uniform(0.2, 35):.2f}"]
        for number in range(1, 81)
    ]  # fmt: skip
    return ["SKU", "Item", "Warehouse", "Quantity", "Reorder Level", "Unit Cost"], rows


def products(rng: Random) -> Made:
    """Products with unit prices and percentages; the first eight are those that were sold."""
    names = [*PRODUCTS, *(f"Part {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")]
    rows = [
        [name, rng.choice(["Furniture", "Electronics", "Accessories"]),
         f"{PRODUCTS.get(name, round(rng.uniform(3, 400), 2)):.2f}", f"{rng.choice([0, 5, 10, 15, 20])}%"]
        for name in names
    ]  # fmt: skip
    return ["Product", "Category", "Price", "Discount"], rows


def marks(rng: Random) -> Made:
    """Marks of pupils; some were absent."""
    pupils = people(rng, FIRST, LAST, 20)
    rows: list[list[Any]] = []
    for place, pupil in enumerate(pupils):
        for subject in ("Maths", "English", "Physics"):
            for term in (1, 2):
                mark = "" if rng.random() < 0.05 else rng.randint(31, 99)
                rows.append([pupil, "78"[place % 2] + "AB"[place // 2 % 2], subject, term, mark])
    return ["Student", "Class", "Subject", "Term", "Mark"], rows


def attendance(rng: Random) -> Made:
    """Events with who registered and who came."""
    rows = []
    for number in range(1, 51):
        registered = rng.randint(10, 260)
        rows.append([f"Event {number}", day(rng, "2024-01-10", 340), rng.choice(["London", "Leeds", "York", "Bath"]),
                     registered, registered - rng.randint(0, registered // 2), f"£{rng.choice([0, 5, 12.5, 20, 35]):.2f}"])  # fmt: skip
    return ["Event", "Date", "City", "Registered", "Attended", "Ticket Price"], rows


def sensors(rng: Random) -> Made:
    """Readings by the hour; some are missing."""
    start = datetime(2024, 5, 1)
    rows = [
        [(start + timedelta(hours=number)).strftime("%Y-%m-%d %H:%M"), f"S{1 + number % 4}",
         "" if rng.random() < 0.04 else f"{rng.uniform(11, 31):.1f}", rng.randint(30, 90)]
        for number in range(300)
    ]  # fmt: skip
    return ["Timestamp", "Sensor", "Temperature", "Humidity"], rows


def donations(rng: Random) -> Made:
    """Donations, with a total row at the end."""
    names = people(rng, FIRST, LAST, 40)
    rows: list[list[Any]] = [
        [day(rng, "2023-01-01", 731), rng.choice(names), rng.choice(["Spring Appeal", "School Roof", "Winter Help"]),
         float(rng.choice([10, 20, 25, 50, 75, 100, 250, 500])), rng.choice(["Card", "Cash", "Transfer"])]
        for _ in range(110)
    ]  # fmt: skip
    rows.append(["Total", None, None, sum(row[3] for row in rows), None])
    return ["Date", "Donor", "Campaign", "Amount", "Method"], rows


def tickets(rng: Random) -> Made:
    """Support tickets; those that are open have no day of closing."""
    names = people(rng, FIRST, LAST, 5)
    rows = []
    for number in range(1, 141):
        opened = day(rng, "2024-02-01", 200)
        done = rng.random() < 0.7
        rows.append([f"T{number:04}", opened, opened + timedelta(days=rng.randint(0, 21)) if done else "",
                     rng.choice(["low", "medium", "high", "urgent"]), "closed" if done else rng.choice(["open", "waiting"]),
                     rng.choice(names), rng.choice(["App", "Web", "API"])])  # fmt: skip
    return ["Ticket", "Opened", "Closed", "Priority", "Status", "Agent", "Product"], rows


def budget(rng: Random) -> Made:
    """Projects with budget and what was spent, and a total row."""
    names = people(rng, FIRST, LAST, 6)
    rows: list[list[Any]] = [
        [f"Project {number:02}", rng.choice(["IT", "Sales", "Research", "Logistics"]), rng.randint(5, 90) * 1000,
         rng.randint(2, 100) * 950, rng.choice(names)]
        for number in range(1, 31)
    ]  # fmt: skip
    rows.append(["Total", None, sum(row[2] for row in rows), sum(row[3] for row in rows), None])
    return ["Project", "Department", "Budget", "Spent", "Owner"], rows


def houses(rng: Random) -> Made:
    """Houses for sale."""
    rows = [
        [f"{number} {rng.choice(['High', 'Mill', 'Church', 'Park'])} Street", rng.choice(["Oxford", "Reading", "Swindon"]),
         rng.randint(1, 6), rng.randint(35, 240), f"£{rng.randint(140, 980) * 1000:,}", day(rng, "2024-01-01", 300)]
        for number in range(1, 91)
    ]  # fmt: skip
    return ["Address", "City", "Bedrooms", "Area", "Price", "Listed"], rows


def traffic(rng: Random) -> Made:
    """Visits of pages by source."""
    rows = [
        [day(rng, "2024-03-01", 92), rng.choice(["/", "/pricing", "/blog", "/docs", "/contact"]), rng.randint(5, 900),
         round(rng.uniform(0.2, 0.9), 2), rng.choice(["google", "direct", "newsletter", "social"])]
        for _ in range(180)
    ]  # fmt: skip
    return ["date", "page", "visits", "bounce_rate", "source"], rows


def survey(rng: Random) -> Made:
    """Answers of a survey; some gave no age."""
    rows = [
        [number, "" if rng.random() < 0.08 else rng.randint(18, 79), rng.choice(["female", "male", "other"]),
         messy(rng, rng.choice(["Dublin", "Cork", "Galway"])), rng.randint(1, 5), rng.choice(["good", "too slow", "nice staff", ""])]
        for number in range(1, 101)
    ]  # fmt: skip
    return ["Respondent", "Age", "Gender", "City", "Satisfaction", "Comment"], rows


def loans(rng: Random) -> Made:
    """Loans of a library; some are not back."""
    members = people(rng, FIRST, LAST, 25)
    titles = [
        "Emma",
        "Dune",
        "Ulysses",
        "Persuasion",
        "Hamlet",
        "Middlemarch",
        "Beloved",
        "Walden",
        "Ivanhoe",
    ]
    rows = []
    for _ in range(130):
        lent = day(rng, "2024-01-01", 250)
        back = lent + timedelta(days=rng.randint(2, 40)) if rng.random() < 0.85 else ""
        rows.append([rng.choice(members), rng.choice(titles), lent, lent + timedelta(days=21), back,
                     rng.choice(["Central", "Harbour", "Hill"])])  # fmt: skip
    return ["Member", "Title", "Loaned", "Due", "Returned", "Branch"], rows


def shipments(rng: Random) -> Made:
    """Shipments; written d.m.Y though in English."""
    rows = []
    for number in range(1, 101):
        sent = day(rng, "2024-04-01", 180)
        rows.append([f"S{number:03}", rng.choice(["DHL", "UPS", "FedEx", "DPD"]), f"{rng.uniform(0.3, 48):.1f}",
                     f"{rng.uniform(4, 130):.2f}", sent.strftime("%d.%m.%Y"),
                     (sent + timedelta(days=rng.randint(1, 9))).strftime("%d.%m.%Y"), rng.choice(["Oslo", "Vienna", "Zurich", "Ghent"])])  # fmt: skip
    return ["Shipment", "Carrier", "Weight kg", "Cost", "Sent", "Delivered", "Destination"], rows


def prices_old(rng: Random) -> Made:
    """A price list; the new one differs from it in some."""
    rows = [
        [f"A{number:03}", f"Article {number}", f"{Random(number).uniform(2, 90):.2f}"]
        for number in range(1, 61)
    ]
    del rng
    return ["Article", "Name", "Price"], rows


def prices_new(rng: Random) -> Made:
    """The list of prices later: some changed, two gone, four new."""
    columns, rows = prices_old(rng)
    for place in rng.sample(range(60), 9):
        rows[place][2] = f"{float(rows[place][2]) * 1.1:.2f}"
    del rows[17], rows[40]
    rows += [[f"A{number:03}", f"Article {number}", f"{number}.50"] for number in range(61, 65)]
    return columns, rows


def takings(month: int) -> Callable[[Random], Made]:
    """Takings of one month."""

    def made(rng: Random) -> Made:
        rows = [
            [day(rng, f"2024-{month:02}-01", 28), rng.choice(["Mill Lane", "Station", "Market"]),
             f"{rng.uniform(120, 990):.2f}", rng.randint(9, 80)]
            for _ in range(40)
        ]  # fmt: skip
        return ["Date", "Shop", "Takings", "Customers"], sorted(rows, key=lambda row: row[0])

    return made


def recent(rng: Random) -> Made:
    """Orders around 2024-06-15, which the loader moves to today."""
    base = date(2024, 6, 15)
    rows = [
        [number, base - timedelta(days=rng.randint(0, 400)), rng.choice(["web", "shop", "phone"]),
         f"{rng.uniform(10, 400):.2f}"]
        for number in range(1, 121)
    ]  # fmt: skip
    return ["No", "Order Date", "Channel", "Total"], rows


def contacts(rng: Random) -> Made:
    """Addresses, some twice."""
    rows: list[list[Any]] = [
        [name, name.lower().replace(" ", ".") + "@mail.test", rng.choice(["Initech", "Globex", "Hooli"]),
         rng.choice(["Boston", "Denver", "Austin"])]
        for name in people(rng, FIRST, LAST, 55)
    ]  # fmt: skip
    rows += [list(row) for row in rng.sample(rows, 12)]
    rng.shuffle(rows)
    return ["name", "email", "company", "city"], rows


ENGLISH: dict[str, Callable[[Random], Made]] = {
    "sales.csv": sales, "orders.xlsx": orders, "customers.csv": customers, "invoices.xlsx": invoices,
    "expenses.csv": expenses, "bank.csv": bank, "payroll.xlsx": payroll, "timesheets.csv": timesheets,
    "inventory.csv": inventory, "products.tsv": products, "marks.csv": marks, "events.csv": attendance,
    "sensors.csv": sensors, "donations.xlsx": donations, "tickets.csv": tickets, "budget.xlsx": budget,
    "houses.csv": houses, "traffic.json": traffic, "survey.csv": survey, "loans.csv": loans,
    "shipments.csv": shipments, "prices_old.csv": prices_old, "prices_new.csv": prices_new,
    "january.csv": takings(1), "february.csv": takings(2), "march.csv": takings(3),
    "recent_orders.csv": recent, "contacts.jsonl": contacts,
}  # fmt: skip


def main(folder: Path) -> None:
    """Write all tables into a folder."""
    for name, make in {**ENGLISH, **GERMAN}.items():
        columns, rows = make(Random(name))
        write_table(folder / name, columns, rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "tables")
