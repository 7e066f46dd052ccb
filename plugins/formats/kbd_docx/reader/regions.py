"""Regions of a document: the text of the whole, of a section, or of a chunk of either.

Headings begin with a # a level, list items with their bullet or number; a table is a line a row,
its cells between bars. Notes and comments stand below the text that cites them.

Lookup of a section by its heading, else by its index.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd_docx.reader.builder import read_contents
from kbd_docx.reader.contents import (
    CHUNK_CHARS,
    DocxChunk,
    DocxContents,
    DocxHeaderFooter,
    DocxMarked,
    DocxSection,
    TextNotices,
    split_text,
)
from kbd_docx.reader.document_map import (
    change_entry,
    comment_entry,
    formatting_entry,
    marked_entry,
    number_range,
    picture_entry,
)

__all__ = ["find_section", "passages", "read_objects", "read_region"]

_SHOWN = 20
_SHOWN_CHARS = 80
_MAX_COMPARED = 500
_MAX_DIGITS = 9


def find_section(name: str, sections: Sequence[DocxSection], wanted: str | int) -> int:
    """Find a section by its heading or index, and return its index.

    A text is a heading, with or without the number that the program shows before it; where it is
    none exactly, blanks and case do not count; a number that is no heading is an index from 0.

    Raises:
        ValidationFailed: There is none, or more than one.
    """
    if isinstance(wanted, str):
        for spelt in (_exactly, _loosely):
            found = _matching(sections, spelt(wanted), spelt)
            if len(found) == 1:
                return found[0]
            if found:
                shown = ", ".join(map(str, found[:_SHOWN]))
                raise ValidationFailed(
                    f'{len(found)} sections of {name} have the heading "{wanted[:_SHOWN_CHARS]}": '
                    f"{shown}; give the index of one as section"
                )
        # Only now, for a heading may be a number. `isdigit` alone takes signs such as ², at which
        # `int` raises an error.
        digits = wanted.strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS):
            raise ValidationFailed(_missing(name, sections, wanted))
        wanted = int(digits)
    if not 0 <= wanted < len(sections):
        raise ValidationFailed(
            f"there is no section {wanted} in {name}: it has {len(sections)}, counted from 0"
        )
    return wanted


def _exactly(text: str) -> str:
    return text


def _loosely(text: str) -> str:
    return "".join(text.split()).casefold()


def _matching(
    sections: Sequence[DocxSection], wanted: str, spelt: Callable[[str], str]
) -> list[int]:
    """Return the sections with a heading; those whose number belongs to the text come second."""
    found = [index for index, each in enumerate(sections) if spelt(each.heading) == wanted]
    return found or [
        index
        for index, each in enumerate(sections)
        if each.label and spelt(f"{each.label} {each.heading}") == wanted
    ]


def _missing(name: str, sections: Sequence[DocxSection], wanted: str) -> str:
    # `difflib` compares with each of them in turn, and a document may have thousands.
    headings = {_loosely(each.heading): each.heading for each in sections[:_MAX_COMPARED]}
    near = get_close_matches(_loosely(wanted[:_SHOWN_CHARS]), headings, n=3)
    near_text = " or ".join(f'"{headings[each][:_SHOWN_CHARS]}"' for each in near)
    hint = f"is it {near_text}?" if near_text else "the map lists the headings with their indices"
    return f'there is no section "{wanted[:_SHOWN_CHARS]}" in {name}; {hint}'


WHOLE_CHARS = 4 * CHUNK_CHARS
"""What is read at once without being asked for by chunk: about 4,000 tokens."""

MAX_OBJECT_CHARS = 1_000_000
"""What the cells of one answer hold at most."""

_CELL_COST = 4
"""What a cell takes in an answer beside its text."""

_MAX_MARKED = 20
"""Paragraphs with changes that a reading shows beside its text."""

_MARKED_CHARS = 600

_IN_CHUNKS = (
    "The document has {} chunks; this is the first. Read on with chunk, or read single sections "
    "by section."
)


class _Part(msgspec.Struct, frozen=True):
    """Part of a document that is read at once: chunks, each with the index of its section.

    `has_surrounding` tells whether headers, footers or what nothing cites is in its text.
    """

    chunks: tuple[tuple[int, DocxChunk], ...]
    text: str
    place: str
    has_surrounding: bool = False


class _Found(msgspec.Struct, frozen=True):
    """A reading, and what was read for it."""

    reading: Reading
    part: _Part


def read_region(source: Source, region: Region) -> Reading:
    """Read a section, a chunk of one, or the document; of a long one its first chunk.

    Raises:
        FileReadFailed: The document cannot be read.
        ValidationFailed: There is no such section or chunk.
    """
    return _read(source, read_contents(source), region).reading


def read_objects(source: Source, region: Region) -> Reading:
    """Read what `read_region` does, with the tables and pictures in it; raises as it does."""
    document = read_contents(source)
    found = _read(source, document, region)
    objects = {
        "tables": tuple(_table_objects(document, found.part)),
        "images": tuple(_picture_objects(document, found.part)),
        **_marks(document, found.part),
    }
    return msgspec.structs.replace(found.reading, objects=objects)


def _marks(document: DocxContents, part: _Part) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return comments, tracked changes and direct formatting of what is read, if any."""
    stretches = [(chunk.first, chunk.last) for _, chunk in part.chunks if chunk.first]
    comments = [each for each in document.comment_list if _is_in(stretches, each.paragraph)]
    changes = [each for each in document.change_list if _is_in(stretches, each.paragraph)]
    looks = [
        each
        for each in document.formatting
        if any(each.first <= last and each.last >= first for first, last in stretches)
    ]
    found = {
        "comments": tuple(map(comment_entry, comments)),
        "tracked_changes": tuple(map(change_entry, changes)),
        "marked_paragraphs": tuple(map(marked_entry, _marked_paragraphs(document, part))),
        "formatting": tuple(map(formatting_entry, looks)),
    }
    return {name: entries for name, entries in found.items() if entries}


def _marked_paragraphs(document: DocxContents, part: _Part) -> Sequence[DocxMarked]:
    """Return the paragraphs with tracked changes of what is read."""
    stretches = [(chunk.first, chunk.last) for _, chunk in part.chunks if chunk.first]
    return [each for each in document.marked if _is_in(stretches, each.paragraph)]


def _is_in(stretches: Sequence[tuple[int, int]], paragraph: int) -> bool:
    return any(first <= paragraph <= last for first, last in stretches)


def passages(source: Source) -> Iterator[Passage]:
    """Yield all text by chunk, then headers, footers, and notes that nothing cites."""
    document = read_contents(source)
    for index, section in enumerate(document.sections):
        named = f' "{section.heading}"' if section.heading else ""
        for number, chunk in enumerate(section.chunks):
            if chunk.whole.strip():
                place = f"section {index}{named}{_where(chunk)}"
                yield Passage(chunk.whole, place, Region(section=index, chunk=number))
    yield from _surrounding_passages(document)


def _read(source: Source, document: DocxContents, region: Region) -> _Found:
    foreign = sorted(set(region.named()) - {"section", "chunk"})
    if foreign:
        raise ValidationFailed(f"{source.name} is read by section and chunk, not by {foreign[0]}")
    if region.section is None:
        return _read_document(source, document, region.chunk)
    index = find_section(source.name, document.sections, region.section)
    return _read_section(source, document, index, region.chunk)


def _read_document(source: Source, document: DocxContents, chunk: int | None) -> _Found:
    """Read all of a document, or one of the parts that it is divided into for that."""
    surrounding = _surrounding_text(document)
    size = len(surrounding) + sum(section.char_count + 1 for section in document.sections)
    if chunk is None and size <= WHOLE_CHARS:
        texts = [section.text for section in document.sections]
        chunks = tuple(_all_chunks(document.sections))
        text = "\n".join([*texts, surrounding] if surrounding else texts)
        part = _Part(chunks, text, "", has_surrounding=True)
        return _Found(_reading(document, part, None), part)
    parts = list(_parts(document, surrounding))
    part = _chunk_at(source, parts, chunk or 0, "the document")
    info = ChunkInfo(chunk or 0, len(parts), (chunk or 0) + 1 < len(parts), part.place)
    more = (_IN_CHUNKS.format(len(parts)),) if chunk is None else ()
    return _Found(_reading(document, part, info, more), part)


def _read_section(source: Source, document: DocxContents, index: int, chunk: int | None) -> _Found:
    section = document.sections[index]
    chunks = section.chunks
    more: tuple[str, ...] = _subsection_hint(document.sections, index)
    if chunk is None and section.char_count <= WHOLE_CHARS:
        place = f"section {index}{_paragraphs(section.first, section.last)}"
        part = _Part(tuple((index, each) for each in chunks), section.text, place)
        # All of the section is here, however many chunks it has.
        info = ChunkInfo(0, len(chunks), has_more=False, range=place)
        return _Found(_reading(document, part, info, more), part)
    if chunk is None:
        more += (f"The section has {len(chunks)} chunks; this is the first. Read on with chunk.",)
    parts = [_part(index, each) for each in chunks]
    part = _chunk_at(source, parts, chunk or 0, f"section {index}")
    info = ChunkInfo(chunk or 0, len(parts), (chunk or 0) + 1 < len(parts), part.place)
    return _Found(_reading(document, part, info, more), part)


def _chunk_at(source: Source, parts: Sequence[_Part], chunk: int, what: str) -> _Part:
    if not 0 <= chunk < len(parts):
        raise ValidationFailed(
            f"there is no chunk {chunk} of {what} in {source.name}: it has {len(parts)}, counted "
            "from 0"
        )
    return parts[chunk]


def _part(index: int, chunk: DocxChunk) -> _Part:
    return _Part(((index, chunk),), chunk.whole, f"section {index}{_where(chunk)}")


def _parts(document: DocxContents, surrounding: str) -> Iterator[_Part]:
    """Yield the chunks of all sections, small ones together, and what stands around them."""
    waiting: list[tuple[int, DocxChunk]] = []
    size = 0
    for index, chunk in _all_chunks(document.sections):
        length = len(chunk.whole) + 1
        if waiting and size + length > CHUNK_CHARS:
            yield _joined(waiting)
            waiting, size = [], 0
        waiting.append((index, chunk))
        size += length
    if waiting:
        yield _joined(waiting)
    for piece in split_text(surrounding) if surrounding else ():
        place = "headers, footers and notes that no place cites"
        yield _Part((), piece, place, has_surrounding=True)


def _surrounding_text(document: DocxContents) -> str:
    """Return what stands around the sections: headers, footers, notes that no place cites."""
    return "\n".join(
        [*map(_header_footer_line, _with_text(document.headers_footers)), *document.uncited]
    )


def _surrounding_passages(document: DocxContents) -> Iterator[Passage]:
    """Yield what stands around the sections, each with the chunk of the document that holds it."""
    found = [
        (_header_footer_line(each), _header_footer_name(each))
        for each in _with_text(document.headers_footers)
    ]
    found += [(note, "notes and comments that no place cites") for note in document.uncited]
    if not found:
        return
    parts = enumerate(_parts(document, _surrounding_text(document)))
    left = [(index, part.text) for index, part in parts if not part.chunks]
    for text, place in found:
        # They stand in this order; one that was divided is in no chunk as a whole.
        after = next((at for at, (_, piece) in enumerate(left) if text in piece), None)
        left = left[after or 0 :]
        yield Passage(text, place, None if after is None else Region(chunk=left[0][0]))


def _joined(chunks: Sequence[tuple[int, DocxChunk]]) -> _Part:
    text = "\n".join(chunk.whole for _, chunk in chunks)
    if len(chunks) == 1:
        return _part(*chunks[0])
    first, last = chunks[0][0], chunks[-1][0]
    sections = f"section {first}" if first == last else f"sections {first}-{last}"
    start = next((chunk.first for _, chunk in chunks if chunk.first), 0)
    end = next((chunk.last for _, chunk in reversed(chunks) if chunk.last), 0)
    return _Part(tuple(chunks), text, f"{sections}{_paragraphs(start, end)}")


def _all_chunks(sections: Iterable[DocxSection]) -> Iterator[tuple[int, DocxChunk]]:
    for index, section in enumerate(sections):
        for chunk in section.chunks:
            yield index, chunk


def _where(chunk: DocxChunk) -> str:
    return _paragraphs(chunk.first, chunk.last) + (f", {chunk.table}" if chunk.table else "")


def _paragraphs(first: int, last: int) -> str:
    return f", paragraphs {number_range(first, last)}" if first else ""


def _subsection_hint(sections: Sequence[DocxSection], index: int) -> tuple[str, ...]:
    """Return a hint at the sections below a heading, which are read on their own."""
    end = index + 1
    # What stands before the first heading has level 0, and no section is below it.
    while sections[index].level > 0 and end < len(sections):
        if sections[end].level <= sections[index].level:
            break
        end += 1
    if end == index + 1:
        return ()
    those = f"section {index + 1} is" if end == index + 2 else f"sections {index + 1}-{end - 1} are"
    return (f"This is what stands before the first heading below it; {those} read on their own.",)


def _with_text(headers_footers: Iterable[DocxHeaderFooter]) -> Iterator[DocxHeaderFooter]:
    return (header for header in headers_footers if header.text.strip())


def _header_footer_name(header: DocxHeaderFooter) -> str:
    which = {"first": ", first page", "even": ", even pages"}.get(header.type, "")
    pages = f", from page section {header.pages}" if header.pages > 1 else ""
    return f"{header.kind}{which}{pages}{'' if header.is_shown else ', not shown'}"


def _header_footer_line(header: DocxHeaderFooter) -> str:
    return f"[{_header_footer_name(header)}: {header.text}]"


def _reading(
    document: DocxContents, part: _Part, info: ChunkInfo | None, more: tuple[str, ...] = ()
) -> Reading:
    found = TextNotices()
    for _, chunk in part.chunks:
        for field in TextNotices.__struct_fields__:
            setattr(found, field, getattr(found, field) + getattr(chunk.notices, field))
    found.hidden += part.has_surrounding and document.hidden_around
    found.doubtful += part.has_surrounding and document.doubtful_around
    warnings = [*more, *_notice_warnings(found)]
    if found.insertions or found.deletions:
        warnings += _marked_warnings(_marked_paragraphs(document, part))
    if document.doubt:
        warnings.append(document.doubt)
    return Reading(part.text, info, tuple(warnings))


def _marked_warnings(marked: Sequence[DocxMarked]) -> Iterator[str]:
    """Yield paragraphs with their changes in the text, the first of many."""
    for each in marked[:_MAX_MARKED]:
        place = f"Paragraph {each.paragraph} with its changes"
        if each.is_in_table:
            place = f"In the table after paragraph {each.paragraph}, with changes"
        yield f"{place}: {each.text[:_MARKED_CHARS]}"
    if len(marked) > _MAX_MARKED:
        left = len(marked) - _MAX_MARKED
        yield f"{left} more paragraphs have tracked changes; read single sections to see them."


def _notice_warnings(found: TextNotices) -> Iterator[str]:
    if found.insertions or found.deletions:
        yield (
            f"Tracked changes: {found.insertions} insertions are read as text, {found.deletions} "
            "deletions are not shown."
        )
    if found.hidden:
        yield "[hidden: …] is text that people do not see when they open the document."
    if found.doubtful:
        yield (
            "[maybe hidden: …] is text that people may not see: it has the color of the page, "
            "say, and whether a drawing lies between is not known."
        )
    if found.comments:
        yield "[comment 1] marks where a comment stands; its text is below."
    if found.inserted_files:
        yield "[inserted file: …] stands for a file whose text is not read here."


def _table_objects(document: DocxContents, part: _Part) -> Iterator[dict[str, Any]]:
    # One budget for all tables of the answer; of a row all cells are listed, or none.
    left = MAX_OBJECT_CHARS
    for place, chunk in part.chunks:
        for index in range(*chunk.tables):
            table = document.tables[index]
            rows = msgspec.msgpack.decode(table.cells, type=list[list[str]])
            listed = []
            for row in rows:
                left -= sum(len(cell) + _CELL_COST for cell in row)
                if left < 0:
                    break
                listed.append(row)
            entry: dict[str, Any] = {
                "index": index,
                "section_index": place,
                "after_paragraph": table.after,
                "row_count": table.row_count,
                "column_count": table.column_count,
                "rows": listed,
            }
            if len(listed) < table.row_count:
                entry["rows_left_out"] = table.row_count - len(listed)
            yield entry


def _picture_objects(document: DocxContents, part: _Part) -> Iterator[dict[str, Any]]:
    for place, chunk in part.chunks:
        for index in range(*chunk.pictures):
            entry = picture_entry(index, document.pictures[index])
            yield {"name": "", **entry, "section_index": place}
