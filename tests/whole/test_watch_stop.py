"""A daemon that is stopped in the middle of a watch's run goes on with it at the next start."""

import time
from pathlib import Path

import pytest

from real_daemon import RealDaemon
from whole.watched import Watched, eventually

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

SLOW = """
import os, anyio, kbd_offline
complete = kbd_offline.OfflineProvider.complete
async def slow(self, request, access, emit):
    open(os.environ["ASKED"], "a").close()
    while os.path.exists(os.environ["HELD"]):
        await anyio.sleep(0.02)
    return await complete(self, request, access, emit)
kbd_offline.OfflineProvider.complete = slow
"""
"""A model that answers nothing while a file is there, and leaves another when it is asked."""


@pytest.mark.parametrize(("first", "second"), [("asyncio", "trio"), ("trio", "asyncio")])
def test_a_stop_is_no_failure_of_the_run(short_dir: Path, first: str, second: str) -> None:
    """Stopped while the model is asked: exit 0, no outcome; then the one run is published."""
    place = short_dir.resolve()
    asked, held = place / "asked", place / "held"
    held.touch()
    paths = {"ASKED": str(asked), "HELD": str(held)}
    daemon = RealDaemon(place / "h", first, paths, SLOW)
    daemon.start()
    try:
        inbox = Watched(daemon, place).inbox("in")
        inbox.drop("a.csv")
        eventually("the model is not asked", asked.exists)
        began_s = time.monotonic()
        assert daemon.stop() == 0
        print(f"{first}: stopped in {time.monotonic() - began_s:.2f} s")
        daemon.backend = second
        daemon.start()
        assert [event["type"] for event in inbox.recorded()] == [
            "WatchAdded", "FileLanded", "WatchRunStarted",
        ]  # fmt: skip
        held.unlink()
        shown = inbox.settled(1)
        recorded = [event["type"] for event in inbox.recorded()]
    finally:
        held.unlink(missing_ok=True)
        daemon.stop()

    assert shown["outcomes"] == {"published": 1}
    assert recorded.count("WatchRunStarted") == recorded.count("WatchRunFinished") == 1
    assert len(inbox.delivered()) == 1
