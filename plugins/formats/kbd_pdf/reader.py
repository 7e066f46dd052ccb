"""Reader of pages: their text, notes and form values, each under a line that names the page."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pypdfium2 as pdfium
from pypdfium2 import raw

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd.formats.page_numbers import MAX_PAGES, format_page_numbers, parse_page_numbers
from kbd_pdf.documents import DrawingCost, OpenedPdf, open_by_pypdf, open_pdf
from kbd_pdf.pages import (
    CHUNK_PAGES,
    cache_guessed_pages,
    cache_textless_pages,
    clean,
    guessed_warning,
    hidden_text_of,
    is_guessed,
    page_label,
    text_of,
    told_by,
)

__all__ = ["MAX_NOTES", "MAX_NOTE_CHARACTERS", "links_of", "notes_of", "passages", "read_pages"]

MAX_NOTES = 500
"""Notes and fields of a page that are looked at."""

MAX_NOTE_CHARACTERS = 2000
"""Of one of them."""

_SILENT = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP)
_HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_TICKED = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)

Fill = Callable[[Any, int], int]
"""Writes a text of UTF-16 into a buffer of some bytes, and returns how many it needs."""


def notes_of(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[str]:
    """Yield a line in brackets for each annotation with text and each form field with a value."""
    for place in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_NOTES)):
        note = raw.FPDFPage_GetAnnot(page, place)
        if not note:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(note)
            if kind == raw.FPDF_ANNOT_WIDGET:
                text = _field(document.formenv, note)
            else:
                text = "" if kind in _SILENT else _comment(note)
            if text:
                hidden = "hidden " if raw.FPDFAnnot_GetFlags(note) & _HIDDEN else ""
                yield f"[{hidden}{text}]"
        finally:
            raw.FPDFPage_CloseAnnot(note)


def links_of(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[str]:
    """Yield the addresses and files that links of a page lead to, of the first ones."""
    place, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(MAX_NOTES):
        if not raw.FPDFLink_Enumerate(page, place, link):
            return
        action = raw.FPDFLink_GetAction(link)
        kind = raw.FPDFAction_GetType(action) if action else 0
        if kind == raw.PDFACTION_URI:
            size = raw.FPDFAction_GetURIPath(document, action, None, 0)
            address = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(document, action, address, size)
        elif kind in (raw.PDFACTION_REMOTEGOTO, raw.PDFACTION_LAUNCH):
            size = raw.FPDFAction_GetFilePath(action, None, 0)
            address = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetFilePath(action, address, size)
        else:
            continue
        yield clean(address.value.decode("utf-8", "replace")).strip()


def _field(forms: pdfium.PdfFormEnv | None, note: Any) -> str:
    if forms is None:
        return ""
    name = _text(lambda buffer, size: raw.FPDFAnnot_GetFormFieldName(forms, note, buffer, size))
    if raw.FPDFAnnot_GetFormFieldType(forms, note) in _TICKED:
        if not raw.FPDFAnnot_IsChecked(forms, note):
            return ""
        return f"form field {name}: ticked"
    value = _text(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(forms, note, buffer, size))
    return f"form field {name}: {value}" if value else ""


def _comment(note: Any) -> str:
    words = _note_value(note, b"Contents")
    if not words:
        return ""
    author = _note_value(note, b"T")
    return f"note by {author}: {words}" if author else f"note: {words}"


def _note_value(note: Any, key: bytes) -> str:
    return _text(lambda buffer, size: raw.FPDFAnnot_GetStringValue(note, key, buffer, size))


def _text(fill: Fill) -> str:
    text = clean(told_by(fill)).strip()
    return text if len(text) <= MAX_NOTE_CHARACTERS else f"{text[:MAX_NOTE_CHARACTERS]}…"


MAX_CHARACTERS = 8_000_000
"""Of one reading: what 2,000 full pages have."""


class PageRead(msgspec.Struct, frozen=True):
    """The text of one page, as it is read.

    Args:
        number: Counted from 1.
        text: Under its label, with notes and values of form fields.
        is_textless: Whether the page itself has no text.
        has_hidden_text: Whether part of its text is not seen by people.
        is_guessed: Whether its fonts do not say which letters they draw.
        is_damaged: Whether it could not be read.
    """

    number: int
    text: str
    is_textless: bool = False
    has_hidden_text: bool = False
    is_guessed: bool = False
    is_damaged: bool = False


def read_pages(source: Source, region: Region) -> Reading:
    """Return the text of pages; of a long file without coordinates that of its first chunk.

    Raises:
        FileReadFailed: The file cannot be read, or none of these pages.
        ValidationFailed: There is no such page, or the coordinates are not pages.
    """
    foreign = set(region.named()) - {"pages"}
    if foreign:
        raise ValidationFailed(f"{source.name} is read by pages, not by {min(foreign)}")
    with open_pdf(source) as found:
        count = found.page_count
        first = tuple(range(1, min(count, CHUNK_PAGES) + 1))
        numbers = (
            first if region.pages is None else parse_page_numbers(region.pages, count, source.name)
        )
        pages, size = [], 0
        for page in _pages(source, found, numbers):
            size += len(page.text)
            if size > MAX_CHARACTERS:
                listed = format_page_numbers(numbers)
                msg = f"pages {listed} of {source.name} are more than one reading holds"
                raise ValidationFailed(f"{msg} ({MAX_CHARACTERS:,} characters); give fewer")
            pages.append(page)
    if all(page.is_damaged for page in pages):
        raise FileReadFailed(f"pages {format_page_numbers(numbers)} of {source.name} are damaged")
    return Reading(
        "\n\n".join(page.text for page in pages) + "\n",
        _chunk_info(numbers, count),
        (*found.warnings, *_warnings(pages)),
    )


def passages(source: Source) -> Iterator[Passage]:
    """Yield the text page by page; raises FileReadFailed.

    Whoever asks for all of it has looked at every page, so which have no text is kept for the map.
    """
    textless: list[int] = []
    guessed: list[int] = []
    with open_pdf(source) as found:
        numbers = range(1, found.page_count + 1)
        for page in _pages(source, found, numbers):
            if page.is_textless:
                textless.append(page.number)
            if page.is_guessed:
                guessed.append(page.number)
            yield Passage(page.text, f"page {page.number}", _region(page))
        if found.document is not None:
            cache_guessed_pages(source.shelf, guessed)
            cache_textless_pages(source.shelf, textless)


def _region(page: PageRead) -> Region | None:
    """Return how `read_pages` reads a page; it refuses those that are damaged or endless."""
    if page.is_damaged or len(page.text) > MAX_CHARACTERS:
        return None
    return Region(pages=str(page.number))


def _chunk_info(numbers: Sequence[int], count: int) -> ChunkInfo | None:
    """Tell where pages stand, unless they are the whole file in its order."""
    if tuple(numbers) == tuple(range(1, count + 1)):
        return None
    chunks = -(-count // CHUNK_PAGES)
    return ChunkInfo(
        (numbers[0] - 1) // CHUNK_PAGES, chunks, max(numbers) < count, format_page_numbers(numbers)
    )


def _warnings(pages: Sequence[PageRead]) -> Iterator[str]:
    if damaged := [page.number for page in pages if page.is_damaged]:
        yield f"Damaged, and left out: pages {format_page_numbers(damaged)}."
    textless = [page.number for page in pages if page.is_textless and not page.is_damaged]
    if textless:
        yield (
            f"No text on pages {format_page_numbers(textless)}: they are blank, or pictures of "
            "text that was not recognised."
        )
    if guessed := [page.number for page in pages if page.is_guessed]:
        yield guessed_warning(guessed)
    if hidden_text := [page.number for page in pages if page.has_hidden_text]:
        yield (
            f"Text that people do not see is on pages {format_page_numbers(hidden_text)}: it is in "
            "their text, and told again below it."
        )


def _pages(source: Source, found: OpenedPdf, numbers: Sequence[int]) -> Iterator[PageRead]:
    if found.document is None:
        yield from _pages_by_pypdf(source, numbers[:MAX_PAGES])
        return
    for number in numbers:
        yield _page(found.document, number, found.cost)


def _page(document: pdfium.PdfDocument, number: int, cost: DrawingCost) -> PageRead:
    try:
        page = document[number - 1]
        textpage = page.get_textpage()
    except pdfium.PdfiumError:
        return _damaged(number)
    try:
        text = text_of(textpage).rstrip()
        has_guesses = bool(text) and is_guessed(textpage)
        hidden_text = hidden_text_of(page, textpage, cost.is_little) if text else None
        notes = list(notes_of(document, page))
    finally:
        textpage.close()
        page.close()
    label = page_label(document, number - 1)[:40]
    called = f"page {number}, numbered {label}" if label not in ("", str(number)) else ""
    state = ""
    if not text.strip():
        state = ", without text"
    elif hidden_text and hidden_text.is_layer:
        state = ", the text layer of a scan"
    lines = [f"[{called or f'page {number}'}{state}]", text, *notes]
    if hidden_text and hidden_text.text:
        # Told apart: text that people do not see may be written for the model alone.
        lines.append(f"[text on page {number} that people do not see: {hidden_text.text}]")
    shown = "\n".join(line for line in lines if line)
    is_partly_hidden = hidden_text is not None and bool(hidden_text.text)
    return PageRead(
        number,
        shown,
        is_textless=not text.strip(),
        has_hidden_text=is_partly_hidden,
        is_guessed=has_guesses,
    )


def _damaged(number: int) -> PageRead:
    return PageRead(number, f"[page {number}, damaged]", is_textless=True, is_damaged=True)


def _pages_by_pypdf(source: Source, numbers: Sequence[int]) -> list[PageRead]:
    """Return the pages as pypdf reads them; it takes five to ten times as long."""
    found = []
    with open_by_pypdf(source) as reader:
        for number in numbers:
            try:
                text = clean(reader.pages[number - 1].extract_text()).rstrip()
            # Memory that runs out is the end of the worker, not damage of a page.
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 - whatever a damaged page makes pypdf raise
                found.append(_damaged(number))
                continue
            label = f"[page {number}]" if text else f"[page {number}, without text]"
            found.append(PageRead(number, f"{label}\n{text}".rstrip(), is_textless=not text))
    return found
