"""Edits of real files that nobody here wrote lose nothing: independent judges say so.

Every file is tried in a child that is killed when it hangs. A sample chosen by a fixed seed is
tried by `make test`, all of them by `make soak`, with the plain libraries beside.
"""

import random
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deck_trials import slide_added, texts_written
from fidelity_figures import Line, Verdict
from judging_children import run_each
from judging_trials import map_and_read, one_cell, one_look, sixty_cells
from office_trials import edited

SAMPLE_SEED = 1409
SAMPLE_SIZE = 20
READING = "map and read"

Task = tuple[Path, str, str, str]
"""A file, its format, the way that it is edited, and who edits it: kbd or the plain library."""

pytestmark = pytest.mark.corpora


class Trials(NamedTuple):
    """What is tried on the real files of a format.

    Args:
        ways: By the way in which a file is edited, or read.
        beside: Those ways in which the plain library does so, too, and the losses by it that are
            known, so that the judge must see more.
        sampled: The ways of the files of a sample, one after the other; each file in all of a row.
        folders: Where the files are, as patterns.
        most_bytes: The largest file of a sample.
        fewest: The share of them that is edited.
        is_exact: Whether all that is not edited stays to the byte.
    """

    ways: Mapping[str, Callable[[Path, str], Verdict]]
    beside: Mapping[str, int]
    sampled: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    most_bytes: int
    fewest: float
    is_exact: bool = True


def _judged(way: Any, path: Path, editor: Any) -> Verdict:
    return edited((path, way, editor))


def _one_cell(path: Path, editor: Any) -> Verdict:
    # Over a constant in every other file, else below all that is there.
    is_over = sum(path.name.encode()) % 2 == 0
    return one_cell((path, "kbd" if editor == "kbd" else "openpyxl", is_over))


def _read(path: Path, editor: Any) -> Verdict:
    return map_and_read((path, "kbd" if editor == "kbd" else "openpyxl"))


def _alone(work: Callable[[Path], Verdict], path: Path, _: str) -> Verdict:
    return work(path)


TRIALS: Mapping[str, Trials] = {
    "docx": Trials(
        {way: partial(_judged, way) for way in ("append", "replace")},
        {"append": -1, "replace": -1}, (("append",), ("replace",)), ("docx/*",), 34_000, 0.98,
    ),
    "pptx": Trials(
        {
            **{way: partial(_judged, way) for way in ("retitle", "replace")},
            "texts": partial(_alone, texts_written), "slide": partial(_alone, slide_added),
        },
        {"retitle": -1, "replace": -1}, (("retitle", "texts"), ("replace", "slide")), ("pptx/*",),
        34_000, 0.97,
    ),
    "xlsx": Trials(
        {
            "one cell": _one_cell, "sixty cells": partial(_alone, sixty_cells),
            "looks": partial(_alone, one_look), READING: _read,
        },
        {"one cell": 100, READING: -1}, (("one cell", "sixty cells", "looks", READING),),
        ("xlsx/*", "xlsx_rare/*", "spreadsheetbench/**/*.xlsx"), 60_000, 0.99, is_exact=False,
    ),
}  # fmt: skip
EACH = [(kind, way) for kind, trials in TRIALS.items() for way in trials.ways]


def tried(task: Task) -> Verdict:
    """Make one trial: it is called in a child."""
    path, kind, way, editor = task
    return TRIALS[kind].ways[way](path, editor)


def files(corpora: Path, kind: str) -> list[Path]:
    """All files of a format, hostile ones, too."""
    found = [path for pattern in TRIALS[kind].folders for path in corpora.glob(pattern)]
    return sorted(path for path in found if path.is_file())


def sample(corpora: Path, kind: str) -> list[Path]:
    """A few that are not large."""
    most = TRIALS[kind].most_bytes
    small = [path for path in files(corpora, kind) if path.stat().st_size <= most]
    return random.Random(SAMPLE_SEED).sample(small, SAMPLE_SIZE)


@pytest.fixture(scope="module")
def sampled(corpora: Path) -> dict[tuple[str, str], Line]:
    """The samples of all formats; starting a child costs more than a trial."""
    lines = {each: Line() for each in EACH}
    tasks: list[Task] = [
        (path, kind, way, "kbd")
        for kind, trials in TRIALS.items()
        for index, path in enumerate(sample(corpora, kind))
        for way in trials.sampled[index % len(trials.sampled)]
    ]
    for trial in run_each(tried, tasks):
        lines[trial.item[1], trial.item[2]].take(trial)
    return lines


@pytest.mark.parametrize(("kind", "way"), EACH)
def test_sample(sampled: dict[tuple[str, str], Line], kind: str, way: str) -> None:
    """Whatever is edited, nothing else changes in the sample; most of its files are edited."""
    line = sampled[kind, way]

    line.check(is_exact=TRIALS[kind].is_exact)
    assert line.counts["exact"] >= 0.5 * line.counts.total(), line.counts
    assert line.counts["exact"] >= 0.9 * line.editable, line.told


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("kind", "way"), EACH)
def test_every_file(corpora: Path, kind: str, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every file of the corpora: 0 loss, 0 corrupt; the rest is refused, and says why."""
    trials, found = TRIALS[kind], files(corpora, kind)
    ours = Line(run_each(tried, [(path, kind, way, "kbd") for path in found]))
    table = [ours.shown(f"{kind} {way}, kbd")]
    if way in trials.beside:
        theirs = Line(run_each(tried, [(path, kind, way, "library") for path in found]))
        table.append(theirs.shown(f"{kind} {way}, the library"))
        assert theirs.counts["loss"] > trials.beside[way]
        assert ours.counts["exact"] >= theirs.counts["exact"] + (way != READING)

    with capsys.disabled():
        print("", *table, *ours.told, sep="\n")
    ours.check(is_exact=trials.is_exact)
    assert way == READING or ours.counts["exact"] >= trials.fewest * ours.editable, ours.told
