"""What the real daemon tells of damage that it found while it was idle, until it is mended."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from damaged_logs import flip, frame_of, last_segment
from kbd.cli import main
from kbd.events.frame import BODY_AT
from real_daemon import RealDaemon

Captured = pytest.CaptureFixture[str]

PREFACE = """
import time
from kbd.core.sessions.scrub import scrubber
scrubber.IDLE_S, scrubber.CHECK_S = 0.2, 0.2
now_ns = time.time_ns
"""
LATER = "time.time_ns = lambda: now_ns() + 400 * 86_400 * 10**9"


@pytest.fixture
def old(short_dir: Path, anyio_backend: str) -> Iterator[RealDaemon]:
    """A daemon that finds its home more than a year later each time it starts, and idles soon."""
    environment = {"KBD_SCRUB_DAYS": "1"}
    running = RealDaemon(short_dir / "home", anyio_backend, environment, PREFACE + LATER)
    yield running
    running.stop()


@pytest.fixture
def kbd(old: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run a command in this process with the daemon's home, and return its exit code."""
    monkeypatch.delenv("KBD_SOCKET", raising=False)
    monkeypatch.setenv("KBD_HOME", str(old.home))
    return lambda *arguments: main(arguments)


def _made(old: RealDaemon) -> tuple[str, str]:
    """Make a home of two workbenches with a daemon of today."""
    source = old.home.parent / "a.csv"
    source.write_text("Shop,Amount\nBaker,1\n")
    young = RealDaemon(old.home, old.backend)
    young.start()
    first, second = (young.workbench(source, name=name) for name in ("taxes", "rents"))
    young.stop()
    return first, second


def _until(true: Callable[[], Any]) -> Any:
    """Wait until something is true, not asking more often than the daemon may idle."""
    deadline = time.monotonic() + 60
    while not (found := true()):
        assert time.monotonic() < deadline
        time.sleep(1.5)
    return found


def _found(old: RealDaemon, kind: str) -> list[dict[str, Any]]:
    return [each["data"] for each in old.events("daemon") if each["type"] == kind]


def test_damage_is_told_everywhere_until_it_is_mended(
    old: RealDaemon, kbd: Callable[..., int], capsys: Captured
) -> None:
    """By status, doctor, lists, log and metrics, with a daemon and without; then nowhere."""
    taxes, _ = _made(old)
    (blob,) = (old.home / "workbenches" / taxes / "blobs").glob("?" * 64)
    flip(blob, 0)
    old.start()
    (found,) = _until(lambda: _found(old, "DamageFound"))
    assert (found["workbench_id"], found["kind"], found["seq"]) == (taxes, "blob damaged", 2)
    assert found["file"].endswith(blob.name)

    assert kbd("status") == 1
    assert "1 damaged" in capsys.readouterr().out
    assert kbd("doctor") == 1
    assert "1 workbench is damaged" in capsys.readouterr().out
    assert kbd("wb", "list", "--status", "damaged") == 1
    listed = capsys.readouterr()
    assert taxes in listed.out
    assert "blob damaged" in listed.err
    assert kbd("wb", "show", "taxes") == 0
    assert "can only be read" not in capsys.readouterr().out
    assert kbd("log", "taxes") == 0
    assert "This is not all" not in capsys.readouterr().err
    assert kbd("log", "daemon") == 0
    assert f"damage found in workbench {taxes}: blob damaged" in capsys.readouterr().out
    text = old.ask("DaemonGetMetrics")["text"]
    assert "\nkbd_scrub_faults 1\n" in text
    assert "\nkbd_logs_damaged 1\n" in text
    old.stop()
    assert kbd("doctor") == 1
    assert f"{taxes} (taxes): blob damaged" in capsys.readouterr().out

    assert kbd("repair") == 0
    capsys.readouterr()
    old.start()
    (mended,) = _until(lambda: _found(old, "DamageMended"))
    assert mended == {key: found[key] for key in ("workbench_id", "kind", "file")}
    assert kbd("status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["damaged"] == 0
    assert kbd("doctor") == 0


def test_status_says_when_all_was_verified(
    old: RealDaemon, kbd: Callable[..., int], capsys: Captured
) -> None:
    """Within which time all was; `kbd verify` does it at once, and that of one is shown with it."""
    _made(old)
    old.start()
    assert kbd("verify") == 0
    capsys.readouterr()
    assert kbd("status") == 0
    assert "  verified     all within 1 day\n" in capsys.readouterr().out
    scrub = json.loads(json.dumps(old.ask("EngineGetInfo")["scrub"]))
    assert (scrub["days"], scrub["logs"], scrub["overdue"]) == (1, 3, 0)
    assert scrub["oldest_s"] < 60
    assert kbd("wb", "show", "taxes") == 0
    assert "checked" in capsys.readouterr().out


def test_damage_of_the_daemons_own_log_is_told(
    old: RealDaemon, kbd: Callable[..., int], capsys: Captured
) -> None:
    """Of a part that nobody reads while the daemon runs: by status and doctor, and recorded."""
    _made(old)
    segment = last_segment(old.home / "daemon" / "log")
    place = frame_of(segment, "WorkbenchCreated")[0] + BODY_AT + 3
    old.start()
    flip(segment, place)
    told = _until(lambda: old.ask("EngineGetInfo").get("damage"))
    assert told.startswith(f"damaged ({segment.name}, event ")
    assert kbd("status") == 1
    assert segment.name in capsys.readouterr().out
    assert kbd("doctor") == 1
    assert b"DamageFound" in segment.read_bytes()
