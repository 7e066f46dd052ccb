"""Rows from a table to the file that a format will read them from."""

from pathlib import Path

import msgspec

from kbd.tools import CallLimits, ToolContext
from kbd_tables import jobs
from kbd_tables.cache import ask, open_table
from kbd_tables.limits import WORK_LIMITS, QueryLimits, worker_limits
from kbd_tables.record import OpenTable

__all__ = ["Handover", "hand_over"]


class Handover(msgspec.Struct, frozen=True):
    """Which rows go over.

    Args:
        path: The table's file.
        sheet: Its sheet.
        query: What makes the rows of it; None hands the whole table over.
        keep_text: Whether numbers keep the form they have in the file, where that is possible.
        limits: What a statement may use.
    """

    path: str
    sheet: str | None
    query: str | None
    keep_text: bool
    limits: QueryLimits


async def hand_over(context: ToolContext, handover: Handover, rows: Path) -> list[str]:
    """Write the rows to a path; return what the reader of the export must know.

    Raises:
        ValidationFailed, ToolTimeout, FileReadFailed, NotFound: As for `kbd_tables.cache.ask`.
    """
    if handover.query is None and handover.keep_text:
        return await _plain(context, handover, rows)
    opened = await open_table(context, handover.path, handover.sheet)
    request = {
        "row_count": opened.record.row_count,
        "sql": handover.query,
        "limits": msgspec.to_builtins(handover.limits),
        "now_us": context.now_us,
        "target": rows,
    }

    def limits(table: OpenTable) -> CallLimits:
        if handover.query is None:
            return WORK_LIMITS
        return worker_limits(handover.limits, table.size_bytes)

    table, answer = await ask(context, handover.path, handover.sheet, jobs.export, request, limits)
    notes = list(table.record.warnings)
    if not answer["is_ordered"]:
        notes.append("no ORDER BY: the order of the rows is not defined")
    return notes


async def _plain(context: ToolContext, handover: Handover, rows: Path) -> list[str]:
    """Hand the whole table over with its numbers as they are written in the file."""
    plain = context.files.stage()
    file = context.files.get(handover.path)
    opened = await open_table(context, handover.path, handover.sheet)
    read = await context.formats.read_table(file, handover.sheet, plain)
    request = {
        "plain": plain,
        "names": [column.name for column in read.columns],
        "columns": [msgspec.structs.astuple(column) for column in opened.record.columns],
        "target": rows,
    }
    await context.isolate(jobs.export_plain, request, limits=WORK_LIMITS)
    return list(opened.record.warnings)
