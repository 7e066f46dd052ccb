"""Methods of providers and models: their status, what is enabled, efforts, the default model."""

from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.gateway.gateway import Egress
from kbd.core.gateway.models import DescribedEmbedder
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import ValidationFailed
from kbd.events.vocabulary import Event
from kbd.events.workbenches import ModelChosen, SettingChanged
from kbd.providers import Provider
from kbd.requests import providers as wire
from kbd.requests.base import UNSET, Request, Unset
from kbd.types import Phase

__all__ = ["ProviderMethods"]

DEFAULT_EFFORT = "default"
"""What stands for a model's own way on the wire; in the log it is an empty text."""


class ProviderMethods:
    """Handlers of providers and models."""

    def __init__(self, context: ApiContext, benches: Workbenches) -> None:
        self._egress, self._benches = context.egress, benches

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
        """Say how the providers are set up."""
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
        del session
        provider_id = self._egress.named(request.provider_id).item.name
        if request.enabled is not self._egress.models.is_enabled(provider_id):
            value = "true" if request.enabled else "false"
            await self._record(SettingChanged("enabled", value, provider_id))
        return wire.ProviderEnabled(
            provider_id=provider_id, enabled=self._egress.models.is_enabled(provider_id)
        )

    async def validate(
        self, request: wire.ProvidersValidate, session: Session
    ) -> wire.ProviderValid:
        """Find out whether a provider can be called."""
        del session
        await self._egress.validate(request.provider_id)
        return wire.ProviderValid(provider_id=request.provider_id)

    async def set_effort(
        self, request: wire.ProvidersSetReasoningEffort, session: Session
    ) -> wire.ReasoningSet:
        """Say how hard a provider's models shall think in each phase."""
        del session
        provider = self._egress.models.provider_named(request.provider_id)
        asked = {
            Phase.RESEARCH: _parse_effort(provider, "research_effort", request.research_effort),
            Phase.PLAN: _parse_effort(provider, "plan_effort", request.plan_effort),
            Phase.IMPLEMENT: _parse_effort(provider, "implement_effort", request.implement_effort),
        }
        now = self._benches.daemon.state.efforts.get(provider.name, {})
        changes = [
            SettingChanged("reasoning_effort", effort, provider.name, phase.value)
            for phase, effort in asked.items()
            if effort != now.get(phase, "")
        ]
        await self._record(*changes)
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
        """Say which model is used where none is chosen."""
        del request, session
        return wire.DefaultModel(model_id=self._egress.models.default())

    async def set_default_model(
        self, request: wire.UserSetDefaultModel, session: Session
    ) -> wire.DefaultModel:
        """Choose the model that is used where none is chosen."""
        del session
        provider = self._egress.models.provider(request.model_id)
        self._egress.models.check_enabled(provider.name)
        await self._record(ModelChosen(request.model_id))
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
        """Tell whether any model that is named will do."""
        return provider.takes_any_model and self._egress.models.has_access(provider)

    def _efforts(self, provider: Provider) -> wire.ReasoningEfforts | Unset:
        return _render_efforts(self._egress, provider) if provider.efforts else UNSET

    async def _record(self, *facts: Event) -> None:
        if facts:
            await self._benches.daemon.submit(RecordDaemon(facts))


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
    def told(phase: Phase) -> str:
        return egress.models.chosen_effort(provider, phase) or DEFAULT_EFFORT

    return wire.ReasoningEfforts(
        research_effort=told(Phase.RESEARCH),
        plan_effort=told(Phase.PLAN),
        implement_effort=told(Phase.IMPLEMENT),
    )
