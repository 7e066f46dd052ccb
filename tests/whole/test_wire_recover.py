"""Recovery of discarded drafts over the socket: as the draft again, and as files in a folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wired import Heard, Wired, wired


@pytest.fixture(scope="module")
def wire() -> Iterator[Wired]:
    """One daemon for all tests here."""
    with wired("trio") as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(wire: Wired) -> None:
    wire.script.forget()


def _discarded(wire: Wired, **writes: str) -> str:
    """Return a workbench with a.txt and b.txt whose draft, written by a run, was discarded."""
    wb = wire.workbench(a__txt="a0", b__txt="b0")
    wire.draft(wb, **writes)
    wire.ask("DraftDiscard", workbench_id=wb)
    return wb


def _blob(wire: Wired, wb: str, text: str) -> Path:
    """Return the path of kept bytes."""
    (found,) = [
        path for path in (wire.published(wb).parent / "blobs").rglob("*")
        if path.is_file() and path.read_text() == text
    ]  # fmt: skip
    return found


def _code(wire: Wired, wb: str, **params: Any) -> str:
    refused = wire.refused("WorkbenchRecover", workbench_id=wb, **params)
    return str(refused.data["error_code"])


@pytest.mark.full
def test_a_draft_comes_back_and_is_published(wire: Wired) -> None:
    """It is listed, told of, shown in draft/ and in the conversation, and blamed on its makers."""
    wb = wire.workbench(a__txt="a0", b__txt="b0")
    run = wire.draft(wb, a__txt="a1", n__txt="n1")
    wire.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["b.txt"])
    wire.ask("ReviewSetDeletionConfirmations", workbench_id=wb, paths=["b.txt"])
    before = wire.ask("ReviewGetChangeSet", workbench_id=wb)
    made_by = wire.ask("ReviewGetDiff", workbench_id=wb, path="a.txt")["changes"]
    wire.ask("DraftDiscard", workbench_id=wb)

    found = wire.ask("DraftListDiscarded", workbench_id=wb)
    (listed,) = found["drafts"]
    assert (found["total"], listed["draft_id"]) == (1, before["draft_id"])
    assert (listed["reason"], listed["run_id"]) == ("discard", run["run_id"])
    assert listed["is_complete"]
    assert [(f["path"], f["change_type"], f["size_bytes"]) for f in listed["files"]] == [
        ("a.txt", "modified", 2), ("b.txt", "deleted", 0), ("n.txt", "added", 2),
    ]  # fmt: skip

    with wire.daemon.client() as client:
        heard = Heard(client)
        done = client.send("WorkbenchRecover", {"workbench_id": wb})
        (told,) = heard.until("DraftStateChanged")
    assert (told["has_draft"], told["draft_id"]) == (True, before["draft_id"])
    assert done["recovered"] == ["a.txt", "b.txt", "n.txt"]
    assert (done["changed_since"], done["already_published"]) == ([], [])
    assert wire.ask("ReviewGetChangeSet", workbench_id=wb) == before
    assert wire.ask("ReviewGetDiff", workbench_id=wb, path="a.txt")["changes"] == made_by
    draft = wire.published(wb).parent / "draft"
    assert {path.name: path.read_text() for path in draft.iterdir()} == {
        "a.txt": "a1", "n.txt": "n1",
    }  # fmt: skip
    assert wire.ask("DraftListDiscarded", workbench_id=wb) == {"drafts": [], "total": 0}
    last = wire.ask("WorkshopGetConversation", workbench_id=wb)["messages"][-1]
    assert last["metadata"]["kind"] == "draft_recovered"
    # What was confirmed was the draft of then.
    unconfirmed = wire.refused("DraftPublish", workbench_id=wb)
    assert unconfirmed.data["detail"]["unconfirmed_deletions"] == ["b.txt"]
    wire.ask("ReviewSetDeletionConfirmations", workbench_id=wb, paths=["b.txt"])
    wire.ask("DraftPublish", workbench_id=wb)
    assert {path.name: path.read_text() for path in wire.published(wb).iterdir()} == {
        "a.txt": "a1", "n.txt": "n1",
    }  # fmt: skip
    wire.daemon.stop()
    wire.daemon.start()
    assert wire.ask("LogVerify", workbench_id=wb)["ok"]


def test_what_was_published_in_between_is_not_overwritten(wire: Wired) -> None:
    """The publish after a recovery finds the conflict; keeping both leaves both."""
    wb = _discarded(wire, a__txt="a1")
    wire.draft(wb, a__txt="other")
    wire.ask("DraftPublish", workbench_id=wb)
    done = wire.ask("WorkbenchRecover", workbench_id=wb)
    assert done["changed_since"] == ["a.txt"]
    refused = wire.refused("DraftPublish", workbench_id=wb)
    assert refused.data["error_code"] == "CONFLICT_PUBLISHED_CHANGED"
    assert (wire.published(wb) / "a.txt").read_text() == "other"
    both = wire.ask("DraftPublish", workbench_id=wb, on_conflict="keep_both")["kept_both"]
    assert (wire.published(wb) / both[0]["published_as"]).read_text() == "a1"
    assert (wire.published(wb) / "a.txt").read_text() == "other"


def test_a_name_that_was_added_since_is_a_conflict(wire: Wired) -> None:
    """The very name is found by the publish; one but for case is refused, the rest comes back."""
    wb = _discarded(wire, n__txt="n1", m__txt="m1")
    wire.add(wb, wire.file("n.txt", "mine"), wire.file("M.txt", "mine"))
    assert _code(wire, wb) == "VALIDATION_FAILED"
    wire.ask("WorkbenchRecover", workbench_id=wb, paths=["n.txt"])
    refused = wire.refused("DraftPublish", workbench_id=wb)
    assert refused.data["detail"]["files"] == ["n.txt"]
    assert (wire.published(wb) / "n.txt").read_text() == "mine"
    # The rest is still to be had.
    (rest,) = wire.ask("DraftListDiscarded", workbench_id=wb)["drafts"]
    assert [file["path"] for file in rest["files"]] == ["m.txt", "n.txt"]


def test_bytes_that_are_lost_are_named_and_the_rest_comes_back(wire: Wired, tmp_path: Path) -> None:
    """Missing and damaged ones; neither is made a draft, nor written to a folder."""
    wb = _discarded(wire, a__txt="a1", n__txt="n1", m__txt="m1")
    lost, harmed = _blob(wire, wb, "a1"), _blob(wire, wb, "n1")
    lost.rename(lost.with_suffix(".away"))
    harmed.chmod(0o600)
    harmed.write_text("N1")
    seq = wire.daemon.events(wb)[-1]["seq"]
    refused = wire.refused("WorkbenchRecover", workbench_id=wb)
    assert refused.data["error_code"] == "FILE_WRITE_FAILED"
    assert refused.data["detail"]["files"] == ["a.txt", "n.txt"]
    assert wire.daemon.events(wb)[-1]["seq"] == seq
    (listed,) = wire.ask("DraftListDiscarded", workbench_id=wb)["drafts"]
    there = {file["path"]: file["is_available"] for file in listed["files"]}
    # A listing does not read all bytes; what is gone it sees.
    assert there == {"a.txt": False, "m.txt": True, "n.txt": True}
    assert not listed["is_complete"]

    copied = wire.ask("WorkbenchRecover", workbench_id=wb, destination_dir=str(tmp_path))
    assert copied["recovered"] == ["m.txt"]
    assert {r["workbench_path"]: r["status"] for r in copied["extract_results"]} == {
        "a.txt": "failed", "m.txt": "extracted", "n.txt": "failed",
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["m.txt"]
    wire.ask("WorkbenchRecover", workbench_id=wb, paths=["m.txt"])
    assert wire.changes(wb) == {"m.txt": "added"}
    lost.with_suffix(".away").rename(lost)
    harmed.write_text("n1")


def test_files_are_written_to_a_folder_while_another_draft_is_open(
    wire: Wired, tmp_path: Path
) -> None:
    """Nothing is overwritten; the open draft stays; deletions have no bytes."""
    wb = wire.workbench(a__txt="a0", b__txt="b0")
    wire.draft(wb, a__txt="a1")
    wire.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["b.txt"])
    wire.ask("DraftDiscard", workbench_id=wb)
    wire.draft(wb, b__txt="other")
    assert _code(wire, wb) == "VALIDATION_FAILED"
    (tmp_path / "a.txt").write_text("mine")
    done = wire.ask("WorkbenchRecover", workbench_id=wb, destination_dir=str(tmp_path))
    (result,) = done["extract_results"]
    assert result["final_path"] == str(tmp_path / "a(1).txt")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.txt": "mine", "a(1).txt": "a1",
    }  # fmt: skip
    assert wire.changes(wb) == {"b.txt": "modified"}
    kinds = [event["type"] for event in wire.daemon.events(wb)][-2:]
    assert kinds == ["EffectIntended", "EffectDone"]
    for params in ({"paths": ["b.txt"]}, {"paths": ["c.txt"]}):
        assert _code(wire, wb, destination_dir=str(tmp_path), **params) == "NOT_FOUND"
    for folder in ("here", "/tmp/a\0b"):
        assert _code(wire, wb, destination_dir=folder) == "VALIDATION_FAILED"
    # No file is named: that is neither all of them nor a success.
    assert _code(wire, wb, paths=[]) == "VALIDATION_FAILED"
    assert _code(wire, wb, paths=[], destination_dir=str(tmp_path)) == "VALIDATION_FAILED"


def test_a_draft_that_was_cut_off_can_be_recovered(wire: Wired) -> None:
    """By an undo and by another answer; of several, by its id, or by the event that ended it."""
    wb = wire.workbench(a__txt="a0")
    wire.draft(wb, a__txt="a1")
    messages = wire.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    wire.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=messages[0]["message_id"])
    wire.draft(wb, a__txt="a2")
    wire.ask("WorkshopRegenerate", workbench_id=wb)
    if wire.ask("DraftGetState", workbench_id=wb)["has_draft"]:
        wire.ask("DraftDiscard", workbench_id=wb)
    listed = wire.ask("DraftListDiscarded", workbench_id=wb)["drafts"]
    assert [each["reason"] for each in listed][-2:] == ["regenerate", "undo"]
    seqs = [each["ended_seq"] for each in listed]
    assert seqs == sorted(seqs, reverse=True)
    oldest = listed[-1]
    wire.ask("WorkbenchRecover", workbench_id=wb, draft_id=oldest["draft_id"])
    assert (wire.published(wb).parent / "draft" / "a.txt").read_text() == "a1"
    wire.ask("DraftDiscard", workbench_id=wb)
    wire.ask("WorkbenchRecover", workbench_id=wb, ended_seq=listed[-2]["ended_seq"])
    assert (wire.published(wb).parent / "draft" / "a.txt").read_text() == "a2"
    wire.ask("DraftDiscard", workbench_id=wb)
    assert _code(wire, wb, draft_id="none") == "NOT_FOUND"
    assert _code(wire, wb, ended_seq=1) == "NOT_FOUND"
    assert len(wire.ask("DraftListDiscarded", workbench_id=wb, limit=1)["drafts"]) == 1


def test_a_run_under_way_holds_a_recovery_off(wire: Wired) -> None:
    """Into a folder it can be recovered all the same."""
    wb = _discarded(wire, a__txt="a1")
    wire.script.answers.clear()
    wire.ask("WorkshopSendUserMessage", workbench_id=wb, text="again")
    run = wire.ask("WorkshopRunAgent", workbench_id=wb, wait=False)
    try:
        assert _code(wire, wb) == "VALIDATION_FAILED"
    finally:
        wire.script.answers.set()
    wire.daemon.wait_for_run(run["run_id"])


def test_moments_before_and_after_a_recovery_are_what_they_were(wire: Wired) -> None:
    """In the past as it is read, and by undoing to them."""
    wb = _discarded(wire, a__txt="a1")
    asked = wire.ask("WorkshopSendUserMessage", workbench_id=wb, text="one")["message_id"]
    wire.ask("WorkbenchRecover", workbench_id=wb)
    later = wire.ask("WorkshopSendUserMessage", workbench_id=wb, text="two")["message_id"]
    seqs = {e["data"].get("message_id"): e["seq"] for e in wire.daemon.events(wb)}
    for message_id, state in ((asked, "published"), (later, "modified"), (asked, "published")):
        then = wire.ask("StateAt", workbench_id=wb, seq=seqs[message_id])
        assert {file["path"]: file["state"] for file in then["files"]}["a.txt"] == state
        wire.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=message_id)
        assert wire.changes(wb) == ({"a.txt": "modified"} if state == "modified" else {})
    assert wire.ask("LogVerify", workbench_id=wb)["ok"]
