"""A real workbench for runs: log, Keeper, blobs and catalog, with small tools and a script."""

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import msgspec

from kbd import hookimpl
from kbd.core.agent import Notice, run_agent
from kbd.core.agent.readable_copies import copy_texts, write_copies
from kbd.core.agent.run_context import RunContext
from kbd.core.domain.commands import Command, InterruptRun, SendMessage, StartRun
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.run_state import Run
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.core.search.lookup import DocumentLookup, NoLookupModels, open_lexical_engine
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper, Outcome, Succession
from kbd.core.workbench.call_files import CallFiles, LogRecall, describe_file
from kbd.core.workbench.file_store import Blobs
from kbd.errors import KbdError
from kbd.events.base import Fact, Recorded
from kbd.events.blobs import BlobStore
from kbd.events.disk import Disk
from kbd.events.log import EventLog
from kbd.messages import ToolCall
from kbd.providers import Emit, ModelInfo, ModelReply, ModelRequest
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import CallId, Effect, FileName, Phase, Seq
from purses import purse_in

TOOLS = "agent_test_tools"
LIMITS = RunLimits()


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class Where(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A path."""

    path: str


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A path and what to write there."""

    path: str
    content: str


class Count(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many rows to return."""

    rows: int


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which result to recall."""

    entry_id: int


class _Named(Tool):
    description = "for tests"

    def __init__(self, made: list[str] | None = None) -> None:
        self.made = [] if made is None else made


class ReadFile(_Named):
    """Reads a file."""

    name = "read_file"
    arguments = Where
    effect = Effect.READ

    async def run(self, context: ToolContext, arguments: Where) -> ToolResult:
        """Do what the class says."""
        self.made.append(f"read {arguments.path}")
        return ToolResult({"text": context.files.get(arguments.path).path.read_text()})


class Rows(_Named):
    """Returns so many rows."""

    name = "rows"
    arguments = Count
    effect = Effect.READ

    async def run(self, context: ToolContext, arguments: Count) -> ToolResult:
        """Do what the class says."""
        rows = [[n, f"row {n}"] for n in range(arguments.rows)]
        return ToolResult({"rows": rows, "total_row_count": 5 * arguments.rows, "has_more": True})


class RecallResult(_Named):
    """Recalls a result."""

    name = "recall_tool_result"
    arguments = Entry
    effect = Effect.RECALL

    async def run(self, context: ToolContext, arguments: Entry) -> ToolResult:
        """Do what the class says."""
        return ToolResult({"text": (await context.recall.result(arguments.entry_id)).decode()})


class WriteNote(_Named):
    """Writes a file."""

    name = "write_note"
    arguments = Note
    effect = Effect.WRITE

    async def run(self, context: ToolContext, arguments: Note) -> ToolResult:
        """Do what the class says."""
        self.made.append(f"write {arguments.path}")
        existing = context.files.find(arguments.path)
        name = existing.name if existing else context.files.new(arguments.path)
        staged = context.files.stage()
        staged.write_text(arguments.content)
        context.files.put(name, staged)
        return ToolResult({"path": name}, is_action=True)


class Broken(_Named):
    """Fails inside after staging a file."""

    name = "broken"
    arguments = Nothing
    effect = Effect.WRITE

    async def run(self, context: ToolContext, arguments: Nothing) -> ToolResult:
        """Do what the class says."""
        staged = context.files.stage()
        staged.write_text("half")
        context.files.put(FileName("half.txt"), staged)
        raise KeyError("/secret/path")


class Slow(_Named):
    """Never ends."""

    name = "slow"
    arguments = Nothing
    effect = Effect.READ

    async def run(self, context: ToolContext, arguments: Nothing) -> ToolResult:
        """Do what the class says."""
        await anyio.sleep_forever()
        raise AssertionError


class Steps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Calls of tools, each a name and arguments; a tolerant one goes on after a failure."""

    calls: tuple[tuple[str, dict[str, Any]], ...]
    tolerant: bool = False


class Compose(_Named):
    """Calls other tools as a part of its own call; returns what each returned, or its error."""

    name = "compose"
    arguments = Steps
    effect = Effect.WRITE

    async def run(self, context: ToolContext, arguments: Steps) -> ToolResult:
        """Do what the class says."""
        found: list[Any] = []
        for tool, given in arguments.calls:
            try:
                found.append((await context.call_tool(tool, given, job="feed")).value)
            except KbdError as error:
                if not arguments.tolerant:
                    raise
                found.append(error.code)
        return ToolResult({"found": found})


class Peek(Compose):
    """The same, which says that it only reads."""

    name = "peek"
    effect = Effect.READ


def call(tool: str, call_id: str = "c", **arguments: Any) -> ModelReply:
    """A reply that asks for one call."""
    text = msgspec.json.encode(arguments).decode()
    return ModelReply(tool_calls=(ToolCall(CallId(call_id), tool, text),))


def say(text: str) -> ModelReply:
    """A reply of text."""
    return ModelReply(text=text)


def said(request: ModelRequest) -> int:
    """How many turns of the conversation the model has made."""
    return sum(message.role == "assistant" for message in request.messages)


def item_of(request: ModelRequest) -> tuple[int, int]:
    """The item and the attempt that a request of implement is about."""
    text = request.messages[1].text
    number, attempt = text.split('<item number="')[1].split('">')[0].split('" attempt="')
    return int(number), int(attempt)


PLAN = "## Task\nnotes\n## Items\n- [ ] 1. Entity: One — write one\n- [ ] 2. Two\n## Notes\n- n"


def two_items(request: ModelRequest) -> ModelReply:
    """A model that does a plan of two items, each with a write and a look."""
    match request.phase, said(request):
        case Phase.RESEARCH, 0:
            return call("rows", rows=3)
        case Phase.RESEARCH, _:
            return say("## Files\nnone")
        case Phase.PLAN, _:
            return say(PLAN)
        case Phase.IMPLEMENT, 0:
            item, attempt = item_of(request)
            return call("write_note", path=f"{item}.txt", content=f"item {item}.{attempt}")
        case Phase.IMPLEMENT, 1:
            return call("read_file", path=f"{item_of(request)[0]}.txt")
        case Phase.IMPLEMENT, _:
            return say(f"wrote {item_of(request)[0]}")
        case _:
            return say("All done.")


class NoSync(Disk):
    """A disk that does not wait: these tests are not about power cuts."""

    def fsync(self, fd: int) -> None:
        """Return at once."""

    def fdatasync(self, fd: int) -> None:
        """Return at once."""


class EachAlone(Succession[WorkbenchState, Command]):
    """A run's commands, each in a frame of its own: as on a machine that stalls between them."""

    async def defer(self, command: Command) -> Outcome:
        """Submit the command at once."""
        return await self.submit(command)


Play = Callable[[ModelRequest], ModelReply]


class Rig:
    """A workbench with what a run of it works with."""

    def __init__(self, folder: Path, play: Play, limits: RunLimits, window: int) -> None:
        self.folder, self.play, self.limits, self.window = folder, play, limits, window
        self.made: list[str] = []
        self.notices: list[Notice] = []
        self.slept: list[float] = []
        self.trickle_s = self.price = 0.0
        self.each_alone = False
        self.requests: list[ModelRequest] = []
        for name in ("log", "stage", "cache"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.blobs = Blobs(BlobStore(folder / "blobs", NoSync()))
        log = EventLog.open(folder / "log", disk=NoSync())
        self.keeper: Keeper[WorkbenchState, Command] = Keeper(
            Journal(log),
            blank=WorkbenchState,
            fold=fold_workbench,
            decide=decide,
            clock=SystemClock(),
            deferred_s=3600,  # what is one frame does not hang on how quick the machine is
        )
        plugins = _plugins(self.made)
        self.catalog = Catalog(plugins)
        self.workers = WorkerPool(plugins, Settings())
        self.room = open_lexical_engine(
            FormatCalls(self.catalog, self.workers), folder / "index", 1_000_000
        )
        self.daemon, self.daily_budget = purse_in(folder / "daemon", self.catalog, limits, NoSync())

    @property
    def state(self) -> WorkbenchState:
        """What is recorded."""
        return self.keeper.state

    @property
    def run(self) -> Run:
        """The newest run."""
        return self.keeper.state.runs[-1]

    def files(self) -> CallFiles:
        """The files as a call sees them."""
        return CallFiles(
            self.state, self.blobs, self.folder / "stage", self.folder / "cache", self.describe
        )

    def search(self, files: CallFiles) -> DocumentLookup:
        """The documents as a call sees them."""
        return DocumentLookup(self.room, files, NoLookupModels(), self.limits.tool_s)

    def describe(self, file: Any) -> dict[str, Any]:
        """What a listing shows."""
        return describe_file(self.catalog, file)

    async def complete(self, model_id: str, request: ModelRequest, emit: Emit) -> ModelReply:
        """Play a turn."""
        self.requests.append(request)
        reply = self.play(request)
        await anyio.lowlevel.checkpoint()
        if reply.text:
            emit(reply.text)
        await anyio.sleep(self.trickle_s)
        return reply

    async def sleep(self, seconds: float) -> None:
        """Note the wait and go on."""
        self.slept.append(seconds)

    def model(self, model_id: str) -> ModelInfo:
        """The model with its window and its price."""
        return ModelInfo(model_id, self.window, self.price, self.price)

    def context(self) -> RunContext:
        """What the newest run works with."""
        return RunContext(
            commands=EachAlone(self.keeper) if self.each_alone else self.keeper.succession(),
            journal=self.keeper.journal,
            run=len(self.state.runs),
            blobs=self.blobs,
            open_files=self.files,
            formats=FormatCalls(self.catalog, self.workers),
            recall=LogRecall(self.state, self.keeper.journal, self.blobs),
            search=self.search,
            workers=self.workers,
            catalog=self.catalog,
            complete=self.complete,
            effort=lambda _model_id, _phase: "",
            model=self.model,
            daily_budget=self.daily_budget,
            announce=self.notices.append,
            limits=self.limits,
            clock=SystemClock(),
            sleep=self.sleep,
            chance=lambda: 0.0,
            copies=self.folder / "meta",
        )

    async def go(self, text: str = "do it") -> Run:
        """Ask, if nothing was asked yet, and run or resume to the end."""
        if not self.state.said:
            await self.keeper.submit(SendMessage("u-1", text))
        if self.state.active_run() is not None:
            await self.keeper.submit(InterruptRun("restart"))
        outcome = await self.keeper.submit(StartRun(None, "scripted:script"))
        if outcome.events:
            await run_agent(self.context())
            # As the daemon does after each frame.
            await write_copies(self.folder / "meta", copy_texts(self.state))
        return self.run

    @asynccontextmanager
    async def daemon_log(self) -> AsyncIterator[None]:
        """Let the daemon's log take what turns cost."""
        await self.daemon.load()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.daemon.run)
            yield
            tasks.cancel_scope.cancel()
        await self.daemon.journal.aclose()

    def events(self) -> list[Fact]:
        """Everything recorded."""
        return [record.data for _, record in self.records()]

    def records(self) -> list[tuple[Seq, Recorded]]:
        """Everything recorded, with its numbers."""
        return self.keeper.journal.log.read(Seq(0), 1_000_000)

    def content(self, name: str) -> str | None:
        """What a file holds now."""
        found = self.state.current_file(FileName(name))
        return self.blobs.path(found.blob).read_text() if found else None


def _plugins(made: list[str]) -> Plugins:
    module = ModuleType(TOOLS)
    tools: list[Tool] = [ReadFile(made), Rows(), RecallResult(), WriteNote(made), Broken(), Slow()]
    tools += [Compose(), Peek()]

    @hookimpl
    def kbd_register_tools() -> list[Tool]:
        return list(tools)

    # As one of kbd's own, which is never left out for its faults: it lies beside kbd.
    module.__file__, module.__spec__ = __file__, ModuleSpec(TOOLS, None, origin=__file__)
    vars(module)["kbd_register_tools"] = kbd_register_tools
    sys.modules[TOOLS] = module
    return Plugins.discover(Settings(), found=[EntryPoint("testing", TOOLS, source="kbd")])


@asynccontextmanager
async def open_rig(
    folder: Path,
    play: Play,
    *,
    limits: RunLimits = LIMITS,
    window: int = 128_000,
    events: Sequence[Recorded] = (),
    tools: tuple[Catalog, WorkerPool] | None = None,
) -> AsyncIterator[Rig]:
    """Open a rig on its script and folder, with events recorded before, and close it again.

    Given a catalog and workers, it has their tools in the place of the small ones.
    """
    rig = Rig(folder, play, limits, window)
    if tools is not None:
        rig.catalog, rig.workers = tools
    if events:
        await rig.keeper.journal.append(events)
    await rig.keeper.load()
    await rig.daemon.load()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.keeper.run)
        tasks.start_soon(rig.daemon.run)
        yield rig
        await rig.room.aclose()
        tasks.cancel_scope.cancel()
    await rig.keeper.journal.aclose()
    await rig.daemon.journal.aclose()


Opened = Callable[..., AbstractAsyncContextManager[Rig]]
