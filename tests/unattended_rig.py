"""Jobs on a supervisor with a scripted model: what landed, the rule, and what the model does."""

import hashlib
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import anyio
import msgspec

from agent_rig import Note, WriteNote, call, item_of, said, say
from kbd import hookimpl
from kbd.core.domain.watch_decisions import (
    AddWatch,
    FinishRun,
    RecordLanding,
    RetryLandings,
    StartNext,
)
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.core.watch.job import JobFile, JobResult, WatchJob
from kbd.core.watch.watch_jobs import WatchJobs
from kbd.events.watches import FileLanded, WatchRule, WatchRunFinished, WatchRunStarted
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)
from kbd.tools import ToolContext, ToolResult
from kbd.types import Phase, Seq, WatchId
from supervised import CLOCK, Supervised, supervised

__all__ = ["MODEL", "SETTINGS", "WATCH", "Play", "landed", "reported", "unattended", "writes"]

PLUGIN = "unattended_test_plugin"
MODEL = "scripted:one"
WATCH = WatchId("00000000000000aa")
SETTINGS = Settings(run=RunLimits(retry_s=(0.001,)))

Play = Callable[[ModelRequest], ModelReply]


def writes(*names: str, content: str = "made", tool: str = "write_note") -> Play:
    """A model that writes a file for each item of its plan; for "" it answers nothing at all."""

    def play(request: ModelRequest) -> ModelReply:
        match request.phase, said(request):
            case Phase.RESEARCH, _:
                return say("## Files\nnone")
            case Phase.PLAN, _:
                items = "\n".join(f"- [ ] {n}. do {name}" for n, name in enumerate(names, 1))
                return say(f"## Task\nwrite\n## Items\n{items}\n## Notes\n- n")
            case Phase.IMPLEMENT, 0:
                name = names[item_of(request)[0] - 1]
                return call(tool, path=name, content=content) if name else say("")
            case Phase.IMPLEMENT, _:
                return say("written")
            case _:
                return say("All done.")

    return play


class LinkNote(WriteNote):
    """Writes a file that reaches out to the network."""

    name = "link_note"

    async def run(self, context: ToolContext, arguments: Note) -> ToolResult:
        """Do what the class says."""
        staged = context.files.stage()
        staged.write_text(arguments.content)
        name = context.files.new(arguments.path)
        context.files.put(name, staged, external=("http://elsewhere",))
        return ToolResult({}, is_action=True)


class Scripted(Provider):
    """A provider that plays."""

    name: ClassVar[str] = "scripted"

    def __init__(self, play: Play, *, leaves: bool) -> None:
        self._play, self._leaves = play, leaves

    def models(self) -> Sequence[ModelInfo]:
        """Return the one model."""
        return (ModelInfo(MODEL, context_tokens=128_000),)

    def status(self) -> ProviderStatus:
        """Return whether it leaves the machine, as the test wants it."""
        return ProviderStatus(configured=True, leaves_machine=self._leaves)

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Play a turn."""
        del access, emit
        await anyio.lowlevel.checkpoint()
        return self._play(request)


@asynccontextmanager
async def unattended(
    home: Path,
    play: Play,
    *,
    leaves: bool = False,
    settings: Settings = SETTINGS,
    clock: Clock = CLOCK,
) -> AsyncIterator[tuple[Supervised, WatchJobs]]:
    """Run a supervisor whose model plays, with what carries jobs out."""
    module = ModuleType(PLUGIN)

    @hookimpl
    def kbd_register_tools() -> list[WriteNote]:
        return [WriteNote(), LinkNote()]

    @hookimpl
    def kbd_register_providers() -> list[Provider]:
        return [Scripted(play, leaves=leaves)]

    module.__file__ = __file__
    vars(module).update(
        kbd_register_tools=kbd_register_tools, kbd_register_providers=kbd_register_providers
    )
    sys.modules[PLUGIN] = module
    found = [EntryPoint("testing", PLUGIN)]
    async with supervised(home, settings, found, clock) as running:
        yield running, WatchJobs(running.context, running.benches, running.runs)


async def landed(
    running: Supervised, folder: Path, files: dict[str, str] | None = None, **rule: Any
) -> WatchJob:
    """Have files land as the watcher does, and return the job on all of them.

    Args:
        running: The supervisor.
        folder: Where the copies lie, in copies/, and the watched folder would be, at inbox/.
        files: Their contents by path.
        rule: What is not as usual in the rule.
    """
    daemon, inbox = running.benches.daemon, str(folder / "inbox")
    usual = {"name": "reports", "folder": inbox, "prompt": "do it", "model_id": MODEL}
    await daemon.submit(AddWatch(WATCH, WatchRule(**usual | {"mode": "batch"} | rule)))
    (folder / "copies").mkdir(exist_ok=True)
    taken: dict[Seq, JobFile] = {}
    for path, content in (files or {"in.txt": "landed"}).items():
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        copy = folder / "copies" / sha256
        copy.write_text(content)
        outcome = await daemon.submit(
            RecordLanding(WATCH, path, inbox, sha256, len(content), "1:1:1:1")
        )
        assert isinstance(outcome.events[0], FileLanded)
        taken[outcome.first] = JobFile(outcome.first, path, sha256, len(content), copy)
    started = await _started(running)
    return WatchJob(
        watch_id=WATCH,
        rule=running.benches.daemon.state.watching.watches[WATCH].rule,
        files=tuple(taken[number] for number in started.landings),
        workbench_id=started.workbench_id,
        attempt=started.attempt,
        depth=1,
    )


async def reported(running: Supervised, job: WatchJob, result: JobResult) -> WatchJob:
    """Have a failure recorded as the watcher does, and a person retry; return the job again."""
    numbers = tuple(file.landing_id for file in job.files)
    assert result.outcome == "failed", result
    finished = WatchRunFinished(
        watch_id=WATCH,
        landings=numbers,
        workbench_id=job.workbench_id,
        outcome="failed",
        run_id=result.run_id,
        code=result.code,
        message=result.message,
    )
    daemon = running.benches.daemon
    await daemon.submit(FinishRun(finished, retryable=False, now_us=1))
    await daemon.submit(RetryLandings(WATCH, numbers))
    return msgspec.structs.replace(job, attempt=(await _started(running)).attempt)


async def _started(running: Supervised) -> WatchRunStarted:
    outcome = await running.benches.daemon.submit(StartNext(WATCH, now_us=1))
    (started,) = outcome.events
    assert isinstance(started, WatchRunStarted)
    return started
