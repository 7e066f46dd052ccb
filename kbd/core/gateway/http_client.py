"""HTTP client of providers, confined to one address; imported when a provider first needs it.

A client is lent for one call. It reaches one host and port and no other, follows no redirect,
looks for no proxy and no password in the environment, keeps no cookie for the next call, and tells
of each request before a byte of it leaves: what cannot be recorded is not sent. What comes back is
limited by `answer_body` and, byte by byte, by the connections of `connection_pool`.
"""

from collections.abc import Awaitable, Callable, Sequence

import anyio
import httpx2
import msgspec

from kbd.core.gateway.answer_body import limited_answer
from kbd.core.runtime.hosts import Host, parse_host
from kbd.core.runtime.settings import EgressSettings
from kbd.errors import EgressBlockedByPolicy, KbdError, ValidationFailed

__all__ = ["ConfinedClient", "OutboundRequest", "RecordRequest"]

_DEFAULT_PORTS = {"http": 80, "https": 443}
_VERSION = b"HTTP/1.1"


class OutboundRequest(msgspec.Struct, frozen=True):
    """A request that is about to leave.

    Args:
        endpoint: Host and port.
        method: The HTTP method.
        path: The path of the address, without its query.
        bytes_out: Request line, headers and body, in bytes.
    """

    endpoint: str
    method: str
    path: str
    bytes_out: int


RecordRequest = Callable[[OutboundRequest], Awaitable[None]]
"""Makes durable that a request is about to leave, or raises."""


class ConfinedClient:
    """HTTP client of one call, confined to the provider's address.

    Args:
        pool: The provider's connections.
        endpoint: The provider's host and port.
        allowed: The hosts that settings name; all if there are none.
        record: Makes each request durable before it leaves.
        timeout_s: The longest pause between two pieces of an answer.
        limits: What an answer may hold.

    Attributes:
        client: What is lent.
        refusal: Why a request was not sent, or its answer not read on, the first time, whoever hid
            that.
    """

    def __init__(
        self,
        pool: httpx2.AsyncBaseTransport,
        endpoint: str,
        allowed: Sequence[Host],
        record: RecordRequest,
        timeout_s: float,
        limits: EgressSettings,
    ) -> None:
        self.refusal: KbdError | None = None
        self.client = httpx2.AsyncClient(
            transport=_ConfinedTransport(self, pool, endpoint, allowed, record, limits),
            # A redirect names another address, and takes key and contents along.
            follow_redirects=False,
            # A proxy of the environment would see every request, and .netrc would add a password.
            trust_env=False,
            # For each read, so that a trickle never reaches it. Until an answer begins, and in one
            # that is a refusal, the transport ends that; an answer itself is its reader's to end.
            timeout=httpx2.Timeout(timeout_s, connect=min(timeout_s, 30.0)),
        )

    def refuse(self, refusal: KbdError) -> None:
        """Note why a request or its answer was refused; the first reason stays."""
        self.refusal = self.refusal or refusal


class _ConfinedTransport(httpx2.AsyncBaseTransport):
    """Transport of what may leave. The pool outlives it, so closing it closes nothing."""

    def __init__(
        self,
        crossing: ConfinedClient,
        pool: httpx2.AsyncBaseTransport,
        endpoint: str,
        allowed: Sequence[Host],
        record: RecordRequest,
        limits: EgressSettings,
    ) -> None:
        self._crossing, self._pool, self._record = crossing, pool, record
        self._limits = limits
        self._endpoint, self._allowed = endpoint, tuple(allowed)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, if it goes where it may and that is recorded.

        Raises:
            EgressBlockedByPolicy: It does not.
            MalformedReply: Its answer passed a limit, or is encoded.
            KbdError: It cannot be recorded.
        """
        try:
            asked = self._checked(request)
            # Whole, before it is recorded: a body that streams could send more than was told.
            plain = await _buffered(request)
            await self._record(
                OutboundRequest(str(asked), plain.method, plain.url.path, _size_bytes(plain))
            )
            response = await _answered(self._pool, plain)
            # Whoever has the raw connection could send on it what nobody recorded.
            response.extensions.pop("network_stream", None)
            return await limited_answer(
                response, self._limits, _read_limit_s(plain), self._crossing.refuse
            )
        except KbdError as refusal:
            self._crossing.refuse(refusal)
            raise

    def _checked(self, request: httpx2.Request) -> Host:
        """Return where a request goes, if it may go there."""
        asked = _host_of(request.url)
        if not any(host.allows(asked) for host in _parsed(self._endpoint)):
            msg = f"a request to {asked} was refused: the provider is at {self._endpoint}"
            raise EgressBlockedByPolicy(msg)
        if self._allowed and not any(host.allows(asked) for host in self._allowed):
            msg = f"a request to {asked} was refused: egress.hosts does not name it"
            raise EgressBlockedByPolicy(msg)
        # Behind a shared front end it is this header that says who gets the request.
        for named in request.headers.get_list("host"):
            if not any(_with_port(host, asked) == asked for host in _parsed(named)):
                msg = f"a request to {asked} was refused: its Host header names another host"
                raise EgressBlockedByPolicy(msg)
        return asked


async def _answered(pool: httpx2.AsyncBaseTransport, request: httpx2.Request) -> httpx2.Response:
    """Send a request and return its answer, which began within the time for one read.

    If it did not, for its head came by the byte or other heads came before it, that is a time-out
    as silence is one.
    """
    limit_s = _read_limit_s(request)
    if limit_s is None:
        return await pool.handle_async_request(request)
    with anyio.CancelScope() as waiting:

        async def follow(step: str, _: object) -> None:
            # Not before: what is sent may be large, and the line slow.
            if step.endswith("receive_response_headers.started"):
                waiting.deadline = anyio.current_time() + limit_s

        request.extensions["trace"] = follow
        response = await pool.handle_async_request(request)
    if waiting.cancelled_caught:
        raise httpx2.ReadTimeout("the answer did not begin in time", request=request)
    return response


def _read_limit_s(request: httpx2.Request) -> float | None:
    """Return the longest pause between two pieces of a request's answer; None for any."""
    limit_s: float | None = request.extensions.get("timeout", {}).get("read")
    return limit_s


async def _buffered(request: httpx2.Request) -> httpx2.Request:
    """Return a request as it is sent: its body whole, and nothing that would send it elsewhere.

    Of the extensions only the time-outs stay; others name another target or another host.
    """
    body = await request.aread()
    skipped = {"transfer-encoding", "content-length", "accept-encoding"}
    headers = [(name, value) for name, value in request.headers.raw if _lower(name) not in skipped]
    # What is compressed is not read: some kilobytes can be hundreds of megabytes.
    headers.append((b"accept-encoding", b"identity"))
    timeout = {k: v for k, v in request.extensions.items() if k == "timeout"}
    return httpx2.Request(
        request.method, request.url, headers=headers, content=body, extensions=timeout
    )


def _size_bytes(request: httpx2.Request) -> int:
    line = len(request.method.encode()) + len(request.url.raw_path) + len(_VERSION) + 4
    headers = sum(len(name) + len(value) + 4 for name, value in request.headers.raw)
    return line + headers + 2 + len(request.content)


def _host_of(url: httpx2.URL) -> Host:
    port = url.port or _DEFAULT_PORTS.get(url.scheme)
    try:
        host = parse_host(f"[{url.raw_host.decode()}]")
    except ValidationFailed:
        raise EgressBlockedByPolicy("a request to no host was refused") from None
    return msgspec.structs.replace(host, port=port or 0)


def _parsed(text: str) -> tuple[Host, ...]:
    try:
        return (parse_host(text),)
    except ValidationFailed:
        return ()


def _with_port(host: Host, asked: Host) -> Host:
    return host if host.port is not None else msgspec.structs.replace(host, port=asked.port)


def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()
