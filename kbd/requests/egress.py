"""Requests about what may leave the machine."""

from typing import Any, ClassVar, Literal

from kbd.requests.base import Answer, Request, WorkbenchParam
from kbd.requests.providers import ModelParam

__all__ = [
    "ConsentGiven",
    "ConsentStatus",
    "EgressGetConsentStatus",
    "EgressGrantWorkshopConsent",
]


class _EgressRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "egress"


class ConsentStatus(Answer):
    """Whether the workbench's files may go to its model's provider.

    Args:
        consented: Whether a run may start.
        provider_id: The provider.
        model_id: The model.
        scope_hash: The hash of the files' names and contents; consent is for this.
        persisted: Whether the consent holds for later runs.
        mode: "ask" or "allow_all".
    """

    consented: bool
    provider_id: str
    model_id: str
    scope_hash: str
    persisted: bool
    mode: Literal["ask", "allow_all"]


class EgressGetConsentStatus(_EgressRequest):
    """Ask whether the workbench's files may go to its model's provider."""

    answer: ClassVar[type[Any]] = ConsentStatus

    workbench_id: WorkbenchParam


class ConsentGiven(Answer):
    """The consent is recorded."""

    consented: bool = True


class EgressGrantWorkshopConsent(_EgressRequest):
    """Agree that these files may go to this provider."""

    answer: ClassVar[type[Any]] = ConsentGiven

    workbench_id: WorkbenchParam
    provider_id: str
    model_id: ModelParam
    scope_hash: str
    persist: bool
