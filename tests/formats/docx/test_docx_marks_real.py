"""Each operation on marks, sections and whole documents over all real documents.

What an operation does not name stays to the byte; no word is lost; the same edit makes the same
bytes; python-docx opens what it opened; a second edit goes on top; the review tells just it.
"""

import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import docx
import pytest

from edited_documents import applied, differences, mapped, picture, source, text_of
from kbd.errors import FileReadFailed, ValidationFailed
from kbd_docx import DocxFormat

EVERY = 40
"""Which share of the documents the full tier takes; the soak takes all."""

SIGNS = re.compile(r"\[(?:\^e?\d+|comment \d+)\]|from page section \d+|reply to \d+")
WORD = re.compile(r"\w+")
TOUCHED = {
    "document.xml", "[Content_Types].xml", "styles.xml", "numbering.xml", "comments.xml",
    "commentsExtended.xml", "footnotes.xml", "endnotes.xml", "settings.xml",
}  # fmt: skip
"""Parts that an operation may change; the relations of the main part are named after that."""

Case = tuple[tuple[dict[str, Any], ...], frozenset[tuple[str, str]]]
TOLD = frozenset((("added", "style"), ("added", "setting"), ("added", "list")))
"""What comes along in a document that has none yet."""

CASES: dict[str, Case] = {
    "comment": (
        ({"op": "add_comment", "paragraph": 1, "text": "Zqc", "author": "Zq"},),
        frozenset((("added", "comment"),)),
    ),
    "image": (
        ({"op": "add_image", "image": "picture", "after": 1, "alt_text": "zq"},),
        frozenset((("added", "picture"),)),
    ),
    "link": (
        ({"op": "add_hyperlink", "paragraph": 1, "text": " Zq", "address": "https://zq.example"},),
        # A blank paragraph that gets words may be told as one in the place of another.
        frozenset(
            (("changed", "paragraph"), ("added", "paragraph"), ("removed", "paragraph"),
             ("added", "link"))
        ),
    ),
    "footnote": (
        ({"op": "add_footnote", "paragraph": 1, "text": "Zqn"},), frozenset((("added", "note"),)),
    ),
    "endnote": (
        ({"op": "add_endnote", "paragraph": 1, "text": "Zqn"},), frozenset((("added", "note"),)),
    ),
    "bookmark": (
        ({"op": "add_bookmark", "paragraph": 1, "name": "Zqb"},),
        frozenset((("added", "bookmark"),)),
    ),
    "contents": (
        ({"op": "add_field", "paragraph": 1, "field": "TOC"},),
        frozenset((("added", "paragraph"),)),
    ),
    "items": (
        (
            {"op": "append_paragraph", "text": "Zqi", "list": "number"},
            {"op": "append_paragraph", "text": "Zqj", "list": "bullet", "level": 1},
        ),
        frozenset((("added", "paragraph"),)),
    ),
    "thread": (
        (
            {"op": "add_comment", "paragraph": 1, "text": "Zqc", "author": "Zq"},
            {"op": "reply_comment", "comment": 1, "text": "Zqr", "author": "Zq"},
            {"op": "resolve_comment", "comment": 1},
        ),
        # The first comment is one that was there where there are some; it is resolved.
        frozenset((("added", "comment"), ("changed", "comment"), ("changed", "format"))),
    ),
    "break": (
        ({"op": "insert_section_break", "after": 1},),
        frozenset((("added", "section"), ("changed", "section"))),
    ),
}  # fmt: skip


def documents(corpora: Path) -> list[Path]:
    found = sorted((corpora / "docx").iterdir())
    assert len(found) >= 400
    return found


def parts(path: Path) -> dict[str, tuple[int, int]]:
    with zipfile.ZipFile(path) as archive:
        return {each.filename: (each.CRC, each.file_size) for each in archive.infolist()}


def words(path: Path) -> Counter[str]:
    return Counter(WORD.findall(SIGNS.sub(" ", text_of(path))))


def opens(path: Path) -> bool:
    try:
        docx.Document(str(path))
    except Exception:  # noqa: BLE001 - whatever it is, it does not open it
        return False
    return True


def check(path: Path, case: Case, folder: Path, shown: Path) -> bool:
    """Edit a document twice and look at what came of it; return whether it could be edited."""
    found, expected = case
    outs = [folder / f"{number}{path.suffix}" for number in range(3)]
    try:
        for out in outs[:2]:
            applied(path, out, *found, picture=shown)
    except (ValidationFailed, FileReadFailed):
        return False
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert opens(outs[0]) or not opens(path)
    before, after = parts(path), parts(outs[0])
    changed = {name.rpartition("/")[2] for name in before if before[name] != after.get(name)}
    main = {name for name in changed if name.startswith("document")}
    assert changed <= TOUCHED | main, path.name
    assert not words(path) - words(outs[0]), path.name
    told = set(differences(path, outs[0]))
    assert told <= expected | TOLD, (path.name, told)
    assert told & expected, path.name
    plain = {"op": "append_paragraph", "text": "Zq on top"}
    applied(outs[0], outs[2], plain)
    assert ("added", "paragraph") in differences(outs[0], outs[2])
    return True


def share_edited(chosen: list[Path], folder: Path) -> None:
    shown = picture(folder / "p.png")
    counts: Counter[str] = Counter()
    readable = 0
    for path in chosen:
        try:
            if not mapped(path)["paragraph_count"]:
                continue
        except FileReadFailed:
            continue
        readable += 1
        for name, case in CASES.items():
            counts[name] += check(path, case, folder, shown)
    print(f"docx: {readable} documents, edited: {dict(counts)}")
    assert all(counts[name] >= readable * 0.9 for name in CASES)


@pytest.mark.corpora
@pytest.mark.full
def test_some_real_documents_take_each_operation(corpora: Path, tmp_path: Path) -> None:
    """All that the room promises holds for a share of the real documents."""
    share_edited(documents(corpora)[::EVERY], tmp_path)


@pytest.mark.corpora
@pytest.mark.soak
@pytest.mark.timeout(3_000)
def test_all_real_documents_take_each_operation(corpora: Path, tmp_path: Path) -> None:
    """All that the room promises holds for every real document."""
    share_edited(documents(corpora), tmp_path)


@pytest.mark.corpora
@pytest.mark.soak
@pytest.mark.timeout(3_000)
def test_all_real_documents_are_appended_without_losing_a_word(
    corpora: Path, tmp_path: Path
) -> None:
    """The words of the body are all there, but for comments, or the document is refused."""
    base, out = tmp_path / "base.docx", tmp_path / "out.docx"
    applied(None, base, {"op": "append_paragraph", "text": "Zq"})
    counts: Counter[str] = Counter()
    for path in documents(corpora):
        try:
            found = mapped(path)
            applied(base, out, {"op": "append_document", "file": "other"}, other=path)
        except (ValidationFailed, FileReadFailed):
            counts["refused"] += 1
            continue
        counts["appended"] += 1
        assert opens(out), path.name
        if not found["has_comments"]:
            lost = body_words(path) - body_words(out)
            assert sum(lost.values()) <= 3, (path.name, lost)
    print(f"docx appended: {dict(counts)}")
    assert counts["appended"] >= 350


def body_words(path: Path) -> Counter[str]:
    passages = DocxFormat().passages(source(path))
    text = " ".join(each.text for each in passages if each.place.startswith("section"))
    return Counter(WORD.findall(SIGNS.sub(" ", re.sub(r"\[section break[^\]]*\]", " ", text))))
