"""Boxes of comments, which are drawn in an old format, where rows and columns come and go."""

import re
from pathlib import Path

import openpyxl
import pytest
from openpyxl.comments import Comment

from range_edits import apply, entries

PLACE = re.compile(rb"Row>(\d+)<.*?Column>(\d+)<", re.DOTALL)


@pytest.mark.parametrize(
    ("operation", "places"),
    [
        ({"op": "insert_columns", "column": "A", "count": 2}, [(b"1", b"2"), (b"2", b"3")]),
        ({"op": "insert_rows", "row": 3}, [(b"1", b"0"), (b"3", b"1")]),
        ({"op": "delete_rows", "row": 2}, [(b"1", b"1")]),
        ({"op": "delete_columns", "column": "A"}, [(b"2", b"0")]),
    ],
)
def test_a_box_stays_with_its_comment(
    tmp_path: Path, operation: dict[str, object], places: list[tuple[bytes, bytes]]
) -> None:
    """Whatever prefixes the drawing has: openpyxl numbers them."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    for name in ("A2", "B3", "C4"):
        sheet[name] = name
    sheet["A2"].comment, sheet["B3"].comment = Comment("one", "me"), Comment("two", "me")
    book.save(tmp_path / "book.xlsx")
    apply(tmp_path / "book.xlsx", {"sheet": "Data", **operation})
    parts = entries(tmp_path / "out.xlsx")
    (drawing,) = (part for name, part in parts.items() if name.endswith(".vml"))
    assert b"<v:shape" not in drawing
    assert PLACE.findall(drawing) == places
