"""Documents that a job writes: templates filled in, texts replaced, tables converted whole."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import Celled, Editable, FormatHandler
from kbd.jobs.columns import ShapeType
from kbd.jobs.records import ConvertStep, FillStep, ReplaceStep
from kbd_jobs.inputs import file_name, find_files
from kbd_jobs.preparation import PreparedJob, ask
from kbd_jobs.step_calls import StepCalls
from kbd_jobs.text_files import replace_in_text

__all__ = ["convert_table", "fill_template", "replace_text"]

_Write = Callable[[Any, ShapeType], dict[str, Any]]
"""Returns how an operation has a value of a type."""

_COUNT = re.compile(r"\d+")

_MAX_FILLED = 200
"""Files that one fill step makes, each a call of its own."""

_CELL_DIGITS = 15
"""Digits of a figure that spreadsheet programs keep."""

_MOMENTS = ("date", "datetime")

_MAX_LISTED = 5_000
"""Rows of a list in a template, as many as `fill_template` takes."""


async def convert_table(
    calls: StepCalls, prepared: PreparedJob, step: ConvertStep
) -> list[dict[str, Any]]:
    """Write a table whole, rows that sum others up with it; return what came of it.

    Raises:
        KbdError: As `table_export` raises.
    """
    bound = prepared.inputs[step.table]
    name = file_name(step.file, list(prepared.inputs.values()))
    handler = calls.context.formats.for_name(name)
    arguments = bound.arguments
    read_as = {**arguments.get("read_as", {}), "totals": "keep"}
    found = await calls.call(
        "table_export",
        **{**arguments, "read_as": read_as},
        target_path=name,
        format=handler.name if handler is not None else "",
    )
    rows = {"sheet": found.get("sheet", ""), "row_count": found["row_count"]}
    return [{"target_path": name, "sheets": [rows], "warnings": found["warnings"]}]


async def replace_text(
    calls: StepCalls, prepared: PreparedJob, step: ReplaceStep
) -> list[dict[str, Any]]:
    """Replace a text in files, and return how often it was replaced in each.

    Raises:
        ValidationFailed: No file has the text, or one is of a format in which none is replaced.
        KbdError: As the tools raise.
    """
    paths = [
        path for pattern in step.files for path in find_files(calls.context, pattern, "replace")
    ]
    paths = list(dict.fromkeys(paths))
    copy = None
    if step.file is not None:
        if len(paths) > 1:
            raise ValidationFailed(f"{step.file} can be the copy of one file, not of {len(paths)}")
        copy = file_name(step.file, list(prepared.inputs.values()))
    outputs = []
    for path in paths:
        hits, warnings = await _replaced(calls, step, path, copy)
        if hits:
            outputs.append(
                {"target_path": copy or path, "replacements": hits, "warnings": warnings}
            )
        else:
            calls.tell(f'"{step.search}" is not in {path}')
    if not outputs:
        raise ValidationFailed(f'"{step.search}" is in none of {", ".join(paths)}')
    return outputs


async def _replaced(
    calls: StepCalls, step: ReplaceStep, path: str, copy: str | None
) -> tuple[int, list[str]]:
    handler = calls.context.formats.for_name(path)
    if not _has_operation(handler, "replace_text"):
        return await replace_in_text(calls, step, path, copy)
    assert handler is not None
    target = {"path": copy, "copy_from": path} if copy else {"path": path}
    operation = {
        "op": "replace_text",
        "search": step.search,
        "replace": step.replacement,
        "match_case": step.match_case,
    }
    found = await calls.call(f"{handler.name}_operations", **target, operations=[operation])
    counted = _COUNT.match(str(found["changed"][0]))
    if counted is None:
        raise ValidationFailed(f"{handler.name}_operations does not say how often it replaced")
    return int(counted.group()), list(found["warnings"])


def _has_operation(handler: FormatHandler | None, name: str) -> bool:
    return isinstance(handler, Editable) and any(
        kind.__struct_config__.tag == name for kind in handler.operations
    )


async def fill_template(
    calls: StepCalls, prepared: PreparedJob, number: int, step: FillStep
) -> list[dict[str, Any]]:
    """Fill a template in, once or for each row of the step's table; return what came of it.

    Raises:
        ValidationFailed: The template's format has no placeholders to fill, the table has not just
            one row where one file is made, or two rows make one file.
        KbdError: As the tools raise.
    """
    template = prepared.inputs[step.template]
    handler = calls.context.formats.for_name(template.path)
    if not _has_operation(handler, "fill_template"):
        raise ValidationFailed(f"{template.path} is of a format in which nothing is filled in")
    assert handler is not None
    write = _typed if isinstance(handler, Celled) else _written
    lists = [await _list_of(calls, prepared, name, of, write) for name, of in step.rows.items()]
    pictures = [
        {"name": name, "image": prepared.inputs[image].path}
        for name, image in step.pictures.items()
    ]
    outputs, made = [], set[str]()
    for values, value in await _filled_rows(calls, prepared, number, step, write):
        name = file_name(step.file, list(prepared.inputs.values()), value)
        if name in made:
            raise ValidationFailed(f"two rows make {name}; let `each` be a column that tells them")
        made.add(name)
        operation = {"op": "fill_template", "values": values, "lists": lists}
        found = await calls.call(
            f"{handler.name}_operations",
            path=name,
            copy_from=template.path,
            operations=[{**operation, **({"pictures": pictures} if pictures else {})}],
        )
        outputs.append({"target_path": name, "warnings": found["warnings"]})
    return outputs


async def _filled_rows(
    calls: StepCalls, prepared: PreparedJob, number: int, step: FillStep, write: _Write
) -> list[tuple[list[dict[str, Any]], str | None]]:
    """Return what the placeholders of each file are filled with, and the value that names it."""
    query = prepared.compiled.filled(number)
    if query is None:
        return [([], None)]
    rows = await ask(calls, prepared.tables, query, _MAX_FILLED + 1)
    if step.each is None and len(rows) != 1:
        raise ValidationFailed(
            f"step {number} (fill): the table has {len(rows)} rows, and one file is made of one; "
            "name the column that tells them apart in `each`"
        )
    if len(rows) > _MAX_FILLED:
        raise ValidationFailed(f"step {number} (fill): more than {_MAX_FILLED} files would be made")
    names, types = list(step.values), prepared.compiled.filled_types(number)
    return [
        (
            [
                {"name": name, **write(value, kind)}
                for name, value, kind in zip(names, row, types, strict=False)
            ],
            None if step.each is None else _text(row[len(names)]),
        )
        for row in rows
    ]


async def _list_of(
    calls: StepCalls, prepared: PreparedJob, name: str, table: str, write: _Write
) -> Mapping[str, Any]:
    shape = prepared.compiled.relations[table].shape
    rows = await ask(calls, prepared.tables, prepared.compiled.rows(table), _MAX_LISTED + 1)
    if len(rows) > _MAX_LISTED:
        raise ValidationFailed(f'list "{name}" has more than {_MAX_LISTED:,} rows')
    is_typed = write is _typed
    types = [
        column.type if is_typed and column.type in _MOMENTS else None for column in shape.columns
    ]
    return {
        "name": name,
        "columns": [column.name for column in shape.columns],
        "rows": [
            [
                write(value, column.type)["value"]
                for value, column in zip(row, shape.columns, strict=True)
            ]
            for row in rows
        ],
        **({"types": types} if any(types) else {}),
    }


def _typed(value: Any, kind: ShapeType) -> dict[str, Any]:
    """Return a value as a cell takes it, a date with its type."""
    if not isinstance(value, str):
        return {"value": value}
    if kind in _MOMENTS:
        return {"value": value, "type": kind}
    # Exact figures come as text where no float holds them; a cell would cut longer ones.
    is_figure = kind in ("integer", "float") and sum(map(str.isdigit, value)) <= _CELL_DIGITS
    return {"value": float(value) if is_figure else value}


def _written(value: Any, _: ShapeType) -> dict[str, Any]:
    """Return a value as a document shows it."""
    return {"value": _text(value)}


def _text(value: Any) -> str:
    """Return a value as a document shows it: nothing for an empty field."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
