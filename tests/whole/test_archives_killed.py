"""kill -9 while a workbench is archived, unpacked or removed, by a prune, too: it is one, whole."""

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


PRUNE = {"older_s": 0, "archives": True}


def _seen(daemon: RealDaemon, folder: Path, number: int) -> str:
    """Make a workbench in which a person published."""
    workbench_id, _ = _made(daemon, folder, number)
    _edit(daemon, workbench_id)
    daemon.ask("DraftPublish", workbench_id=workbench_id)
    return workbench_id


def _edit(daemon: RealDaemon, workbench_id: str) -> None:
    note = {"path": "note.txt", "content": workbench_id}
    daemon.ask("ToolsCall", workbench_id=workbench_id, name="write_text_file", arguments=note)


def _statuses(daemon: RealDaemon) -> dict[str, str]:
    """Return the workbenches with their status; each is whole, and a folder or an archive."""
    rows = daemon.ask("WorkbenchList")["workbenches"]
    found = {row["id"]: row["status"] for row in rows}
    archived = {each for each, status in found.items() if status == "archived"}
    assert {*os.listdir(daemon.home / "workbenches")} == {*found} - archived
    archives = {each.name.partition(".")[0] for each in (daemon.home / "archives").glob("*.tar.gz")}
    assert archives == archived
    assert os.listdir(daemon.home / "archives" / "stage") == []
    assert all(daemon.ask("LogVerify", workbench_id=each)["ok"] for each in found)
    return found


def _explained(daemon: RealDaemon, kind: str) -> set[str]:
    """Return of which workbenches an event of a kind says that a prune was asked for."""
    return {
        each["data"]["workbench_id"]
        for each in daemon.events("daemon")
        if each["type"] == kind and each["data"]["reason"].startswith("kbd prune asked for it")
    }


@pytest.mark.parametrize("kills", KILLS)
def test_a_kill_leaves_a_prune_half_done_and_no_workbench(
    daemon: RealDaemon, tmp_path: Path, kills: int
) -> None:
    """What went is told, what is held stays, nothing is half there, and the next prune goes on."""
    chance, held = random.Random(kills), set[str]()
    for number in range(max(2, kills // 2)):
        old = {_seen(daemon, tmp_path, number) for _ in range(2)}
        for workbench_id in old:
            daemon.ask("WorkbenchArchive", workbench_id=workbench_id)
        settled = {_seen(daemon, tmp_path, number) for _ in range(2)}
        drafted, _ = _made(daemon, tmp_path, number)
        _edit(daemon, drafted)
        held.add(drafted)
        asking = threading.Thread(target=_ask, args=(daemon, "StoragePrune", PRUNE))
        asking.start()
        time.sleep(chance.uniform(0, 0.5))
        daemon.kill()
        asking.join()
        daemon.start()
        found = _statuses(daemon)
        assert old - {*found} <= _explained(daemon, "WorkbenchDeleted")
        archived = {each for each in settled if found[each] == "archived"}
        assert archived <= _explained(daemon, "WorkbenchArchived")
        daemon.ask("StoragePrune", **PRUNE)
        found = _statuses(daemon)
        # What the first archived, the second removes: it is as old as was asked for.
        assert {*found} == held | (settled - archived)
        assert {each for each in found if found[each] != "archived"} == held
        assert _explained(daemon, "WorkbenchDeleted") >= old | archived
