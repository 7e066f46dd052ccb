"""A total at the end of exported rows: formulas with their results where it is proven."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.formats import Placement, ReadAs, Source, Written
from kbd.testing.formats import calculate_open, write_rows
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
COLUMNS = [["Item", "string"], ["Count", "integer"], ["Amount", "float"]]
ROWS: list[list[Any]] = [["a", 1, "10.50"], ["b", 2, "20.25"], ["c", None, "-0.75"]]


def write(
    folder: Path, rows: list[list[Any]], columns: list[list[str]] = COLUMNS,
    source: Source | None = None, **placement: Any,
) -> tuple[Written, Path]:  # fmt: skip
    """Write rows into a workbook, new without a source."""
    target = folder / ("new.xlsx" if source is None else "changed.xlsx")
    stream = write_rows(folder / "rows", columns, rows)
    written = FORMAT.write_table(source, stream, Placement(**placement), target)
    calculate_open(FORMAT, Source(target, target.name), written)
    return written, target


def cells(path: Path, row: int, sheet: str = "Sheet1", *, results: bool = False) -> list[Any]:
    """The cells of a row: formulas, or what they came to."""
    book = openpyxl.load_workbook(path, data_only=results)
    return [cell.value for cell in book[sheet][row]]


@pytest.mark.parametrize("label", ["Total", "Summe", "Grand total:", "合計", "Total 2024"])
def test_a_proven_total_is_a_formula_with_its_result(tmp_path: Path, label: str) -> None:
    """It is said, and the number format is that of its column."""
    written, path = write(tmp_path, [*ROWS, [label, 3, "30.00"]])
    assert cells(path, 5) == [label, "=SUM(B2:B4)", "=SUM(C2:C4)"]
    assert cells(path, 5, results=True) == [label, 3, 30]
    book = openpyxl.load_workbook(path)
    assert book["Sheet1"]["C5"].number_format == "0.00"
    (note,) = written.warnings
    assert note.startswith(f"The last row ({label}) sums the rows above up by formulas: ")
    assert note.endswith("B5 =SUM(B2:B4), C5 =SUM(C2:C4).")


def test_doubles_are_summed_as_a_sheet_sums_them(tmp_path: Path) -> None:
    """A total of doubles agrees though the last digit differs."""
    rows = [["a", None, 0.1], ["b", None, 0.2], ["Total", None, 0.3]]
    _, path = write(tmp_path, rows)
    assert cells(path, 4) == ["Total", None, "=SUM(C2:C3)"]


def test_what_is_not_the_sum_stays_a_figure(tmp_path: Path) -> None:
    """Each column by itself; those that stay are named."""
    written, path = write(tmp_path, [*ROWS, ["Total", 4, "30.00"]])
    assert cells(path, 5) == ["Total", 4, "=SUM(C2:C4)"]
    assert written.warnings[1] == (
        "Figures of the last row (Total) are not the sum of the rows above, and stay figures: B5."
    )


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        # A vendor is filled as others are.
        ([["x", "Shell", 1], ["y", "Total", 1]],
         [["Day", "string"], ["Vendor", "string"], ["Amount", "integer"]]),
        ([["2024-01-01", "Shell", 1], ["2024-01-02", "Total", 1]],
         [["Day", "date"], ["Vendor", "string"], ["Amount", "integer"]]),
        ([["a", 1], ["b", 2], ["c", 3]], [["Item", "string"], ["Amount", "integer"]]),
        ([["a", 1], ["b", 2], ["Subtotal", 3]], [["Item", "string"], ["Amount", "integer"]]),
        ([["a", 1], ["b", 2], ["Average", 3]], [["Item", "string"], ["Amount", "integer"]]),
        ([["Paste", 3], ["Paste Total", 3]], [["Item", "string"], ["Amount", "integer"]]),
        ([["Total", 3]], [["Item", "string"], ["Amount", "integer"]]),
        # More digits than a sheet keeps: as text they would not be summed.
        ([["a", 10**16], ["b", 1], ["Total", 10**16 + 1]],
         [["Item", "string"], ["Amount", "integer"]]),
    ],
)  # fmt: skip
def test_no_other_row_becomes_a_formula(
    tmp_path: Path, rows: list[list[Any]], columns: list[list[str]]
) -> None:
    """Neither a row like others, nor a label of something else, nor what a sheet cannot sum."""
    _, path = write(tmp_path, rows, columns)
    last = cells(path, len(rows) + 1)
    assert not any(isinstance(value, str) and value.startswith("=") for value in last)


def test_totals_in_a_book_that_exists(tmp_path: Path) -> None:
    """A sheet is replaced, rows go where cells are, or below others: the formula is of its rows."""
    _, path = write(tmp_path, ROWS)
    rows = [*ROWS[:2], ["Total", 3, "30.75"]]
    for place, row, formula in (
        ({"mode": "replace_sheet"}, 4, "=SUM(C2:C3)"),
        ({"mode": "append_rows"}, 7, "=SUM(C5:C6)"),
        ({"mode": "write_range", "start_cell": "A1"}, 4, "=SUM(C2:C3)"),
        ({"mode": "write_range", "start_cell": "B2", "include_header": False}, 4, "=SUM(D2:D3)"),
    ):
        _, changed = write(tmp_path, rows, source=Source(path, path.name), **place)
        assert formula in cells(changed, row)
        assert 30.75 in cells(changed, row, results=True)


def test_a_sheet_with_such_a_total_is_read_as_before(tmp_path: Path) -> None:
    """Its results are stored: who reads the table has the figures."""
    _, path = write(tmp_path, [*ROWS, ["Total", 3, "30.00"]])
    FORMAT.read_table(Source(path, path.name), None, ReadAs(), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[-1] == "Total,3,30"
