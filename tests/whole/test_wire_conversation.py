"""Undo, regenerate, restore and fork over the socket (conformance 10, 11, 27-30, 44-51)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model_server import text
from wired import Heard, Wired, wired


@pytest.fixture(scope="module")
def bench() -> Iterator[Wired]:
    """One daemon for all tests here."""
    with wired("asyncio") as running:
        yield running


def _tree(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def _messages(bench: Wired, workbench_id: str) -> list[dict[str, Any]]:
    """What person and runs said."""
    found = bench.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]
    return [each for each in found if each["role"] in ("user", "assistant") and each["text"]]


def _kinds(bench: Wired, workbench_id: str) -> list[str]:
    found = bench.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]
    return [each["metadata"]["kind"] for each in found if each["type"] == "system_event"]


def _asked(bench: Wired, workbench_id: str, **writes: str) -> tuple[str, str]:
    """Ask, have a run write, and return the ids of the message and of its answer."""
    bench.draft(workbench_id, **writes)
    last, answer = _messages(bench, workbench_id)[-2:]
    assert (last["role"], answer["role"]) == ("user", "assistant")
    return last["message_id"], answer["message_id"]


def test_an_undo_brings_draft_files_and_conversation_back_and_forward(bench: Wired) -> None:
    """Behind two publishes and forward again, by the same call; each is exactly as it was."""
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    first, one = _asked(bench, wb, a__txt="a1", c__txt="c1")
    bench.ask("DraftPublish", workbench_id=wb)
    second, two = _asked(bench, wb, a__txt="a2")
    bench.ask("DraftPublish", workbench_id=wb)
    published = bench.published(wb)
    assert _tree(published) == {"a.txt": "a2", "b.txt": "b0", "c.txt": "c1"}

    # To the answer before the second publish: what was published first, and a draft on it.
    undone = bench.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=two)
    assert (undone["message_id"], undone["has_draft"]) == (two, True)
    assert undone["files_changed"] == ["a.txt"]
    assert _tree(published) == {"a.txt": "a1", "b.txt": "b0", "c.txt": "c1"}
    assert bench.changes(wb) == {"a.txt": "modified"}

    undone = bench.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=first)
    assert not undone["has_draft"]
    assert _tree(published) == {"a.txt": "a0", "b.txt": "b0"}
    assert [each["message_id"] for each in _messages(bench, wb)] == [first]
    state = bench.ask("WorkshopGetState", workbench_id=wb)
    assert (state["has_draft"], state["run_id"]) == (False, None)

    # What was cut off is not gone: the same call brings it back.
    bench.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=second)
    assert _tree(published) == {"a.txt": "a1", "b.txt": "b0", "c.txt": "c1"}
    assert [each["message_id"] for each in _messages(bench, wb)] == [first, one, second]
    restored = {row["reason"] for row in _checkpoints(bench, wb)}
    assert restored == {"publish", "undo"}


def _checkpoints(bench: Wired, wb: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = bench.ask("CheckpointsList", workbench_id=wb)["checkpoints"]
    return rows
