"""Tables that a job writes: sheets and files of its write and split steps, by one tool call."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Readable, SheetForm
from kbd.jobs.records import SplitStep, WriteStep
from kbd_jobs.inputs import file_name
from kbd_jobs.preparation import PreparedJob
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


async def write_tables(calls: StepCalls, prepared: PreparedJob) -> list[dict[str, Any]]:
    """Write all tables of a job, and return what `table_export_sheets` answers of each file.

    Raises:
        ValidationFailed: A file is written in two ways, or holds other rows than were counted.
        KbdError: As `table_export_sheets` raises.
    """
    sheets = list(_sheets(calls, prepared))
    if not sheets:
        return []
    files: dict[str, list[_SheetOut]] = {}
    for sheet in sheets:
        files.setdefault(sheet.file, []).append(sheet)
    for name, some in files.items():
        if len({each.mode for each in some}) > 1:
            raise ValidationFailed(f"{name} is both written anew and added to; use one of the two")
    outputs = [
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
    found = await calls.call("table_export_sheets", **prepared.tables, outputs=outputs)
    written: list[dict[str, Any]] = found["outputs"]
    _check_rows([each for some in files.values() for each in some], written)
    return written


def _check_rows(wanted: list[_SheetOut], written: list[dict[str, Any]]) -> None:
    """Compare what was put into each sheet with what was counted before.

    Raises:
        ValidationFailed: They differ; nothing of the call lands then.
    """
    sheets = [sheet for output in written for sheet in output["sheets"]]
    for out, sheet in zip(wanted, sheets, strict=True):
        if out.rows is not None and out.rows != sheet["row_count"]:
            raise ValidationFailed(
                f"sheet {out.sheet} of {out.file} holds {sheet['row_count']} rows where "
                f"{out.rows} were counted"
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
