"""Pages of documents, workbooks and decks as pictures, as clients rely on them."""

import base64
import functools
import http.server
import io
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pypdf
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from openpyxl.styles import PatternFill
from openpyxl.worksheet.pagebreak import Break
from PIL import Image
from pptx.util import Inches

from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon

PAGED = {
    "a.docx": ("ReviewGetDocxPreviewPage", "page"),
    "a.odt": ("ReviewGetOdtPreviewPage", "page"),
    "a.xlsx": ("ReviewGetXlsxPreviewPage", "page"),
    "a.pptx": ("ReviewGetPptxPreviewSlide", "slide_index"),
    "a.odp": ("ReviewGetOdpPreviewSlide", "slide_index"),
}
"""By the name of a file: its method, and the parameter that says which page."""

COLORS = ((255, 0, 0), (0, 0, 255), (0, 128, 0))
"""What fills most of each page; a page is told by it."""

ODT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"
 xmlns:xlink="http://www.w3.org/1999/xlink"
 office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text>%s</office:text></office:body></office:document>"""


@pytest.fixture(scope="module")
def daemon() -> Iterator[RealDaemon]:
    """One daemon for all tests here; how documents are printed is proven on each backend."""
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not installed")
    with tempfile.TemporaryDirectory(prefix="kbd-") as folder:
        running = RealDaemon(Path(folder) / "h", "trio")
        running.start()
        try:
            yield running
        finally:
            running.stop()


def painted(folder: Path, color: tuple[int, int, int]) -> str:
    """The path of a picture of one color."""
    path = folder / f"{color}.png"
    Image.new("RGB", (60, 60), color).save(path)
    return str(path)


def document(folder: Path) -> Path:
    """A document of three pages, each with a picture."""
    made = docx.Document()
    for number, color in enumerate(COLORS):
        if number:
            made.add_page_break()  # type: ignore[no-untyped-call]
        made.add_picture(painted(folder, color), width=docx.shared.Inches(5))
    made.save(str(folder / "a.docx"))
    return folder / "a.docx"


def workbook(folder: Path) -> Path:
    """A workbook of three pages: two of one sheet, parted by a break, and one of another."""
    book = openpyxl.Workbook()
    sheets = [book.active, book.create_sheet("Other")]
    for sheet, row, color in zip(
        (sheets[0], sheets[0], sheets[1]), (1, 40, 1), COLORS, strict=True
    ):
        shade = PatternFill("solid", fgColor="{:02X}{:02X}{:02X}".format(*color))
        for cell in (sheet.cell(row + n // 6, n % 6 + 1) for n in range(120)):
            cell.value, cell.fill = 1, shade
    sheets[0].row_breaks.append(Break(id=39))
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def deck(folder: Path) -> Path:
    """A deck of three slides, the second of which is hidden."""
    made = pptx.Presentation()
    for color in COLORS:
        slide = made.slides.add_slide(made.slide_layouts[6])
        slide.shapes.add_picture(painted(folder, color), Inches(2), Inches(1), Inches(6), Inches(6))
    made.slides[1]._element.set("show", "0")
    made.save(str(folder / "a.pptx"))
    return folder / "a.pptx"


def text(folder: Path) -> Path:
    """An OpenDocument text of three pages, which LibreOffice made of the document."""
    source, profile = document(folder), (folder / "profile").as_uri()
    command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "odt"]
    subprocess.run([*command, "--outdir", folder, source], check=True, capture_output=True)
    return folder / "a.odt"


def converted_deck(folder: Path) -> Path:
    """The same deck as OpenDocument, which LibreOffice made of it; its second slide is hidden."""
    source, profile = deck(folder), (folder / "profile").as_uri()
    command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "odp"]
    subprocess.run([*command, "--outdir", folder, source], check=True, capture_output=True)
    return folder / "a.odp"


def picture(answer: dict[str, Any]) -> Image.Image:
    """The picture of an answer."""
    opened = Image.open(io.BytesIO(base64.b64decode(answer["base64"]))).convert("RGB")
    assert opened.size == (answer["width"], answer["height"])
    return opened


def main_color(answer: dict[str, Any]) -> tuple[int, int, int]:
    """The color that most of a page has beside white."""
    found = picture(answer).getcolors(1 << 20)
    assert found is not None
    colors = [(number, color) for number, color in found if color != (255, 255, 255)]
    return max(colors)[1]  # type: ignore[return-value]


def drafted(daemon: RealDaemon, workbench_id: str, name: str) -> bytes:
    """The bytes of a file, once its draft is published."""
    daemon.ask("DraftPublish", workbench_id=workbench_id)
    with tempfile.TemporaryDirectory(prefix="kbd-") as folder:
        asked = {"workbench_id": workbench_id, "destination_dir": folder, "workbench_paths": [name]}
        daemon.ask("WorkbenchFilesExtract", **asked)
        return (Path(folder) / name).read_bytes()


@pytest.mark.full
@pytest.mark.libreoffice
@pytest.mark.parametrize("make", [document, text, workbook, deck, converted_deck])
def test_each_page_is_the_one_that_is_asked_for(
    daemon: RealDaemon, tmp_path: Path, make: Any
) -> None:
    """By its number from 1, a slide by its index in the deck, hidden ones counted; as many as are.

    The picture is as large as asked for, and what has printed it is said.
    """
    path = make(tmp_path)
    method, which = PAGED[path.name]
    asked = {"workbench_id": daemon.workbench(path), "path": path.name, "edge_px": 300}
    first = 0 if which == "slide_index" else 1
    shown = [daemon.ask(method, **asked, **{which: first + n}) for n in range(3)]
    assert [main_color(each) for each in shown] == list(COLORS)
    assert {(each["count"], max(each["width"], each["height"])) for each in shown} == {(3, 300)}
    assert "Printed by soffice" in shown[0]["warnings"][-1]
    assert main_color(daemon.ask(method, **asked)) == COLORS[0]
    with pytest.raises(RemoteError, match=rf"{path.name} has 3 pages") as refused:
        daemon.ask(method, **asked, **{which: first + 3})
    assert refused.value.data["error_code"] == "VALIDATION_FAILED"


@pytest.mark.full
@pytest.mark.libreoffice
def test_a_draft_is_shown_as_it_will_be(daemon: RealDaemon, tmp_path: Path) -> None:
    """Each version is printed of its own bytes, the published one as before."""
    workbench_id = daemon.workbench(document(tmp_path))
    asked = {"workbench_id": workbench_id, "path": "a.docx"}
    before = daemon.ask("ReviewGetDocxPreviewPage", **asked)
    ops = [{"op": "set_paragraphs", "paragraphs": [{"text": "Nothing but this."}]}]
    daemon.ask("DocxApplyOps", **asked, ops=ops)
    after = daemon.ask("ReviewGetDocxPreviewPage", **asked)
    assert (before["count"], after["count"]) == (3, 1)
    assert daemon.ask("ReviewGetDocxPreviewPage", **asked, root="published") == before


@pytest.mark.full
@pytest.mark.libreoffice
def test_a_document_reaches_nothing(daemon: RealDaemon, tmp_path: Path) -> None:
    """No picture on the network, none on this machine, no other file: links are not followed.

    Neither for pictures of its pages nor for a file that it is printed into.
    """
    requests: list[str] = []

    class Listens(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_error(404)

        do_HEAD = do_OPTIONS = do_PROPFIND = do_GET  # noqa: N815 - the library's names

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - likewise
            del format, arguments

    server = http.server.HTTPServer(("127.0.0.1", 0), Listens)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        local = Path(painted(tmp_path, COLORS[0])).as_uri()
        made = docx.Document()
        for url in (f"http://127.0.0.1:{server.server_port}/x.png", local):
            made.add_picture(painted(tmp_path, COLORS[1]))
            (blip,) = made.element.body.xpath(".//a:blip")[-1:]
            for name in list(blip.attrib):
                del blip.attrib[name]
            kind = RELATIONSHIP_TYPE.IMAGE
            rel_id = made.part.relate_to(url, kind, is_external=True)
            blip.set(f"{{{RELATIONSHIP_TYPE.HYPERLINK.rpartition('/')[0]}}}link", rel_id)
        made.save(str(tmp_path / "a.docx"))
        secret = tmp_path / "secret.txt"
        secret.write_text("█" * 2000)
        section = (
            f'<text:section text:name="S"><text:section-source xlink:href="{secret.as_uri()}" '
            'text:filter-name="Text"/><text:p/></text:section>'
        )
        (tmp_path / "a.fodt").write_text(ODT % section)
        for name, method in (
            ("a.docx", "ReviewGetDocxPreviewPage"), ("a.fodt", "ReviewGetOdtPreviewPage")
        ):  # fmt: skip
            workbench_id = daemon.workbench(tmp_path / name)
            shown = daemon.ask(method, workbench_id=workbench_id, path=name)
            assert picture(shown).getextrema() == ((255, 255),) * 3
            asked = {"workbench_id": workbench_id, "path": name, "target_path": "made.pdf"}
            assert daemon.ask("FilePrint", **asked)["page_count"] == 1
            page = pypdf.PdfReader(io.BytesIO(drafted(daemon, workbench_id, "made.pdf"))).pages[0]
            assert (page.images.keys(), page.extract_text().strip()) == ([], "")
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
    assert requests == []


@pytest.mark.full
@pytest.mark.libreoffice
@pytest.mark.parametrize("make", [document, text, workbook, deck])
def test_a_file_is_printed_into_a_new_one(daemon: RealDaemon, tmp_path: Path, make: Any) -> None:
    """With its pages in their order, and the same bytes in another workbench, another second."""
    path = make(tmp_path)
    made = []
    for _ in range(2):
        workbench_id = daemon.workbench(path)
        asked = {"workbench_id": workbench_id, "path": path.name, "target_path": "made.pdf"}
        answer = daemon.ask("FilePrint", **asked)
        assert (answer["page_count"], answer["printed_by"]) == (3, "soffice")
        shown = [
            daemon.ask(
                "ReviewGetPdfPreviewPage", workbench_id=workbench_id, path="made.pdf", page=n
            )
            for n in (1, 2, 3)
        ]
        assert [main_color(each) for each in shown] == list(COLORS)
        made.append(drafted(daemon, workbench_id, "made.pdf"))
    assert made[0] == made[1]
    assert b"CreationDate" not in made[0]


@pytest.mark.full
@pytest.mark.libreoffice
def test_nothing_is_left_of_a_print(daemon: RealDaemon, tmp_path: Path) -> None:
    """No folder that was worked in; what is kept is the printed document."""
    workbench_id = daemon.workbench(deck(tmp_path))
    daemon.ask("ReviewGetPptxPreviewSlide", workbench_id=workbench_id, path="a.pptx")
    folder = daemon.home / "workbenches" / workbench_id
    assert os.listdir(folder / "stage") == []
    (kept,) = (folder / "cache" / "printed").iterdir()
    assert [each.suffix for each in kept.iterdir()] == [".pdf"]


@pytest.mark.full
@pytest.mark.libreoffice
def test_a_print_that_takes_too_long_is_ended(short_dir: Path, tmp_path: Path) -> None:
    """LibreOffice, too, with the processes that it starts; the error says so."""
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not installed")
    running = RealDaemon(short_dir / "h", "asyncio", {"KBD_PREVIEW_WALL_S": "0.1"})
    running.start()
    try:
        asked = {"workbench_id": running.workbench(deck(tmp_path)), "path": "a.pptx"}
        with pytest.raises(RemoteError, match=r"print a\.pptx was stopped after 0\.1 s") as refused:
            running.ask("ReviewGetPptxPreviewSlide", **asked)
    finally:
        running.stop()
    assert refused.value.data["error_code"] == "TOOL_TIMEOUT"


def test_without_a_program_the_error_says_what_helps(short_dir: Path, tmp_path: Path) -> None:
    """Its code and the setting; what needs no program is shown all the same."""
    running = RealDaemon(short_dir / "h", "asyncio", {"KBD_PREVIEW_RENDERER": "no-such-office"})
    running.start()
    try:
        asked = functools.partial(running.ask, workbench_id=running.workbench(deck(tmp_path)))
        with pytest.raises(RemoteError, match="preview_renderer") as refused:
            asked("ReviewGetPptxPreviewSlide", path="a.pptx")
        assert refused.value.data["error_code"] == "TOOL_WORKER_UNAVAILABLE"
        assert refused.value.data["retryable"] is False
        assert "install LibreOffice" in refused.value.data["actions"]
        assert asked("PptxGetMap", path="a.pptx")["slide_count"] == 3
        renderer = running.ask("ToolWorkerGetStatus")["renderer"]
        assert (renderer["program"], "no-such-office" in renderer["reason"]) == ("", True)
    finally:
        running.stop()
