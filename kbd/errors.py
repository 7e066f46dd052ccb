"""Errors that cross a boundary of kbd, each with the code that a client sees.

    KbdError
    ├── ValidationFailed         VALIDATION_FAILED        the caller asked for something ill-formed
    ├── NotFound                 NOT_FOUND                the thing named does not exist
    │   └── BlobCollected        BLOB_COLLECTED           its bytes were removed on purpose
    ├── SandboxViolation         SANDBOX_VIOLATION        a path would leave the workbench
    ├── FileReadFailed           FILE_READ_FAILED         a file could not be read or parsed
    ├── FileWriteFailed          FILE_WRITE_FAILED        a file could not be written
    ├── DiskFull                 DISK_FULL                no space is left; nothing was lost
    ├── QuotaReached             QUOTA_REACHED            the home takes as much as it may
    ├── OutOfMemory              OUT_OF_MEMORY            the machine has no memory left
    ├── TooManyOpenFiles         TOO_MANY_OPEN_FILES      no descriptor is left
    ├── TooManyProcesses         TOO_MANY_PROCESSES       no process or thread can be started
    ├── LogCorrupt               LOG_CORRUPT              the log is damaged; it is read-only now
    ├── ConflictPublishedChanged CONFLICT_PUBLISHED_CHANGED  a published file changed meanwhile
    ├── ToolWorkerUnavailable    TOOL_WORKER_UNAVAILABLE  the worker died or could not start
    ├── ToolTimeout              TOOL_TIMEOUT             a tool passed its time or memory limit
    ├── TurnLimit                TURN_LIMIT               a phase used up its turns
    ├── AgentLoopDetected        AGENT_LOOP_DETECTED      the model repeats one call
    ├── ContextExhausted         CONTEXT_EXHAUSTED        the model's window is too small
    ├── BudgetCapReached         BUDGET_CAP_REACHED       the run's tokens or money are spent
    ├── UserCanceled             USER_CANCELED            somebody cancelled the run
    ├── EgressConsentRequired    EGRESS_CONSENT_REQUIRED  files would leave the machine unasked
    ├── EgressBlockedByPolicy    EGRESS_BLOCKED_BY_POLICY the address is not the provider's
    ├── ProviderNotConfigured    PROVIDER_NOT_CONFIGURED  a key or a model name is missing
    ├── ProviderAuthFailed       PROVIDER_AUTH_FAILED     the provider refused the key
    ├── ProviderRateLimited      PROVIDER_RATE_LIMITED    429; worth trying again later
    ├── ProviderUnavailable      PROVIDER_UNAVAILABLE     5xx, or an answer that makes no sense
    ├── NetworkUnavailable       NETWORK_UNAVAILABLE      no connection to the provider
    ├── StyleSkillLoadFailed     STYLE_SKILL_LOAD_FAILED  a format's style guidance is not there
    └── StyleMergeFailed         STYLE_MERGE_FAILED       the house style stands beside no guidance

A message never holds an absolute path, a secret or a traceback: whoever raises one of these writes
it for the person or the model that will read it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = [
    "MACHINE_FAULTS",
    "AgentLoopDetected",
    "BlobCollected",
    "BudgetCapReached",
    "ConflictPublishedChanged",
    "ContextExhausted",
    "DiskFull",
    "EgressBlockedByPolicy",
    "EgressConsentRequired",
    "FileReadFailed",
    "FileWriteFailed",
    "KbdError",
    "LogCorrupt",
    "NetworkUnavailable",
    "NotFound",
    "OutOfMemory",
    "ProviderAuthFailed",
    "ProviderNotConfigured",
    "ProviderRateLimited",
    "ProviderUnavailable",
    "QuotaReached",
    "SandboxViolation",
    "StyleMergeFailed",
    "StyleSkillLoadFailed",
    "TooManyOpenFiles",
    "TooManyProcesses",
    "ToolTimeout",
    "ToolWorkerUnavailable",
    "TurnLimit",
    "UserCanceled",
    "ValidationFailed",
    "error_with_code",
    "machine_fault",
]


class KbdError(Exception):
    """The root: a message for people, a code for programs, and facts beside it.

    Args:
        message: What is wrong and, where it helps, what to do, in the form of all errors: "there is
            no file 'a.txt'; list_files tells which there are". It begins in lower case unless with
            a name, does not end in a full stop, and so can stand alone or in another text.
        retryable: Whether the same call may go through later; the class's default if None.
        actions: What the reader can do next, as short imperative texts of the same form.
        detail: Facts for programs, as plain values (file names, offsets, limits).
    """

    code: ClassVar[str] = "VALIDATION_FAILED"
    retryable_by_default: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        retryable: bool | None = None,
        actions: tuple[str, ...] = (),
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = self.retryable_by_default if retryable is None else retryable
        self.actions = actions
        self.detail: dict[str, Any] = dict(detail or {})


class ValidationFailed(KbdError):
    """The caller asked for something ill-formed or not allowed now."""

    code = "VALIDATION_FAILED"


class NotFound(KbdError):
    """The thing named does not exist."""

    code = "NOT_FOUND"


class BlobCollected(NotFound):
    """The bytes of a file version were removed on purpose; the message says when and why."""

    code = "BLOB_COLLECTED"


class SandboxViolation(KbdError):
    """A path would leave the workbench, or is of a kind that may not be opened."""

    code = "SANDBOX_VIOLATION"


class FileReadFailed(KbdError):
    """A file could not be read or parsed."""

    code = "FILE_READ_FAILED"


class FileWriteFailed(KbdError):
    """A file could not be written."""

    code = "FILE_WRITE_FAILED"


class DiskFull(KbdError):
    """No space is left on the device; what was acknowledged before is safe."""

    code = "DISK_FULL"
    retryable_by_default = True


class QuotaReached(KbdError):
    """The home takes as much of the disk as it may; `detail` has the quota and what is used."""

    code = "QUOTA_REACHED"
    retryable_by_default = True


class OutOfMemory(KbdError):
    """The machine has no memory left; what was acknowledged before is safe."""

    code = "OUT_OF_MEMORY"
    retryable_by_default = True


class TooManyOpenFiles(KbdError):
    """No descriptor is left, of this process or of the machine."""

    code = "TOO_MANY_OPEN_FILES"
    retryable_by_default = True


class TooManyProcesses(KbdError):
    """The system starts no further process or thread."""

    code = "TOO_MANY_PROCESSES"
    retryable_by_default = True


class LogCorrupt(KbdError):
    """A log is damaged where a torn write cannot explain it; `detail` has file and offset."""

    code = "LOG_CORRUPT"


class ConflictPublishedChanged(KbdError):
    """A published file is not what the draft started from; `detail["files"]` names them."""

    code = "CONFLICT_PUBLISHED_CHANGED"


class ToolWorkerUnavailable(KbdError):
    """The process that does a tool's work died or could not be started."""

    code = "TOOL_WORKER_UNAVAILABLE"
    retryable_by_default = True


class ToolTimeout(KbdError):
    """A tool passed its limit of time, memory or processor and was killed."""

    code = "TOOL_TIMEOUT"


class TurnLimit(KbdError):
    """A phase used up its turns without an answer."""

    code = "TURN_LIMIT"
    retryable_by_default = True


class AgentLoopDetected(KbdError):
    """The model made the same call over and over."""

    code = "AGENT_LOOP_DETECTED"
    retryable_by_default = True


class ContextExhausted(KbdError):
    """What must be sent does not fit into the model's window."""

    code = "CONTEXT_EXHAUSTED"


class BudgetCapReached(KbdError):
    """The tokens or the money set for a run or a day are spent."""

    code = "BUDGET_CAP_REACHED"
    retryable_by_default = True


class UserCanceled(KbdError):
    """Somebody cancelled the run; it can be resumed."""

    code = "USER_CANCELED"
    retryable_by_default = True


class EgressConsentRequired(KbdError):
    """File contents would leave the machine and nobody has agreed to that yet."""

    code = "EGRESS_CONSENT_REQUIRED"


class EgressBlockedByPolicy(KbdError):
    """A connection to an address that is not the provider's was refused."""

    code = "EGRESS_BLOCKED_BY_POLICY"


class ProviderNotConfigured(KbdError):
    """A key, an address or a model name is missing, or the provider is disabled."""

    code = "PROVIDER_NOT_CONFIGURED"


class ProviderAuthFailed(KbdError):
    """The provider refused the key (401, 403)."""

    code = "PROVIDER_AUTH_FAILED"


class ProviderRateLimited(KbdError):
    """The provider asked to slow down (429).

    Args:
        message: As for every error.
        retry_after_s: What the provider asked for, in seconds, if it said.
    """

    code = "PROVIDER_RATE_LIMITED"
    retryable_by_default = True

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ProviderUnavailable(KbdError):
    """The provider failed (408, 409, 5xx) or its answer was cut short.

    Args:
        message: As for every error.
        retry_after_s: What the provider asked for, in seconds, if it said.
    """

    code = "PROVIDER_UNAVAILABLE"
    retryable_by_default = True

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NetworkUnavailable(KbdError):
    """No connection to the provider could be made, or it broke."""

    code = "NETWORK_UNAVAILABLE"
    retryable_by_default = True


class StyleSkillLoadFailed(KbdError):
    """A format's guidance on style cannot be read; runs go on without it, and say so."""

    code = "STYLE_SKILL_LOAD_FAILED"


class StyleMergeFailed(KbdError):
    """The house style cannot stand beside a format's guidance; runs go on without, and say so."""

    code = "STYLE_MERGE_FAILED"


MACHINE_FAULTS = frozenset(
    kind.code
    for kind in (
        DiskFull, OutOfMemory, TooManyOpenFiles, TooManyProcesses, ToolTimeout,
        ToolWorkerUnavailable,
    )
)  # fmt: skip
"""Codes of failures that say something of the machine and nothing of what was asked."""

_PLAIN: dict[str, type[KbdError]] = {
    kind.code: kind
    for kind in (
        ValidationFailed, NotFound, BlobCollected, SandboxViolation, FileReadFailed,
        FileWriteFailed, DiskFull, QuotaReached, OutOfMemory, TooManyOpenFiles, TooManyProcesses,
        LogCorrupt, ConflictPublishedChanged, ToolWorkerUnavailable, ToolTimeout, TurnLimit,
        AgentLoopDetected, ContextExhausted, BudgetCapReached, UserCanceled,
        EgressConsentRequired, EgressBlockedByPolicy, ProviderNotConfigured, ProviderAuthFailed,
        NetworkUnavailable, StyleSkillLoadFailed, StyleMergeFailed,
    )
}  # fmt: skip


def error_with_code(code: str, message: str, detail: Mapping[str, Any] | None = None) -> KbdError:
    """Rebuild an error that crossed a process boundary as its code and message.

    An unknown code becomes `ToolWorkerUnavailable`: whatever sent it did not keep the protocol.
    """
    if code == ProviderRateLimited.code:
        return ProviderRateLimited(message)
    if code == ProviderUnavailable.code:
        return ProviderUnavailable(message)
    return _PLAIN.get(code, ToolWorkerUnavailable)(message, detail=detail)


def machine_fault(told: str) -> KbdError | None:
    """Return the error of a failed call that says something of the machine alone, else None.

    A provider that works by rules raises it: what was asked was not tried, and can be tried again.

    Args:
        told: The error as a model sees it, without `Error: ` before it.
    """
    code, _, message = told.partition(": ")
    if code not in MACHINE_FAULTS:
        return None
    # A note about repeated calls may stand behind it.
    error = error_with_code(code, message.partition("\n\n")[0])
    error.retryable = True
    return error
