"""Runs that are proved in this process, and a tool that does otherwise the next time."""

import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import anyio
import msgspec

from agent_rig import Rig, WriteNote, said, say
from kbd import hookimpl
from kbd.core.audit.proof import prove
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.errors import FileReadFailed, NotFound
from kbd.messages import ToolCall
from kbd.providers import ModelReply, ModelRequest
from kbd.requests.replays import RunReplayed
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import CallId, Effect, FileName, Phase, WorkbenchId

PACKAGE = "proof_test_tools"
BENCH = WorkbenchId("0" * 16)


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do, and under which name to write."""

    kind: str
    path: str = "out.bin"


class Moody(Tool):
    """Does what its kind says, otherwise at an odd time than at an even one.

    Args:
        time: The time.
    """

    name = "moody"
    description = "for tests"
    arguments = Kind
    effect = Effect.WRITE

    def __init__(self, time: int = 0) -> None:
        self._time = time

    async def run(self, context: ToolContext, arguments: Kind) -> ToolResult:
        """Do what the kind says."""
        return KINDS[arguments.kind](context, FileName(arguments.path), self._time)


def _field(_context: ToolContext, _name: FileName, time: int) -> ToolResult:
    rows = [["Rent", 12.5], ["Food", 7], ["Misc", time]]
    return ToolResult({"columns": ["a", "b"], "rows": rows, "has_more": False})


def _text(_context: ToolContext, _name: FileName, time: int) -> ToolResult:
    lines = [f"line {number}" for number in range(100)]
    lines[41] = f"line {'forty' if time % 2 else '41'}"
    return ToolResult({"text": "\n".join(lines)})


def _error(_context: ToolContext, name: FileName, time: int) -> ToolResult:
    raise NotFound(f"no {name}") if time % 2 else FileReadFailed(f"no {name}")


def _mood(_context: ToolContext, _name: FileName, time: int) -> ToolResult:
    if time % 2:
        raise NotFound("not today")
    return ToolResult({"done": True})


def _measured(_context: ToolContext, _name: FileName, time: int) -> ToolResult:
    value = {"rows": [[1]] * 900, "took_ms": time}
    return ToolResult(value, summary={"rows": [[1]], "took_ms": time}, measured=("took_ms",))


def _bytes(context: ToolContext, name: FileName, time: int) -> ToolResult:
    staged = context.files.stage()
    staged.write_bytes(b"first\nsecond\n" + bytes([65 + time % 2]) * 10)
    context.files.put(name, staged)
    return ToolResult({"path": name}, is_action=True)


def _warning(context: ToolContext, name: FileName, time: int) -> ToolResult:
    staged = context.files.stage()
    staged.write_bytes(b"the same")
    context.files.put(name, staged, external=[f"https://example.org/{time}"])
    return ToolResult({"path": name}, is_action=True)


def _zipped(entries: list[tuple[str, bytes, int, int]]) -> Callable[[Path], None]:
    def write(target: Path) -> None:
        with ZipFile(target, "w") as archive:
            for part, data, second, method in entries:
                info = ZipInfo(part, (2020, 1, 1, 0, 0, second))
                info.compress_type = method
                archive.writestr(info, data)

    return write


def _package(change: Callable[[int], list[tuple[str, bytes, int, int]]]) -> Any:
    def made(context: ToolContext, name: FileName, time: int) -> ToolResult:
        staged = context.files.stage()
        _zipped(change(time))(staged)
        context.files.put(name, staged)
        return ToolResult({"path": name}, is_action=True)

    return made


LONG = b"<part/>" * 400

KINDS: Mapping[str, Callable[[ToolContext, FileName, int], ToolResult]] = {
    "field": _field,
    "text": _text,
    "error": _error,
    "mood": _mood,
    "measured": _measured,
    "bytes": _bytes,
    "warning": _warning,
    "part": _package(
        lambda time: [
            ("same.xml", LONG, 0, ZIP_DEFLATED),
            ("data/other.xml", LONG + str(time % 2).encode(), 0, ZIP_DEFLATED),
            (f"new{time % 2}.xml", b"new", 0, ZIP_DEFLATED),
        ]
    ),
    "order": _package(
        lambda time: [("a.xml", LONG, 0, 8), ("b.xml", LONG, 0, 8)][:: -1 if time % 2 else 1]
    ),
    "times": _package(lambda time: [("a.xml", LONG, 2 * (time % 2), ZIP_DEFLATED)]),
    "compression": _package(
        lambda time: [("a.xml", LONG, 0, ZIP_STORED if time % 2 else ZIP_DEFLATED)]
    ),
}


def catalog_of(*tools: Tool) -> Catalog:
    """A catalog of these tools and one that writes notes, as a plugin would bring them."""
    module = ModuleType(PACKAGE)
    brought = [*tools, WriteNote()]

    @hookimpl
    def kbd_register_tools() -> list[Tool]:
        return list(brought)

    module.__file__ = __file__
    vars(module)["kbd_register_tools"] = kbd_register_tools
    sys.modules[PACKAGE] = module
    return Catalog(
        Plugins.discover(Settings(), found=[EntryPoint("proof", PACKAGE, source="proof")])
    )


def turns(*replies: ModelReply) -> Callable[[ModelRequest], ModelReply]:
    """A model that does one item in these turns, and says little else."""

    def play(request: ModelRequest) -> ModelReply:
        match request.phase:
            case Phase.RESEARCH:
                return say("nothing")
            case Phase.PLAN:
                return say("- [ ] 1. one")
            case Phase.IMPLEMENT if said(request) < len(replies):
                return replies[said(request)]
            case _:
                return say("done")

    return play


def asks(*calls: tuple[str, dict[str, Any]]) -> ModelReply:
    """A turn of several calls."""
    return ModelReply(
        tool_calls=tuple(
            ToolCall(CallId(f"c{place}"), tool, msgspec.json.encode(arguments).decode())
            for place, (tool, arguments) in enumerate(calls)
        )
    )


async def proved(
    rig: Rig,
    scratch: Path,
    *,
    catalog: Catalog | None = None,
    limits: RunLimits | None = None,
    run: int = 1,
) -> RunReplayed:
    """Prove a run of a rig, with its own tools or others."""
    await anyio.Path(scratch).mkdir()
    return await prove(
        WorkbenchFolders(id=BENCH, root=rig.folder),
        run,
        scratch,
        catalog=catalog or rig.catalog,
        workers=rig.workers,
        settings=Settings(run=limits or rig.limits),
    )


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder with the hash of its bytes, and every folder.

    A log that nothing is appended to gives back the space behind its end, and moves its anchor:
    both are left out.
    """
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes().rstrip(b"\0")).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
        if path.name != "anchor"
    }
