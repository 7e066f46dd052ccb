"""`kbd chat` from a pipe: messages and commands in turn, streams apart, codes for scripts."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatted import answers, deltas, said, typed
from kbd.cli.chat.slash_commands import COMMANDS
from scripted_daemon import AnswerError, ScriptedDaemon
from scripted_job import RUN, WORKBENCH, run_info, workbench

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

SCOPE = {
    "limits": {"max_files": 200, "max_file_bytes": 1024},
    "supported_types": {"readable_extensions": [".md"]},
}


@pytest.fixture(autouse=True)
def _conversing(daemon: ScriptedDaemon) -> None:
    daemon.answers |= answers()


def test_lines_of_a_pipe_are_messages_in_turn(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """Stdout has the answers alone, without control sequences; a backslash joins lines."""
    answer = said("assistant", "It is \x1b[31m7.", "a1")
    daemon.answers["WorkshopGetConversation"] = {"messages": [answer]}
    daemon.answers["WorkshopRunAgent"] = deltas("It is", " 7.")
    typed(monkeypatch, "how many", "", "and so\\", "on?", "//etc")

    assert kbd("chat", "taxes") == 0
    told = capsys.readouterr()
    assert told.out == "It is 7.\n" * 3
    assert "openai:x" not in told.out
    sent = [params["text"] for name, params in daemon.asked if name == "WorkshopSendUserMessage"]
    assert sent == ["how many", "and so\non?", "/etc"]
    assert "\x1b" not in told.err


def test_a_line_that_fails_decides_the_code_and_stops_nothing(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """The code is that of the first failure; Ctrl-C alone ends the lines."""
    error = {"error_code": "TURN_LIMIT", "message": "no text", "retryable": True}
    runs = iter([run_info("failed", error=error), run_info("failed", error=error), run_info()])
    daemon.answers["RunGet"] = lambda *_: next(runs)
    typed(monkeypatch, "one", "/nope", "two", "/files", "three")

    assert kbd("chat", "taxes") == 1
    told = capsys.readouterr()
    assert "TURN_LIMIT: no text\n/resume goes on where it stopped." in told.err
    assert "there is no command /nope" in told.err
    assert "a.csv" in told.out
    assert "Made one sheet a category." in told.out

    daemon.answers["RunGet"] = run_info("declined", reason="no", suggestions=[])
    typed(monkeypatch, "one")
    assert kbd("chat", "taxes") == 4
    assert "Made one sheet a category." in capsys.readouterr().out

    daemon.answers["RunGet"] = run_info("cancelled")
    typed(monkeypatch, "one", "two")
    assert kbd("chat", "taxes") == 130
    assert daemon.methods().count("WorkshopSendUserMessage") == 5


@pytest.mark.parametrize(
    ("written", "nearest"),
    [("/histroy", "/history"), ("/quti", "/quit"), ("/docx", "/docs"), ("/Undo", "/undo")],
)
def test_an_unknown_command_names_the_nearest(
    written: str, nearest: str, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """And is never sent to a model."""
    typed(monkeypatch, written)
    assert kbd("chat", "taxes") == 2
    assert f"there is no command {written}; the nearest is {nearest} (" in capsys.readouterr().err


def test_every_command_of_the_contract_is_there() -> None:
    """Those of the workspace document and those of a draft."""
    wanted = "reload docs tools history clear verbose quit files review publish undo cost help"
    assert {f"/{name}" for name in wanted.split()} <= COMMANDS.keys()


def test_the_command_line_of_the_document_works_as_written(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch, tmp_path: Path
) -> None:
    """With a model without provider, a folder, an index inside of it that is left out."""
    (tmp_path / "workspace/index/latest").mkdir(parents=True)
    (tmp_path / "workspace/notes.md").write_text("x")
    (tmp_path / "workspace/index/latest/part.md").write_text("x")
    (tmp_path / "workspace/large.md").write_bytes(b"x" * 1025)
    Path(os.fsdecode(os.fsencode(tmp_path / "workspace") + b"/\xff.md")).touch()
    monkeypatch.chdir(tmp_path)
    row = {"provider_id": "openai", "configured": True, "enabled": True}
    daemon.answers["ProvidersGetStatus"] = {"providers": [row]}
    daemon.answers["WorkbenchGetScope"] = SCOPE
    typed(monkeypatch, "/quit", "never sent")

    line = "--model_name my_agent --workspace_dir workspace/ --index_dir workspace/index/latest"
    assert kbd("chat", *line.split(), "--verbose") == 0
    folder = tmp_path.resolve() / "workspace"
    assert daemon.params_of("WorkbenchCreate") == {"name": str(folder)}
    assert daemon.params_of("WorkbenchFilesAdd")["source_paths"] == [str(folder / "notes.md")]
    assert daemon.params_of("WorkshopSetActiveModel")["model_id"] == "openai:my_agent"
    assert daemon.params_of("WorkspaceReloadIndex")["index_dir"] == str(folder / "index/latest")
    told = capsys.readouterr().err
    assert "left out: large.md (larger than 1.0 KiB)" in told
    assert "left out: ?.md (its name is not UTF-8)" in told
    assert "WorkshopSendUserMessage" not in daemon.methods()


def test_a_model_without_provider_that_nobody_takes_is_refused(
    kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """The error names the form, and where to look."""
    typed(monkeypatch, "hello")
    assert kbd("chat", "taxes", "--model", "my_agent") == 2
    said_so = capsys.readouterr().err
    assert "my_agent names no provider" in said_so
    assert "provider:model, as openai:my_agent" in said_so


def test_a_model_is_found_by_its_name_where_a_provider_lists_it(
    daemon: ScriptedDaemon, kbd: Kbd, monkeypatch: Patch
) -> None:
    """Before one that takes any name is tried."""
    row = {"model_id": "other:m", "available": True}
    daemon.answers["ModelsListSupported"] = {"models": [row], "open_providers": ["openai"]}
    typed(monkeypatch, "/model m")
    assert kbd("chat", "taxes") == 0
    assert daemon.params_of("WorkshopSetActiveModel")["model_id"] == "other:m"


def test_consent_is_asked_as_a_run_asks(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """Without anybody to ask nothing is sent; --yes agrees."""
    daemon.answers["EgressGetConsentStatus"] = {
        "consented": False, "provider_id": "openai", "model_id": "openai:x", "scope_hash": "h",
        "persisted": False, "mode": "ask",
    }  # fmt: skip
    typed(monkeypatch, "hello")
    assert kbd("chat", "taxes") == 3
    assert "WorkshopSendUserMessage" not in daemon.methods()
    assert "a.csv" in capsys.readouterr().err
    typed(monkeypatch, "hello")
    assert kbd("chat", "taxes", "--yes") == 0
    assert "EgressGrantWorkshopConsent" in daemon.methods()


def test_an_embedder_that_was_declined_is_not_asked_about_again(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """Messages and searches go on without it; one consent is not the other."""

    def status(params: dict[str, Any], _notify: Any) -> dict[str, Any]:
        own = {"provider_id": "openai", "scope_hash": "h", "persisted": False, "mode": "ask"}
        if "model_id" in params:
            return {**own, "consented": False, "model_id": "openai:words"}
        return {**own, "consented": True, "model_id": "openai:x", "embedder": "openai:words"}

    daemon.answers["EgressGetConsentStatus"] = status
    daemon.answers["WorkspaceSearch"] = {"documents": [], "ranker": "bm25", "warnings": []}
    typed(monkeypatch, "/search this", "hello", "/search that")
    assert kbd("chat", "taxes") == 0
    assert capsys.readouterr().err.count("Searches go by words alone:") == 1
    assert "EgressGrantWorkshopConsent" not in daemon.methods()


def test_verbose_shows_calls_with_arguments_and_sizes(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """On stderr, as the log records them, cleaned."""
    events = [
        {"seq": 8, "type": "ModelReplied", "title": "model replied"},
        {"seq": 9, "type": "ToolCalled", "title": "tool read_file called: path=a\x1b[2J.csv"},
        {"seq": 10, "type": "ToolReturned", "title": "read_file returned 2.0 KiB in 12 ms"},
        {"seq": 11, "type": "ToolRefused"},
    ]

    def run(_params: dict[str, Any], notify: Any) -> dict[str, Any]:
        sent = [{"seq": event["seq"], "type": event["type"]} for event in events]
        notify("EventsAppended", {"workbench_id": WORKBENCH, "events": sent, "last_seq": 11})
        return {"run_id": RUN}

    daemon.answers["WorkshopRunAgent"] = run
    daemon.answers["EventsRead"] = lambda params, _: {
        "events": events[params["after"] - 7 :][: params["limit"]], "last_seq": 11,
    }  # fmt: skip
    typed(monkeypatch, "hello")
    assert kbd("chat", "taxes", "--verbose") == 0
    told = capsys.readouterr()
    assert "  tool read_file called: path=a.csv\n  read_file returned 2.0 KiB" in told.err
    assert "  ToolRefused\n" in told.err
    assert "model replied" not in told.err
    assert "read_file" not in told.out
    assert daemon.params_of("EventsSubscribe") == {"workbench_id": WORKBENCH, "after": 7}
    assert "EventsUnsubscribe" in daemon.methods()


def test_a_daemon_that_goes_away_does_not_end_the_session(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """The next line connects anew; the code tells of what was lost, if anything was."""
    daemon.close_after = {"WorkshopSendUserMessage"}
    typed(monkeypatch, "hello", "/files")
    assert kbd("chat", "taxes") == 69
    told = capsys.readouterr()
    assert "what was recorded is safe, and /resume goes on" in told.err
    assert "a.csv" in told.out
    daemon.close_after = {"WorkbenchFilesList"}
    typed(monkeypatch, "/files", "/files")
    assert kbd("chat", "taxes") == 0
    assert capsys.readouterr().out.count("a.csv") == 2


def test_nothing_is_chosen_where_nobody_can_be_asked(kbd: Kbd, monkeypatch: Patch) -> None:
    """Without a workbench, with two, or with one that is not there, it is a usage error."""
    typed(monkeypatch, "hello")
    assert kbd("chat") == 2
    assert kbd("chat", "taxes", "--workspace-dir", "x") == 2
    assert kbd("chat", "--workspace-dir", "no-such-folder") == 2
    assert kbd("chat", "no-such-workbench") == 1


def test_a_workbench_goes_before_a_folder_of_its_name(
    daemon: ScriptedDaemon, kbd: Kbd, monkeypatch: Patch, tmp_path: Path
) -> None:
    """`./taxes` names the folder."""
    (tmp_path / "taxes").mkdir()
    monkeypatch.chdir(tmp_path)
    typed(monkeypatch, "/files")
    assert kbd("chat", "taxes") == 0
    assert "WorkbenchCreate" not in daemon.methods()
    daemon.answers["WorkbenchList"] = {"workbenches": [workbench(name="rents")]}
    daemon.answers["WorkbenchGetScope"] = SCOPE
    assert kbd("chat", "taxes") == 0
    assert daemon.params_of("WorkbenchCreate") == {"name": str(tmp_path.resolve() / "taxes")}


def test_a_refusal_does_not_end_the_lines(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: Patch
) -> None:
    """It is told in the daemon's words."""

    def refuse(*_: Any) -> Any:
        raise AnswerError("CONFLICT_PUBLISHED_CHANGED", "a.csv changed")

    daemon.answers["DraftPublish"] = refuse
    typed(monkeypatch, "/publish", "/files")
    assert kbd("chat", "taxes", "--yes") == 1
    told = capsys.readouterr()
    assert "CONFLICT_PUBLISHED_CHANGED: a.csv changed" in told.err
    assert "a.csv" in told.out
