"""Receipts over the socket and at the command line: of publishes, undos and restores."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import mostly
from wired import Wired, wired

FIRST = "one\ntwo\nthree\n"
SECOND = "one\nTWO\nthree\n"


@pytest.fixture(scope="module", params=mostly("trio"))
def bench(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Wired) -> None:
    bench.script.forget()


def _kbd(bench: Wired, *words: str, code: int = 0) -> str:
    """Run a command and return what it said."""
    command = [sys.executable, "-m", "kbd", "--home", str(bench.daemon.home), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def _events(bench: Wired, wb: str, kind: str) -> list[dict[str, Any]]:
    found = bench.ask("EventsRead", workbench_id=wb, after=0, limit=1000)["events"]
    return [each for each in found if each["type"] == kind]


def _book(bench: Wired, wb: str, *cells: tuple[str, Any]) -> None:
    told = [{"cell": cell, "value": value} for cell, value in cells]
    ops = [{"op": "ensure_sheet", "sheet": "S"}, {"op": "set_cells", "sheet": "S", "cells": told}]
    new = {} if "book.xlsx" in bench.files(wb) else {"create_new": True}
    bench.ask("XlsxApplyOps", workbench_id=wb, path="book.xlsx", ops=ops, **new)


def _folder(bench: Wired, wb: str) -> Path:
    return bench.daemon.home / "workbenches" / wb


def test_a_publish_leaves_a_receipt(bench: Wired) -> None:
    """Its bytes have the hash that the log has; a readable copy lies in the workbench's folder."""
    wb = bench.workbench(a__txt=FIRST)
    bench.draft(wb, a__txt=SECOND)
    done = bench.ask("DraftPublish", workbench_id=wb)
    found = bench.ask("ReceiptGet", workbench_id=wb)
    named = bench.ask("ReceiptGet", workbench_id=wb, checkpoint_id=done["checkpoint_id"])
    piece = bench.ask("BlobRead", workbench_id=wb, hash=found["hash"], limit=1_000_000)
    data = base64.b64decode(piece["base64"])

    assert found == named
    assert found["checkpoint_id"] == done["checkpoint_id"]
    assert hashlib.sha256(data).hexdigest() == found["hash"]
    assert json.loads(data) == found["receipt"]
    (made,) = _events(bench, wb, "ReceiptMade")
    assert made["data"] == {
        "checkpoint_id": done["checkpoint_id"], "blob": found["hash"], "size_bytes": len(data),
    }  # fmt: skip
    copy = _folder(bench, wb) / "meta" / "receipts" / f"{done['checkpoint_id']}.json"
    assert copy.read_bytes() == data
    assert bench.ask("LogVerify", workbench_id=wb)["ok"]


def test_a_receipt_names_run_item_and_call(bench: Wired) -> None:
    """With the hash of what the call was given, and the log's chain at the publish."""
    wb = bench.workbench(a__txt=FIRST)
    bench.draft(wb, a__txt=SECOND)
    bench.ask("DraftPublish", workbench_id=wb)
    receipt = bench.ask("ReceiptGet", workbench_id=wb)["receipt"]
    (file,) = receipt["files"]
    (step,) = file["steps"]
    (change,) = _events(bench, wb, "FileChanged")
    asked = [
        call["arguments"]
        for event in _events(bench, wb, "ModelReplied")
        for call in event["data"].get("calls", ())
        if call["id"] == step["call_id"]
    ]

    assert (step["seq"], step["tool"], step["item"]) == (change["seq"], "write_text_file", 1)
    assert step["run_id"] == f"{wb}-1"
    assert step["arguments_sha256"] == hashlib.sha256(asked[0].encode()).hexdigest()
    (stretch,) = file["inside"]["lists"]["lines"]["stretches"]
    assert ([line["text"] for line in stretch["after"]], stretch["by"]) == (["TWO"], [step["seq"]])
    completed = receipt["publish"]["completed"]
    (end,) = _events(bench, wb, "PublishCompleted")
    assert completed["seq"] == end["seq"]
    head = {"seq": completed["head_seq"], "hash": completed["hash"]}
    assert bench.ask("LogVerify", workbench_id=wb, **head)["ok"]
    assert not bench.ask("LogVerify", workbench_id=wb, seq=head["seq"], hash="0" * 64)["ok"]


def test_a_deleted_receipt_is_made_again_the_same(bench: Wired) -> None:
    """It follows from log and versions: without blob and copy, the same bytes, no second event."""
    wb = bench.workbench()
    _book(bench, wb, ("A1", 1))
    bench.ask("DraftPublish", workbench_id=wb)
    found = bench.ask("ReceiptGet", workbench_id=wb)
    folder = _folder(bench, wb)
    (blob,) = [each for each in (folder / "blobs").rglob("*") if each.name == found["hash"]]
    data = blob.read_bytes()
    blob.unlink()
    shutil.rmtree(folder / "meta" / "receipts")

    assert bench.ask("ReceiptGet", workbench_id=wb) == found
    assert blob.read_bytes() == data
    assert [each.read_bytes() for each in (folder / "meta" / "receipts").iterdir()] == [data]
    assert len(_events(bench, wb, "ReceiptMade")) == 1


def test_two_calls_of_one_draft_are_told_apart(bench: Wired, tmp_path: Path) -> None:
    """Each cell has its call; saved, it is proven without the daemon, and without kbd."""
    wb = bench.workbench(note__txt=FIRST)
    _book(bench, wb, ("A1", 1), ("A2", 2))
    bench.ask("DraftPublish", workbench_id=wb)
    _book(bench, wb, ("A1", 10))
    _book(bench, wb, ("A2", 20), ("B1", "=A1"))
    bench.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["note.txt"])
    bench.ask("ReviewSetDeletionConfirmations", workbench_id=wb, paths=["note.txt"])
    bench.ask("DraftPublish", workbench_id=wb)
    receipt = bench.ask("ReceiptGet", workbench_id=wb)["receipt"]
    book, note = receipt["files"]
    first, second = (step["seq"] for step in book["steps"])
    parts = {part["part"]: part for part in book["inside"]["parts"]}
    sheet = next(part for part in parts.values() if part.get("title") == "S")

    assert (note["change"], note["after"]) == ("deleted", None)
    assert {each["cell"]: each["by"] for each in sheet["inside"]["lists"]["cells"]["listed"]} == {
        "A1": [first], "A2": [second], "B1": [second],
    }  # fmt: skip
    assert sheet["by"] == [first, second]
    shown = _kbd(bench, "receipt", "show", wb)
    assert f"A1: 1 -> 10 by event {first}\n" in shown
    assert f"B1: nothing -> =A1 by event {second}\n" in shown
    assert json.loads(_kbd(bench, "receipt", "show", wb, "--json")) == receipt
    saved = tmp_path / "proof"
    _kbd(bench, "receipt", "save", wb, "--to", str(saved))
    assert "proven" in _kbd(bench, "receipt", "verify", str(saved))
    alone = [sys.executable, "-I", "-S", str(saved / "verify.pyz")]
    assert subprocess.run(alone, capture_output=True, check=False).returncode == 0
    refused = _kbd(bench, "receipt", "save", wb, "--to", str(saved), code=2)
    assert refused == ""
    shutil.rmtree(saved / "between")
    assert "UNPROVEN" in _kbd(bench, "receipt", "verify", str(saved), code=5)
    os.truncate(saved / "after" / "book.xlsx", 1000)
    assert "FALSE" in _kbd(bench, "receipt", "verify", str(saved), code=1)


def test_renamed_added_and_kept_files_are_told(bench: Wired, tmp_path: Path) -> None:
    """A deletion and an addition of equal bytes are one; a file put beside says beside which."""
    wb = bench.workbench(old__txt=FIRST, kept__txt=FIRST)
    bench.draft(wb, new__txt=FIRST, kept__txt=SECOND)
    bench.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["old.txt"])
    bench.ask("ReviewSetDeletionConfirmations", workbench_id=wb, paths=["old.txt"])
    (bench.published(wb) / "kept.txt").write_text("by hand\n")
    bench.ask("DraftPublish", workbench_id=wb, on_conflict="keep_both")
    files = bench.ask("ReceiptGet", workbench_id=wb)["receipt"]["files"]
    told = {file["path"]: file for file in files}
    beside = next(path for path in told if "conflict" in path)

    assert told.keys() == {"new.txt", beside}
    assert (told["new.txt"]["change"], told["new.txt"]["previous_path"]) == ("renamed", "old.txt")
    assert (told[beside]["change"], told[beside]["beside"]) == ("kept_both", "kept.txt")
    assert told[beside]["before"]["sha256"] == hashlib.sha256(FIRST.encode()).hexdigest()
    _kbd(bench, "receipt", "save", wb, "--to", str(tmp_path / "proof"))
    assert "All that the receipt says" in _kbd(bench, "receipt", "verify", str(tmp_path / "proof"))


def test_a_save_that_fails_leaves_no_folder_in_the_way(bench: Wired, tmp_path: Path) -> None:
    """Of a version whose stored bytes are damaged; one between others is left out, and told."""
    wb = bench.workbench(a__txt=FIRST)
    for text in (SECOND, f"{SECOND}four\n"):
        bench.draft(wb, a__txt=text)
    bench.ask("DraftPublish", workbench_id=wb)
    bench.ask("ReceiptGet", workbench_id=wb)

    def damage(text: str) -> Path:
        name = hashlib.sha256(text.encode()).hexdigest()
        (blob,) = [each for each in (_folder(bench, wb) / "blobs").rglob("*") if each.name == name]
        blob.chmod(0o600)
        blob.write_bytes(b"other")
        return blob

    saved = tmp_path / "proof"
    blob = damage(FIRST)
    assert _kbd(bench, "receipt", "save", wb, "--to", str(saved), code=1) == ""
    assert not saved.exists()
    blob.write_bytes(FIRST.encode())
    damage(SECOND)
    assert "receipt.json, 2 file versions" in _kbd(bench, "receipt", "save", wb, "--to", str(saved))
    told = _kbd(bench, "receipt", "verify", str(saved), code=5)
    assert "which call changed what: 1 of the versions between are not at hand" in told


def test_a_receipt_behind_a_rebase_names_who_made_the_edit_first(
    bench: Wired, tmp_path: Path
) -> None:
    """The call that was made again, and the run, item and call whose work that was."""
    lines = [f"line {number}\n" for number in range(9)]
    wb = bench.workbench(a__txt="".join(lines))
    bench.draft(wb, a__txt="".join([lines[0], "changed\n", *lines[2:]]))
    (first,) = _events(bench, wb, "FileChanged")
    (bench.published(wb) / "a.txt").write_text("".join([*lines, "by hand\n"]))
    bench.ask("DraftRebase", workbench_id=wb)
    bench.ask("DraftPublish", workbench_id=wb)
    (file,) = bench.ask("ReceiptGet", workbench_id=wb)["receipt"]["files"]
    (step,) = file["steps"]
    made = step["repeats"]

    assert step["seq"] > first["seq"]
    assert (step["kind"], step["tool"]) == ("client_call", "write_text_file")
    assert (made["seq"], made["kind"], made["tool"]) == (first["seq"], "tool_call", step["tool"])
    assert (made["run_id"], made["item"]) == (f"{wb}-1", 1)
    assert made["arguments_sha256"] is not None
    assert (made["before"], made["after"]) == (
        hashlib.sha256("".join(lines).encode()).hexdigest(), first["data"]["after"],
    )  # fmt: skip
    (stretch,) = file["inside"]["lists"]["lines"]["stretches"]
    assert ([line["text"] for line in stretch["after"]], stretch["by"]) == (
        ["changed"], [step["seq"]],
    )  # fmt: skip
    shown = _kbd(bench, "receipt", "show", wb)
    assert f"again what event {first['seq']} did: write_text_file, run {wb}-1, item 1" in shown
    _kbd(bench, "receipt", "save", wb, "--to", str(tmp_path / "proof"))
    assert "All that the receipt says" in _kbd(bench, "receipt", "verify", str(tmp_path / "proof"))


def test_what_is_shown_of_a_receipt_says_what_changed(bench: Wired) -> None:
    """A result that a call made old, another look, neighbors by two calls: each is told apart."""
    wb = bench.workbench()
    _book(bench, wb, ("A1", 1), ("B1", 2), ("C1", "x"))
    bench.ask("DraftPublish", workbench_id=wb)
    look = {
        "op": "set_cells",
        "sheet": "S",
        "cells": [{"cell": "B1", "style": {"font_bold": True}}],
    }
    bench.ask("XlsxApplyOps", workbench_id=wb, path="book.xlsx", ops=[look])
    _book(bench, wb, ("C1", "=A1"))
    for text in (FIRST, f"{FIRST}four\n"):
        bench.draft(wb, new__txt=text)
    bench.ask("DraftPublish", workbench_id=wb)
    receipt = bench.ask("ReceiptGet", workbench_id=wb)["receipt"]
    (book, text) = receipt["files"]
    styled, put = (step["seq"] for step in book["steps"])
    first, second = (step["seq"] for step in text["steps"])
    shown = _kbd(bench, "receipt", "show", wb).splitlines()

    (look_line,) = [each for each in shown if each.strip().startswith("B1:")]
    assert look_line.strip().startswith("B1: 2 -> 2 (style ")
    assert look_line.endswith(f" by event {styled}")
    assert f"    C1: x -> =A1 by event {put}" in shown
    assert [each for each in shown if each.startswith("    + ")] == [
        *(f"    + {word} by event {first}" for word in ("one", "two", "three")),
        f"    + four by event {second}",
    ]
    assert shown[0].endswith(f"of {wb} ({receipt['workbench']['name']})")
    assert f" {receipt['publish']['time'][:19].replace('T', ' ')} UTC, " in shown[0]


def test_a_restore_and_an_undo_have_receipts(bench: Wired, tmp_path: Path) -> None:
    """What is published changed: they say of which kind, and name no call for it."""
    wb = bench.workbench(a__txt=FIRST)
    bench.draft(wb, a__txt=SECOND)
    done = bench.ask("DraftPublish", workbench_id=wb)
    bench.ask("CheckpointRestore", workbench_id=wb, checkpoint_id=done["checkpoint_id"])
    restored = bench.ask("ReceiptGet", workbench_id=wb)["receipt"]
    (file,) = restored["files"]

    assert restored["publish"]["kind"] == "restore"
    assert (file["change"], file["steps"], file["steps_complete"]) == ("modified", [], False)
    (stretch,) = file["inside"]["lists"]["lines"]["stretches"]
    assert ([line["text"] for line in stretch["after"]], stretch["by"]) == (["two"], [0])
    _kbd(bench, "receipt", "save", wb, "--to", str(tmp_path / "proof"))
    assert "All that the receipt says" in _kbd(bench, "receipt", "verify", str(tmp_path / "proof"))
    older = _kbd(bench, "receipt", "show", wb, done["checkpoint_id"][:8])
    assert older.startswith(f"publish {done['checkpoint_id']}")


def test_where_nothing_was_published_there_is_no_receipt(bench: Wired) -> None:
    """Of a workbench without a publish, and of a checkpoint that no publish left."""
    wb = bench.workbench(a__txt=FIRST)
    made = bench.ask("CheckpointCreate", workbench_id=wb, description="by hand")
    for params in (dict[str, Any](), made):
        error = bench.refused("ReceiptGet", workbench_id=wb, **params)
        assert error.data["error_code"] == "NOT_FOUND"
