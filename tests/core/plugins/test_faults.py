"""Whatever a call does to its process, the daemon gets a typed error and goes on."""

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from kbd.core.plugins.worker_pool import WorkerPool
from kbd.errors import (
    FileReadFailed,
    FileWriteFailed,
    KbdError,
    NotFound,
    ToolTimeout,
    ToolWorkerUnavailable,
    ValidationFailed,
)
from kbd.tools import CallLimits

pytestmark = pytest.mark.anyio


@pytest.fixture
def workers(loose_workers: WorkerPool) -> WorkerPool:
    """Workers that are confined by nothing: all of this holds on a system without layers, too."""
    return loose_workers


LIMITS = CallLimits(
    wall_s=60, cpu_s=1, memory_bytes=1 << 30, file_bytes=1 << 20, result_bytes=1 << 20
)


CASES: list[tuple[str, dict[str, Any], type[KbdError], str]] = [
    ("segv", {}, FileReadFailed, "SIGSEGV: the library"),
    ("kill", {"number": signal.SIGABRT}, FileReadFailed, "SIGABRT"),
    ("kill", {"number": signal.SIGSYS}, FileReadFailed, "SIGSYS"),
    ("kill", {"number": signal.SIGKILL}, ToolTimeout, "SIGKILL.* the memory of the machine"),
    ("kill", {"number": signal.SIGINT}, ToolWorkerUnavailable, "SIGINT"),
    ("kill", {"number": signal.SIGTERM}, ToolWorkerUnavailable, "SIGTERM"),
    ("leave", {"status": 3}, FileReadFailed, "status 3"),
    ("leave", {"status": 0}, ToolWorkerUnavailable, "status 0"),
    ("exit_politely", {}, FileReadFailed, "SystemExit"),
    ("interrupt", {}, FileReadFailed, "KeyboardInterrupt"),
    ("memory", {}, ToolTimeout, "1024 MiB of memory"),
    ("spin", {}, ToolTimeout, "1 s of processor time"),
    ("write", {"target": "big", "size": 1 << 21}, ToolTimeout, "1 MiB"),
    ("unserialisable", {}, FileReadFailed, "cannot be sent"),
    ("deep", {}, FileReadFailed, "RecursionError"),
    ("enormous", {"size": 1 << 21}, ValidationFailed, "larger than 1048576 bytes"),
    ("fail_as", {"code": "LOG_CORRUPT", "size": 9}, ToolWorkerUnavailable, "no answer"),
    ("fail_as", {"code": "USER_CANCELED", "size": 9}, ToolWorkerUnavailable, "no answer"),
    ("fail_as", {"code": "NOT_FOUND", "size": 100_000}, NotFound, "^x{10000}…$"),
    ("garbage", {}, ToolWorkerUnavailable, "no answer"),
    ("announce", {"size": 1 << 31, "sent": 1 << 22}, ToolWorkerUnavailable, "status 0"),
    ("system", {"command": "true"}, FileReadFailed, "not a function of kbd_faults"),
    ("nothing_there", {}, FileReadFailed, "AttributeError"),
    ("kill_zygote", {}, ToolWorkerUnavailable, "died"),
]


async def call(workers: WorkerPool, function: str, **arguments: Any) -> Any:
    """Call a function of the plugin that misbehaves."""
    return await workers.call("faults", f"kbd_faults.work:{function}", arguments, LIMITS)


async def test_a_call_that_goes_wrong_is_a_typed_error(
    workers: WorkerPool, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The error names what happened, and the next call of the same plugin works."""
    for function, arguments, error, told in CASES:
        with subtests.test(function=function, **arguments):
            if "target" in arguments:
                arguments = arguments | {"target": str(tmp_path / arguments["target"])}
            with pytest.raises(error, match=told) as raised:
                await call(workers, function, **arguments)

            assert error.code == raised.value.code
            # Only what nobody's bytes did is worth another try.
            assert raised.value.retryable == (error is ToolWorkerUnavailable)
            assert await call(workers, "echo", value=[1, "two"]) == [1, "two"]


async def test_what_is_printed_is_harmless(workers: WorkerPool) -> None:
    """A megabyte on each of both streams is drained and is no part of the answer."""
    assert await call(workers, "print_noise", size=1 << 20) == "done"


async def test_a_call_prints_where_nobody_reads(workers: WorkerPool) -> None:
    """Of a pipe that calls share one could read what the others print, about other files."""
    assert await call(workers, "print_descriptors") == ["/dev/null"] * 3


async def test_a_call_has_no_power_of_root(workers: WorkerPool) -> None:
    """Under root, too, it cannot raise its limits again; it may open files of other owners."""
    assert await call(workers, "powers") & ~(1 << 1) == 0


async def test_standard_input_is_empty(workers: WorkerPool) -> None:
    """A child process that reads it gets its end, not a part of the protocol."""
    assert await call(workers, "child_reads") == "0"


async def test_an_interrupt_of_the_zygotes_group_is_ignored(workers: WorkerPool) -> None:
    """Ctrl-C in a terminal is the daemon's to handle."""
    zygote = await call(workers, "zygote")
    os.killpg(zygote, signal.SIGINT)

    assert await call(workers, "zygote") == zygote


async def test_an_error_of_kbd_comes_through(workers: WorkerPool) -> None:
    """Code, message, actions and detail are those that were raised in the worker."""
    with pytest.raises(NotFound) as raised:
        await call(workers, "missing")

    error = raised.value
    assert error.message == "no such thing"
    assert error.actions == ("look elsewhere",)
    assert error.detail == {"name": "thing"}


async def test_the_caller_names_the_failure(workers: WorkerPool) -> None:
    """A call that writes reports an odd exception as FILE_WRITE_FAILED."""
    with pytest.raises(FileWriteFailed):
        await workers.call("faults", "kbd_faults.work:unserialisable", {}, failure=FileWriteFailed)


@pytest.mark.parametrize("apart", [False, True])
async def test_a_timeout_leaves_no_process(
    workers: WorkerPool, tmp_path: Path, *, apart: bool
) -> None:
    """The call's group dies with it, and so does what fled into a session of its own."""
    note = tmp_path / "pid"
    arguments = {"pids": str(note), "apart": apart}
    seconds = 0.5
    # Again, with more time, until the call had the time to start its process.
    while not written(note):
        with pytest.raises(ToolTimeout, match="was stopped after"):
            await workers.call(
                "faults", "kbd_faults.work:linger", arguments, CallLimits(wall_s=seconds)
            )
        seconds *= 2

    assert not lives(note)


@pytest.mark.full
async def test_a_stopped_zygote_is_killed_with_all_below_it(
    workers: WorkerPool, tmp_path: Path
) -> None:
    """Also what fled into a session of its own: it is found below the zygote while that lives."""
    note = tmp_path / "pid"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: call(workers, "linger", pids=str(note), apart=True))
        while not written(note):  # noqa: ASYNC110 - another process writes it
            await anyio.sleep(0.01)
        os.kill(workers._alive["faults"]._process.pid, signal.SIGSTOP)
        tasks.cancel_scope.cancel()

    with anyio.fail_after(20):
        # It was orphaned, so nobody here hears of its end.
        while lives(note):  # noqa: ASYNC110 - likewise
            await anyio.sleep(0.01)
    assert await call(workers, "echo", value=1) == 1


async def test_cancelling_kills(workers: WorkerPool, tmp_path: Path) -> None:
    """When a cancelled call has returned, nothing that it started is alive."""
    note = tmp_path / "pid"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: call(workers, "linger", pids=str(note), apart=False))
        while not written(note):  # noqa: ASYNC110 - another process writes it
            await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()

    assert not lives(note)
    assert await call(workers, "echo", value=1) == 1


def written(note: Path) -> bool:
    """Return whether a process has noted its number."""
    return note.exists() and bool(note.read_text())


def lives(note: Path) -> bool:
    """Return whether the process whose number was noted is there; one that nobody reaped is not."""
    try:
        stat = Path(f"/proc/{note.read_text()}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
