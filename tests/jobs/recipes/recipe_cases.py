"""The jobs that recipes are learned from: what was asked, its tables, its steps, and its SQL.

They are data in `cases/*.toml`. The SQL was written from the request, over the rows that were made,
by the name of the input; `_n` counts these rows. What stands before `|` is the file and the sheet:

    "{orders}-paid.xlsx|Sheet1"   the rows of one sheet
    "{orders}-shops.xlsx|*"       the first column is the sheet of the row
    "{value}.csv"                 the first column is what `{value}` stands for
    "answer"                      the rows that a report tells
    "letter-{value}.docx|text"    texts that stand in a document, in the second column
"""

import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from jobs.recipes.made_tables import KINDS, MadeTable, made_table
from kbd.jobs.documents import job_of
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml
from kbd.jobs.recipes.facts import ColumnFacts, InputFacts, KnownFigure, LearnedFacts
from kbd.jobs.recipes.generalization import Generalized, generalize, recipe_of
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.records import Job

__all__ = ["CASES", "RecipeCase", "asked_job", "generalized", "learned_recipe", "tables_of"]

_TYPES = {"text": "string", "number": "float", "integer": "integer", "date": "date"}

LEARNED = 0
"""The seed of the tables that recipes are learned on."""


class RecipeCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job that a recipe is made of.

    Args:
        name: Its name.
        request: What was asked.
        tables: The kinds of its tables, by the names of its inputs.
        steps: Its steps.
        sql: What must come of it.
        templates: Its inputs that are files, by name: which one of `templates.py`.
        ledgers: Tables that are there and no inputs, by their file.
        agreed: What a person agreed to.
        read_as: How inputs are read, where a person said so.
        checks: Its checks.
        without: Changes that make another question of it.
    """

    name: str
    request: str
    tables: dict[str, str]
    steps: list[dict[str, Any]]
    sql: dict[str, str]
    templates: dict[str, str] = {}
    ledgers: dict[str, str] = {}
    agreed: list[str] = []
    read_as: dict[str, dict[str, Any]] = {}
    checks: list[dict[str, Any]] = []
    without: list[str] = []


def _loaded() -> dict[str, RecipeCase]:
    found: dict[str, RecipeCase] = {}
    for path in sorted((Path(__file__).parent / "cases").glob("*.toml")):
        for each in tomllib.loads(path.read_text("utf-8"))["cases"]:
            case = msgspec.convert(each, RecipeCase)
            assert case.name not in found, case.name
            found[case.name] = case
    return found


CASES = _loaded()
"""All of them by name."""


def tables_of(case: RecipeCase, seed: int) -> dict[str, MadeTable]:
    """Return the tables of a case by the names of its inputs.

    Tables of one kind are of seeds of their own, and so are their files.
    """
    made: dict[str, MadeTable] = {}
    for number, (name, kind) in enumerate(case.tables.items()):
        kinds = list(case.tables.values())[:number]
        made[name] = made_table(KINDS[kind], seed + kinds.count(kind))
    return made


def asked_job(case: RecipeCase) -> Job:
    """Return the job as it ran on the files that it was learned on."""
    inputs: list[dict[str, Any]] = []
    for name, table in tables_of(case, LEARNED).items():
        read = {"read_as": case.read_as[name]} if name in case.read_as else {}
        sheet = {"sheet": table.sheet} if table.style.suffix == "xlsx" else {}
        inputs.append({"name": name, "file": table.file, **sheet, **read})
    inputs += [
        {"name": name, "file": file, "kind": "file"} for name, file in case.templates.items()
    ]
    return job_of({"inputs": inputs, "steps": case.steps, "checks": case.checks})


def _facts(case: RecipeCase) -> LearnedFacts:
    """Return what is known of the files that a case is learned on."""
    inputs = [_input_facts(name, table) for name, table in tables_of(case, LEARNED).items()]
    inputs += [InputFacts(name, file, kind="file") for name, file in case.templates.items()]
    return LearnedFacts(tuple(inputs))


def _input_facts(name: str, table: MadeTable) -> InputFacts:
    columns = []
    for place, column in enumerate(table.columns):
        values = [row[place] for row in table.rows if row[place] is not None]
        texts = tuple(dict.fromkeys(str(value) for value in values))
        numbers = [Decimal(value) for value in values if isinstance(value, int | Decimal)]
        figures = tuple(
            KnownFigure(figure, f"the {what} of {column.name} in {table.file}")
            for what, figure in (("sum", sum(numbers, Decimal(0))), ("least", min(numbers)),
                                 ("greatest", max(numbers)))
        ) if numbers else ()  # fmt: skip
        kind = _TYPES[column.holds]
        columns.append(msgspec.convert(
            {"name": column.name, "type": kind, "values": texts, "distinct_count": len(texts),
             "figures": figures}, ColumnFacts,
        ))  # fmt: skip
    return InputFacts(name, table.file, tuple(columns), len(table.rows))


@cache
def generalized(name: str) -> Generalized:
    """Return what a case's job is for other files."""
    case = CASES[name]
    return generalize(asked_job(case), case.request, _facts(case), tuple(case.agreed))


@cache
def learned_recipe(name: str) -> Recipe:
    """Return the recipe of a case as its document has it."""
    recipe = recipe_of(name, CASES[name].request, [generalized(name)])
    return decode_recipe(encode_recipe_toml(recipe))
