"""The commands of `kbd chat`: what they show, what they change, and how they can be undone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from chatted import answers, said, typed
from kbd.cli.chat.slash_commands import COMMANDS
from scripted_daemon import ScriptedDaemon
from scripted_job import NO_CHANGES, WORKBENCH, run_info

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def _conversing(daemon: ScriptedDaemon) -> None:
    daemon.answers |= answers()


def test_changes_are_told_and_published_to_a_folder(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch, tmp_path: Path
) -> None:
    """Publishing asks; a folder that is named gets copies, and stdout says where."""
    typed(monkeypatch, "make it", "/publish")
    assert kbd("chat", "taxes") == 3
    assert "added   summary.xlsx" in capsys.readouterr().err
    assert "DraftPublish" not in daemon.methods()
    typed(monkeypatch, f"/publish {tmp_path}/out")
    assert kbd("chat", "taxes", "--yes") == 0
    told = capsys.readouterr().out.splitlines()
    assert told == ["published summary.xlsx", f"-> {tmp_path}/out/summary.xlsx"]


def test_an_undo_takes_questions_back(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """To before the last one, or the n-th last; of the first one only the answer is undone."""
    daemon.answers["WorkshopGetConversation"] = {
        "messages": [
            said("user", "one", "u1"), said("assistant", "1", "a1"),
            said("user", "two", "u2"), said("assistant", "2", "a2"),
            said("user", "three", "u3"),
        ]
    }  # fmt: skip
    daemon.answers["WorkshopUndoToMessage"] = {"has_draft": False, "files_changed": ["a.csv"]}
    for line, target in (("/undo", "a2"), ("/undo 2", "a1"), ("/undo 3", "u1")):
        typed(monkeypatch, line)
        assert kbd("chat", "taxes") == 0
        assert daemon.params_of("WorkshopUndoToMessage")["message_id"] == target
    assert f"kbd undo {WORKBENCH} u3" in capsys.readouterr().err
    typed(monkeypatch, "/undo 4", "/undo x")
    assert kbd("chat", "taxes") == 1


def test_a_new_conversation_is_a_fork_with_the_same_files(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """The old one stays and is named; what follows is said in the new one, with the same model."""
    forked = "f" * 16
    daemon.answers["WorkbenchFork"] = {"workbench_id": forked}
    daemon.answers["WorkshopGetConversation"] = {"messages": [said("user", "one", "u1")]}
    typed(monkeypatch, "/clear", "hello")
    assert kbd("chat", "taxes") == 0
    assert daemon.params_of("WorkbenchFork") == {
        "source_workbench_id": WORKBENCH, "name": "taxes (2)",
        "mode": "clone_files_and_context_no_chat",
    }  # fmt: skip
    assert daemon.params_of("WorkshopSendUserMessage")["workbench_id"] == forked
    assert daemon.params_of("WorkshopSetActiveModel")["model_id"] == "openai:x"
    assert f"kbd chat {WORKBENCH}" in capsys.readouterr().err
    daemon.answers["WorkshopGetState"]["has_draft"] = True
    typed(monkeypatch, "/clear")
    assert kbd("chat", "taxes") == 1


def test_what_can_be_shown_is_shown(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """Documents with ids, tools with their arguments, passages with places, tokens and money."""
    document = {"doc_id": "d1", "title": "notes", "path": "notes.md", "warnings": []}
    found = {
        "filename": "notes.md", "place": "line 3", "score": 0.834, "snippet": "the \x07bell",
    }  # fmt: skip
    tool = {
        "name": "find", "description": "Find it. More of it.",
        "args": {
            "query": {"type": "str", "required": True}, "top_k": {"type": "int", "default": 5},
        },
    }  # fmt: skip
    daemon.answers["WorkspaceListDocs"] = {"documents": [document], "total": 1}
    daemon.answers["WorkspaceSearch"] = {
        "documents": [found], "total": 1, "ranker": "bm25", "warnings": ["two are missing"],
    }  # fmt: skip
    daemon.answers["ToolsList"] = {"tools": [tool]}
    daemon.answers["RunList"] = {"runs": [run_info()]}
    typed(monkeypatch, "/docs", "/search a bell", "/tools", "/cost", "/review", "/help")
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": None, "changes": []}
    assert kbd("chat", "taxes") == 0
    told = capsys.readouterr()
    assert "d1      notes  notes.md" in told.out
    assert "1. 0.83  notes.md, line 3\n   the bell\n" in told.out
    assert "find\n  Find it.\n    query: str, required\n    top_k: int = 5\n" in told.out
    assert "in this workbench  1     40,000     1,200       $0.0812" in told.out
    assert "There is no draft" in told.out
    assert all(name in told.out for name in COMMANDS)
    assert "two are missing" in told.err


def test_a_review_shows_what_changed_inside(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """Of all files, or of one; a file that is not changed is refused."""
    change = {"place": {"title": "line 2"}, "kind": "changed", "what": "line"}
    changes = [{**change, "before": "two", "after": "two!"}]
    daemon.answers["ReviewGetDiff"] = {**NO_CHANGES, "changes": changes, "total": 1}
    typed(monkeypatch, "/review", "/review summary.xlsx", "/review a.csv")
    assert kbd("chat", "taxes") == 2
    assert capsys.readouterr().out.count("line 2  two -> two!") == 2
