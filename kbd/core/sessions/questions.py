"""Questions about the files of a workbench, as tools ask them, and what is said about tables."""

from collections.abc import Sequence

import anyio
import msgspec

from kbd.core.agent.tool_execution import execute_tool
from kbd.core.domain.commands import ChooseReading
from kbd.core.plugins.catalog import ToolEntry
from kbd.core.plugins.guards import PluginFailed, guarded
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_execution, open_files, open_formats
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, ValidationFailed
from kbd.formats import FileQuestion, Tabular
from kbd.job_words import is_conversion, is_look, tables_meant
from kbd.tools import Tool
from kbd.types import CallId, FileName, ReadAs

__all__ = ["open_questions", "require_answers", "say_reading"]


async def open_questions(
    context: ApiContext, workbench: OpenWorkbench, job: str = ""
) -> tuple[FileQuestion, ...]:
    """Return what all tools ask about the files as they are now.

    A tool that fails asks nothing: what it is called for in the run will tell why.

    Args:
        context: The daemon's.
        workbench: The workbench.
        job: What is to be done; what makes no difference to it is not asked. What is left out for
            nothing is asked by the tool that reads its table: no figure is told before the answer.
    """
    if is_look(job):
        return ()
    asked: list[FileQuestion] = []
    for entry in context.catalog.tools():
        if type(entry.tool).questions is not Tool.questions:
            asked += await _questions_of(context, workbench, entry)
    if is_conversion(job):
        asked = [each for each in asked if each.question.about != "totals"]
    return await _of_job(context, workbench, asked, job) if asked and job else tuple(asked)


async def _of_job(
    context: ApiContext, workbench: OpenWorkbench, asked: Sequence[FileQuestion], job: str
) -> tuple[FileQuestion, ...]:
    """Return the questions about the tables that a job reads; all where its words do not tell."""
    tables = dict.fromkeys((str(each.path), each.sheet) for each in asked)
    for name in _table_names(context, workbench):
        tables |= dict.fromkeys((name, sheet) for sheet in await _sheets(context, workbench, name))
    if len(tables) < 2:
        return tuple(asked)
    if len(tables) > _MAX_TABLES:
        known = dict.fromkeys(tables, frozenset[str]())
    else:
        known = {table: await _columns(context, workbench, *table) for table in tables}
    meant = tables_meant(job, known)
    return tuple(each for each in asked if (str(each.path), each.sheet) in meant)


_MAX_TABLES = 20
"""Tables whose columns are looked at, to tell which of them a job is about."""

_MAP_METHOD = "TabularGetMap"
"""The method of the tool that tells a table's columns."""


def _table_names(context: ApiContext, workbench: OpenWorkbench) -> list[str]:
    names = (seen.name for seen in workbench.state.current_files())
    return [name for name in names if isinstance(context.catalog.for_name(name), Tabular)]


async def _sheets(
    context: ApiContext, workbench: OpenWorkbench, name: str
) -> tuple[str | None, ...]:
    """Return the sheets of a file that hold something; None alone for a file without any."""
    files = open_files(context, workbench)
    try:
        found = await open_formats(context, workbench).map(files.get(FileName(name)))
        sheets = found.get("sheets")
        return (None,) if sheets is None else tuple(s["name"] for s in sheets if s["chunks"])
    except (KbdError, KeyError, TypeError):
        return (None,)
    finally:
        with anyio.CancelScope(shield=True):
            await files.drop()


async def _columns(
    context: ApiContext, workbench: OpenWorkbench, path: str, sheet: str | None
) -> frozenset[str]:
    """Return the columns of a table; none of one that cannot be read."""
    entry = next((e for e in context.catalog.tools() if e.tool.wire_method == _MAP_METHOD), None)
    if entry is None:
        return frozenset()
    files = open_files(context, workbench)
    call = open_execution(context, workbench, entry, files)
    given = {"path": path} if sheet is None else {"path": path, "source_sheet": sheet}
    try:
        arguments = msgspec.convert(given, entry.tool.arguments)
        done = await execute_tool(call, CallId(""), arguments, context.settings.run.tool_s)
        columns = done.result.value["columns"] if done.result is not None else ()
        return frozenset(str(column["name"]) for column in columns)
    except (KbdError, KeyError, TypeError, msgspec.ValidationError):
        return frozenset()
    finally:
        with anyio.CancelScope(shield=True):
            await files.drop()


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


def require_answers(questions: Sequence[FileQuestion], command: str) -> None:
    """Refuse to go on while something has to be said.

    Args:
        questions: What has to be said.
        command: The command that an answer goes with, as an option.

    Raises:
        ValidationFailed: It has the first question, its answers as options of the command with the
            figures of each, and which other tables are asked about.
    """
    if not questions:
        return
    first, *others = questions
    option = f"--{first.question.about.replace('_', '-')}"
    answers = " or ".join(f"{option} {one.value} ({one.meaning})" for one in first.question.options)
    more = ""
    if others:
        named = ", ".join(dict.fromkeys(_where(each) for each in others[:_MAX_NAMED]))
        rest = len(others) - _MAX_NAMED
        named += f" and {rest} more" if rest > 0 else ""
        more = f"; {len(others)} more to answer, of {named}"
    msg = (
        f"{_where(first)}: {first.question.text} Say {answers} with: {command} {option} …; of all "
        f"that lands, with the watch{more}"
    )
    raise ValidationFailed(msg, retryable=False)


_MAX_NAMED = 3
"""Other tables that are named."""


def _where(asked: FileQuestion) -> str:
    return asked.path if asked.sheet is None else f"{asked.path}, sheet {asked.sheet}"
