"""Replay proof of a run: folds the log, repeats each call, and compares the results.

It writes to a folder of its own, laid over the workbench's blobs, which it only reads.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import anyio
import msgspec
from anyio import from_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from anyio.to_thread import run_sync

from kbd.core.agent.tool_execution import ToolExecution
from kbd.core.audit.differences import diff_files, diff_outcomes, differing_parts
from kbd.core.audit.reading_changes import ComparedReadings, ShownTables
from kbd.core.audit.recorded_calls import (
    CallFold,
    CallOutcome,
    RecordedCall,
    hit_a_limit,
    recorded_outcome,
    repeat_call,
    skip_reason,
)
from kbd.core.domain.state_text import collection_text
from kbd.core.domain.workbench_state import CollectionNote, WorkbenchState
from kbd.core.plugins.catalog import Catalog, ToolEntry
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugin
from kbd.core.plugins.renderer import PrintedDocuments, Renderer
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.runtime.settings import Settings
from kbd.core.search.lookup import DocumentLookup, NoLookupModels, open_lexical_engine
from kbd.core.store.blob_marks import read_collected
from kbd.core.workbench.call_files import CallFiles, describe_file
from kbd.core.workbench.file_store import Blobs
from kbd.errors import FileReadFailed, KbdError, NotFound
from kbd.events.base import PluginUsed
from kbd.events.blobs import BlobStore
from kbd.events.disk import Disk
from kbd.events.drafts import FileChanged
from kbd.events.runs import ToolReturned
from kbd.events.scan import LogSurvey, read_log
from kbd.requests.replays import (
    Divergence,
    FileDiff,
    PluginCompared,
    RunReplayed,
    SkippedCall,
)
from kbd.types import BlobHash, RunId, Seq

__all__ = ["RecordedRecall", "RecordedResults", "ScratchBlobs", "prove"]


class _NoSyncDisk(Disk):
    """Disk without fsync: nothing here needs to outlive a power cut."""

    def fsync(self, fd: int) -> None:
        """Return at once."""

    def fdatasync(self, fd: int) -> None:
        """Return at once."""


class ScratchBlobs(Blobs):
    """The workbench's blobs, with what is put landing elsewhere.

    Args:
        recorded: The folder of the workbench's blobs.
        scratch: The folder for new ones.
    """

    def __init__(self, recorded: Path, scratch: Path) -> None:
        super().__init__(BlobStore(scratch, _NoSyncDisk()))
        self._recorded = BlobStore(recorded)
        self._lock = anyio.Lock()
        self._made: Counter[BlobHash] = Counter()

    async def adopt(self, staged: Path) -> tuple[BlobHash, int]:
        """Move a staged file in; it stays until it is forgotten as often as it was made.

        Raises:
            DiskFull: No space is left.
        """
        async with self._lock:
            blob, size_bytes = await super().adopt(staged)
            # Within the lock: a release of the same bytes in between would remove what was just
            # made.
            self._made[blob] += 1
        return blob, size_bytes

    async def read(self, blob: BlobHash) -> bytes:
        """Return all bytes of a recorded blob; raises NotFound."""
        return await run_sync(self._recorded.read, blob)

    def check(self, blob: BlobHash) -> None:
        """Check a recorded blob; raises NotFound or BlobDamaged. Blocking."""
        self._recorded.check(blob)

    def is_recorded(self, blob: BlobHash) -> bool:
        """Return whether a recorded blob is there. Blocking."""
        return self._recorded.has(blob)

    def path(self, blob: BlobHash) -> Path:
        """Return where a recorded blob lies."""
        return self._recorded.path(blob)

    def scratch_path(self, blob: BlobHash) -> Path:
        """Return where a blob lies that was made here."""
        return self.store.path(blob)

    async def release(self, blob: BlobHash) -> None:
        """Remove a blob that was made here, unless another call has made the same."""
        async with self._lock:
            self._made[blob] -= 1
            if not self._made[blob]:
                await run_sync(lambda: self.scratch_path(blob).unlink(missing_ok=True))


class _ResultSpan(msgspec.Struct, frozen=True):
    """Location of a result, and which event returned it."""

    seq: Seq
    blob: BlobHash | None
    at: int = 0
    size_bytes: int = 0


class RecordedResults:
    """Results of a workbench's calls, on disk: a long log has more than memory should hold.

    Args:
        file: Where to keep them; made anew.
        blobs: Those that are too long for the log.
    """

    def __init__(self, file: Path, blobs: Blobs) -> None:
        self._blobs = blobs
        self._fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._end = 0
        self._spans: dict[int, _ResultSpan] = {}

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def add(self, seq: Seq, returned: ToolReturned) -> None:
        """Store the result that an event returned."""
        if returned.blob is not None:
            self._spans[returned.entry_id] = _ResultSpan(seq, returned.blob)
            return
        data = (returned.result or returned.shown).encode()
        self._spans[returned.entry_id] = _ResultSpan(seq, None, self._end, len(data))
        # pwrite(2) may take less than it was given.
        view = memoryview(data)
        while view:
            written = os.pwrite(self._fd, view, self._end)
            self._end, view = self._end + written, view[written:]

    async def read(self, entry_id: int, before: Seq) -> bytes:
        """Return a result that was recorded before an event.

        Raises:
            NotFound: There is none of that number.
        """
        span = self._spans.get(entry_id)
        if span is None or span.seq >= before:
            msg = f"no tool result has the entry id {entry_id}"
            raise NotFound(msg)
        if span.blob is not None:
            return await self._blobs.read(span.blob)
        return await run_sync(os.pread, self._fd, span.size_bytes, span.at)


class RecordedRecall:
    """`kbd.tools.Recall` for one call: what had been returned before it ended.

    Args:
        results: Of the workbench.
        before: The event that recorded the call's end.
    """

    def __init__(self, results: RecordedResults, before: Seq) -> None:
        self._results, self._before = results, before

    async def result(self, entry_id: int) -> bytes:
        """Return the whole result of an earlier call; raises NotFound."""
        return await self._results.read(entry_id, self._before)


MAX_CONCURRENT_CALLS = 4
"""Calls that are done at once, where there are so many cores: all that each needs is recorded."""

CALLS_AHEAD = 4
"""Calls that are read from the log before they are done."""

MAX_DETAIL_BYTES = 512 * 1024
"""How much of differences is told; of the calls behind that only which parts differ."""


async def prove(
    folders: WorkbenchFolders,
    run: int,
    scratch: Path,
    *,
    catalog: Catalog,
    workers: WorkerPool,
    settings: Settings,
    until: Seq | None = None,
) -> RunReplayed:
    """Repeat every recorded call of a run and compare; only `scratch` is written to.

    Args:
        folders: The workbench, of which `log` and `blobs` are read.
        run: The run's number.
        scratch: An empty folder for what the calls write; whoever made it removes it.
        catalog: The tools and formats that do the calls.
        workers: Their processes, running.
        settings: What a run may use, and what of documents is searched.
        until: The last event of the log that counts; all that are there if None.

    Raises:
        NotFound: There is no such run.
        LogCorrupt: The log is damaged before the run's end.
        NotUnderstood: An event that must be understood is not known.
        DiskFull: There is no room for what the calls write.
    """
    proof = _Proof(folders, scratch, catalog, workers, settings)
    began_s = SystemClock().monotonic_s()
    await proof.run(run, until)
    took_ms = int((SystemClock().monotonic_s() - began_s) * 1000)
    return await proof.answer(RunId(f"{folders.id}-{run}"), took_ms)


ReportedCall = RecordedCall | SkippedCall

CallFilesFactory = Callable[[WorkbenchState], CallFiles]


class _Proof:
    """Proof in progress, and its findings."""

    def __init__(
        self,
        folders: WorkbenchFolders,
        scratch: Path,
        catalog: Catalog,
        workers: WorkerPool,
        settings: Settings,
    ) -> None:
        self._folders, self._scratch = folders, scratch
        self._catalog, self._workers = catalog, workers
        self._limits = settings.run
        for part in ("stage", "blobs", "cache"):
            (scratch / part).mkdir(mode=0o700)
        self._blobs = ScratchBlobs(folders.blobs, scratch / "blobs")
        self._results = RecordedResults(scratch / "results", self._blobs)
        printed = PrintedDocuments(
            Renderer(settings), workers, scratch / "cache", scratch / "stage"
        )
        self._formats = FormatCalls(catalog, workers, scratch / "cache", printed)
        self._engine = open_lexical_engine(
            self._formats, scratch / "cache" / "index", settings.search.document_characters
        )
        self._plugins = _plugins_by_package(catalog)
        self._calls = self._equal = self._files = self._refusals = 0
        self._failure: KbdError | None = None
        self._divergences: list[Divergence] = []
        self._readings: dict[Seq, ComparedReadings] = {}
        self._shown = ShownTables()
        self._skipped: list[SkippedCall] = []
        self._used: dict[PluginUsed, None] = {}
        self._detail_bytes = 0
        self._collected: dict[BlobHash, CollectionNote] = {}

    async def run(self, run: int, until: Seq | None) -> None:
        """Read the log in a thread, and repeat its calls meanwhile.

        Raises:
            KbdError: As for `prove`.
        """
        self._collected = await run_sync(read_collected, self._folders.log)
        send, receive = anyio.create_memory_object_stream[ReportedCall](CALLS_AHEAD)
        reader = _Reader(self._folders.log, run, until, send)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(
                    partial(reader.run, open_files=self._open_files, results=self._results)
                )
                for _ in range(min(MAX_CONCURRENT_CALLS, os.cpu_count() or 1)):
                    tasks.start_soon(self._prove_calls, receive.clone(), tasks.cancel_scope)
                # Only the clones are left: with the last of them closed, the reader's send fails
                # and does not wait.
                receive.close()
        finally:
            self._results.close()
            await self._engine.aclose()
        failure = self._failure or reader.failure
        if failure is not None:
            raise failure

    async def _prove_calls(
        self, calls: MemoryObjectReceiveStream[ReportedCall], scope: anyio.CancelScope
    ) -> None:
        """Repeat calls until there are no more; what prevents the proof ends it for all."""
        with calls:
            try:
                async for call in calls:
                    await self._prove_call(call)
            except KbdError as fault:
                self._failure = self._failure or fault
                scope.cancel()

    async def _prove_call(self, call: ReportedCall) -> None:
        """Repeat one call, and compare its outcome."""
        if isinstance(call, SkippedCall):
            self._skipped.append(call)
            return
        self._used.update(dict.fromkeys(call.plugins))
        reason = skip_reason(call)
        if reason is not None:
            self._skip(call, reason)
            return
        try:
            recorded = await recorded_outcome(call, self._blobs)
            arguments = call.call.arguments
            if call.call.blob is not None:
                arguments = (await self._blobs.read(call.call.blob)).decode("utf-8", "replace")
        except NotFound:
            msg = f"a blob of the call of event {call.seq} is missing: `kbd verify` says which"
            raise FileReadFailed(msg) from None
        # The repetition sees the files of its own moment, so calls may run side by side, in any
        # order.
        replayed = await self._repeat(call, arguments, recorded)
        if hit_a_limit(replayed):
            # The machine may have been busy: what a call was given does not say how fast it is.
            replayed = await self._repeat(call, arguments, recorded)
        lost = await run_sync(self._collected_input, call) if self._collected else ""
        if lost and differing_parts(recorded, replayed):
            self._skip(call, lost)
        else:
            self._calls += 1
            self._files += len(recorded.changes)
            self._refusals += recorded.refused
            await self._compare(call, recorded, replayed)
        # Once compared, the bytes of a repeated call serve nothing: a long run would fill the disk.
        for change in replayed.changes:
            if change.after is not None:
                await self._blobs.release(change.after)

    async def answer(self, run_id: RunId, took_ms: int) -> RunReplayed:
        """Return the findings."""
        return RunReplayed(
            run_id=run_id,
            calls=self._calls,
            equal=self._equal,
            files=self._files,
            refusals=self._refusals,
            divergences=tuple(self._with_readings(sorted(self._divergences, key=_seq))),
            skipped=tuple(sorted(self._skipped, key=_seq)),
            plugins=tuple([await self._compared(used) for used in self._used]),
            duration_ms=took_ms,
        )

    def _collected_input(self, call: RecordedCall) -> str:
        """Return which file that the call saw has no bytes any more, and why; "" for none. Blocks.

        What a call read is not recorded: where it comes out otherwise, that may be why.
        """
        for name, blob in call.files.seen_versions() if call.files is not None else ():
            note = self._collected.get(blob)
            if note is not None and not self._blobs.is_recorded(blob):
                return f"it saw {name}, whose bytes were {collection_text(note)}"
        return ""

    def _open_files(self, state: WorkbenchState) -> CallFiles:
        stage, cache = self._scratch / "stage", self._scratch / "cache"
        describe = partial(describe_file, self._catalog)
        return CallFiles(state, self._blobs, stage, cache, describe)

    async def _repeat(
        self, call: RecordedCall, arguments: str, recorded: CallOutcome
    ) -> CallOutcome:
        def opened(entry: ToolEntry, files: CallFiles) -> ToolExecution:
            return ToolExecution(
                entry, files, call.now_us, catalog=self._catalog,
                formats=self._formats, recall=RecordedRecall(self._results, call.seq),
                search=self._search, workers=self._workers,
            )  # fmt: skip

        return await repeat_call(
            call, arguments, recorded, catalog=self._catalog, limits=self._limits, opened=opened
        )

    def _search(self, files: CallFiles) -> DocumentLookup:
        # Calls that asked an embedder or a model are not done again: nobody need be asked here.
        return DocumentLookup(self._engine, files, NoLookupModels(), self._limits.tool_s)

    def _skip(self, call: RecordedCall, reason: str) -> None:
        self._skipped.append(
            SkippedCall(seq=call.seq, call_id=call.end.call_id, tool=call.call.name, reason=reason)
        )

    async def _compare(
        self, call: RecordedCall, recorded: CallOutcome, replayed: CallOutcome
    ) -> None:
        readings = ComparedReadings.of_call(call, recorded, replayed)
        self._shown.add(readings, recorded)
        what = differing_parts(recorded, replayed)
        if not what:
            self._equal += 1
            return
        found = Divergence(
            seq=call.seq,
            call_id=call.end.call_id,
            entry_id=call.entry_id,
            tool=call.call.name,
            phase=call.phase,
            item=call.item,
            what=what,
            plugins=await self._others(call),
        )
        # Calls end in any order here; the earliest that differs is told in full even behind the
        # limit.
        is_first = all(call.seq < other.seq for other in self._divergences)
        if is_first or self._detail_bytes < MAX_DETAIL_BYTES:
            fields = diff_outcomes(recorded, replayed)
            files = await self._file_diffs(recorded.changes, replayed.changes)
            found = msgspec.structs.replace(found, fields=fields, files=files)
        self._detail_bytes += len(msgspec.json.encode(found))
        self._divergences.append(found)
        self._readings[call.seq] = readings

    def _with_readings(self, divergences: Sequence[Divergence]) -> Iterator[Divergence]:
        """Add to each divergence how its tables are read otherwise than they were.

        Only at the end: what a table looked like then may be shown by a call that was done later.
        """
        for place, each in enumerate(divergences):
            readings = self._shown.differences(self._readings[each.seq])
            self._detail_bytes += len(msgspec.json.encode(readings))
            yield msgspec.structs.replace(
                each,
                what=(*(["reading"] if any(diff.fields for diff in readings) else []), *each.what),
                # The earliest is told in full here, too.
                readings=readings if not place or self._detail_bytes < MAX_DETAIL_BYTES else (),
            )

    async def _file_diffs(
        self, recorded: tuple[FileChanged, ...], replayed: tuple[FileChanged, ...]
    ) -> tuple[FileDiff, ...]:
        before = {change.name: change.after for change in recorded}
        after = {change.name: change.after for change in replayed}
        diffs = []
        for name in dict.fromkeys((*before, *after)):
            old, new = before.get(name), after.get(name)
            if old != new:
                left = (old, self._blobs.path(old)) if old else None
                right = (new, self._blobs.scratch_path(new)) if new else None
                check = partial(self._blobs.check, old) if old else lambda: None
                diffs.append(await run_sync(diff_files, name, left, right, check))
        return tuple(diffs)

    async def _others(self, call: RecordedCall) -> tuple[str, ...]:
        """Return the plugins of a call that are not the recorded ones."""
        compared = [await self._compared(used) for used in call.plugins]
        return tuple(
            each.package
            for each in compared
            if each.recorded_sha256 and each.recorded_sha256 != each.sha256
        )

    async def _compared(self, used: PluginUsed) -> PluginCompared:
        """Put what is installed now beside a plugin that was recorded."""
        now = self._plugins.get(used.package)
        return PluginCompared(
            package=used.package,
            recorded_version=used.version,
            recorded_sha256=used.sha256,
            version=now.version if now is not None else "",
            sha256=await self._catalog.hash_of(now) if now is not None else "",
        )


class _Reader:
    """Reads a log in a thread, no further ahead of who takes the calls than need be.

    Attributes:
        failure: Why it could not be read, or does not have the run.
    """

    def __init__(
        self, log: Path, run: int, until: Seq | None, send: MemoryObjectSendStream[ReportedCall]
    ) -> None:
        self._log, self._number, self._until, self._send = log, run, until, send
        self.failure: KbdError | None = None

    async def run(self, *, open_files: CallFilesFactory, results: RecordedResults) -> None:
        """Read the log, and send the calls."""
        retelling = CallFold(
            self._number, open_files=open_files, on_result=results.add, on_call=self._tell
        )
        with self._send:
            try:
                found = await run_sync(self._read, retelling)
            except anyio.BrokenResourceError:
                return  # Who took the calls has gone.
            except KbdError as fault:
                self.failure = fault
                return
        # Damage behind the end of the run does not touch what is proved.
        if not retelling.has_ended and found.fault is not None:
            self.failure = found.fault
        elif not retelling.has_run:
            self.failure = NotFound(f"there is no run {self._number} in this workbench")

    def _read(self, retelling: CallFold) -> LogSurvey:
        found = read_log(self._log, retelling.apply, self._until)
        retelling.finish()
        return found

    def _tell(self, call: ReportedCall) -> None:
        # Waits while the queue is full, so that the log is not read into memory ahead of the calls.
        from_thread.run(self._send.send, call)


def _seq(each: Divergence | SkippedCall) -> Seq:
    return each.seq


def _plugins_by_package(catalog: Catalog) -> dict[str, Plugin]:
    """Return the plugins that can work for a call, by their packages."""
    plugins = [entry.plugin for entry in catalog.tools()]
    plugins += [catalog.format(handler.name).plugin for handler in catalog.handlers()]
    return {plugin.package: plugin for plugin in plugins}
