"""Tables of the German prompts: decimal commas, semicolons, d.m.Y."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any

from providers.offline.prompts.raw_values import day, deu, dmy, euro, messy, people

__all__ = ["GERMAN"]

Made = tuple[list[str], list[list[Any]]]

FIRST = [
    "Anna",
    "Bernd",
    "Clara",
    "Dirk",
    "Elke",
    "Frank",
    "Greta",
    "Hans",
    "Ilse",
    "Jörg",
    "Käthe",
    "Lars",
    "Maja",
    "Nils",
]
LAST = [
    "Müller",
    "Schmidt",
    "Weber",
    "Fischer",
    "Wagner",
    "Becker",
    "Schulz",
    "Hoffmann",
    "Krüger",
    "Groß",
]
GOODS = {
    "Tisch": 249.0,
    "Stuhl": 89.5,
    "Lampe": 39.9,
    "Regal": 119.0,
    "Sessel": 329.0,
    "Teppich": 75.25,
}


def umsatz(rng: Random) -> Made:
    """Sales with decimal commas."""
    rows = []
    for _ in range(180):
        name = rng.choice(list(GOODS))
        count = rng.randint(1, 30)
        rows.append([dmy(day(rng, "2023-01-01", 731)), messy(rng, rng.choice(["Nord", "Süd", "Ost", "West"])), name,
                     count, deu(GOODS[name]), deu(count * GOODS[name])])  # fmt: skip
    return ["Datum", "Region", "Produkt", "Menge", "Einzelpreis", "Umsatz"], rows


def bestellungen(rng: Random) -> Made:
    """Orders of the customers, with euro signs."""
    rows = []
    for number in range(1, 151):
        ordered = day(rng, "2024-01-01", 366)
        status = rng.choice(["offen", "geliefert", "geliefert", "storniert"])
        came = dmy(ordered + timedelta(days=rng.randint(1, 12))) if status == "geliefert" else ""
        rows.append([f"B{number:04}", dmy(ordered), came, f"K{rng.randint(1, 36):03}", status,
                     euro(round(rng.uniform(12, 3100), 2))])  # fmt: skip
    return [
        "Bestellnummer",
        "Bestelldatum",
        "Lieferdatum",
        "Kundennummer",
        "Status",
        "Betrag",
    ], rows


def kunden(rng: Random) -> Made:
    """Customers with postal codes that begin with zeros, and a day in d.m.Y."""
    rows = [
        [f"K{number:03}", name, f"{rng.randint(1067, 99998):05}", rng.choice(["Dresden", "Köln", "Hamburg", "Ulm"]),
         rng.choice(["Handel", "Industrie", "Handwerk"]), dmy(day(rng, "2015-01-01", 3000))]
        for number, name in enumerate(people(rng, FIRST, LAST, 40), 1)
    ]  # fmt: skip
    return ["Kundennummer", "Name", "PLZ", "Ort", "Branche", "Kunde seit"], rows


def rechnungen(rng: Random) -> Made:
    """Invoices in a workbook."""
    names = people(rng, FIRST, LAST, 12)
    rows = []
    for number in range(1, 101):
        issued = day(rng, "2024-01-01", 366)
        first = datetime(issued.year, issued.month, issued.day)
        net = round(rng.uniform(60, 4200), 2)
        rows.append([f"R-{number:03}", rng.choice(names), first, first + timedelta(days=14), net,
                     round(net * 0.19, 2), round(net + round(net * 0.19, 2), 2), rng.choice(["ja", "ja", "nein"])])  # fmt: skip
    return [
        "Rechnungsnummer",
        "Kunde",
        "Rechnungsdatum",
        "Fällig am",
        "Netto",
        "MwSt",
        "Brutto",
        "Bezahlt",
    ], rows


def ausgaben(rng: Random) -> Made:
    """Expenses with a row of sums at the end."""
    names = people(rng, FIRST, LAST, 7)
    paid = [round(rng.uniform(3, 1200), 2) for _ in range(120)]
    rows = [
        [dmy(day(rng, "2024-01-01", 366)), rng.choice(names), rng.choice(["Vertrieb", "Technik", "Einkauf"]),
         messy(rng, rng.choice(["Reise", "Hotel", "Büro", "Bewirtung"])), deu(amount)]
        for amount in paid
    ]  # fmt: skip
    rows.append(["Summe", "", "", "", deu(sum(paid))])
    return ["Datum", "Mitarbeiter", "Abteilung", "Kategorie", "Betrag"], rows


def kontoauszug(rng: Random) -> Made:
    """A bank account with signed amounts."""
    rows: list[list[Any]] = []
    balance = 1200.0
    for when in sorted(day(rng, "2024-01-01", 366) for _ in range(140)):
        kind = rng.choice(["Lebensmittel", "Miete", "Gehalt", "Versicherung", "Freizeit", ""])
        amount = round(rng.uniform(1900, 2500) if kind == "Gehalt" else -rng.uniform(5, 400), 2)
        balance += amount
        rows.append(
            [
                dmy(when),
                rng.choice(["REWE", "Aral", "Amazon", "Stadtwerke"]),
                kind,
                deu(amount),
                deu(balance),
            ]
        )
    return ["Buchungstag", "Verwendungszweck", "Kategorie", "Betrag", "Saldo"], rows


def gehaelter(rng: Random) -> Made:
    """Salaries in a workbook."""
    rows = []
    for number, name in enumerate(people(rng, FIRST, LAST, 40), 501):
        gross = rng.randint(26, 88) * 100.0
        began = day(rng, "2008-01-01", 6000)
        rows.append([number, name, rng.choice(["Einkauf", "Vertrieb", "IT", "Personal"]), gross, round(gross * 0.62, 2),
                     datetime(began.year, began.month, began.day)])  # fmt: skip
    return ["Personalnummer", "Name", "Abteilung", "Brutto", "Netto", "Eintritt"], rows


def stunden(rng: Random) -> Made:
    """Hours with decimal commas."""
    names = people(rng, FIRST, LAST, 7)
    rows = [
        [dmy(day(rng, "2024-01-01", 182)), rng.choice(names), rng.choice(["Alpha", "Beta", "Gamma"]),
         deu(rng.randint(2, 18) / 2, 1), rng.choice(["ja", "ja", "nein"])]
        for _ in range(200)
    ]  # fmt: skip
    return ["Datum", "Mitarbeiter", "Projekt", "Stunden", "Abrechenbar"], rows


def lager(rng: Random) -> Made:
    """Stock with numbers of articles that begin with zeros."""
    things = ["Schraube", "Mutter", "Dübel", "Winkel", "Nagel", "Haken"]
    rows = [
        [f"{number * 41:05}", f"{rng.choice(things)} {number}", rng.choice(["Halle A", "Halle B", "Außenlager"]),
         rng.randint(0, 500), rng.randint(20, 150), deu(rng.uniform(0.1, 28))]
        for number in range(1, 71)
    ]  # fmt: skip
    return [
        "Artikelnummer",
        "Artikel",
        "Lagerort",
        "Bestand",
        "Mindestbestand",
        "Einkaufspreis",
    ], rows


def noten(rng: Random) -> Made:
    """Marks from 1 to 6."""
    rows = [
        [name, f"{7 + place % 2}a", subject, rng.randint(1, 6)]
        for place, name in enumerate(people(rng, FIRST, LAST, 24))
        for subject in ("Mathe", "Deutsch", "Sport")
    ]
    return ["Schüler", "Klasse", "Fach", "Note"], rows


def bestand_alt(rng: Random) -> Made:
    """A price list."""
    del rng
    rows = [
        [f"{number:04}", f"Artikel {number}", deu(Random(number).uniform(2, 1900))]
        for number in range(1, 51)
    ]
    return ["Artikelnummer", "Bezeichnung", "Preis"], rows


def bestand_neu(rng: Random) -> Made:
    """The list later: some prices changed, three gone, two new."""
    columns, rows = bestand_alt(rng)
    for place in rng.sample(range(50), 7):
        rows[place][2] = deu(Random(place + 1).uniform(2, 1900) + 3.5)
    del rows[5], rows[20], rows[30]
    return columns, [*rows, ["0051", "Artikel 51", "12,00"], ["0052", "Artikel 52", "1.090,00"]]


def mitglieder(rng: Random) -> Made:
    """Members of a club."""
    rows = [
        [name, dmy(day(rng, "2005-01-01", 7000)), euro(rng.choice([24, 48, 60.5, 120])), rng.choice(["Kiel", "Jena", "Bonn"]),
         messy(rng, rng.choice(["aktiv", "aktiv", "passiv", "gekündigt"]))]
        for name in people(rng, FIRST, LAST, 75)
    ]  # fmt: skip
    return ["Mitglied", "Eintritt", "Beitrag", "Ort", "Status"], rows


GERMAN: dict[str, Callable[[Random], Made]] = {
    "umsatz.csv": umsatz, "bestellungen.csv": bestellungen, "kunden.csv": kunden,
    "rechnungen.xlsx": rechnungen, "ausgaben.csv": ausgaben, "kontoauszug.csv": kontoauszug,
    "gehaelter.xlsx": gehaelter, "stunden.csv": stunden, "lager.csv": lager, "noten.xlsx": noten,
    "bestand_alt.csv": bestand_alt, "bestand_neu.csv": bestand_neu, "mitglieder.csv": mitglieder,
}  # fmt: skip
