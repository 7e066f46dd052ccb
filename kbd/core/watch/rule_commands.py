"""Commands of watch rules: a queue of the outcomes that are due, and a subprocess for each.

There is one run for each outcome, in order, at least once, across restarts. A command is run
without a shell and without a key of kbd's, within a time limit.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import msgspec
from anyio import CapacityLimiter
from anyio.abc import Process

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_decisions import RecordCommandEnd
from kbd.core.domain.watch_state import Ended, Watch
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.peers import ChildGate
from kbd.core.runtime.restarts import must_stop
from kbd.core.store.keeper import Keeper
from kbd.core.watch.job import CommandRunner
from kbd.core.watch.retry import submit_with_retry
from kbd.events.shortages import told_error
from kbd.events.watches import WatchCommandEnded, WatchRule
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = ["MAX_CONCURRENT_COMMANDS", "CommandInput", "OutcomeCommands", "run_command"]


MAX_CONCURRENT_COMMANDS = 8
"""How many commands run at once, each of another watch: they take little but somebody's minute."""

_log = get_logger(__name__)


class OutcomeCommands:
    """Runs the rule's command for each outcome that is due, of a removed watch, too.

    Args:
        keeper: The Keeper of the daemon's own log.
        notify: Runs a command.

    Attributes:
        wakeup: Rung when an outcome may be due.
    """

    def __init__(self, keeper: Keeper[DaemonState, DaemonCommand], notify: CommandRunner) -> None:
        self.wakeup = Notifier()
        self._keeper, self._notify = keeper, notify

    async def run(self) -> None:
        """Run what is due, for ever."""
        busy: set[WatchId] = set()
        limiter = CapacityLimiter(MAX_CONCURRENT_COMMANDS)

        async def catch_up(watch_id: WatchId) -> None:
            try:
                while (due := self._due(watch_id)) is not None:
                    async with limiter:
                        ended = await self._run_command(*due)
                    # Recorded after the run: a crash in between runs it again, hence at least once.
                    await submit_with_retry(self._keeper, RecordCommandEnd(ended))
            finally:
                busy.discard(watch_id)

        async with anyio.create_task_group() as tasks:
            while True:
                # Read before looking: what is due meanwhile rings, and the wait returns at once.
                rings = self.wakeup.rings
                for watch in self._watches():
                    if watch.due and watch.watch_id not in busy:
                        busy.add(watch.watch_id)
                        tasks.start_soon(catch_up, watch.watch_id)
                await self.wakeup.wait(rings)

    def _watches(self) -> tuple[Watch, ...]:
        return tuple(self._keeper.state.watching.watches.values())

    def _due(self, watch_id: WatchId) -> tuple[Watch, Ended] | None:
        watch = self._keeper.state.watching.watches.get(watch_id)
        return (watch, watch.due[0]) if watch is not None and watch.due else None

    async def _run_command(self, watch: Watch, ended: Ended) -> WatchCommandEnded:
        """Run the command for an outcome; one that cannot be run is noted, too."""
        try:
            exit_code, message = await self._notify(watch.watch_id, watch.rule, ended)
        except Exception as fault:
            if must_stop(fault):
                raise
            _log.error("watch_command_failed_inside", watch=watch.watch_id, exc_info=fault)
            exit_code, message = None, told_error(fault).message
        return WatchCommandEnded(watch.watch_id, ended.landings, exit_code, message)


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
    gate: ChildGate,
    open_files: int,
    umask: int = -1,
) -> tuple[int | None, str]:
    """Run a rule's command; return its exit code, or None and why there is none.

    Args:
        watch_id: Whose.
        rule: Its rule, with the command.
        ended: The outcome.
        holds_key: Tells whether a text holds an API key.
        limit_s: Seconds after which it is killed, with what it started.
        gate: Lets it speak to the daemon: it is the user's own, though the daemon has started it.
        open_files: How many files it may open, by its soft limit. The daemon's own may be a
            million, and programs exist that close each descriptor up to it.
        umask: What it is run with; -1 for the daemon's own, which lets nobody else read a file.
    """
    command_input = _tell(watch_id, rule, ended)
    told, telling = os.pipe()
    try:
        # No shell reads the command; a session of its own can be killed with all that it started.
        async with gate.starting():
            process = await anyio.open_process(
                _limited(rule.on_outcome, open_files, telling),
                stdin=subprocess.PIPE,
                # No pipes: nobody would read them, and a full one stops the command.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(command_input, holds_key),
                start_new_session=True,
                umask=umask,
                pass_fds=(telling,),
            )
            gate.admit(process.pid)
    except (OSError, ValueError) as error:
        os.close(told)
        reason = error.strerror if isinstance(error, OSError) else "it holds a NUL"
        return None, f"the command cannot be started: {reason}"
    finally:
        os.close(telling)
    try:
        with anyio.move_on_after(limit_s):
            if reason := await _start_fault(told):
                return None, f"the command cannot be started: {reason}"
            await _write_input(process, msgspec.json.encode(command_input) + b"\n")
            return await process.wait(), ""
        return None, f"the command took longer than {limit_s:g} s and was killed"
    finally:
        os.close(told)
        gate.forget(process.pid)
        with anyio.CancelScope(shield=True):
            await _kill(process)


def _tell(watch_id: WatchId, rule: WatchRule, ended: Ended) -> CommandInput:
    return CommandInput(
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


_START = """
import os, resource, signal, sys
telling, soft, *command = sys.argv[1:]
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(int(soft), hard), hard))
os.set_inheritable(int(telling), False)
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
try:
    os.execvp(command[0], command)
except OSError as error:
    os.write(int(telling), error.strerror.encode())
os._exit(127)
"""
"""Sets the limit and becomes the command; or tells why it cannot. Not set behind its start, when it
may have looked already, and not in the daemon, which would be short of descriptors meanwhile. What
Python has signals do is undone: a command inherits what is ignored."""


def _limited(command: Sequence[str], open_files: int, telling: int) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", _START, str(telling), str(open_files), *command]


async def _start_fault(told: int) -> str:
    """Wait until the command itself runs; return why it does not, or ""."""
    await anyio.wait_readable(told)
    return os.read(told, 1024).decode("utf-8", "replace")


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


def _environment(command_input: CommandInput, holds_key: Callable[[str], bool]) -> dict[str, str]:
    """Return the daemon's environment without keys, and with the outcome."""
    plain = {
        name: value
        for name, value in os.environ.items()
        # By name and by value: a key may be exported under any name (reliability, H1).
        if not name.endswith("_API_KEY") and not holds_key(value)
    }
    paths = "\n".join(command_input.paths)
    return plain | {
        "KBD_WATCH_ID": command_input.watch_id,
        "KBD_OUTCOME": command_input.outcome,
        "KBD_WORKBENCH_ID": command_input.workbench_id,
        "KBD_RUN_ID": command_input.run_id,
        "KBD_CODE": command_input.code,
        "KBD_PATHS": paths if len(paths.encode(errors="replace")) <= _MAX_PATHS_BYTES else "",
    }
