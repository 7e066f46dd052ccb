"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from kbd.formats import (
    Comparable,
    CompareOptions,
    Comparison,
    FormatHandler,
    Grid,
    Gridded,
    GridWindow,
    Inspectable,
    Mappable,
    Mergeable,
    Merged,
    Passage,
    Place,
    Placement,
    Readable,
    ReadAs,
    Reading,
    Receiptable,
    Region,
    Source,
    Table,
    Tabular,
    Trace,
    Written,
)

__all__ = ["CsvFormat"]


class CsvFormat(
    FormatHandler,
    Gridded,
    Mappable,
    Readable,
    Tabular,
    Comparable,
    Receiptable,
    Mergeable,
    Inspectable,
):
    """Rows of delimited text: read as a table or by lines, written new or added to."""

    name = "csv"
    wire_name = "Csv"
    kind = "table"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".csv": "text/csv",
        ".psv": "text/plain",
        ".tab": "text/tab-separated-values",
        ".tsv": "text/tab-separated-values",
    }
    preload = (
        "kbd_csv.tables",
        "kbd_csv.writer",
        "kbd_csv.grid",
        "kbd_csv.comparison.changes",
        "kbd_csv.comparison.places",
        "kbd.plaintext.merge",
        "kbd.plaintext.receipts",
    )
    guidance = (
        "Use the table tools: count first, then query or fetch windows of rows. read_file shows "
        "the raw lines (line_start, line_count), header and quotes included."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("line_start", "line_count")
    compare_method = "TableDiff"
    compare_options = ("key",)
    wire_methods = ()

    def map(self, source: Source) -> dict[str, Any]:
        """Return rows, columns, delimiter, quotes, encoding and chunks of 500 rows."""
        from kbd_csv import tables  # noqa: PLC0415 - 100 ms for charset-normalizer

        return tables.table_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return raw lines; of a long file without coordinates its first 200."""
        from kbd_csv import tables  # noqa: PLC0415 - 100 ms for charset-normalizer

        return tables.read_lines(source, region, allow_zeros=True)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield the raw text in pieces of up to 200 lines, with the names of the columns."""
        from kbd_csv import tables  # noqa: PLC0415 - 100 ms for charset-normalizer

        return tables.passages(source)

    def grid(self, source: Source, window: GridWindow) -> Grid:
        """Return a window of the data rows, counted from 1."""
        from kbd_csv import grid  # noqa: PLC0415 - 100 ms for charset-normalizer

        return grid.read_grid(source, window)

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return fields that a spreadsheet program evaluates."""
        from kbd_csv import tables  # noqa: PLC0415 - 100 ms for charset-normalizer

        return tables.active_content(source, known)

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write the rows in the plain form; what was left out or mended is in the reading."""
        from kbd_csv import tables  # noqa: PLC0415 - 100 ms for charset-normalizer

        return tables.read_table(source, sheet, read_as, target)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write a new file, or the source with rows appended; the target's suffix delimits."""
        from kbd_csv import writer  # noqa: PLC0415 - 100 ms for charset-normalizer

        return writer.write_table(source, rows, placement, target)

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return the rows, cells and columns that differ, and how the file is written."""
        from kbd_csv.comparison import changes  # noqa: PLC0415 - 100 ms for charset-normalizer

        return changes.compare(before, after, options)

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Follow rows, cells and columns through what was inserted, removed and moved."""
        from kbd_csv.comparison import places as cells  # noqa: PLC0415 - 100 ms, as above

        return cells.trace(before, after, places, forward=forward)

    def receipt_facts(
        self, versions: tuple[Source | None, ...], steps: tuple[int, ...], limit: int
    ) -> dict[str, Any]:
        """Return which lines differ."""
        from kbd.plaintext import receipts  # noqa: PLC0415 - 100 ms, as above

        return receipts.line_facts(versions, steps, limit)

    def locate(self, source: Source, text: str) -> Place:
        """Understand "row 7, amount", "row 7", "column amount" and "amount"."""
        from kbd_csv.comparison import places as cells  # noqa: PLC0415 - 100 ms, as above

        return cells.locate(source, text)

    def merge(self, base: Source, ours: Source, theirs: Source, target: Path) -> Merged:
        """Merge the lines of two versions."""
        from kbd.plaintext import merge  # noqa: PLC0415 - 100 ms for charset-normalizer

        return merge.merge_files(base, ours, theirs, target)
