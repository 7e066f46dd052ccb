"""What a small file costs on the disk: `python benchmarks/small_files.py [--files 8]`.

Tables of 1.3 KB land in a watched folder, one after the other, each is sorted and the result
published. The real daemon is measured once it has done so twice: what it and its processes have the
system write for a file, and what the finished workbench takes. Beside that stands the least that
the same safety costs: a page of 4 KiB for each commit of a log, and one or more for each version of
a file; and the bytes of the file and its results.

At the end all but one of the workbenches are closed, as the daemon closes those that nobody has
used for a minute, so that what is written then is in the figures; so are the rows of the index.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from benchmarks._daemon import running, written_bytes
from benchmarks._homes import ROWS, file_name, made_by, watch_folder
from kbd.client.blocking import Client
from kbd.events import EventLog

GOAL_WRITTEN_BYTES = 100_000
PAGE_BYTES = 4096
WARM = 2
"""Files before those that are measured: with the first one the daemon's processes start."""

CLOSED_S = 120
"""Until then the idle ones are closed: after a minute, looked for each ten seconds."""

SETTLED_S = 1.5
"""What follows behind a run, a receipt and copies for people, is written by then."""


class Folder(msgspec.Struct, frozen=True):
    """What a folder takes: how many files and folders are in it, itself among them, and bytes."""

    inodes: int
    disk_bytes: int


def measure(folder: Path) -> Folder:
    """Measure a folder with all below it."""
    found = [each.lstat() for each in (folder, *folder.rglob("*"))]
    return Folder(len(found), sum(each.st_blocks for each in found) * 512)


def commits(log: Path) -> int:
    """Return how many frames a log has, each of which was synced."""
    return sum(1 for _ in EventLog.view(log).frames())


def show(home: Path, ids: list[str], written: int, daemon_commits: int) -> None:
    """Print what the finished workbenches took, and what was written for each."""
    roots = [home / "workbenches" / each for each in ids]
    size = len(ROWS.encode())
    results = sum(each.stat().st_size for each in (roots[0] / "published").iterdir())
    whole = [measure(root) for root in roots]
    inodes = max(each.inodes for each in whole)
    disk_bytes = sum(each.disk_bytes for each in whole) / len(whole)
    print(f"a file of {size:,} bytes; with its result {results:,}, in {len(ids)} workbenches")
    ratio = disk_bytes / results
    takes = f"{disk_bytes / 1024:,.0f} KiB in {inodes} files and folders"
    print(f"  a finished workbench takes {takes}, {ratio:,.0f} times their bytes")
    print("  of it, in KiB and by number:")
    for part in sorted(each for each in roots[0].iterdir() if each.is_dir()):
        found = measure(part)
        print(f"    {part.name + '/':<14}{found.disk_bytes / 1024:>6,.0f} {found.inodes:>6}")
    own = sum(commits(root / "log") for root in roots) / len(roots)
    pages = (own + daemon_commits / len(roots)) * PAGE_BYTES
    blobs = sum(each.stat().st_blocks * 512 for each in (roots[0] / "blobs").rglob("*"))
    mean = written / len(ids)
    print(
        f"  a landed file has {mean / 1000:,.0f} KB written, {mean / results:,.0f} times the bytes"
    )
    print(f"    commits of logs, a page each   {pages / 1000:>6,.0f} KB")
    print(f"    versions of files and prompts  {blobs / 1000:>6,.0f} KB")
    print(f"    all else                       {(mean - pages - blobs) / 1000:>6,.0f} KB")
    verdict = "held  " if mean <= GOAL_WRITTEN_BYTES else "MISSED"
    print(f"\nGoals\n  {verdict} at most {GOAL_WRITTEN_BYTES / 1000:.0f} KB written a landed file")


def wait_until_closed(home: Path) -> None:
    """Wait until no more workbenches are open than may be: one."""
    until_s = time.monotonic() + CLOSED_S
    while len(list(home.glob("workbenches/*/open"))) > 1 and time.monotonic() < until_s:
        time.sleep(0.5)


def main() -> None:
    """Let files land, and print what they cost."""
    parser = argparse.ArgumentParser(description="What a small file costs on the disk.")
    parser.add_argument("--files", type=int, default=8, help="how many are measured")
    count = parser.parse_args().files
    with tempfile.TemporaryDirectory(prefix="kbd-", dir=Path.cwd()) as place:
        folder, ids = Path(place), []
        few = {"KBD_WATCH_OPEN_WORKBENCHES": "1"}
        with running(folder / "h", few) as daemon, Client(daemon.path) as client:
            watch_id = watch_folder(client, folder / "in", "auto")
            written = recorded = 0
            for number in range(WARM + count):
                if number == WARM:
                    client.send("WorkbenchList", {})
                    written = written_bytes(daemon.pid)
                    recorded = commits(daemon.home / "daemon" / "log")
                (folder / "in" / file_name(number)).write_text(ROWS, encoding="utf-8")
                ids.append(made_by(client, watch_id, number))
                time.sleep(SETTLED_S)
            client.send("WorkbenchList", {})
            wait_until_closed(daemon.home)
            written = written_bytes(daemon.pid) - written
            recorded = commits(daemon.home / "daemon" / "log") - recorded
        if not written:
            sys.exit("the system does not count what is written to this disk")
        show(folder / "h", ids[WARM:], written, recorded)


if __name__ == "__main__":
    main()
