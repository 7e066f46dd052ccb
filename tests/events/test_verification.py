"""Verification says that a log and its blobs are whole, or what is wrong and where."""

import os
from pathlib import Path

import msgpack
import pytest

from events.harm import SEGMENT
from events.logs import APRIL, Unsynced, make_log, note
from kbd.events import BlobStore, EventLog, codec
from kbd.events.anchor import Anchor, write_anchor
from kbd.events.disk import DISK
from kbd.events.frame import GENESIS, FrameLink, pack_frame
from kbd.events.segment import open_segment
from kbd.events.verification import LogDamage, verify_log
from kbd.events.workbenches import FileAdded
from kbd.types import BlobHash, FileName


def rolled(place: Path) -> list[str]:
    """A closed log of twenty events in several segments."""
    log = EventLog.open(place, segment_bytes=500, disk=Unsynced())
    for n in range(10):
        log.append([note(f"{n} a"), note(f"{n} b")])
    log.close()
    return sorted(path.name for path in place.glob("*.kbl"))


def contents(place: Path) -> dict[str, bytes]:
    """All files of a log."""
    return {path.name: path.read_bytes() for path in place.iterdir()}


def test_a_whole_log_is_whole(tmp_path: Path) -> None:
    """Everything is counted, progress ends at the last event, nothing is touched."""
    rolled(tmp_path)
    before = contents(tmp_path)
    progress: list[int] = []
    found = verify_log(tmp_path, None, progress.append)
    assert found.is_whole
    assert (found.frames, found.seq, found.anchored, found.tear) == (10, 20, 20, None)
    assert progress[-1] == 20
    assert contents(tmp_path) == before
    log = EventLog.open(tmp_path)
    assert log.head.hex() == found.head
    log.close()


def test_a_torn_end_is_no_fault(tmp_path: Path) -> None:
    """What the next start cuts off is told apart from damage, and left for it."""
    make_log(tmp_path, [2]).close()
    size = (tmp_path / SEGMENT).stat().st_size
    with (tmp_path / SEGMENT).open("ab") as file:
        file.write(b"KB\x01\x00 half a frame")
    found = verify_log(tmp_path)
    assert found.fault is None
    assert found.tear is not None
    assert (found.tear.segment, found.tear.offset, found.tear.size_bytes) == (SEGMENT, size, 17)
    assert (tmp_path / SEGMENT).stat().st_size == size + 17


def test_damage_is_named(tmp_path: Path) -> None:
    """The first fault is named with file, offset and event."""
    names = rolled(tmp_path)
    path = tmp_path / names[1]
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    found = verify_log(tmp_path)
    reason = "the frame's checksum does not match its bytes"
    assert found.faults == (LogDamage("damaged", names[1], 64, int(names[1][:20]), reason),)
    assert found.seq == int(names[1][:20]) - 1


def test_the_chain_tells_of_an_edit_that_the_checksums_hide(tmp_path: Path) -> None:
    """A body changed together with its checksums is found by the chain of hashes."""
    log = make_log(tmp_path, [1])
    head = log.head
    log.close()
    header = open_segment(tmp_path / SEGMENT).header
    forged = codec.encode([note("forged")])
    frame = pack_frame(
        forged, FrameLink(1, 64, header.checksum), b"another chain".ljust(32), header.seed
    )
    with (tmp_path / SEGMENT).open("r+b") as file:
        file.truncate(64)
        file.seek(64)
        file.write(frame.data)
    write_anchor(tmp_path, Anchor(0, GENESIS), DISK)
    found = verify_log(tmp_path)
    assert found.fault is not None
    assert found.fault.kind == "edited"
    assert found.fault.reason.startswith("the chain of hashes")
    assert (found.fault.offset, found.fault.seq, found.seq) == (64, 1, 0)
    assert head.hex() != found.head


def test_an_event_that_must_be_understood_is_unknown_not_damaged(tmp_path: Path) -> None:
    """A log from a newer kbd is called that."""
    make_log(tmp_path, []).close()
    header = open_segment(tmp_path / SEGMENT).header
    body = msgpack.packb([["FromTheFuture", 1, {}, APRIL, 0, 0, 1]])
    with (tmp_path / SEGMENT).open("ab") as file:
        file.write(pack_frame(body, FrameLink(1, 64, header.checksum), GENESIS, header.seed).data)
    fault = verify_log(tmp_path).fault
    assert fault is not None
    assert (fault.kind, fault.file, fault.offset, fault.seq) == ("unknown", SEGMENT, 64, 1)
    log = EventLog.open(tmp_path)
    with pytest.raises(codec.NotUnderstood) as caught:
        log.replay(lambda _seq, _record: None)
    assert caught.value.detail["offset"] == 64
    with pytest.raises(codec.NotUnderstood):
        log.append([note("no")])
    log.close()


def test_blobs_that_events_name_are_checked(tmp_path: Path) -> None:
    """A named blob that is missing or damaged is a fault of the first event that names it."""
    store = BlobStore(tmp_path / "blobs")
    good, bad = store.put_bytes(b"good"), store.put_bytes(b"bad")
    log = EventLog.open(tmp_path / "log")
    gone = BlobHash("9" * 64)
    log.append(
        [codec.wrap_event(FileAdded(FileName(f"{n}"), blob, 4), APRIL)
         for n, blob in enumerate([good, good, bad])]
    )  # fmt: skip
    assert verify_log(tmp_path / "log", store).blobs_checked == 2
    store.path(bad).chmod(0o600)
    log.append([codec.wrap_event(FileAdded(FileName("x"), gone, 4), APRIL)])
    for harm in (b"BAD", b"ba", b""):
        store.path(bad).write_bytes(harm)
        damaged, missing = verify_log(tmp_path / "log", store).faults
        assert (damaged.kind, damaged.file) == ("blob damaged", bad)
        assert (damaged.offset, damaged.seq) == (0, 3)
        assert f"its {len(harm)} bytes" in damaged.reason
        assert (missing.kind, missing.file, missing.seq) == ("blob missing", gone, 4)
    assert verify_log(tmp_path / "log").is_whole
    log.close()


def test_verify_sees_a_log_in_use(tmp_path: Path) -> None:
    """Verification of a log that is being written finds no fault."""
    log = make_log(tmp_path, [1, 2])
    assert verify_log(tmp_path).is_whole
    log.append([note("more")])
    assert verify_log(tmp_path).seq == 4
    log.close()
    assert os.listdir(tmp_path) != []


def test_many_blobs_that_are_gone_are_one_story(tmp_path: Path) -> None:
    """A hundred are named; of the others it is said how many they are."""
    log = EventLog.open(tmp_path / "log", disk=Unsynced())
    blobs = [BlobHash(f"{n:064x}") for n in range(103)]
    log.append(
        [codec.wrap_event(FileAdded(FileName(str(n)), blob, 4), APRIL)
         for n, blob in enumerate(blobs)]
    )  # fmt: skip
    log.close()
    faults = verify_log(tmp_path / "log", BlobStore(tmp_path / "blobs")).faults
    assert {fault.kind for fault in faults} == {"blob missing"}
    assert [fault.seq for fault in faults] == list(range(1, 101))
    assert faults[-1].reason.endswith("; 3 more are missing or damaged")


def test_the_end_of_an_open_log_is_guarded_better_than_by_its_anchor(tmp_path: Path) -> None:
    """What its owner knows to be durable is missed, though the anchor lags behind it."""
    log = make_log(tmp_path, [1, 1, 1])
    path = tmp_path / SEGMENT
    end, size = log.end, path.stat().st_size
    whole = path.read_bytes()
    assert verify_log(tmp_path, durable=end).is_whole
    last = whole.rstrip(b"\0").rindex(b"KB\x01\x00")
    path.write_bytes(whole[:last].ljust(size, b"\0"))
    assert verify_log(tmp_path).is_whole
    fault = verify_log(tmp_path, durable=end).fault
    assert fault is not None
    assert (fault.kind, fault.offset, fault.seq) == ("truncated", last, 3)
    path.write_bytes(whole[: last + 60] + b"?" + whole[last + 61 :])
    assert verify_log(tmp_path).is_whole
    fault = verify_log(tmp_path, durable=end).fault
    assert fault is not None
    assert (fault.kind, fault.offset) == ("damaged", last)
    path.write_bytes(whole)
    log.close()
