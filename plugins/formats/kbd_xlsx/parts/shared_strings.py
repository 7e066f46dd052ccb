"""Shared strings: which of them the cells of a worksheet part use, and items made empty.

A cell names its string by its place in the list, so no item can be taken out without all sheets
being written anew. One that no cell uses is made empty where it stands.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from hashlib import blake2b
from io import BytesIO
from xml.sax.saxutils import escape

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.package import free_element, reading_errors
from kbd_xlsx.parts.markup import (
    attribute,
    masked,
    may_have_marks,
    plain,
    start_tag,
    utf8,
    with_attributes,
    without_mark,
)

__all__ = ["StringItems", "differing", "string_uses", "surrounding", "usual_uses"]

_ROW_END = b"</row>"
_BLOCK_BYTES = 1 << 20
_FEW = 16
# The usual form, in which nearly all programs write a cell with a shared string.
_USE = re.compile(rb't="s"[^<>]*>\s*<(?:[\w.-]+:)?v>\s*([0-9]{1,9})\s*</')
_ROOT = re.compile(rb"<([^\s<>/:!?]+:)?sst(?=[\s/>])")
_TEXT = re.compile(rb"<(?:[\w.-]+:)?t(?:\s[^<>]*)?>([^<]*)</")
_READ_ALOUD = re.compile(rb"<((?:[\w.-]+:)?)rPh[\s>].*?</\1rPh\s*>", re.DOTALL)


def differing(old: bytes, new: bytes) -> tuple[Iterator[bytes], Iterator[bytes]]:
    """Return the rows of two versions of a worksheet part that the other one has not, in blocks."""
    (start, stop), (_, new_stop) = _between(old, new)
    # By hashes: edits far apart leave all rows between, which would be as large again as sets.
    had, has = _hashes(old, start, stop), _hashes(new, start, new_stop)
    return _rows_not_in(has, old, start, stop), _rows_not_in(had, new, start, new_stop)


def surrounding(old: bytes, new: bytes) -> tuple[Iterator[bytes], Iterator[bytes]]:
    """Return all rows from the first to the last that two versions do not share, in blocks.

    It takes a third of the time of `differing`, and more rows are to be looked at.
    """
    span, new_span = _between(old, new)
    return _slices(old, *span), _slices(new, *new_span)


def _between(old: bytes, new: bytes) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where two versions of a part begin and cease to differ, cut between rows."""
    most = min(len(old), len(new))
    head = _most(most, lambda low, high: old[low:high] == new[low:high])
    # Cut before a row, so that no cell is cut in two.
    start = max(old.rfind(b"<row", 0, head), 0)
    ends, also = len(old), len(new)
    tail = _most(
        most - start,
        lambda low, high: old[ends - high : ends - low] == new[also - high : also - low],
    )
    first = old.find(_ROW_END, ends - tail)
    kept = ends - first if first >= 0 else 0
    return (start, ends - kept), (start, also - kept)


def _hashes(data: bytes, start: int, stop: int) -> set[bytes]:
    return {_digest(row) for block in _blocks(data, start, stop) for row in block}


def _rows_not_in(known: set[bytes], data: bytes, start: int, stop: int) -> Iterator[bytes]:
    for block in _blocks(data, start, stop):
        yield _ROW_END.join(row for row in block if _digest(row) not in known)


def _digest(row: bytes) -> bytes:
    # Wide enough that no two rows of a sheet have one, and the same in each process.
    return blake2b(row, digest_size=16).digest()


def _blocks(data: bytes, start: int, stop: int) -> Iterator[list[bytes]]:
    """Yield the rows between two places of a part, many at a time."""
    for block in _slices(data, start, stop):
        yield block.split(_ROW_END)


def _slices(data: bytes, start: int, stop: int) -> Iterator[bytes]:
    """Yield what stands between two places of a part, cut between rows."""
    while start < stop:
        end = data.find(_ROW_END, min(start + _BLOCK_BYTES, stop), stop)
        end = stop if end < 0 else end
        yield data[start:end]
        start = end


def _most(limit: int, are_equal: Callable[[int, int], bool]) -> int:
    """Return up to which length two parts are equal, by halves."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if are_equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def string_uses(data: bytes, name: str) -> list[int]:
    """Return the places of the shared strings that cells of a whole worksheet part use.

    Raises:
        FileReadFailed: The part is damaged.
    """
    found = usual_uses(data)
    if found is not None:
        return found
    uses = []
    with reading_errors(name):
        for _, cell in etree.iterparse(
            BytesIO(data), tag="{*}c", resolve_entities=False, no_network=True,
            remove_comments=True, remove_pis=True, huge_tree=True,
        ):  # fmt: skip
            value = (cell.findtext("{*}v") or "").strip()
            if cell.get("t") == "s" and value.isascii() and value.isdigit() and len(value) < 10:
                uses.append(int(value))
            free_element(cell)
    return uses


def usual_uses(data: bytes) -> list[int] | None:
    """Return the places that cells of some rows use; None if they are not in the usual form."""
    found = _USE.findall(data)
    # Another spelling of the type, or of the value, would be passed over: a string in use must
    # not be taken for an unused one.
    if data.count(b'"s"') != len(found) or b"'s'" in data or b'"&#' in data or b"'&#" in data:
        return None
    return list(map(int, found))


class StringItems:
    """The items of the part with shared strings.

    Args:
        data: The part.
        name: The workbook's name, for messages.

    Raises:
        FileReadFailed: The part is damaged, or of a form that cannot be changed safely.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._data = utf8(data, name)
        self._scan = masked(self._data) if may_have_marks(self._data) else self._data
        root = _ROOT.search(self._scan)
        if root is None:
            raise FileReadFailed(f"{name} is damaged: its shared strings are not valid XML")
        self._prefix = root[1] or b""
        tag = re.escape(self._prefix) + b"si"
        item = re.compile(
            b"<" + tag + rb"(?=[\s/>])[^<>]*?(?:/>|>(.*?)</" + tag + rb"\s*>)", re.DOTALL
        )
        self._spans = [found.span() for found in item.finditer(self._scan)]
        if len(self._spans) != len(re.findall(b"<" + tag + rb"(?=[\s/>])", self._scan)):
            raise FileReadFailed(f"{name} is damaged: its shared strings are not in order")

    def __len__(self) -> int:
        return len(self._spans)

    def text(self, place: int) -> str:
        """Return the text of an item, without what is read aloud."""
        item = self._item(place)
        return _item_text(item)

    def equal_to(self, texts: Collection[str]) -> set[int]:
        """Return the places of the items that hold one of some texts."""
        places: Iterable[int] = range(len(self._spans))
        if len(texts) <= _FEW:
            # Sought as they are written: to read the text of each item takes many times as long.
            places = {place for text in texts for place in self._holding(escape(text).encode())}
        return {place for place in places if self.text(place) in texts}

    def _holding(self, written: bytes) -> Iterator[int]:
        """Yield the places of the items in whose bytes a text lies."""
        at = self._data.find(written)
        while at >= 0:
            place = bisect_right(self._spans, (at, at)) - 1
            if place >= 0:
                yield place
            at = self._data.find(written, at + 1)

    def without(self, places: Collection[int], uses: int) -> bytes:
        """Return the part with some items made empty.

        Args:
            places: Which.
            uses: How many cells use an item.
        """
        mark = self._prefix
        empty = b"<" + mark + b"si><" + mark + b"t/></" + mark + b"si>"
        pieces, end = [], 0
        for place in sorted(places):
            start, stop = self._spans[place]
            pieces += [self._data[end:start], empty]
            end = stop
        changed = b"".join([*pieces, self._data[end:]])
        tag = re.compile(start_tag(self._prefix + b"sst")).search(changed)
        # Optional, and programs that write it count the cells, not the items.
        if tag is None or attribute(tag[1], b"count") is None:
            return changed
        attributes = with_attributes(tag[1], {b"count": b"%d" % uses})
        return changed[: tag.start(1)] + attributes + changed[tag.end(1) :]

    def _item(self, place: int) -> bytes:
        start, stop = self._spans[place]
        return self._data[start:stop]


def _item_text(item: bytes) -> str:
    # Most items: nothing but a text, in its shortest form.
    if item.startswith(b"<si><t>") and b"<" not in item[7:-9]:
        return plain(item[7:-9])
    if b"rPh" in item:
        item = _READ_ALOUD.sub(b"", item)
    return plain(b"".join(_TEXT.findall(without_mark(item))))
