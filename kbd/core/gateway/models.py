"""Choice of the model and of the embedder: which there are, which is meant, or why none is."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Owned
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.hosts import parse_host
from kbd.core.runtime.settings import Settings
from kbd.errors import KbdError, NotFound, ProviderNotConfigured, ValidationFailed
from kbd.providers import Embedder, ModelInfo, Provider, ProviderStatus, ToolSchema
from kbd.types import Phase

__all__ = [
    "NO_EMBEDDER",
    "OFFLINE_MODEL",
    "ChosenEmbedder",
    "DescribedEmbedder",
    "DescribedProvider",
    "Embedders",
    "Models",
]


OFFLINE_MODEL = "offline:planner"
"""What works without a key; it stands in until a provider is set up."""


class DescribedProvider(NamedTuple):
    """A provider, how it is set up, and whether people let it be used."""

    provider: Provider
    status: ProviderStatus
    enabled: bool


class Models:
    """The models of the daemon's providers, as settings and people have them.

    Args:
        catalog: The providers.
        settings: The default model; what models are like.
        of_plugin: What a plugin's hooks were given, by its entry-point name.
        state: What people set for all workbenches, as the daemon's log has it.
    """

    def __init__(
        self,
        catalog: Catalog,
        settings: Settings,
        of_plugin: Callable[[str], dict[str, Any]],
        state: Callable[[], DaemonState],
    ) -> None:
        self._catalog, self._settings = catalog, settings
        self._of_plugin, self._state = of_plugin, state

    def described(self) -> tuple[DescribedProvider, ...]:
        """Return all providers."""
        return tuple(
            DescribedProvider(
                owned.item, self._status(owned.item), self.is_enabled(owned.item.name)
            )
            for owned in self._catalog.providers()
        )

    def is_enabled(self, provider_id: str) -> bool:
        """Return whether people let a provider be used."""
        return provider_id not in self._state().disabled

    def default(self) -> str:
        """Return the model that is meant where a workbench has chosen none.

        That a provider is disabled makes no other one be meant: whoever asked for one would get
        what another makes, and not know. What is disabled is refused (`check_set_up`).

        Raises:
            ProviderNotConfigured: A provider has a key or an address, but no model is named; or it
                is disabled, too.
        """
        for named in (self._state().model_id, self._settings.default_model):
            if named is not None:
                return named
        for provider, status, _ in self.described():
            if status.auth_mode == "none" and not status.endpoint:
                continue  # It needs no set-up, so it is never what the set-up asks for.
            if self.has_access(provider):
                models = provider.models()
                if models:
                    return models[0].id
                # First: naming a model would not help.
                self.check_enabled(provider.name)
                raise ProviderNotConfigured(
                    status.reason or f"no model of the provider {provider.name} is named"
                )
        return OFFLINE_MODEL

    def of_workbench(self, state: WorkbenchState) -> str:
        """Return the model of a workbench's runs; raises as `default`."""
        return state.model_id or self.default()

    def chosen_or_default(self, chosen: str | None = None) -> str:
        """Return a chosen model, or the default one, or "" where none is named yet."""
        try:
            return chosen or self.default()
        except ProviderNotConfigured:
            return ""

    def provider_named(self, provider_id: str) -> Provider:
        """Return a provider; raises NotFound if there is none."""
        return self._catalog.provider(provider_id).item

    def wrapped_model(self, model_id: str) -> str:
        """Return the wrapped model, if its provider wraps another, else the model itself."""
        return self._catalog.wrapped_model(model_id)

    def wrapper(self, model_id: str) -> Provider | None:
        """Return the provider that a model is wrapped in, or None."""
        if self.wrapped_model(model_id) == model_id:
            return None
        return self.provider_named(model_id.partition(":")[0])

    def provider(self, model_id: str) -> Provider:
        """Return the provider of a model; of a wrapped model, its own provider.

        Raises:
            ValidationFailed: The id is not `provider:model`, or names what cannot be wrapped: a
                wrapper, a provider whose models write no texts.
            NotFound: There is no such provider, or it has no such model.
        """
        wrapper = self.wrapper(model_id)
        form = "provider:model" if wrapper is None else f"{wrapper.name}:provider:model"
        given, model_id = model_id, self.wrapped_model(model_id)
        name, _, model = model_id.partition(":")
        if not name or not model:
            msg = f"a model id is {form}, not {given!r}"
            raise ValidationFailed(msg)
        provider = self.provider_named(name)
        if provider.wraps:
            msg = f"a model id is {form}, and {name} wraps models of others: it cannot be wrapped"
            raise ValidationFailed(msg)
        # It calls tools by itself; told of them in words it would do nothing, and nobody would know
        # why.
        if wrapper is not None and not provider.writes_prose:
            msg = f"{name} follows rules and writes no text of its own: {model_id} is not wrapped"
            raise ValidationFailed(msg)
        listed = [info.id for info in provider.models()]
        if not provider.takes_any_model and model_id not in listed:
            msg = f"the provider {name} has no model {model!r}; it has: {', '.join(listed)}"
            raise NotFound(msg)
        return provider

    def model(self, model_id: str) -> ModelInfo:
        """Return what is known of a model; for one that is not listed, what is usual.

        What `[models]` of the settings says of it takes the place of what its provider says. Of a
        wrapped model, what is said of the model itself holds, too; its window is smaller by what
        the wrapping takes.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
        """
        listed = {info.id: info for info in self.provider(model_id).models()}
        asked, wrapper = self.wrapped_model(model_id), self.wrapper(model_id)
        info = self.as_set(listed.get(asked) or ModelInfo(id=asked))
        if wrapper is None:
            return info
        left = max(1, info.context_tokens - wrapper.prompt_tokens)
        return self.as_set(msgspec.structs.replace(info, id=model_id, context_tokens=left))

    def told_bytes(self, model_id: str, tools: Sequence[ToolSchema]) -> int | None:
        """Return the bytes of the tools' description for a model; None for their JSON schemas."""
        return (self.wrapper(model_id) or self.provider(model_id)).told_bytes(tools)

    def listed(self) -> tuple[tuple[Provider, ModelInfo], ...]:
        """Return the models that are known without asking: listed by providers or settings."""
        found: dict[str, tuple[Provider, ModelInfo]] = {}
        for provider, _, _ in self.described():
            for info in provider.models():
                found[info.id] = provider, self.as_set(info)
            for model_id in self._settings.models:
                if model_id.partition(":")[0] != provider.name or not provider.takes_any_model:
                    continue
                if known := self._known(model_id):
                    found.setdefault(model_id, (provider, known))
        return tuple(found.values())

    def effort(self, model_id: str, phase: Phase) -> str:
        """Return the reasoning effort of a model in a phase; "" leaves it to the model.

        A summary restates what is known, so no effort is asked for there.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
        """
        return "" if phase is Phase.SUMMARY else self.chosen_effort(self.provider(model_id), phase)

    def chosen_effort(self, provider: Provider, phase: Phase) -> str:
        """Return what people chose for a provider's models in a phase, "" for nothing."""
        chosen = self._state().efforts.get(provider.name, {}).get(phase.value, "")
        # What an earlier version of the provider offered may be gone.
        return chosen if chosen in provider.efforts else ""

    def leaves_machine(self, provider: Provider | Embedder) -> bool:
        """Return whether what a provider or an embedder is sent leaves this machine.

        One that says it does not is believed only if its address is of this machine.
        """
        if isinstance(provider, Provider) and provider.wraps:
            others = (each for each, _, _ in self.described() if not each.wraps)
            # Which one it will wrap only a model's id says, so the most open one counts.
            return any(self.leaves_machine(each) for each in others if self.has_access(each))
        status = provider.status()
        if status.leaves_machine or not status.endpoint:
            return status.leaves_machine
        try:
            return not parse_host(status.endpoint).is_loopback
        except ValidationFailed:
            # No host that can be told: it counts as elsewhere, and consent is asked for.
            return True

    def has_access(self, provider: Provider) -> bool:
        """Return whether a provider has a key or an address configured."""
        given = self._of_plugin(self._catalog.provider(provider.name).plugin.name)
        return bool(given.get("has_key") or given.get("base_url"))

    def check_set_up(self, model_id: str) -> None:
        """Raise unless a model could be called, consent apart.

        Raises:
            ValidationFailed: The id is not `provider:model`.
            NotFound: There is no such provider or model.
            ProviderNotConfigured: Something is missing, or the provider is disabled; the message
                says what to do.
        """
        provider = self.provider(model_id)
        self.check_model_enabled(model_id)
        status = provider.status()
        # What a status misses may be the default model's name; this one is named.
        named = provider.takes_any_model and self.has_access(provider)
        if not status.configured and not named:
            raise ProviderNotConfigured(status.reason or f"{model_id} is not set up")

    def check_enabled(self, provider_id: str) -> None:
        """Raise ProviderNotConfigured for a provider that is disabled."""
        if not self.is_enabled(provider_id):
            raise ProviderNotConfigured(
                f"the provider {provider_id} is disabled: kbd providers enable {provider_id}",
                actions=("enable it with ProvidersSetEnabled",),
                detail={"provider_id": provider_id},
            )

    def check_model_enabled(self, model_id: str) -> None:
        """Raise ProviderNotConfigured for a model whose provider, or wrapper, is disabled."""
        for provider_id in self._providers_of(model_id):
            if not self.is_enabled(provider_id):
                msg = (
                    f"the provider {provider_id} is disabled, and with it the model {model_id}: "
                    f"kbd providers enable {provider_id}, or choose another model"
                )
                raise ProviderNotConfigured(
                    msg,
                    actions=(
                        "enable it with ProvidersSetEnabled",
                        "choose another model with WorkshopSetActiveModel",
                    ),
                    detail={"provider_id": provider_id, "model_id": model_id},
                )

    def _status(self, provider: Provider) -> ProviderStatus:
        """Return how a provider is set up: one that misses a model's name has it by the default."""
        status = provider.status()
        chosen = (self._state().model_id, self._settings.default_model)
        is_named = provider.name in [self._providers_of(named)[-1] for named in chosen if named]
        if status.configured or not (is_named and provider.takes_any_model):
            return status
        if not self.has_access(provider):
            return status
        return msgspec.structs.replace(status, configured=True, reason=None)

    def _providers_of(self, model_id: str) -> tuple[str, ...]:
        """Return the name of a model's provider; of a wrapped one, after that of its wrapper."""
        ids = dict.fromkeys((model_id, self.wrapped_model(model_id)))
        return tuple(each.partition(":")[0] for each in ids)

    def _known(self, model_id: str) -> ModelInfo | None:
        """Return what settings say of a model; None where they name what cannot be."""
        try:
            return self.model(model_id)
        except (NotFound, ValidationFailed):
            return None

    def as_set(self, info: ModelInfo) -> ModelInfo:
        """Return what a model is like with what `[models]` of the settings says in its place."""
        ours = self._settings.models.get(info.id)
        if ours is None:
            return info
        named = {k: v for k, v in msgspec.structs.asdict(ours).items() if v is not None}
        return msgspec.structs.replace(info, **named)


NO_EMBEDDER = "none"
"""What stands in the settings for a search by words alone."""

_FAULTY = "the embedder {} failed inside ({})"

_log = get_logger(__name__)


class ChosenEmbedder(msgspec.Struct, frozen=True):
    """The embedder that is meant, or why there is none. Consent is not part of it.

    Args:
        model_id: `embedder:model`; "" if nothing can be asked.
        reason: Why nothing can be asked, as the text of an error; "" if something can.
        leaves_machine: Whether texts leave this machine, so that a person has to agree.
        endpoint: The host and port that they go to; "" for none.
        most_texts: As many texts as one request may have.
    """

    model_id: str = ""
    reason: str = ""
    leaves_machine: bool = False
    endpoint: str = ""
    most_texts: int = 1


class DescribedEmbedder(NamedTuple):
    """An embedder, how it is set up, its own choice of a model, and whether it may be used."""

    embedder: Embedder
    status: ProviderStatus
    default_model: str
    enabled: bool


class Embedders:
    """The embedders of the daemon, as settings and people have them.

    Args:
        catalog: They.
        settings: Which one is named; what models cost.
        models: Whose providers people disabled, and which addresses are this machine's.
        check_host: Raises for an address that settings do not allow.
    """

    def __init__(
        self,
        catalog: Catalog,
        settings: Settings,
        models: Models,
        check_host: Callable[[str], None],
    ) -> None:
        self._catalog, self._settings = catalog, settings
        self._models, self._check_host = models, check_host

    def described(self) -> tuple[DescribedEmbedder, ...]:
        """Return all embedders, those of built-in plugins first."""
        return tuple(self._described(owned.item) for owned in self._catalog.embedders())

    def chosen(self) -> ChosenEmbedder:
        """Return which one is meant: the one that settings name, or else one of this machine's.

        Where none is named, it is the first that is set up, knows its model and sends nothing away:
        nobody is asked for consent because of what merely is installed. If that one is disabled,
        none is meant.
        """
        named = self._settings.search.embedder.strip()
        if named == NO_EMBEDDER:
            return ChosenEmbedder(reason='the setting search.embedder is "none"')
        if named:
            return self._named(named)
        for found in self.described():
            model_id = f"{found.embedder.name}:{found.default_model}"
            if found.default_model and not found.status.leaves_machine:
                chosen = self._usable(found, model_id)
                # Of one that is disabled no other takes the place, as of a model.
                if not chosen.reason or (found.status.configured and not found.enabled):
                    return chosen
        return ChosenEmbedder(
            reason="no embedder is set up on this machine (setting search.embedder)"
        )

    def usable(self, model_id: str = "") -> ChosenEmbedder:
        """Return the chosen embedder, if it is usable.

        Args:
            model_id: What it was before, if that shall not change.

        Raises:
            ProviderNotConfigured: It cannot, or it is another one now; the message says why.
        """
        chosen = self.chosen()
        if not chosen.model_id:
            raise ProviderNotConfigured(chosen.reason)
        if model_id not in ("", chosen.model_id):
            msg = f"the embedder is {chosen.model_id} now, and no longer {model_id}"
            raise ProviderNotConfigured(msg)
        return chosen

    def resolve(self, model_id: str) -> tuple[Owned[Embedder], str]:
        """Return the embedder of a model that was `chosen`, and the model's name.

        Raises:
            NotFound: There is no such embedder.
        """
        name, _, model = model_id.partition(":")
        return self._catalog.embedder(name), model

    def model(self, model_id: str) -> ModelInfo:
        """Return what an embedder's model is like, as `[models]` of the settings says."""
        return self._models.as_set(ModelInfo(id=model_id))

    def _named(self, named: str) -> ChosenEmbedder:
        """Return the embedder that settings name, or why it cannot be used."""
        name, _, model = named.partition(":")
        try:
            found = self._described(self._catalog.embedder(name).item)
        except NotFound as error:
            return ChosenEmbedder(reason=f"setting search.embedder: {error.message}")
        model = model or found.default_model
        if not model and found.status.configured:
            why = f'no model of {name} is named: set search.embedder = "{name}:MODEL"'
            return ChosenEmbedder(reason=why)
        return self._usable(found, f"{name}:{model}")

    def _usable(self, found: DescribedEmbedder, model_id: str) -> ChosenEmbedder:
        embedder, status = found.embedder, found.status
        try:
            if not status.configured:
                return ChosenEmbedder(reason=status.reason or f"{embedder.name} is not set up")
            self._models.check_enabled(embedder.name)
            self._check_host(status.endpoint)
        except KbdError as error:
            return ChosenEmbedder(reason=error.message)
        return ChosenEmbedder(
            model_id=model_id,
            leaves_machine=status.leaves_machine,
            endpoint=status.endpoint,
            most_texts=embedder.most_texts,
        )

    def _described(self, embedder: Embedder) -> DescribedEmbedder:
        """Return how an embedder is set up; one that fails to say is not."""
        try:
            status, model = embedder.status(), embedder.default_model()
        except Exception as fault:  # noqa: BLE001 - a plugin's fault is told, not passed on
            _log.warning("embedder_failed", embedder=embedder.name, exc_info=fault)
            reason = _FAULTY.format(embedder.name, type(fault).__name__)
            status, model = ProviderStatus(configured=False, leaves_machine=True, reason=reason), ""
        else:
            leaves = self._models.leaves_machine(embedder)
            status = msgspec.structs.replace(status, leaves_machine=leaves)
        enabled = self._models.is_enabled(embedder.name)
        return DescribedEmbedder(embedder, status, model, enabled)
