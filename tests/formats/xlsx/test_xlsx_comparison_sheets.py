"""Comparisons of workbooks whose sheets have other names or another order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from compared_books import book, compared, table, told


def test_a_renamed_sheet_is_one_change_and_formulas_follow(tmp_path: Path) -> None:
    """Formulas of other sheets that name it by its new name did not change."""

    def other(name: str) -> Callable[[Any, Any], None]:
        def change(made: Any, sheet: Any) -> None:
            sheet.title = name
            made.create_sheet("Sum")["A1"] = f"='{name}'!A2+SUM('{name}'!C2:C9)"

        return change

    before = book(tmp_path / "before.xlsx", table(20), other("Old name"))
    found = compared(before, book(tmp_path / "after.xlsx", table(20), other("New name")))

    assert told(found) == [("changed", "sheet", "New name")]
    assert found.changes[0].details["name"] == ("Old name", "New name")


def test_a_renamed_sheet_whose_rows_all_changed_is_the_same_sheet(tmp_path: Path) -> None:
    """A column that was filled differs in every row; another sheet in its place is another one."""

    def filled(_: Any, sheet: Any) -> None:
        sheet.title = "Costs"
        for row in range(1, 21):
            sheet.cell(row, 9, f"new {row}")

    def another(_: Any, sheet: Any) -> None:
        sheet.title = "Costs"
        for row in sheet.iter_rows():
            for cell in row:
                cell.value = f"other {cell.coordinate}"

    before = book(tmp_path / "before.xlsx", table(20))
    found = told(compared(before, book(tmp_path / "after.xlsx", table(20), filled)))
    assert found[0] == ("changed", "sheet", "Costs")
    assert {kind for kind, what, _ in found[1:]} == {"added"}
    found = told(compared(before, book(tmp_path / "after.xlsx", table(20), another)))
    assert {("added", "sheet", "Costs"), ("removed", "sheet", "Data")} <= set(found)


def test_sheets_in_another_order_are_moved(tmp_path: Path) -> None:
    """One sheet that moved is one change."""

    def three(made: Any, _: Any) -> None:
        for name in ("B", "C"):
            made.create_sheet(name)["A1"] = name

    def moved(made: Any, sheet: Any) -> None:
        three(made, sheet)
        made.move_sheet("C", -2)

    before = book(tmp_path / "before.xlsx", [[1]], three)
    found = compared(before, book(tmp_path / "after.xlsx", [[1]], moved))

    assert told(found) == [("moved", "sheet", "C")]
    assert found.changes[0].details["position"] == (3, 1)
