"""kill -9 while a workbench is archived, unpacked or removed: folder or archive is whole."""

import contextlib
import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import Client, ConnectionLostError, NoAnswerError, RemoteError
from real_daemon import RealDaemon

pytestmark = pytest.mark.timeout(1800)

BULK_BYTES = 3_000_000
"""What packing takes a tenth of a second for."""

KILLS = [
    pytest.param(4, id="4"),
    pytest.param(16, id="16", marks=pytest.mark.full),
    pytest.param(150, id="150", marks=pytest.mark.soak),
]


@pytest.fixture
def daemon(short_dir: Path) -> Iterator[RealDaemon]:
    """A daemon with a home."""
    daemon = RealDaemon(short_dir / "h")
    daemon.start()
    yield daemon
    daemon.kill()


def _ask(daemon: RealDaemon, method: str, params: dict[str, Any]) -> None:
    """Ask for something whose answer may never come."""
    with (
        contextlib.suppress(ConnectionLostError, NoAnswerError, RemoteError, OSError),
        Client(daemon.socket) as client,
    ):
        client.send(method, params, 60)


def _made(daemon: RealDaemon, folder: Path, number: int) -> tuple[str, dict[str, bytes]]:
    """Make a workbench with files; return it with their bytes."""
    files = {
        "a.csv": b"Day,Sum\n2024-01-01,3\n",
        "bulk.bin": random.Random(number).randbytes(BULK_BYTES),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return daemon.workbench(*(folder / name for name in files)), files


@pytest.mark.parametrize("kills", KILLS)
def test_a_kill_leaves_the_folder_or_the_archive(
    daemon: RealDaemon, tmp_path: Path, kills: int
) -> None:
    """At any moment: after the next start one of both is there, and has every byte and event."""
    chance = random.Random(kills)
    workbench_id, files = _made(daemon, tmp_path, 0)
    named = {"workbench_id": workbench_id}
    seq = daemon.ask("WorkbenchOpen", **named)["workbench"]["last_seq"]
    archive = daemon.home / "archives" / f"{workbench_id}.tar.gz"
    root = daemon.home / "workbenches" / workbench_id
    seen = set()
    for _ in range(kills):
        method = "WorkbenchUnarchive" if archive.exists() else "WorkbenchArchive"
        asking = threading.Thread(target=_ask, args=(daemon, method, named))
        asking.start()
        time.sleep(chance.uniform(0, 0.5))
        daemon.kill()
        asking.join()
        daemon.start()
        (row,) = daemon.ask("WorkbenchList")["workbenches"]
        seen.add(row["status"])
        assert (archive.exists(), root.exists()) == (
            row["status"] == "archived", row["status"] != "archived"
        )  # fmt: skip
        if (daemon.home / "archives" / "stage").exists():
            assert os.listdir(daemon.home / "archives" / "stage") == []
    opened = daemon.ask("WorkbenchOpen", **named)["workbench"]
    assert opened["last_seq"] == seq
    assert {name: (root / "published" / name).read_bytes() for name in files} == files
    assert daemon.ask("LogVerify", **named)["ok"]


@pytest.mark.parametrize("kills", KILLS)
def test_a_kill_removes_an_archive_or_does_not(
    daemon: RealDaemon, tmp_path: Path, kills: int
) -> None:
    """It is listed and can be unpacked, or it is gone, and the daemon's log says so."""
    chance = random.Random(kills)
    for number in range(max(2, kills // 2)):
        workbench_id, files = _made(daemon, tmp_path, number)
        named = {"workbench_id": workbench_id}
        daemon.ask("WorkbenchArchive", **named)
        asking = threading.Thread(target=_ask, args=(daemon, "WorkbenchDelete", named))
        asking.start()
        time.sleep(chance.uniform(0, 0.02))
        daemon.kill()
        asking.join()
        daemon.start()
        assert os.listdir(daemon.home / "archives" / "stage") == []
        listed = {row["id"] for row in daemon.ask("WorkbenchList")["workbenches"]}
        types = {each["type"] for each in daemon.events("daemon")}
        archive = daemon.home / "archives" / f"{workbench_id}.tar.gz"
        if workbench_id not in listed:
            assert not archive.exists()
            assert "WorkbenchDeleted" in types
            continue
        daemon.ask("WorkbenchUnarchive", **named)
        published = daemon.home / "workbenches" / workbench_id / "published"
        assert {name: (published / name).read_bytes() for name in files} == files
        daemon.ask("WorkbenchDelete", **named)
