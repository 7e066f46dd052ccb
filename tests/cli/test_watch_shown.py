"""`kbd watch`: what is shown of watches, of what failed, and of what would run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted_daemon import ScriptedDaemon
from told_watches import ANSWERS, FAILED, ROW, RULE, WATCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def watches(daemon: ScriptedDaemon) -> None:
    """The daemon watches one folder; its default model stays on this machine."""
    daemon.answers |= ANSWERS


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


@pytest.mark.parametrize("failed", [(0, 0), (0, 2), (3, 2)])
def test_the_list_says_what_to_do_about_what_failed(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, failed: tuple[int, int]
) -> None:
    """The command that tells why and the one that retries it: of one watch, or of all; or none."""
    other = {**ROW, "watch_id": "f" * 16}
    rows = [{**row, "failed": count} for row, count in zip((ROW, other), failed, strict=True)]
    daemon.answers["WatchList"] = {"watches": rows}

    assert kbd("watch", "list") == 0
    named = "kbd watch failed" if all(failed) else f"kbd watch failed {'f' * 16}"
    hints = [f"What failed, and why: {named}", f"Work on it again:     {named} --retry all"]
    assert capsys.readouterr().err.splitlines() == (hints if any(failed) else [])


def test_a_watch_is_shown_in_full(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The rule, what is not done, the newest outcomes."""
    recent = {
        "landing_ids": [7], "paths": ["a.csv"], "outcome": "published",
        "ended_at": "2026-01-02T03:05:05Z", "delivered": ["/data/out/2024/summary.xlsx"],
    }  # fmt: skip
    shown = {**ROW, "rule": RULE, "landings": [FAILED], "recent": [recent]}
    daemon.answers["WatchGet"] = {"watch": shown}

    assert kbd("watch", "show", "invoices") == 0
    told = capsys.readouterr().out
    for words in (
        "  files    *.csv !old*", "  results  /data/out", "12 (8 published, 2 failed)",
        "41   march.csv  2.0 KiB  failed: PROVIDER_UNAVAILABLE",
        "2026-01-02 03:05  a.csv  published  -> 2024/summary.xlsx",
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
    assert told in capsys.readouterr().out.splitlines()
