"""Windows of cells as people see them, of workbooks and of delimited tables."""

from pathlib import Path

import openpyxl
import pytest

from kbd.errors import ValidationFailed
from kbd.formats import GridMerge, GridWindow, Source
from kbd_csv.handler import CsvFormat
from kbd_xlsx.grid import MAX_CELL_CHARACTERS
from kbd_xlsx.handler import XlsxFormat


@pytest.fixture
def workbook(tmp_path: Path) -> Source:
    """A workbook: merged cells, a formula without a result, a hidden first sheet, a long text."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Sums"
    sheet.append(["Title", "covered", None])
    sheet.append([None, 3.5, True])
    sheet.append(["x" * 1000, "=B2*2", "#text"])
    sheet.merge_cells("A1:B1")
    book.create_sheet("Empty")
    path = tmp_path / "sums.xlsx"
    book.save(path)
    return Source(path, "sums.xlsx", tmp_path / "shelf")


def test_a_merged_range_shows_its_first_cell(workbook: Source) -> None:
    """Over merged A1:B1 the window has A1's value, and nothing for B1, also from the shelf."""
    for _ in range(2):
        grid = XlsxFormat().grid(workbook, GridWindow(row_count=1))

        assert grid.rows == (("Title", None, None),)
        assert grid.merged == (GridMerge(row=1, column=1, row_count=1, column_count=2),)
        assert (grid.sheet, grid.sheets) == ("Sums", ("Sums", "Empty"))
        assert (grid.columns, grid.total_rows, grid.total_columns) == (("A", "B", "C"), 3, 3)
        assert grid.warnings == ()


def test_a_window_ends_where_the_cells_end(workbook: Source) -> None:
    """Rows and columns past the last cell are not made up; a merged range elsewhere is left out."""
    grid = XlsxFormat().grid(workbook, GridWindow(row_start=2, column_start=2))

    assert grid.rows == (("3.5", "true"), ("=B2*2", "#text"))
    assert grid.merged == ()
    assert grid.warnings == ("1 formula(s) have no stored result and are shown as formulas",)
    beyond = XlsxFormat().grid(workbook, GridWindow(row_start=9))
    assert (beyond.rows, beyond.total_rows) == ((), 3)
    assert XlsxFormat().grid(workbook, GridWindow(sheet="empty")).rows == ()


def test_what_is_long_is_cut_with_a_warning(workbook: Source) -> None:
    """A text that no cell of a window could show is cut, and the window says so."""
    grid = XlsxFormat().grid(workbook, GridWindow(row_start=3, column_count=1))

    assert grid.rows == (("x" * MAX_CELL_CHARACTERS + "…",),)
    assert grid.warnings == (f"texts longer than {MAX_CELL_CHARACTERS} characters are cut",)


def test_there_is_no_window_of_no_sheet(workbook: Source) -> None:
    """A sheet that is not there is refused by name."""
    with pytest.raises(ValidationFailed, match="Nowhere"):
        XlsxFormat().grid(workbook, GridWindow(sheet="Nowhere"))


def test_a_delimited_table_is_shown_by_data_rows(tmp_path: Path) -> None:
    """Rows count from 1 below the header; short rows are padded, wide ones widen all."""
    path = tmp_path / "t.csv"
    path.write_text('id,name\n1,"a, b"\n2\n3,c,extra\n', "utf-8")
    grid = CsvFormat().grid(Source(path, "t.csv"), GridWindow())

    assert grid.columns == ("id", "name", "column_3")
    assert grid.rows == (("1", "a, b", None), ("2", None, None), ("3", "c", "extra"))
    assert (grid.total_rows, grid.total_columns) == (3, 3)
    part = CsvFormat().grid(
        Source(path, "t.csv"), GridWindow(row_start=2, row_count=1, column_start=2)
    )
    assert (part.columns, part.rows) == (("name", "column_3"), ((None, None),))


def test_a_window_of_a_table_is_bounded(tmp_path: Path) -> None:
    """Past its room a window ends with whole rows, and says where."""
    path = tmp_path / "t.csv"
    line = ",".join(["y" * 399] * 100)
    path.write_text("\n".join([line] * 60) + "\n", "utf-8")
    grid = CsvFormat().grid(Source(path, "t.csv"), GridWindow(row_count=60, column_count=200))

    assert 20 <= len(grid.rows) < 60
    assert all(len(row) == 100 for row in grid.rows)
    assert grid.warnings == (f"only the rows up to {len(grid.rows)} fit into one window",)
    assert grid.total_rows in (59, 60)
