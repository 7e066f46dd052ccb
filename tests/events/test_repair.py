"""A cut is explicit and keeps what it takes."""

from pathlib import Path

import pytest

from events.failing_disks import FullDisk, PowerCutError, PowerDisk
from events.logs import Unsynced, note, texts
from kbd.errors import DiskFull, ValidationFailed
from kbd.events import EventLog
from kbd.events.anchor import ANCHOR_NAME
from kbd.events.repair import cut_log
from kbd.events.verification import verify_log
from kbd.types import Seq

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


@pytest.mark.parametrize("to", range(0, 21, 2))
def test_a_cut_leaves_the_prefix_and_keeps_the_rest(tmp_path: Path, to: int) -> None:
    """Behind any frame: the log ends there, is whole and goes on; what was cut is kept."""
    rolled(tmp_path)
    before = contents(tmp_path)
    done = cut_log(tmp_path, Seq(to))
    assert done.seq == to
    kept = {name: data for name, data in contents(tmp_path).items() if ".cut-" in name}
    assert {name.rpartition(".cut-")[0] for name in kept} - {ANCHOR_NAME} <= set(before)
    assert all(data == before[name.rpartition(".cut-")[0]] for name, data in kept.items())
    assert set(done.kept) == set(kept) - {f"{ANCHOR_NAME}.cut-1"}
    assert verify_log(tmp_path).is_whole
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
    found = verify_log(tmp_path)
    assert not found.is_whole
    cut_log(tmp_path, found.seq)
    assert verify_log(tmp_path).is_whole
    assert verify_log(tmp_path).seq == found.seq


def test_a_cut_within_a_frame_names_its_ends(tmp_path: Path) -> None:
    """Events that landed together are not cut apart; neither is what cannot be read."""
    rolled(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ValidationFailed, match="nearest place is 6 or 8"):
        cut_log(tmp_path, Seq(7))
    with pytest.raises(ValidationFailed, match="nearest place is 20"):
        cut_log(tmp_path, Seq(21))
    assert contents(tmp_path) == before


def test_a_cut_without_space_changes_nothing_that_counts(tmp_path: Path) -> None:
    """If no copy can be kept the log is as it was."""
    rolled(tmp_path)
    with pytest.raises(DiskFull):
        cut_log(tmp_path, Seq(4), FullDisk(0))
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
            cut_log(place, Seq(4), disk)
            ended = True
        except PowerCutError:
            ended = False
        disk.crash()
        cut_log(place, Seq(4))
        log = EventLog.open(place)
        assert (log.damage, log.seq) == (None, 4)
        log.close()
        if ended:
            assert calls > 5
            break
