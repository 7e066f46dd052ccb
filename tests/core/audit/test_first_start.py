"""The first start of a restored home does nothing that the original may be doing, and says so."""

from pathlib import Path

import msgspec
import pytest

from kbd.core.audit.restore import RESTORED_NAME, settle_restored
from kbd.core.domain.watch_decisions import RemoveWatch, StartNext
from kbd.core.domain.watch_state import LandingStage, WatchStatus
from kbd.events.watches import WatchRule
from kbd.types import WatchId
from landings import SetClock, daemon_log

pytestmark = pytest.mark.anyio


async def test_what_was_under_way_is_put_aside(tmp_path: Path) -> None:
    """Watches are paused with the reason, runs parked, commands not run; once, and as recorded."""
    home, clock = tmp_path / "h", SetClock()
    async with daemon_log(home, clock) as log:
        rule = WatchRule(name="in", folder="/in", prompt="work", on_outcome=("true",))
        for name in ("busy", "idle", "gone"):
            await log.add(name, rule)
            await log.land(name, "a.csv", "b.csv")
        for name in ("busy", "gone"):
            await log.keeper.submit(StartNext(WatchId(name), clock.now_us()))
        await log.keeper.submit(RemoveWatch(WatchId("gone")))

        await settle_restored(home, log.keeper)
        assert log.watch("busy").status is WatchStatus.ACTIVE, "it is no restored home"

        marker = home / RESTORED_NAME
        marker.write_text('{"created_at": "2026-11-22T13:37:00.000000Z"}')
        await settle_restored(home, log.keeper)
        busy, idle = log.watch("busy"), log.watch("idle")
        for watch in (busy, idle):
            assert watch.status is WatchStatus.PAUSED
            assert "2026-11-22 13:37 UTC" in watch.reason
            assert not watch.due
        stages = [landing.stage for landing in busy.landings.values()]
        assert stages == [LandingStage.PARKED, LandingStage.WAITING]
        assert [each.stage for each in idle.landings.values()] == [LandingStage.WAITING] * 2
        assert "gone" not in log.keeper.state.watching.watches
        assert not marker.exists()

        # A crash before the file was removed: all of it again, and it comes to the same.
        before = msgspec.json.encode(log.keeper.state.watching)
        marker.write_text('{"created_at": "2026-11-22T13:37:00.000000Z"}')
        await settle_restored(home, log.keeper)
        assert msgspec.json.encode(log.keeper.state.watching) == before
        marker.write_text("half a")
        await settle_restored(home, log.keeper)
        assert "unknown time" in log.watch("idle").reason
        assert not marker.exists()
