"""sd_notify: what the service manager that started the daemon is told, and its watchdog.

The protocol is that of sd_notify(3): datagrams of `NAME=value` lines, sent to the socket that
`NOTIFY_SOCKET` names. Without that variable nothing is sent. systemd counts a service of
`Type=notify` as started when it says `READY=1`, and kills one that owes it a `WATCHDOG=1` for
longer than `WatchdogSec`.
"""

import os
import socket
import threading
from collections.abc import Callable, MutableMapping
from contextlib import suppress

import anyio

from kbd.core.runtime.diagnostics import get_logger
from kbd.errors import KbdError

__all__ = ["ServiceNotifier"]

SEND_TIMEOUT_S = 5.0
"""How long a manager may leave its socket full before a message to it is given up."""

POLLS = 40
"""How often within the time of the watchdog it is looked whether the probe was answered."""

Probe = Callable[[], threading.Event]
"""Asks a thread that must work for a sign of life; it sets the event. May raise
KbdError, which is no sign."""

_log = get_logger(__name__)


class ServiceNotifier:
    """Notifier of the service manager. It raises nothing: no daemon fails for who looks on.

    Args:
        address: The manager's socket: an absolute path, or "@" and an abstract name; "" for none.
        watchdog_s: Seconds within which the manager wants the next sign of life; None if it does
            not.
    """

    def __init__(self, address: str, watchdog_s: float | None = None) -> None:
        # Of other kinds of addresses (vsock) there are none for a service of this machine.
        self._address = address if address.startswith(("/", "@")) else ""
        self.watchdog_s = watchdog_s if self._address else None

    @classmethod
    def take(cls, environment: MutableMapping[str, str]) -> "ServiceNotifier":
        """Take the manager's variables out of an environment, so that no child inherits them."""
        address = environment.pop("NOTIFY_SOCKET", "")
        time_us = environment.pop("WATCHDOG_USEC", "")
        pid = environment.pop("WATCHDOG_PID", "")
        # sd_watchdog_enabled(3): with another process's number the variable is that one's.
        is_own = pid in ("", str(os.getpid()))
        is_wanted = is_own and time_us.isascii() and time_us.isdigit() and int(time_us) > 0
        return cls(address, int(time_us) / 1e6 if is_wanted else None)

    async def notify(self, *lines: str) -> None:
        """Send lines as one message; a manager whose socket is full is waited for, a while."""
        if not self._address:
            return
        try:
            with anyio.move_on_after(SEND_TIMEOUT_S), self._connected() as connected:
                while not _send(connected, lines):
                    await anyio.wait_writable(connected)
        except OSError as error:
            # There may be no descriptor left.
            _log.warning("service_manager_not_told", reason=error.strerror or str(error))

    def notify_at_once(self, *lines: str) -> None:
        """Send lines as one message, outside of an event loop; lost if the socket is full."""
        if self._address:
            with suppress(OSError), self._connected() as connected:
                _send(connected, lines)

    async def keep_alive(self, probe: Probe) -> None:
        """Give a sign of life each half of the watchdog's time, for as long as there is life.

        The event loop shows that it turns by coming here. The thread that is probed shows it by its
        answer; without it no sign is given, and the manager restarts the daemon.

        Args:
            probe: Asks the thread.
        """
        if self.watchdog_s is None:
            return
        while True:
            await self._wait_answered(probe, self.watchdog_s / POLLS)
            await self.notify("WATCHDOG=1")
            await anyio.sleep(self.watchdog_s / 2)

    async def _wait_answered(self, probe: Probe, poll_s: float) -> None:
        polls, answered = 0, None
        while answered is None or not answered.is_set():
            if answered is None:
                # Descriptors or threads may have run out: asked again.
                with suppress(KbdError):
                    answered = probe()
            polls += 1
            if polls == POLLS // 2:
                _log.warning("watchdog_withheld", reason="the log's thread does not answer")
            await anyio.sleep(poll_s)

    def _connected(self) -> socket.socket:
        """Return a socket for one message. Made anew each time: the manager may have restarted."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        made.setblocking(False)  # noqa: FBT003 - the standard library's signature
        name = self._address
        try:
            made.connect(f"\0{name[1:]}" if name.startswith("@") else name)
        except OSError as error:
            _log.warning("service_manager_unreachable", reason=error.strerror or str(error))
        return made


def _send(connected: socket.socket, lines: tuple[str, ...]) -> bool:
    """Send lines; return False if the receiver has no room. One that is gone gets nothing."""
    # A line of its own could say anything: each is one.
    text = "\n".join(line.replace("\n", " ") for line in lines)
    try:
        connected.send(text.encode("utf-8", "replace"))
    except BlockingIOError:
        return False
    except OSError:
        pass  # told when it was connected to
    return True
