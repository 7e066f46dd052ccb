"""Archive files: what is packed comes back to the byte, and damage is refused."""

import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from kbd.core.store.archive_file import PackedFolder, pack_folder, stamps_of, unpack_folder
from kbd.errors import FileReadFailed, FileWriteFailed, ValidationFailed
from kbd.events.disk import Disk
from kbd.types import BlobHash, FileName

BLOB = BlobHash("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881")
"""The hash of b"x"."""

ODD = os.fsdecode(b"no \xff utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder as a workbench's is, with odd names, and with what is made again."""
    root = tmp_path / "bench"
    for path, content in {
        "log/1.kbl": os.urandom(3000),
        "log/1.kbl.damaged-1": b"kept by a repair",
        f"blobs/2d/{BLOB}": b"x",
        "published/a.txt": b"x",
        "published/deep/own.txt": b"put there by hand",
        f"published/{ODD}": b"",
        f"published/{'long' * 50}.txt": b"l",
        "snap/1.snap": b"s",
        "cache/map": b"c",
        "draft/b.txt": b"d",
        "stage/half": b"h",
        "open": b"",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    (root / "published" / "empty").mkdir()
    os.chmod(root / f"blobs/2d/{BLOB}", 0o400)
    os.chmod(root / "published/deep", 0o750)
    return root


def _packed(root: Path, disk: Disk | None = None) -> tuple[Path, PackedFolder]:
    archive = root.with_name("packed")
    shown = {FileName("a.txt"): BLOB, FileName("gone.txt"): BLOB}
    return archive, pack_folder(root, archive, shown, disk or Disk())


def _kept(root: Path) -> dict[str, bytes]:
    """What must come back: all but what is made again."""
    made_again = ("cache/", "draft/", "stage/", "open", "published/a.txt")
    files = {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
    return {name: content for name, content in files.items() if not name.startswith(made_again)}


def test_what_is_packed_comes_back_to_the_byte(root: Path, tmp_path: Path) -> None:
    """All bytes, names, modes and times; but not what is made again when it is opened."""
    os.utime(root / "published/deep/own.txt", (1_700_000_000, 1_700_000_000))
    archive, packed = _packed(root)

    unpack_folder(archive, packed.sha256, tmp_path / "again")

    again = tmp_path / "again"
    assert _kept(again) == _kept(root)
    assert (again / "published" / "empty").is_dir()
    assert packed.size_bytes == archive.stat().st_size
    assert (again / f"blobs/2d/{BLOB}").stat().st_mode & 0o777 == 0o400
    assert (again / "published/deep").stat().st_mode & 0o777 == 0o750
    assert (again / "published/deep/own.txt").stat().st_mtime == 1_700_000_000
    assert not (again / "published/a.txt").exists()


def test_a_published_file_with_other_bytes_is_packed(root: Path, tmp_path: Path) -> None:
    """What somebody wrote over a published file is no blob, and not lost."""
    (root / "published/a.txt").write_bytes(b"edited by hand")
    archive, packed = _packed(root)

    unpack_folder(archive, packed.sha256, tmp_path / "again")

    assert (tmp_path / "again/published/a.txt").read_bytes() == b"edited by hand"


def test_a_part_is_unpacked_alone(root: Path, tmp_path: Path) -> None:
    """Who reads the log needs no blobs."""
    archive, packed = _packed(root)

    unpack_folder(archive, packed.sha256, tmp_path / "again", parts=("log",))

    assert os.listdir(tmp_path / "again") == ["log"]
    assert sorted(os.listdir(tmp_path / "again/log")) == sorted(os.listdir(root / "log"))


def test_whatever_changes_while_it_is_packed_is_seen(root: Path) -> None:
    """A file that was written, added or removed since has another stamp than was packed."""
    _, packed = _packed(root)
    assert stamps_of(root) == packed.stamps

    own = root / "published/deep/own.txt"
    found = own.stat()
    own.write_bytes(b"PUT there by hand")
    os.utime(own, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert stamps_of(root) != packed.stamps


@pytest.mark.parametrize("place", ["published/link", "log/pipe"])
def test_what_is_no_file_is_refused(root: Path, place: str) -> None:
    """A link or a pipe is somebody's, and no archive can bring it back: nothing is packed."""
    if place.endswith("link"):
        (root / place).symlink_to("/etc/passwd")
    else:
        os.mkfifo(root / place)

    with pytest.raises(ValidationFailed, match="no regular file"):
        _packed(root)

    assert not root.with_name("packed").exists()


class _WrongDisk(Disk):
    """A disk that writes another byte than it was given, once."""

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write."""
        wrong = bytes(data)
        return super().pwrite(fd, wrong[:-9] + bytes([wrong[-9] ^ 1]) + wrong[-8:], offset)


def test_an_archive_is_read_back_before_it_counts(root: Path) -> None:
    """What the disk did not take as it was is found before the folder could go."""
    with pytest.raises(FileWriteFailed, match="read back"):
        _packed(root, _WrongDisk())

    assert not root.with_name("packed").exists()


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "longer", "gone", "folder"])
def test_a_damaged_archive_is_refused(root: Path, tmp_path: Path, harm: str) -> None:
    """Wherever a byte changed: with its code, and never with an error of a library."""
    archive, packed = _packed(root)
    whole = archive.read_bytes()
    archive.unlink()
    cases: dict[str, list[bytes | None]] = {
        "flip": [whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in range(len(whole))],
        "cut": [whole[:at] for at in range(0, len(whole), 97)],
        "empty": [b""],
        "longer": [whole + b"\0", whole + whole],
        "gone": [None],
        "folder": [None],
    }
    harmed = cases[harm]
    if harm == "folder":
        archive.mkdir()
    for number, data in enumerate(harmed[:: max(1, len(harmed) // 30)]):
        if data is not None:
            archive.write_bytes(data)
        with pytest.raises(FileReadFailed, match="the archive of the workbench is"):
            unpack_folder(archive, packed.sha256, tmp_path / f"again-{number}")


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "log/../../out", "link"])
def test_a_strangers_archive_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    """Neither a path nor a link in it: not even with the hash that is expected."""
    archive = tmp_path / "archive"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        if name == "link":
            member.type, member.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(member, io.BytesIO())
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()

    with pytest.raises(FileReadFailed):
        unpack_folder(archive, sha256, tmp_path / "new" / "again")

    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "new" / "out").exists()
