"""Forks over the socket (conformance 26 to 30): what is taken over, from where, and what is not."""

from collections.abc import Iterator
from typing import Any

import pytest

from wired import Wired, wired

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def bench() -> Iterator[Wired]:
    """One daemon for all tests here."""
    with wired("asyncio") as running:
        yield running


@pytest.fixture
def source(bench: Wired) -> str:
    """A workbench with two published runs, a context item and a checkpoint."""
    bench.script.forget()
    wb = bench.workbench(a__txt="a0")
    bench.ask("ContextSet", workbench_id=wb, category="situation", text="We move.")
    for content in ("a1", "a2"):
        bench.draft(wb, a__txt=content)
        bench.ask("DraftPublish", workbench_id=wb)
        bench.ask("ReceiptGet", workbench_id=wb)  # An event behind the publish: the last one stays.
    return wb


def _said(bench: Wired, wb: str) -> list[tuple[str, str, str]]:
    found = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    return [
        (each["message_id"], each["text"], each["created_at"])
        for each in found
        if each["type"] in ("user_message", "assistant_message") and "tool_calls" not in each
    ]


def _fork(bench: Wired, wb: str, mode: str = "clone_all", **point: Any) -> str:
    forked = bench.ask(
        "WorkbenchFork", source_workbench_id=wb, mode=mode, name=f"fork {mode}", **point
    )
    assert (forked["parent_workbench_id"], forked["mode"]) == (wb, mode)
    return str(forked["workbench_id"])


def _content(bench: Wired, wb: str) -> str:
    return (bench.published(wb) / "a.txt").read_text()


def test_a_fork_is_of_a_message_or_of_an_event(bench: Wired, source: str) -> None:
    """Files and conversation as they were then; a message that was cut off can be named, too."""
    (first, _, _), (one, _, _), (second, _, _), _ = _said(bench, source)
    assert _content(bench, _fork(bench, source, from_message_id=first)) == "a0"
    wb = _fork(bench, source, from_message_id=second)
    assert (_content(bench, wb), len(_said(bench, wb))) == ("a1", 3)
    opened = bench.ask("WorkbenchOpen", workbench_id=wb)["workbench"]
    assert opened["forked"]["from_message_id"] == second
    events = bench.daemon.events(source)
    completed = next(e["seq"] for e in events if e["type"] == "PublishCompleted")
    wb = _fork(bench, source, from_seq=completed)
    assert (_content(bench, wb), len(_said(bench, wb))) == ("a1", 2)
    bench.ask("WorkshopUndoToMessage", workbench_id=source, message_id=first)
    assert _content(bench, source) == "a0"
    wb = _fork(bench, source, from_message_id=second)
    assert [each[0] for each in _said(bench, wb)] == [first, one, second]
    assert _content(bench, wb) == "a1"


def test_a_fork_is_on_its_own(bench: Wired, source: str) -> None:
    """It goes on, is undone and checked whatever becomes of the other one, deleted or damaged."""
    wb = _fork(bench, source)
    last = _said(bench, wb)[-1][0]
    for path in (bench.published(source).parent / "blobs").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"damaged")
    bench.ask("WorkbenchDelete", workbench_id=source)
    run = bench.draft(wb, a__txt="a3")
    assert run["run_id"] == f"{wb}-1"
    bench.ask("DraftPublish", workbench_id=wb)
    # Back to a message that was taken over: the files are those that were.
    undone = bench.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=last)
    assert undone["files_changed"] == ["a.txt"]
    assert _content(bench, wb) == "a2"
    # And an answer that was taken over is given once more.
    bench.script.writes = {}
    assert bench.ask("WorkshopRegenerate", workbench_id=wb)["completed"]
    kept, (answer, _, _) = _said(bench, wb)[:-1], _said(bench, wb)[-1]
    assert answer == f"{wb}-2-answer"
    assert last not in {each for each, _, _ in kept}
    rows = bench.ask("CheckpointsList", workbench_id=wb)["checkpoints"]
    bench.ask("CheckpointRestore", workbench_id=wb, checkpoint_id=rows[0]["checkpoint_id"])
    assert _content(bench, wb) == "a0"
    assert bench.ask("LogVerify", workbench_id=wb)["ok"]


def test_what_cannot_be_forked_is_refused(bench: Wired, source: str) -> None:
    """Conformance 30, and points that are none; no half workbench is left."""
    known = {row["id"] for row in bench.ask("WorkbenchList")["workbenches"]}
    folders = {path.name for path in bench.published(source).parents[1].iterdir()}
    last = bench.daemon.events(source)[-1]["seq"]
    named = {"source_workbench_id": source, "mode": "clone_all", "name": "no"}
    for code, more in (
        ("VALIDATION_FAILED", {"from_message_id": "u", "from_seq": 1}),
        ("NOT_FOUND", {"from_message_id": "u"}),
        ("VALIDATION_FAILED", {"from_message_id": "m12"}),
        ("VALIDATION_FAILED", {"from_seq": 0}),
        ("VALIDATION_FAILED", {"from_seq": last + 1}),
        ("NOT_FOUND", {"source_workbench_id": "0" * 16}),
    ):
        error = bench.refused("WorkbenchFork", **{**named, **more})
        assert error.data["error_code"] == code, more
    unknown = bench.refused("WorkbenchFork", **{**named, "mode": "all"})
    assert (unknown.code, unknown.data) == (-32602, {"path": "$.mode"})
    bench.draft(source, b__txt="b")
    assert bench.refused("WorkbenchFork", **named).data["error_code"] == "VALIDATION_FAILED"
    bench.ask("DraftDiscard", workbench_id=source)
    (blob,) = [
        path for path in (bench.published(source).parent / "blobs").rglob("*")
        if path.is_file() and path.read_text() == "a2"
    ]  # fmt: skip
    blob.chmod(0o600)
    blob.write_text("other")
    assert bench.refused("WorkbenchFork", **named).data["error_code"] == "FILE_READ_FAILED"
    assert known == {row["id"] for row in bench.ask("WorkbenchList")["workbenches"]}
    assert folders == {path.name for path in bench.published(source).parents[1].iterdir()}


def test_a_log_that_is_damaged_later_can_be_forked_up_to_there(bench: Wired, source: str) -> None:
    """From an event before the damage the fork is whole; without one it is refused."""
    completed = [e["seq"] for e in bench.daemon.events(source) if e["type"] == "PublishCompleted"]
    bench.daemon.stop()
    (segment,) = (bench.published(source).parent / "log").glob("*.kbl")
    data = bytearray(segment.read_bytes())
    data[len(data) * 9 // 10] ^= 0xFF
    segment.write_bytes(data)
    bench.daemon.start()
    named = {"source_workbench_id": source, "mode": "clone_all", "name": "saved"}
    assert bench.refused("WorkbenchFork", **named).data["error_code"] == "LOG_CORRUPT"
    wb = _fork(bench, source, from_seq=completed[0])
    assert _content(bench, wb) == "a1"
    assert bench.ask("LogVerify", workbench_id=wb)["ok"]
