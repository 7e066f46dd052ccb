"""The table of contents: titles with their levels and the pages that they lead to."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pypdfium2 as pdfium
from pypdf import PdfReader

from kbd_pdf.pages import clean

__all__ = ["MOST_ENTRIES", "contents", "contents_by_pypdf"]

MOST_ENTRIES = 1000
"""Entries that a map lists."""

MOST_CHARACTERS = 300
"""Of a title."""


def contents(document: pdfium.PdfDocument) -> list[dict[str, Any]]:
    """Return the first `MOST_ENTRIES` + 1 entries: title, page from 1 or None, level from 1.

    Places are told by page, by name, or by an action that goes to one; pdfium follows them all. A
    page is None where an entry leads nowhere, or out of the file.
    """
    found = []
    for entry in islice(document.get_toc(), MOST_ENTRIES + 1):
        place = entry.get_dest()
        index = None if place is None else place.get_index()
        found.append(_entry(entry.get_title(), index, entry.level + 1))
    return found


def contents_by_pypdf(reader: PdfReader) -> list[dict[str, Any]]:
    """Return the same, of a file that only pypdf can open."""
    return list(islice(_walk(reader, reader.outline, 1), MOST_ENTRIES + 1))


def _walk(reader: PdfReader, entries: Any, level: int) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if isinstance(entry, list):
            yield from _walk(reader, entry, level + 1)
        else:
            index = reader.get_destination_page_number(entry)
            yield _entry(str(entry.title), index, level)


def _entry(title: str, index: int | None, level: int) -> dict[str, Any]:
    words = " ".join(clean(title).split())[:MOST_CHARACTERS]
    page = None if index is None or index < 0 else index + 1
    return {"title": words, "page": page, "level": level}
