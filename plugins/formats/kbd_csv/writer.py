"""Delimited text written: to a new file, or below the rows of one.

Numbers keep their text form. Text that looks like a formula is written with an apostrophe before
it: to the programs that open such a file it would else be one. Of a file that rows are added to
every byte stays, a mark of DOS at its end behind them, and nothing is added below a remark that
ends its table.
"""

import itertools
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgpack
import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Placement, ReadAs, Source, Written
from kbd.plaintext.formulas import NEUTRAL, neutral
from kbd_csv.dialect import COLUMN_GAP, suffix_delimiter
from kbd_csv.head import column_names
from kbd_csv.kinds import is_total, kind
from kbd_csv.notation import ColumnNotation
from kbd_csv.rows import END_MARK, BareField, PlainWriter, QuoteHabit, RowReader
from kbd_csv.tables import TableEnd, table_end

__all__ = ["write_table"]


def write_table(source: Source | None, rows: Path, placement: Placement, target: Path) -> Written:
    """Write rows into `target`, whose suffix decides the delimiter of a new file.

    Raises:
        ValidationFailed: The mode needs sheets, or rows to append do not fit the file.
        FileReadFailed: The source, or the rows, cannot be read.
    """
    match placement.mode:
        case "append_rows" if source is not None:
            return _append(source, rows, placement.read_as, target)
        case "new_file" | "append_rows":
            return _write_new(rows, placement, target)
        case _:
            raise ValidationFailed(
                f"{placement.mode} is for workbooks; a text table takes new_file or append_rows"
            )


_PORTION = 200
"""Rows that are taken at a time. Of 5,000 the values fall out of the processor's cache: to write
them took a third longer."""


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


class _Notation(msgspec.Struct, frozen=True):
    """How a file's fields are written: by columns, which are quoted, and how it is read."""

    columns: tuple[ColumnNotation, ...]
    quotes: QuoteHabit
    read_as: ReadAs

    def field(self, place: int, name: str, type_: str, field: Any, value: Any) -> Any:
        """Return a value's field as its column has them.

        Raises:
            ValidationFailed: The column's dates cannot be gone on with.
        """
        if value is None:
            return field
        # A column without a row yet goes by what was said of the file.
        column = self.columns[place] if place < len(self.columns) else ColumnNotation()
        if isinstance(value, bool):
            return column.truth(value=value)
        match type_:
            case "integer" | "float":
                return BareField(column.number(value, self.read_as))
            case "date" | "datetime":
                moment = column.moment(str(value), name, self.read_as)
                return BareField(moment) if self.quotes == "letters" else moment
            case _:
                return field


class _TextTaker:
    """Writer of typed rows as fields: text that a program would evaluate is made text to all.

    Args:
        writer: Takes the fields.
        columns: Name and type of each column.
        notation: How the fields are written of the file that rows are added to.
    """

    def __init__(
        self,
        writer: PlainWriter,
        columns: list[tuple[str, str]],
        notation: _Notation | None = None,
    ) -> None:
        self._writer, self._columns, self._notation = writer, columns, notation
        self._neutral = 0

    def write_header(self) -> None:
        """Write the column names."""
        self._writer.write_header(self._texts([name for name, _ in self._columns]))

    def write_rows(self, stream: Iterator[list[Any]]) -> int:
        """Write rows, and return how many."""
        count = 0
        # By columns: what is the same for all values of one is so looked up once.
        while portion := list(itertools.islice(stream, _PORTION)):
            if {len(row) for row in portion} != {len(self._columns)}:
                raise FileReadFailed("a row of the stream has another width than its columns")
            values = zip(*portion, strict=True)
            fields = [self._fields(place, column) for place, column in enumerate(values)]
            for row in zip(*fields, strict=True):
                self._writer.write(row)
            count += len(portion)
        return count

    def warnings(self) -> tuple[str, ...]:
        """Return what was changed, with its count."""
        if not self._neutral:
            return ()
        text = f"text(s) that look like formulas were written with a leading {NEUTRAL}"
        return (f"{self._neutral} {text} so that no program evaluates them.",)

    def _fields(self, place: int, values: Sequence[Any]) -> Sequence[Any]:
        """Return the fields of a column's values."""
        name, type_ = self._columns[place]
        match type_:
            # A number is written as it is, and has no letters that could be a formula's.
            case "integer" | "float":
                fields = values
            case "string":
                fields = self._texts(values)
            case "datetime":
                # Spreadsheets take "2024-02-03T10:00:00" for a text, and a blank's for a moment.
                fields = [value and str(value).replace("T", " ", 1) for value in values]
            case _:
                fields = [_plain_field(value) for value in values]
        if (notation := self._notation) is None:
            return fields
        pairs = zip(fields, values, strict=True)
        return [notation.field(place, name, type_, field, value) for field, value in pairs]

    def _texts(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the fields of texts: what a program would evaluate is made text to all."""
        fields = [
            neutral(value) if isinstance(value, str) else _plain_field(value) for value in values
        ]
        changed = zip(fields, values, strict=True)
        self._neutral += sum(
            field is not value for field, value in changed if value.__class__ is str
        )
        return fields


def _plain_field(value: Any) -> Any:
    """Return a value's field: true and false in lower case, no value as nothing."""
    if value is True:
        return "true"
    return "false" if value is False else value


def _append(source: Source, rows: Path, read_as: ReadAs, target: Path) -> Written:
    """Copy the source and add rows at its end, in its own notation, dialect and encoding."""
    stream = _stream(rows)
    columns = _columns(stream)
    names = [name for name, _ in columns]
    end = table_end(source, read_as)
    table_head, dialect = end.head, end.head.dialect
    _check_appendable(source, end)
    existing_columns = column_names(table_head.header, table_head.width)
    if existing_columns and len(names) != len(existing_columns):
        raise ValidationFailed(
            f"{source.name} has {len(existing_columns)} columns and the rows have {len(names)}"
        )
    # All bytes as they are: only what is added is written.
    shutil.copyfile(source.path, target)
    encoding = _appending_codec(table_head.encoding.name, source.path)
    end_mark = _cut_end_mark(target, encoding)
    line_end = _finish_last_line(source, target, encoding)
    try:
        with PlainWriter(
            target,
            delimiter=dialect.delimiter,
            encoding=encoding,
            line_end=line_end,
            append=True,
            quote_char=dialect.quote_char,
            has_escapes=dialect.has_escapes,
            quotes=(habit := _quotes(source, end)),
        ) as writer:
            taker = _TextTaker(writer, columns, _Notation(end.columns, habit, read_as))
            if not existing_columns:
                taker.write_header()
            count = taker.write_rows(stream)
    # Refused, not replaced: a question mark in place of a letter would go unnoticed.
    except UnicodeEncodeError as error:
        raise ValidationFailed(
            f"{source.name} is {encoding}, which has no character {error.object[error.start]!r}"
        ) from error
    if end_mark:
        with target.open("ab") as file:
            file.write(end_mark)
    notes = (*_header_notes(table_head.header, names), *_total_notes(end), *taker.warnings())
    return Written("", count, len(names), notes)


_QUOTED_LINES = 20


def _quotes(source: Source, end: TableEnd) -> QuoteHabit:
    """Return which fields the rows of a file have in quotes."""
    mark, delimiter = end.head.dialect.quote_char, end.head.dialect.delimiter
    if not mark or not delimiter:
        return "needed"
    one = re.escape(mark)
    pattern = re.compile(f"{one}(?:[^{one}]|{one}{one})*{one}")
    lines = RowReader(source, end.head.encoding).first_lines(_QUOTED_LINES)
    fields = [
        field.strip()
        for line in lines[end.head.layout.start :]
        # What stands in quotes may hold delimiters.
        for field in pattern.sub(lambda _: mark * 2, line.rstrip("\r\n")).split(delimiter)
    ]
    filled = [field for field in fields if field]
    quoted = [field for field in filled if field == mark * 2]
    if not quoted:
        return "needed"
    if len(quoted) == len(filled):
        return "all"
    bare = {kind(field) for field in filled if field != mark * 2}
    if bare <= {"number", "year"}:
        return "texts"
    return "letters" if bare <= {"number", "year", "date"} else "needed"


def _check_appendable(source: Source, end: TableEnd) -> None:
    """Refuse rows that would stand below what ends the table, or that cannot be written so."""
    if end.below:
        raise ValidationFailed(
            f"below the table of {source.name} there is more, from line {end.below} on: rows at "
            "the end of the file would be no rows of it; write a new file instead"
        )
    if end.head.dialect.delimiter == COLUMN_GAP:
        raise ValidationFailed(
            f"the columns of {source.name} are set with blanks, which rows cannot be added to"
        )


def _total_notes(end: TableEnd) -> tuple[str, ...]:
    if not is_total(end.last):
        return ()
    label = next(field.strip() for field in end.last if field.strip())
    return (f'The last row looks like a total ("{label[:40]}"): the new rows stand below it.',)


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


def _cut_end_mark(target: Path, encoding: str) -> bytes:
    """Cut off what DOS wrote at the end of a text, and return it: rows stand before it."""
    mark = END_MARK.encode(encoding)
    size = target.stat().st_size
    with target.open("r+b") as file:
        end = size
        while end >= len(mark):
            file.seek(end - len(mark))
            if file.read(len(mark)) != mark:
                break
            end -= len(mark)
        file.truncate(end)
    return mark * ((size - end) // len(mark))


def _finish_last_line(source: Source, target: Path, encoding: str) -> str:
    """End the last line if it is not, and return how the file ends its lines."""
    sample = RowReader(source).first_line()
    line_end = next((end for end in ("\r\n", "\r") if sample.endswith(end)), "\n")
    size = target.stat().st_size
    # In UTF-16 and UTF-32 a line end is more than one byte.
    mark = "\n".encode(encoding)
    with target.open("r+b") as file:
        file.seek(max(0, size - len(mark)))
        if size and file.read() not in (mark, "\r".encode(encoding)):
            file.seek(0, 2)
            file.write(line_end.encode(encoding))
    return line_end
