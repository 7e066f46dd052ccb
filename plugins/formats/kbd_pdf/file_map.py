"""Map of a PDF file: its properties, its pages, and its table of contents.

The table of contents is titles with their levels and the pages that they lead to.
"""

import contextlib
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, Literal

import pypdfium2 as pdfium
from pypdf import PdfReader
from pypdfium2 import raw

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.page_numbers import MAX_PAGES, format_page_numbers
from kbd_pdf.documents import OpenedPdf, may_have_actions, open_by_pypdf, open_pdf
from kbd_pdf.pages import (
    CHUNK_PAGES,
    cached_guessed_pages,
    cached_textless_pages,
    clean,
    guessed_warning,
    page_label,
    text_state,
    told_by,
)
from kbd_pdf.structure import Structure, read_structure

__all__ = ["MAX_ENTRIES", "contents", "contents_by_pypdf", "document_info", "facts", "file_map"]

MAX_ENTRIES = 1000
"""Entries that a map lists."""

MAX_CHARACTERS = 300
"""Of a title."""


def contents(document: pdfium.PdfDocument) -> list[dict[str, Any]]:
    """Return the first `MAX_ENTRIES` + 1 entries: title, page from 1 or None, level from 1.

    Places are told by page, by name, or by an action that goes to one; pdfium follows them all. A
    page is None where an entry leads nowhere, or out of the file.
    """
    found = []
    for entry in islice(document.get_toc(), MAX_ENTRIES + 1):
        place = entry.get_dest()
        index = None if place is None else place.get_index()
        title = told_by(partial(raw.FPDFBookmark_GetTitle, entry))
        found.append(_entry(title, index, entry.level + 1))
    return found


def contents_by_pypdf(reader: PdfReader) -> list[dict[str, Any]]:
    """Return the same, of a file that only pypdf can open."""
    return list(islice(_outline_entries(reader, reader.outline, 1), MAX_ENTRIES + 1))


def _outline_entries(reader: PdfReader, entries: Any, level: int) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if isinstance(entry, list):
            yield from _outline_entries(reader, entry, level + 1)
        else:
            index = reader.get_destination_page_number(entry)
            yield _entry(str(entry.title), index, level)


def _entry(title: str, index: int | None, level: int) -> dict[str, Any]:
    words = " ".join(clean(title).split())[:MAX_CHARACTERS]
    page = None if index is None or index < 0 else index + 1
    return {"title": words, "page": page, "level": level}


LOOKED_PAGES = 50
"""Pages that a map looks at for text, as long as nobody has read them all."""

MAX_LABELS = 100
"""Page labels that a map lists."""

_POINTS_PER_INCH = 72
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(Z|[+-]\d\d(?:'\d\d)?)?", re.ASCII
)
INFO_FIELDS = {
    "Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords",
    "Creator": "creator", "Producer": "producer", "CreationDate": "created", "ModDate": "modified",
}  # fmt: skip


def facts(source: Source) -> dict[str, Any]:
    """Return the number of pages, what the file says of itself, and the size of its first page.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    with open_pdf(source) as found:
        result: dict[str, Any] = {"format": "pdf", "page_count": found.page_count}
        if found.document is not None:
            result |= document_info(found.document)
        if found.warnings:
            result["warnings"] = list(found.warnings)
        return result


def file_map(source: Source) -> dict[str, Any]:
    """Return pages, table of contents, form fields, annotations, pages without text and chunks.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    with open_pdf(source) as found:
        warnings = list(found.warnings)
        structure, entries = Structure(), list[dict[str, Any]]()
        if found.document is not None:
            entries = contents(found.document)
        try:
            # A file that only pdfium takes is mapped all the same, with a word on what is not
            # known.
            with open_by_pypdf(source) as reader:
                if found.document is None:
                    entries = contents_by_pypdf(reader)
                structure = read_structure(reader, with_pages=may_have_actions(source.path))
        except FileReadFailed as error:
            warnings.append(f"{_UNKNOWN} ({error.message})")
        result: dict[str, Any] = {
            "page_count": found.page_count,
            "has_toc": bool(entries),
            "toc": entries[:MAX_ENTRIES],
            "has_forms": structure.field_count > 0 or structure.is_xfa,
            "has_annotations": bool(structure.annotations),
        }
        result |= _optional_fields(structure)
        result |= _pages(source, found)
        if guessed := result.get("pages_with_guessed_text"):
            warnings.append(guessed_warning(guessed))
        warnings += _warnings(found, entries, structure)
        if warnings:
            result["warnings"] = warnings
        if carried := structure.active_content():
            result["active_content"] = carried
        return result


def _metadata(document: pdfium.PdfDocument, key: str) -> str:
    return told_by(partial(raw.FPDF_GetMetaText, document, key.encode() + b"\0"))


def document_info(document: pdfium.PdfDocument, length: int = 300) -> dict[str, Any]:
    """Return what a file says of itself, whether it is encrypted, and its first page's size."""
    values = {
        name: " ".join(clean(_metadata(document, key)).split())[:length]
        for key, name in INFO_FIELDS.items()
    }
    for name in ("created", "modified"):
        values[name] = _iso_date(values[name])
    result: dict[str, Any] = {name: value for name, value in values.items() if value}
    # -1 without a security handler (ISO 32000-1, 7.6); a file may be encrypted without a password.
    if raw.FPDF_GetSecurityHandlerRevision(document) > 0:
        result["is_encrypted"] = True
    with contextlib.suppress(pdfium.PdfiumError):
        width, height = document.get_page_size(0)
        result["page_size"] = {
            "width": round(width / _POINTS_PER_INCH, 2),
            "height": round(height / _POINTS_PER_INCH, 2),
        }
    return result


def _iso_date(date: str) -> str:
    """Return a date of a PDF (ISO 32000-1, 7.9.4) as an ISO one; what is none stays as it is."""
    found = _DATE.match(date)
    if found is None:
        return date
    year, month, day, hour, minute, second, zone = (part or "" for part in found.groups())
    result = "-".join(filter(None, (year, month, day)))
    if not minute:
        return result
    zone = zone.replace("'", ":").strip(":")
    return f"{result}T{hour}:{minute}:{second or '00'}{'Z' if zone.startswith('Z') else zone}"


def _optional_fields(structure: Structure) -> dict[str, Any]:
    """Return the parts of a map that most files do not have."""
    result: dict[str, Any] = {}
    if structure.fields:
        result["form_fields"] = structure.fields
        result["form_field_count"] = structure.field_count
    if structure.annotations:
        result["annotations"] = dict(sorted(structure.annotations.items()))
    if structure.files:
        result["attachments"] = structure.files
    if structure.is_signed:
        result["is_signed"] = True
    return result


def _pages(source: Source, found: OpenedPdf) -> dict[str, Any]:
    """Return which pages have no text or another label, and the chunks."""
    result: dict[str, Any] = {"pages_without_text": []}
    last = min(found.page_count, LOOKED_PAGES)
    document = found.document
    if document is not None:
        textless = cached_textless_pages(source.shelf)
        guessed = cached_guessed_pages(source.shelf)
        if textless is None:
            states = {number: _text_state(document, number) for number in range(1, last + 1)}
            textless = [number for number, state in states.items() if state == "none"]
            guessed = [number for number, state in states.items() if state == "guessed"]
            if last < found.page_count:
                result["pages_looked_at"] = f"1-{last}"
        result["pages_without_text"] = textless
        if guessed:
            result["pages_with_guessed_text"] = guessed
        if labels := list(_labels(document, min(found.page_count, MAX_PAGES))):
            result["page_labels"] = labels[:MAX_LABELS]
    else:
        result["pages_looked_at"] = "none"
    starts = range(1, min(found.page_count, MAX_PAGES) + 1, CHUNK_PAGES)
    result["chunks"] = [
        {
            "index": index,
            "pages": format_page_numbers(
                range(start, min(start + CHUNK_PAGES, found.page_count + 1))
            ),
        }
        for index, start in enumerate(starts)
    ]
    return result


def _text_state(document: pdfium.PdfDocument, number: int) -> Literal["none", "guessed", "known"]:
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        return "none"
    try:
        return text_state(page)
    finally:
        page.close()


def _labels(document: pdfium.PdfDocument, last: int) -> Iterator[dict[str, Any]]:
    for number in range(1, last + 1):
        label = page_label(document, number - 1)
        if label not in ("", str(number)):
            yield {"page": number, "label": clean(label)[:40]}


def _warnings(
    found: OpenedPdf, entries: list[dict[str, Any]], structure: Structure
) -> Iterator[str]:
    if len(entries) > MAX_ENTRIES:
        yield f"The table of contents goes on; its first {MAX_ENTRIES:,} entries are listed."
    if structure.field_count > len(structure.fields):
        yield f"The first {len(structure.fields)} of {structure.field_count:,} fields are listed."
    if found.page_count > MAX_PAGES:
        yield (
            f"The map covers the first {MAX_PAGES:,} of {found.page_count:,} pages; the others "
            "are read by number like these."
        )
    if structure.is_xfa:
        yield "The form is of a kind (XFA) that is not shown; its pages may say only so."
    if structure.files:
        yield "Files are attached to it; they are not opened."
    yield from structure.actions.warnings()


_UNKNOWN = "Forms, annotations, attached files and actions were not found out"
