"""Head of a table: its encoding, its dialect and its layout, found by its first rows or said."""

import re
from itertools import pairwise

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import ReadAs, ReadingOption, ReadingQuestion, Source
from kbd.formats.headings import unique_names
from kbd.plaintext import Encoding, detect
from kbd_csv.dialect import Dialect, said_delimiter
from kbd_csv.joined_numbers import joined_decimals
from kbd_csv.kinds import is_number, may_name_years
from kbd_csv.layout import (
    LineRow,
    TableLayout,
    filled_count,
    find_layout,
    value_count,
)
from kbd_csv.rows import RowReader

__all__ = ["TableHead", "column_names", "read_head"]

_HEAD_ROWS = 200


class TableHead(msgspec.Struct, frozen=True):
    """Head of a table: how its bytes are text, how its rows are written, where they begin.

    Args:
        encoding: How its bytes are text.
        dialect: What separates and quotes its fields.
        layout: Where the table is in the text, and what its rows look like.
        joins_decimals: Whether digits around a comma are joined where a row is too long.
        question: What must be asked before its figures mean anything.
    """

    encoding: Encoding
    dialect: Dialect
    layout: TableLayout
    joins_decimals: bool = False
    question: ReadingQuestion | None = None

    @property
    def header(self) -> list[str] | None:
        """The fields of the header, if there is one."""
        return self.layout.header

    @property
    def header_row(self) -> int:
        """The line of the header, 0 if there is none."""
        return self.layout.start if self.layout.header is not None else 0

    @property
    def declared(self) -> int:
        """Fields that a row should have, as its header or its first row has."""
        return self.layout.declared

    @property
    def width(self) -> int:
        """Columns seen so far, trailing empty ones not counted."""
        return self.layout.width


def read_head(
    source: Source,
    encoding: Encoding | None = None,
    read_as: ReadAs | None = None,
    start: int = 0,
) -> TableHead:
    """Read the first rows and decide what the others will be compared with.

    Args:
        source: The file.
        encoding: How its bytes are text, where that is known.
        read_as: What was said about it.
        start: The line at which the table begins, where that is known.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
        ValidationFailed: What was said does not fit it.
    """
    read_as = read_as or ReadAs()
    if read_as.header_sheet is not None:
        raise ValidationFailed(f"{source.name} is one table; it has no sheets")
    if read_as.encoding is not None:
        encoding = detect(source.path, read_as.encoding)
    delimiter = None if read_as.delimiter is None else said_delimiter(read_as.delimiter)
    reader = RowReader(source, encoding, delimiter=delimiter)
    said = read_as.header_row
    first = said or start
    rows: list[LineRow] = []
    for fields in reader:
        if reader.line < first:
            continue
        rows.append(LineRow(reader.line, fields, reader.row_text))
        if len(rows) >= _HEAD_ROWS:
            break
    if said is not None:
        _check_said(source, said, rows, reader)
    layout = find_layout(rows, said, is_first=start > 0)
    head = TableHead(reader.encoding, reader.dialect, layout)
    return _with_question(head, rows, read_as)


def _check_said(source: Source, said: int, rows: list[LineRow], reader: RowReader) -> None:
    """Refuse a header row that is none."""
    if said < 0:
        raise ValidationFailed("header_row is counted from 1; 0 stands for no header")
    if said == 0 or (rows and rows[0].line == said and value_count(rows[0].fields)):
        return
    if not rows:
        count = reader.last_line
        raise ValidationFailed(
            f"{source.name} has {count:,} row{'s' * (count != 1)}; header_row {said:,} is not one "
            "of them"
        )
    raise ValidationFailed(f"row {said:,} of {source.name} has no values, so it is no header")


def _with_question(head: TableHead, rows: list[LineRow], read_as: ReadAs) -> TableHead:
    """Add what is to be asked where rows are longer than their header.

    If a comma may be the decimal mark of numbers as well, rows fit once these are joined. Else
    nothing says which field a name belongs to. What was said about the delimiter, or about the
    decimal mark, answers it.
    """
    if head.header is None and read_as.header_row is None:
        return _with_years_question(head, rows)
    header, declared = head.header, filled_count(head.header or ())
    body = [row for row in rows if row.line > head.layout.start and value_count(row.fields) > 1]
    # A header may end with empty fields: these columns have no name, and it is as long as its rows.
    longest = len(header or ())
    longer = [row for row in body if len(row.fields) > longest < filled_count(row.fields)]
    if header is None or not longer:
        return head
    has_commas = head.dialect.delimiter == ","
    joined = [joined_decimals(row.fields, declared) if has_commas else None for row in longer]
    found = [fields for fields in joined if fields is not None]
    if len(found) >= _JOINED_SHARE * len(longer) and len(longer) >= _LONGER_SHARE * len(body):
        if read_as.decimal == ",":
            layout = msgspec.structs.replace(head.layout, width=declared)
            return msgspec.structs.replace(head, joins_decimals=True, layout=layout)
        row = longer[joined.index(found[0])]
        question = _question(head, row, "decimal", (",", found[0]), (".", row.fields))
    elif len(longer) >= (
        _LONGER_SHARE
        if has_commas and all(_splits_thousands(row, declared) for row in longer)
        else _MOST_SHARE
    ) * len(body):
        row = longer[0]
        question = _question(head, row, "delimiter", (head.dialect.delimiter, row.fields))
    else:
        return head
    if read_as.decimal is not None or read_as.delimiter is not None:
        return head
    return msgspec.structs.replace(head, question=question)


def _with_years_question(head: TableHead, rows: list[LineRow]) -> TableHead:
    """Add the question whether years in the first row are names, above what looks like years."""
    table = [row for row in rows if row.line >= head.layout.start and value_count(row.fields)]
    if len(table) < 2 or head.layout.record_code:
        return head
    if not may_name_years([row.fields for row in table]):
        return head
    first = table[0]
    shown = ", ".join(field.strip() for field in first.fields)[:80]
    text = (
        f"Row {first.line} has years ({shown}), and so have the rows below: does it name the "
        "columns, or is it a row as they are?"
    )
    options = (
        ReadingOption(str(first.line), f"{shown} are the names of the columns"),
        ReadingOption("0", f"{shown} are the values of a row"),
    )
    return msgspec.structs.replace(head, question=ReadingQuestion("header_row", (), text, options))


_LONGER_SHARE = 0.2
"""If so many rows are longer than the header and fit with joined numbers, these may be meant."""

_WHOLE, _GROUP = re.compile("[-+(]?[$€£¥]?[0-9]{1,3}"), re.compile(r"[0-9]{3}(\.[0-9]+)?\)?")
"""The halves of a number whose thousands a delimiter parts."""

_JOINED_SHARE = 0.9
_MOST_SHARE = 0.8
"""If so many rows are longer than the header, the names may belong to other fields."""


def _splits_thousands(row: LineRow, declared: int) -> bool:
    """Tell whether a row may have a number in two fields: 1,500 without quotes, say.

    A number ends it then, or it has as many fields too many as there are such pairs.
    """
    fields = [field.strip() for field in row.fields[: filled_count(row.fields)]]
    pairs = sum(
        _WHOLE.fullmatch(one) is not None and _GROUP.fullmatch(other) is not None
        for one, other in pairwise(fields)
    )
    return pairs > 0 and (is_number(fields[-1]) or pairs == len(fields) - declared)


def _question(
    head: TableHead, row: LineRow, about: str, *answers: tuple[str, list[str]]
) -> ReadingQuestion:
    names = column_names(head.header, max(head.width, len(row.fields)))
    text = (
        f"Row {row.line} has {filled_count(row.fields)} fields under "
        f"{filled_count(head.header or ())} name(s): {row.text.strip()[:80]}. "
    )
    text += (
        "Is the comma the decimal mark of its numbers, too?"
        if about == "decimal"
        else "What separates its fields, and is each name above its own?"
    )
    options = tuple(ReadingOption(value, _told(names, fields)) for value, fields in answers)
    return ReadingQuestion(about, tuple(names), text, options)


def _told(names: list[str], fields: list[str]) -> str:
    return ", ".join(f'{name} = "{field}"' for name, field in zip(names, fields, strict=False))[
        :200
    ]


def column_names(header: list[str] | None, width: int) -> list[str]:
    """Name the columns: as the header does, made unique without regard to case, none empty."""
    given = [name.strip() for name in (header or ())[:width]]
    return unique_names([*given, *[""] * (width - len(given))])
