"""Calls of a server with the client library. Imported on the first call only."""

from collections.abc import Mapping, Sequence
from json import JSONDecodeError
from typing import Any

import httpx2
import openai

from kbd.errors import (
    ContextExhausted,
    KbdError,
    NetworkUnavailable,
    ProviderNotConfigured,
    ProviderUnavailable,
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
from kbd_openai.faults import (
    ServerFault,
    clean,
    fault_of_status,
    fault_of_stream,
    retry_after_s,
    size_fault,
)
from kbd_openai.request_body import refused_option
from kbd_openai.responses import ResponsesReader, responses_body

__all__ = ["Caller"]

PLAIN = openai.AsyncStream[object]
"""A stream of plain JSON values: the library's records are not checked, so they help nobody."""

CHECK_S = 20.0
"""The longest pause of a check: somebody waits for it."""

MAX_EMBEDDINGS_BYTES = 64 * 1024 * 1024
"""Ten times what 32 of the longest vectors there are take as JSON."""

NOT_OFFERED = frozenset({404, 405, 501})
"""Statuses of servers that list no models; the connection was made all the same."""

_BROKEN = (
    openai.APIConnectionError,
    httpx2.HTTPError,
    httpx2.StreamError,
    JSONDecodeError,
    UnicodeDecodeError,
)
"""Errors of an answer that breaks off; the others say what went wrong."""

_FAULTS = (*_BROKEN, openai.APIError, ServerFault)


class Caller:
    """Calls one server; building it blocks for some 50 ms the first time.

    Args:
        access: The key, the address and the HTTP client of the call; the client is not closed.
        own_url: Another address than the access's; the key is not for it.
    """

    def __init__(self, access: Access, own_url: str | None = None) -> None:
        self._access = access
        self._client = openai.AsyncOpenAI(
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
        pieces: list[bytes] = []
        size_bytes = 0
        try:
            # As a stream, only so that an answer without end does not fill memory.
            stream = await self._client.post(
                "/embeddings", body=body, cast_to=object, stream=True, stream_cls=PLAIN
            )
            async with stream:
                async for piece in stream.response.aiter_bytes():
                    pieces.append(piece)
                    size_bytes += len(piece)
                    if size_bytes > MAX_EMBEDDINGS_BYTES:
                        raise MalformedReply("the answer does not end")
        except openai.APIStatusError as error:
            raise size_fault(error.status_code, _server_message(error)) or self._translated(
                error, None
            ) from None
        except _FAULTS as error:
            raise self._translated(error, None) from None
        return b"".join(pieces)

    async def check(self) -> None:
        """Ask for the list of models; see `Provider.validate` for what it raises."""
        client = self._client.with_options(timeout=min(self._access.timeout_s, CHECK_S))
        try:
            answer = await client.get("/models", cast_to=httpx2.Response)
            # A captive portal answers 200 with a page: only JSON tells that a server of this API is
            # there.
            answer.json()
        except openai.APIStatusError as error:
            if error.status_code not in NOT_OFFERED:
                raise self._translated(error, None) from None
        except _FAULTS as error:
            raise self._translated(error, None) from None

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
                async for piece in stream:
                    reader.feed(piece)
        # No cause is kept: the library's errors quote the server's answer, which may quote the key.
        except _FAULTS as error:
            # What was said to its end stands, though the usage or the end mark did not come.
            if assembly.finish_reason is None or not isinstance(error, _BROKEN):
                raise self._translated(error, request) from None
        return assembly.reply()

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
            msg = f"the provider sent nothing for {self._access.timeout_s:g} s"
            return ProviderUnavailable(msg)
        return NetworkUnavailable("the connection to the provider could not be made, or it broke")


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
