"""The works on documents, decks and pages that benchmarks/documents.py measures."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Union

import docx
import msgspec
import pptx
import pypdf
import pypdfium2

from benchmarks._child import Run, Work, answer
from kbd.formats import Editable, Mappable, Readable, Region, Source
from kbd_docx import DocxFormat
from kbd_pdf import PdfFormat
from kbd_pptx import PptxFormat

__all__ = ["WORKS"]

_SECTION = 50
_SLIDE = 250
_FIRST_PAGES = 5


def kbd_map(handler: Mappable) -> Work:
    """Map a file that was never looked into."""

    def made(path: Path, folder: Path) -> Run:
        return lambda: handler.map(Source(path, path.name, folder / "shelf"))

    return made


def kbd_read(handler: Readable, region: Region, *, is_warm: bool = False) -> Work:
    """Read a region of a file that was never looked into, or of one that was."""

    def made(path: Path, folder: Path) -> Run:
        source = Source(path, path.name, folder / "shelf")
        if is_warm:
            handler.read(source, region)
        return lambda: handler.read(source, region)

    return made


def kbd_all(handler: Readable) -> Work:
    """Read all text."""

    def made(path: Path, _: Path) -> Run:
        return lambda: sum(len(each.text) for each in handler.passages(Source(path, path.name)))

    return made


def kbd_edit(handler: Editable, **wanted: Any) -> Work:
    """Carry out one operation."""

    def made(path: Path, folder: Path) -> Run:
        # The union is made at run time, of what the format declares.
        operation = msgspec.convert(wanted, Union[handler.operations])  # noqa: UP007
        return lambda: handler.apply(Source(path, path.name), (operation,), folder / path.name)

    return made


def kbd_first_pages(path: Path, folder: Path) -> Run:
    """Map a file of pages, and read its first ones."""

    def run() -> None:
        source = Source(path, path.name, folder / "shelf")
        PdfFormat().map(source)
        PdfFormat().read(source, Region(pages=f"1-{_FIRST_PAGES}"))

    return run


def docx_map(path: Path, _: Path) -> Run:
    """Go over the paragraphs with python-docx, as its documentation shows."""

    def run() -> list[Any]:
        document = docx.Document(str(path))
        return [(each.style and each.style.name, len(each.text)) for each in document.paragraphs]

    return run


def docx_section(path: Path, _: Path) -> Run:
    """Find a section with python-docx, and take its text."""

    def run() -> list[str]:
        found, section = [], -1
        for each in docx.Document(str(path)).paragraphs:
            style = each.style
            section += style is not None and (style.name or "").startswith("Heading")
            if section == _SECTION:
                found.append(each.text)
        return found

    return run


def docx_append(path: Path, folder: Path) -> Run:
    """Append a paragraph with python-docx."""

    def run() -> None:
        document = docx.Document(str(path))
        document.add_paragraph("Added.")
        document.save(str(folder / path.name))

    return run


def pptx_map(path: Path, _: Path) -> Run:
    """Go over the slides with python-pptx: title, layout, notes, the text of shapes."""

    def run() -> list[Any]:
        found = []
        for slide in pptx.Presentation(str(path)).slides:
            title = slide.shapes.title
            notes = slide.has_notes_slide and slide.notes_slide.notes_text_frame
            texts = [each.text_frame.text for each in slide.shapes if each.has_text_frame]
            told = (title and title.text, slide.slide_layout.name, notes and notes.text)
            found.append((*told, sum(map(len, texts))))
        return found

    return run


def pptx_read(path: Path, _: Path) -> Run:
    """Take the text of one slide with python-pptx."""

    def run() -> list[str]:
        slide = pptx.Presentation(str(path)).slides[_SLIDE]
        return [each.text_frame.text for each in slide.shapes if each.has_text_frame]

    return run


def pptx_retitle(path: Path, folder: Path) -> Run:
    """Set the title of one slide with python-pptx."""

    def run() -> None:
        deck = pptx.Presentation(str(path))
        deck.slides[_SLIDE].shapes.title.text = "Another title"
        deck.save(str(folder / path.name))

    return run


def pypdf_read(path: Path, _: Path, *, pages: int | None = None) -> Run:
    """Take count, outline and text with pypdf."""

    def run() -> int:
        reader = pypdf.PdfReader(path)
        outline = len(reader.outline)
        return outline + sum(len(page.extract_text()) for page in reader.pages[:pages])

    return run


def pdfium_read(path: Path, _: Path, *, pages: int | None = None) -> Run:
    """The same with pypdfium2."""

    def run() -> int:
        found = pypdfium2.PdfDocument(path)
        outline = len(list(found.get_toc()))
        indices = range(len(found) if pages is None else pages)
        return outline + sum(len(found[n].get_textpage().get_text_bounded()) for n in indices)

    return run


WORKS: Mapping[str, Work] = MappingProxyType({
    "kbd docx map": kbd_map(DocxFormat()),
    "kbd docx section": kbd_read(DocxFormat(), Region(section=_SECTION)),
    "kbd docx section again": kbd_read(
        DocxFormat(), Region(section=_SECTION), is_warm=True
    ),
    "kbd docx append": kbd_edit(DocxFormat(), op="append_paragraph", text="Added."),
    "kbd pptx map": kbd_map(PptxFormat()),
    "kbd pptx slide": kbd_read(PptxFormat(), Region(slide_index=_SLIDE)),
    "kbd pptx retitle": kbd_edit(
        PptxFormat(), op="set_slide_text", index=_SLIDE, title="Another title"
    ),
    "kbd pdf map": kbd_map(PdfFormat()),
    "kbd pdf first": kbd_first_pages,
    "kbd pdf all": kbd_all(PdfFormat()),
    "python-docx map": docx_map, "python-docx section": docx_section,
    "python-docx append": docx_append,
    "python-pptx map": pptx_map, "python-pptx slide": pptx_read,
    "python-pptx retitle": pptx_retitle,
    "pypdf first": lambda path, folder: pypdf_read(path, folder, pages=_FIRST_PAGES),
    "pypdf all": pypdf_read,
    "pypdfium2 first": lambda path, folder: pdfium_read(path, folder, pages=_FIRST_PAGES),
    "pypdfium2 all": pdfium_read,
})  # fmt: skip


if __name__ == "__main__":
    answer(WORKS, (*DocxFormat.preload, *PptxFormat.preload, *PdfFormat.preload))
