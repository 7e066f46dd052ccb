"""The search tools answer in the workspace API's shapes, and their receipts are worth reading."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kbd.core.agent.context_window import RECEIPT_BYTES, truncate_result
from kbd.errors import NotFound, ValidationFailed
from kbd.search import FoundChunk, FoundChunks, KnownDocument, Summary
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import Tool, ToolResult
from kbd.types import Effect, FileName
from kbd_search import kbd_register_tools
from tools.small_formats import BookFormat, LinesFormat

pytestmark = pytest.mark.anyio

TOOLS = {tool.name: tool for tool in kbd_register_tools()}


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path, [LinesFormat(), BookFormat()])
    bench.add("notes/guide.txt", "Python runs on the mill.\nIt grinds corn.\n")
    bench.add("salt.md", "Salt pays the toll.\n")
    bench.add("photo.raw", b"\0\1")
    return bench


def test_every_tool_keeps_its_contract() -> None:
    """Names, descriptions and schemas that models can be shown; all of them only read."""
    for tool in TOOLS.values():
        check_tool(tool)
    assert list(TOOLS) == [
        "workspace_search", "workspace_list_docs", "workspace_get_doc", "workspace_summarize",
    ]  # fmt: skip
    assert {tool.effect for tool in TOOLS.values()} == {Effect.READ}


def test_the_search_teaches_when_to_search() -> None:
    """And how to read on: which tool, by which coordinates."""
    text = TOOLS["workspace_search"].description
    for named in ("read_file", "get_file_map", "table tools", "metadata", "warnings"):
        assert named in text


async def test_a_search_tells_where_each_piece_stands(workbench: Workbench) -> None:
    """Every field of the API, and the coordinates that read_file takes."""
    result = await workbench.call(TOOLS["workspace_search"], query="mill corn", top_k=2)

    assert result.value["total"] == 1
    assert result.value["ranker"] == "bm25"
    assert "warnings" not in result.value
    (piece,) = result.value["documents"]
    assert piece.keys() == {
        "chunk_id", "doc_id", "text", "snippet", "score", "filename", "place", "metadata",
    }  # fmt: skip
    assert piece["filename"] == "notes/guide.txt"
    assert piece["score"] == 1.0
    assert piece["metadata"]["lines"][0] == 1


async def test_documents_are_listed_and_read(workbench: Workbench) -> None:
    """By id or title, and what cannot be read is none."""
    listed = (await workbench.call(TOOLS["workspace_list_docs"])).value
    first = listed["documents"][0]
    by_id = await workbench.call(TOOLS["workspace_get_doc"], doc_id=first["doc_id"])
    by_title = await workbench.call(TOOLS["workspace_get_doc"], title="guide", doc_id="")

    assert [each["path"] for each in listed["documents"]] == ["notes/guide.txt", "salt.md"]
    assert first.keys() == {"doc_id", "title", "path"}
    assert by_id.value == by_title.value
    assert by_id.value == {**first, "text": by_id.value["text"], "length": 41}
    assert "grinds corn" in by_id.value["text"]


async def test_a_summary_says_of_what_and_by_whom(workbench: Workbench) -> None:
    """A document's id, or "text"."""
    (doc_id, *_) = [
        each["doc_id"]
        for each in (await workbench.call(TOOLS["workspace_list_docs"])).value["documents"]
    ]
    of_document = await workbench.call(TOOLS["workspace_summarize"], doc_id=doc_id, max_length=24)
    of_text = await workbench.call(TOOLS["workspace_summarize"], text="Salt.")

    assert of_document.value == {
        "summary": "Python runs on the mill.", "source": doc_id, "original_length": 41,
        "by": "extract",
    }  # fmt: skip
    assert (of_text.value["summary"], of_text.value["source"]) == ("Salt.", "text")


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("workspace_search", {"query": " "}, ValidationFailed),
        ("workspace_search", {"query": "x", "top_k": 0}, ValidationFailed),
        ("workspace_search", {}, ValidationFailed),
        ("workspace_get_doc", {}, ValidationFailed),
        ("workspace_get_doc", {"title": "gold"}, NotFound),
        ("workspace_summarize", {}, ValidationFailed),
        ("workspace_summarize", {"doc_id": "x", "text": "y"}, ValidationFailed),
        ("workspace_summarize", {"doc_id": "x"}, NotFound),
    ],
)
async def test_what_cannot_be_done_says_why(
    workbench: Workbench, tool: str, arguments: dict[str, Any], error: type[Exception]
) -> None:
    """As an error with a code, which the model sees."""
    with pytest.raises(error):
        await workbench.call(TOOLS[tool], **arguments)


class LongAnswers:
    """A `kbd.search.Search` with more to say than a model is shown at once."""

    async def find(self, query: str, top_k: int) -> FoundChunks:
        """Return long pieces, as many as were asked for."""
        chunks = tuple(
            FoundChunk(
                chunk_id=f"c-{place}", doc_id="d" * 16, text=f"{query} " * 300,
                snippet=f"{query} " * 25, score=0.987654321 - place / 100,
                filename=FileName(f"reports/2025/q{place}.xlsx"), place=f"Sheet{place}!A1:H50",
                metadata={"sheet": f"Sheet{place}", "range": "A1:H50", "lines": [1, 50]},
            )
            for place in range(top_k)
        )  # fmt: skip
        return FoundChunks(chunks, "hybrid", ("3 documents are not searched by meaning yet",))

    async def documents(self) -> list[KnownDocument]:
        """Return one that is not searched whole."""
        return [KnownDocument("d" * 16, "x", FileName("x.txt"), ("cut at 9 characters",))]

    async def text(self, doc_id: str | None, title: str | None) -> tuple[KnownDocument, str]:
        """Return it with a long text."""
        return (await self.documents())[0], "said " * 9_000

    async def summarize(self, text: str, max_length: int) -> Summary:
        """Return a summary that a model made."""
        return Summary("Said.", "openai:x", len(text), ("cut",))


class Bench(Workbench):
    """A workbench with much to find."""

    search: Any = LongAnswers()


def _receipt(tool: Tool, result: ToolResult) -> Any:
    text = msgspec.json.encode(result.value).decode()
    told = truncate_result(tool.name, 7, text, result.value, summary=result.summary)
    assert len(text) > len(told)
    assert len(told.encode()) <= RECEIPT_BYTES
    return msgspec.json.decode(told)


async def test_a_receipt_of_a_search_shows_every_piece(tmp_path: Path) -> None:
    """Of the usual five each with file, place, snippet and coordinates, and the warnings."""
    tool = TOOLS["workspace_search"]
    receipt = _receipt(tool, await Bench(tmp_path).call(tool, query="revenue by region"))

    assert (receipt["total"], receipt["ranker"]) == (5, "hybrid")
    assert receipt["warnings"] == ["3 documents are not searched by meaning yet"]
    assert [each["place"] for each in receipt["documents"]] == [
        f"Sheet{place}!A1:H50" for place in range(5)
    ]
    for place, each in enumerate(receipt["documents"]):
        assert each["metadata"] == {"sheet": f"Sheet{place}", "range": "A1:H50"}
        assert each["snippet"].startswith("revenue by region")


async def test_a_receipt_of_a_document_shows_its_beginning(tmp_path: Path) -> None:
    """With its id, title, path and length, and what is wrong with it."""
    tool = TOOLS["workspace_get_doc"]
    receipt = _receipt(tool, await Bench(tmp_path).call(tool, title="x"))

    assert receipt["text"].startswith("said said")
    assert (receipt["title"], receipt["path"], receipt["length"]) == ("x", "x.txt", 45_000)
    assert receipt["warnings"] == ["cut at 9 characters"]


async def test_warnings_are_passed_on(tmp_path: Path) -> None:
    """Of a listing and of a summary, whose author is named."""
    bench = Bench(tmp_path)
    listed = (await bench.call(TOOLS["workspace_list_docs"])).value
    summary = (await bench.call(TOOLS["workspace_summarize"], doc_id="d")).value

    assert listed["documents"][0]["warnings"] == ["cut at 9 characters"]
    assert (summary["by"], summary["warnings"]) == ("openai:x", ["cut"])
