"""A daemon's supervisor without its socket and its processes, and what a crash leaves of it."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.gateway.gateway import Egress
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.renderer import Renderer
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.clock import Clock, SystemClock
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.runtime.secrets import Secrets
from kbd.core.runtime.settings import Settings
from kbd.core.search.engine_pool import EnginePool
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.home_usage import HomeUsage
from kbd.core.sessions.indexer import HomeIndexer
from kbd.core.sessions.retention import Retention
from kbd.core.sessions.runs import RunTasks
from kbd.core.sessions.verifications import Verifications
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.watch.watch_jobs import WatchJobs
from kbd.core.watch.watcher import Watcher
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events.disk import DISK, Disk
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.log import EventLog
from kbd.events.workbenches import FileAdded
from kbd.requests.base import Notification
from kbd.types import FileName

CLOCK = SystemClock()


class Supervised:
    """A supervisor at work.

    Attributes:
        home: Its home.
        benches: The workbenches.
        context, runs, watcher, retention: What methods are given beside them.
        told: What clients were told, in order.
    """

    def __init__(
        self,
        context: ApiContext,
        benches: Workbenches,
        runs: RunTasks,
        watcher: Watcher,
        told: list[Notification],
    ) -> None:
        self.home, self.context, self.benches = context.home, context, benches
        self.runs, self.watcher, self.told = runs, watcher, told
        self.retention = Retention(context, benches)

    async def bench(self, **files: str) -> OpenWorkbench:
        """Create a workbench with files; `a__txt="x"` is the file a.txt."""
        bench = await self.benches.open(await self.benches.create("test"))
        for written, content in files.items():
            await add(bench, written.replace("__", "."), content)
        return bench

    def folders(self, bench: OpenWorkbench) -> WorkbenchFolders:
        """Return where a workbench lies."""
        return self.home.workbench(bench.id)


@asynccontextmanager
async def supervised(
    folder: Path,
    settings: Settings | None = None,
    found: Sequence[EntryPoint] = (),
    clock: Clock = CLOCK,
    disk: Disk | None = None,
) -> AsyncIterator[Supervised]:
    """Run a supervisor on a home, recovered as at a start, and stop it in order.

    Its watcher is there, and nobody runs it. The disk is what its logs, workbenches and archives
    are written with; by default that which counts.
    """
    home = Home(folder=folder, socket=folder / "s")
    home.create()
    settings = settings or Settings()
    plugins = Plugins.discover(settings, found=list(found))
    told: list[Notification] = []
    keeper: Keeper[DaemonState, DaemonCommand] = Keeper(
        Journal(EventLog.open(home.daemon_log, disk=disk or DISK)),
        blank=DaemonState,
        fold=fold_daemon,
        decide=decide_daemon,
        clock=clock,
    )
    await keeper.load()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        index = HomeIndexer(home, keeper)
        context = ApiContext(
            home=home,
            settings=settings,
            clock=clock,
            plugins=plugins,
            catalog=Catalog(plugins),
            workers=WorkerPool(plugins, settings),
            renderer=Renderer(settings),
            index=index,
            verifications=Verifications(home, keeper, settings.scrub, clock),
            usage=HomeUsage(home, settings.retention, index, keeper),
            engines=EnginePool(tasks),
            egress=Egress(Catalog(plugins), settings, Secrets(home, {}), lambda _: {}, keeper),
            daily_budget=DailyBudget(keeper, Catalog(plugins), settings.run, clock),
            notify=told.append,
            stop=lambda actor=None: None,
            backend="",
            started_s=0.0,
        )
        runs = RunTasks(context, tasks)
        benches = Workbenches(context, keeper, tasks, runs.watch, disk or context.usage.disk)
        await benches.recover_marked()
        work = WatchJobs(context, benches, runs)
        watcher = Watcher(
            keeper, home, settings, work.carry_out, work.notify, clock, context.usage.check_room,
            context.usage.disk,
        )  # fmt: skip
        yield Supervised(context, benches, runs, watcher, told)
        await runs.aclose()
        await benches.aclose()
        tasks.cancel_scope.cancel()
    await keeper.journal.aclose()


def crashed(home: Home, target: Path) -> Path:
    """Copy a home as it lies on disk now: what a kill at this moment would leave."""
    shutil.copytree(home.folder, target, symlinks=True, copy_function=_copy)
    return target


def _copy(source: str, target: str) -> None:
    # draft/ follows the log in a thread: what it stages may be in place when we come to it.
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


async def add(bench: OpenWorkbench, name: str, content: str) -> None:
    """Add a file."""
    blob = await bench.blobs.put(content.encode())
    await bench.keeper.submit(RecordFacts((FileAdded(FileName(name), blob, len(content)),)))
    bench.files.place(FileName(name), blob)


async def draft(bench: OpenWorkbench, **files: str | None) -> None:
    """Change files in the draft; None deletes one. `a__txt="x"` is the file a.txt."""
    facts: list[DraftOpened | FileChanged] = []
    if bench.state.draft is None:
        facts.append(DraftOpened("d-test"))
    for written, content in files.items():
        name = FileName(written.replace("__", "."))
        seen = bench.state.current_file(name)
        after = await bench.blobs.put(content.encode()) if content is not None else None
        size = len(content or "")
        facts.append(FileChanged(name, seen.blob if seen else None, after, size))
    await bench.keeper.submit(RecordFacts(tuple(facts)))


def files_in(folder: Path) -> dict[str, str]:
    """Return the files below a folder with their texts."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
