"""What is in a text beside its rows: marks of its ends, comments, remarks, bands over the names."""

from pathlib import Path

import pytest

from tables_of_text import left_out, read, repaired

MARKS = "mark of the text's beginning or end removed"
ROWS = "Name,Amount,Count\nAnna,1.50,1\nBert,2.25,2\n"
LINES = ["Name,Amount,Count", "Anna,1.50,1", "Bert,2.25,2"]


@pytest.mark.parametrize(
    ("content", "row"),
    [
        (f"\ufeff\ufeff{ROWS}", 1),
        (f"{ROWS}\x1a", 4),
        (f"{ROWS}\x1a\x1a\x1a", 4),
        (f"{ROWS.rstrip()}\x1a", 3),
        (f'\ufeff\ufeff"Name",{ROWS.partition(",")[2]}', 1),
    ],
)
def test_marks_of_the_ends_are_no_text(tmp_path: Path, content: str, row: int) -> None:
    """A second byte order mark is no part of a name, and what DOS writes at the end no row."""
    found = read(tmp_path, content)

    assert found.lines == LINES
    assert [(what, rows) for what, _, rows in repaired(found)] == [(MARKS, (row,))]


def test_marks_amid_the_text_stay(tmp_path: Path) -> None:
    """Only the first line begins a text, and only the last one ends it."""
    found = read(tmp_path, "a,b\n\ufeff1,2\x1a\n3,4\n")

    assert (found.lines, repaired(found)) == (["a,b", "\ufeff1,2\x1a", "3,4"], [])


@pytest.mark.parametrize(("line", "what", "row"), [
    ("# page 2\n", "comment", 4),
    ("Source: Statistics Office\n", "line below the table", 4),
    ("*** end of report ***\n", "line below the table", 4),
    ("* estimated\n", "line below the table", 4),
    ("(in thousands)\n", "line below the table", 4),
    # A comma of the remark is no delimiter, and its year no amount.
    ("Source: Statistics Office, 2024\n", "line below the table", 4),
    ("# rows, 2024\n", "comment", 4),
])  # fmt: skip
def test_lines_in_the_form_of_a_remark_are_none_of_the_rows(
    tmp_path: Path, line: str, what: str, row: int
) -> None:
    """One field in the form of a comment or a remark is no row of a table with several columns."""
    found = read(tmp_path, ROWS + line)

    assert found.lines == LINES
    assert left_out(found) == [(what, 1, (row,))]


def test_a_remark_as_wide_as_a_row_is_none(tmp_path: Path) -> None:
    """It is alone in having a blank behind its comma, so that its year is no amount."""
    found = read(tmp_path, "Name,Amount\nAnna,1\nBert,2\nSource: Statistics Office, 2024\n")
    assert found.lines == ["Name,Amount", "Anna,1", "Bert,2"]
    assert left_out(found) == [("line below the table", 1, (4,))]


def test_a_comment_between_rows_is_left_out(tmp_path: Path) -> None:
    """Rows go on below it."""
    found = read(tmp_path, ROWS + "# page 2\nCleo,3.00,3\n")
    assert (found.lines[3:], left_out(found)) == (["Cleo,3.00,3"], [("comment", 1, (4,))])


@pytest.mark.parametrize(
    "content",
    [
        # A name without the other fields, values that have the form themselves, and a list.
        ROWS + "Cleo\n",
        ROWS + "Sum: x,2024\n",
        ROWS + "Source: x,2,3\n",
        "Name,Amount\nAnna, 1\nSource: x, 2\n",
        "Name,Amount\nA: x, 1\nB: y, 2\nC: z, 3\n",
        ROWS + "# 3,2024\n",
        ROWS + "Source: x,3.00,3\nSource: y\n",
        "Name,Amount\n# 1,2\n# 2,3\n# 3\n",
        "Note\n# one\ntwo\n# three\n",
        ROWS + "Cleo,# 3,3\n",
    ],
)
def test_what_may_be_a_row_is_one(tmp_path: Path, content: str) -> None:
    """Nothing is left out where the file's own values look so."""
    found = read(tmp_path, content)
    assert (left_out(found), len(found.lines)) == ([], content.count("\n"))


def test_bands_above_the_names_are_told(tmp_path: Path) -> None:
    """Names that head several columns stand above the names of the columns, which are read."""
    found = read(tmp_path, "Person,2024,,2025,\nName,Sum,Count,Sum,Count\nAnna,1.5,1,5,6\n")
    assert found.lines == ["Name,Sum,Count,Sum_2,Count_2", "Anna,1.5,1,5,6"]
    assert left_out(found) == [("line above the header", 1, (1,))]

    # A row of units below the names has gaps, and is a row; so are full rows of texts.
    units = read(tmp_path, "Name,Sum,Count\n,EUR,\nAnna,1.5,1\n")
    assert (units.lines[0], len(units.lines), left_out(units)) == ("Name,Sum,Count", 3, [])


def test_names_that_begin_with_number_signs_are_no_comment(tmp_path: Path) -> None:
    """Several fields that begin so are names, whatever stands above them."""
    found = read(tmp_path, "#Client;\nJAN;\n\n#Day;#What;#Sum\n2024-03-29;a;1\n2024-03-30;b;2\n")
    assert found.lines[0] == "#Day,#What,#Sum"
    assert left_out(found) == [("line above the header", 2, (1, 2))]


def test_figures_above_truth_values_are_names(tmp_path: Path) -> None:
    """Versions or sizes above yes and no are no values of these columns."""
    found = read(tmp_path, "Python,3.9,3.8\nlibrary 1,Yes,\nlibrary 2,,Yes\n")
    assert found.lines[0] == "Python,3.9,3.8"
