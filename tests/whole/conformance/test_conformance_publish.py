"""Conformance of drafts: paths, publish, discard, checkpoints, undo, regenerate (36-39, 42-51)."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.client.blocking import Client, RemoteError
from model_server import Reply, call, calls, phase_of, text, turn_of
from wired import PLAN, Heard, Script, Wired

ESCAPES = ("../x.txt", "nested/../../x.txt", "/tmp/kbd-escaped.txt", "meta/x.txt", "draft/../../x")


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Room for workbooks."""
    return {"KBD_LIMITS_FILE_BYTES": "1000000"}


@pytest.fixture(autouse=True)
def _fresh(model: Script) -> None:
    del model


def tool_results(wire: Wired, wb: str, *wanted: tuple[str, dict[str, Any]]) -> list[str]:
    """Have a run make calls of tools, and return what each was answered."""

    def play(body: dict[str, Any]) -> Reply:
        match phase_of(body):
            case "plan":
                return text(PLAN)
            case "implement" if turn_of(body) == 0:
                made = (call(name, given, f"c{n}") for n, (name, given) in enumerate(wanted))
                return calls(*made)
            case _:
                return text("All done.")

    wire.script.instead = play
    try:
        wire.daemon.run_prompt(wb, "do it")
    finally:
        wire.script.forget()
    shown = {
        each["tool_call_id"]: each["content"]
        for each in entries(wire, wb)
        if each["type"] == "tool_result"
    }
    return [shown[f"c{n}"] for n in range(len(wanted))]


def entries(wire: Wired, wb: str) -> list[dict[str, Any]]:
    """Return the conversation."""
    found: list[dict[str, Any]] = wire.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    return found


def system_events(wire: Wired, wb: str) -> list[dict[str, Any]]:
    """Return what the conversation tells of beside what was said."""
    return [each for each in entries(wire, wb) if each["type"] == "system_event"]


def said(wire: Wired, wb: str) -> list[tuple[str, str, str]]:
    """Return who said what: role, id, text."""
    return [
        (each["role"], each["message_id"], each["text"])
        for each in entries(wire, wb)
        if each["type"] in ("user_message", "assistant_message") and "tool_calls" not in each
    ]


def asked(wire: Wired, wb: str, **writes: str) -> tuple[str, str]:
    """Ask, have a run write, and return the ids of the message and of its answer."""
    wire.draft(wb, **writes)
    (_, question, _), (_, answer, _) = said(wire, wb)[-2:]
    return question, answer


def publish(wire: Wired, wb: str) -> dict[str, Any]:
    """Publish the whole draft."""
    done: dict[str, Any] = wire.ask("DraftPublish", workbench_id=wb)
    return done


def undo(wire: Wired, wb: str, message_id: str) -> dict[str, Any]:
    """Undo to a message."""
    named = {"workbench_id": wb, "message_id": message_id}
    done: dict[str, Any] = wire.ask("WorkshopUndoToMessage", **named)
    return done


def tree(folder: Path) -> dict[str, str]:
    """Return the files of a folder with what they hold."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def draft_folder(wire: Wired, wb: str) -> Path:
    """Return the folder of what differs in the draft."""
    return wire.published(wb).parent / "draft"


def has_draft(wire: Wired, wb: str) -> bool:
    """Whether a draft is open."""
    return bool(wire.ask("DraftGetState", workbench_id=wb)["has_draft"])


def error_code(wire: Wired, method: str, **params: Any) -> str:
    """Return the code with which something is refused."""
    return str(wire.refused(method, **params).data["error_code"])


def test_a_write_never_leaves_the_workbench(wire: Wired) -> None:
    """Conformance 36: a path that leads outside is an error, and writes nothing anywhere.

    A nested name is allowed (contract, section 4).
    """
    wb = wire.workbench(a__txt="a0")
    writes = [("write_text_file", {"path": path, "content": "x"}) for path in ESCAPES]
    before = tree_names(wire.published(wb).parent.parent)
    for answer in tool_results(wire, wb, *writes):
        assert answer.startswith("Error: SANDBOX_VIOLATION"), answer
    assert not has_draft(wire, wb)
    after = tree_names(wire.published(wb).parent.parent)
    assert not {name for name in after - before if name.endswith("x.txt")}
    assert not Path("/tmp/kbd-escaped.txt").exists()
    for path in ESCAPES:
        new = {"path": path, "ops": [{"op": "ensure_sheet", "sheet": "S"}], "create_new": True}
        assert error_code(wire, "XlsxApplyOps", workbench_id=wb, **new) == "SANDBOX_VIOLATION"

    (answer,) = tool_results(
        wire, wb, ("write_text_file", {"path": "nested/x.txt", "content": "in"})
    )
    assert not answer.startswith("Error"), answer
    assert tree(draft_folder(wire, wb)) == {"nested/x.txt": "in"}


def tree_names(folder: Path) -> set[str]:
    """Return the names of all files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_read_never_leaves_the_workbench(wire: Wired) -> None:
    """Conformance 37: nor does a read, whether a model or a client asks; a nested name is read."""
    wb = wire.workbench(a__txt="a0")
    wire.script.writes = {"nested/x.txt": "inside"}
    wire.daemon.run_prompt(wb, "write")
    reads = [("read_file", {"path": path}) for path in ESCAPES]
    *refused, answer = tool_results(wire, wb, *reads, ("read_file", {"path": "nested/x.txt"}))
    for told in refused:
        assert told.startswith("Error: SANDBOX_VIOLATION"), told
    assert "inside" in answer
    for path in ESCAPES:
        for method in ("TextReadLines", "ReviewGetTextDiff"):
            more = {"line_start": 1, "line_count": 1} if method == "TextReadLines" else {}
            code = error_code(wire, method, workbench_id=wb, path=path, **more)
            assert code == "SANDBOX_VIOLATION", (method, path)


def test_a_publish_puts_the_draft_into_what_is_published(wire: Wired) -> None:
    """Conformance 38: the content is updated, and nothing is left of the draft, also later."""
    wb = wire.workbench(notes__txt="old", other__txt="same")
    wire.script.writes = {"notes.txt": "new", "nested/deep/x.txt": "in"}
    wire.daemon.run_prompt(wb, "write")
    assert tree(wire.published(wb)) == {"notes.txt": "old", "other.txt": "same"}
    assert tree(draft_folder(wire, wb)) == {"notes.txt": "new", "nested/deep/x.txt": "in"}
    done = publish(wire, wb)
    assert done["published"] == ["nested/deep/x.txt", "notes.txt"]
    for _ in range(2):
        assert tree(wire.published(wb)) == {
            "notes.txt": "new", "other.txt": "same", "nested/deep/x.txt": "in",
        }  # fmt: skip
        assert not has_draft(wire, wb)
        assert not draft_folder(wire, wb).exists() or not any(draft_folder(wire, wb).iterdir())
        wire.daemon.stop()
        wire.daemon.start()


def test_what_one_call_stages_is_no_other_calls(wire: Wired, tmp_path: Path) -> None:
    """Conformance 39: a call's stage becomes the draft whole, or not at all; others have theirs."""
    book = openpyxl.Workbook()
    book.create_sheet("S")
    for name in ("a.xlsx", "b.xlsx"):
        book.save(tmp_path / name)
    wb = wire.workbench()
    wire.add(wb, tmp_path / "a.xlsx", tmp_path / "b.xlsx")
    stage = wire.published(wb).parent / "stage"

    def edit(path: str, *ops: dict[str, Any]) -> bool:
        with wire.daemon.client() as client:
            try:
                client.send("XlsxApplyOps", {"workbench_id": wb, "path": path, "ops": list(ops)})
            except RemoteError:
                return False
            return True

    good = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": "kept"}]}
    bad = {"op": "delete_sheet", "sheet": "nowhere"}
    # The second call does its first operation on its stage, and then fails.
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(edit, "a.xlsx", good), pool.submit(edit, "b.xlsx", good, bad)
        assert (first.result(60), second.result(60)) == (True, False)
    assert wire.changes(wb) == {"a.xlsx": "modified"}
    drafted = openpyxl.load_workbook(draft_folder(wire, wb) / "a.xlsx")
    assert drafted["S"]["A1"].value == "kept"
    assert edit("b.xlsx", good)
    assert wire.changes(wb) == {"a.xlsx": "modified", "b.xlsx": "modified"}
    assert not stage.exists() or not any(stage.iterdir())


def test_a_publish_is_told(wire: Wired, client: Client) -> None:
    """Conformance 42: an entry of the conversation, and the three notifications."""
    wb = wire.workbench(a__txt="v0")
    asked(wire, wb, a__txt="v1")
    heard = Heard(client)
    done = client.send("DraftPublish", {"workbench_id": wb})
    (created,) = heard.until("CheckpointCreated")
    (drafted,) = heard.until("DraftStateChanged")
    (variant,) = heard.until("WorkbenchDraftStateChanged")
    assert (created["checkpoint_id"], created["reason"]) == (done["checkpoint_id"], "publish")
    assert (drafted["has_draft"], variant["has_draft"]) == (False, False)
    assert drafted["workbench_id"] == variant["workbench_id"] == wb
    (entry,) = system_events(wire, wb)
    assert entry["text"] == "checkpoint_publish"
    assert entry["metadata"] == {
        "kind": "checkpoint_publish", "reason": "publish", "checkpoint_id": done["checkpoint_id"],
    }  # fmt: skip
    (row,) = wire.ask("CheckpointsList", workbench_id=wb)["checkpoints"]
    assert entry["created_at"] == row["created_at"] == done["published_at"]


def test_a_discard_leaves_what_is_published(wire: Wired, client: Client) -> None:
    """Conformance 43: published/ is unchanged, there is no draft; clients are told."""
    wb = wire.workbench(a__txt="v0")
    asked(wire, wb, a__txt="v1", n__txt="n1")
    heard = Heard(client)
    assert client.send("DraftDiscard", {"workbench_id": wb}) == {"discarded": True}
    assert heard.until("DraftStateChanged")[-1]["has_draft"] is False
    assert tree(wire.published(wb)) == {"a.txt": "v0"}
    assert not has_draft(wire, wb)
    assert wire.files(wb) == ["a.txt"]


def test_a_restore_brings_files_manifest_and_conversation_together(wire: Wired) -> None:
    """Conformance 44: v0 again, in published/, in the list of files, for the next run."""
    wb = wire.workbench(a__txt="v0")
    made = wire.ask("CheckpointCreate", workbench_id=wb, description="v0")["checkpoint_id"]
    asked(wire, wb, a__txt="v1 is longer", n__txt="n1")
    publish(wire, wb)
    before = said(wire, wb)
    done = wire.ask("CheckpointRestore", workbench_id=wb, checkpoint_id=made)
    assert done["files_changed"] == ["a.txt", "n.txt"]
    assert tree(wire.published(wb)) == {"a.txt": "v0"}
    rows = wire.ask("WorkbenchFilesList", workbench_id=wb)["files"]
    assert [(row["path"], row["size"]) for row in rows] == [("a.txt", 2)]
    # Nothing that was said is unsaid, and the restore stands behind it.
    assert said(wire, wb) == before
    assert [each["metadata"]["kind"] for each in system_events(wire, wb)] == [
        "checkpoint_manual", "checkpoint_publish", "checkpoint_restore",
    ]  # fmt: skip
    (answer,) = tool_results(wire, wb, ("read_file", {"path": "a.txt"}))
    assert "v0" in answer
    assert "longer" not in answer


def test_a_restore_is_told(wire: Wired, client: Client) -> None:
    """Conformance 45: with the checkpoint of what was there before, in entry and notification."""
    wb = wire.workbench(a__txt="v0")
    asked(wire, wb, a__txt="v1")
    first = publish(wire, wb)["checkpoint_id"]
    heard = Heard(client)
    done = client.send("CheckpointRestore", {"workbench_id": wb, "checkpoint_id": first})
    (told,) = heard.until("CheckpointRestored")
    pair = {
        "checkpoint_id": first, "pre_restore_checkpoint_id": done["pre_restore_checkpoint_id"],
    }  # fmt: skip
    assert {name: told[name] for name in pair} == pair
    entry = system_events(wire, wb)[-1]
    assert entry["text"] == "checkpoint_restore"
    assert entry["metadata"] == {"kind": "checkpoint_restore", "reason": "restore", **pair}
    assert entry["created_at"]
    before = {"workbench_id": wb, "checkpoint_id": pair["pre_restore_checkpoint_id"]}
    assert wire.ask("CheckpointGet", **before)["checkpoint"]["reason"] == "pre_restore"
    wire.ask("CheckpointRestore", **before)
    assert tree(wire.published(wb)) == {"a.txt": "v1"}


def test_an_undo_to_before_a_publish_takes_it_back(wire: Wired) -> None:
    """Conformance 46: what is published is as before that publish."""
    wb = wire.workbench(a__txt="v0", b__txt="b0")
    question, _ = asked(wire, wb, a__txt="v1", n__txt="n1")
    publish(wire, wb)
    assert undo(wire, wb, question)["files_changed"] == ["a.txt", "n.txt"]
    assert tree(wire.published(wb)) == {"a.txt": "v0", "b.txt": "b0"}


def test_an_undo_past_the_second_publish_leaves_the_first(wire: Wired) -> None:
    """Conformance 47: the content after the first one."""
    wb = wire.workbench(a__txt="v0")
    asked(wire, wb, a__txt="v1")
    publish(wire, wb)
    second, _ = asked(wire, wb, a__txt="v2", n__txt="n2")
    publish(wire, wb)
    undo(wire, wb, second)
    assert tree(wire.published(wb)) == {"a.txt": "v1"}
    assert not has_draft(wire, wb)


def test_an_undo_past_a_restore_takes_it_back(wire: Wired) -> None:
    """Conformance 48: the content as before the restore."""
    wb = wire.workbench(a__txt="v0")
    asked(wire, wb, a__txt="v1")
    first = publish(wire, wb)["checkpoint_id"]
    question, _ = asked(wire, wb)
    wire.ask("CheckpointRestore", workbench_id=wb, checkpoint_id=first)
    assert tree(wire.published(wb)) == {"a.txt": "v0"}
    undo(wire, wb, question)
    assert tree(wire.published(wb)) == {"a.txt": "v1"}


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_an_undo_whose_bytes_are_gone_changes_nothing(wire: Wired, harm: str) -> None:
    """Conformance 49: FILE_WRITE_FAILED; conversation, files and log are untouched."""
    wb = wire.workbench(a__txt=f"first {harm}", b__txt="b0")
    question, _ = asked(wire, wb, a__txt="v1", b__txt="b1")
    publish(wire, wb)
    wire.ask("ReceiptGet", workbench_id=wb)  # It is made behind the publish, from these bytes.
    blobs = wire.published(wb).parent / "blobs"
    (blob,) = [
        path for path in blobs.rglob("*") if path.is_file() and path.read_text() == f"first {harm}"
    ]
    blob.chmod(0o600)
    if harm == "missing":
        blob.unlink()
    else:
        blob.write_text("other")
    before = (entries(wire, wb), wire.daemon.events(wb)[-1]["seq"])
    named = {"workbench_id": wb, "message_id": question}
    assert error_code(wire, "WorkshopUndoToMessage", **named) == "FILE_WRITE_FAILED"
    assert tree(wire.published(wb)) == {"a.txt": "v1", "b.txt": "b1"}
    assert (entries(wire, wb), wire.daemon.events(wb)[-1]["seq"]) == before


def test_an_undo_brings_the_draft_of_its_message(wire: Wired) -> None:
    """Conformance 50: of an answer the draft that it left; of a message none, and the rest cut."""
    wb = wire.workbench(a__txt="v0")
    first, answer = asked(wire, wb, a__txt="v1", n__txt="n1")
    second, _ = asked(wire, wb, a__txt="v2")
    assert undo(wire, wb, answer)["has_draft"]
    assert tree(draft_folder(wire, wb)) == {"a.txt": "v1", "n.txt": "n1"}
    assert [message_id for _, message_id, _ in said(wire, wb)] == [first, answer]
    assert not undo(wire, wb, first)["has_draft"]
    assert tree(draft_folder(wire, wb)) == {}
    assert [message_id for _, message_id, _ in said(wire, wb)] == [first]
    assert not has_draft(wire, wb)
    assert tree(wire.published(wb)) == {"a.txt": "v0"}
    assert second not in {each["message_id"] for each in entries(wire, wb)}


def test_regenerate_leaves_one_question_and_one_new_answer(wire: Wired) -> None:
    """Conformance 51: another id, exactly two messages, the new text."""
    wb = wire.workbench(a__txt="v0")
    question, answer = asked(wire, wb, a__txt="v1")
    wire.script.instead = lambda body: text(PLAN if phase_of(body) == "plan" else "Another answer.")
    done = wire.ask("WorkshopRegenerate", workbench_id=wb)
    assert done["completed"]
    (asked_first, answered) = said(wire, wb)
    assert asked_first[:2] == ("user", question)
    assert answered[0] == "assistant"
    assert answered[1] != answer
    assert answered[2] == "Another answer."
    # Beside them stands only that it was asked anew: of the first answer no call is left either.
    types = [each["type"] for each in entries(wire, wb) if each["type"] != "system_event"]
    assert types == ["user_message", "assistant_message"]
    assert not has_draft(wire, wb)
    assert tree(wire.published(wb)) == {"a.txt": "v0"}
