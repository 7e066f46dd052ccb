"""What is found in a watched folder, and what is never followed, entered or failed on."""

import os
from pathlib import Path

import pytest

from kbd.core.runtime.held_folder import open_below
from kbd.core.watch.hints import is_remote
from kbd.core.watch.tree import MAX_DEPTH, FolderEntry, WatchedTree
from kbd.errors import FileReadFailed, NotFound


def _found(folder: Path, below: str = "") -> dict[str, FolderEntry]:
    with WatchedTree(str(folder)) as tree:
        return {found.path: found for found in tree.walk(below)}


def test_all_that_is_no_folder_is_found(tmp_path: Path) -> None:
    """Files at any depth, and, by their kind, links, pipes and temporary files."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("x.csv", "a/y.csv", "a/b/z.csv", "a/~$y.csv"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("x.csv")
    (tmp_path / "away").symlink_to(tmp_path / "a", target_is_directory=True)
    os.mkfifo(tmp_path / "pipe")
    found = _found(tmp_path)
    assert {path: each.kind for path, each in found.items()} == {
        "x.csv": "file", "a/y.csv": "file", "a/b/z.csv": "file", "a/~$y.csv": "temporary",
        "link": "link", "away": "link", "pipe": "special",
    }  # fmt: skip
    seen = (tmp_path / "a/y.csv").stat()
    wanted = f"7:{seen.st_mtime_ns}:{seen.st_ctime_ns}:{seen.st_ino}"
    assert (found["a/y.csv"].size_bytes, found["a/y.csv"].signature) == (7, wanted)


def test_temporary_folders_are_not_entered(tmp_path: Path) -> None:
    """A folder that a program keeps for itself has no files for a rule, by whatever way."""
    for folder in (".git", "in", "in/x.part"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("a")
    assert list(_found(tmp_path)) == ["in/a.csv"]
    assert _found(tmp_path, ".git") == {}
    with WatchedTree(str(tmp_path)) as tree:
        inside = tree.look("in/x.part/a.csv")
    assert inside is not None
    assert inside.kind == "temporary"


def test_a_part_is_walked_alone(tmp_path: Path) -> None:
    """Below a folder is what is in it; a file is itself what is found; nothing is nothing."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a/b/x.csv").write_text("x")
    (tmp_path / "y.csv").write_text("y")
    assert list(_found(tmp_path, "a")) == ["a/b/x.csv"]
    assert list(_found(tmp_path, "a/b/x.csv")) == ["a/b/x.csv"]
    assert _found(tmp_path, "a/none") == _found(tmp_path, "y.csv/none") == {}


def test_links_lead_nowhere(tmp_path: Path) -> None:
    """Neither the root, nor a folder below it, nor a file is reached through a link."""
    real = tmp_path / "real"
    (real / "sub").mkdir(parents=True)
    (real / "sub/x.csv").write_text("x")
    (tmp_path / "alias").symlink_to(real, target_is_directory=True)
    (real / "up").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(FileReadFailed, match="link"):
        WatchedTree(str(tmp_path / "alias"))
    with pytest.raises(FileReadFailed, match="link"):
        WatchedTree(str(tmp_path / "alias" / "sub"))
    with WatchedTree(str(real)) as tree:
        assert tree.look("up/real/sub/x.csv") is None
        assert list(tree.walk("up")) == [tree.look("up")]
        with pytest.raises(NotFound), tree.open("up/real/sub/x.csv"):
            pass
        for other in ("up", "sub"):
            with pytest.raises(NotFound), tree.open(other):
                pass
        with tree.open("sub/x.csv") as fd:
            assert os.read(fd, 10) == b"x"


def test_a_missing_root_is_named_so(tmp_path: Path) -> None:
    """Not there, and not to be read, are two things; neither names the absolute path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(NotFound) as missing:
        WatchedTree(str(tmp_path / "none"))
    with pytest.raises(FileReadFailed) as refused:
        WatchedTree(str(tmp_path / "file"))
    for failed in (missing.value, refused.value):
        assert str(tmp_path) not in failed.message


def test_a_root_that_takes_the_place_of_another_is_told(tmp_path: Path) -> None:
    """The identity is that of the folder, not of its name."""
    root = tmp_path / "in"
    root.mkdir()
    with WatchedTree(str(root)) as first, WatchedTree(str(root)) as same:
        assert first.identity == same.identity
    root.rename(tmp_path / "old")
    root.mkdir()
    with WatchedTree(str(root)) as other:
        assert other.identity != first.identity


def test_depth_has_an_end(tmp_path: Path) -> None:
    """Folders below folders are left out at a depth that nobody's folders have, and named."""
    deepest = tmp_path
    for _ in range(MAX_DEPTH + 1):
        deepest /= "d"
        deepest.mkdir()
    (deepest / "out.csv").write_text("x")
    (deepest.parent / "in.csv").write_text("x")
    with WatchedTree(str(tmp_path)) as tree:
        assert [found.path.count("/") for found in tree.walk()] == [MAX_DEPTH]
        assert list(tree.unread.values()) == [f"it is more than {MAX_DEPTH} folders deep"]


def test_what_cannot_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One closed folder is named with the reason; all others are walked.

    The refusal is the system's; it is put in here since the tests may run as root.
    """
    for name in ("closed", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("a")
    closed = (tmp_path / "closed").stat().st_ino

    def refuse(folder: int, name: str, flags: int, **_: bool) -> int:
        fd = open_below(folder, name, flags)
        if os.fstat(fd).st_ino == closed:
            os.close(fd)
            raise PermissionError(13, "Permission denied")
        return fd

    for module in ("kbd.core.watch.tree", "kbd.core.runtime.held_folder"):
        monkeypatch.setattr(f"{module}.open_below", refuse)
    with WatchedTree(str(tmp_path)) as tree:
        assert [found.path for found in tree.walk()] == ["open/a.csv"]
        assert tree.unread == {"closed": "permission denied"}
        with pytest.raises(FileReadFailed) as failed:
            tree.look("closed/a.csv")
    assert not failed.value.retryable


def test_names_that_are_no_text_are_shown_escaped(tmp_path: Path) -> None:
    """They are found, in folders of such names, too, can be looked at, and can be recorded."""
    strange = os.fsencode(tmp_path) + b"/d\xff"
    os.mkdir(strange)
    for name in (
        b"a\xfe.csv",
        b"b\x1b[31m.csv",
        "c\u202e.csv".encode(),
        "d\u00a0\u00e9.csv".encode(),
    ):
        with open(strange + b"/" + name, "wb"):
            pass
    (tmp_path / "plain\u00a0\u00e9.csv").write_text("")
    found = _found(tmp_path)
    assert {path: each.kind for path, each in found.items()} == {
        r"d\udcff/a\udcfe.csv": "special",
        r"d\udcff/b\x1b[31m.csv": "special",
        r"d\udcff/c\u202e.csv": "special",
        "d\\udcff/d\u00a0\u00e9.csv": "special",
        "plain\u00a0\u00e9.csv": "file",
    }
    with WatchedTree(str(tmp_path)) as tree:
        for each in found.values():
            assert tree.look(each.raw) == each
            assert (each.raw == each.path) is (each.kind == "file")
            each.path.encode()


MOUNTS = r"""
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:40 / /srv/share rw,relatime shared:2 - nfs4 server:/share rw
31 30 0:41 / /srv/share/local\040disk rw,relatime - ext4 /dev/vdb rw
32 22 0:42 / /mnt/office rw,relatime master:3 - cifs //server/office rw
33 22 0:43 / /mnt/ssh rw - fuse.sshfs me@host: rw
34 22 0:44 / /mnt/both rw - ext4 /dev/vdc rw
35 34 0:45 / /mnt/both rw - 9p host rw
damaged
36 22 0:46 / /mnt/vm rw - virtiofs host rw
"""


@pytest.mark.parametrize(
    ("folder", "remote"),
    [
        ("/home/me", False),
        ("/srv/share", True),
        ("/srv/share/in", True),
        ("/srv/shared", False),
        ("/srv/share/local disk/in", False),
        ("/mnt/office/a/b", True),
        ("/mnt/ssh", True),
        ("/mnt/both/x", True),
        ("/mnt/vm", True),
    ],
)
def test_network_folders_are_told_by_their_mount(
    tmp_path: Path, folder: str, *, remote: bool
) -> None:
    """The longest mount point decides, of two on one point the later."""
    (tmp_path / "mountinfo").write_text(MOUNTS)
    assert is_remote(folder, tmp_path / "mountinfo") is remote


def test_without_a_list_of_mounts_no_folder_is_remote(tmp_path: Path) -> None:
    """A system without /proc is asked nothing."""
    assert not is_remote("/srv/share", tmp_path / "none")
