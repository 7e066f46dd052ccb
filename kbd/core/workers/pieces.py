"""A document's text in pieces for an index: cut in the worker that reads it, carried in a file."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kbd.formats import Passage

__all__ = ["CUT_EDITION", "Piece", "cut", "read_pieces", "write_pieces"]

CUT_EDITION = "1"
"""Goes up when the same text would be cut otherwise; what is indexed is then cut again."""


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a document's text.

    The texts of all pieces, one after the other, are the document's whole text.

    Args:
        text: What is indexed; it begins where the piece before ends.
        place: Where it stands, as people would name it.
        line_start: Its first line in the document's whole text, from 1.
        line_end: Its last line there.
        region: The coordinates that read the place again, as plain values; empty if none do.
    """

    text: str
    place: str
    line_start: int
    line_end: int
    region: dict[str, Any]


def cut(passages: Iterable[Passage], most_characters: int) -> Iterator[Piece]:
    """Yield the pieces of a document, in order.

    Args:
        passages: All its text.
        most_characters: Where to stop.
    """
    raise NotImplementedError


def write_pieces(pieces: Iterable[Piece], target: Path) -> int:
    """Write pieces to a new file and return how many they are."""
    raise NotImplementedError


def read_pieces(target: Path) -> Iterator[Piece]:
    """Yield what `write_pieces` wrote."""
    raise NotImplementedError
