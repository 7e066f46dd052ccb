"""Instructions of SpreadsheetBench: learned on the first of their inputs, run on the others."""

from pathlib import Path

import pytest

from backends import on_asyncio
from jobs.recipes.recipe_rig import RunOutcome
from jobs.recipes.spreadsheetbench_cases import UNSAYABLE, bench_cases, instructions, run_case

pytestmark = [pytest.mark.anyio, pytest.mark.full, pytest.mark.corpora]

REFUSED = {("39180", "input 2")}
"""Runs that are refused: there a name that is looked up stands twice."""


@on_asyncio
async def test_instructions_with_several_inputs(
    corpora: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is right on the first input is right on the others, or refused; nothing is wrong."""
    corpus, cases = corpora / "spreadsheetbench", bench_cases()
    assert {each.task for each in cases} | set(UNSAYABLE) == set(instructions(corpus))

    found: dict[tuple[str, str], RunOutcome] = {}
    for case in cases:
        for which, outcome in await run_case(case, corpus):
            found[case.task, which] = outcome

    kinds = [outcome.kind for outcome in found.values()]
    with capsys.disabled():
        print(
            f"\n{len(cases)} instructions, {len(found)} runs: {kinds.count('right')} right,"
            f" {kinds.count('refused')} refused, {kinds.count('wrong')} wrong"
        )
        for (task, which), outcome in found.items():
            if outcome.kind != "right":
                print(f"  {task} {which}: {outcome.kind}: {outcome.text}")
    assert {place for place, outcome in found.items() if outcome.kind != "right"} == REFUSED
    assert {found[place].kind for place in REFUSED} == {"refused"}
