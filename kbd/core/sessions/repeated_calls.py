"""Calls made again on another version of the file that they wrote: a tool's, or a client's own.

Each is carried out as it was when it was first made, in workers and within their limits; what it
writes is staged, and durable as a blob before anything is recorded.
"""

from typing import Any

import msgspec

from kbd.core.agent.tool_execution import ToolExecution, execute_tool, parse_arguments
from kbd.core.plugins.catalog import ToolEntry
from kbd.core.plugins.host import Owned, Plugin
from kbd.core.plugins.wire_methods import WireMethod
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_formats
from kbd.core.workbench.call_files import CallFiles, LogRecall, describe_file
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.editing import apply_operations, copy_assets
from kbd.errors import NotFound, ValidationFailed
from kbd.events.base import ReplyCall
from kbd.events.drafts import FileChanged
from kbd.formats import AssetPick
from kbd.requests.formats import ApplyOps, CopyAssets
from kbd.tools import FileRef, Moment
from kbd.types import CallId, FileName

__all__ = ["NotedFiles", "Repeated", "Repeater"]


class NotedFiles(CallFiles):
    """The files of a call, with a note of which it looked at.

    Attributes:
        noted: Their names.
    """

    noted: set[FileName]

    def note_reads(self) -> None:
        """Begin to note."""
        self.noted = set()

    def find(self, path: str) -> FileRef | None:
        """Return the file at a path, or None; raises SandboxViolation."""
        found = super().find(path)
        if found is not None:
            self.noted.add(found.name)
        return found

    def before(self, path: str, moment: Moment) -> FileRef | None:
        """Return a file as it was at one of the moments, or None; raises SandboxViolation."""
        found = super().before(path, moment)
        if found is not None:
            self.noted.add(found.name)
        return found


class Repeated(msgspec.Struct, frozen=True):
    """Outcome of a repeated call.

    Args:
        text: Its result as JSON text.
        changes: What it wrote.
        plugin: The plugin that brings it.
        noted: The files that it looked at.
    """

    text: str
    changes: tuple[FileChanged, ...]
    plugin: Plugin
    noted: frozenset[FileName]


class Repeater:
    """Makes calls of one workbench again.

    Args:
        context: The daemon's.
        workbench: The workbench.
    """

    def __init__(self, context: ApiContext, workbench: OpenWorkbench) -> None:
        self._context, self._workbench = context, workbench
        self.formats = open_formats(context, workbench)

    def files(self, state: Any) -> NotedFiles:
        """Return the files of a state, for one call."""
        folders, catalog = self._workbench.folders, self._context.catalog
        files = NotedFiles(
            state, self._workbench.blobs, folders.stage, folders.cache,
            lambda file: describe_file(catalog, file),
        )  # fmt: skip
        files.note_reads()
        return files

    async def repeat(
        self, tool: str, arguments: str, call_id: CallId, files: NotedFiles, now_us: int
    ) -> Repeated:
        """Make a call again.

        Args:
            tool: The tool, or the method that a client called.
            arguments: Its arguments as JSON text.
            call_id: What its changes name.
            files: The files that it sees, and where it writes.
            now_us: Its time.

        Raises:
            KbdError: What the call ends with, or there is no such tool any more; nothing lands.
        """
        method = self._method(tool)
        if method is not None:
            return await self._repeat_method(method, arguments, call_id, files, now_us)
        entry = self._context.catalog.tool(tool)
        return await self._repeat_tool(entry, arguments, call_id, files, now_us)

    def plugin_of(self, tool: str) -> Plugin:
        """Return the plugin that brings a tool or method; raises NotFound."""
        method = self._method(tool)
        return method.plugin if method is not None else self._context.catalog.tool(tool).plugin

    async def hash_of(self, plugin: Plugin) -> str:
        """Return the hash of a plugin's source files."""
        return await self._context.catalog.hash_of(plugin)

    def _method(self, tool: str) -> Owned[WireMethod] | None:
        for method in self._context.catalog.methods():
            if method.item.kind.method == tool:
                return method
        return None

    async def _repeat_method(
        self,
        method: Owned[WireMethod],
        arguments: str,
        call_id: CallId,
        files: NotedFiles,
        now_us: int,
    ) -> Repeated:
        given = msgspec.json.decode(arguments, type=dict[str, Any])
        handler = method.item.handler
        if method.item.base is ApplyOps:
            edited = await apply_operations(
                files, self.formats.at(now_us), handler, given["path"], given.get("ops", ()),
                create_new=given.get("create_new", False),
                create_if_missing=given.get("create_if_missing", False),
                copy_from=given.get("copy_from"),
            )  # fmt: skip
        elif method.item.base is CopyAssets:
            picks = tuple(map(_asset_pick, given["assets"]))
            edited = await copy_assets(
                files, self.formats, handler, given["source_path"], given["target_path"], picks
            )
        else:
            msg = f"{method.item.kind.method} cannot be made again"
            raise ValidationFailed(msg)
        text = msgspec.json.encode(edited).decode()
        await files.inspect(self.formats)
        changes = await files.land(call_id)
        return Repeated(text, changes, method.plugin, frozenset(files.noted))

    async def _repeat_tool(
        self,
        entry: ToolEntry,
        arguments: str,
        call_id: CallId,
        files: NotedFiles,
        now_us: int,
    ) -> Repeated:
        workbench, context = self._workbench, self._context
        given = parse_arguments(entry.tool, ReplyCall(call_id, entry.tool.name), arguments)
        execution = ToolExecution(
            entry, files, now_us, catalog=context.catalog,
            formats=self.formats,
            recall=LogRecall(workbench.state, workbench.keeper.journal, workbench.blobs),
            search=_no_search,
            workers=context.workers,
        )  # fmt: skip
        done = await execute_tool(execution, call_id, given, context.settings.run.tool_s)
        if done.error is not None:
            raise done.error
        return Repeated(done.text, done.changes, entry.plugin, frozenset(files.noted))


def _asset_pick(asset: Any) -> AssetPick:
    if isinstance(asset, str):
        return AssetPick(asset)
    return AssetPick(asset["asset_id"], asset.get("target"))


def _no_search(files: CallFiles) -> Any:
    """Refuse the search: what it found then, nobody can say of now."""
    del files
    raise NotFound("a call that searches cannot be made again")
