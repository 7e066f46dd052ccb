"""Fields of operations that name other files of the workbench: found, looked up, handed over."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from kbd.errors import NotFound, SandboxViolation, ValidationFailed
from kbd.formats import Applied, Editable, FilePath, FormatHandler, Source, named_files
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_edits import kbd_register_tools
from tools.small_formats import LinesFormat

pytestmark = pytest.mark.anyio


class Put(msgspec.Struct, frozen=True, tag="put", tag_field="op"):
    """Put a file in."""

    image: FilePath
    other: FilePath | None = None
    text: str = ""


class Say(msgspec.Struct, frozen=True, tag="say", tag_field="op"):
    """Say something."""

    image: str


class FrameFormat(FormatHandler, Editable):
    """A format whose files are the names and bytes of others."""

    name = "frame"
    wire_name = "Frame"
    kind = "frame"
    suffixes: ClassVar[Mapping[str, str]] = {".frame": "text/plain"}
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = (Put, Say)

    def info(self, source: Source) -> dict[str, Any]:
        """Return nothing."""
        del source
        return {}

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Write that nothing was put in."""
        del source
        target.write_text("nothing")
        return Applied(len(operations), ("nothing",))

    def apply_with_files(
        self,
        source: Source | None,
        operations: tuple[msgspec.Struct, ...],
        target: Path,
        files: Mapping[str, Source],
    ) -> Applied:
        """Write each file that is put in."""
        del source
        texts = [f"{key}={file.name}:{file.path.read_text()}" for key, file in files.items()]
        target.write_text("\n".join(texts))
        return Applied(len(operations), tuple(texts))


class ClosedFormat(FrameFormat):
    """The same, which never learned to take other files."""

    apply_with_files = Editable.apply_with_files


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    found = Workbench(tmp_path, [LinesFormat(), FrameFormat()])
    found.add("a.txt", "first")
    found.add("sub/b.txt", "second")
    return found


@pytest.fixture
def tool(workbench: Workbench) -> Tool:
    (only,) = kbd_register_tools(workbench.formats)
    return only


async def test_only_fields_of_the_type_name_files() -> None:
    """Each path once, in order, optional fields too; what is ill-formed names nothing."""
    operations: list[Any] = [
        {"op": "put", "image": "b.png", "text": "no.png"}, {"op": "say", "image": "no.png"},
        {"op": "put", "image": "a.png", "other": "b.png"}, {"op": "put", "image": 5},
        {"op": ["put"]}, "put", {},
    ]  # fmt: skip

    assert named_files((Put, Say), operations) == ("b.png", "a.png")
    assert named_files((Say,), operations) == ()


async def test_files_are_handed_over_by_the_paths_given(workbench: Workbench, tool: Tool) -> None:
    """A path may begin with draft/, as everywhere; the format gets the file under that text."""
    puts = [{"op": "put", "image": "draft/a.txt", "other": "sub/b.txt"}]
    await workbench.call(tool, path="x.frame", create_new=True, operations=puts)

    assert workbench.content("x.frame") == b"draft/a.txt=a.txt:first\nsub/b.txt=sub/b.txt:second"


async def test_without_such_a_field_nothing_changes(workbench: Workbench, tool: Tool) -> None:
    """Operations that name no file go to `apply`, as those of formats that know of none."""
    say = [{"op": "say", "image": "a.txt"}]
    await workbench.call(tool, path="x.frame", create_new=True, operations=say)

    assert workbench.content("x.frame") == b"nothing"


@pytest.mark.parametrize("path", ["../a.txt", "/etc/passwd", "sub/../../a.txt", "meta/log", "a\0"])
async def test_no_path_leaves_the_workbench(workbench: Workbench, tool: Tool, path: str) -> None:
    """A path that leads out is refused before anything is opened; nothing is written."""
    puts = [{"op": "put", "image": path}]
    with pytest.raises(SandboxViolation):
        await workbench.call(tool, path="x.frame", create_new=True, operations=puts)
    with pytest.raises(NotFound):
        workbench.content("x.frame")


async def test_a_file_that_there_is_not_is_named(workbench: Workbench, tool: Tool) -> None:
    """A misspelt name is an error with near matches."""
    puts = [{"op": "put", "image": "aa.txt"}]
    with pytest.raises(NotFound, match=r"a\.txt"):
        await workbench.call(tool, path="x.frame", create_new=True, operations=puts)


async def test_a_format_that_takes_none_says_so(tmp_path: Path) -> None:
    """Declared fields without `apply_with_files` are refused, and not passed over."""
    workbench = Workbench(tmp_path, [LinesFormat(), ClosedFormat()])
    workbench.add("a.txt", "first")
    (tool,) = kbd_register_tools(workbench.formats)
    puts = [{"op": "put", "image": "a.txt"}]
    with pytest.raises(ValidationFailed, match="take no other files"):
        await workbench.call(tool, path="x.frame", create_new=True, operations=puts)
