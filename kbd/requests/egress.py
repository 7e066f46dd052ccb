"""Requests about what may leave the machine."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, LogParam, Request, SeqParam, Unset, WorkbenchParam
from kbd.requests.providers import ModelParam
from kbd.types import RunId, Seq

__all__ = [
    "ConsentGiven",
    "ConsentMode",
    "ConsentStatus",
    "EgressEvents",
    "EgressGetConsentStatus",
    "EgressGrantWorkshopConsent",
    "EgressListEvents",
    "EgressRequest",
    "EgressRow",
    "UserGetConsentMode",
    "UserSetConsentMode",
]

Mode = Literal["ask", "allow_all"]
"""Whether people are asked before contents leave this machine, or have agreed to everything."""


class _EgressRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "egress"


class ConsentStatus(Answer):
    """Whether the workbench's files may go to its model's provider.

    Args:
        consented: Whether a run may start; of an embedder, whether it is asked.
        provider_id: The provider.
        model_id: The model.
        scope_hash: The hash of the names and contents of files and context items; consent is for
            this.
        persisted: Whether the consent holds for later runs.
        mode: "ask" or "allow_all".
        endpoint: The host and port that they would go to; "" for none. Consent is for this, too.
        embedder: The model that makes texts vectors for searches, where they leave this machine
            for it: a consent of its own, asked for with this as `model_id`. Only in answers about
            the workbench's model.
    """

    consented: bool
    provider_id: str
    model_id: str
    scope_hash: str
    persisted: bool
    mode: Mode
    endpoint: str = ""
    embedder: str | Unset = UNSET


class EgressGetConsentStatus(_EgressRequest):
    """Ask whether the workbench's files may go to its model's provider.

    Args:
        model_id: Another model than the workbench's, or what makes texts vectors for its searches.
    """

    answer: ClassVar[type[Any]] = ConsentStatus

    workbench_id: WorkbenchParam
    model_id: ModelParam | Unset = UNSET


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


class ConsentMode(Answer):
    """Whether people are asked before contents leave this machine."""

    mode: Mode


class UserGetConsentMode(_EgressRequest):
    """Ask whether people are asked before contents leave this machine."""

    answer: ClassVar[type[Any]] = ConsentMode


class UserSetConsentMode(_EgressRequest):
    """Choose whether people are asked; "allow_all" needs `approved`.

    Going back to "ask" asks again for whatever nobody agreed to itself.
    """

    answer: ClassVar[type[Any]] = ConsentMode

    mode: Mode
    approved: bool = False


class EgressRow(msgspec.Struct, frozen=True, kw_only=True):
    """A request that left, or was about to when the daemon was stopped.

    Args:
        seq: Its place in the log.
        ts: ISO 8601, UTC, with microseconds.
        run_id: The run it was sent for.
        provider_id: The provider; "" of a trace, which goes to a collector.
        model_id: The model; "" where the request was about none.
        endpoint: Host and port.
        method: The HTTP method.
        path: The path of the address, without its query.
        bytes_out: Request line, headers and body, in bytes.
        purpose: "turn" of a run, "validate" for whether a provider answers, "embed" for vectors of
            texts, "summarize" for a summary of one, or "trace" of a run.
    """

    seq: Seq
    ts: str
    run_id: RunId | Unset = UNSET
    provider_id: str
    model_id: str
    endpoint: str
    method: str
    path: str
    bytes_out: int
    purpose: str


class EgressEvents(Answer):
    """What left, oldest first.

    Args:
        events: The requests.
        last_seq: How far the log was looked through: ask on from there.
        has_more: Whether the log goes on behind that.
    """

    events: tuple[EgressRow, ...]
    last_seq: Seq
    has_more: bool


class EgressListEvents(_EgressRequest):
    """List every request that left this machine: a workbench's, or (by default) the daemon's own.

    One answer looks through a part of the log; it may be empty although there is more.
    """

    answer: ClassVar[type[Any]] = EgressEvents

    workbench_id: LogParam = "daemon"
    after: SeqParam = Seq(0)
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


EgressRequest = (
    EgressGetConsentStatus
    | EgressGrantWorkshopConsent
    | EgressListEvents
    | UserGetConsentMode
    | UserSetConsentMode
)
"""The requests of this subject."""
