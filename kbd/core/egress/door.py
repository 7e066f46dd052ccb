"""Consent, keys and an HTTP client, lent for one call."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.catalog import Catalog
from kbd.core.decisions.daemon import DaemonCommand, RecordDaemon
from kbd.core.egress.models import Models
from kbd.core.egress.scope import scope_hash
from kbd.core.egress.told import Telling, cleaned, cleaned_error
from kbd.core.hosts import Host, parse_host
from kbd.core.keeper import Keeper
from kbd.core.redaction import Redaction
from kbd.core.secrets import Secrets
from kbd.core.settings import Settings
from kbd.core.state import DaemonState, RunStatus, WorkbenchState
from kbd.errors import (
    EgressBlockedByPolicy,
    EgressConsentRequired,
    KbdError,
    ProviderAuthFailed,
    ProviderNotConfigured,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.events.workbenches import ConsentGranted, RequestSent
from kbd.providers import Emit, ModelReply, ModelRequest, Provider

__all__ = ["Egress", "Lent", "RecordSent"]

RecordSent = Callable[[RequestSent], Awaitable[object]]
"""Makes durable, in a run's log, that a request is about to leave; raises if it cannot."""

T = TypeVar("T")


class Lent(msgspec.Struct, frozen=True):
    """`kbd.providers.Access`: what a provider holds during one call."""

    api_key: str | None
    base_url: str | None
    http_client: Any
    timeout_s: float

    def __repr__(self) -> str:
        return "Lent(…)"


class Egress:
    """Consent and access for the daemon's providers.

    Args:
        catalog: The providers.
        settings: Their addresses, the time-outs, the hosts that may be reached.
        secrets: Their keys.
        of_plugin: What a plugin's hooks were given, by its entry-point name.
        daemon: The daemon's own log: what people set for all workbenches.

    Attributes:
        models: The models, and which one is meant.
        redaction: What keeps known keys out of what is kept.
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
        self.redaction = Redaction(secrets)
        self._allowed: tuple[Host, ...] = tuple(map(parse_host, settings.egress.hosts))
        self._pools: dict[str, Any] = {}
        self.models = Models(catalog, settings, of_plugin, lambda: daemon.state)

    @property
    def mode(self) -> str:
        """Whether people are asked: "ask" or "allow_all"."""
        return self._daemon.state.consent_mode

    def endpoint(self, model_id: str) -> str:
        """Return the host and port that a model is at, "" for none; raises as `Models.provider`."""
        return self.models.provider(model_id).status().endpoint

    def needs_consent(self, model_id: str) -> bool:
        """Return whether file contents would leave this machine.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
        """
        return self.models.leaves_machine(self.models.provider(model_id))

    def consented(self, state: WorkbenchState, model_id: str) -> bool:
        """Return whether a person agreed, for the run that is under way or would be next.

        An agreement is for the address that the model had then; what was agreed to before that was
        recorded holds for the model wherever it is.
        """
        if self.mode == "allow_all" or not self.needs_consent(model_id):
            return True
        scope, endpoint = scope_hash(state, model_id), self.endpoint(model_id)
        current = state.run(state.current) if state.current else None
        is_open = current is not None and current.status is not RunStatus.FINISHED
        run = state.current if is_open else len(state.runs) + 1
        return any(
            consent.model_id == model_id
            and consent.scope_hash == scope
            and consent.endpoint in ("", endpoint)
            # One that is not to persist is for the run that was open then, or the next one.
            and (consent.persist or run <= consent.run_count + 1)
            for consent in state.consents
        )

    def consent_to(self, state: WorkbenchState, model_id: str, *, persist: bool) -> ConsentGranted:
        """Return an agreement to what would be sent now: these files, this model, this address."""
        return ConsentGranted(
            model_id.partition(":")[0],
            model_id,
            scope_hash(state, model_id),
            persist,
            self.endpoint(model_id),
        )

    def check_set_up(self, model_id: str) -> None:
        """Raise unless a model could be called, consent apart.

        Raises:
            KbdError: As for `Models.check_set_up`.
            EgressBlockedByPolicy: The settings name other hosts than the provider's.
        """
        self.models.check_set_up(model_id)
        self._check_host(self.endpoint(model_id))

    def check(self, state: WorkbenchState, model_id: str) -> None:
        """Raise unless a turn with this model may be made now.

        Raises:
            KbdError: As for `check_set_up`.
            EgressConsentRequired: A person has to agree first; `detail` says to what.
        """
        self.check_set_up(model_id)
        if not self.consented(state, model_id):
            provider_id = model_id.partition(":")[0]
            msg = (
                "The files of this workbench would be sent to "
                f"{self.endpoint(model_id) or provider_id}. Agree to that first."
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
        self,
        state: WorkbenchState,
        model_id: str,
        request: ModelRequest,
        emit: Emit,
        record: RecordSent,
    ) -> ModelReply:
        """Make one turn, if it may be made.

        What comes back holds no key that kbd knows.

        Args:
            state: The workbench's.
            model_id: The model.
            request: The turn.
            emit: Takes text as it streams.
            record: Makes each request durable before it leaves.

        Raises:
            KbdError: As for `check` and `Provider.complete`, and what `record` raises.
        """
        self.check(state, model_id)
        provider = self.models.provider(model_id)
        telling = Telling(self.redaction, emit)

        async def work(lent: Lent) -> ModelReply:
            return await provider.complete(request, lent, telling)

        reply = await self._cross(provider, model_id, record, work)
        telling.finish()
        return cleaned(reply, self.redaction)

    async def validate(self, provider_id: str) -> None:
        """Find out whether a provider can be called; no file content is sent.

        Raises:
            NotFound: There is no such provider.
            ProviderNotConfigured: It is disabled, or something is missing.
            KbdError: As for `Provider.validate`.
        """
        provider = self.models.provider_named(provider_id)
        self.models.check_enabled(provider_id)
        status = provider.status()
        if not status.configured and not self.models.has_access(provider):
            raise ProviderNotConfigured(status.reason or f"{provider_id} is not set up")
        self._check_host(status.endpoint)

        async def record(sent: RequestSent) -> None:
            await self._daemon.submit(RecordDaemon((sent,)))

        limit_s = self._settings.run.provider_s
        try:
            with anyio.fail_after(limit_s):
                await self._cross(provider, "", record, provider.validate)
        except TimeoutError:
            msg = f"The provider did not answer within {limit_s:g} s."
            raise ProviderUnavailable(msg) from None

    def holds_key(self, text: str) -> bool:
        """Return whether a text holds a key that kbd knows."""
        return self.redaction.text(text) != text

    async def aclose(self) -> None:
        """Close the connections."""
        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()

    async def _cross(
        self,
        provider: Provider,
        model_id: str,
        record: RecordSent,
        work: Callable[[Lent], Awaitable[T]],
    ) -> T:
        """Do one call with what it needs lent; what it raises holds no key.

        Raises:
            KbdError: What it raised, or why one of its requests was not sent.
        """
        owner = self._catalog.provider(provider.name).plugin.name
        base_url, timeout_s = self._of_plugin(owner).get("base_url"), self._settings.run.provider_s
        endpoint = provider.status().endpoint
        if not endpoint:
            return await work(Lent(None, base_url, None, timeout_s))

        async def tell(leaving: Any) -> None:
            sent = RequestSent(
                provider.name, model_id, leaving.endpoint, leaving.method,
                self.redaction.text(leaving.path),  # Some servers take their key there.
                leaving.bytes_out, "turn" if model_id else "validate",
            )  # fmt: skip
            await record(sent)

        # A command that asks its user to unlock something is not waited for once the run is over.
        find = partial(self._secrets.key, owner)
        key = await run_sync(find, abandon_on_cancel=True)
        crossing = await self._crossing(provider.name, endpoint, tell, timeout_s)
        try:
            made = await work(Lent(key, base_url, crossing.client, timeout_s))
        except Exception as error:
            if isinstance(error, ProviderAuthFailed):
                self._secrets.forget(owner)  # A command may print another one by now.
            told = crossing.refusal or error
            if not isinstance(told, KbdError):
                raise
            raise cleaned_error(told, self.redaction) from None
        finally:
            with anyio.CancelScope(shield=True):
                await crossing.client.aclose()
        if crossing.refusal is not None:
            raise cleaned_error(crossing.refusal, self.redaction)
        return made

    async def _crossing(self, provider_id: str, endpoint: str, tell: Any, timeout_s: float) -> Any:
        # In a thread the first time: the client and its certificates take some 100 ms.
        outbound = await run_sync(_outbound)
        if provider_id not in self._pools:
            made = await run_sync(outbound.connections)
            self._pools.setdefault(provider_id, made)
        pool = self._pools[provider_id]
        return outbound.Crossing(pool, endpoint, self._allowed, tell, timeout_s)

    def _check_host(self, endpoint: str) -> None:
        if not endpoint or not self._allowed:
            return
        try:
            asked = parse_host(endpoint)
        except ValidationFailed:
            return  # The client refuses whatever is asked of it.
        if not any(host.allows(asked) for host in self._allowed):
            msg = f"Setting egress.hosts does not name the provider's address, {endpoint}."
            raise EgressBlockedByPolicy(msg)


def _outbound() -> Any:
    from kbd.core import outbound  # noqa: PLC0415 - 92 ms that offline need not pay

    return outbound
