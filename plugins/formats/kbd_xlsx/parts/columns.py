"""The element `cols`: styles that cells inherit from their columns, and widths."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

from kbd_xlsx.parts.markup import Tag, attribute, element, opened, start_tag, with_attributes
from kbd_xlsx.references import MAX_COLUMN, whole_number

__all__ = ["ColumnStyles", "with_widths"]


class _Span(NamedTuple):
    """Columns with one description; `text` is its element as written, b"" once that changed."""

    first: int
    last: int
    attributes: bytes
    text: bytes


class ColumnStyles:
    """The styles of columns.

    Args:
        cols: The element, b"" if there is none.
        prefix: The prefix of the part's names.
    """

    def __init__(self, cols: bytes, prefix: str) -> None:
        self._spans: list[tuple[int, int, int]] = []
        for span in sorted(_spans(cols, prefix)) if b"style" in cols else ():
            word = attribute(span.attributes, b"style") or "0"
            if style := whole_number(word):
                self._spans.append((span.first, span.last, style))

    def style(self, column: int) -> int:
        """Return the style of a column's cells, 0 if it has none."""
        if not self._spans:
            return 0
        place = bisect_right(self._spans, (column, MAX_COLUMN + 1, 0)) - 1
        if place < 0:
            return 0
        first, last, style = self._spans[place]
        return style if first <= column <= last else 0


def with_widths(cols: bytes, prefix: str, widths: Mapping[int, str]) -> bytes:
    """Return the element with other widths of some columns; all else that it says of them stays.

    Args:
        cols: The element, b"" if there is none.
        prefix: The prefix of the part's names.
        widths: The widths as stored, by column.
    """
    spans = _spans(cols, prefix)
    left = sorted(widths)
    pieces: list[_Span] = []
    for span in spans:
        first = span.first
        within = [column for column in left if span.first <= column <= span.last]
        for column in within:
            if first < column:
                pieces.append(_Span(first, column - 1, span.attributes, b""))
            changes: dict[bytes, bytes | None] = {
                b"width": widths[column].encode(), b"customWidth": b"1", b"bestFit": None,
            }  # fmt: skip
            pieces.append(_Span(column, column, with_attributes(span.attributes, changes), b""))
            first = column + 1
        if within and first <= span.last:
            pieces.append(_Span(first, span.last, span.attributes, b""))
        if not within:
            pieces.append(span)
        left = [column for column in left if column not in within]
    for column in left:
        place = next((n for n, span in enumerate(pieces) if span.first > column), len(pieces))
        attributes = f' min="{column}" max="{column}" width="{widths[column]}" customWidth="1"'
        pieces.insert(place, _Span(column, column, attributes.encode(), b""))
    name = f"{prefix}col".encode()
    tag = opened(cols) if cols else Tag(f"{prefix}cols".encode(), b"", b"")
    return element(Tag(tag.name, tag.attributes, b"".join(_text(name, span) for span in pieces)))


def _spans(cols: bytes, prefix: str) -> list[_Span]:
    """Return the descriptions of columns in order."""
    found = []
    name = f"{prefix}col".encode()
    close = b"</" + re.escape(name) + rb"\s*>"
    for span in re.finditer(start_tag(name) + rb"(?:(?<=/>)|[^<]*" + close + b")", cols):
        attributes = span[1].removesuffix(b"/").rstrip()
        first, last = attribute(attributes, b"min") or "", attribute(attributes, b"max") or ""
        if first.isdecimal() and last.isdecimal():
            found.append(_Span(whole_number(first), whole_number(last), attributes, span[0]))
    return found


def _text(name: bytes, span: _Span) -> bytes:
    if span.text:
        return span.text
    bounds: dict[bytes, bytes | None] = {b"min": b"%d" % span.first, b"max": b"%d" % span.last}
    return b"<" + name + with_attributes(span.attributes, bounds) + b"/>"
