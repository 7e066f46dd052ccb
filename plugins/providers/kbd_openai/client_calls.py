"""Calls of a server with the client library. Imported on the first call only."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import openai

from kbd.errors import (
    ContextExhausted,
    KbdError,
    NetworkUnavailable,
    ProviderNotConfigured,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.providers import (
    Access,
    Emit,
    MalformedReply,
    ModelReply,
    ModelRequest,
    OptionRefused,
)
from kbd_openai.assembly import Assembly
from kbd_openai.chat import ChatReader, chat_body
from kbd_openai.event_stream import DONE, NO_EVENT, EventDecoder
from kbd_openai.faults import (
    ServerFault,
    clean,
    fault_of_status,
    fault_of_stream,
    retry_after_s,
    size_fault,
)
from kbd_openai.identification import NOT_LISTED, check_listing, check_refusal, foreign
from kbd_openai.request_body import refused_option
from kbd_openai.responses import ResponsesReader, responses_body

__all__ = ["Caller"]

PLAIN = openai.AsyncStream[object]
"""A stream that is read by its bytes: the library puts no limit on what it makes values of."""

CHECK_S = 20.0
"""The longest pause of a check: somebody waits for it."""

MAX_EMBEDDINGS_BYTES = 16 * 1024 * 1024
"""Twice what 32 of the longest vectors there are take as JSON, indented."""

MAX_LISTING_BYTES = 2 * 1024 * 1024
"""Four times what the longest list of models takes."""

EVENTS_A_TURN = 64
"""After so many events the event loop has a turn: a piece may hold thousands of small ones."""

DRAIN_S = 0.1
"""As long an answer's end is waited for after its end mark, so that the connection can be used
again."""

_BROKEN = (
    openai.APIConnectionError,
    httpx2.HTTPError,
    httpx2.StreamError,
    *NO_EVENT,
)
"""Errors of an answer that breaks off; the others say what went wrong."""

_FAULTS = (*_BROKEN, openai.APIError, ServerFault)


class _Client(openai.AsyncOpenAI):
    """Client of the library that sends nothing of the environment.

    It would add an organization, a project and any further headers to each request, whichever
    server that goes to; nobody is told of them, and what is secret in them is not known as a key.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.organization = self.project = self.admin_api_key = None
        # A copy with other options is made by this class, too.
        self._custom_headers = {}


class Caller:
    """Calls one server; building it blocks for some 50 ms the first time.

    Args:
        access: The key, the address and the HTTP client of the call; the client is not closed.
        own_url: Another address than the access's; the key is not for it.
    """

    def __init__(self, access: Access, own_url: str | None = None) -> None:
        self._access = access
        self._client = _Client(
            # Servers without keys still get a header; the library insists on a value.
            api_key=(not own_url and access.api_key) or "none",
            base_url=_http_address(own_url or access.base_url),
            http_client=access.http_client,
            # Each attempt is kbd's, and an event: those of the library would go unseen.
            max_retries=0,
            timeout=access.timeout_s,
        )

    async def chat(self, request: ModelRequest, emit: Emit) -> ModelReply:
        """Make a turn of the chat completions; see `Provider.complete` for what it raises."""
        assembly = Assembly(request, emit)
        body = chat_body(request, official=self._access.base_url is None)
        return await self._turn("/chat/completions", body, request, assembly, ChatReader(assembly))

    async def respond(self, request: ModelRequest, emit: Emit) -> ModelReply:
        """Make a turn of the Responses API; see `Provider.complete` for what it raises."""
        assembly = Assembly(request, emit)
        reader = ResponsesReader(assembly)
        return await self._turn("/responses", responses_body(request), request, assembly, reader)

    async def embed(self, model: str, texts: Sequence[str]) -> bytes:
        """Ask for vectors and return the answer's body.

        No form of the numbers is asked for: plain ones are every server's own, some refuse the
        parameter, and some take it and ignore it.

        Raises:
            ContextExhausted: These are too many texts, or too long a one, for the server.
            KbdError: As for `Provider.complete`.
        """
        body = {"model": model, "input": list(texts)}
        try:
            # As a stream, only so that an answer without end does not fill memory.
            stream = await self._client.post(
                "/embeddings", body=body, cast_to=object, stream=True, stream_cls=PLAIN
            )
            return await _whole_body(stream, MAX_EMBEDDINGS_BYTES)
        except openai.APIStatusError as error:
            raise size_fault(error.status_code, _server_message(error)) or self._translated(
                error, None
            ) from None
        except _FAULTS as error:
            raise self._translated(error, None) from None

    async def check(self, path: str) -> None:
        """Ask for the list of models; see `Provider.validate` for what it raises.

        A server that has none is asked for an empty turn, which costs nothing: it is refused.

        Args:
            path: Where turns are asked for.

        Raises:
            MalformedReply: What answers is no server of this API.
            KbdError: As for `Provider.complete`.
        """
        client = self._client.with_options(timeout=min(self._access.timeout_s, CHECK_S))
        try:
            stream = await client.get("/models", cast_to=object, stream=True, stream_cls=PLAIN)
            check_listing(await _whole_body(stream, MAX_LISTING_BYTES), self._access.api_key)
        except openai.APIStatusError as error:
            if error.status_code not in NOT_LISTED:
                raise _seen_as_foreign(self._translated(error, None)) from None
            await self._check_refusal(client, path)
        except _FAULTS as error:
            raise self._translated(error, None) from None

    async def _check_refusal(self, client: openai.AsyncOpenAI, path: str) -> None:
        try:
            stream = await client.post(path, body={}, cast_to=object, stream=True, stream_cls=PLAIN)
            await stream.close()
        except openai.APIStatusError as error:
            fault = self._translated(error, None)
            # A refused key, a limit, a server that is down: that is said of calls, too.
            if not isinstance(fault, ValidationFailed):
                raise fault from None
            check_refusal(error.status_code, error.response.content, path)
        except _FAULTS as error:
            raise self._translated(error, None) from None
        else:
            check_refusal(stream.response.status_code, b"", path)

    async def _turn(
        self,
        path: str,
        body: Mapping[str, Any],
        request: ModelRequest,
        assembly: Assembly,
        reader: ChatReader | ResponsesReader,
    ) -> ModelReply:
        try:
            stream = await self._client.post(
                path, body=body, cast_to=object, stream=True, stream_cls=PLAIN
            )
            async with stream:
                await self._feed(stream.response, reader, assembly)
        # No cause is kept: the library's errors quote the server's answer, which may quote the key.
        except _FAULTS as error:
            # What was said to its end stands, though the usage or the end mark did not come.
            if assembly.finish_reason is None or not isinstance(error, _BROKEN):
                raise self._translated(error, request) from None
        return assembly.reply()

    async def _feed(
        self,
        response: httpx2.Response,
        reader: ChatReader | ResponsesReader,
        assembly: Assembly,
    ) -> None:
        """Read an answer to its end, as long as more of it comes.

        The client's own time-out is for each read, and ends with any byte: a comment or an empty
        piece that keeps the connection open would do for ever.

        Raises:
            ProviderUnavailable: Nothing of the answer came for too long, before it was told whole.
        """
        limit_s, seen = self._access.timeout_s, assembly.progress
        events, is_done = EventDecoder(), False
        with anyio.move_on_after(limit_s) as pause:
            async with aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    if is_done:
                        continue
                    is_done = await _feed_events(events.feed(piece), reader)
                    if is_done:
                        pause.deadline = anyio.current_time() + DRAIN_S
                    elif assembly.progress != seen:
                        seen = assembly.progress
                        pause.deadline = anyio.current_time() + limit_s
        if pause.cancelled_caught and not is_done and assembly.finish_reason is None:
            msg = (
                f"the provider kept the connection open, but sent nothing of an answer for "
                f"{limit_s:g} s (setting run.provider_s)"
            )
            raise ProviderUnavailable(msg)

    def _translated(self, error: Exception, request: ModelRequest | None) -> KbdError:
        """Return the error of kbd for one of the client library."""
        key = self._access.api_key
        match error:
            # In this order: the first two kinds derive from `APIError`, which the third case takes.
            case openai.APIStatusError():
                return self._refusal(error, request)
            case openai.APIConnectionError() | httpx2.HTTPError() | httpx2.StreamError():
                return self._no_connection(error)
            case openai.APIError():
                return fault_of_stream(error.body, error.message, key)
            case ServerFault():
                return fault_of_stream(error.body, "the provider failed", key)
            case _:
                return MalformedReply("the answer was not JSON")

    def _refusal(self, error: openai.APIStatusError, request: ModelRequest | None) -> KbdError:
        fields = error.body if isinstance(error.body, dict) else {"message": error.message}
        text, code = clean(_server_message(error), self._access.api_key), str(error.code or "")
        wait_s = retry_after_s(error.response.headers)
        fault = fault_of_status(error.status_code, code, text, wait_s)
        option = refused_option(error.status_code, fields, request) if request else None
        # A request that is too long is told so, whatever else is named.
        if option is None or isinstance(fault, ContextExhausted):
            return fault
        return OptionRefused(fault.message, option)

    def _no_connection(self, error: Exception) -> KbdError:
        cause: BaseException | None = error
        while cause is not None:
            # The lent client refuses other addresses than the provider's with an error of kbd.
            if isinstance(cause, KbdError):
                return cause
            if isinstance(cause, httpx2.ConnectTimeout):
                return NetworkUnavailable("no connection to the provider within the time allowed")
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            msg = f"the provider sent nothing of an answer for {self._access.timeout_s:g} s"
            return ProviderUnavailable(msg)
        return NetworkUnavailable("the connection to the provider could not be made, or it broke")


async def _feed_events(events: Iterator[bytes], reader: ChatReader | ResponsesReader) -> bool:
    """Take events; True after the end mark."""
    for number, data in enumerate(events, 1):
        if data.startswith(DONE):
            return True
        reader.feed(data)
        if number % EVENTS_A_TURN == 0:
            await anyio.lowlevel.checkpoint()
    return False


async def _whole_body(stream: openai.AsyncStream[object], max_bytes: int) -> bytes:
    """Return the body of an answer, and close it.

    Raises:
        MalformedReply: It is larger than that.
    """
    pieces: list[bytes] = []
    size_bytes = 0
    async with stream:
        with anyio.CancelScope() as reading:
            async for piece in stream.response.aiter_bytes():
                size_bytes += len(piece)
                if size_bytes <= max_bytes:
                    pieces.append(piece)
                else:
                    # From within: the library's generators, left half read, are not closed on trio.
                    reading.cancel()
    if size_bytes > max_bytes:
        raise MalformedReply("the answer does not end")
    return b"".join(pieces)


def _seen_as_foreign(fault: KbdError) -> KbdError:
    """Return the fault of a check: who refuses to be asked for the models is no such server."""
    return foreign(fault.message) if isinstance(fault, ValidationFailed) else fault


def _server_message(error: openai.APIStatusError) -> object:
    """Return the server's own message, as it stands."""
    fields = error.body if isinstance(error.body, dict) else {}
    return fields.get("message") or fields.get("detail") or error.message


def _http_address(base_url: str | None) -> str:
    if base_url is None:
        return "https://api.openai.com/v1"
    try:
        scheme = httpx2.URL(base_url).scheme
    except httpx2.InvalidURL:
        scheme = ""
    if scheme not in ("http", "https"):
        raise ProviderNotConfigured("OPENAI_BASE_URL is not an http or https address")
    return base_url
