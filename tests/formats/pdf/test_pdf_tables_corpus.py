"""Tables of real pages, judged by what a person read on them; see `table_truth`."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from kbd.formats import Region, Source
from kbd_pdf import PdfFormat
from table_truth import cells_right, load_truth

PDF = PdfFormat()

pytestmark = pytest.mark.corpora

_SHARE = 0.98
"""Of the cells of all tables, so many must be right."""


def found_tables(corpora: Path, name: str, page: int) -> list[Sequence[Sequence[str]]]:
    """The tables of a page of a real file."""
    source = Source(corpora / "pdf" / name, name)
    found = PDF.layout(source, Region(pages=str(page)), "tables")
    return [table.rows for table in found.tables]


def test_cells_of_real_tables_are_those_that_a_person_reads(corpora: Path) -> None:
    """Of the cells of hand-read tables at least 98 of 100 have their text at their place."""
    right: dict[str, int] = defaultdict(int)
    judged: dict[str, int] = defaultdict(int)
    for truth in load_truth():
        place = f"{truth.file}, page {truth.page}"
        right[place] += cells_right(truth, found_tables(corpora, truth.file, truth.page))
        judged[place] += truth.cell_count
    lacking = {place: f"{right[place]} of {judged[place]}" for place in judged
               if right[place] < judged[place]}  # fmt: skip
    assert sum(right.values()) >= _SHARE * sum(judged.values()), lacking
