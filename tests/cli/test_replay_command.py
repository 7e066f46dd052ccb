"""`kbd replay` without a terminal: text, JSON, moments, and what does not go together."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripted_daemon import ScriptedDaemon
from scripted_job import RUN, WORKBENCH
from walked import BLOBS, answers, told_steps

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def walked(daemon: ScriptedDaemon) -> ScriptedDaemon:
    """The daemon with a run to walk through."""
    daemon.answers.update(answers())
    return daemon


def test_all_steps_are_told_as_text(walked: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """One after the other over all pages, with arguments and whole results, clean."""
    assert kbd("replay", "taxes") == 0
    told = capsys.readouterr().out

    steps = told_steps()
    lines = told.splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith("#")] == [
        f"#{number}" for number in range(1, len(steps) + 1)
    ]
    assert lines[0] == f"run {RUN}, running, {len(steps)} steps"
    assert not set(told) & set("\x1b\x07\u202e")
    assert "    events 9-10, phase implement, item 1 of 2, 1.5 s" in lines
    assert '      {"path": "報告書.txt"}' in lines
    assert "#1  00:00:00  asked     asked: tidy up evil" in lines
    assert '        - [399, "row 399"]' in lines
    assert "    no answer is recorded" in lines
    assert "      modified    a.txt  8 bytes -> 10 bytes" in lines
    assert "        ! fetches" in lines
    assert "    the plan: 1 done, 2 open" in lines
    assert [method for method, _ in walked.asked].count("ReplaySteps") > 1


def test_machines_get_every_step_complete(
    walked: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A JSON object a line, from the step asked for, with what is kept outside the log."""
    assert kbd("replay", f"{WORKBENCH}-1", "--json", "--step", "8") == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [step["index"] for step in told] == list(range(8, len(told_steps()) + 1))
    assert told[0]["kind"] == "tool"
    assert told[0]["call"]["result"] in BLOBS.values()
    assert walked.asked


def test_a_moment_is_told_and_restored(
    walked: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    """State and files at an event; a folder is named from where the person is."""
    monkeypatch.chdir(tmp_path)
    assert kbd("replay", "taxes", "--at", "15", "--out", "then") == 0
    lines = capsys.readouterr().out.splitlines()

    asked = walked.params_of("StateAt")
    assert asked == {
        "workbench_id": WORKBENCH,
        "seq": 15,
        "destination_dir": str(tmp_path / "then"),
    }
    assert lines[0] == f"workbench taxes ({WORKBENCH}) after event 15, 2026-01-02 03:04"
    assert lines[1] == f"state {'ab' * 32}"
    assert [line.split()[:2] for line in lines[5:7]] == [
        ["modified", "a.txt"], ["deleted", "gone.txt"],
    ]  # fmt: skip
    assert lines[-1] == f"written to {tmp_path / 'then'}"
    assert kbd("replay", "taxes", "--at", "15", "--json") == 0
    assert json.loads(capsys.readouterr().out)["seq"] == 15
    assert kbd("replay", "taxes", "--at", "99") == 1
    assert "NOT_FOUND: the log ends at event" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--out", "d"], "--out needs --at"),
        (["--with-plugin", "p"], "--with-plugin needs --verify"),
        (["--at", "3", "--verify"], "--at and --verify do not go together"),
        (["--html", "f", "--json"], "--json and --html do not go together"),
        (["--step", "2", "--html", "f"], "--step and --html do not go together"),
        (["--at", "0"], "invalid number from 1 value: '0'"),
        (["--step", "x"], "invalid number from 1 value: 'x'"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    kbd: Kbd, capsys: Captured, arguments: list[str], told: str
) -> None:
    """Told before a daemon is asked: here is none."""
    with pytest.raises(SystemExit) as ended:
        kbd("replay", "taxes", *arguments)

    assert ended.value.code == 2
    assert told in capsys.readouterr().err
