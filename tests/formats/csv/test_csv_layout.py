"""Where a table is in a text: titles, comments, remarks, headers again, other tables."""

import random
from pathlib import Path

import pytest

from kbd.errors import KbdError, ValidationFailed
from kbd.formats import ReadAs, Source
from kbd_csv.head import read_head
from kbd_csv.rows import RowReader
from tables_of_text import FORMAT, left_out, read, repaired

ABOVE = "line above the header"
BELOW = "line below the table"
COMMENT = "comment"
REPEATED = "header repeated between rows"
EMPTY = "empty line between rows"
VALUELESS = "row without any value below the table"

GERMAN = """\
Umsatzanzeige;Datei erzeugt am: 01.02.2024 08:15
;Letztes Update: aktuell

IBAN;DE02 1203 0000 0000 2020 51
Kontoname;Girokonto
Zeitraum;01.01.2024 - 31.01.2024

Buchung;Valuta;Auftraggeber/Empfänger;Verwendungszweck;Saldo;Währung;Betrag
02.01.2024;02.01.2024;Stadtwerke;Abschlag Januar;1.234,56;EUR;-85,00
03.01.2024;03.01.2024;Arbeitgeber GmbH;Gehalt;3.734,56;EUR;2.500,00
05.01.2024;05.01.2024;Vermieter;Miete;2.934,56;EUR;-800,00
"""
BRITISH = """\
Account Name:,Current Account,,
Account Number:,12345678,,
From 01/01/2024 to 31/01/2024,,,

Date,Description,Paid in,Balance
02/01/2024,SALARY,"2,500.00","3,100.00"
03/01/2024,RENT,,"2,300.00"
"""
FRENCH = """\
Compte courant n° 00012345678
Solde au 31/01/2024 : 1 234,56 EUR

Date;Libellé;Débit;Crédit
03/01/2024;CARTE MONOPRIX;-45,20;
05/01/2024;VIREMENT SALAIRE;;2100,00
"""
SWISS = """\
Buchungsart:;Alle Buchungen
Konto:;CH93 0076 2011 6238 5295 7
Währung:;CHF
Datum;Avisierungstext;Gutschrift in CHF;Lastschrift in CHF;Valuta;Saldo in CHF
31.01.2024;EINKAUF COOP;;-23.40;31.01.2024;1'234.50
30.01.2024;GUTSCHRIFT LOHN;5'000.00;;30.01.2024;1'257.90

Disclaimer:
Die Angaben sind ohne Gewähr.
"""
POLISH = """\
mBank S.A. Bankowość Detaliczna;
Klient;
JAN KOWALSKI;

Za okres:;
01.01.2024;31.01.2024;

#Data operacji;#Opis operacji;#Rachunek;#Kategoria;#Kwota;#Saldo
2024-01-02;BIEDRONKA;eKonto;Zakupy;-45,20 PLN;1 200,10 PLN
2024-01-03;PRZELEW;eKonto;Wpływy;3 000,00 PLN;4 200,10 PLN
"""


@pytest.mark.parametrize(
    ("data", "header_row", "names", "rows", "said"),
    [
        (GERMAN, 8, ["Buchung", "Valuta"], 3, [(ABOVE, 5, (1, 2, 4, 5, 6))]),
        (BRITISH, 5, ["Date", "Description"], 2, [(ABOVE, 3, (1, 2, 3))]),
        (FRENCH, 4, ["Date", "Libellé"], 2, [(ABOVE, 2, (1, 2))]),
        (SWISS, 4, ["Datum", "Avisierungstext"], 2, [(ABOVE, 3, (1, 2, 3)), (BELOW, 2, (8, 9))]),
        (POLISH, 8, ["#Data operacji", "#Opis operacji"], 2, [(ABOVE, 5, (1, 2, 3, 5, 6))]),
    ],
    ids=["German", "British", "French", "Swiss", "Polish"],
)
def test_statements_of_banks(
    tmp_path: Path,
    data: str,
    header_row: int,
    names: list[str],
    rows: int,
    said: list[tuple[str, int, tuple[int, ...]]],
) -> None:
    """The header is found below titles, and what stands around the table is told by its rows."""
    found = read(tmp_path, data)

    assert found.table.reading.header_row == header_row
    assert [column.name for column in found.table.columns][:2] == names
    assert (found.table.row_count, left_out(found)) == (rows, said)
    assert found.table.reading.questions == ()


def test_the_sample_is_the_first_line_that_was_left_out(tmp_path: Path) -> None:
    """A record names what was left out by its text; the warning is made of the same record."""
    found = read(tmp_path, SWISS)

    (above, below) = found.table.reading.left_out
    assert (above.sample, below.sample) == ("Buchungsart:;Alle Buchungen", "Disclaimer:")
    assert found.table.warnings == (
        "Left out: line above the header (rows 1, 2, 3).",
        "Left out: line below the table (rows 8, 9).",
    )


def test_the_line_that_names_the_delimiter(tmp_path: Path) -> None:
    """Excel's first line is obeyed, also where the rows alone would be read otherwise."""
    found = read(tmp_path, "sep=;\r\na,x;b\r\n1,5;2\r\n2,5;3\r\n")

    assert found.lines == ['"a,x",b', '"1,5",2', '"2,5",3']
    assert left_out(found) == [("delimiter line above the table", 1, (1,))]
    assert (found.table.reading.delimiter, found.table.reading.header_row) == (";", 2)
    assert read(tmp_path, "\ufeffsep=~\na~b\n1~2\n").lines == ["a,b", "1,2"]


def test_comments_above_a_log(tmp_path: Path) -> None:
    """Comments are told; the last one names the columns if nothing else does."""
    log = "# device: TH-4\n# serial: 0042\n# time,temp,hum\n2024-01-01,1.5,40\n"
    log += "2024-01-02,1.6,41\n# battery low\n2024-01-03,1.7,42\n"
    found = read(tmp_path, log)

    assert found.lines == ["time,temp,hum", "2024-01-01,1.5,40", "2024-01-02,1.6,41",
                           "2024-01-03,1.7,42"]  # fmt: skip
    assert left_out(found) == [(COMMENT, 3, (1, 2, 6))]
    assert found.table.reading.header_row == 3
    plain = read(tmp_path, "# exported by x\nid,v\n1,2\n")
    assert (plain.lines, left_out(plain)) == (["id,v", "1,2"], [(COMMENT, 1, (1,))])


@pytest.mark.parametrize(
    "data",
    [
        "#,name,amount\n1,a,2\n2,b,3\n",
        "#id,name\n1,a\n2,b\n",
        "tag,count\n#red,2\n#blue,3\n",
        "#red,2\n#blue,3\n#green,4\n",
        "tag\n#red\n#blue\n",
        "#red\n#blue\nplain\n",
    ],
)
def test_a_sign_alone_is_no_comment(tmp_path: Path, data: str) -> None:
    """Names and values may begin with the sign of comments."""
    found = read(tmp_path, data)

    assert found.lines[-len(data.splitlines()) :] == data.splitlines()
    assert left_out(found) == []


def test_exports_that_were_put_together(tmp_path: Path) -> None:
    """A header that comes again is left out, wherever and as often as it does."""
    found = read(tmp_path, "id,v\n1,2\n" + "id,v\n3,4\n5,6\n" * 2)

    assert found.lines == ["id,v", "1,2", "3,4", "5,6", "3,4", "5,6"]
    assert left_out(found) == [(REPEATED, 2, (3, 6))]


def test_sheets_that_were_put_together(tmp_path: Path) -> None:
    """Titles above a header that comes again are told, too."""
    found = read(tmp_path, "January\nid,v\n1,2\n\nFebruary\nid,v\n3,4\n")

    assert found.lines == ["id,v", "1,2", "3,4"]
    assert left_out(found) == [
        (ABOVE, 1, (1,)),
        ("title above a repeated header", 1, (5,)),
        (REPEATED, 1, (6,)),
    ]


def test_files_with_marks_that_were_put_together(tmp_path: Path) -> None:
    """A header that comes again behind a byte order mark is no row, quoted or not."""
    for header in ("id,v\n", '"id","v"\n'):
        found = read(tmp_path, f"\ufeff{header}1,2\n\ufeff{header}3,4\n")

        assert found.lines == ["id,v", "1,2", "3,4"]
        assert left_out(found) == [(REPEATED, 1, (3,))]


PRINTED = """\
Stock list
-----------------------
|Plant|Material|Stock|
-----------------------
|1000 |M-1     |    5|
|1000 |M-2     |    7|
|2000 |---     |    1|
-----------------------
"""


def test_lists_that_were_printed(tmp_path: Path) -> None:
    """Drawn lines are no rows; a cell with dashes is one."""
    found = read(tmp_path, PRINTED)

    assert found.lines[0] == "column_1,Plant,Material,Stock"
    assert found.lines[3] == ",2000 ,---     ,    1"
    assert left_out(found) == [("drawn line", 3, (2, 4, 8)), (ABOVE, 1, (1,))]
    server = read(tmp_path, "id,name\n--,------\n1,a\n2,b\n\n(2 rows affected)\n")
    assert server.lines == ["id,name", "1,a", "2,b"]


ERP = "Plant,Material,Stock,Value\n1000,M-1,5,10.50\n1000,M-2,7,3.00\n2000,M-1,1,2.10\n"


@pytest.mark.parametrize(
    ("below", "rows", "said"),
    [
        ("\nGenerated on 2024-02-01\nEnd of report\n", 3, [(BELOW, 2, (6, 7))]),
        ("Generated on 2024-02-01\n", 3, [(BELOW, 1, (5,))]),
        (",,,\nPrinted by: anna,,,\n", 3, [(VALUELESS, 1, (5,)), (BELOW, 1, (6,))]),
        (",,,\n,,,\n", 5, []),
        ("\nSelected by;Anna\n", 3, [(BELOW, 1, (6,))]),
        # A total is a row like others: who knows the types decides on it.
        ("Total,,13,15.60\n", 4, []),
        ("\nTotal,,13,15.60\n", 4, [(EMPTY, 1, (5,))]),
        ("\nTotal\n", 4, [(EMPTY, 1, (5,))]),
        ("\n,,13,15.60\n", 4, [(EMPTY, 1, (5,))]),
        # So is a row that has little but a figure.
        ("3000\n", 4, []),
        ("\n3000,M-9\n", 4, [(EMPTY, 1, (5,))]),
        ("Note\n3000,M-1,2,1.00\n", 5, []),
    ],
)
def test_what_is_below_a_table(
    tmp_path: Path, below: str, rows: int, said: list[tuple[str, int, tuple[int, ...]]]
) -> None:
    """Remarks are left out and told; rows, totals and what could be one stay."""
    found = read(tmp_path, ERP + below)

    assert (found.table.row_count, left_out(found)) == (rows, said)


def test_rows_without_values_are_told(tmp_path: Path) -> None:
    """They are rows, as every program counts them, and the reading says which they are."""
    found = read(tmp_path, "a,b\n1,2\n,\n3,4\n,\n,\n\n")

    assert (found.table.row_count, left_out(found)) == (5, [])
    assert repaired(found) == [("row without any value, kept", 3, (3, 5, 6))]


@pytest.mark.parametrize(
    "data",
    [
        "name,note\nfoo,x\nbar,y\nbaz\n",
        "name,value\nfoo,1\nbar\n",
        "city\nBern\n\nUlm\nGenerated on Monday\n",
        "a,b,c\n1,2\n3,4,5\n",
        "name,\nfoo,1\nbar,2\n",
        "key,value\ncolor,red\nsize,XL\nmaterial,wool\n",
        "note\nhello, world\nfoo, bar\n",
    ],
)
def test_thin_rows_stay(tmp_path: Path, data: str) -> None:
    """Rows with few fields are rows unless the table as a whole speaks against it."""
    found = read(tmp_path, data)

    assert [each for each in left_out(found) if each[0] != EMPTY] == []
    expected = sum(1 for line in data.splitlines()) - (found.table.reading.header_row > 0)
    assert found.table.row_count == expected


CLEAN = [
    "id,name,amount\n1,a,2.5\n2,b,3.5\n",
    'id;name;amount\r\n1;"a; b";2,5\r\n2;"c";3,5\r\n',
    "id\tname\n1\ta\n2\tb\n",
    "2024-01-01,1,2\n2024-01-02,3,4\n",
    "name\nAnn\nBob\n",
    "id,name,note\n1,a,\n2,,\n3,c,x\n",
    "a,b\n1,2\n\n\n",
    "region,2020,2021\nnorth,1,2\nsouth,3,4\n",
]


@pytest.mark.parametrize("data", CLEAN)
def test_clean_files_have_nothing_to_tell(tmp_path: Path, data: str) -> None:
    """Of an ordinary file nothing is left out, mended or asked."""
    found = read(tmp_path, data)

    assert (left_out(found), repaired(found)) == ([], [])
    assert (found.table.reading.questions, found.table.warnings) == ((), ())


TWO = "region,amount,note\nx,1,a\ny,2,b\n\nperson,city\nAl,Bern\nBo,Ulm\n"


def test_the_first_of_two_tables_alike(tmp_path: Path) -> None:
    """Of tables with as many rows the first one is read; the other is named by its rows."""
    found = read(tmp_path, TWO)

    assert found.lines == ["region,amount,note", "x,1,a", "y,2,b"]
    assert left_out(found) == [("another table", 3, (5, 6, 7))]
    assert found.table.warnings == (
        "Left out: another table (rows 5, 6, 7); header_row 5 reads it instead.",
    )
    other = read(tmp_path, TWO, said=ReadAs(header_row=5))
    assert other.lines == ["person,city", "Al,Bern", "Bo,Ulm"]
    assert left_out(other) == [("another table", 3, (1, 2, 3))]


def test_the_largest_of_several_tables(tmp_path: Path) -> None:
    """A table that is larger than those before it is the file's, however far down it begins."""
    small = "region,amount\n" + "".join(f"r{n},{n}\n" for n in range(250))
    large = "id,name,city,age\n" + "".join(f"{n},n{n},Bern,{n}\n" for n in range(400))
    found = read(tmp_path, f"{small}\n{large}\nkind,share,unit\nred,0.5,kg\nblue,0.5,kg\n")

    assert (found.lines[0], found.table.row_count) == ("id,name,city,age", 400)
    assert found.table.reading.header_row == 253
    assert [each[:2] for each in left_out(found)] == [("another table", 251), ("another table", 3)]


@pytest.mark.parametrize(
    "names", [",2022,2023", "2022,2023", "Item,1,2,3", "Item,2024-01-31,2024-02-29", ",2023,2022"]
)
def test_years_days_and_numbers_that_count_on_are_names(tmp_path: Path, names: str) -> None:
    """They name columns of figures, above which they stand, and are none of these."""
    rows = [
        ",".join(text if each in ("", "Item") else f"{place}{place + step}"
                 for place, each in enumerate(names.split(","), 3))
        for step, text in ((0, "a"), (2, "b"))
    ]  # fmt: skip
    found = read(tmp_path, "\n".join([names, *rows, ""]))

    assert (found.table.reading.header_row, found.table.row_count) == (1, 2)


@pytest.mark.parametrize("first", ["2022,5", "a,1,2,3", "2022,2023", "5,6"])
def test_rows_that_are_like_the_first_say_that_it_is_none(tmp_path: Path, first: str) -> None:
    """Values that go on as they begin have no header above them."""
    found = read(tmp_path, f"{first}\n{first.replace('a', 'b')}\n{first.replace('a', 'c')}\n")

    assert (found.table.reading.header_row, found.table.row_count) == (0, 3)


def test_names_of_two_rows_with_years_are_joined(tmp_path: Path) -> None:
    """Years below names that head several columns name these with them, and are no figures."""
    found = read(tmp_path, "Region,Sales,,Cost,\n,2023,2024,2023,2024\nN,1,2,3,4\nS,5,6,7,8\n")

    names = [column.name for column in found.table.columns]
    assert names == ["Region", "Sales 2023", "Sales 2024", "Cost 2023", "Cost 2024"]
    assert left_out(found) == [(ABOVE, 1, (1,))]


def test_units_below_the_header_are_left_out(tmp_path: Path) -> None:
    """Texts in all columns of figures and nothing beside are units, or the ends of names."""
    found = read(tmp_path, "Name,Weight,Price\n,kg,EUR\na,1.5,2\nb,2.5,3\n")

    assert found.table.row_count == 2
    assert left_out(found) == [("units below the header", 1, (2,))]
    kept = read(tmp_path, "Name,Weight,Price\nz,n/a,none\na,1.5,2\nb,2.5,3\n")
    assert kept.table.row_count == 3


def test_a_header_in_other_letters_is_one_again(tmp_path: Path) -> None:
    """Capitals and blanks do not make a row of a header that comes again."""
    found = read(tmp_path, "Name,n\na,1\nNAME,N\nb,2\n")

    assert left_out(found) == [(REPEATED, 1, (3,))]


def test_another_header_of_the_same_width(tmp_path: Path) -> None:
    """Texts over figures below an empty line begin another table; they are no row of the first."""
    found = read(tmp_path, "id,v\n1,2\n3,4\n5,6\n\nkey,share\n7,8\n9,1\n")

    assert found.lines == ["id,v", "1,2", "3,4", "5,6"]
    assert left_out(found) == [("another table", 3, (6, 7, 8))]


def test_rows_below_empty_lines_go_on(tmp_path: Path) -> None:
    """An empty line alone ends no table, ragged rows or not."""
    found = read(tmp_path, "id,name,v\n1,a,2\n\n2,b\n\n3,c,4\n")

    assert found.table.row_count == 3
    assert left_out(found) == [(EMPTY, 2, (3, 5))]


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        (1, ["Account 12", '"Period, 2024"']),
        (4, ["id,v", "1,2", "3,4"]),
        (5, ["1,2", "3,4"]),
        (0, ["column_1,column_2", "id,v", "1,2", "3,4"]),
    ],
)
def test_a_header_that_is_said_is_obeyed(tmp_path: Path, said: int, lines: list[str]) -> None:
    """The said row names the columns; 0 says that none does."""
    data = 'Account 12\n"Period, 2024"\n\nid,v\n1,2\n3,4\n'
    found = read(tmp_path, data, said=ReadAs(header_row=said))

    assert (found.lines, found.table.reading.header_row) == (lines, said)


def test_a_header_that_cannot_be_is_refused(tmp_path: Path) -> None:
    """A row past the file is refused with its number of rows; so is an empty one."""
    for row, words in ((9, "has 3 rows; header_row 9"), (2, "row 2 .* no values"), (-1, "from 1")):
        with pytest.raises(ValidationFailed, match=words):
            read(tmp_path, "a,b\n\n1,2\n", said=ReadAs(header_row=row))


def test_a_header_far_down_is_found_if_said(tmp_path: Path) -> None:
    """A said header may stand below more rows than the first ones that a file is judged by."""
    data = "x,y\n" * 1 + "1,2\n" * 900 + "id,v,w\n7,8,9\n"
    found = read(tmp_path, data, said=ReadAs(header_row=902))

    assert found.lines == ["id,v,w", "7,8,9"]
    assert sum(each.count for each in found.table.reading.left_out) == 901


PIECES = [
    "id,name,v", "1,Ann,2", "2,Bob,3", "7,8,9", "Total,,5", "Note", "a note, in two", "# remark",
    "", "", ",,", "sep=,", "x,y,z,w", "p,q", "1,2,3,4", "Generated on Monday", "3", "4,5",
]  # fmt: skip


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(60))
def test_every_row_of_odd_files_is_kept_or_told(tmp_path: Path, seed: int) -> None:
    """However lines are mixed, rows, header and what was left out are all rows with values."""
    chance = random.Random(seed)
    for _ in range(25):
        lines = [chance.choice(PIECES) for _ in range(chance.randrange(1, 24))]
        found = read(tmp_path, "\n".join(lines) + "\n")
        valued = sum(bool(line.strip(", ")) for line in lines)
        told = sum(count for what, count, _ in left_out(found) if what != EMPTY)
        header = found.table.reading.header_row > 0

        assert valued <= found.table.row_count + told + header <= len(lines), lines
        assert len(found.lines) == found.table.row_count + bool(found.table.columns), lines


@pytest.mark.full
@pytest.mark.corpora
def test_every_row_of_real_files_is_kept_or_told(corpora: Path, tmp_path: Path) -> None:
    """Rows of the table, its header and what was left out are all rows that have values."""
    for path in sorted((corpora / "csv").iterdir()):
        source = Source(path, path.name)
        try:
            table = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")
        except KbdError:
            continue
        head = read_head(source)
        rows = [*RowReader(source, head.encoding, head.dialect)]
        valued = sum(any(field.strip() for field in row) for row in rows)
        told = sum(each.count for each in table.reading.left_out if each.what != EMPTY)
        kept = table.row_count + told + (table.reading.header_row > 0)

        assert valued <= kept <= len(rows), path.name
