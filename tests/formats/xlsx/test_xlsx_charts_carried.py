"""Operations on charts carried over to a version in which rows stand elsewhere."""

from pathlib import Path
from typing import Any

import openpyxl

from charted_books import FORMAT, months_book, records
from kbd.formats import Relocation, Source


def carried(tmp_path: Path, operation: dict[str, Any]) -> Relocation:
    """Carry an operation over to a version with two more rows above row 4 of "My data"."""
    before, after = months_book(tmp_path / "before.xlsx"), tmp_path / "after.xlsx"
    book = openpyxl.load_workbook(before)
    book["My data"].insert_rows(4, 2)
    for row in (4, 5):
        for column in range(1, 6):
            book["My data"].cell(row, column, f"new {row} {column}")
    book.save(after)
    sources = Source(before, "book.xlsx"), Source(after, "book.xlsx")
    return FORMAT.relocate(records(operation), *sources)


def test_ranges_and_places_move_with_their_rows(tmp_path: Path) -> None:
    """Series, categories, names and the place of a new chart are where their cells are."""
    found = carried(tmp_path, {
        "op": "add_chart", "sheet": "Other", "type": "line", "place": "F2",
        "series": [
            {"values": "'My data'!C6:C7", "categories": "'My data'!A6:A7", "name": "='My data'!B6"},
            {"values": "Sums[Amount]", "name": "C6"},
        ],
    })  # fmt: skip

    assert found.is_shifted
    (operation,) = found.operations
    assert operation["place"] == "F2"
    assert list(operation["series"]) == [
        {"values": "'My data'!C8:C9", "categories": "'My data'!A8:A9", "name": "='My data'!B8"},
        {"values": "Sums[Amount]", "name": "C6"},
    ]  # fmt: skip


def test_a_column_that_looks_like_a_cell_stays(tmp_path: Path) -> None:
    """Beside a table `categories` is the name of a column, the table's range moves."""
    found = carried(tmp_path, {
        "op": "add_chart", "sheet": "My data", "type": "pie", "place": "G6:K7",
        "table": "A6:C7", "categories": "C6",
    })  # fmt: skip

    (operation,) = found.operations
    assert (operation["table"], operation["categories"]) == ("A8:C9", "C6")
    assert operation["place"] == "G8:K9"


def test_a_chart_by_its_index_is_uncertain(tmp_path: Path) -> None:
    """Its name is carried over; an index may be that of another chart there."""
    change = {"op": "set_chart", "sheet": "My data", "title": "x", "series": [{"values": "C6:C7"}]}
    named = carried(tmp_path, change | {"chart": "Chart 1"})
    numbered = carried(tmp_path, change | {"chart": 0})
    written = carried(tmp_path, change | {"chart": "0"})

    assert list(named.operations[0]["series"]) == [{"values": "C8:C9"}]
    assert "give its name" in numbered.reason
    assert "give its name" in written.reason


def test_type_and_scales_go_along(tmp_path: Path) -> None:
    """What a change says of type, labels and axes is the same there."""
    change = {
        "op": "set_chart", "sheet": "My data", "chart": "Chart 1", "type": "line",
        "labels": "value", "stacked": False, "y_axis": {"min": 1, "max": "auto", "log": True},
    }  # fmt: skip
    (operation,) = carried(tmp_path, change).operations
    assert operation == change
