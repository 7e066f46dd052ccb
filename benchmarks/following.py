"""What looking back costs over the socket: `python benchmarks/following.py [rounds]`.

The daemon as it runs, by elapsed time. A client follows a log of 100,000 events from its beginning
until it is told that this is all; beside that the same events read and encoded as JSON by one loop
without a socket. Then a run of 1,000 events is exported (`RunExport`: everything read and compared,
the steps told, a page made of them, one zip), beside a bare copy of the files that it rests on,
each made durable, and beside one zip of them.
"""

import os
import shutil
import socket
import sys
import tempfile
import time
import zipfile
from functools import partial
from pathlib import Path

import msgspec

from benchmarks._history import BENCH, EVENTS_A_VERSION, Unsynced, keep_blobs, make
from benchmarks._measure import gate, interleave, table
from benchmarks.commands import started
from kbd.client.blocking import Client
from kbd.events import BlobStore, EventLog, codec
from kbd.events.codec import plain_record
from kbd.events.workbenches import WorkbenchCreated
from kbd.types import Seq, WorkbenchId

EVENTS, RUN_EVENTS = 100_000, 1_000
CHUNK_BYTES = 1 << 20
SYNCED = b'"method":"EventsSynced"'
SHORT = WorkbenchId("00112233445566f0")
"""The workbench with the one run that is exported."""


def prepare(home: Path) -> None:
    """Lay down a home with two workbenches, as a daemon leaves them."""
    log = EventLog.open(home / "daemon" / "log", disk=Unsynced())
    for workbench_id, events in ((BENCH, EVENTS), (SHORT, RUN_EVENTS + 1)):
        root = home / "workbenches" / workbench_id
        make(root / "log", events, min(events, RUN_EVENTS))
        keep_blobs(BlobStore(root / "blobs", Unsynced()), events // EVENTS_A_VERSION + 2)
        log.append([codec.wrap_event(WorkbenchCreated(workbench_id, workbench_id), 1)])
    log.close()


def followed(path: str) -> float:
    """Follow the log from its beginning to the mark; returns events a second.

    The bytes are taken and not decoded: the client's own JSON is not the daemon's cost.
    """
    params = {"workbench_id": BENCH, "after": 0}
    call = {"jsonrpc": "2.0", "id": 1, "method": "EventsSubscribe", "params": params}
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        begun = time.perf_counter()
        client.sendall(msgspec.json.encode(call) + b"\n")
        count, tail = 0, b""
        while SYNCED not in tail:
            chunk = client.recv(CHUNK_BYTES)
            count += chunk.count(b'"causation_id"')
            tail = tail[-len(SYNCED) :] + chunk
        assert count > EVENTS // 2
        return EVENTS / (time.perf_counter() - begun)


def bare(log: EventLog) -> float:
    """Read all events and encode them as clients see them, in this process; events a second."""
    begun, encode, size = time.perf_counter(), msgspec.json.Encoder().encode, 0
    for first, body in log.frames():
        for seq, item in enumerate(codec.decode_plain(body), first):
            size += len(encode(plain_record(item, Seq(seq), BENCH)))
    assert size > EVENTS * 100
    return EVENTS / (time.perf_counter() - begun)


def exported(path: str, folder: Path) -> float:
    """Export the run; returns milliseconds."""
    target = folder / "run.zip"
    with Client(path) as client:
        client.send("LogHead", {"workbench_id": SHORT})
        begun = time.perf_counter()
        params = {"run_id": f"{SHORT}-1", "target": str(target)}
        found = client.send("RunExport", params)
        taken = time.perf_counter() - begun
    assert abs(found["seq"] - RUN_EVENTS) < 10
    target.unlink()
    return taken * 1e3


def rested_on(root: Path) -> list[Path]:
    """The files of a log and its blobs."""
    return [*(root / "log").iterdir(), *(root / "blobs").glob("*")]


def copied(root: Path, folder: Path) -> float:
    """Copy the log and the blobs, each file made durable; returns milliseconds."""
    target = folder / "copy"
    target.mkdir()
    begun = time.perf_counter()
    for source in rested_on(root):
        with source.open("rb") as old, (target / source.name).open("wb") as new:
            shutil.copyfileobj(old, new)
            os.fsync(new.fileno())
    taken = time.perf_counter() - begun
    shutil.rmtree(target)
    return taken * 1e3


def zipped(root: Path, folder: Path) -> float:
    """Put the log and the blobs into one zip, durably; returns milliseconds."""
    target = folder / "bare.zip"
    begun = time.perf_counter()
    with target.open("wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for source in rested_on(root):
                packed.write(source, source.name)
        file.flush()
        os.fsync(file.fileno())
    taken = time.perf_counter() - begun
    target.unlink()
    return taken * 1e3


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as name:
        home, folder = Path(name, "home"), Path(name, "out")
        home.mkdir(mode=0o700)
        folder.mkdir()
        prepare(home)
        shutil.copytree(home / "workbenches" / BENCH / "log", folder / "log")
        copy = EventLog.open(folder / "log")
        sock = str(home / "kbd.sock")
        arguments = ["-m", "kbd", "--home", str(home), "--socket", sock, "daemon"]
        with started(arguments, sock) as path:
            with Client(path) as client:
                assert client.send("LogHead", {"workbench_id": BENCH})["seq"] >= EVENTS
            found = interleave(
                {
                    "followed over the socket": partial(followed, path),
                    "read and encoded, no socket": partial(bare, copy),
                },
                rounds,
            )
            table(f"{EVENTS:,} events from 0", "events/s", found, "read and encoded, no socket")
            ratio = found["followed over the socket"] / found["read and encoded, no socket"]
            gate("followed against read and encoded", ratio, least=0.25)
            short = home / "workbenches" / SHORT
            found = interleave(
                {
                    "exported": partial(exported, path, folder),
                    "copied, durable": partial(copied, short, folder),
                    "zipped, durable": partial(zipped, short, folder),
                },
                rounds,
            )
            table(f"a run of {RUN_EVENTS:,} events", "ms", found, "copied, durable")
            gate("export against a bare zip", found["exported"] / found["zipped, durable"], most=60)
        copy.close()


if __name__ == "__main__":
    main()
