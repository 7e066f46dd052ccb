"""What steps that write or answer need of the tables: their columns, and names that tell apart."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats.records import SheetForm
from kbd.jobs.columns import TYPE_WORDS, ShapeColumn, near_name
from kbd.jobs.expression_sql import expression_sql
from kbd.jobs.records import (
    ConvertStep,
    FillStep,
    Input,
    Job,
    OutputStep,
    ReplaceStep,
    ReportStep,
    SplitStep,
    WriteStep,
)
from kbd.jobs.sql_text import NUMBERS
from kbd.jobs.step_shapes import TableShape, found_column

__all__ = ["REPORTED", "check_output", "with_output_names"]

REPORTED = re.compile(r"\{([^{}]+)\}")
"""A column whose value stands in the text of a report."""

_VALUE = "{value}"


def with_output_names(job: Job, name: Callable[[OutputStep, str], str]) -> Job:
    """Return a job whose steps write files of other names.

    Args:
        job: The job.
        name: Returns the name of a step's file by the one that it has.
    """
    steps = tuple(
        step
        if isinstance(step, ReportStep) or not isinstance(step, OutputStep) or step.file is None
        else msgspec.structs.replace(step, file=name(step, step.file))
        for step in job.steps
    )
    return msgspec.structs.replace(job, steps=steps)


def check_output(
    step: OutputStep,
    shape: TableShape | None,
    tables: Mapping[str, TableShape],
    inputs: Mapping[str, Input],
) -> None:
    """Refuse a step that cannot write what it says.

    Args:
        step: The step.
        shape: Of the table that it reads; None where it reads none.
        tables: The tables that there are.
        inputs: The inputs by name.

    Raises:
        ValidationFailed: A column, a table or an input is not there, or names are not told apart.
    """
    match step:
        case WriteStep():
            assert shape is not None
            _check_form(step.form, shape)
        case SplitStep():
            assert shape is not None
            _check_split(step, shape)
        case FillStep():
            _check_fill(step, shape, tables, inputs)
        case ConvertStep():
            _check_input(step.table, inputs, "table")
        case ReportStep():
            assert shape is not None
            for name in REPORTED.findall(step.text):
                found_column(shape, name)
        case ReplaceStep():
            pass
        case _:
            assert_never(step)


def _check_form(form: SheetForm, shape: TableShape) -> None:
    for name, function in form.totals.items():
        column = found_column(shape, name)
        _check_number(column, "total", but=function == "count")
    for name in (*form.formats, *form.widths):
        found_column(shape, name)
    if form.chart is not None:
        found_column(shape, form.chart.category)
        for name in form.chart.values:
            _check_number(found_column(shape, name), "chart", but=False)


def _check_number(column: ShapeColumn, what: str, *, but: bool) -> None:
    if column.type not in (*NUMBERS, "any") and not but:
        raise ValidationFailed(
            f'column "{column.name}" is {TYPE_WORDS[column.type]}, of which there is no {what}'
        )


def _check_split(step: SplitStep, shape: TableShape) -> None:
    column = found_column(shape, step.by)
    if step.into == "files" and _VALUE not in step.file:
        raise ValidationFailed(f"file: a file for each value has {_VALUE} in its name")
    if step.into == "sheets" and _VALUE in step.file:
        raise ValidationFailed(f'file: {_VALUE} is of files; write into = "files"')
    if step.into == "sheets" and _VALUE not in step.sheet:
        raise ValidationFailed(f"sheet: a sheet for each value has {_VALUE} in its name")
    rest = tuple(each for each in shape.columns if step.keep_column or each != column)
    if not rest and not shape.is_open:
        raise ValidationFailed("no column is left to be written")
    _check_form(step.form, TableShape(rest, shape.is_open))


def _check_fill(
    step: FillStep,
    shape: TableShape | None,
    tables: Mapping[str, TableShape],
    inputs: Mapping[str, Input],
) -> None:
    _check_input(step.template, inputs, "file")
    for name in step.pictures.values():
        _check_input(name, inputs, "file")
    for name in step.rows.values():
        _near(name, tables, "table")
    row = shape or TableShape(())
    for placeholder, expression in step.values.items():
        try:
            expression_sql(expression, row.columns, date(2000, 1, 1), is_open=row.is_open)
        except ValidationFailed as fault:
            raise ValidationFailed(f'value of "{placeholder}": {fault.message}') from None
    if step.each is not None:
        found_column(row, step.each)
    if (step.each is not None) != (_VALUE in step.file):
        raise ValidationFailed(f"file: a file for each row needs both `each` and {_VALUE}")


def _check_input(name: str, inputs: Mapping[str, Input], kind: str) -> None:
    _near(name, inputs, "input")
    if inputs[name].kind != kind:
        raise ValidationFailed(f'input "{name}" is a {inputs[name].kind}, and a {kind} is needed')


def _near(name: str, known: Iterable[str], what: str) -> None:
    names = [each for each in known if " " not in each]
    if name not in names:
        raise ValidationFailed(f'there is no {what} "{name}"{near_name(name, names)}')
