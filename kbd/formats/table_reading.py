"""How a table is read: what was said about it, what was found out, and what has to be asked.

Two ways to read a file that give different figures are a question, not a guess. What a person or a
rule answers is `kbd.types.ReadAs`; how the table was read in the end is `TableReading`.
"""

from typing import Literal

import msgspec

from kbd.formats.total_labels import TotalKind
from kbd.types import FileName

__all__ = [
    "CAPITALS_APART",
    "AggregateRow",
    "FileQuestion",
    "ReadingOption",
    "ReadingQuestion",
    "TableReading",
    "TouchedRows",
]


CAPITALS_APART = "SQL tells them apart, lower() does not"
"""How the warning on values of a column ends that differ in capitals alone. Who asks by statements
that do not tell them apart, and says so, leaves it out."""


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


class FileQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question about a table of a workbench.

    Args:
        path: The file.
        sheet: Its sheet, where the file has several.
        question: What is asked.
    """

    path: FileName
    question: ReadingQuestion
    sheet: str | None = None


class TouchedRows(msgspec.Struct, frozen=True):
    """Rows of a file that are not in its table as they stand there.

    Args:
        what: What was done, with its reason ("title above the header", "padded").
        count: How many.
        rows: The first of them, counted from 1 in the file; at most 10.
        sample: The text of the first one, or of the first three where they are what is told
            ("North | 30; South | 70"), each cut to 80 characters.
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


class AggregateRow(msgspec.Struct, frozen=True):
    """A row of a table whose formulas sum up rows of the table, each in its own column.

    Args:
        row: Its place among the rows of the plain form, from 0.
        kind: What they make of these rows ("sum", "average", "minimum", "maximum", "count"); a
            sum where they differ.
        side: Where these rows are.
        columns: The places of the columns that have such a formula.
        computed: Those of all columns that have a formula.
        ranges: The rows that a formula names: the first and the last of each stretch.
    """

    row: int
    kind: TotalKind
    side: Literal["above", "below"]
    columns: tuple[int, ...]
    computed: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]
