"""The tool that finds tables on pages, as formats get it that are laid out."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import (
    ChunkInfo,
    FormatHandler,
    FoundTable,
    FoundWord,
    LaidOut,
    LayoutPart,
    PageLayout,
    Passage,
    Reading,
    Region,
    Source,
)
from kbd.formats.records import GridMerge
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import Tool
from kbd_edits import kbd_register_tools

pytestmark = pytest.mark.anyio

BOX = (1.0, 2.0, 3.0, 4.0)


class SheafFormat(FormatHandler, LaidOut):
    """Files whose only page has one merged table that goes on, and a word."""

    name = "sheaf"
    wire_name = "Sheaf"
    kind = "sheaf"
    suffixes: ClassVar[dict[str, str]] = {".sheaf": "application/x-sheaf"}
    coordinates = ("pages",)

    def read(self, source: Source, region: Region) -> Reading:
        """Its text."""
        del source, region
        return Reading("a")

    def passages(self, source: Source) -> Iterator[Passage]:
        """None."""
        del source
        return iter(())

    def layout(self, source: Source, region: Region, show: LayoutPart) -> PageLayout:
        """The table, the word or a text that says which pages were asked for."""
        del source
        if region.pages == "9":
            raise ValidationFailed("page 9 is not one of them")
        match show:
            case "tables":
                merged = (GridMerge(1, 1, 1, 2),)
                table = FoundTable(1, BOX, (("a", ""), ("b", "c")), False, merged, True)
                return PageLayout(tables=(table,), chunk_info=ChunkInfo(0, 2, True, "1"))
            case "words":
                return PageLayout(words=(FoundWord("a", 1, BOX),))
            case "text":
                return PageLayout(text=f"pages {region.pages}", warnings=("Look.",))


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    found = Workbench(tmp_path, [SheafFormat()])
    found.add("a.sheaf", "")
    return found


@pytest.fixture
def tool(workbench: Workbench) -> Tool:
    (found,) = kbd_register_tools(workbench.formats)
    return found


async def test_tables_come_with_what_is_not_plain_about_them(
    workbench: Workbench, tool: Tool
) -> None:
    """Rows, merged cells, that it goes on, how it was found, and which part of the file it is."""
    check_tool(tool)
    assert tool.name == "sheaf_tables"
    value = (await workbench.call(tool, path="a.sheaf")).value
    (table,) = value["tables"]
    assert table["rows"] == [["a", ""], ["b", "c"]]
    assert table["found_by"] == "gaps between columns"
    assert "page before" in table["goes_on"]
    assert table["merged"] == [{"row": 1, "column": 1, "row_count": 1, "column_count": 2}]
    assert value["chunk_info"]["has_more"]


async def test_text_and_words_are_shown_instead(workbench: Workbench, tool: Tool) -> None:
    """`show` chooses the text of pages or words with boxes, of the pages that are named."""
    text = await workbench.call(tool, path="a.sheaf", pages="2-3", show="text")
    assert text.value == {"text": "pages 2-3", "warnings": ["Look."]}
    words = await workbench.call(tool, path="a.sheaf", show="words")
    assert words.value == {"words": [["a", 1, *BOX]]}


async def test_what_the_format_refuses_is_refused(workbench: Workbench, tool: Tool) -> None:
    """A page that is not there, and a file of another format, are refused in words."""
    with pytest.raises(ValidationFailed, match="page 9"):
        await workbench.call(tool, path="a.sheaf", pages="9")
    workbench.add("a.txt", "a")
    with pytest.raises(ValidationFailed, match="not a sheaf file"):
        await workbench.call(tool, path="a.txt")
