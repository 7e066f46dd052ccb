"""Calls of tools that the steps of a job make, each with the job's hash."""

from typing import Any

from kbd.tools import ToolContext

__all__ = ["StepCalls"]


class StepCalls:
    """Tool calls of one job.

    Args:
        context: What the job's own call may reach.
        job: The job's hash.

    Attributes:
        context: As given.
        told: What a person must be told of how figures came about, in order, each once.
    """

    def __init__(self, context: ToolContext, job: str) -> None:
        self.context, self._job = context, job
        self.told: list[str] = []

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result; what it tells people is kept.

        Raises:
            KbdError: As the tool raises.
        """
        result = await self.context.call_tool(tool, arguments, job=self._job)
        self.tell(*result.told)
        value: dict[str, Any] = result.value
        return value

    def tell(self, *texts: str) -> None:
        """Keep what a person must be told."""
        self.told += [text for text in dict.fromkeys(texts) if text not in self.told]
