"""How rows are written in a text: delimiters, quotes, escapes, line ends, decimal commas, said."""

from pathlib import Path

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import ReadAs
from tables_of_text import left_out, read, repaired


@pytest.mark.parametrize(
    ("data", "delimiter", "lines"),
    [
        ("id~name\n1~a\n2~b\n", "~", ["id,name", "1,a", "2,b"]),
        ("id^name\n1^a\n2^b\n", "^", ["id,name", "1,a", "2,b"]),
        ("id\x1fname\n1\x1fa\n2\x1fb\n", "\x1f", ["id,name", "1,a", "2,b"]),
        ("root:x:0:/root\nbin:x:1:/bin\nann:x:100:/home/ann\n", ":",
         ["column_1,column_2,column_3,column_4",
         "root,x,0,/root", "bin,x,1,/bin", "ann,x,100,/home/ann"]),
        ("Name        Qty\nTea          12\nGreen tea     3\n", "  ", ["Name,Qty", "Tea,12",
         "Green tea,3"]),
        ("No  Name    City\n1   Ann     Bern\n20  Bob B.  Ulm\n", "  ", ["No,Name,City",
         "1,Ann,Bern", "20,Bob B.,Ulm"]),
    ],
)  # fmt: skip
def test_rare_delimiters(tmp_path: Path, data: str, delimiter: str, lines: list[str]) -> None:
    """Delimiters that few use, where every line is regular in them."""
    found = read(tmp_path, data)

    assert (found.lines, found.table.reading.delimiter) == (lines, delimiter)


@pytest.mark.parametrize(
    "data",
    [
        "12:30:00\n12:31:00\n12:32:00\n",
        "aa:bb:cc\nab:1c:00\n0a:1b:2c\n",
        "start: see note: one\nend: see note: two\nall: see note: three\n",
        "https://a.example:80/x\nhttps://b.example:81/y\nhttps://c.example:82/z\n",
        "10:30:00 started\n10:31:00 stopped\n10:32:00 started\n",
        "a^2\nb\nc^3\n",
        "Dear all,\n\nthe  figures are  below.\nBest\n",
        "one  two\nthree  four five\nsix\n",
    ],
)
def test_what_no_delimiter_separates(tmp_path: Path, data: str) -> None:
    """Signs that stand in times, addresses and prose separate nothing: it is one column."""
    found = read(tmp_path, data)

    assert len(found.table.columns) == 1 or "," in data
    assert found.table.reading.delimiter in ("", ",")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ('a,b\n1,"say \\"hi\\" now"\n2,"x, \\"y\\" z"\n', ["a,b", '1,"say ""hi"" now"',
         '2,"x, ""y"" z"']),
        ('a,b\n1,"C:\\temp \\"x\\" y"\n2,C:\\new\n', ["a,b", '1,"C:\\temp ""x"" y"',
         "2,C:\\new"]),
        ('a,b\n1,"C:\\dir\\"\n2,"D:\\"\n', ["a,b", "1,C:\\dir\\", "2,D:\\"]),
        ('a, "b", c\n1, "x, y", 3\n2, "z", 4\n', ["a,b,c", '1,"x, y",3', "2,z,4"]),
        ("a,b\n'x, y','2'\n'z','3'\n", ["a,b", '"x, y",2', "z,3"]),
        ("a,b\nit's,2\nthat's,3\n", ["a,b", "it's,2", "that's,3"]),
        ("a,b\r1,2\r3,4\r", ["a,b", "1,2", "3,4"]),
        ("a,b\r\n1,2\n3,4\r5,6", ["a,b", "1,2", "3,4", "5,6"]),
        ('a,b\n1,"two\nlines"\n', ["a,b", '1,"two', 'lines"']),
    ],
)  # fmt: skip
def test_quotes_escapes_and_line_ends(tmp_path: Path, data: str, lines: list[str]) -> None:
    """A text is what its author meant, by the way the whole file is written."""
    found = read(tmp_path, data)

    assert found.lines == lines
    assert (left_out(found), repaired(found)) == ([], [])


def test_lines_are_counted_as_a_reader_sees_them(tmp_path: Path) -> None:
    """A row is named by the line at which it begins, below fields with line breaks, too."""
    found = read(tmp_path, 'a,b,c\n1,"x\ny\nz",2\n3,4\n5,6,7,8\n9,0,"\n')

    assert repaired(found) == [
        ("row padded: fewer fields than the first", 1, (5,)),
        ("row with more fields than the first", 1, (6,)),
        ("quote that is never closed, read as text", 1, (7,)),
    ]


def test_an_unquoted_delimiter_is_told_by_its_row(tmp_path: Path) -> None:
    """A row with one field more stays as it is, named with its text; nothing is asked."""
    found = read(tmp_path, "id,name,v\n" + "1,Ann,2\n" * 9 + "3,Smith, John,4\n")

    (touched,) = found.table.reading.repaired
    assert (touched.rows, touched.sample) == ((11,), "3,Smith, John,4")
    assert found.lines[-1] == "3,Smith, John,4"
    assert found.table.reading.questions == ()


@pytest.mark.parametrize(
    ("data", "is_asked"),
    [
        ("Name,Amount,City\nA,1,500.00,Rome\nB,20,Oslo\nC,3,250.00,Bonn\n", True),
        ("Name,Amount\nA,1,500.00\nB,20\nC,3,250.00\n", True),
        ("Name,Amount,City\nA,1,Rome, IT\nB,20,Oslo\nC,3,Bonn, DE\n", False),
        ("Name,Amount,City\nA,1,500,Rome, IT\nB,20,Oslo\nC,3,Bonn\nD,4,Ulm\n", False),
    ],
)
def test_thousands_without_quotes_are_asked(tmp_path: Path, data: str, is_asked: bool) -> None:
    """Rows with as many fields too many as they have numbers in two fields are a question."""
    questions = read(tmp_path, data).table.reading.questions

    assert [each.about for each in questions] == ["delimiter"] * is_asked


PRICES = "item,price\nTea,1,5\nCake,2\nCoffee,2,25\n"


def test_commas_that_may_be_decimal_are_asked(tmp_path: Path) -> None:
    """Rows that are too long by a number's decimal part are a question; no column has figures."""
    found = read(tmp_path, PRICES)

    (question,) = found.table.reading.questions
    assert (question.about, question.columns) == ("decimal", ("item", "price", "column_3"))
    assert "Row 2 has 3 fields under 2 name(s): Tea,1,5." in question.text
    assert [(each.value, each.meaning) for each in question.options] == [
        (",", 'item = "Tea", price = "1,5"'),
        (".", 'item = "Tea", price = "1", column_3 = "5"'),
    ]
    assert {column.type for column in found.table.columns} == {"string"}
    assert question.text in found.table.warnings


def test_the_answer_about_decimal_commas_is_obeyed(tmp_path: Path) -> None:
    """Either answer settles it, and says what was done."""
    joined = read(tmp_path, PRICES, said=ReadAs(decimal=","))
    split = read(tmp_path, PRICES, said=ReadAs(decimal="."))

    assert joined.lines == ["item,price", 'Tea,"1,5"', "Cake,2", 'Coffee,"2,25"']
    assert repaired(joined) == [("number joined around its decimal comma", 2, (2, 4))]
    assert split.lines[1] == "Tea,1,5"
    for found in (joined, split):
        assert found.table.reading.questions == ()
        assert {column.type for column in found.table.columns} == {None}


@pytest.mark.parametrize(
    ("data", "about"),
    [
        ("a,b\n1,5,2,5\n3,5,4,5\n", "decimal"),
        ("a,b,c\n1,5,2,5\n3,5,4,5\n", "delimiter"),
        ("mpg,kind\nMazda,21,a\nFiat,32,b\n", "delimiter"),
        ("a,b\n1,2\n3,4\n", None),
        ("a,b,\n1,2,3\n3,4,5\n", None),
        ("1,5,2,5\n3,5,4,5\n", None),
    ],
)
def test_rows_that_are_longer_than_their_header(
    tmp_path: Path, data: str, about: str | None
) -> None:
    """Where nothing says which field a name belongs to, it is asked."""
    questions = read(tmp_path, data).table.reading.questions

    assert [question.about for question in questions] == ([about] if about else [])


def test_what_was_said_is_obeyed(tmp_path: Path) -> None:
    """A said encoding and delimiter are used, and the reading says that they were said."""
    data = "id;name\n1;Peña, J.\n".encode("cp850")
    found = read(tmp_path, data, said=ReadAs(encoding="cp850", delimiter=";"))

    assert found.lines == ["id,name", '1,"Peña, J."']
    reading = found.table.reading
    assert (reading.encoding, reading.encoding_reason, reading.encoding_confidence) == (
        "cp850",
        "said",
        1.0,
    )
    assert read(tmp_path, "a;b,c\n1;2,3\n", said=ReadAs(delimiter=",")).lines == ["a;b,c", "1;2,3"]
    tabbed = read(tmp_path, "a\tb,c\n1\t2,3\n", said=ReadAs(delimiter="tab"))
    assert tabbed.lines == ['a,"b,c"', '1,"2,3"']
    marked = read(tmp_path, "a,b\n1,2\n".encode("utf-8-sig"), said=ReadAs(encoding="utf-8"))
    assert marked.lines == ["a,b", "1,2"]


def test_what_the_said_encoding_lacks_is_told(tmp_path: Path) -> None:
    """Bytes that the said encoding has no character for are named by their rows.

    In UTF-8 such bytes are read as cp1252, so that none is lost, and counted in a warning.
    """
    content = "id,name\n1,a\n2,Peña\n".encode("cp1252")
    found = read(tmp_path, content, said=ReadAs(encoding="utf-8"))
    assert (found.lines[2], repaired(found)) == ("2,Peña", [])
    assert found.table.warnings == ("1 place is not valid UTF-8; stray bytes were read as cp1252.",)

    found = read(tmp_path, content, said=ReadAs(encoding="ascii"))
    assert repaired(found) == [("line with bytes that the encoding has no character for", 1, (3,))]
    assert repaired(read(tmp_path, "id,name\n1,a\ufffdb\n")) == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (ReadAs(encoding="klingon"), "no encoding called 'klingon'"),
        (ReadAs(encoding="base64"), "no encoding called"),
        (ReadAs(encoding="unicode_escape"), "no encoding called"),
        (ReadAs(encoding="a\0b"), "no encoding called"),
        (ReadAs(delimiter=""), "cannot separate"),
        (ReadAs(delimiter=";;"), "cannot separate"),
        (ReadAs(delimiter="\n"), "cannot separate"),
        (ReadAs(delimiter='"'), "cannot separate"),
        (ReadAs(delimiter="a"), "cannot separate"),
    ],
)
def test_what_cannot_be_said_is_refused(tmp_path: Path, said: ReadAs, words: str) -> None:
    """Encodings and delimiters that are none are refused in words."""
    with pytest.raises(ValidationFailed, match=words):
        read(tmp_path, "a,b\n1,2\n", said=said)


def test_many_names_alike_are_made_unique(tmp_path: Path) -> None:
    """Thousands of equal names take no time that grows with their square."""
    found = read(tmp_path, ",".join(["a"] * 8000) + "\n" + ",".join(["1"] * 8000) + "\n")

    names = [column.name for column in found.table.columns]
    assert (names[0], names[1], names[-1], len(set(names))) == ("a", "a_2", "a_8000", 8000)
