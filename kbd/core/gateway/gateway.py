"""Egress control: consent is checked, then a key and an HTTP client are lent for one call.

Consent is about what people put into a workbench, and the model that is sent it: `scope_hash`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import anyio
import msgspec

from kbd.core.domain.consent import scope_hash
from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.gateway.models import ChosenEmbedder, Embedders, Models
from kbd.core.gateway.outbound_call import (
    OutboundCalls,
    ProviderAccess,
    RecordSent,
    RedactedStream,
    RequestPurpose,
    redact_reply,
)
from kbd.core.gateway.replies import checked_reply, checked_vectors
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Owned
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.hosts import Host, parse_host
from kbd.core.runtime.secrets import Secrets
from kbd.core.runtime.settings import Settings
from kbd.core.store.keeper import Keeper
from kbd.core.store.redaction import Redaction
from kbd.errors import (
    EgressBlockedByPolicy,
    EgressConsentRequired,
    KbdError,
    ProviderNotConfigured,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.events.base import Actor
from kbd.events.workbenches import ConsentGranted, RequestSent
from kbd.providers import (
    Embedder,
    Embeddings,
    EmbedRequest,
    Emit,
    ModelReply,
    ModelRequest,
    Provider,
)

__all__ = ["Egress"]


CLOSE_TIMEOUT_S = 5.0
"""An embedder that does not let go of what it holds keeps the daemon no longer than this."""

_log = get_logger(__name__)


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
        embedders: What makes texts vectors, and which one is meant.
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
        self._catalog, self._settings = catalog, settings
        self._daemon = daemon
        self.redaction = Redaction(secrets)
        self._allowed: tuple[Host, ...] = tuple(map(parse_host, settings.egress.hosts))
        self._outbound = OutboundCalls(
            of_plugin,
            secrets,
            self.redaction,
            self._allowed,
            settings.run.provider_s,
            settings.egress,
        )
        self.models = Models(catalog, settings, of_plugin, lambda: daemon.state)
        self.embedders = Embedders(catalog, settings, self.models, self._check_host)

    @property
    def mode(self) -> str:
        """Consent mode: "ask" or "allow_all"."""
        return self._daemon.state.consent_mode

    def embedder(self) -> ChosenEmbedder:
        """Return what makes texts vectors for the search, or why nothing does, consent apart."""
        return self.embedders.chosen()

    def endpoint(self, model_id: str, *, embeds: bool = False) -> str:
        """Return the host and port that a model is at, "" for none; raises as `Models.provider`."""
        return self._party(model_id, embeds=embeds).status().endpoint

    def needs_consent(self, model_id: str, *, embeds: bool = False) -> bool:
        """Return whether file contents would leave this machine.

        Args:
            model_id: The model.
            embeds: Whether it is an embedder's.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider, embedder or model.
        """
        return self.models.leaves_machine(self._party(model_id, embeds=embeds))

    def consented(self, state: WorkbenchState, model_id: str, *, embeds: bool = False) -> bool:
        """Return whether a person agreed, for the run that is under way or would be next.

        An agreement is for the address that the model had then; what was agreed to before that was
        recorded holds for the model wherever it is.
        """
        if self.mode == "allow_all" or not self.needs_consent(model_id, embeds=embeds):
            return True
        model_id = self.models.wrapped_model(model_id)
        scope, endpoint = scope_hash(state, model_id), self.endpoint(model_id, embeds=embeds)
        current = state.run(state.current) if state.current else None
        is_open = current is not None and not current.status.is_final
        run = state.current if is_open else len(state.runs) + 1
        return any(
            consent.model_id == model_id
            and consent.scope_hash == scope
            and consent.endpoint in ("", endpoint)
            # One that is not to persist is for the run that was open then, or the next one.
            and (consent.persist or run <= consent.run_count + 1)
            for consent in state.consents
        )

    def consent_to(
        self, state: WorkbenchState, model_id: str, *, persist: bool, embeds: bool = False
    ) -> ConsentGranted:
        """Return an agreement to what would be sent now: these files, this model, this address.

        Of a wrapped model it is one to the model itself: wrapping sends nothing elsewhere.
        """
        model_id = self.models.wrapped_model(model_id)
        return ConsentGranted(
            model_id.partition(":")[0],
            model_id,
            scope_hash(state, model_id),
            persist,
            self.endpoint(model_id, embeds=embeds),
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
        self._check_consent(state, model_id, embeds=False)

    def check_embedder(self, state: WorkbenchState, model_id: str = "") -> ChosenEmbedder:
        """Return the embedder that texts of a workbench may go to now.

        Args:
            state: The workbench's.
            model_id: As for `embed`.

        Raises:
            ProviderNotConfigured: There is none, or another one; the message says why.
            EgressConsentRequired: A person has to agree first; `detail` says to what.
        """
        chosen = self.embedders.usable(model_id)
        self._check_consent(state, chosen.model_id, embeds=True)
        return chosen

    async def complete(
        self,
        state: WorkbenchState,
        model_id: str,
        request: ModelRequest,
        emit: Emit,
        record: RecordSent,
        purpose: Literal["turn", "summarize"] = "turn",
    ) -> ModelReply:
        """Make one turn, if it may be made.

        What comes back holds no key that kbd knows.

        Args:
            state: The workbench's.
            model_id: The model.
            request: The turn.
            emit: Takes text as it streams.
            record: Makes each request durable before it leaves.
            purpose: What it is recorded as.

        Raises:
            KbdError: As for `check` and `Provider.complete`, and what `record` raises.
        """
        # At each turn and not once a run: files, consent and settings may have changed since.
        self.check(state, model_id)
        provider, wrapper = self.models.provider(model_id), self.models.wrapper(model_id)
        asked = self.models.wrapped_model(model_id)
        stream = RedactedStream(self.redaction, emit)

        async def work(access: ProviderAccess) -> ModelReply:
            if wrapper is None:
                return await provider.complete(request, access, stream)

            async def ask(inner: ModelRequest, emit: Emit) -> ModelReply:
                model = asked.partition(":")[2]
                return await provider.complete(
                    msgspec.structs.replace(inner, model=model), access, emit
                )

            # A wrapper gets neither key nor client: only the wrapped provider reaches out.
            nothing_else = ProviderAccess(None, None, None, access.timeout_s, ask)
            return await wrapper.complete(request, nothing_else, stream)

        owner = self._catalog.provider(provider.name)
        reply = await self._outbound.call(owner, RequestPurpose(asked, purpose, record), work)
        stream.finish()
        name = provider.name if wrapper is None else wrapper.name
        return redact_reply(checked_reply(reply, request, name), self.redaction)

    async def fingerprint(self, model_id: str = "") -> str:
        """Return the key under which vectors of `embedder()` are stored.

        Args:
            model_id: As for `embed`.

        Raises:
            ProviderNotConfigured: There is no embedder, or another one; the message says why.
            KbdError: As for `Embedder.fingerprint`.
        """
        owned, model = self.embedders.resolve(self.embedders.usable(model_id).model_id)
        with _contain_faults(owned.item):
            return f"{owned.item.name}:{await owned.item.fingerprint(model)}"

    async def embed(
        self,
        state: WorkbenchState,
        request: EmbedRequest,
        record: RecordSent,
        model_id: str = "",
    ) -> Embeddings:
        """Make texts vectors, if they may be sent. The day's money is the caller's affair.

        Args:
            state: The workbench's, whose texts they are.
            request: The texts; its model is that of the embedder that is meant.
            record: Makes each request durable before it leaves.
            model_id: What `embedder()` said before, so that vectors of two are never mixed up.

        Raises:
            KbdError: As for `check_embedder` and `Embedder.embed`, and what `record` raises.
            MalformedReply: The vectors are not what was asked for.
        """
        chosen = self.check_embedder(state, model_id)
        owned, model = self.embedders.resolve(chosen.model_id)
        asked = msgspec.structs.replace(request, model=model)

        async def work(access: ProviderAccess) -> Embeddings:
            with _contain_faults(owned.item):
                return await owned.item.embed(asked, access)

        made = await self._outbound.call(
            owned, RequestPurpose(chosen.model_id, "embed", record), work
        )
        return checked_vectors(made, len(asked.texts), chosen.model_id)

    async def validate(self, provider_id: str, actor: Actor | None = None) -> None:
        """Find out whether a provider or embedder can be called; no file content is sent.

        An embedder that has no provider's name is asked for the vector of a word.

        Args:
            provider_id: Which.
            actor: The client that asks, if one does.

        Raises:
            NotFound: There is none of that name.
            ProviderNotConfigured: It is disabled, or something is missing.
            KbdError: As for `Provider.validate` and `Embedder.embed`.
        """
        owned = self.named(provider_id)
        party = owned.item
        self.models.check_enabled(provider_id)
        status = party.status()
        has_access = isinstance(party, Provider) and self.models.has_access(party)
        if not status.configured and not has_access:
            raise ProviderNotConfigured(status.reason or f"{provider_id} is not set up")
        self._check_host(status.endpoint)

        async def work(access: ProviderAccess) -> None:
            if isinstance(party, Provider):
                await party.validate(access)
            else:
                with _contain_faults(party):
                    made = await party.embed(EmbedRequest("", ("word",), "query"), access)
                checked_vectors(made, 1, party.name)

        async def record(sent: RequestSent) -> None:
            await self._daemon.submit(RecordDaemon((sent,)), actor)

        limit_s = self._settings.run.provider_s
        try:
            # The client's own limit is for each read, and a trickle never reaches it
            # (facts/runtime.md 1).
            with anyio.fail_after(limit_s):
                await self._outbound.call(owned, RequestPurpose("", "validate", record), work)
        except TimeoutError:
            msg = f"the provider did not answer within {limit_s:g} s"
            raise ProviderUnavailable(msg) from None

    def named(self, name: str) -> Owned[Provider] | Owned[Embedder]:
        """Return a provider, or else an embedder, by name; raises NotFound if there is neither."""
        provides = {owned.item.name for owned in self._catalog.providers()}
        if name not in provides and any(o.item.name == name for o in self._catalog.embedders()):
            return self._catalog.embedder(name)
        return self._catalog.provider(name)

    def contains_key(self, text: str) -> bool:
        """Return whether a text holds a key that kbd knows."""
        return self.redaction.text(text) != text

    async def aclose(self) -> None:
        """Close the connections, and release the resources of embedders."""
        for owned in self._catalog.embedders():
            try:
                with anyio.move_on_after(CLOSE_TIMEOUT_S):
                    await owned.item.aclose()
            except Exception as fault:  # noqa: BLE001 - a plugin's fault keeps nobody from closing
                _log.warning("embedder_failed", embedder=owned.item.name, exc_info=fault)
        await self._outbound.aclose()

    def _party(self, model_id: str, *, embeds: bool) -> Provider | Embedder:
        """Return whom a model's requests go to; an embedder may have a provider's name."""
        if embeds:
            return self.embedders.resolve(model_id)[0].item
        return self.models.provider(model_id)

    def _check_consent(self, state: WorkbenchState, model_id: str, *, embeds: bool) -> None:
        if self.consented(state, model_id, embeds=embeds):
            return
        model_id = self.models.wrapped_model(model_id)
        provider_id = model_id.partition(":")[0]
        msg = (
            "the files of this workbench would be sent to "
            f"{self.endpoint(model_id, embeds=embeds) or provider_id}; agree to that first"
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

    def _check_host(self, endpoint: str) -> None:
        if not endpoint or not self._allowed:
            return
        try:
            asked = parse_host(endpoint)
        except ValidationFailed:
            return  # The client refuses whatever is asked of it.
        if not any(host.allows(asked) for host in self._allowed):
            msg = f"setting egress.hosts does not name the provider's address, {endpoint}"
            raise EgressBlockedByPolicy(msg)


@contextmanager
def _contain_faults(embedder: Embedder) -> Iterator[None]:
    """Report a fault of a plugin's code as its absence."""
    try:
        yield
    except KbdError:
        raise
    except Exception as fault:  # noqa: BLE001 - a plugin's fault is told, not passed on
        _log.warning("embedder_failed", embedder=embedder.name, exc_info=fault)
        # Only the kind of fault: what a plugin says of it may hold texts or the key.
        msg = f"the embedder {embedder.name} failed inside ({type(fault).__name__})"
        raise ProviderUnavailable(msg) from None
