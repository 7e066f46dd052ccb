"""Snapshots: caches that are used only if nothing is wrong with them."""

import errno
from pathlib import Path

from events.failing_disks import BadDisk, FullDisk
from kbd.core.store.snapshot_files import load_snapshot, save_snapshot
from kbd.types import Seq

HEAD = b"h" * 32


def test_the_newest_of_the_schema_is_loaded(tmp_path: Path) -> None:
    """The newest usable snapshot comes back whole."""
    for seq in (10, 200, 3000):
        assert save_snapshot(tmp_path / "snap", Seq(seq), HEAD, "s1", b"state %d" % seq)
    assert load_snapshot(tmp_path / "snap", "s1") == (3000, HEAD, b"state 3000")


def test_two_are_kept(tmp_path: Path) -> None:
    """Older ones are removed."""
    for seq in range(5):
        save_snapshot(tmp_path, Seq(seq), HEAD, "s1", b"")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"{3:020}.snap", f"{4:020}.snap"]


def test_another_schema_is_ignored(tmp_path: Path) -> None:
    """State of another shape is as if it were not there; an older one of today's shape is used."""
    save_snapshot(tmp_path, Seq(1), HEAD, "s1", b"old")
    save_snapshot(tmp_path, Seq(2), HEAD, "s1-longer", b"new")
    assert load_snapshot(tmp_path, "s1") == (1, HEAD, b"old")
    assert load_snapshot(tmp_path, "s") is None


def test_anything_wrong_is_ignored(tmp_path: Path) -> None:
    """At every byte: flipped or cut, the snapshot is ignored and the one before is used."""
    save_snapshot(tmp_path, Seq(1), HEAD, "s1", b"before")
    save_snapshot(tmp_path, Seq(2), HEAD, "s1", b"payload")
    path = tmp_path / f"{2:020}.snap"
    good = path.read_bytes()
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert load_snapshot(tmp_path, "s1") == (1, HEAD, b"before")
        path.write_bytes(good[:place])
        assert load_snapshot(tmp_path, "s1") == (1, HEAD, b"before")


def test_nothing_there_is_nothing(tmp_path: Path) -> None:
    """No folder, no snapshot, no error; a folder in a file's place is ignored, too."""
    assert load_snapshot(tmp_path / "none", "s1") is None
    (tmp_path / f"{9:020}.snap").mkdir()
    assert load_snapshot(tmp_path, "s1") is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """On a full or failing disk the answer is no, and what was there is still there."""
    save_snapshot(tmp_path, Seq(1), HEAD, "s1", b"before")
    for disk in (FullDisk(20), FullDisk(0, errno.EDQUOT), BadDisk("fsync", 0)):
        assert not save_snapshot(tmp_path, Seq(2), HEAD, "s1", b"payload", disk)
        assert load_snapshot(tmp_path, "s1") == (1, HEAD, b"before")
        assert len(list(tmp_path.iterdir())) == 1
