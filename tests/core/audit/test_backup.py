"""A backup is an exact beginning of every log with all that it names, whoever writes meanwhile."""

import os
import shutil
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio.from_thread import run as run_in_loop
from anyio.to_thread import run_sync

from backends import on_asyncio, on_trio
from backups import assert_beginning, checked, folder_of, kept
from events.failing_disks import FullDisk
from kbd.core.api.copies import BackupMethods
from kbd.core.audit.backup import Backup, check_backup
from kbd.core.audit.backup_contents import hash_file
from kbd.core.audit.backup_inventory import InventoryFile, read_inventory
from kbd.core.audit.restore import restore
from kbd.core.domain.commands import SendMessage
from kbd.errors import DiskFull, FileReadFailed, KbdError, ValidationFailed
from kbd.events.disk import DISK
from kbd.requests.copies import BackupCreate, BackupCreated
from kbd.types import Seq, WorkbenchId
from supervised import Supervised, add, draft, files_in, supervised

pytestmark = pytest.mark.anyio


async def back_up(running: Supervised, target: Path) -> BackupCreated:
    """Have a backup made as a client would."""
    session: Any = None
    return await BackupMethods(running.context, running.benches, running.watcher).create(
        BackupCreate(target=str(target)), session
    )


@pytest.mark.full
@on_trio
async def test_each_backup_under_load_is_an_exact_beginning(tmp_path: Path) -> None:
    """Of 20 backups while logs and blobs grow each is whole, and restores to what was there.

    What was acknowledged before it began is in it, and no fact of the daemon's log is ahead.
    """
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="first")
        idle = await running.bench(b__txt="never touched")
        acknowledged = 0

        async def write() -> None:
            nonlocal acknowledged
            while True:
                acknowledged += 1
                await bench.keeper.submit(SendMessage(f"u{acknowledged}", "more"))
                if acknowledged % 20 == 0:
                    await add(bench, f"f{acknowledged}.txt", f"content {acknowledged}")
                if acknowledged in (10, 60):
                    await running.benches.create(f"new {acknowledged}")
                await anyio.sleep(0.004)

        seqs: list[int] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            for n in range(20):
                before = {"daemon": running.benches.daemon.state.seq, bench.id: bench.state.seq}
                made = await back_up(running, tmp_path / f"b{n}")
                inventory = await run_sync(checked, tmp_path / f"b{n}")
                assert [log.seq for log in made.logs] == [log.seq for log in inventory.logs]
                for log_id, seq in before.items():
                    assert kept(inventory, log_id).seq >= seq
                seqs.append(kept(inventory, bench.id).seq)
                assert kept(inventory, idle.id).blobs == 1
                if n % 5 == 4:
                    copy = tmp_path / f"r{n}"
                    await run_sync(restore, tmp_path / f"b{n}", copy)
                    await run_sync(assert_beginning, running.home.folder, copy, inventory)
            tasks.cancel_scope.cancel()
    assert len(set(seqs)) > 10, "hardly anything was written meanwhile"


@on_trio
async def test_a_restored_home_works_and_shows_its_files(tmp_path: Path) -> None:
    """published/ and draft/ are written again; a user's own file in published/ is there, too."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="one", c__txt="c")
        await draft(bench, b__txt="drafted", c__txt=None)
        published = running.folders(bench).published
        (published / "mine").mkdir()
        (published / "mine" / "own.txt").write_text("somebody's")
        (published / "a.txt").write_text("edited by hand")
        (published / "link.txt").symlink_to("/etc/passwd")
        (running.home.folder / "settings.toml").write_text("[limits]\n")
        (running.home.folder / "notes.txt").write_text("not kbd's")
        made = await back_up(running, tmp_path / "b")

    told = "\n".join(made.left_out)
    for word in ("settings.toml", "notes.txt", "published/link.txt", "caches"):
        assert word in told
    restore(tmp_path / "b", tmp_path / "r")
    async with supervised(tmp_path / "r") as again:
        opened = await again.benches.open(bench.id)
        assert opened.state.name == "test"
        folders = again.folders(opened)
        assert files_in(folders.published) == {
            "a.txt": "edited by hand", "c.txt": "c", "mine/own.txt": "somebody's"
        }  # fmt: skip
        assert files_in(folders.draft) == {"b.txt": "drafted"}
        await opened.keeper.submit(SendMessage("u1", "go on"))
    assert not (tmp_path / "r" / "settings.toml").exists()


class Interfering(Backup):
    """A backup during which something happens before its first workbench is taken."""

    happens: Any = None

    def take(self, workbench_id: WorkbenchId, name: str, until: Seq | None) -> None:
        """Let it happen once, then take."""
        happens, self.happens = self.happens, None
        if happens is not None:
            run_in_loop(happens)
        super().take(workbench_id, name, until)


@on_asyncio
async def test_a_workbench_that_is_deleted_meanwhile_is_left_out(tmp_path: Path) -> None:
    """The daemon's log in the backup says that it is gone; one that was made meanwhile is there."""
    async with supervised(tmp_path / "h") as running:
        first, gone = await running.bench(a__txt="a"), await running.bench(b__txt="b")
        made: list[str] = []

        async def happens() -> None:
            await running.benches.delete(gone.id)
            await add(first, "late.txt", "late")
            made.append(await running.benches.create("new"))

        backup = await run_sync(Interfering, running.home, tmp_path / "b")
        backup.happens = happens
        created_at = await BackupMethods(
            running.context, running.benches, running.watcher
        )._take_all(backup)
        await run_sync(backup.finish, created_at)
        backup.close()
        inventory = checked(tmp_path / "b")
        ids = [log.workbench_id for log in inventory.logs]
        assert ids == ["daemon", first.id, *made]
        assert not folder_of(tmp_path / "b", gone.id).exists()
        assert_beginning(running.home.folder, tmp_path / "b", inventory)
        assert kept(inventory, first.id).blobs == 2


@on_trio
async def test_damage_is_copied_as_it_is_and_told(tmp_path: Path) -> None:
    """A damaged log, a damaged and a missing blob fail no backup: what is there is in it."""
    async with supervised(tmp_path / "h") as running:
        bad, worse = (
            await running.bench(a__txt="a" * 500),
            await running.bench(b__txt="b", c__txt="c"),
        )
        lost = await running.bench(d__txt="d")
    segment = next((running.folders(bad).log).glob("*.kbl"))
    flipped = bytearray(segment.read_bytes())
    flipped[150] ^= 1
    segment.write_bytes(flipped)
    blobs = sorted(running.folders(worse).blobs.glob("?" * 64))
    blobs[0].chmod(0o600)
    blobs[0].write_bytes(b"other")
    blobs[1].unlink()
    shutil.rmtree(running.folders(lost).root)

    async with supervised(tmp_path / "h") as again:
        made = await back_up(again, tmp_path / "b")
    told = "\n".join(made.left_out)
    for word in ("copied as it is", "is damaged", "is missing", "has no folder"):
        assert word in told
    inventory = checked(tmp_path / "b")
    assert kept(inventory, bad.id).damage
    assert set(kept(inventory, worse.id).unsound) == {blob.name for blob in blobs}

    restore(tmp_path / "b", tmp_path / "r")
    restored = folder_of(tmp_path / "r", bad.id) / "log" / segment.name
    assert restored.read_bytes() == bytes(flipped)
    async with supervised(tmp_path / "r") as running:
        assert (await running.benches.open(bad.id)).damage is not None


async def a_backup(folder: Path) -> Path:
    """Make a small one."""
    async with supervised(folder / "h") as running:
        bench = await running.bench(a__txt="a")
        (running.folders(bench).published / "own.txt").write_text("own")
        await back_up(running, folder / "b")
    return folder / "b"


@on_asyncio
async def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    """In whichever file of a backup, and the file is named."""
    backup = await a_backup(tmp_path)
    for path in sorted(path for path in backup.rglob("*") if path.is_file()):
        data = path.read_bytes()
        path.chmod(0o600)
        step = max(1, len(data) // 23)
        for at in (*range(0, len(data), step), len(data) - 1):
            changed = bytearray(data)
            changed[at] ^= 1 << at % 8
            path.write_bytes(changed)
            if path.name == "backup.json":
                with pytest.raises(FileReadFailed, match=r"changed|no backup"):
                    check_backup(backup)
            else:
                faults = check_backup(backup).faults
                named = {fault.file for fault in faults}
                assert str(path.relative_to(backup)) in named, (path, at)
        path.write_bytes(data + b"\0")
        with pytest.raises((AssertionError, FileReadFailed)):
            checked(backup)
        path.write_bytes(data)
    checked(backup)
    segment = next(backup.rglob("*.kbl"))
    segment.unlink()
    assert check_backup(backup).faults


@on_trio
async def test_a_backup_goes_nowhere_else(tmp_path: Path) -> None:
    """What is there is never written over, and the home holds no backup of itself."""
    async with supervised(tmp_path / "h") as running:
        await running.bench(a__txt="a")
        (tmp_path / "file").write_text("x")
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "x").write_text("x")
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        (tmp_path / "into").symlink_to(running.home.folder)
        refused = (
            Path("relative"), tmp_path / "file", tmp_path / "full", tmp_path / "link",
            tmp_path / "no" / "parent", running.home.folder, running.home.folder / "b",
            running.home.workbenches / "b", tmp_path / "into" / "b", tmp_path / "..",
            Path("/proc"), tmp_path / "nul\0",
        )  # fmt: skip
        before = sorted(os.listdir(tmp_path))
        for target in refused:
            with pytest.raises(ValidationFailed):
                await back_up(running, target)
        assert sorted(os.listdir(tmp_path)) == before

        (tmp_path / "empty").mkdir()
        first = await run_sync(Backup, running.home, tmp_path / "empty")
        with pytest.raises(ValidationFailed, match="already"):
            await back_up(running, tmp_path / "empty")
        # As a crash leaves it: the lock is gone and the folder is there.
        os.close(first._new._fd)
        (tmp_path / ".empty.kbd-partial" / "half").mkdir()
        await back_up(running, tmp_path / "empty")
        checked(tmp_path / "empty")
        assert not (tmp_path / ".empty.kbd-partial").exists()
        assert not (tmp_path / "empty" / "half").exists()


@on_asyncio
async def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """Wherever it is full, the error says so and the target is as free as before."""
    async with supervised(tmp_path / "h") as running:
        await running.bench(a__txt="a" * 3000)
        methods = BackupMethods(running.context, running.benches, running.watcher)
        space, told = 0, 0
        while True:
            backup = await run_sync(
                lambda: Backup(running.home, tmp_path / "b", disk=FullDisk(space))  # noqa: B023
            )
            try:
                await run_sync(backup.finish, await methods._take_all(backup))
                break
            except DiskFull:
                told, space = told + 1, space + 4000
            finally:
                backup.close()
            assert sorted(os.listdir(tmp_path)) == ["h"]
    assert told > 3
    checked(tmp_path / "b")


@on_trio
async def test_a_home_is_made_only_where_none_is(tmp_path: Path) -> None:
    """And only of what the backup vouches for: nothing that was put beside it gets in."""
    backup = await a_backup(tmp_path)
    (backup / "settings.toml").write_text("[plugins]\n")
    (backup / "workbenches" / "strange").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    async with supervised(tmp_path / "h"):
        for home in (tmp_path / "h", tmp_path / "full", tmp_path / "no" / "parent"):
            with pytest.raises(ValidationFailed):
                restore(backup, home)
    restore(backup, tmp_path / "r")
    assert sorted(os.listdir(tmp_path / "r")) == ["daemon", "workbenches"]
    assert len(os.listdir(tmp_path / "r" / "workbenches")) == 1
    with pytest.raises(FileReadFailed):
        restore(tmp_path, tmp_path / "s")
    inventory = read_inventory(backup)
    for path in ("../x", "daemon/../../x", "/x", "", "settings.toml"):
        forged = InventoryFile(path=path, size_bytes=1, sha256=hash_file(tmp_path / "full" / "x"))
        msgspec.structs.replace(inventory, files=(forged,)).write(backup, DISK)
        with pytest.raises(FileReadFailed, match="none of a home"):
            restore(backup, tmp_path / "s")
    inventory.write(backup, DISK)
    next(backup.rglob("blobs/*/*")).unlink()
    with pytest.raises(KbdError):
        restore(backup, tmp_path / "s")
    assert not [name for name in os.listdir(tmp_path) if name.endswith("partial") or name == "s"]


def test_what_is_no_file_is_refused_and_let_go(tmp_path: Path) -> None:
    """A folder or a pipe in a file's place: nobody waits for a writer, no descriptor is left."""
    os.mkfifo(tmp_path / "pipe")
    held = len(os.listdir("/proc/self/fd"))
    for place in (tmp_path, tmp_path / "pipe", tmp_path / "none"):
        with pytest.raises(OSError, match=r"regular file|No such file"):
            hash_file(place)
    assert len(os.listdir("/proc/self/fd")) == held
