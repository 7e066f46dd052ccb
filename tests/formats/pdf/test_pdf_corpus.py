"""Real PDF files: each is mapped and read, or refused in words."""

import contextlib
import warnings
from collections.abc import Callable
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from pypdf import PdfReader

from kbd.errors import FileReadFailed
from kbd.formats import Region, Source
from kbd_pdf import PdfFormat
from samples import half_or_all

PDF = PdfFormat()

pytestmark = pytest.mark.corpora


def files(corpora: Path) -> list[Path]:
    """The files, of which there are hundreds."""
    found = sorted((corpora / "pdf").glob("*.pdf"))
    assert len(found) > 300
    return found


def looked_at(path: Path) -> None:
    """Map a file and read all of it; every page has a place in both."""
    source = Source(path, path.name)
    found = PDF.map(source)
    count = found["page_count"]
    assert count > 0
    assert found["chunks"][-1]["pages"].rpartition("-")[2] == str(count)
    assert all(1 <= page <= count for page in found["pages_without_text"])
    assert all(each["page"] is None or 1 <= each["page"] <= count for each in found["toc"])
    passages = list(PDF.passages(source))
    assert [each.place for each in passages] == [f"page {n}" for n in range(1, count + 1)]
    silent = [n for n, each in enumerate(passages, 1) if ", without text]" in each.text]
    if found.get("pages_looked_at") is None:
        assert found["pages_without_text"] == silent
    assert PDF.read(source, Region(pages=str(count))).text.startswith(f"[page {count}")
    assert PDF.info(source)["page_count"] == count


def by_pdfium(path: Path) -> None:
    """Read a file with that library alone."""
    with pdfium.PdfDocument(path) as document:
        for page in document:
            page.get_textpage().get_text_range()


def by_pypdf(path: Path) -> None:
    """Read a file with that library alone."""
    for page in PdfReader(path).pages:
        page.extract_text()


def share(paths: list[Path], ask: Callable[[Path], None], wanted: type[Exception]) -> set[str]:
    """Return which files can be asked; no other error than the wanted one is raised."""
    able = set()
    for path in paths:
        with contextlib.suppress(wanted):
            ask(path)
            able.add(path.name)
    return able


def test_files_are_read_or_refused(corpora: Path) -> None:
    """One in twelve of them; what cannot be read needs a password, or is damaged beyond help."""
    paths = files(corpora)[::12]
    ours = share(paths, looked_at, FileReadFailed)
    assert len(ours) >= len(paths) - 3


@pytest.mark.full
@half_or_all
def test_more_is_read_than_by_either_library(
    corpora: Path, every: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of all of them, none is lost that one of the libraries can read."""
    paths = files(corpora)[::every]
    ours = share(paths, looked_at, FileReadFailed)
    with warnings.catch_warnings(action="ignore"):
        pypdf = share(paths, by_pypdf, Exception)
    pdfs = share(paths, by_pdfium, Exception)
    with capsys.disabled():
        print(f"\npdf: {len(ours)} of {len(paths)} are mapped and read", end="")
        print(f" (pypdf alone {len(pypdf)}, pypdfium2 alone {len(pdfs)})")
    assert (pypdf | pdfs) - ours == set()
    assert len(ours) >= max(len(pypdf), len(pdfs))
    assert len(ours) >= 342 // every - 1


def test_first_pages_are_drawn(corpora: Path) -> None:
    """Of each eighth file, if pdfium opens it: a picture with the edge that was asked for."""
    drawn = 0
    for path in files(corpora)[::8]:
        source = Source(path, path.name)
        try:
            preview = PDF.preview(source, 0, 200)
        except FileReadFailed:
            continue
        drawn += 1
        assert max(preview.width, preview.height) == 200
    assert drawn > 35
