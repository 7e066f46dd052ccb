"""A text by its lines: how many there are, some of them, all of them in pieces.

Lines are counted from 1 and end with LF, CR LF or CR. A zero character never belongs to a text: a
reader says whether it makes the file binary (refused) or is damage to drop.

A text measured in one pass: its lines, its characters, and where in the file lines begin.

Where a line begins is noted about once a block, so that a range of lines far down is read from
near by. Of a large file it is kept on the shelf of what it is of.
"""

import codecs
import io
from bisect import bisect_right
from collections.abc import Iterator
from typing import IO, Any

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd.formats.shelves import keep, kept
from kbd.plaintext.encodings import (
    BLOCK_BYTES,
    Encoding,
    bounded_lines,
    detect,
    errors_of,
    open_text,
)

__all__ = [
    "CACHED_FROM_BYTES",
    "LINES_PER_CHUNK",
    "MAX_READ_CHARS",
    "Mark",
    "MeasuredText",
    "TextFacts",
    "line_chunks",
    "line_passages",
    "measure",
    "measure_text",
    "open_at",
    "read_lines",
]

CACHED_FROM_BYTES = 4 * BLOCK_BYTES
"""Smaller files are measured as fast as what is kept of them is found."""

_CACHE_NAME = "lines.2"
"""The name on the shelf, with the version of what is in it."""

_UNITS = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
"""Encodings in which a line end is more than the one byte that it is in all others."""


class TextFacts(msgspec.Struct, frozen=True):
    """A text's size.

    Args:
        line_count: Lines; a last one without a line end counts.
        char_count: Characters, every line end as one.
        encoding: How the bytes were read.
        zeros: Zero characters, which are not text.
    """

    line_count: int
    char_count: int
    encoding: Encoding
    zeros: int = 0


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A line, counted from 1, and the byte at which it begins."""

    line: int
    offset: int


class MeasuredText(msgspec.Struct, frozen=True):
    """A text's size, and where some of its lines begin, in order."""

    facts: TextFacts
    marks: tuple[Mark, ...]

    def before(self, line: int) -> Mark:
        """Return the last mark that is not behind a line."""
        place = bisect_right(self.marks, line, key=lambda mark: mark.line)
        return self.marks[place - 1] if place else Mark(1, 0)


def measure_text(source: Source, *, allow_zeros: bool = False) -> MeasuredText:
    """Measure a text, or return the cached measurement.

    Raises:
        FileReadFailed: It cannot be opened, or it holds zeros and `allow_zeros` is not set.
    """
    found = kept(source.shelf, _CACHE_NAME, MeasuredText)
    if found is None:
        found = _measured(source, allow_zeros=allow_zeros)
        if source.path.stat().st_size >= CACHED_FROM_BYTES:
            keep(source.shelf, _CACHE_NAME, found)
    if found.facts.zeros and not allow_zeros:
        raise _binary(source)
    return found


def open_at(
    source: Source, encoding: Encoding, offset: int, *, newline: str | None = None
) -> io.TextIOWrapper:
    """Open a text at a byte where a line begins; with `newline=""` line ends stay as they are.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    try:
        file = source.path.open("rb")
        # A byte order mark to drop can stand at the beginning alone.
        name = _codec(file, encoding) if offset else encoding.name
        file.seek(offset)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be opened") from error
    return io.TextIOWrapper(file, encoding=name, errors=errors_of(encoding), newline=newline)


def _measured(source: Source, *, allow_zeros: bool) -> MeasuredText:
    encoding = detect(source.path)
    try:
        with source.path.open("rb") as file:
            codec = _codec(file, encoding)
            file.seek(0)
            return _counted(source, file, encoding, codec, allow_zeros=allow_zeros)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be opened") from error


def _counted(
    source: Source, file: IO[bytes], encoding: Encoding, codec: str, *, allow_zeros: bool
) -> MeasuredText:
    """Count block by block; each is cut behind its last line end, where a mark can be."""
    # The codec with a mark of byte order drops it; what follows is in the codec without.
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(encoding.name)(errors_of(encoding)), translate=True
    )
    unit = _UNITS.get(codec, 1)
    line_end = "\n".encode(codec)
    lines = chars = zeros = offset = 0
    last = "\n"
    marks = []
    while block := file.read(BLOCK_BYTES):
        cut = _last_line_end(block, line_end, unit)
        text = decoder.decode(block[:cut])
        lines += text.count("\n")
        # Only where the decoder, too, has a line end can another one begin afresh.
        if text.endswith("\n"):
            marks.append(Mark(lines + 1, offset + cut))
        rest = decoder.decode(block[cut:])
        lines += rest.count("\n")
        for piece in (text, rest):
            chars += len(piece)
            zeros += piece.count("\0")
            last = piece[-1:] or last
        # At the first block that has one: a large binary file is not read to its end.
        if zeros and not allow_zeros:
            raise _binary(source)
        offset += len(block)
    rest = decoder.decode(b"", final=True)
    lines += rest.count("\n")
    last = rest[-1:] or last
    facts = TextFacts(lines + (last != "\n"), chars + len(rest), encoding, zeros)
    return MeasuredText(facts, tuple(marks))


def _last_line_end(block: bytes, line_end: bytes, unit: int) -> int:
    """Return the place behind the last line end in a block, 0 if there is none.

    Blocks begin with a whole unit, for their size is a multiple of every unit's.
    """
    found = block.rfind(line_end)
    while found > 0 and found % unit:
        found = block.rfind(line_end, 0, found + unit - 1)
    return found + unit if found >= 0 and found % unit == 0 else 0


def _codec(file: IO[bytes], encoding: Encoding) -> str:
    """Return the codec for what does not stand at the beginning, where a byte order mark may be."""
    if encoding.name == "utf-8-sig":
        return "utf-8"
    if encoding.name in ("utf-16", "utf-32"):
        file.seek(0)
        # One of the two begins with the other's only if that is little-endian.
        is_big = file.read(4).startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
        return f"{encoding.name}-{'be' if is_big else 'le'}"
    return encoding.name


def _binary(source: Source) -> FileReadFailed:
    return FileReadFailed(f"{source.name} holds zero bytes: it is binary, not text")


LINES_PER_CHUNK = 200
"""Contract, section 8."""

MAX_READ_CHARS = 200_000
"""What one reading holds at most: about 50,000 tokens, more than a model uses well."""


def measure(source: Source, *, allow_zeros: bool = False) -> TextFacts:
    """Count a text's lines and characters.

    Raises:
        FileReadFailed: It cannot be opened, or it holds zeros and `allow_zeros` is not set.
    """
    return measure_text(source, allow_zeros=allow_zeros).facts


def line_chunks(line_count: int) -> list[dict[str, Any]]:
    """List the chunks of a text as its map shows them: `{"index": 0, "lines": "1-200"}`."""
    starts = range(1, line_count + 1, LINES_PER_CHUNK)
    return [
        {"index": index, "lines": f"{start}-{min(start + LINES_PER_CHUNK - 1, line_count)}"}
        for index, start in enumerate(starts)
    ]


def read_lines(source: Source, region: Region, *, allow_zeros: bool = False) -> Reading:
    """Read the lines that a region names; of a long text without coordinates the first chunk.

    At most `MAX_READ_CHARS` are returned; what is left is told by `chunk_info` and a warning.

    Raises:
        FileReadFailed: The file is not text.
        ValidationFailed: The coordinates are not lines of this file.
    """
    foreign = set(region.named()) - {"line_start", "line_count"}
    if foreign:
        raise ValidationFailed(
            f"{source.name} is read by line_start and line_count, not by {min(foreign)}"
        )
    found = measure_text(source, allow_zeros=allow_zeros)
    facts = found.facts
    start, count = _line_range(source.name, region, facts)
    text, taken, notes = _collect(source, found, start, count)
    end = start + taken - 1
    warnings = (*facts.encoding.warnings, *notes)
    if start == 1 and end >= facts.line_count:
        return Reading(text, warnings=warnings)
    chunks = -(-facts.line_count // LINES_PER_CHUNK)
    more = end < facts.line_count
    chunk = ChunkInfo((start - 1) // LINES_PER_CHUNK, chunks, more, f"{start}-{end}")
    return Reading(text, chunk, warnings)


def line_passages(source: Source, *, allow_zeros: bool = False) -> Iterator[Passage]:
    """Yield a text in pieces of up to 200 lines or 200,000 characters, with their line numbers.

    What follows the first 200,000 characters of a line cannot be read by its lines.
    """
    encoding = detect(source.path)
    pieces: list[str] = []
    size, first, line = 0, 1, 1
    is_within, has_ended = False, True
    with open_text(source.path, encoding) as file:
        for piece, ends in bounded_lines(file, MAX_READ_CHARS):
            if "\0" in piece and not allow_zeros:
                raise FileReadFailed(f"{source.name} holds zero bytes: it is binary, not text")
            if pieces and (size + len(piece) > MAX_READ_CHARS or line - first >= LINES_PER_CHUNK):
                yield _passage(pieces, first, line, is_within=is_within)
                pieces, size, first, is_within = [], 0, line, not has_ended
            pieces.append(piece.replace("\0", ""))
            # Zeros count, as they do for a reading.
            size += len(piece)
            line += ends
            has_ended = ends
    if pieces:
        yield _passage(pieces, first, line, is_within=is_within)


def _passage(pieces: list[str], first: int, after: int, *, is_within: bool) -> Passage:
    """Return pieces as a passage; one that begins within a line has no coordinates."""
    last = max(first, after - 1)
    place = f"line {first}" if last == first else f"lines {first}-{last}"
    region = None if is_within else Region(line_start=first, line_count=last - first + 1)
    return Passage("".join(pieces), place, region)


def _line_range(name: str, region: Region, facts: TextFacts) -> tuple[int, int]:
    start = 1 if region.line_start is None else region.line_start
    if start < 1 or (region.line_count is not None and region.line_count < 1):
        raise ValidationFailed("line_start and line_count are counted from 1")
    if start > max(1, facts.line_count):
        raise ValidationFailed(
            f"{name} has {facts.line_count} lines; line {start} is not one of them"
        )
    return start, region.line_count or LINES_PER_CHUNK


def _collect(
    source: Source, found: MeasuredText, start: int, count: int
) -> tuple[str, int, tuple[str, ...]]:
    """Return the text of the lines, how many they are, and what was left out."""
    pieces: list[str] = []
    mark = found.before(start)
    size, line, taken = 0, mark.line, 0
    with open_at(source, found.facts.encoding, mark.offset) as file:
        cut = False
        for piece, ends in bounded_lines(file, MAX_READ_CHARS):
            if line >= start + count:
                break
            if line >= start:
                if size + len(piece) > MAX_READ_CHARS:
                    # The first line is shown as far as it goes; later ones wait for their turn.
                    cut = True
                    break
                pieces.append(piece.replace("\0", ""))
                size += len(piece)
            line += ends
            taken += ends and line > start
    if not cut:
        return "".join(pieces), taken, ()
    if taken == 0:
        return (
            "".join(pieces),
            1,
            (f"Line {start} is too long; its first {size:,} characters are shown.",),
        )
    whole = "".join(pieces)
    note = f"Only {taken} lines fit into one reading; go on with line_start {start + taken}."
    return whole[: whole.rfind("\n") + 1], taken, (note,)
