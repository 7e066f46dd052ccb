"""Outbound call: a key and an HTTP client lent, each request recorded, each reply redacted."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal, TypeVar

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.plugins.host import Owned
from kbd.core.runtime.hosts import Host
from kbd.core.runtime.secrets import Secrets
from kbd.core.runtime.settings import EgressSettings
from kbd.core.store.redaction import Redaction
from kbd.errors import KbdError, ProviderAuthFailed
from kbd.events.workbenches import RequestSent
from kbd.messages import Decline, ToolCall
from kbd.providers import Ask, Embedder, Emit, ModelReply, Provider
from kbd.types import CallId

__all__ = [
    "OutboundCalls",
    "ProviderAccess",
    "RecordSent",
    "RedactedStream",
    "RequestPurpose",
    "load_http_client",
    "redact_error",
    "redact_reply",
]


class RedactedStream:
    """Stream of a text in pieces, redacted: a key that is split over them is not passed on.

    What may be the beginning of a key waits for the next piece.

    Args:
        redaction: The known keys.
        emit: Takes what may be shown.
    """

    def __init__(self, redaction: Redaction, emit: Emit) -> None:
        self._redaction, self._emit = redaction, emit
        self._pending = ""

    def __call__(self, piece: str) -> None:
        """Take a piece."""
        text = self._pending + piece
        settled = self._redaction.settled(text)
        self._pending = text[settled:]
        if settled:
            self._emit(self._redaction.text(text[:settled]))

    def finish(self) -> None:
        """Flush what waits: no more comes."""
        if self._pending:
            self._emit(self._redaction.text(self._pending))
            self._pending = ""


def redact_reply(reply: ModelReply, redaction: Redaction) -> ModelReply:
    """Redact known keys in a reply: in its text and in the arguments of its calls."""
    if not redaction.has_keys:
        return reply
    calls = tuple(
        ToolCall(
            CallId(redaction.text(call.id)),
            redaction.text(call.name),
            redaction.json_text(call.arguments),
            redaction.text(call.fault),
        )
        for call in reply.tool_calls
    )
    finish = redaction.text(reply.finish_reason)
    refusal = reply.refusal
    if refusal is not None:
        refusal = Decline(
            redaction.text(refusal.reason),
            redaction.text(refusal.understood),
            tuple(map(redaction.text, refusal.suggestions)),
        )
    return msgspec.structs.replace(
        reply,
        text=redaction.text(reply.text),
        tool_calls=calls,
        finish_reason=finish,
        refusal=refusal,
    )


def redact_error(error: KbdError, redaction: Redaction) -> KbdError:
    """Redact known keys in an error's message and facts; the error itself is changed."""
    error.message = redaction.text(error.message)
    error.args = (error.message,)
    error.actions = tuple(redaction.text(action) for action in error.actions)
    error.detail = redaction.value(error.detail)
    return error


RecordSent = Callable[[RequestSent], Awaitable[object]]
"""Makes durable, in a workbench's log, that a request is about to leave; raises if it cannot."""

T = TypeVar("T")


class ProviderAccess(msgspec.Struct, frozen=True):
    """`kbd.providers.Access`: what a provider holds during one call."""

    api_key: str | None
    base_url: str | None
    http_client: Any
    timeout_s: float
    ask: Ask | None = None

    def __repr__(self) -> str:
        # A trace or a log shows reprs, and this one has the key.
        return "ProviderAccess(…)"


class RequestPurpose(msgspec.Struct, frozen=True):
    """Purpose of a call's requests, as they are recorded: the model, what for, the log.

    Args:
        model_id: The model, or "" where they are about none.
        purpose: What they are for.
        record: Takes each one before it leaves.
    """

    model_id: str
    purpose: Literal["turn", "validate", "embed", "summarize"]
    record: RecordSent


class OutboundCalls:
    """Calls of plugins across the gateway, each lent what reaches its own address and no other.

    Args:
        of_plugin: What a plugin's hooks were given, by its entry-point name.
        secrets: Keys.
        redaction: What keeps known keys out of what is kept.
        allowed: The hosts that settings name; all if there are none.
        timeout_s: The longest pause between two pieces of an answer.
        limits: What an answer may hold.
    """

    def __init__(
        self,
        of_plugin: Callable[[str], dict[str, Any]],
        secrets: Secrets,
        redaction: Redaction,
        allowed: tuple[Host, ...],
        timeout_s: float,
        limits: EgressSettings,
    ) -> None:
        self._limits = limits
        self._of_plugin, self._secrets, self._redaction = of_plugin, secrets, redaction
        self._allowed, self._timeout_s = allowed, timeout_s
        self._pools: dict[str, Any] = {}

    async def aclose(self) -> None:
        """Close the connections."""
        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()

    async def call(
        self,
        owned: Owned[Provider] | Owned[Embedder],
        sending: RequestPurpose,
        work: Callable[[ProviderAccess], Awaitable[T]],
    ) -> T:
        """Do one call with a key and a client lent; what it raises holds no key.

        Raises:
            KbdError: What it raised, or why one of its requests was not sent.
        """
        party, owner = owned.item, owned.plugin.name
        base_url, timeout_s = self._of_plugin(owner).get("base_url"), self._timeout_s
        endpoint = party.status().endpoint
        if not endpoint:
            return await work(ProviderAccess(None, base_url, None, timeout_s))

        async def record_request(leaving: Any) -> None:
            sent = RequestSent(
                party.name, sending.model_id, leaving.endpoint, leaving.method,
                self._redaction.text(leaving.path),  # Some servers take their key there.
                leaving.bytes_out, sending.purpose,
            )  # fmt: skip
            await sending.record(sent)

        # A command that asks its user to unlock something is not waited for once the run is over.
        find = partial(self._secrets.key, owner)
        key = await run_sync(find, abandon_on_cancel=True)
        confined = await self._confined_client(party.name, endpoint, record_request)
        try:
            made = await work(ProviderAccess(key, base_url, confined.client, timeout_s))
        except Exception as error:
            if isinstance(error, ProviderAuthFailed):
                self._secrets.invalidate(owner)  # A command may print another one by now.
            failure = confined.refusal or error
            if not isinstance(failure, KbdError):
                raise
            # Without its cause, whose text and request may hold the key.
            raise redact_error(failure, self._redaction) from None
        finally:
            with anyio.CancelScope(shield=True):
                # With its call, or a plugin that keeps the client could use it later.
                await confined.client.aclose()
        if confined.refusal is not None:
            raise redact_error(confined.refusal, self._redaction)
        return made

    async def _confined_client(self, provider_id: str, endpoint: str, record: Any) -> Any:
        # In a thread the first time: the client and its certificates take some 100 ms.
        http_client, connection_pool = await run_sync(load_http_client)
        if provider_id not in self._pools:
            made = await run_sync(connection_pool.ConnectionPool, self._limits.answer_bytes)
            self._pools.setdefault(provider_id, made)
        pool = self._pools[provider_id]
        return http_client.ConfinedClient(
            pool, endpoint, self._allowed, record, self._timeout_s, self._limits
        )


def load_http_client() -> tuple[Any, Any]:
    """Return the modules of the HTTP client and of its connections. Blocks."""
    from kbd.core.gateway import (  # noqa: PLC0415 - 92 ms that offline need not pay
        connection_pool,
        http_client,
    )

    return http_client, connection_pool
