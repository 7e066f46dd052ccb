"""Files land day after day under a retention of a day: the disk stays flat, nothing unseen goes."""

from pathlib import Path

import pytest

from kbd.core.runtime.settings import RetentionSettings
from kbd.events.workbenches import RetentionPlanned, WorkbenchArchived, WorkbenchDeleted
from retained_landings import KINDS, landed_home

pytestmark = [pytest.mark.anyio, pytest.mark.full]

DAYS, A_DAY = 8, 12
SETTLED_FROM = 4
"""From this day on as much goes as comes: archived, announced and removed."""


async def test_the_disk_is_flat_and_what_nobody_has_seen_stays(tmp_path: Path) -> None:
    """Exactly what is held is left, and the daemon's log says of each removal why."""
    once = {"review": 4, "unset": 3, "broken": 2, "kept": 2}
    async with landed_home(tmp_path, RetentionSettings(1, 1)) as home:
        await home.land({**once, "own": A_DAY})
        await home.review(2)
        days = [await home.end_day()]
        for _ in range(DAYS):
            await home.land({"own": A_DAY})
            days.append(await home.end_day())
        # What landed last is archived, and then removed.
        days += [await home.end_day() for _ in range(3)]

        # Two of the drafts were published by a person, and are gone as what the rule published.
        assert home.kinds_there() == {"review": 2, "unset": 3, "broken": 2, "kept": 2}
        asked = await home.running.retention.prune(0, archives=False, dry_run=True)
        failed = [reason for reason in asked.holds if "failed" in reason]
        (unreviewed,) = (reason for reason in asked.holds if "not reviewed" in reason)
        assert [asked.holds[reason] for reason in (*failed, unreviewed)] == [2, 2]
        archived = await home.recorded(WorkbenchArchived)
        removed = await home.recorded(WorkbenchDeleted)
        settled = days[SETTLED_FROM : DAYS + 1]
        assert len(archived) == len(removed) == (DAYS + 1) * A_DAY + 2
        assert {each.folders for each in settled} == {9}
        assert {each.archived for each in settled} == {A_DAY}
        assert days[-1].archived == 0
        assert all("remove_after_days = 1: archived on " in each.reason for each in removed)
        assert all("archive_after_days = 1: " in each.reason for each in archived)
        assert all("unchanged since " in each.reason for each in archived)
        planned = {each.watch_id: each for each in await home.recorded(RetentionPlanned)}
        # Only those are told of whose archives were due.
        assert set(planned) == {"", f"{KINDS.index('own'):016x}"}
        # But for the log itself nothing grows with what has gone.
        without_log = [each.disk_bytes - each.log_bytes for each in settled]
        assert max(without_log) - min(without_log) < 2_000_000
