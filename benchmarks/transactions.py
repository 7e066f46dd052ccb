"""A year of household transactions that look real: seeded, so the bytes are the same everywhere.

1,204 rows in 12 categories, as a bank would export them: account by account, so not in the order of
dates, with CRLF line ends. A few rows are awkward on purpose (see `AWKWARD`). Only
`random.Random.random` is used, because Python promises its sequence for a seed across versions.

    python benchmarks/transactions.py transactions.csv
"""

import csv
import io
import sys
from datetime import date, timedelta
from pathlib import Path
from random import Random

__all__ = ["CATEGORIES", "HEADER", "ROWS", "transactions"]

ROWS = 1204
HEADER = ("Date", "Description", "Category", "Amount", "Account", "Reference")

CATEGORIES: dict[str, tuple[float, tuple[str, ...]]] = {
    "Groceries": (64, ("Corner Market", "Harvest Foods", "Green Basket", "Daily Bread Bakery")),
    "Housing": (920, ("Rent", "House insurance", "Plumber call-out")),
    "Transport": (18, ("Metro ticket", "City Cabs", "Bike repair", "Fuel stop")),
    "Utilities": (75, ("Electricity", "Water works", "Internet line", "Mobile plan")),
    "Dining": (34, ("Noodle House", "Pizzeria Da Gino", "The Old Mill", "Lunch counter")),
    "Health": (52, ("Pharmacy", "Dentist", "Eye test", "Physiotherapy")),
    "Clothing": (48, ("Shoe shop", "Winter coat", "Tailor")),
    "Entertainment": (22, ("Cinema", "Concert hall", "Book shop", "Museum")),
    "Travel": (210, ("Rail pass", "Night train", "Guest house", "Ferry")),
    "Education": (130, ("Evening class", "Course books", "Library fee")),
    "Gifts": (40, ("Flowers", "Toy shop", "Birthday present")),
    "Pets": (28, ("Vet", "Pet food", "Grooming")),
}
"""Each category with its typical amount and the descriptions that occur in it."""

ACCOUNTS = (("Current", 0.62), ("Card", 0.93), ("Savings", 1.0))
"""Each account with the cumulative share of the transactions that are booked on it."""

AWKWARD: dict[int, tuple[str, str, str | None]] = {
    77: ("Dining", 'Dinner at "Chez Zoé", table 4', None),
    190: ("Travel", "Hôtel Étoile – Besançon", None),
    305: ("Clothing", "Refund: shoe shop", "-59.90"),
    412: ("Gifts", "Straße & Söhne, Zürich", None),
    518: ("Health", "Dentist (amount to follow)", ""),
    640: ("Entertainment", "=Museum late ticket", None),
    733: ("Utilities", "+44 mobile top-up", None),
    951: ("Groceries", "Market, stall 7, cash", "1250.00"),
}
"""By row: category, description and amount (None: as for any row).

Quotes with a comma, accents, a negative, an empty amount, and text that looks like a formula.
"""


def transactions(seed: int = 2025) -> bytes:
    """Return the file: UTF-8, comma-separated, one header line and `ROWS` rows."""
    rows = [_row(Random(seed * 100_000 + number), number) for number in range(ROWS)]
    names = [name for name, _ in ACCOUNTS]
    rows.sort(key=lambda row: (names.index(row[4]), row[0], row[5]))
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(HEADER)
    writer.writerows(rows)
    return text.getvalue().encode()


def _row(random: Random, number: int) -> tuple[str, ...]:
    day = date(2025, 1, 1) + timedelta(days=int(random.random() * 365))
    category = list(CATEGORIES)[int(random.random() * len(CATEGORIES))]
    typical, descriptions = CATEGORIES[category]
    description = descriptions[int(random.random() * len(descriptions))]
    # Squared, so that small amounts are frequent and large ones occur.
    amount = f"{typical * (0.2 + 2.4 * random.random() ** 2):.2f}"
    place = random.random()
    account = next(name for name, share in ACCOUNTS if place < share)
    if number in AWKWARD:
        category, description, fixed = AWKWARD[number]
        amount = amount if fixed is None else fixed
    return (day.isoformat(), description, category, amount, account, f"T{number + 1:05d}")


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(transactions())
