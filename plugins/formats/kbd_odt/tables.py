"""Tables as rows of texts; repeats of cells and rows are told in attributes and may be huge."""

from collections.abc import Callable, Iterator

import msgspec
from lxml import etree

from kbd_odt.names import TABLE, count

__all__ = ["Grid", "grid"]

_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384

_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_HEADER = f"{TABLE}table-header-rows"
_GROUPS = (_HEADER, f"{TABLE}table-rows", f"{TABLE}table-row-group")


class Grid(msgspec.Struct, frozen=True):
    """A table: what it says of its size, whether its first row is a header, and its texts."""

    row_count: int
    column_count: int
    has_header: bool
    rows: tuple[tuple[str, ...], ...]


def grid(
    element: etree._Element,
    cell_text: Callable[[etree._Element], str],
    expansion: Callable[[int, int], int],
) -> Grid:
    """Return a table.

    Args:
        element: The table.
        cell_text: Gives the text of a cell in one line.
        expansion: Tells how many repeats of a length are to be shown, of so many.
    """
    rows: list[tuple[str, ...]] = []
    row_count = column_count = 0
    has_header = False
    for row, is_header in _rows(element, is_header=False):
        has_header = has_header or (is_header and not row_count)
        repeats = count(row.get(f"{TABLE}number-rows-repeated"), _MOST_ROWS)
        texts, width = _row(row, cell_text, expansion)
        row_count = min(row_count + repeats, _MOST_ROWS)
        column_count = max(column_count, width)
        length = sum(map(len, texts))
        shown = expansion(length, repeats) if length else 1
        rows += [texts] * shown
    return Grid(row_count, column_count, has_header, tuple(rows))


def _rows(element: etree._Element, *, is_header: bool) -> Iterator[tuple[etree._Element, bool]]:
    """Yield the rows of a table, those in groups as well, each with whether it is of the header."""
    pending = [(iter(element), is_header)]
    while pending:
        children, inside = pending[-1]
        child = next(children, None)
        if child is None:
            pending.pop()
        elif child.tag == f"{TABLE}table-row":
            yield child, inside
        elif child.tag in _GROUPS:
            pending.append((iter(child), inside or child.tag == _HEADER))


def _row(
    row: etree._Element,
    cell_text: Callable[[etree._Element], str],
    expansion: Callable[[int, int], int],
) -> tuple[tuple[str, ...], int]:
    """Return the texts of a row, without blank ones at its end, and how wide it is."""
    texts: list[str] = []
    blanks = width = 0
    for cell in row.iterchildren(*_CELLS):
        repeats = count(cell.get(f"{TABLE}number-columns-repeated"), _MOST_COLUMNS)
        width = min(width + repeats, _MOST_COLUMNS)
        text = cell_text(cell)
        if not text:
            blanks += repeats
            continue
        texts += [""] * (expansion(1, blanks) if blanks else 0)
        blanks = 0
        texts += [text] * expansion(len(text), repeats)
    return tuple(texts), width
