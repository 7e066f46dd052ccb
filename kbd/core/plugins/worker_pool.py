"""Worker pool of all plugins: `WorkerPool.call` runs one function of one plugin in a process."""

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import anyio
import msgspec
from anyio import to_thread
from anyio.abc import TaskGroup

from kbd.core.plugins.call_outcomes import FOLDER_SHARE, WorkerFault, call_result, limit_error
from kbd.core.plugins.call_paths import CallPaths
from kbd.core.plugins.call_slots import CallSlots, find_memory
from kbd.core.plugins.confinement.layers import NO_LAYERS, Layers, SandboxLayer, find_layers
from kbd.core.plugins.faults import PluginFaults
from kbd.core.plugins.forked_call import ENTRY
from kbd.core.plugins.host import Plugin, Plugins
from kbd.core.plugins.set_aside import ContentRead, SetAsideFiles, death_of
from kbd.core.plugins.worker_messages import Request
from kbd.core.plugins.worker_process import (
    Bounds,
    FinishedCall,
    WorkerGone,
    WorkerProcess,
)
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.fairness import FairLimiter
from kbd.core.runtime.settings import SandboxMode, Settings
from kbd.errors import (
    FileReadFailed,
    KbdError,
    NotFound,
    ToolWorkerUnavailable,
    ValidationFailed,
)
from kbd.events.checked_blobs import CheckedBlobs, check_presence
from kbd.tools import CallLimits

__all__ = [
    "SandboxLevel",
    "WorkerPool",
    "WorkersStatus",
    "function_name",
]

DECODED_IN_THREAD_BYTES = 64 * 1024
"""A larger answer is looked through and decoded in a thread: a hostile one of this size takes 25 ms
(2 cores, 2026), and longer ones in proportion."""

_STOPPED = "the workers are stopped"

FOLDER_LOOK_S = 0.5
"""Between two looks at what a call has written a disk takes a gigabyte at most."""


class _WritingCall:
    """A call that is under way and writes.

    Args:
        paths: Where.
        most_bytes: What it may take on the disk.
    """

    def __init__(self, paths: CallPaths, most_bytes: int) -> None:
        self.paths, self.most_bytes = paths, most_bytes
        self.scope = anyio.CancelScope()


class SandboxLevel(msgspec.Struct, frozen=True):
    """Level of the workers' sandbox.

    Args:
        level: "full" with all layers of the operating system, "partial" with some, "process" with
            none, "off" where the settings switch them off. A process of its own, limits and an
            empty environment are there at each level.
        reason: Why it is not full, else None.
        layers: The layers, and why each of them holds or does not.
    """

    level: Literal["full", "partial", "process", "off"]
    reason: str | None
    layers: tuple[SandboxLayer, ...]


class WorkersStatus(msgspec.Struct, frozen=True):
    """Status of the workers: whether they can work on files.

    Args:
        available: Whether a call would be tried.
        workers: How many zygotes are alive.
        sandbox: How they are confined.
        error: Why the last start of a zygote failed, if it did.
    """

    available: bool
    workers: int
    sandbox: SandboxLevel
    error: str | None = None


class Sandbox:
    """The sandbox of a pool: what the settings ask for, and what the system offers.

    Args:
        mode: As in the settings.
        layers: The layers of this system.
    """

    def __init__(self, mode: SandboxMode, layers: Sequence[SandboxLayer]) -> None:
        self._mode, self._layers = mode, tuple(layers)
        self._missing = tuple(layer for layer in layers if not layer.holds)

    @property
    def layers(self) -> Layers:
        """The layers that calls get.

        Raises:
            ToolWorkerUnavailable: The settings require all of them, and one is missing.
        """
        if self._mode == "off":
            return NO_LAYERS
        if self._mode == "required" and self._missing:
            why = "; ".join(layer.reason for layer in self._missing)
            msg = f"workers.sandbox is required, and a layer of it is missing: {why}"
            raise ToolWorkerUnavailable(msg, retryable=False)
        return Layers(**{layer.name: layer.holds for layer in self._layers})

    def level(self) -> SandboxLevel:
        """Return its level."""
        if self._mode == "off":
            return SandboxLevel("off", "switched off by the setting workers.sandbox", self._layers)
        if not self._missing:
            return SandboxLevel("full", None, self._layers)
        reason = "; ".join(layer.reason for layer in self._missing)
        is_bare = len(self._missing) == len(self._layers)
        return SandboxLevel("process" if is_bare else "partial", reason, self._layers)


class WorkerPool:
    """The workers of one daemon: `async with Workers(plugins, settings) as workers`.

    A zygote is started at the first call of its plugin, and again at the next call if it died.

    Args:
        plugins: Who may be called, and what each one's worker imports.
        settings: How many calls at once, and the limits of a call that names none.
        extra_paths: Folders to import plugins from that are not installed, or in place of the
            installed ones.
        private: A folder of which no call may read anything but what it is given: the home.
    """

    def __init__(
        self,
        plugins: Plugins,
        settings: Settings,
        *,
        extra_paths: Sequence[Path] = (),
        private: Path | None = None,
    ) -> None:
        self._plugins = plugins
        workers = settings.workers
        self._limits = workers.call_limits()
        self._start_s = workers.start_s
        self._concurrency = workers.concurrency or 2 * (os.cpu_count() or 1)
        self._memory_bytes = workers.total_memory_bytes
        self._slots = CallSlots(self._concurrency, self._memory_bytes)
        self._turns = FairLimiter(self._concurrency)
        self._sandbox = Sandbox(workers.sandbox, find_layers())
        self._extra_paths, self._private = tuple(extra_paths), private
        self._alive: dict[str, WorkerProcess] = {}
        self._starting: dict[str, anyio.Lock] = {}
        self._tasks: TaskGroup | None = None
        self._error: str | None = None
        self._log = get_logger(__name__)
        self._checked = CheckedBlobs()
        self._writing: set[_WritingCall] = set()
        self.set_aside = SetAsideFiles()
        """The contents that no call gets any more."""

    @property
    def faults(self) -> PluginFaults:
        """Faults of plugins, in workers and in the daemon alike."""
        return self._plugins.faults

    async def __aenter__(self) -> Self:
        memory_bytes = self._memory_bytes or await to_thread.run_sync(find_memory)
        self._slots = CallSlots(self._concurrency, memory_bytes)
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._watch_folders)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        assert self._tasks is not None
        tasks, self._tasks = self._tasks, None
        tasks.cancel_scope.cancel()
        try:
            return await tasks.__aexit__(kind, fault, trace)
        finally:
            for process in self._alive.values():
                await process.stop()
            self._alive.clear()

    async def call(
        self,
        plugin: str,
        function: str,
        arguments: Mapping[str, Any],
        limits: CallLimits | None = None,
        *,
        what: str | None = None,
        failure: type[KbdError] = FileReadFailed,
        program: Path | None = None,
    ) -> Any:
        """Run a function in a process of its plugin and return its value as plain values.

        Cancelling this kills the process with all that it started.

        Args:
            plugin: The plugin's entry-point name.
            function: `module:qualname` of the plugin's package, or of `worker_entry`.
            arguments: What it is called with, by keyword: plain values, records and paths. It can
                open what is named by a path, and nothing else; see `kbd.core.plugins.call_paths`.
            limits: What it may use; those of the settings if None.
            what: The call's name in messages; the function's name if None.
            failure: The error for exceptions that are not KbdErrors.
            program: A program that it runs; none if None.

        Raises:
            NotFound: There is no such plugin.
            ToolTimeout: It passed a limit.
            ToolWorkerUnavailable: Its process was ended from outside, or not started as required.
            FileReadFailed: A file that it would read is set aside, or (BlobDamaged) is damaged.
            ValidationFailed: The arguments cannot be sent, or the result is too large.
            KbdError: What the function raised; `failure` for what is not a KbdError.
        """
        limits = limits or self._limits
        what = what or f"{plugin}: {function.rpartition(':')[2]}"
        layers = self._sandbox.layers
        paths, request = CallPaths(), Request(function, dict(arguments))
        async with self._place(limits.memory_bytes) as held:
            try:
                packed = await self._pack(request, paths, what)
                read = self._admit(plugin, function, arguments, paths.blobs)
                bounds = Bounds(paths.reach(str(program or "")), layers)
                called = partial(self._finished, self._plugin(plugin), packed, limits, bounds)
                finished = await self._watched(called, paths, limits, what)
                self._let_end(finished, held)
                self._note_death(read, finished)
                await to_thread.run_sync(self._land, paths, finished)
            finally:
                await _drop(paths)
        decode = partial(call_result, finished, limits, what=what, failure=failure)
        try:
            value = await _decoded(finished, decode)
            if paths.blobs:
                self.faults.note_success(plugin)
            return value
        except (WorkerFault, FileReadFailed) as fault:
            # A plugin can only say that it found no file, not that it is kbd that lost one.
            await to_thread.run_sync(check_presence, paths.blobs)
            raise self._noted(plugin, fault, paths.blobs) from None

    @contextlib.asynccontextmanager
    async def _place(self, memory_bytes: int) -> AsyncIterator[contextlib.AsyncExitStack]:
        """Hold a place and memory for a call while inside, or as long as somebody takes it over.

        The limits hold for all plugins together: each call is a process. Clients take turns for a
        place first, for who waits for memory is not overtaken.
        """
        async with contextlib.AsyncExitStack() as held:
            await held.enter_async_context(self._turns.place())
            await held.enter_async_context(self._slots.hold(memory_bytes))
            yield held

    def _let_end(self, finished: FinishedCall, held: contextlib.AsyncExitStack) -> None:
        """Have the process of an answered call end; until then its place is nobody else's."""
        # Without tasks all processes are being ended as it is.
        if finished.ending is not None and self._tasks is not None:
            self._tasks.start_soon(_end, finished.ending, held.pop_all())

    async def _watched(
        self,
        called: Callable[[], Awaitable[FinishedCall]],
        paths: CallPaths,
        limits: CallLimits,
        what: str,
    ) -> FinishedCall:
        """Make a call, and end it where it fills the disk."""
        if not paths.has_folders:
            return await called()
        writing = _WritingCall(paths, FOLDER_SHARE * limits.file_bytes)
        self._writing.add(writing)
        try:
            with writing.scope:
                return await called()
        finally:
            self._writing.discard(writing)
        raise limit_error("folder", limits, what)

    async def _watch_folders(self) -> None:
        """Look at what is written, for as long as there are workers; short calls are not met."""
        while True:
            await anyio.sleep(FOLDER_LOOK_S)
            for writing in tuple(self._writing):
                size = await to_thread.run_sync(lambda each: each.paths.size_bytes, writing)
                if size is None or size > writing.most_bytes:
                    writing.scope.cancel()

    async def _pack(self, request: Request, paths: CallPaths, what: str) -> bytes:
        def pack() -> bytes:
            packed = paths.pack(request)
            # Whoever reads a file reads a blob: what it says must be what was recorded, when it is
            # opened and still when it was read. Of what nobody touched that costs a look.
            self._checked.check_paths(paths.blobs)
            return packed

        try:
            return await to_thread.run_sync(pack)
        except (TypeError, OverflowError, RecursionError) as fault:
            msg = f"the arguments of {what} cannot be sent to a worker: {fault}"
            raise ValidationFailed(msg) from None

    def _land(self, paths: CallPaths, finished: FinishedCall) -> None:
        self._checked.check_paths(paths.blobs)
        # Of one that was ended nobody takes what it has half written.
        if finished.answer is not None and not finished.timed_out:
            paths.land()

    def status(self) -> WorkersStatus:
        """Return how the workers are."""
        return WorkersStatus(
            available=self._tasks is not None,
            workers=sum(process.alive for process in self._alive.values()),
            sandbox=self._sandbox.level(),
            error=self._error,
        )

    def _noted(
        self, plugin: str, fault: WorkerFault | FileReadFailed, files: Sequence[str]
    ) -> KbdError:
        """Note a plugin's fault with these files, if it is one; return what its caller is told."""
        if isinstance(fault, FileReadFailed):
            return fault
        self._plugins.faults.note(plugin, fault.what, file=" ".join(files))
        return fault.error

    def _plugin(self, name: str) -> Plugin:
        """Return a plugin that may be called."""
        self._plugins.faults.check(name)
        try:
            return self._plugins.get(name)
        except KeyError:
            msg = f"there is no plugin {name}"
            raise NotFound(msg) from None

    def _admit(
        self, plugin: str, function: str, arguments: Mapping[str, Any], blobs: Sequence[str]
    ) -> ContentRead:
        """Return what a call of a format reads; raises FileReadFailed if that is set aside."""
        brought, name = self._plugin(plugin), arguments.get("name")
        # A tool's own function takes what a model made up, such as a statement of SQL, and of that
        # it may die as well.
        read = ContentRead(
            plugin=f"{brought.name} {brought.version}",
            function=function,
            blobs=frozenset(
                path.rpartition("/")[2] for path in blobs if function.partition(":")[0] == ENTRY
            ),
            name=name if isinstance(name, str) else "",
        )
        self.set_aside.check(read)
        return read

    def _note_death(self, read: ContentRead, finished: FinishedCall) -> None:
        # What the daemon itself stopped may have waited for a busy machine.
        death = None if finished.timed_out else death_of(finished.answer, finished.status)
        if death is not None and self.set_aside.note(read, death):
            self._log.warning("worker.set_aside", plugin=read.plugin, file=read.name, by=death)

    async def _finished(
        self, plugin: Plugin, request: bytes, limits: CallLimits, bounds: Bounds
    ) -> FinishedCall:
        # Twice, for a zygote may die unnoticed between two calls.
        for _ in range(2):
            process = await self._process(plugin)
            try:
                return await process.call(request, limits, bounds)
            except WorkerGone:
                process.alive = False
        msg = f"the worker of plugin {plugin.name} dies as soon as it is started"
        self._plugins.faults.note(plugin.name, msg)
        raise ToolWorkerUnavailable(msg)

    async def _process(self, plugin: Plugin) -> WorkerProcess:
        """Return the plugin's zygote, started if need be."""
        # Calls that come together wait for one zygote, and do not start one each.
        async with self._starting.setdefault(plugin.name, anyio.Lock()):
            if self._tasks is None:
                raise ToolWorkerUnavailable(_STOPPED)
            process = self._alive.get(plugin.name)
            if process is not None and process.alive:
                return process
            if process is not None:
                del self._alive[plugin.name]
                self._log.warning("worker.died", plugin=plugin.name, printed=process.noise())
                await process.stop()
            return await self._start_worker(plugin)

    async def _start_worker(self, plugin: Plugin) -> WorkerProcess:
        preload = list(self._plugins.preload(plugin.name))
        if any(each.plugin.name == plugin.name for each in self._plugins.formats):
            preload.append(ENTRY)
        try:
            process = await WorkerProcess.start(
                plugin.package, preload, self._extra_paths, self._start_s, self._private
            )
        except KbdError as fault:
            self._error = fault.message
            trace = fault.detail.pop("trace", "")
            self._log.error("worker.start_failed", plugin=plugin.name, exception=trace)
            self._plugins.faults.note(plugin.name, "its worker did not start")
            raise
        # The pool ended while the zygote imported; nobody else knows of it by now.
        if self._tasks is None:
            await process.stop()
            raise ToolWorkerUnavailable(_STOPPED)
        self._error = None
        if process.threads > 1:
            self._log.warning("worker.threads", plugin=plugin.name, threads=process.threads)
        self._alive[plugin.name] = process
        self._tasks.start_soon(process.serve)
        return process


async def _end(ending: Callable[[], Awaitable[int]], held: contextlib.AsyncExitStack) -> None:
    """Wait until the process of an answered call has ended, then free what it held."""
    async with held:
        await ending()


async def _drop(paths: CallPaths) -> None:
    """Remove what is left of a call's folders, also after a cancel; what has landed stays."""
    if paths.has_folders:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(paths.drop)


async def _decoded(finished: FinishedCall, decode: Callable[[], Any]) -> Any:
    """Return what a call answered; a long answer is decoded in a thread."""
    if finished.answer is None or len(finished.answer) < DECODED_IN_THREAD_BYTES:
        return decode()
    return await to_thread.run_sync(decode)


def function_name(function: Callable[..., Any]) -> str:
    """Return the name by which `WorkerPool.call` finds a function.

    Raises:
        ValidationFailed: It is not at the top of its module, so that no other process finds it.
    """
    name = getattr(function, "__qualname__", "<none>")
    if "<" in name:
        msg = "only a function at the top of its module can be called in a worker"
        raise ValidationFailed(msg)
    return f"{function.__module__}:{name}"
