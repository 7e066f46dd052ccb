"""Tables of delimited text: mapped, and read in the plain form.

Every row is kept, or the reading says which were not. Rows that are shorter than the header are
padded, a row that is longer widens the table; both are told by their lines.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    Column,
    ColumnType,
    Passage,
    ReadAs,
    Source,
    Table,
    TableReading,
    TouchedRows,
)
from kbd.formats.active import ActiveContent
from kbd.formats.headings import RENAMED, changed_names, names_of_columns
from kbd.plaintext import with_encoding
from kbd.plaintext.formulas import formula_fields
from kbd.plaintext.lines import line_passages, measure, read_lines
from kbd_csv.head import TableHead, column_names, read_head
from kbd_csv.joined_numbers import joined_decimals
from kbd_csv.layout import filled_count
from kbd_csv.notation import ColumnNotation, NotationTaker
from kbd_csv.rows import PlainWriter, RowReader
from kbd_csv.sorter import EMPTY, OTHER_TABLE, RECORD, RowSorter
from kbd_csv.touched_rows import TouchedKinds

__all__ = [
    "ROWS_PER_CHUNK",
    "RowTaker",
    "TableEnd",
    "active_content",
    "passages",
    "read_lines",
    "read_rows",
    "read_table",
    "settled_head",
    "table_end",
    "table_map",
]

ROWS_PER_CHUNK = 500
"""Contract, section 8."""

MAX_CELLS = 250_000_000
"""Rows × columns of the plain form: one very wide row must not fill the disk with commas."""

PADDED = "row padded: fewer fields than the first"
WIDENED = "row with more fields than the first"
JOINED = "number joined around its decimal comma"
ZEROS = "zero byte removed"
MARKS = "mark of the text's beginning or end removed"
UNCLOSED = "quote that is never closed, read as text"
REPLACED = "line with bytes that the encoding has no character for"
VALUELESS = "row without any value, kept"
MAY_HEAD = "row below an empty line that may head another table, kept"

_SENTENCES = {
    EMPTY: "empty line(s) between rows were skipped",
    PADDED: "row(s) had fewer fields than the first and were padded",
    ZEROS: "zero byte(s) were removed",
    MARKS: "mark(s) of the text's beginning or end were removed",
    UNCLOSED: "quote(s) were never closed and were read as text",
    REPLACED: "line(s) have bytes that the encoding has no character for; they are shown as \ufffd",
    VALUELESS: "row(s) have no value at all and are counted like others",
}
"""What warns of them, behind their number; others are told by what they are."""


class RowTaker(Protocol):
    """What rows are handed to, one after the other."""

    def write(self, row: Sequence[str], /) -> object:
        """Take a row."""


T = TypeVar("T", bound=RowTaker)


class _Tally(msgspec.Struct):
    """Counts of one pass over the rows."""

    rows: int = 0
    widest: int = 0
    last_line: int = 0
    repaired: TouchedKinds = msgspec.field(default_factory=TouchedKinds)
    left_out: tuple[TouchedRows, ...] = ()
    larger: int = 0
    below: int = 0


class TableEnd(msgspec.Struct, frozen=True):
    """End of a table in its file.

    Args:
        head: Of the table.
        below: The first line of what stands below it; 0 if nothing does.
        last: The fields of its last row.
        columns: How the fields of each column are written.
    """

    head: TableHead
    below: int
    last: tuple[str, ...]
    columns: tuple[ColumnNotation, ...]


def table_map(source: Source) -> dict[str, Any]:
    """Map a table without keeping its rows.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
    """
    facts = measure(source, allow_zeros=True)
    table_head, tally = _scan(source, ReadAs(), lambda: None)[:2]
    names = column_names(table_head.header, tally.widest)
    reading = _reading(table_head, tally)
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
        # With lists in it, as a map that was read from a message has.
        "reading": msgspec.json.decode(msgspec.json.encode(reading)),
        "chunks": [
            {
                "index": index,
                "row_start": start,
                "row_count": min(ROWS_PER_CHUNK, tally.rows - start + 1),
            }
            for index, start in enumerate(starts)
        ],
        "warnings": list(_warnings(table_head, tally, reading)),
    }


def read_table(source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
    """Write the rows to `target` in the plain form.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
        ValidationFailed: A sheet was named, or what was said does not fit the file.
    """
    if sheet is not None:
        raise ValidationFailed(f"{source.name} has no sheets")
    table_head = read_head(source, read_as=read_as)
    width = table_head.width
    while True:
        with PlainWriter(target) as writer:
            writer.write_header(column_names(table_head.header, width))
            tally = _pass(source, table_head, width, writer)
        anew = _anew(source, table_head, tally, width, read_as)
        if anew is None:
            break
        table_head, width = anew
    reading = _reading(table_head, tally)
    # What is asked has no figures until it is answered.
    kind: ColumnType | None = None if table_head.question is None else "string"
    names = column_names(table_head.header, tally.widest)
    return Table(
        columns=tuple(Column(name, kind) for name in names),
        row_count=tally.rows,
        reading=reading,
        details=_details(table_head),
        warnings=_warnings(table_head, tally, reading),
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
    table_head, tally, taker = _scan(source, ReadAs(), new_taker)
    return table_head, taker, tally.rows, tally.widest


def settled_head(source: Source) -> TableHead:
    """Return the head of a file's table when all of its rows have been seen.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
    """
    return _scan(source, ReadAs(), lambda: None)[0]


def table_end(source: Source, read_as: ReadAs) -> TableEnd:
    """Find the end of a file's table, and how its fields are written.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
    """
    table_head, tally, taker = _scan(source, read_as, NotationTaker)
    return TableEnd(table_head, tally.below, taker.last, tuple(taker.columns))


Taker = TypeVar("Taker", bound="RowTaker | None")


def _scan(
    source: Source, read_as: ReadAs, new_taker: Callable[[], Taker]
) -> tuple[TableHead, _Tally, Taker]:
    """Go over all rows, anew if they turn out wider, or of a smaller table than another one."""
    table_head = read_head(source, read_as=read_as)
    width = table_head.width
    while True:
        taker = new_taker()
        tally = _pass(source, table_head, width, taker)
        anew = _anew(
            source, table_head, tally, width if taker is not None else tally.widest, read_as
        )
        if anew is None:
            return table_head, tally, taker
        table_head, width = anew


def _anew(
    source: Source, table_head: TableHead, tally: _Tally, width: int, read_as: ReadAs
) -> tuple[TableHead, int] | None:
    """Return with what head and width to read again, or None if all was right."""
    if tally.larger and read_as.header_row is None and tally.larger > table_head.layout.start:
        # The table is the largest one of the file.
        larger = read_head(source, table_head.encoding, read_as, tally.larger)
        return larger, larger.width
    return (table_head, tally.widest) if tally.widest > width else None


def _pass(source: Source, table_head: TableHead, width: int, taker: RowTaker | None) -> _Tally:
    """Go through the rows once, counting, and handing on those that fit into `width`."""
    tally = _Tally(widest=width)
    reader = RowReader(source, table_head.encoding, table_head.dialect)
    sorter = RowSorter(reader, table_head.layout)
    declared = table_head.declared
    most = filled_count(table_head.header or ())
    write = _nothing if taker is None else taker.write
    rows, most_rows = 0, MAX_CELLS // max(1, width)
    for row in sorter:
        rows += 1
        size = len(row)
        if size != width or size != declared:
            if table_head.joins_decimals and size > most:
                row = _joined(row, most, sorter, tally)
                size = len(row)
            filled = filled_count(row)
            if filled > tally.widest:
                tally.widest = filled
                most_rows = MAX_CELLS // filled
            if size < declared:
                tally.repaired.add(PADDED, sorter.line, sorter.text)
            elif filled > declared:
                tally.repaired.add(WIDENED, sorter.line, sorter.text)
            row = row[:width] + [""] * (width - size)
        # While they are counted, not afterwards: padding to one wide row can multiply a small file.
        if rows > most_rows:
            raise FileReadFailed("the table is too large: more than 250 million fields")
        write(row)
    tally.rows = rows
    for what, touched in (
        (VALUELESS, sorter.valueless),
        (MAY_HEAD, sorter.heads),
        (ZEROS, reader.zeros),
        (MARKS, reader.marks),
        (UNCLOSED, reader.unclosed),
        (REPLACED, reader.replaced),
    ):
        # In what was found to be UTF-8 such a sign is a letter of the file.
        is_own = what == REPLACED and reader.encoding.name == "utf-8"
        if touched.count and not (is_own and table_head.encoding.reason != "said"):
            tally.repaired.put(what, touched)
    _add_renamed(table_head, tally)
    tally.left_out = sorter.records()
    tally.larger, tally.below = sorter.larger, sorter.below
    return tally


def _nothing(_: Sequence[str]) -> None:
    """Take a row that is only counted."""


def _joined(row: list[str], width: int, sorter: RowSorter, tally: _Tally) -> list[str]:
    joined = joined_decimals(row, width)
    if joined is None:
        return row
    tally.repaired.add(JOINED, sorter.line, sorter.text)
    return joined


def _add_renamed(table_head: TableHead, tally: _Tally) -> None:
    header = table_head.header
    if header is None:
        return
    # A header that is shorter than its rows was padded, which is told as such.
    given = header[: tally.widest]
    if told := changed_names(given, column_names(header, tally.widest)):
        tally.repaired.add(RENAMED, table_head.header_row, told)


def _details(table_head: TableHead) -> dict[str, Any]:
    return {
        "delimiter": table_head.dialect.delimiter,
        "quote_char": table_head.dialect.quote_char if table_head.dialect.quoted else "",
        "has_header": table_head.header is not None,
    }


def _reading(table_head: TableHead, tally: _Tally) -> TableReading:
    """Return how the table was read."""
    dialect = table_head.dialect
    found = TableReading(
        delimiter=dialect.delimiter if tally.widest > 1 else "",
        quote_char=dialect.quote_char if dialect.quoted else "",
        header_row=table_head.header_row,
        left_out=tally.left_out,
        repaired=tuple(tally.repaired.records()),
        questions=() if table_head.question is None else (table_head.question,),
    )
    return with_encoding(found, table_head.encoding)


def _warnings(table_head: TableHead, tally: _Tally, reading: TableReading) -> tuple[str, ...]:
    """Return a sentence for each thing that was done to rows, and for each question."""
    found = [*table_head.encoding.warnings]
    found += [_sentence(touched, "Left out") for touched in reading.left_out]
    found += [_mended(touched, tally) for touched in reading.repaired]
    # That the letters are a guess is told above.
    found += [question.text for question in reading.questions if question.about != "encoding"]
    return tuple(found)


def _mended(touched: TouchedRows, tally: _Tally) -> str:
    if touched.what == WIDENED:
        return (
            f"{touched.count} row(s) had more fields than the first; there are {tally.widest} "
            "columns."
        )
    if touched.what == RENAMED:
        return f"Column names are empty or repeated: {touched.sample}."
    return _sentence(touched, "Mended")


def _sentence(touched: TouchedRows, done: str) -> str:
    if touched.what in _SENTENCES:
        return f"{touched.count} {_SENTENCES[touched.what]}."
    if touched.what == MAY_HEAD:
        first = touched.rows[0]
        return (
            f"Row {first} ({touched.sample}) stands below an empty line and may head another "
            f"table: the rows below it are counted like others; header_row {first} reads them "
            "alone."
        )
    listed = ", ".join(map(str, touched.rows[:3]))
    rows = f"row {listed}" if touched.count == 1 else f"rows {listed}"
    if touched.count > len(touched.rows[:3]):
        rows += f" …, {touched.count:,} in all"
    other = (
        f"; header_row {touched.rows[0]} reads it instead" if touched.what == OTHER_TABLE else ""
    )
    if touched.what == RECORD:
        other = "; header_row 0 reads all records as rows"
    return f"{done}: {touched.what} ({rows}){other}."


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
