"""Tools that read tables: map, columns, statistics, rows by number, and SQL."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.errors import KbdError, ValidationFailed
from kbd.formats import FileQuestion, ReadAs
from kbd.tools import CallLimits, Tool, ToolContext, ToolResult
from kbd.types import Effect, FileName
from kbd_tables import jobs
from kbd_tables.cache import (
    ROWS_PER_CHUNK,
    OpenTable,
    TableCache,
    TableColumn,
    TableRef,
    is_table,
)
from kbd_tables.jobs import WORK_LIMITS, QueryLimits, lost_figures_note
from kbd_tables.named_tables import Answered, KnownTotal, StatementCall, ask_tables
from kbd_tables.open_questions import check_figures
from kbd_tables.table_names import check_names

__all__ = [
    "CalledTable",
    "HowToRead",
    "OtherTable",
    "OtherTables",
    "QueryArguments",
    "SourceSheet",
    "TableDescribe",
    "TableGetMap",
    "TablePath",
    "TableQuery",
    "TableReadRows",
    "TableStats",
    "answer_told",
    "answer_warnings",
    "other_refs",
]

_MAX_ROWS = 10_000
_MAX_COLUMNS = 100
_MAX_NAMED = 10
"""Figures that a warning names."""

_PRELOAD = ("kbd_tables.loader", "kbd_tables.results", "kbd_tables.sandbox")

TablePath = Annotated[str, Meta(description="The table's file in the workbench.")]
SourceSheet = Annotated[
    str | None, Meta(description="The sheet, where the file is a workbook with several.")
]
HowToRead = Annotated[
    ReadAs,
    Meta(description="How to read the table, where the user said it; never guess it."),
]
ColumnNames = Annotated[
    list[str] | None, Meta(description="Only these columns, named as in the map.")
]


class OtherTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table that statements call by the name that it is given."""

    path: TablePath
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()


class CalledTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table with the name that statements call it by."""

    name: str
    path: TablePath
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()


OtherTables = Annotated[
    dict[str, OtherTable] | tuple[CalledTable, ...],
    Meta(description="Other tables, each under a name for SQL; it goes before names of files."),
]
"""By name, or as a list: servers that hold a model to a schema know no names that it makes up."""


def other_refs(
    tables: Mapping[str, OtherTable] | Sequence[CalledTable],
) -> dict[str, TableRef]:
    """Return the tables that a call gives names to, by these.

    Raises:
        ValidationFailed: A name is given twice, or cannot name a table.
    """
    if isinstance(tables, Mapping):
        named: list[tuple[str, OtherTable | CalledTable]] = list(tables.items())
    else:
        named = [(table.name, table) for table in tables]
    check_names([name for name, _ in named])
    return {name: TableRef(table.path, table.source_sheet, table.read_as) for name, table in named}


class NamedTable:
    """Base of arguments that name a table: by `path`, `source_sheet` and `read_as`."""

    __slots__ = ()
    path: str
    source_sheet: str | None
    read_as: ReadAs

    @property
    def ref(self) -> TableRef:
        """The table that they name."""
        return TableRef(self.path, self.source_sheet, self.read_as)


class TableArguments(msgspec.Struct, NamedTable, frozen=True, forbid_unknown_fields=True):
    """A table."""

    path: TablePath
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()


class StatsArguments(msgspec.Struct, NamedTable, frozen=True, forbid_unknown_fields=True):
    """A table and the columns of interest."""

    path: TablePath
    columns: ColumnNames = None
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()


class RowsArguments(msgspec.Struct, NamedTable, frozen=True, forbid_unknown_fields=True):
    """Which rows of which table."""

    path: TablePath
    row_start: Annotated[
        int, Meta(description="The first row, counted from 1; the header is no row.", ge=1)
    ]
    row_count: Annotated[int, Meta(description="How many rows.", ge=1, le=_MAX_ROWS)]
    columns: ColumnNames = None
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()


class _TableTool(Tool):
    """Base of the tools that read.

    Args:
        tables: The typed tables that are kept.
    """

    effect: ClassVar[Effect] = Effect.READ
    limits: ClassVar[CallLimits] = WORK_LIMITS
    preload: ClassVar[tuple[str, ...]] = _PRELOAD

    def __init__(self, tables: TableCache) -> None:
        self._tables = tables


class TableGetMap(_TableTool):
    """`table_get_map`: columns, types, rows, encoding and chunks."""

    name: ClassVar[str] = "table_get_map"
    wire_method: ClassVar[str] = "TabularGetMap"
    description = (
        "Get the structure of a table: columns with types, row count, encoding and delimiter, "
        f"chunks of {ROWS_PER_CHUNK} rows. Call it first; quote column names in SQL as given here."
    )
    arguments = TableArguments

    async def run(self, context: ToolContext, arguments: TableArguments) -> ToolResult:
        """Return the table's map (contract, sections 7 and 8)."""
        table = await self._tables.open(context, arguments.ref)
        record = table.record
        found: dict[str, Any] = {
            "path": table.name,
            "row_count": record.row_count,
            "column_count": len(record.columns),
            "columns": [
                {"name": c.name, "type": c.type, **record.about(c.name)} for c in record.columns
            ],
            "chunk_rows": ROWS_PER_CHUNK,
            "total_chunks": -(-record.row_count // ROWS_PER_CHUNK),
        }
        reading = record.reading
        if reading.encoding:
            found["encoding_detected"] = reading.encoding
            found["encoding_confidence"] = round(reading.encoding_confidence, 3)
        if record.kept_totals:
            found["totals"] = list(record.kept_totals)
        found["reading"] = msgspec.to_builtins(reading)
        # The format's own facts first, so that none of them takes the place of these.
        found = {**record.details, **found}
        if record.currencies is not None:
            found["mixed_amounts"] = msgspec.to_builtins(record.currencies)
        if record.warnings:
            found["warnings"] = list(record.warnings)
        return ToolResult(found, is_look=True)

    async def questions(self, context: ToolContext) -> Sequence[FileQuestion]:
        """Return the questions of every table of the workbench, a sheet each of workbooks."""
        asked: list[FileQuestion] = []
        for name in context.files.names():
            if not is_table(context, name):
                continue
            for sheet in await _filled_sheets(context, name):
                # What cannot be read now fails the call that wants it.
                with suppress(KbdError):
                    table = await self._tables.open(context, TableRef(name, sheet))
                    asked += [
                        FileQuestion(name, question, sheet)
                        for question in table.record.reading.questions
                    ]
        return asked


_ASKED_BYTES = 5 * 1024 * 1024
"""A larger workbook is not read whole, sheet by sheet, only to ask: a call on it will."""


async def _filled_sheets(context: ToolContext, name: FileName) -> list[str | None]:
    """Return the sheets to ask about, which hold something; None alone for a file without any."""
    with suppress(KbdError):
        file = context.files.get(name)
        found = await context.formats.map(file)
        if "sheets" in found:
            filled = [sheet["name"] for sheet in found["sheets"] if sheet["chunks"]]
            return filled if file.size_bytes <= _ASKED_BYTES else []
    return [None]


class TableDescribe(_TableTool):
    """`table_describe`: each column's type, how full it is, how many values it has."""

    name: ClassVar[str] = "table_describe"
    wire_method: ClassVar[str] = "TabularDescribe"
    description = (
        "Describe the columns of a table: inferred type, whether values are missing, how many "
        "values and how many distinct ones. Use it to choose columns to group or filter by."
    )
    arguments = TableArguments

    async def run(self, context: ToolContext, arguments: TableArguments) -> ToolResult:
        """Return `{row_count, column_count, columns[...]}`."""
        table = await self._tables.open(context, arguments.ref)
        request = {"row_count": table.record.row_count}
        table, columns = await self._tables.run(context, arguments.ref, jobs.describe, request)
        value = {
            "row_count": table.record.row_count,
            "column_count": len(columns),
            "columns": [{**column, **table.record.about(column["name"])} for column in columns],
        }
        return msgspec.structs.replace(_with_warnings(table, value), is_look=True)


class TableStats(_TableTool):
    """`table_stats`: statistics by column."""

    name: ClassVar[str] = "table_stats"
    wire_method: ClassVar[str] = "TabularGetStats"
    description = (
        "Compute statistics of columns over all rows: min, max, mean, sum and stddev of numbers; "
        "lengths and the most common values of texts; min and max of dates; counts of booleans. "
        "Cheaper and safer than reading rows and adding up."
    )
    arguments = StatsArguments

    async def run(self, context: ToolContext, arguments: StatsArguments) -> ToolResult:
        """Return `{row_count, columns[...]}`; a figure that is no number is null, and warned of.

        Raises:
            ValidationFailed: A column does not exist.
        """
        table = await self._tables.open(context, arguments.ref)
        chosen = _chosen(table, arguments.columns)
        left_out = chosen[_MAX_COLUMNS:]
        check_figures(table.name, table.record.reading.questions)
        table, found = await self._tables.run(
            context,
            arguments.ref,
            jobs.stats,
            {"columns": [msgspec.structs.astuple(c) for c in chosen[:_MAX_COLUMNS]]},
        )
        record = table.record
        columns = [{**column, **record.role(column["name"])} for column in found["columns"]]
        value = {"row_count": record.row_count, "columns": columns}
        more = [f"{len(left_out)} columns left out; name them in `columns`"] if left_out else []
        if lost := found["lost_figures"]:
            others = "; …" if len(lost) > _MAX_NAMED else ""
            named = "; ".join(lost[:_MAX_NAMED])
            more.append(f"{lost_figures_note(len(lost))}: {named}{others}")
        more += table.sum_notes([c["name"] for c in columns if "not_additive" in c])
        names = [column.name for column in chosen[:_MAX_COLUMNS]]
        mixed = table.mixed_facts(names)
        more += mixed
        facts = (*table.column_facts(names), *mixed)
        return _with_warnings(table, value, tuple(more), facts)


class TableReadRows(_TableTool):
    """`table_read_rows`: rows by number."""

    name: ClassVar[str] = "table_read_rows"
    wire_method: ClassVar[str] = "TabularReadRows"
    description = (
        "Read rows of a table by number, in the file's order. For samples and for walking through "
        "a table in windows; to count, filter, group or sort use table_query."
    )
    arguments = RowsArguments

    async def run(self, context: ToolContext, arguments: RowsArguments) -> ToolResult:
        """Return `{columns, column_types, rows, row_start, row_count, total_rows, has_more}`.

        Raises:
            ValidationFailed: A column does not exist.
        """
        table = await self._tables.open(context, arguments.ref)
        chosen = _chosen(table, arguments.columns)
        request = {
            "columns": [msgspec.structs.astuple(column) for column in chosen],
            "row_start": arguments.row_start,
            "row_count": arguments.row_count,
        }
        table, rows = await self._tables.run(context, arguments.ref, jobs.rows, request)
        total = table.record.row_count
        value: dict[str, Any] = {
            "columns": [column.name for column in chosen],
            "column_types": [column.type for column in chosen],
            "rows": rows,
            "row_start": arguments.row_start,
            "row_count": len(rows),
            "total_rows": total,
            "has_more": arguments.row_start - 1 + len(rows) < total,
        }
        return ToolResult(value)


def _chosen(table: OpenTable, names: list[str] | None) -> list[TableColumn]:
    """Return the columns asked for, in the order asked; all if none are named.

    Raises:
        ValidationFailed: A name is not a column; the message lists those there are.
    """
    columns = table.record.columns
    if not names:
        return list(columns)
    by_name = {column.name.lower(): column for column in columns}
    unknown = [name for name in names if name.lower() not in by_name]
    if unknown:
        known = ", ".join(column.name for column in columns[:60])
        raise ValidationFailed(
            f"{table.name} has no column {', '.join(unknown)}; its columns are {known}"
        )
    return [by_name[name.lower()] for name in dict.fromkeys(names)]


def _with_warnings(
    table: OpenTable,
    value: dict[str, Any],
    more: tuple[str, ...] = (),
    facts: tuple[str, ...] = (),
) -> ToolResult:
    """Return a result with the table's warnings."""
    if warnings := [*table.record.warnings, *more]:
        value["warnings"] = warnings
    return ToolResult(value, told=(*table.told, *facts))


_MAX_WINDOW_ROWS = 10_000


class QueryArguments(msgspec.Struct, NamedTable, frozen=True, forbid_unknown_fields=True):
    """A statement about a table, and which window of its rows to return."""

    path: TablePath
    query: Annotated[str, Meta(description="One reading SQL statement (DuckDB).")]
    window_rows: Annotated[
        int, Meta(description="How many rows to return.", ge=1, le=_MAX_WINDOW_ROWS)
    ] = 100
    window_offset: Annotated[int, Meta(description="Rows to skip before them.", ge=0)] = 0
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()
    tables: OtherTables = {}
    is_look: Annotated[
        bool,
        Meta(
            description="True where the rows only help to choose a table or a value: how it was "
            "read is then told only if no other call worked with one."
        ),
    ] = False


class TableQuery(_TableTool):
    """`table_query`: one read-only statement over the tables of the workbench.

    Args:
        tables: The typed tables that are kept.
        limits: Time, memory and threads of a statement, and rows of a window.
    """

    name: ClassVar[str] = "table_query"
    wire_method: ClassVar[str] = "TabularQuery"
    description = (
        "Run one read-only SQL statement (DuckDB: SELECT, WITH, FROM, DESCRIBE, SUMMARIZE). The "
        "table at path is called data; every other table of the workbench is called as its file "
        'is, in double quotes ("orders.csv", "in/2024/a.csv"), a sheet "book.xlsx"."Sheet"; SHOW '
        "TABLES lists them, and `tables` gives them short names. Join them as you need. Column "
        "names as in table_get_map, in double "
        "quotes where they hold blanks. Texts have no blanks around them and compare to the "
        "letter: lower() ignores capitals. Count first (SELECT count(*) FROM data), then fetch "
        "windows with window_rows and window_offset and an ORDER BY. Let SQL compute sums and "
        "groups; do not add up rows yourself. No file outside of the workbench can be reached."
    )
    arguments = QueryArguments
    preload: ClassVar[tuple[str, ...]] = ("kbd_tables.sandbox:warm_up",)

    def __init__(self, tables: TableCache, limits: QueryLimits) -> None:
        super().__init__(tables)
        self._limits = limits

    async def run(self, context: ToolContext, arguments: QueryArguments) -> ToolResult:
        """Return a window of the rows, and how many there are.

        Raises:
            ValidationFailed: The statement is refused; the message names what is near.
            ToolTimeout: It needs more time or memory than it may use.
        """
        if arguments.window_rows > self._limits.query_rows:
            raise ValidationFailed(
                f"window_rows is {arguments.window_rows}; a window has at most "
                f"{self._limits.query_rows} rows"
            )
        place = await self._tables.place(context, arguments.ref)
        others = other_refs(arguments.tables)
        total = KnownTotal(context, place, arguments.query, others)
        window = {"rows": arguments.window_rows, "offset": arguments.window_offset}
        known = await total.find()
        call = StatementCall(
            ref=arguments.ref,
            sql=arguments.query,
            limits=self._limits,
            job=jobs.query,
            arguments={"window": window, "total": known},
            tables=others,
        )
        found = await ask_tables(self._tables, context, call)
        if known is None and found.answer["is_timeless"] and _is_part(found.answer):
            await total.keep(found.answer["total_row_count"])
        return _result(arguments, found)


def _is_part(found: dict[str, Any]) -> bool:
    """Tell whether a window is not all: for one that is, nothing is counted."""
    return bool(len(found["rows"]) < found["total_row_count"])


def _result(arguments: QueryArguments, answered: Answered) -> ToolResult:
    """Return the window as the contract's section 4 names its parts."""
    found = answered.answer
    rows, total = found["rows"], found["total_row_count"]
    value: dict[str, Any] = {
        "columns": found["columns"],
        "column_types": found["column_types"],
        "rows": rows,
        "row_count": len(rows),
        "total_row_count": total,
        "window_rows": arguments.window_rows,
        "window_offset": arguments.window_offset,
        "has_more": bool(rows) and arguments.window_offset + len(rows) < total,
        "query_elapsed_ms": found["elapsed_ms"],
    }
    warnings = answer_warnings(answered)
    # A window that holds all rows holds them in whatever order.
    if not found["is_ordered"] and (value["has_more"] or arguments.window_offset):
        warnings.append("no ORDER BY: the windows of this query may overlap or miss rows")
    if found["is_cut"]:
        warnings.append("the window is too large and was cut; go on at a higher window_offset")
    if warnings:
        value["warnings"] = warnings
    return ToolResult(
        value, measured=("query_elapsed_ms",), told=answer_told(answered),
        is_look=arguments.is_look,
    )  # fmt: skip


def answer_warnings(answered: Answered) -> list[str]:
    """Return what a model must know of the rows that a statement was answered with."""
    found = answered.answer
    lost = [lost_figures_note(found["lost_figures"])] if found["lost_figures"] else []
    return [
        *answered.warnings, *answered.sum_notes, *lost, *found["hints"], *found["spellings"]
    ]  # fmt: skip


def answer_told(answered: Answered) -> tuple[str, ...]:
    """Return what a person must know of them."""
    return (*answered.told, *answered.answer["spellings"])
