"""Methods of providers and models: status, efforts, defaults; and of consent to egress.

Egress is what leaves the machine: consent to it, its mode, and the list of the requests that left.
"""

import msgspec

from kbd.core.domain.commands import GrantConsent
from kbd.core.domain.consent import scope_hash
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.gateway.gateway import Egress
from kbd.core.gateway.models import DescribedEmbedder
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.event_rows import sent_requests
from kbd.errors import ValidationFailed
from kbd.events.vocabulary import Event
from kbd.events.workbenches import ModelChosen, SettingChanged
from kbd.providers import Provider
from kbd.requests import egress as consent_wire
from kbd.requests import providers as wire
from kbd.requests.base import UNSET, Request, Unset
from kbd.types import Phase

__all__ = ["EgressMethods", "ProviderMethods"]


DEFAULT_EFFORT = "default"
"""What stands for a model's own way on the wire; in the log it is an empty text."""


class ProviderMethods:
    """Handlers of providers and models."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._egress, self._workbenches = context.egress, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.ProvidersGetStatus: self.status,
            wire.ProvidersSetEnabled: self.set_enabled,
            wire.ProvidersValidate: self.validate,
            wire.ProvidersSetReasoningEffort: self.set_effort,
            wire.ModelsListSupported: self.models,
            wire.UserGetDefaultModel: self.get_default_model,
            wire.UserSetDefaultModel: self.set_default_model,
        }

    def status(self, request: wire.ProvidersGetStatus, session: Session) -> wire.ProvidersFound:
        """Return the configuration status of providers and embedders."""
        del request, session
        rows = tuple(
            wire.ProviderRow(
                provider_id=provider.name,
                enabled=enabled,
                configured=status.configured,
                leaves_machine=self._egress.models.leaves_machine(provider),
                auth_mode=status.auth_mode,
                endpoint=status.endpoint,
                reason=status.reason if status.reason is not None else UNSET,
                efforts=provider.efforts or UNSET,
                rpi_reasoning=self._efforts(provider),
            )
            for provider, status, enabled in self._egress.models.described()
        )
        chosen = self._egress.embedder()
        return wire.ProvidersFound(
            providers=rows,
            embedders=tuple(map(self._embedder_row, self._egress.embedders.described())),
            embedder=chosen.model_id,
            no_embedder=chosen.reason or UNSET,
        )

    async def set_enabled(
        self, request: wire.ProvidersSetEnabled, session: Session
    ) -> wire.ProviderEnabled:
        """Enable or disable a provider."""
        provider_id = self._egress.named(request.provider_id).item.name
        if request.enabled is not self._egress.models.is_enabled(provider_id):
            value = "true" if request.enabled else "false"
            await self._record(session, SettingChanged("enabled", value, provider_id))
        return wire.ProviderEnabled(
            provider_id=provider_id, enabled=self._egress.models.is_enabled(provider_id)
        )

    async def validate(
        self, request: wire.ProvidersValidate, session: Session
    ) -> wire.ProviderValid:
        """Validate that a provider can be called."""
        await self._egress.validate(request.provider_id, session.actor)
        return wire.ProviderValid(provider_id=request.provider_id)

    async def set_effort(
        self, request: wire.ProvidersSetReasoningEffort, session: Session
    ) -> wire.ReasoningSet:
        """Set the reasoning effort of a provider's models for each phase."""
        provider = self._egress.models.provider_named(request.provider_id)
        asked = {
            Phase.RESEARCH: _parse_effort(provider, "research_effort", request.research_effort),
            Phase.PLAN: _parse_effort(provider, "plan_effort", request.plan_effort),
            Phase.IMPLEMENT: _parse_effort(provider, "implement_effort", request.implement_effort),
        }
        now = self._workbenches.daemon.state.efforts.get(provider.name, {})
        changes = [
            SettingChanged("reasoning_effort", effort, provider.name, phase.value)
            for phase, effort in asked.items()
            if effort != now.get(phase, "")
        ]
        await self._record(session, *changes)
        return wire.ReasoningSet(
            provider_id=provider.name, rpi_reasoning=_render_efforts(self._egress, provider)
        )

    def models(self, request: wire.ModelsListSupported, session: Session) -> wire.ModelsFound:
        """List the models that are known without asking a server."""
        del request, session
        described, embedder = self._egress.models.described(), self._egress.embedder().model_id
        available = {
            provider.name: enabled and (status.configured or self._is_open(provider))
            for provider, status, enabled in described
        }
        rows = tuple(
            wire.ModelRow(
                model_id=info.id,
                provider_id=provider.name,
                context_tokens=info.context_tokens,
                input_price=info.input_price,
                output_price=info.output_price,
                available=available[provider.name],
            )
            for provider, info in self._egress.models.listed()
            # Settings tell what an embedder costs, too; that makes it no model to talk to.
            if info.id != embedder or info in provider.models()
        )
        names = tuple(each.provider.name for each in described if each.provider.takes_any_model)
        return wire.ModelsFound(models=rows, open_providers=names)

    def get_default_model(
        self, request: wire.UserGetDefaultModel, session: Session
    ) -> wire.DefaultModel:
        """Return the default model."""
        del request, session
        return wire.DefaultModel(model_id=self._egress.models.default())

    async def set_default_model(
        self, request: wire.UserSetDefaultModel, session: Session
    ) -> wire.DefaultModel:
        """Set the default model."""
        # For its refusal alone.
        self._egress.models.provider(request.model_id)
        self._egress.models.check_model_enabled(request.model_id)
        await self._record(session, ModelChosen(request.model_id))
        return wire.DefaultModel(model_id=request.model_id)

    def _embedder_row(self, described: DescribedEmbedder) -> wire.EmbedderRow:
        embedder, status, default_model, enabled = described
        return wire.EmbedderRow(
            provider_id=embedder.name,
            enabled=enabled,
            configured=status.configured,
            leaves_machine=status.leaves_machine,
            auth_mode=status.auth_mode,
            endpoint=status.endpoint,
            default_model=default_model,
            reason=status.reason if status.reason is not None else UNSET,
        )

    def _is_open(self, provider: Provider) -> bool:
        """Return whether any model name is accepted."""
        return provider.takes_any_model and self._egress.models.has_access(provider)

    def _efforts(self, provider: Provider) -> wire.ReasoningEfforts | Unset:
        return _render_efforts(self._egress, provider) if provider.efforts else UNSET

    async def _record(self, session: Session, *facts: Event) -> None:
        if facts:
            await self._workbenches.daemon.submit(RecordDaemon(facts), session.actor)


def _parse_effort(provider: Provider, parameter: str, asked: str) -> str:
    """Return what is asked for a phase, "" for the model's own way.

    Raises:
        ValidationFailed: The provider has no such effort; the message names those it has.
    """
    if asked in ("", DEFAULT_EFFORT):
        return ""
    if asked not in provider.efforts:
        valid = ", ".join((DEFAULT_EFFORT, *provider.efforts))
        msg = f"{parameter} {asked[:40]!r} is not one that {provider.name} has: {valid}"
        raise ValidationFailed(msg, detail={"efforts": list(provider.efforts)})
    return asked


def _render_efforts(egress: Egress, provider: Provider) -> wire.ReasoningEfforts:
    def effort_of(phase: Phase) -> str:
        return egress.models.chosen_effort(provider, phase) or DEFAULT_EFFORT

    return wire.ReasoningEfforts(
        research_effort=effort_of(Phase.RESEARCH),
        plan_effort=effort_of(Phase.PLAN),
        implement_effort=effort_of(Phase.IMPLEMENT),
    )


class EgressMethods:
    """Handlers of egress: consent, its mode, and the requests that left."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            consent_wire.EgressGetConsentStatus: self.status,
            consent_wire.EgressGrantWorkshopConsent: self.grant,
            consent_wire.EgressListEvents: self.list_events,
            consent_wire.UserGetConsentMode: self.mode,
            consent_wire.UserSetConsentMode: self.set_mode,
        }

    async def status(
        self, request: consent_wire.EgressGetConsentStatus, session: Session
    ) -> consent_wire.ConsentStatus:
        """Return the consent status of the workbench's model, or of another one.

        A model that could not be called anyway is told first: nobody need agree to nothing.
        """
        del session
        state = (await self._workbenches.open(request.workbench_id)).state
        egress, named = self._context.egress, request.model_id
        model_id = egress.models.of_workbench(state) if named is UNSET else named
        embeds = self._embeds(state, model_id)
        if not embeds:
            egress.check_set_up(model_id)
            model_id = egress.models.wrapped_model(model_id)
        scope, endpoint = scope_hash(state, model_id), egress.endpoint(model_id, embeds=embeds)
        embedder = egress.embedder()
        persisted = any(
            each.persist and each.scope_hash == scope and each.endpoint in ("", endpoint)
            for each in state.consents
        )
        return consent_wire.ConsentStatus(
            consented=egress.consented(state, model_id, embeds=embeds),
            provider_id=model_id.partition(":")[0],
            model_id=model_id,
            scope_hash=scope,
            persisted=persisted,
            mode=self._mode(),
            endpoint=endpoint,
            embedder=embedder.model_id if named is UNSET and embedder.leaves_machine else UNSET,
        )

    async def grant(
        self, request: consent_wire.EgressGrantWorkshopConsent, session: Session
    ) -> consent_wire.ConsentGiven:
        """Record a person's consent."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        if request.provider_id != request.model_id.partition(":")[0]:
            msg = f"{request.model_id} is not a model of the provider {request.provider_id}"
            raise ValidationFailed(msg)
        current = self._context.egress.consent_to(
            workbench.state,
            request.model_id,
            persist=request.persist,
            embeds=self._embeds(workbench.state, request.model_id),
        )
        # The hash that the person saw: if files have changed since then, the decision refuses it.
        consent = msgspec.structs.replace(current, scope_hash=request.scope_hash)
        await workbench.submit(GrantConsent(consent, current.scope_hash))
        return consent_wire.ConsentGiven()

    async def list_events(
        self, request: consent_wire.EgressListEvents, session: Session
    ) -> consent_wire.EgressEvents:
        """List the requests that left."""
        del session
        log_id = request.workbench_id
        if log_id == "daemon":
            journal = self._workbenches.daemon.journal
        else:
            journal = (await self._workbenches.open(log_id)).keeper.journal
        return await sent_requests(log_id, journal, request.after, request.limit)

    def mode(
        self, request: consent_wire.UserGetConsentMode, session: Session
    ) -> consent_wire.ConsentMode:
        """Return the consent mode: whether people are asked."""
        del request, session
        return consent_wire.ConsentMode(mode=self._mode())

    async def set_mode(
        self, request: consent_wire.UserSetConsentMode, session: Session
    ) -> consent_wire.ConsentMode:
        """Set the consent mode: whether people are asked.

        Raises:
            ValidationFailed: Everything is to be allowed, and that is not approved.
        """
        if request.mode == "allow_all" and not request.approved:
            msg = (
                "with allow_all the files of every workbench may leave this machine unasked: "
                "repeat it with approved true"
            )
            raise ValidationFailed(msg, actions=("repeat with approved true",))
        if request.mode != self._mode():
            changed = RecordDaemon((SettingChanged("consent_mode", request.mode),))
            await self._workbenches.daemon.submit(changed, session.actor)
        return consent_wire.ConsentMode(mode=self._mode())

    def _embeds(self, state: WorkbenchState, model_id: str) -> bool:
        """Return whether a model id means the embedder's: a provider may have the name, too."""
        is_used = model_id == self._context.egress.embedder().model_id
        return is_used and model_id != self._context.egress.models.chosen_or_default(state.model_id)

    def _mode(self) -> consent_wire.Mode:
        return "allow_all" if self._context.egress.mode == "allow_all" else "ask"
