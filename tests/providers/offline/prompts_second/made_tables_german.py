"""German tables of the second prompts: semicolons, decimal commas, days as d.m.Y."""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import Any

from providers.offline.prompts.raw_values import day, deu, dmy, euro, messy, people

__all__ = ["GERMAN"]

Made = tuple[list[str], list[list[Any]]]

FIRST = [
    "Arne",
    "Birte",
    "Cem",
    "Doris",
    "Emil",
    "Frauke",
    "Gerd",
    "Heike",
    "Ivo",
    "Jutta",
    "Kurt",
    "Lotte",
    "Malte",
    "Nele",
]
LAST = [
    "Ahrens",
    "Böhm",
    "Conrad",
    "Döring",
    "Ebert",
    "Fuchs",
    "Graf",
    "Hübner",
    "Jansen",
    "Köhler",
    "Lüdtke",
    "Meißner",
]


def vereinskasse(rng: Random) -> Made:
    """The cash book of a club: what came in above zero, what went out below."""
    kinds = {
        "Beiträge": (20, 90),
        "Spenden": (10, 400),
        "Miete": (-480, -120),
        "Material": (-310, -8),
        "Fahrtkosten": (-140, -12),
        "Feste": (-620, -40),
    }
    rows: list[list[Any]] = []
    for number, when in enumerate(sorted(day(rng, "2024-01-08", 500) for _ in range(80)), 1):
        kind = rng.choice(list(kinds))
        amount = round(rng.uniform(*kinds[kind]), 2)
        text = "" if rng.random() < 0.08 else rng.choice(["laut Liste", "bar", "Überweisung"])
        rows.append([f"{number:04}", dmy(when), messy(rng, kind), text, deu(amount)])
    return ["Beleg", "Datum", "Kategorie", "Bemerkung", "Betrag"], rows


def werkstatt(rng: Random) -> Made:
    """Jobs of a garage; some are not finished."""
    crew = ["Ole Harms", "Petra Kunz", "Sami Demir", "Timo Voss"]
    rows: list[list[Any]] = []
    for number in range(1, 91):
        came = day(rng, "2025-01-07", 150)
        done = dmy(came + timedelta(days=rng.randint(0, 9))) if rng.random() < 0.82 else ""
        rows.append(
            [
                f"W-{number:03}",
                dmy(came),
                done,
                f"{rng.choice(['HH', 'SE', 'OD'])}-{rng.choice('ABKLMT')} {rng.randint(10, 9999)}",
                rng.choice(crew),
                messy(rng, rng.choice(["Inspektion", "Bremsen", "Reifenwechsel", "Ölwechsel"])),
                deu(rng.randint(1, 26) / 4),
                deu(rng.uniform(0, 1450)),
            ]
        )
    columns = ["Auftrag", "Annahme", "Fertig", "Kennzeichen", "Mechaniker", "Arbeit", "Stunden"]
    return [*columns, "Material"], rows


def nebenkosten(rng: Random) -> Made:
    """Running costs of flats over two years, with a row of sums."""
    names = people(rng, FIRST, LAST, 8)
    kinds = ["Heizung", "Wasser", "Müll", "Hausmeister", "Grundsteuer", "Aufzug"]
    rows: list[list[Any]] = [
        [
            f"WE {flat:02}",
            names[flat - 1],
            messy(rng, kind),
            year,
            round(rng.uniform(60, 980), 2),
            rng.choice(["ja", "nein", "ja", None]),
        ]
        for year in (2023, 2024)
        for flat in range(1, 9)
        for kind in kinds
    ]
    rows.append(["Summe", None, None, None, round(sum(row[4] for row in rows), 2), None])
    return ["Wohnung", "Mieter", "Kostenart", "Jahr", "Betrag", "Abgerechnet"], rows


def weinlager(rng: Random) -> Made:
    """A cellar of wine, with numbers that begin with zeros."""
    grapes = {
        "Rot": ["Spätburgunder", "Dornfelder", "Lemberger"],
        "Weiß": ["Riesling", "Silvaner", "Grauburgunder"],
        "Rosé": ["Portugieser Rosé", "Weißherbst"],
    }
    rows: list[list[Any]] = []
    for number in range(1, 71):
        color = rng.choice(["Rot", "Weiß", "Weiß", "Rosé"])
        cost = rng.uniform(2.9, 21)
        rows.append(
            [
                f"{number * 53:05}",
                rng.choice(grapes[color]),
                rng.choice(["Hof Sonnleite", "Weingut Adler", "Winzer am Berg", "Kloster Eich"]),
                messy(rng, color),
                rng.randint(2015, 2024),
                "" if rng.random() < 0.05 else rng.randint(0, 240),
                euro(round(cost, 2)),
                euro(round(cost * rng.uniform(1.4, 2.2), 2)),
            ]
        )
    return ["Artikelnr", "Wein", "Weingut", "Farbe", "Jahrgang", "Flaschen", "EK", "VK"], rows


def deliveries(month: int, count: int, customers: tuple[int, int]) -> Callable[[Random], Made]:
    """Delivery notes of one month, to some of the customers."""
    shops = [
        "Bäckerei Kern",
        "Café Luna",
        "Eisdiele Rialto",
        "Gasthof Post",
        "Hotel Seeblick",
        "Kantine Nord",
        "Mensa West",
        "Pension Anker",
        "Schlosscafé",
        "Tankstelle Ost",
    ]

    def made(rng: Random) -> Made:
        rows: list[list[Any]] = [
            [
                f"LS{month:02}-{number:03}",
                dmy(date(2025, month, rng.randint(1, 30))),
                messy(rng, rng.choice(shops[customers[0] : customers[1]])),
                rng.choice(["Mehl 25 kg", "Zucker 10 kg", "Butter 5 kg", "Kaffee 1 kg"]),
                rng.randint(1, 40),
                deu(rng.uniform(1, 480), 1),
            ]
            for number in range(1, count + 1)
        ]
        return ["Lieferschein", "Datum", "Kunde", "Artikel", "Menge", "Gewicht kg"], rows

    return made


def blutspenden(rng: Random) -> Made:
    """Donations of blood; some lines were entered twice."""
    donors = people(rng, FIRST, LAST, 110)
    groups = ["A+", "A+", "0+", "0+", "B+", "AB+", "A-", "0-"]
    rows: list[list[Any]] = [
        [
            dmy(day(rng, "2025-04-07", 120)),
            messy(rng, rng.choice(["Neustadt", "Altdorf", "Seeheim"])),
            donor,
            rng.choice(groups),
            "" if rng.random() < 0.03 else rng.choice([450, 500, 500, 550]),
            rng.choice(["ja", "nein", "nein"]),
        ]
        for donor in donors
    ]
    rows += [list(row) for row in rng.sample(rows, 9)]
    rng.shuffle(rows)
    return ["Datum", "Ort", "Spender", "Blutgruppe", "Menge ml", "Erstspender"], rows


def mensa(rng: Random) -> Made:
    """Meals of school canteens, with what was left."""
    meals = {
        "Nudeln mit Tomatensoße": "vegan",
        "Linsensuppe": "vegan",
        "Käsespätzle": "vegetarisch",
        "Pizza Margherita": "vegetarisch",
        "Fischstäbchen": "Fisch",
        "Gulasch": "Fleisch",
        "Hähnchencurry": "Fleisch",
    }
    rows: list[list[Any]] = []
    for _ in range(100):
        # One meal is clearly the favorite, by days as by portions.
        meal = "Nudeln mit Tomatensoße" if rng.random() < 0.2 else rng.choice(list(meals))
        portions = rng.randint(25, 180)
        rows.append(
            [
                day(rng, "2025-02-10", 90),
                messy(rng, rng.choice(["Goetheschule", "Schule am See", "Lessing-Gymnasium"])),
                meal,
                messy(rng, meals[meal]),
                portions,
                rng.choice([2.9, 3.4, 3.9, 4.5]),
                None if rng.random() < 0.06 else rng.randint(0, portions // 3),
            ]
        )
    return ["Datum", "Schule", "Gericht", "Art", "Portionen", "Preis", "Reste"], rows


GERMAN: dict[str, Callable[[Random], Made]] = {
    "vereinskasse.csv": vereinskasse,
    "werkstatt.csv": werkstatt,
    "nebenkosten.xlsx": nebenkosten,
    "weinlager.csv": weinlager,
    "lieferscheine_mai.csv": deliveries(5, 48, (0, 9)),
    "lieferscheine_juni.csv": deliveries(6, 44, (3, 10)),
    "blutspenden.csv": blutspenden,
    "mensa.xlsx": mensa,
}
