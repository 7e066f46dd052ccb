"""Instructions of SpreadsheetBench as recipes: learned on the first input, run on the others."""

import io
import json
import tomllib
import warnings
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
import openpyxl

from jobs.recipes.recipe_rig import RunOutcome, workbench
from kbd.errors import KbdError
from kbd.jobs.documents import job_of
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml
from kbd.jobs.recipes.facts import MAX_KNOWN_VALUES, ColumnFacts, InputFacts, LearnedFacts
from kbd.jobs.recipes.generalization import generalize, recipe_faults, recipe_of
from kbd.jobs.records import Input, Job
from kbd.testing.tools import Workbench

__all__ = ["UNSAYABLE", "BenchAnswer", "BenchCase", "bench_cases", "instructions", "run_case"]

_DATA = Path(__file__).parent / "spreadsheetbench.toml"


class BenchAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the answers of a case stand.

    Args:
        sheet: The sheet of the answer's workbook.
        row: The first row.
        columns: The columns of the result by the letters of that sheet's columns.
        last: The last row; 0 for the last one that is filled.
        ordered: Whether the order of rows is asked for.
    """

    sheet: str
    row: int
    columns: dict[str, str]
    last: int = 0
    ordered: bool = True


class BenchCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instruction as a job, whose one output is its answer."""

    task: str
    inputs: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    answer: BenchAnswer
    agreed: list[str] = []


def _data() -> dict[str, Any]:
    return tomllib.loads(_DATA.read_text("utf-8"))


UNSAYABLE: Mapping[str, str] = _data()["unsayable"]
"""Instructions that are no job over tables, and what they ask for."""


def bench_cases() -> list[BenchCase]:
    """Return the cases."""
    return msgspec.convert(_data()["cases"], list[BenchCase])


def instructions(corpus: Path) -> dict[str, str]:
    """Return the instructions of the corpus by their tasks."""
    entries = json.loads((corpus / "dataset.json").read_text("utf-8"))
    return {str(each["id"]): each["instruction"] for each in entries}


async def run_case(case: BenchCase, corpus: Path) -> list[tuple[str, RunOutcome]]:
    """Learn a case on its first input and run it on all; return what came of each."""
    instruction = instructions(corpus)[case.task]
    try:
        recipe = await _learned(case, corpus, instruction)
    except KbdError as error:
        return [("learning", RunOutcome("refused", str(error)))]
    found = []
    for number in (1, 2, 3):
        outcome = await _run(case, corpus, recipe, number)
        found.append((f"input {number}", outcome))
    return found


def _book(corpus: Path, case: BenchCase, number: int, kind: Literal["input", "answer"]) -> bytes:
    return (corpus / case.task / f"{number}_{case.task}_{kind}.xlsx").read_bytes()


async def _learned(case: BenchCase, corpus: Path, instruction: str) -> Job:
    """Return the job of the recipe, as its document has it."""
    file = f"{case.task}_1.xlsx"
    inputs = [{**each, "file": file} for each in case.inputs]
    asked = job_of({"inputs": inputs, "steps": case.steps})
    with TemporaryDirectory(prefix="kbd-bench-") as folder:
        bench = workbench(Path(folder) / "workbench")
        bench.add(file, _book(corpus, case, 1, "input"))
        facts = [await _facts(bench, asked, number) for number in range(len(asked.inputs))]
    made = generalize(asked, instruction, LearnedFacts(tuple(facts)), tuple(case.agreed))
    recipe = decode_recipe(encode_recipe_toml(recipe_of("bench", instruction, [made])))
    assert recipe_faults(recipe) == ()
    return recipe.jobs[0]


async def _facts(bench: Workbench, job: Job, number: int) -> InputFacts:
    """Return what is known of an input, from the tools that read it."""
    each = job.inputs[number]
    named: dict[str, Any] = {"path": each.file, "read_as": msgspec.to_builtins(each.read_as)}
    if each.sheet is not None:
        named["source_sheet"] = each.sheet
    found = (await bench.call(bench.tools["table_get_map"], **named)).value
    alike = await _alike_sheets(bench, each, [column["name"] for column in found["columns"]])
    columns = []
    for column in found["columns"]:
        name = column["name"].replace('"', '""')
        query = f'SELECT DISTINCT CAST("{name}" AS VARCHAR) FROM data WHERE "{name}" IS NOT NULL'
        asked = {"query": query, "window_rows": MAX_KNOWN_VALUES}
        values = (await bench.call(bench.tools["table_query"], **named, **asked)).value
        texts = tuple(row[0] for row in values["rows"])
        columns.append(
            ColumnFacts(column["name"], column["type"], texts, values["total_row_count"])
        )
    return InputFacts(
        each.name, each.file, tuple(columns), found["row_count"], alike_sheets=tuple(alike)
    )


async def _alike_sheets(bench: Workbench, asked: Input, columns: list[str]) -> list[str]:
    """Return the other sheets of an input's file that have its columns, too."""
    info = (await bench.call(bench.tools["get_file_info"], path=asked.file)).value
    alike = []
    for name in [sheet["name"] for sheet in info["sheets"] if sheet.get("range")]:
        read_as = msgspec.to_builtins(asked.read_as)
        named = {"path": asked.file, "source_sheet": name, "read_as": read_as}
        with suppress(KbdError):
            found = (await bench.call(bench.tools["table_get_map"], **named)).value
            there = {column["name"] for column in found["columns"]}
            if name != asked.sheet and there >= set(columns):
                alike.append(name)
    return alike


async def _run(case: BenchCase, corpus: Path, job: Job, number: int) -> RunOutcome:
    with TemporaryDirectory(prefix="kbd-bench-") as folder:
        bench = workbench(Path(folder) / "workbench")
        bench.add(f"{case.task}_{number}.xlsx", _book(corpus, case, number, "input"))
        try:
            await bench.call(bench.tools["run_job"], job=msgspec.to_builtins(job))
        except KbdError as error:
            return RunOutcome("refused", str(error))
        (written,) = [name for name in bench.files.names() if not name.startswith(case.task)]
        found = _result(bench.content(written), list(case.answer.columns.values()))
    wanted = _answers(_book(corpus, case, number, "answer"), case.answer)
    if not case.answer.ordered:
        found, wanted = sorted(found, key=str), sorted(wanted, key=str)
    if found == wanted:
        return RunOutcome("right")
    odd = [(one, other) for one, other in zip(found, wanted, strict=False) if one != other]
    return RunOutcome("wrong", f"{len(found)} rows, expected {len(wanted)}: {odd[:1]}")


def _loaded(data: bytes) -> openpyxl.Workbook:
    with warnings.catch_warnings():
        # What openpyxl would not write again does not matter here.
        warnings.simplefilter("ignore")
        return openpyxl.load_workbook(io.BytesIO(data), data_only=True)


def _result(data: bytes, columns: list[str]) -> list[tuple[Any, ...]]:
    """Return columns of the sheet that was written; one that is not there is empty."""
    heads, *rows = _loaded(data).worksheets[0].iter_rows(values_only=True)
    named = {str(head): place for place, head in enumerate(heads)}
    return [
        tuple(_plain(row[named[name]]) if name in named else None for name in columns)
        for row in rows
    ]


def _answers(data: bytes, answer: BenchAnswer) -> list[tuple[Any, ...]]:
    """Return the rows of the answer, up to the last one that is filled."""
    sheet = _loaded(data)[answer.sheet]
    last = answer.last or sheet.max_row
    rows = [
        tuple(_plain(sheet[f"{letter}{row}"].value) for letter in answer.columns)
        for row in range(answer.row, last + 1)
    ]
    while rows and not any(value is not None for value in rows[-1]):
        rows.pop()
    return rows


def _plain(value: Any) -> Any:
    """Return a value as it is compared: numbers alike, whatever they are stored as."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time().isoformat() == "00:00:00" else str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return value
    text = str(value).strip()
    try:
        return round(float(Decimal(text)), 6)
    except ArithmeticError:
        return text
