"""Questions about the files of a workbench, as tools ask them, and what is said about tables."""

import anyio

from kbd.core.domain.commands import ChooseReading
from kbd.core.plugins.catalog import ToolEntry
from kbd.core.plugins.guards import PluginFailed, guarded
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_execution, open_files
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, ValidationFailed
from kbd.formats import FileQuestion, Tabular
from kbd.tools import Tool
from kbd.types import ReadAs

__all__ = ["open_questions", "require_answers", "say_reading"]


async def open_questions(context: ApiContext, workbench: OpenWorkbench) -> tuple[FileQuestion, ...]:
    """Return what all tools ask about the files as they are now.

    A tool that fails asks nothing: what it is called for in the run will tell why.
    """
    asked: list[FileQuestion] = []
    for entry in context.catalog.tools():
        if type(entry.tool).questions is not Tool.questions:
            asked += await _questions_of(context, workbench, entry)
    return tuple(asked)


async def _questions_of(
    context: ApiContext, workbench: OpenWorkbench, entry: ToolEntry
) -> tuple[FileQuestion, ...]:
    files = open_files(context, workbench)
    call = open_execution(context, workbench, entry, files)
    tool = entry.tool
    try:
        with anyio.fail_after(context.settings.run.tool_s):
            return tuple(
                await guarded(
                    call.faults,
                    entry.plugin.name,
                    f"tool {tool.name}",
                    lambda: tool.questions(call),
                )
            )
    except (KbdError, PluginFailed, TimeoutError):
        return ()
    finally:
        with anyio.CancelScope(shield=True):
            await files.drop()


async def say_reading(context: ApiContext, workbench: OpenWorkbench, read_as: ReadAs) -> None:
    """Say of every file with tables that nothing was said of yet how it is to be read."""
    if read_as == ReadAs():
        return
    for seen in workbench.state.current_files():
        is_table = isinstance(context.catalog.for_name(seen.name), Tabular)
        if is_table and seen.name not in workbench.state.readings:
            await workbench.submit(ChooseReading(seen.name, read_as))


def require_answers(questions: tuple[FileQuestion, ...]) -> None:
    """Refuse to go on while something has to be said.

    Raises:
        ValidationFailed: It names the first question with its answers, and how many more there are.
    """
    if not questions:
        return
    first = questions[0]
    where = first.path if first.sheet is None else f"{first.path}, sheet {first.sheet}"
    answers = " or ".join(f'"{each.value}" ({each.meaning})' for each in first.question.options)
    more = f" (and {len(questions) - 1} more questions)" if len(questions) > 1 else ""
    msg = (
        f"{where}: {first.question.text} Answer {first.question.about.replace('_', '-')} with "
        f"{answers}{more}"
    )
    raise ValidationFailed(msg, retryable=False)
