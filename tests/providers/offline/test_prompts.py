"""The everyday prompts, played in this process: nothing wrong, and most of them right."""

from collections.abc import Sequence

import pytest

from providers.offline.prompt_judge import PromptEntry, load_entries
from providers.offline.prompt_plays import PlayedShop, PromptRun, told_by_kind

LEAST_RIGHT = 220
"""Of the 258 with a result: 85 %, below which the provider is not worth asking."""

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
def test_a_fifth_of_the_prompts(shop: PlayedShop) -> None:
    """Each fifth is played: as many are right as of all."""
    runs = played(shop, load_entries()[::5])

    answerable = [run for run in runs if run.entry.sql]
    right = sum(run.verdict == "right" for run in answerable)
    # A sample may have a few less.
    assert right >= LEAST_RIGHT * len(answerable) // 258 - 5


@pytest.mark.soak
def test_all_prompts(shop: PlayedShop) -> None:
    """Of all none is wrong, and at least 85 % of those with a result are right."""
    runs = played(shop, load_entries())

    assert sum(run.verdict == "right" for run in runs if run.entry.sql) >= LEAST_RIGHT


def test_all_prompts_are_there() -> None:
    """The bounds are of this many, and those of the first tier are among them."""
    entries = load_entries()

    assert (len(entries), sum(bool(entry.sql) for entry in entries)) == (300, 258)
    assert {entry.id for entry in entries} >= FIRST
