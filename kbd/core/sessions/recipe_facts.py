"""Facts of the files that a recipe is learned from, asked of the tools for tables."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from kbd.core.sessions.scratch_calls import ScratchCalls
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.recipes.facts import (
    MAX_KNOWN_VALUES,
    ColumnFacts,
    InputFacts,
    KnownFigure,
    LearnedFacts,
)
from kbd.jobs.records import Input, Job
from kbd.jobs.shapes import GivenTable, misfits
from kbd.jobs.sql_text import identifier
from kbd.types import ReadAs

__all__ = [
    "BoundTable",
    "bound_job",
    "bound_tables",
    "learned_facts",
    "named_tables",
    "tables_arguments",
]

_DATA = "data"
"""What the table of a call is called in its statements."""

_VALUE_COLUMNS = 60
"""Columns whose values are looked at."""

_PAGE_ROWS = 500
_FIGURES = (("sum", "the sum of"), ("min", "the least"), ("max", "the greatest"))


class BoundTable(msgspec.Struct, frozen=True):
    """An input of a job that is a table, with the file that it is.

    Args:
        name: The input's name.
        path: The file.
        sheet: The sheet, where one has to be named.
        read_as: How it is read, as plain values.
        columns: Its columns.
        row_count: Its rows.
    """

    name: str
    path: str
    sheet: str | None
    read_as: Mapping[str, Any]
    columns: tuple[ShapeColumn, ...]
    row_count: int

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that name it to a tool for tables."""
        named: dict[str, Any] = {"path": self.path}
        if self.sheet:
            named["source_sheet"] = self.sheet
        if self.read_as:
            named["read_as"] = dict(self.read_as)
        return named

    @property
    def given(self) -> GivenTable:
        """The table as steps read it."""
        return GivenTable(self.columns, self.path)


def tables_arguments(tables: Sequence[BoundTable]) -> dict[str, Any]:
    """Return the arguments that name all tables of a job to a tool that runs statements."""
    first = next((each for each in tables if each.name.lower() == _DATA), tables[0])
    others = {each.name: each.arguments for each in tables if each.name.lower() != _DATA}
    return {**first.arguments, **({"tables": others} if others else {})}


def bound_job(job: Job, checked: Mapping[str, Any]) -> Job:
    """Return a job with the files that its inputs are, as `check_job` found them."""
    paths = {each["name"]: each["path"] for each in checked["inputs"]}
    inputs = tuple(msgspec.structs.replace(each, file=paths[each.name]) for each in job.inputs)
    return msgspec.structs.replace(job, inputs=inputs)


def named_tables(job: Job, checked: Mapping[str, Any]) -> tuple[BoundTable, ...]:
    """Return the inputs of a job that are tables, as `check_job` found them, without columns."""
    found = {each["name"]: each for each in checked["inputs"]}
    return tuple(
        BoundTable(
            each.name, found[each.name]["path"], found[each.name]["sheet"],
            msgspec.to_builtins(each.read_as), (), 0,
        )
        for each in job.inputs
        if each.kind == "table"
    )  # fmt: skip


async def bound_tables(
    calls: ScratchCalls, job: Job, checked: Mapping[str, Any]
) -> tuple[BoundTable, ...]:
    """Return the inputs of a job that are tables, as `check_job` found them.

    Raises:
        KbdError: A file cannot be read.
    """
    tables: list[BoundTable] = []
    for one in named_tables(job, checked):
        mapped = await calls.call("table_get_map", **one.arguments)
        columns = tuple(ShapeColumn(c["name"], c["type"]) for c in mapped["columns"])
        tables.append(
            msgspec.structs.replace(one, columns=columns, row_count=int(mapped["row_count"]))
        )
    return tuple(tables)


async def learned_facts(calls: ScratchCalls, job: Job, checked: Mapping[str, Any]) -> LearnedFacts:
    """Return the facts of a job's inputs.

    Args:
        calls: Calls on the files that it ran on.
        job: The job.
        checked: What `check_job` says of it.

    Raises:
        KbdError: A file cannot be read.
    """
    tables = {each.name: each for each in await bound_tables(calls, job, checked)}
    paths = {each["name"]: each["path"] for each in checked["inputs"]}
    inputs: list[InputFacts] = []
    for each in job.inputs:
        table = tables.get(each.name)
        if table is None:
            inputs.append(InputFacts(each.name, paths[each.name], kind="file"))
            continue
        columns = await _columns(calls, table)
        alike = await _alike_sheets(calls, each, table)
        inputs.append(
            InputFacts(each.name, table.path, columns, table.row_count, alike_sheets=alike)
        )
    return LearnedFacts(tuple(inputs))


async def _columns(calls: ScratchCalls, table: BoundTable) -> tuple[ColumnFacts, ...]:
    counts = [f"count(DISTINCT {identifier(each.name)})" for each in table.columns]
    (distinct,) = await _rows(calls, table, f"SELECT {', '.join(counts)} FROM {_DATA}", 1)
    facts: list[ColumnFacts] = []
    for place, (column, count) in enumerate(zip(table.columns, distinct, strict=True)):
        values: tuple[str, ...] = ()
        figures: tuple[KnownFigure, ...] = ()
        if place < _VALUE_COLUMNS:
            values = await _values(calls, table, column)
            figures = await _figures(calls, table, column)
        facts.append(ColumnFacts(column.name, column.type, values, int(count), figures))
    return tuple(facts)


async def _values(calls: ScratchCalls, table: BoundTable, column: ShapeColumn) -> tuple[str, ...]:
    name = identifier(column.name)
    sql = f"SELECT DISTINCT {name} FROM {_DATA} WHERE {name} IS NOT NULL ORDER BY 1"
    rows = await _rows(calls, table, sql, MAX_KNOWN_VALUES)
    return tuple(str(row[0]) for row in rows)


async def _figures(
    calls: ScratchCalls, table: BoundTable, column: ShapeColumn
) -> tuple[KnownFigure, ...]:
    if column.type not in ("integer", "float"):
        return ()
    name = identifier(column.name)
    asked = ", ".join(f"{function}({name})" for function, _ in _FIGURES)
    (row,) = await _rows(calls, table, f"SELECT {asked} FROM {_DATA}", 1)
    found: list[KnownFigure] = []
    for value, (_, text) in zip(row, _FIGURES, strict=True):
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            continue
        found.append(KnownFigure(number, f"{text} {column.name} in {table.path}"))
    return tuple(found)


async def _rows(
    calls: ScratchCalls, table: BoundTable, sql: str, limit: int
) -> list[Sequence[Any]]:
    """Return the first rows of a statement, page by page."""
    rows: list[Sequence[Any]] = []
    while len(rows) < limit:
        found = await calls.call(
            "table_query", **table.arguments, query=sql, window_offset=len(rows),
            window_rows=min(_PAGE_ROWS, limit - len(rows)),
        )  # fmt: skip
        rows += found["rows"]
        if not found["rows"] or len(rows) >= int(found["total_row_count"]):
            break
    return rows


async def _alike_sheets(calls: ScratchCalls, asked: Input, table: BoundTable) -> tuple[str, ...]:
    """Return the other sheets of the file that have the columns, too."""
    if not table.sheet:
        return ()
    info = await calls.call("get_file_info", path=table.path)
    others = [
        str(sheet["name"])
        for sheet in info.get("sheets", ())
        if sheet.get("range") and sheet["name"] != table.sheet
    ]
    plain = msgspec.structs.replace(asked, sheet=None, read_as=ReadAs())
    alike: list[str] = []
    for name in others:
        mapped = await calls.call("table_get_map", path=table.path, source_sheet=name)
        columns = tuple(ShapeColumn(c["name"], c["type"]) for c in mapped["columns"])
        if not misfits(plain, GivenTable(columns, table.path)):
            alike.append(name)
    return tuple(alike)
