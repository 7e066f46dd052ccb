"""Tools for jobs: `check_job`, which writes nothing, and `run_job`."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.jobs.documents import job_hash
from kbd.jobs.output_shapes import REPORTED
from kbd.jobs.records import (
    ConvertStep,
    FillStep,
    Job,
    OutputStep,
    ReplaceStep,
    ReportStep,
)
from kbd.jobs.words import input_lines, job_sentence, step_lines
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect
from kbd_jobs.document_outputs import convert_table, fill_template, replace_text
from kbd_jobs.inputs import named_job
from kbd_jobs.preparation import PreparedJob, judge, prepare
from kbd_jobs.step_calls import StepCalls
from kbd_jobs.table_outputs import write_tables

__all__ = ["CheckJob", "JobArguments", "RunJob"]

_LANGUAGE = (
    "A job is a small program over tables and documents: inputs by name (file, columns with their "
    "types), steps in order (filter, sort, select, derive, group, pivot, join, union, deduplicate, "
    "top, share, running, compare; then write, split, fill, replace, convert, report) and checks. "
    "Each step reads the table that the one before made, or the one in `of`. Steps work on whole "
    "tables and hold no row numbers. Expressions are SQL-like: \"Status\" <> 'paid' and "
    "year(Date) = 2024."
)


class JobArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job."""

    job: Annotated[Job, Meta(description="The job.")]


class CheckJob(Tool):
    """`check_job`: what a job would do, in words and SQL, and whether its checks hold."""

    name: ClassVar[str] = "check_job"
    wire_method: ClassVar[str] = "JobCheck"
    description = (
        "Check a job without writing anything: its inputs against the files, each step against the "
        f"columns, all checks against the rows. Returns the job in words and SQL. {_LANGUAGE}"
    )
    arguments = JobArguments
    effect: ClassVar[Effect] = Effect.READ

    async def run(self, context: ToolContext, arguments: JobArguments) -> ToolResult:
        """Return `{job, words, steps, inputs, checks, failed, notes, sql}`.

        Raises:
            ValidationFailed: The job cannot be carried out on these files; the message says why.
            KbdError: A file cannot be read.
        """
        calls = StepCalls(context, job_hash(arguments.job))
        prepared = await judge(calls, await prepare(calls, arguments.job))
        calls.tell(*prepared.texts("told"))
        failed = list(prepared.texts("failed"))
        value = {**_described(prepared), "failed": failed, "sql": _statements(prepared)}
        return ToolResult(value, told=tuple(calls.told), is_look=True)


class RunJob(Tool):
    """`run_job`: a job carried out, all of it or nothing."""

    name: ClassVar[str] = "run_job"
    wire_method: ClassVar[str] = "JobRun"
    description = (
        "Carry out a job: one call in place of many, all of it or nothing. It is checked first; "
        f"where a check fails nothing is written. {_LANGUAGE}"
    )
    arguments = JobArguments
    effect: ClassVar[Effect] = Effect.WRITE

    async def run(self, context: ToolContext, arguments: JobArguments) -> ToolResult:
        """Return `{job, words, steps, inputs, checks, notes, outputs, answers}`.

        Raises:
            ValidationFailed: The job cannot be carried out on these files, or a check failed; the
                message says why, and nothing was written.
            KbdError: As the tools that its steps call raise.
        """
        calls = StepCalls(context, job_hash(arguments.job))
        prepared, outputs = await write_tables(calls, await prepare(calls, arguments.job))
        answers = list[dict[str, Any]]()
        for number, step in enumerate(arguments.job.steps, 1):
            match step:
                case ReportStep():
                    answers.append(await _report(calls, prepared, number, step))
                case ConvertStep():
                    outputs += await convert_table(calls, prepared, step)
                case ReplaceStep():
                    outputs += await replace_text(calls, prepared, step)
                case FillStep():
                    outputs += await fill_template(calls, prepared, number, step)
                case _:
                    pass
        value = {**_described(prepared), "outputs": outputs, "answers": answers}
        return ToolResult(value, is_action=True, told=tuple(calls.told))

    def path_of(self, arguments: JobArguments) -> str | None:
        """Return the first file that is written, if its name hangs on nothing that is found."""
        for step in arguments.job.steps:
            if isinstance(step, OutputStep) and not isinstance(step, ReportStep):
                return step.file if step.file and "{" not in step.file else None
        return None


async def _report(
    calls: StepCalls, prepared: PreparedJob, number: int, step: ReportStep
) -> dict[str, Any]:
    """Return the answer of a report step: `{text, columns, rows, row_count}`."""
    source = prepared.compiled.shapes.sources[number - 1]
    assert source is not None
    found = await calls.call(
        "table_query",
        **prepared.tables,
        query=prepared.compiled.rows(source),
        window_rows=step.rows,
    )
    columns, rows = list(found["columns"]), found["rows"]
    text = step.text
    if len(rows) == 1:
        row = {name.casefold(): value for name, value in zip(columns, rows[0], strict=True)}
        text = REPORTED.sub(lambda name: str(row.get(name.group(1).casefold(), "")), text)
    return {
        "text": text,
        "columns": columns,
        "rows": rows,
        "row_count": int(found["total_row_count"]),
    }


def _described(prepared: PreparedJob) -> dict[str, Any]:
    """Return what both tools tell of a job: its words, what it reads, its checks."""
    job = named_job(prepared.job, prepared.inputs)
    return {
        "job": prepared.hash,
        "words": job_sentence(job),
        "steps": [*input_lines(job), *step_lines(job)],
        "inputs": [
            {"name": name, "path": each.path, "sheet": each.sheet, "row_count": each.row_count}
            for name, each in prepared.inputs.items()
        ],
        "checks": list(prepared.texts("passed")),
        "notes": list(prepared.texts("told")),
    }


def _statements(prepared: PreparedJob) -> list[dict[str, Any]]:
    """Return the SQL of each step that writes or answers, by its number."""
    compiled = prepared.compiled
    return [
        {"step": number, "sql": compiled.rows(source)}
        for number, source in enumerate(compiled.shapes.sources, 1)
        if source is not None and isinstance(prepared.job.steps[number - 1], OutputStep)
    ]
