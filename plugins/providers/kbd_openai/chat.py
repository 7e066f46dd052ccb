"""One call of the chat completions, with the client library. Imported on the first call only."""

from json import JSONDecodeError
from typing import Any, cast

import httpx2
import openai
import openai.resources.chat.completions  # what the first use would import, in the event loop

from kbd.errors import KbdError, NetworkUnavailable, ProviderNotConfigured, ProviderUnavailable
from kbd.providers import Access, Emit, ModelReply, ModelRequest
from kbd_openai.assembly import Assembly
from kbd_openai.faults import clean, fault_of_status, fault_of_stream, retry_after_s
from kbd_openai.wire import body

__all__ = ["Turn"]


class Turn:
    """A turn that is ready to be sent; building it blocks for some 50 ms the first time.

    Args:
        request: The turn.
        access: What is lent for it. The HTTP client is not closed.
    """

    def __init__(self, request: ModelRequest, access: Access) -> None:
        self._request = request
        self._access = access
        self._client = openai.AsyncOpenAI(
            # Servers without keys still get a header; the library insists on a value.
            api_key=access.api_key or "none",
            base_url=_http_address(access.base_url),
            http_client=access.http_client,
            max_retries=0,
            timeout=access.timeout_s,
        )

    async def __call__(self, emit: Emit) -> ModelReply:
        """Send it and return the reply; see `Provider.complete` for what it raises."""
        try:
            return await self._stream(emit)
        # No cause is kept: the library's errors quote the server's answer, which may quote the key.
        except openai.APIStatusError as error:
            raise self._status_fault(error) from None
        except (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError) as error:
            raise self._connection_fault(error) from None
        except openai.APIError as error:
            raise fault_of_stream(error.body, error.message, self._access.api_key) from None
        except (JSONDecodeError, UnicodeDecodeError):
            raise ProviderUnavailable("The answer was not JSON.") from None

    async def _stream(self, emit: Emit) -> ModelReply:
        assembly = Assembly(self._request, emit)
        # The body is checked by our own records; the library's types would only restate it.
        create = cast("Any", self._client.chat.completions.create)
        stream = await create(**body(self._request, official=self._access.base_url is None))
        async with stream:
            async for chunk in stream:
                assembly.feed(_plain(chunk))
        return assembly.reply()

    def _status_fault(self, error: openai.APIStatusError) -> KbdError:
        said = error.body.get("message") if isinstance(error.body, dict) else None
        text = clean(said or error.message, self._access.api_key)
        headers = error.response.headers
        return fault_of_status(
            error.status_code, str(error.code or ""), text, retry_after_s(headers)
        )

    def _connection_fault(self, error: Exception) -> KbdError:
        cause: BaseException | None = error
        while cause is not None:
            # The lent client refuses other addresses than the provider's with an error of kbd.
            if isinstance(cause, KbdError):
                return cause
            if isinstance(cause, httpx2.ConnectTimeout):
                return NetworkUnavailable("No connection to the provider within the time allowed.")
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            msg = f"The provider sent nothing for {self._access.timeout_s:g} s."
            return ProviderUnavailable(msg)
        return NetworkUnavailable("The connection to the provider could not be made, or it broke.")


def _http_address(base_url: str | None) -> str:
    if base_url is None:
        return "https://api.openai.com/v1"
    try:
        scheme = httpx2.URL(base_url).scheme
    except httpx2.InvalidURL:
        scheme = ""
    if scheme not in ("http", "https"):
        raise ProviderNotConfigured("OPENAI_BASE_URL is not an http or https address.")
    return base_url


def _plain(chunk: object) -> object:
    """Return a chunk as the server sent it: the library builds its records without checking."""
    return chunk.model_dump(warnings=False) if isinstance(chunk, openai.BaseModel) else chunk
