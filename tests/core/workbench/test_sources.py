"""Files that a client names are read once, as what they are; what is no file is refused."""

import os
import socket
from pathlib import Path

import pytest

from kbd.core.workbench.sources import copy_source, open_source
from kbd.errors import FileReadFailed, KbdError, NotFound, ValidationFailed
from kbd.events.blobs import BlobStore

LIMIT = 1000


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    """Where copies go."""
    return BlobStore(tmp_path / "blobs")


def _read(path: str) -> bytes:
    with open_source(path, LIMIT) as held:
        return os.read(held, 10)


def test_links_above_are_followed_and_the_file_is_none(tmp_path: Path, store: BlobStore) -> None:
    """`~/Documents` may be a link; a link in place of the file is refused, wherever it leads."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("hello")
    (tmp_path / "Documents").symlink_to("real")
    (tmp_path / "real" / "link.txt").symlink_to("a.txt")
    assert copy_source(store, str(tmp_path / "Documents" / "a.txt"), LIMIT).size_bytes == 5
    with pytest.raises(ValidationFailed, match="symlink"):
        _read(str(tmp_path / "Documents" / "link.txt"))


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("relative.txt", ValidationFailed, "not absolute"),
        ("", ValidationFailed, "not absolute"),
        ("/", ValidationFailed, "directory"),
        ("/tmp/..", ValidationFailed, "directory"),
        ("/tmp/", ValidationFailed, "directory"),
        ("/tmp/a\0.txt", ValidationFailed, "no path"),
        ("/no/such/file", NotFound, "no such file"),
        ("/etc/passwd/x", NotFound, "no such file"),
        ("/" + "x" * 256, FileReadFailed, "too long"),
        ("/x" * 2500, FileReadFailed, "too long"),
        ("{}/loop", ValidationFailed, "symlink"),
        ("{}/loop/x.txt", FileReadFailed, "symbolic links"),
        ("{}/pipe", ValidationFailed, "not a regular file"),
        ("{}/socket", ValidationFailed, "not a regular file"),
        ("{}/holes", ValidationFailed, "larger than 1000 bytes"),
        ("/dev/zero", ValidationFailed, "not a regular file"),
        ("/dev/stdin", ValidationFailed, "symlink"),
        ("/proc/self/environ", ValidationFailed, "not a regular file"),
        ("/proc/self/fd/0", ValidationFailed, "symlink"),
        ("/proc/self/root/etc/passwd", FileReadFailed, "symbolic links"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", ValidationFailed, "not a regular file"),
    ],
)
def test_what_is_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, error: type[KbdError], says: str
) -> None:
    """At once, with a code, and without the path (reliability, A11 to A26 and A42)."""
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    # By a short name: the system takes no long ones.
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    (tmp_path / "holes").touch()
    os.truncate(tmp_path / "holes", 10 * 2**30)
    if path.startswith("/sys") and not Path(path).exists():
        pytest.skip("this system has no such file")
    with pytest.raises(error, match=says) as refused:
        _read(path.replace("{}", str(tmp_path)))
    assert str(tmp_path) not in refused.value.message


def test_what_grows_past_the_limit_is_refused(
    tmp_path: Path, store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that grows while it is copied, no part is taken for the whole."""
    growing = tmp_path / "a.txt"
    growing.write_bytes(b"x" * LIMIT)
    put_open = store.put_open

    def grow(fd: int, name: str, size_bytes: int) -> object:
        with growing.open("ab") as more:
            more.write(b"y" * 5000)
        return put_open(fd, name, size_bytes)

    monkeypatch.setattr(store, "put_open", grow)
    with pytest.raises(ValidationFailed, match="larger than"):
        copy_source(store, str(growing), LIMIT)


def test_a_file_that_is_replaced_while_it_is_held_is_not_read(tmp_path: Path) -> None:
    """What was opened is what is read, whatever has its name by then."""
    path = tmp_path / "a.txt"
    path.write_text("mine")
    with open_source(str(path), LIMIT) as held:
        path.unlink()
        path.symlink_to("/etc/passwd")
        assert os.read(held, 10) == b"mine"
