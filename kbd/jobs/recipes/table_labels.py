"""Labels of a job's tables without what is of one file: `orders_2024_05` becomes `orders`.

A table is called so in what is told of it, and the sheet that it is written to, if that has no
other name.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from kbd.jobs.documents import job_of
from kbd.jobs.recipes.file_patterns import without_period
from kbd.jobs.records import Job, OutputStep, WriteStep

__all__ = ["free_label", "plain_labels", "relabeled"]

_STEP_FIELDS = ("of", "make", "other", "template", "table")
_CHECK_FIELDS = ("table", "other_table", "same_as")


def plain_labels(job: Job) -> dict[str, str]:
    """Return the labels of tables that are called otherwise in a recipe, by the old ones."""
    makes: list[str] = []
    unnamed: set[str | None] = set()
    last: str | None = None
    for step in job.steps:
        if isinstance(step, WriteStep):
            unnamed.update((step.of or last,) if step.sheet is None else ())
        elif not isinstance(step, OutputStep):
            last = step.make
            makes += [step.make] if step.make else []
    labels = [each.name for each in job.inputs]
    taken = {label.lower() for label in (*labels, *makes)}
    found: dict[str, str] = {}
    for label in (*labels, *(make for make in makes if make in unnamed)):
        plain = without_period(label).strip("_ ") or "table"
        if plain != label:
            found[label] = free_label(plain, taken)
            taken.add(found[label].lower())
    return found


def free_label(label: str, taken: Collection[str]) -> str:
    """Return a label that no table has.

    Args:
        label: What it is to be called.
        taken: The labels that there are, in small letters.
    """
    made = re.sub(r"\W+", "_", label)
    while made.lower() in taken:
        made += "_"
    return made


def relabeled(job: Job, labels: Mapping[str, str]) -> Job:
    """Return a job with other labels of its tables."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(job))
    for each in plain["inputs"]:
        each["name"] = labels.get(each["name"], each["name"])
    for step in plain["steps"]:
        _relabel(step, _STEP_FIELDS, labels)
        for field in ("rows", "pictures"):
            if isinstance(step.get(field), dict):
                step[field] = {key: labels.get(name, name) for key, name in step[field].items()}
        if "tables" in step:
            step["tables"] = [labels.get(name, name) for name in step["tables"]]
        for old, new in labels.items():
            if isinstance(step.get("file"), str):
                step["file"] = step["file"].replace(f"{{{old}}}", f"{{{new}}}")
    for check in plain.get("checks", ()):
        _relabel(check, _CHECK_FIELDS, labels)
    return job_of(plain)


def _relabel(entry: dict[str, Any], fields: Collection[str], labels: Mapping[str, str]) -> None:
    for field in fields:
        if isinstance(entry.get(field), str):
            entry[field] = labels.get(entry[field], entry[field])
