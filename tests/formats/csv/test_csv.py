"""Delimited text as tables: dialects, damage, encodings, maps; every row is kept or told."""

from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ReadAs, Region, Source, Table
from kbd_csv import CsvFormat
from kbd_csv.rows import MAX_COLUMNS, MAX_LINE_CHARS, MAX_ROW_CHARS

FORMAT = CsvFormat()


def read(tmp_path: Path, data: bytes | str, name: str = "a.csv") -> tuple[Table, str]:
    """Return what a file is as a table, and its plain form."""
    path, plain = tmp_path / "blob", tmp_path / "plain"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    table = FORMAT.read_table(Source(path, name), None, ReadAs(), plain)
    return table, plain.read_bytes().decode()


def names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def test_map(tmp_path: Path) -> None:
    """The map has rows, columns, dialect and encoding, and chunks of 500 rows."""
    path = tmp_path / "blob"
    path.write_text("region,amount,active\n" + "west,3,true\n" * 1001)

    found = FORMAT.map(Source(path, "a.csv"))

    assert found["row_count"] == 1001
    assert found["column_count"] == 3
    assert found["columns"] == ["region", "amount", "active"]
    assert (found["delimiter"], found["quote_char"], found["has_header"]) == (",", "", True)
    assert (found["encoding_detected"], found["encoding_confidence"]) == ("utf-8", 1.0)
    assert found["chunks"][2] == {"index": 2, "row_start": 1001, "row_count": 1}


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        ("a,b\n1,2\n", "a.csv", ","),
        ("name;amount\nx;1,5\ny;2,5\n", "a.csv", ";"),
        ("1,5;2,5\n3,5;4,5\n", "a.csv", ";"),
        ("a\tb\n1\t2\n", "a.csv", "\t"),
        ("a|b\n1|2\n", "a.csv", "|"),
        ("a,b\tc\n1,2\t3\n", "a.tsv", "\t"),
        ("one\ntwo\n", "a.psv", "|"),
        ('a,b\n"x;y;z",2\n"p;q;r",3\n', "a.csv", ","),
    ],
)
def test_delimiters(tmp_path: Path, data: str, name: str, expected: str) -> None:
    """The delimiter is the one that makes regular rows; the suffix breaks ties."""
    assert read(tmp_path, data, name)[0].details["delimiter"] == expected


def test_brackets_are_no_quotes(tmp_path: Path) -> None:
    """Values in brackets load, and no quote is reported where there is none."""
    table, plain = read(tmp_path, "name,note\nx,(100)\ny,(see note)\n")

    assert table.details["quote_char"] == ""
    assert plain == "name,note\nx,(100)\ny,(see note)\n"


@pytest.mark.parametrize(
    ("codec", "expected"),
    [("utf-8-sig", "utf-8-sig"), ("cp1252", "cp1252"), ("latin-1", "cp1252"), ("utf-16", "utf-16")],
)
def test_encodings_load(tmp_path: Path, codec: str, expected: str) -> None:
    """A byte order mark is no part of the first name, and every usual encoding loads."""
    table, plain = read(tmp_path, "prénom,ville\nJosé,Málaga\n".encode(codec))

    assert (names(table), table.reading.encoding) == (["prénom", "ville"], expected)
    assert plain == "prénom,ville\nJosé,Málaga\n"


def test_ragged_rows_are_kept(tmp_path: Path) -> None:
    """Short rows are padded, long ones widen the table, both are counted."""
    table, plain = read(tmp_path, "a,b,c\n1,2\n3,4,5,6\n7,8,9\n")

    assert plain == "a,b,c,column_4\n1,2,,\n3,4,5,6\n7,8,9,\n"
    assert table.row_count == 3
    assert table.warnings == (
        "1 row(s) had fewer fields than the first and were padded.",
        "1 row(s) had more fields than the first; there are 4 columns.",
    )


def test_a_wide_row_far_down_is_kept(tmp_path: Path) -> None:
    """A row that is wider than all that decided the width widens the whole table."""
    table, plain = read(tmp_path, "a,b\n" + "1,2\n" * 5000 + "1,2,3\n")

    assert len(table.columns) == 3
    assert plain.splitlines()[-2:] == ["1,2,", "1,2,3"]


def test_quotes(tmp_path: Path) -> None:
    """Quoted delimiters, doubled quotes and line ends inside fields survive."""
    table, plain = read(tmp_path, 'a,b\r\n"x, ""y""",2\r\n"l1\nl2",3\r\n"cr\rin",4\r\n')

    assert plain == 'a,b\n"x, ""y""",2\n"l1\nl2",3\n"cr\rin",4\n'
    assert table.details["quote_char"] == '"'
    assert table.warnings == ()


def test_an_unclosed_quote_loses_no_rows(tmp_path: Path) -> None:
    """A quote that is never closed is text, and the rows after it are rows."""
    table, plain = read(tmp_path, 'a,b\n1,2\n"open,3\n4,5\n6,7\n')

    assert plain == 'a,b\n1,2\n"""open",3\n4,5\n6,7\n'
    assert table.warnings == ("1 quote(s) were never closed and were read as text.",)


def test_an_unclosed_quote_in_a_large_file(tmp_path: Path) -> None:
    """The search for the closing quote stops at 1 MiB, also where another quote comes later."""
    count = MAX_ROW_CHARS // 8 + 1000
    table, _ = read(tmp_path, 'a,b\n"open,1\n' + "xxxxx,2\n" * count + '"closed",3\n')

    assert table.row_count == count + 2


def test_zero_bytes_are_removed(tmp_path: Path) -> None:
    """Zero bytes are taken out and counted; the columns stay columns."""
    table, plain = read(tmp_path, "id,name,v\n1,a\0b,2\n")

    assert plain == "id,name,v\n1,ab,2\n"
    assert table.warnings == ("1 zero byte(s) were removed.",)


def test_empty_lines(tmp_path: Path) -> None:
    """Empty lines between rows are told; in a table of one column they are empty values."""
    several, _ = read(tmp_path, "a,b\n1,2\n\n3,4\n\n\n")
    single, plain = read(tmp_path, "note\nhello\n\nbye\n")

    assert (several.row_count, several.warnings) == (
        2,
        ("1 empty line(s) between rows were skipped.",),
    )
    assert (single.row_count, plain) == (3, 'note\nhello\n""\nbye\n')


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a,b\n", (["a", "b"], 0, True)),
        ("", ([], 0, False)),
        ("\n\n", ([], 0, False)),
        ("1,2\n3,4\n", (["column_1", "column_2"], 2, False)),
        ("x,2020,2021\nfoo,1,2\n", (["x", "2020", "2021"], 1, True)),
        ("2024-01-01,a\n2024-01-02,b\n", (["column_1", "column_2"], 2, False)),
        ("a,a,,A\n1,2,3,4\n", (["a", "a_2", "column_3", "A_3"], 1, True)),
        ("id,v,\n1,2,\n", (["id", "v"], 1, True)),
    ],
)
def test_headers(tmp_path: Path, data: str, expected: tuple[list[str], int, bool]) -> None:
    """A header is told from data; names are made unique without regard to case, none is empty."""
    table, _ = read(tmp_path, data)

    assert (names(table), table.row_count, table.details["has_header"]) == expected


def test_limits(tmp_path: Path) -> None:
    """A line or a row beyond any table is refused by name."""
    with pytest.raises(FileReadFailed, match="line of more than"):
        read(tmp_path, "a" * (MAX_LINE_CHARS + 1))
    with pytest.raises(FileReadFailed, match="columns"):
        read(tmp_path, "," * MAX_COLUMNS + "\n1\n")


def test_lines_are_raw(tmp_path: Path) -> None:
    """Read shows the lines as they are; a sheet is no coordinate here."""
    path = tmp_path / "blob"
    path.write_text('a,b\n"x",1\n')
    source = Source(path, "a.csv")

    assert FORMAT.read(source, Region(line_start=2, line_count=1)).text == '"x",1\n'
    with pytest.raises(ValidationFailed):
        FORMAT.read_table(source, "Sheet1", ReadAs(), tmp_path / "plain")
