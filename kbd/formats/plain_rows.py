"""Rows in the plain form, as `Tabular.read_table` writes them."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

__all__ = ["PlainRowWriter", "writing_plain_rows"]


class PlainRowWriter(Protocol):
    """Writer of the csv module."""

    def writerow(self, row: Iterable[str], /) -> object:
        """Write a row."""

    def writerows(self, rows: Iterable[Iterable[str]], /) -> object:
        """Write several."""


@contextmanager
def writing_plain_rows(target: Path) -> Iterator[PlainRowWriter]:
    """Open a file for rows in the plain form."""
    with target.open("w", encoding="utf-8", newline="", buffering=1 << 20) as file:
        yield csv.writer(_LfEnds(file), lineterminator="\r\n")


class _LfEnds:
    """Ends rows with LF; the csv module quotes a CR only if the row's end has one."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, row: str) -> int:
        """Write a row that ends with CR and LF."""
        return self._file.write(row[:-2] + "\n")
