"""The copy of a file that landed: whole or not at all."""

import errno
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbd.core.runtime.held_folder import open_below
from kbd.core.watch import ingest
from kbd.core.watch.ingest import Unsettled, hash_file, ingest_file
from kbd.core.watch.tree import WatchedTree
from kbd.errors import DiskFull, FileReadFailed, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.events.disk import Disk

LIMIT_BYTES = 3_000_000


class ChangingDisk(Disk):
    """Something happens to the file after the first piece of the copy was written."""

    def __init__(self, change: object) -> None:
        self._change = change

    def write_all(self, fd: int, data: bytes, offset: int) -> None:
        """Write, then change the file, once."""
        super().write_all(fd, data, offset)
        if callable(self._change):
            self._change()
            self._change = None


class FullDisk(Disk):
    """A disk without space."""

    def write_all(self, fd: int, data: bytes, offset: int) -> None:
        """Refuse."""
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


@pytest.fixture
def tree(folder: Path) -> Iterator[WatchedTree]:
    with WatchedTree(str(folder)) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "landed")


def test_a_whole_file_is_copied(folder: Path, tree: WatchedTree, store: BlobStore) -> None:
    """The hash is that of the copy, which is there; the file is as it was."""
    data = b"x" * 1_500_000
    (folder / "a.csv").write_bytes(data)
    taken = ingest_file(tree, "a.csv", store, LIMIT_BYTES)
    looked = tree.look("a.csv")
    assert looked is not None
    assert (taken.sha256, taken.size_bytes) == (hashlib.sha256(data).hexdigest(), len(data))
    assert taken.signature == looked.signature
    assert store.read(taken.sha256) == data
    assert hash_file(tree, "a.csv") == taken.sha256


def test_a_file_that_somebody_writes_is_not_whole(
    folder: Path, tree: WatchedTree, store: BlobStore
) -> None:
    """However long nothing was written: an open writer may go on, in this process or another."""
    path = folder / "a.csv"
    path.write_text("half")
    with path.open("ab"), pytest.raises(Unsettled):
        ingest_file(tree, "a.csv", store, LIMIT_BYTES)
    writer = subprocess.Popen(
        [sys.executable, "-c", "import sys; f = open(sys.argv[1], 'ab'); print(); input()", path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(Unsettled):
            ingest_file(tree, "a.csv", store, LIMIT_BYTES)
        writer.communicate("\n")
    with path.open("rb"):
        assert ingest_file(tree, "a.csv", store, LIMIT_BYTES).size_bytes == 4


def test_where_nobody_can_tell_the_quiet_time_decides(
    folder: Path, tree: WatchedTree, store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network disk refuses leases with the error that elsewhere means a writer."""
    (folder / "a.csv").write_text("whole")
    monkeypatch.setattr(ingest, "is_remote", lambda _: True)
    with (folder / "a.csv").open("ab"):
        assert ingest_file(tree, "a.csv", store, LIMIT_BYTES).size_bytes == 5


@pytest.mark.parametrize("way", ["grown", "rewritten", "replaced", "removed", "touched", "linked"])
def test_a_change_under_the_copy_is_noticed(
    folder: Path, tree: WatchedTree, tmp_path: Path, way: str
) -> None:
    """What was copied is thrown away if the file is not the same one, looking the same, after."""
    path = folder / "a.csv"
    path.write_bytes(b"x" * 2_000_000)

    def change() -> None:
        if way == "grown":
            with path.open("ab") as file:
                file.write(b"more")
        elif way == "rewritten":
            path.write_bytes(b"y" * 2_000_000)
        elif way == "replaced":
            (folder / "b.csv").write_bytes(b"x" * 2_000_000)
            (folder / "b.csv").rename(path)
        elif way == "touched":
            path.chmod(0o640)
        else:
            path.unlink()
            if way == "linked":
                path.symlink_to(tmp_path / "elsewhere")

    store = BlobStore(tmp_path / "landed", ChangingDisk(change))
    with pytest.raises(Unsettled):
        ingest_file(tree, "a.csv", store, LIMIT_BYTES)


def test_a_file_that_grows_for_ever_is_not_copied_for_ever(
    folder: Path, tree: WatchedTree, tmp_path: Path
) -> None:
    """No more is copied than was there at first."""
    path = folder / "a.csv"
    path.write_bytes(b"x" * 1_000_000)
    store = BlobStore(tmp_path / "landed", ChangingDisk(lambda: os.truncate(path, 900_000_000)))
    with pytest.raises(Unsettled):
        ingest_file(tree, "a.csv", store, LIMIT_BYTES)
    assert [x.stat().st_size for x in tmp_path.glob("landed/*")] == [1_000_000]


def test_links_and_what_is_gone_are_never_taken(
    folder: Path, tree: WatchedTree, store: BlobStore, tmp_path: Path
) -> None:
    """Whatever took the file's place meanwhile is looked at anew, and not followed."""
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    for path in ("link", "pipe", "none"):
        with pytest.raises(Unsettled):
            ingest_file(tree, path, store, LIMIT_BYTES)
        assert hash_file(tree, path) == ""
    assert not (tmp_path / "landed").exists()


def test_a_file_that_is_too_large_is_refused_unread(
    folder: Path, tree: WatchedTree, store: BlobStore
) -> None:
    """The message names both sizes and the setting; of a hole of 8 TiB nothing is read."""
    with (folder / "a.csv").open("wb") as file:
        file.truncate(8 * 2**40)
    with pytest.raises(
        ValidationFailed, match=r"8,796,093,022,208 bytes.*3,000,000.*limits.file_bytes"
    ):
        ingest_file(tree, "a.csv", store, LIMIT_BYTES)


def test_a_full_disk_is_named_and_leaves_nothing(
    folder: Path, tree: WatchedTree, tmp_path: Path
) -> None:
    """It is nobody's fault who dropped the file, so it is raised as it is."""
    (folder / "a.csv").write_text("x")
    with pytest.raises(DiskFull):
        ingest_file(tree, "a.csv", BlobStore(tmp_path / "landed", FullDisk()), LIMIT_BYTES)
    assert list(tmp_path.glob("landed/*")) == []


@pytest.mark.parametrize(("number", "retryable"), [(errno.EACCES, False), (errno.EIO, True)])
def test_what_cannot_be_read_says_whether_it_may_be_later(
    folder: Path,
    tree: WatchedTree,
    store: BlobStore,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    *,
    retryable: bool,
) -> None:
    """A refusal stands until somebody changes it; a failing disk may be back."""
    (folder / "a.csv").write_text("x")

    def refuse(folder: int, name: str, flags: int) -> int:
        if name == "a.csv":
            raise OSError(number, os.strerror(number))
        return open_below(folder, name, flags)

    monkeypatch.setattr("kbd.core.watch.tree.open_below", refuse)
    with pytest.raises(FileReadFailed) as failed:
        ingest_file(tree, "a.csv", store, LIMIT_BYTES)
    assert failed.value.retryable is retryable
    assert os.strerror(number).lower() in failed.value.message
