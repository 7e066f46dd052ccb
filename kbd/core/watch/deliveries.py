"""Delivery of a job's results: copies in the folder that its rule names, each made once.

For each copy the log has the intent, and then the outcome. A copy whose outcome is missing was cut
off by a crash: its partial tells whether it was made (`kbd.core.workbench.extraction`). Where the
disk knows no links it does not, and a copy that a crash cut off is made a second time under the
next free name. Nothing is ever overwritten.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, fail_after
from anyio.to_thread import run_sync

from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.clock import Clock
from kbd.core.store.keeper import Keeper
from kbd.core.watch.job import WatchJob
from kbd.core.workbench.extraction import (
    CopyRefused,
    copy_to_folder,
    find_copy,
    record_planned_writes,
    remove_partial,
)
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed, NotFound
from kbd.events.base import FileVersion
from kbd.events.drafts import EffectAborted, EffectDone, EffectIntended

__all__ = ["MAX_CONCURRENT_COPIES", "Deliveries", "delivered_paths"]

MAX_CONCURRENT_COPIES = 8
"""Copies that are under way at once, of all jobs: a disk on the network may block one for ever."""


COPY_TIMEOUT_S = 600.0
"""How long a folder for results may take for one copy: 100 MiB over a slow line take half of it."""

T = TypeVar("T")


class Deliveries:
    """Delivers a job's results as copies, each made once.

    Args:
        daemon: The Keeper of the daemon's log, which is told what is written where.
        clock: Names the effects.
        patience_s: Seconds that a folder for results may take to answer.
    """

    def __init__(
        self,
        daemon: Keeper[DaemonState, DaemonCommand],
        clock: Clock,
        patience_s: float = COPY_TIMEOUT_S,
    ) -> None:
        self._daemon, self._clock, self._patience_s = daemon, clock, patience_s
        self._threads = CapacityLimiter(MAX_CONCURRENT_COPIES)

    async def deliver(self, workbench: OpenWorkbench, job: WatchJob, directory: str) -> None:
        """Deliver the missing copies: of published files that changed since they were added.

        One that is refused for its place keeps none of the others back.

        Raises:
            CopyRefused: Links or files are where folders should be; all others are delivered.
            DiskFull: No space is left there; the rest is delivered by the next call.
            FileWriteFailed: The folder is missing, cannot be written or does not answer; the same.
        """
        try:
            # Before the missing ones are counted: what a crash left open may have been made.
            await self._settle(workbench, directory)
            missing = _missing_copies(workbench.state, directory)
            await record_planned_writes(
                self._daemon,
                directory,
                missing,
                watch_id=job.watch_id,
                depth=job.depth,
            )
            refused: list[CopyRefused] = []
            for file in missing:
                try:
                    await self._deliver(workbench, directory, file)
                except CopyRefused as error:
                    refused.append(error)
        except (DiskFull, FileWriteFailed) as error:
            # The folder is a person's: it may be there, or empty, later. What is in the way stays.
            error.retryable = not isinstance(error, CopyRefused)
            raise
        if refused:
            raise _in_one(refused)

    async def _settle(self, workbench: OpenWorkbench, directory: str) -> None:
        """Settle copies that a crash cut off: record the outcome, remove the partial."""
        for effect in tuple(workbench.state.effects.values()):
            if effect.kind != "deliver":
                continue
            made = await self._in_thread(find_copy, effect)
            if made is None:
                # Before the outcome: of a closed effect nobody looks for the partial.
                await self._in_thread(remove_partial, effect)
                aborted = EffectAborted(effect.effect_id, "it was cut off")
                await workbench.keeper.submit(RecordFacts((aborted,)))
            else:
                await workbench.keeper.submit(RecordFacts((EffectDone(effect.effect_id, made),)))
        # A crash right after an outcome was recorded leaves its partial.
        for done in workbench.state.delivered:
            # Elsewhere nothing is touched: a log that came with a backup may name any folder.
            if done.intended.directory == directory:
                await self._in_thread(remove_partial, done.intended)

    async def _deliver(self, workbench: OpenWorkbench, directory: str, file: FileVersion) -> None:
        # The intent is durable before the copy: after a crash it says where to look for one.
        effect = EffectIntended(self._clock.new_id(), "deliver", directory, file)
        folders = workbench.folders
        await workbench.keeper.submit(RecordFacts((effect,)))
        try:
            made = await self._in_thread(
                copy_to_folder, effect, workbench.blobs.store, folders.find_home(), folders.umask
            )
        except _CopyTimeoutError:
            # Nobody knows what becomes of the copy: its intent stays open until it can be told.
            raise
        except (DiskFull, FileReadFailed, FileWriteFailed, NotFound) as error:
            await workbench.keeper.submit(
                RecordFacts((EffectAborted(effect.effect_id, error.message),))
            )
            raise
        await workbench.keeper.submit(RecordFacts((EffectDone(effect.effect_id, made),)))
        # Only now: until the outcome is durable, the partial is what tells that the copy was made.
        await self._in_thread(remove_partial, effect)

    async def _in_thread(self, work: Callable[..., T], *given: object) -> T:
        """Run blocking work in a thread, with a timeout: a network disk may hang for ever.

        Raises:
            FileWriteFailed: It did; the thread is left behind.
        """
        try:
            with fail_after(self._patience_s):
                return await run_sync(work, *given, limiter=self._threads, abandon_on_cancel=True)
        except TimeoutError:
            msg = "the folder for results does not answer"
            raise _CopyTimeoutError(msg) from None


class _CopyTimeoutError(FileWriteFailed):
    """A call to the disk timed out."""


def _in_one(refused: list[CopyRefused]) -> CopyRefused:
    """Return one error for all copies that were refused."""
    more = f", and {len(refused) - 1} more files" if len(refused) > 1 else ""
    return CopyRefused(f"{refused[0].message}{more}")


def delivered_paths(state: WorkbenchState) -> tuple[str, ...]:
    """Return the paths of the copies that were made, in order."""
    return tuple(str(Path(each.intended.directory, each.final_name)) for each in state.delivered)


def _missing_copies(state: WorkbenchState, directory: str) -> tuple[FileVersion, ...]:
    made = {(each.intended.directory, each.intended.file) for each in state.delivered}
    changed = (
        FileVersion(name, entry.blob, entry.size_bytes)
        for name, entry in sorted(state.files.items())
        if entry.blob != entry.origin
    )
    return tuple(file for file in changed if (directory, file) not in made)
