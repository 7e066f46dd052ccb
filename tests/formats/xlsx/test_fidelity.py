"""Edits of real workbooks that nobody here wrote lose nothing: an independent judge says so.

Every file is tried in a child that is killed when it hangs. A sample chosen by a fixed seed is
tried every day, all of them in the soak, with openpyxl's own load-and-save beside.
"""

import csv
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from judging.book import Book
from judging.dependents import affected
from judging.places import Place, place
from judging_children import Trial, run_each
from judging_trials import (
    Verdict,
    append_cell,
    every_day,
    map_and_read,
    one_cell,
    one_look,
    sixty_cells,
)

SAMPLE_SEED = 1603
SAMPLE_SIZE = 20
SAMPLE_BYTES = 60_000
OPENED_SIZE = 60

pytestmark = pytest.mark.corpora


def workbooks(corpora: Path) -> list[Path]:
    """All workbooks of the corpora, hostile ones, too."""
    found = [*corpora.glob("xlsx/*"), *corpora.glob("xlsx_rare/*")]
    found += corpora.glob("spreadsheetbench/**/*.xlsx")
    return sorted(path for path in found if path.is_file())


def sample(corpora: Path) -> list[Path]:
    """A few that are not large."""
    small = [path for path in workbooks(corpora) if path.stat().st_size <= SAMPLE_BYTES]
    return random.Random(SAMPLE_SEED).sample(small, SAMPLE_SIZE)


class Line:
    """What came of all trials of one kind."""

    def __init__(self, trials: Iterable[Trial[Any, Verdict]]) -> None:
        self.counts: Counter[str] = Counter()
        self.told: list[str] = []
        self.minor = 0
        self.cpu_s = 0.0
        for trial in trials:
            self.take(trial)

    def take(self, trial: Trial[Any, Verdict]) -> None:
        """Count one trial."""
        path = trial.item[0] if isinstance(trial.item, tuple) else trial.item
        verdict = trial.result
        outcome = verdict.outcome if verdict else trial.failure.partition(":")[0]
        self.counts[outcome] += 1
        if verdict:
            self.minor += verdict.minor and outcome == "exact"
            self.cpu_s += verdict.cpu_s
        if outcome not in ("exact", "unparseable"):
            details = "; ".join(verdict.details) if verdict else trial.failure
            self.told.append(f"{outcome} {path.name}: {details}")

    @property
    def parseable(self) -> int:
        """How many files the judge could read."""
        return self.counts.total() - self.counts["unparseable"]

    def shown(self, title: str) -> str:
        """A row of the table."""
        rest = {
            key: count for key, count in self.counts.items()
            if key not in ("exact", "loss", "refused", "corrupt", "unparseable")
        }  # fmt: skip
        return (
            f"{title:28} {self.parseable:5} files {self.counts['exact']:5} exact "
            f"{self.counts['loss']:4} loss {self.counts['corrupt']:3} corrupt "
            f"{self.counts['refused']:4} refused, {self.cpu_s:6.1f} s, {self.minor} with minor "
            f"differences{', ' + str(rest) if rest else ''}"
        )

    def check(self) -> None:
        """Nothing is lost, nothing corrupt; 99 of 100 are edited, the rest is refused by name."""
        bad = [text for text in self.told if not text.startswith("refused")]

        assert bad == []
        assert self.counts["exact"] + self.counts["refused"] == self.parseable
        assert self.counts["exact"] >= 0.99 * self.parseable, self.told


@pytest.fixture(scope="module")
def sampled(corpora: Path) -> dict[str, Line]:
    """The sample, tried in all ways at once."""
    lines = {name: Line(()) for name in ("one cell", "sixty cells", "looks", "map and read")}
    files = [(path, index % 2 == 0) for index, path in enumerate(sample(corpora))]
    for trial in run_each(every_day, files):
        assert trial.result is not None, (trial.item, trial.failure)
        for name, verdict in trial.result.items():
            lines[name].take(Trial(trial.item, verdict, ""))
    return lines


@pytest.mark.parametrize("way", ["one cell", "sixty cells", "looks"])
def test_sample(sampled: dict[str, Line], way: str) -> None:
    """One cell, 60 random cells, and looks with a new sheet: nothing else changes in the sample."""
    line = sampled[way]

    assert line.counts["exact"] >= 0.8 * SAMPLE_SIZE
    assert line.counts["exact"] + line.counts["refused"] == line.parseable, line.told


def test_sample_is_read(sampled: dict[str, Line]) -> None:
    """Every file of the sample is mapped and read, or refused with a typed error."""
    line = sampled["map and read"]

    assert line.counts["exact"] >= 0.8 * SAMPLE_SIZE
    assert line.counts["exact"] + line.counts["refused"] == SAMPLE_SIZE, line.told


def shown(capsys: pytest.CaptureFixture[str], *texts: str) -> None:
    """Print past the capture: the figures are what the soak is run for."""
    with capsys.disabled():
        print("", *texts, sep="\n")


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_one_cell_in_every_workbook(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One cell is set in each, over a constant or below: 0 loss, 0 corrupt, 99 of 100 edited."""
    files = [(path, index % 2 == 0) for index, path in enumerate(workbooks(corpora))]
    ours = Line(run_each(one_cell, [(path, "kbd", over) for path, over in files]))
    theirs = Line(run_each(one_cell, [(path, "openpyxl", over) for path, over in files]))

    shown(capsys, ours.shown("one cell, kbd"), theirs.shown("one cell, openpyxl"), *ours.told)
    ours.check()
    assert theirs.counts["loss"] > 100, "the judge sees no loss where losses are known"


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("trial", [sixty_cells, one_look])
def test_many_changes_in_every_workbook(
    corpora: Path, capsys: pytest.CaptureFixture[str], trial: Callable[[Path], Verdict]
) -> None:
    """60 random cells; or looks, sizes, panes and a new sheet: only what was meant changes."""
    line = Line(run_each(trial, workbooks(corpora)))

    shown(capsys, line.shown(trial.__name__), *line.told)
    line.check()


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_every_workbook_is_read(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is mapped and read, or refused with a typed error within 40 s; none hangs or dies."""
    files = workbooks(corpora)
    ours = Line(run_each(map_and_read, [(path, "kbd") for path in files]))
    theirs = Line(run_each(map_and_read, [(path, "openpyxl") for path in files]))

    read, other = ours.counts["exact"], theirs.counts["exact"]
    told = f"mapped and read of {len(files)}: kbd {read}, openpyxl {other}"
    shown(capsys, told, f"kbd {ours.counts}", f"openpyxl {theirs.counts}", *ours.told)
    assert ours.counts["exact"] + ours.counts["refused"] == len(files)
    assert read >= other


def converted(folder: Path, files: list[Path], profile: Path) -> dict[str, list[list[str]]]:
    """The sheets that LibreOffice shows of each file, by "name-sheet", as texts.

    One call for twenty files; where one of them makes it end, the rest is tried one by one.
    """
    folder.mkdir()
    # Separator, quotes, UTF-8, from line 1, as shown, every sheet into a file of its own.
    every = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    command = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless"]
    for start in range(0, len(files), 20):
        batch = files[start : start + 20]
        for some in (batch, *([file] for file in batch)):
            missing = [file for file in some if not list(folder.glob(f"{file.stem}-*.csv"))]
            if missing:
                subprocess.run(
                    [*command, "--convert-to", every, "--outdir", folder, *missing],
                    capture_output=True, timeout=300, check=False,
                )  # fmt: skip
    found = {}
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found[path.stem] = list(csv.reader(file))
    return found


@pytest.mark.soak
@pytest.mark.libreoffice
@pytest.mark.timeout(1800)
def test_libreoffice_shows_the_same(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """60 files after an edit open as before it, and cells that it does not touch look alike."""
    profile = tmp_path / "profile"
    profile.mkdir()
    chosen = random.Random(SAMPLE_SEED).sample(workbooks(corpora), OPENED_SIZE)
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    edited = {}
    tasks = [(path, tmp_path / "new" / f"{n:02}{path.suffix}") for n, path in enumerate(chosen)]
    for trial in run_each(append_cell, tasks):
        if trial.result is not None:
            path, target = trial.item
            shutil.copy(path, tmp_path / "old" / target.name)
            edited[target.name] = trial.result
    assert len(edited) >= 0.9 * OPENED_SIZE

    names = sorted(edited)
    old = converted(tmp_path / "olds", [tmp_path / "old" / name for name in names], profile)
    new = converted(tmp_path / "news", [tmp_path / "new" / name for name in names], profile)

    shown(
        capsys,
        f"LibreOffice shows {len(old)} sheets before and {len(new)} after, {len(names)} files",
    )
    assert old.keys() == new.keys()
    assert len({key.partition("-")[0] for key in old}) >= 0.9 * len(names)
    for name in names:
        assert unlike(tmp_path / "old" / name, edited[name], old, new) == []


def unlike(
    path: Path,
    cell: tuple[str, str],
    old: dict[str, list[list[str]]],
    new: dict[str, list[list[str]]],
) -> list[str]:
    """The cells of a file that are shown otherwise though nothing they depend on was edited."""
    book = Book(path)
    title, at = cell[0].lower(), place(cell[1])
    may = affected(book, [(title, at)]).may | {(title, at)}
    found = []
    for sheet in book.worksheets:
        key = f"{path.stem}-{sheet.title}"
        if key not in old:
            continue
        touched = {spot for name, spot in may if name == sheet.title.lower()}
        for row in range(max(len(old[key]), len(new[key]))):
            one = old[key][row] if row < len(old[key]) else []
            other = new[key][row] if row < len(new[key]) else []
            for column in range(max(len(one), len(other))):
                was = one[column] if column < len(one) else ""
                now = other[column] if column < len(other) else ""
                if was != now and Place(row + 1, column + 1) not in touched:
                    found.append(f"{path.name} {sheet.title} {row + 1},{column + 1}: {was} {now}")
    book.close()
    return found
