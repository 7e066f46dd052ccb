"""`kbd backup` and `kbd restore` say what was copied, what was not, and what is wrong."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kbd.core.audit.backup import Backup
from kbd.core.runtime.paths import Home
from kbd.events.log import EventLog
from kbd.types import Seq
from scripted_daemon import AnswerError, ScriptedDaemon

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]


def log_copied(log_id: str, name: str) -> dict[str, object]:
    """A log as `BackupCreate` tells it."""
    return {"workbench_id": log_id, "name": name, "seq": 7, "head": "ab" * 32, "blobs": 2}


def test_a_backup_is_told_log_by_log(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """A table, what was left out on stderr, where it is; --json has the answer as it is."""
    logs = [log_copied("daemon", "daemon"), log_copied("0123456789abcdef", "ta\x1b[2Jxes")]
    logs += [log_copied(f"{n:016}", "more") for n in range(20)]
    made = {"target": "/b", "size_bytes": 2048, "logs": logs, "left_out": ["settings.toml: keys"]}
    daemon.answers["BackupCreate"] = made

    assert kbd("backup", "some/where") == 0
    assert daemon.params_of("BackupCreate") == {"target": str(Path("some/where").absolute())}
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert lines[1].split() == ["the", "daemon's", "own", "7", "2", "abababababababab"]
    assert lines[2].startswith("0123456789abcdef (taxes)")
    assert lines[-2:] == [
        "and 2 more logs", f"{Path('some/where').absolute()}: 22 logs, 2.0 KiB, checked."
    ]  # fmt: skip
    assert told.err == "not in it: settings.toml: keys\n"
    assert kbd("backup", "/b", "--json") == 0
    assert json.loads(capsys.readouterr().out) == made


def test_a_backup_of_a_damaged_home_ends_with_one(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """It is made all the same; archives are counted."""
    archive = {"workbench_id": "0" * 16, "name": "w", "seq": 3, "size_bytes": 9, "sha256": "a" * 64}
    made = {"target": "/b", "size_bytes": 2048, "logs": [log_copied("daemon", "daemon")]}
    made |= {"left_out": ["w is damaged"], "archives": [archive], "damaged": 1}
    daemon.answers["BackupCreate"] = made
    assert kbd("backup", "/b") == 1
    told = capsys.readouterr()
    assert told.out.splitlines()[-1] == "/b: 1 logs, 1 archives, 2.0 KiB, checked."
    assert told.err == "not in it: w is damaged\n"
    assert kbd("backup", "/b", "--json") == 1


def test_a_refused_backup_says_why(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """With the daemon's own words, and exit code 1."""
    daemon.answers["BackupCreate"] = _refused
    assert kbd("backup", "/b") == 1
    assert "DISK_FULL: no space is left" in capsys.readouterr().err


def _refused(params: object, notify: object) -> object:
    raise AnswerError("DISK_FULL", "no space is left for the backup")


def test_a_home_is_restored_only_from_what_is_whole(
    short_dir: Path, kbd: Kbd, capsys: Captured
) -> None:
    """It says what it made and how to start it; a fault is told with its file, and none is made."""
    original = Home(folder=short_dir / "original", socket=short_dir / "s")
    original.create()
    EventLog.open(original.daemon_log).close()
    backup = Backup(original, short_dir / "b")
    backup.take_daemon(Seq(0), {})
    backup.finish("2026-11-22T13:37:00.000000Z")
    backup.close()

    for taken in (short_dir / "original", short_dir / "b"):
        assert kbd("--home", str(taken), "restore", str(short_dir / "b")) == 1
        assert "not empty" in capsys.readouterr().err
    assert kbd("--home", str(short_dir / "no"), "restore", str(short_dir)) == 1
    assert "this is no backup" in capsys.readouterr().err

    assert kbd("--home", str(short_dir / "new"), "restore", str(short_dir / "b"), "--json") == 0
    made = json.loads(capsys.readouterr().out)
    assert made["logs"] == [{"workbench_id": "daemon", "seq": 0}]
    assert kbd("--home", str(short_dir / "again"), "restore", str(short_dir / "b")) == 0
    told = capsys.readouterr().out
    assert "as of 2026-11-22 13:37 UTC" in told
    assert f"kbd --home {short_dir / 'again'} up" in told

    anchor = short_dir / "b" / "daemon" / "log" / "anchor"
    anchor.write_bytes(b"x" + anchor.read_bytes()[1:])
    assert kbd("--home", str(short_dir / "bad"), "restore", str(short_dir / "b")) == 1
    assert "daemon/log/anchor, byte 0" in capsys.readouterr().err
    assert not os.path.lexists(short_dir / "bad")
