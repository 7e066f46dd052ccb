"""Trial of strangers' plugins: each is loaded in a process that may end, before the daemon does so.

What ends a process on the spot while it is imported (a library in C that does not fit the machine,
`os._exit`), or holds the interpreter for ever, could not be survived: the daemon would never start.
"""

import os
import resource
import select
import signal
import time
from collections.abc import Iterable, Mapping

import msgspec

from kbd.core.plugins.forked_call import die_with_parent
from kbd.core.plugins.hooks import LOADING_S, EntryPoint, installed_points, strangers
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.running_code import PluginCode
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.own_output import silent_output
from kbd.core.runtime.process_tree import signal_name
from kbd.core.runtime.settings import Settings

__all__ = ["try_loading"]

_log = get_logger(__name__)

_GRACE_S = 2.0
"""Beside the time that a daemon gives them, which only what holds the interpreter outlasts."""


def try_loading(
    settings: Settings,
    environment: Mapping[str, str],
    *,
    found: Iterable[EntryPoint] | None = None,
) -> dict[PluginCode, str]:
    """Return the plugins that a process does not load, with the reasons: it ends, or they are late.

    Forks: to be called while the process has one thread. Whoever has no stranger's plugin waits
    for nothing.

    Args:
        settings: As `Plugins.discover` needs them.
        environment: Likewise.
        found: The entry points; those that are installed if None.
    """
    left_out: dict[PluginCode, str] = {}
    loaded: set[str] = set()
    left_s = LOADING_S
    for point in strangers(installed_points() if found is None else found):
        # Of two of one name the second is not loaded, if the first can be.
        if point.name in loaded:
            continue
        began_s = time.monotonic()
        try:
            outcome = _try(point, settings, environment, left_s)
        except OSError as error:
            # No process, or no memory for one: it is loaded untried.
            _log.warning("plugin_not_tried", plugin=point.name, error=error.strerror)
            continue
        left_s = max(0.0, left_s - (time.monotonic() - began_s))
        if outcome.is_loaded:
            loaded.add(point.name)
        if outcome.reason:
            left_out[PluginCode(point.name, point.version)] = outcome.reason
    return left_out


class _Outcome(msgspec.Struct, frozen=True):
    """What became of a plugin: whether it was loaded, and why it must not be; "" if it may."""

    is_loaded: bool
    reason: str = ""


def _try(
    point: EntryPoint, settings: Settings, environment: Mapping[str, str], loading_s: float
) -> _Outcome:
    """Load one plugin in a process of its own, which tells when it has come to the end."""
    # No file with a name: a full disk is no fault of a plugin.
    with open(os.memfd_create("outcome"), "w+b") as told:
        parent = os.getpid()
        process = os.fork()
        if not process:
            try:
                die_with_parent(parent)
                # It has the daemon's memory, with the keys of providers.
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                # What a plugin prints is told when the daemon loads it.
                with silent_output():
                    plugins = Plugins.discover(
                        settings, environment=environment, found=[point], loading_s=loading_s
                    )
                late = plugins.statuses[0].reason if plugins.has_late else None
                outcome = _Outcome(bool(plugins.loaded()), late or "")
                os.pwrite(told.fileno(), msgspec.json.encode(outcome), 0)
            finally:
                # Whatever was raised: no handler and no caller of the parent's is for this process.
                os._exit(0)
        how = _how_it_ended(process, loading_s + _GRACE_S)
        try:
            return msgspec.json.decode(told.read(), type=_Outcome)
        except msgspec.MsgspecError:
            return _Outcome(is_loaded=False, reason=how)


def _how_it_ended(process: int, limit_s: float) -> str:
    """Wait for a process, not for ever, and say how it ended."""
    held = os.pidfd_open(process)
    try:
        ends = select.poll()
        ends.register(held, select.POLLIN)
        is_late = not ends.poll(limit_s * 1000)
        if is_late:
            signal.pidfd_send_signal(held, signal.SIGKILL)
    finally:
        os.close(held)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if is_late:
        return "loading it holds up the process for ever"
    if code < 0:
        return f"loading it ends the process ({signal_name(-code)})"
    return f"loading it ends the process (exit code {code})"
