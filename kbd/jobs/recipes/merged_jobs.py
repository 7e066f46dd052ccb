"""One job of two, the second of which reads tables that the first one writes.

    job 1    filter orders.csv, write paid.csv
    job 2    read paid.csv as paid, group it, write {paid}-by-region.xlsx
    merged   filter orders.csv, write paid.csv, keep that table as paid, group it, write
             paid-by-region.xlsx

A recipe checks all of its jobs against the files before the first one writes. So no job of it may
wait for a file that another one makes; the table itself is passed on.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.output_shapes import with_output_names
from kbd.jobs.recipes.file_patterns import file_stem
from kbd.jobs.recipes.table_labels import free_label, relabeled
from kbd.jobs.records import (
    ConvertStep,
    Input,
    Job,
    OutputStep,
    ReplaceStep,
    SelectStep,
    Step,
    UnionStep,
    WriteStep,
)

__all__ = ["merge_jobs"]


class _Written(msgspec.Struct, frozen=True):
    """A table that a job writes: behind which step it is there, and its label if it has one."""

    behind: int
    sheet: str | None
    label: str | None


def merge_jobs(first: Job, second: Job, written: Collection[str]) -> Job:
    """Return a job that does what two do, one after the other.

    Args:
        first: The first one, its inputs bound to files.
        second: The second one, its inputs bound to files.
        written: The files that the first one wrote.

    Raises:
        ValidationFailed: The second one reads a file that the first one made, and not as a table
            that a write step made anew.
    """
    made = {each.name: _table_of(each, first) for each in second.inputs if each.file in written}
    # What both call alike needs no other name.
    shared = {name: name for name, table in made.items() if table.label == name} | {
        each.name: one.name
        for each in second.inputs
        for one in first.inputs
        if each.name not in made and _source(each) == _source(one)
    }
    second = _with_names_of_files(second, made)
    labels = {**_labels_beside(first, second, shared), **shared}
    last = next((each.name for each in second.inputs if each.kind == "table"), None)
    if last is None:
        raise ValidationFailed("a job that reads no table cannot be made one with another job")
    second = relabeled(second, labels)
    passed = {labels.get(name, name): made[name] for name in made if name not in shared}
    kept = [each for each in second.inputs if each.name not in {*passed, *shared.values()}]
    return msgspec.structs.replace(
        first,
        inputs=(*first.inputs, *kept),
        steps=(*_passing_on(first, passed), *_beginning_at(second, labels.get(last, last))),
        checks=(*first.checks, *second.checks),
        title="; ".join(dict.fromkeys(each.title for each in (first, second) if each.title)),
        assumptions=tuple(dict.fromkeys((*first.assumptions, *second.assumptions))),
        constants={**first.constants, **second.constants},
    )


def _table_of(asked: Input, first: Job) -> _Written:
    """Return the table that an input is, of those that a job writes.

    Raises:
        ValidationFailed: It is none.
    """
    found = [
        table
        for file, table in _written_tables(first)
        if file == asked.file and asked.sheet in (None, table.sheet)
    ]
    if asked.kind != "table" or len(found) != 1:
        raise ValidationFailed(
            f"{asked.file} is made by a job before it, and is not a table that a write step makes"
            " anew; a recipe passes such tables on, and no other files"
        )
    return found[0]


def _written_tables(job: Job) -> Iterator[tuple[str, _Written]]:
    """Yield the tables that a job writes anew, each with its file."""
    last = next((each.name for each in job.inputs if each.kind == "table"), None)
    for number, step in enumerate(job.steps):
        if isinstance(step, WriteStep) and step.mode == "replace":
            table = _Written(number, step.sheet, step.of or last)
            yield _file_name(step.file, job.inputs), table
        elif not isinstance(step, OutputStep):
            last = step.make


def _file_name(template: str, inputs: Sequence[Input]) -> str:
    """Return the name of a file that is written, with those of inputs, which are bound to files."""
    for each in inputs:
        template = template.replace(f"{{{each.name}}}", file_stem(each.file))
    return template


def _source(each: Input) -> Input:
    """Return an input without what it is called and what it asks for."""
    return msgspec.structs.replace(each, name="_", columns={}, others=True, doubts="tell")


def _with_names_of_files(job: Job, made: Collection[str]) -> Job:
    """Return a job whose results are not called after inputs that are files no more."""
    gone = [each for each in job.inputs if each.name in made]
    return with_output_names(job, lambda _, name: _file_name(name, gone))


def _labels_beside(first: Job, second: Job, shared: Collection[str]) -> dict[str, str]:
    """Return other labels for tables of the second job that are called as some of the first."""
    taken = {label.lower() for label in _labels(first)}
    found: dict[str, str] = {}
    for label in _labels(second):
        if label not in shared and label.lower() in taken:
            found[label] = free_label(label, {*taken, *(each.lower() for each in _labels(second))})
        taken.add(found.get(label, label).lower())
    return found


def _labels(job: Job) -> Iterator[str]:
    yield from (each.name for each in job.inputs)
    yield from (
        step.make
        for step in job.steps
        if not isinstance(step, OutputStep) and step.make is not None
    )


def _passing_on(first: Job, passed: Mapping[str, _Written]) -> Iterator[Step]:
    """Yield the steps of the first job, and those that keep its tables under the second's names.

    A table without a label can only be named directly behind the step that writes it.
    """
    for number, step in enumerate(first.steps):
        yield step
        for name, table in passed.items():
            if table.label is None and table.behind == number:
                yield SelectStep(make=name)
    for name, table in passed.items():
        if table.label is not None:
            yield SelectStep(of=table.label, make=name)


def _beginning_at(second: Job, label: str) -> Iterator[Step]:
    """Yield the steps of the second job; those that read its first table now name it."""
    begins = True
    for step in second.steps:
        if begins and not isinstance(step, UnionStep | ReplaceStep | ConvertStep):
            yield step if step.of is not None else msgspec.structs.replace(step, of=label)
        else:
            yield step
        begins = begins and isinstance(step, OutputStep)
