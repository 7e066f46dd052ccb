"""Copies of results: each made once, never over anything, also when one was cut off."""

import errno
import os
import shutil
import threading
import time
from pathlib import Path
from typing import BinaryIO

import pytest
from anyio import to_thread

from kbd.core.domain.commands import RecordFacts
from kbd.core.watch.deliveries import Deliveries, delivered_paths
from kbd.core.watch.job import WatchJob
from kbd.core.workbench.extraction import copy_to_folder
from kbd.core.workbench.publish import publish
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed
from kbd.events.base import FileVersion
from kbd.events.drafts import EffectAborted, EffectDone, EffectIntended
from kbd.events.watches import WatchRule
from kbd.types import BlobHash, FileName, Seq, WatchId
from supervised import CLOCK, Supervised, draft, files_in, supervised

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
on_trio = pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
"""What becomes of a copy does not hang on the loop; the tests without a mark run on both."""

A = FileName("a.txt")
EFFECT = "0123456789abcdef"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder for results."""
    folder = (tmp_path / "out").resolve()
    folder.mkdir()
    return folder


def _job(bench: OpenWorkbench) -> WatchJob:
    rule = WatchRule("reports", "/in", "do it")
    return WatchJob(WatchId("00000000000000aa"), rule, (), bench.id, attempt=1, depth=2)


async def _deliver(running: Supervised, bench: OpenWorkbench, out: Path) -> tuple[str, ...]:
    opened = await running.benches.open(bench.id)
    deliveries = Deliveries(running.benches.daemon, CLOCK)
    await deliveries.deliver(opened, _job(opened), str(out))
    assert opened.state.effects == {}
    return delivered_paths(opened.state)


async def _published(running: Supervised, **files: str) -> OpenWorkbench:
    """Return a workbench with a file that was added, and with files that were made."""
    bench = await running.bench(mine__txt="as it was added")
    await draft(bench, **files)
    await publish(
        bench, CLOCK, names=None, keep_both=False, accept_external=False, progress=lambda _: None
    )
    return bench


def _until_there(path: Path) -> None:
    while not path.exists():
        time.sleep(0.005)


def _move(folder: Path, to: Path) -> None:
    folder.rename(to)


def _move_behind_link(folder: Path, to: Path) -> None:
    folder.rename(to)
    folder.symlink_to(to)


async def _begun(bench: OpenWorkbench, out: Path) -> EffectIntended:
    """Record the intent of the copy that is made first."""
    entry = bench.state.files[A]
    file = FileVersion(A, entry.blob, entry.size_bytes)
    effect = EffectIntended(EFFECT, "deliver", str(out), file)
    await bench.keeper.submit(RecordFacts((effect,)))
    return effect


async def _facts(bench: OpenWorkbench, kind: type) -> int:
    read = await bench.keeper.journal.read(Seq(0), 10_000)
    return sum(isinstance(record.data, kind) for _, record in read)


async def test_results_get_free_names(tmp_path: Path, out: Path) -> None:
    """What was made is copied, folders and all, what was added is not, and what is there stays."""
    (out / "a.txt").write_text("somebody's")
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="a", **{"sub/b__txt": "b"})
        for _ in range(2):
            paths = await _deliver(running, bench, out)
            assert paths == (str(out / "a(1).txt"), str(out / "sub/b.txt"))
            assert files_in(out) == {"a.txt": "somebody's", "a(1).txt": "a", "sub/b.txt": "b"}
        written = running.benches.daemon.state.watching.written
        found = {(place.folder, place.depth) for places in written.values() for place in places}
        assert found == {(str(out), 2), (str(out / "sub"), 2)}


@pytest.mark.sampled(3)
@on_asyncio
@pytest.mark.parametrize("reached", ["intended", "half written", "whole", "made", "moved", "done"])
async def test_a_copy_that_was_cut_off_is_made_once(
    tmp_path: Path, out: Path, reached: str
) -> None:
    """Wherever a kill came, there is one copy, one outcome that says so, and nothing hidden."""
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="a")
        effect = await _begun(bench, out)
        match reached:
            case "half written":
                (out / f".kbd-{EFFECT}.part").write_text("")
            case "whole":
                shutil.copy(bench.blobs.path(effect.file.blob), out / f".kbd-{EFFECT}.part")
            case "made" | "moved" | "done":
                copy_to_folder(effect, bench.blobs.store, bench.folders.find_home())
                if reached == "moved":
                    (out / "a.txt").rename(out / "theirs.txt")
                if reached == "done":
                    await bench.keeper.submit(RecordFacts((EffectDone(EFFECT, "a.txt"),)))
    async with supervised(tmp_path / "h") as again:
        paths = await _deliver(again, bench, out)
        name = "theirs.txt" if reached == "moved" else "a.txt"
        assert files_in(out) == {name: "a"}
        assert paths == (str(out / name),)
        opened = await again.benches.open(bench.id)
        assert await _facts(opened, EffectDone) == 1
        aborted = reached in ("intended", "half written", "whole")
        assert await _facts(opened, EffectAborted) == aborted


@on_trio
async def test_damaged_bytes_are_not_delivered(tmp_path: Path, out: Path) -> None:
    """No part of them is there; the one that is sound is, and mended the other follows."""
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="made by a run", b__txt="sound")
        stored = bench.blobs.path(bench.state.files[A].blob)
        stored.chmod(0o600)
        stored.write_text("made by a rxn")
        with pytest.raises(FileReadFailed, match="damaged"):
            await _deliver(running, bench, out)
        assert set(files_in(out)) <= {"b.txt"}
        stored.write_text("made by a run")
        await _deliver(running, bench, out)
        assert files_in(out) == {"a.txt": "made by a run", "b.txt": "sound"}


@on_trio
async def test_one_that_was_taken_away_is_not_made_again(tmp_path: Path, out: Path) -> None:
    """Somebody moved the copy elsewhere before the log knew of it: it was delivered."""
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="a")
        effect = await _begun(bench, out)
        copy_to_folder(effect, bench.blobs.store, bench.folders.find_home())
        (out / "a.txt").rename(tmp_path / "theirs.txt")
        assert await _deliver(running, bench, out) == (str(out / "a.txt"),)
        assert files_in(out) == {}


@on_asyncio
async def test_a_folder_that_is_missing_may_be_there_later(tmp_path: Path, out: Path) -> None:
    """It is not made: a disk may be away. What was cut off is asked about again, too."""
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="a")
        _move(out, tmp_path / "away")
        with pytest.raises(FileWriteFailed) as failed:
            await _deliver(running, bench, out)
        assert failed.value.retryable
        assert failed.value.message == "'a.txt' cannot be delivered: No such file or directory"
        assert bench.state.effects == {}
        _move(tmp_path / "away", out)
        effect = await _begun(bench, out)
        copy_to_folder(effect, bench.blobs.store, bench.folders.find_home())
        _move(out, tmp_path / "away")
        with pytest.raises(FileWriteFailed):
            await _deliver(running, bench, out)
        _move(tmp_path / "away", out)
        assert await _deliver(running, bench, out) == (str(out / "a.txt"),)
        assert files_in(out) == {"a.txt": "a"}


@on_trio
async def test_a_full_disk_keeps_what_was_delivered(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call makes what is missing, and leaves nothing half written before that."""
    write = os.pwrite
    copied: list[str] = []

    def full(fd: int, data: bytes, offset: int) -> int:
        written = os.readlink(f"/proc/self/fd/{fd}")
        if Path(written).is_relative_to(out):
            copied.append(written)
            if len(copied) == 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data, offset)

    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="a", **{"sub/b__txt": "b"})
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(DiskFull) as failed:
            await _deliver(running, bench, out)
        assert failed.value.retryable
        assert files_in(out) == {"a.txt": "a"}
        assert len(await _deliver(running, bench, out)) == 2
        assert files_in(out) == {"a.txt": "a", "sub/b.txt": "b"}


@on_trio
async def test_a_disk_without_links_gets_whole_files(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once and over nothing; and when it is full, no half of one."""
    copy, fails = shutil.copyfileobj, [True, False]

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    def full(source: BinaryIO, target: BinaryIO, length: int) -> None:
        copy(source, target, length)
        if fails.pop(0):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (out / "a.txt").write_text("somebody's")
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="a")
        monkeypatch.setattr(os, "link", refused)
        monkeypatch.setattr(shutil, "copyfileobj", full)
        with pytest.raises(DiskFull):
            await _deliver(running, bench, out)
        assert files_in(out) == {"a.txt": "somebody's"}
        assert await _deliver(running, bench, out) == (str(out / "a(1).txt"),)
        assert files_in(out) == {"a.txt": "somebody's", "a(1).txt": "a"}


@on_trio
async def test_a_disk_that_hangs_is_not_waited_for(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The delivery fails in time; what becomes of the copy later is found out, and it is one."""
    answers = threading.Event()
    async with supervised(tmp_path / "home") as running:
        bench = await _published(running, a__txt="made")
        copy_to = bench.blobs.store.copy_to

        def hang(blob: BlobHash, fd: int) -> int:
            answers.wait(60)
            return copy_to(blob, fd)

        monkeypatch.setattr(bench.blobs.store, "copy_to", hang)
        deliveries = Deliveries(running.benches.daemon, CLOCK, patience_s=0.05)
        with pytest.raises(FileWriteFailed, match="does not answer") as failed:
            await deliveries.deliver(bench, _job(bench), str(out))
        assert failed.value.retryable
        assert len(bench.state.effects) == 1
        answers.set()
        await to_thread.run_sync(_until_there, out / A)

        assert await _deliver(running, bench, out) == (str(out / A),)
        assert await _facts(bench, EffectIntended) == 1
        assert files_in(out) == {A: "made"}


async def test_what_is_behind_a_link_keeps_nothing_else_back(tmp_path: Path, out: Path) -> None:
    """It is refused for good, with a code; the others are delivered, and later it is, too."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (out / "b").symlink_to(outside)
    (out / "c.txt").symlink_to(outside / "c.txt")
    names = {"a__txt": "a", "b/x__txt": "x", "b/y__txt": "y", "c__txt": "c", "d__txt": "d"}
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, **names)
        with pytest.raises(FileWriteFailed, match=r"'b/x\.txt' .* link .*, and 1 more") as refused:
            await _deliver(running, bench, out)
        assert not refused.value.retryable
        assert list(outside.iterdir()) == []
        assert set(files_in(out)) >= {"a.txt", "c(1).txt", "d.txt"}
        (out / "b").unlink()
        await _deliver(running, bench, out)
        assert files_in(out / "b") == {"x.txt": "x", "y.txt": "y"}
        assert files_in(out)["a.txt"] == "a"
        assert list(outside.iterdir()) == []


@on_asyncio
async def test_a_copy_that_was_cut_off_behind_a_link_waits_for_a_person(
    tmp_path: Path, out: Path
) -> None:
    """Nobody can tell whether it was made: that is told at once, and not tried over and over."""
    async with supervised(tmp_path / "h") as running:
        bench = await _published(running, a__txt="a")
        await _begun(bench, out)
        _move_behind_link(out, tmp_path / "moved")
        with pytest.raises(FileWriteFailed, match="a link") as refused:
            await Deliveries(running.benches.daemon, CLOCK).deliver(bench, _job(bench), str(out))
        assert not refused.value.retryable
        assert files_in(tmp_path / "moved") == {}
