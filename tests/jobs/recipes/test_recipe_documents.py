"""Documents of recipes: they come back as they were, in a form for people, and have a hash."""

import msgspec
import pytest

from job_tables import job
from kbd.errors import ValidationFailed
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml, recipe_hash
from kbd.jobs.recipes.records import LearnedFile, Recipe, RecipeConstant

RECIPE = Recipe(
    "monthly-split", 'one sheet per "Shop"\nwithout the [cancelled] ones',
    (
        job(
            {"do": "filter", "where": "Status = '[cancelled]'"},
            {"do": "split", "by": "Shop", "file": "{t}.xlsx", "form": {"totals": {"Sum": "sum"}}},
            checks=[{"check": "row_count", "table": "t", "minimum": 1}],
        ),
        job({"do": "report", "text": "[done]\n[[jobs]]"}, title="then"),
    ),
    assumptions=("amounts are in euros",),
    constants=(RecipeConstant("jobs[0].steps[0].where", "'[cancelled]'", "the request says it"),),
    learned_from=(LearnedFile("may.csv", "ab" * 32),),
)  # fmt: skip


def test_recipes_come_back_from_their_documents() -> None:
    """A recipe in TOML and in JSON is that recipe, with one hash; another one has another."""
    toml, plain = encode_recipe_toml(RECIPE), msgspec.json.encode(RECIPE).decode()
    other = msgspec.structs.replace(RECIPE, assumptions=())

    assert [decode_recipe(text) for text in (toml, plain)] == [RECIPE, RECIPE]
    assert recipe_hash(decode_recipe(toml)) == recipe_hash(RECIPE) != recipe_hash(other)


def test_the_document_is_for_people() -> None:
    """Name, request and constants stand first; each entry has a heading of its own."""
    lines = encode_recipe_toml(RECIPE).splitlines()

    assert lines[:2] == ["recipe = 1", 'name = "monthly-split"']
    assert [line for line in lines if line.startswith("[")] == [
        "[[constants]]", "[[learned_from]]", "[[jobs]]", "[[jobs.inputs]]", "[[jobs.steps]]",
        "[[jobs.steps]]", "[jobs.steps.form.totals]", "[[jobs.checks]]", "[[jobs]]",
        "[[jobs.inputs]]", "[[jobs.steps]]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recipe = 2\nname = 'a'", "recipe: it is of version 2, and this kbd knows 1"),
        (
            "name = 'a'\nrequest = ''\n[[jobs]]\nversion = 9",
            r"jobs\[0\]\.version: it is of version 9",
        ),
        ("name = 'a'\nrequest = ''\njobs = []", "jobs"),
        ("name = ", "the recipe is no TOML"),
        ("{", "the recipe is no JSON"),
        ("[" * 100_000, "the recipe is n"),
        ("{}", "name"),
        ("x" * 5_000_000, "more than 4000000 characters"),
        ("jobs = 3", "jobs"),
        ("name = 'A b'\nrequest = ''\n[[jobs]]\n", "name"),
    ],
)
def test_what_is_no_recipe_is_said(text: str, message: str) -> None:
    """A document that is none is refused with what is wrong and where."""
    with pytest.raises(ValidationFailed, match=message):
        decode_recipe(text)
