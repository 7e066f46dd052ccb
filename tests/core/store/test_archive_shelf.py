"""Shelf of archives: power cuts at each step into an archive, out of it and away from it.

Each moment is built as a disk may have it then (`crash_states`), and settled by what the daemon's
log says at that moment: the folder, the archive, or neither is the workbench, and it is whole.
"""

import errno
import hashlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from crash_states import CrashStates, Lie, Model, TracedDisk
from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.runtime.paths import Home
from kbd.core.store.archive_shelf import ArchiveShelf, Kept
from kbd.errors import FileReadFailed
from kbd.events.disk import Disk
from kbd.types import Seq, WorkbenchId

BENCH = WorkbenchId("00112233445566ff")
FILES = {
    "log/1.kbl": bytes(range(256)) * 30,
    "log/anchor": b"anchor",
    "blobs/2d/2d71": b"blob",
    "published/deep/own.txt": b"put there by hand",
}


def _home(folder: Path) -> Home:
    return Home(folder, folder / "kbd.sock")


def _made(folder: Path) -> Home:
    home = _home(folder)
    for path, content in FILES.items():
        place = home.workbench(BENCH).root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return home


def _copy(sha256: str) -> ArchivedCopy:
    return ArchivedCopy(sha256, 0, Seq(1), 0)


class _Step(msgspec.Struct, frozen=True):
    """A step that an event stands in the middle of.

    Args:
        before: What the log says before it.
        after: And after it.
        prepare: What is done before it.
    """

    before: Kept
    after: Kept
    prepare: Callable[[ArchiveShelf, str], object]


STEPS = {
    "archive": _Step(Kept.FOLDER, Kept.ARCHIVE, lambda shelf, _: shelf.pack(BENCH, {})),
    "unpack": _Step(
        Kept.ARCHIVE, Kept.FOLDER, lambda shelf, sha256: shelf.unpack(BENCH, _copy(sha256))
    ),
    "remove": _Step(Kept.ARCHIVE, Kept.GONE, lambda shelf, _: shelf.set_aside(BENCH)),
}


def _begun(folder: Path, step: _Step) -> tuple[Home, str]:
    """Make a home as it is before a step; return it with the hash of the archive."""
    home = _made(folder)
    if step.before is Kept.FOLDER:
        return home, ""
    sha256 = ArchiveShelf(home).pack(BENCH, {}).sha256
    ArchiveShelf(home).settle(BENCH, Kept.ARCHIVE)
    return home, sha256


def _fault(home: Home, kept: Kept, sha256: str) -> str:
    """Return what is wrong with a home after it was settled; "" for nothing."""
    archive, root = home.archive(BENCH), home.workbench(BENCH).root
    if kept is Kept.ARCHIVE:
        if not archive.is_file():
            return "there is no archive"
        if sha256 and hashlib.sha256(archive.read_bytes()).hexdigest() != sha256:
            return "the archive is another one"
    elif archive.exists():
        return "an archive is left"
    if kept is Kept.FOLDER:
        found = {path: (root / path).read_bytes() for path in FILES if (root / path).is_file()}
        if found != FILES:
            return f"{FILES.keys() - found.keys()} are missing or other"
    elif root.exists():
        return "the folder is left"
    stage = home.archives / "stage"
    return "the stage is not empty" if stage.is_dir() and os.listdir(stage) else ""


def _explore(place: Path, step: _Step, model: Model, seed: int, lie: Lie) -> Iterator[str]:
    """Yield what is wrong with the states that a power cut at each moment of a step may leave."""
    home, sha256 = _begun(place / "home", step)
    disk = TracedDisk(lie)
    disk.note_tree(home.folder)
    states, shelf = CrashStates(home.folder), ArchiveShelf(home, disk)
    step.prepare(shelf, sha256)
    event = len(disk.trace)
    shelf.settle(BENCH, step.after)
    if step.after is Kept.ARCHIVE:
        sha256 = hashlib.sha256(home.archive(BENCH).read_bytes()).hexdigest()
    coin = random.Random(seed)
    for moment in range(len(disk.trace) + 1):
        for kept in {step.before if moment <= event else step.after, step.after}:
            if kept is step.after and moment < event:
                continue
            crashed = place / "crashed"
            states.build(disk.trace, moment, model, coin, crashed)
            again = _home(crashed)
            # Cut off by a second one, and then done.
            for _ in range(2):
                ArchiveShelf(again).settle(BENCH, kept)
            if fault := _fault(again, kept, sha256 if kept is step.after else ""):
                yield f"{model}, moment {moment} of {len(disk.trace)}, {kept}: {fault}"
            shutil.rmtree(crashed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", ["ordered", "weak"])
@pytest.mark.parametrize("name", STEPS)
def test_a_power_cut_leaves_the_folder_or_the_archive(
    tmp_path: Path, name: str, model: Model
) -> None:
    """What the log says is the workbench is whole, at each moment, and nothing else is left."""
    for seed in range(3):
        found = _explore(tmp_path / str(seed), STEPS[name], model, seed, lambda kind, path: False)
        assert list(found) == []


RULES: dict[str, tuple[str, Lie]] = {
    "the archive's bytes before its event": ("archive", lambda kind, path: path.endswith("ing")),
    "the archive's name before its event": ("archive", lambda kind, path: "/stage" in path),
    "unpacked bytes before their event": (
        "unpack",
        lambda kind, path: kind == "file" and "unpacking" in path,
    ),
    "unpacked names before their event": (
        "unpack",
        lambda kind, path: kind == "folder" and "unpacking" in path,
    ),
}
"""Each with the step that needs it, and the syncs that it is."""


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_taken_out_is_seen(tmp_path: Path, rule: str) -> None:
    """Without one of its syncs a step leaves states that are bad, and the look at them sees it."""
    name, lie = RULES[rule]
    seeds = range(20)
    assert any(
        list(_explore(tmp_path / str(seed), STEPS[name], "weak", seed, lie)) for seed in seeds
    )


def test_what_may_be_all_there_is_stays(tmp_path: Path) -> None:
    """A folder in the stage goes only beside its archive, and the other way round."""
    home = _made(tmp_path / "home")
    stage = home.archives / "stage"
    stage.mkdir(parents=True)
    home.workbench(BENCH).root.rename(stage / f"{BENCH}.removed")

    ArchiveShelf(home).settle(BENCH, Kept.ARCHIVE)
    ArchiveShelf(home).settle(BENCH, Kept.FOLDER)

    assert (stage / f"{BENCH}.removed" / "log" / "1.kbl").is_file()
    (stage / f"{BENCH}.aside").write_bytes(b"archive")
    ArchiveShelf(home).settle(BENCH, Kept.FOLDER)
    assert (stage / f"{BENCH}.aside").is_file()


class _FullDisk(Disk):
    """A disk that is full after so many bytes."""

    def __init__(self, left: int) -> None:
        self.left = left

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write, as long as there is space."""
        if len(data) > self.left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.left -= len(data)
        return super().pwrite(fd, data, offset)


@pytest.mark.parametrize("name", ["archive", "unpack"])
def test_a_full_disk_leaves_it_as_it_was(tmp_path: Path, name: str) -> None:
    """Nothing of a half-made archive or folder is left."""
    step = STEPS[name]
    for left in (0, 40, 200):
        home, sha256 = _begun(tmp_path / str(left), step)
        shelf = ArchiveShelf(home, _FullDisk(left))

        with pytest.raises(OSError, match="space"):
            step.prepare(shelf, sha256)

        assert os.listdir(home.archives / "stage") == []
        shelf.settle(BENCH, step.before)
        assert _fault(home, step.before, sha256) == ""


def test_an_archive_that_is_another_one_is_not_unpacked(tmp_path: Path) -> None:
    """Its hash is what counts: the folder that would come of it may be anybody's."""
    home, sha256 = _begun(tmp_path / "home", STEPS["unpack"])
    shelf = ArchiveShelf(home)

    with pytest.raises(FileReadFailed, match="damaged"):
        shelf.unpack(BENCH, _copy("0" * 64))

    assert shelf.unsettled() == ()
    shelf.unpack(BENCH, _copy(sha256))
    assert shelf.unsettled() == (BENCH,)


def test_a_log_is_read_out_of_an_archive(tmp_path: Path) -> None:
    """The archive stays; what a daemon that died left unpacked goes at the next start."""
    home, sha256 = _begun(tmp_path / "home", STEPS["unpack"])
    shelf = ArchiveShelf(home)

    folder = shelf.unpack_log(BENCH, _copy(sha256))

    assert (folder / "log" / "1.kbl").read_bytes() == FILES["log/1.kbl"]
    assert not (folder / "blobs").exists()
    assert home.archive(BENCH).is_file()
    shelf.clear_reading()
    assert not folder.exists()
