"""Methods of tools: the list of them, and calls that clients make.

A client calls any tool that a model may call, with the arguments that a model would give, on the
same files and within the same limits. Phases are a run's: here the tool's effect decides. What
reads is answered at any time and leaves no trace, like the methods of formats that read; what
writes is recorded (`kbd.core.api.client_calls`). Bytes leave the machine only through the gateway
that runs go through, with the same consent.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, assert_never

import anyio
import msgspec

from kbd.core.agent.tool_execution import ToolOutcome, execute_tool, find_tool, parse_arguments
from kbd.core.api.client_calls import CallShare, recorded_call
from kbd.core.api.formats import check_root
from kbd.core.plugins.catalog import ToolEntry
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_execution, open_files
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import FileWriteFailed, NotFound, ToolWorkerUnavailable, ValidationFailed
from kbd.events.base import ReplyCall
from kbd.requests import tools as wire
from kbd.requests.base import Request
from kbd.types import CallId, Effect, Phase

__all__ = ["ToolMethods"]

_NOT_ARGUMENTS = ("api_version", "workbench_id", "root")
"""Parameters of a tool's own method that its tool does not get."""

ENVELOPE_BYTES = 1024
"""What the answer takes beside the result: its id above all."""

_PAGING = (
    "limit", "offset", "window_rows", "row_count", "line_count", "range", "chunk", "pages", "top_k",
    "max_length", "columns",
)  # fmt: skip
"""Arguments by which tools are asked for less."""


class ToolMethods:
    """Handlers of tools: list, call."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        contributed = {
            entry.method: partial(self.call_by_method, entry.tool.name)
            for entry in self._context.catalog.tools()
            if entry.method is not None
        }
        return {wire.ToolsList: self.list, wire.ToolsCall: self.call, **contributed}

    def list(self, request: wire.ToolsList, session: Session) -> wire.ToolsFound:
        """List the tools, each with its arguments in the form of `TOOL_REGISTRY` and as a schema.

        Raises:
            NotFound: A workbench is named, and there is no such one.
        """
        del session
        named = request.workbench_id
        if not isinstance(named, msgspec.UnsetType) and named not in self._workbenches.ids():
            msg = f"there is no workbench {named}"
            raise NotFound(msg)
        catalog = self._context.catalog
        phases = {phase: catalog.tools_for(phase) for phase in Phase}
        rows = tuple(
            wire.ToolRow(
                name=entry.tool.name,
                description=entry.tool.description,
                args=_describe_arguments(entry.schema.parameters),
                effect=entry.tool.effect.value,
                phases=tuple(phase.value for phase, tools in phases.items() if entry in tools),
                plugin=entry.plugin.name,
                input_schema=dict(entry.schema.parameters),
            )
            for entry in catalog.tools()
        )
        return wire.ToolsFound(tools=rows)

    async def call(self, request: wire.ToolsCall, session: Session) -> msgspec.Raw:
        """Call a tool and return its result.

        Raises:
            NotFound: There is no such tool, or no such workbench.
            ValidationFailed: The arguments do not fit; or it writes, and a run or a publish is
                under way. Nothing was recorded.
            KbdError: As the tool says; of one that writes that is recorded, and nothing was
                written.
        """
        opened = await self._workbenches.open(request.workbench_id)
        return await self._call(opened.acting(session.actor), request.name, request.arguments)

    async def call_by_method(
        self,
        name: str,
        request: wire.CallReadingTool | wire.CallWritingTool,
        session: Session,
    ) -> msgspec.Raw:
        """Call the tool that a method is for; the answer of one that writes has `ok`, too.

        Raises:
            ValidationFailed: The draft is asked for and none is open; or as for `call`.
            NotFound, KbdError: As for `call`.
        """
        workbench = (await self._workbenches.open(request.workbench_id)).acting(session.actor)
        given = msgspec.to_builtins(request)
        arguments = {key: value for key, value in given.items() if key not in _NOT_ARGUMENTS}
        if isinstance(request, wire.CallReadingTool):
            check_root(workbench, request.root)
            return await self._call(
                workbench, name, arguments, published=request.root == "published"
            )
        answer = await self._call(workbench, name, arguments)
        return msgspec.Raw(msgspec.json.encode({"ok": True, **msgspec.json.decode(answer)}))

    async def _call(
        self,
        workbench: OpenWorkbench,
        name: str,
        given: Mapping[str, Any],
        *,
        published: bool = False,
    ) -> msgspec.Raw:
        entry = find_tool(self._context.catalog, name)
        text = msgspec.json.encode(given)
        arguments = parse_arguments(entry.tool, ReplyCall(CallId(""), name), text.decode())
        match entry.tool.effect:
            case Effect.READ | Effect.RECALL:
                return await self._read(workbench, entry, arguments, published=published)
            case Effect.WRITE:
                return await self._write(workbench, entry, arguments, text)
            case _:
                assert_never(entry.tool.effect)

    async def _read(
        self, workbench: OpenWorkbench, entry: ToolEntry, arguments: Any, *, published: bool
    ) -> msgspec.Raw:
        files = open_files(self._context, workbench, published=published)
        try:
            done = await self._execute(workbench, entry, files, CallId(""), arguments)
        finally:
            with anyio.CancelScope(shield=True):
                await files.drop()
        if done.changes:
            msg = f"{entry.tool.name} says that it only reads, and wrote: nothing of it was kept"
            raise FileWriteFailed(msg)
        return msgspec.Raw(self._checked(entry, done).encode())

    async def _write(
        self, workbench: OpenWorkbench, entry: ToolEntry, arguments: Any, given: bytes
    ) -> msgspec.Raw:
        async with recorded_call(
            self._context, workbench, entry.plugin, entry.tool.name, given
        ) as call:
            done = await self._execute(workbench, entry, call.files, call.id, arguments)
            call.share = CallShare(done.worked, done.outside, done.nested)
            # Before it is recorded: who is refused the answer must not have written.
            text = self._checked(entry, done)
            await call.record(text, done.changes)
        return msgspec.Raw(text.encode())

    async def _execute(
        self,
        workbench: OpenWorkbench,
        entry: ToolEntry,
        files: CallFiles,
        call_id: CallId,
        arguments: Any,
    ) -> ToolOutcome:
        execution = open_execution(self._context, workbench, entry, files)
        limit_s = self._context.settings.run.tool_s
        return await execute_tool(execution, call_id, arguments, limit_s)

    def _checked(self, entry: ToolEntry, done: ToolOutcome) -> str:
        """Return the result as JSON text.

        Raises:
            ValidationFailed: It is longer than a message may be.
            KbdError: The tool failed, in its words.
        """
        if done.error is not None:
            raise done.error
        if done.result is None:  # no outcome is without both
            msg = f"{entry.tool.name} returned nothing"
            raise ToolWorkerUnavailable(msg)
        size_bytes, limit = len(done.text.encode()), self._context.settings.limits.message_bytes
        if size_bytes > limit - ENVELOPE_BYTES:
            raise ValidationFailed(_too_long(entry, size_bytes, limit))
        return done.text


def _too_long(entry: ToolEntry, size_bytes: int, limit: int) -> str:
    """Return why a result is not answered, and what helps."""
    known = entry.schema.parameters.get("properties", {})
    paging = [name for name in _PAGING if name in known]
    hint = f"ask for less with {', '.join(paging)}" if paging else "ask for less at a time"
    return (
        f"the result of {entry.tool.name} has {size_bytes:,} bytes, and a message holds {limit:,}: "
        f"{hint}"
    )


_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}


def _describe_arguments(schema: Mapping[str, Any]) -> dict[str, wire.ToolArgument]:
    required = schema.get("required", ())
    return {
        name: wire.ToolArgument(
            type=" | ".join(dict.fromkeys(_describe_types(field))),
            required=name in required,
            default=field.get("default", msgspec.UNSET),
        )
        for name, field in schema.get("properties", {}).items()
    }


def _describe_types(field: Mapping[str, Any]) -> Iterator[str]:
    """Yield the types of a field; null only says that it may be left out."""
    kinds = field.get("type", ())
    for kind in (kinds,) if isinstance(kinds, str) else kinds:
        if kind in _TYPES:
            yield _TYPES[kind]
    # The schema of a Literal has an enum and no type.
    if any(isinstance(choice, str) for choice in field.get("enum", ())):
        yield "str"
    for choice in field.get("anyOf", ()):
        yield from _describe_types(choice)
