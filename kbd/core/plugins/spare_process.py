"""Spare process of a zygote: forked ahead, so that the next call need not wait for a fork.

It has done what every call does first: it has left the zygote's channels and made a group of its
own. And if no call comes at once it runs the plugin's warm-ups, after which the first use of a
library is as quick as the second: its pages are mapped. A call that comes meanwhile need not wait
for all of them, where they are done in steps. It knows nothing of any call until it gets one, does
that one, and ends.
"""

import contextlib
import os
import pkgutil
import select
import signal
import socket
import traceback
from collections.abc import Generator, Sequence
from typing import NoReturn

import msgspec

from kbd.core.plugins import forked_call
from kbd.core.plugins.worker_messages import PACKET_BYTES, Call

__all__ = ["WARM_UP_TIMEOUT_S", "SpareProcess", "wait_for_call"]

_PAUSE_S = 0.1
"""Seconds without a call before the warm-ups. Where calls follow each other, a recipe's file takes
an eighth less of the processor without them, and no longer."""

WARM_UP_TIMEOUT_S = 10
"""Seconds after which a spare process that still warms up is ended, processor time or not."""

_READY = b"r"
_END = object()


class SpareProcess:
    """Spare process seen from its zygote.

    Args:
        pid: Its process.
        channel: Ours to it.
        must_warm: Whether it is given no call before it has warmed up, and says so.
    """

    def __init__(self, pid: int, channel: socket.socket, *, must_warm: bool) -> None:
        self.pid = pid
        self._channel = channel
        self._must_warm = must_warm
        self._channel.settimeout(0)

    def is_ready(self) -> bool:
        """Tell whether it may be given a call by now, which is asked until it may."""
        if not self._must_warm:
            return True
        try:
            return self._channel.recv(len(_READY)) == _READY
        except (BlockingIOError, ConnectionResetError):
            return False

    def hand_over(self, call: bytes, channel: socket.socket) -> bool:
        """Give it a call with the call's own channel; return False where it has died meanwhile."""
        try:
            socket.send_fds(self._channel, [call], [channel.fileno()])
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def close(self) -> None:
        """Close the channel to it, by which it ends if it has no call."""
        self._channel.close()


def wait_for_call(
    channel: socket.socket,
    warm_ups: Sequence[str],
    workplace: forked_call.Workplace,
    *,
    must_warm: bool,
) -> NoReturn:
    """Warm up, wait for a call and do it; called in the child right after the fork.

    Args:
        channel: To the zygote.
        warm_ups: Functions to call, as `module:qualname`.
        workplace: Where the process came from.
        must_warm: Whether the zygote waits until it is told that the warm-ups have ended.
    """
    try:
        forked_call.part_from_zygote(workplace.pid)
        if must_warm or not _has_call(channel, _PAUSE_S):
            _warm_up(warm_ups, channel)
        # Not where nobody reads it: what was never read resets the channel, and the call is lost.
        if must_warm:
            channel.send(_READY)
        packet, descriptors, _, _ = socket.recv_fds(channel, PACKET_BYTES, 1)
        channel.close()
        if packet:
            call = msgspec.msgpack.decode(packet, type=Call)
            forked_call.run_call(socket.socket(fileno=descriptors[0]), call, workplace)
    except BaseException:  # noqa: BLE001 - as in `run_call`
        traceback.print_exc()
    finally:
        # As in `run_call`: never back to the zygote's loop.
        os._exit(0)


def _warm_up(functions: Sequence[str], channel: socket.socket) -> None:
    """Call the plugin's warm-ups; one that fails leaves its first use slow, and nothing else.

    Between the steps of one that is a generator it is looked whether a call has come.
    """
    # It has the default action, which ends the process: nothing could wake a library that hangs.
    signal.alarm(WARM_UP_TIMEOUT_S)
    for name in functions:
        try:
            steps = pkgutil.resolve_name(name)()
            if isinstance(steps, Generator):
                with contextlib.closing(steps):
                    while not _has_call(channel) and next(steps, _END) is not _END:
                        pass
        except Exception:  # noqa: BLE001 - what a plugin raises; the daemon logs what is printed
            traceback.print_exc()
        if _has_call(channel):
            break
    signal.alarm(0)


def _has_call(channel: socket.socket, wait_s: float = 0) -> bool:
    """Tell whether a call comes into the channel in time, or the zygote has closed it."""
    return bool(select.select([channel], (), (), wait_s)[0])
