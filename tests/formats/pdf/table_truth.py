"""Tables of real pages as a person read them, and how much of them an extraction has right.

The pages are other people's and are not kept here: `table_truth.json` has a digest of each cell's
text without blanks, row by row, so that a text can be judged and not read. What was not legible is
null, and not judged.
"""

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["TruthTable", "cell_digest", "cells_right", "load_truth"]

Cells = Sequence[Sequence[str]]

_HYPHENS = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_QUOTES = {ord("’"): "'", ord("‘"): "'", ord("“"): '"', ord("”"): '"'}
_UNSEEN = ("Z", "C", "So")
"""Blanks, what has no look, and signs such as those before the items of a list."""


class TruthTable(NamedTuple):
    """A table of a page: the file, its page from 1, and a digest a cell."""

    file: str
    page: int
    rows: tuple[tuple[str | None, ...], ...]

    @property
    def cell_count(self) -> int:
        """How many of its cells are judged."""
        return sum(cell is not None for row in self.rows for cell in row)


def cell_digest(text: str) -> str:
    """Return a digest of what is seen of a text, "" for nothing."""
    shown = unicodedata.normalize("NFKC", text).translate(_HYPHENS | _QUOTES)
    bare = "".join(
        letter for letter in shown if not unicodedata.category(letter).startswith(_UNSEEN)
    )
    return hashlib.sha256(bare.encode()).hexdigest()[:10] if bare else ""


def load_truth() -> list[TruthTable]:
    """Return the tables, those of a page in their order on it."""
    given: list[dict[str, Any]] = json.loads(
        Path(__file__).with_name("table_truth.json").read_text()
    )
    return [
        TruthTable(each["file"], each["page"], tuple(tuple(row) for row in each["rows"]))
        for each in given
    ]


def cells_right(truth: TruthTable, found: Sequence[Cells]) -> int:
    """Return how many cells of a table the best of some tables has at their places.

    Rows and columns may stand in it with others before them, as a title above: what counts is
    which cells are in one row, and which in one column. Blank cells count if any other is right.
    """
    return max((_best(truth, [[cell_digest(c) for c in row] for row in rows]) for rows in found),
               default=0)  # fmt: skip


def _best(truth: TruthTable, rows: Sequence[Sequence[str]]) -> int:
    width = max((len(row) for row in rows), default=0)
    best = 0
    for down in range(-2, max(len(rows) - 1, 1)):
        for across in range(-1, max(width - 1, 1)):
            best = max(best, _right(truth, rows, down, across))
    return best


def _right(truth: TruthTable, rows: Sequence[Sequence[str]], down: int, across: int) -> int:
    filled = blank = 0
    for number, row in enumerate(truth.rows, down):
        for column, cell in enumerate(row, across):
            if cell is None or not (0 <= number < len(rows) and 0 <= column < len(rows[number])):
                continue
            if rows[number][column] == cell:
                filled += bool(cell)
                blank += not cell
    return filled + blank if filled else 0
