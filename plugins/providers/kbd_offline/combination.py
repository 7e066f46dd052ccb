"""Combination of tables: below each other, joined by a key, compared. Pure.

What is asked of the tables together is read first; what is left of the request is read against the
table that comes of it.
"""

from collections.abc import Callable, Sequence
from datetime import date

from kbd_offline.comparisons import compared_lists
from kbd_offline.facts import KnownTable
from kbd_offline.joins import absent_rows, added_columns, implied_join, named_join, without_partner
from kbd_offline.request_files import FileNames
from kbd_offline.request_tokens import tokenize
from kbd_offline.single import JobFiles
from kbd_offline.table_scan import TablesScan
from kbd_offline.together import Result, TablesTogether
from kbd_offline.unions import is_same, named_union, per_file, periods_together, plain_union

__all__ = ["combined"]


def combined(
    request: str,
    tables: Sequence[KnownTable],
    names: FileNames,
    files: JobFiles,
    today: date,
) -> Result | None:
    """Return the job of a request that puts tables together, None where it is about one.

    Raises:
        SeveralError: It has several readings.
        UnclearError: It has none.
    """
    if len(tables) < 2:
        return None
    scan = TablesScan(request, tokenize(request, names.spans), tables, today)
    scan.tables = _meant(scan, tables, names)
    if len(scan.tables) < 2 or not len(scan):
        return None
    for read in _READERS:
        # Each begins with all words: what one of them used up is of no use to the next.
        found = read(TablesTogether(scan, files))
        if found is not None:
            return found
    if len(scan.tables) != 2 or is_same(scan.tables) or len(names.sources) not in (0, 2):
        return None
    return implied_join(TablesTogether(scan, files))


def _meant(scan: TablesScan, tables: Sequence[KnownTable], names: FileNames) -> list[KnownTable]:
    """Return the tables that are put together, in the order in which they are named, or stand."""
    if len(names.sources) == 1 and len(tables) == 2 and scan.has("join_strong", "missing_in"):
        # "Look up the city in people.csv": for the other table.
        return sorted(tables, key=lambda table: table.path in names.sources)
    if names.sources and not (len(names.sources) == 1 and scan.has("union_all")):
        return [table for path in names.sources for table in tables if table.path == path]
    words = " ".join(token.word for token in scan.tokens)
    for suffix in ("csv", "tsv", "xlsx", "parquet"):
        if any(said in words for said in (f"{suffix} file", f"{suffix}s ", f"{suffix} datei")):
            return [table for table in tables if table.path.endswith(f".{suffix}")]
    target = names.target.casefold()
    return [table for table in tables if table.path.casefold() != target]


_READERS: tuple[Callable[[TablesTogether], Result | None], ...] = (
    compared_lists, without_partner, absent_rows, added_columns, named_join, plain_union, per_file,
    named_union, periods_together,
)  # fmt: skip
"""Readers of what is asked of tables together, in the order in which they are tried."""
