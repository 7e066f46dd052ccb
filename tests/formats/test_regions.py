"""Passages of real files are read again by the coordinates that they give."""

import zipfile
from collections import Counter
from pathlib import Path

import docx
import openpyxl
import pytest

from kbd.errors import FileReadFailed
from kbd.formats import FormatHandler, Passage, Readable, Region, Source
from kbd.plaintext.lines import MAX_READ_CHARS
from kbd.testing.formats import check_regions
from kbd_csv import CsvFormat
from kbd_docx import DocxFormat
from kbd_image import ImageFormat
from kbd_pdf import PdfFormat
from kbd_pptx import PptxFormat
from kbd_text.handler import TextFormat
from kbd_xlsx import XlsxFormat
from samples import half_or_all

FORMATS: dict[str, FormatHandler] = {
    "csv": CsvFormat(),
    "docx": DocxFormat(),
    "image": ImageFormat(),
    "pdf": PdfFormat(),
    "pptx": PptxFormat(),
    "xlsx": XlsxFormat(),
}
EVERY = 100
"""Which share of the files `make test` reads; `make test-full` reads all."""
MAX_READ, MAX_READ_IN_SOAK = 4, 200


def check_files(kind: str, paths: list[Path], tmp: Path, most_read: int) -> Counter[str]:
    """Check the regions of the files that can be read; return counts."""
    handler, counts = FORMATS[kind], Counter[str]()
    assert isinstance(handler, Readable)
    for count, path in enumerate(paths):
        source = Source(path, path.name, tmp / str(count))
        try:
            passages = list(handler.passages(source))
        except FileReadFailed:
            counts["refused"] += 1
            continue
        check_regions(handler, source, passages, most_read=most_read)
        counts["read"] += 1
        counts["with a region"] += sum(each.region is not None for each in passages)
        counts["without one"] += sum(each.region is None for each in passages)
    return counts


@pytest.mark.corpora
@pytest.mark.parametrize("kind", FORMATS)
def test_real_passages_are_read_again(corpora: Path, tmp_path: Path, kind: str) -> None:
    """Of some real files of each format, the regions of passages read them."""
    counts = check_files(kind, sorted((corpora / kind).iterdir())[::EVERY], tmp_path, MAX_READ)

    assert counts["read"] > counts["refused"]
    assert counts["with a region"] > 20 * counts["without one"]


@pytest.mark.full
@pytest.mark.corpora
@half_or_all
@pytest.mark.parametrize("kind", FORMATS)
def test_all_real_passages_are_read_again(
    corpora: Path, tmp_path: Path, kind: str, every: int
) -> None:
    """Of all real files of each format, the regions of passages read them."""
    paths = sorted((corpora / kind).iterdir())[::every]
    counts = check_files(kind, paths, tmp_path, MAX_READ_IN_SOAK)

    assert counts["read"] > 10 * counts["refused"]
    assert counts["with a region"] > 100 * counts["without one"]


def test_lines_too_long_for_a_reading_have_no_region(tmp_path: Path) -> None:
    """What comes after the first 200,000 characters of a line says that nothing reads it again."""
    path = tmp_path / "a.txt"
    path.write_text("first\n" + "word " * (MAX_READ_CHARS // 2) + "\nlast\n", encoding="utf-8")
    source = Source(path, path.name)

    passages = list(TextFormat().passages(source))

    assert [each.place for each in passages] == ["line 1", "line 2", "line 2", "lines 2-3"]
    lines = [Region(line_start=1, line_count=1), Region(line_start=2, line_count=1)]
    assert [each.region for each in passages] == [*lines, None, None]
    check_regions(TextFormat(), source, passages)


def test_every_sheet_is_read_again(tmp_path: Path) -> None:
    """Hidden sheets, and names with quotes, blanks and exclamation marks, have regions that do."""
    book = openpyxl.Workbook()
    for name in ("It's", "a!b", " C ", "hidden"):
        sheet = book.create_sheet(name)
        for row in range(60):
            sheet.append([f"{name} {row}", row])
    book["hidden"].sheet_state = "hidden"
    del book["Sheet"]
    path = tmp_path / "a.xlsx"
    book.save(path)
    source = Source(path, path.name)

    passages = list(XlsxFormat().passages(source))

    assert passages[2].region == Region(sheet="a!b", range="A1:B50")
    assert len(passages) == sum(each.region is not None for each in passages) == 8
    check_regions(XlsxFormat(), source, passages)


def test_of_sheets_with_one_name_the_first_is_read_again(tmp_path: Path) -> None:
    """A region never reads another place than its passage's."""
    book = openpyxl.Workbook()
    book.worksheets[0].append(["one"])
    book.create_sheet("Other").append(["two"])
    whole, path = tmp_path / "whole.xlsx", tmp_path / "a.xlsx"
    book.save(whole)
    with zipfile.ZipFile(whole) as found, zipfile.ZipFile(path, "w") as made:
        for name in found.namelist():
            data = found.read(name)
            made.writestr(name, data.replace(b'name="Other"', b'name="Sheet"'))

    regions = [each.region for each in XlsxFormat().passages(Source(path, path.name))]

    assert regions == [Region(sheet="Sheet", range="A1"), None]


def test_headers_of_documents_are_read_again(tmp_path: Path) -> None:
    """A header is read with the chunk of the document that holds what stands around its text."""
    document = docx.Document()
    document.add_heading("Costs")
    document.add_paragraph("Paper and ink.")
    document.sections[0].header.paragraphs[0].text = "Confidential"
    path = tmp_path / "a.docx"
    document.save(str(path))
    source = Source(path, path.name)

    passages = list(DocxFormat().passages(source))

    assert [each.region for each in passages] == [Region(section=0, chunk=0), Region(chunk=1)]
    check_regions(DocxFormat(), source, passages)


def test_a_region_that_reads_something_else_is_found(tmp_path: Path) -> None:
    """The contract names the file and the place of a passage that its region does not read."""
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    source = Source(path, path.name)
    off, foreign = Region(line_start=1, line_count=1), Region(pages="1")

    for region, promise in ((off, "a.txt, line 2: the region reads"), (foreign, "coordinates")):
        with pytest.raises(AssertionError, match=promise):
            check_regions(TextFormat(), source, [Passage("two", "line 2", region)])
