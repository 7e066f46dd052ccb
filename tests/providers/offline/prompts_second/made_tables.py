"""English tables of the second prompts, made up with a seed; run as a module it writes them all."""

import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from openpyxl import load_workbook

from providers.offline.prompts.raw_values import day, messy, people, usd, write_table
from providers.offline.prompts_second.made_tables_german import GERMAN

Made = tuple[list[str], list[list[Any]]]

FIRST = [
    "Amir",
    "Beth",
    "Carl",
    "Dora",
    "Earl",
    "Faye",
    "Glen",
    "Hope",
    "Ivan",
    "Jane",
    "Kofi",
    "Lucy",
    "Miles",
    "Nora",
    "Omar",
    "Priya",
]
LAST = [
    "Archer",
    "Bishop",
    "Cole",
    "Drake",
    "Ellis",
    "Flynn",
    "Gibbs",
    "Hardy",
    "Ingram",
    "Joyce",
    "Knox",
    "Lowe",
    "Marsh",
]

BASE = date(2025, 6, 16)
"""The day that stands for today in the freelancer's invoices."""

SECOND_SHEETS: dict[str, tuple[str, list[list[Any]]]] = {
    "fleet.xlsx": (
        "Garages",
        [
            ["Garage", "Town", "Phone"],
            ["Mill Lane Motors", "Derby", "01332 555 010"],
            ["Station Autos", "Leicester", "0116 555 0142"],
            ["QuickFit", "Derby", "01332 555 099"],
        ],
    ),
    "nebenkosten.xlsx": (
        "Hinweise",
        [
            ["Alle Beträge in Euro, brutto."],
            ["Aufzug wird nach Wohnungen umgelegt, der Rest nach Fläche."],
        ],
    ),
}
"""Sheets behind the table, as people keep them in the same workbook."""


def plate(rng: Random) -> str:
    """Return a number plate."""
    letters = "ABCDEFGHJKLMNPRSTVWXY"
    head, tail = (
        "".join(rng.choice(letters) for _ in range(2)),
        "".join(rng.choice(letters) for _ in range(3)),
    )
    return f"{head}{rng.randint(10, 74)} {tail}"


def gym(rng: Random) -> Made:
    """Members of a gym; some never came, some plans in other spellings."""
    fees = {"Basic": 24.9, "Plus": 39.9, "Premium": 64.5}
    rows: list[list[Any]] = []
    for number, name in enumerate(people(rng, FIRST, LAST, 90), 1):
        plan = rng.choice(["Basic", "Basic", "Plus", "Premium"])
        joined = day(rng, "2021-03-01", 1500)
        seen = joined + timedelta(days=rng.randint(1, 300)) if rng.random() < 0.85 else ""
        rows.append(
            [
                f"M{number:03}",
                f"{name} " if number % 17 == 0 else name,
                messy(rng, plan),
                usd(fees[plan]),
                joined,
                seen,
                rng.choice(["Riverside", "Old Town", "Airport"]),
            ]
        )
    return ["Member ID", "Name", "Plan", "Monthly Fee", "Joined", "Last Visit", "Branch"], rows


def fleet(rng: Random) -> Made:
    """Cars of a company; some have no driver."""
    models = {
        "Ford": ["Focus", "Transit"],
        "Skoda": ["Octavia", "Fabia"],
        "Toyota": ["Corolla", "Proace"],
    }
    drivers = people(rng, FIRST, LAST, 48)
    rows: list[list[Any]] = []
    for number in range(48):
        make = rng.choice(list(models))
        rows.append(
            [
                plate(rng),
                make,
                rng.choice(models[make]),
                None if number % 11 == 5 else drivers[number],
                messy(rng, rng.choice(["Diesel", "Diesel", "Petrol", "Hybrid", "Electric"])),
                rng.randint(4100, 168000),
                day(rng, "2025-07-05", 240),
                round(rng.uniform(145, 690), 2),
            ]
        )
    columns = ["Plate", "Make", "Model", "Driver", "Fuel", "Mileage", "Next Service"]
    return [*columns, "Monthly Cost"], rows


def appointments(rng: Random) -> Made:
    """Appointments of a clinic, with dates as in America."""
    doctors = {
        "Dr Shah": "Cardiology",
        "Dr Novak": "Cardiology",
        "Dr Reed": "Dermatology",
        "Dr Okafor": "Paediatrics",
        "Dr Lindt": "Orthopaedics",
    }
    rows: list[list[Any]] = []
    for _ in range(140):
        doctor = rng.choice(list(doctors))
        status = rng.choice(["attended", "attended", "attended", "cancelled", "no-show"])
        rows.append(
            [
                day(rng, "2025-02-03", 75).strftime("%m/%d/%Y"),
                f"{rng.choice(FIRST)} {rng.choice(LAST)}",
                doctor,
                messy(rng, doctors[doctor]),
                status,
                ""
                if status != "attended" and rng.random() < 0.4
                else rng.choice([10, 15, 20, 30, 45]),
                f"{rng.choice([0, 35, 48.5, 60, 95]):.2f}",
            ]
        )
    return ["Date", "Patient", "Doctor", "Department", "Status", "Minutes", "Fee"], rows


def fines(rng: Random) -> Made:
    """Parking fines, most of them paid, with a total at the end."""
    rows: list[list[Any]] = []
    total = 0
    for number in range(1, 111):
        issued = day(rng, "2024-11-01", 180)
        amount = rng.choice([35, 50, 70, 85, 110, 160])
        total += amount
        rows.append(
            [
                f"PF-{number * 7:05}",
                issued,
                messy(rng, rng.choice(["Bridge Road", "King Street", "Harbour Way", "Elm Close"])),
                plate(rng),
                rng.choice(["no ticket", "expired", "double parked", "bus lane", ""]),
                f"{amount:.2f}",
                issued + timedelta(days=rng.randint(2, 50)) if rng.random() < 0.7 else "",
            ]
        )
    rows.append(["Total", "", "", "", "", f"{total:.2f}", ""])
    return ["Ticket No", "Issued", "Street", "Plate", "Reason", "Amount", "Paid On"], rows


def cinema(rng: Random) -> Made:
    """Screenings of a cinema; some were sold out."""
    seats = {"Screen 1": 180, "Screen 2": 120, "Studio": 48}
    films = ["Moonlight Bay", "The Last Tram", "Paper Foxes", "Night Shift", "Salt & Stone"]
    rows: list[list[Any]] = []
    for _ in range(120):
        screen = rng.choice(list(seats))
        sold = seats[screen] if rng.random() < 0.12 else rng.randint(3, seats[screen] - 1)
        rows.append(
            [
                day(rng, "2025-04-01", 45),
                messy(rng, rng.choice(films)),
                screen,
                rng.choice(["afternoon", "evening", "late"]),
                seats[screen],
                sold,
                f"£{rng.choice([7.5, 9, 11.5, 13]):.2f}",
            ]
        )
    return ["Date", "Film", "Screen", "Slot", "Seats", "Sold", "Ticket Price"], rows


def energy(rng: Random) -> Made:
    """Meter readings by building; a few costs are not known."""
    meters = [
        (building, kind)
        for building in ("Town Hall", "Library", "Depot")
        for kind in ("electricity", "gas", "water")
    ]
    rows: list[list[Any]] = []
    for month in range(14):
        for place, (building, kind) in enumerate(meters):
            read = date(2024 + (6 + month) // 12, (6 + month) % 12 + 1, rng.randint(2, 28))
            used = round(rng.uniform(40, 2600), 1)
            cost = None if rng.random() < 0.04 else round(used * rng.uniform(0.09, 0.31), 2)
            rows.append([f"MT-{place + 1:02}", messy(rng, building), kind, read, used, cost])
    return ["meter", "building", "type", "read_on", "usage", "cost"], rows


def hotel(rng: Random) -> Made:
    """Stays in a hotel; some days were typed as texts."""
    rows: list[list[Any]] = []
    for number, guest in enumerate(people(rng, FIRST, LAST, 80), 1):
        arrival = day(rng, "2025-06-01", 110)
        departure = arrival + timedelta(days=rng.randint(1, 9))
        typed = number % 19 == 0
        rows.append(
            [
                f"HB{number + 4000}",
                guest,
                messy(rng, rng.choice(["Single", "Double", "Double", "Suite"])),
                arrival.isoformat() if typed else arrival,
                departure.isoformat() if typed else departure,
                round(rng.uniform(72, 410), 2),
                rng.choice(["Website", "Agency", "Phone"]),
                rng.choice(["yes", "yes", "no", None])
                if number % 5 == 0
                else rng.choice(["yes", "no"]),
            ]
        )
    columns = ["Booking", "Guest", "Room Type", "Check-in", "Check-out", "Rate", "Channel"]
    return [*columns, "Paid"], rows


def ingredients(rng: Random) -> Made:
    """What some recipes need, with what it costs."""
    goods = {
        "Butter": ("g", "Dairy"),
        "Milk": ("ml", "Dairy"),
        "Parmesan": ("g", "Dairy"),
        "Onion": ("pcs", "Produce"),
        "Carrot": ("pcs", "Produce"),
        "Tomatoes": ("g", "Produce"),
        "Garlic": ("pcs", "Produce"),
        "Minced Beef": ("g", "Meat"),
        "Bacon": ("g", "Meat"),
        "Flour": ("g", "Pantry"),
        "Olive Oil": ("ml", "Pantry"),
        "Sugar": ("g", "Pantry"),
        "Rice": ("g", "Pantry"),
    }
    recipes = ["Lasagne", "Chili", "Carrot Cake", "Risotto", "Pancakes", "Onion Soup", "Ragu"]
    rows: list[list[Any]] = []
    for recipe in [*recipes, "Apple Pie", "Pizza", "Meatballs"]:
        for thing in rng.sample(list(goods), rng.randint(6, 10)):
            unit, aisle = goods[thing]
            amount = rng.randint(1, 6) if unit == "pcs" else rng.randint(1, 16) * 50
            cost = "" if rng.random() < 0.04 else f"{rng.uniform(0.15, 6.8):.2f}"
            rows.append([recipe, thing, amount, unit, messy(rng, aisle), cost])
    return ["Recipe", "Ingredient", "Amount", "Unit", "Aisle", "Cost"], rows


def freelance(rng: Random) -> Made:
    """Invoices before a day that the loader moves to today."""
    # On the edges of "30, 60 and 90 days" readings differ, so none lies there.
    edges = {29, 30, 31, 59, 60, 61, 89, 90, 91}
    ages = [age for age in range(1, 400) if age not in edges]
    rates = {"Brightside Ltd": 65, "Corner Cafe": 48, "Delta Films": 82.5, "Estate & Co": 70}
    rows: list[list[Any]] = []
    for number in range(1, 101):
        client, hours = rng.choice(list(rates)), rng.randint(2, 60) / 2
        rows.append(
            [
                f"F{number:03}",
                client,
                BASE - timedelta(days=rng.choice(ages)),
                f"{hours:.1f}",
                f"{rates[client]:.2f}",
                f"{hours * rates[client]:.2f}",
                rng.choice(["paid", "paid", "paid", "open"]),
            ]
        )
    return ["Invoice", "Client", "Issued", "Hours", "Rate", "Amount", "Status"], rows


def calls(rng: Random) -> Made:
    """Calls to a hotline; not everybody left a rating."""
    rows: list[list[Any]] = []
    start = datetime.fromisoformat("2025-05-12T08:00")
    for number in range(1, 151):
        begun = start + timedelta(
            days=rng.choice([0, 1, 2, 3, 4, 7, 8, 9]), minutes=rng.randrange(600)
        )
        rows.append(
            [
                f"C{number + 900}",
                begun.strftime("%Y-%m-%d %H:%M"),
                rng.choice(["Tara", "Ulrich", "Vera", "Will", "Xenia"]),
                messy(rng, rng.choice(["Billing", "Technical", "Returns"])),
                rng.randint(3, 640),
                rng.randint(20, 1900),
                rng.choice(["yes", "yes", "yes", "no"]),
                "" if rng.random() < 0.3 else rng.randint(1, 5),
            ]
        )
    columns = ["Call ID", "Started", "Agent", "Queue", "Wait Sec", "Talk Sec", "Resolved"]
    return [*columns, "Rating"], rows


def flats(rng: Random) -> Made:
    """Flats to let; nine are empty, some ids have blanks."""
    letting = rng.sample(range(1, 56), 51)
    rows: list[list[Any]] = []
    for number in range(1, 61):
        rooms = rng.randint(1, 5)
        size = rooms * 17 + rng.randint(8, 30)
        tenant = "" if number % 7 == 3 or not letting else f"T{letting.pop():03}"
        rows.append(
            [
                f"F{number:02}",
                f"{rng.randint(1, 98)} {rng.choice(['Oak', 'Linden', 'Castle'])} Avenue",
                rooms,
                size,
                f"{size * rng.uniform(8.5, 15):.2f}",
                f"{tenant} " if number in {8, 21, 46} else tenant,
            ]
        )
    return ["Flat", "Address", "Rooms", "Size sqm", "Rent", "Tenant ID"], rows


def tenants(rng: Random) -> Made:
    """Tenants of the flats; a few have none now."""
    rows: list[list[Any]] = [
        [
            f"T{number:03}",
            f" {name}" if number % 14 == 0 else name,
            "" if rng.random() < 0.1 else f"0161 555 {rng.randint(1000, 9999)}",
            day(rng, "2014-01-01", 4000),
            f"{rng.randint(10, 40) * 50:.2f}",
        ]
        for number, name in enumerate(people(rng, FIRST, LAST, 55), 1)
    ]
    return ["Tenant ID", "Name", "Phone", "Since", "Deposit"], rows


ENGLISH: dict[str, Callable[[Random], Made]] = {
    "gym.csv": gym,
    "fleet.xlsx": fleet,
    "appointments.csv": appointments,
    "fines.csv": fines,
    "cinema.csv": cinema,
    "energy.jsonl": energy,
    "hotel.xlsx": hotel,
    "ingredients.csv": ingredients,
    "freelance.csv": freelance,
    "calls.csv": calls,
    "flats.csv": flats,
    "tenants.csv": tenants,
}


def main(folder: Path) -> None:
    """Write all tables into a folder, with the second sheets of those that have one."""
    for name, make in (ENGLISH | GERMAN).items():
        columns, rows = make(Random(f"second {name}"))
        write_table(folder / name, columns, rows)
        if name in SECOND_SHEETS:
            title, lines = SECOND_SHEETS[name]
            book = load_workbook(folder / name)
            sheet = book.create_sheet(title)
            for line in lines:
                sheet.append(line)
            book.save(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "tables")
