"""Preparation of a job: inputs bound, steps compiled, values found, checks judged; nothing written.

What is found here (values of pivots and splits, counts, sums) is asked of the tables by
`table_query`. The checks are judged by their answers, whichever call brings them: one that writes
may ask for them, too (`table_outputs`).
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.check_rules import Outcome
from kbd.jobs.checks import CheckPlan, Judgment, judge_checks, plan_checks
from kbd.jobs.documents import job_hash
from kbd.jobs.recipes.column_use import column_doubts
from kbd.jobs.records import Job, SplitStep
from kbd.jobs.statements import (
    CompiledJob,
    SplitValue,
    compile_job,
    pivot_values,
    split_values,
)
from kbd.jobs.step_shapes import PivotValues
from kbd_jobs.inputs import BoundInput, bind_inputs
from kbd_jobs.step_calls import StepCalls

__all__ = ["MAX_PARTS", "PreparedJob", "ask", "judge", "prepare", "refuse_failed"]

MAX_PARTS = 500
"""Sheets or files of one split, as many as one call of `table_export_sheets` writes."""

_DATA = "data"

_MAX_ANSWERS = 5_000
"""Of one statement that asks for the checks; more do not fit into its length."""

_MICROSECONDS = 1_000_000


class PreparedJob(msgspec.Struct, frozen=True):
    """A job that is ready to be carried out.

    Args:
        job: The job.
        hash: Its hash.
        inputs: Its inputs by name.
        compiled: Its steps as SQL.
        parts: The values by which each split step splits, by the step's number.
        plan: The checks.
        judgments: What came of each check; none before they are judged.
    """

    job: Job
    hash: str
    inputs: Mapping[str, BoundInput]
    compiled: CompiledJob
    parts: Mapping[int, tuple[SplitValue, ...]]
    plan: CheckPlan
    judgments: tuple[Judgment, ...] = ()

    def texts(self, outcome: Outcome) -> tuple[str, ...]:
        """Return what is said of the checks that came out so."""
        return tuple(each.text for each in self.judgments if each.outcome == outcome)

    def judged_by(self, answers: Sequence[Sequence[Any]]) -> "PreparedJob":
        """Return the same with its checks judged by the rows of their statements."""
        given = {name: one.table for name, one in self.inputs.items() if one.table is not None}
        doubts = (Judgment("failed", text) for text in column_doubts(self.job, given))
        judgments = (*doubts, *judge_checks(self.plan, answers))
        return msgspec.structs.replace(self, judgments=judgments)

    @property
    def tables(self) -> dict[str, Any]:
        """The arguments that name all tables of the job to a tool that runs statements."""
        return named_tables(self.inputs)


def named_tables(inputs: Mapping[str, BoundInput]) -> dict[str, Any]:
    """Return the arguments that name tables to a tool that runs statements.

    Raises:
        ValidationFailed: There is no table.
    """
    tables = {name: each for name, each in inputs.items() if each.table is not None}
    if not tables:
        raise ValidationFailed("the job has no input that is a table")
    # The table of the call is called so, and no other one may be.
    by_fold = {name.lower(): name for name in tables}
    first = by_fold.get(_DATA) or next(iter(tables))
    others = {name: each.arguments for name, each in tables.items() if name.lower() != _DATA}
    return {**tables[first].arguments, **({"tables": others} if others else {})}


async def ask(
    calls: StepCalls, tables: Mapping[str, Any], sql: str, limit: int
) -> Sequence[Sequence[Any]]:
    """Return the first rows of a statement.

    Args:
        calls: Of the job.
        tables: The tables, as `named_tables` names them.
        sql: The statement.
        limit: The most rows.

    Raises:
        KbdError: As `table_query` raises.
    """
    found = await calls.call("table_query", **tables, query=sql, window_rows=limit)
    rows: Sequence[Sequence[Any]] = found["rows"]
    if len(rows) < min(limit, int(found["total_row_count"])):
        raise ValidationFailed("the answer to a question about the tables is too long to be read")
    return rows


async def prepare(calls: StepCalls, job: Job) -> PreparedJob:
    """Bind and compile a job, and find the values that its steps hang on; no check is judged yet.

    Args:
        calls: Of the job.
        job: The job.

    Raises:
        ValidationFailed: An input is missing or of another shape, a step cannot work, or there are
            too many values to split by.
        KbdError: A file cannot be read, or an open question about a table holds its figures back.
    """
    inputs = await bind_inputs(calls, job)
    given = {name: each.table for name, each in inputs.items() if each.table is not None}
    today = datetime.fromtimestamp(calls.context.now_us / _MICROSECONDS, UTC).date()
    pivots: dict[int, PivotValues] = {}
    compiled = compile_job(job, given, today)
    while compiled.wanted:
        for want in compiled.wanted:
            rows = await ask(calls, named_tables(inputs), want.sql, MAX_PARTS + 1)
            pivots[want.step] = pivot_values(want, rows)
        compiled = compile_job(job, given, today, pivots)
    parts = {
        number: await _parts(calls, inputs, compiled, number, step)
        for number, step in enumerate(job.steps, 1)
        if isinstance(step, SplitStep)
    }
    return PreparedJob(job, job_hash(job), inputs, compiled, parts, plan_checks(compiled))


async def judge(calls: StepCalls, prepared: PreparedJob) -> PreparedJob:
    """Return a job with its checks judged, by what the tables answer.

    Raises:
        KbdError: As `prepare` raises.
    """
    answers = [
        row
        for sql in prepared.plan.statements
        for row in await ask(calls, prepared.tables, sql, _MAX_ANSWERS)
    ]
    return prepared.judged_by(answers)


def refuse_failed(prepared: PreparedJob) -> None:
    """Refuse a job of which a check failed.

    Raises:
        ValidationFailed: One did; the message says which, with its figures.
    """
    if faults := "; ".join(prepared.texts("failed")):
        raise ValidationFailed(f"nothing is written, because a check failed: {faults}")


async def _parts(
    calls: StepCalls,
    inputs: Mapping[str, BoundInput],
    compiled: CompiledJob,
    number: int,
    step: SplitStep,
) -> tuple[SplitValue, ...]:
    rows = await ask(calls, named_tables(inputs), compiled.values(number), MAX_PARTS + 1)
    if len(rows) > MAX_PARTS:
        raise ValidationFailed(
            f'step {number} (split): column "{step.by}" has more than {MAX_PARTS} values, each of '
            f"which would be one of the {step.into}; group by it instead, or filter it first"
        )
    return split_values(rows)
