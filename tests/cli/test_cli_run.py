"""`kbd run` and `kbd send`: consent, progress, the end of a run, what scripts read."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted_daemon import AnswerError, Notify, ScriptedDaemon
from scripted_job import ADDED, RUN, WORKBENCH, run_info

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

NEEDS_CONSENT = {
    "consented": False,
    "provider_id": "openai",
    "model_id": "openai:big",
    "scope_hash": "abc",
    "persisted": False,
    "mode": "ask",
}


def test_a_job_goes_from_files_to_results(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """`--publish` does all of it: add, send, run, publish, extract what changed, say where."""
    code = kbd("run", "a sheet each", "a.csv", "--publish", "--out", str(tmp_path / "out"))

    told = capsys.readouterr()
    assert code == 0
    assert daemon.params_of("WorkbenchCreate") == {"name": "a sheet each"}
    assert daemon.params_of("WorkbenchFilesAdd")["source_paths"] == [os.path.abspath("a.csv")]
    assert daemon.params_of("WorkshopSendUserMessage")["text"] == "a sheet each"
    assert daemon.params_of("WorkshopRunAgent")["wait"] is False
    assert daemon.params_of("WorkbenchFilesExtract") == {
        "workbench_id": WORKBENCH,
        "destination_dir": str(tmp_path / "out"),
        "workbench_paths": ["summary.xlsx"],
    }
    assert "Made one sheet a category." in told.out
    assert "added   summary.xlsx  4.0 KiB  1-2" in told.out
    assert f"-> {tmp_path / 'out'}/summary.xlsx" in told.out


def test_out_may_name_the_result(daemon: ScriptedDaemon, kbd: Kbd, tmp_path: Path) -> None:
    """A name with a suffix is the result's: the request says it, and the folder is where it goes.

    A folder that is called so stays one.
    """
    assert kbd("run", "a sheet each", "a.csv", "--publish", "--out", str(tmp_path / "x.xlsx")) == 0
    asked = "a sheet each\n\nWrite the result to x.xlsx."
    assert daemon.params_of("WorkshopSendUserMessage")["text"] == asked
    assert daemon.params_of("WorkbenchFilesExtract")["destination_dir"] == str(tmp_path)

    (tmp_path / "v1.2").mkdir()
    assert kbd("run", "a sheet each", "a.csv", "--publish", "--out", str(tmp_path / "v1.2")) == 0
    assert daemon.params_of("WorkshopSendUserMessage")["text"] == "a sheet each"


def test_a_skipped_file_is_an_error(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Nothing runs when a file could not be added, and the reason is told."""
    skipped = {"source_path": "/x/a", "file_name": "a", "status": "skipped", "reason": "a symlink"}
    daemon.answers["WorkbenchFilesAdd"] = {"add_results": [skipped]}

    assert kbd("run", "do it", "a") == 1
    assert "/x/a was not added: a symlink" in capsys.readouterr().err
    assert "WorkshopRunAgent" not in daemon.methods()
    assert "WorkbenchDelete" in daemon.methods()


def test_a_workbench_whose_files_are_refused_is_not_left(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """An empty one, whose id nobody was told, would be there under the name at the next try."""

    def refuse(*_: object) -> None:
        raise AnswerError("VALIDATION_FAILED", "201 files would be in this workbench")

    daemon.answers["WorkbenchFilesAdd"] = refuse

    assert kbd("wb", "new", "taxes", "a.csv") == 1
    assert "201 files would be" in capsys.readouterr().err
    assert daemon.params_of("WorkbenchDelete") == {"workbench_id": WORKBENCH}


def test_a_name_that_is_no_text_keeps_no_other_back(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """It cannot be sent: it is left out and told, and the others are added."""
    daemon.answers["WorkbenchFilesAdd"] = {
        "add_results": [{"source_path": "/x/a", "status": "added"}]
    }

    assert kbd("wb", "add", "taxes", "a.csv", "bad\udcff.csv") == 1
    told = capsys.readouterr()
    assert daemon.params_of("WorkbenchFilesAdd")["source_paths"] == [os.path.abspath("a.csv")]
    assert "bad?.csv was not added: its name is no Unicode text: rename it" in told.err
    assert "Added 1 of 2." in told.out
    assert kbd("wb", "extract", "taxes", "--out", "bad\udcff") == 2
    assert "bad? is no Unicode text" in capsys.readouterr().err
    assert "WorkbenchFilesExtract" not in daemon.methods()


def test_progress_is_told_in_words(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Phases, items, tools and text appear as they come, each on its line."""

    def run(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        for method, params in (
            ("WorkshopPhaseStarted", {"phase": "research"}),
            ("WorkshopAssistantStreamDelta", {"token_delta": "It has \x1b[31mtwelve"}),
            ("WorkshopAssistantStreamDelta", {"token_delta": "\x1b[0m categories.\nMore"}),
            ("WorkshopPhaseStarted", {"phase": "plan"}),
            ("WorkshopImplementProgress", _item(3, 13, "Transport")),
            ("WorkshopToolExecuting", {"tool_name": "table_export", "path": "summary.xlsx"}),
            ("WorkshopToolComplete", {"tool_name": "table_export", "success": False}),
            ("SomethingNewer", {}),
            ("WorkshopPhaseStarted", {"phase": "summary"}),
            ("WorkshopAssistantStreamDelta", {"token_delta": "This is the result.\n"}),
            ("WorkshopRunFinished", {"status": "finished", "run_id": RUN}),
        ):
            notify(method, {"workbench_id": WORKBENCH, **params})
        return {"run_id": RUN, "status": "running"}

    daemon.answers["WorkshopRunAgent"] = run

    assert kbd("run", "do it", "--keep") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines.pop(-4).startswith("  item 3 of 13 took ")
    assert lines[:-2] == [
        "Analyzing files…",
        "  | It has twelve categories.",
        "  | More",
        "Planning approach…",
        "Working on item 3 of 13: Transport",
        "  · table_export summary.xlsx",
        "    table_export failed",
        "Summarizing results…",
    ]


def test_another_workbenchs_progress_is_not_told(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A connection may hear of other workbenches; a job tells only of its own."""

    def run(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        notify("WorkshopPhaseStarted", {"workbench_id": "f" * 16, "phase": "plan"})
        return {"run_id": RUN}

    daemon.answers["WorkshopRunAgent"] = run

    assert kbd("run", "do it", "--keep") == 0
    assert "Planning" not in capsys.readouterr().err


def test_the_end_is_found_without_a_notification(
    daemon: ScriptedDaemon, kbd: Kbd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose end nobody told is asked for until it has ended."""
    monkeypatch.setattr("kbd.cli.job.POLL_S", 0.01)
    monkeypatch.setattr("kbd.cli.job.LISTEN_TIMEOUT_S", 0.01)
    states = iter([run_info("running"), run_info("running"), run_info()])
    daemon.answers["RunGet"] = lambda *_: next(states)

    assert kbd("run", "do it", "--keep") == 0


def test_consent_is_needed_where_nobody_can_be_asked(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Without a terminal and without --yes nothing is sent; what would go where is told."""
    daemon.answers["EgressGetConsentStatus"] = {**NEEDS_CONSENT, "endpoint": "models.example:443"}
    situation = {"category": "situation", "status": "set", "characters": 12}
    unset = {"category": "company-context", "status": "empty", "characters": 0}
    daemon.answers["ContextList"] = {"items": [unset, situation]}

    assert kbd("run", "do it", "a.csv") == 3
    told = capsys.readouterr().err
    assert "openai at models.example:443" in told
    assert "openai:big" in told
    assert "a.csv" in told
    assert "situation  12 characters" in told
    assert "company-context" not in told
    assert "WorkshopSendUserMessage" not in daemon.methods()
    assert daemon.methods()[-1] == "WorkbenchDelete"


def test_yes_gives_consent_for_what_was_shown(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """`--yes` agrees to exactly the provider, model and files that the status named."""
    daemon.answers["EgressGetConsentStatus"] = NEEDS_CONSENT

    assert kbd("run", "do it", "--model", "openai:big", "--yes", "--keep") == 0
    assert daemon.params_of("WorkshopSetActiveModel")["model_id"] == "openai:big"
    assert daemon.params_of("EgressGrantWorkshopConsent") == {
        "workbench_id": WORKBENCH,
        "provider_id": "openai",
        "model_id": "openai:big",
        "scope_hash": "abc",
        "persist": True,
    }


@pytest.mark.parametrize(("yes", "granted"), [(["--yes"], True), ([], False)])
def test_an_embedder_elsewhere_is_agreed_to_by_itself(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, yes: list[str], granted: bool
) -> None:
    """What makes texts vectors needs a yes of its own; without it the run goes on all the same."""
    own = {**NEEDS_CONSENT, "consented": True, "embedder": "openai:words"}
    other = {**NEEDS_CONSENT, "model_id": "openai:words", "scope_hash": "def"}
    daemon.answers["EgressGetConsentStatus"] = lambda params, _: (
        other if params.get("model_id") == "openai:words" else own
    )

    assert kbd("run", "do it", *yes, "--keep") == 0
    told = capsys.readouterr().err
    assert "to be found by what they mean" in told
    assert ("Searches go by words alone:" in told) is not granted
    methods = daemon.methods()
    assert ("EgressGrantWorkshopConsent" in methods) is granted
    assert "WorkshopRunAgent" in methods
    if granted:
        agreed = daemon.params_of("EgressGrantWorkshopConsent")
        assert (agreed["model_id"], agreed["scope_hash"]) == ("openai:words", "def")


def test_publishing_needs_a_yes(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Without a terminal the draft is kept, and the commands that go on are told."""
    assert kbd("run", "do it") == 3
    assert f"kbd publish {WORKBENCH}" in capsys.readouterr().err
    assert "DraftPublish" not in daemon.methods()


def test_no_changes_are_no_error(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """A question that changes nothing ends with its answer and 0."""
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": None, "changes": []}

    assert kbd("run", "how many?") == 0
    assert "No changes." in capsys.readouterr().out


def test_json_leaves_signs_of_life_to_stderr(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Phases and items are told there, and nothing of what the model says; stdout is the object."""

    def run(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        for method, params in (
            ("WorkshopPhaseStarted", {"phase": "research"}),
            ("WorkshopAssistantStreamDelta", {"token_delta": "Some words.\n"}),
            ("WorkshopImplementProgress", _item(1, 2, "One")),
            ("WorkshopToolExecuting", {"tool_name": "table_export", "path": "summary.xlsx"}),
            ("WorkshopToolComplete", {"tool_name": "table_export", "success": False}),
            ("WorkshopImplementProgress", _item(2, 2, "Two")),
            ("WorkshopPhaseStarted", {"phase": "summary"}),
            ("WorkshopRunFinished", {"status": "finished", "run_id": RUN}),
        ):
            notify(method, {"workbench_id": WORKBENCH, **params})
        return {"run_id": RUN, "status": "running"}

    daemon.answers["WorkshopRunAgent"] = run

    assert kbd("run", "do it", "--json", "--keep") == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["status"] == "finished"
    assert told.out.count("\n") == 1
    assert [line.partition(" took ")[0] for line in told.err.splitlines()[:-1]] == [
        "Analyzing files…",
        "Working on item 1 of 2: One",
        "  item 1 of 2",
        "Working on item 2 of 2: Two",
        "  item 2 of 2",
        "Summarizing results…",
    ]


def test_json_is_one_object(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """`--json` prints nothing but one object with all that a script needs."""
    assert kbd("run", "do it", "--json", "--publish", "--out", str(tmp_path)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("elapsed_s") >= 0
    assert told == {
        "run_id": RUN,
        "status": "finished",
        "workbench_id": WORKBENCH,
        "summary": "Made one sheet a category.",
        "changes": [ADDED],
        "extracted": [f"{tmp_path}/summary.xlsx"],
        "error": None,
        "reason": None,
        "suggestions": None,
        "usage": {"input_tokens": 40_000, "output_tokens": 1_200},
        "cost": 0.0812,
    }


@pytest.mark.parametrize("status", ["finished", "failed", "cancelled"])
def test_a_job_tells_what_it_took(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, status: str
) -> None:
    """Time, tokens and cost are the last line of a job, and told of one that stopped, too."""
    daemon.answers["RunGet"] = run_info(status)

    kbd("run", "do it", "--keep")
    lines = capsys.readouterr().err.splitlines()
    told = [line for line in lines if line.rstrip(".").endswith("41,200 tokens, $0.0812")]
    assert len(told) == 1
    assert " took " in told[0]
    assert (lines[-1] == told[0]) or status != "finished"


REFUSED = run_info(
    "declined",
    reason='there is no column "sise"\n(the columns of a.csv: "Size")',
    understood="total by sise",
    suggestions=["total by Size", 'top 5 rows by "Net Size"'],
)


@pytest.mark.parametrize("command", [("run", "total", "a.csv"), ("send", "taxes", "total")])
def test_a_refusal_is_three_lines(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, command: tuple[str, ...]
) -> None:
    """What it was read as, why nothing was done, what to type instead; and a code of its own."""
    daemon.answers["RunGet"] = REFUSED

    assert kbd(*command) == 4
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-3:] == [
        "I read this as: total by sise",
        'Nothing was done: there is no column "sise" (the columns of a.csv: "Size")',
        """What can be done: "total by Size" or 'top 5 rows by "Net Size"'""",
    ]
    assert not {"ReviewGetChangeSet", "DraftPublish", "WorkbenchFilesExtract"} & set(
        daemon.methods()
    )


def test_a_refusal_without_more_than_a_reason(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A model that only said no: what was asked, which is not called read, and why not."""
    daemon.answers["RunGet"] = run_info("declined", reason="I will not.", suggestions=[])

    assert kbd("run", "total", "a.csv") == 4
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "You asked: one sheet per category",
        "Nothing was done: I will not.",
    ]


def test_a_refusal_as_json(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """A script sees the status, the reason and the suggestions, and the whole answer."""
    daemon.answers["RunGet"] = REFUSED

    assert kbd("run", "total", "a.csv", "--json", "--publish") == 4
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["changes"], told["extracted"]) == ("declined", [], [])
    assert (told["reason"], told["suggestions"]) == (REFUSED["reason"], REFUSED["suggestions"])
    assert told["summary"] == "Made one sheet a category."
    assert told["error"] is None


def test_a_failed_run_says_what_to_do(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The code and message of the error, and how to resume where that may help."""
    error = {"error_code": "PROVIDER_UNAVAILABLE", "message": "no answer", "retryable": True}
    daemon.answers["RunGet"] = run_info("failed", error=error)

    assert kbd("run", "do it", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"] == error
    assert kbd("send", "taxes", "do it") == 1
    assert f"kbd send {WORKBENCH} --resume" in capsys.readouterr().err


def test_a_refusal_reaches_the_script(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """In `--json` an error answer is in the object, too."""

    def refuse(*_: object) -> None:
        raise AnswerError("VALIDATION_FAILED", "a run is active")

    daemon.answers["WorkshopRunAgent"] = refuse

    assert kbd("run", "do it", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["error_code"] == "VALIDATION_FAILED"


def test_ctrl_c_cancels_and_waits(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """One Ctrl-C asks the run to stop, waits for its end, and says how to resume."""
    before = signal.getsignal(signal.SIGINT)

    def run(*_: object) -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGINT)
        return {"run_id": RUN}

    def get(*_: object) -> dict[str, Any]:
        return run_info("cancelled" if "WorkshopCancelRun" in daemon.methods() else "running")

    daemon.answers.update(WorkshopRunAgent=run, RunGet=get)

    assert kbd("run", "do it") == 130
    assert "WorkshopCancelRun" in daemon.methods()
    assert f"kbd send {WORKBENCH} --resume" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


def test_resume_sends_no_message(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """`--resume` runs the named workbench on; it makes none and asks nothing anew."""
    assert kbd("run", "--resume", "taxes", "--keep") == 0
    assert kbd("send", "taxes", "--resume") == 0
    assert daemon.params_of("WorkshopRunAgent") == {"workbench_id": WORKBENCH, "wait": False}
    assert not {"WorkbenchCreate", "WorkshopSendUserMessage"} & set(daemon.methods())


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "do it", "--resume", "taxes"], ["send", "taxes"]],
    ids=["nothing", "both", "neither"],
)
def test_what_to_do_must_be_clear(daemon: ScriptedDaemon, kbd: Kbd, arguments: list[str]) -> None:
    """Either a prompt or a run to go on with; anything else is a usage error."""
    assert kbd(*arguments) == 2


def test_a_deletion_needs_its_own_yes(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """`--publish` alone does not delete a file; `--yes` confirms the deletion first."""
    pending = {"confirmed": [], "pending": ["old.csv"]}
    daemon.answers["ReviewGetDeletionConfirmations"] = pending

    assert kbd("publish", "taxes") == 3
    assert "DraftPublish" not in daemon.methods()
    assert kbd("publish", "taxes", "--yes") == 0
    assert daemon.params_of("ReviewSetDeletionConfirmations")["paths"] == ["old.csv"]


def _item(current: int, total: int, label: str) -> dict[str, Any]:
    return {"current_item": current, "total_items": total, "item_label": label}


def test_options_may_stand_before_the_files(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """`kbd run PROMPT --keep FILE` means what it says."""
    assert kbd("run", "do it", "--keep", "a.csv") == 0
    assert daemon.params_of("WorkbenchFilesAdd")["source_paths"] == [os.path.abspath("a.csv")]


def test_drawing_tells_the_same_above_a_bar(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal the lines are the same, markup in a model's words is only text."""

    def run(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        for method, params in (
            ("WorkshopPhaseStarted", {"phase": "implement"}),
            ("WorkshopImplementProgress", _item(1, 2, "Transport")),
            ("WorkshopAssistantStreamDelta", {"token_delta": "[bold]twelve[/bold]\x1b[2J"}),
            ("WorkshopPhaseStarted", {"phase": "summary"}),
        ):
            notify(method, {"workbench_id": WORKBENCH, **params})
        return {"run_id": RUN}

    daemon.answers["WorkshopRunAgent"] = run
    monkeypatch.setattr("kbd.cli.progress.can_draw", lambda: True)

    assert kbd("run", "do it", "--keep") == 0
    told = capsys.readouterr().err
    for part in ("Working on item 1 of 2: Transport\n", "  | [bold]twelve[/bold]\n", "Summarizing"):
        assert part in told


def test_a_failed_item_fails_the_command(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What could be done is there, but a script learns that not all of it was."""
    items = [
        {"index": 1, "label": "Transport", "state": "done"},
        {"index": 2, "label": "Health", "state": "failed", "reason": "TOOL_TIMEOUT"},
    ]
    daemon.answers["RunGet"] = run_info(items=items)

    assert kbd("run", "do it", "--keep") == 1
    assert "1 of 2 items failed:\n  2. Health: TOOL_TIMEOUT\n" in capsys.readouterr().err
