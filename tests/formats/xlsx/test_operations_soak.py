"""Each operation of the tool on every real workbook: applied as it is meant, or refused by name."""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from judging_children import Trial, run_each
from kbd_xlsx import XlsxFormat
from operation_choices import CHOICES
from operation_trials import OperationTrial, tried
from real_workbooks import real_workbooks
from shifted_books import loaded

pytestmark = [pytest.mark.soak, pytest.mark.corpora, pytest.mark.timeout(3600)]

OPENED = 10
"""Of how many results LibreOffice calculates one."""

EVERY = int(os.environ.get("KBD_SOAK_EVERY", "1"))
"""Of how many workbooks one is tried, for a shorter run."""

REASONS = (
    "of a trial version", "strict variant", "password", "merged cells", "array formula",
    "has macros", "holds comments", "is filled ", "pivot table", "holds the totals", "totals in",
    "of numbers to draw", "overlaps table", "overlaps the sheet's filter", "is part of table",
    "is empty; each column", "holds a formula; write it as text", "holds something",
    "in the header of the table", "stays: ", "cannot be copied: its", "is named by formulas",
    "one has to stay in sight", "would lose", "cannot be changed safely",
    "thread of comments", "the header of table", "would have no column left",
    "without a stored result", "chart of a newer kind", "data table (what-if)", "stays in sight",
    "which formulas refer to by that name",
)  # fmt: skip
"""What may be in the way of an operation on a real workbook, as its refusal names it."""

_BESIDE = re.compile(
    r"review names (height|part|name|comment|validation|conditional format|merged range)"
    r"|review names (column|cell|row|format|width) .*!"
)
"""What the review may name beside lines that came or went: where little but blanks is below or
beside them, nothing tells a line that moved from one that was emptied."""
BESIDE_SHARE = 0.08
"""In what share of the workbooks it may."""

_OF_LINES = (
    "insert_rows", "delete_rows", "insert_columns", "delete_columns", "delete_rows_where",
)  # fmt: skip


def paths(corpora: Path) -> list[Path]:
    """The workbooks of the corpora, each as somebody would begin with it."""
    inputs = sorted((corpora / "spreadsheetbench").rglob("*_input.xlsx"))
    return (real_workbooks(corpora) + inputs)[::EVERY]


def reason_of(trial: Trial[Any, OperationTrial]) -> str:
    """What of the known reasons a refusal has, "" if none."""
    assert trial.result is not None
    return next((text for text in REASONS if text in trial.result.reason), "")


def findings_of(op: str, trial: Trial[Any, OperationTrial]) -> list[str]:
    """What is wrong, with the workbook's name; a refusal without a reason is."""
    name = trial.item[0].name
    if trial.result is None:
        return [f"{name}: {trial.failure}"]
    if trial.result.outcome == "refused" and not reason_of(trial):
        return [f"{name}: refused: {trial.result.reason}"]
    return [
        f"{name}: {text} ({trial.result.operation})"
        for text in trial.result.findings
        if not is_beside(op, text)
    ]


def is_beside(op: str, finding: str) -> bool:
    """Whether the review names what it may name beside lines."""
    return op in _OF_LINES and _BESIDE.match(finding) is not None


def test_each_operation_is_tried() -> None:
    """The tool has no operation for which nothing chooses arguments."""
    assert set(CHOICES) == {each.__struct_config__.tag for each in XlsxFormat().operations}


@pytest.mark.parametrize("op", CHOICES)
def test_every_workbook_takes_it_or_refuses_it_by_name(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], op: str
) -> None:
    """Same bytes twice, nothing else lost, in the review just that, gone from the bytes what went.

    An edit on top works, openpyxl reads the result, and no call takes long.
    """
    tasks = [
        (path, op, tmp_path / f"{number}{path.suffix}" if is_opened(op, path) else None)
        for number, path in enumerate(paths(corpora))
    ]
    counts, reasons, findings, slowest = Counter[str](), Counter[str](), list[str](), 0.0
    beside = 0
    for trial in run_each(tried, tasks, limit_s=120):
        result = trial.result
        counts[result.outcome if result else "failed"] += 1
        findings += findings_of(op, trial)
        beside += result is not None and any(is_beside(op, each) for each in result.findings)
        slowest = max(slowest, result.seconds if result else 0)
        if result and result.outcome == "refused":
            reasons[reason_of(trial) or "?"] += 1
    originals = {to.name: path for path, _, to in tasks if to is not None}
    findings += opened_otherwise(tmp_path, originals)
    refused = ", ".join(f"{count} {reason.strip()!r}" for reason, count in reasons.most_common())
    with capsys.disabled():
        print(
            f"\n{op:22} {counts['applied']:4} applied {counts['refused']:3} refused "
            f"{counts['none']:4} none to address {counts['unreadable']:3} no workbook "
            f"{len(findings):3} findings, {beside:2} with more in the review, {slowest:.1f} s at "
            f"most; refused: {refused or '-'}"
        )

    assert not findings, "\n".join(findings)
    assert beside <= counts["applied"] * BESIDE_SHARE
    assert counts["applied"]


def is_opened(op: str, path: Path) -> bool:
    """Whether LibreOffice calculates the result, by a settled choice."""
    return crc32(f"{op} {path.name}".encode()) % OPENED == 0 and path.suffix == ".xlsx"


# What these come to is of the moment, of chance, of the file's place or of links to the outside.
_OTHERWISE = ("NOW(", "TODAY(", "RAND", "CELL(", "INFO(", "[", "INDIRECT(", "OFFSET(")


def opened_otherwise(folder: Path, originals: Mapping[str, Path]) -> list[str]:
    """Numbers that kbd has stored for formulas, and LibreOffice calculates otherwise.

    So are results that it does not open, though it opens what they were made of.
    """
    results = sorted(folder.glob("*.xlsx"))
    if not results:
        return []
    _calculate(folder, results)
    found = []
    for path in results:
        theirs = folder / "libre" / path.name
        if not theirs.exists():
            # One that ends the program keeps those behind it from being opened.
            _calculate(folder, [path])
        if not theirs.exists():
            original = originals[path.name]
            _calculate(folder, [original])
            if (folder / "libre" / original.name).exists():
                found.append(f"LibreOffice does not open what came of {original.name}")
            continue
        found += [f"{path.name} {each}" for each in _otherwise(path, theirs)][:3]
    return found


def _calculate(folder: Path, paths: Sequence[Path]) -> None:
    subprocess.run(
        ["soffice", "--headless", f"-env:UserInstallation={(folder / 'profile').as_uri()}",
         "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", folder / "libre", *paths],
        check=False, capture_output=True, timeout=1200,
    )  # fmt: skip


def _otherwise(ours: Path, theirs: Path) -> list[str]:
    try:
        texts, stored, calculated = (
            loaded(ours), loaded(ours, values=True), loaded(theirs, values=True)
        )  # fmt: skip
    except Exception:  # noqa: BLE001 - openpyxl raises anything, of the workbook before, too
        return []
    if any(
        word in str(cell.value)
        for sheet in texts for row in sheet.iter_rows() for cell in row
        for word in ("RAND", "TODAY(", "NOW(")
    ):  # fmt: skip
        # What hangs on chance or the time is another number each time.
        return []
    return [
        f"{sheet.title}!{cell.coordinate}: {cell.value} {mine!r}, LibreOffice {other!r}"
        for sheet in texts.worksheets
        if sheet.title in calculated.sheetnames
        for row in sheet.iter_rows(max_row=500)
        for cell in row
        if cell.data_type == "f" and not any(word in str(cell.value) for word in _OTHERWISE)
        for mine in [stored[sheet.title][cell.coordinate].value]
        for other in [calculated[sheet.title][cell.coordinate].value]
        # LibreOffice takes FALSE for 0 in comparisons, other programs do not.
        if type(mine) in (int, float) and type(other) in (int, float)
        and mine != pytest.approx(other, rel=1e-9, abs=1e-9)
    ]  # fmt: skip
