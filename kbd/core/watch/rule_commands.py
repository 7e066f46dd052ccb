"""Subprocess of a rule's command for an outcome: no shell, no key of kbd's, a time limit."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

import anyio
import msgspec
from anyio.abc import Process

from kbd.core.domain.watch_state import Ended
from kbd.events.watches import WatchRule
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = ["CommandInput", "run_command"]

_MAX_PATHS_BYTES = 100_000
"""The most that `KBD_PATHS` takes: the system starts nothing with a variable of 128 KiB."""


class CommandInput(msgspec.Struct, frozen=True):
    """Standard input of a rule's command, as one JSON object; fields as in `Ended`."""

    watch_id: WatchId
    watch_name: str
    folder: str
    outcome: str
    paths: tuple[str, ...]
    landing_ids: tuple[Seq, ...]
    workbench_id: WorkbenchId
    run_id: RunId
    code: str
    message: str
    delivered: tuple[str, ...]


async def run_command(
    watch_id: WatchId,
    rule: WatchRule,
    ended: Ended,
    *,
    holds_key: Callable[[str], bool],
    limit_s: float,
) -> tuple[int | None, str]:
    """Run a rule's command; return its exit code, or None and why there is none.

    Args:
        watch_id: Whose.
        rule: Its rule, with the command.
        ended: The outcome.
        holds_key: Tells whether a text holds an API key.
        limit_s: Seconds after which it is killed, with what it started.
    """
    told = CommandInput(
        watch_id=watch_id,
        watch_name=rule.name,
        folder=rule.folder,
        outcome=ended.outcome,
        paths=ended.paths,
        landing_ids=ended.landings,
        workbench_id=ended.workbench_id,
        run_id=ended.run_id,
        code=ended.code,
        message=ended.message,
        delivered=ended.delivered,
    )
    try:
        process = await anyio.open_process(
            rule.on_outcome,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(told, holds_key),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds a NUL"
        return None, f"the command cannot be started: {reason}"
    try:
        with anyio.move_on_after(limit_s):
            await _write_input(process, msgspec.json.encode(told) + b"\n")
            return await process.wait(), ""
        return None, f"the command took longer than {limit_s:g} s and was killed"
    finally:
        with anyio.CancelScope(shield=True):
            await _kill(process)


async def _write_input(process: Process, text: bytes) -> None:
    """Write to a command's standard input, which it need not read."""
    if process.stdin is not None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await process.stdin.send(text)
        with suppress(anyio.BrokenResourceError, OSError):
            await process.stdin.aclose()


async def _kill(process: Process) -> None:
    """Kill a command that is still at work, with all of its session, and close its pipes."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(anyio.BrokenResourceError, OSError):
        await process.aclose()


def _environment(told: CommandInput, holds_key: Callable[[str], bool]) -> dict[str, str]:
    """Return the daemon's environment without keys, and with the outcome."""
    plain = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not holds_key(value)
    }
    paths = "\n".join(told.paths)
    return plain | {
        "KBD_WATCH_ID": told.watch_id,
        "KBD_OUTCOME": told.outcome,
        "KBD_WORKBENCH_ID": told.workbench_id,
        "KBD_RUN_ID": told.run_id,
        "KBD_CODE": told.code,
        "KBD_PATHS": paths if len(paths.encode(errors="replace")) <= _MAX_PATHS_BYTES else "",
    }
