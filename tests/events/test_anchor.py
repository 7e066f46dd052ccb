"""The anchor: two slots, of which the newest valid one counts."""

from pathlib import Path

import pytest

from events.logs import Unsynced, make_log, note
from kbd.events import EventLog
from kbd.events.anchor import ANCHOR_NAME, Anchor, AnchorFile, read_anchor, write_anchor
from kbd.events.disk import DISK

ONE, TWO, THREE = (Anchor(n, bytes([n]) * 32) for n in (1, 2, 3))


def test_the_newest_valid_slot_counts(tmp_path: Path) -> None:
    """Slots are written in turn; a damaged newest one leaves the one before, at every byte."""
    anchors = AnchorFile(tmp_path, DISK)
    for anchor in (ONE, TWO, THREE):
        anchors.advance(anchor)
        assert read_anchor(tmp_path) == anchor
    anchors.close()
    file = tmp_path / ANCHOR_NAME
    good = file.read_bytes()
    newest = good.index(b"\x03" * 32) // 4096 * 4096
    for place in range(newest, newest + 52):
        data = bytearray(good)
        data[place] ^= 0x20
        file.write_bytes(data)
        assert read_anchor(tmp_path) == TWO


def test_it_goes_on_after_opening_again(tmp_path: Path) -> None:
    """After opening, the older slot is the next to be written."""
    write_anchor(tmp_path, ONE, DISK)
    for anchor in (TWO, THREE):
        anchors = AnchorFile(tmp_path, DISK)
        anchors.advance(anchor)
        anchors.close()
    data = (tmp_path / ANCHOR_NAME).read_bytes()
    assert b"\x02" * 32 in data
    assert b"\x03" * 32 in data
    assert len(data) == 8192


@pytest.mark.parametrize("data", [b"", b"\0" * 8192, b"junk"])
def test_without_a_valid_slot_there_is_no_anchor(tmp_path: Path, data: bytes) -> None:
    """Whatever lies there instead of an anchor is none."""
    (tmp_path / ANCHOR_NAME).write_bytes(data)
    assert read_anchor(tmp_path) is None


@pytest.mark.parametrize("data", [None, b"\0" * 8192])
def test_a_log_without_its_anchor_is_read_only(tmp_path: Path, data: bytes | None) -> None:
    """A log that cannot show that nothing is missing is not written to."""
    make_log(tmp_path, [2]).close()
    (tmp_path / ANCHOR_NAME).unlink()
    if data is not None:
        (tmp_path / ANCHOR_NAME).write_bytes(data)
    log = EventLog.open(tmp_path)
    assert log.damage is not None
    assert log.damage.detail["file"] == ANCHOR_NAME
    assert len(log.read(log.seq, 1)) == 0
    assert log.seq == 2
    log.close()


def test_it_is_written_each_64_commits_each_second_and_at_close(tmp_path: Path) -> None:
    """The anchor lags at most 64 commits or a second of writing behind the log."""
    now = [0.0]
    log = EventLog.open(tmp_path, disk=Unsynced(), clock=lambda: now[0])

    def anchored() -> int:
        anchor = read_anchor(tmp_path)
        assert anchor is not None
        return anchor.seq

    for n in range(1, 64):
        log.append([note(str(n))])
    assert anchored() == 0
    log.append([note("64")])
    assert anchored() == 64
    now[0] = 0.9
    log.append([note("65")])
    assert anchored() == 64
    now[0] = 1.0
    log.append([note("66")])
    assert anchored() == 66
    log.append([note("67")])
    log.close()
    assert anchored() == 67
