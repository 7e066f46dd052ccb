"""The provider `openai`: how it is set up, and one turn."""

from collections.abc import Mapping, Sequence
from functools import partial
from ipaddress import ip_address
from typing import Any, ClassVar
from urllib.parse import urlsplit

import anyio.to_thread

from kbd.errors import ProviderNotConfigured, ProviderUnavailable
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)

__all__ = ["OpenAIProvider", "stays_here"]

NO_KEY = (
    "No key and no address are set: set OPENAI_API_KEY, "
    "or OPENAI_BASE_URL for an OpenAI-compatible server."
)
NO_MODEL = (
    "No model is named: set KBD_MODEL=openai:NAME, "
    "or default_model in the settings file, or choose one with --model openai:NAME."
)
DEFAULT_ENDPOINT = "api.openai.com:443"
DEFAULT_TOTAL_TIMEOUT_S = 900.0
"""A turn of a slow model with a long answer takes minutes; an endless trickle must still end."""


class OpenAIProvider(Provider):
    """Models behind OpenAI's chat completions, at OpenAI or at any server that speaks them.

    Args:
        settings: `base_url`, `model` (the name without prefix) and `has_key`, as kbd merges them;
            optionally `total_timeout_s` (the longest turn), and of the configured model
            `context_tokens`, `input_price` and `output_price` (US dollars a million tokens).
    """

    name: ClassVar[str] = "openai"
    takes_any_model: ClassVar[bool] = True

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._total_timeout_s = float(settings.get("total_timeout_s", DEFAULT_TOTAL_TIMEOUT_S))

    def models(self) -> Sequence[ModelInfo]:
        """Return the configured model; there is no list that every server would agree with."""
        name = self._settings.get("model")
        if not name:
            return ()
        known = {
            key: self._settings[key]
            for key in ("context_tokens", "input_price", "output_price")
            if key in self._settings
        }
        return (ModelInfo(id=f"{self.name}:{name}", **known),)

    def status(self) -> ProviderStatus:
        """Return how the provider is set up: without a model's name it has no default to offer."""
        base_url = self._settings.get("base_url") or None
        has_key = bool(self._settings.get("has_key"))
        reason = None
        if not (base_url or has_key):
            reason = NO_KEY
        elif not self._settings.get("model"):
            reason = NO_MODEL
        return ProviderStatus(
            configured=reason is None,
            leaves_machine=not stays_here(base_url),
            reason=reason,
            auth_mode="api_key" if has_key or not base_url else "none",
            endpoint=_endpoint(base_url),
        )

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn, streaming; see `Provider.complete` for what it raises.

        The client library is imported on the first call, in a thread.
        """
        if not (access.api_key or access.base_url):
            raise ProviderNotConfigured(NO_KEY)
        if not request.model:
            raise ProviderNotConfigured(NO_MODEL)
        turn = await anyio.to_thread.run_sync(partial(_prepare, request, access))
        with anyio.move_on_after(self._total_timeout_s) as deadline:
            reply: ModelReply = await turn(emit)
        if deadline.cancelled_caught:
            msg = f"The answer was not complete after {self._total_timeout_s:g} s."
            raise ProviderUnavailable(msg)
        return reply


def stays_here(base_url: str | None) -> bool:
    """Tell whether what is sent to an address stays on this machine.

    Only what is certain counts: a loopback address, `localhost`.
    """
    if not base_url:
        return False
    try:
        host = urlsplit(base_url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _endpoint(base_url: str | None) -> str:
    if not base_url:
        return DEFAULT_ENDPOINT
    try:
        address = urlsplit(base_url)
        port = address.port or (443 if address.scheme == "https" else 80)
        host = f"[{address.hostname}]" if ":" in (address.hostname or "") else address.hostname
        return f"{host}:{port}" if host else "invalid address"
    except ValueError:
        return "invalid address"


def _prepare(request: ModelRequest, access: Access) -> Any:
    from kbd_openai.chat import Turn  # noqa: PLC0415 - 0.9 to 1.7 s, paid by the first call only

    return Turn(request, access)
