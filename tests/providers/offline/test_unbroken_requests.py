"""Whatever words stand in a request, it is read, asked about or declined: nothing breaks."""

import itertools
import random
from collections.abc import Iterator
from datetime import date

import pytest

from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import TABLE_LEXICON
from kbd_offline.request import Declined, Question, Understood, read_request

TODAY = date(2026, 11, 29)
STATES = {"offen": 3, "bezahlt": 2}
CITIES = {"Berlin": 3, "BERLIN": 1, "Rome": 4}
CUSTOMERS = KnownTable(
    "customers.csv",
    columns=(
        KnownColumn("Customer ID", role="id", filled=8, distinct=8),
        KnownColumn("Name", filled=8, distinct=8),
        KnownColumn("City", filled=8, distinct=2, values=CITIES, is_listed=True),
    ),
    rows=8,
)
ORDERS = KnownTable(
    "orders 2024.csv",
    columns=(
        KnownColumn("Order ID", role="id", filled=20, distinct=20),
        KnownColumn("Customer ID", role="id", filled=20, distinct=6),
        KnownColumn("Order Date", "date", filled=20, distinct=9, minimum="2024-01-02"),
        KnownColumn("Amount", "float", filled=20, distinct=19, minimum="-3.5", maximum="90.0"),
    ),
    rows=20,
)
LATER = KnownTable("orders 2025.csv", columns=ORDERS.columns, rows=20)
BESTAND = KnownTable(
    "bestand.xlsx", "Blatt 1",
    (
        KnownColumn("Artikelnummer", filled=5, distinct=5),
        KnownColumn("Menge", "integer", filled=5, distinct=4),
        KnownColumn("Preis (€)", "float", "unit price", 4, 4),
        KnownColumn("Status", filled=5, distinct=2, values=STATES, is_listed=True),
    ), 5,
)  # fmt: skip
EMPTY = KnownTable("empty.csv", columns=(KnownColumn("A"), KnownColumn("B")))
SETS = (
    (CUSTOMERS,), (ORDERS,), (BESTAND,), (EMPTY,), (), (CUSTOMERS, ORDERS), (ORDERS, LATER),
    (LATER, ORDERS, CUSTOMERS), (BESTAND, EMPTY), (EMPTY, LATER),
)  # fmt: skip
SIGNS = (
    "?", ",", ".", "/", "%", "(", ")", "-", "=", ">", '"', "'", "5", "0", "2024", "3,5", "Ω", "",
    "€",
)  # fmt: skip


def words_of(tables: tuple[KnownTable, ...]) -> list[str]:
    """Return phrases, columns, values and signs that a request about tables may have."""
    phrases = [
        " ".join(itertools.chain(*chosen))
        for phrase in TABLE_LEXICON.phrases
        for chosen in itertools.product(*phrase.parts)
    ]
    own = [column.name for table in tables for column in table.columns]
    values = [value for table in tables for column in table.columns for value in column.values]
    paths = [table.path for table in tables]
    # What is of the tables is drawn as often as all the rest.
    plain = own + values + paths + [name.lower().split()[0] for name in own + paths if name]
    return [*phrases, *(plain * (1 + len(phrases) // max(1, len(plain)))), *SIGNS * 20]


def requests(seed: int, count: int) -> Iterator[tuple[tuple[KnownTable, ...], str]]:
    """Yield tables and words in any order."""
    draw = random.Random(seed)
    known = [words_of(tables) for tables in SETS]
    for number in range(count):
        tables, words = SETS[number % len(SETS)], known[number % len(SETS)]
        yield tables, " ".join(draw.choice(words) for _ in range(draw.randint(1, 9)))


def check(tables: tuple[KnownTable, ...], request: str) -> None:
    """Check that a request is read; an error is told with the words that lead to it."""
    files = [table.path for table in tables]
    try:
        reading = read_request(request, tables, files, TODAY)
    except Exception as error:
        error.add_note(f"{request!r} of {files}")
        raise
    assert isinstance(reading, Understood | Question | Declined)


def test_any_words_are_read_asked_about_or_declined() -> None:
    """No order of words ends in an internal error."""
    for tables, request in requests(1, 30):
        check(tables, request)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 7))
def test_more_words(seed: int) -> None:
    """Nor do more of them."""
    for tables, request in requests(seed, 400):
        check(tables, request)


@pytest.mark.soak
def test_many_more_words() -> None:
    """Nor do many more of them."""
    for seed in range(7, 22):
        for tables, request in requests(seed, 400):
            check(tables, request)
