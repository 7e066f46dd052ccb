"""Usage of the disk by a home, measured cheaply, and the quota that the settings set.

What workbenches take stands in the index; only the daemon's own folder and the copies of what
landed are walked. With a quota it is measured again and again while the daemon works, with the
folders of open workbenches, and what is written in between is counted: so the quota is passed by
what nobody counts, and by what was begun before, and not by what a measurement is late.
"""

from contextlib import suppress
from typing import Literal

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.home_index.storage import sizes
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import RetentionSettings
from kbd.core.sessions.indexer import HomeIndexer
from kbd.core.store.keeper import Keeper
from kbd.core.workbench.rows import disk_bytes
from kbd.errors import KbdError, QuotaReached
from kbd.events.disk import CountingDisk
from kbd.figures import size

__all__ = ["HomeSizes", "HomeUsage", "QuotaStatus"]

MEASURE_S = 10.0
"""The interval in which a home with a quota is measured."""

REFUSED_MEASURE_S = 1.0
"""Who is refused by a figure that is older has it measured anew: there may be room again."""

_MEASURED_SHARE = 20
"""It is measured again after so many times as long as it took, at the earliest."""

QuotaStatus = Literal["none", "below", "warned", "reached"]
"""How a home stands to its quota."""

_log = get_logger(__name__)


class HomeSizes(msgspec.Struct, frozen=True):
    """What a home takes on disk; in bytes, but for the counts.

    Args:
        workbenches: How many have a folder.
        log: Their logs.
        blobs: The contents of their file versions.
        published: Their published files.
        caches: What else is in their folders; it is made anew where it is missing.
        archived: How many are archived.
        archives: Their archives.
        landed: The copies of landed files that are not done.
        daemon: The daemon's own log with its snapshots, and what it writes for its operator.
        index: The index of workbenches and runs.
    """

    workbenches: int = 0
    log: int = 0
    blobs: int = 0
    published: int = 0
    caches: int = 0
    archived: int = 0
    archives: int = 0
    landed: int = 0
    daemon: int = 0
    index: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        folders = self.log + self.blobs + self.published + self.caches
        return folders + self.archives + self.landed + self.daemon + self.index


class HomeUsage:
    """What a home takes on disk, as it was measured last, and what was written since.

    Args:
        home: The home.
        settings: The quota.
        index: What its workbenches take.
        daemon: The Keeper of the daemon's log, which knows the archives.

    Attributes:
        sizes: What was measured last.
        disk: Counts what is written; whatever makes the home grow is to write with it.
    """

    def __init__(
        self,
        home: Home,
        settings: RetentionSettings,
        index: HomeIndexer,
        daemon: Keeper[DaemonState, DaemonCommand],
    ) -> None:
        self._home, self._settings, self._index, self._daemon = home, settings, index, daemon
        self.sizes, self.disk = HomeSizes(), CountingDisk()
        # What the disk had counted when the last measurement began.
        self._counted_bytes = 0
        self._status: QuotaStatus = "none"
        self._measured_s = float("-inf")
        self._lock = anyio.Lock()

    @property
    def used_bytes(self) -> int:
        """What the home takes at most, but for what nobody counts: the outcome of workers."""
        return self.sizes.total + self.disk.written_bytes - self._counted_bytes

    @property
    def status(self) -> QuotaStatus:
        """How the home stands to its quota."""
        quota_bytes = self._settings.quota_bytes
        if not quota_bytes:
            return "none"
        if self.used_bytes >= quota_bytes:
            return "reached"
        is_near = self.used_bytes >= quota_bytes * self._settings.quota_warning_share
        return "warned" if is_near else "below"

    @property
    def warning(self) -> str:
        """What people should know of the quota; "" for nothing."""
        match self.status:
            case "reached":
                return f"{self._told}: new runs and files are refused, and what lands waits"
            case "warned":
                return f"{self._told}: make room with `kbd prune`, or raise retention.quota_bytes"
            case _:
                return ""

    @property
    def _told(self) -> str:
        used, quota = size(self.used_bytes), size(self._settings.quota_bytes)
        return f"the home takes {used} of its quota of {quota}"

    async def run(self) -> None:
        """Measure for ever, if there is a quota."""
        while self._settings.quota_bytes:
            begun_s = anyio.current_time()
            try:
                await self.measure()
            except KbdError as error:
                _log.warning("home_not_measured", fault=error.message)
            took_s = anyio.current_time() - begun_s
            await anyio.sleep(max(MEASURE_S, _MEASURED_SHARE * took_s))

    async def measure(self) -> HomeSizes:
        """Measure now, and return what was found; whoever comes meanwhile is given the same.

        Raises:
            KbdError: The index cannot be read.
        """
        asked_s = anyio.current_time()
        async with self._lock:
            if self._measured_s < asked_s:
                begun_s = anyio.current_time()
                # Before: what is written meanwhile counts twice rather than not at all.
                counted_bytes = self.disk.written_bytes
                self.sizes = await self._measure()
                self._measured_s, self._counted_bytes = begun_s, counted_bytes
                self._note_status()
        return self.sizes

    def check_room(self) -> None:
        """Check that the quota is not reached, by what was measured last and written since.

        Raises:
            QuotaReached: It is; something has to go, or the quota to be raised.
        """
        if self.status == "reached":
            raise QuotaReached(
                f"{self._told} (setting retention.quota_bytes): make room, or raise it",
                actions=("make room: `kbd prune --older 30d`", "raise retention.quota_bytes"),
                detail={
                    "quota_bytes": self._settings.quota_bytes,
                    "used_bytes": self.used_bytes,
                },
            )

    async def require_room(self) -> None:
        """Check that the quota is not reached, measuring anew before something is refused.

        Raises:
            QuotaReached: As for `check_room`.
            KbdError: As for `measure`.
        """
        is_old = anyio.current_time() - self._measured_s > REFUSED_MEASURE_S
        if self.status == "reached" and is_old:
            await self.measure()
        self.check_room()

    async def _measure(self) -> HomeSizes:
        if self._settings.quota_bytes:
            # Else what is written into a large folder would be forgotten until it is due.
            self._index.measure_anew()
        found = await self._index.read(sizes)
        known = self._daemon.state.workbenches.values()
        archives = [each.archive.size_bytes for each in known if each.archive is not None]
        daemon_bytes, index_bytes, landed_bytes = await run_sync(_measure_folders, self._home)
        return HomeSizes(
            workbenches=found.count,
            log=found.log,
            blobs=found.blobs,
            published=found.published,
            caches=found.total - found.log - found.blobs - found.published,
            archived=len(archives),
            archives=sum(archives),
            landed=landed_bytes,
            daemon=daemon_bytes,
            index=index_bytes,
        )

    def _note_status(self) -> None:
        """Tell the operator when the quota comes near, is reached, or is far again."""
        status, before = self.status, self._status
        self._status = status
        if status == before:
            return
        if status == "reached":
            _log.error("quota_reached", reason=self.warning)
        elif status == "warned":
            _log.warning("quota_near", reason=self.warning)
        elif before != "none":
            _log.info("quota_far", used_bytes=self.used_bytes)


def _measure_folders(home: Home) -> tuple[int, int, int]:
    """Return what the daemon's folder takes without the index, the index, and what landed."""
    index, index_bytes = home.index_file, 0
    for suffix in ("", "-wal", "-shm"):
        # SQLite removes what it keeps beside the file.
        with suppress(FileNotFoundError):
            index_bytes += index.with_name(f"{index.name}{suffix}").lstat().st_blocks * 512
    return disk_bytes(index.parent) - index_bytes, index_bytes, disk_bytes(home.landings)
