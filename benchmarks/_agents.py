"""A workbench with the agent at it, its log on the disk, and a model that answers at once."""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from kbd.core.agent import run_agent
from kbd.core.agent.run_context import RunContext
from kbd.core.domain.commands import Command, RecordFacts, SendMessage, StartRun
from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.core.search.lookup import DocumentLookup, NoLookupModels, open_lexical_engine
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.workbench.call_files import CallFiles, LogRecall, describe_file
from kbd.core.workbench.file_store import Blobs
from kbd.events.blobs import BlobStore
from kbd.events.log import EventLog
from kbd.events.workbenches import AssistantMessageAdded, UserMessageAdded, WorkbenchCreated
from kbd.providers import Emit, ModelInfo, ModelReply, ModelRequest
from kbd.types import WorkbenchId

__all__ = ["LIMITS", "WINDOW", "Play", "Workbench", "opened"]

Play = Callable[[ModelRequest], ModelReply]
"""Answers a turn."""

WINDOW = 100_000_000
"""Of the model, in tokens: nothing is left out, so a long request is as large as its chain."""

LIMITS = RunLimits(research_turns=5000, loop_warning=11, loop_failure=11, tokens=10**12)
"""Chains as long as the benchmark asks for, with one call made again and again."""


class Workbench:
    """A workbench and its runs.

    Args:
        folder: Where it lies.
        play: The model.
    """

    def __init__(self, folder: Path, play: Play) -> None:
        self._folder, self._play, self._clock = folder, play, SystemClock()
        for name in ("stage", "cache", "meta"):
            (folder / name).mkdir(parents=True)
        plugins = Plugins.discover(Settings())
        self._catalog = Catalog(plugins)
        self._workers = WorkerPool(plugins, Settings())
        self._blobs = Blobs(BlobStore(folder / "blobs"))
        self._asked = 0
        self.keeper: Keeper[WorkbenchState, Command] = Keeper(
            Journal(EventLog.open(folder / "log")),
            blank=WorkbenchState, fold=fold_workbench, decide=decide, clock=self._clock,
        )  # fmt: skip
        self.daemon: Keeper[DaemonState, DaemonCommand] = Keeper(
            Journal(EventLog.open(folder / "daemon")),
            blank=DaemonState, fold=fold_daemon, decide=decide_daemon, clock=self._clock,
        )  # fmt: skip

    async def converse(self, messages: int) -> None:
        """Have so many messages said before."""
        name = WorkbenchId("00000000000000b1")
        facts: list[WorkbenchCreated | UserMessageAdded | AssistantMessageAdded] = [
            WorkbenchCreated(name, "measured")
        ]
        for n in range(messages // 2):
            facts.append(UserMessageAdded(f"u-{n}", f"what do the totals of month {n} come to?"))
            facts.append(AssistantMessageAdded(f"a-{n}", f"They come to {n * 7919}. " * 10))
        await self.keeper.submit(RecordFacts(tuple(facts)))

    async def run(self) -> None:
        """Ask, and answer with a whole run."""
        self._asked += 1
        await self.keeper.submit(SendMessage(f"q-{self._asked}", "and those of this month?"))
        await self.keeper.submit(StartRun(None, "scripted:model"))
        await run_agent(self._context())

    def _context(self) -> RunContext:
        keeper, run = self.keeper, len(self.keeper.state.runs)
        formats = FormatCalls(self._catalog, self._workers)
        room = open_lexical_engine(formats, self._folder / "index", 1_000_000)
        return RunContext(
            commands=keeper.succession(),
            journal=keeper.journal,
            run=run,
            blobs=self._blobs,
            open_files=self._files,
            formats=formats,
            recall=LogRecall(keeper.state, keeper.journal, self._blobs),
            search=lambda files: DocumentLookup(room, files, NoLookupModels(), LIMITS.tool_s),
            workers=self._workers,
            catalog=self._catalog,
            complete=self._complete,
            model=lambda model_id: ModelInfo(model_id, context_tokens=WINDOW),
            effort=lambda _model_id, _phase: "",
            daily_budget=DailyBudget(self.daemon, self._catalog, LIMITS, self._clock),
            announce=lambda _: None,
            limits=LIMITS,
            clock=self._clock,
            sleep=anyio.sleep,
            chance=random.random,
        )

    def _files(self) -> CallFiles:
        catalog = self._catalog
        return CallFiles(
            self.keeper.state, self._blobs, self._folder / "stage", self._folder / "cache",
            lambda file: describe_file(catalog, file),
        )  # fmt: skip

    async def _complete(self, model_id: str, request: ModelRequest, emit: Emit) -> ModelReply:
        del model_id, emit
        return self._play(request)


@asynccontextmanager
async def opened(folder: Path, play: Play) -> AsyncIterator[Workbench]:
    """Open a workbench in a folder of its own, with its Keepers at work."""
    bench = Workbench(folder, play)
    await bench.keeper.load()
    await bench.daemon.load()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bench.keeper.run)
        tasks.start_soon(bench.daemon.run)
        yield bench
        tasks.cancel_scope.cancel()
    await bench.keeper.journal.aclose()
    await bench.daemon.journal.aclose()
