"""Edits of real documents and decks that nobody here wrote lose nothing: a judge says so.

Every file is tried in a child that is killed when it hangs. A sample chosen by a fixed seed is
tried every day, all of them in the soak, with the plain libraries beside.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from judging_children import Trial, run_each
from office_trials import Editor, Verdict, Way, edited

SAMPLE_SEED = 1409
SAMPLE_SIZE = 20
SAMPLE_BYTES = 34_000

WAYS: Mapping[str, tuple[Way, ...]] = {
    "docx": ("append", "replace"),
    "pptx": ("retitle", "replace"),
}

pytestmark = pytest.mark.corpora


def files(corpora: Path, kind: str) -> list[Path]:
    """All files of a format, hostile ones, too."""
    return sorted(path for path in corpora.glob(f"{kind}/*") if path.is_file())


def sample(corpora: Path, kind: str) -> list[Path]:
    """A few that are not large."""
    small = [path for path in files(corpora, kind) if path.stat().st_size <= SAMPLE_BYTES]
    return random.Random(SAMPLE_SEED).sample(small, SAMPLE_SIZE)


class Line:
    """What came of all trials of one kind."""

    def __init__(self, trials: Iterable[Trial[Any, Verdict]] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self.minor: Counter[str] = Counter()
        self.told: list[str] = []
        self.cpu_s = 0.0
        for trial in trials:
            self.take(trial)

    def take(self, trial: Trial[Any, Verdict]) -> None:
        """Count one trial."""
        verdict = trial.result
        outcome = verdict.outcome if verdict else trial.failure.partition(":")[0]
        self.counts[outcome] += 1
        if verdict:
            self.minor.update(verdict.minor)
            self.cpu_s += verdict.cpu_s
        if outcome not in ("exact", "unparseable", "no such place"):
            details = "; ".join(verdict.details) if verdict else trial.failure
            self.told.append(f"{outcome} {trial.item[0].name}: {details}")

    @property
    def editable(self) -> int:
        """How many files the judge could read and find a place in."""
        without = self.counts["unparseable"] + self.counts["no such place"]
        return self.counts.total() - without

    def shown(self, title: str) -> str:
        """A row of the table."""
        counts = self.counts
        rest = {key: count for key, count in counts.items() if key not in _NAMED}
        return (
            f"{title:24} {self.editable:4} files {counts['exact']:4} exact {counts['loss']:4} loss "
            f"{counts['corrupt']:3} corrupt {counts['refused']:3} refused, {self.cpu_s:6.1f} s; "
            f"{counts['unparseable']} unreadable, {counts['no such place']} without a place"
            f"{f', {rest}' if rest else ''}{f'; minor {dict(self.minor)}' if self.minor else ''}"
        )

    def check(self) -> None:
        """Nothing is lost and nothing corrupt; what is not edited is refused by name."""
        bad = [text for text in self.told if not text.startswith("refused")]

        assert bad == []
        assert self.counts["exact"] + self.counts["refused"] == self.editable
        # All else is as it was to the byte, under the same names.
        assert not self.minor


_NAMED = ("exact", "loss", "refused", "corrupt", "unparseable", "no such place")


@pytest.fixture(scope="module")
def sampled(corpora: Path) -> dict[str, Line]:
    """The sample, each file tried in one of the ways; starting a child costs more than a trial."""
    lines = {kind: Line() for kind in WAYS}
    tasks: dict[tuple[Path, Way, Editor], str] = {}
    for kind, ways in WAYS.items():
        for index, path in enumerate(sample(corpora, kind)):
            tasks[path, ways[index % 2], "kbd"] = kind
    for trial in run_each(edited, list(tasks)):
        lines[tasks[trial.item]].take(trial)
    return lines


@pytest.mark.parametrize("kind", WAYS)
def test_sample(sampled: dict[str, Line], kind: str) -> None:
    """Append or retitle, or replace a word: nothing else changes in the sample, to the byte."""
    line = sampled[kind]

    line.check()
    assert line.counts["exact"] >= 0.7 * SAMPLE_SIZE, line.told


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", WAYS)
def test_every_file(corpora: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every file of the corpora: 0 loss, 0 corrupt; the rest is refused, and says why."""
    found = files(corpora, kind)
    table, refusals = [], []
    for way in WAYS[kind]:
        ours = Line(run_each(edited, [(path, way, "kbd") for path in found]))
        theirs = Line(run_each(edited, [(path, way, "library") for path in found]))
        table += [ours.shown(f"{kind} {way}, kbd"), theirs.shown(f"{kind} {way}, python-{kind}")]
        refusals += [f"{way}: {text}" for text in ours.told]
        ours.check()
        assert ours.counts["exact"] > theirs.counts["exact"]
        assert ours.counts["exact"] >= 0.98 * ours.editable, ours.told

    with capsys.disabled():
        print("", *table, *refusals, sep="\n")
