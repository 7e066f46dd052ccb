"""Conversion of sheets of a workbook, each into a file of its own. Pure."""

from collections.abc import Sequence
from datetime import date

import msgspec

from kbd.jobs.records import ConvertStep, Input, Job
from kbd.types import ReadAs
from kbd_offline.composition import compose
from kbd_offline.facts import KnownTable
from kbd_offline.names import slug, split_suffix
from kbd_offline.reading import read_clauses
from kbd_offline.request_files import BOOK_SUFFIX, FileNames, free_target
from kbd_offline.request_tokens import tokenize
from kbd_offline.scan import RequestScan, UnclearError
from kbd_offline.sheets import take_sheets, wants_each_sheet, without_each_sheet, without_sheet
from kbd_offline.single import JobFiles, input_of

__all__ = ["sheets_converted"]


def sheets_converted(
    request: str,
    names: FileNames,
    tables: Sequence[KnownTable],
    files: JobFiles,
    today: date,
) -> tuple[Job, str, tuple[str, ...]] | None:
    """Return the job of a request that converts several sheets, None where it is another one.

    Raises:
        UnclearError: Its result cannot be made.
    """
    books = [table for table in tables if table.sheet]
    if not books or len({table.path for table in books}) > 1:
        return None
    chosen, text = take_sheets(request, [table.sheet for table in books])
    meant = [table for table in books if table.sheet in chosen]
    if wants_each_sheet(request) and not chosen:
        meant, text = books, without_each_sheet(request)
    elif not chosen and not any(without_sheet(request, table.sheet) for table in books):
        meant = books
    if len(meant) < 2:
        return None
    found = [token for token in tokenize(text, names.spans) if token.kind != "file"]
    scan = RequestScan(request, found, meant[0], today)
    try:
        clauses = read_clauses(scan)
        composed = compose(scan, clauses)
    except UnclearError:
        return None
    if composed.steps or composed.split is not None or not (clauses.suffix or names.target):
        return None
    if clauses.suffix == BOOK_SUFFIX and not chosen:
        return None
    if names.target and split_suffix(names.target)[1] == BOOK_SUFFIX:
        return None
    if names.target:
        raise UnclearError(
            f"each sheet becomes a file of its own, and it names one: {names.target}"
        )
    return _job(meant, clauses.suffix, files)


def _job(
    tables: Sequence[KnownTable], suffix: str, files: JobFiles
) -> tuple[Job, str, tuple[str, ...]]:
    inputs: list[Input] = []
    steps: list[ConvertStep] = []
    taken = list(files.taken)
    for table in tables:
        source = input_of(table, {}, [one.name for one in inputs])
        inputs.append(msgspec.structs.replace(source, read_as=ReadAs(totals="keep")))
        stem = split_suffix(table.path.rpartition("/")[2])[0]
        file = free_target(f"{slug(stem)}-{slug(table.sheet)}{suffix}", taken, files.today)
        taken.append(file)
        steps.append(ConvertStep(inputs[-1].name, file))
    written = ", ".join(step.file for step in steps)
    words = f"The sheets of {tables[0].path}, each as a file of its own: {written}"
    return Job(tuple(inputs), tuple(steps), title=words), words, ()
