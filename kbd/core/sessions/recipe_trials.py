"""Trials of a recipe's job: carried out on changed inputs in a scratch place, and compared.

A changed input is a file of its own beside those that the job ran on. Where it is the sum of parts,
the job is carried out on each part as well, and their results must be those of the whole.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from kbd.core.sessions.recipe_facts import BoundTable, bound_tables, named_tables, tables_arguments
from kbd.core.sessions.scratch_calls import ScratchCalls
from kbd.errors import ValidationFailed
from kbd.jobs.columns import ShapeType
from kbd.jobs.output_shapes import with_output_names
from kbd.jobs.recipes.column_use import ColumnUse, column_use
from kbd.jobs.recipes.trial_checks import (
    ResultTable,
    additive_tables,
    order_free_tables,
    parts_faults,
    same_faults,
)
from kbd.jobs.recipes.trial_tables import (
    Change,
    ChangedTable,
    TableRow,
    TableValue,
    TrialTable,
    changed_inputs,
)
from kbd.jobs.records import Job, ReplaceStep
from kbd.jobs.shapes import JobShapes, shapes_of
from kbd.jobs.sql_text import identifier, text_literal
from kbd.types import ReadAs

__all__ = ["MIN_TRIALS", "JobTrials", "TriedChange", "try_job"]

MIN_TRIALS = 2
"""Changed inputs that must hold."""

_SAMPLE_ROWS = 60
"""Rows of an input that changed ones are made of."""

_RESULT_ROWS = 1_000

_MAX_ALIKE = 2
"""Changes of one kind that are tried."""

_SEED = 25
_SQL_TYPES: dict[ShapeType, str] = {
    "integer": "BIGINT", "float": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE",
    "datetime": "TIMESTAMP",
}  # fmt: skip


class TriedChange(msgspec.Struct, frozen=True):
    """A changed input that a job was tried with.

    Args:
        input: The input.
        change: What was changed.
        text: The same in words.
        stopped: The guard that stopped it; "" if it was carried out.
        compared: How many of its results were compared with those of the parts.
        result: Its first result.
    """

    input: str
    change: Change
    text: str
    stopped: str = ""
    compared: int = 0
    result: ResultTable | None = None


class JobTrials(msgspec.Struct, frozen=True):
    """All trials of a job: the changes, and where a result was wrong."""

    changes: tuple[TriedChange, ...]
    faults: tuple[str, ...]


async def try_job(calls: ScratchCalls, job: Job) -> JobTrials:
    """Try a job of a recipe with changed inputs.

    Args:
        calls: Calls on the files that it was learned from.
        job: The job as the recipe has it.

    Raises:
        KbdError: It cannot be carried out on these files themselves, or they cannot be changed.
    """
    checked = await calls.call("check_job", job=msgspec.to_builtins(job))
    tables = await bound_tables(calls, job, checked)
    trials = _Trials(calls, job, checked, tables)
    changes: list[TriedChange] = []
    for table in tables:
        changes += await trials.of(table)
    return JobTrials(tuple(changes), tuple(trials.faults))


class _Trials:
    """Trials of one job.

    Args:
        calls: Calls on the files that it was learned from.
        job: The job as the recipe has it.
        checked: What `check_job` says of it.
        tables: Its inputs that are tables.
    """

    def __init__(
        self,
        calls: ScratchCalls,
        job: Job,
        checked: dict[str, Any],
        tables: Sequence[BoundTable],
    ) -> None:
        self.faults: list[str] = []
        self._calls, self._job, self._tables = calls, job, tables
        self._paths = {each["name"]: each["path"] for each in checked["inputs"]}
        given = {each.name: each.given for each in tables}
        self._shapes: JobShapes = shapes_of(job, given)
        self._use: ColumnUse = column_use(job, given)
        self._made = 0

    async def of(self, table: BoundTable) -> list[TriedChange]:
        """Try the job with changed copies of one of its inputs."""
        sample = await _sample(self._calls, table)
        used, categories, keys = (
            [use.column.name for use in some if use.input == table.name]
            for some in (self._use.used, self._use.categories, self._use.keys)
        )
        changed = _some_of_each(changed_inputs(sample, used, categories, keys, _SEED))
        plain: dict[int, ResultTable] | None = None
        if changed:
            plain = await self._results(table, sample.rows)
        return [await self._try(table, each, plain or {}) for each in changed]

    async def _try(
        self, table: BoundTable, change: ChangedTable, plain: dict[int, ResultTable]
    ) -> TriedChange:
        text = f"{table.name}: {change.text}"
        try:
            results = await self._results(table, change.table.rows, carry_out=True)
        except ValidationFailed as guard:
            return TriedChange(table.name, change.change, text, stopped=guard.message)
        compared = 0
        if change.change == "shuffled":
            free = order_free_tables(self._job, self._shapes)
            for number, result in results.items():
                if self._shapes.sources[number - 1] in free and number in plain:
                    compared += 1
                    self._note(text, number, same_faults(plain[number], result))
        if change.parts:
            compared += await self._compare_parts(table, change, text, results)
        first = next(iter(results.values()), None)
        return TriedChange(table.name, change.change, text, compared=compared, result=first)

    async def _compare_parts(
        self, table: BoundTable, change: ChangedTable, text: str, results: dict[int, ResultTable]
    ) -> int:
        additive = additive_tables(self._job, self._shapes, table.name)
        sources = {n: self._shapes.sources[n - 1] for n in results}
        wanted = [n for n, source in sources.items() if source in additive]
        if not wanted:
            return 0
        try:
            is_whole = change.whole == change.table.rows
            whole = results if is_whole else await self._results(table, change.whole)
            parts = [await self._results(table, rows) for rows in change.parts]
        except ValidationFailed:
            # A guard may stop at a part that is no file of its own; then nothing is compared.
            return 0
        compared = 0
        for number in wanted:
            if number in whole and all(number in part for part in parts):
                compared += 1
                faults = parts_faults(
                    whole[number], [part[number] for part in parts],
                    additive[sources[number] or ""],
                )  # fmt: skip
                self._note(text, number, faults)
        return compared

    def _note(self, text: str, number: int, faults: Sequence[str]) -> None:
        self.faults += [f"{text}: step {number}: {fault}" for fault in faults[:3]]

    async def _results(
        self, table: BoundTable, rows: Sequence[TableRow], *, carry_out: bool = False
    ) -> dict[int, ResultTable]:
        """Return what each step writes or answers for other rows of an input, by its number.

        Raises:
            ValidationFailed: A guard stops it.
        """
        self._made += 1
        folder = f"trial-{self._made}"
        path = f"{folder}/{table.path.rpartition('/')[2]}"
        await self._calls.call(
            "table_export", **table.arguments, query=_rows_sql(table, rows), target_path=path,
            format=self._calls.format_of(path),
        )  # fmt: skip
        job = _on_files(self._job, {**self._paths, table.name: path}, table.name, folder)
        plain = msgspec.to_builtins(job)
        if carry_out:
            await self._calls.call("run_job", job=plain)
        checked = await self._calls.call("check_job", job=plain)
        if checked["failed"]:
            raise ValidationFailed("; ".join(checked["failed"]))
        tables = named_tables(job, checked)
        found: dict[int, ResultTable] = {}
        for each in checked["sql"]:
            asked = await self._calls.call(
                "table_query", **tables_arguments(tables), query=each["sql"],
                window_rows=_RESULT_ROWS,
            )  # fmt: skip
            if len(asked["rows"]) == int(asked["total_row_count"]):
                found[each["step"]] = ResultTable(
                    tuple(asked["columns"]), tuple(map(tuple, asked["rows"]))
                )
        return found


def _some_of_each(changed: Sequence[ChangedTable]) -> tuple[ChangedTable, ...]:
    """Return the first changes of each kind: of many columns not each one is emptied."""
    seen: Counter[Change] = Counter()
    kept: list[ChangedTable] = []
    for each in changed:
        seen[each.change] += 1
        if seen[each.change] <= _MAX_ALIKE:
            kept.append(each)
    return tuple(kept)


async def _sample(calls: ScratchCalls, table: BoundTable) -> TrialTable:
    found = await calls.call(
        "table_query", **table.arguments, query="SELECT * FROM data", window_rows=_SAMPLE_ROWS
    )
    kinds = [each.type for each in table.columns]
    rows = tuple(
        tuple(_value(value, kind) for value, kind in zip(row, kinds, strict=True))
        for row in found["rows"]
    )
    return TrialTable(table.columns, rows)


def _value(value: Any, kind: ShapeType) -> TableValue:
    """Return a value of a result as one of a table of trials."""
    if value is None:
        return None
    match kind:
        case "date":
            return date.fromisoformat(str(value)[:10])
        case "datetime":
            return datetime.fromisoformat(str(value))
        case "float":
            return Decimal(str(value))
        case "integer":
            return int(value)
        case "boolean":
            return bool(value)
        case _:
            return str(value)


def _rows_sql(table: BoundTable, rows: Sequence[TableRow]) -> str:
    """Return a statement that gives rows with the columns and types of a table."""
    columns = [
        f"CAST(c{place} AS {_SQL_TYPES.get(column.type, 'VARCHAR')}) AS {identifier(column.name)}"
        for place, column in enumerate(table.columns)
    ]
    names = ", ".join(f"c{place}" for place in range(len(table.columns)))
    listed = ", ".join(f"({', '.join(_literals(row))})" for row in rows)
    return f"SELECT {', '.join(columns)} FROM (VALUES {listed}) AS t({names})"


def _literals(row: TableRow) -> Iterator[str]:
    for value in row:
        yield "NULL" if value is None else text_literal(str(value))


def _on_files(job: Job, paths: dict[str, str], changed: str, folder: str) -> Job:
    """Return a job that reads these files, and writes into a folder of its own."""
    inputs = tuple(
        msgspec.structs.replace(each, file=paths[each.name], sheet=None, read_as=ReadAs())
        if each.name == changed
        else msgspec.structs.replace(each, file=paths[each.name])
        for each in job.inputs
    )
    moved = with_output_names(
        job, lambda step, name: name if isinstance(step, ReplaceStep) else f"{folder}/{name}"
    )
    return msgspec.structs.replace(moved, inputs=inputs)
