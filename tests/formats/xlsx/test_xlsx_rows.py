"""Rows into sheets: types, places and modes, read back by two libraries."""

import datetime as dt
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.errors import ValidationFailed
from kbd.formats import Placement
from written_rows import parts, plain, values, write

KINDS: list[list[Any]] = [
    ["Day", "date"], ["At", "datetime"], ["Sum", "float"], ["Text", "string"],
    ["Whole", "integer"], ["Yes", "boolean"], ["Any", None],
]  # fmt: skip
KIND_ROWS: list[list[Any]] = [
    ["2024-01-31", "2024-01-31T10:05:00", "12.50", "=1+1", 7, True, 1.5],
    ["0999-01-01", "2024-01-31T00:00:00+02:00", "-0.125", " <x> & \u00e9\n_x0041_", 10**17,
     False, "text"],
    ["1900-02-28", "1900-03-01T00:00:00", "+5", "form\x0cfeed", -3, None, True],
    [None, None, "123456789.1234567", "", 0, None, None],
    ["2024-01-31", None, "1e5", "a" * 32_767, None, None, "=2"],
    ["2024-02-01", None, 0.1, "\u00a0edge\t", 5, None, 10**18],
]  # fmt: skip


def looks(path: Path, sheet: str) -> list[tuple[Any, ...]]:
    """Return what another library finds in a sheet's cells that are not all empty."""
    found = openpyxl.load_workbook(path)[sheet]
    return [
        (c.coordinate, c.value, c.data_type, c.number_format, c.font.b)
        for row in found.iter_rows() for c in row if c.has_style or c.value is not None
    ]  # fmt: skip


def two_sheets(folder: Path) -> Path:
    """Make a workbook with the sheets Report (A1:B3) and Other."""
    write(None, folder / "first.xlsx", [["keep", 1]], Placement(sheet="Other"))
    placement = Placement(sheet="Report", mode="replace_sheet")
    written = write(folder / "first.xlsx", folder / "both.xlsx", [["a", 1], ["b", 2]], placement)
    assert written.written_range == "A1:B3"
    return folder / "both.xlsx"


def started(path: Path, cells: dict[str, Any], *, epoch: Any = None) -> Path:
    """Make a workbook of another program whose sheet S holds some cells."""
    book = openpyxl.Workbook()
    if epoch is not None:
        book.epoch = epoch
    sheet: Any = book.active
    sheet.title = "S"
    for place, value in cells.items():
        sheet[place] = value
    book.save(path)
    return path


def test_types_are_written(tmp_path: Path) -> None:
    """Dates are dates, decimals keep their scale, formula-like text is text, a header is bold."""
    written = write(None, tmp_path / "a.xlsx", KIND_ROWS, Placement(sheet="Out"), KINDS)

    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["Out"]
    first, second, third = sheet[2], sheet[3], sheet[4]
    assert [cell.data_type for cell in first] == ["d", "d", "n", "s", "n", "b", "n"]
    assert [cell.value for cell in first][:4] == [
        dt.datetime(2024, 1, 31), dt.datetime(2024, 1, 31, 10, 5), 12.5, "=1+1",  # noqa: DTZ001
    ]  # fmt: skip
    assert [cell.number_format for cell in first][:4] == [
        "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "0.00", "General",
    ]  # fmt: skip
    assert [cell.value for cell in second][:2] == ["0999-01-01", "2024-01-31T00:00:00+02:00"]
    assert (second[2].number_format, second[4].value) == ("0.000", "1" + "0" * 17)
    assert third[0].value == dt.datetime(1900, 2, 28)  # noqa: DTZ001
    assert third[1].value == dt.datetime(1900, 3, 1)  # noqa: DTZ001
    assert sheet["C5"].value == "123456789.1234567"
    assert all(cell.font.b for cell in sheet[1])
    assert not sheet["A2"].font.b
    assert (written.written_range, written.row_count) == ("A1:G7", 6)
    assert plain(tmp_path / "a.xlsx", "Out")[2][3] == " <x> & \u00e9\n_x0041_"
    assert plain(tmp_path / "a.xlsx", "Out")[3][3] == "form\x0cfeed"


def test_what_is_text_instead_is_counted(tmp_path: Path) -> None:
    """Texts that look like formulas and dates that a sheet cannot hold are told once, counted."""
    written = write(None, tmp_path / "a.xlsx", KIND_ROWS, Placement(), KINDS)

    assert written.warnings == (
        "2 date(s) that a sheet cannot hold were written as text.",
        "2 text(s) would be formulas if they were typed: written as text.",
    )


def test_fast_and_slow_rows_are_the_same(tmp_path: Path) -> None:
    """Rows where there are none, written as text, and over cells that there are mean the same."""
    start = started(tmp_path / "a.xlsx", {f"Z{row}": row for row in range(1, 8)})

    one = write(None, tmp_path / "fast.xlsx", KIND_ROWS, Placement(sheet="S"), KINDS)
    two = write(
        start, tmp_path / "slow.xlsx", KIND_ROWS, Placement(sheet="S", mode="write_range"), KINDS
    )

    assert one == two
    slow = [cell for cell in looks(tmp_path / "slow.xlsx", "S") if cell[0][0] != "Z"]
    assert slow == looks(tmp_path / "fast.xlsx", "S")


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    """What a file holds depends on the rows alone."""
    for name in ("a", "b"):
        write(None, tmp_path / f"{name}.xlsx", KIND_ROWS, Placement(), KINDS)

    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_days_are_counted_from_1904_where_the_workbook_does(tmp_path: Path) -> None:
    """A date is the same day in such a workbook; one before its first day is text."""
    start = started(tmp_path / "a.xlsx", {"A1": 1}, epoch=dt.datetime(1904, 1, 1))  # noqa: DTZ001
    rows = [["2024-01-31"], ["1903-12-31"], ["1904-01-02"]]

    write(
        start, tmp_path / "b.xlsx", rows, Placement(sheet="S", mode="append_rows"), [["d", "date"]]
    )

    assert [row[0] for row in plain(tmp_path / "b.xlsx", "S")] == [
        1, dt.date(2024, 1, 31), "1903-12-31", dt.date(1904, 1, 2),
    ]  # fmt: skip


def test_a_new_sheet_shows_its_columns_and_keeps_its_header_in_view(tmp_path: Path) -> None:
    """Columns are as wide as their first rows need; an East Asian character takes two places."""
    rows = [["\u6771\u4eac" * 5, 1], ["é" * 12, 2]]
    columns = [["\uff21" * 6, "string"], ["é" * 12, "string"]]
    write(None, tmp_path / "a.xlsx", rows, Placement(sheet="S"), columns)
    write(tmp_path / "a.xlsx", tmp_path / "b.xlsx", rows,
          Placement(sheet="Low", mode="write_range", start_cell="B3"), columns)  # fmt: skip

    found = openpyxl.load_workbook(tmp_path / "b.xlsx")

    assert [found["S"].column_dimensions[name].width for name in "AB"] == [22, 14]
    assert [found["Low"].column_dimensions[name].width for name in "BC"] == [22, 14]
    assert (found["S"].freeze_panes, found["Low"].freeze_panes) == ("A2", None)


def test_replace_append_and_range(tmp_path: Path) -> None:
    """Replacing keeps other sheets, appending goes below, a range goes where it is told."""
    source = two_sheets(tmp_path)
    appended, ranged = tmp_path / "appended.xlsx", tmp_path / "ranged.xlsx"

    first = write(source, appended, [["c", 3]], Placement(sheet="report", mode="append_rows"))
    placement = Placement(sheet="Report", mode="write_range", start_cell="D2")
    second = write(appended, ranged, [["d", 4]], placement)

    assert (first.written_range, first.warnings) == (
        "A4:B4", ("The sheet has a header already: it was not written again.",),
    )  # fmt: skip
    assert (second.written_range, second.warnings) == ("D2:E3", ())
    assert parts(ranged)["xl/worksheets/sheet1.xml"] == parts(source)["xl/worksheets/sheet1.xml"]
    assert values(ranged, "Report") == [
        ["name", "amount", None, None, None],
        ["a", 1, None, "name", "amount"],
        ["b", 2, None, "d", 4],
        ["c", 3, None, None, None],
    ]


def test_append_with_other_names_warns(tmp_path: Path) -> None:
    """Columns that are not those of the header are appended by position, with a warning."""
    placement = Placement(sheet="Report", mode="append_rows")
    columns = [["who", "string"], ["amount", "integer"]]

    written = write(two_sheets(tmp_path), tmp_path / "c.xlsx", [["c", 3]], placement, columns)

    (warning,) = written.warnings
    assert warning == (
        "The rows' columns (who, amount) are not those of the sheet's header (name, amount); they "
        "were appended by position."
    )


def test_append_to_a_sheet_without_values_begins_at_its_top(tmp_path: Path) -> None:
    """Nothing is there to go below, so the header comes first."""
    start = started(tmp_path / "a.xlsx", {})

    written = write(start, tmp_path / "b.xlsx", [["c", 3]], Placement("S", mode="append_rows"))

    assert (written.written_range, written.warnings) == ("A1:B2", ())
    assert plain(tmp_path / "b.xlsx", "S") == [["name", "amount"], ["c", 3]]


def test_append_goes_below_a_merged_area(tmp_path: Path) -> None:
    """A merged area over several rows is one value of all of them."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["name", "amount"])
    sheet["A2"] = "tall"
    sheet.merge_cells("A2:A4")
    book.save(tmp_path / "a.xlsx")

    written = write(
        tmp_path / "a.xlsx", tmp_path / "b.xlsx", [["c", 3]], Placement("Sheet", mode="append_rows")
    )

    assert written.written_range == "A5:B5"


def test_a_null_empties_the_cell_that_it_is_written_over(tmp_path: Path) -> None:
    """A written range holds the rows and nothing of what was there."""
    start = started(tmp_path / "a.xlsx", {"A1": "old", "B2": "old", "C1": "other"})
    placement = Placement("S", mode="write_range", include_header=False)

    write(start, tmp_path / "b.xlsx", [[None, 1], ["x", None]], placement)

    assert values(tmp_path / "b.xlsx", "S") == [[None, 1, "other"], ["x", None, None]]


def test_clear_target_range(tmp_path: Path) -> None:
    """clear_target_range empties what lies below and right of the start first."""
    placement = Placement(
        sheet="Report", mode="write_range", start_cell="A2", include_header=False,
        clear_target_range=True,
    )  # fmt: skip

    write(two_sheets(tmp_path), tmp_path / "c.xlsx", [["z", 9]], placement)

    assert plain(tmp_path / "c.xlsx", "Report") == [["name", "amount"], ["z", 9]]


@pytest.mark.parametrize(
    ("placement", "reason"),
    [
        (Placement("Nope", "append_rows", create_sheet_if_missing=False), "no sheet 'Nope'"),
        (Placement("a/b", "append_rows"), "cannot name a sheet"),
        (Placement("Report", "write_range", start_cell="XFD1"), "do not fit"),
        (Placement("Report", "write_range", start_cell="A1048576"), "ends at row 1,048,576"),
        (Placement("Report", "write_range", start_cell="A1048577"), "no row 1048577"),
    ],
)
def test_what_is_refused(tmp_path: Path, placement: Placement, reason: str) -> None:
    """A missing sheet that may not be made, a bad name, rows past the edge; no file is left."""
    source = two_sheets(tmp_path)

    with pytest.raises(ValidationFailed, match=reason):
        write(source, tmp_path / "c.xlsx", [["z", 9]], placement)
    assert not (tmp_path / "c.xlsx").exists()


@pytest.mark.parametrize("rows", [[["z", 9]] * 50, [["\u20ac" * 300, 9]]])
def test_rows_that_could_not_be_read_again_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[list[Any]]
) -> None:
    """A sheet larger than what kbd opens is not written; its bytes count, not its characters."""
    monkeypatch.setattr("kbd_xlsx.rows.placement.MAX_PART_BYTES", 1000)

    with pytest.raises(ValidationFailed, match="write them as CSV"):
        write(None, tmp_path / "c.xlsx", rows, Placement())


def test_no_workbook_promises_macros_that_it_has_not(tmp_path: Path) -> None:
    """A suffix that promises macros is refused for a file that can have none, or has none."""
    with pytest.raises(ValidationFailed, match="macros"):
        write(None, tmp_path / "c.xlsm", [["z", 9]], Placement())
    with pytest.raises(ValidationFailed, match="no macros"):
        write(two_sheets(tmp_path), tmp_path / "c.xlsm", [["z", 9]], Placement(mode="append_rows"))


def test_a_missing_sheet_is_made_where_it_may_be(tmp_path: Path) -> None:
    """The other sheets stay, the new one comes last."""
    write(two_sheets(tmp_path), tmp_path / "c.xlsx", [["z", 9]], Placement("New", "append_rows"))

    assert openpyxl.load_workbook(tmp_path / "c.xlsx").sheetnames == ["Other", "Report", "New"]
    assert plain(tmp_path / "c.xlsx", "New") == [["name", "amount"], ["z", 9]]


def test_no_columns_and_no_rows(tmp_path: Path) -> None:
    """A table without columns gives an empty sheet; one without rows gives its header."""
    nothing = write(None, tmp_path / "a.xlsx", [], Placement(), [])
    header = write(None, tmp_path / "b.xlsx", [], Placement())

    assert (nothing.written_range, nothing.row_count, nothing.column_count) == ("", 0, 0)
    assert (header.written_range, plain(tmp_path / "b.xlsx", "Sheet1")) == (
        "A1:B1", [["name", "amount"]],
    )  # fmt: skip
