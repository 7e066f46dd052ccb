"""Tables that a job writes: sheets and files of its write and split steps, by one tool call.

The same call answers what the checks ask, where the tables are small.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kbd.errors import KbdError, ValidationFailed
from kbd.formats import CAPITALS_APART, Readable, SheetForm
from kbd.jobs.records import SplitStep, WriteStep
from kbd_jobs.inputs import file_name
from kbd_jobs.preparation import PreparedJob, judge, refuse_failed
from kbd_jobs.step_calls import StepCalls

__all__ = ["write_tables"]

_SHEET = "Sheet1"
"""A sheet of a table that the job gives no name."""


class _SheetOut(msgspec.Struct, frozen=True):
    """A sheet that is to be written: where, of which rows, how many these are."""

    file: str
    mode: str
    sheet: str
    query: str
    form: SheetForm
    rows: int | None = None


_Files = Mapping[str, Sequence[_SheetOut]]
"""Sheets by the file that they are written to."""

_ROWS_AT_ONCE = 100_000
"""Rows of all inputs up to which the checks are asked for by the call that writes: of more, a check
that fails would cost the time to write them."""

_MOST_ASKED = 20
"""Statements that `table_export_sheets` answers in one call."""


async def write_tables(
    calls: StepCalls, prepared: PreparedJob
) -> tuple[PreparedJob, list[dict[str, Any]]]:
    """Judge the checks of a job and write its tables.

    Returns:
        The job with its checks judged, and what `table_export_sheets` answers of each file.

    Raises:
        ValidationFailed: A check failed, a file is written in two ways, or holds other rows than
            were counted.
        KbdError: As `table_export_sheets` raises.
    """
    files = _files(calls, prepared)
    is_small = sum(each.row_count for each in prepared.inputs.values()) <= _ROWS_AT_ONCE
    if files and is_small and len(prepared.plan.statements) <= _MOST_ASKED:
        return await _write_while_asking(calls, prepared, files)
    judged = await judge(calls, prepared)
    refuse_failed(judged)
    calls.tell(*judged.texts("told"))
    if not files:
        return judged, []
    found = await calls.call("table_export_sheets", **prepared.tables, outputs=_outputs(files))
    return judged, _checked(files, judged, found["outputs"])


async def _write_while_asking(
    calls: StepCalls, prepared: PreparedJob, files: _Files
) -> tuple[PreparedJob, list[dict[str, Any]]]:
    """Write tables by the call that asks for the checks, too, as `write_tables` does.

    It loads the tables once, in one process. Where a check fails, what is written goes with the
    error that is raised.
    """
    try:
        found = await calls.call(
            "table_export_sheets",
            **prepared.tables,
            outputs=_outputs(files),
            ask=prepared.plan.statements,
        )
    except KbdError:
        # A check that fails may be the reason, and is told first.
        refuse_failed(await judge(calls, prepared))
        raise
    # A job without any check asks nothing.
    answers = found.get("answers", ())
    judged = prepared.judged_by([row for answer in answers for row in answer["rows"]])
    refuse_failed(judged)
    calls.tell(*judged.texts("told"))
    return judged, _checked(files, judged, found["outputs"])


def _files(calls: StepCalls, prepared: PreparedJob) -> _Files:
    """Return the sheets of each file that a job writes tables to.

    Raises:
        ValidationFailed: A file is written in two ways.
    """
    files: dict[str, list[_SheetOut]] = {}
    for sheet in _sheets(calls, prepared):
        files.setdefault(sheet.file, []).append(sheet)
    for name, some in files.items():
        if len({each.mode for each in some}) > 1:
            raise ValidationFailed(f"{name} is both written anew and added to; use one of the two")
    return files


def _outputs(files: _Files) -> list[dict[str, Any]]:
    """Return files as `table_export_sheets` takes them."""
    return [
        {
            "target_path": name,
            "mode": some[0].mode,
            "sheets": [
                {
                    "sheet": each.sheet,
                    "query": each.query,
                    "form": msgspec.to_builtins(each.form),
                }
                for each in some
            ],
        }
        for name, some in files.items()
    ]


def _checked(
    files: _Files, judged: PreparedJob, written: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return what was written, after it was compared with what was counted before.

    A warning that SQL tells spellings of a column apart is left out where the job says that they
    count as one.

    Raises:
        ValidationFailed: A sheet has other rows; nothing of the call lands then.
    """
    wanted = [sheet for some in files.values() for sheet in some]
    sheets = [sheet for output in written for sheet in output["sheets"]]
    for out, sheet in zip(wanted, sheets, strict=True):
        if out.rows is not None and out.rows != sheet["row_count"]:
            raise ValidationFailed(
                f"sheet {out.sheet} of {out.file} holds {sheet['row_count']} rows where "
                f"{out.rows} were counted"
            )
    alike = [each.alike for each in judged.judgments if each.alike]
    return [
        {**each, "warnings": [text for text in each["warnings"] if not _contradicts(text, alike)]}
        for each in written
    ]


def _contradicts(warning: str, alike: Sequence[str]) -> bool:
    """Tell whether a warning says that SQL tells spellings apart of columns that it does not."""
    # Before the column's name stands nothing, or the file's.
    return warning.endswith(CAPITALS_APART) and any(
        warning.startswith(f"{name}: ") or f": {name}: " in warning for name in alike
    )


def _sheets(calls: StepCalls, prepared: PreparedJob) -> Iterator[_SheetOut]:
    bound = list(prepared.inputs.values())
    for number, step in enumerate(prepared.job.steps, 1):
        if isinstance(step, WriteStep):
            source = prepared.compiled.shapes.sources[number - 1]
            assert source is not None
            name = file_name(step.file, bound)
            query = prepared.compiled.rows(source, for_sheet=_has_sheets(calls, name))
            # What a job gives no name is called with a blank.
            sheet = step.sheet or (_SHEET if " " in source else source)
            yield _SheetOut(name, step.mode, sheet, query, step.form)
        elif isinstance(step, SplitStep):
            for part in prepared.parts[number]:
                label = step.empty if part.value is None else part.value
                name = file_name(step.file, bound, label)
                query = prepared.compiled.part(
                    number, part.value, for_sheet=_has_sheets(calls, name)
                )
                sheet = step.sheet.replace("{value}", label)
                yield _SheetOut(name, "replace", sheet, query, step.form, part.rows)


def _has_sheets(calls: StepCalls, name: str) -> bool:
    """Tell whether a file's format has typed cells in sheets."""
    handler = calls.context.formats.for_name(name)
    return isinstance(handler, Readable) and "sheet" in handler.coordinates
