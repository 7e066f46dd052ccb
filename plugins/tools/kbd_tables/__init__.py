"""The tools for tables: map, describe, statistics, rows, SQL and exports.

A format hands over a table as plain text (`Tabular.read_table`). A worker of this plugin gives it
types and keeps it as Parquet in the workbench's cache, named by content, so each later call answers
from typed columns. DuckDB is imported in workers only.

Read in this order: `cache` (a table's record and its Parquet), `loader` (a table as typed Parquet)
with `column_types` (what a column is by its own values: `shapes`, `numbers`, `dates`), `evidence`
(what the columns of a file prove for each other), `verdicts` (how each is held: `number_types`,
`date_types`, and `clock_times`, which stay text; `column_roles` and `currencies` are whether a sum
of it means anything, `summed_columns` whether a statement makes one), `totals` (rows that sum
others up, as `total_rows`; `row_stretches` reckons what is between them, `formula_totals` takes
their own formulas for proof, `total_verdicts` judges them; `unlabeled_totals`, `group_sums` and
`outer_sums` find those that nothing labels,
`rows_below` what stands below the last one; `total_notes` says it, `open_questions` holds figures
back) and `blanks`, `read_tools` and `results` (the tools that only read, and what they answer
with), `named_tables` and `table_names` (which tables a statement means), `sandbox` (SQL and its
lock-down, with `statements`, what may run, `loaded_tables`, how it gets at the tables,
`statement_time`, what makes it answer the same each time, `sql_errors`, `absent_values`, which
helps where nothing was found, and `spellings`, what it parts by capitals alone), `export_tools`
(rows into other files) and `sheets_tool` (many sheets at once). `reading_text` says how a table was
read. They share `jobs` (calls of the worker, and its limits) and `duck` (DuckDB itself, and its
values as JSON).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kbd import hookimpl
from kbd.tools import FormatCatalog, Tool
from kbd_tables.cache import TableCache
from kbd_tables.export_tools import TableExport, TableUpdateFromExport
from kbd_tables.jobs import query_limits
from kbd_tables.read_tools import TableDescribe, TableGetMap, TableQuery, TableReadRows, TableStats
from kbd_tables.sheets_tool import TableExportSheets

__all__ = ["kbd_register_tools"]


@hookimpl
def kbd_register_tools(settings: Mapping[str, Any], formats: FormatCatalog) -> Sequence[Tool]:
    """Return the table tools.

    Settings: `query_seconds` (5), `query_memory_mb` (512), `query_threads` (2), `query_rows`
    (10000), `cache_mb` (2048).
    """
    limits = query_limits(settings)
    tables = TableCache(limits.cache_mb * 1024 * 1024)
    return [
        TableGetMap(tables),
        TableDescribe(tables),
        TableStats(tables),
        TableReadRows(tables),
        TableQuery(tables, limits),
        TableExport(tables, limits, formats),
        TableExportSheets(tables, limits, formats),
        TableUpdateFromExport(tables, limits, formats),
    ]
