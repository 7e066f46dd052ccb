"""Questions that are open about a table: asked before a job is done that hangs on them. Pure.

What was said in a request or after one is `kbd_offline.answers`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbd.formats import NumberFacts, additivity
from kbd.jobs.records import ConvertStep, Job, SelectStep, UnionStep
from kbd_offline.facts import KnownColumn, KnownTable

__all__ = ["as_answered", "open_question"]

_OF_COLUMNS = ("decimal", "date_order")


def as_answered(
    columns: Sequence[KnownColumn], questions: Sequence[Mapping[str, Any]]
) -> tuple[KnownColumn, ...]:
    """Return columns as they are once what is asked about a table is answered, either way.

    Until then they hold texts, so that a request for figures of "all numbers" passes them over.
    """
    types = {
        name: "float" if question["about"] == "decimal" else "date"
        for question in questions
        if question["about"] in _OF_COLUMNS
        for name in question["columns"]
    }
    return tuple(
        _typed(column, types[column.name]) if column.name in types else column for column in columns
    )


def _typed(column: KnownColumn, kind: str) -> KnownColumn:
    # Prices do not add up, whichever they are.
    role = additivity(column.name, "float", NumberFacts()).role if kind == "float" else "additive"
    return msgspec.structs.replace(column, type=kind, role="" if role == "additive" else role)


def open_question(job: Job, tables: Sequence[KnownTable]) -> str:
    """Return the question that a job hangs on, with its answers, "" for none."""
    known = {(table.path, table.sheet): table for table in tables}
    for source in job.inputs:
        table = known.get((source.file, source.sheet or ""))
        for question in table.questions if table else ():
            if _hangs_on(job, question):
                label = f"{table.label}: " if table and len(job.inputs) > 1 else ""
                return label + _asked(question)
    return ""


def _hangs_on(job: Job, question: Mapping[str, Any]) -> bool:
    about = question["about"]
    is_copy = all(isinstance(step, ConvertStep) for step in job.steps)
    if about == "totals":
        return not is_copy
    if about not in _OF_COLUMNS or not question["columns"]:
        return True
    if any(isinstance(step, UnionStep) for step in job.steps):
        # Its columns are given one type, whatever they are in each table.
        return True
    # What is only shown stays as it is written.
    steps = [step for step in job.steps if not isinstance(step, SelectStep | ConvertStep)]
    text = msgspec.json.encode(steps).decode()
    return any(msgspec.json.encode(name).decode()[1:-1] in text for name in question["columns"])


def _asked(question: Mapping[str, Any]) -> str:
    options = "; ".join(f"{one['value']}: {one['meaning']}" for one in question["options"])
    about = question["about"]
    given = [one["value"] for one in question["options"]]
    said = [_SAID.get((about, one), f"{about.replace('_', ' ')}: {one}") for one in given]
    values = " or ".join(f'"{one}"' for one in said)
    return f"{question['text']} ({options}). Answer {values}"


_SAID = {
    ("totals", "leave_out"): "leave out", ("totals", "leave_out_proven"): "leave out proven totals",
    ("totals", "keep"): "keep", ("header_row", "0"): "no header",
    ("decimal", ","): "decimal comma", ("decimal", "."): "decimal point",
}  # fmt: skip
"""Words of answers, where they are not "encoding: cp1252"."""
