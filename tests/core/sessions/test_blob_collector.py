"""Collection of blobs: what nothing needs goes, what anything needs stays, and the log says so."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio.to_thread import run_sync

from backends import on_asyncio
from kbd.core.audit.home_logs import verify_home_log
from kbd.core.audit.home_repair import repair_blobs
from kbd.core.audit.moment_folder import write_moment
from kbd.core.domain.commands import RecordFacts, SendMessage
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.settings import RetentionSettings, Settings
from kbd.core.sessions import blob_collector, workbenches
from kbd.core.sessions.blob_collector import BlobCollector, Reclaimable
from kbd.core.sessions.fork import fork_workbench
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.draft_recovery import find_draft, list_ended, recover_draft
from kbd.core.workbench.publish import discard, publish
from kbd.core.workbench.rewind import restore_checkpoint, rewind_to
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import BlobCollected, LogCorrupt, ValidationFailed
from kbd.events.base import Fact
from kbd.events.blobs import BlobStore
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.retention import BlobsCollected, StorageReclaimed
from kbd.events.workbenches import FileAdded
from kbd.types import BlobHash, FileName, Seq
from supervised import CLOCK, Supervised, add, draft, supervised

pytestmark = pytest.mark.anyio

A, B = FileName("a.txt"), FileName("b.txt")
MONTH = Settings(retention=RetentionSettings(discarded_after_days=30))
HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a workbench be idle as soon as nothing is under way in it."""
    monkeypatch.setattr(workbenches, "IDLE_S", 0.0)


class _Anything:
    """Equal to anything, and so is what is added to it."""

    def __add__(self, other: object) -> "_Anything":
        return self

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


class _Later(SystemClock):
    """A clock that is ahead."""

    def __init__(self, ahead_us: int) -> None:
        self.ahead_us = ahead_us

    def now_us(self) -> int:
        """Return the time, so much later."""
        return super().now_us() + self.ahead_us


def _collector(running: Supervised, ahead_us: int = 2 * HOUR_US) -> BlobCollector:
    context = msgspec.structs.replace(running.context, clock=_Later(ahead_us))
    return BlobCollector(context, running.benches)


def _stored(running: Supervised, bench: OpenWorkbench) -> set[BlobHash]:
    return set(BlobStore(running.folders(bench).blobs).stored())


async def _put(bench: OpenWorkbench, text: str) -> BlobHash:
    return await bench.blobs.put(text.encode())


async def _told(running: Supervised) -> list[StorageReclaimed]:
    events = await running.benches.daemon.journal.read(Seq(0), 10_000)
    return [each.data for _, each in events if isinstance(each.data, StorageReclaimed)]


async def _recorded(running: Supervised, bench: OpenWorkbench) -> list[Fact]:
    opened = await running.benches.open(bench.id)
    events = await opened.keeper.journal.read(Seq(0), 10_000)
    return [record.data for _, record in events]


async def _collect_at_last(
    collector: BlobCollector, bench: OpenWorkbench
) -> tuple[Reclaimable, ...]:
    """Collect as soon as nothing is under way: the receipt of a publish is made behind it."""
    with anyio.fail_after(30):
        while True:
            try:
                return (await collector.collect(bench.id)).removed
            except ValidationFailed:
                await anyio.sleep(0.05)


def _is_whole(running: Supervised, bench: OpenWorkbench) -> bool:
    return verify_home_log(running.home, bench.id).ok


@asynccontextmanager
async def _discarded(
    folder: Path, settings: Settings = MONTH
) -> AsyncIterator[tuple[Supervised, OpenWorkbench, BlobHash]]:
    """A workbench with a published file, and a draft of it that was discarded."""
    async with supervised(folder / "h", settings) as running:
        bench = await running.bench(a__txt="published")
        await draft(bench, a__txt="drafted")
        drafted = await _put(bench, "drafted")
        await discard(bench)
        yield running, bench, drafted


async def test_what_no_event_names_goes_and_what_one_names_stays(tmp_path: Path) -> None:
    """It is told in the daemon's log; the workbench is whole, and nothing is left to collect."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="named")
        await _put(bench, "left over")
        collector = _collector(running)
        (found,) = await collector.survey(bench.id)
        collected = await collector.collect(bench.id)

        assert _stored(running, bench) == {bench.state.files[A].blob}
        assert (found.kind, found.count, found.size_bytes) == ("unnamed", 1, 9)
        assert collected.removed == (found,)
        (told,) = await _told(running)
        assert told == StorageReclaimed(bench.id, "unnamed", 1, 9, "no event names them")
        assert _is_whole(running, bench)
        assert await collector.survey(bench.id) == ()
        assert (await running.benches.open(bench.id)).state.files == bench.state.files


@on_asyncio
async def test_what_was_stored_within_the_hour_stays(tmp_path: Path) -> None:
    """Whatever else may have gone wrong, what is new is not taken."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        blob = await _put(bench, "just stored")
        assert (await _collector(running, HOUR_US // 2).collect(bench.id)).removed == ()
        assert _stored(running, bench) == {blob}


async def test_what_a_request_has_stored_and_not_yet_named_never_goes(tmp_path: Path) -> None:
    """However long it takes: whoever holds the workbench, or works in it, keeps it from that."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        collector = _collector(running)
        with running.benches.held(bench.id):
            blob = await _put(bench, "of a request")
            with pytest.raises(ValidationFailed, match="in use"):
                await collector.collect(bench.id)
            assert await collector.collect_all()
            assert _stored(running, bench) == {blob}
            await bench.keeper.submit(RecordFacts((FileAdded(A, blob, 12),)))
        async with bench.editing:
            with pytest.raises(ValidationFailed, match="in use"):
                await collector.collect(bench.id)

        assert (await collector.collect(bench.id)).removed == ()
        assert _stored(running, bench) == {blob}


async def test_without_that_rule_bytes_of_a_request_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it is the rule which keeps them: with it taken out the same request loses them."""

    @asynccontextmanager
    async def alone(self: Workbenches, workbench_id: str, _holds: int) -> AsyncIterator[object]:
        yield running.home.workbench(workbench_id)

    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        with running.benches.held(bench.id):
            await _put(bench, "of a request")
            with monkeypatch.context() as patch:
                patch.setattr(Workbenches, "alone", alone)
                patch.setattr(Workbenches, "openings", lambda *_: _Anything())
                await _collector(running).collect(bench.id)
            assert _stored(running, bench) == set()


async def test_what_is_named_while_a_collection_looks_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workbench that is opened between the look and the removal is left for another time."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        blob = await _put(bench, "named at last")
        collector = _collector(running)
        find = BlobCollector._find

        def find_slowly(*args: Any) -> object:
            async def name() -> None:
                opened = await running.benches.open(bench.id)
                await opened.keeper.submit(RecordFacts((FileAdded(A, blob, 13),)))

            found = find(*args)
            anyio.from_thread.run(name)
            return found

        monkeypatch.setattr(BlobCollector, "_find", find_slowly)
        with pytest.raises(ValidationFailed, match="used meanwhile"):
            await collector.collect(bench.id)
        assert _stored(running, bench) == {blob}
        assert await _told(running) == []


@on_asyncio
async def test_bytes_of_somebody_stay_though_no_event_names_them(tmp_path: Path) -> None:
    """What was put into published/ beside kbd is kept when a file takes its place."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="ours")
        (bench.folders.published / "a.txt").write_text("theirs")
        await run_sync(bench.files.place, A, bench.state.files[A].blob)
        theirs = await _put(bench, "theirs")
        assert (await _collector(running).collect(bench.id)).removed == ()
        assert theirs in _stored(running, bench)


@on_asyncio
async def test_a_store_without_marks_keeps_what_it_has(tmp_path: Path) -> None:
    """A kbd that made none may have stored somebody's bytes; what comes later is told apart."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        (bench.folders.blobs / "kept").rmdir()
        before = await _put(bench, "of whom nobody knows")
        collector = _collector(running)
        assert (await collector.collect(bench.id)).removed == ()
        after = await _put(await running.benches.open(bench.id), "left over")
        assert after in _stored(running, bench)
        await collector.collect(bench.id)
        assert _stored(running, bench) == {before}


@on_asyncio
async def test_what_is_no_blob_is_left_alone_and_told(tmp_path: Path) -> None:
    """A note, a folder under a blob's name, a damaged copy that was kept aside."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="named")
        folder = bench.folders.blobs / "ab"
        names = ["ab" * 32, f"{'ab' * 32}.0123abcd", "note.txt"]
        (folder / names[0]).mkdir(parents=True)
        for name in names[1:]:
            (folder / name).write_text("whatever")
        collected = await _collector(running).collect(bench.id)
        assert (collected.removed, list(collected.strangers)) == ((), names)
        assert sorted(path.name for path in folder.iterdir()) == names


@on_asyncio
async def test_nothing_goes_while_the_log_is_damaged(tmp_path: Path) -> None:
    """What cannot be read may name any of it."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="named")
        await _put(bench, "left over")
        async with running.benches.alone(bench.id) as folders:
            segment = max(folders.log.glob("*.kbl"))
            data = bytearray(segment.read_bytes())
            data[100] ^= 1
            segment.write_bytes(data)
        with pytest.raises(LogCorrupt):
            await _collector(running).collect(bench.id)
        assert len(_stored(running, bench)) == 2


@on_asyncio
async def test_a_workbench_that_nobody_opened_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second round costs nothing; who opens the workbench has it looked at once more."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="named")
        collector = _collector(running)
        assert await collector.collect_all()
        found: list[object] = []
        find = BlobCollector._find

        def note(*args: Any) -> object:
            found.append(args)
            return find(*args)

        monkeypatch.setattr(BlobCollector, "_find", note)
        assert await collector.collect_all()
        assert found == []
        await running.benches.open(bench.id)
        assert await collector.collect_all()
        assert len(found) == 1


async def test_a_discarded_draft_goes_when_its_time_has_come(tmp_path: Path) -> None:
    """Not a day before, and never what is published; the workbench's log says it first."""
    async with _discarded(tmp_path) as (running, bench, drafted):
        published = bench.state.files[A].blob
        await _collector(running, 29 * DAY_US).collect(bench.id)
        assert _stored(running, bench) == {drafted, published}

        collected = await _collector(running, 31 * DAY_US).collect(bench.id)
        reason = "only drafts had them that ended 30 or more days before, unpublished"
        assert _stored(running, bench) == {published}
        assert [(each.kind, each.reason) for each in collected.removed] == [("discarded", reason)]
        facts = await _recorded(running, bench)
        assert facts[-1] == BlobsCollected((drafted,), 7, reason)
        assert await _told(running) == [StorageReclaimed(bench.id, "discarded", 1, 7, reason)]


async def test_in_the_background_all_of_this_is_done_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Round by round: what has lain for an hour, and a draft on the day that its time has come."""
    monkeypatch.setattr(blob_collector, "FIRST_PAUSE_S", 0.0)
    monkeypatch.setattr(blob_collector, "ROUND_PAUSE_S", 0.0)
    monkeypatch.setattr(blob_collector, "STEP_PAUSE_S", 0.0)
    async with _discarded(tmp_path) as (running, bench, drafted):
        published = bench.state.files[A].blob
        await _put(bench, "left over")
        moved, clock = Notifier(), _Later(HOUR_US // 2)
        running.benches.daemon.observe(lambda _seq, _record: moved.ring())
        context = msgspec.structs.replace(running.context, clock=clock)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(BlobCollector(context, running.benches).run)
            for ahead_us, left in ((2 * HOUR_US, {drafted, published}), (31 * DAY_US, {published})):
                clock.ahead_us = ahead_us
                with anyio.fail_after(30):
                    await moved.wait()
                    # It is told before it is done.
                    while _stored(running, bench) != left:
                        with anyio.move_on_after(0.02):
                            await moved.wait()
            tasks.cancel_scope.cancel()


@on_asyncio
async def test_without_the_setting_no_draft_goes(tmp_path: Path) -> None:
    """Never is the default."""
    async with _discarded(tmp_path, Settings()) as (running, bench, drafted):
        await _collector(running, 10_000 * DAY_US).collect(bench.id)
        assert drafted in _stored(running, bench)


async def test_after_a_collection_everybody_says_collected(tmp_path: Path) -> None:
    """Verify and repair find nothing wrong; who asks for the bytes is told when and why."""
    async with _discarded(tmp_path) as (running, bench, drafted):
        await _collector(running, 31 * DAY_US).collect(bench.id)
        verified = verify_home_log(running.home, bench.id)
        assert (verified.ok, verified.collected) == (True, 1)
        assert repair_blobs(running.home, bench.id, None).lost == ()

        opened = await running.benches.open(bench.id)
        with pytest.raises(BlobCollected, match="were collected on 20") as refused:
            await opened.blobs.read(drafted)
        assert refused.value.detail["blob"] == drafted
        (row,) = (await list_ended(opened, 10)).drafts
        assert (row.is_complete, row.files[0].is_available) == (False, False)
        assert str(row.files[0].collected).startswith("collected on 20")
        found = await find_draft(opened, None, None)
        with pytest.raises(BlobCollected, match=r"'a\.txt': the stored bytes"):
            await recover_draft(opened, found, None)
        assert opened.state.draft is None


async def test_bytes_that_are_written_again_are_there_again(tmp_path: Path) -> None:
    """A later event names them: then they are missed if they are not there, and never collected."""
    async with _discarded(tmp_path) as (running, bench, drafted):
        collector = _collector(running, 31 * DAY_US)
        await collector.collect(bench.id)
        opened = await running.benches.open(bench.id)
        await add(opened, "b.txt", "drafted")
        assert opened.state.collected == {}
        await collector.collect(bench.id)
        assert drafted in _stored(running, bench)
        BlobStore(running.folders(bench).blobs).remove([drafted])
        assert [each.kind for each in verify_home_log(running.home, bench.id).faults] == [
            "blob missing"
        ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["published", "equal", "undo", "open", "message"])
async def test_what_anything_else_needs_stays(tmp_path: Path, how: str) -> None:
    """Published since, another version with its bytes, an undo that is offered, an open draft."""
    async with supervised(tmp_path / "h", MONTH) as running:
        bench = await running.bench(a__txt="published")
        drafted = await _put(bench, "drafted")
        await draft(bench, a__txt="drafted")
        match how:
            case "undo":
                await bench.keeper.submit(SendMessage("m1", "look at the draft"))
            case "message":
                await bench.keeper.submit(SendMessage("m1", f"it is {drafted}"))
                await rewind_to(bench, CLOCK, "m1")
            case "published":
                await publish(
                    bench, CLOCK, names=None, keep_both=False, accept_external=False,
                    progress=lambda _: None,
                )  # fmt: skip
                await draft(bench, a__txt="another")
        await discard(bench)
        match how:
            case "equal":
                await add(bench, "b.txt", "drafted")
            case "open":
                facts = (DraftOpened("d2"), FileChanged(A, bench.state.files[A].blob, drafted, 7))
                await bench.keeper.submit(RecordFacts(facts))
        await _collect_at_last(_collector(running, 365 * DAY_US), bench)
        assert drafted in _stored(running, bench)
        assert _is_whole(running, bench)


async def test_undo_restore_and_fork_work_after_a_collection(tmp_path: Path) -> None:
    """As before; only an undo to a message that was cut off meets what was collected."""
    async with supervised(tmp_path / "h", MONTH) as running:
        bench = await running.bench(a__txt="published")
        await bench.keeper.submit(SendMessage("m1", "first"))
        await draft(bench, a__txt="drafted")
        await bench.keeper.submit(SendMessage("m2", "second"))
        await rewind_to(bench, CLOCK, "m1")
        accepted = FileChanged(B, None, await _put(bench, "accepted"), 8)
        await bench.keeper.submit(RecordFacts((DraftOpened("d2"), accepted)))
        done = await publish(
            bench, CLOCK, names=None, keep_both=False, accept_external=False,
            progress=lambda _: None,
        )  # fmt: skip
        (gone,) = await _collect_at_last(_collector(running, 31 * DAY_US), bench)
        assert (gone.kind, gone.size_bytes) == ("discarded", 7)

        opened = await running.benches.open(bench.id)
        with pytest.raises(BlobCollected, match="nothing was changed"):
            await rewind_to(opened, CLOCK, "m2")
        assert sorted(opened.state.files) == [A, B]
        await rewind_to(opened, CLOCK, "m1")
        assert sorted(opened.state.files) == [A]
        await restore_checkpoint(opened, CLOCK, done.checkpoint_id)
        forked = await fork_workbench(
            running.context, running.benches, bench.id, "clone_all", "fork", seq=Seq(3)
        )
        assert sorted((await running.benches.open(forked)).state.files) == [A]
        assert _is_whole(running, opened)


@on_asyncio
async def test_a_moment_of_the_past_says_what_was_collected(tmp_path: Path) -> None:
    """The state is told as it was; a folder of its files is refused, with day and reason."""
    async with _discarded(tmp_path) as (running, bench, drafted):
        await _collector(running, 31 * DAY_US).collect(bench.id)
        opened = await running.benches.open(bench.id)
        (ended,) = opened.state.ended_drafts
        then = await run_sync(opened.state_at, Seq(ended.seq - 1))
        assert then.draft is not None
        assert then.draft.files[A].blob == drafted
        with pytest.raises(BlobCollected, match="were collected on 20"):
            await run_sync(write_moment, then, opened.blobs.store, tmp_path / "then")


@on_asyncio
async def test_a_workbench_in_use_can_be_surveyed(tmp_path: Path) -> None:
    """Nothing is removed; who holds it once itself, as a request does, can have it collected."""
    async with _discarded(tmp_path) as (running, bench, drafted):
        await _put(bench, "left over")
        collector = _collector(running, 31 * DAY_US)
        with running.benches.held(bench.id):
            async with bench.editing:
                found = await collector.survey(bench.id)
                assert [(each.kind, each.size_bytes) for each in found] == [
                    ("unnamed", 9), ("discarded", 7),
                ]  # fmt: skip
                assert drafted in _stored(running, bench)
            collected = await collector.collect(bench.id, holds=1)
        assert collected.removed == found
        assert _stored(running, bench) == {bench.state.files[A].blob}


@on_asyncio
async def test_a_log_of_a_stranger_takes_nothing_away(tmp_path: Path) -> None:
    """An event that says so of published bytes is believed by nobody who removes."""
    async with supervised(tmp_path / "h", MONTH) as running:
        bench = await running.bench(a__txt="published")
        blob = bench.state.files[A].blob
        await bench.keeper.submit(RecordFacts((BlobsCollected((blob,), 9, "forged"),)))
        assert (await _collector(running, 31 * DAY_US).collect(bench.id)).removed == ()
        assert _stored(running, bench) == {blob}
