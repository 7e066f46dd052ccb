"""What was said, undone, answered once more, forked and restored, from the command line."""

from collections.abc import Callable
from typing import Any

import pytest

from scripted_daemon import ScriptedDaemon
from scripted_job import WORKBENCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

WHEN = "2026-11-22T16:53:00Z"


def _entry(kind: str, message_id: str, text: str, seq: int, **more: Any) -> dict[str, Any]:
    role = {"user_message": "user", "assistant_message": "assistant"}.get(kind, "system")
    return {
        "type": kind, "message_id": message_id, "role": role, "text": text, "created_at": WHEN,
        "seq": seq, **more,
    }  # fmt: skip


ASKED = _entry("user_message", "u1aa", "totals \x1b[31mby month", 3)
CALLED = _entry(
    "assistant_message", "m9", "", 9,
    tool_calls=[{"id": "c", "function": {"name": "read_file", "arguments": "{}"}}],
)  # fmt: skip
ANSWERED = _entry("assistant_message", "w-1-answer", "Done.\nTwo rows.", 20)
PUBLISHED = _entry(
    "system_event", "m24", "checkpoint_publish", 24,
    metadata={"kind": "checkpoint_publish", "checkpoint_id": "c77"},
)  # fmt: skip
AGAIN = _entry("user_message", "u1bb", "and by week", 30)
ENTRIES = [ASKED, CALLED, ANSWERED, PUBLISHED, AGAIN]


@pytest.fixture(autouse=True)
def _spoken(daemon: ScriptedDaemon) -> None:
    daemon.answers["WorkshopGetConversation"] = {"messages": ENTRIES}
    told = {"seq": 24, "type": "CheckpointCreated", "title": "checkpoint c77 (before\x1b[2J it)"}
    daemon.answers["EventsRead"] = lambda params, _: {
        "events": [told] if params["after"] == 23 else [], "last_seq": 30,
    }  # fmt: skip


def test_a_conversation_is_readable_and_names_its_messages(kbd: Kbd, capsys: Captured) -> None:
    """Who, when, the id that other commands take, the text without control characters."""
    assert kbd("conversation", "taxes") == 0
    assert capsys.readouterr().out.splitlines() == [
        "You  2026-11-22 16:53  u1aa  (event 3)",
        "    totals by month",
        "",
        "kbd  2026-11-22 16:53  w-1-answer  (event 20)",
        "    Done.",
        "    Two rows.",
        "",
        "--  2026-11-22 16:53  checkpoint c77 (before it)",
        "",
        "You  2026-11-22 16:53  u1bb  (event 30)",
        "    and by week",
        "",
    ]
    assert kbd("conversation", "taxes", "--tools") == 0
    assert "    -> read_file {}" in capsys.readouterr().out.splitlines()


def test_an_undo_goes_one_message_back_or_to_the_one_named(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What came of it is told, and how to come back."""
    daemon.answers["WorkshopUndoToMessage"] = {
        "message_id": "w-1-answer", "has_draft": True, "files_changed": ["a.csv"],
        "checkpoint_id": "c78",
    }  # fmt: skip
    assert kbd("undo", "taxes") == 0
    asked = {"workbench_id": WORKBENCH, "message_id": "w-1-answer"}
    assert daemon.params_of("WorkshopUndoToMessage") == asked
    told = capsys.readouterr().out
    assert "files   a.csv" in told
    assert "before  checkpoint c78" in told
    assert kbd("undo", "taxes", "u1a") == 0
    assert daemon.params_of("WorkshopUndoToMessage")["message_id"] == "u1aa"
    assert kbd("undo", "taxes", "u1") == 1
    assert "several messages begin with u1: u1aa, u1bb" in capsys.readouterr().err
    # One that was cut off is not among them: its id is taken as it is.
    assert kbd("undo", "taxes", "u9ff") == 0
    assert daemon.params_of("WorkshopUndoToMessage")["message_id"] == "u9ff"
    daemon.answers["WorkshopGetConversation"] = {"messages": [ASKED]}
    assert kbd("undo", "taxes") == 1


def test_an_answer_is_given_once_more(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """With consent asked first, as for every run."""
    daemon.answers["WorkshopRegenerate"] = daemon.answers["WorkshopRunAgent"]
    assert kbd("regenerate", "taxes", "w-1", "--model", "openai:x", "--yes") == 0
    asked = [method for method, _ in daemon.asked]
    assert "EgressGetConsentStatus" in asked[: asked.index("WorkshopRegenerate")]
    assert daemon.params_of("WorkshopRegenerate") == {
        "workbench_id": WORKBENCH, "message_id": "w-1-answer", "wait": False,
    }  # fmt: skip
    assert "WorkshopRunAgent" not in asked


def test_a_fork_is_of_now_a_message_or_an_event(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Its id is the output."""
    daemon.answers["WorkbenchFork"] = {
        "workbench_id": "f" * 16, "source_seq": 30, "files": 1, "messages": 2,
    }  # fmt: skip
    assert kbd("fork", "taxes") == 0
    assert capsys.readouterr().out == f"{'f' * 16}\n"
    asked = {"source_workbench_id": WORKBENCH, "mode": "clone_all", "name": "taxes fork"}
    assert daemon.params_of("WorkbenchFork") == asked
    assert kbd("fork", "taxes", "--from", "u1a", "--mode", "files", "--name", "try") == 0
    assert daemon.params_of("WorkbenchFork") == {
        "source_workbench_id": WORKBENCH, "mode": "clone_files_only", "name": "try",
        "from_message_id": "u1aa",
    }  # fmt: skip
    assert kbd("fork", "taxes", "--from", "24") == 0
    assert daemon.params_of("WorkbenchFork")["from_seq"] == 24


def test_checkpoints_are_listed_made_and_restored(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A restore asks, and says what was there before."""
    row = {
        "checkpoint_id": "c77", "created_at": WHEN, "reason": "publish",
        "description": "before publishing 1 file(s)", "stats": {"files": 2, "total_bytes": 2048},
    }  # fmt: skip
    daemon.answers["CheckpointsList"] = {"checkpoints": [row]}
    daemon.answers["CheckpointCreate"] = {"checkpoint_id": "c90"}
    daemon.answers["CheckpointRestore"] = {
        "checkpoint_id": "c77", "pre_restore_checkpoint_id": "c91", "files_changed": ["a.csv"],
    }  # fmt: skip
    assert kbd("checkpoints", "taxes") == 0
    assert "c77         2026-11-22 16:53  2      2.0 KiB" in capsys.readouterr().out
    assert kbd("checkpoints", "taxes", "make", "before March") == 0
    assert daemon.params_of("CheckpointCreate")["description"] == "before March"
    assert kbd("checkpoints", "taxes", "restore", "c7") == 3
    assert kbd("checkpoints", "taxes", "restore", "c7", "--yes") == 0
    assert daemon.params_of("CheckpointRestore")["checkpoint_id"] == "c77"
    assert "checkpoint c91" in capsys.readouterr().out
    assert kbd("checkpoints", "taxes", "show") == 2
    assert kbd("checkpoints", "taxes", "show", "c8") == 1
