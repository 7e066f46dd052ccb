"""The disk of kbd itself is full while files land: nothing is lost, and it goes on by itself."""

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from whole.disks import tiny_disk
from whole.watched import SALES, eventually, shop_at

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]


def _fill(fd: int, disk: Path) -> None:
    """Take all of a disk but four blocks; logs may reserve some, or give some back, meanwhile."""
    while True:
        free = os.statvfs(disk)
        with suppress(OSError):
            os.posix_fallocate(fd, 0, (free.f_bavail - 4) * free.f_bsize)
            return


def test_a_full_home(short_dir: Path, anyio_backend: str) -> None:
    """What lands waits and it is said why; with room again each file has its one run and copy."""
    disk = short_dir / "disk"
    with tiny_disk(disk, 48 << 20), shop_at(disk, anyio_backend) as shop:
        shop.folder = short_dir
        inbox = shop.inbox("in")
        inbox.drop("first.csv", f"{SALES}2024-02-01,First,0.00\n")
        inbox.settled(1)
        ballast = disk / "ballast"
        with ballast.open("wb") as file:
            _fill(file.fileno(), disk)
        for number in range(5):
            inbox.drop(f"f{number}.csv", SALES + f"2024-02-0{number + 1},New,{number}.00\n" * 3000)
        eventually("nobody says so", lambda: "no space" in inbox.shown().get("reason", ""))
        time.sleep(3)
        assert inbox.shown()["outcomes"] == {"published": 1}
        ballast.unlink()
        watch = inbox.settled(6)
        assert watch["outcomes"] == {"published": 6}, watch
        assert len(inbox.delivered()) == 6
        shop.verify()
