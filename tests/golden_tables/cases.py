"""Golden tables: small files with the figures that a careful person would read out of them.

A case is made of its values. How they are written, and what stands around them, is said beside
them; what must be read follows from the same values, never from what a program answered.
"""

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, assert_never

import msgspec

from kbd.formats import ReadAs

__all__ = [
    "Case",
    "Column",
    "Expected",
    "Figures",
    "Kind",
    "Value",
    "case",
    "day",
    "digest",
    "encoded",
    "figures_of",
    "flag",
    "moment",
    "number",
    "page",
    "plain",
    "text",
    "unclear",
    "written",
]

Kind = Literal["number", "text", "date", "datetime", "boolean"]
Value = Decimal | str | date | datetime | bool | None
MISSING = "~"
"""Stands for no value where values are written in one text."""


def digest(texts: Iterable[str | None]) -> str:
    """Return a short digest of texts, blanks around each removed, None as nothing."""
    whole = "\0".join((each or "").strip() for each in texts)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


class Figures(msgspec.Struct, frozen=True, omit_defaults=True):
    """Figures of a column: its kind, how many values, and by its kind what more there is.

    Args:
        kind: What it holds.
        count: Values that are there.
        total: The sum of numbers.
        low: The least number or the first date, as text, a date in ISO's form.
        high: The greatest or last one.
        digest: Of texts.
    """

    kind: Kind
    count: int
    total: Decimal | None = None
    low: str | None = None
    high: str | None = None
    digest: str = ""


class Column(msgspec.Struct, frozen=True):
    """A column as a careful person reads it.

    Args:
        name: Its name; None where any will do.
        kind: What it holds; None where that may be seen in several ways.
        values: Its values, None where there is none.
        texts: The same as they are written.
        may_be_text: Whether to leave it as it is written is right, too.
        is_percent: Whether hundredths and whole percents are both right, where it is said which.
        decimal: The decimal mark that its numbers are written with; "" if none is.
        date_order: The order of its dates; "" if it holds none that are written with figures.
        figures: Its figures, where its values are not kept.
        name_digest: The `digest` of its name, where that is not kept.
    """

    name: str | None
    kind: Kind | None
    values: tuple[Value, ...]
    texts: tuple[str, ...] = ()
    may_be_text: bool = False
    is_percent: bool = False
    decimal: str = ""
    date_order: str = ""
    figures: Figures | None = None
    name_digest: str = ""


def figures_of(column: Column) -> Figures:
    """Return the figures of a column: counted from its values, if they are not given."""
    if column.figures is not None:
        return column.figures
    kind, held = column.kind or "text", [value for value in column.values if value is not None]
    match kind:
        case "number":
            numbers = [value for value in held if isinstance(value, Decimal)]
            ends = (str(min(numbers)), str(max(numbers))) if numbers else (None, None)
            return Figures(kind, len(held), sum(numbers, Decimal()), *ends)
        case "date" | "datetime":
            moments = sorted(value.isoformat() for value in held if isinstance(value, date))
            low, high = (moments[0], moments[-1]) if moments else (None, None)
            return Figures(kind, len(held), low=low, high=high)
        case "boolean":
            return Figures(kind, len(held))
        case "text":
            return Figures(kind, len(held), digest=digest(column.texts))
        case _:
            assert_never(kind)


class Expected(msgspec.Struct, frozen=True):
    """A reading that is right.

    Args:
        columns: The columns.
        answer: What to answer where it is asked.
        left_out: Rows with something in them that are not in the table, which must be said.
        words: One of them must be in what is said about those rows.
        rows: How many rows there are, where the values are not kept.
    """

    columns: tuple[Column, ...]
    answer: ReadAs = ReadAs()
    left_out: int = 0
    words: tuple[str, ...] = ()
    rows: int | None = None

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        if self.rows is not None:
            return self.rows
        return len(self.columns[0].values) if self.columns else 0


class Case(msgspec.Struct, frozen=True):
    """A file and what is right to read out of it.

    Args:
        subject: What is hard about it.
        name: Its file's name.
        content: Its bytes.
        tables: The readings that are right.
        must_ask: The field of `ReadAs` to ask for: each reading is right by one answer alone.
        sheet: The sheet, where there are several.
    """

    subject: str
    name: str
    content: bytes
    tables: tuple[Expected, ...]
    must_ask: str = ""
    sheet: str | None = None

    @property
    def label(self) -> str:
        """Its subject and name."""
        return f"{self.subject}/{self.name}"


Style = Callable[[Decimal], str]


def plain(value: Decimal) -> str:
    """Write a number with a point and nothing else."""
    return str(value)


def _split(values: str | Sequence[str], mark: str | None) -> list[str | None]:
    parts = values.split(mark) if isinstance(values, str) else values
    return [None if part == MISSING else part for part in parts]


def number(
    name: str | None,
    values: str,
    style: Style = plain,
    *,
    decimal: str = "",
    missing: str = "",
    texts: Sequence[str] | None = None,
    **traits: Any,
) -> Column:
    """Return a column of numbers, given with a point and blanks between them.

    Args:
        name: As in `Column`.
        values: The numbers.
        style: How they are written.
        decimal: As in `Column`.
        missing: What is written where there is none.
        texts: How they are written, where no style does that.
        traits: Other fields of `Column`.
    """
    found = [None if part is None else Decimal(part) for part in _split(values, None)]
    texts = texts or [missing if each is None else style(each) for each in found]
    return Column(name, "number", tuple(found), tuple(texts), decimal=decimal, **traits)


def text(name: str | None, values: str | Sequence[str], **traits: Any) -> Column:
    """Return a column of texts, given with bars between them."""
    found = _split(values, "|")
    texts = tuple("" if each is None else each for each in found)
    return Column(name, "text", tuple(found), texts, **traits)


def day(
    name: str | None,
    values: str,
    layout: str,
    *,
    order: str = "",
    missing: str = "",
    texts: Sequence[str] | None = None,
    **traits: Any,
) -> Column:
    """Return a column of dates, given as ISO dates with blanks between them.

    Args:
        name: As in `Column`.
        values: The dates.
        layout: How they are written, in the letters of `strftime`.
        order: As `Column.date_order`.
        missing: What is written where there is none.
        texts: How they are written, where no layout does that.
        traits: Other fields of `Column`.
    """
    found = [None if part is None else date.fromisoformat(part) for part in _split(values, None)]
    texts = texts or [missing if each is None else each.strftime(layout) for each in found]
    return Column(name, "date", tuple(found), tuple(texts), date_order=order, **traits)


def moment(name: str | None, values: str, layout: str, *, order: str = "", **traits: Any) -> Column:
    """Return a column of times, given as ISO times with blanks between them."""
    found = [None if p is None else datetime.fromisoformat(p) for p in _split(values, None)]
    texts = ["" if each is None else each.strftime(layout) for each in found]
    return Column(name, "datetime", tuple(found), tuple(texts), date_order=order, **traits)


def flag(name: str, values: str, yes: str, no: str, **traits: Any) -> Column:
    """Return a column of truth values, given as 1 and 0 with blanks between them."""
    found = [None if part is None else part == "1" for part in _split(values, None)]
    texts = ["" if each is None else yes if each else no for each in found]
    return Column(name, "boolean", tuple(found), tuple(texts), **traits)


def page(
    columns: Sequence[Column],
    *,
    delimiter: str = ",",
    eol: str = "\n",
    quote: str = '"',
    quote_all: bool = False,
    header: bool = True,
    above: str = "",
    below: str = "",
    between: Mapping[int, str] | None = None,
    pad: str = "",
    ends: bool = True,
) -> str:
    """Write columns as delimited text.

    Args:
        columns: What to write.
        delimiter: What separates fields.
        eol: What ends lines; those of `above`, `below` and `between`, too.
        quote: What quotes fields.
        quote_all: Whether all fields are quoted.
        header: Whether the names stand above.
        above: Lines before the header.
        below: Lines after the last row.
        between: Lines before a row, by its number from 0.
        pad: What stands on both sides of each field.
        ends: Whether the last line ends.
    """
    buffer = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    writer = csv.writer(
        buffer, delimiter=delimiter, quotechar=quote, quoting=quoting, lineterminator="\n"
    )
    buffer.write(above)
    if header:
        writer.writerow([pad + (column.name or "") + pad for column in columns])
    for place, row in enumerate(zip(*(column.texts for column in columns), strict=True)):
        buffer.write((between or {}).get(place, ""))
        writer.writerow([pad + field + pad for field in row])
    buffer.write(below)
    whole = buffer.getvalue()
    return (whole if ends else whole.removesuffix("\n")).replace("\n", eol)


def encoded(content: str, encoding: str) -> bytes:
    """Return a text as bytes; "-bom" behind an encoding writes its mark before it."""
    codec, has_mark = encoding.removesuffix("-bom"), encoding.endswith("-bom")
    return (("\ufeff" if has_mark else "") + content).encode(codec)


def _one(found: set[str]) -> str | None:
    """Return the only member of a set, or None."""
    known = found - {""}
    return next(iter(known)) if len(known) == 1 else None


def _answer(columns: Sequence[Column], **said: Any) -> ReadAs:
    """Return what somebody who knows the columns would answer."""
    marks = {column.decimal for column in columns} - {""}
    facts = {
        # Where no number has a mark that could be taken for another, a point is as right as any.
        "decimal": _one(marks or {"."}),
        "date_order": _one({column.date_order for column in columns}),
        **said,
    }
    return msgspec.convert({k: v for k, v in facts.items() if v is not None}, ReadAs)


def written(
    label: str,
    content: str | bytes,
    columns: Sequence[Column],
    *,
    encoding: str = "utf-8",
    delimiter: str = ",",
    header_row: int = 1,
    left_out: int = 0,
    words: Sequence[str] = (),
    also: Sequence[Expected] = (),
    sheet: str | None = None,
    totals: str | None = None,
) -> Case:
    """Return a case of a text that is written out.

    Args:
        label: Subject, a slash, the file's name; a name without a suffix gets `.csv`.
        content: The text, or the bytes of the file.
        columns: What a careful person reads.
        encoding: How the text becomes bytes, as for `encoded`.
        delimiter: The one to answer where it is asked.
        header_row: The row with the names, counted from 1; 0 for none.
        left_out: As in `Expected`.
        words: As in `Expected`.
        also: Other readings that are right.
        sheet: As in `Case`.
        totals: What to answer where it is asked about sums.
    """
    subject, _, name = label.partition("/")
    data = content if isinstance(content, bytes) else encoded(content, encoding)
    answer = _answer(
        columns,
        encoding=encoding.removesuffix("-bom"),
        delimiter=delimiter,
        header_row=header_row,
        totals=totals or "leave_out",
    )
    first = Expected(tuple(columns), answer, left_out, tuple(words))
    return Case(subject, name if "." in name else f"{name}.csv", data, (first, *also), sheet=sheet)


def case(
    label: str,
    columns: Sequence[Column],
    *,
    encoding: str = "utf-8",
    delimiter: str = ",",
    header: bool = True,
    above: str = "",
    header_row: int | None = None,
    left_out: int = 0,
    words: Sequence[str] = (),
    also: Sequence[Expected] = (),
    totals: str | None = None,
    **layout: Any,
) -> Case:
    """Return a case of columns that `page` writes; the arguments are its own and `written`'s."""
    content = page(columns, delimiter=delimiter, header=header, above=above, **layout)
    row = header_row if header_row is not None else above.count("\n") + 1 if header else 0
    return written(
        label,
        content,
        columns if header else [msgspec.structs.replace(c, name=None) for c in columns],
        encoding=encoding,
        delimiter=delimiter,
        header_row=row,
        left_out=left_out,
        words=words,
        also=also,
        totals=totals,
    )


def unclear(
    label: str,
    about: str,
    readings: Mapping[str, Sequence[Column]],
    *,
    encoding: str = "utf-8",
    delimiter: str = ",",
    **layout: Any,
) -> Case:
    """Return a case that has to be asked: the same text has a reading for each answer.

    Args:
        label: As for `written`.
        about: The field of `ReadAs`.
        readings: The columns by what is answered; all are written alike.
        encoding: As for `encoded`.
        delimiter: What separates fields.
        layout: Of `page`.
    """
    pages = {page(each, delimiter=delimiter, **layout) for each in readings.values()}
    assert len(pages) == 1, f"{label}: the readings are not written alike"
    subject, _, name = label.partition("/")
    tables = [
        Expected(
            tuple(columns),
            _answer(
                columns,
                encoding=encoding.removesuffix("-bom"),
                delimiter=delimiter,
                header_row=1,
                totals="leave_out",
                **{about: answer},
            ),
        )
        for answer, columns in readings.items()
    ]
    data = encoded(pages.pop(), encoding)
    return Case(subject, name if "." in name else f"{name}.csv", data, tuple(tables), about)
