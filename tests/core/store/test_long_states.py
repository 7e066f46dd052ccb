"""Snapshots of states with long lists: a file of pages beside them, whatever happens to it."""

import random
from pathlib import Path

import pytest

from events.failing_disks import PowerCutError, PowerDisk, drop_descriptors
from events.logs import Unsynced
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.log_outline import LogOutline
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.history import state_at
from kbd.core.store.log_reader import LogReader
from kbd.core.store.snapshots import CLOSED_EVENTS, LogFold, Snapshots
from kbd.errors import ToolWorkerUnavailable
from kbd.events import EventLog, codec
from kbd.events.base import Recorded
from kbd.events.disk import DISK, Disk
from kbd.events.runs import RunFinished, RunStarted, SummaryWritten
from kbd.events.vocabulary import Event
from kbd.events.workbenches import AssistantMessageAdded, UserMessageAdded
from kbd.types import Seq
from logs.make_histories import HISTORIES, plain

RUN_EVENTS = 5


def spoken(run: int) -> list[Recorded]:
    """A message, a run on it, and its answer."""
    facts: tuple[tuple[Event, int], ...] = (
        (UserMessageAdded(f"u{run}", f"do {run}"), 0),
        (RunStarted(f"u{run}", "p:m"), run),
        (SummaryWritten("done " * 8), run),
        (AssistantMessageAdded(f"a{run}", "done " * 8), run),
        (RunFinished(has_draft=False), run),
    )
    return [codec.wrap_event(fact, run * 1000 + at, of) for at, (fact, of) in enumerate(facts)]


def kept(folder: Path, disk: Disk = DISK, page_bytes: int = 300) -> Snapshots[WorkbenchState]:
    """The snapshots of a workbench's log in a folder, with small pages."""
    places = (folder / "log", folder / "snap")
    return Snapshots(
        "workbench", *places, WorkbenchState, fold_workbench, disk=disk, page_bytes=page_bytes
    )


def spoken_log(folder: Path, runs: int) -> EventLog:
    """A log of so many runs."""
    log = EventLog.open(folder / "log", disk=Unsynced())
    for run in range(1, runs + 1):
        log.append(spoken(run))
    return log


def folded(log: EventLog) -> WorkbenchState:
    """The state by the log alone."""
    state = WorkbenchState()
    log.replay(lambda seq, record: fold_workbench(state, seq, record))
    return state


def started(folder: Path) -> WorkbenchState:
    """The state that a start has: from the newest snapshot on."""
    log, fold = kept(folder).open(Unsynced())
    state = fold.state if fold is not None else WorkbenchState()
    log.replay(lambda seq, record: fold_workbench(state, seq, record), state.seq)
    log.close()
    return state


def names(folder: Path, kind: str) -> list[str]:
    """The files of a kind in the folder of snapshots."""
    return sorted(path.name for path in (folder / "snap").glob(f"*.{kind}"))


def test_a_history_goes_on_from_a_snapshot_with_pages_at_every_event(tmp_path: Path) -> None:
    """Whatever of a state is in pages, what is folded on it is the same."""
    history = next(each for each in HISTORIES if each.shape is WorkbenchState)
    records = [record for commit in history.commits for record in commit]
    log = EventLog.open(tmp_path / "log", disk=Unsynced())
    expected = WorkbenchState()
    for seq, record in enumerate(records, 1):
        log.append([record])
        fold_workbench(expected, Seq(seq), record)
        assert kept(tmp_path, page_bytes=1).renew(log.seq)
        assert plain(started(tmp_path)) == plain(expected)
    log.close()
    assert names(tmp_path, "pages"), "something was in pages"


def test_a_snapshot_writes_only_what_is_new(tmp_path: Path) -> None:
    """What is in a page stays where it is: a snapshot of a long log costs what came since."""
    log = spoken_log(tmp_path, 400)
    assert kept(tmp_path).renew(log.seq)
    (name,) = names(tmp_path, "pages")
    pages = tmp_path / "snap" / name
    before = pages.read_bytes()
    for run in range(401, 411):
        log.append(spoken(run))
    assert kept(tmp_path).renew(log.seq)
    after = pages.read_bytes()

    assert after.startswith(before)
    assert 0 < len(after) - len(before) < len(before) / 10
    assert started(tmp_path) == folded(log)
    assert names(tmp_path, "pages") == [name]
    log.close()


def test_pages_that_nothing_names_are_left_behind_at_close(tmp_path: Path) -> None:
    """An old run that changes again and again does not make the file grow for ever."""
    log = spoken_log(tmp_path, CLOSED_EVENTS // RUN_EVENTS)
    ours, state = kept(tmp_path, page_bytes=20_000), folded(log)
    outline = LogReader(log).outline()
    assert ours.save(LogFold(state, outline), log.head)
    for turn in range(60):
        again, fold = kept(tmp_path, page_bytes=20_000).open(Unsynced())
        again.close()
        assert fold is not None
        for number in (1, 100, 200, 300):
            fold.state.changed_run(number).summary = f"turn {turn}"
        assert ours.save(fold, log.head)
    (name,) = names(tmp_path, "pages")
    grown = (tmp_path / "snap" / name).stat().st_size
    for run in range(CLOSED_EVENTS // RUN_EVENTS, 2 * CLOSED_EVENTS // RUN_EVENTS):
        log.append(spoken(run + 1))
    ours.save_last(folded(log), LogReader(log).outline, log.head)

    assert (tmp_path / "snap" / ours._pages).stat().st_size < grown / 2
    assert len(names(tmp_path, "pages")) <= 2
    assert started(tmp_path) == folded(log)
    log.close()


@pytest.mark.parametrize("harm", ["flipped", "cut", "removed"])
def test_a_damaged_page_is_told_and_made_anew(tmp_path: Path, harm: str) -> None:
    """Nothing wrong is read from it, and the next start folds the log, which has everything."""
    log = spoken_log(tmp_path, 100)
    assert kept(tmp_path).renew(log.seq)
    expected = folded(log)
    log.close()
    shown, fold = kept(tmp_path).open(Unsynced())
    shown.close()
    assert fold is not None
    pages = tmp_path / "snap" / names(tmp_path, "pages")[0]
    data = bytearray(pages.read_bytes())
    match harm:
        case "flipped":
            data = bytearray(byte ^ 1 for byte in data)
            pages.write_bytes(data)
        case "cut":
            pages.write_bytes(data[:10])
        case _:
            pages.unlink()
    if harm == "removed":
        assert fold.state.run(1).summary, "who has it open reads on"
    else:
        with pytest.raises(ToolWorkerUnavailable, match="nothing is lost"):
            fold.state.run(1)

    assert not pages.exists()
    assert started(tmp_path) == expected
    assert kept(tmp_path).renew(expected.seq)
    assert started(tmp_path) == expected


def test_a_damaged_page_keeps_no_other_reader_from_the_log(tmp_path: Path) -> None:
    """Who folds on over it, or reads all of it, is told once, and has the log's state then."""
    log = spoken_log(tmp_path, 100)
    assert kept(tmp_path).renew(log.seq)
    pages = tmp_path / "snap" / names(tmp_path, "pages")[0]
    pages.write_bytes(bytes(byte ^ 1 for byte in pages.read_bytes()))
    shown, damage = kept(tmp_path).read()
    assert damage == "", "the log is whole"
    with pytest.raises(ToolWorkerUnavailable):
        list(shown.runs)
    assert kept(tmp_path).read() == (folded(log), "")

    assert kept(tmp_path).renew(log.seq)
    pages = tmp_path / "snap" / names(tmp_path, "pages")[-1]
    pages.write_bytes(bytes(byte ^ 1 for byte in pages.read_bytes()))
    # What happens to an old run is folded into a page that cannot be read.
    log.append([codec.wrap_event(SummaryWritten("again"), 1, 1)])
    assert kept(tmp_path).read() == (folded(log), "")
    pages.write_bytes(b"x")
    assert kept(tmp_path).renew(log.seq)
    assert started(tmp_path) == folded(log)
    log.close()


def test_a_state_whose_pages_were_taken_away_is_not_saved(tmp_path: Path) -> None:
    """Who has it open reads on, but a snapshot of it would name what is in no file."""
    log = spoken_log(tmp_path, 100)
    ours = kept(tmp_path)
    assert ours.renew(log.seq)
    log.close()
    opened, fold = ours.open(Unsynced())
    assert fold is not None
    (tmp_path / "snap" / names(tmp_path, "pages")[0]).unlink()
    for run in range(101, 161):
        opened.append(spoken(run))
    opened.replay(lambda seq, record: fold_workbench(fold.state, seq, record), fold.state.seq)
    expected = folded(opened)
    assert fold.state == expected
    assert not ours.save(LogFold(fold.state, LogReader(opened).outline()), opened.head)
    opened.close()
    assert names(tmp_path, "pages") == []
    assert started(tmp_path) == expected


def test_power_cuts_at_every_call_of_a_snapshot(tmp_path: Path) -> None:
    """An earlier one, the new one or none: never one whose pages are not there."""
    for seed in range(3):
        calls, is_through = 0, False
        while not is_through:
            place = tmp_path / f"{seed}-{calls}"
            place.mkdir()
            log = spoken_log(place, 30)
            assert kept(place).renew(log.seq)
            for run in range(31, 61):
                log.append(spoken(run))
            disk = PowerDisk(place / "attic", calls, seed)
            try:
                assert kept(place, disk).renew(log.seq)
                is_through = True
            except PowerCutError:
                pass
            disk.crash()
            drop_descriptors(place)
            log = EventLog.open(place / "log", disk=Unsynced())
            assert started(place) == folded(log)
            assert kept(place).renew(log.seq)
            assert started(place) == folded(log)
            log.close()
            calls += 1
        assert calls > 4


def test_a_snapshot_on_a_full_disk_is_only_missing(tmp_path: Path) -> None:
    """Whatever of the pages was written, the state in memory is as it was."""

    class Full(Unsynced):
        def write_all(self, fd: int, data: bytes, offset: int) -> None:
            super().write_all(fd, data[: len(data) // 2], offset)
            raise OSError(28, "No space left on device")

    log = spoken_log(tmp_path, 60)
    state, outline = folded(log), LogReader(log).outline()
    assert not kept(tmp_path, Full()).save(LogFold(state, outline), log.head)
    assert state == folded(log)
    assert state.run(1).summary
    assert kept(tmp_path).save(LogFold(state, outline), log.head)
    log.close()
    assert started(tmp_path) == state


@pytest.mark.parametrize("seed", range(4))
def test_a_log_that_was_cut_or_rewritten_is_read_anew(tmp_path: Path, seed: int) -> None:
    """Where the frame of the snapshot does not stand any more, nothing of it is used."""
    chance = random.Random(seed)
    log = spoken_log(tmp_path, 50)
    assert kept(tmp_path).renew(log.seq)
    log.close()
    for path in (tmp_path / "log").iterdir():
        path.unlink()
    log = EventLog.open(tmp_path / "log", disk=Unsynced())
    for run in range(1, chance.choice([1, 20, 49, 50, 51, 80])):
        log.append([*spoken(run), *spoken(run)[: chance.randrange(2)]])
    expected = folded(log)
    log.close()

    assert started(tmp_path) == expected
    opened, fold = kept(tmp_path).open(Unsynced())
    opened.close()
    assert fold is None
    shown, outline = kept(tmp_path).view()
    assert (shown.seq, outline) == (expected.seq, None)


def test_a_start_walks_no_more_than_the_tail(tmp_path: Path) -> None:
    """From the frame of the snapshot on: what is before it in its segment is not looked at."""
    log = spoken_log(tmp_path, 200)
    assert kept(tmp_path).renew(log.seq)
    log.append(spoken(201))
    expected = folded(log)
    log.close()
    path = next((tmp_path / "log").glob("*.kbl"))
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)

    opened, fold = kept(tmp_path).open(Unsynced())
    assert opened.damage is None
    assert fold is not None
    state = fold.state
    opened.replay(lambda seq, record: fold_workbench(state, seq, record), state.seq)
    assert state == expected
    opened.close()
    # Whoever reads there is told.
    fresh = EventLog.open(tmp_path / "log", disk=Unsynced())
    assert fresh.damage is not None


def test_the_outline_of_a_snapshot_is_that_of_the_log(tmp_path: Path) -> None:
    """Made in steps, from a snapshot on, or at once: the same."""
    log = spoken_log(tmp_path, 700)
    for until in (1000, 2500, 3500):
        assert kept(tmp_path).renew(Seq(until))
    opened, fold = kept(tmp_path).open(Unsynced())
    opened.close()
    assert fold is not None
    whole: LogOutline = LogReader(log).outline()
    assert fold.outline == whole
    assert list(whole.branch()) == [(1, 3500)]
    log.close()


def test_an_earlier_state_is_folded_from_a_snapshot_before_it(tmp_path: Path) -> None:
    """After any event, within a frame, too, it is what the whole log gives; else there is none."""
    log = spoken_log(tmp_path, 20)
    assert kept(tmp_path).renew(Seq(40))
    assert kept(tmp_path).renew(Seq(70))
    log.append([record for run in range(21, 25) for record in spoken(run)])
    for seq in (40, 43, 69, 70, 71, 100, 101, 107, 119, 120):
        assert kept(tmp_path).state_at(Seq(seq)) == state_at(tmp_path / "log", Seq(seq))
    assert kept(tmp_path).state_at(Seq(39)) is None
    assert kept(tmp_path).state_at(Seq(121)) is None
    log.close()
