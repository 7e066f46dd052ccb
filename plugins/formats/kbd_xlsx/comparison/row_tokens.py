"""Tokens of rows: what they are aligned by, and whether two are equal in everything.

Rows are aligned by what people put in: constants, and the shapes of formulas. Looks, results of
formulas and the numbers of rows in them do not count, so that an edit of one cell, which makes
other results old, leaves the alignment as it is.
"""

import re
import struct
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import msgspec

from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.cell_values import CellContent, is_recalculated
from kbd_xlsx.comparison.formula_texts import shape_of
from kbd_xlsx.comparison.raw_cells import RawCell, column_number, of_attributes, raw_cells

__all__ = ["RowTokens", "Sketch", "count_differences", "plain_tokens", "similarity", "tokenize"]

MAX_SKETCHED = 3_000_000
"""Cells of which rows are remembered, for finding similar ones."""

MANY_OTHERS = 500
"""Rows with references to other rows, after which it is not tried any more to tell rows alone."""

_CONSTANT = re.compile(rb'<c r="([A-Z]{1,3})\d{1,7}"([^>]*)><v>([^<]+)</v></c>')
_OWN_LOOK = re.compile(rb'\s*<row [^>]*\s(?:s|ht|hidden|outlineLevel|customFormat)="')
_PLACE = re.compile(rb'(<c r="[A-Z]{1,3})\d{1,7}"')
_ROW_NUMBER = re.compile(rb"(?<=[A-Z$])(?<![0-9.][A-Z])\d{1,7}(?![\w.(!])")
_OTHER_ROWS = re.compile(rb"<f>[^<]*(?:[A-Z]\$?\d|[\"'!\[&]|\d:\$?\d)")
_FIXED = re.compile(rb'\s(?:si|ref|ca)="[^"]*"')
_NUMBER = struct.Struct("<dx")
_FAR = 1 << 24
_NOT_IN_SHAPES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Sketch(NamedTuple):
    """A row's filled cells: their columns, and a hash of what each holds."""

    columns: tuple[int, ...]
    hashes: "array[int]"


class RowTokens(msgspec.Struct):
    """Tokens of rows, by their numbers from 1 on.

    Args:
        by_row: What to align by; 0 for a row without values.
        exact: What is equal only if nothing differs; of a row with formulas, at this very place.
        sketches: What rows hold, of those that were taken apart.
    """

    by_row: list[int]
    exact: list[int]
    sketches: dict[int, Sketch]


def tokenize(
    side: SheetSide,
    wanted: Sequence[int],
    count: int,
    *,
    known: Mapping[int, tuple[int, int]] | None = None,
    columns: Mapping[int, int] | None = None,
) -> RowTokens:
    """Return the tokens of rows.

    Args:
        side: The sheet.
        wanted: The numbers of the rows, rising; others have 0.
        count: How many rows there are.
        known: Tokens of rows that the other version has, too, as `plain_tokens` gives them: these
            are not taken apart.
        columns: What columns are called instead, where columns were inserted or removed; those
            that are not named are left out. None for no change.

    Raises:
        FileReadFailed: The sheet is damaged.
    """
    found = RowTokens([0] * (count + 1), [0] * (count + 1), {})
    if known:
        for number, (token, exact) in known.items():
            found.by_row[number], found.exact[number] = token, exact
        wanted = [number for number in wanted if number not in known]
    row_of = _RowReader(side, columns)
    sketched = 0
    for number, _, cells in side.rows(wanted):
        if not cells or number > count:
            continue
        plain = row_of.tokens_of_constants(cells)
        by_row, exact, sketch = plain or row_of.tokens(number, raw_cells(cells))
        found.by_row[number] = by_row
        found.exact[number] = exact
        if by_row and sketched < MAX_SKETCHED:
            sketched += len(sketch.columns)
            found.sketches[number] = sketch
    return found


def plain_tokens(side: SheetSide, wanted: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return tokens of rows without looks of their own, told from their markup alone.

    They are the same wherever a row stands, but for the exact one of a row with formulas.

    Args:
        side: The sheet.
        wanted: The numbers of the rows, rising.

    Raises:
        FileReadFailed: The sheet is damaged.
    """
    found: dict[int, tuple[int, int]] = {}
    # Rows that are the same wherever they stand.
    plain = 0
    for piece in side.pieces():
        start = bisect_left(wanted, piece.numbers[0])
        if start == len(wanted) or wanted[start] > piece.numbers[-1]:
            continue
        for number, markup in zip(piece.numbers, piece.markup, strict=True):
            # A row with a height or look of its own is read, so that these are seen.
            if b"<v" not in markup or _OWN_LOOK.match(markup):
                continue
            cells = markup[markup.index(b">") + 1 :]
            formulas = cells.count(b"<f")
            if not formulas:
                token = hash(_without_number(cells, number)) or 1
                found[number] = token, token
                plain += 1
            elif cells.count(b"<f>") == formulas:
                own = b"" if len(found) - plain > MANY_OTHERS else _own_token(cells, number)
                token = hash(own)
                if own:
                    plain += 1
                else:
                    token = hash(_ROW_NUMBER.sub(b"", cells)) or 1
                found[number] = token or 1, (token if own else hash(cells)) or 1
    return found


def _without_number(cells: bytes, number: int) -> bytes:
    """Return the cells of a row without its number."""
    mark = b'%d"' % number
    # Each cell has the mark once; if there are no more, all of them are numbers of rows.
    if cells.count(mark) == cells.count(b'<c r="'):
        return cells.replace(mark, b'"')
    return _PLACE.sub(rb'\1"', cells)


def _own_token(cells: bytes, number: int) -> bytes:
    """Return a row without its number, if its formulas refer to no other row; else b""."""
    if b"<is" in cells or b't="str"' in cells:
        return b""
    own = _without_own_row(cells, b"%d" % number)
    # With references to its own row only, the row is the same wherever it stands.
    return own if _OTHER_ROWS.search(own) is None else b""


def _without_own_row(cells: bytes, digits: bytes) -> bytes:
    """Return the cells of a row with a sign for its number in addresses and references."""
    parts = cells.split(digits)
    last = len(parts) - 1
    found = [parts[0]]
    for place in range(last):
        before, after = parts[place], parts[place + 1]
        sign, beyond = before[-1:], before[-2:-1]
        is_row = (sign.isupper() and not beyond.isdigit()) or (sign == b"$" and beyond.isupper())
        # A part of a longer number, or of one such as 1E5.
        is_part = after[:1].isdigit() or (not after and place + 1 < last)
        is_part = is_part or (place > 0 and len(before) < 2)
        found.append(b"#" if is_row and not is_part else digits)
        found.append(after)
    return b"".join(found)


class _RowReader:
    """Reads tokens of rows of one sheet."""

    def __init__(self, side: SheetSide, columns: Mapping[int, int] | None) -> None:
        self._side = side
        self._columns = columns
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._has_groups = bool(side.scan.groups)
        # Days of another date system are other numbers than those that are written.
        self._is_plain = not (self._has_groups or side.book.values.counts_from_1900)
        self._texts: dict[bytes, tuple[str, bytes, int]] = {}
        self._kinds: dict[bytes, tuple[int, str, bytes]] = {}
        self._places: dict[bytes, int] = {}

    def tokens_of_constants(self, cells: bytes) -> tuple[int, int, Sketch] | None:
        """Return what `tokens` does, of a row that is numbers and shared texts alone; else None.

        Most rows are, and of many their cells need not be taken apart one by one.
        """
        found = _CONSTANT.findall(cells)
        if not self._is_plain or len(found) != cells.count(b"<c"):
            return None
        exact: list[object] = []
        columns: list[int] = []
        held: list[int] = []
        for letters, attributes, value in found:
            column = self._places.get(letters) or self._place(letters)
            if column < 0:
                continue
            key, kind, metadata = self._kinds.get(attributes) or self._kind(attributes)
            if kind == "s":
                text, markup, content_hash = self._texts.get(value) or self._text(value)
                exact.append((column, key, text, markup, metadata))
            elif kind:
                return None
            else:
                try:
                    number = float(value)
                except ValueError:
                    return None
                if not isfinite(number):
                    return None
                own = _hashable(number)
                content_hash = hash(own)
                exact.append((column, key, own, b"", metadata))
            columns.append(column)
            held.append(content_hash)
        if not columns:
            return None
        places = tuple(columns)
        places = self._known.setdefault(places, places)
        token = hash((places, tuple(held))) or 1
        return token, hash(tuple(exact)) or 1, Sketch(places, array("q", held))

    def _place(self, letters: bytes) -> int:
        """Return what a column is called, -1 if it is left out."""
        column: int | None = column_number(letters)
        if self._columns is not None:
            column = self._columns.get(column_number(letters))
        found = self._places[letters] = -1 if column is None else column
        return found

    def _kind(self, attributes: bytes) -> tuple[int, str, bytes]:
        """Return a cell's look, kind and metadata."""
        style, kind, metadata = of_attributes(attributes)
        found = self._kinds[attributes] = self._side.book.looks.key(style), kind, metadata
        return found

    def _text(self, value: bytes) -> tuple[str, bytes, int]:
        """Return a shared text with its markup and its hash."""
        text, markup = self._side.book.values.shared(value)
        found = self._texts[value] = text, markup, hash(text)
        return found

    def tokens(self, number: int, cells: Sequence[RawCell]) -> tuple[int, int, Sketch]:
        """Return a row's token, its exact token and what it holds."""
        side, values = self._side, self._side.book.values
        style_key = side.book.looks.key
        columns: list[int] = []
        contents: list[int] = []
        exact: list[object] = []
        held = array("q")
        has_formula = False
        for cell in cells:
            column: int | None = cell.column
            if self._columns is not None:
                column = self._columns.get(cell.column)
                if column is None:
                    continue
            assert column is not None
            if cell.formula is not None:
                has_formula = True
                shape, loose, own = self._formula(cell, number)
                exact.append((column, style_key(cell.style), own))
                columns.append(column)
                contents.append(shape if self._columns is None else loose)
                held.append(loose)
                continue
            if cell.value is None:
                exact.append((column, style_key(cell.style)))
                continue
            content = values.content(cell)
            markup = values.text(cell)[1] if isinstance(content, str) else b""
            key = _hashable(content)
            exact.append((column, style_key(cell.style), key, markup, cell.metadata))
            if not (self._has_groups and side.is_member(number, cell.column)):
                columns.append(column)
                contents.append(hash(key))
                held.append(contents[-1])
        if has_formula:
            exact.append(number)
        places = tuple(columns)
        places = self._known.setdefault(places, places)
        token = (hash((places, tuple(contents))) or 1) if places else 0
        return token, hash(tuple(exact)) or 1, Sketch(places, held)

    def _formula(self, cell: RawCell, number: int) -> tuple[int, int, tuple[object, ...]]:
        """Return hashes of a formula's shape, with and without columns, and what its cell holds."""
        formula = self._side.formula(cell, number)
        shape = shape_of(formula.text.encode())
        loose = shape.translate(None, _NOT_IN_SHAPES)
        details = cell.details
        if b'"shared"' in details:
            details = b""
        elif b"array" not in details and b"dataTable" not in details:
            details = _FIXED.sub(b"", details)
        key = (
            cell.column,
            formula.text,
            (formula.rows + _FAR, formula.columns + _FAR),
            details,
            _hashable(self._side.book.values.content(cell)),
            is_recalculated(cell),
            cell.metadata,
        )
        return hash((b"=", shape)), hash((b"=", loose)), key


def _hashable(content: CellContent) -> bytes | str | tuple[str, str] | None:
    """Return what a cell holds so that unequal contents have other hashes.

    Python's hash is the same for -1 and -2, for 0 and an empty text, and for 0.5 and 2 ** 60.
    """
    if isinstance(content, float):
        # Adding makes one zero of two. No text ends with the null that follows.
        return _NUMBER.pack(content + 0.0)
    return content


def count_differences(one: Sketch | None, two: Sketch | None) -> int:
    """Return in how many columns two rows differ."""
    ours = dict(zip(one.columns, one.hashes, strict=True)) if one is not None else {}
    theirs = dict(zip(two.columns, two.hashes, strict=True)) if two is not None else {}
    return sum(ours.get(column) != theirs.get(column) for column in ours.keys() | theirs.keys())


def similarity(one: Sketch | None, two: Sketch | None) -> float:
    """Return how much of two rows is equal, from 0 to 1."""
    if one is None or two is None:
        return 1.0 if one is two else 0.0
    most = max(len(one.columns), len(two.columns))
    if not most:
        return 1.0
    if one.columns == two.columns:
        pairs = zip(one.hashes, two.hashes, strict=True)
        return sum(first == second for first, second in pairs) / most
    other = dict(zip(two.columns, two.hashes, strict=True))
    own = zip(one.columns, one.hashes, strict=True)
    return sum(other.get(column) == content for column, content in own) / most
