"""Start of the daemon, as its log has it: which one it is, where its home lies, which plugins.

A home that is copied as files brings the log of its origin along, and with it consents and watched
folders. The folder itself has another number, so a start tells that it is not the one that an
earlier start saw, and whether that one is still there (reliability, H12).
"""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from kbd import __version__
from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.restore_text import home_warning
from kbd.core.plugins.faults import MAX_FAULTS
from kbd.core.plugins.host import Plugins, PluginStatus
from kbd.core.plugins.running_code import PluginCode, RunningCode
from kbd.core.runtime import diagnostics
from kbd.core.store.keeper import Keeper
from kbd.errors import LogCorrupt
from kbd.events.vocabulary import Event
from kbd.events.workbenches import (
    DaemonStarted,
    HomePlace,
    PluginEndedDaemon,
    PluginLeftOut,
    PluginLoaded,
)

__all__ = ["load_plugins", "look_at_start", "record_start"]

_log = diagnostics.get_logger(__name__)


def look_at_start(state: DaemonState, home: Path, backend: str) -> DaemonStarted:
    """Return the fact of a start, after looking where the home lies. Blocks.

    Args:
        state: What the log says so far.
        home: The home, which is there.
        backend: "asyncio" or "trio".
    """
    found = home.stat()
    place = HomePlace(str(home), found.st_dev, found.st_ino)
    before = state.home or place
    # Numbers of devices may be given anew when the machine starts: at the same path, with the same
    # number in it, it is the same folder.
    is_known = place.inode == before.inode and (
        place.device == before.device or place.folder == before.folder
    )
    known_at = state.copied_from if is_known else before
    # Of a backup no path is looked at: a stranger's may name a place that is mounted then.
    is_copy = known_at is not None and not state.restored and _is_there(known_at)
    return DaemonStarted(
        state.epoch + 1,
        os.getpid(),
        __version__,
        backend,
        home=place,
        known_at=known_at if is_copy or not is_known else None,
        is_copy=is_copy,
    )


def _is_there(place: HomePlace) -> bool:
    """Return whether the folder of a start before is still at its place."""
    try:
        found = os.stat(place.folder)
    except (OSError, ValueError):
        return False
    return (found.st_dev, found.st_ino) == (place.device, place.inode)


async def load_plugins(
    daemon: Keeper[DaemonState, DaemonCommand],
    running_file: Path,
    discover: Callable[..., Plugins],
    left_out: Mapping[PluginCode, str],
) -> Plugins:
    """Load the plugins, but those whose code ended the daemon too often.

    Args:
        daemon: The daemon's log, which is to have the end of the daemon before first: loading may
            end this one likewise.
        running_file: What names the plugin whose code ran when the daemon before ended.
        discover: `Plugins.discover`, with what it needs beside what runs and what is left out.
        left_out: What else is not to be loaded, with the reasons.
    """
    running = await run_sync(RunningCode, running_file)
    if (left := running.left) is not None:
        if daemon.journal.log.damage is None:
            await daemon.submit(RecordDaemon((PluginEndedDaemon(left.name, left.version),)))
        _log.error("plugin_ended_daemon", plugin=left.name, version=left.version)
    running.clear()
    ended = {
        PluginCode(name, version): (
            f"the daemon ended {times} times while its code ran; another version is loaded again,"
            " and so is this one when blocked_plugins has named it for a start"
        )
        for name, (version, times) in daemon.state.plugin_ends.items()
        if times >= MAX_FAULTS
    }
    return await run_sync(partial(discover, running=running, left_out={**left_out, **ended}))


async def record_start(
    daemon: Keeper[DaemonState, DaemonCommand],
    started: DaemonStarted,
    plugins: Plugins,
    tasks: TaskGroup,
) -> None:
    """Record the start, which plugins are not as they were, and those that are left out later.

    Where the daemon's log is damaged nothing is recorded: the facts of an earlier start stand.
    """
    if warning := home_warning(started):
        _log.warning("home_known_elsewhere", message=warning)
    if daemon.journal.log.damage is not None:
        return
    facts = [started, *_plugin_facts(daemon.state.plugins, plugins.statuses)]
    await daemon.submit(RecordDaemon(tuple(facts)))
    plugins.faults.observe(partial(_record_left_out, daemon, tasks))


def _plugin_facts(known: dict[str, str], statuses: Iterable[PluginStatus]) -> list[Event]:
    facts: list[Event] = []
    names: set[str] = set()
    for status in statuses:
        # The second of a name is told apart, or each start would find that the plugin of that name
        # is not as it was.
        name = f"{status.name} of {status.source}" if status.name in names else status.name
        names.add(status.name)
        if status.status == "loaded":
            if known.get(name) != status.version:
                facts.append(PluginLoaded(name, status.version, status.source))
        else:
            if known.get(name) != f"left out: {status.reason}":
                is_blocked = status.status == "blocked"
                facts.append(PluginLeftOut(name, status.reason or status.status, is_blocked))
            _log.warning("plugin_left_out", plugin=name, reason=status.reason)
    return facts


def _record_left_out(
    daemon: Keeper[DaemonState, DaemonCommand], tasks: TaskGroup, plugin: str, reason: str
) -> None:
    """Record that a plugin is called no more, as soon as the Keeper comes to it."""

    async def record() -> None:
        # Damage that a reader met since: the plugin is left out all the same.
        with suppress(LogCorrupt):
            await daemon.submit(RecordDaemon((PluginLeftOut(plugin, reason),)))

    tasks.start_soon(record)
