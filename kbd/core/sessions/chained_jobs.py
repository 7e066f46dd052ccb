"""Jobs of a run that read what others of it wrote, made one with them and proven to do the same."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.recipe_facts import bound_job
from kbd.core.sessions.scratch_calls import ScratchCalls
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, ValidationFailed
from kbd.jobs.recipes.merged_jobs import merge_jobs
from kbd.jobs.recipes.trial_checks import ResultTable, same_faults
from kbd.jobs.records import Job
from kbd.types import FileName

__all__ = ["checked_job", "unchained"]

_PAGE_ROWS = 500
"""Rows of a result that are compared at a time."""


async def checked_job(scratch: ScratchCalls, number: int, job: Job) -> dict[str, Any]:
    """Return what `check_job` says of a job.

    Args:
        scratch: Calls on the files that it ran on.
        number: Which job of the run it is, from 1.
        job: The job.

    Raises:
        ValidationFailed: It cannot be carried out.
    """
    try:
        return await scratch.call("check_job", job=msgspec.to_builtins(job))
    except KbdError as fault:
        raise ValidationFailed(
            f"job {number} cannot be carried out on the files that were there: {fault.message}"
        ) from None


async def unchained(
    context: ApiContext, workbench: OpenWorkbench, state: WorkbenchState, jobs: Sequence[Job]
) -> list[Job]:
    """Return jobs of which none reads what another one writes; those that do are made one.

    Args:
        context: The daemon's.
        workbench: The run's workbench.
        state: Its files before the first job.
        jobs: The jobs of the run, in order.

    Raises:
        ValidationFailed: A job cannot be carried out behind the others, reads more of what they
            wrote than tables, or comes to another result as a part of one job.
    """
    async with ScratchCalls(context, workbench, state) as before:
        apart = await _merged(before, jobs)
        if len(apart) < len(jobs):
            async with ScratchCalls(context, workbench, state) as after:
                for job in apart:
                    await after.call("run_job", job=msgspec.to_builtins(job))
                await _refuse_other_results(before, after)
    return apart


async def _merged(scratch: ScratchCalls, jobs: Sequence[Job]) -> list[Job]:
    """Carry out jobs one after the other, and return them with those made one that hang together.

    What stands between two of these becomes a part of the one job, too, so that the order stays.
    """
    apart: list[Job] = []
    written: list[set[str]] = []
    for number, job in enumerate(jobs, 1):
        checked = await checked_job(scratch, number, job)
        done = await scratch.call("run_job", job=msgspec.to_builtins(job))
        files = {str(each["target_path"]) for each in done["outputs"]}
        read = {str(each["path"]) for each in checked["inputs"]}
        bound = bound_job(job, checked)
        first = next((at for at, some in enumerate(written) if some & read), len(apart))
        together = [*zip(apart, written, strict=True), (bound, files)][first:]
        one, made = together[0]
        for each, some in together[1:]:
            one, made = merge_jobs(one, each, made), made | some
        apart[first:], written[first:] = [one], [made]
    return apart


async def _refuse_other_results(before: ScratchCalls, after: ScratchCalls) -> None:
    """Refuse jobs that, made one, write other files than one after the other.

    An amount that went through a text file may be written with other decimals, and be the same.

    Raises:
        ValidationFailed: They do; the message names the files.
    """
    wanted, made = before.written(), after.written()
    others = [
        name
        for name in sorted({*wanted, *made})
        if wanted.get(name) != made.get(name)
        and not (name in wanted and name in made and await _are_alike(before, after, name))
    ]
    if others:
        raise ValidationFailed(
            "jobs of the run read what others of it wrote, and as one job they write"
            f" {', '.join(others)} otherwise than one after the other"
        )


async def _are_alike(before: ScratchCalls, after: ScratchCalls, name: FileName) -> bool:
    """Tell whether two versions of a file hold the same tables."""
    try:
        tables = await _tables(before, name)
        if tables != await _tables(after, name):
            return False
        for table in tables:
            offset, count = 0, 1
            while offset < count:
                first, count = await _page(before, table, offset)
                second, others = await _page(after, table, offset)
                # A page of long texts is cut, of other decimals perhaps at another row.
                rows = min(len(first.rows), len(second.rows))
                is_stuck = offset < count and not rows
                if (
                    count != others
                    or is_stuck
                    or same_faults(_top(first, rows), _top(second, rows))
                ):
                    return False
                offset += rows
    except KbdError:
        # It has no tables, or one without rows to read.
        return False
    return True


def _top(table: ResultTable, rows: int) -> ResultTable:
    return ResultTable(table.columns, table.rows[:rows])


async def _tables(scratch: ScratchCalls, name: FileName) -> list[dict[str, str]]:
    """Return the tables of a file, as tools for tables name them."""
    info = await scratch.call("get_file_info", path=name)
    sheets = [{"path": name, "source_sheet": each["name"]} for each in info.get("sheets", ())]
    return sheets or [{"path": name}]


async def _page(
    scratch: ScratchCalls, table: dict[str, str], offset: int
) -> tuple[ResultTable, int]:
    """Return some rows of a table from a place on, and how many it has."""
    found = await scratch.call(
        "table_query", **table, query="SELECT * FROM data", window_rows=_PAGE_ROWS,
        window_offset=offset,
    )  # fmt: skip
    rows = tuple(map(tuple, found["rows"]))
    return ResultTable(tuple(found["columns"]), rows), int(found["total_row_count"])
