"""Answers of a job in words: the rows of a table, told in the run's answer."""

from typing import Any

from kbd.jobs.output_shapes import REPORTED
from kbd.jobs.records import ReportStep
from kbd_jobs.preparation import PreparedJob
from kbd_jobs.step_calls import StepCalls

__all__ = ["report"]


async def report(
    calls: StepCalls, prepared: PreparedJob, number: int, step: ReportStep
) -> dict[str, Any]:
    """Return the answer of a report step: `{text, columns, rows, row_count}`.

    Args:
        calls: Of the job.
        prepared: The job.
        number: The step's number.
        step: The step.

    Raises:
        KbdError: As `table_query` raises.
    """
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
