"""Whole jobs of a model on documents, PDF files and slide decks, over HTTP."""

import io
import json
import re
from pathlib import Path
from typing import Any

import docx
import pptx
import pytest

from backends import on_asyncio, on_trio
from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from pdf_forge import text_pages
from real_daemon import RealDaemon
from whole.played_jobs import run_job

BRIEFING = """# Execution Plan

## Task
A deck of three slides from report.docx and figures.pdf

## Items
- [ ] 1. Entity: Deck — briefing.pptx with a title slide, the findings, the figures

## Notes
- the figures are on page 2
"""

LETTER = """# Execution Plan

## Task
The new name in letter.docx and talk.pptx

## Items
- [ ] 1. Entity: Letter — Acme is Apex in letter.docx
- [ ] 2. Entity: Talk — Acme is Apex in talk.pptx

## Notes
- nothing else changes
"""


def _report(path: Path) -> None:
    document = docx.Document()
    document.add_heading("Findings", 1)
    document.add_paragraph("Costs fell in every region.")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "North", "minus 7 percent"
    document.add_heading("Next steps", 1)
    document.add_paragraph("Renew the leases.")
    document.save(str(path))


def _results(body: dict[str, Any]) -> list[Any]:
    """What the tools of this chain have answered, in order."""
    return [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]


def _brief(body: dict[str, Any]) -> Reply:
    """Read a PDF and a document, and make a deck of what they say."""
    turn, results = turn_of(body), _results(body)
    match phase_of(body):
        case "research" if turn == 0:
            return calls(
                call("get_file_map", {"path": "figures.pdf"}),
                call("get_file_map", {"path": "report.docx"}),
            )
        case "research" if turn == 1:
            last = results[0]["page_count"]
            heading = results[1]["sections"][0]["heading"]
            return calls(
                call("read_file", {"path": "figures.pdf", "pages": str(last)}),
                call("read_file", {"path": "report.docx", "section": heading}),
            )
        case "research":
            return text(f"Figures: {results[2]['text']}\nFindings: {results[3]['text']}")
        case "plan":
            return text(BRIEFING)
        case "implement" if turn == 0:
            return calls(
                call("read_file", {"path": "figures.pdf", "pages": "2"}),
                call("read_file", {"path": "report.docx", "section": "Findings"}),
            )
        case "implement" if turn == 1:
            return calls(call("pptx_operations", _deck(results)))
        case "implement" if turn == 2:
            return calls(call("read_file", {"path": "briefing.pptx", "slide_index": 2}))
        case "implement":
            return text(f"Read back: {results[-1]['text']}")
        case _:
            return text("briefing.pptx has three slides.")


def _deck(results: list[Any]) -> dict[str, Any]:
    """The operations for the deck, with what was read."""
    figure = re.search(r"Revenue \S+ \S+", results[0]["text"])
    finding = next(line for line in results[1]["text"].splitlines() if "Costs" in line)
    assert figure is not None
    slides = [
        {"layout": "title_slide", "title": "Briefing", "body": "for the board"},
        {"layout": "title_and_content", "title": "Findings", "body": f"{finding}\nNorth leads"},
        {"layout": "title_and_content", "title": "Figures", "body": figure[0], "notes": "page 2"},
    ]
    operations = [{"op": "add_slide", **slide} for slide in slides]
    return {"path": "briefing.pptx", "operations": operations, "create_new": True}


def _rename(body: dict[str, Any]) -> Reply:
    """Replace a name in a document and in a deck, an item each."""
    turn, results = turn_of(body), _results(body)
    path = "letter.docx" if "letter.docx" in _item(body) else "talk.pptx"
    replace = {"op": "replace_text", "search": "Acme", "replace": "Apex"}
    match phase_of(body):
        case "research":
            return text("Acme stands in both files.")
        case "plan":
            return text(LETTER)
        case "implement" if turn == 0:
            tool = f"{path[-4:]}_operations"
            return calls(call(tool, {"path": path, "operations": [replace]}))
        case "implement":
            return text(f"{path}: {results[0]['changed']}")
        case _:
            return text("Acme is Apex now.")


def _item(body: dict[str, Any]) -> str:
    """The item that the model is asked to do, "" in other phases."""
    said = "\n".join(str(m["content"]) for m in body["messages"] if m["role"] == "user")
    found = re.search(r"<item[^>]*>(.*?)</item>", said, re.DOTALL)
    return found[1] if found else ""


@on_asyncio
@pytest.mark.full
def test_a_deck_is_made_from_a_pdf_and_a_document(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """What stands on page 2 and in a section is on the slides, and the sources are as they were."""
    report, figures = tmp_path / "report.docx", tmp_path / "figures.pdf"
    _report(report)
    figures.write_bytes(text_pages(["Contents", "Revenue 4.2 million"]))
    before = report.read_bytes(), figures.read_bytes()
    events, published = run_job(
        short_dir / "h", anyio_backend, _brief, "a briefing deck, please", report, figures
    )
    research = next(e["data"]["text"] for e in events if e["type"] == "ResearchWritten")
    assert "Revenue 4.2 million" in research
    assert "North | minus 7 percent" in research
    done = next(e["data"]["text"] for e in events if e["type"] == "ItemCompleted")
    assert "Revenue 4.2 million" in done
    deck = pptx.Presentation(io.BytesIO(published("briefing.pptx")))
    titles = [slide.shapes.title.text_frame.text for slide in deck.slides]
    assert titles == ["Briefing", "Findings", "Figures"]
    said = "\n".join(
        shape.text_frame.text
        for slide in deck.slides
        for shape in slide.shapes
        if shape.has_text_frame
    )
    assert "Costs fell in every region.\nNorth leads" in said
    assert "Revenue 4.2 million" in said
    assert deck.slides[2].notes_slide.notes_text_frame.text == "page 2"
    assert (report.read_bytes(), figures.read_bytes()) == before


@pytest.mark.full
@on_trio
def test_a_document_and_a_deck_are_edited_in_one_run(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Each item changes its file; the runs around the word keep their looks."""
    letter, talk = tmp_path / "letter.docx", tmp_path / "talk.pptx"
    document = docx.Document()
    paragraph = document.add_paragraph("Dear ")
    paragraph.add_run("Ac").bold = True
    paragraph.add_run("me, hello")
    document.save(str(letter))
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    slide.shapes.title.text_frame.text = "Acme in numbers"
    deck.save(str(talk))
    _, published = run_job(
        short_dir / "h", anyio_backend, _rename, "Acme is Apex now", letter, talk
    )
    runs = docx.Document(io.BytesIO(published("letter.docx"))).paragraphs[0].runs
    assert [(run.text, run.bold) for run in runs if run.text] == [
        ("Dear ", None), ("Apex", True), (", hello", None),
    ]  # fmt: skip
    shown = pptx.Presentation(io.BytesIO(published("talk.pptx"))).slides[0]
    assert shown.shapes.title.text_frame.text == "Apex in numbers"


READ_ONLY = ("figures.pdf", "photo.png", "text.odt")


def _force(body: dict[str, Any]) -> Reply:
    """Write over what is read-only, as text and by operations of another format."""
    match phase_of(body):
        case "plan":
            return text(LETTER)
        case "implement" if turn_of(body) == 0:
            edit = {"op": "append_paragraph", "text": "x"}
            return calls(
                *(
                    call(tool, {"path": name, **more}, f"{tool}-{name}")
                    for name in READ_ONLY
                    for tool, more in (
                        ("write_text_file", {"content": "x"}),
                        ("docx_operations", {"operations": [edit]}),
                    )
                )
            )
        case "implement":
            said = [m["content"] for m in body["messages"] if m["role"] == "tool"]
            return text("Told: " + " / ".join(said))
        case _:
            return text("Nothing was done.")


@on_asyncio
@pytest.mark.full
def test_what_is_read_only_cannot_be_written(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Writing text over it and operations of another format are refused; nothing changes."""
    paths = [tmp_path / name for name in READ_ONLY]
    for path in paths:
        path.write_bytes(b"whatever it holds")
    with model_server(_force) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:clerk"}
        daemon = RealDaemon(short_dir / "h", anyio_backend, environment)
        daemon.start()
        try:
            workbench_id = daemon.workbench(*paths)
            run = daemon.run_prompt(workbench_id, "change them")
            events = daemon.events(workbench_id)
            assert daemon.ask("DraftGetState", workbench_id=workbench_id)["has_draft"] is False
        finally:
            daemon.stop()
    assert run["status"] == "finished"
    done = next(e["data"]["text"] for e in events if e["type"] == "ItemCompleted")
    assert done.count("Error: VALIDATION_FAILED") == 2 * len(READ_ONLY)
