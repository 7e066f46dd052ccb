"""Process that verifies logs for the scrubber, seen from the daemon."""

import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import msgspec
from anyio.abc import ByteSendStream
from anyio.streams.buffered import BufferedByteReceiveStream

from kbd.core.runtime.module_process import open_module
from kbd.core.runtime.paths import Home
from kbd.core.sessions.scrub.messages import (
    LENGTH,
    BlobsReached,
    LogScrubbed,
    ScrubAnswer,
    ScrubLog,
    ScrubRequest,
    ScrubTurn,
)
from kbd.errors import ToolWorkerUnavailable
from kbd.events.shortages import raise_shortage

__all__ = ["VerifierProcess", "open_verifier"]


class VerifierProcess:
    """The process, at work. Made by `open_verifier`.

    Args:
        requests: Its standard input.
        answers: Its standard output.
    """

    def __init__(self, requests: ByteSendStream, answers: BufferedByteReceiveStream) -> None:
        self._requests, self._answers = requests, answers
        # One message at a time: a turn may come while another one is sent.
        self._sending = anyio.Lock()

    async def scrub(
        self, request: ScrubLog, tell: Callable[[BlobsReached], Awaitable[None]]
    ) -> LogScrubbed:
        """Verify a log; return what was found.

        Args:
            request: Which, and from where on.
            tell: Takes how far it has come.

        Raises:
            ToolWorkerUnavailable: The process ended meanwhile.
        """
        try:
            await self._send(request)
            while True:
                (length,) = LENGTH.unpack(await self._answers.receive_exactly(LENGTH.size))
                packed = await self._answers.receive_exactly(length)
                answer: ScrubAnswer = msgspec.msgpack.decode(packed, type=ScrubAnswer)
                if isinstance(answer, LogScrubbed):
                    return answer
                await tell(answer)
        except (anyio.BrokenResourceError, anyio.IncompleteRead, anyio.EndOfStream) as error:
            raise ToolWorkerUnavailable("the process that verifies logs ended") from error

    async def pause(self) -> None:
        """Have it stop where it is, at once; it keeps what it has."""
        await self._turn(ScrubTurn("pause"))

    async def go_on(self) -> None:
        """Have it go on where it was."""
        await self._turn(ScrubTurn("go on"))

    async def _turn(self, turn: ScrubTurn) -> None:
        try:
            await self._send(turn)
        except anyio.BrokenResourceError:
            pass  # It ended; who waits for its answer is told.

    async def _send(self, request: ScrubRequest) -> None:
        packed = msgspec.msgpack.encode(request)
        # Whole or not at all: half a message would be the beginning of the next.
        with anyio.CancelScope(shield=True):
            async with self._sending:
                await self._requests.send(LENGTH.pack(len(packed)) + packed)


@asynccontextmanager
async def open_verifier(home: Home) -> AsyncIterator[VerifierProcess]:
    """Start the process; it ends, whatever it is doing, when the block does.

    Raises:
        KbdError: It cannot be started: the machine lacks something.
    """
    pipe, folder = subprocess.PIPE, str(home.folder)
    try:
        process = await open_module("kbd.core.audit.scrub_main", folder, stdin=pipe, stdout=pipe)
    except OSError as error:
        raise_shortage(error)
        raise ToolWorkerUnavailable("the process that verifies logs cannot be started") from error
    try:
        assert process.stdin is not None, "it was asked for"
        assert process.stdout is not None, "likewise"
        yield VerifierProcess(process.stdin, BufferedByteReceiveStream(process.stdout))
    finally:
        # It holds nothing that would have to be put in order.
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                process.kill()
            await process.aclose()
