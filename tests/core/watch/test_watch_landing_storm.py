"""A folder in which much happens at once: each content lands exactly once, and nothing is lost."""

import hashlib
import random
import threading
import time
from collections import Counter
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from dropped import WATCH, dropped, until
from kbd.core.runtime.settings import WatchSettings
from kbd.types import BlobHash

pytestmark = [pytest.mark.anyio, pytest.mark.soak]

FILES = 2000


class Storm:
    """Threads that drop files of distinct contents in every way that people and programs have.

    A content that is replaced, or whose file is renamed, is let land first only by chance: what
    must land is what is there in the end, and nothing may land twice.

    Attributes:
        final: The hashes of the contents that are in the folder when it is over.
    """

    def __init__(self, folder: Path, aside: Path, seed: int) -> None:
        self._folder, self._aside, self._seed = folder, aside, seed
        self.final: set[str] = set()
        self._lock = threading.Lock()

    def run(self) -> None:
        """Do all of it; returns when all threads are done."""
        ways = [self._plain, self._slow, self._replaced, self._moved_folders, self._renamed]
        threads = [
            threading.Thread(target=way, args=(random.Random(self._seed * 10 + index),))
            for index, way in enumerate(ways)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _left(self, content: str) -> str:
        with self._lock:
            self.final.add(hashlib.sha256(content.encode()).hexdigest())
        return content

    def _plain(self, chance: random.Random) -> None:
        for number in range(FILES):
            folder = self._folder / f"plain/{chance.randrange(30)}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.csv").write_text(self._left(f"plain {number}"))
            if chance.random() < 0.01:
                time.sleep(0.02)

    def _slow(self, chance: random.Random) -> None:
        for number in range(12):
            with (self._folder / f"slow-{number}.csv").open("w") as file:
                for _ in range(chance.randrange(2, 5)):
                    file.write(f"half of slow {number} ")
                    file.flush()
                    time.sleep(chance.uniform(0.05, 0.6))
            self._left((self._folder / f"slow-{number}.csv").read_text())

    def _replaced(self, chance: random.Random) -> None:
        for number in range(100):
            path = self._folder / f"replaced-{number}.csv"
            versions = chance.randrange(1, 4)
            for version in range(versions):
                new = self._folder / f".new-{number}"
                new.write_text(f"replaced {number} {version}")
                new.rename(path)
                time.sleep(chance.choice([0, 0, 0.05]))
            self._left(f"replaced {number} {versions - 1}")

    def _moved_folders(self, chance: random.Random) -> None:
        for number in range(20):
            aside = self._aside / f"moved-{number}/a/b"
            aside.mkdir(parents=True)
            for inner in range(chance.randrange(1, 20)):
                name = self._left(f"moved {number} {inner}")
                (aside.parent / f"{inner}.csv").write_text(name)
            (self._aside / f"moved-{number}").rename(self._folder / f"in-{number}")
            time.sleep(chance.uniform(0, 0.2))

    def _renamed(self, chance: random.Random) -> None:
        for number in range(100):
            path = self._folder / f"first-{number}.csv"
            path.write_text(self._left(f"renamed {number}"))
            time.sleep(chance.choice([0, 0, 0.01, 0.3]))
            path.rename(self._folder / f"second-{number}.csv")


@pytest.mark.parametrize("seed", range(3))
async def test_a_storm_lands_once(tmp_path: Path, seed: int) -> None:
    """Two thousand files and more, in all ways at once, while the inbox is restarted meanwhile."""
    chance = random.Random(seed)
    (tmp_path / "in").mkdir()
    (tmp_path / "aside").mkdir()
    storm = Storm(tmp_path / "in", tmp_path / "aside", seed)
    thread = threading.Thread(target=storm.run)
    thread.start()
    settings = WatchSettings(rescan_s=5.0)
    while thread.is_alive():
        async with dropped(tmp_path, settings=settings, quiet_s=0.2):
            with anyio.move_on_after(chance.uniform(0.1, 4.0)):
                await run_sync(thread.join, abandon_on_cancel=True)
    async with dropped(tmp_path, settings=settings, quiet_s=0.2) as desk:
        landings = desk.log.watch(WATCH).landings
        await until(lambda: storm.final <= {each.sha256 for each in landings.values()})
        await desk.quiet()
        landed = Counter(each.sha256 for each in landings.values())
        assert all(desk.copies.store.has(BlobHash(sha256)) for sha256 in landed)
        events = await desk.events()
    assert len(storm.final) > FILES
    assert [sha256 for sha256, times in landed.items() if times > 1] == []
    assert {event.outcome for event in events} <= {"", "moved"}
    assert len({(event.path, event.sha256) for event in events}) == len(events)
