"""How a table is read: what was said about it, what was found out, and what has to be asked.

Two ways to read a file that give different figures are a question, not a guess. What a person or a
rule answers is `ReadAs`; how the table was read in the end is `TableReading`.
"""

from typing import Literal

import msgspec

__all__ = [
    "ReadAs",
    "ReadingOption",
    "ReadingQuestion",
    "TableReading",
    "TouchedRows",
]


class ReadAs(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a table is to be read, as a person or a rule said; None where it is found out.

    Args:
        encoding: A codec of Python.
        delimiter: What separates fields: one character.
        header_row: The row of the file that names the columns, counted from 1; 0 for none.
        decimal: The decimal mark of its numbers.
        date_order: The order of day, month and year in dates that are written with figures.
        totals: Whether rows that sum others up are left out, or kept as rows like others.
        blanks: Whether blanks around texts are taken off, which they are unless it is said.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None
    decimal: Literal[".", ","] | None = None
    date_order: Literal["dmy", "mdy", "ymd"] | None = None
    totals: Literal["leave_out", "keep"] | None = None
    blanks: Literal["trim", "keep"] | None = None


class ReadingOption(msgspec.Struct, frozen=True):
    """An answer to a question: its value in `ReadAs`, and what the table then says."""

    value: str
    meaning: str


class ReadingQuestion(msgspec.Struct, frozen=True):
    """A question about a table: two ways to read it give different figures or letters.

    Args:
        about: The field of `ReadAs` that answers it.
        columns: The columns that it is about; none where it is about the whole table.
        text: The question, as a person is asked it, with an example out of the table.
        options: The answers.
    """

    about: str
    columns: tuple[str, ...]
    text: str
    options: tuple[ReadingOption, ...]


class TouchedRows(msgspec.Struct, frozen=True):
    """Rows of a file that are not in its table as they stand there.

    Args:
        what: What was done, with its reason ("title above the header", "padded").
        count: How many.
        rows: The first of them, counted from 1 in the file; at most 10.
        sample: The text of the first one, cut to 80 characters.
    """

    what: str
    count: int
    rows: tuple[int, ...] = ()
    sample: str = ""


class TableReading(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a table was read: what was found out or said, and why.

    Args:
        encoding: The codec; "" where there is none to find.
        encoding_confidence: 0 to 1.
        encoding_reason: What it was told by ("byte order mark", "valid UTF-8", "said").
        delimiter: What separates fields; "" where nothing does.
        quote_char: What quotes fields; "" where nothing is quoted.
        header_row: The row of the file with the names, counted from 1; 0 where there is none.
        decimal: The decimal mark; "" where no number has one, or where columns differ.
        thousands: The mark between groups of digits; "" where there is none.
        date_order: "dmy", "mdy" or "ymd"; "" where there are no such dates.
        left_out: Rows that are not in the table.
        repaired: Rows that are in it, but not as they stand in the file.
        questions: What has to be said before figures can be told.
    """

    encoding: str = ""
    encoding_confidence: float = 1.0
    encoding_reason: str = ""
    delimiter: str = ""
    quote_char: str = ""
    header_row: int = 0
    decimal: str = ""
    thousands: str = ""
    date_order: str = ""
    left_out: tuple[TouchedRows, ...] = ()
    repaired: tuple[TouchedRows, ...] = ()
    questions: tuple[ReadingQuestion, ...] = ()
