"""Cases of numbers: decimal and thousands marks, signs, currencies, and what is no number."""

from golden_tables.cases import Case, Column, Expected, case, number, plain, text, unclear, written
from golden_tables.styles import (
    NARROW,
    NBSP,
    accounting,
    after,
    before,
    english,
    french,
    german,
    grouped,
    indian,
    narrow_french,
    percent,
    plus,
    point_to_comma,
    spaced,
    swiss,
    swiss_curly,
    trailing,
    typographic,
)

__all__ = ["CASES"]

ITEMS = text("Artikel", "Schraube|Mutter|Blech|Rohr|Kabel")
MONEY = "1234.50 -3.20 1000000.00 0.99 12345.67"
WHOLE = "1234 -3500 1000000 12 999"
SMALL = "1.50 2.25 10.00 0.75 3.10"


def _marks() -> list[Case]:
    """Marks that the values themselves prove, in the delimiters that they come with."""
    styles = {
        "german": (german, ","),
        "french_nbsp": (french, ","),
        "french_narrow": (narrow_french, ","),
        "french_blank": (spaced, ","),
        "swiss": (swiss, "."),
        "swiss_curly": (swiss_curly, "."),
        "english": (english, "."),
        "comma_only": (point_to_comma, ","),
        "point_only": (plain, "."),
        "blank_point": (grouped(" ", "."), "."),
        "nbsp_point": (grouped(NBSP, "."), "."),
        "underscore": (grouped("_", "."), "."),
    }
    found = []
    for name, (style, decimal) in styles.items():
        for delimiter, called in ((";", "semicolon"), ("\t", "tab"), (",", "comma"), ("|", "bar")):
            money = number(
                "Betrag", MONEY, style, decimal=decimal, may_be_text=name == "underscore"
            )
            found.append(case(f"marks/{name}_{called}", [ITEMS, money], delimiter=delimiter))
    return found


def _whole_groups() -> list[Case]:
    """Whole numbers in groups: a million proves what the mark is, a mere thousand does not."""
    found = []
    for name, style, decimal in (
        ("german", german, ","),
        ("english", english, "."),
        ("swiss", swiss, "."),
        ("nbsp", french, ","),
        ("narrow", narrow_french, ","),
        ("blank", spaced, ","),
    ):
        found.append(
            case(
                f"whole numbers/{name}_million",
                [ITEMS, number("Menge", WHOLE, style, decimal=decimal)],
                delimiter=";",
            )
        )
        # Blanks and apostrophes separate nothing but groups.
        if name not in ("german", "english"):
            found.append(
                case(
                    f"whole numbers/{name}_thousands",
                    [ITEMS, number("Menge", "1234 2500 3000 4750 1100", style, decimal=decimal)],
                    delimiter=";",
                )
            )
    return found


def _proven_elsewhere() -> list[Case]:
    """One column that could be read in two ways, beside one that proves which."""
    thousands = "1234 2500 3000 4750 1100"
    found = []
    for name, style, decimal, delimiter in (
        ("german_semicolon", german, ",", ";"),
        ("german_tab", german, ",", "\t"),
        ("german_comma", german, ",", ","),
        ("english_comma", english, ".", ","),
        ("english_semicolon", english, ".", ";"),
        ("english_tab", english, ".", "\t"),
    ):
        columns = [
            ITEMS,
            number("Menge", thousands, style, decimal=decimal),
            number("Preis", "12.50 0.99 1999.95 3.20 7.00", style, decimal=decimal),
        ]
        found.append(case(f"other columns/{name}", columns, delimiter=delimiter))
        # The proof stands in the very last of many rows.
        many = " ".join(["1234 2500 3000"] * 400)
        names = "|".join(f"Teil {each}" for each in range(1201))
        late = [
            text("Artikel", names),
            number("Menge", f"{many} 1234567", style, decimal=decimal),
        ]
        found.append(case(f"other columns/{name}_late", late, delimiter=delimiter))
    return found


def _two_ways() -> list[Case]:
    """Numbers that can be read in two ways: without an answer there is no figure."""
    found = []
    whole, parts = "1234 2500 3750 4125 1100", "1.234 2.500 3.750 4.125 1.100"
    for name, mark, delimiter in (
        ("point_semicolon", ".", ";"),
        ("point_tab", ".", "\t"),
        ("point_bar", ".", "|"),
        ("comma_quoted", ",", ","),
        ("comma_semicolon", ",", ";"),
        ("comma_tab", ",", "\t"),
    ):
        other = "," if mark == "." else "."
        readings = {
            other: [ITEMS, number("Wert", whole, grouped(mark, other), decimal=other)],
            mark: [ITEMS, number("Wert", parts, grouped("", mark), decimal=mark)],
        }
        found.append(unclear(f"two ways/{name}", "decimal", readings, delimiter=delimiter))
    for name, sign in (("euro", " €"), ("dollar", " $")):
        readings = {
            ",": [ITEMS, number("Wert", whole, after(sign, german), decimal=",")],
            ".": [ITEMS, number("Wert", parts, after(sign, plain), decimal=".")],
        }
        found.append(unclear(f"two ways/point_{name}", "decimal", readings, delimiter=";"))
    negatives = {
        ",": [ITEMS, number("Wert", "-1234 2500 -3750 4125 1100", german, decimal=",")],
        ".": [ITEMS, number("Wert", "-1.234 2.500 -3.750 4.125 1.100", plain, decimal=".")],
    }
    found.append(unclear("two ways/point_negative", "decimal", negatives, delimiter=";"))
    two = {
        ",": [
            number("Soll", whole, german, decimal=","),
            number("Haben", whole, german, decimal=","),
        ],
        ".": [
            number("Soll", parts, plain, decimal="."),
            number("Haben", parts, plain, decimal="."),
        ],
    }
    found.append(unclear("two ways/point_two_columns", "decimal", two, delimiter=";"))
    return found


def _currencies() -> list[Case]:
    """Signs of currencies before and behind, one in a column."""
    found = []
    for name, style, decimal, delimiter in (
        ("dollar_before", before("$", english), ".", ","),
        ("dollar_space", before("$ ", english), ".", ","),
        ("dollar_accounting", accounting(before("$", english)), ".", ","),
        ("pound_before", before("£", english), ".", ","),
        ("yen_before", before("¥", grouped(",", ".")), ".", ","),
        ("euro_before", before("€", german), ",", ";"),
        ("euro_behind", after(" €", german), ",", ";"),
        ("euro_nbsp", after(NBSP + "€", french), ",", ";"),
        ("euro_narrow", after(NARROW + "€", narrow_french), ",", ";"),
        ("eur_code", after(" EUR", german), ",", ";"),
        ("usd_code", before("USD ", english), ".", ","),
        ("chf_before", before("CHF ", swiss), ".", ";"),
        ("chf_curly", before("CHF ", swiss_curly), ".", ";"),
        ("krona_behind", after(" kr", spaced), ",", ";"),
        ("zloty_behind", after(" zł", spaced), ",", ";"),
        ("real_before", before("R$ ", german), ",", ";"),
        ("koruna_behind", after(" Kč", french), ",", ";"),
        ("rupee_before", before("₹", indian), ".", ","),
    ):
        money = number("Betrag", MONEY, style, decimal=decimal)
        found.append(case(f"currencies/{name}", [ITEMS, money], delimiter=delimiter))
    # Two currencies in one column have no sum.
    mixed = text("Betrag", "€ 5.00|$ 6.00|€ 7.50|£ 8.00|$ 9.25")
    found.append(case("currencies/several", [ITEMS, mixed]))
    codes = text("Betrag", "5.00 EUR|6.00 USD|7.50 EUR|8.00 GBP|9.25 USD")
    found.append(case("currencies/several_codes", [ITEMS, codes]))
    return found


def _signs() -> list[Case]:
    """Negatives as bookkeepers and machines write them, a plus, and percents."""
    values = "1234.50 -3.20 -1000.00 0.99 -12345.67"
    found = []
    for name, style, decimal, delimiter in (
        ("parentheses", accounting(english), ".", ","),
        ("parentheses_german", accounting(german), ",", ";"),
        ("parentheses_dollar", accounting(before("$", english)), ".", ","),
        ("trailing_minus", trailing(plain), ".", ","),
        ("trailing_german", trailing(german), ",", ";"),
        ("typographic", typographic(plain), ".", ","),
        ("typographic_german", typographic(german), ",", ";"),
        ("plus", plus(plain), ".", ","),
        ("plus_german", plus(german), ",", ";"),
    ):
        money = number("Saldo", values, style, decimal=decimal)
        found.append(case(f"signs/{name}", [ITEMS, money], delimiter=delimiter))
    for name, style, decimal, delimiter in (
        ("percent", percent(plain), ".", ","),
        ("percent_blank", after(" %", plain), ".", ","),
        ("percent_german", percent(german), ",", ";"),
        ("percent_nbsp", after(NBSP + "%", german), ",", ";"),
        ("percent_negative", accounting(percent(plain)), ".", ","),
    ):
        rates = number(
            "Quote", "12.5 -3.0 100.0 0.5 7.25", style, decimal=decimal,
            is_percent=True,
        )  # fmt: skip
        found.append(case(f"signs/{name}", [ITEMS, rates], delimiter=delimiter))
    return found


def _no_numbers() -> list[Case]:
    """Digits that count nothing: their letters must stay, a zero before them above all."""
    found = []
    for name, values in (
        ("leading_zeros", "007|0123|00001|0999|0100"),
        ("zip_codes", "01067|10115|20095|04109|99084"),
        ("phones", "+4930123456|+49891234567|+4940987654|+492211234|+4969456789"),
        ("phones_blanks", "030 123456|089 1234567|040 987654|0221 1234|069 456789"),
        ("ibans", "DE44500105175407324931|FR7630006000011234567890189|GB29NWBK60161331926819|CH9300762011623852957|AT611904300234573201"),
        ("isbns", "978-3-16-148410-0|978-0-306-40615-7|978-1-4028-9462-6|0-306-40615-2|3-16-148410-X"),
        ("long_ids", "12345678901234567890|12345678901234567891|98765432109876543210|11111111111111111111|22222222222222222223"),
        ("cards", "4111 1111 1111 1111|5500 0000 0000 0004|3400 0000 0000 009|6011 0000 0000 0004|3088 0000 0000 0009"),
        ("versions", "1.0.0|1.10.2|2.0.1|10.4.0|3.2.1"),
        ("addresses", "192.168.1.1|10.0.0.1|172.16.0.254|8.8.8.8|127.0.0.1"),
        ("fractions", "1/2|3/4|5/8|7/16|9/10"),
        ("ranges", "1-5|6-10|11-20|21-50|51-99"),
        ("hex", "0x1F|0x2A|0xFF|0x10|0x00"),
        ("exponents_in_ids", "12E4|12E5|3A10|47E1|12D4"),
        ("units", "12 kg|3 kg|150 g|2 l|7 m"),
        ("scores", "3:1|2:2|0:4|1:0|5:3"),
    ):  # fmt: skip
        # Past 64 bits they may be whole numbers as well, as long as no digit is lost.
        whole = number("Nummer", values.replace("|", " ")) if name == "long_ids" else None
        also = [Expected((ITEMS, whole))] if whole else []
        columns = [ITEMS, text("Nummer", values)]
        found.append(case(f"no numbers/{name}", columns, delimiter=";", also=also))
        # And in a comma file, where the sum of another column is asked for.
        amounts = number("Betrag", SMALL, decimal=".")
        also = [Expected((whole, amounts))] if whole else []
        columns = [text("Nummer", values), amounts]
        found.append(case(f"no numbers/{name}_beside", columns, also=also))
    # All fifteen digits and more that 64 bits hold are numbers; the last digit must not be lost.
    exact = number("Zahl", "9007199254740993 9007199254740995 1 2 3")
    found.append(case("no numbers/past_doubles", [ITEMS, exact]))
    cents = number("Zahl", "12345678901234.56 0.01 0.02 99999999999999.99 0.10", decimal=".")
    found.append(case("no numbers/many_cents", [ITEMS, cents]))
    return found


def _missing() -> list[Case]:
    """Marks for what is missing, which must not make a column text, nor count as zero."""
    found = []
    for mark in (
        "",
        "-",
        "--",
        "n/a",
        "N/A",
        "NA",
        "NULL",
        "null",
        "None",
        "nan",
        "#N/A",
        "?",
        ".",
    ):
        called = {"": "empty", "-": "dash", "--": "dashes", "?": "question", ".": "point"}.get(
            mark, mark.replace("/", "_").replace("#", "hash_").lower() + ("_" * mark.isupper())
        )
        money = number("Betrag", "1.50 ~ 10.25 ~ 3.00", missing=mark, decimal=".")
        found.append(case(f"missing/{called}", [ITEMS, money]))
    german_mark = number("Betrag", "1234.50 ~ 10.25 ~ 3.00", german, missing="k.A.", decimal=",")
    found.append(case("missing/german", [ITEMS, german_mark], delimiter=";"))
    dash = number(
        "Betrag", "1234.50 ~ 10.25 ~ 3.00", accounting(english), missing=" - ", decimal="."
    )
    found.append(case("missing/accounting_dash", [ITEMS, dash]))
    first = number("Betrag", "~ ~ ~ 10.25 3.00", decimal=".")
    found.append(case("missing/first_rows", [ITEMS, first]))
    none: Column = text("Bemerkung", "~|~|~|~|~")
    found.append(case("missing/whole_column", [ITEMS, none, number("Betrag", SMALL, decimal=".")]))
    # The country code of Namibia, and a person called Null.
    land = text("Land", "NA|DE|NA|FR|IT")
    found.append(case("missing/namibia", [land, number("Betrag", SMALL, decimal=".")]))
    people = text("Name", "Null|Müller|None|Nan|True")
    found.append(case("missing/names", [people, number("Betrag", SMALL, decimal=".")]))
    return found


def _written_ways() -> list[Case]:
    """Other ways to write numbers, and blanks around them."""
    found = [
        case("number forms/exponents", [ITEMS, number("Wert", "1.5e3 2E-2 3e0 4.25e2 1e1")]),
        case("number forms/padded", [ITEMS, number("Wert", SMALL, decimal=".")], pad=" "),
        case("number forms/padded_nbsp", [ITEMS, number("Wert", SMALL, decimal=".")], pad=NBSP),
        case(
            "number forms/all_quoted",
            [ITEMS, number("Wert", MONEY, english, decimal=".")],
            quote_all=True,
        ),
        case(
            "number forms/quoted_german",
            [ITEMS, number("Wert", MONEY, german, decimal=",")],
            delimiter=";",
            quote_all=True,
        ),
    ]
    bare = "Artikel,Wert\nSchraube,.50\nMutter,-.25\nBlech,5.\nRohr,+.75\nKabel,0.10\n"
    signs = [".50", "-.25", "5.", "+.75", "0.10"]
    values = number("Wert", "0.50 -0.25 5 0.75 0.10", decimal=".", texts=signs)
    found.append(written("number forms/bare_points", bare, [ITEMS, values]))
    # Apostrophes with which spreadsheets keep text; they are part of what is written.
    formulas = "Artikel,Wert\nSchraube,=1+1\nMutter,=A1\nBlech,2\nRohr,3\nKabel,4\n"
    found.append(
        written("number forms/formulas", formulas, [ITEMS, text("Wert", "=1+1|=A1|2|3|4")])
    )
    wrapped = 'Artikel,Wert\nSchraube,"=""0012"""\nMutter,"=""0013"""\nBlech,"=""0014"""\n'
    kept = text("Wert", '="0012"|="0013"|="0014"')
    three = text("Artikel", "Schraube|Mutter|Blech")
    unwrapped = Expected((three, text("Wert", "0012|0013|0014")))
    found.append(written("number forms/wrapped", wrapped, [three, kept], also=[unwrapped]))
    letters = "Artikel,Wert\nSchraube,12\nMutter,l3\nBlech,14\nRohr,15\nKabel,16\n"
    found.append(
        written("number forms/one_letter", letters, [ITEMS, text("Wert", "12|l3|14|15|16")])
    )
    mixed = "Artikel;Wert\nSchraube;1.234,50\nMutter;1,234.50\nBlech;2,50\nRohr;3.20\nKabel;4\n"
    found.append(
        written(
            "number forms/both_conventions",
            mixed,
            [ITEMS, text("Wert", "1.234,50|1,234.50|2,50|3.20|4")],
            delimiter=";",
        )
    )
    arabic = "Artikel,Wert\nSchraube,١٢\nMutter,٣٤\nBlech,٥\n"
    found.append(
        written(
            "number forms/arabic_digits",
            arabic,
            [
                text("Artikel", "Schraube|Mutter|Blech"),
                number("Wert", "12 34 5", texts=["١٢", "٣٤", "٥"], may_be_text=True),
            ],
        )
    )
    return found


CASES = (
    *_marks(),
    *_whole_groups(),
    *_proven_elsewhere(),
    *_two_ways(),
    *_currencies(),
    *_signs(),
    *_no_numbers(),
    *_missing(),
    *_written_ways(),
)
