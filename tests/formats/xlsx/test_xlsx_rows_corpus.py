"""Rows into real workbooks that nobody here wrote: the independent judge finds nothing lost."""

from collections import Counter
from pathlib import Path

import pytest

from judging_children import run_each
from rows_trials import Where, rows_into
from samples import half_or_all

pytestmark = [pytest.mark.corpora, pytest.mark.full, pytest.mark.timeout(1800)]


@half_or_all
@pytest.mark.parametrize(("where", "least"), [("below", 0.96), ("beside", 0.97), ("over", 0.65)])
def test_rows_in_every_workbook(
    corpora: Path, capsys: pytest.CaptureFixture[str], where: Where, least: float, every: int
) -> None:
    """Three rows below, beside or over what is there: 0 loss; what is in the way is named.

    Below a total none are written, nor over a formula.
    """
    found = [*corpora.glob("xlsx/*.xls[xm]"), *corpora.glob("xlsx_rare/*.xls[xm]")]
    found += corpora.glob("spreadsheetbench/**/*.xlsx")
    counts: Counter[str] = Counter()
    told = []
    for trial in run_each(
        rows_into, [(path, where) for path in sorted(found)[::every]], limit_s=150
    ):
        outcome = trial.result.outcome if trial.result else trial.failure
        name = trial.item[0].name
        counts[outcome] += 1
        if outcome not in ("exact", "none"):
            told.append(f"{outcome} {name}: {trial.result.details if trial.result else ''}")

    with capsys.disabled():
        print(f"\nrows {where}: {dict(counts)}")
    tried = counts.total() - counts["none"]
    assert counts["exact"] + counts["refused"] == tried, told
    assert counts["exact"] >= least * tried, told
