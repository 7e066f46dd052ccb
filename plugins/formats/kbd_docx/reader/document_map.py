"""The map of a document: sections with their chunks, tables, pictures, and what else it holds.

Field names: contract, section 8. What few documents have is named only where it is there, and long
lists are cut with their true counts beside them, so that maps stay small.
"""

from collections.abc import Mapping
from typing import Any

from kbd.formats import Source
from kbd.opc import suffix_mismatch
from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd_docx.document import FAMILY, open_document
from kbd_docx.reader.builder import read_contents
from kbd_docx.reader.contents import (
    DocxChange,
    DocxChangeCount,
    DocxChunk,
    DocxComment,
    DocxContents,
    DocxControl,
    DocxFormatting,
    DocxHeaderFooter,
    DocxMarked,
    DocxPicture,
    DocxSection,
    DocxTable,
)

__all__ = [
    "MAX_LISTED",
    "change_entry",
    "comment_entry",
    "document_map",
    "facts",
    "formatting_entry",
    "marked_entry",
    "number_range",
    "picture_entry",
]

MAX_LISTED = 1_000
"""Sections, tables, pictures and chunks of a section that a map lists; a `..._count` has all."""

_MAX_MARKS = 60
"""Comments, tracked changes and formatted stretches that a map lists; readings list those of what
is read."""

_SHOWN_CHARS = 200
_NOT_READ = "Files inserted at [inserted file: …] are not read: open the document and update it."

_CORE = {"title": "title", "creator": "author", "subject": "subject", "modified": "modified_at"}
_STORED_COUNTS = {"Pages": "page_count_told", "Words": "word_count_told"}
"""What the program that saved the file counted; nobody checks it."""


def document_map(source: Source) -> dict[str, Any]:
    """Map a document; raises FileReadFailed."""
    document = read_contents(source)
    sections = document.sections
    found: dict[str, Any] = {
        "sections": [_section(index, each) for index, each in enumerate(sections[:MAX_LISTED])],
        "tables": _tables(document),
        "images": _images(document),
        "has_headers_footers": any(header.text for header in document.headers_footers),
        "has_comments": document.comments > 0,
        "has_tracked_changes": bool(document.changes.insertions or document.changes.deletions),
        "footnote_count": document.footnotes,
        "endnote_count": document.endnotes,
        "paragraph_count": document.paragraph_count,
        "total_char_count": sum(section.char_count for section in sections),
        **_optional_entries(document),
    }
    warnings = _warnings(document)
    if warnings:
        found["warnings"] = warnings
    return found


def facts(source: Source) -> dict[str, Any]:
    """Return the properties of a document that need no pass through it.

    Raises:
        FileReadFailed: It is no document, is encrypted or damaged.
    """
    with open_document(source) as (package, identity):
        suffix = FAMILY.types.get(identity.type, ".docx")
        found: dict[str, Any] = {"format": suffix.removeprefix(".")}
        # The strict variant writes "extendedProperties".
        relations = {each.kind.replace("-", "").lower(): each for each in package.relations("")}
        for kind, names in (("coreproperties", _CORE), ("extendedproperties", _STORED_COUNTS)):
            relation = relations.get(kind)
            found |= _properties(package, relation.target if relation else "", names)
        if identity.has_macros:
            found["has_macros"] = True
        if refused := suffix_mismatch(identity, FAMILY, source.name):
            found["warnings"] = [refused]
    return found


def number_range(first: int, last: int) -> str:
    """Return a range of numbers as maps write it: "3-9", "3-3", "" for none."""
    return f"{first}-{last}" if first else ""


def picture_entry(index: int, picture: DocxPicture) -> dict[str, Any]:
    """Return a picture as maps and readings list it; sizes are in inches."""
    entry: dict[str, Any] = {"index": index, "alt_text": picture.alt_text}
    if picture.kind != "picture":
        entry["kind"] = picture.kind
    more = {"name": picture.name, "file": picture.file}
    entry |= {name: value for name, value in more.items() if value}
    return entry | {"width": picture.width, "height": picture.height}


def comment_entry(comment: DocxComment) -> dict[str, Any]:
    """Return a comment as maps and readings list it."""
    more = {
        "date": comment.date,
        "words": comment.words,
        "reply_to": comment.reply_to,
        "paragraph": comment.paragraph,
        "resolved": comment.is_resolved,
    }
    entry = {"comment": comment.number, "author": comment.author, "text": comment.text}
    return entry | {name: value for name, value in more.items() if value}


def change_entry(change: DocxChange) -> dict[str, Any]:
    """Return a tracked change as maps and readings list it."""
    entry = {
        "kind": change.kind,
        "author": change.author,
        "date": change.date,
        "text": change.text or "(end of a paragraph)",
        "paragraph": change.paragraph,
    }
    return {name: value for name, value in entry.items() if value}


def _count_entry(count: DocxChangeCount) -> dict[str, Any]:
    entry = {"author": count.author, "insertions": count.insertions, "deletions": count.deletions}
    return entry | ({"looks": count.looks} if count.looks else {})


def marked_entry(marked: DocxMarked) -> dict[str, Any]:
    """Return a paragraph with tracked changes as readings list it."""
    entry: dict[str, Any] = {"paragraph": marked.paragraph, "text": marked.text}
    return entry | ({"in_table": True} if marked.is_in_table else {})


def formatting_entry(formatting: DocxFormatting) -> dict[str, Any]:
    """Return direct formatting as maps and readings list it."""
    return {"paragraphs": number_range(formatting.first, formatting.last), **formatting.look}


def _control(control: DocxControl) -> dict[str, Any]:
    entry = {
        "tag": control.tag,
        "title": control.title,
        "kind": control.kind,
        "text": control.text,
        "items": list(control.items),
        "paragraph": control.paragraph,
    }
    return {name: value for name, value in entry.items() if value}


def _properties(package: Package, part: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the properties that a part of the package holds, under the map's names."""
    found: dict[str, Any] = {}
    if part not in package:
        return found
    for element in package.root(part):
        name = local_name(element)
        text = (element.text or "").strip()[:_SHOWN_CHARS]
        if name in names and text:
            is_count = names is _STORED_COUNTS and text.isascii() and text.isdigit()
            found[names[name]] = int(text) if is_count else text
    return found


def _section(index: int, section: DocxSection) -> dict[str, Any]:
    chunks = section.chunks
    entry: dict[str, Any] = {"index": index, "heading": section.heading, "level": section.level}
    if section.label:
        entry["number"] = section.label
    entry |= {
        "char_count": section.char_count,
        "paragraphs": number_range(section.first, section.last),
        "has_tables": bool(section.tables),
        "has_images": bool(section.pictures),
        "chunks": [_chunk(place, each) for place, each in enumerate(chunks[:MAX_LISTED])],
    }
    if len(chunks) > MAX_LISTED:
        entry["chunk_count"] = len(chunks)
    return entry


def _chunk(index: int, chunk: DocxChunk) -> dict[str, Any]:
    entry: dict[str, Any] = {"index": index, "paragraphs": number_range(chunk.first, chunk.last)}
    if chunk.table:
        entry["table"] = chunk.table
    return entry | {"char_count": len(chunk.whole)}


def _tables(document: DocxContents) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for place, section in enumerate(document.sections):
        for index in section.tables:
            if len(found) == MAX_LISTED:
                return found
            found.append(_table(index, document.tables[index], place, section))
    return found


def _table(index: int, table: DocxTable, place: int, section: DocxSection) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "index": index,
        "section": section.heading,
        "section_index": place,
        "rows": table.row_count,
        "cols": table.column_count,
        "after_paragraph": table.after,
    }
    if table.header:
        entry["header"] = list(table.header)
    return entry


def _images(document: DocxContents) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for place, section in enumerate(document.sections):
        for index in section.pictures:
            if len(found) == MAX_LISTED:
                return found
            entry = picture_entry(index, document.pictures[index])
            found.append(entry | {"section": section.heading, "section_index": place})
    return found


def _optional_entries(document: DocxContents) -> dict[str, Any]:
    """Return what few documents have, where it is, and counts of lists that are cut."""
    changes = document.changes
    found: dict[str, Any] = {}
    for kind in ("header", "footer"):
        listed = [
            _header_footer(each)
            for each in document.headers_footers
            if each.kind == kind and each.text
        ]
        if listed:
            found[f"{kind}s"] = listed
    counts = {
        "comment_count": document.comments,
        "link_count": document.links,
        "embedded_file_count": document.embedded,
        "page_section_count": document.page_sections if document.page_sections > 1 else 0,
        "tracked_changes": (changes.insertions or changes.deletions) and {
            "insertions": changes.insertions, "deletions": changes.deletions,
            "authors": list(changes.authors),
            "by_author": [_count_entry(each) for each in document.change_counts],
            "changes": [change_entry(each) for each in document.change_list[:_MAX_MARKS]],
        },
        "external": [{"kind": each.kind, "target": each.target} for each in document.external],
        "has_macros": document.has_macros,
        "comments": [comment_entry(each) for each in document.comment_list[:_MAX_MARKS]],
        "content_controls": [_control(each) for each in document.controls],
        "formatting": [formatting_entry(each) for each in document.formatting[:_MAX_MARKS]],
        "formatting_count": len(document.formatting) * (len(document.formatting) > _MAX_MARKS),
    }  # fmt: skip
    found |= {name: value for name, value in counts.items() if value}
    for name, total in (
        ("section_count", len(document.sections)),
        ("table_count", len(document.tables)),
        ("image_count", len(document.pictures)),
    ):
        if total > MAX_LISTED:
            found[name] = total
    return found


def _header_footer(header: DocxHeaderFooter) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": header.type,
        "page_section": header.pages,
        "text": header.text[:_SHOWN_CHARS],
    }
    if not header.is_shown:
        entry["is_shown"] = False
    return entry


def _warnings(document: DocxContents) -> list[str]:
    found = [document.doubt] if document.doubt else []
    if any(each.kind == "inserted file" for each in document.external):
        found.append(_NOT_READ)
    if max(map(len, (document.sections, document.tables, document.pictures))) > MAX_LISTED:
        found.append(f"Only the first {MAX_LISTED:,} of long lists are shown; all can be read.")
    return found
