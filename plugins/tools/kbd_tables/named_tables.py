"""Statements over the tables of a workbench: which of them a call brings, and what it answers.

Only the tables that a statement names are read. Which these are tells its syntax tree, and that is
made in the worker. So a call brings what is cached already and may be named; where more is needed
the worker says so before it loads anything, and is called again with that. A statement over `data`,
or over tables that are cached, takes one call.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.tools import ToolContext
from kbd_tables.cache import OpenTable, TableCache, TableRef, is_table, tabular_handler
from kbd_tables.jobs import QueryLimits, worker_limits
from kbd_tables.table_names import DATA, TableCatalog, TableName

__all__ = ["Answered", "KnownTotal", "StatementCall", "ask_tables"]

_MAX_TABLES = 64
"""Tables that one statement may name."""


class StatementCall(msgspec.Struct, frozen=True):
    """A statement, and the job that runs it.

    Args:
        ref: The table that is called `data`.
        sql: The statement.
        limits: Its time, memory and threads.
        job: Takes the plain `kbd_tables.sandbox.TableQuestion`, and `arguments`.
        arguments: What else the job takes.
    """

    ref: TableRef
    sql: str
    limits: QueryLimits
    job: Callable[..., Any]
    arguments: Mapping[str, Any]


class Answered(msgspec.Struct, frozen=True):
    """What a job answered, and the tables that the statement reads.

    Args:
        sql: The statement.
        answer: As the job tells it.
        data: Which of the tables is called `data`.
        tables: Those that it read.
    """

    sql: str
    answer: dict[str, Any]
    data: TableName
    tables: Mapping[TableName, OpenTable]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The tables' warnings, those of other tables than `data` with their names."""
        return tuple(
            warning if name == self.data else f"{table.name}: {warning}"
            for name, table in self.tables.items()
            for warning in table.record.warnings
        )

    @property
    def told(self) -> tuple[str, ...]:
        """What a person must know of how the tables were read, and of sums that mean nothing."""
        return tuple(
            sentence
            for table in self.tables.values()
            for sentence in (
                *table.told,
                *table.column_facts(table.named(self.sql)),
                *table.sum_facts(table.summed(self.sql)),
                *table.currency_facts(self.sql),
                *table.spelling_facts(self.sql, self.answer["matched"]),
            )
        )

    @property
    def sum_notes(self) -> list[str]:
        """Notes on sums that mean nothing, or are of several currencies, for a model."""
        return [
            note
            for table in self.tables.values()
            for note in (
                *table.sum_notes(table.summed(self.sql)),
                *table.currency_facts(self.sql),
            )
        ]


async def ask_tables(tables: TableCache, context: ToolContext, call: StatementCall) -> Answered:
    """Run a statement on the tables that it names.

    Raises:
        NotFound: There is no file as `data` is called.
        ValidationFailed: One is not a table, or the statement is refused.
        FileReadFailed: A table cannot be read.
        ToolTimeout: It needs more time or memory than it may use.
    """
    file = context.files.get(call.ref.path)
    tabular_handler(context, file)
    names = [name for name in context.files.names() if is_table(context, name)]
    data = TableName(file.name, call.ref.sheet)
    catalog = TableCatalog(data, tuple(names))
    opened = await _likely(tables, context, call, catalog)
    is_repaired = False
    while True:
        try:
            answer = await _run(context, call, catalog, opened)
        except FileReadFailed as error:
            if is_repaired or not error.detail.get("stale_table"):
                raise
            # Which of them is damaged is not told.
            is_repaired = True
            for name, table in opened.items():
                await tables.forget(table)
                opened[name] = await tables.open(context, _ref(call, catalog, name))
            continue
        needs = [msgspec.convert(each, TableName) for each in answer.get("needs", ())]
        if not needs:
            reads = [msgspec.convert(each, TableName) for each in answer["reads"]]
            read = {name: opened[name] for name in reads}
            # What was found in the cache, too: it is noted the same when it has to be made.
            for table in read.values():
                table.note(context)
            return Answered(call.sql, answer, data, read)
        if len(opened) + len(needs) > _MAX_TABLES:
            raise ValidationFailed(f"the query names more than {_MAX_TABLES} tables")
        for name in needs:
            opened[name] = await tables.open(context, _ref(call, catalog, name))


def _ref(call: StatementCall, catalog: TableCatalog, name: TableName) -> TableRef:
    """Return which table a name means; what was said of how to read one is said of `data`."""
    return call.ref if name == catalog.data else TableRef(name.file, name.sheet)


async def _likely(
    tables: TableCache, context: ToolContext, call: StatementCall, catalog: TableCatalog
) -> dict[TableName, OpenTable]:
    """Return the tables that cost nothing to bring, or are surely asked for."""
    text = unicodedata.normalize("NFC", call.sql).casefold()
    found: dict[TableName, OpenTable] = {}
    if re.search(rf"\b{DATA}\b", text):
        found[catalog.data] = await tables.open(context, call.ref)
    for file in catalog.files:
        name = TableName(file)
        stem = unicodedata.normalize("NFC", PurePosixPath(file).stem).casefold()
        if stem not in text or name in found or len(found) >= _MAX_TABLES:
            continue
        cached = await tables.find(context, _ref(call, catalog, name))
        if cached is not None:
            found[name] = cached
    return found


async def _run(
    context: ToolContext,
    call: StatementCall,
    catalog: TableCatalog,
    opened: Mapping[TableName, OpenTable],
) -> dict[str, Any]:
    question = {
        "sql": call.sql,
        "catalog": msgspec.to_builtins(catalog),
        "tables": [
            {
                "name": msgspec.to_builtins(name),
                "parquet": table.parquet,
                "columns": [msgspec.structs.astuple(column) for column in table.record.columns],
                "row_count": table.record.row_count,
                "questions": msgspec.to_builtins(table.record.reading.questions),
            }
            for name, table in opened.items()
        ],
        "limits": msgspec.to_builtins(call.limits),
        "now_us": context.now_us,
    }
    size = sum(table.size_bytes for table in opened.values())
    answer = await context.isolate(
        call.job, {"question": question, **call.arguments}, limits=worker_limits(call.limits, size)
    )
    assert isinstance(answer, dict)
    return answer


class KnownTotal:
    """How many rows a statement makes, kept beside the table, so that each window need not count.

    Args:
        context: The call that asks.
        table: The table that is called `data`.
        sql: The statement.
    """

    def __init__(self, context: ToolContext, table: Path, sql: str) -> None:
        files = [context.files.get(name) for name in context.files.names()]
        # Any of the tables may be named in it: with each other content it is counted anew.
        parts = [sql, *(f"{file.name}\0{file.blob}\0{file.read_as}" for file in files)]
        digest = hashlib.sha256("\0\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]
        self._context = context
        self._path = anyio.Path(table.with_name(f"{table.name}.{digest}"))

    async def find(self) -> int | None:
        """Return it if it was counted before."""
        try:
            return msgspec.msgpack.decode(await self._path.read_bytes(), type=int)
        except (OSError, msgspec.DecodeError):
            return None

    async def keep(self, total: int) -> None:
        """Keep it."""
        staged = anyio.Path(self._context.files.stage())
        await staged.write_bytes(msgspec.msgpack.encode(total))
        await staged.replace(self._path)
