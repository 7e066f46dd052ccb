"""`kbd watch`: rules from the command line, consent, what is shown of watches and what failed."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted_daemon import AnswerError, ScriptedDaemon

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

WATCH = "89abcdef01234567"

ROW: dict[str, Any] = {
    "watch_id": WATCH,
    "name": "invoices",
    "folder": "/data/invoices",
    "status": "active",
    "created_at": "2026-01-02T03:04:05Z",
    "hints": "system",
    "landed": 12,
    "waiting": 1,
    "running": 1,
    "failed": 1,
    "outcomes": {"published": 8, "failed": 2},
}

RULE: dict[str, Any] = {
    "folder": "/data/invoices",
    "prompt": "total by month",
    "patterns": ["*.csv", "!old*"],
    "mode": "file",
    "quiet_s": 2.0,
    "deliver_to": "/data/out",
    "publish": "auto",
    "limits": {
        "runs_per_hour": 100, "runs_per_path_hour": 5, "chain_depth": 3, "batch_files": 100,
    },
    "on_failure": {"retries": 2, "wait_s": 60.0, "then": "park"},
    "on_outcome": [],
}  # fmt: skip

FAILED: dict[str, Any] = {
    "landing_id": 41,
    "path": "march.csv",
    "size_bytes": 2048,
    "landed_at": "2026-01-02T03:04:05Z",
    "stage": "parked",
    "attempt": 3,
    "code": "PROVIDER_UNAVAILABLE",
    "message": "the provider\x1b[2J answered 503",
    "watch_id": WATCH,
    "watch_name": "invoices",
    "actions": [f"kbd watch failed {WATCH} --retry 41"],
}

AWAY = {
    "provider_id": "openai", "enabled": True, "configured": True, "leaves_machine": True,
    "auth_mode": "api_key", "endpoint": "https://api.example.com/v1",
}  # fmt: skip


@pytest.fixture(autouse=True)
def watches(daemon: ScriptedDaemon) -> None:
    """The daemon watches one folder; its default model stays on this machine."""
    daemon.answers |= {
        "WatchList": {"watches": [ROW]},
        "WatchAdd": {"watch_id": WATCH, "passed_over": 0, "waiting": 0},
        "WatchGet": {"watch": {**ROW, "rule": RULE, "landings": [], "recent": []}},
        "WatchPause": {"watch": ROW},
        "WatchResume": {"watch": ROW},
        "WatchRemove": {"removed": True},
        "WatchFailedList": {"failed": [FAILED], "total": 1, "suspended": []},
        "WatchFailedRetry": {"landing_ids": [41]},
        "WatchFailedDismiss": {"landing_ids": [41]},
        "UserGetDefaultModel": {"model_id": "offline:planner"},
    }


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
        "--on-outcome", "./told 'two words'",
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
    }
    assert "7 files" in capsys.readouterr().err


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
    monkeypatch.setattr("kbd.cli.watching.interactive", lambda: True)
    monkeypatch.setattr("kbd.cli.watching.ask", lambda _: said.strip() == "y")

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
        (("failed", "--retry", "1", "--dismiss", "2"), "Either"),
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


def test_the_list_fits_a_terminal(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """A watch a line, in 80 columns; why one stands still is told below."""
    paused = {**ROW, "name": "long " * 30, "status": "suspended", "reason": "too many\nruns"}
    daemon.answers["WatchList"] = {"watches": [ROW, paused]}

    assert kbd("watch", "list") == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[:2] == [
        "id                name                      status     landed  open  failed",
        f"{WATCH}  invoices                  active     12      2     1",
    ]
    assert max(len(line) for line in told.out.splitlines()) <= 80
    assert told.err.endswith(": too many runs\n")


def test_a_watch_is_shown_in_full(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The rule, what is not done, the newest outcomes."""
    recent = {
        "landing_ids": [7], "paths": ["a.csv"], "outcome": "published",
        "ended_at": "2026-01-02T03:05:05Z", "delivered": ["/data/out/summary.xlsx"],
    }  # fmt: skip
    shown = {**ROW, "rule": RULE, "landings": [FAILED], "recent": [recent]}
    daemon.answers["WatchGet"] = {"watch": shown}

    assert kbd("watch", "show", "invoices") == 0
    told = capsys.readouterr().out
    for words in (
        "  files    *.csv !old*", "  results  /data/out", "12 (8 published, 2 failed)",
        "41   march.csv  2.0 KiB  failed: PROVIDER_UNAVAILABLE",
        "2026-01-02 03:05  a.csv  published  -> /data/out/summary.xlsx",
    ):  # fmt: skip
        assert words in told
    assert kbd("watch", "show", "invoices", "--json") == 0
    assert json.loads(capsys.readouterr().out) == shown


def test_what_failed_is_explained(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The file, the reason, clean, and what helps; and which watches stand still."""
    still = {**ROW, "status": "suspended", "reason": "100 runs were started within an hour"}
    daemon.answers["WatchFailedList"] = {"failed": [FAILED], "total": 1, "suspended": [still]}

    assert kbd("watch", "failed") == 0
    assert capsys.readouterr().out.splitlines() == [
        "41  march.csv (2.0 KiB), landed 2026-01-02 03:04 in invoices",
        "    PROVIDER_UNAVAILABLE: the provider answered 503",
        f"    - kbd watch failed {WATCH} --retry 41",
        f"invoices ({WATCH}) is suspended and starts no runs",
        "    100 runs were started within an hour",
        f"    - kbd watch resume {WATCH}",
    ]
    daemon.answers["WatchFailedList"] = {"failed": [], "total": 0, "suspended": []}
    assert kbd("watch", "failed", "invoices") == 0
    assert capsys.readouterr().out == "Nothing failed.\n"


def test_files_that_failed_alike_are_told_together(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """One reason and one command for all of them; what is not listed is counted."""
    action = f"kbd watch failed {WATCH} --retry"
    rows = [{**FAILED, "landing_id": n, "actions": ["kbd doctor", f"{action} {n}"]} for n in (7, 8)]
    daemon.answers["WatchFailedList"] = {"failed": rows, "total": 1002, "suspended": []}

    assert kbd("watch", "failed") == 0
    assert capsys.readouterr().out.splitlines() == [
        "7  march.csv (2.0 KiB), landed 2026-01-02 03:04 in invoices",
        "8  march.csv (2.0 KiB), landed 2026-01-02 03:04 in invoices",
        "    PROVIDER_UNAVAILABLE: the provider answered 503",
        "    - kbd doctor",
        f"    - {action} 7,8",
        f"    - kbd watch failed {WATCH} --dismiss 7,8",
        "  … and 1000 more",
    ]


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


def test_a_retry_that_waits_for_more_says_so(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A watch that stands still has to be resumed, too."""
    daemon.answers["WatchList"] = {"watches": [{**ROW, "status": "paused"}]}

    assert kbd("watch", "failed", "invoices", "--retry", "41") == 0
    assert capsys.readouterr().err == f"The watch is paused: kbd watch resume {WATCH}\n"


def test_a_trial_tells_what_would_run(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """Runs, what comes to none and why, problems; a problem is a fault, for scripts."""
    tested: dict[str, Any] = {
        "files": [
            {"path": "a.csv", "size_bytes": 1, "verdict": "run"},
            {"path": "b.csv", "size_bytes": 1, "verdict": "known", "reason": "it was c.csv"},
        ],
        "counts": {"run": 1, "known": 1},
        "runs": [{"paths": ["a.csv"]}],
        "run_count": 1,
        "model_id": "offline:planner",
        "consented": True,
        "problems": [],
    }
    daemon.answers["WatchTest"] = tested

    assert kbd("watch", "test", "invoices") == 0
    assert daemon.params_of("WatchTest") == {"watch_id": WATCH}
    assert capsys.readouterr().out.splitlines() == [
        "1 run would start with offline:planner.",
        "  a.csv",
        "",
        "comes to no run  because",
        "b.csv            known    it was c.csv",
        "Nothing was done.",
    ]
    many = [{**tested["files"][1], "path": f"{number}.csv"} for number in range(30)]
    daemon.answers["WatchTest"] = {**tested, "files": many, "counts": {"run": 1, "known": 30}}
    assert kbd("watch", "test", "invoices") == 0
    assert "19.csv           known    it was c.csv\n  … of 30 (30 known)" in capsys.readouterr().out
    daemon.answers["WatchTest"] = {**tested, "problems": ["nobody has agreed"]}
    assert kbd("watch", "test", str(tmp_path), "--pattern", "*.csv", "--batch") == 1
    assert daemon.params_of("WatchTest") == {
        "folder": str(tmp_path), "patterns": ["*.csv"], "mode": "batch",
    }  # fmt: skip
    assert "  ! nobody has agreed\n" in capsys.readouterr().out


def test_the_status_counts_watches(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """One line, with what needs a look."""
    daemon.answers["WatchList"] = {"watches": [ROW, {**ROW, "status": "paused", "failed": 2}]}

    assert kbd("status") == 0
    told = "  watches      2, 3 failed files, see `kbd watch failed`, 1 not active"
    assert capsys.readouterr().out.splitlines()[-1] == told


def test_a_refusal_is_told(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The daemon's words reach the person."""

    def refuse(_params: dict[str, Any], _notify: object) -> Any:
        raise AnswerError("VALIDATION_FAILED", "the home of kbd is in it")

    daemon.answers["WatchAdd"] = refuse
    assert kbd("watch", "add", "/in", "do it") == 1
    assert capsys.readouterr().err == "VALIDATION_FAILED: the home of kbd is in it\n"
