"""Files, drafts and publishing over the socket, on each backend.

What a client of the seeds' system relies on is in conformance/test_conformance_files.py.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import mostly
from wired import FILE_BYTES, Heard, Wired, wired


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


def test_what_cannot_be_added_is_said_and_the_rest_is_added(wire: Wired) -> None:
    """Too large, a link, a folder, a FIFO, a name that is taken: each with its reason."""
    workbench_id = wire.workbench()
    text = wire.file("a.txt")
    link = wire.folder / "link.txt"
    link.symlink_to(text)
    fifo = wire.folder / "fifo.txt"
    os.mkfifo(fifo)
    wanted = [
        text, wire.file("b.csv", "a,b\n"), wire.file("large.txt", "x" * (FILE_BYTES + 1)),
        wire.file("A.TXT"), text, link, wire.folder, fifo, wire.folder / "none.txt",
        Path("relative.txt"), wire.file("con.txt"), wire.file("exact.txt", "x" * FILE_BYTES),
    ]  # fmt: skip
    found = wire.add(workbench_id, *wanted)

    taken = ("skipped", "a file of this name is there already")
    assert found == [
        ("added", None), ("added", None), ("skipped", f"larger than {FILE_BYTES} bytes"), taken,
        taken, ("skipped", "symlink"), ("skipped", "directory"), ("skipped", "not a regular file"),
        ("skipped", "there is no such file"), ("skipped", "the path is not absolute"),
        ("skipped", found[10][1]), ("added", None),
    ]  # fmt: skip
    assert wire.files(workbench_id) == ["a.txt", "b.csv", "exact.txt"]
    link.unlink()
    fifo.unlink()


def test_a_removal_with_a_draft_open_is_a_deletion_to_be_confirmed(wire: Wired) -> None:
    """It shows in the change set; a publish wants its confirmation, and only then deletes."""
    workbench_id = wire.workbench(a__txt="old", b__txt="stays")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    wire.draft(workbench_id, new__txt="made")
    removed = wire.ask("WorkbenchFilesRemove", workbench_paths=["a.txt"], **named)
    assert removed == {"removed": ["a.txt"], "in_draft": True}
    assert wire.changes(workbench_id) == {"a.txt": "deleted", "new.txt": "added"}
    assert wire.files(workbench_id) == ["b.txt", "new.txt"]
    assert (wire.published(workbench_id) / "a.txt").exists()
    asked = wire.ask("ReviewGetDeletionConfirmations", **named)
    assert asked == {"confirmed": [], "pending": ["a.txt"]}
    refused = wire.refused("DraftPublish", **named)
    assert refused.data["detail"]["unconfirmed_deletions"] == ["a.txt"]
    taken = wire.add(workbench_id, wire.file("a.txt"))
    assert taken == [("skipped", "a file of this name is there already")]

    wire.ask("ReviewSetDeletionConfirmations", paths=["a.txt"], **named)
    published = wire.ask("DraftPublish", **named)["published"]
    assert published == ["a.txt", "new.txt"]
    assert sorted(os.listdir(wire.published(workbench_id))) == ["b.txt", "new.txt"]


def test_a_deletion_and_an_equal_addition_are_shown_as_renamed(wire: Wired) -> None:
    """One line with both names; publishing it still asks for the deletion."""
    workbench_id = wire.workbench(old__txt="same text")
    wire.draft(workbench_id, new__txt="same text")
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["old.txt"])
    (row,) = wire.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]

    assert (row["change_type"], row["path"], row["previous_path"]) == (
        "renamed", "new.txt", "old.txt",
    )  # fmt: skip
    asked = wire.ask("ReviewGetDeletionConfirmations", workbench_id=workbench_id)
    assert asked["pending"] == ["old.txt"]


def test_a_draft_survives_a_crash(wire: Wired) -> None:
    """With its source, its change set and the folder to look at."""
    workbench_id = wire.workbench(a__txt="old")
    run = wire.draft(workbench_id, a__txt="changed")
    before = wire.ask("DraftGetState", workbench_id=workbench_id)
    assert before["source"] == {"kind": "run", "ref": run["run_id"]}
    wire.daemon.kill()
    wire.daemon.start()

    assert wire.ask("DraftGetState", workbench_id=workbench_id) == before
    assert wire.changes(workbench_id) == {"a.txt": "modified"}
    draft = wire.daemon.home / "workbenches" / workbench_id / "draft"
    assert (draft / "a.txt").read_text() == "changed"
    refused = wire.refused("WorkbenchDelete", workbench_id=workbench_id)
    assert refused.data["error_code"] == "VALIDATION_FAILED"


def test_publishing_tells_its_steps_and_leaves_a_checkpoint(wire: Wired) -> None:
    """Progress, the checkpoint of what was there before, the end of the draft."""
    workbench_id = wire.workbench(a__txt="old")
    wire.draft(workbench_id, a__txt="changed")
    with wire.daemon.client() as client:
        heard = Heard(client)
        done = client.send("DraftPublish", {"workbench_id": workbench_id})
        (checkpoint,) = heard.until("CheckpointCreated")
        heard.until("DraftStateChanged")

    assert [each["phase"] for each in heard.of("DraftPublishProgress")] == [
        "validating", "conflict_check", "checkpoint_pre_publish", "swap_directories", "finalizing",
    ]  # fmt: skip
    assert checkpoint["checkpoint_id"] == done["checkpoint_id"]
    assert [each["has_draft"] for each in heard.of("DraftStateChanged")] == [False]
    (row,) = wire.ask("CheckpointsList", workbench_id=workbench_id)["checkpoints"]
    assert (row["checkpoint_id"], row["reason"], row["stats"]) == (
        done["checkpoint_id"], "publish", {"files": 1, "total_bytes": 3},
    )  # fmt: skip
    said = wire.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]
    kinds = [each["metadata"]["kind"] for each in said if each["type"] == "system_event"]
    assert kinds == ["checkpoint_publish"]


def test_a_file_changed_by_hand_is_a_conflict(wire: Wired) -> None:
    """Nothing is published; then the others by name; then both versions."""
    workbench_id = wire.workbench(a__txt="old", b__txt="old")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    wire.draft(workbench_id, a__txt="changed", b__txt="changed")
    published = wire.published(workbench_id)
    (published / "a.txt").write_text("by hand")
    refused = wire.refused("DraftPublish", **named)
    assert refused.data["error_code"] == "CONFLICT_PUBLISHED_CHANGED"
    assert refused.data["detail"]["files"] == ["a.txt"]
    assert (published / "b.txt").read_text() == "old"
    assert wire.ask("CheckpointsList", **named)["checkpoints"] == []

    assert wire.ask("DraftPublish", paths=["b.txt"], **named)["published"] == ["b.txt"]
    assert wire.changes(workbench_id) == {"a.txt": "modified"}
    (kept,) = wire.ask("DraftPublish", on_conflict="keep_both", **named)["kept_both"]
    assert kept["path"] == "a.txt"
    assert (published / "a.txt").read_text() == "by hand"
    assert (published / kept["published_as"]).read_text() == "changed"
    assert not wire.ask("DraftGetState", **named)["has_draft"]


def test_a_discarded_draft_leaves_what_is_published(wire: Wired) -> None:
    """Nothing changed, nothing is left of the draft, and there is none to discard again."""
    workbench_id = wire.workbench(a__txt="old")
    named = {"workbench_id": workbench_id}
    wire.draft(workbench_id, a__txt="changed", b__txt="made")
    assert wire.ask("DraftDiscard", **named) == {"discarded": True}

    assert wire.files(workbench_id) == ["a.txt"]
    assert (wire.published(workbench_id) / "a.txt").read_text() == "old"
    assert not wire.ask("DraftGetState", **named)["has_draft"]
    assert wire.ask("ReviewGetChangeSet", **named)["changes"] == []
    for method in ("DraftDiscard", "DraftPublish"):
        assert wire.refused(method, **named).message.startswith("draft not found")
    assert wire.ask("CheckpointsList", **named)["checkpoints"] == []


OUTSIDE = ("../x.txt", "/etc/passwd", "a/../../x", "meta/x.txt", "a\0b", "~/x", "draft/../../x")


def test_no_path_leads_outside(wire: Wired) -> None:
    """Whatever names a file takes names inside the workbench only."""
    workbench_id = wire.workbench(a__txt="x")
    wire.draft(workbench_id, b__txt="made")
    out = wire.folder / "never"
    for path in OUTSIDE:
        for method, parameter in (
            ("WorkbenchFilesRemove", "workbench_paths"), ("DraftPublish", "paths"),
            ("ReviewSetDeletionConfirmations", "paths"),
        ):  # fmt: skip
            refused = wire.refused(method, workbench_id=workbench_id, **{parameter: [path]})
            assert refused.data["error_code"] == "SANDBOX_VIOLATION", (method, path)
        (row,) = wire.ask(
            "WorkbenchFilesExtract", workbench_id=workbench_id, destination_dir=str(out),
            workbench_paths=[path],
        )["extract_results"]  # fmt: skip
        assert row["status"] == "skipped", path
    assert not out.exists()


def test_a_nested_name_is_allowed(wire: Wired) -> None:
    """A run may write into folders; they are published and extracted as such."""
    workbench_id = wire.workbench()
    wire.script.writes = {"reports/march.txt": "x"}
    wire.daemon.run_prompt(workbench_id, "write")
    wire.ask("DraftPublish", workbench_id=workbench_id)
    out = wire.folder / f"out-{workbench_id}"
    wire.ask("WorkbenchFilesExtract", workbench_id=workbench_id, destination_dir=str(out))

    assert (out / "reports" / "march.txt").read_text() == "x"


@pytest.mark.parametrize("folder", ["out", "/tmp/a\0b", ""])
@pytest.mark.parametrize("method", ["WorkbenchFilesExtract", "WorkbenchRecover", "StateAt"])
def test_what_is_no_path_of_a_folder_is_refused(wire: Wired, method: str, folder: str) -> None:
    """By each method that writes files to one; nothing is recorded of it."""
    workbench_id = wire.workbench(a__txt="text")
    wire.draft(workbench_id, a__txt="other")
    wire.ask("DraftDiscard", workbench_id=workbench_id)
    seq = wire.daemon.events(workbench_id)[-1]["seq"]
    named: dict[str, Any] = {"workbench_id": workbench_id, "destination_dir": folder}
    if method == "StateAt":
        named["seq"] = seq
    refused = wire.refused(method, **named)
    assert refused.code == -32602 or refused.data["error_code"] == "VALIDATION_FAILED"
    assert wire.daemon.events(workbench_id)[-1]["seq"] == seq
