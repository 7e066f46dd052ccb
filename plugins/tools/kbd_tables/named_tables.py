"""Statements over the tables of a workbench: which of them a call brings, and what it answers.

Only the tables that a statement names are read. Which these are tells its syntax tree, and that is
made in the worker. So a call brings what is cached already and may be named; where more is needed
the worker says so before it loads anything, and is called again with that. A statement over `data`,
or over tables that are cached, takes one call.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.tools import ToolContext
from kbd_tables.cache import OpenTable, TableCache, TableRef, is_table, tabular_handler
from kbd_tables.jobs import QueryLimits, worker_limits
from kbd_tables.table_names import DATA, TableCatalog, TableName

__all__ = ["Answered", "KnownTotal", "StatementCall", "ask_many", "ask_tables"]

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
        tables: Other tables by the names that the call gives them.
        more: Further statements over the same tables, of `ask_many`.
        labels: What each statement is for, where there are several.
    """

    ref: TableRef
    sql: str
    limits: QueryLimits
    job: Callable[..., Any]
    arguments: Mapping[str, Any]
    tables: Mapping[str, TableRef] = {}
    more: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        """All its statements."""
        return (self.sql, *self.more)


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
        NotFound: There is no file as `data`, or another table that is given a name, is called.
        ValidationFailed: One is not a table, or the statement is refused.
        FileReadFailed: A table cannot be read.
        ToolTimeout: It needs more time or memory than it may use.
    """
    asked = await _ask(tables, context, call)
    (answered,) = _answers(context, call, asked, [asked.answer])
    return answered


async def ask_many(
    tables: TableCache, context: ToolContext, call: StatementCall
) -> tuple[Answered, ...]:
    """Run several statements in one call of the worker; raises as `ask_tables`.

    Returns:
        An answer for each, of the job's `answers`.
    """
    asked = await _ask(tables, context, call)
    return _answers(context, call, asked, asked.answer["answers"])


class _Asked(msgspec.Struct, frozen=True):
    """What a job answered, and the tables that were at hand."""

    answer: dict[str, Any]
    data: TableName
    opened: Mapping[TableName, OpenTable]


def _answers(
    context: ToolContext, call: StatementCall, asked: _Asked, answers: Sequence[dict[str, Any]]
) -> tuple[Answered, ...]:
    """Return the answer of each statement with the tables that it reads, which are noted."""
    found = []
    for sql, answer in zip(call.statements, answers, strict=True):
        reads = [msgspec.convert(each, TableName) for each in answer["reads"]]
        read = {name: asked.opened[name] for name in reads}
        found.append(Answered(sql, answer, asked.data, read))
    # What was found in the cache, too: it is noted the same when it has to be made.
    for table in {name: table for each in found for name, table in each.tables.items()}.values():
        table.note(context)
    return tuple(found)


async def _ask(tables: TableCache, context: ToolContext, call: StatementCall) -> _Asked:
    """Run the statements of a call, with the tables that they turn out to need."""
    file = context.files.get(call.ref.path)
    tabular_handler(context, file)
    given = []
    for called, ref in call.tables.items():
        other = context.files.get(ref.path)
        tabular_handler(context, other)
        given.append(TableName(other.name, ref.sheet, called))
    names = [name for name in context.files.names() if is_table(context, name)]
    data = TableName(file.name, call.ref.sheet)
    catalog = TableCatalog(data, tuple(names), tuple(given))
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
            return _Asked(answer, data, opened)
        if len(opened) + len(needs) > _MAX_TABLES:
            raise ValidationFailed(f"the query names more than {_MAX_TABLES} tables")
        for name in needs:
            opened[name] = await tables.open(context, _ref(call, catalog, name))


def _ref(call: StatementCall, catalog: TableCatalog, name: TableName) -> TableRef:
    """Return which table a name means, with what the call says of how it is read."""
    if name.given:
        return call.tables[name.given]
    return call.ref if name == catalog.data else TableRef(name.file, name.sheet)


async def _likely(
    tables: TableCache, context: ToolContext, call: StatementCall, catalog: TableCatalog
) -> dict[TableName, OpenTable]:
    """Return the tables that cost nothing to bring, or are surely asked for."""
    text = unicodedata.normalize("NFC", "\n".join(call.statements)).casefold()
    words = set(re.findall(r"\w+", text))
    found: dict[TableName, OpenTable] = {}
    if DATA in words:
        found[catalog.data] = await tables.open(context, call.ref)
    for table in catalog.given[: _MAX_TABLES - 1]:
        if table.given.casefold() in words:
            found[table] = await tables.open(context, _ref(call, catalog, table))
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
        "more": call.more,
        "labels": call.labels,
    }
    size = sum(table.size_bytes for table in opened.values())
    limits = worker_limits(call.limits, size, len(call.statements))
    answer = await context.isolate(
        call.job, {"question": question, **call.arguments}, limits=limits
    )
    assert isinstance(answer, dict)
    return answer


class KnownTotal:
    """How many rows a statement makes, kept beside the table, so that each window need not count.

    Args:
        context: The call that asks.
        table: The table that is called `data`.
        sql: The statement.
        given: Other tables by the names that the call gives them.
    """

    def __init__(
        self, context: ToolContext, table: Path, sql: str, given: Mapping[str, TableRef]
    ) -> None:
        files = [context.files.get(name) for name in context.files.names()]
        # Any of the tables may be named in it: with each other content it is counted anew.
        parts = [sql, *(f"{file.name}\0{file.blob}\0{file.read_as}" for file in files)]
        parts += [f"{name}\0{ref}" for name, ref in sorted(given.items())]
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
