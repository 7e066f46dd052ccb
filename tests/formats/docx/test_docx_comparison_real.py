"""Comparisons of real documents: with themselves, and with what seeded operations make of them."""

import random
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Change, CompareOptions, Comparison, Region, Source
from kbd_docx import DocxFormat
from kbd_docx.document import W, blocks
from made_documents import body_of, edit
from samples import half_or_all

FORMAT = DocxFormat()
EVERY = 25
"""Which share of the documents `make test` compares; `make test-full` compares all."""

NEW = "A sentence that no document has: 341.60"


def documents(corpora: Path) -> list[Path]:
    found = sorted((corpora / "docx").iterdir())
    assert len(found) >= 400
    return found


def compared(before: Path | None, after: Path | None) -> Comparison:
    sources = [None if path is None else Source(path, path.name) for path in (before, after)]
    return FORMAT.compare(sources[0], sources[1], CompareOptions())


def compare_with_itself(path: Path) -> bool:
    """Compare a document with itself and with none; return whether it can be read."""
    try:
        found = compared(path, path)
    except FileReadFailed:
        return False
    assert (found.total, found.changes) == (0, ()), path.name
    added, removed = compared(None, path), compared(path, None)
    assert added.total == removed.total
    assert {each.kind for each in added.changes} <= {"added"}
    return True


@pytest.mark.corpora
def test_some_real_documents_differ_in_nothing_from_themselves(corpora: Path) -> None:
    """And all that they hold was added where there was none, and removed the other way."""
    chosen = documents(corpora)[::EVERY]
    read = [compare_with_itself(path) for path in chosen]

    assert sum(read) >= len(chosen) * 0.9


@pytest.mark.corpora
@pytest.mark.full
@half_or_all
def test_all_real_documents_differ_in_nothing_from_themselves(corpora: Path, every: int) -> None:
    """Whatever program made them."""
    chosen = documents(corpora)[::every]
    read = [compare_with_itself(path) for path in chosen]

    assert sum(read) >= len(chosen) * 0.97


@pytest.mark.corpora
@pytest.mark.full
def test_real_documents_that_a_library_saves_anew(corpora: Path, tmp_path: Path) -> None:
    """What is only written otherwise does not count; what the library leaves out is told."""
    saved = tmp_path / "saved.docx"
    count = 0
    for path in documents(corpora)[::4]:
        try:
            docx.Document(str(path)).save(str(saved))
            found = compared(path, saved)
        except Exception:  # noqa: BLE001 - whatever it is, the library does not save it
            continue
        count += 1
        assert {(each.kind, each.what) for each in found.changes} <= {("removed", "part")}
    assert count >= 80


def texts(path: Path) -> list[str]:
    """Return the texts of the body's paragraphs, as they are in its runs."""
    return [
        "".join(each.text or "" for each in block.iter(f"{W}t"))
        for block in blocks(body_of(path))
        if block.tag == f"{W}p"
    ]


def operation(path: Path, chance: random.Random) -> dict[str, Any]:
    """Return an operation that fits a document, by chance."""
    source = Source(path, path.name)
    found = FORMAT.map(source)
    count = found["paragraph_count"]
    kinds = ["insert_paragraph"] + ["delete_paragraphs"] * (count > 3)
    kinds += ["set_table_cells"] * bool(found["tables"]) * 2
    match chance.choice(kinds):
        case "insert_paragraph":
            return {"op": "insert_paragraph", "at": chance.randint(1, count + 1), "text": NEW}
        case "delete_paragraphs":
            first = chance.randint(1, count - 1)
            return {"op": "delete_paragraphs", "from": first, "count": chance.randint(1, 2)}
        case _:
            table = chance.choice(found["tables"])
            read = FORMAT.objects(source, Region(section=table["section_index"])).objects or {}
            rows = [each["rows"] for each in read["tables"] if each["index"] == table["index"]]
            row = chance.randrange(max(1, len(rows[0]))) if rows else 0
            cell = {"row": row, "col": 0, "text": NEW}
            return {"op": "set_table_cells", "table": table["index"], "cells": [cell]}


def rebuilt(before: list[str], changes: tuple[Change, ...]) -> list[str]:
    """Apply what a comparison tells of paragraphs to those before, in the places it tells."""
    of_paragraphs = [
        each
        for each in changes
        if each.place.paragraph is not None
        and each.kind != "changed"
        and each.what not in ("content control", "mark between paragraphs")
    ]
    gone = {each.place.paragraph for each in of_paragraphs if each.kind == "removed"}
    left = [text for number, text in enumerate(before) if number not in gone]
    for each in of_paragraphs:
        if each.kind == "added":
            assert each.place.paragraph is not None
            left.insert(each.place.paragraph, each.after)
    return left


def check_operation(path: Path, seed: int, folder: Path) -> bool:
    """Apply an operation and check the comparison; return whether it could be applied."""
    after = folder / "after.docx"
    try:
        wanted = operation(path, random.Random(seed))
        edit(path, wanted, to=after)
        before_texts = texts(path)
    except (FileReadFailed, ValidationFailed, AssertionError, KeyError, etree.LxmlError):
        return False
    found = compared(path, after)
    bodily = [each for each in found.changes if each.place.paragraph is not None
              or each.place.table is not None]  # fmt: skip
    match wanted["op"]:
        case "set_table_cells":
            cells = [each for each in bodily if each.what == "cell"]
            place = cells[0].place
            assert (wanted["table"], wanted["cells"][0]["row"], 0) == (
                place.table, place.row, place.column,
            ), path.name  # fmt: skip
            assert (len(cells), cells[0].after) == (1, NEW), path.name
            assert {each.place for each in bodily} == {place}, path.name
        case "insert_paragraph":
            assert [("added", "paragraph", wanted["at"] - 1, NEW)] == [
                (each.kind, each.what, each.place.paragraph, each.after) for each in bodily
            ], path.name
        case _:
            assert ("added", "paragraph") not in {(each.kind, each.what) for each in bodily}
    if wanted["op"] != "set_table_cells":
        assert texts(after) == rebuilt(before_texts, found.changes), path.name
    return True


@pytest.mark.corpora
def test_operations_on_some_real_documents_are_told_exactly(corpora: Path, tmp_path: Path) -> None:
    """By the numbers that the operations had, and nothing else of the body beside them."""
    chosen = documents(corpora)[1::EVERY]
    done = [check_operation(path, seed, tmp_path) for seed, path in enumerate(chosen)]

    assert sum(done) >= len(chosen) * 0.6


@pytest.mark.corpora
@pytest.mark.full
@half_or_all
def test_operations_on_all_real_documents_are_told_exactly(
    corpora: Path, tmp_path: Path, every: int
) -> None:
    """Strict ones, templates, those with controls and tracked changes as well."""
    chosen = documents(corpora)[::every]
    done = [check_operation(path, seed, tmp_path) for seed, path in enumerate(chosen)]

    assert sum(done) >= len(chosen) * 0.6
