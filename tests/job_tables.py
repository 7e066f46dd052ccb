"""Tables in a real DuckDB for the tests of jobs, and what a job makes of them."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import duckdb
import msgspec

from kbd.jobs.checks import Judgment, judge_checks, plan_checks
from kbd.jobs.documents import job_of
from kbd.jobs.records import Job
from kbd.jobs.shapes import GivenTable
from kbd.jobs.statements import CompiledJob, compile_job, pivot_values
from kbd_tables.statements import checked_statement

__all__ = ["TODAY", "JobTables", "TableRows", "fold", "job"]

TODAY = date(2026, 11, 29)

_SQL_TYPES = {
    "string": "VARCHAR", "integer": "BIGINT", "float": "DOUBLE", "boolean": "BOOLEAN",
    "date": "DATE", "datetime": "TIMESTAMP", "decimal": "DECIMAL(18, 2)",
}  # fmt: skip

TableRows = tuple[Mapping[str, str], Sequence[Any]]
"""Columns with their types, `decimal` for a float held as one, and the rows."""


def fold(value: str | None) -> str | None:
    """What texts are compared by where capitals do not matter; None of a blank one."""
    if value is None or not value.strip(" "):
        return None
    return unicodedata.normalize("NFC", value).lower()


def job(*steps: Any, inputs: Sequence[str] = ("t",), **more: Any) -> Job:
    """A job over tables that are called like their files."""
    named = [{"name": name, "file": f"{name}.csv"} for name in inputs]
    return job_of({"inputs": named, "steps": list(steps), **more})


class JobTables:
    """Tables by the name of the input.

    Every statement is one that the table tools admit. To open a database takes long: with
    `connection` these tables replace those that others had in it.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection | None = None, **tables: TableRows
    ) -> None:
        self.connection = connection or duckdb.connect(config={"threads": 1})
        self.given: dict[str, GivenTable] = {}
        for name, (columns, rows) in tables.items():
            quoted = ", ".join(
                f'"{column.replace(chr(34), chr(34) * 2)}" {_SQL_TYPES[kind]}'
                for column, kind in columns.items()
            )
            self.connection.execute(f'CREATE OR REPLACE TABLE "{name}" ({quoted})')
            if rows:
                marks = ", ".join([f"({', '.join('?' for _ in columns)})"] * len(rows))
                values = [value for row in rows for value in row]
                self.connection.execute(f'INSERT INTO "{name}" VALUES {marks}', values)
            shape = [
                {"name": column, "type": "float" if kind == "decimal" else kind}
                for column, kind in columns.items()
            ]
            self.given[name] = msgspec.convert(
                {"columns": shape, "file": f"{name}.csv"}, GivenTable
            )

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        return self.connection.execute(checked_statement(self.connection, sql).sql).fetchall()

    def compiled(self, asked: Job) -> CompiledJob:
        """A job with the values of all its pivots."""
        pivots: dict[int, Any] = {}
        turn = compile_job(asked, self.given, TODAY)
        while turn.wanted:
            pivots |= {want.step: pivot_values(want, self.ask(want.sql)) for want in turn.wanted}
            turn = compile_job(asked, self.given, TODAY, pivots)
        return turn

    def table(self, asked: Job, name: str | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The headings and rows of a table that a job makes; of its last one if none is named."""
        turn = self.compiled(asked)
        made = name or [each for each in turn.shapes.made if each is not None][-1]
        answer = self.connection.execute(
            checked_statement(self.connection, turn.rows(made, for_sheet=True)).sql
        )
        return [column[0] for column in answer.description or ()], answer.fetchall()

    def rows(self, *steps: Any) -> list[tuple[Any, ...]]:
        """The rows of the table that the last of some steps makes of these tables."""
        return self.table(job(*steps, inputs=list(self.given)))[1]

    def judgments(self, asked: Job) -> tuple[Judgment, ...]:
        """What comes of a job's checks."""
        plan = plan_checks(self.compiled(asked))
        return judge_checks(plan, [row for sql in plan.statements for row in self.ask(sql)])

    def told(self, *steps: Any, **more: Any) -> list[str]:
        """What comes of the checks of steps, as `outcome: text`."""
        found = self.judgments(job(*steps, inputs=list(self.given), **more))
        return [f"{each.outcome}: {each.text}" for each in found]
