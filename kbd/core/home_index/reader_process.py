"""Process that reads closed logs for the index, seen from the daemon."""

import subprocess
from collections.abc import Awaitable, Callable, Sequence

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from kbd.core.domain.daemon_state import KnownWorkbench
from kbd.core.home_index.reader import LENGTH
from kbd.core.home_index.rows import IndexedWorkbench
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.module_process import open_module
from kbd.core.runtime.paths import Home
from kbd.types import WatchId, WorkbenchId

__all__ = ["read_closed_logs"]

_BATCH = 128
"""How many rows are handed on together."""

_log = get_logger(__name__)


async def read_closed_logs(
    home: Home,
    wanted: Sequence[KnownWorkbench],
    assign: Callable[[dict[WorkbenchId, WatchId]], Awaitable[None]],
    put: Callable[[Sequence[IndexedWorkbench]], Awaitable[None]],
) -> bool:
    """Read the logs of closed workbenches; return whether all were read.

    The process dies with the task that waits for it.

    Args:
        home: The home.
        wanted: Whose logs.
        assign: Takes which workbench was made by which watch.
        put: Takes their rows, some at a time.
    """
    try:
        pipe, folder = subprocess.PIPE, str(home.folder)
        process = await open_module("kbd.core.home_index.reader", folder, stdin=pipe, stdout=pipe)
    except OSError as error:
        _log.warning("logs_not_read", fault=str(error))
        return False
    async with process:
        try:
            await _converse(process, wanted, assign, put)
        except (anyio.BrokenResourceError, anyio.IncompleteRead, anyio.EndOfStream) as error:
            _log.warning("logs_not_read", fault=type(error).__name__)
            return False
        await process.wait()
    return True


async def _converse(
    process: Process,
    wanted: Sequence[KnownWorkbench],
    assign: Callable[[dict[WorkbenchId, WatchId]], Awaitable[None]],
    put: Callable[[Sequence[IndexedWorkbench]], Awaitable[None]],
) -> None:
    """Say what is wanted, and hand on what comes: a row each."""
    assert process.stdin is not None, "it was asked for"
    assert process.stdout is not None, "likewise"
    # It reads all before it writes anything.
    await process.stdin.send(msgspec.msgpack.encode(tuple(wanted)))
    await process.stdin.aclose()
    output = BufferedByteReceiveStream(process.stdout)
    await assign(msgspec.msgpack.decode(await _part(output), type=dict[WorkbenchId, WatchId]))
    left = len(wanted)
    while left:
        batch: list[IndexedWorkbench] = []
        while left and len(batch) < _BATCH:
            batch.append(msgspec.msgpack.decode(await _part(output), type=IndexedWorkbench))
            left -= 1
        await put(batch)


async def _part(output: BufferedByteReceiveStream) -> bytes:
    (length,) = LENGTH.unpack(await output.receive_exactly(LENGTH.size))
    return await output.receive_exactly(length)
