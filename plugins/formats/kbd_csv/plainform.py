"""Rows as RFC 4180 text with LF: the plain form of tables, and the files that kbd writes."""

import csv
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

__all__ = ["PlainWriter"]


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
