"""Traces of runs, sent to a collector as the runs end, where the settings name one.

A run is marked in the home when it starts, and the mark goes when the collector has taken its
trace. So nothing is sent twice after a stop, and after a crash what was not surely taken is sent
again, with the same ids. Nobody waits for it: not a run, not a client, not the stop.
"""

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio.to_thread import run_sync

from kbd.core.api.replays import fold_trace
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.run_state import RunStatus
from kbd.core.gateway.collector import Collector
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import KbdError, NotFound
from kbd.events.base import Recorded
from kbd.events.runs import RunCancelled, RunFailed, RunFinished, RunResumed, RunStarted
from kbd.events.workbenches import TraceSent
from kbd.types import RunId, WorkbenchId

__all__ = ["TraceSender"]

RETRIES_S = (1.0, 5.0, 30.0, 120.0, 300.0)
"""Waits between attempts while no collector answers; the last one again and again."""

MAX_UNSENT = 10_000
"""How many runs are marked at most: a collector that is gone for good does not fill the home."""

CLOSE_TIMEOUT_S = 1.0
"""A collector that does not let go keeps the daemon no longer than this."""

_PASSING = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses after which the same trace may be taken later."""

_OK = range(200, 300)

_RUN_ID = re.compile(r"[0-9a-f]{16}-[1-9][0-9]{0,9}")

_log = get_logger(__name__)


class TraceSender:
    """Sender of the traces of runs.

    Args:
        context: The daemon's.
        workbenches: Its workbenches.
    """

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches
        self._folder = context.home.unsent_traces
        self._collector = Collector(context.settings.otel.endpoint, context.settings.egress)
        # How often each run stopped or went on: odd if it has stopped. It only grows, so that what
        # comes while a trace is sent is noticed. And the marks that are not on the disk yet.
        self._unsent: dict[RunId, int] = {}
        self._unmarked: list[RunId] = []
        self._changed, self._ended = Notifier(), Notifier()
        self._failure = ""
        workbenches.observe_runs(self._observe)

    async def run(self) -> None:
        """Work until it is canceled."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._mark_started)
                await self._find_marked()
                await self._send_ended()
        finally:
            with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
                await self._collector.aclose()

    def _observe(self, workbench_id: WorkbenchId, record: Recorded) -> None:
        run_id = RunId(f"{workbench_id}-{record.run}")
        match record.data:
            case RunStarted() | RunResumed():
                if run_id not in self._unsent:
                    if len(self._unsent) >= MAX_UNSENT:
                        _log.warning("trace_dropped", run=run_id, reason="too many are unsent")
                        return
                    self._unmarked.append(run_id)
                    self._changed.ring()
                stops = self._unsent.setdefault(run_id, 0)
                self._unsent[run_id] = stops + stops % 2
            case RunFinished() | RunFailed() | RunCancelled():
                if run_id in self._unsent:
                    self._unsent[run_id] += 1 + self._unsent[run_id] % 2
                    self._ended.ring()
            case _:
                pass

    async def _mark_started(self) -> None:
        while True:
            rings = self._changed.rings
            fresh, self._unmarked = self._unmarked, []
            if fresh:
                try:
                    await run_sync(_mark, self._folder, fresh)
                except OSError as error:
                    # They are sent all the same, unless a crash comes first.
                    _log.warning("trace_not_marked", reason=error.strerror)
            await self._changed.wait(rings)

    async def _find_marked(self) -> None:
        """Find the runs that an earlier daemon did not send, and which of them have ended."""
        for run_id in await run_sync(_marked, self._folder):
            if run_id in self._unsent:
                continue
            workbench_id, _, number = run_id.partition("-")
            try:
                async with self._workbenches.glance(workbench_id) as workbench:
                    status = workbench.state.run(int(number)).status
                    is_over = status not in (RunStatus.RUNNING, RunStatus.INTERRUPTED)
                    # Before anything is waited for: its end may be observed from here on.
                    self._unsent.setdefault(run_id, int(is_over))
            except (NotFound, IndexError):
                await run_sync(_unmark, self._folder, run_id)
            except (KbdError, OSError) as error:
                # The mark stays, for the next daemon.
                reason = error.message if isinstance(error, KbdError) else error.strerror
                _log.warning("trace_not_sent", run=run_id, reason=reason)

    async def _send_ended(self) -> None:
        failures = 0
        while True:
            rings = self._ended.rings
            run_id = next((each for each, stops in self._unsent.items() if stops % 2), None)
            if run_id is None:
                await self._ended.wait(rings)
                continue
            stops = self._unsent[run_id]
            if await self._send(run_id):
                failures, self._failure = 0, ""
                # One that went on meanwhile is sent again when it ends.
                if self._unsent.get(run_id) == stops:
                    del self._unsent[run_id]
                    await run_sync(_unmark, self._folder, run_id)
            else:
                await anyio.sleep(RETRIES_S[min(failures, len(RETRIES_S) - 1)])
                failures += 1

    async def _send(self, run_id: RunId) -> bool:
        """Send the trace of a run; return whether there is nothing more to do for it."""
        try:
            trace = await self._trace(run_id)
        except NotFound:
            return True  # Deleted meanwhile.
        except (KbdError, OSError) as error:
            # Of a damaged log; the runs of others must not wait for it.
            reason = error.message if isinstance(error, KbdError) else error.strerror
            _log.warning("trace_not_made", run=run_id, reason=reason)
            return True
        try:
            status = await self._collector.send(trace, partial(self._record, run_id))
        except (KbdError, ConnectionError) as error:
            self._tell(run_id, error.message if isinstance(error, KbdError) else str(error))
            return False
        if status in _PASSING:
            self._tell(run_id, f"the collector answered with status {status}")
            return False
        if status not in _OK:
            # It would refuse the same again.
            _log.warning("trace_refused", run=run_id, status=status)
        return True

    async def _trace(self, run_id: RunId) -> bytes:
        named, _, number = run_id.partition("-")
        async with self._workbenches.glance(named) as workbench:
            fold = partial(
                fold_trace,
                workbench,
                int(number),
                workbench.keeper.journal.seq,
                has_content=self._context.settings.otel.content,
            )
            return (await run_sync(fold))[1]

    async def _record(self, run_id: RunId, leaving: Any) -> None:
        named, _, number = run_id.partition("-")
        sent = TraceSent(
            WorkbenchId(named),
            int(number),
            leaving.endpoint,
            leaving.path,
            leaving.bytes_out,
            has_content=self._context.settings.otel.content,
        )
        await self._workbenches.daemon.submit(RecordDaemon((sent,)))

    def _tell(self, run_id: RunId, reason: str) -> None:
        """Log why nothing can be sent, once for each reason."""
        if reason != self._failure:
            self._failure = reason
            _log.warning("trace_not_sent", run=run_id, reason=reason)


def _mark(folder: Path, run_ids: Sequence[RunId]) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    for run_id in run_ids:
        os.close(os.open(folder / run_id, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    # Before the run ends; until then a crash of the machine is all that could lose one.
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(held)
    finally:
        os.close(held)


def _marked(folder: Path) -> list[RunId]:
    """Return the runs that are marked; other names are left alone."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [RunId(name) for name in sorted(names) if _RUN_ID.fullmatch(name)][:MAX_UNSENT]


def _unmark(folder: Path, run_id: RunId) -> None:
    try:
        os.unlink(folder / run_id)
    except FileNotFoundError:
        pass  # it could not be marked
    except OSError as error:
        _log.warning("trace_not_unmarked", run=run_id, reason=error.strerror)
