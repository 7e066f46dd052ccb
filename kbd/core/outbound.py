"""An HTTP client that can reach one address; imported when a provider first needs it."""

import httpx2

from kbd.errors import EgressBlockedByPolicy

__all__ = ["confined_client"]

_DEFAULT_PORTS = {"http": 80, "https": 443}


class _Confined(httpx2.AsyncHTTPTransport):
    """Refuses every request to another host or port than the one it was made for."""

    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self._endpoint = endpoint

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, if it goes where it may.

        Raises:
            EgressBlockedByPolicy: It does not.
        """
        port = request.url.port or _DEFAULT_PORTS.get(request.url.scheme, 0)
        asked = f"{request.url.host}:{port}"
        if asked != self._endpoint:
            msg = f"a request to {asked} was refused: the provider is at {self._endpoint}"
            raise EgressBlockedByPolicy(msg)
        return await super().handle_async_request(request)


def confined_client(endpoint: str, timeout_s: float) -> httpx2.AsyncClient:
    """Return a client that can reach `endpoint` (host:port) and no other, without redirects.

    Args:
        endpoint: Host and port.
        timeout_s: The longest pause between two pieces of an answer.
    """
    return httpx2.AsyncClient(
        transport=_Confined(endpoint),
        follow_redirects=False,
        timeout=httpx2.Timeout(timeout_s, connect=min(timeout_s, 30.0)),
    )
