"""Repair of archives where a crash left them between two places, and where it cannot be done."""

import os
from pathlib import Path

import pytest

from backends import on_asyncio, on_trio
from events.failing_disks import FullDisk
from kbd.core.audit.archive_repair import ArchiveRepair, settle_archives
from kbd.core.audit.home_logs import list_logs, quick_damage, verify_home_log
from kbd.core.audit.home_repair import LogRepair
from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.runtime.paths import Home
from kbd.errors import DiskFull
from supervised import files_in, supervised

pytestmark = pytest.mark.anyio


async def _packed(folder: Path) -> tuple[Home, str]:
    """Make a home with one workbench, which is archived."""
    async with supervised(folder / "h") as running:
        bench = await running.bench(a__txt="a")
        await running.benches.archives.archive(bench.id, "test")
        return running.home, bench.id


def _copy(home: Home) -> ArchivedCopy:
    (log,) = list_logs(home).workbenches
    assert log.archive is not None
    return log.archive


@pytest.mark.parametrize("step", ["packed", "aside"])
@on_trio
async def test_an_archive_that_a_crash_left_in_the_stage_is_no_damage(
    tmp_path: Path, step: str
) -> None:
    """It is verified where it is, and a repair puts it in its place, as a start does."""
    home, bench_id = await _packed(tmp_path)
    archive = home.archive(bench_id)
    staged = home.archives / "stage" / f"{bench_id}.{step}"
    staged.parent.mkdir(exist_ok=True)
    archive.rename(staged)

    (log,) = list_logs(home).workbenches
    assert log.is_there
    assert quick_damage(home, log) == ""
    assert verify_home_log(home, bench_id, archive=log.archive).ok
    assert not archive.exists()
    settle_archives(home)
    assert ArchiveRepair(home, bench_id, _copy(home)).repair(None).is_whole
    assert archive.is_file()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("step", ["packed", "aside", "unpacked", "removed"])
@on_asyncio
async def test_what_a_crash_left_is_named_by_a_log_that_is_made_anew(
    tmp_path: Path, step: str
) -> None:
    """Nothing in the stage is taken for what may be removed: it may be all there is."""
    home, bench_id = await _packed(tmp_path)
    staged = home.archives / "stage" / f"{bench_id}.{step}"
    staged.parent.mkdir(exist_ok=True)
    (staged.parent / "somebody's.txt").touch()
    if step in ("packed", "aside"):
        home.archive(bench_id).rename(staged)
    else:
        async with supervised(home.folder) as running:
            await running.benches.open(bench_id)
        home.workbench(bench_id).root.rename(staged)
    for path in home.daemon_log.glob("*.kbl"):
        path.write_bytes(b"x" * 200)
    with LogRepair(home, "daemon") as repair:
        repair.rebuild()
        repair.commit()

    (log,) = list_logs(home).workbenches
    assert (log.log_id, log.name, log.is_there) == (bench_id, "test", True)
    assert verify_home_log(home, bench_id, archive=log.archive).ok
    async with supervised(home.folder) as again:
        opened = await again.benches.open(bench_id)
        assert files_in(again.folders(opened).published) == {"a.txt": "a"}


@on_trio
async def test_a_full_disk_mends_nothing_and_takes_nothing(tmp_path: Path) -> None:
    """The damaged file is where it was; with space it is mended."""
    home, bench_id = await _packed(tmp_path)
    copy, archive = _copy(home), home.archive(bench_id)
    backup = tmp_path / "b"
    (backup / "archives").mkdir(parents=True)
    whole = archive.read_bytes()
    (backup / "archives" / archive.name).write_bytes(whole)
    archive.write_bytes(b"x" * len(whole))

    with pytest.raises(DiskFull, match="nothing was changed"):
        ArchiveRepair(home, bench_id, copy, FullDisk(0)).repair(backup)
    assert archive.read_bytes() == b"x" * len(whole)
    done = ArchiveRepair(home, bench_id, copy).repair(backup)
    assert (done.mended, done.kept_as) == (
        "by the same file of the backup", f"{archive.name}.damaged-1"
    )  # fmt: skip
    assert archive.read_bytes() == whole
    assert (home.archives / done.kept_as).stat().st_size == len(whole)


@on_asyncio
async def test_a_pipe_and_a_link_in_the_place_of_an_archive_hang_nothing(tmp_path: Path) -> None:
    """They are damage, in the home and in a backup."""
    home, bench_id = await _packed(tmp_path)
    copy, archive = _copy(home), home.archive(bench_id)
    archive.rename(tmp_path / "elsewhere")
    for is_pipe in (True, False):
        if is_pipe:
            os.mkfifo(archive)
        else:
            archive.symlink_to(tmp_path / "elsewhere")
        (log,) = list_logs(home).workbenches
        assert "no regular file" in quick_damage(home, log)
        assert not verify_home_log(home, bench_id, archive=copy).ok
        assert not ArchiveRepair(home, bench_id, copy).repair(tmp_path).is_whole
        archive.unlink()
