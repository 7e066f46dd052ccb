"""The tool that prints files into new ones, as it is where formats are printed."""

from pathlib import Path
from typing import ClassVar

import pytest

from kbd.errors import NotFound, ToolWorkerUnavailable, ValidationFailed
from kbd.formats import FormatHandler, Preview, Previewable, Printable, Printed, Source
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import FileRef, Tool
from kbd.types import Effect
from kbd_edits import kbd_register_tools

pytestmark = pytest.mark.anyio


class ScriptFormat(FormatHandler, Printable):
    """Files that are printed."""

    name = "script"
    wire_name = "Script"
    kind = "script"
    suffixes: ClassVar = {".script": "text/x-script"}


class SheetFormat(FormatHandler, Previewable):
    """What they are printed in."""

    name = "sheet"
    wire_name = "Sheet"
    kind = "sheet"
    suffixes: ClassVar = {".leaf": "text/x-leaf"}
    print_suffix = ".leaf"

    def preview(self, source: Source, index: int, edge_px: int) -> Preview:
        """Nothing."""
        del source, index, edge_px
        return Preview(b"", "image/png", 1, 1)


def stamped(file: FileRef, target: Path) -> Printed:
    """Print a file as a program would: its text in capitals."""
    target.write_text(file.path.read_text().upper())
    return Printed(2, "press", ("Ink may run.",))


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """A workbench with a file that is printed and one that is not, and a program."""
    made = Workbench(tmp_path, [ScriptFormat(), SheetFormat()])
    made.formats.printer = stamped
    made.add("a.script", "text")
    made.add("b.leaf", "old")
    return made


def tool_of(bench: Workbench) -> Tool:
    """The tool that prints."""
    tools = kbd_register_tools(bench.formats)
    return next(tool for tool in tools if tool.name.startswith("print"))


def test_the_tool_says_what_it_prints(bench: Workbench) -> None:
    """By its name the format that is made, in its description those that are printed."""
    tool = tool_of(bench)
    check_tool(tool)

    assert (tool.name, tool.effect) == ("print_to_leaf", Effect.WRITE)
    assert "script (.script)" in tool.description


def test_without_formats_to_print_there_is_no_tool(tmp_path: Path) -> None:
    """Neither where nothing is printed, nor where nothing is printed in."""
    for handlers in ([ScriptFormat()], [SheetFormat()], []):
        tools = kbd_register_tools(Workbench(tmp_path, handlers).formats)
        assert [tool.name for tool in tools if tool.name.startswith("print")] == []


async def test_a_file_is_printed_into_a_new_one(bench: Workbench) -> None:
    """What the program made, with its pages and warnings; the file stays as it is."""
    done = await bench.call(tool_of(bench), path="a.script", target_path="out/A.LEAF")

    assert done.value == {
        "path": "out/A.LEAF", "source": "a.script", "page_count": 2, "created": True,
        "printed_by": "press", "warnings": ["Ink may run."],
    }  # fmt: skip
    assert done.is_action
    assert (bench.content("out/A.LEAF"), bench.content("a.script")) == (b"TEXT", b"text")


@pytest.mark.parametrize(
    ("path", "target_path", "kind", "told"),
    [
        ("none.script", "c.leaf", NotFound, "none"),
        ("a.script", "b.leaf", ValidationFailed, "b.leaf"),
        ("a.script", "c.txt", ValidationFailed, "leaf"),
        ("b.leaf", "c.leaf", ValidationFailed, "already"),
    ],
)
async def test_what_cannot_be_is_refused(
    bench: Workbench, path: str, target_path: str, kind: type[Exception], told: str
) -> None:
    """Before anything is printed, and nothing lands."""
    before = bench.files.names()
    with pytest.raises(kind, match=told):
        await bench.call(tool_of(bench), path=path, target_path=target_path)

    assert bench.files.names() == before


async def test_without_a_program_it_is_refused(bench: Workbench) -> None:
    """By a code that says so; nothing lands."""
    bench.formats.printer = None
    with pytest.raises(ToolWorkerUnavailable, match="no office program"):
        await bench.call(tool_of(bench), path="a.script", target_path="c.leaf")

    assert "c.leaf" not in bench.files.names()
