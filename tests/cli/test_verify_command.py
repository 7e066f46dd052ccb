"""`kbd verify` tells what sort of harm a log took and what to do; `kbd log --head` gives a head."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from kbd.cli.verify import ADVICE
from kbd.events.faults import FaultKind
from scripted_daemon import Notify, ScriptedDaemon
from scripted_job import WORKBENCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

HASH = "ab" * 32
WHOLE = {"ok": True, "seq": 9, "frames": 4, "segments": 1, "blobs": 2, "head": HASH, "faults": []}


def fault(kind: str, seq: int = 12) -> dict[str, Any]:
    """A fault as `LogVerify` tells it."""
    file = f"{1:020}.kbl"
    return {"kind": kind, "file": file, "offset": 640, "message": "it is so", "seq": seq}


def test_all_logs_are_checked_and_a_fault_is_told_with_its_place(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Every log by default; kind, file, byte and event, what to do, and an end with 1."""

    def verify(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        if params["workbench_id"] == "daemon":
            return WHOLE
        return {**WHOLE, "ok": False, "faults": [fault("edited"), fault("blob missing", 3)]}

    daemon.answers["LogVerify"] = verify

    assert kbd("verify") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{WORKBENCH} (taxes) DAMAGED:",
        f"  edited: {1:020}.kbl, byte 640, event 12: it is so",
        f"  blob missing: {1:020}.kbl, byte 640, event 3: it is so",
        f"  - {ADVICE['edited']}",
        f"  - {ADVICE['blob missing']}",
        "daemon (the daemon's own) whole: 9 events, 4 frames, 2 blobs, head abababababababab",
    ]


def test_there_is_advice_for_every_sort_of_fault() -> None:
    """No kind is without a word of what to do, and no word is for a kind that there is not."""
    assert set(ADVICE) == set(get_args(FaultKind))


def test_a_head_is_printed_alone_and_compared(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What one command prints the other takes; the daemon's own log has one, too."""
    daemon.answers["LogHead"] = {"seq": 9, "hash": HASH}
    daemon.answers["LogVerify"] = WHOLE

    assert kbd("log", "taxes", "--head") == 0
    printed = capsys.readouterr().out
    assert printed == f"9:{HASH}\n"
    assert kbd("log", "daemon", "--head", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"seq": 9, "hash": HASH}

    assert kbd("verify", "taxes", "--head", printed) == 0
    assert daemon.params_of("LogVerify") == {"workbench_id": WORKBENCH, "seq": 9, "hash": HASH}
    assert kbd("verify", "daemon", "--head", printed) == 0
    assert daemon.params_of("LogVerify") == {"workbench_id": "daemon", "seq": 9, "hash": HASH}


@pytest.mark.parametrize("head", ["9", f"9:{HASH[:-1]}", f"x:{HASH}", f":{HASH}", ""])
def test_what_is_no_head_is_refused(daemon: ScriptedDaemon, kbd: Kbd, head: str) -> None:
    """An ill-formed head, and one without a log that it is of, ask nothing of the daemon."""
    assert kbd("verify", "taxes", "--head", head) == 2
    assert kbd("verify", "--head", f"9:{HASH}") == 2
    assert daemon.asked == []


def test_a_path_is_a_copy_and_a_name_is_a_workbench(
    daemon: ScriptedDaemon,
    kbd: Kbd,
    capsys: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A copy is checked without a daemon; a folder of a workbench's name must be told as a path."""
    daemon.answers["LogVerify"] = WHOLE
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taxes").mkdir()
    (tmp_path / "run.zip").write_bytes(b"no case file at all")

    assert kbd("verify", "taxes") == 0
    assert "(taxes) whole" in capsys.readouterr().out
    daemon.close()
    assert kbd("verify", "run.zip") == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "run.zip (case) DAMAGED:"
    assert ", byte 0" in told[1]
    for folder in ("./taxes", "taxes"):
        assert kbd("verify", folder) == 1
        assert "FILE_READ_FAILED" in capsys.readouterr().err
    assert kbd("verify", "gone.zip") == 69
    assert kbd("verify", f"./{'b' * 300}") == 69
    assert kbd("verify", "run.zip", "--head", f"9:{HASH}") == 1
    assert "  head: run.zip, byte 0: it ends with 0:, not with" in capsys.readouterr().out
