"""What spares a person a surprise: told before the work, or told how to go on after it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripted_daemon import ScriptedDaemon
from scripted_job import WORKBENCH, workbench

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("below", ["", "sub", "sub/deeper"])
def test_a_folder_that_cannot_be_is_told_before_the_work(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path, below: str
) -> None:
    """A file where results should go ends a job before it begins; nobody is asked anything."""
    (tmp_path / "taken").write_text("x")

    assert kbd("run", "do it", "--out", str(tmp_path / "taken" / below)) == 2
    assert "not a folder" in capsys.readouterr().err
    assert daemon.methods() == []


def test_a_folder_that_is_not_there_yet_is_fine(
    daemon: ScriptedDaemon, kbd: Kbd, tmp_path: Path
) -> None:
    """The daemon makes it when there is something to put into it; nothing does before."""
    out = str(tmp_path / "a" / "b")
    assert kbd("run", "do it", "--keep", "--out", out) == 0
    assert "WorkbenchFilesExtract" not in dict(daemon.asked)
    assert kbd("run", "do it", "--publish", "--out", out) == 0
    assert dict(daemon.asked)["WorkbenchFilesExtract"]["destination_dir"] == out
    assert not (tmp_path / "a").exists()


def test_a_daemon_that_dies_tells_how_to_go_on(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """The person has seen no id yet, so the message has it."""
    daemon.hang_up.add("RunGet")

    assert kbd("run", "do it", "--publish") == 69
    assert f"kbd run --resume {WORKBENCH}" in capsys.readouterr().err


def test_lists_are_json_for_scripts(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """`wb list` gives the rows of the wire, `wb show` the workbench with its files and runs."""
    assert kbd("wb", "list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row | workbench() == row
    daemon.answers["WorkbenchOpen"] = {"workbench": workbench(default_model_id="p:m")}
    daemon.answers["WorkbenchFilesList"] = {"files": []}
    daemon.answers["RunList"] = {"runs": []}
    assert kbd("wb", "show", "taxes", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["workbench"]["id"], shown["files"], shown["runs"]) == (WORKBENCH, [], [])


def test_a_list_fits_a_terminal(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """A long name is cut, a time is to the minute; a reason is told below, and by the exit code."""
    row = workbench(name="long " * 30, reason="no space is left\nto open it")
    daemon.answers["WorkbenchList"] = {"workbenches": [row]}

    assert kbd("wb", "list") == 1
    told = capsys.readouterr()
    assert max(len(line) for line in told.out.splitlines()) <= 100
    assert "2026-01-02 03:04\n" in told.out
    assert told.err == f"{WORKBENCH}: no space is left to open it\n"


def test_what_was_confirmed_before_stays_confirmed(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """The daemon takes the newest list for the whole, so the command sends the whole."""
    asked = {"confirmed": ["a.csv"], "pending": ["b.csv"]}
    daemon.answers["ReviewGetDeletionConfirmations"] = asked

    assert kbd("publish", "taxes", "--yes") == 0
    assert daemon.params_of("ReviewSetDeletionConfirmations")["paths"] == ["a.csv", "b.csv"]


@pytest.mark.parametrize(("arguments", "sent"), [((), None), (("--accept-external",), True)])
def test_external_references_can_be_accepted(
    daemon: ScriptedDaemon, kbd: Kbd, arguments: tuple[str, ...], sent: bool | None
) -> None:
    """Only by saying so."""
    assert kbd("publish", "taxes", *arguments) == 0
    assert daemon.params_of("DraftPublish").get("accept_external") is sent
