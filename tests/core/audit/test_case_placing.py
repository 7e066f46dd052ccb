"""An export writes a whole file under a name that nobody had, or leaves nothing."""

import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from cased import workbench
from kbd.core.audit.case_file import CaseRequest, WrittenCase, check_case, export_case
from kbd.core.audit.whole_paths import check_target, create_partial
from kbd.errors import DiskFull, FileWriteFailed, LogCorrupt, ValidationFailed
from kbd.events.anchor import Anchor
from kbd.events.scan import survey_log
from whole.disks import tiny_disk


@pytest.fixture
def wanted(tmp_path: Path) -> CaseRequest:
    """A run to export."""
    folders = workbench(tmp_path / "bench")
    found = survey_log(folders.log)
    return CaseRequest(folders, 1, Anchor(found.seq, found.chain), is_active=False)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def ignored(written: WrittenCase) -> None:
    """Do nothing before the file has its name."""


def test_an_export_is_whole_and_alone(wanted: CaseRequest, out: Path) -> None:
    """The file is there with its bytes, private, and nothing else is; the log is as it was."""
    log = sorted((path, path.read_bytes()) for path in wanted.folders.log.iterdir())
    seen: list[tuple[WrittenCase, list[Path]]] = []

    def look(written: WrittenCase) -> None:
        seen.append((written, list(out.glob("case*"))))

    made = export_case(wanted, out / "case.zip", look)
    assert [path.name for path in out.iterdir()] == ["case.zip"]
    assert (out / "case.zip").stat().st_size == made.size_bytes == seen[0][0].size_bytes
    assert (out / "case.zip").stat().st_mode & 0o777 == 0o600
    assert seen[0][1] == []  # It had no name while it was being written.
    checked = check_case(out / "case.zip")
    assert checked.faults == ()
    assert (checked.head, checked.events, checked.blobs) == (made.head, made.seq, made.blobs)
    assert sorted((path, path.read_bytes()) for path in wanted.folders.log.iterdir()) == log


def test_a_run_under_way_is_exported_to_the_durable_end(wanted: CaseRequest, out: Path) -> None:
    """All that is durable belongs to it."""
    live = CaseRequest(wanted.folders, 1, wanted.end, is_active=True)
    assert export_case(live, out / "case.zip", ignored).seq == wanted.end.seq == 18
    assert check_case(out / "case.zip").faults == ()


def test_nothing_is_overwritten(wanted: CaseRequest, out: Path) -> None:
    """A name that is taken is refused at once, and also if it is taken while the file is made."""
    target = out / "case.zip"
    (out / "dangling").symlink_to(out / "nowhere")
    for taken in (out, out / "dangling"):
        with pytest.raises(ValidationFailed, match="nothing is overwritten"):
            check_target(str(taken), out / "home")

    def take(written: WrittenCase) -> None:
        target.write_bytes(b"somebody's")

    with pytest.raises(ValidationFailed, match="nothing is overwritten"):
        export_case(wanted, target, take)
    assert target.read_bytes() == b"somebody's"
    assert sorted(path.name for path in out.iterdir()) == ["case.zip", "dangling"]


@pytest.mark.parametrize("text", ["case.zip", "/", "/no/such/folder/case.zip", "/tmp/a\0b", "/.."])
def test_targets_without_sense_are_refused(text: str) -> None:
    """A target is the absolute path of a file in a folder that is there."""
    with pytest.raises(ValidationFailed):
        check_target(text, Path("/home"))


def test_the_home_of_kbd_is_refused(out: Path) -> None:
    """Whatever the way to it: what lies there is kbd's own."""
    (out / "home" / "blobs").mkdir(parents=True)
    (out / "link").symlink_to(out / "home")
    for place in ("home/case.zip", "home/blobs/case.zip", "link/case.zip"):
        with pytest.raises(ValidationFailed, match="home of kbd"):
            check_target(str(out / place), out / "home")


def test_what_a_crash_left_is_removed(wanted: CaseRequest, out: Path) -> None:
    """The next export into the folder removes partials that nobody writes, and no others."""
    left, used = out / ".kbd-case-0011.part", out / ".kbd-case-2233.part"
    for path in (left, used, out / ".kbd-case-notes"):
        path.write_bytes(b"half")
    with used.open("rb+") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        export_case(wanted, out / "case.zip", ignored)
    assert sorted(path.name for path in out.iterdir()) == [
        used.name, ".kbd-case-notes", "case.zip"
    ]  # fmt: skip


def test_two_exports_at_once(wanted: CaseRequest, out: Path) -> None:
    """Each writes its own partial and leaves the other's alone."""
    meeting = threading.Barrier(2, timeout=30)

    def meet(written: WrittenCase) -> None:
        meeting.wait()

    threads = [
        threading.Thread(target=export_case, args=(wanted, out / f"case{n}.zip", meet))
        for n in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path.name for path in out.iterdir()) == ["case1.zip", "case2.zip"]
    assert (out / "case1.zip").read_bytes() == (out / "case2.zip").read_bytes()


@pytest.mark.parametrize("taken", [False, True])
def test_a_disk_without_links(
    wanted: CaseRequest, out: Path, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    """Where a file can have one name only (FAT), it is whole and overwrites nothing, too."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    target = out / "case.zip"

    def take(written: WrittenCase) -> None:
        if taken:
            target.write_bytes(b"somebody's")

    if taken:
        with pytest.raises(ValidationFailed, match="nothing is overwritten"):
            export_case(wanted, target, take)
        assert target.read_bytes() == b"somebody's"
    else:
        export_case(wanted, target, take)
        assert check_case(target).faults == ()
    assert [path.name for path in out.iterdir()] == ["case.zip"]


def test_a_full_disk_leaves_nothing(wanted: CaseRequest, tmp_path: Path) -> None:
    """An export that does not fit is told, with its reason, and nothing of it is there."""
    disk = tmp_path / "disk"
    with tiny_disk(disk, 128 * 1024):
        with pytest.raises(DiskFull, match="no space is left"):
            export_case(wanted, disk / "case.zip", ignored)
        assert list(disk.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(out: Path) -> None:
    """One that is gone, or is none."""
    for folder in (out / "gone", Path("/proc")):
        with (
            pytest.raises(FileWriteFailed, match="cannot be written"),
            create_partial(folder / "a.zip"),
        ):
            pytest.fail("it was begun")


def test_a_blob_that_is_gone_leaves_no_file(wanted: CaseRequest, out: Path) -> None:
    """What cannot be whole is not begun."""
    next(wanted.folders.blobs.glob("*")).unlink()
    with pytest.raises(LogCorrupt, match="is missing"):
        export_case(wanted, out / "case.zip", ignored)
    assert list(out.iterdir()) == []
