"""Rows of a delimited text, streamed, with the numbers of their lines.

A quote that is opened and never closed would swallow the rest of a file into one field. So a row
is given up when it reaches the end of the file, or 1 MiB, inside a quote: its first line is then
taken without quotes, and reading goes on with the next line.

Rows are written as RFC 4180 text with LF: the plain form of tables, and the files that kbd writes.
"""

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, Self

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.plaintext import Encoding, detect, open_text
from kbd.plaintext.lines import open_at
from kbd_csv.dialect import Dialect, detect_dialect, parsed
from kbd_csv.touched_rows import Touched

__all__ = [
    "BYTE_ORDER_MARK",
    "END_MARK",
    "MAX_COLUMNS",
    "MAX_LINE_CHARS",
    "MAX_ROW_CHARS",
    "SAMPLE_CHARS",
    "PlainWriter",
    "RowReader",
]

SAMPLE_CHARS = 128 * 1024
"""Characters of a file that the dialect is found by; a regular file is regular from its start."""

BYTE_ORDER_MARK = "\ufeff"

END_MARK = "\x1a"
"""What DOS writes behind the last line of a text (Ctrl+Z)."""

MAX_LINE_CHARS = 8 * 1024 * 1024
"""A longer line is refused: it is no table, and its fields would fill the memory."""

MAX_ROW_CHARS = 1024 * 1024
"""A quoted field that goes on for longer was never closed."""

MAX_COLUMNS = 16_384
"""Columns of a row, as many as a worksheet has."""

MAX_REPAIRS = 100
"""After so many quotes that were never closed, quotes are text in the rest of the file."""

# The module's own limit, 131,072 characters, is for the whole process; ours bound lines and rows.
csv.field_size_limit(2 * MAX_LINE_CHARS)


# Not DuckDB's reader: ragged rows far down end its scan, and its tolerant options swallow rows with
# bad bytes without notice.
class RowReader:
    """Reader of the rows of one file, once.

    Args:
        source: The file.
        encoding: How its bytes are text; detected if not given.
        dialect: How its rows are written; detected if not given.
        offset: The byte from which to read, where a row begins.
        delimiter: What separates fields, if that is known of a dialect that is not given.

    Attributes:
        line: The line at which the last row begins, counted from 1 where reading begins.
        zeros: Zero characters that were removed so far, and where.
        unclosed: Rows with a quote that was never closed so far.
        replaced: Lines with signs for bytes that the encoding has no character for.
        marks: Second byte order marks, and marks of the end that DOS wrote, which were removed.
    """

    def __init__(
        self,
        source: Source,
        encoding: Encoding | None = None,
        dialect: Dialect | None = None,
        offset: int = 0,
        delimiter: str | None = None,
    ) -> None:
        self.encoding = encoding or detect(source.path)
        self._offset = offset
        self._source = source
        self.dialect = dialect or detect_dialect(self._sample(), source.name, delimiter)
        self.line = 0
        self.zeros, self.unclosed, self.replaced = Touched(), Touched(), Touched()
        self.marks = Touched()
        self._next_line = 1
        self._waiting: deque[str] = deque()
        self._row_lines: list[str] = []
        self._unclosed = False

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the rows; an empty line is an empty list. Raises FileReadFailed."""
        with open_at(self._source, self.encoding, self._offset, newline="") as file:
            lines = self._lines(file)
            while True:
                # Each repair reads up to 1 MiB again, so their number is bounded.
                quotes = self.unclosed.count < MAX_REPAIRS
                for row in parsed(lines, self.dialect, quotes=quotes):
                    if self._unclosed:
                        break
                    if len(row) > MAX_COLUMNS:
                        raise self._too_wide()
                    self.line = self._next_line
                    self._next_line += len(self._row_lines)
                    yield row
                    self._row_lines.clear()
                if not self._row_lines:
                    return
                # The row was never closed: its first line alone, then the others anew.
                first, *others = self._row_lines
                self.line = self._next_line
                self._next_line += 1
                self.unclosed.add(self.line, first)
                self._waiting.extendleft(reversed(others))
                self._row_lines[:] = [first]
                row = next(parsed(iter([first]), self.dialect, quotes=False))
                if len(row) > MAX_COLUMNS:
                    raise self._too_wide()
                yield row
                self._row_lines.clear()
                self._unclosed = False
                # The generator of lines ended to stop the reader inside the quote; a new one goes
                # on.
                lines = self._lines(file)

    @property
    def last_line(self) -> int:
        """The last line that was read."""
        return self._next_line - 1

    @property
    def row_text(self) -> str:
        """The text of the row that was read last, with its line end."""
        return "".join(self._row_lines)

    def first_line(self) -> str:
        """Return the first line with its line end, or "" for an empty file."""
        return next(iter(self.first_lines(1)), "")

    def first_lines(self, count: int) -> list[str]:
        """Return up to so many lines from the first one on, with their line ends."""
        with open_text(self._source.path, self.encoding, newline="") as file:
            lines = (file.readline(MAX_LINE_CHARS) for _ in range(count))
            return [line for line in lines if line]

    def _lines(self, file: TextIOWrapper) -> Iterator[str]:
        """Give lines to the csv reader and remember those of the row that it is in."""
        row_lines, waiting, readline = self._row_lines, self._waiting, file.readline
        chars = 0
        while True:
            if waiting:
                line = waiting.popleft()
            else:
                # One more than is allowed tells a line that is too long from one that just fits.
                line = readline(MAX_LINE_CHARS + 1)
                if not line:
                    break
                if "\0" in line or "\ufffd" in line or len(line) > MAX_LINE_CHARS:
                    line = self._mended(line)
                if line and (line[0] == BYTE_ORDER_MARK or line[-1] == END_MARK):
                    line = self._without_marks(line)
                    if not line:
                        continue
            row_lines.append(line)
            yield line
            # The reader asks for more of the same row, or all lines of the last one are gone.
            chars = chars + len(line) if row_lines else 0
            if chars > MAX_ROW_CHARS:
                self._unclosed = True
                return
        # The reader asks for more: either all is read, or it is inside a quote.
        self._unclosed = bool(row_lines)

    def _mended(self, line: str) -> str:
        if len(line) > MAX_LINE_CHARS:
            raise FileReadFailed(
                f"{self._source.name} has a line of more than 8 million characters"
            )
        number = self._next_line + len(self._row_lines)
        if "\0" in line:
            self.zeros.add(number, line, line.count("\0"))
        if "\ufffd" in line:
            self.replaced.add(number, line)
        return line.replace("\0", "")

    def _without_marks(self, line: str) -> str:
        """Remove what marks the ends of a text and is none of it, from its first and last line."""
        text = line
        if not self._offset and self._next_line == 1 and not self._row_lines:
            text = text.lstrip(BYTE_ORDER_MARK)
        # What a line end follows is not the end.
        text = text.rstrip(END_MARK)
        if text != line:
            self.marks.add(self._next_line + len(self._row_lines), line, len(line) - len(text))
        return text

    def _too_wide(self) -> FileReadFailed:
        return FileReadFailed(f"{self._source.name} has more than {MAX_COLUMNS:,} columns")

    def _sample(self) -> str:
        with open_text(self._source.path, self.encoding) as file:
            text = file.read(SAMPLE_CHARS).replace("\0", "")
        # A row that the sample cuts off would look as if it had fewer fields than the others.
        whole = text.rfind("\n")
        return text if len(text) < SAMPLE_CHARS or whole < 0 else text[: whole + 1]


class _LineEnds:
    """File whose rows end with LF or CR, for the writer of the csv module.

    The csv module quotes a field for a CR only if the row's end has one, so the writer ends rows
    with CR LF and every row loses half of it here.
    """

    def __init__(self, file: IO[str], line_end: str) -> None:
        self._file = file
        self._line_end = line_end

    def write(self, row: str) -> int:
        return self._file.write(row[:-2] + self._line_end)


QuoteHabit = Literal["needed", "letters", "texts", "all"]
"""Which fields stand in quotes: those that have to, all but numbers and dates, all but numbers, or
all."""

_QUOTINGS: dict[QuoteHabit, Literal[0, 1, 2]] = {
    "needed": csv.QUOTE_MINIMAL,
    "letters": csv.QUOTE_NONNUMERIC,
    "texts": csv.QUOTE_NONNUMERIC,
    "all": csv.QUOTE_ALL,
}


class BareField(int):
    """Number or date in the text that it is written with; quoted only where it has to be."""

    _text: str

    def __new__(cls, text: str) -> Self:
        """Make it of its text."""
        made = super().__new__(cls)
        made._text = text
        return made

    def __str__(self) -> str:
        """Return the text."""
        return self._text


class PlainWriter:
    r"""Writer of rows of text to a new file.

    Args:
        path: The file.
        delimiter: What separates fields.
        encoding: Of the text; characters that it does not have raise UnicodeEncodeError.
        line_end: "\n", "\r\n" or "\r".
        append: Whether rows are added to what the file holds.
        quote_char: What quotes fields.
        has_escapes: Whether a quote within a field is written with a backslash.
        quotes: Which fields stand in quotes.
    """

    def __init__(
        self,
        path: Path,
        *,
        delimiter: str = ",",
        encoding: str = "utf-8",
        line_end: str = "\n",
        append: bool = False,
        quote_char: str = '"',
        has_escapes: bool = False,
        quotes: QuoteHabit = "needed",
    ) -> None:
        mode = "a" if append else "w"
        self._file = path.open(mode, encoding=encoding, newline="", buffering=1 << 20)
        ends = self._file if line_end == "\r\n" else _LineEnds(self._file, line_end)
        self.write = csv.writer(
            ends,
            delimiter=delimiter,
            lineterminator="\r\n",
            quotechar=quote_char,
            doublequote=not has_escapes,
            escapechar="\\" if has_escapes else None,
            # An escaped quote alone would not be a reason to quote a field.
            quoting=csv.QUOTE_NONNUMERIC if has_escapes else _QUOTINGS[quotes],
        ).writerow

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def write_header(self, names: Sequence[str]) -> None:
        """Write the column names; without columns there is no row."""
        if names:
            self.write(names)
