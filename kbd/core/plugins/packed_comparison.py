"""Comparison on its way from a worker: its changes in small packed pieces.

A comparison may take 8 MiB, and to decode so much at once would hold up the event loop for a fifth
of a second. So the worker packs it in pieces, in which it is kept, and whoever wants it unpacks one
piece at a time and lets others go first in between.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from anyio.lowlevel import checkpoint

from kbd.formats import Change, ChangeCount, Comparison, Hunk

__all__ = ["PackedComparison", "pack", "unpack"]

PIECE_BYTES = 64 * 1024
"""Some 200 changes: unpacked within a few milliseconds."""

T = TypeVar("T")


class PackedComparison(msgspec.Struct, frozen=True):
    """Packed comparison: as a comparison, but for changes and hunks, which are msgpack arrays."""

    changes: tuple[bytes, ...]
    total: int
    counts: tuple[ChangeCount, ...]
    warnings: tuple[str, ...]
    hunks: tuple[bytes, ...] | None


def pack(found: Comparison) -> PackedComparison:
    """Pack a comparison."""
    return PackedComparison(
        changes=tuple(_pieces(found.changes)),
        total=found.total,
        counts=found.counts,
        warnings=found.warnings,
        hunks=None if found.hunks is None else tuple(_pieces(found.hunks)),
    )


async def unpack(packed: PackedComparison) -> Comparison:
    """Unpack a comparison, a piece at a time.

    Raises:
        msgspec.MsgspecError: A piece is not what `pack` made.
    """
    return Comparison(
        changes=tuple(await _unpacked(packed.changes, Change)),
        total=packed.total,
        counts=packed.counts,
        warnings=packed.warnings,
        hunks=None if packed.hunks is None else tuple(await _unpacked(packed.hunks, Hunk)),
    )


def _pieces(items: Iterable[msgspec.Struct]) -> Iterator[bytes]:
    """Yield the items as arrays; one that is larger than a piece is a piece of its own."""
    piece: list[msgspec.Raw] = []
    size = 0
    for item in items:
        data = msgspec.msgpack.encode(item)
        if piece and size + len(data) > PIECE_BYTES:
            yield msgspec.msgpack.encode(piece)
            piece, size = [], 0
        piece.append(msgspec.Raw(data))
        size += len(data)
    if piece:
        yield msgspec.msgpack.encode(piece)


async def _unpacked(pieces: Iterable[bytes], kind: type[T]) -> list[T]:
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(list[kind])  # type: ignore[valid-type]
    items: list[T] = []
    for piece in pieces:
        items += decoder.decode(piece)
        await checkpoint()
    return items
