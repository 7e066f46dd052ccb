"""A text measured in one pass: its lines, its characters, and where in the file lines begin.

Where a line begins is noted about once a block, so that a range of lines far down is read from
near by. Of a large file it is kept on the shelf of what it is of.
"""

import codecs
import io
from bisect import bisect_right
from typing import IO

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.shelves import keep, kept
from kbd.plaintext.encodings import BLOCK_BYTES, Encoding, detect, errors_of

__all__ = ["KEPT_FROM_BYTES", "Mark", "Measured", "TextFacts", "measured", "open_at"]

KEPT_FROM_BYTES = 4 * BLOCK_BYTES
"""Smaller files are measured as fast as what is kept of them is found."""

_KEPT = "lines.1"
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


class Measured(msgspec.Struct, frozen=True):
    """A text's size, and where some of its lines begin, in order."""

    facts: TextFacts
    marks: tuple[Mark, ...]

    def before(self, line: int) -> Mark:
        """Return the last mark that is not behind a line."""
        place = bisect_right(self.marks, line, key=lambda mark: mark.line)
        return self.marks[place - 1] if place else Mark(1, 0)


def measured(source: Source, *, allow_zeros: bool = False) -> Measured:
    """Measure a text, or take from its shelf what was found before.

    Raises:
        FileReadFailed: It cannot be opened, or it holds zeros and `allow_zeros` is not set.
    """
    found = kept(source.shelf, _KEPT, Measured)
    if found is None:
        found = _measured(source, allow_zeros=allow_zeros)
        if source.path.stat().st_size >= KEPT_FROM_BYTES:
            keep(source.shelf, _KEPT, found)
    if found.facts.zeros and not allow_zeros:
        raise _binary(source)
    return found


def open_at(source: Source, encoding: Encoding, offset: int) -> io.TextIOWrapper:
    """Open a text at a byte where a line begins; line ends become LF.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    try:
        file = source.path.open("rb")
        name = _codec(file, encoding) if offset else encoding.name
        file.seek(offset)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be opened.") from error
    return io.TextIOWrapper(file, encoding=name, errors=errors_of(encoding), newline=None)


def _measured(source: Source, *, allow_zeros: bool) -> Measured:
    encoding = detect(source.path)
    try:
        with source.path.open("rb") as file:
            codec = _codec(file, encoding)
            file.seek(0)
            return _counted(source, file, encoding, codec, allow_zeros=allow_zeros)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be opened.") from error


def _counted(
    source: Source, file: IO[bytes], encoding: Encoding, codec: str, *, allow_zeros: bool
) -> Measured:
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
        cut = _behind_last(block, line_end, unit)
        text = decoder.decode(block[:cut])
        lines += text.count("\n")
        if text.endswith("\n"):
            marks.append(Mark(lines + 1, offset + cut))
        rest = decoder.decode(block[cut:])
        lines += rest.count("\n")
        for piece in (text, rest):
            chars += len(piece)
            zeros += piece.count("\0")
            last = piece[-1:] or last
        if zeros and not allow_zeros:
            raise _binary(source)
        offset += len(block)
    rest = decoder.decode(b"", final=True)
    lines += rest.count("\n")
    last = rest[-1:] or last
    facts = TextFacts(lines + (last != "\n"), chars + len(rest), encoding, zeros)
    return Measured(facts, tuple(marks))


def _behind_last(block: bytes, line_end: bytes, unit: int) -> int:
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
    return FileReadFailed(f"{source.name} holds zero bytes: it is binary, not text.")
