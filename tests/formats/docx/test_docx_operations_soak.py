"""Each operation of the tool on every real document: applied as it is meant, or refused by name."""

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from document_choices import CHOICES
from document_trials import DocumentTrial, tried_document
from judging_children import Trial, run_each
from kbd_docx import DocxFormat

EVERY = int(os.environ.get("KBD_SOAK_EVERY", "1"))
"""Of how many documents one is tried, for a shorter run."""

OPENED = 10
"""Of how many results LibreOffice opens one."""

SAMPLE = 80
"""Of how many documents the full tier tries one."""

REASONS = (
    "a field (such as a table of contents) lies only partly", "is one of several alternatives",
    "locked against being deleted", "holds the settings of a section", "no text to search",
    "is part of a merged cell", "hMerge", "goes over that place", "has no cell of its own",
    "would be left without a cell", "a table needs a", "cuts through a cell", "beyond the range",
    "not built as its kind", "at most 63 columns", "has at most", "there is no col",
    "content control of its own", "leave no room for text", "a section ends after paragraph 1",
    "is locked against being changed",
)  # fmt: skip
"""What may be in the way of an operation on a real document, as its refusal names it."""


ELSEWHERE = frozenset((
    "accept_changes", "reject_changes", "fill_template", "add_comment", "reply_comment",
    "resolve_comment", "delete_comment", "add_image", "add_hyperlink", "add_footnote",
    "add_endnote", "add_bookmark", "add_field", "append_document",
))  # fmt: skip
"""Operations that `test_docx_marks_real` and `test_docx_tracking_real` try on real documents."""


def test_each_operation_is_tried() -> None:
    """The tool has no operation for which nothing chooses arguments."""
    tried = {each.op or name for name, each in CHOICES.items()}
    assert tried | ELSEWHERE == {each.__struct_config__.tag for each in DocxFormat().operations}


def documents(corpora: Path, every: int) -> list[Path]:
    """Each so many of the documents of the corpora."""
    return sorted((corpora / "docx").iterdir())[::every]


def findings_of(trial: Trial[Any, DocumentTrial]) -> list[str]:
    """What is wrong, with the document's name; a refusal without a reason is."""
    name = trial.item[0].name
    if trial.result is None:
        return [f"{name}: {trial.failure}"]
    result = trial.result
    if result.outcome == "refused" and not any(reason in result.reason for reason in REASONS):
        return [f"{name}: refused: {result.reason} ({result.operation})"]
    return [f"{name}: {text} ({result.operation})" for text in result.findings]


@pytest.mark.corpora
@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("op", CHOICES)
def test_every_document_takes_it_or_refuses_it_by_name(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], op: str
) -> None:
    """Same bytes twice, nothing unnamed lost, in the review just that, and it opens elsewhere."""
    tasks = [
        (path, op, tmp_path / f"{number}.docx" if is_opened(op, path) else None)
        for number, path in enumerate(documents(corpora, EVERY))
    ]
    originals = {kept.name: path for path, _, kept in tasks if kept is not None}
    counts, findings, slowest = Counter[str](), list[str](), 0.0
    for trial in run_each(tried_document, tasks, limit_s=120):
        counts[trial.result.outcome if trial.result else "failed"] += 1
        findings += findings_of(trial)
        slowest = max(slowest, trial.result.seconds if trial.result else 0)
    findings += not_opened(tmp_path, originals)
    with capsys.disabled():
        print(
            f"\n{op:22} {counts['applied']:4} applied {counts['refused']:3} refused "
            f"{counts['none']:4} none to address {counts['unreadable']:3} unreadable "
            f"{len(findings):3} findings, {slowest:.1f} s at most"
        )

    assert not findings, "\n".join(findings)
    assert counts["applied"]


@pytest.mark.corpora
@pytest.mark.full
@pytest.mark.parametrize("op", CHOICES)
def test_some_documents_take_it_or_refuse_it_by_name(corpora: Path, op: str) -> None:
    """The same of a few documents, without another program."""
    first = crc32(op.encode()) % SAMPLE
    tasks = [(path, op, None) for path in documents(corpora, 1)[first::SAMPLE]]
    findings = [
        text for task in tasks for text in findings_of(Trial(task, tried_document(task), ""))
    ]

    assert not findings, "\n".join(findings)


def is_opened(op: str, path: Path) -> bool:
    """Whether LibreOffice opens the result, by a settled choice."""
    return crc32(f"{op} {path.name}".encode()) % OPENED == 0 and path.suffix == ".docx"


def not_opened(folder: Path, originals: dict[str, Path]) -> list[str]:
    """Results that LibreOffice does not open, though it opens what they were made of."""
    results = sorted(folder.glob("*.docx"))
    if not results:
        return []
    _converted(folder, results)
    found = []
    for path in results:
        if (folder / "pdf" / f"{path.stem}.pdf").exists():
            continue
        # One that ends the program keeps those behind it from being opened.
        _converted(folder, [path])
        original = originals[path.name]
        if not (folder / "pdf" / f"{path.stem}.pdf").exists():
            _converted(folder, [original])
            if (folder / "pdf" / f"{original.stem}.pdf").exists():
                found.append(f"LibreOffice does not open what came of {original.name}")
    return found


def _converted(folder: Path, paths: list[Path]) -> None:
    subprocess.run(
        ["soffice", "--headless", f"-env:UserInstallation={(folder / 'profile').as_uri()}",
         "--convert-to", "pdf", "--outdir", folder / "pdf", *paths],
        check=False, capture_output=True, timeout=1200,
    )  # fmt: skip
