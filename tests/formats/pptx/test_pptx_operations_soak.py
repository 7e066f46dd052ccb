"""Each operation on the contents of slides on every real deck: applied as meant, or refused."""

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from deck_operation_choices import CHOICES
from deck_operation_trials import DeckTrial, tried_on_deck
from judging_children import Trial, run_each

OPENED = 12
"""Of how many results LibreOffice opens one."""

EVERY = int(os.environ.get("KBD_SOAK_EVERY", "1"))
"""Of how many decks one is tried, for a shorter run."""

SAMPLED = 40
"""Of how many decks `make test-full` tries one."""

REASONS = (
"is merged into", "reach over row", "cannot be changed",
    "several levels", "those of another file", "needs it", "has no series",
    "draws its series in several ways", "are its x values", "not built as its kind",
    "is damaged", "its part is missing", "macros", "password",
    "there is no picture",
)  # fmt: skip
"""What may be in the way of an operation on a real deck, as its refusal names it."""


def reason_of(trial: Trial[Any, DeckTrial]) -> str:
    """What of the known reasons a refusal has, "" if none."""
    assert trial.result is not None
    return next((text for text in REASONS if text in trial.result.reason), "")


def findings_of(trial: Trial[Any, DeckTrial]) -> list[str]:
    """What is wrong, with the deck's name; a refusal without a reason is."""
    name = trial.item[0].name
    if trial.result is None:
        return [f"{name}: {trial.failure}"]
    if trial.result.outcome == "refused" and not reason_of(trial):
        return [f"{name}: refused: {trial.result.reason}"]
    return [f"{name}: {text} ({trial.result.operation})" for text in trial.result.findings]


def tried_all(paths: list[Path], op: str, folder: Path) -> tuple[str, list[str], int]:
    """Try an operation on decks; return the figures in words, what is wrong, how many took it."""
    tasks = [
        (path, op, folder / f"{number}{path.suffix}" if _is_opened(op, path) else None)
        for number, path in enumerate(paths)
    ]
    counts, reasons, findings, slowest = Counter[str](), Counter[str](), list[str](), 0.0
    for trial in run_each(tried_on_deck, tasks, limit_s=120):
        result = trial.result
        counts[result.outcome if result else "failed"] += 1
        findings += findings_of(trial)
        slowest = max(slowest, result.seconds if result else 0)
        if result and result.outcome == "refused":
            reasons[reason_of(trial) or "?"] += 1
    originals = {to.stem: path for path, _, to in tasks if to is not None}
    opened, unopened = opened_otherwise(folder, originals)
    findings += unopened
    refused = ", ".join(f"{count} {reason.strip()!r}" for reason, count in reasons.most_common())
    figures = (
        f"{op:18} {counts['applied']:4} applied {counts['refused']:3} refused {counts['none']:4} "
        f"none to address {counts['unreadable']:3} no deck, {opened} opened by LibreOffice, "
        f"{len(findings):3} findings, {slowest:.1f} s at most; refused: {refused or '-'}"
    )
    return figures, findings, counts["applied"]


def _is_opened(op: str, path: Path) -> bool:
    """Whether LibreOffice opens the result, by a settled choice."""
    return crc32(f"{op} {path.name}".encode()) % OPENED == 0 and path.suffix == ".pptx"


def opened_otherwise(folder: Path, originals: dict[str, Path]) -> tuple[int, list[str]]:
    """How many results LibreOffice opens, and which it does not though it opens the original."""
    results = sorted(folder.glob("*.pptx"))
    _converted(folder, results)
    opened, found = 0, []
    for path in results:
        made = folder / "pdf" / f"{path.stem}.pdf"
        if not made.exists():
            # One that ends the program keeps those behind it from being opened.
            _converted(folder, [path])
        if made.exists():
            opened += 1
            continue
        original = originals[path.stem]
        _converted(folder, [original])
        if (folder / "pdf" / f"{original.stem}.pdf").exists():
            found.append(f"LibreOffice does not open what came of {original.name}")
    return opened, found


def _converted(folder: Path, paths: list[Path]) -> None:
    if paths:
        subprocess.run(
            ["soffice", "--headless", f"-env:UserInstallation={(folder / 'profile').as_uri()}",
             "--convert-to", "pdf", "--outdir", folder / "pdf", *paths],
            check=False, capture_output=True, timeout=1200,
        )  # fmt: skip


@pytest.mark.soak
@pytest.mark.corpora
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("op", CHOICES)
def test_every_deck_takes_it_or_refuses_it_by_name(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], op: str
) -> None:
    """Same bytes twice, nothing else changed, in the review just that, gone what was deleted.

    An edit on top works, python-pptx and LibreOffice open what they opened, no call takes long.
    """
    paths = sorted((corpora / "pptx").iterdir())[::EVERY]
    figures, findings, applied = tried_all(paths, op, tmp_path)
    with capsys.disabled():
        print(f"\n{figures}")

    assert not findings, "\n".join(findings)
    assert applied


@pytest.mark.full
@pytest.mark.corpora
def test_some_decks_take_each_operation(corpora: Path) -> None:
    """The same of a few decks, without LibreOffice."""
    paths = sorted((corpora / "pptx").iterdir())[7::SAMPLED]
    findings, applied = list[str](), Counter[str]()
    tasks = [(path, op, None) for path in paths for op in CHOICES]
    for trial in run_each(tried_on_deck, tasks, limit_s=60):
        findings += findings_of(trial)
        applied[trial.item[1]] += trial.result is not None and trial.result.outcome == "applied"

    assert not findings, "\n".join(findings)
    assert {"add_table", "add_chart", "add_image", "delete_slide"} <= set(+applied)
