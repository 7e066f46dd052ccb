"""Backups with archives: consistent whatever is packed meanwhile, read when old, wary of lies."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from anyio.from_thread import run as run_in_loop
from anyio.to_thread import run_sync

from backends import on_asyncio, on_trio
from kbd.core.api.copies import BackupMethods
from kbd.core.audit.archived_logs import verify_archive
from kbd.core.audit.backup import Backup, check_backup
from kbd.core.audit.backup_inventory import read_inventory
from kbd.core.audit.restore import restore
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.runtime.paths import Home
from kbd.core.sessions import archives as archives_module
from kbd.core.store.archive_shelf import ArchiveShelf
from kbd.errors import DiskFull, FileReadFailed, ValidationFailed
from kbd.events.codec import wrap_event
from kbd.events.drafts import CheckpointCreated
from kbd.events.log import EventLog
from kbd.events.scan import read_log
from kbd.events.vocabulary import Event
from kbd.events.workbenches import WorkbenchArchived, WorkbenchCreated
from kbd.types import Seq, WorkbenchId
from supervised import Supervised, files_in, supervised

pytestmark = pytest.mark.anyio

BENCH = WorkbenchId("00112233445566ff")
OUT = CheckpointCreated("../../c1", "manual", "", ())


class Interfering(Backup):
    """A backup during which something happens before, or behind, its first copy of a folder."""

    before: Any = None
    behind: Any = None

    def take(self, workbench_id: WorkbenchId, name: str, until: Seq | None) -> None:
        """Take, and let it happen once."""
        before, self.before = self.before, None
        if before is not None:
            run_in_loop(before)
        super().take(workbench_id, name, until)
        behind, self.behind = self.behind, None
        if behind is not None:
            run_in_loop(behind)


def state_of(home: Path) -> DaemonState:
    """Return the state of the daemon's log of a home, or of a backup."""
    state = DaemonState()
    read_log(home / "daemon" / "log", lambda seq, record: fold_daemon(state, seq, record))
    return state


def assert_consistent(backup: Path) -> None:
    """See that each workbench lies in a backup as the daemon's log in it says, and no other."""
    inventory = read_inventory(backup)
    assert check_backup(backup).faults == ()
    known = state_of(backup).workbenches.values()
    assert {each.workbench_id for each in inventory.archives} == {
        each.workbench_id for each in known if each.archive is not None
    }
    assert {log.workbench_id for log in inventory.logs} == {"daemon"} | {
        each.workbench_id for each in known if each.archive is None
    }
    assert not any(log.damage or log.unsound for log in inventory.logs)
    assert not any(each.damage for each in inventory.archives)
    names = {path.name for path in backup.glob("archives/*")}
    assert names == {f"{each.workbench_id}.tar.gz" for each in inventory.archives}


async def back_up(running: Supervised, backup: Backup) -> None:
    """Make a backup that was begun."""
    methods = BackupMethods(running.context, running.benches, running.watcher)
    try:
        created_at = await methods._take_all(backup)
        await run_sync(backup.finish, created_at)
    finally:
        backup.close()


@pytest.mark.parametrize("moment", ["before", "behind"])
@on_trio
async def test_what_is_packed_or_unpacked_meanwhile_is_as_the_copied_log_says(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packed before it is copied or behind, unpacked, or removed with its archive."""
    monkeypatch.setattr(archives_module, "SHUT_TRY_S", 0.0)
    async with supervised(tmp_path / "h") as running:
        first, second = await running.bench(a__txt="a"), await running.bench(b__txt="b")
        third, fourth = await running.bench(c__txt="c"), await running.bench(d__txt="d")
        archives = running.benches.archives
        for bench in (third, fourth):
            await archives.archive(bench.id, "test")

        async def happens() -> None:
            for bench in (first, second):
                # The one that is being copied is in use.
                with suppress(ValidationFailed):
                    await archives.archive(bench.id, "test")
            await running.benches.open(third.id)
            await running.benches.delete(fourth.id)

        backup = await run_sync(Interfering, running.home, tmp_path / "b")
        setattr(backup, moment, happens)
        await back_up(running, backup)
    assert_consistent(tmp_path / "b")
    restore(tmp_path / "b", tmp_path / "r")
    async with supervised(tmp_path / "r") as again:
        for bench, name in ((first, "a.txt"), (second, "b.txt"), (third, "c.txt")):
            opened = await again.benches.open(bench.id)
            assert list(files_in(again.folders(opened).published)) == [name]


@on_asyncio
async def test_an_older_kbd_reads_a_backup_without_archives(tmp_path: Path) -> None:
    """Its version is the first; an older backup, whose list has no archives, is read here."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="a")
        await back_up(running, await run_sync(Backup, running.home, tmp_path / "old"))
        await running.benches.archives.archive(bench.id, "test")
        await back_up(running, await run_sync(Backup, running.home, tmp_path / "new"))
    assert read_inventory(tmp_path / "old").format == 1
    assert read_inventory(tmp_path / "new").format == 2
    framed = msgspec.json.decode((tmp_path / "old" / "backup.json").read_bytes())
    del framed["inventory"]["archives"]
    listed = msgspec.json.encode(framed["inventory"])
    digest = hashlib.sha256(listed).hexdigest()
    sealed = b'{"sha256": "' + digest.encode() + b'", "inventory": ' + listed + b"}\n"
    (tmp_path / "old" / "backup.json").write_bytes(sealed)
    assert check_backup(tmp_path / "old").faults == ()


def _append(log_dir: Path, events: Sequence[Event]) -> Seq:
    log = EventLog.open(log_dir)
    log.append([wrap_event(event, 1_700_000_000_000_000) for event in events])
    log.close()
    return log.seq


def _stranger(folder: Path, events: Sequence[Event], *, names: Sequence[str] = ()) -> Home:
    """Make a home with an archive that a stranger filled, whole by every hash."""
    home = Home(folder=folder / "stranger", socket=folder / "s")
    home.create()
    log_dir = folder / "bench"
    seq = _append(log_dir, (WorkbenchCreated(BENCH, "w"), *events))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(log_dir.iterdir()):
            tar.add(path, f"log/{path.name}")
        for name in names:
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    data = gzip.compress(packed.getvalue())
    home.archives.mkdir()
    home.archive(BENCH).write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    archived = WorkbenchArchived(BENCH, digest, len(data), seq, "test")
    _append(home.daemon_log, (WorkbenchCreated(BENCH, "w"), archived))
    return home


def _backup_of(home: Home, target: Path, *, is_called_damaged: bool = False) -> Path:
    copy = state_of(home.folder).workbenches[BENCH].archive
    assert copy is not None
    named = msgspec.structs.replace(copy, sha256="0" * 64) if is_called_damaged else copy
    backup = Backup(home, target)
    backup.take_daemon(Seq(2), {})
    backup.take_archive(BENCH, "w", named)
    backup.finish("2026-11-22T13:37:00.000000Z")
    backup.close()
    return target


@pytest.mark.parametrize("is_called_damaged", [False, True])
def test_a_name_in_an_archived_log_that_leads_out_is_refused(
    tmp_path: Path, *, is_called_damaged: bool
) -> None:
    """Before anything has the home's name, also where the list only calls the archive damaged."""
    home = _stranger(tmp_path, (OUT,))
    backup = _backup_of(home, tmp_path / "b", is_called_damaged=is_called_damaged)
    if not is_called_damaged:
        (fault, *_) = check_backup(backup).faults
        assert fault.kind == "name"
        assert fault.file.startswith(f"archives/{BENCH}.tar.gz/")
    with pytest.raises(FileReadFailed, match="names what leads elsewhere"):
        restore(backup, tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("name", ["../out", "/etc/x", "log", "log/../../out"])
def test_an_archive_that_leads_out_or_says_a_thing_twice_is_damaged(
    tmp_path: Path, name: str
) -> None:
    """It is told as that, and nothing is written outside of the copy."""
    home = _stranger(tmp_path, (), names=(name,))
    copy = state_of(home.folder).workbenches[BENCH].archive
    assert copy is not None
    scratch = tmp_path / "scratch"
    found = verify_archive(home.archive(BENCH), BENCH, copy, scratch=scratch)
    assert [each.kind for each in found.faults] == ["archive damaged"]
    assert list(scratch.iterdir()) == []


def test_a_snapshot_of_a_stranger_is_not_believed(tmp_path: Path) -> None:
    """Nor are marks, caches and drafts: of an archive that was restored facts alone are taken."""
    names = ("snap/1.snap", "cache/x", "draft/x", "open", "own.txt")
    home = _stranger(tmp_path, (), names=names)
    restore(_backup_of(home, tmp_path / "b"), tmp_path / "r")
    again = Home(folder=tmp_path / "r", socket=tmp_path / "s")
    copy = state_of(again.folder).workbenches[BENCH].archive
    assert copy is not None
    assert copy.restored
    ArchiveShelf(again).unpack(BENCH, copy)
    unpacked = again.archives / "stage" / f"{BENCH}.unpacked"
    assert sorted(path.name for path in unpacked.iterdir()) == ["log", "own.txt"]
    folder = ArchiveShelf(again).unpack_log(BENCH, copy)
    assert [path.name for path in folder.iterdir()] == ["log"]
    ArchiveShelf(home).unpack(BENCH, msgspec.structs.replace(copy, restored=False))
    own = home.archives / "stage" / f"{BENCH}.unpacked"
    assert sorted(path.name for path in own.iterdir()) == ["log", "own.txt", "snap"]


def test_a_copy_that_finds_no_space_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where little is left of a disk, it is left to files that stay."""
    home = _stranger(tmp_path, ())
    copy = state_of(home.folder).workbenches[BENCH].archive
    assert copy is not None
    monkeypatch.setattr("kbd.events.disk._LEFT_SHARE", 1)
    with pytest.raises(DiskFull, match="free some space"):
        verify_archive(home.archive(BENCH), BENCH, copy, scratch=tmp_path / "scratch")
    assert list((tmp_path / "scratch").iterdir()) == []
