"""Trials of requests in one process: tables by the real tools, jobs compiled and run on DuckDB."""

import csv
import io
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import duckdb
import msgspec

from kbd.jobs.columns import ShapeColumn
from kbd.jobs.records import (
    ConvertStep,
    FillStep,
    Job,
    ReplaceStep,
    ReportStep,
    SplitStep,
    WriteStep,
)
from kbd.jobs.shapes import GivenTable
from kbd.jobs.statements import compile_job, pivot_values, split_values
from kbd.testing.tools import Workbench
from kbd_csv import CsvFormat
from kbd_offline.facts import KnownTable
from kbd_offline.inspection import known_table, value_query
from kbd_offline.request import Declined, Question, Reading, Understood, read_request
from kbd_tables import kbd_register_tools as table_tools

TODAY = date(2026, 11, 29)

_DUCK = {
    "string": "VARCHAR", "integer": "BIGINT", "float": "DOUBLE", "date": "DATE",
    "datetime": "TIMESTAMP", "boolean": "BOOLEAN", "time": "TIME",
}  # fmt: skip


class Trial(msgspec.Struct):
    """What came of a request: its reading, and rows of each output.

    Args:
        reading: The reading.
        results: By file, sheet or value the headings and rows of each output.
    """

    reading: Reading
    results: dict[str, list[list[Any]]]

    @property
    def rows(self) -> list[list[Any]]:
        """The rows of the only output, its headings first."""
        (rows,) = self.results.values()
        return rows


class Bench:
    """Tables to try requests on.

    Args:
        root: A folder for files.
        files: Texts of csv files by name.
    """

    def __init__(self, root: Path, files: dict[str, str]) -> None:
        self._files = files
        self._workbench = Workbench(root, [CsvFormat()])
        for name, text in files.items():
            self._workbench.add(name, text)
        self._tools = {tool.name: tool for tool in table_tools({}, self._workbench.formats)}
        self._facts = {name: anyio.run(self._described, name) for name in files}

    async def _described(self, path: str) -> tuple[Any, Any]:
        table_map = await self._workbench.call(self._tools["table_get_map"], path=path)
        described = await self._workbench.call(self._tools["table_describe"], path=path)
        return table_map.value, described.value

    def tables(self, request: str) -> list[KnownTable]:
        """Return the tables as a request is read against them."""
        found = []
        for path, (table_map, described) in self._facts.items():
            connection = self._connection(path, "data")
            rows = []
            if described["row_count"]:
                rows = connection.execute(value_query(described, request)).fetchall()
            found.append(known_table(path, "", table_map, described, rows))
        return found

    def read(self, request: str) -> Reading:
        """Return the reading of a request."""
        return read_request(request, self.tables(request), list(self._files), TODAY)

    def ask(self, request: str) -> Trial:
        """Read a request and run its job."""
        reading = self.read(request)
        if isinstance(reading, Understood):
            return Trial(reading, self._run(reading.job))
        assert isinstance(reading, Declined | Question)
        return Trial(reading, {})

    def _connection(
        self, path: str, name: str, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyConnection:
        connection = connection or duckdb.connect()
        _, described = self._facts[path]
        columns = [(str(c["name"]), _DUCK[c["inferred_type"]]) for c in described["columns"]]
        delimiter = self._facts[path][0].get("delimiter", ",")
        rows = list(csv.reader(io.StringIO(self._files[path]), delimiter=delimiter))[1:]
        quoted = ", ".join('"' + n.replace('"', '""') + f'" {kind}' for n, kind in columns)
        connection.execute(f'CREATE TABLE "{name}" ({quoted})')
        marks = ", ".join("?" * len(columns))
        for row in rows:
            if any(row):
                decimal = self._facts[path][0].get("reading", {}).get("decimal", ".")
                kinds = [kind for _, kind in columns]
                pairs = zip(row, kinds, strict=True)
                values = [_plain(cell.strip(), kind, decimal) for cell, kind in pairs]
                connection.execute(f'INSERT INTO "{name}" VALUES ({marks})', values)
        return connection

    def _given(self, job: Job) -> dict[str, GivenTable]:
        return {
            each.name: GivenTable(
                tuple(
                    ShapeColumn(str(c["name"]), c["inferred_type"])
                    for c in self._facts[each.file][1]["columns"]
                ),
                each.file,
            )
            for each in job.inputs
            if each.kind == "table"
        }

    def _run(self, job: Job) -> dict[str, list[list[Any]]]:
        connection = duckdb.connect()
        for each in job.inputs:
            if each.kind == "table":
                self._connection(each.file, each.name, connection)
        given, pivots = self._given(job), {}
        turn = compile_job(job, given, TODAY)
        while turn.wanted:
            for want in turn.wanted:
                pivots[want.step] = pivot_values(want, connection.execute(want.sql).fetchall())
            turn = compile_job(job, given, TODAY, pivots)
        results: dict[str, list[list[Any]]] = {}
        for number, step in enumerate(job.steps, 1):
            source = turn.shapes.sources[number - 1]
            match step:
                case SplitStep():
                    found = split_values(connection.execute(turn.values(number)).fetchall())
                    for value in found:
                        sql = turn.part(number, value.value)
                        results[f"{step.file}: {value.value}"] = _rows(connection, sql)
                case WriteStep() | ReportStep() | ConvertStep() if source is not None:
                    label = "answer" if isinstance(step, ReportStep) else step.file
                    if (
                        isinstance(step, WriteStep)
                        and step.sheet == "Summary"
                        and label in str(results)
                    ):
                        label += ": Summary"
                    results[label] = _rows(connection, turn.rows(source))
                case FillStep() | ReplaceStep():
                    pass
                case _:
                    pass
        return results


def _plain(cell: str, kind: str, decimal: str) -> str | None:
    """Return a cell as the database reads it."""
    if kind == "DATE" and cell.count(".") == 2:
        return "-".join(reversed(cell.split(".")))
    if kind == "DOUBLE" and decimal == ",":
        cell = cell.replace(".", "").replace(",", ".")
    return cell or None


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[list[Any]]:
    found = connection.execute(sql)
    names = [one[0] for one in found.description or ()]
    return [names, *(list(row) for row in found.fetchall())]
