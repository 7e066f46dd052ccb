"""Recipes run on files, and what they write compared with SQL over the rows that were made."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec

from jobs.recipes.changed_tables import CHANGES, MUST_BE_REFUSED
from jobs.recipes.made_tables import KINDS, MadeTable, made_table
from jobs.recipes.recipe_cases import CASES, LEARNED, RecipeCase, learned_recipe, tables_of
from jobs.recipes.result_faults import file_fault, rows_fault, sheets_fault
from jobs.recipes.templates import template_bytes
from jobs.recipes.true_rows import ANSWER, wanted_rows
from jobs.recipes.written_tables import file_bytes, files_of
from kbd.errors import KbdError
from kbd.jobs.records import Job
from kbd.testing.tools import Workbench
from kbd_csv import kbd_register_formats as csv_formats
from kbd_docx import kbd_register_formats as docx_formats
from kbd_edits import kbd_register_tools as edit_tools
from kbd_files import kbd_register_tools as file_tools
from kbd_jobs import kbd_register_tools as job_tools
from kbd_pptx import kbd_register_formats as pptx_formats
from kbd_tables import kbd_register_tools as table_tools
from kbd_text import kbd_register_formats as text_formats
from kbd_xlsx import kbd_register_formats as xlsx_formats

__all__ = ["SAME", "CaseRun", "RunOutcome", "all_runs", "run_recipe", "workbench"]

SAME = "the same shape"
"""A run on a file that differs in its rows alone."""

_SAME_RUNS = 10


class CaseRun(msgspec.Struct, frozen=True):
    """One run: a recipe, the seed of its files, and how one of them is changed."""

    case: str
    change: str
    seed: int


class RunOutcome(msgspec.Struct, frozen=True):
    """What came of a run.

    Args:
        kind: `right`, `refused`, `wrong`, or `none` where the change cannot be made.
        text: Why.
    """

    kind: Literal["right", "refused", "wrong", "none"]
    text: str = ""


def all_runs() -> Iterator[CaseRun]:
    """Yield all runs, in a fixed order: of each case three of five changes, of each change too."""
    for place, (name, case) in enumerate(CASES.items()):
        for seed in range(1, _SAME_RUNS + 1):
            yield CaseRun(name, SAME, seed)
        for number, change in enumerate(CHANGES):
            if change not in case.without and (place + number) % 5 < 3:
                yield CaseRun(name, change, 20 + number % 5)


def workbench(root: Path) -> Workbench:
    """A workbench with the tools of jobs."""
    made = Workbench(root, [
        *csv_formats(), *docx_formats(), *pptx_formats(), *text_formats(), *xlsx_formats(),
    ])  # fmt: skip
    tools = [
        *table_tools({}, made.formats), *file_tools(made.formats), *edit_tools(made.formats),
        *job_tools(),
    ]  # fmt: skip
    made.tools = {tool.name: tool for tool in tools}
    return made


def changed_tables(run: CaseRun, recipe_job: Job) -> dict[str, MadeTable] | None:
    """Return the tables of a run; None where its change cannot be made."""
    tables = tables_of(CASES[run.case], run.seed)
    if run.change == SAME:
        return tables
    rng = Random(f"{run.case} {run.change} {run.seed}")
    used = {each.name: list(each.columns) for each in recipe_job.inputs}
    order = list(tables)
    # Of several inputs now one, now another one is changed.
    shift = run.seed % len(order)
    for name in (*order[shift:], *order[:shift]):
        made = CHANGES[run.change](tables[name], used[name], rng)
        if made is not None:
            return {**tables, name: made}
    return None


async def run_recipe(run: CaseRun) -> RunOutcome:
    """Run a recipe on the files of a run, and judge what it wrote."""
    case = CASES[run.case]
    job = learned_recipe(run.case).jobs[0]
    tables = changed_tables(run, job)
    if tables is None:
        return RunOutcome("none")
    ledgers = {file: made_table(KINDS[kind], LEARNED) for file, kind in case.ledgers.items()}
    with TemporaryDirectory(prefix="kbd-recipe-") as folder:
        bench = workbench(Path(folder) / "workbench")
        given = files_of(list(tables.values()))
        given |= {file: file_bytes([each]) for file, each in ledgers.items()}
        given |= {file: template_bytes(file) for file in case.templates.values()}
        for file, data in given.items():
            bench.add(file, data)
        try:
            plain = msgspec.to_builtins(job)
            value = (await bench.call(bench.tools["run_job"], job=plain)).value
        except KbdError as error:
            written = _written(bench, given)
            return (
                RunOutcome("wrong", f"refused, but wrote {sorted(written)}")
                if written
                else RunOutcome("refused", str(error))
            )
        is_told_apart = run.change == "a sheet of the same columns" and any(
            each.sheet for each in job.inputs
        )
        if run.change in MUST_BE_REFUSED and not is_told_apart:
            return RunOutcome("wrong", f"must be refused, and answered {value['words']}")
        fault = _fault(case, tables, ledgers, _written(bench, given), value)
        return RunOutcome("wrong", fault) if fault else RunOutcome("right")


def _written(bench: Workbench, given: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that are there now and were not, or are others."""
    found = {name: bench.content(name) for name in bench.files.names()}
    return {name: data for name, data in found.items() if data != given.get(name)}


def _fault(
    case: RecipeCase,
    tables: Mapping[str, MadeTable],
    ledgers: Mapping[str, MadeTable],
    written: Mapping[str, bytes],
    value: Mapping[str, Any],
) -> str:
    """Return in what the result differs from what SQL gives; "" if in nothing.

    A file that is called by a value has its spelling that is there most often.
    """
    written = {name.casefold(): data for name, data in written.items()}
    dates = {"%d.%m.%Y", *(each.style.dates for each in tables.values())}
    wanted = wanted_rows(case, tables, ledgers)
    files = {each.file.casefold() for each in wanted} - {ANSWER}
    if set(written) != files:
        return f"written are {sorted(written)}, expected {sorted(files)}"
    for each in wanted:
        if each.file == ANSWER:
            (found,) = value["answers"]
            fault = rows_fault(each, found["columns"], found["rows"])
        else:
            fault = file_fault(each, written[each.file.casefold()], dates)
        if fault:
            return f"{each.file} {each.sheet}: {fault}"
    for file in files:
        if file.endswith(".xlsx"):
            some = [each for each in wanted if each.file.casefold() == file]
            fault = sheets_fault(some, written[file])
            if fault:
                return f"{file}: {fault}"
    return ""
