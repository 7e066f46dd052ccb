"""Runs of the real agent with the real plugins over real files, driven by a model made of a seed.

The model is a pure function of its seed and of what it is asked, so a run can be made again, also
one that was cut off: it makes its turns from the manifest and the results that it is shown.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec

from agent_rig import NoSync
from kbd.core.agent import run_agent
from kbd.core.agent.run_context import RunContext
from kbd.core.domain.commands import AddFiles, Command, SendMessage, StartRun
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.runtime.settings import RunLimits
from kbd.core.search.lookup import DocumentLookup, NoLookupModels, open_lexical_engine
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.workbench.call_files import CallFiles, LogRecall, describe_file
from kbd.core.workbench.file_store import Blobs
from kbd.events.base import Recorded, ReplyCall
from kbd.events.blobs import BlobStore
from kbd.events.log import EventLog
from kbd.events.runs import ModelReplied, ToolCalled, ToolReturned
from kbd.events.workbenches import FileAdded
from kbd.messages import ToolCall
from kbd.providers import Emit, ModelInfo, ModelReply, ModelRequest
from kbd.types import CallId, FileName, Phase, Seq, WorkbenchId
from model_server import phase_of, turn_of
from odt_texts import text_file
from purses import purse_in
from whole.seeded_calls import EDITED, Call, Caller

__all__ = ["LIMITS", "Asked", "Coverage", "asked_by", "asked_over_http", "chosen", "made", "reply",
    "seeded_run",
]  # fmt: skip

LIMITS = RunLimits(item_turns=8, receipt_bytes=2048)
FOLDERS = ("csv", "docx", "image", "pdf", "pptx", "xlsx")
_LOOP = "loop"


class Asked(msgspec.Struct, frozen=True):
    """What a model is asked for one turn.

    Args:
        phase: The phase.
        opening: The message that opened the conversation.
        turn: How many turns it has answered.
        answers: What the tools answered, in order.
    """

    phase: Phase
    opening: str
    turn: int
    answers: tuple[str, ...]


def asked_by(request: ModelRequest) -> Asked:
    """Return what a request asks."""
    said = request.messages
    return Asked(
        request.phase,
        said[1].text,
        sum(message.role == "assistant" for message in said),
        tuple(message.text for message in said if message.role == "tool"),
    )


def reply(seed: int, turns: int, asked: Asked) -> tuple[str, tuple[Call, ...]]:
    """Return what the model of a seed says, and the calls it asks for.

    Args:
        seed: Its seed.
        turns: About how many turns with calls it makes of research and of an item.
        asked: What it is asked.
    """
    item, attempt = _item(asked.opening)
    chance = Random(f"{seed} {asked.phase} {item} {attempt} {asked.turn}")
    caller = Caller(chance, _manifest(asked.opening), asked.answers)
    match asked.phase:
        case Phase.RESEARCH if asked.turn < turns:
            return "", tuple(_mixed(chance, caller.look, caller.wrong, caller.write))
        case Phase.RESEARCH:
            return "# Research\n\nfiles were looked at", ()
        case Phase.PLAN if asked.turn < seed % 2:
            return "", (caller.check(), caller.wrong())
        case Phase.PLAN:
            return _plan(chance), ()
        case Phase.IMPLEMENT if _LOOP in _told(asked.opening, "item") and attempt == 1:
            # It writes, then does one thing over and over: the attempt ends, and is rolled back.
            same = ("table_get_map", '{"path": "none.csv"}')
            return "", ((caller.write(),) if asked.turn == 0 else (same, same, same))
        case Phase.IMPLEMENT if asked.turn < turns:
            return "", tuple(_mixed(chance, caller.write, caller.look, caller.wrong))
        case Phase.IMPLEMENT:
            return f"item {item} is done", ()
        case Phase.SUMMARY:
            return "All was done.", ()


def _mixed(chance: Random, usual: Any, other: Any, rare: Any) -> list[Call]:
    kinds = [usual, usual, usual, other, chance.choice((usual, other, rare))]
    return [chance.choice(kinds)() for _ in range(chance.randrange(1, 5))]


def _plan(chance: Random) -> str:
    words = [chance.choice(("write", "write", _LOOP)) for _ in range(chance.randrange(1, 4))]
    items = "\n".join(f"- [ ] {place}. {word} it" for place, word in enumerate(words, 1))
    return f"# Execution Plan\n\n## Task\nmany things\n\n## Items\n{items}\n\n## Notes\n- none\n"


def _told(opening: str, block: str) -> str:
    return opening.partition(f"<{block}")[2].partition(f"</{block}>")[0]


def _item(opening: str) -> tuple[int, int]:
    numbers = _told(opening, "item").split('"')
    return (int(numbers[1]), int(numbers[3])) if len(numbers) > 3 else (0, 0)


def _manifest(opening: str) -> list[dict[str, Any]]:
    told = _told(opening, "files")
    if not told:
        return []
    files: list[dict[str, Any]] = json.loads(told[told.index("{") : told.rindex("}") + 1])["files"]
    return files


def asked_over_http(body: dict[str, Any]) -> Asked:
    """Return what a request of chat completions asks."""
    said = body["messages"]
    phases = {"research": Phase.RESEARCH, "plan": Phase.PLAN, "implement": Phase.IMPLEMENT}
    answers = tuple(str(each["content"]) for each in said if each["role"] == "tool")
    phase = phases.get(phase_of(body), Phase.SUMMARY)
    return Asked(phase, said[1]["content"], turn_of(body), answers)


def made(folder: Path) -> list[Path]:
    """Make the kinds of files that the corpora have none of."""
    folder.mkdir(exist_ok=True)
    note, text = folder / "note.md", folder / "letter.odt"
    note.write_text("# Note\n\nänd more\n" * 20, encoding="utf-8")
    text_file(text, "<text:h text:outline-level='1'>Dear</text:h><text:p>all of you</text:p>" * 9)
    return [note, text]


def chosen(corpora: Path, seed: int, kinds: int, count: int, most_bytes: int) -> list[Path]:
    """Choose files of the corpora, of so many kinds so many, none larger than so many bytes."""
    chance, found = Random(seed), []
    for place in range(kinds):
        folder = FOLDERS[(seed + place) % len(FOLDERS)]
        small = [p for p in sorted((corpora / folder).iterdir()) if p.stat().st_size < most_bytes]
        found += chance.sample(small, count)
    return found


@asynccontextmanager
async def _keeper(
    folders: WorkbenchFolders,
) -> AsyncIterator[Keeper[WorkbenchState, Command]]:
    keeper: Keeper[WorkbenchState, Command] = Keeper(
        Journal(EventLog.open(folders.log, disk=NoSync())),
        blank=WorkbenchState, fold=fold_workbench, decide=decide, clock=SystemClock(),
    )  # fmt: skip
    await keeper.load()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        yield keeper
        tasks.cancel_scope.cancel()
    await keeper.journal.aclose()


async def seeded_run(
    folder: Path,
    seed: int,
    turns: int,
    files: Sequence[Path],
    catalog: Catalog,
    workers: WorkerPool,
) -> tuple[WorkbenchFolders, list[Recorded]]:
    """Make a workbench of files, have a seeded model work on it, and return it with its events."""
    folders = WorkbenchFolders(id=WorkbenchId(f"{seed:016x}"), root=folder)
    folders.create()
    blobs = Blobs(BlobStore(folders.blobs, NoSync()))
    beside = folder.with_name(f"{folder.name}-daemon")
    daemon, purse = purse_in(beside, catalog, LIMITS, NoSync())
    async with _keeper(folders) as keeper:
        added = []
        for path in files:
            blob, size = await blobs.put_file(path)
            added.append(FileAdded(FileName(path.name), blob, size))
        await keeper.submit(AddFiles(tuple(added), len(added)))
        await keeper.submit(SendMessage("u-1", "do many things"))
        await keeper.submit(StartRun(None, "seeded:model"))
        await run_agent(_context(folders, keeper, blobs, catalog, workers, purse, (seed, turns)))
        events = keeper.journal.log.read(Seq(0), 1_000_000)
    await daemon.journal.aclose()
    return folders, [record for _, record in events]


def _context(
    folders: WorkbenchFolders,
    keeper: Keeper[WorkbenchState, Command],
    blobs: Blobs,
    catalog: Catalog,
    workers: WorkerPool,
    purse: DailyBudget,
    model: tuple[int, int],
) -> RunContext:
    async def complete(model_id: str, request: ModelRequest, emit: Emit) -> ModelReply:
        del model_id, emit
        await anyio.lowlevel.checkpoint()
        said, wanted = reply(*model, asked_by(request))
        calls = [
            ToolCall(CallId(f"c{place}"), name, text) for place, (name, text) in enumerate(wanted)
        ]
        return ModelReply(text=said, tool_calls=tuple(calls))

    def open_files() -> CallFiles:
        return CallFiles(
            keeper.state, blobs, folders.stage, folders.cache,
            lambda file: describe_file(catalog, file),
        )  # fmt: skip

    async def sleep(seconds: float) -> None:
        del seconds

    formats = FormatCalls(catalog, workers, folders.cache)
    room = open_lexical_engine(formats, folders.cache / "index", 1_000_000)
    return RunContext(
        commands=keeper.succession(),
        journal=keeper.journal,
        run=1,
        blobs=blobs,
        open_files=open_files,
        formats=formats,
        recall=LogRecall(keeper.state, keeper.journal, blobs),
        search=lambda files: DocumentLookup(room, files, NoLookupModels(), LIMITS.tool_s),
        workers=workers,
        catalog=catalog,
        complete=complete,
        model=lambda model_id: ModelInfo(model_id, context_tokens=200_000),
        effort=lambda _model_id, _phase: "",
        daily_budget=purse,
        announce=lambda _: None,
        limits=LIMITS,
        clock=SystemClock(),
        sleep=sleep,
        chance=lambda: 0.0,
    )


class Coverage:
    """What calls of some runs succeeded.

    Attributes:
        tools: How often each tool did.
        operations: How often each operation did, as (format, operation).
        suffixes: The suffixes of the files that were named.
        names: Their names.
        failures: How often calls failed, by code.
    """

    def __init__(self) -> None:
        self.tools: Counter[str] = Counter()
        self.operations: Counter[tuple[str, str]] = Counter()
        self.suffixes: Counter[str] = Counter()
        self.names: set[str] = set()
        self.failures: Counter[str] = Counter()

    def add(self, events: Sequence[Recorded]) -> None:
        """Count the calls of a run."""
        asked: dict[CallId, ReplyCall] = {}
        started = ""
        for record in events:
            match record.data:
                case ModelReplied(calls=calls):
                    asked |= {call.id: call for call in calls}
                case ToolCalled(tool=tool):
                    started = tool
                case ToolReturned(ok=True, call_id=call_id):
                    self._count(started, json.loads(asked[call_id].arguments or "{}"))
                case ToolReturned(error_code=str(code)):
                    self.failures[code] += 1
                case _:
                    pass

    def _count(self, tool: str, arguments: dict[str, Any]) -> None:
        self.tools[tool] += 1
        self.names.add(name := str(arguments.get("path", "")))
        self.suffixes[Path(name).suffix.lower()] += 1
        kind = tool.removesuffix("_operations")
        if kind in EDITED:
            self.operations.update((kind, each["op"]) for each in arguments["operations"])
