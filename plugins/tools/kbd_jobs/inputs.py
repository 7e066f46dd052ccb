"""Inputs of a job bound to the files of a workbench: which file and sheet, and whether they fit."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kbd.errors import KbdError, ValidationFailed
from kbd.formats import Readable
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.output_shapes import with_output_names
from kbd.jobs.records import Input, Job
from kbd.jobs.shapes import GivenTable, TableDoubt, misfits, with_blanks
from kbd.tools import ToolContext
from kbd_jobs.step_calls import StepCalls

__all__ = ["BoundInput", "bind_inputs", "file_name", "find_files", "named_job"]

MAX_LISTED = 20
"""Names that an error lists."""

MAX_TRIED = 20
"""Files that are looked at for the one that has the columns; of more one has to be named."""


class BoundInput(msgspec.Struct, frozen=True):
    """An input with the file that it is.

    Args:
        input: The input.
        path: The file.
        sheet: The sheet, where one has to be named.
        table: Its columns; None for an input that is no table.
        row_count: Its rows.
        warnings: What must be known of how it was read.
    """

    input: Input
    path: str
    sheet: str | None = None
    table: GivenTable | None = None
    row_count: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that name it to a table tool."""
        named: dict[str, Any] = {"path": self.path}
        if self.sheet:
            named["source_sheet"] = self.sheet
        if said := msgspec.to_builtins(self.input.read_as):
            named["read_as"] = said
        return named


def find_files(context: ToolContext, pattern: str, what: str) -> tuple[str, ...]:
    """Return the files that a name, or a pattern with `*` and `?`, means, sorted.

    Args:
        context: The job's.
        pattern: The name.
        what: What wants it, for the error.

    Raises:
        ValidationFailed: There is none.
    """
    names = list(context.files.names())
    # A file may be called like a pattern: its own name means it first.
    found = [name for name in names if name == pattern]
    found = found or [name for name in names if fnmatchcase(name, pattern)]
    if found:
        return tuple(found)
    near = difflib.get_close_matches(pattern, names, 3, 0.5) or names[:MAX_LISTED]
    there = f"; there are: {', '.join(near)}" if near else "; the workbench is empty"
    raise ValidationFailed(f"{what}: there is no file {pattern}{there}")


def file_name(template: str, inputs: Sequence[BoundInput], value: str | None = None) -> str:
    """Return the name of a file that a job writes.

    Args:
        template: As the job has it: `{input}` is the name of that input's file without suffix.
        inputs: The inputs.
        value: What `{value}` stands for.
    """
    name = template
    for each in inputs:
        name = name.replace(f"{{{each.input.name}}}", PurePosixPath(each.path).stem)
    if value is not None:
        # A value is a part of one name: it opens no folder and hides no file.
        clean = "".join(" " if sign in '/\\:*?"<>|' or ord(sign) < 32 else sign for sign in value)
        name = name.replace("{value}", " ".join(clean.split()).lstrip(".") or "_")
    return name


def named_job(job: Job, inputs: Mapping[str, BoundInput]) -> Job:
    """Return a job with the files' own names in the place of patterns, for people to read."""
    bound = list(inputs.values())
    named = tuple(msgspec.structs.replace(each, file=inputs[each.name].path) for each in job.inputs)
    written = with_output_names(job, lambda _, name: file_name(name, bound))
    return msgspec.structs.replace(written, inputs=named)


async def bind_inputs(calls: StepCalls, job: Job) -> dict[str, BoundInput]:
    """Return the inputs of a job by name, each with its file, checked against its shape.

    Where several files fit a pattern, the one of them that has the columns is the input.

    Raises:
        ValidationFailed: A file is missing, several fit, or a table has not the shape; the message
            names the input and what differs.
        KbdError: A file cannot be read.
    """
    bound: dict[str, BoundInput] = {}
    for each in job.inputs:
        found = find_files(calls.context, each.file, f'input "{each.name}"')
        if each.kind == "file" and len(found) == 1:
            bound[each.name] = BoundInput(each, found[0])
        elif len(found) == 1:
            bound[each.name] = await _bind_table(calls, each, found[0])
        else:
            bound[each.name] = await _bind_one_of(calls, each, found)
    return bound


async def _bind_one_of(calls: StepCalls, wanted: Input, paths: Sequence[str]) -> BoundInput:
    """Return the only one of several files that has the shape of an input."""
    fitting: list[BoundInput] = []
    if wanted.kind == "table" and wanted.columns and len(paths) <= MAX_TRIED:
        for path in paths:
            # One that cannot be read, or has other columns, is not meant.
            with suppress(KbdError):
                fitting.append(await _bind_table(calls, wanted, path))
    if len(fitting) == 1:
        return fitting[0]
    names = [each.path for each in fitting] or list(paths)
    what = "files fit" if fitting or not wanted.columns else "files are called so, and none fits"
    raise ValidationFailed(
        f'input "{wanted.name}": {len(names)} {what} {wanted.file}: '
        f"{', '.join(names[:MAX_LISTED])}; name one"
    )


async def _bind_table(calls: StepCalls, wanted: Input, path: str) -> BoundInput:
    tables = [
        await _read_table(calls, BoundInput(wanted, path, sheet))
        for sheet in await _sheets(calls, wanted, path)
    ]
    if len(tables) == 1:
        (table,) = tables
        if faults := await _faults(calls, table):
            raise ValidationFailed(f'input "{wanted.name}": {path}: {"; ".join(faults)}')
        return await _fitted(calls, table)
    fitting = [table for table in tables if not await _faults(calls, table)]
    if len(fitting) == 1:
        return await _fitted(calls, fitting[0])
    names = ", ".join(str(table.sheet) for table in fitting or tables)
    what = "several sheets have the columns" if fitting else "no sheet has the columns"
    raise ValidationFailed(f'input "{wanted.name}": {path}: {what}: {names}; name it as `sheet`')


async def _sheets(calls: StepCalls, wanted: Input, path: str) -> Sequence[str | None]:
    """Return the sheets that may be the input; None stands for the only table of a file."""
    handler = calls.context.formats.for_name(path)
    if wanted.sheet is not None or not (
        isinstance(handler, Readable) and "sheet" in handler.coordinates
    ):
        return (wanted.sheet,)
    info = await calls.call("get_file_info", path=path)
    filled = [str(sheet["name"]) for sheet in info.get("sheets", ()) if sheet.get("range")]
    return filled if len(filled) > 1 else (None,)


async def _read_table(calls: StepCalls, named: BoundInput) -> BoundInput:
    found = await calls.call("table_get_map", **named.arguments)
    columns = tuple(ShapeColumn(each["name"], each["type"]) for each in found["columns"])
    return msgspec.structs.replace(
        named,
        table=GivenTable(columns, named.path, doubts=tuple(_doubts(found))),
        row_count=int(found["row_count"]),
        warnings=tuple(found.get("warnings", ())),
    )


def _doubts(found: Mapping[str, Any]) -> Iterator[TableDoubt]:
    """Yield what a table's map tells that makes its values or figures doubtful."""
    for question in found["reading"].get("questions", ()):
        # Which rows there are is about all of them; what a text means is about its column.
        columns = () if question["about"] == "totals" else question["columns"]
        for name in columns or ("",):
            yield TableDoubt(name, question["text"], is_of_figures=True)
    for name, reasons in found.get("unread", {}).items():
        yield TableDoubt(name, f"some cells: {', '.join(reasons)}")
    for name, codes in found.get("currencies", {}).items():
        text = f"its cells are in several currencies ({', '.join(codes)})"
        yield TableDoubt(name, text, is_of_figures=True)
    if mixed := found.get("mixed_amounts"):
        by, values = mixed["column"], ", ".join(mixed["values"])
        for name in mixed["amounts"]:
            text = f"it is in several currencies ({by}: {values})"
            yield TableDoubt(name, text, by, is_of_figures=True)


async def _faults(calls: StepCalls, bound: BoundInput) -> tuple[str, ...]:
    """Return in what a table is not of the shape of its input."""
    assert bound.table is not None
    faults = misfits(bound.input, bound.table)
    if not faults:
        return ()
    fitted = await _fitted(calls, bound)
    assert fitted.table is not None
    return misfits(bound.input, fitted.table)


async def _fitted(calls: StepCalls, bound: BoundInput) -> BoundInput:
    """Return a table whose columns without any value fit whatever is due."""
    assert bound.table is not None
    if not misfits(bound.input, bound.table):
        return bound
    described = await calls.call("table_describe", **bound.arguments)
    blank = {each["name"] for each in described["columns"] if not each["non_null_count"]}
    return msgspec.structs.replace(bound, table=with_blanks(bound.input, bound.table, blank))
