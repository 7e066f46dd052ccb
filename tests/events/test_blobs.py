"""Blobs: kept once under their own hash, durable before they have a name."""

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from events.failing_disks import BadDisk, FullDisk
from kbd.errors import (
    DiskFull,
    NotFound,
    SandboxViolation,
    TooManyOpenFiles,
    ValidationFailed,
)
from kbd.events import BlobStore, LogPoisoned, checked_blobs
from kbd.events import blobs as blobs_module
from kbd.events.blobs import BlobVerification
from kbd.events.checked_blobs import BlobDamaged, CheckedBlobs, blob_paths, blob_places
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


@pytest.mark.parametrize("after", range(3))
def test_a_failed_sync_keeps_nothing(tmp_path: Path, after: int) -> None:
    """Until all syncs of a blob have succeeded its hash is not returned."""
    store = BlobStore(tmp_path / "blobs", BadDisk("fsync", after))
    with pytest.raises(LogPoisoned):
        store.put_bytes(b"x")


def test_after_a_failed_sync_nothing_is_kept(tmp_path: Path) -> None:
    """The next sync would say that all is well, of what was lost, too; what was kept is read."""
    disk = BadDisk("fsync", sys.maxsize)
    store = BlobStore(tmp_path / "blobs", disk)
    held = store.put_bytes(b"held")
    # All but the last sync: the file has its name already.
    disk.after = disk.calls + 1
    with pytest.raises(LogPoisoned):
        store.put_bytes(DATA)
    assert store.has(HASH)
    (tmp_path / "source").write_bytes(DATA)
    for take in (store.put_file, store.adopt):
        with pytest.raises(LogPoisoned):
            take(tmp_path / "source")
    for data in (DATA, b"held", b"other"):
        with pytest.raises(LogPoisoned):
            store.put_bytes(data)
    assert store.read(held) == b"held"


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


def _flip(path: Path) -> None:
    """Flip a bit, and leave size and time of change as they were."""
    before = path.stat()
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek(before.st_size // 2)
        byte = file.read(1)[0]
        file.seek(before.st_size // 2)
        file.write(bytes([byte ^ 4]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        path.rename(path.with_suffix(".away"))
        make(path)

    return harm


HARMS: dict[str, Callable[[Path], None]] = {
    "flipped": _flip,
    "cut": _replace(lambda path: path.write_bytes(DATA[: len(DATA) // 2])),
    "longer": _replace(lambda path: path.write_bytes(DATA + b"\0")),
    "empty": _replace(lambda path: path.write_bytes(b"")),
    "folder": _replace(Path.mkdir),
    "pipe": _replace(os.mkfifo),
    "link to the same bytes": _replace(lambda path: path.symlink_to(path.with_suffix(".away"))),
    "link to itself": _replace(lambda path: path.symlink_to(path)),
}


@pytest.mark.parametrize("harm", HARMS)
def test_nothing_else_is_handed_out(store: BlobStore, tmp_path: Path, harm: str) -> None:
    """By no method, also after the right bytes were checked; no pipe makes it wait."""
    store.put_bytes(DATA)
    store.check(HASH)
    pool = CheckedBlobs()
    pool.check_paths([str(store.path(HASH))])
    HARMS[harm](store.path(HASH))
    with (tmp_path / "out").open("wb") as out:
        for take in (
            lambda: store.read(HASH),
            lambda: store.read(HASH, 5, 10),
            lambda: store.check(HASH),
            lambda: store.copy_to(HASH, out.fileno()),
            lambda: pool.check_paths([str(store.path(HASH))]),
        ):
            with pytest.raises(BlobDamaged, match="are damaged"):
                take()
    found = store.verify([HASH])
    assert (found.checked, found.damaged, found.missing) == (1, (HASH,), ())
    # Who brings the bytes again mends it, whatever lies there.
    store.put_bytes(DATA)
    assert store.read(HASH) == DATA


def test_what_a_folder_in_a_blobs_place_holds_stays(store: BlobStore) -> None:
    """Bytes that come again take their place back, and nothing that somebody put there is lost."""
    store.put_bytes(DATA)
    path = store.path(HASH)
    path.unlink()
    path.mkdir()
    (path / "theirs").write_text("theirs")
    store.put_bytes(DATA)
    assert store.read(HASH) == DATA
    assert [each.read_text() for each in path.parent.rglob("theirs")] == ["theirs"]
    assert store.verify().checked == 1


def test_what_the_disk_does_not_give_is_damaged(
    store: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blob in a bad sector is told as damaged everywhere, and no error of the system gets out."""
    store.put_bytes(DATA)

    # A file that reads as one in a bad sector does: EIO at its beginning.
    def open_bad(*_: object) -> BinaryIO:
        return Path("/proc/self/mem").open("rb")

    for module in (blobs_module, checked_blobs):
        monkeypatch.setattr(module, "open_blob", open_bad)
    with (tmp_path / "out").open("wb") as out:
        for take in (
            lambda: store.read(HASH),
            lambda: store.read(HASH, 0, 10),
            lambda: store.check(HASH),
            lambda: store.copy_to(HASH, out.fileno()),
            lambda: CheckedBlobs().check_paths([str(store.path(HASH))]),
        ):
            with pytest.raises(BlobDamaged, match="cannot be read: Input/output error"):
                take()
    assert store.verify([HASH]).damaged == (HASH,)


def test_too_many_open_files_are_no_damage(
    store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says nothing of the blob, and the same call may go through later."""
    store.put_bytes(DATA)

    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, "too many")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        with pytest.raises(TooManyOpenFiles) as refused:
            store.check(HASH)
    assert refused.value.retryable


def test_leftovers_are_swept(store: BlobStore) -> None:
    """What a process that died was making is removed; blobs stay."""
    blob = store.put_bytes(b"good")
    (store.path(blob).parent / "incoming-x").write_bytes(b"half")
    assert store.verify().checked == 1
    assert store.sweep() == 1
    assert store.sweep() == 0
    assert store.has(blob)


def _lay_out_as_before(folder: Path) -> None:
    """Put each blob into a folder of its first two digits, as an older kbd did."""
    for path in list(folder.iterdir()):
        path.parent.joinpath(path.name[:2]).mkdir(exist_ok=True)
        path.rename(path.parent / path.name[:2] / path.name)


def test_blobs_of_an_older_kbd_are_read_where_they_lie(tmp_path: Path, store: BlobStore) -> None:
    """Reading and putting them again moves nothing; a damaged one is mended in its place."""
    older = [store.put_bytes(data) for data in (b"one", b"two", b"three")]
    _lay_out_as_before(tmp_path / "blobs")
    places = {blob: tmp_path / "blobs" / blob[:2] / blob for blob in older}

    assert {blob: store.path(blob) for blob in older} == places
    assert store.verify().checked == 3
    assert [store.read(blob) for blob in older] == [b"one", b"two", b"three"]
    assert store.put_bytes(b"one") == older[0]
    (tmp_path / "staged").write_bytes(b"two")
    assert store.adopt(tmp_path / "staged")[0] == older[1]
    newer = store.put_bytes(b"four")
    assert store.path(newer) == tmp_path / "blobs" / newer
    assert store.stored() == sorted((*older, newer))
    assert store.strangers() == []

    places[older[2]].chmod(0o600)
    places[older[2]].write_bytes(b"THREE")
    assert store.verify(older).damaged == (older[2],)
    store.put_bytes(b"three")
    assert store.verify() == BlobVerification(4, (), ())
    files = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert sorted(files) == sorted((*places.values(), store.path(newer)))


def test_which_paths_are_those_of_blobs() -> None:
    """In both layouts; not what else is named by a hash, nor what only looks like one."""
    other = "ab" + "c" * 62
    both = [f"/h/blobs/{HASH}", f"/h/blobs/{HASH[:2]}/{HASH}", f"/h/landed/w/{HASH[:2]}/{HASH}"]
    none = [f"/h/shelves/{HASH}", f"/h/blobs/{HASH}.1", f"/h/blobs/0{other}", f"/h/ff/{other}"]
    assert blob_paths([*both, *none]) == both
    assert blob_places(Path("/h/blobs"), HASH) == (Path(both[0]), Path(both[1]))
