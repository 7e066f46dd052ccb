"""Provider `openai`: its settings, and one turn."""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any, ClassVar
from urllib.parse import urlsplit

import anyio.to_thread
import msgspec

from kbd.errors import ProviderNotConfigured
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)

__all__ = ["OpenAIProvider", "endpoint_of", "is_local_address", "load_caller"]

NO_KEY = (
    "no key and no address are set: set OPENAI_API_KEY, "
    "or OPENAI_BASE_URL for an OpenAI-compatible server"
)
NO_MODEL = (
    "no model is named: set KBD_MODEL=openai:NAME, "
    "or default_model in the settings file, or choose one with --model openai:NAME"
)
DEFAULT_ENDPOINT = "api.openai.com:443"
PATHS = {"chat": "/chat/completions", "responses": "/responses"}
PROTOCOLS = tuple(PATHS)


class OpenAIProvider(Provider):
    """Models at OpenAI, or at any server that speaks its chat completions or Responses API.

    How long a turn may take is kbd's affair (`run.turn_s`), how long a pause within it the lent
    access's.

    Args:
        settings: `base_url`, `model` (the name without prefix) and `has_key`, as kbd merges them;
            optionally `api` ("chat" or "responses"), `strict` (false: models are not held to
            schemas), and of the configured model `context_tokens`, `input_price` and
            `output_price` (US dollars a million tokens).
    """

    name: ClassVar[str] = "openai"
    takes_any_model: ClassVar[bool] = True
    efforts: ClassVar[tuple[str, ...]] = ("none", "minimal", "low", "medium", "high", "xhigh")

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._api = str(settings.get("api", PROTOCOLS[0]))
        self._takes_strict = settings.get("strict") is not False

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
        reason = self._setting_error()
        if reason is None and not (base_url or has_key):
            reason = NO_KEY
        elif reason is None and not self._settings.get("model"):
            reason = NO_MODEL
        return ProviderStatus(
            configured=reason is None,
            leaves_machine=not is_local_address(base_url),
            reason=reason,
            auth_mode="api_key" if has_key or not base_url else "none",
            endpoint=endpoint_of(base_url),
        )

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn, streaming; see `Provider.complete` for what it raises.

        The client library is imported on the first call, in a thread.
        """
        if not request.model:
            raise ProviderNotConfigured(NO_MODEL)
        caller = await self._caller(access)
        if not self._takes_strict:
            request = msgspec.structs.replace(request, without=(*request.without, "strict"))
        make = caller.respond if self._api == "responses" else caller.chat
        reply: ModelReply = await make(request, emit)
        return reply

    async def validate(self, access: Access) -> None:
        """Ask the server for its models, which costs nothing; see `Provider.validate`.

        It is valid if it answers as a server of this API: with a list of models or, where it offers
        none, with an error of the API for an empty turn. That something answers is not enough.
        """
        caller = await self._caller(access)
        await caller.check(PATHS[self._api])

    async def _caller(self, access: Access) -> Any:
        if not (access.api_key or access.base_url):
            raise ProviderNotConfigured(NO_KEY)
        if reason := self._setting_error():
            raise ProviderNotConfigured(reason)
        # In a thread: the first import takes up to 1.7 s, and the event loop must not wait for it.
        return await anyio.to_thread.run_sync(load_caller, access)

    def _setting_error(self) -> str | None:
        """Return why a setting is invalid, None if all are valid."""
        if self._api in PROTOCOLS:
            return None
        return f"the setting plugins.openai.api is {' or '.join(PROTOCOLS)}, not {self._api[:40]}"


def is_local_address(base_url: str | None) -> bool:
    """Tell whether what is sent to an address stays on this machine.

    Only what is certain counts: a loopback address, `localhost`.
    """
    if not base_url:
        return False
    try:
        host = urlsplit(base_url).hostname or ""
        # No name is looked up: what it resolves to may be another address when it is called.
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint_of(base_url: str | None) -> str:
    """Return the host and port of an address, of OpenAI for None."""
    if not base_url:
        return DEFAULT_ENDPOINT
    try:
        address = urlsplit(base_url)
        port = address.port or (443 if address.scheme == "https" else 80)
        # Host and port alone: an address may hold a user and a password.
        host = f"[{address.hostname}]" if ":" in (address.hostname or "") else address.hostname
        return f"{host}:{port}" if host else "invalid address"
    except ValueError:
        return "invalid address"


def load_caller(access: Access, own_url: str | None = None) -> Any:
    """Return the caller of a server; the first time it blocks while the client library loads.

    Args:
        access: The key, the address and the HTTP client of the call.
        own_url: Another address than the provider's, which gets no key; or None.
    """
    from kbd_openai.client_calls import Caller  # noqa: PLC0415 - 0.9 to 1.7 s, once, off the loop

    return Caller(access, own_url)
