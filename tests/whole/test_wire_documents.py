"""The wire methods of documents, decks, PDF files and pictures, as clients rely on them."""

import base64
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfWriter

from kbd.client.blocking import RemoteError
from odp_decks import rich_deck_file
from pdf_forge import one_page, shown, stream
from real_daemon import RealDaemon

METHODS = {
    "Docx": {"ApplyOps", "ExtractText", "GetMap", "GetSectionContent", "GetStyles", "CopyAssets"},
    "Pptx": {"ApplyOps", "ExtractText", "GetMap", "GetSlideContent", "GetStyles", "CopyAssets"},
    "Pdf": {
        "ApplyOps",
        "ExtractText",
        "GetInfo",
        "GetMap",
        "GetTables",
        "GetWords",
        "ReadLayout",
    },
    "Image": {"GetMetadata"},
    "Text": {"GetMap", "ReadLines"},
    "Odp": {"ExtractText", "GetInfo", "GetMap", "GetSlideContent"},
    "Ods": {"ExtractText", "GetInfo", "GetMap", "ReadRange"},
    "Odt": {"ExtractText", "GetInfo", "GetMap", "GetSectionContent"},
}
PREVIEWS = {
    "ReviewGetPdfPreviewPage", "ReviewGetDocxPreviewPage", "ReviewGetOdsPreviewPage",
    "ReviewGetOdpPreviewSlide", "ReviewGetOdtPreviewPage",
    "ReviewGetXlsxPreviewPage", "ReviewGetPptxPreviewSlide", "ReviewGetImagePreview",
    "ReviewGetXlsxPreviewGrid",
}  # fmt: skip


@pytest.fixture(scope="module")
def daemon() -> Iterator[RealDaemon]:
    """One daemon for all tests here; how calls are served is proven on each backend elsewhere."""
    with tempfile.TemporaryDirectory(prefix="kbd-") as folder:
        running = RealDaemon(Path(folder) / "h", "trio")
        running.start()
        try:
            yield running
        finally:
            running.stop()


def test_methods_are_those_of_the_contract(daemon: RealDaemon) -> None:
    """rpc.discover lists exactly these for each format."""
    found = {each["name"] for each in daemon.ask("rpc.discover")["methods"]}
    for prefix, names in METHODS.items():
        assert {name for name in found if name.startswith(prefix)} == {prefix + n for n in names}
    assert {name for name in found if "Preview" in name} == PREVIEWS


def test_a_document_is_made_looked_at_and_copied_from(daemon: RealDaemon) -> None:
    """Sections with their tables and images, styles, and a style that is carried over."""
    workbench_id = daemon.workbench()
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "report.docx"}
    ops = [
        {"op": "set_paragraphs", "paragraphs": [
            {"text": "Findings", "style": "Heading 1"}, {"text": "Costs fell."},
        ]},
        {"op": "add_table", "rows": [["Region", "Change"], ["North", "-7 %"]], "after": 2},
    ]  # fmt: skip
    made = daemon.ask("DocxApplyOps", **asked, ops=ops, create_new=True)
    assert (made["ok"], made["applied"]) == (True, 2)
    (section,) = daemon.ask("DocxGetMap", **asked)["sections"]
    assert (section["heading"], section["has_tables"]) == ("Findings", True)
    first = daemon.ask("DocxGetSectionContent", **asked, section="Findings")
    assert "Costs fell." in first["text"]
    assert first["tables"][0]["rows"] == [["Region", "Change"], ["North", "-7 %"]]
    assert first["images"] == []
    assert daemon.ask("DocxGetSectionContent", **asked, section=0) == first
    assert "North" in daemon.ask("DocxExtractText", **asked)["text"]
    assert "North" in daemon.ask("DocxExtractText", **asked, section="Findings")["text"]
    assets = {each["asset_id"] for each in daemon.ask("DocxGetStyles", **asked)["assets"]}
    assert "paragraph_style:Heading1" in assets
    copied = daemon.ask(
        "DocxCopyAssets", workbench_id=workbench_id, source_path="report.docx",
        target_path="new.docx", assets=["paragraph_style:Heading 1"],
    )  # fmt: skip
    assert copied["applied"] == 1
    changes = daemon.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
    assert {change["path"] for change in changes} == {"report.docx", "new.docx"}


def test_a_deck_is_made_and_looked_at(daemon: RealDaemon) -> None:
    """Slides with their shapes and where these are."""
    workbench_id = daemon.workbench()
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "deck.pptx"}
    slide = {"op": "add_slide", "layout": "title_and_content", "title": "Q4", "body": "One\nTwo"}
    made = daemon.ask("PptxApplyOps", **asked, ops=[slide], create_new=True)
    assert (made["ok"], made["applied"]) == (True, 1)
    (shown,) = daemon.ask("PptxGetMap", **asked)["slides"]
    assert (shown["index"], shown["title"]) == (0, "Q4")
    content = daemon.ask("PptxGetSlideContent", **asked, slide_index=0)
    assert content["shapes"]
    assert all(shape["bounds"]["width"] > 0 for shape in content["shapes"])
    assert "Two" in daemon.ask("PptxExtractText", **asked)["text"]
    assert daemon.ask("PptxGetStyles", **asked)["assets"]
    with pytest.raises(RemoteError, match="slide"):
        daemon.ask("PptxGetSlideContent", **asked, slide_index=7)


def test_an_open_document_deck_is_looked_at_and_not_edited(
    daemon: RealDaemon, tmp_path: Path
) -> None:
    """Its map, a slide, its text; an edit is refused with what to do instead."""
    workbench_id = daemon.workbench(rich_deck_file(tmp_path / "a.odp"))
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "a.odp"}
    assert daemon.ask("OdpGetInfo", **asked)["slide_count"] == 3
    slides = daemon.ask("OdpGetMap", **asked)["slides"]
    assert [slide["title"] for slide in slides] == ["Where we stand", "Figures", None]
    content = daemon.ask("OdpGetSlideContent", **asked, slide_index=1)
    assert content["tables"][0]["rows"][0] == ["Item", "Price"]
    assert "say it slowly" in daemon.ask("OdpExtractText", **asked, slide_index=1)["text"]
    add = {"op": "add_slide", "layout": "blank"}
    with pytest.raises(RemoteError, match="format odp are read, not edited: make a new pptx file"):
        daemon.ask("PptxApplyOps", **asked, ops=[add])


def test_a_pdf_is_looked_at_and_shown(daemon: RealDaemon, tmp_path: Path) -> None:
    """Its pages, their text by ranges, and a page as a picture of the size that is asked for."""
    writer = PdfWriter()
    for _ in range(3):
        writer.add_blank_page(300, 600)
    path = tmp_path / "a.pdf"
    with path.open("wb") as file:
        writer.write(file)
    asked: dict[str, Any] = {"workbench_id": daemon.workbench(path), "path": "a.pdf"}
    assert daemon.ask("PdfGetInfo", **asked)["page_count"] == 3
    found = daemon.ask("PdfGetMap", **asked)
    assert (found["page_count"], found["pages_without_text"]) == (3, [1, 2, 3])
    assert daemon.ask("PdfExtractText", **asked, pages="2-3")["has_more"] is False
    with pytest.raises(RemoteError, match="3"):
        daemon.ask("PdfExtractText", **asked, pages="4")
    shown = daemon.ask("ReviewGetPdfPreviewPage", **asked, page=3, edge_px=200)
    with Image.open(io.BytesIO(base64.b64decode(shown["base64"]))) as picture:
        assert picture.size == (shown["width"], shown["height"]) == (100, 200)
    assert (shown["mime_type"], shown["count"]) == ("image/png", 3)
    with pytest.raises(RemoteError, match="page"):
        daemon.ask("ReviewGetPdfPreviewPage", **asked, page=4)


def test_new_pdfs_are_made_and_old_ones_stay(daemon: RealDaemon, tmp_path: Path) -> None:
    """Pages go into a new file of the draft; an operation on a file that there is is refused."""
    writer = PdfWriter()
    for width in (300, 400):
        writer.add_blank_page(width, 600)
    path = tmp_path / "c.pdf"
    with path.open("wb") as file:
        writer.write(file)
    asked: dict[str, Any] = {"workbench_id": daemon.workbench(path)}
    turned = [{"op": "rotate_pages", "degrees": 90}]
    with pytest.raises(RemoteError, match="copy_from: c"):
        daemon.ask("PdfApplyOps", **asked, path="c.pdf", ops=turned)
    pages = [{"op": "add_pages", "file": "c.pdf", "pages": "2,1"}]
    made = daemon.ask("PdfApplyOps", **asked, path="new.pdf", ops=pages, create_new=True)
    assert made["changed"] == ["pages 2,1 of c.pdf added"]
    assert daemon.ask("PdfGetInfo", **asked, path="new.pdf")["page_size"]["width"] == 5.56
    daemon.ask("PdfApplyOps", **asked, path="copy.pdf", ops=turned, copy_from="c.pdf")
    assert daemon.ask("PdfGetInfo", **asked, path="copy.pdf")["page_count"] == 2


def test_a_pdf_tells_its_tables_and_where_words_stand(daemon: RealDaemon, tmp_path: Path) -> None:
    """Its tables come as rows of texts, its words with boxes, its text with columns apart."""
    rows = (("Item", "Sold", "Left"), ("Bolt", "289", "12"), ("Nut", "-23", "7"))
    content = b"".join(
        shown(text, f"{72 + 120 * column} {700 - 20 * row}")
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    )
    path = tmp_path / "b.pdf"
    path.write_bytes(one_page(stream(content)))
    asked: dict[str, Any] = {"workbench_id": daemon.workbench(path), "path": "b.pdf"}
    (table,) = daemon.ask("PdfGetTables", **asked, pages="1")["tables"]
    assert (table["page"], table["rows"]) == (1, [list(row) for row in rows])
    words = daemon.ask("PdfGetWords", **asked)["words"]
    assert [word["text"] for word in words] == [text for row in rows for text in row]
    assert 71 < words[0]["box"][0] < 74
    assert "Bolt  " in daemon.ask("PdfReadLayout", **asked)["text"]
    with pytest.raises(RemoteError, match="page 2"):
        daemon.ask("PdfGetTables", **asked, pages="2")


def test_a_picture_is_described_and_shown(daemon: RealDaemon, tmp_path: Path) -> None:
    """Its facts as values; small and upright."""
    path = tmp_path / "a.png"
    Image.new("RGB", (400, 300), "#336699").save(path)
    asked: dict[str, Any] = {"workbench_id": daemon.workbench(path), "path": "a.png"}
    facts = daemon.ask("ImageGetMetadata", **asked)
    assert (facts["format"], facts["width"], facts["height"]) == ("PNG", 400, 300)
    shown = daemon.ask("ReviewGetImagePreview", **asked, edge_px=40)
    assert (shown["width"], shown["height"], shown["count"]) == (40, 30, 1)


def test_what_is_not_a_file_of_the_format_is_refused_in_words(
    daemon: RealDaemon, tmp_path: Path
) -> None:
    """A damaged file gets an error with its code and without a path."""
    for name, method in (
        ("a.docx", "DocxGetMap"), ("a.pptx", "PptxGetMap"), ("a.pdf", "PdfGetMap"),
        ("a.png", "ImageGetMetadata"),
    ):  # fmt: skip
        path = tmp_path / name
        path.write_bytes(b"no such thing")
        workbench_id = daemon.workbench(path)
        with pytest.raises(RemoteError) as refused:
            daemon.ask(method, workbench_id=workbench_id, path=name)
        assert refused.value.data["error_code"] == "FILE_READ_FAILED"
        assert str(tmp_path) not in refused.value.message
        with pytest.raises(RemoteError):
            daemon.ask(method, workbench_id=workbench_id, path="other.txt")
