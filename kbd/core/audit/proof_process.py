"""Subprocess of a proof, seen from the daemon: its messages, its start, its answer, its end.

One order, one answer, in JSON. The order is one line on the process's standard input, which then
stays open: its end means that the daemon is gone. The answer is all that it writes to its standard
output.
"""

import os
import shutil
import subprocess
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteReceiveStream, Process
from anyio.to_thread import run_sync

from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.module_process import open_module
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.runtime.process_tree import signal_name
from kbd.core.runtime.settings import Settings
from kbd.errors import (
    DiskFull,
    FileWriteFailed,
    ToolWorkerUnavailable,
    error_with_code,
)
from kbd.events.disk import is_full
from kbd.events.shortages import raise_shortage
from kbd.requests.replays import RunReplayed
from kbd.types import Seq, WorkbenchId

__all__ = ["ProofAnswer", "ProofOrder", "ProofRefused", "Proofs", "Proved"]


class ProofOrder(msgspec.Struct, frozen=True):
    """Request for a proof: which run, and what to use.

    Args:
        workbench_id: The workbench.
        root: Its folder.
        run: The run's number.
        until: The last event of the log that counts.
        scratch: The empty folder to write to.
        settings: The daemon's, with what its plugins were given; no key is among them.
        with_plugin: Another version of a plugin to use.
    """

    workbench_id: WorkbenchId
    root: str
    run: int
    until: Seq
    scratch: str
    settings: Settings
    with_plugin: str | None = None


class Proved(msgspec.Struct, frozen=True, tag=True):
    """Answer of a proof that was made."""

    found: RunReplayed


class ProofRefused(msgspec.Struct, frozen=True, tag="Refused"):
    """Answer of a proof that failed: the fields of a `KbdError`."""

    code: str
    message: str
    retryable: bool
    actions: tuple[str, ...]
    detail: dict[str, Any]


ProofAnswer = Proved | ProofRefused


MAX_CONCURRENT_PROOFS = 2
"""Proofs under way at once; each has workers of its own. Others wait."""

STOP_S = 3.0
"""Seconds in which a proof must end that is told to, before it is killed."""

OUTPUT_TAIL_BYTES = 4096
"""How much of the end of what it printed is kept for the daemon's own log."""

_log = get_logger(__name__)


class Proofs:
    """Proves runs, each in a process of its own, a few at once.

    Args:
        settings: The daemon's, with what its plugins were given.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._limiter = anyio.CapacityLimiter(MAX_CONCURRENT_PROOFS)

    async def prove(
        self, folders: WorkbenchFolders, run: int, until: Seq, with_plugin: str | None = None
    ) -> RunReplayed:
        """Prove a run: repeat its calls and return what differs; cancelling this ends the process.

        Args:
            folders: The workbench.
            run: The run's number.
            until: The last event of its log that counts.
            with_plugin: Another version of a plugin to use.

        Raises:
            ToolWorkerUnavailable: The process died, or could not be started.
            ValidationFailed: `with_plugin` is no plugin's package, or cannot be loaded.
            KbdError: As for `kbd.core.audit.proof.prove`.
        """
        async with self._limiter:
            scratch = folders.stage / f"proof-{uuid.uuid4().hex}"
            order = ProofOrder(
                workbench_id=folders.id,
                root=str(folders.root),
                run=run,
                until=until,
                scratch=str(scratch),
                settings=self._settings,
                with_plugin=with_plugin,
            )
            try:
                await run_sync(_make_scratch, scratch)
                return _parse_answer(await _run_process(order))
            finally:
                with anyio.CancelScope(shield=True):
                    await run_sync(_remove_scratch, scratch)


async def _run_process(order: ProofOrder) -> bytes:
    """Run one order in a process of its own and return the bytes of the answer."""
    try:
        pipe = subprocess.PIPE
        process = await open_module(
            "kbd.core.audit.proof_main", stdin=pipe, stdout=pipe, stderr=pipe
        )
    except OSError as error:
        raise_shortage(error)
        msg = f"the process of the proof cannot be started: {os.strerror(error.errno or 0)}"
        raise ToolWorkerUnavailable(msg) from None
    noise = _OutputTail()
    answer = bytearray()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(noise.drain, process.stderr)
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                assert process.stdin is not None
                # Not closed behind it: its end would tell the process that the daemon is gone.
                await process.stdin.send(msgspec.json.encode(order) + b"\n")
            assert process.stdout is not None
            async for piece in process.stdout:
                answer += piece
            code = await process.wait()
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _terminate(process)
    if code or not answer:
        _log.error("proof.died", code=code, printed=noise.text())
        how = f"was ended by {signal_name(-code)}" if code < 0 else "failed inside"
        msg = f"the process of the proof {how}; nothing was changed, and it can be asked for again"
        raise ToolWorkerUnavailable(msg)
    return bytes(answer)


def _parse_answer(answer: bytes) -> RunReplayed:
    parsed: ProofAnswer = msgspec.json.decode(answer, type=ProofAnswer)
    match parsed:
        case Proved(found=found):
            return found
        case ProofRefused() as refused:
            error = error_with_code(refused.code, refused.message, refused.detail)
            error.retryable, error.actions = refused.retryable, refused.actions
            raise error


class _OutputTail:
    """Tail of a process's output, which is drained so that a full pipe never blocks it."""

    def __init__(self) -> None:
        self._tail = b""

    async def drain(self, stream: ByteReceiveStream | None) -> None:
        """Read until it ends."""
        if stream is not None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for piece in stream:
                    self._tail = (self._tail + piece)[-OUTPUT_TAIL_BYTES:]

    def text(self) -> str:
        """Return the end of it."""
        return self._tail.decode("utf-8", "replace")


async def _terminate(process: Process) -> None:
    """End a process that is still at work, in order if it can, and close its pipes."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.terminate()
        with anyio.move_on_after(STOP_S):
            await process.wait()
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    with suppress(anyio.BrokenResourceError, OSError):
        await process.aclose()


def _make_scratch(scratch: Path) -> None:
    try:
        scratch.mkdir(mode=0o700)
    except OSError as error:
        if is_full(error):
            msg = "no space is left for a proof"
            raise DiskFull(msg) from None
        raise_shortage(error)
        msg = f"a proof has no place to write: {os.strerror(error.errno or 0)}"
        raise FileWriteFailed(msg) from None


def _remove_scratch(scratch: Path) -> None:
    # A worker whose proof was killed may write for a moment longer.
    for _ in range(3):
        shutil.rmtree(scratch, ignore_errors=True)
        if not scratch.exists():
            return
