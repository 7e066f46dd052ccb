"""Shelves: which of them stay when they become too large."""

import os
from pathlib import Path

from kbd.core.plugins.derived_cache import ShelfCache


def fill(shelves: ShelfCache, name: str, size: int, age_s: int) -> Path:
    """Use a shelf that holds one file of a size, some time ago."""
    shelf = shelves.shelf("plugin", "1", name)
    shelf.mkdir(parents=True, exist_ok=True)
    (shelf / "rows").write_bytes(bytes(size))
    shelves.used(shelf)
    if shelf.exists():
        now = shelf.stat().st_mtime
        os.utime(shelf, (now - age_s, now - age_s))
    return shelf


def test_the_least_recently_used_go(tmp_path: Path) -> None:
    """Past the limit the oldest go first, whichever came first; the one just used never goes."""
    shelves = ShelfCache(tmp_path / "shelves", 100)
    first = fill(shelves, "first", 40, 50)
    second = fill(shelves, "second", 40, 90)
    shelves.used(first)

    third = fill(shelves, "third", 40, 0)
    assert [shelf.exists() for shelf in (first, second, third)] == [True, False, True]
    huge = fill(shelves, "huge", 900, 0)
    assert [shelf.exists() for shelf in (first, third, huge)] == [False, False, True]


def test_use_counts_over_restarts(tmp_path: Path) -> None:
    """What an earlier daemon left is counted, and goes by when it was used."""
    before = fill(ShelfCache(tmp_path / "shelves", 100), "before", 90, 10)

    now = fill(ShelfCache(tmp_path / "shelves", 100), "now", 20, 0)

    assert [before.exists(), now.exists()] == [False, True]


def test_a_shelf_that_nobody_made_is_nothing(tmp_path: Path) -> None:
    """A format that keeps nothing leaves no folder."""
    shelves = ShelfCache(tmp_path / "shelves")

    shelves.used(shelves.shelf("plugin"))

    assert list(tmp_path.iterdir()) == []


def test_a_shelf_that_is_removed_meanwhile_leaves_nothing_open(tmp_path: Path) -> None:
    """A file that goes while its folder is measured costs neither an error nor a descriptor."""
    shelves = ShelfCache(tmp_path / "shelves", 100)
    shelf = fill(shelves, "half gone", 10, 0)
    for number in range(5):
        (shelf / f"gone{number}").symlink_to("nowhere")

    # An iterator of a folder that is left open warns when it goes, and warnings are errors here.
    shelves.used(shelf)
    assert shelf.is_dir()
