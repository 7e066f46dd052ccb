"""What handlers keep on shelves: believed only if it is whole, and never in the way."""

from pathlib import Path

import msgspec

from kbd.formats.shelves import keep, kept


class Found(msgspec.Struct, frozen=True):
    """What a handler might keep."""

    numbers: list[int]


class Other(msgspec.Struct, frozen=True):
    """What another version of it might have kept."""

    words: list[str]


def test_what_is_kept_comes_back_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    """The folder is made; a later record takes the place of the earlier one."""
    shelf = tmp_path / "not" / "there" / "yet"
    keep(shelf, "found.1", Found([1]))
    keep(shelf, "found.1", Found([1, 2]))

    assert kept(shelf, "found.1", Found) == Found([1, 2])
    assert [path.name for path in shelf.iterdir()] == ["found.1"]


def test_what_is_damaged_or_of_another_kind_is_not_believed(tmp_path: Path) -> None:
    """Every flipped byte, every cut, and a record of another form: as if nothing lay there."""
    keep(tmp_path, "found.1", Found([1, 2, 3]))
    path = tmp_path / "found.1"
    whole = path.read_bytes()
    damaged = [whole[:end] for end in range(len(whole))]
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        damaged.append(bytes(flipped))
    for data in damaged:
        path.write_bytes(data)
        assert kept(tmp_path, "found.1", Found) is None
    path.write_bytes(whole)
    assert kept(tmp_path, "found.1", Other) is None
    assert kept(tmp_path, "found.2", Found) is None


def test_without_a_shelf_or_room_nothing_is_kept(tmp_path: Path) -> None:
    """No shelf, and one that cannot be made: nothing is raised, nothing comes back."""
    keep(None, "found.1", Found([1]))
    assert kept(None, "found.1", Found) is None
    (tmp_path / "file").write_bytes(b"")
    keep(tmp_path / "file", "found.1", Found([1]))
    assert kept(tmp_path / "file", "found.1", Found) is None
