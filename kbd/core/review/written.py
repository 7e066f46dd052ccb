"""Telling the daemon's log what kbd is about to write into folders, so that it starts no work."""

from collections.abc import Iterable

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_decisions import NoteWritten
from kbd.core.domain.watch_state import Watching, WatchStatus, Written
from kbd.core.draft.extract import real_folder
from kbd.core.store.keeper import Keeper
from kbd.events.base import FileVersion
from kbd.events.watches import FilesWritten

__all__ = ["note_written"]


async def note_written(
    daemon: Keeper[DaemonState, DaemonCommand],
    directory: str,
    files: Iterable[FileVersion],
    *,
    watch_id: str = "",
    depth: int = 0,
    threads: CapacityLimiter | None = None,
) -> None:
    """Record that files will be written below a folder, each where it really goes.

    What was recorded before is not recorded again. What a person wants written is only recorded if
    somebody watches there: nobody else asks.

    Args:
        daemon: The Keeper of the daemon's log.
        directory: The folder, an absolute path.
        files: The files; their names may have folders in them.
        watch_id: The watch that delivers them; "" for a person.
        depth: How deep in a chain of rules they were made.
        threads: Lends the threads that look at the folder; None for the usual ones.
    """
    folders: dict[str, list[str]] = {}
    for file in files:
        folder = await run_sync(real_folder, directory, file.name, limiter=threads)
        folders.setdefault(folder, []).append(file.blob)
    watching = daemon.state.watching
    for folder, hashes in folders.items():
        if not watch_id and not _is_watched(watching, folder):
            continue
        place = Written(folder, watch_id, depth)
        fresh = tuple(
            blob for blob in dict.fromkeys(hashes) if place not in watching.written.get(blob, ())
        )
        if fresh:
            written = FilesWritten(folder, fresh, watch_id, depth)
            await daemon.submit(NoteWritten(written))


def _is_watched(watching: Watching, folder: str) -> bool:
    """Return whether a folder is a watched one or lies below one."""
    return any(
        f"{folder}/".startswith(f"{watch.rule.folder.rstrip('/')}/")
        for watch in watching.watches.values()
        if watch.status is not WatchStatus.REMOVED
    )
