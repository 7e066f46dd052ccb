"""A home whose logs are damaged: what is checked, told and kept, with a daemon and without."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from damaged_logs import contents, flip, frame_of, last_segment
from kbd.cli import main
from kbd.core.runtime.home_lock import HomeLockedError, lock_home, share_home
from kbd.core.runtime.paths import Home
from kbd.events.frame import BODY_AT
from real_daemon import RealDaemon

Captured = pytest.CaptureFixture[str]
Kbd = Callable[..., int]


@pytest.fixture
def kbd(daemon: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> Kbd:
    """Run a command in this process with the daemon's home, and return its exit code."""
    monkeypatch.delenv("KBD_SOCKET", raising=False)
    monkeypatch.setenv("KBD_HOME", str(daemon.home))
    return lambda *arguments: main(arguments)


def _source(daemon: RealDaemon) -> Path:
    source = daemon.home.parent / "a.csv"
    source.write_text("Shop,Amount\nBaker,1\n")
    return source


def _damage_daemon(daemon: RealDaemon, kind: str = "WorkbenchCreated", nth: int = 0) -> int:
    """Flip a bit in the daemon's log; return the number of the event that is damaged."""
    segment = last_segment(daemon.home / "daemon" / "log")
    at, seq = frame_of(segment, kind, nth)
    flip(segment, at + BODY_AT + 3)
    return seq


def test_verify_needs_no_daemon_and_writes_nothing(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Without a daemon it prints the same of the same logs, by name and by id, and of a head."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    assert kbd("log", taxes, "--head") == 0
    head = capsys.readouterr().out.strip()
    assert daemon.stop() == 0
    before = contents(daemon.home)
    assert kbd("verify") == 0
    alone = capsys.readouterr().out
    assert kbd("verify", taxes[:6], "--head", head) == 0
    assert f"{taxes} (taxes) whole" in capsys.readouterr().out
    assert kbd("verify", "taxes", "--json") == 0
    assert json.loads(capsys.readouterr().out)[taxes]["blobs"] == 1
    assert kbd("verify", "daemon") == 0
    assert kbd("verify", "taxes", "--head", f"1{head[head.index(':') :]}") == 1
    assert kbd("verify", "rents") == 1
    assert "there is no workbench rents" in capsys.readouterr().err

    assert contents(daemon.home) == before

    daemon.start()
    assert kbd("verify", "taxes") == 0
    assert capsys.readouterr().out.splitlines() == alone.splitlines()[:1]


def test_verify_without_a_daemon_finds_every_log_behind_the_damage(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Workbenches that the damage hides are found by their folders, called by their first event."""
    first, second = (daemon.workbench(_source(daemon), name=name) for name in ("one", "two"))
    daemon.stop()
    seq = _damage_daemon(daemon, nth=1)

    assert kbd("verify") == 1
    told = capsys.readouterr().out
    assert f"{first} (one) whole" in told
    assert f"{second} (two) whole" in told
    assert "daemon (the daemon's own) DAMAGED:" in told
    assert f"event {seq}: " in told

    assert kbd("verify", "two") == 0
    flip(next(path for path in (daemon.home / "workbenches" / second).glob("blobs/*/*")), 0)
    assert kbd("verify", "two") == 1
    assert "blob damaged" in capsys.readouterr().out


def test_verify_waits_for_nobody_who_has_the_home(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A home that is held by who does not answer is not read; while it is read no daemon starts."""
    daemon.stop()
    home = Home(daemon.home, daemon.home / "kbd.sock")
    with lock_home(home):
        assert kbd("verify") == 69
    said = capsys.readouterr().err
    assert "has this home already, but nothing answers at" in said
    refused = pytest.raises(HomeLockedError, match="kbd verify")
    with share_home(home), share_home(home), refused, lock_home(home):
        pytest.fail("two have the home")


def test_doctor_tells_of_damage_without_a_daemon(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A flipped bit in either log ends it with 1 and is told with its place; whole ones with 0."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    daemon.stop()

    def told() -> tuple[int, list[str]]:
        code = kbd("doctor")
        return code, [row for row in capsys.readouterr().out.splitlines() if "logs " in row]

    code, rows = told()
    assert code == 0
    assert rows == [
        "ok    logs      2 logs begin and end as they should; `kbd verify` reads all of them"
    ]
    segment = last_segment(daemon.home / "workbenches" / taxes / "log")
    at, seq = frame_of(segment, "FileAdded")
    flip(segment, at + BODY_AT + 1)

    code, (row,) = told()
    assert code == 1
    assert row.startswith(f"WRONG logs      {taxes} (taxes): the log is damaged: ")
    assert f"event {seq})" in row
    _damage_daemon(daemon)
    code, rows = told()
    assert code == 1
    assert rows[0].startswith("WRONG logs      the daemon's own log: the log is damaged: ")
    assert rows[1].startswith(f"WRONG logs      {taxes} (taxes): ")


def test_doctor_tells_of_damage_that_the_daemon_knows(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A workbench that is listed as damaged is something that is wrong."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    assert kbd("doctor") == 0
    assert "no workbench is known to be damaged" in capsys.readouterr().out
    daemon.stop()
    segment = last_segment(daemon.home / "workbenches" / taxes / "log")
    flip(segment, frame_of(segment, "FileAdded")[0] + BODY_AT + 1)
    daemon.start()

    kbd("wb", "show", taxes)
    capsys.readouterr()
    assert kbd("doctor") == 1
    assert "WRONG logs      1 workbench is damaged" in capsys.readouterr().out
