"""A damaged log is mended by a copy of the same history, or cut; it is never half mended."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from events.harm import Victim
from events.logs import note, texts
from kbd.errors import LogCorrupt, ValidationFailed
from kbd.events import EventLog
from kbd.events.anchor import ANCHOR_NAME
from kbd.events.damage_repair import DamageRepair, events_behind
from kbd.events.disk import Disk
from kbd.events.frame import BODY_AT, HEADER_BYTES
from kbd.events.repair import cut_log
from kbd.events.verification import verify_log
from kbd.types import Seq


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    """A log of ten frames in several segments."""
    made = Victim(tmp_path)
    assert len(made.segments) > 2
    return made


def _copy(victim: Victim, folder: Path, until: int | None = None) -> Path:
    """A copy of the whole log, or of its beginning, as a backup has it."""
    place = folder / "copy"
    shutil.copytree(victim.lay({}), place)
    if until is not None:
        cut_log(place, Seq(until))
        for path in place.glob("*.cut-*"):
            path.unlink()
    return place


def _flipped(victim: Victim, number: int, at: int = BODY_AT + 3) -> dict[str, bytes]:
    frame = victim.frames[number]
    data = bytearray(victim.files[frame.segment])
    data[frame.at + at] ^= 4
    return {frame.segment: bytes(data)}


def _segments(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.glob("*.kbl")}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("at", [0, 4, 8, 12, HEADER_BYTES, BODY_AT + 3])
def test_a_copy_brings_back_every_byte_of_a_damaged_frame(
    victim: Victim, tmp_path: Path, number: int, at: int
) -> None:
    """Whichever byte was flipped: the log is what it was, and the damaged segment is kept."""
    copy = _copy(victim, tmp_path)
    damaged = _flipped(victim, number, at)
    place = victim.lay(damaged)
    with DamageRepair(place) as repair:
        assert repair.lay_over(copy)
        repair.commit()

    assert _segments(place) == {name: victim.files[name] for name in victim.segments}
    assert verify_log(place).is_whole
    assert verify_log(place).head == victim.heads[-1].hex()
    ((name, data),) = damaged.items()
    assert (place / f"{name}.damaged-1").read_bytes() == data
    assert sorted(path.name for path in place.parent.iterdir()) == ["copy", "log"]


def test_what_came_after_an_older_copy_is_kept(victim: Victim, tmp_path: Path) -> None:
    """A copy that reaches behind the damage mends it; all that the log has behind it stays."""
    copy = _copy(victim, tmp_path, until=8)
    place = victim.lay(_flipped(victim, 2))
    with DamageRepair(place) as repair:
        assert repair.lay_over(copy)
        assert repair.after.seq == 20
        repair.commit()
    assert verify_log(place).head == victim.heads[-1].hex()


def test_what_only_the_copy_vouches_for_is_told(victim: Victim, tmp_path: Path) -> None:
    """A log that lost its end, and whose anchor lags behind, has no word on how it went on."""
    copy = _copy(victim, tmp_path)
    gone = dict.fromkeys(victim.segments[1:], b"") | _flipped(victim, 1)
    for anchored, is_proven in ((10, True), (1, False)):
        place = victim.lay(gone | victim.anchor_at(anchored))
        with DamageRepair(place) as repair:
            assert repair.lay_over(copy)
            assert (repair.after.seq, repair.is_proven) == (20, is_proven)
    place = victim.lay(_flipped(victim, 3) | victim.anchor_at(1))
    with DamageRepair(place) as repair:
        assert repair.lay_over(copy)
        assert repair.is_proven


def test_segments_that_are_gone_come_back(victim: Victim, tmp_path: Path) -> None:
    """A missing segment, a missing end and a missing anchor are in the copy."""
    copy = _copy(victim, tmp_path)
    for gone in (*victim.segments, ANCHOR_NAME):
        place = victim.lay({gone: b""})
        with DamageRepair(place) as repair:
            assert repair.before.fault is not None
            assert repair.lay_over(copy)
            repair.commit()
        assert verify_log(place).is_whole
        assert verify_log(place).head == victim.heads[-1].hex()


def test_a_copy_that_ends_before_the_damage_brings_nothing(victim: Victim, tmp_path: Path) -> None:
    """It is of the same history, and has less than the log."""
    copy = _copy(victim, tmp_path, until=8)
    place = victim.lay(_flipped(victim, 6))
    with DamageRepair(place) as repair:
        assert not repair.lay_over(copy)
        with pytest.raises(LogCorrupt):
            repair.commit()
    assert (
        _segments(place)[victim.frames[6].segment] == _flipped(victim, 6)[victim.frames[6].segment]
    )


@pytest.mark.parametrize("number", [0, 5])
def test_a_copy_of_another_history_changes_nothing(
    victim: Victim, tmp_path: Path, number: int
) -> None:
    """Another log, even of the same events and numbers, is told by its chain, or by the anchor."""
    other = Victim(tmp_path / "other", text="!")
    copy = other.lay({})
    place = victim.lay(_flipped(victim, number))
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    with DamageRepair(place) as repair:
        with pytest.raises(ValidationFailed, match="another history"):
            repair.lay_over(copy)
        assert repair.after is repair.before
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_a_copy_that_nothing_proves_changes_nothing(victim: Victim, tmp_path: Path) -> None:
    """Without a frame that can be read, and without an anchor, any log could be put there."""
    copy = _copy(victim, tmp_path)
    place = victim.lay({**_flipped(victim, 0), ANCHOR_NAME: b""})
    with DamageRepair(place) as repair, pytest.raises(ValidationFailed, match="nothing shows"):
        repair.lay_over(copy)


def test_a_cut_keeps_the_damaged_bytes_and_tells_what_is_lost(
    victim: Victim, tmp_path: Path
) -> None:
    """The log ends behind the last event that can be read; the next open finds it whole."""
    damaged = _flipped(victim, 3)
    place = victim.lay(damaged)
    lost = list(events_behind(place, Seq(6)))
    assert [seq for seq, _ in lost] == list(range(9, 21))
    with DamageRepair(place) as repair:
        repair.cut()
        repair.append([[note("mended")]])
        repair.commit()

    log = EventLog.open(place)
    assert (log.damage, log.seq) == (None, 7)
    assert texts(log)[-1] == "mended"
    log.close()
    kept = {path.read_bytes() for path in place.glob("*.kbl.damaged-*")}
    behind = [name for name in victim.segments if name >= victim.frames[3].segment]
    assert kept == {damaged.get(name, victim.files[name]) for name in behind}


def test_a_lost_anchor_is_written_anew_by_a_cut(victim: Victim, tmp_path: Path) -> None:
    """Nothing is cut: a person says that the log ends where it ends."""
    del tmp_path
    place = victim.lay({ANCHOR_NAME: b""})
    with DamageRepair(place) as repair:
        repair.cut()
        repair.commit()
    assert verify_log(place).is_whole
    assert verify_log(place).head == victim.heads[-1].hex()


def test_what_is_lost_is_read_past_any_damage(victim: Victim, tmp_path: Path) -> None:
    """Two flipped frames and a header that cannot be read hide their own events and no others."""
    files = _flipped(victim, 1) | _flipped(victim, 8)
    header = victim.frames[5].segment
    files[header] = b"\0" * 64 + victim.files[header][64:]
    hidden = {
        seq
        for number, frame in enumerate(victim.frames)
        for seq in (frame.first, frame.first + 1)
        if number in {1, 8} or frame.segment == header
    }
    found = [seq for seq, _ in events_behind(victim.lay(files), Seq(2))]
    assert found == [seq for seq in range(3, 21) if seq not in hidden]


class _KilledDisk(Disk):
    """A disk on which the process is killed before its nth call."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    def _count(self) -> None:
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        self._count()
        return super().pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        self._count()
        super().fsync(fd)

    def truncate(self, fd: int, size: int) -> None:
        self._count()
        super().truncate(fd, size)

    def rename(self, source: Path, target: Path) -> None:
        self._count()
        super().rename(source, target)

    def copy_range(self, source: int, fd: int, offset: int, size: int) -> int:
        self._count()
        return super().copy_range(source, fd, offset, size)

    def exchange(self, one: tuple[int, str], other: tuple[int, str]) -> bool:
        self._count()
        return super().exchange(one, other)


def _in_child(work: Callable[[], None]) -> bool:
    """Do work in a process of its own; return whether it came to its end."""
    pid = os.fork()
    if not pid:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert status in {0, signal.SIGKILL}
    return status == 0


@pytest.mark.parametrize("way", ["copy", "cut"])
def test_a_repair_that_is_killed_leaves_the_log_as_it_was_or_mended(
    victim: Victim, tmp_path: Path, way: str
) -> None:
    """Before each call of the disk: never a third thing; and the next one mends it."""
    copy = _copy(victim, tmp_path)
    damaged = _flipped(victim, 3)
    is_over, seen = False, set()
    for calls in range(500):
        place = victim.lay(damaged)
        before = {path.name: path.read_bytes() for path in place.iterdir()}

        def work(disk: Disk) -> None:
            with DamageRepair(place, disk) as repair:  # noqa: B023 - done before the next round
                if way == "copy":
                    repair.lay_over(copy)
                else:
                    repair.cut()
                repair.commit()

        is_over = _in_child(lambda: work(_KilledDisk(calls)))  # noqa: B023 - likewise
        found = verify_log(place)
        as_it_was = {path.name: path.read_bytes() for path in place.iterdir()} == before
        assert as_it_was or found.is_whole
        seen.add(as_it_was)
        if as_it_was:
            work(Disk())
        assert verify_log(place).seq == (20 if way == "copy" else 6)
        if is_over:
            break
    assert is_over
    assert seen == {True, False}
