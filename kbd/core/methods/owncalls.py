"""A client's own call that writes: done like a tool's, recorded without a run.

What it wrote, that it was called and what it returned are one frame, durable before the answer. So
a crash leaves all of it or nothing, and nothing that a restart would do again. While a run or a
publish works on the draft it is refused (`decisions.calls` says why); calls of clients wait for
each other, so that each sees what the one before wrote.
"""

from collections.abc import Awaitable, Callable

import anyio
import msgspec

from kbd.core.agent.tool_execution import INLINE_BYTES
from kbd.core.domain.call_decisions import refuse_client
from kbd.core.domain.commands import RecordCall
from kbd.core.plugins.host import Plugin
from kbd.core.sessions.parts import Parts
from kbd.core.sessions.run_contexts import open_files
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.workbench import Bench
from kbd.editing import Edited
from kbd.errors import DiskFull, KbdError, LogCorrupt, ValidationFailed
from kbd.events.disk import LogPoisoned
from kbd.events.drafts import FileChanged
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.requests.base import Request
from kbd.requests.formats import FileWritten
from kbd.types import BlobHash, CallId

__all__ = ["own_call"]

_SHOWN_CHARACTERS = 2000
"""Of a result that is too long for the log and therefore a blob."""


async def own_call(
    parts: Parts,
    bench: Bench,
    plugin: Plugin,
    request: Request,
    work: Callable[[CallFiles], Awaitable[Edited]],
) -> FileWritten:
    """Do a client's call and record it.

    Args:
        parts: The daemon's.
        bench: The workbench.
        plugin: The plugin that brings the method.
        request: What the client asked for.
        work: Does it: stages what it writes and puts it into the files it is given.

    Raises:
        ValidationFailed: A run or a publish is under way; nothing was recorded.
        KbdError: What the work raised; that is recorded, and nothing was written.
    """
    async with bench.editing:
        refuse_client(bench.state)
        call = _OwnCall(parts, bench, plugin, request)
        files = open_files(parts, bench)
        try:
            try:
                edited = await work(files)
                answer = FileWritten(
                    applied=edited.applied, changed=edited.changed, warnings=edited.warnings
                )
                changes = await files.land(call.id)
            except (DiskFull, LogCorrupt, LogPoisoned):
                raise
            except KbdError as error:
                await call.record_failure(error)
                raise
            await call.record(answer, changes)
        finally:
            with anyio.CancelScope(shield=True):
                await files.drop()
    return answer


class _OwnCall:
    """What is recorded of one call."""

    def __init__(self, parts: Parts, bench: Bench, plugin: Plugin, request: Request) -> None:
        self.id = CallId(f"client-{parts.clock.new_id()}")
        self._parts, self._bench = parts, bench
        self._plugin, self._request = plugin, request
        self._began_s = parts.clock.monotonic_s()

    async def record(self, answer: FileWritten, changes: tuple[FileChanged, ...]) -> None:
        """Record what was done, with what it wrote.

        Raises:
            ValidationFailed: A run has begun meanwhile, or a file is not what the call saw.
        """
        text = msgspec.json.encode(answer).decode()
        returned = await self._returned(text, None)
        await self._submit(returned, changes)

    async def record_failure(self, error: KbdError) -> None:
        """Record that it failed; a run that has begun meanwhile is left alone."""
        returned = await self._returned(f"Error: {error.code}: {error.message}", error.code)
        try:
            await self._submit(returned, ())
        except ValidationFailed:
            return

    async def _submit(self, returned: ToolReturned, changes: tuple[FileChanged, ...]) -> None:
        given = msgspec.to_builtins(self._request)
        told = {name: value for name, value in given.items() if name not in _NOT_ARGUMENTS}
        arguments, blob = await self._kept(msgspec.json.encode(told))
        called = ToolCalled(
            call_id=self.id,
            entry_id=0,
            tool=self._request.method,
            plugin=f"{self._plugin.package} {self._plugin.version}",
            plugin_sha256=await self._parts.catalog.hash_of(self._plugin),
            arguments=arguments,
            arguments_blob=blob,
        )
        draft_id = self._parts.clock.new_id()
        await self._bench.keeper.submit(RecordCall(called, returned, changes, draft_id))

    async def _returned(self, text: str, error_code: str | None) -> ToolReturned:
        data = text.encode()
        inline, blob = await self._kept(data)
        return ToolReturned(
            call_id=self.id,
            entry_id=0,
            ok=error_code is None,
            shown=inline if blob is None else text[:_SHOWN_CHARACTERS] + "…",
            blob=blob,
            size_bytes=len(data),
            duration_ms=int((self._parts.clock.monotonic_s() - self._began_s) * 1000),
            error_code=error_code,
        )

    async def _kept(self, data: bytes) -> tuple[str, BlobHash | None]:
        """Return a text for the log, or the hash of the blob that it is too long for."""
        if len(data) <= INLINE_BYTES:
            return data.decode(), None
        return "", await self._bench.blobs.put(data)


_NOT_ARGUMENTS = ("api_version", "workbench_id")
