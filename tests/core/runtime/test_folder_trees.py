"""Folders that a hostile process has filled are measured and removed, however they are built."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kbd.core.runtime.folder_trees import MAX_ENTRIES, measure_tree, remove_tree

UNLISTED = """
import os, sys
from kbd.core.runtime.folder_trees import measure_tree, remove_tree
os.makedirs(sys.argv[1] + "/a")
os.mkdir(sys.argv[1] + "/a/b", 0o300)
os.mkdir(sys.argv[1] + "/a/d", 0o500)
open(sys.argv[1] + "/a/b/c", "w").close()
assert measure_tree(sys.argv[1]) is None
remove_tree(sys.argv[1])
"""


def _drop_capabilities() -> None:
    # What a program is given when it is started: root may list anything.
    for capability in range(64):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def _descend(folder: Path, levels: int) -> None:
    """Make folders within folders, deeper than a path can tell."""
    held = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d" * 9, dir_fd=held)
        inner = os.open("d" * 9, os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = inner
    os.close(held)


@pytest.mark.full
def test_a_folder_of_any_depth_is_removed(tmp_path: Path) -> None:
    """`shutil.rmtree` ends with an error behind 1,000 levels, and leaves them."""
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "file").write_text("x")
    (folder / "link").symlink_to(tmp_path)
    _descend(folder, 1_500)

    try:
        assert measure_tree(folder) is None  # no path leads there
        remove_tree(folder)

        assert os.listdir(tmp_path) == []
    finally:
        # What tests leave is removed by `shutil.rmtree`.
        subprocess.run(["rm", "-rf", folder], check=True)


def test_a_folder_that_cannot_be_listed_is_removed(tmp_path: Path) -> None:
    """Its owner can make it listable again; as a plain user."""
    folder = tmp_path / "a"
    command = [sys.executable, "-c", UNLISTED, str(folder)]
    subprocess.run(command, check=True, preexec_fn=_drop_capabilities)

    assert not folder.exists()


def test_what_is_not_there_takes_nothing(tmp_path: Path) -> None:
    """A folder that was never made, or is gone."""
    remove_tree(tmp_path / "none")

    assert measure_tree(tmp_path / "none") == 0


def test_a_folder_is_measured_by_what_it_takes_on_the_disk(tmp_path: Path) -> None:
    """All below counts; the length that a file only announces does not; links are not followed."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_bytes(os.urandom(1 << 16))
    with (tmp_path / "a" / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "a" / "link").symlink_to("/usr")

    assert 1 << 16 <= (measure_tree(tmp_path / "a") or 0) < 1 << 20


@pytest.mark.full
def test_too_many_entries_are_not_counted(tmp_path: Path) -> None:
    """The look itself is bounded."""
    for number in range(MAX_ENTRIES + 1):
        (tmp_path / str(number)).touch()

    assert measure_tree(tmp_path) is None
