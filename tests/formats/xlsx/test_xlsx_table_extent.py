"""Where a table is in a sheet: titles, remarks, headers in two rows, other tables, what is said."""

import datetime as dt
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pytest

from kbd.errors import ValidationFailed
from kbd.formats import ReadAs, Source, Table
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
ABOVE = "line above the header"
BELOW = "line below the table"
UNCALCULATED = "total whose formulas have no stored result"
ROWS: list[list[Any]] = [["Item", "Day", "Sum", "Who"]] + [
    [f"item {n}", dt.date(2024, 1, n), n * 1.5, "Ann"] for n in range(1, 6)
]


class ReadSheet(msgspec.Struct, frozen=True):
    """A sheet's table, the lines of its plain form, and what was left out."""

    table: Table
    lines: list[str]

    @property
    def left_out(self) -> list[tuple[str, int, tuple[int, ...]]]:
        """Why, how many rows, and the first of them."""
        return [(each.what, each.count, each.rows) for each in self.table.reading.left_out]


def read(
    folder: Path,
    rows: list[list[Any]],
    *,
    merged: tuple[str, ...] = (),
    said: ReadAs | None = None,
    frozen: bool = False,
) -> ReadSheet:
    """Write a workbook of one sheet and read it."""
    found = openpyxl.Workbook()
    sheet = found.create_sheet("S", 0)
    for row in rows:
        sheet.append(row)
    for area in merged:
        sheet.merge_cells(area)
    if frozen:
        sheet.freeze_panes = "A2"
    del found["Sheet"]
    found.save(folder / "a.xlsx")
    source, plain = Source(folder / "a.xlsx", "a.xlsx"), folder / "plain"
    table = FORMAT.read_table(source, None, said or ReadAs(), plain)
    return ReadSheet(table, plain.read_text().splitlines())


def test_a_clean_sheet_has_nothing_to_tell(tmp_path: Path) -> None:
    """The header's row is told, and nothing else."""
    found = read(tmp_path, ROWS)

    assert found.table.reading.header_row == 1
    assert (found.left_out, found.table.reading.repaired, found.table.warnings) == ([], (), ())


def test_columns_with_cells_that_are_read_as_empty_are_named(tmp_path: Path) -> None:
    """Each with its reasons; cells outside of the table are none of them."""
    rows = [row[:] for row in ROWS]
    rows[2][2], rows[3][2], rows[4][2] = "=C2*2", "#N/A", "=C3*2"
    found = read(tmp_path, [["Stock", None, "=1+1"], [], *rows], merged=("D4:D6", "A1:B1"))

    assert found.table.details["unread"] == {
        "Sum": ["formula without a stored result, read as empty", "error, read as empty"],
        "Who": ["cell merged with the one above it, read as empty"],
    }
    assert "unread" not in read(tmp_path, ROWS).table.details


@pytest.mark.parametrize("merged", [(), ("A1:D1", "A2:D2")])
def test_titles_right_above_the_header(tmp_path: Path, merged: tuple[str, ...]) -> None:
    """Titles with no blank row below them, merged or not, are none of the table."""
    found = read(tmp_path, [["Sales of 2024"], ["Printed on Monday"], *ROWS], merged=merged)

    assert found.lines[0] == "Item,Day,Sum,Who"
    assert [column.type for column in found.table.columns] == ["string", "date", "float", "string"]
    assert (found.table.reading.header_row, found.table.row_count) == (3, 5)
    assert found.left_out == [(ABOVE, 2, (1, 2))]
    assert found.table.reading.left_out[0].sample == "Sales of 2024"


def test_titles_in_columns(tmp_path: Path) -> None:
    """Titles may name a value each; a blank row may follow."""
    titles = [["Account", "12-34"], ["Period", "January"]]
    blank: list[list[Any]] = [[]]
    for gap, left_out in ((blank[1:], (1, 2)), (blank, (1, 2))):
        found = read(tmp_path, [*titles, *gap, *ROWS])

        assert found.lines[0] == "Item,Day,Sum,Who"
        assert found.left_out[0][2] == left_out


def test_remarks_below(tmp_path: Path) -> None:
    """Remarks below a blank row are told, and totals without a result; other totals are rows."""
    found = read(tmp_path, [*ROWS, [], ["Source: the ledger"], ["End of report"]])
    assert (found.table.row_count, found.left_out) == (5, [(BELOW, 2, (8, 9))])
    assert found.table.details["range"] == "A1:D6"

    # Right below the last row by its form, if no row begins so.
    found = read(tmp_path, [*ROWS, ["Source: the ledger"], ["*** end ***"]])
    assert (found.table.row_count, found.left_out) == (5, [(BELOW, 2, (7, 8))])
    found = read(tmp_path, [*ROWS, ["Source: x", None, 1, "Bea"], ["Source: the ledger"]])
    assert (found.table.row_count, found.left_out) == (7, [])

    dates = read(tmp_path, [*ROWS, [None, "Source: the ledger"]])
    assert (dates.table.row_count, dates.left_out) == (5, [(BELOW, 1, (7,))])
    lasts: list[list[Any]] = [
        ["Total", None, 22.5],
        ["Total"],
        ["Rest", None, "=SUM(C2:C6)"],
        ["item 6"],
    ]
    for last in lasts:
        kept = read(tmp_path, [*ROWS, last])
        assert (kept.table.row_count, kept.left_out) == (6, [])
    total = read(tmp_path, [*ROWS, [], ["Total", None, "=SUM(C2:C6)"]])
    assert (total.table.row_count, total.left_out) == (5, [(UNCALCULATED, 1, (8,))])


def test_a_header_in_two_rows(tmp_path: Path) -> None:
    """Names of the upper row head the columns below their merged cells."""
    rows: list[list[Any]] = [
        ["Region", "2023", None, "2024", None],
        [None, "Plan", "Actual", "Plan", "Actual"],
        ["North", 1, 2, 3, 4],
        ["South", 5, 6, 7, 8],
    ]
    for merged in (("A1:A2", "B1:C1", "D1:E1"), ()):
        found = read(tmp_path, rows, merged=merged)

        assert found.lines == [
            "Region,2023 Plan,2023 Actual,2024 Plan,2024 Actual",
            "North,1,2,3,4",
            "South,5,6,7,8",
        ]
        assert found.table.reading.header_row == 2
        assert [each.rows for each in found.table.reading.repaired] == [(1, 2)]
        assert found.table.details["range"] == "A1:E4"


def test_a_title_above_a_header_in_two_rows(tmp_path: Path) -> None:
    """Both are told apart."""
    found = read(
        tmp_path,
        [
            ["Plan and result"],
            [None, "Plan", None, "Result", None],
            ["Region", "Q1", "Q2", "Q1", "Q2"],
            ["North", 1, 2, 3, 4],
            ["South", 5, 6, 7, 8],
        ],
        merged=("A1:E1", "B2:C2", "D2:E2"),
    )

    assert found.lines[0] == "Region,Plan Q1,Plan Q2,Result Q1,Result Q2"
    assert (found.table.reading.header_row, found.left_out) == (3, [(ABOVE, 1, (1,))])


def test_other_tables_are_told(tmp_path: Path) -> None:
    """What is beside and below the table is named with its rows, by what it is."""
    rows = [[*row, None, note] for row, note in zip(ROWS, ["x", *[None] * 5], strict=True)]
    found = read(tmp_path, [*rows, [], ["City", "Size"], ["Bern", 1]])

    assert found.table.row_count == 5
    assert found.left_out == [
        ("cells beside the table", 1, (1,)),
        ("another table", 2, (8, 9)),
    ]
    assert found.table.reading.left_out[1].sample == "A8:B9: City, Size"
    assert found.table.warnings == ("The table is A1:D6; not in it: F1, A8:B9.",)


def test_what_is_said_about_the_header(tmp_path: Path) -> None:
    """A said row names the columns, of another table, too; 0 stands for none."""
    rows = [["Note"], *ROWS, [], ["City", "Size"], ["Bern", 1], ["Ulm", 2]]
    other = read(tmp_path, rows, said=ReadAs(header_row=9))
    assert (other.lines, other.table.reading.header_row) == (["City,Size", "Bern,1", "Ulm,2"], 9)
    assert other.left_out == [("another table", 7, (1, 2, 3, 4, 5, 6, 7))]

    none = read(tmp_path, ROWS, said=ReadAs(header_row=0))
    assert (none.lines[0], none.table.row_count) == ("column_1,column_2,column_3,column_4", 6)
    assert none.table.reading.header_row == 0
    third = read(tmp_path, ROWS, said=ReadAs(header_row=3))
    assert third.table.row_count == 3
    assert third.left_out == [(ABOVE, 2, (1, 2))]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (ReadAs(header_row=99), "has 6 rows; header_row 99"),
        (ReadAs(header_row=-1), "counted from 1"),
        (ReadAs(encoding="utf-8"), "no encoding"),
        (ReadAs(delimiter=";"), "no delimiter"),
    ],
)
def test_what_does_not_fit_a_workbook_is_refused(tmp_path: Path, said: ReadAs, words: str) -> None:
    """A row past the sheet, an encoding and a delimiter are refused in words."""
    with pytest.raises(ValidationFailed, match=words):
        read(tmp_path, ROWS, said=said)


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b", "c"], [1, None, None], [2, 3, 4]],
        [["a", "b"], ["x", "y"], ["z", "w"]],
        [["x", None, None], [1, 2, 3], [4, 5, 6]],
        [["Name", "Phone"], ["Ann", "12"], ["Bob", None]],
        [[1, 2, 3], [4, 5, 6]],
        [["Date"], ["2024-01-01"], ["x"], [3]],
        [["a", None, "c"], ["x", "y", "x"], ["p", "q", "r"]],
    ],
)
def test_thin_rows_are_rows(tmp_path: Path, rows: list[list[Any]]) -> None:
    """Without a header further down, and without a remark, each row of a sheet is a row."""
    found = read(tmp_path, rows)

    assert found.left_out == []
    assert found.table.row_count == len(rows) - (found.table.reading.header_row > 0)


@pytest.mark.parametrize(
    ("below", "left_out"),
    [
        ([["Source: the shop"]], [(BELOW, 1, (7,))]),
        ([[], ["All figures in euros"], ["As of Monday"]], [(BELOW, 2, (8, 9))]),
        ([["Total", None, "=SUM(C2:C6)"]], [(UNCALCULATED, 1, (7,))]),
        ([["Total", None, "=SUM(C2:C6)"], [], ["Source: the shop"]],
         [(UNCALCULATED, 1, (7,)), (BELOW, 1, (9,))]),
    ],
)  # fmt: skip
def test_what_is_below_is_no_row_where_the_header_stays_in_view(
    tmp_path: Path, below: list[list[Any]], left_out: list[tuple[str, int, tuple[int, ...]]]
) -> None:
    """A frozen row of names heads all rows, but a remark or a bare total is none."""
    found = read(tmp_path, [*ROWS, *below], frozen=True)

    assert found.table.row_count == 5
    assert found.left_out == left_out


def test_rows_below_a_gap_belong_to_a_header_that_stays_in_view(tmp_path: Path) -> None:
    """Blank rows end nothing then; a header alone is a table without rows."""
    found = read(tmp_path, [*ROWS, [], *ROWS[1:]], frozen=True)
    alone = read(tmp_path, ROWS[:1], frozen=True)

    assert (found.table.row_count, found.table.reading.header_row) == (10, 1)
    assert (alone.table.row_count, alone.lines, alone.left_out) == (0, ["Item,Day,Sum,Who"], [])


REPEATED = "header repeated between rows"
TITLES = "title above a repeated header"
STOCK: list[list[Any]] = [["Item", "Price", "Count"], ["a", 1.5, 1], ["b", 2, 2]]


@pytest.mark.parametrize(
    ("rows", "left_out"),
    [
        ([*STOCK, *STOCK], [(REPEATED, 1, (4,))]),
        ([*STOCK, ["ITEM", " price", "count"], *STOCK[1:]], [(REPEATED, 1, (4,))]),
        ([*STOCK, [], *STOCK], [(REPEATED, 1, (5,)), ("blank row between others", 1, (4,))]),
        ([["Stock"], *STOCK, ["Stock, page 2"], *STOCK],
         [(ABOVE, 1, (1,)), (TITLES, 1, (5,)), (REPEATED, 1, (6,))]),
        ([*STOCK[:2], [], ["Page 1"], [], STOCK[0], *STOCK[1:2] * 2, STOCK[2]],
         [(TITLES, 1, (4,)), (REPEATED, 1, (6,)), ("blank row between others", 2, (3, 5))]),
    ],
)  # fmt: skip
def test_a_header_that_stands_again_is_no_row(
    tmp_path: Path, rows: list[list[Any]], left_out: list[tuple[str, int, tuple[int, ...]]]
) -> None:
    """Of printed pages all rows are one table, whose numbers stay numbers; titles between are told.

    So it is whether the largest page is the first one or not.
    """
    found = read(tmp_path, rows)

    assert found.left_out == left_out
    assert found.table.row_count == 4
    assert [column.type for column in found.table.columns] == ["string", "float", "integer"]
    assert sum(int(line.rsplit(",", 1)[1]) for line in found.lines[1:]) in (5, 6)


def test_tables_of_one_header_below_other_titles_are_several(tmp_path: Path) -> None:
    """Income and expenses have the same columns, and no sum."""
    expenses = [["Expenses"], *STOCK, ["c", 3, 3]]
    found = read(tmp_path, [["Income"], *STOCK, [], *expenses])

    assert found.table.row_count == 3
    assert [each.what for each in found.table.reading.left_out] == ["another table", ABOVE]
    years: list[list[Any]] = [["Stock"], [None, None, 2023], *STOCK]
    assert read(tmp_path, [*years, ["c", 3, 3], [], *years]).table.row_count == 3
    pages = read(tmp_path, [["Stock (1 of 2)"], *STOCK, [], ["Stock (2 of 2)"], *STOCK])
    assert pages.table.row_count == 4


def test_a_header_of_two_rows_may_stand_again(tmp_path: Path) -> None:
    """Both are left out, and merged cells of theirs are no cells that are read as empty."""
    head: list[list[Any]] = [["", "North", None, "South", None], ["Item", "In", "Out", "In", "Out"]]
    rows = [*head, ["a", 1, 2, 3, 4], ["b", 1, 2, 3, 4], *head, ["c", 1, 2, 3, 4]]
    found = read(tmp_path, rows, merged=("B1:C1", "D1:E1", "B5:C5", "D5:E5"))

    assert found.left_out == [(REPEATED, 2, (5, 6))]
    assert found.lines[1:] == ["a,1,2,3,4", "b,1,2,3,4", "c,1,2,3,4"]


def test_rows_that_only_resemble_a_header_stay(tmp_path: Path) -> None:
    """A value that is a column's name, a row with one other value, and a list of one column."""
    named = [STOCK[0], ["Item", 1, 2], ["a", 1, 2], ["Item", "Price", 3], ["b", 1, 1]]
    assert read(tmp_path, named).table.row_count == 4
    alone = read(tmp_path, [["Name"], ["Ann"], ["Name"], ["Bo"]], said=ReadAs(header_row=1))
    assert (alone.table.row_count, alone.left_out) == (3, [])


def test_a_label_right_above_a_repeated_header_is_a_row_where_rows_are_short(
    tmp_path: Path,
) -> None:
    """In a table of two columns a row without a figure looks so, too."""
    rows: list[list[Any]] = [["Item", "Sum"], ["a", 1], ["b", None], ["Item", "Sum"], ["c", 2]]
    found = read(tmp_path, rows)

    assert found.lines[1:] == ["a,1", "b,", "c,2"]
    assert found.left_out == [(REPEATED, 1, (4,))]


AMOUNTS: list[list[Any]] = [["Item", "Amount"], ["a", 1.5], ["b", 2.5]]


@pytest.mark.parametrize(
    "above",
    [
        [["Total", "=SUM(B3:B4)"]],
        [["Total", 4]],
        [[None, "=SUBTOTAL(9,B3:B4)"]],
        [["Filtered", "=SUBTOTAL(109,B3:B4)"]],
        [["Report"], ["Total", "=SUM(B4:B5)"]],
        [["Total", "=SUM(B5:B6)"], ["Average", "=AVERAGE(B5:B6)"], ["Max", "=MAX(B5:B6)"]],
    ],
)  # fmt: skip
def test_totals_above_the_header_are_no_rows(tmp_path: Path, above: list[list[Any]]) -> None:
    """They are neither the names nor data, by their label or by their formulas."""
    found = read(tmp_path, [*above, *AMOUNTS])

    assert found.lines == ["Item,Amount", "a,1.5", "b,2.5"]
    assert found.table.reading.header_row == len(above) + 1
    assert found.left_out == [(ABOVE, len(above), tuple(range(1, len(above) + 1)))]


@pytest.mark.parametrize(
    "rows",
    [
        [["Total", 5], ["b", "n/a"], ["c", 3]],
        [["a", 4], ["b", "c"], ["c", 3]],
        [["Total", 5], ["b", 2], ["c", 3]],
    ],
)
def test_rows_that_no_header_follows_stay(tmp_path: Path, rows: list[list[Any]]) -> None:
    """A text below a figure alone does not make a header of its row."""
    found = read(tmp_path, rows)

    assert (found.table.reading.header_row, found.table.row_count) == (0, 3)


def test_another_table_below_its_title_is_none_of_the_first(tmp_path: Path) -> None:
    """Nor is what stands below that one; a title above more rows of the table is a row."""
    costs: list[list[Any]] = [[], ["Costs"], ["Kind", "Cost", "Who"], ["x", 10, 1], ["y", 20, 2]]
    found = read(tmp_path, [*STOCK, ["c", 3, 3], ["d", 4, 4], *costs, [], ["z", 7, 7]])
    assert found.lines == ["Item,Price,Count", "a,1.5,1", "b,2,2", "c,3,3", "d,4,4"]
    assert [each.what for each in found.table.reading.left_out[:1]] == ["another table"]

    more = read(tmp_path, [*STOCK, [], ["More"], ["c", 3, 4], ["d", 5, 6]])
    assert more.table.row_count == 5
    assert [column.type for column in more.table.columns] == ["string", "float", "integer"]


UNITS = "units below the header"


@pytest.mark.parametrize(
    "units",
    [[None, "kg", "EUR"], ["", "(kg)", "(€)"], ["-", "m2", "1000 EUR"], ["Unit", "kg", "%"]],
)
def test_units_below_the_header_are_no_row(tmp_path: Path, units: list[Any]) -> None:
    """The numbers below them stay numbers, also where header and units stand again."""
    rows: list[list[Any]] = [["Item", "Weight", "Price"], units, ["a", 1.5, 10], ["b", 2, 20]]
    found = read(tmp_path, [*rows, *rows])

    assert found.left_out == [(UNITS, 1, (2,)), (REPEATED, 2, (5, 6))]
    assert found.lines[1:] == ["a,1.5,10", "b,2,20"] * 2
    assert found.table.reading.header_row == 1


def test_numbers_of_the_columns_below_the_header_are_no_row(tmp_path: Path) -> None:
    """Forms number their columns; a first row that counts so where all are numbers is one."""
    rows: list[list[Any]] = [["Item", "Weight", "Price"], [1, 2, 3], ["a", 1.5, 10], ["b", 2, 20]]
    found = read(tmp_path, rows)
    assert found.left_out == [("numbers of the columns below the header", 1, (2,))]
    assert found.lines[1:] == ["a,1.5,10", "b,2,20"]

    plain = read(tmp_path, [rows[0], [1, 2, 3], [2, 4, 6], [3, 6, 9]])
    assert (plain.table.row_count, plain.left_out) == (3, [])


@pytest.mark.parametrize(
    "first", [["c", "open", "open"], [None, "n/a", "-"], [None, "kg", 5], ["Unit", 1, 2]]
)
def test_a_first_row_of_values_is_no_units(tmp_path: Path, first: list[Any]) -> None:
    """What has a name, a figure or says that a value is missing is a row."""
    head: list[Any] = ["Item", "Weight", "Price"]
    found = read(tmp_path, [head, first, ["a", 1.5, 10], ["b", 2, 20]])

    assert found.left_out == []
    assert found.table.row_count == 3


def test_rows_and_columns_that_people_do_not_see_are_told(tmp_path: Path) -> None:
    """A sum of all rows is another one than that of those that a filter shows."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in ROWS:
        sheet.append(row)
    sheet.row_dimensions[3].hidden = sheet.row_dimensions[4].hidden = True
    sheet.column_dimensions["D"].hidden = True
    book.save(tmp_path / "a.xlsx")
    source = Source(tmp_path / "a.xlsx", "a.xlsx")
    table = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")

    assert "2 row(s) of the table are hidden from people." in table.warnings
    assert "1 column(s) of the table are hidden from people." in table.warnings
    assert table.row_count == 5


def test_an_error_in_a_total_is_not_told_as_a_figure(tmp_path: Path) -> None:
    """What is left out is shown as it stands there."""
    found = read(tmp_path, [*STOCK, ["Total", None, "=SUM(C2:C3)"]])

    assert [each.sample for each in found.table.reading.left_out] == ["Total"]


@pytest.mark.parametrize(
    ("values", "label", "kind"),
    [
        ([dt.date(2024, 1, 1), dt.date(2024, 2, 1)], "Total", None),
        ([2023, 2024], "Summe", None),
        ([dt.date(2024, 1, 1), dt.date(2024, 2, 1)], "Total 2024", None),
        ([dt.date(2024, 1, 1), "later"], "Total", "string"),
        ([1.5, 2], "Total", "string"),
        (["Total", "Esso"], "Total", "string"),
    ],
)
def test_the_label_of_a_total_is_no_value_of_dates_or_whole_numbers(
    tmp_path: Path, values: list[Any], label: str, kind: str | None
) -> None:
    """What such a column is shows without the total's row; other numbers could be misread."""
    rows = [["Key", "Sum"], *([value, 5] for value in values), [label, 10]]
    assert read(tmp_path, rows).table.columns[0].type == kind
