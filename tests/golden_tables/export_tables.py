"""Cases of what programs export: ad platforms, lists of accounts, tables of statistics."""

from golden_tables.cases import Case, case, number, page, text, written
from golden_tables.styles import german
from golden_tables.total_tables import asked_rows

__all__ = ["CASES"]

WORDS = ("total", "sum")


def _ads() -> list[Case]:
    """Totals beside percentages and costs per click, which are no sums of those above."""
    campaigns = text("Campaign", "Brand|Generic|Paused")
    shown = number("Impressions", "1200 10300 0")
    rates = number("CTR", "7 1 ~", texts=["7.00%", "1.00%", "--"], is_percent=True)
    clicks = number("Avg. CPC", "0.54 1.46 ~", decimal=".", missing="--")
    costs = number("Cost", "45.30 150.50 0.00", decimal=".")
    columns = [campaigns, shown, rates, clicks, costs]
    below = "Total,11500,1.63%,1.05,195.80\n"
    found = [case("ads/percentages", columns, below=below, left_out=1, words=WORDS)]
    codes = text("Currency code", "USD|USD|USD")
    lines = page([campaigns, codes, shown, costs]) + "Total: Account,USD,11500,195.80\n"
    dated = [campaigns, codes, shown, costs]
    return [*found, written("ads/other_text", lines, dated, left_out=1, words=WORDS)]


def _accounts() -> list[Case]:
    """Sums of groups in lists of accounts, with stars or names of their own, and what is left."""
    results = [
        text("Land", "DE|DE|AT|AT"),
        text("Kunde", "Müller|Schmidt|Huber|Gruber"),
        number("Umsatz", "1000.00 500.00 250.00 99.90", german, decimal=","),
    ]
    between = {2: "DE;Ergebnis;1.500,00\n", 4: "AT;Ergebnis;349,90\n"}
    content = page(results, delimiter=";", between=between)
    content += "AT;Ergebnis;349,90\nGesamtergebnis;;1.849,90\n"
    found = [written("accounts/results", content, results, delimiter=";", left_out=3, words=WORDS)]
    starred = [
        number("Account", "4000 4001 5000 5001"),
        text("Text", "A|B|C|D"),
        number("Amount", "100.00 50.00 10.00 30.00", decimal="."),
    ]
    lines = page(starred, between={2: "* 40,,150.00\n"}) + "* 50,,40.00\n** Total,,190.00\n"
    found.append(written("accounts/stars", lines, starred, left_out=3, words=WORDS))
    earned = [text("Item", "Design|Services|Rent|Travel"),
              number("2023", "12500.00 4000.00 6000.00 1250.00", decimal=".")]  # fmt: skip
    lines = page(earned, between={2: "Total Income,16500.00\n"})
    lines += "Total Expense,7250.00\nNet Income,9250.00\n"
    kept = [text("Item", "Design|Services|Rent|Travel|Net Income"),
            number("2023", "12500.00 4000.00 6000.00 1250.00 9250.00", decimal=".")]  # fmt: skip
    left = written("accounts/net_income", lines, earned, left_out=3, words=WORDS)
    keep = written("accounts/net_income", lines, kept, left_out=2, words=WORDS,
                   totals="leave_out_proven")  # fmt: skip
    tables = (*left.tables, *keep.tables)
    return [*found, Case(left.subject, left.name, left.content, tables, must_ask="totals")]


def _regions() -> list[Case]:
    """The sum of all rows as the first or the last of them, with a name like others."""
    lands = [text("Land", "Bayern|Hessen|Sachsen"), number("n", "120 80 100"),
             number("km", "12 8 10")]  # fmt: skip
    above = [text("Land", "Deutschland|Bayern|Hessen|Sachsen"), number("n", "300 120 80 100"),
             number("km", "30 12 8 10")]  # fmt: skip
    found = [asked_rows("regions/country_above", page(above), lands, above, 1)]
    parts = [text("Area", "Africa|Americas|Asia|Europe"), number("n", "1400 1000 4700 750")]
    world = [text("Area", "World|Africa|Americas|Asia|Europe"),
             number("n", "7850 1400 1000 4700 750")]  # fmt: skip
    found.append(asked_rows("regions/world_above", page(world), parts, world, 1))
    sexes = [text("Region", "North|South"), number("Male", "10 20"), number("Female", "12 18")]
    below = [text("Region", "North|South|Country"), number("Male", "10 20 30"),
             number("Female", "12 18 30")]  # fmt: skip
    found.append(asked_rows("regions/country_below", page(below), sexes, below, 1))
    # Two rows may be the parts of a figure above them, as costs and profit are of revenue.
    for name, labels, values in (
        ("revenue", "Revenue|Cost|Profit", "1000 600 400"),
        ("small", "a|b|c|d", "6 3 2 1"),
        ("near", "a|b|c|d", "601 300 200 100"),
        ("lump_sum", "Monthly|Yearly|Lump sum", "12.50 20.00 31.00"),
        ("footnote", "Kiel|Ulm|* Bonn", "12.50 20.00 31.00"),
    ):
        figures = [text("Item", labels), number("Amount", values)]
        found.append(case(f"regions/{name}", figures, totals="keep"))
    return found


def _signs() -> list[Case]:
    """Signs of statistics where a figure is missing."""
    found = []
    for name, sign in (("dots", ".."), ("three_dots", "..."), ("ellipsis", "…"), ("colon", ":"),
                       ("mysql", "\\N")):  # fmt: skip
        persons = number("Persons", "1234 ~ 3456 ~", missing=sign)
        columns = [text("Region", "N|E|S|W"), persons, number("Area", "1.5 2.5 3.5 4.5")]
        found.append(case(f"signs/{name}", columns))
    return found


CASES: tuple[Case, ...] = (*_ads(), *_accounts(), *_regions(), *_signs())
