"""Methods of replay: a run step by step, a workbench as it stood after an event, replay proofs.

A proof repeats the calls of a run in a process of its own.
"""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from kbd.core.audit.moment_folder import folder_files, write_moment
from kbd.core.audit.proof_process import Proofs
from kbd.core.audit.run_spans import encode_trace, fold_spans
from kbd.core.audit.steps import find_span, fold_step_events
from kbd.core.audit.whole_paths import resolve_new_folder
from kbd.core.domain.run_state import Run
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.history import files_at, run_at, state_at, state_hash
from kbd.core.store.log_reader import LogReader
from kbd.core.workbench.destination import is_folder_path
from kbd.core.workbench.extraction import record_planned_writes
from kbd.core.workbench.rows import run_info
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import LogCorrupt, NotFound, ValidationFailed
from kbd.events.base import FileVersion, Recorded
from kbd.events.codec import NotUnderstood, format_time
from kbd.requests import replays as wire
from kbd.requests.base import Request
from kbd.requests.replays import ReplayRun, RunReplayed
from kbd.types import FileName, RunId, Seq, WorkbenchId

__all__ = ["PAGE_BYTES", "ProofMethods", "ReplayMethods", "fold_trace"]


PAGE_BYTES = 1 << 20
"""How much JSON of steps one answer holds; a first step that is larger is told alone."""

MAX_TRACE_BYTES = 8 << 20
"""The longest trace of an answer: some 10,000 spans without content."""

MAX_CONCURRENT_FOLDS = 2
"""How many logs are folded, and how many moments are written at the same time; others wait."""


class _CachedSteps(msgspec.Struct, frozen=True):
    """Cached steps of a run as of an event, for the pages that are requested next."""

    run_id: RunId
    seq: Seq
    steps: tuple[wire.Step, ...]


class ReplayMethods:
    """Handlers of replay: the steps of runs, and the state at events."""

    def __init__(self, workbenches: Workbenches) -> None:
        self._workbenches = workbenches
        self._cached_steps: _CachedSteps | None = None
        # A folder of the user's may hang for ever; nothing but other moments may wait for it.
        self._folding, self._writing = (
            CapacityLimiter(MAX_CONCURRENT_FOLDS),
            CapacityLimiter(MAX_CONCURRENT_FOLDS),
        )

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.ReplaySteps: self.steps,
            wire.RunGetSpans: self.spans,
            wire.StateAt: self.state,
        }

    async def steps(self, request: wire.ReplaySteps, session: Session) -> wire.StepsFound:
        """Return steps of a run; of a log that is damaged, those before the damage.

        Raises:
            NotFound: There is no such run.
        """
        del session
        named, _, number = request.run_id.partition("-")
        workbench_id = WorkbenchId(named)
        with self._workbenches.held(workbench_id):
            workbench = await self._workbenches.open(workbench_id)
            run = _find_run(workbench, request.run_id, int(number))
            steps = await self._steps(workbench, run, request.run_id)
            page = await run_sync(_first_page, steps[request.after :], request.limit)
            if request.after + len(page) >= len(steps):
                self._cached_steps = None  # Whoever read on has all of it.
            return wire.StepsFound(
                run=run_info(workbench.state, run),
                request=_request_text(workbench, run),
                steps=page,
                total=len(steps),
            )

    async def spans(self, request: wire.RunGetSpans, session: Session) -> wire.SpansFound:
        """Return a run as a trace of OpenTelemetry; of a log that is damaged, what comes before it.

        Raises:
            NotFound: There is no such run.
            ValidationFailed: It is too long for an answer.
        """
        del session
        named, _, number = request.run_id.partition("-")
        workbench_id = WorkbenchId(named)
        with self._workbenches.held(workbench_id):
            workbench = await self._workbenches.open(workbench_id)
            run = _find_run(workbench, request.run_id, int(number))
            last = workbench.keeper.journal.seq
            fold = partial(fold_trace, workbench, run.number, last, has_content=request.content)
            count, trace = await run_sync(fold, limiter=self._folding)
        if len(trace) > MAX_TRACE_BYTES:
            msg = f"the trace has {len(trace)} bytes and an answer holds {MAX_TRACE_BYTES}"
            raise ValidationFailed(msg, actions=("leave the content out",))
        return wire.SpansFound(run_id=request.run_id, spans=count, otlp=trace.decode())

    async def state(self, request: wire.StateAt, session: Session) -> wire.StateFound:
        """Return the state of a workbench after an event; write it to a folder if one is named.

        Raises:
            NotFound: There is no such workbench, or no such event.
            LogCorrupt: The log is damaged before it, or bytes of a file are.
            ValidationFailed: The folder is none that can be written to.
            DiskFull: There is no space in it.
            FileWriteFailed: It cannot be written.
        """
        workbench = await self._workbenches.open(request.workbench_id)
        # What is not durable yet nobody may see.
        if request.seq > (last := workbench.keeper.journal.seq) and workbench.damage is None:
            msg = f"the log ends at event {last}; there is no event {request.seq}"
            raise NotFound(msg, detail={"last_seq": last})
        state = await run_sync(state_at, workbench.folders.log, request.seq, limiter=self._folding)
        destination = ""
        if not isinstance(request.destination_dir, msgspec.UnsetType):
            destination = await self._written(
                workbench.acting(session.actor), state, request.destination_dir
            )
        return wire.StateFound(
            workbench_id=workbench.id,
            seq=request.seq,
            ts=format_time(state.updated_at_us),
            name=state.name,
            state_hash=await run_sync(state_hash, state),
            files=files_at(state),
            draft_id=state.draft.draft_id if state.draft else "",
            run=run_at(state),
            destination=destination,
        )

    async def _steps(
        self, workbench: OpenWorkbench, run: Run, run_id: RunId
    ) -> tuple[wire.Step, ...]:
        last = workbench.keeper.journal.seq
        cached = self._cached_steps
        if cached is None or (cached.run_id, cached.seq) != (run_id, last):
            reader = workbench.keeper.journal.reader
            steps = await run_sync(_fold_steps, reader, run.number, last, limiter=self._folding)
            cached = self._cached_steps = _CachedSteps(run_id, last, steps)
        return cached.steps

    async def _written(
        self, workbench: OpenWorkbench, state: WorkbenchState, directory: str
    ) -> str:
        """Write a moment to a folder; a watch there starts no run for it."""
        daemon = self._workbenches.daemon
        files = [
            # Only names and hashes are recorded of planned writes; the size is not asked for.
            FileVersion(FileName(f"{folder}/{name}"), blob, 0)
            for folder, held in folder_files(state).items()
            for name, blob in held.items()
        ]
        resolve = partial(
            resolve_new_folder, Path(directory), "the moment", workbench.folders.find_home()
        )
        place = await run_sync(resolve, limiter=self._writing)
        await record_planned_writes(daemon, str(place), files, actor=workbench.actor)
        write = partial(write_moment, state, workbench.blobs.store, place)
        await run_sync(write, limiter=self._writing)
        return str(place)


def _find_run(workbench: OpenWorkbench, run_id: RunId, number: int) -> Run:
    try:
        return workbench.state.run(number)
    except IndexError:
        msg = f"there is no run {run_id}"
        raise NotFound(msg) from None


def _request_text(workbench: OpenWorkbench, run: Run) -> str:
    asked = workbench.state.request_of(run)
    return asked.text if asked is not None else ""


def _fold_steps(reader: LogReader, run: int, last: Seq) -> tuple[wire.Step, ...]:
    return tuple(each.step for each in fold_step_events(run, _span_of(reader, run, last)))


def _span_of(reader: LogReader, run: int, last: Seq) -> list[tuple[Seq, Recorded]]:
    """Return the events of a run's span; the log is read from near its beginning on."""
    return find_span(run, _readable(reader, reader.outline().before_run(run), last))


def _readable(reader: LogReader, after: Seq, last: Seq) -> Iterator[tuple[Seq, Recorded]]:
    """Yield events up to one, or to where damage begins."""
    try:
        yield from reader.read(after, last)
    except NotUnderstood:
        raise
    except LogCorrupt:
        return


def fold_trace(
    workbench: OpenWorkbench, run: int, last: Seq, *, has_content: bool
) -> tuple[int, bytes]:
    """Return how many spans a run has, and its trace. Blocks."""
    events = _span_of(workbench.keeper.journal.reader, run, last)
    spans = fold_spans(workbench.id, run, events, has_content=has_content)
    return len(spans), encode_trace(workbench.id, run, spans)


def _first_page(steps: Sequence[wire.Step], limit: int) -> tuple[wire.Step, ...]:
    """Return the first steps, as many as were asked for and fit into an answer."""
    page: list[wire.Step] = []
    size_bytes = 0
    for step in steps[:limit]:
        size_bytes += len(msgspec.json.encode(step))
        if page and size_bytes > PAGE_BYTES:
            break
        page.append(step)
    return tuple(page)


class ProofMethods:
    """Handler of replay proofs."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._workbenches = workbenches
        given = {plugin.name: dict(plugin.settings) for plugin in context.plugins.loaded()}
        self._prover = Proofs(msgspec.structs.replace(context.settings, plugins=given))

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {ReplayRun: self.replay}

    async def replay(self, request: ReplayRun, session: Session) -> RunReplayed:
        """Repeat every call of a run and compare the results.

        Raises:
            NotFound: There is no such run.
            ValidationFailed: `with_plugin` is no full path, or no plugin's package.
            ToolWorkerUnavailable: The process died.
            KbdError: The log is damaged before the run's end, or there is no room.
        """
        del session
        with_plugin = None
        if not isinstance(request.with_plugin, msgspec.UnsetType):
            with_plugin = request.with_plugin
            if not is_folder_path(with_plugin):
                msg = "with_plugin must be an absolute path: the daemon has no current folder"
                raise ValidationFailed(msg)
            # Before a process is started for it.
            if not await run_sync(os.path.exists, with_plugin):
                msg = "with_plugin is not there: neither a folder nor a wheel"
                raise ValidationFailed(msg)
        workbench_id, _, number = request.run_id.partition("-")
        workbench = await self._workbenches.open(workbench_id)
        if int(number) > len(workbench.state.runs):
            msg = f"there is no run {request.run_id}"
            raise NotFound(msg)
        with self._workbenches.held(workbench.id):
            found = await self._prover.prove(
                workbench.folders, int(number), workbench.keeper.journal.seq, with_plugin
            )
        if self._workbenches.opened(workbench.id) is not workbench:
            msg = "the workbench was deleted while its run was proved"
            raise NotFound(msg)
        return found
