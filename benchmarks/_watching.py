"""Looking through a folder of many files, in a process of its own: kbd's inbox and a bare walk.

    python -m benchmarks._watching bare|kbd FOLDER [ROUNDS]

Prints a JSON object: seconds and processor seconds of one look (medians), and how many files.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import msgspec

from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_decisions import AddWatch
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import Settings
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.watch.inbox import Inbox
from kbd.core.watch.ingest import LandedCopies
from kbd.core.watch.tree import WatchedTree
from kbd.events.log import EventLog
from kbd.events.watches import PassedFile, WatchRule
from kbd.types import WatchId

WATCH = WatchId("00000000000000aa")
POLL_SECONDS = 0.002


class Look(msgspec.Struct, frozen=True):
    """What a look through a folder cost: elapsed and processor seconds; how many files it saw."""

    seconds: float
    cpu_seconds: float
    files: int


def walk(folder: str) -> int:
    """The raw limit: read all folders, and what each file looks like; return how many there are."""
    count, left = 0, [folder]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


async def measured(look: Callable[[], Awaitable[int]], rounds: int) -> Look:
    """Look so often, once more to warm up."""
    seconds, cpu_seconds, files = [], [], 0
    for turn in range(rounds + 1):
        begun, spent = time.perf_counter(), time.process_time()
        files = await look()
        if turn:
            seconds.append(time.perf_counter() - begun)
            cpu_seconds.append(time.process_time() - spent)
    return Look(statistics.median(seconds), statistics.median(cpu_seconds), files)


async def bare(folder: str, rounds: int) -> Look:
    """Walk."""

    async def look() -> int:
        return walk(folder)

    return await measured(look, rounds)


async def inbox(folder: str, rounds: int) -> Look:
    """Have an inbox look again at a folder where all files are known from the log."""
    with tempfile.TemporaryDirectory() as name:
        home = Home(folder=Path(name), socket=Path(name) / "s")
        home.create()
        keeper: Keeper[DaemonState, DaemonCommand] = Keeper(
            Journal(EventLog.open(home.daemon_log)),
            blank=DaemonState,
            fold=fold_daemon,
            decide=decide_daemon,
            clock=SystemClock(),
        )
        await keeper.load()
        with WatchedTree(folder) as tree:
            passed = tuple(PassedFile(found.path, found.signature) for found in tree.walk())
        settings = Settings()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keeper.run)
            rule = WatchRule("bench", folder, "nothing", quiet_s=POLL_SECONDS)
            await keeper.submit(AddWatch(WATCH, rule, passed))
            copies = LandedCopies(home.landed(WATCH))
            box = Inbox(WATCH, keeper, copies, settings.watch, settings.limits.file_bytes)
            tasks.start_soon(box.run)

            async def look() -> int:
                box.rescan()
                while not box.is_quiet():  # noqa: ASYNC110 - nobody tells of it
                    await anyio.sleep(POLL_SECONDS)
                return len(passed)

            while box.health().hints != "system":  # noqa: ASYNC110 - nobody tells of it
                await anyio.sleep(POLL_SECONDS)
            found = await measured(look, rounds)
            tasks.cancel_scope.cancel()
        await keeper.journal.aclose()
        return found


if __name__ == "__main__":
    who, folder, *rest = sys.argv[1:]
    rounds = int(rest[0]) if rest else 5
    found = anyio.run({"bare": bare, "kbd": inbox}[who], folder, rounds)
    print(msgspec.json.encode(found).decode())
