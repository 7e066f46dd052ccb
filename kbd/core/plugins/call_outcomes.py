"""Outcomes of worker calls: a call's value, or the error that its caller sees."""

import os
import re
import signal
from typing import Any

import msgspec

from kbd.core.plugins.answer_shape import answer_fault
from kbd.core.plugins.set_aside import death_of
from kbd.core.plugins.worker_messages import (
    ERROR_BYTES,
    Answer,
    Crashed,
    Exceeded,
    Raised,
    Returned,
)
from kbd.core.plugins.worker_process import FinishedCall
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.folder_trees import MAX_ENTRIES
from kbd.core.runtime.process_tree import signal_name
from kbd.errors import (
    DiskFull,
    FileReadFailed,
    FileWriteFailed,
    KbdError,
    NotFound,
    OutOfMemory,
    SandboxViolation,
    StyleMergeFailed,
    StyleSkillLoadFailed,
    ToolTimeout,
    ToolWorkerUnavailable,
    TooManyOpenFiles,
    TooManyProcesses,
    ValidationFailed,
    error_with_code,
)
from kbd.events.shortages import shortage_of
from kbd.tools import CallLimits

__all__ = [
    "FOLDER_SHARE",
    "WorkerFault",
    "call_result",
    "limit_error",
    "strip_paths",
    "strip_volatile",
]

MIB = 1024 * 1024

FOLDER_SHARE = 2
"""A call may take so many times its largest file on the disk: one, and what it is made from."""

_PATH = re.compile(r"(?<![\w./:])/(?:[^\s/:'\"<>()\[\],;]+/)*([^\s/:'\"<>()\[\],;]*)")

_VOLATILE = re.compile(r"\b0x[0-9a-f]{4,}|[0-9a-f]{32,}|\btmp[a-z0-9_]{8}\b")
"""An address in memory, the name of a staged file, that of a temporary one (`tempfile`)."""


_CODES = frozenset(
    kind.code
    for kind in (
        ValidationFailed, NotFound, SandboxViolation, FileReadFailed, FileWriteFailed, DiskFull,
        OutOfMemory, TooManyOpenFiles, TooManyProcesses, ToolWorkerUnavailable, ToolTimeout,
        StyleSkillLoadFailed, StyleMergeFailed,
    )
)  # fmt: skip
"""What a worker may say that went wrong: something of its files or its arguments. That the log is
corrupt, that a person canceled or must agree is not for it to say: a run ends by that."""


class WorkerFault(Exception):
    """A call of a worker failed as no call should: a fault of its plugin.

    Args:
        error: What its caller is told.
        what: What the plugin did, in words that hold nothing that it said.
    """

    def __init__(self, error: KbdError, what: str) -> None:
        super().__init__(what)
        self.error, self.what = error, what


def call_result(
    finished: FinishedCall, limits: CallLimits, *, what: str, failure: type[KbdError]
) -> Any:
    """Return a call's value, or raise what went wrong.

    Args:
        finished: How the call ended.
        limits: What it was allowed.
        what: The call, as it is named in messages ("csv: read").
        failure: The error for exceptions of the plugin that are not KbdErrors.

    Raises:
        WorkerFault: It passed its wall time or processor time, its process died or did not keep the
            protocol, or the function raised what is no KbdError (`failure`, as for a process that
            broke), or one that is not for a worker to raise.
        ToolTimeout: It passed its memory or file size.
        TooManyProcesses: The system did not start its process; OutOfMemory likewise.
        KbdError: What the function raised.
    """
    if finished.timed_out:
        error: KbdError = ToolTimeout(
            f"{what} was stopped after {limits.wall_s:g} s", retryable=True
        )
        raise WorkerFault(error, error.message)
    if finished.answer is None:
        # Of a process that was never born the file and the plugin are not to blame.
        if (shortage := _birth_error(finished.status)) is not None:
            raise shortage
        error = _death_error(finished.status, limits, what, failure)
        raise WorkerFault(error, error.message)
    error = ToolWorkerUnavailable(f"the worker of {what} answered something that is no answer")
    # The bytes are the word of a process that a file may have taken over.
    if shape := answer_fault(finished.answer):
        get_logger(__name__).warning("worker.bad_answer", call=what, fault=shape)
        raise WorkerFault(error, error.message)
    try:
        answer = msgspec.msgpack.decode(finished.answer, type=Answer)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise WorkerFault(error, error.message) from None
    match answer:
        case Returned(value=value):
            return value
        case _ if len(finished.answer) > ERROR_BYTES:
            raise WorkerFault(error, error.message)
        case Raised(code=code) if code not in _CODES:
            raise WorkerFault(error, error.message)
        case Raised():
            error = error_with_code(answer.code, answer.message, answer.detail)
            error.retryable, error.actions = answer.retryable, answer.actions
            raise error
        case Exceeded(limit=limit):
            raise limit_error(limit, limits, what)
        case Crashed():
            log = get_logger(__name__)
            log.warning("worker.crashed", call=what, kind=answer.kind, exception=answer.trace)
            # Models and clients read this: no folder of this machine (facts/traps.md B 28), and the
            # same text when the call is made again.
            suffix = f": {strip_volatile(strip_paths(answer.message))}" if answer.message else ""
            msg = f"{what} failed with {answer.kind}{suffix}"
            raise WorkerFault(failure(msg), f"{what} failed with {answer.kind}")


def strip_paths(text: str) -> str:
    """Strip the folders from each absolute path in a text."""
    return _PATH.sub(lambda path: path[1] or "…", text)


def strip_volatile(text: str) -> str:
    """Strip from a text what would differ if the same call were made again."""
    return _VOLATILE.sub("…", text)


def limit_error(limit: str, limits: CallLimits, what: str) -> KbdError:
    """Return the error of a call that passed a limit: "memory", "file", "folder" or "result"."""
    match limit:
        case "memory":
            msg = f"{what} needs more than its {limits.memory_bytes // MIB} MiB of memory"
            return ToolTimeout(msg, detail={"limit": limit})
        case "folder":
            most = FOLDER_SHARE * limits.file_bytes // MIB
            msg = f"{what} may not write more than {most} MiB or {MAX_ENTRIES} files all together"
            return ToolTimeout(msg, detail={"limit": limit})
        case "file":
            msg = f"{what} may not write a file of more than {limits.file_bytes // MIB} MiB"
            return ToolTimeout(msg, detail={"limit": limit})
        case _:
            msg = f"the result of {what} is larger than {limits.result_bytes} bytes; ask for less"
            return ValidationFailed(msg, detail={"limit": limit})


def _birth_error(status: int | None) -> KbdError | None:
    """Return what the machine lacked for a process that could not be started; else None."""
    if status is None or status >= 0:
        return None
    return shortage_of(OSError(-status, os.strerror(-status)))


def _death_error(
    status: int | None, limits: CallLimits, what: str, failure: type[KbdError]
) -> KbdError:
    """Return the error for a call without an answer: whose fault it is, by how the process ended.

    What the file did is not tried again: the same bytes would do it again.
    """
    if status is None or status < 0:
        return ToolWorkerUnavailable(f"the worker of {what} died or could not be started")
    code = os.waitstatus_to_exitcode(status)
    detail: dict[str, Any]
    if code >= 0:
        ending, detail = f"exited with status {code}", {"status": code}
    else:
        name = signal_name(-code)
        ending, detail = f"was killed by {name}", {"signal": name}
    match death_of(None, status), -code:
        case None, _:
            return ToolWorkerUnavailable(f"the worker of {what} {ending}", detail=detail)
        case "crash", _:
            return failure(
                f"the worker of {what} {ending}: the library that reads such files broke down on "
                "it, as it does on damaged or hostile ones",
                detail=detail,
            )
        # The kernel's signal at the soft limit of processor time (RLIMIT_CPU).
        case _, signal.SIGXCPU:
            msg = f"{what} used up its {limits.cpu_s} s of processor time"
            return ToolTimeout(msg, detail={"limit": "cpu"})
        case _:
            msg = f"the worker of {what} {ending}, as where the memory of the machine is at its end"
            return ToolTimeout(msg, detail=detail)
