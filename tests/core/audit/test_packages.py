"""Where two versions of a file differ: by parts where they have some, else by bytes."""

import struct
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from kbd.core.audit.differences import MAX_PARTS, diff_files
from kbd.requests.replays import FileDiff


def diff(folder: Path, recorded: bytes, replayed: bytes) -> FileDiff:
    """Compare two contents."""
    one, other = folder / "one", folder / "other"
    one.write_bytes(recorded)
    other.write_bytes(replayed)
    return diff_files("a.bin", ("1" * 64, one), ("2" * 64, other))


def package(folder: Path, parts: dict[str, bytes]) -> bytes:
    """A zip of parts."""
    path = folder / "made"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for part, data in parts.items():
            archive.writestr(part, data)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("one", "other", "offset", "note"),
    [
        (b"a\nb\nc", b"a\nb\nd", 4, "line 3"),
        (b"same", b"same and more", 4, "line 1"),
        (b"", b"x", 0, "line 1"),
        (b"\0\1", b"\0\2", 1, ""),
        (b"l\n" * 700_000 + b"x", b"l\n" * 700_000 + b"y", 1_400_000, "line 700001"),
        (b"equal", b"equal", -1, ""),
    ],
)
def test_bytes_are_compared(
    one: bytes, other: bytes, offset: int, note: str, tmp_path: Path
) -> None:
    """The first that differs is named, and of a text the line."""
    found = diff(tmp_path, one, other)

    assert (found.offset, found.note, found.parts) == (offset, note, ())


def test_a_file_on_one_side_only_is_told_by_its_hash(tmp_path: Path) -> None:
    """It was not written then, or is not now."""
    found = diff_files("a", None, ("2" * 64, tmp_path / "no"))

    assert (found.recorded, found.replayed, found.offset) == ("", "2" * 64, -1)


def test_a_version_that_is_gone_is_told(tmp_path: Path) -> None:
    """The hashes differ all the same."""
    found = diff_files("a", ("1" * 64, tmp_path / "no"), ("2" * 64, tmp_path / "neither"))

    assert "cannot be read" in found.note


def test_many_parts_are_counted(tmp_path: Path) -> None:
    """So many are told; how many more there are is said."""
    count = MAX_PARTS + 7
    one = package(tmp_path, {f"p{n}": b"1" for n in range(count)})
    other = package(tmp_path, {f"p{n}": b"2" for n in range(count)})
    found = diff(tmp_path, one, other)

    assert [part.part for part in found.parts] == [f"p{n}" for n in range(MAX_PARTS)]
    assert found.note == "and 7 parts more"


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """What the guard refuses is compared as plain bytes, and the reason is told."""
    calm = package(tmp_path, {"a.xml": b"calm"})
    bomb = package(tmp_path, {"a.xml": b" " * 5_000_000})
    found = diff(tmp_path, calm, bomb)

    assert found.parts == ()
    assert found.offset > 0
    assert "cannot be compared" in found.note
    assert "fill the memory" in found.note


def test_a_package_that_lies_about_a_part_is_no_danger(tmp_path: Path) -> None:
    """A wrong checksum, a truncated end: bytes are compared instead."""
    calm = package(tmp_path, {"a.xml": b"calm"})
    lying = bytearray(calm)
    at = lying.rfind(b"PK\x01\x02") + 16
    lying[at : at + 4] = struct.pack("<I", 1)
    for broken in (bytes(lying), calm[:-9], b"PK\x03\x04"):
        found = diff(tmp_path, calm, broken)
        assert found.parts == ()
        assert found.offset >= 0
        assert "cannot be compared" in found.note


def test_a_document_type_is_no_obstacle(tmp_path: Path) -> None:
    """Parts are hashed, not parsed."""
    one = package(tmp_path, {"a.xml": b"<!DOCTYPE a><a/>", "b": b"1"})
    other = package(tmp_path, {"a.xml": b"<!DOCTYPE a><a/>", "b": b"2"})

    assert [part.part for part in diff(tmp_path, one, other).parts] == ["b"]
