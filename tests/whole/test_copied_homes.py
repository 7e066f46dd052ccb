"""Two copies of a home: each has its lock and its epoch, and the second is told what it is."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from backends import halved
from kbd.client.blocking import RemoteError
from kbd.events.codec import wrap_event
from kbd.events.drafts import CheckpointCreated
from kbd.events.log import EventLog
from real_daemon import RealDaemon

pytestmark = [halved, pytest.mark.full, pytest.mark.timeout(180)]


@contextmanager
def _running(home: Path, backend: str) -> Iterator[RealDaemon]:
    daemon = RealDaemon(home, backend)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


def _kbd(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kbd", "--home", str(home), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def _start(daemon: RealDaemon) -> dict[str, Any]:
    """Return the newest event of a start."""
    events = daemon.events("daemon")
    found: dict[str, Any] = [e["data"] for e in events if e["type"] == "DaemonStarted"][-1]
    return found


def _place(home: Path) -> dict[str, Any]:
    found = home.stat()
    return {"folder": str(home), "device": found.st_dev, "inode": found.st_ino}


def _copy(home: Path, copy: Path) -> None:
    subprocess.run(["cp", "-a", str(home), str(copy)], check=True)


def _warnings(daemon: RealDaemon) -> tuple[str, list[str], bool]:
    """Return what is said by the daemon, by `kbd doctor`, and whether its log has it, too."""
    told = daemon.ask("EngineGetInfo").get("home_warning", "")
    doctor = _kbd(daemon.home, "doctor").stdout.splitlines()
    # Mode and free space have lines of their own.
    lines = [each for each in doctor if " home " in each and "has mode" not in each]
    return told, lines, "home_known_elsewhere" in daemon.log.read_text()


def test_a_copy_beside_the_first_is_told(short_dir: Path, anyio_backend: str) -> None:
    """Copied while the first one runs: both run, with locks of their own, the second is warned."""
    home, copy = short_dir / "h", short_dir / "c"
    with _running(home, anyio_backend) as first:
        file = short_dir / "a.txt"
        file.write_text("old")
        workbench_id = first.workbench(file)
        assert _warnings(first) == ("", [], False)
        _copy(home, copy)
        with _running(copy, anyio_backend) as second:
            started = _start(second)
            assert started["known_at"] == _place(home)
            assert started["home"] == _place(copy) != _place(home)
            assert started["is_copy"]
            assert started["epoch"] == _start(first)["epoch"] + 1
            told, lines, is_logged = _warnings(second)
            place = _place(home)
            assert f"is a copy of {home} (device {place['device']}, inode {place['inode']})" in told
            assert [each.startswith("WRONG home ") and told in each for each in lines] == [True]
            assert is_logged
            shown = _kbd(copy, "log", "daemon").stdout
            assert "this home is a copy of" in " ".join(shown.split())
            for daemon in (first, second):
                other = _kbd(daemon.home, "daemon")
                assert (other.returncode, "another daemon" in other.stderr) == (75, True)
                assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]
                names = daemon.ask("WorkbenchFilesList", workbench_id=workbench_id)["files"]
                assert [row["path"] for row in names] == ["a.txt"]
            # As long as both are there: not for one start alone.
            assert second.stop() == 0
            second.start()
            assert _start(second)["known_at"] == _place(home)
            assert _warnings(second)[0] == told
            assert _warnings(first) == ("", [], False)
    with _running(home, anyio_backend) as first:
        assert _warnings(first) == ("", [], False)
    # Without the first it is a home like any other.
    shutil.rmtree(home)
    with _running(copy, anyio_backend) as second:
        assert "known_at" not in _start(second)
        assert _warnings(second)[:2] == ("", [])


def _move(home: Path, target: Path) -> None:
    home.rename(target)


def _copy_away(home: Path, target: Path) -> None:
    _copy(home, target)
    shutil.rmtree(home)


@pytest.mark.parametrize(("way", "warned"), [(_move, False), (_copy_away, True)])
def test_a_home_that_was_moved(
    short_dir: Path, anyio_backend: str, way: Callable[[Path, Path], None], warned: bool
) -> None:
    """The same folder under another name is the same; one in its place is told of once."""
    home, target = short_dir / "h", short_dir / "m"
    with _running(home, anyio_backend):
        place = _place(home)
    way(home, target)
    with _running(target, anyio_backend) as daemon:
        started = _start(daemon)
        assert started.get("known_at") == (place if warned else None)
        assert not started.get("is_copy")
        told, lines, is_logged = _warnings(daemon)
        assert (told.startswith("this home was moved, copied or restored"), is_logged) == (
            warned, warned,
        )  # fmt: skip
        assert [each[:6] for each in lines] == ["-     "] * warned
        assert daemon.stop() == 0
        daemon.start()
        assert daemon.ask("EngineGetInfo").get("home_warning") is None


def test_a_backup_restored_beside_the_original(short_dir: Path, anyio_backend: str) -> None:
    """It has another epoch and says where it is from; the path in a backup is not looked at."""
    home, again = short_dir / "h", short_dir / "r"
    with _running(home, anyio_backend) as first:
        first.ask("BackupCreate", target=str(short_dir / "b"))
        restored = _kbd(again, "restore", str(short_dir / "b"))
        assert restored.returncode == 0, restored.stderr
        with _running(again, anyio_backend) as second:
            started = _start(second)
            assert started["known_at"] == _place(home)
            assert "is_copy" not in started
            assert started["epoch"] == _start(first)["epoch"] + 1
            told = second.ask("EngineGetInfo")["home_warning"]
            assert told.startswith("this home was moved, copied or restored: it was known at")
            assert _start(first)["home"] == _place(home)


def test_a_copy_that_is_cut_off_is_only_read(short_dir: Path) -> None:
    """Of a copy that misses the last bytes no start goes on as if nothing had been there."""
    home = short_dir / "h"
    with _running(home, "asyncio") as first:
        first.ask("WorkbenchCreate", name="one")
    (segment,) = (home / "daemon" / "log").glob("*.kbl")
    size = segment.stat().st_size
    for cut in (1, 40, 400):
        copy = short_dir / f"c{cut}"
        _copy(home, copy)
        os.truncate(copy / "daemon" / "log" / segment.name, size - cut)
        verified = _kbd(copy, "verify")
        assert verified.returncode == 1
        with _running(copy, "asyncio") as second:
            assert "is damaged" in second.ask("EngineGetInfo")["damage"]
            assert [row["name"] for row in second.ask("WorkbenchList")["workbenches"]] == ["one"]
            with pytest.raises(RemoteError, match="nothing can be recorded in it"):
                second.ask("WorkbenchCreate", name="two")
        print("H12  cut off:", verified.stdout[-150:])


def test_a_copied_log_that_names_what_leads_elsewhere_is_told(
    short_dir: Path, anyio_backend: str
) -> None:
    """`kbd verify` says which event of which log; nothing else of it is wrong."""
    home = short_dir / "home"
    with _running(home, anyio_backend) as daemon:
        bench = daemon.ask("WorkbenchCreate", name="theirs")["workbench_id"]
        assert _kbd(home, "verify").returncode == 0
    log = EventLog.open(home / "workbenches" / bench / "log")
    log.append([wrap_event(CheckpointCreated("../../c1", "manual", "", ()), 1_700_000_000_000_000)])
    log.close()
    with _running(home, anyio_backend) as daemon:
        verified = daemon.ask("LogVerify", workbench_id=bench)
        assert not verified["ok"]
        (fault,) = verified["faults"]
        assert (fault["kind"], fault["seq"]) == ("name", log.seq)
        said = _kbd(home, "verify")
        assert said.returncode == 1
        assert "names what leads elsewhere: '../../c1'" in said.stdout
