"""The request that proves a run: its calls are done again, and what comes out is compared."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.requests.base import Answer, Request, RunParam
from kbd.types import CallId, Phase, RunId, Seq

__all__ = [
    "Divergence",
    "FieldDiff",
    "FileDiff",
    "PartDiff",
    "PluginCompared",
    "ProofRequest",
    "ReplayRun",
    "RunReplayed",
    "SkippedCall",
]

_FolderText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class FieldDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A field that differs.

    Args:
        path: Where, by names and places: "rows[3][1]".
        recorded: The recorded value as JSON, cut if it is long; empty if there is none.
        replayed: The new one, likewise.
    """

    path: str
    recorded: str
    replayed: str


class PartDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a package that differs; a hash is empty where the part is missing."""

    part: str
    recorded: str
    replayed: str


class FileDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A file that differs.

    Args:
        path: Its name.
        recorded: The recorded hash; empty if the call had not written it.
        replayed: The new one; empty likewise.
        parts: The parts of the package whose contents differ, if it is one.
        offset: The first byte that differs; -1 if one of them is missing.
        note: What is to be said beside: the line of a text that differs; of a package whose parts
            are all equal, what else differs (order, times, compression).
    """

    path: str
    recorded: str
    replayed: str
    parts: tuple[PartDiff, ...] = ()
    offset: int = -1
    note: str = ""


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """A call that did not come out as recorded.

    Args:
        seq: The event that recorded its end.
        call_id: The call.
        entry_id: Its number in the tool log, or 0.
        tool: The tool.
        phase: The phase that called it.
        item: The item, from 1, or 0.
        what: The parts that differ: "outcome", "result", "shown", "files", "refusal".
        fields: The fields that differ, of outcome, result, shown, and what is said of files; at
            most 50, and none where the calls before have told much.
        files: The files that differ.
        plugins: The plugins among those that worked that are not the recorded ones.
    """

    seq: Seq
    call_id: CallId
    entry_id: int
    tool: str
    phase: Phase | None
    item: int
    what: tuple[str, ...]
    fields: tuple[FieldDiff, ...] = ()
    files: tuple[FileDiff, ...] = ()
    plugins: tuple[str, ...] = ()


class SkippedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that cannot be repeated, and why: what ended it was a limit of time, say."""

    seq: Seq
    call_id: CallId
    tool: str
    reason: str


class PluginCompared(msgspec.Struct, frozen=True, kw_only=True):
    """A plugin of the run: what was recorded, and what is here now; empty where there is none."""

    package: str
    recorded_version: str
    recorded_sha256: str
    version: str
    sha256: str


class RunReplayed(Answer):
    """What came of doing a run's calls again.

    Args:
        run_id: The run.
        calls: How many calls were repeated, refusals included.
        equal: How many came out as recorded, to the byte.
        files: How many file versions were made again and compared.
        refusals: How many of the calls had been refused.
        divergences: The others, in order: the first is where the run would have gone another way.
        skipped: What was not repeated.
        plugins: What worked then, beside what works now.
        duration_ms: How long it took.
    """

    run_id: RunId
    calls: int
    equal: int
    files: int
    refusals: int
    divergences: tuple[Divergence, ...]
    skipped: tuple[SkippedCall, ...]
    plugins: tuple[PluginCompared, ...]
    duration_ms: int


class ReplayRun(Request):
    """Do every tool call of a run again, on the recorded inputs, and compare what comes out.

    Args:
        run_id: The run.
        with_plugin: The absolute path of a folder or a wheel that holds another version of a
            plugin's package, used in place of the installed one of that name.
    """

    answer: ClassVar[type[Any]] = RunReplayed
    subject: ClassVar[str] = "replay"

    run_id: RunParam
    with_plugin: _FolderText | msgspec.UnsetType = msgspec.UNSET


ProofRequest = ReplayRun
"""The request of this subject."""
