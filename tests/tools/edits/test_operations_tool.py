"""The editing tools: one for each Editable format, with the contract's rules for new files."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kbd.errors import NotFound, ValidationFailed
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import Tool
from kbd.types import Effect
from kbd_edits import kbd_register_tools
from tools.small_formats import BookFormat, LinesFormat, book

pytestmark = pytest.mark.anyio

ROWS: dict[str, Any] = {"op": "rows", "sheet": "S", "rows": [[1]]}


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    found = Workbench(tmp_path, [LinesFormat(), BookFormat()])
    found.add("old.book", book(A=([["n", "integer"]], [[1]])))
    return found


@pytest.fixture
def tool(workbench: Workbench) -> Tool:
    (only,) = kbd_register_tools(workbench.formats)
    return only


def test_a_tool_for_each_editable_format(tool: Tool) -> None:
    """Its name is built from the format's; a format without operations has none."""
    check_tool(tool)
    assert (tool.name, tool.effect) == ("book_operations", Effect.WRITE)
    assert "(rows, clear)" in tool.description


def test_the_schema_is_the_union_of_the_records(tool: Tool) -> None:
    """Each operation is told by a const `op`; docstrings are cut to their first paragraph."""
    (_,), parts = msgspec.json.schema_components([tool.arguments])
    (schema,) = parts.values()
    rows, clear = schema["properties"]["operations"]["items"]["anyOf"]
    assert rows["properties"]["op"] == {"const": "rows"}
    assert rows["required"] == ["op", "sheet", "rows"]
    assert rows["description"] == "Replace the rows of a sheet."
    assert clear["properties"]["op"] == {"const": "clear"}
    assert schema["required"] == ["path", "operations"]


async def test_an_edit_reports_what_changed(workbench: Workbench, tool: Tool) -> None:
    """The result has the contract's fields, and what was not named is kept."""
    result = await workbench.call(tool, path="draft/old.book", operations=[ROWS])
    assert result.is_action
    assert result.value == {
        "path": "old.book", "created": False, "applied": 1, "changed": ["S"],
        "warnings": ["looked at"],
    }  # fmt: skip
    assert list(json.loads(workbench.content("old.book"))) == ["A", "S"]


async def test_a_misspelt_path_is_an_error_with_near_matches(
    workbench: Workbench, tool: Tool
) -> None:
    """Nothing is made by accident."""
    with pytest.raises(NotFound, match=r"old\.book.*create_new"):
        await workbench.call(tool, path="odl.book", operations=[ROWS])
    assert workbench.files.names() == ["old.book"]


async def test_create_new_refuses_what_exists(workbench: Workbench, tool: Tool) -> None:
    """A new file is made; an existing one is not replaced."""
    made = await workbench.call(tool, path="new.book", operations=[ROWS], create_new=True)
    assert made.value["created"] is True
    with pytest.raises(ValidationFailed, match="exists"):
        await workbench.call(tool, path="old.book", operations=[ROWS], create_new=True)


async def test_create_if_missing_edits_what_is_there(workbench: Workbench, tool: Tool) -> None:
    """The first call makes the file, the second edits it."""
    for created in (True, False):
        result = await workbench.call(
            tool, path="n.book", operations=[{**ROWS, "sheet": str(created)}],
            create_if_missing=True,
        )  # fmt: skip
        assert result.value["created"] is created
    assert list(json.loads(workbench.content("n.book"))) == ["True", "False"]


async def test_copy_from_starts_a_new_file(workbench: Workbench, tool: Tool) -> None:
    """A copy may come without operations; it never replaces, and the source is not changed."""
    before = workbench.content("old.book")
    copied = await workbench.call(
        tool, path="c.book", operations=[], copy_from="published/old.book"
    )
    assert copied.value["created"] is True
    assert json.loads(workbench.content("c.book")) == json.loads(before)
    with pytest.raises(ValidationFailed, match="exists"):
        await workbench.call(tool, path="old.book", operations=[ROWS], copy_from="c.book")
    assert workbench.content("old.book") == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "z.txt", "operations": [ROWS], "create_new": True}, "not a book file"),
        ({"path": "n.book", "operations": [ROWS], "copy_from": "a.txt"}, "not a book file"),
        ({"path": "old.book", "operations": []}, "operations is empty"),
        ({"path": "old.book", "operations": [{"op": "fly"}]}, "operations"),
        ({"path": "old.book", "operations": [ROWS, {"op": "clear", "sheet": "Z"}]}, "no sheet Z"),
        ({"path": "old.book", "operations": [ROWS], "extra": 1}, "unknown field"),
    ],
)
async def test_what_is_refused_writes_nothing(
    workbench: Workbench, tool: Tool, arguments: dict[str, Any], message: str
) -> None:
    """A call is all or nothing."""
    workbench.add("a.txt", "x")
    before = workbench.content("old.book")
    with pytest.raises(ValidationFailed, match=message):
        await workbench.call(tool, **arguments)
    assert workbench.content("old.book") == before
    assert "n.book" not in workbench.files.names()
