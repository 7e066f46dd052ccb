"""Lines of a text as they are compared: without their ends, which are facts of their own.

Where both versions are UTF-8, what is the same in both is skipped by its bytes; else both are
decoded.
"""

import hashlib
import io
from collections.abc import Iterator
from functools import partial

from kbd.errors import FileReadFailed
from kbd.lookalikes import common_prefix_length
from kbd.plaintext.differences import (
    ItemBatch,
    SequencePart,
    Side,
    Skipper,
    differences,
)
from kbd.plaintext.encodings import errors_of
from kbd.plaintext.stretches import Observer, Stretches, collect
from kbd.plaintext.versions import TextVersion

__all__ = [
    "BATCH_CHARS",
    "MAX_LINE_CHARS",
    "collect_stretches",
    "excerpts",
    "line_end",
    "read_lines",
    "text_of",
]

MAX_LINE_CHARS = 1024 * 1024
"""Of a longer line the beginning is compared word by word, the rest as a whole."""

BATCH_CHARS = 64 * 1024
"""How much is read at a time."""

_EXCERPT_CHARS = 200
"""Of a very long line as much is shown before and behind what differs."""

_MARK_BYTES = 3
"""Of a byte order mark in UTF-8."""


def text_of(line: str) -> str:
    """Return a line without its end."""
    return line.rstrip("\r\n")


def line_end(line: str) -> str:
    """Return the end of a line: LF, CR LF, CR or none."""
    return line[len(line.rstrip("\r\n")) :]


def excerpts(before: str, after: str) -> tuple[str, str, int]:
    """Return what differs in two long lines, with what is around it, and where that begins."""
    start = common_prefix_length(before, after)
    behind = common_prefix_length(before[start:][::-1], after[start:][::-1])
    begin = max(0, start - _EXCERPT_CHARS)
    one, other = (
        ("…" if begin else "")
        + text[begin : len(text) - max(0, behind - _EXCERPT_CHARS)]
        + ("…" if behind > _EXCERPT_CHARS else "")
        for text in (before, after)
    )
    return one, other, start


def read_lines(
    version: TextVersion, offset: int = 0, *, are_long: bool = False
) -> Iterator[ItemBatch[str]]:
    """Yield a version's lines, with their ends, and with their sizes in UTF-8.

    Args:
        version: What to read.
        offset: The byte from which to read, where a line begins.
        are_long: Whether some lines may be so long that only the beginning is read, and a sum of
            the rest.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    encoding = version.encoding
    codec = "utf-8" if offset and encoding.name == "utf-8-sig" else encoding.name
    try:
        file = version.source.path.open("rb")
    except OSError as error:
        raise FileReadFailed(f"{version.source.name} cannot be opened") from error
    file.seek(offset)
    # The mark is no text, but it has its place in the file.
    mark = _MARK_BYTES if encoding.name == "utf-8-sig" and not offset else 0
    with io.TextIOWrapper(file, codec, errors_of(encoding), newline="") as text:
        batches = _long_lines(text) if are_long else _lines(text)
        for lines, sizes in batches:
            sizes[0] += mark
            mark = 0
            yield ItemBatch([line.rstrip("\r\n") for line in lines], lines, sizes)


def _lines(text: io.TextIOWrapper) -> Iterator[tuple[list[str], list[int]]]:
    """Yield lines of which none is very long, many at once."""
    while lines := text.readlines(BATCH_CHARS):
        if all(map(str.isascii, lines)):
            yield lines, [*map(len, lines)]
        else:
            yield lines, [len(line.encode("utf-8", "surrogatepass")) for line in lines]


def _long_lines(text: io.TextIOWrapper) -> Iterator[tuple[list[str], list[int]]]:
    """Yield lines one by one, of which no more than the beginning is in memory."""
    while piece := text.readline(MAX_LINE_CHARS):
        size = len(piece.encode("utf-8", "surrogatepass"))
        if piece[-1] in "\r\n" or len(piece) < MAX_LINE_CHARS:
            yield [piece], [size]
            continue
        begin, end = piece, ""
        found, count = hashlib.sha256(), 0
        while not end and (piece := text.readline(MAX_LINE_CHARS)):
            data = piece.encode("utf-8", "surrogatepass")
            size += len(data)
            end = line_end(piece)
            found.update(data.removesuffix(end.encode()))
            count += len(piece) - len(end)
        rest = f"… and {count:,} characters more, SHA-256 {found.hexdigest()}" if count else ""
        yield [begin + rest + end], [size]


def collect_stretches(
    before: TextVersion,
    after: TextVersion,
    context: int | None,
    observe: Observer[str] | None = None,
    begun: float | None = None,
) -> Stretches[str]:
    """Collect the stretches of lines that differ.

    Args:
        before: The older version.
        after: The newer version.
        context: Equal lines to give around them; None for all.
        observe: Is shown the equal lines that are not the same in their bytes.
        begun: When the comparison began, by the monotonic clock.
    """
    parts = _parts(before, after, context)
    return collect(parts, len, context=context, observe=observe, begun=begun)


def _parts(
    before: TextVersion, after: TextVersion, context: int | None
) -> Iterator[SequencePart[str]]:
    skipper = None
    if context is not None and before.is_bytewise and after.is_bytewise:
        paths = before.source.path, after.source.path
        skipper = Skipper(*paths, _whole_lines, context)
    are_long = max(before.longest, after.longest) > MAX_LINE_CHARS
    sides = (Side(partial(read_lines, each, are_long=are_long)) for each in (before, after))
    return differences(*sides, margin=context or 0, skipper=skipper)


def _whole_lines(data: bytes, margin: int) -> tuple[int, int]:
    """Count the lines that a piece of a file begins with, but for some at the end."""
    end = len(data)
    for _ in range(margin + 1):
        end = data.rfind(b"\n", 0, end)
        if end < 0:
            return 0, 0
    return data.count(b"\n", 0, end + 1), end + 1
