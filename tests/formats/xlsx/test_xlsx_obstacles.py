"""Rows beside what stands on a sheet: filled cells, formulas and totals are never passed over."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.errors import ValidationFailed
from kbd.formats import Placement
from written_rows import write

ROWS: list[list[Any]] = [["Item", "Amount"], ["a", 1], ["b", 2], ["Total", 3]]


def made(path: Path, rows: list[list[Any]]) -> Path:
    """Make a workbook of another program whose sheet S has some rows."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "S"
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def below(path: Path, rows: list[list[Any]] | None = None) -> Any:
    """Append rows to the sheet S."""
    placement = Placement("S", "append_rows")
    return write(path, path.with_name("b.xlsx"), rows or [["c", 4]], placement)


def test_filled_cells_are_named(tmp_path: Path) -> None:
    """Rows over filled cells are written with a word on which; over blank ones without."""
    start = made(tmp_path / "a.xlsx", ROWS)
    placement = Placement("S", "write_range", "A3", include_header=False)
    written = write(start, tmp_path / "b.xlsx", [["x", 5], ["y", 6], ["z", 7]], placement)
    assert "4 filled cell(s) of S were overwritten: A3, B3, A4, B4." in written.warnings
    placement = Placement("S", "write_range", "D1")
    written = write(start, tmp_path / "c.xlsx", [["x", 5]], placement)
    assert not any("filled cell" in warning for warning in written.warnings)


@pytest.mark.full
def test_emptied_cells_are_counted(tmp_path: Path) -> None:
    """What was asked to be emptied is told, formulas with it."""
    start = made(tmp_path / "a.xlsx", [*ROWS[:3], ["Total", "=SUM(B2:B3)"]])
    placement = Placement("S", "write_range", "A2", include_header=False, clear_target_range=True)
    written = write(start, tmp_path / "b.xlsx", [["x", 5]], placement)
    told = "6 filled cell(s) of S were emptied, 1 of them with formulas: A2, B2, A3, B3, A4 and 1"
    assert any(warning.startswith(told) for warning in written.warnings)


def test_formulas_are_not_written_over(tmp_path: Path) -> None:
    """A total with a formula is refused as a target, and no file is made."""
    start = made(tmp_path / "a.xlsx", [*ROWS[:3], ["Total", "=SUM(B2:B3)"]])
    placement = Placement("S", "write_range", "A3", include_header=False)
    with pytest.raises(ValidationFailed, match=r"1 cell\(s\) hold formulas \(B4 =SUM\(B2:B3\)\)"):
        write(start, tmp_path / "b.xlsx", [["x", 5], ["y", 6]], placement)
    assert not (tmp_path / "b.xlsx").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    "total",
    [["Total", 3], ["Zwischensumme:", 3], [None, "=SUM(B2:B3)"], ["x", "=SUBTOTAL(9,B2:B3)"]],
)
def test_rows_do_not_go_below_a_total(tmp_path: Path, total: list[Any]) -> None:
    """A sheet that ends with one is refused, with how to do it."""
    start = made(tmp_path / "a.xlsx", [*ROWS[:3], total])
    with pytest.raises(ValidationFailed, match=r"row 4 of sheet S is a total .*clear_range"):
        below(start)
    assert not (tmp_path / "b.xlsx").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("last", "is_told"),
    [
        (["Total", 99], True),
        (["Total", "2024-01-01"], False),
        (["c", 3], False),
        (["c", "=B3*2"], False),
        (["c", "=SUM(D9:D10)"], False),
    ],
)
def test_rows_go_below_others(tmp_path: Path, last: list[Any], *, is_told: bool) -> None:
    """A label whose figure does not add up is told of; anything else is a row."""
    start = made(tmp_path / "a.xlsx", [*ROWS[:3], last])
    written = below(start)
    assert written.written_range == "A5:B5"
    assert any("may be a total" in warning for warning in written.warnings) == is_told
