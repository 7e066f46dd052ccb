"""Conformance of workbenches and their files, drafts open or not."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from wired import FILE_BYTES, FILES, MODEL, Heard, Script, Wired


@pytest.fixture(autouse=True)
def _as_new(model: Script) -> None:
    """Each test has a model that makes a plan of one item and writes nothing."""


def extract(wire: Wired, workbench_id: str, out: Path, *names: str) -> list[str]:
    """Extract files and return the names that they got; each must be extracted."""
    wanted: dict[str, Any] = {"workbench_paths": list(names)} if names else {}
    rows = wire.ask(
        "WorkbenchFilesExtract", workbench_id=workbench_id, destination_dir=str(out), **wanted
    )["extract_results"]
    assert [row["status"] for row in rows] == ["extracted"] * len(rows)
    assert all(Path(row["final_path"]).parent == out for row in rows)
    return [Path(row["final_path"]).name for row in rows]


def test_a_new_workbench_is_empty(wire: Wired) -> None:
    """Conformance 10: listed, can be opened, no files, no messages, no draft."""
    workbench_id = wire.ask("WorkbenchCreate", name="March")["workbench_id"]
    listed = {row["id"]: row for row in wire.ask("WorkbenchList")["workbenches"]}
    assert (listed[workbench_id]["name"], listed[workbench_id]["has_draft"]) == ("March", False)
    opened = wire.ask("WorkbenchOpen", workbench_id=workbench_id)["workbench"]
    assert (opened["files"], opened["has_draft"]) == (0, False)
    assert wire.files(workbench_id) == []
    assert wire.ask("WorkshopGetConversation", workbench_id=workbench_id) == {"messages": []}
    assert wire.ask("DraftGetState", workbench_id=workbench_id) == {"has_draft": False}


def test_a_new_workbench_has_the_users_model(wire: Wired) -> None:
    """Conformance 11: the user's default model is its active and its default one."""
    wire.ask("UserSetDefaultModel", model_id="offline:planner")
    workbench_id = wire.workbench()
    state = wire.ask("WorkshopGetState", workbench_id=workbench_id)
    opened = wire.ask("WorkbenchOpen", workbench_id=workbench_id)["workbench"]
    wire.ask("UserSetDefaultModel", model_id=MODEL)
    assert state["active_model_id"] == state["default_model_id"] == "offline:planner"
    assert opened["default_model_id"] == "offline:planner"


def test_what_fits_is_added_and_the_rest_is_skipped(wire: Wired) -> None:
    """Conformance 12: four results, two files; one too large, one there already, with reasons."""
    workbench_id = wire.workbench()
    text = wire.file("a.txt")
    large = wire.file("large.txt", "x" * (FILE_BYTES + 1))
    found = wire.add(workbench_id, text, wire.file("b.csv", "a,b\n"), large, text)
    assert found == [
        ("added", None), ("added", None), ("skipped", f"larger than {FILE_BYTES} bytes"),
        ("skipped", "a file of this name is there already"),
    ]  # fmt: skip
    assert wire.files(workbench_id) == ["a.txt", "b.csv"]


def test_a_symlink_is_skipped(wire: Wired) -> None:
    """Conformance 13: with that as its reason."""
    workbench_id = wire.workbench()
    link = wire.folder / "link.txt"
    link.symlink_to(wire.file("a.txt"))
    assert wire.add(workbench_id, link) == [("skipped", "symlink")]
    link.unlink()


def test_a_batch_over_the_count_is_refused_whole(wire: Wired) -> None:
    """Conformance 14: an error and nothing stored or recorded; one that fits is added later."""
    workbench_id = wire.workbench(first__txt="x")
    many = [str(wire.file(f"{number}.txt")) for number in range(FILES)]
    before = wire.ask("LogHead", workbench_id=workbench_id)
    refused = wire.refused("WorkbenchFilesAdd", workbench_id=workbench_id, source_paths=many)
    assert refused.error_code == "VALIDATION_FAILED"
    assert "no file was added" in refused.message
    assert os.listdir(wire.published(workbench_id)) == ["first.txt"]
    assert wire.ask("LogHead", workbench_id=workbench_id) == before
    wire.ask("WorkbenchFilesAdd", workbench_id=workbench_id, source_paths=many[1:])
    assert len(wire.files(workbench_id)) == FILES


def test_an_unknown_type_is_stored_as_opaque(wire: Wired) -> None:
    """Conformance 15: kept and shown, with the reason why nobody can look into it."""
    workbench_id = wire.workbench(data__xyz="x")
    (row,) = wire.ask("WorkbenchFilesList", workbench_id=workbench_id)["files"]
    assert (row["path"], row["is_opaque"], row["file_kind"]) == ("data.xyz", True, "binary")
    assert row["reason"]


def test_a_file_is_added_with_a_draft_open(wire: Wired) -> None:
    """Conformance 16: allowed; it is published at once, and no change of the draft."""
    workbench_id = wire.workbench(a__txt="old")
    wire.draft(workbench_id, a__txt="new")
    assert wire.add(workbench_id, wire.file("b.txt")) == [("added", None)]
    assert wire.files(workbench_id) == ["a.txt", "b.txt"]
    assert wire.changes(workbench_id) == {"a.txt": "modified"}
    assert wire.ask("DraftPublish", workbench_id=workbench_id)["published"] == ["a.txt"]
    assert (wire.published(workbench_id) / "b.txt").read_text() == "text"


def test_a_removed_file_is_gone(wire: Wired) -> None:
    """Conformance 17: from the list and from disk; what it was added from is left alone."""
    workbench_id = wire.workbench()
    path = wire.file("a.txt")
    wire.add(workbench_id, path)
    removed = wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["a.txt"])
    assert removed == {"removed": ["a.txt"], "in_draft": False}
    assert wire.files(workbench_id) == []
    assert os.listdir(wire.published(workbench_id)) == []
    assert path.read_text() == "text"


def test_a_removal_with_a_draft_open_is_a_deletion_in_it(wire: Wired) -> None:
    """Conformance 18: allowed; the file stays published until the deletion is published."""
    workbench_id = wire.workbench(a__txt="old", b__txt="stays")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    wire.draft(workbench_id, new__txt="made")
    removed = wire.ask("WorkbenchFilesRemove", workbench_paths=["a.txt"], **named)
    assert removed == {"removed": ["a.txt"], "in_draft": True}
    assert wire.files(workbench_id) == ["b.txt", "new.txt"]
    assert wire.changes(workbench_id) == {"a.txt": "deleted", "new.txt": "added"}
    assert (wire.published(workbench_id) / "a.txt").exists()
    wire.ask("DraftDiscard", **named)
    assert wire.files(workbench_id) == ["a.txt", "b.txt"]


def test_every_file_is_extracted(wire: Wired) -> None:
    """Conformance 20: all of them, to a folder that need not be there."""
    workbench_id = wire.workbench(a__txt="text", b__csv="x,y\n")
    out = wire.folder / f"out-{workbench_id}"
    assert extract(wire, workbench_id, out) == ["a.txt", "b.csv"]
    assert (out / "a.txt").read_text() == "text"
    assert (out / "b.csv").read_text() == "x,y\n"


def test_nothing_is_overwritten(wire: Wired) -> None:
    """Conformance 21: a name that is taken becomes a(1).txt."""
    workbench_id = wire.workbench(a__txt="ours")
    out = wire.file("a.txt", "theirs").parent
    assert extract(wire, workbench_id, out) == ["a(1).txt"]
    assert (out / "a.txt").read_text() == "theirs"
    assert (out / "a(1).txt").read_text() == "ours"


def test_the_number_counts_on(wire: Wired) -> None:
    """Conformance 22: file.xlsx, file(1).xlsx, file(2).xlsx."""
    workbench_id = wire.workbench(file__xlsx="x")
    out = wire.folder / f"out-{workbench_id}"
    names = [extract(wire, workbench_id, out) for _ in range(3)]
    assert names == [["file.xlsx"], ["file(1).xlsx"], ["file(2).xlsx"]]


def test_the_first_free_number_is_taken(wire: Wired) -> None:
    """Conformance 23: with file.xlsx and file(2).xlsx there, the next is file(1).xlsx."""
    workbench_id = wire.workbench(file__xlsx="x")
    out = wire.file("file.xlsx").parent
    (out / "file(2).xlsx").write_text("x")
    assert extract(wire, workbench_id, out, "file.xlsx") == ["file(1).xlsx"]


def test_the_number_stands_before_the_end(wire: Wired) -> None:
    """Conformance 24: .env(1), and archive.tar(1).gz."""
    workbench_id = wire.workbench(__env="x", archive__tar__gz="x")
    out = wire.folder / f"out-{workbench_id}"
    extract(wire, workbench_id, out)
    assert extract(wire, workbench_id, out) == [".env(1)", "archive.tar(1).gz"]


def test_files_are_extracted_with_a_draft_open(wire: Wired) -> None:
    """Conformance 25: allowed; what is published comes out, not what the draft has."""
    workbench_id = wire.workbench(a__txt="old")
    wire.draft(workbench_id, a__txt="new", b__txt="made")
    out = wire.folder / f"out-{workbench_id}"
    assert extract(wire, workbench_id, out) == ["a.txt"]
    assert (out / "a.txt").read_text() == "old"


def test_a_deleted_workbench_is_gone(wire: Wired) -> None:
    """Conformance 26: with its folder; refused as long as a draft is open."""
    workbench_id = wire.workbench(a__txt="x")
    named = {"workbench_id": workbench_id}
    wire.draft(workbench_id, a__txt="new")
    assert wire.refused("WorkbenchDelete", **named).error_code == "VALIDATION_FAILED"
    wire.ask("DraftDiscard", **named)
    assert wire.ask("WorkbenchDelete", **named) == {"deleted": True}
    assert not wire.published(workbench_id).parent.exists()
    assert wire.refused("WorkbenchOpen", **named).error_code == "NOT_FOUND"
    assert workbench_id not in [row["id"] for row in wire.ask("WorkbenchList")["workbenches"]]


def test_the_scope_tells_the_limits(wire: Wired) -> None:
    """Conformance 31: the settings' limits, what can be edited, the folder that nothing leaves."""
    workbench_id = wire.workbench()
    scope = wire.ask("WorkbenchGetScope", workbench_id=workbench_id)
    assert scope["limits"] == {"max_files": FILES, "max_file_bytes": FILE_BYTES}
    kinds: Mapping[str, list[str]] = scope["supported_types"]
    assert {".xlsx", ".docx", ".pptx"} <= set(kinds["editable_extensions"])
    assert "text" in kinds["readable_kinds"]
    assert workbench_id in scope["sandbox_root"]


def test_who_works_with_a_workbench_is_told_of_its_files(wire: Wired) -> None:
    """Conformance 33: one notification for an addition, one for a removal, each with its event."""
    path = wire.file("notes.txt")
    with wire.daemon.client() as client:
        heard = Heard(client)
        named = client.send("WorkbenchCreate", {"name": "told"})
        client.send("WorkbenchFilesAdd", {**named, "source_paths": [str(path)]})
        client.send("WorkbenchFilesRemove", {**named, "workbench_paths": ["notes.txt"]})
        told = heard.until("WorkbenchFilesChanged", 2)
    assert [(each["added"], each["removed"], each["seq"]) for each in told] == [
        (["notes.txt"], [], 2), ([], ["notes.txt"], 3),
    ]  # fmt: skip
