"""One confined root: nothing outside is opened, and nothing hangs."""

import os
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


@pytest.mark.parametrize("kind", ["file link", "folder link", "link inside", "hard link", "fifo"])
def test_what_is_not_a_plain_file_is_refused(root: ConfinedRoot, tmp_path: Path, kind: str) -> None:
    """Links of any kind and FIFOs are refused at once."""
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
        case "hard link":
            os.link(tmp_path / "secret.txt", inside / "x")
        case _:
            os.mkfifo(inside / "x")
    with pytest.raises(SandboxViolation), root.open(FileName(name)):
        pass


def test_a_root_that_is_replaced_stays_the_root(root: ConfinedRoot, tmp_path: Path) -> None:
    """The folder is held: putting a link in its place changes nothing."""
    (tmp_path / "root").rename(tmp_path / "moved")
    (tmp_path / "root").symlink_to(tmp_path)

    with root.open(FileName("sub/a.txt")) as held:
        assert os.read(held, 10) == b"hello"
    with pytest.raises(NotFound), root.open(FileName("secret.txt")):
        pass
