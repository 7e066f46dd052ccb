"""Calls of tools in a scratch place: they see a workbench's files, and nothing of them lands."""

from types import TracebackType
from typing import Any, Self

import anyio
import msgspec

from kbd.core.agent.tool_execution import find_tool, parse_arguments
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.guards import PluginFailed, guarded
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_execution, open_files
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import ToolTimeout, ToolWorkerUnavailable
from kbd.events.base import ReplyCall
from kbd.types import BlobHash, CallId, FileName

__all__ = ["ScratchCalls"]


class ScratchCalls:
    """Calls of tools on the files of a workbench, each seeing what the ones before it wrote.

    All of that is staged, and is gone with the block: no draft, no log and no blob has it.

    Args:
        context: The daemon's.
        workbench: The workbench.
        state: Its files as they stood at another moment; None for now.
    """

    def __init__(
        self, context: ApiContext, workbench: OpenWorkbench, state: WorkbenchState | None = None
    ) -> None:
        self._context, self._workbench = context, workbench
        self._files = open_files(context, workbench, state=state)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self._files.drop()

    def format_of(self, path: str) -> str:
        """Return the name of a file's format, or "" for one of no known format."""
        handler = self._context.catalog.for_name(path)
        return "" if handler is None else handler.name

    def written(self) -> dict[FileName, BlobHash]:
        """Return the hash of each file that was written."""
        found = (self._files.find(name) for name in self._files.written())
        return {FileName(ref.name): ref.blob for ref in found if ref is not None}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result.

        Raises:
            KbdError: As the tool raises.
            ToolTimeout: It took more than a run's tools may.
        """
        entry = find_tool(self._context.catalog, tool)
        call = ReplyCall(CallId(""), tool)
        given = parse_arguments(entry.tool, call, msgspec.json.encode(arguments).decode())
        execution = open_execution(self._context, self._workbench, entry, self._files)
        before, limit_s = self._files.written(), self._context.settings.run.tool_s
        try:
            with anyio.fail_after(limit_s) as scope:
                execution.limit_to(scope, limit_s)
                result = await guarded(
                    execution.faults, entry.plugin.name, f"tool {tool}",
                    lambda: entry.tool.run(execution, given),
                )  # fmt: skip
                await self._files.settle()
        except TimeoutError:
            self._files.restore(before)
            msg = f"{tool} took more than {limit_s:g} s (run.tool_s)"
            raise ToolTimeout(msg, retryable=True) from None
        except PluginFailed as failed:
            self._files.restore(before)
            raise ToolWorkerUnavailable(f"{tool} failed inside ({failed.kind})") from None
        except BaseException:
            self._files.restore(before)
            raise
        value: dict[str, Any] = result.value
        return value
