"""What is not the same twice is found; what the built-in plugins return and write is."""

import random
import time
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from backends import on_trio
from kbd.formats import FormatHandler, Mappable, Source
from kbd.testing.formats import write_rows
from kbd.testing.promises import check_plain
from kbd.testing.steadiness import check_call, check_steady
from kbd.testing.tools import Workbench
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect
from kbd_csv import CsvFormat
from kbd_docx import DocxFormat
from kbd_edits.edit_tools import operations_tool
from kbd_image import ImageFormat
from kbd_odp import OdpFormat
from kbd_odt import OdtFormat
from kbd_pdf import PdfFormat
from kbd_pptx import PptxFormat
from kbd_tables import kbd_register_tools
from kbd_text.handler import TextFormat
from kbd_xlsx import XlsxFormat
from odp_decks import rich_deck_file
from whole.seeded_operations import operations
from whole.seeded_runs import FOLDERS, made

QUERY = "SELECT now(), current_date, random(), uuid(), a FROM data USING SAMPLE 2 ROWS"


class Shuffled(FormatHandler, Mappable):
    """A format whose map is in the order of a set."""

    name: ClassVar[str] = "shuffled"
    wire_name: ClassVar[str] = "Shuffled"
    kind: ClassVar[str] = "text"
    suffixes: ClassVar[dict[str, str]] = {".shuffled": "text/plain"}

    def map(self, source: Source) -> dict[str, Any]:
        """Return the words."""
        return {"words": list(set(source.path.read_text().split()))}


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class Fickle(Tool):
    """A tool that answers otherwise each time."""

    name: ClassVar[str] = "fickle"
    description = "for tests"
    arguments = Nothing
    effect: ClassVar[Effect] = Effect.READ

    def __init__(self, *measured: str) -> None:
        self._measured = measured

    async def run(self, context: ToolContext, arguments: Nothing) -> ToolResult:
        """Tell how long something took."""
        return ToolResult({"a": 1, "took": random.random()}, measured=self._measured)


@pytest.mark.full
def test_the_order_of_a_set_is_found(tmp_path: Path) -> None:
    """Another process has another hash seed, so a set that leaks is told by what it is in."""
    words = {"a.shuffled": " ".join(str(number) for number in range(50)).encode()}
    with pytest.raises(AssertionError, match=r"a\.shuffled: map is the same each time"):
        check_steady(Shuffled(), words, tmp_path)


def test_another_time_zone_is_found() -> None:
    """The second time a check asks, it is elsewhere; afterwards all is as before."""
    with pytest.raises(AssertionError, match="hour is the same each time"):
        check_plain("hour", lambda: {"hour": time.strftime("%H:%M", time.localtime(0))})
    check_plain("hour", lambda: {"hour": time.strftime("%H:%M", time.gmtime(0))})


@pytest.mark.anyio
async def test_what_is_measured_must_be_declared(tmp_path: Path) -> None:
    """A field that no second call can return fails the check, unless the tool says so."""
    (tmp_path / "said").mkdir()
    with pytest.raises(AssertionError, match="fickle returns the same each time"):
        await check_call(Workbench, Fickle(), tmp_path)
    assert (await check_call(Workbench, Fickle("took"), tmp_path / "said")).value["a"] == 1


@pytest.mark.anyio
@on_trio
@pytest.mark.full
async def test_the_tools_are_steady(tmp_path: Path) -> None:
    """A query that asks for the time and for chance, an export and an edit are the same twice."""
    formats = [CsvFormat(), XlsxFormat()]

    def workbench(folder: Path) -> Workbench:
        made = Workbench(folder, formats)
        made.add("a.csv", "a\n1\n2\n3\n4\n5\n")
        return made

    tools = {t.name: t for t in kbd_register_tools({}, workbench(tmp_path / "any").formats)}
    edit = operations_tool(formats[1], XlsxFormat.operations)
    cells = {"op": "set_range", "sheet": "S", "start": "A1", "values": [[1, "a"]]}
    calls: list[tuple[Tool, dict[str, Any]]] = [
        (tools["table_query"], {"path": "a.csv", "query": QUERY}),
        (tools["table_export"], {"path": "a.csv", "target_path": "o.xlsx", "format": "xlsx",
                                 "query": QUERY}),
        (edit, {"path": "n.xlsx", "create_new": True,
                "operations": [{"op": "ensure_sheet", "sheet": "S"}, cells]}),
    ]  # fmt: skip
    for count, (tool, arguments) in enumerate(calls):
        (tmp_path / f"{count}").mkdir()
        assert (await check_call(workbench, tool, tmp_path / f"{count}", **arguments)).value


def test_a_table_is_steady(tmp_path: Path) -> None:
    """The smallest format, in the first tier: read, written, and in another process."""
    rows = write_rows(tmp_path / "rows", [["a", "integer"], ["b", "string"]], [[1, "x"], [2, "y"]])
    check_steady(CsvFormat(), {"a.csv": b"a,b\n1,\xfc\n"}, tmp_path, rows=rows)


@pytest.mark.full
@pytest.mark.corpora
def test_all_formats_are_steady(corpora: Path, tmp_path: Path) -> None:
    """Every built-in format, on real files: all questions, edits and tables, in two processes."""
    handlers: list[FormatHandler] = [
        CsvFormat(), DocxFormat(), ImageFormat(), PdfFormat(), PptxFormat(), XlsxFormat(),
    ]  # fmt: skip
    rows = write_rows(tmp_path / "rows", [["a", "integer"], ["d", "date"]], [[1, "2024-02-29"]])
    for folder, handler in zip(FOLDERS, handlers, strict=True):
        work = tmp_path / folder
        work.mkdir()
        files = sorted((corpora / folder).iterdir())[::20]
        chance = random.Random(folder)
        edits = []
        if folder in ("docx", "pptx", "xlsx"):
            edits = [operations(folder, chance, {}, 3) for _ in range(20)]
        check_steady(handler, {path.name: path for path in files}, work, edits=edits, rows=rows)
    note, letter = made(tmp_path / "made")
    deck = rich_deck_file(tmp_path / "deck.odp")
    for each, path in ((TextFormat(), note), (OdtFormat(), letter), (OdpFormat(), deck)):
        (tmp_path / each.name).mkdir()
        check_steady(each, {path.name: path}, tmp_path / each.name)
