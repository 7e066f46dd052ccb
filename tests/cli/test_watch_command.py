"""`kbd watch`: rules from the command line, consent, and what a person does with what failed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted_daemon import AnswerError, ScriptedDaemon
from told_watches import ANSWERS, ROW, WATCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

AWAY = {
    "provider_id": "openai", "enabled": True, "configured": True, "leaves_machine": True,
    "auth_mode": "api_key", "endpoint": "https://api.example.com/v1",
}  # fmt: skip


@pytest.fixture(autouse=True)
def watches(daemon: ScriptedDaemon) -> None:
    """The daemon watches one folder; its default model stays on this machine."""
    daemon.answers |= ANSWERS


def leave(daemon: ScriptedDaemon) -> None:
    """Have the default model be elsewhere."""
    daemon.answers["UserGetDefaultModel"] = {"model_id": "openai:m"}
    daemon.answers["ProvidersGetStatus"] = {"providers": [AWAY]}


def test_only_what_was_given_is_sent(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The defaults are the daemon's; a folder is named from where the person is; the id is told."""
    monkeypatch.chdir(tmp_path)

    assert kbd("watch", "add", "in", "total by month") == 0
    assert daemon.params_of("WatchAdd") == {
        "folder": str(tmp_path / "in"), "prompt": "total by month",
    }  # fmt: skip
    told = capsys.readouterr()
    assert told.out == f"{WATCH}\n"
    assert told.err == f"Watching {tmp_path}/in for *.\n"


def test_a_whole_rule_is_sent(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Every option has its place in the rule."""
    daemon.answers["WatchAdd"] = {"watch_id": WATCH, "passed_over": 0, "waiting": 7}
    options = (
        "--pattern", "*.csv", "--pattern", "!old*", "--name", "n", "--model", "offline:planner",
        "--batch", "--quiet", "5", "--publish", "auto", "--deliver-to", "/out", "--existing",
        "--consent", "--retries", "0", "--retry-wait", "1.5", "--pause-on-failure",
        "--runs-per-hour", "9", "--runs-per-path", "8", "--chain-depth", "1",
        "--on-outcome", "./told 'two words'", "--archive-after", "4w", "--remove-after", "365",
    )  # fmt: skip

    assert kbd("watch", "add", "/in", *options, "do it") == 0
    assert daemon.params_of("WatchAdd") == {
        "folder": "/in",
        "prompt": "do it",
        "patterns": ["*.csv", "!old*"],
        "name": "n",
        "model_id": "offline:planner",
        "mode": "batch",
        "quiet_s": 5.0,
        "deliver_to": "/out",
        "publish": "auto",
        "limits": {"runs_per_hour": 9, "runs_per_path_hour": 8, "chain_depth": 1},
        "on_failure": {"retries": 0, "wait_s": 1.5, "then": "pause"},
        "on_outcome": [os.path.abspath("told"), "two words"],
        "consent": {"provider_id": "offline", "model_id": "offline:planner"},
        "existing": "run",
        "retention": {"archive_after_days": 28, "remove_after_days": 365},
    }
    assert "7 files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("archive", "remove", "kept"),
    [
        (30, 365, "archived after 30 days without a change, and removed 365 days later"),
        (1, 0, "archived after 1 day without a change, and kept as archives"),
        (0, 0, "for good, whatever [retention] says"),
    ],
)
def test_what_a_rule_keeps_is_shown(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, archive: int, remove: int, kept: str
) -> None:
    """After how long what it made goes; nothing where it says nothing of it."""
    assert kbd("watch", "show", WATCH) == 0
    assert "  kept " not in capsys.readouterr().out
    own = {"archive_after_days": archive, "remove_after_days": remove}
    rule = {**daemon.answers["WatchGet"]["watch"]["rule"], "retention": own}
    daemon.answers["WatchGet"] = {"watch": {**daemon.answers["WatchGet"]["watch"], "rule": rule}}
    assert kbd("watch", "show", WATCH) == 0
    assert f"  kept     {kept}" in " ".join(capsys.readouterr().out.split("\n           "))


def test_only_archives_are_removed(kbd: Kbd, capsys: Captured) -> None:
    """A rule that would remove and never archives is none."""
    assert kbd("watch", "add", "/in", "do it", "--remove-after", "3d") == 2
    assert "--archive-after" in capsys.readouterr().err


def test_a_second_rule_for_a_folder_is_no_surprise(kbd: Kbd, capsys: Captured) -> None:
    """Both are at work; who added one twice by accident is told."""
    assert kbd("watch", "add", "/data/invoices", "do it") == 0
    assert f"invoices ({WATCH}) watches this folder already" in capsys.readouterr().err


def test_what_is_passed_over_is_told(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """How many files, and how to have them worked on after all."""
    daemon.answers["WatchAdd"] = {"watch_id": WATCH, "passed_over": 3, "waiting": 0}

    assert kbd("watch", "add", "/in", "do it") == 0
    told = capsys.readouterr().err
    assert "3 files" in told
    assert "--existing" in told


def test_nothing_is_watched_without_consent(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Where contents would leave the machine and nobody can be asked, nothing is added."""
    leave(daemon)

    assert kbd("watch", "add", "/in", "do it") == 3
    told = capsys.readouterr().err
    assert "https://api.example.com/v1" in told
    assert "openai:m" in told
    assert "--consent" in told
    assert "WatchAdd" not in daemon.methods()


@pytest.mark.parametrize(("said", "code"), [("y\n", 0), ("\n", 3)])
def test_a_person_is_asked(
    daemon: ScriptedDaemon, kbd: Kbd, monkeypatch: pytest.MonkeyPatch, said: str, code: int
) -> None:
    """A yes is sent with the rule; anything else adds nothing."""
    leave(daemon)
    monkeypatch.setattr("kbd.cli.watch_rules.is_interactive", lambda: True)
    monkeypatch.setattr("kbd.cli.watch_rules.ask", lambda _: said.strip() == "y")

    assert kbd("watch", "add", "/in", "do it") == code
    sent = [params.get("consent") for method, params in daemon.asked if method == "WatchAdd"]
    agreed = {"provider_id": "openai", "model_id": "openai:m"}
    assert sent == ([agreed] if code == 0 else [])


def test_consent_can_come_later(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """`resume --consent` agrees to the rule's model, or to the default one."""
    leave(daemon)

    assert kbd("watch", "resume", "invoices", "--consent") == 0
    assert daemon.params_of("WatchResume") == {
        "watch_id": WATCH, "consent": {"provider_id": "openai", "model_id": "openai:m"},
    }  # fmt: skip
    assert "--retry all" in capsys.readouterr().err
    assert kbd("watch", "resume", "invoices") == 0
    assert daemon.params_of("WatchResume") == {"watch_id": WATCH}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("add", "/in"), "kbd watch add FOLDER"),
        (("add", "/in", "do it", "--deliver-to", "/out"), "--publish auto"),
        (("add", "/in", "do it", "--on-outcome", "'"), "--on-outcome"),
        (("show",), "kbd watch show WATCH"),
        (("fly",), "add, list, show"),
        (("failed", "--retry", "1", "--dismiss", "2"), "either --retry"),
        (("failed", "--retry", "some"), "neither `all` nor a number"),
        (("test", "invoices", "--pattern", "*"), "name the folder"),
    ],
)
def test_what_makes_no_sense_is_said(
    kbd: Kbd, capsys: Captured, arguments: tuple[str, ...], told: str
) -> None:
    """With the words that help, and the exit code of a usage."""
    assert kbd("watch", *arguments) == 2
    assert told in capsys.readouterr().err


def test_without_an_action_there_is_help(kbd: Kbd, capsys: Captured) -> None:
    """Nothing is asked of the daemon."""
    assert kbd("watch") == 2
    assert "kbd watch add inbox" in capsys.readouterr().out


@pytest.mark.parametrize("named", [WATCH, "invoices", "/data/invoices", WATCH[:4]])
def test_a_watch_has_four_names(daemon: ScriptedDaemon, kbd: Kbd, named: str) -> None:
    """Its id, its name, its folder, the beginning of its id."""
    assert kbd("watch", "pause", named) == 0
    assert daemon.params_of("WatchPause") == {"watch_id": WATCH}


def test_a_watch_that_is_not_clear_is_not_guessed(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Of two with one name both ids are told; of none, where all are listed."""
    other = {**ROW, "watch_id": "f" * 16}
    daemon.answers["WatchList"] = {"watches": [ROW, other]}

    assert kbd("watch", "rm", "invoices") == 1
    assert f"{WATCH}, {'f' * 16}" in capsys.readouterr().err
    assert kbd("watch", "rm", "nobody") == 1
    assert "kbd watch list" in capsys.readouterr().err
    assert "WatchRemove" not in daemon.methods()


@pytest.mark.parametrize("option", ["--retry", "--dismiss"])
def test_what_failed_is_settled_by_number(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, option: str
) -> None:
    """A number finds its watch; a number that no failed file has changes nothing."""
    method = {"--retry": "WatchFailedRetry", "--dismiss": "WatchFailedDismiss"}[option]

    for named, chosen, sent in (
        ((), "41", {"landing_ids": [41]}),
        ((), "all", {}),
        (("invoices",), "41,40,41", {"landing_ids": [41, 40]}),
        (("invoices",), "all", {}),
    ):
        assert kbd("watch", "failed", *named, option, chosen) == 0
        assert daemon.params_of(method) == {"watch_id": WATCH, **sent}
        assert "41" in capsys.readouterr().out
    daemon.asked.clear()
    assert kbd("watch", "failed", option, "41,42") == 1
    assert "42" in capsys.readouterr().err
    assert method not in daemon.methods()


def test_a_question_is_answered_with_the_retry(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What is said of tables goes to the workbench of each file that is meant, before the retry."""
    failed = [
        {"landing_id": number, "watch_id": WATCH, "workbench_id": f"{number}" * 8}
        for number in (40, 41)
    ]
    daemon.answers |= {
        "WatchFailedList": {"failed": failed},
        "WorkbenchFilesList": {"files": [{"path": "a.csv", "file_kind": "table"}]},
        "WorkbenchFilesSetReading": {},
        "WorkbenchGetQuestions": {"questions": []},
        "WatchGet": {"watch": {**ROW, "rule": {"prompt": "sum Umsatz"}}},
    }
    assert kbd("watch", "failed", "invoices", "--retry", "41", "--decimal", ",") == 0
    # As the run: it asks about what the watch's job reads alone.
    assert daemon.params_of("WorkbenchGetQuestions")["job"] == "sum Umsatz"
    assert daemon.params_of("WorkbenchFilesSetReading") == {
        "workbench_id": "41" * 8, "path": "a.csv", "read_as": {"decimal": ","},
    }  # fmt: skip
    methods = daemon.methods()
    assert methods.index("WorkbenchFilesSetReading") < methods.index("WatchFailedRetry")
    assert methods.count("WorkbenchFilesSetReading") == 1
    assert kbd("watch", "failed", "invoices", "--dismiss", "41", "--decimal", ",") == 2
    assert "goes with --retry" in capsys.readouterr().err


def test_a_retry_that_waits_for_more_says_so(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A watch that stands still has to be resumed, too."""
    daemon.answers["WatchList"] = {"watches": [{**ROW, "status": "paused"}]}

    assert kbd("watch", "failed", "invoices", "--retry", "41") == 0
    assert capsys.readouterr().err == f"The watch is paused: kbd watch resume {WATCH}\n"


def test_a_refusal_is_told(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The daemon's words reach the person."""

    def refuse(_params: dict[str, Any], _notify: object) -> Any:
        raise AnswerError("VALIDATION_FAILED", "the home of kbd is in it")

    daemon.answers["WatchAdd"] = refuse
    assert kbd("watch", "add", "/in", "do it") == 1
    assert capsys.readouterr().err == "VALIDATION_FAILED: the home of kbd is in it\n"


HIDING = ["sh", "-c", f"true {'# ' * 2000}\n\u202erm -rf /; evil"]
"""A command with most of it far to the right, on a line of its own, and turned round."""


def of_a_backup(daemon: ScriptedDaemon) -> dict[str, Any]:
    """Have the watch be one of a restored home; return what its rule does by itself."""
    acts: dict[str, Any] = {"on_outcome": HIDING, "publish": "auto", "deliver_to": "/data/out"}
    daemon.answers["WatchList"] = {"watches": [{**ROW, **acts, "restored": True}]}
    return acts


@pytest.mark.parametrize(
    ("answers", "code"), [("yyy", 0), ("n", 3), ("yn", 3), ("yyn", 3)], ids=str
)
def test_each_act_of_a_restored_rule_is_asked_about(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch,
    answers: str, code: int,
) -> None:  # fmt: skip
    """By itself, shown whole, with nothing hidden in it; one no, and nothing is sent."""
    acts, left = of_a_backup(daemon), iter(answers)
    monkeypatch.setattr("kbd.cli.rule_confirmation.is_interactive", lambda: True)
    monkeypatch.setattr("kbd.cli.rule_confirmation.ask", lambda _: next(left) == "y")

    assert kbd("watch", "resume", "invoices") == code
    sent = [params for method, params in daemon.asked if method == "WatchResume"]
    assert sent == ([{"watch_id": WATCH, "confirm": acts}] if code == 0 else [])
    told = capsys.readouterr().err
    assert next(left, "") == ""
    assert "⟨U+000A⟩⟨U+202E⟩rm -rf /; evil" in told
    assert "\u202e" not in told


def test_a_restored_rule_is_listed_whole(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """No blank pushes the end of a command out of sight."""
    of_a_backup(daemon)
    assert kbd("watch", "list") == 0
    assert "⟨U+000A⟩⟨U+202E⟩rm -rf /; evil" in capsys.readouterr().out
    assert kbd("watch", "resume", "invoices", "--confirm", "publish=review") == 2
    assert kbd("watch", "resume", "invoices", "--confirm", "everything") == 2
    assert kbd("watch", "resume", "invoices", "--confirm", "publish=auto") == 3
    assert not [params for method, params in daemon.asked if method == "WatchResume"]
