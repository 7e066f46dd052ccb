"""Execution of one tool call, of a run or of a proof that repeats it.

Nothing is recorded here. What a call may reach is what its `ToolExecution` is given; what it
wrote is staged and, if it ends well, durable as blobs; what came of it is a `ToolOutcome`, and
`render_result` returns the texts of it for the log and for the model.
"""

import copy
import difflib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.arguments import record_of
from kbd.core.agent.budget import LOOP_NOTE, LoopVerdict, loop_verdict
from kbd.core.agent.context_window import truncate_result
from kbd.core.agent.noted_readings import MAX_NOTED_TABLES, note_table
from kbd.core.plugins.catalog import Catalog, ToolEntry
from kbd.core.plugins.faults import PluginFaults
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.guards import PluginFailed, guarded
from kbd.core.plugins.host import Plugin
from kbd.core.plugins.programs import find_program
from kbd.core.plugins.worker_pool import WorkerPool, function_name
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.settings import RunLimits
from kbd.core.workbench.call_files import CallFiles
from kbd.errors import (
    DiskFull,
    FileReadFailed,
    FileWriteFailed,
    KbdError,
    LogCorrupt,
    NotFound,
    ToolTimeout,
    UserCanceled,
    ValidationFailed,
)
from kbd.events.base import CallNotes, ModelShare, NestedCall, ReplyCall, TableRead
from kbd.events.disk import LogPoisoned
from kbd.events.drafts import FileChanged
from kbd.events.shortages import shortage_of
from kbd.formats import TableReading
from kbd.messages import UNREADABLE
from kbd.search import Search
from kbd.tools import CallLimits, FileRef, Formats, Recall, Tool, ToolResult
from kbd.types import CallId, Effect, FileName, Phase

__all__ = [
    "INLINE_BYTES",
    "CallSearch",
    "OpenSearch",
    "ToolExecution",
    "ToolOutcome",
    "add_loop_note",
    "admit_call",
    "error_text",
    "execute_tool",
    "find_tool",
    "parse_arguments",
    "render_result",
    "surplus_error",
]

INLINE_BYTES = 64 * 1024
"""Results and arguments above this are blobs; the log holds what is read often."""

MAX_NESTED = 1000
"""Calls of other tools that one call may make: a job with a file for each of many values."""

STEP_CHARACTERS = 16_000
"""Of a step's arguments the log has so many; the call's own arguments tell the rest."""

_log = get_logger(__name__)


class CallSearch(Search, Protocol):
    """`kbd.search.Search` for one call, which knows what had a part in its answers."""

    @property
    def outside(self) -> ModelShare | None:
        """The model or embedder that had a part in what was answered so far, if one had."""


OpenSearch = Callable[[CallFiles], CallSearch]
"""Opens the documents of a workbench as one call sees its files."""


class ToolExecution:
    """`kbd.tools.ToolContext` for one call.

    Args:
        entry: The tool; its own work runs in the worker of the plugin that brought it.
        files: The files as this call sees them.
        now_us: Its time, as the log has it.
        catalog: The tools that it may call as a part of its own.
        formats: The formats, called in workers.
        recall: Earlier results.
        search: Opens the documents.
        workers: For the tool's own work.

    Attributes:
        worked: The plugins that worked for it, in the order of their first work.
        nested: The calls of other tools that it made.
    """

    def __init__(
        self,
        entry: ToolEntry,
        files: CallFiles,
        now_us: int,
        *,
        catalog: Catalog,
        formats: FormatCalls,
        recall: Recall,
        search: OpenSearch,
        workers: WorkerPool,
    ) -> None:
        self.entry, self._files, self._now_us = entry, files, now_us
        # What a format does for a tool is its plugin's work, and the log names all that worked.
        self._formats = formats.noted_by(self._add_plugin).at(now_us)
        self._recall, self._open_search, self._workers = recall, search, workers
        self._search: CallSearch | None = None
        self._catalog, self._is_step = catalog, False
        # Until it is executed there is no limit to move.
        self._scope, self._limit_s = anyio.CancelScope(), 0.0
        self.worked: list[Plugin] = []
        self.nested: list[NestedCall] = []
        self._readings: dict[tuple[FileName, str], TableRead] = {}

    @property
    def faults(self) -> PluginFaults:
        """Where faults of the tool's plugin are noted."""
        return self._workers.faults

    @property
    def files(self) -> CallFiles:
        """The workbench's files."""
        return self._files

    @property
    def formats(self) -> Formats:
        """The formats."""
        return self._formats

    @property
    def recall(self) -> Recall:
        """Earlier results."""
        return self._recall

    @property
    def search(self) -> Search:
        """The documents."""
        if self._search is None:
            self._search = self._open_search(self._files)
        return self._search

    @property
    def outside(self) -> ModelShare | None:
        """The model or embedder that had a part in the call, if one had."""
        return None if self._search is None else self._search.outside

    @property
    def now_us(self) -> int:
        """The time of the call."""
        return self._now_us

    @property
    def readings(self) -> tuple[TableRead, ...]:
        """How the tables were read that the call worked with so far."""
        return tuple(self._readings.values())

    def note_reading(
        self,
        file: FileRef,
        sheet: str | None,
        reading: TableReading,
        *,
        columns: Mapping[str, str],
        row_count: int,
    ) -> None:
        """Note how a table was read; see `ToolContext.note_reading`."""
        noted = note_table(file.name, sheet, reading, columns, row_count)
        # A table may be opened for each step of a call.
        key = noted.name, noted.sheet
        if key in self._readings or len(self._readings) < MAX_NOTED_TABLES:
            self._readings[key] = noted

    async def call_tool(
        self, tool: str, arguments: Mapping[str, Any], *, job: str = ""
    ) -> ToolResult:
        """Call another tool as a part of this call; see `ToolContext.call_tool`."""
        entry = find_tool(self._catalog, tool)
        self._check_step(entry)
        text = msgspec.json.encode(arguments).decode()
        given = parse_arguments(entry.tool, ReplyCall(CallId(""), tool), text)
        before = self._files.written()
        # Whatever else ends it is the limit, or ends the call without a record.
        error_code: str | None = ToolTimeout.code
        try:
            result = await self._run_step(entry, given)
            # Last: what comes next sees it.
            await self._files.settle()
            error_code = None
        except KbdError as error:
            self._files.restore(before)
            error_code = error.code
            raise
        finally:
            shown = text if len(text) <= STEP_CHARACTERS else text[:STEP_CHARACTERS] + "…"
            self.nested.append(NestedCall(tool, shown, job, error_code))
        return result

    def _check_step(self, entry: ToolEntry) -> None:
        name, own = entry.tool.name, self.entry.tool
        if self._is_step:
            msg = f"{own.name} is a step of another call, and cannot call {name}"
            raise ValidationFailed(msg)
        # A phase that may not write must not write through a tool that says that it reads.
        if entry.tool.effect is Effect.WRITE and own.effect is not Effect.WRITE:
            msg = f"{own.name} only reads, and cannot call {name}, which writes"
            raise ValidationFailed(msg)
        if len(self.nested) >= MAX_NESTED:
            msg = f"{own.name} made {MAX_NESTED:,} calls of tools, and may make no more"
            raise ValidationFailed(msg)

    async def _run_step(self, entry: ToolEntry, given: Any) -> ToolResult:
        """Run a tool on the same files, within a time limit of its own."""
        tool, plugin = entry.tool, entry.plugin
        self.faults.check(plugin.name)
        step = copy.copy(self)
        step.entry, step._is_step = entry, True  # noqa: SLF001 - it is its own copy
        self._move_limit()
        try:
            returned: object = await guarded(
                self.faults, plugin.name, f"tool {tool.name}", lambda: tool.run(step, given)
            )
            result = _checked_result(tool, returned)
        except PluginFailed as failed:
            msg = f"{tool.name} failed inside ({failed.kind})"
            raise _failure_type(tool)(msg) from None
        finally:
            # Who had a part in its search had one in this call.
            self._search = step._search  # noqa: SLF001 - as above
        # Not after a step that the limit ended: moved, it would not count as passed.
        self._move_limit()
        return result

    def limit_to(self, scope: anyio.CancelScope, limit_s: float) -> None:
        """Take the scope that ends the call, and its seconds: each step has as many."""
        self._scope, self._limit_s = scope, limit_s

    def _move_limit(self) -> None:
        if self._limit_s:
            self._scope.deadline = anyio.current_time() + self._limit_s

    async def isolate(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        limits: CallLimits | None = None,
        with_program: bool = False,
    ) -> Any:
        """Call a function of the tool's package in a worker; see `ToolContext.isolate`."""
        tool = self.entry.tool
        self._add_plugin(self.entry.plugin)
        program = await run_sync(find_program, tool) if with_program else None
        given = arguments if program is None else {**arguments, "program": str(program)}
        return await self._workers.call(
            self.entry.plugin.name,
            function_name(function),
            given,
            limits or tool.limits,
            what=tool.name,
            failure=_failure_type(tool),
            program=program,
        )

    async def inspect(self) -> tuple[str, ...]:
        """Look into what the tool put for active content; see `CallFiles.inspect`."""
        return await self._files.inspect(self._formats)

    def _add_plugin(self, plugin: Plugin) -> None:
        if plugin not in self.worked:
            self.worked.append(plugin)


class ToolOutcome(msgspec.Struct, frozen=True):
    """Outcome of a tool call, before it is recorded.

    Args:
        result: What the tool returned; None if it failed.
        text: The same as JSON text.
        error: Why it failed.
        changes: What it wrote; none if it failed.
        worked: The plugins that worked for it.
        outside: The model or embedder that had a part in it, also if it failed.
        readings: How the tables were read that it worked with, also if it failed.
        nested: The calls of other tools that it made, also if it failed.
    """

    result: ToolResult | None = None
    text: str = ""
    error: KbdError | None = None
    changes: tuple[FileChanged, ...] = ()
    worked: tuple[Plugin, ...] = ()
    outside: ModelShare | None = None
    readings: tuple[TableRead, ...] = ()
    nested: tuple[NestedCall, ...] = ()

    @property
    def notes(self) -> CallNotes:
        """What the log keeps of how its figures came about."""
        told = () if self.result is None else self.result.told
        is_look = self.result is not None and self.result.is_look
        return CallNotes(told, self.readings, is_look, self.nested)


def admit_call(catalog: Catalog, phase: Phase, call: ReplyCall, text: str) -> tuple[ToolEntry, Any]:
    """Return the tool that a model's call is for, and its arguments as the tool's record.

    A run and a proof that repeats it admit calls by this one rule.

    Args:
        catalog: The tools that there are.
        phase: The phase that asks.
        call: The call.
        text: Its arguments as JSON text.

    Raises:
        NotFound: There is no such tool.
        ValidationFailed: The phase may not call it, the arguments do not fit, or the call does not
            tell which tool it is for.
    """
    if call.name == UNREADABLE and call.fault is not None:
        raise ValidationFailed(call.fault)
    entry = _permitted_tool(catalog, phase, call.name)
    return entry, parse_arguments(entry.tool, call, text)


def _permitted_tool(catalog: Catalog, phase: Phase, name: str) -> ToolEntry:
    """Return the tool if the phase may call it.

    Raises:
        NotFound: There is no such tool; the message names near matches.
        ValidationFailed: The phase may not call it.
    """
    entry = find_tool(catalog, name)
    # To offer is no check: models call tools that they were not offered (reliability, C3 and G1).
    if entry not in catalog.tools_for(phase):
        msg = f"{name} cannot be called in the {phase.value} phase; nothing was done"
        raise ValidationFailed(msg)
    return entry


def find_tool(catalog: Catalog, name: str) -> ToolEntry:
    """Return a tool by its name.

    Raises:
        NotFound: There is no such tool; the message names near matches.
        PluginGone: Its plugin was left out for its faults.
    """
    known = {entry.tool.name: entry for entry in catalog.tools()}
    entry = known.get(name)
    if entry is None:
        catalog.check_left_out(name)
        near = difflib.get_close_matches(name, known, 3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        msg = f"there is no tool {name[:80]!r}{hint}"
        raise NotFound(msg)
    return entry


def parse_arguments(tool: Tool, call: ReplyCall, text: str) -> Any:
    """Return a call's arguments as the tool's record.

    Raises:
        ValidationFailed: They are no JSON object or do not fit; the message has the paths.
    """
    if call.fault is not None:
        raise ValidationFailed(call.fault)
    try:
        return msgspec.json.decode(text, type=tool.arguments)
    except msgspec.ValidationError:
        pass  # looked at once more below, where a null may stand for what is left out
    except (msgspec.DecodeError, RecursionError) as fault:
        msg = f"the arguments of {tool.name} are not JSON: {fault}"
        raise ValidationFailed(msg) from None
    try:
        return record_of(msgspec.json.decode(text), tool.arguments)
    except ValidationFailed as fault:
        msg = f"the arguments of {tool.name} do not fit its schema: {fault.message}"
        raise ValidationFailed(msg) from None


def surplus_error(limits: RunLimits) -> ValidationFailed:
    """Return why a call is refused that comes behind as many as one turn may make."""
    max_calls = limits.calls_a_turn
    return ValidationFailed(
        f"one turn may make {max_calls} calls; this one was not made, repeat it in the next"
    )


async def execute_tool(
    call: ToolExecution, call_id: CallId, arguments: Any, limit_s: float
) -> ToolOutcome:
    """Run the tool within its time limit, and make durable what it wrote.

    Args:
        call: What the tool is given.
        call_id: The call, which its changes name.
        arguments: The tool's own record.
        limit_s: How long it may take.

    Raises:
        DiskFull: There is no room to write.
        UserCanceled: The run was asked to stop.
    """
    tool, plugin, faults = call.entry.tool, call.entry.plugin, call.faults
    try:
        faults.check(plugin.name)
        with anyio.fail_after(limit_s) as scope:
            call.limit_to(scope, limit_s)
            returned: object = await guarded(
                faults, plugin.name, f"tool {tool.name}", lambda: tool.run(call, arguments)
            )
            result = _with_warnings(_checked_result(tool, returned), await call.inspect())
        # Before anything lands: a result that is no JSON fails the call with all that it wrote.
        text = msgspec.json.encode(result.value).decode()
        changes = await call.files.land(call_id)
    # These end the run: they are no result that the model could act on.
    except (DiskFull, LogCorrupt, LogPoisoned, UserCanceled):
        raise
    except KbdError as fault:
        error = fault
    except TimeoutError:
        error = ToolTimeout(
            f"{tool.name} took more than {limit_s:g} s (run.tool_s), and was ended", retryable=True
        )
        faults.note(plugin.name, f"tool {tool.name} took more than {limit_s:g} s")
    except PluginFailed as failed:
        error = _failure_type(tool)(f"{tool.name} failed inside ({failed.kind})")
    except Exception as fault:  # noqa: BLE001 - a plugin's fault must not end the run
        error = _failure_of(call, fault)
    else:
        return _outcome(call, ToolOutcome(result, text, changes=changes))
    return _outcome(call, ToolOutcome(error=error))


def _failure_of(call: ToolExecution, fault: Exception) -> KbdError:
    """Return the error of a call whose result could not be taken over."""
    shortage = shortage_of(fault)
    if isinstance(shortage, DiskFull):
        raise shortage from fault
    if shortage is not None:
        return shortage
    tool, kind = call.entry.tool, type(fault).__name__
    told = f"tool {tool.name} returned what is no result ({kind})"
    call.faults.note(call.entry.plugin.name, told, fault)
    return _failure_type(tool)(f"{tool.name} failed inside ({kind})")


def _outcome(call: ToolExecution, outcome: ToolOutcome) -> ToolOutcome:
    """Return an outcome with what had a part in the call."""
    return msgspec.structs.replace(
        outcome, worked=tuple(call.worked), outside=call.outside, readings=call.readings,
        nested=tuple(call.nested),
    )  # fmt: skip


def _with_warnings(result: ToolResult, texts: tuple[str, ...]) -> ToolResult:
    """Return a result whose `warnings` have some more texts, if it is an object."""
    if not texts or not isinstance(result.value, dict):
        return result
    known = result.value.get("warnings") or ()
    warnings = list(dict.fromkeys((*known, *texts)))
    return msgspec.structs.replace(result, value={**result.value, "warnings": warnings})


def _checked_result(tool: Tool, returned: object) -> ToolResult:
    """Return what a tool returned; raises TypeError where that is no result."""
    if (
        isinstance(returned, ToolResult)
        and isinstance(returned.summary, Mapping | None)
        and all(isinstance(text, str) for text in returned.told)
    ):
        return returned
    msg = f"{tool.name} returned {type(returned).__name__} where a ToolResult is due"
    raise TypeError(msg)


def render_result(
    tool: str, entry_id: int, done: ToolOutcome, receipt_bytes: int
) -> tuple[str, str]:
    """Return a call's whole result as text, and what the model sees of it.

    Args:
        tool: The tool's name.
        entry_id: Under which number the result can be recalled.
        done: How the call ended.
        receipt_bytes: A larger result is shown as a receipt.
    """
    if done.result is None:
        text = error_text(done.error) if done.error is not None else ""
        return text, text
    shown = truncate_result(
        tool, entry_id, done.text, done.result.value,
        summary=done.result.summary, is_action=done.result.is_action, limit=receipt_bytes,
    )  # fmt: skip
    return done.text, shown


def add_loop_note(
    limits: RunLimits, earlier: list[str], fingerprint: str, text: str
) -> tuple[str, bool]:
    """Add a note to a result if the call has been made too often; say whether it was added.

    Args:
        limits: The run's.
        earlier: The fingerprints of the calls before it, oldest first.
        fingerprint: Its own.
        text: What the model sees of its result.
    """
    recent = [*earlier, fingerprint][-limits.loop_window :]
    verdict, count = loop_verdict(recent, limits.loop_warning, limits.loop_failure)
    if verdict is LoopVerdict.NONE:
        return text, False
    return f"{text}\n\n{LOOP_NOTE.format(count=count)}", True


def error_text(error: KbdError) -> str:
    """Return an error as the model sees it."""
    return f"Error: {error.code}: {error.message}"


def _failure_type(tool: Tool) -> type[KbdError]:
    """Return the error type of a fault inside a tool."""
    return FileWriteFailed if tool.effect is Effect.WRITE else FileReadFailed
