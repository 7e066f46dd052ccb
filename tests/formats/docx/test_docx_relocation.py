"""Operations carried over to a version of a document in which things stand elsewhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kbd.formats import Source
from kbd_docx import DocxFormat
from made_documents import edit, made, operations, para

FORMAT = DocxFormat()
CELL = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"


def table(*rows: tuple[str, ...]) -> str:
    cells = ["".join(CELL.format(text) for text in row) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


TABLE = table(("Name", "Sum", "Note"), ("first one", "1", "a"), ("second one", "2", "b"))
TEXT = "".join(para(f"paragraph about thing {word}") for word in ("one", "two", "three", "four"))


def carried(tmp_path: Path, operation: Mapping[str, Any], *changes: Mapping[str, Any]) -> Any:
    """What an operation becomes when somebody made changes first: it, or why it cannot be."""
    path = made(tmp_path / "a.docx", f"{TEXT}{table(('other', 'table'))}{para('last')}{TABLE}")
    edit(path, *changes)
    after = path.with_name("out.docx")
    sources = Source(path, path.name), Source(after, after.name)
    found = FORMAT.relocate(operations(operation), *sources)
    return found.reason or dict(found.operations[0])


ABOVE = ({"op": "insert_paragraph", "at": 1, "text": "something new comes first"},
         {"op": "add_table", "rows": [["brand", "new"]], "after": 1})  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "moved"),
    [
        ({"op": "append_paragraph", "text": "x", "like": 2}, {"like": 3}),
        ({"op": "insert_paragraph", "at": 3, "like": 2}, {"at": 4, "like": 3}),
        ({"op": "set_paragraphs", "paragraphs": [{"text": "x", "like": 4}]}, {"like": 5}),
        ({"op": "format_paragraphs", "from": 2, "count": 2, "like": 4}, {"from": 3, "like": 5}),
        ({"op": "set_table", "table": 1, "width": 4}, {"table": 2}),
        ({"op": "format_table_cells", "table": 1, "bold": True}, {"table": 2}),
        ({"op": "insert_table_rows", "table": 1, "at": 1, "rows": [[]]}, {"table": 2}),
        ({"op": "delete_table_rows", "table": 1, "from": 1}, {"table": 2}),
        ({"op": "insert_table_columns", "table": 1, "at": 1, "columns": [[]]}, {"table": 2}),
        ({"op": "delete_table_columns", "table": 1, "from": 1}, {"table": 2}),
        ({"op": "merge_table_cells", "table": 1, "row": 0, "col": 0, "to_row": 1, "to_col": 1},
         {"table": 2}),
        ({"op": "split_table_cell", "table": 1, "row": 1, "col": 1}, {"table": 2}),
    ],
)  # fmt: skip
def test_what_stands_elsewhere_is_found(
    tmp_path: Path, operation: dict[str, Any], moved: dict[str, Any]
) -> None:
    """Paragraphs, models and tables are meant, not their numbers."""
    found = carried(tmp_path, operation, *ABOVE)
    if operation["op"] == "set_paragraphs":
        found = found["paragraphs"][0]
    assert {key: found[key] for key in moved} == moved
    assert set(found) - {"text"} == (set(operation) | set(moved)) - {"text", "paragraphs"} or (
        operation["op"] == "set_paragraphs"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"op": "insert_table_rows", "table": 1, "at": 1, "rows": [["new", "3", "c"]]},
        {"op": "delete_table_columns", "table": 1, "from": 2},
    ],
)
def test_lines_of_a_table_that_has_others_are_not_guessed(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """An operation that counts rows or columns is refused where some came or went."""
    for operation in (
        {"op": "insert_table_rows", "table": 1, "at": 2, "rows": [[]]},
        {"op": "delete_table_columns", "table": 1, "from": 0},
        {"op": "format_table_cells", "table": 1, "row": 1, "bold": True},
        {"op": "merge_table_cells", "table": 1, "row": 0, "col": 0, "to_row": 1, "to_col": 1},
    ):
        assert "rows or columns of the table" in carried(tmp_path, operation, change)


def test_a_row_that_was_swapped_is_not_guessed(tmp_path: Path) -> None:
    """The same number of rows is not enough: one that went and one that came are two changes."""
    changes = (
        {"op": "delete_table_rows", "table": 1, "from": 1},
        {"op": "insert_table_rows", "table": 1, "at": 2, "rows": [["wholly other", "9", "z"]]},
    )
    found = carried(tmp_path, {"op": "delete_table_rows", "table": 1, "from": 1}, *changes)
    assert isinstance(found, str)
    assert "not certain" in found
