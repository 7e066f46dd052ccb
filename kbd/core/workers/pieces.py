"""A document's text in pieces for an index: cut in the worker that reads it, carried in a file.

The file is one msgpack array a piece, one after the other, so it is written and read with no more
than a piece in memory.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kbd.core.workers.spans import Lines, narrowed, spans
from kbd.formats import Passage, Region

__all__ = ["CUT_EDITION", "Piece", "cut", "read_pieces", "write_pieces"]

CUT_EDITION = "2"
"""Goes up when the same text would be cut otherwise; what is indexed is then cut again."""

TINY_BYTES = 400
"""Passages are joined up to this size: some 60 words."""

BUFFER_BYTES = 1 << 16


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a document's text.

    The texts of all pieces, one after the other, are the document's whole text.

    Args:
        text: What is indexed; it begins where the piece before ends.
        place: Where it stands, as people would name it.
        line_start: Its first line in the document's whole text, from 1.
        line_end: Its last line there.
        region: The coordinates that read the place again, as plain values; empty if none do.
        heading: What stands above it, such as the names of columns; no part of the text.
    """

    text: str
    place: str
    line_start: int
    line_end: int
    region: dict[str, Any]
    heading: str = ""


def cut(passages: Iterable[Passage], most_characters: int) -> Iterator[Piece]:
    """Yield the pieces of a document, in order.

    Each is of one passage, or of small ones that one region can name; passages without any text
    are left out. Pieces end with a paragraph, a line, a sentence or a word, the first of these that
    is near enough, and hold up to some 190 words.

    Args:
        passages: All its text.
        most_characters: Where to stop: a text that is cut short there has exactly so many.
    """
    left, line = most_characters, 1
    for passage in _joined(passages):
        if left <= 0:
            return
        text = passage.text[:left]
        left -= len(text)
        lines = Lines(passage)
        breaks = 0
        for start, end in spans(text):
            piece = text[start:end]
            inner = piece.count("\n")
            last = breaks + inner - piece.endswith("\n")
            place, region = narrowed(lines, breaks, max(breaks, last))
            ends = line + max(breaks, last)
            yield Piece(piece, place, line + breaks, ends, region, passage.heading)
            breaks += inner
        line += breaks


def write_pieces(pieces: Iterable[Piece], target: Path) -> int:
    """Write pieces to a new file and return how many they are.

    Raises:
        OSError: The file exists, or cannot be written.
    """
    encoder = msgspec.msgpack.Encoder()
    count = 0
    with target.open("xb", BUFFER_BYTES) as file:
        for piece in pieces:
            body = encoder.encode(piece)
            file.write(len(body).to_bytes(4))
            file.write(body)
            count += 1
    return count


def read_pieces(target: Path) -> Iterator[Piece]:
    """Yield what `write_pieces` wrote.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not whole, or something else.
    """
    decoder = msgspec.msgpack.Decoder(Piece)
    with target.open("rb", BUFFER_BYTES) as file:
        while header := file.read(4):
            size = int.from_bytes(header)
            body = file.read(size)
            if len(header) < 4 or len(body) < size:
                msg = "the pieces end within one"
                raise ValueError(msg)
            yield decoder.decode(body)


def _joined(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Yield passages that say something, each on lines of its own, small neighbours as one."""
    held: Passage | None = None
    first = ""
    for passage in passages:
        if not passage.text.strip():
            continue
        found = msgspec.structs.replace(passage, text=_ended(passage.text))
        both = None if held is None else _as_one(held, found, first)
        if held is not None and both is None:
            yield held
        if both is None:
            first = found.place
        held = both or found
    if held is not None:
        yield held


def _ended(text: str) -> str:
    """End the last line, too, and leave nothing in the text that UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text if text.endswith("\n") else text + "\n"


def _as_one(first: Passage, second: Passage, begin: str) -> Passage | None:
    """Return two passages as one, if they are small and one region can name them.

    Args:
        first: The one, perhaps joined itself.
        second: The other.
        begin: The place where the first begins.
    """
    if first.heading != second.heading:
        return None
    text, heading = first.text + second.text, first.heading
    if len(text) > TINY_BYTES or len(text.encode()) > TINY_BYTES:
        return None
    place = f"{begin} – {second.place}"
    if first.region == second.region:
        place = first.place if first.place == second.place else place
        return Passage(text, place, first.region, heading)
    if first.region is None or second.region is None:
        return None
    pages = first.region.pages, second.region.pages
    if first.region.named() == second.region.named() == ("pages",) and all(pages):
        low, high = str(pages[0]).partition("-")[0], str(pages[1]).rpartition("-")[2]
        return Passage(text, place, Region(pages=f"{low}-{high}"), heading)
    return None
