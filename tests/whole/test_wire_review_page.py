"""A draft's page and grids over the socket: made of real files, on both backends, in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from backends import mostly
from browsing import count_of, opened, started
from wired import Wired, wired

pytestmark = pytest.mark.full

TEXT = "".join(f"key{number} = {number}\n" for number in range(20))
TABLE = "id,item,price\n" + "".join(f"{n},thing {n},{n * 10}\n" for n in range(1, 30))


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here; files may be as large as office files are."""
    more = {
        "KBD_LIMITS_FILE_BYTES": "200000",
        "KBD_LIMITS_FILES": "9",
        # An office program takes seconds a file; how prints are shown is proven with them.
        "KBD_PREVIEW_RENDERER": "none",
    }
    with wired(str(request.param), more=more) as made:
        yield made


def _workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Sales"
    sheet.append(["Title", None, "Jan", "Feb"])
    sheet.merge_cells("A1:B1")
    for number in range(2, 40):
        sheet.append([f"Shop {number}", number, number * 3, number * 5])
    book.save(path)


def _letter(path: Path) -> None:
    letter = docx.Document()
    letter.add_heading("Pricing", 1)
    letter.add_paragraph("We offer the package for 4,200 EUR a year.")
    letter.save(str(path))


def _deck(path: Path) -> None:
    deck = pptx.Presentation()
    for title in ("Results of Q1", "Outlook"):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
    deck.save(str(path))


_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n"
)


def _changed(wire: Wired) -> str:
    """A workbench whose draft changes a file of each kind: by a run, and by a client."""
    folder = wire.folder / f"made-{wire.file('x.txt').parent.name}"
    folder.mkdir()
    _workbook(folder / "sales.xlsx")
    _letter(folder / "offer.docx")
    _deck(folder / "quarter.pptx")
    (folder / "items.csv").write_text(TABLE)
    (folder / "numbers.ini").write_text(TEXT)
    (folder / "scan.pdf").write_bytes(_PDF)
    workbench_id = wire.daemon.workbench(*sorted(folder.iterdir()))
    wire.draft(
        workbench_id,
        items__csv=TABLE.replace("thing 7,70", "thing 7,75"),
        numbers__ini=TEXT.replace("key9 = 9\n", "key9 = 10\n"),
    )
    edits: dict[str, tuple[str, dict[str, Any]]] = {
        "sales.xlsx": (
            "XlsxApplyOps",
            {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "C9", "value": 1250}]},
        ),
        "offer.docx": (
            "DocxApplyOps",
            {"op": "replace_text", "search": "4,200", "replace": "4,650"},
        ),
        "quarter.pptx": (
            "PptxApplyOps",
            {"op": "set_slide_text", "index": 0, "title": "Results of Q2"},
        ),
    }
    for path, (method, operation) in edits.items():
        wire.ask(method, workbench_id=workbench_id, path=path, ops=[operation])
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["scan.pdf"])
    return workbench_id


@pytest.fixture(scope="module")
def changed(wire: Wired) -> str:
    """The workbench of most tests here."""
    return _changed(wire)


def test_a_grid_over_merged_cells_shows_the_first(wire: Wired, changed: str) -> None:
    """Over merged A1:B1 the grid has A1's value, and null for B1; the root says which version."""
    named: dict[str, Any] = {"workbench_id": changed, "path": "sales.xlsx"}
    grid = wire.ask("ReviewGetXlsxPreviewGrid", **named, row_count=2)

    assert grid["rows"] == [["Title", None, "Jan", "Feb"], ["Shop 2", "2", "6", "10"]]
    assert grid["merged"] == [{"row": 1, "column": 1, "row_count": 1, "column_count": 2}]
    assert (grid["sheet"], grid["sheets"], grid["columns"]) == ("Sales", ["Sales"], list("ABCD"))
    assert (grid["total_rows"], grid["total_columns"], grid["warnings"]) == (39, 4, [])
    cell = {"row_start": 9, "row_count": 1, "column_start": 3, "column_count": 1}
    assert wire.ask("ReviewGetXlsxPreviewGrid", **named, **cell)["rows"] == [["1250"]]
    before = wire.ask("ReviewGetXlsxPreviewGrid", **named, **cell, root="published")
    assert before["rows"] == [["27"]]
    assert "$.row_count" in wire.refused("ReviewGetXlsxPreviewGrid", **named, row_count=0).message
    assert "Nowhere" in wire.refused("ReviewGetXlsxPreviewGrid", **named, sheet="Nowhere").message


def test_a_page_is_written_whole(wire: Wired, changed: str, tmp_path: Path) -> None:
    """All changed files are on it, each with its changes and who made them; nothing is recorded."""
    target = tmp_path / "review.html"
    seq = wire.ask("LogHead", workbench_id=changed)["seq"]
    made = wire.ask("ReviewGetHtml", workbench_id=changed, target=str(target))

    page = target.read_text("utf-8")
    assert made == {"files": 6, "size_bytes": target.stat().st_size, "target": str(target)}
    assert [each.name for each in tmp_path.iterdir()] == ["review.html"]
    for title in ("Sales!C9", "Pricing, paragraph 2", "slide 1, Title 1", "row 7, price"):
        assert title in page
    assert "key<del>9</del>" not in page
    assert "<code>write_text_file</code>" in page
    assert "<code>XlsxApplyOps</code>" in page
    assert "Deletion to confirm" in page
    assert "Pictures are left out: the setting preview_renderer is none" in page
    assert wire.ask("LogHead", workbench_id=changed)["seq"] == seq


def test_nothing_is_overwritten(wire: Wired, changed: str, tmp_path: Path) -> None:
    """A name that is taken, a folder that is not there, kbd's own home: refused, nothing left."""
    (tmp_path / "mine.html").write_text("mine")
    named: dict[str, Any] = {"workbench_id": changed}
    for target, words in (
        (tmp_path / "mine.html", "exists; nothing is overwritten"),
        (tmp_path / "no" / "page.html", "there is no folder"),
        (Path("page.html"), "must be the absolute path"),
    ):
        with pytest.raises(Exception, match=words):
            wire.ask("ReviewGetHtml", **named, target=str(target))
    with pytest.raises(Exception, match="home of kbd"):
        wire.ask("ReviewGetHtml", **named, target=str(wire.daemon.home / "page.html"))
    assert (tmp_path / "mine.html").read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["mine.html"]


def test_a_piece_of_one_file_is_answered(wire: Wired, changed: str, tmp_path: Path) -> None:
    """Markup of that file without scripts, and the style it wants; as a page, if that is asked."""
    named: dict[str, Any] = {"workbench_id": changed, "path": "sales.xlsx"}
    piece = wire.ask("ReviewGetHtml", **named)

    assert (piece["files"], piece["size_bytes"]) == (1, len(piece["html"].encode()))
    assert piece["html"].startswith('<article class="file modified"')
    assert "Sales!C9" in piece["html"]
    assert "<script" not in piece["html"]
    assert "prefers-color-scheme: dark" in piece["style"]
    target = tmp_path / "one.html"
    made = wire.ask("ReviewGetHtml", **named, target=str(target))
    assert made["files"] == 1
    assert "offer.docx" not in target.read_text("utf-8")


def test_what_cannot_be_drawn_is_refused(wire: Wired, changed: str) -> None:
    """Neither target nor path, a file that the draft leaves as it is, no draft at all."""
    assert "name a target" in wire.refused("ReviewGetHtml", workbench_id=changed).message
    refused = wire.refused("ReviewGetHtml", workbench_id=changed, path="nothing.txt")
    assert refused.data["error_code"] == "NOT_FOUND"
    refused = wire.refused("ReviewGetHtml", workbench_id=wire.workbench(a__txt="x"), path="a.txt")
    assert "draft not found" in refused.message


@pytest.mark.browser
def test_real_changes_are_walked_in_a_browser(wire: Wired, changed: str, tmp_path: Path) -> None:
    """A workbook, document, deck, table, text and paged file: no fault, no request, every key."""
    target = tmp_path / "review.html"
    wire.ask("ReviewGetHtml", workbench_id=changed, target=str(target))
    with started() as browser, opened(browser, target) as (page, *_):
        names = page.locator("article.file h2 .path").all_inner_texts()
        assert names == [
            "items.csv", "numbers.ini", "offer.docx", "quarter.pptx", "sales.xlsx", "scan.pdf",
        ]  # fmt: skip
        assert count_of(page, "article.file:has(.change)") == len(names)
        total = count_of(page, ".change")
        walked = []
        for _ in range(total):
            page.keyboard.press("j")
            walked.append(page.evaluate("document.activeElement.id"))
        assert walked == page.locator(".change").evaluate_all("all => all.map(each => each.id)")
        files = []
        for _ in range(len(names)):
            files.append(page.locator(".list [aria-current] .path").inner_text())
            page.keyboard.press("p")
        assert files == names[::-1]
        marked = page.locator("article.file:has(#f5) .grid td.changed").all_inner_texts()
        assert [re.sub(r"\W|changed", "", each) for each in marked] == ["27", "1250"]
        assert count_of(page, "article.file:has(#f1) .grid td.changed") == 2
        assert count_of(page, "article.file:has(#f6) img[alt='page 1, before']") == 1
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
