"""Each distinct content runs exactly once, whatever writers do and whenever the process is killed.

A child process watches; writers go on while it is killed and started again, on one backend after
the other. What came of it is counted in the daemon's log, read from the disk in the end.
"""

import hashlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

import trivial_watcher
from kbd.core.runtime.paths import Home
from kbd.events.log import EventLog
from kbd.events.vocabulary import Event
from kbd.events.watches import FileLanded, WatchRunFinished, WatchRunStarted
from kbd.types import Seq
from trivial_watcher import QUIET_S, RESCAN_S

LONG_S = 600.0
"""No wait for the child is longer: then something was dropped."""


class Sizes(msgspec.Struct, frozen=True):
    """How much happens.

    Args:
        dropped: Files written at once.
        slow: Files written in pieces, with pauses longer than the quiet time.
        folders: Folders moved in; every other is renamed there when its files have run.
        in_folder: Files of each.
        replaced: Paths whose file is replaced by renaming.
        versions: Contents of each.
        kills: How often the process is killed.
        alive_s: How long it lives, at least and at most.
    """

    dropped: int
    slow: int
    folders: int
    in_folder: int
    replaced: int
    versions: int
    kills: int
    alive_s: tuple[float, float]

    @property
    def contents(self) -> int:
        """How many contents are left whole."""
        folders = self.folders * self.in_folder
        return self.dropped + self.slow + folders + self.replaced * self.versions


class Storm:
    """Writers that know what they left whole.

    Attributes:
        folder: Where they write.
        told: Where the child says what it worked on.
        whole: The hashes of what was left whole.
        renamed: How many files were renamed after they had run.
    """

    def __init__(self, place: Path, seed: int, sizes: Sizes) -> None:
        self._seed, self._sizes = seed, sizes
        self.folder, self._beside, self.told = place / "in", place / "beside", place / "told"
        self.folder.mkdir()
        self._beside.mkdir()
        self.whole: set[str] = set()
        self.renamed = 0
        self._threads = [
            threading.Thread(target=writer, daemon=True)
            for writer in (self._drop, self._write_slowly, self._move_folders, self._replace)
        ]

    def begin(self) -> None:
        """Start all writers."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Wait until all writers are done, and all that they left has run."""
        for thread in self._threads:
            thread.join(LONG_S)
            assert not thread.is_alive()
        self._until_run(self.whole)

    def ran(self) -> set[str]:
        """Return the hashes of what the child has worked on."""
        text = self.told.read_text() if self.told.exists() else ""
        return {line.split()[1] for line in text.splitlines()}

    def _content(self, name: str) -> bytes:
        """Return a content that no other file has, and count it as left whole."""
        rng = random.Random(f"{self._seed} {name}")
        content = name.encode() + rng.randbytes(rng.choice((0, 10, 5_000, 300_000)))
        self.whole.add(hashlib.sha256(content).hexdigest())
        return content

    def _until_run(self, hashes: Iterable[str]) -> None:
        wanted, end_s = set(hashes), time.monotonic() + LONG_S
        while not wanted <= self.ran():
            assert time.monotonic() < end_s, f"{len(wanted - self.ran())} contents did not run"
            time.sleep(0.05)

    def _drop(self) -> None:
        """Write files where they are to lie, some in new folders."""
        for number in range(self._sizes.dropped):
            within = self.folder / (f"sub{number % 7}/deep" if number % 3 == 0 else "")
            within.mkdir(parents=True, exist_ok=True)
            (within / f"drop{number}.dat").write_bytes(self._content(f"drop{number}"))

    def _write_slowly(self) -> None:
        """Write files in three pieces, several files in turn."""
        names = [f"slow{number}" for number in range(self._sizes.slow)]
        for at in range(0, len(names), 8):
            contents = {name: self._content(name) for name in names[at : at + 8]}
            files = {name: (self.folder / f"{name}.dat").open("wb") for name in contents}
            for piece in range(3):
                for name, file in files.items():
                    third = len(contents[name]) // 3 + 1
                    file.write(contents[name][piece * third : (piece + 1) * third])
                    file.flush()
                time.sleep(1.5 * QUIET_S)
            for file in files.values():
                file.close()

    def _move_folders(self) -> None:
        """Fill folders elsewhere and move them in."""
        for number in range(self._sizes.folders):
            made = self._beside / f"folder{number}"
            (made / "deep").mkdir(parents=True)
            names = [f"folder{number}-{each}" for each in range(self._sizes.in_folder)]
            contents = {name: self._content(name) for name in names}
            for name, content in contents.items():
                (made / "deep" / f"{name}.dat").write_bytes(content)
            there = made.rename(self.folder / made.name)
            if number % 2:
                self._until_run(hashlib.sha256(each).hexdigest() for each in contents.values())
                there.rename(self.folder / f"renamed{number}")
                self.renamed += len(contents)

    def _replace(self) -> None:
        """Replace files by renaming others over them, each when the one before has run."""
        for version in range(self._sizes.versions):
            contents = [
                self._content(f"path{number} version{version}")
                for number in range(self._sizes.replaced)
            ]
            for number, content in enumerate(contents):
                written = self.folder / f".path{number}.new"
                written.write_bytes(content)
                written.rename(self.folder / f"path{number}.dat")
            self._until_run(hashlib.sha256(each).hexdigest() for each in contents)


class Counts(msgspec.Struct, frozen=True):
    """What the log says in the end.

    Args:
        contents: Distinct contents that landed to be worked on.
        landings: How often.
        first_starts: How often a run was begun for the first time.
        starts: How often it was begun at all.
        finished: How often one ended.
        moved: Landings of content that had landed under another name.
        others: Landings that came to anything else.
    """

    contents: int
    landings: int
    first_starts: int
    starts: int
    finished: int
    moved: int
    others: int


def _storm(place: Path, seed: int, sizes: Sizes) -> Storm:
    """Let writers write while the child is killed; return them when all is done."""
    storm, rng = Storm(place, seed, sizes), random.Random(seed)
    storm.begin()
    for life in range(sizes.kills):
        child = _child(place, storm, life)
        time.sleep(rng.uniform(*sizes.alive_s))
        child.kill()
        assert child.wait() == -signal.SIGKILL, "it ended by itself"
        print(f"kill {life + 1}: {len(storm.ran())} of {sizes.contents} contents had run")
    last = _child(place, storm, sizes.kills)
    try:
        storm.end()
        # Long enough for a scan to find what is not to run, and for it to settle.
        time.sleep(RESCAN_S + 4 * QUIET_S)
        last.send_signal(signal.SIGTERM)
        assert last.wait(60) == 0
    finally:
        last.kill()
    return storm


def _child(place: Path, storm: Storm, life: int) -> subprocess.Popen[bytes]:
    backend = ("asyncio", "trio")[life % 2]
    arguments = [place / "home", storm.folder, storm.told, backend]
    with (place / "child.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, trivial_watcher.__file__, *map(str, arguments)], stdout=log, stderr=log
        )


def _recorded(place: Path) -> list[Event]:
    home = place / "home"
    log = EventLog.open(Home(folder=home, socket=home / "s").daemon_log)
    try:
        return [record.data for _, record in log.read(Seq(0), 1_000_000)]
    finally:
        log.close()


def _counts(events: list[Event]) -> Counts:
    landed = [each for each in events if isinstance(each, FileLanded)]
    started = [each for each in events if isinstance(each, WatchRunStarted)]
    outcomes = Counter(each.outcome for each in landed)
    return Counts(
        contents=len({each.sha256 for each in landed if not each.outcome}),
        landings=outcomes[""],
        first_starts=sum(each.attempt == 1 for each in started),
        starts=len(started),
        finished=sum(isinstance(each, WatchRunFinished) for each in events),
        moved=outcomes["moved"],
        others=outcomes["own"] + outcomes["failed"],
    )


def _each_once(place: Path, storm: Storm, sizes: Sizes) -> Counts:
    """Count, and compare with what the writers know."""
    events = _recorded(place)
    counts = _counts(events)
    print(f"{len(storm.whole)} contents left whole, {storm.renamed} files renamed: {counts}")
    count = sizes.contents
    assert counts == Counts(count, count, count, count, count, storm.renamed, 0)
    assert len(storm.whole) == count
    assert {each.sha256 for each in events if isinstance(each, FileLanded)} == storm.whole
    ended = [each for each in events if isinstance(each, WatchRunFinished)]
    assert {each.outcome for each in ended} == {"unchanged"}
    assert len({each.workbench_id for each in ended}) == count
    # The labour itself may have been begun twice, in the same workbench, with the same content.
    told = {tuple(line.split()) for line in storm.told.read_text().splitlines()}
    assert len(told) == len({workbench_id for workbench_id, _ in told}) == count
    assert {sha256 for _, sha256 in told} == storm.whole
    return counts


@pytest.mark.full
def test_each_content_runs_once_though_the_process_is_killed(tmp_path: Path) -> None:
    """Sixty files, dropped, written slowly, moved and replaced; two kills; nothing twice."""
    sizes = Sizes(30, 4, 2, 9, 4, 2, kills=2, alive_s=(0.6, 1.2))
    storm = _storm(tmp_path, 11, sizes)
    _each_once(tmp_path, storm, sizes)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2])
def test_two_thousand_files_run_once_each_over_thirty_kills(tmp_path: Path, seed: int) -> None:
    """Nothing is dropped and nothing doubled, counted in the log that is on the disk."""
    sizes = Sizes(2000, 80, 24, 20, 20, 24, kills=30, alive_s=(0.2, 4.0))
    print(f"seed {seed}")
    storm = _storm(tmp_path, seed, sizes)
    _each_once(tmp_path, storm, sizes)
