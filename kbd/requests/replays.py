"""Requests that look back: a run step by step, the state at an event, a run's calls repeated."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.events.base import Actor
from kbd.messages import Usage
from kbd.requests.base import Answer, Request, RunParam, SeqParam, WorkbenchParam
from kbd.requests.events import EventPlace
from kbd.requests.workshop import RunInfo
from kbd.types import BlobHash, CallId, FileName, Phase, RunId, Seq

__all__ = [
    "CallStep",
    "Divergence",
    "FieldDiff",
    "FileAt",
    "FileDiff",
    "FileStep",
    "ItemStep",
    "ModelStep",
    "NestedStep",
    "PartDiff",
    "PluginCompared",
    "ReadingDiff",
    "ReplayRequest",
    "ReplayRun",
    "ReplaySteps",
    "RunAt",
    "RunGetSpans",
    "RunReplayed",
    "SkippedCall",
    "SpansFound",
    "StateAt",
    "StateFound",
    "Step",
    "StepCall",
    "StepKind",
    "StepsFound",
]


_FolderText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class _ReplayRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "replay"


StepKind = Literal[
    "asked", "run", "phase", "model", "tool", "refused", "research", "plan", "item", "summary",
    "draft", "other",
]  # fmt: skip
"""What a step tells of: the request; the run's own start, stop, end; a phase; a turn of the model;
a tool call; a call that was refused; what a phase wrote; an item; what became of the draft; and
what else was recorded meanwhile."""


class StepCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call as the model asked for it; its arguments are JSON text, or in a blob."""

    call_id: CallId
    tool: str
    arguments: str = ""
    blob: BlobHash | None = None
    fault: str | None = None


class ModelStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn of the model.

    Args:
        model_id: The model.
        turn: Within the phase or the item's attempt, from 1.
        opening: The hash of the messages that open the chain, a JSON array of messages: with the
            turns and results since, what the model saw.
        tools: What it was offered.
        tool_choice: "required", "auto" or "none".
        text: What it said; empty while it is not answered.
        calls: What it asked for.
        finish_reason: Why it ended.
        usage: What it consumed.
        failures: The attempts that failed, as "CODE: message".
        is_open: Whether no answer is recorded.
    """

    model_id: str
    turn: int
    opening: BlobHash
    tools: tuple[str, ...] = ()
    tool_choice: str = "auto"
    text: str = ""
    calls: tuple[StepCall, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    failures: tuple[str, ...] = ()
    is_open: bool = False


class NestedStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call of another tool that a call made as a part of its own.

    Args:
        tool: The tool.
        arguments: JSON text; of a long one the beginning, and "…".
        job: The hash of the job that it is a step of, or "".
        error_code: Why it failed, if it did.
    """

    tool: str
    arguments: str
    job: str = ""
    error_code: str | None = None


class CallStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool call, or its refusal.

    Args:
        call_id: The call.
        entry_id: Its number in the tool log; 0 for a refusal.
        tool: The tool.
        arguments: JSON text; empty if they are in `arguments_blob`.
        arguments_blob: Arguments that are too long for the log.
        ok: Whether it did what was asked.
        error_code: The code, if it failed or was refused.
        shown: What the model saw: the result, a receipt of it, or an error.
        result: The whole result as JSON text; empty if it is `shown`, or in `blob`.
        blob: A result that is too long for the log.
        size_bytes: The size of the whole result.
        plugins: The plugins that worked, as "package version sha256".
        is_open: Whether its end is not recorded: it wrote nothing.
        nested: The calls of other tools that it made, in order.
    """

    call_id: CallId
    entry_id: int
    tool: str
    arguments: str = ""
    arguments_blob: BlobHash | None = None
    ok: bool = False
    error_code: str | None = None
    shown: str = ""
    result: str = ""
    blob: BlobHash | None = None
    size_bytes: int = 0
    plugins: tuple[str, ...] = ()
    is_open: bool = False
    nested: tuple[NestedStep, ...] = ()


class FileStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of the draft that a step changed.

    Args:
        path: Its name.
        change: What happened to it.
        before: The hash of its bytes before, if it was there.
        after: The hash of its bytes since, if it is there.
        size_bytes: Their size.
        before_size_bytes: Their size before.
        warnings: What the review shows of it.
    """

    path: FileName
    change: Literal["added", "modified", "deleted", "rolled back"]
    before: BlobHash | None = None
    after: BlobHash | None = None
    size_bytes: int = 0
    before_size_bytes: int = 0
    warnings: tuple[str, ...] = ()


class ItemStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item of the plan as it stood: "open", "active", "done" or "failed"."""

    index: int
    text: str
    state: str
    reason: str = ""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a run, as a person walks through it.

    Args:
        index: Its place, from 1.
        first_seq: The first event that it tells of.
        seq: The last one; `StateAt` it is what the step left.
        kind: What it tells of.
        title: The same as a sentence for people: that of its event, without how long it took; of a
            turn, a call or a publish, which several events tell of, with how it ended.
        ts: When it began; ISO 8601, UTC.
        duration_ms: How long it took, as far as that is recorded.
        phase: The phase it belongs to.
        item: The item, from 1, or 0.
        attempt: The item's attempt, or 0.
        text: What was said or written, in full.
        model: The turn, of a "model" step.
        call: The call, of a "tool" or "refused" step, or a client's own of an "other" one.
        items: The plan as it stood after the step, where the step changed it.
        files: What the step changed in the draft.
        place: Where it stands.
        actor: The client that caused its first event, as it named itself; None where none did.
    """

    index: int
    first_seq: Seq
    seq: Seq
    kind: StepKind
    title: str
    ts: str
    duration_ms: int = 0
    phase: Phase | None = None
    item: int = 0
    attempt: int = 0
    text: str = ""
    model: ModelStep | None = None
    call: CallStep | None = None
    items: tuple[ItemStep, ...] = ()
    files: tuple[FileStep, ...] = ()
    place: EventPlace = EventPlace()
    actor: Actor | None = None


class StepsFound(Answer):
    """Steps of a run in order.

    Args:
        run: The run.
        request: What was asked for.
        steps: At most `limit`, and fewer if they are large.
        total: How many there are.
    """

    run: RunInfo
    request: str
    steps: tuple[Step, ...]
    total: int


class ReplaySteps(_ReplayRequest):
    """Read the steps of a run behind the `after`-th."""

    answer: ClassVar[type[Any]] = StepsFound

    run_id: RunParam
    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 200


class SpansFound(Answer):
    """A run as a trace of OpenTelemetry.

    Args:
        run_id: The run.
        spans: How many there are.
        otlp: An `ExportTraceServiceRequest` of OTLP as JSON text.
    """

    run_id: RunId
    spans: int
    otlp: str


class RunGetSpans(_ReplayRequest):
    """Ask for a run as a trace of OpenTelemetry.

    Args:
        run_id: The run.
        content: Whether attributes have what was said, asked of tools and answered by them.
    """

    answer: ClassVar[type[Any]] = SpansFound

    run_id: RunParam
    content: bool = False


class FileAt(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it stood: "published", or in the draft "added", "modified" or "deleted"."""

    path: FileName
    state: Literal["published", "added", "modified", "deleted"]
    size_bytes: int
    hash: BlobHash | None


class RunAt(msgspec.Struct, frozen=True, kw_only=True):
    """The newest run as it stood; texts are Markdown, empty while they are not written."""

    run_id: RunId
    status: str
    phase: Phase | None
    item: int
    attempt: int
    research: str
    plan: str
    summary: str
    usage: Usage


class StateFound(Answer):
    """A workbench as it stood after an event.

    Args:
        workbench_id: Which.
        seq: The event.
        ts: When that was; ISO 8601, UTC.
        name: The workbench's name.
        state_hash: The hash of all of its state: equal if and only if the state is.
        files: Its files, sorted.
        draft_id: The draft that was open, or "".
        run: The newest run, if there was one.
        destination: Where it was written to, if that was asked for.
    """

    workbench_id: str
    seq: Seq
    ts: str
    name: str
    state_hash: str
    files: tuple[FileAt, ...]
    draft_id: str = ""
    run: RunAt | None = None
    destination: str = ""


class StateAt(_ReplayRequest):
    """Tell how a workbench stood after an event; write it to a new folder if one is named.

    The folder must not exist, or be empty: nothing is overwritten, and it appears whole or not at
    all. It gets, to the byte, `files/` as runs saw them, which are those of `published/` with those
    of `draft/` over them; both of these; `state.json`, whose SHA-256 is `state_hash`; and
    `plan.md`, `research.md`, `conversation.jsonl` where there are such.
    """

    answer: ClassVar[type[Any]] = StateFound

    workbench_id: WorkbenchParam
    seq: SeqParam
    destination_dir: _FolderText | msgspec.UnsetType = msgspec.UNSET


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


class ReadingDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a call that came out otherwise, which is read otherwise now, or may be.

    Args:
        path: Its file.
        sheet: Its sheet; empty where none was named.
        is_recorded: Whether the log has how it was read then. That of a run of kbd 0.1 has not:
            then `fields` are from what results of the run show, which need not be all.
        fields: What differs: a setting ("decimal"), the type of a column, or the count of rows.
        settings: How it is read now, by the names that `reading` has in the table's map.
    """

    path: FileName
    sheet: str
    is_recorded: bool
    fields: tuple[FieldDiff, ...]
    settings: dict[str, str]


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """A call that did not come out as recorded.

    Args:
        seq: The event that recorded its end.
        call_id: The call.
        entry_id: Its number in the tool log, or 0.
        tool: The tool.
        phase: The phase that called it.
        item: The item, from 1, or 0.
        what: The parts that differ: "reading" (of a table, where the log tells that it does),
            "outcome", "result", "shown", "files", "refusal".
        fields: The fields that differ, of outcome, result, shown, and what is said of files; at
            most 50, and none where the calls before have told much.
        files: The files that differ.
        plugins: The plugins among those that worked that are not the recorded ones.
        readings: The call's tables that are read otherwise now, and all of them where the log does
            not have how they were read.
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
    readings: tuple[ReadingDiff, ...] = ()


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


ReplayRequest = ReplaySteps | RunGetSpans | StateAt | ReplayRun
"""The requests of this subject."""
