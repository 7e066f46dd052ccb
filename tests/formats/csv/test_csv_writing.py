"""Writing delimited text: new files by suffix, rows appended in the file's own way."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.errors import ValidationFailed
from kbd.formats import Placement, Source, Written
from kbd.plaintext.formulas import is_formula_like, neutral
from kbd.testing.formats import write_rows
from kbd_csv import CsvFormat

FORMAT = CsvFormat()
COLUMNS = [["name", "string"], ["amount", "float"], ["paid", "boolean"]]
NEUTRALIZED = (
    "1 text(s) that look like formulas were written with a leading ' so that no program "
    "evaluates them."
)
ROWS: list[list[Any]] = [["=1+1", "12.50", True], ['a "b", c', 3, False], [None, 0.1, None]]


def append(tmp_path: Path, data: bytes, rows: list[list[Any]], columns: Any = COLUMNS) -> Written:
    source = Source(tmp_path / "blob", "a.csv")
    source.path.write_bytes(data)
    stream = write_rows(tmp_path / "rows", columns, rows)
    placement = Placement(mode="append_rows")
    return FORMAT.write_table(source, stream, placement, tmp_path / "out.csv")


@pytest.mark.parametrize(("suffix", "mark"), [(".csv", ","), (".tsv", "\t"), (".psv", "|")])
def test_a_new_file_is_delimited_as_its_suffix_says(tmp_path: Path, suffix: str, mark: str) -> None:
    """Numbers keep their text form, formula-like text is made text, lines end with LF."""
    target = tmp_path / f"out{suffix}"

    written = FORMAT.write_table(
        None, write_rows(tmp_path / "rows", COLUMNS, ROWS), Placement(), target
    )

    text = target.read_bytes().decode()
    assert "\r" not in text
    assert text.startswith(f"name{mark}amount{mark}paid\n'=1+1{mark}12.50{mark}true\n")
    assert text.endswith(f"{mark}0.1{mark}\n")
    assert written == Written("", 3, 3, (NEUTRALIZED,))


def test_without_header(tmp_path: Path) -> None:
    """include_header=false writes rows only."""
    target = tmp_path / "out.csv"
    rows = write_rows(tmp_path / "rows", COLUMNS, ROWS[:1])

    FORMAT.write_table(None, rows, Placement(include_header=False), target)

    assert target.read_text() == "'=1+1,12.50,true\n"


def test_moments_are_written_as_spreadsheets_take_them(tmp_path: Path) -> None:
    """A day and its time stand with a blank between, fractions and zones as they came."""
    target = tmp_path / "out.csv"
    moments = ["2024-02-03T10:00:00", None, "2024-02-03T10:00:00.250000+01:00"]
    rows = write_rows(tmp_path / "rows", [["at", "datetime"]], [[each] for each in moments])

    FORMAT.write_table(None, rows, Placement(), target)

    assert list(csv.reader(target.read_text().splitlines())) == [
        ["at"], ["2024-02-03 10:00:00"], [""], ["2024-02-03 10:00:00.250000+01:00"],
    ]  # fmt: skip


def test_rows_are_appended_in_the_files_own_way(tmp_path: Path) -> None:
    """Delimiter, line ends and encoding stay, a missing last line end is added, all is kept."""
    before = "name;amount;paid\r\nJosé;1;true".encode("cp1252")

    written = append(tmp_path, before, [["Zoë", 2, False]])

    after = (tmp_path / "out.csv").read_bytes()
    assert after == before + "\r\nZoë;2;false\r\n".encode("cp1252")
    assert (written.row_count, "header already" in written.warnings[0]) == (1, True)


@pytest.mark.parametrize("codec", ["cp850", "utf-16"])
def test_rows_stand_before_the_mark_of_the_end(tmp_path: Path, codec: str) -> None:
    """What DOS writes at the end of a text stays its end, and no row begins with it."""
    before = "name,amount,paid\r\nx,1,true"
    append(tmp_path, f"{before}\x1a\x1a".encode(codec), [["y", 2, False]])

    after = (tmp_path / "out.csv").read_bytes().decode(codec)
    assert after == f"{before}\r\ny,2,false\r\n\x1a\x1a"


def test_utf16_is_continued_without_another_mark(tmp_path: Path) -> None:
    """Appending to UTF-16 writes no second byte order mark."""
    append(tmp_path, "name,amount,paid\nx,1,true\n".encode("utf-16"), [["y", 2, False]])

    text = (tmp_path / "out.csv").read_bytes().decode("utf-16")
    assert text == "name,amount,paid\nx,1,true\ny,2,false\n"


def test_other_names_are_a_warning(tmp_path: Path) -> None:
    """Columns that are not named as the header is are appended by position, with a warning."""
    written = append(tmp_path, b"n,a,p\nx,1,true\n", [["y", 2, False]])

    assert "not named as the header" in written.warnings[0]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    """Another number of columns, a character the encoding lacks, a mode for workbooks."""
    with pytest.raises(ValidationFailed, match="2 columns"):
        append(tmp_path, b"a,b\n1,2\n", ROWS)
    with pytest.raises(ValidationFailed, match="no character"):
        append(tmp_path, "é,b,c\n1,2,3\n".encode("cp1252"), [["日", 1, True]])
    rows = write_rows(tmp_path / "rows", COLUMNS, ROWS)
    with pytest.raises(ValidationFailed, match="for workbooks"):
        FORMAT.write_table(None, rows, Placement(mode="write_range"), tmp_path / "other.csv")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=2, max_size=2
        ),
        max_size=5,
    )
)
def test_any_text_round_trips(tmp_path_factory: pytest.TempPathFactory, rows: Any) -> None:
    """Whatever text rows hold, a strict reader finds that, and no field is a formula."""
    folder = tmp_path_factory.mktemp("round")
    stream = write_rows(folder / "rows", [["a", "string"], ["b", "string"]], rows)

    FORMAT.write_table(None, stream, Placement(), folder / "out.csv")

    text = (folder / "out.csv").read_bytes().decode()
    expected = [["a", "b"], *([neutral(field) for field in row] for row in rows)]
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == expected
    assert not any(is_formula_like(field) for row in expected for field in row)
