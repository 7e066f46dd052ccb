"""Undo, regenerate, restore, fork over the socket (conformance 10, 11, 27 to 29, 44 to 51)."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model_server import Reply, phase_of, text
from wired import Heard, Wired, wired

MODES = ("clone_all", "clone_files_and_context_no_chat", "clone_files_only")


@pytest.fixture(scope="module")
def bench() -> Iterator[Wired]:
    """One daemon for all tests here."""
    with wired("asyncio") as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Wired) -> None:
    bench.script.forget()


def _tree(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def _entries(bench: Wired, wb: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    return found


def _said(bench: Wired, wb: str) -> list[tuple[str, str]]:
    """Return what person and runs said: who, and which message."""
    return [
        (each["role"], each["message_id"])
        for each in _entries(bench, wb)
        if each["type"] in ("user_message", "assistant_message") and "tool_calls" not in each
    ]


def _lines(copies: Path) -> list[dict[str, Any]]:
    text = (copies / "conversation.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def _kinds(bench: Wired, wb: str) -> list[str]:
    return [e["metadata"]["kind"] for e in _entries(bench, wb) if e["type"] == "system_event"]


def _asked(bench: Wired, wb: str, **writes: str) -> tuple[str, str]:
    """Ask, have a run write, and return the ids of the message and of its answer."""
    bench.draft(wb, **writes)
    (role, asked), (answered, answer) = _said(bench, wb)[-2:]
    assert (role, answered) == ("user", "assistant")
    return asked, answer


def _undo(bench: Wired, wb: str, message_id: str) -> dict[str, Any]:
    done: dict[str, Any] = bench.ask(
        "WorkshopUndoToMessage", workbench_id=wb, message_id=message_id
    )
    return done


def test_a_new_workbench_has_nothing_said_and_the_users_model(bench: Wired) -> None:
    """Conformance 10 and 11: empty, without a draft, with the default model."""
    wb = bench.ask("WorkbenchCreate", name="empty")["workbench_id"]
    assert _entries(bench, wb) == []
    assert bench.files(wb) == []
    state = bench.ask("WorkshopGetState", workbench_id=wb)
    assert (state["has_draft"], state["active_model_id"]) == (False, "openai:scripted")
    assert state["default_model_id"] == "openai:scripted"


@pytest.mark.full
def test_an_undo_brings_all_back_and_forward(bench: Wired) -> None:
    """Behind two publishes and forward again, by the same call; each is exactly as it was."""
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    first, one = _asked(bench, wb, a__txt="a1", c__txt="c1")
    bench.ask("DraftPublish", workbench_id=wb)
    second, two = _asked(bench, wb, a__txt="a2")
    bench.ask("DraftPublish", workbench_id=wb)
    published = bench.published(wb)
    late = {"a.txt": "a2", "b.txt": "b0", "c.txt": "c1"}
    assert _tree(published) == late

    # Behind the second publish: what was published first, and the draft on it.
    done = _undo(bench, wb, two)
    assert (done["has_draft"], done["files_changed"]) == (True, ["a.txt"])
    middle = {"a.txt": "a1", "b.txt": "b0", "c.txt": "c1"}
    assert _tree(published) == middle
    assert bench.changes(wb) == {"a.txt": "modified"}

    done = _undo(bench, wb, first)
    assert not done["has_draft"]
    assert _tree(published) == {"a.txt": "a0", "b.txt": "b0"}
    assert _said(bench, wb) == [("user", first)]
    state = bench.ask("WorkshopGetState", workbench_id=wb)
    assert (state["has_draft"], state["run_id"]) == (False, None)

    # What was cut off is not gone: the same call brings it back.
    done = _undo(bench, wb, second)
    assert _tree(published) == middle
    assert [each for _, each in _said(bench, wb)] == [first, one, second]
    assert _kinds(bench, wb) == ["checkpoint_publish", "undo"]
    rows = bench.ask("CheckpointsList", workbench_id=wb)["checkpoints"]
    assert {row["reason"] for row in rows} == {"publish", "undo"}
    # What was there before the undo is a checkpoint, too.
    bench.ask("CheckpointRestore", workbench_id=wb, checkpoint_id=rows[2]["checkpoint_id"])
    assert _tree(published) == late


@pytest.mark.full
def test_an_undo_is_told_and_clears_what_was_planned(bench: Wired) -> None:
    """Notifications say what is true; the run's plan is set aside, its tool traffic gone."""
    wb = bench.workbench(a__txt="a0")
    asked, _ = _asked(bench, wb, a__txt="a1")
    bench.ask("DraftPublish", workbench_id=wb)
    assert any(each["type"] == "tool_result" for each in _entries(bench, wb))
    with bench.daemon.client() as client:
        heard = Heard(client)
        client.send("WorkshopUndoToMessage", {"workbench_id": wb, "message_id": asked})
        (done,) = heard.until("WorkshopUndoCompleted")
        (files,) = heard.until("WorkbenchFilesChanged")
        assert (done["message_id"], done["has_draft"]) == (asked, False)
        assert files["updated"] == ["a.txt"]
        assert not heard.until("DraftStateChanged")[-1]["has_draft"]
    assert [each["type"] for each in _entries(bench, wb)] == ["user_message", "system_event"]
    # So do the readable copies: research and plan at once, the conversation soon.
    copies = bench.published(wb).parent / "meta" / "workshop"
    assert list((copies / "_rpi").iterdir()) == []
    deadline = time.monotonic() + 20
    # An older copy, of which the undo left nothing, may have as many lines.
    while _lines(copies) != (entries := _entries(bench, wb)):
        assert time.monotonic() < deadline, (_lines(copies), entries)
        time.sleep(0.02)
    # The message is answered anew, from the start.
    run = bench.ask("WorkshopRunAgent", workbench_id=wb)
    assert (run["run_id"], run["status"]) == (f"{wb}-2", "finished")


@pytest.mark.full
def test_files_added_and_removed_since_are_taken_out_and_brought_back(bench: Wired) -> None:
    """An undo is about files that people added, too; forward they are there again."""
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    first, _ = _asked(bench, wb)
    bench.add(wb, bench.file("c.txt", "c0"))
    bench.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["b.txt"])
    second, _ = _asked(bench, wb)

    _undo(bench, wb, first)
    assert _tree(bench.published(wb)) == {"a.txt": "a0", "b.txt": "b0"}
    assert bench.files(wb) == ["a.txt", "b.txt"]
    _undo(bench, wb, second)
    assert _tree(bench.published(wb)) == {"a.txt": "a0", "c.txt": "c0"}


def test_an_undo_that_cannot_be_done_changes_nothing(bench: Wired) -> None:
    """A file changed by hand, bytes that are gone, what is no message, a run under way."""
    wb = bench.workbench(a__txt="a0")
    first, _ = _asked(bench, wb, a__txt="a1")
    bench.ask("DraftPublish", workbench_id=wb)
    before = _entries(bench, wb)
    unknown = bench.refused("WorkshopUndoToMessage", workbench_id=wb, message_id="u-none")
    assert unknown.data["error_code"] == "NOT_FOUND"
    other = [each["message_id"] for each in before if each["type"] == "tool_result"]
    refused = bench.refused("WorkshopUndoToMessage", workbench_id=wb, message_id=other[0])
    assert refused.data["error_code"] == "VALIDATION_FAILED"

    file = bench.published(wb) / "a.txt"
    file.write_text("by hand")
    conflict = bench.refused("WorkshopUndoToMessage", workbench_id=wb, message_id=first)
    assert conflict.data["error_code"] == "CONFLICT_PUBLISHED_CHANGED"
    assert conflict.data["detail"]["files"] == ["a.txt"]
    assert file.read_text() == "by hand"
    file.write_text("a1")

    (lost,) = [
        path for path in (bench.published(wb).parent / "blobs").rglob("*")
        if path.is_file() and path.read_text() == "a0"
    ]  # fmt: skip
    lost.rename(lost.with_suffix(".away"))
    gone = bench.refused("WorkshopUndoToMessage", workbench_id=wb, message_id=first)
    assert gone.data["error_code"] == "FILE_WRITE_FAILED"
    assert (file.read_text(), _entries(bench, wb)) == ("a1", before)
    lost.with_suffix(".away").rename(lost)

    bench.script.answers.clear()
    bench.ask("WorkshopSendUserMessage", workbench_id=wb, text="again")
    bench.ask("WorkshopRunAgent", workbench_id=wb, wait=False)
    busy = bench.refused("WorkshopUndoToMessage", workbench_id=wb, message_id=first)
    assert busy.data["error_code"] == "VALIDATION_FAILED"
    bench.script.answers.set()
    bench.daemon.wait_for_run(f"{wb}-2")


def test_regenerate_answers_once_more(bench: Wired) -> None:
    """Conformance 51: a new answer in the place of the old one, which stays within reach."""
    wb = bench.workbench(a__txt="a0")
    assert (
        bench.refused("WorkshopRegenerate", workbench_id=wb).data["error_code"]
        == "VALIDATION_FAILED"
    )
    asked, answer = _asked(bench, wb, a__txt="a1")
    bench.script.instead = lambda body: text(
        bench.script.plan if phase_of(body) == "plan" else "Another answer."
    )
    with bench.daemon.client() as client:
        heard = Heard(client)
        run = client.send("WorkshopRegenerate", {"workbench_id": wb}, timeout=30)
        assert (run["message_id"], run["has_draft"], run["completed"]) == (asked, False, True)
        (begun,) = heard.until("WorkshopRegenerateStarted")
        (done,) = heard.until("WorkshopRegenerateCompleted")
    assert begun["message_id"] == asked
    assert done["regenerates"] == answer
    assert _said(bench, wb) == [("user", asked), ("assistant", done["message_id"])]
    assert done["message_id"] != answer
    assert _entries(bench, wb)[-1]["text"] == "Another answer."
    started = [e for e in bench.daemon.events(wb) if e["type"] == "RunStarted"]
    assert started[-1]["data"]["regenerates"] == answer
    # Its story is its own, and the first one's is what it was.
    for number in (1, 2):
        steps = bench.ask("ReplaySteps", run_id=f"{wb}-{number}", limit=500)["steps"]
        assert steps[-1]["title"].startswith("run finished") or number == 1, steps[-1]
        started_as = f"run {number} started with openai:scripted"
        assert started_as in {step["title"] for step in steps}

    # Back to the first answer, with its draft: named by the answer that was cut off.
    assert _undo(bench, wb, answer)["has_draft"]
    assert bench.changes(wb) == {"a.txt": "modified"}
    assert _said(bench, wb) == [("user", asked), ("assistant", answer)]
    # The run of that answer stands again: there is nothing to run.
    assert bench.ask("WorkshopRunAgent", workbench_id=wb)["run_id"] == f"{wb}-1"


@pytest.mark.full
def test_a_follow_up_works_on_the_draft(bench: Wired) -> None:
    """A second message with a draft open sees and changes the draft's files; nothing is lost."""
    wb = bench.workbench(a__txt="a0")
    _, one = _asked(bench, wb, a__txt="a1", n__txt="n1")
    _asked(bench, wb, n__txt="n2")
    assert bench.changes(wb) == {"a.txt": "modified", "n.txt": "added"}
    manifest = [body for body in bench.script.requests if "n.txt" in json.dumps(body)]
    assert manifest  # the second run was told of the draft's file
    bench.ask("DraftPublish", workbench_id=wb)
    assert _tree(bench.published(wb)) == {"a.txt": "a1", "n.txt": "n2"}
    _undo(bench, wb, one)
    draft = bench.published(wb).parent / "draft"
    assert _tree(bench.published(wb)) == {"a.txt": "a0"}
    assert bench.changes(wb) == {"a.txt": "modified", "n.txt": "added"}
    bench.ask("DraftPublish", workbench_id=wb)
    assert _tree(bench.published(wb)) == {"a.txt": "a1", "n.txt": "n1"}
    assert not draft.exists() or list(draft.iterdir()) == []


def test_a_checkpoint_is_made_shown_and_restored(bench: Wired) -> None:
    """Conformance 44, 45, 48: restore, and undo past the restore."""
    wb = bench.workbench(a__txt="v0")
    made = bench.ask("CheckpointCreate", workbench_id=wb, description="the beginning")
    shown = bench.ask("CheckpointGet", workbench_id=wb, checkpoint_id=made["checkpoint_id"])
    assert shown["checkpoint"]["reason"] == "manual"
    assert [file["path"] for file in shown["files"]] == ["a.txt"]
    asked, _ = _asked(bench, wb, a__txt="v1")
    refused = bench.refused("CheckpointRestore", workbench_id=wb, **made)
    assert refused.data["error_code"] == "VALIDATION_FAILED"
    bench.ask("DraftPublish", workbench_id=wb)
    later, _ = _asked(bench, wb)

    with bench.daemon.client() as client:
        heard = Heard(client)
        done = client.send("CheckpointRestore", {"workbench_id": wb, **made})
        (told,) = heard.until("CheckpointRestored")
        assert heard.until("WorkbenchFilesChanged")[0]["updated"] == ["a.txt"]
    assert told["pre_restore_checkpoint_id"] == done["pre_restore_checkpoint_id"]
    assert (done["files_changed"], _tree(bench.published(wb))) == (["a.txt"], {"a.txt": "v0"})
    entry = _entries(bench, wb)[-1]
    assert entry["metadata"] == {"kind": "checkpoint_restore", "reason": "restore", **_told(done)}
    unknown = bench.refused("CheckpointRestore", workbench_id=wb, checkpoint_id="c-none")
    assert unknown.data["error_code"] == "NOT_FOUND"
    _undo(bench, wb, later)
    assert _tree(bench.published(wb)) == {"a.txt": "v1"}
    _undo(bench, wb, asked)
    assert _tree(bench.published(wb)) == {"a.txt": "v0"}


def _told(done: dict[str, Any]) -> dict[str, str]:
    return {name: done[name] for name in ("checkpoint_id", "pre_restore_checkpoint_id")}


@pytest.mark.full
def test_another_model_is_used_from_the_next_run_on(bench: Wired) -> None:
    """A switch in the middle: the next run has it, and one that is gone on with does, too.

    Each turn is paid at the price of the model that made it.
    """
    prices = {"scripted": 1000.0, "other": 3000.0}
    bench.daemon.stop()
    (bench.daemon.home / "settings.toml").write_text(
        "".join(f'[models."openai:{n}"]\ninput_price = {p}\n' for n, p in prices.items())
    )
    bench.daemon.start()
    wb = bench.workbench(a__txt="a0")
    _asked(bench, wb)
    bench.ask("WorkshopSetActiveModel", workbench_id=wb, model_id="openai:other")
    _asked(bench, wb)
    assert {body["model"] for body in bench.script.requests[-4:]} == {"other"}
    bench.ask("WorkshopSendUserMessage", workbench_id=wb, text="third")
    bench.script.instead = lambda body: (
        text("## Files") if phase_of(body) == "research" else Reply(status=401)
    )
    bench.ask("WorkshopRunAgent", workbench_id=wb, wait=False)
    assert bench.daemon.wait_for_run(f"{wb}-3")["status"] == "failed"
    bench.script.instead = None
    bench.ask("WorkshopSetActiveModel", workbench_id=wb, model_id="openai:scripted")
    assert bench.ask("WorkshopRunAgent", workbench_id=wb)["run_id"] == f"{wb}-3"
    assert bench.script.requests[-1]["model"] == "scripted"
    infos = [bench.ask("RunGet", run_id=f"{wb}-{n}") for n in (1, 2, 3)]
    used = ["openai:scripted", "openai:other", "openai:scripted"]
    assert [info["model_id"] for info in infos] == used

    turns: list[tuple[str, dict[str, Any]]] = []
    asked = ""
    for event in bench.daemon.events(wb):
        if event["type"] == "ModelRequested":
            asked = event["data"]["model_id"].partition(":")[2]
        if event["type"] == "ModelReplied" and event["run_id"] == f"{wb}-3":
            turns.append((asked, event["data"]))
    assert {model for model, _ in turns} == {"scripted", "other"}
    for model, replied in turns:
        tokens = replied["usage"]["input_tokens"]
        assert replied["cost"] == pytest.approx(tokens * prices[model] / 1_000_000)
    assert infos[2]["cost"] == pytest.approx(sum(replied["cost"] for _, replied in turns))
    (bench.daemon.home / "settings.toml").unlink()


def test_a_fork_has_what_its_mode_says(bench: Wired) -> None:
    """Conformance 27 to 29; never a draft, consent or runs; its log is its own."""
    source = bench.workbench(a__txt="a0")
    bench.ask("ContextSet", workbench_id=source, category="situation", text="We move.")
    _asked(bench, source, a__txt="a1")
    bench.ask("DraftPublish", workbench_id=source)
    said = _said(bench, source)
    for mode in MODES:
        wb = bench.ask("WorkbenchFork", source_workbench_id=source, mode=mode, name=mode)[
            "workbench_id"
        ]
        assert _tree(bench.published(wb)) == {"a.txt": "a1"}
        assert _said(bench, wb) == (said if mode == "clone_all" else [])
        rows = bench.ask("CheckpointsList", workbench_id=wb)["checkpoints"]
        originals = bench.ask("CheckpointsList", workbench_id=source)["checkpoints"]
        assert rows == (originals if mode == "clone_all" else [])
        items = bench.ask("ContextList", workbench_id=wb)["items"]
        filled = [item["category"] for item in items if item["status"] != "empty"]
        assert filled == ([] if mode == "clone_files_only" else ["situation"])
        assert bench.ask("RunList", workbench_id=wb)["runs"] == []
        types = [event["type"] for event in bench.daemon.events(wb)]
        assert types[:3] == ["WorkbenchCreated", "WorkbenchForked", "FileAdded"]
        assert "ConsentGranted" not in types
        opened = bench.ask("WorkbenchOpen", workbench_id=wb)["workbench"]
        assert opened["parent_workbench_id"] == source
        assert (opened["forked"]["workbench_id"], opened["forked"]["mode"]) == (source, mode)
        listed = bench.ask("WorkbenchList")["workbenches"]
        assert {r["id"]: r.get("parent_workbench_id") for r in listed}[wb] == source
        assert bench.ask("LogVerify", workbench_id=wb)["ok"]
