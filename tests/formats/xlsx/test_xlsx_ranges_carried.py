"""Operations on ranges and sheets carried over to a version in which rows stand elsewhere."""

from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
import pytest

from kbd.formats import Relocation, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

FORMAT = XlsxFormat()
ROWS = [[f"Item {number}", number * 3, number * 7.5] for number in range(1, 12)]


def carried(tmp_path: Path, *found: dict[str, Any]) -> Relocation:
    """Carry operations over to a version with two rows more above row 4, and a sheet moved away."""
    for name, rows in (
        ("before", ROWS),
        ("after", [*ROWS[:3], ["New one", 1000, 1.5], ["New two", 2000, 2.5], *ROWS[3:]]),
    ):
        book = openpyxl.Workbook()
        book.worksheets[0].title = "S"
        for row in rows:
            book.worksheets[0].append(row)
        book.create_sheet("T")["A1"] = "there"
        book.save(tmp_path / f"{name}.xlsx")
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    operations = tuple(msgspec.convert(list(found), list[vocabulary]))
    before, after = (Source(tmp_path / f"{name}.xlsx", "b.xlsx") for name in ("before", "after"))
    return FORMAT.relocate(operations, before, after)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "format_range", "range": "A6:B7", "style": {"font_size": 9}}, {"range": "A8:B9"}),
        ({"op": "format_range", "range": "B:C", "style": {"font_bold": True}}, {"range": "B:C"}),
        ({"op": "fill_formula", "range": "D6:D8", "formula": "=B6*$C$7"},
         {"range": "D8:D10", "formula": "=B8*$C$9"}),
        ({"op": "copy_range", "from": "A6:B7", "to": "F9"}, {"from": "A8:B9", "to": "F11"}),
        ({"op": "sort_range", "range": "A5:C9", "header": False, "by": [{"column": "B"}]},
         {"range": "A7:C11"}),
        ({"op": "replace_text", "search": "Item", "replace": "x"}, {}),
        ({"op": "rename_sheet", "name": "New"}, {}),
        ({"op": "move_sheet", "to": 2}, {"to": 2}),
        ({"op": "hide_sheet"}, {}),
        ({"op": "copy_sheet", "name": "New"}, {}),
    ],
)  # fmt: skip
def test_ranges_go_along_with_their_rows(
    tmp_path: Path, operation: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Places are where the rows are, and all else is as it was asked for."""
    asked = {"sheet": "S", **operation}
    found = carried(tmp_path, asked)

    assert found.reason is None or not found.reason
    (one,) = found.operations
    assert msgspec.json.decode(msgspec.json.encode(one)) == {**asked, **expected}


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([{"op": "sort_range", "range": "A2:C9", "header": False, "by": [{"column": "B"}]}],
         "rows were inserted into A2:C9"),
        ([{"op": "fill_formula", "range": "D1:D3", "formula": "=B2"}], "rows were inserted among"),
        ([{"op": "rename_sheet", "name": "N"},
          {"op": "format_range", "sheet": "N", "range": "A6", "style": {}}], "operations on N"),
    ],
)  # fmt: skip
def test_what_is_uncertain_is_refused(
    tmp_path: Path, operations: list[dict[str, Any]], reason: str
) -> None:
    """A range that rows came into, or a sheet that has no name of its own yet, is not guessed."""
    found = carried(tmp_path, *({"sheet": "S", **each} for each in operations))

    assert reason in (found.reason or "")
