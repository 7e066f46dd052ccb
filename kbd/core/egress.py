"""The one door through which anything leaves: consent, keys and HTTP clients, lent for one call.

Nothing is sent to a provider that leaves this machine unless a person agreed to these files, as
they are, for this model. A client that is lent can reach the provider's address and no other, and
follows no redirect.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from anyio.to_thread import run_sync

from kbd.core.catalog import Catalog
from kbd.core.decisions.daemon import DaemonCommand
from kbd.core.keeper import Keeper
from kbd.core.secrets import Secrets
from kbd.core.settings import Settings
from kbd.core.state import DaemonState, RunStatus, WorkbenchState
from kbd.errors import EgressConsentRequired, NotFound, ProviderNotConfigured, ValidationFailed
from kbd.providers import Emit, ModelInfo, ModelReply, ModelRequest, Provider
from kbd.types import Phase

__all__ = ["Egress", "Lent", "scope_hash"]

OFFLINE_MODEL = "offline:planner"
"""What works without a key; it stands in until a provider is set up."""


class Lent(msgspec.Struct, frozen=True):
    """`kbd.providers.Access`: what a provider holds during one call."""

    api_key: str | None
    base_url: str | None
    http_client: Any
    timeout_s: float

    def __repr__(self) -> str:
        return "Lent(…)"


def scope_hash(state: WorkbenchState, model_id: str) -> str:
    """Return what consent is about: the names and contents that people added, and the model.

    What runs made of them adds nothing that was not agreed to, so publishing asks for no new
    consent; adding a file or choosing another model does.
    """
    digest = hashlib.sha256(model_id.encode())
    for name, entry in sorted(state.files.items()):
        if entry.origin is not None:
            digest.update(f"\0{name}\0{entry.origin}".encode())
    return digest.hexdigest()


class Egress:
    """Consent and access for the daemon's providers.

    Args:
        catalog: The providers.
        settings: Their addresses, the time-outs, the default model.
        secrets: Their keys.
        of_plugin: What a plugin's hooks were given, by its entry-point name.
        daemon: The daemon's own log: what people set for all workbenches.
    """

    def __init__(
        self,
        catalog: Catalog,
        settings: Settings,
        secrets: Secrets,
        of_plugin: Callable[[str], dict[str, Any]],
        daemon: Keeper[DaemonState, DaemonCommand],
    ) -> None:
        self._catalog, self._settings, self._secrets = catalog, settings, secrets
        self._of_plugin, self._daemon = of_plugin, daemon
        self._clients: dict[str, Any] = {}

    def default_model(self, chosen: str | None) -> str:
        """Return the model to use where a workbench has chosen none.

        Args:
            chosen: What the person chose for all workbenches, or None.

        Raises:
            ProviderNotConfigured: A provider has a key or an address, but no model is named.
        """
        named = chosen or self._settings.default_model
        if named is not None:
            return named
        for owned in self._catalog.providers():
            status = owned.item.status()
            given = self._of_plugin(owned.plugin.name)
            if status.auth_mode == "none" and not status.endpoint:
                continue  # It needs no set-up, so it is never what the set-up asks for.
            if given.get("has_key") or given.get("base_url"):
                models = owned.item.models()
                if models:
                    return models[0].id
                raise ProviderNotConfigured(
                    status.reason or f"No model of the provider {owned.item.name} is named."
                )
        return OFFLINE_MODEL

    def provider(self, model_id: str) -> Provider:
        """Return the provider of a model.

        Raises:
            ValidationFailed: The id is not `provider:model`, or the provider has no such model.
            NotFound: There is no such provider.
        """
        name, _, model = model_id.partition(":")
        if not name or not model:
            msg = f"a model id is provider:model, not {model_id!r}"
            raise ValidationFailed(msg)
        provider = self._catalog.provider(name).item
        listed = [info.id for info in provider.models()]
        if not provider.takes_any_model and model_id not in listed:
            msg = f"the provider {name} has no model {model!r}; it has: {', '.join(listed)}"
            raise NotFound(msg)
        return provider

    def model(self, model_id: str) -> ModelInfo:
        """Return what is known of a model; for one that is not listed, what is usual.

        What settings say of it (`[models."provider:model"]`) counts over what its provider says.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
        """
        listed = (info for info in self.provider(model_id).models() if info.id == model_id)
        info = next(listed, None) or ModelInfo(id=model_id)
        told = self._settings.models.get(model_id)
        said = msgspec.structs.asdict(told) if told is not None else {}
        return msgspec.structs.replace(info, **{k: v for k, v in said.items() if v is not None})

    def effort(self, model_id: str, phase: Phase) -> str:
        """Return how hard a model shall think in a phase; "" leaves it to the model.

        A summary restates what is known, so no effort is asked for there.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
        """
        if phase is Phase.SUMMARY:
            return ""
        provider = self.provider(model_id)
        chosen = self._daemon.state.efforts.get(provider.name, {}).get(phase, "")
        # What an earlier version of the provider offered may be gone.
        return chosen if chosen in provider.efforts else ""

    def needs_consent(self, model_id: str) -> bool:
        """Return whether file contents would leave this machine.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
        """
        return self.provider(model_id).status().leaves_machine

    def consented(self, state: WorkbenchState, model_id: str) -> bool:
        """Return whether a person agreed, for the run that is under way or would be next."""
        if not self.needs_consent(model_id):
            return True
        scope = scope_hash(state, model_id)
        last = state.runs[-1] if state.runs else None
        open_run = last is not None and last.status is not RunStatus.FINISHED
        run = len(state.runs) if open_run else len(state.runs) + 1
        return any(
            consent.model_id == model_id
            and consent.scope_hash == scope
            # One that is not to persist is for the run that was open then, or the next one.
            and (consent.persist or run <= consent.run_count + 1)
            for consent in state.consents
        )

    def check_set_up(self, model_id: str) -> None:
        """Raise unless a model could be called, consent apart.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
            ProviderNotConfigured: Something is missing; the message says what.
        """
        provider = self.provider(model_id)
        status = provider.status()
        # What a status misses may be the default model's name; this one is named.
        named = provider.takes_any_model and self._has_access(model_id)
        if not status.configured and not named:
            raise ProviderNotConfigured(status.reason or f"{model_id} is not set up")

    def check(self, state: WorkbenchState, model_id: str) -> None:
        """Raise unless a turn with this model may be made now.

        Raises:
            KbdError: As for `check_set_up`.
            EgressConsentRequired: A person has to agree first; `detail` says to what.
        """
        self.check_set_up(model_id)
        if not self.consented(state, model_id):
            provider_id = model_id.partition(":")[0]
            endpoint = self.provider(model_id).status().endpoint
            msg = (
                f"The files of this workbench would be sent to {endpoint or provider_id}. "
                "Agree to that first."
            )
            raise EgressConsentRequired(
                msg,
                actions=("grant consent with EgressGrantWorkshopConsent",),
                detail={
                    "provider_id": provider_id,
                    "model_id": model_id,
                    "scope_hash": scope_hash(state, model_id),
                },
            )

    async def complete(
        self, state: WorkbenchState, model_id: str, request: ModelRequest, emit: Emit
    ) -> ModelReply:
        """Make one turn, if it may be made.

        Raises:
            KbdError: As for `check` and `Provider.complete`.
        """
        self.check(state, model_id)
        provider = self.provider(model_id)
        access = await self._lend(provider)
        return await provider.complete(request, access, emit)

    def holds_key(self, text: str) -> bool:
        """Return whether a text holds a key that kbd knows."""
        return self._secrets.redact(text) != text

    async def aclose(self) -> None:
        """Close the HTTP clients."""
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()

    def _has_access(self, model_id: str) -> bool:
        owner = self._catalog.provider(model_id.partition(":")[0]).plugin.name
        given = self._of_plugin(owner)
        return bool(given.get("has_key") or given.get("base_url"))

    async def _lend(self, provider: Provider) -> Lent:
        owner = self._catalog.provider(provider.name).plugin.name
        base_url = self._of_plugin(owner).get("base_url")
        endpoint = provider.status().endpoint
        client = self._clients.get(provider.name)
        if client is None and endpoint:
            client = await run_sync(_client, endpoint, self._settings.run.provider_s)
            self._clients[provider.name] = client
        key = await run_sync(self._secrets.key, owner) if endpoint else None
        return Lent(key, base_url, client, self._settings.run.provider_s)


def _client(endpoint: str, timeout_s: float) -> Any:
    from kbd.core.outbound import confined_client  # noqa: PLC0415 - 92 ms that offline need not pay

    return confined_client(endpoint, timeout_s)
