"""The reference of the language of jobs names all that it has, and its example works."""

from typing import get_args

import msgspec
import pytest

from documentation import code, names, section, table, tables
from job_tables import JobTables
from kbd.formats import SheetForm
from kbd.jobs import records
from kbd.jobs.documents import decode_job, job_of
from kbd.jobs.functions import FUNCTIONS
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml
from kbd.jobs.recipes.facts import ColumnFacts, InputFacts, LearnedFacts
from kbd.jobs.recipes.generalization import generalize, recipe_faults, recipe_of
from kbd.jobs.recipes.records import Recipe, RecipeConstant
from kbd.jobs.records import Check, Figure, Input, Job, Step
from kbd.jobs.terms import KEYWORDS

PAGE = "reference/job-language.md"


def told(record: type[msgspec.Struct]) -> list[str]:
    """A record's fields as the reference names them, as a set in no order that means anything."""
    fields = msgspec.structs.fields(record)
    return sorted(field.name if field.required else f"{field.name}?" for field in fields)


@pytest.mark.parametrize(
    ("heading", "union"), [("Steps", Step), ("Checks", Check)], ids=["steps", "checks"]
)
def test_steps_and_checks_are_documented(heading: str, union: object) -> None:
    """Each step and each check stands in its table with its fields."""
    rows = table(PAGE, heading)
    kinds = get_args(union)

    assert [kind.__struct_config__.tag for kind in kinds] == list(rows)
    for kind in kinds:
        assert told(kind) == sorted(names(rows[kind.__struct_config__.tag]["fields"])), kind


@pytest.mark.parametrize(
    ("heading", "record"),
    [
        ("Job", Job), ("Inputs", Input), ("Forms of sheets", SheetForm), ("Recipes", Recipe),
        ("Constants of a recipe", RecipeConstant),
    ],
)  # fmt: skip
def test_fields_are_documented(heading: str, record: type[msgspec.Struct]) -> None:
    """Each field of a job, an input, a form and a recipe stands in its table."""
    assert told(record) == sorted(table(PAGE, heading))


def test_figures_are_documented() -> None:
    """Each function of a figure stands in its table, and a figure's fields above it."""
    text = section(PAGE, "Figures")

    assert list(get_args(records.Aggregate)) == list(table(PAGE, "Figures"))
    assert all(f"`{field}`" in text for field in Figure.__struct_fields__)


def test_expressions_are_documented() -> None:
    """Each function stands in the table as it is called, and each keyword above it."""
    rows = tables(PAGE, "Expressions")[0]
    text = section(PAGE, "Expressions")

    assert [spec.signature for spec in FUNCTIONS.values()] == [
        names(row["function"])[0] for row in rows
    ]
    assert [word for word in sorted(KEYWORDS) if word not in text] == []


def test_the_example_runs() -> None:
    """The example of the reference is a job, and holds what it says of a table."""
    example = decode_job(code(PAGE, "An example", "toml"))
    sales = {"Region": "string", "Amount": "decimal", "Date": "date", "Status": "string"}
    found = JobTables(
        sales=(sales, [
            ["North", "10.00", "2024-01-05", "paid"], ["north", "5.00", "2024-01-07", "open"],
            ["South", "1.00", "2024-02-01", "Cancelled"], ["South", "2.00", "2023-02-01", "paid"],
        ]),
        managers=({"Area": "string", "Manager": "string"}, [["North", "Ann"], ["South", "Bo"]]),
    )  # fmt: skip

    assert found.table(example) == (
        ["Region", "Month", "Revenue", "Orders"], [("North", "2024-01", 17.85, 2)]
    )  # fmt: skip
    assert {each.outcome for each in found.judgments(example)} == {"passed", "told"}


def test_the_recipe_is_one() -> None:
    """The recipe of the reference is what is made of a job that ran, as it is written."""
    shown = decode_recipe(code(PAGE, "Recipes", "toml"))
    ran = job_of({
        "title": "Paid orders by region",
        "inputs": [{"name": "orders", "file": "orders-2024-05.csv"}],
        "steps": [
            *msgspec.to_builtins(shown.jobs[0].steps[:-1]),
            {"do": "write", "file": "orders-2024-05-paid-by-region.xlsx"},
        ],
    })  # fmt: skip
    columns = (
        ColumnFacts("Region", "string", ("North", "South"), 2), ColumnFacts("Amount", "float"),
        ColumnFacts("Status", "string", ("paid", "open"), 2),
    )  # fmt: skip
    facts = LearnedFacts((InputFacts("orders", "orders-2024-05.csv", columns, 20),))

    found = generalize(ran, shown.request, facts)

    assert recipe_faults(shown) == ()
    assert recipe_of(
        shown.name, shown.request, [found], shown.learned_from, shown.assumptions
    ) == shown  # fmt: skip
    assert decode_recipe(encode_recipe_toml(shown)) == shown
