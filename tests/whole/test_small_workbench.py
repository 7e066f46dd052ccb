"""A small file in a watched folder: what its workbench takes, and what is written for it.

Bounds on what lies there, counted and not timed. `benchmarks/small_files.py` measures what the
system writes.
"""

from pathlib import Path

from kbd.events import EventLog
from whole.watched import SALES, Inbox, shop_at

FILES_AND_FOLDERS = 26
DISK_BYTES = 176 * 1024
COMMITS = 50
"""Each is a page of the disk at least."""

INDEX_PAGES = 24
"""Pages of 4 KiB that a landed file changes in the index of lists."""


def _landed(inbox: Inbox, number: int) -> str:
    """Let a file land; return the workbench once all that follows was written."""
    inbox.drop(f"f{number}.csv", SALES)
    (newest, *_) = inbox.settled(number)["recent"]
    assert newest["outcome"] == "published"
    return str(newest["workbench_id"])


def test_a_small_file_costs_little(short_dir: Path, anyio_backend: str) -> None:
    """A finished workbench has few files and folders, and few pages are written for it."""
    with shop_at(short_dir, anyio_backend) as shop:
        home = shop.daemon.home
        inbox = shop.inbox("in")
        _landed(inbox, 1)
        shop.daemon.ask("WorkbenchList")
        index = home / "daemon" / "index.sqlite3-wal"
        before = index.stat().st_size
        workbench_id = _landed(inbox, 2)
        # A list has all rows written that have changed.
        shop.daemon.ask("WorkbenchList")
        written = index.stat().st_size - before
        shop.verify(workbench_id)
    root = home / "workbenches" / workbench_id
    there = [root, *root.rglob("*")]

    assert written <= INDEX_PAGES * (4096 + 24)
    assert sum(1 for _ in EventLog.view(root / "log").frames()) <= COMMITS
    assert len(there) <= FILES_AND_FOLDERS, [str(each.relative_to(root)) for each in there]
    assert sum(each.lstat().st_blocks * 512 for each in there) <= DISK_BYTES
    empty = {each for each in there if each.is_dir() and not any(each.iterdir())}
    # That says of a store that it marks the bytes that are somebody's.
    assert empty <= {root / "stage", root / "blobs" / "kept"}
