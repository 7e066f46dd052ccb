"""Blobs: kept once under their own hash, durable before they have a name."""

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from events.failing_disks import BadDisk, FullDisk
from kbd.errors import DiskFull, NotFound, SandboxViolation, ValidationFailed
from kbd.events import BlobStore, LogPoisoned
from kbd.types import BlobHash

DATA = b"some bytes\0" * 400_000
HASH = BlobHash(hashlib.sha256(DATA).hexdigest())


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    """An empty store."""
    return BlobStore(tmp_path / "blobs")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with DATA."""
    path = tmp_path / "source.bin"
    path.write_bytes(DATA)
    return path


def test_bytes_files_and_staged_files_come_to_the_same(store: BlobStore, source: Path) -> None:
    """However bytes come in, they are kept once, under their hash, and cannot be written."""
    assert store.put_bytes(DATA) == HASH
    assert store.put_file(source) == (HASH, len(DATA))
    assert store.adopt(source) == (HASH, len(DATA))
    assert not source.exists()
    path = store.path(HASH)
    assert path.read_bytes() == DATA
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert [found.name for found in path.parent.parent.rglob("*") if found.is_file()] == [HASH]


def test_put_file_leaves_the_source_alone(store: BlobStore, source: Path) -> None:
    """A file that is copied in stays as it is."""
    before = source.stat()
    store.put_file(source)
    after = source.stat()
    assert (after.st_ino, after.st_mode, after.st_mtime_ns, after.st_nlink) == (
        before.st_ino, before.st_mode, before.st_mtime_ns, 1,
    )  # fmt: skip


def test_adopt_moves_the_file(store: BlobStore, source: Path) -> None:
    """A staged file becomes the blob without being copied."""
    inode = source.stat().st_ino
    store.adopt(source)
    assert store.path(HASH).stat().st_ino == inode


def test_parts_are_read(store: BlobStore) -> None:
    """Reads are windows; beyond the end there is nothing."""
    blob = store.put_bytes(b"0123456789")
    assert store.read(blob) == b"0123456789"
    assert store.read(blob, 3, 4) == b"3456"
    assert store.read(blob, 8, 100) == b"89"
    assert store.read(blob, 50) == b""
    assert store.has(blob)


def test_an_empty_blob(store: BlobStore) -> None:
    """Nothing is something that can be kept."""
    assert store.read(store.put_bytes(b"")) == b""


def test_what_is_not_kept_is_not_found(store: BlobStore, tmp_path: Path) -> None:
    """Missing blobs and sources are named as such."""
    assert not store.has(HASH)
    with pytest.raises(NotFound):
        store.read(HASH)
    with pytest.raises(NotFound):
        store.put_file(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_only_hashes_are_names(store: BlobStore, name: str) -> None:
    """No other text becomes a path."""
    with pytest.raises(ValidationFailed):
        store.path(BlobHash(name))


def test_links_pipes_and_folders_are_refused(store: BlobStore, source: Path) -> None:
    """Only regular files come in; a pipe does not make it wait."""
    folder = source.parent
    (folder / "link").symlink_to(source)
    os.mkfifo(folder / "pipe")
    for name in ("link", "pipe", "blobs-folder"):
        (folder / "blobs-folder").mkdir(exist_ok=True)
        for take in (store.put_file, store.adopt):
            with pytest.raises(SandboxViolation):
                take(folder / name)


def test_a_staged_file_with_a_second_name_is_refused(store: BlobStore, source: Path) -> None:
    """What could be changed by another name is not taken for unchangeable."""
    os.link(source, source.with_name("second"))
    with pytest.raises(SandboxViolation, match="second name"):
        store.adopt(source)
    assert source.exists()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("space", [0, 1, 1_500_000])
def test_a_full_disk_keeps_nothing(tmp_path: Path, source: Path, space: int, error: int) -> None:
    """Without space nothing is kept, nothing is left behind, and the next try succeeds."""
    disk = FullDisk(space, error)
    store = BlobStore(tmp_path / "blobs", disk)
    with pytest.raises(DiskFull):
        store.put_bytes(DATA)
    disk.space = space
    with pytest.raises(DiskFull):
        store.put_file(source)
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []
    disk.space = len(DATA)
    assert store.put_file(source) == (HASH, len(DATA))


@pytest.mark.parametrize("after", range(4))
def test_a_failed_sync_keeps_nothing(tmp_path: Path, after: int) -> None:
    """Until all syncs of a blob have succeeded its hash is not returned."""
    store = BlobStore(tmp_path / "blobs", BadDisk("fsync", after))
    with pytest.raises(LogPoisoned):
        store.put_bytes(b"x")


def test_a_half_blob_is_replaced(store: BlobStore) -> None:
    """A blob of the wrong size, however it came to be, is written again."""
    store.put_bytes(DATA)
    path = store.path(HASH)
    path.chmod(0o600)
    path.write_bytes(DATA[:100])
    store.put_bytes(DATA)
    assert store.read(HASH) == DATA


def test_verify_tells_damaged_from_missing(store: BlobStore) -> None:
    """All blobs are read again, or those that are asked for."""
    good, bad = store.put_bytes(b"good"), store.put_bytes(b"bad")
    store.path(bad).chmod(0o600)
    store.path(bad).write_bytes(b"BAD")
    found = store.verify()
    assert (found.checked, found.damaged, found.missing) == (2, (bad,), ())
    found = store.verify([good, HASH])
    assert (found.checked, found.damaged, found.missing) == (1, (), (HASH,))


def test_leftovers_are_swept(store: BlobStore) -> None:
    """What a process that died was making is removed; blobs stay."""
    blob = store.put_bytes(b"good")
    (store.path(blob).parent.parent / "incoming-x").write_bytes(b"half")
    assert store.verify().checked == 1
    assert store.sweep() == 1
    assert store.sweep() == 0
    assert store.has(blob)
