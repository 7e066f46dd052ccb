"""One confined root: nothing outside is opened, and nothing hangs."""

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.errors import NotFound, SandboxViolation
from kbd.types import FileName


@pytest.fixture
def root(tmp_path: Path) -> ConfinedRoot:
    """A root with a file inside and a secret outside."""
    (tmp_path / "secret.txt").write_text("secret")
    inside = tmp_path / "root"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "a.txt").write_text("hello")
    return ConfinedRoot(inside)


def test_a_file_inside_is_opened(root: ConfinedRoot) -> None:
    """A regular file below the root can be read."""
    with root.open(FileName("sub/a.txt")) as held:
        assert os.read(held, 10) == b"hello"
    assert root.names() == ["sub/a.txt"]


KINDS = (
    "file link", "folder link", "link inside", "link loop", "link of /proc", "hard link", "fifo",
    "socket", "character device", "block device", "folder", "holes",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_a_plain_file_is_refused(
    root: ConfinedRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Links of any kind, FIFOs, sockets, devices, folders, and a file of 8 EiB, all at once."""
    inside = tmp_path / "root"
    name = "x"
    match kind:
        case "file link":
            (inside / "x").symlink_to(tmp_path / "secret.txt")
        case "folder link":
            (inside / "x").symlink_to(tmp_path)
            name = "x/secret.txt"
        case "link inside":
            (inside / "x").symlink_to("sub/a.txt")
        case "link loop":
            (inside / "x").symlink_to("x")
        case "link of /proc":
            (inside / "x").symlink_to("/proc/self/root")
            name = "x/etc/passwd"
        case "hard link":
            os.link(tmp_path / "secret.txt", inside / "x")
        case "folder":
            name = "sub"
        case "holes":
            _make_holes(inside / "x")
        case "socket":
            monkeypatch.chdir(inside)  # The system takes no long path.
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind("x")
        case "character device" | "block device":
            _make_device(inside / "x", is_block=kind == "block device")
        case _:
            os.mkfifo(inside / "x")
    with pytest.raises(SandboxViolation), root.open(FileName(name)):
        pass


def _make_holes(path: Path) -> None:
    path.touch()
    # As many as the file system takes: 8 EiB where it can.
    for power in (62, 54, 43, 40):
        with suppress(OSError):
            os.truncate(path, 2**power)
            return


def _make_device(path: Path, *, is_block: bool) -> None:
    # /dev/zero, and the first loop device.
    kind, device = (stat.S_IFBLK, (7, 0)) if is_block else (stat.S_IFCHR, (1, 5))
    try:
        os.mknod(path, kind | 0o600, os.makedev(*device))
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize("name", ["../secret.txt", "sub/../../secret.txt", "/etc/passwd", "..", ""])
@pytest.mark.parametrize("create", [False, True])
def test_a_name_that_was_not_checked_leads_nowhere(
    root: ConfinedRoot, tmp_path: Path, name: str, *, create: bool
) -> None:
    """Should a name of the log lead out, the root does not follow it."""
    with pytest.raises(SandboxViolation), root.parent(FileName(name), create=create):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["root", "secret.txt"]


def test_a_folder_whose_name_begins_alike_is_another(tmp_path: Path, root: ConfinedRoot) -> None:
    """`root-evil` is not within `root` (reliability, A37)."""
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil" / "a.txt").write_text("evil")
    for name in ("../root-evil/a.txt", "root-evil/a.txt", "-evil/a.txt"):
        with pytest.raises((SandboxViolation, NotFound)), root.open(FileName(name)):
            pass


def test_a_root_that_is_replaced_stays_the_root(root: ConfinedRoot, tmp_path: Path) -> None:
    """The folder is held: putting a link in its place changes nothing."""
    (tmp_path / "root").rename(tmp_path / "moved")
    (tmp_path / "root").symlink_to(tmp_path)

    with root.open(FileName("sub/a.txt")) as held:
        assert os.read(held, 10) == b"hello"
    with pytest.raises(NotFound), root.open(FileName("secret.txt")):
        pass
