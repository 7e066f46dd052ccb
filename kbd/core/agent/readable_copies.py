"""Readable copies of the log for people; nothing depends on them.

meta/workshop/tool_log.jsonl     finished tool calls, a call a line; older ones in tool_log.1.jsonl
meta/workshop/_rpi/research.md   of the newest message's run
meta/workshop/_rpi/plan.md
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import get_ident
from typing import Any

import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.log_outline import EventQuery
from kbd.core.domain.run_state import Run
from kbd.core.domain.state_text import plan_markdown
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.store.journal import Journal
from kbd.core.store.line_copy import LineCopy
from kbd.core.store.log_reader import LogReader, StoredEvent
from kbd.events.base import Recorded
from kbd.events.codec import format_time
from kbd.events.runs import ToolReturned
from kbd.types import Seq

__all__ = [
    "clear_unfinished",
    "copy_texts",
    "current_run",
    "has_tool_log",
    "write_copies",
    "write_tool_log",
]

_TOOL_LOG = "tool_log.jsonl"

_log = get_logger(__name__)


def current_run(state: WorkbenchState) -> Run | None:
    """Return the run of the newest message, or None if its plan is set aside."""
    return state.run(state.current) if state.current else None


def copy_texts(state: WorkbenchState) -> dict[str, str | None]:
    """Return what research.md and plan.md should hold; None for one that should not be there."""
    run = current_run(state)
    return {
        "research.md": run.research if run else None,
        "plan.md": plan_markdown(run.plan) if run and run.plan else None,
    }


async def write_copies(folder: Path, texts: Mapping[str, str | None]) -> bool:
    """Bring research.md and plan.md up to date; those of a run that is set aside are removed.

    A copy that cannot be written is logged and left: no run fails for it.

    Args:
        folder: Where the copies lie.
        texts: What they should hold, as from `copy_texts`.

    Returns:
        Whether all are up to date.
    """
    paths = {folder / "_rpi" / name: text for name, text in texts.items()}
    return await run_sync(_write_all, paths)


def clear_unfinished(folder: Path) -> None:
    """Remove half-written copies of a killed daemon; blocking, nobody else writes."""
    for left in (*folder.glob("*.new"), *folder.glob("_rpi/*.new")):
        left.unlink(missing_ok=True)


def has_tool_log(folder: Path) -> bool:
    """Return whether the readable tool log is there; blocking. It may lag behind the log."""
    return (folder / _TOOL_LOG).exists()


async def write_tool_log(folder: Path, journal: Journal) -> None:
    """Bring the readable tool log of a workbench up to date with its events.

    A copy that cannot be written is logged and left.

    Raises:
        LogCorrupt: The log is damaged.
    """
    # The agent and who follows the log may be at it at once.
    async with journal.copying:
        try:
            await run_sync(_continue_tool_log, LineCopy(folder / _TOOL_LOG), journal.reader)
        except OSError as fault:
            _log.warning("copy_not_written", copy=_TOOL_LOG, fault=fault.strerror)


def _continue_tool_log(copy: LineCopy, reader: LogReader) -> None:
    """Add the calls that ended since the last one; where that is not known, write it anew."""
    end, covered = reader.outline().seq, copy.last_event()
    if covered is not None and covered <= end:
        lines = _call_lines(reader, covered, descending=False)
        if copy.append(lines):
            return
    copy.replace(_call_lines(reader, Seq(0), descending=True))


def _call_lines(reader: LogReader, after: Seq, *, descending: bool) -> Iterator[bytes]:
    """Yield a line for each call that ended behind an event."""
    for returned in _search(reader, ToolReturned, after, descending=descending):
        assert isinstance(returned.record, Recorded)
        tool = returned.context.call.tool if returned.context is not None else ""
        yield msgspec.json.encode(_call_line(returned.seq, tool, returned.record))


def _search(
    reader: LogReader, kind: type, after: Seq, *, descending: bool
) -> Iterator[StoredEvent]:
    """Yield the events of a type behind one."""
    query = EventQuery(types=frozenset({kind.__name__}))
    low, high = after, Seq(reader.outline().seq + 1)
    # A search ends after so many blocks, and goes on where it ended.
    while low + 1 < high:
        for looked_to, found in reader.find(
            query, low, high, lambda event: event, descending=descending
        ):
            yield from (event for event in found if event.record is not None)
            low, high = (low, looked_to) if descending else (looked_to, high)


def _call_line(seq: Seq, tool: str, record: Recorded) -> dict[str, Any]:
    returned: ToolReturned = record.data
    return {
        "seq": seq,
        "id": returned.entry_id,
        "tool": tool,
        "tool_call_id": returned.call_id,
        "run": record.run,
        "success": returned.ok,
        "result": returned.result or returned.shown,
        "blob": returned.blob,
        "size_bytes": returned.size_bytes,
        "duration_ms": returned.duration_ms,
        "created_at": format_time(record.ts_us),
    }


def _write_all(texts: Mapping[Path, str | None]) -> bool:
    """Write each text through a temporary file; None removes the copy. Return whether all were."""
    are_written = True
    for path, text in texts.items():
        try:
            if text is None:
                path.unlink(missing_ok=True)
                continue
            if _holds(path, text):
                continue
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The agent and who follows the log may be at it at once, each in a thread.
            fresh = path.with_name(f"{path.name}.{get_ident()}.new")
            fresh.write_text(text, "utf-8", "replace")
            # Not synced: what a crash takes is written anew from the log.
            os.replace(fresh, path)
        except OSError as fault:
            _log.warning("copy_not_written", copy=path.name, fault=fault.strerror)
            are_written = False
    return are_written


def _holds(path: Path, text: str) -> bool:
    """Return whether a copy has a text already: a plan changes often, what it is of does not."""
    data = text.encode("utf-8", "replace")
    try:
        # The size first: of a pipe that somebody put there nothing must be read.
        return path.stat().st_size == len(data) > 0 and path.read_bytes() == data
    except FileNotFoundError:
        return False
