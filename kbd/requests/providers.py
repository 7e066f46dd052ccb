"""Requests about providers of models."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset

__all__ = [
    "DefaultModel",
    "ModelParam",
    "ModelRow",
    "ModelsFound",
    "ModelsListSupported",
    "ProviderRow",
    "ProvidersFound",
    "ProvidersGetStatus",
    "UserGetDefaultModel",
    "UserSetDefaultModel",
]

ModelParam = Annotated[str, msgspec.Meta(pattern="^[^:\\s]+:\\S", max_length=256)]
"""A model's id, `provider:model`."""


class _ProviderRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "providers"


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
    """

    provider_id: str
    enabled: bool
    configured: bool
    leaves_machine: bool
    auth_mode: str
    endpoint: str = ""
    reason: str | Unset = UNSET


class ProvidersFound(Answer):
    """All providers."""

    providers: tuple[ProviderRow, ...]


class ProvidersGetStatus(_ProviderRequest):
    """Ask how the providers are set up."""

    answer: ClassVar[type[Any]] = ProvidersFound


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One model.

    Args:
        model_id: `provider:model`.
        provider_id: The provider.
        context_tokens: The size of its window.
        input_price: US dollars per million input tokens; 0 if unknown or free.
        output_price: The same for output tokens.
        available: Whether its provider is configured.
    """

    model_id: str
    provider_id: str
    context_tokens: int
    input_price: float
    output_price: float
    available: bool


class ModelsFound(Answer):
    """The models that the providers list.

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
