"""Edited workbooks that nobody here wrote open in LibreOffice, and look as they did before."""

import csv
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from judging.book import Book
from judging.dependents import affected
from judging.places import Place, place
from judging_children import run_each
from judging_trials import (
    append_cell,
)

SAMPLE_SEED = 1603
OPENED_SIZE = 60

pytestmark = pytest.mark.corpora


def workbooks(corpora: Path) -> list[Path]:
    """All workbooks of the corpora, hostile ones, too."""
    found = [*corpora.glob("xlsx/*"), *corpora.glob("xlsx_rare/*")]
    found += corpora.glob("spreadsheetbench/**/*.xlsx")
    return sorted(path for path in found if path.is_file())


def shown(capsys: pytest.CaptureFixture[str], *texts: str) -> None:
    """Print past the capture: the figures are what it is run for."""
    with capsys.disabled():
        print("", *texts, sep="\n")


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


@pytest.mark.full
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
