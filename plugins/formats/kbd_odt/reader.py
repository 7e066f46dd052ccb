"""Map of a text, and its contents: whole, by section, or by chunk of either.

Headings begin with a # a level, list items with their bullet or number; a table is a line a row,
its cells between bars.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd.office.open_document import DC, META, count
from kbd_odt.document import (
    CHUNK_CHARS,
    OdtChunk,
    OdtDocument,
    Section,
    document_warnings,
    read_document,
)
from kbd_odt.packages import open_metadata

__all__ = ["facts", "passages", "read_region", "text_map"]

_MAX_MAP_CHARS = 200
_MAX_LISTED = 1_000
"""Sections, tables, pictures and chunks of a section that a map lists; a `..._count` has all."""

_STATISTICS = {
    f"{META}page-count": "page_count_told",
    f"{META}word-count": "word_count_told",
}
"""Counts by the program that saved the file; nobody checks them."""


def facts(source: Source) -> dict[str, Any]:
    """Return the metadata of a text, without reading its contents; raises FileReadFailed."""
    found: dict[str, Any] = {"format": PurePath(source.name).suffix.lower().removeprefix(".")}
    with open_metadata(source) as root:
        if root is None:
            return found
        for name, field in (("title", "title"), ("creator", "author"), ("subject", "subject"),
                            ("date", "modified_at")):  # fmt: skip
            text = root.findtext(f".//{DC}{name}", "").strip()
            if text:
                found[field] = text[:_MAX_MAP_CHARS]
        counts = root.find(f".//{META}document-statistic")
        for name, field in _STATISTICS.items():
            value = counts.get(name, "") if counts is not None else ""
            if value.isascii() and value.isdecimal():
                found[field] = count(value, 1 << 31)
    return found


def text_map(source: Source) -> dict[str, Any]:
    """Return the map of a text; its fields are those of documents.

    Raises:
        FileReadFailed: It cannot be read.
    """
    document = read_document(source)
    notices = document.notices
    found: dict[str, Any] = {
        "sections": [
            _section(index, each) for index, each in enumerate(document.sections[:_MAX_LISTED])
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
                {
                    "page_style": margin.page_style,
                    "type": margin.type,
                    "text": _short(margin.text, _MAX_MAP_CHARS),
                }
                for margin in margins[:_MAX_LISTED]
            ]
    for what, all_of_it in (
        ("section", document.sections), ("table", document.tables), ("image", document.pictures),
    ):  # fmt: skip
        if len(all_of_it) > _MAX_LISTED:
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
            for at, chunk in enumerate(section.chunks[:_MAX_LISTED])
        ],
    }
    if len(section.chunks) > _MAX_LISTED:
        entry["chunk_count"] = len(section.chunks)
    return entry


def _tables(document: OdtDocument) -> list[dict[str, Any]]:
    found = []
    for index, table in enumerate(document.tables[:_MAX_LISTED]):
        row: dict[str, Any] = {
            "index": index,
            "section": _heading(document, table.section),
            "section_index": table.section,
            "rows": table.row_count,
            "cols": table.column_count,
        }
        if table.name:
            row["name"] = _short(table.name, _MAX_MAP_CHARS)
        if table.header:
            row["header"] = [_short(text, _MAX_MAP_CHARS) for text in table.header]
        found.append(row)
    return found


def _images(document: OdtDocument) -> list[dict[str, Any]]:
    found = []
    for index, picture in enumerate(document.pictures[:_MAX_LISTED]):
        row: dict[str, Any] = {
            "index": index,
            "section": _heading(document, picture.section),
            "section_index": picture.section,
            "alt_text": _short(picture.alt_text, _MAX_MAP_CHARS),
        }
        for field, value in (("name", picture.name), ("file", picture.file)):
            if value:
                row[field] = _short(value, _MAX_MAP_CHARS)
        found.append(row)
    return found


def _heading(document: OdtDocument, index: int) -> str:
    return document.sections[index].heading if index < len(document.sections) else ""


WHOLE_CHARS = 4 * CHUNK_CHARS
"""Characters that are read at once where no chunk is asked for, as of other documents."""

_COORDINATES = ("section", "chunk")
_MAX_NAMED = 20
_SHOWN_CHARS = 80

Placed = tuple[int, OdtChunk]
"""A chunk with the index of its section."""


def read_region(source: Source, region: Region) -> Reading:
    """Read a section, a chunk of one, or the text; of a long one its first chunk.

    Raises:
        FileReadFailed: The file cannot be read.
        ValidationFailed: There is no such section or chunk, or other coordinates are given.
    """
    wrong = [name for name in region.named() if name not in _COORDINATES]
    if wrong:
        raise ValidationFailed(f"{source.name} is read by section and chunk, not by {wrong[0]}")
    document = read_document(source)
    if region.section is None:
        what, places = "the text", range(len(document.sections))
    else:
        index = _section_index(document.sections, region.section, source.name)
        what, places = f"section {index}", range(index, index + 1)
    chunks = [(place, chunk) for place in places for chunk in document.sections[place].chunks]
    return _reading(source.name, document, what, chunks, region.chunk)


def passages(source: Source) -> Iterator[Passage]:
    """Yield all text by chunks, and after it headers and footers; raises FileReadFailed."""
    document = read_document(source)
    for index, section in enumerate(document.sections):
        named = f' "{section.heading}"' if section.heading else ""
        for number, chunk in enumerate(section.chunks):
            place = f"section {index}{named}, {chunk.range}"
            yield Passage(chunk.text, place, Region(section=index, chunk=number))
    for margin in document.margins:
        yield Passage(margin.text, f"{margin.kind} of page style {margin.page_style or 'default'}")


def _reading(
    name: str, document: OdtDocument, what: str, chunks: Sequence[Placed], wanted: int | None
) -> Reading:
    """Return one of the chunks, or all of them if none is wanted and they are short."""
    warnings = tuple(document_warnings(document))
    count = len(chunks)
    size = sum(len(chunk.text) + 1 for _, chunk in chunks)
    # A single chunk is given whole, however long: there is no other to go on with.
    if wanted is None and (size <= WHOLE_CHARS or count == 1):
        return Reading("\n".join(chunk.text for _, chunk in chunks), None, warnings)
    at = wanted or 0
    if not 0 <= at < count:
        raise ValidationFailed(
            f"{name}: {what} has {count} chunks, from 0 to {count - 1}; there is no chunk {wanted}"
        )
    index, chunk = chunks[at]
    info = ChunkInfo(at, count, at + 1 < count, f"section {index}, {chunk.range}")
    if wanted is None:
        notice = f"{what[:1].upper()}{what[1:]} has {count:,} chunks; this is the first. Read on"
        warnings = (f"{notice} with chunk.", *warnings)
    return Reading(chunk.text, info, warnings)


def _section_index(sections: Sequence[Section], wanted: str | int, name: str) -> int:
    """Return which section is meant: a heading as it is, else a heading alike, else an index."""
    if isinstance(wanted, str):
        exact = [index for index, each in enumerate(sections) if each.heading == wanted]
        alike = [index for index, each in enumerate(sections) if _key(each) == _folded(wanted)]
        found = exact or alike
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(map(str, found[:_MAX_NAMED]))
            raise ValidationFailed(
                f"{len(found)} sections of {name} have the heading {_short(wanted)!r}; give one of "
                f"their indices: {shown}{', …' if len(found) > _MAX_NAMED else ''}"
            )
    try:
        # Only now, for a heading may be a number, such as a year.
        index = int(wanted)
    except ValueError:
        raise ValidationFailed(_unknown(sections, str(wanted), name)) from None
    if not 0 <= index < len(sections):
        raise ValidationFailed(
            f"{name} has {len(sections)} sections, from 0 to {len(sections) - 1}; there is no "
            f"section {_short(str(wanted))}"
        )
    return index


def _unknown(sections: Sequence[Section], wanted: str, name: str) -> str:
    named = [_short(section.heading) for section in sections if section.heading]
    known = ", ".join(repr(heading) for heading in named[:_MAX_NAMED])
    more = ", …" if len(named) > _MAX_NAMED else ""
    listed = f"its headings: {known}{more}" if named else "it has no headings, section 0 is all"
    return f"{name} has no section {_short(wanted)!r}; {listed}"


def _key(section: Section) -> str:
    # No text folds to this, so that a blank name does not find sections without a heading.
    return _folded(section.heading) if section.heading else "\0"


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def _short(text: str, limit: int = _SHOWN_CHARS) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
