"""Texts among the numbers of a sheet: numbers stored as text, missing values, and what is asked."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.formats import ReadAs, Source, Table
from kbd_xlsx import XlsxFormat

NUMBERS = "number stored as text, read as a number"
MISSING = "text for a missing value, read as empty"
RENAMED = ["Name", "Amount", "Amount_2"]


def read(folder: Path, rows: list[list[Any]], **said: Any) -> tuple[Table, list[str]]:
    """Write a workbook of one sheet and read it: its table, and the lines of the plain form."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("S", 0)
    for row in rows:
        sheet.append(row)
    del book["Sheet"]
    book.save(folder / "a.xlsx")
    plain = folder / "plain"
    table = XlsxFormat().read_table(
        Source(folder / "a.xlsx", "a.xlsx"), None, ReadAs(**said), plain
    )
    return table, plain.read_text().splitlines()


def column(folder: Path, *values: Any, **said: Any) -> tuple[Table, list[str]]:
    """Read values as the second column of a sheet: the table, and their plain texts."""
    rows = [["Name", "Amount"], *([f"n{at}", value] for at, value in enumerate(values))]
    table, lines = read(folder, rows, **said)
    return table, [line.partition(",")[2] for line in lines[1:]]


def touched(table: Table) -> list[tuple[str, int, tuple[int, ...]]]:
    """What was done to cells: how, how many, and the first rows."""
    return [(each.what, each.count, each.rows) for each in table.reading.repaired]


@pytest.mark.parametrize(
    ("values", "plain", "kind"),
    [
        ((1.5, "2.25", 3), ["1.5", "2.25", "3"], "float"),
        ((1.5, "12,5", 3), ["1.5", "12.5", "3"], "float"),
        ((1, "1.234,50", -2), ["1", "1234.50", "-2"], "float"),
        ((1, "-1 234", 2), ["1", "-1234", "2"], "integer"),
        # What only one reading fits holds for the column's other texts.
        ((1, "1.234", "12,5"), ["1", "1234", "12.5"], "float"),
        ((1, "7", " 8 "), ["1", "7", "8"], "integer"),
    ],
)
def test_what_one_reading_fits_is_read(
    tmp_path: Path, values: tuple[Any, ...], plain: list[str], kind: str
) -> None:
    """Numbers stored as text are numbers of their column, and are counted with their rows."""
    table, found = column(tmp_path, *values)

    assert (found, table.columns[1].type) == (plain, kind)
    rows = tuple(at for at, value in enumerate(values, 2) if isinstance(value, str))
    assert touched(table) == [(NUMBERS, len(rows), rows)]
    assert any(NUMBERS in warning for warning in table.warnings)


def test_what_two_readings_fit_is_asked(tmp_path: Path) -> None:
    """The numbers beside it prove nothing, for a sheet stores them without marks."""
    table, plain = column(tmp_path, 1.5, "1.234", "2.500", 3)
    (question,) = table.reading.questions

    assert (table.columns[1].type, plain) == ("string", ["1.5", "1.234", "2.500", "3"])
    assert (question.about, question.columns) == ("decimal", ("Amount",))
    assert question.text == "Amount: is the text 1.234 1.234 or 1234?"
    assert [(option.value, option.meaning) for option in question.options] == [
        (".", "decimal point: numbers stored as text in Amount add up to 3.734"),
        (",", "decimal comma: numbers stored as text in Amount add up to 3 734"),
    ]
    for mark, second in ((".", "1.234"), (",", "1234")):
        table, plain = column(tmp_path, 1.5, "1.234", "2.500", 3, decimal=mark)
        assert (plain[1], table.columns[1].type) == (second, "float")
        assert table.reading.questions == ()


def test_another_column_decides(tmp_path: Path) -> None:
    """What another column's texts prove of the decimal mark holds for the sheet."""
    rows: list[list[Any]] = [["A", "B"], [1, 2], ["1.234", "12,5"]]
    table, lines = read(tmp_path, rows)
    assert (lines[2], table.reading.decimal, table.reading.questions) == ("1234,12.5", ",", ())


def test_texts_for_missing_values_are_empty(tmp_path: Path) -> None:
    """Their row is one of the table, even with nothing else in it."""
    table, plain = column(tmp_path, 1.5, "-", "n/a", 4)
    assert (plain, table.columns[1].type) == (["1.5", "", "", "4"], "float")
    assert touched(table) == [(MISSING, 2, (3, 4))]

    table, lines = read(tmp_path, [["A", "B"], [1, 2], ["-", None], [3, 4]])
    assert (table.row_count, lines[2]) == (3, ",")


@pytest.mark.parametrize(
    "values",
    [
        (1, "007"), (1, "4111111111111111"), (1, "1.2.3"), (1, "12%"), (1, "n1"), (1, "+49"),
        (1, "1.234", "12,50", "3.5"), (True, "1"), ("1", "2"), ("-", "n/a"),
    ],
)  # fmt: skip
def test_what_is_no_number_keeps_its_column_text(tmp_path: Path, values: tuple[Any, ...]) -> None:
    """Codes, texts, and numbers that no one mark fits are kept as they are written."""
    table, plain = column(tmp_path, *values)

    assert table.columns[1].type == "string"
    assert plain[-1] == str(values[-1]) or plain[-1] == f'"{values[-1]}"'
    assert (touched(table), table.reading.questions) == ([], ())


def test_a_table_goes_on_below_a_gap(tmp_path: Path) -> None:
    """Names above a gap head what is below it in the same columns, and larger."""
    rows: list[list[Any]] = [
        ["Name", "Amount"], ["a", 1.5], [None, None], ["b", 2.25], ["c", None], ["d", 4],
    ]  # fmt: skip
    table, lines = read(tmp_path, rows)
    assert (lines[0], table.row_count, table.reading.header_row) == ("Name,Amount", 4, 1)

    # A block of facts is none, for its values are not of the kinds below.
    facts: list[list[Any]] = [
        ["Report", "Sales"],
        ["User", "Ann"],
        [],
        ["b", 2],
        ["c", 3],
        ["d", 4],
    ]
    table, lines = read(tmp_path, facts)
    assert (lines[0], table.row_count) == ("column_1,column_2", 3)


def test_names_that_are_there_twice_head_figures(tmp_path: Path) -> None:
    """Above figures a name may be there twice; above texts the row is one of the values."""
    _, lines = read(tmp_path, [[*RENAMED[:2], "Amount"], ["a", 1.5, 5], ["b", 2.25, 6]])
    assert lines[0] == ",".join(RENAMED)

    table, lines = read(tmp_path, [["x", "x", "y"], ["x", "y", "y"]])
    assert (lines[0], table.row_count) == ("column_1,column_2,column_3", 2)
