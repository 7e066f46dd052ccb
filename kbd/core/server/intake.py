"""Request reader of one client: reads what has arrived, and stops while something has to wait."""

import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

import anyio

from kbd.core.runtime.diagnostics import get_logger
from kbd.core.server.in_flight import InFlight
from kbd.core.server.limits import ServerLimits
from kbd.core.server.outbox import Outbox
from kbd.core.server.poller import PolledSocket
from kbd.rpc import Framer, FramingError, encode_refusal
from kbd.rpc.parsing import Code

__all__ = ["Intake", "WaitingMessages"]

_CHUNK_BYTES = 64 * 1024
"""How much is read at once: some hundred requests, answered before anybody else is served."""

log = get_logger()


class WaitingMessages(NamedTuple):
    """Messages that must wait, for a place or for room in the outbox.

    Args:
        messages: They, in order.
        wants_place: Whether too many requests are in flight; else too many answers wait.
    """

    messages: Sequence[bytes]
    wants_place: bool


class Intake:
    """Reads the requests of one client; while something has to wait, nothing more is read.

    Args:
        sock: The client.
        framer: Cuts what arrives into messages.
        limits: How long a message may take to end.
        watch: Tells when bytes have arrived; not yet taken.
        outbox: Where answers are put.
        crew: The requests that are in flight.
        serve: Answers messages, or begins to; returns those that must wait.

    Attributes:
        is_closing: Whether no message is to be taken any more.
    """

    def __init__(
        self,
        sock: socket.socket,
        framer: Framer,
        limits: ServerLimits,
        watch: PolledSocket,
        outbox: Outbox,
        crew: InFlight,
        serve: Callable[[Sequence[bytes]], WaitingMessages | None],
    ) -> None:
        self.is_closing = False
        self._socket = sock
        self._framer = framer
        self._limits = limits
        self._watch = watch
        self._outbox = outbox
        self._crew = crew
        self._serve = serve
        self._rest: WaitingMessages | None = None
        self._is_midway = False
        self._has_ended = False
        self._summoned = anyio.Event()
        watch.served = self

    async def run(self) -> None:
        """Serve what arrives until the client has sent its last message."""
        while not self.is_closing:
            if self._rest is not None:
                await self._turn(self._rest)
                messages, self._rest = self._rest.messages, None
                self._take(messages)
            elif self._has_ended:
                break
            else:
                self._summoned = anyio.Event()
                self._note_midway(has_ended_one=False)
                self._watch.read(wanted=True)
                await self._summoned.wait()
        self.is_closing = True

    def close(self) -> None:
        """Take nothing any more."""
        self.is_closing = True
        self._outbox.stir()
        self._end()

    def readable(self) -> None:
        """Take what has arrived and answer it, as far as nothing has to wait."""
        try:
            self._receive()
        except Exception as error:
            log.error("connection failed", exc_info=error)
            self.close()

    def writable(self) -> None:
        """Go on sending."""
        self._outbox.send()

    def overdue(self) -> None:
        """Give up on a message that takes too long to end."""
        self._refuse("a message was not finished")

    def _receive(self) -> None:
        try:
            chunk = self._socket.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""  # the client is gone
        if not chunk:
            self._end()
            return
        try:
            messages = self._framer.feed(chunk)
        except FramingError as error:
            self._refuse(str(error))
            return
        if self._framer.is_midway or self._is_midway:
            self._note_midway(has_ended_one=bool(messages))
        self._take(messages)

    def _take(self, messages: Sequence[bytes]) -> None:
        rest = self._serve(messages)
        if rest is not None:
            self._rest, self._is_midway = rest, False
            self._pause()
        if not self._outbox.is_idle:
            self._outbox.send()

    async def _turn(self, rest: WaitingMessages) -> None:
        """Wait until what had to wait can be served."""
        while rest.wants_place and self._crew.is_full:
            await self._crew.next_end()
        while self._outbox.is_full and not self.is_closing:
            await self._outbox.moved()

    def _refuse(self, reason: str) -> None:
        """Answer what cannot be cut into messages; nothing behind it can be understood."""
        self._outbox.put(encode_refusal(None, Code.PARSE, f"parse error: {reason}"))
        self._end()

    def _end(self) -> None:
        """Read no more at all."""
        self._has_ended = True
        self._pause()

    def _pause(self) -> None:
        """Read no more until `run` has seen to it."""
        self._watch.read(wanted=False)
        self._watch.expect(None)
        self._summoned.set()

    def _note_midway(self, *, has_ended_one: bool) -> None:
        """Give a message that has begun its time to end."""
        is_midway = self._framer.is_midway
        if not is_midway:
            self._watch.expect(None)
        elif has_ended_one or not self._is_midway:
            self._watch.expect(self._limits.partial_s)
        self._is_midway = is_midway
