"""Cases of other people's files: DuckDB's own test files, csvspectrum, and those of other readers.

The files stay in the corpora; what is kept are figures, and digests of names and texts, which
`make_corpus_figures` counted.
"""

from pathlib import Path

import msgspec

from golden_tables.cases import Case, Column, Expected, Figures
from kbd.formats import ReadAs

__all__ = ["RECORDS", "CorpusColumn", "CorpusTable", "corpus_cases"]

RECORDS = Path(__file__).with_name("corpus_figures.jsonl")


class CorpusColumn(msgspec.Struct, frozen=True):
    """A column: the digest of its name, "" where any will do, and its figures, if any are sure."""

    name: str
    figures: Figures | None


class CorpusTable(msgspec.Struct, frozen=True):
    """A file's figures.

    Args:
        file: Its name below `csv/`.
        row_count: Rows with something in them.
        columns: The columns.
        widest: Fields of the widest row; those beyond the columns are empty in all rows.
        left_out: Lines that are not of the table.
        encoding: Its codec.
        delimiter: What separates fields.
        header_row: The row with the names, 0 for none.
        date_order: The order of its dates, where there is one.
    """

    file: str
    row_count: int
    columns: tuple[CorpusColumn, ...]
    widest: int
    left_out: int = 0
    encoding: str = "utf-8"
    delimiter: str = ","
    header_row: int = 1
    date_order: str | None = None


def corpus_cases(folder: Path) -> tuple[Case, ...]:
    """Return the cases whose files are below a folder."""
    decoder = msgspec.json.Decoder(CorpusTable)
    return tuple(
        _case(table, path)
        for table in decoder.decode_lines(RECORDS.read_bytes())
        if (path := folder / "csv" / table.file).is_file()
    )


def _case(table: CorpusTable, path: Path) -> Case:
    answer = msgspec.convert(
        {
            "encoding": table.encoding,
            "delimiter": table.delimiter,
            "header_row": table.header_row,
            "totals": "keep",
            "decimal": ".",
            **({"date_order": table.date_order} if table.date_order else {}),
        },
        ReadAs,
    )
    columns = [
        Column(
            None,
            each.figures.kind if each.figures else None,
            (),
            figures=each.figures,
            name_digest=each.name,
        )
        for each in table.columns
    ]
    words = ("title", "above", "comment", "header", "below", "end", "foot", "note")
    empty = [Column(None, None, ())] * (table.widest - len(columns))
    # Fields at the end that no row fills are columns, or they are not; no figure depends on it.
    widths = ([], empty) if empty else ([],)
    return Case(
        "corpora",
        table.file,
        path.read_bytes(),
        tuple(
            Expected((*columns, *more), answer, table.left_out, words, rows=table.row_count)
            for more in widths
        ),
    )
