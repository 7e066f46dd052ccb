"""What lands in a watched folder is recorded once, whatever people do with their files."""

import errno
import os
import shutil
from pathlib import Path

import anyio
import pytest
import structlog
from anyio.to_thread import run_sync

from dropped import WATCH, dropped, until
from kbd.core.domain.watch_decisions import PauseWatch, RemoveWatch
from kbd.core.runtime.held_folder import open_below
from kbd.core.watch import inbox, scanner
from kbd.core.workbench.sandbox import file_name
from kbd.events.blobs import BlobStore
from kbd.events.disk import Disk
from kbd.events.watches import FilesPassedOver
from kbd.types import FileName, WatchId

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _by_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scans are the truth; what the system tells has tests of its own, and takes time to begin."""
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")


async def test_files_land_with_their_copies(tmp_path: Path) -> None:
    """Those from before the start, new ones, and those in new and moved-in folders."""
    (tmp_path / "in/old").mkdir(parents=True)
    (tmp_path / "in/old/a.csv").write_text("old/a.csv")
    async with dropped(tmp_path) as desk:
        await desk.comes("old/a.csv")
        desk.drop("b.csv")
        desk.drop("new/deep/c.csv")
        (tmp_path / "away/x").mkdir(parents=True)
        (tmp_path / "away/x/d.csv").write_text("moved/x/d.csv")
        (tmp_path / "away").rename(desk.folder / "moved")
        await desk.comes("old/a.csv", "b.csv", "new/deep/c.csv", "moved/x/d.csv")
        events = {event.path: event for event in await desk.events()}
    assert len(events) == 4
    seen = (tmp_path / "in/b.csv").stat()
    assert events["b.csv"].signature == (
        f"{seen.st_size}:{seen.st_mtime_ns}:{seen.st_ctime_ns}:{seen.st_ino}"
    )


async def test_what_is_no_work_does_not_land(tmp_path: Path) -> None:
    """Temporary files, links, pipes, and what the rule's patterns leave out."""
    (tmp_path / "secret.csv").write_text("secret")
    async with dropped(tmp_path, patterns=("*.csv", "!no/*")) as desk:
        for path in ("~$a.csv", "a.csv.part", ".git/a.csv", "a.txt", "no/a.csv"):
            desk.drop(path)
        (desk.folder / "link.csv").symlink_to(tmp_path / "secret.csv")
        os.mkfifo(desk.folder / "pipe.csv")
        desk.drop("a.csv")
        await desk.comes("a.csv")
        await desk.quiet()
        assert len(await desk.events()) == 1


async def test_a_file_lands_when_its_writer_is_done(tmp_path: Path) -> None:
    """Pauses longer than the quiet time are no end, and others do not wait for it."""
    async with dropped(tmp_path) as desk:
        with (desk.folder / "slow.csv").open("w") as slow:
            for piece in ("slow", "."):
                slow.write(piece)
                slow.flush()
                other = f"other{piece}csv"
                desk.drop(other)
                await until(lambda: (other, other) in desk.landed())  # noqa: B023 - awaited here
                await until(desk.inbox.is_quiet)
                assert desk.inbox.health().settling == 1
            slow.write("csv")
        await desk.comes("slow.csv", "otherslowcsv", "other.csv")
        assert [e.path for e in await desk.events()].count("slow.csv") == 1


async def test_each_content_of_a_path_lands_once(tmp_path: Path) -> None:
    """Saved anew as editors do it, replaced by a file of the same size, touched, put back."""
    async with dropped(tmp_path) as desk:
        path = desk.drop("a.csv", "first")
        await until(lambda: desk.landed() == [("a.csv", "first")])
        # An editor renames the old one, writes the new one, and removes the old one.
        path.rename(desk.folder / "a.csv~")
        desk.drop("4913", "")
        desk.drop("a.csv", "other")
        (desk.folder / "a.csv~").unlink()
        await until(lambda: desk.landed() == [("a.csv", "first"), ("a.csv", "other")])
        desk.drop(".a.csv.new", "third").rename(path)
        await until(lambda: len(desk.landed()) == 3)
        for again in ("first", "third"):
            desk.drop("a.csv", again)
            path.chmod(0o640)
            await desk.quiet()
        path.unlink()
        await desk.quiet()
        desk.drop("a.csv", "other")
        await desk.quiet()
        assert [content for _, content in desk.landed()] == ["first", "other", "third"]
        assert len(await desk.events()) == 3


async def test_a_rename_is_no_new_work(tmp_path: Path) -> None:
    """Of a file, of its folder, and by copy and removal; a copy beside it is new."""
    async with dropped(tmp_path) as desk:
        first = desk.drop("a/1.csv", "one")
        await until(lambda: len(desk.landed()) == 1)
        shutil.copy(first, desk.folder / "copy.csv")
        await until(lambda: len(desk.landed()) == 2)
        first.rename(desk.folder / "a/2.csv")
        await desk.quiet()
        (desk.folder / "a").rename(desk.folder / "b")
        await desk.quiet()
        shutil.copy(desk.folder / "copy.csv", desk.folder / "c.csv")
        (desk.folder / "copy.csv").unlink()
        await desk.quiet()
        told = [(e.path, e.outcome, e.moved_from) for e in await desk.events()]
    assert told[:2] == [("a/1.csv", "", ""), ("copy.csv", "", "")]
    assert [(path, outcome) for path, outcome, _ in told[2:]] == [
        ("a/2.csv", "moved"), ("b/2.csv", "moved"), ("c.csv", "moved"),
    ]  # fmt: skip
    assert told[2][2] == "a/1.csv"


async def test_files_that_were_passed_over_stay_so(tmp_path: Path) -> None:
    """Renamed with their folder, touched, renamed again after a restart; a changed one lands."""
    old = tmp_path / "in/old"
    old.mkdir(parents=True)
    for name in ("a.csv", "b.csv", "c.csv"):
        (old / name).write_text(name)
    async with dropped(tmp_path, pass_over=True) as desk:
        old.rename(desk.folder / "new")
        (desk.folder / "new/a.csv").chmod(0o640)
        await desk.quiet()
        # What takes an old path is new, and hides the past of the renamed one.
        desk.drop("old/a.csv")
        desk.drop("old/b.csv")
        await desk.comes("old/a.csv", "old/b.csv")
        (desk.folder / "new/b.csv").rename(desk.folder / "b.csv")
        await desk.quiet()
    async with dropped(tmp_path) as desk:
        (desk.folder / "new/a.csv").rename(desk.folder / "a.csv")
        desk.drop("new/b.csv")
        await desk.comes("old/a.csv", "old/b.csv", "new/b.csv")
        await desk.quiet()
        over = await desk.log.recorded(FilesPassedOver)
        assert len(await desk.events()) == 3
    renamed = [file.path for event in over[1:] for file in event.files]
    assert sorted(renamed) == ["a.csv", "b.csv", "new/a.csv", "new/b.csv", "new/c.csv"]


async def test_nothing_is_dropped_or_doubled_over_restarts(tmp_path: Path) -> None:
    """Stopped at any moment and started again: each file is recorded once, with its copy."""
    paths = [f"{number % 3}/{number}.csv" for number in range(24)]
    for enough in (1, 9, 17):
        async with dropped(tmp_path) as desk:
            if enough == 1:
                await run_sync(lambda: [desk.drop(path) for path in paths])
            await until(lambda: len(desk.landed()) >= enough)  # noqa: B023 - awaited here
    async with dropped(tmp_path) as desk:
        await desk.comes(*paths)
        assert len(await desk.events()) == len(paths)


async def test_a_folder_that_goes_and_comes(tmp_path: Path) -> None:
    """Removed it is missing, with the reason; made again it is looked at, and what landed known."""
    async with dropped(tmp_path) as desk:
        desk.drop("a.csv")
        await desk.comes("a.csv")
        for _ in range(2):
            shutil.rmtree(desk.folder)
            desk.inbox.rescan()
            await until(lambda: desk.inbox.health().hints == "missing")
            assert desk.inbox.health().reason == "the watched folder is not there"
            desk.drop("a.csv")
            desk.drop("b.csv")
            await desk.quiet()
        await desk.comes("a.csv", "b.csv")
        assert desk.inbox.health().hints == "scan"
        assert len(await desk.events()) == 2


async def test_what_cannot_be_worked_on_is_recorded_as_failed(tmp_path: Path) -> None:
    """Too large, or with a name that no workbench can hold: once, with a path that can be shown."""
    async with dropped(tmp_path, limit=10) as desk:
        desk.drop("large.csv", "x" * 11)
        desk.drop("a:b.csv", "x")
        os.mknod(os.fsencode(desk.folder) + b"/c\xff.csv")
        await until(lambda: len(desk.landed()) == 3)
        desk.drop("next.csv", "x")
        await until(lambda: len(desk.landed()) == 4)
        await desk.quiet()
        assert desk.landed() == [
            ("a:b.csv", "SANDBOX_VIOLATION"),
            (r"c\udcff.csv", "SANDBOX_VIOLATION"),
            ("large.csv", "VALIDATION_FAILED"),
            ("next.csv", "x"),
        ]
        assert {e.outcome for e in await desk.events() if not e.sha256} == {"failed"}
    async with dropped(tmp_path, limit=10) as desk:
        desk.drop("large.csv", "small")
        await until(lambda: ("large.csv", "small") in desk.landed())
        await desk.quiet()
        assert len(await desk.events()) == 5


async def test_a_file_that_vanishes_is_forgotten(tmp_path: Path) -> None:
    """Gone before it was whole: nothing is recorded, nobody waits for it."""
    async with dropped(tmp_path, quiet_s=0.2) as desk:
        path = desk.drop("a.csv")
        await until(lambda: desk.inbox.health().settling == 1)
        path.unlink()
        await until(lambda: desk.inbox.health().settling == 0)
        assert await desk.events() == []


async def test_one_file_keeps_no_other_from_landing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one that the disk does not give, nor one at which kbd fails inside, nor a closed folder.

    The first is recorded as failed in the end, the second is put off, the third is named.
    """
    tries: list[str] = []

    def fail(folder: int, name: str, flags: int) -> int:
        if name == "bad.csv":
            tries.append(name)
            raise OSError(errno.EIO, "Input/output error")
        if name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied")
        return open_below(folder, name, flags)

    def fault(path: str) -> FileName:
        if path == "fault.csv":
            raise ZeroDivisionError
        return file_name(path)

    monkeypatch.setattr("kbd.core.watch.tree.open_below", fail)
    monkeypatch.setattr(scanner, "file_name", fault)
    with structlog.testing.capture_logs() as told:
        async with dropped(tmp_path, quiet_s=0.02) as desk:
            for path in ("bad.csv", "fault.csv", "closed/x.csv", "good.csv"):
                desk.drop(path)
            await until(lambda: len(desk.landed()) == 2)
            assert desk.landed() == [("bad.csv", "FILE_READ_FAILED"), ("good.csv", "good.csv")]
            await until(lambda: desk.inbox.health().settling == 1)
            reason = desk.inbox.health().reason
    assert reason == "closed cannot be read: permission denied"
    assert len(tries) == inbox._TRIES + 1
    assert [each["event"] for each in told].count("watch_file_failed_inside") == 1


class _Counting(Disk):
    """Counts what is written."""

    writes = 0

    def write_all(self, fd: int, data: bytes, offset: int) -> None:
        """Write and count."""
        self.writes += 1
        super().write_all(fd, data, offset)


async def test_what_is_known_is_read_once(tmp_path: Path) -> None:
    """A file with an old content, or with another mode, is not copied again at each scan."""
    async with dropped(tmp_path) as desk:
        path = desk.drop("a.csv", "old")
        await until(lambda: len(desk.landed()) == 1)
        desk.drop("a.csv", "new")
        await until(lambda: len(desk.landed()) == 2)
        disk = _Counting()
        desk.copies.store = BlobStore(desk.log.home.landed(WatchId(WATCH)), disk)
        path.chmod(0o640)
        await desk.quiet()
        assert disk.writes == 0
        assert desk.inbox._known.is_remembered("a.csv")
        desk.drop("a.csv", "old")
        for _ in range(3):
            await desk.quiet()
        assert disk.writes == 1
        assert len(await desk.events()) == 2
        path.unlink()
        await desk.quiet()
        assert not desk.inbox._known.is_remembered("a.csv")


class _Full(Disk):
    """A disk that is full for a while."""

    is_full = True

    def write_all(self, fd: int, data: bytes, offset: int) -> None:
        """Write, or refuse."""
        if self.is_full:
            raise OSError(28, "No space left on device")
        super().write_all(fd, data, offset)


async def test_a_full_disk_drops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is recorded, the health says why, and the file lands when there is space."""
    monkeypatch.setattr("kbd.core.watch.inbox._SHORTAGE_RETRY_S", 0.1)
    async with dropped(tmp_path) as desk:
        disk = _Full()
        desk.copies.store = BlobStore(desk.log.home.landed(WatchId(WATCH)), disk)
        desk.drop("a.csv")
        await until(lambda: "no space" in desk.inbox.health().reason)
        assert desk.landed() == []
        disk.is_full = False
        await desk.comes("a.csv")
        assert "no space" not in desk.inbox.health().reason


async def test_a_paused_watch_records_and_a_removed_one_ends(tmp_path: Path) -> None:
    """What lands meanwhile is not lost; when the watch is gone its inbox is over."""
    async with dropped(tmp_path) as desk:
        await desk.log.keeper.submit(PauseWatch(WatchId(WATCH)))
        desk.drop("a.csv")
        await desk.comes("a.csv")
    async with dropped(tmp_path, run=False) as desk:
        desk.drop("b.csv")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.inbox.run)
            await until(lambda: desk.inbox.health().settling == 1)
            await desk.log.keeper.submit(RemoveWatch(WatchId(WATCH)))
        assert len(await desk.events()) == 1


async def test_a_batch_is_whole_when_nothing_more_comes(tmp_path: Path) -> None:
    """Not while a file settles, nor before the quiet time after the last one is over."""
    async with dropped(tmp_path, quiet_s=0.2) as desk:
        desk.drop("a.csv")
        await until(lambda: desk.inbox.health().settling == 1)
        assert not desk.inbox.is_quiet()
        await until(lambda: len(desk.landed()) == 1)
        assert not desk.inbox.is_quiet()
        assert desk.inbox.quiet_at_s > anyio.current_time()
        await until(desk.inbox.is_quiet)
        assert desk.inbox.quiet_at_s <= anyio.current_time()
