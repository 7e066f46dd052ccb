"""The index of a home is a projection: whatever becomes of it, lists are right in the end.

Its file is cut, blotted, flipped, mixed with an older one or taken away, and the daemon is killed
while it is made anew: nothing is lost, for the logs have everything, and nothing wrong stays.
"""

import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from real_daemon import START_S, RealDaemon

COUNT = 12
"""How many workbenches the home has."""

NAMES = ("index.sqlite3", "index.sqlite3-wal", "index.sqlite3-shm")


class Made(NamedTuple):
    """A home that a kill left, what its lists said, and an index of it from before.

    Attributes:
        home: The home.
        older: The files of the index when half of the workbenches were there.
        rows: What the list says, but for sizes.
    """

    home: Path
    older: Path
    rows: list[dict[str, Any]]


def listed(daemon: RealDaemon) -> list[dict[str, Any]]:
    """Return the rows of the list, but for what a start may change of them."""
    found = daemon.ask("WorkbenchList")["workbenches"]
    changing = {"disk_bytes", "updated_at", "last_seq"}
    return [{name: row[name] for name in row.keys() - changing} for row in found]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Make the home once."""
    folder = Path("/tmp") / f"kbd-{tmp_path_factory.mktemp('i').parent.name}-{random.random()}"
    folder.mkdir(mode=0o700)
    (folder / "a.csv").write_text("a,b\n1,2\n")
    daemon = RealDaemon(folder / "h")
    daemon.start()
    for number in range(COUNT):
        if number == COUNT // 2:
            daemon.ask("WorkbenchList")
            shutil.copytree(folder / "h" / "daemon", folder / "older")
        workbench_id = daemon.ask("WorkbenchCreate", name=f"w{number}")["workbench_id"]
        for _ in range(number % 3):
            named = {"workbench_id": workbench_id, "source_paths": [str(folder / "a.csv")]}
            daemon.ask("WorkbenchFilesAdd", **named)
    rows = listed(daemon)
    daemon.kill()
    yield Made(folder / "h", folder / "older", rows)
    shutil.rmtree(folder)


def _files(home: Path) -> list[Path]:
    return [path for name in NAMES if (path := home / "daemon" / name).exists()]


def _cut(made: Made, home: Path, draw: random.Random) -> None:
    del made
    path = draw.choice(_files(home))
    data = path.read_bytes()
    path.write_bytes(data[: draw.randrange(len(data) + 1)])


def _blot(made: Made, home: Path, draw: random.Random) -> None:
    del made
    path = draw.choice(_files(home))
    data = bytearray(path.read_bytes())
    at = draw.randrange(max(1, len(data)))
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    path.write_bytes(data)


def _flip(made: Made, home: Path, draw: random.Random) -> None:
    del made
    path = draw.choice(_files(home))
    data = bytearray(path.read_bytes())
    for _ in range(8):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def _take_away(made: Made, home: Path, draw: random.Random) -> None:
    del made
    for path in draw.sample(_files(home), draw.randint(1, len(_files(home)))):
        path.unlink()


def _mix(made: Made, home: Path, draw: random.Random) -> None:
    for name in draw.sample(NAMES, draw.randint(1, len(NAMES))):
        if (made.older / name).exists():
            shutil.copy(made.older / name, home / "daemon" / name)


HARMS: tuple[Callable[[Made, Path, random.Random], None], ...] = (
    _cut, _blot, _flip, _take_away, _mix
)  # fmt: skip


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__.lstrip("_"))
def test_a_harmed_index_is_mended(
    made: Made, harm: Callable[[Made, Path, random.Random], None], seed: int, short_dir: Path
) -> None:
    """Kbd starts, and its list says what it said before, at once or as soon as it has looked."""
    draw = random.Random(seed)
    shutil.copytree(made.home, short_dir / "h", ignore=shutil.ignore_patterns("kbd.sock"))
    # Those that were open are opened at the start anyway: the others are what is looked at.
    for mark in (short_dir / "h" / "workbenches").glob("*/open"):
        mark.unlink()
    harm(made, short_dir / "h", draw)
    daemon = RealDaemon(short_dir / "h")
    daemon.start()
    try:
        _expect(daemon, made.rows)
    finally:
        assert daemon.stop() == 0


@pytest.mark.full
def test_kills_while_it_is_made_anew_lose_nothing(made: Made, short_dir: Path) -> None:
    """Killed at once, or as it reads and writes: the next start goes on, and the last is right."""
    draw = random.Random(5)
    shutil.copytree(made.home, short_dir / "h", ignore=shutil.ignore_patterns("kbd.sock"))
    for path in _files(short_dir / "h"):
        path.unlink()
    daemon = RealDaemon(short_dir / "h")
    for _ in range(8):
        daemon.start()
        time.sleep(draw.random())
        daemon.kill()
        for mark in (short_dir / "h" / "workbenches").glob("*/open"):
            mark.unlink()
    daemon.start()
    try:
        _expect(daemon, made.rows)
    finally:
        assert daemon.stop() == 0


def _expect(daemon: RealDaemon, rows: list[dict[str, Any]]) -> None:
    """Wait until the list says what it should."""
    deadline = time.monotonic() + START_S
    while (found := listed(daemon)) != rows and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found == rows
