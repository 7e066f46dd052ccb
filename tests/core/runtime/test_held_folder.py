"""Below a held folder nothing is reached through a link, with openat2(2) and without it."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbd.core.runtime import held_folder
from kbd.core.runtime.held_folder import (
    FOLDER_FLAGS,
    hold_exact,
    hold_named,
    lies_within,
    make_below,
    open_below,
    open_named,
    real_path,
)

REFUSED = "symbolic link|Not a directory|cross-device"
"""How the system says ELOOP, ENOTDIR and EXDEV."""

CANNOT_MOUNT = "this system lets a plain user mount nothing, not even in a namespace"


@pytest.fixture(params=["openat2", "walk"])
def root(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[int]:
    """A held folder with a file in it, links out of it, and a secret outside."""
    if request.param == "walk":
        monkeypatch.setattr(held_folder, "_system_call", lambda: None)
    (tmp_path / "secret.txt").write_text("secret")
    inside = tmp_path / "root"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "a.txt").write_text("hello")
    (inside / "file").symlink_to(tmp_path / "secret.txt")
    (inside / "up").symlink_to(tmp_path)
    (inside / "within").symlink_to("sub")
    (inside / "loop").symlink_to("loop")
    (inside / "fd").symlink_to("/proc/self/fd")
    held = os.open(inside, FOLDER_FLAGS)
    yield held
    os.close(held)


def test_what_is_inside_is_opened(root: int) -> None:
    """Files and folders below the held one, and the folder itself."""
    for name, flags in (("sub/a.txt", os.O_RDONLY), ("sub", FOLDER_FLAGS), (".", FOLDER_FLAGS)):
        os.close(open_below(root, name, flags))


@pytest.mark.parametrize(
    "name",
    [
        "file", "up/secret.txt", "up", "within/a.txt", "within", "loop", "loop/x", "fd/0",
        "../secret.txt", "sub/../../secret.txt", "/etc/passwd", "sub/a.txt/x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
def test_no_link_is_followed(root: int, name: str, flags: int) -> None:
    """Not at the end, not on the way, not within; nor does a name lead up. Nothing is made."""
    with pytest.raises(OSError, match=REFUSED):
        open_below(root, name, flags, 0o600)


def test_nothing_is_made_through_a_link(root: int, tmp_path: Path) -> None:
    """Missing folders are made below the held one; a link on the way ends it."""

    def make(name: str, folder: int) -> None:
        os.mkdir(name, dir_fd=folder)

    os.close(make_below(root, "sub/new/deep", make))
    assert (tmp_path / "root" / "sub" / "new" / "deep").is_dir()
    for name in ("up/new", "within/new", "file/new", "loop/new", "../new"):
        with pytest.raises(OSError, match=REFUSED):
            os.close(make_below(root, name, make))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["root", "secret.txt"]


def test_a_folder_that_appears_as_a_link_is_not_entered(root: int, tmp_path: Path) -> None:
    """Somebody puts a link where a folder was about to be made: nothing is made behind it."""

    def make(name: str, folder: int) -> None:
        os.symlink(tmp_path, name, dir_fd=folder)
        os.mkdir(name, dir_fd=folder)

    with pytest.raises(OSError, match=REFUSED):
        os.close(make_below(root, "fresh/deep", make))
    assert not (tmp_path / "deep").exists()


def test_what_a_person_names_may_be_behind_links(root: int, tmp_path: Path) -> None:
    """A folder is found through links, and its path is told without them; a file is no link."""
    del root
    with hold_named(str(tmp_path / "root" / "up" / "root" / "within")) as held:
        assert real_path(held, "") == str((tmp_path / "root" / "sub").resolve())
    os.close(open_named(str(tmp_path / "root" / "within" / "a.txt"), os.O_RDONLY))
    with pytest.raises(OSError, match=REFUSED):
        os.close(open_named(str(tmp_path / "root" / "file"), os.O_RDONLY))
    with pytest.raises(OSError, match=REFUSED), hold_exact(str(tmp_path / "root" / "within")):
        pass
    with hold_exact(str((tmp_path / "root" / "sub").resolve())):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="links of /proc are Linux's")
def test_links_to_open_files_lead_nowhere() -> None:
    """Descriptors and roots of the daemon are no way to a file (reliability, A24 and A25)."""
    for path in ("/proc/self/root/etc", "/proc/self/cwd"):
        with pytest.raises(OSError, match=REFUSED), hold_named(path):
            pass
    with pytest.raises(OSError, match=REFUSED):
        os.close(open_named("/proc/self/root/etc/passwd", os.O_RDONLY))


def test_a_folder_within_another_is_told_by_what_it_is(root: int, tmp_path: Path) -> None:
    """Whatever it is called: itself, below, through a link; not beside it, nor above it."""
    inner = tmp_path / "root"
    for path, is_within in (
        (inner, True), (inner / "sub", True), (inner / "up" / "root" / "within", True),
        (tmp_path, False), (Path("/"), False),
    ):  # fmt: skip
        with hold_named(str(path)) as held:
            assert lies_within(held, inner) is is_within, path
    (tmp_path / "root-evil").mkdir()
    with hold_named(str(tmp_path / "root-evil")) as held:
        assert not lies_within(held, inner)
    assert not lies_within(root, tmp_path / "not there")


MOUNTED = """
import os, subprocess, sys
from pathlib import Path
from kbd.core.runtime import held_folder as h
base = Path(sys.argv[1])
subprocess.run(["mount", "--bind", base / "home" / "deep", base / "out" / "way"], check=True)
subprocess.run(["mount", "--bind", base / "root" / "sub", base / "root" / "at"], check=True)
with h.hold_named(str(base / "out" / "way")) as held:
    print(h.lies_within(held, base / "home"), h.lies_within(held, base / "root"))
with h.hold_named(str(base / "out" / "way" / "below")) as held:
    print(h.lies_within(held, base / "home"))
root = os.open(base / "root", h.FOLDER_FLAGS)
for plain in (False, True):
    if plain:
        h._system_call = lambda: None
    try:
        h.open_below(root, "at/a.txt", os.O_RDONLY, same_disk=True)
        print("opened")
    except OSError as error:
        print(error.errno)
"""


def test_mounts_are_seen_through(tmp_path: Path) -> None:
    """What is mounted elsewhere is still within; a mount below a root is not passed (A38)."""
    for name in ("home/deep/below", "out/way", "root/sub", "root/at"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "root" / "sub" / "a.txt").write_text("hello")
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", MOUNTED, str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(CANNOT_MOUNT)
    # Without openat2 a bind mount of the same disk cannot be told from a folder of it.
    assert done.stdout.split() == ["True", "False", "True", str(errno.EXDEV), "opened"], done.stderr
