"""Case files, backups and proofs after a collection: whole, and they say what was collected."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from anyio.to_thread import run_sync

from agent_rig import Opened, said, say
from backends import on_asyncio
from cased import BIG, NOON_US, case_bytes, contents, forged, workbench
from damaged_logs import flip, frame_of, last_segment
from kbd.cli import main
from kbd.core.api.copies import BackupMethods
from kbd.core.audit.backup import check_backup
from kbd.core.audit.backup_inventory import read_inventory
from kbd.core.audit.home_logs import verify_home_log
from kbd.core.audit.home_repair import LogRepair
from kbd.core.audit.verify.case import check
from kbd.core.domain.commands import DiscardDraft, RecordFacts, SendMessage
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.workbench.publish import discard
from kbd.errors import LogCorrupt
from kbd.events import BlobStore, EventLog, codec
from kbd.events.base import Recorded
from kbd.events.frame import BODY_AT
from kbd.events.retention import BlobsCollected
from kbd.events.scan import read_log
from kbd.providers import ModelReply, ModelRequest
from kbd.requests.copies import BackupCreate
from kbd.requests.daemon import LogVerified
from kbd.types import BlobHash, FileName, Phase, Seq
from proof_rig import asks, proved
from supervised import add, draft, supervised

REASON = "only drafts had them"


def _collect(folders: WorkbenchFolders, *blobs: BlobHash, is_told: bool = True) -> None:
    """Remove blobs, behind an event that says so."""
    if is_told:
        log = EventLog.open(folders.log)
        log.append([codec.wrap_event(BlobsCollected(blobs, 1, REASON), NOON_US)])
        log.close()
    BlobStore(folders.blobs).remove(blobs)


def _big(folders: WorkbenchFolders) -> BlobHash:
    return BlobStore(folders.blobs).put_bytes(BIG)


def test_a_case_lists_what_was_collected_since(tmp_path: Path) -> None:
    """Its verifier takes it for whole, the readme says it, and the bytes are not in it."""
    folders = workbench(tmp_path / "wb")
    blob = _big(folders)
    _collect(folders, blob)
    found = contents(folders)
    assert found.case.collected == ((blob, f"collected on 2025-11-22: {REASON}"),)
    assert f"blobs/{blob}" not in {source.name for source in found.sources}
    (readme,) = (source.data for source in found.sources if source.name == "README.txt")
    assert f"  {blob}\n    collected on 2025-11-22: {REASON}" in readme.decode()
    checked = check(io.BytesIO(case_bytes(tmp_path, found)))
    assert checked.faults == ()


def test_a_case_without_the_event_is_refused(tmp_path: Path) -> None:
    """Bytes that are gone and of which no event says so are missing, as before."""
    folders = workbench(tmp_path / "wb")
    _collect(folders, _big(folders), is_told=False)
    with pytest.raises(LogCorrupt, match="is missing"):
        contents(folders)


def test_a_case_that_says_collected_of_what_it_has_is_no_whole_one(tmp_path: Path) -> None:
    """Nor is one that says so of what its log does not name."""
    folders = workbench(tmp_path / "wb")
    blob, found = _big(folders), contents(folders)
    for said_of, kind in ((blob, "blob"), ("e" * 64, "manifest")):
        lying = forged(found, list(found.sources), collected=((said_of, "collected"),))
        (fault,) = check(io.BytesIO(case_bytes(tmp_path, lying))).faults
        assert fault.kind == kind


@pytest.mark.anyio
@on_asyncio
async def test_a_backup_is_whole_without_what_was_collected(tmp_path: Path) -> None:
    """It has all that the log still needs, and nothing is unsound."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="published")
        await draft(bench, a__txt="drafted")
        drafted = await bench.blobs.put(b"drafted")
        await discard(bench)
        await bench.keeper.submit(RecordFacts((BlobsCollected((drafted,), 7, REASON),)))
        BlobStore(bench.folders.blobs).remove([drafted])
        target, session = tmp_path / "backup", None
        methods = BackupMethods(running.context, running.benches, running.watcher)
        await methods.create(BackupCreate(target=str(target)), session)  # type: ignore[arg-type]
    (log,) = (each for each in read_inventory(target).logs if each.workbench_id == bench.id)
    assert (log.blobs, log.unsound, log.damage) == (1, (), "")
    assert check_backup(target).faults == ()


@pytest.mark.anyio
@on_asyncio
async def test_an_archive_says_how_many_versions_were_collected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a folder does: `kbd verify` counts them beside those that are there, and is content."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="published")
        await draft(bench, a__txt="drafted", b__txt="too")
        await discard(bench)
        drafted = tuple([await bench.blobs.put(text) for text in (b"drafted", b"too")])
        await bench.keeper.submit(RecordFacts((BlobsCollected(drafted, 10, REASON),)))
        BlobStore(bench.folders.blobs).remove(drafted)
        before = verify_home_log(running.home, bench.id)
        copy = await running.benches.archives.archive(bench.id, "it was asked for")
        after = verify_home_log(running.home, bench.id, archive=copy)
    assert (before.ok, before.blobs, before.collected) == (True, 1, 2)
    assert after == before
    assert await run_sync(main, ["--home", str(tmp_path / "h"), "verify", bench.id]) == 0
    assert " 1 blobs (2 collected), " in capsys.readouterr().out


def _writes_and_reads(request: ModelRequest) -> ModelReply:
    if request.phase is not Phase.IMPLEMENT:
        return say("- [ ] 1. one") if request.phase is Phase.PLAN else say("done")
    match said(request):
        case 0:
            return asks(("write_note", {"path": "a.txt", "content": "drafted"}))
        case 1:
            return asks(("read_file", {"path": "a.txt"}))
        case _:
            return say("did it")


@pytest.mark.anyio
@on_asyncio
async def test_a_proof_skips_what_read_collected_bytes(opened: Opened, tmp_path: Path) -> None:
    """A call that comes out otherwise for that is no divergence, and the reason is told."""
    async with opened(_writes_and_reads) as rig:
        await rig.go()
        written = await rig.blobs.put(b"drafted")
        await rig.keeper.submit(DiscardDraft())
        before = await proved(rig, tmp_path / "before")
        assert (before.calls, before.equal, before.skipped) == (2, 2, ())
        await rig.keeper.submit(RecordFacts((BlobsCollected((written,), 7, REASON),)))
        BlobStore(rig.folder / "blobs").remove([written])
        after = await proved(rig, tmp_path / "after")
    assert (after.calls, after.equal, after.divergences) == (1, 1, ())
    (skipped,) = after.skipped
    assert skipped.tool == "read_file"
    assert "it saw a.txt, whose bytes were collected on" in skipped.reason


class _Versions(NamedTuple):
    """The file versions of a workbench: two of its draft, and one that is published."""

    first: BlobHash
    second: BlobHash
    published: BlobHash


class _Cut(NamedTuple):
    """What a repair left of a log that was cut where a collection had come to stand behind it.

    Args:
        found: Its verification.
        said: What it says, at its end, of collections.
        drafted: The two file versions that were collected before the damage.
    """

    found: LogVerified
    said: tuple[BlobsCollected, ...]
    drafted: tuple[BlobHash, ...]


async def _cut_log(
    home: Path,
    damaged: str,
    work: Callable[[BlobStore, _Versions], None] = lambda _store, _blobs: None,
    behind: str = "added behind it",
) -> _Cut:
    """Damage the first event of a type behind a discarded draft, cut the log there, verify it.

    Args:
        home: A new home.
        damaged: The type.
        work: What else happens to the store.
        behind: What is added behind the collection.
    """
    async with supervised(home) as running:
        bench = await running.bench(a__txt="published")
        await draft(bench, a__txt="drafted", b__txt="too")
        await discard(bench)
        drafted = tuple([await bench.blobs.put(text) for text in (b"drafted", b"too")])
        await bench.keeper.submit(SendMessage("m" * 16, "what is behind this is cut off"))
        await bench.keeper.submit(RecordFacts((BlobsCollected(drafted, 10, REASON),)))
        bench.blobs.store.remove(drafted)
        published = bench.state.files[FileName("a.txt")].blob
        await add(bench, "c.txt", behind)
    folders = running.folders(bench)
    work(BlobStore(folders.blobs), _Versions(drafted[0], drafted[1], published))
    segment = last_segment(folders.log)
    flip(segment, frame_of(segment, damaged)[0] + BODY_AT + 1)
    with LogRepair(running.home, bench.id) as repair:
        repair.cut()
        repair.commit()
    said: list[BlobsCollected] = []

    def note(_seq: Seq, record: Recorded) -> None:
        if isinstance(record.data, BlobsCollected):
            said.append(record.data)

    read_log(folders.log, note)
    return _Cut(verify_home_log(running.home, bench.id), tuple(said), drafted)


@pytest.mark.anyio
@on_asyncio
async def test_a_cut_does_not_forget_what_was_collected(tmp_path: Path) -> None:
    """The event that said so is cut off: the log says it again, and nothing counts as damaged."""
    cut = await _cut_log(tmp_path / "h", "UserMessageAdded")
    assert (cut.found.ok, cut.found.blobs, cut.found.collected) == (True, 1, 2)
    reason = f"{REASON} (recorded again by a repair)"
    assert cut.said == (BlobsCollected(cut.drafted, 10, reason),)


@pytest.mark.anyio
@on_asyncio
async def test_a_cut_calls_nothing_collected_that_is_there_or_lost(tmp_path: Path) -> None:
    """What is there stays so, for nothing proves what was cut off; what is lost is damage."""

    def work(store: BlobStore, blobs: _Versions) -> None:
        assert store.put_bytes(b"drafted") == blobs.first
        store.remove([blobs.published])

    cut = await _cut_log(tmp_path / "h", "UserMessageAdded", work)
    assert [each.kind for each in cut.found.faults] == ["blob missing"]
    assert (cut.found.blobs, cut.found.collected) == (1, 1)
    assert [(each.blobs, each.size_bytes) for each in cut.said] == [(cut.drafted[1:], 3)]


@pytest.mark.anyio
@on_asyncio
async def test_what_was_named_again_behind_a_collection_is_lost_if_it_is_not_there(
    tmp_path: Path,
) -> None:
    """The collection was not the last word of it, though both are cut off."""

    def work(store: BlobStore, blobs: _Versions) -> None:
        store.remove([blobs.second])

    cut = await _cut_log(tmp_path / "h", "UserMessageAdded", work, behind="too")
    (fault,) = cut.found.faults
    assert (fault.kind, fault.file) == ("blob missing", cut.drafted[1])
    assert [each.blobs for each in cut.said] == [cut.drafted[:1]]


@pytest.mark.anyio
@on_asyncio
async def test_a_collection_that_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    """Nothing else says which they were: they count as lost."""
    cut = await _cut_log(tmp_path / "h", "BlobsCollected")
    assert [each.kind for each in cut.found.faults] == ["blob missing"] * 2
    assert cut.said == ()
