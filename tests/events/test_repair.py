"""Verification says what is wrong and where; a cut is explicit and keeps what it takes."""

import os
from pathlib import Path

import msgpack
import pytest

from events.failing_disks import FullDisk, PowerCutError, PowerDisk
from events.logs import APRIL, Unsynced, make_log, note, texts
from kbd.errors import DiskFull, ValidationFailed
from kbd.events import BlobStore, EventLog, codec
from kbd.events.anchor import ANCHOR_NAME, Anchor, write_anchor
from kbd.events.disk import DISK
from kbd.events.frame import GENESIS, Link, pack
from kbd.events.repair import Fault, cut, verify
from kbd.events.segment import opened
from kbd.events.workbenches import FileAdded
from kbd.types import BlobHash, FileName, Seq

SEGMENT = "00000000000000000001.kbl"


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
    found = verify(tmp_path, None, progress.append)
    assert found.whole
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
    found = verify(tmp_path)
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
    found = verify(tmp_path)
    assert found.fault == Fault(
        "log", names[1], 64, int(names[1][:20]), "the frame's checksum does not match its bytes"
    )
    assert found.seq == int(names[1][:20]) - 1


def test_the_chain_tells_of_an_edit_that_the_checksums_hide(tmp_path: Path) -> None:
    """A body changed together with its checksums is found by the chain of hashes."""
    log = make_log(tmp_path, [1])
    head = log.head
    log.close()
    header = opened(tmp_path / SEGMENT).header
    forged = codec.encode([note("forged")])
    frame = pack(forged, Link(1, 64, header.checksum), b"another chain".ljust(32), header.seed)
    with (tmp_path / SEGMENT).open("r+b") as file:
        file.truncate(64)
        file.seek(64)
        file.write(frame.data)
    write_anchor(tmp_path, Anchor(0, GENESIS), DISK)
    found = verify(tmp_path)
    assert found.fault is not None
    assert found.fault.reason.startswith("the chain of hashes")
    assert (found.fault.offset, found.fault.seq, found.seq) == (64, 1, 0)
    assert head.hex() != found.head


def test_an_event_that_must_be_understood_is_unknown_not_damaged(tmp_path: Path) -> None:
    """A log from a newer kbd is called that."""
    make_log(tmp_path, []).close()
    header = opened(tmp_path / SEGMENT).header
    body = msgpack.packb([["FromTheFuture", 1, {}, APRIL, 0, 0, 1]])
    with (tmp_path / SEGMENT).open("ab") as file:
        file.write(pack(body, Link(1, 64, header.checksum), GENESIS, header.seed).data)
    fault = verify(tmp_path).fault
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
        [codec.recorded(FileAdded(FileName(f"{n}"), blob, 4), APRIL)
         for n, blob in enumerate([good, good, bad])]
    )  # fmt: skip
    assert verify(tmp_path / "log", store).blobs_checked == 2
    store.path(bad).chmod(0o600)
    store.path(bad).write_bytes(b"BAD")
    fault = verify(tmp_path / "log", store).fault
    assert fault is not None
    assert (fault.kind, fault.file, fault.seq) == ("blob", bad, 3)
    log.append([codec.recorded(FileAdded(FileName("x"), gone, 4), APRIL)])
    fault = verify(tmp_path / "log", store).fault
    assert fault is not None
    assert (fault.file, fault.reason) == (gone, "a blob that event 4 names is missing")
    assert verify(tmp_path / "log").whole
    log.close()


@pytest.mark.parametrize("to", range(0, 21, 2))
def test_a_cut_leaves_the_prefix_and_keeps_the_rest(tmp_path: Path, to: int) -> None:
    """Behind any frame: the log ends there, is whole and goes on; what was cut is kept."""
    rolled(tmp_path)
    before = contents(tmp_path)
    done = cut(tmp_path, Seq(to))
    assert done.seq == to
    kept = {name: data for name, data in contents(tmp_path).items() if ".cut-" in name}
    assert {name.rpartition(".cut-")[0] for name in kept} - {ANCHOR_NAME} <= set(before)
    assert all(data == before[name.rpartition(".cut-")[0]] for name, data in kept.items())
    assert set(done.kept) == set(kept) - {f"{ANCHOR_NAME}.cut-1"}
    assert verify(tmp_path).whole
    log = EventLog.open(tmp_path)
    assert (log.damage, log.seq) == (None, to)
    assert log.append([note("after")]) == to + 1
    assert len(texts(log)) == to + 1
    log.close()


def test_a_damaged_log_is_written_again_after_a_cut(tmp_path: Path) -> None:
    """A cut before the damage makes the log writable."""
    names = rolled(tmp_path)
    path = tmp_path / names[1]
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    found = verify(tmp_path)
    assert not found.whole
    cut(tmp_path, found.seq)
    assert verify(tmp_path).whole
    assert verify(tmp_path).seq == found.seq


def test_a_cut_within_a_frame_names_its_ends(tmp_path: Path) -> None:
    """Events that landed together are not cut apart; neither is what cannot be read."""
    rolled(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ValidationFailed, match="nearest place is 6 or 8"):
        cut(tmp_path, Seq(7))
    with pytest.raises(ValidationFailed, match="nearest place is 20"):
        cut(tmp_path, Seq(21))
    assert contents(tmp_path) == before


def test_a_cut_without_space_changes_nothing_that_counts(tmp_path: Path) -> None:
    """If no copy can be kept the log is as it was."""
    rolled(tmp_path)
    with pytest.raises(DiskFull):
        cut(tmp_path, Seq(4), FullDisk(0))
    log = EventLog.open(tmp_path)
    assert (log.damage, log.seq) == (None, 20)
    log.close()


def test_a_cut_that_was_interrupted_can_be_made_again(tmp_path: Path) -> None:
    """Whenever the power goes in a cut: the prefix is readable, and cutting again succeeds."""
    for calls in range(200):
        place = tmp_path / str(calls)
        rolled(place)
        disk = PowerDisk(tmp_path / f"attic-{calls}", calls, calls)
        try:
            cut(place, Seq(4), disk)
            ended = True
        except PowerCutError:
            ended = False
        disk.crash()
        cut(place, Seq(4))
        log = EventLog.open(place)
        assert (log.damage, log.seq) == (None, 4)
        log.close()
        if ended:
            assert calls > 5
            break


def test_verify_sees_a_log_in_use(tmp_path: Path) -> None:
    """Verification of a log that is being written finds no fault."""
    log = make_log(tmp_path, [1, 2])
    assert verify(tmp_path).whole
    log.append([note("more")])
    assert verify(tmp_path).seq == 4
    log.close()
    assert os.listdir(tmp_path) != []
