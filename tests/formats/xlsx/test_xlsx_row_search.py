"""Rows deleted by a condition: which ones go, and what is refused because types do not agree."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.errors import ValidationFailed
from shifted_books import edit, loaded


def where(op: str, value: Any = None, column: str = "Cost", area: str = "A1:D9") -> dict[str, Any]:
    condition = {"op": op} if value is None else {"op": op, "value": value}
    return {
        "op": "delete_rows_where", "sheet": "Data", "range": area, "column": column,
        "condition": condition,
    }  # fmt: skip


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight rows with text, numbers, dates, and cells without a value."""
    book = openpyxl.Workbook()
    data = book.worksheets[0]
    data.title = "Data"
    data.append(["Item", "Cost", "Day", "Done"])
    for number, (item, cost) in enumerate(
        [("Tea", 4), ("Milk", 1.5), ("tea ", 9), (None, 20), ("Bread", None), ("Green Tea", 7),
         ("Salt", 0), ("Milk", 3)], 1
    ):  # fmt: skip
        data.append([item, cost, dt.date(2024, 1, number), number % 2 == 0])
    data["A12"] = "=COUNT(B2:B9)"
    mixed = book.create_sheet("Mixed")
    for row in (["Code", "Sum"], ["1", "=1+1"], ["x", 2]):
        mixed.append(row)
    path = tmp_path_factory.mktemp("rows") / "book.xlsx"
    book.save(path)
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("operation", "left"),
    [
        (where(">", 4), [1, 2, 5, 7, 8]),
        (where(">=", 4), [2, 5, 7, 8]),
        (where("=", 0), [1, 2, 3, 4, 5, 6, 8]),
        (where("!=", 4), [1]),
        (where("empty"), [1, 2, 3, 4, 6, 7, 8]),
        (where("not_empty"), [5]),
        (where("=", "tea", "Item"), [2, 4, 5, 6, 7, 8]),
        (where("contains", "TEA", "A"), [2, 4, 5, 7, 8]),
        (where("not_contains", "tea", "item"), [1, 3, 6]),
        (where("<", "2024-01-04", "Day"), [4, 5, 6, 7, 8]),
        (where("=", True, "Done"), [1, 3, 5, 7]),
        (where(">", 4, area="A1:D4"), [1, 2, 4, 5, 6, 7, 8]),
    ],
    ids=lambda each: str(each.get("condition")) if isinstance(each, dict) else "",
)
def test_rows_that_meet_a_condition_go(
    book: Path, tmp_path: Path, operation: dict[str, Any], left: list[int]
) -> None:
    """Just these rows go; the header stays, and so do rows outside of the range."""
    out = tmp_path / "out.xlsx"

    applied = edit(book, operation, to=out)

    data = loaded(out)["Data"]
    days = [row[2].value.day for row in data.iter_rows(min_row=2) if row[2].value]
    assert days == left
    assert data["A1"].value == "Item"
    assert f"{8 - len(left)} of " in applied.changed[0]


def test_rows_without_a_value_are_counted(book: Path, tmp_path: Path) -> None:
    """The answer says how many rows went for want of a value."""
    applied = edit(book, where("!=", 4), to=tmp_path / "out.xlsx")

    assert "7 of 8 rows deleted, 1 of them without a value there; 1 left" in applied.changed[0]


def test_nothing_is_deleted_where_nothing_is_so(book: Path, tmp_path: Path) -> None:
    """The answer says so, and the file stays."""
    applied = edit(book, where(">", 1000), to=tmp_path / "out.xlsx")

    assert "nothing deleted" in applied.changed[0]


def mixed(column: str, op: str, value: Any) -> dict[str, Any]:
    return where(op, value, column, "A1:B3") | {"sheet": "Mixed"}


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (where(">", "4"), "holds numbers, and '4' is text"),
        (where(">"), "needs a value"),
        (where("empty", 1), "takes no value"),
        (where("contains", 4), "looks for text"),
        (where("contains", "4"), "holds numbers, no text to search"),
        (where("=", "soon", "Day"), "give the value as 2024-01-31"),
        (where(">", True, "Done"), "compared with = or !="),
        (where("=", 1, "Csot"), "no column 'Csot'; its header has Cost"),
        (where("=", 1, area="A1:D1"), "no row below its header"),
        (where("=", 9, area="A1:B9"), "C4 beside A1:B9 holds something"),
        (mixed("Code", "=", 1), "numbers stored as text, which no number is compared with: A2"),
        (mixed("Sum", "=", 2), "have no result yet (B2)"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_compared_is_refused(
    book: Path, tmp_path: Path, operation: dict[str, Any], reason: str
) -> None:
    """Types that do not agree, results that are missing, and rows with more are refused."""
    with pytest.raises(ValidationFailed, match=re.escape(reason)):
        edit(book, operation, to=tmp_path / "out.xlsx")
