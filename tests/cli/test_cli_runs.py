"""`kbd runs`: a line a run, the newest first, all of it at 80 columns and at 200."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kbd.cli import runs
from scripted_daemon import ScriptedDaemon
from scripted_job import RUN, WORKBENCH, run_info

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

ITEMS = [{"index": n, "label": "x", "state": state} for n, state in enumerate(["done", "failed"])]
FAILED = run_info(
    "failed", items=ITEMS, usage={"input_tokens": 12345, "output_tokens": 67}, cost=0.1234,
    started_at="2026-01-02T03:04:05.5Z", ended_at="2026-01-02T03:06:10.5Z",
    workbench_name="taxes",
)  # fmt: skip
LATER = run_info(
    run_id=f"{WORKBENCH}-2", request="two\x1b[2J", started_at="2026-01-03T03:04:05Z",
    ended_at="2026-01-03T03:04:06Z", usage={}, cost=0.0, workbench_name="taxes",
)  # fmt: skip


NEWEST = {"status": [], "query": "", "descending": True}
"""The newest first, of whatever status and words."""


@pytest.fixture
def ran(daemon: ScriptedDaemon) -> ScriptedDaemon:
    """A daemon with two runs."""
    daemon.answers["RunList"] = {"runs": [FAILED, LATER]}
    return daemon


def test_a_run_is_a_row(ran: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """State, phase, items, times, tokens, cost, model and request, without control sequences."""
    assert kbd("runs", "taxes") == 0
    header, newest, oldest = capsys.readouterr().out.splitlines()

    assert header.split("  ")[0] == "run"
    assert newest.split() == [
        LATER["run_id"], "finished", "summary", "2026-01-03", "03:04", "1.0", "s", "taxes",
        "offline:planner", "0", "0", "$-", "two",
    ]  # fmt: skip
    assert oldest.split() == [
        RUN, "failed", "summary", "1/2", "!1", "2026-01-02", "03:04", "2", "min", "5", "s",
        "taxes", "offline:planner", "12,345", "67", "$0.1234", "one", "sheet", "per", "category",
    ]  # fmt: skip
    assert ran.params_of("RunList") == {**NEWEST, "workbench_id": WORKBENCH, "limit": 50}


@pytest.mark.usefixtures("ran")
def test_a_narrow_terminal_loses_nothing(
    kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the row is too long for the request, a second line has the rest, cut to the width."""
    monkeypatch.setattr(runs, "columns", lambda _otherwise: 80)

    assert kbd("runs") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[2::2] == [
        "    taxes, offline:planner, 0 in, 0 out, $-: two",
        "    taxes, offline:planner, 12,345 in, 67 out, $0.1234: one sheet per category",
    ]
    assert [text.split()[0] for text in told[1::2]] == [LATER["run_id"], RUN]
    assert max(map(len, told)) <= 80


def test_all_of_it_is_in_json(ran: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Each run as the daemon tells it; of all without a workbench, page by page."""
    assert kbd("runs", "--json") == 0
    told: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["runs"]
    assert told == [LATER, FAILED]
    assert ran.params_of("RunList") == {**NEWEST, "limit": 1000}


def test_filters_are_the_daemons(ran: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """What is searched for is asked of the daemon, and what is left out is counted."""
    assert kbd("runs", "--search", "one sheet", "--status", "failed", "--limit", "1") == 0
    asked = {**NEWEST, "query": "one sheet", "status": ["failed"], "limit": 1}
    assert ran.params_of("RunList") == asked
    assert capsys.readouterr().out.endswith("… the newest 1 of 2 runs\n")
    ran.answers["RunList"] = {"runs": []}
    assert kbd("runs", "--search", "nothing") == 0
    assert capsys.readouterr().out == "No run is like that.\n"


def test_a_damaged_workbench_shows(ran: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Its runs are damaged, whatever their last event says, and scripts learn it from the code."""
    ran.answers["RunList"] = {"runs": [{**LATER, "status": "interrupted", "damage": "a bit"}]}
    assert kbd("runs") == 1
    told = capsys.readouterr()
    assert told.out.splitlines()[1].split()[1] == "damaged"
    assert told.err == f"workbench {WORKBENCH} is damaged: a bit\n"


@pytest.mark.usefixtures("daemon")
def test_no_runs_are_no_table(kbd: Kbd, capsys: Captured) -> None:
    """It says so."""
    assert kbd("runs") == 0
    assert capsys.readouterr().out == "There are no runs yet.\n"
