"""Forked call: a process that confines itself, does the work of one call, answers, and dies."""

import contextlib
import ctypes
import errno
import os
import pkgutil
import resource
import signal
import socket
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from kbd.core.plugins.confinement.layers import Layers
from kbd.core.plugins.confinement.process import (
    CallReach,
    Filters,
    Software,
    confine_process,
    leave_network,
    take_orphans,
)
from kbd.core.plugins.worker_messages import (
    ERROR_BYTES,
    LENGTH_BYTES,
    Answer,
    Call,
    Crashed,
    Exceeded,
    Raised,
    Request,
    Returned,
    encode,
)
from kbd.errors import KbdError
from kbd.events.shortages import shortage_of
from kbd.tools import CallLimits

__all__ = ["ENTRY", "Workplace", "die_with_parent", "part_from_zygote", "run_call"]

ENTRY = "kbd.core.plugins.worker_entry"
"""The module of kbd whose functions may be called in any plugin's worker."""

OPEN_FILES = 64
"""Open files of one call (reliability, section 4)."""

MORE_PROCESSES = 128
"""Processes and threads that a call may add to those that there are: DuckDB and LibreOffice start a
few dozen."""

RESERVED_BYTES = 64 * 1024 * 1024
"""Address space kept back, so that a call out of memory can still say so."""

TRACE_CHARACTERS = 8000
MESSAGE_CHARACTERS = 500

LONG_MESSAGE_CHARACTERS = 10_000
"""What is kept of an error of kbd that is too large to be told whole: in UTF-8 less than that."""

PR_SET_PDEATHSIG = 1

# Loaded here, before a fork: each call would do it again.
_LIBC = ctypes.CDLL(None)


class Workplace(msgspec.Struct, frozen=True):
    """Workplace of all calls of one zygote.

    Args:
        package: The package that their functions must be from.
        software: What they use of this machine.
        filters: The filters of its system calls, if it has any.
        pid: The zygote's process.
    """

    package: str
    software: Software
    filters: Filters | None
    pid: int


def run_call(channel: socket.socket, call: Call, workplace: Workplace) -> NoReturn:
    """Do one call and exit; called in a child that has parted from its zygote.

    Args:
        channel: This call's own channel.
        call: What the process may use.
        workplace: Where it came from.
    """
    try:
        channel.settimeout(None)
        _limit_process(call.limits)
        # Written by the daemon; what follows it may be of anybody's making.
        reach = msgspec.msgpack.decode(_receive(channel), type=CallReach)
        if reach.folders:
            # Libraries put temporary files where the environment says, and may nowhere else: an
            # engine for formulas keeps those of a large workbook in one.
            os.environ["TMPDIR"] = reach.folders[0]
        _confine(reach, call.layers, workplace)
        _part_from_output()
        answer = _encode_answer(channel, workplace.package, call.limits)
        channel.sendall(len(answer).to_bytes(LENGTH_BYTES) + answer)
    except BaseException:  # noqa: BLE001 - told, if it was not confined, to who reads what is printed
        traceback.print_exc()
    finally:
        # Whatever happened above, this process must never go back to the zygote's loop.
        os._exit(0)


def part_from_zygote(zygote: int) -> None:
    """Make this process one of its own, which ends with the zygote and has none of its signals."""
    # A group of its own, so that killing it takes along whatever the call starts.
    os.setsid()
    die_with_parent(zygote)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; where it cannot, do nothing."""
    with contextlib.suppress(AttributeError, OSError):
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # It may have died before the kernel was asked.
    if os.getppid() != parent:
        os._exit(0)


def _confine(reach: CallReach, layers: Layers, workplace: Workplace) -> None:
    if reach.program or not layers.seccomp:
        # What leaves its parent stays below this process, and is found when it ends.
        take_orphans()
    if reach.program:
        leave_network()
        # The kernel may forget this where a process changes who it is.
        die_with_parent(workplace.pid)
    confine_process(reach, layers, workplace.software, workplace.filters)


def _part_from_output() -> None:
    """Part from where the zygote prints, which is the same for all its calls: to standard input.

    A pipe can be opened anew, to read what the others print, by whoever can write to it.
    """
    for descriptor in (1, 2):
        os.dup2(0, descriptor)


def _limit_process(limits: CallLimits) -> None:
    # A core dump would hold what was read.
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    # At the soft limit comes SIGXCPU, by which the daemon knows why; the hard one is for those
    # who catch it.
    _limit(resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1)
    # A short query of SQL took 20 GB and 103 s without it, and fails in 0.1 s with it (reliability
    # 0).
    _limit(resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes + RESERVED_BYTES)
    # Counted by the kernel over all processes of the user, and not for root.
    with contextlib.suppress(OSError):
        load = os.open("/proc/loadavg", os.O_RDONLY)
        # All of this machine: at least those of the user.
        there = int(os.read(load, 100).split()[3].partition(b"/")[2])
        os.close(load)
        _limit(resource.RLIMIT_NPROC, there + MORE_PROCESSES)


def _limit(which: int, soft: int, hard: int | None = None) -> None:
    _, allowed = resource.getrlimit(which)
    ceiling = soft if hard is None else hard
    if allowed != resource.RLIM_INFINITY:
        ceiling = min(ceiling, allowed)
    resource.setrlimit(which, (min(soft, ceiling), ceiling))


def _encode_answer(channel: socket.socket, package: str, limits: CallLimits) -> bytes:
    """Return the encoded answer, whatever the function does short of killing the process."""
    answer: Answer
    try:
        request = msgspec.msgpack.decode(_receive(channel), type=Request)
        function = _resolve(request.function, package)
        body = encode(Returned(function(**request.arguments)))
        if len(body) <= limits.result_bytes:
            return body
        answer = Exceeded("result")
    except KbdError as error:
        answer = Raised(error.code, error.message, error.retryable, error.actions, error.detail)
        with contextlib.suppress(TypeError, OverflowError, RecursionError):
            if len(encode(answer)) > ERROR_BYTES:
                message = f"{error.message[:LONG_MESSAGE_CHARACTERS]}…"
                answer = Raised(error.code, message, error.retryable, (), {})
    except MemoryError:
        # What was kept back above the soft limit is for this answer.
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        answer = Exceeded("memory")
    except BaseException as fault:  # noqa: BLE001 - also SystemExit and KeyboardInterrupt
        answer = _crash(fault)
    try:
        return encode(answer)
    except (TypeError, OverflowError, RecursionError) as fault:
        # What does not go through is the detail of a KbdError, or odd letters in a message.
        return encode(_crash(fault))


def _receive(channel: socket.socket) -> bytearray:
    return _receive_exactly(channel, int.from_bytes(_receive_exactly(channel, LENGTH_BYTES)))


def _receive_exactly(channel: socket.socket, size: int) -> bytearray:
    received = bytearray()
    # Not a byte more than asked for: the next message belongs to whoever reads it.
    while len(received) < size and (data := channel.recv(min(size - len(received), 1 << 20))):
        received += data
    return received


def _resolve(name: str, package: str) -> Callable[..., Any]:
    named = name.partition(":")[0]
    # Asked before: to resolve a name is to import its module.
    function = pkgutil.resolve_name(name) if _allowed(named, package) else None
    # A module can hold what it imported, so where the function was made counts, too.
    home = getattr(function, "__module__", None) or ""
    if not callable(function) or not _allowed(home, package):
        msg = f"{name} is not a function of {package}"
        raise PermissionError(msg)
    return function  # type: ignore[no-any-return]  # resolve_name promises nothing


def _allowed(module: str, package: str) -> bool:
    return module == ENTRY or f"{module}.".startswith(f"{package}.")


def _crash(fault: BaseException) -> Answer:
    if isinstance(fault, OSError) and fault.errno == errno.EFBIG:
        return Exceeded("file")
    # How many files a call may open is its own limit, and passing it its own fault.
    is_own_limit = isinstance(fault, OSError) and fault.errno == errno.EMFILE
    if not is_own_limit and (short := shortage_of(fault)) is not None:
        return Raised(short.code, short.message, short.retryable, short.actions, short.detail)
    try:
        message = str(fault)[:MESSAGE_CHARACTERS].encode("utf-8", "replace").decode()
    except Exception:  # noqa: BLE001 - a fault that cannot be told is still a fault
        message = ""
    trace = "".join(traceback.format_exception(fault, limit=-30))[-TRACE_CHARACTERS:]
    return Crashed(type(fault).__name__, message, trace.encode("utf-8", "replace").decode())
