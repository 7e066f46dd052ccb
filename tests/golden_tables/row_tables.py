"""Cases of rows: line ends, quotes, ragged and empty rows, comments, zero bytes, delimiters."""

from golden_tables.cases import Case, Expected, case, number, text, written
from golden_tables.samples import AMOUNTS, COUNTS, NAMES, THREE

__all__ = ["CASES"]


def _line_ends() -> list[Case]:
    """Each line end, mixed ones, none at the end, breaks inside of quotes."""
    found = []
    for name, eol in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):
        found.append(case(f"line ends/{name}", THREE, eol=eol))
        found.append(case(f"line ends/{name}_no_end", THREE, eol=eol, ends=False))
        found.append(case(f"line ends/{name}_many", THREE, eol=eol, below="\n\n\n"))
    mixed = "Name,Amount,Count\r\nAnna,1.50,1\nBert,2.25,2\r\nCleo,-3.00,3\rDora,40.00,4\n"
    found.append(written("line ends/mixed", mixed, THREE))
    mixed = "Name,Amount,Count\nAnna,1.50,1\r\nBert,2.25,2\nCleo,-3.00,3\r\nDora,40.00,4\r\n"
    found.append(written("line ends/mixed_two", mixed, THREE))
    double = (
        "Name,Amount,Count\r\r\nAnna,1.50,1\r\r\nBert,2.25,2\r\r\nCleo,-3.00,3\r\r\nDora,40.00,4"
    )
    found.append(written("line ends/cr_crlf", double, THREE))
    lines = text("Note", ["one\ntwo", "three", "four\n\nfive", "six"])
    for name, eol in (("lf", "\n"), ("crlf", "\r\n")):
        inside = text("Note", [value.replace("\n", eol) for value in lines.texts])
        found.append(
            written(
                f"line ends/inside_{name}",
                f'Name,Note,Amount{eol}Anna,"one{eol}two",1.50{eol}Bert,three,2.25{eol}'
                f'Cleo,"four{eol}{eol}five",-3.00{eol}Dora,six,40.00{eol}',
                [NAMES, inside, AMOUNTS],
            )
        )
    unusual = text("Note", ["a\u2028b", "c\x0bd", "e\x85f", "g\x1ch"])
    found.append(case("line ends/other_separators", [NAMES, unusual, AMOUNTS]))
    control = "Name,Amount,Count\nAnna,1.50,1\nBert,2.25,2\nCleo,-3.00,3\nDora,40.00,4\n\x1a"
    found.append(written("line ends/control_z", control, THREE))
    return found


def _quotes() -> list[Case]:
    """Quotes doubled, escaped, single, lonely, with blanks around them."""
    doubled = text("Note", ['say "hi"', '"', '""', 'a "b" c'])
    commas = text("Note", ["a, b", ",", "c,,d", "e"])
    found = [
        case("quotes/doubled", [NAMES, doubled, AMOUNTS]),
        case("quotes/commas", [NAMES, commas, AMOUNTS]),
        case("quotes/all", THREE, quote_all=True),
        case("quotes/single", [NAMES, commas, AMOUNTS], quote="'", quote_all=True),
        case("quotes/apostrophes", [text("Name", "O'Hara|D'Arc|Rock 'n' Roll|'s"), AMOUNTS]),
    ]
    inches = text("Size", ['5" disk', '3.5"', '12" x 4"', "none"])
    raw = 'Name,Size,Amount\nAnna,5" disk,1.50\nBert,3.5",2.25\nCleo,12" x 4",-3.00\nDora,none,40.00\n'
    found.append(written("quotes/inches", raw, [NAMES, inches, AMOUNTS]))
    lonely = 'Name,Note,Amount\nAnna,"open,1.50\nBert,b,2.25\nCleo,c,-3.00\nDora,d,40.00\n'
    found.append(
        written(
            "quotes/never_closed", lonely, [NAMES, text("Note", ['"open', "b", "c", "d"]), AMOUNTS]
        )
    )
    last = 'Name,Amount,Note\nAnna,1.50,a\nBert,2.25,b\nCleo,-3.00,c\nDora,40.00,"d\n'
    found.append(
        written("quotes/never_closed_last", last, [NAMES, AMOUNTS, text("Note", ["a", "b", "c", '"d'])],
                also=[Expected((NAMES, AMOUNTS, text("Note", "a|b|c|d")))])
    )  # fmt: skip
    escaped = 'Name,Note,Amount\nAnna,"say \\"hi\\"",1.50\nBert,"b",2.25\nCleo,"c \\"d\\", e",-3.00\nDora,"f",40.00\n'
    said = text("Note", ['say "hi"', "b", 'c "d", e', "f"])
    found.append(written("quotes/backslash", escaped, [NAMES, said, AMOUNTS]))
    blanks = 'Name, Note, Amount\nAnna, "a, b", 1.50\nBert, "c", 2.25\nCleo, "d", -3.00\nDora, "e, f", 40.00\n'
    spaced = text("Note", ["a, b", "c", "d", "e, f"])
    found.append(written("quotes/after_blank", blanks, [NAMES, spaced, AMOUNTS]))
    behind = (
        'Name,Note,Amount\nAnna,"a, b" ,1.50\nBert,"c" ,2.25\nCleo,"d" ,-3.00\nDora,"e, f" ,40.00\n'
    )
    found.append(written("quotes/before_blank", behind, [NAMES, spaced, AMOUNTS]))
    curly = "Name,Note,Amount\nAnna,“a”,1.50\nBert,„b“,2.25\nCleo,«c»,-3.00\nDora,‘d’,40.00\n"
    found.append(
        written("quotes/typographic", curly, [NAMES, text("Note", "“a”|„b“|«c»|‘d’"), AMOUNTS])
    )
    ids = case("quotes/quoted_ids", [text("Id", "007|008|011|012"), AMOUNTS], quote_all=True)
    backslash = case("quotes/paths", [text("Path", "C:\\new|D:\\x\\|\\\\srv\\a|E:\\"), AMOUNTS])
    return [*found, ids, backslash]


def _ragged() -> list[Case]:
    """Rows that are too short or too long: none is lost, no value moves to another column."""
    short = "Name,Amount,Count\nAnna,1.50,1\nBert,2.25\nCleo,-3.00,3\nDora\n"
    columns = [
        NAMES, number("Amount", "1.50 2.25 -3.00 ~", decimal="."), number("Count", "1 ~ 3 ~"),
    ]  # fmt: skip
    found = [written("ragged/short", short, columns)]
    long = "Name,Amount,Count\nAnna,1.50,1\nBert,2.25,2,extra\nCleo,-3.00,3\nDora,40.00,4\n"
    found.append(written("ragged/long", long, [*THREE, text(None, "~|extra|~|~")]))
    trailing = "Name,Amount,Count,\nAnna,1.50,1,\nBert,2.25,2,\nCleo,-3.00,3,\nDora,40.00,4,\n"
    with_empty = [*THREE, text(None, "~|~|~|~")]
    found.append(
        written("ragged/trailing_delimiter", trailing, THREE, also=[Expected(tuple(with_empty))])
    )
    rows = "Name,Amount,Count\nAnna,1.50,1,\nBert,2.25,2,\nCleo,-3.00,3,\nDora,40.00,4,\n"
    found.append(
        written("ragged/trailing_in_rows", rows, THREE, also=[Expected(tuple(with_empty))])
    )
    blanks = (
        "Name,Amount,Count\n\nAnna,1.50,1\n\n\nBert,2.25,2\nCleo,-3.00,3\n   \nDora,40.00,4\n\n"
    )
    found.append(written("ragged/empty_lines", blanks, THREE))
    commas = (
        "Name,Amount,Count\nAnna,1.50,1\n,,\nBert,2.25,2\nCleo,-3.00,3\n,,\nDora,40.00,4\n,,\n,,\n"
    )
    gaps = [
        text("Name", "Anna|~|Bert|Cleo|~|Dora|~|~"),
        number("Amount", "1.50 ~ 2.25 -3.00 ~ 40.00 ~ ~", decimal="."),
        number("Count", "1 ~ 2 3 ~ 4 ~ ~"),
    ]
    # Whether a row of nothing is a row, may be seen in two ways; the figures are the same.
    found.append(written("ragged/empty_fields", commas, THREE, also=[Expected(tuple(gaps))]))
    return found


def _ragged_and_more() -> list[Case]:
    """Rows that a mark too many, or too few, makes ragged."""
    found = []
    one = "Amount\n1.50\n\n2.25\n-3.00\n40.00\n"
    found.append(
        written(
            "ragged/one_column",
            one,
            [AMOUNTS],
            also=[Expected((number("Amount", "1.50 ~ 2.25 -3.00 40.00", decimal="."),))],
        )
    )
    unquoted = "Name,City,Amount\nAnna,Berlin,1.50\nBert,Paris, Texas,2.25\nCleo,Rome,-3.00\nDora,Oslo,40.00\n"
    moved = [
        NAMES,
        text("City", "Berlin|Paris|Rome|Oslo"),
        text("Amount", "1.50|Texas|-3.00|40.00"),
        text(None, "~|2.25|~|~", may_be_text=True),
    ]
    four = number(None, "~ 2.25 ~ ~", decimal=".")
    found.append(
        written("ragged/comma_unquoted", unquoted, moved, also=[Expected((*moved[:3], four))])
    )
    german = "Name,Betrag\nAnna,1,50\nBert,2,25\nCleo,-3,00\nDora,40,00\n"
    found.append(
        written(
            "ragged/decimal_comma_unquoted",
            german,
            [NAMES, number("Betrag", "1 2 -3 40"), number(None, "50 25 0 0")],
            also=[
                Expected((NAMES, number("Betrag", "1.50 2.25 -3.00 40.00"))),
                Expected((NAMES, number("Betrag", "1 2 -3 40"), text(None, "50|25|00|00"))),
            ],
        )
    )
    return found


def _comments() -> list[Case]:
    """Lines of remarks before, between and behind rows; a number sign that is none."""
    lines = "# exported 2024-03-01\n# by accounting\n"
    said = ("comment", "above", "title", "remark")
    found = [
        case("comments/above", THREE, above=lines, left_out=2, words=said),
        case("comments/with_commas", THREE, above="# a, b, c\n", left_out=1, words=said),
        case("comments/between", THREE, between={2: "# page 2\n"}, left_out=1, words=said),
        case("comments/below", THREE, below="# end\n", left_out=1, words=(*said, "below", "end")),
        case("comments/semicolons", THREE, above="// exported\n", left_out=1, words=said),
    ]
    tags = text("Tag", "#1|#2|#3|#4")
    found.append(case("comments/values", [tags, AMOUNTS]))
    found.append(case("comments/header", [text("#", "a|b|c|d"), AMOUNTS]))
    commented = "#Name,Amount,Count\nAnna,1.50,1\nBert,2.25,2\nCleo,-3.00,3\nDora,40.00,4\n"
    named = [text("#Name", "Anna|Bert|Cleo|Dora"), AMOUNTS, COUNTS]
    found.append(written("comments/before_header", commented, named, also=[Expected(tuple(THREE))]))
    return found


def _zeros() -> list[Case]:
    """Zero bytes and other control characters between letters."""
    plain = b"Name,Amount,Count\nAnna,1.50,1\nBert,2.25,2\nCleo,-3.00,3\nDora,40.00,4\n"
    return [
        written("zero bytes/in_text", plain.replace(b"Bert", b"Be\0rt"), THREE),
        written("zero bytes/in_number", plain.replace(b"2.25", b"2.\x0025"), THREE),
        written("zero bytes/at_end", plain + b"\0" * 40, THREE),
        written("zero bytes/padded", plain.replace(b"Anna", b"Anna\0\0\0\0"), THREE),
        case("zero bytes/bell", [text("Name", "An\x07na|Bert|Cl\x1beo|Dora"), AMOUNTS]),
    ]


def _delimiters() -> list[Case]:
    """Delimiters that the suffix does not tell, and texts full of others."""
    found = []
    notes = text("Note", ["a; b; c", "d | e", "f, g, h", "1;2;3"])
    for name, delimiter in (("comma", ","), ("semicolon", ";"), ("tab", "\t"), ("bar", "|")):
        for suffix in (".csv", ".tsv", ".psv", ".tab"):
            label = f"delimiters/{name}_in{suffix.replace('.', '_')}{suffix}"
            found.append(case(label, THREE, delimiter=delimiter))
        found.append(
            case(f"delimiters/{name}_others", [NAMES, notes, AMOUNTS], delimiter=delimiter)
        )
    found.append(case("delimiters/sep_semicolon", THREE, delimiter=";", above="sep=;\n"))
    found.append(case("delimiters/sep_comma", THREE, above="sep=,\r\n"))
    found.append(case("delimiters/sep_tab", THREE, delimiter="\t", above="sep=\t\n"))
    found.append(case("delimiters/sep_quoted", THREE, delimiter=";", above='"sep=;"\n'))
    found.append(case("delimiters/sep_bar", THREE, delimiter="|", above="SEP=|\n"))
    single = [text("Mail", "a@x.org|b@x.org|c@x.org|d@x.org")]
    found.append(case("delimiters/one_column", single))
    sentences = [text("Satz", ["Ja, gut.", "Nein, danke.", "Eins, zwei, drei.", "Ende."])]
    found.append(case("delimiters/one_column_quoted", sentences))
    # One column of decimal commas is none of two columns.
    ratios = "Preis\n1,50\n2,25\n3,00\n4,75\n"
    prices = number(
        "Preis", "1.50 2.25 3.00 4.75", decimal=",", texts=["1,50", "2,25", "3,00", "4,75"]
    )
    found.append(written("delimiters/one_column_commas", ratios, [prices], delimiter=";"))
    return found


def _pages() -> list[Case]:
    """Lines of pages, with the header again behind them or without; last lines that count."""
    words = ("page", "header", "below")
    names = "Name,Amount,Count\n"
    one, two = "Anna,1.50,1\nBert,2.25,2\n", "Cleo,-3.00,3\nDora,40.00,4\n"
    found = []
    for name, first, second in (
        ("short", "Page 1 of 2\n", "Page 2 of 2\n"),
        ("padded", "Page 1 of 2,,\n", "Page 2 of 2,,\n"),
        ("german", ",,Seite 1 von 2\n", ",,Seite 2 von 2\n"),
        ("gaps", "\nPage 1/2\n\n", "\nPage 2/2\n"),
        ("print", "Printed 2024-02-01,,\nPage 1,,\n", "Printed 2024-02-01,,\nPage 2,,\n"),
    ):
        again = f"{names}{one}{first}{names}{two}{second}"
        lines = len([line for line in (first + second).split("\n") if line])
        found.append(written(f"pages/{name}", again, THREE, left_out=lines + 1, words=words))
    plain = f"{names}{one}Page 1 of 2,,\n{two}Page 2 of 2,,\n"
    found.append(written("pages/no_header_again", plain, THREE, left_out=2, words=words))
    whole = names + one + two
    for name, below in (
        ("items", "Items: 4,,\n"),
        ("rows", "(4 rows)\n"),
        ("glued_total", "Total: 40.75,,\n"),
    ):
        found.append(written(f"counts/{name}", whole + below, THREE, left_out=1, words=words))
    pair = text("Name", "Anna|Bert"), number("Amount", "1 2")
    for name, below, count in (
        ("titled", "\nTowns\nTown,People\nUlm,100\nBonn,200\n", 4),
        ("short", "\nTown,People\nUlm,100\n", 2),
    ):
        content = f"Name,Amount\nAnna,1\nBert,2\n{below}"
        found.append(
            written(
                f"second tables/{name}", content, pair, left_out=count, words=("another", "below")
            )
        )
    about = text("Page", "Page 1|Page 2|Page 3"), text("Note", "ok|~|bad")
    found.append(case("pages/of_a_book", about))
    return found


CASES = (
    *_line_ends(),
    *_quotes(),
    *_ragged(),
    *_ragged_and_more(),
    *_comments(),
    *_zeros(),
    *_delimiters(),
    *_pages(),
)
