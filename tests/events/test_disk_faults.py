"""A full, a failing and a killed disk: nothing acknowledged is lost, nothing is half there."""

import errno
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import count, product
from pathlib import Path

import pytest

from events.failing_disks import BadDisk, FullDisk, PowerCutError, PowerDisk, drop_descriptors
from events.logs import Unsynced, make_log, note, tail_of, texts
from kbd.errors import DiskFull
from kbd.events import Disk, EventLog, LogPoisoned
from kbd.events.verification import verify_log

TEXTS = [f"event {n}" for n in range(14)]


def open_with(place: Path, disk: Disk) -> EventLog:
    """A log of small segments."""
    return EventLog.open(place, segment_bytes=400, disk=disk, entropy=lambda n: b"s" * n)


@pytest.mark.parametrize("reserves", [False, True])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_full_at_every_byte(tmp_path: Path, error: int, *, reserves: bool) -> None:
    """Wherever space ends within a commit, the commit is undone and can be made later."""
    for space in count():
        place = tmp_path / str(space)
        make_log(place, [1, 2]).close()
        disk = FullDisk(10_000, error, reserves=reserves)
        log = EventLog.open(place, disk=disk)
        disk.space = space
        try:
            log.append([note("x" * 40)])
        except DiskFull:
            assert log.seq == 3
            assert len(texts(log)) == 3
            disk.space = 10_000
            assert log.append([note("later")]) == 4
        else:
            assert space > 100
            break
        log.close()
        again = EventLog.open(place, disk=Unsynced())
        assert (again.damage, again.repairs, again.seq) == (None, (), 4)
        again.close()


def test_full_at_the_birth_of_a_segment(tmp_path: Path) -> None:
    """No space for a new segment undoes the commit, too; the log goes on when there is."""
    disk = FullDisk(100_000)
    log = open_with(tmp_path, disk)
    while log._tip.link.offset < 400:
        log.append([note("fill")])
    before = log.seq
    for space in (0, 30, 64, 80):
        disk.space = space
        with pytest.raises(DiskFull):
            log.append([note("no")])
        assert log.seq == before
    disk.space = 100_000
    assert log.append([note("yes")]) == before + 1
    log.close()
    again = open_with(tmp_path, Unsynced())
    assert (again.damage, again.seq) == (None, before + 1)
    again.close()


LIMITED = """
import resource, sys
from pathlib import Path
from events.logs import make_log, note
from kbd.errors import DiskFull
from kbd.events import EventLog

for extra in range(int(sys.argv[2])):
    place = Path(sys.argv[1]) / str(extra)
    make_log(place, [1, 1]).close()
    log = EventLog.open(place)
    size = log._tip.link.offset
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + extra, resource.RLIM_INFINITY))
    try:
        log.append([note("a"), note("b"), note("c")])
    except DiskFull:
        assert log.seq == 2
    else:
        raise SystemExit(f"no error with {extra} bytes left")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    assert log.append([note("later")]) == 3
    log.close()
print("done")
"""


def test_real_short_writes_at_every_byte(tmp_path: Path) -> None:
    """The kernel's own short write and error, at every byte of a commit of three events."""
    command = [sys.executable, "-c", LIMITED, str(tmp_path), "150"]
    paths = os.pathsep.join(sys.path)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths}
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
    for extra in range(150):
        log = EventLog.open(tmp_path / str(extra), disk=Unsynced())
        assert (log.damage, log.repairs, texts(log)[2:]) == (None, (), ["later"])
        log.close()


@pytest.mark.parametrize("call", ["fsync", "fdatasync", "truncate", "pwrite", "rename"])
def test_any_failed_call_poisons_for_good(tmp_path: Path, call: str) -> None:
    """Fail the n-th call, for every n: no later append is acknowledged, nothing acked is lost."""
    for after in range(1000):
        place = tmp_path / str(after)
        disk = BadDisk(call, after)
        acked = 0
        try:
            log = open_with(place, disk)
        except LogPoisoned:
            log = None
        if log is not None:
            acked = append_all(log)
            if disk.failed:
                refuses_for_good(log)
            with suppress(LogPoisoned):
                log.close()
        again = open_with(place, Unsynced())
        assert again.damage is None
        assert texts(again) == TEXTS[: again.seq]
        assert again.seq >= acked
        again.close()
        if not disk.failed:
            assert acked == len(TEXTS)
            break


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EOPNOTSUPP, errno.EIO])
def test_a_reservation_that_fails_is_no_error(tmp_path: Path, error: int) -> None:
    """Fail the n-th, for every n, when a half of it was granted: nothing is lost or left over."""
    for after in range(1000):
        place = tmp_path / str(after)
        disk = BadDisk("reserve", after, error)
        log = open_with(place, disk)
        assert append_all(log) == len(TEXTS)
        log.close()
        again = open_with(place, Unsynced())
        assert (again.damage, again.repairs, texts(again)) == (None, (), TEXTS)
        again.close()
        if not disk.failed:
            assert after > 2
            break


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EOPNOTSUPP, errno.EIO])
def test_a_part_of_a_reservation_is_given_back(tmp_path: Path, error: int) -> None:
    """A disk that is full in the middle of a reservation is not filled by what it granted."""
    disk = BadDisk("reserve", 0, error)
    log = EventLog.open(tmp_path, disk=disk)
    log.append([note("one")])
    assert disk.failed
    assert max(tmp_path.glob("*.kbl")).stat().st_size == log._tip.link.offset
    log.append([note("two")])
    assert disk.calls == 1, "a disk that has no space is not asked at each append"
    log.close()


@pytest.mark.parametrize("call", ["truncate", "fdatasync"])
def test_reserved_space_that_cannot_be_cut_at_open(tmp_path: Path, call: str) -> None:
    """The open fails and changes nothing that counts; the next one finds the same log."""
    make_log(tmp_path, [1, 2]).close()
    segment = max(tmp_path.glob("*.kbl"))
    size = segment.stat().st_size
    os.truncate(segment, size + 5000)
    with pytest.raises(LogPoisoned):
        EventLog.open(tmp_path, disk=BadDisk(call, 0))
    again = EventLog.open(tmp_path)
    assert (again.damage, again.repairs, again.seq) == (None, (), 3)
    assert segment.stat().st_size == size
    again.close()


class Told(Unsynced):
    """A disk that tells in which order it was called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def fsync(self, fd: int) -> None:
        """Tell which file."""
        self.calls.append(f"fsync {Path(os.readlink(f'/proc/self/fd/{fd}')).name}")

    def truncate(self, fd: int, size: int) -> None:
        """Cut and tell."""
        self.calls.append("truncate")
        super().truncate(fd, size)


def test_what_is_reserved_is_cut_durably_before_another_segment_follows(tmp_path: Path) -> None:
    """Else a power cut could leave zeros within the log, which are damage."""
    disk = Told()
    log = EventLog.open(tmp_path, disk=disk)
    log.append([note("one")])
    segment = max(tmp_path.glob("*.kbl"))
    assert segment.stat().st_size > log._tip.link.offset
    disk.calls.clear()
    log._roll(tail_of(log))
    assert disk.calls[:3] == ["truncate", f"fsync {segment.name}", f"fsync {2:020}.kbl.tmp"]
    log.close()


def append_all(log: EventLog) -> int:
    """Append all texts until the disk fails; return the last number that was acknowledged."""
    acked = 0
    for text in TEXTS:
        try:
            acked = log.append([note(text)])
        except LogPoisoned:
            break
    return acked


def refuses_for_good(log: EventLog) -> None:
    """See that a failure is never tried again, although the disk would say that all is well."""
    for _ in range(2):
        with pytest.raises(LogPoisoned, match="restarted"):
            log.append([note("never")])


def test_a_cut_that_cannot_be_made_durable_poisons(tmp_path: Path) -> None:
    """If a half-written frame cannot be taken back the log is not written any more."""

    class Stuck(FullDisk):
        def truncate(self, fd: int, size: int) -> None:
            raise OSError(errno.EIO, "stuck")

    disk = Stuck(100_000)
    log = EventLog.open(tmp_path, disk=disk)
    disk.space = 20
    with pytest.raises(LogPoisoned, match="taken back"):
        log.append([note("half")])
    disk.space = 100_000
    refuses_for_good(log)
    log.close()
    again = EventLog.open(tmp_path)
    assert (again.damage, again.seq, len(again.repairs)) == (None, 0, 1)
    again.close()


def test_a_poisoned_log_does_not_move_the_anchor(tmp_path: Path) -> None:
    """Closing after a failed sync does not claim that what may be lost was durable."""
    disk = BadDisk("fdatasync", 3)
    log = open_with(tmp_path, disk)
    acked = append_all(log)
    log.close()
    os.truncate(max(tmp_path.glob("*.kbl")), log._tip.link.offset + 50)
    again = open_with(tmp_path, Unsynced())
    assert (again.damage, again.seq, len(again.repairs)) == (None, acked, 1)
    again.close()


def test_events_appended_together_cost_one_sync(tmp_path: Path) -> None:
    """64 events in one commit are made durable by one fdatasync, not 64."""
    disk = BadDisk("fdatasync", 10**9)
    log = EventLog.open(tmp_path, disk=disk, clock=lambda: 0.0)
    before = disk.calls
    log.append([note(str(n)) for n in range(64)])
    assert disk.calls - before == 1
    log.close()


def test_what_is_found_is_made_durable_before_it_is_shown(tmp_path: Path) -> None:
    """A frame that a killed process had not synced is synced at open."""
    disk = BadDisk("fdatasync", 10**9)
    log = EventLog.open(tmp_path, disk=disk)
    log.append([note("synced")])
    disk.after = disk.calls
    with pytest.raises(LogPoisoned):
        log.append([note("written, not synced")])
    with pytest.raises(LogPoisoned):
        EventLog.open(tmp_path, disk=BadDisk("fdatasync", 0))
    again = EventLog.open(tmp_path)
    assert again.seq == 2
    again.close()
    log.close()


def power_cut(tmp_path: Path, calls: int, seed: int, lies: tuple[str, ...] = ()) -> bool:
    """Cut the power at a call of a workload, and once more in recovery; tell if it had ended.

    Raises:
        AssertionError: Something acknowledged is missing, or something is half there.
    """
    place = tmp_path / f"{calls}-{seed}"
    place.mkdir()
    attic = tmp_path / f"attic-{calls}-{seed}"
    acked, ended = 0, False
    disk = PowerDisk(attic, calls, seed, lies)
    try:
        log = open_with(place, disk)
        for n in range(0, len(TEXTS), 2):
            acked = log.append([note(TEXTS[n]), note(TEXTS[n + 1])])
        log.close()
        ended = True
    except PowerCutError:
        pass
    disk.crash()
    disk = PowerDisk(attic, random.Random(calls * 7 + seed).randint(0, 12), seed, lies)
    try:
        log = open_with(place, disk)
        assert log.damage is None
        acked = max(acked, log.seq)
    except PowerCutError:
        pass
    disk.crash()
    drop_descriptors(place)
    log = open_with(place, Unsynced())
    assert log.damage is None
    assert log.seq % 2 == 0
    assert log.seq >= acked
    assert texts(log) == TEXTS[: log.seq]
    log.append([note("goes on")])
    log.close()
    return ended


def test_power_cut_at_every_call(tmp_path: Path) -> None:
    """At whichever call the power goes, whatever unsynced part survives: all that was acked."""
    for seed in range(4):
        calls = 0
        while not power_cut(tmp_path, calls, seed):
            calls += 1
        assert calls > 30
    assert list(tmp_path.glob("*/*.torn-*")), "some cuts left a frame half written"


@pytest.mark.parametrize("lie", ["fsync", "fdatasync", "directory"])
def test_the_power_cut_finds_a_missing_sync(tmp_path: Path, lie: str) -> None:
    """Each kind of sync is needed: without it the same sweep finds a loss."""
    for seed, calls in product(range(4), range(60)):
        try:
            power_cut(tmp_path, calls, seed, (lie,))
        except AssertionError:
            drop_descriptors(tmp_path)
            return
    pytest.fail("nothing was lost")


KILLED = """
import sys
from contextlib import suppress
from itertools import count, product
from pathlib import Path
from events.logs import note
from kbd.events import EventLog

log = EventLog.open(Path(sys.argv[1]), segment_bytes=20_000)
while True:
    print(log.append([note("x" * (log.seq % 700)), note("y")]), flush=True)
"""


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """After each SIGKILL every acknowledged commit is there, and the log goes on.

    What the killed process had reserved is no fault.
    """
    acked = reserved = 0
    paths = os.pathsep.join(sys.path)
    for _ in range(6):
        command = [sys.executable, "-c", KILLED, str(tmp_path)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
        ) as process:
            assert process.stdout is not None
            for _ in range(random.randint(1, 60)):
                acked = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split("\n")[:-1]
        acked = int(rest[-1]) if rest else acked
        size = max(tmp_path.glob("*.kbl")).stat().st_size
        assert verify_log(tmp_path).is_whole
        log = EventLog.open(tmp_path)
        assert (log.damage, log.repairs) == (None, ())
        reserved += size - log._tip.link.offset
        assert acked <= log.seq <= acked + 2
        assert log.seq % 2 == 0
        acked = log.seq
        log.close()
    assert reserved > 0
