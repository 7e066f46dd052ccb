"""Jobs on a supervisor with a scripted model: what landed, the rule, and what the model does."""

import hashlib
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import anyio

from agent_rig import WriteNote, call, item_of, said, say
from kbd import hookimpl
from kbd.core.plugins.installed import Installed
from kbd.core.settings import Settings
from kbd.core.unattended import Unattended
from kbd.core.watcher import Job, JobFile
from kbd.events.watches import WatchRule
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)
from kbd.tools import Tool
from kbd.types import Phase, Seq, WatchId, WorkbenchId
from supervised import Supervised, supervised

__all__ = ["BENCH", "MODEL", "WATCH", "Play", "job", "unattended", "writes"]

PLUGIN = "unattended_test_plugin"
MODEL = "scripted:one"
WATCH = WatchId("00000000000000aa")
BENCH = WorkbenchId("00000000000000bb")

Play = Callable[[ModelRequest], ModelReply]


def writes(*names: str, content: str = "made") -> Play:
    """A model that writes a file for each item of its plan, and says so."""

    def play(request: ModelRequest) -> ModelReply:
        match request.phase, said(request):
            case Phase.RESEARCH, _:
                return say("## Files\nnone")
            case Phase.PLAN, _:
                items = "\n".join(f"- [ ] {n}. write {name}" for n, name in enumerate(names, 1))
                return say(f"## Task\nwrite\n## Items\n{items}\n## Notes\n- n")
            case Phase.IMPLEMENT, 0:
                name = names[item_of(request)[0] - 1]
                return call("write_note", path=name, content=content) if name else say("nothing")
            case Phase.IMPLEMENT, _:
                return say("written")
            case _:
                return say("All done.")

    return play


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
    home: Path, play: Play, *, leaves: bool = False, settings: Settings | None = None
) -> AsyncIterator[tuple[Supervised, Unattended]]:
    """Run a supervisor whose model plays, with what carries jobs out."""
    module = ModuleType(PLUGIN)

    @hookimpl
    def kbd_register_tools() -> list[Tool]:
        return [WriteNote()]

    @hookimpl
    def kbd_register_providers() -> list[Provider]:
        return [Scripted(play, leaves=leaves)]

    module.__file__ = __file__
    vars(module).update(
        kbd_register_tools=kbd_register_tools, kbd_register_providers=kbd_register_providers
    )
    sys.modules[PLUGIN] = module
    found = [Installed("testing", PLUGIN)]
    async with supervised(home, settings, found) as running:
        shop = running.shop
        yield running, Unattended(shop.parts, shop.benches, shop.runs)


def job(folder: Path, files: dict[str, str] | None = None, **rule: Any) -> Job:
    """Return a job on files that landed; their copies lie in `folder`/copies."""
    copies = folder / "copies"
    copies.mkdir(exist_ok=True)
    landed: list[JobFile] = []
    for number, (path, content) in enumerate((files or {"in.txt": "landed"}).items(), 1):
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        copy = copies / sha256
        copy.write_text(content)
        landed.append(JobFile(Seq(number), path, sha256, len(content), copy))
    given = {"name": "reports", "folder": str(folder / "inbox"), "prompt": "do it"}
    return Job(
        watch_id=WATCH,
        rule=WatchRule(**given | {"model_id": MODEL} | rule),
        files=tuple(landed),
        workbench_id=BENCH,
        attempt=1,
        depth=1,
    )
