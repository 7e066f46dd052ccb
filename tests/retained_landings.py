"""Landings day after day under a retention of a day, by a clock that is moved: a whole home."""

import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec
import pytest

from agent_rig import say
from kbd.core.domain.watch_decisions import AddWatch
from kbd.core.domain.watch_state import Watch
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.settings import RetentionSettings, RunLimits, Settings, WatchSettings
from kbd.core.watch import watcher
from kbd.core.workbench.publish import publish
from kbd.core.workbench.rows import disk_bytes
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import ValidationFailed
from kbd.events.base import Actor, Fact
from kbd.events.watches import FailurePolicy, RuleLimits, RuleRetention, WatchRule
from kbd.events.workbenches import WorkbenchDeleted
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Seq, WatchId, WorkbenchId
from supervised import Supervised
from unattended_rig import MODEL, unattended, writes

__all__ = ["KINDS", "PERSON", "Day", "LandedHome", "MovedClock", "landed_home", "recorded"]

T = TypeVar("T", bound=Fact)

DAY_S = 86_400
PERSON = Actor("a person", 1)

KINDS = ("kept", "own", "review", "unset", "broken")
"""The watched folders: `own` has a retention of its own and publishes by itself; `unset` publishes
by itself and has none; in `review` a person is to look; in `kept` nothing is ever archived; in
`broken` each run fails."""

_OWN = RuleRetention(1, 1)
_RETENTIONS = {"own": _OWN, "broken": _OWN, "review": None, "unset": None, "kept": RuleRetention()}


class MovedClock(SystemClock):
    """The machine's clock, moved on by whoever wants."""

    def __init__(self) -> None:
        self.ahead_us = 0

    def now_us(self) -> int:
        """Return the time as it was moved."""
        return super().now_us() + self.ahead_us

    def move(self, seconds: float) -> None:
        """Move it on, or back."""
        self.ahead_us += int(seconds * 1_000_000)


class Day(msgspec.Struct, frozen=True):
    """How a home stood at the end of a day.

    Args:
        folders: How many workbenches have a folder.
        archived: How many are archived.
        removed: How many archives were removed so far.
        disk_bytes: What the home takes.
        log_bytes: What the daemon's log takes of it.
        state_bytes: The daemon's state, packed.
    """

    folders: int
    archived: int
    removed: int
    disk_bytes: int
    log_bytes: int
    state_bytes: int


class LandedHome:
    """A home in whose watched folders files land.

    Attributes:
        running: Its daemon without the socket.
        clock: Its time.
    """

    def __init__(self, running: Supervised, clock: MovedClock, place: Path) -> None:
        self.running, self.clock, self._place = running, clock, place
        self._count = 0

    def watch(self, kind: str) -> Watch:
        """Return a watch."""
        return self.running.benches.daemon.state.watching.watches[_id(kind)]

    async def add_watches(self) -> None:
        """Watch a folder of each kind."""
        for kind in KINDS:
            (self._place / kind).mkdir()
            rule = WatchRule(
                name=kind,
                folder=str(self._place / kind),
                prompt=f"work on what is {kind}",
                model_id=MODEL,
                quiet_s=0.05,
                publish="review" if kind == "review" else "auto",
                limits=RuleLimits(runs_per_hour=100_000),
                on_failure=FailurePolicy(retries=0),
            )
            await self.running.benches.daemon.submit(
                AddWatch(_id(kind), rule, retention=_RETENTIONS[kind])
            )

    async def land(self, counts: dict[str, int]) -> None:
        """Have files land, and wait until the runs on them have come to their ends."""
        before = {kind: sum(self.watch(kind).ended.values()) for kind in counts}
        for kind, count in counts.items():
            for _ in range(count):
                self._count += 1
                name = f"{self._count:06}.txt"
                (self._place / kind / name).write_text(f"landed {self._count}\n" * 20)
        for kind, count in counts.items():
            while sum(self.watch(kind).ended.values()) < before[kind] + count:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        # Worked on: the people who dropped them tidy up.
        for kind in counts:
            for path in (self._place / kind).iterdir():
                path.unlink()

    async def review(self, count: int) -> None:
        """Have a person publish so many of the drafts that wait."""
        for workbench_id in self.running.benches.ids():
            known = self.running.benches.known(workbench_id)
            if count and known.archive is None and known.name.startswith("review"):
                workbench = await self.running.benches.open(workbench_id)
                if workbench.state.draft is not None:
                    count -= 1
                    await publish(
                        workbench.acting(PERSON), self.clock, names=None, keep_both=False,
                        accept_external=False, progress=lambda _: None,
                    )  # fmt: skip

    async def end_day(self) -> Day:
        """Move the clock on by a day, and apply the rules."""
        # What follows a publish follows it within seconds, not a day later.
        while any(map(_lacks_receipt, self.running.benches.running())):  # noqa: ASYNC110
            await anyio.sleep(0.02)
        self.clock.move(DAY_S)
        await self.running.retention.apply()
        # What clients were told is the rig's own memory.
        self.running.told.clear()
        known = self.running.benches.daemon.state.workbenches.values()
        archived = sum(each.archive is not None for each in known)
        home = self.running.home
        state = msgspec.msgpack.encode(self.running.benches.daemon.state)
        return Day(
            folders=len(known) - archived,
            archived=archived,
            removed=len(await self.recorded(WorkbenchDeleted)),
            disk_bytes=disk_bytes(home.folder),
            log_bytes=disk_bytes(home.daemon_log),
            state_bytes=len(state),
        )

    async def recorded(self, kind: type[T]) -> list[T]:
        """Return what was recorded of a kind in the daemon's log, in order."""
        return await recorded(self.running, kind)

    def kinds_there(self) -> Counter[str]:
        """Return how many workbenches of which kind have a folder on the disk."""
        names = os.listdir(self.running.home.workbenches)
        known = self.running.benches.known
        return Counter(known(WorkbenchId(each)).name.partition(":")[0] for each in names)


async def recorded(running: Supervised, kind: type[T]) -> list[T]:
    """Return what was recorded of a kind in the daemon's log, in order."""
    found: list[T] = []
    await running.benches.daemon.journal.replay(
        lambda _seq, record: found.append(record.data) if isinstance(record.data, kind) else None,
        Seq(0),
    )
    return found


def _id(kind: str) -> WatchId:
    return WatchId(f"{KINDS.index(kind):016x}")


def _lacks_receipt(workbench: OpenWorkbench) -> bool:
    publishes = workbench.state.publishes
    return any(publishes.at(place).receipt is None for place in range(len(publishes)))


def _play(request: ModelRequest) -> ModelReply:
    """Write a file; where what is asked is about what is broken, fail."""
    if any("what is broken" in message.text for message in request.messages):
        raise ValidationFailed("the model does not answer")
    return writes("made.txt", content="made of it\n" * 50)(request) or say("")


@asynccontextmanager
async def landed_home(
    place: Path, retention: RetentionSettings, *, concurrency: int = 4
) -> AsyncIterator[LandedHome]:
    """Run a home with its watched folders, without the pauses that spare a disk."""
    clock = MovedClock()
    settings = Settings(
        run=RunLimits(retry_s=(0.001,)),
        watch=WatchSettings(rescan_s=0.5, concurrency=concurrency, open_workbenches=8),
        retention=retention,
    )
    (place / "folders").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "_SWEEP_PAUSE_S", 0.05)
        async with (
            unattended(place / "h", _play, settings=settings, clock=clock) as (running, _),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(running.watcher.run)
            home = LandedHome(running, clock, place / "folders")
            await home.add_watches()
            yield home
            tasks.cancel_scope.cancel()
