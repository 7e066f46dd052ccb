"""`kbd recipe`, `kbd run --job` and `--recipe`: what is sent, what is told, what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted_daemon import AnswerError, ScriptedDaemon
from scripted_job import RUN, WORKBENCH, run_info, workbench

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

ROW = {
    "name": "split", "sha256": "ab" * 32, "words": "Of *, split.",
    "saved_at": "2026-01-02T03:04:05Z", "run_id": RUN,
}  # fmt: skip
CONSTANT = {"place": "jobs[0].steps[0].where", "value": "'paid'", "why": "said", "origin": "agreed"}
KEPT: dict[str, Any] = {
    "recipe": ROW, "constants": [CONSTANT], "assumptions": ["in euros"], "notes": ["left out"],
    "changes": [{"input": "t", "text": "t: 2 rows added", "held": 1}],
    "trial": {"text": "t: 2 rows added", "columns": ["Shop", "Sum"], "rows": [["New", 3.5]],
              "row_count": 9},
}  # fmt: skip
FOUND: dict[str, Any] = {
    "recipe": ROW, "request": "split it", "steps": ["t: *"], "checks": ["t has rows"],
    "assumptions": [], "constants": [CONSTANT],
    "sql": [{"job": 1, "step": 2, "sql": "SELECT 1"}], "document": 'name = "split"\n',
    "model_id": "recipe:split@abababababab",
}  # fmt: skip


def test_a_run_is_saved_and_its_trial_shown(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What stays the same, what it was tried with, and one result of that."""
    daemon.answers |= {"RecipeSave": KEPT, "RunList": {"runs": [run_info()]}}
    code = kbd(
        "recipe", "save", "taxes", "--name", "split", "--agree", "'paid'", "--assume", "in euros"
    )

    told = capsys.readouterr().out
    assert code == 0
    assert daemon.params_of("RecipeSave") == {
        "run_id": RUN, "name": "split", "agree": ["'paid'"], "assumptions": ["in euros"],
        "replace": False, "dry_run": False,
    }  # fmt: skip
    for words in ("Of *, split.", "'paid'", "in euros", "note: left out", "1 changed file"):
        assert words in told
    assert "New   3.5" in told
    assert "… and 8 more rows" in told


def test_what_is_not_explained_is_a_command_to_agree(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Each literal has its line; where all may be agreed to, so has the command that does."""

    def refuse(params: dict[str, Any], notify: Any) -> Any:
        del params, notify
        refusals = [
            {"place": "jobs[0]", "value": "'paid'", "reason": "of the data", "may_agree": True}
        ]
        raise AnswerError("VALIDATION_FAILED", "no recipe", detail={"refusals": refusals})

    daemon.answers |= {"RecipeSave": refuse, "RunList": {"runs": [run_info()]}}
    assert kbd("recipe", "save", "taxes", "--name", "split") == 1

    told = capsys.readouterr().err
    assert "jobs[0]  'paid': of the data" in told
    assert """kbd recipe save taxes --name split --agree ''"'"'paid'"'"''""" in told


def test_a_recipe_is_shown_as_asked(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Words, guards and constants; with its statements; or the document alone."""
    daemon.answers |= {"RecipeGet": FOUND, "RecipeList": {"recipes": [ROW]}}

    assert kbd("recipe", "show", "split", "--sql") == 0
    shown = capsys.readouterr().out
    assert kbd("recipe", "show", "split", "--toml") == 0
    document = capsys.readouterr().out
    assert kbd("recipe", "list") == 0
    listed = capsys.readouterr().out
    for words in ("ab" * 32, "split it", "t has rows", "'paid'", "-- job 1, step 2\nSELECT 1"):
        assert words in shown
    assert document == 'name = "split"\n'
    assert "abababababab" in listed


def test_an_edit_that_is_refused_is_kept(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent where nothing changed; what is refused can be gone on with."""

    def refuse(params: dict[str, Any], notify: Any) -> Any:
        del params, notify
        raise AnswerError("VALIDATION_FAILED", "jobs: missing")

    daemon.answers |= {"RecipeGet": FOUND, "RecipeSave": refuse}
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    assert kbd("recipe", "edit", "split") == 2
    monkeypatch.setenv("EDITOR", "true")
    assert kbd("recipe", "edit", "split") == 0
    assert "RecipeSave" not in [method for method, _ in daemon.asked]
    monkeypatch.setenv("EDITOR", "sed -i s/split/other/")
    capsys.readouterr()
    assert kbd("recipe", "edit", "split") == 1

    told = capsys.readouterr().err
    assert daemon.params_of("RecipeSave") == {"document": 'name = "other"\n', "replace": True}
    kept = Path(told.strip().rpartition(" ")[2])
    assert kept.read_text() == 'name = "other"\n'
    kept.unlink()


def test_a_test_leaves_no_workbench(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The guards are told, the exit code is that of a declined run, and what it made is gone."""
    job = {
        "words": "split", "steps": [], "checks": ["3 rows"], "failed": ["no column Shop"],
        "notes": [], "sql": [],
    }  # fmt: skip
    daemon.answers |= {"RecipeTest": {"holds": False, "jobs": [job]}, "WorkbenchDelete": {}}

    assert kbd("recipe", "test", "split", "a.csv") == 4
    told = capsys.readouterr()
    assert "FAILS: no column Shop" in told.out
    assert "nothing was written" in told.err
    assert daemon.params_of("WorkbenchDelete") == {"workbench_id": WORKBENCH}


def test_a_job_is_sent_as_it_is(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """Its words stand before the run; no model is chosen, and nobody is asked about tables."""
    job = tmp_path / "split.toml"
    job.write_text("version = 1\n")
    file = tmp_path / "a.csv"
    file.write_text("a\n1\n")
    sent = {"message_id": "u1", "model_id": "job:ab", "understood": "Of a.csv, split."}
    daemon.answers["WorkshopSendUserMessage"] = sent
    code = kbd("run", "--job", str(job), str(file), "--publish", "--out", str(tmp_path / "out"))

    assert code == 0
    assert daemon.params_of("WorkshopSendUserMessage")["job"] == "version = 1\n"
    assert daemon.params_of("WorkbenchCreate") == {"name": "split"}
    assert daemon.params_of("WorkbenchFilesAdd")["source_paths"] == [str(file)]
    assert "I read this as: Of a.csv, split." in capsys.readouterr().err
    asked = [method for method, _ in daemon.asked]
    assert not {"WorkshopSetActiveModel", "EgressGetConsentStatus"} & set(asked)
    assert "WorkbenchGetQuestions" not in asked


def test_a_recipe_may_run_on_a_workbench(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """What is no file is a workbench; its results stay in the draft."""
    daemon.answers["WorkbenchList"] = {"workbenches": [workbench()]}
    sent = {"message_id": "u1", "model_id": "recipe:x@ab", "understood": "split"}
    daemon.answers["WorkshopSendUserMessage"] = sent

    assert kbd("run", "taxes", "--recipe", "split") == 0
    asked = [method for method, _ in daemon.asked]
    assert daemon.params_of("WorkshopSendUserMessage") == {
        "workbench_id": WORKBENCH, "recipe": "split",
    }  # fmt: skip
    assert not {"WorkbenchCreate", "DraftPublish"} & set(asked)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--job", "a.toml", "--recipe", "split", "a.csv"),
        ("run", "--recipe", "split", "a.csv", "--model", "openai:x"),
        ("run", "--recipe", "split", "a.csv", "b.csv", "--out", "x.xlsx"),
        ("send", "taxes", "sum it up", "--recipe", "split"),
        ("recipe", "save", "taxes"),
        ("recipe", "test", "split"),
        ("recipe", "show"),
        ("watch", "add", "inbox", "--otherwise", "model"),
        ("watch", "add", "inbox", "--recipe", "split", "--otherwise", "model"),
    ],
)
def test_what_makes_no_sense_is_usage(
    daemon: ScriptedDaemon, kbd: Kbd, arguments: tuple[str, ...]
) -> None:
    """It is told before anything is made."""
    assert kbd(*arguments) == 2
    assert "WorkbenchCreate" not in [method for method, _ in daemon.asked]


def test_a_name_that_is_nothing_is_told_as_both(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A misspelt file is not taken for a workbench alone."""
    daemon.answers["WorkbenchList"] = {"workbenches": []}

    assert kbd("run", "nosuch.csv", "--recipe", "split") == 1
    assert "there is no file nosuch.csv, and there is no workbench" in capsys.readouterr().err


@pytest.mark.parametrize(("content", "words"), [(b"\xff", "UTF-8"), (b" \n", "empty")])
def test_a_document_that_cannot_be_read_is_told(
    kbd: Kbd, daemon: ScriptedDaemon, capsys: Captured, tmp_path: Path, content: bytes, words: str
) -> None:
    """By its name, with the reason."""
    job = tmp_path / "job.toml"
    job.write_bytes(content)

    assert kbd("run", "--job", str(job), "a.csv") == 1
    assert words in capsys.readouterr().err
    assert daemon.asked == []
