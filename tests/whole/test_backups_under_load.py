"""Backups of the real daemon while clients write: exact beginnings, and nobody waits for them."""

import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backups import assert_beginning, checked, kept, known_in
from kbd.client.blocking import Client, ConnectionLostError, RemoteError
from kbd.core.audit.restore import restore
from real_daemon import RealDaemon
from whole.disks import tiny_disk

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1500)]

CLIENTS = 4
BACKUPS = 100
"""On each backend."""

KILLS = 10


class Load:
    """Clients that write: messages, files, edits of their own; now and then a workbench goes.

    Args:
        daemon: The daemon.
        folder: A folder for the files that they add.

    Attributes:
        waits_s: How long each answer took.
        acknowledged: The events that were answered, by workbench: the last one's number.
    """

    def __init__(self, daemon: RealDaemon, folder: Path) -> None:
        self._daemon, self._folder = daemon, folder
        self.waits_s: list[float] = []
        self.acknowledged: dict[str, int] = {}
        self._over = threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Have them write."""
        self._over.clear()
        writers = [threading.Thread(target=self._write, args=(n,)) for n in range(CLIENTS)]
        for writer in writers:
            writer.start()
        try:
            yield
        finally:
            self._over.set()
            for writer in writers:
                writer.join()

    def _write(self, number: int) -> None:
        chance = random.Random(number)
        try:
            with self._daemon.client() as client:
                self._work(client, number, chance)
        except ConnectionLostError:
            pass  # The daemon was killed.

    def _work(self, client: Client, number: int, chance: random.Random) -> None:
        workbench_id = str(client.send("WorkbenchCreate", {"name": f"of {number}"})["workbench_id"])
        source = self._folder / f"{number}.csv"
        named = {"workbench_id": workbench_id}
        added = 0
        while not self._over.wait(0.02):
            what = chance.random()
            if what < 0.9:
                text = "t" * chance.randint(1, 500)
                self._timed(lambda: client.send("WorkshopSendUserMessage", {**named, "text": text}))  # noqa: B023
            elif what < 0.98 and added < 30:
                added += 1
                source = self._folder / f"{number}-{added}.csv"
                source.write_text(f"A,B\n{chance.random()},{'x' * chance.randint(1, 100_000)}\n")
                client.send("WorkbenchFilesAdd", {**named, "source_paths": [str(source)]})
            elif what >= 0.995:
                gone = client.send("WorkbenchCreate", {"name": "short-lived"})["workbench_id"]
                client.send("WorkbenchDelete", {"workbench_id": gone})
            head = client.send("LogHead", named)
            self.acknowledged[workbench_id] = int(head["seq"])

    def _timed(self, work: Callable[[], object]) -> None:
        begun = time.monotonic()
        work()
        self.waits_s.append(time.monotonic() - begun)


def test_each_backup_is_an_exact_beginning(
    short_dir: Path, anyio_backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each restores: logs byte for byte, states, blobs, all that was acknowledged before."""
    daemon = RealDaemon(short_dir / "home", anyio_backend)
    daemon.start()
    load = Load(daemon, short_dir)
    took_s: list[float] = []
    try:
        with load.at_work():
            time.sleep(10)
        alone_s, load.waits_s = load.waits_s, []
        target, again = short_dir / "b", short_dir / "r"
        with load.at_work():
            for number in range(BACKUPS):
                before = dict(load.acknowledged)
                begun = time.monotonic()
                daemon.ask("BackupCreate", target=str(target))
                took_s.append(time.monotonic() - begun)
                inventory = checked(target)
                for workbench_id, seq in before.items():
                    assert kept(inventory, workbench_id).seq >= seq
                restore(target, again)
                assert_beginning(daemon.home, again, inventory, folds=number % 10 == 9)
                shutil.rmtree(target)
                shutil.rmtree(again)
    finally:
        daemon.stop()
    meanwhile_s = load.waits_s
    with capsys.disabled():
        print(
            f"\n{anyio_backend}: {BACKUPS} backups, each in {max(took_s):.2f} s at most "
            f"({sorted(took_s)[len(took_s) // 2]:.2f} s in the middle); a writer waited "
            f"{max(meanwhile_s) * 1000:.0f} ms at most, {_p99(meanwhile_s) * 1000:.0f} ms at p99 "
            f"({len(meanwhile_s)} commands); without them {max(alone_s) * 1000:.0f} ms, "
            f"{_p99(alone_s) * 1000:.0f} ms ({len(alone_s)} commands)"
        )
    assert len(meanwhile_s) > BACKUPS, "hardly anything was written"


def _p99(waits_s: list[float]) -> float:
    return sorted(waits_s)[len(waits_s) * 99 // 100]


def test_a_daemon_that_is_killed_leaves_no_half_backup(short_dir: Path) -> None:
    """There is the whole backup or none; the next one has the same name, and the home is well."""
    daemon = RealDaemon(short_dir / "home")
    daemon.start()
    chance = random.Random(3)
    load = Load(daemon, short_dir)
    target, whole = short_dir / "b", 0
    try:
        for _ in range(KILLS):
            with load.at_work():
                time.sleep(0.5)
                backing = threading.Thread(target=_try_backup, args=(daemon, target))
                backing.start()
                time.sleep(chance.uniform(0.02, 0.5))
                daemon.kill()
                backing.join()
            if target.exists():
                whole += 1
                checked(target)
                shutil.rmtree(target)
            daemon.start()
            for workbench_id, seq in load.acknowledged.items():
                found = daemon.ask("LogVerify", workbench_id=workbench_id)
                assert found["ok"]
                assert found["seq"] >= seq
            daemon.ask("BackupCreate", target=str(target))
            checked(target)
            assert known_in(target) >= load.acknowledged.keys()
            shutil.rmtree(target)
            assert not list(short_dir.glob(".*kbd-partial"))
    finally:
        daemon.stop()
    assert whole < KILLS, "no backup was ever cut off"


def _try_backup(daemon: RealDaemon, target: Path) -> None:
    try:
        daemon.ask("BackupCreate", target=str(target))
    except ConnectionLostError:
        pass  # It was killed meanwhile.


def test_a_full_disk_says_so(short_dir: Path) -> None:
    """Nothing is left on it, the daemon goes on, and with room the same name is free."""
    daemon = RealDaemon(short_dir / "home")
    daemon.start()
    try:
        source = short_dir / "large.csv"
        source.write_bytes(random.Random(1).randbytes(3 << 20))
        daemon.workbench(source)
        with tiny_disk(short_dir / "disk", 2 << 20):
            for _ in range(2):
                with pytest.raises(RemoteError) as refused:
                    daemon.ask("BackupCreate", target=str(short_dir / "disk" / "b"))
                assert refused.value.data["error_code"] == "DISK_FULL"
                assert not list((short_dir / "disk").iterdir())
        daemon.ask("BackupCreate", target=str(short_dir / "b"))
        checked(short_dir / "b")
    finally:
        daemon.stop()
