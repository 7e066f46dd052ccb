"""Rows of a delimited text, streamed, and the dialect that they are written in.

The dialect is the delimiter, the quotes, and whether there is a header. Every candidate is tried on
a sample and the one that gives the most regular, cleanest rows wins; a suffix only breaks ties.
Nothing is ever taken from a pattern of a library's report, so a bracket in the text cannot become a
quote.

A quote that is opened and never closed would swallow the rest of a file into one field. So a row
is given up when it reaches the end of the file, or 1 MiB, inside a quote: its first line is then
taken without quotes, and reading goes on with the next line.

Rows are written as RFC 4180 text with LF: the plain form of tables, and the files that kbd writes.
"""

import csv
import io
import itertools
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Self

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.plaintext import Encoding, detect, open_text
from kbd.plaintext.lines import open_at

__all__ = [
    "MAX_COLUMNS",
    "SAMPLE_CHARS",
    "Dialect",
    "PlainWriter",
    "RowReader",
    "detect_dialect",
    "has_header",
    "suffix_delimiter",
]

SAMPLE_CHARS = 128 * 1024
"""Characters of a file that the dialect is found by; a regular file is regular from its start."""

_SAMPLE_ROWS = 500
_DELIMITERS = (",", ";", "\t", "|")
_BY_SUFFIX = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?[-+]?(\d[\d.,' ]*|[.,]\d+)([eE][-+]?\d+)?\s?[%€$)]*")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ]\d.*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_BOOLEANS = frozenset(("true", "false", "yes", "no"))
_YEAR = re.compile(r"(19|20)\d\d")


class Dialect(msgspec.Struct, frozen=True):
    """Dialect of delimited text.

    Args:
        delimiter: One of comma, semicolon, tab, bar.
        quote_char: What quotes fields; `"` is understood even where the sample has none.
        quoted: Whether the sample has quoted fields.
    """

    delimiter: str
    quote_char: str = '"'
    quoted: bool = False


def suffix_delimiter(name: str) -> str:
    """Return the delimiter that a file's suffix stands for: tab, bar, else comma."""
    return _BY_SUFFIX.get(PurePosixPath(name).suffix.lower(), ",")


# Not DuckDB's sniffer: ragged rows or a zero byte make it report one column of text, silently.
def detect_dialect(sample: str, name: str) -> Dialect:
    """Choose the dialect for a text that begins with `sample`, whole lines."""
    usual = suffix_delimiter(name)
    order = [usual, *(mark for mark in _DELIMITERS if mark != usual)]
    quote = _quote_char(sample)
    quoted = re.search(rf"(^|[,;\t|])\s?{quote}", sample, re.MULTILINE) is not None
    best, best_score = usual, 0.0
    for delimiter in order:
        score = _score(sample, delimiter, quote)
        # A tie stays with the earlier candidate, that is with the suffix.
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    return Dialect(best, quote, quoted)


def has_header(rows: list[list[str]]) -> bool:
    """Tell whether the first of a table's rows names its columns.

    A text above typed values speaks for it, a typed value above typed values against it, a year is
    a name where what is below are no years. Where all is text, a first row of distinct, filled
    fields is a header.
    """
    first, below = rows[0], rows[1:]
    filled = [field.strip() for field in first if field.strip()]
    if not filled:
        return False
    votes = 0
    for place, field in enumerate(first):
        kinds = {_kind(row[place]) for row in below if place < len(row)} - {""}
        kind = _kind(field)
        if kind in ("", "text"):
            votes += kind == "text" and kinds != set() and "text" not in kinds
        elif not (_YEAR.fullmatch(field.strip()) and kinds != {"year"} and len(filled) > 1):
            votes -= 1
    texts = sum(_kind(field) == "text" for field in first)
    if votes:
        return votes > 0 and texts > 0
    return texts > 0 and len(set(filled)) == len(filled)


def _quote_char(sample: str) -> str:
    """Return `'` only where fields are plainly quoted with it and none with `"`."""
    single = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n]|$)", sample, re.MULTILINE))
    double = len(re.findall(r"(?:^|[,;\t|])\"", sample, re.MULTILINE))
    return "'" if single >= 2 and not double else '"'


def _score(sample: str, delimiter: str, quote: str) -> float:
    """Rate a candidate from 0 (it separates nothing) to 1 (every row alike, every field clean)."""
    reader = csv.reader(io.StringIO(sample), delimiter=delimiter, quotechar=quote, doublequote=True)
    rows = [row for row, _ in zip(reader, range(_SAMPLE_ROWS), strict=False) if row]
    if not rows:
        return 0.0
    widths = Counter(len(row) for row in rows)
    several = sum(count for width, count in widths.items() if width > 1) / len(rows)
    if several == 0 or len(rows[0]) == 1:
        # A header that the candidate does not split speaks strongly against it.
        several *= 0.3
    alike = widths.most_common(1)[0][1] / len(rows)
    fields = [field for row in rows for field in row if field]
    unclean = sum(_is_unclean(field, delimiter) for field in fields)
    clean = 1 - unclean / max(1, len(fields))
    return several * (0.4 + 0.6 * alike) * (0.4 + 0.6 * clean)


def _is_unclean(field: str, delimiter: str) -> bool:
    """Tell whether a field looks as if another delimiter should have split it."""
    if _NUMBER.fullmatch(field):
        return False
    others = [mark for mark in _DELIMITERS if mark != delimiter and mark in field]
    return any(re.search(rf"\S{re.escape(mark)}\S", field) for mark in others) or "\t" in others


def _kind(field: str) -> str:
    """Name what a field looks like: "", year, number, date, boolean or text."""
    text = field.strip()
    if not text:
        return ""
    if _YEAR.fullmatch(text):
        return "year"
    if _DATE.fullmatch(text):
        return "date"
    if _NUMBER.fullmatch(text):
        return "number"
    return "boolean" if text.lower() in _BOOLEANS else "text"


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

    Attributes:
        zeros: Zero characters that were removed so far.
        unclosed: Rows with a quote that was never closed so far.
    """

    def __init__(
        self,
        source: Source,
        encoding: Encoding | None = None,
        dialect: Dialect | None = None,
        offset: int = 0,
    ) -> None:
        self.encoding = encoding or detect(source.path)
        self._offset = offset
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
        with open_at(self._source, self.encoding, self._offset, newline="") as file:
            lines = self._lines(file)
            while True:
                # Each repair reads up to 1 MiB again, so their number is bounded.
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
                self._row_lines[:] = [first]
                yield self._checked(next(self._reader(iter([first]), quotes=False)))
                self._row_lines.clear()
                self._row_chars = 0
                self._unclosed = False
                # The generator of lines ended to stop the reader inside the quote; a new one goes
                # on.
                lines = self._lines(file)

    @property
    def row_text(self) -> str:
        """The text of the row that was read last, with its line end."""
        return "".join(self._row_lines)

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
        for line in itertools.chain(self._pushed_back(), self._read(file)):
            self._row_lines.append(line)
            self._row_chars += len(line)
            yield line
            if self._row_chars > MAX_ROW_CHARS:
                # The row asks for more than a row may have.
                self._unclosed = True
                return
        # The reader asks for more: either all is read, or it is inside a quote.
        self._unclosed = bool(self._row_lines)

    def _pushed_back(self) -> Iterator[str]:
        while self._waiting:
            yield self._waiting.popleft()

    def _read(self, file: TextIOWrapper) -> Iterator[str]:
        # One more than is allowed tells a line that is too long from one that just fits.
        while line := file.readline(MAX_LINE_CHARS + 1):
            if len(line) > MAX_LINE_CHARS:
                raise FileReadFailed(
                    f"{self._source.name} has a line of more than 8 million characters"
                )
            if "\0" in line:
                self.zeros += line.count("\0")
                line = line.replace("\0", "")
            yield line

    def _checked(self, row: list[str]) -> list[str]:
        if len(row) > MAX_COLUMNS:
            raise FileReadFailed(f"{self._source.name} has more than {MAX_COLUMNS:,} columns")
        return row

    def _sample(self) -> str:
        with open_text(self._source.path, self.encoding) as file:
            text = file.read(SAMPLE_CHARS).replace("\0", "")
        # A row that the sample cuts off would look as if it had fewer fields than the others.
        whole = text.rfind("\n")
        return text if len(text) < SAMPLE_CHARS or whole < 0 else text[: whole + 1]


class _LfLineEnds:
    """File whose rows end with LF, for the writer of the csv module.

    The csv module quotes a field for a CR only if the row's end has one, so the writer ends rows
    with CR LF and every row loses its CR here.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row[:-2] + "\n")


class PlainWriter:
    r"""Writer of rows of text to a new file.

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
        ends = self._file if line_end == "\r\n" else _LfLineEnds(self._file)
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
