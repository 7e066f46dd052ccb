"""The event log: what was appended is there, in order, for this process and the next."""

import errno
import gc
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from events.logs import APRIL, Unsynced, body_of, make_log, note, notes, texts
from kbd.errors import LogCorrupt, TooManyOpenFiles, ValidationFailed
from kbd.events import EventLog, codec
from kbd.events.frame import FRAME_LIMIT
from kbd.types import Seq


def test_a_new_log_is_empty(tmp_path: Path) -> None:
    """A log that is opened for the first time has no events and can be written."""
    log = EventLog.open(tmp_path / "deep" / "log")
    assert (log.seq, log.damage, log.repairs) == (0, None, ())
    assert log.append([note("one")]) == 1
    log.close()


def test_what_was_appended_is_read_back_by_the_next_process(tmp_path: Path) -> None:
    """Events come back as they were recorded, with run, cause and time."""
    records = [codec.wrap_event(note("a").data, APRIL, 3, 2), note("b")]
    log = EventLog.open(tmp_path)
    assert log.append(records) == 2
    head = log.head
    log.close()
    again = EventLog.open(tmp_path)
    assert (again.seq, again.head) == (2, head)
    assert again.read(Seq(0), 10) == [(1, records[0]), (2, records[1])]
    again.close()


def test_a_commit_is_one_frame(tmp_path: Path) -> None:
    """Events appended together lie in one frame, so they land together or not at all."""
    log = EventLog.open(tmp_path)
    log.append(notes(5))
    log.append(notes(20))
    frames = list(log.frames())
    assert [first for first, _ in frames] == [1, 6]
    assert [len(codec.decode_plain(body)) for _, body in frames] == [5, 20]
    log.close()


@pytest.mark.parametrize("after", range(12))
def test_reading_begins_behind_any_event(tmp_path: Path, after: int) -> None:
    """`read`, `frames` and `replay` begin behind the event they are given, also within a frame."""
    log = make_log(tmp_path, [3, 1, 4, 3])
    assert [seq for seq, _ in log.read(Seq(after), 100)] == list(range(after + 1, 12))
    assert [seq for seq, _ in log.read(Seq(after), 2)] == list(range(after + 1, 12))[:2]
    seen: list[int] = []
    assert log.replay(lambda seq, _: seen.append(seq), Seq(after)) == 11
    assert seen == list(range(after + 1, 12))
    firsts = [first for first, _ in log.frames(Seq(after))]
    assert firsts == [f for f, last in [(1, 3), (4, 4), (5, 8), (9, 11)] if last > after]
    log.close()


def test_a_full_segment_is_followed_by_a_new_one(tmp_path: Path) -> None:
    """The log goes on in files named by their first event, and reads as one."""
    log = EventLog.open(tmp_path, segment_bytes=600)
    for n in range(40):
        log.append([note(f"n{n}")])
    log.close()
    names = sorted(path.name for path in tmp_path.glob("*.kbl"))
    assert len(names) > 3
    assert names[0] == "00000000000000000001.kbl"
    again = EventLog.open(tmp_path, segment_bytes=600)
    assert texts(again) == [f"n{n}" for n in range(40)]
    assert again.append([note("after")]) == 41
    assert again.read(Seq(40), 1)[0][0] == 41
    again.close()


def test_marks_lead_to_the_place(tmp_path: Path) -> None:
    """In a segment of many blocks each event is found, before and after opening it again."""
    log = EventLog.open(tmp_path)
    for n in range(60):
        log.append([note(f"{n}" + "x" * 9000)])
    for _ in range(2):
        for n in (0, 1, 17, 42, 58, 59):
            ((seq, record),) = log.read(Seq(n), 1)
            assert seq == n + 1
            assert body_of(record).startswith(f"{n}x")
        log.close()
        log = EventLog.open(tmp_path)
    log.close()


def test_a_frame_longer_than_a_block_is_read(tmp_path: Path) -> None:
    """Frames may be longer than what is read at once, alone or among short ones."""
    log = EventLog.open(tmp_path)
    sizes = [10, 400_000, 10, 131_072, 900_000]
    for size in sizes:
        log.append([note("y" * size)])
    assert [len(text) for text in texts(log)] == sizes
    log.close()
    again = EventLog.open(tmp_path)
    assert [len(text) for text in texts(again)] == sizes
    again.close()


def test_nothing_and_too_much_are_refused(tmp_path: Path) -> None:
    """An empty commit and one past the limit are refused; the log goes on."""
    log = EventLog.open(tmp_path)
    with pytest.raises(ValidationFailed):
        log.append([])
    with pytest.raises(ValidationFailed, match="too long"):
        log.append([note("z" * FRAME_LIMIT)])
    assert log.append([note("fine")]) == 1
    log.close()


def test_a_closed_log_refuses(tmp_path: Path) -> None:
    """After close nothing can be appended; closing again is harmless."""
    log = make_log(tmp_path, [1])
    log.close()
    log.close()
    with pytest.raises(ValidationFailed, match="closed"):
        log.append([note("late")])


def test_trusted_segments_are_not_walked(tmp_path: Path) -> None:
    """What a snapshot covers is not read at open; reading it later still checks it."""
    log = EventLog.open(tmp_path, segment_bytes=600)
    for n in range(40):
        log.append([note(f"n{n}")])
    log.close()
    first = tmp_path / "00000000000000000001.kbl"
    data = bytearray(first.read_bytes())
    data[200] ^= 1
    first.write_bytes(data)
    log = EventLog.open(tmp_path, trusted=Seq(30))
    assert (log.seq, log.damage) == (40, None)
    assert len(log.read(Seq(30), 100)) == 10
    with pytest.raises(LogCorrupt):
        log.read(Seq(0), 100)
    assert log.damage is not None
    with pytest.raises(LogCorrupt):
        log.append([note("no")])
    log.close()


def test_damage_behind_what_is_trusted_leaves_all_before_it_readable(tmp_path: Path) -> None:
    """If the rest is damaged, what a snapshot covers is read after all."""
    log = EventLog.open(tmp_path, segment_bytes=600)
    for n in range(40):
        log.append([note(f"n{n}")])
    log.close()
    names = sorted(path.name for path in tmp_path.glob("*.kbl"))
    for name, place in [(names[3], 70), (names[3], 10)]:
        data = bytearray((tmp_path / name).read_bytes())
        data[place] ^= 1
        (tmp_path / name).write_bytes(data)
        log = EventLog.open(tmp_path, trusted=Seq(int(names[3][:20]) - 1))
        assert log.damage is not None
        assert log.seq == int(names[3][:20]) - 1
        assert texts(log) == [f"n{n}" for n in range(log.seq)]
        log.close()


def test_chain_at_names_a_moment(tmp_path: Path) -> None:
    """`chain_at` gives what `head` was, at ends of frames only; a snapshot is checked with it."""
    log = EventLog.open(tmp_path, segment_bytes=400)
    heads = {Seq(0): log.head}
    for _ in range(12):
        seq = log.append(notes(2))
        heads[seq] = log.head
    for number in range(26):
        assert log.chain_at(Seq(number)) == heads.get(Seq(number))
    log.close()


def test_replay_leaves_the_collector_as_it_was(tmp_path: Path) -> None:
    """Replay turns the collector of cycles off and on again, also when a fold fails."""

    def fail(seq: int, _: object) -> None:
        assert not gc.isenabled()
        raise RuntimeError(seq)

    log = make_log(tmp_path, [1])
    with pytest.raises(RuntimeError):
        log.replay(fail)
    assert gc.isenabled()
    log.close()


def test_readers_see_only_whole_durable_commits_while_the_writer_appends(tmp_path: Path) -> None:
    """A reader in another thread sees a prefix that only grows, never half a commit."""
    log = EventLog.open(tmp_path, segment_bytes=4000)
    problems: list[str] = []
    done = threading.Event()

    def follow() -> None:
        after = 0
        while not (done.is_set() and after == log.seq):
            batch = log.read(Seq(after), 50)
            if [seq for seq, _ in batch] != list(range(after + 1, after + 1 + len(batch))):
                problems.append(f"gap behind {after}")
                return
            if any(body_of(record) != f"n{seq}" for seq, record in batch):
                problems.append(f"wrong event behind {after}")
                return
            after += len(batch)

    readers = [threading.Thread(target=follow) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for n in range(0, 600, 3):
            log.append([note(f"n{n + k}") for k in (1, 2, 3)])
    finally:
        done.set()
    for reader in readers:
        reader.join()
    assert problems == []
    log.close()


class Rolling(EventLog):
    """A log whose writer begins a new segment as soon as a reader has looked at its end."""

    overtakes = False

    @property
    def _tip(self) -> Any:
        held = self.__dict__["_tip"]
        if self.overtakes:
            self.overtakes = False
            self.append(notes(1))
        return held

    @_tip.setter
    def _tip(self, tip: Any) -> None:
        self.__dict__["_tip"] = tip


def test_a_reader_sees_all_that_was_durable_when_it_looked(tmp_path: Path) -> None:
    """Also when the writer begins a segment just then: nothing of the old one is left out."""
    log = Rolling.open(tmp_path, segment_bytes=600)
    assert isinstance(log, Rolling)
    while log._tip.link.offset < 600:
        log.append(notes(1))
    before = log.seq
    log.overtakes = True

    assert [seq for seq, _ in log.read(Seq(0), 100)][:before] == list(range(1, before + 1))
    assert len(log._tip.segments) == 2
    log.close()


def open_files() -> list[str]:
    """What this process has open."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
    return found


def held_in(folder: Path) -> int:
    """How many files of a folder this process has open."""
    return sum(name.startswith(f"{folder}/") for name in open_files())


def test_a_log_that_rests_holds_nothing_open(tmp_path: Path) -> None:
    """It is read as before, goes on where it ended, and its anchor names that at the next start."""
    log = make_log(tmp_path, [1])
    assert held_in(tmp_path)
    for number in range(3):
        log.rest()
        assert held_in(tmp_path) == 0
        assert len(texts(log)) == number + 1
        log.append([note(f"rested {number}")])
    log.rest()
    log.close()
    with pytest.raises(ValidationFailed, match="closed"):
        log.append([note("late")])
    again = EventLog.open(tmp_path)
    assert (again.seq, again.damage, again.repairs) == (4, None, ())
    again.close()


@pytest.mark.parametrize("opens", range(8))
def test_no_descriptor_refuses_and_holds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opens: int
) -> None:
    """Whichever file cannot be opened, of a log that is opened, woken or begins a segment.

    Nothing is recorded, and with descriptors again the same call goes through.
    """
    log = EventLog.open(tmp_path, disk=Unsynced(), segment_bytes=400)
    log.append([note("x" * 400)])
    log.rest()
    left, real = [opens], os.open

    def scarce(*given: Any, **named: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.EMFILE, "too many")
        return real(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", scarce)
        with suppress(TooManyOpenFiles):
            log.append([note("next")])
        left[0] = opens
        with suppress(TooManyOpenFiles):
            EventLog.open(tmp_path, disk=Unsynced()).close()
    if log.seq == 1:
        log.append([note("next")])
    assert texts(log) == ["x" * 400, "next"]
    log.close()
    assert held_in(tmp_path) == 0
    again = EventLog.open(tmp_path)
    assert (again.seq, again.damage) == (2, None)
    again.close()
