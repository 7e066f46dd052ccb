"""Requests about providers of models."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset

__all__ = [
    "DefaultModel",
    "EmbedderRow",
    "ModelParam",
    "ModelRow",
    "ModelsFound",
    "ModelsListSupported",
    "ProviderEnabled",
    "ProviderRequest",
    "ProviderRow",
    "ProviderValid",
    "ProvidersFound",
    "ProvidersGetStatus",
    "ProvidersSetEnabled",
    "ProvidersSetReasoningEffort",
    "ProvidersValidate",
    "ReasoningEfforts",
    "ReasoningSet",
    "UserGetDefaultModel",
    "UserSetDefaultModel",
]

ModelParam = Annotated[str, msgspec.Meta(pattern="^[^:\\s]+:\\S", max_length=256)]
"""A model's id, `provider:model`."""


ProviderParam = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
"""A provider's or embedder's name, as it stands before the colon of its models' ids."""


class _ProviderRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "providers"


class ReasoningEfforts(msgspec.Struct, frozen=True, kw_only=True):
    """How hard a provider's models shall think; "default" leaves it to the model.

    Args:
        research_effort: While a run looks at the files.
        plan_effort: While it plans.
        implement_effort: While it does the work. A summary is never asked to think.
    """

    research_effort: str
    plan_effort: str
    implement_effort: str


class ProviderRow(msgspec.Struct, frozen=True, kw_only=True):
    """How one provider is set up.

    Args:
        provider_id: The prefix of its model ids.
        enabled: Whether it may be used.
        configured: Whether a call could be made.
        leaves_machine: Whether file contents would leave this machine.
        auth_mode: "none" or "api_key".
        endpoint: Host and port it talks to; "" for none.
        reason: What is missing and which setting to make.
        efforts: How hard its models can be told to think, from least to most.
        rpi_reasoning: How hard they shall; absent for a provider whose models cannot be told.
    """

    provider_id: str
    enabled: bool
    configured: bool
    leaves_machine: bool
    auth_mode: str
    endpoint: str = ""
    reason: str | Unset = UNSET
    efforts: tuple[str, ...] | Unset = UNSET
    rpi_reasoning: ReasoningEfforts | Unset = UNSET


class EmbedderRow(msgspec.Struct, frozen=True, kw_only=True):
    """How one embedder is set up: what makes texts vectors, so that they are found by meaning.

    Args:
        provider_id: The prefix of its model ids. A provider may have the same: then both have one
            key, and are enabled together.
        enabled: Whether it may be used.
        configured: Whether a call could be made.
        leaves_machine: Whether file contents would leave this machine.
        auth_mode: "none" or "api_key".
        endpoint: Host and port it talks to; "" for none.
        default_model: The model that is meant where none is named; "" if one has to be.
        reason: What is missing and which setting to make.
    """

    provider_id: str
    enabled: bool
    configured: bool
    leaves_machine: bool
    auth_mode: str
    endpoint: str = ""
    default_model: str = ""
    reason: str | Unset = UNSET


class ProvidersFound(Answer):
    """All providers and embedders.

    Args:
        providers: What turns a conversation into a reply.
        embedders: What makes texts vectors.
        embedder: The model that does so for searches now; "" for none.
        no_embedder: Why none does.
    """

    providers: tuple[ProviderRow, ...]
    embedders: tuple[EmbedderRow, ...] = ()
    embedder: str = ""
    no_embedder: str | Unset = UNSET


class ProvidersGetStatus(_ProviderRequest):
    """Ask how the providers are set up, and the embedders."""

    answer: ClassVar[type[Any]] = ProvidersFound


class ProviderEnabled(Answer):
    """Whether a provider may be used now."""

    provider_id: str
    enabled: bool


class ProvidersSetEnabled(_ProviderRequest):
    """Let a provider or embedder be used, or not: a run with its models is then refused."""

    answer: ClassVar[type[Any]] = ProviderEnabled

    provider_id: ProviderParam
    enabled: bool


class ProviderValid(Answer):
    """The provider answers, and takes the key; what is wrong otherwise is an error."""

    provider_id: str
    valid: bool = True


class ProvidersValidate(_ProviderRequest):
    """Find out whether a provider or embedder can be called; no content of files is sent."""

    answer: ClassVar[type[Any]] = ProviderValid

    provider_id: ProviderParam


class ReasoningSet(Answer):
    """How hard a provider's models think from now on."""

    provider_id: str
    rpi_reasoning: ReasoningEfforts


class ProvidersSetReasoningEffort(_ProviderRequest):
    """Say how hard a provider's models shall think in each phase: one of its `efforts`.

    "default" (or an empty text) leaves it to the model.
    """

    answer: ClassVar[type[Any]] = ReasoningSet

    provider_id: ProviderParam
    research_effort: str
    plan_effort: str
    implement_effort: str


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One model.

    Args:
        model_id: `provider:model`.
        provider_id: The provider.
        context_tokens: The size of its window.
        input_price: US dollars per million input tokens; 0 if unknown or free.
        output_price: The same for output tokens.
        available: Whether its provider is configured and enabled.
    """

    model_id: str
    provider_id: str
    context_tokens: int
    input_price: float
    output_price: float
    available: bool


class ModelsFound(Answer):
    """The models that the providers list, and those that settings name.

    Args:
        models: They.
        open_providers: The providers that take other names, too.
    """

    models: tuple[ModelRow, ...]
    open_providers: tuple[str, ...]


class ModelsListSupported(_ProviderRequest):
    """List the models that the providers know of."""

    answer: ClassVar[type[Any]] = ModelsFound


class DefaultModel(Answer):
    """The model that is used where none is named."""

    model_id: str


class UserGetDefaultModel(_ProviderRequest):
    """Ask which model is used where none is named."""

    answer: ClassVar[type[Any]] = DefaultModel


class UserSetDefaultModel(_ProviderRequest):
    """Choose the model that is used where none is named."""

    answer: ClassVar[type[Any]] = DefaultModel

    model_id: ModelParam


ProviderRequest = (
    ProvidersGetStatus
    | ProvidersSetEnabled
    | ProvidersValidate
    | ProvidersSetReasoningEffort
    | ModelsListSupported
    | UserGetDefaultModel
    | UserSetDefaultModel
)
"""The requests of this subject."""
