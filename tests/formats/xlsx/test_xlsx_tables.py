"""Sheets as tables, and tables into sheets: types both ways, ranges, headers, other sheets kept."""

import datetime as dt
import shutil
import subprocess
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from kbd.errors import ValidationFailed
from kbd.formats import Placement, ReadAs, Source, Written
from kbd.sheets.table_rows import MERGED
from kbd.testing.formats import write_rows
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
COLUMNS = [["name", "string"], ["amount", "integer"]]


def book(path: Path, **sheets: list[list[Any]]) -> Source:
    found = openpyxl.Workbook()
    for name, rows in sheets.items():
        sheet = found.create_sheet(name)
        for row in rows:
            sheet.append(row)
    del found["Sheet"]
    found.save(path)
    return Source(path, path.name)


def write(
    source: Source | None, target: Path, rows: list[list[Any]], placement: Placement,
    columns: list[list[str]] = COLUMNS,
) -> Written:  # fmt: skip
    stream = write_rows(target.with_suffix(".rows"), columns, rows)
    return FORMAT.write_table(source, stream, placement, target)


def values(path: Path, sheet: str) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path)[sheet].iter_rows()]


def two_sheets(tmp_path: Path) -> Source:
    """Make a workbook of kbd's own with the sheets Report (A1:B3) and Other."""
    first, both = tmp_path / "first.xlsx", tmp_path / "both.xlsx"
    write(None, first, [["keep", 1]], Placement(sheet="Other"))
    placement = Placement(sheet="Report", mode="replace_sheet")
    written = write(Source(first, "a.xlsx"), both, [["a", 1], ["b", 2]], placement)
    assert written.written_range == "A1:B3"
    return Source(both, "a.xlsx")


@pytest.mark.parametrize("above", [False, True])
def test_a_sum_without_label_and_result_is_a_row_of_its_table(
    tmp_path: Path, *, above: bool
) -> None:
    """It ends the rows above: what stands below is told from them, and a blank row is none."""
    rows: list[list[Any]] = [
        ["a", 10],
        [None, None],
        ["b", 20],
        [None, "=SUM(B2:B4)"],
        ["Soll", 40],
    ]
    if above:
        rows = [["Nord", None], ["a", 10], ["b", 20], [None, "=SUM(B3:B4)"], ["c", 5]]
    source = book(tmp_path / "a.xlsx", S=[["Item", "Amount"], *rows])
    found = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")
    lines = (tmp_path / "plain").read_text().splitlines()
    (total,) = found.aggregates
    assert lines[1 + total.row] == ","
    assert found.row_count == len(lines) - 1 == (5 if above else 4)
    kept = FORMAT.read_table(source, None, ReadAs(totals="keep"), tmp_path / "plain")
    assert (kept.row_count, kept.aggregates) == (found.row_count - 1, ())


def test_labels_merged_over_rows_are_told(tmp_path: Path) -> None:
    """Only the first row has such a label; a group by it is without the others, which are named."""
    source = book(tmp_path / "a.xlsx", S=[
        ["Region", "Amount"], ["North", 10], [None, 20], ["South", 5], [None, 7],
    ])  # fmt: skip
    changed = openpyxl.load_workbook(source.path)
    changed["S"].merge_cells("A2:A3")
    changed["S"].merge_cells("A4:A5")
    changed.save(source.path)
    found = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")
    assert [(each.what, each.count, each.rows) for each in found.reading.repaired] == [
        (MERGED, 2, (3, 5)),
    ]


def test_a_kind_that_changes_far_below_is_seen(tmp_path: Path) -> None:
    """A column that is of days or truths for hundreds of rows is of what all its rows are."""
    day, moment = dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 10, 5)  # noqa: DTZ001
    span = dt.timedelta(hours=30)
    rows: list[list[Any]] = [[day, day, True, True, span] for _ in range(1_200)]
    rows += [[day, moment, True, "x", span], [day, day, False, False, span]]
    source = book(tmp_path / "a.xlsx", S=[["d", "t", "b", "s", "span"], *rows])

    table = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")

    types = ["date", "datetime", "boolean", "string", "string"]
    assert [column.type for column in table.columns] == types
    lines = (tmp_path / "plain").read_text().splitlines()
    assert lines[1:1_201] == ["2024-01-31,2024-01-31,true,true,30:00:00"] * 1_200
    assert lines[1_201:] == [
        "2024-01-31,2024-01-31T10:05:00,true,x,30:00:00",
        "2024-01-31,2024-01-31,false,false,30:00:00",
    ]


def test_columns_have_the_types_of_their_cells(tmp_path: Path) -> None:
    """A type is told where all cells agree, text where they differ, None where there are none."""
    day, moment = dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 10, 5)  # noqa: DTZ001
    source = book(
        tmp_path / "a.xlsx",
        S=[
            ["i", "f", "b", "d", "t", "s", "mixed", "none", "code"],
            [1, 1, True, day, moment, "x", 1, None, "007"],
            [2, 0.5, False, day, day, None, "y", None, "1"],
        ],
    )

    table = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")

    assert [(column.name, column.type) for column in table.columns] == [
        ("i", "integer"), ("f", "float"), ("b", "boolean"), ("d", "date"), ("t", "datetime"),
        ("s", "string"), ("mixed", "string"), ("none", None), ("code", "string"),
    ]  # fmt: skip
    assert (tmp_path / "plain").read_text().splitlines()[1] == (
        "1,1,true,2024-01-31,2024-01-31T10:05:00,x,1,,007"
    )


def test_a_sheet_is_named_if_several_hold_values(tmp_path: Path) -> None:
    """Without a name the only sheet with values is meant; else the names are told."""
    several = book(tmp_path / "a.xlsx", One=[["x", "y"], ["p", 1]], Two=[["z"]])
    single = book(tmp_path / "b.xlsx", Empty=[], One=[["x", "y"], ["p", 1]])

    with pytest.raises(ValidationFailed, match="One, Two"):
        FORMAT.read_table(several, None, ReadAs(), tmp_path / "plain")
    with pytest.raises(ValidationFailed, match="no sheet"):
        FORMAT.read_table(several, "Three", ReadAs(), tmp_path / "plain")
    assert FORMAT.read_table(several, "one", ReadAs(), tmp_path / "plain").row_count == 1
    assert FORMAT.read_table(single, None, ReadAs(), tmp_path / "plain").details["sheet"] == "One"


def test_the_table_of_a_sheet_with_more(tmp_path: Path) -> None:
    """A title is left out with a warning; a blank row does not end the table."""
    source = book(
        tmp_path / "a.xlsx",
        S=[["Report 2024"], [], ["name", "n"], ["a", 1], ["b", 2], [], ["c", 3]],
    )

    table = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")

    assert (table.row_count, table.details["range"]) == (3, "A3:B7")
    assert table.warnings == (
        "The table is A3:B7; not in it: A1.",
        "1 blank row(s) between others were skipped.",
    )


def test_formulas_without_results_are_told(tmp_path: Path) -> None:
    """A formula whose result is not stored is an empty value, and the reader is told."""
    source = book(tmp_path / "a.xlsx", S=[["a", "b"], ["x", "=1+1"], ["y", 2]])

    table = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")

    assert "no stored result" in table.warnings[0]
    assert (tmp_path / "plain").read_text() == "a,b\nx,\ny,2\n"


def test_types_are_written(tmp_path: Path) -> None:
    """Dates are dates, decimals keep their scale, formula-like text is text, a header is bold."""
    columns = [["Day", "date"], ["At", "datetime"], ["Sum", "float"], ["Text", "string"],
               ["Big", "integer"]]  # fmt: skip
    rows: list[list[Any]] = [["2024-01-31", "2024-01-31T10:05:00", "12.50", "=1+1", 10**17],
                             ["0999-01-01", None, 0.1, None, 7]]  # fmt: skip

    written = write(None, tmp_path / "a.xlsx", rows, Placement(sheet="Out"), columns)

    found = openpyxl.load_workbook(tmp_path / "a.xlsx")
    first = found["Out"][2]
    assert found.sheetnames == ["Out"]
    assert [cell.data_type for cell in first] == ["d", "d", "n", "s", "s"]
    assert (first[2].value, first[2].number_format, first[3].value) == (12.5, "0.00", "=1+1")
    assert first[4].value == "1" + "0" * 17
    assert found["Out"]["A1"].font.b
    assert (written.written_range, written.row_count) == ("A1:E3", 2)
    assert "1 date(s)" in written.warnings[0]


def test_replace_append_and_range(tmp_path: Path) -> None:
    """Replacing keeps other sheets, appending goes below, a range goes where it is told."""
    source = two_sheets(tmp_path)
    appended, ranged = tmp_path / "appended.xlsx", tmp_path / "ranged.xlsx"

    first = write(source, appended, [["c", 3]], Placement(sheet="Report", mode="append_rows"))
    placement = Placement(sheet="Report", mode="write_range", start_cell="D2")
    second = write(Source(appended, "a.xlsx"), ranged, [["d", 4]], placement)

    assert (first.written_range, "header" in first.warnings[0]) == ("A4:B4", True)
    assert second.written_range == "D2:E3"
    assert values(ranged, "Other") == [["name", "amount"], ["keep", 1]]
    assert values(ranged, "Report") == [
        ["name", "amount", None, None, None],
        ["a", 1, None, "name", "amount"],
        ["b", 2, None, "d", 4],
        ["c", 3, None, None, None],
    ]


def test_append_with_other_names_warns(tmp_path: Path) -> None:
    """Columns that are not those of the header are appended by position, with a warning."""
    placement = Placement(sheet="Report", mode="append_rows")

    written = write(
        two_sheets(tmp_path), tmp_path / "c.xlsx", [["c", 3]], placement,
        [["who", "string"], ["amount", "integer"]],
    )  # fmt: skip

    assert "not those of the sheet's header" in written.warnings[0]


def test_clear_target_range(tmp_path: Path) -> None:
    """clear_target_range empties what lies below and right of the start first."""
    placement = Placement(
        sheet="Report", mode="write_range", start_cell="A2", include_header=False,
        clear_target_range=True,
    )  # fmt: skip

    write(two_sheets(tmp_path), tmp_path / "c.xlsx", [["z", 9]], placement)

    assert values(tmp_path / "c.xlsx", "Report") == [["name", "amount"], ["z", 9]]


def test_what_is_refused(tmp_path: Path) -> None:
    """A missing sheet that may not be made, rows past the edge."""
    placement = Placement(sheet="Nope", mode="append_rows", create_sheet_if_missing=False)

    with pytest.raises(ValidationFailed, match="no sheet"):
        write(two_sheets(tmp_path), tmp_path / "c.xlsx", [["z", 9]], placement)
    edge = Placement(mode="write_range", start_cell="XFD1")
    with pytest.raises(ValidationFailed, match="do not fit"):
        write(None, tmp_path / "c.xlsx", [["z", 9]], edge)
    assert not (tmp_path / "c.xlsx").exists()


def test_two_readers_agree_on_what_was_written(tmp_path: Path) -> None:
    """Openpyxl and calamine find the same values in a workbook that kbd wrote."""
    rows = [[f"{n} ünïcode <&> 日本", n * 7] for n in range(200)]
    write(None, tmp_path / "a.xlsx", rows, Placement(sheet="Sheet A"))

    calamine = CalamineWorkbook.from_path(str(tmp_path / "a.xlsx"))

    assert calamine.get_sheet_by_name("Sheet A").to_python() == values(
        tmp_path / "a.xlsx", "Sheet A"
    )
    assert values(tmp_path / "a.xlsx", "Sheet A")[1:] == rows


@pytest.mark.full
@pytest.mark.libreoffice
def test_libreoffice_reads_what_was_written(tmp_path: Path) -> None:
    """LibreOffice converts a written workbook to the rows that went in."""
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    write(None, tmp_path / "a.xlsx", [["a, b", 1], ["=1+1", 2]], Placement())

    subprocess.run(
        [office, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless",
         "--convert-to", "csv", "--outdir", tmp_path, tmp_path / "a.xlsx"],
        check=True, capture_output=True, timeout=100,
    )  # fmt: skip

    assert (tmp_path / "a.csv").read_text() == 'name,amount\n"a, b",1\n=1+1,2\n'


def test_wide_characters_make_columns_wider(tmp_path: Path) -> None:
    """An East Asian wide character takes the place of two, an accented one that of one."""
    path = tmp_path / "a.xlsx"
    rows = [["\u6771\u4eac" * 5, 1], ["é" * 12, 2]]
    write(None, path, rows, Placement(sheet="S"), [["\uff21" * 6, "string"], ["é" * 12, "string"]])
    sheet = openpyxl.load_workbook(path)["S"]
    assert (sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width) == (22, 14)
