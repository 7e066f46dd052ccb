"""Retention at work: nothing goes by surprise, whatever the clock says; prune and quota."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import anyio
import msgspec
import pytest

from kbd.core.api.files import FileMethods
from kbd.core.api.storage import StorageMethods, refuse_at_quota
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.runtime.settings import RetentionSettings, Settings
from kbd.core.server.dispatch import Session
from kbd.core.sessions import home_usage, indexed_logs, workbenches
from kbd.core.sessions.blob_collector import BlobCollector
from kbd.core.sessions.retention import Retention
from kbd.core.workbench.publish import publish
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, QuotaReached
from kbd.events.base import Actor
from kbd.events.workbenches import (
    RetentionPlanned,
    TraceSent,
    WorkbenchArchived,
    WorkbenchDeleted,
)
from kbd.requests import storage as wire
from kbd.requests.workbenches import WorkbenchFilesAdd
from kbd.types import WorkbenchId
from retained_landings import PERSON, MovedClock, recorded
from supervised import Supervised, draft, supervised

pytestmark = pytest.mark.anyio

DAY_S = 86_400
SESSION = cast("Session", SimpleNamespace(actor=PERSON))
BOTH = Settings(retention=RetentionSettings(1, 1))


async def publish_all(bench: OpenWorkbench, clock: MovedClock, actor: Actor | None) -> None:
    """Publish the draft, for a person or for nobody."""
    await publish(
        bench.acting(actor), clock, names=None, keep_both=False, accept_external=False,
        progress=lambda _: None,
    )  # fmt: skip


async def settled(
    running: Supervised, clock: MovedClock, content: str = "x", actor: Actor | None = PERSON
) -> OpenWorkbench:
    """Make a workbench in which a person published."""
    bench = await running.bench()
    await draft(bench, a__txt=content)
    await publish_all(bench, clock, actor)
    publishes = bench.state.publishes
    while any(publishes.at(n).receipt is None for n in range(len(publishes))):  # noqa: ASYNC110
        await anyio.sleep(0.01)
    return bench


async def pass_days(running: Supervised, clock: MovedClock, *days: float) -> None:
    """Have days pass, and apply the rules after each step."""
    for each in days:
        clock.move(each * DAY_S)
        await running.retention.apply()


async def test_what_is_settled_is_archived_announced_and_removed(tmp_path: Path) -> None:
    """Each at its time, with its reason; a draft stays for ever."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        bench, drafted = await settled(running, clock), await running.bench()
        await draft(drafted, a__txt="waits")
        await pass_days(running, clock, 0.9)
        assert await recorded(running, WorkbenchArchived) == []
        await pass_days(running, clock, 0.2)
        (archived,) = await recorded(running, WorkbenchArchived)
        assert archived.workbench_id == bench.id
        assert archived.reason.startswith("[retention] archive_after_days = 1: seen by a person,")
        await pass_days(running, clock, 1)
        (planned,) = await recorded(running, RetentionPlanned)
        assert (planned.count, planned.reason) == (1, "this is the first time")
        (notice,) = running.retention.notices()
        assert notice.startswith("1 archives are removed from ")
        # As often as it looks: the day is waited for.
        await pass_days(running, clock, 0.4, 0.4)
        assert await recorded(running, WorkbenchDeleted) == []
        await pass_days(running, clock, 0.3)
        (removed,) = await recorded(running, WorkbenchDeleted)
        assert removed.reason.startswith("[retention] remove_after_days = 1: archived on ")
        assert running.retention.notices() == ()
        await pass_days(running, clock, 2, 2)
        assert running.benches.ids() == (drafted.id,)


async def archived_home(running: Supervised, clock: MovedClock) -> None:
    """Have a workbench archived a day ago, and its removal announced a day ago."""
    await settled(running, clock)
    await pass_days(running, clock, 1.1, 1.1)
    assert len(await recorded(running, RetentionPlanned)) == 1
    clock.move(1.1 * DAY_S)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("jump_days", [400, 3.1, -10])
async def test_a_clock_that_jumps_removes_nothing(tmp_path: Path, jump_days: float) -> None:
    """Neither while nothing is recorded, nor beside an event; a day later it does."""
    for is_busy in (False, True):
        clock, home = MovedClock(), tmp_path / f"{is_busy}"
        async with supervised(home, BOTH, clock=clock) as running:
            await archived_home(running, clock)
            clock.move(jump_days * DAY_S)
            if is_busy:
                sent = TraceSent(WorkbenchId("0" * 16), 1, "x", "/", 1)
                await running.benches.daemon.submit(RecordDaemon((sent,)))
            await running.retention.apply()
            assert await recorded(running, WorkbenchDeleted) == []
            if jump_days > 0:
                await pass_days(running, clock, 0.9)
                assert await recorded(running, WorkbenchDeleted) == []
                await pass_days(running, clock, 0.2)
                assert len(await recorded(running, WorkbenchDeleted)) == 1


async def test_a_shortened_setting_is_announced_anew(tmp_path: Path) -> None:
    """Over a restart, too: what was announced was something else."""
    clock = MovedClock()
    async with supervised(
        tmp_path / "h", Settings(retention=RetentionSettings(1, 3)), clock=clock
    ) as running:
        await settled(running, clock)
        await pass_days(running, clock, 1.1)
        clock.move(2 * DAY_S)
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        await running.retention.apply()
        await pass_days(running, clock, 0.9)
        assert await recorded(running, WorkbenchDeleted) == []
    never = Settings(retention=RetentionSettings(1, 0))
    async with supervised(tmp_path / "h", never, clock=clock) as running:
        await pass_days(running, clock, 2)
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        await running.retention.apply()
        planned = [each.remove_after_days for each in await recorded(running, RetentionPlanned)]
        assert planned == [1, 0, 1]
        await pass_days(running, clock, 1.1)
        assert len(await recorded(running, WorkbenchDeleted)) == 1


async def test_what_is_asked_for_again_rests_anew(tmp_path: Path) -> None:
    """Who opened an archived workbench has it for as long as any other."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        bench = await settled(running, clock)
        await pass_days(running, clock, 1.1)
        await running.benches.open(bench.id)
        await pass_days(running, clock, 0.9)
        assert running.benches.known(bench.id).archive is None
        await pass_days(running, clock, 0.2)
        assert running.benches.known(bench.id).archive is not None


async def test_nothing_is_done_where_nothing_is_set(tmp_path: Path) -> None:
    """By default a home keeps everything."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", clock=clock) as running:
        await settled(running, clock)
        await pass_days(running, clock, 400, 400, 400)
        assert await recorded(running, WorkbenchArchived) == []
        assert await running.retention.upcoming(5) == []


async def prune(running: Supervised, days: float, **options: bool) -> wire.StoragePruned:
    """Prune what is so old."""
    methods = StorageMethods(running.context, running.benches, running.retention)
    request = wire.StoragePrune(older_s=int(days * DAY_S), **options)
    return await methods.prune(request, SESSION)


async def test_prune_does_what_was_told_and_keeps_what_is_held(tmp_path: Path) -> None:
    """A dry run says the same and does nothing; archives go only where that is said."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", clock=clock) as running:
        bench, drafted = await settled(running, clock), await running.bench()
        await draft(drafted, a__txt="waits")
        fresh = await prune(running, 1, dry_run=True)
        assert (fresh.archived, fresh.total) == (0, 0)
        clock.move(2 * DAY_S)
        would = await prune(running, 1, dry_run=True, archives=True)
        assert running.benches.known(bench.id).archive is None
        done = await prune(running, 1, archives=True)
        assert (would.archived, would.kept) == (done.archived, done.kept)
        assert done.kept == {"a draft is open": 1}
        # What is archived by it is not removed by it.
        assert (done.removed, done.archive_bytes > 0) == (0, True)
        (archived,) = await recorded(running, WorkbenchArchived)
        assert archived.reason.startswith("kbd prune asked for it: 1 days, unchanged since ")
        clock.move(2 * DAY_S)
        assert (await prune(running, 1)).removed == 0
        assert (await prune(running, 1, archives=True, dry_run=True)).removed == 1
        assert (await prune(running, 1, archives=True)).removed == 1
        (removed,) = await recorded(running, WorkbenchDeleted)
        assert removed.reason.startswith("kbd prune asked for it: 1 days, archived on ")


async def test_storage_tells_what_takes_the_disk_and_what_goes_when(tmp_path: Path) -> None:
    """Page by page, with the reason why a workbench stays, or the day on which it goes."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        bench, drafted = await settled(running, clock, "x" * 100_000), await running.bench()
        await draft(drafted, a__txt="waits")
        methods = StorageMethods(running.context, running.benches, running.retention)
        first = await methods.get(wire.StorageGet(limit=1), SESSION)
        assert [each.workbench_id for each in first.workbenches] == [bench.id]
        assert isinstance(first.next_cursor, str)
        rest = await methods.get(
            wire.StorageGet(limit=1, cursor=first.next_cursor),
            SESSION,
        )
        (other,) = rest.workbenches
        assert (other.held, rest.next_cursor) == ("a draft is open", msgspec.UNSET)
        shares = msgspec.structs.asdict(first.shares)
        assert sum(shares.values()) == first.total_bytes == first.quota.used_bytes
        assert shares["blobs"] > 100_000
        (goes,) = first.upcoming
        assert (goes.workbench_id, goes.action) == (bench.id, "archive")
        assert goes.due_at == first.workbenches[0].archive_at
        await running.benches.archives.archive(bench.id, "for a test")
        packed = await methods.get(wire.StorageGet(), SESSION)
        (row,) = (each for each in packed.workbenches if each.workbench_id == bench.id)
        assert (row.archive_at, bool(row.remove_at)) == (msgspec.UNSET, True)
        assert packed.upcoming[0].due_at == row.remove_at
        (rule,) = first.retention
        assert (rule.name, rule.archive_after_days, rule.remove_after_days) == ("[retention]", 1, 1)


async def test_at_the_quota_what_grows_is_refused_until_there_is_room(tmp_path: Path) -> None:
    """With its code and what helps; a person's work is brought to its end all the same."""
    clock = MovedClock()
    settings = Settings(retention=RetentionSettings(quota_bytes=500_000))
    asked: list[str] = []

    async def add(request: WorkbenchFilesAdd, session: object) -> None:
        asked.append(request.workbench_id)

    async with supervised(tmp_path / "h", settings, clock=clock) as running:
        usage = running.context.usage
        add_files = refuse_at_quota(usage, {WorkbenchFilesAdd: add})[WorkbenchFilesAdd]
        request = WorkbenchFilesAdd(workbench_id=WorkbenchId("0" * 16), source_paths=())
        await usage.measure()
        assert (usage.status, usage.warning) == ("below", "")
        await add_files(request, SESSION)
        bench = await running.bench(big__txt="x" * 600_000)
        await draft(bench, a__txt="x")
        await usage.measure()
        assert usage.status == "reached"
        with pytest.raises(QuotaReached) as refused:
            await add_files(request, SESSION)
        assert refused.value.code == "QUOTA_REACHED"
        assert refused.value.retryable
        assert refused.value.detail["quota_bytes"] == 500_000
        # It is measured anew before anybody is refused by an old figure.
        await publish_all(bench, clock, PERSON)
        await running.benches.delete(bench.id)
        await anyio.sleep(1.1)
        await add_files(request, SESSION)
        assert len(asked) == 2


QUOTA = Settings(retention=RetentionSettings(quota_bytes=500_000))


async def test_what_is_written_counts_before_it_is_measured(tmp_path: Path) -> None:
    """Who comes between two measurements is not let in by a figure of the first."""
    async with supervised(tmp_path / "h", QUOTA) as running:
        usage, bench = running.context.usage, await running.bench()
        measured = (await usage.measure()).total
        await bench.blobs.put(b"x" * 600_000)
        assert usage.sizes.total == measured
        assert (usage.status, usage.used_bytes >= measured + 600_000) == ("reached", True)
        with pytest.raises(QuotaReached) as refused:
            usage.check_room()
        assert refused.value.detail["used_bytes"] == usage.used_bytes


async def test_what_was_removed_since_lets_others_in_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is counted is the most that may be there: nobody is refused by it alone."""
    monkeypatch.setattr(home_usage, "REFUSED_MEASURE_S", 0.0)
    async with supervised(tmp_path / "h", QUOTA) as running:
        usage, bench = running.context.usage, await running.bench()
        await usage.measure()
        bench.blobs.store.remove([await bench.blobs.put(b"x" * 600_000)])
        assert usage.warning.startswith("the home takes ")
        await usage.require_room()
        assert usage.warning == ""


async def test_a_large_folder_is_measured_for_the_quota_though_it_is_not_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index may let it wait; what was written into it would be forgotten meanwhile."""
    monkeypatch.setattr(indexed_logs, "_SIZED_SHARE", 1 << 40)
    async with supervised(tmp_path / "h", QUOTA) as running:
        usage, bench = running.context.usage, await running.bench()
        await usage.measure()
        await bench.blobs.put(b"x" * 600_000)
        assert (await usage.measure()).blobs >= 600_000
        assert usage.status == "reached"


async def test_one_request_passes_the_quota_by_one_file_at_most(tmp_path: Path) -> None:
    """Those that were copied before are added, and the rest say why they are not."""
    sources = [tmp_path / f"{number}.txt" for number in range(8)]
    for path in sources:
        path.write_bytes(path.name.encode() * 20_000)
    async with supervised(tmp_path / "h", QUOTA) as running:
        usage, bench = running.context.usage, await running.bench()
        await usage.measure()
        request = WorkbenchFilesAdd(bench.id, tuple(map(str, sources)))
        added = await FileMethods(running.context, running.benches).add(request, SESSION)
        statuses = [each.status for each in added.add_results]
        count = statuses.count("added")
        assert statuses == ["added"] * count + ["skipped"] * (8 - count)
        assert 0 < count < 8
        assert "of its quota of 488.3 KiB" in str(added.add_results[-1].reason)
        # Each lies in the store and among the published files.
        assert (await usage.measure()).blobs < 500_000 + sources[0].stat().st_size


async def test_nothing_is_removed_while_the_daemons_log_is_damaged(tmp_path: Path) -> None:
    """What it hides may be what holds a workbench."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        await settled(running, clock)
        clock.move(2 * DAY_S)
        running.benches.daemon.journal.log.damage = KbdError("a byte")  # type: ignore[assignment]
        await Retention(running.context, running.benches).apply()
        assert await recorded(running, WorkbenchArchived) == []


async def test_a_person_is_told_apart_from_a_rule(tmp_path: Path) -> None:
    """What nobody asked for is not seen by a person, and stays without a retention of its own."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        bench = await settled(running, clock, actor=None)
        await pass_days(running, clock, 2)
        assert running.benches.known(bench.id).archive is None
        assert (await prune(running, 1)).kept == {
            "a rule without a retention of its own published it, and no person looked at it": 1
        }


async def test_what_is_held_is_not_removed_though_a_person_archived_it(tmp_path: Path) -> None:
    """To archive something by hand is not to have looked at it; prune says why it stays."""
    clock = MovedClock()
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        bench = await settled(running, clock, actor=None)
        await running.benches.archives.archive(bench.id, "it was asked for", PERSON)
        await pass_days(running, clock, 1.1, 1.1, 1.1, 1.1)
        assert await recorded(running, RetentionPlanned) == []
        done = await prune(running, 1, archives=True)
        assert (done.removed, list(done.kept.values())) == (0, [1])
        assert await recorded(running, WorkbenchDeleted) == []


async def test_who_makes_room_does_not_wait_for_the_next_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prune that removes an archive, and a rule, have the collector begin; no other prune has."""
    monkeypatch.setattr(workbenches, "IDLE_S", 0.0)
    clock, woken = MovedClock(), list[str]()
    async with supervised(tmp_path / "h", clock=clock) as running:
        bench, left = await settled(running, clock), await running.bench(a__txt="stays")
        loose = await left.blobs.put(b"left over")
        store = left.blobs.store
        collector = BlobCollector(running.context, running.benches)
        running.retention.observe_removals(lambda: woken.append("removed"))
        running.retention.observe_removals(collector.wake)
        clock.move(2 * DAY_S)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collector.run)
            assert (await prune(running, 1, archives=True)).archived == 1
            clock.move(2 * DAY_S)
            assert (await prune(running, 1, archives=True, dry_run=True)).removed == 1
            assert woken == []
            assert store.look(loose) is not None
            assert (await prune(running, 1, archives=True)).removed == 1
            with anyio.fail_after(30):
                while store.look(loose) is not None:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        assert woken == ["removed"]
        # Its own went with it: no workbench has blobs of another.
        assert not running.folders(bench).root.exists()
        assert not running.home.archive(bench.id).exists()


async def test_a_rule_that_removes_tells_it_once_for_all(tmp_path: Path) -> None:
    """Behind the last of them, and not where nothing was due."""
    clock, woken = MovedClock(), list[int]()
    async with supervised(tmp_path / "h", BOTH, clock=clock) as running:
        running.retention.observe_removals(lambda: woken.append(len(running.benches.ids())))
        await settled(running, clock)
        await archived_home(running, clock)
        assert woken == []
        await pass_days(running, clock, 0, 0)
        assert woken == [0]
