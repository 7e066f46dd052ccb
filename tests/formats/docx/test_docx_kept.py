"""Edits of real documents change what they name and nothing else, whoever wrote the documents.

Compared line by line with no code of the product; a few are tried every day, all in the soak.
"""

import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import etree

from document_comparison import differing_lines, differing_parts, entries
from kbd.errors import FileReadFailed
from made_documents import edit

APPENDED = "Appended by a test."
REPLACED = "Zyxwv"
SAMPLE_SEED = 2104
SAMPLE_SIZE = 16
SAMPLE_BYTES = 30_000

_WORD = re.compile(r"[A-Za-z]{4,}")
_TEXTS = [
    f"{{http://{space}}}t"
    for space in (
        "schemas.openxmlformats.org/wordprocessingml/2006/main",
        "purl.oclc.org/ooxml/wordprocessingml/main",
    )
]
_STAYED = ("showingPlcHdr>",)
"""A prompt that was replaced is no prompt any more."""


def documents(corpora: Path) -> list[Path]:
    """All documents of the corpora."""
    return sorted(path for path in (corpora / "docx").iterdir() if path.is_file())


def sample(corpora: Path, size: int = SAMPLE_SIZE) -> list[Path]:
    """A few that are not large."""
    small = [path for path in documents(corpora) if path.stat().st_size <= SAMPLE_BYTES]
    return random.Random(SAMPLE_SEED).sample(small, size)


def appended(path: Path, to: Path) -> str:
    """Append a paragraph and tell what came of it."""
    try:
        edit(path, {"op": "append_paragraph", "text": APPENDED}, to=to)
    except FileReadFailed:
        return "unreadable"
    ((before, after),) = differing_parts(path, to).values()
    went, came = differing_lines(before, after)
    words = [line for line in came if not line.startswith("<")]
    tags = [re.sub(r".*}|>", "", line) for line in came if line.startswith("<")]
    # The tags of what came and of what it came between may be told apart in two ways.
    rightly = words == [APPENDED] and sorted(tags) == ["p", "p", "r", "r", "t", "t"]
    return "exact" if rightly and not went else f"{path.name}: {went[:3]} {came[:9]}"


def replaced(path: Path, to: Path) -> str:
    """Replace a word that occurs and tell what came of it."""
    words = Counter(words_of(path))
    if not words:
        return "no words"
    word = random.Random(path.name).choice(sorted(words))
    operation = {"op": "replace_text", "search": word, "replace": REPLACED, "match_case": True}
    applied = edit(path, operation, to=to)
    came: list[str] = []
    for before, after in differing_parts(path, to).values():
        lines = differing_lines(before, after)
        if [each for each in lines[0] if not touches(each, word) and not each.endswith(_STAYED)]:
            return f"{path.name}, {word}: {lines[0][:5]}"
        left = [each for each in lines[1] if REPLACED not in each]
        if [each for each in left if not any(gone.endswith(each) for gone in lines[0])]:
            return f"{path.name}, {word}: {lines[1][:5]}"
        came += lines[1]
    count = int(applied.changed[0].split()[0])
    # Alternatives that say the same are counted once, so that more may have come.
    return "exact" if 0 < count <= "".join(came).count(REPLACED) else f"{path.name}: {count}"


def touches(line: str, word: str) -> bool:
    """Whether a line has a word in it, or a part of it at an end, where a run goes over it."""
    cuts = range(1, len(word))
    return word in line or any(
        line.endswith(word[:cut]) or line.startswith(word[cut:]) for cut in cuts
    )


def words_of(path: Path) -> Iterable[str]:
    """The words that stand whole in one element of the body."""
    root = etree.fromstring(main_part(path), etree.XMLParser(huge_tree=True))
    return [word for each in root.iter(*_TEXTS) for word in _WORD.findall(each.text or "")]


def main_part(path: Path) -> bytes:
    """The part that holds the body, as the relations of the package tell."""
    found = entries(path)
    (name,) = (
        each.get("Target", "").lstrip("/")
        for each in etree.fromstring(found["_rels/.rels"])
        if each.get("Type", "").endswith("/officeDocument")
    )
    return found[name]


def tried(paths: Iterable[Path], tmp_path: Path) -> Counter[str]:
    """What came of both edits of each; results are opened by the plain library again."""
    found: Counter[str] = Counter()
    for path in paths:
        to = tmp_path / path.name
        outcome = appended(path, to)
        found[f"append {outcome}"] += 1
        if outcome == "exact":
            if path.suffix == ".docx" and b"purl.oclc.org" not in entries(path)["_rels/.rels"]:
                opened(path, to)
            found[f"replace {replaced(path, to)}"] += 1
    return found


def opened(before: Path, after: Path) -> None:
    """Check that the plain library opens what it opened before, and finds the new paragraph."""
    try:
        docx.Document(str(before))
    except (KeyError, ValueError):
        return
    assert docx.Document(str(after)).paragraphs[-1].text == APPENDED


@pytest.mark.corpora
def test_a_sample_is_kept(corpora: Path, tmp_path: Path) -> None:
    """One paragraph more, one word else: nothing but that differs."""
    found = tried(sample(corpora), tmp_path)

    assert set(found) <= {"append exact", "append unreadable", "replace exact", "replace no words"}
    assert found["append exact"] >= 0.9 * SAMPLE_SIZE
    assert found["replace exact"] >= 0.6 * SAMPLE_SIZE


@pytest.mark.soak
@pytest.mark.corpora
@pytest.mark.timeout(900)
def test_all_are_kept(corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same in every document that can be read."""
    found = tried(documents(corpora), tmp_path)

    with capsys.disabled():
        print("", *(f"{count:5} {what}" for what, count in found.most_common()), sep="\n")
    assert set(found) <= {"append exact", "append unreadable", "replace exact", "replace no words"}
    assert found["append exact"] >= 0.97 * found.total() / 2


@pytest.mark.libreoffice
def test_another_program_reads_what_was_written(tmp_path: Path) -> None:
    """A new document with all operations, as LibreOffice reads it: each text in its place."""
    path = tmp_path / "new.docx"
    edit(
        None,
        {"op": "append_paragraph", "text": "Quarterly Report", "style": "Title"},
        {"op": "append_paragraph", "text": "one\ttab\nbroken", "style": "List Number"},
        {"op": "append_paragraph", "runs": [{"text": "Tea "}, {"text": "costs", "bold": True}]},
        {"op": "add_table", "rows": [["Item", "Cost"], ["{{item}}", 4.5]]},
        {"op": "insert_paragraph", "at": 2, "text": "Sümmary & <more>", "style": "Heading 1"},
        {"op": "replace_text", "search": "{{ITEM}}", "replace": "Tea"},
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 1, "text": "Price"}]},
        to=path,
    )

    lines = [line.strip() for line in read_by_libreoffice(path).split("\n")]
    assert lines == [
        "Quarterly Report", "Sümmary & <more>", "1. one\ttab", "broken", "Tea costs",
        "Item", "Price", "Tea", "4.5", "", "",
    ]  # fmt: skip


@pytest.mark.soak
@pytest.mark.libreoffice
@pytest.mark.corpora
def test_another_program_reads_edited_documents(corpora: Path, tmp_path: Path) -> None:
    """Of real documents: the text that LibreOffice read before, and the new paragraph behind."""
    checked = 0
    for path in sample(corpora, 8):
        to = tmp_path / path.name
        if appended(path, to) != "exact":
            continue
        before, after = read_by_libreoffice(path, tmp_path), read_by_libreoffice(to)
        assert after.rstrip("\n").endswith(APPENDED), path.name
        assert before.rstrip("\n") == after.rstrip("\n").removesuffix(APPENDED).rstrip("\n")
        checked += 1
    assert checked >= 6


def read_by_libreoffice(path: Path, folder: Path | None = None) -> str:
    """Return a document's text as LibreOffice reads it."""
    folder = (folder or path.parent) / "read"
    command: list[Any] = [
        "soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to",
        "txt:Text (encoded):UTF8", "--outdir", folder, path,
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return (folder / f"{path.stem}.txt").read_text("utf-8-sig")
