"""`kbd review WB --html PAGE`: what the daemon is asked for, and that no file is harmed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripted_daemon import ScriptedDaemon
from scripted_job import WORKBENCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

MADE = {"files": 2, "size_bytes": 2048, "target": "/x"}


def test_the_daemon_writes_the_page(
    daemon: ScriptedDaemon,
    kbd: Kbd,
    capsys: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is asked for the place that the person means, wherever it works itself."""
    monkeypatch.chdir(tmp_path)
    daemon.answers["ReviewGetHtml"] = MADE

    assert kbd("review", "taxes", "--html", "page.html") == 0
    assert daemon.params_of("ReviewGetHtml") == {
        "workbench_id": WORKBENCH,
        "target": str(tmp_path / "page.html"),
    }
    assert capsys.readouterr().out == "page.html: 2 files, 2.0 KiB\n"


def test_a_page_may_be_of_one_file(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """The file is named to the daemon; with --json its answer is printed as it is."""
    daemon.answers["ReviewGetHtml"] = MADE
    target = str(tmp_path / "page.html")

    assert kbd("review", "taxes", "summary.xlsx", "--html", target, "--json") == 0
    asked = {"workbench_id": WORKBENCH, "target": target, "path": "summary.xlsx"}
    assert daemon.params_of("ReviewGetHtml") == asked
    assert json.loads(capsys.readouterr().out) == MADE


def test_nothing_is_overwritten(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """A name that is taken, or a folder that is not there, is refused before anything is asked."""
    (tmp_path / "page.html").write_text("mine")

    assert kbd("review", "taxes", "--html", str(tmp_path / "page.html")) == 2
    assert "exists; nothing is overwritten" in capsys.readouterr().err
    assert kbd("review", "taxes", "--html", str(tmp_path / "no" / "page.html")) == 2
    assert "is not a folder that can be written to" in capsys.readouterr().err
    assert (tmp_path / "page.html").read_text() == "mine"
    assert "ReviewGetHtml" not in [method for method, _ in daemon.asked]
