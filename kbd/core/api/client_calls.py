"""Calls that clients make themselves, beside all runs: of a format's method, or of a tool.

What a call wrote, that it was made and what it returned are one frame, durable before the answer.
So a crash leaves all of it or nothing, and nothing that a restart would do again. While a run or a
publish works on the draft it is refused (`kbd.core.domain.run_decisions` says why); calls of
clients wait for each other, so that each sees what the one before wrote. A client that takes its
request back, or goes away, leaves the same: the whole call in the log, or nothing of it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import msgspec

from kbd.core.agent.tool_execution import INLINE_BYTES, error_text
from kbd.core.domain.commands import RecordCall
from kbd.core.domain.run_decisions import refuse_client
from kbd.core.plugins.host import Plugin
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_files
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, KbdError, LogCorrupt, ValidationFailed
from kbd.events.base import CallNotes, ModelShare, NestedCall, PluginUsed
from kbd.events.disk import LogPoisoned
from kbd.events.drafts import FileChanged
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.types import BlobHash, CallId, Seq

__all__ = ["CallShare", "ClientCall", "recorded_call"]

_MAX_SHOWN_CHARACTERS = 2000
"""Of a result that is too long for the log and therefore a blob."""


class CallShare(msgspec.Struct, frozen=True):
    """What had a part in a call beside the plugin that brings it.

    Args:
        worked: The plugins that worked for it.
        outside: The model or embedder that did, if one did.
        nested: The calls of other tools that it made.
    """

    worked: tuple[Plugin, ...] = ()
    outside: ModelShare | None = None
    nested: tuple[NestedCall, ...] = ()


_NO_SHARE = CallShare()


class ClientCall:
    """One call of a client that may write: its files, and the recorder of its end.

    Args:
        context: The daemon's.
        workbench: The workbench, acting for the client.
        plugin: The plugin that brings the method or the tool.
        name: The method or the tool.
        arguments: What it was given, as JSON.

    Attributes:
        id: Its id.
        files: The workbench's files as it sees them.
        share: What had a part in it; set by who carries it out.
    """

    def __init__(
        self,
        context: ApiContext,
        workbench: OpenWorkbench,
        plugin: Plugin,
        name: str,
        arguments: bytes,
    ) -> None:
        self.id = CallId(f"client-{context.clock.new_id()}")
        self.files: CallFiles = open_files(context, workbench)
        self.share = _NO_SHARE
        self._context, self._workbench = context, workbench
        self._plugin, self._name, self._arguments = plugin, name, arguments
        self._saw: Seq = workbench.state.seq
        self._began_s = context.clock.monotonic_s()

    async def record(self, text: str, changes: tuple[FileChanged, ...]) -> None:
        """Record what was done, with what it wrote.

        Args:
            text: The result, as JSON.
            changes: What it wrote, durable as blobs.

        Raises:
            ValidationFailed: A run has begun meanwhile, or a file is not what the call saw.
        """
        await self._submit(await self._returned(text, None), changes)

    async def record_failure(self, error: KbdError) -> None:
        """Record a failed call; nothing is recorded where a run has begun meanwhile."""
        returned = await self._returned(error_text(error), error.code)
        try:
            await self._submit(returned, ())
        except ValidationFailed:
            return

    async def _submit(self, returned: ToolReturned, changes: tuple[FileChanged, ...]) -> None:
        arguments, blob = await self._store_text(self._arguments)
        used = await self._used(self._plugin)
        called = ToolCalled(
            call_id=self.id,
            entry_id=0,
            tool=self._name,
            plugin=f"{used.package} {used.version}",
            plugin_sha256=used.sha256,
            arguments=arguments,
            arguments_blob=blob,
        )
        # Used only if no draft is open when this is decided.
        draft_id = self._context.clock.new_id()
        # Shielded: taken back here it may land all the same, and the next call, which has the lock
        # by then, would have seen the file as it was before.
        with anyio.CancelScope(shield=True):
            await self._workbench.submit(RecordCall(called, returned, changes, draft_id))

    async def _returned(self, text: str, error_code: str | None) -> ToolReturned:
        data = text.encode()
        inline, blob = await self._store_text(data)
        return ToolReturned(
            call_id=self.id,
            entry_id=0,
            ok=error_code is None,
            shown=inline if blob is None else text[:_MAX_SHOWN_CHARACTERS] + "…",
            blob=blob,
            size_bytes=len(data),
            duration_ms=int((self._context.clock.monotonic_s() - self._began_s) * 1000),
            error_code=error_code,
            saw=self._saw,
            worked=tuple([await self._used(plugin) for plugin in self.share.worked]),
            outside=self.share.outside,
            noted=CallNotes(nested=self.share.nested) if self.share.nested else None,
        )

    async def _used(self, plugin: Plugin) -> PluginUsed:
        sha256 = await self._context.catalog.hash_of(plugin)
        return PluginUsed(plugin.package, plugin.version, sha256)

    async def _store_text(self, data: bytes) -> tuple[str, BlobHash | None]:
        """Return a text for the log, or the hash of the blob that it is too long for."""
        if len(data) <= INLINE_BYTES:
            return data.decode(), None
        return "", await self._workbench.blobs.put(data)


@asynccontextmanager
async def recorded_call(
    context: ApiContext, workbench: OpenWorkbench, plugin: Plugin, name: str, arguments: bytes
) -> AsyncIterator[ClientCall]:
    """Give a call to be carried out inside; what is raised there is recorded as its failure.

    Args:
        context: The daemon's.
        workbench: The workbench, acting for the client.
        plugin: The plugin that brings the method or the tool.
        name: The method or the tool.
        arguments: What it was given, as JSON.

    Raises:
        ValidationFailed: A run or a publish is under way; nothing was recorded.
        KbdError: What was raised inside; that is recorded, and nothing was written.
    """
    # One call of a client at a time, so that each sees what the one before wrote.
    async with workbench.editing:
        refuse_client(workbench.state)
        call = ClientCall(context, workbench, plugin, name, arguments)
        try:
            yield call
        # Of these nothing can be recorded: the log takes no more.
        except (DiskFull, LogCorrupt, LogPoisoned):
            raise
        except KbdError as error:
            await call.record_failure(error)
            raise
        finally:
            # Also after a cancel: staged files that no event names must not stay.
            with anyio.CancelScope(shield=True):
                await call.files.drop()
