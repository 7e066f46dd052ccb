"""Cases of rows that sum others up: at the end, between, above; and of rows that only look so."""

from collections.abc import Sequence
from decimal import Decimal

from golden_tables.cases import Case, Column, Expected, case, day, number, page, text, written
from golden_tables.styles import english, german

__all__ = ["CASES", "asked", "asked_rows"]

SHOPS = text("Shop", "North|South|East|West|Center")
AMOUNTS = number("Amount", "10.50 20.25 -3.00 40.00 2.25", decimal=".")
COUNTS = number("Count", "1 2 3 4 5")
TOTAL_WORDS = ("total", "sum")


def _at_end() -> list[Case]:
    """One row at the end, with the words that people use."""
    found = []
    for word in (
        "Total", "TOTAL", "total:", "Totals", "Grand Total", "Sum", "Overall",
        "Summe", "Gesamt", "Gesamtsumme", "Insgesamt", "Endsumme",
        "Total général", "Somme", "Totale", "Suma", "Razem", "Totaal", "Toplam", "Итого", "合計",
    ):  # fmt: skip
        called = word.lower().replace(" ", "_").replace(":", "_colon") + ("_upper" * word.isupper())
        found.append(
            case(
                f"totals/{called}",
                [SHOPS, AMOUNTS, COUNTS],
                below=f"{word},70.00,15\n",
                left_out=1,
                words=TOTAL_WORDS,
            )
        )
    for name, below in (
        ("blank_line_before", "\nTotal,70.00,15\n"),
        ("one_column_only", "Total,70.00,\n"),
        ("short_row", "Total,70.00\n"),
        ("bare", ",70.00,15\n"),
        ("padded_label", "  Total  ,70.00,15\n"),
        ("of_all", "Total of all shops,70.00,15\n"),
    ):
        found.append(
            case(f"totals/{name}", [SHOPS, AMOUNTS, COUNTS], below=below, left_out=1,
                 words=TOTAL_WORDS)
        )  # fmt: skip
    return [*found, *_with_more()]


def _with_more() -> list[Case]:
    """A total beside other things that are no rows, or written with marks."""
    # A row of nothing may be one or not; no figure depends on it.
    kept = Expected(
        (
            text("Shop", f"{'|'.join(SHOPS.texts)}|~"),
            number("Amount", f"{' '.join(AMOUNTS.texts)} ~"),
            number("Count", f"{' '.join(COUNTS.texts)} ~"),
        ),
        left_out=1,
        words=TOTAL_WORDS,
    )
    found = [
        case("totals/empty_row_before", [SHOPS, AMOUNTS, COUNTS], below=",,\nTotal,70.00,15\n",
             left_out=1, words=TOTAL_WORDS, also=[kept]),
        case("totals/with_footer", [SHOPS, AMOUNTS, COUNTS],
             # No word, so that neither line excuses the other.
             below="Total,70.00,15\n\nSource: books\n", left_out=2),
    ]  # fmt: skip
    money = number("Betrag", "1234.50 2000.25 -300.00 40.00 2.25", german, decimal=",")
    found.append(
        case("totals/german_marks", [SHOPS, money], delimiter=";", below="Summe;2.977,00\n",
             left_out=1, words=TOTAL_WORDS)
    )  # fmt: skip
    dollars = number("Amount", "1234.50 2000.25 -300.00 40.00 2.25", english, decimal=".")
    found.append(
        case("totals/english_marks", [SHOPS, dollars], below='Total,"2,977.00"\n',
             left_out=1, words=TOTAL_WORDS)
    )  # fmt: skip
    titled = case(
        "totals/title_and_total",
        [SHOPS, AMOUNTS, COUNTS],
        above="Sales\n\n",
        below="Total,70.00,15\n",
        left_out=2,
        words=TOTAL_WORDS,
    )
    second = case(
        "totals/label_in_second_column",
        [text("No", "A1|A2|A3|A4|A5"), SHOPS, AMOUNTS],
        below=",Total,70.00\n",
        left_out=1,
        words=TOTAL_WORDS,
    )
    return [*found, titled, second]


def _written(columns: Sequence[Column], lines: Sequence[str]) -> str:
    """Return a header with the lines below it."""
    return ",".join(column.name or "" for column in columns) + "\n" + "\n".join(lines) + "\n"


def _between() -> list[Case]:
    """Subtotals between groups, a grand total, an average beside the total, a total above."""
    region = text("Region", "North|North|South|South|South")
    shop = text("Shop", "a|b|c|d|e")
    amounts = number("Amount", "10 20 30 40 50")
    columns = [region, shop, amounts]
    rows = ["North,a,10", "North,b,20", "South,c,30", "South,d,40", "South,e,50"]
    sums = {
        "subtotals": [*rows[:2], "Total North,,30", *rows[2:], "Total South,,120"],
        "subtotals_excel": [*rows[:2], "North Total,,30", *rows[2:], "South Total,,120"],
        "subtotals_word": [*rows[:2], "Subtotal,,30", *rows[2:], "Subtotal,,120"],
        "subtotals_and_grand": [
            *rows[:2], "North Total,,30", *rows[2:], "South Total,,120", "Grand Total,,150",
        ],
        "zwischensumme": [
            *rows[:2], "Zwischensumme,,30", *rows[2:], "Zwischensumme,,120", "Gesamtsumme,,150",
        ],
        "total_and_average": [*rows, "Total,,150", "Average,,30"],
        "total_above": ["Total,,150", *rows],
        "blank_before_each": [
            *rows[:2], "Subtotal,,30", "", *rows[2:], "Subtotal,,120", "", "Total,,150",
        ],
    }  # fmt: skip
    found = []
    for name, lines in sums.items():
        out = len([line for line in lines if line]) - 5
        found.append(
            written(
                f"subtotals/{name}", _written(columns, lines), columns, left_out=out,
                words=(*TOTAL_WORDS, "average"),
            )
        )  # fmt: skip
    # Groups named once, as pivot tables are saved.
    named_once = [text("Region", "North|~|South|~|~"), shop, amounts]
    pivot = ["North,a,10", ",b,20", "North Total,,30", "South,c,30", ",d,40", ",e,50",
             "South Total,,120", "Grand Total,,150"]  # fmt: skip
    found.append(
        written("subtotals/pivot", _written(columns, pivot), named_once, left_out=3,
                words=TOTAL_WORDS,
                also=[Expected(tuple(columns), left_out=3, words=TOTAL_WORDS)])
    )  # fmt: skip
    # A running balance is no total, the last one of it neither.
    balance = number("Balance", "10 30 60 100 150")
    found.append(case("subtotals/running_balance", [shop, amounts, balance], totals="keep"))
    # A column that sums the others up stays.
    side = number("Total", "11 22 33 44 55")
    ones = number("Extra", "1 2 3 4 5")
    found.append(case("subtotals/total_column", [shop, amounts, ones, side], totals="keep"))
    return found


def _first() -> list[Case]:
    """Figures of all rows in the first ones below the header, as sheets have them."""
    items, kind = text("Item", "a|b|c|d|e"), text("Kind", "x|y|x|y|x")
    amounts = number("Amount", "10 20 30 40 50")
    found = []
    for name, lines in {
        "total": ["Total,150"],
        "all_of_them": ["Min,10", "Max,50", "Average,30"],
        "german": ["Summe,150", "Mittelwert,30", "Minimum,10", "Maximum,50", "Anzahl,5"],
        "largest_and_total": ["Max,50", "Total,150"],
        "count": ["Count,5"],
    }.items():
        plain = "\n".join(f"{item},{amount}" for item, amount in zip(
            items.texts, amounts.texts, strict=True
        ))  # fmt: skip
        words = (*TOTAL_WORDS, "average", "minimum", "maximum", "count")
        found.append(
            written(f"first rows/{name}", "\n".join(["Item,Amount", *lines, plain, ""]),
                    [items, amounts], left_out=len(lines), words=words)
        )  # fmt: skip
        wide = [line.replace(",", ",,") for line in lines]
        found.append(
            written(f"first rows/{name}_and_kinds",
                    "\n".join(["Item,Kind,Amount", *wide, *(
                        f"{item},{each},{amount}" for item, each, amount in zip(
                            items.texts, kind.texts, amounts.texts, strict=True
                        )
                    ), ""]),
                    [items, kind, amounts], left_out=len(lines), words=words)
        )  # fmt: skip
    # One alone, beside nothing that tells it from a person.
    for word in ("Min", "Max"):
        figure = {"Min": "10", "Max": "50"}[word]
        kept = [
            text("Item", f"{word}|a|b|c|d|e"),
            number("Amount", f"{figure} {' '.join(map(str, amounts.texts))}"),
        ]
        label = f"first rows/{word.lower()}_alone"
        found.append(asked(label, page(kept), [items, amounts], kept))
    # People whose other fields are filled.
    names, ages = text("Name", "Max|Eva|Ben"), number("Points", "50 20 30")
    town = text("Town", "Ulm|Bonn|Kiel")
    found.append(case("first rows/a_person_called_max", [names, town, ages], totals="keep"))
    return found


def _balances() -> list[Case]:
    """What was in an account, or is left, beside its movements: no movement itself."""
    booked, moved = text("Text", "Miete|Lohn|Essen"), number("Betrag", "-800 2500 -45")
    opening = [text("Text", "Anfangssaldo|Miete|Lohn|Essen"),
               number("Betrag", "1000 -800 2500 -45")]  # fmt: skip
    closing = [text("Text", "Miete|Lohn|Essen|Closing balance"),
               number("Betrag", "-800 2500 -45 2655")]  # fmt: skip
    agreeing = "Text,Betrag\nMiete,-800\nLohn,2500\nEssen,-45\nEndsaldo,1655\n"
    return [
        asked("balances/opening", page(opening), [booked, moved], opening),
        asked("balances/closing", page(closing), [booked, moved], closing),
        written("balances/agreeing", agreeing, [booked, moved], left_out=1,
                words=(*TOTAL_WORDS, "carried")),
    ]  # fmt: skip


def _names() -> list[Case]:
    """Rows that bear such a word and are rows like others: the sums do not agree."""
    found = []
    for name, labels in (
        ("oil_company", "Shell|Total|Esso|Aral|Jet"),
        ("total_energies", "Shell|TotalEnergies|Esso|Aral|Jet"),
        ("last_row", "Shell|Esso|Aral|Jet|Total"),
        ("summer", "Spring|Summer|Sum Ting|Autumn|Winter"),
        ("gesamtschule", "Gymnasium|Gesamtschule|Realschule|Hauptschule|Grundschule"),
    ):
        brands = text("Brand", labels)
        figures = [brands, AMOUNTS, COUNTS]
        found.append(case(f"no totals/{name}", figures, totals="keep"))
    # The last value is by chance what the others come to, and nothing calls it a sum.
    chance = [text("Item", "a|b|c"), number("Amount", "1 2 3")]
    found.append(case("no totals/by_chance", chance, totals="keep"))
    zeros = [text("Item", "a|b|c|d"), number("Amount", "0 0 0 0")]
    found.append(case("no totals/zeros", zeros, totals="keep"))
    single = [text("Item", "a"), number("Amount", "5")]
    found.append(
        case("no totals/one_row", single, below="Total,5\n", left_out=1, words=TOTAL_WORDS)
    )
    return found


def _wrong_sums() -> list[Case]:
    """A label says total and the figures do not agree: it has to be asked."""
    found = []
    for name, label, amount in (
        ("off_by_one", "Total", "71.00"),
        ("old_total", "Grand Total", "57.75"),
        ("rounded", "Summe", "70"),
    ):
        totals = (Decimal(amount), Decimal(15))
        if name == "rounded":
            # Written with fewer digits, it agrees.
            found.append(
                case(f"wrong totals/{name}", [SHOPS, AMOUNTS, COUNTS],
                     below=f"{label},{amount},15\n", left_out=1, words=TOTAL_WORDS)
            )  # fmt: skip
            continue
        out = [SHOPS, AMOUNTS, COUNTS]
        kept = [
            text("Shop", f"{'|'.join(SHOPS.texts)}|{label}"),
            number("Amount", f"{' '.join(AMOUNTS.texts)} {totals[0]}", decimal="."),
            number("Count", f"{' '.join(COUNTS.texts)} {totals[1]}"),
        ]
        found.append(asked(f"wrong totals/{name}", page(kept), out, kept))
    return found


def _remarks() -> list[Case]:
    """Rows below a total that remark on it, and rows that were appended there."""
    hours = [
        day("Datum", "2024-05-01 2024-05-02 2024-05-03", "%d.%m.%Y", order="dmy"),
        text("Projekt", "Alpha|Beta|Alpha"),
        number("Std", "7.50 8.00 4.00", german, decimal=","),
    ]
    shops = [SHOPS, AMOUNTS, COUNTS]
    words = (*TOTAL_WORDS, "remark", "below")
    found = [
        case(f"below totals/{name}", columns, delimiter=delimiter, below=below, left_out=out,
             words=words)
        for name, columns, delimiter, below, out in (
            ("target", hours, ";", ";Summe;19,50\n;Soll;24,00\n;Differenz;-4,50\n", 3),
            ("other_word", hours, ";", ";Summe;19,50\n;Vertrag Nord;24,00\n", 2),
            ("tax", shops, ",", "Total,70.00,15\nof which VAT 19 %,11.18,\n", 2),
            ("budget", shops, ",", "Total,70.00,15\nBudget,80.00,20\n", 2),
            ("words", shops, ",", "Total,70.00,15\nchecked by Maier,,\n", 2),
        )
    ]  # fmt: skip
    towns = text("Town", "Ulm|Bonn|Kiel|Jena|Rom")
    more = [
        text("Shop", f"{'|'.join(SHOPS.texts)}|Outlet"),
        text("Town", f"{'|'.join(towns.texts)}|Graz"),
        number("Amount", f"{' '.join(map(str, AMOUNTS.texts))} 5.00", decimal="."),
    ]
    lines = page([SHOPS, towns, AMOUNTS]) + "Total,,70.00\nOutlet,Graz,5.00\n"
    found.append(written("below totals/appended", lines, more, left_out=1, words=words))
    kept = [
        text("Shop", f"{'|'.join(SHOPS.texts)}|Outlet"),
        number("Amount", f"{' '.join(map(str, AMOUNTS.texts))} 5.00", decimal="."),
    ]
    content = page([SHOPS, AMOUNTS]) + "Total,70.00\nOutlet,5.00\n"
    out = [SHOPS, AMOUNTS]
    left = written("below totals/either", content, out, left_out=2, words=words,
                   totals="leave_out")  # fmt: skip
    proven = written("below totals/either", content, kept, left_out=1, words=words,
                     totals="leave_out_proven")  # fmt: skip
    tables = (*left.tables, *proven.tables)
    return [*found, Case(left.subject, left.name, left.content, tables, must_ask="totals")]


def _unlabeled() -> list[Case]:
    """Sums that figures alone tell, statistics of how rows spread, and what is carried on."""
    pairs = [text("Region", "N|N|S|S"), text("Item", "x|y|x|y"), number("n", "10 20 20 30")]
    found = []
    for name, gap in (("null", "NULL"), ("null_in_brackets", "(null)"), ("mysql", "\\N")):
        lines = f"Region,Item,n\nN,x,10\nN,y,20\nN,{gap},30\nS,x,20\nS,y,30\nS,{gap},50\n"
        keys = [text("Region", ["N", "N", "N", "S", "S", "S", gap]),
                text("Item", ["x", "y", gap, "x", "y", gap, gap]),
                number("n", "10 20 30 20 30 50 80")]  # fmt: skip
        content = f"{lines}{gap},{gap},80\n"
        found.append(asked_rows(f"sums of databases/{name}", content, pairs, keys, 3))
    shops = [text("Shop", "a|b|c|d"), number("n", "10 20 5 6")]
    every = [text("Shop", "North|a|b|South|c|d"), number("n", "30 10 20 11 5 6")]
    found.append(asked_rows("sums above/plain", page(every), shops, every, 2))
    below = "Total,70.00,15\nMedian,10.5,3\nStandardabweichung,16.99,1.58\n"
    found.append(
        case("statistics/spread", [SHOPS, AMOUNTS, COUNTS], below=below, left_out=3,
             words=(*TOTAL_WORDS, "median", "deviation"))
    )  # fmt: skip
    moved = [text("Text", "a|b"), number("Amount", "10 -20")]
    both = [text("Text", "Opening balance|a|b|Closing balance"), number("Amount", "100 10 -20 90")]
    found.append(asked_rows("balances/both", page(both), moved, both, 2))
    return found


def _counted() -> list[Case]:
    """Labels that say how many rows there are, or of which account; exports of advertisements."""
    orders = [
        day("Day", "2024-01-01 2024-01-02 2024-01-03", "%Y-%m-%d"),
        text("City", "Ulm|Bonn|Kiel"),
        number("Amount", "20.00 25.00 35.00", decimal="."),
    ]
    found = [
        case(f"counted/{name}", orders, below=f"{label},,80.00\n", left_out=1, words=TOTAL_WORDS)
        for name, label in (("items", "Items: 3"), ("orders", "Orders (3)"), ("rows", "3 Zeilen"))
    ]
    noted = [SHOPS, text("Note", "x|~|y|~|z"), COUNTS]
    found.append(
        case("counted/beside_total", noted, below="Total,5 rows,15\n", left_out=1,
             words=TOTAL_WORDS)
    )  # fmt: skip
    for name, label, figure in (("other_count", "Items: 4", "80.00"), ("gap", "Alles", "80.00")):
        kept = [
            text("Day", f"2024-01-01|2024-01-02|2024-01-03|{label}"),
            text("City", "Ulm|Bonn|Kiel|~"),
            number("Amount", f"20.00 25.00 35.00 {figure}", decimal="."),
        ]
        found.append(asked(f"counted/{name}", page(kept), orders, kept))
    named = text("Name", "Hall|Attic|Room (3)"), number("Size", "50 70 90")
    found.append(case("counted/room", named, totals="keep"))
    levels = text("Level", "Level: 1|Level: 2|Level: 3"), number("Points", "5 7 12")
    found.append(case("counted/levels", levels, totals="keep"))
    accounts = [text("Account", "Bar|Bank|Miete|Strom"), number("Amount", "10.00 20.50 5.00 6.25",
                                                                decimal=".")]  # fmt: skip
    between = {2: "Sum 1000 Sales,30.50\n"}
    found.append(
        case("counted/accounts", accounts, between=between, below="Sum 2000 Costs,11.25\n",
             left_out=2, words=TOTAL_WORDS)
    )  # fmt: skip
    ads = [
        text("Campaign", "A|B|C"),
        number("Reach", "4500 300 880"),
        number("Frequency", "1.52 1.00 1.10", decimal="."),
        number("Spent", "99.60 12.00 25.00", decimal="."),
    ]
    whole = [
        text("Campaign", "~|A|B|C"),
        number("Reach", "5100 4500 300 880"),
        number("Frequency", "1.40 1.52 1.00 1.10", decimal="."),
        number("Spent", "136.60 99.60 12.00 25.00", decimal="."),
    ]
    found.append(asked("counted/ads", page(whole), ads, whole))
    shops = [text("Shop", "a|b|c|d|e|f"), number("n", "1 2 2 4 1 3")]
    below = [text("Shop", "a|b|N|c|d|S|e|f|W"), number("n", "1 2 3 2 4 6 1 3 4")]
    found.append(asked_rows("counted/groups_below", page(below), shops, below, 3))
    return found


def asked_rows(
    label: str, content: str, out: Sequence[Column], kept: Sequence[Column], count: int
) -> Case:
    """Return a case in which it has to be asked whether some rows sum others up."""
    words = (*TOTAL_WORDS, "carried")
    left = written(label, content, out, left_out=count, words=words, totals="leave_out")
    keep = written(label, content, kept, totals="keep")
    return Case(
        left.subject, left.name, left.content, (*left.tables, *keep.tables), must_ask="totals"
    )


def asked(label: str, content: str, out: Sequence[Column], kept: Sequence[Column]) -> Case:
    """Return a case in which it has to be asked whether a row is a total."""
    left = written(label, content, out, left_out=1, words=TOTAL_WORDS, totals="leave_out")
    keep = written(label, content, kept, totals="keep")
    return Case(
        left.subject, left.name, left.content, (*left.tables, *keep.tables), must_ask="totals"
    )


def _periods() -> list[Case]:
    """Years below their months, and sums of times as clocks show them."""
    months = [text("Month", "Jan|Feb|Mar|Apr"), number("Amount", "10 20 30 41")]
    whole = [text("Month", "Jan|Feb|Mar|Apr|2023"), number("Amount", "10 20 30 41 101")]
    found = [asked("periods/year", page(whole), months, whole)]
    keyed = [number("Year", "2022 2022 2023 2023"), number("Month", "1 2 1 2"),
             number("Amount", "10 20 11 22")]  # fmt: skip
    rolled = [number("Year", "2022 2022 2022 2023 2023 2023"), number("Month", "1 2 ~ 1 2 ~"),
              number("Amount", "10 20 30 11 22 33")]  # fmt: skip
    found.append(asked_rows("periods/years_and_months", page(rolled), keyed, rolled, 2))
    hours = [text("Projekt", "a|b|c"), text("Stunden", "7:30|8:15|23:00")]
    for name, below, count in (
        ("sum", "Summe,38:45\n", 1),
        ("target", "Summe,38:45\nSoll,40:00\n", 2),
    ):
        found.append(
            case(f"clock times/{name}", hours, below=below, left_out=count, words=TOTAL_WORDS)
        )
    either = [text("Projekt", "a|b|c|Summe"), text("Stunden", "7:30|8:15|23:00|40:00")]
    found.append(asked("clock times/wrong_sum", page(either), hours, either))
    return found


CASES = (
    *_periods(),
    *_at_end(),
    *_between(),
    *_first(),
    *_balances(),
    *_names(),
    *_wrong_sums(),
    *_remarks(),
    *_unlabeled(),
    *_counted(),
)
