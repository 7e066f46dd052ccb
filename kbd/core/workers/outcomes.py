"""What the end of a call means: its value, or the error that the caller sees."""

import os
import re
import signal
from typing import Any

import msgspec
import structlog

from kbd.core.workers.process import Finished
from kbd.core.workers.wire import Answer, Crashed, Exceeded, Raised, Returned
from kbd.errors import (
    KbdError,
    ToolTimeout,
    ToolWorkerUnavailable,
    ValidationFailed,
    error_with_code,
)
from kbd.tools import CallLimits

__all__ = ["outcome", "steady", "without_paths"]

MIB = 1024 * 1024

_PATH = re.compile(r"(?<![\w./:])/(?:[^\s/:'\"<>()\[\],;]+/)*([^\s/:'\"<>()\[\],;]*)")

_MOMENTARY = re.compile(r"\b0x[0-9a-f]{4,}|[0-9a-f]{32,}|\btmp[a-z0-9_]{8}\b")
"""An address in memory, the name of a staged file, that of a temporary one (`tempfile`)."""


def outcome(finished: Finished, limits: CallLimits, *, what: str, failure: type[KbdError]) -> Any:
    """Return a call's value, or raise what went wrong.

    Args:
        finished: How the call ended.
        limits: What it was allowed.
        what: The call, as it is named in messages ("csv: read").
        failure: The error for exceptions of the plugin that are not KbdErrors.

    Raises:
        ToolTimeout: It passed its wall time, processor time, memory or file size.
        ToolWorkerUnavailable: Its process died, or did not keep the protocol.
        KbdError: What the function raised; `failure` for anything that is not a KbdError.
    """
    if finished.timed_out:
        msg = f"{what} was stopped after {limits.wall_s:g} s."
        raise ToolTimeout(msg)
    if finished.answer is None:
        raise _death(finished.status, limits, what)
    try:
        answer = msgspec.msgpack.decode(finished.answer, type=Answer)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        msg = f"The worker of {what} answered something that is no answer."
        raise ToolWorkerUnavailable(msg) from None
    match answer:
        case Returned(value=value):
            return value
        case Raised():
            error = error_with_code(answer.code, answer.message, answer.detail)
            error.retryable, error.actions = answer.retryable, answer.actions
            raise error
        case Exceeded(limit=limit):
            raise _exceeded(limit, limits, what)
        case Crashed():
            log = structlog.get_logger(__name__)
            log.warning("worker.crashed", call=what, kind=answer.kind, exception=answer.trace)
            told = f": {steady(without_paths(answer.message))}" if answer.message else ""
            msg = f"{what} failed with {answer.kind}{told}"
            raise failure(msg)


def without_paths(text: str) -> str:
    """Return a text with each absolute path in it cut to its last part."""
    return _PATH.sub(lambda path: path[1] or "…", text)


def steady(text: str) -> str:
    """Return a text without what would be otherwise if the same call were made again."""
    return _MOMENTARY.sub("…", text)


def _exceeded(limit: str, limits: CallLimits, what: str) -> KbdError:
    match limit:
        case "memory":
            msg = f"{what} needs more than its {limits.memory_bytes // MIB} MiB of memory."
            return ToolTimeout(msg, detail={"limit": limit})
        case "file":
            msg = f"{what} may not write a file of more than {limits.file_bytes // MIB} MiB."
            return ToolTimeout(msg, detail={"limit": limit})
        case _:
            msg = f"The result of {what} is larger than {limits.result_bytes} bytes; ask for less."
            return ValidationFailed(msg, detail={"limit": limit})


def _death(status: int | None, limits: CallLimits, what: str) -> KbdError:
    if status is None or status == -1:
        return ToolWorkerUnavailable(f"The worker of {what} died or could not be started.")
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return ToolWorkerUnavailable(f"The worker of {what} exited with status {code}.")
    if -code == signal.SIGXCPU:
        msg = f"{what} used up its {limits.cpu_s} s of processor time."
        return ToolTimeout(msg, detail={"limit": "cpu"})
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return ToolWorkerUnavailable(f"The worker of {what} was killed by {name}.")
