"""The everyday prompts, played in this process: nothing wrong, and most of them right."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from providers.offline.prompt_judge import PromptEntry, load_entries
from providers.offline.prompt_plays import PlayedShop, PromptRun, told_by_kind
from providers.offline.prompt_tables import PROMPTS

PART = 25
"""So many prompts, which stand beside each other in a list and share their tables, are a test."""

LEAST_RIGHT = {
    "prompts": (25, 22, 24, 20, 25, 24, 23, 25, 25, 24, 25, 25),
    "prompts_second": (15, 16, 17, 18),
    "prompts_third": (12, 9, 7, 9),
    "prompts_fourth": (9, 12, 11, 11),
}
"""How many of each part are right: what was reached, and is not given up. 287 are of the 300.

The later lists are a hundred each over other tables, by somebody who did not know what is
understood. When they were played for the first time, 55 of the second list were right and one was
wrong; of the third, whose words are those of people who do not think of columns, 24 were, and two
were wrong; of the fourth, in words of people who know their tables, 37 were, and two were wrong.
"""

FIRST = frozenset(
    [
        "orders-customers-02", "bestand-alt-bestand-neu-04", "january-february-march-04",
        "contacts-02", "ausgaben-01", "bank-01",
    ]
)  # fmt: skip
"""Of many kinds and both languages, for the first tier."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> PlayedShop:
    """Where all are played."""
    return PlayedShop(tmp_path_factory.mktemp("prompts"))


def played(shop: PlayedShop, entries: Sequence[PromptEntry]) -> list[PromptRun]:
    """Play entries, and check that none is wrong."""
    runs = [shop.run(entry) for entry in entries]
    print(told_by_kind(runs))
    assert not [run.entry.id for run in runs if run.verdict == "wrong"]
    return runs


def test_a_few_prompts(shop: PlayedShop) -> None:
    """One of each of some kinds is right."""
    runs = played(shop, [entry for entry in load_entries() if entry.id in FIRST])

    assert {run.entry.id for run in runs if run.verdict == "right"} == FIRST


@pytest.mark.full
@pytest.mark.seeded(3)
@pytest.mark.parametrize(
    ("name", "part", "least"),
    [(name, part, least) for name, of in LEAST_RIGHT.items() for part, least in enumerate(of)],
)
def test_all_prompts(tmp_path: Path, name: str, part: int, least: int) -> None:
    """None is wrong, and no fewer are right than were: of the parts that the seed of a run chooses.

    `make soak` plays all of them.
    """
    prompts = PROMPTS.parent / name
    entries = load_entries(prompts)[part * PART : (part + 1) * PART]
    runs = played(PlayedShop(tmp_path, prompts), entries)

    assert sum(run.verdict == "right" for run in runs) >= least


def test_all_prompts_are_there() -> None:
    """The bounds are of this many, and those of the first tier are among them."""
    for name, parts in LEAST_RIGHT.items():
        assert len(load_entries(PROMPTS.parent / name)) == PART * len(parts)
    entries = load_entries()

    assert (len(entries), sum(bool(entry.sql) for entry in entries)) == (300, 258)
    assert {entry.id for entry in entries} >= FIRST
