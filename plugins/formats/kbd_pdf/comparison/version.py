"""One version of a PDF file as a comparison needs it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pypdfium2 as pdfium
from PIL import Image, ImageChops
from pypdfium2 import raw

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.page_numbers import MAX_PAGES
from kbd_pdf.comparison.objects import ObjectFacts, numbered, read_objects
from kbd_pdf.documents import OpenedPdf, may_have_actions, open_by_pypdf, open_pdf
from kbd_pdf.file_map import MAX_ENTRIES, contents, contents_by_pypdf, document_info
from kbd_pdf.pages import clean, page_label, text_of
from kbd_pdf.previews import draw_page
from kbd_pdf.reader import MAX_NOTE_CHARACTERS, MAX_NOTES, links_of, notes_of
from kbd_pdf.structure import MAX_WHOLE, Structure, read_structure

__all__ = ["MAX_DRAWN", "MAX_SHADE", "PageFacts", "PdfVersion", "open_version"]

MAX_DRAWN = 200
"""Pages that are drawn to be compared; drawing one takes some hundredths of a second."""

LOOK_PX = 256
"""The longer edge at which pages are told apart."""

COMPARED_PX = 800
"""The same at which the pixels that differ are counted."""

MAX_SHADE = 24
"""Of 255: as much two pixels differ that programs drew at other fractions of a point."""

_FIELD = "[form field "


class PageFacts(NamedTuple):
    """A page.

    Args:
        text: Its text.
        notes: Its annotations that have a text, then where its links lead out of the file.
        layout: Its width and height in points and its rotation.
        label: What the file calls it, "" where that is its number.
        look: A digest of it as a small picture, "" where it was not drawn.
    """

    text: str
    notes: tuple[str, ...] = ()
    layout: tuple[float, float, int] = (0.0, 0.0, 0)
    label: str = ""
    look: str = ""


class PdfVersion:
    """A version of a file, open as long as it is compared.

    Args:
        source: The file.
        opened: The same, as it was opened.

    Attributes:
        name: The file's name.
        warnings: What was not compared; it grows.
        pages: Its pages in order, at most `MAX_PAGES`.
        faint: Indices of pages that look a little other than in the version before.
    """

    def __init__(self, source: Source, opened: OpenedPdf) -> None:
        self.name = source.name
        self._source = source
        self._opened = opened
        self.warnings = dict.fromkeys(opened.warnings)
        self.pages: list[PageFacts] = []
        self.faint: list[int] = []
        self._objects: ObjectFacts | None = None
        self._structure: Structure | None = None
        if opened.page_count > MAX_PAGES:
            self.warnings[f"Only the first {MAX_PAGES:,} pages were compared."] = None

    def read_pages(self, *, with_looks: bool) -> None:
        """Read all pages, and draw the first ones.

        Raises:
            FileReadFailed: The file opens in one way only, and that does not give its text.
        """
        count = min(self._opened.page_count, MAX_PAGES)
        if self._opened.document is None:
            self.pages = self._pages_by_pypdf(count)
            return
        for index in range(count):
            page = self._page(self._opened.document, index)
            if with_looks and index < MAX_DRAWN:
                page = page._replace(look=self._look(index))
            self.pages.append(page)
        if with_looks and count > MAX_DRAWN:
            self.warnings[
                f"Of {count:,} pages the first {MAX_DRAWN} were compared as pictures, the others "
                "by their text alone."
            ] = None

    def _page(self, document: pdfium.PdfDocument, index: int) -> PageFacts:
        try:
            page = document[index]
            textpage = page.get_textpage()
        except pdfium.PdfiumError:
            self.warnings[f"Page {index + 1} is damaged, and was not compared."] = None
            return PageFacts("")
        try:
            width, height = page.get_size()
            layout = (round(width, 2), round(height, 2), page.get_rotation())
            notes = [note for note in notes_of(document, page) if not note.startswith(_FIELD)]
            self._warn_of_notes(index, page, notes)
            label = page_label(document, index)[:40]
            return PageFacts(
                text_of(textpage).rstrip(),
                (
                    *(note.strip("[]") for note in notes),
                    *(f"link to {each}" for each in links_of(document, page)),
                ),
                layout,
                "" if label == str(index + 1) else label,
            )
        finally:
            textpage.close()
            page.close()

    def _warn_of_notes(self, index: int, page: pdfium.PdfPage, notes: list[str]) -> None:
        if raw.FPDFPage_GetAnnotCount(page) > MAX_NOTES:
            self.warnings[
                f"Of the annotations of page {index + 1} the first {MAX_NOTES} were compared."
            ] = None
        if any(len(note) > MAX_NOTE_CHARACTERS for note in notes):
            self.warnings[
                f"Of a note on page {index + 1} the first {MAX_NOTE_CHARACTERS:,} characters were "
                "compared."
            ] = None

    def _pages_by_pypdf(self, count: int) -> list[PageFacts]:
        found = []
        with open_by_pypdf(self._source) as reader:
            for index in range(count):
                try:
                    found.append(PageFacts(clean(reader.pages[index].extract_text()).rstrip()))
                # Memory that runs out is the end of the worker, not damage of a page.
                except MemoryError:
                    raise
                except Exception:  # noqa: BLE001 - whatever a damaged page makes pypdf raise
                    self.warnings[f"Page {index + 1} is damaged, and was not compared."] = None
                    found.append(PageFacts(""))
        return found

    def _look(self, index: int) -> str:
        picture = self.draw(index, LOOK_PX)
        if picture is None:
            return ""
        size = f"{picture.width} {picture.height} ".encode()
        return hashlib.sha256(size + picture.tobytes()).hexdigest()

    def draw(self, index: int, edge_px: int) -> Image.Image | None:
        """Return a page as a picture; None, with a warning, if it cannot be drawn."""
        try:
            return draw_page(self._opened, index, edge_px)
        except FileReadFailed as error:
            self.warnings[f"Page {index + 1} was compared by its text alone: {error.message}."] = (
                None
            )
            return None

    def differing_pixels(self, index: int, other: "PdfVersion", at: int) -> float | None:
        """Return the share of pixels that differ on a page; None where they cannot be compared.

        Args:
            index: The page, from 0.
            other: The other version.
            at: The page there.
        """
        old, new = self.draw(index, COMPARED_PX), other.draw(at, COMPARED_PX)
        if old is None or new is None:
            return None
        if old.size != new.size:
            return 1.0
        bands = ImageChops.difference(old, new).split()
        most = bands[0]
        for band in bands[1:]:
            most = ImageChops.lighter(most, band)
        shades = most.histogram()
        return sum(shades[MAX_SHADE + 1 :]) / max(1, most.width * most.height)

    def properties(self) -> dict[str, Any]:
        """Return what the file says of itself."""
        document = self._opened.document
        found = {} if document is None else document_info(document, MAX_WHOLE)
        # That of the first page is told with the page.
        found.pop("page_size", None)
        structure = self.structure()
        if structure.is_signed:
            found["is_signed"] = True
        return found | self.objects().properties

    def outline(self) -> list[tuple[str, int, int | None]]:
        """Return the table of contents: titles, levels, and pages from 1."""
        entries: list[dict[str, Any]] = []
        if self._opened.document is not None:
            entries = contents(self._opened.document)
        else:
            with open_by_pypdf(self._source) as reader:
                entries = contents_by_pypdf(reader)
        if len(entries) > MAX_ENTRIES:
            self.warnings[f"The first {len(entries):,} outline entries were compared."] = None
        return [(each["title"], each["level"], each["page"]) for each in entries]

    def structure(self) -> Structure:
        """Return form fields, annotations, attachments and actions; none, with a warning."""
        if self._structure is None:
            self._structure = Structure()
            try:
                with open_by_pypdf(self._source) as reader:
                    has_actions = may_have_actions(self._source.path)
                    self._structure = read_structure(reader, with_pages=has_actions, is_whole=True)
                    self._objects = read_objects(reader, self._structure)
            except FileReadFailed as error:
                self.warnings[f"Forms and attachments were not compared: {error.message}."] = None
        return self._structure

    def objects(self) -> ObjectFacts:
        """Return what is in attachments, scripts and metadata; nothing, with a warning."""
        self.structure()
        return self._objects or ObjectFacts()

    def fields(self) -> dict[str, Any]:
        """Return the values of form fields by name; further ones of a name are numbered."""
        structure = self.structure()
        if structure.field_count > len(structure.fields):
            self.warnings[f"The first {len(structure.fields):,} form fields were compared."] = None
        return numbered((field["name"], field["value"]) for field in structure.fields)


@contextmanager
def open_version(source: Source, *, with_looks: bool) -> Iterator[PdfVersion]:
    """Open a version of a file and read its pages.

    Args:
        source: The file.
        with_looks: Whether pages are drawn.

    Raises:
        FileReadFailed: It cannot be read.
    """
    with open_pdf(source) as opened:
        version = PdfVersion(source, opened)
        version.read_pages(with_looks=with_looks)
        yield version
