"""Collector of traces: the address that the settings name, reached as a provider's is.

No redirect is followed, no proxy and no password of the environment is used, `egress.hosts` holds,
and each request is recorded before a byte of it leaves.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
from anyio.to_thread import run_sync

from kbd.core.gateway.outbound_call import load_http_client
from kbd.core.runtime.hosts import Host, parse_host
from kbd.core.runtime.settings import EgressSettings

__all__ = ["Collector"]

ANSWER_TIMEOUT_S = 30.0
"""How long a collector may take for one trace, from the connection to the end of its answer."""


class Collector:
    """Client of a collector of OpenTelemetry.

    Args:
        address: Where it takes traces.
        settings: The hosts that may be reached, and what may come back.
    """

    def __init__(self, address: str, settings: EgressSettings) -> None:
        self.address, self._settings = address, settings
        self._allowed: tuple[Host, ...] = tuple(map(parse_host, settings.hosts))
        self._pool: Any = None

    async def send(self, trace: bytes, record: Callable[[Any], Awaitable[None]]) -> int:
        """Send a trace, and return the status of the answer.

        Args:
            trace: A request of OTLP in JSON.
            record: Makes durable that it is about to leave; takes an `OutboundRequest`.

        Raises:
            EgressBlockedByPolicy: The settings name other hosts.
            KbdError: It cannot be recorded.
            ConnectionError: Nobody answers, or not in time, or in a way that is no answer.
        """
        http_client, connection_pool = await run_sync(load_http_client)
        if self._pool is None:
            self._pool = await run_sync(connection_pool.ConnectionPool, self._settings.error_bytes)
        confined = http_client.ConfinedClient(
            self._pool,
            urlsplit(self.address).netloc,
            self._allowed,
            record,
            ANSWER_TIMEOUT_S,
            self._settings,
        )
        headers = {"Content-Type": "application/json"}
        try:
            with anyio.fail_after(ANSWER_TIMEOUT_S):
                async with confined.client as client:
                    answer = await client.post(self.address, content=trace, headers=headers)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody took the trace
            if confined.refusal is not None:
                raise confined.refusal from None
            # Its own text may have more of the address than a log should.
            raise ConnectionError(f"no answer ({type(error).__name__})") from None
        return int(answer.status_code)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            await self._pool.aclose()
            self._pool = None
