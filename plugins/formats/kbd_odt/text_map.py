"""What a text holds and where, without its contents."""

from pathlib import PurePath
from typing import Any

from kbd.formats import Source
from kbd_odt.body import look_through
from kbd_odt.document import OdtDocument, Section, document_warnings
from kbd_odt.packages import DC, META, count, properties

__all__ = ["facts", "text_map"]

_SHOWN_CHARS = 200
_MOST_LISTED = 1_000
"""Sections, tables, pictures and chunks of a section that a map lists; a `..._count` has all."""

_TOLD = {
    f"{META}page-count": "page_count_told",
    f"{META}word-count": "word_count_told",
}
"""What the program that saved the file counted; nobody checks it."""


def facts(source: Source) -> dict[str, Any]:
    """Return what a text tells of itself without being looked through; raises FileReadFailed."""
    found: dict[str, Any] = {"format": PurePath(source.name).suffix.lower().removeprefix(".")}
    with properties(source) as root:
        if root is None:
            return found
        for name, field in (("title", "title"), ("creator", "author"), ("subject", "subject"),
                            ("date", "modified_at")):  # fmt: skip
            text = root.findtext(f".//{DC}{name}", "").strip()
            if text:
                found[field] = text[:_SHOWN_CHARS]
        counts = root.find(f".//{META}document-statistic")
        for name, field in _TOLD.items():
            value = counts.get(name, "") if counts is not None else ""
            if value.isascii() and value.isdecimal():
                found[field] = count(value, 1 << 31)
    return found


def text_map(source: Source) -> dict[str, Any]:
    """Return the map of a text; its fields are those of documents.

    Raises:
        FileReadFailed: It cannot be read.
    """
    document = look_through(source)
    notices = document.notices
    found: dict[str, Any] = {
        "sections": [
            _section(index, each) for index, each in enumerate(document.sections[:_MOST_LISTED])
        ],
        "tables": _tables(document),
        "images": _images(document),
        "paragraph_count": document.paragraph_count,
        "total_char_count": sum(len(section.text) for section in document.sections),
        "has_headers_footers": bool(document.margins),
        "has_comments": notices.comments > 0,
        "has_tracked_changes": notices.insertions + notices.deletions > 0,
        "footnote_count": notices.footnotes,
        "endnote_count": notices.endnotes,
    }
    for kind in ("header", "footer"):
        margins = [margin for margin in document.margins if margin.kind == kind]
        if margins:
            found[f"{kind}s"] = [
                {"page_style": margin.page_style, "type": margin.type, "text": _short(margin.text)}
                for margin in margins[:_MOST_LISTED]
            ]
    for what, all_of_it in (
        ("section", document.sections), ("table", document.tables), ("image", document.pictures),
    ):  # fmt: skip
        if len(all_of_it) > _MOST_LISTED:
            found[f"{what}_count"] = len(all_of_it)
    warnings = list(document_warnings(document))
    if warnings:
        found["warnings"] = warnings
    return found


def _section(index: int, section: Section) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "index": index,
        "heading": section.heading,
        "level": section.level,
        "char_count": len(section.text),
        "paragraphs": section.paragraphs,
        "has_tables": section.table_count > 0,
        "has_images": section.picture_count > 0,
        "chunks": [
            {"index": at, "paragraphs": chunk.paragraphs, "char_count": len(chunk.text)}
            for at, chunk in enumerate(section.chunks[:_MOST_LISTED])
        ],
    }
    if len(section.chunks) > _MOST_LISTED:
        entry["chunk_count"] = len(section.chunks)
    return entry


def _tables(document: OdtDocument) -> list[dict[str, Any]]:
    found = []
    for index, table in enumerate(document.tables[:_MOST_LISTED]):
        row: dict[str, Any] = {
            "index": index,
            "section": _heading(document, table.section),
            "section_index": table.section,
            "rows": table.row_count,
            "cols": table.column_count,
        }
        if table.name:
            row["name"] = _short(table.name)
        if table.header:
            row["header"] = [_short(text) for text in table.header]
        found.append(row)
    return found


def _images(document: OdtDocument) -> list[dict[str, Any]]:
    found = []
    for index, picture in enumerate(document.pictures[:_MOST_LISTED]):
        row: dict[str, Any] = {
            "index": index,
            "section": _heading(document, picture.section),
            "section_index": picture.section,
            "alt_text": _short(picture.alt_text),
        }
        for field, value in (("name", picture.name), ("file", picture.file)):
            if value:
                row[field] = _short(value)
        found.append(row)
    return found


def _heading(document: OdtDocument, index: int) -> str:
    return document.sections[index].heading if index < len(document.sections) else ""


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
