"""Faults of plugins: counted, told, and after the third one the plugin is left out.

What a plugin of somebody else does wrong while the daemon runs is a fault of that plugin: it
raises what is no error of kbd, exits, hangs, holds up the event loop, returns something else than
is due. Each one is that call's error. After the third one nothing of the plugin is called any more
until the daemon starts again. Of calls in workers those count that fail with different files, and
with none in between that went well: what some files do to their reader is the files' fault, or who
sends three could take a format from everybody.

The plugins that come with kbd are never left out, or a hostile file could take a format from
everybody.
"""

import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext

from kbd.core.plugins.running_code import PluginCode, RunningCode
from kbd.core.runtime.diagnostics import get_logger
from kbd.errors import ToolWorkerUnavailable

__all__ = ["MAX_FAULTS", "STALL_S", "PluginBlocked", "PluginFaults", "PluginGone"]

MAX_FAULTS = 3
"""As many, and a plugin is left out (reliability, F13)."""

STALL_S = 0.25
"""A plugin's step in the event loop that takes longer is reported (reliability, F13)."""

BLOCK_S = 2.0
"""One that takes longer is ended, as far as Python can."""

_AGAIN_S = 0.5

LeftOut = Callable[[str, str], None]
"""Told a plugin's name, and after what it is left out."""


class PluginGone(ToolWorkerUnavailable):
    """The plugin was left out for its faults."""

    retryable_by_default = False


class PluginBlocked(BaseException):
    """Raised within a plugin's code that holds up the event loop.

    It is no `Exception`, so that a plugin that takes those for its own does not hide it.
    """


class PluginFaults:
    """The faults of a daemon's plugins.

    Args:
        exempt: The names of plugins that are never left out.
        running: Where those of others stand while their code runs.

    Attributes:
        versions: The versions of the others, by their names.
    """

    def __init__(self, exempt: Collection[str] = (), running: RunningCode | None = None) -> None:
        self.exempt: Collection[str] = exempt
        self.versions: Mapping[str, str] = {}
        self._running = running or RunningCode()
        self._told: dict[str, list[tuple[str, str]]] = {}
        """What went wrong since, and with which file."""
        self._files: set[tuple[str, str]] = set()
        self._left_out: dict[str, str] = {}
        self._observers: list[LeftOut] = []
        self._log = get_logger(__name__)

    def observe(self, left_out: LeftOut) -> None:
        """Have a function told of each plugin that is left out from now on."""
        self._observers.append(left_out)

    def reason(self, plugin: str) -> str | None:
        """Return after what a plugin was left out ("3 faults: …"), or None if it was not."""
        return self._left_out.get(plugin)

    def check(self, plugin: str) -> None:
        """Raise PluginGone for a plugin that was left out."""
        reason = self._left_out.get(plugin)
        if reason is not None:
            raise PluginGone(
                f"the plugin {plugin} was left out after {reason}",
                actions=("restart the daemon to load it again, or block it with blocked_plugins",),
                detail={"plugin": plugin},
            )

    def note(
        self, plugin: str, what: str, fault: BaseException | None = None, file: str = ""
    ) -> None:
        """Note a fault.

        Args:
            plugin: Whose.
            what: What went wrong, without anything that the plugin says: that may hold a key.
            fault: What was raised, for the daemon's own log.
            file: The content that it went wrong with, if one; only the first fault with it counts.
        """
        self._log.warning("plugin_fault", plugin=plugin, fault=what, exc_info=fault)
        if plugin in self.exempt or plugin in self._left_out or (plugin, file) in self._files:
            return
        if file:
            self._files.add((plugin, file))
        told = self._told.setdefault(plugin, [])
        told.append((what, file))
        if len(told) < MAX_FAULTS:
            return
        last = ", the last" if len({each for each, _ in told}) > 1 else ""
        reason = f"{MAX_FAULTS} faults{last}: {what}"
        self._left_out[plugin] = reason
        self._log.error("plugin_left_out", plugin=plugin, reason=reason)
        for observer in self._observers:
            observer(plugin, reason)

    def note_success(self, plugin: str) -> None:
        """Note that a plugin has read a file well: the files that it failed with were to blame."""
        told = self._told.get(plugin)
        if told:
            told[:] = [each for each in told if not each[1]]

    @contextmanager
    def step(self, plugin: str, what: str) -> Iterator[None]:
        """Run a step of a plugin's code in the event loop: tell if it takes long, end if it blocks.

        The code of a plugin that comes with kbd is not ended, nor that in another thread than the
        main one, where Python takes signals.

        Raises:
            PluginBlocked: It was ended.
        """
        is_stranger = plugin not in self.exempt
        is_guarded = is_stranger and threading.current_thread() is threading.main_thread()
        code = PluginCode(plugin, self.versions.get(plugin, ""))
        began_s = time.monotonic()
        try:
            with (
                self._running.entered(code) if is_stranger else nullcontext(),
                _alarm() if is_guarded else nullcontext(),
            ):
                yield
        finally:
            took_s = time.monotonic() - began_s
            if took_s > STALL_S:
                seconds = round(took_s, 3)
                self._log.warning("loop_stalled", plugin=plugin, call=what, seconds=seconds)


@contextmanager
def _alarm() -> Iterator[None]:
    """Raise PluginBlocked within the block if it takes too long, as often as it takes."""
    is_within = True

    def ring(number: int, frame: object) -> None:
        del number, frame
        if is_within:
            msg = f"it held up the event loop for more than {BLOCK_S:g} s"
            raise PluginBlocked(msg)

    before = signal.signal(signal.SIGALRM, ring)
    # Again: code that hides what it is told goes on as it was.
    left_s, _ = signal.setitimer(signal.ITIMER_REAL, BLOCK_S, _AGAIN_S)
    try:
        try:
            yield
        finally:
            is_within = False
    # Apart: it may ring before that is noted.
    finally:
        # A plugin that wraps another one's model is within a step of its own.
        signal.setitimer(signal.ITIMER_REAL, left_s, _AGAIN_S if left_s else 0)
        signal.signal(signal.SIGALRM, before)
