"""A sum that means nothing is given with its name, not as a result like others."""

import pytest

from backends import on_asyncio
from kbd.formats import ColumnRole, NumberFacts, additivity, is_rate_name
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_tables.summed_columns import summed_columns
from tools.tables.conftest import Ask
from tools.tables.loading import Loading

ROLES: dict[ColumnRole, tuple[str, ...]] = {
    "unit price": ("Price", "unit_price", "Preis", "Stückpreis", "Einzelpreis", "prix unitaire",
                   "precio", "UnitPrice", "unit cost", "Kosten pro Stück", "cost per item"),
    "rate": ("rate", "Steuersatz", "Quote", "Anteil", "Marge %", "taux de TVA", "tasa",
             "Wechselkurs", "km/h", "orders per day", "average score", "Durchschnitt",
             "interest_rate", "CTR", "Avg. CPC"),
    "id": ("id", "customer_id", "Kundennummer", "Rechnungs-Nr", "code postal", "código", "PLZ",
           "zip", "Konto", "order number", "N°", "CustomerID"),
    "year": ("Year", "Jahr", "Baujahr", "année", "año", "fiscal_year"),
    "additive": ("Amount", "Betrag", "total price", "Gesamtpreis", "quantity", "Umsatz",
                 "number of orders", "Einwohner", "montant", "importe", "cost", "account balance",
                 "Gewicht", "hours", "Month", "Monate", "Soll/Haben", "Cena celkem", "Margin",
                 "Сумма", "金額", "Общая цена итого", "revenue per month", "Total", "Days",
                 "Shares", "Market cap", "Discount", "sales", "MwSt"),
}  # fmt: skip
WORLDWIDE: dict[ColumnRole, tuple[str, ...]] = {
    "unit price": ("prezzo", "preço unitário", "Stuksprijs", "Cena jednostkowa", "cijena", "Цена",
                   "Kappalehinta", "Enhetspris", "单价", "単価(円)", "단가", "Đơn giá",
                   "birim fiyat", "EUR/Stk Kosten"),
    "rate": ("Procent", "Ставка", "利益率", "Porcentagem", "procenttisats ratio", "€/kg",
             "Stückzahl pro Tag"),
    "level": ("Temperature", "age", "Latitude", "Alter"),
}  # fmt: skip
FACTS = NumberFacts(3, 1990, 2024, 6000)


@pytest.mark.parametrize("role", ROLES)
def test_names_tell(role: ColumnRole) -> None:
    """In English, German, French and Spanish, with the words of a name written in any way."""
    assert {name: additivity(name, "integer", FACTS).role for name in ROLES[role]} == dict.fromkeys(
        ROLES[role], role
    )


@pytest.mark.parametrize("role", WORLDWIDE)
def test_names_of_other_languages_tell(role: ColumnRole) -> None:
    """With their own letters and marks, whether the numbers are whole or not."""
    names = WORLDWIDE[role]
    assert {name: additivity(name, "float", NumberFacts()).role for name in names} == (
        dict.fromkeys(names, role)
    )


@pytest.mark.parametrize(
    ("name", "low", "high", "role"),
    [
        ("Month", 1, 12, "period"), ("birth_month", 2, 9, "period"), ("Monat", 202401, 202412,
        "period"), ("KW", 1, 52, "period"), ("Woche", 1, 53, "period"), ("Quartal", 1, 4, "period"),
        ("mes", 1, 11, "period"), ("Month", 100, 900, "additive"), ("Woche", 1, 60, "additive"),
        ("months", 1, 12, "additive"), ("kW", 1, 52, "additive"), ("年", 2019, 2024, "year"),
    ],
)  # fmt: skip
def test_numbers_of_the_calendar(name: str, low: int, high: int, role: str) -> None:
    """Months, weeks and quarters by name and values together; lengths in them add up."""
    facts = NumberFacts(20, low, high, 12345)
    assert additivity(name, "integer", facts).role == role


def test_values_tell() -> None:
    """Numbers that count up, years and percentages are seen without a name; amounts are not."""
    counted = NumberFacts(10, 1, 10, 55)
    assert additivity("x", "integer", counted).reason == "its values count up by one"
    assert additivity("Menge", "integer", counted).role == "additive"
    receipts = NumberFacts(96, 301, 396, 96 * 697 // 2)
    assert additivity("Response", "integer", receipts).role == "id"
    few = NumberFacts(10, 301, 310, 10 * 611 // 2)
    assert additivity("Response", "integer", few).role == "additive"
    assert additivity("x", "integer", NumberFacts(10, 1, 10, 56)).role == "additive"
    assert additivity("x", "integer", NumberFacts(5, 1990, 2024, 10_000)).role == "year"
    assert additivity("x", "float", NumberFacts(is_percent=True)).role == "rate"
    assert additivity("Jahr", "integer", NumberFacts(5, 1, 12, 30)).role == "additive"
    assert additivity("price", "string", NumberFacts()).role == "additive"


NAMES = ["Preis", "unit price", "Jahr"]


@pytest.mark.parametrize(
    ("sql", "summed"),
    [
        ('SELECT SUM( "unit price" ), sum(data.Jahr), sum(Preis * Menge) FROM data',
         ["unit price", "Jahr"]),
        ("SELECT sum(CASE WHEN Jahr = 2024 THEN Betrag ELSE 0 END) FROM data", []),
        ("SELECT sum(CASE Jahr WHEN 2024 THEN Betrag END) FROM data", []),
        ("SELECT sum(CASE WHEN Jahr = 2024 THEN Preis END) FROM data", ["Preis"]),
        ("SELECT sum(if(Jahr > 2000, Preis, 0)) FROM data", ["Preis"]),
        ("SELECT sum(Jahr = 2024), sum(length(Preis)) FROM data", []),
        ("SELECT sum(p) FROM (SELECT Preis AS p FROM data)", ["Preis"]),
        ("SELECT sum(p) FROM (SELECT Preis p, Menge FROM data)", ["Preis"]),
        ('WITH x AS (SELECT round("unit price", 2) AS u FROM data) SELECT sum(u) FROM x',
         ["unit price"]),
        ("SELECT sum(a * b) FROM (SELECT Preis a, Menge b FROM data)", []),
        ("SELECT sum(Preis) FROM (SELECT Preis * Menge AS Preis FROM data)", []),
        ("SELECT sum(coalesce(Preis, 0)) AS Preis FROM data", ["Preis"]),
        ("SELECT sum(Betrag) AS Preis FROM data", []),
        ("SELECT sum(Preis * 1.19), sum(Jahr / Menge) FROM data", ["Preis"]),
        ("SELECT sum(Preis::DOUBLE) FILTER (WHERE Menge > 2) FROM data", ["Preis"]),
        ("SELECT sum(DISTINCT Preis) OVER (ORDER BY Jahr) FROM data", ["Preis"]),
        ("SELECT list_sum(list(Preis)), fsum(Jahr) FROM data", ["Preis", "Jahr"]),
        ("PIVOT data ON Menge USING sum(Preis)", ["Preis"]),
        ("SELECT sum(COLUMNS(*)) FROM data", NAMES),
        ("SELECT sum(COLUMNS('P.*s')) FROM data", ["Preis"]),
        ("SELECT avg(Preis), 'sum(Preis)' FROM data -- sum(Jahr)", []),
        ("SELECT Jahr, sum(Betrag) s FROM data WHERE Preis > 2 GROUP BY Jahr ORDER BY s", []),
    ],
)  # fmt: skip
def test_sums_in_a_statement(sql: str, summed: list[str]) -> None:
    """A sum of the column itself is found, under whatever name; one made of it is none."""
    assert summed_columns(sql, NAMES) == summed


def test_columns_prove_each_other(loading: Loading) -> None:
    """Quantity times a number is an amount: a price for one piece. A balance goes up by amounts."""
    loaded = loading({
        "Menge": ["2", "3", "5", "7"], "Einzel": ["1.50", "2.25", "4.00", "0.99"],
        "Summe": ["3.00", "6.75", "20.00", "6.93"], "Satz2": ["0.19", "0.07", "0.19", "0.19"],
        "MwSt": ["0.57", "0.47", "3.80", "1.32"],
    })  # fmt: skip
    roles = {name: role["role"] for name, role in loaded.roles.items()}
    assert roles == {"Einzel": "unit price", "Satz2": "rate"}
    assert loaded.roles["Einzel"]["reason"] == "Menge x Einzel is Summe in every row"

    loaded = loading({
        "Betrag": ["100", "-20.5", "30", "5"], "Saldo": ["100", "79.5", "109.5", "114.5"],
        "Kontostand": ["5", "7", "1", "100"],
    })  # fmt: skip
    assert {name: role["role"] for name, role in loaded.roles.items()} == {"Saldo": "balance"}
    upwards = {"Amount": ["5", "30", "-20.5", "100"], "Balance": ["114.5", "109.5", "79.5", "100"]}
    assert list(loading(upwards).roles) == ["Balance"]


def test_a_price_that_is_an_amount(loading: Loading) -> None:
    """Where "Price" is quantity times unit price in every row it adds up; not in all but one."""
    table = {"Qty": ["2", "3", "5", "7"], "Unit price": ["1.50", "2.25", "4.00", "0.99"],
             "Price": ["3.00", "6.75", "20.00", "6.93"]}  # fmt: skip
    assert list(loading(table).roles) == ["Unit price"]
    table["Price"][3] = "6.94"
    assert list(loading(table).roles) == ["Unit price", "Price"]


@pytest.mark.anyio
@on_asyncio
async def test_such_sums_are_named(workbench: Workbench, tools: dict[str, Tool], ask: Ask) -> None:
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
    arguments = {"path": "t.csv", "query": "SELECT sum(Preis), sum(Menge) FROM data"}
    queried = await workbench.call(tools["table_query"], **arguments)
    assert queried.value["warnings"] == [f"{start}Preis (unit price, by its name)"]
    fact = "t.csv: Preis was summed; it is a price for one piece (by its name)"
    assert queried.told == (fact,)
    target = {"target_path": "o.csv", "format": "csv"}
    exported = await workbench.call(tools["table_export"], **arguments, **target)
    assert exported.told == (fact,)
    described = (await ask("describe", path="t.csv"))["columns"]
    assert [column.get("role") for column in described] == ["year", "unit price", None]


@pytest.mark.full
@pytest.mark.anyio
@on_asyncio
async def test_figures_of_several_currencies_are_named(
    workbench: Workbench, tools: dict[str, Tool], ask: Ask
) -> None:
    """A sum or an average of euros and dollars is told, unless the statement names the column."""
    text = "Betrag;Währung;Menge\n10,50;EUR;1\n20,00;USD;2\n5,00;€;3\n"
    workbench.add("t.csv", text)
    workbench.add("one.csv", text.replace("USD", "EUR"))
    fact = "t.csv: Betrag is in several currencies (Währung: EUR, USD)"
    for query, is_told in (
        ("SELECT sum(Betrag) FROM data", True),
        ("SELECT avg(Betrag), sum(Menge) FROM data", True),
        ("SELECT sum(Menge), max(Betrag) FROM data", False),
        ("SELECT Währung, sum(Betrag) FROM data GROUP BY Währung", False),
        ("SELECT sum(Betrag) FROM data WHERE Währung = 'EUR'", False),
    ):
        found = await workbench.call(tools["table_query"], path="t.csv", query=query)
        assert (fact in found.told) == is_told, query
        assert (fact in found.value.get("warnings", ())) == is_told, query
    stats = await workbench.call(tools["table_stats"], path="t.csv")
    assert fact in stats.told
    other = await workbench.call(
        tools["table_query"], path="one.csv", query="SELECT sum(Betrag) FROM data"
    )
    assert not any("currencies" in sentence for sentence in other.told)


def test_the_names_of_rates() -> None:
    """Percentages, rates and what is for each of something, and no amounts of a time."""
    for name in ("CTR", "% New Sessions", "Cost per result", "Steuersatz", "Total %"):
        assert is_rate_name(name), name
    for name in ("Impressions", "Cost", "revenue per month", "Total", "Clicks", "Anzahl"):
        assert not is_rate_name(name), name
