"""Recipes of fifty jobs on files of thousands of kinds: right, or refused with nothing written.

Right is what SQL gives that was written from the request, over the rows that were made; no provider
is there to be asked.
"""

from collections.abc import Sequence

import msgspec
import pytest

from backends import on_asyncio, on_trio
from jobs.recipes.changed_tables import CHANGES, MUST_BE_REFUSED
from jobs.recipes.recipe_cases import CASES, generalized, learned_recipe
from jobs.recipes.recipe_rig import SAME, CaseRun, all_runs, run_recipe
from jobs.recipes.run_counts import Done, counted_lines
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml
from kbd.jobs.recipes.generalization import recipe_faults
from kbd.jobs.recipes.literals import job_literals

pytestmark = pytest.mark.anyio


async def done_runs(runs: Sequence[CaseRun]) -> list[Done]:
    """Runs with what came of each; those whose change cannot be made are left out."""
    found = [(run, await run_recipe(run)) for run in runs]
    return [(run, outcome) for run, outcome in found if outcome.kind != "none"]


def wrong(done: Sequence[Done]) -> list[Done]:
    """Runs that wrote something wrong."""
    return [(run, outcome) for run, outcome in done if outcome.kind == "wrong"]


def test_the_cases_are_those_that_are_promised() -> None:
    """At least forty jobs, with every step of the language, and 2,000 runs of them."""
    steps = {step["do"] for case in CASES.values() for step in case.steps}

    assert len(CASES) >= 40
    assert steps == {
        "filter", "sort", "select", "derive", "group", "pivot", "join", "union", "deduplicate",
        "top", "share", "running", "compare", "write", "split", "fill", "replace", "convert",
        "report",
    }  # fmt: skip
    assert all(case.sql for case in CASES.values())
    assert set(CHANGES) >= MUST_BE_REFUSED
    assert len(list(all_runs())) >= 2_000


@pytest.mark.sampled(13)
@pytest.mark.parametrize("name", CASES)
def test_every_literal_has_a_provenance(name: str) -> None:
    """Each stands in the list of constants or belongs to the language.

    A constant that is taken out of the list is a fault, unless it is a name that is words alone.
    """
    found, recipe = generalized(name), learned_recipe(name)
    literals = [each for job in recipe.jobs for each in job_literals(job)]
    names = {each.written for each in literals if each.use in ("title", "file")}

    assert found.refusals == ()
    assert recipe_faults(recipe) == ()
    assert decode_recipe(encode_recipe_toml(recipe)) == recipe
    assert all(each.why and each.place.startswith("jobs[0].") for each in recipe.constants)
    for constant in recipe.constants:
        others = tuple(each for each in recipe.constants if each.value != constant.value)
        faults = recipe_faults(msgspec.structs.replace(recipe, constants=others))
        assert [each.value for each in faults] == [constant.value] * len(faults)
        assert faults or constant.value in names, constant


@on_trio
async def test_a_few_runs_are_right_or_refused() -> None:
    """Two files of the same shape, and some that are changed."""
    asked = [
        CaseRun("revenue-by-region", SAME, 1), CaseRun("stock-of-suppliers", SAME, 2),
        CaseRun("revenue-by-region", "a needed column missing", 20),
        CaseRun("betrag-je-kostenstelle", "headings only", 21),
        CaseRun("sheet-for-each-region", "a new category", 22),
        CaseRun("net-of-customers", "grand total in the source", 23),
        CaseRun("customers-of-regions", "empty lines", 24),
        CaseRun("pay-by-department", "a sheet of the same columns", 20),
    ]  # fmt: skip

    done = await done_runs(asked)

    assert [outcome.kind for _, outcome in done] == [
        "right", "right", "refused", "refused", "right", "right", "right", "refused",
    ]  # fmt: skip


@pytest.mark.full
@pytest.mark.seeded(2)
@pytest.mark.parametrize("part", [0, 1])
@on_asyncio
async def test_some_runs_are_right_or_refused(part: int) -> None:
    """A sample of all runs: none is wrong, and none of the same shape is refused."""
    done = await done_runs(list(all_runs())[part * 19 :: 38])

    assert len(done) >= 50
    assert wrong(done) == []
    assert {outcome.kind for run, outcome in done if run.change == SAME} == {"right"}


@pytest.mark.soak
@on_asyncio
async def test_no_run_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """Of at least 2,000 runs none writes anything wrong; files of the same shape are done."""
    done = await done_runs(list(all_runs()))

    with capsys.disabled():
        print("", *counted_lines(done), sep="\n")
    assert len(done) >= 2_000
    assert wrong(done) == []
    assert {outcome.kind for run, outcome in done if run.change == SAME} == {"right"}
