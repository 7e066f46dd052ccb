"""Choice of the embedder: which there are, which one makes vectors for search, or why none."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from kbd.core.gateway.models import Models
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Owned
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.settings import Settings
from kbd.errors import KbdError, NotFound, ProviderNotConfigured
from kbd.providers import Embedder, ModelInfo, ProviderStatus

__all__ = ["NO_EMBEDDER", "ChosenEmbedder", "DescribedEmbedder", "Embedders"]

NO_EMBEDDER = "none"
"""What stands in the settings for a search by words alone."""

_FAULTY = "The embedder {} failed inside ({})."

_log = get_logger(__name__)


class ChosenEmbedder(msgspec.Struct, frozen=True):
    """The embedder that is meant, or why there is none. Consent is not part of it.

    Args:
        model_id: `embedder:model`; "" if nothing can be asked.
        reason: Why nothing can be asked, in a sentence for people; "" if something can.
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
        nobody is asked for consent because of what merely is installed.
        """
        named = self._settings.search.embedder.strip()
        if named == NO_EMBEDDER:
            return ChosenEmbedder(reason='The setting search.embedder is "none".')
        if named:
            return self._named(named)
        for found in self.described():
            model_id = f"{found.embedder.name}:{found.default_model}"
            if found.default_model and not found.status.leaves_machine:
                chosen = self._usable(found, model_id)
                if not chosen.reason:
                    return chosen
        return ChosenEmbedder(
            reason="No embedder is set up on this machine (setting search.embedder)."
        )

    def usable(self, model_id: str = "") -> ChosenEmbedder:
        """Return the one that is meant, if it can be asked.

        Args:
            model_id: What it was before, if that shall not change.

        Raises:
            ProviderNotConfigured: It cannot, or it is another one now; the message says why.
        """
        chosen = self.chosen()
        if not chosen.model_id:
            raise ProviderNotConfigured(chosen.reason)
        if model_id not in ("", chosen.model_id):
            msg = f"The embedder is {chosen.model_id} now, and no longer {model_id}."
            raise ProviderNotConfigured(msg)
        return chosen

    def asked(self, model_id: str) -> tuple[Owned[Embedder], str]:
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
            return ChosenEmbedder(reason=f"Setting search.embedder: {error.message}")
        model = model or found.default_model
        if not model and found.status.configured:
            why = f'No model of {name} is named: set search.embedder = "{name}:MODEL".'
            return ChosenEmbedder(reason=why)
        return self._usable(found, f"{name}:{model}")

    def _usable(self, found: DescribedEmbedder, model_id: str) -> ChosenEmbedder:
        embedder, status = found.embedder, found.status
        try:
            if not status.configured:
                return ChosenEmbedder(reason=status.reason or f"{embedder.name} is not set up.")
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
