"""A home with archived workbenches: what is damaged in it is told, backed up and repaired."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from damaged_logs import contents, flip, frame_of, last_segment
from kbd.cli import main
from kbd.client.blocking import RemoteError
from kbd.events.frame import BODY_AT
from real_daemon import RealDaemon

Captured = pytest.CaptureFixture[str]
Kbd = Callable[..., int]

full = pytest.mark.full


@pytest.fixture
def kbd(daemon: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> Kbd:
    """Run a command in this process with the daemon's home, and return its exit code."""
    monkeypatch.delenv("KBD_SOCKET", raising=False)
    monkeypatch.setenv("KBD_HOME", str(daemon.home))
    return lambda *arguments: main(arguments)


def _packed(daemon: RealDaemon, name: str = "taxes") -> str:
    """Make a workbench with a file, and archive it."""
    source = daemon.home.parent / f"{name}.csv"
    source.write_text(f"Shop,Amount\n{name},1\n")
    workbench_id = daemon.workbench(source, name=name)
    daemon.ask("WorkbenchArchive", workbench_id=workbench_id)
    return workbench_id


def _archive(daemon: RealDaemon, workbench_id: str) -> Path:
    return daemon.home / "archives" / f"{workbench_id}.tar.gz"


def _rows(daemon: RealDaemon) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in daemon.ask("WorkbenchList")["workbenches"]}


def _backup(daemon: RealDaemon, name: str = "backup") -> str:
    target = str(daemon.home.parent / name)
    daemon.ask("BackupCreate", target=target)
    return target


def _spoil(archive: Path) -> None:
    """Change a byte in the middle of an archive; its size stays."""
    flip(archive, archive.stat().st_size // 2)


def _names(daemon: RealDaemon, workbench_id: str) -> list[str]:
    found = daemon.ask("WorkbenchFilesList", workbench_id=workbench_id)
    return [each["path"] for each in found["files"]]


@full
def test_an_archive_is_verified_whole_and_nothing_is_left(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a daemon and without the same is told, a head is compared, and no copy stays."""
    taxes = _packed(daemon)
    assert kbd("log", taxes, "--head") == 0
    head = capsys.readouterr().out.strip()
    daemon.ask("WorkbenchArchive", workbench_id=taxes)
    assert kbd("verify", "taxes", "--head", head) == 0
    told = capsys.readouterr().out
    assert "1 blobs" in told
    assert list((daemon.home / "archives" / "reading").glob("kbd-archive-*")) == []
    assert _archive(daemon, taxes).is_file()

    daemon.stop()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = contents(daemon.home)
    assert kbd("verify", "taxes", "--head", head) == 0
    assert capsys.readouterr().out == told
    assert kbd("verify", taxes, "--head", f"1{head[head.index(':') :]}") == 1
    _spoil(_archive(daemon, taxes))
    assert kbd("verify", taxes, "--json") == 1
    assert contents(daemon.home).keys() == before.keys()
    assert list(tmp_path.iterdir()) == []


@full
@pytest.mark.parametrize("harm", ["flipped", "shorter", "missing", "a folder"])
def test_a_damaged_archive_is_told_and_changed_by_nobody(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured, harm: str
) -> None:
    """The daemon starts, opening refuses with what helps, and the rest of the home is as it was."""
    taxes, rents = _packed(daemon), _packed(daemon, "rents")
    daemon.stop()
    archive = _archive(daemon, taxes)
    match harm:
        case "flipped":
            _spoil(archive)
        case "shorter":
            archive.write_bytes(archive.read_bytes()[:-3])
        case "missing":
            archive.unlink()
        case _:
            archive.unlink()
            archive.mkdir()
    before = contents(daemon.home / "archives")

    assert kbd("verify") == 1
    found = capsys.readouterr().out
    assert f"archive {'missing' if harm == 'missing' else 'damaged'}: archives/{taxes}" in found
    assert f"{rents} (rents) whole" in found
    # A byte that changed in its place only a reading shows.
    assert kbd("doctor") == (0 if harm == "flipped" else 1)
    capsys.readouterr()
    daemon.start()
    if harm != "flipped":
        assert _rows(daemon)[taxes]["status"] == "damaged"
        assert kbd("status") == 1
    with pytest.raises(RemoteError) as refused:
        daemon.ask("WorkbenchOpen", workbench_id=taxes)
    assert refused.value.error_code == "FILE_READ_FAILED"
    assert "kbd repair --from" in str(refused.value.data)
    assert _rows(daemon)[taxes]["status"] == "damaged"
    assert "reason" in _rows(daemon)[taxes]
    assert daemon.ask("LogVerify", workbench_id=taxes)["ok"] is False
    assert _names(daemon, rents) == ["rents.csv"]
    assert contents(daemon.home / "archives").keys() >= set(before) - {f"{rents}.tar.gz"}
    daemon.ask("WorkbenchDelete", workbench_id=taxes)
    assert list(_rows(daemon)) == [rents]


@full
def test_a_backup_has_archives_and_a_home_is_made_of_it(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """It is checked byte for byte; the restored workbench is opened as one that was restored."""
    taxes = _packed(daemon)
    backup = daemon.home.parent / "backup"
    assert kbd("backup", str(backup)) == 0
    assert "1 archives" in capsys.readouterr().out
    assert kbd("verify", str(backup)) == 0
    assert "2 logs" in capsys.readouterr().out
    again = RealDaemon(daemon.home.parent / "again", daemon.backend)
    assert kbd("--home", str(again.home), "restore", str(backup)) == 0
    capsys.readouterr()
    again.start()
    try:
        assert _rows(again)[taxes]["status"] == "archived"
        assert _names(again, taxes) == ["taxes.csv"]
        assert again.events(taxes)[-1]["type"] == "WorkbenchRestored"
    finally:
        again.stop()

    _spoil(backup / "archives" / f"{taxes}.tar.gz")
    assert kbd("verify", str(backup)) == 1
    assert f"archive damaged: archives/{taxes}.tar.gz" in capsys.readouterr().out
    assert kbd("--home", str(daemon.home.parent / "third"), "restore", str(backup)) == 1
    assert not (daemon.home.parent / "third").exists()


@full
def test_a_backup_of_damaged_archives_names_them(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """It ends with 1, has what is there, and is whole as a backup of what there was."""
    spoiled, gone = _packed(daemon, "spoiled"), _packed(daemon, "gone")
    _spoil(_archive(daemon, spoiled))
    _archive(daemon, gone).unlink()
    backup = daemon.home.parent / "backup"

    assert kbd("backup", str(backup)) == 1
    told = capsys.readouterr().err
    assert "spoiled (workbench) is damaged and was copied as it is" in told
    assert "gone (workbench) is damaged: the archive is missing" in told
    assert kbd("verify", str(backup)) == 0
    assert (backup / "archives" / f"{spoiled}.tar.gz").read_bytes() == _archive(
        daemon, spoiled
    ).read_bytes()
    capsys.readouterr()
    again = daemon.home.parent / "again"
    assert kbd("--home", str(again), "restore", str(backup)) == 0
    assert capsys.readouterr().err.count("was damaged when it was copied") == 2
    assert kbd("--home", str(again), "verify") == 1


def test_the_same_archive_of_a_backup_is_put_back(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """To the byte; the damaged file is kept, and without a backup nothing is changed."""
    taxes, rents = _packed(daemon), _packed(daemon, "rents")
    backup = _backup(daemon)
    daemon.stop()
    whole = _archive(daemon, taxes).read_bytes()
    _spoil(_archive(daemon, taxes))
    _archive(daemon, rents).unlink()
    spoiled = _archive(daemon, taxes).read_bytes()

    assert kbd("repair") == 1
    assert "--from BACKUP may bring it back" in capsys.readouterr().out
    assert _archive(daemon, taxes).read_bytes() == spoiled
    assert kbd("repair", "--from", backup) == 0
    told = capsys.readouterr().out
    assert told.count("mended by the same file of the backup: nothing is lost") == 2
    assert _archive(daemon, taxes).read_bytes() == whole
    kept = daemon.home / "archives" / f"{taxes}.tar.gz.damaged-1"
    assert kept.read_bytes() == spoiled
    assert kbd("verify") == 0
    daemon.start()
    assert {row["status"] for row in _rows(daemon).values()} == {"archived"}
    assert _names(daemon, rents) == ["rents.csv"]


@full
def test_a_workbench_of_a_backup_takes_the_place_of_its_archive(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """If its log ends with the event that was recorded; then the daemon's log says so."""
    source = daemon.home.parent / "taxes.csv"
    source.write_text("Shop,Amount\nBaker,1\n")
    taxes, rents = (daemon.workbench(source, name=name) for name in ("taxes", "rents"))
    backup = _backup(daemon)
    daemon.ask("CheckpointCreate", workbench_id=rents, description="later than the backup")
    for workbench_id in (taxes, rents):
        daemon.ask("WorkbenchArchive", workbench_id=workbench_id)
    daemon.stop()
    for workbench_id in (taxes, rents):
        _spoil(_archive(daemon, workbench_id))

    assert kbd("repair", "--from", backup) == 1
    told = capsys.readouterr().out
    assert f"{taxes} (taxes) mended unpacked as the backup has it: nothing is lost" in told
    assert "the backup has no archive of it" in told
    assert "ends with event" in told
    assert _archive(daemon, rents).is_file()
    assert kbd("verify", "taxes") == 0
    daemon.start()
    assert _names(daemon, taxes) == ["taxes.csv"]
    assert daemon.events("daemon")[-2]["type"] == "WorkbenchUnarchived"
    assert _rows(daemon)[rents]["status"] == "damaged"


@full
def test_a_damaged_workbench_is_mended_by_its_archive_in_a_backup(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """The log's history is proven as by a folder's, and file versions come out of it, too."""
    taxes = _packed(daemon)
    backup = _backup(daemon)
    daemon.ask("WorkbenchUnarchive", workbench_id=taxes)
    daemon.stop()
    folder = daemon.home / "workbenches" / taxes
    whole = contents(folder / "log")
    segment = last_segment(folder / "log")
    flip(segment, frame_of(segment, "FileAdded")[0] + BODY_AT + 1)
    shutil.rmtree(folder / "blobs")
    shutil.rmtree(folder / "published")

    assert kbd("repair", "--from", backup) == 0, capsys.readouterr().out
    told = capsys.readouterr().out
    assert "mended: nothing is lost" in told
    assert "file version" in told
    assert {name: contents(folder / "log")[name][1] for name in whole} == {
        name: data for name, (_, data) in whole.items()
    }
    assert kbd("verify") == 0
    daemon.start()
    assert _names(daemon, taxes) == ["taxes.csv"]


@full
@pytest.mark.parametrize("way", ["--cut", "--rebuild"])
def test_a_lost_log_of_the_daemon_names_archives_again(
    daemon: RealDaemon, kbd: Kbd, way: str
) -> None:
    """While it is damaged they are listed with a doubt and read; then they are as they were."""
    first = daemon.workbench(name="first")
    taxes, rents = _packed(daemon), _packed(daemon, "rents")
    daemon.ask("WorkbenchArchive", workbench_id=first)
    daemon.stop()
    segment = last_segment(daemon.home / "daemon" / "log")
    # Behind what names the first as a folder, which is an archive by now.
    flip(segment, frame_of(segment, "WorkbenchCreated", 1)[0] + BODY_AT + 3)
    daemon.start()
    rows = _rows(daemon)
    assert {each: row["status"] for each, row in rows.items()} == dict.fromkeys(
        (first, taxes, rents), "archived"
    )
    assert "may have been deleted" in rows[taxes]["reason"]
    assert daemon.events(taxes)[0]["type"] == "WorkbenchCreated"
    with pytest.raises(RemoteError, match="daemon's own log is damaged"):
        daemon.ask("WorkbenchOpen", workbench_id=taxes)
    daemon.stop()

    assert kbd("verify", "rents") == 0
    assert kbd("repair", "daemon", way, "--yes") == 0
    assert kbd("verify") == 0
    daemon.start()
    assert {row["name"]: row["status"] for row in _rows(daemon).values()} == dict.fromkeys(
        ("first", "taxes", "rents"), "archived"
    )
    assert _names(daemon, taxes) == ["taxes.csv"]
    assert daemon.events(taxes)[-1]["type"] == "WorkbenchRestored"


@full
def test_archives_are_counted(daemon: RealDaemon, kbd: Kbd, capsys: Captured) -> None:
    """In the status, in the metrics, and a fork of an archived workbench opens it."""
    taxes = _packed(daemon)
    size_bytes = _archive(daemon, taxes).stat().st_size
    assert kbd("status") == 0
    assert f"  archives     1, {size_bytes} bytes" in capsys.readouterr().out
    assert kbd("status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["disk"]["archives_bytes"] == size_bytes
    assert kbd("metrics") == 0
    told = capsys.readouterr().out
    assert "kbd_archives 1" in told
    assert f"kbd_archives_size_bytes {size_bytes}" in told
    forked = daemon.ask("WorkbenchFork", source_workbench_id=taxes, mode="clone_all", name="fork")[
        "workbench_id"
    ]
    assert _names(daemon, forked) == ["taxes.csv"]
