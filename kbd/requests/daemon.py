"""Requests about the daemon itself: what it is, its plugins, its workers, the soundness of logs."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import (
    UNSET,
    Answer,
    BlobParam,
    LogParam,
    Request,
    SeqParam,
    Unset,
)
from kbd.types import Seq

__all__ = [
    "ClientIdentified",
    "ClientIdentify",
    "DaemonGetMetrics",
    "DaemonMetrics",
    "DaemonRequest",
    "DaemonShutdown",
    "DaemonStopping",
    "EngineGetInfo",
    "EngineInfo",
    "LogFault",
    "LogHead",
    "LogHeadFound",
    "LogVerified",
    "LogVerify",
    "PluginRow",
    "PluginsFound",
    "PluginsList",
    "RendererInfo",
    "RpcDiscover",
    "SandboxInfo",
    "ScrubInfo",
    "SearchInfo",
    "SetAsideFile",
    "ToolProgram",
    "ToolWorkerGetStatus",
    "ToolWorkerStatus",
    "WorkedFormat",
    "WorkerGetInfo",
    "WorkerInfo",
]


class SearchInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How documents are searched.

    Args:
        embedder: What makes texts vectors, so that they are found by meaning; "" for words alone.
        reason: Why there is none.
    """

    embedder: str
    reason: str | Unset = UNSET


class ScrubInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How far the logs and file versions of the home are verified.

    Args:
        days: All are verified once in so many days; 0 for never.
        logs: How many logs there are, the daemon's among them.
        overdue: How many of them were neither verified nor created within these days.
        oldest_s: Seconds since the log was verified, or else created, for which that is longest.
    """

    days: int
    logs: int
    overdue: int
    oldest_s: float


class EngineInfo(Answer):
    """What is running.

    Args:
        engine_version: The version of kbd.
        api_version: The version of the contract.
        backend: "asyncio" or "trio".
        home: `$KBD_HOME`.
        pid: The daemon's process.
        plugins: The names of the plugins that are loaded.
        workbenches: How many there are.
        uptime_s: Seconds since the start.
        search: How documents are searched.
        home_warning: That the home is a copy of another one, or not where it was known.
        damage: What is wrong with the daemon's own log. Where it cannot be read to its end nothing
            is recorded in it.
        scrub: How far the home is verified; absent until that is known.
        storage_notices: That the quota is near or reached, and which archives are about to be
            removed.
    """

    engine_version: str
    api_version: str
    backend: str
    home: str
    pid: int
    plugins: tuple[str, ...]
    workbenches: int
    uptime_s: float
    search: SearchInfo
    home_warning: str | Unset = UNSET
    damage: str | Unset = UNSET
    scrub: ScrubInfo | Unset = UNSET
    storage_notices: tuple[str, ...] | Unset = UNSET


class EngineGetInfo(Request):
    """Ask what is running."""

    answer: ClassVar[type[Any]] = EngineInfo


class SandboxLayerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A layer of the operating system that confines workers.

    Args:
        name: landlock, which holds files, or seccomp, which holds system calls.
        holds: Whether this system has it.
        reason: What it is based on, or why it is missing.
    """

    name: str
    holds: bool
    reason: str


class SandboxInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How workers are confined, and why not further.

    Args:
        level: full with all layers, partial with some, process with none, off where the settings
            switch them off.
        reason: Why it is not full.
        layers: The layers.
    """

    level: str
    reason: str | Unset = UNSET
    layers: tuple[SandboxLayerInfo, ...] | Unset = UNSET


class RendererInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What prints documents, so that their pages can be shown.

    Args:
        program: Its path; "" for none: then previews of such files are refused.
        reason: Why there is none.
    """

    program: str
    reason: str | Unset = UNSET


class ToolProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program of the machine that a tool needs.

    Args:
        tool: The tool.
        name: What the program is called.
        program: Its path; "" for none: then the tool is not offered to models, and refused.
    """

    tool: str
    name: str
    program: str


class SetAsideFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that no worker gets any more until the daemon starts again.

    Args:
        path: Its name when it was read last.
        plugin: The plugin, and its version, whose workers died of it.
        deaths: How many of them.
        reason: The same as a sentence.
    """

    path: str
    plugin: str
    deaths: int
    reason: str


class ToolWorkerStatus(Answer):
    """Whether files can be worked on.

    Args:
        available: Whether a worker call would be tried.
        workers: How many worker processes there are.
        sandbox: How they are confined.
        renderer: What prints documents for previews.
        programs: What else tools need of the machine.
        error: Why none can be started.
        set_aside: The files that are not read any more, for they killed their workers; absent if
            there are none.
    """

    available: bool
    workers: int
    sandbox: SandboxInfo
    renderer: RendererInfo
    programs: tuple[ToolProgram, ...] = ()
    error: str | Unset = UNSET
    set_aside: tuple[SetAsideFile, ...] | Unset = UNSET


class ToolWorkerGetStatus(Request):
    """Ask whether files can be worked on."""

    answer: ClassVar[type[Any]] = ToolWorkerStatus


class WorkedFormat(msgspec.Struct, frozen=True, kw_only=True):
    """A format that workers read.

    Args:
        name: The format.
        kind: The word for its files.
        suffixes: How their names end.
        plugin: The plugin that brings it.
        version: Of that plugin.
        methods: The methods that clients call on its files.
    """

    name: str
    kind: str
    suffixes: tuple[str, ...]
    plugin: str
    version: str
    methods: tuple[str, ...]


class WorkerInfo(Answer):
    """What workers do with files.

    Args:
        python: The version of Python that they run.
        available: Whether a call would be tried.
        sandbox: How they are confined.
        formats: What they read, sorted by name.
        tool_methods: The methods of tools, which work on several formats.
    """

    python: str
    available: bool
    sandbox: SandboxInfo
    formats: tuple[WorkedFormat, ...]
    tool_methods: tuple[str, ...]


class WorkerGetInfo(Request):
    """Ask what workers do with files: formats, and the methods for them."""

    answer: ClassVar[type[Any]] = WorkerInfo


class DaemonStopping(Answer):
    """The daemon stops in an orderly way; running work goes on at the next start."""

    stopping: bool = True


class DaemonShutdown(Request):
    """Stop the daemon."""

    answer: ClassVar[type[Any]] = DaemonStopping


class DaemonMetrics(Answer):
    """What the daemon counted and how it stands.

    Args:
        text: The metrics in the text format of Prometheus, version 0.0.4.
    """

    text: str


class DaemonGetMetrics(Request):
    """Ask for the daemon's metrics."""

    answer: ClassVar[type[Any]] = DaemonMetrics


_NameParam = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class ClientIdentified(Answer):
    """How the client is called from now on, in what it causes to be recorded.

    Args:
        client: Its name: one line of printable characters, cut if it was long.
        connection: The connection's number, unique while the daemon runs.
        version: Its version.
        host: The program that it works for.
    """

    client: str
    connection: int
    version: str | Unset = UNSET
    host: str | Unset = UNSET


class ClientIdentify(Request):
    """Say who asks on this connection; events that it causes carry it as their actor.

    Args:
        client: The client's name.
        version: Its version.
        host: The program that it works for, where it is not its own.
    """

    answer: ClassVar[type[Any]] = ClientIdentified

    client: _NameParam
    version: _NameParam | Unset = UNSET
    host: _NameParam | Unset = UNSET


class PluginRow(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin.

    Args:
        name: The name of its entry point.
        version: Of the distribution that brings it.
        source: That distribution.
        kind: What it brings: "formats", "tools", "providers", joined by commas.
        status: Whether it is in use.
        reason: Why it is not.
    """

    name: str
    version: str
    source: str
    kind: str
    status: Literal["loaded", "left_out", "blocked"]
    reason: str | Unset = UNSET


class PluginsFound(Answer):
    """All plugins that are installed."""

    plugins: tuple[PluginRow, ...]


class PluginsList(Request):
    """List all plugins that are installed."""

    answer: ClassVar[type[Any]] = PluginsFound


class LogHeadFound(Answer):
    """The last event of a log, and the hash of the chain up to it (64 hex digits)."""

    seq: Seq
    hash: str


class LogHead(Request):
    """Ask for the head of a log, to keep it elsewhere as evidence."""

    answer: ClassVar[type[Any]] = LogHeadFound

    workbench_id: LogParam


class LogFault(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a log: which file, at which byte.

    Args:
        kind: What sort of damage it is; see `kbd.events.faults`.
        file: The file's name, relative to the folder of the log or of the blobs.
        offset: Where in it, in bytes.
        message: What is wrong.
        seq: The event that was expected there, or that names the blob; 0 if there is none.
    """

    kind: str
    file: str
    offset: int
    message: str
    seq: int = 0


class LogVerified(Answer):
    """What a reading of the whole log found.

    Args:
        ok: Whether it is whole.
        seq: The last event.
        frames: How many frames were checked.
        segments: How many files they lie in.
        blobs: How many blobs were checked against their hash.
        head: The hash of the chain up to `seq`.
        faults: What is wrong.
        collected: How many blobs that it names were removed on purpose, as it says itself.
    """

    ok: bool
    seq: Seq
    frames: int
    segments: int
    blobs: int
    head: str
    faults: tuple[LogFault, ...]
    collected: int = 0


class LogVerify(Request):
    """Check a log: frames, sequence, chain, anchor, blobs; and a head that was kept elsewhere.

    Damage that is found is recorded, and shown wherever the workbench is; what is mended likewise.

    Args:
        workbench_id: The log.
        seq: The event of a head that `LogHead` gave earlier.
        hash: Its chain value; if the log has another there, it was changed since.
    """

    answer: ClassVar[type[Any]] = LogVerified

    workbench_id: LogParam
    seq: SeqParam | Unset = UNSET
    hash: BlobParam | Unset = UNSET


class RpcDiscover(Request):
    """Ask for the OpenRPC document of every method."""

    method: ClassVar[str] = "rpc.discover"
    answer: ClassVar[type[Any]] = dict[str, Any]


DaemonRequest = (
    EngineGetInfo
    | ToolWorkerGetStatus
    | WorkerGetInfo
    | DaemonShutdown
    | PluginsList
    | DaemonGetMetrics
    | ClientIdentify
    | LogHead
    | LogVerify
    | RpcDiscover
)
"""The requests of this subject."""
