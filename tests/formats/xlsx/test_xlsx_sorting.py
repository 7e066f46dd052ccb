"""Sorting of rows: the order of values, what moves along, what is refused."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.table import Table

from kbd.errors import ValidationFailed
from kbd_xlsx.edits.ranges.sort_order import CellOrder, sorted_rows
from range_edits import apply, edit, entries, values


def sort(area: str, *by: Any, header: bool = True, **more: Any) -> dict[str, Any]:
    keys = [each if isinstance(each, dict) else {"column": each} for each in by]
    return {"op": "sort_range", "sheet": "S", "range": area, "header": header, "by": keys, **more}


def made(path: Path, *rows: list[Any]) -> Any:
    book = openpyxl.Workbook()
    book.worksheets[0].title = "S"
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    return book


def column(sheet: Any, letter: str) -> list[Any]:
    return [cell.value for cell in sheet[letter]]


def test_values_are_in_the_order_of_excel(tmp_path: Path) -> None:
    """Numbers, texts without case, booleans, errors; blanks are last in both directions."""
    path = tmp_path / "in.xlsx"
    given_values = ["b", True, 10, None, "A", "#N/A", -2.5, False, "a-c", "ab", "10"]
    made(path, *([each, place] for place, each in enumerate(given_values)))

    up = edit(path, sort("A1:B11", "A", header=False))["S"]
    assert column(up, "A") == [-2.5, 10, "10", "A", "ab", "a-c", "b", False, True, "#N/A", None]
    down = edit(path, sort("A1:B11", {"column": "A", "descending": True}, header=False))["S"]
    assert column(down, "A") == ["#N/A", True, False, "b", "a-c", "ab", "A", "10", 10, -2.5, None]


def test_equal_rows_keep_their_order(tmp_path: Path) -> None:
    """A sort is stable in both directions, and later keys decide between equal rows."""
    path = tmp_path / "in.xlsx"
    made(path, ["Kind", "No"], ["b", 1], ["a", 2], ["B", 3], ["A", 4], ["a", 5])

    assert column(edit(path, sort("A:B", "Kind"))["S"], "B") == ["No", 2, 4, 5, 1, 3]
    down = edit(path, sort("A:B", {"column": "kind", "descending": True}))["S"]
    assert column(down, "B") == ["No", 1, 3, 2, 4, 5]
    both = edit(path, sort("A:B", "Kind", {"column": "B", "descending": True}))["S"]
    assert column(both, "B") == ["No", 5, 4, 2, 3, 1]


def test_cells_move_as_a_whole(tmp_path: Path) -> None:
    """Looks, links, notes and formulas of a row go along, and other cells stay."""
    path = tmp_path / "in.xlsx"
    book = made(
        path, ["Name", "Count", "Twice"], ["c", 1, "=B2*2"], ["a", 2, "=B3*2"], ["b", 3, "=B4*2"]
    )
    sheet = book["S"]
    sheet["A2"].font, sheet["B3"].fill = Font(bold=True), PatternFill("solid", fgColor="FFFF00")
    sheet["A2"].hyperlink, sheet["B2"].comment = "https://a.example/", Comment("mine", "me")
    sheet["E2"] = "stays"
    book.save(path)
    found = edit(path, sort("A1:C4", "Name"))["S"]

    assert [row[:3] for row in values(found)] == [
        ["Name", "Count", "Twice"], ["a", 2, "=B2*2"], ["b", 3, "=B3*2"], ["c", 1, "=B4*2"],
    ]  # fmt: skip
    assert (found["A4"].font.b, found["A2"].font.b) == (True, False)
    assert found["B2"].fill.fgColor.rgb == "00FFFF00"
    assert (found["A4"].hyperlink.target, found["A2"].hyperlink) == ("https://a.example/", None)
    assert (found["B4"].comment.text, found["B2"].comment) == ("mine", None)
    assert found["E2"].value == "stays"
    drawing = next(
        data for name, data in entries(path.with_name("out.xlsx")).items() if name.endswith(".vml")
    )
    assert b"Row>3</" in drawing


def test_a_sort_of_sorted_rows_changes_nothing(tmp_path: Path) -> None:
    """Sort twice is sort once: the file of the second sort is that of the first."""
    path = tmp_path / "in.xlsx"
    made(path, ["N"], [3], ["x"], [1], [2], [None], [1])
    apply(path, sort("A1:A7", "N"), to="once.xlsx")
    again = apply(path.with_name("once.xlsx"), sort("A1:A7", "N"), to="twice.xlsx")

    assert again.changed == ("S!A1:A7: sorted by A; 0 rows moved",)
    assert entries(path.with_name("once.xlsx")) == entries(path.with_name("twice.xlsx"))


def test_hidden_rows_stay(tmp_path: Path) -> None:
    """Rows that people do not see are not moved, as in Excel, and named."""
    path = tmp_path / "in.xlsx"
    book = made(path, ["N"], [3], [2], [1])
    book["S"].row_dimensions[3].hidden = True
    book.save(path)
    applied = apply(path, sort("A1:A4", "N"))

    assert applied.warnings == ("S: hidden rows stayed where they are: 3.",)
    found = openpyxl.load_workbook(path.with_name("out.xlsx"))["S"]
    assert column(found, "A") == ["N", 1, 2, 3]
    assert found.row_dimensions[3].hidden


def test_what_may_surprise_is_told(tmp_path: Path) -> None:
    """Numbers stored as text, cells beside the range and formulas over other rows are named."""
    path = tmp_path / "in.xlsx"
    made(path, ["N", "Run", "More"], ["10", "=A2", "x"], [9, "=B2+A3", "y"], [8, "=B3+A4", "z"])
    texts, beside, elsewhere = apply(path, sort("A1:B4", "N")).warnings

    assert "1 numbers of column A are stored as text" in texts
    assert "in column C, stayed" in beside
    assert elsewhere.endswith("than before: B2.")


def test_what_cannot_move_is_refused(tmp_path: Path) -> None:
    """Merged cells, arrays and the header and totals of tables are named."""
    path = tmp_path / "in.xlsx"
    book = made(path, ["N", "M", "O", "P"], *([each, 1, 1, 1] for each in range(5, 0, -1)))
    sheet = book["S"]
    sheet.merge_cells("B3:C3")
    sheet["F2"] = ArrayFormula("F2:F3", "=A2:A3")
    sheet["H1"], sheet["H2"] = "Head", 1
    sheet.add_table(Table(displayName="Tab", ref="H1:H3"))
    book.save(path)

    for area, reason in (
        ("A1:C4", "merged cells B3:C3"), ("F1:F4", "F2:F3 holds one array formula"),
    ):  # fmt: skip
        with pytest.raises(ValidationFailed, match=reason):
            apply(path, sort(area, area[0]))
    with pytest.raises(ValidationFailed, match="header of table Tab"):
        apply(path, sort("H1:H3", "H", header=False))
    assert apply(path, sort("H1:H3", "Head")).applied == 1


@given(
    rows=st.lists(
        st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "A", "é", "-a"]),
        max_size=12,
    ),
    descends=st.booleans(),
)  # fmt: skip
def test_sorting_is_stable_and_idempotent(rows: list[Any], descends: bool) -> None:
    """Whatever is sorted: no row is lost, blanks are last, and a second sort moves nothing."""

    def order(row: int) -> CellOrder | None:
        value = rows[row]
        match value:
            case None:
                return None
            case bool():
                return CellOrder.of("boolean", "1" if value else "0")
            case int():
                return CellOrder.of("number", str(value))
            case _:
                return CellOrder.of("text", value)

    once = sorted_rows(range(len(rows)), [(order, descends)])
    assert sorted(once) == list(range(len(rows)))
    assert sorted_rows(once, [(order, descends)]) == once
    held = [rows[row] for row in once]
    assert all(value is None for value in held[len(rows) - rows.count(None) :])
    for one, two in pairwise(once):
        if order(one) == order(two):
            assert one < two
