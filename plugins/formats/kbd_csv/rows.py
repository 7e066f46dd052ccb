"""Rows of a delimited text, streamed, whatever is wrong with them.

A quote that is opened and never closed would swallow the rest of a file into one field. So a row
is given up when it reaches the end of the file, or 1 MiB, inside a quote: its first line is then
taken without quotes, and reading goes on with the next line.

Rows as RFC 4180 text with LF: the plain form of tables, and the files that kbd writes.
"""

import csv
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.plaintext import Encoding, detect, open_text
from kbd_csv.dialect import SAMPLE_CHARS, Dialect, detect_dialect

__all__ = ["MAX_COLUMNS", "PlainWriter", "RowReader"]

MAX_LINE_CHARS = 8 * 1024 * 1024
"""A longer line is refused: it is no table, and its fields would fill the memory."""

MAX_ROW_CHARS = 1024 * 1024
"""A quoted field that goes on for longer was never closed."""

MAX_COLUMNS = 16_384
"""As many as a worksheet has."""

MAX_REPAIRS = 100
"""After so many quotes that were never closed, quotes are text in the rest of the file."""

csv.field_size_limit(2 * MAX_LINE_CHARS)


class RowReader:
    """Iterates over the rows of one file, once.

    Args:
        source: The file.
        encoding: How its bytes are text; detected if not given.
        dialect: How its rows are written; detected if not given.

    Attributes:
        zeros: Zero characters that were removed so far.
        unclosed: Rows with a quote that was never closed so far.
    """

    def __init__(
        self, source: Source, encoding: Encoding | None = None, dialect: Dialect | None = None
    ) -> None:
        self.encoding = encoding or detect(source.path)
        self._source = source
        self.dialect = dialect or detect_dialect(self._sample(), source.name)
        self.zeros = 0
        self.unclosed = 0
        self._waiting: deque[str] = deque()
        self._row_lines: list[str] = []
        self._row_chars = 0
        self._unclosed = False

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the rows; an empty line is an empty list. Raises FileReadFailed."""
        with open_text(self._source.path, self.encoding, newline="") as file:
            lines = self._lines(file)
            while True:
                reader = self._reader(lines, quotes=self.unclosed < MAX_REPAIRS)
                for row in reader:
                    if self._unclosed:
                        break
                    yield self._checked(row)
                    self._row_lines.clear()
                    self._row_chars = 0
                if not self._row_lines:
                    return
                # The row was never closed: its first line alone, then the others anew.
                first, *others = self._row_lines
                self.unclosed += 1
                self._waiting.extendleft(reversed(others))
                self._row_lines.clear()
                self._row_chars = 0
                self._unclosed = False
                yield self._checked(next(self._reader(iter([first]), quotes=False)))
                lines = self._lines(file)

    def first_line(self) -> str:
        """Return the first line with its line end, or "" for an empty file."""
        with open_text(self._source.path, self.encoding, newline="") as file:
            return file.readline(MAX_LINE_CHARS)

    def _reader(self, lines: Iterator[str], *, quotes: bool) -> Iterator[list[str]]:
        return csv.reader(
            lines,
            delimiter=self.dialect.delimiter,
            quotechar=self.dialect.quote_char,
            quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        )

    def _lines(self, file: TextIOWrapper) -> Iterator[str]:
        """Give lines to the csv reader and remember those of the row that it is in."""
        for line in itertools.chain(self._taken(), self._read(file)):
            self._row_lines.append(line)
            self._row_chars += len(line)
            yield line
            if self._row_chars > MAX_ROW_CHARS:
                # The row asks for more than a row may have.
                self._unclosed = True
                return
        # The reader asks for more: either all is read, or it is inside a quote.
        self._unclosed = bool(self._row_lines)

    def _taken(self) -> Iterator[str]:
        while self._waiting:
            yield self._waiting.popleft()

    def _read(self, file: TextIOWrapper) -> Iterator[str]:
        while line := file.readline(MAX_LINE_CHARS + 1):
            if len(line) > MAX_LINE_CHARS:
                raise FileReadFailed(
                    f"{self._source.name} has a line of more than 8 million characters."
                )
            if "\0" in line:
                self.zeros += line.count("\0")
                line = line.replace("\0", "")
            yield line

    def _checked(self, row: list[str]) -> list[str]:
        if len(row) > MAX_COLUMNS:
            raise FileReadFailed(f"{self._source.name} has more than {MAX_COLUMNS:,} columns.")
        return row

    def _sample(self) -> str:
        with open_text(self._source.path, self.encoding) as file:
            text = file.read(SAMPLE_CHARS).replace("\0", "")
        whole = text.rfind("\n")
        return text if len(text) < SAMPLE_CHARS or whole < 0 else text[: whole + 1]


class _LfEnds:
    """Ends rows with LF.

    The csv module quotes a field for a CR only if the row's end has one, so the writer is told
    CR LF and every row loses its CR here.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row[:-2] + "\n")


class PlainWriter:
    r"""Writes rows of text to a new file.

    Args:
        path: The file.
        delimiter: What separates fields.
        encoding: Of the text; characters that it does not have raise UnicodeEncodeError.
        line_end: "\n" or "\r\n".
        append: Whether rows are added to what the file holds.
    """

    def __init__(
        self,
        path: Path,
        *,
        delimiter: str = ",",
        encoding: str = "utf-8",
        line_end: str = "\n",
        append: bool = False,
    ) -> None:
        mode = "a" if append else "w"
        self._file = path.open(mode, encoding=encoding, newline="", buffering=1 << 20)
        ends = self._file if line_end == "\r\n" else _LfEnds(self._file)
        self.write = csv.writer(ends, delimiter=delimiter, lineterminator="\r\n").writerow

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
