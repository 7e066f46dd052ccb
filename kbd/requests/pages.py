"""Pages of long lists: how many rows a client asks for, and the cursor of the next page.

A cursor names the last row of a page by what the list is sorted by, never by how many rows came
before it. So it holds while the list changes: a row that is there from the first page to the last
is met once, whatever comes or goes meanwhile. It also says which list it is of, with its filters
and its order, for in another one the same place means something else.
"""

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from zlib import crc32

import msgspec

from kbd.errors import ValidationFailed
from kbd.requests.base import UNSET, Unset

__all__ = [
    "MAX_PAGE_ROWS",
    "CursorParam",
    "LimitParam",
    "Place",
    "QueryParam",
    "decode_cursor",
    "encode_cursor",
    "page_of",
]

MAX_PAGE_ROWS = 10_000
"""The most rows that a page may be asked to have."""

LimitParam = Annotated[
    int,
    msgspec.Meta(ge=1, le=MAX_PAGE_ROWS, description="How many rows at most; without it, all."),
]
"""How many rows a page has at most."""

CursorParam = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=2048,
        description="The `next_cursor` of the page before, with the same filters and order.",
    ),
]
"""Where a page begins: what the page before answered as `next_cursor`."""

QueryParam = Annotated[str, msgspec.Meta(max_length=500, description="Words to look for.")]
"""Words, all of which a row must have."""

Place = tuple[str | int | float, ...]
"""Place of a row in its list: the values that the list is sorted by, which no two rows share."""

T = TypeVar("T")


class _Cursor(msgspec.Struct, array_like=True, frozen=True):
    """What a cursor holds: the checksum of its list, the place of the last row before it."""

    of: int
    after: Place


def encode_cursor(of: Sequence[Any], after: Place) -> str:
    """Return the cursor behind a row.

    Args:
        of: What tells the list from others: its name, filters and order.
        after: The place of the row.
    """
    packed = msgspec.msgpack.encode(_Cursor(_checksum(of), after))
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def decode_cursor(cursor: str, of: Sequence[Any], kinds: Sequence[type]) -> Place:
    """Return the place of the last row before a cursor.

    Args:
        cursor: What a client sent.
        of: As for `encode_cursor`.
        kinds: The types of what a place of this list has.

    Raises:
        ValidationFailed: It is no cursor, or one of another list.
    """
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        found = msgspec.msgpack.decode(packed, type=_Cursor)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        found = None
    # The checksum is no secret: who makes up a cursor may name a place of another shape.
    if found is None or found.of != _checksum(of) or tuple(map(type, found.after)) != tuple(kinds):
        msg = (
            "the cursor is not of this list, or of other filters or another order of it: ask"
            " without a cursor for the first page"
        )
        raise ValidationFailed(msg)
    return found.after


def page_of(
    rows: Sequence[T],
    place: Callable[[T], Place],
    kinds: Sequence[type],
    of: Sequence[Any],
    limit: int | Unset,
    cursor: str | Unset,
) -> tuple[Sequence[T], str | Unset]:
    """Return a page of a list in memory, and the cursor of the next one; UNSET behind the last.

    Args:
        rows: The whole list, sorted by `place`, rising.
        place: The place of a row.
        kinds: As for `decode_cursor`.
        of: As for `encode_cursor`.
        limit: How many rows at most; UNSET is all.
        cursor: Where to begin; UNSET is at the first row.

    Raises:
        ValidationFailed: As for `decode_cursor`.
    """
    if not isinstance(cursor, Unset):
        after = decode_cursor(cursor, of, kinds)
        rows = rows[bisect_right(rows, after, key=place) :]
    if isinstance(limit, Unset) or len(rows) <= limit:
        return rows, UNSET
    page = rows[:limit]
    return page, encode_cursor(of, place(page[-1]))


def _checksum(of: Sequence[Any]) -> int:
    return crc32(msgspec.msgpack.encode(of))
