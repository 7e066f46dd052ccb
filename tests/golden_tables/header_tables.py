"""Cases of headers: none, doubled, empty, of years, below titles; and of lines below the rows."""

from golden_tables.cases import Case, Column, Expected, case, day, number, page, text, written
from golden_tables.samples import ABOVE, AMOUNTS, COUNTS, NAMES, THREE
from golden_tables.styles import german

__all__ = ["CASES"]

BELOW = ("below", "foot", "end", "after", "note")


def _none() -> list[Case]:
    """No header: the first row counts."""
    days = day("Date", "2024-03-01 2024-03-15 2024-12-31 2023-02-28", "%Y-%m-%d")
    return [
        case("no header/three", THREE, header=False),
        case("no header/dates", [days, AMOUNTS], header=False),
        case("no header/numbers", [COUNTS, AMOUNTS], header=False),
        case("no header/semicolon", [NAMES, number("B", "1.50 2.25 3.00 9.99", german, decimal=",")],
             header=False, delimiter=";"),
        case("no header/one_column", [AMOUNTS], header=False),
        case("no header/missing_first", [
            text("N", "~|Bert|Cleo|Dora"), AMOUNTS, number("C", "~ 2 3 4")], header=False),
        case("no header/negative", [number("A", "-1 -2 -3 -4"), AMOUNTS], header=False),
        case("no header/texts_and_zip", [NAMES, text("Zip", "01067|10115|04109|99084")],
             header=False),
    ]  # fmt: skip


def _names() -> list[Case]:
    """Names that occur twice, are empty, look like numbers or hold what SQL minds."""
    second = number(None, "5 6 7 8")
    doubled = "Name,Amount,Amount\nAnna,1.50,5\nBert,2.25,6\nCleo,-3.00,7\nDora,40.00,8\n"
    found = [
        written("names/doubled", doubled, [NAMES, AMOUNTS, second]),
        written("names/doubled_case", doubled.replace("Amount\n", "AMOUNT\n"),
                [NAMES, AMOUNTS, second]),
        written("names/doubled_blank", doubled.replace("Amount\n", " Amount \n"),
                [NAMES, AMOUNTS, second]),
        written("names/empty", doubled.replace("Amount\n", "\n"), [NAMES, AMOUNTS, second]),
        written("names/empty_first", doubled.replace("Name,", ",").replace("Amount\n", "Sum\n"),
                [text(None, "Anna|Bert|Cleo|Dora"), AMOUNTS, number("Sum", "5 6 7 8")]),
        case("names/years", [
            text("Region", "Nord|Süd|Ost|West"), number("2022", "10 20 30 40"),
            number("2023", "11 21 31 41"), number("2024", "12 22 32 42")]),
        case("names/months", [
            text("Region", "Nord|Süd|Ost|West"), number("2024-01", "10 20 30 40"),
            number("2024-02", "11 21 31 41")]),
        case("names/quotes", [text('The "name"', "Anna|Bert|Cleo|Dora"),
                              number("a.b;c", "1 2 3 4")]),
        case("names/sql", [text("select", "Anna|Bert|Cleo|Dora"), number("from", "1 2 3 4"),
                           number("order by", "5 6 7 8")]),
        case("names/padded", THREE, pad="  "),
        case("names/broken", [text("Name\nof person", "Anna|Bert|Cleo|Dora"), AMOUNTS]),
        case("names/texts_only", [NAMES, text("City", "Rome|Oslo|Bern|Rome")]),
        case("names/texts_like_names", [
            text("First", "Anna|Bert|Cleo|Dora"), text("Last", "Berg|Diaz|Egli|Falk"),
            text("City", "Rome|Oslo|Bern|Wien")]),
        case("names/one_row", [text("Name", "Anna"), number("Amount", "1.50", decimal=".")]),
        case("names/long", [text("N" * 300, "Anna|Bert|Cleo|Dora"), AMOUNTS]),
        case("names/units", [NAMES, number("Amount (€)", "1 2 3 4"), number("Rate %", "5 6 7 8")]),
    ]  # fmt: skip
    only = written("names/header_alone", "Name,Amount,Count\n", [
        text("Name", []), Column("Amount", "text", ()), Column("Count", "text", ())])  # fmt: skip
    return [*found, only]


def _above() -> list[Case]:
    """Titles and remarks above the header; every column keeps its type."""
    found = []
    for name, above, count in (
        ("one_title", "Sales report\n", 1),
        ("title_and_blank", "Sales report\n\n", 1),
        ("two_titles", "Sales report\nfirst quarter 2024\n\n", 2),
        ("padded_title", "Sales report,,\n,,\n", 1),
        ("facts", "Report:,Sales\nPeriod:,Q1 2024\nUser:,abc\n\n", 3),
        ("dated", "Exported 2024-03-01 10:00\n\n\n", 1),
        ("quoted", '"Sales, first quarter"\n\n', 1),
        ("numbers", "Account,12345678\nBalance,1234.50\n\n", 2),
        ("blank_lines", "\n\n\n", 0),
        ("six", "a\nb\nc\nd\ne\nf\n\n", 6),
    ):
        found.append(case(f"titles/{name}", THREE, above=above, left_out=count, words=ABOVE))
    prices = number("Preis", "1234.50 2.25 -3.00 40.00", german, decimal=",")
    dates = day("Datum", "2024-03-01 2024-03-15 2024-12-31 2023-02-28", "%d.%m.%Y", order="dmy")
    for name, above, count in (
        ("german", "Umsatzliste\nStand:;01.04.2024\n\n", 2),
        ("german_padded", "Umsatzliste;;\n;;\n", 1),
    ):
        found.append(
            case(f"titles/{name}", [NAMES, prices, dates], above=above, left_out=count,
                 words=ABOVE, delimiter=";", encoding="cp1252")
        )  # fmt: skip
    return found


def _two_rows() -> list[Case]:
    """Headers of two rows, units below the names, and a header that comes again."""
    found = []
    bands = "Person,2024,,2025,\nName,Amount,Count,Amount,Count\n" + "".join(
        f"{row}\n" for row in ("Anna,1.50,1,5,6", "Bert,2.25,2,7,8", "Cleo,-3.00,3,9,1")
    )
    found.append(
        written(
            "titles/bands",
            bands,
            [
                text(None, "Anna|Bert|Cleo"),
                number(None, "1.50 2.25 -3.00"),
                number(None, "1 2 3"),
                number(None, "5 7 9"),
                number(None, "6 8 1"),
            ],
            header_row=2,
            left_out=1,
            words=ABOVE,
        )
    )
    units = "Name,Weight,Price\n,kg,EUR\nAnna,1.50,1\nBert,2.25,2\nCleo,3.00,3\n"
    found.append(
        written(
            "titles/units_below",
            units,
            [
                text("Name", "Anna|Bert|Cleo"),
                number("Weight", "1.50 2.25 3.00"),
                number("Price", "1 2 3"),
            ],
            left_out=1,
            words=(*ABOVE, "unit"),
            also=[
                Expected(
                    (
                        text("Name", "~|Anna|Bert|Cleo"),
                        text("Weight", "kg|1.50|2.25|3.00"),
                        text("Price", "EUR|1|2|3"),
                    )
                )
            ],
        )
    )
    repeated = "Name,Amount,Count\nAnna,1.50,1\nBert,2.25,2\nName,Amount,Count\nCleo,-3.00,3\nDora,40.00,4\n"
    found.append(
        written(
            "titles/header_again", repeated, THREE, left_out=1, words=("header", "again", "repeat")
        )
    )
    return found


def _below() -> list[Case]:
    """Remarks below the last row."""
    found = []
    for name, below, count in (
        ("source", "\nSource: Statistics Office\n", 1),
        ("source_at_once", "Source: Statistics Office\n", 1),
        ("source_with_year", "Source: Statistics Office, 2024\n", 1),
        ("source_as_wide", "Source: Statistics Office, March, 2024\n", 1),
        ("two_lines", "\nAll figures in thousands\nAs of 2024-03-01\n", 2),
        ("padded", ",,\nSource: Statistics Office,,\n", 1),
        ("end", "*** end of report ***\n", 1),
        ("rows_affected", "\n(4 rows affected)\n", 1),
    ):
        found.append(case(f"footers/{name}", THREE, below=below, left_out=count, words=BELOW))
    return found


def _several() -> list[Case]:
    """Several tables in one file: one of them, and the others are named."""
    second = "\nCity,Year\nRome,2001\nOslo,2002\n"
    words = ("table", "below", "above", "left out", "block")
    first = case("several tables/below", THREE, below=second, left_out=3, words=words)
    # Two that are alike are one, whose header comes again.
    joined = Expected(
        (
            text("Name", "Anna|Bert|Cleo|Dora|Emil|Fred"),
            number("Amount", "1.50 2.25 -3.00 40.00 5.00 6.00"),
            number("Count", "1 2 3 4 5 6"),
        ),
        left_out=1,
        words=words,
    )
    same = case(
        "several tables/same_columns",
        THREE,
        below="\nName,Amount,Count\nEmil,5.00,5\nFred,6.00,6\n",
        left_out=3,
        words=words,
        also=[joined],
    )
    facts = case(
        "several tables/facts_above",
        THREE,
        above="Key,Value\nBranch,12\nUser,abc\n\n",
        left_out=3,
        words=(*words, "title", "header"),
    )
    return [first, same, facts]


def _preambles() -> list[Case]:
    """Lines of data above the header, as exports of accounts have them; records of types."""
    booked = [
        number("Umsatz", "100.50 20.00 30.25", german, decimal=","),
        text("Kennzeichen", "S|H|S"),
        text("Beleg", "A1|A2|A3"),
    ]
    wide = '"EXTF";700;21;"Buchungsstapel";13;20240131120000;"RE";1001;20240101;4\n'
    found = [
        case(f"preambles/{name}", booked, delimiter=";", above=above, left_out=1, words=ABOVE)
        for name, above in (
            ("wider", wide), ("as_wide", "Export;Stapel;4711\n"), ("narrower", "4711;Stapel\n"),
        )
    ]  # fmt: skip
    details = [text(None, "D|D|D"), number(None, "1 2 3"), number(None, "10.50 20.25 30.00")]
    for name, above, below in (
        ("trailer", "H,20240131\n", "T,3,60.75,x\n"),
        ("as_wide", "H,ACME,\n", "T,x,60.75\n"),
    ):
        found.append(
            case(f"records/{name}", details, header=False, above=above, below=below, left_out=2,
                 words=("record",))
        )  # fmt: skip
    lines = [text(None, "L|L|L"), number(None, "1 1 2"), text(None, "Wire|Box|Box"),
             number(None, "3 5 1"), number(None, "5.00 7.50 2.00")]  # fmt: skip
    orders = (
        "H,1,2024-01-05,Ann,12.50\nL,1,Wire,3,5.00\nL,1,Box,5,7.50\n"
        "H,2,2024-01-06,May,2.00\nL,2,Box,1,2.00\n"
    )
    found.append(
        written("records/orders", orders, lines, left_out=2, words=("record",), header_row=0)
    )
    years = [
        text("Region", "North|South"),
        number("2022", "1950 1999"),
        number("2023", "2010 2040"),
    ]
    three = [*years, number("2024", "1980 1990")]
    alone = [number("2022", "1500 1600"), number("2023", "2210 2200"), number("2024", "1980 1990")]
    return [
        *found,
        _years_or_row("years above years/two", years),
        _years_or_row("years above years/three_alone", alone),
        written("years above years/three", page(three), three),
    ]


def _years_or_row(label: str, named: list[Column]) -> Case:
    """Return a table whose first row may name its columns by years, or be a row as the others."""
    content = page(named)
    rows = [line.split(",") for line in content.splitlines()]
    unnamed = [
        text(None, "|".join(values)) if values[1].isalpha() else number(None, " ".join(values))
        for values in zip(*rows, strict=True)
    ]
    tables = (
        *written(label, content, named).tables,
        *written(label, content, unnamed, header_row=0).tables,
    )
    case_ = written(label, content, named)
    return Case(case_.subject, case_.name, case_.content, tables, must_ask="header_row")


CASES = (
    *_none(), *_names(), *_above(), *_two_rows(), *_below(), *_several(), *_preambles(),
)  # fmt: skip
