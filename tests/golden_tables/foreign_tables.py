"""Cases of tables from many countries: their numbers, names, headers of years, and unnamed sums."""

from golden_tables.cases import Case, Column, case, number, page, text, unclear, written
from golden_tables.samples import ABOVE
from golden_tables.styles import german
from golden_tables.total_tables import asked

__all__ = ["CASES"]

TOTAL_WORDS = ("total", "sum")
PRICES = "1.50 2.25 10.00 0.75 3.10"
SHOPS = text("Shop", "North|South|East|West")
AMOUNTS = number("Amount", "10.50 20.25 -3.00 40.00")
COUNTS = number("Count", "1 2 3 4")


def _items(count: int) -> Column:
    return text("Item", "|".join("abcdef"[:count]))


def _numbers() -> list[Case]:
    """Ways to write amounts that leave one reading alone."""
    found = []
    for name, written_as, values, decimal in (
        ("swiss_dash", "Fr. 1'234.-|Fr. 12'000.-|Fr. 95.50", "1234 12000 95.50", "."),
        ("swiss_dash_behind", "1'234.- CHF|95.50 CHF|12.— CHF", "1234 95.50 12", "."),
        ("german_dash", "1.234,-|12,-|95,50", "1234 12 95.50", ","),
        ("german_two_dashes", "1.234,--|-12,--|95,50", "1234 -12 95.50", ","),
        ("accounting_nothing", "$ 1,234.50|$ -|$ (95.75)", "1234.50 ~ -95.75", "."),
        ("figure_blanks", "1\u2007234.5|12\u2007000.25|7.0", "1234.5 12000.25 7.0", "."),
        ("direction_marks", "\u200e1234.5\u200e|\u200e-3\u200e|7", "1234.5 -3 7", "."),
        ("turkish_lira", "1.234,50 TL|12,00 TL|-95,75 TL", "1234.50 12 -95.75", ","),
        ("rupiah", "Rp 1.234.567|Rp 12.000|Rp 95.750", "1234567 12000 95750", ","),
        ("hryvnia", "1 234,50 грн|12,00 грн|95,75 грн", "1234.50 12 95.75", ","),
        ("forint", "1 234 Ft|12 Ft|-95 750 Ft", "1234 12 -95750", ","),
        ("dong", "1.234.567 ₫|12.000 ₫|95.750 ₫", "1234567 12000 95750", ","),
        ("shekel_behind", "1,234.50 ₪|12.00 ₪|-95.75 ₪", "1234.50 12 -95.75", "."),
        ("krone_minus", "kr 1 234,50|kr 12,00|kr −95,75", "1234.50 12 -95.75", ","),
        ("real_minus", "R$ 1.234,50|R$ -12,00|R$ 95,75", "1234.50 -12 95.75", ","),
        ("quebec", "1 234,50 $|12,00 $|(95,75 $)", "1234.50 12 -95.75", ","),
        ("minus_behind", "1.234-|1.200.500|95-", "-1234 1200500 -95", ","),
        ("signs_behind", "1.234,50|12,00-|95,75", "1234.50 -12 95.75", ","),
        ("comma_powers", "1,5E+03|2,5E-02|3,0E+00", "1500 0.025 3", ","),
        ("long_dashes", "—|12.25|—|3", "~ 12.25 ~ 3", "."),
        ("four_places", "1,2345|12,34|1,23", "1.2345 12.34 1.23", ","),
        ("zero_proves", "0,123|1,234|2,500", "0.123 1.234 2.500", ","),
        ("lakhs", "1,23,456.78|12,345.00|99.50", "123456.78 12345 99.50", "."),
    ):
        texts = written_as.split("|")
        column = number("Amount", values, texts=texts, decimal=decimal)
        found.append(case(f"amounts/{name}", [_items(len(texts)), column], delimiter=";"))
    for name, written_as in (
        ("debit_and_credit", "1,234.50 CR|12.00 DR|95.75 CR"),
        ("censored", "<5|12|>100"),
        ("thousand_signs", "1.5K|2M|300"),
        ("feet", "5'11\"|6'2\"|5'9\""),
        ("mixed_fractions", "1 1/2|2 3/4|3"),
        ("two_marks", "1,50|2.75|3,25"),
        ("per_mille", "12 ‰|3 ‰|5 ‰"),
        ("notes", "12 (a)|3|150 (b)"),
    ):
        texts = written_as.split("|")
        found.append(case(f"amounts/{name}", [_items(3), text("Amount", texts)], delimiter=";"))
    months = [_items(3), text("Monat", "1.24|2.24|12.24")]
    found.append(case("amounts/months_of_a_year", months, delimiter=";"))
    for name, style in (("franc", "CHF {}"), ("missing", "{}")):
        commas, points = "1234 2500 3750", "1.234 2.500 3.750"
        texts = [style.format(each) for each in points.split()]
        readings = {
            ",": [_items(3), number("Amount", commas, texts=texts, decimal=",")],
            ".": [_items(3), number("Amount", points, texts=texts, decimal=".")],
        }
        found.append(unclear(f"amounts/two_ways_{name}", "decimal", readings, delimiter=";"))
    return found


def _names() -> list[Case]:
    """Names of languages that few files have, in the code pages that these have."""
    return [
        case(
            f"letters/{language}_{encoding}",
            [text("Name", names), number("Betrag", PRICES, german, decimal=",")],
            encoding=encoding,
            delimiter=";",
        )
        for language, encoding, names in (
            ("lithuanian", "cp1257", "Žemaitė|Šarūnas|Jūratė|Čepaitis|Vaičiūnaitė"),
            ("latvian", "cp1257", "Bērziņš|Kļava|Ozoliņa|Šķēle|Ģirts"),
            ("estonian", "cp1257", "Jõgi|Mägi|Õunapuu|Põld|Rüütel"),
            ("thai", "cp874", "สมชาย|สมหญิง|ประเสริฐ|วิชัย|มาลี"),
            ("croatian", "cp1250", "Šarić|Đoković|Žižić|Čović|Kovačević"),
            ("slovak", "cp852", "Kováč|Ďurica|Ľuboš|Šťastný|Hlaváč"),
            ("bulgarian", "cp1251", "Иванов|Димитрова|Стоянов|Георгиева|Ангелов"),
            ("serbian", "cp1251", "Ђорђевић|Јовановић|Љубица|Његош|Џамић"),
            ("persian", "cp1256", "محمد|پروز|چنگز|ژاله|گلناز"),
            ("arabic", "iso8859-6", "محمد|فاطمة|أحمد|عائشة|يوسف"),
            ("capitals", "cp850", "MUÑOZ|NÚÑEZ|PEÑA|IBÁÑEZ|ORDÓÑEZ"),
        )
    ]


def _headers() -> list[Case]:
    """Columns that are named by years, days and numbers, in one row or in two; units below."""
    regions = text("Region", "North|South")
    none = text(None, "North|South")
    one, other = number("2022", "10 11"), number("2023", "20 21")
    third = number("2024", "30 31")
    bands = "Region,Sales,,Cost,\n,2023,2024,2023,2024\nNorth,10,20,5,6\nSouth,11,21,6,7\n"
    sums = [number(None, "10 11"), number(None, "20 21"), number(None, "5 6"), number(None, "6 7")]
    units = "Name,Weight,Price\n,[kg],[EUR]\nAnna,1.50,1\nBert,2.25,2\n"
    weights = [text("Name", "Anna|Bert"), number("Weight", "1.50 2.25"), number("Price", "1 2")]
    series = "t,v\ns,m/s\n0,0.0\n1,9.81\n2,19.62\n"
    again = "Name,Weight,Price\nAnna,1.50,1\nNAME,WEIGHT,PRICE\nBert,2.25,2\n"
    return [
        case("series/years_without_a_corner", [none, one, other, third]),
        case("series/years_alone", [one, other, third]),
        case("series/years_down", [none, third, other, one]),
        case("series/numbers", [regions, *(number(str(n), f"{n}0 {n}1") for n in (1, 2, 3))]),
        case("series/days", [regions, number("2024-01-31", "10 11"), number("2024-02-29", "20 21")]),
        written("series/years_in_two_rows", bands, [none, *sums], header_row=2, left_out=1,
                words=ABOVE),
        written("series/units_in_brackets", units, weights, left_out=1),
        written("series/units_alone", series, [number("t", "0 1 2"), number("v", "0 9.81 19.62")],
                left_out=1),
        written("series/header_in_capitals", again, weights, left_out=1),
        # Years that are values, and rows that count.
        case("series/no_header", [number("A", "2022 2023 2024"), number("B", "5 6 7")],
             header=False),
    ]  # fmt: skip


def _labels() -> list[Case]:
    """Totals by words of languages that few files have."""
    return [
        case(
            f"labels/{name}",
            [SHOPS, AMOUNTS, COUNTS],
            below=f"{word},67.75,10\n",
            left_out=1,
            words=TOTAL_WORDS,
        )
        for name, word in (
            ("ukrainian", "Підсумок"), ("ukrainian_all", "Всього"), ("persian", "جمع"),
            ("hungarian", "Összesen"), ("hungarian_amount", "Végösszeg"), ("icelandic", "Samtals"),
            ("macedonian", "Вкупно"), ("uzbek", "Jami"), ("hindi", "कुल योग"), ("ttl", "TTL"),
            ("sum_of", "Sum of Amount"), ("greek", "Σύνολο"), ("of_a_year", "Total 2024"),
        )
    ]  # fmt: skip


def _unlabeled() -> list[Case]:
    """Rows that sum others up by their figures alone: to be asked about."""
    out = [SHOPS, AMOUNTS, COUNTS]
    kept = [
        text("Shop", "North|South|East|West|Jumla kuu"),
        number("Amount", "10.50 20.25 -3.00 40.00 67.75"),
        number("Count", "1 2 3 4 10"),
    ]
    large = [text("Shop", "a|b|c"), number("Amount", "1204.50 310.00 95.25")]
    with_sum = [text("Shop", "a|b|c|Ndzima"), number("Amount", "1204.50 310.00 95.25 1609.75")]
    rows = "N,x,10|N,y,20|N,,30|S,x,20|S,y,30|S,,50|,,80".replace("|", "\n")
    columns = [
        text("Region", "N|N|S|S"),
        text("Product", "x|y|x|y"),
        number("Units", "10 20 20 30"),
    ]
    with_sums = [
        text("Region", "N|N|N|S|S|S|~"), text("Product", "x|y|~|x|y|~|~"),
        number("Units", "10 20 30 20 30 50 80"),
    ]  # fmt: skip
    all_of = [
        text("Region", "N|N|N|S|S|S|All"), text("Product", "x|y|All|x|y|All|All"),
        number("Units", "10 20 30 20 30 50 80"),
    ]  # fmt: skip
    groups = [text("Shop", "a|b|~|c|d|~|~"), number("Amount", "10 20 30 5 6 11 41")]
    plain = [text("Shop", "a|b|c|d"), number("Amount", "10 20 5 6")]
    fits = [text("Name", "Anna|Bert|Cleo|Dora"), number("Points", "5 7 9 21")]
    return [
        asked("no labels/two_columns", page(kept), out, kept),
        asked("no labels/many_digits", page(with_sum), large, with_sum),
        asked("no labels/of_a_database", f"Region,Product,Units\n{rows}\n", columns, with_sums),
        asked("no labels/all", page(all_of), columns, all_of),
        asked("no labels/groups", page(groups), plain, groups),
        # Two digits of one column agree by chance.
        case("no labels/by_chance", fits, totals="keep"),
    ]


CASES = (*_numbers(), *_names(), *_headers(), *_labels(), *_unlabeled())
