"""A daemon that is killed after many events left a snapshot: the next need not replay them all."""

import time
from pathlib import Path
from typing import Any

import pytest

from events.logs import Unsynced
from kbd.core.store.snapshotting import SNAPSHOT_EVENTS
from kbd.events import EventLog, codec
from kbd.events.workbenches import ModelChosen, WorkbenchCreated
from kbd.types import WorkbenchId
from real_daemon import RealDaemon

pytestmark = pytest.mark.full

BENCH = WorkbenchId("00112233445566ff")
WAIT_S = 60.0


def _lay_down(home: Path) -> None:
    """Make a home with one workbench that has a long log and no snapshot."""
    home.mkdir(mode=0o700)
    created = codec.wrap_event(WorkbenchCreated(BENCH, "long"), 1)
    daemon = EventLog.open(home / "daemon" / "log", disk=Unsynced())
    daemon.append([created])
    daemon.close()
    log = EventLog.open(home / "workbenches" / BENCH / "log", disk=Unsynced())
    log.append([created])
    for first in range(0, SNAPSHOT_EVENTS, 500):
        log.append([codec.wrap_event(ModelChosen(f"p:{first + n}"), 2) for n in range(500)])
    log.close()


def _waited_for(folder: Path) -> Path:
    deadline = time.monotonic() + WAIT_S
    while not (found := list(folder.glob("*.snap"))):
        assert time.monotonic() < deadline, "no snapshot was made"
        time.sleep(0.05)
    return found[0]


def _told(daemon: RealDaemon) -> dict[str, Any]:
    """What the workbench's state says, without what it takes on the disk."""
    told: dict[str, Any] = daemon.ask("WorkbenchOpen", workbench_id=BENCH)["workbench"]
    return {name: value for name, value in told.items() if "bytes" not in name}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_killed_daemon_left_a_snapshot(short_dir: Path, backend: str) -> None:
    """Made by the running daemon, used by the next one, and not needed by the one after it."""
    home = short_dir / "h"
    _lay_down(home)
    daemon = RealDaemon(home, backend)
    daemon.start()
    try:
        assert _told(daemon)["default_model_id"] == f"p:{SNAPSHOT_EVENTS - 1}"
        snap = home / "workbenches" / BENCH / "snap"
        made = _waited_for(snap)
        daemon.ask("WorkshopSendUserMessage", workbench_id=BENCH, text="one more")
        daemon.kill()
        assert int(made.stem) >= SNAPSHOT_EVENTS
        kept = made.stat().st_mtime_ns

        daemon.start()
        messages = daemon.ask("WorkshopGetConversation", workbench_id=BENCH)
        after = _told(daemon)
        assert made.stat().st_mtime_ns == kept
        daemon.kill()

        made.unlink()
        daemon.start()
        assert _told(daemon) == after
        assert daemon.ask("WorkshopGetConversation", workbench_id=BENCH) == messages
        assert daemon.ask("LogVerify", workbench_id=BENCH)["ok"]
    finally:
        daemon.stop()
