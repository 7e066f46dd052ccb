"""Starting the daemon in the background, with stand-ins for the daemon's process."""

import argparse
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kbd.cli import main
from kbd.cli.exits import UNREACHABLE, Stop
from kbd.cli.start import LOG_NAME, start
from scripted_daemon import ScriptedDaemon

StandIn = Callable[[str], None]


@pytest.fixture
def stand_in(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Let a shell script be what is started in place of `python -m kbd daemon`."""

    def install(script: str) -> None:
        path = short_dir / "stand-in"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))

    return install


def place(home: Path) -> argparse.Namespace:
    """The arguments that say where the daemon is."""
    return argparse.Namespace(home=str(home), socket=None)


def test_an_early_end_is_told_with_its_last_words(short_dir: Path, stand_in: StandIn) -> None:
    """The exit code is passed on, and the last line of what it printed says why."""
    stand_in("echo old >&2; echo 'the home is damaged' >&2; exit 9")
    home = short_dir / "home"

    with pytest.raises(Stop) as stop:
        start(place(home))

    assert stop.value.code == 9
    assert stop.value.message == "kbd did not start: the home is damaged"


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ('{"event": "failed", "error": "the log is damaged"}', "the log is damaged"),
        ('{"event": "stopping"}', "stopping"),
        ("an older kbd wrote text", "an older kbd wrote text"),
        ("[1]", "[1]"),
    ],
)
def test_an_early_end_is_told_by_the_log(
    short_dir: Path, stand_in: StandIn, last: str, told: str
) -> None:
    """By the last entry of this start, where nothing was printed."""
    log = short_dir / "home" / "daemon" / LOG_NAME
    log.parent.mkdir(parents=True, mode=0o700)
    log.write_text('{"event": "failed", "error": "of before"}\n')
    stand_in(f"echo '{last}' >> {log}; exit 9")

    with pytest.raises(Stop) as stop:
        start(place(short_dir / "home"))

    assert stop.value.message == f"kbd did not start: {told}"


def test_what_another_start_logged_is_not_told(short_dir: Path, stand_in: StandIn) -> None:
    """An entry of before says nothing about this one."""
    log = short_dir / "home" / "daemon" / LOG_NAME
    log.parent.mkdir(parents=True, mode=0o700)
    log.write_text('{"event": "failed", "error": "of before"}\n')
    stand_in("exit 9")

    with pytest.raises(Stop) as stop:
        start(place(short_dir / "home"))

    assert stop.value.message == "kbd did not start: it ended without a word"


def test_an_end_by_a_signal_is_a_start_that_failed(short_dir: Path, stand_in: StandIn) -> None:
    """A daemon that was killed ends `kbd start` with the code of one that does not answer."""
    stand_in("kill -9 $$")

    with pytest.raises(Stop) as stop:
        start(place(short_dir / "home"))

    assert stop.value.code == UNREACHABLE


def test_the_home_is_private_from_the_start(short_dir: Path, stand_in: StandIn) -> None:
    """Home and folder of the log belong to the user alone."""
    stand_in("exit 1")
    home = short_dir / "home"

    with pytest.raises(Stop):
        start(place(home))

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "daemon")]
    assert modes == [0o700, 0o700]


def test_what_is_started_is_a_daemon_in_that_home(short_dir: Path, stand_in: StandIn) -> None:
    """The child is `kbd daemon` with home and socket as absolute paths, away from this folder."""
    stand_in('echo "$@ in $(pwd)" >&2; exit 1')

    with pytest.raises(Stop) as stop:
        start(place(short_dir), "--backend", "trio")

    called = f"-P -m kbd daemon --home {short_dir} --socket {short_dir}/kbd.sock"
    called += " --log-to file --backend trio"
    assert stop.value.message == f"kbd did not start: {called} in /"


def test_a_lost_race_is_a_start(
    short_dir: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another start was quicker (exit code 75), its daemon is the one to speak to."""
    stand_in("exit 75")
    other: list[ScriptedDaemon] = []

    def sleep(_seconds: float) -> None:
        if not other:
            other.append(ScriptedDaemon(short_dir / "kbd.sock", {"EngineGetInfo": {}}))

    monkeypatch.setattr("kbd.cli.start.time.sleep", sleep)
    try:
        start(place(short_dir)).close()
    finally:
        other[0].close()

    assert other[0].methods() == ["EngineGetInfo"]


def test_a_home_that_is_taken_ends_with_75(
    short_dir: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another daemon has the home but answers at another socket: said so, with its code."""
    stand_in("exit 75")
    monkeypatch.setattr("kbd.cli.start.START_TIMEOUT_S", 0.3)

    with pytest.raises(Stop) as stop:
        start(place(short_dir))

    assert stop.value.code == 75


def test_up_leaves_a_running_daemon_alone(
    daemon: ScriptedDaemon, short_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`kbd up` twice is `kbd up` once."""
    assert main(["--home", str(short_dir), "up"]) == 0
    assert "already running (process 4711)" in capsys.readouterr().out
