"""A text by its lines: how many there are, some of them, all of them in pieces.

Lines are counted from 1 and end with LF, CR LF or CR. A zero character never belongs to a text: a
reader says whether it makes the file binary (refused) or is damage to drop.
"""

from collections.abc import Iterator
from typing import Any

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd.plaintext.encodings import bounded_lines, detect, open_text
from kbd.plaintext.measuring import Measured, TextFacts, measured, open_at

__all__ = [
    "LINES_PER_CHUNK",
    "MAX_READ_CHARS",
    "line_chunks",
    "line_passages",
    "measure",
    "read_lines",
]

LINES_PER_CHUNK = 200
"""Contract, section 8."""

MAX_READ_CHARS = 200_000
"""What one reading holds at most: about 50,000 tokens, more than a model uses well."""


def measure(source: Source, *, allow_zeros: bool = False) -> TextFacts:
    """Count a text's lines and characters.

    Raises:
        FileReadFailed: It cannot be opened, or it holds zeros and `allow_zeros` is not set.
    """
    return measured(source, allow_zeros=allow_zeros).facts


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
            f"{source.name} is read by line_start and line_count, not by {min(foreign)}."
        )
    found = measured(source, allow_zeros=allow_zeros)
    facts = found.facts
    start, count = _wanted(source.name, region, facts)
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
                raise FileReadFailed(f"{source.name} holds zero bytes: it is binary, not text.")
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


def _wanted(name: str, region: Region, facts: TextFacts) -> tuple[int, int]:
    start = 1 if region.line_start is None else region.line_start
    if start < 1 or (region.line_count is not None and region.line_count < 1):
        raise ValidationFailed("line_start and line_count are counted from 1.")
    if start > max(1, facts.line_count):
        raise ValidationFailed(
            f"{name} has {facts.line_count} lines; line {start} is not one of them."
        )
    return start, region.line_count or LINES_PER_CHUNK


def _collect(
    source: Source, found: Measured, start: int, count: int
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
