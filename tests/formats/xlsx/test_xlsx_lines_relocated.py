"""Operations on rows and columns, carried over to a version in which rows stand elsewhere."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from compared_books import book, table
from kbd.formats import Relocation
from kbd_xlsx.relocation.operations import relocate
from shifted_books import VOCABULARY


@pytest.fixture
def carried(tmp_path: Path) -> Any:
    """Returns operations as they are where two rows were put in before row 5."""
    before = book(tmp_path / "before.xlsx", table(12))
    after = book(
        tmp_path / "after.xlsx", table(12, (4, [90, "New", 1, 2]), (5, [91, "Other", 3, 4]))
    )

    def carry(operation: dict[str, Any]) -> Relocation:
        operations = tuple(msgspec.convert([operation], VOCABULARY))
        return relocate(operations, before, after)

    return carry


@pytest.mark.parametrize(
    ("operation", "changes"),
    [
        ({"op": "insert_rows", "sheet": "Data", "row": 8, "count": 2}, {"row": 10}),
        ({"op": "insert_rows", "sheet": "Data", "row": 2}, {"row": 2}),
        ({"op": "delete_rows", "sheet": "Data", "row": 6, "count": 3}, {"row": 8}),
        ({"op": "insert_columns", "sheet": "Data", "column": "C"}, {}),
        ({"op": "delete_columns", "sheet": "Data", "column": "B"}, {}),
        (
            {
                "op": "delete_rows_where", "sheet": "Data", "range": "A6:E9", "column": "C",
                "condition": {"op": ">", "value": 3},
            },
            {"range": "A8:E11"},
        ),
    ],
    ids=lambda each: str(each.get("op", "")),
)  # fmt: skip
def test_lines_are_found_again(
    carried: Any, operation: dict[str, Any], changes: dict[str, Any]
) -> None:
    """The same rows are meant, by their numbers there; columns stand where they stood."""
    found = carried(operation)

    assert not found.reason
    assert [dict(each) for each in found.operations] == [operation | changes]


def test_rows_with_others_among_them_are_not_guessed(carried: Any) -> None:
    """Rows to delete, among which somebody put others, are a question."""
    found = carried({"op": "delete_rows", "sheet": "Data", "row": 3, "count": 4})

    assert "rows were inserted" in found.reason
