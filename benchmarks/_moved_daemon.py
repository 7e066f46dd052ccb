"""Daemon whose clock is moved on by whoever asks: `python -m benchmarks._moved_daemon HOME ORDERS`.

It is kbd's own daemon, assembled by its own `main`. Three things are not as usual: its clock is
ahead of the machine's by as much as it was told; a second socket, ORDERS, takes an `Order` a line,
by which a day ends at once that would take a day; and retention and collector rest nowhere between
two workbenches, where otherwise 10 ms and more are left to whoever waits for something. With
--scrub it looks each few seconds whether something is to be verified, and takes a second for idle.

`order` is the client of that socket.
"""

import argparse
import cProfile
import socket
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from kbd.core.api import daemon
from kbd.core.runtime.clock import SystemClock
from kbd.core.sessions import blob_collector, retention
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.blob_collector import BlobCollector
from kbd.core.sessions.retention import Retention
from kbd.core.sessions.scrub import scrubber
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.workbench import OpenWorkbench

__all__ = ["DayEnded", "Order", "order"]

_LINE_BYTES = 4096
_POLL_S = 0.02
_SCRUB = {"CHECK_S": 3.0, "IDLE_S": 1.0}


class Order(msgspec.Struct, frozen=True):
    """End of a day.

    Args:
        move_s: By so many seconds the clock is moved on first.
        collect: Whether blobs are collected before retention looks what is due.
    """

    move_s: float
    collect: bool = True


class DayEnded(msgspec.Struct, frozen=True):
    """What an order took.

    Args:
        now_us: The daemon's time.
        collected_s: Seconds that the collection of blobs took.
        applied_s: The same of the rules of retention.
    """

    now_us: int
    collected_s: float
    applied_s: float


class MovedClock(SystemClock):
    """The machine's clocks, ahead by some seconds: what was used before a move is idle after it.

    Args:
        ahead_s: By how many at first.
    """

    def __init__(self, ahead_s: float) -> None:
        self._ahead_us = int(ahead_s * 1_000_000)

    def now_us(self) -> int:
        """Return the time as it was moved, in microseconds since 1970 UTC."""
        return super().now_us() + self._ahead_us

    def monotonic_s(self) -> float:
        """Return the time as it was moved, in seconds on a clock that never goes back."""
        return super().monotonic_s() + self._ahead_us / 1_000_000

    def move(self, seconds: float) -> None:
        """Move it on."""
        self._ahead_us += int(seconds * 1_000_000)


class OrderedRetention(Retention):
    """Retention that is also applied when it is ordered, with a collection before.

    Args:
        context: The daemon's.
        workbenches: Its workbenches.
        clock: Its clock.
        orders: The socket on which orders come.
    """

    def __init__(
        self, context: ApiContext, workbenches: Workbenches, *, clock: MovedClock, orders: str
    ) -> None:
        super().__init__(context, workbenches)
        self._clock, self._orders, self._all = clock, orders, workbenches
        self._collector = BlobCollector(context, workbenches)

    async def run(self) -> None:
        """Apply the rules each hour, as ever, and serve orders."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(super().run)
            listener = await anyio.create_unix_listener(self._orders)
            await listener.serve(self._serve)

    async def _serve(self, client: SocketStream) -> None:
        async with client:
            line = await BufferedByteReceiveStream(client).receive_until(b"\n", _LINE_BYTES)
            done = await self._end_day(msgspec.json.decode(line, type=Order))
            await client.send(msgspec.json.encode(done) + b"\n")

    async def _end_day(self, order: Order) -> DayEnded:
        # What follows a publish follows it within seconds, not a day later.
        while any(map(_lacks_receipt, self._all.running())):  # noqa: ASYNC110 - nobody tells of it
            await anyio.sleep(_POLL_S)
        self._clock.move(order.move_s)
        begun_s = time.perf_counter()
        if order.collect:
            await self._collector.collect_all()
        collected_s = time.perf_counter()
        await self.apply()
        applied_s = time.perf_counter()
        return DayEnded(self._clock.now_us(), collected_s - begun_s, applied_s - collected_s)


def _lacks_receipt(workbench: OpenWorkbench) -> bool:
    publishes = workbench.state.publishes
    return any(publishes.at(place).receipt is None for place in range(len(publishes)))


def order(orders: Path, given: Order, timeout_s: float = 3600.0) -> DayEnded:
    """Send an order, and wait until it is done.

    Raises:
        OSError: The daemon does not answer in time.
        msgspec.DecodeError: It ended meanwhile.
    """
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(timeout_s)
        client.connect(str(orders))
        client.sendall(msgspec.json.encode(given) + b"\n")
        answer = b""
        while not answer.endswith(b"\n") and (chunk := client.recv(_LINE_BYTES)):
            answer += chunk
    return msgspec.json.decode(answer, type=DayEnded)


def main() -> int:
    """Run it until it is asked to stop; return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("home")
    parser.add_argument("orders")
    parser.add_argument("--ahead-s", type=float, default=0.0)
    parser.add_argument("--scrub", action="store_true", help="do not wait long to verify")
    parser.add_argument("--profile", help="a file for the profile of the daemon's main thread")
    given = parser.parse_args()
    clock = MovedClock(given.ahead_s)
    made = partial(OrderedRetention, clock=clock, orders=given.orders)
    vars(daemon).update(SystemClock=lambda: clock, Retention=made)
    vars(retention).update(_IDLE_PAUSE_S=0.0, _BUSY_PAUSE_S=0.0)
    vars(blob_collector).update(STEP_PAUSE_S=0.0)
    if given.scrub:
        vars(scrubber).update(_SCRUB)
    with ExitStack() as left:
        if given.profile:
            profile = left.enter_context(cProfile.Profile())
            left.callback(profile.dump_stats, given.profile)
        return daemon.main(given.home, "", "asyncio", "console", "stderr")


if __name__ == "__main__":
    sys.exit(main())
