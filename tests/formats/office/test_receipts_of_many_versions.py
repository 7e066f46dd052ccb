"""Receipts of drafts with many edits: told within the limits of a call, open files among them."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from kbd.core.plugins.forked_call import OPEN_FILES
from receipt_rig import FIRST_STEP, FORMATS, Case, edited


@contextmanager
def _few_files() -> Iterator[None]:
    """As many open files as a call has, beside those that this process holds already."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The limit is on numbers, and a process that runs many tests holds high ones.
    held = {int(number) for number in os.listdir("/proc/self/fd")}
    free = islice((number for number in count() if number not in held), OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(free) + 1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _edits(kind: str, steps: int) -> list[list[dict[str, Any]]]:
    """Return edits each of which puts one thing at the end of a new file."""
    if kind == "xlsx":
        sheet = {"op": "ensure_sheet", "sheet": "S"}
        cells = [{"cell": f"A{number + 1}", "value": number} for number in range(steps)]
        return [[sheet, {"op": "set_cells", "sheet": "S", "cells": [cell]}] for cell in cells]
    if kind == "docx":
        first = [{"op": "set_paragraphs", "paragraphs": [{"text": "0"}]}]
        return [
            first,
            *(
                [{"op": "insert_paragraph", "at": number + 1, "text": f"{number}"}]
                for number in range(1, steps)
            ),
        ]
    return [[{"op": "add_slide", "title": f"{number}"}] for number in range(steps)]


@pytest.mark.sampled(len(FORMATS))
@pytest.mark.parametrize("kind", FORMATS)
def test_more_edits_than_a_call_may_open_files(kind: str, tmp_path: Path) -> None:
    """Each of them is told with its step, and all of it is proven."""
    steps = OPEN_FILES + 6
    made = edited(kind, None, _edits(kind, steps), tmp_path)
    with _few_files():
        case = Case(tmp_path / "case", f"file.{kind}", [None, *made], FORMATS[kind])

    report = case.check()
    assert (report.is_false, report.is_whole) == (False, True), report
    told = {step for part in case.parts.values() for step in part["by"]}
    assert told == {*range(FIRST_STEP, FIRST_STEP + steps)}
