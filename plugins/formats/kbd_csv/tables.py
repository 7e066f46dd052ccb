"""Tables of delimited text: mapped, read in the plain form, and written.

Every row is kept. Rows that are shorter than the header are padded, a row that is longer widens
the table; both are counted in the warnings.

Rows are written to a new file, or to the end of one. Numbers keep their text form. Text that looks
like a formula is written with an apostrophe before it: to the programs that open such a file it
would else be one.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgpack
import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    Column,
    Passage,
    Placement,
    ReadAs,
    Source,
    Table,
    TableReading,
    Written,
)
from kbd.formats.active import ActiveContent
from kbd.formats.headings import names_of_columns
from kbd.plaintext import Encoding
from kbd.plaintext.formulas import NEUTRAL, formula_fields, neutral
from kbd.plaintext.lines import line_passages, measure, read_lines
from kbd_csv.rows import Dialect, PlainWriter, RowReader, has_header, suffix_delimiter

__all__ = [
    "ROWS_PER_CHUNK",
    "RowTaker",
    "TableHead",
    "active_content",
    "column_names",
    "passages",
    "read_head",
    "read_lines",
    "read_rows",
    "read_table",
    "table_map",
    "write_table",
]

ROWS_PER_CHUNK = 500
"""Contract, section 8."""

MAX_CELLS = 250_000_000
"""Rows × columns of the plain form: one very wide row must not fill the disk with commas."""

_HEAD_ROWS = 200


class TableHead(msgspec.Struct, frozen=True):
    """Head of a table: its dialect, its header and its width, by its first rows.

    Args:
        header: The first row if it names the columns, else None.
        declared: Fields that a row should have, as its header or its first row has.
        width: Columns seen so far, trailing empty ones not counted.
    """

    encoding: Encoding
    dialect: Dialect
    header: list[str] | None
    declared: int
    width: int


class RowTaker(Protocol):
    """What rows are handed to, one after the other."""

    def write(self, row: Sequence[str], /) -> object:
        """Take a row."""


T = TypeVar("T", bound=RowTaker)


class _Tally(msgspec.Struct):
    """Counts of one pass over the rows."""

    rows: int = 0
    padded: int = 0
    widened: int = 0
    blank: int = 0
    widest: int = 0
    zeros: int = 0
    unclosed: int = 0


def table_map(source: Source) -> dict[str, Any]:
    """Map a table without keeping its rows.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
    """
    facts = measure(source, allow_zeros=True)
    table_head, tally = _scan(source, None)
    names = column_names(table_head.header, tally.widest)
    starts = range(1, tally.rows + 1, ROWS_PER_CHUNK)
    return {
        "line_count": facts.line_count,
        "char_count": facts.char_count,
        "row_count": tally.rows,
        "column_count": len(names),
        "columns": names,
        **_details(table_head),
        "encoding_detected": table_head.encoding.name,
        "encoding_confidence": table_head.encoding.confidence,
        "chunks": [
            {
                "index": index,
                "row_start": start,
                "row_count": min(ROWS_PER_CHUNK, tally.rows - start + 1),
            }
            for index, start in enumerate(starts)
        ],
        "warnings": list(_warnings(table_head, tally)),
    }


def read_table(source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
    """Write the rows to `target` in the plain form.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
        ValidationFailed: A sheet was named.
    """
    if sheet is not None:
        raise ValidationFailed(f"{source.name} has no sheets")
    table_head, tally = _scan(source, target)
    return Table(
        columns=tuple(Column(name) for name in column_names(table_head.header, tally.widest)),
        row_count=tally.rows,
        reading=TableReading(
            encoding=table_head.encoding.name,
            encoding_confidence=table_head.encoding.confidence,
            delimiter=table_head.dialect.delimiter,
            quote_char=table_head.dialect.quote_char if table_head.dialect.quoted else "",
            header_row=int(table_head.header is not None),
        ),
        details=_details(table_head),
        warnings=_warnings(table_head, tally),
    )


def passages(source: Source) -> Iterator[Passage]:
    """Yield the raw text in pieces of up to 200 lines, each with the names of the columns.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    try:
        heading = names_of_columns(read_head(source).header or ())
    except FileReadFailed:
        heading = ""  # What is no table is a text all the same.
    for passage in line_passages(source, allow_zeros=True):
        yield msgspec.structs.replace(passage, heading=heading)


def _scan(source: Source, target: Path | None) -> tuple[TableHead, _Tally]:
    """Go over all rows and write them; anew if they turn out wider than their start."""
    table_head = read_head(source)
    width = table_head.width
    while True:
        tally = _read_rows(source, table_head, width, target)
        if tally.widest <= width or target is None:
            return table_head, tally
        width = tally.widest


def read_head(source: Source, encoding: Encoding | None = None) -> TableHead:
    """Read the first rows and decide what the others will be compared with."""
    reader = RowReader(source, encoding)
    head = [row for row in islice(reader, _HEAD_ROWS) if row]
    header = head[0] if head and has_header(head) else None
    width = max((_filled(row) for row in head), default=0)
    declared = len(head[0]) if head else 0
    return TableHead(
        reader.encoding, reader.dialect, header, declared, max(width, min(declared, 1))
    )


def _read_rows(source: Source, table_head: TableHead, width: int, target: Path | None) -> _Tally:
    reader = RowReader(source, table_head.encoding, table_head.dialect)
    tally = _Tally(widest=width)
    if target is None:
        _count(reader, table_head, tally, width, None)
    else:
        with PlainWriter(target) as writer:
            writer.write_header(column_names(table_head.header, width))
            _count(reader, table_head, tally, width, writer)
    tally.zeros, tally.unclosed = reader.zeros, reader.unclosed
    return tally


def read_rows(source: Source, new_taker: Callable[[], T]) -> tuple[TableHead, T, int, int]:
    """Hand all data rows on, in order, padded to one width.

    Args:
        source: The file.
        new_taker: Makes what takes them; a second one takes all if rows turn out wider.

    Returns:
        The head of the table, what took the rows, how many there are, and how many columns.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
    """
    table_head = read_head(source)
    width = table_head.width
    while True:
        taker, tally = new_taker(), _Tally(widest=width)
        reader = RowReader(source, table_head.encoding, table_head.dialect)
        _count(reader, table_head, tally, width, taker)
        if tally.widest <= width:
            return table_head, taker, tally.rows, tally.widest
        width = tally.widest


def _count(
    reader: RowReader, table_head: TableHead, tally: _Tally, width: int, writer: RowTaker | None
) -> None:
    """Go through the rows once, counting, and writing those that fit into `width`."""
    header_to_come = table_head.header is not None
    blank = 0
    for row in reader:
        if not row:
            blank += 1
            continue
        if blank:
            _count_blank_lines(tally, blank, width, writer)
            blank = 0
        if header_to_come:
            header_to_come = False
            continue
        tally.rows += 1
        size = len(row)
        if size != width or size != table_head.declared:
            filled = _filled(row)
            tally.widest = max(tally.widest, filled)
            tally.padded += size < table_head.declared
            tally.widened += filled > table_head.declared
            row = row[:width] + [""] * (width - size)
        # While they are counted, not afterwards: padding to one wide row can multiply a small file.
        if tally.rows * tally.widest > MAX_CELLS:
            raise FileReadFailed("the table is too large: more than 250 million fields")
        if writer is not None:
            writer.write(row)


def _count_blank_lines(tally: _Tally, blank: int, width: int, writer: RowTaker | None) -> None:
    """Count empty lines between rows; in a table of one column they are empty values."""
    if width > 1 or tally.rows == 0:
        tally.blank += blank if tally.rows else 0
        return
    tally.rows += blank
    if writer is not None:
        for _ in range(blank):
            writer.write([""])


def _filled(row: list[str]) -> int:
    """Count a row's fields without the empty ones at its end."""
    size = len(row)
    while size and not row[size - 1]:
        size -= 1
    return size


def column_names(header: list[str] | None, width: int) -> list[str]:
    """Name the columns: as the header does, made unique without regard to case, none empty."""
    names: list[str] = []
    seen: set[str] = set()
    for place in range(width):
        given = header[place].strip() if header and place < len(header) else ""
        stem = given or f"column_{place + 1}"
        name, count = stem, 2
        while name.casefold() in seen:
            name, count = f"{stem}_{count}", count + 1
        seen.add(name.casefold())
        names.append(name)
    return names


def _details(table_head: TableHead) -> dict[str, Any]:
    return {
        "delimiter": table_head.dialect.delimiter,
        "quote_char": table_head.dialect.quote_char if table_head.dialect.quoted else "",
        "has_header": table_head.header is not None,
    }


def _warnings(table_head: TableHead, tally: _Tally) -> tuple[str, ...]:
    """Return a warning for each kind of repair, with its count."""
    names = table_head.header or []
    given = [name.strip().casefold() for name in names[: tally.widest]]
    renamed = len(given) - len(set(given) - {""})
    found = (
        (tally.padded, "row(s) had fewer fields than the first and were padded"),
        (tally.widened, f"row(s) had more fields than the first; there are {tally.widest} columns"),
        (tally.blank, "empty line(s) between rows were skipped"),
        (tally.zeros, "zero byte(s) were removed"),
        (tally.unclosed, "quote(s) were never closed and were read as text"),
        (renamed, "column name(s) were empty or repeated and were changed"),
    )
    return (*table_head.encoding.warnings, *(f"{count} {text}." for count, text in found if count))


def write_table(source: Source | None, rows: Path, placement: Placement, target: Path) -> Written:
    """Write rows into `target`, whose suffix decides the delimiter of a new file.

    Raises:
        ValidationFailed: The mode needs sheets, or rows to append do not fit the file.
        FileReadFailed: The source, or the rows, cannot be read.
    """
    match placement.mode:
        case "append_rows" if source is not None:
            return _append(source, rows, target)
        case "new_file" | "append_rows":
            return _write_new(rows, placement, target)
        case _:
            raise ValidationFailed(
                f"{placement.mode} is for workbooks; a text table takes new_file or append_rows"
            )


def active_content(source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
    """Return the formula-like fields of a table that none of some others has.

    Raises:
        FileReadFailed: A file cannot be read.
    """
    return _formulas(source).new_texts(map(_formulas, known))


def _formulas(source: Source) -> ActiveContent:
    found = ActiveContent()
    for field in formula_fields(source.path):
        found.add("formula", field.text, f"line {field.line}")
    return found


def _stream(rows: Path) -> Iterator[list[Any]]:
    """Yield what the stream holds: first the columns, then the rows."""
    with rows.open("rb") as file:
        yield from msgpack.Unpacker(file, raw=False, strict_map_key=False)


def _columns(stream: Iterator[list[Any]]) -> list[tuple[str, str]]:
    first = next(stream, None)
    if first is None:
        raise FileReadFailed("the stream of rows is empty; it begins with its columns")
    return [(str(name), str(type_)) for name, type_, *_ in first]


def _write_new(rows: Path, placement: Placement, target: Path) -> Written:
    stream = _stream(rows)
    columns = _columns(stream)
    with PlainWriter(target, delimiter=suffix_delimiter(target.name)) as writer:
        taker = _TextTaker(writer, columns)
        if placement.include_header:
            taker.write_header()
        count = taker.write_rows(stream)
    return Written("", count, len(columns), taker.warnings())


class _TextTaker:
    """Writer of typed rows as fields: text that a program would evaluate is made text to all.

    Args:
        writer: Takes the fields.
        columns: Name and type of each column.
    """

    def __init__(self, writer: PlainWriter, columns: list[tuple[str, str]]) -> None:
        self._writer, self._columns = writer, columns
        # What has a type has no letters that could be a formula's, and stays as it is written.
        self._are_text = [type_ == "string" for _, type_ in columns]
        self._neutral = 0

    def write_header(self) -> None:
        """Write the column names."""
        self._writer.write_header([self._field(name, is_text=True) for name, _ in self._columns])

    def write_rows(self, stream: Iterator[list[Any]]) -> int:
        """Write rows, and return how many."""
        count = 0
        for row in stream:
            pairs = zip(row, self._are_text, strict=True)
            self._writer.write([self._field(value, is_text=is_text) for value, is_text in pairs])
            count += 1
        return count

    def warnings(self) -> tuple[str, ...]:
        """Return what was changed, with its count."""
        if not self._neutral:
            return ()
        text = f"text(s) that look like formulas were written with a leading {NEUTRAL}"
        return (f"{self._neutral} {text} so that no program evaluates them.",)

    def _field(self, value: Any, *, is_text: bool) -> Any:
        """Return a value's field: true and false in lower case, no value as nothing."""
        if isinstance(value, str):
            field = neutral(value) if is_text else value
            self._neutral += field is not value
            return field
        if value is True:
            return "true"
        return "false" if value is False else value


def _append(source: Source, rows: Path, target: Path) -> Written:
    """Copy the source and add rows at its end, in its own dialect and encoding."""
    stream = _stream(rows)
    columns = _columns(stream)
    names = [name for name, _ in columns]
    table_head = read_head(source)
    existing_columns = column_names(table_head.header, table_head.width)
    if existing_columns and len(names) != len(existing_columns):
        raise ValidationFailed(
            f"{source.name} has {len(existing_columns)} columns and the rows have {len(names)}"
        )
    # All bytes as they are: only what is added is written.
    shutil.copyfile(source.path, target)
    encoding = _appending_codec(table_head.encoding.name, source.path)
    line_end = _finish_last_line(source, target, encoding)
    try:
        with PlainWriter(
            target,
            delimiter=table_head.dialect.delimiter,
            encoding=encoding,
            line_end=line_end,
            append=True,
        ) as writer:
            taker = _TextTaker(writer, columns)
            if not existing_columns:
                taker.write_header()
            count = taker.write_rows(stream)
    # Refused, not replaced: a question mark in place of a letter would go unnoticed.
    except UnicodeEncodeError as error:
        raise ValidationFailed(
            f"{source.name} is {encoding}, which has no character {error.object[error.start]!r}"
        ) from error
    notes = (*_header_notes(table_head.header, names), *taker.warnings())
    return Written("", count, len(names), notes)


def _header_notes(header: list[str] | None, names: list[str]) -> tuple[str, ...]:
    if header is None:
        return ()
    given = [name.strip().casefold() for name in header[: len(names)]]
    if given == [name.strip().casefold() for name in names]:
        return ("There is a header already: it was not written again.",)
    return (f"The rows' columns ({', '.join(names)}) are not named as the header of the file is.",)


def _appending_codec(name: str, path: Path) -> str:
    """Name the codec that goes on in a file without writing a byte order mark again."""
    if name == "utf-8-sig":
        return "utf-8"
    if name in ("utf-16", "utf-32"):
        with path.open("rb") as file:
            return f"{name}-le" if file.read(1) == b"\xff" else f"{name}-be"
    return name


def _finish_last_line(source: Source, target: Path, encoding: str) -> str:
    """End the last line if it is not, and return how the file ends its lines."""
    sample = RowReader(source).first_line()
    line_end = "\r\n" if sample.endswith("\r\n") else "\n"
    size = target.stat().st_size
    # In UTF-16 and UTF-32 a line end is more than one byte.
    mark = "\n".encode(encoding)
    with target.open("r+b") as file:
        file.seek(max(0, size - len(mark)))
        if size and file.read() not in (mark, "\r".encode(encoding)):
            file.seek(0, 2)
            file.write(line_end.encode(encoding))
    return line_end
