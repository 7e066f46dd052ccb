"""Every single change of a receipt and of the files: found, or of what no file shows."""

import copy
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.core.audit.receipt_check.claims import Ill
from kbd_text.handler import TextFormat
from receipt_rig import FIRST_STEP, FORMATS, Case, edited

At = tuple[str | int, ...]

NO_FILE_SHOWS = {
    "kbd", "workbench.id", "workbench.name", "publish.publish_id", "publish.checkpoint_id",
    "publish.time", "publish.intended.seq", "publish.intended.head_seq",
    "publish.intended.hash", "publish.completed.head_seq", "publish.completed.hash",
    "files.#.path", "files.#.steps.#.time",
}  # fmt: skip
"""What may be changed to another value of its kind: names, times, and the place in the log."""

LEFT_OUT = {"files", "files.#"}
"""What may be missing: a file of which the receipt does not tell."""

STRAY = (
    "zz", "inside", "by", "title", "unread", "previous_path", "beside", "lists", "parts", "before",
    "after", "note", "steps", "sha256", "status", "text_characters", "listed", "repeats",
)  # fmt: skip
"""Names under which something is added wherever they do not stand."""


def _cells(*cells: tuple[str, Any]) -> dict[str, Any]:
    told = [{"cell": cell, "value": value} for cell, value in cells]
    return {"op": "set_cells", "sheet": "Data", "cells": told}


def _case(kind: str, folder: Path) -> Case:
    """Return the receipt of a small file that two calls changed, some of it side by side."""
    if kind == "text":
        versions = []
        for number, data in enumerate((b"a\nb\nc\nd", b"a\nB\nc\nd\n", b"a\nB\nx\nd\n")):
            versions.append(folder / str(number))
            versions[-1].write_bytes(data)
        return Case(folder / "case", "text.txt", versions, TextFormat())
    edits: dict[str, list[list[dict[str, Any]]]] = {
        "xlsx": [
            [{"op": "ensure_sheet", "sheet": "Data"}, _cells(("A1", 1), ("B1", "old"))],
            [_cells(("A1", 2), ("B1", "mid"))],
            [_cells(("B1", "new"), ("C3", "=A1"))],
        ],
        "docx": [
            [{"op": "set_paragraphs", "paragraphs": [{"text": f"line {n}"} for n in range(5)]}],
            [{"op": "replace_text", "search": "line 1", "replace": "first"}],
            [{"op": "insert_paragraph", "at": 3, "text": "beside it"}],
        ],
        "pptx": [
            [{"op": "add_slide", "layout": "title_and_content", "title": "One", "body": "a"}],
            [{"op": "set_slide_text", "index": 0, "title": "Two"}],
            [{"op": "append_bullets", "index": 0, "bullets": ["b"]}],
        ],
    }  # fmt: skip
    made = edited(kind, None, edits[kind], folder)
    return Case(folder / "case", f"file.{kind}", made, FORMATS[kind])


def _places(value: Any, at: At = ()) -> Iterator[At]:
    yield at
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in inner:
            yield from _places(one, (*at, key))


def _get(value: Any, at: At) -> Any:
    for key in at:
        value = value[key]
    return value


def _others(value: Any) -> list[Any]:
    """Return other values in the place of one, of its kind and of others."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, float(value), FIRST_STEP if value != FIRST_STEP else FIRST_STEP + 1]
    if isinstance(value, str):
        return [f"{value}x", "1" * 64 if len(value) == 64 else "y"]
    if isinstance(value, dict | list):
        return [type(value)()] if value else []
    return [0, "z", {}]


def _strays(name: str) -> Any:
    return {"by": [FIRST_STEP], "inside": {"kind": "file"}, "lists": {}}.get(name, "x")


def _mutations(receipt: dict[str, Any]) -> Iterator[tuple[str, At, dict[str, Any]]]:
    """Yield what was done, where, and the receipt that it makes."""

    def fresh(at: At) -> tuple[dict[str, Any], Any]:
        made = copy.deepcopy(receipt)
        return made, _get(made, at)

    for at in _places(receipt):
        value = _get(receipt, at)
        if at:
            for other in _others(value):
                made, holder = fresh(at[:-1])
                holder[at[-1]] = other
                yield "change", at, made
            made, holder = fresh(at[:-1])
            del holder[at[-1]]
            yield "delete", at, made
        if isinstance(value, list):
            for index in range(len(value)):
                made, own = fresh(at)
                own.append(copy.deepcopy(own[index]))
                yield "add", (*at, index), made
                if index and own[index] != own[index - 1]:
                    made, own = fresh(at)
                    own[index - 1], own[index] = own[index], own[index - 1]
                    yield "swap", (*at, index), made
        if isinstance(value, dict):
            for name in STRAY:
                if name not in value:
                    made, own = fresh(at)
                    own[name] = _strays(name)
                    yield "add", (*at, name), made


KINDS = ["text", *(pytest.param(kind, marks=pytest.mark.full) for kind in FORMATS)]


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_each_single_change_of_a_receipt_is_found(kind: str, tmp_path: Path) -> None:
    """Values, keys, entries, in turn: the check names a fault, or no file could show it."""
    case = _case(kind, tmp_path)
    assert case.check().is_whole
    assert not case.check().is_false
    truth, passed, count = case.receipt, set(), 0
    for what, at, made in _mutations(truth):
        if at[-1] == "format":
            continue  # Then it is no receipt, and none is found.
        count += 1
        case.receipt = made
        case.write()
        try:
            report = case.check()
        except Ill:
            continue
        # Told as not read is not told as true.
        if not report.is_false and report.is_whole:
            passed.add((what, ".".join("#" if isinstance(key, int) else key for key in at)))
    assert count > 400
    assert passed <= {
        *(("change", each) for each in (*NO_FILE_SHOWS, *LEFT_OUT)),
        *(("delete", each) for each in LEFT_OUT),
    }  # fmt: skip
    assert {("change", each) for each in NO_FILE_SHOWS} <= passed


@pytest.mark.parametrize("kind", KINDS)
def test_each_flipped_byte_of_a_version_is_found(kind: str, tmp_path: Path) -> None:
    """Throughout the file, packed parts, names and directory: never proven, never a trace."""
    case = _case(kind, tmp_path)
    whole = case.after.read_bytes()
    step = max(1, len(whole) // 300)
    for at in range(0, len(whole), step):
        case.after.write_bytes(whole[:at] + bytes((whole[at] ^ 4,)) + whole[at + 1 :])
        report = case.check()
        assert report.is_false, at
        assert any("is not the version after" in fault for fault in report.files[0].faults), at


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.full) for kind in FORMATS])
def test_each_flipped_part_is_named(kind: str, tmp_path: Path) -> None:
    """A bit of each part in turn, where it lies packed: that part is named and no other."""
    case = _case(kind, tmp_path)
    whole = case.after.read_bytes()
    with zipfile.ZipFile(case.after) as package:
        infos = [info for info in package.infolist() if info.compress_size]
    assert len(infos) > 5
    for info in infos:
        names, extra = struct.unpack_from("<2H", whole, info.header_offset + 26)
        at = info.header_offset + 30 + names + extra + info.compress_size // 2
        case.after.write_bytes(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
        faults = [each for each in case.check().files[0].faults if each.startswith("part ")]
        assert [each.startswith(f"part {info.filename}: ") for each in faults] == [True], faults


def test_items_that_two_calls_put_side_by_side_are_told_apart(tmp_path: Path) -> None:
    """One stretch by two calls: each of its lines has its own, and a wrong one is found."""
    case = _case("text", tmp_path)
    first, second = FIRST_STEP, FIRST_STEP + 1
    (stretch,) = case.file["inside"]["lists"]["lines"]["stretches"]
    assert stretch["by"] == [first, second]
    told = {side: [(i["text"], i["by"]) for i in stretch[side]] for side in ("before", "after")}
    assert told == {
        "before": [("b", [first]), ("c", [second]), ("d", [first])],
        "after": [("B", [first]), ("x", [second]), ("d", [first])],
    }

    def blame_the_other(case: Case) -> None:
        (found,) = case.file["inside"]["lists"]["lines"]["stretches"]
        found["after"][1]["by"] = [first]

    assert any(
        "line 2 was changed by [12], not by [11]" in each for each in case.lie(blame_the_other)
    )


def _drop_steps(case: Case) -> None:
    case.file["steps"] = []


def _name_no_call(case: Case) -> None:
    case.file.update({"steps": [], "steps_complete": False})
    for part in case.parts.values():
        for name, found in part.get("inside", {}).get("lists", {}).items():
            for each in found["stretches" if name == "elements" else "listed"]:
                each["by"] = [0]
        if part["status"] != "identical":
            part["by"] = [0]


def _tell_as_a_whole(case: Case) -> None:
    case.file["inside"] = {"kind": "file"}


def test_what_a_receipt_does_not_tell_is_not_called_proven(tmp_path: Path) -> None:
    """Calls taken out, a package told as a whole: false, or not all checked."""
    case = _case("xlsx", tmp_path)
    assert "the receipt calls its steps complete, and has none" in case.lie(_drop_steps)
    assert case.lie(_name_no_call) == ()
    _name_no_call(case)
    case.write()
    told = "the receipt does not tell all calls that made it"
    assert case.check().files[0].unproven == (told,)
    case.receipt["publish"]["kind"] = "undo"
    case.write()
    assert case.check().is_whole
    case = _case("xlsx", tmp_path)
    assert case.lie(_tell_as_a_whole) == ()
    _tell_as_a_whole(case)
    case.write()
    (file,) = case.check().files
    assert file.unproven == ("the receipt does not tell what differs in its parts",)
