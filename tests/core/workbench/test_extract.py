"""Copies out of the workbench: complete, durable, and never over anything."""

import hashlib
from pathlib import Path

import pytest

from kbd.core.workbench.extraction import copy_to_folder, numbered_names, remove_partial
from kbd.events.base import FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.checked_blobs import BlobDamaged
from kbd.events.drafts import EffectIntended
from kbd.types import BlobHash, FileName

HOME = Path("/home/of/kbd")

_HELLO = BlobHash(hashlib.sha256(b"hello").hexdigest())


def _effect(folder: Path, name: str) -> EffectIntended:
    file = FileVersion(FileName(name), _HELLO, 5)
    return EffectIntended("e1", "extract", str(folder), file)


@pytest.fixture
def source(tmp_path: Path) -> BlobStore:
    """A store with the bytes of a file."""
    store = BlobStore(tmp_path / "blobs")
    store.put_bytes(b"hello")
    return store


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("a.txt", "a(1).txt"),
        ("archive.tar.gz", "archive.tar(1).gz"),
        (".env", ".env(1)"),
        ("plain", "plain(1)"),
    ],
)
def test_a_taken_name_is_numbered(
    tmp_path: Path, source: BlobStore, name: str, second: str
) -> None:
    """The second copy gets a number before the last suffix; the first one stays."""
    folder = tmp_path / "out"

    assert [name, second] == [copy_to_folder(_effect(folder, name), source, HOME) for _ in range(2)]
    assert {name, second} == {path.name for path in folder.iterdir()}


def test_a_gap_in_the_numbers_is_filled(tmp_path: Path, source: BlobStore) -> None:
    """file.xlsx and file(2).xlsx are there: the next one is file(1).xlsx."""
    for name in ("file.xlsx", "file(2).xlsx"):
        (tmp_path / name).write_text("theirs")

    assert copy_to_folder(_effect(tmp_path, "file.xlsx"), source, HOME) == "file(1).xlsx"
    assert (tmp_path / "file.xlsx").read_text() == "theirs"


def test_nested_names_keep_their_folders(tmp_path: Path, source: BlobStore) -> None:
    """sub/a.txt goes to sub/ below the folder."""
    assert copy_to_folder(_effect(tmp_path / "out", "sub/a.txt"), source, HOME) == "sub/a.txt"
    assert (tmp_path / "out" / "sub" / "a.txt").read_text() == "hello"


def test_damaged_bytes_are_not_copied(tmp_path: Path, source: BlobStore) -> None:
    """Neither the file nor a part of it is there."""
    path = source.path(_HELLO)
    path.chmod(0o600)
    path.write_bytes(b"hellO")
    with pytest.raises(BlobDamaged):
        copy_to_folder(_effect(tmp_path / "out", "a.txt"), source, HOME)
    assert list((tmp_path / "out").iterdir()) == []


def test_what_was_half_written_is_removed(tmp_path: Path) -> None:
    """Recovery leaves no partial file in a user's folder, and tolerates that it is gone."""
    effect = _effect(tmp_path, "a.txt")
    (tmp_path / ".kbd-e1.part").write_text("hal")
    remove_partial(effect)
    remove_partial(effect)

    assert list(tmp_path.iterdir()) == []


def test_numbers_go_on() -> None:
    """The names to try never end."""
    names = numbered_names("a.b")

    assert [next(names) for _ in range(3)] == ["a.b", "a(1).b", "a(2).b"]
