"""Inputs of a job bound to the files of a workbench: which file and sheet, and whether they fit."""

import difflib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.records import Input, Job, ValueType
from kbd.jobs.shapes import ShapeColumn
from kbd.tools import ToolContext
from kbd_jobs.step_calls import StepCalls

__all__ = ["BoundInput", "bind_inputs", "find_files"]

MAX_LISTED = 20
"""Names that an error lists."""

_HELD: Mapping[str, ValueType] = {
    "string": "text", "integer": "number", "float": "number", "boolean": "boolean",
    "date": "date", "datetime": "datetime",
}  # fmt: skip
"""What a column of a type holds, in the words of jobs."""


class BoundInput(msgspec.Struct, frozen=True):
    """An input with the file that it is.

    Args:
        input: The input.
        path: The file.
        sheet: The sheet, where one has to be named.
        columns: The columns as the file has them; none of an input that is no table.
        row_count: Its rows.
        warnings: What must be known of how it was read.
    """

    input: Input
    path: str
    sheet: str | None = None
    columns: tuple[ShapeColumn, ...] = ()
    row_count: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that name it to a table tool."""
        sheet = {"source_sheet": self.sheet} if self.sheet else {}
        said = msgspec.to_builtins(self.input.read_as)
        return {"path": self.path, **sheet, **({"read_as": said} if said else {})}


def find_files(context: ToolContext, pattern: str, what: str) -> tuple[str, ...]:
    """Return the files that a name or a pattern with `*` and `?` means, sorted.

    Raises:
        ValidationFailed: There is none.
    """
    names = context.files.names()
    # A file may be called like a pattern: its own name means it first.
    found = [name for name in names if name == pattern] or [
        name for name in names if fnmatchcase(name, pattern)
    ]
    if found:
        return tuple(found)
    near = difflib.get_close_matches(pattern, names, 3, 0.5) or names[:MAX_LISTED]
    there = f"; there are {', '.join(near)}" if near else "; the workbench is empty"
    raise ValidationFailed(f"{what}: there is no file {pattern}{there}")


async def bind_inputs(calls: StepCalls, job: Job) -> dict[str, BoundInput]:
    """Return the inputs of a job by name, each with its file, checked against its shape.

    Raises:
        ValidationFailed: A file is missing, several fit, or a table has not the shape; the message
            names the input and what differs.
        KbdError: A file cannot be read.
    """
    bound: dict[str, BoundInput] = {}
    for each in job.inputs:
        if each.name in bound:
            raise ValidationFailed(f"two inputs are called {each.name}")
        found = find_files(calls.context, each.file, f"input {each.name}")
        if len(found) > 1:
            raise ValidationFailed(
                f"input {each.name}: {len(found)} files fit {each.file}: "
                f"{', '.join(found[:MAX_LISTED])}; name one"
            )
        (path,) = found
        is_table = each.kind == "table"
        bound[each.name] = (
            await _bind_table(calls, each, path) if is_table else BoundInput(each, path)
        )
    return bound


async def _bind_table(calls: StepCalls, wanted: Input, path: str) -> BoundInput:
    sheets: Sequence[str | None] = (wanted.sheet,)
    if wanted.sheet is None:
        info = await calls.call("get_file_info", path=path)
        filled = [str(each["name"]) for each in info.get("sheets", ()) if each.get("range")]
        sheets = filled if len(filled) > 1 else (None,)
    tables = [await _read_shape(calls, wanted, path, sheet) for sheet in sheets]
    if len(tables) == 1:
        (table,) = tables
        if fault := await _find_fault(calls, table):
            raise ValidationFailed(f"input {wanted.name}: {path}: {fault}")
        return table
    fitting = [table for table in tables if await _find_fault(calls, table) is None]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(str(table.sheet) for table in fitting or tables)
    what = "none of its sheets has the columns" if not fitting else "several sheets have them"
    raise ValidationFailed(f"input {wanted.name}: {path}: {what}: {names}; name one as `sheet`")


async def _read_shape(
    calls: StepCalls, wanted: Input, path: str, sheet: str | None
) -> BoundInput:
    named = BoundInput(wanted, path, sheet)
    found = await calls.call("table_get_map", **named.arguments)
    return msgspec.structs.replace(
        named,
        columns=tuple(ShapeColumn(each["name"], each["type"]) for each in found["columns"]),
        row_count=int(found["row_count"]),
        warnings=tuple(found.get("warnings", ())),
    )


async def _find_fault(calls: StepCalls, table: BoundInput) -> str | None:
    """Return how a table differs from its input's shape, or None."""
    wanted = table.input
    by_name = {column.name.casefold(): column for column in table.columns}
    missing = [name for name in wanted.columns if name.casefold() not in by_name]
    if missing:
        known = [column.name for column in table.columns]
        near = difflib.get_close_matches(missing[0], known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"there is no column {', '.join(missing)}; there are {_listed(known)}{hint}"
    if not wanted.others:
        named = {name.casefold() for name in wanted.columns}
        strange = [column.name for column in table.columns if column.name.casefold() not in named]
        if strange:
            return f"there are columns that are not known: {_listed(strange)}"
    retyped = [
        (name, kind, by_name[name.casefold()])
        for name, kind in wanted.columns.items()
        if not _fits(kind, by_name[name.casefold()])
    ]
    # A column without any value is of no type: it fits whatever is due.
    empty = await _empty_columns(calls, table) if retyped and table.row_count else None
    for name, kind, column in retyped:
        if empty is not None and column.name not in empty:
            return f"column {name} holds {_HELD[column.type]}s where {kind}s are due"
    return None


def _fits(kind: ValueType, column: ShapeColumn) -> bool:
    held = _HELD[column.type]
    return kind in ("any", held) or (kind == "time" and held == "text") or (
        kind == "datetime" and held == "date"
    )  # fmt: skip


async def _empty_columns(calls: StepCalls, table: BoundInput) -> frozenset[str]:
    """Return the columns without any value."""
    described = await calls.call("table_describe", **table.arguments)
    return frozenset(each["name"] for each in described["columns"] if not each["non_null_count"])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


