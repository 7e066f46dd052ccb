"""The tools of Styled formats: what a file looks like, and how another one gets that."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbd.errors import NotFound, ValidationFailed
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import Tool
from kbd.types import Effect
from kbd_edits import kbd_register_tools
from tools.small_formats import BookFormat, LinesFormat, StyledBook, styled

pytestmark = pytest.mark.anyio


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    found = Workbench(tmp_path, [LinesFormat(), StyledBook()])
    found.add("old.book", styled(A="bold", Web="//example.org/x"))
    found.add("plain.book", json.dumps({"S": {"columns": [], "rows": [[1]]}}))
    found.add("a.txt", "text")
    return found


@pytest.fixture
def tools(workbench: Workbench) -> dict[str, Tool]:
    return {tool.name: tool for tool in kbd_register_tools(workbench.formats)}


def test_a_styled_format_gets_two_tools_more(tools: dict[str, Tool]) -> None:
    """One looks and may be called in research, one writes; both keep the rules for tools."""
    assert list(tools) == ["book_operations", "book_get_styles", "book_copy_assets"]
    for tool in tools.values():
        check_tool(tool)
    assert tools["book_get_styles"].effect is Effect.READ
    assert tools["book_copy_assets"].effect is Effect.WRITE


def test_a_format_without_styles_has_neither(tmp_path: Path) -> None:
    """No tool is offered that can but refuse."""
    found = Workbench(tmp_path, [LinesFormat(), BookFormat()])
    assert [tool.name for tool in kbd_register_tools(found.formats)] == ["book_operations"]


async def test_styles_are_told(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """Of the whole file, or of one sheet; with what can be copied."""
    tool = tools["book_get_styles"]
    whole = await workbench.call(tool, path="published/old.book")
    assert whole.value["styles"] == {"A": "bold", "Web": "//example.org/x"}
    one = await workbench.call(tool, path="old.book", sheet="A")
    assert one.value["assets"] == [{"asset_id": "style:A", "kind": "style"}]


async def test_assets_are_copied(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """By name, or with the place where they go; what is in the target stays."""
    before = workbench.content("old.book")
    result = await workbench.call(
        tools["book_copy_assets"], source_path="old.book", target_path="plain.book",
        assets=["style:A", {"asset_id": "style:A", "target": "S"}],
    )  # fmt: skip
    assert result.is_action
    assert result.value == {
        "copied": ["style:A -> A", "style:A -> S"], "copied_count": 2, "warnings": [],
    }  # fmt: skip
    assert json.loads(workbench.content("plain.book"))["S"] == {
        "columns": [], "rows": [[1]], "style": "bold",
    }  # fmt: skip
    assert workbench.content("old.book") == before


async def test_a_target_that_does_not_exist_is_made(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """It holds what was copied and nothing else."""
    await workbench.call(
        tools["book_copy_assets"], source_path="old.book", target_path="draft/new.book",
        assets=[{"asset_id": "style:A", "target": "Report"}],
    )  # fmt: skip
    assert list(json.loads(workbench.content("new.book"))) == ["Report"]


async def test_what_a_file_reaches_out_to_is_said_and_stays(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """It is among the warnings, a later edit does not hide it, and a copy of the file has it."""
    result = await workbench.call(
        tools["book_copy_assets"], source_path="old.book", target_path="plain.book",
        assets=["style:Web"],
    )  # fmt: skip
    assert result.value["warnings"] == ["Web: //example.org/x"]
    edit: dict[str, Any] = {"operations": [{"op": "rows", "sheet": "S", "rows": [[2]]}]}
    edited = await workbench.call(tools["book_operations"], path="plain.book", **edit)
    assert edited.value["warnings"] == ["looked at"]
    copied = await workbench.call(
        tools["book_operations"], path="copy.book", copy_from="plain.book", **edit
    )
    assert copied.value["warnings"] == ["looked at", "Web: //example.org/x"]
    for name in ("plain.book", "copy.book"):
        assert workbench.files.get(name).external == ("Web: //example.org/x",)
    assert workbench.files.get("old.book").external == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "fault", "message"),
    [
        ("get_styles", {"path": "a.txt"}, ValidationFailed, "not a book file"),
        ("get_styles", {"path": "old.book", "sheet": "Z"}, ValidationFailed, "no sheet Z"),
        ("get_styles", {"path": "odl.book"}, NotFound, r"old\.book"),
        ("copy_assets", {"assets": []}, ValidationFailed, "length"),
        ("copy_assets", {"assets": ["style:Z"]}, ValidationFailed, "no asset style:Z"),
        ("copy_assets", {"assets": ["style:A", "x"]}, ValidationFailed, "no asset x"),
        ("copy_assets", {"assets": [{"id": "style:A"}]}, ValidationFailed, "unknown field|missing"),
        ("copy_assets", {"source_path": "none.book"}, NotFound, "there is no file"),
        ("copy_assets", {"source_path": "a.txt"}, ValidationFailed, "not a book file"),
        ("copy_assets", {"target_path": "a.txt"}, ValidationFailed, "not a book file"),
        ("copy_assets", {"target_path": "new.txt"}, ValidationFailed, "not a book file"),
    ],
)
async def test_what_is_refused_writes_nothing(
    workbench: Workbench, tools: dict[str, Tool], tool: str, arguments: dict[str, Any],
    fault: type[Exception], message: str,
) -> None:  # fmt: skip
    """The code is that of the fault, and all files are as they were."""
    given = arguments
    if tool == "copy_assets":
        good = {"source_path": "old.book", "target_path": "plain.book", "assets": ["style:A"]}
        given = {**good, **arguments}
    before = {name: workbench.content(name) for name in workbench.files.names()}
    with pytest.raises(fault, match=message):
        await workbench.call(tools[f"book_{tool}"], **given)
    assert {name: workbench.content(name) for name in workbench.files.names()} == before


def test_progress_shows_the_file_that_is_written(tools: dict[str, Tool]) -> None:
    """Of the two paths of a copy, the one that changes."""
    tool = tools["book_copy_assets"]
    arguments = tool.arguments(source_path="a", target_path="b", assets=["x:y"])
    assert tool.path_of(arguments) == "b"
