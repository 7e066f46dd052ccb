"""The beginning of a log is copied as a log of its own, whoever writes at its end."""

import errno
import os
import threading
from pathlib import Path

import pytest

from events.failing_disks import BadDisk, FullDisk, PowerCutError, PowerDisk, SeenDisk
from events.logs import Unsynced, note, texts
from kbd.errors import DiskFull, LogCorrupt, NotFound
from kbd.events import EventLog
from kbd.events.disk import SyncError
from kbd.events.frame import GENESIS
from kbd.events.log_copy import Extent, copy_log, find_extent
from kbd.events.verification import verify_log
from kbd.types import Seq

UNSYNCED = Unsynced()


def rolled(place: Path) -> EventLog:
    """An open log of thirty events in frames of two, in several segments."""
    log = EventLog.open(place, segment_bytes=500, disk=UNSYNCED)
    for n in range(15):
        log.append([note(f"{n} a"), note(f"{n} b")])
    return log


def opened_whole(place: Path) -> EventLog:
    """A copy, opened; nothing had to be repaired."""
    log = EventLog.open(place, disk=UNSYNCED)
    assert (log.repairs, log.damage) == ((), None)
    return log


def test_the_copy_up_to_each_event_is_a_log(tmp_path: Path) -> None:
    """It has the events up to the end of the frame, the head, the bytes; and it can go on."""
    log = rolled(tmp_path / "log")
    events = texts(log)
    for until in range(31):
        extent = find_extent(tmp_path / "log", Seq(until))
        assert extent.seq == until + until % 2
        assert extent.head == log.chain_at(extent.seq)
        copied = copy_log(tmp_path / "log", extent, tmp_path / str(until), UNSYNCED)
        assert copied >= sum(size for _, size in extent.files)
        for name, size in extent.files:
            whole = (tmp_path / "log" / name).read_bytes()
            assert (tmp_path / str(until) / name).read_bytes() == whole[:size]
        copy = opened_whole(tmp_path / str(until))
        assert (copy.seq, copy.head, texts(copy)) == (
            extent.seq, extent.head, events[: extent.seq]
        )  # fmt: skip
        assert copy.append([note("more")]) == extent.seq + 1
        copy.close()
        assert verify_log(tmp_path / str(until)).is_whole
    assert find_extent(tmp_path / "log", Seq(0)) == Extent((), Seq(0), GENESIS)
    assert find_extent(tmp_path / "log", None) == find_extent(tmp_path / "log", Seq(30))
    with pytest.raises(NotFound):
        find_extent(tmp_path / "log", Seq(31))
    log.close()


def test_a_copy_grows(tmp_path: Path) -> None:
    """Only what came since is copied; a copy that is longer than asked for is not touched."""
    log = rolled(tmp_path / "log")
    extent = find_extent(tmp_path / "log", Seq(1))
    for until in (3, 9, 10, 10, 30):
        extent = find_extent(tmp_path / "log", Seq(until))
        copy_log(tmp_path / "log", extent, tmp_path / "copy", UNSYNCED)
    assert copy_log(tmp_path / "log", extent, tmp_path / "copy", UNSYNCED) == 0
    with pytest.raises(LogCorrupt, match="longer"):
        copy_log(tmp_path / "log", find_extent(tmp_path / "log", Seq(1)), tmp_path / "copy")
    copy = opened_whole(tmp_path / "copy")
    assert texts(copy) == texts(log)
    copy.close()
    log.close()


def test_a_log_is_copied_while_it_is_written(tmp_path: Path) -> None:
    """Each copy is the log up to the event that was durable when it was asked for."""
    log = EventLog.open(tmp_path / "log", segment_bytes=4000, disk=UNSYNCED)
    log.append([note("0")])
    done, written = threading.Event(), threading.Event()

    def write() -> None:
        n = 0
        while not done.wait(0.0002):
            log.append([note(str(n := n + 1))])
            written.set()

    writer = threading.Thread(target=write)
    writer.start()
    first = durable = log.seq
    try:
        for n in range(10):
            durable = log.seq
            extent = find_extent(tmp_path / "log", durable)
            disk = SeenDisk() if n == 7 else UNSYNCED
            written.clear()
            copy_log(tmp_path / "log", extent, tmp_path / str(n), disk)
            # In memory a copy may be done before the writer has its turn.
            assert written.wait(60)
            assert extent.seq == durable
            copy = opened_whole(tmp_path / str(n))
            assert (copy.seq, copy.head) == (durable, log.chain_at(durable))
            assert texts(copy) == [str(k) for k in range(durable)]
            copy.close()
    finally:
        done.set()
        writer.join()
    assert durable > first, "nothing was written meanwhile"
    log.close()


def test_damage_before_the_event_is_told(tmp_path: Path) -> None:
    """Up to the damage a log can be copied, not beyond; nothing is a log that is gone."""
    rolled(tmp_path / "log").close()
    second = sorted((tmp_path / "log").glob("*.kbl"))[1]
    data = bytearray(second.read_bytes())
    data[100] ^= 1
    second.chmod(0o600)
    second.write_bytes(data)
    before = Seq(int(second.stem) - 1)
    assert find_extent(tmp_path / "log", before).seq == before
    for until in (Seq(before + 1), None):
        with pytest.raises(LogCorrupt):
            find_extent(tmp_path / "log", until)
    with pytest.raises(FileNotFoundError):
        find_extent(tmp_path / "no log", Seq(1))


def test_a_failing_disk_is_told(tmp_path: Path) -> None:
    """A full disk and one that does not sync fail the copy by name, at every step of it."""
    rolled(tmp_path / "log").close()
    extent = find_extent(tmp_path / "log", None)
    for space in (0, 100, 1500):
        with pytest.raises(DiskFull):
            copy_log(tmp_path / "log", extent, tmp_path / f"full {space}", FullDisk(space))
    calls = 0
    while True:
        disk = BadDisk("fsync", calls, errno.EIO)
        try:
            copy_log(tmp_path / "log", extent, tmp_path / f"bad {calls}", disk)
        except SyncError:
            calls += 1
        else:
            break
    assert calls > 2 * len(extent.files)


def test_a_copy_that_was_finished_survives_a_power_cut(tmp_path: Path) -> None:
    """Whatever the disk forgets that was not synced: on return all of it is durable."""
    rolled(tmp_path / "log").close()
    extent = find_extent(tmp_path / "log", None)
    for seed in range(5):
        disk = PowerDisk(tmp_path / "attic", 10_000, seed)
        copy_log(tmp_path / "log", extent, tmp_path / str(seed), disk)
        disk.crash()
        copy = opened_whole(tmp_path / str(seed))
        assert (copy.seq, copy.head) == (extent.seq, extent.head)
        copy.close()
    cut = PowerDisk(tmp_path / "attic", 5, 0)
    with pytest.raises(PowerCutError):
        copy_log(tmp_path / "log", extent, tmp_path / "cut", cut)
    cut.crash()
    assert not os.path.exists(tmp_path / "cut" / "anchor")
