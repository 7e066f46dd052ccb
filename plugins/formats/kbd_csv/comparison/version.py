"""A version of a table as it is compared: its rows in batches, with keys and sizes."""

import csv
import io
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from kbd.formats import Source
from kbd.plaintext.differences import ItemBatch
from kbd.plaintext.encodings import BLOCK_BYTES
from kbd.plaintext.lines import open_at
from kbd.plaintext.versions import TextVersion, read_version
from kbd_csv.comparison.beside import may_leave_out
from kbd_csv.dialect import COLUMN_GAP
from kbd_csv.head import TableHead, column_names, read_head
from kbd_csv.rows import MAX_COLUMNS, MAX_ROW_CHARS, RowReader
from kbd_csv.sorter import RowSorter
from kbd_csv.tables import settled_head

__all__ = [
    "BATCH_CHARS",
    "Row",
    "RowsCannotBeSkipped",
    "TableVersion",
    "count_rows",
    "read_rows",
    "read_table_version",
    "read_table_versions",
    "table_rows",
    "trimmed",
    "whole_rows",
]

_MARK_BYTES = 3
"""Of a byte order mark in UTF-8."""

_BATCH_ROWS = 256
BATCH_CHARS = 64 * 1024
"""How much is read at a time."""

HEADER_KEY = ("header", None)
"""Of no row of data: their keys are texts."""


class RowsCannotBeSkipped(Exception):
    """A quote is never closed: how a row is read depends on all rows before it."""


class Row(NamedTuple):
    """Row as it was read: its fields, its text with the line end, and what it is compared by.

    Empty lines before it belong to its text.
    """

    fields: list[str]
    text: str
    key: Hashable


class TableVersion(msgspec.Struct, frozen=True):
    """A version of a table.

    Args:
        source: The file.
        text: What it is as a text.
        head: Its dialect and header.
        has_header: Whether its first row names the columns.
        names: Its columns.
        start: The byte at which the first row begins; where rows are sorted, the file's beginning.
        is_sorted: Whether rows are told one by one from lines that are none of the table.
        beside: The texts of these lines, the first 10,000.
    """

    source: Source
    text: TextVersion
    head: TableHead
    has_header: bool
    names: list[str]
    start: int = 0
    is_sorted: bool = False
    beside: tuple[str, ...] = ()

    def name(self, column: int) -> str:
        """Return a column's name, also of one that only a longer row has."""
        return self.names[column] if column < len(self.names) else f"column_{column + 1}"

    def written(self, column: int) -> str | None:
        """Return what the header has for a column, as it is written; None without a header."""
        header = self.head.header
        if header is None:
            return None
        return header[column] if column < len(header) else ""

    def number(self, item: int) -> int:
        """Return the number of a data row, from 1, by its place among all rows, from 0."""
        return item if self.has_header else item + 1

    def item(self, number: int) -> int:
        """Return the place of a data row among all rows, from 0, by its number, from 1."""
        return number if self.has_header else number - 1


def read_table_versions(before: Source, after: Source) -> tuple[TableVersion, TableVersion]:
    """Read what two versions are, but for their rows.

    Where both begin with the same row it is a header in both or in neither: whether it looks like
    one depends on the rows below.

    Raises:
        FileReadFailed: One cannot be opened, or is no table within the limits.
    """
    old, new = read_table_version(before), read_table_version(after)
    if old.has_header != new.has_header:
        one, other = _first_row(old), _first_row(new)
        if one is not None and one == other:
            header = one if new.has_header else None
            names = column_names(header, old.head.width)
            layout = msgspec.structs.replace(old.head.layout, header=header)
            head = msgspec.structs.replace(old.head, layout=layout)
            old = msgspec.structs.replace(old, head=head, has_header=new.has_header, names=names)
    return _with_unnamed(old, new), _with_unnamed(new, old)


def _with_unnamed(version: TableVersion, other: TableVersion) -> TableVersion:
    """Return a version with as many columns behind its header as the other one has.

    Columns are counted in the first rows. If rows further down have as many as the other version's
    first ones, these are no new columns.
    """
    more = _unnamed(other) - _unnamed(version)
    if more <= 0 or version.has_header != other.has_header:
        return version
    width = len(version.names)
    batches = read_rows(version, version.start, trimmed)
    if not any(len(trimmed(row.fields)) > width for batch in batches for row in batch.items):
        return version
    header = version.head.header if version.has_header else None
    return msgspec.structs.replace(version, names=column_names(header, width + more))


def _unnamed(version: TableVersion) -> int:
    header = trimmed(version.head.header or ()) if version.has_header else ()
    return len(version.names) - len(header)


def read_table_version(source: Source) -> TableVersion:
    """Read what a version is, but for its rows.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
    """
    text = read_version(source, allow_zeros=True)
    head = read_head(source, text.encoding)
    is_sorted = may_leave_out(source, text, head)
    if is_sorted:
        head = settled_head(source)
    start = _MARK_BYTES if text.encoding.name == "utf-8-sig" else 0
    if is_sorted:
        sorter = RowSorter(RowReader(source, head.encoding, head.dialect), head.layout)
        for _ in sorter:
            pass
        beside = tuple(sorter.beside)
    else:
        beside = _lines_above(source, head)
        start += sum(len(line.encode()) for line in beside)
    names = column_names(head.header, head.width)
    return TableVersion(
        source, text, head, head.header is not None, names, start, is_sorted, beside
    )


def _lines_above(source: Source, head: TableHead) -> tuple[str, ...]:
    """Return the lines above a table."""
    above = []
    reader = RowReader(source, head.encoding, head.dialect)
    for _ in reader:
        if reader.line >= head.layout.start:
            break
        above.append(reader.row_text)
    return tuple(above) if head.layout.is_lower else ()


def _first_row(version: TableVersion) -> list[str] | None:
    return next(table_rows(version), None)


def table_rows(version: TableVersion) -> Iterator[list[str]]:
    """Yield the fields of a version's rows, the header first, one by one.

    Raises:
        FileReadFailed: It cannot be read, or is no table within the limits.
    """
    head = version.head
    if version.is_sorted:
        reader = RowReader(version.source, head.encoding, head.dialect)
        yield from RowSorter(reader, head.layout, keeps_header=True)
        return
    reader = RowReader(version.source, head.encoding, head.dialect, version.start)
    yield from (row for row in reader if row)


def trimmed(fields: Sequence[str]) -> tuple[str, ...]:
    """Return fields without the empty ones at their end: a row may be written with or without."""
    if fields and fields[-1]:
        return tuple(fields)
    size = len(fields)
    while size and not fields[size - 1]:
        size -= 1
    return tuple(fields[:size])


def read_rows(
    version: TableVersion,
    offset: int,
    key_of: Callable[[Sequence[str]], Hashable],
    *,
    may_skip: bool = False,
) -> Iterator[ItemBatch[Row]]:
    """Yield the rows from a byte on at which one begins, the header first; empty lines are none.

    The header's key is the same in every version: columns are compared apart from rows.

    Args:
        version: What to read.
        offset: The byte.
        key_of: Tells what a row's fields are compared by.
        may_skip: Whether rows are skipped elsewhere, so that each must be read for itself.

    Raises:
        FileReadFailed: It cannot be read, or is no table within the limits.
        RowsCannotBeSkipped: They are skipped, and a quote is never closed.
    """
    if version.is_sorted:
        yield from _sorted_rows(version, key_of)
        return
    is_first = offset <= version.start
    blank: list[str] = []
    for rows, texts in _pieces(version, offset, may_skip=may_skip):
        if is_first or blank or not all(rows):
            rows, texts, blank = _without_empty_lines(
                version, rows, blank + texts, is_first=is_first
            )
        if not rows:
            continue
        keys: list[Hashable] = [*map(key_of, rows)]
        if is_first and version.has_header:
            keys[0] = HEADER_KEY
        is_first = False
        items = [*map(Row, rows, texts, keys)]
        is_ascii = all(map(str.isascii, texts))
        sizes = [*map(len, texts)] if is_ascii else [len(text.encode()) for text in texts]
        yield ItemBatch(keys, items, sizes)


def _sorted_rows(
    version: TableVersion, key_of: Callable[[Sequence[str]], Hashable]
) -> Iterator[ItemBatch[Row]]:
    """Yield the rows of a version that has lines which are none."""
    head = version.head
    reader = RowReader(version.source, head.encoding, head.dialect)
    sorter = RowSorter(reader, head.layout, keeps_header=True)
    items: list[Row] = []
    is_header = version.has_header
    for fields in sorter:
        items.append(Row(fields, sorter.text, HEADER_KEY if is_header else key_of(fields)))
        is_header = False
        if len(items) >= _BATCH_ROWS:
            yield _batch(items)
            items = []
    if items:
        yield _batch(items)


def _batch(items: list[Row]) -> ItemBatch[Row]:
    return ItemBatch([row.key for row in items], items, [len(row.text) for row in items])


def _without_empty_lines(
    version: TableVersion, rows: list[list[str]], texts: list[str], *, is_first: bool
) -> tuple[list[list[str]], list[str], list[str]]:
    """Return rows without empty lines, whose texts are those of the rows behind them.

    In a table of one column empty lines between rows are rows.

    Returns:
        The rows, their texts, and the empty lines at the end.
    """
    found: list[list[str]] = []
    written: list[str] = []
    blank = texts[: len(texts) - len(rows)]
    for row, text in zip(rows, texts[len(blank) :], strict=True):
        if not row:
            blank.append(text)
            continue
        if blank and version.head.width <= 1 and (found or not is_first):
            found += [[""] for _ in blank]
            written += blank
            blank = []
        found.append(row)
        written.append("".join((*blank, text)) if blank else text)
        blank = []
    return found, written, blank


def _pieces(
    version: TableVersion, offset: int, *, may_skip: bool
) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Yield rows and their texts, many at once."""
    dialect = version.head.dialect
    is_usual = not (dialect.has_escapes or dialect.skips_blanks or dialect.delimiter == COLUMN_GAP)
    if version.text.is_bytewise and version.text.longest <= MAX_ROW_CHARS and is_usual:
        for rows, texts in _plain_pieces(version, offset):
            if rows and max(map(len, rows)) > MAX_COLUMNS:
                # The reader below says so.
                break
            offset += sum(len(text.encode()) for text in texts)
            yield rows, texts
        else:
            if offset >= version.source.path.stat().st_size:
                return
    # From the first quote on that is never closed; that one needs all that follows.
    reader = RowReader(version.source, version.head.encoding, version.head.dialect, offset)
    rows, texts = [], []
    for row in reader:
        if may_skip and reader.unclosed:
            raise RowsCannotBeSkipped
        rows.append(row)
        texts.append(reader.row_text)
        if len(rows) >= _BATCH_ROWS:
            yield rows, texts
            rows, texts = [], []
    yield rows, texts


def _plain_pieces(
    version: TableVersion, offset: int
) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Yield rows up to the end, or to a quote that seems to be never closed."""
    dialect = version.head.dialect
    quote = dialect.quote_char
    open_lines: list[str] = []
    with open_at(version.source, version.head.encoding, offset, newline="") as file:
        while lines := file.readlines(BATCH_CHARS):
            lines = open_lines + lines
            reader = csv.reader(lines, delimiter=dialect.delimiter, quotechar=quote)
            open_lines = []
            if not any(quote in line for line in lines):
                yield [*reader], lines
                continue
            rows: list[list[str]] = []
            ends = [0]
            for row in reader:
                rows.append(row)
                ends.append(reader.line_num)
            last = lines[ends[-2] :]
            # With one more line an open quote goes on, and a closed one begins another row.
            again = csv.reader([*last, "x"], delimiter=dialect.delimiter, quotechar=quote)
            if len([*again]) == 1:
                open_lines = last
                if sum(map(len, last)) > MAX_ROW_CHARS:
                    return
                del rows[-1], ends[-1]
            yield rows, ["".join(lines[one:end]) for one, end in pairwise(ends)]


def whole_rows(version: TableVersion, data: bytes) -> tuple[int, int]:
    """Count the rows that a piece of a file surely begins with, and their bytes.

    Args:
        version: What it is a piece of, in UTF-8.
        data: The piece; it begins with a row.
    """
    end = data.rfind(b"\n") + 1
    quote = version.head.dialect.quote_char.encode()
    # Without quotes a line is a row, and without empty lines each counts.
    has_empty = data.startswith((b"\n", b"\r")) or b"\n\n" in data or b"\n\r" in data
    if quote not in data and not has_empty:
        return data.count(b"\n", 0, end), end
    return _parsed_rows(version, data[:end])


def count_rows(version: TableVersion) -> int:
    """Count all rows, the header, too; raises FileReadFailed."""
    count = offset = 0
    if version.text.is_bytewise and version.head.width > 1 and not version.is_sorted:
        with version.source.path.open("rb") as file:
            file.seek(version.start)
            rest = b""
            while len(rest) < MAX_ROW_CHARS and (block := file.read(BLOCK_BYTES)):
                rest += block
                more, size = whole_rows(version, rest)
                count, offset, rest = count + more, offset + size, rest[size:]
    # The last row, and those that need all that follows them.
    batches = read_rows(version, version.start + offset, trimmed)
    return count + sum(len(batch.keys) for batch in batches)


def _parsed_rows(version: TableVersion, data: bytes) -> tuple[int, int]:
    """Count rows as they are parsed, but for the last one, which may go on."""
    lines = io.StringIO(data.decode("utf-8"), newline="")
    dialect = version.head.dialect
    reader = csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote_char)
    count = start = end = 0
    is_filled = False
    for row in reader:
        is_filled = bool(row)
        count += is_filled
        start, end = end, reader.line_num
    size = len(data)
    for _ in range(end - start):
        size = data.rfind(b"\n", 0, size - 1) + 1
    return count - is_filled, size
