"""Objects that are set in real workbooks: nothing else of them changes, and they open."""

import random
import re
import subprocess
from pathlib import Path

import pytest

from fidelity_figures import Line
from judging_children import run_each
from object_trials import objects_set
from real_workbooks import real_workbooks

SAMPLE_SEED = 2311
SAMPLE_SIZE = 60
OPENED_SIZE = 10

pytestmark = [pytest.mark.corpora, pytest.mark.full]

REASONS = (
    "trial version", "merged cells", "strict variant", "password", "filter", "holds comments",
    "overlaps", "thread", "pivot table", "inside",
)  # fmt: skip
"""What may be in the way of an object on a real sheet."""


def chosen(corpora: Path, count: int) -> list[Path]:
    """A few real workbooks."""
    return random.Random(SAMPLE_SEED).sample(real_workbooks(corpora), count)


@pytest.mark.timeout(300)
def test_objects_of_real_workbooks(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that was there stays, each refusal has a reason, and a second run is the same bytes."""
    line, refused = Line(), list[str]()
    for trial in run_each(objects_set, [(path, None) for path in chosen(corpora, SAMPLE_SIZE)]):
        line.take(trial)
        if trial.result is not None and trial.result.outcome in ("exact", "refused"):
            refused += trial.result.details

    with capsys.disabled():
        print("", line.shown("objects set"), *refused, sep="\n")
    line.check(is_exact=False)
    assert line.counts["exact"] >= 0.95 * line.editable
    assert [text for text in refused if not re.search("|".join(REASONS), text)] == []


@pytest.mark.libreoffice
@pytest.mark.timeout(300)
def test_libreoffice_opens_them(corpora: Path, tmp_path: Path) -> None:
    """The rows of the new table are there, and its total is calculated."""
    paths = [path for path in chosen(corpora, 2 * OPENED_SIZE) if path.suffix == ".xlsx"]
    tasks = [(path, tmp_path / f"{n:02}.xlsx") for n, path in enumerate(paths[:OPENED_SIZE])]
    edited = [
        trial.item[1]
        for trial in run_each(objects_set, tasks)
        if trial.result is not None and trial.result.outcome == "exact" and not trial.result.details
    ]
    assert len(edited) >= 0.7 * OPENED_SIZE
    profile = (tmp_path / "profile").as_uri()
    every = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    subprocess.run(
        ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", every,
         "--outdir", tmp_path, *edited],
        capture_output=True, timeout=250, check=False,
    )  # fmt: skip
    for path in edited:
        texts = [found.read_text("utf-8") for found in tmp_path.glob(f"{path.stem}-*.csv")]
        assert any(re.search(r"(?m)^Kbd a,Kbd b\b.*\n1,2\b.*\n3,4\b", text) for text in texts), path
        assert any(re.search(r"(?m)^Total,6\b", text) for text in texts), path
