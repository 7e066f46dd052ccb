"""Lies planted in a receipt, or in the files: each is found, and the place is named."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbd.core.audit.receipt_check.command import PROVEN, UNPROVEN, run
from kbd_text.handler import TextFormat
from receipt_rig import CHECKS, FORMATS, Case, edited

Lie = Callable[[Case], object]

SHEET = "xl/worksheets/sheet1.xml"
BODY = "word/document.xml"
SLIDE = "ppt/slides/slide1.xml"


def _cells(*cells: tuple[str, Any]) -> dict[str, Any]:
    told = [{"cell": cell, "value": value} for cell, value in cells]
    return {"op": "set_cells", "sheet": "Data", "cells": told}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A workbook that two calls changed: A1 and B1, then B1 and C3."""
    folder = tmp_path_factory.mktemp("book")
    first = [{"op": "ensure_sheet", "sheet": "Data"}, _cells(("A1", 1), ("B1", "old"), ("A9", "x"))]
    made = edited(
        "xlsx", None,
        [first, [_cells(("A1", 2), ("B1", "mid"))], [_cells(("B1", "new"), ("C3", "=A1"))]],
        folder,
    )  # fmt: skip
    return Case(folder / "case", "book.xlsx", made, FORMATS["xlsx"])


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A document of 8 paragraphs in which two calls changed the second, inserted and deleted."""
    folder = tmp_path_factory.mktemp("document")
    first = [{"op": "set_paragraphs", "paragraphs": [{"text": f"line {n}"} for n in range(8)]}]
    second = [{"op": "replace_text", "search": "line 1", "replace": "first"}]
    third = [
        {"op": "insert_paragraph", "at": 5, "text": "between"},
        {"op": "delete_paragraphs", "from": 8, "count": 1},
    ]
    made = edited("docx", None, [first, second, third], folder)
    return Case(folder / "case", "document.docx", made, FORMATS["docx"])


@pytest.fixture(scope="module")
def deck(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A deck whose first slide got another title and body by two calls."""
    folder = tmp_path_factory.mktemp("deck")
    first = [{"op": "add_slide", "layout": "title_and_content", "title": "One", "body": "a"}]
    made = edited(
        "pptx", None,
        [
            first,
            [{"op": "set_slide_text", "index": 0, "title": "Two"}],
            [{"op": "append_bullets", "index": 0, "bullets": ["b"]}],
        ],
        folder,
    )  # fmt: skip
    return Case(folder / "case", "deck.pptx", made, FORMATS["pptx"])


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A text in which two calls changed the second and the last of four lines."""
    folder = tmp_path_factory.mktemp("text")
    versions = []
    for number, data in enumerate((b"a\nb\nc\nd", b"a\nB\nc\nd", b"a\nB\nc\nD\n")):
        path = folder / str(number)
        path.write_bytes(data)
        versions.append(path)
    return Case(folder / "case", "text.txt", versions, TextFormat())


def _lists(case: Case, part: str) -> dict[str, Any]:
    found: dict[str, Any] = case.parts[part]["inside"]["lists"]
    return found


def _cell(case: Case, address: str) -> dict[str, Any]:
    listed = _lists(case, SHEET)["cells"]["listed"]
    found: dict[str, Any] = next(each for each in listed if each["cell"] == address)
    return found


def test_each_cell_names_the_calls_that_changed_it(book: Case) -> None:
    """Of two calls in one draft, the first, the second, or both; values before and after."""
    told = {
        each["cell"]: ((each["before"] or {}).get("value"), each["after"]["value"], each["by"])
        for each in _lists(book, SHEET)["cells"]["listed"]
    }

    assert told == {
        "A1": ("1", "2", [11]), "B1": ("old", "new", [11, 12]), "C3": (None, "", [12]),
    }  # fmt: skip
    assert _cell(book, "C3")["after"]["formula"] == "A1"
    assert book.parts[SHEET]["title"] == "Data"
    assert book.parts[SHEET]["by"] == [11, 12]


def test_each_paragraph_shape_and_line_names_its_call(
    document: Case, deck: Case, text: Case
) -> None:
    """Stretches are as small as what changed, and each has the call that made it."""

    def told(found: dict[str, Any]) -> list[Any]:
        return [
            (
                each["before_at"],
                *([item["text"] for item in each[side]] for side in ("before", "after")),
                each["by"],
            )
            for each in found["stretches"]
        ]  # fmt: skip

    assert told(_lists(document, BODY)["paragraphs"]) == [
        (2, ["line 1"], ["first"], [11]),
        (5, [], ["between"], [12]),
        (7, ["line 6"], [], [12]),
    ]
    assert told(text.file["inside"]["lists"]["lines"]) == [
        (2, ["b"], ["B"], [11]), (4, ["d"], ["D"], [12]),
    ]  # fmt: skip
    shapes = _lists(deck, SLIDE)["shapes"]
    assert [by for *_, by in told(shapes)] in ([[11], [12]], [[11, 12]])


def test_true_receipts_verify(book: Case, document: Case, deck: Case, text: Case) -> None:
    """All that they say is proven, with calls, and nothing is left unproven."""
    for case in (book, document, deck, text):
        report = case.check()
        assert (report.is_false, report.is_whole) == (False, True), report


def _set(where: Callable[[Case], dict[str, Any]], name: str, value: Any) -> Lie:
    def lie(case: Case) -> None:
        assert where(case)[name] != value
        where(case)[name] = value

    return lie


def _drop_cell(case: Case) -> None:
    cells = _lists(case, SHEET)["cells"]
    cells["listed"] = [each for each in cells["listed"] if each["cell"] != "B1"]
    cells["total"] -= 1


def _call_identical(case: Case) -> None:
    part = case.parts[SHEET]
    after = part["after"]
    part.clear()
    part.update(part=SHEET, status="identical", sha256=after)


def _drop_part(case: Case) -> None:
    inside = case.file["inside"]
    inside["parts"] = [each for each in inside["parts"] if each["part"] != "xl/workbook.xml"]


def _add_part(case: Case) -> None:
    case.file["inside"]["parts"].append(
        {"part": "xl/ghost.xml", "status": "identical", "sha256": "0" * 64}
    )


def _drop_inside(case: Case) -> None:
    del case.parts[SHEET]["inside"]


def _add_cell(case: Case) -> None:
    cells = _lists(case, SHEET)["cells"]
    cells["listed"].append({**cells["listed"][-1], "cell": "Z99"})
    cells["total"] += 1


BOOK_LIES: dict[str, tuple[Lie, str]] = {
    "a value before": (_set(lambda c: _cell(c, "B1")["before"], "value", "other"), "cell B1"),
    "a value after": (_set(lambda c: _cell(c, "A1")["after"], "value", "3"), "cell A1"),
    "a formula": (_set(lambda c: _cell(c, "C3")["after"], "formula", "A2"), "cell C3"),
    "a format": (_set(lambda c: _cell(c, "A1")["after"], "number_format", "0%"), "cell A1"),
    "a cell left out": (_drop_cell, "cell B1 differs, and the receipt leaves it out"),
    "a cell too many": (_add_cell, "lists 4 of cells that differ; 3 do"),
    "the call of a cell": (_set(lambda c: _cell(c, "C3"), "by", [11]), "cell C3 was changed by"),
    "the call of a part": (_set(lambda c: c.parts[SHEET], "by", [11]), f"part {SHEET}"),
    "the digest": (
        _set(lambda c: _lists(c, SHEET)["cells"], "digest", "0" * 64), "digest of all cells",
    ),
    "a part called identical": (_call_identical, "it is changed"),
    "a part left out": (_drop_part, "part xl/workbook.xml"),
    "a part made up": (_add_part, "part xl/ghost.xml"),
    "a part's inside left out": (_drop_inside, "does not tell what differs"),
    "a part's hash": (_set(lambda c: c.parts[SHEET], "after", "0" * 64), f"part {SHEET}"),
    "a title": (_set(lambda c: c.parts[SHEET], "title", "Other"), "not called 'Other'"),
    "the change": (_set(lambda c: c.file, "change", "added"), "calls it added"),
    "the kind": (lambda c: c.receipt["publish"].update(kind="undo"), "no call makes an undo"),
    "a size": (_set(lambda c: c.file["after"], "size_bytes", 1), "the receipt says other"),
    "a step's hash": (_set(lambda c: c.file["steps"][0], "after", "0" * 64), "do not follow"),
    "a step left out": (lambda c: c.file["steps"].pop(), "do not lead"),
    "rows left out": (
        lambda c: _lists(c, SHEET)["rows"].update(total=0, listed=[]), "of rows differ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", BOOK_LIES)
def test_a_lie_about_a_workbook_is_found(book: Case, lie: str) -> None:
    """Whatever of the receipt is changed, the files tell, and the place is named."""
    change, named = BOOK_LIES[lie]
    assert any(named in fault for fault in book.lie(change)), book.lie(change)
    assert not book.check().is_false


def _stretches(case: Case) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _lists(case, BODY)["paragraphs"]["stretches"]
    return found


def _widen(case: Case) -> None:
    first = _stretches(case)[0]
    first["before_count"] += 1
    first["after_count"] += 1


DOCUMENT_LIES: dict[str, tuple[Lie, str]] = {
    "a paragraph left out": (lambda c: _stretches(c).pop(0), "paragraph 2 differs"),
    "an insertion left out": (lambda c: _stretches(c).pop(1), "paragraph"),
    "a text": (_set(lambda c: _stretches(c)[0]["after"][0], "text", "x"), "paragraph 2 after"),
    "the same as changed": (_widen, "takes one that is the same for a changed one"),
    "the call": (_set(lambda c: _stretches(c)[0], "by", [12]), "paragraph 2 was changed by [11]"),
    "another call beside it": (
        _set(lambda c: _stretches(c)[2], "by", [11, 12]), "was changed by [12]",
    ),
    "a place that is not there": (
        _set(lambda c: _stretches(c)[2], "before_at", 70), "not there, or not in order",
    ),
    "the digest": (
        _set(lambda c: _lists(c, BODY)["paragraphs"], "digest", "0" * 64), "digest of all",
    ),
    "what is around": (lambda c: _lists(c, BODY).pop("elements"), "other lists"),
    "the kind": (_set(lambda c: c.parts[BODY]["inside"], "kind", "elements"), "takes it for"),
}  # fmt: skip


@pytest.mark.parametrize("lie", DOCUMENT_LIES)
def test_a_lie_about_a_document_is_found(document: Case, lie: str) -> None:
    """An alignment need not be believed: what it leaves out is compared."""
    change, named = DOCUMENT_LIES[lie]
    assert any(named in fault for fault in document.lie(change)), document.lie(change)


def test_a_lie_about_a_shape_or_a_line_is_found(deck: Case, text: Case) -> None:
    """Text and place of a shape, and lines of plain files, as bytes."""

    def move(case: Case) -> None:
        stretch = _lists(case, SLIDE)["shapes"]["stretches"][0]
        stretch["after"][0]["geometry"] = {"x": "1"}

    assert any("shape 1 after" in fault for fault in deck.lie(move))
    (fault, *_) = text.lie(lambda c: c.file["inside"]["lists"]["lines"]["stretches"].pop())
    assert fault == "line 4 differs, and the receipt leaves it out: 'd' -> 'D'"


def test_another_file_in_its_place_is_compared_part_by_part(book: Case, tmp_path: Path) -> None:
    """A cell that somebody changed afterwards: the sheet is named, and no other part."""
    (after,) = edited("xlsx", book.after, [[_cells(("A9", "forged"))]], tmp_path)[1:]
    whole = book.after.read_bytes()
    book.after.write_bytes(after.read_bytes())
    try:
        faults = book.check().files[0].faults
    finally:
        book.after.write_bytes(whole)
    assert [fault for fault in faults if fault.startswith("part")] == [
        f"part {SHEET}: its bytes are not what they were (changed by [11, 12])"
    ]


def test_what_is_not_at_hand_is_never_proven(book: Case) -> None:
    """Without the version before nothing inside is proven; without one between, no call is."""
    receipt = book.folder / "receipt.json"
    report = book.check(receipt, book.after)
    assert (report.is_false, report.is_whole) == (False, False)
    assert "the version before is not at hand" in report.files[0].unproven[0]
    report = book.check(receipt, book.folder / "before", book.after)
    assert (report.is_false, report.is_whole) == (False, False)
    assert "which call changed what" in report.files[0].unproven[0]
    report = book.check(receipt, *(book.folder / side for side in ("before", "between", "after")))
    assert (report.is_false, report.is_whole) == (False, True)


def test_a_named_file_that_is_no_version_is_told(
    book: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside a folder that proves itself it keeps the code from 0; found in a folder it is none."""
    other = tmp_path / "other"
    other.mkdir()
    strange = other / "renamed.xlsx"
    strange.write_bytes(book.after.read_bytes()[:-1])
    given = [str(book.folder), str(strange)]

    assert run(given, as_json=False, checks=CHECKS) == UNPROVEN
    assert f"UNPROVEN  {strange} has neither" in capsys.readouterr().out
    assert run(given, as_json=True, checks=CHECKS) == UNPROVEN
    assert json.loads(capsys.readouterr().out)[0]["unknown"] == [str(strange)]
    # A copy of a version is one, whatever it is called.
    assert run([*given[:1], str(other)], as_json=False, checks=CHECKS) == PROVEN
    strange.write_bytes(book.after.read_bytes())
    assert run(given, as_json=False, checks=CHECKS) == PROVEN


def test_a_changed_version_before_is_compared_too(book: Case, tmp_path: Path) -> None:
    """Old and new have one name in two folders; whichever was changed, its part is named."""
    named = [tmp_path / side / book.name for side in ("old", "new")]
    for path, side in zip(named, ("before", "after"), strict=True):
        path.parent.mkdir()
        path.write_bytes((book.folder / side / book.name).read_bytes())
    receipt, between = book.folder / "receipt.json", book.folder / "between"
    assert book.check(receipt, *named, between).is_whole
    for path, side in zip(named, ("before", "after"), strict=True):
        whole = path.read_bytes()
        with zipfile.ZipFile(path) as package:
            parts = {info.filename: package.read(info) for info in package.infolist()}
        with zipfile.ZipFile(path, "w") as package:
            for name, data in parts.items():
                package.writestr(name, data + b" " if name == "xl/styles.xml" else data)
        report = book.check(receipt, *named, between)
        assert report.unknown == ()
        faults = report.files[0].faults
        assert any(f"{path} is not the version {side}" in fault for fault in faults)
        assert [each for each in faults if each.startswith("part")] == [
            "part xl/styles.xml: its bytes are not what they were (no call touched it)"
        ]
        path.write_bytes(whole)


def test_a_changed_header_of_the_zip_is_told(book: Case) -> None:
    """Bytes between the parts are in the hash of the file, and it is said where they lie."""
    whole = book.after.read_bytes()
    with zipfile.ZipFile(book.after) as package:
        at = package.infolist()[0].header_offset + 10  # The time, of which no reader is sure.
    book.after.write_bytes(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
    try:
        faults = book.check().files[0].faults
    finally:
        book.after.write_bytes(whole)
    assert any("lies between them" in fault for fault in faults)
