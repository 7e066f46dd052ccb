"""A sum that means nothing is given with its name, not as a result like others."""

import pytest

from backends import on_asyncio
from kbd.testing.tools import Workbench
from kbd_tables.additivity import ColumnRole, NumberFacts, additivity, summed_columns
from tools.tables.conftest import Ask

ROLES: dict[ColumnRole, tuple[str, ...]] = {
    "unit price": ("Price", "unit_price", "Preis", "Stückpreis", "Einzelpreis", "prix unitaire",
                   "precio", "UnitPrice", "unit cost", "Kosten pro Stück", "cost per item"),
    "rate": ("rate", "Steuersatz", "Quote", "Anteil", "Marge %", "taux de TVA", "tasa",
             "Wechselkurs", "km/h", "orders per day", "average score", "Durchschnitt",
             "interest_rate"),
    "id": ("id", "customer_id", "Kundennummer", "Rechnungs-Nr", "code postal", "código", "PLZ",
           "zip", "Konto", "order number", "N°", "CustomerID"),
    "year": ("Year", "Jahr", "Baujahr", "année", "año", "fiscal_year"),
    "additive": ("Amount", "Betrag", "total price", "Gesamtpreis", "quantity", "Umsatz",
                 "number of orders", "Einwohner", "montant", "importe", "cost", "account balance",
                 "Gewicht", "hours"),
}  # fmt: skip
FACTS = NumberFacts(3, 1990, 2024, 6000)


@pytest.mark.parametrize("role", ROLES)
def test_names_tell(role: ColumnRole) -> None:
    """In English, German, French and Spanish, with the words of a name written in any way."""
    assert {name: additivity(name, "integer", FACTS).role for name in ROLES[role]} == dict.fromkeys(
        ROLES[role], role
    )


def test_values_tell() -> None:
    """Numbers that count up, years and percentages are seen without a name; amounts are not."""
    counted = NumberFacts(10, 1, 10, 55)
    assert additivity("x", "integer", counted).reason == "its values count up by one"
    assert additivity("Menge", "integer", counted).role == "additive"
    assert additivity("x", "integer", NumberFacts(10, 1, 10, 56)).role == "additive"
    assert additivity("x", "integer", NumberFacts(5, 1990, 2024, 10_000)).role == "year"
    assert additivity("x", "float", NumberFacts(is_percent=True)).role == "rate"
    assert additivity("Jahr", "integer", NumberFacts(5, 1, 12, 30)).role == "additive"
    assert additivity("price", "string", NumberFacts()).role == "additive"


def test_sums_in_a_statement() -> None:
    """A sum of the column itself is found, and one of what is made of it is none."""
    names = ["Preis", "unit price", "Jahr"]
    sql = 'SELECT SUM( "unit price" ), sum(data.Jahr), sum(Preis * Menge) FROM data'
    assert summed_columns(sql, names) == ["unit price", "Jahr"]


@pytest.mark.anyio
@on_asyncio
async def test_such_sums_are_named(workbench: Workbench, ask: Ask) -> None:
    """The map says what a column is, and statistics and queries warn of its sum."""
    workbench.add("t.csv", "Jahr,Preis,Menge\n2023,1.50,4\n2024,2.50,7\n")
    columns = (await ask("get_map", path="t.csv"))["columns"]
    assert columns == [
        {"name": "Jahr", "type": "integer", "role": "year", "not_additive": "year: by its name"},
        {"name": "Preis", "type": "float", "role": "unit price",
         "not_additive": "unit price: by its name"},
        {"name": "Menge", "type": "integer"},
    ]  # fmt: skip
    found = await ask("stats", path="t.csv")
    assert [column["sum"] for column in found["columns"]] == [4047, 4.0, 11]
    start = "sums that mean nothing by themselves: "
    assert found["warnings"] == [
        f"{start}Jahr (year, by its name); Preis (unit price, by its name)"
    ]
    queried = await ask("query", path="t.csv", query="SELECT sum(Preis), sum(Menge) FROM data")
    assert queried["warnings"] == [f"{start}Preis (unit price, by its name)"]
