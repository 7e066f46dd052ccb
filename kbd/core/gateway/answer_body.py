"""Answer of a provider with its limits: nothing encoded, no endless line, little of a refusal.

Nothing is inflated: an answer with a content encoding is refused before its body is read. Of the
head only what says how to read the body stays as it came: a charset could name a codec whose work
grows with the square of what it reads, a cookie would be parsed for nobody.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import anyio
import httpx2

from kbd.core.runtime.settings import EgressSettings
from kbd.errors import KbdError
from kbd.providers import MalformedReply

__all__ = ["limited_answer"]

PIECES_A_REST = 64
REST_S = 0.002
"""So many pieces are read without a rest. A network read may be full of pieces of one byte, each of
which costs as much as a large one (20 us, 2 cores, 2026): without rests they take the event loop
from everybody else, and 30,000 pieces a second are more than any model writes."""

_ENCODED = b"the answer came compressed and was not read"


async def limited_answer(
    response: httpx2.Response,
    limits: EgressSettings,
    read_s: float | None,
    refuse: Callable[[KbdError], None],
) -> httpx2.Response:
    """Return an answer with a body that keeps to its limits.

    Args:
        response: The answer; nothing of its body was read.
        limits: What it may hold.
        read_s: As long as the body of a refusal may take; None for ever.
        refuse: Told when the body passes a limit.

    Raises:
        MalformedReply: It is encoded, and no refusal; of one that is, the status counts.
    """
    body = response.stream
    assert isinstance(body, httpx2.AsyncByteStream)
    encodings = response.headers.get_list("content-encoding", split_commas=True)
    is_encoded = any(name.strip().lower() not in ("", "identity") for name in encodings)
    response.headers = _plain_headers(response.headers)
    if is_encoded:
        await body.aclose()
        if response.is_success:
            msg = (
                "the answer came compressed, though kbd asks for none that is; have the server, "
                "or the proxy before it, send answers as they are"
            )
            raise MalformedReply(msg)
        response.stream = httpx2.ByteStream(_ENCODED)
    elif response.is_success:
        response.stream = _AnswerBody(body, limits.line_bytes, refuse)
    else:
        response.stream = _RefusalBody(body, limits.error_bytes, read_s)
    return response


def _plain_headers(headers: httpx2.Headers) -> httpx2.Headers:
    kept: list[tuple[bytes, bytes]] = []
    for name, value in headers.raw:
        match name.lower():
            case b"content-encoding" | b"set-cookie":
                continue
            case b"content-type":
                kept.append((name, value.partition(b";")[0].strip()))
            case _:
                kept.append((name, value))
    return httpx2.Headers(kept)


class _AnswerBody(httpx2.AsyncByteStream):
    """Body of an answer, none of whose lines is longer than it may be.

    How long it may be in all, the connection knows; how long it may take, its reader.

    Args:
        body: The body.
        line_bytes: The longest line.
        refuse: Told when a line is longer.
    """

    def __init__(
        self, body: httpx2.AsyncByteStream, line_bytes: int, refuse: Callable[[KbdError], None]
    ) -> None:
        self._body, self._line_bytes, self._refuse = body, line_bytes, refuse

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield its pieces; raises MalformedReply past a limit."""
        line = number = 0
        try:
            async with aclosing(aiter(self._body)) as pieces:  # type: ignore[type-var]
                async for piece in pieces:
                    # Either ends a line of server-sent events.
                    end = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
                    # A piece is at most what was read at once, so its own lines need no look.
                    line = line + len(piece) if end < 0 else len(piece) - end - 1
                    if line > self._line_bytes:
                        raise MalformedReply(self._too_long())
                    number += 1
                    if number % PIECES_A_REST == 0:
                        await anyio.sleep(REST_S)
                    yield piece
        except KbdError as refusal:
            self._refuse(refusal)
            raise

    def _too_long(self) -> str:
        return (
            f"a line of the answer does not end: more than {self._line_bytes:,} bytes of it came "
            "(setting egress.line_bytes)"
        )

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()


class _RefusalBody(httpx2.AsyncByteStream):
    """Body of a refusal: its beginning, which must come in time, however fast it trickles.

    The client's library reads all of it before it tells of the status.

    Args:
        body: The body.
        limit_bytes: As much of it is read.
        limit_s: The time, from the first read; None for ever.
    """

    def __init__(
        self, body: httpx2.AsyncByteStream, limit_bytes: int, limit_s: float | None
    ) -> None:
        self._body, self._limit_bytes, self._limit_s = body, limit_bytes, limit_s

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield its pieces; raises ReadTimeout."""
        limit_s, left = self._limit_s, self._limit_bytes
        deadline = None if limit_s is None else anyio.current_time() + limit_s
        async with aclosing(aiter(self._body)) as pieces:  # type: ignore[type-var]
            while left > 0:
                piece: bytes | None = None
                # Around each read alone: no scope may be open while a piece is with the reader.
                with anyio.CancelScope() as reading:
                    reading.deadline = reading.deadline if deadline is None else deadline
                    piece = await anext(pieces, None)
                if reading.cancelled_caught:
                    raise httpx2.ReadTimeout("the answer's body did not come to its end in time")
                if piece is None:
                    return
                yield piece[:left]
                left -= len(piece)

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()
