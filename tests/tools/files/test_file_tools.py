"""The file tools answer as the contract's section 4 says, and write only what is text."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kbd.errors import NotFound, SandboxViolation, ValidationFailed
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import Tool
from kbd.types import Effect, FileName
from kbd_files import kbd_register_tools
from kbd_files.file_tools import GetFileChanges
from kbd_text import TextFormat
from tools.small_formats import BookFormat, LinesFormat

pytestmark = pytest.mark.anyio


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path, [LinesFormat(), BookFormat()])


@pytest.fixture
def tools(workbench: Workbench) -> dict[str, Tool]:
    return {tool.name: tool for tool in kbd_register_tools(workbench.formats)}


def test_every_tool_keeps_its_contract(tools: dict[str, Tool]) -> None:
    """The eight tools have names, descriptions and schemas that models can be shown."""
    for tool in tools.values():
        check_tool(tool)
    effects = {name: tool.effect for name, tool in tools.items()}
    assert effects == {
        "list_files": Effect.READ,
        "get_file_info": Effect.READ,
        "get_file_map": Effect.READ,
        "get_file_changes": Effect.READ,
        "read_file": Effect.RECALL,
        "write_text_file": Effect.WRITE,
        "copy_file": Effect.WRITE,
        "recall_tool_result": Effect.RECALL,
    }


def test_read_file_teaches_the_coordinates_of_each_format(tools: dict[str, Tool]) -> None:
    """The description names, for each installed format, its coordinates and its guidance."""
    text = tools["read_file"].description
    assert "the file's map first" in text
    assert "- lines (.txt, .md): line_start, line_count. Read long files in pieces." in text
    assert "- book (.book): sheet, range. Name the sheet." in text
    assert set(tools["read_file"].arguments.__struct_fields__) == {
        "path", "sheet", "range", "section", "chunk", "slide_index", "pages",
        "line_start", "line_count",
    }  # fmt: skip


async def test_list_files_names_kind_size_and_opacity(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """A listing has the contract's fields and no others."""
    workbench.add("test.txt", "abc")
    workbench.add("x.bin", b"\0")
    listed = (await workbench.call(tools["list_files"])).value
    assert listed[0] == {
        "path": "test.txt", "kind": "text", "size_bytes": 3, "mime_type": "text/plain",
        "is_opaque": False,
    }  # fmt: skip
    assert listed[1]["is_opaque"] is True


async def test_info_adds_what_the_format_knows(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """The format's facts stand beside size and kind; an opaque file has a reason."""
    workbench.add("a.txt", "1\n2\n")
    workbench.add("x.bin", b"\0")
    info = (await workbench.call(tools["get_file_info"], path="draft/a.txt")).value
    assert (info["path"], info["line_count"]) == ("a.txt", 2)
    assert (await workbench.call(tools["get_file_info"], path="x.bin")).value["reason"]


async def test_map_and_read(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """A map has no contents; a region has its text and where it stands."""
    workbench.add("readme.md", "one\ntwo\nthree\n")
    assert (await workbench.call(tools["get_file_map"], path="readme.md")).value == {
        "line_count": 3
    }
    whole = (await workbench.call(tools["read_file"], path="readme.md")).value
    assert whole == {"text": "one\ntwo\nthree\n"}
    part = await workbench.call(tools["read_file"], path="readme.md", line_start=2, line_count=1)
    assert part.value["text"] == "two\n"
    assert part.value["chunk_info"]["has_more"] is True


@pytest.mark.parametrize("name", ["read_file", "get_file_map"])
async def test_an_opaque_file_is_refused_with_the_reason(
    workbench: Workbench, tools: dict[str, Tool], name: str
) -> None:
    """The model learns why a file cannot be read."""
    workbench.add("x.bin", b"\0")
    with pytest.raises(ValidationFailed, match=r"x\.bin cannot be .*no installed format"):
        await workbench.call(tools[name], path="x.bin")


async def test_coordinates_of_another_format_are_refused(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """The message says which coordinates the file takes."""
    workbench.add("a.txt", "x")
    with pytest.raises(ValidationFailed, match="not read by sheet; it takes line_start"):
        await workbench.call(tools["read_file"], path="a.txt", sheet="S")


async def test_paths_are_refused_or_corrected(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """A misspelt name is answered with near ones; a climbing one is a violation."""
    workbench.add("report.txt", "x")
    with pytest.raises(NotFound, match=r"report\.txt"):
        await workbench.call(tools["read_file"], path="reprot.txt")
    with pytest.raises(SandboxViolation):
        await workbench.call(tools["read_file"], path="../report.txt")
    with pytest.raises(ValidationFailed, match="unknown field"):
        await workbench.call(tools["read_file"], path="report.txt", sheets="x")


async def test_writing_makes_and_replaces(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """The result names path, bytes and whether the file is new; the text is there exactly."""
    first = await workbench.call(tools["write_text_file"], path="out.txt", content="é\r\n")
    assert first.value == {"path": "out.txt", "bytes": 4, "created": True}
    assert first.is_action
    assert workbench.content("out.txt") == "é\r\n".encode()
    again = await workbench.call(tools["write_text_file"], path="draft/out.txt", content="")
    assert again.value == {"path": "out.txt", "bytes": 0, "created": False}


@pytest.mark.parametrize(
    ("path", "message"),
    [("a.book", "book_operations"), ("a.pdf", "can be written as text"), ("OLD.txt", "exists")],
)
async def test_only_text_is_written(
    workbench: Workbench, tools: dict[str, Tool], path: str, message: str
) -> None:
    """Formats with operations, opaque kinds and names that differ only in case are refused."""
    workbench.add("old.txt", "x")
    with pytest.raises(ValidationFailed, match=message):
        await workbench.call(tools["write_text_file"], path=path, content="x")
    assert workbench.files.names() == ["old.txt"]


async def test_a_copy_has_every_byte_and_the_file_stays(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """A file that no format reads is copied too; what it reaches out to goes with it."""
    data = bytes(range(256)) * 300
    workbench.add("photo.RAW", data)
    made = await workbench.call(tools["copy_file"], path="photo.RAW", target_path="a/b/New.raw")
    assert made.value == {"path": "a/b/New.raw", "copied_from": "photo.RAW", "bytes": len(data)}
    assert made.is_action
    assert workbench.content("a/b/New.raw") == workbench.content("photo.RAW") == data


@pytest.mark.parametrize(
    ("path", "target", "message"),
    [
        ("old.txt", "new.md", "must end with .txt"),
        ("old.txt", "new", "must end with .txt"),
        ("plain", "plain.txt", "must have no suffix"),
        ("old.txt", "OLD.txt", "exists"),
        ("old.txt", "plain", "exists"),
    ],
)
async def test_a_copy_is_a_new_file_of_its_format(
    workbench: Workbench, tools: dict[str, Tool], path: str, target: str, message: str
) -> None:
    """A name that is taken, in another case, too, or that tells of another format is refused."""
    workbench.add("old.txt", "x")
    workbench.add("plain", "y")
    with pytest.raises(ValidationFailed, match=message):
        await workbench.call(tools["copy_file"], path=path, target_path=target)
    assert workbench.files.names() == ["old.txt", "plain"]


async def test_recall_pages_the_stored_result(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """The pages put together are the stored JSON text; they are shown whole."""
    workbench.add("a.txt", "é" * 25_000)
    read = await workbench.call(tools["read_file"], path="a.txt")
    pages: list[dict[str, Any]] = []
    offset = 0
    while not pages or pages[-1]["has_more"]:
        result = await workbench.call(tools["recall_tool_result"], entry_id=1, offset=offset)
        assert result.is_action
        pages.append(result.value)
        offset = pages[-1].get("next_offset", 0)
    assert [len(page["text"]) for page in pages] == [16_000, pages[0]["total"] - 16_000]
    assert msgspec.json.decode("".join(page["text"] for page in pages)) == read.value


async def test_recall_of_an_unknown_entry(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """There is no result to show."""
    with pytest.raises(NotFound):
        await workbench.call(tools["recall_tool_result"], entry_id=7)


async def test_changes_are_told_by_place(tmp_path: Path) -> None:
    """A line a change with both sides, in pages; a new file is all added, an equal one none."""
    workbench = Workbench(tmp_path, [TextFormat()])
    tools = {tool.name: tool for tool in kbd_register_tools(workbench.formats)}
    changes, write = tools["get_file_changes"], tools["write_text_file"]
    workbench.add("a.txt", "".join(f"line {n}\n" for n in range(100)))
    told = (await workbench.call(changes, path="a.txt")).value
    assert told == {"path": "a.txt", "since": "draft", "counts": {}, "changed": []}

    lines = "".join(f"{'LINE' if n % 2 else 'line'} {n}\n" for n in range(100))
    await workbench.call(write, path="a.txt", content=lines)
    await workbench.call(write, path="new.txt", content="one\ntwo\n")
    told = (await workbench.call(changes, path="draft/a.txt")).value
    assert told["counts"] == {"line changed": 50}
    assert (len(told["changed"]), told["not_shown"]) == (40, 10)
    assert told["changed"][0] == "changed line 2: line 1 -> LINE 1"
    last = (await workbench.call(changes, path="a.txt", offset=48, limit=5)).value
    assert last["changed"][-1] == "changed line 100: line 99 -> LINE 99"
    assert "not_shown" not in last
    new = (await workbench.call(changes, path="new.txt")).value
    assert new["changed"] == ["added lines 1-2: one two"]


async def test_changes_that_cannot_be_told_are_refused(tmp_path: Path) -> None:
    """A file that is not there, a format without sheets, a kind that nothing compares."""
    workbench = Workbench(tmp_path, [TextFormat()])
    tool = GetFileChanges(workbench.formats)
    workbench.add("a.txt", "a")
    workbench.add("a.bin", "a")
    workbench.files.store(FileName("a.txt"), b"b")
    workbench.files.store(FileName("a.bin"), b"b")

    assert "text" in tool.description.rpartition("Formats:")[2]
    for arguments, kind, message in (
        ({"path": "b.txt"}, NotFound, "there is no file b.txt"),
        ({"path": "../a.txt"}, SandboxViolation, "not the name of a file"),
        ({"path": "a.txt", "since": "item"}, ValidationFailed, "there is no item under way"),
        ({"path": "a.bin"}, ValidationFailed, "cannot be compared"),
    ):
        with pytest.raises(kind, match=message):
            await workbench.call(tool, **arguments)
