"""Daemon process: takes the home, assembles the parts bottom up, stops them top down.

Among the parts is the table of all request handlers.

Exit codes: 0 after an orderly stop, 1 if it cannot start, 74 if the disk failed (what was
acknowledged is safe; the next start looks at what is there), 75 if another daemon has the home.
"""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from logging import getLevelNamesMapping
from typing import Any, NamedTuple, TextIO

import anyio
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from kbd.core.api.administration import DaemonMethods
from kbd.core.api.approvals import ApprovalMethods
from kbd.core.api.commands import hold_workbenches
from kbd.core.api.copies import BackupMethods, CaseMethods
from kbd.core.api.daemon_start import load_plugins, look_at_start, record_start
from kbd.core.api.damaged_start import load_readable
from kbd.core.api.drafts import CheckpointMethods, DraftMethods
from kbd.core.api.files import ContextMethods, FileMethods
from kbd.core.api.formats import FormatMethods
from kbd.core.api.logs import LogMethods
from kbd.core.api.metrics import MetricsMethods, export_telemetry
from kbd.core.api.providers import EgressMethods, ProviderMethods
from kbd.core.api.receipts import ReceiptMethods
from kbd.core.api.recipes import RecipeMethods
from kbd.core.api.replays import ProofMethods, ReplayMethods
from kbd.core.api.reviews import ReviewMethods
from kbd.core.api.runs import ConversationMethods, WorkshopMethods
from kbd.core.api.search import WorkspaceMethods
from kbd.core.api.storage import StorageMethods, refuse_at_quota
from kbd.core.api.tools import ToolMethods
from kbd.core.api.watches import WatchMethods
from kbd.core.api.workbenches import ForkMethods, WorkbenchMethods
from kbd.core.audit.restore import settle_restored
from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.restore_text import home_warning
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.gateway.gateway import Egress
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.loading_trial import try_loading
from kbd.core.plugins.renderer import Renderer
from kbd.core.plugins.running_code import PluginCode
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime import diagnostics
from kbd.core.runtime.clock import Clock, SystemClock
from kbd.core.runtime.home_lock import HomeLockedError, lock_home
from kbd.core.runtime.log_file import LogFile
from kbd.core.runtime.own_output import OutputFile, told_output
from kbd.core.runtime.paths import OWN_UMASK, Home
from kbd.core.runtime.peers import ChildGate
from kbd.core.runtime.private_files import tighten, tighten_files
from kbd.core.runtime.restarts import restart_on_failure
from kbd.core.runtime.sd_notify import ServiceNotifier
from kbd.core.runtime.secrets import Secrets, hide_environment
from kbd.core.runtime.settings import LogSettings, Settings
from kbd.core.runtime.stopped_time import loop_options
from kbd.core.search.engine_pool import EnginePool
from kbd.core.server import Hub
from kbd.core.server.dispatch import Handler, ServerLimits
from kbd.core.server.listener import Server
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.blob_collector import BlobCollector
from kbd.core.sessions.home_usage import HomeUsage
from kbd.core.sessions.indexer import HomeIndexer
from kbd.core.sessions.retention import Retention
from kbd.core.sessions.runs import RunTasks
from kbd.core.sessions.scrub.scrubber import Scrubber
from kbd.core.sessions.verifications import Verifications
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.store.redaction import Redaction
from kbd.core.store.snapshots import daemon_snapshots
from kbd.core.store.snapshotting import SnapshotScheduler, renew_far
from kbd.core.watch.watch_jobs import WatchJobs
from kbd.core.watch.watcher import Watcher
from kbd.core.workbench.notifications import watch_notification
from kbd.errors import KbdError
from kbd.events.base import Actor, Recorded
from kbd.events.disk import LogPoisoned
from kbd.events.workbenches import DaemonStopped
from kbd.requests.base import Request
from kbd.types import Seq

__all__ = ["EXIT_DISK", "EXIT_LOCKED", "handler_table", "main"]


EXIT_FAILED = 1
EXIT_DISK = 74
EXIT_LOCKED = 75

_SWITCH_INTERVAL_S = 0.0005
"""How long a thread that computes keeps the interpreter from the event loop, which asks for it anew
after each call to the system: a tenth of Python's own choice, which clients would feel."""

_log = diagnostics.get_logger(__name__)


def main(home: str, socket: str, backend: str, log_format: str, log_to: str) -> int:
    """Run a daemon in the foreground until it is asked to stop; return its exit code.

    Args:
        home: `$KBD_HOME`.
        socket: Where it listens.
        backend: "asyncio" or "trio".
        log_format: "json" or "console".
        log_to: "stderr", or "file" for the file of the home that is rotated.
    """
    # Whatever is written from here on is its owner's alone, not only for lying in a home that is.
    umask = os.umask(OWN_UMASK)
    open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    service = ServiceNotifier.take(os.environ)
    given = _Given(dict(os.environ), backend, open_files, {}, service)
    environment = given.environment
    # First of all: a key in the environment can be read in /proc/<pid>/environ (reliability, H1).
    hide_environment()
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    try:
        place = Home.find(environment, socket=socket, home=home, umask=umask)
        place.create()
        with lock_home(place):
            tighten(place.daemon_log, place.daemon_log.parent, place.landings)
            # An editor may have saved the settings anew, and a key may be in them.
            tighten_files(place.folder, (place.settings_file.name, place.lock_file.name))
            _raise_open_files()
            _return_freed_memory()
            settings = Settings.read(place, environment)
            secrets = Secrets(place, environment)
            output = OutputFile(place.daemon_output)
            log = _open_operator_log(output, place, settings.log, log_to)
            level = getLevelNamesMapping()[settings.log.level.upper()]
            is_json = log_format == "json"
            diagnostics.configure(log, json=is_json, redact=secrets.redact, level=level)
            # While there is one thread: it forks.
            given = given._replace(left_out=try_loading(settings, environment))
            with told_output(output), diagnostics.captured_output():
                serve = partial(_serve, place, settings, secrets, given)
                return _run(serve, backend)
    except HomeLockedError as error:
        print(error, file=sys.stderr)  # noqa: T201 - there is no log yet
        return EXIT_LOCKED
    except KbdError as error:
        print(f"kbd cannot start: {error.message}", file=sys.stderr)  # noqa: T201 - nor here
        service.notify_at_once(f"STATUS=Cannot start: {error.message}")
        return EXIT_FAILED


def _open_operator_log(
    output: OutputFile, home: Home, settings: LogSettings, log_to: str
) -> TextIO | LogFile:
    """Lead descriptors 1 and 2 to where libraries may write; return where the log goes."""
    stream = output.redirect()
    if log_to != "file":
        return stream
    stream.close()
    return LogFile(home.operator_log, file_bytes=settings.file_bytes, files=settings.files)


def _run(serve: Callable[[], Awaitable[None]], backend: str) -> int:
    """Run the event loop; tasks that fail together come as a group."""
    code = 0
    try:
        anyio.run(serve, backend=backend, backend_options=loop_options(backend))
    # After a failed fsync nothing may be acknowledged, and no fsync retried (reliability, R11).
    # LogPoisoned is a KbdError too, so its clause stands before that one.
    except* LogPoisoned as failed:
        _log.critical("disk_failed", error=str(_first_error(failed)))
        code = EXIT_DISK
    except* KbdError as failed:
        _log.critical("failed", error=str(_first_error(failed)))
        # Both clauses run for a group that holds both errors, and the disk's is the worse news.
        code = code or EXIT_FAILED
    except* Exception as failed:  # noqa: BLE001 - told in the log, then the daemon ends
        # Not left to the interpreter: it would print what the error says as it is, keys included.
        _log.critical("failed_inside", exc_info=failed)
        code = code or EXIT_FAILED
    return code


def _first_error(failed: BaseException) -> BaseException:
    """Return the first error of a group, however deep: its own words are what helps."""
    while isinstance(failed, BaseExceptionGroup):
        failed = failed.exceptions[0]
    return failed


class _StopRequest:
    """Request that the daemon stops; the first one counts.

    Attributes:
        asked: Set once somebody asked.
        actor: The client that did; None for a signal.
    """

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.actor: Actor | None = None

    def ask(self, actor: Actor | None = None) -> None:
        """Ask, and return at once."""
        if not self.asked.is_set():
            self.actor = actor
        self.asked.set()


class _Given(NamedTuple):
    """What the daemon was started with: environment, event loop, soft limit of open files.

    Which plugins it must not load, with the reasons, and the service manager that started it.
    """

    environment: Mapping[str, str]
    backend: str
    open_files: int
    left_out: Mapping[PluginCode, str]
    service: ServiceNotifier

    def of_plugin(self, settings: Settings) -> Callable[[str], dict[str, Any]]:
        """Return what returns the settings of a plugin, by its name."""
        return partial(settings.of_plugin, environment=self.environment)


async def _serve(home: Home, settings: Settings, secrets: Secrets, given: _Given) -> None:
    """Assemble, recover, listen; stop in reverse order."""
    clock, hub, stop, gate = SystemClock(), Hub(), _StopRequest(), ChildGate()
    async with anyio.create_task_group() as tasks:
        async with (
            _open_daemon_log(home, clock, secrets, tasks) as daemon,
            _open_plugins(daemon, home, settings, given) as (plugins, catalog, workers),
        ):
            started = await run_sync(look_at_start, daemon.state, home.folder, given.backend)
            context = ApiContext(
                home=home,
                settings=settings,
                clock=clock,
                plugins=plugins,
                catalog=catalog,
                workers=workers,
                renderer=Renderer(settings),
                index=(index := HomeIndexer(home, daemon)),
                verifications=Verifications(home, daemon, settings.scrub, clock),
                usage=HomeUsage(home, settings.retention, index, daemon),
                engines=EnginePool(tasks),
                egress=Egress(catalog, settings, secrets, given.of_plugin(settings), daemon),
                daily_budget=DailyBudget(daemon, catalog, settings.run, clock),
                notify=hub.announce,
                stop=stop.ask,
                backend=given.backend,
                started_s=clock.monotonic_s(),
                home_warning=home_warning(started),
            )
            await record_start(daemon, started, plugins, tasks)
            # Before any folder is watched: a restored home must not do again what its origin does.
            await settle_restored(home.folder, daemon)
            runs = RunTasks(context, tasks)
            workbenches = Workbenches(context, daemon, tasks, runs.watch, context.usage.disk)
            watcher = _make_watcher(context, workbenches, runs, gate, given.open_files)
            # Before the socket is bound: no client sees one half recovered (reliability, R9).
            await workbenches.recover_marked()
            retention = Retention(context, workbenches)
            table = handler_table(context, workbenches, runs, watcher, retention)
            server = _make_server(context, table, hub, gate)
            await tasks.start(export_telemetry, context, workbenches)
            tasks.start_soon(_stop_on_signal, stop)
            async with anyio.create_task_group() as serving:
                await serving.start(server.serve)
                async with anyio.create_task_group() as watching:
                    watching.start_soon(_work_unasked, context, workbenches, watcher, retention)
                    tasks.start_soon(given.service.keep_alive, daemon.journal.probe)
                    await _wait_until_asked(stop, home, given, daemon)
                    # Before the runs are: whose run is cut off is a failure to who still waits.
                    watching.cancel_scope.cancel()
                # While the server still answers: whoever waits for a run is told how it ended.
                await runs.aclose()
                server.stop()
            await workbenches.aclose()
            # Last: whoever reads the log sees that this daemon closed all workbenches in order.
            if daemon.journal.log.damage is None:
                await daemon.submit(RecordDaemon((DaemonStopped("asked to stop"),)), stop.actor)
            await context.egress.aclose()
        # The Keeper of the daemon's log, and others in this group, work until they are canceled.
        tasks.cancel_scope.cancel()


async def _wait_until_asked(
    stop: _StopRequest, home: Home, given: _Given, daemon: Keeper[DaemonState, DaemonCommand]
) -> None:
    """Wait for the request to stop; tell the log and the service manager of either end."""
    _log.info("listening", socket=str(home.socket), pid=os.getpid(), backend=given.backend)
    is_whole = daemon.journal.log.damage is None
    status = "Ready" if is_whole else "Ready, but the daemon's log is damaged: see kbd status"
    await given.service.notify("READY=1", f"STATUS={status}")
    await stop.asked.wait()
    _log.info("stopping")
    await given.service.notify("STOPPING=1", "STATUS=Stopping")


@asynccontextmanager
async def _open_plugins(
    daemon: Keeper[DaemonState, DaemonCommand], home: Home, settings: Settings, given: _Given
) -> AsyncIterator[tuple[Plugins, Catalog, WorkerPool]]:
    """Load the plugins, and keep their workers."""
    discover = partial(Plugins.discover, settings, environment=given.environment)
    plugins = await load_plugins(daemon, home.running_plugin, discover, given.left_out)
    async with WorkerPool(plugins, settings, private=home.folder) as workers:
        yield plugins, await run_sync(Catalog, plugins), workers


async def _work_unasked(
    context: ApiContext, workbenches: Workbenches, watcher: Watcher, retention: Retention
) -> None:
    """Do for ever what nobody asks for each time: watch, verify, archive and remove what is due."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(restart_on_failure, "usage", context.usage.run)
        tasks.start_soon(restart_on_failure, "retention", retention.run)
        tasks.start_soon(Scrubber(context, workbenches).run)
        collector = BlobCollector(context, workbenches)
        retention.observe_removals(collector.wake)
        tasks.start_soon(restart_on_failure, "collector", collector.run)
        await watcher.run()


def _make_watcher(
    context: ApiContext, workbenches: Workbenches, runs: RunTasks, gate: ChildGate, open_files: int
) -> Watcher:
    """Return the watcher; clients are notified of what lands and of the outcomes."""
    watch_jobs = WatchJobs(context, workbenches, runs, gate, open_files)
    daemon = workbenches.daemon

    def announce(seq: Seq, record: Recorded) -> None:
        if (notification := watch_notification(seq, record)) is not None:
            context.notify(notification)

    daemon.observe(announce)
    return Watcher(
        daemon,
        context.home,
        context.settings,
        watch_jobs.carry_out,
        watch_jobs.notify,
        context.clock,
        context.usage.check_room,
        context.usage.disk,
    )


@asynccontextmanager
async def _open_daemon_log(
    home: Home, clock: Clock, secrets: Secrets, tasks: TaskGroup
) -> AsyncIterator[Keeper[DaemonState, DaemonCommand]]:
    """Hold the daemon's own log open, with its Keeper at work.

    One that is damaged is open for reading what comes before the damage; see `damaged_start`.

    Raises:
        LogCorrupt: A newer kbd wrote what must be understood; nothing is damaged.
    """
    snapshots = daemon_snapshots(home.daemon_log, home.daemon_snap)
    await renew_far(snapshots)
    log, fold = await run_sync(snapshots.open)
    journal = Journal(log, fold.outline if fold is not None else None)
    keeper: Keeper[DaemonState, DaemonCommand] = Keeper(
        journal,
        blank=DaemonState,
        fold=fold_daemon,
        decide=decide_daemon,
        clock=clock,
        redact=Redaction(secrets).event,
    )
    await load_readable(keeper, home, fold.state if fold is not None else None)
    renewal = SnapshotScheduler(snapshots, log)
    keeper.observe(renewal.observe)
    tasks.start_soon(keeper.run)
    tasks.start_soon(renewal.run)
    try:
        if log.repairs:
            await keeper.submit(RecordDaemon(log.repairs))
        yield keeper
        # Not reached when an error passes: the next start then has an older snapshot, or none.
        if log.damage is None:
            await run_sync(snapshots.save_last, keeper.state, journal.reader.outline, log.head)
    finally:
        await keeper.journal.aclose()


async def _stop_on_signal(stop: _StopRequest) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            # The loop goes on, so that a second signal does not kill a daemon that closes its logs.
            stop.ask()


def _raise_open_files() -> None:
    """Raise the limit of open files to the hard one: clients, logs and workers each take some."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Upward to the hard limit needs no privilege (setrlimit(2)).
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


_M_MMAP_THRESHOLD = -3
"""Of mallopt(3)."""

_MAPPED_BYTES = 512 * 1024


def _return_freed_memory() -> None:
    """Have large pieces of memory go back to the system as soon as they are freed.

    The allocator of glibc gives them mappings of their own, but keeps more and more on its heaps
    after the first one was freed, up to 32 MiB each: after 50 long messages half a gigabyte stayed.
    Other allocators are left as they are.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)


def _make_server(
    context: ApiContext, table: Mapping[type[Request], Handler], hub: Hub, gate: ChildGate
) -> Server:
    limits = context.settings.limits
    server_limits = ServerLimits(
        message_bytes=limits.message_bytes,
        nesting=limits.nesting,
        batch=limits.batch,
        connections=limits.connections,
        outbound_bytes=limits.outbound_bytes,
        outbound_messages=limits.outbound_messages,
        stall_s=limits.send_s,
    )
    meter = context.meters.requests
    return Server(context.home.socket, table, hub, server_limits, gate=gate, meter=meter)


def handler_table(
    context: ApiContext,
    workbenches: Workbenches,
    runs: RunTasks,
    watcher: Watcher,
    retention: Retention,
) -> dict[type[Request], Handler]:
    """Return the handler of each request: kbd's own and those that formats contribute."""
    table: dict[type[Request], Handler] = {}
    for subject in (
        DaemonMethods(context, workbenches, retention),
        MetricsMethods(context, workbenches),
        ProviderMethods(context, workbenches),
        WorkbenchMethods(context, workbenches),
        ForkMethods(context, workbenches),
        FileMethods(context, workbenches),
        ContextMethods(context, workbenches),
        WorkshopMethods(context, workbenches, runs),
        ConversationMethods(context, workbenches, runs),
        WorkspaceMethods(context, workbenches),
        DraftMethods(context, workbenches),
        ReviewMethods(context, workbenches),
        ReceiptMethods(workbenches),
        CheckpointMethods(context, workbenches),
        EgressMethods(context, workbenches),
        ToolMethods(context, workbenches),
        ApprovalMethods(context, workbenches),
        LogMethods(context, workbenches),
        ReplayMethods(workbenches),
        ProofMethods(context, workbenches),
        WatchMethods(context, workbenches, watcher),
        RecipeMethods(context, workbenches),
        FormatMethods(context, workbenches),
        CaseMethods(context, workbenches),
        BackupMethods(context, workbenches, watcher),
        StorageMethods(context, workbenches, retention),
    ):
        table.update(subject.table())
    return refuse_at_quota(context.usage, hold_workbenches(workbenches, table))
